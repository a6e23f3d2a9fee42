/* Clouds whose density differs by many decades, that have points far from all others, or many points at one distance:
   families on which a search must be right, and must not be slow. */
#ifndef MOTE_SHAPED_CLOUDS_H
#define MOTE_SHAPED_CLOUDS_H

#include "mote/cloud.h"

typedef struct shaped_cloud {
    const char *name;
    void (*place)(uint64_t i, uint64_t n, uint64_t seed, double at[3]); /* where point i of n stands */
} shaped_cloud;

extern const shaped_cloud shaped_clouds[];
extern const uint32_t shaped_cloud_count;

/* n points of a family; another seed makes other points of it. type: MOTE_FLOAT32 or MOTE_FLOAT64. Aborts when there
   is no memory. */
mote_cloud *shaped_cloud_make(mote_context *ctx, const shaped_cloud *family, mote_type type, uint64_t n, uint64_t seed);

#endif
