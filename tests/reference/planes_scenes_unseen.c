/* Kinds of scenes that came after the search for planes: what it finds in them is what others may expect. */
#include <math.h>

#include "reference/planes_scenes_builder.h"
#include "support/support.h"

/* A case of shelves whose boards are 25 mm thick: both faces of each are seen. */
static void make_shelves(builder *b) {
    const double wide = draw_between(b, 1.2, 2), deep = draw_between(b, 0.3, 0.5), thick = 0.025;
    planes_scene_add_rectangle(b, 0, deep, 0, wide, 0, 0, 0, 0, 2.1);
    for (int side = 0; side < 2; side++) planes_scene_add_rectangle(b, side * wide, 0, 0, 0, deep, 0, 0, 0, 2.1);
    for (int i = 0; i < 5; i++) {
        const double z = 0.1 + 0.42 * i + 0.05 * draw(b);
        planes_scene_add_rectangle(b, 0, 0, z, wide, 0, 0, 0, deep, 0);
        planes_scene_add_rectangle(b, 0, 0, z + thick, wide, 0, 0, 0, deep, 0);
    }
    planes_scene_add_rectangle(b, -1, -2, 0, wide + 2, 0, 0, 0, 2, 0);
    b->scanner[0] = 0.5 * wide, b->scanner[1] = -1.8, b->scanner[2] = 1.4;
}

/* A corridor of 16 m: doors set back by 6 to 12 cm, square pillars, beams under the ceiling. */
static void make_corridor(builder *b) {
    const double length = 16, wide = draw_between(b, 2.2, 3), high = 2.6;
    planes_scene_add_rectangle(b, 0, 0, 0, length, 0, 0, 0, wide, 0);
    planes_scene_add_rectangle(b, 0, 0, high, length, 0, 0, 0, wide, 0);
    for (int side = 0; side < 2; side++) {
        const double y = side * wide, back = (2 * side - 1) * draw_between(b, 0.06, 0.12);
        surface *wall = planes_scene_add_rectangle(b, 0, y, 0, length, 0, 0, 0, 0, high);
        for (int i = 0; i < 5; i++) {
            const double x = 1 + 3 * i + side * 0.7;
            planes_scene_add_hole(wall, x / length, (x + 1) / length, 0, 2.1 / high);
            planes_scene_add_rectangle(b, x, y + back, 0, 1, 0, 0, 0, 0, 2.1);
        }
    }
    for (int i = 0; i < 3; i++) {
        planes_scene_add_box(b, 3 + 5 * i, 0.05, 0, 0.4, 0.4, high, 0);
        planes_scene_add_rectangle(b, 2.5 + 5 * i, 0, high - 0.3, 0.3, 0, 0, 0, wide, 0);
        planes_scene_add_rectangle(b, 2.5 + 5 * i, 0, high - 0.3, 0, wide, 0, 0, 0, 0.3);
        planes_scene_add_rectangle(b, 2.8 + 5 * i, 0, high - 0.3, 0, wide, 0, 0, 0, 0.3);
    }
    b->scanner[0] = 6, b->scanner[1] = 0.5 * wide, b->scanner[2] = 1.6;
}

/* An icosahedron: its corners are the cyclic changes of (0, ±1, ±1.618), its faces three corners 2 apart. */
static void add_icosahedron(builder *b, const double middle[3], double size) {
    const double golden = 0.5 * (1 + sqrt(5));
    double u[3], v[3], n[3], corners[12][3];
    planes_scene_axes(b, u, v, n);
    for (int i = 0; i < 12; i++) {
        double at[3] = {0, 0, 0};
        at[(i / 4 + 1) % 3] = i % 2 == 0 ? 1 : -1;
        at[(i / 4 + 2) % 3] = i / 2 % 2 == 0 ? golden : -golden;
        for (int k = 0; k < 3; k++) corners[i][k] = middle[k] + size * (at[0] * u[k] + at[1] * v[k] + at[2] * n[k]);
    }
    for (int i = 0; i < 12; i++) {
        for (int j = i + 1; j < 12; j++) {
            for (int l = j + 1; l < 12; l++) {
                double along[3], up[3], sides[3] = {0, 0, 0};
                for (int k = 0; k < 3; k++) {
                    along[k] = corners[j][k] - corners[i][k];
                    up[k] = corners[l][k] - 0.5 * (corners[i][k] + corners[j][k]);
                    sides[0] += along[k] * along[k];
                    sides[1] += pow(corners[l][k] - corners[i][k], 2);
                    sides[2] += pow(corners[l][k] - corners[j][k], 2);
                }
                if (fmax(fmax(sides[0], sides[1]), sides[2]) > 4.1 * size * size) continue;
                planes_scene_add_flat(b, corners[i], along, up, 0);
            }
        }
    }
}

