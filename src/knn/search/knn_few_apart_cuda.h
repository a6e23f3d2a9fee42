/* The search of few neighbours (knn_few_cuda.h) of one query by a whole warp: its best stand, sorted, in the lanes.
   Nodes wait with the squares of their gaps, the nearest on top; points that floats do not rule out wait until there
   are 32, of which those that still matter get exact keys and are merged with the best. For .cu files only. */
#ifndef MOTE_KNN_FEW_APART_CUDA_H
#define MOTE_KNN_FEW_APART_CUDA_H

#include "knn/search/knn_few_list_cuda.h"

/* The nth least of the lanes' values, from 0; none is NaN. */
static __device__ __forceinline__ float few_nth_of(float value, uint32_t nth, uint32_t number) {
    uint32_t rank = 0;
#pragma unroll 8
    for (uint32_t i = 0; i < CUDA_WARP; i++) {
        const float other = __shfl_sync(CUDA_ALL, value, (int)i);
        rank += other < value || (other == value && i < number) ? 1 : 0;
    }
    return __shfl_sync(CUDA_ALL, value, __ffs((int)__ballot_sync(CUDA_ALL, rank == nth)) - 1);
}

#define FEW_MANY 8  /* points of 32 that matter: a bound is worth its while */
#define FEW_HELD 64 /* points that wait for their exact keys: 32 and what one step adds */

/* A neighbour in each lane. */
typedef struct few_one {
    uint64_t key;
    uint32_t place; /* FEW_NONE: none, and its key is above all */
} few_one;

static __device__ __forceinline__ few_one few_one_from(const few_one *mine, uint32_t lane) {
    few_one one;
    one.key = __shfl_sync(CUDA_ALL, mine->key, (int)lane);
    one.place = __shfl_sync(CUDA_ALL, mine->place, (int)lane);
    return one;
}

/* The nearer or the farther of the lane's and another. */
static __device__ __forceinline__ void few_keep(const uint32_t *order, bool nearer, const few_one *other,
                                                few_one *mine) {
    const bool first = few_in_order(order, mine->key, mine->place, other->key, other->place);
    if (first != nearer) *mine = *other;
}

/* Each run of `run` lanes, whose neighbours are first ascending and then descending, becomes ascending or, where the
   bit `turned` of a lane's number is set, descending. */
static __device__ __forceinline__ void few_merge_lanes(const uint32_t *order, uint32_t run, uint32_t turned,
                                                       uint32_t number, few_one *mine) {
    CUDA_ROLLED
    for (uint32_t away = run / 2; away > 0; away /= 2) {
        const few_one other = few_one_from(mine, number ^ away);
        few_keep(order, ((number & away) == 0) == ((number & turned) == 0), &other, mine);
    }
}

/* What a warp keeps in shared memory. */
typedef struct few_alone {
    uint32_t waiting[KNN_WAITING]; /* nodes */
    float square[KNN_WAITING];     /* of their gaps */
    uint32_t held[FEW_HELD];       /* places of points */
    float held_square[FEW_HELD];
} few_alone;

