/* All neighbours within a radius on the device: counted, written as they come, then put in order by three sorts. */
#include "core/core.h"
#include "knn/cuda/search/knn_single_cuda.cuh"

#define THREADS 128u
#define WARPS   (THREADS / CUDA_WARP)
#define BLOCK   256u

/* Counts what is within the limit; with entries, writes it. */
template <int KIND> struct within_visitor {
    double max;
    uint32_t resolved, found, row;
    const knn_cuda_lists *to; /* NULL: only counts */

    __device__ inline void settle(const knn_search_args *, const knn_single *, bool) {}

    __device__ inline void try_points(const knn_search_args *args, const knn_single *query, uint32_t at,
                                      double square) {
        uint64_t key = 0;
        bool near = !isnan(square) && at != query->self;
        if (near) {
            knn_exact other;
            knn_exact_of<KIND>(&args->tree.points, at, &other);
            key = knn_key_between(KIND, &args->tree.metric, &query->exact, &other);
            near = key <= args->limit;
        }
        const uint32_t in_row = warp_append(near, &found);
        if (near && to != NULL) {
            const uint64_t place = to->first[row] + in_row;
            to->row[place] = row;
            to->index[place] = __ldg(args->tree.points.order + at);
            to->key[place] = key;
        }
    }
};

template <int KIND>
static __global__ __launch_bounds__(THREADS) void find_within(knn_search_args args, knn_cuda_lists to, bool write) {
    __shared__ knn_single_memory memories[WARPS];
    const uint32_t warp = threadIdx.x / CUDA_WARP, lane = threadIdx.x % CUDA_WARP;
    const knn_leaf_range none = {0, 0};
    const uint64_t place = args.first + (uint64_t)blockIdx.x * WARPS + warp;
    if (place >= args.end) return;
    within_visitor<KIND> v;
    v.row = args.by_place ? (uint32_t)place - args.first : args.queries.order[place];
    v.resolved = UINT32_MAX;
    v.found = 0;
    v.to = write ? &to : NULL;
    if (place < args.queries.extent->finite && args.tree.nodes[0] > 0) {
        const knn_single query = knn_single_of<KIND>(&args, (uint32_t)place);
        v.max = knn_double_of_key<KIND>(&args.tree.metric, args.limit);
        knn_walk_single<KIND>(&args, &query, none, &memories[warp], lane, &v);
    }
    if (!write && lane == 0) args.rows.count[v.row] = v.found;
}

static mote_status launch_within(mote_device *gpu, const knn_search_args *args, const knn_cuda_lists *to, bool write) {
    const uint32_t blocks = cuda_blocks(args->end - args->first, WARPS);
    knn_for_kind(args->tree.metric.kind,
                 [&](auto of) { CUDA_LAUNCH(gpu, (find_within<of.kind>), blocks, THREADS, *args, *to, write); });
    return cuda_launched(gpu, "searching neighbours");
}

/* ---- the order of entries: by index, then by key, then by row, each sort stable */

static __global__ void number_entries(const uint32_t *index, uint64_t count, uint32_t *keys, uint32_t *entries) {
    const uint64_t i = (uint64_t)blockIdx.x * BLOCK + threadIdx.x;
    if (i >= count) return;
    keys[i] = index[i];
    entries[i] = (uint32_t)i;
}

static __global__ void keys_of_entries(const uint64_t *key, const uint32_t *entries, uint64_t count, uint64_t *keys) {
    const uint64_t i = (uint64_t)blockIdx.x * BLOCK + threadIdx.x;
    if (i < count) keys[i] = key[entries[i]];
}

static __global__ void rows_of_entries(const uint32_t *row, const uint32_t *entries, uint64_t count, uint32_t *keys) {
    const uint64_t i = (uint64_t)blockIdx.x * BLOCK + threadIdx.x;
    if (i < count) keys[i] = row[entries[i]];
}

static __global__ void write_entries(knn_metric metric, knn_cuda_lists from, const uint32_t *entries, uint64_t count,
                                     uint32_t *index, float *distance2) {
    const uint64_t i = (uint64_t)blockIdx.x * BLOCK + threadIdx.x;
    if (i >= count) return;
    index[i] = from.index[entries[i]];
    distance2[i] = (float)knn_distance2(&metric, from.key[entries[i]]);
}

