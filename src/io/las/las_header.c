/* The public header block of LAS: read and checked. */
#include <inttypes.h>
#include <math.h>

#include "io/las/las_format.h"

#define SCALE_MAX 1e100 /* beyond, coordinates overflow; no real file comes near */

/* The smallest header of a version. 1.3 files with the header of 1.2 exist; they have no waveforms. */
static uint32_t min_header_bytes(uint32_t version_minor) {
    return version_minor >= 4 ? LAS_HEADER_BYTES_14 : LAS_HEADER_BYTES;
}

static mote_status check_layout(mote_context *ctx, const mote_input *input, const las_header *h) {
    const uint32_t min = min_header_bytes(h->origin.version_minor);
    if (h->header_bytes < min) {
        return mote_malformed(ctx, input, LAS_AT_HEADER_BYTES, "header of %u bytes, LAS 1.%u needs %u", h->header_bytes,
                              h->origin.version_minor, min);
    }
    if (h->header_bytes > input->size_bytes) {
        return mote_malformed(ctx, input, LAS_AT_HEADER_BYTES, "header of %u bytes in a file of %" PRIu64,
                              h->header_bytes, input->size_bytes);
    }
    if (h->points_at < h->header_bytes) {
        return mote_malformed(ctx, input, LAS_AT_POINTS_AT, "points start at %u, inside the header of %u bytes",
                              h->points_at, h->header_bytes);
    }
    if (h->points_at > input->size_bytes) {
        return mote_malformed(ctx, input, LAS_AT_POINTS_AT, "points start at %u, past the end of the file at %" PRIu64,
                              h->points_at, input->size_bytes);
    }
    if (h->origin.format >= LAS_FORMATS) {
        return mote_malformed(ctx, input, LAS_AT_POINT_FORMAT, "point format %u is unknown", h->origin.format);
    }
    if (h->point_bytes < mote_las_record_bytes(h->origin.format)) {
        return mote_malformed(ctx, input, LAS_AT_POINT_BYTES, "point records of %u bytes, format %u needs %u",
                              h->point_bytes, h->origin.format, mote_las_record_bytes(h->origin.format));
    }
    return MOTE_OK;
}

static mote_status check_lattice(mote_context *ctx, const mote_input *input, const las_header *h) {
    for (uint32_t k = 0; k < 3; k++) {
        const double scale = h->scale[k];
        if (!isfinite(scale) || scale == 0 || fabs(scale) > SCALE_MAX) {
            return mote_malformed(ctx, input, LAS_AT_SCALE + 8 * k, "the scale of %c is %g", (char)('x' + k), scale);
        }
        if (!isfinite(h->offset[k])) {
            return mote_malformed(ctx, input, LAS_AT_OFFSET + 8 * k, "the offset of %c is %g", (char)('x' + k),
                                  h->offset[k]);
        }
    }
    return MOTE_OK;
}

/* Nothing here goes by the bounding box; a wild one is worth a word, for other programs do. */
static void check_box(mote_context *ctx, const mote_input *input, const las_header *h) {
    if (h->count == 0) return;
    for (uint32_t k = 0; k < 3; k++) {
        const double high = las_f64(input->data + LAS_AT_MAX_OF_AXIS(k)),
                     low = las_f64(input->data + LAS_AT_MIN_OF_AXIS(k));
        if (isfinite(low) && isfinite(high) && low <= high) continue;
        mote_warn(ctx, "%s: offset %u: the header's bounding box is not one (%c from %g to %g); it is not used",
                  input->path, LAS_AT_MAX_OF_AXIS(k), (char)('x' + k), low, high);
        return;
    }
}

static void read_origin(const uint8_t *data, mote_las_origin *origin) {
    origin->present = true;
    origin->file_source_id = las_u16(data + LAS_AT_FILE_SOURCE_ID);
    origin->global_encoding = las_u16(data + LAS_AT_GLOBAL_ENCODING);
    memcpy(origin->guid, data + LAS_AT_GUID, sizeof origin->guid);
    origin->version_minor = data[LAS_AT_VERSION_MINOR];
    memcpy(origin->system_id, data + LAS_AT_SYSTEM_ID, LAS_SYSTEM_ID_BYTES);
    memcpy(origin->software, data + LAS_AT_SOFTWARE, LAS_SYSTEM_ID_BYTES);
    origin->creation_day = las_u16(data + LAS_AT_CREATION_DAY);
    origin->creation_year = las_u16(data + LAS_AT_CREATION_YEAR);
    origin->format = data[LAS_AT_POINT_FORMAT] & (uint8_t)~LAS_COMPRESSED_BITS;
}

