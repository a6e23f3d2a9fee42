/* Many neighbours on the device, and every point for checking: a warp has one query, and its best in shared memory.
   Points that may be among them wait in a queue; when it is full, it is sorted and merged with them. */
#include <math.h>

#include "knn/knn_point_cuda.h"

#define QUEUE_LEAST 128u /* points that wait */

/* Neighbours by (key, index), ascending when sorted. */
template <uint32_t ROOM> struct near_list {
    uint64_t key[ROOM];
    uint32_t index[ROOM];
};

template <uint32_t ROOM> struct warp_lists {
    near_list<ROOM> best;
    near_list<(ROOM > QUEUE_LEAST ? ROOM : QUEUE_LEAST)> queue;
    uint32_t waiting[KNN_WAITING];
};

template <uint32_t ROOM>
static __device__ inline void order_two(near_list<ROOM> *list, uint32_t a, uint32_t b, bool ascending) {
    const uint64_t key_a = list->key[a], key_b = list->key[b];
    const uint32_t index_a = list->index[a], index_b = list->index[b];
    if (knn_is_before(key_b, index_b, key_a, index_a) != ascending) return;
    list->key[a] = key_b;
    list->key[b] = key_a;
    list->index[a] = index_b;
    list->index[b] = index_a;
}

/* One stage of a bitonic sort of count entries, a power of two: pairs that are apart by a distance. */
template <uint32_t ROOM>
static __device__ inline void order_stage(near_list<ROOM> *list, uint32_t count, uint32_t apart, uint32_t run,
                                          uint32_t lane) {
    for (uint32_t i = lane; i < count / 2; i += CUDA_WARP) {
        const uint32_t a = 2 * i - (i & (apart - 1));
        order_two(list, a, a + apart, (a & run) == 0);
    }
    __syncwarp();
}

template <uint32_t ROOM> static __device__ void sort_list(near_list<ROOM> *list, uint32_t count, uint32_t lane) {
    for (uint32_t run = 2; run <= count; run *= 2) {
        for (uint32_t apart = run / 2; apart > 0; apart /= 2) order_stage(list, count, apart, run, lane);
    }
}

/* Fits sorts of powers of two: the smallest that holds count. */
static __device__ inline uint32_t power_for(uint32_t count) {
    return count <= 1 ? 1 : 1u << (32 - __clz((int)(count - 1)));
}

template <int KIND, uint32_t ROOM> struct many_visitor {
    float most, slack;
    uint32_t settled;
    uint32_t lane, queued;
    uint32_t length;   /* of best: a power of two, k or more */
    uint64_t last_key; /* of the k best: what is not before it does not count */
    uint32_t last_index;
    warp_lists<ROOM> *lists;

    /* Sorts the queue and merges it with the best. */
    __device__ void settle(const knn_cuda_ask *ask) {
        auto *const best = &lists->best;
        auto *const queue = &lists->queue;
        const uint32_t sorted = power_for(queued);
        __syncwarp();
        for (uint32_t i = queued + lane; i < sorted; i += CUDA_WARP) {
            queue->key[i] = UINT64_MAX;
            queue->index[i] = UINT32_MAX;
        }
        __syncwarp();
        sort_list(queue, sorted, lane);
        for (uint32_t i = lane; i < length; i += CUDA_WARP) { /* best[i] and the queue backwards: a bitonic run */
            const uint32_t from = length - 1 - i;
            if (from >= sorted || !knn_is_before(queue->key[from], queue->index[from], best->key[i], best->index[i])) {
                continue;
            }
            best->key[i] = queue->key[from];
            best->index[i] = queue->index[from];
        }
        __syncwarp();
        for (uint32_t apart = length / 2; apart > 0; apart /= 2) order_stage(best, length, apart, length, lane);
        queued = 0;
        last_key = best->key[ask->k - 1];
        last_index = best->index[ask->k - 1];
        __syncwarp();
        if (last_index == UINT32_MAX || ask->all) return;
        most = fminf(most, knn_square_of_key<KIND>(&ask->tree.metric, last_key, slack));
        if (knn_is_zero(last_key)) settled = last_index;
    }

    __device__ inline void try_points(const knn_cuda_ask *ask, const knn_asking *asking, uint32_t at, bool near) {
        uint64_t key = 0;
        uint32_t index = 0;
        if (near && at != asking->place) {
            knn_exact other;
            knn_exact_of<KIND>(&ask->tree.points, at, &other);
            key = knn_key<KIND>(&ask->tree.metric, &asking->exact, &other);
            index = __ldg(ask->tree.points.order + at);
            near = key <= ask->limit && knn_is_before(key, index, last_key, last_index);
        } else {
            near = false;
        }
        const uint32_t lanes = __ballot_sync(CUDA_ALL, near);
        if (near) {
            const uint32_t to = queued + (uint32_t)__popc(lanes & ((1u << lane) - 1));
            lists->queue.key[to] = key;
            lists->queue.index[to] = index;
        }
        queued += (uint32_t)__popc(lanes);
        const uint32_t room = length < QUEUE_LEAST ? QUEUE_LEAST : length;
        if (queued > room - CUDA_WARP) settle(ask);
    }
};

