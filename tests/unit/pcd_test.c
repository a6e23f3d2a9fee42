/* PCD: what is read. What is refused and what is written stands in the files beside this one. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/cloud.h"
#include "io/pcd/pcd.h"
#include "unit/pcd_test.h"

mote_cloud *pcd_read_bytes(mote_context *ctx, const void *bytes, size_t size) {
    test_write_file(test_path("in.pcd"), bytes, size);
    return test_read(ctx, test_path("in.pcd"));
}

mote_cloud *pcd_read_text(mote_context *ctx, const char *text) { return pcd_read_bytes(ctx, text, strlen(text)); }

mote_write_params pcd_params(int way) {
    mote_write_params params = mote_write_defaults();
    params.text = way == ASCII;
    params.compress = way == COMPRESSED;
    return params;
}

void pcd_write(mote_context *ctx, const mote_cloud *cloud, const char *path, int way) {
    const mote_write_params params = pcd_params(way);
    test_write(ctx, cloud, path, &params);
}

void pcd_check_round_trips(mote_context *ctx, const mote_cloud *cloud) {
    const uint64_t hash = test_hash(ctx, cloud);
    for (int way = 0; way < WAYS; way++) {
        uint64_t grid[2], grid_again[2];
        pcd_write(ctx, cloud, test_path("again.pcd"), way);
        mote_cloud *again = test_read(ctx, test_path("again.pcd"));
        test_same_columns(again, cloud, way != ASCII);
        assert_int_equal(mote_cloud_grid(cloud, &grid[0], &grid[1]),
                         mote_cloud_grid(again, &grid_again[0], &grid_again[1]));
        assert_memory_equal(grid, grid_again, sizeof grid);
        assert_int_equal(mote_cloud_record_count(again), mote_cloud_record_count(cloud));
        assert_true(again->position_step == cloud->position_step);
        if (test_hash(ctx, again) != hash) fail_msg("other points in encoding %d", way);
        mote_cloud_destroy(again);
    }
}

/* ---- reading */

#define EVERY_TYPE                                                                                                     \
    "# .PCD v0.7 - Point Cloud Data file format\nVERSION 0.7\nFIELDS x y z a _ b c d e f g h i\n"                      \
    "SIZE 4 4 4 1 1 1 2 2 4 8 8 8 4\nTYPE F F F I U U I U I I U F U\nCOUNT 1 1 1 1 3 1 1 1 1 1 1 1 2\n" REST

static void check_every_type(mote_context *ctx, mote_cloud *cloud) {
    static const char *const names[] = {"x", "y", "z", "a", "b", "c", "d", "e", "f", "h", "i[0]", "i[1]"};
    static const double first[] = {1, -2.5, 3, -128, 255, -32768, 65535, -2147483648.0, -5, 1e-300, 4294967295.0, 7};
    static const double second[] = {4, 5, 6, 1, 2, 3, 4, 5, 6, 8, 9, 10};
    test_columns_are(cloud, "x:float y:float z:float a:int8 b:uint8 c:int16 d:uint16 e:int32 f:int64 g:uint64 h:double "
                            "i[0]:uint32 i[1]:uint32");
    assert_int_equal(mote_cloud_count(cloud), 2);
    for (int i = 0; i < 12; i++) {
        if (test_value(cloud, names[i], 0) != first[i] || test_value(cloud, names[i], 1) != second[i])
            fail_msg("%s", names[i]);
    }
    assert_int_equal(mote_column_integer(test_column(cloud, "g"), 0), -1);
    pcd_check_round_trips(ctx, cloud);
    mote_cloud_destroy(cloud);
}

uint8_t *pcd_put(uint8_t *to, const void *from, size_t size) {
    memcpy(to, from, size);
    return to + size;
}

/* The two points of EVERY_TYPE, by hand. */
static size_t every_type_record(int point, uint8_t *to) {
    static const float xyz[2][3] = {{1, -2.5f, 3}, {4, 5, 6}};
    static const struct {
        int8_t a;
        uint8_t b;
        int16_t c;
        uint16_t d;
        int32_t e;
        int64_t f;
        uint64_t g;
        double h;
        uint32_t i[2];
    } values[2] = {{-128, 255, -32768, 65535, INT32_MIN, -5, UINT64_MAX, 1e-300, {UINT32_MAX, 7}},
                   {1, 2, 3, 4, 5, 6, 7, 8, {9, 10}}};
    uint8_t *at = pcd_put(to, xyz[point], 12);
    at = pcd_put(at, &values[point].a, 1);
    at = pcd_put(at, "\x01\x02\x03", 3); /* padding */
    at = pcd_put(at, &values[point].b, 1);
    at = pcd_put(at, &values[point].c, 2);
    at = pcd_put(at, &values[point].d, 2);
    at = pcd_put(at, &values[point].e, 4);
    at = pcd_put(at, &values[point].f, 8);
    at = pcd_put(at, &values[point].g, 8);
    at = pcd_put(at, &values[point].h, 8);
    at = pcd_put(at, values[point].i, 8);
    return (size_t)(at - to);
}

