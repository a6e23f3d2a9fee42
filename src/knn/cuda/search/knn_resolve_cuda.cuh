/* Candidates are put in order, or make room for others: up to KNN_SORTED in registers, more by merging in shared
   memory. Then the row of a query. For .cu files only. */
#ifndef MOTE_KNN_RESOLVE_CUDA_H
#define MOTE_KNN_RESOLVE_CUDA_H

#include "knn/cuda/index/knn_sort_cuda.cuh"
#include "knn/cuda/search/knn_keep_nearest_cuda.cuh"

/* ---- up to KNN_SORTED: sorted by the leading bits of their keys; where these are alike, mended */

/* How keys become shorter numbers in the same order. Those of most candidates differ: the scale is a power
   of two that brings the largest to one bit less, or two. */
template <int KIND> struct knn_leading {
    uint32_t largest, shift;
    double factor;
};

/* A double with an exponent, if there is one. */
static __device__ inline double power_of_two(int exponent) {
    const int within = exponent < -1022 ? -1022 : exponent > 1023 ? 1023 : exponent;
    return knn_real((uint64_t)(within + 1023) << 52);
}

/* The largest square, in floats, of a candidate that counts: only looked for where nothing has bounded them. */
template <int KIND, bool ELLIPSOID, uint32_t CAPACITY>
static __device__ inline float largest_square(const knn_search_args *args, const knn_distance_bounds *distance_bounds,
                                              const knn_query_state *s, uint32_t lane,
                                              const knn_candidates<CAPACITY> *c) {
    float max = 0;
    for (uint32_t i = lane; i < s->queued; i += CUDA_WARP) {
        const uint64_t key = c->key[i];
        const float square = knn_distance_bound_of_key<KIND, ELLIPSOID>(args, key, distance_bounds);
        max = fmaxf(max, key != UINT64_MAX && square <= FLT_MAX ? square : 0);
    }
    return warp_max(max);
}

template <int KIND>
static __device__ inline knn_leading<KIND> leading_of(const knn_metric *metric, float max, uint32_t bits) {
    uint32_t raw;
    memcpy(&raw, &max, sizeof raw);
    const int above = (int)(raw >> 23) - 126; /* squares are below this power of two */
    knn_leading<KIND> to;
    to.largest = (1u << bits) - 1;
    to.shift = above > (int)bits ? (uint32_t)(above - (int)bits) : 0;
    to.shift = to.shift < 63 ? to.shift : 63;
    to.factor = 0;
    if (KIND != KNN_INT) to.factor = power_of_two((int)bits - 1 - above);
    if (KIND == KNN_DOUBLE) to.factor = to.factor * metric->norm * metric->norm;
    return to;
}

template <int KIND> static __device__ inline uint32_t leading_bits(const knn_leading<KIND> *to, uint64_t key) {
    if (KIND == KNN_INT) {
        const uint64_t bits = key >> to->shift;
        return bits < to->largest ? (uint32_t)bits : to->largest;
    }
    return (uint32_t)fmin(knn_real(key) * to->factor, (double)to->largest);
}

/* Whether what is in order by its leading bits is out of order by all of them. */
template <int PER>
static __device__ inline bool is_out_of_order(const uint64_t (&key)[PER], const uint32_t (&index)[PER], uint32_t lane) {
    const uint64_t next_key = warp_after(key[0]);
    const uint32_t next_index = warp_after(index[0]);
    bool wrong = lane + 1 < CUDA_WARP && knn_is_before(next_key, next_index, key[PER - 1], index[PER - 1]);
#pragma unroll
    for (int j = 0; j + 1 < PER; j++) wrong = wrong || knn_is_before(key[j + 1], index[j + 1], key[j], index[j]);
    return __any_sync(CUDA_ALL, wrong);
}

/* Candidates in order, from the lanes' registers. */
template <int PER, uint32_t CAPACITY>
static __device__ inline void store_in_order(const uint64_t (&key)[PER], const uint32_t (&index)[PER], uint32_t lane,
                                             knn_candidates<CAPACITY> *c) {
    __syncwarp();
#pragma unroll
    for (uint32_t j = 0; j < PER; j++) {
        c->key[lane * PER + j] = key[j];
        c->index[lane * PER + j] = index[j];
    }
    __syncwarp();
}

/* Puts up to 32 · PER candidates, whose keys are made, in order by their leading bits. Returns whether that is their
   order by keys and numbers. */
