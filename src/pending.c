/* Holds the place of what is being written on the branches; removed when they land. */
#include "io/io_internal.h"
#include "lod/lod_ops.h"
#include "mote/mote.h"
#include "order/order_ops.h"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#define PENDING                                                                                                        \
    { return MOTE_ERROR_UNSUPPORTED; }
#ifndef HAVE_TEXT
    bool mote_ply_probe(const mote_input *input) {
    return false;
}
mote_status mote_ply_read(mote_context *ctx, mote_input *input, const mote_read_params *params,
                          mote_cloud **out) PENDING mote_status
    mote_ply_write(mote_context *ctx, const mote_cloud *cloud, const char *path,
                   const mote_write_params *params) PENDING bool mote_xyz_probe(const mote_input *input) {
    return false;
}
mote_status mote_xyz_read(mote_context *ctx, mote_input *input, const mote_read_params *params,
                          mote_cloud **out) PENDING mote_status
    mote_xyz_write(mote_context *ctx, const mote_cloud *cloud, const char *path,
                   const mote_write_params *params) PENDING
#endif
#ifndef HAVE_POTREE
    bool mote_potree_probe(const char *path) {
    return false;
}
mote_status mote_potree_read(mote_context *ctx, const char *path, const mote_read_params *params,
                             mote_cloud **out) PENDING mote_potree_params mote_potree_defaults(void) {
    mote_potree_params p = {0};
    return p;
}
mote_status mote_potree_write(mote_context *ctx, const mote_lod *lod, const char *path,
                              const mote_potree_params *params, mote_potree_report *report) PENDING
#endif
#ifndef HAVE_UNITE
    mote_status mote_cloud_unite(mote_context *ctx, mote_cloud *const *clouds, const char *const *names, uint32_t count,
                                 mote_cloud **out) PENDING mote_status
    mote_cloud_read_many(mote_context *ctx, const char *const *paths, uint32_t path_count,
                         const mote_read_params *params, mote_cloud **out) PENDING
#endif
