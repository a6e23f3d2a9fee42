/* Many neighbours on the device: a warp answers some queries that are neighbours on the curve, one by one.
   1. The points around all of them on the curve; of each query, about the k-th least square of these bounds the k-th
      neighbour.
   2. One walk lists the leaves that may matter to any; where they are too many, every query walks alone.
   3. The leaves of a query are tried, 64 points at once. What floats do not rule out are candidates, in shared memory
      (knn_candidates_cuda.cuh).
   4. Exact keys of the candidates, and a sort. Then the row.
   Warps whose floats see too little in the tree's frame are deferred to a launch in local frames, and queries that
   walk past very many leaves to one that compares by doubles, nearest nodes first (knn_single_cuda.cuh). */
#include "knn/cuda/search/knn_deferred_cuda.cuh"
#include "knn/cuda/search/knn_resolve_cuda.cuh"
#include "knn/cuda/search/knn_single_cuda.cuh"

#define QUERIES 8u /* of a warp, at most */

/* The shared memory of one warp: its queries, and what it knows of the one that it answers. */
template <uint32_t CAPACITY, uint32_t LISTED> struct large_k_memory {
    knn_candidates<CAPACITY> candidates;
    float4 query[QUERIES]; /* its view, and how far it looks; < 0: there is none */
    float4 normal[QUERIES];
    uint32_t waiting[KNN_WAITING]; /* nodes */
    uint32_t listed[LISTED], near[LISTED];
    uint8_t wanted[LISTED]; /* by which queries */
};

/* ---- 1. the bounds */

#define AROUND 32u /* leaves: one a lane */

/* A leaf of each lane; NaN where there is none. */
template <int KIND, bool LOCAL>
static __device__ inline void load_leaves_around(const knn_cuda_tree *tree, const knn_frame<KIND, LOCAL> *frame,
                                                 uint32_t middle, uint32_t lane, knn_leaf_views *v) {
    const knn_leaf_range around = knn_leaves_around(tree, middle, AROUND);
    const uint32_t leaf = around.first + lane;
    knn_load_leaf<KIND, LOCAL>(tree, frame, leaf < around.end ? leaf : around.end - 1, v);
    if (leaf < around.end) return;
#pragma unroll
    for (uint32_t j = 0; j < KNN_CUDA_LEAF; j++) v->x[j] = NAN;
}

/* How far each query looks: the lane of its number has it. Their views and normals are in memory. */
template <int KIND, bool ELLIPSOID, uint32_t CAPACITY, uint32_t LISTED, bool LOCAL>
static __device__ inline float bounds_around(const knn_search_args *args, const knn_frame<KIND, LOCAL> *frame,
                                             const knn_distance_bounds *distance_bounds, uint32_t queries,
                                             uint32_t middle, uint32_t lane,
                                             const large_k_memory<CAPACITY, LISTED> *memory) {
    const uint32_t nth = args->k + (args->exclude_self ? 1 : 0);
    float mine = INFINITY, guess = 0;
    knn_leaf_views v;
    load_leaves_around<KIND, LOCAL>(&args->tree, frame, middle, lane, &v);
    for (uint32_t q = 0; q < queries; q++) {
        const float4 at = memory->query[q], normal = memory->normal[q];
        float square[KNN_CUDA_LEAF];
#pragma unroll
        for (uint32_t j = 0; j < KNN_CUDA_LEAF; j++) {
            square[j] = knn_bounded_square<ELLIPSOID>(v.x[j] - at.x, v.y[j] - at.y, v.z[j] - at.z, normal);
        }
        if (q == 0) { /* about the middle one */
            guess = warp_broadcast(square[0], CUDA_WARP / 2 + 2);
            guess = guess > 0 && guess <= FLT_MAX ? guess : 1;
        }
        const float bound = knn_bound_of(square, nth, guess);
        if (bound <= FLT_MAX && bound > 0) guess = bound;
        if (q == lane) mine = bound;
    }
    return knn_distance_bound_near<KIND, ELLIPSOID>(args, mine, distance_bounds);
}

