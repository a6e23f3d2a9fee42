/* Bitonic sorts: of words in the registers of a warp, and of neighbours by (key, index) in shared memory.
   For .cu files only. */
#ifndef MOTE_KNN_SORT_CUDA_H
#define MOTE_KNN_SORT_CUDA_H

#include "device/cuda/warp.cuh"
#include "knn/search/knn_frame_cuda.cuh"

/* ---- words: a bitonic sort of 32 · PER, each lane has PER that follow one another. In every stage the smaller word of
   a pair goes to the lower place: the first stage of a merge pairs places from both ends of a run. */

static __device__ inline uint32_t lower_word(uint32_t a, uint32_t b) { return a < b ? a : b; }

static __device__ inline uint32_t higher_word(uint32_t a, uint32_t b) { return a < b ? b : a; }

static __device__ inline void order_words(uint32_t *low, uint32_t *high) {
    const uint32_t a = *low, b = *high;
    *low = lower_word(a, b);
    *high = higher_word(a, b);
}

/* Pairs of words in lanes whose numbers differ by a mask; turned: from both ends. */
template <int PER, int MASK, bool TURNED>
static __device__ inline void order_lanes(uint32_t (&word)[PER], bool keeps_lower) {
    uint32_t other[PER];
#pragma unroll
    for (int j = 0; j < PER; j++) other[j] = warp_exchange(word[TURNED ? PER - 1 - j : j], MASK);
#pragma unroll
    for (int j = 0; j < PER; j++) {
        word[j] = keeps_lower ? lower_word(word[j], other[j]) : higher_word(word[j], other[j]);
    }
}

/* What is left of a merge: pairs that are DISTANCE places from each other, then half as many. */
template <int PER, int DISTANCE> static __device__ inline void halve_words(uint32_t (&word)[PER], uint32_t lane) {
    if constexpr (DISTANCE >= PER) {
        order_lanes<PER, DISTANCE / PER, false>(word, (lane & (DISTANCE / PER)) == 0);
    } else {
#pragma unroll
        for (int j = 0; j < PER; j++) {
            if ((j & DISTANCE) == 0) order_words(&word[j], &word[j | DISTANCE]);
        }
    }
    if constexpr (DISTANCE > 1) halve_words<PER, DISTANCE / 2>(word, lane);
}

template <int PER, int RUN> static __device__ inline void merge_words(uint32_t (&word)[PER], uint32_t lane) {
    if constexpr (RUN > PER) {
        order_lanes<PER, RUN / PER - 1, true>(word, (lane & (RUN / PER / 2)) == 0);
    } else {
#pragma unroll
        for (int j = 0; j < PER; j++) {
            if ((j & (RUN / 2)) == 0) order_words(&word[j], &word[j ^ (RUN - 1)]);
        }
    }
    if constexpr (RUN > 2) halve_words<PER, RUN / 4>(word, lane);
    if constexpr (RUN < PER * (int)CUDA_WARP) merge_words<PER, 2 * RUN>(word, lane);
}

/* Ascending: the lane's words are the places PER · lane and following. */
template <int PER> static __device__ inline void knn_sort_words(uint32_t (&word)[PER], uint32_t lane) {
    merge_words<PER, 2>(word, lane);
}

/* ---- neighbours: a list in shared memory has key[i] and index_at(i), and is ordered by both */

/* Of a warp. */
typedef struct knn_near_list {
    uint64_t *key;
    uint32_t *index;
    __device__ __forceinline__ uint32_t &index_at(uint32_t i) const { return index[i]; }
} knn_near_list;

/* Whether it exchanged the two; equal ones may be, where they descend. */
template <class LIST> static __device__ inline bool knn_order_two(LIST *list, uint32_t a, uint32_t b, bool ascending) {
    const uint64_t key_a = list->key[a], key_b = list->key[b];
    const uint32_t index_a = list->index_at(a), index_b = list->index_at(b);
    if (knn_is_before(key_b, index_b, key_a, index_a) != ascending) return false;
    list->key[a] = key_b;
    list->key[b] = key_a;
    list->index_at(a) = index_b;
    list->index_at(b) = index_a;
    return true;
}

/* One stage of a bitonic sort of count entries, a power of two, by a warp or a block of THREADS: pairs that are apart
   by a distance. */
template <uint32_t THREADS, class LIST>
static __device__ inline void knn_order_stage(LIST *list, uint32_t count, uint32_t single, uint32_t run,
                                              uint32_t thread) {
    for (uint32_t i = thread; i < count / 2; i += THREADS) {
        const uint32_t a = 2 * i - (i & (single - 1));
        knn_order_two(list, a, a + single, (a & run) == 0);
    }
    if constexpr (THREADS == CUDA_WARP) __syncwarp();
    if constexpr (THREADS > CUDA_WARP) __syncthreads();
}

template <uint32_t THREADS, class LIST>
static __device__ inline void knn_sort_list(LIST *list, uint32_t count, uint32_t thread) {
    CUDA_ROLLED
    for (uint32_t run = 2; run <= count; run *= 2) {
        CUDA_ROLLED
        for (uint32_t single = run / 2; single > 0; single /= 2) {
            knn_order_stage<THREADS>(list, count, single, run, thread);
        }
    }
}

#define KNN_EXCHANGES 6 /* rounds, before a complete sort is cheaper */

/* Sorts a list, a power of two, in which few stand in each other's place, and those beside each other. */
static __device__ inline void knn_repair_list(knn_near_list list, uint32_t count, uint32_t lane) {
    for (int round = 0; round < KNN_EXCHANGES; round++) {
        bool exchanged = false;
        for (uint32_t first = 0; first < 2; first++) {
            for (uint32_t a = first + 2 * lane; a + 1 < count; a += 2 * CUDA_WARP) {
                exchanged = knn_order_two(&list, a, a + 1, true) || exchanged;
            }
            __syncwarp();
        }
        if (!__any_sync(CUDA_ALL, exchanged)) return;
    }
    knn_sort_list<CUDA_WARP>(&list, count, lane);
}

#endif
