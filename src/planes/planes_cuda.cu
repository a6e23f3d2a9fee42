/* Planes on the GPU: taking in the points and putting them in order. */
#include "planes/planes_cuda.h"

#include "core/cloud.h"
#include "core/column_math.h"
#include "device/cuda/cuda_primitives.h"
#include "device/cuda/warp.cuh"
#include "order/lattice/ordered_box.cuh"

#define THREADS PLANES_CUDA_BLOCK
#define WARPS   (THREADS / CUDA_WARP)

/* ---- the cloud's columns */

typedef struct point_columns {
    mote_column axes[3], normals[3];
    bool has_normals;
} point_columns;

static const char *const normal_names[3] = {"normal_x", "normal_y", "normal_z"};

static point_columns columns_of(const planes_cuda *p) {
    point_columns columns;
    memset(&columns, 0, sizeof columns);
    columns.has_normals = p->base.normals;
    for (int k = 0; k < 3; k++) {
        columns.axes[k] = *device_cloud_find(&p->cloud, mote_axis_names[k]);
        if (columns.has_normals) columns.normals[k] = *device_cloud_find(&p->cloud, normal_names[k]);
    }
    return columns;
}

/* Only the columns that are wanted go to the device. */
static mote_status take_columns(planes_cuda *p) {
    mote_device *gpu = p->base.device;
    mote_column columns[6];
    uint32_t found = 0;
    const mote_column *axes[3];
    MOTE_TRY(mote_cloud_positions(gpu->ctx, p->base.cloud, axes));
    for (int k = 0; k < 3; k++) {
        columns[found++] = *axes[k];
        if (mote_cloud_find(p->base.cloud, normal_names[k]) == NULL) p->base.normals = false;
    }
    for (int k = 0; k < 3 && p->base.normals; k++) {
        columns[found++] = *mote_cloud_find(p->base.cloud, normal_names[k]);
    }
    return device_cloud_open_columns(gpu, p->base.cloud, columns, found, &p->cloud);
}

/* ---- the box */

static __global__ void find_box(point_columns columns, uint64_t count, ordered_box *box) {
    uint64_t low[3] = {UINT64_MAX, UINT64_MAX, UINT64_MAX}, high[3] = {0, 0, 0}, skipped = 0;
    for (uint64_t i = (uint64_t)blockIdx.x * THREADS + threadIdx.x; i < count; i += (uint64_t)gridDim.x * THREADS) {
        double at[3];
        for (int k = 0; k < 3; k++) at[k] = column_value(&columns.axes[k], i);
        if (!isfinite(at[0]) || !isfinite(at[1]) || !isfinite(at[2])) {
            skipped++;
            continue;
        }
        for (int k = 0; k < 3; k++) {
            const uint64_t value = mote_ordered_real(at[k]);
            low[k] = value < low[k] ? value : low[k];
            high[k] = value > high[k] ? value : high[k];
        }
    }
    ordered_box_join<THREADS / CUDA_WARP>(low, high, skipped, box);
}

static mote_status measure_box(planes_cuda *p) {
    mote_device *gpu = p->base.device;
    const uint64_t count = p->base.cloud->count;
    const uint32_t blocks = cuda_blocks_up_to(cuda_full_blocks(gpu, THREADS), count, THREADS);
    ordered_box box;
    memset(&box, 0xFF, sizeof box);
    ordered_box *device = (ordered_box *)cuda_alloc(gpu, sizeof *device, "planes box");
    mote_status status = device != NULL ? ordered_box_clear(gpu, device) : MOTE_ERROR_MEMORY;
    if (status == MOTE_OK && count > 0) {
        CUDA_LAUNCH(gpu, find_box, blocks, THREADS, columns_of(p), count, device);
        status = cuda_launched(gpu, "the box");
        if (status == MOTE_OK) status = cuda_download(gpu, &box, device, sizeof box);
    }
    cuda_free(gpu, device);
    p->base.finite = count - ordered_box_skipped(&box);
    ordered_box_real(&box, p->base.box.min, p->base.box.max);
    for (int k = 0; k < 3 && p->base.finite == 0; k++) {
        p->base.box.min[k] = INFINITY;
        p->base.box.max[k] = -INFINITY;
    }
    return status;
}

/* ---- open and release */

static void release_points(planes_points *points) {
    if (points == NULL) return;
    planes_cuda *p = planes_on_cuda(points);
    mote_device *gpu = points->device;
    planes_directions_close_cuda(p);
    cuda_free(gpu, p->points);
    cuda_free(gpu, p->order);
    cuda_free(gpu, p->label);
    cuda_free(gpu, p->free_points);
    cuda_free(gpu, p->boxes);
    cuda_free(gpu, p->first_free);
    cuda_free(gpu, p->voters);
    planes_sample_free(gpu->ctx, &p->read_voters);
    cuda_free(gpu, p->counters);
    planes_footprint_free_cuda(p);
    device_cloud_close(&p->cloud);
    mote_free(gpu->ctx, p->scratch);
    mote_free(gpu->ctx, p);
}

