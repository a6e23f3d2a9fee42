/* The scratch file in Morton order: its parts are ranges of codes, one behind the other, so it is sorted when each of
   them is. */
#include "parts/parts.h"

static mote_status sort_part(parts_run *run, const parts_range *range) {
    mote_context *ctx = run->ctx;
    mote_cloud *cloud = NULL;
    const uint64_t count = range->points, bytes = run->record_bytes;
    uint64_t *codes = mote_alloc(ctx, count * sizeof *codes, "codes");
    uint32_t *order = mote_alloc(ctx, count * sizeof *order, "order");
    uint8_t *sorted = mote_alloc(ctx, count * bytes, "points of a part");
    mote_status status = codes != NULL && order != NULL && sorted != NULL ? MOTE_OK : MOTE_ERROR_MEMORY;
    if (status == MOTE_OK) status = parts_load(run, range, &cloud);
    if (status == MOTE_OK) status = parts_codes(run, cloud, codes);
    if (status == MOTE_OK) status = mote_order_sort(ctx, codes, order, count);
    if (status == MOTE_OK) {
        const uint8_t *from = (const uint8_t *)cloud->columns[0].data - run->source.column_at[0];
#pragma omp parallel for schedule(static) num_threads(ctx->threads)
        for (uint64_t i = 0; i < count; i++) memcpy(sorted + i * bytes, from + order[i] * bytes, bytes);
        status = mote_output_write_at(ctx, &run->scratch, sorted, count * bytes, range->at * bytes);
    }
    mote_cloud_destroy(cloud);
    mote_free(ctx, codes);
    mote_free(ctx, order);
    mote_free(ctx, sorted);
    return status;
}

mote_status parts_sort_all(parts_run *run, double first, double last) {
    const double share = (last - first) / (run->part_count > 0 ? run->part_count : 1);
    const mote_progress_span whole = mote_progress_enter(run->ctx, first, last);
    mote_status status = MOTE_OK;
    for (uint32_t p = 0; p < run->part_count && status == MOTE_OK; p++) {
        mote_progress_next(run->ctx, whole, first + share * p, first + share * (p + 1));
        status = sort_part(run, &run->ranges[p]);
    }
    mote_progress_leave(run->ctx, whole);
    return status;
}
