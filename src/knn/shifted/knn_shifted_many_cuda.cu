/* Shifted sorting, any number of neighbours: a block has one query. It looks at the candidates twice: to count squares
   in bins, then to keep what lies below the bin that the k-th is in. What is kept is put in order by the leading bits
   of squares, in registers, and by whole keys if these tell another order. */
#include <math.h>

#include "knn/shifted/knn_shifted_walk_cuda.h"

#define THREADS 128u
#define WARPS   (THREADS / CUDA_WARP)
#define BLOCKS  8448u /* each takes its share of the queries */
#define HARD    1056u /* blocks for those that are left, mostly none */

/* ROOM: entries; the least that holds k and as many as come at once. */
template <uint32_t ROOM> struct many_list {
    union {
        uint64_t key[ROOM];
        uint32_t bins[2 * ROOM];
    };
    uint32_t index[ROOM];
    uint32_t square[ROOM];
    uint32_t of_warp[WARPS];
    uint32_t count;
    uint32_t edge; /* of the bin with the k-th */
};

template <uint32_t ROOM> struct bins_of {
    static const uint32_t count = 2 * ROOM, each = count / THREADS;
    /* Floats that are not negative have 31 bits. */
    static const uint32_t shift = ROOM == 512 ? 21 : 19;
    static_assert(count << shift == 1u << 31, "bins for all floats");
};

/* The sum of all threads before, and of all in *total. */
template <uint32_t ROOM>
static __device__ inline uint32_t sum_before(uint32_t mine, many_list<ROOM> *list, uint32_t *total) {
    const uint32_t lane = threadIdx.x % CUDA_WARP, warp = threadIdx.x / CUDA_WARP;
    uint32_t sum = mine, before = 0;
    for (uint32_t by = 1; by < CUDA_WARP; by *= 2) {
        const uint32_t other = __shfl_up_sync(CUDA_ALL, sum, by);
        sum += lane >= by ? other : 0;
    }
    if (lane == CUDA_WARP - 1) list->of_warp[warp] = sum;
    __syncthreads();
    *total = 0;
    for (uint32_t w = 0; w < WARPS; w++) {
        before += w < warp ? list->of_warp[w] : 0;
        *total += list->of_warp[w];
    }
    return before + sum - mine;
}

/* A square that k or more candidates do not exceed; infinite if there are fewer. */
template <bool SQUEEZED, uint32_t ROOM>
static __device__ uint32_t find_edge(const knn_shifted_ask *ask, const knn_shifted_query *q, uint32_t most,
                                     many_list<ROOM> *list) {
    typedef bins_of<ROOM> bins;
    const uint32_t thread = threadIdx.x, first = thread * bins::each;
    uint32_t mine = 0, total;
    uint4 point;
    for (uint32_t i = thread; i < bins::count; i += THREADS) list->bins[i] = 0;
    if (thread == 0) list->edge = knn_bits_of(INFINITY);
    __syncthreads();
    for (uint32_t order = 0; order < KNN_SHIFTS; order++) {
        for (uint32_t i = thread; i < q->count[order]; i += THREADS) {
            const uint32_t square = knn_shifted_try<SQUEEZED>(ask, q, order, i, &point);
            if (square <= most) atomicAdd(&list->bins[square >> bins::shift], 1u);
        }
    }
    __syncthreads();
    for (uint32_t i = 0; i < bins::each; i++) mine += list->bins[first + (i + thread) % bins::each];
    const uint32_t before = sum_before(mine, list, &total);
    if (before < ask->k && before + mine >= ask->k) {
        uint32_t bin = first, sum = before + list->bins[first];
        while (sum < ask->k) sum += list->bins[++bin];
        list->edge = min(((bin + 1) << bins::shift) - 1, knn_bits_of(INFINITY));
    }
    __syncthreads();
    return list->edge;
}

template <uint32_t ROOM>
static __device__ inline void order_two(many_list<ROOM> *list, uint32_t a, uint32_t b, bool ascending) {
    const uint64_t key_a = list->key[a], key_b = list->key[b];
    const uint32_t index_a = list->index[a], index_b = list->index[b];
    if (knn_is_before(key_b, index_b, key_a, index_a) != ascending) return;
    list->key[a] = key_b;
    list->key[b] = key_a;
    list->index[a] = index_b;
    list->index[b] = index_a;
}

/* Sorts what is kept, which is filled up to a power of two. All threads have written. */
template <uint32_t ROOM> static __device__ __noinline__ void sort_list(many_list<ROOM> *list, uint32_t count) {
    uint32_t whole = 2;
    while (whole < count) whole *= 2;
    for (uint32_t i = count + threadIdx.x; i < whole; i += THREADS) {
        list->key[i] = UINT64_MAX;
        list->index[i] = UINT32_MAX;
    }
    __syncthreads();
    for (uint32_t run = 2; run <= whole; run *= 2) {
        for (uint32_t apart = run / 2; apart > 0; apart /= 2) {
            for (uint32_t i = threadIdx.x; i < whole / 2; i += THREADS) {
                const uint32_t a = 2 * i - (i & (apart - 1));
                order_two(list, a, a + apart, (a & run) == 0);
            }
            __syncthreads();
        }
    }
}

