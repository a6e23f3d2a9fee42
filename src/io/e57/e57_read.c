/* Reading E57: all scans of a file, one after the other, whole or in pieces. */
#include <inttypes.h>

#include "io/e57/e57.h"

#define PROBE_BYTES 8u

bool mote_e57_is_signed(const mote_input *input) {
    return input->size_bytes >= PROBE_BYTES && memcmp(input->data, E57_SIGNATURE, PROBE_BYTES) == 0;
}

bool mote_e57_probe(const mote_input *input) {
    return mote_e57_is_signed(input) || mote_path_has_ending(input->path, ".e57");
}

/* ---- opening */

static uint64_t record_bits(const e57_scan *scan) {
    uint64_t bits = 0;
    for (uint64_t i = 0; i < scan->field_count; i++) bits += scan->fields[i].bits;
    return bits > 0 ? bits : 8; /* what needs no bits could be any number; so it is no more than the file has bytes */
}

static void miss(e57_source *source, uint64_t count, uint64_t at) {
    if (count > 0 && source->missing == 0) source->missing_at = at;
    source->missing += count;
}

/* All scans together have no more records than the file has room for, so that memory can be taken for them. */
static mote_status check_counts(e57_source *source) {
    uint64_t bits_left = 8 * source->file.logical_bytes;
    for (uint64_t i = 0; i < source->file.scan_count; i++) {
        e57_scan *const scan = &source->file.scans[i];
        const uint64_t bits = record_bits(scan), room = bits_left / bits;
        if (scan->count > room && !source->params.salvage) {
            return mote_malformed(source->ctx, source->input, scan->stated_at,
                                  "%" PRIu64 " records of %" PRIu64 " bits are more than the file has room for%s",
                                  scan->count, bits, MOTE_SALVAGE_HINT);
        }
        if (scan->count > room) miss(source, scan->count - room, scan->stated_at);
        if (scan->count > room) scan->count = room;
        source->points += scan->count;
        bits_left -= scan->count * bits;
    }
    return MOTE_OK;
}

static mote_status open_file(e57_source *source) {
    e57_file *const file = &source->file;
    MOTE_TRY(mote_e57_read_header(source->ctx, source->input, file));
    MOTE_TRY(mote_e57_read_xml(source->ctx, source->input, file));
    if (file->scan_count == 0) {
        return mote_malformed(source->ctx, source->input, e57_physical(file->xml_at),
                              "the file has no scans, and so no points (images: %" PRIu64 ")", file->image_count);
    }
    MOTE_TRY(check_counts(source));
    source->impossible = source->missing;
    MOTE_TRY(mote_e57_plan_make(source->ctx, source->input, file, &source->params, &source->plan));
    source->sources = mote_alloc(source->ctx, source->plan.column_count * sizeof *source->sources, "E57 columns");
    return source->sources != NULL ? MOTE_OK : MOTE_ERROR_MEMORY;
}

mote_status mote_e57_open(mote_context *ctx, mote_input *input, const mote_read_params *params, e57_source *source) {
    memset(source, 0, sizeof *source);
    source->ctx = ctx;
    source->input = input;
    source->params = params != NULL ? *params : mote_read_defaults();
    return open_file(source);
}

static void close_scan(e57_source *source) {
    mote_e57_packets_close(&source->packets);
    mote_free(source->ctx, source->wanted);
    source->wanted = NULL;
    source->is_open = false;
}

void mote_e57_close(e57_source *source) {
    if (source->ctx == NULL) return;
    close_scan(source);
    mote_free(source->ctx, source->sources);
    mote_e57_plan_close(source->ctx, &source->file, &source->plan);
    mote_e57_file_close(source->ctx, &source->file);
    source->ctx = NULL;
}

void mote_e57_rewind(e57_source *source) {
    close_scan(source);
    source->scan_number = source->read = source->damaged_at = 0;
    source->missing = source->impossible;
    if (source->impossible == 0) source->missing_at = 0;
    source->counts = (e57_counts){0};
    source->is_again = true;
}

/* ---- scans */

/* The fields that coordinates and columns need. */
static void find_wanted(e57_source *source) {
    const e57_plan *const plan = &source->plan;
    const e57_scan_plan *const p = &plan->scans[source->scan_number];
    for (int k = 0; k < 3; k++) source->wanted[p->axes[k]] = true;
    if (p->state >= 0) source->wanted[p->state] = true;
    for (uint64_t c = E57_STATION_COLUMN; c < plan->column_count; c++) {
        const bool turns = p->is_moved && strncmp(plan->columns[c].name, "normal_", 7) == 0;
        if (source->sources[c].field >= 0 && (plan->columns[c].is_kept || turns)) {
            source->wanted[source->sources[c].field] = true;
        }
    }
}