/* ---- 2. the leaves */

/* Whose leaves are listed: those of a box of queries, or of one, whose normal then counts. */
typedef struct large_k_box {
    float low[3], high[3], max;
    uint32_t resolved;
    float4 normal;
    float compression;
} large_k_box;

template <bool ELLIPSOID> struct large_k_box_test {
    const large_k_box *to;

    __device__ inline uint32_t operator()(const knn_cuda_box *box) const {
        float square;
        if (ELLIPSOID) {
            const float4 at = make_float4(to->low[0], to->low[1], to->low[2], 0);
            square = knn_bounded_box_square<true>(box, at, to->normal, to->compression);
        } else {
            square = knn_gap_square(box, to->low, to->high);
        }
        return square <= to->max && box->min <= to->resolved;
    }
};

/* The box of the warp's queries, and the farthest any looks; each lane below queries brings one. */
static __device__ inline large_k_box box_of_queries(float4 at, float max, bool valid) {
    const float own[3] = {at.x, at.y, at.z};
    large_k_box box;
    box.max = valid ? max : -1;
    box.resolved = UINT32_MAX;
    box.normal = make_float4(0, 0, 0, 0);
    box.compression = 1;
#pragma unroll
    for (int k = 0; k < 3; k++) {
        box.low[k] = warp_broadcast(warp_min<QUERIES>(valid ? own[k] : INFINITY), 0);
        box.high[k] = warp_broadcast(warp_max<QUERIES>(valid ? own[k] : -INFINITY), 0);
    }
    box.max = warp_broadcast(warp_max<QUERIES>(box.max), 0);
    return box;
}

/* Lists the leaves that matter to any query, and notes to which. Returns how many; UINT32_MAX: too many. */
template <int KIND, bool ELLIPSOID, uint32_t CAPACITY, uint32_t LISTED, bool LOCAL>
static __device__ inline uint32_t list_for_all(const knn_cuda_tree *tree, const knn_frame<KIND, LOCAL> *frame,
                                               const large_k_box *to, float compression, uint32_t lane,
                                               large_k_memory<CAPACITY, LISTED> *memory) {
    const knn_leaf_range none = {0, 0};
    const large_k_box_test<false> test = {to};
    knn_walk<1> w;
    w.waiting = knn_push_top(tree, memory->waiting, lane);
    knn_list_leaves<1, KNN_WAITING>(tree, frame, test, KNN_NO_NODE, none, lane, memory->waiting, &memory->listed, &w);
    if (w.waiting > 0) return UINT32_MAX;
    for (uint32_t i = lane; i < w.listed[0]; i += CUDA_WARP) {
        const knn_cuda_box box = knn_load_box<KIND, LOCAL>(tree, frame, memory->listed[i]);
        uint32_t wanted = 0;
#pragma unroll
        for (uint32_t q = 0; q < QUERIES; q++) {
            const float4 of = memory->query[q], normal = ELLIPSOID ? memory->normal[q] : of;
            wanted |= knn_bounded_box_square<ELLIPSOID>(&box, of, normal, compression) <= of.w ? 1u << q : 0;
        }
        memory->wanted[i] = (uint8_t)wanted;
    }
    __syncwarp();
    return w.listed[0];
}

/* The listed leaves that the query wants. */
template <uint32_t CAPACITY, uint32_t LISTED>
static __device__ inline uint32_t choose_near(uint32_t listed, uint32_t q, uint32_t lane,
                                              large_k_memory<CAPACITY, LISTED> *memory) {
    uint32_t near = 0;
    for (uint32_t first = 0; first < listed; first += CUDA_WARP) {
        const uint32_t i = first + lane;
        const bool wanted = i < listed && (memory->wanted[i] >> q & 1) != 0;
        const uint32_t at = warp_append(wanted, &near);
        if (wanted) memory->near[at] = memory->listed[i];
    }
    __syncwarp();
    return near;
}

