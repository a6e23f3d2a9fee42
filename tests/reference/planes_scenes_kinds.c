/* The surfaces of each kind of scene. */
#include <stdlib.h>
#include <string.h>

#include "reference/planes_scenes_builder.h"
#include "support/support.h"

#define MAX_LOTS 500u /* of a tile */
#define LOT_M    20.0

/* ---- kinds */

static void make_room(builder *b) {
    const double high = draw_between(b, 2.4, 3.2), deep = draw_between(b, 3.5, 7), wide = draw_between(b, 4, 9);
    planes_scene_add_room(b, 0, 0, wide, deep, high);
}

static void make_tables(builder *b) {
    make_room(b);
    for (int i = 0; i < 3; i++) {
        const double x = 0.6 + 1.1 * i, y = 0.5 + 1.0 * draw(b);
        planes_scene_add_rectangle(b, x, y, 0.70 + 0.06 * i, 0.9, 0, 0, 0, draw_between(b, 1.2, 1.8), 0);
    }
    planes_scene_add_box(b, 0.5, 2.8, 0, 0.8, 0.5, 1.9, 0);
}

static void make_clutter(builder *b) {
    make_tables(b);
    for (int i = 0; i < 12; i++) {
        const double radius = draw_between(b, 0.08, 0.25), z = draw_between(b, 0.1, 1.5);
        const double y = draw_between(b, 0.5, 3), x = draw_between(b, 0.5, 3.5);
        surface *blob = planes_scene_add_ball(b, BLOB, x, y, z, radius);
        blob->share = 0.012;
    }
}

static void make_corner(builder *b) {
    const double h = 2.7, a = draw_between(b, 6, 9), c = draw_between(b, 2.5, 3.5), d = draw_between(b, 5, 8);
    surface *ground = planes_scene_add_rectangle(b, 0, 0, 0, a, 0, 0, 0, d, 0);
    planes_scene_add_hole(ground, c / a, 1, c / d, 1);
    surface *roof = planes_scene_add_rectangle(b, 0, 0, h, a, 0, 0, 0, d, 0);
    planes_scene_add_hole(roof, c / a, 1, c / d, 1);
    planes_scene_add_rectangle(b, 0, 0, 0, a, 0, 0, 0, 0, h);
    planes_scene_add_rectangle(b, 0, 0, 0, 0, d, 0, 0, 0, h);
    planes_scene_add_rectangle(b, a, 0, 0, 0, c, 0, 0, 0, h);
    planes_scene_add_rectangle(b, c, c, 0, a - c, 0, 0, 0, 0, h);
    planes_scene_add_rectangle(b, c, c, 0, 0, d - c, 0, 0, 0, h);
    planes_scene_add_rectangle(b, 0, d, 0, c, 0, 0, 0, 0, h);
    b->scanner[0] = 0.6 * c, b->scanner[1] = 0.6 * c, b->scanner[2] = 1.6;
}

static void make_stairs(builder *b) {
    const double rise = draw_between(b, 0.15, 0.19), going = draw_between(b, 0.26, 0.32);
    const double width = draw_between(b, 1.0, 2.0);
    for (int i = 0; i < 10; i++) {
        planes_scene_add_rectangle(b, 0, i * going, i * rise, width, 0, 0, 0, 0, rise);
        planes_scene_add_rectangle(b, 0, i * going, (i + 1) * rise, width, 0, 0, 0, going, 0);
    }
    b->scanner[0] = 0.5 * width, b->scanner[1] = -2.5, b->scanner[2] = 3;
}

static void make_slabs(builder *b) {
    const double x = draw_between(b, 2, 4), y = draw_between(b, 2, 4);
    planes_scene_add_rectangle(b, 0, 0, 0, x, 0, 0, 0, y, 0);
    planes_scene_add_rectangle(b, 0, 0, 0.10, x, 0, 0, 0, y, 0);
    planes_scene_add_rectangle(b, 0, 0, 0.26, x, 0, 0, 0, y, 0);
    b->scanner[0] = 0.5 * x, b->scanner[1] = 0.5 * y, b->scanner[2] = 2.5;
}

