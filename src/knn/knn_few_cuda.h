/* Up to 16 neighbours on the device: a lane has a query and keeps its k best in registers; the 32 queries of a warp,
   which stand beside each other on the curve, walk together.
   1. The points around them on the curve, each square's least of some subsets: the k-th least of those bounds the k-th
      neighbour.
   2. The walk: from node to node, the lanes try 32 boxes at once, against the boxes of each eight queries, which go
      through leaves of their own. Points of a leaf that floats do not rule out wait in a queue of the lane.
   3. When a queue has many, all lanes decide theirs at once: the exact key, and its place among the best.
   What becomes of the best is the output's, which is a parameter of the kernel. For .cu files only, one output each. */
#ifndef MOTE_KNN_FEW_CUDA_H
#define MOTE_KNN_FEW_CUDA_H

#include <math.h>

#include "knn/knn_walk_cuda.h"

#define WARPS   4u
#define THREADS (WARPS * CUDA_WARP)
#define GROUPS  4u  /* of eight lanes */
#define QUEUE   24u /* leaves with points that wait */
#define LISTED  64u /* leaves of a group to go through */
#define AROUND  16u /* leaves around the queries */
#define BEFORE  6u  /* of them before the first query's */

/* Eight queries: their box, and how far the farthest of them looks. */
typedef struct group {
    float low[3], most;
    float high[3], spare;
} group;

/* Leaves with points that wait: each lane has a column. */
typedef struct waiting_points {
    uint32_t leaf[QUEUE * CUDA_WARP];
    uint8_t hits[QUEUE * CUDA_WARP]; /* which of its points */
} waiting_points;

typedef struct warp_memory {
    union {
        waiting_points queue;
        uint64_t rows[KNN_CUDA_FEW * CUDA_WARP]; /* to be written, in the end */
    };
    group groups[GROUPS];
    uint32_t waiting[KNN_WAITING];
    uint32_t leaves[GROUPS][LISTED];
} warp_memory;

template <int K> struct best_list {
    uint64_t key[K];
    uint32_t index[K];
};

/* What a lane knows. */
template <int K> struct lane_state {
    float at[3], most; /* its view, and the largest square that still matters; < 0: no query */
    knn_exact exact;
    uint32_t place;   /* its own, if it does not count; else UINT32_MAX */
    uint32_t settled; /* of neighbours at distance zero only smaller numbers matter; else UINT32_MAX */
    uint32_t queued, pending;
    best_list<K> best;
};

/* ---- 1. the bound */

/* Batcher's merge exchange of N numbers: comparisons of a distance D while runs of P are merged, for all D, for all P.
   By templates, so that every place is known when the code is made and the numbers stay in registers. */
template <int N, int P, int D, int I> static __device__ inline void exchange_from(float (&v)[N]) {
    if constexpr (I + D < N) {
        constexpr bool paired = I >= D % P && ((I - D % P) / D) % 2 == 0 && I / (2 * P) == (I + D) / (2 * P);
        if constexpr (paired) {
            const float a = v[I], b = v[I + D];
            v[I] = fminf(a, b);
            v[I + D] = fmaxf(a, b);
        }
        exchange_from<N, P, D, I + 1>(v);
    }
}

template <int N, int P, int D> static __device__ inline void merge_runs(float (&v)[N]) {
    exchange_from<N, P, D, 0>(v);
    if constexpr (D > 1) merge_runs<N, P, D / 2>(v);
}

template <int N, int P> static __device__ inline void sort_floats(float (&v)[N]) {
    if constexpr (P < N) {
        merge_runs<N, P, P>(v);
        sort_floats<N, 2 * P>(v);
    }
}

struct leaf_views {
    float x[KNN_CUDA_LEAF], y[KNN_CUDA_LEAF], z[KNN_CUDA_LEAF];
};

static __device__ inline void load_four(const float4 *from, float *to) {
    const float4 v = __ldg(from);
    to[0] = v.x;
    to[1] = v.y;
    to[2] = v.z;
    to[3] = v.w;
}