void knn_cuda_free_lists(mote_device *gpu, knn_cuda_lists *m) {
    cuda_free(gpu, m->counts);
    cuda_free(gpu, m->first);
    cuda_free(gpu, m->row);
    cuda_free(gpu, m->index);
    cuda_free(gpu, m->key);
    cuda_free(gpu, m->pairs.keys);
    cuda_free(gpu, m->pairs.values);
    cuda_free(gpu, m->pairs.other_keys);
    cuda_free(gpu, m->pairs.other_values);
}

static void *take(mote_device *gpu, uint64_t count, uint64_t size_bytes) {
    return cuda_alloc(gpu, count * size_bytes, "knn lists");
}

static mote_status take_entries(mote_device *gpu, knn_cuda_lists *m) {
    const uint64_t n = m->total;
    if ((m->row = (uint32_t *)take(gpu, n, sizeof(uint32_t))) == NULL) return MOTE_ERROR_MEMORY;
    if ((m->index = (uint32_t *)take(gpu, n, sizeof(uint32_t))) == NULL) return MOTE_ERROR_MEMORY;
    if ((m->key = (uint64_t *)take(gpu, n, sizeof(uint64_t))) == NULL) return MOTE_ERROR_MEMORY;
    if ((m->pairs.keys = (uint64_t *)take(gpu, n, sizeof(uint64_t))) == NULL) return MOTE_ERROR_MEMORY;
    if ((m->pairs.values = (uint32_t *)take(gpu, n, sizeof(uint32_t))) == NULL) return MOTE_ERROR_MEMORY;
    if ((m->pairs.other_keys = (uint64_t *)take(gpu, n, sizeof(uint64_t))) == NULL) return MOTE_ERROR_MEMORY;
    if ((m->pairs.other_values = (uint32_t *)take(gpu, n, sizeof(uint32_t))) == NULL) return MOTE_ERROR_MEMORY;
    return MOTE_OK;
}

/* Sorts by the lower halves of the keys' memory. */
static mote_status sort_narrow(mote_device *gpu, knn_cuda_lists *m) {
    cuda_pairs32 narrow = {(uint32_t *)m->pairs.keys, m->pairs.values, (uint32_t *)m->pairs.other_keys,
                           m->pairs.other_values};
    const mote_status status = cuda_sort32(gpu, &narrow, m->total, 0, 32);
    m->pairs.keys = (uint64_t *)narrow.keys;
    m->pairs.values = narrow.values;
    m->pairs.other_keys = (uint64_t *)narrow.other_keys;
    m->pairs.other_values = narrow.other_values;
    return status;
}

static mote_status sort_entries(mote_device *gpu, knn_cuda_lists *m) {
    const uint32_t blocks = cuda_blocks(m->total, BLOCK);
    CUDA_LAUNCH(gpu, number_entries, blocks, BLOCK, m->index, m->total, (uint32_t *)m->pairs.keys, m->pairs.values);
    MOTE_TRY(sort_narrow(gpu, m));
    CUDA_LAUNCH(gpu, keys_of_entries, blocks, BLOCK, m->key, m->pairs.values, m->total, m->pairs.keys);
    MOTE_TRY(cuda_sort64(gpu, &m->pairs, m->total, 0, 64));
    CUDA_LAUNCH(gpu, rows_of_entries, blocks, BLOCK, m->row, m->pairs.values, m->total, (uint32_t *)m->pairs.keys);
    MOTE_TRY(sort_narrow(gpu, m));
    return cuda_launched(gpu, "sorting neighbours");
}

mote_status knn_cuda_count_within(mote_device *gpu, const knn_search_args *args) {
    const knn_cuda_lists none = {};
    return args->end > args->first ? launch_within(gpu, args, &none, false) : MOTE_OK;
}

/* How many neighbours the queries have, and where their lists begin. */
static mote_status measure_lists(mote_device *gpu, const knn_search_args *given, knn_cuda_lists *m) {
    knn_search_args args = *given;
    const uint64_t rows = args.end - args.first;
    m->counts = (uint32_t *)take(gpu, rows + 1, sizeof *m->counts);
    m->first = (uint64_t *)take(gpu, rows + 1, sizeof *m->first);
    if (m->counts == NULL || m->first == NULL) return MOTE_ERROR_MEMORY;
    args.rows.count = m->counts;
    MOTE_TRY(cuda_fill(gpu, m->counts, 0, (rows + 1) * sizeof *m->counts));
    MOTE_TRY(knn_cuda_count_within(gpu, &args));
    return cuda_sum32_wide(gpu, m->counts, m->first, rows + 1);
}

