/* Normals and mean distances of up to 16 neighbours, right after the search: no list of them is kept. */
#include "knn/knn_few_cuda.h"
#include "normals/normals_point_cuda.h"

/* The neighbours of a lane's point: a column of shared memory. */
struct few_list {
    const uint32_t *column;
    uint64_t count;

    __device__ inline uint32_t at(uint64_t i) const { return column[i * CUDA_WARP]; }
};

/* The sorted places of the neighbours, from the registers of the lanes. */
template <int K>
static __device__ inline few_list list_of(const best_list<K> *best, const uint32_t *place, uint32_t k, uint32_t number,
                                          uint64_t *memory) {
    uint32_t *const column = (uint32_t *)memory + number;
    few_list list = {column, 0};
    __syncwarp(); /* all have read their queues */
#pragma unroll
    for (int i = 0; i < K; i++) {
        if ((uint32_t)i >= k || best->index[i] == UINT32_MAX) continue;
        column[i * CUDA_WARP] = __ldg(place + best->index[i]);
        list.count++;
    }
    return list;
}

struct few_shapes {
    normals_cuda_shapes to;

    template <int KIND, int K>
    __device__ inline void write(const knn_cuda_ask *ask, const lane_state<K> *lane, uint32_t place, uint32_t rows,
                                 uint32_t number, uint64_t *memory) const {
        const few_list list = list_of<K>(&lane->best, to.place, ask->k, number, memory);
        const bool is_without = number < rows && normals_of_neighbours<KIND>(&ask->tree, &to, place, list);
        normals_count_without(&to, is_without, number);
    }
};

struct few_distances {
    normals_cuda_distances to;

    template <int KIND, int K>
    __device__ inline void write(const knn_cuda_ask *ask, const lane_state<K> *lane, uint32_t place, uint32_t rows,
                                 uint32_t number, uint64_t *memory) const {
        const few_list list = list_of<K>(&lane->best, to.place, ask->k, number, memory);
        if (number < rows) normals_distance_of<KIND>(&ask->tree, &to, place, list);
    }
};

mote_status normals_cuda_shape_few(mote_context *ctx, const knn_cuda_ask *ask, const normals_cuda_shapes *to) {
    const few_shapes output = {*to};
    return knn_search_few(ctx, ask, output);
}

mote_status normals_cuda_measure_few(mote_context *ctx, const knn_cuda_ask *ask, const normals_cuda_distances *to) {
    const few_distances output = {*to};
    return knn_search_few(ctx, ask, output);
}
