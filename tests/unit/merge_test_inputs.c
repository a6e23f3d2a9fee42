/* Several clouds as one: lists of inputs, folders and patterns. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "unit/merge_test.h"

static mote_status read_many(mote_context *ctx, const char *path, const char *second, mote_cloud **cloud) {
    const char *paths[] = {path, second};
    return mote_cloud_read_many(ctx, paths, second != NULL ? 2 : 1, NULL, cloud);
}

/* Fails with a status, and says so with a word. */
static void expect_failure(const char *path, mote_status expected, const char *word) {
    mote_context *ctx = test_context(1);
    mote_cloud *cloud = NULL;
    assert_int_equal(read_many(ctx, path, NULL, &cloud), expected);
    assert_null(cloud);
    if (strstr(mote_context_message(ctx), word) == NULL) print_message("%s\n", mote_context_message(ctx));
    assert_non_null(strstr(mote_context_message(ctx), word));
    assert_int_equal(mote_context_memory_bytes(ctx), 0);
    mote_context_destroy(ctx);
}

void names_what_is_missing(void **state) {
    (void)state;
    mote_context *ctx = test_context(1);
    mote_cloud *cloud = NULL;
    assert_int_equal(mote_cloud_read_many(ctx, NULL, 0, NULL, &cloud), MOTE_ERROR_ARGUMENT);
    mote_context_destroy(ctx);
    expect_failure(test_path("none.las"), MOTE_ERROR_IO, "none.las");
    expect_failure(test_path("none*.las"), MOTE_ERROR_IO, "none*.las: no file matches");
    assert_int_equal(mkdir(test_path("empty"), 0777), 0);
    test_write_file(test_path("empty/readme.md"), "1 2 3\n", 6);
    assert_int_equal(mkdir(test_path("empty/folder.las"), 0777), 0);
    expect_failure(test_path("empty"), MOTE_ERROR_IO, "nor a point file");
}

/* Whether text files can be read yet; the tests of lists through files need them. */
static bool text_is_read(void) {
    mote_context *ctx = test_context(1);
    mote_cloud *cloud = NULL;
    test_write_file(test_path("probe.xyz"), "1 2 3\n4 5 6\n", 12);
    const bool read = mote_cloud_read(ctx, test_path("probe.xyz"), NULL, &cloud) == MOTE_OK;
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
    return read;
}

/* The x of all points that a list of inputs gives, as digits. */
static void expect_order(const char *path, const char *second, const char *digits) {
    mote_context *ctx = test_context(2);
    mote_cloud *cloud = NULL;
    const mote_status status = read_many(ctx, path, second, &cloud);
    if (status != MOTE_OK) print_message("%s\n", mote_context_message(ctx));
    assert_int_equal(status, MOTE_OK);
    assert_int_equal(mote_cloud_count(cloud), strlen(digits));
    for (uint64_t i = 0; i < strlen(digits); i++) {
        assert_float_equal(mote_column_value(mote_cloud_find(cloud, "x"), i), digits[i] - '0', 1e-9);
    }
    mote_cloud_destroy(cloud);
    assert_int_equal(mote_context_memory_bytes(ctx), 0);
    mote_context_destroy(ctx);
}

void expands_folders_and_patterns(void **state) {
    (void)state;
    if (!text_is_read()) {
        print_message("[  SKIPPED ] this build reads no text files yet\n");
        return;
    }
    assert_int_equal(mkdir(test_path("tiles"), 0777), 0);
    test_write_file(test_path("tiles/b.xyz"), "2 0 0\n", 6);
    test_write_file(test_path("tiles/a.XYZ"), "1 0 0\n", 6);
    test_write_file(test_path("tiles/C.txt"), "3 0 0\n", 6);
    test_write_file(test_path("tiles/[d].xyz"), "4 0 0\n", 6);
    test_write_file(test_path("tiles/notes.md"), "9 0 0\n", 6);
    assert_int_equal(mkdir(test_path("tiles/deeper"), 0777), 0);
    test_write_file(test_path("tiles/deeper/e.xyz"), "5 0 0\n", 6);
    expect_order(test_path("tiles"), NULL, "3412"); /* bytewise: C [ a b */
    expect_order(test_path("tiles/?.*"), NULL, "312");
    expect_order(test_path("tiles/*.xyz"), test_path("tiles/C.txt"), "423");
    expect_order(test_path("tiles/[d].xyz"), NULL, "4"); /* the literal name wins */
    expect_order(test_path("tiles/[ab].*"), test_path("tiles/b.xyz"), "122");
    expect_order(test_path("tiles/deepe?"), NULL, "5");
}

static mote_status read_two(mote_context *ctx, void *user) {
    const char *const *paths = user;
    mote_cloud *cloud = NULL;
    const mote_status status = mote_cloud_read_many(ctx, paths, 2, NULL, &cloud);
    assert_true((cloud != NULL) == (status == MOTE_OK));
    mote_cloud_destroy(cloud);
    return status;
}

void lists_survive_failing_allocations(void **state) {
    (void)state;
    char first[1024], second[1024];
    snprintf(first, sizeof first, "%s", test_path("first.xyz"));
    snprintf(second, sizeof second, "%s", test_path("second.xyz"));
    test_write_file(first, "1 2 3\n4 5 6\n", 12);
    test_write_file(second, "7 8 9\n", 6);
    const char *paths[] = {first, second};
    test_each_allocation_fails(read_two, paths);
}
