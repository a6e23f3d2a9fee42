/* Polygons and lines of GeoJSON: every geometry in every wrapping, what is wrong with a file told with its place, and
   which places a polygon holds, against a reference that counts crossings in exact arithmetic. */
#include <math.h>
#include <mote_have.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shapes/region.h"
#include "support/cloud_files.h"

#if MOTE_HAVE_JANSSON

static const char *write_text(const char *text) {
    const char *path = test_path("shapes.geojson");
    test_write_file(path, text, strlen(text));
    return path;
}

static mote_shapes *read_text(mote_context *ctx, const char *text) {
    mote_shapes *shapes = NULL;
    if (mote_shapes_read(ctx, write_text(text), &shapes) != MOTE_OK)
        fail_msg("%s: %s", text, mote_context_message(ctx));
    return shapes;
}

#define RING  "[[0,0],[4,0],[4,4],[0,4],[0,0]]"
#define HOLE  "[[1,1],[1,3],[3,3],[3,1],[1,1]]"
#define OTHER "[[10,0,5],[14,0,6],[14,4,7]]" /* not closed, with heights */

static const char *const wrappings[] = {
    "%s",
    "{\"type\":\"GeometryCollection\",\"geometries\":[%s]}",
    "{\"type\":\"Feature\",\"properties\":null,\"geometry\":%s}",
    "{\"type\":\"FeatureCollection\",\"features\":[{\"type\":\"Feature\",\"geometry\":%s}]}",
    ("\xEF\xBB\xBF{\"type\":\"FeatureCollection\",\"features\":[{\"type\":\"Feature\",\"geometry\":"
     "{\"type\":\"GeometryCollection\",\"geometries\":[%s]}}]}"),
};

static void geometries_are_read_in_all_wrappings(void **state) {
    (void)state;
    static const struct {
        const char *text;
        uint32_t shapes, parts;
        uint64_t positions;
        mote_shape_kind kind;
    } cases[] = {
        {"{\"type\":\"Polygon\",\"coordinates\":[" RING "]}", 1, 1, 4, MOTE_SHAPE_POLYGON},
        {"{\"type\":\"Polygon\",\"coordinates\":[" RING "," HOLE "]}", 1, 2, 8, MOTE_SHAPE_POLYGON},
        {"{\"type\":\"MultiPolygon\",\"coordinates\":[[" RING "," HOLE "],[" OTHER "]]}", 2, 3, 11, MOTE_SHAPE_POLYGON},
        {"{\"type\":\"LineString\",\"coordinates\":[[0,0],[1,1,2,9],[0,0]]}", 1, 1, 3, MOTE_SHAPE_LINE},
        {"{\"type\":\"MultiLineString\",\"coordinates\":[[[0,0],[1,1]],[[2,2],[3,3],[4,4]]]}", 2, 2, 5,
         MOTE_SHAPE_LINE},
    };
    for (size_t w = 0; w < sizeof wrappings / sizeof *wrappings; w++) {
        for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
            char text[1024];
            uint32_t parts = 0;
            uint64_t positions = 0;
            mote_context *ctx = test_context(1);
            snprintf(text, sizeof text, wrappings[w], cases[c].text); // NOLINT(clang-diagnostic-format-nonliteral)
            mote_shapes *shapes = read_text(ctx, text);
            assert_int_equal(mote_shapes_count(shapes), cases[c].shapes);
            for (uint32_t i = 0; i < mote_shapes_count(shapes); i++) {
                const mote_shape *shape = mote_shapes_at(shapes, i);
                assert_int_equal(shape->kind, cases[c].kind);
                assert_int_equal(shape->feature, 0);
                parts += shape->part_count;
                positions += shape->part_starts[shape->part_count] - shape->part_starts[0];
            }
            assert_int_equal(parts, cases[c].parts);
            assert_int_equal(positions, cases[c].positions);
            mote_shapes_destroy(shapes);
            mote_context_destroy(ctx);
        }
    }
}

