/* Up to 16 neighbours on the device, for .cu files: a lane has a query; the 32 queries of a warp, which are neighbours
   on the curve, walk together. What becomes of the neighbours is the caller's.
   1. The points around the queries on the curve are dealt into subsets: the k-th smallest of the subsets' least squares
      bounds the k-th neighbour.
   2. The walk (knn_walk_cuda.cuh), for the boxes of each eight queries. The leaves that are listed for eight queries
      all lanes try, four leaves at once. Leaves with points that floats do not rule out wait in a queue of the query.
   3. When a queue is full, its points join the T nearest of the query, T above k (knn_small_k_list_cuda.cuh).
   4. In the end these get exact keys, and by them their order.
   What this does not answer is deferred to further kernels, lest all pay for it:

     warps    coarse            floats of the tree's frame see too little: anew in a local frame
              unresolved        a point that was left out may be as near as the k-th, as where many are at one distance:
                                once more, among the points up to the k-th that was found, by keys and numbers
              coarse_unresolved the same of warps in local frames
     queries  single            they look much farther than others, or their group's box holds too much: a warp for
                                each */
#ifndef MOTE_KNN_SMALL_K_CUDA_H
#define MOTE_KNN_SMALL_K_CUDA_H

#include "knn/cuda/search/knn_deferred_cuda.cuh"
#include "knn/cuda/search/knn_small_k_single_cuda.cuh"
#include "knn/cuda/search/knn_small_k_walk_cuda.cuh"

#define SMALL_K_HURRIED 20000u /* fewer warps than some rounds: half as many, since the last to end is what counts */
#define SMALL_K_COARSE  1024   /* as KNN_COARSE, in the tree's frame */
#define SMALL_K_SINGLE  4u     /* blocks of a multiprocessor that search for single queries */
#define SMALL_K_WALKS   2u     /* of unresolved warps; one is enough unless many distances differ in their last bits */

template <int T> struct small_k_memory {
    small_k_walk_memory walk;
    uint32_t place[T * CUDA_WARP];
};

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
template <int KIND, int T, class LIST>
static __device__ __forceinline__ bool small_k_decide(const knn_search_args *args, small_k_lane *lane,
                                                      const LIST *nearest, small_k_found<T> *found) {
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
    return nearest->is_resolved(args, lane);
}

/* ---- the search */

/* The lane's query. */
template <int KIND, bool LOCAL>
static __device__ __forceinline__ void small_k_lane_begin(const knn_search_args *args, uint64_t first, uint32_t number,
                                                          const knn_frame<KIND, LOCAL> *frame, small_k_lane *lane) {
    lane->number = number;
    lane->place = (uint32_t)first + number;
    const float3 at = knn_view_at<KIND, LOCAL>(&args->tree.metric, frame, &args->queries, lane->place);
    lane->at[0] = at.x;
    lane->at[1] = at.y;
    lane->at[2] = at.z;
    lane->max = first + number < args->queries.extent->finite ? INFINITY : -1;
    lane->slack = knn_slack<KIND, LOCAL>(args->tree.points.extent, args->queries.extent, at.x, at.y, at.z);
    lane->resolved = UINT32_MAX;
    lane->queued = 0;
}

/* Whether the lane's query sees too little in the frame. A list has little room beyond k, so in the tree's frame it
   must see well: else more points than that may seem as near as the k-th. */
template <int KIND, bool LOCAL>
static __device__ __forceinline__ bool small_k_is_coarse(const knn_search_args *args, knn_leaf_range around,
                                                         const small_k_lane *lane) {
    const uint32_t leaf = around.first + lane->number;
    const float times = LOCAL ? KNN_COARSE : SMALL_K_COARSE;
    return knn_sees_coarsely<KIND>(&args->tree, leaf, leaf < around.end, lane->slack, times) && lane->max >= 0;
}

/* The lanes' queries, how far they look, and the groups. Returns whether any query sees too little in the tree's frame;
   that is all it does then. In a local frame those queries are single. */
