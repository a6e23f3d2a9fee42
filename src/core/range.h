/* The range of coordinates that lengths are measured in, in the whole library: 1 / max to max, where max is
   MOTE_MAX_COORDINATE, or, for pictures, MOTE_RENDER_MAX_COORDINATE; both are powers of two. order/cloud_range.h asks
   these of a cloud. */
#ifndef MOTE_RANGE_H
#define MOTE_RANGE_H

#include "core/cloud.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Whether types, scales and offsets alone say that all coordinates are in the range: then no point is looked at. */
bool range_is_sure(const mote_column *const axes[3], double max);
/* Refuses scales and offsets that are out of the range. Those that are not finite leave no point finite, and pass. */
mote_status range_check_axes(mote_context *ctx, const mote_column *const axes[3], double max);
/* Refuses a box around all finite points that reaches out of the range, or, of points whose lengths are measured among
   themselves alone, does not reach into it. An empty box passes. */
mote_status range_check_box(mote_context *ctx, const mote_box *box, double max, bool alone);

#ifdef __cplusplus
}
#endif
#endif
