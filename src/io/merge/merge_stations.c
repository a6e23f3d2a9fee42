/* Scans of several E57 files are numbered from 1 in each: together they get numbers of their own. */
#include "io/merge/merge_stations.h"
#include "io/e57/e57_write.h"
#include "where/where_expression.h"

#define NUMBERS 65536u /* of point_source_id */

/* The numbers of the scans of a cloud; those whose points have numbers of their own have none. */
typedef struct station_range {
    uint32_t first, last; /* first > last: there are none */
    bool is_taken;        /* one of them is another input's */
} station_range;

static station_range find_stations(const mote_cloud *cloud, const bool *taken) {
    station_range range = {NUMBERS, 0, false};
    for (uint64_t i = 0; i < cloud->record_count; i++) {
        const uint32_t number = cloud->records[i].record_id;
        if (number == 0 || !mote_e57_is_station(&cloud->records[i])) continue;
        range.first = number < range.first ? number : range.first;
        range.last = number > range.last ? number : range.last;
        range.is_taken = range.is_taken || taken[number];
    }
    return range;
}

/* Moves the numbers of records and points up. */
static mote_status move_stations(mote_context *ctx, mote_cloud **cloud, uint32_t shift) {
    const mote_column *column = mote_cloud_find(*cloud, "point_source_id");
    if (column != NULL && mote_cloud_column_data(*cloud, "point_source_id") == NULL) {
        MOTE_TRY(mote_where_make_writable(ctx, cloud));
        column = mote_cloud_find(*cloud, "point_source_id");
    }
    for (uint64_t i = 0; i < (*cloud)->record_count; i++) {
        mote_record *const record = &(*cloud)->records[i];
        if (record->record_id > 0 && mote_e57_is_station(record)) record->record_id += (uint16_t)shift;
    }
    if (column == NULL) return MOTE_OK;
    uint8_t *const data = mote_cloud_column_data(*cloud, "point_source_id");
    for (uint64_t i = 0; i < (*cloud)->count; i++) {
        uint16_t number;
        memcpy(&number, data + i * column->stride_bytes, sizeof number);
        number += (uint16_t)shift;
        memcpy(data + i * column->stride_bytes, &number, sizeof number);
    }
    return MOTE_OK;
}

static mote_status tell_apart(mote_context *ctx, mote_cloud **cloud, const char *name, const station_range *range,
                              uint32_t highest) {
    const mote_column *column = mote_cloud_find(*cloud, "point_source_id");
    const bool is_plain = column == NULL || (column->type == MOTE_UINT16 && column->bit_count == 0);
    if (!is_plain || range->last + highest >= NUMBERS) {
        mote_warn(ctx, "%s: its scans %u to %u have the numbers of another input's, and there are no others left", name,
                  range->first, range->last);
        return MOTE_OK;
    }
    mote_note(ctx, "%s: the numbers of its scans, %u to %u, become %u to %u (point_source_id): other inputs have them",
              name, range->first, range->last, range->first + highest, range->last + highest);
    return move_stations(ctx, cloud, highest);
}

mote_status merge_stations(mote_context *ctx, mote_cloud **clouds, const char *const *names, uint32_t count) {
    bool *taken = NULL;
    uint32_t highest = 0;
    mote_status status = MOTE_OK;
    for (uint32_t i = 0; i < count && status == MOTE_OK; i++) {
        if (taken == NULL) taken = mote_alloc_zero(ctx, NUMBERS * sizeof *taken, "inputs");
        if (taken == NULL) return MOTE_ERROR_MEMORY;
        const station_range range = find_stations(clouds[i], taken);
        if (range.is_taken) status = tell_apart(ctx, &clouds[i], names[i], &range, highest);
        for (uint64_t r = 0; r < clouds[i]->record_count; r++) {
            const mote_record *const record = &clouds[i]->records[r];
            if (record->record_id == 0 || !mote_e57_is_station(record)) continue;
            taken[record->record_id] = true;
            highest = record->record_id > highest ? record->record_id : highest;
        }
    }
    mote_free(ctx, taken);
    return status;
}
