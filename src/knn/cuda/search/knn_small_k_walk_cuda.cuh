/* The search of few neighbours (knn_small_k_cuda.cuh), steps 1 to 3: the bound from the points around, and the walk of
   a warp whose 32 queries are four groups. For .cu files only. */
#ifndef MOTE_KNN_SMALL_K_WALK_CUDA_H
#define MOTE_KNN_SMALL_K_WALK_CUDA_H

#include "device/cuda/warp.cuh"
#include "knn/cuda/search/knn_small_k_list_cuda.cuh"
#include "knn/cuda/search/knn_walk_cuda.cuh"

#define SMALL_K_WARPS   8u /* of a block: warps of one place share the first-level cache */
#define SMALL_K_THREADS (SMALL_K_WARPS * CUDA_WARP)
#define SMALL_K_GROUPS  4u   /* of eight lanes */
#define SMALL_K_QUEUE   28u  /* leaves with points that wait */
#define SMALL_K_STACK   96u  /* nodes: 64 of the top, 32 of the level below; if more would wait, groups are deferred */
#define SMALL_K_LISTED  64u  /* leaves of a group to go through */
#define SMALL_K_PARTS   4u   /* lanes that try leaves for one query */
#define SMALL_K_MAX     256u /* leaves that a group goes through; if there are more, it is deferred */
#define SMALL_K_HEAP    128u /* points of a full queue that are a heap; if they are no copies, the query is single */

/* Eight queries: their box, and how far the farthest of them looks. */
typedef struct small_k_group {
    float low[3], max;
    float high[3];
    uint32_t opened_leaves; /* leaves that it went through */
} small_k_group;

/* What the walk needs, except the places of the nearest, of which each lane has a column too. */
typedef struct small_k_walk_memory {
    uint16_t queue[SMALL_K_QUEUE * CUDA_WARP]; /* which of the listed leaves, above the bits of its points that wait */
    small_k_group groups[SMALL_K_GROUPS];
    uint32_t waiting[SMALL_K_STACK];
    uint32_t leaves[SMALL_K_GROUPS][SMALL_K_LISTED];
} small_k_walk_memory;

/* What a warp knows beside its memory: the same in all lanes. */
template <int KIND, bool LOCAL> struct small_k_warp {
    knn_frame<KIND, LOCAL> frame;
    knn_walk<SMALL_K_GROUPS> walk;
    uint32_t own; /* the lowest node in which it begins */
    uint32_t resolved;
};

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

/* ---- 1. the bound */

/* What the points around say: a square that bounds a neighbour, and one that tells how dense they are. */
typedef struct small_k_curve_bound {
    float bound, dense;
} small_k_curve_bound;

static __device__ __forceinline__ float small_k_number_of(uint32_t bits) {
    const float square = __uint_as_float(bits);
    return square <= FLT_MAX ? square : INFINITY;
}

/* The nth least of the squares of SUBSETS subsets of the points around. The bits of squares order as they do, and
   those of NaN, where there is no point, are above all. */