static mote_status open_scan(e57_source *source) {
    const e57_scan *const scan = &source->file.scans[source->scan_number];
    source->wanted = mote_alloc_zero(source->ctx, scan->field_count, "E57 columns");
    if (source->wanted == NULL) return MOTE_ERROR_MEMORY;
    mote_e57_plan_scan(&source->file, &source->plan, source->scan_number, source->sources);
    find_wanted(source);
    source->is_open = true;
    mote_status status = mote_e57_packets_open(source->ctx, source->input, &source->file, scan, source->wanted,
                                               source->params.salvage, &source->packets);
    if (status != MOTE_ERROR_DATA || !source->params.salvage) return status;
    /* Nothing of this scan can be had; others may be whole. */
    if (!source->is_again) mote_warn(source->ctx, "%s", mote_context_message(source->ctx));
    mote_context_clear(source->ctx);
    miss(source, scan->count, scan->place);
    mote_e57_packets_close(&source->packets);
    source->packets.scan = scan;
    source->read += scan->count;
    source->scan_number++;
    close_scan(source);
    return MOTE_OK;
}

/* The records of the scan that are missing at its end. */
static mote_status end_scan(e57_source *source) {
    const e57_packets *const p = &source->packets;
    const uint64_t missing = p->scan->count - p->next;
    const uint64_t at = p->lost_at != UINT64_MAX ? p->lost_at : e57_physical(p->end - 1);
    if (missing > 0 && !source->params.salvage) {
        return mote_malformed(source->ctx, source->input, at,
                              "the packets of scan %" PRIu64 " end after %" PRIu64 " of %" PRIu64
                              " records" MOTE_SALVAGE_HINT,
                              source->scan_number + 1, p->next, p->scan->count);
    }
    miss(source, missing, at);
    source->read += missing;
    source->scan_number++;
    close_scan(source);
    return MOTE_OK;
}

/* Records that can be decoded, of the scan or the one after it; 0: no scan is left. */
static mote_status make_ready(e57_source *source, uint64_t *ready) {
    e57_packets *const p = &source->packets;
    *ready = 0;
    while (source->scan_number < source->file.scan_count) {
        if (source->file.scans[source->scan_number].count == 0) {
            source->scan_number++;
            continue;
        }
        if (!source->is_open) MOTE_TRY(open_scan(source));
        if (!source->is_open) continue;
        *ready = mote_e57_records_ready(p);
        if (*ready > 0) return MOTE_OK;
        if (p->is_over || p->next == p->scan->count) {
            MOTE_TRY(end_scan(source));
            continue;
        }
        MOTE_TRY(mote_e57_packets_read(p));
        MOTE_TRY(mote_progress(source->ctx, (double)source->read / (double)(source->points + 1), "reading E57"));
    }
    return MOTE_OK;
}

mote_status mote_e57_next(e57_source *source, uint8_t *records, uint64_t max, uint64_t *count) {
    *count = 0;
    while (*count < max) {
        uint64_t ready, kept = 0;
        MOTE_TRY(make_ready(source, &ready));
        if (ready == 0) return MOTE_OK;
        e57_packets *const p = &source->packets;
        const uint64_t part = ready < max - *count ? ready : max - *count;
        MOTE_TRY(mote_e57_decode(source->ctx, p, &source->plan, source->sources, source->scan_number, part,
                                 records + *count * source->plan.record_bytes, &kept, &source->counts));
        if (p->lost_at != UINT64_MAX && source->damaged_at == 0) source->damaged_at = p->lost_at;
        mote_e57_packets_take(p, p->next + part);
        source->read += part;
        *count += kept;
        MOTE_TRY(mote_progress(source->ctx, (double)source->read / (double)source->points, "reading E57"));
    }
    return MOTE_OK;
}

/* E57 counts in metres; a system that does not is likely what the coordinates are in all the same. */
void mote_e57_tell_unit(const e57_source *source, const mote_cloud *cloud) {
    mote_units units;
    if (source->params.crs != NULL || mote_cloud_crs(cloud)[0] == '\0') return;
    mote_cloud_units(cloud, &units);
    const mote_unit *const wrong = units.horizontal.metres != 1 ? &units.horizontal : &units.vertical;
    if (wrong->metres == 1 || (wrong->metres == 0 && wrong->radians == 0)) return;
    mote_warn(source->ctx,
              "%s: E57 counts in metres, and the file's reference system in units of %s, for which coordinates are "
              "taken; where they are metres, name their system by --crs",
              source->input->path, wrong->name);
}

