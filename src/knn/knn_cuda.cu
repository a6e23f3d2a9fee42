/* Nearest neighbours on the GPU: the index and its queries; rows for the host. */
#include <math.h>

#include "backend/cuda_kernel.h"
#include "core/cloud.h"
#include "knn/knn_cuda.h"
#include "order/order_cuda.h"

bool knn_cuda_make_room(mote_context *ctx, knn_cuda_room *room, uint64_t size_bytes, const char *structure) {
    if (room->memory != NULL && room->size_bytes >= size_bytes) return true;
    knn_cuda_drop_room(ctx, room);
    room->memory = cuda_alloc(ctx, size_bytes, structure);
    room->size_bytes = room->memory != NULL ? size_bytes : 0;
    return room->memory != NULL;
}

void knn_cuda_drop_room(mote_context *ctx, knn_cuda_room *room) {
    cuda_free(ctx, room->memory);
    memset(room, 0, sizeof *room);
}

void knn_cuda_free_made(mote_context *ctx, knn_cuda_made *made) {
    knn_cuda_drop_room(ctx, &made->views);
    knn_cuda_drop_room(ctx, &made->exact);
    knn_cuda_drop_room(ctx, &made->order);
    knn_cuda_drop_room(ctx, &made->boxes);
    knn_cuda_drop_room(ctx, &made->parts);
}

void knn_cuda_free_curve(mote_context *ctx, knn_cuda_curve *curve) {
    for (int i = 0; i < 3; i++) knn_cuda_drop_room(ctx, &curve->all[i]);
}

/* ---- positions */

/* x, y and z of a cloud, uploaded if they are on the host. device is zero, or was opened for the cloud before; it is
   valid to close in any case. */
static mote_status open_positions(mote_context *ctx, const mote_cloud *cloud, cuda_cloud *device) {
    static const char *const names[3] = {"x", "y", "z"};
    mote_column axes[3];
    mote_cloud view = *cloud;
    for (int k = 0; k < 3; k++) {
        const mote_column *axis = mote_cloud_find(cloud, names[k]);
        if (axis == NULL) return mote_fail(ctx, MOTE_ERROR_ARGUMENT, "the cloud has no column %s", names[k]);
        axes[k] = *axis;
    }
    if (cloud->on_device && device->column_count == 3) { /* nothing is allocated when an index is made anew */
        memcpy(device->columns, axes, sizeof axes);
        return MOTE_OK;
    }
    cuda_cloud_close(device);
    view.columns = axes;
    view.column_count = 3;
    return cuda_cloud_open(ctx, &view, device);
}

static void axes_of(const cuda_cloud *cloud, const mote_column *axes[3]) {
    for (int k = 0; k < 3; k++) axes[k] = &cloud->columns[k];
}

/* ---- what a cloud's positions are */

static bool all_of(const mote_column *const axes[3], mote_type type) {
    for (int k = 0; k < 3; k++) {
        if (axes[k]->type != type || axes[k]->bit_count != 0) return false;
    }
    return true;
}

static bool are_aligned(const mote_column *const axes[3]) {
    for (int k = 0; k < 3; k++) {
        if ((uintptr_t)axes[k]->data % 4 != 0 || axes[k]->stride_bytes % 4 != 0) return false;
    }
    return true;
}

/* Floats as they are: finite in the world where they are finite. */
static bool are_floats(const mote_column *const axes[3]) {
    if (!all_of(axes, MOTE_FLOAT32)) return false;
    for (int k = 0; k < 3; k++) {
        if (axes[k]->scale != 1 || !(fabs(axes[k]->offset) < 1e300)) return false;
    }
    return true;
}

static bool are_of_one_scale(const mote_column *const axes[3]) {
    for (int k = 0; k < 3; k++) {
        if (mote_type_is_float(axes[k]->type) || axes[k]->scale != axes[0]->scale) return false;
    }
    return axes[0]->scale != 0 && isfinite(axes[0]->scale);
}

/* 32-bit integers that are finite in the world, whatever they are. */
static bool are_plain_integers(const mote_column *const axes[3]) {
    if (!all_of(axes, MOTE_INT32) || !are_aligned(axes)) return false;
    for (int k = 0; k < 3; k++) {
        if (!(fabs(axes[k]->scale) < 1e200 && fabs(axes[k]->offset) < 1e200)) return false;
    }
    return true;
}

