/* Neighbours by trying every point, for checking: a warp has one query. */
#include "knn/search/knn_many_cuda.h"

template <int KIND, bool SQUEEZED, uint32_t ROOM>
static __device__ inline void try_all(const knn_cuda_ask *ask, uint32_t lane, knn_seeker *s, knn_candidates<ROOM> *c) {
    const knn_sight sight = knn_sight_of<KIND, SQUEEZED>(ask);
    const uint32_t finite = ask->tree.points.extent->finite;
    uint64_t last_key = UINT64_MAX; /* of the k best: what is not before it does not count */
    uint32_t last_index = UINT32_MAX;
    knn_exact mine, other;
    knn_ellipsoid of = {{0, 0, 0}, 0};
    knn_exact_of<KIND>(&ask->queries, s->place, &mine);
    if (SQUEEZED) of = knn_ellipsoid_at(ask, s->place);
    for (uint32_t first = 0; first < finite; first += CUDA_WARP) {
        const uint32_t at = finite - first > lane ? first + lane : first;
        knn_exact_of<KIND>(&ask->tree.points, at, &other);
        const uint64_t key = knn_key_from<KIND, SQUEEZED>(ask, &mine, &other, &of);
        const uint32_t index = __ldg(ask->tree.points.order + at);
        const bool near = at == first + lane && knn_is_before(key, index, last_key, last_index);
        knn_add(__ballot_sync(CUDA_ALL, near), at, 0, lane, s, c);
        if (s->queued <= ROOM - CUDA_WARP) continue;
        knn_settle<KIND, SQUEEZED, ROOM>(ask, &sight, lane, s, c);
        if (s->kept < ask->k) continue;
        last_key = c->key[ask->k - 1];
        last_index = c->index[ask->k - 1];
    }
    if (knn_is_unsettled<ROOM>(s)) knn_settle<KIND, SQUEEZED, ROOM>(ask, &sight, lane, s, c);
}

template <int KIND, bool SQUEEZED, uint32_t ROOM, uint32_t WARPS>
static __global__ __launch_bounds__(WARPS *CUDA_WARP) void search_all(knn_cuda_ask ask) {
    __shared__ knn_candidates<ROOM> memories[WARPS];
    const uint32_t lane = threadIdx.x % CUDA_WARP, warp = threadIdx.x / CUDA_WARP;
    const uint64_t place = (uint64_t)blockIdx.x * WARPS + warp;
    knn_candidates<ROOM> *const c = &memories[warp];
    if (place >= ask.queries.count) return;
    uint32_t kept = 0;
    if (place < ask.queries.extent->finite) {
        knn_seeker s = knn_seeker_at((uint32_t)place);
        knn_seek_begin<ROOM>(lane, &s, c);
        try_all<KIND, SQUEEZED, ROOM>(&ask, lane, &s, c);
        kept = s.kept;
    }
    knn_write_row<ROOM>(&ask, c, kept, ask.queries.order[place], lane);
}

template <int KIND, bool SQUEEZED> static void launch_all(mote_context *ctx, const knn_cuda_ask *ask) {
    const uint64_t count = ask->queries.count;
    if (ask->k <= 128) {
        CUDA_LAUNCH(ctx, (search_all<KIND, SQUEEZED, 256, 4>), cuda_blocks(count, 4), 4 * CUDA_WARP, *ask);
    } else if (ask->k <= 384) {
        CUDA_LAUNCH(ctx, (search_all<KIND, SQUEEZED, 512, 2>), cuda_blocks(count, 2), 2 * CUDA_WARP, *ask);
    } else {
        CUDA_LAUNCH(ctx, (search_all<KIND, SQUEEZED, 2048, 1>), cuda_blocks(count, 1), CUDA_WARP, *ask);
    }
}

mote_status knn_cuda_search_all(mote_context *ctx, const knn_cuda_ask *ask) {
    const bool squeezed = ask->normals != NULL;
    switch (ask->tree.metric.kind) {
    case KNN_INT: (squeezed ? launch_all<KNN_INT, true> : launch_all<KNN_INT, false>)(ctx, ask); break;
    case KNN_FLOAT: (squeezed ? launch_all<KNN_FLOAT, true> : launch_all<KNN_FLOAT, false>)(ctx, ask); break;
    case KNN_DOUBLE: (squeezed ? launch_all<KNN_DOUBLE, true> : launch_all<KNN_DOUBLE, false>)(ctx, ask); break;
    }
    return cuda_launched(ctx, "searching neighbours");
}
