/* A curve as deep as doubles go, for clouds with many of their points in a few cells of knn_curve_cuda.cuh: clusters
   far smaller than the space between them, points ever denser towards a place. A place on it has three words of 21
   levels: 63 bits an axis of the box of nearly all points, of which doubles tell 53. Points are sorted by the last
   word, then, keeping the order, by the second and the first.

     box of nearly all ──21──▶ cell ──21──▶ cell in it ──21──▶ cell in that
                    word 0         word 1             word 2

   knn_outlook_cuda.cuh knows such clouds by a sample. */
#include "device/cuda/cuda_primitives.h"
#include "device/cuda/warp.cuh"
#include "knn/cuda/index/knn_curve_cuda.cuh"

#define THREADS    256u
#define WORDS      3u
#define LEVELS     21u /* of a word */
#define NON_FINITE (1ull << 3 * LEVELS)

/* A coordinate in the box, from 0 to below 1. */
static __device__ inline double place_in_box(const knn_cuda_reading *from, int k, uint64_t i,
                                             const knn_cuda_extent *box, double side) {
    double view;
    if (from->kind == KNN_INT) {
        view = (double)(int64_t)((uint64_t)knn_integer_of(&from->axes[k], i) - (uint64_t)from->middle[k]);
    } else if (from->kind == KNN_FLOAT) {
        view = column_stored(&from->axes[k], i);
    } else {
        view = (knn_double_of(from, k, i) - from->center[k]) * from->unit[k];
    }
    return side > 0 ? fmin(fmax((view - (double)box->low[k]) / side, 0.0), 1 - 0x1p-53) : 0;
}

/* A word of a point's place. */
static __device__ inline uint64_t word_of(const knn_cuda_reading *from, const knn_hilbert *table, uint64_t i,
                                          const knn_cuda_extent *box, uint32_t word) {
    double side = 0, rest[3];
    for (int k = 0; k < 3; k++) {
        if (!isfinite(column_value(&from->axes[k], i))) return NON_FINITE;
        side = fmax(side, (double)box->high[k] - (double)box->low[k]);
    }
    for (int k = 0; k < 3; k++) rest[k] = place_in_box(from, k, i, box, side);
    uint32_t entry = 0;
    uint64_t place = 0;
    for (uint32_t w = 0; w <= word; w++) {
        uint32_t cell[3];
        for (int k = 0; k < 3; k++) {
            rest[k] *= (double)(1u << LEVELS);
            cell[k] = (uint32_t)rest[k];
            rest[k] -= (double)cell[k];
        }
        place = knn_hilbert_within<LEVELS>(table, mote_morton_encode(cell[0], cell[1], cell[2]), &entry);
    }
    return place;
}

/* Words of the points in the order so far. The last words, which come first, are of points by their numbers. */
static __global__ void make_words(knn_cuda_reading from, uint64_t count, const knn_cuda_extent *extent, uint32_t word,
                                  uint32_t *order, uint64_t *words) {
    __shared__ knn_hilbert hilbert;
    knn_hilbert_load(&hilbert);
    __syncthreads();
    const uint64_t at = (uint64_t)blockIdx.x * THREADS + threadIdx.x;
    if (at >= count) return;
    if (word + 1 == WORDS) order[at] = (uint32_t)at;
    words[at] = word_of(&from, &hilbert, order[at], &extent[1], word);
}

/* Keys as knn_key_of makes them, of the first word's highest levels; they may take the place of the words. */
static __global__ void make_keys(const uint64_t *words, const uint32_t *order, uint64_t count, uint32_t cell_bits,
                                 uint32_t index_bits, uint64_t *keys) {
    const uint64_t at = (uint64_t)blockIdx.x * THREADS + threadIdx.x;
    if (at >= count) return;
    const uint64_t place = words[at] == NON_FINITE ? 1ull << 3 * cell_bits : words[at] >> 3 * (LEVELS - cell_bits);
    keys[at] = place << index_bits | order[at];
}

mote_status knn_cuda_deep_sort(mote_device *gpu, const knn_cuda_reading *reading, uint64_t count,
                               const knn_cuda_extent *extent, knn_cuda_curve *curve) {
    const uint32_t blocks = cuda_blocks(count, THREADS);
    uint64_t used_bytes = 0;
    cuda_pairs64 pairs;
    pairs.keys = curve->keys;
    pairs.other_keys = (uint64_t *)knn_cuda_part(curve->scratch, &used_bytes, count, sizeof(uint64_t));
    pairs.values = (uint32_t *)knn_cuda_part(curve->scratch, &used_bytes, count, sizeof(uint32_t));
    pairs.other_values = (uint32_t *)knn_cuda_part(curve->scratch, &used_bytes, count, sizeof(uint32_t));
    for (uint32_t word = WORDS; word-- > 0;) {
        CUDA_LAUNCH(gpu, make_words, blocks, THREADS, *reading, count, extent, word, pairs.values, pairs.keys);
        MOTE_TRY(cuda_launched(gpu, "codes"));
        MOTE_TRY(cuda_sort64(gpu, &pairs, count, 0, 3 * (int)LEVELS + 1));
    }
    CUDA_LAUNCH(gpu, make_keys, blocks, THREADS, pairs.keys, pairs.values, count, curve->cell_bits, curve->index_bits,
                curve->keys);
    return cuda_launched(gpu, "sorting");
}
