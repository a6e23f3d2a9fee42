/* Kinds of scenes of which other programs found more. */
#include "reference/planes_scenes_builder.h"
#include "support/support.h"

/* Houses in coordinates that were floats of 500,000 and 5,300,000 metres: to 3 and to 50 cm, while heights are exact.
   Walls have no noise, or that of two steps, roofs some millimetres. */
static void make_floats(builder *b) {
    planes_scene_add_rectangle(b, -4, -6, 0, 76, 0, 0, 0, 27, 0);
    for (int i = 0; i < 3; i++) {
        const double x = 24 * i, y = 1.5 * i, wide = draw_between(b, 8, 12), deep = draw_between(b, 10, 16);
        const double high = draw_between(b, 4, 7), rise = 0.5 * wide * draw_between(b, 0.45, 0.95);
        planes_scene_add_rectangle(b, x, y, high, 0.5 * wide, 0, rise, 0, deep, 0);
        planes_scene_add_rectangle(b, x + wide, y, high, -0.5 * wide, 0, rise, 0, deep, 0);
        planes_scene_add_rectangle(b, x, y, 0, wide, 0, 0, 0, 0, high);
        planes_scene_add_rectangle(b, x, y, 0, 0, deep, 0, 0, 0, high);
        planes_scene_add_rectangle(b, x + wide, y, 0, 0, deep, 0, 0, 0, high);
    }
    b->step[0] = 1.0 / 32, b->step[1] = 0.5;
    b->scanner[0] = 30, b->scanner[1] = -10, b->scanner[2] = 40;
}

/* A room and a box, seen in stripes of 3 to 8 cm, each off by one to two noises: as of a scanner whose lines differ. */
static void make_stripes(builder *b) {
    const double deep = draw_between(b, 4, 6);
    planes_scene_add_room(b, 0, 0, draw_between(b, 5, 8), deep, 2.6);
    planes_scene_add_box(b, 1, 1, 0, 1.2, 0.8, 0.9, 0.3);
    b->stripe = draw_between(b, 0.03, 0.08), b->stripe_noises = draw_between(b, 1, 2);
    b->scanner[0] = 3, b->scanner[1] = 2, b->scanner[2] = 1.5;
}

static const struct {
    const char *name;
    void (*make)(builder *b);
} kinds[PLANES_SCENE_ALL - PLANES_SCENE_FLOATS] = {
    {"floats", make_floats},
    {"stripes", make_stripes},
};

const char *planes_scene_name_missed(planes_scene_kind kind) { return kinds[kind - PLANES_SCENE_FLOATS].name; }

void planes_scene_build_missed(builder *b, planes_scene_kind kind) { kinds[kind - PLANES_SCENE_FLOATS].make(b); }
