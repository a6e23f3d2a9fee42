/* GeoPackages: random geometries of every kind, byte order and dimension against the GeoJSON that they are; what is
   damaged, hostile or no table is refused. */
#include <mote_have.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/cloud_files.h"

#if MOTE_HAVE_JANSSON && MOTE_HAVE_SQLITE
#include <sqlite3.h>

#include "io/geojson/geopackage.h"

/* ---- geometries: a random one, as a blob and as GeoJSON */

typedef struct sample {
    uint8_t blob[1 << 16];
    size_t size;
    char json[1 << 17];
    size_t length;
    bool has_z, has_m, is_old; /* is_old: z by the highest bit of the type */
    bool is_little;
    uint64_t seed;
} sample;

static uint32_t below(sample *s, uint32_t count) {
    s->seed = s->seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(s->seed >> 33) % count;
}

static void put(sample *s, uint64_t value, unsigned size) {
    for (unsigned i = 0; i < size; i++) s->blob[s->size++] = (uint8_t)(value >> 8 * (s->is_little ? i : size - 1 - i));
}

static void put_double(sample *s, double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    put(s, bits, 8);
}

__attribute__((format(printf, 2, 3))) static void say(sample *s, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    s->length += (size_t)vsnprintf(s->json + s->length, sizeof s->json - s->length, format, arguments);
    va_end(arguments);
}

static void make_position(sample *s) {
    for (int k = 0; k < 2 + s->has_z; k++) {
        const double value = (double)below(s, 1000000) / 8 + 0.0625;
        put_double(s, value);
        say(s, "%s%.17g", k == 0 ? "[" : ",", value);
    }
    if (s->has_m) put_double(s, 7);
    say(s, "]");
}

static void make_positions(sample *s) {
    const uint32_t count = below(s, 5);
    put(s, count, 4);
    say(s, "[");
    for (uint32_t i = 0; i < count; i++) {
        if (i > 0) say(s, ",");
        make_position(s);
    }
    say(s, "]");
}

static void make_head(sample *s, uint32_t type) {
    s->is_little = below(s, 2) == 1;
    s->blob[s->size++] = s->is_little;
    const uint32_t dimensions = s->has_z && s->has_m ? 3000 : s->has_m ? 2000 : s->has_z && !s->is_old ? 1000 : 0;
    put(s, (type + dimensions) | (s->is_old && s->has_z && !s->has_m ? 0x80000000u : 0), 4);
}

/* Coordinates of a Point, LineString or Polygon. */
static void make_plain(sample *s, uint32_t type) {
    if (type == 1) {
        make_position(s);
    } else if (type == 2) {
        make_positions(s);
    } else {
        const uint32_t rings = below(s, 4);
        put(s, rings, 4);
        say(s, "[");
        for (uint32_t i = 0; i < rings; i++) {
            if (i > 0) say(s, ",");
            make_positions(s);
        }
        say(s, "]");
    }
}

static void make_geometry(sample *s, uint32_t type, int depth) {
    static const char *const names[] = {"",           "Point",           "LineString",   "Polygon",
                                        "MultiPoint", "MultiLineString", "MultiPolygon", "GeometryCollection"};
    make_head(s, type);
    say(s, "{\"type\":\"%s\",\"%s\":", names[type], type == 7 ? "geometries" : "coordinates");
    if (type <= 3) {
        make_plain(s, type);
    } else {
        const uint32_t parts = below(s, 4);
        put(s, parts, 4);
        say(s, "[");
        for (uint32_t i = 0; i < parts; i++) {
            if (i > 0) say(s, ",");
            if (type == 7) {
                make_geometry(s, 1 + below(s, depth < 3 ? 7 : 6), depth + 1);
            } else {
                make_head(s, type - 3);
                make_plain(s, type - 3);
            }
        }
        say(s, "]");
    }
    say(s, "}");
}

static void make_sample(sample *s, uint64_t seed) {
    static const unsigned doubles[] = {0, 4, 6, 6, 8};
    *s = (sample){.seed = seed * 7919 + 1};
    const unsigned envelope = below(s, 5), order = below(s, 2);
    s->has_z = below(s, 2) == 1;
    s->has_m = below(s, 2) == 1;
    s->is_old = below(s, 3) == 1;
    memcpy(s->blob, "GP\0", 3);
    s->blob[3] = (uint8_t)(order | envelope << 1);
    s->size = 8 + 8 * doubles[envelope];
    make_geometry(s, 1 + below(s, 7), 0);
}

