/* Units of well-known text. A system's unit is its own: those deeper down are of its base, of its ellipsoid, of its
   parameters.

     COMPD_CS["…", PROJCS["…", GEOGCS["…", UNIT["degree", …]], UNIT["US survey foot", …]],    horizontal: US survey foot
                   VERT_CS["…", VERT_DATUM[…], UNIT["metre", 1]]]                             vertical: metre

   Source: ISO 19162:2019, sections 7.4 and 7.5; OGC 01-009, section 7. */
#include <string.h>

#include "io/crs/crs_units.h"
#include "io/crs/unit_table.h"
#include "io/crs/wkt.h"

#define TEXT_BYTES 64
#define AXES_MAX   3

typedef enum crs_kind {
    CRS_NONE,
    CRS_PARTS, /* its units are those of the systems in it */
    CRS_PROJECTED,
    CRS_GEODETIC,   /* angles, unless its coordinate system is Cartesian */
    CRS_GEOCENTRIC, /* lengths along three axes, of which none is up */
    CRS_VERTICAL,
    CRS_LOCAL
} crs_kind;

/* BASEGEOGCRS, TARGETCRS and the like are missing on purpose: their units are not those of the coordinates. */
static crs_kind kind_of(const wkt_value *value) {
    static const struct {
        const char *keyword;
        crs_kind kind;
    } rows[] = {
        {"COMPD_CS", CRS_PARTS},
        {"COMPOUNDCRS", CRS_PARTS},
        {"BOUNDCRS", CRS_PARTS},
        {"SOURCECRS", CRS_PARTS},
        {"COORDINATEMETADATA", CRS_PARTS},
        {"FITTED_CS", CRS_PARTS},
        {"PROJCS", CRS_PROJECTED},
        {"PROJCRS", CRS_PROJECTED},
        {"PROJECTEDCRS", CRS_PROJECTED},
        {"GEOGCS", CRS_GEODETIC},
        {"DERIVEDPROJCRS", CRS_PROJECTED},
        {"GEOGCRS", CRS_GEODETIC},
        {"GEODCRS", CRS_GEODETIC},
        {"GEOGRAPHICCRS", CRS_GEODETIC},
        {"GEODETICCRS", CRS_GEODETIC},
        {"GEOCCS", CRS_GEOCENTRIC},
        {"VERT_CS", CRS_VERTICAL},
        {"VERTCS", CRS_VERTICAL},
        {"VERTCRS", CRS_VERTICAL},
        {"VERTICALCRS", CRS_VERTICAL},
        {"LOCAL_CS", CRS_LOCAL},
        {"ENGINEERINGCRS", CRS_LOCAL},
        {"ENGCRS", CRS_LOCAL},
    };
    for (size_t i = 0; value->has_brackets && i < sizeof rows / sizeof *rows; i++) {
        if (wkt_is(value->text, rows[i].keyword)) return rows[i].kind;
    }
    return CRS_NONE;
}

/* Some words of a system's own level. */
typedef struct crs_axis {
    bool is_vertical, has_unit;
    mote_unit unit;
} crs_axis;

typedef struct crs_level {
    crs_kind kind;
    bool has_unit;
    mote_unit unit;   /* of all axes that have none of their own */
    mote_unit height; /* LINUNIT, with which ESRI writes heights above the ellipsoid */
    uint32_t axes;
    crs_axis axis[AXES_MAX];
} crs_level;

static bool is_unit(const wkt_value *value) {
    static const char *const keywords[] = {"UNIT", "LENGTHUNIT", "ANGLEUNIT", "SCALEUNIT", "PARAMETRICUNIT"};
    for (size_t i = 0; value->has_brackets && i < sizeof keywords / sizeof *keywords; i++) {
        if (wkt_is(value->text, keywords[i])) return true;
    }
    return false;
}

/* UNIT["metre", 1], of the kind that its place or its keyword says. Without a factor the name counts. */
static mote_unit read_unit(const wkt_value *value, unit_kind kind) {
    char name[TEXT_BYTES], number[TEXT_BYTES];
    const mote_unit unknown = {{0}, {0}, 0, 0};
    wkt_span rest = value->inside;
    wkt_value part;
    if (wkt_is(value->text, "LENGTHUNIT")) kind = UNIT_LENGTH;
    if (wkt_is(value->text, "ANGLEUNIT")) kind = UNIT_ANGLE;
    if (wkt_is(value->text, "SCALEUNIT") || wkt_is(value->text, "PARAMETRICUNIT")) return unknown;
    if (!wkt_next(&rest, &part) || !part.quoted) return unknown;
    wkt_copy(part.text, name, sizeof name);
    if (!wkt_next(&rest, &part) || part.quoted || part.has_brackets) return unit_of_name(name, kind);
    if ((size_t)(part.text.end - part.text.begin) >= sizeof number) return unknown;
    wkt_copy(part.text, number, sizeof number);
    return unit_of_factor(name, number, kind);
}

static unit_kind kind_of_units(crs_kind kind) {
    return kind == CRS_GEODETIC ? UNIT_ANGLE : kind == CRS_LOCAL ? UNIT_ANY : UNIT_LENGTH;
}

