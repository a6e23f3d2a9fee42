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

mote_status parts_load_records(parts_run *run, uint64_t at, uint64_t points, mote_cloud **out) {
    const uint64_t first = at * run->record_bytes, size_bytes = points * run->record_bytes;
    uint8_t *records = NULL;
    MOTE_TRY(parts_cloud(run, points, out, &records));
    MOTE_TRY(parts_read_at(run->ctx, run->scratch_file, run->scratch_path, first, size_bytes, records));
    if (run->gives_back) output_give_back(run->scratch_file, first, size_bytes);
    return MOTE_OK;
}

mote_status parts_load(parts_run *run, const parts_range *range, mote_cloud **out) {
    return parts_load_records(run, range->at, range->points, out);
}
