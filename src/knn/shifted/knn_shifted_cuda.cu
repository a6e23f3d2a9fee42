/* Shifted sorting on the device: what a search needs, and its steps.
   Without buckets all queries are asked in the cube itself. With buckets they are put in groups, one for each space and
   one for spheres; each group has orders of its own, made one after the other in the same memory. */
#include <float.h>
#include <math.h>

#include "device/cuda/cuda_primitives.h"
#include "knn/search/knn_normals.h"
#include "knn/shifted/knn_shifted_orders_cuda.cuh"

/* ---- queries */

static __global__ void make_normals(shifted_axes from, const uint32_t *order, uint64_t count, double *normals) {
    const uint64_t place = thread_first();
    if (place >= count) return;
    const uint64_t i = order[place];
    double unit[3];
    knn_unit_normal(column_value(&from.axes[0], i), column_value(&from.axes[1], i), column_value(&from.axes[2], i),
                    unit);
    for (uint32_t k = 0; k < 3; k++) normals[3 * place + k] = unit[k];
}

/* The groups of queries; those that are not finite are with the spheres. */
static __global__ void find_groups(const double *normals, const knn_cuda_extent *queries, uint64_t count,
                                   uint32_t *groups, uint32_t *places, uint32_t *counts) {
    __shared__ uint32_t of_block[SHIFTED_GROUPS];
    const uint64_t place = thread_first();
    if (threadIdx.x < SHIFTED_GROUPS) of_block[threadIdx.x] = 0;
    __syncthreads();
    if (place < count) {
        const double normal[3] = {normals[3 * place], normals[3 * place + 1], normals[3 * place + 2]};
        const uint32_t group = place < queries->finite ? knn_space_of(normal) : KNN_PLAIN;
        groups[place] = group;
        places[place] = (uint32_t)place;
        atomicAdd(&of_block[group], 1u);
    }
    __syncthreads();
    if (threadIdx.x < SHIFTED_GROUPS && of_block[threadIdx.x] > 0)
        atomicAdd(&counts[threadIdx.x], of_block[threadIdx.x]);
}

/* ---- the steps */

static bool reserve(shifted_search *s, uint32_t buffer, uint64_t count, uint64_t each, const char *structure) {
    return knn_cuda_buffer_reserve(s->gpu, &s->rooms[buffer], count * each, structure);
}

static bool reserve_buffers(shifted_search *s) {
    const uint64_t n = s->points, q = s->queries;
    const bool own = s->query_set->own;
    return reserve(s, BUFFER_SMALL, 1, sizeof(shifted_small), "bounds") &&
           reserve(s, BUFFER_CELLS, n, sizeof(uint64_t), "shifted cells") &&
           (own || reserve(s, BUFFER_QUERY_CELLS, q, sizeof(uint64_t), "shifted cells")) &&
           reserve(s, BUFFER_CODES, n, sizeof(uint64_t), "codes") &&
           reserve(s, BUFFER_OTHER_CODES, n, sizeof(uint64_t), "sort codes") &&
           reserve(s, BUFFER_ORDER, n, sizeof(uint32_t), "order") &&
           reserve(s, BUFFER_OTHER_ORDER, n, sizeof(uint32_t), "sort indices") &&
           reserve(s, BUFFER_CURVE, n, sizeof(uint32_t), "order") &&
           reserve(s, BUFFER_NEAR, n, KNN_SHIFTS * sizeof(uint4), "shifted orders") &&
           reserve(s, BUFFER_PLACES, n, (KNN_SHIFTS - 1) * sizeof(uint32_t), "shifted orders") &&
           reserve(s, BUFFER_BEFORE, n, sizeof(uint32_t) + sizeof(uint2) + sizeof(uint4), "shifted orders") &&
           reserve(s, BUFFER_QUERY_PLACES, q, sizeof(uint4), "shifted queries") &&
           (!s->ellipsoidal || reserve(s, BUFFER_NORMALS, q, 3 * sizeof(double), "normals")) &&
           reserve(s, BUFFER_GROUPS, q, (s->buckets ? 4 : 1) * sizeof(uint32_t), "shifted queries");
}

/* Unit normals of the queries by their places. */
static mote_status find_normals(shifted_search *s, const mote_cloud *cloud) {
    const mote_column *columns[3];
    mote_column axes[3];
    device_cloud device;
    mote_cloud view = *cloud;
    memset(&device, 0, sizeof device);
    if (!knn_find_normals(cloud, columns))
        return mote_fail(s->gpu->ctx, MOTE_ERROR_ARGUMENT, "ellipsoids need normals");
    for (int k = 0; k < 3; k++) axes[k] = *columns[k];
    view.columns = axes;
    view.column_count = 3;
    mote_status status = device_cloud_open(s->gpu, &view, &device);
    if (status == MOTE_OK) {
        order_reading reading;
        const shifted_axes from = knn_shifted_axes(&device, &reading);
        double *const normals = (double *)s->rooms[BUFFER_NORMALS].memory;
        CUDA_LAUNCH(s->gpu, make_normals, cuda_blocks(s->queries, SHIFTED_THREADS), SHIFTED_THREADS, from,
                    s->query_set->points.order, s->queries, normals);
        s->args.normals = normals;
        status = cuda_launched(s->gpu, "normals");
    }
    device_cloud_close(&device);
    return status;
}

