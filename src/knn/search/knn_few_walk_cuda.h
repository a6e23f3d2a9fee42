/* The search of few neighbours (knn_few_cuda.h), its first half: what a warp and its lanes know, the bound from the
   points around, and the walk that lists leaves. For .cu files only. */
#ifndef MOTE_KNN_FEW_WALK_CUDA_H
#define MOTE_KNN_FEW_WALK_CUDA_H

#include <math.h>

#include "knn/search/knn_point_cuda.h"

#define FEW_WARPS   8u /* of a block: warps beside each other share the first-level cache */
#define FEW_THREADS (FEW_WARPS * CUDA_WARP)
#define FEW_GROUPS  4u     /* of eight lanes */
#define FEW_QUEUE   28u    /* leaves with points that wait */
#define FEW_WAITING 96u    /* nodes: 64 of the top, 32 of the level below; if more would wait, the groups are left */
#define FEW_SLOTS   31u    /* bits that tell one of them */
#define FEW_LISTED  64u    /* leaves of a group to go through */
#define FEW_AROUND  12u    /* leaves around the queries */
#define FEW_PARTS   4u     /* lanes that try leaves for one query */
#define FEW_MOST    256u   /* leaves that a group goes through; if there are more, it is left */
#define FEW_HURRIED 20000u /* fewer warps than some rounds: half as many, since the last to end is what counts */
#define FEW_REST    2u     /* blocks that a multiprocessor holds of the kernel for what is left */
#define FEW_BLOCKS  (132u * FEW_REST) /* of it: what an H200 holds at once */
#define FEW_NONE    UINT32_MAX

/* Eight queries: their box, and how far the farthest of them looks. */
typedef struct few_group {
    float low[3], most;
    float high[3];
    uint32_t gone; /* leaves that it went through */
} few_group;

/* What the walk needs, but for the places of the nearest, of which each lane has a column too. */
typedef struct few_walking {
    uint16_t
        queue[FEW_QUEUE * CUDA_WARP]; /* which of the leaves that are listed, above the bits of its points that wait */
    few_group groups[FEW_GROUPS];
    uint32_t waiting[FEW_WAITING];
    uint32_t leaves[FEW_GROUPS][FEW_LISTED];
} few_walking;

template <int T> struct few_memory {
    few_walking walk;
    uint32_t place[T * CUDA_WARP];
};

/* What a lane knows. */
typedef struct few_lane {
    uint32_t number;
    uint32_t place;    /* of its query */
    float at[3], most; /* its view, and the largest square that still matters; < 0: no query, or it is left */
    uint32_t settled;  /* of neighbours at distance zero only smaller numbers matter; else UINT32_MAX */
    uint32_t queued;   /* leaves with points that wait */
} few_lane;

/* Where a warp's walk stands: the same in all lanes. */
typedef struct few_walk {
    uint32_t own;     /* the lowest node in which it begins */
    uint32_t waiting; /* nodes */
    uint32_t settled;
    uint32_t listed[FEW_GROUPS], steps; /* leaves to go through, and the most of them */
} few_walk;

/* ---- sorting */

/* Batcher's merge exchange of N numbers: comparisons of a distance D while runs of P are merged, for all D, for all P.
   By templates, so that every place is known when the code is made and the numbers stay in registers. */
template <int N, int P, int D, int I> static __device__ __forceinline__ void few_exchange_from(uint32_t (&v)[N]) {
    if constexpr (I + D < N) {
        constexpr bool paired = I >= D % P && ((I - D % P) / D) % 2 == 0 && I / (2 * P) == (I + D) / (2 * P);
        if constexpr (paired) {
            const uint32_t a = v[I], b = v[I + D];
            v[I] = a < b ? a : b;
            v[I + D] = a < b ? b : a;
        }
        few_exchange_from<N, P, D, I + 1>(v);
    }
}

template <int N, int P, int D> static __device__ __forceinline__ void few_merge_runs(uint32_t (&v)[N]) {
    few_exchange_from<N, P, D, 0>(v);
    if constexpr (D > 1) few_merge_runs<N, P, D / 2>(v);
}

