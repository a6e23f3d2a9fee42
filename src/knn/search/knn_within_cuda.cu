/* All neighbours within a radius on the device: counted, written as they come, then put in order by three sorts. */
#include "core/core.h"
#include "knn/search/knn_point_cuda.h"

#define THREADS 128u
#define WARPS   (THREADS / CUDA_WARP)
#define BLOCK   256u

/* Counts what is within the limit; with entries, writes it. */
template <int KIND> struct within_visitor {
    float most;
    uint32_t settled, lane, found, row;
    const knn_cuda_lists *to; /* NULL: only counts */

    __device__ inline void try_points(const knn_cuda_ask *ask, const knn_asking *asking, uint32_t at, float square) {
        uint64_t key = 0;
        bool near = !isnan(square) && at != asking->place;
        if (near) {
            knn_exact other;
            knn_exact_of<KIND>(&ask->tree.points, at, &other);
            key = knn_key<KIND>(&ask->tree.metric, &asking->exact, &other);
            near = key <= ask->limit;
        }
        const uint32_t lanes = __ballot_sync(CUDA_ALL, near);
        if (near && to != NULL) {
            const uint64_t place = to->first[row] + found + (uint32_t)__popc(lanes & ((1u << lane) - 1));
            to->row[place] = row;
            to->index[place] = __ldg(ask->tree.points.order + at);
            to->key[place] = key;
        }
        found += (uint32_t)__popc(lanes);
    }
};

template <int KIND>
static __global__ __launch_bounds__(THREADS) void find_within(knn_cuda_ask ask, knn_cuda_lists to, bool write) {
    __shared__ uint32_t waiting[WARPS][KNN_WAITING];
    const uint32_t warp = threadIdx.x / CUDA_WARP;
    const uint64_t place = ask.first + (uint64_t)blockIdx.x * WARPS + warp;
    if (place >= ask.end) return;
    within_visitor<KIND> v;
    v.lane = threadIdx.x % CUDA_WARP;
    v.row = ask.by_place ? (uint32_t)place - ask.first : ask.queries.order[place];
    v.settled = UINT32_MAX;
    v.found = 0;
    v.to = write ? &to : NULL;
    if (place < ask.queries.extent->finite && ask.tree.nodes[0] > 0) {
        const knn_asking asking = knn_asking_of<KIND>(&ask, (uint32_t)place);
        const float slack = knn_slack<KIND>(ask.tree.points.extent, ask.queries.extent);
        v.most = knn_square_of_key<KIND>(&ask.tree.metric, ask.limit, slack);
        knn_walk_point(&ask, &asking, waiting[warp], v.lane, &v);
    }
    if (!write && v.lane == 0) ask.rows.count[v.row] = v.found;
}

