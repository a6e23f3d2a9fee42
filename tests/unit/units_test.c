/* Units of reference systems: families of generated texts, every kind of system with every unit in every nesting; keys
   of GeoTIFF; codes; what is wrong or not known. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/cloud.h"
#include "io/crs/crs_units.h"
#include "io/crs/unit_table.h"
#include "io/crs/wkt.h"
#include "io/las/las_format.h"

#define TEXT_BYTES 16384 /* holds several systems of a quarter each */

/* name: as expected; wkt: as files write it */
typedef struct named_unit {
    const char *name, *wkt, *factor;
} named_unit;

static const named_unit lengths[] = {
    {"metre", "metre", "1"},
    {"metre", "Meter", "1.0"},
    {"metre", "unnamed", "1"},
    {"foot", "Foot", "0.3048"},
    {"foot", "foot", "0.3048000000"},
    {"US survey foot", "US survey foot", "0.304800609601219"},
    {"US survey foot", "Foot_US", "0.30480060960121924"},
    {"US survey foot", "foot", "0.3048006096"},
    {"US survey foot", "U.S. Foot", "0.3048"},
    {"US survey foot", "us-ft", "0.304801"},
    {"US survey foot", "unnamed", "0.304801"}, /* not that of 1936, which is nearer */
    {"foot", "anything", "0.3048"},
    {"kilometre", "kilometre", "1E3"},
    {"yard", "Yard", "0.9144"},
    {"Clarke's foot", "Clarke's foot", "0.3047972654"},
    {"German legal metre", "German legal metre", "1.0000135965"},
    {"smoot \"large\"", "smoot \"\"large\"\"", "1.7018"},
};
#define LENGTHS (sizeof lengths / sizeof *lengths)

static const named_unit angles[] = {
    {"degree", "degree", "0.0174532925199433"},
    {"degree", "Degree", "0.017453292519943295"},
    {"degree", "degree", "0.01745"},
    {"degree", "DMS", "0.0174532925199432"},
    {"grad", "grad", "0.01570796326794897"},
    {"grad", "gon", "0.0157079632679"},
    {"radian", "radian", "1"},
};
#define ANGLES (sizeof angles / sizeof *angles)

static void expect_units(const char *text, const char *horizontal, const char *vertical) {
    mote_units units;
    size_t wrong_at;
    mote_crs_units_of_wkt(text, &units, &wrong_at);
    if (strcmp(units.horizontal.name, horizontal) != 0 || strcmp(units.vertical.name, vertical) != 0) {
        print_error("\"%s\", \"%s\", not \"%s\", \"%s\" (wrong at %zu): %s\n", units.horizontal.name,
                    units.vertical.name, horizontal, vertical, wrong_at, text);
    }
    assert_string_equal(units.horizontal.name, horizontal);
    assert_string_equal(units.vertical.name, vertical);
}

/* ---- what a system is put into, none of which changes its units */

static const char *const nestings[] = {
    "%s",
    " \n%s\n ",
    "BOUNDCRS[SOURCECRS[%s],TARGETCRS[GEOGCRS[\"w\",CS[ellipsoidal,2],AXIS[\"a\",north],AXIS[\"o\",east],"
    "ANGLEUNIT[\"radian\",1]]],ABRIDGEDTRANSFORMATION[\"t\",METHOD[\"m\"],PARAMETER[\"p\",1,LENGTHUNIT[\"yard\",0.9144]"
    "]]]",
    "COORDINATEMETADATA[%s,EPOCH[2020]]",
    "FITTED_CS[\"f\",PARAM_MT[\"Affine\",PARAMETER[\"num_row\",3]],%s]",
    "COMPD_CS[\"PROJCS[\"\"UNIT[1]\"\"]\",%s]",
    "COMPOUNDCRS[\"c\",%s,TIMECRS[\"t\",TDATUM[\"d\"],CS[temporal,1],AXIS[\"t\",future],TIMEUNIT[\"day\",86400]]]",
};
#define NESTINGS (sizeof nestings / sizeof *nestings)

