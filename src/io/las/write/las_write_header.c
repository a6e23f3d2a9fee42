/* The header of a LAS file to be written. Source: ASPRS LAS specification 1.4. */
#include <math.h>
#include <stdio.h>

#include "io/las/write/las_write.h"

#define LEGACY_RETURNS 5u
#define COMPRESSED_BIT 0x80u /* of the point format */

/* ---- what it says of the points */

void mote_las_tally_clear(las_tally *tally) {
    memset(tally, 0, sizeof *tally);
    for (int k = 0; k < 3; k++) {
        tally->low[k] = INT32_MAX;
        tally->high[k] = INT32_MIN;
    }
}

/* Whether the source's header had no place to say what its GPS times are. */
static bool lacks_encoding(const las_plan *plan) {
    const mote_las_origin *origin = &plan->cloud->las;
    return origin->present && origin->version_minor < 2 && mote_las_has_gps_time(plan->format);
}

static uint64_t count_beyond_week(const las_plan *plan, const uint8_t *records, uint64_t count) {
    const uint8_t *at = records + mote_las_gps_time_at(plan->format);
    uint64_t beyond = 0;
    for (uint64_t i = 0; i < count; i++, at += plan->record_bytes) {
        const double time = las_f64(at);
        beyond += time < 0 || time > LAS_WEEK_SECONDS;
    }
    return beyond;
}

void mote_las_settle_times(mote_context *ctx, las_plan *plan, const las_tally *tally) {
    if (tally->beyond_week == 0) return;
    plan->adjusted_time = true;
    mote_warn(ctx,
              "%s: LAS 1.%u says nothing of GPS times, but no week holds %llu of them: they are kept, as adjusted "
              "standard time",
              plan->path, plan->cloud->las.version_minor, (unsigned long long)tally->beyond_week);
}

void mote_las_tally_count(const las_plan *plan, const uint8_t *records, uint64_t count, las_tally *tally) {
    const uint8_t mask = plan->format < 6 ? 7 : 15;
    if (lacks_encoding(plan)) tally->beyond_week += count_beyond_week(plan, records, count);
    for (uint64_t i = 0; i < count; i++, records += plan->record_bytes) {
        int32_t xyz[3];
        memcpy(xyz, records, sizeof xyz);
        for (int k = 0; k < 3; k++) {
            tally->low[k] = xyz[k] < tally->low[k] ? xyz[k] : tally->low[k];
            tally->high[k] = xyz[k] > tally->high[k] ? xyz[k] : tally->high[k];
        }
        tally->returns[records[14] & mask]++;
    }
}

void mote_las_tally_add(las_tally *sum, const las_tally *part) {
    for (int k = 0; k < 3; k++) {
        sum->low[k] = part->low[k] < sum->low[k] ? part->low[k] : sum->low[k];
        sum->high[k] = part->high[k] > sum->high[k] ? part->high[k] : sum->high[k];
    }
    for (uint32_t r = 0; r <= LAS_RETURNS; r++) sum->returns[r] += part->returns[r];
    sum->beyond_week += part->beyond_week;
}

/* ---- its parts */

static uint16_t global_encoding(const las_plan *plan, const las_records *records) {
    static const uint16_t known[] = {0, 0, 0x01, 0x0F, 0x1F}; /* bits that a version defines */
    const mote_las_origin *origin = &plan->cloud->las;
    uint16_t bits = origin->present && origin->version_minor >= 2 ? origin->global_encoding : 0;
    /* The reader turned times of 1.5 with a base of their own into adjusted standard time. */
    if (origin->present && origin->version_minor >= 5 && (bits & LAS_ENCODING_TIME_BASE) != 0)
        bits |= LAS_ENCODING_ADJUSTED;
    if (plan->adjusted_time) bits |= LAS_ENCODING_ADJUSTED;
    if (records->wkt || (!origin->present && plan->format >= 6)) { bits |= LAS_ENCODING_WKT; }
    if (records->geo_keys && !records->wkt) bits &= (uint16_t)~LAS_ENCODING_WKT;
    bits &= (uint16_t)~LAS_ENCODING_INTERNAL;
    if (records->waveforms != 0) bits = (uint16_t)((bits & ~0x04u) | LAS_ENCODING_INTERNAL);
    return bits & known[plan->version_minor];
}