static json_t *read_blob(const uint8_t *blob, size_t size, char *why) {
    uint64_t positions = 1000;
    uint8_t *exact = malloc(size > 0 ? size : 1); /* a sanitizer sees what is read behind it */
    assert_non_null(exact);
    if (size > 0) memcpy(exact, blob, size);
    json_t *geometry = geopackage_geometry(exact, size, &positions, why);
    free(exact);
    assert_true(geometry != NULL || why[0] != '\0');
    return geometry;
}

static void random_geometries_are_what_they_are(void **state) {
    (void)state;
    char why[GEOPACKAGE_WHY_BYTES];
    sample *s = malloc(sizeof *s);
    assert_non_null(s);
    for (uint64_t seed = 0; seed < test_extent(100, 3000); seed++) {
        make_sample(s, seed);
        json_t *expected = json_loads(s->json, 0, NULL), *read = read_blob(s->blob, s->size, why);
        if (read == NULL || !json_equal(expected, read))
            fail_msg("%llu: %s: %s", (unsigned long long)seed, why, s->json);
        json_decref(expected);
        json_decref(read);
        for (size_t size = 0; size < s->size; size += 1 + s->size / 64) {
            if (read_blob(s->blob, size, why) != NULL)
                fail_msg("%llu: %zu bytes of it are one, too", (unsigned long long)seed, size);
        }
        for (int i = 0; i < 32; i++) {
            const uint32_t at = below(s, (uint32_t)s->size);
            const uint8_t was = s->blob[at];
            s->blob[at] ^= (uint8_t)(1u << below(s, 8));
            json_decref(read_blob(s->blob, s->size, why));
            s->blob[at] = was;
        }
    }
    free(s);
}