static void round_brackets(char *text) {
    bool quoted = false;
    for (; *text != '\0'; text++) {
        if (*text == '"') quoted = !quoted;
        if (!quoted && *text == '[') *text = '(';
        if (!quoted && *text == ']') *text = ')';
    }
}

static void expect_nested(const char *crs, const char *horizontal, const char *vertical) {
    char text[TEXT_BYTES], place[TEXT_BYTES / 4];
    for (size_t n = 0; n < NESTINGS; n++) {
        const char *hole = strstr(nestings[n], "%s");
        snprintf(place, sizeof place, "%.*s", (int)(hole - nestings[n]), nestings[n]);
        snprintf(text, sizeof text, "%s%s%s", place, crs, hole + 2);
        expect_units(text, horizontal, vertical);
        round_brackets(text);
        expect_units(text, horizontal, vertical);
    }
}

/* ---- systems; the first %s of each is a unit, written as the place asks for */

#define BASE                                                                                                           \
    "DATUM[\"d\",SPHEROID[\"s\",6378137,298.257,LENGTHUNIT[\"fathom\",1.8288]]],PRIMEM[\"Greenwich\",0,ANGLEUNIT"      \
    "[\"grad\",0.01570796326794897]]"
#define BASE_DEGREE "\"b\"," BASE ",UNIT[\"degree\",0.0174532925199433]"
#define CONVERSION  "CONVERSION[\"c\",METHOD[\"m\"],PARAMETER[\"x\",0,LENGTHUNIT[\"chain\",20.1168]]]"

typedef struct system_row {
    const char *begin, *unit, *end; /* begin, unit with name and factor, end; the unit again where end has an @ */
    bool has_height;                /* the same unit up */
} system_row;

static const system_row projected[] = {
    {"PROJCS[\"p\",GEOGCS[" BASE_DEGREE "],PROJECTION[\"m\"],", "UNIT", ",AUTHORITY[\"EPSG\",\"1\"]]", false},
    {"PROJCS[\"p\",GEOGCS[" BASE_DEGREE "],PROJECTION[\"m\"],", "UNIT", ",AXIS[\"E\",EAST],AXIS[\"N\",NORTH]]", false},
    {"PROJCS[\"p\",GEOGCS[" BASE_DEGREE "],", "UNIT", ",AXIS[\"E\",EAST],AXIS[\"N\",NORTH],AXIS[\"U\",UP]]", true},
    {"projcrs[\"p\",BASEGEOGCRS[" BASE_DEGREE "]," CONVERSION ",CS[Cartesian,2],AXIS[\"e\",east],AXIS[\"n\",north],",
     "LENGTHUNIT", "]", false},
    {"PROJCRS[\"p\",BASEGEOGCRS[" BASE_DEGREE "]," CONVERSION ",CS[Cartesian,2],AXIS[\"e\",east,ORDER[1],",
     "LENGTHUNIT", "],AXIS[\"n\",north,@]]", false},
    {"PROJCRS[\"p\",BASEGEODCRS[" BASE_DEGREE "]," CONVERSION ",CS[Cartesian,3],AXIS[\"e\",east],AXIS[\"n\",north],"
     "AXIS[\"h\",up],",
     "UNIT", "]", true},
    {"DERIVEDPROJCRS[\"x\",BASEPROJCRS[\"p\",BASEGEOGCRS[" BASE_DEGREE "]," CONVERSION
     ",LENGTHUNIT[\"mile\",1609.344]],"
     "DERIVINGCONVERSION[\"d\",METHOD[\"m\"]],CS[Cartesian,2],AXIS[\"e\",east],AXIS[\"n\",north],",
     "LENGTHUNIT", "]", false},
    {"LOCAL_CS[\"site\",LOCAL_DATUM[\"d\",0],", "UNIT", ",AXIS[\"x\",EAST],AXIS[\"y\",NORTH]]", false},
    {"ENGCRS[\"site\",EDATUM[\"d\"],CS[Cartesian,3],AXIS[\"x\",east],AXIS[\"y\",north],AXIS[\"z\",up],", "LENGTHUNIT",
     "]", true},
    {"GEOCCS[\"g\"," BASE ",", "UNIT", ",AXIS[\"X\",OTHER],AXIS[\"Y\",OTHER],AXIS[\"Z\",NORTH]]", true},
    {"GEOCCS[\"g\"," BASE ",", "UNIT", "]", true},
    {"GEODCRS[\"g\"," BASE ",CS[Cartesian,3],AXIS[\"X\",geocentricX],AXIS[\"Y\",geocentricY],AXIS[\"Z\",geocentricZ],",
     "LENGTHUNIT", "]", true},
};

