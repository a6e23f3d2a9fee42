/* The candidates of one query that wants many neighbours: in shared memory, thinned out by a warp when they are full,
   and sorted in the end. For .cu files only.

     keyed           queued               CAPACITY
     [keys are made   |places in the tree |  free   ]

     full   keys are made of all. The k nearest and a few more stay, in any order; behind the last of them nothing
            matters from now on. Where many points are at one distance, that is the last of their numbers that matters.
     end    keys are made of all, and the k nearest are put in order. */
#ifndef MOTE_KNN_CANDIDATES_CUDA_H
#define MOTE_KNN_CANDIDATES_CUDA_H

#include "device/cuda/warp.cuh"
#include "knn/index/knn_sort_cuda.cuh"
#include "knn/search/knn_distance_bounds_cuda.cuh"

#define KNN_SORTED 1024u /* the most that are sorted by words in registers */

/* k candidates are not behind the last: what is, does not matter. */
typedef struct knn_last {
    uint64_t key; /* UINT64_MAX: there is none yet */
    uint32_t index;
} knn_last;

/* CAPACITY candidates. Up to KNN_SORTED: as drawn above. More: the best in the lower half, always in order and filled
   up, and what came since in the upper. */
template <uint32_t CAPACITY> struct alignas(16) knn_candidates {
    knn_last last;   /* the last that matters */
    uint32_t tied;   /* whether something behind it is not ruled out by floats */
    uint32_t keyed;  /* candidates whose keys are made, where not all are in order */
    uint32_t filled; /* how often they were too many, though floats had ruled out what they can */
    uint64_t key[CAPACITY];
    uint32_t index[CAPACITY];                            /* of what came since: its place in the tree */
    float square[CAPACITY <= KNN_SORTED ? CAPACITY : 1]; /* by floats; of no use once all are in order */
};

/* A query: the same in all lanes. */
typedef struct knn_query_state {
    float4 at, normal;
    float max; /* the largest square that matters */
    uint32_t place;
    uint32_t queued; /* candidates */
} knn_query_state;

static __device__ inline knn_query_state knn_query_state_at(uint32_t place) {
    knn_query_state s;
    s.at = s.normal = make_float4(0, 0, 0, 0);
    s.max = INFINITY;
    s.place = place;
    s.queued = 0;
    return s;
}

