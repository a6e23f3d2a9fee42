/* Where one frame of a stream ends and the next one begins. */
#define _GNU_SOURCE /* memmem */
#include "view/live/live_frames.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEADER_MAX (1u << 20) /* of a PLY or PCD file */
#define BYTES_MAX  (UINT64_C(1) << 46)

/* Offsets in the header of LAS, and of an extended variable-length record. */
#define LAS_HEADER_BYTES  375u
#define LAS_MINOR_AT      25u
#define LAS_POINTS_AT_AT  96u
#define LAS_FORMAT_AT     104u
#define LAS_RECORD_AT     105u
#define LAS_COUNT_32_AT   107u
#define LAS_EXTENDED_AT   243u
#define LAS_COUNT_64_AT   247u
#define LAS_COMPRESSED    0xC0u
#define EVLR_HEADER_BYTES 60u
#define EVLR_LENGTH_AT    20u

static live_frame_state wrong(live_framer *f, const char *why) {
    f->why = why;
    return FRAME_WRONG;
}

static uint64_t read_whole(const uint8_t *from, unsigned bytes, bool is_big_endian) {
    uint64_t value = 0;
    for (unsigned i = 0; i < bytes; i++) value |= (uint64_t)from[i] << 8 * (is_big_endian ? bytes - 1 - i : i);
    return value;
}

/* ---- rows behind a header */

static live_frame_state pass_lines(live_framer *f, live_part *part, const uint8_t *data, size_t size, bool is_end) {
    while (part->rows > 0) {
        const uint8_t *end = f->at < size ? memchr(data + f->at, '\n', size - f->at) : NULL;
        if (end == NULL) {
            if (!is_end || part->rows > 1 || f->at >= size) return FRAME_MORE;
            f->at = size; /* the last line of all may have no end */
        } else {
            f->at = (size_t)(end - data) + 1;
        }
        part->rows--;
    }
    return FRAME_WHOLE;
}

/* One record with lists. Returns its length; 0: it is not whole yet. */
static size_t list_row_bytes(const live_framer *f, const live_part *part, const uint8_t *row, size_t size) {
    size_t at = 0;
    for (uint32_t i = 0; i < part->properties; i++) {
        const live_property *p = &f->properties[part->first_property + i];
        if (size - at < p->count_bytes) return 0;
        const uint64_t count = p->value_bytes > 0 ? read_whole(row + at, p->count_bytes, f->is_big_endian) : 0;
        at += p->count_bytes;
        if (count > (size - at) / (p->value_bytes > 0 ? p->value_bytes : 1)) return 0;
        at += (size_t)count * p->value_bytes;
    }
    return at;
}

static live_frame_state pass_part(live_framer *f, live_part *part, const uint8_t *data, size_t size, bool is_end) {
    if (f->is_text) return pass_lines(f, part, data, size, is_end);
    if (part->row_bytes > 0) {
        if (part->rows > BYTES_MAX / part->row_bytes) return wrong(f, "its header tells more points than there can be");
        const uint64_t bytes = part->rows * part->row_bytes;
        if (bytes > size - f->at) return FRAME_MORE;
        f->at += (size_t)bytes;
        part->rows = 0;
        return FRAME_WHOLE;
    }
    for (; part->rows > 0; part->rows--) {
        const size_t bytes = list_row_bytes(f, part, data + f->at, size - f->at);
        if (bytes == 0) return FRAME_MORE;
        f->at += bytes;
    }
    return FRAME_WHOLE;
}

/* Records of a known length behind the points of LAS: a header each, which says how long it is. */
static live_frame_state pass_extended(live_framer *f, const uint8_t *data, size_t size) {
    for (; f->las_extended > 0; f->las_extended--) {
        if (size - f->at < EVLR_HEADER_BYTES) return FRAME_MORE;
        const uint64_t bytes = read_whole(data + f->at + EVLR_LENGTH_AT, 8, false);
        if (bytes > BYTES_MAX) return wrong(f, "a record behind its points is longer than can be");
        if (bytes > size - f->at - EVLR_HEADER_BYTES) return FRAME_MORE;
        f->at += EVLR_HEADER_BYTES + (size_t)bytes;
    }
    return FRAME_WHOLE;
}

