/* Octrees in parts: the folders that one piece gives, byte for byte, however the points are cut. */
#include <math.h>
#include <mote_have.h>
#include <stdio.h>
#include <string.h>

#include "core/cloud.h"
#include "parts_test.h"
#include "reference/potree_reference.h"
#include "support/cloud_files.h"
#include "support/support.h"

#if MOTE_HAVE_JANSSON

/* ---- one piece, and parts */

/* However many steps and workers there are, they report as one call, which does not go back. */
static mote_parts_report in_parts(mote_context *ctx, const parts_inputs *inputs, const mote_lod_params *params,
                                  uint64_t part_points, uint64_t workers, const char *folder) {
    mote_parts_params parts = mote_parts_defaults();
    parts.workers = workers;
    mote_potree_params potree = mote_potree_defaults();
    mote_parts_report report;
    test_progress progress;
    potree.name = "parts";
    parts.part_points = part_points;
    parts_watch(ctx, &progress);
    const mote_status status =
        mote_lod_write_parts(ctx, inputs->paths, inputs->count, NULL, params, folder, &potree, &parts, &report);
    parts_expect(ctx, status, &progress, report.points);
    return report;
}

mote_parts_report parts_compare(mote_context *ctx, const parts_inputs *inputs, const mote_lod_params *params,
                                uint64_t part_points, uint64_t workers, uint32_t at_least) {
    char one[512], many[512];
    snprintf(one, sizeof one, "%s", test_path("parts_whole"));
    snprintf(many, sizeof many, "%s", test_path("parts_parts"));
    const mote_potree_report expected = parts_in_one(ctx, inputs, params, one);
    const mote_parts_report report = in_parts(ctx, inputs, params, part_points, workers, many);
    potree_reference_same_folders(one, many);
    assert_true(report.folder.hash == expected.hash);
    assert_true(report.folder.octree_bytes == expected.octree_bytes);
    assert_true(report.folder.hierarchy_bytes == expected.hierarchy_bytes);
    assert_true(report.folder.metadata_bytes == expected.metadata_bytes);
    assert_true(report.parts >= at_least);
    assert_true(report.largest_part <= part_points);
    assert_true(report.workers == (workers < report.parts ? workers : report.parts));
    if (params->scheme == MOTE_LOD_ADDITIVE) parts_compare_copc(ctx, inputs, params, part_points, workers);
    return report;
}

static void compare_inputs(mote_context *ctx, const parts_inputs *inputs, const mote_lod_params *params,
                           uint64_t part_points, uint32_t at_least) {
    parts_compare(ctx, inputs, params, part_points, 1, at_least);
}

static void compare(mote_context *ctx, const char *path, const mote_lod_params *params, uint64_t part_points,
                    uint32_t at_least) {
    const parts_inputs one = {{path}, 1};
    compare_inputs(ctx, &one, params, part_points, at_least);
}

/* Every kind, in both schemes and samplings, small nodes and deep trees. */
static void parts_are_the_whole(void **state) {
    (void)state;
    mote_context *ctx = test_context(2);
    const uint64_t step = test_extent(4, 2), turn = test_turn(step);
    for (uint64_t k = 0; k < PARTS_KINDS; k++) {
        const char *path = parts_cloud_file(ctx, &parts_kinds[k], "las");
        for (uint64_t variant = (k + turn) % step; variant < 4; variant += step) {
            mote_lod_params params = mote_lod_defaults();
            params.merge_points = variant % 2 ? 50 : 1000;
            params.sampling = variant == 2 ? MOTE_LOD_FIRST : MOTE_LOD_RANDOM;
            if (variant == 3) {
                params.scheme = MOTE_LOD_REPLACING;
                params.filter = MOTE_LOD_FILTER_CELL;
            }
            params.grid = variant == 1 ? 16 : 128;
            if (variant == 1) params.scheme = MOTE_LOD_REPLACING;
            /* What chooses by the input's order, or averages cells, does not go below those of the root. */
            const bool goes_deep = variant < 2;
            const uint64_t crowd = parts_kinds[k].equal > 3000 ? parts_kinds[k].equal : 3000;
            compare(ctx, path, &params, goes_deep ? crowd : parts_kinds[k].points,
                    goes_deep && parts_kinds[k].points > crowd ? 2 : 1);
        }
    }
    mote_context_destroy(ctx);
}

