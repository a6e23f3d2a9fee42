/* Up to 16 neighbours on the device, for .cu files: a warp has the eight queries of a place on the curve, four lanes
   each, and ends with the sorted places of their neighbours in shared memory. What becomes of them is the caller's.
   1. The 128 points around the queries on the curve, in squares of floats: the k-th least of the least of some subsets
      bounds the k-th neighbour. Those within it wait.
   2. The walk: the lanes try 32 boxes at once against the box of the queries, which lists leaves; sixteen leaves are
      tried at once, four by each lane of a query. Points that floats do not rule out wait too.
   3. In the end, or when a query has too many, those that wait are put in order: first by their squares and where they
      wait, packed into 32 bits, then, where that was not right, by the exact keys of the first 16.
   Where eight queries are so far apart that their box holds too much, each walks on its own. */
#ifndef MOTE_KNN_FEW_CUDA_H
#define MOTE_KNN_FEW_CUDA_H

#include <math.h>

#include "knn/knn_walk_cuda.h"

#define FEW_WARPS    4u
#define FEW_THREADS  (FEW_WARPS * CUDA_WARP)
#define FEW_QUERIES  8u                        /* of a warp */
#define FEW_PARTS    (CUDA_WARP / FEW_QUERIES) /* lanes of a query */
#define FEW_STEPS    4u                        /* leaves that a lane tries at once */
#define FEW_ROUND    (FEW_PARTS * FEW_STEPS)   /* leaves that are tried at once */
#define FEW_BEFORE   7u                        /* of a round, leaves before the queries' own */
#define FEW_ROOM     32u                       /* points of a query that wait: five bits say which */
#define FEW_LISTED   64u                       /* leaves to be tried */
#define FEW_MOST     256u                      /* leaves for all queries; more: each walks on its own */
#define FEW_TOGETHER FEW_QUERIES               /* all queries walk */
#define FEW_NONE     UINT32_MAX

/* Rows are apart so that eight queries' entries lie in different banks. */
typedef struct few_memory {
    uint64_t key[FEW_QUERIES][KNN_CUDA_FEW + 2];
    uint32_t place[FEW_QUERIES][FEW_ROOM + 4]; /* points that wait; in the end the neighbours, in order */
    uint32_t count[FEW_QUERIES];
    uint32_t leaves[FEW_LISTED];
    uint32_t waiting[KNN_WAITING];
} few_memory;

/* What a lane knows. */
typedef struct few_lane {
    uint32_t query, part; /* of the warp's queries; of the query's lanes */
    uint32_t place;       /* of the query on the curve */
    float at[3], most;    /* its view, and the largest square that still matters; < 0: no query */
    uint32_t settled;     /* of neighbours at distance zero only smaller numbers matter; else UINT32_MAX */
    uint32_t count;       /* points that wait */
    uint32_t hits;        /* a bit for each point of its leaves of a round that is to wait */
} few_lane;

/* Where a warp's walk stands: the same in all lanes. */
typedef struct few_walk {
    float low[3], high[3]; /* the box of who walks */
    float most;
    uint32_t settled;
    uint32_t who;                /* a query, or FEW_TOGETHER */
    uint32_t around, around_end; /* leaves that were tried first */
    uint32_t listed, tried, in_all;
    uint32_t waiting; /* nodes */
} few_walk;

/* ---- sorting numbers of four lanes */

/* Batcher's merge exchange of N numbers: comparisons of a distance D while runs of P are merged, for all D, for all P.
   By templates, so that every place is known when the code is made and the numbers stay in registers. */
template <int N, int P, int D, int I> static __device__ inline void few_exchange(uint32_t (&v)[N]) {
    if constexpr (I + D < N) {
        constexpr bool paired = I >= D % P && ((I - D % P) / D) % 2 == 0 && I / (2 * P) == (I + D) / (2 * P);
        if constexpr (paired) {
            const uint32_t a = v[I], b = v[I + D];
            v[I] = a < b ? a : b;
            v[I + D] = a < b ? b : a;
        }
        few_exchange<N, P, D, I + 1>(v);
    }
}