static void names_heights_and_system_are_kept(void **state) {
    (void)state;
    mote_context *ctx = test_context(1);
    mote_shapes *shapes = read_text(
        ctx, "{\"type\":\"FeatureCollection\",\"crs\":{\"type\":\"name\",\"properties\":{\"name\":\"urn:ogc:def:crs:"
             "EPSG::32633\"}},\"features\":["
             "{\"type\":\"Feature\",\"properties\":{\"name\":\"heap\",\"text\":\"no\"},\"geometry\":"
             "{\"type\":\"Polygon\",\"coordinates\":[" OTHER "]}},"
             "{\"type\":\"Feature\",\"properties\":{\"text\":\"pit\"},\"geometry\":"
             "{\"type\":\"LineString\",\"coordinates\":[[0,0],[1,1]]}},"
             "{\"type\":\"Feature\",\"properties\":{\"name\":3},\"geometry\":"
             "{\"type\":\"LineString\",\"coordinates\":[[0,0],[1,1]]}}]}");
    assert_string_equal(mote_shapes_crs(shapes), "urn:ogc:def:crs:EPSG::32633");
    const mote_shape *heap = mote_shapes_at(shapes, 0), *pit = mote_shapes_at(shapes, 1);
    assert_string_equal(heap->name, "heap");
    assert_true(heap->positions[2][0] == 14 && heap->positions[2][1] == 4 && heap->positions[2][2] == 7);
    assert_string_equal(pit->name, "pit");
    assert_int_equal(pit->feature, 1);
    assert_true(isnan(pit->positions[pit->part_starts[0]][2]));
    assert_string_equal(mote_shapes_at(shapes, 2)->name, "");
    mote_shapes_destroy(shapes);
    mote_context_destroy(ctx);
}

/* A text for each feature, as RFC 8142 and GDAL write them: with separators, or with line breaks alone. */
static void sequences_are_collections(void **state) {
    (void)state;
#define SEQUENCE_LINE(name)                                                                                            \
    "{\"type\":\"Feature\",\"properties\":{\"name\":\"" name "\"},\"geometry\":{\"type\":\"LineString\","              \
    "\"coordinates\":[[0,0],[1,1]]}}"
    static const struct {
        const char *text;
        uint32_t count;
    } cases[] = {
        {SEQUENCE_LINE("a") "\n" SEQUENCE_LINE("b") "\n" SEQUENCE_LINE("c") "\n", 3},
        {"\xef\xbb\xbf" SEQUENCE_LINE("a") "\r\n" SEQUENCE_LINE("b"), 2},
        {"\x1e" SEQUENCE_LINE("a") "\n\x1e" SEQUENCE_LINE("b") "\n", 2},
        {"\x1e" SEQUENCE_LINE("a") "\n", 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        mote_context *ctx = test_context(1);
        mote_shapes *shapes = read_text(ctx, cases[i].text);
        assert_int_equal(mote_shapes_count(shapes), cases[i].count);
        for (uint32_t s = 0; s < cases[i].count; s++) {
            const char name[] = {(char)('a' + s), '\0'};
            assert_int_equal(mote_shapes_at(shapes, s)->feature, cases[i].count > 1 ? s : 0);
            assert_string_equal(mote_shapes_at(shapes, s)->name, name);
        }
        mote_shapes_destroy(shapes);
        mote_context_destroy(ctx);
    }
}

static void what_is_left_out_is_told(void **state) {
    (void)state;
    char message[TEST_MESSAGE_BYTES];
    mote_context *ctx = test_context_listening(message);
    mote_shapes *shapes = read_text(
        ctx, "{\"type\":\"GeometryCollection\",\"geometries\":[{\"type\":\"Point\",\"coordinates\":[1,2]},"
             "{\"type\":\"MultiPoint\",\"coordinates\":[[1,2],[3,4]]},{\"type\":\"Polygon\",\"coordinates\":[]},"
             "{\"type\":\"LineString\",\"coordinates\":[[0,0],[1,1]]}]}");
    assert_non_null(strstr(message, "3 points and 1 empty geometries are left out"));
    mote_shapes_destroy(shapes);
    mote_context_destroy(ctx);
}

static void what_is_wrong_is_told_with_its_place(void **state) {
    (void)state;
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"", "no JSON"},
        {SEQUENCE_LINE("a") "\n\n" SEQUENCE_LINE("b") "\nx", "line 4, column"},
        {SEQUENCE_LINE("a") "\n3", "line 2, column"},
        {SEQUENCE_LINE("a") "\n{\"type\":\"Point\"}", "features[1]: it is no Feature"},
        {"{\"type\":\"Polygon\",\n \"coordinates\":[[[0,0],[1,0],]]}", "line 2, column"},
        {"[1,2]", "no GeoJSON"},
        {"{\"planes\":[]}", "no GeoJSON"},
        {"{\"type\":\"Circle\"}", "\"Circle\""},
        {"{\"type\":\"FeatureCollection\"}", "\"features\" is no array"},
        {"{\"type\":\"FeatureCollection\",\"features\":[3]}", "features[0]: it is no Feature"},
        {"{\"type\":\"FeatureCollection\",\"features\":[]}", "neither a polygon nor a line"},
        {"{\"type\":\"Point\",\"coordinates\":[1,2]}", "neither a polygon nor a line"},
        {"{\"type\":\"Feature\",\"geometry\":null}", "neither a polygon nor a line"},
        {"{\"type\":\"Polygon\",\"coordinates\":3}", "coordinates: it is no array of rings"},
        {"{\"type\":\"Polygon\"}", "coordinates: it is no array of rings"},
        {"{\"type\":\"Polygon\",\"coordinates\":[[[0,0],[1,0],[0,0]]]}", "coordinates[0]: a ring of 2 different"},
        {"{\"type\":\"Polygon\",\"coordinates\":[[]]}", "coordinates[0]: a ring of 0 different"},
        {"{\"type\":\"LineString\",\"coordinates\":[[1,2]]}", "coordinates: a line of 1 position;"},
        {"{\"type\":\"LineString\",\"coordinates\":[[1,2],[3]]}", "coordinates: [1] is no position"},
        {"{\"type\":\"LineString\",\"coordinates\":[[1,2],[3,\"4\"]]}", "coordinates: [1][1] is no number"},
        {"{\"type\":\"LineString\",\"coordinates\":[[1,2],[3,4,null]]}", "coordinates: [1][2] is no number"},
        {"{\"type\":\"MultiPolygon\",\"coordinates\":[[" RING "],[" RING ",[[1,1],[2,2]]]]}",
         "coordinates[1][1]: a ring"},
        {"{\"type\":\"FeatureCollection\",\"features\":[{\"type\":\"Feature\",\"geometry\":{\"type\":\"Polygon\","
         "\"coordinates\":[" RING "]}},{\"type\":\"Feature\",\"geometry\":{\"type\":\"GeometryCollection\","
         "\"geometries\":[{\"type\":\"LineString\",\"coordinates\":[true]}]}}]}",
         "features[1].geometry.geometries[0].coordinates: [0] is no position"},
        {"{\"type\":\"LineString\",\"coordinates\":[[1,2],[1e999,4]]}", "no JSON"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        mote_context *ctx = test_context(1);
        mote_shapes *shapes = NULL;
        assert_int_equal(mote_shapes_read(ctx, write_text(cases[i].text), &shapes), MOTE_ERROR_DATA);
        assert_null(shapes);
        if (strstr(mote_context_message(ctx), cases[i].message) == NULL ||
            strstr(mote_context_message(ctx), "shapes.geojson: ") == NULL) {
            fail_msg("%s: %s", cases[i].text, mote_context_message(ctx));
        }
        mote_context_destroy(ctx);
    }
}