static void reads_every_type(void **state) {
    (void)state;
    static const char ascii[] = EVERY_TYPE "DATA ascii\n1 -2.5 3 -128 0 0 0 255 -32768 65535 -2147483648 -5 "
                                           "18446744073709551615 1e-300 4294967295 7\n"
                                           "\n4 5 6 1 0 0 0 2 3 4 5 6 7 8 9 10";
    static const uint8_t sizes[] = {4, 4, 4, 1, 3, 1, 2, 2, 4, 8, 8, 8, 8};
    mote_context *ctx = test_context(2);
    uint8_t records[2][64], bytes[1024];
    const size_t size = every_type_record(0, records[0]);
    assert_int_equal(every_type_record(1, records[1]), size);
    check_every_type(ctx, pcd_read_text(ctx, ascii));
    uint8_t *at = pcd_put(bytes, EVERY_TYPE "DATA binary\n", strlen(EVERY_TYPE "DATA binary\n"));
    for (int i = 0; i < 2; i++) at = pcd_put(at, records[i], size);
    check_every_type(ctx, pcd_read_bytes(ctx, bytes, (size_t)(at - bytes)));
    /* Field after field, as literal runs. */
    at = pcd_put(bytes, EVERY_TYPE "DATA binary_compressed\n", strlen(EVERY_TYPE "DATA binary_compressed\n"));
    uint8_t *const counts = at;
    at += 8;
    size_t offset = 0;
    for (size_t f = 0; f < sizeof sizes; offset += sizes[f++]) {
        *at++ = (uint8_t)(2 * sizes[f] - 1);
        for (int i = 0; i < 2; i++) at = pcd_put(at, records[i] + offset, sizes[f]);
    }
    const uint32_t packed = (uint32_t)(at - counts - 8), unpacked = (uint32_t)(2 * size);
    pcd_put(pcd_put(counts, &packed, 4), &unpacked, 4);
    check_every_type(ctx, pcd_read_bytes(ctx, bytes, (size_t)(at - bytes)));
    mote_context_destroy(ctx);
}

static void binary_points_are_not_copied(void **state) {
    (void)state;
    mote_context *ctx = test_context(1);
    static const char head[] =
        "VERSION 0.7\nFIELDS x y z\nSIZE 4 4 4\nTYPE F F F\nWIDTH 100000\nHEIGHT 1\nDATA binary\n";
    const size_t size = sizeof head - 1 + 1200000;
    char *const bytes = calloc(1, size);
    memcpy(bytes, head, sizeof head - 1);
    mote_cloud *cloud = pcd_read_bytes(ctx, bytes, size);
    assert_int_equal(mote_cloud_count(cloud), 100000);
    assert_true(mote_context_memory_peak_bytes(ctx) < 100000);
    assert_null(mote_cloud_column_data(cloud, "x"));
    mote_cloud_destroy(cloud);
    free(bytes);
    mote_context_destroy(ctx);
}

