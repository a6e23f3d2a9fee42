/* The search of few neighbours (knn_small_k_cuda.cuh), its first half: what a warp and its lanes know, the bound from
   the points around, and the walk that lists leaves. For .cu files only. */
#ifndef MOTE_KNN_SMALL_K_TRAVERSAL_CUDA_H
#define MOTE_KNN_SMALL_K_TRAVERSAL_CUDA_H

#include <math.h>

#include "knn/search/knn_point_cuda.cuh"

#define SMALL_K_WARPS        8u /* of a block: warps beside each other share the first-level cache */
#define SMALL_K_THREADS      (SMALL_K_WARPS * CUDA_WARP)
#define SMALL_K_GROUPS       4u  /* of eight lanes */
#define SMALL_K_QUEUE        28u /* leaves with points that wait */
#define SMALL_K_STACK        96u /* nodes: 64 of the top, 32 of the level below; if more would wait, the groups are left */
#define SMALL_K_SLOTS        31u    /* bits that tell one of them */
#define SMALL_K_LISTED       64u    /* leaves of a group to go through */
#define SMALL_K_CURVE_POINTS 12u    /* leaves around the queries */
#define SMALL_K_PARTS        4u     /* lanes that try leaves for one query */
#define SMALL_K_MAX          256u   /* leaves that a group goes through; if there are more, it is left */
#define SMALL_K_HURRIED      20000u /* fewer warps than some rounds: half as many, since the last to end is what counts */
#define SMALL_K_DEFERRED     2u     /* blocks of the kernel for deferred queries that a multiprocessor holds */
#define SMALL_K_NONE         UINT32_MAX

/* Eight queries: their box, and how far the farthest of them looks. */
typedef struct small_k_group {
    float low[3], max;
    float high[3];
    uint32_t opened_leaves; /* leaves that it went through */
} small_k_group;

/* What the traversal needs, except the places of the nearest, of which each lane has a column too. */
typedef struct small_k_traversal_memory {
    uint16_t queue[SMALL_K_QUEUE *
                   CUDA_WARP]; /* which of the leaves that are listed, above the bits of its points that wait */
    small_k_group groups[SMALL_K_GROUPS];
    uint32_t waiting[SMALL_K_STACK];
    uint32_t leaves[SMALL_K_GROUPS][SMALL_K_LISTED];
} small_k_traversal_memory;

template <int T> struct small_k_memory {
    small_k_traversal_memory traversal;
    uint32_t place[T * CUDA_WARP];
};

/* What a lane knows. */
typedef struct small_k_lane {
    uint32_t number;
    uint32_t place;    /* of its query */
    float at[3], max;  /* its view, and the largest square that still matters; < 0: no query, or it is left */
    float slack;       /* see knn_traversal_cuda.cuh */
    uint32_t resolved; /* of neighbours at distance zero only smaller numbers matter; else UINT32_MAX */
    uint32_t queued;   /* leaves with points that wait */
} small_k_lane;

/* Where a warp's walk stands: the same in all lanes. */
typedef struct small_k_traversal {
    uint32_t own;     /* the lowest node in which it begins */
    uint32_t waiting; /* nodes */
    uint32_t resolved;
    uint32_t listed[SMALL_K_GROUPS], steps; /* leaves to go through, and the most of them */
} small_k_traversal;

/* ---- sorting */

/* Batcher's merge exchange of N numbers: comparisons of a distance D while runs of P are merged, for all D, for all P.
   By templates, so that every place is known when the code is made and the numbers stay in registers. */
template <int N, int P, int D, int I> static __device__ __forceinline__ void small_k_exchange_from(uint32_t (&v)[N]) {
    if constexpr (I + D < N) {
        constexpr bool paired = I >= D % P && ((I - D % P) / D) % 2 == 0 && I / (2 * P) == (I + D) / (2 * P);
        if constexpr (paired) {
            const uint32_t a = v[I], b = v[I + D];
            v[I] = a < b ? a : b;
            v[I + D] = a < b ? b : a;
        }
        small_k_exchange_from<N, P, D, I + 1>(v);
    }
}

