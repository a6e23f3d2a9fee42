/* The Morton order in parts: the file of one piece. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/cloud.h"
#include "parts_test.h"
#include "support/cloud_files.h"
#include "support/support.h"

static void in_one(mote_context *ctx, const parts_inputs *inputs, const mote_read_params *reading, const char *path) {
    mote_cloud *cloud = NULL, *sorted = NULL;
    assert_int_equal(mote_cloud_read_many(ctx, inputs->paths, inputs->count, reading, &cloud), MOTE_OK);
    assert_int_equal(mote_order_cloud(ctx, cloud, &sorted), MOTE_OK);
    test_write(ctx, sorted, path, NULL);
    mote_cloud_destroy(cloud);
    mote_cloud_destroy(sorted);
}

static mote_parts_report compare(mote_context *ctx, const parts_inputs *inputs, const mote_read_params *reading,
                                 uint64_t part_points, const char *ending) {
    char one[512], many[512];
    mote_parts_params parts = mote_parts_defaults();
    mote_parts_report report;
    test_progress progress;
    parts.part_points = part_points;
    parts_paths("order", ending, one, many);
    in_one(ctx, inputs, reading, one);
    parts_watch(ctx, &progress);
    const mote_status status =
        mote_order_write_parts(ctx, inputs->paths, inputs->count, reading, many, NULL, &parts, &report);
    parts_expect(ctx, status, &progress, report.points);
    parts_same_files(one, many);
    return report;
}

void order_of_parts(void **state) {
    (void)state;
    static const char *const endings[] = {"las", "laz", "e57"};
    mote_context *ctx = test_context(2);
    for (uint64_t k = 0; k < PARTS_KINDS; k++) {
        const char *path = parts_cloud_file(ctx, &parts_kinds[k], k % 2 ? "las" : "laz");
        const parts_inputs one = {{path}, 1};
        const uint64_t crowd = parts_kinds[k].equal > 2500 ? parts_kinds[k].equal : 2500;
        for (int e = 0; e < 3; e++) {
            const mote_parts_report report = compare(ctx, &one, NULL, crowd, endings[e]);
            assert_true(report.parts >= parts_kinds[k].points / crowd);
            assert_true(report.points == parts_kinds[k].points && report.largest_part <= crowd);
            assert_true(report.scratch_bytes > 0 || report.points == 0);
        }
    }
    mote_context_destroy(ctx);
}

/* Each point twice: those of one code stay as the inputs come. And points that a condition or a box leaves. */
void order_of_several(void **state) {
    (void)state;
    mote_context *ctx = test_context(3);
    char path[512];
    snprintf(path, sizeof path, "%s", parts_cloud_file(ctx, &parts_kinds[4], "las"));
    const parts_inputs twice = {{path, path}, 2}, one = {{path}, 1};
    mote_read_params reading = mote_read_defaults();
    compare(ctx, &twice, NULL, 3000, "laz");
    reading.where = "intensity > 100";
    compare(ctx, &twice, &reading, 3000, "las");
    compare(ctx, &one, &reading, 700, "las");
    reading.where = "x > 1e9"; /* none */
    compare(ctx, &one, &reading, 700, "las");
    mote_context_destroy(ctx);
}

/* ---- what goes wrong */

static mote_status write_sorted(mote_context *ctx, void *user) {
    const parts_inputs *inputs = user;
    mote_parts_params parts = mote_parts_defaults();
    parts.part_points = 200;
    return mote_order_write_parts(ctx, inputs->paths, inputs->count, NULL, test_path("parts_failed.laz"), NULL, &parts,
                                  NULL);
}

static mote_status sort_cloud(mote_context *ctx, void *user) {
    const parts_inputs *inputs = user;
    mote_cloud *cloud = NULL, *sorted = NULL;
    mote_status status = mote_cloud_read(ctx, inputs->paths[0], NULL, &cloud);
    if (status == MOTE_OK) status = mote_order_cloud(ctx, cloud, &sorted);
    mote_cloud_destroy(cloud);
    mote_cloud_destroy(sorted);
    return status;
}

void order_survives_failures(void **state) {
    (void)state;
    static const parts_kind few = {"few", 300, 0.01, 0, 0, false};
    mote_context *ctx = test_context(2);
    const char *path = parts_cloud_file(ctx, &few, "las");
    parts_inputs inputs = {{path, path}, parts_fewest_failing()};
    test_each_allocation_fails(sort_cloud, &inputs);
    test_each_step_cancels(sort_cloud, &inputs);
    for (; inputs.count <= 2; inputs.count++) {
        test_each_allocation_fails(write_sorted, &inputs);
        test_each_step_cancels(write_sorted, &inputs);
    }
    mote_context_destroy(ctx);
}

