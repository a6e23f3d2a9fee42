/* Poisson-disk sampling on a GPU: what the arranging of trials hands to the trying. For .cu files. */
#ifndef MOTE_LOD_POISSON_CUDA_H
#define MOTE_LOD_POISSON_CUDA_H

#include "device/cuda/cuda_kernel.cuh"
#include "lod/lod_cuda.h"
#include "lod/sample/lod_poisson_math.h"
#include "order/lattice/lattice_math.h"

#define POISSON_PHASES 8u
#define POISSON_GROUPS (2 * POISSON_PHASES) /* of blocks: of a phase those of few trials, then those of many */
#define POISSON_FEW    32u                  /* trials of a block at most: what a warp tests at once */

/* A trial: a candidate and its place. */
struct alignas(16) poisson_disk {
    uint32_t xyz[3];
    uint32_t link; /* its cell, packed; once accepted: the next trial of its cell's list */
};

/* What the kernels of a level work on, in device memory. The trials are in sorted order until they are sorted by block
   and rank. */
struct poisson_trials {
    poisson_rule rule;
    lod_window window; /* of the rule's cells */
    const uint64_t *rank_codes;
    uint64_t seed;
    uint32_t level;
    uint64_t count, block_count;
    uint32_t *positions;   /* [count] sorted positions */
    uint64_t *keys;        /* [count] block << 32 | rank */
    poisson_disk *disks;   /* [count] */
    uint32_t *block_first; /* [block_count + 1] first trial of each block */
    uint64_t *block_code;  /* [block_count] in Morton order: the window's */
    uint32_t *block_above; /* [block_count] lod_window_above; NULL where there is nothing above */
    uint64_t *cells;       /* [count] of a block, from its first on: cell << 32 | first trial of the cell's list */
    uint32_t *block_cells; /* [block_count] how many those are; 0 until the block's phase is over */
    uint32_t *table;       /* [table_mask + 1] blocks by the hash of their code, POISSON_NONE where free */
    uint64_t table_mask;
    uint32_t *phase_blocks; /* [block_count] blocks, group by group */
};

/* Makes the disks, tries them phase by phase, and sets the level of those accepted. group_first: of phase_blocks */
mote_status lod_cuda_poisson_try(const mote_lod *lod, lod_cuda *device, const poisson_trials *t,
                                 const uint32_t group_first[POISSON_GROUPS + 1]);
#define POISSON_LAST_POINTS 512u /* that one block of threads takes through all remaining levels */
/* Samples a level and all coarser ones. count: an upper bound of the points that are candidates of any of them, at
   most POISSON_LAST_POINTS. flags [count of lod] and found [1]: scratch */
mote_status lod_cuda_poisson_last(const mote_lod *lod, lod_cuda *device, uint32_t level, uint8_t *flags,
                                  uint64_t *found);

/* Where lattice coordinates of points come from: the columns of the cloud. */
struct position_columns {
    mote_column axes[3];
    mote_lattice lattice;
};

static inline position_columns poisson_columns(const mote_lod *lod, const lod_cuda *device) {
    position_columns from;
    from.lattice = lod->lattice;
    for (int k = 0; k < 3; k++) from.axes[k] = *device_cloud_find(&device->cloud, mote_axis_names[k]);
    return from;
}

/* One lattice coordinate of a finite point, the one that mote_order_coordinates gives. */
static inline __device__ uint32_t poisson_coordinate(const position_columns *from, int k, uint64_t i) {
    const mote_lattice *lattice = &from->lattice;
    if (lattice->integer) {
        return lattice_integer_step(column_integer(&from->axes[k], i), lattice->source_min[k], lattice->shift);
    }
    return lattice_real_step(column_value(&from->axes[k], i), lattice->scale[k], lattice->min[k], lattice->extent[k]);
}

/* Where the search for a block in the table begins. */
static inline __device__ uint64_t poisson_entry(const poisson_trials *t, uint64_t code, uint32_t above) {
    return mote_hash64(code + ((uint64_t)above << 32)) & t->table_mask;
}

static inline __device__ uint64_t poisson_thread(void) { return (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; }

#endif