static void nesting_ends(void **state) {
    (void)state;
    char text[8192] = "";
    mote_context *ctx = test_context(1);
    mote_shapes *shapes = NULL;
    for (int i = 0; i < 100; i++) strcat(text, "{\"type\":\"GeometryCollection\",\"geometries\":[");
    for (int i = 0; i < 100; i++) strcat(text, "]}");
    assert_int_equal(mote_shapes_read(ctx, write_text(text), &shapes), MOTE_ERROR_DATA);
    assert_non_null(strstr(mote_context_message(ctx), "deep"));
    mote_context_destroy(ctx);
}

/* ---- places */

static mote_region *make_region(mote_context *ctx, const char *text, uint32_t feature) {
    mote_region *region = NULL;
    mote_shapes *shapes = read_text(ctx, text);
    if (mote_region_create(ctx, shapes, feature, &region) != MOTE_OK) fail_msg("%s", mote_context_message(ctx));
    mote_shapes_destroy(shapes);
    return region;
}

static void borders_belong_to_a_polygon(void **state) {
    (void)state;
    mote_context *ctx = test_context(1);
    mote_region *region = make_region(
        ctx, "{\"type\":\"MultiPolygon\",\"coordinates\":[[" RING "," HOLE "],[" OTHER "]]}", MOTE_ALL_FEATURES);
    static const struct {
        double x, y;
        bool inside;
    } places[] = {
        {0, 0, true},         {4, 4, true},  {4, 0, true},    {0, 4, true},   {2, 0, true},    {2, 4, true},
        {0, 2, true},         {4, 2, true},  {0.5, 2, true},  {2, 0.5, true}, {2, 2, false},   {1, 1, true},
        {3, 3, true},         {1, 2, true},  {3, 2, true},    {2, 1, true},   {2, 3, true},    {1.001, 2, false},
        {-0.001, 2, false},   {5, 2, false}, {2, 4.1, false}, {10, 0, true},  {12, 2, true},   {13, 3, true},
        {12, 2.5, false},     {14, 4, true}, {14, 2, true},   {12, 0, true},  {12, -1, false}, {NAN, 1, false},
        {1, INFINITY, false},
    };
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        if (mote_region_contains(region, places[i].x, places[i].y) == places[i].inside) continue;
        fail_msg("%g %g: not %d", places[i].x, places[i].y, places[i].inside);
    }
    mote_region_destroy(region);
    mote_context_destroy(ctx);
}

