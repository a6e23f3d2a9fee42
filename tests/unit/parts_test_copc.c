/* COPC files of parts: the bytes of one piece. */
#define _DEFAULT_SOURCE
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/cloud.h"
#include "io/tree_join.h"
#include "parts/parts.h"
#include "parts_test.h"
#include "support/cloud_files.h"
#include "support/support.h"

static mote_copc_report in_one(mote_context *ctx, const parts_inputs *inputs, const mote_lod_params *params,
                               const char *path) {
    mote_cloud *cloud = NULL;
    mote_lod *lod = NULL;
    mote_copc_report report;
    assert_int_equal(mote_cloud_read_many(ctx, inputs->paths, inputs->count, NULL, &cloud), MOTE_OK);
    assert_int_equal(mote_lod_build(ctx, cloud, params, &lod), MOTE_OK);
    assert_int_equal(mote_copc_write(ctx, lod, path, NULL, &report), MOTE_OK);
    mote_lod_destroy(lod);
    mote_cloud_destroy(cloud);
    return report;
}

void parts_compare_copc(mote_context *ctx, const parts_inputs *inputs, const mote_lod_params *params,
                        uint64_t part_points, uint64_t workers) {
    char one[512], many[512];
    mote_lod_params own = *params;
    mote_parts_params parts = mote_parts_defaults();
    mote_parts_report report;
    mote_copc_report file;
    test_progress progress;
    own.max_node_points = 0;
    parts.part_points = part_points;
    parts.workers = workers;
    snprintf(one, sizeof one, "%s", test_path("parts_whole.copc.laz"));
    snprintf(many, sizeof many, "%s", test_path("parts_parts.copc.laz"));
    const mote_copc_report expected = in_one(ctx, inputs, &own, one);
    parts_watch(ctx, &progress);
    const mote_status status =
        mote_copc_write_parts(ctx, inputs->paths, inputs->count, NULL, &own, many, NULL, &parts, &report);
    file = report.file;
    parts_expect(ctx, status, &progress, report.points);
    parts_same_files(one, many);
    assert_true(file.hash == expected.hash && file.points == expected.points && file.nodes == expected.nodes);
    assert_true(file.file_bytes == expected.file_bytes && file.hierarchy_bytes == expected.hierarchy_bytes);
    assert_true(report.largest_part <= part_points);
}

/* ---- points in the order of a scan */

#define SCANNED 40000u

/* Lines of a scanner over a slope, written in another order than they were scanned in, if is_mixed: then times alone
   tell that order, some of them twice. */
static void write_scan(mote_context *ctx, bool is_mixed, bool has_time, const char *path) {
    static const mote_column_spec specs[] = {{"x", MOTE_INT32, 0.001, 0},
                                             {"y", MOTE_INT32, 0.001, 0},
                                             {"z", MOTE_INT32, 0.001, 0},
                                             {"gps_time", MOTE_FLOAT64, 0, 0}};
    mote_cloud *cloud = NULL;
    uint8_t *columns[4];
    uint32_t strides[4];
    const uint32_t count = has_time ? 4 : 3;
    assert_int_equal(mote_cloud_create(ctx, SCANNED, specs, count, &cloud), MOTE_OK);
    for (uint32_t c = 0; c < count; c++) {
        columns[c] = mote_cloud_column_data(cloud, specs[c].name);
        strides[c] = mote_cloud_find(cloud, specs[c].name)->stride_bytes;
    }
    for (uint64_t i = 0; i < SCANNED; i++) {
        const uint64_t pulse = is_mixed ? i * 7919 % SCANNED : i; /* a prime: every pulse once */
        const int32_t along = (int32_t)(pulse % 400) * 50, across = (int32_t)(pulse / 400) * 200;
        const int32_t xyz[3] = {along, across, (along + across) / 10};
        const double time = (double)(pulse / 2) * 1e-5;
        for (int k = 0; k < 3; k++) memcpy(columns[k] + i * strides[k], &xyz[k], 4);
        if (has_time) memcpy(columns[3] + i * strides[3], &time, 8);
    }
    test_write(ctx, cloud, path, NULL);
    mote_cloud_destroy(cloud);
}

