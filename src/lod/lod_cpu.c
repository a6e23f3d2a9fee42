/* Levels of detail on CPU cores: the order of the points, the octree, sampling, colours. */
#include "lod/lod_cpu.h"

#include "device/backend.h"
#include "lod/lod_ops.h"
#include "order/order_ops.h"
#include "order/order_prepared.h"

/* The lattice, and the codes of all points; those that reading has made already are the cloud's to give. */
static mote_status build_codes(mote_lod *lod) {
    mote_context *ctx = lod->ctx;
    if (lod->whole != NULL) {
        lod->lattice = lod->whole->lattice;
    } else {
        lod->codes = order_prepared_take((mote_cloud *)(uintptr_t)lod->cloud, &lod->lattice);
        if (lod->codes != NULL) return MOTE_OK;
        mote_stage(ctx, "bounds");
        MOTE_TRY(mote_order_lattice(ctx, lod->cloud, &lod->lattice, &lod->skipped));
    }
    MOTE_TRY(mote_progress(ctx, 0.1, "finding the bounds"));
    lod->codes = mote_alloc(ctx, lod->cloud->count * sizeof *lod->codes, "codes");
    if (lod->codes == NULL) return MOTE_ERROR_MEMORY;
    mote_stage(ctx, "codes");
    MOTE_TRY(lod->device->backend->order->codes(lod->device, lod->cloud, &lod->lattice, lod->codes));
    return mote_progress(ctx, 0.2, "computing Morton codes");
}

/* Sorts the points: order and codes. Points left out have the largest code and fall off the end. */
static mote_status build_order(mote_lod *lod) {
    mote_context *ctx = lod->ctx;
    const uint64_t all = lod->cloud->count;
    MOTE_TRY(build_codes(lod));
    lod->count = all - lod->skipped;
    lod->order = mote_alloc(ctx, all * sizeof *lod->order, "order");
    if (lod->order == NULL) return MOTE_ERROR_MEMORY;
    mote_stage(ctx, "sort");
    mote_progress_share(ctx, 0.2, 0.6);
    const mote_status status = lod->device->backend->order->sort(lod->device, lod->codes, lod->order, all);
    mote_progress_share(ctx, 0, 1);
    return status;
}

static mote_status cpu_build(mote_lod *lod) {
    mote_context *ctx = lod->ctx;
    MOTE_TRY(mote_cloud_need_host(ctx, lod->cloud, "levels of detail on the CPU"));
    MOTE_TRY(build_order(lod));
    mote_stage(ctx, "tree");
    MOTE_TRY(mote_progress(ctx, 0.6, "building the octree"));
    lod->level = mote_alloc(ctx, lod->count, "levels");
    if (lod->level == NULL) return MOTE_ERROR_MEMORY;
    MOTE_TRY(lod_tree_build(lod));
    mote_stage(ctx, "sampling");
    MOTE_TRY(lod_sample_cpu(lod));
    MOTE_TRY(mote_progress(ctx, 0.8, "sampling"));
    if (lod->params.filter != MOTE_LOD_FILTER_NONE && lod->rgb[0] != NULL) {
        mote_stage(ctx, "filter");
        MOTE_TRY(lod_filter_cpu(lod));
    }
    lod_drop_codes(lod);
    return mote_progress(ctx, 1.0, "building the octree");
}

const mote_lod_ops mote_lod_cpu = {cpu_build, NULL, NULL, NULL};
