#include "io/crs/crs_codes.h"

#include <stdio.h>

#include "io/crs/crs_units.h"
#include "io/crs/wkt.h"
#include "mote/crs.h"

#define CODE_DIGITS 9

/* ---- codes alone */

/* Digits at the beginning of a text, as a number; 0 if there are none, or too many for a code. */
static uint32_t read_code(const char **text) {
    uint32_t code = 0;
    const char *at = *text;
    while (*at >= '0' && *at <= '9' && at - *text < CODE_DIGITS) code = 10 * code + (uint32_t)(*at++ - '0');
    *text = at;
    return code;
}

static bool read_codes(const char *text, crs_codes *codes) {
    static const char *const prefixes[] = {"EPSG:", "urn:ogc:def:crs:EPSG:"};
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
        const size_t length = strlen(prefixes[i]);
        if (strlen(text) <= length || !wkt_is((wkt_span){text, text + length}, prefixes[i])) continue;
        const char *at = text + length;
        if (i == 1) at += strcspn(at, ":") + (strchr(at, ':') != NULL);
        codes->horizontal = read_code(&at);
        if (*at == '+') at++, codes->vertical = read_code(&at);
        codes->whole = codes->vertical == 0 ? codes->horizontal : 0;
        return codes->horizontal != 0 && at[strspn(at, " \t\r\n")] == '\0';
    }
    return false;
}

/* ---- well-known text */

static bool is_one_of(const wkt_value *value, const char *const *words) {
    for (; value->has_brackets && *words != NULL; words++) {
        if (wkt_is(value->text, *words)) return true;
    }
    return false;
}

static bool is_compound(const wkt_value *value) {
    return is_one_of(value, (const char *const[]){"COMPD_CS", "COMPOUNDCRS", NULL});
}

static bool is_vertical(const wkt_value *value) {
    return is_one_of(value, (const char *const[]){"VERT_CS", "VERTCS", "VERTCRS", "VERTICALCRS", NULL});
}

/* A system around the one that coordinates are of. */
static bool is_wrapping(const wkt_value *value) {
    return is_one_of(value, (const char *const[]){"BOUNDCRS", "SOURCECRS", "COORDINATEMETADATA", NULL});
}

static bool is_horizontal(const wkt_value *value) {
    return is_one_of(value, (const char *const[]){"PROJCS", "PROJCRS", "PROJECTEDCRS", "GEOGCS", "GEOGCRS", "GEODCRS",
                                                  "GEODETICCRS", "GEOGRAPHICCRS", "GEOCCS", "DERIVEDPROJCRS",
                                                  "LOCAL_CS", "ENGCRS", "ENGINEERINGCRS", NULL});
}

/* The number of AUTHORITY["EPSG","n"] or ID["EPSG",n]; 0 if it is of another authority. */
static uint32_t authority_code(const wkt_value *value) {
    wkt_span rest = value->inside;
    wkt_value part;
    char digits[CODE_DIGITS + 2];
    if (!wkt_next(&rest, &part) || !wkt_is(part.text, "EPSG") || !wkt_next(&rest, &part)) return 0;
    wkt_copy(part.text, digits, sizeof digits);
    const char *at = digits;
    const uint32_t code = read_code(&at);
    return *at == '\0' ? code : 0;
}

/* The code directly inside a system. */
static uint32_t own_code(const wkt_value *crs) {
    wkt_span rest = crs->inside;
    wkt_value value;
    while (wkt_next(&rest, &value)) {
        if (is_one_of(&value, (const char *const[]){"AUTHORITY", "ID", NULL})) return authority_code(&value);
    }
    return 0;
}

/* Codes of the systems in a list; of several the first of each kind. ESRI writes a compound one as two. */
static void read_systems(wkt_span list, crs_codes *codes) {
    wkt_value value;
    while (wkt_next(&list, &value)) {
        if (is_compound(&value)) {
            codes->whole = own_code(&value);
            read_systems(value.inside, codes);
            if (codes->horizontal == 0) codes->horizontal = codes->whole;
        } else if (is_wrapping(&value)) {
            read_systems(value.inside, codes);
        } else if (is_vertical(&value) && codes->vertical == 0) {
            codes->vertical = own_code(&value);
        } else if (is_horizontal(&value) && codes->horizontal == 0) {
            codes->horizontal = own_code(&value);
        }
    }
}

static bool has_compound(wkt_span list) {
    wkt_value value;
    uint32_t systems = 0;
    while (wkt_next(&list, &value)) {
        if (is_compound(&value) || (is_wrapping(&value) && has_compound(value.inside))) return true;
        systems += is_vertical(&value) || is_horizontal(&value);
    }
    return systems > 1;
}

bool mote_crs_codes(const char *text, crs_codes *codes) {
    size_t at = 0;
    memset(codes, 0, sizeof *codes);
    text += strspn(text, " \t\r\n");
    const size_t length = strlen(text);
    if (read_codes(text, codes)) return true;
    memset(codes, 0, sizeof *codes);
    if (!mote_crs_is_wkt(text) || !wkt_is_valid(text, length, &at)) return false;
    const wkt_span list = {text, text + length};
    read_systems(list, codes);
    if (codes->whole == 0 && !has_compound(list)) codes->whole = codes->horizontal | codes->vertical;
    return false;
}

/* ---- comparing and describing */

bool mote_crs_same(const char *a, const char *b) {
    crs_codes one, other;
    mote_crs_codes(a, &one);
    mote_crs_codes(b, &other);
    if (strcmp(a, b) == 0 || (one.whole != 0 && one.whole == other.whole)) return true;
    if (one.horizontal == 0 || one.horizontal != other.horizontal) return false;
    return one.vertical == other.vertical || one.vertical == 0 || other.vertical == 0;
}

void mote_crs_describe(const char *crs, mote_crs_facts *facts) {
    crs_codes codes;
    memset(facts, 0, sizeof *facts);
    mote_crs_codes(crs, &codes);
    facts->code = codes.whole;
    facts->horizontal_code = codes.horizontal;
    facts->vertical_code = codes.vertical;
    const char *quote = mote_crs_is_wkt(crs) ? strchr(crs, '"') : NULL;
    const char *end = quote != NULL ? strchr(quote + 1, '"') : NULL;
    if (end != NULL) {
        wkt_copy((wkt_span){quote + 1, end}, facts->name, sizeof facts->name);
    } else {
        const size_t length = strcspn(crs, "\r\n"), cut = mote_crs_is_wkt(crs) && length > 40 ? 40 : length;
        wkt_copy((wkt_span){crs, crs + cut}, facts->name, sizeof facts->name);
        if (cut < length) snprintf(facts->name + strlen(facts->name), 4, "…");
    }
}
