/* Holds the place of what is being written on the branches; removed when they land. */
#include "io/io_internal.h"
#include "mote/mote.h"
#pragma GCC diagnostic ignored "-Wunused-parameter"
mote_status mote_cloud_read_many(mote_context *ctx, const char *const *paths, uint32_t path_count, const mote_read_params *params, mote_cloud **out) { return path_count == 1 ? mote_cloud_read(ctx, paths[0], params, out) : MOTE_ERROR_UNSUPPORTED; }
mote_status mote_cloud_unite(mote_context *ctx, mote_cloud *const *clouds, const char *const *names, uint32_t count, mote_cloud **out) { return MOTE_ERROR_UNSUPPORTED; }
