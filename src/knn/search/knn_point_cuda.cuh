/* The walk of a warp around one query: 32 boxes at once, then 32 points at once, compared sharply
   (knn_traversal_cuda.cuh). For .cu files only. */
#ifndef MOTE_KNN_POINT_CUDA_H
#define MOTE_KNN_POINT_CUDA_H

#include "knn/search/knn_traversal_cuda.cuh"

#define KNN_AT_ONCE (CUDA_WARP / KNN_CUDA_LEAF) /* leaves */

/* A query: the same in all lanes. */
typedef struct knn_query {
    float at[3]; /* its view */
    knn_exact exact;
    uint32_t place; /* its own, if it does not count; else UINT32_MAX */
} knn_query;

template <int KIND> static __device__ inline knn_query knn_query_of(const knn_search_args *args, uint32_t place) {
    const uint64_t at = (uint64_t)(place / KNN_CUDA_LEAF) * (3 * KNN_CUDA_LEAF) + place % KNN_CUDA_LEAF;
    knn_query query_point;
#pragma unroll
    for (uint32_t k = 0; k < 3; k++) query_point.at[k] = args->queries.views[at + KNN_CUDA_LEAF * k];
    knn_exact_of<KIND>(&args->queries, place, &query_point.exact);
    query_point.place = args->exclude_self ? place : UINT32_MAX;
    return query_point;
}

/* An exact coordinate of the query. */
template <int KIND> static __device__ __forceinline__ double knn_sharp_at(const knn_exact *exact, int k) {
    return KIND == KNN_INT ? (double)exact->step[k] : exact->value[k];
}

/* The square of a point of the tree; NaN: there is none. */
template <int KIND>
static __device__ inline knn_sharp<KIND> knn_square_at(const knn_search_args *args, const knn_query *query_point,
                                                       uint32_t at) {
    if constexpr (KIND == KNN_FLOAT) {
        const uint64_t leaf = at / KNN_CUDA_LEAF;
        const float *const v = args->tree.points.views + leaf * (3 * KNN_CUDA_LEAF) + at % KNN_CUDA_LEAF;
        return knn_square(__ldg(v) - query_point->at[0], __ldg(v + KNN_CUDA_LEAF) - query_point->at[1],
                          __ldg(v + 2 * KNN_CUDA_LEAF) - query_point->at[2]);
    } else {
        knn_exact point;
        double d[3];
        knn_exact_of<KIND>(&args->tree.points, at, &point);
#pragma unroll
        for (int k = 0; k < 3; k++) {
            d[k] = (knn_sharp_at<KIND>(&point, k) - knn_sharp_at<KIND>(&query_point->exact, k)) *
                   knn_sharp_unit<KIND>(&args->tree.metric, k);
        }
        return at < args->tree.points.extent->finite ? knn_sharp_square(d[0], d[1], d[2]) : (double)NAN;
    }
}

/* A visitor has max, the largest square that matters, resolved, the largest number that does, and try_points(args,
   query, at, square): each lane has a point and its square; NaN: none, or it does not matter. */
template <int KIND, class visitor>
static __device__ inline void knn_try_leaf(const knn_search_args *args, const knn_query *query_point, uint32_t leaf,
                                           bool exists, uint32_t lane, visitor *to) {
    const uint32_t at = leaf * KNN_CUDA_LEAF + lane % KNN_CUDA_LEAF;
    const knn_sharp<KIND> square = exists ? knn_square_at<KIND>(args, query_point, at) : (knn_sharp<KIND>)NAN;
    to->try_points(args, query_point, at, square <= to->max ? square : (knn_sharp<KIND>)NAN);
}

