/* Up to 16 neighbours on the device, for .cu files: a lane has a query; the 32 queries of a warp, which stand beside
   each other on the curve, walk together. What becomes of the neighbours is the caller's.
   1. The points around them on the curve, each square's least of some subsets: the k-th least of those bounds the k-th
      neighbour.
   2. The walk: from node to node, the lanes try 32 boxes at once, against the boxes of each eight queries. What leaves
      are listed for eight queries all lanes try, four leaves at once. Leaves with points that floats do not rule out
      wait in a queue of the query.
   3. When a queue is full, its points join the T nearest of the query, T above k: a list of 32-bit numbers, squares of
      floats with the place of the point among T in the low bits, which two instructions an entry keep sorted.
   4. In the end these get exact keys, and by them their order.
   If a point that was left out could be as near as the k-th, which points at the same distance are, a second kernel
   asks the warp's queries once more, with lists of exact keys: in the first they would take registers and time of all.
   Queries that look much farther than others, or whose group's box holds too much, are left to a third, a warp for
   each. */
#ifndef MOTE_KNN_FEW_CUDA_H
#define MOTE_KNN_FEW_CUDA_H

#include "knn/knn_few_list_cuda.h"

/* What a later kernel searches for, in any order: warps, or queries. */
typedef struct few_later {
    uint32_t *count, *numbers;
} few_later;

typedef struct few_left {
    few_later unsettled, apart;
    uint32_t most; /* leaves that a group goes through before it is left */
} few_left;

static __device__ __forceinline__ void few_leave(const few_later *list, uint32_t number) {
    list->numbers[atomicAdd(list->count, 1u)] = number;
}

/* ---- the walk */

/* Eight queries, as the lanes see them that try their leaves: a query has FEW_PARTS lanes. */
typedef struct few_eight {
    uint32_t from; /* the lane of the query */
    uint32_t part;
    float at[3], most;
    uint32_t queued;
} few_eight;

static __device__ __forceinline__ few_eight few_eight_of(const few_lane *lane, uint32_t group) {
    few_eight e;
    e.from = group * 8 + lane->number % 8;
    e.part = lane->number / 8;
#pragma unroll
    for (int k = 0; k < 3; k++) e.at[k] = __shfl_sync(CUDA_ALL, lane->at[k], (int)e.from);
    e.most = __shfl_sync(CUDA_ALL, lane->most, (int)e.from);
    e.queued = __shfl_sync(CUDA_ALL, lane->queued, (int)e.from);
    return e;
}

/* Each lane tries a leaf for its query, from on among those listed. */
static __device__ __forceinline__ void few_try_leaves(const float *views, const uint32_t *leaves, uint32_t from,
                                                      uint32_t end, few_walking *memory, few_eight *e) {
    uint32_t hits = 0;
    if (from + e->part < end) {
        few_leaf v;
        few_load_leaf(views, leaves[from + e->part], &v);
#pragma unroll
        for (uint32_t j = 0; j < KNN_CUDA_LEAF; j++) {
            const float square = knn_square(v.x[j] - e->at[0], v.y[j] - e->at[1], v.z[j] - e->at[2]);
            hits |= square <= e->most ? 1u << j : 0;
        }
    }
    const uint32_t parts = __ballot_sync(CUDA_ALL, hits != 0) >> (e->from % 8) & 0x01010101u;
    const uint32_t to = e->queued + (uint32_t)__popc(parts & ((1u << 8 * e->part) - 1));
    if (hits != 0) memory->queue[to * CUDA_WARP + e->from] = (uint16_t)((from + e->part) << 8 | hits);
    e->queued += (uint32_t)__popc(parts);
}

static __device__ __forceinline__ void few_give_back(const few_eight *e, uint32_t group, few_lane *lane) {
    const uint32_t queued = __shfl_sync(CUDA_ALL, e->queued, (int)(lane->number % 8));
    if (lane->number / 8 == group) lane->queued = queued;
    __syncwarp();
}

