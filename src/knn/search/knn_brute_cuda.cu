/* Neighbours by trying every point, for checking: a warp has one query. */
#include "knn/search/knn_candidates_cuda.cuh"

template <int KIND, bool ELLIPSOID, uint32_t CAPACITY>
static __device__ inline void try_all(const knn_search_args *args, uint32_t lane, knn_query_state *s,
                                      knn_candidates<CAPACITY> *c) {
    const knn_distance_bounds distance_bounds = knn_distance_bounds_of<KIND, ELLIPSOID>(args);
    const uint32_t finite = args->tree.points.extent->finite;
    uint64_t last_key = UINT64_MAX; /* of the k best: what is not before it does not count */
    uint32_t last_index = UINT32_MAX;
    knn_exact mine, other;
    knn_ellipsoid of = {{0, 0, 0}, 0};
    knn_exact_of<KIND>(&args->queries, s->place, &mine);
    if (ELLIPSOID) of = knn_ellipsoid_at(args, s->place);
    for (uint32_t first = 0; first < finite; first += CUDA_WARP) {
        const uint32_t at = finite - first > lane ? first + lane : first;
        knn_exact_of<KIND>(&args->tree.points, at, &other);
        const uint64_t key = knn_key_from<KIND, ELLIPSOID>(args, &mine, &other, &of);
        const uint32_t index = __ldg(args->tree.points.order + at);
        const bool near = at == first + lane && knn_is_before(key, index, last_key, last_index);
        knn_add(__ballot_sync(CUDA_ALL, near), at, 0, lane, s, c);
        if (s->queued <= CAPACITY - CUDA_WARP) continue;
        knn_resolve<KIND, ELLIPSOID, CAPACITY>(args, &distance_bounds, lane, s, c);
        if (s->kept < args->k) continue;
        last_key = c->key[args->k - 1];
        last_index = c->index[args->k - 1];
    }
    if (knn_is_unresolved<CAPACITY>(s)) knn_resolve<KIND, ELLIPSOID, CAPACITY>(args, &distance_bounds, lane, s, c);
}

template <int KIND, bool ELLIPSOID, uint32_t CAPACITY, uint32_t WARPS>
static __global__ __launch_bounds__(WARPS *CUDA_WARP) void search_all(knn_search_args args) {
    __shared__ knn_candidates<CAPACITY> memories[WARPS];
    const uint32_t lane = threadIdx.x % CUDA_WARP, warp = threadIdx.x / CUDA_WARP;
    const uint64_t place = (uint64_t)blockIdx.x * WARPS + warp;
    knn_candidates<CAPACITY> *const c = &memories[warp];
    if (place >= args.queries.count) return;
    uint32_t kept = 0;
    if (place < args.queries.extent->finite) {
        knn_query_state s = knn_query_state_at((uint32_t)place);
        knn_query_state_begin<CAPACITY>(lane, &s, c);
        try_all<KIND, ELLIPSOID, CAPACITY>(&args, lane, &s, c);
        kept = s.kept;
    }
    knn_write_row<CAPACITY>(&args, c, kept, args.queries.order[place], lane);
}

template <int KIND, bool ELLIPSOID> static void launch_all(mote_device *gpu, const knn_search_args *args) {
    const uint64_t count = args->queries.count;
    if (args->k <= 128) {
        CUDA_LAUNCH(gpu, (search_all<KIND, ELLIPSOID, 256, 4>), cuda_blocks(count, 4), 4 * CUDA_WARP, *args);
    } else if (args->k <= 384) {
        CUDA_LAUNCH(gpu, (search_all<KIND, ELLIPSOID, 512, 2>), cuda_blocks(count, 2), 2 * CUDA_WARP, *args);
    } else {
        CUDA_LAUNCH(gpu, (search_all<KIND, ELLIPSOID, 2048, 1>), cuda_blocks(count, 1), CUDA_WARP, *args);
    }
}

mote_status knn_cuda_search_all(mote_device *gpu, const knn_search_args *args) {
    knn_for_kind(args->tree.metric.kind, [&](auto of) {
        (args->normals != NULL ? launch_all<of.kind, true> : launch_all<of.kind, false>)(gpu, args);
    });
    return cuda_launched(gpu, "searching neighbours");
}