template <int KIND, bool LOCAL, int SUBSETS>
static __device__ __forceinline__ bool small_k_prepare(const knn_search_args *args, uint64_t first, uint32_t number,
                                                       small_k_walk_memory *memory, small_k_lane *lane,
                                                       small_k_warp<KIND, LOCAL> *w) {
    const uint32_t leaf = knn_leaf_of(args, first + CUDA_WARP / 2);
    const knn_leaf_range around = knn_leaves_around(&args->tree, leaf, SMALL_K_CURVE_LEAVES);
    knn_frame_at<KIND, LOCAL>(&args->queries, first + CUDA_WARP / 2, &w->frame);
    small_k_lane_begin<KIND, LOCAL>(args, first, number, &w->frame, lane);
    const bool is_coarse = small_k_is_coarse<KIND, LOCAL>(args, around, lane);
    if (KIND != KNN_FLOAT && !LOCAL && __any_sync(CUDA_ALL, is_coarse)) return true;
    const small_k_curve_bound bound = small_k_bound_on_curve<SUBSETS, KIND, LOCAL>(
        &args->tree, &w->frame, around, lane->at, args->k - 1 + (args->exclude_self ? 1 : 0));
    if (lane->max >= 0) {
        lane->max = fminf(knn_square_bound_near<KIND>(&args->tree.metric, bound.bound, lane->slack),
                          knn_square_of_key<KIND>(&args->tree.metric, args->limit, lane->slack));
    }
    if (is_coarse) lane->max = -1;
    w->own = leaf / KNN_CUDA_WIDE;
    if (small_k_searches_far(lane, bound.bound)) lane->max = -1;
    small_k_make_groups(lane, memory->groups, &w->resolved);
    const bool wide = small_k_is_wide(lane, bound.dense, memory->groups);
    if (!__any_sync(CUDA_ALL, wide)) return false;
    if (wide) lane->max = -1;
    small_k_publish_groups(lane, 0, memory->groups, &w->resolved);
    return false;
}

/* Whether the lane has a query that the warp did not search for. */
static __device__ __forceinline__ bool small_k_is_single(const knn_search_args *args, const small_k_lane *lane) {
    return lane->max < 0 && lane->place < args->queries.extent->finite;
}

#define SMALL_K_NO_QUERY UINT64_MAX
#define SMALL_K_NO_KTH   (SMALL_K_NONE - 1)

/* Of an unresolved warp's query: the place of the k-th that was found, SMALL_K_NO_KTH if there were fewer, and
   SMALL_K_NONE if it was not searched for. */
template <int T>
static __device__ __forceinline__ void
small_k_defer_unresolved(const knn_search_args *args, const knn_deferred *deferred, bool searched,
                         const small_k_lane *lane, const small_k_found<T> *found) {
    const uint32_t place = found->last_place(args->k);
    if (lane->place >= args->queries.count) return;
    deferred->last_places[lane->place] = !searched ? SMALL_K_NONE : place == SMALL_K_NONE ? SMALL_K_NO_KTH : place;
}

/* The queries of a warp by lists of squares. Returns whether they are too coarse for the frame; nothing is done then.
   max: leaves that a group goes through before its queries are deferred.
   to.write<KIND>(args, place, number, found, scratch): what becomes of the neighbours of the query at a sorted place,
   of which the first args->k of found count; nothing if place is none of a query. Called by all lanes of a warp, with T
   words of shared memory for each. OUTPUT::keys: it reads their keys. */
template <int KIND, int T, int SUBSETS, bool LOCAL, class OUTPUT>
static __device__ __forceinline__ bool small_k_search_warp(const knn_search_args *args, const knn_deferred *deferred,
                                                           uint32_t warp, uint32_t max, small_k_memory<T> *memory,
                                                           const OUTPUT *to) {
    const uint32_t number = threadIdx.x % CUDA_WARP;
    const uint64_t first = (uint64_t)warp * CUDA_WARP;
    small_k_found<T> found;
    bool single = false;
    found.clear();
    if (first < args->queries.extent->finite && args->tree.nodes[0] > 0) {
        small_k_lane lane;
        small_k_warp<KIND, LOCAL> w;
        small_k_nearest<T> nearest;
        if (small_k_prepare<KIND, LOCAL, SUBSETS>(args, first, number, &memory->walk, &lane, &w)) return true;
        nearest.clear();
        nearest.places = memory->place + number;
        small_k_traverse<KIND, LOCAL>(args, max, &memory->walk, &lane, &w, &nearest);
        const bool stopped = lane.max < 0 && nearest.is_idle(args); /* before it saw all points in its place */
        if (!OUTPUT::keys &&
            __all_sync(CUDA_ALL, !stopped && (lane.max < 0 || nearest.template is_clear<KIND>(args, &lane)))) {
            nearest.tell(&found);
        } else {
            const bool decided = small_k_decide<KIND, T>(args, &lane, &nearest, &found) || lane.max < 0;
            const bool right = decided && !stopped;
            if (__popc(__ballot_sync(CUDA_ALL, !right)) > SMALL_K_STRAYS) {
                small_k_defer_unresolved<T>(args, deferred, stopped || lane.max >= 0, &lane, &found);
                knn_defer(LOCAL ? &deferred->coarse_unresolved : &deferred->unresolved, warp);
                return false;
            }
            if (!right) lane.max = -1; /* a few are single */
        }
        single = small_k_is_single(args, &lane);
        knn_defer_lanes(&deferred->single, single, lane.place);
    }
    __syncwarp();
    to->template write<KIND, T>(args, single ? SMALL_K_NO_QUERY : first + number, number, &found, memory->place);
    return false;
}