template <int N, int P, int D> static __device__ inline void few_merge_runs(uint32_t (&v)[N]) {
    few_exchange<N, P, D, 0>(v);
    if constexpr (D > 1) few_merge_runs<N, P, D / 2>(v);
}

template <int N, int P> static __device__ inline void few_sort_lane(uint32_t (&v)[N]) {
    if constexpr (P < N) {
        few_merge_runs<N, P, P>(v);
        few_sort_lane<N, 2 * P>(v);
    }
}

/* Sorts what rises and then falls. */
template <int N, int APART> static __device__ inline void few_sort_bitonic(uint32_t (&v)[N]) {
    if constexpr (APART > 0) {
#pragma unroll
        for (int i = 0; i < N; i++) {
            if ((i & APART) != 0) continue;
            const uint32_t a = v[i], b = v[i + APART];
            v[i] = a < b ? a : b;
            v[i + APART] = a < b ? b : a;
        }
        few_sort_bitonic<N, APART / 2>(v);
    }
}

/* Keeps the less, or the greater, of its numbers and another lane's; reversed: of its first and the other's last. */
template <int N, bool REVERSED>
static __device__ inline void few_exchange_lanes(uint32_t (&v)[N], uint32_t away, bool less) {
    uint32_t other[N];
#pragma unroll
    for (int i = 0; i < N; i++) other[i] = __shfl_xor_sync(CUDA_ALL, v[REVERSED ? N - 1 - i : i], (int)away);
#pragma unroll
    for (int i = 0; i < N; i++) {
        const uint32_t low = v[i] < other[i] ? v[i] : other[i], high = v[i] < other[i] ? other[i] : v[i];
        v[i] = less ? low : high;
    }
}

/* Sorts the numbers of the four lanes of a query: the first N are those of part 0. */
template <int N> static __device__ inline void few_sort(uint32_t (&v)[N], uint32_t part) {
    few_sort_lane<N, 1>(v);
    few_exchange_lanes<N, true>(v, FEW_QUERIES, part % 2 == 0);
    few_sort_bitonic<N, N / 2>(v);
    few_exchange_lanes<N, true>(v, 3 * FEW_QUERIES, part < 2);
    few_exchange_lanes<N, false>(v, FEW_QUERIES, part % 2 == 0);
    few_sort_bitonic<N, N / 2>(v);
}

/* ---- 1. points around */

static __device__ inline void few_load_four(const float4 *from, float *to) {
    const float4 v = __ldg(from);
    to[0] = v.x;
    to[1] = v.y;
    to[2] = v.z;
    to[3] = v.w;
}

/* The bits of the squares of a leaf's points: NaN, of no point, is above all. */
static __device__ inline void few_squares(const float *views, uint32_t leaf, const few_lane *lane,
                                          float square[KNN_CUDA_LEAF]) {
    const float4 *const from = (const float4 *)(views + (uint64_t)leaf * (3 * KNN_CUDA_LEAF));
    float x[KNN_CUDA_LEAF], y[KNN_CUDA_LEAF], z[KNN_CUDA_LEAF];
    few_load_four(from, x);
    few_load_four(from + 1, x + 4);
    few_load_four(from + 2, y);
    few_load_four(from + 3, y + 4);
    few_load_four(from + 4, z);
    few_load_four(from + 5, z + 4);
#pragma unroll
    for (uint32_t j = 0; j < KNN_CUDA_LEAF; j++) {
        square[j] = knn_square(x[j] - lane->at[0], y[j] - lane->at[1], z[j] - lane->at[2]);
    }
}

/* The nth of all numbers, sorted, of a query's lanes. */
template <int N> static __device__ inline uint32_t few_nth(const uint32_t (&v)[N], uint32_t nth, const few_lane *lane) {
    uint32_t found = 0;
#pragma unroll
    for (int i = 0; i < N; i++) found = (uint32_t)i == nth % N ? v[i] : found;
    return __shfl_sync(CUDA_ALL, found, (int)(nth / N * FEW_QUERIES + lane->query));
}

