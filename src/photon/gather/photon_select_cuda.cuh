/* The k-th nearest of the points that count, for some queries that are neighbours on the curve, by one warp; then a
   visit of all points before it. No list of neighbours is kept or sorted. For .cu files only.
   1. The points that may matter are brought to shared memory: those within a radius of the box around the queries that
      count for one of them. The radius is a guess, by what the queries before needed.
   2. The lanes of a query try all these points: bits say which are within the radius, and a histogram of the squares
      of their distances says in which bin the k-th is.
   3. The points in that bin, two or three, are compared by exact keys.
   4. The points before the k-th are visited.

      lanes      0 1 | 2 3 | 4 5 | ...     two for each of 16 queries
      points     a b c d e f g h ...       lane 0 tries a c e g ..., lane 1 b d f h ...
      within     1 0 1 1 0 ...             a bit for each of them, in words of the lane
      histogram  [0][1][1][3][2]...        of a query: points by the 64th part of the radius' square

   A query with fewer than k points within the radius is tried once more with a larger one, and half of the queries at
   a time where points are too many for the memory. A query that this does not help is deferred.

   A visitor is a struct, copied to the device, with
     visited_sum                          what a lane adds up, zeros at first
     disc, disc_of(radius2, direction)    what is made of the square of the k-th's distance, once
     loaded, load(place)                  what is to be known of a point that is added
     float3 direction(place)              of a query
     float4 of_point(place)               what of a point decides whether it counts
     bool counts(of_point, direction)     whether it does; points at the query's own place never count
     add(sum, loaded, disc, dx, dy, dz,   a point before the k-th, so far from the query, if it counts
         counts)
     merge(sum, lanes)                    over groups of so many neighbouring lanes
     finish(row, sum, radius2)            by one lane
     defer(row, place)                    the query has no answer
     max_seen                             points around a query, counting or not, that are searched for
     all                                  false, or instead: all points count at first, those at the query's own place
                                          too, the k nearest are found, and
     wanted()                             if fewer of these (else holds_wanted(row) is called)
     faces(place, direction)              count in the end,
     finish(row, sum, radius2)            they are added up except the last, whose square is radius2; NULL: there is
                                          none but that */
#ifndef MOTE_PHOTON_SELECT_CUDA_H
#define MOTE_PHOTON_SELECT_CUDA_H

#include "photon/gather/photon_select_group_cuda.cuh"

#define PHOTON_SELECT_MAX_K 576u
#define PHOTON_SELECT_SEEN  1023u /* points around that are searched for: fewer than MOTE_KNN_MAX_K */

template <bool ELLIPSOID, class POLICY, class VISITOR>
static __device__ inline void photon_select_begin(const knn_search_args *args, const VISITOR *visitor,
                                                  photon_select_memory<POLICY> *memory,
                                                  photon_select<ELLIPSOID, POLICY, VISITOR> *search) {
    search->args = args;
    search->visitor = visitor;
    search->memory = memory;
    search->bounds = knn_distance_bounds_of<KNN_FLOAT, ELLIPSOID>(args);
    search->limit = knn_distance_bound_of_key<KNN_FLOAT, ELLIPSOID>(args, args->limit, &search->bounds);
    search->lane = threadIdx.x % CUDA_WARP;
}

/* A warp has some groups of queries, one after the other. */
template <bool ELLIPSOID, class POLICY, class VISITOR>
static __global__ __launch_bounds__(CUDA_WARP) void select_nearest(const knn_search_args args, const VISITOR visitor,
                                                                   uint32_t queries, uint32_t groups) {
    __shared__ photon_select_memory<POLICY> memory;
    const uint32_t finite = args.queries.extent->finite;
    const uint64_t end = finite < args.end ? finite : args.end;
    uint64_t first = (uint64_t)blockIdx.x * groups * queries;
    photon_select<ELLIPSOID, POLICY, VISITOR> search;
    float guess = 0;
    photon_select_begin(&args, &visitor, &memory, &search);
    for (uint32_t g = 0; g < groups && first < end; g++, first += queries) {
        search.first = (uint32_t)first;
        search.search_group(end - first < queries ? (uint32_t)(end - first) : queries, &guess);
    }
}

template <bool ELLIPSOID, class POLICY, class VISITOR>
static __device__ inline void photon_select_one(const knn_search_args *args, const VISITOR *visitor,
                                                photon_select_memory<POLICY> *memory, uint32_t place) {
    photon_select<ELLIPSOID, POLICY, VISITOR> search;
    float guess = 0;
    photon_select_begin(args, visitor, memory, &search);
    search.first = place;
    search.search_group(1, &guess);
}

/* Queries at *count places, a warp each: those that count among the nearest of all points, and where these hold k that
   count, these. all: args for the nearest of all points. */