/* What several polygons hold, and what lies on another's hole, is held. */
static void polygons_unite(void **state) {
    (void)state;
    mote_context *ctx = test_context(1);
    static const char text[] = "{\"type\":\"FeatureCollection\",\"features\":["
                               "{\"type\":\"Feature\",\"geometry\":{\"type\":\"Polygon\",\"coordinates\":[" RING
                               "," HOLE "]}},{\"type\":\"Feature\",\"geometry\":{\"type\":\"Polygon\",\"coordinates\":"
                               "[[[2,2],[6,2],[6,6],[2,6]]]}}]}";
    mote_region *both = make_region(ctx, text, MOTE_ALL_FEATURES), *first = make_region(ctx, text, 0),
                *second = make_region(ctx, text, 1);
    for (double x = -1; x < 8; x += 0.25) {
        for (double y = -1; y < 8; y += 0.25) {
            const bool is_in_any = mote_region_contains(first, x, y) || mote_region_contains(second, x, y);
            assert_int_equal(mote_region_contains(both, x, y), is_in_any);
        }
    }
    mote_region_destroy(both);
    mote_region_destroy(first);
    mote_region_destroy(second);
    mote_context_destroy(ctx);
}

/* Crossings of a ray to the left, of whole numbers below 2^20, where doubles are exact. */
static bool reference_holds(const double (*ring)[2], size_t count, double x, double y) {
    bool inside = false;
    for (size_t i = 0, j = count - 1; i < count; j = i++) {
        const double *a = ring[i][1] <= ring[j][1] ? ring[i] : ring[j], *b = a == ring[i] ? ring[j] : ring[i];
        const double cross = (b[0] - a[0]) * (y - a[1]) - (x - a[0]) * (b[1] - a[1]);
        if (cross == 0 && y >= a[1] && y <= b[1] && x >= fmin(a[0], b[0]) && x <= fmax(a[0], b[0])) return true;
        if (a[1] <= y && y < b[1] && cross < 0) inside = !inside;
    }
    return inside;
}

/* Random rings that cross themselves, on a small lattice, so that places on edges and corners are many; moved and
   scaled as coordinates of maps and degrees are. */
static void random_rings_agree_with_the_reference(void **state) {
    (void)state;
    static const struct {
        double scale, x, y;
    } frames[] = {{1, 0, 0}, {0.001, 691000.25, 5335000.75}, {1e-7, 11.5, -48.25}, {1000, -4e6, 4e6}, {0.1, 0, 0}};
    static double ring[300][2];
    static char text[32768];
    for (uint64_t seed = 0; seed < test_extent(20, 200); seed++) {
        const double side = seed % 2 == 0 ? 8 : 40;
        const size_t corners = seed % 7 == 0 ? 300 : 3 + seed % 20;
        for (size_t f = 0; f < sizeof frames / sizeof *frames; f++) {
            size_t at = (size_t)snprintf(text, sizeof text, "{\"type\":\"Polygon\",\"coordinates\":[[");
            for (size_t i = 0; i < corners; i++) {
                for (uint64_t k = 0; k < 2; k++) ring[i][k] = floor(test_random(10 * seed + k, i) * side);
                at += (size_t)snprintf(text + at, sizeof text - at, "%s[%.17g,%.17g]", i > 0 ? "," : "",
                                       ring[i][0] * frames[f].scale + frames[f].x,
                                       ring[i][1] * frames[f].scale + frames[f].y);
            }
            snprintf(text + at, sizeof text - at, "]]}");
            mote_context *ctx = test_context(1);
            mote_region *region = make_region(ctx, text, MOTE_ALL_FEATURES);
            for (double x = -1; x <= side; x++) {
                for (double y = -1; y <= side; y++) {
                    const double px = x * frames[f].scale + frames[f].x, py = y * frames[f].scale + frames[f].y;
                    if (mote_region_contains(region, px, py) ==
                        reference_holds((const double(*)[2])ring, corners, x, y))
                        continue;
                    fail_msg("seed %d, frame %zu: %g %g", (int)seed, f, x, y);
                }
            }
            mote_region_destroy(region);
            mote_context_destroy(ctx);
        }
    }
}

