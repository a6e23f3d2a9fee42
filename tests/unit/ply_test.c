/* PLY: what is read, and that writing gives the same points back. What is refused stands in ply_test_refuse.c. */
#define _GNU_SOURCE /* access */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/cloud.h"
#include "unit/ply_test.h"

static mote_cloud *read_bytes(mote_context *ctx, const void *bytes, size_t size) {
    const char *const path = test_path("in.ply");
    test_write_file(path, bytes, size);
    return test_read(ctx, path);
}

static mote_cloud *read_text(mote_context *ctx, const char *text) { return read_bytes(ctx, text, strlen(text)); }

static void write_file(mote_context *ctx, const mote_cloud *cloud, const char *path, bool text, bool big) {
    mote_write_params params = mote_write_defaults();
    params.text = text;
    params.big_endian = big;
    test_write(ctx, cloud, path, &params);
}

/* Every encoding gives the same columns back, bit for bit, descriptions included. */
static void check_round_trips(mote_context *ctx, const mote_cloud *cloud) {
    const uint64_t hash = test_hash(ctx, cloud);
    for (int way = 0; way < 3; way++) {
        const char *const path = test_path("again.ply");
        write_file(ctx, cloud, path, way == 1, way == 2);
        mote_cloud *again = test_read(ctx, path);
        test_same_columns(again, cloud, true);
        /* Text has one NaN, binary keeps which. */
        if (test_hash(ctx, again) != hash) fail_msg("other points in encoding %d", way);
        mote_cloud_destroy(again);
    }
}

/* ---- reading */

static void reads_all_encodings(void **state) {
    (void)state;
    mote_context *ctx = test_context(2);
    mote_cloud *cloud = read_text(ctx, "ply\nformat ascii 1.0\nelement vertex 2\n" XYZ
                                       "property uchar red\nend_header\n1 -2.5 3e2 255\n4 5 6 0\n");
    assert_int_equal(mote_cloud_count(cloud), 2);
    assert_true(test_value(cloud, "y", 0) == -2.5 && test_value(cloud, "z", 0) == 300 &&
                test_value(cloud, "red", 0) == 255);
    assert_true(cloud->position_step == 0); /* floats have no decimal step */
    check_round_trips(ctx, cloud);
    mote_cloud_destroy(cloud);
    static const char big[] =
        "ply\nformat binary_big_endian 1.0\nelement vertex 1\nproperty short s\n" XYZ
        "property double d\nend_header\n\x01\x02\x3F\x80\0\0\x40\0\0\0\xC0\x40\0\0\x3F\xF8\0\0\0\0\0\0";
    cloud = read_bytes(ctx, big, sizeof big - 1);
    assert_true(test_value(cloud, "s", 0) == 258 && test_value(cloud, "x", 0) == 1 && test_value(cloud, "z", 0) == -3);
    assert_true(test_value(cloud, "d", 0) == 1.5);
    check_round_trips(ctx, cloud);
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
}

static void binary_points_are_not_copied(void **state) {
    (void)state;
    mote_context *ctx = test_context(1);
    static const char head[] = "ply\n" BINARY "element vertex 100000\n" XYZ "end_header\n";
    const size_t size = sizeof head - 1 + 1200000;
    char *const bytes = calloc(1, size);
    memcpy(bytes, head, sizeof head - 1);
    mote_cloud *cloud = read_bytes(ctx, bytes, size);
    assert_true(mote_context_memory_peak_bytes(ctx) < 100000);
    assert_null(mote_cloud_column_data(cloud, "x"));
    mote_cloud_destroy(cloud);
    free(bytes);
    mote_context_destroy(ctx);
}

