/* XYZ, CSV, PTS: separators, headers, types, what is refused, and that writing gives the same values back. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/cloud.h"
#include "support/cloud_files.h"

static mote_cloud *read_with(mote_context *ctx, const char *name, const char *text, const mote_read_params *params) {
    const char *const path = test_path(name);
    mote_cloud *cloud = NULL;
    test_write_file(path, text, strlen(text));
    mote_context_clear(ctx);
    if (mote_cloud_read(ctx, path, params, &cloud) != MOTE_OK) fail_msg("%s", mote_context_message(ctx));
    return cloud;
}

static mote_cloud *read_text(mote_context *ctx, const char *text) { return read_with(ctx, "in.xyz", text, NULL); }

static void check_read(mote_context *ctx, const char *text, const char *columns, uint64_t count) {
    mote_cloud *cloud = read_text(ctx, text);
    test_columns_are(cloud, columns);
    assert_int_equal(mote_cloud_count(cloud), count);
    mote_cloud_destroy(cloud);
}

#define POSITIONS "x:double y:double z:double"

static void reads_any_separator(void **state) {
    (void)state;
    static const char *const texts[] = {"1.5 2 3\n4 5 6\n",
                                        "1.5\t2\t3\r\n4\t5\t6",
                                        "1.5,2,3\n4,5,6\n",
                                        "1.5, 2, 3,\n4 ,5,6\n",
                                        "  1.5   2\t 3 \n\n \n4 5 6\n\n",
                                        "1.5;2;3\n4;5;6\n",
                                        "\357\273\2771.5 2 3\n4 5 6",
                                        "# a comment\n1.5 2 3\n// another\n4 5 6\n; the last\n",
                                        "1.5 2 3\r4 5 6\r",
                                        "2\n1.5 2 3\n4 5 6\n",
                                        "x y z\n1.5 2 3\n4 5 6",
                                        "\"X\",\"Y\",\"Z\"\n1.5,2,3\n4,5,6\n",
                                        "//X,Y,Z\n2\n1.5 2 3\n4 5 6\n",
                                        "X,Y,Z\n1.5 2 3\n4 5 6\n",
                                        "#x y z\n1.5 2 3\n4 5 6\n"};
    mote_context *ctx = test_context(2);
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        mote_cloud *cloud = read_text(ctx, texts[i]);
        if (mote_cloud_count(cloud) != 2 || mote_cloud_column_count(cloud) != 3 || test_value(cloud, "x", 0) != 1.5 ||
            test_value(cloud, "z", 0) != 3 || test_value(cloud, "z", 1) != 6 || cloud->position_step != 0.1) {
            fail_msg("case %zu", i);
        }
        mote_cloud_destroy(cloud);
    }
    mote_read_params params = mote_read_defaults();
    params.separator = '|';
    mote_cloud *cloud = read_with(ctx, "in.txt", "1.5|2|3\n4| 5 |6\n", &params);
    assert_true(test_value(cloud, "z", 1) == 6);
    mote_cloud_destroy(cloud);
    params.separator = '\t';
    cloud = read_with(ctx, "in.txt", "1.5\t2\t3\n", &params);
    assert_true(test_value(cloud, "z", 0) == 3);
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
}

static void names_columns_by_count(void **state) {
    (void)state;
    mote_context *ctx = test_context(1);
    check_read(ctx, "1 2 3\n", POSITIONS, 1);
    check_read(ctx, "1 2 3 4\n", POSITIONS " intensity:uint8", 1);
    check_read(ctx, "1 2 3 4.5\n", POSITIONS " intensity:double", 1);
    check_read(ctx, "1 2 3 4 5\n", POSITIONS " column_4:uint8 column_5:uint8", 1);
    check_read(ctx, "1 2 3 4 5 255\n", POSITIONS " red:uint8 green:uint8 blue:uint8", 1);
    check_read(ctx, "1 2 3 4 5 256\n", POSITIONS " red:uint16 green:uint16 blue:uint16", 1);
    check_read(ctx, "1 2 3 nan 5 256\n4 5 6 7 8 9\n", POSITIONS " column_4:double column_5:uint8 column_6:uint16", 2);
    check_read(ctx, "x y z r g b\n1 2 3 nan 5 256\n", POSITIONS " red:double green:double blue:double", 1);
    check_read(ctx, "x y z r g b\n1 2 3 -1 5 256\n", POSITIONS " red:int16 green:int16 blue:int16", 1);
    check_read(ctx, "1 2 3 0 -1 0\n", POSITIONS " normal_x:uint8 normal_y:int8 normal_z:uint8", 1);
    check_read(ctx, "1 2 3 0.1 1 -0.5\n", POSITIONS " normal_x:double normal_y:uint8 normal_z:double", 1);
    check_read(ctx, "1 2 3 0.1 1.5 -0.5\n", POSITIONS " column_4:double column_5:double column_6:double", 1);
    check_read(ctx, "1 2 3 0.1 nan -0.5\n", POSITIONS " column_4:double column_5:double column_6:double", 1);
    check_read(ctx, "1 2 3 -1035 97 59 38\n", POSITIONS " intensity:int16 red:uint8 green:uint8 blue:uint8", 1);
    check_read(ctx, "1 2 3 1 2 3 0.5 0 1\n",
               POSITIONS " red:uint8 green:uint8 blue:uint8 normal_x:double normal_y:uint8 normal_z:uint8", 1);
    mote_context_destroy(ctx);
}

static void names_columns_by_header(void **state) {
    (void)state;
    mote_context *ctx = test_context(1);
    check_read(ctx, "//X Y Z R G B Intensity\n1 2 3 4 5 6 7\n",
               POSITIONS " red:uint8 green:uint8 blue:uint8 intensity:uint8", 1);
    check_read(ctx, "\"Red\";\"x\";\"y\";\"z\";\"GPS_Time\";\"my name\"\n1;2;3;4;5.5;70000\n",
               "red:uint8 x:double y:double z:double gps_time:double my name:uint32", 1);
    check_read(ctx, "x,y,z,X,Z\n1,2,3,4,5\n", POSITIONS " X:uint8 Z:uint8", 1);
    check_read(ctx, "Z,X,Y,y\n1,2,3,4\n", "z:double x:double Y:uint8 y:double", 1);
    check_read(ctx, "# x y z nx ny nz t:float c:int64 s:uint16\n1 2 3 0 0 1 2 3 4\n",
               POSITIONS " normal_x:uint8 normal_y:uint8 normal_z:uint8 t:float c:int64 s:uint16", 1);
    check_read(ctx, "# a comment on x, y and z: three words of many\n1 2 3\n", POSITIONS, 1);
    check_read(ctx, "x,y,z,\"say \"\"so\"\", x\",t,t\n1,2,3,4,5,6\n",
               POSITIONS " say \"so\", x:uint8 t:uint8 t_2:uint8", 1);
    mote_context_destroy(ctx);
}

static void keeps_units_and_columns(void **state) {
    (void)state;
    mote_context *ctx = test_context(1);
    mote_cloud *cloud = read_text(ctx, "X [m] Y (m) Z[m] T [s]\n1 2 3 4\n");
    test_columns_are(cloud, POSITIONS " T:uint8");
    assert_string_equal(mote_cloud_find(cloud, "x")->unit, "m");
    assert_string_equal(mote_cloud_find(cloud, "y")->unit, "m");
    assert_string_equal(mote_cloud_find(cloud, "z")->unit, "m");
    mote_cloud_destroy(cloud);
    mote_read_params params = mote_read_defaults();
    params.columns = "z,-,x,Y,class,";
    cloud = read_with(ctx, "in.txt", "a b c d e f\n1 2 3 4 5 6\n", &params);
    test_columns_are(cloud, "z:double x:double y:double classification:uint8");
    assert_true(test_value(cloud, "x", 0) == 3);
    mote_cloud_destroy(cloud);
    cloud = read_text(ctx, "# x y z\n");
    assert_int_equal(mote_cloud_count(cloud), 0);
    test_columns_are(cloud, POSITIONS);
    mote_cloud_destroy(cloud);
    cloud = read_with(ctx, "none.csv", "x,y,z,\"a b\"\n", NULL);
    test_columns_are(cloud, POSITIONS " a b:uint8");
    mote_cloud_destroy(cloud);
    cloud = read_with(ctx, "none.pts", "0\n", NULL);
    assert_int_equal(mote_cloud_count(cloud), 0);
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
}

static void types_hold_all_values(void **state) {
    (void)state;
    mote_context *ctx = test_context(2);
    mote_cloud *cloud =
        read_text(ctx, "x y z a b c d e f g h\n"
                       "0 0 0 255 -128 65535 32768 4294967295 18446744073709551615 -9223372036854775808 1\n"
                       "1e3 -0.001 inf 0 127 256 -1 0 0 9223372036854775807 1.0\n");
    test_columns_are(cloud, POSITIONS " a:uint8 b:int8 c:uint16 d:int32 e:uint32 f:uint64 g:int64 h:double");
    assert_int_equal(mote_column_integer(mote_cloud_find(cloud, "f"), 0), -1);
    assert_int_equal(mote_column_integer(mote_cloud_find(cloud, "g"), 0), INT64_MIN);
    assert_int_equal(mote_column_integer(mote_cloud_find(cloud, "g"), 1), INT64_MAX);
    assert_true(test_value(cloud, "x", 1) == 1000 && isinf(test_value(cloud, "z", 1)) &&
                test_value(cloud, "d", 1) == -1);
    assert_true(cloud->position_step == 0.001);
    mote_cloud_destroy(cloud);
    cloud = read_text(ctx, "0.0000000001 1 2\n");
    assert_true(cloud->position_step == 0);
    mote_cloud_destroy(cloud);
    cloud = read_text(ctx, "1.250000 1.5000000000 200\n");
    assert_true(cloud->position_step == 0.01);
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
}

static void empty_cells_are_no_value(void **state) {
    (void)state;
    mote_context *ctx = test_context(2);
    mote_cloud *cloud = read_text(ctx, "x,y,z,a,b\n1,2,3,,5\n4,5,6,7,\n7,8,9, ,\n1,1,1,2.5,3\n");
    const double a[] = {NAN, 7, NAN, 2.5}, b[] = {5, NAN, NAN, 3};
    for (uint64_t i = 0; i < 4; i++) {
        const double of_a = test_value(cloud, "a", i), of_b = test_value(cloud, "b", i);
        assert_true(isnan(a[i]) ? isnan(of_a) : of_a == a[i]);
        assert_true(isnan(b[i]) ? isnan(of_b) : of_b == b[i]);
    }
    mote_cloud_destroy(cloud);
    cloud = read_text(ctx, "x;y;z;a;b\n1;2;3;;5\n4;5;6;;6\n"); /* a column without any number is none */
    assert_null(mote_cloud_find(cloud, "a"));
    assert_true(mote_cloud_find(cloud, "b")->type == MOTE_UINT8);
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
}

