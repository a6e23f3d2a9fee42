/* Planes on CPU cores: taking in the points, putting them in order, giving labels back. */
#include "planes/planes_cpu.h"

#include "core/cloud.h"
#include "core/column_math.h"
#include "order/sort/order_sort_cpu.h"

#define PIECE 1024u /* points that are placed at once */

/* ---- open and release */

static mote_status take_cloud(planes_cpu *p) {
    static const char *const names[3] = {"normal_x", "normal_y", "normal_z"};
    mote_context *ctx = p->base.ctx;
    uint64_t skipped = 0;
    MOTE_TRY(mote_cloud_need_host(ctx, p->base.cloud, "planes on the CPU"));
    MOTE_TRY(mote_cloud_bounds(ctx, p->base.cloud, &p->base.box, &skipped));
    MOTE_TRY(mote_cloud_positions(ctx, p->base.cloud, p->axes));
    p->base.finite = p->base.cloud->count - skipped;
    for (int k = 0; k < 3 && p->base.normals; k++) {
        p->normals[k] = mote_cloud_find(p->base.cloud, names[k]);
        p->base.normals = p->normals[k] != NULL;
    }
    return MOTE_OK;
}

static void release_points(planes_points *points) {
    if (points == NULL) return;
    planes_cpu *p = planes_on_cpu(points);
    mote_context *ctx = points->ctx;
    mote_free(ctx, p->order);
    mote_free(ctx, p->x);
    mote_free(ctx, p->y);
    mote_free(ctx, p->z);
    mote_free(ctx, p->normal);
    mote_free(ctx, p->label);
    mote_free(ctx, p->free_points);
    mote_free(ctx, p->blocks);
    mote_free(ctx, p->groups);
    planes_sample_free(ctx, &p->chosen);
    mote_free(ctx, p->counters);
    planes_footprint_free_cpu(p);
    mote_free(ctx, p);
}

static mote_status open_points(mote_device *device, const mote_cloud *cloud, bool normals, planes_points **out) {
    *out = NULL;
    planes_cpu *p = mote_alloc_zero(device->ctx, sizeof *p, "planes");
    if (p == NULL) return MOTE_ERROR_MEMORY;
    p->base.ctx = device->ctx;
    p->base.device = device;
    p->base.cloud = cloud;
    p->base.normals = normals;
    const mote_status status = take_cloud(p);
    if (status != MOTE_OK) {
        release_points(&p->base);
        return status;
    }
    *out = &p->base;
    return MOTE_OK;
}

static mote_status read_points(planes_points *points, const uint64_t *at, uint32_t count, double *xyz) {
    const planes_cpu *p = planes_on_cpu(points);
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t k = 0; k < 3; k++) xyz[3 * i + k] = column_value(p->axes[k], at[i]);
    }
    return MOTE_OK;
}

/* ---- places in the lattice */

/* Steps of an axis, of count points from first. */
static void place_axis(const planes_cpu *p, int axis, uint64_t first, uint64_t count, float *to) {
    const mote_column *column = p->axes[axis];
    for (uint64_t i = 0; i < count; i++) {
        planes_step(&p->base.frame, axis, column_value(column, first + i), &to[first + i]);
    }
}

/* As planes_step says; a step that is too large for a float to tell is too far out anyway. */
static bool is_step(float q) { return (double)fabsf(q) <= PLANES_REACH; }

/* Puts all points of the cloud on the lattice, in the order of the cloud. Returns how many are in it. */
static uint64_t make_codes(const planes_cpu *p, uint64_t *codes) {
    const uint64_t all = p->base.cloud->count, pieces = (all + PIECE - 1) / PIECE;
    uint64_t inside = 0;
#pragma omp parallel for schedule(static) num_threads(p->base.ctx->threads) reduction(+ : inside)
    for (int64_t piece = 0; piece < (int64_t)pieces; piece++) {
        const uint64_t first = (uint64_t)piece * PIECE, rest = all - first,
                       last = first + (rest < PIECE ? rest : PIECE);
        place_axis(p, 0, first, last - first, p->x);
        place_axis(p, 1, first, last - first, p->y);
        place_axis(p, 2, first, last - first, p->z);
        for (uint64_t i = first; i < last; i++) {
            const bool in = is_step(p->x[i]) && is_step(p->y[i]) && is_step(p->z[i]);
            codes[i] = in ? planes_code(p->x[i], p->y[i], p->z[i]) : PLANES_NON_FINITE;
            inside += in;
        }
    }
    return inside;
}

static uint32_t read_normal(const planes_cpu *p, uint64_t i) {
    float n[3];
    for (int k = 0; k < 3; k++) n[k] = (float)column_value(p->normals[k], i);
    return planes_pack_normal(n[0], n[1], n[2]);
}

/* Steps of an axis into the order of the points; spare, as long, becomes the axis. */
static void order_axis(const planes_cpu *p, float **axis, float **spare) {
    const int64_t count = p->base.count;
    const float *from = *axis;
    float *to = *spare;
#pragma omp parallel for schedule(static) num_threads(p->base.ctx->threads)
    for (int64_t i = 0; i < count; i++) to[i] = from[p->order[i]];
    *spare = *axis;
    *axis = to;
}

