/* Passes over columns by which the LAS writer finds out what they need. */
#include <math.h>
#include <omp.h>

#include "io/las/write/las_plan.h"

#define STEP_TOLERANCE 1e-6 /* of a step: what division by a decimal step may leave over */

static void widen(las_range *range, double low, double high, bool whole, bool finite) {
    range->low = low < range->low ? low : range->low;
    range->high = high > range->high ? high : range->high;
    range->whole = range->whole && whole;
    range->finite = range->finite && finite;
}

/* Integers without scale and offset need no look at fractions. */
static void scan_integers(const mote_column *column, uint64_t first, uint64_t count, las_range *range) {
    uint64_t raw[LAS_BATCH_POINTS];
    int64_t low = INT64_MAX, high = INT64_MIN;
    mote_las_load_integers(column, first, count, raw);
    for (uint64_t i = 0; i < count; i++) {
        const int64_t value = (int64_t)raw[i];
        low = value < low ? value : low;
        high = value > high ? value : high;
    }
    widen(range, (double)low, (double)high, true, true);
}

/* Whether a value is a whole number of steps: to what a division leaves over, or as the float that is nearest. */
static bool is_whole(double steps, double value, double step, bool single) {
    const double nearest = nearbyint(steps);
    if (step == 1) return steps == nearest;
    return fabs(steps - nearest) <= STEP_TOLERANCE || (single && (float)(nearest * step) == (float)value);
}

static void scan_values(const mote_column *column, uint64_t first, uint64_t count, double divisor, las_range *range) {
    double values[LAS_BATCH_POINTS];
    const bool single = column->type == MOTE_FLOAT32 && column->scale == 1 && column->offset == 0;
    double low = INFINITY, high = -INFINITY;
    bool whole = true, all_finite = true;
    mote_las_load_values(column, first, count, values);
    for (uint64_t i = 0; i < count; i++) {
        const double value = values[i] / divisor;
        const bool finite = isfinite(value);
        all_finite = all_finite && finite;
        whole = whole && finite && is_whole(value, values[i], divisor, single);
        low = finite && value < low ? value : low;
        high = finite && value > high ? value : high;
    }
    widen(range, low, high, whole, all_finite);
}

static void scan_batch(const las_scan *scan, uint64_t first, uint64_t count, las_range *range) {
    const mote_column *column = scan->column;
    if (!mote_type_is_float(column->type) && column->scale == 1 && column->offset == 0 && scan->divisor == 1) {
        scan_integers(column, first, count, range);
    } else {
        scan_values(column, first, count, scan->divisor, range);
    }
}

static const las_range empty = {INFINITY, -INFINITY, true, true};

las_scan mote_las_scan_of(const mote_column *column, double divisor) {
    const las_scan scan = {column, divisor, empty};
    return scan;
}

mote_status mote_las_scan(mote_context *ctx, las_scan *scans, uint32_t scan_count, uint64_t count) {
    const uint64_t parts = (uint64_t)ctx->threads * scan_count;
    las_range *ranges = mote_alloc(ctx, parts * sizeof *ranges, "LAS plan");
    if (ranges == NULL) return MOTE_ERROR_MEMORY;
    for (uint64_t i = 0; i < parts; i++) ranges[i] = empty;
    const int64_t batches = (int64_t)((count + LAS_BATCH_POINTS - 1) / LAS_BATCH_POINTS);
#pragma omp parallel for schedule(static) num_threads(ctx->threads)
    for (int64_t batch = 0; batch < batches; batch++) {
        las_range *mine = ranges + (uint64_t)omp_get_thread_num() * scan_count;
        const uint64_t first = (uint64_t)batch * LAS_BATCH_POINTS, remaining = count - first;
        const uint64_t points = remaining < LAS_BATCH_POINTS ? remaining : LAS_BATCH_POINTS;
        for (uint32_t s = 0; s < scan_count; s++) scan_batch(&scans[s], first, points, &mine[s]);
    }
    for (uint32_t s = 0; s < scan_count; s++) {
        for (uint64_t i = s; i < parts; i += scan_count) {
            widen(&scans[s].range, ranges[i].low, ranges[i].high, ranges[i].whole, ranges[i].finite);
        }
    }
    mote_free(ctx, ranges);
    return MOTE_OK;
}

bool mote_las_is_single(const mote_context *ctx, const mote_column *column, uint64_t count) {
    bool single = true;
#pragma omp parallel for schedule(static) num_threads(ctx->threads) reduction(&& : single)
    for (int64_t i = 0; i < (int64_t)count; i++) {
        const double value = mote_column_value(column, (uint64_t)i);
        single = single && (isnan(value) || (fabs(value) <= 3.4028234e38 && (double)(float)value == value));
    }
    return single;
}
