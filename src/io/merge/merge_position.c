/* Positions in a union. Integer lattices are brought onto a common one where that is exact: per axis the finest step,
   of which all other steps must be whole multiples, with origins a whole number of steps apart. "Whole" allows for
   the rounding of doubles only: no point may move by more than LATTICE_SLACK of a step. What does not fit becomes
   the world's coordinates as double. */
#include <math.h>

#include "io/merge/merge_plan.h"

#define AXES          3
#define LATTICE_SLACK 0.01            /* of a step */
#define OFFSET_ULPS   (8 * 0x1.0p-52) /* offsets are decimal texts rounded to double, and so are sums of them */
#define ROUND_STEPS   1000000.0       /* a new offset is a multiple of these steps, if it can be */
#define LARGEST       0x1.0p+60       /* stored values beyond are left alone */

/* Coordinates on an axis. */
typedef struct span {
    int64_t low, high; /* stored; low > high: no points */
} span;

typedef struct axis_lattice {
    merge_column *column;
    int k; /* of x, y, z */
} axis_lattice;

static bool is_lattice(const mote_column *column) {
    return !mote_type_is_float(column->type) && column->scale > 0 && isfinite(column->scale) &&
           isfinite(column->offset);
}

static span span_of(const merge_plan *plan, const axis_lattice *axis, uint32_t input) {
    return (span){plan->facts[input].low[axis->k], plan->facts[input].high[axis->k]};
}

/* Whether an input has points on an axis. One without fits any lattice. */
static bool has_points(const merge_plan *plan, const axis_lattice *axis, uint32_t input) {
    const span range = span_of(plan, axis, input);
    return axis->column->sources[input].column != NULL && range.low <= range.high;
}

/* Finds factor and shift of an input on a lattice. False if that would move points. */
static bool fits_lattice(const mote_column *from, const span *range, double step, double origin, merge_source *source) {
    const double ratio = from->scale / step, factor = nearbyint(ratio);
    const double steps = (from->offset - origin) / step, shift = nearbyint(steps);
    const double max = fmax(fabs((double)range->low), fabs((double)range->high));
    const double rounding = OFFSET_ULPS * fmax(fabs(from->offset), fabs(origin)) / step;
    if (!(fabs(shift) < LARGEST) || !(factor * max < LARGEST)) return false;
    if (rounding > LATTICE_SLACK || fabs(steps - shift) > fmax(rounding, 1e-9)) return false;
    if (fabs(ratio - factor) * max > LATTICE_SLACK || fabs(ratio - factor) > 1e-9 * factor) return false;
    source->factor = (int64_t)factor;
    source->shift = (int64_t)shift;
    return true;
}

/* The range of the merged coordinates of an axis, once all inputs fit. */
static span merged_span(const merge_plan *plan, const axis_lattice *axis) {
    span all = {INT64_MAX, INT64_MIN};
    for (uint32_t i = 0; i < plan->input_count; i++) {
        const merge_source *source = &axis->column->sources[i];
        if (!has_points(plan, axis, i)) continue;
        const span range = span_of(plan, axis, i);
        const int64_t low = range.low * source->factor + source->shift;
        const int64_t high = range.high * source->factor + source->shift;
        if (low < all.low) all.low = low;
        if (high > all.high) all.high = high;
    }
    return all;
}

/* Takes 32 bits if the range fits, moving the origin to its middle if need be; else 64. */
static void place_origin(merge_plan *plan, axis_lattice *axis, double step, double origin) {
    merge_column *column = axis->column;
    const span all = merged_span(plan, axis);
    column->type = MOTE_INT32;
    column->scale = step;
    column->offset = origin;
    if (all.low > all.high || (all.low >= INT32_MIN && all.high <= INT32_MAX)) return;
    const uint64_t width = (uint64_t)all.high - (uint64_t)all.low;
    if (width > UINT32_MAX) {
        column->type = MOTE_INT64;
        return;
    }
    int64_t moved = all.low + (int64_t)(width / 2) + 1;
    const int64_t rounded = (int64_t)(nearbyint((double)moved / ROUND_STEPS) * ROUND_STEPS);
    if (all.low - rounded >= INT32_MIN && all.high - rounded <= INT32_MAX) moved = rounded;
    column->offset = origin + step * (double)moved;
    for (uint32_t i = 0; i < plan->input_count; i++) column->sources[i].shift -= moved;
}