static live_frame_state pass_parts(live_framer *f, const uint8_t *data, size_t size, bool is_end, size_t *length) {
    for (; f->part < f->part_count; f->part++) {
        if (f->at > size) return FRAME_MORE; /* LAS: the points begin farther on */
        const live_frame_state state = pass_part(f, &f->parts[f->part], data, size, is_end);
        if (state != FRAME_WHOLE) return state;
    }
    const live_frame_state state = pass_extended(f, data, size);
    *length = f->at;
    return state;
}

/* ---- headers of text */

/* The next line of a header, without its end. Returns false behind the last. */
static bool next_line(const uint8_t *data, size_t end, size_t *at, char *line, size_t line_size) {
    if (*at >= end) return false;
    const uint8_t *stop = memchr(data + *at, '\n', end - *at);
    const size_t length = (stop != NULL ? (size_t)(stop - data) : end) - *at;
    snprintf(line, line_size, "%.*s", (int)(length < line_size ? length : line_size - 1), (const char *)data + *at);
    line[strcspn(line, "\r")] = '\0';
    *at += length + 1;
    return true;
}

/* Where the header ends: behind the line that begins with word. 0: not yet. */
static size_t header_end(const uint8_t *data, size_t size, const char *word) {
    const size_t length = strlen(word), seen = size < HEADER_MAX ? size : HEADER_MAX;
    for (size_t at = 0; at < seen;) {
        const uint8_t *stop = memchr(data + at, '\n', seen - at);
        if (stop == NULL) return 0;
        if ((size_t)(stop - data) - at >= length && memcmp(data + at, word, length) == 0) {
            return (size_t)(stop - data) + 1;
        }
        at = (size_t)(stop - data) + 1;
    }
    return 0;
}

static live_frame_state no_header_yet(live_framer *f, size_t size, bool is_end) {
    if (size >= HEADER_MAX) return wrong(f, "its header has no end");
    return is_end ? wrong(f, "it ends within its header") : FRAME_MORE;
}

/* A number of rows, and nothing behind it but blanks. */
static bool read_count(const char *text, uint64_t *count) {
    char *end = NULL;
    *count = strtoull(text, &end, 10);
    return end != text && end[strspn(end, " \t")] == '\0' && strchr(text, '-') == NULL && *count < BYTES_MAX;
}

static uint8_t ply_type_bytes(const char *name) {
    static const struct {
        const char *name;
        uint8_t bytes;
    } types[] = {{"char", 1},  {"uchar", 1},   {"int8", 1},   {"uint8", 1},  {"short", 2}, {"ushort", 2},
                 {"int16", 2}, {"uint16", 2},  {"int", 4},    {"uint", 4},   {"int32", 4}, {"uint32", 4},
                 {"float", 4}, {"float32", 4}, {"double", 8}, {"float64", 8}};
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        if (strcmp(name, types[i].name) == 0) return types[i].bytes;
    }
    return 0;
}

static bool add_part(live_framer *f, uint64_t rows, uint64_t row_bytes) {
    if (f->part_count == LIVE_PARTS_MAX) return false;
    const live_part part = {rows, row_bytes, f->property_count, 0};
    f->parts[f->part_count++] = part;
    return true;
}

static bool add_ply_property(live_framer *f, const char *line) {
    char type[16] = "", count[16] = "";
    live_property property = {0, 0};
    if (f->part_count == 0 || f->property_count == LIVE_PROPERTIES_MAX) return false;
    if (sscanf(line, "property list %15s %15s", count, type) == 2) {
        property.count_bytes = ply_type_bytes(count);
        property.value_bytes = ply_type_bytes(type);
        if (property.value_bytes == 0) return false;
    } else if (sscanf(line, "property %15s", type) == 1) {
        property.count_bytes = ply_type_bytes(type);
    }
    f->properties[f->property_count++] = property;
    f->parts[f->part_count - 1].properties++;
    return property.count_bytes > 0;
}

