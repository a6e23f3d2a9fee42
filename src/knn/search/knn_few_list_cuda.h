/* The search of few neighbours (knn_few_cuda.h), its lists: of squares of floats, quick, and of exact keys. For .cu
   files only. */
#ifndef MOTE_KNN_FEW_LIST_CUDA_H
#define MOTE_KNN_FEW_LIST_CUDA_H

#include "knn/search/knn_few_walk_cuda.h"

/* ---- 3. the nearest */

/* The view of a point. */
typedef struct few_view {
    float x, y, z;
} few_view;

static __device__ __forceinline__ few_view few_view_at(const float *views, uint32_t place) {
    const float *const v = views + (uint64_t)(place / KNN_CUDA_LEAF) * (3 * KNN_CUDA_LEAF) + place % KNN_CUDA_LEAF;
    const few_view view = {__ldg(v), __ldg(v + KNN_CUDA_LEAF), __ldg(v + 2 * KNN_CUDA_LEAF)};
    return view;
}

#define FEW_EMPTY 0xFFFFFFE0u /* above the bits of all squares */

template <int T> struct few_found;

/* Sorted squares; in the low bits where in the lane's column the point's place stands. */
template <int T> struct few_nearest {
    uint32_t packed[T];
    uint32_t lost;    /* the least square of a point that is not among them */
    uint32_t *places; /* the lane's column */

    __device__ __forceinline__ void clear() {
#pragma unroll
        for (int i = 0; i < T; i++) packed[i] = FEW_EMPTY | (uint32_t)i;
        lost = FEW_EMPTY;
    }

    template <int KIND>
    __device__ __forceinline__ void add(const knn_cuda_ask *, const few_lane *lane, uint32_t place, few_view view) {
        const float square = knn_square(view.x - lane->at[0], view.y - lane->at[1], view.z - lane->at[2]);
        const uint32_t bits = __float_as_uint(square) & ~FEW_SLOTS, last = packed[T - 1], slot = last & FEW_SLOTS;
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
    template <int KIND> __device__ inline void look_nearer(const knn_cuda_ask *ask, float slack, few_lane *lane) const {
        uint32_t last = 0;
#pragma unroll
        for (int i = 0; i < T; i++) last = (uint32_t)i == ask->k - 1 ? packed[i] : last;
        const float square = __uint_as_float(last | FEW_SLOTS); /* NaN above all numbers */
        if (square <= FLT_MAX)
            lane->most = fminf(lane->most, knn_square_beside<KIND>(&ask->tree.metric, square, slack));
    }

    /* Whether squares of floats tell which the first k are, and their order: each is farther than the one before it by
       more than floats may err. */
    template <int KIND>
    __device__ __forceinline__ bool is_clear(const knn_cuda_ask *ask, float slack, const few_lane *lane) const {
        const bool limited = KIND == KNN_INT ? ask->limit != UINT64_MAX : ask->limit < knn_bits(INFINITY);
        bool clear = !limited && (lost == FEW_EMPTY || __uint_as_float(lost) > lane->most);
#pragma unroll
        for (int i = 0; i + 1 < T; i++) {
            const float before = __uint_as_float(packed[i] | FEW_SLOTS),
                        square = __uint_as_float(packed[i + 1] & ~FEW_SLOTS);
            const bool apart = square > knn_square_beside<KIND>(&ask->tree.metric, before, slack);
            clear = clear && (packed[i + 1] >= FEW_EMPTY || apart);
        }
        return clear;
    }

    /* Their places. */
    __device__ __forceinline__ void tell(few_found<T> *found) const {
#pragma unroll
        for (int i = 0; i < T; i++) {
            found->place[i] = packed[i] < FEW_EMPTY ? places[(packed[i] & FEW_SLOTS) * CUDA_WARP] : FEW_NONE;
        }
    }

    /* Whether k points are at no distance: of those only the least numbers count, which squares don't tell. */
    __device__ __forceinline__ bool is_idle(const knn_cuda_ask *ask) const {
        bool idle = false;
#pragma unroll
        for (int i = 0; i < T; i++) idle = idle || ((uint32_t)i == ask->k - 1 && packed[i] <= FEW_SLOTS);
        return idle;
    }
};

static __device__ __forceinline__ bool few_in_order(const uint32_t *order, uint64_t key, uint32_t place,
                                                    uint64_t next_key, uint32_t next) {
    if (key != next_key || next == FEW_NONE) return key <= next_key;
    return place != FEW_NONE && order[place] <= order[next];
}

/* The key of a point; UINT64_MAX if it does not count. */
template <int KIND>
static __device__ __forceinline__ uint64_t few_key_of(const knn_cuda_ask *ask, const knn_exact *exact, uint32_t place) {
    knn_exact other;
    knn_exact_of<KIND>(&ask->tree.points, place, &other);
    const uint64_t key = knn_key<KIND>(&ask->tree.metric, exact, &other);
    return key <= ask->limit ? key : UINT64_MAX;
}

/* Points in order of exact keys, the nearest first; FEW_NONE: there are no more. */
template <int T> struct few_found {
    uint64_t key[T];
    uint32_t place[T];

    __device__ __forceinline__ void clear() {
#pragma unroll
        for (int i = 0; i < T; i++) {
            key[i] = UINT64_MAX;
            place[i] = FEW_NONE;
        }
    }

    template <int KIND>
    __device__ __forceinline__ void add(const knn_cuda_ask *ask, const few_lane *lane, uint32_t added, few_view) {
        const uint32_t *const order = ask->tree.points.order;
        knn_exact exact;
        knn_exact_of<KIND>(&ask->queries, lane->place, &exact);
        uint64_t added_key = few_key_of<KIND>(ask, &exact, added);
        if (added_key == UINT64_MAX) return;
#pragma unroll
        for (int i = 0; i < T; i++) { /* what it comes before goes on */
            const uint64_t there_key = key[i];
            const uint32_t there = place[i];
            if (there != FEW_NONE && few_in_order(order, there_key, there, added_key, added)) continue;
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

    template <int KIND> __device__ inline void look_nearer(const knn_cuda_ask *ask, float slack, few_lane *lane) const {
        const uint64_t last = last_key(ask->k);
        if (last == UINT64_MAX || lane->most < 0) return;
        lane->most = fminf(lane->most, knn_square_of_key<KIND>(&ask->tree.metric, last, slack));
        if (!knn_is_zero(last)) return;
#pragma unroll
        for (int i = 0; i < T; i++) {
            if ((uint32_t)i == ask->k - 1) lane->settled = ask->tree.points.order[place[i]];
        }
    }

    __device__ __forceinline__ bool is_idle(const knn_cuda_ask *) const { return false; }
};

/* The points that wait join the list, each while the next one's view is on its way. */
template <int KIND, class LIST>
static __device__ __forceinline__ void few_join(const knn_cuda_ask *ask, float slack, const few_walking *memory,
                                                few_lane *lane, LIST *list) {
    const uint32_t self = ask->exclude_self ? lane->place : FEW_NONE;
    const uint32_t *const leaves = memory->leaves[lane->number / 8];
    uint32_t next = 0, hits = 0, leaf = 0, place = FEW_NONE;
    few_view view = {0, 0, 0};
    CUDA_ROLLED
    for (;;) {
        const uint32_t before = place;
        const few_view view_before = view;
        place = FEW_NONE;
        if (hits == 0 && next < lane->queued) {
            const uint32_t entry = memory->queue[next * CUDA_WARP + lane->number];
            hits = entry & 0xFF;
            leaf = leaves[entry >> 8];
            next++;
        }
        if (hits != 0) {
            place = leaf * KNN_CUDA_LEAF + (uint32_t)__ffs((int)hits) - 1;
            view = few_view_at(ask->tree.points.views, place);
            hits &= hits - 1;
        }
        if (before != FEW_NONE && before != self) list->template add<KIND>(ask, lane, before, view_before);
        if (place == FEW_NONE) break;
    }
    __syncwarp();
    lane->queued = 0;
    list->template look_nearer<KIND>(ask, slack, lane);
}

#endif
