/* Up to 16 neighbours on the device, as rows. */
#include "knn/knn_few_cuda.h"

/* A warp writes the rows of its queries, value after value, so that whole rows are written at once. */
struct few_rows {
    template <int KIND>
    __device__ inline void write(const knn_cuda_ask *ask, uint64_t block_first, const few_memory *memories) const {
        const uint32_t warp = threadIdx.x / CUDA_WARP, number = threadIdx.x % CUDA_WARP, k = ask->k;
        const few_memory *const memory = &memories[warp];
        const knn_cuda_points *const queries = &ask->queries;
        const knn_cuda_rows *const to = &ask->rows;
        const uint64_t first = block_first + warp * FEW_QUERIES;
        uint32_t query = number / k, rank = number % k;
        for (; query < FEW_QUERIES && first + query < queries->count;) {
            const uint32_t count = memory->count[query];
            const bool found = rank < count;
            const uint32_t row = __ldg(queries->order + first + query);
            const uint64_t out = (uint64_t)row * k + rank;
            const uint32_t index = found ? __ldg(ask->tree.points.order + memory->place[query][rank]) : UINT32_MAX;
            const double distance2 =
                found ? knn_distance2(&ask->tree.metric, memory->key[query][rank]) : (double)INFINITY;
            if (to->index32 != NULL) to->index32[out] = index;
            if (to->distance2 != NULL) to->distance2[out] = (float)distance2;
            if (to->index64 != NULL) to->index64[out] = found ? (int64_t)index : -1;
            if (to->distance2_wide != NULL) to->distance2_wide[out] = distance2;
            if (to->count != NULL && rank == 0) to->count[row] = count;
            rank += CUDA_WARP % k;
            query += CUDA_WARP / k + (rank >= k ? 1 : 0);
            rank -= rank >= k ? k : 0;
        }
    }
};

mote_status knn_cuda_search_few(mote_context *ctx, const knn_cuda_ask *ask) {
    const few_rows rows = {};
    return few_launch(ctx, ask, &rows);
}
