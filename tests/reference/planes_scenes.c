/* Scenes: surfaces that points are spread over evenly, or as a scanner does, and points anywhere. */
#include "reference/planes_scenes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reference/knn_reference.h"
#include "support/support.h"

#define PI          3.14159265358979323846
#define MAX_HOLES   24
#define SEEDS_APART 17    /* kinds there were when the tables were begun: their scenes stay as they are */
#define SUPPORT     200u  /* a true plane counts if it has one of so many points; of a tile, so many points */
#define LOT_POINTS  2400u /* of a tile: for a house, its garden and its trees */
#define MAX_LOTS    500u
#define LOT_M       20.0

typedef enum surface_shape { FLAT, SPHERE, CYLINDER, HILLS, BLOB } surface_shape;

/* A flat surface: corner + s·u + t·v, s and t from 0 to 1, where s is squeezed to the middle part of the width as t
   grows (taper 1: a parallelogram, 0: a triangle), without holes.
   A sphere or blob: centre and radius. A cylinder: corner, axis u, radius. Hills: a height over u and v. */
typedef struct surface {
    surface_shape shape;
    double corner[3], u[3], v[3], taper, radius, share;
    double hole[MAX_HOLES][4]; /* least and largest s, least and largest t */
    int holes;
} surface;

typedef struct builder {
    uint64_t seed, draws, points;
    surface surfaces[PLANES_SCENES_MAX];
    uint32_t count;
    double scanner[3];
} builder;

void *planes_scene_array(uint64_t count, size_t size) {
    void *array = calloc(count + 1, size);
    assert_non_null(array);
    return array;
}

static double draw(builder *b) { return test_random(b->seed * 2 + 1, b->draws++); }
static double draw_between(builder *b, double low, double high) { return low + (high - low) * draw(b); }

static surface *add(builder *b, surface_shape shape) {
    assert_true(b->count < PLANES_SCENES_MAX);
    surface *s = &b->surfaces[b->count++];
    memset(s, 0, sizeof *s);
    s->shape = shape;
    s->taper = 1;
    return s;
}

static surface *add_flat(builder *b, const double corner[3], const double u[3], const double v[3], double taper) {
    surface *s = add(b, FLAT);
    for (int k = 0; k < 3; k++) s->corner[k] = corner[k], s->u[k] = u[k], s->v[k] = v[k];
    s->taper = taper;
    return s;
}

static surface *add_rectangle(builder *b, double x, double y, double z, double ux, double uy, double uz, double vx,
                              double vy, double vz) {
    const double corner[3] = {x, y, z}, u[3] = {ux, uy, uz}, v[3] = {vx, vy, vz};
    return add_flat(b, corner, u, v, 1);
}

static void add_hole(surface *s, double low_s, double high_s, double low_t, double high_t) {
    double *hole = s->hole[s->holes++];
    hole[0] = low_s, hole[1] = high_s, hole[2] = low_t, hole[3] = high_t;
}

static surface *add_ball(builder *b, surface_shape shape, double x, double y, double z, double radius) {
    surface *s = add(b, shape);
    s->corner[0] = x, s->corner[1] = y, s->corner[2] = z;
    s->radius = radius;
    return s;
}

/* ---- kinds */

static void add_room(builder *b, double x, double y, double width, double depth, double height) {
    add_rectangle(b, x, y, 0, width, 0, 0, 0, depth, 0);
    add_rectangle(b, x, y, height, width, 0, 0, 0, depth, 0);
    surface *wall = add_rectangle(b, x, y, 0, width, 0, 0, 0, 0, height);
    add_hole(wall, 0.3, 0.45, 0, 0.75);
    wall = add_rectangle(b, x, y + depth, 0, width, 0, 0, 0, 0, height);
    add_hole(wall, 0.2, 0.5, 0.35, 0.8);
    add_rectangle(b, x, y, 0, 0, depth, 0, 0, 0, height);
    add_rectangle(b, x + width, y, 0, 0, depth, 0, 0, 0, height);
    b->scanner[0] = x + 0.4 * width, b->scanner[1] = y + 0.45 * depth, b->scanner[2] = 1.5;
}

