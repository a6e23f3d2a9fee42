/* The search of few neighbours (knn_small_k_cuda.cuh) of one query by a whole warp: its best stand, sorted, in the
   lanes. Points that squares do not rule out wait until there are 32, of which those that still matter get exact keys
   and are merged with the best. For .cu files only. */
#ifndef MOTE_KNN_SMALL_K_SINGLE_CUDA_H
#define MOTE_KNN_SMALL_K_SINGLE_CUDA_H

#include "knn/cuda/search/knn_single_cuda.cuh"
#include "knn/cuda/search/knn_small_k_list_cuda.cuh"

/* The nth least of the lanes' values, from 0; none is NaN. */
static __device__ __forceinline__ double small_k_nth_of(double value, uint32_t nth, uint32_t number) {
    uint32_t rank = 0;
#pragma unroll 8
    for (uint32_t i = 0; i < CUDA_WARP; i++) {
        const double other = warp_broadcast(value, i);
        rank += other < value || (other == value && i < number) ? 1 : 0;
    }
    return warp_broadcast(value, warp_first(__ballot_sync(CUDA_ALL, rank == nth)));
}

#define SMALL_K_MANY_POINTS 8  /* of 32 that are near enough: with more, looking for a nearer bound pays */
#define SMALL_K_HELD        64 /* points that wait for their exact keys: 32 and what one step adds */

/* A neighbour in each lane. */
typedef struct small_k_one {
    uint64_t key;
    uint32_t place; /* SMALL_K_NONE: none, and its key is above all */
} small_k_one;

static __device__ __forceinline__ small_k_one small_k_one_from(const small_k_one *mine, uint32_t lane) {
    small_k_one one;
    one.key = warp_broadcast(mine->key, lane);
    one.place = warp_broadcast(mine->place, lane);
    return one;
}

/* The nearer or the farther of the lane's and another. */
static __device__ __forceinline__ void small_k_keep(const uint32_t *order, bool nearer, const small_k_one *other,
                                                    small_k_one *mine) {
    const bool first = small_k_in_order(order, mine->key, mine->place, other->key, other->place);
    if (first != nearer) *mine = *other;
}

/* Each run of `run` lanes, whose neighbours are first ascending and then descending, becomes ascending or, where the
   bit `turned` of a lane's number is set, descending. */
static __device__ __forceinline__ void small_k_merge_lanes(const uint32_t *order, uint32_t run, uint32_t turned,
                                                           uint32_t number, small_k_one *mine) {
    CUDA_ROLLED
    for (uint32_t away = run / 2; away > 0; away /= 2) {
        const small_k_one other = small_k_one_from(mine, number ^ away);
        small_k_keep(order, ((number & away) == 0) == ((number & turned) == 0), &other, mine);
    }
}

/* What a warp keeps in shared memory. */
typedef struct small_k_single_memory {
    knn_single_memory walk;
    uint32_t held[SMALL_K_HELD]; /* places of points */
    double held_square[SMALL_K_HELD];
} small_k_single_memory;