/* Averages over neighbours look across the borders of parts, wherever these are; where all points are equally dense
   they are anywhere, and elsewhere no cell of the root's grid is cut. */
static void averages_look_across(void **state) {
    (void)state;
    static const mote_lod_filter filters[] = {MOTE_LOD_FILTER_NEIGHBORS, MOTE_LOD_FILTER_GAUSSIAN};
    static const uint32_t grids[] = {128, 16, 64, 32};
    mote_context *ctx = test_context(2);
    uint32_t cuts = 0, fine = 0;
    const uint64_t step = test_watched(4, 3), turn = test_turn(step);
    for (uint64_t k = 0; k < PARTS_KINDS; k++) {
        const char *path = parts_cloud_file(ctx, &parts_kinds[k], k % 2 ? "las" : "laz");
        const parts_inputs one = {{path}, 1};
        for (uint64_t v = (k + turn) % step; v < 8; v += step) {
            mote_lod_params params = mote_lod_defaults();
            mote_parts_params parts = mote_parts_defaults();
            mote_parts_report report;
            params.scheme = MOTE_LOD_REPLACING;
            params.filter = filters[v % 2];
            params.grid = grids[v / 2];
            params.merge_points = v % 3 ? 50 : 700;
            const uint64_t all = parts_kinds[k].points, cut = (uint64_t)(test_random(k, v) * 9000);
            const uint64_t sizes[] = {400 + cut, all - all / 20, all - all / 200, all + 1};
            parts.workers = 1 + v % 3;
            for (int s = 0; s < 4; s++) { /* where points crowd, a part has a whole cell of the root's grid */
                parts.part_points = sizes[s];
                if (mote_lod_write_parts(ctx, &path, 1, NULL, &params, test_path("parts_parts"), NULL, &parts,
                                         &report) == MOTE_OK) {
                    break;
                }
                assert_non_null(strstr(mote_context_message(ctx), "only random sampling"));
                mote_context_clear(ctx);
            }
            parts_compare(ctx, &one, &params, parts.part_points, parts.workers, 1);
            cuts += report.parts > 1;
            fine += report.parts > 1 && report.rounds > 1;
        }
    }
    print_message("%u of several parts, %u with fine codes\n", cuts, fine);
    assert_true(cuts > 2 && fine > 0);
    mote_context_destroy(ctx);
}

/* The bytes are the same of as many parts as there may be, of two, and of one. */
static void any_number_of_parts(void **state) {
    (void)state;
    mote_context *ctx = test_context(3);
    const char *path = parts_cloud_file(ctx, &parts_kinds[0], "laz");
    mote_lod_params params = mote_lod_defaults();
    params.merge_points = 200;
    const uint64_t most = test_watched(200, 667); /* of a quarter as many parts a sanitizer sees as much */
    const uint64_t sizes[] = {60000 / most, 500, 7777, 30000, 60000};
    const uint32_t least[] = {(uint32_t)most, 120, 8, 2, 1};
    for (uint64_t i = test_turn(2); i < 5; i += 2) compare(ctx, path, &params, sizes[i], least[i]);
    mote_context_destroy(ctx);
}

/* Several parts at once, more than there are threads, and more than there are parts. */
static void any_number_of_workers(void **state) {
    (void)state;
    static const uint64_t workers[] = {2, 3, 7};
    const uint64_t turn = test_turn(3);
    mote_context *ctx = test_context(4);
    for (uint64_t k = 0; k < PARTS_KINDS; k++) {
        const char *path = parts_cloud_file(ctx, &parts_kinds[k], "las");
        const parts_inputs one = {{path}, 1};
        mote_lod_params params = mote_lod_defaults();
        params.merge_points = k % 2 ? 50 : 1000;
        const uint64_t crowd = parts_kinds[k].equal > 3000 ? parts_kinds[k].equal : 3000;
        parts_compare(ctx, &one, &params, crowd, workers[(k + turn) % 3], parts_kinds[k].points > crowd ? 2 : 1);
    }
    mote_context_destroy(ctx);
}