static void steps_over_other_elements(void **state) {
    (void)state;
    mote_context *ctx = test_context(2);
    static const char binary[] =
        "ply\n" BINARY "element face 2\nproperty list uchar int i\nproperty uchar f\nelement none 0\n"
        "element vertex 1\n" XYZ "element camera 1\nproperty list int8 double d\nend_header\n"
        "\x02"
        "12341234"
        "f"
        "\x00"
        "f"
        "\0\0\x80\x3F\0\0\0\x40\0\0\x40\x40"
        "\x01"
        "12345678";
    mote_cloud *cloud = read_bytes(ctx, binary, sizeof binary - 1);
    assert_true(test_value(cloud, "x", 0) == 1 && test_value(cloud, "y", 0) == 2 && test_value(cloud, "z", 0) == 3);
    mote_cloud_destroy(cloud);
    cloud = read_text(ctx, "ply\nformat ascii 1.0\nelement face 2\nproperty list uchar int i\nelement vertex 1\n" XYZ
                           "element edge 1\nproperty int a\nend_header\n3 1 2 3\n0\n\n  1 2 3\n7\n");
    assert_true(test_value(cloud, "x", 0) == 1 && test_value(cloud, "z", 0) == 3);
    mote_cloud_destroy(cloud);
    /* Lists among the properties of the points. */
    static const char lists[] = "ply\n" BINARY "element vertex 2\nproperty list uint uchar a\n" XYZ
                                "property list uchar double b\nproperty uchar last\nend_header\n"
                                "\x02\0\0\0ab\0\0\x80\x3F\0\0\0\x40\0\0\x40\x40\x00"
                                "9"
                                "\x00\0\0\0\0\0\0\x40\0\0\0\x40\0\0\x40\x40\x01"
                                "12345678"
                                "8";
    cloud = read_bytes(ctx, lists, sizeof lists - 1);
    assert_int_equal(mote_cloud_column_count(cloud), 4);
    assert_true(test_value(cloud, "x", 0) == 1 && test_value(cloud, "x", 1) == 2);
    assert_true(test_value(cloud, "last", 0) == '9' && test_value(cloud, "last", 1) == '8');
    mote_cloud_destroy(cloud);
    cloud = read_text(ctx, "ply\nformat ascii 1.0\nelement point 2\nproperty list uchar int i\n" XYZ
                           "property list uchar int j\nend_header\n1 9 1 2 3 2 0 0\n0 4 5 6\n");
    assert_true(test_value(cloud, "x", 0) == 1 && test_value(cloud, "x", 1) == 4 && test_value(cloud, "z", 1) == 6);
    mote_cloud_destroy(cloud);
    assert_int_equal(mote_context_memory_bytes(ctx), 0);
    mote_context_destroy(ctx);
}

static void reads_all_line_ends(void **state) {
    (void)state;
    mote_context *ctx = test_context(1);
    static const char crlf[] =
        "ply\r\nformat ascii 1.0\r\nelement vertex 1\r\nproperty double x\r\nproperty double y\r\n"
        "property double z\r\nend_header\r\n1.5 2.25 3\r\n";
    mote_cloud *cloud = read_bytes(ctx, crlf, sizeof crlf - 1);
    assert_true(test_value(cloud, "y", 0) == 2.25);
    assert_true(cloud->position_step == 0.01);
    mote_cloud_destroy(cloud);
    static const char cr[] =
        "ply\rformat ascii 1.0\relement vertex 2\rproperty float x\rproperty float y\rproperty float z\r"
        "end_header\r1 2 3\r4 5 6";
    cloud = read_bytes(ctx, cr, sizeof cr - 1);
    assert_true(test_value(cloud, "z", 1) == 6);
    mote_cloud_destroy(cloud);
    /* Behind a header of CR lines, a first byte 0x0A is of the first point. */
    static const char cr_binary[] =
        "ply\rformat binary_little_endian 1.0\relement vertex 1\rproperty uchar x\rproperty uchar y\r"
        "property uchar z\rend_header\r\n\r\n";
    cloud = read_bytes(ctx, cr_binary, sizeof cr_binary - 1);
    assert_true(test_value(cloud, "x", 0) == 10 && test_value(cloud, "y", 0) == 13 && test_value(cloud, "z", 0) == 10);
    mote_cloud_destroy(cloud);
    static const char crlf_binary[] = "ply\n" BINARY "element vertex 1\r\nproperty uchar x\r\nproperty uchar y\r\n"
                                      "property uchar z\r\nend_header\r\n\n\r\n";
    cloud = read_bytes(ctx, crlf_binary, sizeof crlf_binary - 1);
    assert_true(test_value(cloud, "x", 0) == 10 && test_value(cloud, "y", 0) == 13 && test_value(cloud, "z", 0) == 10);
    mote_cloud_destroy(cloud);
    cloud = read_text(ctx, "ply \n\tformat  ascii\t1.0 \ncomment\nobj_info \n\n element vertex 0\nproperty int8 x\n"
                           "property uint64 y\nproperty float64 z\nend_header");
    assert_int_equal(mote_cloud_count(cloud), 0);
    assert_int_equal(mote_cloud_find(cloud, "y")->type, MOTE_UINT64);
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
}