/* Tries the leaves around. Of each lane's points the least of N subsets are compared. */
template <int KIND, int N>
static __device__ inline void few_try_around(const knn_cuda_ask *ask, const few_walk *w, float slack, few_lane *lane) {
    const knn_cuda_tree *const tree = &ask->tree;
    float square[FEW_STEPS][KNN_CUDA_LEAF];
    uint32_t least[N];
#pragma unroll
    for (int i = 0; i < N; i++) least[i] = UINT32_MAX;
#pragma unroll
    for (uint32_t step = 0; step < FEW_STEPS; step++) {
        const uint32_t leaf = w->around + step * FEW_PARTS + lane->part;
#pragma unroll
        for (uint32_t j = 0; j < KNN_CUDA_LEAF; j++) square[step][j] = NAN;
        if (leaf < w->around_end) few_squares(tree->points.views, leaf, lane, square[step]);
#pragma unroll
        for (uint32_t j = 0; j < KNN_CUDA_LEAF; j++) {
            uint32_t *const of = &least[(step * KNN_CUDA_LEAF + j) % N], bits = __float_as_uint(square[step][j]);
            *of = bits < *of ? bits : *of;
        }
    }
    few_sort<N>(least, lane->part);
    const float bound = __uint_as_float(few_nth<N>(least, ask->k - 1 + (ask->exclude_self ? 1 : 0), lane));
    const float beside = bound <= FLT_MAX ? knn_square_beside<KIND>(&tree->metric, bound, slack) : INFINITY;
    if (lane->most >= 0) lane->most = fminf(beside, knn_square_of_key<KIND>(&tree->metric, ask->limit, slack));
    lane->hits = 0;
#pragma unroll
    for (uint32_t i = 0; i < FEW_STEPS * KNN_CUDA_LEAF; i++) {
        lane->hits |= square[i / KNN_CUDA_LEAF][i % KNN_CUDA_LEAF] <= lane->most ? 1u << i : 0;
    }
}

/* ---- 2. the walk */

/* Who walks: their box, how far the farthest looks, and the largest number that still matters to any. */
static __device__ inline void few_gather(const few_lane *lane, few_walk *w) {
    const bool together = w->who == FEW_TOGETHER, walks = lane->most >= 0 && (together || w->who == lane->query);
    w->most = walks ? lane->most : -1;
    w->settled = walks ? lane->settled : 0;
#pragma unroll
    for (int k = 0; k < 3; k++) {
        w->low[k] = walks ? lane->at[k] : INFINITY;
        w->high[k] = walks ? lane->at[k] : -INFINITY;
    }
    for (int away = FEW_QUERIES / 2; away > 0; away /= 2) {
        w->most = fmaxf(w->most, __shfl_xor_sync(CUDA_ALL, w->most, away));
        const uint32_t settled = __shfl_xor_sync(CUDA_ALL, w->settled, away);
        w->settled = settled > w->settled ? settled : w->settled;
#pragma unroll
        for (int k = 0; k < 3; k++) {
            w->low[k] = fminf(w->low[k], __shfl_xor_sync(CUDA_ALL, w->low[k], away));
            w->high[k] = fmaxf(w->high[k], __shfl_xor_sync(CUDA_ALL, w->high[k], away));
        }
    }
}

static __device__ inline bool few_child_matters(const knn_cuda_tree *tree, const few_walk *w, uint32_t level,
                                                uint32_t child) {
    if (child >= tree->nodes[level]) return false;
    const knn_cuda_box box = knn_box_at(tree->boxes, (uint64_t)tree->first[level] + child);
    const float square = knn_square(knn_gap(box.low[0], box.high[0], w->low[0], w->high[0]),
                                    knn_gap(box.low[1], box.high[1], w->low[1], w->high[1]),
                                    knn_gap(box.low[2], box.high[2], w->low[2], w->high[2]));
    return square <= w->most && box.least <= w->settled;
}

