/* Up to 16 neighbours on the device, for .cu files: a lane has a query; the 32 queries of a warp, which stand beside
   each other on the curve, walk together. What becomes of the neighbours is the caller's.
   1. The points around them on the curve, each square's least of some subsets: the k-th least of those bounds the k-th
      neighbour.
   2. The walk: from node to node, the lanes try 32 boxes at once, against the boxes of each eight queries. What leaves
      are listed for eight queries all lanes try, four leaves at once. Leaves with points that floats do not rule out
      wait in a queue of the query.
   3. When a queue is full, its points join the T nearest of the query, T above k: a list of 32-bit numbers, squares of
      floats with the place of the point among T in the low bits, which two instructions an entry keep sorted.
   4. In the end these get exact keys, and by them their order. If a point that was left out could be as near as the
      k-th, which points at the same distance are, the query is asked once more, with a list of exact keys.
   Queries so far apart that their boxes hold too much are left: a kernel of their own follows, a warp for each. */
#ifndef MOTE_KNN_FEW_CUDA_H
#define MOTE_KNN_FEW_CUDA_H

#include <math.h>

#include "knn/knn_point_cuda.h"

#define FEW_WARPS   4u
#define FEW_THREADS (FEW_WARPS * CUDA_WARP)
#define FEW_GROUPS  4u   /* of eight lanes */
#define FEW_QUEUE   24u  /* leaves with points that wait */
#define FEW_SLOTS   31u  /* bits that tell one of them */
#define FEW_LISTED  64u  /* leaves of a group to go through */
#define FEW_AROUND  16u  /* leaves around the queries */
#define FEW_PARTS   4u   /* lanes that try leaves for one query */
#define FEW_MOST    256u /* leaves that a group goes through; if there are more, its warp is left */
#define FEW_APART   16u  /* warps of a block that finds the neighbours of those left, each of a query at a time */
#define FEW_BLOCKS  264u /* such blocks: two for each processor of an H200 */
#define FEW_NONE    UINT32_MAX

/* Eight queries: their box, and how far the farthest of them looks. */
typedef struct few_group {
    float low[3], most;
    float high[3], spare;
} few_group;

