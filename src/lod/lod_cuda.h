/* An octree in device memory, and the steps that make it. */
#ifndef MOTE_LOD_CUDA_H
#define MOTE_LOD_CUDA_H

#include "backend/cuda_cloud.h"
#include "lod/lod.h"
#include "math/host_device.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct lod_cuda {
    cuda_cloud cloud;     /* the points to read, by lod_cuda_index: as they came, or by sorted position */
    bool cloud_sorted;    /* the latter: a copy of the octree's own */
    uint64_t *codes;      /* [count] sorted; NULL once the octree is complete */
    uint32_t *order;      /* [count] sorted position → index in the cloud as it came */
    uint8_t *level;       /* [count] by sorted position, as mote_lod.level */
    uint8_t *leaf_level;  /* [count] level of the leaf (or of the node of a chain) that the point lies in */
    mote_lod_node *nodes; /* [node_count]; point_count is complete with the items */

    /* What the nodes hold, in the order of the file: level by level, within a level by sorted position. The items of
       level l are [level_items[l], level_items[l + 1]); those of a node are contiguous, and nodes follow each other as
       in the node table. */
    uint32_t *items; /* [item_count] sorted positions */
    uint64_t item_count;
    uint64_t level_items[LOD_MOST_LEVELS + 1]; /* on the host */
    /* [4 · item_count] red, green, blue of each item, averaged where it stands in an inner node (the fourth is then 1),
       else its own (0); NULL without a filter */
    uint16_t *item_colors;
    void *records; /* of mote_potree_records; NULL until they are asked for */
} lod_cuda;

/* Sorted position → point of device->cloud; NULL: they are the same. */
static inline const uint32_t *lod_cuda_index(const lod_cuda *device) {
    return device->cloud_sorted ? NULL : device->order;
}
MOTE_HD uint32_t lod_cuda_point(const uint32_t *index, uint32_t position) {
    return index != NULL ? index[position] : position;
}

/* The steps, each on lod->count points: what it fills.
   tree     nodes, leaf_level; of the host lod->node_count, level_first, level_count
   sample   level, for random and first
   poisson  level, for poisson; on entry it is that of the leaf, and the host has the nodes
   items    items, level_items, point_count of the nodes
   filter   item_colors */
mote_status lod_cuda_tree(mote_lod *lod, lod_cuda *device);
mote_status lod_cuda_sample(mote_lod *lod, lod_cuda *device);
mote_status lod_cuda_poisson(mote_lod *lod, lod_cuda *device);
mote_status lod_cuda_items(mote_lod *lod, lod_cuda *device);
mote_status lod_cuda_filter(mote_lod *lod, lod_cuda *device);

/* The contest of random and first: a stretch of the sorted order. */
typedef struct lod_cuda_contest {
    const uint64_t *codes;
    const uint32_t *order;
    const uint8_t *leaf_level; /* NULL: not known yet */
    uint8_t *level;            /* [count] out; without leaf_level the finest level of cells at which a point loses */
    uint64_t count, seed;
    /* No point beside the stretch is nearer than these; UINT64_MAX if there is none. */
    uint64_t code_before, code_after;
    uint32_t grid_bits; /* log2(grid): the coarsest level of cells */
    bool random;        /* else the first in the input wins */
} lod_cuda_contest;

/* Points of a stretch that may still lose to one beyond it, ascending: winners of the cells that reach past its ends,
   one per end and level. On the host. */
#define LOD_MOST_OPEN 44u
typedef struct lod_cuda_open {
    uint32_t count;
    uint32_t positions[LOD_MOST_OPEN]; /* within the stretch */
    uint8_t lost[LOD_MOST_OPEN];       /* at which level so far; MOTE_LOD_NEVER: at none */
} lod_cuda_open;

/* Finds the levels. open may be NULL if there is nothing beside the stretch. count > 0 */
mote_status lod_cuda_play(mote_context *ctx, const lod_cuda_contest *contest, lod_cuda_open *open);

/* Builds an octree whose points do not fit the device: src/lod/lod_parts_cuda.cu */
mote_status lod_cuda_build_parts(mote_lod *lod);

#ifdef __cplusplus
}
#endif
#endif
