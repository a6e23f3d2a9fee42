/* Normals and outliers in parts: the bytes of one piece. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/cloud.h"
#include "parts_test.h"
#include "support/cloud_files.h"
#include "support/support.h"

static void in_one(mote_context *ctx, const parts_inputs *inputs, const mote_normals_params *params, bool density,
                   const char *path, mote_normals_result *facts) {
    static const char *const names[] = {"normal_x",  "normal_y",        "normal_z",
                                        "curvature", "surface_density", "volume_density"};
    mote_cloud *cloud = NULL;
    float *columns[6] = {NULL};
    assert_int_equal(mote_cloud_read_many(ctx, inputs->paths, inputs->count, NULL, &cloud), MOTE_OK);
    for (int a = 0; a < (density ? 6 : 4); a++) {
        const mote_column_spec spec = {names[a], MOTE_FLOAT32, 0, 0};
        assert_int_equal(mote_cloud_put_column(cloud, &spec), MOTE_OK);
        columns[a] = mote_cloud_column_data(cloud, names[a]);
    }
    memset(facts, 0, sizeof *facts);
    facts->normal_x = columns[0];
    facts->normal_y = columns[1];
    facts->normal_z = columns[2];
    facts->curvature = columns[3];
    facts->surface_density = columns[4];
    facts->volume_density = columns[5];
    assert_int_equal(mote_normals(ctx, cloud, params, facts), MOTE_OK);
    test_write(ctx, cloud, path, NULL);
    mote_cloud_destroy(cloud);
}

static mote_parts_report compare(mote_context *ctx, const parts_inputs *inputs, const mote_normals_params *params,
                                 bool density, uint64_t part_points, const char *ending) {
    char one[512], many[512];
    mote_parts_params parts = mote_parts_defaults();
    mote_parts_report report;
    mote_normals_result expected, facts;
    test_progress progress;
    parts.part_points = part_points;
    parts_paths("normals", ending, one, many);
    in_one(ctx, inputs, params, density, one, &expected);
    parts_watch(ctx, &progress);
    const mote_status status = mote_normals_write_parts(ctx, inputs->paths, inputs->count, NULL, params, density, many,
                                                        NULL, &parts, &report, &facts);
    parts_expect(ctx, status, &progress, report.points);
    parts_same_files(one, many);
    assert_true(facts.without == expected.without && facts.skipped == expected.skipped);
    return report;
}

/* Every kind, by number, by radius and by both, in few parts and many. */
void normals_of_parts(void **state) {
    (void)state;
    mote_context *ctx = test_context(2);
    const uint64_t step = test_extent(4, 2), turn = test_turn(step);
    for (uint64_t k = 0; k < PARTS_KINDS; k++) {
        const char *path = parts_cloud_file(ctx, &parts_kinds[k], k % 2 ? "las" : "laz");
        const parts_inputs one = {{path}, 1};
        const uint64_t crowd = parts_kinds[k].equal > 2500 ? parts_kinds[k].equal : 2500;
        for (uint64_t variant = (k + turn) % step; variant < 4; variant += step) {
            mote_normals_params params = mote_normals_defaults();
            params.k = variant == 0 ? 16 : variant == 1 ? 5 : variant == 2 ? 40 : 0;
            params.radius = variant < 2 || parts_kinds[k].equal > 0 ? 0 : 4;
            if (params.k == 0 && params.radius == 0) continue; /* thousands in each ball */
            if (variant == 1) params.orient = MOTE_ORIENT_NONE;
            const mote_parts_report report =
                compare(ctx, &one, &params, variant % 2 == 0, crowd, k % 3 ? "las" : "laz");
            assert_true(report.parts >= parts_kinds[k].points / crowd);
        }
    }
    mote_context_destroy(ctx);
}

/* Where densities of parts differ by decades, and ties are decided by the order of the inputs. */
void normals_of_ties(void **state) {
    (void)state;
    mote_context *ctx = test_context(3);
    char path[512];
    snprintf(path, sizeof path, "%s", parts_cloud_file(ctx, &parts_kinds[4], "las")); /* a lattice: all is a tie */
    const parts_inputs twice = {{path, path}, 2};
    mote_normals_params params = mote_normals_defaults();
    const uint64_t step = test_extent(3, 2);
    for (uint32_t k = 3 + 9 * (uint32_t)test_turn(step); k < 40; k += 9 * (uint32_t)step) {
        params.k = k;
        compare(ctx, &twice, &params, true, 3000, "las");
    }
    mote_context_destroy(ctx);
}

/* ---- outliers */

static void outliers_in_one(mote_context *ctx, const parts_inputs *inputs, const mote_outliers_params *params,
                            bool marks, bool distances, const char *path, mote_outliers_result *facts) {
    const mote_column_spec distance = {"mean_distance", MOTE_FLOAT32, 0, 0}, mark = {"outlier", MOTE_UINT8, 0, 0};
    mote_cloud *cloud = NULL, *rest = NULL;
    memset(facts, 0, sizeof *facts);
    assert_int_equal(mote_cloud_read_many(ctx, inputs->paths, inputs->count, NULL, &cloud), MOTE_OK);
    const uint64_t points = mote_cloud_count(cloud);
    uint8_t *flags = calloc(points + 1, 1);
    uint64_t *indices = calloc(points + 1, sizeof *indices), kept = 0;
    if (distances) assert_int_equal(mote_cloud_put_column(cloud, &distance), MOTE_OK);
    if (marks) assert_int_equal(mote_cloud_put_column(cloud, &mark), MOTE_OK);
    facts->distance = distances ? mote_cloud_column_data(cloud, "mean_distance") : NULL;
    facts->outlier = marks ? mote_cloud_column_data(cloud, "outlier") : flags;
    assert_int_equal(mote_outliers(ctx, cloud, params, facts), MOTE_OK);
    for (uint64_t i = 0; i < points; i++) {
        if (facts->outlier[i] == 0 || marks) indices[kept++] = i;
    }
    if (!marks) assert_int_equal(mote_cloud_select(ctx, cloud, indices, kept, &rest), MOTE_OK);
    test_write(ctx, marks ? cloud : rest, path, NULL);
    mote_cloud_destroy(rest);
    mote_cloud_destroy(cloud);
    free(flags);
    free(indices);
}

