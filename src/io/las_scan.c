/* Passes over columns by which the LAS writer finds out what they need. */
#include <math.h>

#include "io/las_plan.h"

#define STEP_TOLERANCE 1e-6 /* of a step: what division by a decimal step may leave over */

static void widen(las_range *range, double low, double high, bool whole) {
    range->low = low < range->low ? low : range->low;
    range->high = high > range->high ? high : range->high;
    range->whole = range->whole && whole;
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
    widen(range, (double)low, (double)high, true);
}

static void scan_values(const mote_column *column, uint64_t first, uint64_t count, double divisor, las_range *range) {
    double values[LAS_BATCH_POINTS];
    const double tolerance = divisor == 1 ? 0 : STEP_TOLERANCE;
    double low = INFINITY, high = -INFINITY;
    bool whole = true;
    mote_las_load_values(column, first, count, values);
    for (uint64_t i = 0; i < count; i++) {
        const double value = values[i] / divisor;
        const bool finite = isfinite(value);
        whole = whole && finite && fabs(value - nearbyint(value)) <= tolerance;
        low = finite && value < low ? value : low;
        high = finite && value > high ? value : high;
    }
    widen(range, low, high, whole);
}

las_range mote_las_scan(const mote_context *ctx, const mote_column *column, uint64_t count, double divisor) {
    double low = INFINITY, high = -INFINITY;
    bool whole = true;
    const bool plain = !mote_type_is_float(column->type) && column->scale == 1 && column->offset == 0 && divisor == 1;
    const int64_t batches = (int64_t)((count + LAS_BATCH_POINTS - 1) / LAS_BATCH_POINTS);
#pragma omp parallel for schedule(static) num_threads(ctx->threads) reduction(min : low) reduction(max : high) \
    reduction(&& : whole)
    for (int64_t batch = 0; batch < batches; batch++) {
        const uint64_t first = (uint64_t)batch * LAS_BATCH_POINTS, left = count - first;
        const uint64_t points = left < LAS_BATCH_POINTS ? left : LAS_BATCH_POINTS;
        las_range range = {low, high, whole};
        if (plain) {
            scan_integers(column, first, points, &range);
        } else {
            scan_values(column, first, points, divisor, &range);
        }
        low = range.low;
        high = range.high;
        whole = range.whole;
    }
    const las_range range = {low, high, whole};
    return range;
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