/* What the walk needs, but for the places of the nearest, of which each lane has a column too. */
typedef struct few_walking {
    uint16_t
        queue[FEW_QUEUE * CUDA_WARP]; /* which of the leaves that are listed, above the bits of its points that wait */
    few_group groups[FEW_GROUPS];
    uint32_t waiting[KNN_WAITING];
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
    float at[3], most; /* its view, and the largest square that still matters; < 0: no query */
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

/* Warps whose queries are too far apart to walk together, in any order. */
typedef struct few_left {
    uint32_t *count, *warps;
} few_left;

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

/* Lets the others know how far the lanes look. */
static __device__ __forceinline__ void few_tell_groups(const few_lane *lane, few_group *groups, few_walk *w) {
    float most = lane->most;
    uint32_t settled = lane->most >= 0 ? lane->settled : 0;
    __syncwarp(); /* all have read what was told before */
    for (int away = 4; away > 0; away /= 2) most = fmaxf(most, __shfl_xor_sync(CUDA_ALL, most, away));
    for (int away = 16; away > 0; away /= 2) {
        const uint32_t other = __shfl_xor_sync(CUDA_ALL, settled, away);
        settled = other > settled ? other : settled;
    }
    if (lane->number % 8 == 0) groups[lane->number / 8].most = most;
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
    few_tell_groups(lane, groups, w);
}

#define FEW_WIDE 16 /* times as large as the balls around its queries a group's box may be; 0.3 is usual */

/* Whether there is a group whose box holds much that no query looks at. */
static __device__ __forceinline__ bool few_are_apart(const few_lane *lane, float dense, const few_group *groups) {
    const few_group of = groups[lane->number / 8];
    const float most = of.most > 0 ? sqrtf(of.most) : 0;
    float box = 1, balls = lane->most >= 0 ? 2 * sqrtf(fmaxf(dense, lane->most)) : 0;
    balls *= balls * balls;
    for (int away = 4; away > 0; away /= 2) balls += __shfl_xor_sync(CUDA_ALL, balls, away);
#pragma unroll
    for (int k = 0; k < 3; k++) box *= of.high[k] - of.low[k] + 2 * most;
    return __any_sync(CUDA_ALL, box > FEW_WIDE * balls) != 0;
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

/* Lists the leaves of a lowest node that matter, for each group. */
static __device__ __forceinline__ void few_list_leaves(const knn_cuda_tree *tree, few_walking *memory, uint32_t node,
                                                       uint32_t number, few_walk *w) {
    const uint32_t leaf = node * KNN_CUDA_WIDE + number;
    const uint32_t near = few_child_matters(tree, memory->groups, w->settled, 0, leaf);
#pragma unroll
    for (uint32_t g = 0; g < FEW_GROUPS; g++) {
        const bool listed = (near >> g & 1) != 0;
        const uint32_t lanes = __ballot_sync(CUDA_ALL, listed);
        if (listed) memory->leaves[g][w->listed[g] + (uint32_t)__popc(lanes & ((1u << number) - 1))] = leaf;
        w->listed[g] += (uint32_t)__popc(lanes);
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
    while ((own_first || w->waiting > 0) && w->steps <= FEW_LISTED - KNN_CUDA_WIDE) {
        uint32_t level = 1, node = w->own;
        if (!own_first) {
            const uint32_t packed = memory->waiting[--w->waiting];
            level = packed >> 28;
            node = packed & 0x0FFFFFFFu;
            __syncwarp();
        }
        if (level > 1) {
            const uint32_t child = node * KNN_CUDA_WIDE + number;
            const bool wanted = few_child_matters(tree, memory->groups, w->settled, level - 1, child) != 0;
            w->waiting = knn_push(memory->waiting, w->waiting, level - 1, child, wanted, number);
        } else if (own_first || node != w->own) {
            few_list_leaves(tree, memory, node, number, w);
#pragma unroll
            for (uint32_t g = 0; g < FEW_GROUPS; g++) w->steps = w->listed[g] > w->steps ? w->listed[g] : w->steps;
        }
        own_first = false;
    }
    __syncwarp();
}

static __device__ __forceinline__ void few_begin(const knn_cuda_tree *tree, few_walking *memory, const few_lane *lane,
                                                 few_walk *w) {
    const uint32_t top = tree->level_count - 1;
    w->waiting = 0;
    for (uint32_t first = tree->nodes[top] > CUDA_WARP ? CUDA_WARP : 0;; first = 0) {
        const uint32_t child = first + lane->number;
        const bool wanted = few_child_matters(tree, memory->groups, w->settled, top, child) != 0;
        w->waiting = knn_push(memory->waiting, w->waiting, top, child, wanted, lane->number);
        if (first == 0) break;
    }
    few_walk_on(tree, memory, lane->number, true, w);
}

/* ---- 3. the nearest */

/* The view of a point. */
typedef struct few_view {
    float x, y, z;
} few_view;

static __device__ __forceinline__ few_view few_view_at(const float *views, uint32_t place) {
    const float *const v = views + (uint64_t)(place / KNN_CUDA_LEAF) * (3 * KNN_CUDA_LEAF) + place % KNN_CUDA_LEAF;
    const few_view view = {__ldg(v), __ldg(v + KNN_CUDA_LEAF), __ldg(v + 2 * KNN_CUDA_LEAF)};
    return view;
}

#define FEW_EMPTY 0xFFFFFFE0u /* above the bits of all squares */

/* Sorted squares; in the low bits where in the lane's column the point's place stands. */
template <int T> struct few_nearest {
    uint32_t packed[T];
    uint32_t lost;    /* the least square of a point that is not among them */
    uint32_t *places; /* the lane's column */

    __device__ __forceinline__ void clear() {
#pragma unroll
        for (int i = 0; i < T; i++) packed[i] = FEW_EMPTY | (uint32_t)i;
        lost = FEW_EMPTY;
    }

    template <int KIND>
    __device__ __forceinline__ void add(const knn_cuda_ask *, const few_lane *lane, uint32_t place, few_view view) {
        const float square = knn_square(view.x - lane->at[0], view.y - lane->at[1], view.z - lane->at[2]);
        const uint32_t bits = __float_as_uint(square) & ~FEW_SLOTS, last = packed[T - 1], slot = last & FEW_SLOTS;
        const uint32_t leaves = bits < last - slot ? last - slot : bits;
        lost = leaves < lost ? leaves : lost;
        if (leaves == bits) return;
        places[slot * CUDA_WARP] = place;
        packed[T - 1] = bits | slot;
#pragma unroll
        for (int i = T - 1; i > 0; i--) {
            const uint32_t a = packed[i - 1], b = packed[i];
            packed[i - 1] = a < b ? a : b;
            packed[i] = a < b ? b : a;
        }
    }

    /* How far the lane looks from now on. */
    template <int KIND> __device__ inline void look_nearer(const knn_cuda_ask *ask, float slack, few_lane *lane) const {
        uint32_t last = 0;
#pragma unroll
        for (int i = 0; i < T; i++) last = (uint32_t)i == ask->k - 1 ? packed[i] : last;
        const float square = __uint_as_float(last | FEW_SLOTS); /* NaN above all numbers */
        if (square <= FLT_MAX)
            lane->most = fminf(lane->most, knn_square_beside<KIND>(&ask->tree.metric, square, slack));
    }

    /* Whether k points are at no distance: of those only the least numbers count, which squares don't tell. */
    __device__ __forceinline__ bool is_idle(const knn_cuda_ask *ask) const {
        bool idle = false;
#pragma unroll
        for (int i = 0; i < T; i++) idle = idle || ((uint32_t)i == ask->k - 1 && packed[i] <= FEW_SLOTS);
        return idle;
    }
};

static __device__ __forceinline__ bool few_in_order(const uint32_t *order, uint64_t key, uint32_t place,
                                                    uint64_t next_key, uint32_t next) {
    if (key != next_key || next == FEW_NONE) return key <= next_key;
    return place != FEW_NONE && order[place] <= order[next];
}

/* The key of a point; UINT64_MAX if it does not count. */
template <int KIND>
static __device__ __forceinline__ uint64_t few_key_of(const knn_cuda_ask *ask, const knn_exact *exact, uint32_t place) {
    knn_exact other;
    knn_exact_of<KIND>(&ask->tree.points, place, &other);
    const uint64_t key = knn_key<KIND>(&ask->tree.metric, exact, &other);
    return key <= ask->limit ? key : UINT64_MAX;
}

/* Points in order of exact keys, the nearest first; FEW_NONE: there are no more. */
template <int T> struct few_found {
    uint64_t key[T];
    uint32_t place[T];

    __device__ __forceinline__ void clear() {
#pragma unroll
        for (int i = 0; i < T; i++) {
            key[i] = UINT64_MAX;
            place[i] = FEW_NONE;
        }
    }

    template <int KIND>
    __device__ __forceinline__ void add(const knn_cuda_ask *ask, const few_lane *lane, uint32_t added, few_view) {
        const uint32_t *const order = ask->tree.points.order;
        knn_exact exact;
        knn_exact_of<KIND>(&ask->queries, lane->place, &exact);
        uint64_t added_key = few_key_of<KIND>(ask, &exact, added);
        if (added_key == UINT64_MAX) return;
#pragma unroll
        for (int i = 0; i < T; i++) { /* what it comes before goes on */
            const uint64_t there_key = key[i];
            const uint32_t there = place[i];
            if (there != FEW_NONE && few_in_order(order, there_key, there, added_key, added)) continue;
            key[i] = added_key;
            place[i] = added;
            added_key = there_key;
            added = there;
        }
    }

    /* The k-th key; UINT64_MAX: there is none. By masks: chosen by a condition, the list would be put into memory. */
    __device__ __forceinline__ uint64_t last_key(uint32_t k) const {
        uint64_t last = 0;
#pragma unroll
        for (int i = 0; i < T; i++) {
            const uint32_t is_last = (uint32_t)i == k - 1 ? UINT32_MAX : 0;
            last |= key[i] & ((uint64_t)is_last << 32 | is_last);
        }
        return last;
    }

    template <int KIND> __device__ inline void look_nearer(const knn_cuda_ask *ask, float slack, few_lane *lane) const {
        const uint64_t last = last_key(ask->k);
        if (last == UINT64_MAX || lane->most < 0) return;
        lane->most = fminf(lane->most, knn_square_of_key<KIND>(&ask->tree.metric, last, slack));
        if (!knn_is_zero(last)) return;
#pragma unroll
        for (int i = 0; i < T; i++) {
            if ((uint32_t)i == ask->k - 1) lane->settled = ask->tree.points.order[place[i]];
        }
    }

    __device__ __forceinline__ bool is_idle(const knn_cuda_ask *) const { return false; }
};

/* The points that wait join the list, each while the next one's view is on its way. */
template <int KIND, class LIST>
static __device__ __forceinline__ void few_join(const knn_cuda_ask *ask, float slack, const few_walking *memory,
                                                few_lane *lane, LIST *list) {
    const uint32_t self = ask->exclude_self ? lane->place : FEW_NONE;
    const uint32_t *const leaves = memory->leaves[lane->number / 8];
    uint32_t next = 0, hits = 0, leaf = 0, place = FEW_NONE;
    few_view view = {0, 0, 0};
    CUDA_ROLLED
    for (;;) {
        const uint32_t before = place;
        const few_view view_before = view;
        place = FEW_NONE;
        if (hits == 0 && next < lane->queued) {
            const uint32_t entry = memory->queue[next * CUDA_WARP + lane->number];
            hits = entry & 0xFF;
            leaf = leaves[entry >> 8];
            next++;
        }
        if (hits != 0) {
            place = leaf * KNN_CUDA_LEAF + (uint32_t)__ffs((int)hits) - 1;
            view = few_view_at(ask->tree.points.views, place);
            hits &= hits - 1;
        }
        if (before != FEW_NONE && before != self) list->template add<KIND>(ask, lane, before, view_before);
        if (place == FEW_NONE) break;
    }
    __syncwarp();
    lane->queued = 0;
    list->template look_nearer<KIND>(ask, slack, lane);
}

/* ---- the walk */

/* Eight queries, as the lanes see them that try their leaves: a query has FEW_PARTS lanes. */
typedef struct few_eight {
    uint32_t from; /* the lane of the query */
    uint32_t part;
    float at[3], most;
    uint32_t queued;
} few_eight;

static __device__ __forceinline__ few_eight few_eight_of(const few_lane *lane, uint32_t group) {
    few_eight e;
    e.from = group * 8 + lane->number % 8;
    e.part = lane->number / 8;
#pragma unroll
    for (int k = 0; k < 3; k++) e.at[k] = __shfl_sync(CUDA_ALL, lane->at[k], (int)e.from);
    e.most = __shfl_sync(CUDA_ALL, lane->most, (int)e.from);
    e.queued = __shfl_sync(CUDA_ALL, lane->queued, (int)e.from);
    return e;
}

/* Each lane tries a leaf for its query, from on among those listed. */
static __device__ __forceinline__ void few_try_leaves(const float *views, const uint32_t *leaves, uint32_t from,
                                                      uint32_t end, few_walking *memory, few_eight *e) {
    uint32_t hits = 0;
    if (from + e->part < end) {
        few_leaf v;
        few_load_leaf(views, leaves[from + e->part], &v);
#pragma unroll
        for (uint32_t j = 0; j < KNN_CUDA_LEAF; j++) {
            const float square = knn_square(v.x[j] - e->at[0], v.y[j] - e->at[1], v.z[j] - e->at[2]);
            hits |= square <= e->most ? 1u << j : 0;
        }
    }
    const uint32_t parts = __ballot_sync(CUDA_ALL, hits != 0) >> (e->from % 8) & 0x01010101u;
    const uint32_t to = e->queued + (uint32_t)__popc(parts & ((1u << 8 * e->part) - 1));
    if (hits != 0) memory->queue[to * CUDA_WARP + e->from] = (uint16_t)((from + e->part) << 8 | hits);
    e->queued += (uint32_t)__popc(parts);
}

static __device__ __forceinline__ void few_give_back(const few_eight *e, uint32_t group, few_lane *lane) {
    const uint32_t queued = __shfl_sync(CUDA_ALL, e->queued, (int)(lane->number % 8));
    if (lane->number / 8 == group) lane->queued = queued;
    __syncwarp();
}

/* Tries the leaves that are listed for all groups. */
template <int KIND, class LIST>
static __device__ __forceinline__ void few_try_listed(const knn_cuda_ask *ask, float slack, const few_walk *w,
                                                      few_walking *memory, few_lane *lane, LIST *list) {
    uint32_t group = 0, i = 0;
    few_eight e = few_eight_of(lane, 0);
    CUDA_ROLLED
    while (group < FEW_GROUPS) {
        const uint32_t listed = few_listed_for(w, group);
        CUDA_ROLLED
        for (; i < listed; i += FEW_PARTS) {
            if (__any_sync(CUDA_ALL, e.queued > FEW_QUEUE - FEW_PARTS)) break;
            few_try_leaves(ask->tree.points.views, memory->leaves[group], i, listed, memory, &e);
        }
        few_give_back(&e, group, lane);
        if (i >= listed) {
            group++;
            i = 0;
        }
        if (i > 0 || group == FEW_GROUPS) few_join<KIND>(ask, slack, memory, lane, list);
        if (group < FEW_GROUPS) e = few_eight_of(lane, group);
    }
}

/* The walk of groups that are made. False: queries are too far apart, or the list is of no use. */
template <int KIND, class LIST>
static __device__ __forceinline__ bool few_walk_together(const knn_cuda_ask *ask, float slack, few_walking *memory,
                                                         few_lane *lane, few_walk *walk, LIST *list) {
    uint32_t in_all = 0;
    few_walk w = *walk;
    few_begin(&ask->tree, memory, lane, &w);
    while (w.steps > 0) {
        few_try_listed<KIND>(ask, slack, &w, memory, lane, list);
        in_all += w.steps;
        if (w.waiting == 0) break;
        if (in_all > FEW_MOST || __any_sync(CUDA_ALL, list->is_idle(ask))) return false;
        few_tell_groups(lane, memory->groups, &w);
        few_walk_on(&ask->tree, memory, lane->number, false, &w);
    }
    return true;
}

/* ---- 4. exact */

/* Whether they are in order, as far as one sees without the numbers of points at the same distance. */
template <int T> static __device__ __forceinline__ bool few_is_strict(const few_found<T> *found) {
    bool strict = true;
#pragma unroll
    for (int i = 0; i + 1 < T; i++) {
        strict = strict && (found->place[i + 1] == FEW_NONE || found->key[i] < found->key[i + 1]);
    }
    return strict;
}

/* Exchanges neighbours that are not in order. Returns whether there were none. */
template <int T> static __device__ __forceinline__ bool few_exchange_pass(const uint32_t *order, few_found<T> *found) {
    bool ordered = true;
#pragma unroll
    for (int i = 0; i + 1 < T; i++) {
        const uint64_t key = found->key[i], next_key = found->key[i + 1];
        const uint32_t place = found->place[i], next = found->place[i + 1];
        if (few_in_order(order, key, place, next_key, next)) continue;
        found->key[i] = next_key;
        found->place[i] = next;
        found->key[i + 1] = key;
        found->place[i + 1] = place;
        ordered = false;
    }
    return ordered;
}

/* The nearest, in order. Returns whether the first k are right. */
template <int KIND, int T>
static __device__ __forceinline__ bool few_decide(const knn_cuda_ask *ask, float slack, few_lane *lane,
                                                  const few_nearest<T> *nearest, few_found<T> *found) {
    knn_exact exact;
    knn_exact_of<KIND>(&ask->queries, lane->place, &exact);
#pragma unroll
    for (int i = 0; i < T; i++) {
        const bool exists = nearest->packed[i] < FEW_EMPTY;
        const uint32_t place = exists ? nearest->places[(nearest->packed[i] & FEW_SLOTS) * CUDA_WARP] : 0;
        const uint64_t key = few_key_of<KIND>(ask, &exact, place);
        found->key[i] = exists ? key : UINT64_MAX;
        found->place[i] = exists && key != UINT64_MAX ? place : FEW_NONE;
    }
    if (!few_is_strict<T>(found)) {
        while (!few_exchange_pass<T>(ask->tree.points.order, found)) {}
    }
    const uint64_t last = found->last_key(ask->k);
    if (last != UINT64_MAX) lane->most = fminf(lane->most, knn_square_of_key<KIND>(&ask->tree.metric, last, slack));
    return nearest->lost == FEW_EMPTY || __uint_as_float(nearest->lost) > lane->most;
}

/* ---- the search */

static __device__ __forceinline__ void few_lane_begin(const knn_cuda_ask *ask, uint64_t first, uint32_t number,
                                                      few_lane *lane) {
    lane->number = number;
    lane->place = (uint32_t)first + number;
    const uint64_t at = (uint64_t)(lane->place / KNN_CUDA_LEAF) * (3 * KNN_CUDA_LEAF) + lane->place % KNN_CUDA_LEAF;
#pragma unroll
    for (uint32_t k = 0; k < 3; k++) lane->at[k] = ask->queries.views[at + KNN_CUDA_LEAF * k];
    lane->most = first + number < ask->queries.extent->finite ? INFINITY : -1;
    lane->settled = UINT32_MAX;
    lane->queued = 0;
}

/* For what rarely is: the queries that the list of squares did not settle, by exact keys, once more, from as near as is
   known by now. A function of its own, so that its lists don't take registers of the others. */
template <int KIND, int T>
static __device__ __noinline__ bool few_search_again(const knn_cuda_ask *ask, float slack, uint32_t own,
                                                     few_walking *memory, few_lane lane, few_found<T> *found) {
    few_found<T> list;
    few_walk w;
    w.own = own;
    list.clear();
    lane.queued = 0;
    few_make_groups(&lane, memory->groups, &w);
    const bool complete = few_walk_together<KIND>(ask, slack, memory, &lane, &w, &list);
    *found = list;
    return complete;
}

/* False: the warp's queries are too far apart. */
template <int KIND, int T, int SUBSETS>
static __device__ __forceinline__ bool few_search(const knn_cuda_ask *ask, uint64_t first, uint32_t number,
                                                  few_memory<T> *memory, few_found<T> *found) {
    const knn_cuda_tree *const tree = &ask->tree;
    const float slack = knn_slack<KIND>(tree->points.extent, ask->queries.extent);
    const uint32_t leaf = few_leaf_of(ask, first + CUDA_WARP / 2), own = leaf / KNN_CUDA_WIDE;
    few_lane lane;
    few_nearest<T> nearest;
    few_lane_begin(ask, first, number, &lane);
    const few_around around = few_bound_around<SUBSETS>(tree, leaf, lane.at, ask->k - 1 + (ask->exclude_self ? 1 : 0));
    if (lane.most >= 0) {
        lane.most = fminf(knn_square_beside<KIND>(&tree->metric, around.bound, slack),
                          knn_square_of_key<KIND>(&tree->metric, ask->limit, slack));
    }
    few_walk w;
    w.own = own;
    few_make_groups(&lane, memory->walk.groups, &w);
    if (few_are_apart(&lane, around.dense, memory->walk.groups)) return false;
    nearest.clear();
    nearest.places = memory->place + number;
    const bool complete = few_walk_together<KIND>(ask, slack, &memory->walk, &lane, &w, &nearest);
    if (!complete && !__any_sync(CUDA_ALL, nearest.is_idle(ask))) return false;
    const bool right = (few_decide<KIND, T>(ask, slack, &lane, &nearest, found) && complete) || lane.most < 0;
    if (__all_sync(CUDA_ALL, right)) return true;
    few_found<T> again;
    few_lane asks = lane;
    if (right) asks.most = -1;
    if (!few_search_again<KIND, T>(ask, slack, own, &memory->walk, asks, &again)) return false;
    if (!right) *found = again;
    return true;
}

/* to.write<KIND>(ask, first, number, found, scratch): what becomes of the neighbours of a lane's query, of which the
   first ask->k of found count; called by all lanes of a warp, with T words of shared memory for each. */
template <int KIND, int T, int SUBSETS, class OUTPUT>
static __global__ __launch_bounds__(FEW_THREADS,
                                    T <= 12 ? 8 : 6) void search_few(const __grid_constant__ knn_cuda_ask ask,
                                                                     few_left left, OUTPUT to) {
    __shared__ few_memory<T> memories[FEW_WARPS];
    const uint32_t number = threadIdx.x % CUDA_WARP;
    const uint64_t warp = (uint64_t)blockIdx.x * FEW_WARPS + threadIdx.x / CUDA_WARP, first = warp * CUDA_WARP;
    few_memory<T> *const memory = &memories[threadIdx.x / CUDA_WARP];
    if (first >= ask.queries.count) return;
    few_found<T> found;
    found.clear();
    if (first < ask.queries.extent->finite && ask.tree.nodes[0] > 0) {
        if (!few_search<KIND, T, SUBSETS>(&ask, first, number, memory, &found)) {
            if (number == 0) left.warps[atomicAdd(left.count, 1u)] = (uint32_t)warp;
            return;
        }
    }
    __syncwarp();
    to.template write<KIND, T>(&ask, first, number, &found, memory->place);
}

/* ---- queries that are apart: a warp has one, and its best, sorted, in its lanes */

template <int KIND> struct few_visitor {
    float most, slack;
    uint32_t settled, number;
    few_leaves seen; /* leaves that the walk leaves out */
    uint64_t key;    /* of the best that is the lane's */
    uint32_t place;

    __device__ __forceinline__ void try_points(const knn_cuda_ask *ask, const knn_asking *asking, uint32_t at,
                                               bool near) {
        uint64_t mine = UINT64_MAX;
        near = near && (at / KNN_CUDA_LEAF < seen.first || at / KNN_CUDA_LEAF >= seen.end);
        if (near && at != asking->place) mine = few_key_of<KIND>(ask, &asking->exact, at);
        uint32_t lanes = __ballot_sync(CUDA_ALL, mine != UINT64_MAX);
        if (lanes == 0) return;
        for (; lanes != 0; lanes &= lanes - 1) {
            const int from = __ffs((int)lanes) - 1;
            const uint64_t added = __shfl_sync(CUDA_ALL, mine, from), above = __shfl_up_sync(CUDA_ALL, key, 1);
            const uint32_t adds = __shfl_sync(CUDA_ALL, at, from), before = __shfl_up_sync(CUDA_ALL, place, 1);
            const bool stays = place != FEW_NONE && few_in_order(ask->tree.points.order, key, place, added, adds);
            const uint32_t rank = (uint32_t)__popc(__ballot_sync(CUDA_ALL, stays));
            if (number < rank) continue;
            key = number == rank ? added : above;
            place = number == rank ? adds : before;
        }
        const uint64_t last = __shfl_sync(CUDA_ALL, key, (int)(ask->k - 1));
        const uint32_t last_place = __shfl_sync(CUDA_ALL, place, (int)(ask->k - 1));
        if (last == UINT64_MAX) return;
        most = fminf(most, knn_square_of_key<KIND>(&ask->tree.metric, last, slack));
        if (knn_is_zero(last)) settled = ask->tree.points.order[last_place];
    }
};

template <int T> struct few_apart {
    uint64_t key[T * CUDA_WARP];
    uint32_t place[T * CUDA_WARP];
    uint32_t waiting[FEW_APART][KNN_WAITING];
};

template <int KIND, int T>
static __device__ void few_search_alone(const knn_cuda_ask *ask, uint64_t place, uint32_t query, uint32_t *waiting,
                                        few_apart<T> *memory) {
    const uint32_t number = threadIdx.x % CUDA_WARP;
    few_visitor<KIND> v;
    v.slack = knn_slack<KIND>(ask->tree.points.extent, ask->queries.extent);
    v.most = knn_square_of_key<KIND>(&ask->tree.metric, ask->limit, v.slack);
    v.settled = UINT32_MAX;
    v.number = number;
    v.seen.first = v.seen.end = 0;
    v.key = UINT64_MAX;
    v.place = FEW_NONE;
    if (place < ask->queries.extent->finite) {
        const knn_asking asking = knn_asking_of<KIND>(ask, (uint32_t)place);
        const few_leaves around = few_leaves_around(&ask->tree, few_leaf_of(ask, place));
        for (uint32_t leaf = around.first; leaf < around.end; leaf += KNN_AT_ONCE) {
            const uint32_t mine = leaf + number / KNN_CUDA_LEAF;
            knn_try_leaf(ask, &asking, mine, mine < around.end, number, &v);
        }
        v.seen = around;
        knn_walk_point(ask, &asking, waiting, number, &v);
    }
    if (number < T) {
        memory->key[number * CUDA_WARP + query] = v.key;
        memory->place[number * CUDA_WARP + query] = v.place;
    }
}

/* The warps that were left: a block has one of them at a time. */
template <int KIND, int T, class OUTPUT>
static __global__ __launch_bounds__(FEW_APART *CUDA_WARP) void search_left(const __grid_constant__ knn_cuda_ask ask,
                                                                           few_left left, OUTPUT to) {
    __shared__ few_apart<T> memory;
    const uint32_t number = threadIdx.x % CUDA_WARP, warp = threadIdx.x / CUDA_WARP, count = *left.count;
    for (uint32_t i = blockIdx.x; i < count; i += gridDim.x) {
        const uint64_t first = (uint64_t)left.warps[i] * CUDA_WARP;
        for (uint32_t query = warp; query < CUDA_WARP; query += FEW_APART) {
            few_search_alone<KIND, T>(&ask, first + query, query, memory.waiting[warp], &memory);
        }
        __syncthreads();
        if (warp == 0) {
            few_found<T> found;
#pragma unroll
            for (int n = 0; n < T; n++) {
                found.key[n] = memory.key[(uint32_t)n * CUDA_WARP + number];
                found.place[n] = memory.place[(uint32_t)n * CUDA_WARP + number];
            }
            __syncwarp();
            to.template write<KIND, T>(&ask, first, number, &found, memory.place);
        }
        __syncthreads();
    }
}

template <int KIND, int T, int SUBSETS, class OUTPUT>
static void few_launch_as(mote_context *ctx, const knn_cuda_ask *ask, const few_left *left, const OUTPUT *to) {
    const uint32_t blocks = cuda_blocks(ask->queries.count, FEW_THREADS);
    const uint32_t apart = blocks * FEW_WARPS < FEW_BLOCKS ? blocks * FEW_WARPS : FEW_BLOCKS;
    CUDA_LAUNCH(ctx, (search_few<KIND, T, SUBSETS, OUTPUT>), blocks, FEW_THREADS, *ask, *left, *to);
    CUDA_LAUNCH(ctx, (search_left<KIND, T, OUTPUT>), apart, FEW_APART * CUDA_WARP, *ask, *left, *to);
}

template <int KIND, class OUTPUT>
static void few_launch_kind(mote_context *ctx, const knn_cuda_ask *ask, const few_left *left, const OUTPUT *to) {
    if (ask->k <= 4) {
        few_launch_as<KIND, 6, 16>(ctx, ask, left, to);
    } else if (ask->k <= 10) {
        few_launch_as<KIND, 12, 32>(ctx, ask, left, to);
    } else {
        few_launch_as<KIND, 18, 32>(ctx, ask, left, to);
    }
}

/* room: for the warps that are left. */
template <class OUTPUT>
static mote_status few_launch(mote_context *ctx, const knn_cuda_ask *ask, knn_cuda_room *room, const OUTPUT *to) {
    const uint64_t warps = cuda_blocks(ask->queries.count, CUDA_WARP);
    few_left left;
    if (!knn_cuda_make_room(ctx, room, (warps + 1) * sizeof(uint32_t), "knn queries apart")) return MOTE_ERROR_MEMORY;
    left.count = (uint32_t *)room->memory;
    left.warps = left.count + 1;
    MOTE_TRY(cuda_fill(ctx, left.count, 0, sizeof *left.count));
    switch (ask->tree.metric.kind) {
    case KNN_INT: few_launch_kind<KNN_INT>(ctx, ask, &left, to); break;
    case KNN_FLOAT: few_launch_kind<KNN_FLOAT>(ctx, ask, &left, to); break;
    case KNN_DOUBLE: few_launch_kind<KNN_DOUBLE>(ctx, ask, &left, to); break;
    }
    return cuda_launched(ctx, "searching neighbours");
}

#endif