/* Of neighbours at distance zero only numbers up to this matter. */
static __device__ inline uint32_t knn_resolved(const knn_last *last) {
    return knn_is_zero(last->key) ? last->index : UINT32_MAX;
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
        if (c->keyed > 0 || queued < nth) return;
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

/* From now on, only what is not behind the last matters. */
template <int KIND, bool ELLIPSOID>
static __device__ inline void lower_max(const knn_search_args *args, const knn_distance_bounds *distance_bounds,
                                        uint64_t last, knn_query_state *s) {
    if (last == UINT64_MAX) return;
    s->max = fminf(s->max, knn_distance_bound_of_key<KIND, ELLIPSOID>(args, last, distance_bounds));
}

/* Whether a point of the tree is not behind the last candidate that matters: by its key and number. */
template <int KIND, bool ELLIPSOID>
static __device__ inline bool knn_matters(const knn_search_args *args, uint32_t of_query, uint32_t place,
                                          const knn_last *last) {
    knn_exact mine, other;
    knn_ellipsoid of = {{0, 0, 0}, 0};
    knn_exact_of<KIND>(&args->queries, of_query, &mine);
    knn_exact_of<KIND>(&args->tree.points, place, &other);
    if (ELLIPSOID) of = knn_ellipsoid_at(args, of_query);
    const uint64_t key = knn_key_from<KIND, ELLIPSOID>(args, &mine, &other, &of);
    return knn_is_before(key, __ldg(args->tree.points.order + place), last->key, last->index);
}

/* ---- up to 1024: the nearest are selected, in any order. Each lane has PER candidates; UINT64_MAX is the key of none
 */

template <int PER> static __device__ inline uint32_t count_up_to(const uint64_t (&key)[PER], uint64_t max) {
    uint32_t count = 0;
#pragma unroll
    for (int j = 0; j < PER; j++) count += key[j] <= max ? 1 : 0;
    return warp_sum(count);
}

/* A lane that has one of the lanes' keys between two others; another one in each round. */
template <int PER>
static __device__ inline bool pick_between(const uint64_t (&key)[PER], uint64_t low, uint64_t high, uint32_t round,
                                           uint64_t *picked) {
    uint64_t mine = 0;
    bool has = false;
#pragma unroll
    for (int j = 0; j < PER; j++) {
        const bool between = key[j] > low && key[j] < high;
        mine = between ? key[j] : mine;
        has = has || between;
    }
    const uint32_t lanes = __ballot_sync(CUDA_ALL, has), turn = round * 11 % CUDA_WARP;
    const uint32_t from_turn = lanes & ~((1u << turn) - 1);
    if (lanes == 0) return false;
    *picked = warp_broadcast(mine, warp_first(from_turn != 0 ? from_turn : lanes));
    return true;
}

/* A key that nth candidates or more do not exceed, and fewer than nth are below: the nth is among those that have it.
   Or a key that nth to most do not exceed. *within: how many do not; fewer than nth: there are no more. nth is 2 at
   least. */
template <int PER>
static __device__ inline uint64_t select_key(const uint64_t (&key)[PER], uint32_t nth, uint32_t most,
                                             uint32_t *within) {
    uint64_t low = 0, high = 0, tried = 0; /* zero is tried first: low rules it out from then on */
#pragma unroll
    for (int j = 0; j < PER; j++) high = key[j] != UINT64_MAX && key[j] > high ? key[j] : high;
    high = warp_max(high);
    *within = count_up_to(key, high);
    for (uint32_t round = 0; *within > most; round++) {
        if (round > 0 && !pick_between(key, low, high, round, &tried)) break;
        const uint32_t count = count_up_to(key, tried);
        if (count < nth) {
            low = tried;
        } else {
            high = tried;
            *within = count;
            if (tried == 0) break;
        }
    }
    return high;
}

/* Of candidates that have a key: a number that nth to most of them do not exceed. There are more than nth. Numbers of
   points at one distance are as good as random: it is guessed from how many are wanted. */
template <int PER>
static __device__ inline uint32_t select_index(const uint64_t (&key)[PER], const uint32_t (&index)[PER], uint64_t of,
                                               uint32_t nth, uint32_t most) {
    uint32_t low = 0, high = 0, count = 0; /* nth or more do not exceed high, fewer are below low */
#pragma unroll
    for (int j = 0; j < PER; j++) {
        high = key[j] == of && index[j] > high ? index[j] : high;
        count += key[j] == of ? 1 : 0;
    }
    high = warp_max(high);
    count = warp_sum(count);
    for (uint32_t round = 0; count > most && low < high; round++) {
        const float share = round < 4 ? (float)(nth + most) / (float)(2 * count) : 0.5f;
        const uint32_t tried = low + (uint32_t)((double)(high - low) * fminf(share, 0.99f));
        uint32_t within = 0;
#pragma unroll
        for (int j = 0; j < PER; j++) within += key[j] == of && index[j] <= tried ? 1 : 0;
        within = warp_sum(within);
        if (within < nth) {
            low = tried + 1;
        } else {
            high = tried;
            count = within;
        }
    }
    return high;
}

/* The last of the k nearest candidates, whose keys are made, or of a few more, up to most; UINT64_MAX is the key where
   there are fewer. */
template <uint32_t CAPACITY>
static __device__ inline knn_last last_of_nearest(const knn_candidates<CAPACITY> *c, uint32_t count, uint32_t k,
                                                  uint32_t most) {
    constexpr int per = CAPACITY / CUDA_WARP;
    knn_last last = {UINT64_MAX, UINT32_MAX};
    uint64_t key[per];
    uint32_t index[per], within;
#pragma unroll
    for (uint32_t j = 0; j < per; j++) {
        const uint32_t i = j * CUDA_WARP + warp_lane();
        key[j] = i < count ? c->key[i] : UINT64_MAX;
        index[j] = i < count ? c->index[i] : UINT32_MAX;
    }
    const uint64_t nearest = select_key(key, k, most, &within);
    if (within < k) return last;
    last.key = nearest;
    if (within > most) {
        const uint32_t before = nearest == 0 ? 0 : count_up_to(key, nearest - 1);
        last.index = select_index(key, index, nearest, k - before, most - before);
    }
    return last;
}

/* Keeps the candidates that are not behind the last. Returns how many; what goes of squares up to max is noted: ties.
 */
template <uint32_t CAPACITY>
static __device__ inline uint32_t keep_up_to(const knn_last *last, uint32_t count, float max,
                                             knn_candidates<CAPACITY> *c) {
    uint32_t kept = 0;
    bool tied = c->tied;
    CUDA_ROLLED
    for (uint32_t first = 0; first < count; first += CUDA_WARP) {
        const uint32_t i = first + warp_lane();
        const uint64_t key = i < count ? c->key[i] : UINT64_MAX;
        const uint32_t index = i < count ? c->index[i] : UINT32_MAX;
        const float square = i < count ? c->square[i] : 0;
        const bool counts = key != UINT64_MAX, stays = counts && !knn_is_before(last->key, last->index, key, index);
        const uint32_t to = warp_append(stays, &kept); /* not behind what is read */
        tied = __any_sync(CUDA_ALL, counts && !stays && square <= max) != 0 || tied;
        __syncwarp(); /* all have read */
        if (stays) {
            c->key[to] = key;
            c->index[to] = index;
            c->square[to] = square;
        }
        __syncwarp();
    }
    if (warp_lane() == 0) c->tied = tied;
    __syncwarp();
    return kept;
}

/* Keeps the k nearest candidates, and up to most in all. Functions that are called seldom are not part of the walk, so
   that they cost it no registers. */
template <int KIND, bool ELLIPSOID, uint32_t CAPACITY>
static __device__ __noinline__ void keep_nearest_of(const knn_search_args *args,
                                                    const knn_distance_bounds *distance_bounds, uint32_t most,
                                                    uint32_t lane, knn_query_state *s, knn_candidates<CAPACITY> *c) {
    knn_make_keys<KIND, ELLIPSOID, CAPACITY>(args, s, c->keyed, s->queued, lane, c);
    __syncwarp();
    const knn_last last = last_of_nearest(c, s->queued, args->k, most);
    lower_max<KIND, ELLIPSOID>(args, distance_bounds, last.key, s);
    s->queued = keep_up_to(&last, s->queued, s->max, c);
    if (lane == 0) {
        c->last = last;
        c->keyed = s->queued;
        c->filled++;
    }
    __syncwarp();
}

/* A state whose address is told is not in registers: a copy's is. */
template <int KIND, bool ELLIPSOID, uint32_t CAPACITY>
static __device__ inline void keep_nearest(const knn_search_args *args, const knn_distance_bounds *distance_bounds,
                                           uint32_t most, uint32_t lane, knn_query_state *s,
                                           knn_candidates<CAPACITY> *c) {
    const knn_distance_bounds bounds = *distance_bounds;
    knn_query_state copy = *s;
    keep_nearest_of<KIND, ELLIPSOID, CAPACITY>(args, &bounds, most, lane, &copy, c);
    s->max = copy.max;
    s->queued = copy.queued;
}

/* ---- up to 1024: sorted by the leading bits of their keys; where these are alike, mended */

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
    constexpr uint32_t half = CAPACITY / 2, most = CAPACITY - 2 * CUDA_WARP;
    const uint32_t k = args->k;
    __syncwarp();
    if constexpr (CAPACITY <= KNN_SORTED) {
        keep_nearest<KIND, ELLIPSOID, CAPACITY>(args, distance_bounds, k + k / 8 < most ? k + k / 8 : most, lane, s, c);
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