/* Where memory would hold all points, each worker gets as many parts as the others. */
static void workers_get_as_much(void **state) {
    (void)state;
    mote_context *ctx = test_context(2);
    const parts_inputs one = {{parts_cloud_file(ctx, &parts_kinds[0], "las")}, 1};
    const mote_parts_report report = in_parts(ctx, &one, NULL, 0, 3, test_path("parts_even"));
    assert_int_equal(report.parts, 3);
    assert_true(report.largest_part < parts_kinds[0].points / 3 * 6 / 5);
    mote_context_destroy(ctx);
}

/* What several take together stays below the limit; where that does not hold so many, there are fewer. */
static void workers_share_memory(void **state) {
    (void)state;
    mote_context *ctx = NULL;
    mote_context_params params = mote_context_defaults();
    params.device = MOTE_DEVICE_CPU;
    params.threads = 2;
    params.memory_limit_bytes = 130u << 20;
    assert_int_equal(mote_context_create(&params, &ctx), MOTE_OK);
    const parts_inputs one = {{parts_cloud_file(ctx, &parts_kinds[0], "las")}, 1};
    const mote_parts_report report = in_parts(ctx, &one, NULL, 9000, 7, test_path("parts_shared"));
    assert_true(report.workers > 1 && report.workers < 7);
    assert_true(mote_context_memory_peak_bytes(ctx) <= params.memory_limit_bytes);
    assert_int_equal(mote_context_memory_bytes(ctx), 0);
    mote_context_destroy(ctx);
}

/* A header whose box is not that of the points: they are counted anew. */
static void a_header_may_lie(void **state) {
    (void)state;
    mote_context *ctx = test_context(2);
    const char *path = parts_cloud_file(ctx, &parts_kinds[0], "las");
    const double lie = 1e6;
    FILE *file = fopen(path, "r+b");
    assert_non_null(file);
    assert_int_equal(fseek(file, 179, SEEK_SET), 0); /* the largest x */
    assert_int_equal(fwrite(&lie, sizeof lie, 1, file), 1);
    assert_int_equal(fclose(file), 0);
    mote_lod_params params = mote_lod_defaults();
    compare(ctx, path, &params, 5000, 12);
    mote_context_destroy(ctx);
}

/* Doubles, from a file of scans. */
static void reals_are_in_parts_too(void **state) {
    (void)state;
    static const mote_column_spec specs[] = {{"x", MOTE_FLOAT64, 0, 0},
                                             {"y", MOTE_FLOAT64, 0, 0},
                                             {"z", MOTE_FLOAT64, 0, 0},
                                             {"intensity", MOTE_UINT16, 0, 0}};
    mote_context *ctx = test_context(2);
    mote_cloud *cloud = NULL;
    assert_int_equal(mote_cloud_create(ctx, 20000, specs, 4, &cloud), MOTE_OK);
    for (int k = 0; k < 3; k++) {
        uint8_t *to = mote_cloud_column_data(cloud, specs[k].name);
        const uint32_t stride = mote_cloud_find(cloud, specs[k].name)->stride_bytes;
        for (uint64_t i = 0; i < 20000; i++) {
            const double at = sin((double)(i * (uint64_t)(k + 2))) * 100 + 4e5;
            memcpy(to + i * stride, &at, sizeof at);
        }
    }
    char path[512];
    snprintf(path, sizeof path, "%s", test_path("parts_reals.e57"));
    const mote_status status = mote_cloud_write(ctx, cloud, path, NULL);
    mote_cloud_destroy(cloud);
    mote_lod_params params = mote_lod_defaults();
    params.merge_points = 300;
    if (status == MOTE_OK) compare(ctx, path, &params, 700, 29);
    mote_context_destroy(ctx);
}

/* ---- several inputs */

/* One of them, in its own steps, place and columns. */
typedef struct test_input {
    const char *ending; /* NULL: no more */
    uint64_t points;
    double scale, offset;
    bool has_color, is_real;
    uint16_t white;
} test_input;