/* Leaves that share a hinge far to the left, each some degrees steeper than the one below. */
static void make_fan(builder *b) {
    const double step = draw_between(b, 2, 5) * PI / 180;
    for (int i = 0; i < 5; i++) {
        const double c = cos(i * step), s = sin(i * step);
        planes_scene_add_rectangle(b, 1.5 * c, 0, 1.5 * s, 3 * c, 0, 3 * s, 0, 3, 0);
    }
    b->scanner[0] = 3, b->scanner[1] = 1.5, b->scanner[2] = 4;
}

/* Two slopes and two gables. */
static void add_gable(builder *b, double x, double y, double turn, double width, double length, double eaves,
                      double ridge) {
    const double c = cos(turn), s = sin(turn), half = 0.5 * width, rise = ridge - eaves;
    planes_scene_add_rectangle(b, x, y, eaves, length * c, length * s, 0, -half * s, half * c, rise);
    planes_scene_add_rectangle(b, x - width * s, y + width * c, eaves, length * c, length * s, 0, half * s, -half * c,
                               rise);
    planes_scene_add_rectangle(b, x, y, 0, length * c, length * s, 0, 0, 0, eaves);
}

static void make_gables(builder *b) {
    planes_scene_add_rectangle(b, -5, -5, 0, 60, 0, 0, 0, 32, 0);
    for (int i = 0; i < 8; i++) {
        const double ridge = draw_between(b, 6, 8), eaves = draw_between(b, 3, 5), length = draw_between(b, 7, 10);
        const double width = draw_between(b, 6, 8), turn = draw_between(b, -0.3, 0.3), y = 1 + 14 * (i / 4) + draw(b);
        add_gable(b, 2 + 13 * (i % 4) + draw(b), y, turn, width, length, eaves, ridge);
    }
    b->scanner[0] = 20, b->scanner[1] = 10, b->scanner[2] = 60;
}

static void add_hip(builder *b, double x, double y, double width, double length, double eaves, double rise) {
    const double half = 0.5 * width, taper = (length - width) / length;
    const double a[3] = {x, y, eaves}, along[3] = {length, 0, 0}, across[3] = {0, width, 0};
    const double opposite[3] = {x, y + width, eaves}, right[3] = {x + length, y, eaves};
    const double up[3] = {0, half, rise}, down[3] = {0, -half, rise}, in[3] = {half, 0, rise},
                 back[3] = {-half, 0, rise};
    planes_scene_add_flat(b, a, along, up, taper);
    planes_scene_add_flat(b, opposite, along, down, taper);
    planes_scene_add_flat(b, a, across, in, 0);
    planes_scene_add_flat(b, right, across, back, 0);
}

static void make_hips(builder *b) {
    planes_scene_add_rectangle(b, -5, -5, 0, 40, 0, 0, 0, 36, 0);
    for (int i = 0; i < 4; i++) {
        const double x = 18 * (i % 2), y = 16 * (i / 2), width = draw_between(b, 7, 9), rise = draw_between(b, 2, 3.5);
        add_hip(b, x, y, width, draw_between(b, 11, 14), 4, rise);
        if (i % 2 == 0) { /* a dormer with a gable of its own */
            const double low = 4.2, top = low + 0.5 * rise + 0.8;
            planes_scene_add_rectangle(b, x + 4, y - 0.5, low + 1.2, 1.5, 0, top - low - 1.2, 0, 3.0, 0);
            planes_scene_add_rectangle(b, x + 7, y - 0.5, low + 1.2, -1.5, 0, top - low - 1.2, 0, 3.0, 0);
        }
    }
    b->scanner[0] = 15, b->scanner[1] = 12, b->scanner[2] = 50;
}

