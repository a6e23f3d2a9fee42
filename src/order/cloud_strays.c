/* Points so far from all others that they stretch the box: which, how far, and the box of the rest.

   A sample tells where nearly all points are, axis by axis; one pass then counts what lies far outside of that. Of a
   cloud on a GPU the sample is brought to the host, and all points, a batch at a time, only where there may be strays.

       stray                                     core          far: FAR_TIMES the core's longest side
         .                                     |:::::::|        on each side of it
     ────┼───────────┬─────────────────────────┼───────┼─────────────────────────┬───────
                     └─────────── far ─────────┘       └─────────── far ─────────┘          */
#include <math.h>
#include <stdlib.h>

#include "core/cloud.h"
#include "core/column_math.h"
#include "core/core.h"
#include "device/backend.h"
#include "math/hash.h"
#include "order/order_ops.h"

#define SAMPLE_POINTS 8192u
#define BATCH_POINTS  (1u << 20) /* of a cloud on a GPU, that come to the host at a time */
#define END_SHARE     100u       /* a hundredth of the sample at either end of an axis does not count as core */
#define STRAY_SHARE   100u       /* more than one point in a hundred is no stray: the cloud is like that */
#define FAR_TIMES     8.0        /* this many times its longest side away from the core, a point stretches the box */