/* Sorts E · THREADS numbers; number i · THREADS + thread is the thread's i-th. exchange: shared, of so many. */
template <int E> static __device__ inline void sort_grades(uint32_t (&grade)[E], uint32_t *exchange) {
    const uint32_t thread = threadIdx.x;
#pragma unroll
    for (uint32_t run = 2; run <= E * THREADS; run *= 2) {
#pragma unroll
        for (uint32_t apart = run / 2; apart > 0; apart /= 2) {
            const uint32_t rows = apart / THREADS;
            const bool far = rows == 0 && apart >= CUDA_WARP;
            if (far) {
#pragma unroll
                for (uint32_t i = 0; i < E; i++) exchange[i * THREADS + thread] = grade[i];
                __syncthreads();
            }
#pragma unroll
            for (uint32_t i = 0; i < E; i++) {
                const bool ascending = ((i * THREADS + thread) & run) == 0;
                if (rows > 0) {
                    if ((i & rows) != 0) continue;
                    const uint32_t one = grade[i], other = grade[(i + rows) % E];
                    grade[i] = ascending ? min(one, other) : max(one, other);
                    grade[(i + rows) % E] = ascending ? max(one, other) : min(one, other);
                } else {
                    const bool least = ((thread & apart) == 0) == ascending;
                    const uint32_t other = far ? exchange[i * THREADS + (thread ^ apart)]
                                               : __shfl_xor_sync(CUDA_ALL, grade[i], (int)(apart % CUDA_WARP));
                    grade[i] = least ? min(grade[i], other) : max(grade[i], other);
                }
            }
            if (far) __syncthreads();
        }
    }
}

/* Not inlined: one copy for all kinds of positions. Puts what is kept in order, at most E · THREADS entries with
 * squares of at most `most`. All threads have written. */
template <uint32_t ROOM, int E>
static __device__ __noinline__ void order_list(many_list<ROOM> *list, uint32_t count, uint32_t most) {
    const uint32_t grades = UINT32_MAX / ROOM; /* above the bits of a slot; the last is for what does not exist */
    const float largest = knn_float_of(most);
    const float fine = largest > 1e-30f && largest < 1e30f ? (float)(grades - 1) / largest : 0;
    uint32_t grade[E], index[E];
    uint64_t key[E];
    bool wrong = false;
#pragma unroll
    for (uint32_t i = 0; i < E; i++) {
        const uint32_t slot = i * THREADS + threadIdx.x;
        const float square = knn_float_of(list->square[min(slot, count - 1)]);
        grade[i] = slot < count ? (uint32_t)fminf(square * fine, (float)(grades - 1)) * ROOM + slot : UINT32_MAX;
    }
    __syncthreads();
    sort_grades(grade, list->square);
#pragma unroll
    for (uint32_t i = 0; i < E; i++) {
        const bool exists = grade[i] != UINT32_MAX;
        key[i] = exists ? list->key[grade[i] % ROOM] : UINT64_MAX;
        index[i] = exists ? list->index[grade[i] % ROOM] : UINT32_MAX;
    }
    __syncthreads();
#pragma unroll
    for (uint32_t i = 0; i < E; i++) {
        list->key[i * THREADS + threadIdx.x] = key[i];
        list->index[i * THREADS + threadIdx.x] = index[i];
    }
    __syncthreads();
#pragma unroll
    for (uint32_t i = 0; i < E; i++) {
        const uint32_t next = i * THREADS + threadIdx.x + 1;
        wrong = wrong || (next < count && knn_is_before(list->key[next], list->index[next], key[i], index[i]));
    }
    if (__syncthreads_or(wrong)) sort_list(list, count);
}

template <uint32_t ROOM> static __device__ void order_any(many_list<ROOM> *list, uint32_t count, uint32_t most) {
    if (count == 0) return;
    if (count <= ROOM / 4) {
        order_list<ROOM, ROOM / 4 / THREADS>(list, count, most);
    } else if (count <= ROOM / 2) {
        order_list<ROOM, ROOM / 2 / THREADS>(list, count, most);
    } else {
        order_list<ROOM, ROOM / THREADS>(list, count, most);
    }
}