static const system_row geographic[] = {
    {"GEOGCS[\"g\"," BASE ",", "UNIT", ",AUTHORITY[\"EPSG\",\"4326\"]]", false},
    {"GEOGCS[\"g\"," BASE ",", "UNIT", ",AXIS[\"Lat\",NORTH],AXIS[\"Lon\",EAST]]", false},
    {"GEOGCRS[\"g\"," BASE ",CS[ellipsoidal,2],AXIS[\"a\",north],AXIS[\"o\",east],", "ANGLEUNIT", "]", false},
    {"GEODCRS[\"g\"," BASE ",CS[ellipsoidal,2],AXIS[\"a\",north,", "ANGLEUNIT", "],AXIS[\"o\",east,@]]", false},
};

static const system_row upright[] = {
    {"VERT_CS[\"v\",VERT_DATUM[\"d\",2005],", "UNIT", ",AXIS[\"Up\",UP]]", true},
    {"VERTCS[\"v\",VDATUM[\"d\"],PARAMETER[\"Vertical_Shift\",0.0],PARAMETER[\"Direction\",1.0],", "UNIT", "]", true},
    {"VERTCRS[\"v\",VDATUM[\"d\"],CS[vertical,1],AXIS[\"H\",up,", "LENGTHUNIT", "]]", true},
    {"VERTCRS[\"v\",VDATUM[\"d\"],CS[vertical,1],AXIS[\"D\",down],", "LENGTHUNIT", "]", true},
    {"BOUNDCRS[SOURCECRS[VERTCRS[\"v\",VDATUM[\"d\"],CS[vertical,1],AXIS[\"H\",up],", "UNIT",
     "]],TARGETCRS[GEOGCRS[\"w\"]]]", true},
};
#define ROWS(table) (sizeof(table) / sizeof *(table))

static void write_system(const system_row *row, const named_unit *unit, char text[TEXT_BYTES / 4]) {
    char stated[200];
    snprintf(stated, sizeof stated, "%s[\"%s\",%s]", row->unit, unit->wkt, unit->factor);
    const char *again = strchr(row->end, '@');
    if (again == NULL) {
        snprintf(text, TEXT_BYTES / 4, "%s%s%s", row->begin, stated, row->end);
    } else {
        snprintf(text, TEXT_BYTES / 4, "%s%s%.*s%s%s", row->begin, stated, (int)(again - row->end), row->end, stated,
                 again + 1);
    }
}

static void test_every_kind_unit_and_nesting(void **state) {
    (void)state;
    char text[TEXT_BYTES / 4];
    for (size_t u = 0; u < LENGTHS; u++) {
        for (size_t i = 0; i < ROWS(projected); i++) {
            write_system(&projected[i], &lengths[u], text);
            expect_nested(text, lengths[u].name, projected[i].has_height ? lengths[u].name : "");
        }
        for (size_t i = 0; i < ROWS(upright); i++) {
            write_system(&upright[i], &lengths[u], text);
            expect_nested(text, "", lengths[u].name);
        }
    }
    for (size_t u = 0; u < ANGLES; u++) {
        for (size_t i = 0; i < ROWS(geographic); i++) {
            write_system(&geographic[i], &angles[u], text);
            expect_nested(text, angles[u].name, "");
        }
    }
}

