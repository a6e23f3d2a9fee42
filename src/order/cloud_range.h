/* Whether a cloud's coordinates are in the range that lengths are measured in (mote/cloud.h). */
#ifndef MOTE_CLOUD_RANGE_H
#define MOTE_CLOUD_RANGE_H

#include "core/cloud.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Refuses a cloud whose coordinates are not, on the host or on a device, before anything is computed of it.
   max    the end of the range, see core/range.h
   alone  lengths are measured among its points alone; false: to the points of another cloud, which is checked itself
   Returns  MOTE_OK, MOTE_ERROR_ARGUMENT (no x, y or z), MOTE_ERROR_DATA with column, value and limit
   Cost     nothing where types and scales tell (integers, and floats as they are); else one pass over the positions */
mote_status order_check_range(mote_context *ctx, const mote_cloud *cloud, double max, bool alone);

#ifdef __cplusplus
}
#endif
#endif
