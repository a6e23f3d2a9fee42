/* Neighbours by trying every point, for checking: a warp has one query. */
#include "knn/knn_many_cuda.h"

template <int KIND, uint32_t ROOM>
static __device__ inline void try_all(const knn_cuda_ask *ask, uint32_t lane, knn_seeker *s, knn_candidates<ROOM> *c) {
    const uint32_t finite = ask->tree.points.extent->finite;
    uint64_t last_key = UINT64_MAX; /* of the k best: what is not before it does not count */
    uint32_t last_index = UINT32_MAX;
    for (uint32_t first = 0; first < finite; first += CUDA_WARP) {
        const uint32_t at = finite - first > lane ? first + lane : first;
        knn_exact other;
        knn_exact_of<KIND>(&ask->tree.points, at, &other);
        const uint64_t key = knn_key<KIND>(&ask->tree.metric, &s->exact, &other);
        const uint32_t index = __ldg(ask->tree.points.order + at);
        const bool near = at == first + lane && knn_is_before(key, index, last_key, last_index);
        knn_add(__ballot_sync(CUDA_ALL, near), at, 0, lane, s, c);
        if (s->queued <= ROOM - CUDA_WARP) continue;
        knn_settle<KIND, ROOM>(ask, lane, s, c);
        if (s->kept < ask->k) continue;
        last_key = c->key[ask->k - 1];
        last_index = c->index[ask->k - 1];
    }
    if (knn_is_unsettled<ROOM>(s)) knn_settle<KIND, ROOM>(ask, lane, s, c);
}

template <int KIND, uint32_t ROOM, uint32_t WARPS>
static __global__ __launch_bounds__(WARPS *CUDA_WARP) void search_all(knn_cuda_ask ask) {
    __shared__ knn_candidates<ROOM> memories[WARPS];
    const uint32_t lane = threadIdx.x % CUDA_WARP, warp = threadIdx.x / CUDA_WARP;
    const uint64_t place = (uint64_t)blockIdx.x * WARPS + warp;
    knn_candidates<ROOM> *const c = &memories[warp];
    if (place >= ask.queries.count) return;
    uint32_t kept = 0;
    if (place < ask.queries.extent->finite) {
        knn_seeker s = knn_seeker_of<KIND>(&ask, (uint32_t)place, 0);
        knn_seek_begin<ROOM>(lane, &s, c);
        try_all<KIND, ROOM>(&ask, lane, &s, c);
        kept = s.kept;
    }
    knn_write_row<ROOM>(&ask, c, kept, ask.queries.order[place], lane);
}

template <int KIND> static void launch_all(mote_context *ctx, const knn_cuda_ask *ask) {
    const uint64_t count = ask->queries.count;
    if (ask->k <= 128) {
        CUDA_LAUNCH(ctx, (search_all<KIND, 256, 4>), cuda_blocks(count, 4), 4 * CUDA_WARP, *ask);
    } else if (ask->k <= 384) {
        CUDA_LAUNCH(ctx, (search_all<KIND, 512, 2>), cuda_blocks(count, 2), 2 * CUDA_WARP, *ask);
    } else {
        CUDA_LAUNCH(ctx, (search_all<KIND, 2048, 1>), cuda_blocks(count, 1), CUDA_WARP, *ask);
    }
}

mote_status knn_cuda_search_all(mote_context *ctx, const knn_cuda_ask *ask) {
    switch (ask->tree.metric.kind) {
    case KNN_INT: launch_all<KNN_INT>(ctx, ask); break;
    case KNN_FLOAT: launch_all<KNN_FLOAT>(ctx, ask); break;
    case KNN_DOUBLE: launch_all<KNN_DOUBLE>(ctx, ask); break;
    }
    return cuda_launched(ctx, "searching neighbours");
}
