/* What a cloud's coordinates count in. The one place that decides it. */
#include <stdio.h>
#include <string.h>

#include "io/crs/crs_units.h"
#include "io/crs/unit_table.h"
#include "io/crs/wkt.h"
#include "io/las/las_format.h"

#define CODE_DIGITS 9

/* Digits at the beginning of a text, as a number; 0 if there are none, or too many for a code. */
static uint32_t read_code(const char **text) {
    uint32_t code = 0;
    const char *at = *text;
    while (*at >= '0' && *at <= '9' && at - *text < CODE_DIGITS) code = 10 * code + (uint32_t)(*at++ - '0');
    *text = at;
    return code;
}

/* "EPSG:n", "EPSG:n+v" or "urn:ogc:def:crs:EPSG::n". */
static bool read_codes(const char *text, uint32_t *code, uint32_t *vertical) {
    static const char *const prefixes[] = {"EPSG:", "urn:ogc:def:crs:EPSG:"};
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
        const size_t length = strlen(prefixes[i]);
        if (strlen(text) <= length || !wkt_is((wkt_span){text, text + length}, prefixes[i])) continue;
        const char *at = text + length;
        if (i == 1) at += strcspn(at, ":") + (strchr(at, ':') != NULL);
        *code = read_code(&at);
        *vertical = 0;
        if (*at == '+') at++, *vertical = read_code(&at);
        return *code != 0 && at[strspn(at, " \t\r\n")] == '\0';
    }
    return false;
}

/* The keys of a LAS file say more than the code that was made of them; where the cloud was given another system, they
   are not its own. */
static bool keys_are_own(const mote_cloud *cloud, uint32_t code) {
    for (uint32_t i = 0; i < mote_cloud_record_count(cloud); i++) {
        const mote_record *record = mote_cloud_record(cloud, i);
        if (mote_las_record_is(record, LAS_USER_PROJECTION, LAS_ID_GEO_KEYS)) return mote_las_geo_code(record) == code;
    }
    return false;
}

static void decide_by_system(const mote_cloud *cloud, mote_units *units) {
    const char *crs = mote_cloud_crs(cloud);
    crs += strspn(crs, " \t\r\n");
    uint32_t code = 0, vertical = 0;
    size_t wrong_at;
    if (mote_crs_is_wkt(crs)) {
        mote_crs_units_of_wkt(crs, units, &wrong_at);
    } else if (*crs == '+') {
        mote_crs_units_of_proj(crs, units);
    } else if (*crs == '\0' || read_codes(crs, &code, &vertical)) {
        if (vertical == 0 && keys_are_own(cloud, code) && mote_crs_units_of_keys(cloud, units)) return;
        mote_crs_units_of_codes(code, vertical, units);
    }
}

/* A column's own unit is nearer to the numbers than that of the system. */
static void decide_by_column(const mote_cloud *cloud, const char *name, mote_unit *unit) {
    const mote_column *column = mote_cloud_find(cloud, name);
    if (column == NULL || column->unit[0] == '\0') return;
    *unit = unit_of_name(column->unit, UNIT_ANY);
    if (unit->name[0] != '\0') return;
    snprintf(unit->name, sizeof unit->name, "%s", column->unit);
}

void mote_cloud_units(const mote_cloud *cloud, mote_units *units) {
    memset(units, 0, sizeof *units);
    decide_by_system(cloud, units);
    decide_by_column(cloud, "x", &units->horizontal);
    decide_by_column(cloud, "z", &units->vertical);
}