/* A box that stands at z, turned about the vertical; its bottom cannot be seen. */
static void add_box(builder *b, double x, double y, double z, double width, double depth, double height, double turn) {
    const double c = cos(turn), s = sin(turn), ux = width * c, uy = width * s, vx = -depth * s, vy = depth * c;
    add_rectangle(b, x, y, z + height, ux, uy, 0, vx, vy, 0);
    add_rectangle(b, x, y, z, ux, uy, 0, 0, 0, height);
    add_rectangle(b, x + vx, y + vy, z, ux, uy, 0, 0, 0, height);
    add_rectangle(b, x, y, z, vx, vy, 0, 0, 0, height);
    add_rectangle(b, x + ux, y + uy, z, vx, vy, 0, 0, 0, height);
}

static void make_room(builder *b) {
    add_room(b, 0, 0, draw_between(b, 4, 9), draw_between(b, 3.5, 7), draw_between(b, 2.4, 3.2));
}

static void make_tables(builder *b) {
    make_room(b);
    for (int i = 0; i < 3; i++) {
        const double x = 0.6 + 1.1 * i, y = 0.5 + 1.0 * draw(b);
        add_rectangle(b, x, y, 0.70 + 0.06 * i, 0.9, 0, 0, 0, draw_between(b, 1.2, 1.8), 0);
    }
    add_box(b, 0.5, 2.8, 0, 0.8, 0.5, 1.9, 0);
}

static void make_clutter(builder *b) {
    make_tables(b);
    for (int i = 0; i < 12; i++) {
        surface *blob = add_ball(b, BLOB, draw_between(b, 0.5, 3.5), draw_between(b, 0.5, 3), draw_between(b, 0.1, 1.5),
                                 draw_between(b, 0.08, 0.25));
        blob->share = 0.012;
    }
}

static void make_corner(builder *b) {
    const double h = 2.7, a = draw_between(b, 6, 9), c = draw_between(b, 2.5, 3.5), d = draw_between(b, 5, 8);
    surface *ground = add_rectangle(b, 0, 0, 0, a, 0, 0, 0, d, 0);
    add_hole(ground, c / a, 1, c / d, 1);
    surface *roof = add_rectangle(b, 0, 0, h, a, 0, 0, 0, d, 0);
    add_hole(roof, c / a, 1, c / d, 1);
    add_rectangle(b, 0, 0, 0, a, 0, 0, 0, 0, h);
    add_rectangle(b, 0, 0, 0, 0, d, 0, 0, 0, h);
    add_rectangle(b, a, 0, 0, 0, c, 0, 0, 0, h);
    add_rectangle(b, c, c, 0, a - c, 0, 0, 0, 0, h);
    add_rectangle(b, c, c, 0, 0, d - c, 0, 0, 0, h);
    add_rectangle(b, 0, d, 0, c, 0, 0, 0, 0, h);
    b->scanner[0] = 0.6 * c, b->scanner[1] = 0.6 * c, b->scanner[2] = 1.6;
}

static void make_stairs(builder *b) {
    const double rise = draw_between(b, 0.15, 0.19), going = draw_between(b, 0.26, 0.32);
    const double width = draw_between(b, 1.0, 2.0);
    for (int i = 0; i < 10; i++) {
        add_rectangle(b, 0, i * going, i * rise, width, 0, 0, 0, 0, rise);
        add_rectangle(b, 0, i * going, (i + 1) * rise, width, 0, 0, 0, going, 0);
    }
    b->scanner[0] = 0.5 * width, b->scanner[1] = -2.5, b->scanner[2] = 3;
}

static void make_slabs(builder *b) {
    const double x = draw_between(b, 2, 4), y = draw_between(b, 2, 4);
    add_rectangle(b, 0, 0, 0, x, 0, 0, 0, y, 0);
    add_rectangle(b, 0, 0, 0.10, x, 0, 0, 0, y, 0);
    add_rectangle(b, 0, 0, 0.26, x, 0, 0, 0, y, 0);
    b->scanner[0] = 0.5 * x, b->scanner[1] = 0.5 * y, b->scanner[2] = 2.5;
}

