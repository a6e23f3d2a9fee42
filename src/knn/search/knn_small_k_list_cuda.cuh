/* The search of few neighbours (knn_small_k_cuda.cuh), its lists of a lane: of squares of floats, fast, and of exact
   keys. For .cu files only.

     packed  [square 27 bits | slot 5 bits] ascending, T of them: an insertion is a minimum and a maximum an entry
     places  [slot] the place of the point, in the lane's column of shared memory
     lost    the least square of a point that was left out: if it may be as near as the k-th, the list is unresolved */
#ifndef MOTE_KNN_SMALL_K_LIST_CUDA_H
#define MOTE_KNN_SMALL_K_LIST_CUDA_H

#include "knn/search/knn_frame_cuda.cuh"

#define SMALL_K_SLOTS 31u /* bits that tell one of them */
#define SMALL_K_NONE  UINT32_MAX

#define SMALL_K_CURVE_LEAVES 12u /* leaves around the queries that are looked at first */

/* What a lane knows. */
typedef struct small_k_lane {
    uint32_t number;
    uint32_t place;    /* of its query */
    float at[3], max;  /* its view, and the largest square that still matters; < 0: no query, or it is left */
    float slack;       /* see knn_frame_cuda.cuh */
    uint32_t resolved; /* of neighbours at distance zero only smaller numbers matter; else UINT32_MAX */
    uint32_t queued;   /* leaves with points that wait */
} small_k_lane;

#define SMALL_K_EMPTY 0xFFFFFFE0u /* above the bits of all squares */

template <int T> struct small_k_found;

/* Sorted squares; in the low bits where in the lane's column the point's place stands. */
template <int T> struct small_k_nearest {
    static constexpr bool views = true; /* points are added by their views */
    uint32_t packed[T];
    uint32_t lost;    /* the least square of a point that is not among them */
    uint32_t *places; /* the lane's column */

    __device__ __forceinline__ void clear() {
#pragma unroll
        for (int i = 0; i < T; i++) packed[i] = SMALL_K_EMPTY | (uint32_t)i;
        lost = SMALL_K_EMPTY;
    }

    template <int KIND>
    __device__ __forceinline__ void add(const knn_search_args *, const small_k_lane *lane, uint32_t place,
                                        float3 view) {
        const float square = knn_square(view.x - lane->at[0], view.y - lane->at[1], view.z - lane->at[2]);
        const uint32_t bits = __float_as_uint(square) & ~SMALL_K_SLOTS, last = packed[T - 1],
                       slot = last & SMALL_K_SLOTS;
        const uint32_t leaves = bits < last - slot ? last - slot : bits;
        lost = leaves < lost ? leaves : lost;
        if (leaves == bits) return;
        places[slot * CUDA_WARP] = place;
        packed[T - 1] = bits | slot;
#pragma unroll
        for (int i = T - 1; i > 0; i--) {
            const uint32_t a = packed[i - 1], b = packed[i];
            packed[i - 1] = a < b ? a : b;
            packed[i] = a < b ? b : a;
        }
    }

    /* How far the lane looks from now on. */
    template <int KIND> __device__ inline void lower_bounds(const knn_search_args *args, small_k_lane *lane) const {
        uint32_t last = 0;
#pragma unroll
        for (int i = 0; i < T; i++) last = (uint32_t)i == args->k - 1 ? packed[i] : last;
        const float square = __uint_as_float(last | SMALL_K_SLOTS); /* NaN above all numbers */
        if (square <= FLT_MAX)
            lane->max = fminf(lane->max, knn_square_bound_near<KIND>(&args->tree.metric, square, lane->slack));
    }

    /* Whether squares of floats tell which the first k are, and their order: each is farther than the one before it by
       more than floats may err. */
    template <int KIND>
    __device__ __forceinline__ bool is_clear(const knn_search_args *args, const small_k_lane *lane) const {
        const bool limited = KIND == KNN_INT ? args->limit != UINT64_MAX : args->limit < knn_bits(INFINITY);
        bool clear = !limited && (lost == SMALL_K_EMPTY || __uint_as_float(lost) > lane->max);
#pragma unroll
        for (int i = 0; i + 1 < T; i++) {
            const float before = __uint_as_float(packed[i] | SMALL_K_SLOTS),
                        square = __uint_as_float(packed[i + 1] & ~SMALL_K_SLOTS);
            const bool single = square > knn_square_bound_near<KIND>(&args->tree.metric, before, lane->slack);
            clear = clear && (packed[i + 1] >= SMALL_K_EMPTY || single);
        }
        return clear;
    }

    /* Their places. */
    __device__ __forceinline__ void tell(small_k_found<T> *found) const {
#pragma unroll
        for (int i = 0; i < T; i++) {
            found->place[i] =
                packed[i] < SMALL_K_EMPTY ? places[(packed[i] & SMALL_K_SLOTS) * CUDA_WARP] : SMALL_K_NONE;
        }
    }

    /* Whether k points are at no distance: of those only the least numbers count, which squares don't tell. */
    __device__ __forceinline__ bool is_idle(const knn_search_args *args) const {
        bool idle = false;
#pragma unroll
        for (int i = 0; i < T; i++) idle = idle || ((uint32_t)i == args->k - 1 && packed[i] <= SMALL_K_SLOTS);
        return idle;
    }
};

