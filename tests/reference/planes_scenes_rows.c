/* Kinds of scenes in which like things stand in rows, a little out of line: made by somebody who knew the search from
   outside only. What lies between their planes is next to nothing, or a step. */
#include <math.h>

#include "reference/planes_scenes_builder.h"
#include "support/support.h"

/* Two stands of steps on either side of a field: two thirds of the points, each plane a sixtieth of them. */
static void make_stands(builder *b) {
    const int rows = 8 + (int)(5 * draw(b));
    const double rise = draw_between(b, 0.35, 0.5), deep = 0.8;
    planes_scene_add_rectangle(b, 0, 0, 0, 30, 0, 0, 0, 20, 0);
    for (int side = 0; side < 2; side++) {
        const double out = side == 0 ? -deep : deep, edge = side == 0 ? -1 : 21;
        for (int i = 0; i < rows; i++) {
            planes_scene_add_rectangle(b, 2, edge + out * i, rise * (i + 1), 26, 0, 0, 0, out, 0);
            planes_scene_add_rectangle(b, 2, edge + out * i, rise * i, 26, 0, 0, 0, 0, rise);
        }
    }
    b->scanner[0] = 15, b->scanner[1] = 10, b->scanner[2] = 3;
}

/* Shelves for pallets: posts, beams, and boxes on three floors, up to 10 cm and 4 degrees out of line. */
static void make_rack(builder *b) {
    planes_scene_add_rectangle(b, -1, -2, 0, 8, 0, 0, 0, 4, 0);
    for (int level = 0; level < 3; level++) {
        const double z = 1.5 * level;
        for (int i = 0; i < 6; i++) planes_scene_add_box(b, 2.8 * (i % 3), i / 3, z, 0.1, 0.08, 1.5, 0);
        for (int i = 0; i < 2; i++) planes_scene_add_rectangle(b, 0, 1.02 * i, z + 1.35, 5.7, 0, 0, 0, 0, 0.12);
        for (int i = 0; i < 4; i++) {
            const double x = 0.25 + 1.35 * i + 0.1 * draw(b), y = 0.05 + 0.1 * draw(b);
            const double turn = draw_between(b, -0.08, 0.08), height = draw_between(b, 0.6, 1.2);
            planes_scene_add_box(b, x, y, z, draw_between(b, 0.8, 1.1), 0.85, height, turn);
        }
    }
    b->scanner[0] = 3, b->scanner[1] = -5, b->scanner[2] = 2;
}

/* Containers in rows of four, up to three on each other, up to 25 cm and half a degree out of line. */
static void make_yard(builder *b) {
    planes_scene_add_rectangle(b, -4, -4, 0, 40, 0, 0, 0, 26, 0);
    for (int i = 0; i < 16; i++) {
        const int high = 1 + (int)(2.2 * draw(b));
        for (int level = 0; level < high; level++) {
            const double turn = draw_between(b, -0.01, 0.01), y = 4.5 * (i % 4) + 0.25 * draw(b);
            planes_scene_add_box(b, 7.5 * (i / 4) + 0.25 * draw(b), y, 2.6 * level, 6.06, 2.44, 2.59, turn);
        }
    }
    b->scanner[0] = 14, b->scanner[1] = -12, b->scanner[2] = 12;
}

static const struct {
    const char *name;
    void (*make)(builder *b);
} kinds[PLANES_SCENE_FLOATS - PLANES_SCENE_STANDS] = {
    {"stands", make_stands},
    {"rack", make_rack},
    {"yard", make_yard},
};

const char *planes_scene_name_rows(planes_scene_kind kind) { return kinds[kind - PLANES_SCENE_STANDS].name; }

void planes_scene_build_rows(builder *b, planes_scene_kind kind) { kinds[kind - PLANES_SCENE_STANDS].make(b); }
