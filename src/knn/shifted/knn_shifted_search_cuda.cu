/* Shifted sorting: the search of a block for a query. Its candidates come from four windows; those that are not beyond
   the k-th so far are listed with their exact keys. A list that is full, and at last, is cut to the k best:

     candidates ──▶ list  [key, index] * CAPACITY
                      ├──▶ a bound of the leading bits of keys that k or a few more do not exceed, by halving
                      ├──▶ the entries within it move to the front
                      └──▶ these are sorted by (key, index)

   Up to SMALL_K neighbours a block is one warp. */
#include <math.h>

#include "knn/shifted/knn_shifted_cuda.cuh"

#define SMALL_K 128u
#define ROUNDS  4u /* of blocks that the GPU holds at once: they share the queries */

/* ---- exact keys */

template <int KIND> struct exact_of { typedef double type; };

template <> struct exact_of<KNN_INT> { typedef int32_t type; };

/* A query: the same in all threads. */
template <int KIND> struct shifted_query {
    typename exact_of<KIND>::type at[3];
    knn_ellipsoid ellipsoid;
    uint32_t first[KNN_SHIFTS], count[KNN_SHIFTS]; /* its windows */
    uint32_t self;                                 /* the point that does not count; UINT32_MAX: all do */
};

template <int KIND>
static __device__ inline void exact_position(const knn_cuda_points *points, uint32_t place,
                                             typename exact_of<KIND>::type at[3]) {
    const uint64_t first = (uint64_t)(place / KNN_CUDA_LEAF) * (3 * KNN_CUDA_LEAF) + place % KNN_CUDA_LEAF;
#pragma unroll
    for (uint32_t k = 0; k < 3; k++) {
        const uint64_t i = first + KNN_CUDA_LEAF * k;
        if (KIND == KNN_INT) at[k] = __ldg((const int32_t *)points->exact + i);
        if (KIND == KNN_FLOAT) at[k] = __ldg(points->views + i);
        if (KIND == KNN_DOUBLE) at[k] = __ldg((const double *)points->exact + i);
    }
}

template <int KIND, bool ELLIPSOID>
static __device__ inline uint64_t key_of(const knn_metric *metric, const shifted_query<KIND> *query,
                                         const typename exact_of<KIND>::type at[3]) {
    if constexpr (KIND == KNN_INT && !ELLIPSOID) {
        return knn_key_int(at[0], at[1], at[2], query->at[0], query->at[1], query->at[2]);
    } else {
        double d[3];
#pragma unroll
        for (int k = 0; k < 3; k++) {
            d[k] = (double)at[k] - (double)query->at[k];
            if (KIND != KNN_FLOAT) d[k] *= metric->scale[k];
        }
        return ELLIPSOID ? knn_key_ellipsoid(d[0], d[1], d[2], &query->ellipsoid) : knn_key_real(d[0], d[1], d[2]);
    }
}

/* ---- candidates */

template <int KIND, bool ELLIPSOID>
static __device__ inline shifted_query<KIND> query_at(const knn_shifted_args *args, uint32_t place) {
    shifted_query<KIND> query;
    const uint4 stands = __ldg(args->memory.insertion_places + place);
    const uint32_t insertion_places[KNN_SHIFTS] = {stands.x, stands.y, stands.z, stands.w};
    exact_position<KIND>(&args->queries, place, query.at);
#pragma unroll
    for (uint32_t s = 0; s < KNN_SHIFTS; s++) {
        uint32_t end;
        knn_shifted_window(insertion_places[s], args->beside, args->points.extent->finite, &query.first[s], &end);
        query.count[s] = end - query.first[s];
    }
    query.self = args->exclude_self ? place : UINT32_MAX;
    query.ellipsoid.normal_weight = args->normal_weight;
    for (uint32_t k = 0; k < 3; k++) {
        query.ellipsoid.normal[k] = ELLIPSOID ? __ldg(args->normals + 3 * (uint64_t)place + k) : 0;
    }
    return query;
}

/* Whether a point is in a window of the first orders. */
template <int KIND>
static __device__ inline bool is_seen(const shifted_query<KIND> *query, uint4 places, uint32_t orders) {
    return (orders > 0 && places.x - query->first[0] < query->count[0]) ||
           (orders > 1 && places.y - query->first[1] < query->count[1]) ||
           (orders > 2 && places.z - query->first[2] < query->count[2]);
}

/* ---- the list of a block */

