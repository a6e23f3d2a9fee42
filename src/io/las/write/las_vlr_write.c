/* The records of a LAS file to be written: those of the cloud, the CRS, and the description of extra bytes. */
#include "io/las/write/las_vlr_write.h"

#include <stdio.h>

#include "io/crs/crs_codes.h"
#include "io/crs/crs_proj.h"

#define EXTRA_PER_RECORD (LAS_VLR_PAYLOAD_MAX / LAS_EXTRA_BYTES)

static void add_record(las_records *records, const mote_record *record, bool behind) {
    if (mote_las_record_is_waveforms(record)) records->waveforms = records->behind_count + 1;
    if (mote_las_record_is(record, LAS_USER_PROJECTION, LAS_ID_WKT)) records->wkt = true;
    if (mote_las_record_is(record, LAS_USER_PROJECTION, LAS_ID_GEO_KEYS)) records->geo_keys = true;
    if (behind) {
        records->behind[records->behind_count++] = *record;
    } else {
        records->front[records->front_count++] = *record;
    }
}

/* Where a record of the cloud goes: extended ones stay so in 1.4; before, only waveforms may stand behind the
   points. */
static mote_status place_record(mote_context *ctx, const las_plan *plan, const mote_record *record,
                                las_records *records) {
    const bool waveforms = mote_las_record_is_waveforms(record);
    const bool too_long = record->size_bytes > LAS_VLR_PAYLOAD_MAX;
    if (waveforms && !mote_las_has_waveforms(plan->format)) return MOTE_OK;
    if (plan->version_minor < 4 && too_long && !waveforms) {
        return mote_fail(ctx, MOTE_ERROR_ARGUMENT, "%s: a record of %llu bytes (%s %u) needs LAS 1.4", plan->path,
                         (unsigned long long)record->size_bytes, record->user_id, record->record_id);
    }
    add_record(records, record, waveforms || (plan->version_minor >= 4 && (record->extended || too_long)));
    return MOTE_OK;
}

/* The unit that the source's keys state of its heights, which another system along the ground does not change. */
static uint32_t height_unit(const mote_cloud *cloud) {
    for (uint64_t i = 0; i < cloud->record_count; i++) {
        const mote_record *record = &cloud->records[i];
        if (!mote_las_record_is(record, LAS_USER_PROJECTION, LAS_ID_GEO_KEYS)) continue;
        const uint32_t unit = mote_las_geo_key(record, LAS_KEY_HEIGHT_UNIT, 0);
        return unit != LAS_NO_GEO_KEY ? unit : 0;
    }
    return 0;
}

static mote_status add_crs_record(mote_context *ctx, const las_plan *plan, const char *crs, void **owned,
                                  las_records *records) {
    mote_record record;
    MOTE_TRY(mote_las_crs_record(ctx, crs, height_unit(plan->cloud), &record));
    if (record.data == NULL) return MOTE_OK;
    *owned = (void *)(uintptr_t)record.data;
    return place_record(ctx, plan, &record, records);
}

/* Before LAS 1.4 systems are GeoTIFF keys, and readers of these know no other way. Well-known text says more, so that
   stays beside them. */
static mote_status add_crs(mote_context *ctx, const las_plan *plan, las_records *records) {
    const char *crs = mote_cloud_crs(plan->cloud);
    crs_codes codes;
    char keys[48];
    if (!mote_crs_codes(crs, &codes) && codes.horizontal != 0 && plan->version_minor < 4) {
        snprintf(keys, sizeof keys, codes.vertical != 0 ? "EPSG:%u+%u" : "EPSG:%u", codes.horizontal, codes.vertical);
        MOTE_TRY(add_crs_record(ctx, plan, keys, &records->owned_keys, records));
    }
    /* A string of PROJ, as folders of other writers have, fits in no record; well-known text of it does. */
    char *wkt = NULL;
    MOTE_TRY(mote_crs_proj_wkt(ctx, crs, &wkt));
    const mote_status status = add_crs_record(ctx, plan, wkt != NULL ? wkt : crs, &records->owned, records);
    mote_free(ctx, wkt);
    return status;
}

static void add_extra(const las_plan *plan, las_records *records) {
    for (uint64_t first = 0; first < plan->extra_count; first += EXTRA_PER_RECORD) {
        const uint64_t remaining = plan->extra_count - first;
        mote_record record;
        memset(&record, 0, sizeof record);
        memcpy(record.user_id, LAS_USER_SPEC, sizeof LAS_USER_SPEC);
        record.record_id = LAS_ID_EXTRA_BYTES;
        record.size_bytes = LAS_EXTRA_BYTES * (remaining < EXTRA_PER_RECORD ? remaining : EXTRA_PER_RECORD);
        record.data = plan->extra + first * LAS_EXTRA_BYTES;
        add_record(records, &record, false);
    }
}

