/* Points so far from all others that they stretch the box: which, how far, and the box of the rest.

   A sample tells where nearly all points are, axis by axis; one pass then counts what lies far outside of that.

       stray                                     core          far: FAR_TIMES the core's longest side
         .                                     |:::::::|        on each side of it
     ────┼───────────┬─────────────────────────┼───────┼─────────────────────────┬───────
                     └─────────── far ─────────┘       └─────────── far ─────────┘          */
#include <math.h>
#include <stdlib.h>

#include "core/cloud.h"
#include "core/core.h"
#include "math/hash.h"

#define SAMPLE_POINTS 8192u
#define END_SHARE     100u /* a hundredth of the sample at either end of an axis does not count as core */
#define STRAY_SHARE   100u /* more than one point in a hundred is no stray: the cloud is like that */
#define FAR_TIMES     8.0  /* this many times its longest side away from the core, a point stretches the box */

static int compare(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Where nearly all points are on an axis, seen in count sorted values. */
static void core_of(const double *values, uint32_t count, double *low, double *high) {
    const uint32_t cut = count / END_SHARE;
    *low = values[cut];
    *high = values[count - 1 - cut];
}

static bool is_finite(const mote_column *const axes[3], uint64_t i, double at[3]) {
    for (int k = 0; k < 3; k++) at[k] = mote_column_value(axes[k], i);
    return isfinite(at[0]) && isfinite(at[1]) && isfinite(at[2]);
}

/* Points evenly along the cloud, each somewhere in its share of it, for scans have rows. Returns how many are finite;
   values [3][SAMPLE_POINTS] out, each axis sorted. */
static uint32_t sample_points(const mote_cloud *cloud, const mote_column *const axes[3], double *values) {
    const uint64_t points = cloud->count, size = points < SAMPLE_POINTS ? points : SAMPLE_POINTS;
    uint32_t count = 0;
    for (uint64_t i = 0; i < size; i++) {
        const uint64_t first = points / size * i, share = points / size;
        double at[3];
        if (!is_finite(axes, first + mote_hash_pair(points, i) % share, at)) continue;
        for (uint32_t k = 0; k < 3; k++) values[k * SAMPLE_POINTS + count] = at[k];
        count++;
    }
    for (uint32_t k = 0; k < 3; k++) qsort(values + (uint64_t)k * SAMPLE_POINTS, count, sizeof *values, compare);
    return count;
}

/* The core of the sample, and what a point of the rest is in. */
static void find_near(const double *values, uint32_t count, mote_box *near) {
    double side = 0;
    for (uint32_t k = 0; k < 3; k++) {
        core_of(values + (uint64_t)k * SAMPLE_POINTS, count, &near->min[k], &near->max[k]);
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

/* What a thread found. */
typedef struct part {
    mote_box rest;
    uint64_t finite, strays, farthest;
    double distance; /* to the box of what is near */
} part;

static void look_at(const mote_box *near, const double at[3], uint64_t i, part *to) {
    to->finite++;
    if (is_in(near, at)) {
        for (int k = 0; k < 3; k++) {
            to->rest.min[k] = fmin(to->rest.min[k], at[k]);
            to->rest.max[k] = fmax(to->rest.max[k], at[k]);
        }
        return;
    }
    const double distance = distance_to(near, at);
    if (to->strays++ == 0 || distance > to->distance) {
        to->distance = distance;
        to->farthest = i;
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
    }
    to->finite += from->finite;
    to->strays += from->strays;
}

static part look_at_range(const mote_column *const axes[3], const mote_box *near, uint64_t first, uint64_t last) {
    part found = {{{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}}, 0, 0, 0, 0};
    for (uint64_t i = first; i < last; i++) {
        double at[3];
        if (is_finite(axes, i, at)) look_at(near, at, i, &found);
    }
    return found;
}

static mote_status look_at_all(mote_context *ctx, const mote_cloud *cloud, const mote_column *const axes[3],
                               const mote_box *near, part *all) {
    const int64_t threads = ctx->threads;
    part *parts = mote_alloc(ctx, (uint64_t)threads * sizeof *parts, "strays");
    if (parts == NULL) return MOTE_ERROR_MEMORY;
#pragma omp parallel for schedule(static) num_threads(ctx->threads)
    for (int64_t t = 0; t < threads; t++) {
        const uint64_t share = cloud->count / (uint64_t)threads, first = share * (uint64_t)t;
        parts[t] = look_at_range(axes, near, first, t + 1 < threads ? first + share : cloud->count);
    }
    *all = parts[0];
    for (int64_t t = 1; t < threads; t++) join(all, &parts[t]);
    mote_free(ctx, parts);
    return MOTE_OK;
}

mote_status mote_cloud_strays(mote_context *ctx, const mote_cloud *cloud, const mote_box *bounds, mote_strays *strays) {
    const mote_column *axes[3];
    memset(strays, 0, sizeof *strays);
    MOTE_TRY(mote_cloud_need_host(ctx, cloud, "the search for strays"));
    MOTE_TRY(mote_cloud_positions(ctx, cloud, axes));
    double *values = mote_alloc(ctx, 3ull * SAMPLE_POINTS * sizeof *values, "strays");
    if (values == NULL) return MOTE_ERROR_MEMORY;
    const uint32_t count = cloud->count > 0 ? sample_points(cloud, axes, values) : 0;
    mote_box near;
    if (count > 0) find_near(values, count, &near);
    mote_free(ctx, values);
    if (count < END_SHARE || (bounds != NULL && is_in(&near, bounds->min) && is_in(&near, bounds->max))) {
        return mote_cloud_check(cloud);
    }
    part all;
    MOTE_TRY(look_at_all(ctx, cloud, axes, &near, &all));
    MOTE_TRY(mote_cloud_check(cloud));
    if (all.strays == 0 || all.strays > all.finite / STRAY_SHARE) return MOTE_OK;
    double at[3];
    is_finite(axes, all.farthest, at);
    strays->count = all.strays;
    strays->farthest = all.farthest;
    strays->distance = distance_to(&all.rest, at);
    strays->rest = all.rest;
    return MOTE_OK;
}
