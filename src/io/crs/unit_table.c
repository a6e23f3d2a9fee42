#include "io/crs/unit_table.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "io/text/text.h"

#define NAME_MAX_BYTES 64

/* Sizes: EPSG Dataset, units of measure; those of the US before 1959 are of 1200/3937 m to the foot (US Federal
   Register 59-5442). Codes are EPSG's; aliases are without case and marks, each between bars.
   NULL: only a code means this one. By its name it is as the file writes it, and no factor is nearest to it, as those
   of few digits ("0.304801") are of the kinds of feet in use. */
static const struct {
    const char *name, *symbol;
    unit_kind kind;
    uint32_t code;
    double size; /* metres or radians */
    const char *aliases;
} units[] = {
    {"metre", "m", UNIT_LENGTH, 9001, 1, "|meter|metres|meters|m|"},
    {"kilometre", "km", UNIT_LENGTH, 9036, 1000, "|kilometer|kilometres|kilometers|km|"},
    {"decimetre", "dm", UNIT_LENGTH, 0, 0.1, "|decimeter|dm|"},
    {"centimetre", "cm", UNIT_LENGTH, 1033, 0.01, "|centimeter|centimetres|centimeters|cm|"},
    {"millimetre", "mm", UNIT_LENGTH, 1025, 0.001, "|millimeter|millimetres|millimeters|mm|"},
    {"foot", "ft", UNIT_LENGTH, 9002, 0.3048,
     "|feet|ft|internationalfoot|internationalfeet|footinternational|footintl|"},
    {"US survey foot", "US ft", UNIT_LENGTH, 9003, 1200.0 / 3937,
     "|ussurveyfeet|footus|feetus|usft|ftus|usfoot|usfeet|surveyfoot|footussurvey|usstatefoot|"},
    {"Clarke's foot", "ft", UNIT_LENGTH, 9005, 0.3047972654, "|clarkefoot|footclarke|"},
    {"yard", "yd", UNIT_LENGTH, 9096, 0.9144, "|yards|yd|internationalyard|"},
    {"US survey yard", "US yd", UNIT_LENGTH, 0, 3600.0 / 3937, "|yardus|usyd|"},
    {"inch", "in", UNIT_LENGTH, 0, 0.0254, "|inches|in|internationalinch|"},
    {"fathom", "fathom", UNIT_LENGTH, 9014, 1.8288, "|fathoms|fath|"},
    {"link", "link", UNIT_LENGTH, 9098, 0.201168, "|links|internationallink|"},
    {"chain", "chain", UNIT_LENGTH, 9097, 20.1168, "|chains|ch|internationalchain|"},
    {"US survey link", "US link", UNIT_LENGTH, 9034, 792.0 / 3937, "|linkus|"},
    {"US survey chain", "US chain", UNIT_LENGTH, 9033, 79200.0 / 3937, "|chainus|usch|"},
    {"mile", "mi", UNIT_LENGTH, 9093, 1609.344, "|miles|mi|statutemile|internationalmile|"},
    {"US survey mile", "US mi", UNIT_LENGTH, 9035, 6336000.0 / 3937, "|mileus|usmi|"},
    {"nautical mile", "nmi", UNIT_LENGTH, 9030, 1852, "|nauticalmiles|kmi|nmi|internationalnauticalmile|"},
    {"nautical mile", "nmi", UNIT_LENGTH, 9015, 1852, "|"}, /* GeoTIFF 1.0 */
    {"German legal metre", "m", UNIT_LENGTH, 9031, 1.0000135965, "|metergermanlegal|legalmeter|"},
    {"Clarke's yard", "yd", UNIT_LENGTH, 9037, 0.9143917962, NULL},
    {"Clarke's link", "link", UNIT_LENGTH, 9039, 0.201166195164, NULL},
    {"British yard (Sears 1922)", "yd", UNIT_LENGTH, 9040, 0.914398414616029, NULL},
    {"British foot (Sears 1922)", "ft", UNIT_LENGTH, 9041, 0.304799471538676, NULL},
    {"British chain (Sears 1922)", "chain", UNIT_LENGTH, 9042, 20.1167651215526, NULL},
    {"British chain (Benoit 1895 B)", "chain", UNIT_LENGTH, 9062, 20.1167824943759, NULL},
    {"Indian yard", "yd", UNIT_LENGTH, 9084, 0.914398530744441, NULL},
    {"Gold Coast foot", "ft", UNIT_LENGTH, 9094, 0.304799710181509, NULL},
    {"British foot (1936)", "ft", UNIT_LENGTH, 9095, 0.3048007491, NULL},
    {"British chain (Sears 1922 truncated)", "chain", UNIT_LENGTH, 9301, 20.116756, NULL},
    {"degree", "deg", UNIT_ANGLE, 9102, 0.017453292519943295, "|degrees|deg|°|degreesupplierdefined|"},
    {"degree", "deg", UNIT_ANGLE, 9122, 0.017453292519943295, "|"}, /* degree, the supplier to say how it is written */
    {"radian", "rad", UNIT_ANGLE, 9101, 1, "|radians|rad|"},
    {"arc-minute", "'", UNIT_ANGLE, 9103, 0.017453292519943295 / 60, "|minute|arcmin|"},
    {"arc-second", "\"", UNIT_ANGLE, 9104, 0.017453292519943295 / 3600, "|second|arcsec|"},
    {"grad", "gon", UNIT_ANGLE, 9105, 0.015707963267948967, "|grads|gon|gons|grade|"},
    {"grad", "gon", UNIT_ANGLE, 9106, 0.015707963267948967, "|"}, /* gon, another name of it */
    {"microradian", "urad", UNIT_ANGLE, 9109, 1e-6, "|"},
};
#define UNITS (sizeof units / sizeof *units)

