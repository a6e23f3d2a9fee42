/* The search of a warp for one query among points that are offered to it, by exact keys alone: of all points (brute
   force), or of those near it in shifted orders. For .cu files only.

   A source is a struct, copied to the device, with
     bool wants(place)            whether the query at a sorted place is searched for; else its row is left as it is
     query                        what it knows of a query
     query begin(args, place)     the same in all lanes
     windows                      how many runs of candidates there are
     knn_window window(&query, w) the run with the number w, [first, end)
     uint32_t point(&query, w, i) the candidate i of it: its sorted place; UINT32_MAX: it was offered before */
#ifndef MOTE_KNN_OFFERED_CUDA_H
#define MOTE_KNN_OFFERED_CUDA_H

#include "knn/cuda/search/knn_resolve_cuda.cuh"

typedef struct knn_window {
    uint32_t first, end;
} knn_window;

/* Whether a point of the tree is not behind the last candidate that matters: by its key and number. */
template <int KIND, bool ELLIPSOID>
static __device__ inline bool knn_matters(const knn_search_args *args, uint32_t of_query, uint32_t place,
                                          const knn_last *last) {
    knn_exact mine, other;
    knn_ellipsoid of = {{0, 0, 0}, 0};
    knn_exact_of<KIND>(&args->queries, of_query, &mine);
    knn_exact_of<KIND>(&args->tree.points, place, &other);
    if (ELLIPSOID) of = knn_ellipsoid_at(args, of_query);
    const uint64_t key = knn_key_from<KIND, ELLIPSOID>(args, &mine, &other, &of);
    return knn_is_before(key, __ldg(args->tree.points.order + place), last->key, last->index);
}

template <int KIND, bool ELLIPSOID, uint32_t CAPACITY, class SOURCE>
static __device__ inline void search_offered(const knn_search_args *args, const SOURCE *from, uint32_t lane,
                                             knn_query_state *s, knn_candidates<CAPACITY> *c) {
    const knn_distance_bounds distance_bounds = knn_distance_bounds_of<KIND, ELLIPSOID>(args);
    const typename SOURCE::query query = from->begin(args, s->place);
    for (uint32_t w = 0; w < SOURCE::windows; w++) {
        const knn_window window = from->window(&query, w);
        for (uint32_t first = window.first; first < window.end; first += CUDA_WARP) {
            const uint32_t at = window.end - first > lane ? from->point(&query, w, first + lane) : UINT32_MAX;
            bool counts = at != UINT32_MAX;
            if (counts && c->last.key != UINT64_MAX)
                counts = knn_matters<KIND, ELLIPSOID>(args, s->place, at, &c->last);
            knn_add(__ballot_sync(CUDA_ALL, counts), at, INFINITY, lane, s, c); /* no square that ties */
            if (s->queued <= CAPACITY - CUDA_WARP) continue;
            knn_make_room<KIND, ELLIPSOID, CAPACITY>(args, &distance_bounds, lane, s, c);
        }
    }
    if (knn_is_unresolved<CAPACITY>(s)) knn_resolve<KIND, ELLIPSOID, CAPACITY>(args, &distance_bounds, lane, s, c);
}

template <int KIND, bool ELLIPSOID, uint32_t CAPACITY, uint32_t WARPS, class SOURCE>
static __global__
__launch_bounds__(WARPS *CUDA_WARP) void search_rows_offered(const __grid_constant__ knn_search_args args,
                                                             SOURCE from) {
    __shared__ knn_candidates<CAPACITY> memories[WARPS];
    const uint32_t lane = threadIdx.x % CUDA_WARP, warp = threadIdx.x / CUDA_WARP;
    const uint64_t place = (uint64_t)blockIdx.x * WARPS + warp;
    knn_candidates<CAPACITY> *const c = &memories[warp];
    if (place >= args.queries.count || !from.wants((uint32_t)place)) return;
    uint32_t found = 0;
    if (place < args.queries.extent->finite) {
        knn_query_state s = knn_query_state_at((uint32_t)place);
        knn_query_state_begin<CAPACITY>(lane, &s, c);
        search_offered<KIND, ELLIPSOID, CAPACITY>(&args, &from, lane, &s, c);
        found = s.queued;
    }
    knn_write_row<CAPACITY>(&args, c, found, args.queries.order[place], lane);
}

template <int KIND, bool ELLIPSOID, uint32_t CAPACITY, uint32_t WARPS, class SOURCE>
static void launch_offered_of(mote_device *gpu, const knn_search_args *args, const SOURCE *from) {
    CUDA_LAUNCH(gpu, (search_rows_offered<KIND, ELLIPSOID, CAPACITY, WARPS, SOURCE>),
                cuda_blocks(args->queries.count, WARPS), WARPS * CUDA_WARP, *args, *from);
}

template <int KIND, bool ELLIPSOID, class SOURCE>
static void launch_offered(mote_device *gpu, const knn_search_args *args, const SOURCE *from) {
    if (args->k <= 128) {
        launch_offered_of<KIND, ELLIPSOID, 256, 4>(gpu, args, from);
    } else if (args->k <= 384) {
        launch_offered_of<KIND, ELLIPSOID, 512, 2>(gpu, args, from);
    } else {
        launch_offered_of<KIND, ELLIPSOID, 2048, 1>(gpu, args, from);
    }
}

/* Writes the rows of all queries that the source wants. */
template <class SOURCE>
static mote_status knn_search_offered(mote_device *gpu, const knn_search_args *args, const SOURCE *from) {
    knn_for_kind(args->tree.metric.kind, [&](auto of) {
        (args->normals != NULL ? launch_offered<of.kind, true, SOURCE>
                               : launch_offered<of.kind, false, SOURCE>)(gpu, args, from);
    });
    return cuda_launched(gpu, "searching neighbours");
}

#endif
