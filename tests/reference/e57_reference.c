/* A naive writer of E57: the payload first, then its pages. */
#include "reference/e57_reference.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PAGE = 1024, PAYLOAD = 1020 };

typedef struct payload {
    uint8_t *bytes;
    size_t size, capacity;
} payload;

static void put(payload *p, const void *bytes, size_t count) {
    if (p->size + count > p->capacity) {
        p->capacity = 2 * (p->size + count);
        p->bytes = realloc(p->bytes, p->capacity);
        if (p->bytes == NULL) abort();
    }
    memcpy(p->bytes + p->size, bytes, count);
    p->size += count;
}

static void put_number(payload *p, uint64_t value, uint32_t size) { put(p, &value, size); }

static void put_text(payload *p, const char *format, ...) {
    char text[2000];
    va_list values;
    va_start(values, format);
    const int length = vsnprintf(text, sizeof text, format, values);
    va_end(values);
    if (length < 0 || length >= (int)sizeof text) abort();
    put(p, text, (size_t)length);
}

static uint64_t physical(uint64_t logical) { return logical / PAYLOAD * PAGE + logical % PAYLOAD; }

/* ---- pages */

static uint32_t crc_of(const uint8_t *bytes, size_t count) {
    uint32_t crc = UINT32_MAX;
    for (size_t i = 0; i < count; i++) {
        crc ^= bytes[i];
        for (int k = 0; k < 8; k++) crc = (crc >> 1) ^ (0x82F63B78u & (0u - (crc & 1)));
    }
    return ~crc;
}

void e57_reference_seal(uint8_t *bytes, size_t size) {
    for (size_t at = 0; at + PAGE <= size; at += PAGE) {
        const uint32_t crc = crc_of(bytes + at, PAYLOAD);
        for (int k = 0; k < 4; k++) bytes[at + PAYLOAD + (size_t)k] = (uint8_t)(crc >> (24 - 8 * k));
    }
}

static uint8_t *make_pages(payload *p, uint64_t xml, uint64_t xml_bytes, size_t *size) {
    const uint64_t pages = (p->size + PAYLOAD - 1) / PAYLOAD, length = pages * PAGE;
    const uint64_t numbers[] = {length, physical(xml), xml_bytes, PAGE};
    memcpy(p->bytes + 16, numbers, sizeof numbers);
    uint8_t *const bytes = calloc(1, length);
    if (bytes == NULL) abort();
    for (uint64_t i = 0; i < p->size; i++) bytes[physical(i)] = p->bytes[i];
    e57_reference_seal(bytes, length);
    free(p->bytes);
    *size = length;
    return bytes;
}

static payload begin(void) {
    payload p = {NULL, 0, 0};
    const uint32_t version[] = {1, 0};
    const uint8_t nothing[32] = {0};
    put(&p, "ASTM-E57", 8);
    put(&p, version, sizeof version);
    put(&p, nothing, sizeof nothing);
    return p;
}

uint8_t *e57_reference_xml(const char *xml, size_t *size) {
    payload p = begin();
    put(&p, xml, strlen(xml));
    return make_pages(&p, 48, strlen(xml), size);
}

/* ---- packets */

static payload make_stream(const e57_reference_field *field, uint64_t records) {
    payload p = {NULL, 0, 0};
    put_number(&p, 0, 1);
    p.size = 0;
    if (field->text != NULL) {
        put(&p, field->text, strlen(field->text));
        return p;
    }
    uint8_t byte = 0;
    uint64_t bits = 0;
    for (uint64_t i = 0; i < records; i++) {
        for (uint32_t b = 0; b < field->bits; b++) {
            byte |= (uint8_t)((field->values[i] >> b & 1) << bits % 8);
            if (++bits % 8 != 0) continue;
            put(&p, &byte, 1);
            byte = 0;
        }
    }
    if (bits % 8 != 0) put(&p, &byte, 1);
    return p;
}

/* Packets that have no data: an index without entries, and an empty one. */
static void put_foreign(payload *p) {
    const uint8_t index[16] = {0, 0, 15, 0}, empty[8] = {2, 0, 7, 0};
    put(p, index, sizeof index);
    put(p, empty, sizeof empty);
}

