/* Normals and mean distances of up to 16 neighbours, right after the search: no list of them is kept. */
#include "knn/search/knn_few_cuda.h"
#include "normals/normals_point_cuda.h"

/* The neighbours of a lane's point: a column of shared memory. */
struct few_list {
    const uint32_t *column;
    uint32_t count;

    __device__ inline uint32_t at(uint32_t i) const { return column[i * CUDA_WARP]; }
};

/* Moves the places of the first k from registers, which cannot be looked up by number, to the lane's column. */
template <int T>
static __device__ inline few_list few_list_of(const few_found<T> *found, uint32_t k, uint32_t number,
                                              uint32_t *memory) {
    uint32_t *const column = memory + number;
    few_list list = {column, 0};
#pragma unroll
    for (int i = 0; i < T; i++) {
        if ((uint32_t)i >= k || found->place[i] == FEW_NONE) continue;
        column[i * CUDA_WARP] = found->place[i];
        list.count++;
    }
    return list;
}

struct few_shapes {
    static constexpr bool keys = false;
    normals_cuda_shapes to;

    template <int KIND, int T>
    __device__ inline void write(const knn_cuda_ask *ask, uint64_t place, uint32_t number, const few_found<T> *found,
                                 uint32_t *memory) const {
        const few_list list = few_list_of<T>(found, ask->k, number, memory);
        bool is_without = false;
        if (place < ask->queries.count) {
            is_without = normals_of_neighbours<KIND>(&ask->tree, &to, (uint32_t)place, list);
        }
        normals_count_without(&to, is_without, number);
    }
};

struct few_distances {
    static constexpr bool keys = false;
    normals_cuda_distances to;

    template <int KIND, int T>
    __device__ inline void write(const knn_cuda_ask *ask, uint64_t place, uint32_t number, const few_found<T> *found,
                                 uint32_t *memory) const {
        const few_list list = few_list_of<T>(found, ask->k, number, memory);
        if (place < ask->queries.count) normals_distance_of<KIND>(&ask->tree, &to, (uint32_t)place, list);
    }
};

mote_status normals_cuda_shape_few(mote_context *ctx, const knn_cuda_ask *ask, knn_cuda_later *later,
                                   const normals_cuda_shapes *to) {
    const few_shapes output = {*to};
    return few_launch(ctx, ask, later, &output);
}

mote_status normals_cuda_measure_few(mote_context *ctx, const knn_cuda_ask *ask, knn_cuda_later *later,
                                     const normals_cuda_distances *to) {
    const few_distances output = {*to};
    return few_launch(ctx, ask, later, &output);
}
