/* Sorting by one warp: words in registers, and neighbours by (key, index) in shared memory. For .cu files only. */
#ifndef MOTE_KNN_SORT_CUDA_H
#define MOTE_KNN_SORT_CUDA_H

#include "knn/search/knn_walk_cuda.h"

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
    for (int j = 0; j < PER; j++) other[j] = __shfl_xor_sync(CUDA_ALL, word[TURNED ? PER - 1 - j : j], MASK);
#pragma unroll
    for (int j = 0; j < PER; j++) {
        word[j] = keeps_lower ? lower_word(word[j], other[j]) : higher_word(word[j], other[j]);
    }
}

/* What is left of a merge: pairs that are APART places from each other, then half as many. */
template <int PER, int APART> static __device__ inline void halve_words(uint32_t (&word)[PER], uint32_t lane) {
    if constexpr (APART >= PER) {
        order_lanes<PER, APART / PER, false>(word, (lane & (APART / PER)) == 0);
    } else {
#pragma unroll
        for (int j = 0; j < PER; j++) {
            if ((j & APART) == 0) order_words(&word[j], &word[j | APART]);
        }
    }
    if constexpr (APART > 1) halve_words<PER, APART / 2>(word, lane);
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

/* ---- neighbours */

/* Of a warp, in shared memory. */
typedef struct knn_near_list {
    uint64_t *key;
    uint32_t *index;
} knn_near_list;

/* Whether it had to exchange the two. */
static __device__ inline bool knn_order_two(const knn_near_list *list, uint32_t a, uint32_t b, bool ascending) {
    const uint64_t key_a = list->key[a], key_b = list->key[b];
    const uint32_t index_a = list->index[a], index_b = list->index[b];
    const bool wrong =
        ascending ? knn_is_before(key_b, index_b, key_a, index_a) : knn_is_before(key_a, index_a, key_b, index_b);
    if (!wrong) return false;
    list->key[a] = key_b;
    list->key[b] = key_a;
    list->index[a] = index_b;
    list->index[b] = index_a;
    return true;
}

/* One stage of a bitonic sort of count entries, a power of two: pairs that are apart by a distance. */
static __device__ inline void knn_order_stage(const knn_near_list *list, uint32_t count, uint32_t apart, uint32_t run,
                                              uint32_t lane) {
    for (uint32_t i = lane; i < count / 2; i += CUDA_WARP) {
        const uint32_t a = 2 * i - (i & (apart - 1));
        knn_order_two(list, a, a + apart, (a & run) == 0);
    }
    __syncwarp();
}

static __device__ inline void knn_sort_list(const knn_near_list *list, uint32_t count, uint32_t lane) {
    for (uint32_t run = 2; run <= count; run *= 2) {
        for (uint32_t apart = run / 2; apart > 0; apart /= 2) knn_order_stage(list, count, apart, run, lane);
    }
}

#define KNN_EXCHANGES 6 /* rounds, before a complete sort is cheaper */

/* Sorts a list, a power of two, in which few stand in each other's place, and those beside each other. */
static __device__ inline void knn_mend_list(knn_near_list list, uint32_t count, uint32_t lane) {
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
    knn_sort_list(&list, count, lane);
}

#endif