template <bool ELLIPSOID, class POLICY, class RARE, class VISITOR>
static __global__ __launch_bounds__(CUDA_WARP) void select_deferred(const knn_search_args all, const RARE rare,
                                                                    const knn_search_args args, const VISITOR visitor,
                                                                    const uint32_t *places, const uint32_t *count) {
    __shared__ photon_select_memory<POLICY> memory;
    for (uint32_t i = blockIdx.x; i < *count; i += gridDim.x) {
        photon_select_one<ELLIPSOID>(&all, &rare, &memory, places[i]);
        __syncwarp();
        const uint32_t row = __ldg(args.queries.order + places[i]);
        const bool holds_k = visitor.holds_k(row);
        __syncwarp();
        if (holds_k) photon_select_one<ELLIPSOID>(&args, &visitor, &memory, places[i]);
        __syncwarp();
        if (threadIdx.x == 0 && visitor.is_deferred(row)) visitor.count_unanswered();
    }
}

template <class POLICY, class VISITOR>
static inline void photon_select_launch_policy(mote_device *gpu, const knn_search_args *args, const VISITOR &visitor) {
    const uint32_t queries = args->end >= 16384 ? POLICY::queries : POLICY::queries / 4;
    const uint32_t all_groups = args->end / (POLICY::queries * 1024);
    const uint32_t groups = all_groups < 1 ? 1 : all_groups < POLICY::groups ? all_groups : POLICY::groups;
    const uint32_t warps = cuda_blocks(args->end, queries * groups);
    if (args->normals != NULL) {
        CUDA_LAUNCH(gpu, (select_nearest<true, POLICY, VISITOR>), warps, CUDA_WARP, *args, visitor, queries, groups);
    } else {
        CUDA_LAUNCH(gpu, (select_nearest<false, POLICY, VISITOR>), warps, CUDA_WARP, *args, visitor, queries, groups);
    }
}

/* Whether a search can be made so: of stored floats, for few enough neighbours. Of fewer points than are searched for
   around a query, most queries would be deferred: 149 photons take a million queries 21.6 ms so, and 14.6 otherwise. */
static inline bool knn_can_select(const knn_search_args *args) {
    return args->tree.metric.kind == KNN_FLOAT && args->k <= PHOTON_SELECT_MAX_K &&
           args->tree.points.count > PHOTON_SELECT_SEEN &&
           (args->normals == NULL || args->compression <= (double)KNN_MAX_DISTANCE_BOUND);
}

template <class VISITOR>
static inline mote_status photon_select_launch(mote_device *gpu, const knn_search_args *args, const VISITOR &visitor) {
    if (args->k <= 96) {
        photon_select_launch_policy<photon_select_policy<512, 16, 64, 12>>(gpu, args, visitor);
    } else if (args->k <= 288) {
        photon_select_launch_policy<photon_select_policy<640, 8, 64, 24>>(gpu, args, visitor);
    } else {
        photon_select_launch_policy<photon_select_policy<1408, 4, 64, 32>>(gpu, args, visitor);
    }
    return cuda_launched(gpu, "searching neighbours");
}

#define PHOTON_SELECT_BLOCKS 1056u /* for queries of a list, whose length the host does not know */

/* Answers deferred queries, at *count places, a warp each. args: as before. First, the visitor rare is asked for the
   MOTE_KNN_MAX_K nearest of all points, of which fewer than k may count; if k of them count, its holds_wanted(row) is
   called. Then visitor.holds_k(row) tells whether that was so: if it was, the k nearest that count are searched for
   without a limit on the points around. Finally visitor.count_unanswered() is called for each query of which
   visitor.is_deferred(row) is still true. */
template <class RARE, class VISITOR>
static inline mote_status photon_select_launch_deferred(mote_device *gpu, const knn_search_args *args, const RARE &rare,
                                                        const VISITOR &visitor, const uint32_t *places,
                                                        const uint32_t *count) {
    using policy = photon_select_policy<1536, 1, 128, 64>;
    const uint32_t blocks = args->end < PHOTON_SELECT_BLOCKS ? args->end : PHOTON_SELECT_BLOCKS;
    knn_search_args all = *args;
    all.k = MOTE_KNN_MAX_K;
    if (args->normals != NULL) {
        CUDA_LAUNCH(gpu, (select_deferred<true, policy, RARE, VISITOR>), blocks, CUDA_WARP, all, rare, *args, visitor,
                    places, count);
    } else {
        CUDA_LAUNCH(gpu, (select_deferred<false, policy, RARE, VISITOR>), blocks, CUDA_WARP, all, rare, *args, visitor,
                    places, count);
    }
    return cuda_launched(gpu, "searching neighbours");
}

#endif
