/* Columns without their no-data values, for those who would take them for measured ones. */
#ifndef MOTE_LIMITS_H
#define MOTE_LIMITS_H

#include "core/cloud.h"

/* A view of a cloud whose normals (normal_x, normal_y, normal_z) are zero where one of the three has no value. memory:
   what it looks at beside the cloud, for mote_free once the view is out of use; NULL where the cloud serves as it is.
 */
mote_status mote_cloud_known_normals(mote_context *ctx, const mote_cloud *cloud, mote_cloud *view, void **memory);

#endif
