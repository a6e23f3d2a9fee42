/* Units of systems that are named and not described: EPSG codes, and strings of PROJ. mote has no database of systems:
   it knows the blocks of codes whose members are alike, and those that scans come with most often. */
#include <string.h>

#include "io/crs/crs_units.h"
#include "io/crs/unit_table.h"
#include "io/text/text.h"

#define METRE     9001u
#define FOOT      9002u
#define US_FOOT   9003u
#define DEGREE    9102u
#define WORD_SIZE 64

/* ---- codes */

typedef struct code_block {
    uint32_t first, last;
    uint32_t unit, height; /* codes of units; height 0: it has none */
} code_block;

/* Zones of transverse Mercator projections in metres, which is in each one's definition; systems that national mapping
   agencies publish in; and, of feet, those that files of shared/data name together with their unit: 2903
   (4_6_crop.las), 2994 (autzen_geo_proj.las), 2991 (simple.copc.laz), 6580 (1815.las). */
static const code_block blocks[] = {
    {32601, 32660, METRE, 0},    /* WGS 84 / UTM, north */
    {32701, 32760, METRE, 0},    /* and south */
    {25828, 25838, METRE, 0},    /* ETRS89 / UTM */
    {26901, 26923, METRE, 0},    /* NAD83 / UTM */
    {6330, 6348, METRE, 0},      /* NAD83(2011) / UTM */
    {28348, 28358, METRE, 0},    /* GDA94 / MGA */
    {7846, 7859, METRE, 0},      /* GDA2020 / MGA */
    {2056, 2056, METRE, 0},      /* CH1903+ / LV95 */
    {2154, 2154, METRE, 0},      /* Lambert-93 */
    {2180, 2180, METRE, 0},      /* CS92 */
    {2193, 2193, METRE, 0},      /* NZTM 2000 */
    {2903, 2903, US_FOOT, 0},    /* NAD83(HARN) / New Mexico Central (ftUS) */
    {2991, 2991, METRE, 0},      /* NAD83 / Oregon LCC (m) */
    {2994, 2994, FOOT, 0},       /* NAD83(HARN) / Oregon LCC (ft) */
    {3006, 3006, METRE, 0},      /* SWEREF99 TM */
    {6580, 6580, METRE, 0},      /* NAD83(2011), of 1815.las */
    {3035, 3035, METRE, 0},      /* LAEA Europe */
    {3067, 3067, METRE, 0},      /* TM35FIN */
    {3857, 3857, METRE, 0},      /* Pseudo-Mercator */
    {5514, 5514, METRE, 0},      /* Krovak East North */
    {21781, 21781, METRE, 0},    /* LV03 */
    {27700, 27700, METRE, 0},    /* British National Grid */
    {28992, 28992, METRE, 0},    /* RD New */
    {31370, 31370, METRE, 0},    /* Belgian Lambert 72 */
    {31467, 31468, METRE, 0},    /* Gauss-Krüger zones 3 and 4 */
    {4978, 4978, METRE, METRE},  /* WGS 84, geocentric */
    {4979, 4979, DEGREE, METRE}, /* WGS 84 with heights */
    {4326, 4326, DEGREE, 0},     {4269, 4269, DEGREE, 0}, {4258, 4258, DEGREE, 0}, {4267, 4267, DEGREE, 0},
    {4283, 4283, DEGREE, 0},     {4171, 4171, DEGREE, 0}, {4167, 4167, DEGREE, 0}, {6318, 6318, DEGREE, 0},
    {6668, 6668, DEGREE, 0},     {7844, 7844, DEGREE, 0},
};

/* All systems of heights and depths of EPSG, in runs between which other systems have their codes.
   Source: EPSG Dataset v10.076, table of vertical systems */
static const struct {
    uint16_t first, last, unit;
} heights[] = {
    {3855, 3855, METRE}, {3886, 3886, METRE},   {3900, 3900, METRE},  {4440, 4440, METRE},   {4458, 4458, METRE},
    {5193, 5214, METRE}, {5237, 5237, METRE},   {5317, 5317, METRE},  {5336, 5336, METRE},   {5597, 5597, METRE},
    {5600, 5613, METRE}, {5614, 5614, FOOT},    {5615, 5621, METRE},  {5701, 5701, METRE},   {5702, 5702, US_FOOT},
    {5703, 5706, METRE}, {5709, 5753, METRE},   {5755, 5799, METRE},  {5829, 5829, METRE},   {5831, 5831, METRE},
    {5843, 5843, METRE}, {5861, 5874, METRE},   {5941, 5941, METRE},  {6130, 6132, FOOT},    {6178, 6187, METRE},
    {6357, 6357, METRE}, {6358, 6360, US_FOOT}, {6638, 6644, METRE},  {6647, 6647, METRE},   {6693, 6695, METRE},
    {6916, 6916, METRE}, {7446, 7447, METRE},   {7651, 7652, METRE},  {7699, 7707, METRE},   {7832, 7841, METRE},
    {7888, 7890, METRE}, {7962, 7979, METRE},   {8050, 8051, FOOT},   {8052, 8053, US_FOOT}, {8089, 8089, METRE},
    {8228, 8228, FOOT},  {8266, 8267, METRE},   {8357, 8358, METRE},  {8378, 8378, METRE},   {8434, 8434, METRE},
    {8675, 8675, METRE}, {8690, 8691, METRE},   {8841, 8841, METRE},  {8881, 8881, METRE},   {8897, 8897, FOOT},
    {8904, 8904, METRE}, {8911, 8911, METRE},   {9130, 9130, METRE},  {9245, 9245, METRE},   {9255, 9255, METRE},
    {9274, 9279, METRE}, {9287, 9288, METRE},   {9303, 9303, METRE},  {9335, 9351, METRE},   {9389, 9390, METRE},
    {9392, 9402, METRE}, {9451, 9451, METRE},   {9458, 9458, METRE},  {9471, 9471, METRE},   {9650, 9651, METRE},
    {9663, 9672, METRE}, {9675, 9675, METRE},   {9681, 9681, METRE},  {9721, 9722, METRE},   {9923, 9923, METRE},
    {9927, 9927, METRE}, {20000, 20000, METRE}, {20034, 20036, METRE}};

static const code_block *find_block(uint32_t code) {
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) {
        if (code >= blocks[i].first && code <= blocks[i].last) return &blocks[i];
    }
    return NULL;
}

/* The code of the unit; 0 where it is not known. */
static uint32_t unit_of_heights(uint32_t code) {
    for (size_t i = 0; i < sizeof heights / sizeof *heights; i++) {
        if (code >= heights[i].first && code <= heights[i].last) return heights[i].unit;
    }
    return 0;
}

void mote_crs_units_of_codes(uint32_t code, uint32_t vertical, mote_units *units) {
    const code_block *block = find_block(code);
    memset(units, 0, sizeof *units);
    if (block != NULL) {
        units->horizontal = unit_of_code(block->unit, UNIT_ANY);
        units->vertical = unit_of_code(block->height, UNIT_LENGTH);
    }
    if (vertical != 0) units->vertical = unit_of_code(unit_of_heights(vertical), UNIT_LENGTH);
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
