/* The search of few neighbours (knn_small_k_cuda.cuh), the lists of a lane: the T nearest of the points that were
   tried, by a rank of each. For .cu files only.

     packed  [rank 27 bits | slot 5 bits] ascending, T of them: an insertion is a minimum and a maximum an entry
     places  [slot] the place of the point, in the lane's column of shared memory
     lost    the least rank of a point that was left out: if it may be as near as the k-th, the list is unresolved

   Ranks are squares of floats at first. Where these do not tell which points are the nearest, as where many are at one
   distance, the query is searched for again among the points up to the exact key of the k-th of its list, with ranks

     [0][26 bits: the farther below that key, the less]     of nearer points
     [1][26 bits of the number]                             of points at that key */
#ifndef MOTE_KNN_SMALL_K_LIST_CUDA_H
#define MOTE_KNN_SMALL_K_LIST_CUDA_H

#include "knn/cuda/search/knn_frame_cuda.cuh"

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

#define SMALL_K_EMPTY   0xFFFFFFE0u /* above all ranks */
#define SMALL_K_AT_LAST (1u << 26)  /* ranks from here on are numbers */

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
    uint64_t key[T];
    uint32_t place[T];

    __device__ __forceinline__ void clear() {
#pragma unroll
        for (int i = 0; i < T; i++) {
            key[i] = UINT64_MAX;
            place[i] = SMALL_K_NONE;
        }
    }

    /* The k-th key, UINT64_MAX: there is none. By masks: chosen by a condition, the list would be put into memory. */
    __device__ __forceinline__ uint64_t last_key(uint32_t k) const {
        uint64_t last = 0;
#pragma unroll
        for (int i = 0; i < T; i++) {
            const uint32_t is_last = (uint32_t)i == k - 1 ? UINT32_MAX : 0;
            last |= key[i] & ((uint64_t)is_last << 32 | is_last);
        }
        return last;
    }

    __device__ __forceinline__ uint32_t last_place(uint32_t k) const {
        uint32_t last = 0;
#pragma unroll
        for (int i = 0; i < T; i++) last |= place[i] & ((uint32_t)i == k - 1 ? UINT32_MAX : 0);
        return last;
    }
};

/* How many low bits of a point's number a rank has no room for: leading bits decide which of many ties are kept. */
static __device__ __forceinline__ uint32_t small_k_number_shift(const knn_search_args *args) {
    uint32_t shift = 0;
    while (args->tree.points.count >> shift >= SMALL_K_AT_LAST - 1) shift++;
    return shift;
}

/* The nearest, by their ranks; in the low bits where in the lane's column the point's place stands. */
template <int T> struct small_k_list {
    uint32_t packed[T];
    uint32_t lost;    /* the least rank of a point that is not among them */
    uint32_t *places; /* the lane's column */

    __device__ __forceinline__ void clear() {
#pragma unroll
        for (int i = 0; i < T; i++) packed[i] = SMALL_K_EMPTY | (uint32_t)i;
        lost = SMALL_K_EMPTY;
    }

    /* rank: above the bits of a slot */
    __device__ __forceinline__ void insert(uint32_t rank, uint32_t place) {
        const uint32_t last = packed[T - 1], slot = last & SMALL_K_SLOTS;
        const uint32_t leaves = rank < last - slot ? last - slot : rank;
        lost = leaves < lost ? leaves : lost;
        if (leaves == rank) return;
        places[slot * CUDA_WARP] = place;
        packed[T - 1] = rank | slot;
#pragma unroll
        for (int i = T - 1; i > 0; i--) {
            const uint32_t a = packed[i - 1], b = packed[i];
            packed[i - 1] = a < b ? a : b;
            packed[i] = a < b ? b : a;
        }
    }

    __device__ __forceinline__ uint32_t kth(uint32_t k) const {
        uint32_t of = 0;
#pragma unroll
        for (int i = 0; i < T; i++) of = (uint32_t)i == k - 1 ? packed[i] : of;
        return of;
    }
};

