/* Positions on the integer lattice that LAS wants: X · scale + offset with 32-bit X.
   Integer columns keep their lattice. Floats get, in this order: the decimal step that the source states; the
   coarsest decimal step that gives every coordinate back; the finest one whose lattice spans them. */
#include <float.h>
#include <math.h>

#include "io/las/write/las_plan.h"

#define LATTICE_MAX   2147483000.0 /* steps from the offset to a point, a little below 2^31 */
#define OFFSET_ROUND  1000.0       /* offsets are multiples of it where there is room */
#define SAMPLE_POINTS 4096u
#define STEPS_FINEST  12

/* Powers of ten, exact as doubles: a step is 1 over one of them. */
static const double powers[STEPS_FINEST + 1] = {1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12};

static mote_status refuse_span(mote_context *ctx, const las_plan *plan, int axis, double low, double high) {
    return mote_fail(ctx, MOTE_ERROR_UNSUPPORTED,
                     "%s: %c runs from %g to %g: the 32-bit integers of LAS cannot hold that; crop the cloud first",
                     plan->path, 'x' + axis, low, high);
}

/* A round number at or a little below low from which high is within reach of the lattice. */
static double choose_offset(double low, double high, double step) {
    if (fmax(fabs(low), fabs(high)) / step <= LATTICE_MAX) return 0;
    const double round = floor(low / OFFSET_ROUND) * OFFSET_ROUND;
    if (step <= OFFSET_ROUND && (high - round) / step <= LATTICE_MAX) return round;
    return step <= 1 ? floor(low) : floor(low / step) * step;
}

static bool spans(double low, double high, double step) {
    return (high - choose_offset(low, high, step)) / step <= LATTICE_MAX;
}

/* Whether the lattice of 1/power gives back the values at first, first + stride, … : as the same float, or within
   the rounding of a double that came from decimal text or from a lattice with an offset. */
static bool is_exact(const mote_context *ctx, const mote_column *column, uint64_t count, uint64_t stride, double power,
                     double largest) {
    const bool single = column->type == MOTE_FLOAT32 && column->scale == 1 && column->offset == 0;
    const double tolerance = 4 * DBL_EPSILON * largest;
    bool exact = single || tolerance * power < 1e-3;
#pragma omp parallel for schedule(static) num_threads(ctx->threads) reduction(&& : exact)
    for (int64_t i = 0; i < (int64_t)(count / stride); i++) {
        const double value = mote_column_value(column, (uint64_t)i * stride);
        const double back = nearbyint(value * power) / power;
        const bool same = single ? (float)back == (float)value : fabs(back - value) <= tolerance;
        exact = exact && (same || !isfinite(value)); /* those are refused or left out */
    }
    return exact;
}

/* The step of an axis; 0 where none down to 1 spans it. */
static double choose_step(const mote_context *ctx, const las_plan *plan, const mote_column *column, double low,
                          double high) {
    const double stated = plan->cloud->position_step, largest = fmax(fabs(low), fabs(high));
    const uint64_t count = plan->cloud->count;
    if (stated > 0 && isfinite(stated) && spans(low, high, stated)) return stated;
    double finest = 0;
    for (int k = 0; k <= STEPS_FINEST && spans(low, high, 1 / powers[k]); k++) {
        finest = 1 / powers[k];
        const uint64_t stride = count / SAMPLE_POINTS + 1;
        if (is_exact(ctx, column, count, stride, powers[k], largest) &&
            is_exact(ctx, column, count, 1, powers[k], largest)) {
            return finest;
        }
    }
    return finest;
}

static mote_status plan_real(mote_context *ctx, las_plan *plan, int axis, double low, double high, las_item *item) {
    const double step = low > high ? 0.001 : choose_step(ctx, plan, item->source, low, high);
    if (step == 0) return refuse_span(ctx, plan, axis, low, high);
    item->how = LAS_ROUND;
    item->scale = plan->scale[axis] = step;
    item->offset = plan->offset[axis] = low > high ? 0 : choose_offset(low, high, step);
    return MOTE_OK;
}

