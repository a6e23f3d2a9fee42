/* The candidates of one query that wants many neighbours: in shared memory, sorted by a warp when they are full and in
   the end. For .cu files only. */
#ifndef MOTE_KNN_CANDIDATES_CUDA_H
#define MOTE_KNN_CANDIDATES_CUDA_H

#include "device/cuda/warp.cuh"
#include "knn/index/knn_sort_cuda.cuh"
#include "knn/search/knn_distance_bounds_cuda.cuh"

#define KNN_SORTED 512u /* the most that are sorted by words in registers */

/* CAPACITY candidates. Up to KNN_SORTED: the best ones, k or fewer in order, in front of those that came since. More:
   the best in the lower half, filled up, and what came since in the upper. */
template <uint32_t CAPACITY> struct alignas(16) knn_candidates {
    uint64_t key[CAPACITY];
    uint32_t index[CAPACITY];                            /* of what came since: its place in the tree */
    float square[CAPACITY <= KNN_SORTED ? CAPACITY : 1]; /* of what came since */
};

/* A query: the same in all lanes. */
typedef struct knn_query_state {
    float4 at, normal;
    float max;         /* the largest square that matters */
    uint32_t resolved; /* of neighbours at distance zero only smaller numbers matter; else UINT32_MAX */
    uint32_t place;
    uint32_t kept;   /* of the best */
    uint32_t queued; /* candidates in all */
    uint32_t filled; /* how often they were too many, though floats had ruled out what they can */
} knn_query_state;

static __device__ inline knn_query_state knn_query_state_at(uint32_t place) {
    knn_query_state s;
    s.at = s.normal = make_float4(0, 0, 0, 0);
    s.max = INFINITY;
    s.resolved = UINT32_MAX;
    s.place = place;
    s.kept = 0;
    s.queued = 0;
    s.filled = 0;
    return s;
}

/* Candidates of some lanes, for which there is room. */
template <uint32_t CAPACITY>
static __device__ inline void knn_add(uint32_t lanes, uint32_t place, float square, uint32_t lane, knn_query_state *s,
                                      knn_candidates<CAPACITY> *c) {
    const uint32_t to = s->queued + warp_rank(lanes);
    if ((lanes >> lane & 1) != 0) {
        c->index[to] = place;
        if constexpr (CAPACITY <= KNN_SORTED) c->square[to] = square;
    }
    s->queued += (uint32_t)__popc(lanes);
}

/* ---- bounds by floats */

#define KNN_BOUND_TRIES 20 /* two or three are usual */
#define KNN_BOUND_JUMPS 4  /* of these: where volumes that grow evenly would have it */

template <int PER> static __device__ inline uint32_t count_within(const float (&square)[PER], float max) {
    uint32_t count = 0;
#pragma unroll
    for (int j = 0; j < PER; j++) count += (uint32_t)__popc(__ballot_sync(CUDA_ALL, square[j] <= max));
    return count;
}

/* The largest that is finite. */
template <int PER> static __device__ inline float largest_of(const float (&square)[PER]) {
    float max = 0;
#pragma unroll
    for (int j = 0; j < PER; j++) max = square[j] <= FLT_MAX ? fmaxf(max, square[j]) : max;
    return warp_max(max);
}

/* A positive float between two others, in the middle of their bits: where they are decades apart, in the middle of
   those. */
static __device__ inline float middle_of_bits(float low, float high) {
    return __uint_as_float(__float_as_uint(low) / 2 + __float_as_uint(high) / 2);
}

/* A square that nth or a few more of those of all lanes do not exceed; infinite if there are fewer. guess: where
   to look first. Where density is even, a few jumps find it; a guess that is decades off, as beside a cluster, is
   mended by halving. Ends, too, where low and high are so near that only points at the same distance can be between. */