template <int KIND, int T, int SUBSETS, class OUTPUT>
static __global__ __launch_bounds__(SMALL_K_THREADS,
                                    T <= 11 ? 4 : 3) void search_small_k(const __grid_constant__ knn_search_args args,
                                                                         knn_deferred deferred, uint32_t max,
                                                                         OUTPUT to) {
    __shared__ small_k_memory<T> memories[SMALL_K_WARPS];
    const uint32_t warp = blockIdx.x * SMALL_K_WARPS + threadIdx.x / CUDA_WARP;
    small_k_memory<T> *const memory = &memories[threadIdx.x / CUDA_WARP];
    knn_deferred_prepare_next(&deferred);
    if ((uint64_t)warp * CUDA_WARP >= args.queries.count) return;
    if (small_k_search_warp<KIND, T, SUBSETS, false>(&args, &deferred, warp, max, memory, &to)) {
        knn_defer(&deferred.coarse, warp);
    }
}

/* ---- what search_small_k deferred */

/* Coarse warps, in local frames. Making views of exact values takes registers, so fewer blocks are asked for at once
   than of search_small_k; how many are best has not been measured. */
template <int KIND, int T, int SUBSETS, class OUTPUT>
static __global__
__launch_bounds__(SMALL_K_THREADS, T <= 11 ? 3 : 2) void search_coarse(const __grid_constant__ knn_search_args args,
                                                                       knn_deferred deferred, uint32_t max, OUTPUT to) {
    __shared__ small_k_memory<T> memories[SMALL_K_WARPS];
    const uint32_t warp = threadIdx.x / CUDA_WARP, count = *deferred.coarse.count;
    CUDA_ROLLED
    for (uint32_t i = blockIdx.x * SMALL_K_WARPS + warp; i < count; i += gridDim.x * SMALL_K_WARPS) {
        small_k_search_warp<KIND, T, SUBSETS, true>(&args, &deferred, deferred.coarse.numbers[i], max, &memories[warp],
                                                    &to);
        __syncwarp();
    }
}

/* The lane's query of an unresolved warp, where its walk begins anew. */
template <int KIND, bool LOCAL, int T>
static __device__ __forceinline__ void
small_k_resume(const knn_search_args *args, const knn_deferred *deferred, uint64_t first, uint32_t number,
               small_k_walk_memory *memory, small_k_lane *lane, small_k_warp<KIND, LOCAL> *w, small_k_up_to<T> *list) {
    knn_frame_at<KIND, LOCAL>(&args->queries, first + CUDA_WARP / 2, &w->frame);
    small_k_lane_begin<KIND, LOCAL>(args, first, number, &w->frame, lane);
    w->own = knn_leaf_of(args, first + CUDA_WARP / 2) / KNN_CUDA_WIDE;
    const uint32_t place = lane->max >= 0 ? deferred->last_places[lane->place] : SMALL_K_NONE;
    knn_exact_of<KIND>(&args->queries, lane->place, &list->query);
    list->last = args->limit;
    if (place < SMALL_K_NO_KTH) list->last = small_k_key_of<KIND>(args, &list->query, place);
    if (knn_is_zero(list->last)) lane->resolved = __ldg(args->tree.points.order + place);
    lane->max = place != SMALL_K_NONE ? knn_square_of_key<KIND>(&args->tree.metric, list->last, lane->slack) : -1;
    small_k_make_groups(lane, memory->groups, &w->resolved);
}