/* Brings an axis onto a common lattice; false if there is none. */
static bool merge_axis(merge_plan *plan, axis_lattice *axis) {
    double step, origin;
    /* The finest step of the axis, and the first input's origin. */
    bool first = true;
    step = axis->column->scale;
    origin = axis->column->offset;
    for (uint32_t i = 0; i < plan->input_count; i++) {
        if (!has_points(plan, axis, i)) continue;
        const mote_column *from = axis->column->sources[i].column;
        step = first ? from->scale : fmin(step, from->scale);
        if (first) origin = from->offset;
        first = false;
    }
    for (uint32_t i = 0; i < plan->input_count; i++) {
        merge_source *source = &axis->column->sources[i];
        if (!has_points(plan, axis, i)) continue;
        const span range = span_of(plan, axis, i);
        if (!fits_lattice(source->column, &range, step, origin, source)) return false;
    }
    place_origin(plan, axis, step, origin);
    return true;
}

/* All three axes on lattices; false if one cannot be. */
static bool merge_lattices(merge_plan *plan, merge_column *const *columns) {
    for (int k = 0; k < AXES; k++) {
        axis_lattice axis = {columns[k], k};
        if (!merge_axis(plan, &axis)) return false;
    }
    return true;
}

/* The step of an input's coordinates, 0 if unknown. */
static double step_of(const merge_plan *plan, uint32_t input, merge_column *const *columns) {
    double step = INFINITY;
    for (int k = 0; k < AXES; k++) {
        const mote_column *from = columns[k]->sources[input].column;
        if (from == NULL) continue;
        step = fmin(step, is_lattice(from) ? from->scale : plan->clouds[input]->position_step);
    }
    return isfinite(step) ? step : 0;
}

/* The finest step of all inputs; 0 if one has none. */
static double finest_step(const merge_plan *plan, merge_column *const *columns) {
    double finest = INFINITY;
    for (uint32_t i = 0; i < plan->input_count; i++) {
        if (mote_cloud_count(plan->clouds[i]) > 0) finest = fmin(finest, step_of(plan, i, columns));
    }
    return isfinite(finest) ? finest : 0;
}

/* World coordinates as double. */
static mote_status merge_world(merge_plan *plan, merge_column *const *columns) {
    for (int k = 0; k < AXES; k++) {
        merge_column *column = columns[k];
        column->world = true;
        column->type = MOTE_FLOAT64;
        column->scale = 1;
        column->offset = 0;
        for (uint32_t i = 0; i < plan->input_count; i++) {
            if (column->sources[i].column == NULL) continue;
            column->sources[i].factor = 1, column->sources[i].shift = 0;
            MOTE_TRY(merge_check_double(plan, i, column->sources[i].column));
        }
    }
    return MOTE_OK;
}

/* Floats that all inputs hold the same way stay as they are. */
static bool all_alike(const merge_plan *plan, const merge_column *column) {
    for (uint32_t i = 0; i < plan->input_count; i++) {
        const mote_column *from = column->sources[i].column;
        if (from == NULL) continue;
        if (from->type != column->type || from->bit_count != 0 || from->scale != column->scale ||
            from->offset != column->offset) {
            return false;
        }
    }
    return true;
}

bool merge_positions_alike(const merge_plan *plan) {
    bool alike = true;
    for (int k = 0; k < AXES && alike; k++) {
        const merge_column *column = merge_find(plan, mote_axis_names[k]);
        alike = column != NULL && all_alike(plan, column);
    }
    return alike;
}

mote_status merge_positions(merge_plan *plan) {
    merge_column *columns[AXES];
    bool lattices = true;
    for (int k = 0; k < AXES; k++) {
        columns[k] = merge_find(plan, mote_axis_names[k]);
        if (columns[k] == NULL) {
            return mote_fail(plan->ctx, MOTE_ERROR_ARGUMENT, "%s: has no \"%s\"", plan->names[0], mote_axis_names[k]);
        }
        for (uint32_t i = 0; i < plan->input_count; i++) {
            const mote_column *from = columns[k]->sources[i].column;
            lattices = lattices && (from == NULL || is_lattice(from));
        }
    }
    const double finest = finest_step(plan, columns);
    if (merge_positions_alike(plan)) {
        plan->position_step = lattices ? 0 : finest;
        return MOTE_OK;
    }
    if (lattices && merge_lattices(plan, columns)) return MOTE_OK;
    plan->position_step = finest;
    MOTE_TRY(merge_world(plan, columns));
    if (lattices) {
        mote_warn(plan->ctx,
                  "the inputs' steps and origins have no common lattice; positions are kept as double, with a step "
                  "of %g",
                  finest);
    }
    return MOTE_OK;
}
