/* The search of few neighbours (knn_small_k_cuda.cuh), its lists: of squares of floats, quick, and of exact keys. For
   .cu files only. */
#ifndef MOTE_KNN_SMALL_K_LIST_CUDA_H
#define MOTE_KNN_SMALL_K_LIST_CUDA_H

#include "knn/search/knn_small_k_traversal_cuda.cuh"

/* ---- 3. the nearest */

/* The view of a point. */
typedef struct small_k_view {
    float x, y, z;
} small_k_view;

static __device__ __forceinline__ small_k_view small_k_view_at(const float *views, uint32_t place) {
    const float *const v = views + (uint64_t)(place / KNN_CUDA_LEAF) * (3 * KNN_CUDA_LEAF) + place % KNN_CUDA_LEAF;
    const small_k_view view = {__ldg(v), __ldg(v + KNN_CUDA_LEAF), __ldg(v + 2 * KNN_CUDA_LEAF)};
    return view;
}

#define SMALL_K_EMPTY 0xFFFFFFE0u /* above the bits of all squares */

template <int T> struct small_k_found;

/* Sorted squares; in the low bits where in the lane's column the point's place stands. */
template <int T> struct small_k_nearest {
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
                                        small_k_view view) {
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
    const uint64_t key = knn_key<KIND>(&args->tree.metric, exact, &other);
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

    template <int KIND>
    __device__ __forceinline__ void add(const knn_search_args *args, const small_k_lane *lane, uint32_t added,
                                        small_k_view) {
        const uint32_t *const order = args->tree.points.order;
        knn_exact exact;
        knn_exact_of<KIND>(&args->queries, lane->place, &exact);
        uint64_t added_key = small_k_key_of<KIND>(args, &exact, added);
        if (added_key == UINT64_MAX) return;
#pragma unroll
        for (int i = 0; i < T; i++) { /* what it comes before goes on */
            const uint64_t there_key = key[i];
            const uint32_t there = place[i];
            if (there != SMALL_K_NONE && small_k_in_order(order, there_key, there, added_key, added)) continue;
            key[i] = added_key;
            place[i] = added;
            added_key = there_key;
            added = there;
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
            if ((uint32_t)i == args->k - 1) lane->resolved = args->tree.points.order[place[i]];
        }
    }

    __device__ __forceinline__ bool is_idle(const knn_search_args *) const { return false; }
};

/* The points that wait join the list, each while the next one's view is on its way. */
template <int KIND, class LIST>
static __device__ __forceinline__ void small_k_join(const knn_search_args *args, const small_k_traversal_memory *memory,
                                                    small_k_lane *lane, LIST *list) {
    const uint32_t self = args->exclude_self ? lane->place : SMALL_K_NONE;
    const uint32_t *const leaves = memory->leaves[lane->number / 8];
    uint32_t next = 0, hits = 0, leaf = 0, place = SMALL_K_NONE;
    small_k_view view = {0, 0, 0};
    CUDA_ROLLED
    for (;;) {
        const uint32_t before = place;
        const small_k_view view_before = view;
        place = SMALL_K_NONE;
        if (hits == 0 && next < lane->queued) {
            const uint32_t entry = memory->queue[next * CUDA_WARP + lane->number];
            hits = entry & 0xFF;
            leaf = leaves[entry >> 8];
            next++;
        }
        if (hits != 0) {
            place = leaf * KNN_CUDA_LEAF + (uint32_t)__ffs((int)hits) - 1;
            view = small_k_view_at(args->tree.points.views, place);
            hits &= hits - 1;
        }
        if (before != SMALL_K_NONE && before != self) list->template add<KIND>(args, lane, before, view_before);
        if (place == SMALL_K_NONE) break;
    }
    __syncwarp();
    lane->queued = 0;
    list->template lower_bounds<KIND>(args, lane);
}

#endif