static mote_status launch_within(mote_context *ctx, const knn_cuda_ask *ask, const knn_cuda_lists *to, bool write) {
    const uint32_t blocks = cuda_blocks(ask->end - ask->first, WARPS);
    switch (ask->tree.metric.kind) {
    case KNN_INT: CUDA_LAUNCH(ctx, (find_within<KNN_INT>), blocks, THREADS, *ask, *to, write); break;
    case KNN_FLOAT: CUDA_LAUNCH(ctx, (find_within<KNN_FLOAT>), blocks, THREADS, *ask, *to, write); break;
    case KNN_DOUBLE: CUDA_LAUNCH(ctx, (find_within<KNN_DOUBLE>), blocks, THREADS, *ask, *to, write); break;
    }
    return cuda_launched(ctx, "searching neighbours");
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

void knn_cuda_free_lists(mote_context *ctx, knn_cuda_lists *m) {
    cuda_free(ctx, m->counts);
    cuda_free(ctx, m->first);
    cuda_free(ctx, m->row);
    cuda_free(ctx, m->index);
    cuda_free(ctx, m->key);
    cuda_free(ctx, m->pairs.keys);
    cuda_free(ctx, m->pairs.values);
    cuda_free(ctx, m->pairs.other_keys);
    cuda_free(ctx, m->pairs.other_values);
}

static void *take(mote_context *ctx, uint64_t count, uint64_t size_bytes) {
    return cuda_alloc(ctx, count * size_bytes, "knn lists");
}

static mote_status take_entries(mote_context *ctx, knn_cuda_lists *m) {
    const uint64_t n = m->total;
    if ((m->row = (uint32_t *)take(ctx, n, sizeof(uint32_t))) == NULL) return MOTE_ERROR_MEMORY;
    if ((m->index = (uint32_t *)take(ctx, n, sizeof(uint32_t))) == NULL) return MOTE_ERROR_MEMORY;
    if ((m->key = (uint64_t *)take(ctx, n, sizeof(uint64_t))) == NULL) return MOTE_ERROR_MEMORY;
    if ((m->pairs.keys = (uint64_t *)take(ctx, n, sizeof(uint64_t))) == NULL) return MOTE_ERROR_MEMORY;
    if ((m->pairs.values = (uint32_t *)take(ctx, n, sizeof(uint32_t))) == NULL) return MOTE_ERROR_MEMORY;
    if ((m->pairs.other_keys = (uint64_t *)take(ctx, n, sizeof(uint64_t))) == NULL) return MOTE_ERROR_MEMORY;
    if ((m->pairs.other_values = (uint32_t *)take(ctx, n, sizeof(uint32_t))) == NULL) return MOTE_ERROR_MEMORY;
    return MOTE_OK;
}

/* Sorts by the lower halves of the keys' memory. */
static mote_status sort_narrow(mote_context *ctx, knn_cuda_lists *m) {
    cuda_pairs32 narrow = {(uint32_t *)m->pairs.keys, m->pairs.values, (uint32_t *)m->pairs.other_keys,
                           m->pairs.other_values};
    const mote_status status = cuda_sort32(ctx, &narrow, m->total, 0, 32);
    m->pairs.keys = (uint64_t *)narrow.keys;
    m->pairs.values = narrow.values;
    m->pairs.other_keys = (uint64_t *)narrow.other_keys;
    m->pairs.other_values = narrow.other_values;
    return status;
}

static mote_status sort_entries(mote_context *ctx, knn_cuda_lists *m) {
    const uint32_t blocks = cuda_blocks(m->total, BLOCK);
    CUDA_LAUNCH(ctx, number_entries, blocks, BLOCK, m->index, m->total, (uint32_t *)m->pairs.keys, m->pairs.values);
    MOTE_TRY(sort_narrow(ctx, m));
    CUDA_LAUNCH(ctx, keys_of_entries, blocks, BLOCK, m->key, m->pairs.values, m->total, m->pairs.keys);
    MOTE_TRY(cuda_sort64(ctx, &m->pairs, m->total, 0, 64));
    CUDA_LAUNCH(ctx, rows_of_entries, blocks, BLOCK, m->row, m->pairs.values, m->total, (uint32_t *)m->pairs.keys);
    MOTE_TRY(sort_narrow(ctx, m));
    return cuda_launched(ctx, "sorting neighbours");
}

mote_status knn_cuda_count_within(mote_context *ctx, const knn_cuda_ask *ask) {
    const knn_cuda_lists none = {};
    return ask->end > ask->first ? launch_within(ctx, ask, &none, false) : MOTE_OK;
}

/* How many neighbours the queries have, and where their lists begin. */
static mote_status measure_lists(mote_context *ctx, const knn_cuda_ask *given, knn_cuda_lists *m) {
    knn_cuda_ask ask = *given;
    const uint64_t rows = ask.end - ask.first;
    m->counts = (uint32_t *)take(ctx, rows + 1, sizeof *m->counts);
    m->first = (uint64_t *)take(ctx, rows + 1, sizeof *m->first);
    if (m->counts == NULL || m->first == NULL) return MOTE_ERROR_MEMORY;
    ask.rows.count = m->counts;
    MOTE_TRY(cuda_fill(ctx, m->counts, 0, (rows + 1) * sizeof *m->counts));
    MOTE_TRY(knn_cuda_count_within(ctx, &ask));
    return cuda_sum32_wide(ctx, m->counts, m->first, rows + 1);
}

/* Writes the entries and puts them in order. */
static mote_status fill_lists(mote_context *ctx, const knn_cuda_ask *ask, knn_cuda_lists *m) {
    if (m->total >= UINT32_MAX) {
        return mote_fail(ctx, MOTE_ERROR_UNSUPPORTED, "%llu neighbours: lists on a GPU take up to 4,294,967,294",
                         (unsigned long long)m->total);
    }
    if (m->total == 0) return MOTE_OK;
    MOTE_TRY(take_entries(ctx, m));
    MOTE_TRY(launch_within(ctx, ask, m, true));
    return sort_entries(ctx, m);
}

mote_status knn_cuda_list_within(mote_context *ctx, const knn_cuda_ask *ask, knn_cuda_lists *m) {
    MOTE_TRY(measure_lists(ctx, ask, m));
    MOTE_TRY(cuda_download(ctx, &m->total, m->first + (ask->end - ask->first), sizeof m->total));
    return fill_lists(ctx, ask, m);
}

/* The lists, by way of the memory that sorted them. */
static mote_status fetch_lists(mote_context *ctx, const knn_cuda_ask *ask, knn_cuda_lists *m, mote_knn_lists *lists) {
    lists->index = (uint32_t *)mote_alloc(ctx, m->total * sizeof *lists->index, "knn lists");
    lists->distance2 = (float *)mote_alloc(ctx, m->total * sizeof *lists->distance2, "knn lists");
    if (lists->index == NULL || lists->distance2 == NULL) return MOTE_ERROR_MEMORY;
    MOTE_TRY(fill_lists(ctx, ask, m));
    if (m->total == 0) return MOTE_OK;
    uint32_t *const index = m->pairs.other_values;
    float *const distance2 = (float *)m->pairs.other_keys;
    CUDA_LAUNCH(ctx, write_entries, cuda_blocks(m->total, BLOCK), BLOCK, ask->tree.metric, *m, m->pairs.values,
                m->total, index, distance2);
    MOTE_TRY(cuda_launched(ctx, "writing neighbours"));
    MOTE_TRY(cuda_download(ctx, lists->index, index, m->total * sizeof *index));
    return cuda_download(ctx, lists->distance2, distance2, m->total * sizeof *distance2);
}

static mote_status find_lists(mote_context *ctx, uint64_t rows, const knn_cuda_ask *ask, uint32_t *counts,
                              mote_knn_lists *lists, knn_cuda_lists *m) {
    MOTE_TRY(measure_lists(ctx, ask, m));
    if (counts != NULL) MOTE_TRY(cuda_download(ctx, counts, m->counts, rows * sizeof *counts));
    if (lists == NULL) return MOTE_OK;
    MOTE_TRY(cuda_download(ctx, lists->first, m->first, (rows + 1) * sizeof *lists->first));
    m->total = lists->first[rows];
    return fetch_lists(ctx, ask, m, lists);
}

mote_status knn_cuda_within(mote_knn_index *index, const mote_cloud *queries, double radius, bool exclude_self,
                            uint32_t *counts, mote_knn_lists *lists) {
    mote_context *ctx = index->ctx;
    knn_cuda_asked asked;
    knn_cuda_ask ask;
    knn_cuda_lists memory;
    memset(&ask, 0, sizeof ask);
    memset(&memory, 0, sizeof memory);
    mote_stage(ctx, "search");
    mote_status status = knn_cuda_open_asked(index, queries, &asked);
    if (status == MOTE_OK) {
        ask.tree = *asked.tree;
        ask.queries = asked.points;
        ask.end = asked.points.count;
        ask.own = asked.own;
        ask.exclude_self = exclude_self && asked.own;
        ask.limit = radius > 0 ? knn_key_limit(&ask.tree.metric, radius) : 0;
        status = find_lists(ctx, asked.rows, &ask, counts, lists, &memory);
    }
    knn_cuda_free_lists(ctx, &memory);
    knn_cuda_close_asked(ctx, &asked);
    if (status == MOTE_OK) status = knn_cuda_count_skipped(index);
    return status != MOTE_OK ? status : mote_progress(ctx, 1.0, "searching neighbours");
}