static const test_input unions[][PARTS_INPUTS_MAX] = {
    {{"las", 4000, 0.001, 0, true, false, 65535}, {"laz", 5000, 0.001, 0, true, false, 65535}},     /* tiles */
    {{"las", 4000, 0.001, 100, true, false, 65535}, {"las", 5000, 0.01, 0, false, false, 0}},       /* a lattice */
    {{"las", 4000, 0.001, 0, true, false, 65535}, {"las", 5000, 0.0013, 7.77, true, false, 65535}}, /* none */
    {{"las", 3000, 0.001, 0, true, false, 255},
     {"laz", 3000, 0.001, 0, true, false, 65535},
     {"las", 0, 0.5, 3, false, false, 0},
     {"laz", 2000, 0.001, 1e6, true, false, 255}},                                         /* depths */
    {{"e57", 3000, 1, 0, true, true, 65535}, {"las", 3000, 0.001, 0, true, false, 65535}}, /* doubles */
    {{"e57", 3000, 1, 0, false, true, 0}, {"e57", 3000, 1, 40, false, true, 0}},           /* scans */
    {{"las", 3000, 1e-9, 0, false, false, 0}, {"las", 3000, 100, 5e8, false, false, 0}},   /* wide */
    {{"las", 0, 0.001, 0, false, false, 0}, {"laz", 0, 0.001, 0, false, false, 0}},        /* nothing */
};
#define UNIONS (sizeof unions / sizeof unions[0])

static void write_input(mote_context *ctx, const test_input *input, const char *path) {
    const mote_type type = input->is_real ? MOTE_FLOAT64 : MOTE_INT32;
    const mote_column_spec specs[] = {{"x", type, input->scale, input->offset},
                                      {"y", type, input->scale, input->offset},
                                      {"z", type, input->scale, 0},
                                      {"intensity", MOTE_UINT16, 0, 0},
                                      {"red", MOTE_UINT16, 0, 0},
                                      {"green", MOTE_UINT16, 0, 0},
                                      {"blue", MOTE_UINT16, 0, 0}};
    mote_cloud *cloud = NULL;
    uint64_t random = input->points;
    assert_int_equal(mote_cloud_create(ctx, input->points, specs, input->has_color ? 7 : 4, &cloud), MOTE_OK);
    for (uint32_t c = 0; c < mote_cloud_column_count(cloud); c++) {
        const uint32_t stride = mote_cloud_column(cloud, c)->stride_bytes;
        uint8_t *to = mote_cloud_column_data(cloud, specs[c].name);
        for (uint64_t i = 0; i < input->points; i++) {
            random = random * 6364136223846793005ull + 1442695040888963407ull;
            const int32_t step = (int32_t)(random >> 44);
            const double real = step * 0.001;
            const uint16_t value = (uint16_t)(c > 3 ? (random >> 40) % (input->white + 1u) : random >> 48);
            if (c < 3 && input->is_real) memcpy(to + i * stride, &real, sizeof real);
            if (c < 3 && !input->is_real) memcpy(to + i * stride, &step, sizeof step);
            if (c >= 3) memcpy(to + i * stride, &value, sizeof value);
        }
    }
    test_write(ctx, cloud, path, NULL);
    mote_cloud_destroy(cloud);
}

/* Every union that inputs may make, in the order of the inputs. */
static void inputs_are_united(void **state) {
    (void)state;
    mote_context *ctx = test_context(2);
    for (uint64_t u = 0; u < UNIONS; u++) {
        char names[PARTS_INPUTS_MAX][512];
        parts_inputs inputs = {{NULL}, 0};
        mote_lod_params params = mote_lod_defaults();
        params.merge_points = 300;
        for (uint32_t i = 0; i < PARTS_INPUTS_MAX && unions[u][i].ending != NULL; i++) {
            snprintf(names[i], sizeof names[i], "parts_input%u.%s", i, unions[u][i].ending);
            snprintf(names[i], sizeof names[i], "%s", test_path(names[i]));
            if (strcmp(unions[u][i].ending, "e57") == 0 && !MOTE_HAVE_EXPAT) break;
            write_input(ctx, &unions[u][i], names[i]);
            inputs.paths[inputs.count++] = names[i];
        }
        if (inputs.count < 2) continue;
        print_message("union %u\n", (unsigned)u);
        compare_inputs(ctx, &inputs, &params, u == 6 ? 3000 : 700, u < 6 ? 8 : 1); /* 6: most are in one place */
        params.sampling = MOTE_LOD_FIRST;
        compare_inputs(ctx, &inputs, &params, 1u << 20, 1);
    }
    mote_context_destroy(ctx);
}

