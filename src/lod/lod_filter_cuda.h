/* Colour filters on the device: what the steps hand to each other.

   Points are first summed up to sources: the points of one cell, of a level fine enough for the filter. The sources of
   coarser levels are summed up from those of finer ones. No source reaches past a slice of 2^16 points of the order,
   so its sums fit 32 bits and no thread adds up a heap of points in one place alone. */
#ifndef MOTE_LOD_FILTER_CUDA_H
#define MOTE_LOD_FILTER_CUDA_H

#include "backend/cuda_kernel.h"
#include "core/column_math.h"
#include "lod/lod_cuda.h"
#include "lod/lod_math.h"

#define FILTER_THREADS 256u
#define FILTER_WARPS   (FILTER_THREADS / CUDA_WARP)
#define FILTER_ROUNDS  8u
#define FILTER_ITEMS   (FILTER_THREADS * FILTER_ROUNDS) /* of a block that selects */

/* How a point, or the first of a source, follows the one before: 0 for the first of all, else one more than the levels
   whose cells they share. So a cell of level t begins where this is at most t. */
#define MARK_LEVELS  31u
#define MARK_SLICE   128u /* begins a slice */
#define SLICE_POINTS 65536u
#define FIRST_POINTS 4096u /* sources made of points, each by one thread, end here too */

#define SOURCE_COUNT_BITS 17u /* up to SLICE_POINTS */
#define SOURCE_LEVELS     5u  /* the last levels of its code that a source knows */

typedef struct alignas(16) filter_source {
    uint32_t sum[3]; /* red, green, blue */
    uint32_t place;  /* how many points; above, the last three bits per level of its cell's code */
} filter_source;

typedef struct filter_sources {
    uint64_t count;
    uint32_t level; /* whose cells they are parts of */
    filter_source *sums;
    uint32_t *first; /* sorted position of the first point */
    uint8_t *marks;
} filter_sources;

/* How many there are on each level; slices add to the cells. */
typedef struct filter_counts {
    uint64_t cells[MOTE_ORDER_BITS + 1];
    uint64_t first_sources[MOTE_ORDER_BITS + 1]; /* made of points */
    uint64_t sources[MOTE_ORDER_BITS + 1];       /* made of sources */
} filter_counts;

/* 4³ cells */
typedef struct alignas(16) filter_brick {
    unsigned long long mask; /* bit m: the cell whose code within the brick is m is occupied */
    uint32_t cell;           /* its first; cells of a brick are ascending */
    uint32_t octant;         /* of its tile */
} filter_brick;

/* 2³ bricks */
typedef struct alignas(16) filter_tile {
    unsigned long long code; /* UINT64_MAX: this entry of the table is free */
    uint32_t brick;          /* its first */
    uint32_t octants;        /* which are occupied */
} filter_tile;

/* The occupied cells of a level, found by place. */
typedef struct filter_index {
    uint32_t level;
    bool ready;
    uint64_t cell_count, brick_count, tile_count;
    uint32_t *cell_first; /* [cell_count + 1] sources before a cell; NULL where cell i is source i */
    uint32_t *cell_room;
    filter_brick *bricks;            /* [brick_count + 1] the last is empty: what is not there */
    unsigned long long *tile_codes;  /* [tile_count] */
    uint32_t *tile_bricks;           /* [tile_count + 1] bricks before a tile */
    filter_tile *table;              /* [table_mask + 1] tiles by the hash of their code */
    unsigned long long *brick_codes; /* [brick_count] */
    uint32_t *around;                /* the bricks around each: filter_around */
    uint64_t table_mask;
} filter_index;

/* Where the bricks around one stand, by direction 9(dx+1) + 3(dy+1) + dz+1: those of one direction lie side by side for
   so many bricks, and after them those of the next direction. */
#define FILTER_AROUND      27u
#define FILTER_AROUND_STEP 32u
static inline __device__ uint64_t filter_around(uint32_t brick) {
    return (uint64_t)(brick / FILTER_AROUND_STEP) * (FILTER_AROUND * FILTER_AROUND_STEP) + brick % FILTER_AROUND_STEP;
}

/* A colour in device memory: red, green, blue, and whether it is an average. */
typedef struct alignas(8) filter_color {
    uint16_t v[4];
} filter_color;