static void check_refused(mote_context *ctx, const char *text, const char *message) {
    test_refused(ctx, "csv", text, strlen(text), message);
}

static void refuses_what_is_no_table(void **state) {
    (void)state;
    mote_context *ctx = test_context(2);
    check_refused(ctx, "", "there are no rows of numbers");
    check_refused(ctx, "\n \n# only words\n", "there are no rows of numbers");
    check_refused(ctx, "1 2\n3 4\n", "a row of 2 values");
    check_refused(ctx, "1 2 3\n4 5 6\n7 8\n", "offset 15: line 3, column 4: the row ends after 2 values, it needs 3");
    check_refused(ctx, "1 2 3\n\r\n4 5 6 7\r\n", "line 3, column 7: \"7\": the row has more than 3 values");
    check_refused(ctx, "1,2,3\n4,,6\n", "line 2, column 3: a value is empty");
    check_refused(ctx, "# x y z a:uint8\n1,2,3,4\n4,5,6,\n", "the row ends after 3 values");
    check_refused(ctx, "1,2,3,4,5\n4,5,6,\n", "the row ends after");
    check_refused(ctx, "1 2 3\n4 five 6\n", "line 2, column 3: \"five\" is no number");
    check_refused(ctx, "4,\xC3\xA9,5\n", "line 1, column 3: \"\xC3\xA9\" is no number");
    check_refused(ctx, "x y z\n4 \x1B[2J 5\n", "line 2, column 3: \"\x1B[2J\" is no number");
    check_refused(ctx, "1,2,3\n\"big, tree\",5,6\n", "line 2, column 1: \"\"big, tree\"\" is no number");
    check_refused(ctx, "0.5 2,5 3,5\n", "line 1, column 5: \"2,5\" has a decimal comma");
    check_refused(ctx, "1,5;2;3\n4.5;5;6\n", "line 2, column 1: \"4.5\" has a decimal point");
    check_refused(ctx, "1 2 1e999\n", "line 1, column 5: \"1e999\" does not fit the type double");
    check_refused(ctx, "3\n1 2 3\n4 5 6\n", "offset 0: line 1, column 1: the count is 3, the file has 2 rows");
    check_refused(ctx, "1\n1 2 3\n4 5 6\n", "the count is 1, the file has 2 rows");
    check_refused(ctx, "x y\n1 2 3\n", "the header names 2 columns, the rows have 3");
    check_refused(ctx, "a b c\n1 2 3\n", "no column is known as x: name the columns with --columns");
    check_refused(ctx, "x y z x\n1 2 3 4\n", "2 columns are named x");
    check_refused(ctx, "some words\nand more words\n1 2 3\n", "line 2, column 1: a second line");
    check_refused(ctx, "# x y z a:uint8\n1 2 3 300\n", "\"300\" does not fit the type uint8");
    char *const wide = malloc(4000);
    for (int i = 0; i < 1500; i++) memcpy(wide + 2 * i, "1 ", 3);
    check_refused(ctx, wide, "a row of 1500 values, mote reads up to 1024");
    free(wide);
    mote_read_params params = mote_read_defaults();
    mote_cloud *cloud = NULL;
    const char *const path = test_path("in.xyz");
    test_write_file(path, "1 2 3\n", 6);
    for (int i = 0; i < 4; i++) {
        static const char *const names[] = {"x,y", "x,y,z,a", "x,y,y", NULL};
        params.columns = names[i];
        params.separator = i == 3 ? '.' : 0;
        mote_context_clear(ctx);
        assert_int_not_equal(mote_cloud_read(ctx, path, &params, &cloud), MOTE_OK);
        assert_null(cloud);
    }
    mote_context_destroy(ctx);
}

