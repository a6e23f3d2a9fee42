/* PCD: what is read, what is refused and with which words, and that writing gives the same points back. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/cloud.h"
#include "io/pcd.h"
#include "support/cloud_files.h"

enum { BINARY, COMPRESSED, ASCII, WAYS };

static mote_cloud *read_bytes(mote_context *ctx, const void *bytes, size_t size) {
    test_write_file(test_path("in.pcd"), bytes, size);
    return test_read(ctx, test_path("in.pcd"));
}

static mote_cloud *read_text(mote_context *ctx, const char *text) { return read_bytes(ctx, text, strlen(text)); }

static mote_write_params params_of(int way) {
    mote_write_params params = mote_write_defaults();
    params.text = way == ASCII;
    params.compress = way == COMPRESSED;
    return params;
}

static void write_pcd(mote_context *ctx, const mote_cloud *cloud, const char *path, int way) {
    const mote_write_params params = params_of(way);
    test_write(ctx, cloud, path, &params);
}

/* Every encoding gives the same columns, grid and records back; so does a second time. Texts of packed colours are left
   out of the comparison, for ascii declares these as integers. */
static void check_round_trips(mote_context *ctx, const mote_cloud *cloud) {
    const uint64_t hash = test_hash(ctx, cloud);
    for (int way = 0; way < WAYS; way++) {
        uint64_t grid[2], grid_again[2];
        write_pcd(ctx, cloud, test_path("again.pcd"), way);
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

#define REST "WIDTH 2\nHEIGHT 1\nPOINTS 2\n"
#define XYZ  "VERSION 0.7\nFIELDS x y z\nSIZE 4 4 4\nTYPE F F F\nCOUNT 1 1 1\n"

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
    check_round_trips(ctx, cloud);
    mote_cloud_destroy(cloud);
}

static uint8_t *put(uint8_t *to, const void *from, size_t size) {
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
    uint8_t *at = put(to, xyz[point], 12);
    at = put(at, &values[point].a, 1);
    at = put(at, "\x01\x02\x03", 3); /* padding */
    at = put(at, &values[point].b, 1);
    at = put(at, &values[point].c, 2);
    at = put(at, &values[point].d, 2);
    at = put(at, &values[point].e, 4);
    at = put(at, &values[point].f, 8);
    at = put(at, &values[point].g, 8);
    at = put(at, &values[point].h, 8);
    at = put(at, values[point].i, 8);
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
    check_every_type(ctx, read_text(ctx, ascii));
    uint8_t *at = put(bytes, EVERY_TYPE "DATA binary\n", strlen(EVERY_TYPE "DATA binary\n"));
    for (int i = 0; i < 2; i++) at = put(at, records[i], size);
    check_every_type(ctx, read_bytes(ctx, bytes, (size_t)(at - bytes)));
    /* Field after field, as literal runs. */
    at = put(bytes, EVERY_TYPE "DATA binary_compressed\n", strlen(EVERY_TYPE "DATA binary_compressed\n"));
    uint8_t *const counts = at;
    at += 8;
    size_t offset = 0;
    for (size_t f = 0; f < sizeof sizes; offset += sizes[f++]) {
        *at++ = (uint8_t)(2 * sizes[f] - 1);
        for (int i = 0; i < 2; i++) at = put(at, records[i] + offset, sizes[f]);
    }
    const uint32_t packed = (uint32_t)(at - counts - 8), unpacked = (uint32_t)(2 * size);
    put(put(counts, &packed, 4), &unpacked, 4);
    check_every_type(ctx, read_bytes(ctx, bytes, (size_t)(at - bytes)));
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
    mote_cloud *cloud = read_bytes(ctx, bytes, size);
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
        mote_cloud *cloud = read_text(ctx, texts[i]);
        if (mote_cloud_count(cloud) != 2 || test_value(cloud, "x", 0) != 1 || test_value(cloud, "z", 1) != 6)
            fail_msg("%zu", i);
        mote_cloud_destroy(cloud);
    }
    /* By content, whatever the name. */
    test_write_file(test_path("what.dat"), texts[4], strlen(texts[4]));
    assert_string_equal(mote_file_format(ctx, test_path("what.dat")), "pcd");
    mote_cloud *cloud = read_text(ctx, XYZ "WIDTH 0\nHEIGHT 1\nPOINTS 0\nDATA binary_compressed\n");
    assert_int_equal(mote_cloud_count(cloud), 0);
    check_round_trips(ctx, cloud);
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
}