static void read_long_fields(const uint8_t *data, las_header *h) {
    if (h->origin.version_minor >= 3 && h->header_bytes >= LAS_HEADER_BYTES_13)
        h->waveform_at = las_u64(data + LAS_AT_WAVEFORMS_AT);
    if (h->origin.version_minor < 4) return;
    h->extended_at = las_u64(data + LAS_AT_EXTENDED_AT);
    h->extended_count = las_u32(data + LAS_AT_EXTENDED_COUNT);
    h->long_count = las_u64(data + LAS_AT_COUNT);
    if (h->origin.version_minor >= 5 && h->header_bytes >= LAS_HEADER_BYTES_15)
        h->time_offset = las_u16(data + LAS_AT_TIME_OFFSET);
}

/* Some writers fill in the layout last: interrupted, they leave zeros for the header's size, the start of the points
   and the counts. Then both follow from the version and the records that are there. */
static mote_status recover_layout(mote_context *ctx, const mote_input *input, las_header *h) {
    static const uint16_t usual[] = {LAS_HEADER_BYTES,    LAS_HEADER_BYTES,    LAS_HEADER_BYTES,
                                     LAS_HEADER_BYTES_13, LAS_HEADER_BYTES_14, LAS_HEADER_BYTES_15};
    if (h->header_bytes != 0 || h->points_at != 0 || h->legacy_count != 0) return MOTE_OK;
    h->header_bytes = usual[h->origin.version_minor];
    uint64_t at = h->header_bytes;
    for (uint32_t i = 0; i < h->record_count && at <= UINT32_MAX; i++) {
        if (at + LAS_VLR_BYTES > input->size_bytes) {
            return mote_malformed(ctx, input, at, "the file was not finished, and record %u of %u is cut short", i + 1,
                                  h->record_count);
        }
        at += LAS_VLR_BYTES + las_u16(input->data + at + LAS_VLR_AT_SIZE);
    }
    if (at > input->size_bytes || at > UINT32_MAX) {
        return mote_malformed(ctx, input, input->size_bytes, "the file was not finished: its records are cut short");
    }
    h->points_at = (uint32_t)at;
    mote_warn(ctx, "%s: offset %u: the file was not finished; points are looked for at %u", input->path,
              LAS_AT_HEADER_BYTES, h->points_at);
    return MOTE_OK;
}

mote_status mote_las_read_header(mote_context *ctx, const mote_input *input, las_header *header) {
    const uint8_t *data = input->data;
    memset(header, 0, sizeof *header);
    if (input->size_bytes < 4 || memcmp(data, "LASF", 4) != 0) {
        return mote_malformed(ctx, input, 0, "not a LAS file: it does not start with \"LASF\"");
    }
    if (input->size_bytes < LAS_HEADER_BYTES) {
        return mote_malformed(ctx, input, input->size_bytes, "the header is cut short: LAS needs %u bytes",
                              LAS_HEADER_BYTES);
    }
    if (data[LAS_AT_VERSION_MAJOR] != 1 || data[LAS_AT_VERSION_MINOR] > 5) {
        return mote_malformed(ctx, input, LAS_AT_VERSION_MAJOR, "LAS version %u.%u is unknown",
                              data[LAS_AT_VERSION_MAJOR], data[LAS_AT_VERSION_MINOR]);
    }
    read_origin(data, &header->origin);
    header->compressed = (data[LAS_AT_POINT_FORMAT] & LAS_COMPRESSED_BITS) != 0;
    header->header_bytes = las_u16(data + LAS_AT_HEADER_BYTES);
    header->points_at = las_u32(data + LAS_AT_POINTS_AT);
    header->record_count = las_u32(data + LAS_AT_RECORD_COUNT);
    header->point_bytes = las_u16(data + LAS_AT_POINT_BYTES);
    header->legacy_count = las_u32(data + LAS_AT_LEGACY_COUNT);
    for (uint32_t k = 0; k < 3; k++) {
        header->scale[k] = las_f64(data + LAS_AT_SCALE + 8 * k);
        header->offset[k] = las_f64(data + LAS_AT_OFFSET + 8 * k);
    }
    MOTE_TRY(recover_layout(ctx, input, header));
    MOTE_TRY(check_layout(ctx, input, header));
    read_long_fields(data, header);
    return check_lattice(ctx, input, header);
}

uint64_t mote_las_points_end(const mote_input *input, const las_header *h) {
    uint64_t end = input->size_bytes;
    if (h->extended_count > 0 && h->extended_at >= h->points_at && h->extended_at < end) end = h->extended_at;
    if ((h->origin.global_encoding & LAS_ENCODING_INTERNAL) != 0 && h->waveform_at >= h->points_at &&
        h->waveform_at < end && h->waveform_at != 0) {
        end = h->waveform_at;
    }
    return end;
}