/* The least and largest integer of finite points. */
static mote_status integer_bounds(mote_knn_index *index, const cuda_cloud *cloud, const mote_lattice *lattice,
                                  int64_t low[3], int64_t high[3]) {
    const mote_column *axes[3];
    axes_of(cloud, axes);
    if (!lattice->integer) return knn_cuda_integer_bounds(index->ctx, axes, cloud->count, low, high);
    for (int k = 0; k < 3; k++) {
        low[k] = lattice->source_min[k];
        high[k] = low[k] + (int64_t)lattice->extent[k];
    }
    return MOTE_OK;
}

/* Whether positions are steps of one scale, less than 2^31 apart, as on the CPU; then what counts as step 0. */
static mote_status find_steps(mote_knn_index *index, const cuda_cloud *cloud, bool *are_steps) {
    const mote_column *axes[3];
    int64_t low[3], high[3];
    axes_of(cloud, axes);
    *are_steps = false;
    if (!are_of_one_scale(axes) || cloud->count == index->skipped) return MOTE_OK;
    if (index->lattice.integer && !index->lattice.exact) return MOTE_OK;
    MOTE_TRY(integer_bounds(index, cloud, &index->lattice, low, high));
    for (int k = 0; k < 3; k++) {
        index->origin[k] = low[k];
        index->span[k] = (uint64_t)high[k] - (uint64_t)low[k];
        if (index->span[k] >= 1ull << 31) return MOTE_OK;
    }
    *are_steps = true;
    return MOTE_OK;
}

/* A power of two that brings a world span to about 2^20. */
static double norm_of(const mote_lattice *lattice) {
    double span = 0;
    int exponent = 20;
    for (int k = 0; k < 3; k++) span = fmax(span, (double)lattice->extent[k] * lattice->scale[k]);
    if (span > 0) frexp(span, &exponent);
    return ldexp(1, 20 - (exponent < -960 ? -960 : exponent));
}

static void read_doubles(const mote_knn_index *index, bool world, knn_cuda_made *made) {
    const mote_lattice *lattice = &index->lattice;
    knn_cuda_reading *r = &made->reading;
    knn_metric *metric = &made->tree.metric;
    metric->kind = r->kind = KNN_DOUBLE;
    metric->norm = norm_of(lattice);
    r->world = world;
    r->plain = false;
    for (int k = 0; k < 3; k++) {
        const mote_column *axis = &r->axes[k];
        const double middle =
            ((double)lattice->min[k] + (double)lattice->extent[k] / 2) * lattice->scale[k] + lattice->offset[k];
        const double stored = (middle - axis->offset) / axis->scale;
        metric->scale[k] = world ? 1 : axis->scale;
        r->center[k] = world ? middle : isfinite(stored) ? stored : 0;
        r->unit[k] = metric->scale[k] * metric->norm;
    }
}

static void read_steps(const mote_knn_index *index, bool plain, knn_cuda_made *made) {
    knn_cuda_reading *r = &made->reading;
    made->tree.metric.kind = r->kind = KNN_INT;
    made->tree.metric.norm = 1;
    r->plain = plain;
    for (int k = 0; k < 3; k++) {
        made->tree.metric.scale[k] = r->axes[k].scale;
        r->origin[k] = index->origin[k];
        r->middle[k] = index->origin[k] + (int64_t)(index->span[k] / 2);
    }
}

static void read_floats(bool plain, knn_cuda_made *made) {
    made->tree.metric.kind = made->reading.kind = KNN_FLOAT;
    made->tree.metric.norm = 1;
    for (int k = 0; k < 3; k++) made->tree.metric.scale[k] = 1;
    made->reading.plain = plain;
}