static void names_standard_columns(void **state) {
    (void)state;
    mote_context *ctx = test_context(1);
    mote_cloud *cloud = read_text(ctx, "VERSION 0.7\nFIELDS X Y Z Intensity GpsTime PointSourceId label intensity_x\n"
                                       "SIZE 8 8 8 2 8 2 4 1\nTYPE F F F U F U U U\nWIDTH 1\nHEIGHT 1\n"
                                       "DATA ascii\n1.25 2 3 4 5 6 7 8\n");
    test_columns_are(cloud, "x:double y:double z:double intensity:uint16 gps_time:double point_source_id:uint16 "
                            "label:uint32 intensity_x:uint8");
    assert_string_equal(test_column(cloud, "gps_time")->description, "GpsTime");
    assert_true(cloud->position_step == 0.01);
    check_round_trips(ctx, cloud);
    size_t size = 0;
    write_pcd(ctx, cloud, test_path("names.pcd"), BINARY);
    char *const bytes = test_load(test_path("names.pcd"), &size);
    assert_non_null(strstr(bytes, "\nFIELDS X Y Z Intensity GpsTime PointSourceId label intensity_x\n"));
    free(bytes);
    mote_cloud_destroy(cloud);
    /* Not where the standard name is there already. */
    cloud = read_text(ctx, "VERSION 0.7\nFIELDS x y z Intensity intensity\nSIZE 4 4 4 1 1\nTYPE F F F U U\nWIDTH 1\n"
                           "HEIGHT 1\nDATA ascii\n1 2 3 4 5\n");
    test_columns_are(cloud, "x:float y:float z:float Intensity:uint8 intensity:uint8");
    check_round_trips(ctx, cloud);
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
        mote_cloud *cloud = read_bytes(ctx, bytes, (size_t)length);
        test_columns_are(cloud, cases[c].alpha ? "x:float y:float z:float red:uint8 green:uint8 blue:uint8 alpha:uint8"
                                               : "x:float y:float z:float red:uint8 green:uint8 blue:uint8");
        assert_true(test_value(cloud, "red", 0) == (cases[c].packed[0] >> 16 & 255));
        assert_true(test_value(cloud, "green", 0) == (cases[c].packed[0] >> 8 & 255));
        assert_true(test_value(cloud, "blue", 1) == (cases[c].packed[1] & 255));
        check_round_trips(ctx, cloud);
        size_t size = 0;
        write_pcd(ctx, cloud, test_path("colors.pcd"), BINARY);
        char *const again = test_load(test_path("colors.pcd"), &size);
        assert_memory_equal(again + size - 32, bytes + body, 32);
        free(again);
        mote_cloud_destroy(cloud);
    }
    /* A second field of colours, or colours besides, stay as they are. */
    mote_cloud *cloud = read_text(ctx, "VERSION 0.7\nFIELDS x y z rgb rgba\nSIZE 4 4 4 4 4\nTYPE F F F U U\nWIDTH 1\n"
                                       "HEIGHT 1\nDATA ascii\n1 2 3 66051 5\n");
    test_columns_are(cloud, "x:float y:float z:float red:uint8 green:uint8 blue:uint8 rgba:uint32");
    mote_cloud_destroy(cloud);
    cloud = read_text(ctx, "VERSION 0.7\nFIELDS x y z rgb red\nSIZE 4 4 4 4 2\nTYPE F F F U U\nWIDTH 1\nHEIGHT 1\n"
                           "DATA ascii\n1 2 3 66051 5\n");
    test_columns_are(cloud, "x:float y:float z:float rgb:uint32 red:uint16");
    check_round_trips(ctx, cloud);
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
}

static void keeps_grid_and_viewpoint(void **state) {
    (void)state;
    mote_context *ctx = test_context(1);
    mote_cloud *cloud = read_text(ctx, XYZ "WIDTH 3\nHEIGHT 2\nVIEWPOINT 1.5 -2 3e2 0.5 .5 -0.5 +0.5\nPOINTS 6\n"
                                           "DATA ascii\n1 2 3\nnan nan nan\n4 5 6\nNaN nan nan\n7 8 9\n10 11 12\n");
    uint64_t width = 0, height = 0, skipped = 0;
    mote_box box;
    assert_true(mote_cloud_grid(cloud, &width, &height));
    assert_true(width == 3 && height == 2);
    assert_int_equal(mote_cloud_bounds(ctx, cloud, &box, &skipped), MOTE_OK);
    assert_true(skipped == 2 && box.max[0] == 10);
    assert_int_equal(mote_cloud_record_count(cloud), 1);
    assert_memory_equal(mote_cloud_record(cloud, 0)->data, "1.5 -2 3e2 0.5 .5 -0.5 +0.5", 27);
    check_round_trips(ctx, cloud);
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
    write_pcd(ctx, las, test_path("view.pcd"), ASCII);
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
    mote_cloud *cloud = read_text(ctx, XYZ REST "DATA ascii\n289814.15 4320978.61 170.76\n289814.64 4320978.84 170\n");
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
        cloud = read_text(ctx, text);
        if (test_column(cloud, "x")->type != MOTE_FLOAT32) fail_msg("%s was widened", floats[i]);
        mote_cloud_destroy(cloud);
    }
    mote_context_destroy(ctx);
}