/* The content decides, whatever the name of the file. */
static void recognises_tables(void **state) {
    (void)state;
    static const char *const yes[] = {"1 2 3", "# x\n1,2,3\n", "12\n1 2 3 4 5 6 7\n", "\"x\",\"y\",\"z\"\n1,2,3\n",
                                      "-.5\t+1e3 nan\n"};
    static const char *const no[] = {"",
                                     "\n",
                                     "words\n",
                                     "1 2\n",
                                     "5\n",
                                     "1 2 3\nfour five six\n",
                                     "OFF\n8 6 12\n1 2 3\n",
                                     "v 1 2 3\nv 4 5 6\n",
                                     "2\n2\n0 0 0\n1 0 0\n",
                                     "DATA ascii\nFIELDS X Y Z\n1 2 3\n",
                                     "1 2 3\x01\n",
                                     "{\"a\": 1}\n",
                                     "# x y z\n"};
    mote_context *ctx = test_context(1);
    for (size_t i = 0; i < sizeof yes / sizeof yes[0]; i++) {
        test_write_file(test_path("what.dat"), yes[i], strlen(yes[i]));
        const char *const format = mote_file_format(ctx, test_path("what.dat"));
        if (format == NULL || strcmp(format, "xyz") != 0) fail_msg("not recognised: %s", yes[i]);
    }
    for (size_t i = 0; i < sizeof no / sizeof no[0]; i++) {
        test_write_file(test_path("what.dat"), no[i], strlen(no[i]));
        if (mote_file_format(ctx, test_path("what.dat")) != NULL) fail_msg("taken for a table: %s", no[i]);
    }
    test_write_file(test_path("what.dat"), "1 2 3\0\n", 7);
    assert_null(mote_file_format(ctx, test_path("what.dat")));
    mote_context_destroy(ctx);
}