template <int KIND, int PER, uint32_t CAPACITY>
static __device__ inline bool sort_by_words(const knn_leading<KIND> *to, uint32_t count, uint32_t lane,
                                            knn_candidates<CAPACITY> *c) {
    constexpr uint32_t slots = PER * CUDA_WARP;
    uint32_t word[PER], index[PER];
    uint64_t key[PER];
#pragma unroll
    for (uint32_t j = 0; j < PER; j++) {
        const uint32_t slot = j * CUDA_WARP + lane;
        word[j] = slot < count ? leading_bits<KIND>(to, c->key[slot]) * slots + slot : UINT32_MAX;
    }
    knn_sort_words<PER>(word, lane);
#pragma unroll
    for (uint32_t j = 0; j < PER; j++) {
        const bool exists = lane * PER + j < count;
        key[j] = exists ? c->key[word[j] % slots] : UINT64_MAX;
        index[j] = exists ? c->index[word[j] % slots] : UINT32_MAX;
    }
    const bool wrong = is_out_of_order<PER>(key, index, lane);
    store_in_order<PER>(key, index, lane, c);
    return !wrong || knn_repair_list({c->key, c->index}, slots, lane);
}

template <int PER, uint32_t CAPACITY>
static __device__ inline void sort_by_keys(uint32_t count, uint32_t lane, knn_candidates<CAPACITY> *c) {
    uint64_t key[PER];
    uint32_t index[PER];
#pragma unroll
    for (uint32_t j = 0; j < PER; j++) {
        const uint32_t slot = j * CUDA_WARP + lane;
        key[j] = slot < count ? c->key[slot] : UINT64_MAX;
        index[j] = slot < count ? c->index[slot] : UINT32_MAX;
    }
    knn_sort_keys<PER>(key, index, lane);
    store_in_order<PER>(key, index, lane, c);
}

/* Where many keys are alike: puts the k nearest in order by all bits. Returns how many candidates are left. */
template <uint32_t CAPACITY>
static __device__ __noinline__ uint32_t sort_ties(uint32_t count, uint32_t k, knn_candidates<CAPACITY> *c) {
    constexpr uint32_t half = CAPACITY / 2;
    uint32_t left = count;
    if (count > half && k <= half) {
        const knn_last last = last_of_nearest(c, count, k, half);
        left = keep_up_to(&last, count, -1, c);
    }
    if (left <= half) {
        sort_by_keys<half / CUDA_WARP>(left, warp_lane(), c);
    } else {
        sort_by_keys<CAPACITY / CUDA_WARP>(left, warp_lane(), c);
    }
    return left;
}

template <int KIND, bool ELLIPSOID, uint32_t CAPACITY>
static __device__ inline void sort_candidates(const knn_search_args *args, const knn_distance_bounds *distance_bounds,
                                              uint32_t lane, knn_query_state *s, knn_candidates<CAPACITY> *c) {
    constexpr int per = CAPACITY / CUDA_WARP, kind = ELLIPSOID ? KNN_DOUBLE : KIND;
    constexpr uint32_t slot_bits = CAPACITY == 128 ? 7 : CAPACITY == 256 ? 8 : CAPACITY == 512 ? 9 : 10;
    bool in_order = false;
    knn_make_keys<KIND, ELLIPSOID, CAPACITY>(args, s, c->keyed, s->queued, lane, c);
    __syncwarp();
    if (!c->tied) {
        const float max =
            s->max <= FLT_MAX ? s->max : largest_square<KIND, ELLIPSOID, CAPACITY>(args, distance_bounds, s, lane, c);
        const knn_leading<kind> to = leading_of<kind>(&args->keys, max, 32 - slot_bits);
        in_order = s->queued <= CAPACITY / 2 ? sort_by_words<kind, per / 2, CAPACITY>(&to, s->queued, lane, c)
                                             : sort_by_words<kind, per, CAPACITY>(&to, s->queued, lane, c);
    }
    if (!in_order) s->queued = sort_ties(s->queued, args->k, c);
}

/* ---- more: what came since is sorted and merged with the best */

static __device__ inline uint32_t power_for(uint32_t count) {
    return count <= 1 ? 1 : 1u << (32 - __clz((int)(count - 1)));
}

template <int KIND, bool ELLIPSOID, uint32_t CAPACITY>
static __device__ inline void resolve_by_merging(const knn_search_args *args, uint32_t lane, knn_query_state *s,
                                                 knn_candidates<CAPACITY> *c) {
    constexpr uint32_t half = CAPACITY / 2;
    const uint32_t sorted = power_for(s->queued - half);
    const knn_near_list best = {c->key, c->index}, queue = {c->key + half, c->index + half};
    knn_make_keys<KIND, ELLIPSOID, CAPACITY>(args, s, half, s->queued, lane, c);
    for (uint32_t i = s->queued + lane; i < half + sorted; i += CUDA_WARP) {
        c->key[i] = UINT64_MAX;
        c->index[i] = UINT32_MAX;
    }
    __syncwarp();
    knn_sort_list<CUDA_WARP>(&queue, sorted, lane);
    for (uint32_t i = lane; i < half; i += CUDA_WARP) { /* the best and the queue backwards: a bitonic run */
        const uint32_t from = half - 1 - i;
        if (from >= sorted || !knn_is_before(queue.key[from], queue.index[from], best.key[i], best.index[i])) continue;
        best.key[i] = queue.key[from];
        best.index[i] = queue.index[from];
    }
    __syncwarp();
    for (uint32_t single = half / 2; single > 0; single /= 2)
        knn_order_stage<CUDA_WARP>(&best, half, single, half, lane);
    s->queued = half;
}