/* A compound system, ESRI's list, and a height within a projected system: each part with each unit. */
static void test_horizontal_and_vertical_apart(void **state) {
    (void)state;
    static const char *const forms[][3] = {
        {"COMPD_CS[\"c\",", ",", "]"}, {"COMPOUNDCRS[\"c\",", ",", ",ID[\"EPSG\",1]]"}, {"", ",", ""}};
    char across[TEXT_BYTES / 4], up[TEXT_BYTES / 4], text[TEXT_BYTES];
    for (size_t a = 0; a < LENGTHS; a++) {
        for (size_t b = 0; b < LENGTHS; b++) {
            for (size_t i = 0; i < ROWS(projected) * ROWS(upright); i++) {
                const char *const *form = forms[(a + b + i) % ROWS(forms)];
                write_system(&projected[i % ROWS(projected)], &lengths[a], across);
                write_system(&upright[i / ROWS(projected)], &lengths[b], up);
                snprintf(text, sizeof text, "%s%s%s%s%s", form[0], across, form[1], up, form[2]);
                expect_units(text, lengths[a].name, lengths[b].name);
                snprintf(text, sizeof text, "COMPD_CS[\"c\",%s,%s]", up, across);
                if (!projected[i % ROWS(projected)].has_height) expect_units(text, lengths[a].name, lengths[b].name);
            }
        }
    }
    write_system(&geographic[2], &angles[0], across);
    write_system(&upright[0], &lengths[5], up);
    snprintf(text, sizeof text, "COMPOUNDCRS[\"c\",%s,%s]", across, up);
    expect_units(text, "degree", "US survey foot");
    expect_units(
        "GEOGCRS[\"g\",CS[ellipsoidal,3],AXIS[\"a\",north,ANGLEUNIT[\"degree\",0.0174532925199433]],AXIS[\"o\",east,"
        "ANGLEUNIT[\"degree\",0.0174532925199433]],AXIS[\"h\",up,LENGTHUNIT[\"metre\",1]]]",
        "degree", "metre");
    /* A third axis is one of heights, whatever its direction; a degree is no height. */
    expect_units("LOCAL_CS[\"l\",UNIT[\"metre\",1],AXIS[\"x\",OTHER],AXIS[\"y\",OTHER],AXIS[\"z\",OTHER]]", "metre",
                 "metre");
    expect_units("GEOGCS[\"g\",UNIT[\"degree\",0.0174532925199433],AXIS[\"a\",NORTH],AXIS[\"o\",EAST],AXIS[\"h\",UP]]",
                 "degree", "");
    expect_units("GEOGCS[\"g\",UNIT[\"Degree\",0.0174532925199433],LINUNIT[\"Meter\",1.0]]", "degree", "metre");
    expect_units("PROJCS[\"p\",UNIT[\"Foot_US\",0.3048006096012192],VERTCS[\"v\",UNIT[\"metre\",1]]]", "US survey foot",
                 "metre");
}

static void test_what_is_not_known(void **state) {
    (void)state;
    static const char *const none[] = {
        "PROJCS[\"p\",GEOGCS[" BASE_DEGREE "]]", /* no unit of its own */
        "PROJCS[\"p\",UNIT[\"metre\",0.3048]]",  /* name and factor contradict each other */
        "PROJCS[\"p\",UNIT[\"US survey foot\",1.0]]",
        "PROJCS[\"p\",UNIT[\"metre\",0]]",
        "PROJCS[\"p\",UNIT[\"metre\",-1]]",
        "PROJCS[\"p\",UNIT[\"metre\",nan]]",
        "PROJCS[\"p\",UNIT[\"metre\",1x]]",
        "PROJCS[\"p\",UNIT[metre,1]]",
        "PROJCS[\"p\",UNIT[]]",
        "PROJCS[\"p\",SCALEUNIT[\"unity\",1]]",
        "PROJCRS[\"p\",CS[Cartesian,2],AXIS[\"e\",UNIT[\"metre\",1]],AXIS[\"n\",UNIT[\"foot\",0.3048]]]",
        "PROJCS[\"UNIT[\"\"metre\"\",1]\"]", /* in a text */
        "TIMECRS[\"t\",UNIT[\"metre\",1]]",
    };
    static const char *const wrong[] = {
        "",
        "metre",
        "\"PROJCS\"",
        "PROJCS",
        "PROJCS[",
        "PROJCS[\"p\"",
        "PROJCS[\"p]",
        "PROJCS[\"p\")",
        "PROJCS[\"p\"]]",
        "PROJCS[\"p\",UNIT[\"metre\",1]",
        "PROJCS[\"p\" UNIT[\"metre\",1]]",
        "PROJCS[\"p\",,UNIT[\"metre\",1]]",
        "PROJCS[\"p\",UNIT[\"metre\",1]] x",
        "[\"metre\",1]",
        "PROJCS[\"p\"[1],UNIT[\"metre\",1]]",
        "A,B[1]",
        "A[1],",
    };
    for (size_t i = 0; i < ROWS(none); i++) expect_units(none[i], "", "");
    for (size_t i = 0; i < ROWS(wrong); i++) {
        size_t at = 99;
        assert_false(wkt_is_valid(wrong[i], strlen(wrong[i]), &at));
        assert_true(at <= strlen(wrong[i]));
        expect_units(wrong[i], "", "");
    }
}

