/* PTX: scans, their matrices and grids, cells without a return, and what is refused. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/cloud.h"
#include "io/text/text.h"
#include "support/cloud_files.h"

#define SCANNER  "0 0 0\n1 0 0\n0 1 0\n0 0 1\n"
#define IDENTITY "1 0 0 0\n0 1 0 0\n0 0 1 0\n0 0 0 1\n"

static mote_cloud *read_text(mote_context *ctx, const char *text) {
    test_write_file(test_path("in.ptx"), text, strlen(text));
    return test_read(ctx, test_path("in.ptx"));
}

static void reads_one_scan(void **state) {
    (void)state;
    mote_context *ctx = test_context(2);
    /* Turned a quarter about z, doubled along z, moved. */
    mote_cloud *cloud = read_text(ctx, "2\r\n3\r\n1 2 3\r\n1 0 0\r\n0 1 0\r\n0 0 1\r\n"
                                       "0 1 0 0\r\n-1 0 0 0\r\n0 0 2 0\r\n500000.5 4000000.25 10 1\r\n"
                                       "1 2 3 0.5\r\n0 0 0 0.5\r\n0.1 0.2 0.3 0\r\n\r\n"
                                       "-0.0 0 0.0 1\r\n0 0 0.001 1\r\nnan nan nan 0.25\r\n");
    uint64_t width = 0, height = 0, skipped = 0;
    mote_box box;
    assert_int_equal(mote_cloud_count(cloud), 6);
    assert_int_equal(mote_cloud_column_count(cloud), 4);
    assert_int_equal(test_column(cloud, "x")->type, MOTE_FLOAT64);
    assert_int_equal(test_column(cloud, "intensity")->type, MOTE_FLOAT32);
    assert_true(mote_cloud_grid(cloud, &width, &height));
    assert_true(width == 3 && height == 2); /* a column of the scanner is a row of the grid */
    assert_true(test_value(cloud, "x", 0) == 499998.5 && test_value(cloud, "y", 0) == 4000001.25 &&
                test_value(cloud, "z", 0) == 16);
    assert_true(test_value(cloud, "x", 2) == 500000.3 && test_value(cloud, "y", 2) == 4000000.35 &&
                test_value(cloud, "z", 2) == 10.6);
    assert_true(isnan(test_value(cloud, "x", 1)) && isnan(test_value(cloud, "z", 3)) &&
                isnan(test_value(cloud, "y", 5)));
    assert_true(test_value(cloud, "z", 4) == 10.002 && test_value(cloud, "intensity", 1) == 0.5);
    assert_int_equal(mote_cloud_bounds(ctx, cloud, &box, &skipped), MOTE_OK);
    assert_int_equal(skipped, 3);
    assert_true(cloud->position_step == 0.001);
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
}

static void merges_scans(void **state) {
    (void)state;
    mote_context *ctx = test_context(2);
    mote_cloud *cloud = read_text(ctx, "1\n2\n" SCANNER IDENTITY "1 2 3 0.5\n0 0 0 0.5\n"
                                       "0\n7\n" SCANNER IDENTITY "1\n1\n" SCANNER
                                       "0.5 0 0 0\n0 1 0 0\n0 0 1 0\n7 8 9 1\n2 1 1 0.25 1 20 255\n");
    uint64_t width, height;
    assert_int_equal(mote_cloud_count(cloud), 3);
    assert_false(mote_cloud_grid(cloud, &width, &height));
    assert_int_equal(test_column(cloud, "scan")->type, MOTE_UINT16);
    assert_true(test_value(cloud, "scan", 0) == 0 && test_value(cloud, "scan", 1) == 0 &&
                test_value(cloud, "scan", 2) == 2);
    assert_true(test_value(cloud, "red", 0) == 0 && test_value(cloud, "blue", 1) == 0);
    assert_true(test_value(cloud, "red", 2) == 1 && test_value(cloud, "green", 2) == 20 &&
                test_value(cloud, "blue", 2) == 255);
    assert_true(test_value(cloud, "x", 2) == 8 && test_value(cloud, "y", 2) == 9 && test_value(cloud, "z", 2) == 10);
    assert_true(cloud->position_step == 0); /* half of a decimal is none of as many places */
    mote_cloud_destroy(cloud);
    cloud = read_text(ctx, "0\n0\n" SCANNER IDENTITY);
    assert_int_equal(mote_cloud_count(cloud), 0);
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
}

