/* What a union has to know of the values of its inputs, learnt piece by piece. */
#include <math.h>

#include "core/column_math.h"
#include "io/las/las_format.h"
#include "io/merge/merge_plan.h"

#define DOUBLE_WHOLE (1ll << 53) /* integers up to here are exact as double */

mote_status merge_facts_begin(mote_context *ctx, const mote_cloud *like, merge_facts *facts) {
    memset(facts, 0, sizeof *facts);
    for (int k = 0; k < 3; k++) {
        facts->low[k] = INT64_MAX;
        facts->high[k] = INT64_MIN;
    }
    for (uint32_t g = 0; g < MERGE_COLORS; g++) facts->colors[g] = mote_color_nothing();
    facts->not_double = mote_alloc_zero(ctx, mote_cloud_column_count(like) * sizeof *facts->not_double, "union");
    return facts->not_double != NULL ? MOTE_OK : MOTE_ERROR_MEMORY;
}

void merge_facts_free(mote_context *ctx, merge_facts *facts) {
    mote_free(ctx, facts->not_double);
    facts->not_double = NULL;
}

/* The smallest and largest stored value of an integer column; uint64 saturates. */
static void see_range(const mote_context *ctx, const mote_column *column, uint64_t count, int64_t *low, int64_t *high) {
    int64_t min = *low, max = *high;
    const bool wraps = column->type == MOTE_UINT64;
#pragma omp parallel for schedule(static) num_threads(ctx->threads) reduction(min : min) reduction(max : max)
    for (int64_t i = 0; i < (int64_t)count; i++) {
        int64_t value = mote_column_integer(column, (uint64_t)i);
        if (wraps && value < 0) value = INT64_MAX;
        if (value < min) min = value;
        if (value > max) max = value;
    }
    *low = min;
    *high = max;
}

/* Above 2^53 every second integer is exact still, so each is asked, not just the range. */
static uint64_t count_not_double(const mote_context *ctx, const mote_column *column, uint64_t count) {
    const bool is_signed = merge_whole_type(column) == MOTE_INT64;
    uint64_t lost = 0;
#pragma omp parallel for schedule(static) num_threads(ctx->threads) reduction(+ : lost)
    for (int64_t i = 0; i < (int64_t)count; i++) {
        const int64_t value = mote_column_integer(column, (uint64_t)i);
        const bool negative = is_signed && value < 0;
        uint64_t size = negative ? 0 - (uint64_t)value : (uint64_t)value;
        while (size >= (uint64_t)DOUBLE_WHOLE && size % 2 == 0) size /= 2;
        if (size > (uint64_t)DOUBLE_WHOLE) lost++;
    }
    return lost;
}

static void see_times(const mote_context *ctx, const mote_column *column, uint64_t count, merge_facts *facts) {
    uint64_t set = 0, outside = 0;
#pragma omp parallel for schedule(static) num_threads(ctx->threads) reduction(+ : set, outside)
    for (int64_t i = 0; i < (int64_t)count; i++) {
        const double time = mote_column_value(column, (uint64_t)i);
        set += time != 0;
        outside += time < 0 || time > LAS_WEEK_SECONDS;
    }
    facts->times += set;
    facts->no_week += outside;
}

/* LAS's ranks are whole degrees; those of other formats may be finer. */
static void see_ranks(const mote_context *ctx, const mote_column *rank, uint64_t count, merge_facts *facts) {
    if (!mote_type_is_float(rank->type) && rank->scale == 1 && rank->offset == 0) return;
    uint64_t between = 0;
#pragma omp parallel for schedule(static) num_threads(ctx->threads) reduction(+ : between)
    for (int64_t i = 0; i < (int64_t)count; i++) {
        const double degrees = mote_column_value(rank, (uint64_t)i);
        if (!(rint(degrees) == degrees)) between++;
    }
    facts->ranks_between += between;
}

uint32_t merge_color_channels(const mote_cloud *cloud, uint32_t group, const mote_column *channels[3]) {
    static const char *const names[MERGE_COLORS][3] = {
        {"red", "green", "blue"}, {"nir", NULL, NULL}, {"intensity", NULL, NULL}};
    uint32_t count = 0;
    for (uint32_t k = 0; k < 3 && names[group][k] != NULL; k++) {
        const mote_column *column = mote_cloud_find(cloud, names[group][k]);
        if (column != NULL) channels[count++] = column;
    }
    return count;
}

void merge_facts_see(const mote_context *ctx, const mote_cloud *piece, bool places, merge_facts *facts) {
    const uint64_t count = mote_cloud_count(piece);
    const mote_column *times = mote_cloud_find(piece, "gps_time"), *ranks = mote_cloud_find(piece, "scan_angle_rank");
    for (int k = 0; k < 3 && places; k++) {
        const mote_column *axis = mote_cloud_find(piece, mote_axis_names[k]);
        if (axis == NULL || mote_type_is_float(axis->type)) continue;
        see_range(ctx, axis, count, &facts->low[k], &facts->high[k]);
    }
    for (uint32_t g = 0; g < MERGE_COLORS; g++) {
        const mote_column *channels[3];
        const uint32_t channel_count = merge_color_channels(piece, g, channels);
        mote_color_see_together(ctx, channels, channel_count, count, &facts->colors[g]);
    }
    for (uint32_t c = 0; c < mote_cloud_column_count(piece); c++) {
        const mote_column *column = mote_cloud_column(piece, c);
        const mote_type type = merge_whole_type(column);
        if (type != MOTE_INT64 && type != MOTE_UINT64) continue;
        facts->not_double[c] += count_not_double(ctx, column, count);
    }
    if (ranks != NULL) see_ranks(ctx, ranks, count, facts);
    if (times != NULL) see_times(ctx, times, count, facts);
    facts->points += count;
}
