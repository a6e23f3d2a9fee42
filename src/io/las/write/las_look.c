/* What the LAS writer's plan learns from the values of all points, in one pass over them. A cloud that comes in pieces
   is read once for that before it is written: so it becomes the file that it becomes as a whole. */
#include <math.h>

#include "io/las/write/las_plan.h"

mote_status mote_las_each_piece(mote_context *ctx, las_plan *plan, las_visit *visit, void *user) {
    const las_pieces *const pieces = plan->pieces;
    bool enough = false, any = true;
    if (pieces == NULL) return visit(ctx, plan, user, &enough);
    MOTE_TRY(pieces->begin(pieces->user));
    while (!enough) {
        MOTE_TRY(pieces->next(pieces->user, &any));
        if (!any) break;
        MOTE_TRY(visit(ctx, plan, user, &enough));
    }
    return MOTE_OK;
}

bool mote_las_is_wide(const mote_column *column) {
    const bool is_wide = mote_type_size(column->type) == 8 || column->type == MOTE_UINT32;
    return !mote_type_is_float(column->type) && is_wide && (column->bit_count == 0 || column->bit_count > 31);
}

/* Exact range of an integer column. */
static void see_integers(const mote_context *ctx, const mote_column *column, uint64_t count, las_seen *seen, int axis) {
    int64_t low = seen->low[axis], high = seen->high[axis];
#pragma omp parallel for schedule(static) num_threads(ctx->threads) reduction(min : low) reduction(max : high)
    for (int64_t i = 0; i < (int64_t)count; i++) {
        const int64_t value = mote_column_integer(column, (uint64_t)i);
        low = value < low ? value : low;
        high = value > high ? value : high;
    }
    seen->low[axis] = low;
    seen->high[axis] = high;
}

static mote_status see_positions(mote_context *ctx, const mote_cloud *cloud, las_seen *seen) {
    const mote_column *axes[3];
    mote_box box;
    uint64_t broken = 0;
    bool any_real = false;
    if (!mote_cloud_find_positions(cloud, axes)) return MOTE_OK; /* explained later */
    for (int k = 0; k < 3; k++) {
        any_real = any_real || mote_type_is_float(axes[k]->type);
        if (mote_las_is_wide(axes[k])) see_integers(ctx, axes[k], cloud->count, seen, k);
    }
    if (!any_real) return MOTE_OK;
    MOTE_TRY(mote_cloud_bounds(ctx, cloud, &box, &broken));
    for (int k = 0; k < 3; k++) {
        seen->box.min[k] = fmin(seen->box.min[k], box.min[k]);
        seen->box.max[k] = fmax(seen->box.max[k], box.max[k]);
    }
    seen->broken += broken;
    return MOTE_OK;
}

static mote_status see_piece(mote_context *ctx, las_plan *plan, void *user, bool *enough) {
    las_seen *const seen = user;
    const mote_cloud *const cloud = plan->cloud;
    const mote_column *const intensity = plan->channels[LAS_INTENSITY];
    (void)enough;
    seen->count += cloud->count;
    MOTE_TRY(mote_las_scan(ctx, plan->scans, plan->scan_count, cloud->count));
    mote_color_see_each(ctx, plan->channels, LAS_RGB, cloud->count, seen->rgb);
    mote_color_see_each(ctx, &plan->channels[LAS_NIR], 1, cloud->count, seen->nir);
    if (intensity != NULL && mote_color_is_real(intensity)) {
        mote_color_see(ctx, intensity, cloud->count, &seen->intensity);
    }
    for (uint64_t c = 0; c < cloud->column_count; c++) {
        if (plan->singles[c]) plan->singles[c] = mote_las_is_single(ctx, &cloud->columns[c], cloud->count);
    }
    return see_positions(ctx, cloud, seen);
}

void mote_las_see_nothing(las_seen *seen) {
    memset(seen, 0, sizeof *seen);
    for (int k = 0; k < 3; k++) {
        seen->box.min[k] = INFINITY;
        seen->box.max[k] = -INFINITY;
        seen->low[k] = INT64_MAX;
        seen->high[k] = INT64_MIN;
    }
    for (int real = 0; real < 2; real++) seen->rgb[real] = seen->nir[real] = mote_color_nothing();
    seen->intensity = mote_color_nothing();
}

/* Whether see_piece would learn anything beside the number of points. */
static bool has_values_to_see(const las_plan *plan) {
    const mote_cloud *const cloud = plan->cloud;
    bool any = plan->scan_count > 0;
    for (uint32_t k = 0; k < LAS_COLORS; k++) {
        const mote_column *const channel = plan->channels[k];
        if (channel == NULL) continue;
        any = any || (k == LAS_INTENSITY ? mote_color_is_real(channel) : !mote_color_is_plain(channel));
    }
    for (uint32_t k = 0; k < 3; k++) {
        const mote_column *const axis = mote_cloud_find(cloud, mote_axis_names[k]);
        any = any || axis == NULL || mote_type_is_float(axis->type) || mote_las_is_wide(axis);
    }
    for (uint64_t c = 0; c < cloud->column_count; c++) any = any || plan->singles[c];
    return any;
}

mote_status mote_las_look(mote_context *ctx, las_plan *plan) {
    if (plan->pieces != NULL && plan->pieces->knows_count && !has_values_to_see(plan)) return MOTE_OK;
    MOTE_TRY(mote_las_each_piece(ctx, plan, see_piece, &plan->seen));
    plan->count = plan->seen.count;
    return MOTE_OK;
}