template <int N, int P> static __device__ __forceinline__ void few_sort(uint32_t (&v)[N]) {
    if constexpr (P < N) {
        few_merge_runs<N, P, P>(v);
        few_sort<N, 2 * P>(v);
    }
}

/* ---- places */

/* The leaf beside which a query stands. */
static __device__ __forceinline__ uint32_t few_leaf_of(const knn_cuda_ask *ask, uint64_t place) {
    const knn_cuda_points *const points = &ask->tree.points, *const queries = &ask->queries;
    const uint64_t last = queries->count - 1, query = place < last ? place : last;
    uint32_t beside = (uint32_t)query;
    if (!ask->own) {
        beside = knn_place_beside(points, queries->keys[query], queries->cell_bits, queries->index_bits);
        if (beside >= points->count) beside = points->count - 1;
    }
    return beside / KNN_CUDA_LEAF;
}

/* Leaves [first, end). */
typedef struct few_leaves {
    uint32_t first, end;
} few_leaves;

/* The leaves around one. */
static __device__ __forceinline__ few_leaves few_leaves_around(const knn_cuda_tree *tree, uint32_t leaf) {
    const uint32_t leaves = tree->nodes[0], begin = leaf > FEW_AROUND / 2 ? leaf - FEW_AROUND / 2 : 0;
    few_leaves around;
    around.first = begin + FEW_AROUND <= leaves ? begin : leaves > FEW_AROUND ? leaves - FEW_AROUND : 0;
    around.end = around.first + FEW_AROUND < leaves ? around.first + FEW_AROUND : leaves;
    return around;
}

/* ---- 1. the bound */

struct few_leaf {
    float x[KNN_CUDA_LEAF], y[KNN_CUDA_LEAF], z[KNN_CUDA_LEAF];
};

static __device__ __forceinline__ void few_load_four(const float4 *from, float *to) {
    const float4 v = __ldg(from);
    to[0] = v.x;
    to[1] = v.y;
    to[2] = v.z;
    to[3] = v.w;
}

static __device__ __forceinline__ void few_load_leaf(const float *views, uint32_t leaf, few_leaf *out) {
    const float4 *const from = (const float4 *)(views + (uint64_t)leaf * (3 * KNN_CUDA_LEAF));
    few_load_four(from, out->x);
    few_load_four(from + 1, out->x + 4);
    few_load_four(from + 2, out->y);
    few_load_four(from + 3, out->y + 4);
    few_load_four(from + 4, out->z);
    few_load_four(from + 5, out->z + 4);
}

/* Of points around: a square that bounds a neighbour, and one that tells how dense they are. */
typedef struct few_around {
    float bound, dense;
} few_around;

static __device__ __forceinline__ float few_number_of(uint32_t bits) {
    const float square = __uint_as_float(bits);
    return square <= FLT_MAX ? square : INFINITY;
}

/* The nth least of the squares of SUBSETS subsets of the points around. The bits of squares order as they do, and
   those of NaN, where there is no point, are above all. */
template <int SUBSETS>
static __device__ __forceinline__ few_around few_bound_around(const knn_cuda_tree *tree, uint32_t leaf,
                                                              const float at[3], uint32_t nth) {
    const few_leaves around = few_leaves_around(tree, leaf);
    uint32_t least[SUBSETS];
#pragma unroll
    for (int i = 0; i < SUBSETS; i++) least[i] = UINT32_MAX;
    CUDA_ROLLED
    for (uint32_t l = around.first; l < around.end; l += SUBSETS / KNN_CUDA_LEAF) {
#pragma unroll
        for (uint32_t part = 0; part < SUBSETS / KNN_CUDA_LEAF; part++) {
            few_leaf v;
            if (l + part >= around.end) break;
            few_load_leaf(tree->points.views, l + part, &v);
#pragma unroll
            for (uint32_t j = 0; j < KNN_CUDA_LEAF; j++) {
                uint32_t *const of = &least[part * KNN_CUDA_LEAF + j];
                const uint32_t bits = __float_as_uint(knn_square(v.x[j] - at[0], v.y[j] - at[1], v.z[j] - at[2]));
                *of = bits < *of ? bits : *of;
            }
        }
    }
    few_sort<SUBSETS, 1>(least);
    uint32_t found = UINT32_MAX;
#pragma unroll
    for (int i = 0; i < SUBSETS && i <= (int)KNN_CUDA_FEW; i++) found = (uint32_t)i == nth ? least[i] : found;
    const few_around result = {few_number_of(found), few_number_of(least[SUBSETS / 2])};
    return result;
}