static void make_boxes(builder *b) {
    planes_scene_add_rectangle(b, -1, -1, 0, 7, 0, 0, 0, 6, 0);
    for (int i = 0; i < 4; i++) {
        const double x = 0.4 + 2.6 * (i % 2), y = 0.4 + 2.4 * (i / 2), turn = draw_between(b, 0, 0.4);
        const double w = draw_between(b, 1.2, 1.6), d = draw_between(b, 1.0, 1.4), h = draw_between(b, 0.5, 1.0);
        planes_scene_add_box(b, x, y, 0, w, d, h, turn);
        if (i < 2)
            planes_scene_add_box(b, x + 0.2, y + 0.35, h, 0.5 * w, 0.5 * d, draw_between(b, 0.4, 0.8), turn + 0.3);
    }
    b->scanner[0] = 2.5, b->scanner[1] = 2.0, b->scanner[2] = 4;
}

static void add_round(builder *b) {
    for (int i = 0; i < 3; i++) {
        const double radius = draw_between(b, 0.3, 0.7), z = draw_between(b, 0.5, 2);
        const double y = draw_between(b, 1, 4), x = draw_between(b, 1, 4);
        planes_scene_add_ball(b, SPHERE, x, y, z, radius);
        const double pipe_radius = draw_between(b, 0.1, 0.5), pipe_y = draw_between(b, 1, 4);
        surface *pipe = planes_scene_add_ball(b, CYLINDER, draw_between(b, 1, 4), pipe_y, 0, pipe_radius);
        pipe->u[2] = 2.5;
    }
}

static void make_round(builder *b) {
    planes_scene_add_room(b, 0, 0, 5, 5, 2.6);
    add_round(b);
    planes_scene_add_box(b, 1, 1, 0, 1, 1.2, 0.8, 0.5);
}

static void make_balls(builder *b) {
    make_gables(b);
    for (int i = 0; i < 3; i++) {
        const double radius = draw_between(b, 0.4, 1.2), z = draw_between(b, 2, 4);
        surface *ball = planes_scene_add_ball(b, SPHERE, 5 + 17 * i, 26 + draw(b), z, radius);
        ball->share = 0.034;
    }
}

void planes_scene_axes(builder *b, double u[3], double v[3], double n[3]) {
    const double z = draw_between(b, -1, 1), phi = draw_between(b, 0, 2 * PI), turn = draw_between(b, 0, 2 * PI);
    const double r = sqrt(1 - z * z), a[3] = {r * cos(phi), r * sin(phi), z};
    const double e[3] = {-sin(phi), cos(phi), 0};
    double f[3];
    for (int k = 0; k < 3; k++) f[k] = a[(k + 1) % 3] * e[(k + 2) % 3] - a[(k + 2) % 3] * e[(k + 1) % 3];
    for (int k = 0; k < 3; k++) {
        u[k] = cos(turn) * e[k] + sin(turn) * f[k];
        v[k] = -sin(turn) * e[k] + cos(turn) * f[k];
        n[k] = a[k];
    }
}

static void make_rectangles(builder *b, int count, double box) {
    for (int i = 0; i < count; i++) {
        double u[3], v[3], n[3], corner[3];
        planes_scene_axes(b, u, v, n);
        const double a = draw_between(b, 0.8, 2.2), c = draw_between(b, 0.8, 2.2);
        for (int k = 0; k < 3; k++) corner[k] = draw_between(b, 0, box), u[k] *= a, v[k] *= c;
        planes_scene_add_flat(b, corner, u, v, 1);
    }
    for (int k = 0; k < 3; k++) b->scanner[k] = 0.5 * box;
}

static void make_thirty(builder *b) { make_rectangles(b, 30, 6); }
static void make_hundred(builder *b) { make_rectangles(b, 100, 12); }

