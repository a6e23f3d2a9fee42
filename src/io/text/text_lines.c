/* What a text begins with, and where its lines end: alike for every text that mote reads. */
#include "io/text/text.h"

#define LONGEST_LINE_BYTES (1u << 20)
#define LOOKED_AT_BYTES    (1u << 20)

/* ---- encodings */

static bool is_ascii_text(uint8_t c) { return (c >= ' ' && c < 0x7F) || c == '\t' || c == '\n' || c == '\r'; }

/* By the byte order mark, else by the zeros of the first characters, which are of ASCII in every text that mote
   reads. */
const char *mote_text_encoding(const void *bytes, uint64_t size_bytes) {
    static const struct {
        const char *name, *mark;
        uint64_t mark_bytes;
        uint8_t unit_bytes, letter; /* bytes of a character, and which of them is not zero */
    } known[] = {{"UTF-32LE", "\xFF\xFE\0\0", 4, 4, 0},
                 {"UTF-32BE", "\0\0\xFE\xFF", 4, 4, 3},
                 {"UTF-16LE", "\xFF\xFE", 2, 2, 0},
                 {"UTF-16BE", "\xFE\xFF", 2, 2, 1}};
    const uint8_t *const data = bytes;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (size_bytes < known[i].mark_bytes) continue;
        if (memcmp(data, known[i].mark, known[i].mark_bytes) == 0) return known[i].name;
    }
    if (size_bytes < 4) return NULL;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        bool matches = true;
        for (size_t k = 0; k < 4; k++) {
            const bool letter = k % known[i].unit_bytes == known[i].letter;
            matches = matches && (letter ? is_ascii_text(data[k]) : data[k] == 0);
        }
        if (matches) return known[i].name;
    }
    return NULL;
}

mote_status mote_text_check_encoding(mote_context *ctx, const mote_input *input) {
    const char *const name = mote_text_encoding(input->data, input->size_bytes);
    if (name == NULL) return MOTE_OK;
    return mote_malformed(ctx, input, 0,
                          "the text is encoded as %s, mote reads UTF-8 and ASCII; \"iconv -f %s -t UTF-8 IN >OUT\" "
                          "converts it",
                          name, name);
}

uint64_t mote_text_mark_bytes(const mote_input *input) {
    return input->size_bytes >= 3 && memcmp(input->data, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
}

/* ---- quoting */

void mote_text_quote(const uint8_t *bytes, uint64_t length, char *out, size_t out_bytes) {
    static const char zero[] = "\\x00";
    size_t used = 0;
    for (uint64_t i = 0, next = 0; i < length; i = next) {
        for (next = i + 1; next < length && next < i + 4 && (bytes[next] & 0xC0) == 0x80; next++) {}
        const size_t size = bytes[i] == '\0' ? sizeof zero - 1 : next - i;
        if (used + size >= out_bytes) break;
        memcpy(out + used, bytes[i] == '\0' ? (const void *)zero : bytes + i, size);
        used += size;
        if (bytes[i] == '\0') next = i + 1;
    }
    out[used] = '\0';
}

/* ---- lines */

bool mote_text_has_lone_cr(const mote_input *input, uint64_t begin) {
    const uint64_t remaining = input->size_bytes - begin;
    const uint8_t *at = input->data + begin, *const end =
                                                 at + (remaining < LOOKED_AT_BYTES ? remaining : LOOKED_AT_BYTES);
    while ((at = memchr(at, '\r', (size_t)(end - at))) != NULL) {
        at++;
        if (at == end || *at != '\n') return true;
    }
    return false;
}

mote_status mote_text_next_header_line(mote_context *ctx, const mote_input *input, const char *format, const char *last,
                                       mote_text_line *line) {
    const uint64_t remaining = input->size_bytes - line->next;
    const uint64_t max = remaining < LONGEST_LINE_BYTES ? remaining : LONGEST_LINE_BYTES;
    line->begin = line->next;
    if (remaining == 0) return mote_malformed(ctx, input, line->begin, "the %s header has no %s", format, last);
    uint64_t length = 0;
    for (; length < max; length++) {
        const uint8_t c = input->data[line->begin + length];
        if (c == '\n' || c == '\r') break;
        if (c == '\0') return mote_malformed(ctx, input, line->begin + length, "a zero byte in the %s header", format);
    }
    if (length == LONGEST_LINE_BYTES) {
        return mote_malformed(ctx, input, line->begin, "a %s header line of more than %u bytes", format,
                              LONGEST_LINE_BYTES);
    }
    line->end = line->next = line->begin + length;
    if (line->end == input->size_bytes) return MOTE_OK;
    line->next++;
    if (input->data[line->end] == '\n') return MOTE_OK;
    const bool line_feed = line->next < input->size_bytes && input->data[line->next] == '\n';
    if (!line_feed) line->lone_cr = true;
    if (line_feed && !line->lone_cr) line->next++;
    return MOTE_OK;
}
