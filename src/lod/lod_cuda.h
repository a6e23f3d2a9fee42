/* An octree in device memory, and the steps that make it. */
#ifndef MOTE_LOD_CUDA_H
#define MOTE_LOD_CUDA_H

#include "device/cuda/cuda.h"
#include "device/device_cloud.h"
#include "lod/lod_device_view.h"
#include "lod/lod_octree.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct lod_cuda {
    device_cloud cloud;   /* the points to read, by lod_cuda_index(): as they came, or by sorted position */
    bool cloud_sorted;    /* the latter: a copy of the octree's own */
    uint64_t *codes;      /* [count] sorted; NULL once the octree is complete */
    uint64_t *fine;       /* [count] as mote_lod.fine; NULL */
    uint32_t *order;      /* [count] sorted position → index in the cloud as it came */
    uint8_t *level;       /* [count] by sorted position, as mote_lod.level */
    uint8_t *leaf_level;  /* [count] level of the leaf (or of the node of a chain) that the point lies in */
    mote_lod_node *nodes; /* [node_count]; point_count is complete with the items */

    /* What the nodes hold, in the order of the file: level by level, within a level by sorted position. The items of
       level l are [level_items[l], level_items[l + 1]); those of a node are contiguous, and nodes follow each other as
       in the node table. */
    uint32_t *items; /* [item_count] sorted positions */
    uint64_t item_count;
    uint64_t level_items[LOD_MAX_LEVELS + 1]; /* on the host */
    uint16_t *item_colors;                    /* [4 · item_count] as in lod_device_view */
} lod_cuda;

/* index of lod_device_view */
static inline const uint32_t *lod_cuda_index(const lod_cuda *device) {
    return device->cloud_sorted ? NULL : device->order;
}

/* lod_window_at */
static inline lod_window lod_cuda_window(const lod_cuda *device, uint32_t cell_level) {
    const uint32_t first = lod_window_first(cell_level);
    const lod_window window = {first > 0 ? device->fine : device->codes, first > 0 ? device->codes : NULL, first};
    return window;
}

/* The steps, each on lod->count points: what it fills. Those of a part of a whole (lod_whole.h) become what they are in
   the whole; poisson takes none.
   tree     nodes, leaf_level; of the host lod->node_count, level_first, level_count; nothing with lod->lacks_fine
   sample   level, for random and first
   poisson  level, for poisson; on entry it is that of the leaf, and the host has the nodes
   items    items, level_items, point_count of the nodes
   filter   item_colors */
mote_status lod_cuda_tree(mote_lod *lod, lod_cuda *device);
mote_status lod_cuda_sample(mote_lod *lod, lod_cuda *device);
mote_status lod_cuda_poisson(mote_lod *lod, lod_cuda *device);
mote_status lod_cuda_node_points(mote_lod *lod, lod_cuda *device);
mote_status lod_cuda_filter(mote_lod *lod, lod_cuda *device);

/* The contest of random and first: a stretch of the sorted order. */
typedef struct lod_cuda_selection {
    const uint64_t *codes;
    const uint64_t *fine; /* fine codes, or NULL */
    const uint32_t *order;
    const uint8_t *leaf_level; /* NULL: not known yet */
    uint8_t *level;            /* [count] out; without leaf_level the finest level of cells at which a point loses */
    uint64_t count, seed;
    /* No point beside the stretch is nearer than these; UINT64_MAX if there is none. */
    uint64_t code_before, code_after;
    uint32_t grid_bits; /* log2(grid): the coarsest level of cells */
    bool random;        /* else the first in the input wins */
} lod_cuda_selection;

/* Points of a stretch that may still lose to one beyond it, ascending: representatives of the cells that reach past its
   ends, one per end and level. On the host. */
#define LOD_MAX_UNRESOLVED 44u
typedef struct lod_cuda_unresolved {
    uint32_t count;
    uint32_t positions[LOD_MAX_UNRESOLVED]; /* within the stretch */
    uint8_t lost[LOD_MAX_UNRESOLVED];       /* at which level so far; MOTE_LOD_NEVER: at none */
} lod_cuda_unresolved;

/* Finds the levels. open may be NULL if there is nothing beside the stretch. count > 0 */
mote_status lod_cuda_select(mote_device *gpu, const lod_cuda_selection *selection, lod_cuda_unresolved *open);

/* Builds an octree whose points do not fit the device: src/lod/lod_parts_cuda.cu */
mote_status lod_cuda_build_parts(mote_lod *lod);

#ifdef __cplusplus
}
#endif
#endif
