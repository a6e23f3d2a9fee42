/* Shifted sorting, any number of neighbours: a block has one query. It looks at the candidates twice: to count squares
   in bins, then to keep what lies below the bin that the k-th is in. What is kept is put in order by the leading bits
   of squares, in registers, and by whole keys if these tell another order. */
#include <math.h>

#include "knn/index/knn_sort_cuda.cuh"
#include "knn/shifted/knn_shifted_traversal_cuda.cuh"

#define THREADS 128u
#define WARPS   (THREADS / CUDA_WARP)
#define ROUNDS  4u /* of blocks that the GPU holds at once: they share the queries */

/* CAPACITY: entries; the least that holds k and as many as come at once. */
template <uint32_t CAPACITY> struct large_k_list {
    union {
        uint64_t key[CAPACITY];
        uint32_t bins[2 * CAPACITY];
    };
    uint32_t index[CAPACITY];
    uint32_t square[CAPACITY];
    uint32_t of_warp[WARPS];
    uint32_t count;
    uint32_t edge; /* of the bin with the k-th */
    __device__ __forceinline__ uint32_t &index_at(uint32_t i) { return index[i]; }
};

template <uint32_t CAPACITY> struct bins_of {
    static const uint32_t count = 2 * CAPACITY, each = count / THREADS;
    /* Floats that are not negative have 31 bits. */
    static const uint32_t shift = CAPACITY == 512 ? 21 : 19;
    static_assert(count << shift == 1u << 31, "bins for all floats");
};

/* A square that k or more candidates do not exceed; infinite if there are fewer. */
template <bool ELLIPSOID, uint32_t CAPACITY>
static __device__ uint32_t find_edge(const knn_shifted_args *args, const knn_shifted_query *q, uint32_t max_square,
                                     large_k_list<CAPACITY> *list) {
    typedef bins_of<CAPACITY> bins;
    const uint32_t thread = threadIdx.x, first = thread * bins::each;
    uint32_t mine = 0, total;
    uint4 point;
    for (uint32_t i = thread; i < bins::count; i += THREADS) list->bins[i] = 0;
    if (thread == 0) list->edge = knn_bits_of(INFINITY);
    __syncthreads();
    for (uint32_t order = 0; order < KNN_SHIFTS; order++) {
        for (uint32_t i = thread; i < q->count[order]; i += THREADS) {
            const uint32_t square = knn_shifted_try<ELLIPSOID>(args, q, order, i, &point);
            if (square <= max_square) atomicAdd(&list->bins[square >> bins::shift], 1u);
        }
    }
    __syncthreads();
    for (uint32_t i = 0; i < bins::each; i++) mine += list->bins[first + (i + thread) % bins::each];
    const uint32_t before = block_scan_exclusive<WARPS>(mine, list->of_warp, &total);
    if (before < args->k && before + mine >= args->k) {
        uint32_t bin = first, sum = before + list->bins[first];
        while (sum < args->k) sum += list->bins[++bin];
        list->edge = min(((bin + 1) << bins::shift) - 1, knn_bits_of(INFINITY));
    }
    __syncthreads();
    return list->edge;
}

/* Sorts what is kept, which is filled up to a power of two. All threads have written. */
template <uint32_t CAPACITY>
static __device__ __noinline__ void sort_list(large_k_list<CAPACITY> *list, uint32_t count) {
    uint32_t whole = 2;
    while (whole < count) whole *= 2;
    for (uint32_t i = count + threadIdx.x; i < whole; i += THREADS) {
        list->key[i] = UINT64_MAX;
        list->index[i] = UINT32_MAX;
    }
    __syncthreads();
    knn_sort_list<THREADS>(list, whole, threadIdx.x);
}

/* Not inlined: one copy for all kinds of positions. Puts what is kept in order, at most E · THREADS entries with
 * squares of at most `most`. All threads have written. */
