/* Writing LAZ when things go wrong: no memory, cancelled, no room on the disk. */
#define _GNU_SOURCE /* unlink */
#include <unistd.h>

#include "support/cloud_files.h"
#include "unit/laz_write_test.h"

void every_allocation_fails_once(void **state) {
    (void)state;
    static const uint64_t sizes[] = {7000, 0};
    laz_write_make(test_path("memory.las"), 6, 20000);
    for (int pieces = 0; pieces < 2; pieces++) {
        bool done = false;
        for (long n = 2; !done; n++) {
            test_allocator allocator = {.fail_at = n};
            mote_context *ctx = test_context_failing(&allocator, 2);
            const char *out = test_path("failing.laz");
            mote_cloud *cloud = NULL;
            unlink(out);
            mote_status status = mote_cloud_read(ctx, test_path("memory.las"), NULL, &cloud);
            if (status == MOTE_OK && pieces == 0) status = mote_cloud_write(ctx, cloud, out, NULL);
            if (status == MOTE_OK && pieces == 1) {
                mote_writer *writer = NULL;
                status = mote_writer_open(ctx, cloud, cloud->count, out, NULL, &writer);
                if (status == MOTE_OK) status = mote_writer_close(writer, mote_writer_add(writer));
            }
            assert_true(status == MOTE_OK || status == MOTE_ERROR_MEMORY);
            assert_int_equal(laz_write_entries("failing.laz"), status == MOTE_OK);
            done = allocator.calls < n;
            assert_int_equal(done, status == MOTE_OK);
            mote_cloud_destroy(cloud);
            mote_context_destroy(ctx);
            assert_int_equal(allocator.open, 0);
            assert_true(n < 1000);
        }
        mote_context *ctx = test_context(1);
        laz_write_check(ctx, test_path("failing.laz"), test_path("memory.las"));
        mote_cloud *cloud = read_ok(ctx, test_path("memory.las"));
        assert_int_equal(laz_write_pieces(ctx, cloud, test_path("good.laz"), sizes), MOTE_OK);
        assert_same_file(test_path("good.laz"), test_path("failing.laz"));
        mote_cloud_destroy(cloud);
        mote_context_destroy(ctx);
    }
}

static bool stop_at_zero(void *user, double done, const char *stage) {
    (void)stage;
    assert_true(done >= 0 && done <= 1);
    return (*(int *)user)-- > 0;
}

static mote_context *stopping_context(int *remaining) {
    mote_context_params params = mote_context_defaults();
    params.threads = 2;
    params.progress = stop_at_zero;
    params.progress_user = remaining;
    mote_context *ctx = NULL;
    assert_int_equal(mote_context_create(&params, &ctx), MOTE_OK);
    return ctx;
}

void cancel_leaves_nothing(void **state) {
    (void)state;
    static const uint64_t sizes[] = {70000, 0};
    laz_write_make(test_path("stop.las"), 3, 400000);
    for (int pieces = 0; pieces < 2; pieces++) {
        bool finished = false;
        int calls = 0;
        for (; !finished; calls++) {
            int remaining = calls;
            const char *out = test_path("cancel.laz");
            unlink(out);
            mote_context *ctx = stopping_context(&remaining);
            mote_cloud *cloud = read_ok(ctx, test_path("stop.las"));
            const mote_status status =
                pieces == 0 ? mote_cloud_write(ctx, cloud, out, NULL) : laz_write_pieces(ctx, cloud, out, sizes);
            finished = status == MOTE_OK;
            if (!finished) assert_int_equal(status, MOTE_CANCELLED);
            if (!finished) assert_int_equal(remaining, -1); /* nobody asks again after a no */
            assert_int_equal(laz_write_entries("cancel.laz"), finished);
            mote_cloud_destroy(cloud);
            mote_context_destroy(ctx);
        }
        assert_true(calls >= 2);
    }
}

void full_disk_keeps_the_old_file(void **state) {
    (void)state;
    laz_write_make(test_path("disk.las"), 1, 200000);
    mote_context *ctx = test_context(2);
    mote_cloud *cloud = read_ok(ctx, test_path("disk.las"));
    test_full_disk(ctx, cloud, "out.laz");
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
}
