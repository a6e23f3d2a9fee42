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

/* The search for the steps of the axes that are floats. */
typedef struct step_search {
    const mote_column *columns[3]; /* NULL: the step is found */
    double low[3], high[3], steps[3];
    int candidates[3]; /* powers that every value up to here agrees with */
    bool late[3];      /* the candidate was not yet tried on the first pieces */
    uint64_t pieces;   /* of this pass, before this one */
} step_search;

/* Tries the candidate of an axis on a piece, and then finer ones. Where none is exact, the finest that spans stays. */
static void try_axis(const mote_context *ctx, step_search *search, int k, uint64_t count) {
    const mote_column *const column = search->columns[k];
    const double low = search->low[k], high = search->high[k], largest = fmax(fabs(low), fabs(high));
    const uint64_t stride = count / SAMPLE_POINTS + 1;
    for (int *c = &search->candidates[k]; column != NULL; (*c)++) {
        if (*c > STEPS_FINEST || !spans(low, high, 1 / powers[*c])) {
            search->columns[k] = NULL;
            return;
        }
        search->steps[k] = 1 / powers[*c];
        if (is_exact(ctx, column, count, stride, powers[*c], largest) &&
            is_exact(ctx, column, count, 1, powers[*c], largest)) {
            return;
        }
        search->late[k] = search->pieces > 0;
    }
}

static mote_status try_steps(mote_context *ctx, las_plan *plan, void *user, bool *enough) {
    step_search *const search = user;
    *enough = true;
    for (int k = 0; k < 3; k++) {
        try_axis(ctx, search, k, plan->cloud->count);
        *enough = *enough && search->columns[k] == NULL;
    }
    search->pieces++;
    return MOTE_OK;
}

/* The steps of the axes that are floats; 0 where none down to 1 spans them. A candidate that came up behind the first
   piece is tried on all of them once more. */
static mote_status find_steps(mote_context *ctx, las_plan *plan, const mote_box *box, double steps[3]) {
    step_search search = {0};
    const double stated = plan->cloud->position_step;
    bool more = false;
    for (int k = 0; k < 3; k++) {
        const double low = search.low[k] = box->min[k], high = search.high[k] = box->max[k];
        const bool is_stated = stated > 0 && isfinite(stated) && spans(low, high, stated);
        const bool is_asked = mote_type_is_float(plan->items[k].source->type) && low <= high;
        search.steps[k] = is_stated ? stated : 0;
        if (is_asked && !is_stated) search.columns[k] = plan->items[k].source;
        more = more || search.columns[k] != NULL;
    }
    while (more) {
        search.pieces = 0;
        MOTE_TRY(mote_las_each_piece(ctx, plan, try_steps, &search));
        more = false;
        for (int k = 0; k < 3; k++) {
            if (!search.late[k]) search.columns[k] = NULL;
            search.late[k] = false;
            more = more || search.columns[k] != NULL;
        }
    }
    memcpy(steps, search.steps, sizeof search.steps);
    return MOTE_OK;
}

static mote_status plan_real(mote_context *ctx, las_plan *plan, int axis, double step, las_item *item) {
    const double low = plan->seen.box.min[axis], high = plan->seen.box.max[axis];
    if (low > high) step = 0.001;
    if (step == 0) return refuse_span(ctx, plan, axis, low, high);
    item->how = LAS_ROUND;
    item->scale = plan->scale[axis] = step;
    item->offset = plan->offset[axis] = low > high ? 0 : choose_offset(low, high, step);
    return MOTE_OK;
}

/* Integers that need more than 32 bits can still have a range that does not: then the offset moves. */
static mote_status plan_wide(mote_context *ctx, las_plan *plan, int axis, las_item *item) {
    const mote_column *column = item->source;
    const int64_t low = plan->seen.low[axis], high = plan->seen.high[axis];
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
    return mote_las_is_wide(column) ? plan_wide(ctx, plan, axis, item) : MOTE_OK;
}

mote_status mote_las_plan_positions(mote_context *ctx, las_plan *plan) {
    for (int k = 0; k < 3; k++) {
        const mote_column *column = mote_cloud_find(plan->cloud, mote_axis_names[k]);
        if (column == NULL) {
            return mote_fail(ctx, MOTE_ERROR_ARGUMENT, "%s: LAS needs x, y and z; the cloud has no %s", plan->path,
                             mote_axis_names[k]);
        }
        plan->items[k].source = column;
        plan->used[column - plan->cloud->columns] = true;
    }
    /* The octree leaves such points out. */
    if (plan->seen.broken > 0 && plan->params->las_format != LAS_FORMAT_COPC) {
        return mote_fail(ctx, MOTE_ERROR_DATA,
                         "%s: %llu points have a coordinate that is not a number or infinite, which LAS cannot "
                         "hold; write PLY, or leave them out",
                         plan->path, (unsigned long long)plan->seen.broken);
    }
    if (!plan->seen.has_steps) MOTE_TRY(find_steps(ctx, plan, &plan->seen.box, plan->seen.steps));
    plan->seen.has_steps = true;
    for (int k = 0; k < 3; k++) {
        las_item *item = &plan->items[k];
        if (mote_type_is_float(item->source->type)) {
            MOTE_TRY(plan_real(ctx, plan, k, plan->seen.steps[k], item));
        } else {
            MOTE_TRY(plan_integer(ctx, plan, k, item));
        }
    }
    return MOTE_OK;
}