static void make_solids(builder *b) {
    for (int i = 0; i < 4; i++) {
        const double middle[3] = {3.0 * i + draw(b), draw_between(b, 0, 1), draw_between(b, 0, 1)};
        add_icosahedron(b, middle, draw_between(b, 0.5, 0.9));
    }
    b->scanner[0] = 5, b->scanner[1] = -6, b->scanner[2] = 3;
}

/* A hall with a saw's roof: slopes, and upright windows between them. */
static void make_sheds(builder *b) {
    const double wide = draw_between(b, 5, 7), long_side = draw_between(b, 18, 25), rise = draw_between(b, 1.5, 2.5);
    for (int i = 0; i < 6; i++) {
        planes_scene_add_rectangle(b, i * wide, 0, 5, wide, 0, rise, 0, long_side, 0);
        planes_scene_add_rectangle(b, (i + 1) * wide, 0, 5, 0, long_side, 0, 0, 0, rise);
    }
    planes_scene_add_rectangle(b, 0, 0, 0, 6 * wide, 0, 0, 0, 0, 5);
    planes_scene_add_rectangle(b, -8, -10, 0, 6 * wide + 16, 0, 0, 0, 10, 0);
    b->scanner[0] = 3 * wide, b->scanner[1] = -8, b->scanner[2] = 30;
}

/* Two rows of houses, a road between kerbs of 12 cm, cars, lamp posts and trees. */
static void make_street(builder *b) {
    planes_scene_add_rectangle(b, 0, 2, 0, 40, 0, 0, 0, 7, 0);
    for (int side = 0; side < 2; side++) {
        planes_scene_add_rectangle(b, 0, side * 9, 0.12 + 0.06 * side, 40, 0, 0, 0, 2, 0);
        for (int i = 0; i < 4; i++) {
            const double x = 10 * i, back = 0.3 * draw(b);
            planes_scene_add_rectangle(b, x, side == 0 ? -back : 11 + back, 0.12, 10, 0, 0, 0, 0,
                                       draw_between(b, 6, 9));
            if (i % 2 == 0) {
                const double turn = draw_between(b, -0.05, 0.05);
                planes_scene_add_box(b, x + 2, side == 0 ? 2.3 : 7, 0, 4, 1.7, draw_between(b, 1.3, 1.9), turn);
            }
            surface *post = planes_scene_add_ball(b, CYLINDER, x + 7, side == 0 ? 1.5 : 9.5, 0.12, 0.12);
            post->u[2] = 4;
            surface *tree = planes_scene_add_ball(b, BLOB, x + 8, side == 0 ? 1.6 : 9.4, 4, draw_between(b, 0.8, 1.5));
            tree->share = 0.012;
        }
    }
    b->scanner[0] = 18, b->scanner[1] = 5, b->scanner[2] = 2;
}

/* Steps around a column, each turned by 22 degrees. */
static void make_spiral(builder *b) {
    surface *column = planes_scene_add_ball(b, CYLINDER, 0, 0, 0, 0.15);
    column->u[2] = 2.8;
    for (int i = 0; i < 14; i++) {
        const double at = 22 * i * PI / 180, c = cos(at), s = sin(at), z = 0.18 * (i + 1);
        const double in[3] = {1.1 * c + 0.21 * s, 1.1 * s - 0.21 * c, z}, u[3] = {-0.42 * s, 0.42 * c, 0};
        const double v[3] = {-0.9 * c, -0.9 * s, 0}, down[3] = {0, 0, -0.18};
        planes_scene_add_flat(b, in, u, v, 0.2);
        planes_scene_add_rectangle(b, in[0], in[1], in[2], v[0], v[1], v[2], down[0], down[1], down[2]);
    }
    b->scanner[0] = 2.5, b->scanner[1] = 1, b->scanner[2] = 3;
}

/* Rows of tilted panels on a flat roof: parallel planes. */
static void make_panels(builder *b) {
    const double tilt = draw_between(b, 10, 30) * PI / 180;
    planes_scene_add_rectangle(b, -1, -1, 0, 16, 0, 0, 0, 12, 0);
    for (int row = 0; row < 5; row++) {
        for (int i = 0; i < 3; i++) {
            planes_scene_add_rectangle(b, 4.8 * i, 2.2 * row, 0.2 + 0.1 * i, 3.8, 0, 0, 0, 1.6 * cos(tilt),
                                       1.6 * sin(tilt));
        }
    }
    b->scanner[0] = 6, b->scanner[1] = 4, b->scanner[2] = 9;
}

