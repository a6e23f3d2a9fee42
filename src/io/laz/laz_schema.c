/* The payload of the LASzip record: which compressor, how many points a chunk, which items make up a record.
   Source: M. Isenburg, LASzip; specification of the LASzip variable-length record. */
#include <inttypes.h>
#include <stdio.h>

#include "io/laz/laz.h"

#define FORMATS         11u
#define FORMAT_ITEMS    4u /* without extra bytes, and a 0 behind them */
#define FIRST_LAYERED   6u /* point format */
#define HEAD_BYTES      34u
#define ITEM_BYTES      6u
#define AT_CODER        2u
#define AT_VERSION      4u
#define AT_CHUNK_POINTS 12u
#define AT_SPECIAL      16u /* number and offset of extended records that nobody uses: -1 */
#define AT_ITEM_COUNT   32u
#define ITEM_AT_KIND    0u /* in each item: three uint16 */
#define ITEM_AT_SIZE    2u
#define ITEM_AT_VERSION 4u
#define VERSION_MAJOR   2u /* of the format as we write it */
#define VERSION_MINOR   2u
#define VERSION_PROTO   2u /* of layered items, in files of the time before version 3 was called so */
#define LAYERED_VERSION 3u

/* What is known of a kind of items. size_bytes 0: as many as the record has left. */
typedef struct kind_row {
    const char *name;
    uint16_t size_bytes, version_min, version_max, version_written;
} kind_row;

static const kind_row kinds[] = {
    [LAZ_BYTE] = {"BYTE", 0, 1, 2, 2},
    [LAZ_POINT10] = {"POINT10", 20, 1, 2, 2},
    [LAZ_GPSTIME11] = {"GPSTIME11", 8, 1, 2, 2},
    [LAZ_RGB12] = {"RGB12", 6, 1, 2, 2},
    [LAZ_WAVEPACKET13] = {"WAVEPACKET13", 29, 1, 1, 1},
    [LAZ_POINT14] = {"POINT14", 30, 3, 4, LAYERED_VERSION},
    [LAZ_RGB14] = {"RGB14", 6, 3, 4, LAYERED_VERSION},
    [LAZ_RGBNIR14] = {"RGBNIR14", 8, 3, 4, LAYERED_VERSION},
    [LAZ_WAVEPACKET14] = {"WAVEPACKET14", 29, 3, 4, LAYERED_VERSION},
    [LAZ_BYTE14] = {"BYTE14", 0, 3, 4, LAYERED_VERSION},
};

static const uint8_t format_items[FORMATS][FORMAT_ITEMS + 1] = {
    {LAZ_POINT10},
    {LAZ_POINT10, LAZ_GPSTIME11},
    {LAZ_POINT10, LAZ_RGB12},
    {LAZ_POINT10, LAZ_GPSTIME11, LAZ_RGB12},
    {LAZ_POINT10, LAZ_GPSTIME11, LAZ_WAVEPACKET13},
    {LAZ_POINT10, LAZ_GPSTIME11, LAZ_RGB12, LAZ_WAVEPACKET13},
    {LAZ_POINT14},
    {LAZ_POINT14, LAZ_RGB14},
    {LAZ_POINT14, LAZ_RGBNIR14},
    {LAZ_POINT14, LAZ_WAVEPACKET14},
    {LAZ_POINT14, LAZ_RGBNIR14, LAZ_WAVEPACKET14},
};

static void add_item(laz_schema *schema, uint32_t kind, uint32_t size_bytes) {
    laz_item *item = &schema->items[schema->item_count++];
    item->kind = (uint16_t)kind;
    item->size_bytes = (uint16_t)size_bytes;
    item->version = kinds[kind].version_written;
}

void mote_laz_schema_make(uint32_t format, uint32_t record_bytes, uint32_t chunk_points, laz_schema *schema) {
    memset(schema, 0, sizeof *schema);
    schema->compressor = format < FIRST_LAYERED ? LAZ_POINTWISE_CHUNK : LAZ_LAYERED;
    schema->chunk_points = chunk_points;
    schema->record_bytes = record_bytes;
    uint32_t remaining = record_bytes;
    for (const uint8_t *kind = format_items[format]; *kind != 0; kind++) {
        add_item(schema, *kind, kinds[*kind].size_bytes);
        remaining -= kinds[*kind].size_bytes;
    }
    if (remaining > 0) add_item(schema, format < FIRST_LAYERED ? LAZ_BYTE : LAZ_BYTE14, remaining);
}

/* Where in the file, for messages. */
typedef struct schema_place {
    mote_context *ctx;
    const mote_input *input;
    const uint8_t *payload;
    uint64_t offset;
} schema_place;

static uint32_t number(const uint8_t *at, uint32_t size_bytes) {
    uint32_t value = 0;
    memcpy(&value, at, size_bytes);
    return value;
}

