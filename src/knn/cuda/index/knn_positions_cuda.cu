/* Positions on the GPU, of an index and of its queries: their columns, how these are read, and in which tree. */
#include <math.h>

#include "core/column_math.h"
#include "device/cuda/cuda_kernel.cuh"
#include "knn/cuda/knn_cuda.h"
#include "knn/knn_rules.h"
#include "order/order_cuda.h"

#define THREADS 256u

mote_status knn_cuda_open_positions(mote_device *gpu, const mote_cloud *cloud, device_cloud *device) {
    const mote_column *axes[3];
    MOTE_TRY(mote_cloud_positions(gpu->ctx, cloud, axes));
    if (cloud->device != NULL && device->column_count == 3) { /* nothing is allocated when an index is made anew */
        for (int k = 0; k < 3; k++) device->columns[k] = *axes[k];
        return MOTE_OK;
    }
    device_cloud_close(device);
    return device_cloud_open_positions(gpu, cloud, device);
}

static void axes_of(const device_cloud *cloud, const mote_column *axes[3]) {
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

/* 32-bit integers that are finite in the world, whatever they are. */
static bool are_plain_integers(const mote_column *const axes[3]) {
    if (!all_of(axes, MOTE_INT32) || !are_aligned(axes)) return false;
    for (int k = 0; k < 3; k++) {
        if (!(fabs(axes[k]->scale) < 1e200 && fabs(axes[k]->offset) < 1e200)) return false;
    }
    return true;
}

/* The least and largest integer of finite points. */
static mote_status integer_bounds(mote_knn_index *index, const device_cloud *cloud, const mote_lattice *lattice,
                                  int64_t low[3], int64_t high[3]) {
    const mote_column *axes[3];
    axes_of(cloud, axes);
    if (!lattice->integer) return knn_cuda_integer_bounds(index->device, axes, cloud->count, low, high);
    knn_integers_of(lattice, low, high);
    return MOTE_OK;
}

/* Whether positions are steps of one scale, less than 2^31 apart, as on the CPU; then what counts as step 0. */
static mote_status find_steps(mote_knn_index *index, const device_cloud *cloud, bool *are_steps) {
    const mote_column *axes[3];
    int64_t low[3], high[3];
    axes_of(cloud, axes);
    *are_steps = false;
    if (!knn_have_one_scale(axes) || cloud->count == index->skipped) return MOTE_OK;
    if (index->lattice.integer && !index->lattice.exact) return MOTE_OK;
    MOTE_TRY(integer_bounds(index, cloud, &index->lattice, low, high));
    *are_steps = knn_set_steps(index, low, high);
    return MOTE_OK;
}

/* Views are of what lies between positions and the middle of most points: near it they are as good as exact, wherever a
   few others are. */
static mote_status read_doubles(mote_knn_index *index, bool world, knn_cuda_point_set *point_set) {
    const mote_lattice *lattice = &index->lattice;
    knn_cuda_outlook outlook;
    double low[3];
    knn_cuda_reading *r = &point_set->reading;
    knn_metric *metric = &point_set->tree.metric;
    metric->kind = r->kind = KNN_DOUBLE;
    metric->norm = knn_norm_of(knn_world_span(lattice));
    r->world = world;
    r->plain = false;
    for (int k = 0; k < 3; k++) {
        const mote_column *axis = &r->axes[k];
        const double least = (double)lattice->min[k] * lattice->scale[k] + lattice->offset[k];
        const double stored = (least - axis->offset) / axis->scale;
        metric->scale[k] = world ? 1 : axis->scale;
        low[k] = world ? least : isfinite(stored) ? stored : 0;
        r->unit[k] = metric->scale[k] * metric->norm;
    }
    MOTE_TRY(knn_cuda_look(index->device, index->cloud->count, point_set, &outlook));
    for (int k = 0; k < 3; k++) r->center[k] = outlook.finite > 0 ? outlook.middle[k] : low[k];
    return MOTE_OK;
}

#define EXACT_SPAN (1ull << 24) /* steps: a float tells all of them from each other */

static mote_status read_steps(const mote_knn_index *index, bool plain, knn_cuda_point_set *point_set) {
    knn_cuda_reading *r = &point_set->reading;
    knn_cuda_outlook outlook;
    uint64_t span = 0;
    point_set->tree.metric.kind = r->kind = KNN_INT;
    point_set->tree.metric.norm = 1;
    r->plain = plain;
    for (int k = 0; k < 3; k++) {
        point_set->tree.metric.scale[k] = r->axes[k].scale;
        r->origin[k] = index->origin[k];
        r->middle[k] = index->origin[k] + (int64_t)(index->span[k] / 2);
        span = index->span[k] > span ? index->span[k] : span;
    }
    MOTE_TRY(knn_cuda_look(index->device, index->cloud->count, point_set, &outlook));
    for (int k = 0; k < 3 && span > EXACT_SPAN && outlook.finite > 0; k++) {
        r->middle[k] = index->origin[k] + (int64_t)outlook.middle[k];
    }
    return MOTE_OK;
}

static void read_floats(bool plain, knn_cuda_point_set *point_set) {
    point_set->tree.metric.kind = point_set->reading.kind = KNN_FLOAT;
    point_set->tree.metric.norm = 1;
    for (int k = 0; k < 3; k++) point_set->tree.metric.scale[k] = 1;
    point_set->reading.plain = plain;
}

mote_status knn_cuda_choose(mote_knn_index *index, const device_cloud *cloud, knn_cuda_point_set *point_set) {
    const mote_column *axes[3];
    bool steps = false;
    axes_of(cloud, axes);
    memset(&point_set->reading, 0, sizeof point_set->reading);
    for (int k = 0; k < 3; k++) point_set->reading.axes[k] = *axes[k];
    index->skipped = 0;
    if (are_floats(axes)) {
        read_floats(are_aligned(axes), point_set);
        return MOTE_OK;
    }
    MOTE_TRY(order_cuda_lattice(cloud, &index->lattice, &index->skipped));
    MOTE_TRY(find_steps(index, cloud, &steps));
    return steps ? read_steps(index, are_plain_integers(axes), point_set) : read_doubles(index, false, point_set);
}

/* ---- the index */

mote_status knn_cuda_count_skipped(mote_knn_index *index) {
    knn_cuda_extent extent;
    const knn_cuda_tree *tree = &index->cuda->stored.tree;
    MOTE_TRY(cuda_download(index->device, &extent, tree->points.extent, sizeof extent));
    index->skipped = tree->points.count - extent.finite;
    return MOTE_OK;
}

/* Doubles of the points in the same order, for queries that are not of the points' kind. */
static mote_status make_other(mote_knn_index *index, bool world) {
    knn_cuda *const c = index->cuda;
    const uint64_t count = index->cloud->count;
    if (c->other_is_set && c->other.reading.world == world) return MOTE_OK;
    c->other_is_set = false;
    if (c->stored.reading.kind == KNN_FLOAT) {
        MOTE_TRY(order_cuda_lattice(&c->cloud, &index->lattice, &index->skipped));
    }
    memset(&c->other.reading, 0, sizeof c->other.reading);
    memcpy(c->other.reading.axes, c->stored.reading.axes, sizeof c->other.reading.axes);
    MOTE_TRY(read_doubles(index, world, &c->other));
    c->other.tree.points.deep = c->stored.tree.points.deep;
    MOTE_TRY(knn_cuda_measure(index->device, count, &c->other));
    MOTE_TRY(knn_cuda_gather(index->device, &c->curve, count, true, &c->other));
    c->other_is_set = true;
    return MOTE_OK;
}

/* ---- queries */

/* Whether queries like the points can be asked of their tree: steps must be less than 2^31 apart. */
static mote_status fits_stored(mote_knn_index *index, const device_cloud *cloud, bool *fits) {
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
    *fits = knn_are_near_steps(index, low, high);
    return MOTE_OK;
}

static bool is_plain_world(const knn_cuda_reading *r) {
    bool plain = r->kind == KNN_DOUBLE;
    for (int k = 0; k < 3; k++) plain = plain && r->axes[k].scale == 1 && r->axes[k].offset == 0;
    return plain;
}

static mote_status choose_tree(mote_knn_index *index, knn_cuda_query_set *query_set) {
    knn_cuda *const c = index->cuda;
    bool world = false;
    for (int k = 0; k < 3; k++) {
        world = world || !knn_is_same_axis(&query_set->cloud.columns[k], &c->cloud.columns[k]);
    }
    const knn_cuda_point_set *point_set = &c->stored;
    bool fits = is_plain_world(&c->stored.reading);
    if (!world) MOTE_TRY(fits_stored(index, &query_set->cloud, &fits));
    if (!fits) {
        MOTE_TRY(make_other(index, world));
        point_set = &c->other;
    }
    const mote_column *axes[3];
    axes_of(&query_set->cloud, axes);
    query_set->tree = &point_set->tree;
    query_set->point_set.reading = point_set->reading;
    query_set->point_set.tree.points.deep = point_set->tree.points.deep;
    query_set->point_set.reading.world = point_set->reading.kind == KNN_DOUBLE && world;
    query_set->point_set.reading.plain =
        point_set->reading.kind == KNN_INT ? are_plain_integers(axes) : are_aligned(axes);
    for (int k = 0; k < 3; k++) query_set->point_set.reading.axes[k] = *axes[k];
    return MOTE_OK;
}

/* In the order of the curve, by keys that are there. */
static mote_status gather_queries(mote_knn_index *index, knn_cuda_query_set *query_set) {
    MOTE_TRY(knn_cuda_gather(index->device, &query_set->curve, query_set->rows, false, &query_set->point_set));
    query_set->points = query_set->point_set.tree.points;
    return MOTE_OK;
}

static mote_status sort_queries(mote_knn_index *index, knn_cuda_query_set *query_set) {
    query_set->rows = query_set->cloud.count;
    MOTE_TRY(choose_tree(index, query_set));
    MOTE_TRY(knn_cuda_sort(index->device, query_set->rows, query_set->tree->points.extent, &query_set->point_set,
                           &query_set->curve));
    return gather_queries(index, query_set);
}

mote_status knn_cuda_query_set_open(mote_knn_index *index, const mote_cloud *queries, knn_cuda_query_set *query_set) {
    memset(query_set, 0, sizeof *query_set);
    if (queries != NULL) {
        MOTE_TRY(knn_cuda_open_positions(index->device, queries, &query_set->cloud));
        return sort_queries(index, query_set);
    }
    query_set->own = true;
    query_set->tree = &index->cuda->stored.tree;
    query_set->points = query_set->tree->points;
    query_set->rows = index->cloud->count;
    return MOTE_OK;
}

/* ---- some of the points as queries: in the order that the points have already */

static __global__ void mark_part(const uint32_t *order, uint32_t points, uint32_t first, uint32_t count,
                                 uint8_t *flags) {
    const uint64_t place = (uint64_t)blockIdx.x * THREADS + threadIdx.x;
    if (place < points) flags[place] = order[place] - first < count;
}

/* The key of a query is that of the point, by its number among the queries. */
static __global__ void take_keys(const uint64_t *keys, const uint32_t *places, uint32_t first, uint32_t count,
                                 uint64_t *taken) {
    const uint64_t query = (uint64_t)blockIdx.x * THREADS + threadIdx.x;
    if (query < count) taken[query] = keys[places[query]] - first; /* the number is in the lowest bits */
}

/* Finds where each query stands in the tree, and its key. first: the point that the first of them is */
static mote_status take_part(mote_knn_index *index, uint32_t first, knn_cuda_query_set *query_set) {
    mote_device *gpu = index->device;
    const knn_cuda_points *points = &query_set->tree->points;
    const uint32_t count = (uint32_t)query_set->rows;
    const uint64_t size_bytes = ((uint64_t)count / KNN_CUDA_NODE + 1) * KNN_CUDA_NODE * sizeof *query_set->self;
    knn_cuda_curve *curve = &query_set->curve;
    uint8_t *flags = (uint8_t *)cuda_alloc(gpu, points->count, "knn queries");
    uint64_t *found = (uint64_t *)cuda_alloc(gpu, sizeof *found, "knn queries");
    query_set->self = (uint32_t *)cuda_alloc(gpu, size_bytes, "knn queries");
    mote_status status = MOTE_ERROR_MEMORY;
    if (flags != NULL && found != NULL && query_set->self != NULL &&
        knn_cuda_buffer_reserve(gpu, &curve->buffer, count * sizeof *curve->keys, "knn queries")) {
        curve->keys = (uint64_t *)curve->buffer.memory;
        curve->cell_bits = points->cell_bits;
        curve->index_bits = points->index_bits;
        CUDA_LAUNCH(gpu, mark_part, cuda_blocks(points->count, THREADS), THREADS, points->order, points->count, first,
                    count, flags);
        status = cuda_fill(gpu, query_set->self, 0xFF, size_bytes); /* lanes without a query read behind the last */
        if (status == MOTE_OK) status = cuda_select(gpu, flags, points->count, query_set->self, found);
    }
    if (status == MOTE_OK) {
        CUDA_LAUNCH(gpu, take_keys, cuda_blocks(count, THREADS), THREADS, points->keys,
                    (const uint32_t *)query_set->self, first, count, curve->keys);
        status = cuda_launched(gpu, "queries");
    }
    cuda_free(gpu, flags);
    cuda_free(gpu, found);
    return status;
}

mote_status knn_cuda_query_set_open_part(mote_knn_index *index, uint64_t first, uint64_t count,
                                         knn_cuda_query_set *query_set) {
    const device_cloud *points = &index->cuda->cloud;
    device_cloud *part = &query_set->cloud;
    memset(query_set, 0, sizeof *query_set);
    part->device = index->device; /* zeroed, as all of it */
    part->count = count;
    part->columns = (mote_column *)mote_alloc(index->ctx, 3 * sizeof *part->columns, "knn queries");
    if (part->columns == NULL) return MOTE_ERROR_MEMORY;
    part->column_count = 3;
    part->position_step = points->position_step;
    for (int k = 0; k < 3; k++) {
        part->columns[k] = points->columns[k];
        part->columns[k].data = column_at(&points->columns[k], first);
    }
    query_set->rows = count;
    MOTE_TRY(choose_tree(index, query_set));
    MOTE_TRY(knn_cuda_measure(index->device, count, &query_set->point_set));
    MOTE_TRY(take_part(index, (uint32_t)first, query_set));
    return gather_queries(index, query_set);
}

void knn_cuda_query_set_close(mote_device *gpu, knn_cuda_query_set *query_set) {
    cuda_free(gpu, query_set->self);
    knn_cuda_point_set_free(gpu, &query_set->point_set);
    knn_cuda_buffer_release(gpu, &query_set->curve.buffer);
    device_cloud_close(&query_set->cloud);
}