static void test_depth_is_bounded(void **state) {
    (void)state;
    char text[TEXT_BYTES];
    for (unsigned depth = WKT_DEPTH_MAX - 1; depth <= WKT_DEPTH_MAX + 1; depth++) {
        size_t length = 0, at;
        for (unsigned i = 0; i < depth; i++)
            length += (size_t)snprintf(text + length, sizeof text - length, "COMPD_CS[");
        for (unsigned i = 0; i < depth; i++) length += (size_t)snprintf(text + length, sizeof text - length, "]");
        (void)at;
        /* An empty pair of brackets has no value in it. */
        assert_false(wkt_is_valid(text, length, &at));
        length = 0;
        for (unsigned i = 0; i < depth; i++) length += (size_t)snprintf(text + length, sizeof text - length, "A[1,");
        length += (size_t)snprintf(text + length, sizeof text - length, "1");
        for (unsigned i = 0; i < depth; i++) length += (size_t)snprintf(text + length, sizeof text - length, "]");
        assert_int_equal(wkt_is_valid(text, length, &at), depth <= WKT_DEPTH_MAX);
    }
}

/* ---- keys of GeoTIFF, codes, columns: of a cloud */

typedef struct geo_key {
    uint16_t key, place, value;
} geo_key;

static mote_cloud *cloud_of_keys(mote_context *ctx, const geo_key *keys, size_t count, const double *doubles,
                                 size_t double_count) {
    uint8_t data[256] = {0};
    mote_cloud *cloud;
    mote_record record = {.record_id = LAS_ID_GEO_KEYS, .size_bytes = 8 * (count + 1), .data = data};
    memcpy(record.user_id, LAS_USER_PROJECTION, sizeof LAS_USER_PROJECTION);
    for (size_t i = 0; i < count; i++) {
        const uint16_t entry[4] = {keys[i].key, keys[i].place, 1, keys[i].value};
        memcpy(data + 8 * (i + 1), entry, sizeof entry);
    }
    assert_int_equal(mote_cloud_new(ctx, 0, &cloud), MOTE_OK);
    assert_int_equal(mote_cloud_add_record(cloud, &record), MOTE_OK);
    record.record_id = LAS_ID_GEO_DOUBLES;
    record.data = doubles;
    record.size_bytes = 8 * double_count;
    if (double_count > 0) assert_int_equal(mote_cloud_add_record(cloud, &record), MOTE_OK);
    char *crs;
    assert_int_equal(mote_las_crs(ctx, cloud->records, cloud->record_count, &crs), MOTE_OK);
    assert_int_equal(mote_cloud_set_crs(cloud, crs), MOTE_OK);
    mote_free(ctx, crs);
    return cloud;
}

static void expect_cloud(const mote_cloud *cloud, const char *horizontal, const char *vertical) {
    mote_units units;
    mote_cloud_units(cloud, &units);
    assert_string_equal(units.horizontal.name, horizontal);
    assert_string_equal(units.vertical.name, vertical);
}

#define KEYS_MAX 5