/* ---- 3. the candidates */

#define LANES_OF_LEAF 4u /* each tries two points */
#define LEAVES        (CUDA_WARP / LANES_OF_LEAF)

/* Takes those points of leaves that are near enough as candidates. */
template <int KIND, bool ELLIPSOID, uint32_t CAPACITY, bool LOCAL>
static __device__ inline void
try_leaves(const knn_search_args *args, const knn_frame<KIND, LOCAL> *frame, const knn_distance_bounds *distance_bounds,
           const uint32_t *leaves, uint32_t count, uint32_t lane, knn_query_state *s, knn_candidates<CAPACITY> *c) {
    const uint32_t pair = lane % LANES_OF_LEAF;
    for (uint32_t first = 0; first < count; first += LEAVES) {
        const uint32_t i = first + lane / LANES_OF_LEAF;
        const uint32_t leaf = leaves[i < count ? i : first];
        const uint32_t place = leaf * KNN_CUDA_LEAF + 2 * pair;
        const float max = i < count ? s->max : -1;
        float x[2], y[2], z[2], square[2];
        uint32_t lanes[2];
        knn_load<KIND, LOCAL, 2>(&args->tree.metric, frame, &args->tree.points, place, 0, x);
        knn_load<KIND, LOCAL, 2>(&args->tree.metric, frame, &args->tree.points, place, 1, y);
        knn_load<KIND, LOCAL, 2>(&args->tree.metric, frame, &args->tree.points, place, 2, z);
#pragma unroll
        for (uint32_t j = 0; j < 2; j++) {
            square[j] = knn_bounded_square<ELLIPSOID>(x[j] - s->at.x, y[j] - s->at.y, z[j] - s->at.z, s->normal);
            lanes[j] = __ballot_sync(CUDA_ALL, square[j] <= max);
        }
        const uint32_t more = (uint32_t)(__popc(lanes[0]) + __popc(lanes[1]));
        if (s->queued + more > CAPACITY) knn_prune<KIND, ELLIPSOID, CAPACITY>(args, distance_bounds, lane, s, c);
        if (s->queued + more > CAPACITY) knn_make_room<KIND, ELLIPSOID, CAPACITY>(args, distance_bounds, lane, s, c);
        knn_add(lanes[0], place, square[0], lane, s, c);
        knn_add(lanes[1], place + 1, square[1], lane, s, c);
    }
    __syncwarp();
}

/* ---- 4. one query */

/* The leaves around a query on the curve: of twice as many points as are wanted. */
static __device__ inline knn_leaf_range leaves_for(const knn_search_args *args, uint32_t place) {
    return knn_leaves_around(&args->tree, knn_leaf_of(args, place), 2 * (args->k / KNN_CUDA_LEAF + 1));
}

template <uint32_t LISTED>
static __device__ inline uint32_t list_range(uint32_t first, uint32_t end, uint32_t lane, uint32_t *list) {
    const uint32_t count = end - first < LISTED ? end - first : LISTED;
    for (uint32_t i = lane; i < count; i += CUDA_WARP) list[i] = first + i;
    __syncwarp();
    return count;
}

/* A query beside a heap far denser than its own surroundings sees it, by floats, as one place: it walks past very many
   leaves, or its candidates are too many again and again. By doubles it finds the nearest of them first. */
#define WALKED(k) (1024u + 4 * (k)) /* leaves */
#define FILLED    6u                /* times */

/* Decides, once the leaves around a query were seen, how far it looks from now on. */
template <int KIND, bool ELLIPSOID, uint32_t CAPACITY>
static __device__ inline void bound_by_candidates(const knn_search_args *args,
                                                  const knn_distance_bounds *distance_bounds, uint32_t lane,
                                                  knn_query_state *s, knn_candidates<CAPACITY> *c) {
    if constexpr (CAPACITY > KNN_SORTED) {
        knn_make_room<KIND, ELLIPSOID, CAPACITY>(args, distance_bounds, lane, s, c);
    } else {
        knn_prune<KIND, ELLIPSOID, CAPACITY>(args, distance_bounds, lane, s, c);
    }
}