static __device__ inline void few_begin(const knn_cuda_tree *tree, few_memory *memory, uint32_t number,
                                        const few_lane *lane, few_walk *w) {
    const uint32_t top = tree->level_count - 1;
    few_gather(lane, w);
    w->waiting = w->listed = w->tried = w->in_all = 0;
    for (uint32_t first = tree->nodes[top] > CUDA_WARP ? CUDA_WARP : 0;; first = 0) {
        const bool wanted = few_child_matters(tree, w, top, first + number);
        w->waiting = knn_push(memory->waiting, w->waiting, top, first + number, wanted, number);
        if (first == 0) break;
    }
}

static __device__ inline void few_list_leaves(const knn_cuda_tree *tree, few_memory *memory, uint32_t node,
                                              uint32_t number, few_walk *w) {
    const uint32_t leaf = node * KNN_CUDA_WIDE + number;
    const bool is_new = leaf < w->around || leaf >= w->around_end;
    const bool listed = is_new && few_child_matters(tree, w, 0, leaf);
    const uint32_t lanes = __ballot_sync(CUDA_ALL, listed);
    if (listed) memory->leaves[w->listed + (uint32_t)__popc(lanes & ((1u << number) - 1))] = leaf;
    w->listed += (uint32_t)__popc(lanes);
}

/* Goes on while there is room for leaves. */
static __device__ inline void few_walk_on(const knn_cuda_tree *tree, few_memory *memory, uint32_t number, few_walk *w) {
    while (w->waiting > 0 && w->listed <= FEW_LISTED - KNN_CUDA_WIDE) {
        const uint32_t packed = memory->waiting[--w->waiting], level = packed >> 28, node = packed & 0x0FFFFFFFu;
        __syncwarp();
        if (level > 1) {
            const uint32_t child = node * KNN_CUDA_WIDE + number;
            const bool wanted = few_child_matters(tree, w, level - 1, child);
            w->waiting = knn_push(memory->waiting, w->waiting, level - 1, child, wanted, number);
        } else {
            few_list_leaves(tree, memory, node, number, w);
        }
    }
    w->in_all += w->listed;
    __syncwarp();
}

/* Tries a round of listed leaves. */
static __device__ inline void few_try_round(const knn_cuda_tree *tree, const few_memory *memory, const few_walk *w,
                                            few_lane *lane) {
    const float most = w->who == FEW_TOGETHER || w->who == lane->query ? lane->most : -1;
#pragma unroll
    for (uint32_t step = 0; step < FEW_STEPS; step++) {
        const uint32_t i = w->tried + step * FEW_PARTS + lane->part;
        float square[KNN_CUDA_LEAF];
        if (i >= w->listed) continue;
        few_squares(tree->points.views, memory->leaves[i], lane, square);
#pragma unroll
        for (uint32_t j = 0; j < KNN_CUDA_LEAF; j++) {
            lane->hits |= square[j] <= most ? 1u << (step * KNN_CUDA_LEAF + j) : 0;
        }
    }
}

/* The next round, of whoever walks next. False: there is none. */
static __device__ inline bool few_next_round(const knn_cuda_tree *tree, few_memory *memory, uint32_t number,
                                             few_lane *lane, few_walk *w) {
    w->tried += FEW_ROUND;
    while (w->tried >= w->listed) {
        __syncwarp(); /* all have read the list */
        if (w->who == FEW_TOGETHER && w->waiting > 0 && w->in_all > FEW_MOST) {
            w->who = 0;
            w->around_end = 0;
            lane->count = 0;
            few_begin(tree, memory, number, lane, w);
        } else if (w->waiting > 0) {
            few_gather(lane, w);
        } else if (w->who + 1 < FEW_QUERIES) {
            w->who++;
            few_begin(tree, memory, number, lane, w);
        } else {
            return false;
        }
        w->listed = w->tried = 0;
        few_walk_on(tree, memory, number, w);
    }
    few_try_round(tree, memory, w, lane);
    return true;
}

