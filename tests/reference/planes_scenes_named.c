/* Kinds of scenes that were reported to fail: slices through trees, sheets that lie nearly on each other, roads that
   fall to either side, returns that are no measurements, coordinates that are whole steps, and curved things that are
   nearly flat for a while. */
#include <math.h>

#include "reference/planes_scenes_builder.h"
#include "support/support.h"

/* Airborne, one to ten: flat ground, roofs, and woods with half of the points. */
static void make_airborne(builder *b) {
    planes_scene_add_rectangle(b, 0, 0, 0, 12, 0, 0, 0, 9, 0);
    for (int i = 0; i < 3; i++) {
        const double x = 1 + 3.8 * i + 0.4 * draw(b), y = draw_between(b, 1, 5), rise = draw_between(b, 0.2, 0.4);
        planes_scene_add_rectangle(b, x, y, 0.5, 2, 0, 0, 0, 0.6, rise);
        planes_scene_add_rectangle(b, x, y + 1.2, 0.5, 2, 0, 0, 0, -0.6, rise);
    }
    for (int i = 0; i < 6; i++) {
        const double radius = draw_between(b, 0.8, 1.6);
        const double y = draw_between(b, 6, 9);
        surface *wood = planes_scene_add_ball(b, BLOB, draw_between(b, 1, 11), y, radius, radius);
        wood->share = 0.08;
    }
    b->scanner[0] = 6, b->scanner[1] = 4, b->scanner[2] = 60;
}

/* A sheet that waves along u: eight waves of 25 cm, some centimetres deep. */
static void make_curtain(builder *b) {
    surface *s = planes_scene_add_ball(b, WAVES, 0, 0, 0, 0);
    s->u[0] = 2, s->v[2] = 2;
    s->radius = draw_between(b, 0.05, 0.1), s->taper = 8;
    b->scanner[0] = 1, b->scanner[1] = -3, b->scanner[2] = 1;
}

/* Dunes: waves of 12 m across each other. */
static void make_dunes(builder *b) {
    surface *s = planes_scene_add_ball(b, WAVES, 0, 0, 0, 0);
    s->u[0] = 60, s->v[1] = 60;
    s->radius = draw_between(b, 0.6, 1.2), s->taper = 5;
    s->across = true;
    b->scanner[0] = 30, b->scanner[1] = 30, b->scanner[2] = 40;
}

/* A room whose floor was seen twice, 3 to 6 deviations of the noise apart: one plane, of both. */
static void make_sheets(builder *b) {
    const double wide = draw_between(b, 5, 8), deep = draw_between(b, 4, 6);
    planes_scene_add_rectangle(b, 0, 0, 0, wide, 0, 0, 0, deep, 0);
    surface *second = planes_scene_add_rectangle(b, 0, 0, draw_between(b, 3, 6) * b->noise, wide, 0, 0, 0, deep, 0);
    second->sheet = true;
    if (b->seed % 2 == 1) planes_scene_add_rectangle(b, 0, 0, 0, wide, 0, 0, 0, 0, 2.6);
    if (b->seed % 2 == 1) planes_scene_add_rectangle(b, 0, 0, 0, 0, deep, 0, 0, 0, 2.6);
    b->scanner[0] = 0.5 * wide, b->scanner[1] = 0.5 * deep, b->scanner[2] = 1.5;
}

/* A road that falls by 2 to 3 % to either side, kerbs, pavements, and houses. */
static void make_road(builder *b) {
    const double fall = draw_between(b, 0.02, 0.03) * 3.5;
    planes_scene_add_rectangle(b, 0, 0, 0, 40, 0, 0, 0, 3.5, fall);
    planes_scene_add_rectangle(b, 0, 7, 0, 40, 0, 0, 0, -3.5, fall);
    for (int side = 0; side < 2; side++) {
        planes_scene_add_rectangle(b, 0, side == 0 ? -2 : 7, 0.12, 40, 0, 0, 0, 2, 0);
        planes_scene_add_rectangle(b, 0, side == 0 ? -2 : 9, 0.12, 40, 0, 0, 0, 0, draw_between(b, 6, 9));
    }
    b->scanner[0] = 18, b->scanner[1] = 3, b->scanner[2] = 2;
}

/* A bridge: a deck that falls to either side, pavements 15 cm above it, parapets, and two piers. */
static void make_bridge(builder *b) {
    const double fall = draw_between(b, 0.02, 0.03) * 4;
    planes_scene_add_rectangle(b, 0, 0, 0, 50, 0, 0, 0, 4, fall);
    planes_scene_add_rectangle(b, 0, 8, 0, 50, 0, 0, 0, -4, fall);
    for (int side = 0; side < 2; side++) {
        planes_scene_add_rectangle(b, 0, side == 0 ? -2 : 8, 0.15, 50, 0, 0, 0, 2, 0);
        planes_scene_add_rectangle(b, 0, side == 0 ? -2 : 10, -0.8, 50, 0, 0, 0, 0, 2);
        planes_scene_add_box(b, 14 + 20 * side, 1, -6, 1.2, 6, 5, 0);
    }
    b->scanner[0] = 25, b->scanner[1] = -14, b->scanner[2] = 5;
}

/* A room, and a twentieth of the points in one place within it: returns that are no measurements. */
static void make_zeros(builder *b) {
    const double deep = draw_between(b, 4, 6);
    planes_scene_add_room(b, 0, 0, draw_between(b, 5, 8), deep, 2.6);
    surface *place = planes_scene_add_ball(b, BLOB, 2.5, 2, 1.2, 0);
    place->share = 0.05;
    for (int i = 0; i < 3; i++) {
        const double turn = draw_between(b, 0, 1), height = draw_between(b, 0.5, 1.2);
        const double depth = draw_between(b, 0.4, 1), width = draw_between(b, 0.4, 1), y = draw_between(b, 0.3, 3);
        planes_scene_add_box(b, draw_between(b, 0.3, 4), y, 0, width, depth, height, turn);
    }
}

/* A room in steps of a centimetre along its axes. */
static void make_voxels(builder *b) {
    const double deep = draw_between(b, 4, 6);
    planes_scene_add_room(b, 0, 0, draw_between(b, 5, 8), deep, 2.6);
    const double height = draw_between(b, 0.5, 1.2), depth = draw_between(b, 0.8, 1.5);
    planes_scene_add_box(b, 1, 1, 0, draw_between(b, 0.8, 1.5), depth, height, 0);
    b->step[0] = b->step[1] = b->step[2] = 0.01;
}

static const struct {
    const char *name;
    void (*make)(builder *b);
} kinds[PLANES_SCENE_CLOTH - PLANES_SCENE_AIRBORNE] = {
    {"airborne", make_airborne}, {"curtain", make_curtain}, {"dunes", make_dunes}, {"two sheets", make_sheets},
    {"road", make_road},         {"bridge", make_bridge},   {"zeros", make_zeros}, {"voxels", make_voxels},
};

const char *planes_scene_name_named(planes_scene_kind kind) { return kinds[kind - PLANES_SCENE_AIRBORNE].name; }

void planes_scene_build_named(builder *b, planes_scene_kind kind) { kinds[kind - PLANES_SCENE_AIRBORNE].make(b); }