template <int PER> static __device__ inline float knn_bound_of(const float (&square)[PER], uint32_t nth, float guess) {
    const float wanted = (float)(nth + nth / 16);
    float low = 0, high = INFINITY, tried = guess;
    for (int i = 0; i < KNN_BOUND_TRIES && high > low * (1 + 0x1p-4f); i++) {
        const uint32_t within = count_within(square, tried);
        if (within >= nth) {
            high = tried;
            if (within <= nth + nth / 8) break;
        } else {
            low = tried;
        }
        const float found = (float)within; /* volumes grow with the power 3/2 of squares: the inverse, nearly */
        const float next = tried * ((found + 5 * wanted) / (5 * found + wanted));
        tried = i < KNN_BOUND_JUMPS && next > low && next < high ? next : middle_of_bits(low, high);
    }
    return high <= FLT_MAX || count_within(square, FLT_MAX) < nth ? high : largest_of(square);
}

/* Leaves out candidates that others rule out by floats, before keys are made of any. */
template <int KIND, bool ELLIPSOID, uint32_t CAPACITY>
static __device__ inline void knn_prune(const knn_search_args *args, const knn_distance_bounds *distance_bounds,
                                        uint32_t lane, knn_query_state *s, knn_candidates<CAPACITY> *c) {
    if constexpr (CAPACITY <= KNN_SORTED) {
        constexpr int per = CAPACITY / CUDA_WARP;
        const uint32_t nth = args->k + (args->exclude_self ? 1 : 0), queued = s->queued;
        if (s->kept > 0 || queued < nth) return;
        float square[per];
        uint32_t place[per];
        __syncwarp();
#pragma unroll
        for (uint32_t j = 0; j < per; j++) {
            const uint32_t i = j * CUDA_WARP + lane;
            square[j] = i < queued ? c->square[i] : NAN;
            place[j] = i < queued ? c->index[i] : 0;
        }
        const float bound = knn_bound_of(square, nth, s->max <= FLT_MAX ? s->max / 2 : largest_of(square) / 2);
        s->max = fminf(s->max, knn_distance_bound_near<KIND, ELLIPSOID>(args, bound, distance_bounds));
        s->queued = 0;
        __syncwarp();
#pragma unroll
        for (uint32_t j = 0; j < per; j++) {
            knn_add(__ballot_sync(CUDA_ALL, square[j] <= s->max), place[j], square[j], lane, s, c);
        }
    }
}

/* Makes keys of the candidates [first, end), and last ones of those that do not count. */
template <int KIND, bool ELLIPSOID, uint32_t CAPACITY>
static __device__ inline void knn_make_keys(const knn_search_args *args, const knn_query_state *s, uint32_t first,
                                            uint32_t end, uint32_t lane, knn_candidates<CAPACITY> *c) {
    knn_exact mine, other;
    knn_ellipsoid of = {{0, 0, 0}, 0};
    knn_exact_of<KIND>(&args->queries, s->place, &mine);
    if (ELLIPSOID) of = knn_ellipsoid_at(args, s->place);
    const uint32_t own = args->exclude_self ? s->place : UINT32_MAX;
#pragma unroll 2
    for (uint32_t i = first + lane; i < end; i += CUDA_WARP) {
        const uint32_t place = c->index[i];
        knn_exact_of<KIND>(&args->tree.points, place, &other);
        const uint64_t key = knn_key_from<KIND, ELLIPSOID>(args, &mine, &other, &of);
        const bool counts = key <= args->limit && place != own;
        c->key[i] = counts ? key : UINT64_MAX;
        c->index[i] = counts ? __ldg(args->tree.points.order + place) : UINT32_MAX;
    }
}

/* ---- up to 512: sorted by the leading bits of their keys; where these are alike, mended */

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

/* Puts up to 32 · PER candidates, whose keys are made, in order. */
template <int KIND, int PER, uint32_t CAPACITY>
static __device__ inline void sort_candidates(const knn_leading<KIND> *to, uint32_t count, uint32_t lane,
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
    __syncwarp();
#pragma unroll
    for (uint32_t j = 0; j < PER; j++) {
        c->key[lane * PER + j] = key[j];
        c->index[lane * PER + j] = index[j];
    }
    __syncwarp();
    if (!wrong) return;
    const knn_near_list list = {c->key, c->index};
    knn_repair_list(list, slots, lane);
}

