/* Searches for up to 16 neighbours on the device, and writes them as rows. */
#include "knn/cuda/search/knn_small_k_cuda.cuh"

/* A lane writes the k values of its row, two at once where they lie so. */
template <int T>
static __device__ __forceinline__ void write_row(const uint32_t (&bits)[T], void *rows, uint64_t row, uint32_t k) {
    uint32_t *const out = (uint32_t *)rows + row * k;
    if (k % 2 == 0 && (uintptr_t)rows % sizeof(uint2) == 0) {
#pragma unroll
        for (int i = 0; i + 1 < T; i += 2) {
            if ((uint32_t)i < k) *(uint2 *)(out + i) = make_uint2(bits[i], bits[i + 1]);
        }
    } else {
#pragma unroll
        for (int i = 0; i < T; i++) {
            if ((uint32_t)i < k) out[i] = bits[i];
        }
    }
}

struct small_k_rows {
    static constexpr bool keys = true;

    template <int KIND, int T>
    __device__ __forceinline__ void write(const knn_search_args *args, uint64_t place, uint32_t,
                                          const small_k_found<T> *found, uint32_t *) const {
        const knn_cuda_rows *const to = &args->rows;
        const uint32_t k = args->k;
        if (place >= args->queries.count) return;
        const uint64_t row = __ldg(args->queries.order + place);
        uint32_t bits[T], count = 0;
#pragma unroll
        for (int i = 0; i < T; i++) {
            const bool counts = (uint32_t)i < k && found->place[i] != SMALL_K_NONE;
            bits[i] = counts ? __ldg(args->tree.points.order + found->place[i]) : UINT32_MAX;
            count += counts;
        }
        if (to->count != NULL) to->count[row] = count;
        if (to->index32 != NULL) write_row<T>(bits, to->index32, row, k);
        if (to->index64 != NULL) {
#pragma unroll
            for (int i = 0; i < T; i++) {
                if ((uint32_t)i < k) to->index64[row * k + (uint32_t)i] = (uint32_t)i < count ? (int64_t)bits[i] : -1;
            }
        }
        if (to->distance2 != NULL) {
#pragma unroll
            for (int i = 0; i < T; i++) {
                const double distance2 = knn_distance2(&args->tree.metric, found->key[i]);
                bits[i] = __float_as_uint((uint32_t)i < count ? (float)distance2 : INFINITY);
            }
            write_row<T>(bits, to->distance2, row, k);
        }
        if (to->distance2_wide != NULL) {
#pragma unroll
            for (int i = 0; i < T; i++) {
                const double distance2 = knn_distance2(&args->tree.metric, found->key[i]);
                if ((uint32_t)i >= k) continue;
                to->distance2_wide[row * k + (uint32_t)i] = (uint32_t)i < count ? distance2 : (double)INFINITY;
            }
        }
    }
};

mote_status knn_cuda_search_small_k(mote_device *gpu, const knn_search_args *args) {
    const small_k_rows rows = {};
    return small_k_launch(gpu, args, &rows);
}
