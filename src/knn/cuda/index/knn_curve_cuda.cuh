/* Points as keys of a curve: their extent, and a key for each. For .cu files only. */
#ifndef MOTE_KNN_CURVE_CUDA_H
#define MOTE_KNN_CURVE_CUDA_H

#include "device/cuda/warp.cuh"
#include "knn/cuda/index/knn_hilbert_cuda.cuh"
#include "knn/cuda/search/knn_view_cuda.cuh"

/* The bounds of what the lanes bring whose numbers differ in the bits from first to last. */
template <class real>
static __device__ inline void knn_bounds_of_lanes(real low[3], real high[3], int first, int last) {
    for (int away = first; away <= last; away *= 2) {
        for (int k = 0; k < 3; k++) {
            low[k] = min(low[k], warp_exchange(low[k], away));
            high[k] = max(high[k], warp_exchange(high[k], away));
        }
    }
}

static __device__ inline void knn_extent_of_nothing(knn_cuda_extent *extent) {
    for (int k = 0; k < 3; k++) {
        extent->low[k] = INFINITY;
        extent->high[k] = -INFINITY;
    }
    extent->finite = 0;
    extent->spare = 0;
}

static __device__ inline void knn_extent_add(knn_cuda_extent *extent, const knn_cuda_extent *other) {
    for (int k = 0; k < 3; k++) {
        extent->low[k] = fminf(extent->low[k], other->low[k]);
        extent->high[k] = fmaxf(extent->high[k], other->high[k]);
    }
    extent->finite += other->finite;
}

/* What all threads of the block bring, to each of them. */
template <uint32_t WARPS> static __device__ void knn_extent_of_block(knn_cuda_extent *mine) {
    __shared__ knn_cuda_extent of_warp[WARPS];
    knn_bounds_of_lanes(mine->low, mine->high, 1, CUDA_WARP / 2);
    mine->finite = warp_sum(mine->finite);
    if (threadIdx.x % CUDA_WARP == 0) of_warp[threadIdx.x / CUDA_WARP] = *mine;
    __syncthreads();
    *mine = of_warp[0];
    for (uint32_t w = 1; w < WARPS; w++) knn_extent_add(mine, &of_warp[w]);
}

template <uint32_t THREADS>
static __device__ inline void knn_extent_of_parts(const knn_cuda_extent *parts, uint32_t count, knn_cuda_extent *all) {
    knn_extent_of_nothing(all);
    for (uint32_t part = threadIdx.x; part < count; part += THREADS) knn_extent_add(all, &parts[part]);
    knn_extent_of_block<THREADS / CUDA_WARP>(all);
}

/* The cells of a curve. */
typedef struct knn_grid {
    float low[3], factor; /* cells a length */
    uint32_t cell_bits, index_bits;
} knn_grid;

static __device__ inline knn_grid knn_grid_of(const knn_cuda_extent *divided, uint32_t cell_bits, uint32_t index_bits) {
    knn_grid grid;
    float side = 0;
    for (int k = 0; k < 3; k++) {
        grid.low[k] = divided->low[k];
        side = fmaxf(side, divided->high[k] - divided->low[k]);
    }
    grid.factor = side > 0 && knn_is_finite(side) ? (float)(1u << cell_bits) / side : 0;
    grid.cell_bits = cell_bits;
    grid.index_bits = index_bits;
    return grid;
}

#define KNN_STRETCHED 8 /* times as long as the box of nearly all points the box of all may be */

/* The grid of the box of all points, of[0]; or, where a few stretch it, or deep, that of nearly all, of[1]: cells at
   its border hold what is outside.

     of[0] ┌──────────────────────────────────┐
           │ ┌───┐ of[1]                      │      with cells of of[0], all but one point would share a cell
           │ │:::│                          x │
           │ └───┘                            │
           └──────────────────────────────────┘ */
static __device__ inline knn_grid knn_grid_within(const knn_cuda_extent of[2], bool deep, uint32_t cell_bits,
                                                  uint32_t index_bits) {
    const knn_grid all = knn_grid_of(&of[0], cell_bits, index_bits);
    const knn_grid nearly_all = knn_grid_of(&of[1], cell_bits, index_bits);
    const bool stretched = deep || nearly_all.factor > KNN_STRETCHED * all.factor;
    return stretched && nearly_all.factor > 0 && knn_is_finite(nearly_all.factor) ? nearly_all : all;
}

/* A point's place on the curve, then its number. */
static __device__ inline uint64_t knn_key_of(const knn_hilbert *table, const knn_grid *grid, uint64_t i, bool exists,
                                             const float view[3]) {
    const uint32_t bits = grid->cell_bits;
    uint32_t cell[3];
    for (int k = 0; k < 3; k++) cell[k] = knn_cell_of(view[k] - grid->low[k], grid->factor, 1u << bits);
    const uint64_t place = knn_hilbert_place<KNN_CUDA_CELLS>(table, cell[0], cell[1], cell[2], bits);
    return (exists ? place : 1ull << 3 * bits) << grid->index_bits | i;
}

static __device__ inline bool knn_key_is_non_finite(uint64_t key, const knn_grid *grid) {
    return (key >> (grid->index_bits + 3 * grid->cell_bits) & 1) != 0;
}

#endif
