/* Folders that replace folders where the file system cannot exchange two names (NFS, many in user space): the same
   names and files as elsewhere, also where the replacing is taken back, and where another writer is quicker. */
#define _GNU_SOURCE /* renameat2, RENAME_EXCHANGE, syscall */
#include <errno.h>
#include <fcntl.h>
#include <mote_have.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "support/support.h"

#if MOTE_HAVE_JANSSON

static bool can_exchange = true;
static const char *taken_meanwhile; /* by another writer, as soon as nothing has this name */
static uint32_t exchanges_refused;

/* Is called in place of the C library's. */
int renameat2(int from_folder, const char *from, int to_folder, const char *to, unsigned flags) {
    if (!can_exchange && (flags & RENAME_EXCHANGE) != 0) {
        exchanges_refused++;
        errno = EINVAL;
        return -1;
    }
    return (int)syscall(SYS_renameat2, from_folder, from, to_folder, to, flags);
}

static void take_meanwhile(void) {
    char path[300];
    if (taken_meanwhile == NULL || access(taken_meanwhile, F_OK) == 0) return;
    assert_int_equal(mkdir(taken_meanwhile, 0777), 0);
    for (int f = 0; f < 3; f++) {
        snprintf(path, sizeof path, "%s/%s", taken_meanwhile, test_potree_files[f]);
        test_write_file(path, "another's", 9);
    }
    taken_meanwhile = NULL;
}

int rename(const char *from, const char *to) {
    const int failed = (int)syscall(SYS_rename, from, to);
    const int error = errno;
    take_meanwhile();
    errno = error;
    return failed;
}

static long octree_bytes(const char *folder) {
    char path[300];
    struct stat info;
    snprintf(path, sizeof path, "%s/octree.bin", folder);
    return stat(path, &info) == 0 ? (long)info.st_size : -1;
}

static mote_status write_points(mote_context *ctx, uint64_t count, const char *path) {
    mote_cloud *cloud = NULL;
    mote_lod *lod = NULL;
    assert_int_equal(mote_generate(ctx, "city", count, NULL, &cloud), MOTE_OK);
    assert_int_equal(mote_lod_build(ctx, cloud, NULL, &lod), MOTE_OK);
    const mote_status status = mote_potree_write(ctx, lod, path, NULL, NULL);
    mote_lod_destroy(lod);
    mote_cloud_destroy(cloud);
    return status;
}

static void replaces(void **state) {
    (void)state;
    mote_context *ctx = test_context(1);
    const char *path = test_path("replaced");
    const uint32_t before = test_entries_in(test_folder());
    long sizes[2];
    for (int way = 0; way < 2; way++) {
        can_exchange = way == 0;
        assert_int_equal(write_points(ctx, 1000, path), MOTE_OK);
        sizes[0] = octree_bytes(path);
        exchanges_refused = 0;
        assert_int_equal(write_points(ctx, 2000, path), MOTE_OK);
        sizes[1] = octree_bytes(path);
        assert_int_equal(exchanges_refused > 0, way == 1);
        assert_int_equal(sizes[1], 2 * sizes[0]);
        assert_int_equal(test_entries_in(test_folder()), before + 1);
    }
    can_exchange = true;
    test_remove_potree(path);
    mote_context_destroy(ctx);
}

/* Of several outputs that appear together, one fails: those that have their names give them back. */
static void is_taken_back(void **state) {
    (void)state;
    mote_context *ctx = test_context(1);
    const char *path = test_path("kept");
    assert_int_equal(write_points(ctx, 1000, path), MOTE_OK);
    const long size = octree_bytes(path);
    const uint32_t before = test_entries_in(test_folder());
    for (int way = 0; way < 2; way++) {
        can_exchange = way == 0;
        const char *second = test_path("second"), *foreign = test_path("second/foreign");
        assert_int_equal(mote_outputs_hold(ctx), MOTE_OK);
        assert_int_equal(write_points(ctx, 2000, path), MOTE_OK);
        assert_int_equal(write_points(ctx, 2000, second), MOTE_OK);
        assert_int_equal(mkdir(second, 0777), 0); /* what has come there meanwhile is not replaced */
        test_write_file(foreign, "x", 1);
        assert_int_equal(mote_outputs_release(ctx, MOTE_OK), MOTE_ERROR_IO);
        mote_context_clear(ctx);
        assert_int_equal(octree_bytes(path), size);
        assert_int_equal(unlink(foreign), 0);
        assert_int_equal(rmdir(second), 0);
        assert_int_equal(test_entries_in(test_folder()), before);
    }
    can_exchange = true;
    test_remove_potree(path);
    mote_context_destroy(ctx);
}

/* Between the two names that an old set loses and a new one takes, another writer takes it: the last one's stays. */
static void another_is_quicker(void **state) {
    (void)state;
    mote_context *ctx = test_context(1);
    const char *path = test_path("wanted");
    const uint32_t before = test_entries_in(test_folder());
    assert_int_equal(write_points(ctx, 1000, path), MOTE_OK);
    const long size = octree_bytes(path);
    can_exchange = false;
    taken_meanwhile = path;
    assert_int_equal(write_points(ctx, 2000, path), MOTE_OK);
    assert_null(taken_meanwhile);
    assert_int_equal(octree_bytes(path), 2 * size);
    assert_int_equal(test_entries_in(test_folder()), before + 1);
    can_exchange = true;
    test_remove_potree(path);
    mote_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(replaces), cmocka_unit_test(is_taken_back),
                                       cmocka_unit_test(another_is_quicker)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

int main(void) {
    print_message("built without jansson: no Potree folders\n");
    return 0;
}

#endif
