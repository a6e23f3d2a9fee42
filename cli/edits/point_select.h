/* A cloud of the points whose flags are set. */
#ifndef CLI_POINT_SELECT_H
#define CLI_POINT_SELECT_H

#include <mote/mote.h>

/// flags    [points of the cloud]
/// Returns  MOTE_OK, MOTE_ERROR_MEMORY, or what mote_cloud_select says
mote_status point_select(mote_context *ctx, const mote_cloud *cloud, const uint8_t *flags, mote_cloud **out);

#endif