/* Tries the leaves that are listed for all groups. */
template <int KIND, class LIST>
static __device__ __forceinline__ void few_try_listed(const knn_cuda_ask *ask, float slack, const few_walk *w,
                                                      few_walking *memory, few_lane *lane, LIST *list) {
    uint32_t group = 0, i = 0;
    few_eight e = few_eight_of(lane, 0);
    CUDA_ROLLED
    while (group < FEW_GROUPS) {
        const uint32_t listed = few_listed_for(w, group);
        CUDA_ROLLED
        for (; i < listed; i += FEW_PARTS) {
            if (__any_sync(CUDA_ALL, e.queued > FEW_QUEUE - FEW_PARTS)) break;
            few_try_leaves(ask->tree.points.views, memory->leaves[group], i, listed, memory, &e);
        }
        few_give_back(&e, group, lane);
        if (i >= listed) {
            group++;
            i = 0;
        }
        if (i > 0 || group == FEW_GROUPS) few_join<KIND>(ask, slack, memory, lane, list);
        if (group < FEW_GROUPS) e = few_eight_of(lane, group);
    }
}

/* The walk of groups that are made. Those that go through more than most leaves are left. False: the list is of no
   use. */
template <int KIND, class LIST>
static __device__ __forceinline__ bool few_walk_together(const knn_cuda_ask *ask, float slack, uint32_t most,
                                                         few_walking *memory, few_lane *lane, few_walk *walk,
                                                         LIST *list) {
    few_walk w = *walk;
    w.waiting = few_push_top(&ask->tree, memory->waiting, lane->number);
    CUDA_ROLLED
    for (bool first = true;; first = false) {
        few_walk_on(&ask->tree, memory, lane->number, first, &w);
        if (w.steps == 0) break;
        few_try_listed<KIND>(ask, slack, &w, memory, lane, list);
        if (w.waiting == 0) break;
        if (__any_sync(CUDA_ALL, list->is_idle(ask))) return false;
        const uint32_t group = lane->number / 8, gone = memory->groups[group].gone + few_listed_for(&w, group);
        if (gone > most) lane->most = -1;
        few_tell_groups(lane, gone, memory->groups, &w);
    }
    if (w.waiting > 0) lane->most = -1; /* more nodes than there is room for */
    return true;
}

/* ---- 4. exact */

/* Whether they are in order, as far as one sees without the numbers of points at the same distance. */
template <int T> static __device__ __forceinline__ bool few_is_strict(const few_found<T> *found) {
    bool strict = true;
#pragma unroll
    for (int i = 0; i + 1 < T; i++) {
        strict = strict && (found->place[i + 1] == FEW_NONE || found->key[i] < found->key[i + 1]);
    }
    return strict;
}

/* Exchanges neighbours that are not in order. Returns whether there were none. */
template <int T> static __device__ __forceinline__ bool few_exchange_pass(const uint32_t *order, few_found<T> *found) {
    bool ordered = true;
#pragma unroll
    for (int i = 0; i + 1 < T; i++) {
        const uint64_t key = found->key[i], next_key = found->key[i + 1];
        const uint32_t place = found->place[i], next = found->place[i + 1];
        if (few_in_order(order, key, place, next_key, next)) continue;
        found->key[i] = next_key;
        found->place[i] = next;
        found->key[i + 1] = key;
        found->place[i + 1] = place;
        ordered = false;
    }
    return ordered;
}

/* The nearest, in order. Returns whether the first k are right. */
template <int KIND, int T>
static __device__ __forceinline__ bool few_decide(const knn_cuda_ask *ask, float slack, few_lane *lane,
                                                  const few_nearest<T> *nearest, few_found<T> *found) {
    knn_exact exact;
    knn_exact_of<KIND>(&ask->queries, lane->place, &exact);
#pragma unroll
    for (int i = 0; i < T; i++) {
        const bool exists = nearest->packed[i] < FEW_EMPTY;
        const uint32_t place = exists ? nearest->places[(nearest->packed[i] & FEW_SLOTS) * CUDA_WARP] : 0;
        const uint64_t key = few_key_of<KIND>(ask, &exact, place);
        found->key[i] = exists ? key : UINT64_MAX;
        found->place[i] = exists && key != UINT64_MAX ? place : FEW_NONE;
    }
    if (!few_is_strict<T>(found)) {
        while (!few_exchange_pass<T>(ask->tree.points.order, found)) {}
    }
    const uint64_t last = found->last_key(ask->k);
    if (last != UINT64_MAX) lane->most = fminf(lane->most, knn_square_of_key<KIND>(&ask->tree.metric, last, slack));
    return nearest->lost == FEW_EMPTY || __uint_as_float(nearest->lost) > lane->most;
}

/* ---- the search */

