/* Up to 16 neighbours on the device, for .cu files: a lane has a query; the 32 queries of a warp, which stand beside
   each other on the curve, walk together. What becomes of the neighbours is the caller's.
   1. The points around them on the curve, each square's least of some subsets: the k-th least of those bounds the k-th
      neighbour.
   2. The walk: from node to node, the lanes try 32 boxes at once, against the boxes of each eight queries. What leaves
      are listed for eight queries all lanes try, four leaves at once. Leaves with points that floats do not rule out
      wait in a queue of the query.
   3. When a queue is full, its points join the T nearest of the query, T above k: a list of 32-bit numbers, squares of
      floats with the place of the point among T in the low bits, which two instructions an entry keep sorted.
   4. In the end these get exact keys, and by them their order.
   If a point that was left out could be as near as the k-th, which points at the same distance are, the warp's queries
   are left to a second kernel, with lists of exact keys: in the first they would take registers and time of all. So are
   queries that look much farther than others, or whose group's box holds too much: these get a warp for each. */
#ifndef MOTE_KNN_FEW_CUDA_H
#define MOTE_KNN_FEW_CUDA_H

#include "knn/search/knn_few_apart_cuda.h"

#define FEW_COUNTERS 2u

/* What the second kernel searches for, in any order: warps, or queries. */
typedef struct few_later {
    uint32_t *count, *numbers;
} few_later;

typedef struct few_left {
    few_later unsettled, apart;
    uint32_t *next; /* FEW_COUNTERS of the search after this one, to be made zero */
    uint32_t most;  /* leaves that a group goes through before it is left */
} few_left;

