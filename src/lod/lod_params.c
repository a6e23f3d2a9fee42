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

/* Of a point, at most: codes, order, and the sort by fine codes, which takes points of long runs out once more. Filters
   keep sums of cells as well, poisson candidates. Measured, of 200,000 points of a city, a volume and clusters, with
   grids of 8 and 128: 49; filtered 201 (the city, 128); by distance 58 (the volume). */
#define POINT_BYTES    66u
#define FILTERED_BYTES 210u
#define DISTANCE_BYTES 80u

uint32_t mote_lod_device_point_bytes(const mote_lod_params *params) {
    if (params == NULL || params->filter != MOTE_LOD_FILTER_NONE) return FILTERED_BYTES;
    return params->sampling == MOTE_LOD_POISSON ? DISTANCE_BYTES : POINT_BYTES;
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