static mote_status group_queries(shifted_search *s) {
    uint32_t *const memory = (uint32_t *)s->rooms[BUFFER_GROUPS].memory;
    const uint64_t q = s->queries;
    memset(s->counts, 0, sizeof s->counts);
    s->counts[KNN_PLAIN] = (uint32_t)q;
    if (!s->buckets) return MOTE_OK;
    cuda_pairs32 pairs = {memory, memory + q, memory + 2 * q, memory + 3 * q};
    MOTE_TRY(cuda_fill(s->gpu, s->small->counts, 0, sizeof s->small->counts));
    CUDA_LAUNCH(s->gpu, find_groups, cuda_blocks(q, SHIFTED_THREADS), SHIFTED_THREADS, s->args.normals,
                s->query_set->points.extent, q, pairs.keys, pairs.values, s->small->counts);
    MOTE_TRY(cuda_launched(s->gpu, "groups"));
    MOTE_TRY(cuda_sort32(s->gpu, &pairs, q, 0, 4));
    s->grouped = pairs.values;
    s->args.hard.list = pairs.keys; /* no longer needed */
    return cuda_download(s->gpu, s->counts, s->small->counts, sizeof s->counts);
}

static mote_status search_group(shifted_search *s, uint32_t group, uint32_t first) {
    s->args.list = s->grouped != NULL ? s->grouped + first : NULL;
    s->args.query_count = s->counts[group];
    MOTE_TRY(knn_shifted_make_orders(s, group));
    if (!s->small_k) return knn_shifted_search_large_k(s->gpu, &s->args, false);
    MOTE_TRY(cuda_fill(s->gpu, s->args.hard.count, 0, sizeof *s->args.hard.count));
    MOTE_TRY(knn_shifted_search_small_k(s->gpu, &s->args));
    return knn_shifted_search_large_k(s->gpu, &s->args, true);
}

static mote_status search_groups(shifted_search *s) {
    uint32_t first = 0;
    knn_shifted_find_curve(s);
    for (uint32_t group = 0; group < SHIFTED_GROUPS; group++) {
        if (s->counts[group] == 0) continue;
        MOTE_TRY(search_group(s, group, first));
        first += s->counts[group];
        MOTE_TRY(mote_progress(s->gpu->ctx, 0.9 * (group + 1) / SHIFTED_GROUPS, "searching neighbours"));
    }
    return MOTE_OK;
}

/* knn_shifted_traversal_cuda.cuh; limit: the largest key. */
static knn_shifted_bounds bounds_of(const knn_metric *metric, double compression, uint64_t limit) {
    const double c = compression, error = 0x1p-20 * c + 0x1p-42 * c * c + 0x1p-20, more = 1 + 0x1p-20;
    const knn_metric keys = c > 1 ? knn_metric_ellipsoid(metric) : *metric;
    const bool steps = keys.kind == KNN_INT;
    knn_shifted_bounds bounds;
    bounds.compression = (float)(c * more);
    bounds.along = (float)sqrt(c * c - 1);
    bounds.loose = (float)(1 + 2.5 * error);
    bounds.tiny = (float)(2 * c * c * FLT_MIN);
    bounds.vanished = (float)(keys.norm * 0x1p-500 * more);
    bounds.search_radius = (float)(knn_units(&keys, limit) * more) + bounds.vanished;
    bounds.farthest = error <= 0.1 ? (float)(steps ? (double)INFINITY : keys.norm * 0x1p499) : 0;
    return bounds;
}

static void begin(mote_knn_index *index, const knn_cuda_query_set *query_set, const mote_knn_params *params,
                  const knn_cuda_rows *rows, shifted_search *s) {
    const double c = params->compression;
    knn_shifted_args *const args = &s->args;
    memset(s, 0, sizeof *s);
    s->index = index;
    s->gpu = index->device;
    s->query_set = query_set;
    s->rooms = index->cuda->shifted;
    s->points = index->cloud->count;
    s->queries = query_set->rows;
    s->ellipsoidal = c > 1;
    s->buckets = params->buckets && s->ellipsoidal;
    s->stretch = c - 1;
    args->metric = query_set->tree->metric;
    args->points = query_set->tree->points;
    args->queries = query_set->points;
    args->normal_weight = c * c - 1;
    args->k = params->k;
    args->beside = params->lambda * params->k;
    args->limit = s->ellipsoidal ? knn_limit_ellipsoid(params->radius) : knn_key_limit(&args->metric, params->radius);
    args->bounds = bounds_of(&args->metric, c, args->limit);
    args->exclude_self = params->exclude_self && query_set->own;
    args->rows = *rows;
    s->small_k = args->k <= KNN_SHIFTED_SMALL_K && args->beside <= KNN_SHIFTED_NEAR;
}

mote_status knn_cuda_search_shifted(mote_knn_index *index, const mote_cloud *queries,
                                    const knn_cuda_query_set *query_set, const mote_knn_params *params,
                                    const knn_cuda_rows *rows) {
    shifted_search s;
    begin(index, query_set, params, rows, &s);
    if (!reserve_buffers(&s)) return MOTE_ERROR_MEMORY;
    s.small = (shifted_small *)s.rooms[BUFFER_SMALL].memory;
    s.args.insertion_places = (const uint4 *)s.rooms[BUFFER_QUERY_PLACES].memory;
    s.args.hard.count = &s.small->hard;
    s.args.hard.list = (uint32_t *)s.rooms[BUFFER_GROUPS].memory;
    MOTE_TRY(knn_shifted_find_cells(&s));
    if (s.ellipsoidal) MOTE_TRY(find_normals(&s, queries != NULL ? queries : index->cloud));
    MOTE_TRY(group_queries(&s));
    return search_groups(&s);
}
