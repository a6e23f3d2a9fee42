/* What a cloud's coordinates count in. The one place that decides it. */
#include <stdio.h>
#include <string.h>

#include "io/crs/crs_codes.h"
#include "io/crs/crs_units.h"
#include "io/crs/unit_table.h"
#include "io/crs/wkt.h"

static void decide_by_system(const mote_cloud *cloud, mote_units *units) {
    const char *crs = mote_cloud_crs(cloud);
    crs += strspn(crs, " \t\r\n");
    crs_codes codes;
    size_t wrong_at;
    if (mote_crs_is_wkt(crs)) {
        mote_crs_units_of_wkt(crs, units, &wrong_at);
    } else if (*crs == '+') {
        mote_crs_units_of_proj(crs, units);
    } else if (mote_crs_codes(crs, &codes) || *crs == '\0') {
        if (codes.vertical == 0 && mote_crs_keys_are_own(cloud, codes.horizontal) &&
            mote_crs_units_of_keys(cloud, units)) {
            return;
        }
        mote_crs_units_of_codes(codes.horizontal, codes.vertical, units);
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