typedef struct lod_filter {
    mote_lod *lod;
    lod_cuda *device;
    filter_color *colors; /* [count] by sorted position; these two until there are sources */
    uint8_t *marks;       /* [count] */
    uint32_t *selected;   /* scratch: how many each block selects */
    filter_counts counts;
    filter_sources sources, spare;
    filter_index index;
    uint16_t *weights; /* [27][8^bits] by direction of a source's cell from the target's, and place within its cell */
    uint32_t weight_bits;
} lod_filter;

/* Marks and counts. lod_filter_cuda_sources.cu */
mote_status filter_mark(lod_filter *f);
/* Sources of a level, or finer ones that tell as much of places within cells of cell_level at about the same cost. */
mote_status filter_make_sources(lod_filter *f, uint32_t level, uint32_t cell_level);
void filter_free_sources(lod_filter *f);

/* The cells of a level no finer than that of the sources. lod_filter_cuda_index.cu */
mote_status filter_make_index(lod_filter *f, uint32_t level);
void filter_free_index(lod_filter *f);

/* Colours of a level's items in inner nodes. lod_filter_cuda_average.cu */
mote_status filter_average(lod_filter *f, uint32_t level);

/* ---- colours */

/* How the columns of colours can be read. */
enum { FILTER_COLORS_ANY, FILTER_COLORS_16, FILTER_COLORS_8 };

typedef struct filter_columns {
    mote_column of[3]; /* red, green, blue */
    int kind;          /* 16: aligned 16-bit numbers. 8: 8-bit numbers of one aligned 32-bit word */
} filter_columns;

/* All items' colours where each cell of a level's grid has one item in inner nodes. lod_filter_cuda_cells.cu */
mote_status filter_cells(lod_filter *f, const filter_columns *columns);

template <int KIND>
static inline __device__ filter_color filter_read_color(const filter_columns &columns, uint64_t index) {
    filter_color color;
    uint32_t word = 0;
    if (KIND == FILTER_COLORS_8) {
        const uintptr_t first = (uintptr_t)columns.of[0].data & ~(uintptr_t)3;
        word = *(const uint32_t *)(first + index * columns.of[0].stride_bytes);
    }
    for (int k = 0; k < 3; k++) {
        const uint8_t *at = column_at(&columns.of[k], index);
        if (KIND == FILTER_COLORS_8) {
            color.v[k] = (uint16_t)(word >> 8 * ((uintptr_t)columns.of[k].data & 3) & 255);
        } else {
            color.v[k] = KIND == FILTER_COLORS_16 ? *(const uint16_t *)at : column_color(&columns.of[k], at);
        }
    }
    color.v[3] = 0;
    return color;
}

/* mote_lod_average. The quotient by a reciprocal errs by less than 2^-34, for averages are below 2^16: where it is one
   off, the true one is that near to a whole number, to which the rest, below 0 or not below the weight, then rounds. */
static inline __device__ uint16_t filter_mean(uint64_t sum, uint64_t weight, double reciprocal) {
    const uint64_t quotient = (uint64_t)((double)sum * reciprocal);
    const int64_t rest = (int64_t)(sum - quotient * weight);
    return (uint16_t)(quotient + (rest >= (int64_t)weight - rest ? 1 : 0));
}

/* The same of up to SLICE_POINTS points: the quotient of floats errs by less than 1 and is put right. */
static inline __device__ uint16_t filter_mean32(uint32_t sum, uint32_t weight, float reciprocal) {
    uint32_t quotient = (uint32_t)((float)sum * reciprocal);
    int32_t rest = (int32_t)(sum - quotient * weight);
    if (rest < 0) {
        quotient--;
        rest += (int32_t)weight;
    } else if (rest >= (int32_t)weight) {
        quotient++;
        rest -= (int32_t)weight;
    }
    return (uint16_t)(quotient + (rest >= (int32_t)weight - rest ? 1 : 0));
}

/* The brick of a code; the empty one if it has no points. */
static inline __device__ uint32_t filter_find_brick(const filter_index &index, uint64_t code) {
    for (uint64_t at = mote_hash64(code >> 3) & index.table_mask;; at = (at + 1) & index.table_mask) {
        const filter_tile tile = index.table[at];
        if (tile.code == UINT64_MAX) return (uint32_t)index.brick_count;
        if (tile.code != code >> 3) continue;
        const uint32_t bit = 1u << (code & 7);
        const uint32_t before = (uint32_t)__popc(tile.octants & (bit - 1));
        return (tile.octants & bit) != 0 ? tile.brick + before : (uint32_t)index.brick_count;
    }
}

/* ---- selecting items in order: a block counts, the blocks' numbers are summed up, then each item knows its place */

enum { FILTER_CELLS, FILTER_SOURCES, FILTER_FIRST_SOURCES };