/* Lists leaves and tries them in turn: first, where nothing else bounds the query, those around; then those of the list
   for all, or of its own walk. Returns whether it came to the end of that. */
template <int KIND, bool ELLIPSOID, uint32_t CAPACITY, uint32_t LISTED, bool LOCAL>
static __device__ inline bool seek(const knn_search_args *args, const knn_frame<KIND, LOCAL> *frame,
                                   const knn_distance_bounds *distance_bounds, knn_leaf_range around, uint32_t q,
                                   uint32_t listed, uint32_t lane, knn_query_state *s,
                                   large_k_memory<CAPACITY, LISTED> *memory) {
    uint32_t next = around.first, walked = 0;
    knn_walk<1> w;
    large_k_box box;
    const large_k_box_test<ELLIPSOID> test = {&box};
    box.low[0] = box.high[0] = s->at.x;
    box.low[1] = box.high[1] = s->at.y;
    box.low[2] = box.high[2] = s->at.z;
    box.normal = s->normal;
    box.compression = distance_bounds->compression;
    for (bool more = true, walks = false; more;) {
        bool ends_around = false;
        uint32_t near;
        box.max = s->max;
        box.resolved = knn_resolved(&memory->candidates.last);
        if (next < around.end) {
            near = list_range<LISTED>(next, around.end, lane, memory->near);
            next += near;
            ends_around = next == around.end;
        } else if (listed != UINT32_MAX) {
            near = choose_near<CAPACITY, LISTED>(listed, q, lane, memory);
            more = false;
        } else {
            if (!walks) w.waiting = knn_push_top(&args->tree, memory->waiting, lane);
            walks = true;
            knn_list_leaves<1, KNN_WAITING>(&args->tree, frame, test, KNN_NO_NODE, around, lane, memory->waiting,
                                            &memory->near, &w);
            near = w.listed[0];
            more = w.waiting > 0;
            walked += near;
            if (!ELLIPSOID && more && (walked > WALKED(args->k) || memory->candidates.filled > FILLED)) return false;
        }
        try_leaves<KIND, ELLIPSOID>(args, frame, distance_bounds, memory->near, near, lane, s, &memory->candidates);
        if (ends_around) bound_by_candidates<KIND, ELLIPSOID>(args, distance_bounds, lane, s, &memory->candidates);
    }
    if (knn_is_unresolved<CAPACITY>(s)) {
        knn_resolve<KIND, ELLIPSOID, CAPACITY>(args, distance_bounds, lane, s, &memory->candidates);
    }
    return true;
}

/* ---- the kernels */

/* Whether the k-th neighbour is bounded by the points around that 32 lanes hold. */
template <uint32_t CAPACITY> static __device__ constexpr bool bounds_first() { return CAPACITY <= 256; }

template <int KIND, bool LOCAL>
static __device__ inline float4 view_of_query(const knn_search_args *args, const knn_frame<KIND, LOCAL> *frame,
                                              uint32_t place) {
    const float3 at = knn_view_at<KIND, LOCAL>(&args->tree.metric, frame, &args->queries, place);
    return make_float4(at.x, at.y, at.z, 0);
}

/* Which queries of a warp see too little in the frame, as bits. */
template <int KIND, bool LOCAL>
static __device__ inline uint32_t find_coarse(const knn_search_args *args, const knn_frame<KIND, LOCAL> *frame,
                                              uint32_t first, uint32_t queries, uint32_t lane) {
    if constexpr (KIND == KNN_FLOAT) {
        return 0;
    } else {
        const uint32_t middle = knn_leaf_of(args, first + queries / 2);
        const knn_leaf_range around = knn_leaves_around(&args->tree, middle, AROUND);
        const float4 at = view_of_query<KIND, LOCAL>(args, frame, first + (lane < queries ? lane : 0));
        const float slack = knn_slack<KIND, LOCAL>(args->tree.points.extent, args->queries.extent, at.x, at.y, at.z);
        const uint32_t leaf = around.first + lane;
        const bool coarse = knn_sees_coarsely<KIND>(&args->tree, leaf, leaf < around.end, slack, KNN_COARSE);
        return __ballot_sync(CUDA_ALL, coarse && lane < queries);
    }
}