/* The square of the gap to a box. */
template <int KIND>
static __device__ inline knn_sharp<KIND> knn_gap_square(const knn_cuda_tree *tree, const knn_query *query_point,
                                                        const knn_cuda_box *box, uint64_t which) {
    if constexpr (KIND == KNN_FLOAT) {
        return knn_square(knn_gap(box->low[0], box->high[0], query_point->at[0], query_point->at[0]),
                          knn_gap(box->low[1], box->high[1], query_point->at[1], query_point->at[1]),
                          knn_gap(box->low[2], box->high[2], query_point->at[2], query_point->at[2]));
    } else {
        double gap[3];
#pragma unroll
        for (int k = 0; k < 3; k++) {
            const double *const low = tree->sharp + 6 * which + k;
            const double at = knn_sharp_at<KIND>(&query_point->exact, k);
            gap[k] = fmax(fmax(__ldg(low) - at, at - __ldg(low + 3)), 0.0) * knn_sharp_unit<KIND>(&tree->metric, k);
        }
        return knn_sharp_square(gap[0], gap[1], gap[2]);
    }
}

/* The square of the gap to a child; NaN: there is none, or its numbers do not matter. */
template <int KIND>
static __device__ inline knn_sharp<KIND> knn_child_square(const knn_cuda_tree *tree, const knn_query *query_point,
                                                          uint32_t level, uint32_t child, uint32_t resolved) {
    if (child >= tree->nodes[level]) return (knn_sharp<KIND>)NAN;
    const uint64_t which = (uint64_t)tree->first[level] + child;
    const knn_cuda_box box = knn_box_at(tree->boxes, which);
    const knn_sharp<KIND> square = knn_gap_square<KIND>(tree, query_point, &box, which);
    return box.min <= resolved ? square : (knn_sharp<KIND>)NAN;
}

template <int KIND, class visitor>
static __device__ inline bool knn_child_matters(const knn_cuda_tree *tree, const knn_query *query_point, uint32_t level,
                                                uint32_t child, const visitor *to) {
    return knn_child_square<KIND>(tree, query_point, level, child, to->resolved) <= to->max;
}

/* The leaves of a lowest node that are in lanes. */
template <int KIND, class visitor>
static __device__ inline void knn_try_leaves(const knn_search_args *args, const knn_query *query_point, uint32_t node,
                                             uint32_t lanes, uint32_t lane, visitor *to) {
    while (lanes != 0) {
        uint32_t mine = lanes;
        for (uint32_t i = 0; i < lane / KNN_CUDA_LEAF; i++) mine &= mine - 1;
        const uint32_t leaf = node * KNN_CUDA_WIDE + (uint32_t)(mine != 0 ? __ffs((int)mine) - 1 : 0);
        knn_try_leaf<KIND>(args, query_point, leaf, mine != 0, lane, to);
        for (uint32_t i = 0; i < KNN_AT_ONCE; i++) lanes &= lanes - 1;
    }
}

template <int KIND, class visitor>
static __device__ inline void knn_traversal_point(const knn_search_args *args, const knn_query *query_point,
                                                  uint32_t *waiting, uint32_t lane, visitor *to) {
    const knn_cuda_tree *const tree = &args->tree;
    const uint32_t top = tree->level_count - 1;
    uint32_t count = 0;
    for (uint32_t first = tree->nodes[top] > CUDA_WARP ? CUDA_WARP : 0;; first = 0) {
        const bool wanted = knn_child_matters<KIND>(tree, query_point, top, first + lane, to);
        count = knn_push(waiting, count, top, first + lane, wanted, lane);
        if (first == 0) break;
    }
    while (count > 0) {
        const uint32_t packed = waiting[--count], level = packed >> 28, node = packed & 0x0FFFFFFFu;
        const uint32_t child = node * KNN_CUDA_WIDE + lane;
        __syncwarp();
        const bool wanted = knn_child_matters<KIND>(tree, query_point, level - 1, child, to);
        if (level > 1) {
            count = knn_push(waiting, count, level - 1, child, wanted, lane);
        } else {
            knn_try_leaves<KIND>(args, query_point, node, __ballot_sync(CUDA_ALL, wanted), lane, to);
        }
    }
}

#endif
