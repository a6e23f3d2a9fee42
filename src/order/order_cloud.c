/* All points of a cloud in Morton order, as a cloud. */
#include "core/cloud.h"

/* Which point comes when. */
static mote_status find_order(mote_context *ctx, const mote_cloud *cloud, uint64_t *order) {
    const uint64_t count = cloud->count;
    mote_lattice lattice;
    uint64_t *codes = mote_alloc(ctx, count * sizeof *codes, "codes");
    uint32_t *sorted = mote_alloc(ctx, count * sizeof *sorted, "order");
    mote_status status = codes != NULL && sorted != NULL ? MOTE_OK : MOTE_ERROR_MEMORY;
    if (status == MOTE_OK) status = mote_order_lattice(ctx, cloud, &lattice, NULL);
    if (status == MOTE_OK) status = mote_order_codes(ctx, cloud, &lattice, codes);
    if (status == MOTE_OK) status = mote_order_sort(ctx, codes, sorted, count);
    for (uint64_t i = 0; i < count && status == MOTE_OK; i++) order[i] = sorted[i];
    mote_free(ctx, codes);
    mote_free(ctx, sorted);
    return status;
}

mote_status mote_order_cloud(mote_context *ctx, const mote_cloud *cloud, mote_cloud **out) {
    if (cloud == NULL || out == NULL)
        return mote_fail(ctx, MOTE_ERROR_ARGUMENT, "no cloud, or no place for the sorted");
    *out = NULL;
    MOTE_TRY(mote_cloud_need_host(ctx, cloud, "sorting a cloud"));
    uint64_t *order = mote_alloc(ctx, cloud->count * sizeof *order, "order");
    mote_status status = order != NULL ? MOTE_OK : MOTE_ERROR_MEMORY;
    mote_stage(ctx, "sort");
    const mote_progress_span whole = mote_progress_enter(ctx, 0, 0.5);
    if (status == MOTE_OK) status = find_order(ctx, cloud, order);
    mote_progress_next(ctx, whole, 0.5, 1);
    if (status == MOTE_OK) status = mote_cloud_select(ctx, cloud, order, cloud->count, out);
    mote_progress_leave(ctx, whole);
    mote_stage(ctx, NULL);
    mote_free(ctx, order);
    return status;
}