/* Scans of a few lines, more than a piece of the text engine holds and more than 16 bits count. */
static void reads_many_scans(void **state) {
    (void)state;
    static const char scan[] = "1\n2\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n" IDENTITY "1 2 3 0.5\n4 5 6 0.5\n";
    const size_t count = 70000, size = sizeof scan - 1;
    char *const text = malloc(count * size);
    for (size_t i = 0; i < count; i++) memcpy(text + i * size, scan, size);
    mote_context *ctx = test_context(2);
    test_write_file(test_path("many.ptx"), text, count * size);
    mote_cloud *cloud = test_read(ctx, test_path("many.ptx"));
    assert_int_equal(mote_cloud_count(cloud), 2 * count);
    assert_int_equal(test_column(cloud, "scan")->type, MOTE_UINT32);
    for (uint64_t i = 0; i < 2 * count; i++) {
        if (test_value(cloud, "scan", i) != (double)(i / 2) || test_value(cloud, "x", i) != (i % 2 == 0 ? 1 : 4))
            fail_msg("%u", (unsigned)i);
    }
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
    free(text);
}

/* ---- places in a table */

static void check_seek(const mote_text_table *table, const uint64_t *rows, size_t count) {
    mote_text_place place = {0, table->begin};
    for (size_t i = 0; i < count; i++) {
        uint64_t row, row_end, number = 0;
        mote_text_seek(table, rows[i], &place);
        assert_int_equal(place.row, rows[i]);
        uint64_t at = place.at;
        assert_true(mote_text_next_row(table, &at, &row, &row_end));
        mote_text_number text;
        assert_true(mote_text_scan(table->input->data + row, table->input->data + row_end, &text));
        assert_true(mote_text_store(&text, MOTE_UINT64, &number));
        assert_int_equal(number, rows[i]);
    }
}

/* Rows that say their number, some with many blank lines before them. */
static void seeks_rows(void **state) {
    (void)state;
    const uint64_t rows = 300000;
    char *const text = malloc(16 * rows + 3000000);
    size_t size = 0;
    for (uint64_t i = 0; i < rows; i++) {
        if (i == 100000) {
            memset(text + size, '\n', 2500000);
            size += 2500000;
        }
        size += (size_t)sprintf(text + size, "%u\n", (unsigned)i);
    }
    mote_context *ctx = test_context(2);
    const mote_input input = {.path = "rows", .data = (const uint8_t *)text, .size_bytes = size};
    mote_text_table table = {.input = &input, .end = size, .separator = ' '};
    uint64_t counted = 0;
    assert_int_equal(mote_text_count(ctx, &table, &counted), MOTE_OK);
    assert_int_equal(counted, rows);
    check_seek(&table, (const uint64_t[]){0, 1, 2, 99999, 100000, 100001, 299999}, 7);
    check_seek(&table, (const uint64_t[]){100000, 100000, 250000}, 3);
    check_seek(&table, (const uint64_t[]){299999}, 1);
    mote_text_place place = {0, 0};
    mote_text_seek(&table, rows, &place);
    assert_true(place.row == rows && place.at == size);
    mote_text_close(ctx, &table);
    mote_context_destroy(ctx);
    free(text);
}

/* ---- what is refused */

