/* Nearest neighbours in parts: the rows of one piece. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/cloud.h"
#include "parts/parts.h"
#include "parts_test.h"
#include "support/cloud_files.h"
#include "support/support.h"

/* Rows in all widths. */
typedef struct knn_rows {
    uint64_t queries;
    mote_knn_result to;
} knn_rows;

static knn_rows make_rows(uint64_t queries, uint32_t k, bool wide) {
    knn_rows rows;
    memset(&rows, 0, sizeof rows);
    rows.queries = queries;
    rows.to.index32 = calloc(queries * k + 1, sizeof(uint32_t));
    rows.to.index64 = calloc(queries * k + 1, sizeof(int64_t));
    rows.to.distance2 = calloc(queries * k + 1, sizeof(float));
    rows.to.distance2_wide = wide ? calloc(queries * k + 1, sizeof(double)) : NULL;
    rows.to.count = calloc(queries + 1, sizeof(uint32_t));
    return rows;
}

static void free_rows(knn_rows *rows) {
    free(rows->to.index32);
    free(rows->to.index64);
    free(rows->to.distance2);
    free(rows->to.distance2_wide);
    free(rows->to.count);
}

static knn_rows in_one(mote_context *ctx, const parts_inputs *inputs, const mote_knn_params *params, bool wide) {
    mote_cloud *cloud = NULL;
    assert_int_equal(mote_cloud_read_many(ctx, inputs->paths, inputs->count, NULL, &cloud), MOTE_OK);
    knn_rows rows = make_rows(mote_cloud_count(cloud), params->k, wide);
    assert_int_equal(mote_knn(ctx, cloud, NULL, params, &rows.to), MOTE_OK);
    mote_cloud_destroy(cloud);
    return rows;
}

static mote_parts_report compare(mote_context *ctx, const parts_inputs *inputs, const mote_knn_params *params,
                                 bool wide, uint64_t part_points) {
    mote_parts_params parts = mote_parts_defaults();
    mote_parts_report report;
    mote_knn_rows *found = NULL;
    test_progress progress;
    parts.part_points = part_points;
    knn_rows one = in_one(ctx, inputs, params, wide), many = make_rows(one.queries, params->k, wide);
    parts_watch(ctx, &progress);
    const mote_status status = mote_knn_find_parts(ctx, inputs->paths, inputs->count, NULL, params, wide,
                                                   test_path("parts_knn"), &parts, &report, &found);
    parts_expect(ctx, status, &progress, report.points);
    assert_true(mote_knn_rows_count(found) == one.queries);
    const uint64_t half = one.queries / 2, places = one.queries * params->k;
    mote_knn_result second = many.to; /* read in two, the latter first */
    second.index32 += half * params->k;
    second.index64 += half * params->k;
    second.distance2 += half * params->k;
    if (wide) second.distance2_wide += half * params->k;
    second.count += half;
    assert_int_equal(mote_knn_rows_read(found, half, one.queries - half, &second), MOTE_OK);
    assert_int_equal(mote_knn_rows_read(found, 0, half, &many.to), MOTE_OK);
    assert_memory_equal(one.to.count, many.to.count, one.queries * sizeof(uint32_t));
    assert_memory_equal(one.to.index32, many.to.index32, places * sizeof(uint32_t));
    assert_memory_equal(one.to.index64, many.to.index64, places * sizeof(int64_t));
    assert_memory_equal(one.to.distance2, many.to.distance2, places * sizeof(float));
    if (wide) assert_memory_equal(one.to.distance2_wide, many.to.distance2_wide, places * sizeof(double));
    mote_knn_rows_close(found);
    free_rows(&one);
    free_rows(&many);
    return report;
}

