/* Nearest neighbours when things go wrong, and what must hold of any answer: memory runs out, the caller cancels,
   parameters are absurd; order of points and number of threads do not matter. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "knn/knn_visit.h"
#include "reference/awkward_clouds.h"
#include "reference/knn_reference.h"
#include "support/knn_found.h"
#include "support/support.h"

static void *room(uint64_t count, size_t size) {
    void *memory = calloc(count + 1, size);
    assert_non_null(memory);
    return memory;
}

/* Everything that a context can be asked for, on 300 points. */
static mote_status use_all(mote_context *ctx, void *user) {
    static uint32_t index32[300 * 20];
    const awkward_cloud *kind = user;
    mote_cloud *cloud = awkward_cloud_make(ctx, kind, 300, 0), *queries = NULL;
    mote_knn_index *index = NULL;
    mote_knn_lists *lists = NULL;
    mote_knn_params p = mote_knn_defaults();
    mote_knn_result result;
    memset(&result, 0, sizeof result);
    result.index32 = index32;
    mote_status status = cloud != NULL ? MOTE_OK : MOTE_ERROR_MEMORY;
    if (status == MOTE_OK) status = mote_knn_build(ctx, cloud, &index);
    if (status == MOTE_OK) status = mote_knn_search(index, NULL, &p, &result);
    p.k = 20;
    if (status == MOTE_OK) status = mote_knn_search(index, NULL, &p, &result);
    if (status == MOTE_OK) status = mote_knn_rebuild(index);
    if (status == MOTE_OK) {
        queries = awkward_cloud_make(ctx, awkward_cloud_named("mixed types"), 100, 0);
        status = queries != NULL ? mote_knn_search(index, queries, &p, &result) : MOTE_ERROR_MEMORY;
    }
    if (status == MOTE_OK) status = mote_knn_within(index, NULL, 1, false, NULL, &lists);
    p.method = MOTE_KNN_BRUTE;
    if (status == MOTE_OK) status = mote_knn(ctx, cloud, NULL, &p, &result);
    assert_int_equal(lists == NULL, status != MOTE_OK && lists == NULL);
    mote_knn_free_lists(ctx, lists);
    mote_knn_destroy(index);
    mote_cloud_destroy(queries);
    mote_cloud_destroy(cloud);
    return status;
}

static void survives_failing_allocations(void **state) {
    (void)state;
    test_each_allocation_fails(use_all, (void *)(uintptr_t)awkward_cloud_named("some not finite"));
    test_each_allocation_fails(use_all, (void *)(uintptr_t)awkward_cloud_named("one place"));
    test_each_allocation_fails(use_all, (void *)(uintptr_t)awkward_cloud_named("far clusters"));
}

/* A query set that could not be made holds nothing: it is freed here only where it was made. */
static mote_status make_query_set(mote_context *ctx, void *user) {
    mote_cloud *cloud = awkward_cloud_make(ctx, user, 300, 0);
    mote_cloud *queries = awkward_cloud_make(ctx, awkward_cloud_named("mixed types"), 100, 0);
    mote_knn_index *index = NULL;
    knn_query_set query_set;
    mote_status status = cloud != NULL && queries != NULL ? MOTE_OK : MOTE_ERROR_MEMORY;
    if (status == MOTE_OK) status = mote_knn_build(ctx, cloud, &index);
    if (status == MOTE_OK) {
        status = knn_query_set_make(index, queries, &query_set);
        if (status == MOTE_OK) knn_query_set_free(ctx, &query_set);
        assert_true(query_set.codes == NULL && query_set.owned_order == NULL);
    }
    mote_knn_destroy(index);
    mote_cloud_destroy(queries);
    mote_cloud_destroy(cloud);
    return status;
}

static void query_sets_that_fail_hold_nothing(void **state) {
    (void)state;
    test_each_allocation_fails(make_query_set, (void *)(uintptr_t)awkward_cloud_named("some not finite"));
}

static void cancels_at_every_step(void **state) {
    (void)state;
    test_each_step_cancels(use_all, (void *)(uintptr_t)awkward_cloud_named("shells of integers"));
}