static void las_leaves_out_what_is_not_finite(void **state) {
    (void)state;
    char message[TEST_MESSAGE_BYTES] = "";
    mote_context *ctx = test_context_listening(message);
    mote_cloud *cloud = read_text(ctx, XYZ "WIDTH 4\nHEIGHT 1\nPOINTS 4\nDATA ascii\n1 2 3\n1 nan 3\n4 5 6\n1 2 inf\n");
    assert_int_equal(mote_cloud_write(ctx, cloud, test_path("finite.las"), NULL), MOTE_OK);
    assert_non_null(strstr(message, "finite.las: 2 points without a finite position are left out"));
    mote_cloud *back = test_read(ctx, test_path("finite.las"));
    assert_int_equal(mote_cloud_count(back), 2);
    assert_true(test_value(back, "x", 1) == 4 && test_value(back, "z", 0) == 3);
    mote_cloud_destroy(back);
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
}

/* ---- what is refused */

static void refuses_bad_headers(void **state) {
    (void)state;
#define FIELDS3 "VERSION 0.7\nFIELDS x y z\n"
    static const char *const cases[][2] = {
        {"", "the file is empty"},
        {"1 2 3\n4 5 6\n", "offset 0: \"1\" begins no line of a PCD header"},
        {"VERSION 0.7\n", "offset 12: the PCD header has no DATA line"},
        {"VERSION 0.8\nDATA ascii\n", "offset 8: the VERSION line of the PCD header names none"},
        {"VERSION\nDATA ascii\n", "the VERSION line of the PCD header has no value"},
        {"VERSION 0.7\nVERSION 0.7\n", "offset 12: the VERSION line of the PCD header stands twice"},
        {"SIZE 4\nFIELDS x\n", "comes before the FIELDS line"},
        {"FIELDS\n", "names no field"},
        {"FIELDS x y x\n", "names a field twice"},
        {FIELDS3 "SIZE 4 4\n", "has fewer values than there are fields"},
        {FIELDS3 "SIZE 4 4 4 4\n", "has more values than there are fields"},
        {FIELDS3 "SIZE 4 4 3\n", "offset 34: the SIZE line of the PCD header has a size that is none of"},
        {FIELDS3 "SIZE 4 4 -4\n", "is no whole number"},
        {FIELDS3 "SIZE 4 4 99999999999999999999\n", "is no whole number"},
        {FIELDS3 "TYPE F F D\n", "has a type that is none of I, U and F"},
        {FIELDS3 "TYPE F F FF\n", "has a type that is none of I, U and F"},
        {FIELDS3 "COUNT 1 1 0\n", "has a count beyond 1 to 8192"},
        {FIELDS3 "COUNT 1 1 4294967297\n", "has a count beyond 1 to 8192"},
        {FIELDS3 "WIDTH 1.5\n", "is no whole number"},
        {FIELDS3 "WIDTH 1 1\n", "has more than one value"},
        {FIELDS3 "WIDTH -1\n", "is no whole number"},
        {FIELDS3 "VIEWPOINT 0 0 0 1 0 0\n", "has fewer than seven numbers"},
        {FIELDS3 "VIEWPOINT 0 0 0 1 0 0 0 0\n", "has more than seven numbers"},
        {FIELDS3 "VIEWPOINT 0 0 0 nan 0 0 0\n", "is no finite number"},
        {FIELDS3 "SIZE 4 4 4\nTYPE F F F\n" REST "DATA text\n", "is none of ascii, binary and binary_compressed"},
        {FIELDS3 "SIZE 4 4 4\nTYPE F F F\n" REST "DATA\n", "the DATA line of the PCD header has no value"},
        {"VERSION 0.7\n" REST "DATA ascii\n", "the PCD header has no FIELDS line"},
        {FIELDS3 "TYPE F F F\n" REST "DATA ascii\n", "the PCD header has no SIZE line"},
        {FIELDS3 "SIZE 4 4 4\n" REST "DATA ascii\n", "the PCD header has no TYPE line"},
        {FIELDS3 "SIZE 4 4 4\nTYPE F F F\nWIDTH 2\nDATA ascii\n", "neither a POINTS line nor WIDTH and HEIGHT"},
        {FIELDS3 "SIZE 4 4 4\nTYPE F F F\nHEIGHT 2\nPOINTS 2\nDATA ascii\n", "has HEIGHT but no WIDTH"},
        {XYZ "WIDTH 2\nHEIGHT 2\nPOINTS 3\nDATA ascii\n", "POINTS is 3, but WIDTH 2 times HEIGHT 2 is 4"},
        {XYZ "WIDTH 2\nPOINTS 3\nDATA ascii\n", "POINTS is 3, but WIDTH 2 times HEIGHT 1 is 2"},
        {XYZ "WIDTH 4294967296\nHEIGHT 4294967296\nPOINTS 0\nDATA ascii\n", "is beyond 64 bits"},
        {FIELDS3 "SIZE 4 4 2\nTYPE F F F\n" REST "DATA ascii\n", "field z is a float of 2 bytes"},
        {FIELDS3 "SIZE 4 4 4\nTYPE F F F\nCOUNT 1 1 2\n" REST "DATA ascii\n", "0 fields of one value are named z"},
        {"FIELDS x Y\nSIZE 4 4\nTYPE F F\n" REST "DATA ascii\n", "0 fields of one value are named z"},
        {"FIELDS x y z X\nSIZE 4 4 4 4\nTYPE F F F F\n" REST "DATA ascii\n", "2 fields of one value are named x"},
        {"FIELDS x y z a b\nSIZE 1 1 1 1 1\nTYPE U U U U U\nCOUNT 1 1 1 8000 8000\n" REST "DATA ascii\n",
         "a point has more than 8192 values"},
        {"# mote column x scale 0\n" XYZ "WIDTH 0\nHEIGHT 0\nDATA ascii\n", "scale 0"},
        {"# mote column x joined int64\n# mote column y scale nan\n" XYZ "WIDTH 0\nHEIGHT 0\nDATA ascii\n",
         "needs a finite number"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        mote_context *ctx = test_context(2);
        test_refused(ctx, "pcd", cases[i][0], strlen(cases[i][0]), cases[i][1]);
        mote_context_destroy(ctx);
    }
    mote_context *ctx = test_context(2);
    test_refused(ctx, "pcd", "VERSION 0.7\n\0", 13, "offset 12: a zero byte in the PCD header");
    char *const line = malloc(1100000);
    memset(line, '#', 1100000);
    test_refused(ctx, "pcd", line, 1100000, "a PCD header line of more than 1048576 bytes");
    memset(line, 'a', 1000);
    memcpy(line, "FIELDS ", 7);
    test_refused(ctx, "pcd", line, 1000, "a name of more than 90 bytes");
    free(line);
    mote_context_destroy(ctx);
}

static void refuses_bad_points(void **state) {
    (void)state;
    static const char *const cases[][2] = {
        {XYZ REST "DATA ascii\n1 2 3\n4 5 6 7\n", "line 11, column 7: \"7\": the row has more than 3 values"},
        {XYZ REST "DATA ascii\n1 2 3\n 4 5\n\n", "line 11, column 5: the row ends after 2 values, it needs 3"},
        {XYZ REST "DATA ascii\n1 2 3\n         ", "the file ends after 1 of 2 points"},
        {XYZ REST "DATA ascii\n1 2 three\n4 5 6\n", "line 10, column 5: \"three\" is no number"},
        {XYZ REST "DATA ascii\n", "2 points of 3 values need at least 6 bytes each, the file has 0 left"},
        {XYZ "WIDTH 18446744073709551615\nHEIGHT 1\nDATA ascii\n1 2 3\n", "18446744073709551615 points of 3 values"},
        {XYZ "WIDTH 18446744073709551615\nHEIGHT 1\nDATA binary\n1 2 3\n", "18446744073709551615 points of 12 bytes"},
        {XYZ REST "DATA binary\n01234567890123456789012", "2 points of 12 bytes, but the file has 23 bytes left"},
        {XYZ REST "DATA binary_compressed\n0123456", "the file ends before the compressed data"},
        {"FIELDS x y z a\nSIZE 4 4 4 1\nTYPE F F F U\n" REST "DATA ascii\n1 2 3 256\n1 2 3 4\n",
         "\"256\" does not fit"},
        {"FIELDS x y z a\nSIZE 4 4 4 1\nTYPE F F F U\n" REST "DATA ascii\n1 2 3 1.5\n1 2 3 4\n",
         "\"1.5\" does not fit"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        mote_context *ctx = test_context(2);
        test_refused(ctx, "pcd", cases[i][0], strlen(cases[i][0]), cases[i][1]);
        mote_context_destroy(ctx);
    }
}

/* A file of binary_compressed with these sizes and bytes. */
static void check_compressed(mote_context *ctx, uint32_t packed, uint32_t unpacked, const char *bytes, size_t size,
                             const char *message) {
    static const char head[] = XYZ REST "DATA binary_compressed\n";
    uint8_t file[1024];
    uint8_t *at = put(file, head, sizeof head - 1);
    at = put(put(put(at, &packed, 4), &unpacked, 4), bytes, size);
    test_refused(ctx, "pcd", file, (size_t)(at - file), message);
}

static void refuses_bad_compression(void **state) {
    (void)state;
    mote_context *ctx = test_context(1);
    static const char zeros[] = "\x00\x00\xE0\x0E\x00"; /* a zero, and 23 copies of it */
    check_compressed(ctx, 5, 25, zeros, 5, "25 bytes uncompressed, but 2 points of 12 bytes");
    check_compressed(ctx, 5, 48, zeros, 5, "48 bytes uncompressed, but 2 points of 12 bytes");
    check_compressed(ctx, 6, 24, zeros, 5, "6 compressed bytes, but the file has 5 left");
    check_compressed(ctx, UINT32_MAX, 24, zeros, 5, "4294967295 compressed bytes, but the file has 5 left");
    check_compressed(ctx, 0, 24, zeros, 5, "0 compressed bytes cannot become 24");
    check_compressed(ctx, 4, 24, zeros, 5, "a copy runs past the end of the compressed data");
    check_compressed(ctx, 5, 24, "\x00\x00\xE0\x0D\x00", 5, "the compressed data end before the last point");
    check_compressed(ctx, 5, 24, "\x00\x00\xE0\x0F\x00", 5, "there are more points than the header says");
    check_compressed(ctx, 5, 24, "\x00\x00\xE0\x0E\x01", 5, "a copy reaches back before the first byte");
    check_compressed(ctx, 6, 24, "\x00\x00\xE0\x0E\x00\x00", 6, "compressed data are left");
    check_compressed(ctx, 5, 24,
                     "\x17"
                     "1234",
                     5, "literal bytes run past the end of the compressed data");
    check_compressed(ctx, 3, 24, "\x20\x00\x00", 3, "a copy reaches back before the first byte");
    mote_context_destroy(ctx);
    /* 4 GiB cannot come from 5 bytes: nothing is allocated for them. */
    static const char head[] = XYZ "WIDTH 357913941\nHEIGHT 1\nDATA binary_compressed\n";
    uint8_t file[256];
    const uint32_t sizes[2] = {5, 357913941u * 12};
    uint8_t *at = put(put(put(file, head, sizeof head - 1), sizes, 8), zeros, 5);
    ctx = test_context(1);
    test_refused(ctx, "pcd", file, (size_t)(at - file), "5 compressed bytes cannot become 4294967292");
    mote_context_destroy(ctx);
}

/* ---- LZF */

static void check_lzf(const uint8_t *in, size_t size) {
    uint32_t *const table = malloc(MOTE_LZF_TABLE_ENTRIES * sizeof *table);
    const uint64_t bound = mote_lzf_bound(size);
    uint8_t *const packed = malloc(bound), *const out = malloc(size + 1);
    const uint64_t packed_bytes = mote_lzf_encode(in, size, packed, table);
    assert_true(packed_bytes <= bound);
    mote_lzf lzf = {.in = packed, .in_bytes = packed_bytes, .out = out, .out_bytes = size};
    for (uint64_t stop = 0; lzf.out_at < size; stop += 1000) {
        const char *const error = mote_lzf_decode(&lzf, stop < size ? stop : size);
        if (error != NULL) fail_msg("%s", error);
    }
    assert_int_equal(lzf.in_at, packed_bytes);
    if (size > 0) assert_memory_equal(in, out, size);
    assert_true(size <= packed_bytes * MOTE_LZF_EXPANSION);
    free(out);
    free(packed);
    free(table);
}

static void lzf_gives_bytes_back(void **state) {
    (void)state;
    const size_t size = 100000;
    uint8_t *const bytes = malloc(size);
    uint32_t random = 1;
    for (uint32_t period = 1; period < 12000; period = period * 2 + 1) {
        for (uint32_t i = 0; i < size; i++) {
            random = random * 1664525u + 1013904223u;
            bytes[i] = i < period ? (uint8_t)(random >> 24) : bytes[i - period];
        }
        check_lzf(bytes, size);
    }
    for (uint32_t mask = 1; mask < 256; mask = mask * 2 + 1) {
        for (size_t i = 0; i < size; i++) {
            random = random * 1664525u + 1013904223u;
            bytes[i] = (uint8_t)(random >> 24 & mask);
        }
        check_lzf(bytes, size);
    }
    memset(bytes, 7, size);
    for (size_t length = 0; length < 600; length++) check_lzf(bytes, length);
    check_lzf(bytes, size);
    free(bytes);
}

/* ---- writing */

/* A bit of everything: LAS-like positions and angles, packed bits, names that PCD cannot hold, arrays, colours. */
static mote_cloud *rich_cloud(mote_context *ctx, uint64_t count) {
    const mote_column_spec specs[] = {{"x", MOTE_INT32, 0.001, 500000},     {"y", MOTE_INT32, 0.001, 0},
                                      {"z", MOTE_INT32, 0.00025, 0},        {"blue", MOTE_UINT8, 0, 0},
                                      {"a b", MOTE_FLOAT32, 0, 0},          {"_", MOTE_INT8, 0, 0},
                                      {"scan_angle", MOTE_INT16, 0.006, 0}, {"v[0]", MOTE_UINT16, 0, 0},
                                      {"v[1]", MOTE_UINT16, 0, 0},          {"red", MOTE_UINT8, 0, 0},
                                      {"green", MOTE_UINT8, 0, 0},          {"w[0]", MOTE_UINT16, 0, 0},
                                      {"w[1]", MOTE_UINT8, 0, 0},           {"X", MOTE_UINT64, 0, 0},
                                      {"GpsTime", MOTE_FLOAT64, 0, 0},      {"gps_time", MOTE_FLOAT64, 0, 0},
                                      {"alpha", MOTE_UINT8, 0, 0}};
    const uint32_t column_count = sizeof specs / sizeof specs[0];
    mote_cloud *cloud = NULL;
    assert_int_equal(mote_cloud_create(ctx, count, specs, column_count, &cloud), MOTE_OK);
    for (uint32_t c = 0; c < column_count; c++) {
        const mote_column *const column = mote_cloud_column(cloud, c);
        uint8_t *at = mote_cloud_column_data(cloud, column->name);
        for (uint64_t i = 0; i < count; i++, at += column->stride_bytes) {
            const uint64_t n = (i / 3) * 0x9E3779B97F4A7C15ull >> c;
            const float f = (float)(n >> 40) / 7;
            const double d = (double)(n >> 11) / 3e9;
            const void *from = column->type == MOTE_FLOAT32   ? (const void *)&f
                               : column->type == MOTE_FLOAT64 ? (const void *)&d
                                                              : (const void *)&n;
            memcpy(at, from, mote_type_size(column->type));
        }
    }
    cloud->columns[6].unit = "degree";
    cloud->columns[4].description = "two words, 50%";
    assert_int_equal(mote_cloud_set_crs(cloud, "PROJCS[\"a b\",\n1]"), MOTE_OK);
    return cloud;
}

/* LAS positions become doubles; from then on nothing changes. */
static void writes_a_bit_of_everything(void **state) {
    (void)state;
    mote_context *ctx = test_context(2);
    mote_cloud *cloud = rich_cloud(ctx, 3000);
    write_pcd(ctx, cloud, test_path("rich.pcd"), BINARY);
    mote_cloud *again = test_read(ctx, test_path("rich.pcd"));
    test_columns_are(again, "x:double y:double z:double red:uint8 green:uint8 blue:uint8 alpha:uint8 a b:float _:int8 "
                            "scan_angle:int16 v[0]:uint16 v[1]:uint16 w[0]:uint16 w[1]:uint8 X:uint64 GpsTime:double "
                            "gps_time:double");
    for (uint32_t c = 0; c < mote_cloud_column_count(cloud); c++) {
        const mote_column *const a = mote_cloud_column(cloud, c), *const b = test_column(again, a->name);
        assert_string_equal(a->unit, b->unit);
        if (a->description[0] != '\0') assert_string_equal(a->description, b->description);
        for (uint64_t i = 0; i < 3000; i += 7) {
            const double wanted = mote_column_value(a, i), got = mote_column_value(b, i);
            if (!(fabs(wanted - got) <= 1e-9 * (fabs(wanted) < 1 ? fabs(wanted) : 1) || wanted == got))
                fail_msg("%s: %.17g is %.17g", a->name, wanted, got);
        }
    }
    assert_true(again->position_step == 0.00001);
    assert_true(test_column(again, "scan_angle")->scale == 0.006);
    assert_string_equal(mote_cloud_crs(again), "PROJCS[\"a b\",\n1]");
    check_round_trips(ctx, again);
    size_t size = 0;
    char *const bytes = test_load(test_path("rich.pcd"), &size);
    assert_non_null(strstr(bytes, "\nCOUNT 1 1 1 1 1 1 1 2 1 1 1 1 1\n"));
    free(bytes);
    mote_cloud_destroy(again);
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
}

static void writes_chosen_columns(void **state) {
    (void)state;
    mote_context *ctx = test_context(1);
    mote_cloud *cloud = rich_cloud(ctx, 10), *again = NULL;
    mote_write_params params = mote_write_defaults();
    params.columns = "z,y,x,red,green,blue,v[1]";
    assert_int_equal(mote_cloud_write(ctx, cloud, test_path("chosen.pcd"), &params), MOTE_OK);
    again = test_read(ctx, test_path("chosen.pcd"));
    test_columns_are(again, "z:double y:double x:double red:uint8 green:uint8 blue:uint8 v[1]:uint16");
    assert_string_equal(test_column(again, "red")->description, "rgb");
    mote_cloud_destroy(again);
    params.columns = "x,y,z,red,green";
    assert_int_equal(mote_cloud_write(ctx, cloud, test_path("chosen.pcd"), &params), MOTE_OK);
    again = test_read(ctx, test_path("chosen.pcd"));
    test_columns_are(again, "x:double y:double z:double red:uint8 green:uint8");
    mote_cloud_destroy(again);
    params.columns = "x,y";
    assert_int_equal(mote_cloud_write(ctx, cloud, test_path("never.pcd"), &params), MOTE_ERROR_ARGUMENT);
    params = params_of(ASCII);
    params.compress = true;
    assert_int_equal(mote_cloud_write(ctx, cloud, test_path("never.pcd"), &params), MOTE_ERROR_ARGUMENT);
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
}

static void same_bytes_for_any_threads(void **state) {
    (void)state;
    const int threads[] = {1, 2, 7};
    for (int way = 0; way < WAYS; way++) {
        char *first = NULL;
        size_t first_size = 0;
        for (int t = 0; t < 3; t++) {
            mote_context *ctx = test_context(threads[t]);
            mote_cloud *cloud = rich_cloud(ctx, 200000);
            write_pcd(ctx, cloud, test_path("threads.pcd"), way);
            size_t size = 0;
            char *const bytes = test_load(test_path("threads.pcd"), &size);
            if (t > 0) {
                assert_int_equal(size, first_size);
                assert_int_equal(memcmp(first, bytes, size), 0);
                free(bytes);
            } else {
                first = bytes;
                first_size = size;
            }
            mote_cloud_destroy(cloud);
            mote_context_destroy(ctx);
        }
        free(first);
    }
}

/* Writes count points to source in an encoding, to be copied to target in the same. */
static test_copy make_copy(const char *source, const char *target, uint64_t count, int way) {
    const test_copy copy = {test_path(source), test_path(target), params_of(way)};
    mote_context *ctx = test_context(1);
    mote_cloud *cloud = rich_cloud(ctx, count);
    write_pcd(ctx, cloud, copy.source, way);
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
    return copy;
}

static void survives_failing_allocations(void **state) {
    (void)state;
    for (int way = 0; way < WAYS; way++) {
        test_copy copy = make_copy("source.pcd", "target.pcd", 1000, way);
        test_each_allocation_fails(test_copy_file, &copy);
    }
    /* Positions that are widened, and points that LAS cannot hold. */
    static const char text[] = XYZ REST "VIEWPOINT 1 0 0 1 0 0 0\nDATA ascii\n289814.15 4320978.61 170.76\n1 nan 3\n";
    test_copy copy = {test_path("wide.pcd"), test_path("wide.las"), mote_write_defaults()};
    test_write_file(copy.source, text, sizeof text - 1);
    test_each_allocation_fails(test_copy_file, &copy);
}

static void cancel_leaves_nothing(void **state) {
    (void)state;
    for (int way = 0; way < WAYS; way++) {
        test_copy copy = make_copy("cancel.pcd", "cancelled.pcd", 100000, way);
        test_each_step_cancels(test_copy_file, &copy);
    }
}

/* ---- real files */

static uint32_t crc32_of(uint32_t crc, uint8_t byte) {
    crc ^= byte;
    for (int k = 0; k < 8; k++) crc = (crc >> 1) ^ (0xEDB88320u & (0u - (crc & 1)));
    return crc;
}

/* The checksum of the bytes of one column, or of several whose bytes stand side by side. */
static uint32_t checksum(const mote_cloud *cloud, const char *const *names, int count) {
    uint32_t crc = UINT32_MAX;
    for (uint64_t i = 0; i < mote_cloud_count(cloud); i++) {
        for (int k = 0; k < count; k++) {
            const mote_column *const column = mote_cloud_find(cloud, names[k]);
            for (uint32_t b = 0; column != NULL && b < mote_type_size(column->type); b++) {
                crc = crc32_of(crc, mote_column_at(column, i)[b]);
            }
            if (column == NULL) crc = crc32_of(crc, 0);
        }
    }
    return ~crc;
}

/* Found with a decoder in Python: CRC-32 of the bytes of x, y, z, and of rgb or another column. */
static const struct {
    const char *name;
    uint64_t count, width;
    uint32_t xyz[3];
    const char *other; /* "": the packed colour */
    uint32_t other_crc;
} real_files[] = {
    {"Zaghetto.pcd", 59750, 0, {0x3d5b027d, 0x22a63710, 0x89611285}, NULL, 0},
    {"autzen-utm.pcd", 1065, 0, {0x49a9ec1c, 0xdf7da724, 0x394ec198}, "gps_time", 0xb7212424},
    {"car6.pcd", 10031, 0, {0x8c6ce60b, 0x70765e91, 0xe9be0e9a}, NULL, 0},
    {"fragment.pcd", 113662, 0, {0x6da53a39, 0x31f2fe81, 0x1fdfc29f}, "", 0x603f27e5},
    {"milk_color.pcd", 13704, 0, {0xdee7de1a, 0x7f726a96, 0xafa152f2}, "", 0x7f7c775b},
    {"room_scan1.pcd", 112586, 0, {0xc5a3fcf8, 0x522f75d3, 0x4deed030}, NULL, 0},
    {"sac_plane_test.pcd", 3283, 0, {0x7b79dd37, 0xbaddbe48, 0x3e62cfe5}, "curvature", 0x98104aa7},
    {"samp11-utm.pcd", 38010, 0, {0x1f6012f7, 0x534a9e1f, 0x02b699f2}, NULL, 0},
    {"table_scene_mug_stereo_textured.pcd", 307200, 640, {0x61fa1d54, 0x6ef73f52, 0x054865e3}, "", 0xc9066922},
};

static void reads_real_files(void **state) {
    (void)state;
    static const char *const axes[] = {"x", "y", "z"}, *const color[] = {"blue", "green", "red", "alpha"};
    mote_context *ctx = test_context(2);
    for (size_t f = 0; f < sizeof real_files / sizeof real_files[0]; f++) {
        char name[128];
        uint64_t width = 0, height = 0;
        snprintf(name, sizeof name, "pcd/%s", real_files[f].name);
        const char *const path = test_data(name);
        if (path == NULL) continue;
        assert_string_equal(mote_file_format(ctx, path), "pcd");
        mote_cloud *cloud = test_read(ctx, path);
        assert_int_equal(mote_cloud_count(cloud), real_files[f].count);
        for (int k = 0; k < 3; k++) assert_int_equal(checksum(cloud, &axes[k], 1), real_files[f].xyz[k]);
        if (real_files[f].other != NULL) {
            const bool packed = real_files[f].other[0] == '\0';
            const uint32_t crc = checksum(cloud, packed ? color : &real_files[f].other, packed ? 4 : 1);
            assert_int_equal(crc, real_files[f].other_crc);
        }
        assert_int_equal(mote_cloud_grid(cloud, &width, &height), real_files[f].width > 0);
        assert_int_equal(width, real_files[f].width);
        check_round_trips(ctx, cloud);
        mote_cloud_destroy(cloud);
    }
    static const char *const utm[] = {"pcd/utm17_comma.pcd", "pcd/utm17_tab.pcd"};
    for (int i = 0; i < 2; i++) {
        const char *const path = test_data(utm[i]);
        if (path == NULL) continue;
        mote_cloud *cloud = test_read(ctx, path);
        assert_true(mote_cloud_count(cloud) == 10 && test_value(cloud, "y", 9) == 4320980.59);
        mote_cloud_destroy(cloud);
    }
    const char *const path = test_data("broken/missingheader.pcd");
    mote_cloud *cloud = NULL;
    if (path != NULL) {
        assert_int_equal(mote_cloud_read(ctx, path, NULL, &cloud), MOTE_ERROR_DATA);
        assert_non_null(strstr(mote_context_message(ctx), "offset 0: \"289814.15\" begins no line of a PCD header"));
    }
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
