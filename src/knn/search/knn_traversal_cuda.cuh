/* What the searches on the device share: exact keys, and what floats may rule out. For .cu files only.

   Views differ from true positions, in units, by at most u = 2^-24 of their size, on each axis. That of a point is at
   most as large as the query's and their distance d together, so the difference of the two is off by less than slack
   = 2^-22 of the query's largest coordinate, and by u d: a query near the center of the views sees sharply, however far
   away others are. Stored floats, and integers up to 2^24, are exact: slack 0. The difference of two views is rounded
   by a factor of 1 + u, and the sum of squares, by two fused operations, by 1 + 3 u: a point at distance d is found at
   most at ((d + slack) (1 + 4 u))². What vanishes in squares of floats
   only seems nearer; what vanishes in those of doubles is covered by 2^-500 of the norm. Gaps of boxes are differences
   of the same floats, rounded in the same way and hence never larger than those of the points inside. */
#ifndef MOTE_KNN_TRAVERSAL_CUDA_H
#define MOTE_KNN_TRAVERSAL_CUDA_H

#include <float.h>

#include "device/cuda/warp.cuh"
#include "knn/knn_cuda.h"
#include "math/search.h"

/* The largest size of a coordinate. */
static __device__ inline float knn_extent_size(const knn_cuda_extent *extent) {
    float size = 0;
    for (int k = 0; k < 3; k++) size = fmaxf(size, fmaxf(fabsf(extent->low[k]), fabsf(extent->high[k])));
    return size;
}

/* The slack of a query whose view is at x, y, z. */
template <int KIND>
static __device__ __forceinline__ float knn_slack(const knn_cuda_extent *points, const knn_cuda_extent *queries,
                                                  float x, float y, float z) {
    if (KIND == KNN_FLOAT) return 0;
    if (KIND == KNN_INT && fmaxf(knn_extent_size(points), knn_extent_size(queries)) <= 0x1p24f) return 0;
    return fmaxf(fabsf(x), fmaxf(fabsf(y), fabsf(z))) * 0x1p-22f;
}

/* The largest square of views that a point with this key may have. */
template <int KIND>
static __device__ inline float knn_square_of_key(const knn_metric *metric, uint64_t key, float slack) {
    float square;
    if (KIND == KNN_FLOAT) {
        square = (float)(knn_real(key) * (1 + 0x1p-20));
    } else {
        const float distance =
            KIND == KNN_INT ? sqrtf((float)key) : (float)(sqrt(knn_real(key)) * metric->norm + metric->norm * 0x1p-500);
        const float search_radius = distance * (1 + 0x1p-19f) + slack;
        square = search_radius * search_radius * (1 + 0x1p-19f);
    }
    return square + FLT_MIN;
}

/* Some points have squares of at most this: so far may views be of points that are not farther than all of them. Where
   keys may overflow, and points at any distance have the same, squares bound nothing. */
template <int KIND>
static __device__ inline float knn_square_bound_near(const knn_metric *metric, float square, float slack) {
    float beside = square;
    bool bounds = true;
    if (KIND != KNN_FLOAT) {
        const float more = KIND == KNN_DOUBLE ? (float)(metric->norm * 0x1p-500) : 0;
        const float search_radius = sqrtf(square) * (1 + 0x1p-18f) + 2 * slack + more;
        bounds = KIND == KNN_INT || (double)search_radius < metric->norm * 0x1p510;
        beside = search_radius * search_radius;
    }
    return bounds ? beside * (1 + 0x1p-18f) + 2 * FLT_MIN : INFINITY;
}

/* ---- exact */

typedef struct knn_exact {
    int32_t step[3];
    double value[3];
} knn_exact;

template <int KIND>
static __device__ inline void knn_exact_of(const knn_cuda_points *points, uint32_t at, knn_exact *out) {
    const uint64_t first = (uint64_t)(at / KNN_CUDA_LEAF) * (3 * KNN_CUDA_LEAF) + at % KNN_CUDA_LEAF;
#pragma unroll
    for (uint32_t k = 0; k < 3; k++) {
        const uint64_t i = first + KNN_CUDA_LEAF * k;
        if (KIND == KNN_INT) {
            out->step[k] = __ldg((const int32_t *)points->exact + i);
        } else {
            out->value[k] =
                KIND == KNN_FLOAT ? (double)__ldg(points->views + i) : __ldg((const double *)points->exact + i);
        }
    }
}

template <int KIND>
static __device__ inline uint64_t knn_key(const knn_metric *metric, const knn_exact *a, const knn_exact *b) {
    uint64_t key;
    if (KIND == KNN_INT) {
        key = knn_key_int(a->step[0], a->step[1], a->step[2], b->step[0], b->step[1], b->step[2]);
    } else {
        double d[3];
#pragma unroll
        for (int k = 0; k < 3; k++) {
            d[k] = a->value[k] - b->value[k];
            if (KIND == KNN_DOUBLE) d[k] *= metric->scale[k];
        }
        key = knn_key_real(d[0], d[1], d[2]);
    }
    return key;
}

static __device__ inline bool knn_is_before(uint64_t key, uint32_t index, uint64_t other_key, uint32_t other_index) {
    return key < other_key || (key == other_key && index < other_index);
}

/* Whether a square of distance zero: then only smaller numbers are still wanted. */
static __device__ inline bool knn_is_zero(uint64_t key) { return key == 0; }

/* ---- views */

static __device__ inline float knn_square(float dx, float dy, float dz) { return fmaf(dz, dz, fmaf(dy, dy, dx * dx)); }