/* Every kind, by number and by number within a radius, with the point itself and without. */
void knn_of_parts(void **state) {
    (void)state;
    static const uint32_t k[] = {1, 10, 3, 40};
    mote_context *ctx = test_context(2);
    const uint64_t step = test_extent(4, 2), turn = test_turn(step);
    for (uint64_t kind = 0; kind < PARTS_KINDS; kind++) {
        const char *path = parts_cloud_file(ctx, &parts_kinds[kind], kind % 2 ? "las" : "laz");
        const parts_inputs one = {{path}, 1};
        const uint64_t crowd = parts_kinds[kind].equal > 2500 ? parts_kinds[kind].equal : 2500;
        for (uint64_t variant = (kind / 2 + turn) % step; variant < 4; variant += step) {
            mote_knn_params params = mote_knn_defaults();
            params.k = k[(variant + kind) % 4];
            params.radius = variant == 2 ? 4 : 0;
            params.exclude_self = variant % 2 == 1;
            const mote_parts_report report = compare(ctx, &one, &params, variant > 1, crowd);
            assert_true(report.parts >= parts_kinds[kind].points / crowd);
        }
    }
    mote_context_destroy(ctx);
}

/* A lattice, and each point twice: all is a tie, which places in both inputs decide. */
void knn_of_ties(void **state) {
    (void)state;
    mote_context *ctx = test_context(3);
    char path[512];
    snprintf(path, sizeof path, "%s", parts_cloud_file(ctx, &parts_kinds[4], "las"));
    const parts_inputs twice = {{path, path}, 2};
    mote_knn_params params = mote_knn_defaults();
    const uint64_t step = test_extent(3, 2);
    for (uint32_t k = 1 + 9 * (uint32_t)test_turn(step); k < 40; k += 9 * (uint32_t)step) {
        params.k = k;
        params.exclude_self = k % 2 == 0;
        compare(ctx, &twice, &params, false, 3000);
    }
    mote_context_destroy(ctx);
}

/* Fewer points than neighbours; a single one. */
void knn_of_few(void **state) {
    (void)state;
    static const parts_kind few[] = {{"few", 7, 0.01, 0, 0, false}, {"one", 1, 0.01, 0, 0, false}};
    mote_context *ctx = test_context(2);
    for (int i = 0; i < 2; i++) {
        const parts_inputs one = {{parts_cloud_file(ctx, &few[i], "las")}, 1};
        mote_knn_params params = mote_knn_defaults();
        for (int self = 0; self < 2; self++) {
            params.exclude_self = self == 1;
            compare(ctx, &one, &params, true, 3);
        }
    }
    mote_context_destroy(ctx);
}

/* Points that are numbered from beyond 2^33 on have the same neighbours, numbered likewise; between their rows and the
   beginning of the file there is a hole. */
void knn_beyond_32_bits(void **state) {
    (void)state;
    const uint64_t first = (1ull << 33) - 1000;
    mote_context *ctx = test_context(2);
    const parts_inputs one = {{parts_cloud_file(ctx, &parts_kinds[0], "las")}, 1};
    mote_knn_params params = mote_knn_defaults();
    mote_parts_params parts = mote_parts_defaults();
    mote_knn_rows *found = NULL;
    params.k = 5;
    params.exclude_self = true;
    parts.part_points = 9000;
    const parts_knn_job job = {one.paths, 1, NULL, &params, false, test_path("parts_knn"), &parts, NULL, first};
    assert_int_equal(parts_knn_find(ctx, &job, &found), MOTE_OK);
    knn_rows expected = in_one(ctx, &one, &params, false), rows = make_rows(expected.queries, 5, false);
    mote_knn_result narrow = rows.to;
    assert_true(mote_knn_rows_count(found) == first + expected.queries);
    assert_int_equal(mote_knn_rows_read(found, first, 1, &narrow), MOTE_ERROR_ARGUMENT);
    mote_context_clear(ctx);
    narrow.index32 = NULL;
    assert_int_equal(mote_knn_rows_read(found, first, expected.queries, &narrow), MOTE_OK);
    assert_memory_equal(rows.to.distance2, expected.to.distance2, expected.queries * 5 * sizeof(float));
    for (uint64_t i = 0; i < expected.queries * 5; i++) {
        assert_true((uint64_t)rows.to.index64[i] == (uint64_t)expected.to.index64[i] + first);
    }
    mote_knn_rows_close(found);
    free_rows(&expected);
    free_rows(&rows);
    mote_context_destroy(ctx);
}

