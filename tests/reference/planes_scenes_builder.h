/* What a scene is made of: planes_scenes_kinds.c makes its surfaces, planes_scenes.c spreads points over them. */
#ifndef MOTE_PLANES_SCENES_BUILDER_H
#define MOTE_PLANES_SCENES_BUILDER_H

#include <math.h>

#include "reference/planes_scenes.h"
#include "support/random.h"

#define PI         3.14159265358979323846
#define MAX_HOLES  24
#define LOT_POINTS 2400u /* of a tile: for a house, its garden and its trees */

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

static inline double draw(builder *b) { return test_random(b->seed * 2 + 1, b->draws++); }
static inline double draw_between(builder *b, double low, double high) { return low + (high - low) * draw(b); }

/* The height of hills. */
static inline double hill(double x, double y) {
    return 2.5 * sin(x / 9) + 2 * cos(y / 7 + 0.5) + 0.8 * sin((x + y) / 4);
}

/* Three axes of unit length, across each other, turned at random. */
void planes_scene_axes(builder *b, double u[3], double v[3], double n[3]);
/* The surfaces of a kind, and where its scanner stands. */
void planes_scene_build(builder *b, planes_scene_kind kind);

#endif