static __device__ inline void load_leaf(const float *views, uint32_t leaf, leaf_views *out) {
    const float4 *const from = (const float4 *)(views + (uint64_t)leaf * (3 * KNN_CUDA_LEAF));
    load_four(from, out->x);
    load_four(from + 1, out->x + 4);
    load_four(from + 2, out->y);
    load_four(from + 3, out->y + 4);
    load_four(from + 4, out->z);
    load_four(from + 5, out->z + 4);
}

/* The nth least of the squares of SUBSETS subsets of the points around. NaN, where there is no point, is never less. */
template <int SUBSETS>
static __device__ inline float bound_around(const knn_cuda_tree *tree, uint32_t leaf, const float at[3], uint32_t nth) {
    const uint32_t leaves = tree->nodes[0], begin = leaf > BEFORE ? leaf - BEFORE : 0;
    const uint32_t first = begin + AROUND <= leaves ? begin : leaves > AROUND ? leaves - AROUND : 0;
    const uint32_t end = first + AROUND < leaves ? first + AROUND : leaves;
    float least[SUBSETS];
#pragma unroll
    for (int i = 0; i < SUBSETS; i++) least[i] = INFINITY;
    for (uint32_t l = first; l < end; l += SUBSETS / KNN_CUDA_LEAF) {
#pragma unroll
        for (uint32_t part = 0; part < SUBSETS / KNN_CUDA_LEAF; part++) {
            leaf_views v;
            if (l + part >= end) break;
            load_leaf(tree->points.views, l + part, &v);
#pragma unroll
            for (uint32_t j = 0; j < KNN_CUDA_LEAF; j++) {
                float *const of = &least[part * KNN_CUDA_LEAF + j];
                *of = fminf(*of, knn_square(v.x[j] - at[0], v.y[j] - at[1], v.z[j] - at[2]));
            }
        }
    }
    sort_floats<SUBSETS, 1>(least);
    float found = INFINITY;
#pragma unroll
    for (int i = 0; i < SUBSETS; i++) found = (uint32_t)i == nth ? least[i] : found;
    return found;
}

/* ---- 2. the walk */

/* Lets the others know how far the lanes look. Returns the largest number that still matters to any of them. */
template <int K>
static __device__ inline uint32_t tell_groups(const lane_state<K> *lane, uint32_t number, group *groups) {
    float most = lane->most;
    __syncwarp(); /* all have read what was told before */
    uint32_t settled = lane->most < 0 ? 0 : lane->settled;
    for (int away = 4; away > 0; away /= 2) most = fmaxf(most, __shfl_xor_sync(CUDA_ALL, most, away));
    for (int away = 16; away > 0; away /= 2) {
        const uint32_t other = __shfl_xor_sync(CUDA_ALL, settled, away);
        settled = other > settled ? other : settled;
    }
    if (number % 8 == 0) groups[number / 8].most = most;
    __syncwarp();
    return settled;
}

static __device__ inline void make_groups(const float at[3], bool valid, uint32_t number, group *groups) {
#pragma unroll
    for (int k = 0; k < 3; k++) {
        float low = valid ? at[k] : INFINITY, high = valid ? at[k] : -INFINITY;
#pragma unroll
        for (int away = 4; away > 0; away /= 2) {
            low = fminf(low, __shfl_xor_sync(CUDA_ALL, low, away));
            high = fmaxf(high, __shfl_xor_sync(CUDA_ALL, high, away));
        }
        if (number % 8 == 0) {
            groups[number / 8].low[k] = low;
            groups[number / 8].high[k] = high;
        }
    }
}

/* Which groups the lane's child of a node may hold a neighbour of, as bits. */
static __device__ inline uint32_t child_matters(const knn_cuda_tree *tree, const group *groups, uint32_t settled,
                                                uint32_t level, uint32_t child) {
    if (child >= tree->nodes[level]) return 0;
    const knn_cuda_box box = knn_box_at(tree->boxes, (uint64_t)tree->first[level] + child);
    uint32_t near = 0;
#pragma unroll
    for (uint32_t g = 0; g < GROUPS; g++) {
        const group of = groups[g];
        const float square = knn_square(knn_gap(box.low[0], box.high[0], of.low[0], of.high[0]),
                                        knn_gap(box.low[1], box.high[1], of.low[1], of.high[1]),
                                        knn_gap(box.low[2], box.high[2], of.low[2], of.high[2]));
        near |= square <= of.most ? 1u << g : 0;
    }
    return box.least <= settled ? near : 0;
}

