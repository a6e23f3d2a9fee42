#include "units_text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Kinds of feet differ by 2e-6: a millimetre in 500 m of height, which no height in a picture shows. */
#define SAME_UNIT 1e-5
#define LITTLE    1e-6 /* of a direction: nothing in that unit */

units_text units_say(const mote_units *units) {
    const char *across = units->horizontal.name, *up = units->vertical.name;
    units_text say;
    if (across[0] == '\0' && up[0] == '\0') {
        snprintf(say.chars, sizeof say.chars, "unknown");
    } else if (strcmp(across, up) == 0) {
        snprintf(say.chars, sizeof say.chars, "%s", across);
    } else {
        snprintf(say.chars, sizeof say.chars, "%s; heights %s%s", across[0] != '\0' ? across : "unknown",
                 up[0] != '\0' ? "in " : "in an unknown unit", up);
    }
    return say;
}

bool units_differ(const mote_units *units) {
    const mote_unit *across = &units->horizontal, *up = &units->vertical;
    if (across->radians > 0) return true;
    return across->metres > 0 && up->metres > 0 && fabs(across->metres / up->metres - 1) > SAME_UNIT;
}

const char *units_symbol_along(const mote_units *units, const double direction[3]) {
    const double across = hypot(direction[0], direction[1]), up = fabs(direction[2]);
    const mote_unit *unit = across < LITTLE * up ? &units->vertical : &units->horizontal;
    const bool is_mixed = across >= LITTLE * up && up >= LITTLE * across;
    if (unit->name[0] == '\0') return NULL;
    if (is_mixed && strcmp(units->horizontal.name, units->vertical.name) != 0) return NULL;
    return unit->symbol[0] != '\0' ? unit->symbol : unit->name;
}

static void emit_unit(json_writer *json, const char *name, const mote_unit *unit) {
    if (unit->name[0] != '\0') {
        emit_text(json, name, unit->name);
    } else {
        emit_real(json, name, NAN);
    }
}

void units_emit(json_writer *json, const mote_cloud *cloud) {
    mote_units units;
    mote_cloud_units(cloud, &units);
    emit_open(json, "units", '{');
    emit_unit(json, "horizontal", &units.horizontal);
    emit_unit(json, "vertical", &units.vertical);
    emit_close(json, '}');
}