/* Products of 64 bits that differ in their last bits, which doubles cannot tell apart. */
static void products_are_compared_exactly(void **state) {
    (void)state;
    const int64_t big = INT64_C(1999999999999999);
    assert_int_equal(region_compare(big, big, big + 1, big - 1), 1);
    assert_int_equal(region_compare(big + 1, big - 1, big, big), -1);
    assert_int_equal(region_compare(-big, big, big, -big), 0);
    assert_int_equal(region_compare(-big, big, big + 1, 1 - big), -1);
    assert_int_equal(region_compare(-big, -big, big + 1, big - 1), 1);
    assert_int_equal(region_compare(0, big, 0, -big), 0);
    assert_int_equal(region_compare(0, big, 1, -1), 1);
    assert_int_equal(region_compare(1, -1, big, 0), -1);
    for (uint64_t i = 0; i < 10000; i++) {
        int64_t v[4];
        for (uint64_t k = 0; k < 4; k++) v[k] = (int64_t)(test_random(k, i) * 2e9) - 1000000000;
        const int64_t difference = v[0] * v[1] - v[2] * v[3];
        assert_int_equal(region_compare(v[0], v[1], v[2], v[3]), (difference > 0) - (difference < 0));
        assert_int_equal(region_compare_exactly(v[0], v[1], v[2], v[3]), (difference > 0) - (difference < 0));
    }
}

/* ---- failures */

static mote_status read_and_prepare(mote_context *ctx, void *user) {
    mote_shapes *shapes = NULL;
    mote_region *region = NULL;
    mote_status status = mote_shapes_read(ctx, user, &shapes);
    if (status == MOTE_OK) status = mote_region_create(ctx, shapes, MOTE_ALL_FEATURES, &region);
    mote_region_destroy(region);
    mote_shapes_destroy(shapes);
    return status;
}

static void allocations_fail_cleanly(void **state) {
    (void)state;
    char path[1024];
    snprintf(path, sizeof path, "%s",
             write_text("{\"type\":\"Feature\",\"crs\":{\"properties\":{\"name\":\"EPSG:1\"}},\"properties\":{\"name\":"
                        "\"a\"},\"geometry\":{\"type\":\"Polygon\",\"coordinates\":[" RING "," HOLE "]}}"));
    test_each_allocation_fails(read_and_prepare, path);
}

static void regions_that_cannot_be_are_refused(void **state) {
    (void)state;
    mote_context *ctx = test_context(1);
    mote_region *region = NULL;
    mote_shapes *shapes = read_text(ctx, "{\"type\":\"LineString\",\"coordinates\":[[0,0],[1,1]]}");
    assert_int_equal(mote_region_create(ctx, shapes, MOTE_ALL_FEATURES, &region), MOTE_ERROR_ARGUMENT);
    mote_shapes_destroy(shapes);
    mote_context_destroy(ctx);
    ctx = test_context(1);
    shapes = read_text(ctx, "{\"type\":\"Polygon\",\"coordinates\":[[[0,0],[1e16,0],[0,1]]]}");
    assert_int_equal(mote_region_create(ctx, shapes, MOTE_ALL_FEATURES, &region), MOTE_ERROR_DATA);
    mote_shapes_destroy(shapes);
    mote_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(geometries_are_read_in_all_wrappings),
        cmocka_unit_test(names_heights_and_system_are_kept),
        cmocka_unit_test(sequences_are_collections),
        cmocka_unit_test(what_is_left_out_is_told),
        cmocka_unit_test(what_is_wrong_is_told_with_its_place),
        cmocka_unit_test(nesting_ends),
        cmocka_unit_test(borders_belong_to_a_polygon),
        cmocka_unit_test(polygons_unite),
        cmocka_unit_test(random_rings_agree_with_the_reference),
        cmocka_unit_test(products_are_compared_exactly),
        cmocka_unit_test(allocations_fail_cleanly),
        cmocka_unit_test(regions_that_cannot_be_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

int main(void) { return 0; }

#endif