/* Where a warp's walk stands. */
typedef struct walk {
    uint32_t own;     /* the lowest node in which it began */
    uint32_t waiting; /* nodes */
    uint32_t listed[GROUPS];
    uint32_t settled;
} walk;

/* Lists the leaves of a lowest node that matter, for each group. */
static __device__ inline void list_leaves(const knn_cuda_tree *tree, warp_memory *memory, uint32_t node,
                                          uint32_t number, walk *w) {
    const uint32_t leaf = node * KNN_CUDA_WIDE + number;
    const uint32_t near = child_matters(tree, memory->groups, w->settled, 0, leaf);
#pragma unroll
    for (uint32_t g = 0; g < GROUPS; g++) {
        const bool listed = (near >> g & 1) != 0;
        const uint32_t lanes = __ballot_sync(CUDA_ALL, listed);
        if (listed) memory->leaves[g][w->listed[g] + (uint32_t)__popc(lanes & ((1u << number) - 1))] = leaf;
        w->listed[g] += (uint32_t)__popc(lanes);
    }
}

static __device__ inline uint32_t longest_list(const walk *w) {
    uint32_t most = 0;
#pragma unroll
    for (uint32_t g = 0; g < GROUPS; g++) most = w->listed[g] > most ? w->listed[g] : most;
    return most;
}

static __device__ inline uint32_t listed_for(const walk *w, uint32_t of) {
    uint32_t listed = 0;
#pragma unroll
    for (uint32_t g = 0; g < GROUPS; g++) listed = g == of ? w->listed[g] : listed;
    return listed;
}

static __device__ inline void walk_begin(const knn_cuda_tree *tree, warp_memory *memory, uint32_t leaf, uint32_t number,
                                         walk *w) {
    const uint32_t top = tree->level_count - 1;
    w->waiting = 0;
    for (uint32_t first = tree->nodes[top] > CUDA_WARP ? CUDA_WARP : 0;; first = 0) {
        const uint32_t child = first + number;
        const bool wanted = child_matters(tree, memory->groups, w->settled, top, child) != 0;
        w->waiting = knn_push(memory->waiting, w->waiting, top, child, wanted, number);
        if (first == 0) break;
    }
#pragma unroll
    for (uint32_t g = 0; g < GROUPS; g++) w->listed[g] = 0;
    w->own = leaf / KNN_CUDA_WIDE;
    list_leaves(tree, memory, w->own, number, w);
}

/* Goes on while the lists have room. */
static __device__ inline void walk_on(const knn_cuda_tree *tree, warp_memory *memory, uint32_t number, walk *w) {
    while (w->waiting > 0 && longest_list(w) <= LISTED - KNN_CUDA_WIDE) {
        const uint32_t packed = memory->waiting[--w->waiting], level = packed >> 28, node = packed & 0x0FFFFFFFu;
        __syncwarp();
        if (level > 1) {
            const uint32_t child = node * KNN_CUDA_WIDE + number;
            const bool wanted = child_matters(tree, memory->groups, w->settled, level - 1, child) != 0;
            w->waiting = knn_push(memory->waiting, w->waiting, level - 1, child, wanted, number);
        } else if (node != w->own) {
            list_leaves(tree, memory, node, number, w);
        }
    }
    __syncwarp();
}

template <int K>
static __device__ inline void try_leaf(const float *views, uint32_t leaf, uint32_t number, lane_state<K> *lane,
                                       waiting_points *queue) {
    leaf_views v;
    load_leaf(views, leaf, &v);
    uint32_t hits = 0;
#pragma unroll
    for (uint32_t j = 0; j < KNN_CUDA_LEAF; j++) {
        const float square = knn_square(v.x[j] - lane->at[0], v.y[j] - lane->at[1], v.z[j] - lane->at[2]);
        hits |= square <= lane->most ? 1u << j : 0;
    }
    if (hits == 0) return;
    queue->leaf[lane->queued * CUDA_WARP + number] = leaf;
    queue->hits[lane->queued * CUDA_WARP + number] = (uint8_t)hits;
    lane->queued++;
    lane->pending += (uint32_t)__popc(hits);
}

