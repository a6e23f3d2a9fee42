/* What coordinates count in, for the page: decided by the code that the library decides with (src/io/crs/). Compiled
   for WebAssembly without a C library; build.mjs says how. at = units_reserve(bytes)    put there, one behind the
   other, the text of the reference system and the GeoTIFF keys and numbers of a LAS file, as far as there are any
     units_decide(their bytes)    four doubles: metres and radians of x and y, metres and radians of heights; 0: not
   that There is one question at a time. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "core/cloud.h"
#include "io/las/las_format.h"
#include "mote/io.h"

#define PAGE_BYTES   65536u
#define ALIGNMENT    8u
#define EXPORT(name) __attribute__((export_name(name)))

extern uint8_t __heap_base; /* of the linker: behind the static data */

/* ---- the cloud: a text and two records */

struct mote_cloud {
    const char *crs;
    mote_record records[2];
    uint32_t record_count;
};

const char *mote_cloud_crs(const mote_cloud *cloud) { return cloud->crs; }
uint32_t mote_cloud_record_count(const mote_cloud *cloud) { return cloud->record_count; }
const mote_record *mote_cloud_record(const mote_cloud *cloud, uint32_t i) { return &cloud->records[i]; }
const mote_column *mote_cloud_find(const mote_cloud *cloud, const char *name) { return (void)cloud, (void)name, NULL; }

/* ---- instead of a C library */

int strcmp(const char *a, const char *b) {
    while (*a != '\0' && *a == *b) a++, b++;
    return (int)(uint8_t)*a - (int)(uint8_t)*b;
}

int strncmp(const char *a, const char *b, size_t size) {
    size_t i = 0;
    while (i + 1 < size && a[i] != '\0' && a[i] == b[i]) i++;
    return size == 0 ? 0 : (int)(uint8_t)a[i] - (int)(uint8_t)b[i];
}

size_t strlen(const char *text) {
    size_t length = 0;
    while (text[length] != '\0') length++;
    return length;
}

char *strchr(const char *text, int c) {
    while (*text != '\0' && *text != (char)c) text++;
    return *text == (char)c ? (char *)(uintptr_t)text : NULL; // NOLINT
}

static size_t span(const char *text, const char *these, bool among) {
    size_t length = 0;
    while (text[length] != '\0' && (strchr(these, text[length]) != NULL) == among) length++;
    return length;
}

size_t strspn(const char *text, const char *these) { return span(text, these, true); }
size_t strcspn(const char *text, const char *these) { return span(text, these, false); }

char *strstr(const char *text, const char *part) {
    const size_t length = strlen(part);
    for (; *text != '\0' || length == 0; text++) {
        if (strncmp(text, part, length) == 0) return (char *)(uintptr_t)text; // NOLINT
    }
    return NULL;
}

/* Knows texts alone: %s, and %.*s, which is a text of a number of bytes. */
int snprintf(char *out, size_t size, const char *format, ...) {
    size_t length = 0;
    va_list values;
    va_start(values, format);
    for (; *format != '\0'; format++) {
        size_t most = SIZE_MAX;
        const char *text = format;
        if (*format == '%') {
            const bool counted = format[1] == '.';
            if (counted) most = (size_t)va_arg(values, int);
            text = va_arg(values, const char *);
            format += counted ? 3 : 1;
        } else {
            most = 1;
        }
        for (size_t i = 0; i < most && text[i] != '\0'; i++, length++) {
            if (length + 1 < size) out[length] = text[i];
        }
    }
    va_end(values);
    if (size > 0) out[length < size ? length : size - 1] = '\0';
    return (int)length;
}

/* ---- numbers: scanned as the library does, and made of their digits by the page, which rounds as correctly */

#define mote_text_double mote_text_double_unused
#include "io/text/text_number.c"
#undef mote_text_double

__attribute__((import_name("number"))) double page_number(const uint8_t *text, size_t length);

bool mote_text_double(const mote_text_number *number, double *value) {
    *value = page_number(number->begin, (size_t)(number->end - number->begin));
    return isfinite(*value);
}

/* A unit that the table does not have is named by its size, which the page writes itself. */
size_t mote_text_put_double(char *out, double value, uint32_t *guess) {
    (void)value, (void)guess;
    out[0] = '?';
    return 1;
}

/* ---- for the page */

static mote_record record_of(uint16_t id, const uint8_t *data, uint32_t size_bytes) {
    mote_record record = {.record_id = id, .size_bytes = size_bytes, .data = data};
    snprintf(record.user_id, sizeof record.user_id, "%s", LAS_USER_PROJECTION);
    return record;
}

EXPORT("units_reserve") uint8_t *units_reserve(uint32_t bytes) {
    const uint64_t begin = ((uint64_t)(uintptr_t)&__heap_base + ALIGNMENT - 1) & ~(uint64_t)(ALIGNMENT - 1);
    const uint64_t have = (uint64_t)__builtin_wasm_memory_size(0) * PAGE_BYTES, end = begin + bytes;
    const uint64_t more = end > have ? (end - have + PAGE_BYTES - 1) / PAGE_BYTES : 0;
    if (end > UINT32_MAX || (more > 0 && __builtin_wasm_memory_grow(0, (size_t)more) == (size_t)-1)) return NULL;
    return (uint8_t *)(uintptr_t)begin; // NOLINT
}

/* at: what units_reserve gave. text_bytes: with its NUL. */
EXPORT("units_decide")
const double *units_decide(const uint8_t *at, uint32_t text_bytes, uint32_t key_bytes, uint32_t number_bytes) {
    static double sizes[4];
    mote_cloud cloud = {(const char *)at, {{{0}, {0}, 0, false, 0, NULL}}, 0};
    mote_units units;
    at += text_bytes;
    if (key_bytes > 0) cloud.records[cloud.record_count++] = record_of(LAS_ID_GEO_KEYS, at, key_bytes);
    if (number_bytes > 0) {
        cloud.records[cloud.record_count++] = record_of(LAS_ID_GEO_DOUBLES, at + key_bytes, number_bytes);
    }
    mote_cloud_units(&cloud, &units);
    sizes[0] = units.horizontal.metres, sizes[1] = units.horizontal.radians;
    sizes[2] = units.vertical.metres, sizes[3] = units.vertical.radians;
    return sizes;
}
