/* The points of a part, as a cloud. */
#define _XOPEN_SOURCE 700 /* pread */
#include <errno.h>
#include <unistd.h>

#include "io/output_calls.h"
#include "parts/parts.h"

static mote_status read_records(parts_run *run, const parts_range *range, uint8_t *records) {
    const uint64_t all = range->points * run->record_bytes, at = range->at * run->record_bytes;
    for (uint64_t done = 0; done < all;) {
        const uint64_t rest = all - done, now = rest < PARTS_BUFFER_BYTES ? rest : PARTS_BUFFER_BYTES;
        const ssize_t got = pread(run->scratch_file, records + done, now, (off_t)(at + done));
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return mote_system_error(run->ctx, run->scratch_path, "read");
        if (got == 0) return mote_fail(run->ctx, MOTE_ERROR_IO, "%s: was cut by others", run->scratch_path);
        done += (uint64_t)got;
    }
    return MOTE_OK;
}

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
    MOTE_TRY(read_records(run, range, records));
    if (run->gives_back) {
        output_give_back(run->scratch_file, range->at * run->record_bytes, range->points * run->record_bytes);
    }
    return MOTE_OK;
}