/* Rows may be anywhere in lines; where some begin or end in the middle of one, as where a value is missing in one row
   and one too many in another, the first is named. */
static void tells_of_rows_beside_lines(void **state) {
    (void)state;
    static const struct {
        const char *rows, *line; /* NULL: nothing is told */
        unsigned count;
    } cases[] = {
        {"1 2 3\n5 6 7\n8 9 10\n", NULL, 0},     {"1 2\n3 5 6 7\n8 9 10\n", "line 8", 1},
        {"1 2 3\n5 6\n7 8 9 10\n", "line 9", 1}, {"1 2 3 5\n6 7\n8 9 10\n", "line 8", 1},
        {"1 2 3 5 6\r\n7 8 9 10", "line 8", 1},  {"1 2\n3 5\n6 7 8\n9 10\n", "line 8", 3},
        {"1 2 3 5 6 7 8 9 10\n", NULL, 0},       {"1\n2 3\n\n5 6\n7\n8\n9\n10", NULL, 0},
        {"1 2 3 5 6 7\n8 9\n10\n", NULL, 0},
    };
    char message[TEST_MESSAGE_BYTES], text[256];
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        message[0] = '\0';
        mote_context *ctx = test_context_listening(message);
        snprintf(text, sizeof text, ASCII "element vertex 3\n" XYZ "end_header\n%s", cases[i].rows);
        mote_cloud *cloud = read_text(ctx, text);
        assert_true(test_value(cloud, "y", 1) == 6 && test_value(cloud, "z", 2) == 10);
        assert_int_equal(cases[i].line != NULL, strstr(message, "in the middle of one") != NULL);
        if (cases[i].line != NULL) {
            snprintf(text, sizeof text, "(%u)", cases[i].count);
            if (strstr(message, cases[i].line) == NULL || strstr(message, text) == NULL)
                fail_msg("case %zu: %s", i, message);
        }
        mote_cloud_destroy(cloud);
        mote_context_destroy(ctx);
    }
}

static void names_are_standard_and_come_back(void **state) {
    (void)state;
    mote_context *ctx = test_context(1);
    mote_cloud *cloud = read_text(
        ctx, "ply\nformat ascii 1.0\nelement vertex 1\n" XYZ "property float nx\nproperty float ny\nproperty float nz\n"
             "property uchar diffuse_red\nproperty uchar diffuse_green\nproperty uchar diffuse_blue\n"
             "property uchar diffuse_alpha\nproperty float scalar_Intensity\nproperty uchar r\n"
             "end_header\n1 2 3 0 0 1 7 8 9 10 11.5 12\n");
    assert_true(test_value(cloud, "normal_z", 0) == 1 && test_value(cloud, "red", 0) == 7 &&
                test_value(cloud, "alpha", 0) == 10);
    assert_true(test_value(cloud, "intensity", 0) == 11.5 && test_value(cloud, "r", 0) == 12);
    check_round_trips(ctx, cloud);
    const char *const path = test_path("names.ply");
    write_file(ctx, cloud, path, true, false);
    size_t size = 0;
    char *const text = test_load(path, &size);
    assert_string_equal(text, "ply\nformat ascii 1.0\nelement vertex 1\n" XYZ
                              "property float nx\nproperty float ny\nproperty float nz\n"
                              "property uchar diffuse_red\nproperty uchar diffuse_green\nproperty uchar diffuse_blue\n"
                              "property uchar diffuse_alpha\nproperty float scalar_Intensity\nproperty uchar r\n"
                              "end_header\n1 2 3 0 0 1 7 8 9 10 11.5 12\n");
    free(text);
    mote_cloud_destroy(cloud);
    /* Names that are standard already, and half groups, stay. */
    cloud =
        read_text(ctx, "ply\nformat ascii 1.0\nelement vertex 1\n" XYZ
                       "property float normal_x\nproperty float normal_y\nproperty float normal_z\nproperty float nx\n"
                       "property float ny\nproperty float nz\nproperty int g\nend_header\n1 2 3 4 5 6 7 8 9 10\n");
    assert_true(test_value(cloud, "normal_x", 0) == 4 && test_value(cloud, "nx", 0) == 7 &&
                test_value(cloud, "g", 0) == 10);
    check_round_trips(ctx, cloud);
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
}