template <uint32_t ROOM>
static __device__ inline void write_row(const knn_cuda_ask *ask, const near_list<ROOM> *best, uint32_t row,
                                        uint32_t lane) {
    const knn_cuda_rows *to = &ask->rows;
    uint32_t count = 0;
    for (uint32_t i = lane; i < ask->k; i += CUDA_WARP) {
        const uint32_t index = best->index[i];
        const uint64_t out = (uint64_t)row * ask->k + i;
        const bool found = index != UINT32_MAX;
        const double distance2 = found ? knn_distance2(&ask->tree.metric, best->key[i]) : (double)INFINITY;
        count += found;
        if (to->index32 != NULL) to->index32[out] = index;
        if (to->index64 != NULL) to->index64[out] = found ? (int64_t)index : -1;
        if (to->distance2 != NULL) to->distance2[out] = (float)distance2;
        if (to->distance2_wide != NULL) to->distance2_wide[out] = distance2;
    }
    for (int away = CUDA_WARP / 2; away > 0; away /= 2) count += __shfl_xor_sync(CUDA_ALL, count, away);
    if (to->count != NULL && lane == 0) to->count[row] = count;
}

#define AROUND_LEAST 64u /* half of the points around a query that are tried first */

/* The leaves around a query on the curve: twice as many points as it keeps, or some more. */
template <int KIND>
static __device__ inline knn_leaves leaves_around(const knn_cuda_ask *ask, uint32_t place, uint32_t length) {
    const knn_cuda_points *points = &ask->tree.points;
    uint32_t leaf = place / KNN_CUDA_LEAF;
    if (!ask->own) {
        const knn_cuda_points *q = &ask->queries;
        const uint32_t beside = knn_place_beside(points, q->keys[place], q->cell_bits, q->index_bits);
        leaf = (beside < points->count ? beside : points->count - 1) / KNN_CUDA_LEAF;
    }
    const uint32_t half = (length > AROUND_LEAST ? length : AROUND_LEAST) / KNN_CUDA_LEAF, leaves = ask->tree.nodes[0];
    knn_leaves around;
    around.first = leaf > half ? leaf - half : 0;
    around.end = leaves - around.first > 2 * half ? around.first + 2 * half : leaves;
    return around;
}

#define BOUND_TRIES  (2 * AROUND_LEAST / CUDA_WARP)
#define BOUND_HALVES 10 /* halvings of the interval in which the bound lies */

/* A square that nth or more of the first 128 points around do not exceed; infinite if there are not so many. */
static __device__ inline float bound_around(const knn_cuda_ask *ask, const knn_asking *asking, knn_leaves around,
                                            uint32_t nth, uint32_t lane) {
    float square[BOUND_TRIES], low = 0, high = 0;
    uint32_t count = 0;
#pragma unroll
    for (uint32_t i = 0; i < BOUND_TRIES; i++) {
        const uint32_t leaf = around.first + i * KNN_AT_ONCE + lane / KNN_CUDA_LEAF;
        square[i] = INFINITY;
        if (leaf < around.end) square[i] = knn_square_at(ask, asking, leaf, lane);
        const bool exists = square[i] <= FLT_MAX;
        count += (uint32_t)__popc(__ballot_sync(CUDA_ALL, exists));
        high = exists ? fmaxf(high, square[i]) : high;
    }
    for (int away = CUDA_WARP / 2; away > 0; away /= 2) high = fmaxf(high, __shfl_xor_sync(CUDA_ALL, high, away));
    if (count < nth) return INFINITY;
    for (int half = 0; half < BOUND_HALVES; half++) {
        const float middle = low / 2 + high / 2;
        uint32_t within = 0;
#pragma unroll
        for (uint32_t i = 0; i < BOUND_TRIES; i++) {
            within += (uint32_t)__popc(__ballot_sync(CUDA_ALL, square[i] <= middle));
        }
        if (within >= nth) {
            high = middle;
        } else {
            low = middle;
        }
    }
    return high;
}

