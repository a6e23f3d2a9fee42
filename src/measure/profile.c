/* Profiles of clouds: the points beside a line, in the order in which it passes them. */
#include <float.h>
#include <stdlib.h>

#include "measure/measure_points.h"
#include "measure/profile_line.h"

typedef struct profile_point {
    double along, aside, place[3];
    uint64_t index;
} profile_point;

static measure_unit unit_of(const mote_unit *unit) { return (measure_unit){unit->metres, unit->radians}; }

static mote_status make_strip(mote_context *ctx, const mote_shape *line, double width, const mote_units *units,
                              profile_strip *out) {
    const measure_unit horizontal = unit_of(&units->horizontal);
    memset(out, 0, sizeof *out);
    if (line == NULL || line->kind != MOTE_SHAPE_LINE) {
        return mote_fail(ctx, MOTE_ERROR_ARGUMENT, "a profile needs a line");
    }
    return profile_strip_make(ctx, line->positions + line->part_starts[0], line->part_starts[1] - line->part_starts[0],
                              width, &horizontal, out);
}

mote_status mote_profile_bounds(mote_context *ctx, const mote_shape *line, double width, const mote_units *units,
                                mote_box *box) {
    profile_strip strip;
    const mote_status status = make_strip(ctx, line, width, units, &strip);
    for (int k = 0; k < 2; k++) {
        box->min[k] = strip.min[k];
        box->max[k] = strip.max[k];
    }
    box->min[2] = -DBL_MAX;
    box->max[2] = DBL_MAX;
    profile_strip_free(ctx, &strip);
    return status;
}

/* The points of a block that belong to the strip: how many; to: NULL, or where they go. */
static uint64_t find_in_block(const profile_strip *strip, const measure_block *block, profile_point *to) {
    uint64_t found = 0;
    for (uint64_t i = 0; i < block->count; i++) {
        profile_point point = {0};
        for (int k = 0; k < 3; k++) point.place[k] = block->places[k][i];
        const bool has_height = point.place[2] >= -DBL_MAX && point.place[2] <= DBL_MAX;
        if (!has_height || !profile_strip_place(strip, point.place[0], point.place[1], &point.along, &point.aside)) {
            continue;
        }
        point.index = block->first + i;
        if (to != NULL) to[found] = point;
        found++;
    }
    return found;
}

static int compare(const void *a, const void *b) {
    const profile_point *p = a, *q = b;
    if (p->along != q->along) return p->along < q->along ? -1 : 1;
    for (int k = 0; k < 3; k++) {
        if (p->place[k] != q->place[k]) return p->place[k] < q->place[k] ? -1 : 1;
    }
    return (p->index > q->index) - (p->index < q->index);
}

/* Calls find_in_block for all blocks: starts [blocks + 1] says where each block's points go; to NULL: counts them. */
static mote_status each_block(mote_context *ctx, const measure_points *points, const profile_strip *strip,
                              uint64_t *starts, profile_point *to) {
    const int64_t blocks = (int64_t)measure_block_count(points->count);
    const int64_t step = MEASURE_BATCH_POINTS / MEASURE_BLOCK_POINTS;
    for (int64_t first = 0; first < blocks; first += step) {
        const int64_t end = first + step < blocks ? first + step : blocks;
        MOTE_TRY(mote_progress(ctx, (double)first / (double)blocks, "measure"));
#pragma omp parallel for schedule(dynamic, 1) num_threads(ctx->threads)
        for (int64_t b = first; b < end; b++) {
            measure_block block;
            if (to != NULL && starts[b + 1] == starts[b]) continue;
            measure_read_block(points, 0, points->count, (uint64_t)b, &block);
            const uint64_t found = find_in_block(strip, &block, to != NULL ? to + starts[b] : NULL);
            if (to == NULL) starts[b + 1] = found;
        }
    }
    return MOTE_OK;
}

static mote_status find_points(mote_context *ctx, const measure_points *points, const profile_strip *strip,
                               profile_point **out, uint64_t *count) {
    const uint64_t blocks = measure_block_count(points->count);
    uint64_t *starts = mote_alloc_zero(ctx, (blocks + 1) * sizeof *starts, "profile");
    if (starts == NULL) return MOTE_ERROR_MEMORY;
    mote_status status = each_block(ctx, points, strip, starts, NULL);
    for (uint64_t b = 0; b < blocks; b++) starts[b + 1] += starts[b];
    *count = starts[blocks];
    if (status == MOTE_OK) {
        *out = mote_alloc(ctx, *count * sizeof **out, "profile");
        status = *out != NULL ? each_block(ctx, points, strip, starts, *out) : MOTE_ERROR_MEMORY;
    }
    mote_free(ctx, starts);
    if (status == MOTE_OK) qsort(*out, *count, sizeof **out, compare);
    return status;
}

/* The arrays of a profile in one block of memory, behind it. */
static mote_profile *lay_out(mote_context *ctx, const profile_point *points, uint64_t count, double length) {
    mote_profile *profile =
        mote_alloc_zero(ctx, sizeof *profile + count * (sizeof(uint64_t) + 3 * sizeof(double)), "profile");
    if (profile == NULL) return NULL;
    uint64_t *indices = (uint64_t *)(profile + 1);
    double *along = (double *)(indices + count), *aside = along + count, *height = aside + count;
    for (uint64_t i = 0; i < count; i++) {
        indices[i] = points[i].index;
        along[i] = points[i].along;
        aside[i] = points[i].aside;
        height[i] = points[i].place[2];
    }
    profile->count = count;
    profile->indices = indices;
    profile->along = along;
    profile->aside = aside;
    profile->height = height;
    profile->length = length;
    return profile;
}

mote_status mote_profile_measure(mote_context *ctx, const mote_cloud *cloud, const mote_shape *line, double width,
                                 const mote_units *units, mote_profile **out) {
    measure_points points;
    profile_strip strip;
    profile_point *found = NULL;
    uint64_t count = 0;
    *out = NULL;
    MOTE_TRY(measure_open_points(ctx, cloud, &points));
    mote_stage(ctx, "measure");
    mote_status status = make_strip(ctx, line, width, units, &strip);
    if (status == MOTE_OK) status = find_points(ctx, &points, &strip, &found, &count);
    if (status == MOTE_OK) status = mote_cloud_check(cloud);
    if (status == MOTE_OK) {
        *out = lay_out(ctx, found, count, strip.line.length);
        if (*out == NULL) status = MOTE_ERROR_MEMORY;
    }
    mote_free(ctx, found);
    profile_strip_free(ctx, &strip);
    mote_stage(ctx, NULL);
    return status;
}

void mote_profile_destroy(mote_context *ctx, mote_profile *profile) { mote_free(ctx, profile); }