/* ---- writing */

static void keeps_what_ply_has_no_words_for(void **state) {
    (void)state;
    mote_context *ctx = test_context(2);
    const int32_t xyz[6] = {637012240, -5, 431660, 637012241, 7, 0};
    const int64_t wide[2] = {INT64_MIN, 9007199254740993};
    const uint64_t wider[2] = {UINT64_MAX, 1}, narrow[2] = {1ull << 53, 3};
    const uint16_t bits[2] = {0xABCD, 0x1234}, scaled[2] = {7, 65535};
    const mote_column columns[] = {
        {.name = "x", .type = MOTE_INT32, .data = xyz, .stride_bytes = 12, .scale = 0.001, .offset = 100000},
        {.name = "y", .type = MOTE_INT32, .data = xyz + 1, .stride_bytes = 12, .scale = 0.01},
        {.name = "z", .type = MOTE_INT32, .data = xyz + 2, .stride_bytes = 12, .scale = 0.001, .unit = "m"},
        {.name = "Echo width",
         .type = MOTE_UINT16,
         .data = scaled,
         .scale = 0.1,
         .offset = -3,
         .unit = "n s",
         .description = "of 100% echoes"},
        {.name = "wide", .type = MOTE_INT64, .data = wide},
        {.name = "wider", .type = MOTE_UINT64, .data = wider, .unit = "Hz"},
        {.name = "narrow", .type = MOTE_UINT64, .data = narrow},
        {.name = "low", .type = MOTE_UINT16, .data = bits, .bit_count = 4},
        {.name = "high", .type = MOTE_UINT16, .data = bits, .bit_shift = 4, .bit_count = 12},
        {.name = "normal_x", .type = MOTE_UINT8, .data = bits, .stride_bytes = 2}};
    mote_cloud *cloud = NULL;
    assert_int_equal(mote_cloud_wrap(ctx, 2, columns, sizeof columns / sizeof columns[0], &cloud), MOTE_OK);
    assert_int_equal(mote_cloud_set_crs(cloud, "GEOGCS[\"a b\",\n 5%]"), MOTE_OK);
    for (int way = 0; way < 3; way++) {
        const char *const path = test_path("wide.ply");
        write_file(ctx, cloud, path, way == 1, way == 2);
        mote_cloud *again = test_read(ctx, path);
        assert_int_equal(mote_cloud_column_count(again), mote_cloud_column_count(cloud));
        assert_true(test_value(again, "x", 0) == 737012.24 && test_value(again, "x", 1) == 737012.241);
        assert_true(test_value(again, "y", 0) == -0.05 && test_value(again, "z", 0) == 431.66);
        assert_true(again->position_step == 0.001);
        const mote_column *const echo = mote_cloud_find(again, "Echo width");
        assert_true(echo->type == MOTE_UINT16 && echo->scale == 0.1 && echo->offset == -3);
        assert_string_equal(echo->unit, "n s");
        assert_string_equal(echo->description, "of 100% echoes");
        assert_true(mote_column_integer(echo, 1) == 65535);
        assert_int_equal(mote_cloud_find(again, "wide")->type, MOTE_INT64);
        assert_int_equal(mote_column_integer(mote_cloud_find(again, "wide"), 0), INT64_MIN);
        assert_int_equal(mote_column_integer(mote_cloud_find(again, "wide"), 1), 9007199254740993);
        assert_int_equal(mote_cloud_find(again, "wider")->type, MOTE_UINT64);
        assert_int_equal(mote_column_integer(mote_cloud_find(again, "wider"), 0), -1);
        assert_string_equal(mote_cloud_find(again, "wider")->unit, "Hz");
        assert_int_equal(mote_cloud_find(again, "narrow")->type, MOTE_FLOAT64);
        assert_true(test_value(again, "narrow", 0) == 9007199254740992.0);
        assert_true(test_value(again, "low", 0) == 0xD && test_value(again, "high", 1) == 0x123);
        assert_int_equal(mote_cloud_find(again, "high")->type, MOTE_UINT16);
        assert_string_equal(mote_cloud_column(again, 9)->name, "normal_x");
        assert_string_equal(mote_cloud_crs(again), "GEOGCS[\"a b\",\n 5%]");
        check_round_trips(ctx, again);
        mote_cloud_destroy(again);
    }
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
}

