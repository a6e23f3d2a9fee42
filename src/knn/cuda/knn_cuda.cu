/* Nearest neighbours on the GPU: the build, the searches, and rows for the host. */
#include "knn/cuda/knn_cuda.h"
#include "knn/knn_ops.h"

/* ---- the index */

static void cuda_release(mote_knn_index *index) {
    knn_cuda *const c = index->cuda;
    if (c == NULL) return;
    knn_cuda_point_set_free(index->device, &c->stored);
    knn_cuda_point_set_free(index->device, &c->other);
    knn_cuda_buffer_release(index->device, &c->curve.buffer);
    knn_cuda_buffer_release(index->device, &c->normals);
    knn_cuda_buffer_release(index->device, &c->deferred_buffers.counters);
    knn_cuda_buffer_release(index->device, &c->deferred_buffers.numbers);
    knn_cuda_buffer_release(index->device, &c->shifted);
    device_cloud_close(&c->cloud);
    mote_free(index->ctx, c);
    index->cuda = NULL;
}

static mote_status cuda_build(mote_knn_index *index) {
    mote_device *gpu = index->device;
    const uint64_t count = index->cloud->count;
    if (index->cuda == NULL) index->cuda = (knn_cuda *)mote_alloc_zero(gpu->ctx, sizeof *index->cuda, "knn index");
    knn_cuda *const c = index->cuda;
    if (c == NULL) return MOTE_ERROR_MEMORY;
    c->other_is_set = false;
    mote_stage(gpu->ctx, "bounds");
    MOTE_TRY(knn_cuda_open_positions(gpu, index->cloud, &c->cloud));
    MOTE_TRY(knn_cuda_choose(index, &c->cloud, &c->stored));
    MOTE_TRY(mote_progress(gpu->ctx, 0.1, "finding the bounds"));
    mote_stage(gpu->ctx, "codes");
    MOTE_TRY(knn_cuda_sort(gpu, count, NULL, &c->stored, &c->curve));
    MOTE_TRY(mote_progress(gpu->ctx, 0.7, "sorting"));
    mote_stage(gpu->ctx, "cells");
    MOTE_TRY(knn_cuda_gather(gpu, &c->curve, count, true, &c->stored));
    c->deferred_buffers.spare.memory = (uint8_t *)c->stored.arrays.memory + c->stored.used_bytes;
    c->deferred_buffers.spare.size_bytes = c->stored.arrays.size_bytes - c->stored.used_bytes;
    return mote_progress(gpu->ctx, 1.0, "building the cells");
}

/* ---- rows of a result */

#define ROW_ARRAYS 5

/* An array of the result: the caller's, and where the device writes it. */
typedef struct row_array {
    void *wanted, *written;
    uint64_t size_bytes;
} row_array;

static void list_arrays(const mote_knn_result *result, uint64_t rows, uint32_t k, row_array arrays[ROW_ARRAYS]) {
    const row_array all[ROW_ARRAYS] = {{result->index32, NULL, rows * k * sizeof *result->index32},
                                       {result->index64, NULL, rows * k * sizeof *result->index64},
                                       {result->distance2, NULL, rows * k * sizeof *result->distance2},
                                       {result->distance2_wide, NULL, rows * k * sizeof *result->distance2_wide},
                                       {result->count, NULL, rows * sizeof *result->count}};
    memcpy(arrays, all, sizeof all);
}

static mote_status make_arrays(mote_device *gpu, bool on_device, row_array arrays[ROW_ARRAYS]) {
    for (int i = 0; i < ROW_ARRAYS; i++) {
        row_array *a = &arrays[i];
        if (a->wanted == NULL) continue;
        a->written = on_device ? a->wanted : cuda_alloc(gpu, a->size_bytes, "knn rows");
        if (a->written == NULL) return MOTE_ERROR_MEMORY;
    }
    return MOTE_OK;
}

static mote_status fetch_arrays(mote_device *gpu, const row_array arrays[ROW_ARRAYS]) {
    for (int i = 0; i < ROW_ARRAYS; i++) {
        if (arrays[i].wanted == arrays[i].written) continue;
        MOTE_TRY(cuda_download(gpu, arrays[i].wanted, arrays[i].written, arrays[i].size_bytes));
    }
    return MOTE_OK;
}