/* ---- 3. exact */

template <int K> static __device__ inline void insert(best_list<K> *best, uint64_t key, uint32_t index) {
    bool before_next = knn_is_before(key, index, best->key[K - 1], best->index[K - 1]);
#pragma unroll
    for (int i = K - 1; i >= 0; i--) {
        const bool before_this = before_next;
        before_next = i > 0 && knn_is_before(key, index, best->key[i > 0 ? i - 1 : 0], best->index[i > 0 ? i - 1 : 0]);
        if (!before_this) continue;
        best->key[i] = before_next ? best->key[i > 0 ? i - 1 : 0] : key;
        best->index[i] = before_next ? best->index[i > 0 ? i - 1 : 0] : index;
    }
}

template <int KIND, int K>
static __device__ inline void decide(const knn_cuda_ask *ask, uint32_t number, const waiting_points *queue,
                                     lane_state<K> *lane) {
    uint32_t next = 0, hits = 0, leaf = 0;
    for (;;) {
        if (hits == 0 && next < lane->queued) {
            hits = queue->hits[next * CUDA_WARP + number];
            leaf = queue->leaf[next * CUDA_WARP + number];
            next++;
        }
        if (!__any_sync(CUDA_ALL, hits != 0)) break;
        bool taken = false;
        uint64_t key = 0;
        uint32_t index = 0;
        if (hits != 0) {
            const uint32_t at = leaf * KNN_CUDA_LEAF + (uint32_t)__ffs((int)hits) - 1;
            knn_exact other;
            hits &= hits - 1;
            knn_exact_of<KIND>(&ask->tree.points, at, &other);
            key = knn_key<KIND>(&ask->tree.metric, &lane->exact, &other);
            index = __ldg(ask->tree.points.order + at);
            taken = at != lane->place && key <= ask->limit;
        }
        if (taken) insert<K>(&lane->best, key, index);
    }
    lane->queued = 0;
    lane->pending = 0;
}

/* How far the lane looks from now on. */
template <int KIND, int K>
static __device__ inline void look_nearer(const knn_cuda_ask *ask, float slack, lane_state<K> *lane) {
    uint64_t key = 0;
    uint32_t index = 0;
#pragma unroll
    for (int i = 0; i < K; i++) { /* by masks: chosen by a condition, the list would be put into memory to look it up */
        const uint32_t last = (uint32_t)i == ask->k - 1 ? UINT32_MAX : 0;
        key |= lane->best.key[i] & ((uint64_t)last << 32 | last);
        index |= lane->best.index[i] & last;
    }
    if (index == UINT32_MAX || lane->most < 0) return;
    lane->most = fminf(lane->most, knn_square_of_key<KIND>(&ask->tree.metric, key, slack));
    if (knn_is_zero(key)) lane->settled = index;
}

/* ---- the kernel */

template <int KIND, int K>
static __device__ inline void lane_begin(const knn_cuda_ask *ask, uint64_t place, lane_state<K> *lane) {
    const uint64_t at = place / KNN_CUDA_LEAF * (3 * KNN_CUDA_LEAF) + place % KNN_CUDA_LEAF;
#pragma unroll
    for (uint32_t k = 0; k < 3; k++) lane->at[k] = ask->queries.views[at + KNN_CUDA_LEAF * k];
    knn_exact_of<KIND>(&ask->queries, (uint32_t)place, &lane->exact);
    lane->place = ask->exclude_self ? (uint32_t)place : UINT32_MAX;
    lane->settled = UINT32_MAX;
    lane->most = -1;
    lane->queued = 0;
    lane->pending = 0;
#pragma unroll
    for (int i = 0; i < K; i++) {
        lane->best.key[i] = UINT64_MAX;
        lane->best.index[i] = UINT32_MAX;
    }
}

/* An output has write<KIND, K>(ask, lane, place, rows, number, memory), which all lanes of a warp call in the end: the
   sorted place of each lane of the first rows, and memory for KNN_CUDA_FEW 64-bit numbers a lane. */