static void progress_goes_forwards(void **state) {
    (void)state;
    for (int others = 0; others < 2; others++) {
        test_progress progress = {0};
        mote_context *ctx = test_context_watched(&progress);
        mote_knn_result result;
        memset(&result, 0, sizeof result);
        mote_cloud *cloud = awkward_cloud_make(ctx, awkward_cloud_named("far clusters"), 40000, 0);
        assert_int_equal(mote_knn(ctx, cloud, others ? cloud : NULL, NULL, &result), MOTE_OK);
        assert_false(progress.backwards);
        assert_true(progress.calls > 4 && progress.last == 1);
        mote_cloud_destroy(cloud);
        mote_context_destroy(ctx);
    }
}

static void refuses_wrong_parameters(void **state) {
    (void)state;
    mote_context *ctx = test_context(1);
    mote_cloud *cloud = awkward_cloud_make(ctx, &awkward_clouds[0], 10, 0);
    mote_knn_result result;
    mote_knn_index *index = NULL;
    memset(&result, 0, sizeof result);
    static const struct {
        mote_knn_params params;
        bool others;
        mote_status status;
    } wrong[] = {
        {{.method = MOTE_KNN_GRID, .k = 0}, false, MOTE_ERROR_ARGUMENT},
        {{.method = MOTE_KNN_GRID, .k = MOTE_KNN_MAX_K + 1}, false, MOTE_ERROR_ARGUMENT},
        {{.method = MOTE_KNN_GRID, .k = 1, .radius = -1}, false, MOTE_ERROR_ARGUMENT},
        {{.method = MOTE_KNN_GRID, .k = 1, .radius = NAN}, false, MOTE_ERROR_ARGUMENT},
        {{.method = (mote_knn_method)3, .k = 1}, false, MOTE_ERROR_ARGUMENT},
        {{.method = MOTE_KNN_GRID, .k = 1, .exclude_self = true}, true, MOTE_ERROR_ARGUMENT},
    };
    for (uint32_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        mote_context_clear(ctx);
        assert_int_equal(mote_knn(ctx, cloud, wrong[i].others ? cloud : NULL, &wrong[i].params, &result),
                         wrong[i].status);
        assert_true(strlen(mote_context_message(ctx)) > 0);
    }
    mote_context_clear(ctx);
    assert_int_equal(mote_knn_build(ctx, NULL, &index), MOTE_ERROR_ARGUMENT);
    assert_int_equal(mote_knn_build(ctx, cloud, NULL), MOTE_ERROR_ARGUMENT);
    assert_int_equal(mote_knn(ctx, cloud, NULL, NULL, NULL), MOTE_ERROR_ARGUMENT);
    mote_context_clear(ctx);
    assert_int_equal(mote_knn_build(ctx, cloud, &index), MOTE_OK);
    assert_int_equal(mote_knn_within(index, NULL, -1, false, NULL, NULL), MOTE_ERROR_ARGUMENT);
    assert_int_equal(mote_knn_within(index, cloud, 1, true, NULL, NULL), MOTE_ERROR_ARGUMENT);
    mote_knn_destroy(index);
    mote_knn_destroy(NULL);
    mote_knn_free_lists(ctx, NULL);
    mote_cloud_destroy(cloud);
    assert_int_equal(mote_context_memory_bytes(ctx), 0);
    mote_context_destroy(ctx);
}

static void refuses_clouds_without_positions(void **state) {
    (void)state;
    mote_context *ctx = test_context(1);
    static const mote_column_spec specs[] = {{"x", MOTE_FLOAT32, 0, 0}, {"y", MOTE_FLOAT32, 0, 0}};
    mote_cloud *flat = NULL, *cloud = awkward_cloud_make(ctx, &awkward_clouds[0], 10, 0);
    mote_knn_index *index = NULL;
    mote_knn_result result;
    memset(&result, 0, sizeof result);
    assert_int_equal(mote_cloud_create(ctx, 5, specs, 2, &flat), MOTE_OK);
    assert_int_equal(mote_knn_build(ctx, flat, &index), MOTE_ERROR_ARGUMENT);
    assert_null(index);
    mote_context_clear(ctx);
    assert_int_equal(mote_knn(ctx, cloud, flat, NULL, &result), MOTE_ERROR_ARGUMENT);
    mote_cloud_destroy(flat);
    mote_cloud_destroy(cloud);
    assert_int_equal(mote_context_memory_bytes(ctx), 0);
    mote_context_destroy(ctx);
}

