/* Variable-length records of LAS, before and after the points. They stay where they are: the cloud's records look at
   the input, which the cloud will own. */
#include <inttypes.h>

#include "io/las_format.h"

/* A record in front of whose payload stand bytes like `at`; long_size: extended. */
static mote_status keep_record(mote_context *ctx, const uint8_t *at, bool extended, mote_cloud *cloud) {
    if (!mote_reserve(ctx, (void **)&cloud->records, &cloud->record_capacity, cloud->record_count + 1,
                      sizeof *cloud->records, "records")) {
        return MOTE_ERROR_MEMORY;
    }
    mote_record *record = &cloud->records[cloud->record_count++];
    memset(record, 0, sizeof *record);
    memcpy(record->user_id, at + 2, 16);
    record->record_id = las_u16(at + 18);
    record->extended = extended;
    record->size_bytes = extended ? las_u64(at + 20) : las_u16(at + 20);
    memcpy(record->description, at + (extended ? 28 : 22), 32);
    record->data = at + (extended ? LAS_EVLR_BYTES : LAS_VLR_BYTES);
    return MOTE_OK;
}

static mote_status read_front(mote_context *ctx, const mote_input *input, const las_header *header, mote_cloud *cloud) {
    uint64_t at = header->header_bytes;
    for (uint32_t i = 0; i < header->record_count; i++) {
        const uint64_t left = header->points_at - at;
        if (left < LAS_VLR_BYTES) {
            return mote_malformed(ctx, input, at, "record %u of %u does not fit before the points, which start at %u",
                                  i + 1, header->record_count, header->points_at);
        }
        const uint16_t size_bytes = las_u16(input->data + at + 20);
        if (size_bytes > left - LAS_VLR_BYTES) {
            return mote_malformed(ctx, input, at,
                                  "record %u of %u has %u bytes and runs over the points, which start at %u", i + 1,
                                  header->record_count, size_bytes, header->points_at);
        }
        MOTE_TRY(keep_record(ctx, input->data + at, false, cloud));
        at += LAS_VLR_BYTES + size_bytes;
    }
    return MOTE_OK;
}

/* Reads the extended record at *at and moves on to its end. */
static mote_status read_extended(mote_context *ctx, const mote_input *input, uint64_t *at, mote_cloud *cloud) {
    const uint64_t left = *at <= input->size_bytes ? input->size_bytes - *at : 0;
    if (left < LAS_EVLR_BYTES) {
        return mote_malformed(ctx, input, *at,
                              "an extended record starts here, %" PRIu64 " bytes before the end of the file", left);
    }
    const uint64_t size_bytes = las_u64(input->data + *at + 20);
    if (size_bytes > left - LAS_EVLR_BYTES) {
        return mote_malformed(ctx, input, *at, "an extended record of %" PRIu64 " bytes where the file has %" PRIu64,
                              size_bytes, left - LAS_EVLR_BYTES);
    }
    MOTE_TRY(keep_record(ctx, input->data + *at, true, cloud));
    *at += LAS_EVLR_BYTES + size_bytes;
    return MOTE_OK;
}

static mote_status read_behind(mote_context *ctx, const mote_input *input, const las_header *header,
                               mote_cloud *cloud) {
    uint64_t at = header->extended_at;
    bool waveforms_seen = false;
    if (header->extended_count > 0 && at < header->points_at) {
        return mote_malformed(ctx, input, 235, "extended records start at %" PRIu64 ", before the points at %u", at,
                              header->points_at);
    }
    for (uint32_t i = 0; i < header->extended_count; i++) {
        if (at == header->waveform_at) waveforms_seen = true;
        MOTE_TRY(read_extended(ctx, input, &at, cloud));
    }
    /* LAS 1.3 has no list: its one extended record is found by the start of the waveforms. */
    const bool inside = (header->origin.global_encoding & LAS_ENCODING_INTERNAL) != 0;
    if (waveforms_seen || !inside || header->waveform_at == 0 || header->origin.version_minor < 3) return MOTE_OK;
    at = header->waveform_at;
    if (at < header->points_at) {
        return mote_malformed(ctx, input, 227, "waveforms start at %" PRIu64 ", before the points at %u", at,
                              header->points_at);
    }
    return read_extended(ctx, input, &at, cloud);
}

mote_status mote_las_read_records(mote_context *ctx, const mote_input *input, const las_header *header,
                                  mote_cloud *cloud) {
    MOTE_TRY(read_front(ctx, input, header, cloud));
    return read_behind(ctx, input, header, cloud);
}