static mote_status check_head(const schema_place *p, uint32_t format, laz_schema *schema) {
    const uint32_t compressor = number(p->payload, 2), coder = number(p->payload + AT_CODER, 2);
    const bool layered = compressor == LAZ_LAYERED;
    if (compressor < LAZ_POINTWISE || compressor > LAZ_LAYERED) {
        return mote_malformed(p->ctx, p->input, p->offset, "compressor %u is unknown", compressor);
    }
    if (coder != 0) return mote_malformed(p->ctx, p->input, p->offset + AT_CODER, "coder %u is unknown", coder);
    if (layered != (format >= FIRST_LAYERED)) {
        return mote_malformed(p->ctx, p->input, p->offset, "compressor %u is not for point format %u", compressor,
                              format);
    }
    schema->compressor = compressor;
    schema->chunk_points = number(p->payload + AT_CHUNK_POINTS, 4);
    /* Some writers put 0 for chunks of varying size. Compressor 1 has one stream, and its field means nothing. */
    if (schema->chunk_points == 0 || compressor == LAZ_POINTWISE) schema->chunk_points = LAZ_VARIABLE;
    return MOTE_OK;
}

/* *item comes as what the format has in this place; its version becomes the file's. */
static mote_status check_item(const schema_place *p, uint32_t i, laz_item *item) {
    const uint32_t at = HEAD_BYTES + ITEM_BYTES * i;
    const uint32_t kind = number(p->payload + at + ITEM_AT_KIND, 2);
    const uint32_t size_bytes = number(p->payload + at + ITEM_AT_SIZE, 2);
    const uint32_t version = number(p->payload + at + ITEM_AT_VERSION, 2);
    const kind_row *row = &kinds[item->kind];
    if (kind != item->kind || size_bytes != item->size_bytes) {
        return mote_malformed(p->ctx, p->input, p->offset + at,
                              "item %u is of type %u and %u bytes; records like these have %s (%u) of %u bytes there",
                              i + 1, kind, size_bytes, row->name, item->kind, item->size_bytes);
    }
    const bool proto = version == VERSION_PROTO && row->version_min == LAYERED_VERSION;
    if (!proto && (version < row->version_min || version > row->version_max)) {
        return mote_malformed(p->ctx, p->input, p->offset + at + ITEM_AT_VERSION, "version %u of item %s is unknown",
                              version, row->name);
    }
    item->version = proto ? LAYERED_VERSION : (uint16_t)version;
    return MOTE_OK;
}

static mote_status check_items(const schema_place *p, uint64_t size_bytes, laz_schema *schema) {
    const uint32_t count = number(p->payload + AT_ITEM_COUNT, 2);
    if (count != schema->item_count) {
        return mote_malformed(p->ctx, p->input, p->offset + AT_ITEM_COUNT,
                              "%u items; records of %u bytes in this point format have %u", count, schema->record_bytes,
                              schema->item_count);
    }
    if (size_bytes < HEAD_BYTES + ITEM_BYTES * count) {
        return mote_malformed(p->ctx, p->input, p->offset,
                              "the LASzip record of %" PRIu64 " bytes is too short for %u items", size_bytes, count);
    }
    for (uint32_t i = 0; i < count; i++) MOTE_TRY(check_item(p, i, &schema->items[i]));
    return MOTE_OK;
}

mote_status mote_laz_schema_read(mote_context *ctx, const mote_input *input, const uint8_t *payload,
                                 uint64_t size_bytes, uint32_t format, uint32_t record_bytes, laz_schema *schema) {
    const schema_place place = {ctx, input, payload, (uint64_t)(payload - input->data)};
    if (size_bytes < HEAD_BYTES) {
        return mote_malformed(ctx, input, place.offset, "the LASzip record has %" PRIu64 " bytes, it needs %u",
                              size_bytes, HEAD_BYTES);
    }
    mote_laz_schema_make(format, record_bytes, LAZ_CHUNK_POINTS, schema);
    MOTE_TRY(check_head(&place, format, schema));
    return check_items(&place, size_bytes, schema);
}

static void put(uint8_t *at, uint64_t value, uint32_t size_bytes) { memcpy(at, &value, size_bytes); }

uint32_t mote_laz_schema_write(const laz_schema *schema, uint8_t *payload) {
    memset(payload, 0, HEAD_BYTES);
    put(payload, schema->compressor, 2);
    put(payload + AT_VERSION, VERSION_MAJOR, 1);
    put(payload + AT_VERSION + 1, VERSION_MINOR, 1);
    put(payload + AT_CHUNK_POINTS, schema->chunk_points, 4);
    put(payload + AT_SPECIAL, UINT64_MAX, 8);
    put(payload + AT_SPECIAL + 8, UINT64_MAX, 8);
    put(payload + AT_ITEM_COUNT, schema->item_count, 2);
    uint8_t *at = payload + HEAD_BYTES;
    for (uint32_t i = 0; i < schema->item_count; i++, at += ITEM_BYTES) {
        put(at + ITEM_AT_KIND, schema->items[i].kind, 2);
        put(at + ITEM_AT_SIZE, schema->items[i].size_bytes, 2);
        put(at + ITEM_AT_VERSION, schema->items[i].version, 2);
    }
    return HEAD_BYTES + ITEM_BYTES * schema->item_count;
}

void mote_laz_schema_text(const laz_schema *schema, char *text, size_t size) {
    size_t at = 0;
    text[0] = '\0';
    for (uint32_t i = 0; i < schema->item_count && at < size; i++) {
        const laz_item *item = &schema->items[i];
        const int length =
            snprintf(text + at, size - at, "%s%s v%u", i > 0 ? ", " : "", kinds[item->kind].name, item->version);
        at += (size_t)length;
    }
}
