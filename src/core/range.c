/* The range of coordinates that lengths are measured in: see mote/cloud.h, which gives the reason for its ends. */
#include "core/range.h"

#include <float.h>
#include <math.h>

#include "core/column_math.h"

/* The largest size of a stored value, whatever it is. */
static double max_stored(const mote_column *axis) {
    if (axis->type == MOTE_FLOAT64) return DBL_MAX;
    if (axis->type == MOTE_FLOAT32) return (double)FLT_MAX;
    return ldexp(1, axis->bit_count > 0 ? axis->bit_count : 8 * (int)mote_type_size(axis->type));
}

/* The smallest size of a stored value that is not 0. */
static double min_stored(const mote_column *axis) {
    if (axis->type == MOTE_FLOAT64) return 0;
    return axis->type == MOTE_FLOAT32 ? 0x1p-149 : 1;
}

bool range_is_sure(const mote_column *const axes[3], double max) {
    for (int k = 0; k < 3; k++) {
        const double scale = fabs(axes[k]->scale), offset = fabs(axes[k]->offset);
        if (!(max_stored(axes[k]) * scale + offset <= max && min_stored(axes[k]) * scale >= 1 / max)) return false;
    }
    return true;
}

mote_status range_check_axes(mote_context *ctx, const mote_column *const axes[3], double max) {
    for (int k = 0; k < 3; k++) {
        const double scale = fabs(axes[k]->scale), offset = fabs(axes[k]->offset);
        if (isfinite(scale) && !(scale >= 1 / max && scale <= max)) {
            return mote_fail(ctx, MOTE_ERROR_DATA,
                             "the scale of %s is %g: lengths are measured with scales from %g to %g (2^%d)",
                             axes[k]->name, axes[k]->scale, 1 / max, max, ilogb(max));
        }
        if (isfinite(offset) && offset > max) {
            return mote_fail(ctx, MOTE_ERROR_DATA,
                             "the offset of %s is %g: lengths are measured among coordinates up to %g (2^%d)",
                             axes[k]->name, axes[k]->offset, max, ilogb(max));
        }
    }
    return MOTE_OK;
}

mote_status range_check_box(mote_context *ctx, const mote_box *box, double max, bool alone) {
    double farthest = 0;
    int axis = 0;
    for (int k = 0; k < 3; k++) {
        if (!(box->min[k] <= box->max[k])) return MOTE_OK; /* no point is finite */
        const double far = fmax(fabs(box->min[k]), fabs(box->max[k]));
        if (far > max) {
            return mote_fail(ctx, MOTE_ERROR_DATA,
                             "%s runs from %g to %g: lengths are measured among coordinates up to %g (2^%d)",
                             mote_axis_names[k], box->min[k], box->max[k], max, ilogb(max));
        }
        if (far > farthest) farthest = far, axis = k;
    }
    if (!alone || farthest == 0 || farthest >= 1 / max) return MOTE_OK;
    return mote_fail(ctx, MOTE_ERROR_DATA,
                     "%s runs from %g to %g, and no axis is farther from 0: lengths are measured among coordinates of "
                     "which one is %g (2^-%d) or more",
                     mote_axis_names[axis], box->min[axis], box->max[axis], 1 / max, ilogb(max));
}