/* Scans whose intensities are of different scales, as their limits tell, cannot be compared. */
static void tell_intensities(const e57_source *source) {
    const e57_scan *const scans = source->file.scans;
    uint64_t least = UINT64_MAX, most = UINT64_MAX;
    for (uint64_t i = 0; i < source->file.scan_count; i++) {
        const e57_limits *const limits = &scans[i].intensity;
        if (!limits->has_min || !limits->has_max || !(limits->max > limits->min)) continue;
        if (least == UINT64_MAX || limits->max < scans[least].intensity.max) least = i;
        if (most == UINT64_MAX || limits->max > scans[most].intensity.max) most = i;
    }
    if (least == UINT64_MAX) return;
    const e57_limits *const low = &scans[least].intensity, *const high = &scans[most].intensity;
    if (!mote_intensities_differ(low->max, high->max)) return;
    mote_warn(
        source->ctx,
        "%s: intensities of its scans are of different scales (scan %" PRIu64 ": %g to %g, scan %" PRIu64
        ": %g to %g) and are kept as stored; --set \"intensity = …\" with --where \"point_source_id == …\" brings "
        "them to one",
        source->input->path, least + 1, low->min, low->max, most + 1, high->min, high->max);
}

mote_status mote_e57_report(e57_source *source, uint64_t kept) {
    mote_context *const ctx = source->ctx;
    const char *const path = source->input->path;
    const e57_counts *const counts = &source->counts;
    const uint64_t lost = counts->lost + source->missing, stated = kept + counts->invalid + lost;
    const uint64_t at = counts->lost > 0 ? source->damaged_at : source->missing_at;
    if (lost > 0 && kept == 0) return mote_nothing_whole(ctx, source->input, at, stated);
    if (lost > 0) mote_warn_of_loss(ctx, source->input, at, kept + counts->invalid, stated);
    if (counts->invalid > 0) {
        const bool one = counts->invalid == 1;
        mote_warn(ctx, "%s: %" PRIu64 " record%s that the file calls invalid %s left out", path, counts->invalid,
                  one ? "" : "s", one ? "is" : "are");
    }
    if (counts->zero > 0) {
        const bool one = counts->zero == 1;
        mote_warn(ctx,
                  "%s: %" PRIu64 " point%s that the file does not call invalid %s at 0 0 0 of the scanner: likely no "
                  "return; kept",
                  path, counts->zero, one ? "" : "s", one ? "is" : "are");
    }
    if (source->file.image_count > 0) {
        mote_warn(ctx, "%s: %" PRIu64 " image%s left out", path, source->file.image_count,
                  source->file.image_count == 1 ? " is" : "s are");
    }
    if (source->plan.strings > 0) {
        mote_warn(ctx, "%s: %" PRIu64 " %s left out", path, source->plan.strings,
                  source->plan.strings == 1 ? "field of texts is" : "fields of texts are");
    }
    tell_intensities(source);
    if (source->plan.second_coordinates > 0) {
        mote_warn(ctx, "%s: the spherical coordinates beside Cartesian ones are left out", path);
    }
    return MOTE_OK;
}

/* ---- the whole file */

static mote_status read_all(e57_source *source, mote_cloud **out) {
    mote_context *const ctx = source->ctx;
    const uint64_t stride = source->plan.record_bytes;
    if (source->points > (UINT64_MAX >> 1) / stride) {
        return mote_fail(ctx, MOTE_ERROR_MEMORY, "out of memory: %" PRIu64 " points of %" PRIu64 " bytes",
                         source->points, stride);
    }
    uint8_t *const records = mote_alloc(ctx, source->points * stride, "cloud");
    uint64_t count = 0;
    if (records == NULL) return MOTE_ERROR_MEMORY;
    MOTE_TRY(mote_e57_make_cloud(ctx, &source->file, &source->plan, &source->params, records, out));
    mote_e57_tell_unit(source, *out);
    MOTE_TRY(mote_e57_next(source, records, source->points, &count));
    (*out)->count = count;
    return mote_e57_report(source, count);
}

mote_status mote_e57_read(mote_context *ctx, mote_input *input, const mote_read_params *params, mote_cloud **out) {
    e57_source source;
    mote_cloud *cloud = NULL;
    *out = NULL;
    mote_stage(ctx, "read E57");
    mote_status status = mote_e57_open(ctx, input, params, &source);
    if (status == MOTE_OK) status = read_all(&source, &cloud);
    mote_e57_close(&source);
    mote_stage(ctx, NULL);
    if (status != MOTE_OK) {
        mote_cloud_destroy(cloud);
        return status;
    }
    *out = cloud;
    return MOTE_OK;
}
