/* The targets of a block, and the cells around them. Items of a level in order lie in few tiles of 8³ cells: a block
   lists its targets and their tiles, and puts the cells of one tile after the other, and the layer around them, into a
   dense grid. */
#ifndef MOTE_LOD_FILTER_CUDA_GRID_H
#define MOTE_LOD_FILTER_CUDA_GRID_H

#include "lod/lod_filter_cuda.h"

#define AROUND_THREADS 128u
#define AROUND_WARPS   (AROUND_THREADS / CUDA_WARP)
#define CHUNK_ROWS     8u
#define CHUNK_ITEMS    (AROUND_THREADS * CHUNK_ROWS) /* most items of a block */
#define CHUNK_BLOCKS   4096u                         /* where there are fewer, they get fewer items */
#define SLOTS          8u                            /* tiles whose neighbours a block holds at a time */
#define AROUND         27u
#define BRICKS         64u /* of a tile and around it: 4³ */
#define GRID_SIDE      10u
#define GRID_ROWS      (GRID_SIDE * GRID_SIDE)
#define GRID_CELLS     (GRID_SIDE * GRID_SIDE * GRID_SIDE)
#define GRID_ROUNDS    8u /* of AROUND_THREADS cells */
#define GRID_WORDS     (GRID_ROUNDS * AROUND_WARPS)
#define MIRRORED       512u /* so many weights per direction: three bits an axis, which mirror each other */

/* The items of a level. */
typedef struct target_view {
    const uint32_t *items;
    uint64_t count;
    const uint8_t *leaf_level;
    const uint64_t *codes;
    uint32_t level;
    filter_color *colors;
} target_view;

/* The sources of a cell. */
typedef struct alignas(8) source_span {
    uint32_t first, count;
} source_span;

/* What a block knows: the targets among its items, their tiles, and what lies around one of these. The cells of a tile
   and the layer around it have their place in a grid of 10³, in which 100x + 10y + z is the lowest neighbour of the
   tile's cell (x, y, z). */
typedef struct surroundings {
    union {
        unsigned long long codes[CHUNK_ITEMS]; /* of the cells of targets, until their tiles are listed */
        source_span spans[GRID_CELLS];         /* of occupied cells */
    };
    uint32_t occupied[GRID_WORDS + 1]; /* a bit per cell */
    uint32_t rows[GRID_ROWS];          /* the same, a word per row along z */
    uint16_t items[CHUNK_ITEMS];       /* targets, from the block's first item on */
    uint16_t cells[CHUNK_ITEMS];       /* and their cells within the tile */
    uint16_t tiles[CHUNK_ITEMS + 1];   /* the first target of each tile */
    uint32_t warp_count[AROUND_WARPS];
    unsigned long long tile_code[SLOTS];
    uint32_t tile_brick[SLOTS * AROUND];   /* the tiles around: first brick */
    uint32_t tile_octants[SLOTS * AROUND]; /* and which there are */
    uint32_t masks[2 * BRICKS];            /* halves of the bricks in and around a tile: 16x + 4y + z */
    uint32_t half_cell[2 * BRICKS];        /* their first cells */
    uint32_t steps[AROUND];                /* by direction: see step_of */
} surroundings;

/* Each warp's count of what its lanes chose, in CHUNK_ROWS rows: how many warps before chose, and how many all. */
static inline __device__ uint32_t count_before(surroundings *s, const uint32_t *chosen, uint32_t *all) {
    const uint32_t warp = threadIdx.x / CUDA_WARP;
    uint32_t own = 0, before = 0;
    for (uint32_t r = 0; r < CHUNK_ROWS; r++) own += (uint32_t)__popc(chosen[r]);
    __syncthreads();
    if (threadIdx.x % CUDA_WARP == 0) s->warp_count[warp] = own;
    __syncthreads();
    *all = 0;
    for (uint32_t w = 0; w < AROUND_WARPS; w++) {
        if (w < warp) before += s->warp_count[w];
        *all += s->warp_count[w];
    }
    return before;
}

static inline __device__ uint32_t lanes_below() { return (1u << (threadIdx.x % CUDA_WARP)) - 1; }

/* A thread's item in a row: those of a warp follow each other. */
static inline __device__ uint32_t item_of_row(uint32_t row) {
    return (threadIdx.x / CUDA_WARP * CHUNK_ROWS + row) * CUDA_WARP + threadIdx.x % CUDA_WARP;
}