/* ---- any answer */

static void threads_do_not_matter(void **state) {
    (void)state;
    for (int approximate = 0; approximate < 2; approximate++) {
        mote_knn_params p = mote_knn_defaults();
        knn_found first;
        p.approximate = approximate;
        for (int threads = 1; threads <= 7; threads += 3) {
            mote_context *ctx = test_context(threads);
            mote_cloud *cloud = awkward_cloud_make(ctx, awkward_cloud_named("shells"), 20000, 0);
            knn_found mine = knn_found_of(ctx, cloud, NULL, &p);
            if (threads == 1) {
                first = mine;
            } else {
                knn_found_same(&first, &mine);
                knn_found_free(&mine);
            }
            mote_cloud_destroy(cloud);
            mote_context_destroy(ctx);
        }
        knn_found_free(&first);
    }
}

/* The same points in another order: the same distances, and by them the same points unless some are as far. */
static void order_of_points_does_not_matter(void **state) {
    (void)state;
    const mote_knn_params p = mote_knn_defaults();
    for (uint32_t c = 0; c < awkward_cloud_count; c++) {
        mote_context *ctx = test_context(2);
        mote_cloud *cloud = awkward_cloud_make(ctx, &awkward_clouds[c], 3000, 0);
        mote_cloud *shuffled = awkward_cloud_make(ctx, &awkward_clouds[c], 3000, 5);
        knn_found a = knn_found_of(ctx, cloud, NULL, &p), b = knn_found_of(ctx, shuffled, NULL, &p);
        knn_found_same_shuffled(&a, &b, 5);
        knn_found_free(&a);
        knn_found_free(&b);
        mote_cloud_destroy(cloud);
        mote_cloud_destroy(shuffled);
        mote_context_destroy(ctx);
    }
}

static void approximation_is_near(void **state) {
    (void)state;
    for (uint32_t c = 0; c < awkward_cloud_count; c++) {
        for (uint32_t k = 1; k <= 33; k += 16) {
            mote_context *ctx = test_context(2);
            const uint64_t n = 2000;
            mote_cloud *cloud = awkward_cloud_make(ctx, &awkward_clouds[c], n, 0);
            mote_knn_params p = mote_knn_defaults();
            p.k = k;
            knn_found exact = knn_found_of(ctx, cloud, NULL, &p);
            p.approximate = true;
            knn_found near = knn_found_of(ctx, cloud, NULL, &p);
            uint64_t found = 0, all = 0;
            for (uint64_t i = 0; i < n; i++) {
                assert_int_equal(near.count[i], exact.count[i]); /* k, wherever there are so many */
                for (uint64_t m = 0; m < near.count[i]; m++) {
                    const double d = near.distance2_wide[i * k + m];
                    assert_true(d >= exact.distance2_wide[i * k + m] &&
                                (m == 0 || d >= near.distance2_wide[i * k + m - 1]));
                    found += d <= exact.distance2_wide[i * k + exact.count[i] - 1];
                }
                all += near.count[i];
            }
            assert_true(found * 100 >= all * 80);
            knn_found_free(&exact);
            knn_found_free(&near);
            mote_cloud_destroy(cloud);
            mote_context_destroy(ctx);
        }
    }
}