/* Notes where the queries are and how far they look; returns the leaves for all, if they are few enough. */
template <int KIND, bool ELLIPSOID, uint32_t CAPACITY, uint32_t LISTED, bool LOCAL>
static __device__ inline uint32_t begin_queries(const knn_search_args *args, const knn_frame<KIND, LOCAL> *frame,
                                                const knn_distance_bounds *distance_bounds, uint32_t first,
                                                uint32_t queries, uint32_t single, uint32_t lane,
                                                large_k_memory<CAPACITY, LISTED> *memory) {
    const uint32_t place = first + (lane < queries ? lane : 0), middle = knn_leaf_of(args, first + queries / 2);
    const float4 at = view_of_query<KIND, LOCAL>(args, frame, place);
    const knn_distance_bounds mine = knn_distance_bounds_at<KIND, LOCAL>(args, at, distance_bounds);
    const bool valid = lane < queries && !(single >> lane & 1);
    if (lane < QUERIES) {
        memory->query[lane] = at;
        if (ELLIPSOID) memory->normal[lane] = knn_scaled_normal(args, place, distance_bounds);
    }
    __syncwarp();
    float max = knn_distance_bound_of_key<KIND, ELLIPSOID>(args, args->limit, &mine);
    max =
        fminf(max, bounds_around<KIND, ELLIPSOID, CAPACITY, LISTED>(args, frame, &mine, queries, middle, lane, memory));
    __syncwarp();
    if (lane < QUERIES) memory->query[lane].w = valid ? max : -1;
    __syncwarp();
    if (queries == 1) return UINT32_MAX;
    const large_k_box box = box_of_queries(at, max, valid);
    return list_for_all<KIND, ELLIPSOID>(&args->tree, frame, &box, distance_bounds->compression, lane, memory);
}

/* Finds the neighbours of one query: *found of them, or more. Returns whether it came to an end. */
template <int KIND, bool ELLIPSOID, uint32_t CAPACITY, uint32_t LISTED, bool LOCAL>
static __device__ inline bool answer_query(const knn_search_args *args, const knn_frame<KIND, LOCAL> *frame,
                                           const knn_distance_bounds *distance_bounds, uint32_t place, uint32_t q,
                                           uint32_t listed, uint32_t lane, large_k_memory<CAPACITY, LISTED> *memory,
                                           uint32_t *found) {
    knn_leaf_range around = {0, 0};
    knn_query_state s = knn_query_state_at(place);
    knn_query_state_begin<CAPACITY>(lane, &s, &memory->candidates);
    s.at = bounds_first<CAPACITY>() ? memory->query[q] : view_of_query<KIND, LOCAL>(args, frame, place);
    const knn_distance_bounds mine = knn_distance_bounds_at<KIND, LOCAL>(args, s.at, distance_bounds);
    if constexpr (bounds_first<CAPACITY>()) {
        s.max = s.at.w;
        if (ELLIPSOID) s.normal = memory->normal[q];
    } else {
        s.max = knn_distance_bound_of_key<KIND, ELLIPSOID>(args, args->limit, &mine);
        if (ELLIPSOID) s.normal = knn_scaled_normal(args, place, distance_bounds);
        around = leaves_for(args, place);
    }
    const bool ended = seek<KIND, ELLIPSOID>(args, frame, &mine, around, q, listed, lane, &s, memory);
    *found = s.queued;
    return ended;
}