static void make_terrain(builder *b) {
    surface *hills = planes_scene_add(b, HILLS);
    hills->u[0] = 60, hills->v[1] = 32;
    for (int i = 0; i < 8; i++) {
        const double x = 4 + 13 * (i % 4) + draw(b), y = 3 + 14 * (i / 4) + draw(b), at = hill(x, y) + 5;
        const double w = draw_between(b, 6, 8), l = draw_between(b, 7, 10), rise = draw_between(b, 2, 4);
        planes_scene_add_rectangle(b, x, y, at, l, 0, 0, 0, 0.5 * w, rise);
        planes_scene_add_rectangle(b, x, y + w, at, l, 0, 0, 0, -0.5 * w, rise);
    }
    b->scanner[0] = 30, b->scanner[1] = 15, b->scanner[2] = 70;
}

static void make_facade(builder *b) {
    surface *wall = planes_scene_add_rectangle(b, 0, 0, 0, 12, 0, 0, 0, 0, 9);
    const double deep = draw_between(b, 0.12, 0.25);
    for (int i = 0; i < 12; i++) {
        const double x = 0.9 + 2.8 * (i % 4), z = 1.0 + 2.7 * (i / 4);
        planes_scene_add_hole(wall, x / 12, (x + 1.7) / 12, z / 9, (z + 1.6) / 9);
        planes_scene_add_rectangle(b, x, deep, z, 1.7, 0, 0, 0, 0, 1.6);
    }
    planes_scene_add_rectangle(b, -2, -6, 0, 16, 0, 0, 0, 6, 0);
    b->scanner[0] = 5, b->scanner[1] = -7, b->scanner[2] = 1.8;
}

static void make_nothing(builder *b) {
    if (b->seed % 2 == 0) {
        surface *hills = planes_scene_add(b, HILLS);
        hills->u[0] = 60, hills->v[1] = 32;
    } else {
        add_round(b);
    }
    b->scanner[0] = 3, b->scanner[1] = 3, b->scanner[2] = 6;
}

/* ---- a tile: many houses on hills, none with more than a tiny share of the points */

/* A house's own frame: metres along its ridge and across it, from a corner, turned. */
typedef struct house {
    double x, y, z, turn;
} house;

/* A roof's side in the frame of its house: from a corner, along and up; taper as that of a surface. */
static void add_side(builder *b, const house *h, const double corner[3], const double along[3], const double up[3],
                     double taper) {
    const double c = cos(h->turn), s = sin(h->turn), *from[3] = {corner, along, up};
    double to[3][3];
    for (int i = 0; i < 3; i++) {
        to[i][0] = c * from[i][0] - s * from[i][1];
        to[i][1] = s * from[i][0] + c * from[i][1];
        to[i][2] = from[i][2];
    }
    to[0][0] += h->x, to[0][1] += h->y, to[0][2] += h->z;
    planes_scene_add_flat(b, to[0], to[1], to[2], taper);
}

/* inset  how far the ridge ends inside the eaves: 0 for gables, half the width for hips */
static void add_roof(builder *b, const house *h, double length, double width, double rise, double inset) {
    const double half = 0.5 * width, taper = (length - 2 * inset) / length;
    const double origin[3] = {0, 0, 0}, opposite[3] = {0, width, 0}, right[3] = {length, 0, 0};
    const double along[3] = {length, 0, 0}, across[3] = {0, width, 0};
    const double up[3] = {0, half, rise}, down[3] = {0, -half, rise}, in[3] = {inset, 0, rise},
                 back[3] = {-inset, 0, rise};
    add_side(b, h, origin, along, up, taper);
    add_side(b, h, opposite, along, down, taper);
    if (inset > 0) {
        add_side(b, h, origin, across, in, 0);
        add_side(b, h, right, across, back, 0);
    }
}

