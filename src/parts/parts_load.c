/* The points of a part, as a cloud. */
#include "io/output_calls.h"
#include "parts/parts.h"

mote_status parts_cloud(parts_run *run, uint64_t points, mote_cloud **out, uint8_t **records) {
    MOTE_TRY(mote_cloud_new(run->ctx, points, out));
    *records = mote_alloc(run->ctx, points * run->record_bytes, "points of a part");
    MOTE_TRY(mote_cloud_adopt(*out, *records));
    for (uint32_t c = 0; c < mote_cloud_column_count(run->source.whole); c++) {
        mote_column view = *mote_cloud_column(run->source.whole, c);
        view.data = *records + run->source.column_at[c];
        view.stride_bytes = (uint32_t)run->record_bytes;
        MOTE_TRY(mote_cloud_add_view(*out, &view));
    }
    return mote_cloud_copy_extras(*out, run->source.whole);
}

mote_status parts_load(parts_run *run, const parts_range *range, mote_cloud **out) {
    uint8_t *records = NULL;
    MOTE_TRY(parts_cloud(run, range->points, out, &records));
    MOTE_TRY(parts_read_at(run->ctx, run->scratch_file, run->scratch_path, range->at * run->record_bytes,
                           range->points * run->record_bytes, records));
    if (run->gives_back) {
        output_give_back(run->scratch_file, range->at * run->record_bytes, range->points * run->record_bytes);
    }
    return MOTE_OK;
}