template <int SUBSETS, int KIND, bool LOCAL>
static __device__ __forceinline__ small_k_curve_bound small_k_bound_on_curve(const knn_cuda_tree *tree,
                                                                             const knn_frame<KIND, LOCAL> *frame,
                                                                             knn_leaf_range around, const float at[3],
                                                                             uint32_t nth) {
    uint32_t min[SUBSETS];
#pragma unroll
    for (int i = 0; i < SUBSETS; i++) min[i] = UINT32_MAX;
    CUDA_ROLLED
    for (uint32_t l = around.first; l < around.end; l += SUBSETS / KNN_CUDA_LEAF) {
#pragma unroll
        for (uint32_t part = 0; part < SUBSETS / KNN_CUDA_LEAF; part++) {
            knn_leaf_views v;
            if (l + part >= around.end) break;
            knn_load_leaf<KIND, LOCAL>(tree, frame, l + part, &v);
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
                                                              small_k_group *groups, uint32_t *resolved) {
    __syncwarp(); /* all have read what was told before */
    const float max = warp_max<8>(lane->max);
    if (lane->number % 8 == 0) {
        groups[lane->number / 8].max = max;
        groups[lane->number / 8].opened_leaves = opened_leaves;
    }
    *resolved = warp_max(lane->max >= 0 ? lane->resolved : 0);
    __syncwarp();
}

static __device__ __forceinline__ void small_k_make_groups(const small_k_lane *lane, small_k_group *groups,
                                                           uint32_t *resolved) {
#pragma unroll
    for (int k = 0; k < 3; k++) {
        const float low = warp_min<8>(lane->max >= 0 ? lane->at[k] : INFINITY);
        const float high = warp_max<8>(lane->max >= 0 ? lane->at[k] : -INFINITY);
        if (lane->number % 8 == 0) {
            groups[lane->number / 8].low[k] = low;
            groups[lane->number / 8].high[k] = high;
        }
    }
    small_k_publish_groups(lane, 0, groups, resolved);
}

#define SMALL_K_WIDE 8 /* times as large as the balls around its queries a group's box may be; 0.3 is usual */
#define SMALL_K_FAR  8 /* times the square of others that a query's may be */
#define SMALL_K_STRAYS                                                                                                 \
    8 /* queries of a warp that are left for it; if more look far, it is the others that are special */

/* Whether the box of the lane's group holds much that no query looks at. Copies of points have no density to measure
   that by: then it is as many leaves as the walk finds. */
static __device__ __forceinline__ bool small_k_is_wide(const small_k_lane *lane, float dense,
                                                       const small_k_group *groups) {
    const small_k_group of = groups[lane->number / 8];
    const float max = of.max > 0 ? sqrtf(of.max) : 0;
    float box = 1, balls = lane->max >= 0 ? 2 * sqrtf(fmaxf(dense, lane->max)) : 0;
    balls *= balls * balls;
    balls = warp_sum<8>(dense > 0 ? balls : INFINITY);
#pragma unroll
    for (int k = 0; k < 3; k++) box *= of.high[k] - of.low[k] + 2 * max;
    return box > SMALL_K_WIDE * balls;
}

/* Whether the lane is one of a few that look much farther than others, as where the curve comes by for few points: then
   it knows little of what is around, and all of its group would look as far. Others: the least of each group, the
   largest of these. square: what bounds the lane's k-th neighbour; 0: k copies, which say nothing of how far others
   look. */
static __device__ __forceinline__ bool small_k_searches_far(const small_k_lane *lane, float square) {
    const bool compares = lane->max >= 0 && square > 0;
    float others = warp_min<8>(compares ? lane->max : INFINITY);
    if (others == INFINITY) others = 0; /* a group without queries */
    for (int away = 16; away > 4; away /= 2) others = fmaxf(others, warp_exchange(others, away));
    const bool far = compares && lane->max > SMALL_K_FAR * others;
    const uint32_t strays = (uint32_t)__popc(__ballot_sync(CUDA_ALL, far));
    return far && strays <= SMALL_K_STRAYS;
}

/* Which groups a box may hold a neighbour of, as bits. */
struct small_k_box_test {
    const small_k_group *groups;
    uint32_t resolved;

    __device__ __forceinline__ uint32_t operator()(const knn_cuda_box *box) const {
        uint32_t near = 0;
#pragma unroll
        for (uint32_t g = 0; g < SMALL_K_GROUPS; g++) {
            const small_k_group of = groups[g];
            near |= knn_gap_square(box, of.low, of.high) <= of.max ? 1u << g : 0;
        }
        return box->min <= resolved ? near : 0;
    }
};

static __device__ __forceinline__ uint32_t small_k_listed_for(const knn_walk<SMALL_K_GROUPS> *w, uint32_t of) {
    uint32_t listed = 0;
#pragma unroll
    for (uint32_t g = 0; g < SMALL_K_GROUPS; g++) listed = g == of ? w->listed[g] : listed;
    return listed;
}

/* Eight queries, as the lanes see them that try their leaves: a query has SMALL_K_PARTS lanes. */
typedef struct small_k_eight {
    uint32_t from; /* the lane of the query */
    uint32_t part;
    float at[3], max;
    uint32_t queued;
} small_k_eight;

static __device__ __forceinline__ small_k_eight small_k_eight_of(const small_k_lane *lane, uint32_t group) {
    small_k_eight e;
    e.from = group * 8 + lane->number % 8;
    e.part = lane->number / 8;
#pragma unroll
    for (int k = 0; k < 3; k++) e.at[k] = warp_broadcast(lane->at[k], e.from);
    e.max = warp_broadcast(lane->max, e.from);
    e.queued = warp_broadcast(lane->queued, e.from);
    return e;
}

/* Each lane tries a leaf for its query, from on among those listed. */
template <int KIND, bool LOCAL>
static __device__ __forceinline__ void
small_k_try_leaves(const knn_cuda_tree *tree, const knn_frame<KIND, LOCAL> *frame, const uint32_t *leaves,
                   uint32_t from, uint32_t end, small_k_walk_memory *memory, small_k_eight *e) {
    uint32_t hits = 0;
    if (from + e->part < end) {
        knn_leaf_views v;
        knn_load_leaf<KIND, LOCAL>(tree, frame, leaves[from + e->part], &v);
#pragma unroll
        for (uint32_t j = 0; j < KNN_CUDA_LEAF; j++) {
            const float square = knn_square(v.x[j] - e->at[0], v.y[j] - e->at[1], v.z[j] - e->at[2]);
            hits |= square <= e->max ? 1u << j : 0;
        }
    }
    const uint32_t parts = __ballot_sync(CUDA_ALL, hits != 0) >> (e->from % 8) & 0x01010101u;
    const uint32_t to = e->queued + (uint32_t)__popc(parts & ((1u << 8 * e->part) - 1));
    if (hits != 0) memory->queue[to * CUDA_WARP + e->from] = (uint16_t)((from + e->part) << 8 | hits);
    e->queued += (uint32_t)__popc(parts);
}

static __device__ __forceinline__ void small_k_write_back(const small_k_eight *e, uint32_t group, small_k_lane *lane) {
    const uint32_t queued = warp_broadcast(e->queued, lane->number % 8);
    if (lane->number / 8 == group) lane->queued = queued;
    __syncwarp();
}

/* Whether the lane's queue is full of points. Then floats see them all as near, as from afar a heap is one place; by
   doubles its query finds the nearest of them first. Asked of one queue only: a count of all would take a register. */
static __device__ __forceinline__ bool small_k_is_heap(const small_k_walk_memory *memory, const small_k_lane *lane) {
    uint32_t points = 0;
    if (lane->queued <= SMALL_K_QUEUE - SMALL_K_PARTS) return false;
    CUDA_ROLLED
    for (uint32_t i = 0; i < lane->queued; i++) {
        points += (uint32_t)__popc(memory->queue[i * CUDA_WARP + lane->number] & 0xFF);
    }
    return points > SMALL_K_HEAP;
}

/* The points that wait join the list, each while the next one's view is on its way. */
template <int KIND, bool LOCAL, class LIST>
static __device__ __forceinline__ void small_k_join(const knn_search_args *args, const knn_frame<KIND, LOCAL> *frame,
                                                    const small_k_walk_memory *memory, small_k_lane *lane, LIST *list) {
    const uint32_t self = knn_self_place(args, lane->place);
    const uint32_t *const leaves = memory->leaves[lane->number / 8];
    uint32_t next = 0, hits = 0, leaf = 0, place = SMALL_K_NONE;
    float3 view = make_float3(0, 0, 0);
    CUDA_ROLLED
    for (;;) {
        const uint32_t before = place;
        const float3 view_before = view;
        place = SMALL_K_NONE;
        if (hits == 0 && next < lane->queued) {
            const uint32_t entry = memory->queue[next * CUDA_WARP + lane->number];
            hits = entry & 0xFF;
            leaf = leaves[entry >> 8];
            next++;
        }
        if (hits != 0) {
            place = leaf * KNN_CUDA_LEAF + (uint32_t)__ffs((int)hits) - 1;
            if (LIST::views) view = knn_view_at<KIND, LOCAL>(&args->tree.metric, frame, &args->tree.points, place);
            hits &= hits - 1;
        }
        if (before != SMALL_K_NONE && before != self) list->template add<KIND>(args, lane, before, view_before);
        if (place == SMALL_K_NONE) break;
    }
    __syncwarp();
    list->template lower_bounds<KIND>(args, lane);
    if (LIST::views && small_k_is_heap(memory, lane) && !list->is_idle(args)) lane->max = -1;
    lane->queued = 0;
}

/* Tries the leaves that are listed for all groups. */
template <int KIND, bool LOCAL, class LIST>
static __device__ __forceinline__ void small_k_try_listed(const knn_search_args *args,
                                                          const small_k_warp<KIND, LOCAL> *w,
                                                          small_k_walk_memory *memory, small_k_lane *lane, LIST *list) {
    uint32_t group = 0, i = 0;
    small_k_eight e = small_k_eight_of(lane, 0);
    CUDA_ROLLED
    while (group < SMALL_K_GROUPS) {
        const uint32_t listed = small_k_listed_for(&w->walk, group);
        CUDA_ROLLED
        for (; i < listed; i += SMALL_K_PARTS) {
            if (__any_sync(CUDA_ALL, e.queued > SMALL_K_QUEUE - SMALL_K_PARTS)) break;
            small_k_try_leaves<KIND, LOCAL>(&args->tree, &w->frame, memory->leaves[group], i, listed, memory, &e);
        }
        small_k_write_back(&e, group, lane);
        if (i >= listed) {
            group++;
            i = 0;
        }
        if (i > 0 || group == SMALL_K_GROUPS) small_k_join<KIND, LOCAL>(args, &w->frame, memory, lane, list);
        if (group < SMALL_K_GROUPS) e = small_k_eight_of(lane, group);
    }
}

/* The walk of groups that are made. Those that go through more than max leaves are deferred, and idle queries wait. */
template <int KIND, bool LOCAL, class LIST>
static __device__ __forceinline__ void small_k_traverse(const knn_search_args *args, uint32_t max,
                                                        small_k_walk_memory *memory, small_k_lane *lane,
                                                        const small_k_warp<KIND, LOCAL> *warp, LIST *list) {
    small_k_warp<KIND, LOCAL> w = *warp;
    const knn_leaf_range own = {w.own * KNN_CUDA_WIDE, (w.own + 1) * KNN_CUDA_WIDE};
    w.walk.waiting = knn_push_top(&args->tree, memory->waiting, lane->number);
    CUDA_ROLLED
    for (uint32_t first = w.own;; first = KNN_NO_NODE) {
        const small_k_box_test test = {memory->groups, w.resolved};
        knn_list_leaves<SMALL_K_GROUPS, SMALL_K_STACK>(&args->tree, &w.frame, test, first, own, lane->number,
                                                       memory->waiting, memory->leaves, &w.walk);
        if (w.walk.longest == 0) break;
        small_k_try_listed<KIND, LOCAL>(args, &w, memory, lane, list);
        if (w.walk.waiting == 0) break;
        if (list->is_idle(args)) lane->max = -1;
        const uint32_t group = lane->number / 8,
                       opened_leaves = memory->groups[group].opened_leaves + small_k_listed_for(&w.walk, group);
        if (opened_leaves > max) lane->max = -1;
        small_k_publish_groups(lane, opened_leaves, memory->groups, &w.resolved);
    }
    if (w.walk.waiting > 0) lane->max = -1; /* more nodes than there is room for */
}

#endif