/* A part without lists has rows of one length. */
static void settle_ply_rows(live_framer *f) {
    for (uint32_t i = 0; i < f->part_count; i++) {
        live_part *part = &f->parts[i];
        uint64_t bytes = 0;
        for (uint32_t k = 0; k < part->properties; k++) {
            const live_property *p = &f->properties[part->first_property + k];
            bytes = p->value_bytes > 0 ? BYTES_MAX : bytes + p->count_bytes;
        }
        part->row_bytes = bytes < BYTES_MAX ? bytes : 0;
        if (part->properties == 0) part->rows = 0;
    }
}

static live_frame_state read_ply_header(live_framer *f, const uint8_t *data, size_t size, bool is_end) {
    char line[256];
    uint64_t rows;
    size_t at = 0;
    const size_t end = header_end(data, size, "end_header");
    if (end == 0) return no_header_yet(f, size, is_end);
    while (next_line(data, end, &at, line, sizeof line)) {
        bool is_right = true;
        if (strncmp(line, "format ", 7) == 0) {
            f->is_text = strstr(line, "ascii") != NULL;
            f->is_big_endian = strstr(line, "big_endian") != NULL;
        } else if (strncmp(line, "element ", 8) == 0) {
            is_right = read_count(line + 8 + strcspn(line + 8, " "), &rows) && add_part(f, rows, 0);
        } else if (strncmp(line, "property", 8) == 0) {
            is_right = add_ply_property(f, line);
        }
        if (!is_right) return wrong(f, "its PLY header is not understood");
    }
    settle_ply_rows(f);
    f->at = end;
    f->framing = FRAME_PARTS;
    return FRAME_WHOLE;
}

/* "SIZE 4 4 4" and "COUNT 1 1 1" as bytes of a point. */
static uint64_t pcd_row_bytes(const char *sizes, const char *counts) {
    uint64_t bytes = 0;
    char *size_end = NULL, *count_end = NULL;
    for (;;) {
        const unsigned long long size = strtoull(sizes, &size_end, 10);
        if (size_end == sizes) return bytes;
        const unsigned long long count = strtoull(counts, &count_end, 10);
        bytes += size * (count_end == counts ? 1 : count);
        if (size > 8 || count > 65536 || bytes > HEADER_MAX) return BYTES_MAX;
        sizes = size_end;
        counts = count_end;
    }
}

static live_frame_state read_pcd_header(live_framer *f, const uint8_t *data, size_t size, bool is_end) {
    char line[1024], sizes[1024] = "", counts[1024] = "", kind[32] = "";
    uint64_t rows = 0;
    bool is_right = true;
    size_t at = 0;
    const size_t end = header_end(data, size, "DATA");
    if (end == 0) return no_header_yet(f, size, is_end);
    while (next_line(data, end, &at, line, sizeof line)) {
        if (strncmp(line, "SIZE ", 5) == 0) snprintf(sizes, sizeof sizes, "%s", line + 5);
        if (strncmp(line, "COUNT ", 6) == 0) snprintf(counts, sizeof counts, "%s", line + 6);
        if (strncmp(line, "POINTS ", 7) == 0) is_right = read_count(line + 7, &rows);
        sscanf(line, "DATA %31s", kind);
    }
    f->is_text = strcmp(kind, "ascii") == 0;
    f->is_compressed = strcmp(kind, "binary_compressed") == 0;
    f->at = end;
    if (f->is_compressed) { /* its length, that of what it holds, and the bytes */
        if (size - end < 8) return is_end ? wrong(f, "it ends early") : FRAME_MORE;
        add_part(f, 1, 8 + read_whole(data + end, 4, false));
    } else {
        const uint64_t bytes = f->is_text ? 0 : pcd_row_bytes(sizes, counts);
        if (!is_right || bytes >= BYTES_MAX || (bytes == 0 && !f->is_text)) {
            return wrong(f, "its PCD header is not understood");
        }
        add_part(f, rows, bytes);
    }
    f->framing = FRAME_PARTS;
    return FRAME_WHOLE;
}