/* Records in memory whose first bytes are what a row of the file has; but they are longer, or a value is of some
   bits. */
static void writes_rows_that_are_almost_ready(void **state) {
    (void)state;
    mote_context *ctx = test_context(1);
    const float records[2][4] = {{1, 2, 3, -9}, {4, 5, 6, -9}};
    for (int bits = 0; bits < 2; bits++) {
        uint8_t rows[2][13];
        for (int i = 0; i < 2; i++) memcpy(rows[i], records[i], 12), rows[i][12] = (uint8_t)(0xA7 + i);
        const uint8_t *const base = bits ? rows[0] : (const uint8_t *)records;
        const uint64_t stride = bits ? 13 : 16;
        mote_column columns[4];
        memset(columns, 0, sizeof columns);
        static const char *const names[] = {"x", "y", "z", "low"};
        for (uint32_t c = 0; c < 4; c++) {
            columns[c] = (mote_column){.name = names[c], .data = base + 4 * c, .stride_bytes = stride};
            columns[c].type = c < 3 ? MOTE_FLOAT32 : MOTE_UINT8;
            columns[c].bit_count = c < 3 ? 0 : 3;
        }
        mote_cloud *cloud = NULL;
        assert_int_equal(mote_cloud_wrap(ctx, 2, columns, bits ? 4 : 3, &cloud), MOTE_OK);
        write_file(ctx, cloud, test_path("rows.ply"), false, false);
        mote_cloud *again = test_read(ctx, test_path("rows.ply"));
        for (uint64_t i = 0; i < 2; i++) {
            assert_true(test_value(again, "x", i) == records[i][0] && test_value(again, "z", i) == records[i][2]);
            if (bits) assert_true(test_value(again, "low", i) == (rows[i][12] & 7));
        }
        mote_cloud_destroy(again);
        mote_cloud_destroy(cloud);
    }
    mote_context_destroy(ctx);
}

static void writes_only_what_is_asked_for(void **state) {
    (void)state;
    mote_context *ctx = test_context(1);
    mote_cloud *cloud =
        read_text(ctx, ASCII "element vertex 1\n" XYZ "property int a\nproperty int b\nend_header\n1 2 3 4 5\n");
    mote_write_params params = mote_write_defaults();
    params.text = true;
    params.columns = "b,z,y,x";
    const char *const path = test_path("picked.ply");
    assert_int_equal(mote_cloud_write(ctx, cloud, path, &params), MOTE_OK);
    mote_cloud *again = test_read(ctx, path);
    assert_int_equal(mote_cloud_column_count(again), 4);
    assert_string_equal(mote_cloud_column(again, 0)->name, "b");
    mote_cloud_destroy(again);
    static const char *const bad[] = {"x,y", "x,y,z,c", "x,y,z,x", ""};
    for (int i = 0; i < 4; i++) {
        params.columns = bad[i];
        mote_context_clear(ctx);
        assert_int_equal(mote_cloud_write(ctx, cloud, test_path("never.ply"), &params), MOTE_ERROR_ARGUMENT);
        assert_int_not_equal(access(test_path("never.ply"), F_OK), 0);
    }
    params.columns = NULL;
    params.big_endian = true;
    mote_context_clear(ctx);
    assert_int_equal(mote_cloud_write(ctx, cloud, test_path("never.ply"), &params), MOTE_ERROR_ARGUMENT);
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
}

