/* Parts of scenes: flat surfaces, balls, boxes, rooms. */
#include <string.h>

#include "reference/planes_scenes_builder.h"
#include "support/support.h"

surface *planes_scene_add(builder *b, surface_shape shape) {
    assert_true(b->count < PLANES_SCENES_MAX);
    surface *s = &b->surfaces[b->count++];
    memset(s, 0, sizeof *s);
    s->shape = shape;
    s->taper = 1;
    return s;
}

surface *planes_scene_add_flat(builder *b, const double corner[3], const double u[3], const double v[3], double taper) {
    surface *s = planes_scene_add(b, FLAT);
    for (int k = 0; k < 3; k++) s->corner[k] = corner[k], s->u[k] = u[k], s->v[k] = v[k];
    s->taper = taper;
    return s;
}

surface *planes_scene_add_rectangle(builder *b, double x, double y, double z, double ux, double uy, double uz,
                                    double vx, double vy, double vz) {
    const double corner[3] = {x, y, z}, u[3] = {ux, uy, uz}, v[3] = {vx, vy, vz};
    return planes_scene_add_flat(b, corner, u, v, 1);
}

void planes_scene_add_hole(surface *s, double low_s, double high_s, double low_t, double high_t) {
    double *hole = s->hole[s->holes++];
    hole[0] = low_s, hole[1] = high_s, hole[2] = low_t, hole[3] = high_t;
}

surface *planes_scene_add_ball(builder *b, surface_shape shape, double x, double y, double z, double radius) {
    surface *s = planes_scene_add(b, shape);
    s->corner[0] = x, s->corner[1] = y, s->corner[2] = z;
    s->radius = radius;
    return s;
}

void planes_scene_add_room(builder *b, double x, double y, double width, double depth, double height) {
    planes_scene_add_rectangle(b, x, y, 0, width, 0, 0, 0, depth, 0);
    planes_scene_add_rectangle(b, x, y, height, width, 0, 0, 0, depth, 0);
    surface *wall = planes_scene_add_rectangle(b, x, y, 0, width, 0, 0, 0, 0, height);
    planes_scene_add_hole(wall, 0.3, 0.45, 0, 0.75);
    wall = planes_scene_add_rectangle(b, x, y + depth, 0, width, 0, 0, 0, 0, height);
    planes_scene_add_hole(wall, 0.2, 0.5, 0.35, 0.8);
    planes_scene_add_rectangle(b, x, y, 0, 0, depth, 0, 0, 0, height);
    planes_scene_add_rectangle(b, x + width, y, 0, 0, depth, 0, 0, 0, height);
    b->scanner[0] = x + 0.4 * width, b->scanner[1] = y + 0.45 * depth, b->scanner[2] = 1.5;
}

void planes_scene_add_box(builder *b, double x, double y, double z, double width, double depth, double height,
                          double turn) {
    const double c = cos(turn), s = sin(turn), ux = width * c, uy = width * s, vx = -depth * s, vy = depth * c;
    planes_scene_add_rectangle(b, x, y, z + height, ux, uy, 0, vx, vy, 0);
    planes_scene_add_rectangle(b, x, y, z, ux, uy, 0, 0, 0, height);
    planes_scene_add_rectangle(b, x + vx, y + vy, z, ux, uy, 0, 0, 0, height);
    planes_scene_add_rectangle(b, x, y, z, vx, vy, 0, 0, 0, height);
    planes_scene_add_rectangle(b, x + ux, y + uy, z, vx, vy, 0, 0, 0, height);
}