/* Lists the targets of a block's items; returns how many. */
static inline __device__ uint32_t list_targets(surroundings *s, const target_view &targets, uint64_t first,
                                               uint32_t count, uint32_t shift) {
    uint32_t chosen[CHUNK_ROWS], all;
    uint64_t codes[CHUNK_ROWS];
    for (uint32_t r = 0; r < CHUNK_ROWS; r++) {
        const uint32_t i = item_of_row(r);
        const uint32_t position = i < count ? targets.items[first + i] : 0;
        codes[r] = i < count ? targets.codes[position] >> shift : 0;
        chosen[r] = __ballot_sync(CUDA_ALL, i < count && targets.leaf_level[position] > targets.level);
    }
    uint32_t at = count_before(s, chosen, &all);
    for (uint32_t r = 0; r < CHUNK_ROWS; r++) {
        const uint32_t own = at + (uint32_t)__popc(chosen[r] & lanes_below());
        if (filter_is_chosen(chosen[r])) {
            s->codes[own] = codes[r];
            s->items[own] = (uint16_t)item_of_row(r);
            s->cells[own] = (uint16_t)(codes[r] & 511);
        }
        at += (uint32_t)__popc(chosen[r]);
    }
    __syncthreads();
    return all;
}

/* Lists where their tiles begin; returns how many. */
static inline __device__ uint32_t list_tiles(surroundings *s, uint32_t targets) {
    uint32_t chosen[CHUNK_ROWS], all;
    for (uint32_t r = 0; r < CHUNK_ROWS; r++) {
        const uint32_t i = item_of_row(r);
        const bool begins = i < targets && (i == 0 || s->codes[i] >> 9 != s->codes[i - 1] >> 9);
        chosen[r] = __ballot_sync(CUDA_ALL, begins);
    }
    uint32_t at = count_before(s, chosen, &all);
    for (uint32_t r = 0; r < CHUNK_ROWS; r++) {
        const uint32_t own = at + (uint32_t)__popc(chosen[r] & lanes_below());
        if (filter_is_chosen(chosen[r])) s->tiles[own] = (uint16_t)item_of_row(r);
        at += (uint32_t)__popc(chosen[r]);
    }
    if (threadIdx.x == 0) s->tiles[all] = (uint16_t)targets;
    __syncthreads();
    return all;
}

/* Finds the tile beside another. octants is 0 if there is none. */
static inline __device__ void find_tile(const filter_index &index, uint64_t tile, uint32_t direction, uint32_t *brick,
                                        uint32_t *octants) {
    const uint32_t x = mote_morton_compact(tile >> 2) + direction / 9 - 1;
    const uint32_t y = mote_morton_compact(tile >> 1) + direction / 3 % 3 - 1;
    const uint32_t z = mote_morton_compact(tile) + direction % 3 - 1;
    *octants = 0;
    if ((x | y | z) > MOTE_MORTON_MASK) return; /* below zero */
    const uint64_t code = mote_morton_encode(x, y, z);
    for (uint64_t at = mote_hash64(code) & index.table_mask;; at = (at + 1) & index.table_mask) {
        const filter_tile found = index.table[at];
        if (found.code == UINT64_MAX) return;
        if (found.code != code) continue;
        *brick = found.brick;
        *octants = found.octants;
        return;
    }
}

/* Of the bricks 0 … 3 along an axis, 1 and 2 are the tile's own: the tile that one lies in, and its half of it. */
static inline __device__ uint32_t tile_of(uint32_t brick) { return (brick + 1) / 2; }
static inline __device__ uint32_t half_of(uint32_t brick) { return (brick + 1) & 1; }

static inline __device__ void load_brick(surroundings *s, const filter_index &index, uint32_t slot, uint32_t at) {
    const uint32_t x = at >> 4, y = at >> 2 & 3, z = at & 3;
    const uint32_t tile = slot * AROUND + 9 * tile_of(x) + 3 * tile_of(y) + tile_of(z);
    const uint32_t octant = 4 * half_of(x) + 2 * half_of(y) + half_of(z);
    const uint32_t octants = s->tile_octants[tile];
    filter_brick brick = {0, 0, 0};
    if (octants >> octant & 1) {
        const uint32_t before = (uint32_t)__popc(octants & ((1u << octant) - 1));
        brick = index.bricks[s->tile_brick[tile] + before];
    }
    s->masks[2 * at] = (uint32_t)brick.mask;
    s->masks[2 * at + 1] = (uint32_t)(brick.mask >> 32);
    s->half_cell[2 * at] = brick.cell;
    s->half_cell[2 * at + 1] = brick.cell + (uint32_t)__popc((uint32_t)brick.mask);
}

/* Finds the tiles around those listed from first on. */
static inline __device__ void find_around(surroundings *s, const filter_index &index, const target_view &targets,
                                          uint64_t first_item, uint32_t first, uint32_t count) {
    if (threadIdx.x < count) {
        const uint32_t item = s->items[s->tiles[first + threadIdx.x]];
        const uint32_t shift = 3 * (MOTE_ORDER_BITS - index.level);
        s->tile_code[threadIdx.x] = targets.codes[targets.items[first_item + item]] >> shift >> 9;
    }
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < count * AROUND; i += AROUND_THREADS) {
        find_tile(index, s->tile_code[i / AROUND], i % AROUND, &s->tile_brick[i], &s->tile_octants[i]);
    }
    __syncthreads();
}