/* Ranks are the bits of squares. */
template <int T> struct small_k_nearest : small_k_list<T> {
    static constexpr bool views = true; /* points are added by their views */
    using small_k_list<T>::packed;
    using small_k_list<T>::lost;

    template <int KIND>
    __device__ __forceinline__ void add(const knn_search_args *, const small_k_lane *lane, uint32_t place,
                                        float3 view) {
        const float square = knn_square(view.x - lane->at[0], view.y - lane->at[1], view.z - lane->at[2]);
        this->insert(__float_as_uint(square) & ~SMALL_K_SLOTS, place);
    }

    /* How far the lane looks from now on. A query that has found k points in its own place does not: of those only the
       least numbers count, which squares don't tell. */
    template <int KIND> __device__ inline void lower_bounds(const knn_search_args *args, small_k_lane *lane) const {
        const float square = __uint_as_float(this->kth(args->k) | SMALL_K_SLOTS); /* NaN above all numbers */
        if (square <= FLT_MAX)
            lane->max = fminf(lane->max, knn_square_bound_near<KIND>(&args->tree.metric, square, lane->slack));
    }

    __device__ __forceinline__ bool is_idle(const knn_search_args *args) const {
        return this->kth(args->k) <= SMALL_K_SLOTS;
    }

    __device__ __forceinline__ bool is_resolved(const knn_search_args *, const small_k_lane *lane) const {
        return lost == SMALL_K_EMPTY || __uint_as_float(lost) > lane->max;
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

    /* Gives the places of what the list holds. */
    __device__ __forceinline__ void tell(small_k_found<T> *found) const {
#pragma unroll
        for (int i = 0; i < T; i++) {
            found->place[i] =
                packed[i] < SMALL_K_EMPTY ? this->places[(packed[i] & SMALL_K_SLOTS) * CUDA_WARP] : SMALL_K_NONE;
        }
    }
};

/* Ranks are those of points up to a key. */
template <int T> struct small_k_up_to : small_k_list<T> {
    static constexpr bool views = false;
    knn_exact query;
    uint64_t last;

    template <int KIND>
    __device__ __forceinline__ void add(const knn_search_args *args, const small_k_lane *, uint32_t place, float3) {
        const uint64_t key = small_k_key_of<KIND>(args, &query, place);
        uint32_t rank;
        if (key > last) return;
        if (key == last) {
            const uint32_t number = __ldg(args->tree.points.order + place);
            rank = SMALL_K_AT_LAST | number >> small_k_number_shift(args);
        } else {
            const float below = KIND == KNN_INT ? (float)(last - key) : (float)(knn_real(last) - knn_real(key));
            rank = SMALL_K_AT_LAST - 1 - __float_as_uint(below) / (SMALL_K_SLOTS + 1);
        }
        this->insert(rank * (SMALL_K_SLOTS + 1), place);
    }

    /* Once k points are in the query's own place only such with smaller numbers than the k-th can still matter. */
    template <int KIND> __device__ inline void lower_bounds(const knn_search_args *args, small_k_lane *lane) const {
        const uint32_t rank = this->kth(args->k) / (SMALL_K_SLOTS + 1), number = rank % SMALL_K_AT_LAST;
        if (!knn_is_zero(last) || rank >= SMALL_K_EMPTY / (SMALL_K_SLOTS + 1)) return;
        lane->resolved = ((number + 1) << small_k_number_shift(args)) - 1;
    }

    __device__ __forceinline__ bool is_idle(const knn_search_args *) const { return false; }

    __device__ __forceinline__ bool is_resolved(const knn_search_args *args, const small_k_lane *) const {
        return this->lost == SMALL_K_EMPTY || this->lost > (this->kth(args->k) | SMALL_K_SLOTS);
    }
};

#endif
