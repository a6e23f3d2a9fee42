/* The walk of a whole warp around one query: 32 boxes at once, then 32 points at once, compared by doubles of exact
   values, nearest nodes first. So it sees as far as keys do, wherever the query is and however dense the points are,
   and most nodes are thrown away unopened. For .cu files only.

     waiting  node    [..., farther, near, nearest]
     square   of gap  [..., 9.1,     4.0,  0.2    ]   of the nodes pushed together only the nearest is in its place

   Squares are in units of views. Only what is rounded in doubles, below 2^-50 of a distance, and what vanishes in keys
   is open. */
#ifndef MOTE_KNN_SINGLE_CUDA_H
#define MOTE_KNN_SINGLE_CUDA_H

#include "knn/cuda/search/knn_walk_cuda.cuh"

#define KNN_AT_ONCE      (CUDA_WARP / KNN_CUDA_LEAF) /* leaves */
#define KNN_DOUBLES_MORE (1 + 0x1p-40)
#define KNN_DOUBLES_LOST 0x1p-535  /* of a distance in the world, as squares vanish; see knn_bounds.h */
#define KNN_SQUARES_LOST 0x1p-1070 /* of a square, by what vanishes when it is summed up */

/* A query: the same in all lanes. */
typedef struct knn_single {
    knn_exact exact;
    double at[3];  /* the same, as doubles */
    uint32_t self; /* its own place, if it does not count; else UINT32_MAX */
} knn_single;

/* What a warp keeps in shared memory. */
typedef struct knn_single_memory {
    uint32_t waiting[KNN_WAITING];
    double square[KNN_WAITING];
} knn_single_memory;

/* An exact value as a double. */
template <int KIND> static __device__ __forceinline__ double knn_double_at(const knn_exact *exact, int k) {
    return KIND == KNN_INT ? (double)exact->step[k] : exact->value[k];
}

static __device__ __forceinline__ double knn_double_square(const double d[3]) {
    return fma(d[2], d[2], fma(d[1], d[1], d[0] * d[0]));
}

template <int KIND> static __device__ inline knn_single knn_single_of(const knn_search_args *args, uint32_t place) {
    knn_single query;
    knn_exact_of<KIND>(&args->queries, place, &query.exact);
#pragma unroll
    for (int k = 0; k < 3; k++) query.at[k] = knn_double_at<KIND>(&query.exact, k);
    query.self = knn_self_place(args, place);
    return query;
}

/* A bound for the square of a key, as knn_square_of_key gives it in floats; singles compare by doubles. */
template <int KIND> static __device__ inline double knn_double_of_key(const knn_metric *metric, uint64_t key) {
    const double distance = KIND == KNN_INT ? sqrt((double)key) : sqrt(knn_real(key)) * metric->norm;
    const double farthest = distance * KNN_DOUBLES_MORE + metric->norm * KNN_DOUBLES_LOST;
    return farthest * farthest * KNN_DOUBLES_MORE + KNN_SQUARES_LOST;
}

/* How far doubles of points may be that are not farther than all of some with squares of at most this; what
   knn_square_bound_near tells of floats. */
template <int KIND> static __device__ inline double knn_double_bound_near(const knn_metric *metric, double square) {
    const double farthest = sqrt(square) * KNN_DOUBLES_MORE + metric->norm * KNN_DOUBLES_LOST;
    const bool bounds = KIND != KNN_DOUBLE || farthest < metric->norm * 0x1p510;
    return bounds ? farthest * farthest * KNN_DOUBLES_MORE + KNN_SQUARES_LOST : (double)INFINITY;
}

/* The square of the distance to a point of the tree; NaN: there is none. */
template <int KIND>
static __device__ inline double knn_single_square(const knn_search_args *args, const knn_single *query, uint32_t at) {
    knn_exact point;
    double d[3];
    knn_exact_of<KIND>(&args->tree.points, at, &point);
#pragma unroll
    for (int k = 0; k < 3; k++) {
        d[k] = (knn_double_at<KIND>(&point, k) - query->at[k]) * knn_unit<KIND>(&args->tree.metric, k);
    }
    return at < args->tree.points.extent->finite ? knn_double_square(d) : (double)NAN;
}