static void test_geo_keys(void **state) {
    mote_context *ctx = *state;
    static const double doubles[] = {7, 0.3048, 1200.0 / 3937, 0.017453292519943295, 0.7};
    static const struct {
        geo_key keys[KEYS_MAX];
        const char *horizontal, *vertical;
    } rows[] = {
        {{{1024, 0, 1}, {3072, 0, 32767}, {3076, 0, 9001}}, "metre", ""},
        {{{1024, 0, 1}, {3072, 0, 32767}, {3076, 0, 9002}, {4099, 0, 9001}}, "foot", "metre"},
        {{{1024, 0, 1}, {3072, 0, 2903}, {3076, 0, 9003}, {4099, 0, 9003}}, "US survey foot", "US survey foot"},
        {{{1024, 0, 1}, {3072, 0, 26995}, {3076, 0, 9003}}, "US survey foot", ""}, /* a code of metres, in feet */
        {{{1024, 0, 1}, {3072, 0, 32632}, {3076, 0, 9003}}, "US survey foot", ""},
        {{{1024, 0, 1}, {3072, 0, 32632}}, "metre", ""},
        {{{3072, 0, 32632}, {4096, 0, 6360}}, "metre", "US survey foot"},
        {{{1024, 0, 1}, {3072, 0, 32767}, {3076, 0, 32767}, {3077, 34736, 1}}, "foot", ""},
        {{{1024, 0, 1}, {3072, 0, 32767}, {3076, 0, 32767}, {3077, 34736, 2}}, "US survey foot", ""},
        {{{1024, 0, 1}, {3072, 0, 32767}, {3076, 0, 32767}, {3077, 34736, 4}}, "0.7 metre", ""},
        {{{1024, 0, 1}, {3072, 0, 32767}, {3076, 0, 32767}, {3077, 34736, 5}}, "", ""}, /* behind the last one */
        {{{1024, 0, 1}, {3072, 0, 32767}, {3076, 0, 32767}}, "", ""},
        {{{1024, 0, 1}, {3072, 0, 32767}, {2054, 0, 9102}}, "", ""}, /* the degree is the base's */
        {{{1024, 0, 1}, {3076, 0, 32632}, {4099, 0, 9001}}, "", "metre"},
        {{{1024, 0, 1}, {3076, 0, 9102}}, "", ""}, /* an angle */
        {{{1024, 0, 2}, {2048, 0, 4326}}, "degree", ""},
        {{{1024, 0, 2}, {2048, 0, 32767}, {2054, 0, 9102}, {4099, 0, 9002}}, "degree", "foot"},
        {{{1024, 0, 2}, {2048, 0, 4326}, {3076, 0, 9001}, {2054, 0, 9105}}, "grad", ""},
        {{{1024, 0, 2}, {2048, 0, 32767}, {2054, 0, 32767}, {2055, 34736, 3}}, "degree", ""},
        {{{1024, 0, 3}, {2048, 0, 4978}}, "metre", "metre"},
        {{{1024, 0, 3}, {2048, 0, 4326}}, "", ""},
        {{{1024, 0, 3}, {2048, 0, 4326}, {2052, 0, 9002}}, "foot", "foot"},
        {{{4099, 0, 9001}}, "", "metre"},
        {{{1024, 0, 1}}, "", ""},
    };
    for (size_t i = 0; i < ROWS(rows); i++) {
        size_t count = 0;
        while (count < KEYS_MAX && rows[i].keys[count].key != 0) count++;
        mote_cloud *cloud = cloud_of_keys(ctx, rows[i].keys, count, doubles, ROWS(doubles));
        expect_cloud(cloud, rows[i].horizontal, rows[i].vertical);
        /* Keys are not those of a system that the cloud was given later. */
        assert_int_equal(mote_cloud_set_crs(cloud, "EPSG:32733"), MOTE_OK);
        expect_cloud(cloud, "metre", "");
        mote_cloud_destroy(cloud);
    }
}

