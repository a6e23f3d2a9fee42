/* What a scene is made of: planes_scenes_kinds.c, planes_scenes_unseen.c, planes_scenes_named.c,
   planes_scenes_smooth.c, planes_scenes_rows.c and planes_scenes_missed.c make its surfaces of planes_scenes_parts.c,
   planes_scenes.c spreads points over them, or planes_scenes_rays.c sends rays at them. */
#ifndef MOTE_PLANES_SCENES_BUILDER_H
#define MOTE_PLANES_SCENES_BUILDER_H

#include <math.h>

#include "reference/planes_scenes.h"
#include "support/random.h"

#define PI         3.14159265358979323846
#define MAX_HOLES  24
#define LOT_POINTS 2400u /* of a tile: for a house, its garden and its trees */

typedef enum surface_shape { FLAT, SPHERE, CYLINDER, HILLS, BLOB, TORUS, SADDLE, WAVES, BULGE } surface_shape;

/* A flat surface: corner + s·u + t·v, s and t from 0 to 1, where s is squeezed to the middle part of the width as t
   grows (taper 1: a parallelogram, 0: a triangle), without holes.
   A sphere or blob: centre and radius. A cylinder or cone: corner, axis u, radius at the corner, taper that at the
   other end. Hills: a height over u and v. A torus about the vertical: centre, radius, and taper times that is its
   tube's. A saddle: centre, half its side the radius, and taper times that its height. Waves over u and v: taper of
   them along u, radius high, and across: as many along v. A bulge over u and v: radius high in the middle, and nothing
   at the ends, where it is the steeper the more taper is; across: also along v. */
typedef struct surface {
    surface_shape shape;
    double corner[3], u[3], v[3], taper, radius, share;
    double hole[MAX_HOLES][4]; /* least and largest s, least and largest t */
    int holes;
    bool across; /* see above */
    bool sheet;  /* points are those of the plane before it */
    double sag;  /* of a flat one: how far it bends, in the middle of waves; 0: it does not */
    int waves;   /* half waves of that along u and along v */
} surface;

typedef struct builder {
    uint64_t seed, draws, points;
    double noise;   /* of the scene */
    double step[3]; /* where not 0, coordinates of the axis are whole steps */
    surface surfaces[PLANES_SCENES_MAX];
    uint32_t count;
    double scanner[3];
    bool rays;                    /* points are where rays from the scanner end, on a grid of directions */
    uint32_t rings;               /* if not 0, directions of so many heights, as of a turning scanner */
    double stripe, stripe_noises; /* if not 0, how wide stripes of the scene are, and how far off each may be */
    bool strips;                  /* of every third along x, the first third is seen three times as densely */
} builder;

/* One of the arguments of a call at most, for a compiler takes whichever first: each has other scenes then. */
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
/* Builds a scene of the kinds from PLANES_SCENE_KINDS on. */
void planes_scene_build_unseen(builder *b, planes_scene_kind kind);
const char *planes_scene_name_unseen(planes_scene_kind kind);
/* Builds a scene of the kinds from PLANES_SCENE_AIRBORNE on. */
void planes_scene_build_named(builder *b, planes_scene_kind kind);
const char *planes_scene_name_named(planes_scene_kind kind);
/* Builds a scene of the kinds from PLANES_SCENE_CLOTH on. */
void planes_scene_build_smooth(builder *b, planes_scene_kind kind);
const char *planes_scene_name_smooth(planes_scene_kind kind);
/* Builds a scene of the kinds from PLANES_SCENE_STANDS on. */
void planes_scene_build_rows(builder *b, planes_scene_kind kind);
const char *planes_scene_name_rows(planes_scene_kind kind);
void planes_scene_build_missed(builder *b, planes_scene_kind kind);
const char *planes_scene_name_missed(planes_scene_kind kind);

/* ---- parts */

surface *planes_scene_add(builder *b, surface_shape shape);
surface *planes_scene_add_flat(builder *b, const double corner[3], const double u[3], const double v[3], double taper);
surface *planes_scene_add_rectangle(builder *b, double x, double y, double z, double ux, double uy, double uz,
                                    double vx, double vy, double vz);
void planes_scene_add_hole(surface *s, double low_s, double high_s, double low_t, double high_t);
surface *planes_scene_add_ball(builder *b, surface_shape shape, double x, double y, double z, double radius);
/* A box that stands at z, turned about the vertical; its bottom cannot be seen. */
void planes_scene_add_box(builder *b, double x, double y, double z, double width, double depth, double height,
                          double turn);
/* Floor, ceiling and four walls with a door and a window, and where its scanner stands. */
void planes_scene_add_room(builder *b, double x, double y, double width, double depth, double height);

/* ---- rays */

/* Where the i-th ray ends, with noise along the ray; returns the surface. A ray that meets none is drawn again in
   another direction. */
uint32_t planes_scene_ray_point(builder *b, uint64_t i, double noise, double at[3]);

#endif
