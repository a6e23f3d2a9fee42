/* Small clouds of the kinds that break octrees: duplicates, ties, wildly differing density, every type of position
   and colour. Made from a counter-based hash: the same on every machine. */
#ifndef MOTE_AWKWARD_CLOUDS_H
#define MOTE_AWKWARD_CLOUDS_H

#include "mote/cloud.h"

/* Where point i of n stands: numbers of about 0..1, scaled to the cloud's size. */
typedef void (*awkward_place)(uint64_t i, uint64_t n, double at[3]);

typedef struct awkward_cloud {
    const char *name;
    awkward_place place;
    mote_type type[3]; /* of x, y, z */
    double scale[3];   /* of the columns; 0 = none */
    double offset[3];
    double origin[3]; /* stored = origin + at · size, rounded for integers */
    double size[3];
    double step;      /* > 0: values rounded to this decimal step, which the cloud then knows as text would */
    mote_type colors; /* of red, green, blue: uint8, uint16 or float; anything else: no colours */
} awkward_cloud;

extern const awkward_cloud awkward_clouds[];
extern const uint32_t awkward_cloud_count;

/* A cloud of a kind with n points. shuffle > 0: the same points in another order; colours go with the points.
   NULL when memory runs out. */
mote_cloud *awkward_cloud_make(mote_context *ctx, const awkward_cloud *kind, uint64_t n, uint64_t shuffle);
/* Where that puts point i; and which point stands there. */
uint64_t awkward_cloud_slot(uint64_t i, uint64_t n, uint64_t shuffle);
/* How far it reaches along x, in the world. */
double awkward_cloud_size(const awkward_cloud *kind);
/* Adds columns normal_x, normal_y, normal_z, which depend on the position: directions of any length, here and there an
   axis, a diagonal, none, NaN or infinite. Aborts when memory runs out. */
void awkward_cloud_add_normals(mote_cloud *cloud);
/* The row of that name; aborts when there is none. */
const awkward_cloud *awkward_cloud_named(const char *name);

#endif