static int compare(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static bool is_finite(const mote_column *const axes[3], uint64_t i, double at[3]) {
    for (int k = 0; k < 3; k++) at[k] = column_value(axes[k], i);
    return isfinite(at[0]) && isfinite(at[1]) && isfinite(at[2]);
}

/* ---- points of a cloud on a GPU, brought to the host by index */

typedef struct gathered {
    uint32_t *indices;   /* [capacity] which points */
    uint8_t *values;     /* [3][capacity] of up to 8 bytes each */
    mote_column axes[3]; /* columns of these values */
    uint64_t capacity;
} gathered;

static mote_status gathered_open(mote_context *ctx, const mote_column *const axes[3], uint64_t capacity, gathered *g) {
    g->capacity = capacity;
    g->indices = mote_alloc(ctx, capacity * sizeof *g->indices, "strays");
    g->values = mote_alloc(ctx, 3 * capacity * sizeof(double), "strays");
    for (uint32_t k = 0; k < 3; k++) {
        g->axes[k] = *axes[k];
        g->axes[k].data = g->values + k * capacity * sizeof(double);
        g->axes[k].stride_bytes = mote_type_size(axes[k]->type);
    }
    return g->indices != NULL && g->values != NULL ? MOTE_OK : MOTE_ERROR_MEMORY;
}

static void gathered_close(mote_context *ctx, gathered *g) {
    mote_free(ctx, g->indices);
    mote_free(ctx, g->values);
}

/* Brings the first count of the indices. */
static mote_status gather(mote_device *device, const mote_column *const axes[3], uint64_t count, gathered *g) {
    const mote_order_ops *ops = device->backend->order;
    for (uint32_t k = 0; k < 3; k++) {
        uint8_t *const to = g->values + k * g->capacity * sizeof(double);
        MOTE_TRY(
            ops->permute(device, axes[k]->data, g->axes[k].stride_bytes, axes[k]->stride_bytes, g->indices, count, to));
    }
    return MOTE_OK;
}

/* ---- the sample: points evenly along the cloud, each somewhere in its share of it, for scans have rows */

static uint64_t sampled_point(uint64_t points, uint64_t size, uint64_t i) {
    const uint64_t share = points / size;
    return share * i + mote_hash_pair(points, i) % share;
}

/* Adds a point to the count of those in values [3][SAMPLE_POINTS], if it is finite. */
static void add_sample(const mote_column *const axes[3], uint64_t i, double *values, uint32_t *count) {
    double at[3];
    if (!is_finite(axes, i, at)) return;
    for (uint32_t k = 0; k < 3; k++) values[k * SAMPLE_POINTS + *count] = at[k];
    ++*count;
}

static mote_status sample_device(mote_context *ctx, const mote_cloud *cloud, const mote_column *const axes[3],
                                 uint64_t size, double *values, uint32_t *count) {
    gathered g;
    mote_status status = gathered_open(ctx, axes, size, &g);
    for (uint64_t i = 0; i < size && status == MOTE_OK; i++) {
        g.indices[i] = (uint32_t)sampled_point(cloud->count, size, i);
    }
    if (status == MOTE_OK) status = gather(cloud->device, axes, size, &g);
    const mote_column *const there[3] = {&g.axes[0], &g.axes[1], &g.axes[2]};
    for (uint64_t i = 0; i < size && status == MOTE_OK; i++) add_sample(there, i, values, count);
    gathered_close(ctx, &g);
    return status;
}

/* Of the sampled points, how many are finite; values [3][SAMPLE_POINTS] out, each axis sorted. */
static mote_status sample_points(mote_context *ctx, const mote_cloud *cloud, const mote_column *const axes[3],
                                 double *values, uint32_t *count) {
    const uint64_t size = cloud->count < SAMPLE_POINTS ? cloud->count : SAMPLE_POINTS;
    *count = 0;
    if (cloud->device != NULL) {
        MOTE_TRY(size > 0 ? sample_device(ctx, cloud, axes, size, values, count) : MOTE_OK);
    } else {
        for (uint64_t i = 0; i < size; i++) add_sample(axes, sampled_point(cloud->count, size, i), values, count);
    }
    for (uint32_t k = 0; k < 3; k++) qsort(values + (uint64_t)k * SAMPLE_POINTS, *count, sizeof *values, compare);
    return MOTE_OK;
}

/* The core of the sample, and what a point of the rest is in. */
static void find_near(const double *values, uint32_t count, mote_box *near) {
    double side = 0;
    for (uint32_t k = 0; k < 3; k++) {
        /* Where nearly all points are on an axis. */
        const double *sorted = values + (uint64_t)k * SAMPLE_POINTS;
        const uint32_t cut = count / END_SHARE;
        near->min[k] = sorted[cut];
        near->max[k] = sorted[count - 1 - cut];
        side = fmax(side, near->max[k] - near->min[k]);
    }
    for (uint32_t k = 0; k < 3; k++) {
        near->min[k] -= FAR_TIMES * side;
        near->max[k] += FAR_TIMES * side;
    }
}

static bool is_in(const mote_box *box, const double at[3]) {
    return at[0] >= box->min[0] && at[0] <= box->max[0] && at[1] >= box->min[1] && at[1] <= box->max[1] &&
           at[2] >= box->min[2] && at[2] <= box->max[2];
}

static double distance_to(const mote_box *box, const double at[3]) {
    double off[3];
    for (int k = 0; k < 3; k++) off[k] = fmax(0, fmax(box->min[k] - at[k], at[k] - box->max[k]));
    return hypot(hypot(off[0], off[1]), off[2]);
}

/* ---- all points */

/* What is found in some of the points. */
typedef struct part {
    mote_box rest;
    uint64_t finite, strays, farthest;
    double distance;       /* of the farthest to the box of what is near */
    double farthest_at[3]; /* its place */
} part;

static const part nothing = {{{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}}, 0, 0, 0, 0, {0}};

static void look_at(const mote_box *near, const double at[3], uint64_t i, part *to) {
    to->finite++;
    if (is_in(near, at)) {
        for (int k = 0; k < 3; k++) {
            to->rest.min[k] = at[k] < to->rest.min[k] ? at[k] : to->rest.min[k];
            to->rest.max[k] = at[k] > to->rest.max[k] ? at[k] : to->rest.max[k];
        }
        return;
    }
    const double distance = distance_to(near, at);
    if (to->strays++ == 0 || distance > to->distance) {
        to->distance = distance;
        to->farthest = i;
        memcpy(to->farthest_at, at, sizeof to->farthest_at);
    }
}

/* Of two parts, the first of lower points. */
static void join(part *to, const part *from) {
    for (int k = 0; k < 3; k++) {
        to->rest.min[k] = fmin(to->rest.min[k], from->rest.min[k]);
        to->rest.max[k] = fmax(to->rest.max[k], from->rest.max[k]);
    }
    if (from->strays > 0 && (to->strays == 0 || from->distance > to->distance)) {
        to->distance = from->distance;
        to->farthest = from->farthest;
        memcpy(to->farthest_at, from->farthest_at, sizeof to->farthest_at);
    }
    to->finite += from->finite;
    to->strays += from->strays;
}

/* Points [from, to) of columns that begin with point first. */
static part look_at_range(const mote_column *const axes[3], const mote_box *near, uint64_t first, uint64_t from,
                          uint64_t to) {
    part found = nothing;
    for (uint64_t i = from; i < to; i++) {
        double at[3];
        if (is_finite(axes, i, at)) look_at(near, at, first + i, &found);
    }
    return found;
}

/* Each thread takes a share of the count points; parts has one for each. */
static void look_at_points(const mote_column *const axes[3], const mote_box *near, uint64_t first, uint64_t count,
                           int64_t threads, part *parts, part *all) {
    const uint64_t share = count / (uint64_t)threads;
#pragma omp parallel for schedule(static) num_threads((int)threads)
    for (int64_t t = 0; t < threads; t++) {
        const uint64_t from = share * (uint64_t)t;
        parts[t] = look_at_range(axes, near, first, from, t + 1 < threads ? from + share : count);
    }
    for (int64_t t = 0; t < threads; t++) join(all, &parts[t]);
}

static mote_status look_at_device(mote_context *ctx, const mote_cloud *cloud, const mote_column *const axes[3],
                                  const mote_box *near, part *parts, part *all) {
    gathered g;
    const uint64_t batch = cloud->count < BATCH_POINTS ? cloud->count : BATCH_POINTS;
    mote_status status = gathered_open(ctx, axes, batch, &g);
    const mote_column *const there[3] = {&g.axes[0], &g.axes[1], &g.axes[2]};
    for (uint64_t first = 0; first < cloud->count && status == MOTE_OK; first += batch) {
        const uint64_t count = cloud->count - first < batch ? cloud->count - first : batch;
        for (uint64_t i = 0; i < count; i++) g.indices[i] = (uint32_t)(first + i);
        status = gather(cloud->device, axes, count, &g);
        if (status == MOTE_OK) look_at_points(there, near, first, count, ctx->threads, parts, all);
    }
    gathered_close(ctx, &g);
    return status;
}

static mote_status look_at_all(mote_context *ctx, const mote_cloud *cloud, const mote_column *const axes[3],
                               const mote_box *near, part *all) {
    part *parts = mote_alloc(ctx, (uint64_t)ctx->threads * sizeof *parts, "strays");
    mote_status status = MOTE_OK;
    *all = nothing;
    if (parts == NULL) return MOTE_ERROR_MEMORY;
    if (cloud->device != NULL) {
        status = look_at_device(ctx, cloud, axes, near, parts, all);
    } else {
        look_at_points(axes, near, 0, cloud->count, ctx->threads, parts, all);
    }
    mote_free(ctx, parts);
    return status;
}

mote_status mote_cloud_strays(mote_context *ctx, const mote_cloud *cloud, const mote_box *bounds, mote_strays *strays) {
    const mote_column *axes[3];
    mote_box near;
    uint32_t count;
    memset(strays, 0, sizeof *strays);
    MOTE_TRY(mote_cloud_positions(ctx, cloud, axes));
    if (cloud->device != NULL && cloud->count > UINT32_MAX) {
        return mote_fail(ctx, MOTE_ERROR_UNSUPPORTED,
                         "strays among more than 2^32 points on a GPU are not searched for");
    }
    double *values = mote_alloc(ctx, 3ull * SAMPLE_POINTS * sizeof *values, "strays");
    if (values == NULL) return MOTE_ERROR_MEMORY;
    const mote_status status = sample_points(ctx, cloud, axes, values, &count);
    if (count > 0) find_near(values, count, &near);
    mote_free(ctx, values);
    MOTE_TRY(status);
    if (count < END_SHARE || (bounds != NULL && is_in(&near, bounds->min) && is_in(&near, bounds->max))) {
        return mote_cloud_check(cloud);
    }
    part all;
    MOTE_TRY(look_at_all(ctx, cloud, axes, &near, &all));
    MOTE_TRY(mote_cloud_check(cloud));
    if (all.strays == 0 || all.strays > all.finite / STRAY_SHARE) return MOTE_OK;
    strays->count = all.strays;
    strays->farthest = all.farthest;
    strays->distance = distance_to(&all.rest, all.farthest_at);
    strays->rest = all.rest;
    return MOTE_OK;
}