/* A query's search, with what its warp knows of it. */
template <int KIND> struct few_visitor {
    float most, slack, least;
    uint32_t settled, number;
    few_one best; /* the lane's of the 32 nearest, ascending */
    few_alone *memory;
    uint32_t held_count;

    /* Each lane's least square is of points of its own: the nth least of these bounds too. */
    __device__ __forceinline__ void look_nearer(const knn_cuda_ask *ask) {
        const float bound = few_nth_of(least, ask->k - 1 + (ask->exclude_self ? 1 : 0), number);
        most = fminf(most, knn_square_beside<KIND>(&ask->tree.metric, bound, slack));
    }

    __device__ __forceinline__ void try_points(const knn_cuda_ask *ask, const knn_asking *asking, uint32_t at,
                                               float square) {
        least = fminf(least, square);
        if (__popc(__ballot_sync(CUDA_ALL, square <= most)) > FEW_MANY) look_nearer(ask);
        const bool matters = square <= most && at != asking->place;
        const uint32_t lanes = __ballot_sync(CUDA_ALL, matters);
        const uint32_t to = held_count + (uint32_t)__popc(lanes & ((1u << number) - 1));
        if (matters) memory->held[to] = at;
        if (matters) memory->held_square[to] = square;
        held_count += (uint32_t)__popc(lanes);
        __syncwarp();
    }

    /* Of those that wait only what still matters goes on waiting. */
    __device__ __forceinline__ void sift(const knn_cuda_ask *ask) {
        uint32_t kept = 0;
        look_nearer(ask);
        for (uint32_t begin = 0; begin < FEW_HELD; begin += CUDA_WARP) {
            const uint32_t i = begin + number, place = memory->held[i];
            const float square = memory->held_square[i];
            const bool matters = i < held_count && square <= most;
            const uint32_t lanes = __ballot_sync(CUDA_ALL, matters);
            __syncwarp();
            const uint32_t to = kept + (uint32_t)__popc(lanes & ((1u << number) - 1));
            if (matters) memory->held[to] = place;
            if (matters) memory->held_square[to] = square;
            kept += (uint32_t)__popc(lanes);
            __syncwarp();
        }
        held_count = kept;
    }

    /* The last of those that wait, up to 32, get exact keys and join the best. */
    __device__ __forceinline__ void join(const knn_cuda_ask *ask, const knn_asking *asking) {
        const uint32_t *const order = ask->tree.points.order;
        const uint32_t count = held_count < CUDA_WARP ? held_count : CUDA_WARP;
        few_one added = {UINT64_MAX, FEW_NONE};
        held_count -= count;
        if (number < count) {
            added.place = memory->held[held_count + number];
            added.key = few_key_of<KIND>(ask, &asking->exact, added.place);
            if (added.key == UINT64_MAX) added.place = FEW_NONE;
        }
        __syncwarp();
        CUDA_ROLLED
        for (uint32_t run = 2; run <= CUDA_WARP; run *= 2) few_merge_lanes(order, run, run, number, &added);
        const few_one other = few_one_from(&added, CUDA_WARP - 1 - number);
        few_keep(order, true, &other, &best);
        few_merge_lanes(order, CUDA_WARP, 0, number, &best);
        const few_one last = few_one_from(&best, ask->k - 1);
        if (last.place == FEW_NONE) return;
        most = fminf(most, knn_square_of_key<KIND>(&ask->tree.metric, last.key, slack));
        if (knn_is_zero(last.key)) settled = order[last.place];
    }

    /* Pushes the lanes' children that matter, the nearest last. Returns how many wait then. */
    __device__ __forceinline__ uint32_t push(uint32_t count, uint32_t level, uint32_t child, float square) {
        const bool matters = square <= most;
        float nearest = matters ? square : INFINITY;
        for (int away = 16; away > 0; away /= 2) nearest = fminf(nearest, __shfl_xor_sync(CUDA_ALL, nearest, away));
        const uint32_t lanes = __ballot_sync(CUDA_ALL, matters);
        const uint32_t nearest_lanes = __ballot_sync(CUDA_ALL, matters && square == nearest);
        const uint32_t rest = lanes & ~(nearest_lanes & (0 - nearest_lanes)); /* all but the first of those */
        const uint32_t before = (uint32_t)__popc(rest >> number & 1 ? rest & ((1u << number) - 1) : rest);
        if (matters) {
            memory->waiting[count + before] = knn_node_pack(level, child);
            memory->square[count + before] = square;
        }
        __syncwarp();
        return count + (uint32_t)__popc(lanes);
    }

    /* The leaves around, then the nodes that wait: a step is 32 points or 32 boxes. */
    __device__ __forceinline__ void walk(const knn_cuda_ask *ask, const knn_asking *asking, few_leaves around) {
        const knn_cuda_tree *const tree = &ask->tree;
        uint32_t first = around.first, leaves = (1u << (around.end - around.first)) - 1;
        uint32_t count = few_push_top(tree, memory->waiting, number);
        float square = 0; /* of the gap to the lane's leaf, of those from first on */
        if (number < count) memory->square[number] = 0;
        __syncwarp();
        CUDA_ROLLED
        while (leaves != 0 || count > 0 || held_count > 0) {
            if (leaves != 0) {
                uint32_t mine = leaves;
                for (uint32_t i = 0; i < KNN_AT_ONCE; i++) {
                    if (i < number / KNN_CUDA_LEAF) mine &= mine - 1;
                    leaves &= leaves - 1;
                }
                const uint32_t leaf = first + (mine != 0 ? (uint32_t)__ffs((int)mine) - 1 : 0);
                knn_try_leaf(ask, asking, leaf, mine != 0, number, this);
            } else if (count > 0 && memory->square[--count] <= most) {
                const uint32_t packed = memory->waiting[count], level = packed >> 28, node = packed & 0x0FFFFFFFu;
                const uint32_t child = node * KNN_CUDA_WIDE + number;
                __syncwarp();
                square = knn_child_square(tree, asking, level - 1, child, settled);
                if (level > 1) {
                    count = push(count, level - 1, child, square);
                } else {
                    first = node * KNN_CUDA_WIDE;
                    leaves = __ballot_sync(CUDA_ALL, child < around.first || child >= around.end);
                }
            }
            if (held_count >= CUDA_WARP) sift(ask);
            if (held_count >= CUDA_WARP || (held_count > 0 && leaves == 0 && count == 0)) join(ask, asking);
            leaves &= __ballot_sync(CUDA_ALL, square <= most);
        }
    }
};

template <int T> struct few_apart {
    uint64_t key[T]; /* what was found */
    uint32_t place[T];
    few_alone alone;
};

/* The neighbours of the query at a sorted place, by all lanes of a warp, which has memory of its own. */
template <int KIND, int T>
static __device__ void few_search_alone(const knn_cuda_ask *ask, uint32_t place, few_apart<T> *memory) {
    const uint32_t number = threadIdx.x % CUDA_WARP;
    few_visitor<KIND> v;
    v.slack = knn_slack<KIND>(ask->tree.points.extent, ask->queries.extent);
    v.most = knn_square_of_key<KIND>(&ask->tree.metric, ask->limit, v.slack);
    v.least = INFINITY;
    v.settled = UINT32_MAX;
    v.number = number;
    v.best.key = UINT64_MAX;
    v.best.place = FEW_NONE;
    v.memory = &memory->alone;
    v.held_count = 0;
    const knn_asking asking = knn_asking_of<KIND>(ask, place);
    v.walk(ask, &asking, few_leaves_around(&ask->tree, few_leaf_of(ask, place)));
    __syncwarp(); /* what the lanes found before was taken */
    if (number < T) {
        memory->key[number] = v.best.key;
        memory->place[number] = v.best.place;
    }
    __syncwarp();
}

#endif
