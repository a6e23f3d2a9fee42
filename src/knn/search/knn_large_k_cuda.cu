/* Many neighbours on the device: a warp answers some queries that stand beside each other on the curve, one by one.
   1. The points around all of them on the curve; of each query, about the k-th least square of these bounds the k-th
      neighbour.
   2. One walk lists the leaves that may matter to any; where they are too many, every query walks alone.
   3. The leaves of a query are tried, 64 points at once. What floats do not rule out are candidates, in shared memory.
   4. Exact keys of the candidates, and a sort.
   5. A query whose floats see too little walks alone, by doubles (knn_traversal_cuda.cuh, sharp).
   6. The row. */
#include "knn/search/knn_large_k_cuda.cuh"
#include "knn/search/knn_point_cuda.cuh"

#define QUERIES 8u /* of a warp, at most */

/* Of one warp. */
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

struct leaf_views {
    float x[KNN_CUDA_LEAF], y[KNN_CUDA_LEAF], z[KNN_CUDA_LEAF];
};

static __device__ inline void load_row(const float *from, float (&to)[KNN_CUDA_LEAF]) {
    const float4 a = __ldg((const float4 *)from), b = __ldg((const float4 *)from + 1);
    to[0] = a.x;
    to[1] = a.y;
    to[2] = a.z;
    to[3] = a.w;
    to[4] = b.x;
    to[5] = b.y;
    to[6] = b.z;
    to[7] = b.w;
}

/* A leaf of each lane; NaN where there is none. */
static __device__ inline void load_ellipsoids(const knn_cuda_tree *tree, uint32_t middle, uint32_t lane,
                                              leaf_views *v) {
    const uint32_t leaves = tree->nodes[0], begin = middle > AROUND / 2 ? middle - AROUND / 2 : 0;
    const uint32_t first = begin + AROUND <= leaves ? begin : leaves > AROUND ? leaves - AROUND : 0;
    const uint32_t leaf = first + lane < leaves ? first + lane : leaves - 1;
    const float *const from = tree->points.views + (uint64_t)leaf * (3 * KNN_CUDA_LEAF);
    load_row(from, v->x);
    load_row(from + KNN_CUDA_LEAF, v->y);
    load_row(from + 2 * KNN_CUDA_LEAF, v->z);
    if (first + lane < leaves) return;
#pragma unroll
    for (uint32_t j = 0; j < KNN_CUDA_LEAF; j++) v->x[j] = NAN;
}