/* ---- what goes wrong */

static mote_status find_and_read(mote_context *ctx, void *user) {
    const parts_inputs *inputs = user;
    mote_parts_params parts = mote_parts_defaults();
    mote_knn_rows *found = NULL;
    float distances[10];
    mote_knn_result to = {.distance2 = distances};
    parts.part_points = 200;
    mote_status status = mote_knn_find_parts(ctx, inputs->paths, inputs->count, NULL, NULL, false,
                                             test_path("parts_failed"), &parts, NULL, &found);
    if (status == MOTE_OK) status = mote_knn_rows_read(found, 3, 1, &to);
    mote_knn_rows_close(found);
    return status;
}

void knn_survives_failures(void **state) {
    (void)state;
    static const parts_kind few = {"few", 300, 0.01, 0, 0, false};
    mote_context *ctx = test_context(2);
    const char *path = parts_cloud_file(ctx, &few, "las");
    parts_inputs inputs = {{path, path}, parts_fewest_failing()};
    for (; inputs.count <= 2; inputs.count++) {
        test_each_allocation_fails(find_and_read, &inputs);
        test_each_step_cancels(find_and_read, &inputs);
    }
    mote_context_destroy(ctx);
}

static void refuse(mote_context *ctx, const char *path, const mote_knn_params *params, mote_status expected,
                   const char *words) {
    mote_knn_rows *found = NULL;
    assert_int_equal(
        mote_knn_find_parts(ctx, &path, 1, NULL, params, false, test_path("parts_refused"), NULL, NULL, &found),
        expected);
    assert_null(found);
    if (strstr(mote_context_message(ctx), words) == NULL) fail_msg("%s", mote_context_message(ctx));
    mote_context_clear(ctx);
}

void knn_refuses_what_it_cannot(void **state) {
    (void)state;
    mote_context *ctx = test_context(2);
    const char *path = parts_cloud_file(ctx, &parts_kinds[0], "las");
    mote_knn_params params = mote_knn_defaults();
    params.approximate = true;
    refuse(ctx, path, &params, MOTE_ERROR_UNSUPPORTED, "others depend on all points");
    params = mote_knn_defaults();
    params.method = MOTE_KNN_SHIFTED;
    refuse(ctx, path, &params, MOTE_ERROR_UNSUPPORTED, "others depend on all points");
    params = mote_knn_defaults();
    params.compression = 2;
    refuse(ctx, path, &params, MOTE_ERROR_UNSUPPORTED, "others depend on all points");
    params = mote_knn_defaults();
    params.k = 1025;
    refuse(ctx, path, &params, MOTE_ERROR_ARGUMENT, "k is 1025");
    params.k = 1024;
    params.exclude_self = true;
    refuse(ctx, path, &params, MOTE_ERROR_UNSUPPORTED, "for 1023 others at most");
    mote_knn_rows *found = NULL;
    assert_int_equal(mote_knn_find_parts(ctx, &path, 1, NULL, NULL, false, "-", NULL, NULL, &found),
                     MOTE_ERROR_UNSUPPORTED);
    mote_context_clear(ctx);
    assert_int_equal(mote_knn_find_parts(ctx, &path, 1, NULL, NULL, false, test_path("parts_knn"), NULL, NULL, &found),
                     MOTE_OK);
    double wide[10];
    mote_knn_result to = {.distance2_wide = wide};
    assert_int_equal(mote_knn_rows_read(found, 0, 1, &to), MOTE_ERROR_ARGUMENT);
    mote_context_clear(ctx);
    assert_int_equal(mote_knn_rows_read(found, mote_knn_rows_count(found), 1, &to), MOTE_ERROR_ARGUMENT);
    assert_int_equal(mote_knn_rows_read(found, 1, UINT64_MAX, &to), MOTE_ERROR_ARGUMENT);
    mote_knn_rows_close(found);
    mote_context_destroy(ctx);
}