template <uint32_t CAPACITY, int E>
static __device__ __noinline__ void order_list(large_k_list<CAPACITY> *list, uint32_t count, uint32_t max_square) {
    const uint32_t grades = UINT32_MAX / CAPACITY; /* above the bits of a slot; the last is for what does not exist */
    const float largest = knn_float_of(max_square);
    const float fine = largest > 1e-30f && largest < 1e30f ? (float)(grades - 1) / largest : 0;
    uint32_t grade[E], index[E];
    uint64_t key[E];
    bool wrong = false;
#pragma unroll
    for (uint32_t i = 0; i < E; i++) {
        const uint32_t slot = i * THREADS + threadIdx.x;
        const float square = knn_float_of(list->square[min(slot, count - 1)]);
        grade[i] = slot < count ? (uint32_t)fminf(square * fine, (float)(grades - 1)) * CAPACITY + slot : UINT32_MAX;
    }
    __syncthreads();
    knn_sort_grades<THREADS>(grade, threadIdx.x, list->square);
#pragma unroll
    for (uint32_t i = 0; i < E; i++) {
        const bool exists = grade[i] != UINT32_MAX;
        key[i] = exists ? list->key[grade[i] % CAPACITY] : UINT64_MAX;
        index[i] = exists ? list->index[grade[i] % CAPACITY] : UINT32_MAX;
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

template <uint32_t CAPACITY>
static __device__ void order_any(large_k_list<CAPACITY> *list, uint32_t count, uint32_t max_square) {
    if (count == 0) return;
    if (count <= CAPACITY / 4) {
        order_list<CAPACITY, CAPACITY / 4 / THREADS>(list, count, max_square);
    } else if (count <= CAPACITY / 2) {
        order_list<CAPACITY, CAPACITY / 2 / THREADS>(list, count, max_square);
    } else {
        order_list<CAPACITY, CAPACITY / THREADS>(list, count, max_square);
    }
}

/* The k best of the candidates within a square, in order. Returns how many there are. */
template <int KIND, bool ELLIPSOID, uint32_t CAPACITY>
static __device__ uint32_t keep_best(const knn_shifted_args *args, const knn_shifted_query *q, uint32_t place,
                                     uint32_t max_square, large_k_list<CAPACITY> *list) {
    const knn_shifted_exact query = knn_shifted_exact_of<KIND, ELLIPSOID>(args, place);
    uint64_t last_key = UINT64_MAX; /* what is not before it does not count */
    uint32_t last_index = UINT32_MAX, kept = 0;
    bool was_cut = false; /* then the squares are no longer those of the entries */
    if (threadIdx.x == 0) list->count = 0;
    __syncthreads();
    for (uint32_t order = 0; order < KNN_SHIFTS; order++) {
        for (uint32_t first = 0; first < q->count[order]; first += THREADS) {
            uint32_t index = 0;
            uint4 point;
            uint64_t key = 0;
            const uint32_t square = knn_shifted_try<ELLIPSOID>(args, q, order, first + threadIdx.x, &point);
            bool near = square <= max_square;
            if (near) {
                key = knn_shifted_key<KIND, ELLIPSOID>(args, &query, point);
                index = __ldg(args->points.order + point.w);
                near = key <= args->limit && knn_is_before(key, index, last_key, last_index);
            }
            const uint32_t to = warp_reserve(&list->count, __ballot_sync(CUDA_ALL, near));
            if (near) {
                list->key[to] = key;
                list->index[to] = index;
                list->square[to] = square;
            }
            kept += (uint32_t)__syncthreads_count(near);
            if (kept <= CAPACITY - THREADS) continue;
            sort_list(list, kept);
            was_cut = true;
            kept = min(kept, args->k);
            last_key = list->key[kept - 1];
            last_index = list->index[kept - 1];
            if (threadIdx.x == 0) list->count = kept;
            __syncthreads();
        }
    }
    if (was_cut) {
        sort_list(list, kept);
    } else {
        order_any(list, kept, max_square);
    }
    return min(kept, args->k);
}

template <int KIND, bool ELLIPSOID, uint32_t CAPACITY>
static __global__ __launch_bounds__(THREADS) void search_large_k(knn_shifted_args args,
                                                                 const uint32_t *deferred_count) {
    __shared__ large_k_list<CAPACITY> list;
    const uint32_t count = deferred_count != NULL ? *deferred_count : args.query_count;
    for (uint64_t at = blockIdx.x; at < count; at += gridDim.x) {
        const uint32_t place = args.list != NULL ? __ldg(args.list + at) : (uint32_t)at;
        const uint32_t out = __ldg(args.queries.order + place);
        uint32_t found = 0;
        if (place < args.queries.extent->finite && args.points.extent->finite > 0) {
            const knn_shifted_query q = knn_shifted_query_of<ELLIPSOID>(&args, place);
            const float slack = knn_shifted_slack<KIND>(&args, place);
            const uint32_t limit = knn_shifted_max(&args.bounds, slack);
            const uint32_t edge = find_edge<ELLIPSOID>(&args, &q, limit, &list);
            const uint32_t max_square = min(limit, knn_shifted_insertion_place(&args.bounds, edge, slack));
            found = keep_best<KIND, ELLIPSOID>(&args, &q, place, max_square, &list);
        }
        for (uint32_t i = threadIdx.x; i < args.k; i += THREADS) {
            knn_shifted_write<ELLIPSOID>(&args, out, i, i < found ? list.key[i] : UINT64_MAX,
                                         i < found ? list.index[i] : UINT32_MAX);
        }
        if (args.rows.count != NULL && threadIdx.x == 0) args.rows.count[out] = found;
        __syncthreads();
    }
}

template <int KIND, bool ELLIPSOID>
static void launch_large_k(mote_device *gpu, const knn_shifted_args *args, const uint32_t *deferred_count) {
    const uint32_t full = cuda_full_blocks(gpu, THREADS);
    const uint32_t max = deferred_count != NULL ? full / 2 : ROUNDS * full; /* deferred queries are few, mostly none */
    const uint32_t blocks = cuda_blocks_up_to(max, args->query_count, 1);
    if (args->k <= 256) {
        CUDA_LAUNCH(gpu, (search_large_k<KIND, ELLIPSOID, 512>), blocks, THREADS, *args, deferred_count);
    } else {
        CUDA_LAUNCH(gpu, (search_large_k<KIND, ELLIPSOID, 2048>), blocks, THREADS, *args, deferred_count);
    }
}

mote_status knn_shifted_search_large_k(mote_device *gpu, const knn_shifted_args *all, bool hard) {
    knn_shifted_args args = *all;
    const uint32_t *const deferred_count = hard ? all->hard.count : NULL;
    const bool ellipsoidal = args.normals != NULL;
    if (hard) args.list = all->hard.list;
    switch (args.metric.kind) {
    case KNN_INT:
        ellipsoidal ? launch_large_k<KNN_INT, true>(gpu, &args, deferred_count)
                    : launch_large_k<KNN_INT, false>(gpu, &args, deferred_count);
        break;
    case KNN_FLOAT:
        ellipsoidal ? launch_large_k<KNN_FLOAT, true>(gpu, &args, deferred_count)
                    : launch_large_k<KNN_FLOAT, false>(gpu, &args, deferred_count);
        break;
    case KNN_DOUBLE:
        ellipsoidal ? launch_large_k<KNN_DOUBLE, true>(gpu, &args, deferred_count)
                    : launch_large_k<KNN_DOUBLE, false>(gpu, &args, deferred_count);
        break;
    }
    return cuda_launched(gpu, "searching neighbours");
}