/* Exact range of an integer column. */
static void integer_range(const mote_context *ctx, const mote_column *column, uint64_t count, int64_t *lowest,
                          int64_t *highest) {
    int64_t low = INT64_MAX, high = INT64_MIN;
#pragma omp parallel for schedule(static) num_threads(ctx->threads) reduction(min : low) reduction(max : high)
    for (int64_t i = 0; i < (int64_t)count; i++) {
        const int64_t value = mote_column_integer(column, (uint64_t)i);
        low = value < low ? value : low;
        high = value > high ? value : high;
    }
    *lowest = low;
    *highest = high;
}

/* Integers that need more than 32 bits can still have a range that does not: then the offset moves. */
static mote_status plan_wide(mote_context *ctx, las_plan *plan, int axis, las_item *item) {
    const mote_column *column = item->source;
    int64_t low, high;
    integer_range(ctx, column, plan->cloud->count, &low, &high);
    if (low > high || (low >= INT32_MIN && high <= INT32_MAX)) return MOTE_OK;
    const uint64_t span = (uint64_t)high - (uint64_t)low;
    if (span > UINT32_MAX || (column->type == MOTE_UINT64 && low < 0)) {
        return refuse_span(ctx, plan, axis, (double)low * column->scale + column->offset,
                           (double)high * column->scale + column->offset);
    }
    item->shift = low + (int64_t)((span + 1) / 2);
    plan->offset[axis] = column->offset + (double)item->shift * column->scale;
    return MOTE_OK;
}

static mote_status plan_integer(mote_context *ctx, las_plan *plan, int axis, las_item *item) {
    const mote_column *column = item->source;
    plan->scale[axis] = column->scale;
    plan->offset[axis] = column->offset;
    if (!isfinite(column->scale) || !isfinite(column->offset)) {
        return mote_fail(ctx, MOTE_ERROR_ARGUMENT, "%s: %c has scale %g and offset %g", plan->path, 'x' + axis,
                         column->scale, column->offset);
    }
    item->how = LAS_INTEGER;
    const bool wide = mote_type_size(column->type) == 8 || column->type == MOTE_UINT32;
    return wide && (column->bit_count == 0 || column->bit_count > 31) ? plan_wide(ctx, plan, axis, item) : MOTE_OK;
}

mote_status mote_las_plan_positions(mote_context *ctx, las_plan *plan) {
    mote_box box = {{0}, {0}};
    uint64_t broken = 0;
    bool any_real = false;
    for (int k = 0; k < 3; k++) {
        const mote_column *column = mote_cloud_find(plan->cloud, mote_axis_names[k]);
        if (column == NULL) {
            return mote_fail(ctx, MOTE_ERROR_ARGUMENT, "%s: LAS needs x, y and z; the cloud has no %s", plan->path,
                             mote_axis_names[k]);
        }
        plan->items[k].source = column;
        any_real = any_real || mote_type_is_float(column->type);
        plan->used[column - plan->cloud->columns] = true;
    }
    if (any_real) MOTE_TRY(mote_cloud_bounds(ctx, plan->cloud, &box, &broken));
    /* The octree leaves such points out. */
    if (broken > 0 && plan->params->las_format != LAS_FORMAT_COPC) {
        return mote_fail(ctx, MOTE_ERROR_DATA,
                         "%s: %llu points have a coordinate that is not a number or infinite, which LAS cannot "
                         "hold; write PLY, or leave them out",
                         plan->path, (unsigned long long)broken);
    }
    for (int k = 0; k < 3; k++) {
        las_item *item = &plan->items[k];
        if (mote_type_is_float(item->source->type)) {
            MOTE_TRY(plan_real(ctx, plan, k, box.min[k], box.max[k], item));
        } else {
            MOTE_TRY(plan_integer(ctx, plan, k, item));
        }
    }
    return MOTE_OK;
}