/* Containers side by side and on each other, out of line by up to 30 cm. */
static void make_stack(builder *b) {
    planes_scene_add_rectangle(b, -3, -3, 0, 20, 0, 0, 0, 9, 0);
    for (int i = 0; i < 6; i++) {
        const double height = 2.6 + 0.3 * (i % 2), y = 0.3 * draw(b);
        planes_scene_add_box(b, 6.6 * (i % 2) + 0.3 * draw(b), y, height * (i / 2), 6.1, 2.4, height, 0);
    }
    b->scanner[0] = 7, b->scanner[1] = -8, b->scanner[2] = 6;
}

/* A shaft: a cylinder that stands, with a floor and two landings of half its width. */
static void make_tunnel(builder *b) {
    const double radius = draw_between(b, 2, 3);
    surface *shaft = planes_scene_add_ball(b, CYLINDER, 0, 0, 0, radius);
    shaft->u[2] = 14;
    for (int i = 0; i < 3; i++) {
        const double half = 0.65 * radius;
        planes_scene_add_rectangle(b, -half, -half, 0.05 + 5 * i, 2 * half, 0, 0, 0, (i == 0 ? 2 : 1) * half, 0);
    }
    b->scanner[0] = 0.2, b->scanner[1] = 0.3, b->scanner[2] = 7;
}

/* Nothing is flat: a torus, a cone, a saddle, a dome. */
static void make_curved(builder *b) {
    surface *ring = planes_scene_add_ball(b, TORUS, 0, 0, 1, draw_between(b, 1, 2));
    ring->taper = draw_between(b, 0.2, 0.5);
    surface *cone = planes_scene_add_ball(b, CYLINDER, 5, 0, 0, draw_between(b, 0.6, 1.5));
    cone->u[2] = draw_between(b, 1, 2.5), cone->taper = 0.1;
    surface *saddle = planes_scene_add_ball(b, SADDLE, 0, 6, 1, 2);
    saddle->taper = draw_between(b, 0.2, 0.5);
    planes_scene_add_ball(b, SPHERE, 6, 6, 2, draw_between(b, 1, 2));
    b->scanner[0] = 3, b->scanner[1] = 3, b->scanner[2] = 6;
}

/* Roofs seen from the air in strips that overlap. */
static void make_strips(builder *b) {
    planes_scene_build(b, PLANES_SCENE_HIPS);
    b->strips = true;
}

/* A furnished room as one scan sees it: regular directions, what is behind is hidden, noise along the rays. */
static void make_rays(builder *b) {
    const double deep = draw_between(b, 4, 6);
    planes_scene_add_room(b, 0, 0, draw_between(b, 5, 8), deep, 2.6);
    for (int i = 0; i < 3; i++) {
        const double turn = draw_between(b, 0, 1), height = draw_between(b, 0.5, 1.2);
        const double depth = draw_between(b, 0.4, 1), width = draw_between(b, 0.4, 1), y = draw_between(b, 0.3, 3);
        planes_scene_add_box(b, draw_between(b, 0.3, 4), y, 0, width, depth, height, turn);
        const double table_y = draw_between(b, 0.3, 2.5);
        planes_scene_add_rectangle(b, draw_between(b, 0.3, 3), table_y, 0.75, 1.4, 0, 0, 0, 0.8, 0);
    }
    b->scanner[2] = 1.8;
    b->rays = true;
}

/* A street as a turning scanner of 64 rings sees it. */
static void make_rings(builder *b) {
    make_street(b);
    b->rays = true;
    b->rings = 64;
}

static const struct {
    const char *name;
    void (*make)(builder *b);
} kinds[PLANES_SCENE_AIRBORNE - PLANES_SCENE_KINDS] = {
    {"shelves", make_shelves}, {"corridor", make_corridor}, {"solids", make_solids}, {"sheds", make_sheds},
    {"street", make_street},   {"spiral", make_spiral},     {"panels", make_panels}, {"stack", make_stack},
    {"tunnel", make_tunnel},   {"curved", make_curved},     {"strips", make_strips}, {"one scan", make_rays},
    {"rings", make_rings},
};

const char *planes_scene_name_unseen(planes_scene_kind kind) { return kinds[kind - PLANES_SCENE_KINDS].name; }

void planes_scene_build_unseen(builder *b, planes_scene_kind kind) { kinds[kind - PLANES_SCENE_KINDS].make(b); }
