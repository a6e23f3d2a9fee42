/* Which bytes of a record the columns of a cloud need, so that the others need not be decoded, or kept. */
#include "io/las/las_source.h"

#define FIRST_LAYERED 6u /* point format */

/* What a byte of a layered record belongs to; 0 for what is always read. */
static uint32_t part_at(uint32_t format, uint32_t at) {
    static const struct {
        uint32_t end, part;
    } parts[] = {
        {8, 0},
        {12, LAZ_WANT_Z},
        {14, LAZ_WANT_INTENSITY},
        {15, 0},
        {16, LAZ_WANT_FLAGS},
        {17, LAZ_WANT_CLASSIFICATION},
        {18, LAZ_WANT_USER_DATA},
        {20, LAZ_WANT_SCAN_ANGLE},
        {22, LAZ_WANT_POINT_SOURCE},
        {30, LAZ_WANT_GPS_TIME},
    };
    for (uint32_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        if (at < parts[i].end) return parts[i].part;
    }
    if (at >= mote_las_record_bytes(format)) return LAZ_WANT_EXTRA;
    if (mote_las_has_colors(format) && at < 36) return LAZ_WANT_RGB;
    return mote_las_has_nir(format) && at < 38 ? LAZ_WANT_NIR : LAZ_WANT_WAVEPACKET;
}

static uint32_t part_of(uint32_t format, uint32_t at) {
    return format < FIRST_LAYERED ? LAZ_WANT_ALL : part_at(format, at);
}

/* Runs of used bytes; gaps of up to gap bytes are read along. false: the runs are too many. */
static bool make_runs(const uint8_t *used, uint32_t record_bytes, uint32_t gap, laz_selection *selection) {
    selection->run_count = 0;
    selection->stride_bytes = 0;
    laz_run *run = NULL;
    for (uint32_t at = 0; at < record_bytes; at++) {
        if (!used[at]) continue;
        if (run != NULL && at - (run->from + run->size_bytes) <= gap) {
            run->size_bytes = (uint16_t)(at + 1 - run->from);
        } else if (selection->run_count == LAZ_RUNS_MAX) {
            return false;
        } else {
            run = &selection->runs[selection->run_count++];
            run->from = (uint16_t)at;
            run->size_bytes = 1;
        }
    }
    for (uint32_t i = 0; i < selection->run_count; i++) {
        selection->runs[i].to = (uint16_t)selection->stride_bytes;
        selection->stride_bytes += selection->runs[i].size_bytes;
    }
    return true;
}

/* Where in the record a column looks, before it is placed. */
static uint32_t column_at(const las_source *source, const mote_column *column) {
    return (uint32_t)((const uint8_t *)column->data - (source->input->data + source->header.points_at));
}

uint32_t mote_las_parts_of(const las_source *source, const bool *marks) {
    uint32_t parts = 0;
    for (uint64_t c = 0; c < source->cloud->column_count; c++) {
        const mote_column *column = &source->cloud->columns[c];
        const uint32_t at = column_at(source, column), size_bytes = mote_type_size(column->type);
        for (uint32_t i = 0; marks[c] && i < size_bytes; i++) parts |= part_of(source->header.origin.format, at + i);
    }
    return parts;
}

mote_status mote_las_select(las_source *source) {
    const uint32_t record_bytes = source->header.point_bytes, format = source->header.origin.format;
    laz_selection *selection = &source->selection;
    memset(selection, 0, sizeof *selection);
    uint8_t *used = mote_alloc_zero(source->ctx, record_bytes, "LAZ chunks");
    if (used == NULL) return MOTE_ERROR_MEMORY;
    uint32_t remaining = record_bytes;
    for (uint64_t c = 0; c < source->cloud->column_count; c++) {
        const mote_column *column = &source->cloud->columns[c];
        memset(used + column_at(source, column), 1, mote_type_size(column->type));
    }
    for (uint32_t at = 0; at < record_bytes; at++) {
        remaining -= used[at];
        if (used[at]) selection->wanted |= part_of(format, at);
    }
    for (uint32_t gap = 0; remaining > 0 && !make_runs(used, record_bytes, gap, selection); gap = 2 * gap + 1) {}
    mote_free(source->ctx, used);
    if (remaining == 0 || selection->stride_bytes == record_bytes) { /* the whole record, as it is */
        memset(selection, 0, sizeof *selection);
        selection->wanted = LAZ_WANT_ALL;
        selection->stride_bytes = record_bytes;
    }
    return MOTE_OK;
}

void mote_las_place_columns(las_source *source, const uint8_t *records) {
    const laz_selection *selection = &source->selection;
    for (uint64_t c = 0; c < source->cloud->column_count; c++) {
        mote_column *column = &source->cloud->columns[c];
        uint32_t at = column_at(source, column);
        for (uint32_t r = 0; r < selection->run_count; r++) {
            const laz_run *run = &selection->runs[r];
            if (at < run->from || at >= (uint32_t)run->from + run->size_bytes) continue;
            at = run->to + at - run->from;
            break;
        }
        column->data = records + at;
        column->stride_bytes = selection->stride_bytes;
    }
}

void mote_las_copy_selected(const las_source *source, const uint8_t *from, uint64_t count, uint8_t *to) {
    const laz_selection *selection = &source->selection;
    const uint64_t record_bytes = source->header.point_bytes;
    if (selection->run_count == 0) {
        memcpy(to, from, count * record_bytes);
        return;
    }
    for (uint64_t i = 0; i < count; i++, from += record_bytes, to += selection->stride_bytes) {
        for (uint32_t r = 0; r < selection->run_count; r++) {
            const laz_run *run = &selection->runs[r];
            memcpy(to + run->to, from + run->from, run->size_bytes);
        }
    }
}
