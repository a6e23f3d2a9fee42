/* Layered records for tests, from tame to wild, and schemas of any version. */
#ifndef MOTE_TEST_LAZ_RECORDS_H
#define MOTE_TEST_LAZ_RECORDS_H

#include "io/laz/laz.h"

static uint64_t laz_seed = 1;

static inline uint32_t laz_random_bits(void) {
    laz_seed = laz_seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(laz_seed >> 33);
}

static inline void laz_put(uint8_t *to, uint64_t value, uint32_t size_bytes) { memcpy(to, &value, size_bytes); }

static inline uint64_t laz_get(const uint8_t *from, uint32_t size_bytes) {
    uint64_t value = 0;
    memcpy(&value, from, size_bytes);
    return value;
}

static inline void laz_add_item(laz_schema *schema, uint32_t kind, uint32_t size_bytes, uint32_t version) {
    schema->items[schema->item_count++] = (laz_item){(uint16_t)kind, (uint16_t)size_bytes, (uint16_t)version};
    schema->record_bytes += size_bytes;
}

static inline laz_schema laz_schema_of(uint32_t format, uint32_t extra_bytes, uint32_t version) {
    laz_schema schema = {.compressor = LAZ_LAYERED, .chunk_points = LAZ_CHUNK_POINTS};
    laz_add_item(&schema, LAZ_POINT14, 30, version);
    if (format == 7) laz_add_item(&schema, LAZ_RGB14, 6, version);
    if (format == 8 || format == 10) laz_add_item(&schema, LAZ_RGBNIR14, 8, version);
    if (format >= 9) laz_add_item(&schema, LAZ_WAVEPACKET14, 29, version);
    if (extra_bytes > 0) laz_add_item(&schema, LAZ_BYTE14, extra_bytes, version);
    return schema;
}

/* Kinds of records, from tame to wild. */
enum { SURVEY, CONSTANT, SWITCHING, EXTREME, NOISE, KINDS };

static inline void laz_make_tame(uint8_t *record, const uint8_t *before, uint32_t format) {
    const uint32_t count = 1 + laz_random_bits() % 4, number = 1 + laz_random_bits() % count;
    laz_put(record, laz_get(before, 4) + laz_random_bits() % 300 - 140, 4);
    laz_put(record + 4, laz_get(before + 4, 4) + laz_random_bits() % 90 - 30, 4);
    laz_put(record + 8, laz_get(before + 8, 4) + laz_random_bits() % 2000 - 1000, 4);
    laz_put(record + 12, laz_random_bits() % 3000, 2);
    record[14] = (uint8_t)(number | count << 4);
    if (laz_random_bits() % 6 == 0) record[15] = (uint8_t)((record[15] & ~0x30u) | (laz_random_bits() & 3u) << 4);
    if (laz_random_bits() % 9 == 0) record[15] = (uint8_t)((record[15] & 0x3Fu) | (laz_random_bits() & 3u) << 6);
    if (laz_random_bits() % 5 == 0) record[16] = (uint8_t)(laz_random_bits() % 20);
    if (laz_random_bits() % 4 == 0) record[17] = (uint8_t)laz_random_bits();
    if (laz_random_bits() % 3 == 0) laz_put(record + 18, laz_get(before + 18, 2) + laz_random_bits() % 7 - 3, 2);
    if (laz_random_bits() % 30 == 0) laz_put(record + 20, laz_random_bits() % 5, 2);
    if (laz_random_bits() % 3 > 0) laz_put(record + 22, laz_get(before + 22, 8) + laz_random_bits() % 900, 8);
    if (laz_random_bits() % 60 == 0) laz_put(record + 22, (uint64_t)laz_random_bits() << 30, 8);
    if (format == 6 || format == 9) return;
    for (uint32_t b = 0; b < 6; b++) record[30 + b] = (uint8_t)(laz_random_bits() % 7 + before[30 + b]);
    if (laz_random_bits() % 4 == 0) memcpy(record + 32, record + 30, 2), memcpy(record + 34, record + 30, 2);
}

static inline void laz_make_wild(uint8_t *record, uint32_t kind) {
    static const uint32_t edges[] = {0, 1, 0x7FFFFFFF, 0x80000000, 0x80000001, 0xFFFFFFFF};
    static const uint64_t times[] = {0,
                                     1,
                                     UINT64_C(0x7FF8000000000001),
                                     UINT64_C(0x8000000000000000),
                                     UINT64_MAX,
                                     UINT64_C(0x4010000000000000),
                                     UINT64_C(0x4010000080000000)};
    if (kind == SWITCHING) {
        record[15] = (uint8_t)((record[15] + 0x10u * (1 + laz_random_bits() % 3)) & 0x3Fu);
    } else if (kind == EXTREME) {
        for (uint32_t at = 0; at < 12; at += 4) laz_put(record + at, edges[laz_random_bits() % 6], 4);
        laz_put(record + 22, times[laz_random_bits() % 7], 8);
    }
}

static inline void laz_make_kind(uint8_t *records, uint32_t count, uint32_t record_bytes, uint32_t format,
                                 uint32_t kind) {
    for (uint32_t b = 0; b < record_bytes; b++) records[b] = (uint8_t)laz_random_bits();
    if (kind == SURVEY) records[15] &= 0xCFu;
    for (uint32_t i = 1; i < count; i++) {
        const uint8_t *before = records + (uint64_t)(i - 1) * record_bytes;
        uint8_t *record = records + (uint64_t)i * record_bytes;
        memcpy(record, before, record_bytes);
        if (kind == CONSTANT) continue;
        laz_make_tame(record, before, format);
        laz_make_wild(record, kind);
        const uint32_t noisy = kind == NOISE ? 0 : format == 6 ? 30u : format == 7 ? 36u : format == 8 ? 36u : 30u;
        for (uint32_t b = noisy; b < record_bytes; b++) {
            if (laz_random_bits() % 4 == 0) record[b] = (uint8_t)laz_random_bits();
        }
    }
}

#endif
