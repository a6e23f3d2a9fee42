/* Up to 16 neighbours on the device, as rows. */
#include "knn/knn_few_cuda.h"

/* Writes 32 rows of k values, which stand in memory, to their places. */
template <class T>
static __device__ inline void write_rows(const T *values, T *out, uint32_t k, uint32_t row, uint32_t rows,
                                         uint32_t number) {
    __syncwarp();
    uint32_t of = number / k, rest = number % k;
    const uint32_t rows_step = CUDA_WARP / k, rest_step = CUDA_WARP % k;
    CUDA_ROLLED
    for (uint32_t i = 0; i < k; i++) {
        const uint32_t to = __shfl_sync(CUDA_ALL, row, (int)of);
        if (of < rows) out[(uint64_t)to * k + rest] = values[i * CUDA_WARP + number];
        of += rows_step;
        rest += rest_step;
        if (rest >= k) {
            rest -= k;
            of++;
        }
    }
    __syncwarp();
}

struct few_rows {
    template <int KIND, int T>
    __device__ inline void write(const knn_cuda_ask *ask, uint64_t first, uint32_t number, const few_found<T> *found,
                                 few_memory *memory) const {
        const uint64_t left = ask->queries.count - first;
        const uint32_t rows = left < CUDA_WARP ? (uint32_t)left : CUDA_WARP, k = ask->k;
        const uint32_t row = number < rows ? __ldg(ask->queries.order + first + number) : 0;
        const knn_cuda_rows *to = &ask->rows;
        uint32_t index[T], count = 0;
#pragma unroll
        for (int i = 0; i < T; i++) {
            const bool counts = (uint32_t)i < k && found->place[i] != FEW_NONE;
            index[i] = counts ? __ldg(ask->tree.points.order + found->place[i]) : UINT32_MAX;
            count += counts;
        }
        if (to->count != NULL && number < rows) to->count[row] = count;
        if (to->index32 != NULL) {
            uint32_t *const stage = (uint32_t *)memory->rows + number * k;
#pragma unroll
            for (int i = 0; i < T; i++) {
                if ((uint32_t)i < k) stage[i] = index[i];
            }
            write_rows((const uint32_t *)memory->rows, to->index32, k, row, rows, number);
        }
        if (to->distance2 != NULL) {
            float *const stage = (float *)memory->rows + number * k;
#pragma unroll
            for (int i = 0; i < T; i++) {
                const double distance2 = knn_distance2(&ask->tree.metric, found->key[i]);
                if ((uint32_t)i < k) stage[i] = (uint32_t)i < count ? (float)distance2 : INFINITY;
            }
            write_rows((const float *)memory->rows, to->distance2, k, row, rows, number);
        }
        if (to->index64 != NULL) {
            int64_t *const stage = (int64_t *)memory->rows + number * k;
#pragma unroll
            for (int i = 0; i < T; i++) {
                if ((uint32_t)i < k) stage[i] = (uint32_t)i < count ? (int64_t)index[i] : -1;
            }
            write_rows((const int64_t *)memory->rows, to->index64, k, row, rows, number);
        }
        if (to->distance2_wide != NULL) {
            double *const stage = (double *)memory->rows + number * k;
#pragma unroll
            for (int i = 0; i < T; i++) {
                const double distance2 = knn_distance2(&ask->tree.metric, found->key[i]);
                if ((uint32_t)i < k) stage[i] = (uint32_t)i < count ? distance2 : (double)INFINITY;
            }
            write_rows((const double *)memory->rows, to->distance2_wide, k, row, rows, number);
        }
    }
};

mote_status knn_cuda_search_few(mote_context *ctx, const knn_cuda_ask *ask) {
    const few_rows rows = {};
    return few_launch(ctx, ask, &rows);
}
