/* The bounds of points, which all blocks of a launch find together: coordinates as integers of the same order, of which
   atomic operations find the smallest. For .cu files only.

     each thread: low[3], high[3] of its points  ->  warp  ->  block, in shared memory  ->  one atomic per number */
#ifndef MOTE_ORDERED_BOX_CUH
#define MOTE_ORDERED_BOX_CUH

#include "device/cuda/warp.cuh"
#include "math/ordered.h"

/* All bits of an empty one are set. */
typedef struct ordered_box {
    unsigned long long low[3];
    unsigned long long not_high[3]; /* complements: their smallest is of the largest */
    unsigned long long skipped;     /* points that do not count, less one */
} ordered_box;

static inline mote_status ordered_box_clear(mote_device *gpu, ordered_box *box) {
    return cuda_fill(gpu, box, 0xFF, sizeof *box);
}

/* All threads of a block of WARPS warps bring the bounds of their points, as ordered integers. */
template <uint32_t WARPS>
static __device__ void ordered_box_join(const uint64_t low[3], const uint64_t high[3], uint64_t skipped,
                                        ordered_box *box) {
    __shared__ unsigned long long of_warp[WARPS][7];
    unsigned long long all[7] = {low[0], low[1], low[2], ~high[0], ~high[1], ~high[2], skipped};
    for (int k = 0; k < 6; k++) all[k] = warp_min(all[k]);
    all[6] = warp_sum(all[6]);
    if (warp_lane() == 0) {
        for (int k = 0; k < 7; k++) of_warp[threadIdx.x / CUDA_WARP][k] = all[k];
    }
    __syncthreads();
    const uint32_t k = threadIdx.x;
    if (k >= 7) return;
    unsigned long long value = of_warp[0][k];
    for (uint32_t w = 1; w < WARPS; w++) value = k < 6 ? min(value, of_warp[w][k]) : value + of_warp[w][k];
    if (k < 3) {
        atomicMin(&box->low[k], value);
    } else if (k < 6) {
        atomicMin(&box->not_high[k - 3], value);
    } else if (value > 0) {
        atomicAdd(&box->skipped, value);
    }
}

/* Joins a box of doubles, which becomes integers of the same order. */
template <uint32_t WARPS>
static __device__ void ordered_box_join_real(const double low[3], const double high[3], uint64_t skipped,
                                             ordered_box *box) {
    const uint64_t ordered_low[3] = {mote_ordered_real(low[0]), mote_ordered_real(low[1]), mote_ordered_real(low[2])};
    const uint64_t ordered_high[3] = {mote_ordered_real(high[0]), mote_ordered_real(high[1]),
                                      mote_ordered_real(high[2])};
    ordered_box_join<WARPS>(ordered_low, ordered_high, skipped, box);
}

/* ---- what was found */

MOTE_HD void ordered_box_real(const ordered_box *box, double low[3], double high[3]) {
    for (int k = 0; k < 3; k++) {
        low[k] = mote_real_of_ordered(box->low[k]);
        high[k] = mote_real_of_ordered(~box->not_high[k]);
    }
}

MOTE_HD void ordered_box_integer(const ordered_box *box, int64_t low[3], int64_t high[3]) {
    for (int k = 0; k < 3; k++) {
        low[k] = mote_integer_of_ordered(box->low[k]);
        high[k] = mote_integer_of_ordered(~box->not_high[k]);
    }
}

MOTE_HD uint64_t ordered_box_skipped(const ordered_box *box) { return box->skipped + 1; }

#endif
