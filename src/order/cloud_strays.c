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
#include "order/strays.h"

#define BATCH_POINTS (1u << 20) /* of a cloud on a GPU, that come to the host at a time */
#define END_SHARE    100u       /* a hundredth of the sample at either end of an axis does not count as core */
#define STRAY_SHARE  100u       /* more than one point in a hundred is no stray: the cloud is like that */
#define FAR_TIMES    8.0        /* this many times its longest side away from the core, a point stretches the box */

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

uint64_t strays_sample_size(uint64_t points) { return points < STRAYS_SAMPLE_POINTS ? points : STRAYS_SAMPLE_POINTS; }

uint64_t strays_sample_point(uint64_t points, uint64_t size, uint64_t i) {
    const uint64_t share = points / size;
    return share * i + mote_hash_pair(points, i) % share;
}

void strays_sample_add(const mote_column *const axes[3], uint64_t i, strays_sample *sample) {
    double at[3];
    if (!is_finite(axes, i, at)) return;
    for (uint32_t k = 0; k < 3; k++) sample->values[k][sample->count] = at[k];
    sample->count++;
}

static mote_status sample_device(mote_context *ctx, const mote_cloud *cloud, const mote_column *const axes[3],
                                 uint64_t size, strays_sample *sample) {
    gathered g;
    mote_status status = gathered_open(ctx, axes, size, &g);
    for (uint64_t i = 0; i < size && status == MOTE_OK; i++) {
        g.indices[i] = (uint32_t)strays_sample_point(cloud->count, size, i);
    }
    if (status == MOTE_OK) status = gather(cloud->device, axes, size, &g);
    const mote_column *const there[3] = {&g.axes[0], &g.axes[1], &g.axes[2]};
    for (uint64_t i = 0; i < size && status == MOTE_OK; i++) strays_sample_add(there, i, sample);
    gathered_close(ctx, &g);
    return status;
}

static mote_status sample_points(mote_context *ctx, const mote_cloud *cloud, const mote_column *const axes[3],
                                 strays_sample *sample) {
    const uint64_t size = strays_sample_size(cloud->count);
    sample->count = 0;
    if (cloud->device != NULL) return size > 0 ? sample_device(ctx, cloud, axes, size, sample) : MOTE_OK;
    for (uint64_t i = 0; i < size; i++) { strays_sample_add(axes, strays_sample_point(cloud->count, size, i), sample); }
    return MOTE_OK;
}

static bool is_in(const mote_box *box, const double at[3]) {
    return at[0] >= box->min[0] && at[0] <= box->max[0] && at[1] >= box->min[1] && at[1] <= box->max[1] &&
           at[2] >= box->min[2] && at[2] <= box->max[2];
}

/* The core of the sample, widened. */
bool strays_find_near(strays_sample *sample, const mote_box *bounds, mote_box *near) {
    double side = 0;
    if (sample->count < END_SHARE) return false;
    for (uint32_t k = 0; k < 3; k++) {
        /* Where nearly all points are on an axis. */
        double *const sorted = sample->values[k];
        const uint32_t cut = sample->count / END_SHARE;
        qsort(sorted, sample->count, sizeof *sorted, compare);
        near->min[k] = sorted[cut];
        near->max[k] = sorted[sample->count - 1 - cut];
        side = fmax(side, near->max[k] - near->min[k]);
    }
    for (uint32_t k = 0; k < 3; k++) {
        near->min[k] -= FAR_TIMES * side;
        near->max[k] += FAR_TIMES * side;
    }
    return bounds == NULL || !is_in(near, bounds->min) || !is_in(near, bounds->max);
}

static double distance_to(const mote_box *box, const double at[3]) {
    double off[3];
    for (int k = 0; k < 3; k++) off[k] = fmax(0, fmax(box->min[k] - at[k], at[k] - box->max[k]));
    return hypot(hypot(off[0], off[1]), off[2]);
}

/* ---- all points */

void strays_part_clear(strays_part *part) {
    memset(part, 0, sizeof *part);
    for (int k = 0; k < 3; k++) {
        part->rest.min[k] = INFINITY;
        part->rest.max[k] = -INFINITY;
    }
}

