/* Passes over columns by which the LAS writer finds out what they need. */
#include <math.h>

#include "io/las_plan.h"

#define STEP_TOLERANCE 1e-6 /* of a step: what division by a decimal step may leave over */

las_range mote_las_scan(const mote_context *ctx, const mote_column *column, uint64_t count, double divisor) {
    double low = INFINITY, high = -INFINITY;
    bool whole = true;
    const double tolerance = divisor == 1 ? 0 : STEP_TOLERANCE;
#pragma omp parallel for schedule(static) num_threads(ctx->threads) reduction(min : low) reduction(max : high) \
    reduction(&& : whole)
    for (int64_t i = 0; i < (int64_t)count; i++) {
        const double value = mote_column_value(column, (uint64_t)i) / divisor;
        if (!isfinite(value)) {
            whole = false;
            continue;
        }
        whole = whole && fabs(value - nearbyint(value)) <= tolerance;
        low = fmin(low, value);
        high = fmax(high, value);
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