/* ---- both */

template <uint32_t CAPACITY>
static __device__ inline void knn_query_state_begin(uint32_t lane, knn_query_state *s, knn_candidates<CAPACITY> *c) {
    __syncwarp(); /* all have read what is known of another query */
    if (lane == 0) {
        c->last = {UINT64_MAX, UINT32_MAX};
        c->tied = c->keyed = c->filled = 0;
    }
    if constexpr (CAPACITY > KNN_SORTED) {
        for (uint32_t i = lane; i < CAPACITY / 2; i += CUDA_WARP) {
            c->key[i] = UINT64_MAX;
            c->index[i] = UINT32_MAX;
        }
        s->queued = CAPACITY / 2;
    }
    __syncwarp();
}

/* Puts the candidates in order and keeps the best. */
template <int KIND, bool ELLIPSOID, uint32_t CAPACITY>
static __device__ inline void knn_resolve(const knn_search_args *args, const knn_distance_bounds *distance_bounds,
                                          uint32_t lane, knn_query_state *s, knn_candidates<CAPACITY> *c) {
    __syncwarp();
    if constexpr (CAPACITY > KNN_SORTED) {
        resolve_by_merging<KIND, ELLIPSOID, CAPACITY>(args, lane, s, c);
    } else {
        sort_candidates<KIND, ELLIPSOID, CAPACITY>(args, distance_bounds, lane, s, c);
    }
}

/* Makes room for two candidates of each lane; from then on only what is not behind the last of k matters. */
template <int KIND, bool ELLIPSOID, uint32_t CAPACITY>
static __device__ inline void knn_make_room(const knn_search_args *args, const knn_distance_bounds *distance_bounds,
                                            uint32_t lane, knn_query_state *s, knn_candidates<CAPACITY> *c) {
    constexpr uint32_t half = CAPACITY / 2, max_count = CAPACITY - 2 * CUDA_WARP;
    const uint32_t k = args->k;
    __syncwarp();
    if constexpr (CAPACITY <= KNN_SORTED) {
        keep_nearest<KIND, ELLIPSOID, CAPACITY>(args, distance_bounds, k + k / 8 < max_count ? k + k / 8 : max_count,
                                                lane, s, c);
    } else {
        resolve_by_merging<KIND, ELLIPSOID, CAPACITY>(args, lane, s, c);
        const uint64_t key = c->key[k - 1];
        lower_max<KIND, ELLIPSOID>(args, distance_bounds, key, s);
        if (lane == 0) {
            c->last = {key, c->index[k - 1]};
            c->tied = key != UINT64_MAX && k < half && c->key[k] == key;
            c->filled++;
        }
        __syncwarp();
    }
}

/* Whether there are candidates that are not in order. */
template <uint32_t CAPACITY> static __device__ inline bool knn_is_unresolved(const knn_query_state *s) {
    return s->queued > (CAPACITY > KNN_SORTED ? CAPACITY / 2 : 0);
}

template <uint32_t CAPACITY>
static __device__ inline void knn_write_row(const knn_search_args *args, const knn_candidates<CAPACITY> *c,
                                            uint32_t queued, uint32_t row, uint32_t lane) {
    const knn_cuda_rows *to = &args->rows;
    const uint32_t kept = queued < args->k ? queued : args->k;
    uint32_t count = 0;
    __syncwarp();
    for (uint32_t first = 0; first < args->k; first += CUDA_WARP) {
        const uint32_t i = first + lane, index = i < kept ? c->index[i] : UINT32_MAX;
        const uint64_t out = (uint64_t)row * args->k + i;
        const bool found = index != UINT32_MAX;
        count += (uint32_t)__popc(__ballot_sync(CUDA_ALL, found));
        if (i >= args->k) continue;
        const double distance2 = found ? knn_distance2(&args->keys, c->key[i]) : (double)INFINITY;
        if (to->index32 != NULL) to->index32[out] = index;
        if (to->index64 != NULL) to->index64[out] = found ? (int64_t)index : -1;
        if (to->distance2 != NULL) to->distance2[out] = (float)distance2;
        if (to->distance2_wide != NULL) to->distance2_wide[out] = distance2;
    }
    if (to->count != NULL && lane == 0) to->count[row] = count;
    __syncwarp();
}

#endif