/* A cloud large enough for several blocks, of every type, with scales. */
static mote_cloud *large_cloud(mote_context *ctx, uint64_t count) {
    const mote_column_spec specs[] = {{"x", MOTE_INT32, 0.001, 500000}, {"y", MOTE_INT32, 0.001, 0},
                                      {"z", MOTE_INT32, 0.001, 0},      {"i8", MOTE_INT8, 0, 0},
                                      {"u16", MOTE_UINT16, 0, 0},       {"f", MOTE_FLOAT32, 0, 0},
                                      {"d", MOTE_FLOAT64, 0, 0},        {"wide", MOTE_INT64, 0, 0}};
    mote_cloud *cloud = NULL;
    assert_int_equal(mote_cloud_create(ctx, count, specs, 8, &cloud), MOTE_OK);
    uint8_t *at = mote_cloud_column_data(cloud, "x");
    const uint32_t stride = mote_cloud_find(cloud, "x")->stride_bytes;
    for (uint64_t i = 0; i < count; i++, at += stride) {
        const float f = (float)i / 7;
        const double d = (double)i / 3e-5;
        const int32_t x = (int32_t)(i * 12345u), z = (int32_t)i;
        const int64_t wide = (int64_t)(i * 0x123456789ABCDEFull);
        memcpy(at, &x, 4);
        memcpy(at + 4, &z, 4);
        memcpy(at + 8, &z, 4);
        at[12] = (uint8_t)i;
        memcpy(at + 13, &z, 2);
        memcpy(at + 15, &f, 4);
        memcpy(at + 19, &d, 8);
        memcpy(at + 27, &wide, 8);
    }
    return cloud;
}

static void same_bytes_for_any_threads(void **state) {
    (void)state;
    const int threads[] = {1, 2, 7};
    for (int way = 0; way < 3; way++) {
        char *first = NULL;
        size_t first_size = 0;
        uint64_t first_hash = 0;
        for (int t = 0; t < 3; t++) {
            mote_context *ctx = test_context(threads[t]);
            mote_cloud *cloud = large_cloud(ctx, 120000);
            const char *const path = test_path("threads.ply");
            write_file(ctx, cloud, path, way == 1, way == 2);
            size_t size = 0;
            char *const bytes = test_load(path, &size);
            mote_cloud *again = test_read(ctx, path);
            const uint64_t hash = test_hash(ctx, again);
            if (t > 0) {
                assert_int_equal(size, first_size);
                assert_int_equal(memcmp(first, bytes, size), 0);
                assert_int_equal(hash, first_hash);
                free(bytes);
            } else {
                first = bytes;
                first_size = size;
                first_hash = hash;
            }
            mote_cloud_destroy(again);
            mote_cloud_destroy(cloud);
            mote_context_destroy(ctx);
        }
        free(first);
    }
}

/* Writes count points to source in an encoding, to be copied to target in the same. */
static test_copy make_copy(const char *source, const char *target, uint64_t count, int way) {
    test_copy copy = {test_path(source), test_path(target), mote_write_defaults()};
    mote_context *ctx = test_context(1);
    mote_cloud *cloud = large_cloud(ctx, count);
    copy.params.text = way == 1;
    copy.params.big_endian = way == 2;
    write_file(ctx, cloud, copy.source, way == 1, way == 2);
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
    return copy;
}

static void survives_failing_allocations(void **state) {
    (void)state;
    for (int way = 0; way < 3; way++) {
        test_copy copy = make_copy("source.ply", "target.ply", 1000, way);
        test_each_allocation_fails(test_copy_file, &copy);
    }
}

static void cancel_leaves_nothing(void **state) {
    (void)state;
    for (int way = 0; way < 3; way++) {
        test_copy copy = make_copy("cancel.ply", "cancelled.ply", 120000, way);
        test_each_step_cancels(test_copy_file, &copy);
    }
}

/* ---- real files */