static void compare_outliers(mote_context *ctx, const parts_inputs *inputs, const mote_outliers_params *params,
                             bool marks, bool distances, uint64_t part_points) {
    char one[512], many[512];
    mote_parts_params parts = mote_parts_defaults();
    mote_outliers_result expected, facts;
    parts.part_points = part_points;
    snprintf(one, sizeof one, "%s", test_path("parts_outliers_one.las"));
    snprintf(many, sizeof many, "%s", test_path("parts_outliers_many.las"));
    outliers_in_one(ctx, inputs, params, marks, distances, one, &expected);
    const mote_status status = mote_outliers_write_parts(ctx, inputs->paths, inputs->count, NULL, params, marks,
                                                         distances, many, NULL, &parts, NULL, &facts);
    if (status != MOTE_OK) print_message("%s\n", mote_context_message(ctx));
    assert_int_equal(status, MOTE_OK);
    assert_true(facts.count == expected.count && facts.skipped == expected.skipped);
    assert_true(facts.mean == expected.mean && facts.deviation == expected.deviation);
    assert_true(facts.threshold == expected.threshold);
    parts_same_files(one, many);
}

void outliers_of_parts(void **state) {
    (void)state;
    mote_context *ctx = test_context(2);
    const uint64_t step = test_extent(4, 2), turn = test_turn(step);
    for (uint64_t k = 0; k < PARTS_KINDS; k++) {
        const char *path = parts_cloud_file(ctx, &parts_kinds[k], k % 2 ? "las" : "laz");
        const parts_inputs one = {{path}, 1};
        const uint64_t crowd = parts_kinds[k].equal > 2500 ? parts_kinds[k].equal : 2500;
        for (uint64_t variant = (k + turn) % step; variant < 4; variant += step) {
            mote_outliers_params params = mote_outliers_defaults();
            params.method = variant % 2 == 0 ? MOTE_OUTLIERS_STATISTICAL : MOTE_OUTLIERS_RADIUS;
            params.k = 3 + 7 * (uint32_t)variant;
            params.radius = 4;
            params.min_neighbors = 5;
            compare_outliers(ctx, &one, &params, variant < 2, variant == 0 || variant == 2, crowd);
        }
    }
    mote_context_destroy(ctx);
}

/* ---- what goes wrong */

static mote_status write_outliers(mote_context *ctx, void *user) {
    const parts_inputs *inputs = user;
    mote_parts_params parts = mote_parts_defaults();
    parts.part_points = 200;
    return mote_outliers_write_parts(ctx, inputs->paths, inputs->count, NULL, NULL, false, true,
                                     test_path("parts_failed.las"), NULL, &parts, NULL, NULL);
}

static mote_status write_normals(mote_context *ctx, void *user) {
    const parts_inputs *inputs = user;
    mote_parts_params parts = mote_parts_defaults();
    parts.part_points = 200;
    return mote_normals_write_parts(ctx, inputs->paths, inputs->count, NULL, NULL, true, test_path("parts_failed.las"),
                                    NULL, &parts, NULL, NULL);
}

void normals_survive_failures(void **state) {
    (void)state;
    static const parts_kind few = {"few", 300, 0.01, 0, 0, false};
    mote_context *ctx = test_context(2);
    const char *path = parts_cloud_file(ctx, &few, "las");
    parts_inputs inputs = {{path, path}, parts_fewest_failing()};
    for (; inputs.count <= 2; inputs.count++) {
        test_each_allocation_fails(write_normals, &inputs);
        test_each_step_cancels(write_normals, &inputs);
        test_each_allocation_fails(write_outliers, &inputs);
        test_each_step_cancels(write_outliers, &inputs);
    }
    mote_context_destroy(ctx);
}

void normals_refuse_what_they_cannot(void **state) {
    (void)state;
    mote_context *ctx = test_context(2);
    const char *path = parts_cloud_file(ctx, &parts_kinds[0], "las");
    mote_normals_params params = mote_normals_defaults();
    params.orient = MOTE_ORIENT_PROPAGATE;
    assert_int_equal(mote_normals_write_parts(ctx, &path, 1, NULL, &params, false, test_path("parts_refused.las"), NULL,
                                              NULL, NULL, NULL),
                     MOTE_ERROR_UNSUPPORTED);
    assert_non_null(strstr(mote_context_message(ctx), "decided by all points"));
    mote_context_clear(ctx);
    assert_int_equal(mote_normals_write_parts(ctx, &path, 1, NULL, NULL, false, "-", NULL, NULL, NULL, NULL),
                     MOTE_ERROR_UNSUPPORTED);
    mote_context_clear(ctx);
    assert_int_equal(mote_normals_write_parts(ctx, &path, 1, NULL, NULL, false, test_path("parts_refused.ply"), NULL,
                                              NULL, NULL, NULL),
                     MOTE_ERROR_UNSUPPORTED);
    mote_context_destroy(ctx);
}
