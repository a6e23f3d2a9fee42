/* Up to 16 neighbours on the device, as rows. */
#include "knn/knn_few_cuda.h"

/* Writes 32 rows of k values, which stand in memory, to their places. */
template <class T>
static __device__ inline void write_rows(const T *values, T *out, uint32_t k, uint32_t row, uint32_t rows,
                                         uint32_t number) {
    __syncwarp();
    uint32_t of = number / k, rest = number % k;
    const uint32_t rows_step = CUDA_WARP / k, rest_step = CUDA_WARP % k;
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

template <int K>
static __device__ inline void write_answer(const knn_cuda_ask *ask, const best_list<K> *best, uint32_t row,
                                           uint32_t rows, uint32_t number, uint64_t *memory) {
    const knn_cuda_rows *to = &ask->rows;
    const uint32_t k = ask->k;
    uint32_t count = 0;
    __syncwarp(); /* all have read their queues */
#pragma unroll
    for (int i = 0; i < K; i++) count += (uint32_t)i < k && best->index[i] != UINT32_MAX;
    if (to->count != NULL && number < rows) to->count[row] = count;
    if (to->index32 != NULL) {
        uint32_t *const stage = (uint32_t *)memory + number * k;
#pragma unroll
        for (int i = 0; i < K; i++) {
            if ((uint32_t)i < k) stage[i] = best->index[i];
        }
        write_rows((const uint32_t *)memory, to->index32, k, row, rows, number);
    }
    if (to->distance2 != NULL) {
        float *const stage = (float *)memory + number * k;
#pragma unroll
        for (int i = 0; i < K; i++) {
            const double distance2 = knn_distance2(&ask->tree.metric, best->key[i]);
            if ((uint32_t)i < k) stage[i] = (uint32_t)i < count ? (float)distance2 : INFINITY;
        }
        write_rows((const float *)memory, to->distance2, k, row, rows, number);
    }
    if (to->index64 != NULL) {
        int64_t *const stage = (int64_t *)memory + number * k;
#pragma unroll
        for (int i = 0; i < K; i++) {
            if ((uint32_t)i < k) stage[i] = (uint32_t)i < count ? (int64_t)best->index[i] : -1;
        }
        write_rows((const int64_t *)memory, to->index64, k, row, rows, number);
    }
    if (to->distance2_wide != NULL) {
        double *const stage = (double *)memory + number * k;
#pragma unroll
        for (int i = 0; i < K; i++) {
            const double distance2 = knn_distance2(&ask->tree.metric, best->key[i]);
            if ((uint32_t)i < k) stage[i] = (uint32_t)i < count ? distance2 : (double)INFINITY;
        }
        write_rows((const double *)memory, to->distance2_wide, k, row, rows, number);
    }
}

struct few_rows {
    template <int KIND, int K>
    __device__ inline void write(const knn_cuda_ask *ask, const lane_state<K> *lane, uint32_t place, uint32_t rows,
                                 uint32_t number, uint64_t *memory) const {
        const uint32_t row = number < rows ? ask->queries.order[place] : 0;
        write_answer<K>(ask, &lane->best, row, rows, number, memory);
    }
};

mote_status knn_cuda_search_few(mote_context *ctx, const knn_cuda_ask *ask) {
    const few_rows output = {};
    return knn_search_few(ctx, ask, output);
}
