/* Normals and mean distances of up to 16 neighbours, right after the search: no list of them is kept. */
#include "normals/normals_point_cuda.cuh"

/* The neighbours of a lane's point: a column of shared memory. */
struct lane_neighbors {
    const uint32_t *column;
    uint32_t count;

    __device__ inline uint32_t at(uint32_t i) const { return column[i * CUDA_WARP]; }
};

/* Moves the places of the first k from registers, which cannot be looked up by number, to the lane's column. */
template <int T>
static __device__ inline lane_neighbors lane_neighbors_of(const small_k_found<T> *found, uint32_t k, uint32_t number,
                                                          uint32_t *memory) {
    uint32_t *const column = memory + number;
    lane_neighbors list = {column, 0};
#pragma unroll
    for (int i = 0; i < T; i++) {
        if ((uint32_t)i >= k || found->place[i] == SMALL_K_NONE) continue;
        column[i * CUDA_WARP] = found->place[i];
        list.count++;
    }
    return list;
}

struct small_k_shapes {
    static constexpr bool keys = false;
    normals_cuda_shapes to;

    template <int KIND, int T>
    __device__ inline void write(const knn_search_args *args, uint64_t place, uint32_t number,
                                 const small_k_found<T> *found, uint32_t *memory) const {
        const lane_neighbors list = lane_neighbors_of<T>(found, args->k, number, memory);
        bool is_without = false;
        if (place < args->queries.count) {
            is_without = normals_of_neighbours<KIND>(&args->tree, &to, (uint32_t)place, list);
        }
        normals_count_without(&to, is_without, number);
    }
};

struct small_k_distances {
    static constexpr bool keys = false;
    normals_cuda_distances to;

    template <int KIND, int T>
    __device__ inline void write(const knn_search_args *args, uint64_t place, uint32_t number,
                                 const small_k_found<T> *found, uint32_t *memory) const {
        const lane_neighbors list = lane_neighbors_of<T>(found, args->k, number, memory);
        if (place < args->queries.count) normals_distance_of<KIND>(&args->tree, &to, (uint32_t)place, list);
    }
};

mote_status normals_cuda_shape_small_k(mote_device *gpu, const knn_search_args *args, const normals_cuda_shapes *to) {
    const small_k_shapes output = {*to};
    return small_k_launch(gpu, args, &output);
}

mote_status normals_cuda_measure_small_k(mote_device *gpu, const knn_search_args *args,
                                         const normals_cuda_distances *to) {
    const small_k_distances output = {*to};
    return small_k_launch(gpu, args, &output);
}