static bool is_of(size_t i, unit_kind kind) { return kind == UNIT_ANY || units[i].kind == kind; }

static void set_size(mote_unit *unit, double size, unit_kind kind) {
    unit->metres = kind == UNIT_ANGLE ? 0 : size;
    unit->radians = kind == UNIT_ANGLE ? size : 0;
}

static mote_unit unit_at(size_t i) {
    mote_unit unit = {{0}, {0}, 0, 0};
    if (i >= UNITS) return unit;
    snprintf(unit.name, sizeof unit.name, "%s", units[i].name);
    snprintf(unit.symbol, sizeof unit.symbol, "%s", units[i].symbol);
    set_size(&unit, units[i].size, units[i].kind);
    return unit;
}

mote_unit unit_of_code(uint32_t code, unit_kind kind) {
    size_t i = 0;
    while (i < UNITS && (code == 0 || units[i].code != code || !is_of(i, kind))) i++;
    return unit_at(i);
}

/* ---- names */

/* A name between bars, without case and marks: "Foot_US" is "|footus|". Bytes above 127 are kept, for "°". */
static void fold_name(const char *name, char out[NAME_MAX_BYTES + 3]) {
    size_t length = 0;
    out[length++] = '|';
    for (const char *at = name; *at != '\0' && length <= NAME_MAX_BYTES; at++) {
        const char c = *at >= 'A' && *at <= 'Z' ? (char)(*at - 'A' + 'a') : *at;
        if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || ((unsigned char)c & 0x80u) != 0) out[length++] = c;
    }
    out[length++] = '|';
    out[length] = '\0';
}

static size_t find_name(const char *name, unit_kind kind) {
    char wanted[NAME_MAX_BYTES + 3], own[NAME_MAX_BYTES + 3];
    fold_name(name, wanted);
    if (strlen(wanted) <= 2) return UNITS;
    size_t i = 0;
    for (; i < UNITS; i++) {
        fold_name(units[i].name, own);
        if (units[i].aliases != NULL && is_of(i, kind) &&
            (strcmp(own, wanted) == 0 || strstr(units[i].aliases, wanted) != NULL))
            break;
    }
    return i;
}

mote_unit unit_of_name(const char *name, unit_kind kind) { return unit_at(find_name(name, kind)); }

/* ---- factors */

#define SAME_SIZE   1e-9 /* of a factor that is written with digits enough */
#define FEW_DIGITS  5e-6 /* at most of one with fewer: 0.304801 is still told from 0.3048 */
#define NAMED       1e-3 /* at most of one with fewer whose name says what it is: a degree of 0.01745 */
#define SAME_FAMILY 1e-4 /* feet differ by 1e-5 of their length: their names are mixed up everywhere */

/* How far a number may be from what it was rounded from, relative to it: half of its last digit, and a little. */
static double part_of_digits(const mote_text_number *number, double value) {
    return number->inexact ? SAME_SIZE : fmax(0.51 * pow(10, number->exponent) / value, SAME_SIZE);
}

/* The whole text as a number above 0. */
static bool read_factor(const char *text, mote_text_number *number, double *value) {
    const uint8_t *begin = (const uint8_t *)text, *end = begin + strlen(text);
    if (!mote_text_scan(begin, end, number) || number->end != end) return false;
    return mote_text_double(number, value) && *value > 0 && isfinite(*value);
}

/* The unit of that kind which is nearest, if it is within a part of its size. */
static size_t find_size(double size, double part, unit_kind kind) {
    size_t best = UNITS;
    for (size_t i = 0; i < UNITS; i++) {
        const double off = fabs(size / units[i].size - 1);
        if (units[i].aliases == NULL || units[i].kind != kind || off > part) continue;
        if (best == UNITS || off < fabs(size / units[best].size - 1)) best = i;
    }
    return best;
}

mote_unit unit_of_size(double size, unit_kind kind) {
    mote_unit unit = unit_at(size > 0 && isfinite(size) ? find_size(size, SAME_SIZE, kind) : UNITS);
    if (unit.name[0] == '\0' && size > 0 && isfinite(size)) {
        char digits[MOTE_TEXT_NUMBER_BYTES];
        uint32_t guess = 0;
        const size_t length = mote_text_put_double(digits, size, &guess);
        snprintf(unit.name, sizeof unit.name, "%.*s %s", (int)length, digits, kind == UNIT_ANGLE ? "radian" : "metre");
        set_size(&unit, size, kind);
    }
    return unit;
}

mote_unit unit_of_factor(const char *name, const char *number, unit_kind kind) {
    mote_text_number digits;
    double value;
    const size_t named = find_name(name, kind);
    if (!read_factor(number, &digits, &value)) return unit_at(UNITS);
    if (kind == UNIT_ANY) kind = named < UNITS ? units[named].kind : UNIT_LENGTH;
    const double part = part_of_digits(&digits, value);
    if (named < UNITS && fabs(value / units[named].size - 1) <= fmin(part, NAMED)) return unit_at(named);
    const size_t found = find_size(value, fmin(part, FEW_DIGITS), kind);
    const bool contradicts = named < UNITS && fabs(value / units[named].size - 1) > SAME_FAMILY;
    if (found < UNITS || contradicts) return unit_at(contradicts ? UNITS : found);
    if (name[0] == '\0') return unit_of_size(value, kind);
    mote_unit unit = {{0}, {0}, 0, 0};
    snprintf(unit.name, sizeof unit.name, "%s", name);
    set_size(&unit, value, kind);
    return unit;
}