static __device__ __forceinline__ void few_lane_begin(const knn_cuda_ask *ask, uint64_t first, uint32_t number,
                                                      few_lane *lane) {
    lane->number = number;
    lane->place = (uint32_t)first + number;
    const uint64_t at = (uint64_t)(lane->place / KNN_CUDA_LEAF) * (3 * KNN_CUDA_LEAF) + lane->place % KNN_CUDA_LEAF;
#pragma unroll
    for (uint32_t k = 0; k < 3; k++) lane->at[k] = ask->queries.views[at + KNN_CUDA_LEAF * k];
    lane->most = first + number < ask->queries.extent->finite ? INFINITY : -1;
    lane->settled = UINT32_MAX;
    lane->queued = 0;
}

/* The lane's query, how far it looks, and the groups. */
template <int KIND, int SUBSETS>
static __device__ __forceinline__ void few_prepare(const knn_cuda_ask *ask, float slack, uint64_t first,
                                                   uint32_t number, few_walking *memory, few_lane *lane, few_walk *w) {
    const uint32_t leaf = few_leaf_of(ask, first + CUDA_WARP / 2);
    few_lane_begin(ask, first, number, lane);
    const few_around around =
        few_bound_around<SUBSETS>(&ask->tree, leaf, lane->at, ask->k - 1 + (ask->exclude_self ? 1 : 0));
    if (lane->most >= 0) {
        lane->most = fminf(knn_square_beside<KIND>(&ask->tree.metric, around.bound, slack),
                           knn_square_of_key<KIND>(&ask->tree.metric, ask->limit, slack));
    }
    w->own = leaf / KNN_CUDA_WIDE;
    if (few_looks_far(lane)) lane->most = -1;
    few_make_groups(lane, memory->groups, w);
    const bool wide = few_is_wide(lane, around.dense, memory->groups);
    if (!__any_sync(CUDA_ALL, wide)) return;
    if (wide) lane->most = -1;
    few_tell_groups(lane, 0, memory->groups, w);
}

/* Leaves queries that the warp did not search for. Returns whether the lane's is one. */
static __device__ __forceinline__ bool few_leave_apart(const knn_cuda_ask *ask, const few_lane *lane,
                                                       const few_later *list) {
    const bool apart = lane->most < 0 && lane->place < ask->queries.extent->finite;
    const uint32_t lanes = __ballot_sync(CUDA_ALL, apart);
    if (lanes == 0) return false;
    uint32_t first = 0;
    if (lane->number == 0) first = atomicAdd(list->count, (uint32_t)__popc(lanes));
    first = __shfl_sync(CUDA_ALL, first, 0);
    if (apart) list->numbers[first + (uint32_t)__popc(lanes & ((1u << lane->number) - 1))] = lane->place;
    return apart;
}

/* By squares of floats. Returns whether they settle what the first k are. keys: these are wanted, too. */
template <int KIND, int T, int SUBSETS>
static __device__ __forceinline__ bool few_search(const knn_cuda_ask *ask, uint64_t first, uint32_t most, bool keys,
                                                  few_memory<T> *memory, few_lane *lane, few_found<T> *found) {
    const float slack = knn_slack<KIND>(ask->tree.points.extent, ask->queries.extent);
    few_walk w;
    few_nearest<T> nearest;
    few_prepare<KIND, SUBSETS>(ask, slack, first, lane->number, &memory->walk, lane, &w);
    nearest.clear();
    nearest.places = memory->place + lane->number;
    if (!few_walk_together<KIND>(ask, slack, most, &memory->walk, lane, &w, &nearest)) return false;
    if (!keys && __all_sync(CUDA_ALL, lane->most < 0 || nearest.template is_clear<KIND>(ask, slack, lane))) {
        nearest.tell(found);
        return true;
    }
    const bool right = few_decide<KIND, T>(ask, slack, lane, &nearest, found) || lane->most < 0;
    return __all_sync(CUDA_ALL, right) != 0;
}

#define FEW_NOWHERE UINT64_MAX

/* to.write<KIND>(ask, place, number, found, scratch): what becomes of the neighbours of the query at a sorted place, of
   which the first ask->k of found count; nothing if place is none of a query. Called by all lanes of a warp, with T
   words of shared memory for each. OUTPUT::keys: it reads their keys. */
