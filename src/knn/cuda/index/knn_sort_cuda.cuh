/* Bitonic sorts: of words in the registers of a warp, and of neighbours by (key, index) in shared memory.
   For .cu files only. */
#ifndef MOTE_KNN_SORT_CUDA_H
#define MOTE_KNN_SORT_CUDA_H

#include "device/cuda/warp.cuh"
#include "knn/cuda/search/knn_frame_cuda.cuh"

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

/* ---- keys and indices in registers: the same sort, in loops, as it is called where words do not decide */

/* Whether a pair stays, or goes to the other's place. */
static __device__ __forceinline__ void order_keys(uint64_t *low_key, uint32_t *low_index, uint64_t *high_key,
                                                  uint32_t *high_index) {
    const uint64_t key = *low_key;
    const uint32_t index = *low_index;
    const bool exchanged = knn_is_before(*high_key, *high_index, key, index);
    *low_key = exchanged ? *high_key : key;
    *low_index = exchanged ? *high_index : index;
    *high_key = exchanged ? key : *high_key;
    *high_index = exchanged ? index : *high_index;
}

/* Pairs within a lane. */
template <int PER, int DISTANCE>
static __device__ inline void halve_keys(uint64_t (&key)[PER], uint32_t (&index)[PER]) {
    if constexpr (DISTANCE > 0) {
#pragma unroll
        for (int j = 0; j < PER; j++) {
            if ((j & DISTANCE) == 0) order_keys(&key[j], &index[j], &key[j | DISTANCE], &index[j | DISTANCE]);
        }
        halve_keys<PER, DISTANCE / 2>(key, index);
    }
}

template <int PER, int RUN> static __device__ inline void merge_keys(uint64_t (&key)[PER], uint32_t (&index)[PER]) {
    if constexpr (RUN <= PER) {
#pragma unroll
        for (int j = 0; j < PER; j++) {
            const int other = j ^ (RUN - 1);
            if ((j & (RUN / 2)) == 0) order_keys(&key[j], &index[j], &key[other], &index[other]);
        }
        halve_keys<PER, RUN / 4>(key, index);
        merge_keys<PER, 2 * RUN>(key, index);
    }
}

/* Pairs in lanes whose numbers differ by a mask; turned: from both ends. */
template <int PER, bool TURNED>
static __device__ inline void order_keys_of_lanes(uint64_t (&key)[PER], uint32_t (&index)[PER], uint32_t mask,
                                                  bool keeps_lower) {
    uint64_t other_key[PER];
    uint32_t other_index[PER];
#pragma unroll
    for (int j = 0; j < PER; j++) {
        other_key[j] = warp_exchange(key[TURNED ? PER - 1 - j : j], mask);
        other_index[j] = warp_exchange(index[TURNED ? PER - 1 - j : j], mask);
    }
#pragma unroll
    for (int j = 0; j < PER; j++) {
        const bool takes = knn_is_before(other_key[j], other_index[j], key[j], index[j]) == keeps_lower;
        key[j] = takes ? other_key[j] : key[j];
        index[j] = takes ? other_index[j] : index[j];
    }
}

/* Ascending, by key and then index; the lane's are the places PER · lane and following. */
template <int PER>
static __device__ inline void knn_sort_keys(uint64_t (&key)[PER], uint32_t (&index)[PER], uint32_t lane) {
    merge_keys<PER, 2>(key, index);
    CUDA_ROLLED
    for (uint32_t lanes = 2; lanes <= CUDA_WARP; lanes *= 2) {
        order_keys_of_lanes<PER, true>(key, index, lanes - 1, (lane & (lanes / 2)) == 0);
        CUDA_ROLLED
        for (uint32_t mask = lanes / 4; mask > 0; mask /= 2) {
            order_keys_of_lanes<PER, false>(key, index, mask, (lane & mask) == 0);
        }
        halve_keys<PER, PER / 2>(key, index);
    }
}

/* ---- neighbours: a list in shared memory has key[i] and index_at(i), and is ordered by both */

/* A list of neighbours: keys, and the indices by which equal keys are in order. */
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

/* One stage of a bitonic sort of count entries, a power of two, by a warp or a block of THREADS: it
   compares entries that are a stride apart, and puts them in order within runs that go up and down by turns. */
template <uint32_t THREADS, class LIST>
static __device__ inline void knn_order_stage(LIST *list, uint32_t count, uint32_t stride, uint32_t run,
                                              uint32_t thread) {
    for (uint32_t i = thread; i < count / 2; i += THREADS) {
        const uint32_t a = 2 * i - (i & (stride - 1));
        knn_order_two(list, a, a + stride, (a & run) == 0);
    }
    if constexpr (THREADS == CUDA_WARP) __syncwarp();
    if constexpr (THREADS > CUDA_WARP) __syncthreads();
}

template <uint32_t THREADS, class LIST>
static __device__ inline void knn_sort_list(LIST *list, uint32_t count, uint32_t thread) {
    CUDA_ROLLED
    for (uint32_t run = 2; run <= count; run *= 2) {
        CUDA_ROLLED
        for (uint32_t stride = run / 2; stride > 0; stride /= 2) {
            knn_order_stage<THREADS>(list, count, stride, run, thread);
        }
    }
}

#define KNN_EXCHANGES 6 /* rounds, before a complete sort is cheaper */

/* Sorts a list, a power of two, in which few stand in each other's place, and those beside each other. Returns whether
   it is in order then. */
static __device__ inline bool knn_repair_list(knn_near_list list, uint32_t count, uint32_t lane) {
    for (int round = 0; round < KNN_EXCHANGES; round++) {
        bool exchanged = false;
        for (uint32_t first = 0; first < 2; first++) {
            for (uint32_t a = first + 2 * lane; a + 1 < count; a += 2 * CUDA_WARP) {
                exchanged = knn_order_two(&list, a, a + 1, true) || exchanged;
            }
            __syncwarp();
        }
        if (!__any_sync(CUDA_ALL, exchanged)) return true;
    }
    return false;
}

#endif
