/* Up to 16 neighbours on the device, for .cu files: a lane has a query; the 32 queries of a warp, which are neighbours
   on the curve, walk together. What becomes of the neighbours is the caller's.
   1. The points around them on the curve, each square's least of some subsets: the k-th least of those bounds the k-th
      neighbour.
   2. The walk (knn_walk_cuda.cuh), for the boxes of each eight queries. The leaves that are listed for eight queries
      all lanes try, four leaves at once. Leaves with points that floats do not rule out wait in a queue of the query.
   3. When a queue is full, its points join the T nearest of the query, T above k (knn_small_k_list_cuda.cuh).
   4. In the end these get exact keys, and by them their order.
   What this does not answer is deferred to further kernels, lest all pay for it:

     warps    coarse            floats of the tree's frame see too little: anew in a local frame
              unresolved        a point that was left out may be as near as the k-th: anew, with lists of exact keys
              coarse_unresolved the same of warps in local frames
     queries  single            they look much farther than others, or their group's box holds too much: a warp for
                                each */
#ifndef MOTE_KNN_SMALL_K_CUDA_H
#define MOTE_KNN_SMALL_K_CUDA_H

#include "knn/search/knn_deferred_cuda.cuh"
#include "knn/search/knn_small_k_single_cuda.cuh"
#include "knn/search/knn_small_k_walk_cuda.cuh"

#define SMALL_K_HURRIED  20000u /* fewer warps than some rounds: half as many, since the last to end is what counts */
#define SMALL_K_COARSE   1024   /* as KNN_COARSE, in the tree's frame */
#define SMALL_K_DEFERRED 2u     /* blocks of a multiprocessor that search for unresolved warps */
#define SMALL_K_SINGLE   4u     /* and for single queries */

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

/* The lanes' queries, how far they look, and the groups. Returns whether any query sees too little; where defers, that
   is all it does then, otherwise those queries are single. */
template <int KIND, bool LOCAL, int SUBSETS>
static __device__ __forceinline__ bool small_k_prepare(const knn_search_args *args, uint64_t first, uint32_t number,
                                                       bool defers, small_k_walk_memory *memory, small_k_lane *lane,
                                                       small_k_warp<KIND, LOCAL> *w) {
    const uint32_t leaf = knn_leaf_of(args, first + CUDA_WARP / 2);
    const knn_leaf_range around = knn_leaves_around(&args->tree, leaf, SMALL_K_CURVE_LEAVES);
    knn_frame_at<KIND, LOCAL>(&args->queries, first + CUDA_WARP / 2, &w->frame);
    small_k_lane_begin<KIND, LOCAL>(args, first, number, &w->frame, lane);
    const bool is_coarse = small_k_is_coarse<KIND, LOCAL>(args, around, lane);
    const bool any_is_coarse = KIND != KNN_FLOAT && __any_sync(CUDA_ALL, is_coarse);
    if (defers && any_is_coarse) return true;
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
    if (!__any_sync(CUDA_ALL, wide)) return any_is_coarse;
    if (wide) lane->max = -1;
    small_k_publish_groups(lane, 0, memory->groups, &w->resolved);
    return any_is_coarse;
}

/* Whether the lane has a query that the warp did not search for. */
static __device__ __forceinline__ bool small_k_is_single(const knn_search_args *args, const small_k_lane *lane) {
    return lane->max < 0 && lane->place < args->queries.extent->finite;
}