/* What is wrong with inputs is told once, though they are read several times. */
static void count_messages(void *user, mote_log_level level, const char *message) {
    (void)level;
    if (strstr(message, "lacks attributes") != NULL) ++*(uint32_t *)user;
}

static void inputs_are_told_of_once(void **state) {
    (void)state;
    uint32_t told = 0;
    mote_context_params params = mote_context_defaults();
    mote_context *ctx = NULL;
    params.threads = 2;
    params.log = count_messages;
    params.log_user = &told;
    assert_int_equal(mote_context_create(&params, &ctx), MOTE_OK);
    char names[2][512];
    parts_inputs inputs = {{names[0], names[1]}, 2};
    for (uint32_t i = 0; i < 2; i++) {
        snprintf(names[i], sizeof names[i], "%s", test_path(i == 0 ? "parts_told0.las" : "parts_told1.las"));
        write_input(ctx, &unions[1][i], names[i]);
    }
    in_parts(ctx, &inputs, NULL, 700, 1, test_path("parts_told"));
    assert_int_equal(told, 1);
    mote_context_destroy(ctx);
}

/* ---- what goes wrong */

static mote_status write_parts(mote_context *ctx, void *user) {
    const parts_inputs *inputs = user;
    mote_parts_params parts = mote_parts_defaults();
    mote_lod_params params = mote_lod_defaults();
    parts.part_points = 200;
    parts.workers = inputs->count; /* one, or two */
    params.merge_points = 50;
    return mote_lod_write_parts(ctx, inputs->paths, inputs->count, NULL, &params, test_path("parts_failed"), NULL,
                                &parts, NULL);
}

static void survives_failures(void **state) {
    (void)state;
    static const parts_kind few = {"few", 300, 0.01, 0, 0, false};
    mote_context *ctx = test_context(2);
    const char *path = parts_cloud_file(ctx, &few, "las");
    parts_inputs inputs = {{path, path}, parts_fewest_failing()};
    for (; inputs.count <= 2; inputs.count++) {
        test_each_allocation_fails(write_parts, &inputs);
        test_each_step_cancels(write_parts, &inputs);
    }
    mote_context_destroy(ctx);
}

/* Others put another file in an input's place while it is read. */
typedef struct test_swap {
    const char *path, *other;
    long calls_left;
} test_swap;

static bool swap_at(void *user, double done, const char *stage) {
    test_swap *swap = user;
    (void)done, (void)stage;
    if (--swap->calls_left == 0) assert_int_equal(rename(swap->other, swap->path), 0);
    return true;
}

static void inputs_may_be_replaced(void **state) {
    (void)state;
    mote_context *ctx = test_context(2);
    uint32_t refused = 0;
    for (uint32_t count = 1; count <= 2; count++) {
        bool is_over = false;
        for (long n = 1; !is_over; n += (long)test_extent(13, 1)) {
            char path[512], other[512];
            snprintf(path, sizeof path, "%s", test_path("parts_swapped.las"));
            snprintf(other, sizeof other, "%s", test_path("parts_other.las"));
            write_input(ctx, &unions[3][0], path);  /* with colours */
            write_input(ctx, &unions[1][1], other); /* without, shorter records, more points */
            test_swap swap = {path, other, n};
            const parts_inputs inputs = {{path, path}, count};
            mote_context_params params = mote_context_defaults();
            mote_context *own = NULL;
            params.threads = 2;
            params.progress = swap_at;
            params.progress_user = &swap;
            assert_int_equal(mote_context_create(&params, &own), MOTE_OK);
            const mote_status status = write_parts(own, (void *)(uintptr_t)&inputs);
            is_over = swap.calls_left > 0;
            assert_true(status == MOTE_OK || status == MOTE_ERROR_IO || status == MOTE_ERROR_CHANGED ||
                        status == MOTE_ERROR_ARGUMENT);
            refused += status == MOTE_ERROR_IO || status == MOTE_ERROR_CHANGED;
            mote_context_destroy(own);
        }
    }
    assert_true(refused > test_extent(0, 4));
    mote_context_destroy(ctx);
}