/* Lets the points wait that the lanes found, as far as there is room. */
static __device__ inline void few_take(few_memory *memory, const few_walk *w, few_lane *lane) {
    const uint32_t mine = (uint32_t)__popc(lane->hits);
    uint32_t until = mine; /* of this part and those before */
    const uint32_t one = __shfl_up_sync(CUDA_ALL, until, FEW_QUERIES);
    if (lane->part >= 1) until += one;
    const uint32_t two = __shfl_up_sync(CUDA_ALL, until, 2 * FEW_QUERIES);
    if (lane->part >= 2) until += two;
    const uint32_t all = __shfl_sync(CUDA_ALL, until, (int)(CUDA_WARP - FEW_QUERIES + lane->query));
    const uint32_t *const leaves = &memory->leaves[w->tried + lane->part];
    uint32_t *const waiting = memory->place[lane->query];
    uint32_t to = lane->count + until - mine;
    CUDA_ROLLED
    for (; lane->hits != 0 && to < FEW_ROOM; to++) {
        const uint32_t bit = (uint32_t)__ffs((int)lane->hits) - 1;
        lane->hits &= lane->hits - 1;
        waiting[to] = leaves[bit / KNN_CUDA_LEAF * FEW_PARTS] * KNN_CUDA_LEAF + bit % KNN_CUDA_LEAF;
    }
    lane->count = lane->count + all < FEW_ROOM ? lane->count + all : FEW_ROOM;
}

/* ---- 3. in order */

template <int N> struct few_found {
    uint64_t key[N];
    uint32_t place[N];
};

static __device__ inline bool few_in_order(const uint32_t *order, uint64_t key, uint32_t place, uint64_t next_key,
                                           uint32_t next) {
    if (key != next_key || next == FEW_NONE) return key <= next_key;
    return place != FEW_NONE && order[place] <= order[next];
}

/* Whether it is sorted, as far as one sees without the numbers of points at the same distance. */
template <int N> static __device__ inline bool few_is_strict(const few_found<N> *found, uint32_t part) {
    const uint64_t next_key = __shfl_down_sync(CUDA_ALL, found->key[0], FEW_QUERIES);
    const uint32_t next = __shfl_down_sync(CUDA_ALL, found->place[0], FEW_QUERIES);
    bool strict = part == FEW_PARTS - 1 || next == FEW_NONE || found->key[N - 1] < next_key;
#pragma unroll
    for (int i = 0; i + 1 < N; i++) {
        strict = strict && (found->place[i + 1] == FEW_NONE || found->key[i] < found->key[i + 1]);
    }
    return __all_sync(CUDA_ALL, strict) != 0;
}

/* Exchanges neighbours that are not in order, in the lane and then across lanes. Returns whether there were none. */
template <int N>
static __device__ inline bool few_exchange_pass(const uint32_t *order, few_found<N> *found, uint32_t part) {
    bool ordered = true;
#pragma unroll
    for (int i = 0; i + 1 < N; i++) {
        const uint64_t key = found->key[i], next_key = found->key[i + 1];
        const uint32_t place = found->place[i], next = found->place[i + 1];
        if (few_in_order(order, key, place, next_key, next)) continue;
        found->key[i] = next_key;
        found->place[i] = next;
        found->key[i + 1] = key;
        found->place[i + 1] = place;
        ordered = false;
    }
    const uint64_t next_key = __shfl_down_sync(CUDA_ALL, found->key[0], FEW_QUERIES);
    const uint64_t last_key = __shfl_up_sync(CUDA_ALL, found->key[N - 1], FEW_QUERIES);
    const uint32_t next = __shfl_down_sync(CUDA_ALL, found->place[0], FEW_QUERIES);
    const uint32_t last = __shfl_up_sync(CUDA_ALL, found->place[N - 1], FEW_QUERIES);
    const bool gives =
        part + 1 < FEW_PARTS && !few_in_order(order, found->key[N - 1], found->place[N - 1], next_key, next);
    const bool takes = part > 0 && !few_in_order(order, last_key, last, found->key[0], found->place[0]);
    if (gives) {
        found->key[N - 1] = next_key;
        found->place[N - 1] = next;
    }
    if (takes) {
        found->key[0] = last_key;
        found->place[0] = last;
    }
    return __all_sync(CUDA_ALL, ordered && !gives && !takes) != 0;
}