static void wrong_geometries_are_told(void **state) {
    (void)state;
    static const struct {
        const char *hex, *why; /* NULL: it is null */
    } cases[] = {
        {"", "does not begin"},
        {"4750010000000000", "does not begin"},
        {"4750002100000000", "of an extension"},
        {"4750000B00000000", "envelope"},
        {"4750000100000000", "ends early"},
        {"4750001100000000", NULL},
        {"47500001000000000101000000000000000000F87F000000000000F87F", NULL},
        {"47500001000000000102000000FFFFFFFF", "ends early"},
        {"4750000100000000010200000001000000000000000000F87F000000000000F87F", "not a number"},
        {"475000010000000001010000000000000000000000000000000000F07F", "not finite"},
        {"47500001000000000108000000", "CONVERT_TO_LINEAR"},
        {"475000010000000002010000000000000000000000", "byte order"},
        {"475000010000000001010000000000000000000000000000000000000000", "1 bytes too many"},
        {"47500001000000000106000000010000000102000000000000000000", "a LineString in a MultiPolygon"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint8_t blob[64];
        char why[GEOPACKAGE_WHY_BYTES];
        const size_t size = strlen(cases[i].hex) / 2;
        for (size_t k = 0; k < size; k++) {
            const char byte[] = {cases[i].hex[2 * k], cases[i].hex[2 * k + 1], 0};
            blob[k] = (uint8_t)strtoul(byte, NULL, 16);
        }
        json_t *geometry = read_blob(blob, size, why);
        if (cases[i].why == NULL ? !json_is_null(geometry) : geometry != NULL || strstr(why, cases[i].why) == NULL)
            fail_msg("%s: %s", cases[i].hex, why);
        json_decref(geometry);
    }
}

/* ---- files */

static const char tables[] =
    "PRAGMA application_id = 1196444487;"
    "CREATE TABLE gpkg_spatial_ref_sys(srs_name TEXT NOT NULL, srs_id INTEGER PRIMARY KEY, organization TEXT NOT NULL,"
    " organization_coordsys_id INTEGER NOT NULL, definition TEXT NOT NULL, description TEXT);"
    "INSERT INTO gpkg_spatial_ref_sys VALUES ('UTM', 25832, 'EPSG', 25832, 'PROJCS[...]', NULL),"
    " ('here', 100, 'NONE', 100, 'LOCAL_CS[\"site\"]', NULL), ('?', -1, 'NONE', -1, 'undefined', NULL);"
    "CREATE TABLE gpkg_contents(table_name TEXT NOT NULL PRIMARY KEY, data_type TEXT NOT NULL, srs_id INTEGER);"
    "CREATE TABLE gpkg_geometry_columns(table_name TEXT NOT NULL, column_name TEXT NOT NULL, srs_id INTEGER NOT NULL);";
/* A layer of the square (0, 0) to (4, 4) and of a row without a geometry. */
static const char lots[] =
    "INSERT INTO gpkg_contents VALUES ('lots', 'features', 25832);"
    "INSERT INTO gpkg_geometry_columns VALUES ('lots', 'geom', 25832);"
    "CREATE TABLE lots(fid INTEGER PRIMARY KEY, geom BLOB, name TEXT, height REAL, more BLOB);"
    "INSERT INTO lots VALUES (1, x'47500001000000000103000000010000000500000000000000000000000000000000000000"
    "00000000000010400000000000000000000000000000104000000000000010400000000000000000000000000000104000000000"
    "000000000000000000000000', 'Gelände', 2.5, x'00'), (2, NULL, 'empty', NULL, NULL);";

/* Makes a file by statements; its path. */
static const char *make_file(const char *first, const char *second, const char *third) {
    static char path[1024];
    sqlite3 *db;
    char *why = NULL;
    snprintf(path, sizeof path, "%s", test_path("made.gpkg"));
    remove(path);
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    const char *const statements[] = {first, second, third};
    for (int i = 0; i < 3; i++) {
        if (sqlite3_exec(db, statements[i], NULL, NULL, &why) != SQLITE_OK) fail_msg("%s: %s", statements[i], why);
    }
    sqlite3_close(db);
    return path;
}

static void polygons_attributes_and_system_are_read(void **state) {
    (void)state;
    char message[TEST_MESSAGE_BYTES];
    mote_context *ctx = test_context_listening(message);
    mote_shapes *shapes = NULL;
    size_t size;
    const char *path = make_file(tables, lots, "");
    if (mote_shapes_read(ctx, path, &shapes) != MOTE_OK) fail_msg("%s", mote_context_message(ctx));
    assert_int_equal(mote_shapes_count(shapes), 1);
    assert_string_equal(mote_shapes_at(shapes, 0)->name, "Gelände");
    assert_int_equal(mote_shapes_at(shapes, 0)->part_starts[1], 4);
    assert_string_equal(mote_shapes_crs(shapes), "urn:ogc:def:crs:EPSG::25832");
    assert_non_null(strstr(message, "1 empty geometries"));
    mote_shapes_destroy(shapes);
    char *out = strdup(test_path("made.geojson"));
    assert_int_equal(mote_geopackage_to_geojson(ctx, path, out), MOTE_OK);
    char *text = test_load(out, &size);
    assert_string_equal(
        text,
        "{\"type\":\"FeatureCollection\",\"features\":[{\"type\":\"Feature\",\"properties\":{\"fid\":1,\"name\":"
        "\"Gelände\",\"height\":2.5},\"geometry\":{\"type\":\"Polygon\",\"coordinates\":[[[0.0,0.0],[4.0,0.0],"
        "[4.0,4.0],[0.0,4.0],[0.0,0.0]]]}},{\"type\":\"Feature\",\"properties\":{\"fid\":2,\"name\":\"empty\"},"
        "\"geometry\":null}],\"crs\":{\"type\":\"name\",\"properties\":{\"name\":\"urn:ogc:def:crs:EPSG::25832\"}}}");
    free(text);
    free(out);
    assert_int_equal(mote_geopackage_to_geojson(ctx, path, test_path("no/folder/x.geojson")), MOTE_ERROR_IO);
    mote_context_destroy(ctx);
}

static void systems_without_a_code_are_their_definition(void **state) {
    (void)state;
    static const struct {
        const char *change, *system;
    } cases[] = {{"UPDATE gpkg_geometry_columns SET srs_id = 100", "LOCAL_CS[\"site\"]"},
                 {"UPDATE gpkg_geometry_columns SET srs_id = -1", ""},
                 {"UPDATE gpkg_geometry_columns SET srs_id = 7", ""}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        mote_context *ctx = test_context(1);
        mote_shapes *shapes = NULL;
        assert_int_equal(mote_shapes_read(ctx, make_file(tables, lots, cases[i].change), &shapes), MOTE_OK);
        assert_string_equal(mote_shapes_crs(shapes), cases[i].system);
        mote_shapes_destroy(shapes);
        mote_context_destroy(ctx);
    }
}

static void what_is_hostile_is_refused(void **state) {
    (void)state;
    static const struct {
        const char *tables, *change, *message;
    } cases[] = {
        {"CREATE TABLE a(b)", "", "without the tables"},
        {tables, "", "no layer of features"},
        {"CREATE VIEW gpkg_contents AS SELECT 'lots' AS table_name, 'features' AS data_type; CREATE TABLE "
         "gpkg_geometry_columns(table_name, column_name, srs_id); CREATE TABLE gpkg_spatial_ref_sys(srs_id)",
         "", "without the tables"},
        {"CREATE TABLE gpkg_contents(a); CREATE TABLE gpkg_geometry_columns(a); CREATE TABLE gpkg_spatial_ref_sys(a)",
         "", "SQLite says: no such column"},
        {tables,
         "CREATE VIEW lots AS SELECT 1 AS geom; INSERT INTO gpkg_contents VALUES ('lots', 'features', 0); INSERT "
         "INTO gpkg_geometry_columns VALUES ('lots', 'geom', 0)",
         "\"lots\" is no table"},
        {tables,
         "CREATE VIEW a AS SELECT * FROM b; CREATE VIEW b AS SELECT * FROM a; INSERT INTO gpkg_contents VALUES "
         "('a', 'features', 0); INSERT INTO gpkg_geometry_columns VALUES ('a', 'geom', 0)",
         "\"a\" is no table"},
        {tables,
         "INSERT INTO gpkg_contents VALUES ('gone', 'features', 0); INSERT INTO gpkg_geometry_columns VALUES "
         "('gone', 'geom', 0)",
         "\"gone\" is no table"},
        {tables,
         "CREATE TABLE \"a\"\"; DROP TABLE x\"(geom); INSERT INTO gpkg_contents VALUES ('a\"; DROP TABLE x', "
         "'features', 0); INSERT INTO gpkg_geometry_columns VALUES ('a\"; DROP TABLE x', 'geo', 0)",
         "has no column \"geo\""},
        {tables,
         "CREATE TABLE a(x, geom GENERATED ALWAYS AS (zeroblob(x))); INSERT INTO a VALUES (900000000); INSERT INTO "
         "gpkg_contents VALUES ('a', 'features', 0); INSERT INTO gpkg_geometry_columns VALUES ('a', 'geom', 0)",
         "SQLite says"},
        {tables,
         "CREATE TABLE a(geom); INSERT INTO a VALUES ('POINT (1 2)'); INSERT INTO gpkg_contents VALUES "
         "('a', 'features', 0); INSERT INTO gpkg_geometry_columns VALUES ('a', 'geom', 0)",
         "layer \"a\", feature 1: its geometry is no blob"},
        {tables,
         "CREATE TABLE a(geom); INSERT INTO a VALUES (x'4750'); INSERT INTO gpkg_contents VALUES ('a', 'features', 0); "
         "INSERT INTO gpkg_geometry_columns VALUES ('a', 'geom', 0)",
         "feature 1: its geometry does not begin"},
        {tables,
         "CREATE TABLE a(geom); CREATE TABLE b(geom); INSERT INTO gpkg_contents VALUES ('a', 'features', 0), ('b', "
         "'features', 0); INSERT INTO gpkg_geometry_columns VALUES ('a', 'geom', 100), ('b', 'geom', 25832)",
         "different reference systems"},
        {tables,
         "PRAGMA writable_schema = ON; CREATE TABLE a(geom); INSERT INTO gpkg_contents VALUES ('a', 'features', 0); "
         "INSERT INTO gpkg_geometry_columns VALUES ('a', 'geom', 0); UPDATE sqlite_master SET sql = 'CREATE TABLE a(' "
         "WHERE "
         "name = 'a'",
         "SQLite says"},
        {tables,
         "PRAGMA writable_schema = ON; CREATE TABLE a(geom); INSERT INTO gpkg_contents VALUES ('a', 'features', 0); "
         "INSERT INTO gpkg_geometry_columns VALUES ('a', 'geom', 0); UPDATE sqlite_master SET rootpage = 9999 WHERE "
         "name = 'a'",
         "SQLite says"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        mote_context *ctx = test_context(1);
        mote_shapes *shapes = NULL;
        const mote_status status = mote_shapes_read(ctx, make_file(cases[i].tables, cases[i].change, ""), &shapes);
        assert_null(shapes);
        if (status != MOTE_ERROR_DATA || strstr(mote_context_message(ctx), cases[i].message) == NULL ||
            strstr(mote_context_message(ctx), "made.gpkg: ") == NULL)
            fail_msg("%zu: %d, %s", i, (int)status, mote_context_message(ctx));
        mote_context_destroy(ctx);
    }
}

/* QGIS leaves such files while it has them open. */
static void files_with_a_log_beside_are_read(void **state) {
    (void)state;
    char message[TEST_MESSAGE_BYTES];
    mote_context *ctx = test_context_listening(message);
    mote_shapes *shapes = NULL;
    const char *path = make_file("PRAGMA journal_mode = WAL", tables, lots);
    assert_int_equal(mote_shapes_read(ctx, path, &shapes), MOTE_OK);
    mote_shapes_destroy(shapes);
    sqlite3 *other;
    assert_int_equal(sqlite3_open(path, &other), SQLITE_OK);
    assert_int_equal(sqlite3_exec(other, "UPDATE lots SET name = 'changed'", NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(mote_geopackage_to_geojson(ctx, path, test_path("made.geojson")), MOTE_OK);
    sqlite3_close(other);
    assert_non_null(strstr(message, "made.gpkg-wal are not read"));
    mote_context_destroy(ctx);
}

static void texts_that_are_not_utf8_are_left_out(void **state) {
    (void)state;
    char message[TEST_MESSAGE_BYTES];
    size_t size;
    mote_context *ctx = test_context_listening(message);
    const char *path = make_file(tables, lots, "UPDATE lots SET name = CAST(x'FFFE41' AS TEXT)");
    char *out = strdup(test_path("made.geojson"));
    assert_int_equal(mote_geopackage_to_geojson(ctx, path, out), MOTE_OK);
    assert_non_null(strstr(message, "2 texts are left out"));
    char *text = test_load(out, &size);
    assert_null(strstr(text, "\"name\":\""
                             "\xFF"));
    free(text);
    free(out);
    mote_context_destroy(ctx);
}

static mote_status read_it(mote_context *ctx, void *user) {
    mote_shapes *shapes = NULL;
    const mote_status status = mote_shapes_read(ctx, user, &shapes);
    mote_shapes_destroy(shapes);
    return status;
}

static void damaged_files_end_in_a_message(void **state) {
    (void)state;
    size_t size;
    uint64_t seed = 5;
    char *path = strdup(test_path("damaged.gpkg"));
    char *bytes = test_load(make_file(tables, lots, ""), &size);
    for (uint64_t i = 0; i < test_extent(60, 1500); i++) {
        mote_context *ctx = test_context(1);
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        const size_t at = (size_t)((seed >> 20) % size), length = i % 3 == 0 ? at : size;
        const char was = bytes[at];
        if (i % 3 != 0) bytes[at] = (char)(seed >> 50);
        test_write_file(path, bytes, length);
        const mote_status status = read_it(ctx, path);
        if (status != MOTE_OK && status != MOTE_ERROR_DATA && status != MOTE_ERROR_MEMORY)
            fail_msg("%llu: %d", (unsigned long long)i, (int)status);
        if (status != MOTE_OK) assert_non_null(strstr(mote_context_message(ctx), "damaged.gpkg"));
        bytes[at] = was;
        mote_context_destroy(ctx);
    }
    free(bytes);
    free(path);
}

static void allocations_fail_cleanly(void **state) {
    (void)state;
    char path[1024];
    snprintf(path, sizeof path, "%s", make_file("PRAGMA journal_mode = WAL", tables, lots));
    test_each_allocation_fails(read_it, path);
}

static void reading_can_be_cancelled(void **state) {
    (void)state;
    char path[1024];
    snprintf(path, sizeof path, "%s",
             make_file(tables, lots,
                       "WITH RECURSIVE n(i) AS (SELECT 3 UNION ALL SELECT i + 1 FROM n WHERE i < 40000) INSERT INTO "
                       "lots SELECT i, (SELECT geom FROM lots WHERE fid = 1), 'x', i, NULL FROM n"));
    test_each_step_cancels(read_it, path);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_geometries_are_what_they_are),
        cmocka_unit_test(wrong_geometries_are_told),
        cmocka_unit_test(polygons_attributes_and_system_are_read),
        cmocka_unit_test(systems_without_a_code_are_their_definition),
        cmocka_unit_test(what_is_hostile_is_refused),
        cmocka_unit_test(files_with_a_log_beside_are_read),
        cmocka_unit_test(texts_that_are_not_utf8_are_left_out),
        cmocka_unit_test(damaged_files_end_in_a_message),
        cmocka_unit_test(allocations_fail_cleanly),
        cmocka_unit_test(reading_can_be_cancelled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

int main(void) { return 0; }

#endif
