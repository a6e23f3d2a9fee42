/* An index made anew in place: it takes no memory, whatever the points are, and finds what a new index finds. */
#include <string.h>

#include "knn/knn_index.h"
#include "reference/awkward_clouds.h"
#include "support/knn_found.h"
#include "support/support.h"

static void finds_the_same(mote_context *ctx, const mote_cloud *cloud, mote_knn_index *index) {
    const mote_knn_params params = mote_knn_defaults();
    knn_found fresh = knn_found_of(ctx, cloud, NULL, &params);
    knn_found found = knn_found_by(index, mote_cloud_count(cloud), &params);
    knn_found_same(&fresh, &found);
    knn_found_free(&fresh);
    knn_found_free(&found);
}

static bool is_all_finite(const mote_knn_index *index) { return index->skipped == 0; }

/* The second rebuild asks for no memory; the first neither, unless some points are nowhere. */
static void check_rebuilds(const awkward_cloud *kind, uint64_t count, int threads) {
    test_allocator allocator = {.fail_at = 0};
    mote_context *ctx = test_context_failing(&allocator, threads);
    mote_cloud *cloud = awkward_cloud_make(ctx, kind, count, 0);
    mote_knn_index *index = NULL;
    assert_int_equal(mote_knn_build(ctx, cloud, &index), MOTE_OK);
    for (int i = 0; i < 3; i++) {
        const long calls = allocator.calls;
        const uint64_t held = mote_context_memory_bytes(ctx);
        mote_context_memory_peak_reset(ctx);
        assert_int_equal(mote_knn_rebuild(index), MOTE_OK);
        if (i == 0 && !is_all_finite(index)) continue;
        if (allocator.calls != calls) fail_msg("%s: rebuild %d allocates", kind->name, i);
        assert_int_equal(mote_context_memory_bytes(ctx), held);
        assert_int_equal(mote_context_memory_peak_bytes(ctx), held);
    }
    if (count < 10000) finds_the_same(ctx, cloud, index);
    mote_knn_destroy(index);
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
}

static void a_rebuild_allocates_nothing(void **state) {
    (void)state;
    for (uint32_t i = 0; i < awkward_cloud_count; i++) {
        for (int threads = 1; threads < 4; threads += 2) check_rebuilds(&awkward_clouds[i], 500, threads);
        check_rebuilds(&awkward_clouds[i], 70000, 2);
    }
}

/* As docs/knn.md has it: positions, codes and order, and boxes; of what is nowhere only codes and order. */
static void an_index_takes_27_bytes_a_point(void **state) {
    (void)state;
    enum { COUNT = 70000 };
    mote_context *ctx = test_context(2);
    for (int some_nowhere = 0; some_nowhere < 2; some_nowhere++) {
        const char *name = some_nowhere != 0 ? "some not finite" : "uniform float";
        mote_cloud *cloud = awkward_cloud_make(ctx, awkward_cloud_named(name), COUNT, 0);
        mote_knn_index *index = NULL;
        const uint64_t before = mote_context_memory_bytes(ctx);
        mote_context_memory_peak_reset(ctx);
        assert_int_equal(mote_knn_build(ctx, cloud, &index), MOTE_OK);
        const double finite = (double)(COUNT - index->skipped);
        const double held = (double)(mote_context_memory_bytes(ctx) - before);
        assert_true(held < 12.0 * COUNT + 15.5 * finite + sizeof *index + 1000);
        const double peak = (double)(mote_context_memory_peak_bytes(ctx) - before);
        assert_true(peak < 27.5 * COUNT + sizeof *index + 1000);
        mote_knn_destroy(index);
        mote_cloud_destroy(cloud);
    }
    mote_context_destroy(ctx);
}

/* Floats, so far apart after a while that they are measured in doubles, which take twice the memory, and back. */
static void positions_may_outgrow_floats(void **state) {
    (void)state;
    static float at[3][5000];
    const char *const names[] = {"x", "y", "z"};
    mote_context *ctx = test_context(2);
    mote_cloud *source = awkward_cloud_make(ctx, awkward_cloud_named("uniform float"), 5000, 0), *cloud = NULL;
    mote_column columns[3];
    memset(columns, 0, sizeof columns);
    for (int k = 0; k < 3; k++) {
        mote_column_read(mote_cloud_find(source, names[k]), 0, 5000, MOTE_FLOAT32, at[k]);
        columns[k].name = names[k];
        columns[k].data = at[k];
        columns[k].stride_bytes = sizeof at[k][0];
        columns[k].type = MOTE_FLOAT32;
    }
    assert_int_equal(mote_cloud_wrap(ctx, 5000, columns, 3, &cloud), MOTE_OK);
    mote_knn_index *index = NULL;
    assert_int_equal(mote_knn_build(ctx, cloud, &index), MOTE_OK);
    assert_int_equal(index->stored.metric.kind, KNN_FLOAT);
    for (int turn = 0; turn < 2; turn++) {
        const float by = turn == 0 ? 0x1p50F : 0x1p-50F;
        for (int k = 0; k < 3; k++) {
            for (int i = 0; i < 5000; i++) at[k][i] *= by;
        }
        assert_int_equal(mote_knn_rebuild(index), MOTE_OK);
        assert_int_equal(index->stored.metric.kind, turn == 0 ? KNN_DOUBLE : KNN_FLOAT);
        finds_the_same(ctx, cloud, index);
    }
    mote_knn_destroy(index);
    mote_cloud_destroy(cloud);
    mote_cloud_destroy(source);
    mote_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_rebuild_allocates_nothing),
                                       cmocka_unit_test(an_index_takes_27_bytes_a_point),
                                       cmocka_unit_test(positions_may_outgrow_floats)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