/* Whether a cell begins, or a source of a cell. */
template <int KIND> static inline __device__ bool filter_begins(uint8_t mark, uint64_t i, uint32_t level) {
    if ((mark & MARK_LEVELS) <= level) return true;
    if (KIND == FILTER_SOURCES) return (mark & MARK_SLICE) != 0;
    return KIND == FILTER_FIRST_SOURCES && i % FIRST_POINTS == 0;
}

typedef struct filter_levels {
    uint32_t of[3];
} filter_levels;

/* A thread's item of a round. */
static inline __device__ uint64_t filter_item(uint32_t round) {
    return (uint64_t)blockIdx.x * FILTER_ITEMS + round * FILTER_THREADS + threadIdx.x;
}

/* chosen[list][round]: which lanes of the warp select their item. */
template <int KIND, uint32_t LISTS>
static inline __device__ void filter_select(const uint8_t *marks, uint64_t count, filter_levels levels,
                                            uint32_t (*chosen)[FILTER_ROUNDS]) {
    for (uint32_t r = 0; r < FILTER_ROUNDS; r++) {
        const uint64_t i = filter_item(r);
        const uint8_t mark = i < count ? marks[i] : 0;
        for (uint32_t k = 0; k < LISTS; k++) {
            chosen[k][r] = __ballot_sync(CUDA_ALL, i < count && filter_begins<KIND>(mark, i, levels.of[k]));
        }
    }
}

/* before[list][round · FILTER_WARPS + warp]: how many the block selects before. */
template <uint32_t LISTS>
static inline __device__ void filter_rank(const uint32_t (*chosen)[FILTER_ROUNDS],
                                          uint32_t (*before)[FILTER_ROUNDS * FILTER_WARPS]) {
    static_assert(FILTER_ROUNDS * FILTER_WARPS == 2 * CUDA_WARP && LISTS <= FILTER_WARPS, "two sums a lane");
    const uint32_t lane = threadIdx.x % CUDA_WARP, warp = threadIdx.x / CUDA_WARP;
    if (lane == 0) {
        for (uint32_t k = 0; k < LISTS; k++) {
            for (uint32_t r = 0; r < FILTER_ROUNDS; r++) {
                before[k][r * FILTER_WARPS + warp] = (uint32_t)__popc(chosen[k][r]);
            }
        }
    }
    __syncthreads();
    if (warp < LISTS) {
        const uint32_t even = before[warp][2 * lane], own = even + before[warp][2 * lane + 1];
        uint32_t sum = own;
        for (uint32_t d = 1; d < CUDA_WARP; d *= 2) {
            const uint32_t left = __shfl_up_sync(CUDA_ALL, sum, d);
            if (lane >= d) sum += left;
        }
        before[warp][2 * lane] = sum - own;
        before[warp][2 * lane + 1] = sum - own + even;
    }
    __syncthreads();
}

static inline __device__ bool filter_is_chosen(uint32_t chosen) {
    return (chosen >> (threadIdx.x % CUDA_WARP) & 1) != 0;
}

/* How many the block selects before this thread's item. */
static inline __device__ uint32_t filter_place(uint32_t chosen, const uint32_t *before, uint32_t round) {
    const uint32_t lower = (1u << (threadIdx.x % CUDA_WARP)) - 1;
    return before[round * FILTER_WARPS + threadIdx.x / CUDA_WARP] + (uint32_t)__popc(chosen & lower);
}

/* counts[list · blocks + block] */
template <int KIND, uint32_t LISTS>
static __global__ void filter_count(const uint8_t *marks, uint64_t count, filter_levels levels, uint32_t *counts) {
    __shared__ uint32_t sums[LISTS];
    uint32_t chosen[LISTS][FILTER_ROUNDS];
    if (threadIdx.x < LISTS) sums[threadIdx.x] = 0;
    filter_select<KIND, LISTS>(marks, count, levels, chosen);
    __syncthreads();
    if (threadIdx.x % CUDA_WARP == 0) {
        for (uint32_t k = 0; k < LISTS; k++) {
            uint32_t sum = 0;
            for (uint32_t r = 0; r < FILTER_ROUNDS; r++) sum += (uint32_t)__popc(chosen[k][r]);
            atomicAdd(&sums[k], sum);
        }
    }
    __syncthreads();
    if (threadIdx.x < LISTS) counts[(uint64_t)threadIdx.x * gridDim.x + blockIdx.x] = sums[threadIdx.x];
}

#endif