#define SMALL_K_NO_QUERY UINT64_MAX

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
        if (small_k_prepare<KIND, LOCAL, SUBSETS>(args, first, number, !LOCAL, &memory->walk, &lane, &w) && !LOCAL) {
            return true;
        }
        nearest.clear();
        nearest.places = memory->place + number;
        bool resolved = small_k_traverse<KIND, LOCAL>(args, max, &memory->walk, &lane, &w, &nearest);
        if (resolved && !OUTPUT::keys &&
            __all_sync(CUDA_ALL, lane.max < 0 || nearest.template is_clear<KIND>(args, &lane))) {
            nearest.tell(&found);
        } else if (resolved) {
            const bool right = small_k_decide<KIND, T>(args, &lane, &nearest, &found) || lane.max < 0;
            resolved = __popc(__ballot_sync(CUDA_ALL, !right)) <= SMALL_K_STRAYS;
            if (!right) lane.max = -1; /* a few are single */
        }
        if (!resolved) {
            knn_defer(LOCAL ? &deferred->coarse_unresolved : &deferred->unresolved, warp);
            return false;
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

template <int T>
static __device__ __forceinline__ void small_k_take(const small_k_single<T> *from, small_k_found<T> *found) {
#pragma unroll
    for (int i = 0; i < T; i++) {
        found->key[i] = from->key[i];
        found->place[i] = from->place[i];
    }
}

/* Unresolved warps, with lists of exact keys. LOCAL: those in local frames. Up to `few` of them are left to
   search_single. */
template <int KIND, int T, int SUBSETS, bool LOCAL, class OUTPUT>
static __global__ __launch_bounds__(SMALL_K_THREADS, SMALL_K_DEFERRED) void search_unresolved(
    const __grid_constant__ knn_search_args args, knn_deferred deferred, uint32_t max, uint32_t few, OUTPUT to) {
    __shared__ small_k_memory<T> memories[SMALL_K_WARPS];
    const knn_deferred_list *const warps = LOCAL ? &deferred.coarse_unresolved : &deferred.unresolved;
    const uint32_t number = threadIdx.x % CUDA_WARP, warp = threadIdx.x / CUDA_WARP, count = *warps->count;
    small_k_memory<T> *const memory = &memories[warp];
    if (count <= few) return;
    CUDA_ROLLED
    for (uint32_t i = blockIdx.x * SMALL_K_WARPS + warp; i < count; i += gridDim.x * SMALL_K_WARPS) {
        const uint64_t first = (uint64_t)warps->numbers[i] * CUDA_WARP;
        small_k_lane lane;
        small_k_warp<KIND, LOCAL> w;
        small_k_found<T> found;
        found.clear();
        small_k_prepare<KIND, LOCAL, SUBSETS>(&args, first, number, false, &memory->walk, &lane, &w);
        small_k_traverse<KIND, LOCAL>(&args, max, &memory->walk, &lane, &w, &found);
        const bool single = small_k_is_single(&args, &lane);
        knn_defer_lanes(&deferred.single, single, lane.place);
        __syncwarp();
        to.template write<KIND, T>(&args, single ? SMALL_K_NO_QUERY : first + number, number, &found, memory->place);
        __syncwarp();
    }
}

/* Queries that have a warp each: those of a list, and all of some unresolved warps. */
typedef struct small_k_queries {
    const uint32_t *numbers[3];
    uint32_t counts[3]; /* queries */
} small_k_queries;

static __device__ __forceinline__ small_k_queries small_k_queries_of(const knn_deferred *deferred, uint32_t few) {
    const uint32_t unresolved = *deferred->unresolved.count, coarse = *deferred->coarse_unresolved.count;
    small_k_queries queries;
    queries.numbers[0] = deferred->single.numbers;
    queries.numbers[1] = deferred->unresolved.numbers;
    queries.numbers[2] = deferred->coarse_unresolved.numbers;
    queries.counts[0] = *deferred->single.count;
    queries.counts[1] = unresolved <= few ? unresolved * CUDA_WARP : 0;
    queries.counts[2] = coarse <= few ? coarse * CUDA_WARP : 0;
    return queries;
}

/* The sorted place of the i-th of them. */
static __device__ __forceinline__ uint32_t small_k_query_at(const small_k_queries *queries, uint32_t i) {
    if (i < queries->counts[0]) return queries->numbers[0][i];
    i -= queries->counts[0];
    const bool first = i < queries->counts[1];
    if (!first) i -= queries->counts[1];
    return queries->numbers[first ? 1 : 2][i / CUDA_WARP] * CUDA_WARP + i % CUDA_WARP;
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
                                                                       knn_deferred deferred, uint32_t few, OUTPUT to) {
    __shared__ small_k_single_block<T> memory;
    const uint32_t number = threadIdx.x % CUDA_WARP, warp = threadIdx.x / CUDA_WARP;
    const small_k_queries queries = small_k_queries_of(&deferred, few);
    const uint32_t count = queries.counts[0] + queries.counts[1] + queries.counts[2],
                   finite = args.queries.extent->finite;
    CUDA_ROLLED
    for (uint32_t i = blockIdx.x * SMALL_K_WARPS; i < count; i += gridDim.x * SMALL_K_WARPS) {
        if (i + warp < count) {
            const uint32_t place = small_k_query_at(&queries, i + warp);
            if (place < finite) small_k_search_single<KIND, T>(&args, place, &memory.of_warp[warp]);
        }
        __syncthreads();
        if (warp == 0) {
            const bool has_query = number < SMALL_K_WARPS && i + number < count;
            const uint64_t place = has_query ? small_k_query_at(&queries, i + number) : SMALL_K_NO_QUERY;
            small_k_found<T> found;
            found.clear();
            if (has_query && place < finite) small_k_take<T>(&memory.of_warp[number], &found);
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

template <int KIND, int T, int SUBSETS, bool LOCAL, class OUTPUT>
static void small_k_launch_unresolved(const small_k_launch_args<OUTPUT> *l, uint32_t blocks, uint32_t few) {
    const void *const kernel = (const void *)search_unresolved<KIND, T, SUBSETS, LOCAL, OUTPUT>;
    CUDA_LAUNCH(l->gpu, (search_unresolved<KIND, T, SUBSETS, LOCAL, OUTPUT>),
                small_k_deferred_blocks(l->gpu, kernel, blocks), SMALL_K_THREADS, *l->args, l->deferred, l->max, few,
                *l->to);
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
        small_k_launch_unresolved<KIND, T, SUBSETS, true>(l, blocks, few);
    }
    small_k_launch_unresolved<KIND, T, SUBSETS, false>(l, blocks, few);
    CUDA_LAUNCH(l->gpu, (search_single<KIND, T, OUTPUT>), single_blocks, SMALL_K_THREADS, *l->args, l->deferred, few,
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
    MOTE_TRY(knn_deferred_reserve(gpu, warps, warps * CUDA_WARP, args->deferred_buffers, &l.deferred));
    knn_for_kind(args->tree.metric.kind, [&](auto of) { small_k_launch_kind<of.kind>(&l); });
    return knn_deferred_end(gpu, args->deferred_buffers);
}

#endif