/* A query's search, with what its warp knows of it. */
template <int KIND> struct small_k_visitor {
    double max, min;
    uint32_t resolved, number;
    small_k_one best; /* the lane's of the 32 nearest, ascending */
    small_k_single_memory *memory;
    uint32_t held_count;

    /* Each lane's least square is of points of its own: the nth least of these bounds too. */
    __device__ __forceinline__ void lower_bounds(const knn_search_args *args) {
        const double bound = small_k_nth_of(min, args->k - 1 + (args->exclude_self ? 1 : 0), number);
        max = ::min(max, knn_double_bound_near<KIND>(&args->tree.metric, bound));
    }

    __device__ __forceinline__ void try_points(const knn_search_args *args, const knn_single *query, uint32_t at,
                                               double square) {
        min = square < min ? square : min;
        if (__popc(__ballot_sync(CUDA_ALL, square <= max)) > SMALL_K_MANY_POINTS) lower_bounds(args);
        const bool matters = square <= max && at != query->self;
        const uint32_t to = warp_append(matters, &held_count);
        if (matters) memory->held[to] = at;
        if (matters) memory->held_square[to] = square;
        __syncwarp();
    }

    /* Drops the points that wait and are now beyond the bound, before keys are made of them. */
    __device__ __forceinline__ void sift(const knn_search_args *args) {
        uint32_t kept = 0;
        lower_bounds(args);
        for (uint32_t begin = 0; begin < SMALL_K_HELD; begin += CUDA_WARP) {
            const uint32_t i = begin + number, place = memory->held[i];
            const double square = memory->held_square[i];
            const bool matters = i < held_count && square <= max;
            const uint32_t to = warp_append(matters, &kept);
            __syncwarp();
            if (matters) memory->held[to] = place;
            if (matters) memory->held_square[to] = square;
            __syncwarp();
        }
        held_count = kept;
    }

    /* The last of those that wait, up to 32, get exact keys and join the best. */
    __device__ __forceinline__ void join(const knn_search_args *args, const knn_single *query) {
        const uint32_t *const order = args->tree.points.order;
        const uint32_t count = held_count < CUDA_WARP ? held_count : CUDA_WARP;
        small_k_one added = {UINT64_MAX, SMALL_K_NONE};
        held_count -= count;
        if (number < count) {
            added.place = memory->held[held_count + number];
            added.key = small_k_key_of<KIND>(args, &query->exact, added.place);
            if (added.key == UINT64_MAX) added.place = SMALL_K_NONE;
        }
        __syncwarp();
        CUDA_ROLLED
        for (uint32_t run = 2; run <= CUDA_WARP; run *= 2) small_k_merge_lanes(order, run, run, number, &added);
        const small_k_one other = small_k_one_from(&added, CUDA_WARP - 1 - number);
        small_k_keep(order, true, &other, &best);
        small_k_merge_lanes(order, CUDA_WARP, 0, number, &best);
        const small_k_one last = small_k_one_from(&best, args->k - 1);
        if (last.place == SMALL_K_NONE) return;
        max = ::min(max, knn_double_of_key<KIND>(&args->tree.metric, last.key));
        if (knn_is_zero(last.key)) resolved = order[last.place];
    }

    __device__ __forceinline__ void settle(const knn_search_args *args, const knn_single *query, bool ends) {
        if (held_count >= CUDA_WARP) sift(args);
        while (held_count >= CUDA_WARP || (ends && held_count > 0)) join(args, query);
    }
};

template <int T> struct small_k_single {
    uint64_t key[T]; /* what was found */
    uint32_t place[T];
    small_k_single_memory alone;
};

/* The neighbours of the query at a sorted place, by all lanes of a warp, which has memory of its own. */
template <int KIND, int T>
static __device__ void small_k_search_single(const knn_search_args *args, uint32_t place, small_k_single<T> *memory) {
    const uint32_t number = warp_lane();
    const knn_leaf_range around = knn_leaves_around(&args->tree, knn_leaf_of(args, place), SMALL_K_CURVE_LEAVES);
    const knn_single query = knn_single_of<KIND>(args, place);
    small_k_visitor<KIND> v;
    v.max = knn_double_of_key<KIND>(&args->tree.metric, args->limit);
    v.min = INFINITY;
    v.resolved = UINT32_MAX;
    v.number = number;
    v.best.key = UINT64_MAX;
    v.best.place = SMALL_K_NONE;
    v.memory = &memory->alone;
    v.held_count = 0;
    knn_walk_single<KIND>(args, &query, around, &memory->alone.walk, number, &v);
    __syncwarp(); /* what the lanes found before was taken */
    if (number < T) {
        memory->key[number] = v.best.key;
        memory->place[number] = v.best.place;
    }
    __syncwarp();
}

#endif