static __device__ __forceinline__ void few_leave(const few_later *list, uint32_t number) {
    list->numbers[atomicAdd(list->count, 1u)] = number;
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

/* The walk of groups that are made. Those that go through more than most leaves are left. False: the list is of no
   use. */
template <int KIND, class LIST>
static __device__ __forceinline__ bool few_walk_together(const knn_cuda_ask *ask, float slack, uint32_t most,
                                                         few_walking *memory, few_lane *lane, few_walk *walk,
                                                         LIST *list) {
    few_walk w = *walk;
    w.waiting = few_push_top(&ask->tree, memory->waiting, lane->number);
    CUDA_ROLLED
    for (bool first = true;; first = false) {
        few_walk_on(&ask->tree, memory, lane->number, first, &w);
        if (w.steps == 0) break;
        few_try_listed<KIND>(ask, slack, &w, memory, lane, list);
        if (w.waiting == 0) break;
        if (__any_sync(CUDA_ALL, list->is_idle(ask))) return false;
        const uint32_t group = lane->number / 8, gone = memory->groups[group].gone + few_listed_for(&w, group);
        if (gone > most) lane->most = -1;
        few_tell_groups(lane, gone, memory->groups, &w);
    }
    if (w.waiting > 0) lane->most = -1; /* more nodes than there is room for */
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

/* The lane's query, how far it looks, and the groups. */
template <int KIND, int SUBSETS>
static __device__ __forceinline__ void few_prepare(const knn_cuda_ask *ask, float slack, uint64_t first,
                                                   uint32_t number, few_walking *memory, few_lane *lane, few_walk *w) {
    const uint32_t leaf = few_leaf_of(ask, first + CUDA_WARP / 2);
    few_lane_begin(ask, first, number, lane);
    const few_around around =
        few_bound_around<SUBSETS>(&ask->tree, leaf, lane->at, ask->k - 1 + (ask->exclude_self ? 1 : 0));
    if (lane->most >= 0) {
        lane->most = fminf(knn_square_beside<KIND>(&ask->tree.metric, around.bound, slack),
                           knn_square_of_key<KIND>(&ask->tree.metric, ask->limit, slack));
    }
    w->own = leaf / KNN_CUDA_WIDE;
    if (few_looks_far(lane)) lane->most = -1;
    few_make_groups(lane, memory->groups, w);
    const bool wide = few_is_wide(lane, around.dense, memory->groups);
    if (!__any_sync(CUDA_ALL, wide)) return;
    if (wide) lane->most = -1;
    few_tell_groups(lane, 0, memory->groups, w);
}

/* Leaves queries that the warp did not search for. Returns whether the lane's is one. */
static __device__ __forceinline__ bool few_leave_apart(const knn_cuda_ask *ask, const few_lane *lane,
                                                       const few_later *list) {
    const bool apart = lane->most < 0 && lane->place < ask->queries.extent->finite;
    const uint32_t lanes = __ballot_sync(CUDA_ALL, apart);
    if (lanes == 0) return false;
    uint32_t first = 0;
    if (lane->number == 0) first = atomicAdd(list->count, (uint32_t)__popc(lanes));
    first = __shfl_sync(CUDA_ALL, first, 0);
    if (apart) list->numbers[first + (uint32_t)__popc(lanes & ((1u << lane->number) - 1))] = lane->place;
    return apart;
}

/* By squares of floats. Returns whether they settle what the first k are. keys: these are wanted, too. */
template <int KIND, int T, int SUBSETS>
static __device__ __forceinline__ bool few_search(const knn_cuda_ask *ask, uint64_t first, uint32_t most, bool keys,
                                                  few_memory<T> *memory, few_lane *lane, few_found<T> *found) {
    const float slack = knn_slack<KIND>(ask->tree.points.extent, ask->queries.extent);
    few_walk w;
    few_nearest<T> nearest;
    few_prepare<KIND, SUBSETS>(ask, slack, first, lane->number, &memory->walk, lane, &w);
    nearest.clear();
    nearest.places = memory->place + lane->number;
    if (!few_walk_together<KIND>(ask, slack, most, &memory->walk, lane, &w, &nearest)) return false;
    if (!keys && __all_sync(CUDA_ALL, lane->most < 0 || nearest.template is_clear<KIND>(ask, slack, lane))) {
        nearest.tell(found);
        return true;
    }
    const bool right = few_decide<KIND, T>(ask, slack, lane, &nearest, found) || lane->most < 0;
    return __all_sync(CUDA_ALL, right) != 0;
}

#define FEW_NOWHERE UINT64_MAX

/* to.write<KIND>(ask, place, number, found, scratch): what becomes of the neighbours of the query at a sorted place, of
   which the first ask->k of found count; nothing if place is none of a query. Called by all lanes of a warp, with T
   words of shared memory for each. OUTPUT::keys: it reads their keys. */
template <int KIND, int T, int SUBSETS, class OUTPUT>
static __global__ __launch_bounds__(FEW_THREADS,
                                    T <= 11 ? 4 : 3) void search_few(const __grid_constant__ knn_cuda_ask ask,
                                                                     few_left left, OUTPUT to) {
    __shared__ few_memory<T> memories[FEW_WARPS];
    const uint64_t warp = (uint64_t)blockIdx.x * FEW_WARPS + threadIdx.x / CUDA_WARP, first = warp * CUDA_WARP;
    few_memory<T> *const memory = &memories[threadIdx.x / CUDA_WARP];
    if (blockIdx.x == 0 && threadIdx.x < FEW_COUNTERS) left.next[threadIdx.x] = 0;
    if (first >= ask.queries.count) return;
    few_lane lane;
    few_found<T> found;
    bool apart = false;
    lane.number = threadIdx.x % CUDA_WARP;
    found.clear();
    if (first < ask.queries.extent->finite && ask.tree.nodes[0] > 0) {
        if (!few_search<KIND, T, SUBSETS>(&ask, first, left.most, OUTPUT::keys, memory, &lane, &found)) {
            if (lane.number == 0) few_leave(&left.unsettled, (uint32_t)warp);
            return;
        }
        apart = few_leave_apart(&ask, &lane, &left.apart);
    }
    __syncwarp();
    to.template write<KIND, T>(&ask, apart ? FEW_NOWHERE : first + lane.number, lane.number, &found, memory->place);
}

/* What a warp of search_rest keeps in shared memory: of one step or the other. */
template <int T> union few_rest {
    few_memory<T> together;
    few_apart<T> apart;
};

template <int T> static __device__ __forceinline__ void few_take(const few_apart<T> *from, few_found<T> *found) {
#pragma unroll
    for (int i = 0; i < T; i++) {
        found->key[i] = from->key[i];
        found->place[i] = from->place[i];
    }
}

/* The queries that were left: a warp has one at a time, and the first warp of a block writes for all. */
template <int KIND, int T, class OUTPUT>
static __device__ __forceinline__ void few_search_left(const knn_cuda_ask *ask, const few_later *list,
                                                       few_rest<T> *of_warp, const OUTPUT *to) {
    const uint32_t number = threadIdx.x % CUDA_WARP, warp = threadIdx.x / CUDA_WARP, count = *list->count;
    CUDA_ROLLED
    for (uint32_t i = blockIdx.x * FEW_WARPS; i < count; i += gridDim.x * FEW_WARPS) {
        if (i + warp < count) few_search_alone<KIND, T>(ask, list->numbers[i + warp], &of_warp[warp].apart);
        __syncthreads();
        if (warp == 0) {
            const bool has_query = number < FEW_WARPS && i + number < count;
            few_found<T> found;
            found.clear();
            if (has_query) few_take<T>(&of_warp[number].apart, &found);
            __syncwarp();
            const uint64_t place = has_query ? list->numbers[i + number] : FEW_NOWHERE;
            to->template write<KIND, T>(ask, place, number, &found, of_warp[0].together.place);
        }
        __syncthreads();
    }
}

/* A warp that the squares of floats did not settle, by exact keys: first those that walk together, then the others one
   by one. */
template <int KIND, int T, int SUBSETS>
static __device__ __forceinline__ void few_search_unsettled(const knn_cuda_ask *ask, uint64_t first, uint32_t most,
                                                            uint32_t number, few_rest<T> *memory, few_found<T> *found) {
    const float slack = knn_slack<KIND>(ask->tree.points.extent, ask->queries.extent);
    few_lane lane;
    few_walk w;
    few_prepare<KIND, SUBSETS>(ask, slack, first, number, &memory->together.walk, &lane, &w);
    few_walk_together<KIND>(ask, slack, most, &memory->together.walk, &lane, &w, found);
    uint32_t left = __ballot_sync(CUDA_ALL, lane.most < 0 && lane.place < ask->queries.extent->finite);
    __syncwarp(); /* the memory of the walk is free */
    CUDA_ROLLED
    for (; left != 0; left &= left - 1) {
        const uint32_t mine = (uint32_t)__ffs((int)left) - 1;
        few_search_alone<KIND, T>(ask, (uint32_t)first + mine, &memory->apart);
        if (number == mine) few_take<T>(&memory->apart, found);
        __syncwarp();
    }
}

/* What search_few left: queries, then warps. */
template <int KIND, int T, int SUBSETS, class OUTPUT>
static __global__ __launch_bounds__(FEW_THREADS, FEW_REST) void search_rest(const __grid_constant__ knn_cuda_ask ask,
                                                                            few_left left, OUTPUT to) {
    __shared__ few_rest<T> of_warp[FEW_WARPS];
    const uint32_t number = threadIdx.x % CUDA_WARP, warp = threadIdx.x / CUDA_WARP, count = *left.unsettled.count;
    few_rest<T> *const memory = &of_warp[warp];
    few_search_left<KIND, T>(&ask, &left.apart, of_warp, &to);
    CUDA_ROLLED
    for (uint32_t i = blockIdx.x * FEW_WARPS + warp; i < count; i += gridDim.x * FEW_WARPS) {
        const uint64_t first = (uint64_t)left.unsettled.numbers[i] * CUDA_WARP;
        few_found<T> found;
        found.clear();
        few_search_unsettled<KIND, T, SUBSETS>(&ask, first, left.most, number, memory, &found);
        to.template write<KIND, T>(&ask, first + number, number, &found, memory->together.place);
        __syncwarp();
    }
}

template <int KIND, int T, int SUBSETS, class OUTPUT>
static void few_launch_as(mote_context *ctx, const knn_cuda_ask *ask, const few_left *left, const OUTPUT *to) {
    const uint32_t blocks = cuda_blocks(ask->queries.count, FEW_THREADS);
    const uint32_t rest = blocks < FEW_BLOCKS / CUDA_WARP ? blocks * CUDA_WARP : FEW_BLOCKS;
    CUDA_LAUNCH(ctx, (search_few<KIND, T, SUBSETS, OUTPUT>), blocks, FEW_THREADS, *ask, *left, *to);
    CUDA_LAUNCH(ctx, (search_rest<KIND, T, SUBSETS, OUTPUT>), rest, FEW_THREADS, *ask, *left, *to);
}

template <int KIND, class OUTPUT>
static void few_launch_kind(mote_context *ctx, const knn_cuda_ask *ask, const few_left *left, const OUTPUT *to) {
    if (ask->k <= 4) {
        few_launch_as<KIND, 5, 16>(ctx, ask, left, to);
    } else if (ask->k <= 10) {
        few_launch_as<KIND, 11, 32>(ctx, ask, left, to);
    } else {
        few_launch_as<KIND, 17, 32>(ctx, ask, left, to);
    }
}

/* Room for two sets of counters, which take turns, and for the numbers of what is left. */
static mote_status few_make_room(mote_context *ctx, uint64_t warps, knn_cuda_later *later, few_left *left) {
    const uint64_t entries = 2 * FEW_COUNTERS + warps + warps * CUDA_WARP, before = later->room.size_bytes;
    if (!knn_cuda_make_room(ctx, &later->room, entries * sizeof(uint32_t), "knn queries apart")) {
        return MOTE_ERROR_MEMORY;
    }
    uint32_t *const memory = (uint32_t *)later->room.memory, *const now = memory + later->turn * FEW_COUNTERS;
    left->unsettled.count = now;
    left->unsettled.numbers = memory + 2 * FEW_COUNTERS;
    left->apart.count = now + 1;
    left->apart.numbers = left->unsettled.numbers + warps;
    later->turn = 1 - later->turn;
    left->next = memory + later->turn * FEW_COUNTERS;
    if (later->room.size_bytes == before) return MOTE_OK;
    const mote_status status = cuda_fill(ctx, now, 0, FEW_COUNTERS * sizeof *now);
    if (status != MOTE_OK) knn_cuda_drop_room(ctx, &later->room);
    return status;
}

template <class OUTPUT>
static mote_status few_launch(mote_context *ctx, const knn_cuda_ask *ask, knn_cuda_later *later, const OUTPUT *to) {
    const uint64_t warps = cuda_blocks(ask->queries.count, CUDA_WARP);
    few_left left;
    MOTE_TRY(few_make_room(ctx, warps, later, &left));
    left.most = warps < FEW_HURRIED ? FEW_MOST / 2 : FEW_MOST;
    switch (ask->tree.metric.kind) {
    case KNN_INT: few_launch_kind<KNN_INT>(ctx, ask, &left, to); break;
    case KNN_FLOAT: few_launch_kind<KNN_FLOAT>(ctx, ask, &left, to); break;
    case KNN_DOUBLE: few_launch_kind<KNN_DOUBLE>(ctx, ask, &left, to); break;
    }
    const mote_status status = cuda_launched(ctx, "searching neighbours");
    if (status != MOTE_OK) knn_cuda_drop_room(ctx, &later->room); /* nobody made the next counters zero */
    return status;
}

#endif
