/* Levels of detail on CPU cores: the order of the points, the octree, sampling, colours. */
#include "lod/lod_cpu.h"

#include "device/backend.h"
#include "lod/lod_ops.h"
#include "order/order_of_cloud.h"
#include "order/order_ops.h"

/* The order of a part of a larger whole, whose lattice the part has not seen. */
static mote_status order_part(mote_lod *lod) {
    mote_context *ctx = lod->ctx;
    const mote_order_ops *order = lod->device->backend->order;
    const uint64_t all = lod->cloud->count;
    lod->lattice = lod->whole->lattice;
    lod->codes = mote_alloc(ctx, all * sizeof *lod->codes, "codes");
    lod->order = mote_alloc(ctx, all * sizeof *lod->order, "order");
    if (lod->codes == NULL || lod->order == NULL) return MOTE_ERROR_MEMORY;
    mote_stage(ctx, "codes");
    MOTE_TRY(order->codes(lod->device, lod->cloud, &lod->lattice, lod->codes));
    MOTE_TRY(mote_progress(ctx, 0.35, "computing Morton codes"));
    mote_stage(ctx, "sort");
    return order->sort(lod->device, lod->codes, lod->order, all);
}

static mote_status order_whole(mote_lod *lod) {
    order_of_cloud made;
    MOTE_TRY(order_of_cloud_make(lod->ctx, lod->source, &made));
    lod->lattice = made.lattice;
    lod->skipped = made.skipped;
    lod->codes = made.codes;
    lod->order = made.order;
    return MOTE_OK;
}

/* Sorts the points: order and codes. Points left out have the largest code and fall off the end. */
static mote_status build_order(mote_lod *lod) {
    const mote_progress_span whole = mote_progress_enter(lod->ctx, 0, 0.6);
    const mote_status status = lod->whole != NULL ? order_part(lod) : order_whole(lod);
    mote_progress_leave(lod->ctx, whole);
    lod->count = lod->cloud->count - lod->skipped;
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
    if (lod->whole != NULL && lod->params.sampling == MOTE_LOD_POISSON && lod->whole->levels == NULL) return MOTE_OK;
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