static void rebuilds_after_a_change(void **state) {
    (void)state;
    mote_context *ctx = test_context(2);
    mote_cloud *cloud = awkward_cloud_make(ctx, awkward_cloud_named("uniform float"), 500, 0);
    mote_cloud *moved = awkward_cloud_make(ctx, awkward_cloud_named("some not finite"), 500, 0);
    mote_knn_index *index = NULL;
    mote_knn_params p = mote_knn_defaults();
    uint32_t *before = room(500 * p.k, sizeof *before);
    mote_knn_result result;
    memset(&result, 0, sizeof result);
    result.index32 = before;
    assert_int_equal(mote_knn_build(ctx, cloud, &index), MOTE_OK);
    assert_int_equal(mote_knn_search(index, moved, &p, &result), MOTE_OK);
    const uint64_t held = mote_context_memory_bytes(ctx);
    for (int k = 0; k < 3; k++) {
        const char *name = k == 0 ? "x" : k == 1 ? "y" : "z";
        const mote_column *from = mote_cloud_find(moved, name), *to = mote_cloud_find(cloud, name);
        for (uint64_t i = 0; i < 500; i++) {
            memcpy((uint8_t *)mote_cloud_column_data(cloud, name) + i * to->stride_bytes,
                   (const uint8_t *)from->data + i * from->stride_bytes, 4);
        }
    }
    assert_int_equal(mote_knn_rebuild(index), MOTE_OK);
    assert_int_equal(mote_context_memory_bytes(ctx), held);
    assert_int_equal(mote_knn_search(index, NULL, &p, &result), MOTE_OK);
    knn_found after = knn_found_of(ctx, moved, NULL, &p);
    assert_true(result.skipped > 0);
    assert_memory_equal(before, after.index, 500 * p.k * sizeof *before);
    mote_knn_destroy(index);
    knn_found_free(&after);
    free(before);
    mote_cloud_destroy(cloud);
    mote_cloud_destroy(moved);
    mote_context_destroy(ctx);
}

/* ---- the rule of the paper: cubes of cells around a query's until they hold k points, then two cells more */

#define SIDE 16

static int64_t cell_of(double at) { return (int64_t)floor(at); }

static int64_t by_printed_rule(const double *points, uint64_t count, uint64_t query) {
    int64_t best = -1, shell = 0;
    uint64_t inside = 0;
    double min = INFINITY;
    while (inside < 2) { /* itself and k = 1 */
        shell++;
        inside = 0;
        for (uint64_t i = 0; i < count; i++) {
            int64_t away = 0;
            for (uint64_t k = 0; k < 3; k++) {
                const int64_t d = llabs(cell_of(points[3 * i + k]) - cell_of(points[3 * query + k]));
                away = d > away ? d : away;
            }
            inside += away <= shell;
        }
    }
    for (uint64_t i = 0; i < count; i++) {
        double d2 = 0;
        bool seen = i != query;
        for (uint64_t k = 0; k < 3; k++) {
            const double d = points[3 * i + k] - points[3 * query + k];
            seen = seen && llabs(cell_of(points[3 * i + k]) - cell_of(points[3 * query + k])) <= shell + 2;
            d2 += d * d;
        }
        if (seen && d2 < min) {
            min = d2;
            best = (int64_t)i;
        }
    }
    return best;
}

static void finds_what_the_printed_rule_misses(void **state) {
    (void)state;
    /* The query at the low corner of its cell; a point at the far corner of the first shell, 3.4 away; a nearer one,
       3.1 away, in the fourth cell of the other side; and the corners of a grid of 16 cells. */
    static const double points[] = {8.01, 8.01, 8.01, 9.97, 9.97, 9.97, 4.91, 8.01, 8.01, 0, 0, 0, SIDE, SIDE, SIDE};
    mote_context *ctx = test_context(1);
    mote_cloud *cloud = knn_reference_cloud(ctx, MOTE_FLOAT64, 1, 0, points, 5);
    mote_knn_params p = mote_knn_defaults();
    p.k = 1;
    p.exclude_self = true;
    knn_found mine = knn_found_of(ctx, cloud, NULL, &p);
    assert_int_equal(by_printed_rule(points, 5, 0), 1);
    assert_int_equal(mine.index[0], 2);
    knn_found_free(&mine);
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(survives_failing_allocations),
        cmocka_unit_test(cancels_at_every_step),
        cmocka_unit_test(progress_goes_forwards),
        cmocka_unit_test(refuses_wrong_parameters),
        cmocka_unit_test(refuses_clouds_without_positions),
        cmocka_unit_test(threads_do_not_matter),
        cmocka_unit_test(order_of_points_does_not_matter),
        cmocka_unit_test(approximation_is_near),
        cmocka_unit_test(rebuilds_after_a_change),
        cmocka_unit_test(finds_what_the_printed_rule_misses),
        cmocka_unit_test(query_sets_that_fail_hold_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