mote_status knn_cuda_choose(mote_knn_index *index, const cuda_cloud *cloud, knn_cuda_made *made) {
    const mote_column *axes[3];
    bool steps = false;
    axes_of(cloud, axes);
    memset(&made->reading, 0, sizeof made->reading);
    for (int k = 0; k < 3; k++) made->reading.axes[k] = *axes[k];
    index->skipped = 0;
    if (are_floats(axes)) {
        read_floats(are_aligned(axes), made);
        return MOTE_OK;
    }
    MOTE_TRY(order_cuda_lattice(cloud, &index->lattice, &index->skipped));
    MOTE_TRY(find_steps(index, cloud, &steps));
    if (steps) {
        read_steps(index, are_plain_integers(axes), made);
    } else {
        read_doubles(index, false, made);
    }
    return MOTE_OK;
}

/* ---- the index */

static void cuda_release(mote_knn_index *index) {
    knn_cuda *const c = index->cuda;
    if (c == NULL) return;
    knn_cuda_free_made(index->ctx, &c->stored);
    knn_cuda_free_made(index->ctx, &c->other);
    knn_cuda_free_curve(index->ctx, &c->curve);
    knn_cuda_drop_room(index->ctx, &c->normals);
    knn_cuda_drop_room(index->ctx, &c->later.room);
    for (uint32_t i = 0; i < KNN_SHIFTED_ROOMS; i++) knn_cuda_drop_room(index->ctx, &c->shifted[i]);
    cuda_cloud_close(&c->cloud);
    mote_free(index->ctx, c);
    index->cuda = NULL;
}

static mote_status cuda_build(mote_knn_index *index) {
    mote_context *ctx = index->ctx;
    const uint64_t count = index->cloud->count;
    if (index->cuda == NULL) index->cuda = (knn_cuda *)mote_alloc_zero(ctx, sizeof *index->cuda, "knn index");
    knn_cuda *const c = index->cuda;
    if (c == NULL) return MOTE_ERROR_MEMORY;
    c->other_is_made = false;
    mote_stage(ctx, "bounds");
    MOTE_TRY(open_positions(ctx, index->cloud, &c->cloud));
    MOTE_TRY(knn_cuda_choose(index, &c->cloud, &c->stored));
    MOTE_TRY(mote_progress(ctx, 0.1, "finding the bounds"));
    mote_stage(ctx, "codes");
    MOTE_TRY(knn_cuda_sort(ctx, count, NULL, &c->stored, &c->curve));
    MOTE_TRY(mote_progress(ctx, 0.7, "sorting"));
    mote_stage(ctx, "cells");
    MOTE_TRY(knn_cuda_gather(ctx, &c->curve, count, true, &c->stored));
    return mote_progress(ctx, 1.0, "building the cells");
}

/* Doubles of the points in the same order, for queries that are not of the points' kind. */
static mote_status make_other(mote_knn_index *index, bool world) {
    knn_cuda *const c = index->cuda;
    const uint64_t count = index->cloud->count;
    if (c->other_is_made && c->other.reading.world == world) return MOTE_OK;
    c->other_is_made = false;
    if (c->stored.reading.kind == KNN_FLOAT) {
        MOTE_TRY(order_cuda_lattice(&c->cloud, &index->lattice, &index->skipped));
    }
    memset(&c->other.reading, 0, sizeof c->other.reading);
    memcpy(c->other.reading.axes, c->stored.reading.axes, sizeof c->other.reading.axes);
    read_doubles(index, world, &c->other);
    MOTE_TRY(knn_cuda_measure(index->ctx, count, &c->other));
    MOTE_TRY(knn_cuda_gather(index->ctx, &c->curve, count, true, &c->other));
    c->other_is_made = true;
    return MOTE_OK;
}

/* ---- queries */

static bool same_columns(const mote_column *a, const mote_column *b) {
    for (int k = 0; k < 3; k++) {
        if (a[k].type != b[k].type || a[k].scale != b[k].scale || a[k].offset != b[k].offset) return false;
        if (a[k].bit_count != b[k].bit_count || a[k].bit_shift != b[k].bit_shift) return false;
    }
    return true;
}