/* Unresolved warps, by keys. LOCAL: those in local frames. Up to `few` of them are left to search_single. */
template <int KIND, int T, bool LOCAL, class OUTPUT>
static __global__ __launch_bounds__(SMALL_K_THREADS, T <= 11 ? 3 : 2) void search_unresolved(
    const __grid_constant__ knn_search_args args, knn_deferred deferred, uint32_t max, uint32_t few, OUTPUT to) {
    __shared__ small_k_memory<T> memories[SMALL_K_WARPS];
    const knn_deferred_list *const warps = LOCAL ? &deferred.coarse_unresolved : &deferred.unresolved;
    const uint32_t number = threadIdx.x % CUDA_WARP, warp = threadIdx.x / CUDA_WARP, count = *warps->count;
    small_k_memory<T> *const memory = &memories[warp];
    CUDA_ROLLED
    for (uint32_t i = blockIdx.x * SMALL_K_WARPS + warp; i < count; i += gridDim.x * SMALL_K_WARPS) {
        const uint64_t first = (uint64_t)warps->numbers[i] * CUDA_WARP;
        small_k_lane lane;
        small_k_warp<KIND, LOCAL> w;
        small_k_up_to<T> list;
        small_k_found<T> found;
        found.clear();
        list.places = memory->place + number;
        small_k_resume<KIND, LOCAL>(&args, &deferred, first, number, &memory->walk, &lane, &w, &list);
        if (count <= few) lane.max = -1;
        CUDA_ROLLED
        for (uint32_t walk = 1; count > few; walk++) {
            list.clear();
            small_k_traverse<KIND, LOCAL>(&args, max, &memory->walk, &lane, &w, &list);
            const bool right = small_k_decide<KIND, T>(&args, &lane, &list, &found) || lane.max < 0;
            const uint32_t wrong = (uint32_t)__popc(__ballot_sync(CUDA_ALL, !right));
            if (wrong > SMALL_K_STRAYS && walk < SMALL_K_WALKS) {
                const uint64_t last = found.last_key(args.k);
                list.last = last < args.limit ? last : args.limit;
                small_k_publish_groups(&lane, 0, memory->walk.groups, &w.resolved);
                continue;
            }
            if (!right) lane.max = -1;
            break;
        }
        const bool single = small_k_is_single(&args, &lane);
        knn_defer_lanes(&deferred.single, single, lane.place);
        __syncwarp();
        to.template write<KIND, T>(&args, single ? SMALL_K_NO_QUERY : first + number, number, &found, memory->place);
        __syncwarp();
    }
}

template <int T>
static __device__ __forceinline__ void small_k_take(const small_k_single<T> *from, small_k_found<T> *found) {
#pragma unroll
    for (int i = 0; i < T; i++) {
        found->key[i] = from->key[i];
        found->place[i] = from->place[i];
    }
}

/* What the warps of a block keep in shared memory. */
template <int T> struct small_k_single_block {
    small_k_single<T> of_warp[SMALL_K_WARPS];
    uint32_t scratch[T * CUDA_WARP];
};

/* Single queries: a warp has one at a time, and the first warp of a block writes for all. */
template <int KIND, int T, class OUTPUT>
static __global__ __launch_bounds__(SMALL_K_THREADS,
                                    SMALL_K_SINGLE) void search_single(const __grid_constant__ knn_search_args args,
                                                                       knn_deferred deferred, OUTPUT to) {
    __shared__ small_k_single_block<T> memory;
    const uint32_t number = threadIdx.x % CUDA_WARP, warp = threadIdx.x / CUDA_WARP, count = *deferred.single.count;
    const uint32_t *const queries = deferred.single.numbers;
    CUDA_ROLLED
    for (uint32_t i = blockIdx.x * SMALL_K_WARPS; i < count; i += gridDim.x * SMALL_K_WARPS) {
        if (i + warp < count) small_k_search_single<KIND, T>(&args, queries[i + warp], &memory.of_warp[warp]);
        __syncthreads();
        if (warp == 0) {
            const bool has_query = number < SMALL_K_WARPS && i + number < count;
            const uint64_t place = has_query ? queries[i + number] : SMALL_K_NO_QUERY;
            small_k_found<T> found;
            found.clear();
            if (has_query) small_k_take<T>(&memory.of_warp[number], &found);
            __syncwarp();
            to.template write<KIND, T>(&args, place, number, &found, memory.scratch);
        }
        __syncthreads();
    }
}