/* Leaves that share a hinge far to the left, each some degrees steeper than the one below. */
static void make_fan(builder *b) {
    const double step = draw_between(b, 2, 5) * PI / 180;
    for (int i = 0; i < 5; i++) {
        const double c = cos(i * step), s = sin(i * step);
        add_rectangle(b, 1.5 * c, 0, 1.5 * s, 3 * c, 0, 3 * s, 0, 3, 0);
    }
    b->scanner[0] = 3, b->scanner[1] = 1.5, b->scanner[2] = 4;
}

/* Two slopes and two gables. */
static void add_gable(builder *b, double x, double y, double turn, double width, double length, double eaves,
                      double ridge) {
    const double c = cos(turn), s = sin(turn), half = 0.5 * width, rise = ridge - eaves;
    add_rectangle(b, x, y, eaves, length * c, length * s, 0, -half * s, half * c, rise);
    add_rectangle(b, x - width * s, y + width * c, eaves, length * c, length * s, 0, half * s, -half * c, rise);
    add_rectangle(b, x, y, 0, length * c, length * s, 0, 0, 0, eaves);
}

static void make_gables(builder *b) {
    add_rectangle(b, -5, -5, 0, 60, 0, 0, 0, 32, 0);
    for (int i = 0; i < 8; i++) {
        add_gable(b, 2 + 13 * (i % 4) + draw(b), 1 + 14 * (i / 4) + draw(b), draw_between(b, -0.3, 0.3),
                  draw_between(b, 6, 8), draw_between(b, 7, 10), draw_between(b, 3, 5), draw_between(b, 6, 8));
    }
    b->scanner[0] = 20, b->scanner[1] = 10, b->scanner[2] = 60;
}

static void add_hip(builder *b, double x, double y, double width, double length, double eaves, double rise) {
    const double half = 0.5 * width, taper = (length - width) / length;
    const double a[3] = {x, y, eaves}, along[3] = {length, 0, 0}, across[3] = {0, width, 0};
    const double opposite[3] = {x, y + width, eaves}, right[3] = {x + length, y, eaves};
    const double up[3] = {0, half, rise}, down[3] = {0, -half, rise}, in[3] = {half, 0, rise},
                 back[3] = {-half, 0, rise};
    add_flat(b, a, along, up, taper);
    add_flat(b, opposite, along, down, taper);
    add_flat(b, a, across, in, 0);
    add_flat(b, right, across, back, 0);
}

static void make_hips(builder *b) {
    add_rectangle(b, -5, -5, 0, 40, 0, 0, 0, 36, 0);
    for (int i = 0; i < 4; i++) {
        const double x = 18 * (i % 2), y = 16 * (i / 2), width = draw_between(b, 7, 9), rise = draw_between(b, 2, 3.5);
        add_hip(b, x, y, width, draw_between(b, 11, 14), 4, rise);
        if (i % 2 == 0) { /* a dormer with a gable of its own */
            const double low = 4.2, top = low + 0.5 * rise + 0.8;
            add_rectangle(b, x + 4, y - 0.5, low + 1.2, 1.5, 0, top - low - 1.2, 0, 3.0, 0);
            add_rectangle(b, x + 7, y - 0.5, low + 1.2, -1.5, 0, top - low - 1.2, 0, 3.0, 0);
        }
    }
    b->scanner[0] = 15, b->scanner[1] = 12, b->scanner[2] = 50;
}