/* ---- 2. the walk */

/* Lets the others know how far the lanes look, and how many leaves the lane's group went through. */
static __device__ __forceinline__ void few_tell_groups(const few_lane *lane, uint32_t gone, few_group *groups,
                                                       few_walk *w) {
    float most = lane->most;
    uint32_t settled = lane->most >= 0 ? lane->settled : 0;
    __syncwarp(); /* all have read what was told before */
    for (int away = 4; away > 0; away /= 2) most = fmaxf(most, __shfl_xor_sync(CUDA_ALL, most, away));
    for (int away = 16; away > 0; away /= 2) {
        const uint32_t other = __shfl_xor_sync(CUDA_ALL, settled, away);
        settled = other > settled ? other : settled;
    }
    if (lane->number % 8 == 0) {
        groups[lane->number / 8].most = most;
        groups[lane->number / 8].gone = gone;
    }
    w->settled = settled;
    __syncwarp();
}

static __device__ __forceinline__ void few_make_groups(const few_lane *lane, few_group *groups, few_walk *w) {
#pragma unroll
    for (int k = 0; k < 3; k++) {
        float low = lane->most >= 0 ? lane->at[k] : INFINITY, high = lane->most >= 0 ? lane->at[k] : -INFINITY;
        for (int away = 4; away > 0; away /= 2) {
            low = fminf(low, __shfl_xor_sync(CUDA_ALL, low, away));
            high = fmaxf(high, __shfl_xor_sync(CUDA_ALL, high, away));
        }
        if (lane->number % 8 == 0) {
            groups[lane->number / 8].low[k] = low;
            groups[lane->number / 8].high[k] = high;
        }
    }
    few_tell_groups(lane, 0, groups, w);
}

#define FEW_WIDE   8 /* times as large as the balls around its queries a group's box may be; 0.3 is usual */
#define FEW_FAR    8 /* times the square of others that a query's may be */
#define FEW_STRAYS 8 /* queries of a warp that are left for it; if more look far, it is the others that are special */

/* Whether the box of the lane's group holds much that no query looks at. */
static __device__ __forceinline__ bool few_is_wide(const few_lane *lane, float dense, const few_group *groups) {
    const few_group of = groups[lane->number / 8];
    const float most = of.most > 0 ? sqrtf(of.most) : 0;
    float box = 1, balls = lane->most >= 0 ? 2 * sqrtf(fmaxf(dense, lane->most)) : 0;
    balls *= balls * balls;
    for (int away = 4; away > 0; away /= 2) balls += __shfl_xor_sync(CUDA_ALL, balls, away);
#pragma unroll
    for (int k = 0; k < 3; k++) box *= of.high[k] - of.low[k] + 2 * most;
    return box > FEW_WIDE * balls;
}

/* Whether the lane is one of a few that look much farther than others, as where the curve comes by for few points: then
   it knows little of what is around, and all of its group would look as far. Others: the least of each group, the
   largest of these. */
static __device__ __forceinline__ bool few_looks_far(const few_lane *lane) {
    float others = lane->most >= 0 ? lane->most : INFINITY;
    for (int away = 4; away > 0; away /= 2) others = fminf(others, __shfl_xor_sync(CUDA_ALL, others, away));
    if (others == INFINITY) others = 0; /* a group without queries */
    for (int away = 16; away > 4; away /= 2) others = fmaxf(others, __shfl_xor_sync(CUDA_ALL, others, away));
    const bool far = lane->most > FEW_FAR * others;
    const uint32_t strays = (uint32_t)__popc(__ballot_sync(CUDA_ALL, far));
    return far && strays <= FEW_STRAYS;
}