/* The queries of one warp, from first on. Returns whether they are too coarse for the frame; nothing is done then. */
template <int KIND, bool ELLIPSOID, uint32_t CAPACITY, uint32_t LISTED, bool LOCAL>
static __device__ inline bool search_group(const knn_search_args *args, const knn_deferred *deferred, uint32_t first,
                                           uint32_t group, uint32_t lane, large_k_memory<CAPACITY, LISTED> *memory) {
    const uint32_t rest = args->end - first, rows = rest < group ? rest : group;
    const uint32_t finite = args->tree.nodes[0] > 0 ? args->queries.extent->finite : 0;
    const uint32_t remaining = finite > first ? finite - first : 0, queries = remaining < rows ? remaining : rows;
    const knn_distance_bounds distance_bounds = knn_distance_bounds_of<KIND, ELLIPSOID>(args);
    uint32_t listed = UINT32_MAX, single = 0;
    knn_frame<KIND, LOCAL> frame;
    if (queries > 0) {
        knn_frame_at<KIND, LOCAL>(&args->queries, first + queries / 2, &frame);
        single = find_coarse<KIND, LOCAL>(args, &frame, first, queries, lane);
        if (!LOCAL && single != 0) return true;
        if (ELLIPSOID) single = 0; /* by doubles are only spheres */
        if constexpr (bounds_first<CAPACITY>()) {
            listed =
                begin_queries<KIND, ELLIPSOID>(args, &frame, &distance_bounds, first, queries, single, lane, memory);
        }
    }
    for (uint32_t q = 0; q < rows; q++) {
        const uint32_t place = first + q;
        uint32_t found = 0;
        bool ended = (single >> q & 1) == 0;
        if (q < queries && ended) {
            ended =
                answer_query<KIND, ELLIPSOID>(args, &frame, &distance_bounds, place, q, listed, lane, memory, &found);
        }
        if (ended) {
            const uint32_t row = args->by_place ? place - args->first : args->queries.order[place];
            knn_write_row<CAPACITY>(args, &memory->candidates, found, row, lane);
        } else {
            knn_defer(&deferred->single, place);
        }
    }
    return false;
}

/* Blocks of a multiprocessor, such that registers hold most of what a warp needs. */
static constexpr uint32_t blocks_at_once(uint32_t capacity, bool ellipsoidal) {
    return capacity <= 128 ? (ellipsoidal ? 6 : 8) : capacity <= 256 ? (ellipsoidal ? 5 : 6) : capacity <= 1024 ? 8 : 1;
}

/* Blocks of a multiprocessor for deferred warps: local frames, whose views are made while they are loaded, take more
   registers. */
static constexpr uint32_t deferred_at_once(uint32_t capacity) {
    return capacity <= 128 ? 6 : capacity <= 256 ? 5 : capacity <= 1024 ? 8 : 1;
}

template <int KIND, bool ELLIPSOID, uint32_t CAPACITY, uint32_t LISTED, uint32_t WARPS>
static __global__ __launch_bounds__(WARPS *CUDA_WARP, blocks_at_once(CAPACITY, ELLIPSOID)) void search_large_k(
    const __grid_constant__ knn_search_args args, knn_deferred deferred, uint32_t group) {
    __shared__ large_k_memory<CAPACITY, LISTED> memories[WARPS];
    const uint32_t lane = threadIdx.x % CUDA_WARP, warp = threadIdx.x / CUDA_WARP;
    const uint32_t number = blockIdx.x * WARPS + warp;
    const uint64_t first = args.first + (uint64_t)number * group;
    knn_deferred_prepare_next(&deferred);
    if (first >= args.end) return;
    if (search_group<KIND, ELLIPSOID, CAPACITY, LISTED, false>(&args, &deferred, (uint32_t)first, group, lane,
                                                               &memories[warp])) {
        knn_defer(&deferred.coarse, number);
    }
}

