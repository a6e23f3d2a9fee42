/* Units of systems that are named and not described: EPSG codes, and strings of PROJ. mote has no database of systems,
   only what each of EPSG's counts in. A code that EPSG did not have then says nothing. */
#include <string.h>

#include "io/crs/code_runs.h"
#include "io/crs/crs_units.h"
#include "io/crs/unit_table.h"
#include "io/text/text.h"

#define METRE     9001u
#define DEGREE    9102u
#define WORD_SIZE 64

/* ---- codes */

/* Systems of following codes that count in the same units are a run. Its first byte has three fields: how many codes
   lie between it and the run before, which of code_run_units, and how many codes it has beyond the first. The largest
   number of a field means that more follows, in the order of the fields: seven bits a byte, the low ones first. */
#define RUN_GAPS    5u
#define RUN_UNITS   8u
#define RUN_LENGTHS 6u

/* A field whose number is the largest goes on behind the first byte. */
static uint32_t field_of(uint32_t value, uint32_t values, const uint8_t **at) {
    if (value < values - 1) return value;
    uint32_t shift = 0;
    uint8_t byte;
    do {
        byte = *(*at)++;
        value += (uint32_t)(byte & 0x7fu) << shift;
        shift += 7;
    } while ((byte & 0x80u) != 0);
    return value;
}

/* Codes of the units of a system; NULL: it is not in the table. */
static const uint16_t *find_code(uint32_t code) {
    uint32_t next = 0;
    for (const uint8_t *at = code_runs; at < code_runs + sizeof code_runs;) {
        const uint32_t fields = *at++;
        const uint32_t first = next + field_of(fields / (RUN_UNITS * RUN_LENGTHS), RUN_GAPS, &at);
        const uint32_t unit = field_of(fields / RUN_LENGTHS % RUN_UNITS, RUN_UNITS, &at);
        next = first + field_of(fields % RUN_LENGTHS, RUN_LENGTHS, &at) + 1;
        if (code < first) return NULL;
        if (code < next) return code_run_units[unit];
    }
    return NULL;
}

void mote_crs_units_of_codes(uint32_t code, uint32_t vertical, mote_units *units) {
    const uint16_t *of_code = find_code(code), *of_heights = vertical != 0 ? find_code(vertical) : NULL;
    memset(units, 0, sizeof *units);
    if (of_code != NULL) {
        units->horizontal = unit_of_code(of_code[0], UNIT_ANY);
        units->vertical = unit_of_code(of_code[1], UNIT_LENGTH);
    }
    if (vertical == 0) return;
    /* A system that has x and y, too, is none of heights. */
    units->vertical = unit_of_code(of_heights != NULL && of_heights[0] == 0 ? of_heights[1] : 0, UNIT_LENGTH);
}

/* ---- strings of PROJ */

/* The value of "+key=value"; "" if it is not there. Of several the first counts, as in PROJ. */
static void proj_value(const char *text, const char *key, char value[WORD_SIZE]) {
    const size_t length = strlen(key);
    value[0] = '\0';
    for (const char *at = text; *at != '\0';) {
        at += strspn(at, " \t\r\n");
        const size_t word = strcspn(at, " \t\r\n");
        const char *own = *at == '+' ? at + 1 : at;
        if ((size_t)(at + word - own) > length && strncmp(own, key, length) == 0 && own[length] == '=') {
            const size_t size = (size_t)(at + word - own) - length - 1;
            if (size >= WORD_SIZE) return;
            memcpy(value, own + length + 1, size);
            value[size] = '\0';
            return;
        }
        at += word;
    }
}

static mote_unit proj_unit(const char *text, const char *name_key, const char *size_key) {
    char name[WORD_SIZE], size[WORD_SIZE];
    proj_value(text, name_key, name);
    proj_value(text, size_key, size);
    return size[0] != '\0' ? unit_of_factor(name, size, UNIT_LENGTH) : unit_of_name(name, UNIT_LENGTH);
}

void mote_crs_units_of_proj(const char *text, mote_units *units) {
    static const char *const geographic[] = {"longlat", "latlong", "lonlat", "latlon"};
    char projection[WORD_SIZE], named[WORD_SIZE], sized[WORD_SIZE];
    memset(units, 0, sizeof *units);
    proj_value(text, "proj", projection);
    proj_value(text, "units", named);
    proj_value(text, "to_meter", sized);
    units->vertical = proj_unit(text, "vunits", "vto_meter");
    for (size_t i = 0; i < sizeof geographic / sizeof *geographic; i++) {
        if (strcmp(projection, geographic[i]) != 0) continue;
        units->horizontal = unit_of_code(DEGREE, UNIT_ANGLE);
        return;
    }
    if (projection[0] == '\0') return;
    /* A projection without a unit is in metres: PROJ says so. */
    const bool unsaid = named[0] == '\0' && sized[0] == '\0';
    units->horizontal = unsaid ? unit_of_code(METRE, UNIT_LENGTH) : proj_unit(text, "units", "to_meter");
    if (strcmp(projection, "geocent") == 0 || strcmp(projection, "cart") == 0) units->vertical = units->horizontal;
}