template <uint32_t THREADS, uint32_t CAPACITY> struct candidate_list {
    static const uint32_t warps = THREADS / CUDA_WARP, each = CAPACITY / THREADS;
    uint64_t key[CAPACITY];
    uint32_t index[CAPACITY];
    uint32_t of_warp[warps];

    /* Appends an entry of each thread that wants it; count is the same in all threads. */
    __device__ inline void append(bool wanted, uint64_t new_key, uint32_t new_index, uint32_t *count) {
        const uint32_t to = block_append<warps>(wanted, of_warp, count);
        if (wanted) {
            key[to] = new_key;
            index[to] = new_index;
        }
        __syncthreads();
    }

    /* The leading bits of a key that at least k entries, and hardly more than `enough`, do not exceed. */
    __device__ inline uint32_t find_bound(const uint32_t (&heads)[each], uint32_t k, uint32_t enough, uint32_t high) {
        uint32_t low = 0;
        CUDA_ROLLED
        while (low < high) {
            const uint32_t middle = low + (high - low) / 2;
            uint32_t within = 0;
#pragma unroll
            for (uint32_t i = 0; i < each; i++) within += heads[i] <= middle;
            within = block_sum<warps>(within, of_warp);
            __syncthreads();
            if (within < k) {
                low = middle + 1;
            } else {
                high = middle;
                if (within <= enough) break;
            }
        }
        return high;
    }

    /* Keeps the entries within the bound, at the front. Returns how many. */
    __device__ inline uint32_t keep(const uint32_t (&heads)[each], uint32_t bound) {
        uint32_t kept = 0;
#pragma unroll
        for (uint32_t i = 0; i < each; i++) {
            const uint32_t slot = i * THREADS + threadIdx.x;
            const uint64_t own_key = key[slot];
            const uint32_t own_index = index[slot];
            append(heads[i] <= bound, own_key, own_index, &kept); /* to slots that have been read */
        }
        return kept;
    }

    /* A bitonic sort by (key, index). */
    __device__ inline void sort(uint32_t count) {
        uint32_t whole = 2;
        while (whole < count) whole *= 2;
        for (uint32_t i = count + threadIdx.x; i < whole; i += THREADS) {
            key[i] = UINT64_MAX;
            index[i] = UINT32_MAX;
        }
        __syncthreads();
        CUDA_ROLLED
        for (uint32_t run = 2; run <= whole; run *= 2) {
            CUDA_ROLLED
            for (uint32_t apart = run / 2; apart > 0; apart /= 2) {
                for (uint32_t i = threadIdx.x; i < whole / 2; i += THREADS) {
                    const uint32_t a = 2 * i - (i & (apart - 1));
                    order_two(a, a + apart, (a & run) == 0);
                }
                __syncthreads();
            }
        }
    }

    __device__ inline void order_two(uint32_t a, uint32_t b, bool ascending) {
        const uint64_t key_a = key[a], key_b = key[b];
        const uint32_t index_a = index[a], index_b = index[b];
        const bool descends = key_b < key_a || (key_b == key_a && index_b < index_a);
        if (descends != ascending) return;
        key[a] = key_b;
        key[b] = key_a;
        index[a] = index_b;
        index[b] = index_a;
    }
};

/* Leaves the at most k best of the list, sorted. Returns how many; *bound: the leading bits of the worst, if there are
   k. */
template <knn_kind KEYS, uint32_t THREADS, uint32_t CAPACITY>
static __device__ uint32_t cut(candidate_list<THREADS, CAPACITY> *list, uint32_t count, uint32_t k, uint32_t *bound) {
    const uint32_t enough = k + k / 4;
    uint32_t heads[CAPACITY / THREADS];
#pragma unroll
    for (uint32_t i = 0; i < CAPACITY / THREADS; i++) {
        const uint32_t slot = i * THREADS + threadIdx.x;
        heads[i] = slot < count ? knn_key_head(KEYS, list->key[slot]) : UINT32_MAX;
    }
    if (count > enough) count = list->keep(heads, list->find_bound(heads, k, enough, *bound));
    list->sort(count);
    if (count >= k) *bound = knn_key_head(KEYS, list->key[k - 1]);
    return min(count, k);
}

/* ---- the search */