/* Whether queries like the points can be asked of their tree: steps must be less than 2^31 apart. */
static mote_status fits_stored(mote_knn_index *index, const cuda_cloud *cloud, bool *fits) {
    int64_t low[3], high[3];
    mote_lattice lattice;
    uint64_t skipped = 0;
    *fits = true;
    if (index->cuda->stored.reading.kind != KNN_INT || cloud->count == 0) return MOTE_OK;
    MOTE_TRY(order_cuda_lattice(cloud, &lattice, &skipped));
    if (skipped == cloud->count) return MOTE_OK;
    *fits = !lattice.integer || lattice.exact;
    if (!*fits) return MOTE_OK;
    MOTE_TRY(integer_bounds(index, cloud, &lattice, low, high));
    for (int k = 0; k < 3; k++) {
        const int64_t first = index->origin[k], last = first + (int64_t)index->span[k];
        const int64_t least = low[k] < first ? low[k] : first, most = high[k] > last ? high[k] : last;
        if ((uint64_t)most - (uint64_t)least >= 1ull << 31) *fits = false;
    }
    return MOTE_OK;
}

static bool is_plain_world(const knn_cuda_reading *r) {
    bool plain = r->kind == KNN_DOUBLE;
    for (int k = 0; k < 3; k++) plain = plain && r->axes[k].scale == 1 && r->axes[k].offset == 0;
    return plain;
}

static mote_status choose_tree(mote_knn_index *index, knn_cuda_asked *asked) {
    knn_cuda *const c = index->cuda;
    const bool world = !same_columns(asked->cloud.columns, c->cloud.columns);
    const knn_cuda_made *made = &c->stored;
    bool fits = is_plain_world(&c->stored.reading);
    if (!world) MOTE_TRY(fits_stored(index, &asked->cloud, &fits));
    if (!fits) {
        MOTE_TRY(make_other(index, world));
        made = &c->other;
    }
    const mote_column *axes[3];
    axes_of(&asked->cloud, axes);
    asked->tree = &made->tree;
    asked->made.reading = made->reading;
    asked->made.reading.world = made->reading.kind == KNN_DOUBLE && world;
    asked->made.reading.plain = made->reading.kind == KNN_INT ? are_plain_integers(axes) : are_aligned(axes);
    for (int k = 0; k < 3; k++) asked->made.reading.axes[k] = *axes[k];
    return MOTE_OK;
}

static mote_status sort_queries(mote_knn_index *index, const mote_cloud *queries, knn_cuda_asked *asked) {
    mote_context *ctx = index->ctx;
    asked->rows = queries->count;
    MOTE_TRY(open_positions(ctx, queries, &asked->cloud));
    MOTE_TRY(choose_tree(index, asked));
    MOTE_TRY(knn_cuda_sort(ctx, asked->rows, asked->tree->points.extent, &asked->made, &asked->curve));
    MOTE_TRY(knn_cuda_gather(ctx, &asked->curve, asked->rows, false, &asked->made));
    asked->points = asked->made.tree.points;
    return MOTE_OK;
}

mote_status knn_cuda_open_asked(mote_knn_index *index, const mote_cloud *queries, knn_cuda_asked *asked) {
    memset(asked, 0, sizeof *asked);
    if (queries != NULL) return sort_queries(index, queries, asked);
    asked->own = true;
    asked->tree = &index->cuda->stored.tree;
    asked->points = asked->tree->points;
    asked->rows = index->cloud->count;
    return MOTE_OK;
}