/* The squares of the points that wait, and where each waits in the low bits, sorted. */
template <int N>
static __device__ inline void few_sort_squares(const knn_cuda_ask *ask, const few_memory *memory, const few_lane *lane,
                                               uint32_t (&packed)[N]) {
    const uint32_t self = ask->exclude_self ? lane->place : FEW_NONE;
#pragma unroll
    for (int i = 0; i < N; i++) {
        const uint32_t entry = (uint32_t)i * FEW_PARTS + lane->part;
        packed[i] = UINT32_MAX;
        if (!__any_sync(CUDA_ALL, entry < lane->count)) continue;
        const uint32_t place = entry < lane->count ? memory->place[lane->query][entry] : 0;
        const float *const v =
            ask->tree.points.views + (uint64_t)(place / KNN_CUDA_LEAF) * (3 * KNN_CUDA_LEAF) + place % KNN_CUDA_LEAF;
        const float square = knn_square(__ldg(v) - lane->at[0], __ldg(v + KNN_CUDA_LEAF) - lane->at[1],
                                        __ldg(v + 2 * KNN_CUDA_LEAF) - lane->at[2]);
        if (entry < lane->count && place != self) { packed[i] = (__float_as_uint(square) & ~(FEW_ROOM - 1)) | entry; }
    }
    few_sort<N>(packed, lane->part);
}

/* The keys of points that wait. */
template <int KIND, int N>
static __device__ inline void few_find_keys(const knn_cuda_ask *ask, const few_memory *memory, const few_lane *lane,
                                            const uint32_t (&packed)[N], few_found<N> *found) {
    knn_exact exact;
    knn_exact_of<KIND>(&ask->queries, lane->place, &exact);
#pragma unroll
    for (int i = 0; i < N; i++) {
        const bool waits = packed[i] != UINT32_MAX;
        const uint32_t place = waits ? memory->place[lane->query][packed[i] % FEW_ROOM] : 0;
        knn_exact other;
        knn_exact_of<KIND>(&ask->tree.points, place, &other);
        const uint64_t key = knn_key<KIND>(&ask->tree.metric, &exact, &other);
        const bool counts = waits && key <= ask->limit;
        found->key[i] = counts ? key : UINT64_MAX;
        found->place[i] = counts ? place : FEW_NONE;
    }
    if (few_is_strict<N>(found, lane->part)) return;
    while (!few_exchange_pass<N>(ask->tree.points.order, found, lane->part)) {}
}

/* Keeps the k best, which then are what waits. */
template <int N>
static __device__ inline void few_keep(const knn_cuda_ask *ask, few_memory *memory, const few_found<N> *found,
                                       few_lane *lane) {
    uint32_t count = 0;
    __syncwarp(); /* all have read what waited */
#pragma unroll
    for (int i = 0; i < N; i++) {
        const uint32_t rank = lane->part * N + (uint32_t)i;
        if (rank >= ask->k || found->place[i] == FEW_NONE) continue;
        memory->place[lane->query][rank] = found->place[i];
        memory->key[lane->query][rank] = found->key[i];
        count++;
    }
    count += __shfl_xor_sync(CUDA_ALL, count, (int)FEW_QUERIES);
    count += __shfl_xor_sync(CUDA_ALL, count, (int)(2 * FEW_QUERIES));
    lane->count = count;
    __syncwarp();
}

/* How far the k-th allows to look; as far as before if there is none. */
template <int KIND, int N>
static __device__ inline float few_look_nearer(const knn_cuda_ask *ask, float slack, const few_found<N> *found,
                                               const few_lane *lane) {
    const uint32_t last = ask->k - 1;
    uint64_t key = 0;
#pragma unroll
    for (int i = 0; i < N; i++) key = (uint32_t)i == last % N ? found->key[i] : key;
    key = __shfl_sync(CUDA_ALL, key, (int)(last / N * FEW_QUERIES + lane->query));
    if (key == UINT64_MAX) return lane->most;
    return fminf(lane->most, knn_square_of_key<KIND>(&ask->tree.metric, key, slack));
}

#define FEW_HALF (FEW_ROOM / FEW_PARTS / 2) /* a lane's share of 16 points */