static mote_status gather_points(planes_cpu *p) {
    const int64_t count = p->base.count;
    float *spare = mote_alloc(p->base.ctx, p->base.cloud->count * sizeof *spare, "planes points");
    if (spare == NULL) return MOTE_ERROR_MEMORY;
    order_axis(p, &p->x, &spare);
    order_axis(p, &p->y, &spare);
    order_axis(p, &p->z, &spare);
    mote_free(p->base.ctx, spare);
    memset(p->label, 0xFF, (size_t)count * sizeof *p->label);
    memset(p->free_points, 1, (size_t)count);
#pragma omp parallel for schedule(static) num_threads(p->base.ctx->threads)
    for (int64_t i = 0; i < count; i++) {
        if (p->normal != NULL) p->normal[i] = read_normal(p, p->order[i]);
    }
    return MOTE_OK;
}

/* The box of points that follow each other. */
static planes_box box_of(const planes_cpu *p, uint64_t first, uint64_t most) {
    const float *axes[3] = {p->x, p->y, p->z};
    const uint64_t rest = p->base.count - first;
    planes_box box;
    for (int k = 0; k < 3; k++) {
        float low, high;
        planes_find_ends(axes[k] + first, (uint32_t)(rest < most ? rest : most), &low, &high);
        box.middle[k] = 0.5f * (low + high);
        box.half[k] = 0.5f * (high - low);
    }
    return box;
}

static void make_blocks(planes_cpu *p) {
    p->block_count = (uint32_t)(((uint64_t)p->base.count + PLANES_BLOCK - 1) / PLANES_BLOCK);
    p->group_count = (p->block_count + PLANES_GROUP - 1) / PLANES_GROUP;
#pragma omp parallel for schedule(static) num_threads(p->base.ctx->threads)
    for (int64_t g = 0; g < (int64_t)p->group_count; g++) {
        const uint32_t first = (uint32_t)g * PLANES_GROUP, end = planes_group_end(p, (uint32_t)g);
        for (uint32_t b = first; b < end; b++) p->blocks[b] = box_of(p, (uint64_t)b * PLANES_BLOCK, PLANES_BLOCK);
        p->groups[g] = box_of(p, (uint64_t)first * PLANES_BLOCK, PLANES_GROUP * PLANES_BLOCK);
    }
}

static mote_status make_arrays(planes_cpu *p) {
    mote_context *ctx = p->base.ctx;
    const uint64_t points = p->base.finite, all = p->base.cloud->count;
    if (p->capacity >= points && p->order != NULL) return MOTE_OK;
    p->x = mote_alloc(ctx, all * sizeof *p->x, "planes points"); /* of all, until they are in order */
    p->y = mote_alloc(ctx, all * sizeof *p->y, "planes points");
    p->z = mote_alloc(ctx, all * sizeof *p->z, "planes points");
    p->label = mote_alloc(ctx, points * sizeof *p->label, "planes labels");
    p->free_points = mote_alloc(ctx, points * sizeof *p->free_points, "planes labels");
    p->blocks = mote_alloc(ctx, (points / PLANES_BLOCK + 1) * sizeof *p->blocks, "planes points");
    p->groups = mote_alloc(ctx, (points / PLANES_BLOCK / PLANES_GROUP + 1) * sizeof *p->groups, "planes points");
    if (p->base.normals) p->normal = mote_alloc(ctx, points * sizeof *p->normal, "planes normals");
    p->order = mote_alloc(ctx, all * sizeof *p->order, "planes order");
    p->capacity = points;
    return mote_context_status(ctx);
}

/* Always ordered: that takes no time beside votes. */
static mote_status place_points(planes_points *points, const planes_frame *frame, bool ordered) {
    planes_cpu *p = planes_on_cpu(points);
    (void)ordered;
    mote_context *ctx = points->ctx;
    points->frame = *frame;
    MOTE_TRY(make_arrays(p));
    uint64_t *codes = mote_alloc(ctx, points->cloud->count * sizeof *codes, "planes codes");
    if (codes == NULL) return MOTE_ERROR_MEMORY;
    points->count = (uint32_t)make_codes(p, codes);
    const mote_status status = order_sort_cpu(ctx, codes, p->order, points->cloud->count);
    mote_free(ctx, codes);
    MOTE_TRY(status);
    MOTE_TRY(gather_points(p));
    make_blocks(p);
    p->free_count = points->count;
    return MOTE_OK;
}

static mote_status read_voters(planes_points *points, planes_sample *voters) {
    *voters = planes_on_cpu(points)->voters;
    return MOTE_OK;
}

/* ---- labels out */

static mote_status write_labels(planes_points *points, int32_t *labels) {
    const planes_cpu *p = planes_on_cpu(points);
    const int64_t all = (int64_t)points->cloud->count, count = points->count;
    memset(labels, 0xFF, (size_t)all * sizeof *labels);
#pragma omp parallel for schedule(static) num_threads(points->ctx->threads)
    for (int64_t i = 0; i < count; i++) labels[p->order[i]] = p->label[i];
    return MOTE_OK;
}

const mote_planes_ops mote_planes_cpu = {
    open_points,           release_points,         place_points,           planes_vote_cpu,
    planes_assign_cpu,     planes_footprint_cpu,   planes_relabel_cpu,     planes_outline_cpu,
    read_points,           planes_read_sample_cpu, planes_read_places_cpu, read_voters,
    planes_read_votes_cpu, write_labels,
};