/* How far each query looks: the lane of its number has it. Their views and normals are in memory. */
template <int KIND, bool ELLIPSOID, uint32_t CAPACITY, uint32_t LISTED>
static __device__ inline float bounds_around(const knn_search_args *args, const knn_distance_bounds *distance_bounds,
                                             uint32_t queries, uint32_t middle, uint32_t lane,
                                             const large_k_memory<CAPACITY, LISTED> *memory) {
    const uint32_t nth = args->k + (args->exclude_self ? 1 : 0);
    float mine = INFINITY, guess = 0;
    leaf_views v;
    load_ellipsoids(&args->tree, middle, lane, &v);
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

template <bool ELLIPSOID>
static __device__ inline bool box_matters(const knn_cuda_tree *tree, const large_k_box *to, uint32_t level,
                                          uint32_t child) {
    if (child >= tree->nodes[level]) return false;
    const knn_cuda_box box = knn_box_at(tree->boxes, (uint64_t)tree->first[level] + child);
    float square;
    if (ELLIPSOID) {
        const float4 at = make_float4(to->low[0], to->low[1], to->low[2], 0);
        square = knn_bounded_box_square<true>(&box, at, to->normal, to->compression);
    } else {
        square = knn_square(knn_gap(box.low[0], box.high[0], to->low[0], to->high[0]),
                            knn_gap(box.low[1], box.high[1], to->low[1], to->high[1]),
                            knn_gap(box.low[2], box.high[2], to->low[2], to->high[2]));
    }
    return square <= to->max && box.min <= to->resolved;
}

template <bool ELLIPSOID>
static __device__ inline uint32_t large_k_begin(const knn_cuda_tree *tree, const large_k_box *to, uint32_t lane,
                                                uint32_t *waiting) {
    const uint32_t top = tree->level_count - 1;
    uint32_t count = 0;
    for (uint32_t first = tree->nodes[top] > CUDA_WARP ? CUDA_WARP : 0;; first = 0) {
        count = knn_push(waiting, count, top, first + lane, box_matters<ELLIPSOID>(tree, to, top, first + lane), lane);
        if (first == 0) break;
    }
    return count;
}

/* Leaves [first, end), which the walk leaves out. */
typedef struct leaf_range {
    uint32_t first, end;
} leaf_range;

/* Goes on while the list has room for 32. Returns how many leaves are listed. */
template <bool ELLIPSOID, uint32_t LISTED>
static __device__ inline uint32_t large_k_list(const knn_cuda_tree *tree, const large_k_box *to, leaf_range seen,
                                               uint32_t lane, uint32_t *waiting, uint32_t *count, uint32_t *list) {
    uint32_t listed = 0;
    while (*count > 0 && listed <= LISTED - KNN_CUDA_WIDE) {
        const uint32_t packed = waiting[--*count], level = (packed >> 28) - 1;
        const uint32_t child = (packed & 0x0FFFFFFFu) * KNN_CUDA_WIDE + lane;
        __syncwarp();
        bool wanted = box_matters<ELLIPSOID>(tree, to, level, child);
        if (level > 0) {
            *count = knn_push(waiting, *count, level, child, wanted, lane);
            continue;
        }
        wanted = wanted && (child < seen.first || child >= seen.end);
        const uint32_t at = warp_append(wanted, &listed);
        if (wanted) list[at] = child;
    }
    __syncwarp();
    return listed;
}

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
template <bool ELLIPSOID, uint32_t CAPACITY, uint32_t LISTED>
static __device__ inline uint32_t list_for_all(const knn_cuda_tree *tree, const large_k_box *to, float compression,
                                               uint32_t lane, large_k_memory<CAPACITY, LISTED> *memory) {
    const leaf_range none = {0, 0};
    uint32_t count = large_k_begin<false>(tree, to, lane, memory->waiting);
    const uint32_t listed = large_k_list<false, LISTED>(tree, to, none, lane, memory->waiting, &count, memory->listed);
    if (count > 0) return UINT32_MAX;
    for (uint32_t i = lane; i < listed; i += CUDA_WARP) {
        const knn_cuda_box box = knn_box_at(tree->boxes, memory->listed[i]);
        uint32_t wanted = 0;
#pragma unroll
        for (uint32_t q = 0; q < QUERIES; q++) {
            const float4 of = memory->query[q], normal = ELLIPSOID ? memory->normal[q] : of;
            wanted |= knn_bounded_box_square<ELLIPSOID>(&box, of, normal, compression) <= of.w ? 1u << q : 0;
        }
        memory->wanted[i] = (uint8_t)wanted;
    }
    __syncwarp();
    return listed;
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

/* Tries leaves; settles when the candidates are full, and in the end if that is wanted. */
template <int KIND, bool ELLIPSOID, uint32_t CAPACITY>
static __device__ inline void try_leaves(const knn_search_args *args, const knn_distance_bounds *distance_bounds,
                                         const uint32_t *leaves, uint32_t count, bool settle, uint32_t lane,
                                         knn_query_state *s, knn_candidates<CAPACITY> *c) {
    const uint32_t pair = lane % LANES_OF_LEAF;
    for (uint32_t first = 0;; first += LEAVES) {
        const bool ends = first >= count;
        uint32_t place = 0, lanes[2] = {0, 0};
        float square[2] = {0, 0};
        if (!ends) {
            const uint32_t i = first + lane / LANES_OF_LEAF;
            const uint32_t leaf = leaves[i < count ? i : first];
            const float2 *const v =
                (const float2 *)(args->tree.points.views + (uint64_t)leaf * (3 * KNN_CUDA_LEAF)) + pair;
            const float2 x = __ldg(v), y = __ldg(v + KNN_CUDA_LEAF / 2), z = __ldg(v + KNN_CUDA_LEAF);
            const float max = i < count ? s->max : -1;
            place = leaf * KNN_CUDA_LEAF + 2 * pair;
            square[0] = knn_bounded_square<ELLIPSOID>(x.x - s->at.x, y.x - s->at.y, z.x - s->at.z, s->normal);
            square[1] = knn_bounded_square<ELLIPSOID>(x.y - s->at.x, y.y - s->at.y, z.y - s->at.z, s->normal);
            lanes[0] = __ballot_sync(CUDA_ALL, square[0] <= max);
            lanes[1] = __ballot_sync(CUDA_ALL, square[1] <= max);
        }
        const uint32_t more = (uint32_t)(__popc(lanes[0]) + __popc(lanes[1]));
        if (s->queued + more > CAPACITY) knn_prune<KIND, ELLIPSOID, CAPACITY>(args, distance_bounds, lane, s, c);
        if (s->queued + more > CAPACITY || (ends && settle && knn_is_unresolved<CAPACITY>(s))) {
            knn_resolve<KIND, ELLIPSOID, CAPACITY>(args, distance_bounds, lane, s, c);
            knn_lower_bounds<KIND, ELLIPSOID, CAPACITY>(args, distance_bounds, s, c);
        }
        if (ends) break;
        knn_add(lanes[0], place, square[0], lane, s, c);
        knn_add(lanes[1], place + 1, square[1], lane, s, c);
    }
    __syncwarp();
}

/* ---- 4. one query */

/* The leaf beside which a query stands. */
static __device__ inline uint32_t leaf_near(const knn_search_args *args, uint32_t place) {
    if (args->own) return place / KNN_CUDA_LEAF;
    const knn_cuda_points *points = &args->tree.points, *q = &args->queries;
    const uint32_t beside = knn_insertion_place(points, q->keys[place], q->cell_bits, q->index_bits);
    return (beside < points->count ? beside : points->count - 1) / KNN_CUDA_LEAF;
}

/* The leaves around a query on the curve: of twice as many points as are wanted. */
static __device__ inline leaf_range leaves_around(const knn_search_args *args, uint32_t middle) {
    const uint32_t half = args->k / KNN_CUDA_LEAF + 1, leaves = args->tree.nodes[0];
    leaf_range around;
    around.first = middle > half ? middle - half : 0;
    around.end = leaves - around.first > 2 * half ? around.first + 2 * half : leaves;
    return around;
}

template <uint32_t LISTED>
static __device__ inline uint32_t list_range(uint32_t first, uint32_t end, uint32_t lane, uint32_t *list) {
    const uint32_t count = end - first < LISTED ? end - first : LISTED;
    for (uint32_t i = lane; i < count; i += CUDA_WARP) list[i] = first + i;
    __syncwarp();
    return count;
}

/* Leaves: a query that meets more is beside a heap far denser than its own surroundings, of which floats see little. */
#define WALKED(k) (1024u + 4 * (k))

/* Lists leaves and tries them in turn: first, where nothing else bounds the query, those around; then those of the list
   for all, or of its own walk. Returns whether it came to the end of that. */
template <int KIND, bool ELLIPSOID, uint32_t CAPACITY, uint32_t LISTED>
static __device__ inline bool seek(const knn_search_args *args, const knn_distance_bounds *distance_bounds,
                                   leaf_range around, uint32_t q, uint32_t listed, uint32_t lane, knn_query_state *s,
                                   large_k_memory<CAPACITY, LISTED> *memory) {
    uint32_t next = around.first, waiting = 0, walked = 0;
    large_k_box box;
    box.low[0] = box.high[0] = s->at.x;
    box.low[1] = box.high[1] = s->at.y;
    box.low[2] = box.high[2] = s->at.z;
    box.normal = s->normal;
    box.compression = distance_bounds->compression;
    for (bool more = true, walks = false; more;) {
        bool settle = true, thin = false;
        uint32_t near;
        box.max = s->max;
        box.resolved = s->resolved;
        if (next < around.end) {
            near = list_range<LISTED>(next, around.end, lane, memory->near);
            next += near;
            settle = CAPACITY > KNN_SORTED && next == around.end;
            thin = next == around.end;
        } else if (listed != UINT32_MAX) {
            near = choose_near<CAPACITY, LISTED>(listed, q, lane, memory);
            more = false;
        } else {
            if (!walks) waiting = large_k_begin<ELLIPSOID>(&args->tree, &box, lane, memory->waiting);
            walks = true;
            near = large_k_list<ELLIPSOID, LISTED>(&args->tree, &box, around, lane, memory->waiting, &waiting,
                                                   memory->near);
            more = waiting > 0;
            settle = !more;
            walked += near;
            if (!ELLIPSOID && more && walked > WALKED(args->k)) return false;
        }
        try_leaves<KIND, ELLIPSOID, CAPACITY>(args, distance_bounds, memory->near, near, settle, lane, s,
                                              &memory->candidates);
        if (thin) knn_prune<KIND, ELLIPSOID, CAPACITY>(args, distance_bounds, lane, s, &memory->candidates);
    }
    return true;
}

/* ---- 5. a query that walks alone, by doubles */

template <int KIND, uint32_t CAPACITY> struct large_k_visitor {
    knn_sharp<KIND> max;
    uint32_t resolved, lane;
    knn_query_state *s;
    knn_candidates<CAPACITY> *c;

    /* The candidates in order; what is farther than the last of k does not matter from now on. */
    __device__ inline void resolve(const knn_search_args *args) {
        const knn_distance_bounds exact = {0, 1, 0, true};
        s->max = INFINITY;
        knn_resolve<KIND, false, CAPACITY>(args, &exact, lane, s, c);
        if (s->kept < args->k || c->index[args->k - 1] == UINT32_MAX) return;
        const uint64_t key = c->key[args->k - 1];
        max = ::min(max, knn_sharp_square_of_key<KIND>(&args->tree.metric, key));
        if (knn_is_zero(key)) resolved = c->index[args->k - 1];
    }

    __device__ inline void try_points(const knn_search_args *args, const knn_query *query_point, uint32_t at,
                                      knn_sharp<KIND> square) {
        const uint32_t more = (uint32_t)__popc(__ballot_sync(CUDA_ALL, square <= max && at != query_point->place));
        if (s->queued + more > CAPACITY) resolve(args);
        knn_add(__ballot_sync(CUDA_ALL, square <= max && at != query_point->place), at, (float)square, lane, s, c);
        __syncwarp();
    }
};

/* The leaves around, then all that matter. Returns how many neighbours it has. */
template <int KIND, uint32_t CAPACITY, uint32_t LISTED>
static __device__ inline uint32_t answer_alone(const knn_search_args *args, uint32_t place, uint32_t lane,
                                               large_k_memory<CAPACITY, LISTED> *memory) {
    __syncwarp(); /* what the memory had is read */
    const knn_query query_point = knn_query_of<KIND>(args, place);
    const leaf_range around = leaves_around(args, leaf_near(args, place));
    knn_query_state s = knn_query_state_at(place);
    knn_query_state_begin<CAPACITY>(lane, &s, &memory->candidates);
    large_k_visitor<KIND, CAPACITY> v;
    v.max = knn_sharp_square_of_key<KIND>(&args->tree.metric, args->limit);
    v.resolved = UINT32_MAX;
    v.lane = lane;
    v.s = &s;
    v.c = &memory->candidates;
    for (uint32_t leaf = around.first; leaf < around.end; leaf += KNN_AT_ONCE) {
        const uint32_t mine = leaf + lane / KNN_CUDA_LEAF;
        knn_try_leaf<KIND>(args, &query_point, mine, mine < around.end, lane, &v);
    }
    if (knn_is_unresolved<CAPACITY>(&s)) v.resolve(args); /* for a bound: the walk finds them again */
    s = knn_query_state_at(place);
    knn_query_state_begin<CAPACITY>(lane, &s, &memory->candidates);
    __syncwarp();
    knn_traversal_point<KIND>(args, &query_point, memory->waiting, lane, &v);
    if (knn_is_unresolved<CAPACITY>(&s)) v.resolve(args);
    return s.kept;
}

/* ---- 6. the kernel */

/* Whether the k-th neighbour is bounded by the points around that 32 lanes hold. */
template <uint32_t CAPACITY> static __device__ constexpr bool bounds_first() { return CAPACITY <= 256; }

/* Which queries of a warp walk alone, as bits. */
template <int KIND, bool ELLIPSOID>
static __device__ inline uint32_t choose_alone(const knn_search_args *args, uint32_t first, uint32_t queries,
                                               uint32_t lane) {
    if constexpr (ELLIPSOID || KIND == KNN_FLOAT) {
        return 0;
    } else {
        const uint32_t leaves = args->tree.nodes[0], middle = leaf_near(args, first + queries / 2);
        const uint32_t from = middle > AROUND / 2 ? middle - AROUND / 2 : 0, leaf = from + lane;
        const float4 at = knn_view_at(&args->queries, first + (lane < queries ? lane : 0));
        const float slack = knn_slack<KIND>(args->tree.points.extent, args->queries.extent, at.x, at.y, at.z);
        const bool coarse = knn_sees_coarsely<KIND>(&args->tree, leaf, leaf < leaves, slack);
        return __ballot_sync(CUDA_ALL, coarse && lane < queries);
    }
}

/* Notes where the queries are and how far they look; returns the leaves for all, if they are few enough. */
template <int KIND, bool ELLIPSOID, uint32_t CAPACITY, uint32_t LISTED>
static __device__ inline uint32_t begin_queries(const knn_search_args *args, const knn_distance_bounds *distance_bounds,
                                                uint32_t first, uint32_t queries, uint32_t alone, uint32_t lane,
                                                large_k_memory<CAPACITY, LISTED> *memory) {
    const uint32_t place = first + (lane < queries ? lane : 0), middle = leaf_near(args, first + queries / 2);
    const float4 at = knn_view_at(&args->queries, place);
    const knn_distance_bounds mine = knn_distance_bounds_at<KIND>(args, at, distance_bounds);
    const bool valid = lane < queries && !(alone >> lane & 1);
    if (lane < QUERIES) {
        memory->query[lane] = at;
        if (ELLIPSOID) memory->normal[lane] = knn_scaled_normal(args, place, distance_bounds);
    }
    __syncwarp();
    float max = knn_distance_bound_of_key<KIND, ELLIPSOID>(args, args->limit, &mine);
    max = fminf(max, bounds_around<KIND, ELLIPSOID, CAPACITY, LISTED>(args, &mine, queries, middle, lane, memory));
    __syncwarp();
    if (lane < QUERIES) memory->query[lane].w = valid ? max : -1;
    __syncwarp();
    if (queries == 1) return UINT32_MAX;
    const large_k_box box = box_of_queries(at, max, valid);
    return list_for_all<ELLIPSOID, CAPACITY, LISTED>(&args->tree, &box, distance_bounds->compression, lane, memory);
}

template <int KIND, bool ELLIPSOID, uint32_t CAPACITY, uint32_t LISTED>
static __device__ inline uint32_t answer_query(const knn_search_args *args, const knn_distance_bounds *distance_bounds,
                                               uint32_t place, uint32_t q, uint32_t listed, uint32_t lane,
                                               large_k_memory<CAPACITY, LISTED> *memory) {
    leaf_range around = {0, 0};
    knn_query_state s = knn_query_state_at(place);
    knn_query_state_begin<CAPACITY>(lane, &s, &memory->candidates);
    s.at = bounds_first<CAPACITY>() ? memory->query[q] : knn_view_at(&args->queries, place);
    const knn_distance_bounds mine = knn_distance_bounds_at<KIND>(args, s.at, distance_bounds);
    if constexpr (bounds_first<CAPACITY>()) {
        s.max = s.at.w;
        if (ELLIPSOID) s.normal = memory->normal[q];
    } else {
        s.max = knn_distance_bound_of_key<KIND, ELLIPSOID>(args, args->limit, &mine);
        if (ELLIPSOID) s.normal = knn_scaled_normal(args, place, distance_bounds);
        around = leaves_around(args, leaf_near(args, place));
    }
    const bool ended = seek<KIND, ELLIPSOID, CAPACITY, LISTED>(args, &mine, around, q, listed, lane, &s, memory);
    if constexpr (!ELLIPSOID) {
        if (!ended) return answer_alone<KIND, CAPACITY, LISTED>(args, place, lane, memory);
    }
    return s.kept;
}

/* Blocks of a multiprocessor, such that registers hold most of what a warp needs. */
static constexpr uint32_t blocks_at_once(uint32_t buffer, bool ellipsoidal) {
    return buffer <= 128 ? (ellipsoidal ? 6 : 8) : buffer <= 256 ? 5 : 1;
}

template <int KIND, bool ELLIPSOID, uint32_t CAPACITY, uint32_t LISTED, uint32_t WARPS>
static __global__ __launch_bounds__(WARPS *CUDA_WARP,
                                    blocks_at_once(CAPACITY, ELLIPSOID)) void search_large_k(knn_search_args args,
                                                                                             uint32_t group) {
    __shared__ large_k_memory<CAPACITY, LISTED> memories[WARPS];
    const uint32_t lane = threadIdx.x % CUDA_WARP, warp = threadIdx.x / CUDA_WARP;
    const uint64_t first = args.first + ((uint64_t)blockIdx.x * WARPS + warp) * group;
    large_k_memory<CAPACITY, LISTED> *const memory = &memories[warp];
    if (first >= args.end) return;
    const uint32_t rest = args.end - (uint32_t)first, rows = rest < group ? rest : group;
    const uint32_t finite = args.tree.nodes[0] > 0 ? args.queries.extent->finite : 0;
    const uint32_t remaining = finite > first ? finite - (uint32_t)first : 0,
                   queries = remaining < rows ? remaining : rows;
    const knn_distance_bounds distance_bounds = knn_distance_bounds_of<KIND, ELLIPSOID>(&args);
    uint32_t listed = UINT32_MAX;
    const uint32_t alone = queries > 0 ? choose_alone<KIND, ELLIPSOID>(&args, (uint32_t)first, queries, lane) : 0;
    if constexpr (bounds_first<CAPACITY>()) {
        if (queries > 0) {
            listed = begin_queries<KIND, ELLIPSOID, CAPACITY, LISTED>(&args, &distance_bounds, (uint32_t)first, queries,
                                                                      alone, lane, memory);
        }
    }
    for (uint32_t q = 0; q < rows; q++) {
        const uint32_t place = (uint32_t)first + q;
        uint32_t kept = 0;
        if (!ELLIPSOID && KIND != KNN_FLOAT && (alone >> q & 1) != 0) {
            kept = answer_alone<KIND, CAPACITY, LISTED>(&args, place, lane, memory);
        } else if (q < queries) {
            kept = answer_query<KIND, ELLIPSOID, CAPACITY, LISTED>(&args, &distance_bounds, place, q, listed, lane,
                                                                   memory);
        }
        const uint32_t row = args.by_place ? place - args.first : args.queries.order[place];
        knn_write_row<CAPACITY>(&args, &memory->candidates, kept, row, lane);
    }
}

/* Queries of a warp: enough to share a traversal, few enough that all multiprocessors have some. */
static uint32_t group_for(uint64_t count) { return count >= 65536 ? QUERIES : count >= 16384 ? QUERIES / 2 : 2; }

template <int KIND, bool ELLIPSOID, uint32_t CAPACITY, uint32_t LISTED, uint32_t WARPS>
static void launch(mote_device *gpu, const knn_search_args *args, uint32_t group) {
    const uint32_t blocks = cuda_blocks(args->end - args->first, WARPS * group);
    CUDA_LAUNCH(gpu, (search_large_k<KIND, ELLIPSOID, CAPACITY, LISTED, WARPS>), blocks, WARPS * CUDA_WARP, *args,
                group);
}

template <int KIND, bool ELLIPSOID> static void launch_large_k(mote_device *gpu, const knn_search_args *args) {
    const uint32_t group = group_for(args->end - args->first);
    if (args->k <= 64) {
        launch<KIND, ELLIPSOID, 128, ELLIPSOID ? 512 : 256, 4>(gpu, args, group);
    } else if (args->k <= 128) {
        launch<KIND, ELLIPSOID, 256, ELLIPSOID ? 512 : 256, 4>(gpu, args, group);
    } else if (args->k <= 256) {
        launch<KIND, ELLIPSOID, 512, 64, 2>(gpu, args, 1);
    } else if (args->k <= 512) {
        launch<KIND, ELLIPSOID, 1024, 64, 1>(gpu, args, 1);
    } else {
        launch<KIND, ELLIPSOID, 2048, 64, 1>(gpu, args, 1);
    }
}

mote_status knn_cuda_search_large_k(mote_device *gpu, const knn_search_args *args) {
    const bool ellipsoidal = args->normals != NULL;
    switch (args->tree.metric.kind) {
    case KNN_INT: (ellipsoidal ? launch_large_k<KNN_INT, true> : launch_large_k<KNN_INT, false>)(gpu, args); break;
    case KNN_FLOAT:
        (ellipsoidal ? launch_large_k<KNN_FLOAT, true> : launch_large_k<KNN_FLOAT, false>)(gpu, args);
        break;
    case KNN_DOUBLE:
        (ellipsoidal ? launch_large_k<KNN_DOUBLE, true> : launch_large_k<KNN_DOUBLE, false>)(gpu, args);
        break;
    }
    return cuda_launched(gpu, "searching neighbours");
}