template <int KIND, bool ELLIPSOID, uint32_t CAPACITY>
static __device__ inline void resolve_by_words(const knn_search_args *args, const knn_distance_bounds *distance_bounds,
                                               uint32_t lane, knn_query_state *s, knn_candidates<CAPACITY> *c) {
    constexpr int per = CAPACITY / CUDA_WARP, kind = ELLIPSOID ? KNN_DOUBLE : KIND;
    constexpr uint32_t slot_bits = CAPACITY == 128 ? 7 : CAPACITY == 256 ? 8 : 9;
    knn_make_keys<KIND, ELLIPSOID, CAPACITY>(args, s, s->kept, s->queued, lane, c);
    __syncwarp();
    const float max =
        s->max <= FLT_MAX ? s->max : largest_square<KIND, ELLIPSOID, CAPACITY>(args, distance_bounds, s, lane, c);
    const knn_leading<kind> to = leading_of<kind>(&args->keys, max, 32 - slot_bits);
    if (s->queued <= CAPACITY / 2) {
        sort_candidates<kind, per / 2, CAPACITY>(&to, s->queued, lane, c);
    } else {
        sort_candidates<kind, per, CAPACITY>(&to, s->queued, lane, c);
    }
    s->kept = s->queued < args->k ? s->queued : args->k;
    s->queued = s->kept;
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
    s->kept = args->k;
}

/* ---- both */

template <uint32_t CAPACITY>
static __device__ inline void knn_query_state_begin(uint32_t lane, knn_query_state *s, knn_candidates<CAPACITY> *c) {
    if constexpr (CAPACITY > KNN_SORTED) {
        for (uint32_t i = lane; i < CAPACITY / 2; i += CUDA_WARP) {
            c->key[i] = UINT64_MAX;
            c->index[i] = UINT32_MAX;
        }
        s->queued = CAPACITY / 2;
    }
}

/* Puts the candidates in order and keeps the best. */
template <int KIND, bool ELLIPSOID, uint32_t CAPACITY>
static __device__ inline void knn_resolve(const knn_search_args *args, const knn_distance_bounds *distance_bounds,
                                          uint32_t lane, knn_query_state *s, knn_candidates<CAPACITY> *c) {
    __syncwarp();
    if constexpr (CAPACITY > KNN_SORTED) {
        resolve_by_merging<KIND, ELLIPSOID, CAPACITY>(args, lane, s, c);
    } else {
        resolve_by_words<KIND, ELLIPSOID, CAPACITY>(args, distance_bounds, lane, s, c);
    }
}

/* Whether candidates came since. */
template <uint32_t CAPACITY> static __device__ inline bool knn_is_unresolved(const knn_query_state *s) {
    return s->queued > (CAPACITY > KNN_SORTED ? CAPACITY / 2 : s->kept);
}

/* From now on, only what may be before the last of k matters. */
template <int KIND, bool ELLIPSOID, uint32_t CAPACITY>
static __device__ inline void knn_lower_bounds(const knn_search_args *args, const knn_distance_bounds *distance_bounds,
                                               knn_query_state *s, const knn_candidates<CAPACITY> *c) {
    if (s->kept < args->k || c->index[args->k - 1] == UINT32_MAX) return;
    const uint64_t key = c->key[args->k - 1];
    s->max = fminf(s->max, knn_distance_bound_of_key<KIND, ELLIPSOID>(args, key, distance_bounds));
    if (knn_is_zero(key)) s->resolved = c->index[args->k - 1];
}

template <uint32_t CAPACITY>
static __device__ inline void knn_write_row(const knn_search_args *args, const knn_candidates<CAPACITY> *c,
                                            uint32_t kept, uint32_t row, uint32_t lane) {
    const knn_cuda_rows *to = &args->rows;
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