template <int KIND, uint32_t ROOM, uint32_t WARPS>
static __global__ __launch_bounds__(WARPS *CUDA_WARP) void search_many(knn_cuda_ask ask, uint32_t length) {
    __shared__ warp_lists<ROOM> all_lists[WARPS];
    const uint32_t lane = threadIdx.x % CUDA_WARP, warp = threadIdx.x / CUDA_WARP;
    const uint64_t place = ask.first + (uint64_t)blockIdx.x * WARPS + warp;
    if (place >= ask.end) return;
    many_visitor<KIND, ROOM> v;
    v.lists = &all_lists[warp];
    v.lane = lane;
    v.queued = 0;
    v.length = length;
    v.settled = UINT32_MAX;
    v.last_key = UINT64_MAX;
    v.last_index = UINT32_MAX;
    for (uint32_t i = lane; i < length; i += CUDA_WARP) {
        v.lists->best.key[i] = UINT64_MAX;
        v.lists->best.index[i] = UINT32_MAX;
    }
    __syncwarp();
    if (place < ask.queries.extent->finite && ask.tree.nodes[0] > 0) {
        const knn_asking asking = knn_asking_of<KIND>(&ask, (uint32_t)place);
        const knn_leaves around = leaves_around<KIND>(&ask, (uint32_t)place, length);
        v.slack = knn_slack<KIND>(ask.tree.points.extent, ask.queries.extent);
        v.most = ask.all ? INFINITY : knn_square_of_key<KIND>(&ask.tree.metric, ask.limit, v.slack);
        if (!ask.all && length <= AROUND_LEAST) {
            const uint32_t nth = ask.k + (ask.exclude_self ? 1 : 0);
            const float bound = bound_around(&ask, &asking, around, nth, lane);
            v.most = fminf(v.most, knn_square_beside<KIND>(&ask.tree.metric, bound, v.slack));
        }
        for (uint32_t leaf = around.first; leaf < around.end; leaf += KNN_AT_ONCE) {
            const uint32_t mine = leaf + lane / KNN_CUDA_LEAF;
            knn_try_leaf(&ask, &asking, mine, mine < around.end, lane, &v);
        }
        if (v.queued > length) v.settle(&ask);
        knn_walk_point(&ask, &asking, around, v.lists->waiting, lane, &v);
        if (v.queued > 0) v.settle(&ask);
    }
    write_row(&ask, &v.lists->best, ask.by_place ? (uint32_t)place - ask.first : ask.queries.order[place], lane);
}

template <int KIND> static void launch_many(mote_context *ctx, const knn_cuda_ask *ask) {
    uint32_t length = CUDA_WARP;
    while (length < ask->k) length *= 2;
    const uint64_t count = ask->end - ask->first;
    if (length <= 64) {
        CUDA_LAUNCH(ctx, (search_many<KIND, 64, 4>), cuda_blocks(count, 4), 4 * CUDA_WARP, *ask, length);
    } else if (length <= 256) {
        CUDA_LAUNCH(ctx, (search_many<KIND, 256, 2>), cuda_blocks(count, 2), 2 * CUDA_WARP, *ask, length);
    } else {
        CUDA_LAUNCH(ctx, (search_many<KIND, 1024, 1>), cuda_blocks(count, 1), CUDA_WARP, *ask, length);
    }
}

mote_status knn_cuda_search_many(mote_context *ctx, const knn_cuda_ask *ask) {
    switch (ask->tree.metric.kind) {
    case KNN_INT: launch_many<KNN_INT>(ctx, ask); break;
    case KNN_FLOAT: launch_many<KNN_FLOAT>(ctx, ask); break;
    case KNN_DOUBLE: launch_many<KNN_DOUBLE>(ctx, ask); break;
    }
    return cuda_launched(ctx, "searching neighbours");
}
