/* The eight least of many numbers, and the next one, for speed: eight others at a time are sorted and merged with the
   list, in registers and without branches, so that the threads of a warp go in step.

     list    1  2  4  4  5  6  8  9        the least of each pair are the least eight of both, rising and falling again
     other   9  8  7  7  5  3  3  2        (bitonic); half a sorting network sorts them
     least   1  2  4  4  5  3  3  2   */
#ifndef MOTE_RENDER_EIGHT_CUH
#define MOTE_RENDER_EIGHT_CUH

#include "device/cuda/cuda_kernel.cuh"

#define RENDER_EIGHT 8u

static __device__ __forceinline__ void render_sort_two(uint32_t *a, uint32_t *b) {
    const uint32_t low = min(*a, *b);
    *b = max(*a, *b);
    *a = low;
}

/* Batcher's merging exchange. */
static __device__ __forceinline__ void render_sort_eight(uint32_t n[RENDER_EIGHT]) {
#pragma unroll
    for (uint32_t p = 1; p < RENDER_EIGHT; p *= 2) {
#pragma unroll
        for (uint32_t away = p; away > 0; away /= 2) {
#pragma unroll
            for (uint32_t j = away % p; j + away < RENDER_EIGHT; j += 2 * away) {
#pragma unroll
                for (uint32_t i = j; i < j + away && i + away < RENDER_EIGHT; i++) {
                    if (i / (2 * p) == (i + away) / (2 * p)) render_sort_two(&n[i], &n[i + away]);
                }
            }
        }
    }
}

/* Others come into the list of the eight least, sorted as before, and its next. */
static __device__ __forceinline__ void render_put_eight(uint32_t list[RENDER_EIGHT], uint32_t *next,
                                                        uint32_t other[RENDER_EIGHT]) {
    render_sort_eight(other);
#pragma unroll
    for (uint32_t i = 0; i < RENDER_EIGHT; i++) {
        const uint32_t from = other[RENDER_EIGHT - 1 - i];
        *next = min(*next, max(list[i], from));
        list[i] = min(list[i], from);
    }
#pragma unroll
    for (uint32_t away = RENDER_EIGHT / 2; away > 0; away /= 2) {
#pragma unroll
        for (uint32_t i = 0; i < RENDER_EIGHT; i++) {
            if ((i & away) == 0) render_sort_two(&list[i], &list[i + away]);
        }
    }
}

#endif