static void refuses_bad_scans(void **state) {
    (void)state;
    static const char *const cases[][2] = {
        {"", "the file has no line with a number of columns"},
        {"\n \n", "the file has no line with a number of columns"},
        {"x\n", "offset 0: line 1, column 1: the number of columns has a value that is no finite number"},
        {"1.5\n1\n" SCANNER IDENTITY "1 2 3 0\n", "line 1, column 1: the number of columns is no whole number"},
        {"1\n-1\n" SCANNER IDENTITY "1 2 3 0\n", "line 2, column 1: the number of rows is no whole number"},
        {"1 1\n1\n" SCANNER IDENTITY "1 2 3 0\n", "line 1, column 3: the number of columns has more than 1 numbers"},
        {"1\n2\n" SCANNER IDENTITY "1 2 3 0\n",
         "line 1, column 1: a scan of 1 × 2 points, but the file has 1 lines left"},
        {"4294967296\n4294967296\n" SCANNER IDENTITY "1 2 3 0\n", "a scan of 4294967296 × 4294967296 points"},
        {"18446744073709551615\n1\n" SCANNER IDENTITY "1 2 3 0\n", "a scan of 18446744073709551615 × 1 points"},
        {"18446744073709551616\n1\n" SCANNER IDENTITY "1 2 3 0\n", "the number of columns is no whole number"},
        {"1\n1\n0 0\n", "line 3, column 4: the scanner's position needs 3 numbers, the line has 2"},
        {"1\n1\n" SCANNER "1 0 0 0\n0 1 0 0\n0 0 nan 0\n", "line 9, column 5: the third row of the matrix has a value"},
        {"1\n1\n" SCANNER "1 0 0 0\n0 1 0 0\n0 0 1e999 0\n", "the third row of the matrix has a value"},
        {"1\n1\n" SCANNER "1 0 0 5\n0 1 0 0\n0 0 1 0\n0 0 0 1\n1 2 3 0\n",
         "line 7, column 7: the last column of the matrix is not 0 0 0 1"},
        {"1\n1\n" SCANNER "1 0 0 0\n", "the file ends before the second row of the matrix"},
        {"1\n1\n" SCANNER IDENTITY "1 2 3\n", "line 11, column 1: a point of 3 values"},
        {"1\n2\n" SCANNER IDENTITY "1 2 3 0\n1 2 3\n", "line 12, column 6: the row ends after 3 values, it needs 4"},
        {"1\n2\n" SCANNER IDENTITY "1 2 3 0\n1 2 3 0 1 2 3\n", "line 12, column 9: \"1\": the row has more than 4"},
        {"1\n1\n" SCANNER IDENTITY "1 2 3 0 0 256 0\n", "line 11, column 11: \"256\" does not fit the type uint8"},
        {"1\n1\n" SCANNER IDENTITY "1 2,0 3 0\n", "line 11, column 3: \"2,0\" has a decimal comma"},
        {"1\n1\n" SCANNER IDENTITY "1 2 3 0\n1\n", "the file ends before the number of rows"},
        {"1\n1\n" SCANNER IDENTITY "1 2 3 0\n1 2 3 0\n", "line 12, column 3: the number of columns has more than 1"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        mote_context *ctx = test_context(2);
        test_refused(ctx, "ptx", cases[i][0], strlen(cases[i][0]), cases[i][1]);
        mote_context_destroy(ctx);
    }
}

static void recognises_scans(void **state) {
    (void)state;
    static const char *const others[] = {"1\n1\n" SCANNER "1 0 0 0\n", "1\n1.5\n" SCANNER IDENTITY "1 2 3 0\n",
                                         "1\n2\n3\n"};
    static const char ptx[] = "1\n1\n" SCANNER IDENTITY "1 2 3 0\n";
    mote_context *ctx = test_context(1);
    test_write_file(test_path("what.dat"), ptx, sizeof ptx - 1);
    assert_string_equal(mote_file_format(ctx, test_path("what.dat")), "ptx");
    for (int i = 0; i < 3; i++) {
        test_write_file(test_path("what.dat"), others[i], strlen(others[i]));
        assert_null(mote_file_format(ctx, test_path("what.dat")));
    }
    mote_cloud *cloud = read_text(ctx, ptx);
    assert_null(mote_ending_format("out.ptx"));
    assert_int_equal(mote_cloud_write(ctx, cloud, test_path("out.ptx"), NULL), MOTE_ERROR_UNSUPPORTED);
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
}

/* ---- failures */

static test_copy make_copy(const char *source, const char *target) {
    const test_copy copy = {test_path(source), test_path(target), mote_write_defaults()};
    const size_t points = 100000;
    char *const text = malloc(400 + 40 * points);
    size_t size = (size_t)sprintf(text, "1\n2\n" SCANNER IDENTITY "1 2 3 0.5\n0 0 0 0.5\n100\n1000\n" SCANNER IDENTITY);
    for (size_t i = 0; i < points; i++) size += (size_t)sprintf(text + size, "%zu 2.5 3.25 0.5 1 2 3\n", i);
    test_write_file(copy.source, text, size);
    free(text);
    return copy;
}

static void survives_failing_allocations(void **state) {
    (void)state;
    test_copy copy = make_copy("source.ptx", "target.pcd");
    test_each_allocation_fails(test_copy_file, &copy);
}

static void cancel_leaves_nothing(void **state) {
    (void)state;
    test_copy copy = make_copy("cancel.ptx", "cancelled.pcd");
    test_each_step_cancels(test_copy_file, &copy);
}

static void reads_real_files(void **state) {
    (void)state;
    mote_context *ctx = test_context(2);
    uint64_t width = 0, height = 0;
    const char *path = test_data("pcd/1.2-with-color.ptx");
    if (path != NULL) {
        mote_cloud *cloud = test_read(ctx, path);
        assert_string_equal(mote_file_format(ctx, path), "ptx");
        assert_int_equal(mote_cloud_count(cloud), 1065);
        assert_true(mote_cloud_grid(cloud, &width, &height) && width == 71 && height == 15);
        assert_true(test_value(cloud, "x", 0) == 637012.24 && test_value(cloud, "y", 1) == 849087.7);
        assert_true(test_value(cloud, "intensity", 1) == (double)0.004395f && test_value(cloud, "blue", 2) == 114);
        mote_cloud_destroy(cloud);
    }
    path = test_data("pcd/multiple-and-transform.ptx");
    if (path != NULL) {
        /* The second scan states the world coordinates of the first one's points. */
        mote_cloud *cloud = test_read(ctx, path);
        assert_int_equal(mote_cloud_count(cloud), 8);
        for (uint64_t i = 0; i < 4; i++) {
            assert_true(test_value(cloud, "x", i) == test_value(cloud, "x", i + 4) &&
                        test_value(cloud, "y", i) == test_value(cloud, "y", i + 4));
            assert_true(fabs(test_value(cloud, "z", i) - test_value(cloud, "z", i + 4)) < 1e-12);
            assert_true(test_value(cloud, "scan", i) == 0 && test_value(cloud, "scan", i + 4) == 1);
        }
        assert_true(test_value(cloud, "y", 2) == 849106.66 && test_value(cloud, "z", 1) == 446.39);
        assert_false(mote_cloud_grid(cloud, &width, &height));
        mote_cloud_destroy(cloud);
    }
    mote_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(reads_one_scan),
                                       cmocka_unit_test(merges_scans),
                                       cmocka_unit_test(reads_many_scans),
                                       cmocka_unit_test(seeks_rows),
                                       cmocka_unit_test(refuses_bad_scans),
                                       cmocka_unit_test(recognises_scans),
                                       cmocka_unit_test(survives_failing_allocations),
                                       cmocka_unit_test(cancel_leaves_nothing),
                                       cmocka_unit_test(reads_real_files)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
