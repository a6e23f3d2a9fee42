#include "fuzz/laz_fuzz_support.h"

#include <stdlib.h>
#include <string.h>

#define FORMATS       11u
#define FIRST_LAYERED 6u

static const uint8_t base_bytes[FORMATS] = {20, 28, 26, 34, 57, 63, 30, 36, 38, 59, 67};

mote_context *laz_fuzz_context(void) {
    static mote_context *ctx;
    if (ctx == NULL) ctx = fuzz_context();
    return ctx;
}

bool laz_fuzz_head_take(const uint8_t **data, size_t *size, laz_fuzz_head *head) {
    if (*size < sizeof *head) return false;
    memcpy(head, *data, sizeof *head);
    *data += sizeof *head;
    *size -= sizeof *head;
    head->format %= FORMATS;
    return true;
}

/* Few extra bytes as a rule, now and then hundreds. */
static uint32_t extra_bytes(uint8_t byte) { return byte < 240 ? byte % 16u : (byte - 240u) * 40u; }

/* Bit i: item i in its other version. */
static void turn_versions(laz_schema *schema, uint8_t versions) {
    for (uint32_t i = 0; i < schema->item_count; i++) {
        laz_item *item = &schema->items[i];
        if ((versions >> i & 1) == 0 || item->kind == LAZ_WAVEPACKET13) continue;
        item->version = schema->compressor == LAZ_LAYERED ? 4 : 1;
    }
}

void laz_fuzz_schema(const laz_fuzz_head *head, laz_schema *schema) {
    mote_context *ctx = laz_fuzz_context();
    const uint32_t record_bytes = base_bytes[head->format] + extra_bytes(head->extra_bytes);
    mote_laz_schema_make(head->format, record_bytes, LAZ_CHUNK_POINTS, schema);
    turn_versions(schema, head->versions);
    uint8_t payload[LAZ_RECORD_MAX];
    laz_schema back;
    const mote_input input = {.path = "fuzz", .data = payload, .size_bytes = mote_laz_schema_write(schema, payload)};
    fuzz_require(
        ctx, mote_laz_schema_read(ctx, &input, payload, input.size_bytes, head->format, record_bytes, &back) == MOTE_OK,
        "the schema is not read again");
    fuzz_require(ctx, memcmp(schema, &back, sizeof back) == 0, "another schema");
}

/* A part of a record: which want it belongs to, its place. */
typedef struct part {
    uint32_t want, from, size_bytes;
} part;

static const part legacy_parts[] = {
    {0, 0, 8},
    {LAZ_WANT_Z, 8, 4},
    {LAZ_WANT_INTENSITY, 12, 2},
    {LAZ_WANT_FLAGS, 14, 1},
    {LAZ_WANT_CLASSIFICATION, 15, 1},
    {LAZ_WANT_SCAN_ANGLE, 16, 1},
    {LAZ_WANT_USER_DATA, 17, 1},
    {LAZ_WANT_POINT_SOURCE, 18, 2},
};
static const part layered_parts[] = {
    {0, 0, 8},
    {LAZ_WANT_Z, 8, 4},
    {LAZ_WANT_INTENSITY, 12, 2},
    {0, 14, 1},
    {LAZ_WANT_FLAGS, 15, 1},
    {LAZ_WANT_CLASSIFICATION, 16, 1},
    {LAZ_WANT_USER_DATA, 17, 1},
    {LAZ_WANT_SCAN_ANGLE, 18, 2},
    {LAZ_WANT_POINT_SOURCE, 20, 2},
    {LAZ_WANT_GPS_TIME, 22, 8},
};

static void add_part(laz_selection *s, uint32_t wanted, const part *p) {
    if ((p->want & ~wanted) != 0) return;
    const laz_run run = {(uint16_t)p->from, (uint16_t)s->stride_bytes, (uint16_t)p->size_bytes};
    s->runs[s->run_count++] = run;
    s->wanted |= p->want;
    s->stride_bytes += p->size_bytes;
}

/* What stands behind the first item; colour and near infrared are two parts of one. */
static void add_items(laz_selection *s, uint32_t wanted, const laz_schema *schema) {
    static const uint32_t wants[] = {
        [LAZ_BYTE] = LAZ_WANT_EXTRA,
        [LAZ_GPSTIME11] = LAZ_WANT_GPS_TIME,
        [LAZ_RGB12] = LAZ_WANT_RGB,
        [LAZ_WAVEPACKET13] = LAZ_WANT_WAVEPACKET,
        [LAZ_RGB14] = LAZ_WANT_RGB,
        [LAZ_RGBNIR14] = LAZ_WANT_RGB,
        [LAZ_WAVEPACKET14] = LAZ_WANT_WAVEPACKET,
        [LAZ_BYTE14] = LAZ_WANT_EXTRA,
    };
    uint32_t at = schema->items[0].size_bytes;
    for (uint32_t i = 1; i < schema->item_count; at += schema->items[i++].size_bytes) {
        const bool nir = schema->items[i].kind == LAZ_RGBNIR14;
        const part p = {wants[schema->items[i].kind], at, schema->items[i].size_bytes - (nir ? 2u : 0u)};
        add_part(s, wanted, &p);
        const part infrared = {LAZ_WANT_NIR, at + 6, 2};
        if (nir) add_part(s, wanted, &infrared);
    }
}

void laz_fuzz_selection(const laz_schema *schema, uint32_t wanted, laz_selection *s) {
    const bool layered = schema->compressor == LAZ_LAYERED;
    const part *parts = layered ? layered_parts : legacy_parts;
    const size_t count = layered ? sizeof layered_parts / sizeof *parts : sizeof legacy_parts / sizeof *parts;
    memset(s, 0, sizeof *s);
    for (size_t i = 0; i < count; i++) add_part(s, wanted, &parts[i]);
    add_items(s, wanted, schema);
}

laz_decoder *laz_fuzz_decoder(laz_fuzz_cache *cache, const laz_schema *schema, const laz_selection *selection) {
    mote_context *ctx = laz_fuzz_context();
    if (cache->decoder != NULL && memcmp(&cache->schema, schema, sizeof *schema) == 0 &&
        memcmp(&cache->selection, selection, sizeof *selection) == 0) {
        return cache->decoder;
    }
    mote_laz_decoder_free(ctx, cache->decoder);
    fuzz_require(ctx, mote_laz_decoder_make(ctx, schema, selection, &cache->decoder) == MOTE_OK, "no decoder");
    cache->schema = *schema;
    cache->selection = *selection;
    return cache->decoder;
}
