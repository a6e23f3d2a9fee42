/* COPC: the same bytes for any number of threads, points in the order of time, what is refused, and nothing left behind
   where memory runs out or a step is cancelled. */
#define _POSIX_C_SOURCE 200809L /* popen */
#include "unit/copc_test.h"

void octrees_that_copc_cannot_hold(void **state) {
    (void)state;
    mote_context *ctx = test_context(1);
    mote_cloud *cloud = copc_generated(ctx, "city", 2000);
    mote_lod_params params = mote_lod_defaults();
    mote_lod *lod = NULL;
    params.scheme = MOTE_LOD_REPLACING;
    assert_int_equal(mote_lod_build(ctx, cloud, &params, &lod), MOTE_OK);
    assert_int_equal(mote_copc_write(ctx, lod, test_path("no.copc.laz"), NULL, NULL), MOTE_ERROR_ARGUMENT);
    assert_non_null(strstr(mote_context_message(ctx), "additive"));
    mote_lod_destroy(lod);
    mote_cloud_destroy(cloud);
    mote_context_clear(ctx);

    static const mote_column_spec specs[] = {
        {"x", MOTE_INT32, 0.01, 0}, {"y", MOTE_INT32, 0.01, 0}, {"z", MOTE_INT32, 0.01, 0}};
    assert_int_equal(mote_cloud_create(ctx, 1000, specs, 3, &cloud), MOTE_OK);
    params = mote_lod_defaults();
    params.max_node_points = 10; /* 1000 points in one place: a chain of 100 nodes */
    assert_int_equal(mote_lod_build(ctx, cloud, &params, &lod), MOTE_OK);
    assert_int_equal(mote_copc_write(ctx, lod, test_path("no.copc.laz"), NULL, NULL), MOTE_ERROR_ARGUMENT);
    assert_non_null(strstr(mote_context_message(ctx), "max_node_points"));
    assert_null(fopen(test_path("no.copc.laz"), "rb"));
    mote_lod_destroy(lod);
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
}

void same_bytes_for_any_threads(void **state) {
    (void)state;
    uint64_t hash[3];
    static const int threads[3] = {1, 2, 7};
    for (int t = 0; t < 3; t++) {
        mote_context *ctx = test_context(threads[t]);
        mote_cloud *cloud = copc_generated(ctx, "city", 30000);
        hash[t] = copc_write_ok(ctx, cloud, 200, test_path(t == 0 ? "one.copc.laz" : "more.copc.laz")).hash;
        if (t > 0) assert_same_file(test_path("one.copc.laz"), test_path("more.copc.laz"));
        assert_true(hash[t] == hash[0]);
        mote_cloud_destroy(cloud);
        mote_context_destroy(ctx);
    }
}

/* The files in the folder of the test that are named after an output. */
static int leftovers(const char *path) {
    char part[4096];
    snprintf(part, sizeof part, "ls '%s'* 2>/dev/null | grep -c .", path);
    FILE *list = popen(part, "r");
    int count = -1;
    assert_non_null(list);
    assert_int_equal(fscanf(list, "%d", &count), 1);
    pclose(list);
    return count;
}

/* The order of the input does not matter where points have times: nodes are sorted by them again, where that codes
   smaller than the Morton curve. */
void scans_are_in_the_order_of_time(void **state) {
    (void)state;
    mote_context *ctx = test_context(2);
    mote_cloud *cloud = copc_generated(ctx, "city", 60000), *shuffled = NULL;
    uint64_t *indices = malloc(60000 * sizeof *indices);
    assert_non_null(indices);
    for (uint64_t i = 0; i < 60000; i++) indices[i] = i * 7919 % 60000;
    assert_int_equal(mote_cloud_select(ctx, cloud, indices, 60000, &shuffled), MOTE_OK);
    copc_write_ok(ctx, shuffled, 1000, test_path("shuffled.copc.laz"));
    copc_file f = copc_load(ctx, test_path("shuffled.copc.laz"));
    uint64_t in_order = 0;
    for (size_t i = 0; i < f.count; i++) {
        if (f.entries[i].points == 0) continue;
        uint8_t *records = copc_decode(ctx, &f, &f.entries[i]);
        bool sorted = true;
        for (int32_t p = 1; p < f.entries[i].points && sorted; p++) {
            const uint8_t *at = records + (size_t)p * f.record_bytes + 22;
            sorted = las_f64(at) >= las_f64(at - f.record_bytes);
        }
        if (sorted) in_order += (uint64_t)f.entries[i].points;
        free(records);
    }
    assert_true(in_order > 40000);
    copc_unload(&f);
    free(indices);
    mote_cloud_destroy(shuffled);
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
}

void every_allocation_can_fail(void **state) {
    (void)state;
    const char *path = test_path("memory.copc.laz");
    test_allocator allocator = {0};
    mote_context *ctx = test_context_failing(&allocator, 2);
    mote_cloud *cloud = copc_generated(ctx, "city", 3000);
    mote_lod *lod = copc_build(ctx, cloud, 100);
    const long open = allocator.open;
    mote_status status = MOTE_ERROR_MEMORY;
    for (long n = 1; status != MOTE_OK; n++) {
        allocator.fail_at = allocator.calls + n;
        mote_context_clear(ctx);
        status = mote_copc_write(ctx, lod, path, NULL, NULL);
        allocator.fail_at = 0;
        assert_int_equal(allocator.open, open);
        if (status == MOTE_OK) continue;
        assert_int_equal(status, MOTE_ERROR_MEMORY);
        assert_int_equal(leftovers(path), 0);
    }
    assert_int_equal(leftovers(path), 1);
    mote_lod_destroy(lod);
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
    assert_int_equal(allocator.open, 0);
}

typedef struct cancelling {
    int remaining;
} cancelling;

static bool count_down(void *user, double done, const char *stage) {
    cancelling *c = user;
    (void)stage;
    assert_true(done >= 0 && done <= 1);
    return --c->remaining >= 0;
}

void every_step_can_be_cancelled(void **state) {
    (void)state;
    const char *path = test_path("cancel.copc.laz");
    cancelling c = {1 << 30};
    mote_context_params params = mote_context_defaults();
    mote_context *ctx = NULL;
    params.threads = 1;
    params.progress = count_down;
    params.progress_user = &c;
    assert_int_equal(mote_context_create(&params, &ctx), MOTE_OK);
    mote_cloud *cloud = copc_generated(ctx, "city", 3000);
    mote_lod *lod = copc_build(ctx, cloud, 100);
    mote_status status = MOTE_CANCELLED;
    int steps = 0;
    for (; status == MOTE_CANCELLED; steps++) {
        c.remaining = steps;
        mote_context_clear(ctx);
        status = mote_copc_write(ctx, lod, path, NULL, NULL);
        if (status == MOTE_CANCELLED) assert_int_equal(leftovers(path), 0);
    }
    assert_int_equal(status, MOTE_OK);
    assert_true(steps > 3);
    mote_lod_destroy(lod);
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
}
