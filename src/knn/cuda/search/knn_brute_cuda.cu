/* Neighbours by trying every point, for checking. */
#include "knn/cuda/search/knn_offered_cuda.cuh"

struct all_points {
    static constexpr uint32_t windows = 1;
    typedef knn_window query;
    __device__ inline bool wants(uint32_t) const { return true; }

    __device__ inline query begin(const knn_search_args *args, uint32_t) const {
        return {0, args->tree.points.extent->finite};
    }

    __device__ inline knn_window window(const query *all, uint32_t) const { return *all; }
    __device__ inline uint32_t point(const query *, uint32_t, uint32_t i) const { return i; }
};

mote_status knn_cuda_search_all(mote_device *gpu, const knn_search_args *args) {
    const all_points all = {};
    return knn_search_offered(gpu, args, &all);
}