static mote_status open_points(mote_device *gpu, const mote_cloud *cloud, bool normals, planes_points **out) {
    *out = NULL;
    planes_cuda *p = (planes_cuda *)mote_alloc_zero(gpu->ctx, sizeof *p, "planes");
    if (p == NULL) return MOTE_ERROR_MEMORY;
    p->base.ctx = gpu->ctx;
    p->base.device = gpu;
    p->base.cloud = cloud;
    p->base.normals = normals;
    p->cloud.device = gpu;
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

static __global__ void read_kernel(point_columns columns, const uint64_t *at, uint32_t count, double *xyz) {
    const uint32_t i = blockIdx.x * THREADS + threadIdx.x;
    for (uint32_t k = 0; k < 3 && i < count; k++) xyz[3 * i + k] = column_value(&columns.axes[k], at[i]);
}

static mote_status read_on_device(planes_cuda *p, const uint64_t *at, uint32_t count, double *xyz) {
    mote_device *gpu = p->base.device;
    const uint64_t bytes = 3 * (uint64_t)count * sizeof *xyz;
    double *out = (double *)cuda_alloc(gpu, bytes, "planes sample");
    uint64_t *places = (uint64_t *)cuda_alloc(gpu, count * sizeof *places, "planes sample");
    mote_status status = mote_context_status(gpu->ctx);
    if (status == MOTE_OK) status = cuda_upload(gpu, places, at, count * sizeof *at);
    if (status == MOTE_OK) {
        CUDA_LAUNCH(gpu, read_kernel, cuda_blocks(count, THREADS), THREADS, columns_of(p), places, count, out);
        status = cuda_launched(gpu, "a glance at points");
    }
    if (status == MOTE_OK) status = cuda_download(gpu, xyz, out, bytes);
    cuda_free(gpu, places);
    cuda_free(gpu, out);
    return status;
}

/* Where the host has the points, the device need not be asked. */
static mote_status read_points(planes_points *points, const uint64_t *at, uint32_t count, double *xyz) {
    if (points->cloud->device != NULL) return read_on_device(planes_on_cuda(points), at, count, xyz);
    for (uint32_t k = 0; k < 3; k++) {
        const mote_column *axis = mote_cloud_find(points->cloud, mote_axis_names[k]);
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
        codes[i] = inside ? planes_code(q[0], q[1], q[2]) : PLANES_NON_FINITE;
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
                                     planes_cuda_point *points, int32_t *label, uint8_t *free_points, planes_box *boxes,
                                     uint32_t *first_free) {
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
        box[k] = warp_max(box[k]);
        if (warp_lane() == 0) of_warp[warp][k] = box[k];
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
    mote_device *gpu = p->base.device;
    const uint64_t points = p->base.finite, blocks = points / PLANES_CUDA_BLOCK + 2;
    if (p->label != NULL) return MOTE_OK;
    cuda_free(gpu, p->points); /* of another lattice, without order */
    p->points = (planes_cuda_point *)cuda_alloc(gpu, points * sizeof *p->points, "planes points");
    p->label = (int32_t *)cuda_alloc(gpu, points * sizeof *p->label, "planes labels");
    p->free_points = (uint8_t *)cuda_alloc(gpu, points * sizeof *p->free_points, "planes labels");
    p->boxes = (planes_box *)cuda_alloc(gpu, blocks * sizeof *p->boxes, "planes boxes");
    p->first_free = (uint32_t *)cuda_alloc(gpu, blocks * sizeof *p->first_free, "planes boxes");
    return mote_context_status(gpu->ctx);
}

static mote_status sort_codes(planes_cuda *p, const point_columns *columns, cuda_pairs64 *pairs, uint64_t *counted) {
    mote_device *gpu = p->base.device;
    const uint64_t count = p->base.cloud->count;
    unsigned long long *found = (unsigned long long *)cuda_alloc(gpu, sizeof *found, "planes codes");
    mote_status status = found != NULL ? cuda_fill(gpu, found, 0, sizeof *found) : MOTE_ERROR_MEMORY;
    if (status == MOTE_OK) {
        CUDA_LAUNCH(gpu, make_codes, cuda_blocks(count, THREADS), THREADS, *columns, p->base.frame, count, pairs->keys,
                    pairs->values, found);
        status = cuda_launched(gpu, "codes");
    }
    if (status == MOTE_OK) status = cuda_sort64(gpu, pairs, count, 0, 64);
    if (status == MOTE_OK) status = cuda_download(gpu, counted, found, sizeof *counted);
    cuda_free(gpu, found);
    return status;
}

static mote_status make_order(planes_cuda *p, const point_columns *columns, uint64_t *counted) {
    mote_device *gpu = p->base.device;
    const uint64_t count = p->base.cloud->count;
    cuda_pairs64 pairs;
    pairs.keys = (uint64_t *)cuda_alloc(gpu, count * sizeof(uint64_t), "planes codes");
    pairs.values = p->order != NULL ? p->order : (uint32_t *)cuda_alloc(gpu, count * sizeof(uint32_t), "planes order");
    pairs.other_keys = (uint64_t *)cuda_alloc(gpu, count * sizeof(uint64_t), "planes codes");
    pairs.other_values = (uint32_t *)cuda_alloc(gpu, count * sizeof(uint32_t), "planes order");
    mote_status status = mote_context_status(gpu->ctx);
    if (status == MOTE_OK) status = sort_codes(p, columns, &pairs, counted);
    p->order = pairs.values;
    cuda_free(gpu, pairs.keys);
    cuda_free(gpu, pairs.other_keys);
    cuda_free(gpu, pairs.other_values);
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
    CUDA_LAUNCH(points->device, gather_points, p->block_count, THREADS, columns, points->frame, points->count, p->order,
                p->points, p->label, p->free_points, p->boxes, p->first_free);
    return cuda_launched(points->device, "points in order");
}

/* ---- places without order, for votes: one pass */

/* counted: where the next points go; NULL: all are in the lattice and stay where they are. */
static __global__ void take_points(point_columns columns, planes_frame frame, uint64_t count, planes_cuda_point *points,
                                   unsigned long long *counted) {
    __shared__ uint32_t of_warp[WARPS];
    __shared__ unsigned long long base;
    const uint64_t i = (uint64_t)blockIdx.x * THREADS + threadIdx.x;
    float q[3] = {0, 0, 0};
    const bool inside = i < count && place_point(&columns, &frame, i, q);
    uint64_t to = i;
    if (counted != NULL) {
        uint32_t all = 0;
        const uint32_t place = block_append<WARPS>(inside, of_warp, &all);
        if (threadIdx.x == 0) base = all > 0 ? atomicAdd(counted, (unsigned long long)all) : 0;
        __syncthreads();
        to = base + place;
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
    CUDA_LAUNCH(p->base.device, take_points, cuda_blocks(count, THREADS), THREADS, columns_of(p), p->base.frame, count,
                p->points, counted);
    return cuda_launched(p->base.device, "points");
}

static mote_status take_some(planes_cuda *p) {
    mote_device *gpu = p->base.device;
    uint64_t counted = 0;
    unsigned long long *found = (unsigned long long *)cuda_alloc(gpu, sizeof *found, "planes points");
    mote_status status = found != NULL ? cuda_fill(gpu, found, 0, sizeof *found) : MOTE_ERROR_MEMORY;
    if (status == MOTE_OK) status = launch_take(p, found);
    if (status == MOTE_OK) status = cuda_download(gpu, &counted, found, sizeof counted);
    cuda_free(gpu, found);
    p->base.count = (uint32_t)counted;
    return status;
}

static mote_status place_in_any_order(planes_cuda *p) {
    planes_points *points = &p->base;
    if (p->points == NULL) {
        p->points =
            (planes_cuda_point *)cuda_alloc(points->device, points->finite * sizeof *p->points, "planes points");
        if (p->points == NULL) return MOTE_ERROR_MEMORY;
    }
    if (holds_box(points)) {
        points->count = (uint32_t)points->finite;
        MOTE_TRY(launch_take(p, NULL));
    } else {
        MOTE_TRY(take_some(p));
    }
    p->free_count = points->count;
    return MOTE_OK;
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
    mote_device *gpu = points->device;
    const uint64_t bytes = points->cloud->count * sizeof *labels;
    int32_t *out = (int32_t *)cuda_alloc(gpu, bytes, "planes labels");
    if (out == NULL) return MOTE_ERROR_MEMORY;
    mote_status status = cuda_fill(gpu, out, 0xFF, bytes);
    if (status == MOTE_OK) {
        CUDA_LAUNCH(gpu, write_labels_kernel, cuda_blocks(points->count, THREADS), THREADS, p->order, p->label,
                    points->count, out);
        status = cuda_launched(gpu, "labels");
    }
    if (status == MOTE_OK) status = cuda_download(gpu, labels, out, bytes);
    cuda_free(gpu, out);
    return status;
}

const mote_planes_ops mote_planes_on_cuda = {
    open_points,
    release_points,
    place_points,
    planes_vote_cuda,
    planes_assign_cuda,
    planes_footprint_cuda,
    planes_relabel_cuda,
    planes_outline_cuda,
    read_points,
    planes_read_sample_cuda,
    planes_read_places_cuda,
    planes_read_voters_cuda,
    planes_read_votes_cuda,
    write_labels,
};