template <int KIND, int K, int SUBSETS, class OUTPUT>
static __global__ __launch_bounds__(THREADS, K <= 10 ? 6 : 4) void search_few(knn_cuda_ask ask, OUTPUT output) {
    __shared__ warp_memory memories[WARPS];
    const uint32_t number = threadIdx.x % CUDA_WARP;
    const uint64_t warp = (uint64_t)blockIdx.x * WARPS + threadIdx.x / CUDA_WARP, first = warp * CUDA_WARP;
    warp_memory *const memory = &memories[threadIdx.x / CUDA_WARP];
    const knn_cuda_tree *const tree = &ask.tree;
    if (first >= ask.queries.count) return;
    const uint32_t rows = ask.queries.count - first < CUDA_WARP ? (uint32_t)(ask.queries.count - first) : CUDA_WARP;
    const bool valid = first + number < ask.queries.extent->finite;
    lane_state<K> lane;
    lane_begin<KIND, K>(&ask, first + number, &lane);
    if (__any_sync(CUDA_ALL, valid) && tree->nodes[0] > 0) {
        const float slack = knn_slack<KIND>(tree->points.extent, ask.queries.extent);
        uint32_t leaf = (uint32_t)(first / KNN_CUDA_LEAF);
        if (!ask.own) {
            const uint32_t beside = knn_place_beside(&tree->points, ask.queries.keys[first + rows / 2],
                                                     ask.queries.cell_bits, ask.queries.index_bits);
            leaf = (beside < tree->points.count ? beside : tree->points.count - 1) / KNN_CUDA_LEAF;
        }
        const float around = bound_around<SUBSETS>(tree, leaf, lane.at, ask.k - 1 + (ask.exclude_self ? 1 : 0));
        lane.most = fminf(knn_square_beside<KIND>(&tree->metric, around, slack),
                          knn_square_of_key<KIND>(&tree->metric, ask.limit, slack));
        if (!valid) lane.most = -1;
        make_groups(lane.at, valid, number, memory->groups);
        walk w;
        w.settled = tell_groups<K>(&lane, number, memory->groups);
        walk_begin(tree, memory, leaf, number, &w);
        for (;;) {
            walk_on(tree, memory, number, &w);
            const uint32_t steps = longest_list(&w), mine = listed_for(&w, number / 8);
            if (steps == 0) break;
            for (uint32_t i = 0; i < steps; i++) {
                if (i < mine) {
                    const uint32_t next = memory->leaves[number / 8][i];
                    try_leaf<K>(tree->points.views, next, number, &lane, &memory->queue);
                }
                if (!__any_sync(CUDA_ALL, lane.pending >= QUEUE || i + 1 == steps)) continue;
                decide<KIND, K>(&ask, number, &memory->queue, &lane);
                look_nearer<KIND, K>(&ask, slack, &lane);
                w.settled = tell_groups<K>(&lane, number, memory->groups);
            }
#pragma unroll
            for (uint32_t g = 0; g < GROUPS; g++) w.listed[g] = 0;
        }
    }
    output.template write<KIND, K>(&ask, &lane, (uint32_t)first + number, rows, number, memory->rows);
}

template <int KIND, class OUTPUT>
static void launch_few(mote_context *ctx, const knn_cuda_ask *ask, const OUTPUT &output) {
    const uint32_t blocks = cuda_blocks(ask->queries.count, THREADS);
    if (ask->k <= 4) {
        CUDA_LAUNCH(ctx, (search_few<KIND, 4, 16, OUTPUT>), blocks, THREADS, *ask, output);
    } else if (ask->k <= 10) {
        CUDA_LAUNCH(ctx, (search_few<KIND, 10, 32, OUTPUT>), blocks, THREADS, *ask, output);
    } else {
        CUDA_LAUNCH(ctx, (search_few<KIND, 16, 32, OUTPUT>), blocks, THREADS, *ask, output);
    }
}

template <class OUTPUT>
static mote_status knn_search_few(mote_context *ctx, const knn_cuda_ask *ask, const OUTPUT &output) {
    switch (ask->tree.metric.kind) {
    case KNN_INT: launch_few<KNN_INT>(ctx, ask, output); break;
    case KNN_FLOAT: launch_few<KNN_FLOAT>(ctx, ask, output); break;
    case KNN_DOUBLE: launch_few<KNN_DOUBLE>(ctx, ask, output); break;
    }
    return cuda_launched(ctx, "searching neighbours");
}

#endif