/* The warps that it deferred, in local frames. */
template <int KIND, bool ELLIPSOID, uint32_t CAPACITY, uint32_t LISTED, uint32_t WARPS>
static __global__ __launch_bounds__(WARPS *CUDA_WARP, deferred_at_once(CAPACITY)) void search_coarse(
    const __grid_constant__ knn_search_args args, knn_deferred deferred, uint32_t group) {
    __shared__ large_k_memory<CAPACITY, LISTED> memories[WARPS];
    const uint32_t lane = threadIdx.x % CUDA_WARP, warp = threadIdx.x / CUDA_WARP, count = *deferred.coarse.count;
    for (uint32_t i = blockIdx.x * WARPS + warp; i < count; i += gridDim.x * WARPS) {
        const uint32_t first = args.first + deferred.coarse.numbers[i] * group;
        search_group<KIND, ELLIPSOID, CAPACITY, LISTED, true>(&args, &deferred, first, group, lane, &memories[warp]);
        __syncwarp();
    }
}

/* ---- single queries, by doubles */

template <int KIND, uint32_t CAPACITY> struct large_k_visitor {
    double max;
    uint32_t resolved, lane;
    knn_query_state *s;
    knn_candidates<CAPACITY> *c;

    /* What is behind the last of the k nearest candidates does not matter from now on. */
    __device__ inline void make_room(const knn_search_args *args) {
        const knn_distance_bounds exact = {0, 1, 0, true};
        knn_make_room<KIND, false, CAPACITY>(args, &exact, lane, s, c);
        if (c->last.key == UINT64_MAX) return;
        max = ::min(max, knn_double_of_key<KIND>(&args->tree.metric, c->last.key));
        resolved = knn_resolved(&c->last);
    }

    __device__ inline void try_points(const knn_search_args *args, const knn_single *query, uint32_t at,
                                      double square) {
        const uint32_t lanes = __ballot_sync(CUDA_ALL, square <= max && at != query->self);
        if (s->queued + (uint32_t)__popc(lanes) > CAPACITY) make_room(args);
        knn_add(lanes, at, (float)square, lane, s, c);
        __syncwarp();
    }

    __device__ inline void settle(const knn_search_args *args, const knn_single *, bool ends) {
        const uint32_t since = s->queued - (CAPACITY > KNN_SORTED ? CAPACITY / 2 : c->keyed);
        if (ends) {
            const knn_distance_bounds exact = {0, 1, 0, true};
            if (knn_is_unresolved<CAPACITY>(s)) knn_resolve<KIND, false, CAPACITY>(args, &exact, lane, s, c);
        } else if (c->last.key == UINT64_MAX && since >= args->k) {
            make_room(args);
        }
    }
};

template <int KIND, uint32_t CAPACITY, uint32_t WARPS>
static __global__ __launch_bounds__(WARPS *CUDA_WARP, deferred_at_once(CAPACITY)) void search_single(
    const __grid_constant__ knn_search_args args, knn_deferred deferred) {
    __shared__ knn_candidates<CAPACITY> candidates[WARPS];
    __shared__ knn_single_memory memories[WARPS];
    const uint32_t lane = threadIdx.x % CUDA_WARP, warp = threadIdx.x / CUDA_WARP, count = *deferred.single.count;
    for (uint32_t i = blockIdx.x * WARPS + warp; i < count; i += gridDim.x * WARPS) {
        const uint32_t place = deferred.single.numbers[i];
        const knn_leaf_range around = knn_leaves_around(&args.tree, knn_leaf_of(&args, place), AROUND);
        const knn_single query = knn_single_of<KIND>(&args, place);
        knn_query_state s = knn_query_state_at(place);
        large_k_visitor<KIND, CAPACITY> v;
        knn_query_state_begin<CAPACITY>(lane, &s, &candidates[warp]);
        v.max = knn_double_of_key<KIND>(&args.tree.metric, args.limit);
        v.resolved = UINT32_MAX;
        v.lane = lane;
        v.s = &s;
        v.c = &candidates[warp];
        knn_walk_single<KIND>(&args, &query, around, &memories[warp], lane, &v);
        const uint32_t row = args.by_place ? place - args.first : args.queries.order[place];
        knn_write_row<CAPACITY>(&args, &candidates[warp], s.queued, row, lane);
    }
}