/* ---- LAS, text */

static live_frame_state read_las_header(live_framer *f, const uint8_t *data, size_t size, bool is_end) {
    if (size < LAS_HEADER_BYTES) return is_end ? wrong(f, "it ends within its header") : FRAME_MORE;
    const bool is_wide = data[LAS_MINOR_AT] >= 4;
    const uint64_t count =
        is_wide ? read_whole(data + LAS_COUNT_64_AT, 8, false) : read_whole(data + LAS_COUNT_32_AT, 4, false);
    if ((data[LAS_FORMAT_AT] & LAS_COMPRESSED) != 0) {
        return wrong(f, "LAZ does not say how long it is: LAS, PLY, PCD and text can be sent through a pipe");
    }
    const uint64_t record = read_whole(data + LAS_RECORD_AT, 2, false);
    if (record == 0 || count >= BYTES_MAX) return wrong(f, "its LAS header is not understood");
    add_part(f, count, record);
    f->las_extended = is_wide ? (uint32_t)read_whole(data + LAS_EXTENDED_AT, 4, false) : 0;
    f->at = (size_t)read_whole(data + LAS_POINTS_AT_AT, 4, false);
    f->framing = FRAME_PARTS;
    return FRAME_WHOLE;
}

/* Finds the empty line that ends a frame. */
static live_frame_state find_empty_line(live_framer *f, const uint8_t *data, size_t size, bool is_end, size_t *length) {
    for (;;) {
        const uint8_t *end = f->at < size ? memchr(data + f->at, '\n', size - f->at) : NULL;
        if (end == NULL) break;
        const size_t next = (size_t)(end - data) + 1;
        const bool is_empty = next - f->at == 1 || (next - f->at == 2 && data[f->at] == '\r');
        f->at = next;
        if (!is_empty) continue;
        *length = next;
        return FRAME_WHOLE;
    }
    *length = size;
    return is_end ? FRAME_WHOLE : FRAME_MORE;
}

/* ---- frames */

static live_framing framing_of(const uint8_t *data, size_t size, bool is_end) {
    if (size < 16 && !is_end) return FRAME_UNKNOWN;
    if (size >= 4 && memcmp(data, "LASF", 4) == 0) return FRAME_LAS;
    if (size >= 4 && (memcmp(data, "ply\n", 4) == 0 || memcmp(data, "ply\r", 4) == 0)) return FRAME_PLY;
    if (size >= 8 && (memcmp(data, "# .PCD", 6) == 0 || memcmp(data, "VERSION ", 8) == 0)) return FRAME_PCD;
    return FRAME_TEXT;
}

live_frame_state live_frame_end(live_framer *f, const uint8_t *data, size_t size, bool is_end, size_t *length) {
    live_frame_state state = FRAME_WHOLE;
    if (f->framing == FRAME_UNKNOWN) f->framing = framing_of(data, size, is_end);
    switch (f->framing) {
    case FRAME_UNKNOWN: return FRAME_MORE;
    case FRAME_PLY: state = read_ply_header(f, data, size, is_end); break;
    case FRAME_PCD: state = read_pcd_header(f, data, size, is_end); break;
    case FRAME_LAS: state = read_las_header(f, data, size, is_end); break;
    case FRAME_TEXT: return find_empty_line(f, data, size, is_end, length);
    case FRAME_PARTS: break;
    }
    if (state != FRAME_WHOLE) return state;
    state = pass_parts(f, data, size, is_end, length);
    return state == FRAME_MORE && is_end ? wrong(f, "it ends early") : state;
}

size_t live_frame_gap(const uint8_t *data, size_t size) {
    size_t gap = 0;
    while (gap < size && (data[gap] == '\n' || data[gap] == '\r' || data[gap] == ' ')) gap++;
    return gap;
}