/* Two rows decide what a file is: one whose third row is broken is a table, and the error names that row. */
static void rows_after_the_second_are_not_asked(void **state) {
    (void)state;
    mote_context *ctx = test_context(1);
    static const char text[] = "1 2 3\n4 5 6\nseven 8 9\n";
    mote_cloud *cloud = NULL;
    test_write_file(test_path("third.dat"), text, strlen(text));
    const char *const format = mote_file_format(ctx, test_path("third.dat"));
    assert_non_null(format);
    assert_string_equal(format, "xyz");
    assert_int_equal(mote_cloud_read(ctx, test_path("third.dat"), NULL, &cloud), MOTE_ERROR_DATA);
    assert_non_null(strstr(mote_context_message(ctx), "line 3, "));
    mote_context_destroy(ctx);
}

/* A thread reads 16 pieces of 1 MiB between two reports of progress: longer texts are read in several batches. Rows are
   padded with spaces. bad: the row that is no row of numbers, or none. */
enum { LONG_ROW_BYTES = 256, LONG_ROWS = 70000 };
static char *long_text(uint64_t bad) {
    char *const text = malloc((size_t)LONG_ROW_BYTES * LONG_ROWS + 1);
    assert_non_null(text);
    for (uint64_t i = 0; i < LONG_ROWS; i++) {
        char row[LONG_ROW_BYTES + 1], values[64];
        snprintf(values, sizeof values, i == bad ? "%u 2 x" : "%u 2 3", (unsigned)i);
        snprintf(row, sizeof row, "%-*s\n", LONG_ROW_BYTES - 1, values);
        memcpy(text + i * LONG_ROW_BYTES, row, LONG_ROW_BYTES + 1);
    }
    return text;
}