static __device__ __forceinline__ bool small_k_in_order(const uint32_t *order, uint64_t key, uint32_t place,
                                                        uint64_t next_key, uint32_t next) {
    if (key != next_key || next == SMALL_K_NONE) return key <= next_key;
    return place != SMALL_K_NONE && order[place] <= order[next];
}

/* The key of a point; UINT64_MAX if it does not count. */
template <int KIND>
static __device__ __forceinline__ uint64_t small_k_key_of(const knn_search_args *args, const knn_exact *exact,
                                                          uint32_t place) {
    knn_exact other;
    knn_exact_of<KIND>(&args->tree.points, place, &other);
    const uint64_t key = knn_key_between(KIND, &args->tree.metric, exact, &other);
    return key <= args->limit ? key : UINT64_MAX;
}

/* Points in order of exact keys, the nearest first; SMALL_K_NONE: there are no more. */
template <int T> struct small_k_found {
    static constexpr bool views = false;
    uint64_t key[T];
    uint32_t place[T];
    uint32_t index[T]; /* of those that were added one by one: their numbers, by which ties are decided */

    __device__ __forceinline__ void clear() {
#pragma unroll
        for (int i = 0; i < T; i++) {
            key[i] = UINT64_MAX;
            place[i] = SMALL_K_NONE;
            index[i] = UINT32_MAX;
        }
    }

    template <int KIND>
    __device__ __forceinline__ void add(const knn_search_args *args, const small_k_lane *lane, uint32_t added, float3) {
        knn_exact exact;
        knn_exact_of<KIND>(&args->queries, lane->place, &exact);
        uint64_t added_key = small_k_key_of<KIND>(args, &exact, added);
        if (added_key == UINT64_MAX) return;
        uint32_t added_index = __ldg(args->tree.points.order + added);
        if (!knn_is_before(added_key, added_index, key[T - 1], index[T - 1])) return;
#pragma unroll
        for (int i = 0; i < T; i++) { /* what it comes before goes on */
            const uint64_t there_key = key[i];
            const uint32_t there = place[i], there_index = index[i];
            if (!knn_is_before(added_key, added_index, there_key, there_index)) continue;
            key[i] = added_key;
            place[i] = added;
            index[i] = added_index;
            added_key = there_key;
            added = there;
            added_index = there_index;
        }
    }

    /* The k-th key; UINT64_MAX: there is none. By masks: chosen by a condition, the list would be put into memory. */
    __device__ __forceinline__ uint64_t last_key(uint32_t k) const {
        uint64_t last = 0;
#pragma unroll
        for (int i = 0; i < T; i++) {
            const uint32_t is_last = (uint32_t)i == k - 1 ? UINT32_MAX : 0;
            last |= key[i] & ((uint64_t)is_last << 32 | is_last);
        }
        return last;
    }

    template <int KIND> __device__ inline void lower_bounds(const knn_search_args *args, small_k_lane *lane) const {
        const uint64_t last = last_key(args->k);
        if (last == UINT64_MAX || lane->max < 0) return;
        lane->max = fminf(lane->max, knn_square_of_key<KIND>(&args->tree.metric, last, lane->slack));
        if (!knn_is_zero(last)) return;
#pragma unroll
        for (int i = 0; i < T; i++) {
            if ((uint32_t)i == args->k - 1) lane->resolved = index[i];
        }
    }

    __device__ __forceinline__ bool is_idle(const knn_search_args *) const { return false; }
};

#endif