/* The 16 nearest by their squares, a share each; returns the least square of the others, UINT32_MAX if there are
   none. */
static __device__ inline uint32_t few_nearest_half(const knn_cuda_ask *ask, few_memory *memory, const few_lane *lane,
                                                   uint32_t (&packed)[FEW_HALF]) {
    if (!__any_sync(CUDA_ALL, lane->count > FEW_ROOM / 2)) {
        few_sort_squares<FEW_HALF>(ask, memory, lane, packed);
        return UINT32_MAX;
    }
    uint32_t all[2 * FEW_HALF];
    uint32_t *const between = (uint32_t *)memory->key[lane->query];
    few_sort_squares<2 * FEW_HALF>(ask, memory, lane, all);
#pragma unroll
    for (uint32_t i = 0; i < 2 * FEW_HALF && lane->part < FEW_PARTS / 2; i++) {
        between[lane->part * 2 * FEW_HALF + i] = all[i];
    }
    __syncwarp();
#pragma unroll
    for (uint32_t i = 0; i < FEW_HALF; i++) packed[i] = between[lane->part * FEW_HALF + i];
    return __shfl_sync(CUDA_ALL, all[0], (int)(FEW_PARTS / 2 * FEW_QUERIES + lane->query));
}

/* Puts the points that wait in order and keeps the k best. */
template <int KIND>
static __device__ inline void few_settle(const knn_cuda_ask *ask, float slack, few_memory *memory, few_lane *lane) {
    uint32_t packed[FEW_HALF];
    few_found<FEW_HALF> found;
    __syncwarp();
    const uint32_t rest = few_nearest_half(ask, memory, lane, packed);
    few_find_keys<KIND, FEW_HALF>(ask, memory, lane, packed, &found);
    float most = few_look_nearer<KIND, FEW_HALF>(ask, slack, &found, lane);
    if (__all_sync(CUDA_ALL, rest == UINT32_MAX || __uint_as_float(rest & ~(FEW_ROOM - 1)) > most)) {
        few_keep<FEW_HALF>(ask, memory, &found, lane);
    } else { /* the others may be as near */
        uint32_t all[2 * FEW_HALF];
        few_found<2 * FEW_HALF> found_all;
        few_sort_squares<2 * FEW_HALF>(ask, memory, lane, all);
        few_find_keys<KIND, 2 * FEW_HALF>(ask, memory, lane, all, &found_all);
        most = few_look_nearer<KIND, 2 * FEW_HALF>(ask, slack, &found_all, lane);
        few_keep<2 * FEW_HALF>(ask, memory, &found_all, lane);
    }
    lane->most = most;
    if (lane->count < ask->k || lane->most < 0) return;
    if (!knn_is_zero(memory->key[lane->query][ask->k - 1])) return;
    lane->settled = ask->tree.points.order[memory->place[lane->query][ask->k - 1]];
}

/* ---- the search */

/* The leaf beside which the queries stand. */
static __device__ inline uint32_t few_own_leaf(const knn_cuda_ask *ask, uint64_t first) {
    const knn_cuda_points *const points = &ask->tree.points, *const queries = &ask->queries;
    if (ask->own) return (uint32_t)(first / KNN_CUDA_LEAF);
    const uint64_t middle = first + FEW_QUERIES / 2, last = queries->count - 1;
    const uint32_t beside =
        knn_place_beside(points, queries->keys[middle < last ? middle : last], queries->cell_bits, queries->index_bits);
    return (beside < points->count ? beside : points->count - 1) / KNN_CUDA_LEAF;
}

static __device__ inline few_lane few_lane_of(const knn_cuda_ask *ask, uint64_t first, uint32_t number) {
    few_lane lane;
    lane.query = number % FEW_QUERIES;
    lane.part = number / FEW_QUERIES;
    lane.place = (uint32_t)first + lane.query;
    const uint64_t at = (uint64_t)(lane.place / KNN_CUDA_LEAF) * (3 * KNN_CUDA_LEAF) + lane.place % KNN_CUDA_LEAF;
#pragma unroll
    for (uint32_t k = 0; k < 3; k++) lane.at[k] = ask->queries.views[at + KNN_CUDA_LEAF * k];
    lane.most = first + lane.query < ask->queries.extent->finite ? INFINITY : -1;
    lane.settled = UINT32_MAX;
    lane.count = 0;
    lane.hits = 0;
    return lane;
}