/* A writer that was interrupted leaves the count 0: then it follows from the size. */
static mote_status count_from_size(mote_context *ctx, const mote_input *input, bool salvage, las_header *h,
                                   uint64_t rest) {
    const uint64_t over = rest % h->point_bytes;
    h->count = rest / h->point_bytes;
    if (h->count == 0) return MOTE_OK;
    if (over != 0 && !salvage) {
        return mote_malformed(ctx, input, LAS_AT_LEGACY_COUNT,
                              "the header says no points, but %" PRIu64
                              " bytes follow it, no whole number of records of %u bytes" MOTE_SALVAGE_HINT,
                              rest, h->point_bytes);
    }
    mote_warn(ctx,
              "%s: the header says no points, but the file holds %" PRIu64
              ", which are taken: was its writer interrupted?",
              input->path, h->count);
    if (over == 0) return MOTE_OK;
    mote_warn(ctx, "%s: offset %" PRIu64 ": the last %" PRIu64 " bytes are no whole point and are left out",
              input->path, h->points_at + rest - over, over);
    return MOTE_OK;
}

void mote_las_stated_count(mote_context *ctx, const mote_input *input, las_header *header) {
    header->count = header->long_count != 0 ? header->long_count : header->legacy_count;
    if (header->long_count != 0 && header->legacy_count != 0 && header->legacy_count != header->long_count) {
        mote_warn(ctx,
                  "%s: offset %u: %" PRIu64 " points in the old count, %" PRIu64 " in the 64-bit one, which is taken",
                  input->path, LAS_AT_LEGACY_COUNT, header->legacy_count, header->long_count);
    }
    check_box(ctx, input, header);
}

/* Whether point i lies in the box that the header states, or that says nothing. */
static bool is_in_box(const mote_input *input, const las_header *h, uint64_t i) {
    const uint8_t *record = input->data + h->points_at + i * h->point_bytes;
    for (uint32_t k = 0; k < 3; k++) {
        const double high = las_f64(input->data + LAS_AT_MAX_OF_AXIS(k)),
                     low = las_f64(input->data + LAS_AT_MIN_OF_AXIS(k));
        const double step = fabs(h->scale[k]);
        int32_t stored;
        memcpy(&stored, record + 4 * k, sizeof stored);
        const double at = stored * h->scale[k] + h->offset[k];
        if (low <= high && !(at >= low - step && at <= high + step)) return false;
    }
    return true;
}

/* The header says fewer points than the file has room for. What follows are points if it is a whole number of records
   in the header's box. Without salvage the header is believed, and what seems to be left out is told: then the first
   and the last of these records are enough. */
static void look_beyond(mote_context *ctx, const mote_input *input, bool salvage, las_header *h, uint64_t rest) {
    const uint64_t held = rest / h->point_bytes, stated = h->count;
    const char *fate = "what follows is no points and is left out";
    const uint64_t step = salvage || held - stated < 3 ? 1 : held - stated - 1;
    bool are_points = rest % h->point_bytes == 0;
    for (uint64_t i = stated; are_points && i < held; i += step) are_points = is_in_box(input, h, i);
    if (!salvage && !are_points) return;
    if (salvage && are_points) {
        h->count = held;
        fate = "all are taken";
    }
    if (!salvage) fate = "what follows looks like points and is left out (--salvage takes them)";
    mote_warn(ctx, "%s: offset %u: the header says %" PRIu64 " points, the file has room for %" PRIu64 "; %s",
              input->path, h->long_count != 0 ? LAS_AT_COUNT : LAS_AT_LEGACY_COUNT, stated, held, fate);
}

mote_status mote_las_count(mote_context *ctx, const mote_input *input, bool salvage, las_header *header) {
    const uint64_t rest = mote_las_points_end(input, header) - header->points_at;
    const uint64_t held = rest / header->point_bytes;
    mote_las_stated_count(ctx, input, header);
    if (header->count == 0) return count_from_size(ctx, input, salvage, header, rest);
    if (header->count < held) look_beyond(ctx, input, salvage, header, rest);
    if (header->count <= held) return MOTE_OK;
    if (salvage && held == 0) return mote_nothing_whole(ctx, input, header->points_at, header->count);
    if (!salvage) {
        return mote_malformed(ctx, input, header->long_count != 0 ? LAS_AT_COUNT : LAS_AT_LEGACY_COUNT,
                              "the header says %" PRIu64 " points of %u bytes, the file holds %" PRIu64 "%s",
                              header->count, header->point_bytes, held, held > 0 ? MOTE_SALVAGE_HINT : "");
    }
    mote_warn_of_loss(ctx, input, header->points_at + held * header->point_bytes, held, header->count);
    header->count = held;
    return MOTE_OK;
}
