/* Normals and mean distances of up to 16 neighbours: from the registers in which the search has them. */
#include "knn/knn_few_cuda.h"
#include "normals/normals_point_cuda.h"

template <int K> static __device__ inline uint32_t count_found(const best_list<K> *best, uint32_t k) {
    uint32_t count = 0;
#pragma unroll
    for (int i = 0; i < K; i++) count += (uint32_t)i < k && best->index[i] != UINT32_MAX;
    return count;
}

template <int K> static __device__ inline uint64_t last_key(const best_list<K> *best, uint32_t count) {
    uint64_t key = 0;
#pragma unroll
    for (int i = 0; i < K; i++) key = (uint32_t)i < count ? best->key[i] : key;
    return key;
}

template <int K>
static __device__ inline void write_edges(const normals_cuda_shapes *to, const best_list<K> *best, uint32_t count,
                                          uint32_t row) {
    normals_edges edges = normals_edges_of(to, row);
#pragma unroll
    for (int i = 0; i < K; i++) {
        if ((uint32_t)i < count) normals_add_edge(&edges, row, best->index[i]);
    }
    normals_end_edges(&edges);
}

struct few_shapes {
    normals_cuda_shapes to;

    template <int KIND, int K>
    __device__ inline void write(const knn_cuda_ask *ask, const lane_state<K> *lane, uint32_t row, uint32_t rows,
                                 uint32_t number, uint64_t *) const {
        const best_list<K> *const best = &lane->best;
        const uint32_t count = count_found<K>(best, ask->k);
        bool is_without = false;
        if (number < rows) {
            if (normals_wants_density(&to)) {
                normals_write_density(&to, &ask->tree.metric, row, count, last_key<K>(best, count));
            }
            if (to.graph != NULL) write_edges<K>(&to, best, count, row);
            if (to.wants_shape) {
                normals_sums sums = {(double)count, 0, 0, 0, 0, 0, 0, 0, 0, 0};
#pragma unroll
                for (int i = 0; i < K; i++) {
                    if ((uint32_t)i >= count) continue;
                    const uint32_t at = normals_place_of(to.place, best->index[i]);
                    normals_take<KIND>(&to, &ask->tree.points, at, &lane->exact, &sums);
                }
                is_without = !normals_write_shape(&to, row, &sums) && count > 0;
            }
        }
        normals_count_without(&to, is_without, number);
    }
};

struct few_distances {
    normals_cuda_distances to;

    template <int KIND, int K>
    __device__ inline void write(const knn_cuda_ask *ask, const lane_state<K> *lane, uint32_t row, uint32_t rows,
                                 uint32_t number, uint64_t *) const {
        const uint32_t count = count_found<K>(&lane->best, ask->k);
        double sum = 0;
        if (number >= rows) return;
#pragma unroll
        for (int i = 0; i < K; i++) {
            if ((uint32_t)i < count) sum += sqrt(knn_distance2(&ask->tree.metric, lane->best.key[i]));
        }
        normals_write_distance(&to, row, count, sum, lane->most >= 0);
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