template <int KIND, int T, int SUBSETS, class OUTPUT>
static __global__ __launch_bounds__(FEW_THREADS,
                                    T <= 11 ? 4 : 3) void search_few(const __grid_constant__ knn_cuda_ask ask,
                                                                     few_left left, OUTPUT to) {
    __shared__ few_memory<T> memories[FEW_WARPS];
    const uint64_t warp = (uint64_t)blockIdx.x * FEW_WARPS + threadIdx.x / CUDA_WARP, first = warp * CUDA_WARP;
    few_memory<T> *const memory = &memories[threadIdx.x / CUDA_WARP];
    if (first >= ask.queries.count) return;
    few_lane lane;
    few_found<T> found;
    bool apart = false;
    lane.number = threadIdx.x % CUDA_WARP;
    found.clear();
    if (first < ask.queries.extent->finite && ask.tree.nodes[0] > 0) {
        if (!few_search<KIND, T, SUBSETS>(&ask, first, left.most, OUTPUT::keys, memory, &lane, &found)) {
            if (lane.number == 0) few_leave(&left.unsettled, (uint32_t)warp);
            return;
        }
        apart = few_leave_apart(&ask, &lane, &left.apart);
    }
    __syncwarp();
    to.template write<KIND, T>(&ask, apart ? FEW_NOWHERE : first + lane.number, lane.number, &found, memory->place);
}

/* The warps that the squares of floats did not settle, by exact keys. */
template <int KIND, int T, int SUBSETS, class OUTPUT>
static __global__ __launch_bounds__(FEW_THREADS, 2) void search_unsettled(const __grid_constant__ knn_cuda_ask ask,
                                                                          few_left left, OUTPUT to) {
    __shared__ few_memory<T> memories[FEW_WARPS];
    const uint32_t number = threadIdx.x % CUDA_WARP, count = *left.unsettled.count;
    const float slack = knn_slack<KIND>(ask.tree.points.extent, ask.queries.extent);
    few_memory<T> *const memory = &memories[threadIdx.x / CUDA_WARP];
    for (uint32_t i = blockIdx.x * FEW_WARPS + threadIdx.x / CUDA_WARP; i < count; i += gridDim.x * FEW_WARPS) {
        const uint64_t first = (uint64_t)left.unsettled.numbers[i] * CUDA_WARP;
        few_lane lane;
        few_walk w;
        few_found<T> found;
        found.clear();
        few_prepare<KIND, SUBSETS>(&ask, slack, first, number, &memory->walk, &lane, &w);
        few_walk_together<KIND>(&ask, slack, left.most, &memory->walk, &lane, &w, &found);
        const bool apart = few_leave_apart(&ask, &lane, &left.apart);
        to.template write<KIND, T>(&ask, apart ? FEW_NOWHERE : first + number, number, &found, memory->place);
        __syncwarp();
    }
}

/* ---- queries that are apart: a warp has one, and its best, sorted, in its lanes */

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
        const uint32_t last = __ballot_sync(CUDA_ALL, matters && square == nearest),
                       rest = lanes & (lanes ^ (last & (0 - last)));
        const uint32_t before = rest >> number & 1 ? __popc(rest & ((1u << number) - 1)) : __popc(rest);
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
    uint64_t key[T][FEW_WARPS];
    uint32_t place[T * CUDA_WARP];
    few_alone of_warp[FEW_WARPS];
};

/* One query of a block's: its neighbours go to column `query` of what the block knows. */
template <int KIND, int T>
static __device__ void few_search_alone(const knn_cuda_ask *ask, uint32_t place, uint32_t query, few_apart<T> *memory) {
    const uint32_t number = threadIdx.x % CUDA_WARP;
    few_visitor<KIND> v;
    v.slack = knn_slack<KIND>(ask->tree.points.extent, ask->queries.extent);
    v.most = knn_square_of_key<KIND>(&ask->tree.metric, ask->limit, v.slack);
    v.least = INFINITY;
    v.settled = UINT32_MAX;
    v.number = number;
    v.best.key = UINT64_MAX;
    v.best.place = FEW_NONE;
    v.memory = &memory->of_warp[query];
    v.held_count = 0;
    const knn_asking asking = knn_asking_of<KIND>(ask, place);
    v.walk(ask, &asking, few_leaves_around(&ask->tree, few_leaf_of(ask, place)));
    if (number < T) {
        memory->key[number][query] = v.best.key;
        memory->place[number * CUDA_WARP + query] = v.best.place;
    }
}