static void free_arrays(mote_device *gpu, row_array arrays[ROW_ARRAYS]) {
    for (int i = 0; i < ROW_ARRAYS; i++) {
        if (arrays[i].wanted != arrays[i].written) cuda_free(gpu, arrays[i].written);
    }
}

/* ---- the search */

static knn_cuda_rows rows_of(const row_array arrays[ROW_ARRAYS]) {
    const knn_cuda_rows rows = {(uint32_t *)arrays[0].written, (int64_t *)arrays[1].written, (float *)arrays[2].written,
                                (double *)arrays[3].written, (uint32_t *)arrays[4].written};
    return rows;
}

static mote_status launch_search(mote_knn_index *index, const mote_cloud *queries, const knn_cuda_query_set *query_set,
                                 const mote_knn_params *params, const knn_cuda_rows *rows) {
    mote_device *gpu = index->device;
    knn_search_args args;
    memset(&args, 0, sizeof args);
    args.tree = *query_set->tree;
    args.queries = query_set->points;
    args.end = query_set->points.count;
    args.own = query_set->own;
    args.exclude_self = params->exclude_self && (query_set->own || query_set->self != NULL);
    args.self = query_set->self;
    args.k = params->k;
    args.keys = args.tree.metric;
    args.limit = knn_key_limit(&args.tree.metric, params->radius);
    args.rows = *rows;
    args.deferred_buffers = &index->cuda->deferred_buffers;
    if (params->compression > 1) MOTE_TRY(knn_cuda_normal_weight(index, queries, query_set, params, &args));
    if (params->method == MOTE_KNN_SHIFTED) return knn_cuda_search_shifted(index, query_set, params, &args);
    if (params->method == MOTE_KNN_BRUTE) return knn_cuda_search_all(gpu, &args);
    const bool is_large = args.normals != NULL || args.k > KNN_CUDA_SMALL_K;
    return (is_large ? knn_cuda_search_large_k : knn_cuda_search_small_k)(gpu, &args);
}

static mote_status search_query_set(mote_knn_index *index, const mote_cloud *queries,
                                    const knn_cuda_query_set *query_set, const mote_knn_params *params,
                                    mote_knn_result *result) {
    mote_device *gpu = index->device;
    row_array arrays[ROW_ARRAYS];
    list_arrays(result, query_set->rows, params->k, arrays);
    mote_status status = make_arrays(gpu, result->on_device, arrays);
    const knn_cuda_rows rows = rows_of(arrays);
    mote_stage(gpu->ctx, "search");
    if (status == MOTE_OK && query_set->rows > 0) { status = launch_search(index, queries, query_set, params, &rows); }
    if (!result->on_device) mote_stage(gpu->ctx, "download");
    if (status == MOTE_OK && !result->on_device) status = fetch_arrays(gpu, arrays);
    if (status == MOTE_OK && !result->on_device) status = knn_cuda_count_skipped(index);
    free_arrays(gpu, arrays);
    return status;
}

static mote_status cuda_search_part(mote_knn_index *index, uint64_t first, uint64_t count,
                                    const mote_knn_params *params, mote_knn_result *result) {
    knn_cuda_query_set query_set;
    mote_stage(index->ctx, "queries");
    mote_status status = knn_cuda_query_set_open_part(index, first, count, &query_set);
    if (status == MOTE_OK) status = search_query_set(index, NULL, &query_set, params, result);
    knn_cuda_query_set_close(index->device, &query_set);
    return status != MOTE_OK ? status : mote_progress(index->ctx, 1.0, "searching neighbours");
}

static mote_status cuda_search(mote_knn_index *index, const mote_cloud *queries, const mote_knn_params *params,
                               mote_knn_result *result) {
    knn_cuda_query_set query_set;
    mote_stage(index->ctx, "queries");
    mote_status status = knn_cuda_query_set_open(index, queries, &query_set);
    if (status == MOTE_OK) status = search_query_set(index, queries, &query_set, params, result);
    knn_cuda_query_set_close(index->device, &query_set);
    return status != MOTE_OK ? status : mote_progress(index->ctx, 1.0, "searching neighbours");
}

const mote_knn_ops mote_knn_on_cuda = {cuda_build, cuda_search, cuda_search_part, knn_cuda_within, cuda_release};