/* The square of the gap to a child; NaN: there is none, or none of its numbers matters. */
template <int KIND>
static __device__ inline double knn_single_gap(const knn_cuda_tree *tree, const knn_single *query, uint32_t level,
                                               uint32_t child, uint32_t resolved) {
    if (child >= tree->nodes[level]) return NAN;
    const uint64_t which = (uint64_t)tree->first[level] + child;
    const knn_cuda_box box = knn_box_at(tree->boxes, which);
    double gap[3];
#pragma unroll
    for (int k = 0; k < 3; k++) {
        const double low = KIND == KNN_FLOAT ? (double)box.low[k] : __ldg(&tree->exact_boxes[which].low[k]);
        const double high = KIND == KNN_FLOAT ? (double)box.high[k] : __ldg(&tree->exact_boxes[which].high[k]);
        gap[k] = fmax(fmax(low - query->at[k], query->at[k] - high), 0.0) * knn_unit<KIND>(&tree->metric, k);
    }
    return box.min <= resolved ? knn_double_square(gap) : (double)NAN;
}

/* Pushes the lanes' children of a square up to max, the nearest last. Returns how many wait then. */
static __device__ __forceinline__ uint32_t knn_single_push(knn_single_memory *memory, uint32_t count, uint32_t level,
                                                           uint32_t child, double square, double max, uint32_t lane) {
    const bool matters = square <= max;
    const double nearest = warp_min(matters ? square : (double)INFINITY);
    const uint32_t lanes = __ballot_sync(CUDA_ALL, matters);
    const uint32_t nearest_lanes = __ballot_sync(CUDA_ALL, matters && square == nearest);
    const uint32_t others = lanes & ~(nearest_lanes & (0 - nearest_lanes)); /* all but the first of those */
    const uint32_t before = others >> lane & 1 ? warp_rank(others) : (uint32_t)__popc(others);
    if (matters) {
        memory->waiting[count + before] = knn_node_pack(level, child);
        memory->square[count + before] = square;
    }
    __syncwarp();
    return count + (uint32_t)__popc(lanes);
}

/* The leaves around, then the nodes that wait: a step is 32 points or 32 boxes. A visitor has
     max       the largest square that matters, from now on
     resolved  of neighbours at distance zero, the largest number that matters
     try_points(args, query, at, square)   each lane has a point and its square; NaN: none, or it does not matter
     settle(args, query, ends)             after each step, and in the end */
template <int KIND, class visitor>
static __device__ inline void knn_walk_single(const knn_search_args *args, const knn_single *query,
                                              knn_leaf_range around, knn_single_memory *memory, uint32_t lane,
                                              visitor *to) {
    const knn_cuda_tree *const tree = &args->tree;
    uint32_t first = around.first, leaves = (uint32_t)((1ull << (around.end - around.first)) - 1);
    uint32_t count = knn_push_top(tree, memory->waiting, lane);
    double square = 0; /* of the gap to the lane's leaf, of those from first on */
    if (lane < count) memory->square[lane] = 0;
    __syncwarp();
    CUDA_ROLLED
    while (leaves != 0 || count > 0) {
        if (leaves != 0) {
            uint32_t mine = leaves;
            for (uint32_t i = 0; i < KNN_AT_ONCE; i++) {
                if (i < lane / KNN_CUDA_LEAF) mine &= mine - 1;
                leaves &= leaves - 1;
            }
            const uint32_t leaf = first + (mine != 0 ? warp_first(mine) : 0);
            const uint32_t at = leaf * KNN_CUDA_LEAF + lane % KNN_CUDA_LEAF;
            const double here = mine != 0 ? knn_single_square<KIND>(args, query, at) : (double)NAN;
            to->try_points(args, query, at, here <= to->max ? here : (double)NAN);
        } else {
            const uint32_t packed = memory->waiting[--count], level = knn_node_level(packed) - 1;
            const uint32_t begin = knn_node_number(packed) * KNN_CUDA_WIDE, child = begin + lane;
            const bool opens = __any_sync(CUDA_ALL, memory->square[count] <= to->max);
            __syncwarp(); /* all have read what is taken: it may be written over */
            if (opens) square = knn_single_gap<KIND>(tree, query, level, child, to->resolved);
            if (opens && level > 0) count = knn_single_push(memory, count, level, child, square, to->max, lane);
            if (opens && level == 0) {
                first = begin;
                leaves = __ballot_sync(CUDA_ALL, child < around.first || child >= around.end);
            }
        }
        to->settle(args, query, false);
        leaves &= __ballot_sync(CUDA_ALL, square <= to->max);
    }
    to->settle(args, query, true);
}

#endif