/* The queries that were left: a warp has one at a time, and the first warp of a block writes for all. */
template <int KIND, int T, class OUTPUT>
static __global__ __launch_bounds__(FEW_THREADS, 4) void search_left(const __grid_constant__ knn_cuda_ask ask,
                                                                     few_left left, OUTPUT to) {
    __shared__ few_apart<T> memory;
    const uint32_t number = threadIdx.x % CUDA_WARP, warp = threadIdx.x / CUDA_WARP, count = *left.apart.count;
    for (uint32_t i = blockIdx.x * FEW_WARPS; i < count; i += gridDim.x * FEW_WARPS) {
        if (i + warp < count) few_search_alone<KIND, T>(&ask, left.apart.numbers[i + warp], warp, &memory);
        __syncthreads();
        if (warp == 0) {
            const bool has_query = number < FEW_WARPS && i + number < count;
            few_found<T> found;
            found.clear();
#pragma unroll
            for (uint32_t n = 0; n < T; n++) {
                if (has_query) found.key[n] = memory.key[n][number];
                if (has_query) found.place[n] = memory.place[n * CUDA_WARP + number];
            }
            __syncwarp();
            const uint64_t place = has_query ? left.apart.numbers[i + number] : FEW_NOWHERE;
            to.template write<KIND, T>(&ask, place, number, &found, memory.place);
        }
        __syncthreads();
    }
}

template <int KIND, int T, int SUBSETS, class OUTPUT>
static void few_launch_as(mote_context *ctx, const knn_cuda_ask *ask, const few_left *left, const OUTPUT *to) {
    const uint32_t blocks = cuda_blocks(ask->queries.count, FEW_THREADS);
    const uint32_t unsettled = blocks < FEW_UNSETTLED ? blocks : FEW_UNSETTLED;
    const uint32_t apart = blocks < FEW_BLOCKS / CUDA_WARP ? blocks * CUDA_WARP : FEW_BLOCKS;
    CUDA_LAUNCH(ctx, (search_few<KIND, T, SUBSETS, OUTPUT>), blocks, FEW_THREADS, *ask, *left, *to);
    CUDA_LAUNCH(ctx, (search_unsettled<KIND, T, SUBSETS, OUTPUT>), unsettled, FEW_THREADS, *ask, *left, *to);
    CUDA_LAUNCH(ctx, (search_left<KIND, T, OUTPUT>), apart, FEW_THREADS, *ask, *left, *to);
}

template <int KIND, class OUTPUT>
static void few_launch_kind(mote_context *ctx, const knn_cuda_ask *ask, const few_left *left, const OUTPUT *to) {
    if (ask->k <= 4) {
        few_launch_as<KIND, 5, 16>(ctx, ask, left, to);
    } else if (ask->k <= 10) {
        few_launch_as<KIND, 11, 32>(ctx, ask, left, to);
    } else {
        few_launch_as<KIND, 17, 32>(ctx, ask, left, to);
    }
}

/* room: for the warps that are left. */
template <class OUTPUT>
static mote_status few_launch(mote_context *ctx, const knn_cuda_ask *ask, knn_cuda_room *room, const OUTPUT *to) {
    const uint64_t warps = cuda_blocks(ask->queries.count, CUDA_WARP);
    few_left left;
    const uint64_t entries = 2 + warps + warps * CUDA_WARP;
    if (!knn_cuda_make_room(ctx, room, entries * sizeof(uint32_t), "knn queries apart")) { return MOTE_ERROR_MEMORY; }
    uint32_t *const memory = (uint32_t *)room->memory;
    left.unsettled.count = memory;
    left.unsettled.numbers = memory + 2;
    left.apart.count = memory + 1;
    left.apart.numbers = memory + 2 + warps;
    left.most = warps < FEW_HURRIED ? FEW_MOST / 2 : FEW_MOST;
    MOTE_TRY(cuda_fill(ctx, memory, 0, 2 * sizeof *memory));
    switch (ask->tree.metric.kind) {
    case KNN_INT: few_launch_kind<KNN_INT>(ctx, ask, &left, to); break;
    case KNN_FLOAT: few_launch_kind<KNN_FLOAT>(ctx, ask, &left, to); break;
    case KNN_DOUBLE: few_launch_kind<KNN_DOUBLE>(ctx, ask, &left, to); break;
    }
    return cuda_launched(ctx, "searching neighbours");
}

#endif
