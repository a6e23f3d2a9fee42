/* Where many points share a cell of the curve, their order is that of the cloud, and leaves of it are as large as the
   cell. So each 2,048 consecutive points that stand in few cells are put along a curve of their own, through the cube
   around them. The places of the keys stay where they are: only which points have them changes. */
#include "knn/cuda/index/knn_curve_cuda.cuh"

#define THREADS  512u
#define WARPS    (THREADS / CUDA_WARP)
#define ITEMS    4u
#define CHUNK    (THREADS * ITEMS)
#define CROWDED  KNN_CUDA_CROWDED
#define BITS     KNN_CUDA_FINER
#define SLOTBITS 11u        /* 2^11 points a chunk */
#define NOWHERE  UINT64_MAX /* beyond all places, so that it is sorted last */

typedef struct refine_memory {
    uint64_t key[CHUNK];
    uint32_t index[CHUNK];
    knn_hilbert hilbert;
} refine_memory;

/* Sorts the first count keys, a power of two, ascending. */
static __device__ void sort_keys(uint64_t *key, uint32_t count) {
    for (uint32_t run = 2; run <= count; run *= 2) {
        for (uint32_t stride = run / 2; stride > 0; stride /= 2) {
            __syncthreads();
            for (uint32_t i = threadIdx.x; i < count / 2; i += THREADS) {
                const uint32_t a = 2 * i - (i & (stride - 1)), b = a + stride;
                const uint64_t key_a = key[a], key_b = key[b];
                if ((key_b < key_a) != ((a & run) == 0)) continue;
                key[a] = key_b;
                key[b] = key_a;
            }
        }
    }
    __syncthreads();
}

/* Whether the chunk's points stand in few cells; all threads ask. */
static __device__ bool is_crowded(const uint64_t *keys, uint32_t first, uint32_t count, uint32_t index_bits) {
    uint32_t cells = 0;
    for (uint32_t item = 0; item < ITEMS; item++) {
        const uint32_t i = item * THREADS + threadIdx.x;
        const bool begins = i > 0 && i < count && keys[first + i] >> index_bits != keys[first + i - 1] >> index_bits;
        cells += (uint32_t)__syncthreads_count(begins);
    }
    return (cells + 1) * CROWDED < count;
}

template <int KIND, bool PLAIN>
static __global__ __launch_bounds__(THREADS) void refine_chunks(knn_cuda_reading from, uint32_t count,
                                                                uint32_t cell_bits, uint32_t index_bits,
                                                                uint64_t *keys) {
    __shared__ refine_memory memory;
    const uint32_t first = blockIdx.x * CHUNK, rest = count - first, mine = rest < CHUNK ? rest : CHUNK;
    if (!is_crowded(keys, first, mine, index_bits)) return;
    knn_hilbert_load(&memory.hilbert);
    float view[ITEMS][3];
    bool exists[ITEMS];
    knn_cuda_extent box;
    knn_extent_of_nothing(&box);
    for (uint32_t item = 0; item < ITEMS; item++) {
        const uint32_t i = item * THREADS + threadIdx.x;
        const uint64_t key = i < mine ? keys[first + i] : NOWHERE, index = key & ((1ull << index_bits) - 1);
        exists[item] = i < mine && (key >> (index_bits + 3 * cell_bits) & 1) == 0;
        if (i < mine) memory.index[i] = (uint32_t)index;
        if (exists[item]) knn_view_of<KIND, PLAIN>(&from, index, view[item]);
        for (int k = 0; k < 3 && exists[item]; k++) {
            box.low[k] = fminf(box.low[k], view[item][k]);
            box.high[k] = fmaxf(box.high[k], view[item][k]);
        }
    }
    knn_extent_of_block<WARPS>(&box);
    const knn_grid grid = knn_grid_of(&box, BITS, 0);
    if (!(grid.factor > 0)) return;
    for (uint32_t item = 0; item < ITEMS; item++) { /* points that are not finite stay last, in their order */
        const uint32_t i = item * THREADS + threadIdx.x;
        uint64_t place = (NOWHERE >> SLOTBITS) - (i < mine ? 1 : 0);
        if (exists[item]) {
            uint32_t cell[3];
            for (int k = 0; k < 3; k++) cell[k] = knn_cell_of(view[item][k] - grid.low[k], grid.factor, 1u << BITS);
            place = knn_hilbert_place<BITS>(&memory.hilbert, cell[0], cell[1], cell[2], BITS);
        }
        memory.key[i] = place << SLOTBITS | i;
    }
    uint32_t sorted = 2;
    while (sorted < mine) sorted *= 2;
    sort_keys(memory.key, sorted);
    for (uint32_t i = threadIdx.x; i < mine; i += THREADS) {
        const uint64_t place = keys[first + i] >> index_bits;
        keys[first + i] = place << index_bits | memory.index[memory.key[i] & (CHUNK - 1)];
    }
}

mote_status knn_cuda_refine(mote_device *gpu, const knn_cuda_reading *reading, uint64_t count,
                            const knn_cuda_curve *curve, uint64_t *keys) {
    const uint32_t blocks = cuda_blocks(count, CHUNK);
    if (count == 0) return MOTE_OK;
    knn_for_reading(reading, [&](auto of) {
        CUDA_LAUNCH(gpu, (refine_chunks<of.kind, of.plain>), blocks, THREADS, *reading, (uint32_t)count,
                    curve->cell_bits, curve->index_bits, keys);
    });
    return cuda_launched(gpu, "sorting");
}
