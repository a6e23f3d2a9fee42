/* Planes on the GPU: taking in the points and putting them in order. */
#include "planes/planes_cuda.h"

#include "backend/cuda_kernel.h"
#include "backend/cuda_primitives.h"
#include "core/cloud.h"
#include "core/column_math.h"

#define THREADS PLANES_CUDA_BLOCK
#define WARPS   (THREADS / CUDA_WARP)
#define SHARES  1056u /* blocks of a reduction: what an H200 holds at once */

uint8_t *planes_cuda_scratch(planes_cuda *p, uint64_t size_bytes) {
    return mote_make_room(p->base.ctx, (void **)&p->scratch, &p->scratch_capacity, size_bytes, 1, "planes copies")
               ? p->scratch
               : NULL;
}

/* ---- the cloud's columns */

typedef struct point_columns {
    mote_column axes[3], normals[3];
    bool has_normals;
} point_columns;

static const char *const axis_names[3] = {"x", "y", "z"};
static const char *const normal_names[3] = {"normal_x", "normal_y", "normal_z"};

static point_columns columns_of(const planes_cuda *p) {
    point_columns columns;
    memset(&columns, 0, sizeof columns);
    columns.has_normals = p->base.normals;
    for (int k = 0; k < 3; k++) {
        columns.axes[k] = *cuda_cloud_find(&p->cloud, axis_names[k]);
        if (columns.has_normals) columns.normals[k] = *cuda_cloud_find(&p->cloud, normal_names[k]);
    }
    return columns;
}

/* Only the columns that are wanted go to the device. */
static mote_status take_columns(planes_cuda *p) {
    mote_context *ctx = p->base.ctx;
    mote_column columns[6];
    mote_cloud view = *p->base.cloud;
    uint32_t found = 0;
    for (int k = 0; k < 3; k++) {
        const mote_column *axis = mote_cloud_find(p->base.cloud, axis_names[k]);
        if (axis == NULL) return mote_fail(ctx, MOTE_ERROR_ARGUMENT, "the cloud has no x, y and z");
        columns[found++] = *axis;
        if (mote_cloud_find(p->base.cloud, normal_names[k]) == NULL) p->base.normals = false;
    }
    for (int k = 0; k < 3 && p->base.normals; k++) {
        columns[found++] = *mote_cloud_find(p->base.cloud, normal_names[k]);
    }
    view.columns = columns;
    view.column_count = found;
    return cuda_cloud_open(ctx, &view, &p->cloud);
}

/* ---- the box */

/* Coordinates as integers of the same order, so that atomics can find the least; the largest are turned round. Begins
   with all bits set. */
typedef struct ordered_box {
    unsigned long long low[3], high[3];
    unsigned long long finite; /* one less */
} ordered_box;

#define SIGN (1ull << 63)

static __host__ __device__ inline uint64_t order_of(double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return (bits & SIGN) != 0 ? ~bits : bits | SIGN;
}