static void reads_all_batches(void **state) {
    (void)state;
    char *const text = long_text(UINT64_MAX);
    for (int threads = 1; threads <= 2; threads++) {
        mote_context *ctx = test_context(threads);
        mote_cloud *cloud = read_text(ctx, text);
        assert_int_equal(mote_cloud_count(cloud), LONG_ROWS);
        const mote_column *const x = mote_cloud_find(cloud, "x"), *const z = mote_cloud_find(cloud, "z");
        for (uint64_t i = 0; i < LONG_ROWS; i++) {
            assert_true(mote_column_value(x, i) == (double)i && mote_column_value(z, i) == 3);
        }
        mote_cloud_destroy(cloud);
        mote_context_destroy(ctx);
    }
    free(text);
}

static void errors_in_any_batch_are_found(void **state) {
    (void)state;
    mote_context *ctx = test_context(1);
    static const uint64_t rows[] = {3, LONG_ROWS / 2, LONG_ROWS - 1};
    for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
        char *const text = long_text(rows[r]), place[32];
        mote_cloud *cloud = NULL;
        snprintf(place, sizeof place, "line %u, ", (unsigned)rows[r] + 1);
        test_write_file(test_path("long.xyz"), text, strlen(text));
        assert_int_equal(mote_cloud_read(ctx, test_path("long.xyz"), NULL, &cloud), MOTE_ERROR_DATA);
        if (strstr(mote_context_message(ctx), place) == NULL) fail_msg("%s", mote_context_message(ctx));
        mote_context_clear(ctx);
        free(text);
    }
    mote_context_destroy(ctx);
}

/* ---- writing */