/* ---- launches */

/* A search, as the steps of its launch see it. */
template <class OUTPUT> struct small_k_launch_args {
    mote_device *gpu;
    const knn_search_args *args;
    knn_deferred deferred;
    uint32_t max; /* leaves that a group goes through before its queries are deferred */
    const OUTPUT *to;
};

/* Blocks of a launch for what is deferred by a launch of some blocks. */
static inline uint32_t small_k_deferred_blocks(mote_device *gpu, const void *kernel, uint32_t blocks) {
    const uint32_t resident = cuda_resident_blocks(gpu, kernel, SMALL_K_THREADS);
    return blocks < resident / CUDA_WARP ? blocks * CUDA_WARP : resident;
}

/* Rounds of search_single in which all queries of some unresolved warps may be searched for: then the last of them is
   done before one warp that has all 32 would be. */
#define SMALL_K_ROUNDS 2u

template <int KIND, int T, bool LOCAL, class OUTPUT>
static void small_k_launch_unresolved(const small_k_launch_args<OUTPUT> *l, uint32_t blocks, uint32_t few) {
    const void *const kernel = (const void *)search_unresolved<KIND, T, LOCAL, OUTPUT>;
    CUDA_LAUNCH(l->gpu, (search_unresolved<KIND, T, LOCAL, OUTPUT>), small_k_deferred_blocks(l->gpu, kernel, blocks),
                SMALL_K_THREADS, *l->args, l->deferred, l->max, few, *l->to);
}

template <int KIND, int T, int SUBSETS, class OUTPUT>
static void small_k_launch_as(const small_k_launch_args<OUTPUT> *l) {
    const uint32_t blocks = cuda_blocks(l->args->queries.count, SMALL_K_THREADS);
    const void *const single = (const void *)search_single<KIND, T, OUTPUT>;
    const uint32_t single_blocks = small_k_deferred_blocks(l->gpu, single, blocks);
    const uint32_t few = SMALL_K_ROUNDS * single_blocks * SMALL_K_WARPS / CUDA_WARP;
    CUDA_LAUNCH(l->gpu, (search_small_k<KIND, T, SUBSETS, OUTPUT>), blocks, SMALL_K_THREADS, *l->args, l->deferred,
                l->max, *l->to);
    if constexpr (KIND != KNN_FLOAT) {
        const void *const kernel = (const void *)search_coarse<KIND, T, SUBSETS, OUTPUT>;
        CUDA_LAUNCH(l->gpu, (search_coarse<KIND, T, SUBSETS, OUTPUT>), small_k_deferred_blocks(l->gpu, kernel, blocks),
                    SMALL_K_THREADS, *l->args, l->deferred, l->max, *l->to);
        small_k_launch_unresolved<KIND, T, true>(l, blocks, few);
    }
    small_k_launch_unresolved<KIND, T, false>(l, blocks, few);
    CUDA_LAUNCH(l->gpu, (search_single<KIND, T, OUTPUT>), single_blocks, SMALL_K_THREADS, *l->args, l->deferred,
                *l->to);
}

template <int KIND, class OUTPUT> static void small_k_launch_kind(const small_k_launch_args<OUTPUT> *l) {
    if (l->args->k <= 4) {
        small_k_launch_as<KIND, 5, 16>(l);
    } else if (l->args->k <= 10) {
        small_k_launch_as<KIND, 11, 32>(l);
    } else {
        small_k_launch_as<KIND, 17, 32>(l);
    }
}

template <class OUTPUT>
static mote_status small_k_launch(mote_device *gpu, const knn_search_args *args, const OUTPUT *to) {
    const uint64_t warps = cuda_blocks(args->queries.count, CUDA_WARP);
    small_k_launch_args<OUTPUT> l;
    l.gpu = gpu;
    l.args = args;
    l.max = warps < SMALL_K_HURRIED ? SMALL_K_MAX / 2 : SMALL_K_MAX;
    l.to = to;
    MOTE_TRY(knn_deferred_reserve(gpu, warps, warps * CUDA_WARP, true, args->deferred_buffers, &l.deferred));
    knn_for_kind(args->tree.metric.kind, [&](auto of) { small_k_launch_kind<of.kind>(&l); });
    return knn_deferred_end(gpu, args->deferred_buffers);
}

#endif