/* ---- launches */

/* Queries of a warp: enough to share a walk, few enough that all multiprocessors have some. */
static uint32_t group_for(uint64_t count) { return count >= 65536 ? QUERIES : count >= 16384 ? QUERIES / 2 : 2; }

/* Neighbours up to which queries share a walk. A million ellipsoids of 128 photons take 33.9 ms so, and 20.6 each for
   itself (H100). */
static uint32_t max_shared_k(bool ellipsoid) { return ellipsoid ? 96 : 128; }

/* Blocks of a launch for what is deferred: as many as the device holds, or less where there are few queries. */
static uint32_t deferred_blocks(mote_device *gpu, const void *kernel, uint32_t warps, uint64_t queries) {
    return cuda_blocks_up_to(cuda_resident_blocks(gpu, kernel, warps * CUDA_WARP), queries, warps);
}

template <int KIND, bool ELLIPSOID, uint32_t CAPACITY, uint32_t LISTED, uint32_t WARPS>
static void launch(mote_device *gpu, const knn_search_args *args, const knn_deferred *deferred, uint32_t group) {
    constexpr uint32_t threads = WARPS * CUDA_WARP;
    const uint64_t queries = args->end - args->first;
    CUDA_LAUNCH(gpu, (search_large_k<KIND, ELLIPSOID, CAPACITY, LISTED, WARPS>), cuda_blocks(queries, WARPS * group),
                threads, *args, *deferred, group);
    if constexpr (KIND != KNN_FLOAT) {
        const void *const kernel = (const void *)search_coarse<KIND, ELLIPSOID, CAPACITY, LISTED, WARPS>;
        CUDA_LAUNCH(gpu, (search_coarse<KIND, ELLIPSOID, CAPACITY, LISTED, WARPS>),
                    deferred_blocks(gpu, kernel, WARPS, queries), threads, *args, *deferred, group);
    }
    if constexpr (!ELLIPSOID) {
        const void *const kernel = (const void *)search_single<KIND, CAPACITY, WARPS>;
        CUDA_LAUNCH(gpu, (search_single<KIND, CAPACITY, WARPS>), deferred_blocks(gpu, kernel, WARPS, queries), threads,
                    *args, *deferred);
    }
}

template <int KIND, bool ELLIPSOID>
static void launch_large_k(mote_device *gpu, const knn_search_args *args, const knn_deferred *deferred,
                           uint32_t group) {
    if (args->k <= 64) {
        launch<KIND, ELLIPSOID, 128, ELLIPSOID ? 512 : 256, 4>(gpu, args, deferred, group);
    } else if (args->k <= max_shared_k(ELLIPSOID)) {
        launch<KIND, ELLIPSOID, 256, ELLIPSOID ? 512 : 256, 4>(gpu, args, deferred, group);
    } else if (args->k <= 256) {
        launch<KIND, ELLIPSOID, 512, 64, 2>(gpu, args, deferred, group);
    } else if (args->k <= 512) {
        launch<KIND, ELLIPSOID, 1024, 64, 1>(gpu, args, deferred, group);
    } else {
        launch<KIND, ELLIPSOID, 2048, 64, 1>(gpu, args, deferred, group);
    }
}

mote_status knn_cuda_search_large_k(mote_device *gpu, const knn_search_args *args) {
    const uint64_t queries = args->end - args->first;
    const uint32_t group = args->k <= max_shared_k(args->normals != NULL) ? group_for(queries) : 1;
    knn_deferred deferred;
    MOTE_TRY(knn_deferred_reserve(gpu, queries / group + 1, queries, false, args->deferred_buffers, &deferred));
    knn_for_kind(args->tree.metric.kind, [&](auto of) {
        (args->normals != NULL ? launch_large_k<of.kind, true> : launch_large_k<of.kind, false>)(gpu, args, &deferred,
                                                                                                 group);
    });
    return knn_deferred_end(gpu, args->deferred_buffers);
}