/* AXIS["height", up, ORDER[3], LENGTHUNIT["metre", 1]]: its direction is the first word. */
static crs_axis read_axis(const wkt_value *value, crs_kind kind) {
    crs_axis axis = {false, false, {{0}, {0}, 0, 0}};
    wkt_span rest = value->inside;
    wkt_value part;
    bool directed = false;
    while (wkt_next(&rest, &part)) {
        if (!part.quoted && !part.has_brackets && !directed) {
            directed = true;
            axis.is_vertical = wkt_is(part.text, "up") || wkt_is(part.text, "down");
        } else if (is_unit(&part)) {
            axis.has_unit = true;
            axis.unit = read_unit(&part, axis.is_vertical ? UNIT_LENGTH : kind_of_units(kind));
        }
    }
    return axis;
}

/* CS[Cartesian, 3] makes lengths of what GEODCRS measures. */
static crs_kind kind_by_axes(const wkt_value *crs, crs_kind kind) {
    wkt_span rest = crs->inside;
    wkt_value value, type;
    while (kind == CRS_GEODETIC && wkt_next(&rest, &value)) {
        if (!value.has_brackets || !wkt_is(value.text, "CS")) continue;
        wkt_span inside = value.inside;
        if (wkt_next(&inside, &type) && wkt_is(type.text, "Cartesian")) return CRS_GEOCENTRIC;
    }
    return kind;
}

static void read_level(const wkt_value *crs, crs_kind kind, crs_level *level) {
    wkt_span rest = crs->inside;
    wkt_value value;
    memset(level, 0, sizeof *level);
    level->kind = kind_by_axes(crs, kind);
    while (wkt_next(&rest, &value)) {
        if (is_unit(&value)) {
            level->unit = read_unit(&value, kind_of_units(level->kind));
            level->has_unit = true;
        } else if (value.has_brackets && wkt_is(value.text, "LINUNIT")) {
            level->height = read_unit(&value, UNIT_LENGTH);
        } else if (value.has_brackets && wkt_is(value.text, "AXIS") && level->axes < AXES_MAX) {
            level->axis[level->axes++] = read_axis(&value, level->kind);
        }
    }
}

static mote_unit unit_of_axis(const crs_level *level, uint32_t i) {
    return level->axis[i].has_unit ? level->axis[i].unit : level->unit;
}

/* Heights in an angle are none: the degree of WKT 1 counts for the other two axes alone. */
static void set_vertical(mote_units *units, const mote_unit *unit) {
    if (unit->metres > 0) units->vertical = *unit;
}

/* Decides the units of a system by itself. Axes in several units have none together. */
static void decide(const crs_level *level, mote_units *units) {
    uint32_t across = 0;
    bool has_height = false;
    if (level->kind != CRS_VERTICAL) units->horizontal = level->unit;
    set_vertical(units, &level->height);
    for (uint32_t i = 0; i < level->axes; i++) {
        const mote_unit unit = unit_of_axis(level, i);
        if (level->kind == CRS_VERTICAL || level->axis[i].is_vertical || across == 2) {
            set_vertical(units, &unit);
            has_height = true;
        } else if (across++ == 0) {
            units->horizontal = unit;
        } else if (strcmp(units->horizontal.name, unit.name) != 0) {
            memset(&units->horizontal, 0, sizeof units->horizontal);
        }
    }
    const bool is_whole = level->kind == CRS_VERTICAL || level->kind == CRS_GEOCENTRIC;
    if (!has_height && is_whole) set_vertical(units, &level->unit);
}

/* A system, and those in it: of a compound one the parts; of others only heights, which some writers put there. */
static void decide_crs(const wkt_value *crs, crs_kind kind, mote_units *units) {
    crs_level level;
    wkt_span rest = crs->inside;
    wkt_value value;
    if (kind != CRS_PARTS) {
        read_level(crs, kind, &level);
        decide(&level, units);
    }
    bool has_horizontal = false;
    while (wkt_next(&rest, &value)) {
        const crs_kind part = kind_of(&value);
        if (part == CRS_NONE || (kind != CRS_PARTS && (part != CRS_VERTICAL || kind == CRS_VERTICAL))) continue;
        mote_units own = {{{0}, {0}, 0, 0}, {{0}, {0}, 0, 0}};
        decide_crs(&value, part, &own);
        if (own.vertical.name[0] != '\0' || part == CRS_VERTICAL) units->vertical = own.vertical;
        if (!has_horizontal && part != CRS_VERTICAL && own.horizontal.name[0] != '\0') {
            units->horizontal = own.horizontal;
            has_horizontal = true;
        }
    }
}

bool mote_crs_is_wkt(const char *text) {
    const size_t word = strcspn(text, "[(\"");
    return text[word] == '[' || text[word] == '(';
}

void mote_crs_units_of_wkt(const char *text, mote_units *units, size_t *wrong_at) {
    const size_t length = strlen(text);
    memset(units, 0, sizeof *units);
    *wrong_at = length;
    if (!wkt_is_valid(text, length, wrong_at)) return;
    const wkt_value whole = {.has_brackets = true, .inside = {text, text + length}};
    decide_crs(&whole, CRS_PARTS, units);
}
