/* Chooses the point format and the version of LAS that hold a cloud: the smallest records in which no value is cut. */
#include <strings.h>

#include "io/las/write/las_plan.h"

/* What the attributes ask of a format. */
typedef struct las_needs {
    bool modern; /* formats 6 to 10 */
    bool gps_time, colors, nir, waveforms;
} las_needs;

/* Whether the one scan angle of the cloud, of the name of a dimension that cannot hold it, is what the other one holds.
 */
static bool is_other_angle(const las_plan *plan, const las_field *of, const las_field *other) {
    const mote_column *column = mote_las_find_chosen(plan, of->name);
    return column != NULL && mote_las_find_chosen(plan, other->name) == NULL &&
           !mote_las_integers_fit(plan, column, of) && mote_las_integers_fit(plan, column, other);
}

static bool needs_modern(const las_plan *plan) {
    static const char *const only_modern[] = {"overlap", "scanner_channel", "scan_angle", "nir"};
    las_field rank, steps, old[LAS_FIELDS_MAX], wide;
    const uint32_t old_count = mote_las_fields(LAS_OLD_FORMAT, old);
    mote_las_scan_angles(&rank, &steps);
    for (size_t i = 0; i < sizeof only_modern / sizeof only_modern[0]; i++) {
        const bool is_rank = strcmp(only_modern[i], steps.name) == 0 && is_other_angle(plan, &steps, &rank);
        if (mote_las_find_chosen(plan, only_modern[i]) != NULL && !is_rank) return true;
    }
    if (is_other_angle(plan, &rank, &steps)) return true;
    for (uint32_t i = 3; i < old_count; i++) { /* narrower than the modern ones of their name, or equal */
        const mote_column *column = mote_las_find_chosen(plan, old[i].name);
        if (column == NULL || mote_las_integers_fit(plan, column, &old[i])) continue;
        if (mote_las_find_field(LAS_MODERN_FORMAT, old[i].name, &wide) && mote_las_integers_fit(plan, column, &wide))
            return true;
    }
    return false;
}

static las_needs find_needs(const las_plan *plan) {
    static const char *const waves[] = {"wave_packet_index",
                                        "wave_packet_offset",
                                        "wave_packet_size",
                                        "wave_return_location",
                                        "wave_x",
                                        "wave_y",
                                        "wave_z"};
    las_needs needs;
    memset(&needs, 0, sizeof needs);
    needs.gps_time = mote_las_find_chosen(plan, "gps_time") != NULL;
    needs.colors = mote_las_find_chosen(plan, "red") != NULL || mote_las_find_chosen(plan, "green") != NULL ||
                   mote_las_find_chosen(plan, "blue") != NULL;
    needs.nir = mote_las_find_chosen(plan, "nir") != NULL;
    for (size_t i = 0; i < sizeof waves / sizeof waves[0]; i++) {
        needs.waveforms = needs.waveforms || mote_las_find_chosen(plan, waves[i]) != NULL;
    }
    needs.modern = needs_modern(plan);
    return needs;
}

static bool format_serves(uint32_t format, const las_needs *needs) {
    return (format >= 6) >= needs->modern && mote_las_has_gps_time(format) >= needs->gps_time &&
           mote_las_has_colors(format) >= needs->colors && mote_las_has_nir(format) >= needs->nir &&
           mote_las_has_waveforms(format) >= needs->waveforms;
}

/* Records too long for LAS before 1.4, apart from the waveforms, which 1.3 holds. */
static bool has_long_records(const mote_cloud *cloud) {
    for (uint64_t i = 0; i < cloud->record_count; i++) {
        const mote_record *record = &cloud->records[i];
        if (record->size_bytes > LAS_VLR_PAYLOAD_MAX && !mote_las_record_is_ours(record) &&
            !mote_las_record_is_waveforms(record)) {
            return true;
        }
    }
    return false;
}

static mote_status choose_version(mote_context *ctx, las_plan *plan) {
    const mote_las_origin *origin = &plan->cloud->las;
    const int forced = plan->params->las_version_minor;
    const char *reason = plan->format >= 4 ? "its point format" : "the number of points";
    uint8_t min = mote_las_min_version(plan->format, plan->count);
    if (min < 4 && has_long_records(plan->cloud)) {
        min = 4;
        reason = "a record of more than 65535 bytes";
    }
    if (forced == 0) {
        const uint8_t before = origin->present ? (origin->version_minor > 4 ? 4 : origin->version_minor) : 0;
        plan->version_minor = before > min ? before : min;
        return MOTE_OK;
    }
    if (forced < 2 || forced > 4) {
        return mote_fail(ctx, MOTE_ERROR_ARGUMENT, "%s: mote writes LAS 1.2 to 1.4, not 1.%d", plan->path, forced);
    }
    if (forced < min) {
        return mote_fail(ctx, MOTE_ERROR_ARGUMENT, "%s: LAS 1.%d cannot hold the cloud: %s needs 1.%u", plan->path,
                         forced, reason, min);
    }
    plan->version_minor = (uint8_t)forced;
    return MOTE_OK;
}

mote_status mote_las_choose_format(mote_context *ctx, las_plan *plan) {
    const mote_las_origin *origin = &plan->cloud->las;
    const int forced = plan->params->las_format;
    if (forced >= (int)LAS_FORMATS || (forced < -1 && forced != LAS_FORMAT_COPC)) {
        return mote_fail(ctx, MOTE_ERROR_ARGUMENT, "%s: LAS has no point format %d", plan->path, forced);
    }
    if (forced >= 0) {
        plan->format = (uint8_t)forced;
        return choose_version(ctx, plan);
    }
    las_needs needs = find_needs(plan);
    if (forced == LAS_FORMAT_COPC) {
        needs.modern = true;
        needs.waveforms = false; /* they become extra bytes */
    }
    uint8_t best = LAS_FORMATS;
    for (uint8_t format = 0; format < LAS_FORMATS; format++) {
        if (!format_serves(format, &needs)) continue;
        if (best == LAS_FORMATS || mote_las_record_bytes(format) < mote_las_record_bytes(best)) best = format;
    }
    const bool keep = origin->present && origin->format < LAS_FORMATS && format_serves(origin->format, &needs) &&
                      !(forced == LAS_FORMAT_COPC && mote_las_has_waveforms(origin->format));
    const int version = plan->params->las_version_minor;
    const bool in_version = version == 0 || version >= mote_las_min_version(origin->format, 0);
    plan->format = keep && in_version ? origin->format : best;
    return choose_version(ctx, plan);
}