static const struct {
    const char *name;
    uint64_t count;
    uint32_t columns;
} real_files[] = {{"ply/bunny_bun_zipper.ply", 35947, 5},
                  {"ply/cube_binary_header_with_RN_newline.ply", 8, 3},
                  {"ply/cube_binary_starts_with_nl.ply", 8, 3},
                  {"ply/delim_test.ply", 24, 9},
                  {"ply/featuretype.ply", 5096, 6},
                  {"ply/float-color.ply", 3, 7},
                  {"ply/float_inf_point_cloud.ply", 16, 3},
                  {"ply/gaussian_splat_train-1000.ply", 1000, 62},
                  {"ply/icosahedron_ascii.ply", 12, 6},
                  {"ply/int_point_cloud.ply", 16, 3},
                  {"ply/issue623.ply", 24, 6},
                  {"ply/issue_2421.ply", 1, 4},
                  {"ply/kitti_like_source.ply", 69792, 4},
                  {"ply/kitti_like_target.ply", 69088, 4},
                  {"ply/lucy_50k.ply", 49987, 3},
                  {"ply/metadata.ply", 4, 3},
                  {"ply/points_ascii.ply", 5, 3},
                  {"ply/points_ascii_with_lists.ply", 5, 3},
                  {"ply/points_bin.ply", 5, 3},
                  {"ply/simple_binary.ply", 3, 3},
                  {"ply/test_extra_whitespace.ply", 3, 7},
                  {"ply/test_more_datatypes.ply", 3, 7},
                  {"ply/test_pos_color.ply", 114, 7},
                  {"ply/text_extradim.ply", 1, 11},
                  {"broken/points_emptyascii.ply", 12, 3},
                  {"broken/test_sample_wrong_format.ply", 2, 7},
                  {"broken/trimesh_empty.ply", 0, 6},
                  {"broken/gen/p13_crlf_bin.ply", 1, 3}};

static void reads_real_files(void **state) {
    (void)state;
    mote_context *ctx = test_context(2);
    for (size_t i = 0; i < sizeof real_files / sizeof real_files[0]; i++) {
        const char *const path = test_data(real_files[i].name);
        if (path == NULL) continue;
        mote_cloud *cloud = test_read(ctx, path);
        if (mote_cloud_count(cloud) != real_files[i].count || mote_cloud_column_count(cloud) != real_files[i].columns) {
            fail_msg("%s: %llu points, %u columns", path, (unsigned long long)mote_cloud_count(cloud),
                     mote_cloud_column_count(cloud));
        }
        check_round_trips(ctx, cloud);
        mote_cloud_destroy(cloud);
    }
    mote_context_destroy(ctx);
}

/* The points of a binary file without faces are written as the bytes that were read. */
static void keeps_the_payload(void **state) {
    (void)state;
    static const char *const names[] = {"ply/kitti_like_source.ply", "ply/gaussian_splat_train-1000.ply",
                                        "ply/simple_binary.ply"};
    mote_context *ctx = test_context(2);
    for (int i = 0; i < 3; i++) {
        const char *const path = test_data(names[i]);
        if (path == NULL) continue;
        size_t size = 0, written_size = 0;
        char *const bytes = test_load(path, &size);
        mote_cloud *cloud = test_read(ctx, path);
        const char *const copy = test_path("payload.ply");
        write_file(ctx, cloud, copy, false, false);
        char *const written = test_load(copy, &written_size);
        const char *const body = strstr(bytes, "end_header"), *const written_body = strstr(written, "end_header");
        assert_int_equal(bytes + size - body, written + written_size - written_body);
        assert_memory_equal(body, written_body, (size_t)(bytes + size - body));
        /* So are the lines of the properties. */
        const char *const lines = strstr(bytes, "element vertex"), *const written_lines =
                                                                       strstr(written, "element vertex");
        assert_memory_equal(lines, written_lines, (size_t)(body - lines));
        mote_cloud_destroy(cloud);
        free(written);
        free(bytes);
    }
    mote_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(reads_all_encodings),
                                       cmocka_unit_test(binary_points_are_not_copied),
                                       cmocka_unit_test(steps_over_other_elements),
                                       cmocka_unit_test(reads_all_line_ends),
                                       cmocka_unit_test(tells_of_rows_beside_lines),
                                       cmocka_unit_test(names_are_standard_and_come_back),
                                       cmocka_unit_test(refuses_bad_headers),
                                       cmocka_unit_test(refuses_bad_bodies),
                                       cmocka_unit_test(keeps_what_ply_has_no_words_for),
                                       cmocka_unit_test(writes_rows_that_are_almost_ready),
                                       cmocka_unit_test(writes_only_what_is_asked_for),
                                       cmocka_unit_test(same_bytes_for_any_threads),
                                       cmocka_unit_test(survives_failing_allocations),
                                       cmocka_unit_test(cancel_leaves_nothing),
                                       cmocka_unit_test(reads_real_files),
                                       cmocka_unit_test(keeps_the_payload),
                                       cmocka_unit_test(refuses_broken_files)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
