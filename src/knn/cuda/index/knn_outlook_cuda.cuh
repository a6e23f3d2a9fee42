/* What a sample of KNN_CUDA_SAMPLES points tells of a cloud before it is sorted: by a block, a point a thread. For .cu
   files only.

     value    [3][256]  positions, as doubles
                │ each thread counts what is before its own
     low, middle, high  of each axis; low and high: all but OUTSIDE points of each side lie between
                │
     nearly all         that box, and as much as its longest side again around it
                │ cells of a curve through it
     pairs              of points in one cell, but not in one place: many, where a cell holds much of the cloud */
#ifndef MOTE_KNN_OUTLOOK_CUDA_H
#define MOTE_KNN_OUTLOOK_CUDA_H

#include "device/cuda/warp.cuh"
#include "knn/cuda/search/knn_view_cuda.cuh"
#include "math/hash.h"

#define KNN_OUTSIDE 2u /* points of the sample on each side of an axis that are not looked at */

typedef struct knn_outlook_memory {
    double value[3][KNN_CUDA_SAMPLES], low[3], middle[3], high[3]; /* INFINITY: of a point that is not finite */
    uint64_t cell[KNN_CUDA_SAMPLES];
    uint32_t sums[KNN_CUDA_SAMPLES / CUDA_WARP];
} knn_outlook_memory;

/* The point of a thread, each from another part of the cloud, but not at the same distances: many clouds repeat
   themselves. */
static __device__ inline uint64_t knn_nth_sample(uint32_t nth, uint64_t count) {
    const uint64_t part = count / KNN_CUDA_SAMPLES;
    return part == 0 ? nth % count : nth * part + mote_hash64(nth) % part;
}

/* Loads the thread's point. Returns whether it is finite. */
static __device__ inline bool knn_load_sample(const knn_cuda_reading *from, uint64_t count, knn_outlook_memory *m) {
    const uint64_t i = count > 0 ? knn_nth_sample(threadIdx.x, count) : 0;
    bool finite = count > 0;
    for (int k = 0; k < 3 && finite; k++) finite = isfinite(column_value(&from->axes[k], i));
    for (int k = 0; k < 3; k++) {
        double value = (double)INFINITY;
        if (finite && from->kind == KNN_INT) {
            value = (double)((uint64_t)knn_integer_of(&from->axes[k], i) - (uint64_t)from->origin[k]);
        } else if (finite) {
            value = knn_double_of(from, k, i);
        }
        m->value[k][threadIdx.x] = value;
    }
    return finite;
}

/* Finds low, middle and high. */
static __device__ inline void knn_order_sample(uint32_t samples, knn_outlook_memory *m) {
    const double mine[3] = {m->value[0][threadIdx.x], m->value[1][threadIdx.x], m->value[2][threadIdx.x]};
    uint32_t before[3] = {0, 0, 0};
#pragma unroll 4
    for (uint32_t i = 0; i < KNN_CUDA_SAMPLES; i++) { /* all axes at once: they do not wait for each other */
        for (int k = 0; k < 3; k++) {
            before[k] += m->value[k][i] < mine[k] || (m->value[k][i] == mine[k] && i < threadIdx.x);
        }
    }
    for (int k = 0; k < 3; k++) {
        if (before[k] == samples / 2) m->middle[k] = mine[k];
        if (samples <= 2 * KNN_OUTSIDE) continue;
        if (before[k] == KNN_OUTSIDE) m->low[k] = mine[k];
        if (before[k] == samples - 1 - KNN_OUTSIDE) m->high[k] = mine[k];
    }
}

static __device__ inline double knn_unit_of(const knn_cuda_reading *from, int k) {
    return from->kind == KNN_DOUBLE ? from->unit[k] : 1;
}

/* The box of nearly all points, in views. */
static __device__ inline knn_cuda_extent knn_nearly_all(const knn_cuda_reading *from, const knn_outlook_memory *m,
                                                        double side) {
    knn_cuda_extent box;
    for (int k = 0; k < 3; k++) {
        const double zero = from->kind == KNN_INT      ? (double)(from->middle[k] - from->origin[k])
                            : from->kind == KNN_DOUBLE ? from->center[k]
                                                       : 0;
        const double a = (m->low[k] - zero) * knn_unit_of(from, k), b = (m->high[k] - zero) * knn_unit_of(from, k);
        box.low[k] = (float)(fmin(a, b) - side);
        box.high[k] = (float)(fmax(a, b) + side);
        if (from->kind != KNN_DOUBLE) continue;
        box.low[k] = fmaxf(box.low[k], -KNN_FAR);
        box.high[k] = fminf(box.high[k], KNN_FAR);
    }
    box.finite = box.spare = 0;
    return box;
}

/* The cell of the thread's point, among 2^KNN_CUDA_CELLS a side of that box. */
static __device__ inline uint64_t knn_sample_cell(const knn_cuda_reading *from, const knn_outlook_memory *m,
                                                  double side) {
    const double cells = (double)(1u << KNN_CUDA_CELLS);
    uint64_t code = 0;
    for (int k = 0; k < 3; k++) {
        const double at = (m->value[k][threadIdx.x] - m->low[k]) * fabs(knn_unit_of(from, k)) + side;
        const double cell = side > 0 ? at / (3 * side) * cells : 0;
        code = code << KNN_CUDA_CELLS | (uint64_t)fmin(fmax(cell, 0.0), cells - 1);
    }
    return code;
}

/* Pairs of the thread's point and one before it. */
static __device__ inline uint32_t knn_count_pairs(const knn_outlook_memory *m) {
    const uint64_t cell = m->cell[threadIdx.x];
    uint32_t pairs = 0;
#pragma unroll 4
    for (uint32_t i = 0; i < threadIdx.x; i++) {
        if (m->cell[i] != cell) continue;
        bool same = true;
        for (int k = 0; k < 3; k++) same = same && m->value[k][i] == m->value[k][threadIdx.x];
        pairs += !same;
    }
    return pairs;
}

/* All threads of the block call it. */
static __device__ inline void knn_look(const knn_cuda_reading *from, uint64_t count, knn_cuda_extent *nearly_all,
                                       knn_cuda_outlook *out) {
    __shared__ knn_outlook_memory m;
    const bool finite = knn_load_sample(from, count, &m);
    if (threadIdx.x < 3) m.low[threadIdx.x] = m.middle[threadIdx.x] = m.high[threadIdx.x] = 0;
    const uint32_t samples = (uint32_t)__syncthreads_count(finite);
    if (samples > 0) knn_order_sample(samples, &m);
    __syncthreads();
    double side = 0;
    for (int k = 0; k < 3; k++) side = fmax(side, (m.high[k] - m.low[k]) * fabs(knn_unit_of(from, k)));
    m.cell[threadIdx.x] = finite ? knn_sample_cell(from, &m, side) : UINT64_MAX;
    __syncthreads();
    const uint32_t pairs = block_sum<KNN_CUDA_SAMPLES / CUDA_WARP>(finite ? knn_count_pairs(&m) : 0, m.sums);
    if (threadIdx.x > 0) return;
    *nearly_all = knn_nearly_all(from, &m, side);
    for (int k = 0; k < 3; k++) out->middle[k] = m.middle[k];
    out->finite = samples;
    out->pairs = pairs;
}

#endif