template <int N, int P, int D> static __device__ __forceinline__ void small_k_merge_runs(uint32_t (&v)[N]) {
    small_k_exchange_from<N, P, D, 0>(v);
    if constexpr (D > 1) small_k_merge_runs<N, P, D / 2>(v);
}

template <int N, int P> static __device__ __forceinline__ void small_k_sort(uint32_t (&v)[N]) {
    if constexpr (P < N) {
        small_k_merge_runs<N, P, P>(v);
        small_k_sort<N, 2 * P>(v);
    }
}

/* ---- places */

/* The leaf beside which a query stands. */
static __device__ __forceinline__ uint32_t small_k_leaf_of(const knn_search_args *args, uint64_t place) {
    const knn_cuda_points *const points = &args->tree.points, *const queries = &args->queries;
    const uint64_t last = queries->count - 1, query = place < last ? place : last;
    uint32_t beside = (uint32_t)query;
    if (!args->own) {
        beside = knn_insertion_place(points, queries->keys[query], queries->cell_bits, queries->index_bits);
        if (beside >= points->count) beside = points->count - 1;
    }
    return beside / KNN_CUDA_LEAF;
}

/* Leaves [first, end). */
typedef struct small_k_leaves {
    uint32_t first, end;
} small_k_leaves;

/* The leaves around one. */
static __device__ __forceinline__ small_k_leaves small_k_leaves_around(const knn_cuda_tree *tree, uint32_t leaf) {
    const uint32_t leaves = tree->nodes[0],
                   begin = leaf > SMALL_K_CURVE_POINTS / 2 ? leaf - SMALL_K_CURVE_POINTS / 2 : 0;
    small_k_leaves around;
    around.first = begin + SMALL_K_CURVE_POINTS <= leaves ? begin
                   : leaves > SMALL_K_CURVE_POINTS        ? leaves - SMALL_K_CURVE_POINTS
                                                          : 0;
    around.end = around.first + SMALL_K_CURVE_POINTS < leaves ? around.first + SMALL_K_CURVE_POINTS : leaves;
    return around;
}

/* ---- 1. the bound */

struct small_k_leaf {
    float x[KNN_CUDA_LEAF], y[KNN_CUDA_LEAF], z[KNN_CUDA_LEAF];
};

static __device__ __forceinline__ void small_k_load_four(const float4 *from, float *to) {
    const float4 v = __ldg(from);
    to[0] = v.x;
    to[1] = v.y;
    to[2] = v.z;
    to[3] = v.w;
}

static __device__ __forceinline__ void small_k_load_leaf(const float *views, uint32_t leaf, small_k_leaf *out) {
    const float4 *const from = (const float4 *)(views + (uint64_t)leaf * (3 * KNN_CUDA_LEAF));
    small_k_load_four(from, out->x);
    small_k_load_four(from + 1, out->x + 4);
    small_k_load_four(from + 2, out->y);
    small_k_load_four(from + 3, out->y + 4);
    small_k_load_four(from + 4, out->z);
    small_k_load_four(from + 5, out->z + 4);
}

/* Of points around: a square that bounds a neighbour, and one that tells how dense they are. */
typedef struct small_k_curve_bound {
    float bound, dense;
} small_k_curve_bound;

static __device__ __forceinline__ float small_k_number_of(uint32_t bits) {
    const float square = __uint_as_float(bits);
    return square <= FLT_MAX ? square : INFINITY;
}

/* The nth least of the squares of SUBSETS subsets of the points around. The bits of squares order as they do, and
   those of NaN, where there is no point, are above all. */