static void test_codes_and_proj(void **state) {
    mote_context *ctx = *state;
    static const char *const rows[][3] = {
        {"", "", ""},
        {"EPSG:32632", "metre", ""},
        {"epsg:32632+5703", "metre", "metre"},
        {"EPSG:2903+6360", "US survey foot", "US survey foot"},
        {"EPSG:25832+7837", "metre", "metre"},
        {"EPSG:25832+8228", "metre", "foot"},
        {"EPSG:25832+8052", "metre", "US survey foot"},
        {"EPSG:25832+5754", "metre", "British foot (1936)"},
        {"EPSG:2263", "US survey foot", ""},
        {"EPSG:2263+5703", "US survey foot", "metre"},
        {"EPSG:2222", "foot", ""},
        {"EPSG:2263+", "US survey foot", ""},
        {"EPSG:8360", "degree", "metre"}, /* compound */
        {"EPSG:4807", "grad", ""},
        {"EPSG:2155", "US survey foot", ""},
        {"EPSG:3167", "British chain (Sears 1922 truncated)", ""},
        {"EPSG:5703", "", "metre"},
        {"EPSG:25832+4326", "metre", ""}, /* no system of heights */
        {"EPSG:2994", "foot", ""},
        {"EPSG:4326", "degree", ""},
        {"EPSG:4326+1", "degree", ""},
        {"urn:ogc:def:crs:EPSG::2154", "metre", ""},
        {"urn:ogc:def:crs:EPSG:9.9:4326", "degree", ""},
        {"EPSG:32661", "metre", ""},
        {"EPSG:32763", "", ""}, /* no system */
        {"EPSG:32632x", "", ""},
        {"EPSG:", "", ""},
        {"EPSG:99999999999999999999", "", ""},
        {"our own grid", "", ""},
        {"+proj=utm +zone=10", "metre", ""},
        {"+proj=utm +zone=10 +units=us-ft +vunits=m", "US survey foot", "metre"},
        {"+proj=lcc +to_meter=0.3048 +vto_meter=1", "foot", "metre"},
        {"+proj=lcc +units=parsec", "", ""},
        {"+proj=lcc +to_meter=0.5 +vto_meter=.03048", "0.5 metre", "0.03048 metre"}, /* sizes without a name */
        {"+proj=longlat +vunits=ft", "degree", "foot"},
        {"+proj=geocent +units=m", "metre", "metre"},
        {"+units=m", "", ""},
    };
    mote_cloud *cloud;
    assert_int_equal(mote_cloud_new(ctx, 0, &cloud), MOTE_OK);
    for (size_t i = 0; i < ROWS(rows); i++) {
        assert_int_equal(mote_cloud_set_crs(cloud, rows[i][0]), MOTE_OK);
        expect_cloud(cloud, rows[i][1], rows[i][2]);
    }
    mote_cloud_destroy(cloud);
}

static void test_columns_come_first(void **state) {
    mote_context *ctx = *state;
    static const double values[1] = {0};
    mote_cloud *cloud;
    assert_int_equal(mote_cloud_new(ctx, 1, &cloud), MOTE_OK);
    mote_column column = {.name = "x", .unit = "ft", .data = values, .type = MOTE_FLOAT64};
    assert_int_equal(mote_cloud_add_view(cloud, &column), MOTE_OK);
    column.name = "z";
    column.unit = "cubit";
    assert_int_equal(mote_cloud_add_view(cloud, &column), MOTE_OK);
    assert_int_equal(mote_cloud_set_crs(cloud, "EPSG:32632+5703"), MOTE_OK);
    expect_cloud(cloud, "foot", "cubit");
    mote_cloud_destroy(cloud);
}

static int open_context(void **state) {
    mote_context *ctx;
    if (mote_context_create(NULL, &ctx) != MOTE_OK) return -1;
    *state = ctx;
    return 0;
}

static int close_context(void **state) {
    mote_context_destroy(*state);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_kind_unit_and_nesting),
        cmocka_unit_test(test_horizontal_and_vertical_apart),
        cmocka_unit_test(test_what_is_not_known),
        cmocka_unit_test(test_depth_is_bounded),
        cmocka_unit_test(test_geo_keys),
        cmocka_unit_test(test_codes_and_proj),
        cmocka_unit_test(test_columns_come_first),
    };
    return cmocka_run_group_tests(tests, open_context, close_context);
}