/* Finds the neighbours of the queries from first on. N: see few_try_around; N · 4 is above k. */
template <int KIND, int N>
static __device__ inline void few_search(const knn_cuda_ask *ask, uint64_t first, few_memory *memory) {
    const uint32_t number = threadIdx.x % CUDA_WARP;
    const knn_cuda_tree *const tree = &ask->tree;
    few_lane lane = few_lane_of(ask, first, number);
    if (__any_sync(CUDA_ALL, lane.most >= 0) && tree->nodes[0] > 0) {
        const float slack = knn_slack<KIND>(tree->points.extent, ask->queries.extent);
        const uint32_t leaf = few_own_leaf(ask, first), leaves = tree->nodes[0];
        few_walk w;
        w.who = FEW_TOGETHER;
        w.around = leaf > FEW_BEFORE ? leaf - FEW_BEFORE : 0;
        if (w.around + FEW_ROUND > leaves) w.around = leaves > FEW_ROUND ? leaves - FEW_ROUND : 0;
        w.around_end = w.around + FEW_ROUND < leaves ? w.around + FEW_ROUND : leaves;
        if (number < FEW_ROUND) memory->leaves[number] = w.around + number;
        few_try_around<KIND, N>(ask, &w, slack, &lane);
        few_begin(tree, memory, number, &lane, &w); /* its lists are empty: the round around comes first */
        for (bool more = true; more;) {
            few_take(memory, &w, &lane);
            const bool left = __any_sync(CUDA_ALL, lane.hits != 0) != 0;
            if (!left) more = few_next_round(tree, memory, number, &lane, &w);
            if (left || !more) few_settle<KIND>(ask, slack, memory, &lane);
        }
    }
    if (lane.part == 0) memory->count[lane.query] = lane.count;
    __syncwarp();
}

/* to.write<KIND>(ask, first, memories): what becomes of the neighbours of the block's queries, which are all found, by
   all its threads. */
template <int KIND, int N, class OUTPUT>
static __global__ __launch_bounds__(FEW_THREADS, N <= 8 ? 8 : 6) void search_few(knn_cuda_ask ask, OUTPUT to) {
    __shared__ few_memory memories[FEW_WARPS];
    const uint32_t warp = threadIdx.x / CUDA_WARP;
    const uint64_t block_first = (uint64_t)blockIdx.x * (FEW_WARPS * FEW_QUERIES);
    const uint64_t first = block_first + warp * FEW_QUERIES;
    if (first < ask.queries.count) few_search<KIND, N>(&ask, first, &memories[warp]);
    to.template write<KIND>(&ask, block_first, memories);
}

template <int KIND, class OUTPUT>
static void few_launch_kind(mote_context *ctx, const knn_cuda_ask *ask, const OUTPUT *to) {
    const uint32_t blocks = cuda_blocks(ask->queries.count, FEW_WARPS * FEW_QUERIES);
    if (ask->k <= 10) {
        CUDA_LAUNCH(ctx, (search_few<KIND, 8, OUTPUT>), blocks, FEW_THREADS, *ask, *to);
    } else {
        CUDA_LAUNCH(ctx, (search_few<KIND, 16, OUTPUT>), blocks, FEW_THREADS, *ask, *to);
    }
}

template <class OUTPUT> static mote_status few_launch(mote_context *ctx, const knn_cuda_ask *ask, const OUTPUT *to) {
    switch (ask->tree.metric.kind) {
    case KNN_INT: few_launch_kind<KNN_INT>(ctx, ask, to); break;
    case KNN_FLOAT: few_launch_kind<KNN_FLOAT>(ctx, ask, to); break;
    case KNN_DOUBLE: few_launch_kind<KNN_DOUBLE>(ctx, ask, to); break;
    }
    return cuda_launched(ctx, "searching neighbours");
}

#endif