template <int SUBSETS>
static __device__ __forceinline__ small_k_curve_bound small_k_bound_on_curve(const knn_cuda_tree *tree, uint32_t leaf,
                                                                             const float at[3], uint32_t nth) {
    const small_k_leaves around = small_k_leaves_around(tree, leaf);
    uint32_t min[SUBSETS];
#pragma unroll
    for (int i = 0; i < SUBSETS; i++) min[i] = UINT32_MAX;
    CUDA_ROLLED
    for (uint32_t l = around.first; l < around.end; l += SUBSETS / KNN_CUDA_LEAF) {
#pragma unroll
        for (uint32_t part = 0; part < SUBSETS / KNN_CUDA_LEAF; part++) {
            small_k_leaf v;
            if (l + part >= around.end) break;
            small_k_load_leaf(tree->points.views, l + part, &v);
#pragma unroll
            for (uint32_t j = 0; j < KNN_CUDA_LEAF; j++) {
                uint32_t *const of = &min[part * KNN_CUDA_LEAF + j];
                const uint32_t bits = __float_as_uint(knn_square(v.x[j] - at[0], v.y[j] - at[1], v.z[j] - at[2]));
                *of = bits < *of ? bits : *of;
            }
        }
    }
    small_k_sort<SUBSETS, 1>(min);
    uint32_t found = UINT32_MAX;
#pragma unroll
    for (int i = 0; i < SUBSETS && i <= (int)KNN_CUDA_SMALL_K; i++) found = (uint32_t)i == nth ? min[i] : found;
    const small_k_curve_bound result = {small_k_number_of(found), small_k_number_of(min[SUBSETS / 2])};
    return result;
}

/* ---- 2. the walk */

/* Lets the others know how far the lanes look, and how many leaves the lane's group went through. */
static __device__ __forceinline__ void small_k_publish_groups(const small_k_lane *lane, uint32_t opened_leaves,
                                                              small_k_group *groups, small_k_traversal *w) {
    __syncwarp(); /* all have read what was told before */
    const float max = warp_max<8>(lane->max);
    const uint32_t resolved = warp_max(lane->max >= 0 ? lane->resolved : 0);
    if (lane->number % 8 == 0) {
        groups[lane->number / 8].max = max;
        groups[lane->number / 8].opened_leaves = opened_leaves;
    }
    w->resolved = resolved;
    __syncwarp();
}

static __device__ __forceinline__ void small_k_make_groups(const small_k_lane *lane, small_k_group *groups,
                                                           small_k_traversal *w) {
#pragma unroll
    for (int k = 0; k < 3; k++) {
        const float low = warp_min<8>(lane->max >= 0 ? lane->at[k] : INFINITY);
        const float high = warp_max<8>(lane->max >= 0 ? lane->at[k] : -INFINITY);
        if (lane->number % 8 == 0) {
            groups[lane->number / 8].low[k] = low;
            groups[lane->number / 8].high[k] = high;
        }
    }
    small_k_publish_groups(lane, 0, groups, w);
}

#define SMALL_K_WIDE 8 /* times as large as the balls around its queries a group's box may be; 0.3 is usual */
#define SMALL_K_FAR  8 /* times the square of others that a query's may be */
#define SMALL_K_STRAYS                                                                                                 \
    8 /* queries of a warp that are left for it; if more look far, it is the others that are special */

/* Whether the box of the lane's group holds much that no query looks at. */
static __device__ __forceinline__ bool small_k_is_wide(const small_k_lane *lane, float dense,
                                                       const small_k_group *groups) {
    const small_k_group of = groups[lane->number / 8];
    const float max = of.max > 0 ? sqrtf(of.max) : 0;
    float box = 1, balls = lane->max >= 0 ? 2 * sqrtf(fmaxf(dense, lane->max)) : 0;
    balls *= balls * balls;
    balls = warp_sum<8>(balls);
#pragma unroll
    for (int k = 0; k < 3; k++) box *= of.high[k] - of.low[k] + 2 * max;
    return box > SMALL_K_WIDE * balls;
}

/* Whether the lane is one of a few that look much farther than others, as where the curve comes by for few points: then
   it knows little of what is around, and all of its group would look as far. Others: the least of each group, the
   largest of these. */
static __device__ __forceinline__ bool small_k_searches_far(const small_k_lane *lane) {
    float others = warp_min<8>(lane->max >= 0 ? lane->max : INFINITY);
    if (others == INFINITY) others = 0; /* a group without queries */
    for (int away = 16; away > 4; away /= 2) others = fmaxf(others, __shfl_xor_sync(CUDA_ALL, others, away));
    const bool far = lane->max > SMALL_K_FAR * others;
    const uint32_t strays = (uint32_t)__popc(__ballot_sync(CUDA_ALL, far));
    return far && strays <= SMALL_K_STRAYS;
}

