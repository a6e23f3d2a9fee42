/* Polygons, prepared: their edges, in slabs of equal height, so that a place is compared with those edges alone that
   its slab meets.

     y ^  slab 2   edges 1 2        list    [ 0 3 ][ 0 1 3 ][ 1 2 ]
       |  slab 1   edges 0 1 3      starts    0      2        5    7
       |  slab 0   edges 0 3                                            */
#ifndef MOTE_REGION_H
#define MOTE_REGION_H

#include "core/core.h"
#include "mote/shapes.h"
#include "shapes/region_math.h"

struct mote_region {
    mote_context *ctx;
    double min[2], max[2];             /* of the corners */
    double reach_min[2], reach_max[2]; /* what is rounded to a corner is within these */
    double steps_per_unit;             /* a power of ten */
    int64_t low[2], high[2];           /* of the corners, in steps */
    region_edge *edges;                /* by polygon */
    uint64_t edge_count;
    uint64_t slab_height; /* steps of y; above 0 */
    uint32_t slab_count;
    uint64_t *starts; /* [slab_count + 1] */
    uint32_t *list;   /* edges of the slabs, each slab's by number */
};

/* The steps nearest to a place of the region's reach. */
static inline int64_t region_steps(const mote_region *region, double value) {
    return region_round(value * region->steps_per_unit);
}

/* mote_region_contains of a place in steps. */
bool region_holds(const mote_region *region, int64_t x, int64_t y);

#endif
