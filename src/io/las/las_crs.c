/* The coordinate reference system in the records of LAS: well-known text, or the keys of GeoTIFF.
   Facts: OGC GeoTIFF 1.1, section 7 and annex; ASPRS LAS 1.4, section 3. */
#include <stdio.h>
#include <stdlib.h>

#include "io/las/las_format.h"
#include "mote/crs.h"

#define KEY_RASTER_TYPE 1025u
#define CODE_MIN        1024u /* lower codes are obsolete, those from 32767 on are not EPSG's */
#define KEY_BYTES       8u

bool mote_las_record_is_crs(const mote_record *record) {
    if (strcmp(record->user_id, LAS_USER_PROJECTION) != 0) return false;
    return record->record_id == LAS_ID_WKT || record->record_id == LAS_ID_WKT_TRANSFORM ||
           (record->record_id >= LAS_ID_GEO_KEYS && record->record_id <= LAS_ID_GEO_ASCII);
}

/* The text of a WKT record up to its end or NUL; 0 where it is no WKT. */
static uint64_t wkt_length(const mote_record *record) {
    const char *text = record->data;
    uint64_t length = 0;
    bool bracket = false;
    for (; length < record->size_bytes && text[length] != '\0'; length++) {
        bracket |= text[length] == '[' || text[length] == '(';
    }
    return bracket ? length : 0;
}

uint32_t mote_las_geo_key(const mote_record *record, uint32_t key, uint32_t place) {
    const uint8_t *at = record->data;
    for (uint64_t i = 1; i < record->size_bytes / KEY_BYTES; i++) {
        const uint8_t *entry = at + i * KEY_BYTES;
        if (las_u16(entry) == key && las_u16(entry + 2) == place) return las_u16(entry + 6);
    }
    return LAS_NO_GEO_KEY;
}

/* A key whose value stands in the directory itself; 0 where there is none, which no code is. */
static uint32_t geo_key(const mote_record *record, uint32_t key) {
    const uint32_t value = mote_las_geo_key(record, key, 0);
    return value != LAS_NO_GEO_KEY ? value : 0;
}

uint32_t mote_las_geo_code(const mote_record *record) {
    uint32_t code = geo_key(record, LAS_KEY_PROJECTED);
    if (code == 0 && geo_key(record, LAS_KEY_MODEL) != LAS_MODEL_PROJECTED) {
        code = geo_key(record, LAS_KEY_GEOGRAPHIC);
    }
    return code >= CODE_MIN && code < LAS_GEO_USER_DEFINED ? code : 0;
}

mote_status mote_las_crs(mote_context *ctx, const mote_record *records, uint64_t count, char **text) {
    const mote_record *wkt = NULL;
    uint32_t code = 0;
    for (uint64_t i = 0; i < count; i++) {
        const mote_record *record = &records[i];
        if (wkt == NULL && mote_las_record_is(record, LAS_USER_PROJECTION, LAS_ID_WKT) && wkt_length(record) > 0) {
            wkt = record;
        }
        if (code == 0 && mote_las_record_is(record, LAS_USER_PROJECTION, LAS_ID_GEO_KEYS))
            code = mote_las_geo_code(record);
    }
    const uint64_t length = wkt != NULL ? wkt_length(wkt) : 16;
    *text = mote_alloc_zero(ctx, length + 1, "texts");
    if (*text == NULL) return MOTE_ERROR_MEMORY;
    if (wkt != NULL) {
        memcpy(*text, wkt->data, length);
    } else if (code != 0) {
        snprintf(*text, length, "EPSG:%u", code);
    }
    return MOTE_OK;
}

/* A code alone does not say of what kind it is; the blocks that EPSG gave out do, for those in use. */
static uint32_t model_of_code(unsigned long code) {
    static const uint16_t geographic[] = {6318, 6322, 6325, 6668, 6706, 7844, 8353, 8999, 9000, 9057, 10176};
    static const uint16_t geocentric[] = {4328, 4936, 4978, 6317, 7842, 7789, 9988};
    for (size_t i = 0; i < sizeof geocentric / sizeof geocentric[0]; i++) {
        if (code == geocentric[i]) return LAS_MODEL_GEOCENTRIC;
    }
    for (size_t i = 0; i < sizeof geographic / sizeof geographic[0]; i++) {
        if (code == geographic[i]) return LAS_MODEL_GEOGRAPHIC;
    }
    return code >= 4001 && code <= 4999 ? LAS_MODEL_GEOGRAPHIC : LAS_MODEL_PROJECTED;
}

static uint8_t *put_key(uint8_t *at, uint32_t key, unsigned long value) {
    las_put(at, key, 2);
    las_put(at + 2, 0, 2);
    las_put(at + 4, 1, 2);
    las_put(at + 6, value, 2);
    return at + KEY_BYTES;
}

/* "EPSG:n" or "EPSG:n+vertical" as the smallest directory of keys that says so. height_unit: of heights without a
   system, 0: not known. */
static mote_status key_record(mote_context *ctx, unsigned long code, unsigned long vertical, uint32_t height_unit,
                              mote_record *record) {
    uint8_t *data = mote_alloc_zero(ctx, 6 * KEY_BYTES, "records");
    if (data == NULL) return MOTE_ERROR_MEMORY;
    const uint32_t model = model_of_code(code);
    uint8_t *at = data + KEY_BYTES;
    at = put_key(at, LAS_KEY_MODEL, model);
    at = put_key(at, KEY_RASTER_TYPE, 1);
    at = put_key(at, model == LAS_MODEL_PROJECTED ? LAS_KEY_PROJECTED : LAS_KEY_GEOGRAPHIC, code);
    if (vertical != 0) at = put_key(at, LAS_KEY_VERTICAL, vertical);
    if (vertical == 0 && height_unit != 0 && model != LAS_MODEL_GEOCENTRIC) {
        at = put_key(at, LAS_KEY_HEIGHT_UNIT, height_unit);
    }
    las_put(data, 1, 2);
    las_put(data + 2, 1, 2);
    las_put(data + 6, (uint64_t)(at - data) / KEY_BYTES - 1, 2);
    record->record_id = LAS_ID_GEO_KEYS;
    record->size_bytes = (uint64_t)(at - data);
    record->data = data;
    return MOTE_OK;
}

mote_status mote_las_crs_record(mote_context *ctx, const char *crs, uint32_t height_unit, mote_record *record) {
    memset(record, 0, sizeof *record);
    memcpy(record->user_id, LAS_USER_PROJECTION, sizeof LAS_USER_PROJECTION);
    if (strncmp(crs, "EPSG:", 5) == 0) {
        char *end = NULL;
        const unsigned long code = strtoul(crs + 5, &end, 10);
        const unsigned long vertical = *end == '+' ? strtoul(end + 1, &end, 10) : 0;
        if (*end == '\0' && code >= CODE_MIN && code < LAS_GEO_USER_DEFINED && vertical < LAS_GEO_USER_DEFINED) {
            return key_record(ctx, code, vertical, height_unit, record);
        }
    } else if (strchr(crs, '[') != NULL) {
        record->record_id = LAS_ID_WKT;
        record->size_bytes = strlen(crs) + 1;
        record->data = mote_strdup(ctx, crs);
        return record->data != NULL ? MOTE_OK : MOTE_ERROR_MEMORY;
    }
    mote_crs_facts facts;
    mote_crs_describe(crs, &facts);
    mote_warn(ctx, "LAS cannot hold the coordinate reference system \"%s\": it is left out", facts.name);
    return MOTE_OK;
}