static void expect_refused(mote_context *ctx, const char *path, const mote_lod_params *params, uint64_t part_points,
                           mote_status expected, const char *message) {
    mote_parts_params parts = mote_parts_defaults();
    parts.part_points = part_points;
    mote_context_clear(ctx);
    assert_int_equal(mote_lod_write_parts(ctx, &path, 1, NULL, params, test_path("parts_refused"), NULL, &parts, NULL),
                     expected);
    if (strstr(mote_context_message(ctx), message) == NULL) fail_msg("%s", mote_context_message(ctx));
}

static void refuses_what_parts_cannot(void **state) {
    (void)state;
    mote_context *ctx = test_context(2);
    const char *path = parts_cloud_file(ctx, &parts_kinds[2], "las"); /* of it 9,000 points in one place */
    mote_lod_params params = mote_lod_defaults();
    expect_refused(ctx, path, &params, 8999, MOTE_ERROR_MEMORY, "in one place");
    params.sampling = MOTE_LOD_FIRST;
    expect_refused(ctx, path, &params, 8999, MOTE_ERROR_MEMORY, "only random sampling");
    expect_refused(ctx, test_path("parts_none.las"), NULL, 0, MOTE_ERROR_IO, "parts_none.las");
    mote_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_are_the_whole),
        cmocka_unit_test(averages_look_across),
        cmocka_unit_test(any_number_of_parts),
        cmocka_unit_test(any_number_of_workers),
        cmocka_unit_test(workers_get_as_much),
        cmocka_unit_test(workers_share_memory),
        cmocka_unit_test(a_header_may_lie),
        cmocka_unit_test(reals_are_in_parts_too),
        cmocka_unit_test(inputs_are_united),
        cmocka_unit_test(inputs_are_told_of_once),
        cmocka_unit_test(survives_failures),
        cmocka_unit_test(inputs_may_be_replaced),
        cmocka_unit_test(refuses_what_parts_cannot),
        cmocka_unit_test(copc_of_scans),
        cmocka_unit_test(copc_survives_failures),
        cmocka_unit_test(copc_refuses_what_it_cannot),
        cmocka_unit_test(copc_leaves_nothing_behind),
        cmocka_unit_test(numbers_beyond_32_bits),
        cmocka_unit_test(numbers_beyond_their_bytes),
        cmocka_unit_test(trees_beyond_32_bits),
        cmocka_unit_test(distances_of_parts),
        cmocka_unit_test(distances_of_few_points),
        cmocka_unit_test(distances_show_progress),
        cmocka_unit_test(distances_survive_failures),
        cmocka_unit_test(normals_of_parts),
        cmocka_unit_test(normals_of_ties),
        cmocka_unit_test(outliers_of_parts),
        cmocka_unit_test(normals_survive_failures),
        cmocka_unit_test(normals_refuse_what_they_cannot),
        cmocka_unit_test(knn_of_parts),
        cmocka_unit_test(knn_of_ties),
        cmocka_unit_test(knn_of_few),
        cmocka_unit_test(knn_beyond_32_bits),
        cmocka_unit_test(knn_survives_failures),
        cmocka_unit_test(knn_refuses_what_it_cannot),
        cmocka_unit_test(order_of_parts),
        cmocka_unit_test(order_of_several),
        cmocka_unit_test(order_survives_failures),
        cmocka_unit_test(order_refuses_what_it_cannot),
        cmocka_unit_test(clouds_are_sorted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#else
int main(void) { return 0; }
#endif
