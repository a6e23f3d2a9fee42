/* What the searches on the device share: frames, in which floats rule out, and exact keys, which decide. For .cu files
   only.

     the tree's frame  views as the index stores them; their zero is the middle of nearly all points
     a local frame     views made anew from exact values, as they are loaded; their zero is a query of the warp

   A view differs from the true position, in units of its frame, by at most u = 2^-24 of its size, on each axis. That of
   a point is at most as large as the query's and their distance d together, so the difference of the two is off by less
   than slack = 2^-22 of the query's largest coordinate, and by u d: queries near the zero of their frame see sharply,
   however far away other points are. Stored floats, and integers up to 2^24, are exact: slack 0. The difference of two
   views is rounded by a factor of 1 + u, and the sum of squares, by two fused operations, by 1 + 3 u: a point at
   distance d is found at most at ((d + slack) (1 + 4 u))². What vanishes in squares of floats only seems nearer; what
   vanishes in those of doubles is covered by 2^-500 of the norm. Gaps of boxes are differences of the same floats,
   rounded in the same way and hence never larger than those of the points inside. */
#ifndef MOTE_KNN_FRAME_CUDA_H
#define MOTE_KNN_FRAME_CUDA_H

#include <float.h>
#include <math.h>

#include "device/cuda/warp.cuh"
#include "knn/cuda/knn_cuda.h"
#include "math/search.h"

/* Where in the tree the point stands that a query is, and that it does not want as its neighbour; UINT32_MAX: it wants
   all. */
static __device__ __forceinline__ uint32_t knn_self_place(const knn_search_args *args, uint32_t place) {
    if (!args->exclude_self) return UINT32_MAX;
    return args->self != NULL ? __ldg(args->self + place) : place;
}

/* A kind as a constant; calls launch with it: of.kind. */
template <int KIND> struct knn_kind_of { static constexpr int kind = KIND; };

template <class LAUNCH> static inline void knn_for_kind(knn_kind kind, const LAUNCH &launch) {
    switch (kind) {
    case KNN_INT: launch(knn_kind_of<KNN_INT>()); break;
    case KNN_FLOAT: launch(knn_kind_of<KNN_FLOAT>()); break;
    case KNN_DOUBLE: launch(knn_kind_of<KNN_DOUBLE>()); break;
    }
}

/* ---- exact values and keys */

/* Where an axis of a point stands in views and exact values. */
static __device__ __forceinline__ uint64_t knn_slot_of(uint32_t place, uint32_t axis) {
    return (uint64_t)(place / KNN_CUDA_LEAF) * (3 * KNN_CUDA_LEAF) + KNN_CUDA_LEAF * axis + place % KNN_CUDA_LEAF;
}