/* Where a cell of the grid lies in the bricks around: its brick, and below, in 6 bits, its code within it; so the half
   of a brick, and 5 bits. */
static inline __device__ uint32_t place_in_bricks(uint32_t cell) {
    const uint32_t at[3] = {cell / (GRID_SIDE * GRID_SIDE) + 3, cell / GRID_SIDE % GRID_SIDE + 3, cell % GRID_SIDE + 3};
    uint32_t place = 0;
    for (uint32_t k = 0; k < 3; k++) {
        const uint32_t apart = (at[k] & 1) | (at[k] & 2) << 2;
        place |= (at[k] >> 2) << (10 - 2 * k) | apart << (2 - k);
    }
    return place;
}

/* Fills the grid around a tile. */
static inline __device__ void fill_grid(surroundings *s, const filter_index &index, uint32_t slot,
                                        const uint32_t *places) {
    if (threadIdx.x < BRICKS) load_brick(s, index, slot, threadIdx.x);
    __syncthreads();
    for (uint32_t r = 0; r < GRID_ROUNDS; r++) {
        const uint32_t cell = r * AROUND_THREADS + threadIdx.x, half = places[r] / 32, bit = 1u << places[r] % 32;
        const uint32_t mask = cell < GRID_CELLS ? s->masks[half] : 0;
        const bool occupied = (mask & bit) != 0;
        const uint32_t lanes = __ballot_sync(CUDA_ALL, occupied);
        if (threadIdx.x % CUDA_WARP == 0) s->occupied[cell / CUDA_WARP] = lanes;
        if (!occupied) continue;
        const uint32_t at = s->half_cell[half] + (uint32_t)__popc(mask & (bit - 1));
        source_span span = {at, 1};
        if (index.cell_first != NULL) {
            span.first = index.cell_first[at];
            span.count = index.cell_first[at + 1] - span.first;
        }
        s->spans[cell] = span;
    }
    __syncthreads();
    if (threadIdx.x < GRID_ROWS) {
        const uint32_t at = threadIdx.x * GRID_SIDE, word = at / CUDA_WARP;
        const uint64_t bits = (uint64_t)s->occupied[word + 1] << 32 | s->occupied[word];
        s->rows[threadIdx.x] = (uint32_t)(bits >> at % CUDA_WARP) & ((1u << GRID_SIDE) - 1);
    }
    __syncthreads();
}

/* A direction's step in the grid and, above, its key: a source's weight is at its place within its cell, xor the key,
   which names the row of weights and flips places: with all bits known, weights beyond a cell's middle mirror those
   before it. */
#define STEP_BITS 8u

static inline __device__ uint32_t step_of(uint32_t direction, uint32_t entries) {
    const uint32_t at[3] = {direction / 9, direction / 3 % 3, direction % 3};
    const uint32_t step = GRID_SIDE * (GRID_SIDE * at[0] + at[1]) + at[2];
    if (entries < MIRRORED) return step | direction * entries << STEP_BITS;
    uint32_t row = 0, flip = 0;
    for (uint32_t k = 0; k < 3; k++) {
        row = 2 * row + (at[k] & 1);
        if (at[k] == 2) flip |= 0x49u << (2 - k);
    }
    return step | (row * entries | flip) << STEP_BITS;
}

/* The directions in which a cell, given by its lowest neighbour, has an occupied neighbour. */
static inline __device__ uint32_t occupied_around(const surroundings *s, uint32_t row, uint32_t z) {
    uint32_t directions = 0;
    for (uint32_t i = 0; i < 9; i++) { directions |= (s->rows[row + GRID_SIDE * (i / 3) + i % 3] >> z & 7) << 3 * i; }
    return directions;
}

/* The cells around a target that a lane has still to add. */
typedef struct cell_walk {
    uint32_t directions;
    uint32_t lowest; /* of all 27, in the grid */
} cell_walk;

static inline __device__ cell_walk walk_around(const surroundings *s, uint32_t code) {
    uint32_t at[3];
    for (int k = 0; k < 3; k++) at[k] = mote_morton_compact(code >> (2 - k) & 0x49);
    const uint32_t line = GRID_SIDE * at[0] + at[1];
    return {occupied_around(s, line, at[2]), GRID_SIDE * line + at[2]};
}

static inline __device__ source_span next_cell(cell_walk *walk, const surroundings *s, uint32_t *key) {
    const uint32_t step = s->steps[__ffs((int)walk->directions) - 1];
    walk->directions &= walk->directions - 1;
    *key = step >> STEP_BITS;
    return s->spans[walk->lowest + (step & ((1u << STEP_BITS) - 1))];
}

#endif