static mote_cloud *every_type(mote_context *ctx, uint64_t count) {
    const mote_column_spec specs[] = {
        {"x", MOTE_INT32, 0.001, 500000}, {"y", MOTE_INT32, 0.001, 0}, {"z", MOTE_INT32, 0.00025, 0},
        {"intensity", MOTE_UINT16, 0, 0}, {"f f", MOTE_FLOAT32, 0, 0}, {"d", MOTE_FLOAT64, 0, 0},
        {"angle", MOTE_INT16, 0.006, 0},  {"red", MOTE_UINT16, 0, 0},  {"green", MOTE_UINT16, 0, 0},
        {"blue", MOTE_UINT16, 0, 0},      {"wide", MOTE_INT64, 0, 0},  {"wider", MOTE_UINT64, 0, 0}};
    mote_cloud *cloud = NULL;
    assert_int_equal(mote_cloud_create(ctx, count, specs, 12, &cloud), MOTE_OK);
    for (uint32_t c = 0; c < 12; c++) {
        const mote_column *const column = mote_cloud_column(cloud, c);
        uint8_t *at = mote_cloud_column_data(cloud, column->name);
        for (uint64_t i = 0; i < count; i++, at += column->stride_bytes) {
            const float f = (float)i / 7;
            const double d = (double)i / 3e-5;
            const uint64_t n = i * 0x9E3779B97F4A7C15ull;
            const void *from = column->type == MOTE_FLOAT32   ? (const void *)&f
                               : column->type == MOTE_FLOAT64 ? (const void *)&d
                                                              : &n;
            memcpy(at, from, mote_type_size(column->type));
        }
    }
    return cloud;
}

static void xyz_keeps_names_types_and_values(void **state) {
    (void)state;
    mote_context *ctx = test_context(2);
    mote_cloud *cloud = every_type(ctx, 1000), *again = NULL, *third = NULL;
    assert_int_equal(mote_cloud_set_crs(cloud, "EPSG:25832 %\n"), MOTE_OK);
    const char *const path = test_path("out.xyz"), *const copy = test_path("copy.xyz");
    assert_int_equal(mote_cloud_write(ctx, cloud, path, NULL), MOTE_OK);
    assert_int_equal(mote_cloud_read(ctx, path, NULL, &again), MOTE_OK);
    test_columns_are(again, POSITIONS " intensity:uint16 f f:float d:double angle:double red:uint16 green:uint16 "
                                      "blue:uint16 wide:int64 wider:uint64");
    assert_string_equal(mote_cloud_crs(again), "EPSG:25832 %\n");
    assert_true(again->position_step == 0.00001);
    for (uint32_t c = 0; c < 12; c++) {
        const mote_column *const a = mote_cloud_column(cloud, c), *const b = mote_cloud_column(again, c);
        for (uint64_t i = 0; i < 1000; i++) {
            if (a->scale != 1) {
                /* The text has the exact decimal: X · scale + offset may be off by a rounding. */
                assert_true(fabs(mote_column_value(a, i) - mote_column_value(b, i)) <= 1e-9);
                assert_true(nearbyint((mote_column_value(b, i) - a->offset) / a->scale) == mote_column_stored(a, i));
            } else if (mote_type_is_float(a->type)) {
                assert_true(mote_column_value(a, i) == mote_column_value(b, i));
            } else {
                assert_int_equal(mote_column_integer(a, i), mote_column_integer(b, i));
            }
        }
    }
    /* Text to text: the same bytes. */
    assert_int_equal(mote_cloud_write(ctx, again, copy, NULL), MOTE_OK);
    assert_int_equal(mote_cloud_read(ctx, copy, NULL, &third), MOTE_OK);
    uint64_t hashes[2];
    assert_int_equal(mote_cloud_hash(ctx, again, &hashes[0]), MOTE_OK);
    assert_int_equal(mote_cloud_hash(ctx, third, &hashes[1]), MOTE_OK);
    assert_int_equal(hashes[0], hashes[1]);
    mote_cloud_destroy(third);
    mote_cloud_destroy(again);
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
}