template <int KIND>
static __device__ inline void knn_exact_of(const knn_cuda_points *points, uint32_t at, knn_exact *out) {
    const uint64_t first = knn_slot_of(at, 0);
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

static __device__ inline bool knn_is_before(uint64_t key, uint32_t index, uint64_t other_key, uint32_t other_index) {
    return key < other_key || (key == other_key && index < other_index);
}

/* Whether a square of distance zero: then only smaller numbers are still wanted. */
static __device__ inline bool knn_is_zero(uint64_t key) { return key == 0; }

/* ---- frames */

template <int KIND, bool LOCAL> struct knn_frame {};

template <int KIND> struct knn_frame<KIND, true> { knn_exact zero; /* of exact values */ };

/* Units of views in one of exact values. */
template <int KIND> static __device__ __forceinline__ double knn_unit(const knn_metric *metric, int k) {
    return KIND == KNN_DOUBLE ? metric->scale[k] * metric->norm : 1;
}

/* A view in a local frame. Rounding keeps order, so boxes of exact values become boxes of views. */
template <int KIND>
static __device__ __forceinline__ float knn_local_view(const knn_metric *metric, const knn_frame<KIND, true> *frame,
                                                       double value, int k) {
    if (KIND == KNN_INT) return (float)(value - (double)frame->zero.step[k]);
    const float away = (float)((value - frame->zero.value[k]) * knn_unit<KIND>(metric, k));
    return fmaxf(fminf(away, KNN_FAR), -KNN_FAR);
}

/* An axis of COUNT points that stand one after the other in a leaf. */
template <int KIND, bool LOCAL, int COUNT>
static __device__ __forceinline__ void knn_load(const knn_metric *metric, const knn_frame<KIND, LOCAL> *frame,
                                                const knn_cuda_points *points, uint32_t place, int axis,
                                                float (&to)[COUNT]) {
    const uint64_t from = knn_slot_of(place, (uint32_t)axis);
    if constexpr (LOCAL) {
#pragma unroll
        for (int i = 0; i < COUNT; i++) {
            const double value = KIND == KNN_INT ? (double)__ldg((const int32_t *)points->exact + from + i)
                                                 : __ldg((const double *)points->exact + from + i);
            to[i] = knn_local_view<KIND>(metric, frame, value, axis);
        }
    } else if constexpr (COUNT % 4 == 0) {
#pragma unroll
        for (int i = 0; i < COUNT; i += 4) {
            const float4 v = __ldg((const float4 *)(points->views + from + i));
            to[i] = v.x;
            to[i + 1] = v.y;
            to[i + 2] = v.z;
            to[i + 3] = v.w;
        }
    } else if constexpr (COUNT == 2) {
        const float2 v = __ldg((const float2 *)(points->views + from));
        to[0] = v.x;
        to[1] = v.y;
    } else {
        static_assert(COUNT == 1, "one point, two, or fours");
        to[0] = __ldg(points->views + from);
    }
    if constexpr (LOCAL) { /* places behind the last point have exact values, but no view */
#pragma unroll
        for (int i = 0; i < COUNT && axis == 0; i++) to[i] = place + i < points->extent->finite ? to[i] : NAN;
    }
}

/* The view of a point. */
template <int KIND, bool LOCAL>
static __device__ __forceinline__ float3 knn_view_at(const knn_metric *metric, const knn_frame<KIND, LOCAL> *frame,
                                                     const knn_cuda_points *points, uint32_t place) {
    float x[1], y[1], z[1];
    knn_load<KIND, LOCAL, 1>(metric, frame, points, place, 0, x);
    knn_load<KIND, LOCAL, 1>(metric, frame, points, place, 1, y);
    knn_load<KIND, LOCAL, 1>(metric, frame, points, place, 2, z);
    return make_float3(x[0], y[0], z[0]);
}

/* The views of a leaf; x is NaN where there is no point. */
struct knn_leaf_views {
    float x[KNN_CUDA_LEAF], y[KNN_CUDA_LEAF], z[KNN_CUDA_LEAF];
};

template <int KIND, bool LOCAL>
static __device__ __forceinline__ void knn_load_leaf(const knn_cuda_tree *tree, const knn_frame<KIND, LOCAL> *frame,
                                                     uint32_t leaf, knn_leaf_views *out) {
    knn_load<KIND, LOCAL, KNN_CUDA_LEAF>(&tree->metric, frame, &tree->points, leaf * KNN_CUDA_LEAF, 0, out->x);
    knn_load<KIND, LOCAL, KNN_CUDA_LEAF>(&tree->metric, frame, &tree->points, leaf * KNN_CUDA_LEAF, 1, out->y);
    knn_load<KIND, LOCAL, KNN_CUDA_LEAF>(&tree->metric, frame, &tree->points, leaf * KNN_CUDA_LEAF, 2, out->z);
}

static __device__ inline knn_cuda_box knn_box_at(const knn_cuda_box *boxes, uint64_t i) {
    const float4 low = __ldg((const float4 *)(boxes + i)), high = __ldg((const float4 *)(boxes + i) + 1);
    knn_cuda_box box = {{low.x, low.y, low.z}, 0, {high.x, high.y, high.z}, 0};
    memcpy(&box.min, &low.w, sizeof box.min);
    return box;
}

/* A box in a frame. */
template <int KIND, bool LOCAL>
static __device__ __forceinline__ knn_cuda_box knn_load_box(const knn_cuda_tree *tree,
                                                            const knn_frame<KIND, LOCAL> *frame, uint64_t which) {
    if constexpr (LOCAL) {
        knn_cuda_box box;
#pragma unroll
        for (int k = 0; k < 3; k++) { /* the unit of an axis may be negative */
            const float low = knn_local_view<KIND>(&tree->metric, frame, __ldg(&tree->exact_boxes[which].low[k]), k);
            const float high = knn_local_view<KIND>(&tree->metric, frame, __ldg(&tree->exact_boxes[which].high[k]), k);
            box.low[k] = fminf(low, high);
            box.high[k] = fmaxf(low, high);
        }
        box.min = __ldg(&tree->boxes[which].min);
        box.spare = 0;
        return box;
    } else {
        return knn_box_at(tree->boxes, which);
    }
}

/* A frame around a query. */
template <int KIND, bool LOCAL>
static __device__ __forceinline__ void knn_frame_at(const knn_cuda_points *queries, uint64_t place,
                                                    knn_frame<KIND, LOCAL> *frame) {
    const uint32_t finite = queries->extent->finite;
    if constexpr (LOCAL) knn_exact_of<KIND>(queries, place < finite ? (uint32_t)place : finite - 1, &frame->zero);
}

/* ---- what floats may err */

/* The largest size of a coordinate. */
static __device__ inline float knn_extent_size(const knn_cuda_extent *extent) {
    float size = 0;
    for (int k = 0; k < 3; k++) size = fmaxf(size, fmaxf(fabsf(extent->low[k]), fabsf(extent->high[k])));
    return size;
}

/* The slack of a query whose view is at x, y, z. */
template <int KIND, bool LOCAL>
static __device__ __forceinline__ float knn_slack(const knn_cuda_extent *points, const knn_cuda_extent *queries,
                                                  float x, float y, float z) {
    if (KIND == KNN_FLOAT) return 0;
    if (KIND == KNN_INT && !LOCAL && fmaxf(knn_extent_size(points), knn_extent_size(queries)) <= 0x1p24f) return 0;
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
    float bound = square;
    bool bounds = true;
    if (KIND != KNN_FLOAT) {
        const float more = KIND == KNN_DOUBLE ? (float)(metric->norm * 0x1p-500) : 0;
        const float search_radius = sqrtf(square) * (1 + 0x1p-18f) + 2 * slack + more;
        bounds = KIND == KNN_INT || (double)search_radius < metric->norm * 0x1p510;
        bound = search_radius * search_radius;
    }
    return bounds ? bound * (1 + 0x1p-18f) + 2 * FLT_MIN : INFINITY;
}

/* The size of a leaf, in units: 0 for points in one place, negative without points. */
template <int KIND> static __device__ inline double knn_leaf_size(const knn_cuda_tree *tree, uint32_t leaf) {
    double size = -(double)INFINITY;
    for (int k = 0; k < 3; k++) {
        const knn_exact_box *const box = &tree->exact_boxes[leaf];
        size = fmax(size, (__ldg(&box->high[k]) - __ldg(&box->low[k])) * fabs(knn_unit<KIND>(&tree->metric, k)));
    }
    return size;
}

#define KNN_COARSE 16 /* times a query's slack that the leaves around it should be large, at least */

/* Whether points around the lane's query are nearer to each other than it sees in its frame: a leaf is smaller than
   `times` its slack. Each lane brings the number of a leaf around, whose points are not all in one place if they are to
   count. */
template <int KIND>
static __device__ inline bool knn_sees_coarsely(const knn_cuda_tree *tree, uint32_t leaf, bool exists, float slack,
                                                float times) {
    if constexpr (KIND == KNN_FLOAT) {
        return false;
    } else {
        if (!__any_sync(CUDA_ALL, slack > 0)) return false;
        const double size = exists ? knn_leaf_size<KIND>(tree, leaf) : 0;
        const float finest = warp_min(size > 0 ? (float)size : INFINITY);
        return finest < times * slack;
    }
}

/* ---- squares and gaps */

static __device__ inline float knn_square(float dx, float dy, float dz) { return fmaf(dz, dz, fmaf(dy, dy, dx * dx)); }

static __device__ inline float knn_gap(float low, float high, float other_low, float other_high) {
    return fmaxf(fmaxf(low - other_high, other_low - high), 0);
}

/* The square of the gap between a box and another one. */
static __device__ __forceinline__ float knn_gap_square(const knn_cuda_box *box, const float *low, const float *high) {
    return knn_square(knn_gap(box->low[0], box->high[0], low[0], high[0]),
                      knn_gap(box->low[1], box->high[1], low[1], high[1]),
                      knn_gap(box->low[2], box->high[2], low[2], high[2]));
}

/* ---- where queries stand among the points */

/* The sorted place in a tree at which a query would be inserted. */
static __device__ inline uint32_t knn_insertion_place(const knn_cuda_points *points, uint64_t key,
                                                      uint32_t key_cell_bits, uint32_t key_index_bits) {
    const uint32_t cells = key_cell_bits < points->cell_bits ? key_cell_bits : points->cell_bits;
    const uint64_t wanted = key >> (key_index_bits + 3 * (key_cell_bits - cells));
    const uint32_t shift = points->index_bits + 3 * (points->cell_bits - cells);
    return (uint32_t)mote_lower_bound64(points->keys, points->count, wanted << shift);
}

/* The leaf at which a query stands, or the last query. */
static __device__ inline uint32_t knn_leaf_of(const knn_search_args *args, uint64_t place) {
    const knn_cuda_points *const points = &args->tree.points, *const queries = &args->queries;
    const uint64_t last = queries->count - 1, query = place < last ? place : last;
    uint32_t at = args->self != NULL ? args->self[query] : (uint32_t)query;
    if (!args->own && args->self == NULL) {
        at = knn_insertion_place(points, queries->keys[query], queries->cell_bits, queries->index_bits);
        if (at >= points->count) at = points->count - 1;
    }
    return at / KNN_CUDA_LEAF;
}

/* Leaves [first, end). */
typedef struct knn_leaf_range {
    uint32_t first, end;
} knn_leaf_range;

/* count leaves around one, fewer only if the tree has fewer: at its ends the range is moved, not cut. */
static __device__ __forceinline__ knn_leaf_range knn_leaves_around(const knn_cuda_tree *tree, uint32_t leaf,
                                                                   uint32_t count) {
    const uint32_t leaves = tree->nodes[0], begin = leaf > count / 2 ? leaf - count / 2 : 0;
    knn_leaf_range around;
    around.first = begin + count <= leaves ? begin : leaves > count ? leaves - count : 0;
    around.end = around.first + count < leaves ? around.first + count : leaves;
    return around;
}

#endif