/* The k best of the candidates within a square, in order. Returns how many there are. */
template <int KIND, bool SQUEEZED, uint32_t ROOM>
static __device__ uint32_t keep_best(const knn_shifted_ask *ask, const knn_shifted_query *q, uint32_t place,
                                     uint32_t most, many_list<ROOM> *list) {
    const uint32_t lane = threadIdx.x % CUDA_WARP;
    const knn_shifted_exact query = knn_shifted_exact_of<KIND, SQUEEZED>(ask, place);
    uint64_t last_key = UINT64_MAX; /* what is not before it does not count */
    uint32_t last_index = UINT32_MAX, kept = 0;
    bool was_cut = false; /* then the squares are no longer those of the entries */
    if (threadIdx.x == 0) list->count = 0;
    __syncthreads();
    for (uint32_t order = 0; order < KNN_SHIFTS; order++) {
        for (uint32_t first = 0; first < q->count[order]; first += THREADS) {
            uint32_t index = 0, to = 0;
            uint4 point;
            uint64_t key = 0;
            const uint32_t square = knn_shifted_try<SQUEEZED>(ask, q, order, first + threadIdx.x, &point);
            bool near = square <= most;
            if (near) {
                key = knn_shifted_key<KIND, SQUEEZED>(ask, &query, point);
                index = __ldg(ask->points.order + point.w);
                near = key <= ask->limit && knn_is_before(key, index, last_key, last_index);
            }
            const uint32_t lanes = __ballot_sync(CUDA_ALL, near);
            if (lane == 0) to = atomicAdd(&list->count, (uint32_t)__popc(lanes));
            to = __shfl_sync(CUDA_ALL, to, 0) + (uint32_t)__popc(lanes & ((1u << lane) - 1));
            if (near) {
                list->key[to] = key;
                list->index[to] = index;
                list->square[to] = square;
            }
            kept += (uint32_t)__syncthreads_count(near);
            if (kept <= ROOM - THREADS) continue;
            sort_list(list, kept);
            was_cut = true;
            kept = min(kept, ask->k);
            last_key = list->key[kept - 1];
            last_index = list->index[kept - 1];
            if (threadIdx.x == 0) list->count = kept;
            __syncthreads();
        }
    }
    if (was_cut) {
        sort_list(list, kept);
    } else {
        order_any(list, kept, most);
    }
    return min(kept, ask->k);
}

template <int KIND, bool SQUEEZED, uint32_t ROOM>
static __global__ __launch_bounds__(THREADS) void search_many(knn_shifted_ask ask, const uint32_t *asked) {
    __shared__ many_list<ROOM> list;
    const uint32_t count = asked != NULL ? *asked : ask.asked;
    const float slack = knn_shifted_slack<KIND>(&ask);
    const uint32_t limit = knn_shifted_most(&ask.bounds, slack);
    for (uint64_t at = blockIdx.x; at < count; at += gridDim.x) {
        const uint32_t place = ask.list != NULL ? __ldg(ask.list + at) : (uint32_t)at;
        const uint32_t out = __ldg(ask.queries.order + place);
        uint32_t found = 0;
        if (place < ask.queries.extent->finite && ask.points.extent->finite > 0) {
            const knn_shifted_query q = knn_shifted_query_of<SQUEEZED>(&ask, place);
            const uint32_t edge = find_edge<SQUEEZED>(&ask, &q, limit, &list);
            const uint32_t most = min(limit, knn_shifted_beside(&ask.bounds, edge, slack));
            found = keep_best<KIND, SQUEEZED>(&ask, &q, place, most, &list);
        }
        for (uint32_t i = threadIdx.x; i < ask.k; i += THREADS) {
            knn_shifted_write<SQUEEZED>(&ask, out, i, i < found ? list.key[i] : UINT64_MAX,
                                        i < found ? list.index[i] : UINT32_MAX);
        }
        if (ask.rows.count != NULL && threadIdx.x == 0) ask.rows.count[out] = found;
        __syncthreads();
    }
}

template <int KIND, bool SQUEEZED>
static void launch_many(mote_context *ctx, const knn_shifted_ask *ask, const uint32_t *asked) {
    const uint32_t most = asked != NULL ? HARD : BLOCKS, blocks = ask->asked < most ? ask->asked : most;
    if (ask->k <= 256) {
        CUDA_LAUNCH(ctx, (search_many<KIND, SQUEEZED, 512>), blocks, THREADS, *ask, asked);
    } else {
        CUDA_LAUNCH(ctx, (search_many<KIND, SQUEEZED, 2048>), blocks, THREADS, *ask, asked);
    }
}

mote_status knn_shifted_search_many(mote_context *ctx, const knn_shifted_ask *all, bool hard) {
    knn_shifted_ask ask = *all;
    const uint32_t *const asked = hard ? all->hard.count : NULL;
    const bool squeezed = ask.normals != NULL;
    if (hard) ask.list = all->hard.list;
    switch (ask.metric.kind) {
    case KNN_INT:
        squeezed ? launch_many<KNN_INT, true>(ctx, &ask, asked) : launch_many<KNN_INT, false>(ctx, &ask, asked);
        break;
    case KNN_FLOAT:
        squeezed ? launch_many<KNN_FLOAT, true>(ctx, &ask, asked) : launch_many<KNN_FLOAT, false>(ctx, &ask, asked);
        break;
    case KNN_DOUBLE:
        squeezed ? launch_many<KNN_DOUBLE, true>(ctx, &ask, asked) : launch_many<KNN_DOUBLE, false>(ctx, &ask, asked);
        break;
    }
    return cuda_launched(ctx, "searching neighbours");
}
