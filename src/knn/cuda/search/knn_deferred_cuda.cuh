/* What a search on the device defers to further launches. For .cu files only.

     counters  [now][next]
     numbers   [of unresolved parts][of coarse parts][of those of them that are unresolved][of single queries]
               [places of the last neighbours that queries of unresolved parts found]

   Two sets of counters take turns: a search makes those of the next one zero. */
#ifndef MOTE_KNN_DEFERRED_CUDA_H
#define MOTE_KNN_DEFERRED_CUDA_H

#include "device/cuda/warp.cuh"
#include "knn/cuda/knn_cuda.h"

#define KNN_DEFERRED_LISTS 4u

/* A list of numbers, which come in any order. */
typedef struct knn_deferred_list {
    uint32_t *count, *numbers;
} knn_deferred_list;

/* The lists of what one kernel leaves to the next: parts of the queries that are searched for together, and queries. */
typedef struct knn_deferred {
    knn_deferred_list unresolved, coarse, coarse_unresolved, single;
    uint32_t *last_places;
    uint32_t *next; /* KNN_DEFERRED_LISTS counters of the next search */
} knn_deferred;

/* All lanes of a warp bring the same number. */
static __device__ __forceinline__ void knn_defer(const knn_deferred_list *list, uint32_t number) {
    if (warp_lane() == 0) list->numbers[atomicAdd(list->count, 1u)] = number;
}

/* The lanes that are single bring a number each. */
static __device__ __forceinline__ void knn_defer_lanes(const knn_deferred_list *list, bool single, uint32_t number) {
    const uint32_t lanes = __ballot_sync(CUDA_ALL, single);
    if (lanes == 0) return;
    const uint32_t at = warp_reserve(list->count, lanes);
    if (single) list->numbers[at] = number;
}

/* The first block of a search makes the counters of the next one zero: the two sets take turns, so that no search
   begins with a launch that only clears. */
static __device__ __forceinline__ void knn_deferred_prepare_next(const knn_deferred *deferred) {
    if (blockIdx.x == 0 && threadIdx.x < KNN_DEFERRED_LISTS) deferred->next[threadIdx.x] = 0;
}

/* Room for the numbers of all parts, three times, of all queries, and, if places are kept, of their last neighbours. */
static inline mote_status knn_deferred_reserve(mote_device *gpu, uint64_t parts, uint64_t queries, bool keeps_places,
                                               knn_deferred_buffers *buffers, knn_deferred *deferred) {
    const uint64_t counter_bytes = 2 * KNN_DEFERRED_LISTS * sizeof(uint32_t);
    const uint64_t number_bytes = (3 * parts + (keeps_places ? 2 : 1) * queries) * sizeof(uint32_t);
    const bool is_first = buffers->counters.memory == NULL, has_room = buffers->spare.size_bytes >= number_bytes;
    if (!knn_cuda_buffer_reserve(gpu, &buffers->counters, counter_bytes, "knn deferred queries") ||
        (!has_room && !knn_cuda_buffer_reserve(gpu, &buffers->numbers, number_bytes, "knn deferred queries"))) {
        return MOTE_ERROR_MEMORY;
    }
    uint32_t *const now = (uint32_t *)buffers->counters.memory + buffers->turn * KNN_DEFERRED_LISTS;
    uint32_t *const numbers = (uint32_t *)(has_room ? buffers->spare.memory : buffers->numbers.memory);
    buffers->turn = 1 - buffers->turn;
    deferred->unresolved = {now, numbers};
    deferred->coarse = {now + 1, numbers + parts};
    deferred->coarse_unresolved = {now + 2, numbers + 2 * parts};
    deferred->single = {now + 3, numbers + 3 * parts};
    deferred->last_places = numbers + 3 * parts + queries;
    deferred->next = (uint32_t *)buffers->counters.memory + buffers->turn * KNN_DEFERRED_LISTS;
    const mote_status status = is_first ? cuda_fill(gpu, now, 0, KNN_DEFERRED_LISTS * sizeof *now) : MOTE_OK;
    if (status != MOTE_OK) knn_cuda_buffer_release(gpu, &buffers->counters);
    return status;
}

/* Is called after the launches: if these failed, nobody made the next counters zero. */
static inline mote_status knn_deferred_end(mote_device *gpu, knn_deferred_buffers *buffers) {
    const mote_status status = cuda_launched(gpu, "searching neighbours");
    if (status != MOTE_OK) knn_cuda_buffer_release(gpu, &buffers->counters);
    return status;
}

#endif