static void put_packets(payload *p, const e57_reference_scan *scan) {
    payload *const streams = calloc(scan->field_count + 1, sizeof *streams);
    size_t *const done = calloc(scan->field_count + 1, sizeof *done);
    bool more = true;
    if (streams == NULL || done == NULL) abort();
    for (uint32_t f = 0; f < scan->field_count; f++) streams[f] = make_stream(&scan->fields[f], scan->records);
    while (more) {
        size_t length = 6 + 2 * (size_t)scan->field_count;
        size_t *const parts = calloc(scan->field_count + 1, sizeof *parts);
        if (parts == NULL) abort();
        more = false;
        if (scan->foreign) put_foreign(p);
        for (uint32_t f = 0; f < scan->field_count; f++) {
            const size_t left = streams[f].size - done[f], max = scan->cut + f;
            parts[f] = left < max ? left : max;
            length += parts[f];
            more = more || left > max;
        }
        const size_t padded = (length + 3) / 4 * 4;
        put_number(p, 1, 1);
        put_number(p, 0, 1);
        put_number(p, padded - 1, 2);
        put_number(p, scan->field_count, 2);
        for (uint32_t f = 0; f < scan->field_count; f++) put_number(p, parts[f], 2);
        for (uint32_t f = 0; f < scan->field_count; f++) {
            put(p, streams[f].bytes + done[f], parts[f]);
            done[f] += parts[f];
        }
        put_number(p, 0, (uint32_t)(padded - length));
        free(parts);
    }
    for (uint32_t f = 0; f < scan->field_count; f++) free(streams[f].bytes);
    free(streams);
    free(done);
}

static uint64_t put_section(payload *p, const e57_reference_scan *scan) {
    const uint64_t section = p->size, data = physical(section + 32);
    put_number(p, 1, 8);
    put_number(p, 0, 8);
    put(p, &data, 8);
    put_number(p, 0, 8);
    put_packets(p, scan);
    const uint64_t length = p->size - section;
    memcpy(p->bytes + section + 8, &length, sizeof length);
    return physical(section);
}

/* ---- the file */

static void put_scan(payload *p, const e57_reference_scan *scan, uint64_t place) {
    put_text(p, "<vectorChild type=\"Structure\">\n");
    put(p, scan->xml, strlen(scan->xml));
    put_text(
        p,
        "<points type=\"CompressedVector\" fileOffset=\"%llu\" recordCount=\"%llu\">\n<prototype type=\"Structure\">\n",
        (unsigned long long)place, (unsigned long long)(scan->stated > 0 ? scan->stated : scan->records));
    for (uint32_t f = 0; f < scan->field_count; f++) {
        put_text(p, "<%s %s/>\n", scan->fields[f].name, scan->fields[f].attributes);
    }
    put_text(p, "</prototype>\n</points>\n</vectorChild>\n");
}

uint8_t *e57_reference_make(const e57_reference_file *file, size_t *size) {
    payload p = begin();
    uint64_t *const places = calloc(file->scan_count + 1, sizeof *places);
    if (places == NULL) abort();
    for (uint32_t i = 0; i < file->scan_count; i++) places[i] = put_section(&p, &file->scans[i]);
    const uint64_t xml = p.size;
    put_text(&p,
             "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<e57Root type=\"Structure\" %s>\n<data3D type=\"Vector\">\n",
             file->root != NULL ? file->root : "");
    for (uint32_t i = 0; i < file->scan_count; i++) put_scan(&p, &file->scans[i], places[i]);
    put_text(&p, "</data3D>\n%s</e57Root>\n", file->xml != NULL ? file->xml : "");
    free(places);
    return make_pages(&p, xml, p.size - xml, size);
}

size_t e57_reference_packet(const uint8_t *bytes, size_t size, uint32_t number) {
    for (uint64_t at = 48 + 32; physical(at) + 8 < size;) {
        uint8_t head[4];
        for (uint64_t k = 0; k < 4; k++) head[k] = bytes[physical(at + k)];
        if (head[0] == 1 && number-- == 0) return physical(at);
        at += head[2] + 256u * head[3] + 1u;
    }
    return 0;
}
