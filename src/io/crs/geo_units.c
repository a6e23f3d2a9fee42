/* Units of the GeoTIFF keys of a LAS file. What a key says of a unit counts before what the code of the system would
   say: writers take the code of the next system of metres, and say that they have feet.
   Source: OGC GeoTIFF 1.1, section 7; LAS 1.4 R15, section 3. */
#include <math.h>
#include <string.h>

#include "io/crs/crs_units.h"
#include "io/crs/geo_keys.h"
#include "io/crs/unit_table.h"
#include "io/las/las_format.h"

#define DOUBLE_BYTES 8u

uint32_t geo_keys_code(const geo_keys *keys, uint32_t key) {
    const uint32_t value = keys->directory != NULL ? mote_las_geo_key(keys->directory, key, 0) : LAS_NO_GEO_KEY;
    return value != LAS_NO_GEO_KEY ? value : 0;
}

double geo_keys_number(const geo_keys *keys, uint32_t key) {
    const uint32_t at = mote_las_geo_key(keys->directory, key, LAS_ID_GEO_DOUBLES);
    if (at == LAS_NO_GEO_KEY || keys->doubles == NULL) return NAN;
    if (at >= keys->doubles->size_bytes / DOUBLE_BYTES) return NAN;
    double number;
    memcpy(&number, (const uint8_t *)keys->doubles->data + DOUBLE_BYTES * (size_t)at, sizeof number);
    return number;
}

/* The size of a unit that the file defines. */
static double size_of(const geo_keys *keys, uint32_t key) {
    const double size = geo_keys_number(keys, key);
    return isnan(size) ? 0 : size;
}

/* The unit that a key names. size_key: where its size is, if the file defines it; 0: nowhere. */
static mote_unit unit_of_key(const geo_keys *keys, uint32_t key, uint32_t size_key, unit_kind kind) {
    const uint32_t code = geo_keys_code(keys, key);
    if (code == LAS_GEO_USER_DEFINED && size_key != 0) return unit_of_size(size_of(keys, size_key), kind);
    return unit_of_code(code, kind);
}

static uint32_t model_of(const geo_keys *keys) {
    const uint32_t model = geo_keys_code(keys, LAS_KEY_MODEL);
    if (model != 0) return model;
    const bool projects = geo_keys_code(keys, LAS_KEY_PROJECTED) != 0 || geo_keys_code(keys, KEY_PROJECTED_UNIT) != 0;
    return projects ? LAS_MODEL_PROJECTED : LAS_MODEL_GEOGRAPHIC;
}

static void decide(const geo_keys *keys, mote_units *units) {
    const uint32_t model = model_of(keys);
    const uint32_t code = geo_keys_code(keys, model == LAS_MODEL_PROJECTED ? LAS_KEY_PROJECTED : LAS_KEY_GEOGRAPHIC);
    uint32_t unit_key = 0;
    mote_crs_units_of_codes(code, geo_keys_code(keys, LAS_KEY_VERTICAL), units);
    if (model == LAS_MODEL_PROJECTED && geo_keys_code(keys, KEY_PROJECTED_UNIT) != 0) {
        unit_key = KEY_PROJECTED_UNIT;
        units->horizontal = unit_of_key(keys, KEY_PROJECTED_UNIT, KEY_PROJECTED_SIZE, UNIT_LENGTH);
    } else if (model == LAS_MODEL_GEOGRAPHIC && geo_keys_code(keys, KEY_ANGULAR) != 0) {
        unit_key = KEY_ANGULAR;
        units->horizontal = unit_of_key(keys, KEY_ANGULAR, KEY_ANGULAR_SIZE, UNIT_ANGLE);
    } else if (model == LAS_MODEL_GEOCENTRIC && geo_keys_code(keys, KEY_LINEAR) != 0) {
        unit_key = KEY_LINEAR;
        units->horizontal = unit_of_key(keys, KEY_LINEAR, KEY_LINEAR_SIZE, UNIT_LENGTH);
        units->vertical = units->horizontal;
    }
    /* A code of degrees beside a model of lengths from the middle of the earth says of what datum they are. */
    if (model == LAS_MODEL_GEOCENTRIC && unit_key == 0 && units->horizontal.metres == 0)
        memset(units, 0, sizeof *units);
    if (geo_keys_code(keys, LAS_KEY_HEIGHT_UNIT) != 0 && model != LAS_MODEL_GEOCENTRIC) {
        units->vertical = unit_of_key(keys, LAS_KEY_HEIGHT_UNIT, 0, UNIT_LENGTH);
    }
}

/* The first record of that id; NULL if there is none. */
static const mote_record *find_record(const mote_cloud *cloud, uint32_t id) {
    for (uint32_t i = 0; i < mote_cloud_record_count(cloud); i++) {
        const mote_record *record = mote_cloud_record(cloud, i);
        if (mote_las_record_is(record, LAS_USER_PROJECTION, id)) return record;
    }
    return NULL;
}

geo_keys geo_keys_of(const mote_cloud *cloud) {
    const geo_keys keys = {find_record(cloud, LAS_ID_GEO_KEYS), find_record(cloud, LAS_ID_GEO_DOUBLES)};
    return keys;
}

bool mote_crs_units_of_keys(const mote_cloud *cloud, mote_units *units) {
    const geo_keys keys = geo_keys_of(cloud);
    memset(units, 0, sizeof *units);
    if (keys.directory == NULL) return false;
    decide(&keys, units);
    return true;
}

bool mote_crs_keys_are_own(const mote_cloud *cloud, uint32_t code) {
    const mote_record *record = find_record(cloud, LAS_ID_GEO_KEYS);
    return record != NULL && mote_las_geo_code(record) == code;
}

/* Before EPSG had codes for them, GeoTIFF had its own for systems of heights.
   Source: GeoTIFF 1.0, section 6.3.4.1 */
#define OLD_VERTICAL     5001u
#define OLD_HEIGHTS      5101u /* Newlyn, NGVD29, NAVD88, Yellow Sea, Baltic, Caspian */
#define OLD_HEIGHTS_LAST 5106u
#define HEIGHTS          5701u

uint32_t mote_crs_heights_of_keys(const mote_cloud *cloud) {
    const mote_record *record = find_record(cloud, LAS_ID_GEO_KEYS);
    if (record == NULL || mote_las_geo_code(record) == 0) return 0;
    const uint32_t code = mote_las_geo_key(record, LAS_KEY_VERTICAL, 0);
    if (code >= OLD_HEIGHTS && code <= OLD_HEIGHTS_LAST) return code - OLD_HEIGHTS + HEIGHTS;
    const bool is_old = code >= OLD_VERTICAL && code < OLD_HEIGHTS; /* heights above an ellipsoid */
    return code != LAS_NO_GEO_KEY && code < LAS_GEO_USER_DEFINED && !is_old ? code : 0;
}
