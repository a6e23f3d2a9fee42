/* Holds the place of what is being written on the branches; removed when they land. */
#include "io/io_internal.h"
#include "lod/lod_ops.h"
#include "mote/mote.h"
#include "order/order_ops.h"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#define PENDING                                                                                                        \
    { return MOTE_ERROR_UNSUPPORTED; }
#ifndef HAVE_LAS
bool mote_las_probe(const mote_input *input) { return false; }
mote_status mote_las_read(mote_context *ctx, mote_input *input, const mote_read_params *params,
                          mote_cloud **out) PENDING mote_status
    mote_las_write(mote_context *ctx, const mote_cloud *cloud, const char *path,
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
#ifndef HAVE_GEN
    mote_gen_params mote_gen_defaults(const char *kind) {
    mote_gen_params p = {0};
    return p;
}
mote_status mote_generate(mote_context *ctx, const char *kind, uint64_t count, const mote_gen_params *params,
                          mote_cloud **out) PENDING
#endif
#ifndef HAVE_LOD
    const mote_lod_ops mote_lod_cpu = {0};
mote_lod_params mote_lod_defaults(void) {
    mote_lod_params p = {0};
    return p;
}
mote_status mote_lod_build(mote_context *ctx, const mote_cloud *cloud, const mote_lod_params *params,
                           mote_lod **out) PENDING void mote_lod_destroy(mote_lod *lod) {}
const mote_lod_params *mote_lod_parameters(const mote_lod *lod) { return NULL; }
const mote_lattice *mote_lod_lattice(const mote_lod *lod) { return NULL; }
uint64_t mote_lod_skipped(const mote_lod *lod) { return 0; }
uint32_t mote_lod_node_count(const mote_lod *lod) { return 0; }
const mote_lod_node *mote_lod_nodes(const mote_lod *lod) { return NULL; }
void mote_lod_node_name(const mote_lod *lod, uint32_t node, char *name) {}
void mote_lod_node_points(const mote_lod *lod, uint32_t node, uint32_t *indices, uint16_t *colors) {}
#endif
#ifndef HAVE_ORDER
const mote_order_ops mote_order_cpu = {0};
#endif