/* Says how the points are compressed; other programs put it last too. */
static void add_laszip(const las_plan *plan, las_records *records) {
    mote_record record;
    memset(&record, 0, sizeof record);
    mote_laz_schema_make(plan->format, plan->record_bytes, plan->chunk_points, &records->schema);
    memcpy(record.user_id, LAS_USER_LASZIP, sizeof LAS_USER_LASZIP);
    memcpy(record.description, "compression of the points", 26);
    record.record_id = LAS_ID_LASZIP;
    record.size_bytes = mote_laz_schema_write(&records->schema, records->laszip);
    record.data = records->laszip;
    add_record(records, &record, false);
}

mote_status mote_las_records_make(mote_context *ctx, const las_plan *plan, las_records *records) {
    const mote_cloud *cloud = plan->cloud;
    const uint64_t max = cloud->record_count + plan->extra_count / EXTRA_PER_RECORD + 4;
    bool new_crs = false;
    memset(records, 0, sizeof *records);
    records->front = mote_alloc(ctx, max * sizeof *records->front, "LAS plan");
    records->behind = mote_alloc(ctx, max * sizeof *records->behind, "LAS plan");
    if (records->front == NULL || records->behind == NULL) return MOTE_ERROR_MEMORY;
    /* Is the cloud's CRS another one than its records state? */
    char *stated = NULL;
    MOTE_TRY(mote_las_crs(ctx, cloud->records, cloud->record_count, &stated));
    new_crs = strcmp(stated, mote_cloud_crs(cloud)) != 0;
    mote_free(ctx, stated);
    for (uint64_t i = 0; i < cloud->record_count; i++) {
        const mote_record *record = &cloud->records[i];
        if (mote_las_record_is_ours(record) || (new_crs && mote_las_record_is_crs(record))) continue;
        MOTE_TRY(place_record(ctx, plan, record, records));
    }
    if (new_crs && mote_cloud_crs(cloud)[0] != '\0') MOTE_TRY(add_crs(ctx, plan, records));
    add_extra(plan, records);
    if (plan->chunk_points != 0) add_laszip(plan, records);
    return MOTE_OK;
}

void mote_las_records_free(mote_context *ctx, las_records *records) {
    mote_free(ctx, records->front);
    mote_free(ctx, records->behind);
    mote_free(ctx, records->owned);
    mote_free(ctx, records->owned_keys);
}

/* Writes at *at and moves on. */
static mote_status write_next(mote_context *ctx, mote_output *output, const void *data, uint64_t size_bytes,
                              uint64_t *at) {
    MOTE_TRY(mote_output_write_at(ctx, output, data, size_bytes, *at));
    *at += size_bytes;
    return MOTE_OK;
}

mote_status mote_las_records_write(mote_context *ctx, mote_output *output, const mote_record *records, uint64_t count,
                                   bool extended, uint64_t *at) {
    const uint32_t head_bytes = extended ? LAS_EVLR_BYTES : LAS_VLR_BYTES;
    for (uint64_t i = 0; i < count; i++) {
        uint8_t head[LAS_EVLR_BYTES] = {0};
        memcpy(head + LAS_VLR_AT_USER, records[i].user_id, LAS_VLR_USER_BYTES);
        las_put(head + LAS_VLR_AT_ID, records[i].record_id, 2);
        las_put(head + LAS_VLR_AT_SIZE, records[i].size_bytes, extended ? 8 : 2);
        memcpy(head + (extended ? LAS_EVLR_AT_DESCRIPTION : LAS_VLR_AT_DESCRIPTION), records[i].description,
               LAS_VLR_DESCRIPTION_BYTES);
        MOTE_TRY(write_next(ctx, output, head, head_bytes, at));
        MOTE_TRY(write_next(ctx, output, records[i].data, records[i].size_bytes, at));
    }
    return MOTE_OK;
}

uint64_t mote_las_records_bytes(const mote_record *records, uint64_t count, bool extended) {
    uint64_t size_bytes = 0;
    for (uint64_t i = 0; i < count; i++) {
        size_bytes += (extended ? LAS_EVLR_BYTES : LAS_VLR_BYTES) + records[i].size_bytes;
    }
    return size_bytes;
}