/* Half of the houses have gables, the others hips or a flat roof; one in three has a dormer, which does not count. */
static void add_house(builder *b, const house *h) {
    const double length = draw_between(b, 8, 15), width = draw_between(b, 7, 10), rise = draw_between(b, 1.8, 4.5);
    const double which = draw(b), origin[3] = {0, 0, 0}, along[3] = {length, 0, 0}, across[3] = {0, width, 0};
    if (which < 0.15) {
        add_side(b, h, origin, along, across, 1);
    } else {
        add_roof(b, h, length, width, rise, which < 0.5 ? 0.45 * fmin(width, length) : 0);
        const double top[3] = {0.4 * length, 0.1 * width, 0.75 * rise}, wide[3] = {2, 0, 0},
                     deep[3] = {0, 0.3 * width, 0};
        if (draw(b) < 0.33) add_side(b, h, top, wide, deep, 1);
    }
    if (draw(b) < 0.4) { /* a garage */
        const double corner[3] = {length + 0.5, 0, -1.5}, wide[3] = {3.5, 0, 0}, deep[3] = {0, 6.5, 0};
        add_side(b, h, corner, wide, deep, 1);
    }
}

static void make_tile(builder *b) {
    const uint64_t wanted = b->points / LOT_POINTS, lots = wanted < 2 ? 2 : wanted < MAX_LOTS ? wanted : MAX_LOTS;
    const uint32_t columns = (uint32_t)ceil(sqrt((double)lots)), rows = (uint32_t)((lots + columns - 1) / columns);
    surface *hills = planes_scene_add(b, HILLS);
    hills->u[0] = LOT_M * columns, hills->v[1] = LOT_M * rows;
    for (uint32_t i = 0; i < lots; i++) {
        const double x = LOT_M * (i % columns) + draw_between(b, 2, 5),
                     y = LOT_M * (i / columns) + draw_between(b, 2, 5);
        const house h = {x, y, hill(x + 5, y + 5) + draw_between(b, 3.5, 8), draw_between(b, -0.2, 0.25)};
        add_house(b, &h);
        surface *tree =
            planes_scene_add_ball(b, BLOB, x + 15, y + 13, hill(x + 15, y + 13) + 4, draw_between(b, 1.5, 3.5));
        tree->share = 0.12 / (double)lots;
    }
    b->scanner[0] = 10.0 * columns, b->scanner[1] = 10.0 * rows, b->scanner[2] = 25.0 * columns;
}

static const struct {
    const char *name;
    void (*make)(builder *b);
} kinds[PLANES_SCENE_KINDS] = {
    {"room", make_room},
    {"room, tables", make_tables},
    {"room, clutter", make_clutter},
    {"L room", make_corner},
    {"stairs", make_stairs},
    {"slabs", make_slabs},
    {"fan", make_fan},
    {"gable roofs", make_gables},
    {"hip roofs", make_hips},
    {"boxes", make_boxes},
    {"round things", make_round},
    {"roofs, balls", make_balls},
    {"30 rectangles", make_thirty},
    {"100 rectangles", make_hundred},
    {"terrain, houses", make_terrain},
    {"facade", make_facade},
    {"nothing flat", make_nothing},
    {"tile", make_tile},
};

const char *planes_scene_name(planes_scene_kind kind) {
    if (kind >= PLANES_SCENE_FLOATS) return planes_scene_name_missed(kind);
    if (kind >= PLANES_SCENE_STANDS) return planes_scene_name_rows(kind);
    if (kind >= PLANES_SCENE_CLOTH) return planes_scene_name_smooth(kind);
    if (kind >= PLANES_SCENE_AIRBORNE) return planes_scene_name_named(kind);
    return kind < PLANES_SCENE_KINDS ? kinds[kind].name : planes_scene_name_unseen(kind);
}

void planes_scene_build(builder *b, planes_scene_kind kind) {
    if (kind < PLANES_SCENE_KINDS) {
        kinds[kind].make(b);
    } else if (kind >= PLANES_SCENE_FLOATS) {
        planes_scene_build_missed(b, kind);
    } else if (kind >= PLANES_SCENE_STANDS) {
        planes_scene_build_rows(b, kind);
    } else if (kind >= PLANES_SCENE_CLOTH) {
        planes_scene_build_smooth(b, kind);
    } else if (kind >= PLANES_SCENE_AIRBORNE) {
        planes_scene_build_named(b, kind);
    } else {
        planes_scene_build_unseen(b, kind);
    }
}