void knn_cuda_close_asked(mote_context *ctx, knn_cuda_asked *asked) {
    knn_cuda_free_made(ctx, &asked->made);
    knn_cuda_free_curve(ctx, &asked->curve);
    cuda_cloud_close(&asked->cloud);
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

static mote_status make_arrays(mote_context *ctx, bool on_device, row_array arrays[ROW_ARRAYS]) {
    for (int i = 0; i < ROW_ARRAYS; i++) {
        row_array *a = &arrays[i];
        if (a->wanted == NULL) continue;
        a->written = on_device ? a->wanted : cuda_alloc(ctx, a->size_bytes, "knn rows");
        if (a->written == NULL) return MOTE_ERROR_MEMORY;
    }
    return MOTE_OK;
}

static mote_status fetch_arrays(mote_context *ctx, const row_array arrays[ROW_ARRAYS]) {
    for (int i = 0; i < ROW_ARRAYS; i++) {
        if (arrays[i].wanted == arrays[i].written) continue;
        MOTE_TRY(cuda_download(ctx, arrays[i].wanted, arrays[i].written, arrays[i].size_bytes));
    }
    return MOTE_OK;
}

static void free_arrays(mote_context *ctx, row_array arrays[ROW_ARRAYS]) {
    for (int i = 0; i < ROW_ARRAYS; i++) {
        if (arrays[i].wanted != arrays[i].written) cuda_free(ctx, arrays[i].written);
    }
}

/* ---- the search */

static knn_cuda_rows rows_of(const row_array arrays[ROW_ARRAYS]) {
    const knn_cuda_rows rows = {(uint32_t *)arrays[0].written, (int64_t *)arrays[1].written, (float *)arrays[2].written,
                                (double *)arrays[3].written, (uint32_t *)arrays[4].written};
    return rows;
}

static mote_status launch_search(mote_knn_index *index, const mote_cloud *queries, const knn_cuda_asked *asked,
                                 const mote_knn_params *params, const knn_cuda_rows *rows) {
    mote_context *ctx = index->ctx;
    knn_cuda_ask ask;
    memset(&ask, 0, sizeof ask);
    ask.tree = *asked->tree;
    ask.queries = asked->points;
    ask.end = asked->points.count;
    ask.own = asked->own;
    ask.exclude_self = params->exclude_self && asked->own;
    ask.all = params->method == MOTE_KNN_BRUTE;
    ask.k = params->k;
    ask.keys = ask.tree.metric;
    ask.limit = knn_key_limit(&ask.tree.metric, params->radius);
    ask.rows = *rows;
    if (params->compression > 1) MOTE_TRY(knn_cuda_squeeze(index, queries, asked, params, &ask));
    if (ask.all) return knn_cuda_search_all(ctx, &ask);
    if (ask.normals != NULL || ask.k > KNN_CUDA_FEW) return knn_cuda_search_many(ctx, &ask);
    return knn_cuda_search_few(ctx, &ask, &index->cuda->later);
}

mote_status knn_cuda_count_skipped(mote_knn_index *index) {
    knn_cuda_extent extent;
    const knn_cuda_tree *tree = &index->cuda->stored.tree;
    MOTE_TRY(cuda_download(index->ctx, &extent, tree->points.extent, sizeof extent));
    index->skipped = tree->points.count - extent.finite;
    return MOTE_OK;
}

static mote_status search_by(mote_knn_index *index, const mote_cloud *queries, const knn_cuda_asked *asked,
                             const mote_knn_params *params, const knn_cuda_rows *rows) {
    if (asked->rows == 0) return MOTE_OK;
    if (params->method == MOTE_KNN_SHIFTED) return knn_cuda_search_shifted(index, queries, asked, params, rows);
    return launch_search(index, queries, asked, params, rows);
}

static mote_status search_asked(mote_knn_index *index, const mote_cloud *queries, const knn_cuda_asked *asked,
                                const mote_knn_params *params, mote_knn_result *result) {
    mote_context *ctx = index->ctx;
    row_array arrays[ROW_ARRAYS];
    list_arrays(result, asked->rows, params->k, arrays);
    mote_status status = make_arrays(ctx, result->on_device, arrays);
    const knn_cuda_rows rows = rows_of(arrays);
    if (status == MOTE_OK) status = search_by(index, queries, asked, params, &rows);
    if (status == MOTE_OK && !result->on_device) status = fetch_arrays(ctx, arrays);
    if (status == MOTE_OK && !result->on_device) status = knn_cuda_count_skipped(index);
    free_arrays(ctx, arrays);
    return status;
}

static mote_status cuda_search(mote_knn_index *index, const mote_cloud *queries, const mote_knn_params *params,
                               mote_knn_result *result) {
    knn_cuda_asked asked;
    mote_stage(index->ctx, "search");
    mote_status status = knn_cuda_open_asked(index, queries, &asked);
    if (status == MOTE_OK) status = search_asked(index, queries, &asked, params, result);
    knn_cuda_close_asked(index->ctx, &asked);
    return status != MOTE_OK ? status : mote_progress(index->ctx, 1.0, "searching neighbours");
}

const mote_knn_ops mote_knn_on_cuda = {cuda_build, cuda_search, knn_cuda_within, cuda_release};