/* Nodes on borders are in the order that codes smaller, for the points of all parts: by time, and by their numbers. */
void copc_of_scans(void **state) {
    (void)state;
    mote_context *ctx = test_context(2);
    char path[512];
    snprintf(path, sizeof path, "%s", test_path("parts_scan.las"));
    const parts_inputs one = {{path}, 1}, twice = {{path, path}, 2};
    mote_lod_params params = mote_lod_defaults();
    params.merge_points = 1500;
    params.grid = 32;
    for (int variant = 0; variant < 3; variant++) {
        write_scan(ctx, variant == 1, variant < 2, path);
        parts_compare_copc(ctx, &one, &params, 3000, 1);
        parts_compare_copc(ctx, &twice, &params, 9000, 2);
    }
    mote_context_destroy(ctx);
}

/* ---- what goes wrong */

static mote_status write_copc(mote_context *ctx, void *user) {
    const parts_inputs *inputs = user;
    mote_parts_params parts = mote_parts_defaults();
    mote_lod_params params = mote_lod_defaults();
    parts.part_points = 200;
    parts.workers = inputs->count; /* one, or two */
    params.merge_points = 50;
    params.max_node_points = 0;
    return mote_copc_write_parts(ctx, inputs->paths, inputs->count, NULL, &params, test_path("parts_failed.copc.laz"),
                                 NULL, &parts, NULL);
}

void copc_survives_failures(void **state) {
    (void)state;
    static const parts_kind few = {"few", 300, 0.01, 0, 0, false};
    mote_context *ctx = test_context(2);
    const char *path = parts_cloud_file(ctx, &few, "las");
    parts_inputs inputs = {{path, path}, parts_fewest_failing()};
    for (; inputs.count <= 2; inputs.count++) {
        test_each_allocation_fails(write_copc, &inputs);
        test_each_step_cancels(write_copc, &inputs);
    }
    mote_context_destroy(ctx);
}

static void expect_refused(mote_context *ctx, const char *path, const mote_lod_params *params, const char *output,
                           mote_status expected, const char *message) {
    mote_parts_params parts = mote_parts_defaults();
    parts.part_points = 3000;
    mote_context_clear(ctx);
    assert_int_equal(mote_copc_write_parts(ctx, &path, 1, NULL, params, output, NULL, &parts, NULL), expected);
    if (strstr(mote_context_message(ctx), message) == NULL) fail_msg("%s", mote_context_message(ctx));
}

void copc_refuses_what_it_cannot(void **state) {
    (void)state;
    mote_context *ctx = test_context(2);
    char output[512];
    snprintf(output, sizeof output, "%s", test_path("parts_refused.copc.laz"));
    const char *path = parts_cloud_file(ctx, &parts_kinds[2], "las"); /* of it 9,000 points in one place */
    mote_lod_params params = mote_lod_defaults();
    expect_refused(ctx, path, &params, output, MOTE_ERROR_ARGUMENT, "max_node_points 0");
    params.max_node_points = 0;
    expect_refused(ctx, path, &params, "-", MOTE_ERROR_UNSUPPORTED, "to no pipe");
    expect_refused(ctx, path, &params, output, MOTE_ERROR_MEMORY, "in one place");
    params.scheme = MOTE_LOD_REPLACING;
    expect_refused(ctx, path, &params, output, MOTE_ERROR_ARGUMENT, "additive");
    mote_context_destroy(ctx);
}

/* While parts are built their files have no names, so that not even a kill could leave them. */
typedef struct scratch_count {
    const char *folder;
    int others;
} scratch_count;

static bool count_files(void *user, double done, const char *stage) {
    scratch_count *count = user;
    int files = 0;
    DIR *folder = opendir(count->folder);
    (void)done, (void)stage;
    assert_non_null(folder);
    for (const struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder)) {
        files += strstr(entry->d_name, "scratch") != NULL;
    }
    closedir(folder);
    count->others += files;
    return true;
}

void copc_leaves_nothing_behind(void **state) {
    (void)state;
    mote_context *ctx = test_context(2);
    char folder[512];
    snprintf(folder, sizeof folder, "%s", test_path("parts_failed.copc.laz"));
    *strrchr(folder, '/') = '\0';
    scratch_count count = {folder, 0};
    const parts_inputs one = {{parts_cloud_file(ctx, &parts_kinds[1], "las")}, 1};
    ctx->params.progress = count_files;
    ctx->params.progress_user = &count;
    assert_int_equal(write_copc(ctx, (void *)(uintptr_t)&one), MOTE_OK);
    assert_int_equal(count.others, 0);
    mote_context_destroy(ctx);
}

/* ---- numbers */