static void writes_each_kind(void **state) {
    (void)state;
    mote_context *ctx = test_context(1);
    const mote_column_spec specs[] = {
        {"x", MOTE_INT32, 0.01, 100}, {"y", MOTE_FLOAT32, 0, 0}, {"z", MOTE_INT32, 10, 3},   {"blue", MOTE_UINT8, 0, 0},
        {"green", MOTE_UINT8, 0, 0},  {"red", MOTE_UINT8, 0, 0}, {"a,b", MOTE_FLOAT32, 0, 0}};
    mote_cloud *cloud = NULL;
    assert_int_equal(mote_cloud_create(ctx, 1, specs, 7, &cloud), MOTE_OK);
    *(uint8_t *)mote_cloud_column_data(cloud, "blue") = 9;
    const int32_t x = -10005;
    memcpy(mote_cloud_column_data(cloud, "x"), &x, 4);
    static const char *const expected[][2] = {
        {"kind.xyz", "# x y:float z blue:uint8 green:uint8 red:uint8 a,b:float\n-0.05 0 3 9 0 0 0.0\n"},
        {"kind.txt", "# x y:float z blue:uint8 green:uint8 red:uint8 a,b:float\n-0.05 0 3 9 0 0 0.0\n"},
        {"kind.CSV", "x,y,z,blue,green,red,\"a,b\"\n-0.05,0,3,9,0,0,0.0\n"},
        {"kind.pts", "1\n-0.05 0 3 0 0 9\n"}};
    for (int i = 0; i < 4; i++) {
        const char *const path = test_path(expected[i][0]);
        assert_int_equal(mote_cloud_write(ctx, cloud, path, NULL), MOTE_OK);
        size_t size = 0;
        char *const text = test_load(path, &size);
        assert_string_equal(text, expected[i][1]);
        free(text);
        mote_cloud *again = NULL;
        assert_int_equal(mote_cloud_read(ctx, path, NULL, &again), MOTE_OK);
        assert_true(test_value(again, "x", 0) == -0.05 && test_value(again, "blue", 0) == 9);
        if (i < 3) assert_true(mote_type_is_float(mote_cloud_find(again, "a,b")->type));
        mote_cloud_destroy(again);
    }
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
}

/* PTS has three colours or none, and intensity does not depend on them. */
static void pts_keeps_intensity_with_any_colors(void **state) {
    (void)state;
    mote_context *ctx = test_context(1);
    const mote_column_spec specs[] = {{"x", MOTE_FLOAT32, 0, 0}, {"y", MOTE_FLOAT32, 0, 0},
                                      {"z", MOTE_FLOAT32, 0, 0}, {"intensity", MOTE_UINT16, 0, 0},
                                      {"red", MOTE_UINT8, 0, 0}, {"green", MOTE_UINT8, 0, 0},
                                      {"blue", MOTE_UINT8, 0, 0}};
    static const char *const expected[] = {"1\n0 0 0\n", "1\n0 0 0 7\n", "1\n0 0 0 7\n", "1\n0 0 0 7\n",
                                           "1\n0 0 0 7 0 0 0\n"};
    for (uint32_t columns = 3; columns <= 7; columns++) {
        mote_cloud *cloud = NULL;
        assert_int_equal(mote_cloud_create(ctx, 1, specs, columns, &cloud), MOTE_OK);
        const uint16_t intensity = 7;
        if (columns > 3) memcpy(mote_cloud_column_data(cloud, "intensity"), &intensity, sizeof intensity);
        assert_int_equal(mote_cloud_write(ctx, cloud, test_path("colors.pts"), NULL), MOTE_OK);
        size_t size = 0;
        char *const text = test_load(test_path("colors.pts"), &size);
        assert_string_equal(text, expected[columns - 3]);
        free(text);
        mote_cloud_destroy(cloud);
    }
    mote_context_destroy(ctx);
}