static double real_of(uint64_t order) {
    const uint64_t bits = (order & SIGN) != 0 ? order & ~SIGN : ~order;
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static __device__ inline uint64_t least_of_warp(uint64_t value) {
    for (int away = CUDA_WARP / 2; away > 0; away /= 2) {
        const uint64_t other = __shfl_xor_sync(CUDA_ALL, (unsigned long long)value, away);
        value = other < value ? other : value;
    }
    return value;
}

static __global__ void find_box(point_columns columns, uint64_t count, ordered_box *box) {
    uint64_t low[3] = {UINT64_MAX, UINT64_MAX, UINT64_MAX}, high[3] = {UINT64_MAX, UINT64_MAX, UINT64_MAX}, finite = 0;
    for (uint64_t i = (uint64_t)blockIdx.x * THREADS + threadIdx.x; i < count; i += (uint64_t)gridDim.x * THREADS) {
        double at[3];
        for (int k = 0; k < 3; k++) at[k] = column_value(&columns.axes[k], i);
        if (!isfinite(at[0]) || !isfinite(at[1]) || !isfinite(at[2])) continue;
        finite++;
        for (int k = 0; k < 3; k++) {
            const uint64_t value = order_of(at[k]);
            low[k] = value < low[k] ? value : low[k];
            high[k] = ~value < high[k] ? ~value : high[k];
        }
    }
    for (int k = 0; k < 3; k++) {
        low[k] = least_of_warp(low[k]);
        high[k] = least_of_warp(high[k]);
    }
    for (int away = CUDA_WARP / 2; away > 0; away /= 2) {
        finite += __shfl_xor_sync(CUDA_ALL, (unsigned long long)finite, away);
    }
    if (threadIdx.x % CUDA_WARP != 0 || finite == 0) return;
    for (int k = 0; k < 3; k++) {
        atomicMin(&box->low[k], (unsigned long long)low[k]);
        atomicMin(&box->high[k], (unsigned long long)high[k]);
    }
    atomicAdd(&box->finite, (unsigned long long)finite);
}

static mote_status measure_box(planes_cuda *p) {
    mote_context *ctx = p->base.ctx;
    const uint64_t count = p->base.cloud->count;
    const uint32_t blocks = cuda_blocks(count, THREADS);
    ordered_box box;
    memset(&box, 0xFF, sizeof box);
    ordered_box *device = (ordered_box *)cuda_alloc(ctx, sizeof *device, "planes box");
    mote_status status = device != NULL ? cuda_fill(ctx, device, 0xFF, sizeof *device) : MOTE_ERROR_MEMORY;
    if (status == MOTE_OK && count > 0) {
        CUDA_LAUNCH(ctx, find_box, blocks < SHARES ? blocks : SHARES, THREADS, columns_of(p), count, device);
        status = cuda_launched(ctx, "the box");
        if (status == MOTE_OK) status = cuda_download(ctx, &box, device, sizeof box);
    }
    cuda_free(ctx, device);
    p->base.finite = box.finite + 1;
    for (int k = 0; k < 3; k++) {
        p->base.box.min[k] = p->base.finite > 0 ? real_of(box.low[k]) : INFINITY;
        p->base.box.max[k] = p->base.finite > 0 ? real_of(~box.high[k]) : -INFINITY;
    }
    return status;
}

/* ---- open and release */

static void release_points(planes_points *points) {
    if (points == NULL) return;
    planes_cuda *p = planes_on_cuda(points);
    mote_context *ctx = points->ctx;
    planes_table_close_cuda(p);
    cuda_free(ctx, p->points);
    cuda_free(ctx, p->order);
    cuda_free(ctx, p->label);
    cuda_free(ctx, p->free_points);
    cuda_free(ctx, p->boxes);
    cuda_free(ctx, p->first_free);
    cuda_free(ctx, p->voters);
    cuda_free(ctx, p->counters);
    planes_cover_free_cuda(p);
    cuda_cloud_close(&p->cloud);
    mote_free(ctx, p->scratch);
    mote_free(ctx, p);
}

static mote_status open_points(mote_context *ctx, const mote_cloud *cloud, bool normals, planes_points **out) {
    *out = NULL;
    planes_cuda *p = (planes_cuda *)mote_alloc_zero(ctx, sizeof *p, "planes");
    if (p == NULL) return MOTE_ERROR_MEMORY;
    p->base.ctx = ctx;
    p->base.cloud = cloud;
    p->base.normals = normals;
    p->cloud.ctx = ctx;
    mote_status status = take_columns(p);
    if (status == MOTE_OK) status = measure_box(p);
    if (status != MOTE_OK) {
        release_points(&p->base);
        return status;
    }
    *out = &p->base;
    return MOTE_OK;
}

/* ---- a glance at some points */

static __global__ void peek_kernel(point_columns columns, const uint64_t *at, uint32_t count, double *xyz) {
    const uint32_t i = blockIdx.x * THREADS + threadIdx.x;
    for (uint32_t k = 0; k < 3 && i < count; k++) xyz[3 * i + k] = column_value(&columns.axes[k], at[i]);
}

static mote_status peek_on_device(planes_cuda *p, const uint64_t *at, uint32_t count, double *xyz) {
    mote_context *ctx = p->base.ctx;
    const uint64_t bytes = 3 * (uint64_t)count * sizeof *xyz;
    double *out = (double *)cuda_alloc(ctx, bytes, "planes sample");
    uint64_t *places = (uint64_t *)cuda_alloc(ctx, count * sizeof *places, "planes sample");
    mote_status status = mote_context_status(ctx);
    if (status == MOTE_OK) status = cuda_upload(ctx, places, at, count * sizeof *at);
    if (status == MOTE_OK) {
        CUDA_LAUNCH(ctx, peek_kernel, cuda_blocks(count, THREADS), THREADS, columns_of(p), places, count, out);
        status = cuda_launched(ctx, "a glance at points");
    }
    if (status == MOTE_OK) status = cuda_download(ctx, xyz, out, bytes);
    cuda_free(ctx, places);
    cuda_free(ctx, out);
    return status;
}

/* Where the host has the points, the device need not be asked. */
static mote_status peek_points(planes_points *points, const uint64_t *at, uint32_t count, double *xyz) {
    if (points->cloud->on_device) return peek_on_device(planes_on_cuda(points), at, count, xyz);
    for (uint32_t k = 0; k < 3; k++) {
        const mote_column *axis = mote_cloud_find(points->cloud, axis_names[k]);
        for (uint32_t i = 0; i < count; i++) xyz[3 * i + k] = column_value(axis, at[i]);
    }
    return MOTE_OK;
}

/* ---- places in the lattice */

static __device__ inline bool place_point(const point_columns *columns, const planes_frame *frame, uint64_t i,
                                          float q[3]) {
    bool inside = true;
    for (int k = 0; k < 3; k++) { inside = planes_step(frame, k, column_value(&columns->axes[k], i), &q[k]) && inside; }
    return inside;
}

/* counted: how many are in the lattice. */
static __global__ void make_codes(point_columns columns, planes_frame frame, uint64_t count, uint64_t *codes,
                                  uint32_t *order, unsigned long long *counted) {
    const uint64_t i = (uint64_t)blockIdx.x * THREADS + threadIdx.x;
    float q[3];
    const bool inside = i < count && place_point(&columns, &frame, i, q);
    if (i < count) {
        codes[i] = inside ? planes_code(q[0], q[1], q[2]) : PLANES_NOWHERE;
        order[i] = (uint32_t)i;
    }
    const int all = __syncthreads_count(inside);
    if (threadIdx.x == 0 && all > 0) atomicAdd(counted, (unsigned long long)all);
}

static __device__ inline uint32_t read_normal(const point_columns *columns, uint64_t i) {
    float n[3];
    for (int k = 0; k < 3; k++) n[k] = (float)column_value(&columns->normals[k], i);
    return planes_pack_normal(n[0], n[1], n[2]);
}

/* A block's points in their order, and their box. */
static __global__ void gather_points(point_columns columns, planes_frame frame, uint32_t count, const uint32_t *order,
                                     planes_cuda_point *points, int32_t *label, uint8_t *free_points,
                                     planes_cuda_box *boxes, uint32_t *first_free) {
    __shared__ float of_warp[WARPS][6];
    const uint32_t i = blockIdx.x * THREADS + threadIdx.x, warp = threadIdx.x / CUDA_WARP;
    const bool any = i < count;
    float q[3] = {0, 0, 0}, box[6];
    if (any) {
        planes_cuda_point point;
        const uint32_t at = order[i];
        place_point(&columns, &frame, at, q);
        point.x = q[0];
        point.y = q[1];
        point.z = q[2];
        point.normal = columns.has_normals ? read_normal(&columns, at) : 0;
        points[i] = point;
        label[i] = -1;
        free_points[i] = 1;
    }
    for (int k = 0; k < 3; k++) { /* largest values; the least are turned round */
        box[k] = any ? -q[k] : -INFINITY;
        box[3 + k] = any ? q[k] : -INFINITY;
    }
    for (int k = 0; k < 6; k++) {
        for (int away = CUDA_WARP / 2; away > 0; away /= 2) {
            box[k] = fmaxf(box[k], __shfl_xor_sync(CUDA_ALL, box[k], away));
        }
        if (threadIdx.x % CUDA_WARP == 0) of_warp[warp][k] = box[k];
    }
    __syncthreads();
    if (threadIdx.x == 0) first_free[blockIdx.x] = min(i, count);
    if (threadIdx.x == 0 && count - i <= THREADS) first_free[blockIdx.x + 1] = count;
    if (threadIdx.x >= 3) return;
    float low = -INFINITY, high = -INFINITY;
    for (uint32_t w = 0; w < WARPS; w++) {
        low = fmaxf(low, of_warp[w][threadIdx.x]);
        high = fmaxf(high, of_warp[w][3 + threadIdx.x]);
    }
    boxes[blockIdx.x].middle[threadIdx.x] = 0.5f * (high - low);
    boxes[blockIdx.x].half[threadIdx.x] = 0.5f * (high + low);
}

static mote_status make_arrays(planes_cuda *p) {
    mote_context *ctx = p->base.ctx;
    const uint64_t points = p->base.finite, blocks = points / PLANES_CUDA_BLOCK + 2;
    if (p->label != NULL) return MOTE_OK;
    cuda_free(ctx, p->points); /* of another lattice, without order */
    p->points = (planes_cuda_point *)cuda_alloc(ctx, points * sizeof *p->points, "planes points");
    p->label = (int32_t *)cuda_alloc(ctx, points * sizeof *p->label, "planes labels");
    p->free_points = (uint8_t *)cuda_alloc(ctx, points * sizeof *p->free_points, "planes labels");
    p->boxes = (planes_cuda_box *)cuda_alloc(ctx, blocks * sizeof *p->boxes, "planes boxes");
    p->first_free = (uint32_t *)cuda_alloc(ctx, blocks * sizeof *p->first_free, "planes boxes");
    return mote_context_status(ctx);
}

static mote_status sort_codes(planes_cuda *p, const point_columns *columns, cuda_pairs64 *pairs, uint64_t *counted) {
    mote_context *ctx = p->base.ctx;
    const uint64_t count = p->base.cloud->count;
    unsigned long long *found = (unsigned long long *)cuda_alloc(ctx, sizeof *found, "planes codes");
    mote_status status = found != NULL ? cuda_fill(ctx, found, 0, sizeof *found) : MOTE_ERROR_MEMORY;
    if (status == MOTE_OK) {
        CUDA_LAUNCH(ctx, make_codes, cuda_blocks(count, THREADS), THREADS, *columns, p->base.frame, count, pairs->keys,
                    pairs->values, found);
        status = cuda_launched(ctx, "codes");
    }
    if (status == MOTE_OK) status = cuda_sort64(ctx, pairs, count, 0, 64);
    if (status == MOTE_OK) status = cuda_download(ctx, counted, found, sizeof *counted);
    cuda_free(ctx, found);
    return status;
}

static mote_status make_order(planes_cuda *p, const point_columns *columns, uint64_t *counted) {
    mote_context *ctx = p->base.ctx;
    const uint64_t count = p->base.cloud->count;
    cuda_pairs64 pairs;
    pairs.keys = (uint64_t *)cuda_alloc(ctx, count * sizeof(uint64_t), "planes codes");
    pairs.values = p->order != NULL ? p->order : (uint32_t *)cuda_alloc(ctx, count * sizeof(uint32_t), "planes order");
    pairs.other_keys = (uint64_t *)cuda_alloc(ctx, count * sizeof(uint64_t), "planes codes");
    pairs.other_values = (uint32_t *)cuda_alloc(ctx, count * sizeof(uint32_t), "planes order");
    mote_status status = mote_context_status(ctx);
    if (status == MOTE_OK) status = sort_codes(p, columns, &pairs, counted);
    p->order = pairs.values;
    cuda_free(ctx, pairs.keys);
    cuda_free(ctx, pairs.other_keys);
    cuda_free(ctx, pairs.other_values);
    return status;
}

static mote_status place_in_order(planes_cuda *p) {
    planes_points *points = &p->base;
    const point_columns columns = columns_of(p);
    uint64_t counted = 0;
    MOTE_TRY(make_arrays(p));
    MOTE_TRY(make_order(p, &columns, &counted));
    points->count = (uint32_t)counted;
    p->labels = 0;
    p->free_count = counted;
    p->block_count = (uint32_t)((counted + PLANES_CUDA_BLOCK - 1) / PLANES_CUDA_BLOCK);
    if (counted == 0) return MOTE_OK;
    CUDA_LAUNCH(points->ctx, gather_points, p->block_count, THREADS, columns, points->frame, points->count, p->order,
                p->points, p->label, p->free_points, p->boxes, p->first_free);
    return cuda_launched(points->ctx, "points in order");
}

/* ---- places without order, for votes: one pass */

/* counted: where the next points go; NULL: all are in the lattice and stay where they are. */
static __global__ void take_points(point_columns columns, planes_frame frame, uint64_t count, planes_cuda_point *points,
                                   unsigned long long *counted) {
    __shared__ uint32_t of_warp[WARPS];
    __shared__ unsigned long long base;
    const uint64_t i = (uint64_t)blockIdx.x * THREADS + threadIdx.x;
    const uint32_t lane = threadIdx.x % CUDA_WARP, warp = threadIdx.x / CUDA_WARP;
    float q[3] = {0, 0, 0};
    const bool inside = i < count && place_point(&columns, &frame, i, q);
    uint64_t to = i;
    if (counted != NULL) {
        const uint32_t insides = __ballot_sync(CUDA_ALL, inside);
        if (lane == 0) of_warp[warp] = (uint32_t)__popc(insides);
        __syncthreads();
        if (threadIdx.x == 0) {
            uint32_t all = 0;
            for (uint32_t w = 0; w < WARPS; w++) {
                const uint32_t mine = of_warp[w];
                of_warp[w] = all;
                all += mine;
            }
            base = all > 0 ? atomicAdd(counted, (unsigned long long)all) : 0;
        }
        __syncthreads();
        to = base + of_warp[warp] + (uint32_t)__popc(insides & ((1u << lane) - 1));
    }
    if (!inside) return;
    planes_cuda_point point;
    point.x = q[0];
    point.y = q[1];
    point.z = q[2];
    point.normal = columns.has_normals ? read_normal(&columns, i) : 0;
    points[to] = point;
}

/* Whether no point can be outside. */
static bool holds_box(const planes_points *points) {
    bool inside = points->finite == points->cloud->count;
    for (int k = 0; k < 3; k++) {
        float step;
        inside = inside && planes_step(&points->frame, k, points->box.min[k], &step);
        inside = inside && planes_step(&points->frame, k, points->box.max[k], &step);
    }
    return inside;
}

static mote_status launch_take(planes_cuda *p, unsigned long long *counted) {
    const uint64_t count = p->base.cloud->count;
    CUDA_LAUNCH(p->base.ctx, take_points, cuda_blocks(count, THREADS), THREADS, columns_of(p), p->base.frame, count,
                p->points, counted);
    return cuda_launched(p->base.ctx, "points");
}

static mote_status take_some(planes_cuda *p) {
    mote_context *ctx = p->base.ctx;
    uint64_t counted = 0;
    unsigned long long *found = (unsigned long long *)cuda_alloc(ctx, sizeof *found, "planes points");
    mote_status status = found != NULL ? cuda_fill(ctx, found, 0, sizeof *found) : MOTE_ERROR_MEMORY;
    if (status == MOTE_OK) status = launch_take(p, found);
    if (status == MOTE_OK) status = cuda_download(ctx, &counted, found, sizeof counted);
    cuda_free(ctx, found);
    p->base.count = (uint32_t)counted;
    return status;
}

static mote_status place_in_any_order(planes_cuda *p) {
    planes_points *points = &p->base;
    if (p->points == NULL) {
        p->points = (planes_cuda_point *)cuda_alloc(points->ctx, points->finite * sizeof *p->points, "planes points");
        if (p->points == NULL) return MOTE_ERROR_MEMORY;
    }
    if (!holds_box(points)) return take_some(p);
    points->count = (uint32_t)points->finite;
    return launch_take(p, NULL);
}

static mote_status place_points(planes_points *points, const planes_frame *frame, bool ordered) {
    points->frame = *frame;
    points->count = 0;
    return ordered ? place_in_order(planes_on_cuda(points)) : place_in_any_order(planes_on_cuda(points));
}

/* ---- labels */

static __global__ void write_labels_kernel(const uint32_t *order, const int32_t *label, uint32_t count, int32_t *out) {
    const uint64_t i = (uint64_t)blockIdx.x * THREADS + threadIdx.x;
    if (i < count) out[order[i]] = label[i];
}

static mote_status write_labels(planes_points *points, int32_t *labels) {
    const planes_cuda *p = planes_on_cuda(points);
    mote_context *ctx = points->ctx;
    const uint64_t bytes = points->cloud->count * sizeof *labels;
    int32_t *out = (int32_t *)cuda_alloc(ctx, bytes, "planes labels");
    if (out == NULL) return MOTE_ERROR_MEMORY;
    mote_status status = cuda_fill(ctx, out, 0xFF, bytes);
    if (status == MOTE_OK) {
        CUDA_LAUNCH(ctx, write_labels_kernel, cuda_blocks(points->count, THREADS), THREADS, p->order, p->label,
                    points->count, out);
        status = cuda_launched(ctx, "labels");
    }
    if (status == MOTE_OK) status = cuda_download(ctx, labels, out, bytes);
    cuda_free(ctx, out);
    return status;
}

const mote_planes_ops mote_planes_on_cuda = {
    open_points,
    release_points,
    peek_points,
    place_points,
    planes_fetch_cuda,
    planes_choose_cuda,
    planes_vote_cuda,
    planes_read_votes_cuda,
    planes_winners_cuda,
    planes_flatness_cuda,
    planes_calibrate_cuda,
    planes_refine_cuda,
    planes_sums_cuda,
    planes_label_cuda,
    planes_cover_cuda,
    planes_relabel_cuda,
    planes_outline_cuda,
    planes_sums_of_labels_cuda,
    write_labels,
    true,
    true,
};