/* Which groups the lane's child of a node may hold a neighbour of, as bits. */
static __device__ __forceinline__ uint32_t few_child_matters(const knn_cuda_tree *tree, const few_group *groups,
                                                             uint32_t settled, uint32_t level, uint32_t child) {
    if (child >= tree->nodes[level]) return 0;
    const knn_cuda_box box = knn_box_at(tree->boxes, (uint64_t)tree->first[level] + child);
    uint32_t near = 0;
#pragma unroll
    for (uint32_t g = 0; g < FEW_GROUPS; g++) {
        const few_group of = groups[g];
        const float square = knn_square(knn_gap(box.low[0], box.high[0], of.low[0], of.high[0]),
                                        knn_gap(box.low[1], box.high[1], of.low[1], of.high[1]),
                                        knn_gap(box.low[2], box.high[2], of.low[2], of.high[2]));
        near |= square <= of.most ? 1u << g : 0;
    }
    return box.least <= settled ? near : 0;
}

/* Lists the leaves of a lowest node that matter, for each group. near: of the lane's. */
static __device__ __forceinline__ void few_list_leaves(few_walking *memory, uint32_t leaf, uint32_t near,
                                                       uint32_t number, few_walk *w) {
#pragma unroll
    for (uint32_t g = 0; g < FEW_GROUPS; g++) {
        const bool listed = (near >> g & 1) != 0;
        const uint32_t lanes = __ballot_sync(CUDA_ALL, listed);
        if (listed) memory->leaves[g][w->listed[g] + (uint32_t)__popc(lanes & ((1u << number) - 1))] = leaf;
        w->listed[g] += (uint32_t)__popc(lanes);
        w->steps = w->listed[g] > w->steps ? w->listed[g] : w->steps;
    }
}

static __device__ __forceinline__ uint32_t few_listed_for(const few_walk *w, uint32_t of) {
    uint32_t listed = 0;
#pragma unroll
    for (uint32_t g = 0; g < FEW_GROUPS; g++) listed = g == of ? w->listed[g] : listed;
    return listed;
}

/* Lists leaves as long as there is room. own_first: those of the own node before all others. */
static __device__ __forceinline__ void few_walk_on(const knn_cuda_tree *tree, few_walking *memory, uint32_t number,
                                                   bool own_first, few_walk *w) {
    w->steps = 0;
#pragma unroll
    for (uint32_t g = 0; g < FEW_GROUPS; g++) w->listed[g] = 0;
    __syncwarp(); /* all have read the lists */
    while (w->waiting > 0 && w->waiting <= FEW_WAITING - CUDA_WARP && w->steps <= FEW_LISTED - KNN_CUDA_WIDE) {
        const uint32_t packed = own_first ? knn_node_pack(1, w->own) : memory->waiting[--w->waiting];
        const uint32_t level = packed >> 28, node = packed & 0x0FFFFFFFu;
        __syncwarp();
        if (level > 1 || own_first || node != w->own) {
            const uint32_t child = node * KNN_CUDA_WIDE + number;
            const uint32_t near = few_child_matters(tree, memory->groups, w->settled, level - 1, child);
            if (level > 1) {
                w->waiting = knn_push(memory->waiting, w->waiting, level - 1, child, near != 0, number);
            } else {
                few_list_leaves(memory, child, near, number, w);
            }
        }
        own_first = false;
    }
    __syncwarp();
}

/* One node, or two, above all that there are. Returns how many wait then. */
static __device__ __forceinline__ uint32_t few_push_top(const knn_cuda_tree *tree, uint32_t *waiting, uint32_t number) {
    const uint32_t count = tree->nodes[tree->level_count - 1] > KNN_CUDA_WIDE ? 2 : 1;
    if (number < count) waiting[number] = knn_node_pack(tree->level_count, count - 1 - number);
    __syncwarp();
    return count;
}

#endif