void order_refuses_what_it_cannot(void **state) {
    (void)state;
    mote_context *ctx = test_context(2);
    const char *path = parts_cloud_file(ctx, &parts_kinds[0], "las");
    assert_int_equal(mote_order_write_parts(ctx, &path, 1, NULL, "-", NULL, NULL, NULL), MOTE_ERROR_UNSUPPORTED);
    mote_context_clear(ctx);
    assert_int_equal(mote_order_write_parts(ctx, &path, 1, NULL, test_path("parts_refused.ply"), NULL, NULL, NULL),
                     MOTE_ERROR_UNSUPPORTED);
    assert_non_null(strstr(mote_context_message(ctx), "only .las, .laz and .e57"));
    mote_context_clear(ctx);
    mote_parts_params parts = mote_parts_defaults();
    parts.resumes = true;
    assert_int_equal(mote_order_write_parts(ctx, &path, 1, NULL, test_path("parts_refused.las"), NULL, &parts, NULL),
                     MOTE_ERROR_UNSUPPORTED);
    mote_context_destroy(ctx);
}

/* ---- one piece */

/* Sorted by code, stably: a permutation, whose codes ascend and whose points of one code keep their order. The points
   without a place come last. */
void clouds_are_sorted(void **state) {
    (void)state;
    enum { POINTS = 5000 };
    static double x[POINTS], y[POINTS], z[POINTS];
    static uint32_t number[POINTS];
    static uint64_t codes[POINTS];
    mote_context *ctx = test_context(2);
    mote_cloud *cloud = NULL, *sorted = NULL;
    mote_lattice lattice;
    for (uint32_t i = 0; i < POINTS; i++) {
        x[i] = floor(test_random(0, i) * 20); /* many of a code */
        y[i] = floor(test_random(1, i) * 20);
        z[i] = i % 100 == 7 ? NAN : floor(test_random(2, i) * 3);
        number[i] = i;
    }
    const mote_column columns[] = {{.name = "x", .type = MOTE_FLOAT64, .data = x, .scale = 1},
                                   {.name = "y", .type = MOTE_FLOAT64, .data = y, .scale = 1},
                                   {.name = "z", .type = MOTE_FLOAT64, .data = z, .scale = 1},
                                   {.name = "number", .type = MOTE_UINT32, .data = number, .scale = 1}};
    assert_int_equal(mote_cloud_wrap(ctx, POINTS, columns, 4, &cloud), MOTE_OK);
    assert_int_equal(mote_order_cloud(ctx, cloud, &sorted), MOTE_OK);
    assert_int_equal(mote_order_lattice(ctx, cloud, &lattice, NULL), MOTE_OK);
    assert_int_equal(mote_order_codes(ctx, sorted, &lattice, codes), MOTE_OK);
    assert_true(mote_cloud_count(sorted) == POINTS);
    const mote_column *to = mote_cloud_find(sorted, "number");
    uint8_t seen[POINTS] = {0};
    for (uint64_t i = 0; i < POINTS; i++) {
        const uint32_t n = (uint32_t)mote_column_value(to, i);
        assert_true(n < POINTS && !seen[n]);
        seen[n] = 1;
        assert_true((codes[i] == UINT64_MAX) == (i >= POINTS - POINTS / 100));
        if (i == 0) continue;
        assert_true(codes[i - 1] <= codes[i]);
        if (codes[i - 1] == codes[i]) assert_true(mote_column_value(to, i - 1) < n);
    }
    mote_cloud_destroy(sorted);
    mote_cloud_destroy(cloud);
    cloud = sorted = NULL;
    assert_int_equal(mote_cloud_wrap(ctx, 0, columns, 4, &cloud), MOTE_OK); /* none */
    assert_int_equal(mote_order_cloud(ctx, cloud, &sorted), MOTE_OK);
    assert_true(mote_cloud_count(sorted) == 0);
    mote_cloud_destroy(sorted);
    mote_cloud_destroy(cloud);
    assert_int_equal(mote_cloud_wrap(ctx, POINTS, columns + 1, 3, &cloud), MOTE_OK); /* no x */
    assert_int_equal(mote_order_cloud(ctx, cloud, &sorted), MOTE_ERROR_ARGUMENT);
    assert_null(sorted);
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
}
