/* Kinds of scenes in which nothing is flat, nor were they known when rules for curved things were made; and one of
   planes that bend a little. */
#include <math.h>

#include "reference/planes_scenes_builder.h"
#include "support/support.h"

/* A cloth that hangs in waves of 30 to 60 cm across each other. */
static void make_cloth(builder *b) {
    surface *s = planes_scene_add_ball(b, WAVES, 0, 0, 0, draw_between(b, 0.02, 0.06));
    s->u[0] = 3, s->v[1] = 2, s->v[2] = 1;
    s->taper = draw_between(b, 5, 10);
    s->across = true;
    b->scanner[0] = 1.5, b->scanner[1] = -2, b->scanner[2] = 4;
}

/* A sheet with round waves of 20 cm that are 4 to 8 cm high. */
static void make_corrugated(builder *b) {
    surface *s = planes_scene_add_ball(b, WAVES, 0, 0, 0, draw_between(b, 0.04, 0.08));
    s->u[0] = 4, s->v[1] = 5, s->v[2] = 1;
    s->taper = 20;
    b->scanner[0] = 2, b->scanner[1] = -3, b->scanner[2] = 5;
}

/* A hall under a dome and two barrel vaults, their ground not seen. */
static void make_vault(builder *b) {
    const double radius = draw_between(b, 2.5, 4);
    for (int i = 0; i < 2; i++) {
        surface *barrel = planes_scene_add_ball(b, BULGE, 0, 3 * radius * i, 0, draw_between(b, 0.5, 1) * radius);
        barrel->u[1] = 2 * radius, barrel->v[0] = 12, barrel->taper = 2;
        planes_scene_add_ball(b, SPHERE, 16, 2 * radius * i, 0, 0.8 * radius);
    }
    b->scanner[0] = 6, b->scanner[1] = 2 * radius, b->scanner[2] = 1;
}

/* A ship's hull, and a boat's. */
static void make_hull(builder *b) {
    for (int i = 0; i < 2; i++) {
        surface *hull = planes_scene_add_ball(b, BULGE, 0, 0, 8 * i, draw_between(b, 1.5, 3) / (1 + i));
        hull->u[0] = 24.0 / (1 + i), hull->v[1] = 7.0 / (1 + i), hull->taper = draw_between(b, 2, 3);
        hull->across = true;
    }
    b->scanner[0] = 12, b->scanner[1] = 3, b->scanner[2] = 9;
}

/* Twelve pipes beside each other. */
static void make_pipes(builder *b) {
    double y = 0;
    for (int i = 0; i < 12; i++) {
        const double radius = draw_between(b, 0.05, 0.25);
        surface *pipe = planes_scene_add_ball(b, CYLINDER, y + radius, 0, radius, radius);
        pipe->u[1] = 4, pipe->u[2] = 0.6;
        y += 2 * radius + 0.05;
    }
    b->scanner[0] = 2, b->scanner[1] = -2, b->scanner[2] = 3;
}

/* Pillows, flat in the middle and round at their rims: of a third power, so that it bends everywhere. */
static void make_pillows(builder *b) {
    for (int i = 0; i < 9; i++) {
        const double bulge = draw_between(b, 0.1, 0.2);
        surface *pillow = planes_scene_add_ball(b, BULGE, i % 3, i / 3, draw(b), bulge);
        pillow->u[0] = 0.8, pillow->v[1] = draw_between(b, 0.5, 0.8), pillow->v[2] = draw_between(b, -0.3, 0.3);
        pillow->taper = 3, pillow->across = true;
    }
    b->scanner[0] = 1.5, b->scanner[1] = -2, b->scanner[2] = 4;
}

/* Bends a plane by 0.3 to 12 noises, yet its slopes by 2 degrees at most, root mean square. */
static void bend(builder *b, surface *s) {
    const double u = sqrt(s->u[0] * s->u[0] + s->u[1] * s->u[1] + s->u[2] * s->u[2]);
    const double v = sqrt(s->v[0] * s->v[0] + s->v[1] * s->v[1] + s->v[2] * s->v[2]);
    const double noises = 0.3 * pow(40, draw(b)), least_noise = 0.002;
    s->waves = 1 + (int)(3 * draw(b));
    s->sag = fmin(2 * fmax(b->noise, least_noise) * noises, 0.035 / (0.5 * PI * s->waves * hypot(1 / u, 1 / v)));
}

/* A floor that sags and a wall, or a room with such a floor and a wall that bulges. */
static void make_sagging(builder *b) {
    const double wide = draw_between(b, 6, 10), deep = draw_between(b, 5, 8);
    bend(b, planes_scene_add_rectangle(b, 0, 0, 0, wide, 0, 0, 0, deep, 0));
    planes_scene_add_rectangle(b, 0, 0, 0, 0, deep, 0, 0, 0, 3);
    if (b->seed % 2 == 1) {
        bend(b, planes_scene_add_rectangle(b, 0, 0, 0, wide, 0, 0, 0, 0, 3));
        planes_scene_add_rectangle(b, wide, 0, 0, 0, deep, 0, 0, 0, 3);
        planes_scene_add_rectangle(b, 0, 0, 3, wide, 0, 0, 0, deep, 0);
    }
    b->scanner[0] = 0.5 * wide, b->scanner[1] = 0.5 * deep, b->scanner[2] = 1.5;
}

static const struct {
    const char *name;
    void (*make)(builder *b);
} kinds[PLANES_SCENE_STANDS - PLANES_SCENE_CLOTH] = {
    {"cloth", make_cloth}, {"corrugated", make_corrugated}, {"vaults", make_vault},    {"hulls", make_hull},
    {"pipes", make_pipes}, {"pillows", make_pillows},       {"sagging", make_sagging},
};

const char *planes_scene_name_smooth(planes_scene_kind kind) { return kinds[kind - PLANES_SCENE_CLOTH].name; }

void planes_scene_build_smooth(builder *b, planes_scene_kind kind) { kinds[kind - PLANES_SCENE_CLOTH].make(b); }