static void look_at(const mote_box *near, const double at[3], uint64_t i, strays_part *to) {
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

/* Joins two parts, of which the first has the lower points. */
static void join(strays_part *to, const strays_part *from) {
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
static strays_part look_at_range(const mote_column *const axes[3], const mote_box *near, uint64_t first, uint64_t from,
                                 uint64_t to) {
    strays_part found;
    strays_part_clear(&found);
    for (uint64_t i = from; i < to; i++) {
        double at[3];
        if (is_finite(axes, i, at)) look_at(near, at, first + i, &found);
    }
    return found;
}

/* Each thread takes a share of the points. */
void strays_look_at(const mote_column *const axes[3], const mote_box *near, uint64_t first, uint64_t count,
                    int64_t threads, strays_part *parts, strays_part *all) {
    const uint64_t share = count / (uint64_t)threads;
#pragma omp parallel for schedule(static) num_threads((int)threads)
    for (int64_t t = 0; t < threads; t++) {
        const uint64_t from = share * (uint64_t)t;
        parts[t] = look_at_range(axes, near, first, from, t + 1 < threads ? from + share : count);
    }
    for (int64_t t = 0; t < threads; t++) join(all, &parts[t]);
}

static mote_status look_at_device(mote_context *ctx, const mote_cloud *cloud, const mote_column *const axes[3],
                                  const mote_box *near, strays_part *parts, strays_part *all) {
    gathered g;
    const uint64_t batch = cloud->count < BATCH_POINTS ? cloud->count : BATCH_POINTS;
    mote_status status = gathered_open(ctx, axes, batch, &g);
    const mote_column *const there[3] = {&g.axes[0], &g.axes[1], &g.axes[2]};
    for (uint64_t first = 0; first < cloud->count && status == MOTE_OK; first += batch) {
        const uint64_t count = cloud->count - first < batch ? cloud->count - first : batch;
        for (uint64_t i = 0; i < count; i++) g.indices[i] = (uint32_t)(first + i);
        status = gather(cloud->device, axes, count, &g);
        if (status == MOTE_OK) strays_look_at(there, near, first, count, ctx->threads, parts, all);
    }
    gathered_close(ctx, &g);
    return status;
}

static mote_status look_at_all(mote_context *ctx, const mote_cloud *cloud, const mote_column *const axes[3],
                               const mote_box *near, strays_part *all) {
    strays_part *parts = mote_alloc(ctx, (uint64_t)ctx->threads * sizeof *parts, "strays");
    mote_status status = MOTE_OK;
    strays_part_clear(all);
    if (parts == NULL) return MOTE_ERROR_MEMORY;
    if (cloud->device != NULL) {
        status = look_at_device(ctx, cloud, axes, near, parts, all);
    } else {
        strays_look_at(axes, near, 0, cloud->count, ctx->threads, parts, all);
    }
    mote_free(ctx, parts);
    return status;
}

void strays_tell(const strays_part *all, mote_strays *strays) {
    memset(strays, 0, sizeof *strays);
    if (all->strays == 0 || all->strays > all->finite / STRAY_SHARE) return;
    strays->count = all->strays;
    strays->farthest = all->farthest;
    strays->distance = distance_to(&all->rest, all->farthest_at);
    strays->rest = all->rest;
}

mote_status mote_cloud_strays(mote_context *ctx, const mote_cloud *cloud, const mote_box *bounds, mote_strays *strays) {
    const mote_column *axes[3];
    mote_box near;
    strays_part all;
    memset(strays, 0, sizeof *strays);
    MOTE_TRY(mote_cloud_positions(ctx, cloud, axes));
    if (cloud->device != NULL && cloud->count > UINT32_MAX) {
        return mote_fail(ctx, MOTE_ERROR_UNSUPPORTED,
                         "strays among more than 2^32 points on a GPU are not searched for");
    }
    strays_sample *const sample = mote_alloc(ctx, sizeof *sample, "strays");
    if (sample == NULL) return MOTE_ERROR_MEMORY;
    const mote_status status = sample_points(ctx, cloud, axes, sample);
    const bool may_have = status == MOTE_OK && strays_find_near(sample, bounds, &near);
    mote_free(ctx, sample);
    MOTE_TRY(status);
    if (!may_have) return mote_cloud_check(cloud);
    MOTE_TRY(look_at_all(ctx, cloud, axes, &near, &all));
    MOTE_TRY(mote_cloud_check(cloud));
    strays_tell(&all, strays);
    return MOTE_OK;
}