template <int KIND, bool ELLIPSOID, uint32_t THREADS, uint32_t CAPACITY>
static __device__ inline uint32_t search_query(const knn_shifted_args *args, uint32_t place,
                                               candidate_list<THREADS, CAPACITY> *list) {
    constexpr knn_kind keys = ELLIPSOID ? KNN_DOUBLE : (knn_kind)KIND;
    const shifted_query<KIND> query = query_at<KIND, ELLIPSOID>(args, place);
    const uint32_t *const insertion_places = (const uint32_t *)(args->memory.insertion_places + place);
    uint32_t count = 0, bound = knn_key_head(keys, args->limit);
    for (uint32_t order = 0; order < KNN_SHIFTS; order++) {
        uint32_t first, end;
        knn_shifted_window(insertion_places[order], args->beside, args->points.extent->finite, &first, &end);
        for (; first < end; first += THREADS) {
            const uint32_t point = __ldg(args->memory.orders[order] + min(first + threadIdx.x, end - 1));
            const bool is_new = first + threadIdx.x < end && point != query.self &&
                                !is_seen(&query, __ldg(args->memory.places + point), order);
            typename exact_of<KIND>::type at[3];
            exact_position<KIND>(&args->points, point, at);
            const uint64_t key = key_of<KIND, ELLIPSOID>(&args->metric, &query, at);
            const bool wanted = is_new && key <= args->limit && knn_key_head(keys, key) <= bound;
            list->append(wanted, key, wanted ? __ldg(args->points.order + point) : 0, &count);
            if (count > CAPACITY - THREADS) count = cut<keys>(list, count, args->k, &bound);
        }
    }
    return cut<keys>(list, count, args->k, &bound);
}

/* The i-th neighbour of a row; index UINT32_MAX: there is none. */
static __device__ inline void write_neighbour(const knn_shifted_args *args, uint32_t row, uint32_t i, uint64_t key,
                                              uint32_t index) {
    const knn_cuda_rows *const to = &args->rows;
    const uint64_t out = (uint64_t)row * args->k + i;
    const bool found = index != UINT32_MAX;
    const double distance2 = found ? knn_distance2(&args->keys, key) : (double)INFINITY;
    if (to->index32 != NULL) to->index32[out] = index;
    if (to->index64 != NULL) to->index64[out] = found ? (int64_t)index : -1;
    if (to->distance2 != NULL) to->distance2[out] = (float)distance2;
    if (to->distance2_wide != NULL) to->distance2_wide[out] = distance2;
}

template <int KIND, bool ELLIPSOID, uint32_t THREADS, uint32_t CAPACITY>
static __global__ __launch_bounds__(THREADS) void search_queries(knn_shifted_args args) {
    __shared__ candidate_list<THREADS, CAPACITY> list;
    for (uint64_t at = blockIdx.x; at < args.query_count; at += gridDim.x) {
        const uint32_t place = (uint32_t)at, row = __ldg(args.queries.order + place);
        uint32_t found = 0;
        if (args.memory.spaces != NULL && args.memory.spaces[place] != args.space) continue;
        if (place < args.queries.extent->finite && args.points.extent->finite > 0) {
            found = search_query<KIND, ELLIPSOID>(&args, place, &list);
        }
        for (uint32_t i = threadIdx.x; i < args.k; i += THREADS) {
            write_neighbour(&args, row, i, i < found ? list.key[i] : 0, i < found ? list.index[i] : UINT32_MAX);
        }
        if (args.rows.count != NULL && threadIdx.x == 0) args.rows.count[row] = found;
        __syncthreads();
    }
}

template <int KIND, bool ELLIPSOID, uint32_t THREADS, uint32_t CAPACITY>
static void launch(mote_device *gpu, const knn_shifted_args *args) {
    const uint32_t blocks = cuda_blocks_up_to(ROUNDS * cuda_full_blocks(gpu, THREADS), args->query_count, 1);
    CUDA_LAUNCH(gpu, (search_queries<KIND, ELLIPSOID, THREADS, CAPACITY>), blocks, THREADS, *args);
}

template <int KIND, bool ELLIPSOID> static void launch_for_k(mote_device *gpu, const knn_shifted_args *args) {
    if (args->k <= SMALL_K) {
        launch<KIND, ELLIPSOID, CUDA_WARP, 512>(gpu, args);
    } else {
        launch<KIND, ELLIPSOID, 128, 2048>(gpu, args);
    }
}

template <int KIND> static void launch_kind(mote_device *gpu, const knn_shifted_args *args) {
    args->normals != NULL ? launch_for_k<KIND, true>(gpu, args) : launch_for_k<KIND, false>(gpu, args);
}

mote_status knn_shifted_search(mote_device *gpu, const knn_shifted_args *args) {
    switch (args->metric.kind) {
    case KNN_INT: launch_kind<KNN_INT>(gpu, args); break;
    case KNN_FLOAT: launch_kind<KNN_FLOAT>(gpu, args); break;
    case KNN_DOUBLE: launch_kind<KNN_DOUBLE>(gpu, args); break;
    }
    return cuda_launched(gpu, "searching neighbours");
}
