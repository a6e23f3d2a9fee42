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
#ifndef MOTE_KNN_SMALL_K_CUDA_H
#define MOTE_KNN_SMALL_K_CUDA_H

#include "knn/search/knn_small_k_single_cuda.cuh"

#define SMALL_K_COUNTERS 2u

/* What the second kernel searches for, in any order: warps, or queries. */
typedef struct small_k_deferred_list {
    uint32_t *count, *numbers;
} small_k_deferred_list;

typedef struct small_k_deferred {
    small_k_deferred_list unresolved, single;
    uint32_t *next; /* SMALL_K_COUNTERS of the search after this one, to be made zero */
    uint32_t max;   /* leaves that a group goes through before it is left */
} small_k_deferred;

static __device__ __forceinline__ void small_k_defer(const small_k_deferred_list *list, uint32_t number) {
    list->numbers[atomicAdd(list->count, 1u)] = number;
}

/* ---- the walk */

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
static __device__ __forceinline__ void small_k_try_leaves(const float *views, const uint32_t *leaves, uint32_t from,
                                                          uint32_t end, small_k_traversal_memory *memory,
                                                          small_k_eight *e) {
    uint32_t hits = 0;
    if (from + e->part < end) {
        small_k_leaf v;
        small_k_load_leaf(views, leaves[from + e->part], &v);
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

/* Tries the leaves that are listed for all groups. */
template <int KIND, class LIST>
static __device__ __forceinline__ void small_k_try_listed(const knn_search_args *args, const small_k_traversal *w,
                                                          small_k_traversal_memory *memory, small_k_lane *lane,
                                                          LIST *list) {
    uint32_t group = 0, i = 0;
    small_k_eight e = small_k_eight_of(lane, 0);
    CUDA_ROLLED
    while (group < SMALL_K_GROUPS) {
        const uint32_t listed = small_k_listed_for(w, group);
        CUDA_ROLLED
        for (; i < listed; i += SMALL_K_PARTS) {
            if (__any_sync(CUDA_ALL, e.queued > SMALL_K_QUEUE - SMALL_K_PARTS)) break;
            small_k_try_leaves(args->tree.points.views, memory->leaves[group], i, listed, memory, &e);
        }
        small_k_write_back(&e, group, lane);
        if (i >= listed) {
            group++;
            i = 0;
        }
        if (i > 0 || group == SMALL_K_GROUPS) small_k_join<KIND>(args, memory, lane, list);
        if (group < SMALL_K_GROUPS) e = small_k_eight_of(lane, group);
    }
}

/* The walk of groups that are made. Those that go through more than most leaves are left. False: the list is of no
   use. */
template <int KIND, class LIST>
static __device__ __forceinline__ bool small_k_traverse(const knn_search_args *args, uint32_t max,
                                                        small_k_traversal_memory *memory, small_k_lane *lane,
                                                        small_k_traversal *traversal, LIST *list) {
    small_k_traversal w = *traversal;
    w.waiting = small_k_push_top(&args->tree, memory->waiting, lane->number);
    CUDA_ROLLED
    for (bool first = true;; first = false) {
        small_k_traverse_next(&args->tree, memory, lane->number, first, &w);
        if (w.steps == 0) break;
        small_k_try_listed<KIND>(args, &w, memory, lane, list);
        if (w.waiting == 0) break;
        if (__any_sync(CUDA_ALL, list->is_idle(args))) return false;
        const uint32_t group = lane->number / 8,
                       opened_leaves = memory->groups[group].opened_leaves + small_k_listed_for(&w, group);
        if (opened_leaves > max) lane->max = -1;
        small_k_publish_groups(lane, opened_leaves, memory->groups, &w);
    }
    if (w.waiting > 0) lane->max = -1; /* more nodes than there is room for */
    return true;
}

/* ---- 4. exact */

/* Whether they are in order, as far as one sees without the numbers of points at the same distance. */
template <int T> static __device__ __forceinline__ bool small_k_is_strict(const small_k_found<T> *found) {
    bool strict = true;
#pragma unroll
    for (int i = 0; i + 1 < T; i++) {
        strict = strict && (found->place[i + 1] == SMALL_K_NONE || found->key[i] < found->key[i + 1]);
    }
    return strict;
}

/* Exchanges neighbours that are not in order. Returns whether there were none. */
template <int T>
static __device__ __forceinline__ bool small_k_exchange_pass(const uint32_t *order, small_k_found<T> *found) {
    bool ordered = true;
#pragma unroll
    for (int i = 0; i + 1 < T; i++) {
        const uint64_t key = found->key[i], next_key = found->key[i + 1];
        const uint32_t place = found->place[i], next = found->place[i + 1];
        if (small_k_in_order(order, key, place, next_key, next)) continue;
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
static __device__ __forceinline__ bool small_k_decide(const knn_search_args *args, small_k_lane *lane,
                                                      const small_k_nearest<T> *nearest, small_k_found<T> *found) {
    knn_exact exact;
    knn_exact_of<KIND>(&args->queries, lane->place, &exact);
#pragma unroll
    for (int i = 0; i < T; i++) {
        const bool exists = nearest->packed[i] < SMALL_K_EMPTY;
        const uint32_t place = exists ? nearest->places[(nearest->packed[i] & SMALL_K_SLOTS) * CUDA_WARP] : 0;
        const uint64_t key = small_k_key_of<KIND>(args, &exact, place);
        found->key[i] = exists ? key : UINT64_MAX;
        found->place[i] = exists && key != UINT64_MAX ? place : SMALL_K_NONE;
    }
    if (!small_k_is_strict<T>(found)) {
        while (!small_k_exchange_pass<T>(args->tree.points.order, found)) {}
    }
    const uint64_t last = found->last_key(args->k);
    if (last != UINT64_MAX)
        lane->max = fminf(lane->max, knn_square_of_key<KIND>(&args->tree.metric, last, lane->slack));
    return nearest->lost == SMALL_K_EMPTY || __uint_as_float(nearest->lost) > lane->max;
}

/* ---- the search */

template <int KIND>
static __device__ __forceinline__ void small_k_lane_begin(const knn_search_args *args, uint64_t first, uint32_t number,
                                                          small_k_lane *lane) {
    lane->number = number;
    lane->place = (uint32_t)first + number;
    const uint64_t at = (uint64_t)(lane->place / KNN_CUDA_LEAF) * (3 * KNN_CUDA_LEAF) + lane->place % KNN_CUDA_LEAF;
#pragma unroll
    for (uint32_t k = 0; k < 3; k++) lane->at[k] = args->queries.views[at + KNN_CUDA_LEAF * k];
    lane->max = first + number < args->queries.extent->finite ? INFINITY : -1;
    lane->slack =
        knn_slack<KIND>(args->tree.points.extent, args->queries.extent, lane->at[0], lane->at[1], lane->at[2]);
    lane->resolved = UINT32_MAX;
    lane->queued = 0;
}

/* The lane's query, how far it looks, and the groups. */
template <int KIND, int SUBSETS>
static __device__ __forceinline__ void small_k_prepare(const knn_search_args *args, uint64_t first, uint32_t number,
                                                       small_k_traversal_memory *memory, small_k_lane *lane,
                                                       small_k_traversal *w) {
    const uint32_t leaf = small_k_leaf_of(args, first + CUDA_WARP / 2);
    small_k_lane_begin<KIND>(args, first, number, lane);
    const small_k_curve_bound around =
        small_k_bound_on_curve<SUBSETS>(&args->tree, leaf, lane->at, args->k - 1 + (args->exclude_self ? 1 : 0));
    if (lane->max >= 0) {
        lane->max = fminf(knn_square_bound_near<KIND>(&args->tree.metric, around.bound, lane->slack),
                          knn_square_of_key<KIND>(&args->tree.metric, args->limit, lane->slack));
    }
    const small_k_leaves beside = small_k_leaves_around(&args->tree, leaf);
    const bool exists = beside.first + number < beside.end;
    if (knn_sees_coarsely<KIND>(&args->tree, beside.first + number, exists, lane->slack)) lane->max = -1;
    w->own = leaf / KNN_CUDA_WIDE;
    if (small_k_searches_far(lane)) lane->max = -1;
    small_k_make_groups(lane, memory->groups, w);
    const bool wide = small_k_is_wide(lane, around.dense, memory->groups);
    if (!__any_sync(CUDA_ALL, wide)) return;
    if (wide) lane->max = -1;
    small_k_publish_groups(lane, 0, memory->groups, w);
}

/* Leaves queries that the warp did not search for. Returns whether the lane's is one. */
static __device__ __forceinline__ bool small_k_defer_single(const knn_search_args *args, const small_k_lane *lane,
                                                            const small_k_deferred_list *list) {
    const bool single = lane->max < 0 && lane->place < args->queries.extent->finite;
    const uint32_t lanes = __ballot_sync(CUDA_ALL, single);
    if (lanes == 0) return false;
    const uint32_t at = warp_reserve(list->count, lanes);
    if (single) list->numbers[at] = lane->place;
    return single;
}

/* By squares of floats. Returns whether they settle what the first k are. keys: these are wanted, too. */
template <int KIND, int T, int SUBSETS>
static __device__ __forceinline__ bool small_k_search(const knn_search_args *args, uint64_t first, uint32_t max,
                                                      bool keys, small_k_memory<T> *memory, small_k_lane *lane,
                                                      small_k_found<T> *found) {
    small_k_traversal w;
    small_k_nearest<T> nearest;
    small_k_prepare<KIND, SUBSETS>(args, first, lane->number, &memory->traversal, lane, &w);
    nearest.clear();
    nearest.places = memory->place + lane->number;
    if (!small_k_traverse<KIND>(args, max, &memory->traversal, lane, &w, &nearest)) return false;
    if (!keys && __all_sync(CUDA_ALL, lane->max < 0 || nearest.template is_clear<KIND>(args, lane))) {
        nearest.tell(found);
        return true;
    }
    const bool right = small_k_decide<KIND, T>(args, lane, &nearest, found) || lane->max < 0;
    return __all_sync(CUDA_ALL, right) != 0;
}

#define SMALL_K_NO_QUERY UINT64_MAX

/* to.write<KIND>(ask, place, number, found, scratch): what becomes of the neighbours of the query at a sorted place, of
   which the first ask->k of found count; nothing if place is none of a query. Called by all lanes of a warp, with T
   words of shared memory for each. OUTPUT::keys: it reads their keys. */
template <int KIND, int T, int SUBSETS, class OUTPUT>
static __global__ __launch_bounds__(SMALL_K_THREADS,
                                    T <= 11 ? 4 : 3) void search_small_k(const __grid_constant__ knn_search_args args,
                                                                         small_k_deferred deferred, OUTPUT to) {
    __shared__ small_k_memory<T> memories[SMALL_K_WARPS];
    const uint64_t warp = (uint64_t)blockIdx.x * SMALL_K_WARPS + threadIdx.x / CUDA_WARP, first = warp * CUDA_WARP;
    small_k_memory<T> *const memory = &memories[threadIdx.x / CUDA_WARP];
    if (blockIdx.x == 0 && threadIdx.x < SMALL_K_COUNTERS) deferred.next[threadIdx.x] = 0;
    if (first >= args.queries.count) return;
    small_k_lane lane;
    small_k_found<T> found;
    bool single = false;
    lane.number = threadIdx.x % CUDA_WARP;
    found.clear();
    if (first < args.queries.extent->finite && args.tree.nodes[0] > 0) {
        if (!small_k_search<KIND, T, SUBSETS>(&args, first, deferred.max, OUTPUT::keys, memory, &lane, &found)) {
            if (lane.number == 0) small_k_defer(&deferred.unresolved, (uint32_t)warp);
            return;
        }
        single = small_k_defer_single(&args, &lane, &deferred.single);
    }
    __syncwarp();
    to.template write<KIND, T>(&args, single ? SMALL_K_NO_QUERY : first + lane.number, lane.number, &found,
                               memory->place);
}

/* What a warp of search_deferred keeps in shared memory: of one step or the other. */
template <int KIND, int T> union small_k_deferred_memory {
    small_k_memory<T> together;
    small_k_single<KIND, T> single;
};

template <int KIND, int T>
static __device__ __forceinline__ void small_k_take(const small_k_single<KIND, T> *from, small_k_found<T> *found) {
#pragma unroll
    for (int i = 0; i < T; i++) {
        found->key[i] = from->key[i];
        found->place[i] = from->place[i];
    }
}

/* The queries that were left: a warp has one at a time, and the first warp of a block writes for all. */
template <int KIND, int T, class OUTPUT>
static __device__ __forceinline__ void
small_k_search_deferred(const knn_search_args *args, const small_k_deferred_list *list,
                        small_k_deferred_memory<KIND, T> *of_warp, const OUTPUT *to) {
    const uint32_t number = threadIdx.x % CUDA_WARP, warp = threadIdx.x / CUDA_WARP, count = *list->count;
    CUDA_ROLLED
    for (uint32_t i = blockIdx.x * SMALL_K_WARPS; i < count; i += gridDim.x * SMALL_K_WARPS) {
        if (i + warp < count) small_k_search_single<KIND, T>(args, list->numbers[i + warp], &of_warp[warp].single);
        __syncthreads();
        if (warp == 0) {
            const bool has_query = number < SMALL_K_WARPS && i + number < count;
            small_k_found<T> found;
            found.clear();
            if (has_query) small_k_take<KIND, T>(&of_warp[number].single, &found);
            __syncwarp();
            const uint64_t place = has_query ? list->numbers[i + number] : SMALL_K_NO_QUERY;
            to->template write<KIND, T>(args, place, number, &found, of_warp[0].together.place);
        }
        __syncthreads();
    }
}

/* A warp that the squares of floats did not settle, by exact keys: first those that walk together, then the others one
   by one. */
template <int KIND, int T, int SUBSETS>
static __device__ __forceinline__ void
small_k_search_unresolved(const knn_search_args *args, uint64_t first, uint32_t max, uint32_t number,
                          small_k_deferred_memory<KIND, T> *memory, small_k_found<T> *found) {
    small_k_lane lane;
    small_k_traversal w;
    small_k_prepare<KIND, SUBSETS>(args, first, number, &memory->together.traversal, &lane, &w);
    small_k_traverse<KIND>(args, max, &memory->together.traversal, &lane, &w, found);
    uint32_t deferred = __ballot_sync(CUDA_ALL, lane.max < 0 && lane.place < args->queries.extent->finite);
    __syncwarp(); /* the memory of the walk is free */
    CUDA_ROLLED
    for (; deferred != 0; deferred &= deferred - 1) {
        const uint32_t mine = warp_first(deferred);
        small_k_search_single<KIND, T>(args, (uint32_t)first + mine, &memory->single);
        if (number == mine) small_k_take<KIND, T>(&memory->single, found);
        __syncwarp();
    }
}

/* What search_small_k left: queries, then warps. */
template <int KIND, int T, int SUBSETS, class OUTPUT>
static __global__ __launch_bounds__(SMALL_K_THREADS,
                                    SMALL_K_DEFERRED) void search_deferred(const __grid_constant__ knn_search_args args,
                                                                           small_k_deferred deferred, OUTPUT to) {
    __shared__ small_k_deferred_memory<KIND, T> of_warp[SMALL_K_WARPS];
    const uint32_t number = threadIdx.x % CUDA_WARP, warp = threadIdx.x / CUDA_WARP, count = *deferred.unresolved.count;
    small_k_deferred_memory<KIND, T> *const memory = &of_warp[warp];
    small_k_search_deferred<KIND, T>(&args, &deferred.single, of_warp, &to);
    CUDA_ROLLED
    for (uint32_t i = blockIdx.x * SMALL_K_WARPS + warp; i < count; i += gridDim.x * SMALL_K_WARPS) {
        const uint64_t first = (uint64_t)deferred.unresolved.numbers[i] * CUDA_WARP;
        small_k_found<T> found;
        found.clear();
        small_k_search_unresolved<KIND, T, SUBSETS>(&args, first, deferred.max, number, memory, &found);
        to.template write<KIND, T>(&args, first + number, number, &found, memory->together.place);
        __syncwarp();
    }
}

template <int KIND, int T, int SUBSETS, class OUTPUT>
static void small_k_launch_as(mote_device *gpu, const knn_search_args *args, const small_k_deferred *deferred,
                              const OUTPUT *to) {
    const uint32_t blocks = cuda_blocks(args->queries.count, SMALL_K_THREADS);
    const void *const kernel = (const void *)search_deferred<KIND, T, SUBSETS, OUTPUT>;
    const uint32_t max = cuda_resident_blocks(gpu, kernel, SMALL_K_THREADS);
    const uint32_t rest = blocks < max / CUDA_WARP ? blocks * CUDA_WARP : max;
    CUDA_LAUNCH(gpu, (search_small_k<KIND, T, SUBSETS, OUTPUT>), blocks, SMALL_K_THREADS, *args, *deferred, *to);
    CUDA_LAUNCH(gpu, (search_deferred<KIND, T, SUBSETS, OUTPUT>), rest, SMALL_K_THREADS, *args, *deferred, *to);
}

template <int KIND, class OUTPUT>
static void small_k_launch_kind(mote_device *gpu, const knn_search_args *args, const small_k_deferred *deferred,
                                const OUTPUT *to) {
    if (args->k <= 4) {
        small_k_launch_as<KIND, 5, 16>(gpu, args, deferred, to);
    } else if (args->k <= 10) {
        small_k_launch_as<KIND, 11, 32>(gpu, args, deferred, to);
    } else {
        small_k_launch_as<KIND, 17, 32>(gpu, args, deferred, to);
    }
}

/* Room for two sets of counters, which take turns, and for the numbers of deferred queries. */
static inline mote_status small_k_reserve(mote_device *gpu, uint64_t warps, knn_deferred_buffers *deferred_buffers,
                                          small_k_deferred *deferred) {
    const uint64_t entries = 2 * SMALL_K_COUNTERS + warps + warps * CUDA_WARP,
                   before = deferred_buffers->buffer.size_bytes;
    if (!knn_cuda_buffer_reserve(gpu, &deferred_buffers->buffer, entries * sizeof(uint32_t), "knn deferred queries")) {
        return MOTE_ERROR_MEMORY;
    }
    uint32_t *const memory = (uint32_t *)deferred_buffers->buffer.memory, *const now = memory + deferred_buffers->turn *
                                                                                                    SMALL_K_COUNTERS;
    deferred->unresolved.count = now;
    deferred->unresolved.numbers = memory + 2 * SMALL_K_COUNTERS;
    deferred->single.count = now + 1;
    deferred->single.numbers = deferred->unresolved.numbers + warps;
    deferred_buffers->turn = 1 - deferred_buffers->turn;
    deferred->next = memory + deferred_buffers->turn * SMALL_K_COUNTERS;
    if (deferred_buffers->buffer.size_bytes == before) return MOTE_OK;
    const mote_status status = cuda_fill(gpu, now, 0, SMALL_K_COUNTERS * sizeof *now);
    if (status != MOTE_OK) knn_cuda_buffer_release(gpu, &deferred_buffers->buffer);
    return status;
}

template <class OUTPUT>
static mote_status small_k_launch(mote_device *gpu, const knn_search_args *args, knn_deferred_buffers *deferred_buffers,
                                  const OUTPUT *to) {
    const uint64_t warps = cuda_blocks(args->queries.count, CUDA_WARP);
    small_k_deferred deferred;
    MOTE_TRY(small_k_reserve(gpu, warps, deferred_buffers, &deferred));
    deferred.max = warps < SMALL_K_HURRIED ? SMALL_K_MAX / 2 : SMALL_K_MAX;
    switch (args->tree.metric.kind) {
    case KNN_INT: small_k_launch_kind<KNN_INT>(gpu, args, &deferred, to); break;
    case KNN_FLOAT: small_k_launch_kind<KNN_FLOAT>(gpu, args, &deferred, to); break;
    case KNN_DOUBLE: small_k_launch_kind<KNN_DOUBLE>(gpu, args, &deferred, to); break;
    }
    const mote_status status = cuda_launched(gpu, "searching neighbours");
    if (status != MOTE_OK)
        knn_cuda_buffer_release(gpu, &deferred_buffers->buffer); /* nobody made the next counters zero */
    return status;
}

#endif
