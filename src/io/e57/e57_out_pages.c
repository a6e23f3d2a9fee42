/* Payload becomes pages with checksums. Two pages are kept in memory, for what their headers say is known last. */
#include "io/e57/e57_write.h"

static void seal(uint8_t *page) {
    const uint32_t crc = __builtin_bswap32(mote_e57_crc(page, E57_PAYLOAD_BYTES));
    memcpy(page + E57_PAYLOAD_BYTES, &crc, sizeof crc);
}

static mote_status write_page(e57_writer *w, uint64_t number) {
    seal(w->page);
    if (w->first.number == number) memcpy(w->first.bytes, w->page, sizeof w->page);
    if (w->section.number == number) memcpy(w->section.bytes, w->page, sizeof w->page);
    MOTE_TRY(mote_output_write(w->ctx, &w->output, w->page, sizeof w->page));
    memset(w->page, 0, sizeof w->page);
    return MOTE_OK;
}

mote_status mote_e57_append(e57_writer *w, const void *bytes, uint64_t size_bytes) {
    const uint8_t *from = bytes;
    while (size_bytes > 0) {
        const uint64_t at = w->logical % E57_PAYLOAD_BYTES, rest = E57_PAYLOAD_BYTES - at;
        const uint64_t part = size_bytes < rest ? size_bytes : rest;
        memcpy(w->page + at, from, part);
        from += part;
        size_bytes -= part;
        w->logical += part;
        if (part == rest) MOTE_TRY(write_page(w, w->logical / E57_PAYLOAD_BYTES - 1));
    }
    return MOTE_OK;
}

mote_status mote_e57_align(e57_writer *w, uint64_t multiple) {
    static const uint8_t zeros[E57_SECTION_BYTES];
    const uint64_t over = w->logical % multiple;
    return over > 0 ? mote_e57_append(w, zeros, multiple - over) : MOTE_OK;
}

mote_status mote_e57_patch(e57_writer *w, uint64_t logical, const void *bytes, uint64_t size_bytes) {
    const uint64_t page = logical / E57_PAYLOAD_BYTES, at = logical % E57_PAYLOAD_BYTES;
    if (page == w->logical / E57_PAYLOAD_BYTES) {
        memcpy(w->page + at, bytes, size_bytes);
        return MOTE_OK;
    }
    e57_held_page *const held = page == w->first.number ? &w->first : &w->section;
    memcpy(held->bytes + at, bytes, size_bytes);
    seal(held->bytes);
    return mote_output_patch(w->ctx, &w->output, held->bytes, sizeof held->bytes, page * E57_PAGE_BYTES);
}

mote_status mote_e57_finish_pages(e57_writer *w) {
    const uint64_t at = w->logical % E57_PAYLOAD_BYTES;
    if (at == 0) return MOTE_OK;
    w->logical += E57_PAYLOAD_BYTES - at;
    return write_page(w, w->logical / E57_PAYLOAD_BYTES - 1);
}
