/* Of up to KNN_SORTED candidates the nearest are selected, in any order, by key and number: a key is tried, counted,
   and another tried between those that were too low and too high. Each lane has PER candidates; UINT64_MAX is the key
   of none. For .cu files only.

     keys      0 0 0 1 1 1 1 1 1 2      k = 5: the 5th has key 1, and three are before those that have it
     numbers         8 3 9 1 7 5        of these two count: 1 and 3, so 3 is the last number
*/
#ifndef MOTE_KNN_KEEP_NEAREST_CUDA_H
#define MOTE_KNN_KEEP_NEAREST_CUDA_H

#include "knn/cuda/search/knn_candidates_cuda.cuh"

/* Lowers the bound: from now on only what is not behind the last matters. */
template <int KIND, bool ELLIPSOID>
static __device__ inline void lower_max(const knn_search_args *args, const knn_distance_bounds *distance_bounds,
                                        uint64_t last, knn_query_state *s) {
    if (last == UINT64_MAX) return;
    s->max = fminf(s->max, knn_distance_bound_of_key<KIND, ELLIPSOID>(args, last, distance_bounds));
}

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
   Or a key that nth to max_count do not exceed. *within: how many do not. nth is 2 at least. The largest of the keys as
   a first bound, instead of any, would cost lattices of k = 100 4 %, and gain nothing elsewhere. */
template <int PER>
static __device__ inline uint64_t select_key(const uint64_t (&key)[PER], uint32_t nth, uint32_t max_count,
                                             uint32_t *within) {
    uint64_t low = 0, high = UINT64_MAX - 1, tried = 0; /* zero is tried first: low rules it out from then on */
    *within = count_up_to(key, high);
    for (uint32_t round = 0; *within > max_count; round++) {
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

/* Of candidates that have a key: a number that nth to max_count of them do not exceed. There are more than nth. Numbers
   of points at one distance are as good as random: it is guessed from how many are wanted. */
template <int PER>
static __device__ inline uint32_t select_index(const uint64_t (&key)[PER], const uint32_t (&index)[PER], uint64_t of,
                                               uint32_t nth, uint32_t max_count) {
    uint32_t low = 0, high = 0, count = 0; /* nth or more do not exceed high, fewer are below low */
#pragma unroll
    for (int j = 0; j < PER; j++) {
        high = key[j] == of && index[j] > high ? index[j] : high;
        count += key[j] == of ? 1 : 0;
    }
    high = warp_max(high);
    count = warp_sum(count);
    for (uint32_t round = 0; count > max_count && low < high; round++) {
        const float share = round < 4 ? (float)(nth + max_count) / (float)(2 * count) : 0.5f;
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

/* The last of the k nearest candidates, whose keys are made, or of a few more, up to max_count; UINT64_MAX is the key
   where there are fewer. */
template <uint32_t CAPACITY>
static __device__ inline knn_last last_of_nearest(const knn_candidates<CAPACITY> *c, uint32_t count, uint32_t k,
                                                  uint32_t max_count) {
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
    const uint64_t nearest = select_key(key, k, max_count, &within);
    if (within < k) return last;
    last.key = nearest;
    if (within > max_count) {
        const uint32_t before = nearest == 0 ? 0 : count_up_to(key, nearest - 1);
        last.index = select_index(key, index, nearest, k - before, max_count - before);
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

/* Keeps the k nearest candidates, and up to max_count in all. Functions that are called seldom are not part of the
   walk, so that they cost it no registers. */
template <int KIND, bool ELLIPSOID, uint32_t CAPACITY>
static __device__ __noinline__ void keep_nearest_of(const knn_search_args *args,
                                                    const knn_distance_bounds *distance_bounds, uint32_t max_count,
                                                    uint32_t lane, knn_query_state *s, knn_candidates<CAPACITY> *c) {
    knn_make_keys<KIND, ELLIPSOID, CAPACITY>(args, s, c->keyed, s->queued, lane, c);
    __syncwarp();
    const knn_last last = last_of_nearest(c, s->queued, args->k, max_count);
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
                                           uint32_t max_count, uint32_t lane, knn_query_state *s,
                                           knn_candidates<CAPACITY> *c) {
    const knn_distance_bounds bounds = *distance_bounds;
    knn_query_state copy = *s;
    keep_nearest_of<KIND, ELLIPSOID, CAPACITY>(args, &bounds, max_count, lane, &copy, c);
    s->max = copy.max;
    s->queued = copy.queued;
}

#endif
