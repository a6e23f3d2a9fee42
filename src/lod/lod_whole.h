/* What a part of a cloud knows of the whole: enough to build, of the points of one range of Morton codes, those nodes
   and samples that the octree of all points has there.

     the whole       │ 0 │ 1 │ 2 │ 3 │ 4 │ 5 │ 6 │ 7 │    cells of a level, no finer than the sampling cells of the root:
     first           0   9  9   14  80 ...                what a cell holds lies in one part, and so does what any level
     a part          └── cells 2 to 4 ───┘                chooses there

   A coarser node may have points in several parts. Whether it is divided is decided by all of them (first), what it
   holds is what its parts hold of it, one after the other. */
#ifndef MOTE_LOD_WHOLE_H
#define MOTE_LOD_WHOLE_H

#include "mote/lod.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct lod_whole {
    mote_lattice lattice;
    uint32_t level;        /* of the cells; at most log2(grid) */
    const uint64_t *first; /* [8^level + 1] points in the cells before, in Morton order */
    bool fine;             /* some part has points that codes do not tell apart as deep as its nodes need: then all
                              choose by fine codes */
} lod_whole;

/* Builds the octree of a part on the CPU, as mote_lod_build does of a cloud.
   whole       outlives the call
   lacks_fine  out: whole->fine should have been set, and this is not the tree that is wanted */
mote_status lod_build_part(mote_context *ctx, const mote_cloud *part, const mote_lod_params *params,
                           const lod_whole *whole, mote_lod **out, bool *lacks_fine);

#ifdef __cplusplus
}
#endif
#endif