static void same_bytes_for_any_threads(void **state) {
    (void)state;
    const int threads[] = {1, 2, 7};
    char *first = NULL;
    size_t first_size = 0;
    uint64_t first_hash = 0;
    for (int t = 0; t < 3; t++) {
        mote_context *ctx = test_context(threads[t]);
        mote_cloud *cloud = every_type(ctx, 40000), *again = NULL;
        const char *const path = test_path("threads.csv");
        assert_int_equal(mote_cloud_write(ctx, cloud, path, NULL), MOTE_OK);
        size_t size = 0;
        uint64_t hash = 0;
        char *const text = test_load(path, &size);
        assert_int_equal(mote_cloud_read(ctx, path, NULL, &again), MOTE_OK);
        assert_int_equal(mote_cloud_count(again), 40000);
        assert_int_equal(mote_cloud_hash(ctx, again, &hash), MOTE_OK);
        if (t == 0) {
            first = text;
            first_size = size;
            first_hash = hash;
        } else {
            assert_int_equal(size, first_size);
            assert_int_equal(memcmp(text, first, size), 0);
            assert_int_equal(hash, first_hash);
            free(text);
        }
        mote_cloud_destroy(again);
        mote_cloud_destroy(cloud);
        mote_context_destroy(ctx);
    }
    free(first);
}

/* Writes count points to source, to be copied to target. */
static test_copy make_copy(const char *source, const char *target, uint64_t count) {
    const test_copy copy = {test_path(source), test_path(target), mote_write_defaults()};
    mote_context *ctx = test_context(1);
    mote_cloud *cloud = every_type(ctx, count);
    assert_int_equal(mote_cloud_set_crs(cloud, "EPSG:1"), MOTE_OK);
    assert_int_equal(mote_cloud_write(ctx, cloud, copy.source, NULL), MOTE_OK);
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
    return copy;
}

static void survives_failing_allocations(void **state) {
    (void)state;
    test_copy copy = make_copy("source.xyz", "target.csv", 100);
    test_each_allocation_fails(test_copy_file, &copy);
}

static void cancel_leaves_nothing(void **state) {
    (void)state;
    test_copy copy = make_copy("cancel.xyz", "cancelled.xyz", 40000);
    test_each_step_cancels(test_copy_file, &copy);
}

static void reads_real_files(void **state) {
    (void)state;
    static const struct {
        const char *name, *columns;
        uint64_t count;
        double last_z;
    } files[] = {{"pcd/test.pts", POSITIONS " intensity:int16 red:uint8 green:uint8 blue:uint8", 19, -1.533951},
                 {"ply/stanford_buddha_headerless.xyz", POSITIONS, 78056, -0.011259},
                 {"ply/stanford_dragon_headerless.xyz", POSITIONS, 41841, -0.0201442}};
    mote_context *ctx = test_context(2);
    for (int i = 0; i < 3; i++) {
        const char *const path = test_data(files[i].name);
        if (path == NULL) continue;
        mote_cloud *cloud = NULL;
        assert_string_equal(mote_file_format(ctx, path), "xyz");
        assert_int_equal(mote_cloud_read(ctx, path, NULL, &cloud), MOTE_OK);
        test_columns_are(cloud, files[i].columns);
        assert_int_equal(mote_cloud_count(cloud), files[i].count);
        assert_true(test_value(cloud, "z", files[i].count - 1) == files[i].last_z);
        mote_cloud_destroy(cloud);
    }
    const char *const other = test_data("3dtiles/1.1");
    if (other != NULL) assert_null(mote_file_format(ctx, other));
    mote_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(reads_any_separator),
                                       cmocka_unit_test(names_columns_by_count),
                                       cmocka_unit_test(names_columns_by_header),
                                       cmocka_unit_test(keeps_units_and_columns),
                                       cmocka_unit_test(types_hold_all_values),
                                       cmocka_unit_test(empty_cells_are_no_value),
                                       cmocka_unit_test(refuses_what_is_no_table),
                                       cmocka_unit_test(recognises_tables),
                                       cmocka_unit_test(rows_after_the_second_are_not_asked),
                                       cmocka_unit_test(reads_all_batches),
                                       cmocka_unit_test(errors_in_any_batch_are_found),
                                       cmocka_unit_test(pts_keeps_intensity_with_any_colors),
                                       cmocka_unit_test(xyz_keeps_names_types_and_values),
                                       cmocka_unit_test(writes_each_kind),
                                       cmocka_unit_test(same_bytes_for_any_threads),
                                       cmocka_unit_test(survives_failing_allocations),
                                       cmocka_unit_test(cancel_leaves_nothing),
                                       cmocka_unit_test(reads_real_files)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