/* Around the numbers from which on they take a byte more; behind the columns of a record, and of its neighbours. */
void numbers_beyond_32_bits(void **state) {
    (void)state;
    static const uint64_t points[] = {0,
                                      1,
                                      0xFFFFFFFFull,
                                      1ull << 32,
                                      (1ull << 32) + 1,
                                      1ull << 40,
                                      (1ull << 40) + 1,
                                      1ull << 56,
                                      (1ull << 56) + 1,
                                      UINT64_MAX};
    static const uint32_t bytes[] = {4, 4, 4, 4, 5, 5, 6, 7, 8, 8};
    uint8_t records[4][32];
    parts_run run;
    memset(&run, 0, sizeof run);
    run.ctx = test_context(1);
    run.source.record_bytes = 20;
    for (size_t s = 0; s < sizeof points / sizeof points[0]; s++) {
        const uint64_t last = points[s] > 0 ? points[s] - 1 : 0, numbers[] = {last, 0, last / 2, last / 3 * 2};
        run.number_bytes = parts_number_bytes(points[s]);
        assert_int_equal(run.number_bytes, bytes[s]);
        memset(records, 0xA5, sizeof records);
        for (int i = 0; i < 4; i++) assert_int_equal(parts_number_put(&run, numbers[i], records[i]), MOTE_OK);
        for (int i = 0; i < 4; i++) {
            assert_true(parts_number_of(&run, records[i]) == numbers[i]);
            for (uint32_t b = 0; b < 32; b++) {
                assert_true(records[i][b] == 0xA5 || (b >= 20 && b < 20 + run.number_bytes));
            }
        }
    }
    mote_context_destroy(run.ctx);
}

/* An input that has more points than it said. */
void numbers_beyond_their_bytes(void **state) {
    (void)state;
    char path[] = "big.las", *paths[] = {path};
    uint8_t record[8];
    parts_run run;
    memset(&run, 0, sizeof run);
    run.ctx = test_context(1);
    run.number_bytes = 4;
    run.source.list.paths = paths;
    run.source.list.count = 1;
    assert_int_equal(parts_number_put(&run, UINT32_MAX, record), MOTE_OK);
    assert_int_equal(parts_number_put(&run, 1ull << 32, record), MOTE_ERROR_CHANGED);
    assert_non_null(strstr(mote_context_message(run.ctx), "big.las: changed while it was read"));
    mote_context_destroy(run.ctx);
}

/* ---- counts */

static void count_shared(void *user, uint64_t node, uint32_t part, uint32_t of_part, bool is_more) {
    (void)node, (void)part, (void)of_part;
    *(uint32_t *)user += is_more;
}

/* Two parts of 5 billion points each, whose root is one node: what is counted and where it begins takes 64 bits. */
void trees_beyond_32_bits(void **state) {
    (void)state;
    const uint64_t points = 5000000000, own = 20000;
    mote_lod_node nodes[2][2];
    mote_lod_node *whole = NULL;
    uint64_t count = 0;
    uint32_t shared = 0;
    mote_context *ctx = test_context(1);
    memset(nodes, 0, sizeof nodes);
    for (uint32_t p = 0; p < 2; p++) {
        nodes[p][0].total = points;
        nodes[p][0].point_count = own;
        nodes[p][0].child_mask = (uint8_t)(p == 0 ? 1 : 16);
        nodes[p][1].prefix = p == 0 ? 0 : 4;
        nodes[p][1].level = 1;
        nodes[p][1].total = nodes[p][1].point_count = points - own;
    }
    const tree_part parts[2] = {{nodes[0], 2}, {nodes[1], 2}};
    assert_int_equal(mote_tree_join(ctx, parts, 2, count_shared, &shared, &whole, &count), MOTE_OK);
    assert_int_equal(count, 3);
    assert_int_equal(shared, 1);
    assert_true(whole[0].total == 2 * points && whole[0].point_count == 2 * own && whole[0].child_mask == 17);
    assert_true(whole[1].first == 2 * own && whole[2].first == own + points);
    assert_true(whole[2].total == points - own && whole[2].parent == 0 && whole[0].first_child == 1);
    mote_free(ctx, whole);
    nodes[1][1].total = points; /* more than its parent has besides: not what was written */
    nodes[1][0].total = own;
    assert_int_equal(mote_tree_join(ctx, parts, 2, count_shared, &shared, &whole, &count), MOTE_ERROR_DATA);
    mote_context_destroy(ctx);
}