static void reads_headers_of_all_kinds(void **state) {
    (void)state;
    static const char *const texts[] = {
        XYZ REST "DATA ascii\n1 2 3\n4 5 6\n",
        XYZ REST "VIEWPOINT 0 0 0 1 0 0 0\nDATA ascii\n1 2 3\n4 5 6",
        "# .PCD v.5\nVERSION .5\nFIELDS x y z\nSIZE 4 4 4\nTYPE F F F\n" REST "DATA ascii\n1 2 3\n4 5 6\n",
        "FIELDS x y z\r\nSIZE 4 4 4\r\nTYPE F F F\r\nPOINTS 2\r\nDATA ascii\r\n1 2 3\r\n4 5 6\r\n",
        "\n# comment\nVERSION 0.6\nCOLUMNS x y z\nSIZE 4 4 4\nTYPE F F F\nWIDTH 2\nHEIGHT 1\nDATA ascii\n1,2,3\n4,5,6",
        XYZ "WIDTH 2\nPOINTS 2\nDATA ascii\n1;2;3\n4;5;6\n7;8;9\n",
        "VERSION\t0.7\nFIELDS\tZ X  y\nSIZE 8 4 2\nTYPE F I U\nCOUNT 1 1 1\n" REST "DATA ascii\n3\t1\t2\n6\t4\t5\n"};
    mote_context *ctx = test_context(1);
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        mote_cloud *cloud = pcd_read_text(ctx, texts[i]);
        if (mote_cloud_count(cloud) != 2 || test_value(cloud, "x", 0) != 1 || test_value(cloud, "z", 1) != 6)
            fail_msg("%zu", i);
        mote_cloud_destroy(cloud);
    }
    /* By content, whatever the name. */
    test_write_file(test_path("what.dat"), texts[4], strlen(texts[4]));
    assert_string_equal(mote_file_format(ctx, test_path("what.dat")), "pcd");
    mote_cloud *cloud = pcd_read_text(ctx, XYZ "WIDTH 0\nHEIGHT 1\nPOINTS 0\nDATA binary_compressed\n");
    assert_int_equal(mote_cloud_count(cloud), 0);
    pcd_check_round_trips(ctx, cloud);
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
}

static void names_standard_columns(void **state) {
    (void)state;
    mote_context *ctx = test_context(1);
    mote_cloud *cloud =
        pcd_read_text(ctx, "VERSION 0.7\nFIELDS X Y Z Intensity GpsTime PointSourceId label intensity_x\n"
                           "SIZE 8 8 8 2 8 2 4 1\nTYPE F F F U F U U U\nWIDTH 1\nHEIGHT 1\n"
                           "DATA ascii\n1.25 2 3 4 5 6 7 8\n");
    test_columns_are(cloud, "x:double y:double z:double intensity:uint16 gps_time:double point_source_id:uint16 "
                            "label:uint32 intensity_x:uint8");
    assert_string_equal(test_column(cloud, "gps_time")->description, "GpsTime");
    assert_true(cloud->position_step == 0.01);
    pcd_check_round_trips(ctx, cloud);
    size_t size = 0;
    pcd_write(ctx, cloud, test_path("names.pcd"), BINARY);
    char *const bytes = test_load(test_path("names.pcd"), &size);
    assert_non_null(strstr(bytes, "\nFIELDS X Y Z Intensity GpsTime PointSourceId label intensity_x\n"));
    free(bytes);
    mote_cloud_destroy(cloud);
    /* Not where the standard name is there already. */
    cloud =
        pcd_read_text(ctx, "VERSION 0.7\nFIELDS x y z Intensity intensity\nSIZE 4 4 4 1 1\nTYPE F F F U U\nWIDTH 1\n"
                           "HEIGHT 1\nDATA ascii\n1 2 3 4 5\n");
    test_columns_are(cloud, "x:float y:float z:float Intensity:uint8 intensity:uint8");
    pcd_check_round_trips(ctx, cloud);
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
}