static void make_boxes(builder *b) {
    add_rectangle(b, -1, -1, 0, 7, 0, 0, 0, 6, 0);
    for (int i = 0; i < 4; i++) {
        const double x = 0.4 + 2.6 * (i % 2), y = 0.4 + 2.4 * (i / 2), turn = draw_between(b, 0, 0.4);
        const double w = draw_between(b, 1.2, 1.6), d = draw_between(b, 1.0, 1.4), h = draw_between(b, 0.5, 1.0);
        add_box(b, x, y, 0, w, d, h, turn);
        if (i < 2) add_box(b, x + 0.2, y + 0.35, h, 0.5 * w, 0.5 * d, draw_between(b, 0.4, 0.8), turn + 0.3);
    }
    b->scanner[0] = 2.5, b->scanner[1] = 2.0, b->scanner[2] = 4;
}

static void add_round(builder *b) {
    for (int i = 0; i < 3; i++) {
        add_ball(b, SPHERE, draw_between(b, 1, 4), draw_between(b, 1, 4), draw_between(b, 0.5, 2),
                 draw_between(b, 0.3, 0.7));
        surface *pipe =
            add_ball(b, CYLINDER, draw_between(b, 1, 4), draw_between(b, 1, 4), 0, draw_between(b, 0.1, 0.5));
        pipe->u[2] = 2.5;
    }
}

static void make_round(builder *b) {
    add_room(b, 0, 0, 5, 5, 2.6);
    add_round(b);
    add_box(b, 1, 1, 0, 1, 1.2, 0.8, 0.5);
}

static void make_balls(builder *b) {
    make_gables(b);
    for (int i = 0; i < 3; i++) {
        surface *ball = add_ball(b, SPHERE, 5 + 17 * i, 26 + draw(b), draw_between(b, 2, 4), draw_between(b, 0.4, 1.2));
        ball->share = 0.034;
    }
}

static void random_axes(builder *b, double u[3], double v[3], double n[3]) {
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
        random_axes(b, u, v, n);
        const double a = draw_between(b, 0.8, 2.2), c = draw_between(b, 0.8, 2.2);
        for (int k = 0; k < 3; k++) corner[k] = draw_between(b, 0, box), u[k] *= a, v[k] *= c;
        add_flat(b, corner, u, v, 1);
    }
    for (int k = 0; k < 3; k++) b->scanner[k] = 0.5 * box;
}

static void make_thirty(builder *b) { make_rectangles(b, 30, 6); }
static void make_hundred(builder *b) { make_rectangles(b, 100, 12); }

static double hill(double x, double y) { return 2.5 * sin(x / 9) + 2 * cos(y / 7 + 0.5) + 0.8 * sin((x + y) / 4); }

static void make_terrain(builder *b) {
    surface *hills = add(b, HILLS);
    hills->u[0] = 60, hills->v[1] = 32;
    for (int i = 0; i < 8; i++) {
        const double x = 4 + 13 * (i % 4) + draw(b), y = 3 + 14 * (i / 4) + draw(b), at = hill(x, y) + 5;
        const double w = draw_between(b, 6, 8), l = draw_between(b, 7, 10), rise = draw_between(b, 2, 4);
        add_rectangle(b, x, y, at, l, 0, 0, 0, 0.5 * w, rise);
        add_rectangle(b, x, y + w, at, l, 0, 0, 0, -0.5 * w, rise);
    }
    b->scanner[0] = 30, b->scanner[1] = 15, b->scanner[2] = 70;
}

static void make_facade(builder *b) {
    surface *wall = add_rectangle(b, 0, 0, 0, 12, 0, 0, 0, 0, 9);
    const double deep = draw_between(b, 0.12, 0.25);
    for (int i = 0; i < 12; i++) {
        const double x = 0.9 + 2.8 * (i % 4), z = 1.0 + 2.7 * (i / 4);
        add_hole(wall, x / 12, (x + 1.7) / 12, z / 9, (z + 1.6) / 9);
        add_rectangle(b, x, deep, z, 1.7, 0, 0, 0, 0, 1.6);
    }
    add_rectangle(b, -2, -6, 0, 16, 0, 0, 0, 6, 0);
    b->scanner[0] = 5, b->scanner[1] = -7, b->scanner[2] = 1.8;
}