/* Which groups the lane's child of a node may hold a neighbour of, as bits. */
static __device__ __forceinline__ uint32_t small_k_child_matters(const knn_cuda_tree *tree, const small_k_group *groups,
                                                                 uint32_t resolved, uint32_t level, uint32_t child) {
    if (child >= tree->nodes[level]) return 0;
    const knn_cuda_box box = knn_box_at(tree->boxes, (uint64_t)tree->first[level] + child);
    uint32_t near = 0;
#pragma unroll
    for (uint32_t g = 0; g < SMALL_K_GROUPS; g++) {
        const small_k_group of = groups[g];
        const float square = knn_square(knn_gap(box.low[0], box.high[0], of.low[0], of.high[0]),
                                        knn_gap(box.low[1], box.high[1], of.low[1], of.high[1]),
                                        knn_gap(box.low[2], box.high[2], of.low[2], of.high[2]));
        near |= square <= of.max ? 1u << g : 0;
    }
    return box.min <= resolved ? near : 0;
}

/* Lists the leaves of a lowest node that matter, for each group. near: of the lane's. */
static __device__ __forceinline__ void small_k_list_leaves(small_k_traversal_memory *memory, uint32_t leaf,
                                                           uint32_t near, small_k_traversal *w) {
#pragma unroll
    for (uint32_t g = 0; g < SMALL_K_GROUPS; g++) {
        const bool listed = (near >> g & 1) != 0;
        const uint32_t at = warp_append(listed, &w->listed[g]);
        if (listed) memory->leaves[g][at] = leaf;
        w->steps = w->listed[g] > w->steps ? w->listed[g] : w->steps;
    }
}

static __device__ __forceinline__ uint32_t small_k_listed_for(const small_k_traversal *w, uint32_t of) {
    uint32_t listed = 0;
#pragma unroll
    for (uint32_t g = 0; g < SMALL_K_GROUPS; g++) listed = g == of ? w->listed[g] : listed;
    return listed;
}

/* Lists leaves as long as there is room. own_first: those of the own node before all others. */
static __device__ __forceinline__ void small_k_traverse_next(const knn_cuda_tree *tree,
                                                             small_k_traversal_memory *memory, uint32_t number,
                                                             bool own_first, small_k_traversal *w) {
    w->steps = 0;
#pragma unroll
    for (uint32_t g = 0; g < SMALL_K_GROUPS; g++) w->listed[g] = 0;
    __syncwarp(); /* all have read the lists */
    while (w->waiting > 0 && w->waiting <= SMALL_K_STACK - CUDA_WARP && w->steps <= SMALL_K_LISTED - KNN_CUDA_WIDE) {
        const uint32_t packed = own_first ? knn_node_pack(1, w->own) : memory->waiting[--w->waiting];
        const uint32_t level = packed >> 28, node = packed & 0x0FFFFFFFu;
        __syncwarp();
        if (level > 1 || own_first || node != w->own) {
            const uint32_t child = node * KNN_CUDA_WIDE + number;
            const uint32_t near = small_k_child_matters(tree, memory->groups, w->resolved, level - 1, child);
            if (level > 1) {
                w->waiting = knn_push(memory->waiting, w->waiting, level - 1, child, near != 0, number);
            } else {
                small_k_list_leaves(memory, child, near, w);
            }
        }
        own_first = false;
    }
    __syncwarp();
}

/* One node, or two, above all that there are. Returns how many wait then. */
static __device__ __forceinline__ uint32_t small_k_push_top(const knn_cuda_tree *tree, uint32_t *waiting,
                                                            uint32_t number) {
    const uint32_t count = tree->nodes[tree->level_count - 1] > KNN_CUDA_WIDE ? 2 : 1;
    if (number < count) waiting[number] = knn_node_pack(tree->level_count, count - 1 - number);
    __syncwarp();
    return count;
}

#endif