/* Bytes of a colour are kept whatever number they are as a float. */
static void unpacks_and_packs_colors(void **state) {
    (void)state;
    static const struct {
        const char *field, *type;
        bool alpha;
        uint32_t packed[2];
    } cases[] = {{"rgb", "F", false, {0x00112233, 0x00FFEEDD}}, {"rgb", "U", false, {0x00112233, 0x00000000}},
                 {"rgb", "F", true, {0xFF8899AA, 0x7FC00001}},  {"rgba", "U", true, {0xFF8899AA, 0x00000000}},
                 {"rgba", "F", true, {0x7F800001, 0xFFFFFFFF}}, {"rgb", "I", false, {0x00000001, 0x00FFFFFF}}};
    mote_context *ctx = test_context(2);
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        char bytes[512];
        const float xyz[3] = {1, 2, 3};
        int length =
            snprintf(bytes, sizeof bytes,
                     "VERSION 0.7\nFIELDS x y z %s\nSIZE 4 4 4 4\nTYPE F F F %s\nCOUNT 1 1 1 1\n" REST "DATA binary\n",
                     cases[c].field, cases[c].type);
        const size_t body = (size_t)length;
        for (int i = 0; i < 2; i++, length += 16) {
            memcpy(bytes + length, xyz, 12);
            memcpy(bytes + length + 12, &cases[c].packed[i], 4);
        }
        mote_cloud *cloud = pcd_read_bytes(ctx, bytes, (size_t)length);
        test_columns_are(cloud, cases[c].alpha ? "x:float y:float z:float red:uint8 green:uint8 blue:uint8 alpha:uint8"
                                               : "x:float y:float z:float red:uint8 green:uint8 blue:uint8");
        assert_true(test_value(cloud, "red", 0) == (cases[c].packed[0] >> 16 & 255));
        assert_true(test_value(cloud, "green", 0) == (cases[c].packed[0] >> 8 & 255));
        assert_true(test_value(cloud, "blue", 1) == (cases[c].packed[1] & 255));
        pcd_check_round_trips(ctx, cloud);
        size_t size = 0;
        pcd_write(ctx, cloud, test_path("colors.pcd"), BINARY);
        char *const again = test_load(test_path("colors.pcd"), &size);
        assert_memory_equal(again + size - 32, bytes + body, 32);
        free(again);
        mote_cloud_destroy(cloud);
    }
    /* A second field of colours, or colours besides, stay as they are. */
    mote_cloud *cloud =
        pcd_read_text(ctx, "VERSION 0.7\nFIELDS x y z rgb rgba\nSIZE 4 4 4 4 4\nTYPE F F F U U\nWIDTH 1\n"
                           "HEIGHT 1\nDATA ascii\n1 2 3 66051 5\n");
    test_columns_are(cloud, "x:float y:float z:float red:uint8 green:uint8 blue:uint8 rgba:uint32");
    mote_cloud_destroy(cloud);
    cloud = pcd_read_text(ctx, "VERSION 0.7\nFIELDS x y z rgb red\nSIZE 4 4 4 4 2\nTYPE F F F U U\nWIDTH 1\nHEIGHT 1\n"
                               "DATA ascii\n1 2 3 66051 5\n");
    test_columns_are(cloud, "x:float y:float z:float rgb:uint32 red:uint16");
    pcd_check_round_trips(ctx, cloud);
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
}

static void keeps_grid_and_viewpoint(void **state) {
    (void)state;
    mote_context *ctx = test_context(1);
    mote_cloud *cloud = pcd_read_text(ctx, XYZ "WIDTH 3\nHEIGHT 2\nVIEWPOINT 1.5 -2 3e2 0.5 .5 -0.5 +0.5\nPOINTS 6\n"
                                               "DATA ascii\n1 2 3\nnan nan nan\n4 5 6\nNaN nan nan\n7 8 9\n10 11 12\n");
    uint64_t width = 0, height = 0, skipped = 0;
    mote_box box;
    assert_true(mote_cloud_grid(cloud, &width, &height));
    assert_true(width == 3 && height == 2);
    assert_int_equal(mote_cloud_bounds(ctx, cloud, &box, &skipped), MOTE_OK);
    assert_true(skipped == 2 && box.max[0] == 10);
    assert_int_equal(mote_cloud_record_count(cloud), 1);
    assert_memory_equal(mote_cloud_record(cloud, 0)->data, "1.5 -2 3e2 0.5 .5 -0.5 +0.5", 27);
    pcd_check_round_trips(ctx, cloud);
    /* A subset is no grid any more, even one of all points. */
    const uint64_t all[] = {5, 4, 3, 2, 1, 0};
    mote_cloud *chosen = NULL;
    assert_int_equal(mote_cloud_select(ctx, cloud, all, 6, &chosen), MOTE_OK);
    assert_false(mote_cloud_grid(chosen, &width, &height));
    /* The viewpoint outlives LAS. */
    mote_cloud_destroy(chosen);
    assert_int_equal(mote_cloud_write(ctx, cloud, test_path("view.las"), NULL), MOTE_OK);
    mote_cloud *las = test_read(ctx, test_path("view.las"));
    assert_int_equal(mote_cloud_count(las), 4); /* NaN is left out */
    pcd_write(ctx, las, test_path("view.pcd"), ASCII);
    size_t size = 0;
    char *const bytes = test_load(test_path("view.pcd"), &size);
    assert_non_null(strstr(bytes, "\nVIEWPOINT 1.5 -2 3e2 0.5 .5 -0.5 +0.5\n"));
    assert_non_null(strstr(bytes, "\nWIDTH 4\nHEIGHT 1\n"));
    free(bytes);
    mote_cloud_destroy(las);
    /* What does not fit is refused, and the old grid stays. */
    assert_int_equal(mote_cloud_set_grid(cloud, 4, 2), MOTE_ERROR_ARGUMENT);
    assert_int_equal(mote_cloud_set_grid(cloud, 6, 0), MOTE_ERROR_ARGUMENT);
    assert_int_equal(mote_cloud_set_grid(cloud, UINT64_MAX / 2 + 4, 2), MOTE_ERROR_ARGUMENT);
    assert_true(mote_cloud_grid(cloud, &width, &height) && width == 3);
    assert_int_equal(mote_cloud_set_grid(cloud, 0, 0), MOTE_OK);
    assert_false(mote_cloud_grid(cloud, &width, &height));
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
}

