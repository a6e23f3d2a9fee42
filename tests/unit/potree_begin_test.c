/* Potree folders that are begun before their points are known: with whatever guess of the size, the same files; given
   up or failed, nothing is left. In a file system in memory, where one is, octree.bin is mapped. */
#define _GNU_SOURCE /* mkdtemp */
#include <linux/magic.h>
#include <mote_have.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "support/support.h"

#if MOTE_HAVE_JANSSON

#define POINTS      1800000u /* octree.bin is larger than what is written by calls */
#define POINT_BYTES 40u

static char memory_folder[] = "/dev/shm/mote-test-XXXXXX";

/* A folder in memory, or the test's own. */
static const char *open_folder(void) {
    struct statfs system;
    if (statfs("/dev/shm", &system) == 0 && system.f_type == TMPFS_MAGIC && system.f_bavail * 4096ull > 1ull << 30 &&
        mkdtemp(memory_folder) != NULL) {
        return memory_folder;
    }
    print_message("[  SKIPPED ] mapped files: /dev/shm has no room in memory; by calls instead\n");
    return test_folder();
}

static uint64_t file_bytes(const char *folder) {
    char path[300];
    snprintf(path, sizeof path, "%s/octree.bin", folder);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    fseek(file, 0, SEEK_END);
    const long size = ftell(file);
    fclose(file);
    return (uint64_t)size;
}

static mote_lod *make_lod(mote_context *ctx, mote_cloud **cloud) {
    mote_lod *lod = NULL;
    assert_int_equal(mote_generate(ctx, "city", POINTS, NULL, cloud), MOTE_OK);
    assert_int_equal(mote_lod_build(ctx, *cloud, NULL, &lod), MOTE_OK);
    return lod;
}

static void every_guess(void **state) {
    (void)state;
    const uint64_t right = (uint64_t)POINTS * POINT_BYTES;
    const uint64_t guesses[] = {right, 0, 1, right - 1, right + 1, right / 2, 3 * right, (65ull << 20)};
    const char *folder = open_folder();
    mote_context *ctx = test_context(2);
    mote_cloud *cloud = NULL;
    mote_lod *lod = make_lod(ctx, &cloud);
    mote_potree_report first = {0};
    char path[100];
    snprintf(path, sizeof path, "%s/begun", folder);
    assert_int_equal(mote_potree_write(ctx, lod, path, NULL, &first), MOTE_OK);
    assert_int_equal(first.octree_bytes, right);
    for (size_t g = 0; g < sizeof guesses / sizeof guesses[0]; g++) {
        for (int brotli = 0; brotli < (g == 0 ? 2 : 1); brotli++) {
            mote_potree_params params = mote_potree_defaults();
            mote_potree_report report = {0};
            params.encoding = brotli ? MOTE_POTREE_BROTLI : MOTE_POTREE_DEFAULT;
            params.brotli_quality = 0;
            assert_int_equal(mote_potree_begin(ctx, path, guesses[g], &params.begun), MOTE_OK);
            const mote_status status = mote_potree_write(ctx, lod, NULL, &params, &report);
            if (brotli && status == MOTE_ERROR_UNSUPPORTED) continue;
            assert_int_equal(status, MOTE_OK);
            if (!brotli) assert_true(report.hash == first.hash);
            assert_int_equal(file_bytes(path), report.octree_bytes);
            assert_int_equal(test_entries_in(folder), 1);
        }
    }
    test_remove_potree(path);
    mote_lod_destroy(lod);
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
    if (folder == memory_folder) assert_int_equal(rmdir(folder), 0);
}

static void nothing_left(void **state) {
    (void)state;
    mote_context *ctx = test_context(2);
    mote_cloud *cloud = NULL;
    mote_lod *lod = NULL;
    mote_potree_params params = mote_potree_defaults();
    const uint32_t before = test_entries_in(test_folder());
    assert_int_equal(mote_potree_begin(ctx, test_path("given up"), 1 << 20, &params.begun), MOTE_OK);
    assert_int_equal(test_entries_in(test_folder()), before + 1);
    mote_potree_abandon(ctx, params.begun);
    assert_int_equal(test_entries_in(test_folder()), before);
    mote_potree_abandon(ctx, NULL);
    assert_int_equal(mote_generate(ctx, "city", 1000, NULL, &cloud), MOTE_OK);
    assert_int_equal(mote_lod_build(ctx, cloud, NULL, &lod), MOTE_OK);
    for (int wrong = 0; wrong < 2; wrong++) {
        assert_int_equal(mote_potree_begin(ctx, test_path("failed"), 1 << 20, &params.begun), MOTE_OK);
        params.encoding = (mote_potree_encoding)(wrong == 0 ? 77 : MOTE_POTREE_DEFAULT);
        const mote_status status = mote_potree_write(ctx, wrong == 0 ? lod : NULL, NULL, &params, NULL);
        assert_int_equal(status, MOTE_ERROR_ARGUMENT);
        mote_context_clear(ctx);
        assert_int_equal(test_entries_in(test_folder()), before);
    }
    test_write_file(test_path("file"), "x", 1);
    assert_int_equal(mote_potree_begin(ctx, test_path("file"), 0, &params.begun), MOTE_ERROR_IO);
    assert_null(params.begun);
    assert_int_equal(unlink(test_path("file")), 0);
    mote_context_clear(ctx);
    assert_int_equal(mote_potree_begin(ctx, "", 0, &params.begun), MOTE_ERROR_ARGUMENT);
    mote_lod_destroy(lod);
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
}

static mote_status begin_and_write(mote_context *ctx, void *user) {
    const char *path = user;
    mote_cloud *cloud = NULL;
    mote_lod *lod = NULL;
    mote_potree_params params = mote_potree_defaults();
    mote_status status = mote_potree_begin(ctx, path, 1 << 20, &params.begun);
    if (status == MOTE_OK) status = mote_generate(ctx, "city", 2000, NULL, &cloud);
    if (status == MOTE_OK) status = mote_lod_build(ctx, cloud, NULL, &lod);
    if (status == MOTE_OK) {
        status = mote_potree_write(ctx, lod, NULL, &params, NULL);
    } else {
        mote_potree_abandon(ctx, params.begun);
    }
    mote_lod_destroy(lod);
    mote_cloud_destroy(cloud);
    return status;
}

static void failing_memory(void **state) {
    (void)state;
    test_each_allocation_fails(begin_and_write, (void *)(uintptr_t)test_path("each"));
    test_each_step_cancels(begin_and_write, (void *)(uintptr_t)test_path("step"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_guess),
        cmocka_unit_test(nothing_left),
        cmocka_unit_test(failing_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

int main(void) {
    print_message("built without jansson: no Potree folders\n");
    return 0;
}

#endif
