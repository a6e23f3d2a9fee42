/* The parameters of an octree. In a file of its own because defaults are asked for on any processor. */
#include "lod/lod_octree.h"

mote_lod_params mote_lod_defaults(void) {
    mote_lod_params params;
    memset(&params, 0, sizeof params);
    params.grid = 128;
    params.merge_points = 10000;
    params.max_node_points = 1u << 24;
    return params;
}

mote_status lod_check_params(mote_context *ctx, const mote_lod_params *p) {
    MOTE_TRY(mote_check_reserved(ctx, p->reserved, sizeof p->reserved, "mote_lod_params", "mote_lod_defaults()"));
    if ((unsigned)p->scheme > MOTE_LOD_REPLACING || (unsigned)p->sampling > MOTE_LOD_POISSON ||
        (unsigned)p->filter > MOTE_LOD_FILTER_GAUSSIAN) {
        return mote_fail(ctx, MOTE_ERROR_ARGUMENT, "scheme, sampling or filter is out of range");
    }
    if (p->grid < 2 || p->grid > 1024 || (p->grid & (p->grid - 1)) != 0) {
        return mote_fail(ctx, MOTE_ERROR_ARGUMENT, "grid is %u, needs a power of two from 2 to 1024", p->grid);
    }
    if (p->merge_points < 1) return mote_fail(ctx, MOTE_ERROR_ARGUMENT, "merge is 0, needs 1 or more points");
    if (p->filter != MOTE_LOD_FILTER_NONE && p->scheme != MOTE_LOD_REPLACING) {
        return mote_fail(ctx, MOTE_ERROR_ARGUMENT, "a colour filter needs the replacing scheme");
    }
    return MOTE_OK;
}