/* Floats of 4 bytes hold no coordinates of a UTM zone; the text says more, and is believed. */
static void widens_positions_that_need_it(void **state) {
    (void)state;
    char message[TEST_MESSAGE_BYTES] = "";
    mote_context *ctx = test_context_listening(message);
    mote_cloud *cloud =
        pcd_read_text(ctx, XYZ REST "DATA ascii\n289814.15 4320978.61 170.76\n289814.64 4320978.84 170\n");
    test_columns_are(cloud, "x:double y:double z:double");
    assert_true(test_value(cloud, "y", 0) == 4320978.61 && test_value(cloud, "x", 1) == 289814.64);
    assert_true(cloud->position_step == 0.01);
    assert_non_null(strstr(message, "read as doubles"));
    mote_cloud_destroy(cloud);
    /* What floats print as stays float: the shortest digits, eight of them, all of them. */
    static const char *const floats[] = {"0.1",
                                         "0.094720997",
                                         "289814.15625",
                                         "1234.567017",
                                         "1e-40",
                                         "3.4028235e+38",
                                         "0.100000001490116119384765625",
                                         "inf",
                                         "16777216",
                                         "-0"};
    for (size_t i = 0; i < sizeof floats / sizeof floats[0]; i++) {
        char text[512];
        snprintf(text, sizeof text, XYZ REST "DATA ascii\n%s 1 2\n1 2 3\n", floats[i]);
        cloud = pcd_read_text(ctx, text);
        if (test_column(cloud, "x")->type != MOTE_FLOAT32) fail_msg("%s was widened", floats[i]);
        mote_cloud_destroy(cloud);
    }
    mote_context_destroy(ctx);
}

static void las_leaves_out_what_is_not_finite(void **state) {
    (void)state;
    char message[TEST_MESSAGE_BYTES] = "";
    mote_context *ctx = test_context_listening(message);
    mote_cloud *cloud =
        pcd_read_text(ctx, XYZ "WIDTH 4\nHEIGHT 1\nPOINTS 4\nDATA ascii\n1 2 3\n1 nan 3\n4 5 6\n1 2 inf\n");
    assert_int_equal(mote_cloud_write(ctx, cloud, test_path("finite.las"), NULL), MOTE_OK);
    assert_non_null(strstr(message, "finite.las: 2 points without a finite position are left out"));
    mote_cloud *back = test_read(ctx, test_path("finite.las"));
    assert_int_equal(mote_cloud_count(back), 2);
    assert_true(test_value(back, "x", 1) == 4 && test_value(back, "z", 0) == 3);
    mote_cloud_destroy(back);
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(reads_every_type),
                                       cmocka_unit_test(binary_points_are_not_copied),
                                       cmocka_unit_test(reads_headers_of_all_kinds),
                                       cmocka_unit_test(names_standard_columns),
                                       cmocka_unit_test(unpacks_and_packs_colors),
                                       cmocka_unit_test(keeps_grid_and_viewpoint),
                                       cmocka_unit_test(widens_positions_that_need_it),
                                       cmocka_unit_test(las_leaves_out_what_is_not_finite),
                                       cmocka_unit_test(refuses_bad_headers),
                                       cmocka_unit_test(refuses_bad_points),
                                       cmocka_unit_test(refuses_bad_compression),
                                       cmocka_unit_test(lzf_gives_bytes_back),
                                       cmocka_unit_test(writes_a_bit_of_everything),
                                       cmocka_unit_test(writes_chosen_columns),
                                       cmocka_unit_test(same_bytes_for_any_threads),
                                       cmocka_unit_test(survives_failing_allocations),
                                       cmocka_unit_test(cancel_leaves_nothing),
                                       cmocka_unit_test(reads_real_files)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