static void make_nothing(builder *b) {
    if (b->seed % 2 == 0) {
        surface *hills = add(b, HILLS);
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
    add_flat(b, to[0], to[1], to[2], taper);
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
    surface *hills = add(b, HILLS);
    hills->u[0] = LOT_M * columns, hills->v[1] = LOT_M * rows;
    for (uint32_t i = 0; i < lots; i++) {
        const double x = LOT_M * (i % columns) + draw_between(b, 2, 5),
                     y = LOT_M * (i / columns) + draw_between(b, 2, 5);
        const house h = {x, y, hill(x + 5, y + 5) + draw_between(b, 3.5, 8), draw_between(b, -0.2, 0.25)};
        add_house(b, &h);
        surface *tree = add_ball(b, BLOB, x + 15, y + 13, hill(x + 15, y + 13) + 4, draw_between(b, 1.5, 3.5));
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

const char *planes_scene_name(planes_scene_kind kind) { return kinds[kind].name; }

/* ---- points */

static double length_of(const double v[3]) { return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]); }

static double area_of(const surface *s) {
    double n[3], area;
    for (int k = 0; k < 3; k++) n[k] = s->u[(k + 1) % 3] * s->v[(k + 2) % 3] - s->u[(k + 2) % 3] * s->v[(k + 1) % 3];
    switch (s->shape) {
    case SPHERE: return 4 * PI * s->radius * s->radius;
    case CYLINDER: return 2 * PI * s->radius * length_of(s->u);
    case BLOB: return 0;
    default: break;
    }
    area = length_of(n) * 0.5 * (1 + s->taper);
    for (int h = 0; h < s->holes; h++) {
        area -= length_of(n) * (s->hole[h][1] - s->hole[h][0]) * (s->hole[h][3] - s->hole[h][2]);
    }
    return area;
}

static double gauss(builder *b) { return sqrt(-2 * log(1 - draw(b))) * cos(2 * PI * draw(b)); }

static void sphere_point(builder *b, double at[3]) {
    const double z = draw_between(b, -1, 1), phi = draw_between(b, 0, 2 * PI);
    at[0] = sqrt(1 - z * z) * cos(phi), at[1] = sqrt(1 - z * z) * sin(phi), at[2] = z;
}

static bool in_hole(const surface *s, double x, double y) {
    for (int h = 0; h < s->holes; h++) {
        if (x > s->hole[h][0] && x < s->hole[h][1] && y > s->hole[h][2] && y < s->hole[h][3]) return true;
    }
    return false;
}

static void flat_point(builder *b, const surface *s, double noise, double at[3]) {
    double n[3], x, y;
    do { x = draw(b), y = draw(b); } while (fabs(x - 0.5) > 0.5 * (1 - y * (1 - s->taper)) || in_hole(s, x, y));
    for (int k = 0; k < 3; k++) n[k] = s->u[(k + 1) % 3] * s->v[(k + 2) % 3] - s->u[(k + 2) % 3] * s->v[(k + 1) % 3];
    const double off = noise * gauss(b) / length_of(n);
    for (int k = 0; k < 3; k++) at[k] = s->corner[k] + x * s->u[k] + y * s->v[k] + off * n[k];
}

static void surface_point(builder *b, const surface *s, double noise, double at[3]) {
    double direction[3];
    if (s->shape == FLAT) {
        flat_point(b, s, noise, at);
    } else if (s->shape == SPHERE || s->shape == BLOB) {
        sphere_point(b, direction);
        const double r = s->shape == SPHERE ? s->radius + noise * gauss(b) : s->radius * cbrt(draw(b));
        for (int k = 0; k < 3; k++) at[k] = s->corner[k] + r * direction[k];
    } else if (s->shape == CYLINDER) {
        const double phi = draw_between(b, 0, 2 * PI), r = s->radius + noise * gauss(b), h = draw(b);
        at[0] = s->corner[0] + r * cos(phi) + h * s->u[0];
        at[1] = s->corner[1] + r * sin(phi) + h * s->u[1];
        at[2] = s->corner[2] + h * s->u[2];
    } else {
        at[0] = draw(b) * s->u[0], at[1] = draw(b) * s->v[1];
        at[2] = hill(at[0], at[1]) + noise * gauss(b);
    }
}

/* The nearer the scanner, the denser: 1 within a fifth of the scene's size. */
static double seen(const builder *b, const double at[3], double size) {
    double square = 0;
    for (int k = 0; k < 3; k++) square += (at[k] - b->scanner[k]) * (at[k] - b->scanner[k]);
    return fmin(1, 0.04 * size * size / square);
}

static void bounds_of(builder *b, double low[3], double high[3]) {
    for (int k = 0; k < 3; k++) low[k] = INFINITY, high[k] = -INFINITY;
    for (uint32_t i = 0; i < b->count; i++) {
        for (int turn = 0; turn < 60; turn++) {
            double at[3];
            surface_point(b, &b->surfaces[i], 0, at);
            for (int k = 0; k < 3; k++) low[k] = fmin(low[k], at[k]), high[k] = fmax(high[k], at[k]);
        }
    }
    for (int k = 0; k < 3; k++) {
        const double margin = 0.05 * (high[k] - low[k]) + 0.02;
        low[k] -= margin, high[k] += margin;
    }
}

/* Which surface a point is of: by area, or by the share that it was given. */
static void make_shares(const builder *b, double cumulative[PLANES_SCENES_MAX]) {
    double area = 0, given = 0, sum = 0;
    for (uint32_t i = 0; i < b->count; i++) {
        given += b->surfaces[i].share;
        if (b->surfaces[i].share == 0) area += area_of(&b->surfaces[i]);
    }
    for (uint32_t i = 0; i < b->count; i++) {
        const surface *s = &b->surfaces[i];
        sum += s->share > 0 ? s->share : (1 - given) * area_of(s) / area;
        cumulative[i] = sum;
    }
}

/* The first surface whose end is above a place. */
static uint32_t surface_at(const double *cumulative, uint32_t count, double place) {
    uint32_t low = 0, high = count - 1;
    while (low < high) {
        const uint32_t middle = (low + high) / 2;
        if (cumulative[middle] <= place) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* Fills positions; labels: the surface, or -1. */
static void fill(builder *b, const planes_scene_params *p, double *positions, int32_t *labels) {
    double low[3], high[3], cumulative[PLANES_SCENES_MAX], size = 0;
    bounds_of(b, low, high);
    for (int k = 0; k < 3; k++) size = fmax(size, high[k] - low[k]);
    make_shares(b, cumulative);
    for (uint64_t i = 0; i < p->points; i++) {
        double *at = positions + 3 * i;
        labels[i] = -1;
        if (draw(b) < p->outliers) {
            for (int k = 0; k < 3; k++) at[k] = draw_between(b, low[k], high[k]);
            continue;
        }
        do {
            const uint32_t s = surface_at(cumulative, b->count, draw(b) * cumulative[b->count - 1]);
            surface_point(b, &b->surfaces[s], p->noise_m, at);
            labels[i] = b->surfaces[s].shape == FLAT ? (int32_t)s : -1;
        } while (p->scanned && draw(b) > seen(b, at, size));
    }
}

/* ---- the scene */

static void place(const planes_scene_params *p, const double axes[3][3], const double at[3], double placed[3]) {
    static const double far_away[3] = {500123.25, 5312345.5, 98.75};
    for (int k = 0; k < 3; k++) {
        placed[k] = p->turned ? axes[0][k] * at[0] + axes[1][k] * at[1] + axes[2][k] * at[2] : at[k];
        if (p->far_away) placed[k] += far_away[k];
    }
}

/* True planes, of the flat surfaces; labels change from surfaces to planes. */
static void list_planes(const builder *b, const planes_scene_params *p, const double axes[3][3], planes_scene *scene) {
    static const double nowhere[3] = {0, 0, 0};
    int32_t number[PLANES_SCENES_MAX];
    for (uint32_t i = 0; i < b->count; i++) {
        const surface *s = &b->surfaces[i];
        number[i] = -1;
        if (s->shape != FLAT) continue;
        planes_scene_plane *plane = &scene->planes[scene->count];
        double n[3], middle[3], placed_origin[3], placed_normal[3];
        for (int k = 0; k < 3; k++)
            n[k] = s->u[(k + 1) % 3] * s->v[(k + 2) % 3] - s->u[(k + 2) % 3] * s->v[(k + 1) % 3];
        const double length = length_of(n);
        for (int k = 0; k < 3; k++) n[k] /= length, middle[k] = s->corner[k] + 0.5 * s->u[k] + 0.5 * s->v[k];
        place(p, axes, nowhere, placed_origin);
        place(p, axes, n, placed_normal);
        place(p, axes, middle, plane->middle);
        for (int k = 0; k < 3; k++) plane->normal[k] = placed_normal[k] - placed_origin[k];
        plane->points = 0;
        number[i] = (int32_t)scene->count++;
    }
    for (uint64_t i = 0; i < scene->points; i++) {
        if (scene->labels[i] >= 0) scene->labels[i] = number[scene->labels[i]];
        if (scene->labels[i] >= 0) scene->planes[scene->labels[i]].points++;
    }
}

static mote_cloud *cloud_of(mote_context *ctx, const planes_scene_params *p, const double *positions) {
    if (!p->far_away) return knn_reference_cloud(ctx, MOTE_FLOAT32, 1, 0, positions, p->points);
    mote_cloud *cloud = NULL;
    const mote_column_spec specs[3] = {
        {"x", MOTE_INT32, 0.001, 0}, {"y", MOTE_INT32, 0.001, 5000000}, {"z", MOTE_INT32, 0.001, 0}};
    assert_int_equal(mote_cloud_create(ctx, p->points, specs, 3, &cloud), MOTE_OK);
    for (uint64_t i = 0; i < 3 * p->points; i++) {
        const mote_column_spec *spec = &specs[i % 3];
        const int32_t value = (int32_t)rint((positions[i] - spec->offset) / spec->scale);
        const uint64_t stride = mote_cloud_find(cloud, spec->name)->stride_bytes;
        memcpy((uint8_t *)mote_cloud_column_data(cloud, spec->name) + i / 3 * stride, &value, sizeof value);
    }
    return cloud;
}

void planes_scene_make(mote_context *ctx, const planes_scene_params *params, double *positions, planes_scene *scene) {
    builder *b = calloc(1, sizeof *b);
    double u[3], v[3], n[3];
    double *at = planes_scene_array(3 * params->points, sizeof *at);
    memset(scene, 0, sizeof *scene);
    assert_non_null(b);
    b->seed = params->seed * SEEDS_APART + (uint64_t)params->kind;
    b->points = params->points;
    scene->points = params->points;
    scene->support = (params->points + SUPPORT - 1) / SUPPORT;
    if (params->kind == PLANES_SCENE_TILE && scene->support > SUPPORT) scene->support = SUPPORT;
    scene->labels = planes_scene_array(params->points, sizeof *scene->labels);
    if (params->kind == PLANES_SCENE_NOTHING) b->seed = params->seed;
    kinds[params->kind].make(b);
    fill(b, params, at, scene->labels);
    random_axes(b, u, v, n);
    const double axes[3][3] = {{u[0], u[1], u[2]}, {v[0], v[1], v[2]}, {n[0], n[1], n[2]}};
    for (uint64_t i = 0; i < params->points; i++) {
        double placed[3];
        place(params, axes, at + 3 * i, placed);
        memcpy(at + 3 * i, placed, sizeof placed);
    }
    list_planes(b, params, axes, scene);
    if (ctx != NULL) scene->cloud = cloud_of(ctx, params, at);
    if (positions != NULL) memcpy(positions, at, 3 * params->points * sizeof *at);
    free(at);
    free(b);
}

void planes_scene_free(planes_scene *scene) {
    mote_cloud_destroy(scene->cloud);
    free(scene->labels);
    memset(scene, 0, sizeof *scene);
}
