/* Variable-length records of LAS, before and after the points. They stay where they are: the cloud's records look at
   the input, which the cloud will own. */
#include <inttypes.h>
#include <stdio.h>

#include "io/las/las_format.h"

/* The record that starts at `at`. size_bytes: of its payload, as it was checked; the header in the file is not asked
   for it again, since another process may write to the file meanwhile. */
static mote_status keep_record(mote_context *ctx, const uint8_t *at, bool extended, uint64_t size_bytes,
                               mote_cloud *cloud) {
    if (!mote_reserve(ctx, (void **)&cloud->records, &cloud->record_capacity, cloud->record_count + 1,
                      sizeof *cloud->records, "records")) {
        return MOTE_ERROR_MEMORY;
    }
    mote_record *record = &cloud->records[cloud->record_count++];
    memset(record, 0, sizeof *record);
    memcpy(record->user_id, at + LAS_VLR_AT_USER, LAS_VLR_USER_BYTES);
    record->record_id = las_u16(at + LAS_VLR_AT_ID);
    record->extended = extended;
    record->size_bytes = size_bytes;
    memcpy(record->description, at + (extended ? LAS_EVLR_AT_DESCRIPTION : LAS_VLR_AT_DESCRIPTION),
           LAS_VLR_DESCRIPTION_BYTES);
    record->data = at + (extended ? LAS_EVLR_BYTES : LAS_VLR_BYTES);
    return MOTE_OK;
}

/* Says why a list of records ends before its count. */
static __attribute__((format(printf, 4, 5))) void warn_of_record(mote_context *ctx, const mote_input *input,
                                                                 uint64_t at, const char *format, ...) {
    char why[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(why, sizeof why, format, arguments);
    va_end(arguments);
    mote_warn(ctx, "%s: offset %" PRIu64 ": %s; the points are read without it and those behind it", input->path, at,
              why);
}

static mote_status read_front(mote_context *ctx, const mote_input *input, las_header *header, mote_cloud *cloud) {
    uint64_t at = header->header_bytes;
    for (uint32_t i = 0; i < header->record_count; i++) {
        const uint64_t remaining = header->points_at - at;
        const uint16_t size_bytes = remaining < LAS_VLR_BYTES ? 0 : las_u16(input->data + at + LAS_VLR_AT_SIZE);
        if (remaining < LAS_VLR_BYTES) {
            warn_of_record(ctx, input, at, "record %u of %u does not fit before the points, which start at %u", i + 1,
                           header->record_count, header->points_at);
        } else if (size_bytes > remaining - LAS_VLR_BYTES) {
            warn_of_record(ctx, input, at, "record %u of %u has %u bytes and runs over the points, which start at %u",
                           i + 1, header->record_count, size_bytes, header->points_at);
        }
        if (remaining < LAS_VLR_BYTES || size_bytes > remaining - LAS_VLR_BYTES) {
            header->record_count = i;
            return MOTE_OK;
        }
        MOTE_TRY(keep_record(ctx, input->data + at, false, size_bytes, cloud));
        at += LAS_VLR_BYTES + size_bytes;
    }
    return MOTE_OK;
}

/* Reads the extended record at *at and moves on to its end; *whole is false, with a warning, where it is not within the
   file. */
static mote_status read_extended(mote_context *ctx, const mote_input *input, uint64_t *at, mote_cloud *cloud,
                                 bool *whole) {
    const uint64_t remaining = *at <= input->size_bytes ? input->size_bytes - *at : 0;
    const uint64_t size_bytes = remaining < LAS_EVLR_BYTES ? 0 : las_u64(input->data + *at + LAS_VLR_AT_SIZE);
    *whole = remaining >= LAS_EVLR_BYTES && size_bytes <= remaining - LAS_EVLR_BYTES;
    if (remaining < LAS_EVLR_BYTES) {
        warn_of_record(ctx, input, *at, "an extended record starts here, %" PRIu64 " bytes before the end of the file",
                       remaining);
    } else if (!*whole) {
        warn_of_record(ctx, input, *at, "an extended record of %" PRIu64 " bytes where the file has %" PRIu64,
                       size_bytes, remaining - LAS_EVLR_BYTES);
    }
    if (!*whole) return MOTE_OK;
    MOTE_TRY(keep_record(ctx, input->data + *at, true, size_bytes, cloud));
    *at += LAS_EVLR_BYTES + size_bytes;
    return MOTE_OK;
}

/* Whether plain points that the header states would reach beyond at, and the file is large enough for them. */
static bool is_among_points(const mote_input *input, const las_header *h, uint64_t at) {
    const uint64_t stated = h->long_count != 0 ? h->long_count : h->legacy_count;
    const uint64_t held = (input->size_bytes - h->points_at) / h->point_bytes;
    return !h->compressed && stated <= held && at < h->points_at + stated * h->point_bytes;
}

/* Whether a record names its user as records do: text, then zeros. */
static bool has_user(const mote_record *record) {
    uint32_t length = 0;
    while (length < 16 && record->user_id[length] > ' ' - 1 && record->user_id[length] < 0x7F) length++;
    for (uint32_t i = length; i < 16; i++) {
        if (record->user_id[i] != 0) return false;
    }
    return length > 0;
}

/* The list of LAS 1.4. A start among the points is one only if all that the list names is there. */
static mote_status read_list(mote_context *ctx, const mote_input *input, las_header *header, mote_cloud *cloud,
                             bool *waveforms_seen) {
    const uint64_t kept = cloud->record_count;
    uint64_t at = header->extended_at;
    bool whole = at >= header->points_at, named = true;
    if (!whole) {
        warn_of_record(ctx, input, 235, "extended records start at %" PRIu64 ", before the points at %u", at,
                       header->points_at);
    }
    for (uint32_t i = 0; whole && i < header->extended_count; i++) {
        if (at == header->waveform_at) *waveforms_seen = true;
        MOTE_TRY(read_extended(ctx, input, &at, cloud, &whole));
        named = named && (!whole || has_user(&cloud->records[cloud->record_count - 1]));
    }
    if ((whole && named) || !is_among_points(input, header, header->extended_at)) return MOTE_OK;
    if (whole) warn_of_record(ctx, input, 235, "extended records start at %" PRIu64 ", among the points", at);
    cloud->record_count = kept;
    header->extended_count = 0;
    return MOTE_OK;
}

mote_status mote_las_read_records(mote_context *ctx, const mote_input *input, las_header *header, mote_cloud *cloud) {
    bool waveforms_seen = false;
    MOTE_TRY(read_front(ctx, input, header, cloud));
    if (header->extended_count > 0) MOTE_TRY(read_list(ctx, input, header, cloud, &waveforms_seen));
    const bool inside = (header->origin.global_encoding & LAS_ENCODING_INTERNAL) != 0;
    if (waveforms_seen || !inside || header->waveform_at == 0 || header->origin.version_minor < 3) return MOTE_OK;
    /* LAS 1.3 has no list: its one extended record is found by the start of the waveforms. */
    uint64_t at = header->waveform_at;
    bool whole;
    if (at < header->points_at) {
        warn_of_record(ctx, input, 227, "waveforms start at %" PRIu64 ", before the points at %u", at,
                       header->points_at);
        header->waveform_at = 0;
        return MOTE_OK;
    }
    MOTE_TRY(read_extended(ctx, input, &at, cloud, &whole));
    if (!whole && is_among_points(input, header, header->waveform_at)) header->waveform_at = 0;
    return MOTE_OK;
}