static __device__ inline float knn_gap(float low, float high, float other_low, float other_high) {
    return fmaxf(fmaxf(low - other_high, other_low - high), 0);
}

static __device__ inline knn_cuda_box knn_box_at(const knn_cuda_box *boxes, uint64_t i) {
    const float4 low = __ldg((const float4 *)(boxes + i)), high = __ldg((const float4 *)(boxes + i) + 1);
    knn_cuda_box box = {{low.x, low.y, low.z}, 0, {high.x, high.y, high.z}, 0};
    memcpy(&box.min, &low.w, sizeof box.min);
    return box;
}

/* ---- sharp: a query that walks alone is compared by doubles of exact values, boxes too, where views are not exact. So
   it sees as far as keys do, wherever it is and however dense the points are. Squares are in units of views. Only what
   is rounded in doubles, below 2^-50 of a distance, and what vanishes in keys is left open. */

template <int KIND> struct knn_sharp_of { typedef double real; };

template <> struct knn_sharp_of<KNN_FLOAT> { typedef float real; };

template <int KIND> using knn_sharp = typename knn_sharp_of<KIND>::real;

#define KNN_SHARP_MORE (1 + 0x1p-40)

template <int KIND> static __device__ __forceinline__ double knn_sharp_unit(const knn_metric *metric, int k) {
    return KIND == KNN_INT ? 1 : metric->scale[k] * metric->norm;
}

static __device__ __forceinline__ double knn_sharp_square(double dx, double dy, double dz) {
    return fma(dz, dz, fma(dy, dy, dx * dx));
}

/* As knn_square_of_key. */
template <int KIND>
static __device__ inline knn_sharp<KIND> knn_sharp_square_of_key(const knn_metric *metric, uint64_t key) {
    if constexpr (KIND == KNN_FLOAT) {
        return knn_square_of_key<KIND>(metric, key, 0);
    } else {
        const double distance = KIND == KNN_INT ? sqrt((double)key) : sqrt(knn_real(key)) * metric->norm;
        const double search_radius = distance * KNN_SHARP_MORE + metric->norm * 0x1p-500;
        return search_radius * search_radius * KNN_SHARP_MORE + DBL_MIN;
    }
}

/* As knn_square_bound_near. */
template <int KIND>
static __device__ inline knn_sharp<KIND> knn_sharp_bound_near(const knn_metric *metric, knn_sharp<KIND> square) {
    if constexpr (KIND == KNN_FLOAT) {
        return knn_square_bound_near<KIND>(metric, square, 0);
    } else {
        const double search_radius = sqrt(square) * KNN_SHARP_MORE + metric->norm * 0x1p-500;
        const bool bounds = KIND == KNN_INT || search_radius < metric->norm * 0x1p510;
        return bounds ? search_radius * search_radius * KNN_SHARP_MORE + 2 * DBL_MIN : (double)INFINITY;
    }
}

/* The size of a leaf, in units: 0 for points in one place, negative without points. */
template <int KIND> static __device__ inline double knn_leaf_size(const knn_cuda_tree *tree, uint32_t leaf) {
    double size = -(double)INFINITY;
    for (int k = 0; k < 3; k++) {
        const double *const low = tree->sharp + 6 * (uint64_t)leaf + k;
        size = fmax(size, (__ldg(low + 3) - __ldg(low)) * knn_sharp_unit<KIND>(&tree->metric, k));
    }
    return size;
}

#define KNN_COARSE 16 /* times a query's slack that a leaf beside it should be large */

/* Whether points beside the lane's query are nearer to each other than it sees, so that it should walk alone; each lane
   brings the number of a leaf beside, whose points are not all in one place if they are to count. */
template <int KIND>
static __device__ inline bool knn_sees_coarsely(const knn_cuda_tree *tree, uint32_t leaf, bool exists, float slack) {
    if constexpr (KIND == KNN_FLOAT) {
        return false;
    } else {
        if (!__any_sync(CUDA_ALL, slack > 0)) return false;
        const double size = exists ? knn_leaf_size<KIND>(tree, leaf) : 0;
        const float finest = warp_min(size > 0 ? (float)size : INFINITY);
        return finest < KNN_COARSE * slack;
    }
}

/* ---- nodes that wait: children of one node in front of those of nodes above it, ascending */

#define KNN_WAITING 256u /* 64 of the top, 32 of each level below */

static __device__ inline uint32_t knn_node_pack(uint32_t level, uint32_t node) { return level << 28 | node; }

/* Pushes the nodes first + lane of the lanes that want it. Returns how many wait then. */
static __device__ inline uint32_t knn_push(uint32_t *waiting, uint32_t count, uint32_t level, uint32_t node,
                                           bool wanted, uint32_t lane) {
    const uint32_t lanes = __ballot_sync(CUDA_ALL, wanted);
    if (wanted) waiting[count + __popc(lanes >> lane >> 1)] = knn_node_pack(level, node);
    __syncwarp();
    return count + __popc(lanes);
}

/* The sorted place in a tree beside which a query stands. */
static __device__ inline uint32_t knn_insertion_place(const knn_cuda_points *points, uint64_t key,
                                                      uint32_t key_cell_bits, uint32_t key_index_bits) {
    const uint32_t cells = key_cell_bits < points->cell_bits ? key_cell_bits : points->cell_bits;
    const uint64_t wanted = key >> (key_index_bits + 3 * (key_cell_bits - cells));
    const uint32_t shift = points->index_bits + 3 * (points->cell_bits - cells);
    return (uint32_t)mote_lower_bound64(points->keys, points->count, wanted << shift);
}

#endif