/* Writes the entries and puts them in order. */
static mote_status fill_lists(mote_device *gpu, const knn_search_args *args, knn_cuda_lists *m) {
    if (m->total >= UINT32_MAX) {
        return mote_fail(gpu->ctx, MOTE_ERROR_UNSUPPORTED, "%llu neighbours: lists on a GPU take up to 4,294,967,294",
                         (unsigned long long)m->total);
    }
    if (m->total == 0) return MOTE_OK;
    MOTE_TRY(take_entries(gpu, m));
    MOTE_TRY(launch_within(gpu, args, m, true));
    return sort_entries(gpu, m);
}

mote_status knn_cuda_list_within(mote_device *gpu, const knn_search_args *args, knn_cuda_lists *m) {
    MOTE_TRY(measure_lists(gpu, args, m));
    MOTE_TRY(cuda_download(gpu, &m->total, m->first + (args->end - args->first), sizeof m->total));
    return fill_lists(gpu, args, m);
}

/* The lists, by way of the memory that sorted them. */
static mote_status fetch_lists(mote_device *gpu, const knn_search_args *args, knn_cuda_lists *m,
                               mote_knn_lists *lists) {
    lists->index = (uint32_t *)mote_alloc(gpu->ctx, m->total * sizeof *lists->index, "knn lists");
    lists->distance2 = (float *)mote_alloc(gpu->ctx, m->total * sizeof *lists->distance2, "knn lists");
    if (lists->index == NULL || lists->distance2 == NULL) return MOTE_ERROR_MEMORY;
    MOTE_TRY(fill_lists(gpu, args, m));
    if (m->total == 0) return MOTE_OK;
    uint32_t *const index = m->pairs.other_values;
    float *const distance2 = (float *)m->pairs.other_keys;
    CUDA_LAUNCH(gpu, write_entries, cuda_blocks(m->total, BLOCK), BLOCK, args->tree.metric, *m, m->pairs.values,
                m->total, index, distance2);
    MOTE_TRY(cuda_launched(gpu, "writing neighbours"));
    MOTE_TRY(cuda_download(gpu, lists->index, index, m->total * sizeof *index));
    return cuda_download(gpu, lists->distance2, distance2, m->total * sizeof *distance2);
}

static mote_status find_lists(mote_device *gpu, uint64_t rows, const knn_search_args *args, uint32_t *counts,
                              mote_knn_lists *lists, knn_cuda_lists *m) {
    MOTE_TRY(measure_lists(gpu, args, m));
    if (counts != NULL) MOTE_TRY(cuda_download(gpu, counts, m->counts, rows * sizeof *counts));
    if (lists == NULL) return MOTE_OK;
    MOTE_TRY(cuda_download(gpu, lists->first, m->first, (rows + 1) * sizeof *lists->first));
    m->total = lists->first[rows];
    return fetch_lists(gpu, args, m, lists);
}

mote_status knn_cuda_within(mote_knn_index *index, const mote_cloud *queries, double radius, bool exclude_self,
                            uint32_t *counts, mote_knn_lists *lists) {
    mote_device *gpu = index->device;
    knn_cuda_query_set query_set;
    knn_search_args args;
    knn_cuda_lists memory;
    memset(&args, 0, sizeof args);
    memset(&memory, 0, sizeof memory);
    mote_stage(gpu->ctx, "search");
    mote_status status = knn_cuda_query_set_open(index, queries, &query_set);
    if (status == MOTE_OK) {
        args.tree = *query_set.tree;
        args.queries = query_set.points;
        args.end = query_set.points.count;
        args.own = query_set.own;
        args.exclude_self = exclude_self && query_set.own;
        args.limit = radius > 0 ? knn_key_limit(&args.tree.metric, radius) : 0;
        status = find_lists(gpu, query_set.rows, &args, counts, lists, &memory);
    }
    knn_cuda_free_lists(gpu, &memory);
    knn_cuda_query_set_close(gpu, &query_set);
    if (status == MOTE_OK) status = knn_cuda_count_skipped(index);
    return status != MOTE_OK ? status : mote_progress(gpu->ctx, 1.0, "searching neighbours");
}
