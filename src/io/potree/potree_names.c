/* Potree's names beside mote's, type names, and texts that JSON can hold. */
#include <stdio.h>

#include "io/potree/potree.h"

/* In this order the fields of a LAS record that touch each other touch in the Potree record too, so that
   most of a record is copied in one or two pieces. */
const potree_name potree_names[] = {
    {"intensity", "intensity", false},
    {"return_number", "return number", false},
    {"number_of_returns", "number of returns", false},
    {NULL, "classification flags", true},
    {"scanner_channel", "scanner channel", true},
    {"scan_direction_flag", "scan direction flag", true},
    {"edge_of_flight_line", "edge of flight line", true},
    {"classification", "classification", false},
    {"scan_angle_rank", "scan angle rank", false},
    {"user_data", "user data", false},
    {"scan_angle", "scan angle", false},
    {"point_source_id", "point source id", false},
    {"gps_time", "gps-time", false},
    {NULL, "rgb", false},
    {"nir", "nir", false},
    {"wave_packet_index", "wave packet index", false},
    {"wave_packet_offset", "wave packet offset", false},
    {"wave_packet_size", "wave packet size", false},
    {"wave_return_location", "wave return location", false},
    {"wave_x", "wave x", false},
    {"wave_y", "wave y", false},
    {"wave_z", "wave z", false},
    {"normal_x", "NormalX", false},
    {"normal_y", "NormalY", false},
    {"normal_z", "NormalZ", false},
    {"nx", "NormalX", false},
    {"ny", "NormalY", false},
    {"nz", "NormalZ", false},
};
const uint32_t potree_name_count = sizeof potree_names / sizeof potree_names[0];

const char *const potree_flag_columns[4] = {"synthetic", "key_point", "withheld", "overlap"};

bool potree_type_of_name(const char *name, mote_type *type) {
    for (int t = MOTE_INT8; t <= MOTE_FLOAT64; t++) {
        if (strcmp(name, mote_type_name((mote_type)t)) == 0) {
            *type = (mote_type)t;
            return true;
        }
    }
    return false;
}

/* Bytes of the UTF-8 sequence that text begins with, 0 if it is none: shortest form, no surrogates. */
static size_t utf8_length(const unsigned char *text) {
    if (text[0] < 0x80) return 1;
    const size_t length = text[0] >= 0xF0 ? 4 : text[0] >= 0xE0 ? 3 : 2;
    if (text[0] < 0xC2 || text[0] > 0xF4) return 0;
    uint32_t code = text[0] & (0xFFu >> (length + 1));
    for (size_t i = 1; i < length; i++) {
        if ((text[i] & 0xC0) != 0x80) return 0; /* also the end of the text */
        code = code << 6 | (text[i] & 0x3Fu);
    }
    static const uint32_t min[5] = {0, 0, 0x80, 0x800, 0x10000};
    return code < min[length] || code > 0x10FFFF || (code >= 0xD800 && code < 0xE000) ? 0 : length;
}

void potree_clean_text(const char *text, char *out, size_t size_bytes) {
    const unsigned char *from = (const unsigned char *)text;
    size_t used = 0;
    while (*from != '\0') {
        const size_t length = utf8_length(from);
        const size_t step = length > 0 ? length : 1;
        if (used + step + 1 > size_bytes) break;
        const bool plain = length > 1 || (length == 1 && *from >= 0x20 && *from != 0x7F);
        if (plain) {
            memcpy(out + used, from, step);
        } else {
            out[used] = length == 1 && (*from == '\n' || *from == '\t') ? ' ' : '_';
        }
        used += step;
        from += step;
    }
    out[used] = '\0';
}

void potree_bytes_to_text(const char *bytes, char *out) {
    for (; *bytes != '\0'; bytes++) {
        const unsigned char byte = (unsigned char)*bytes;
        if (byte >= 0x80) *out++ = (char)(0xC0 | byte >> 6);
        *out++ = (char)(byte < 0x80 ? byte : 0x80 | (byte & 0x3F));
    }
    *out = '\0';
}

void potree_text_to_bytes(const char *text, char *out, size_t size_bytes) {
    const unsigned char *from = (const unsigned char *)text;
    size_t used = 0;
    while (*from != '\0' && used + 1 < size_bytes) {
        const size_t length = utf8_length(from);
        if (length == 2 && *from < 0xC4) {
            out[used++] = (char)((from[0] & 0x03) << 6 | (from[1] & 0x3F));
        } else {
            out[used++] = length == 1 ? (char)*from : '?';
        }
        from += length > 0 ? length : 1;
    }
    out[used] = '\0';
}

static const char base64_digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

uint64_t potree_base64_bytes(uint64_t size_bytes) { return (size_bytes + 2) / 3 * 4 + 1; }

void potree_base64_encode(const uint8_t *data, uint64_t size_bytes, char *out) {
    for (uint64_t i = 0; i < size_bytes; i += 3) {
        const uint64_t remaining = size_bytes - i;
        const uint32_t bits = (uint32_t)data[i] << 16 | (remaining > 1 ? (uint32_t)data[i + 1] << 8 : 0) |
                              (remaining > 2 ? data[i + 2] : 0u);
        *out++ = base64_digits[bits >> 18];
        *out++ = base64_digits[bits >> 12 & 63];
        *out++ = remaining > 1 ? base64_digits[bits >> 6 & 63] : '=';
        *out++ = remaining > 2 ? base64_digits[bits & 63] : '=';
    }
    *out = '\0';
}

static int base64_value(char digit) {
    const char *found = digit != '\0' ? strchr(base64_digits, digit) : NULL;
    return found != NULL ? (int)(found - base64_digits) : -1;
}

bool potree_base64_decode(const char *text, uint64_t length, uint8_t *out, uint64_t *out_bytes) {
    if (length % 4 != 0) return false;
    uint64_t used = 0;
    for (uint64_t i = 0; i < length; i += 4) {
        const bool last = i + 4 == length;
        const int fill = last && text[i + 3] == '=' ? (text[i + 2] == '=' ? 2 : 1) : 0;
        uint32_t bits = 0;
        for (int d = 0; d < 4; d++) {
            const int value = d >= 4 - fill ? 0 : base64_value(text[i + (uint64_t)d]);
            if (value < 0) return false;
            bits = bits << 6 | (uint32_t)value;
        }
        for (int b = 0; b < 3 - fill; b++) out[used++] = (uint8_t)(bits >> (16 - 8 * b));
    }
    *out_bytes = used;
    return true;
}

const char *potree_column_name(const char *attribute) {
    const char *standard = mote_standard_name(attribute);
    return standard != NULL ? standard : attribute;
}
