/* The candidates of one query that wants many neighbours: in shared memory, thinned out by a warp when they are full,
   (knn_keep_nearest_cuda.cuh), and sorted in the end (knn_resolve_cuda.cuh). For .cu files only.

     keyed           queued               CAPACITY
     [keys are made   |places in the tree |  free   ]

     full   keys are made of all. The k nearest and a few more stay, in any order; behind the last of them nothing
            matters from now on. Where many points are at one distance, that is the last of their numbers that matters.
     end    keys are made of all, and the k nearest are put in order. */
#ifndef MOTE_KNN_CANDIDATES_CUDA_H
#define MOTE_KNN_CANDIDATES_CUDA_H

#include "device/cuda/warp.cuh"
#include "knn/cuda/search/knn_distance_bounds_cuda.cuh"

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

/* The number behind which copies of the query are of no use: where the k-th neighbour is one, those with larger
   numbers come after it. */
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
    const uint32_t own = knn_self_place(args, s->place);
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

#endif
