/* The pages of a file, and the header on the first of them. */
#include <inttypes.h>

#include "io/e57/e57.h"

/* Where the fields of the header are. */
enum { AT_MAJOR = 8, AT_LENGTH = 16, AT_XML = 24, AT_XML_BYTES = 32, AT_PAGE_BYTES = 40 };

static uint32_t u32(const uint8_t *at) {
    uint32_t value;
    memcpy(&value, at, sizeof value);
    return value;
}

static uint64_t u64(const uint8_t *at) {
    uint64_t value;
    memcpy(&value, at, sizeof value);
    return value;
}

bool mote_e57_page_is_right(const uint8_t *page) {
    return __builtin_bswap32(u32(page + E57_PAYLOAD_BYTES)) == mote_e57_crc(page, E57_PAYLOAD_BYTES);
}

mote_status mote_e57_bad_page(mote_context *ctx, const mote_input *input, uint64_t page, bool can_salvage) {
    return mote_malformed(ctx, input, page * E57_PAGE_BYTES,
                          "the checksum of this page of 1024 bytes is wrong: the file is damaged here%s",
                          can_salvage ? MOTE_SALVAGE_HINT : "");
}

mote_status mote_e57_read_payload(mote_context *ctx, const mote_input *input, uint64_t logical, uint64_t size_bytes,
                                  uint8_t *out) {
    while (size_bytes > 0) {
        const uint64_t page = logical / E57_PAYLOAD_BYTES, from = logical % E57_PAYLOAD_BYTES;
        const uint64_t rest = E57_PAYLOAD_BYTES - from, part = size_bytes < rest ? size_bytes : rest;
        const uint8_t *const bytes = input->data + page * E57_PAGE_BYTES;
        if (!mote_e57_page_is_right(bytes)) return mote_e57_bad_page(ctx, input, page, false);
        memcpy(out, bytes + from, part);
        out += part;
        logical += part;
        size_bytes -= part;
    }
    return MOTE_OK;
}

mote_status mote_e57_place(mote_context *ctx, const mote_input *input, const e57_file *file, uint64_t physical,
                           uint64_t stated, const char *what, uint64_t *logical) {
    const uint64_t in_page = physical % E57_PAGE_BYTES;
    *logical = physical / E57_PAGE_BYTES * E57_PAYLOAD_BYTES + in_page;
    if (in_page < E57_PAYLOAD_BYTES && physical >= E57_HEADER_BYTES && *logical < file->logical_bytes) return MOTE_OK;
    return mote_malformed(ctx, input, stated, "%s is said to be at offset %" PRIu64 ", which is %s", what, physical,
                          physical < E57_HEADER_BYTES    ? "within the header of the file"
                          : in_page >= E57_PAYLOAD_BYTES ? "within a checksum"
                                                         : "beyond the end of the file");
}

mote_status mote_e57_read_header(mote_context *ctx, const mote_input *input, e57_file *file) {
    const uint8_t *const data = input->data;
    if (input->size_bytes < E57_PAGE_BYTES) {
        return mote_malformed(ctx, input, input->size_bytes, "the file ends within the first page of an E57 file");
    }
    if (memcmp(data, E57_SIGNATURE, sizeof E57_SIGNATURE - 1) != 0) {
        return mote_malformed(ctx, input, 0, "an E57 file begins with " E57_SIGNATURE ", this one does not");
    }
    if (!mote_e57_page_is_right(data)) return mote_e57_bad_page(ctx, input, 0, false);
    if (u32(data + AT_MAJOR) != 1) {
        return mote_fail(ctx, MOTE_ERROR_UNSUPPORTED, "%s: offset %d: E57 of version %u; mote knows version 1",
                         input->path, AT_MAJOR, u32(data + AT_MAJOR));
    }
    if (u64(data + AT_PAGE_BYTES) != E57_PAGE_BYTES) {
        return mote_malformed(ctx, input, AT_PAGE_BYTES, "pages of %" PRIu64 " bytes; those of E57 have 1024",
                              u64(data + AT_PAGE_BYTES));
    }
    const uint64_t length = u64(data + AT_LENGTH);
    if (length > input->size_bytes) {
        mote_warn(ctx, "%s: the header says %" PRIu64 " bytes, the file has %" PRIu64 ": it is cut", input->path,
                  length, input->size_bytes);
    }
    file->logical_bytes = input->size_bytes / E57_PAGE_BYTES * E57_PAYLOAD_BYTES;
    file->xml_bytes = u64(data + AT_XML_BYTES);
    MOTE_TRY(mote_e57_place(ctx, input, file, u64(data + AT_XML), AT_XML, "the XML", &file->xml_at));
    if (file->xml_bytes <= file->logical_bytes - file->xml_at) return MOTE_OK;
    return mote_malformed(ctx, input, AT_XML_BYTES,
                          "the XML is said to have %" PRIu64 " bytes, but the file has %" PRIu64 " from its place on",
                          file->xml_bytes, file->logical_bytes - file->xml_at);
}