static void put_origin(const las_plan *plan, const las_records *records, uint8_t *header) {
    const mote_las_origin *origin = &plan->cloud->las;
    char software[LAS_SYSTEM_ID_BYTES + 1] = "";
    snprintf(software, sizeof software, "mote %s", mote_version());
    memcpy(header, "LASF", 4);
    las_put(header + LAS_AT_GLOBAL_ENCODING, global_encoding(plan, records), 2);
    header[LAS_AT_VERSION_MAJOR] = 1;
    header[LAS_AT_VERSION_MINOR] = plan->version_minor;
    memcpy(header + LAS_AT_SOFTWARE, software, LAS_SYSTEM_ID_BYTES);
    if (!origin->present) {
        memcpy(header + LAS_AT_SYSTEM_ID, "mote", 4);
        return;
    }
    las_put(header + LAS_AT_FILE_SOURCE_ID, origin->file_source_id, 2);
    memcpy(header + LAS_AT_GUID, origin->guid, sizeof origin->guid);
    memcpy(header + LAS_AT_SYSTEM_ID, origin->system_id, LAS_SYSTEM_ID_BYTES);
    las_put(header + LAS_AT_CREATION_DAY, origin->creation_day, 2);
    las_put(header + LAS_AT_CREATION_YEAR, origin->creation_year, 2);
}

static void put_counts(const las_plan *plan, const las_tally *tally, uint8_t *header) {
    const uint64_t count = plan->count;
    const bool legacy = plan->version_minor < 4 || (plan->format < 6 && count <= UINT32_MAX);
    if (legacy) las_put(header + LAS_AT_LEGACY_COUNT, count, 4);
    for (uint32_t r = 0; r < LEGACY_RETURNS && legacy; r++)
        las_put(header + LAS_AT_LEGACY_RETURNS + 4 * r, tally->returns[r + 1], 4);
    if (plan->version_minor < 4) return;
    las_put(header + LAS_AT_COUNT, count, 8);
    for (uint32_t r = 0; r < LAS_RETURNS; r++) las_put(header + LAS_AT_RETURNS + 8 * r, tally->returns[r + 1], 8);
}

/* Where the waveform packets start, and the extended records in general. */
static void put_extended(const las_plan *plan, const las_records *records, uint64_t behind_at, uint8_t *header) {
    if (records->behind_count == 0) return;
    if (records->waveforms != 0) {
        const uint64_t before = mote_las_records_bytes(records->behind, records->waveforms - 1, true);
        las_put(header + LAS_AT_WAVEFORMS_AT, behind_at + before, 8);
    }
    if (plan->version_minor < 4) return;
    las_put(header + LAS_AT_EXTENDED_AT, behind_at, 8);
    las_put(header + LAS_AT_EXTENDED_COUNT, records->behind_count, 4);
}

/* ---- the whole */

mote_status mote_las_lay_out(mote_context *ctx, const las_plan *plan, const las_records *records, las_layout *layout) {
    static const uint32_t header_bytes[] = {0, 0, LAS_HEADER_BYTES, LAS_HEADER_BYTES_13, LAS_HEADER_BYTES_14};
    layout->header_bytes = header_bytes[plan->version_minor];
    layout->points_at = layout->header_bytes + mote_las_records_bytes(records->front, records->front_count, false);
    if (layout->points_at <= UINT32_MAX) return MOTE_OK;
    return mote_fail(ctx, MOTE_ERROR_UNSUPPORTED, "%s: the records before the points exceed 4 GB", plan->path);
}

void mote_las_header_fill(const las_plan *plan, const las_records *records, const las_layout *layout,
                          const las_tally *tally, uint8_t *header) {
    put_origin(plan, records, header);
    las_put(header + LAS_AT_HEADER_BYTES, layout->header_bytes, 2);
    las_put(header + LAS_AT_POINTS_AT, layout->points_at, 4);
    las_put(header + LAS_AT_RECORD_COUNT, records->front_count, 4);
    header[LAS_AT_POINT_FORMAT] = (uint8_t)(plan->format | (plan->chunk_points != 0 ? COMPRESSED_BIT : 0));
    las_put(header + LAS_AT_POINT_BYTES, plan->record_bytes, 2);
    /* The lattice, and the box of the points in it. */
    for (uint32_t k = 0; k < 3; k++) {
        las_put_f64(header + LAS_AT_SCALE + 8 * k, plan->scale[k]);
        las_put_f64(header + LAS_AT_OFFSET + 8 * k, plan->offset[k]);
        if (plan->count == 0) continue;
        const double a = (double)tally->low[k] * plan->scale[k] + plan->offset[k];
        const double b = (double)tally->high[k] * plan->scale[k] + plan->offset[k];
        las_put_f64(header + LAS_AT_MAX_OF_AXIS(k), fmax(a, b));
        las_put_f64(header + LAS_AT_MIN_OF_AXIS(k), fmin(a, b));
    }
    put_counts(plan, tally, header);
    if (plan->version_minor >= 3) put_extended(plan, records, layout->behind_at, header);
}
