/* Levels of detail when things go wrong: memory runs out, the caller cancels, parameters and positions are absurd. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "math/hash.h"
#include "reference/awkward_clouds.h"
#include "reference/lod_reference.h"
#include "support/support.h"

typedef struct build_input {
    const mote_cloud *cloud;
    const mote_lod_params *params;
} build_input;

static mote_status build(mote_context *ctx, void *user) {
    const build_input *const input = user;
    mote_lod *lod = NULL;
    const mote_status status = mote_lod_build(ctx, input->cloud, input->params, &lod);
    assert_int_equal(lod != NULL, status == MOTE_OK);
    if (status != MOTE_OK) assert_non_null(strstr(mote_context_message(ctx), "out of memory"));
    mote_lod_destroy(lod);
    assert_int_equal(mote_context_memory_bytes(ctx), 0);
    return status;
}

static void check_failing_allocations(const char *name, uint32_t first) {
    mote_context *healthy = test_context(1);
    mote_cloud *cloud = awkward_cloud_make(healthy, awkward_cloud_named(name), 120, 0);
    for (uint32_t i = first; i < lod_combination_count; i += 5) {
        build_input input = {cloud, &lod_combinations[i]};
        test_each_allocation_fails(build, &input);
    }
    mote_cloud_destroy(cloud);
    mote_context_destroy(healthy);
}

static void survives_failing_allocations(void **state) {
    (void)state;
    check_failing_allocations("around the middle", 8);
    check_failing_allocations("deep around the middle", 9);
}

typedef struct progress_watch {
    long calls, cancel_at;
    double last;
    bool backwards;
} progress_watch;

static bool watch_progress(void *user, double done, const char *stage) {
    progress_watch *watch = user;
    watch->backwards = watch->backwards || !(done >= watch->last && done <= 1) || stage == NULL || stage[0] == '\0';
    watch->last = done;
    return ++watch->calls != watch->cancel_at;
}

static mote_status build_watched(progress_watch *watch, const char *name, uint64_t count, const mote_lod_params *p) {
    mote_context_params params = mote_context_defaults();
    params.threads = 1;
    params.device = MOTE_DEVICE_CPU;
    params.progress = watch_progress;
    params.progress_user = watch;
    mote_context *ctx = NULL;
    mote_lod *lod = NULL;
    assert_int_equal(mote_context_create(&params, &ctx), MOTE_OK);
    mote_cloud *cloud = awkward_cloud_make(ctx, awkward_cloud_named(name), count, 0);
    const mote_status status = mote_lod_build(ctx, cloud, p, &lod);
    if (status != MOTE_OK) assert_null(lod);
    mote_lod_destroy(lod);
    mote_cloud_destroy(cloud);
    assert_int_equal(mote_context_memory_bytes(ctx), 0);
    mote_context_destroy(ctx);
    return status;
}

/* Cancels at each report in turn, until there are no more: on a busy machine steps that take long report once more, so
   their number is not the same twice. */
static void cancel_each(const char *name, uint64_t count, const mote_lod_params *params) {
    mote_status status = MOTE_CANCELLED;
    for (long n = 1; status == MOTE_CANCELLED; n++) {
        progress_watch cancelling = {.cancel_at = n};
        status = build_watched(&cancelling, name, count, params);
        if (status != MOTE_CANCELLED) assert_int_equal(status, MOTE_OK);
        assert_true(status == MOTE_OK ? cancelling.calls < n : cancelling.calls == n); /* nobody asks after a no */
    }
}

static void cancels_at_every_step(void **state) {
    (void)state;
    for (uint32_t i = 0; i < lod_combination_count; i += 3) {
        progress_watch watch = {0};
        if (lod_combinations[i].scheme == MOTE_LOD_REPLACING && lod_combinations[i].max_node_points > 0) continue;
        assert_int_equal(build_watched(&watch, "shells", 300, &lod_combinations[i]), MOTE_OK);
        assert_false(watch.backwards);
        assert_true(watch.calls > 4 && watch.last == 1);
        cancel_each("shells", 300, &lod_combinations[i]);
    }
}

/* Points of one code so many that their sort by fine codes reports, too. */
static void cancels_where_codes_are_fine(void **state) {
    (void)state;
    const mote_lod_params params = mote_lod_defaults();
    progress_watch watch = {0};
    assert_int_equal(build_watched(&watch, "a stray", 60000, &params), MOTE_OK);
    assert_false(watch.backwards);
    cancel_each("a stray", 60000, &params);
}

static void refuses_wrong_parameters(void **state) {
    (void)state;
    mote_context *ctx = test_context(1);
    mote_cloud *cloud = awkward_cloud_make(ctx, &awkward_clouds[0], 10, 0);
    mote_lod_params wrong[10];
    for (int i = 0; i < 10; i++) wrong[i] = mote_lod_defaults();
    wrong[0].grid = 0, wrong[1].grid = 1, wrong[2].grid = 3, wrong[3].grid = 2048;
    wrong[4].merge_points = 0;
    wrong[5].scheme = (mote_lod_scheme)2;
    wrong[6].sampling = (mote_lod_sampling)3;
    wrong[7].filter = (mote_lod_filter)4;
    wrong[8].filter = MOTE_LOD_FILTER_CELL; /* with the additive scheme */
    wrong[9].scheme = (mote_lod_scheme)-1;
    for (int i = 0; i < 10; i++) {
        mote_lod *lod = NULL;
        mote_context_clear(ctx);
        assert_int_equal(mote_lod_build(ctx, cloud, &wrong[i], &lod), MOTE_ERROR_ARGUMENT);
        assert_null(lod);
        assert_true(strlen(mote_context_message(ctx)) > 0);
    }
    mote_cloud_destroy(cloud);
    assert_int_equal(mote_context_memory_bytes(ctx), 0);
    mote_context_destroy(ctx);
}

static void refuses_clouds_without_positions(void **state) {
    (void)state;
    mote_context *ctx = test_context(1);
    static const mote_column_spec specs[] = {{"x", MOTE_FLOAT32, 0, 0}, {"z", MOTE_FLOAT32, 0, 0}};
    for (uint32_t columns = 0; columns <= 2; columns++) {
        mote_cloud *cloud = NULL;
        mote_lod *lod = NULL;
        assert_int_equal(mote_cloud_create(ctx, 5, specs, columns, &cloud), MOTE_OK);
        assert_int_equal(mote_lod_build(ctx, cloud, NULL, &lod), MOTE_ERROR_ARGUMENT);
        assert_null(lod);
        mote_cloud_destroy(cloud);
        mote_context_clear(ctx);
    }
    assert_int_equal(mote_lod_build(ctx, NULL, NULL, NULL), MOTE_ERROR_ARGUMENT);
    assert_int_equal(mote_context_memory_bytes(ctx), 0);
    mote_context_destroy(ctx);
}

/* ---- what files and callers may hand over */

/* Builds with the library and the reference and compares them in every way. */
static void check_build(mote_context *ctx, const mote_cloud *cloud, const char *name, const mote_lod_params *p) {
    char why[REFERENCE_WHY_BYTES] = "", what[REFERENCE_NAME_BYTES];
    uint32_t levels;
    lod_combination_name(p, name, mote_cloud_count(cloud), what);
    if (!lod_reference_agrees(ctx, cloud, p, &levels, why)) fail_msg("%s: %s", what, why);
}

/* A cloud over the caller's doubles, x y z in turn. */
static mote_cloud *wrap_doubles(mote_context *ctx, const double *xyz, uint64_t n, double scale, double offset) {
    static const char *const names[3] = {"x", "y", "z"};
    mote_column columns[3];
    mote_cloud *cloud = NULL;
    memset(columns, 0, sizeof columns);
    for (int k = 0; k < 3; k++) {
        columns[k].name = names[k];
        columns[k].type = MOTE_FLOAT64;
        columns[k].data = xyz + k;
        columns[k].stride_bytes = 3 * sizeof *xyz;
        columns[k].scale = scale;
        columns[k].offset = offset;
    }
    assert_int_equal(mote_cloud_wrap(ctx, n, columns, 3, &cloud), MOTE_OK);
    return cloud;
}

static void check_any_build(mote_context *ctx, const mote_cloud *cloud, const char *name) {
    char why[REFERENCE_WHY_BYTES] = "";
    mote_lattice lattice;
    uint64_t skipped;
    assert_int_equal(mote_order_lattice(ctx, cloud, &lattice, &skipped), MOTE_OK);
    if (!lod_reference_check_lattice(cloud, &lattice, skipped, why)) fail_msg("%s: %s", name, why);
    for (uint32_t i = 0; i < lod_combination_count; i += 5) check_build(ctx, cloud, name, &lod_combinations[i]);
}

/* Numbers at the ends of what a double holds. */
static void takes_extreme_positions(void **state) {
    (void)state;
    static const double sizes[] = {1e-310, 1e-200, 1e200, 8e307};
    mote_context *ctx = test_context(1);
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
        double xyz[300];
        char name[40];
        for (uint64_t i = 0; i < 300; i++) xyz[i] = sizes[s] * ((double)(mote_hash64(i) % 1000) / 1000);
        snprintf(name, sizeof name, "of size %g", sizes[s]);
        mote_cloud *cloud = wrap_doubles(ctx, xyz, 100, 1, 0);
        check_any_build(ctx, cloud, name);
        mote_cloud_destroy(cloud);
    }
    mote_context_destroy(ctx);
}

/* The cube around such points has no side that a double can name. */
static void refuses_what_no_cube_holds(void **state) {
    (void)state;
    const double xyz[] = {-1.7e308, 0, 0, 1.7e308, 1, 2, 5, 5, 5};
    mote_context *ctx = test_context(1);
    mote_cloud *cloud = wrap_doubles(ctx, xyz, 3, 1, 0);
    mote_lod *lod = NULL;
    assert_int_equal(mote_lod_build(ctx, cloud, NULL, &lod), MOTE_ERROR_DATA);
    assert_null(lod);
    mote_cloud_destroy(cloud);
    assert_int_equal(mote_context_memory_bytes(ctx), 0);
    mote_context_destroy(ctx);
}

/* A scale or an offset that makes coordinates infinite makes their points not finite, integers included. */
static void skips_points_that_scale_makes_infinite(void **state) {
    (void)state;
    const struct {
        double scale, offset;
        uint64_t skipped;
    } cases[] = {{INFINITY, 0, 100}, {NAN, 0, 100}, {1, INFINITY, 100}, {1, NAN, 100}, {1e306, 0, 50}, {-1, 3, 0}};
    mote_context *ctx = test_context(1);
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        char name[60];
        mote_cloud *cloud = NULL;
        mote_column_spec specs[3] = {
            {"x", MOTE_INT32, cases[c].scale, cases[c].offset}, {"y", MOTE_INT32, 1, 0}, {"z", MOTE_INT32, 1, 0}};
        assert_int_equal(mote_cloud_create(ctx, 100, specs, 3, &cloud), MOTE_OK);
        uint8_t *at = mote_cloud_column_data(cloud, "x");
        for (int32_t i = 0; i < 100; i++) {
            const int32_t xyz[3] = {i % 2 == 0 ? 20 + i / 2 : 1000 + i, 3 * i, i / 4};
            memcpy(at + 12 * i, xyz, sizeof xyz);
        }
        snprintf(name, sizeof name, "scale %g, offset %g", cases[c].scale, cases[c].offset);
        mote_lattice lattice;
        uint64_t skipped;
        assert_int_equal(mote_order_lattice(ctx, cloud, &lattice, &skipped), MOTE_OK);
        assert_int_equal(skipped, cases[c].skipped);
        check_any_build(ctx, cloud, name);
        mote_cloud_destroy(cloud);
    }
    mote_context_destroy(ctx);
}

/* Positions packed with other fields into one word. */
static void takes_packed_positions(void **state) {
    (void)state;
    static const char *const names[3] = {"x", "y", "z"};
    mote_context *ctx = test_context(1);
    uint32_t words[200];
    mote_column columns[3];
    mote_cloud *cloud = NULL;
    memset(columns, 0, sizeof columns);
    for (uint64_t i = 0; i < 200; i++) words[i] = (uint32_t)mote_hash64(i);
    for (uint8_t k = 0; k < 3; k++) {
        columns[k].name = names[k];
        columns[k].type = MOTE_INT32;
        columns[k].data = words;
        columns[k].bit_shift = (uint8_t)(10 * k);
        columns[k].bit_count = 10;
    }
    assert_int_equal(mote_cloud_wrap(ctx, 200, columns, 3, &cloud), MOTE_OK);
    check_any_build(ctx, cloud, "packed positions");
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
}

/* Colours of other types than usual stay within 16 bits. */
static void colors_saturate(void **state) {
    (void)state;
    static const int32_t reds[] = {-5, 0, 65535, 65536, 2147483647};
    static const uint16_t expected[] = {0, 0, 65535, 65535, 65535};
    static const float blues[] = {-1.0f, NAN, 0.5f, 1.0f, INFINITY};
    static const uint16_t expected_blue[] = {0, 0, 32768, 65535, 65535};
    static const mote_column_spec specs[] = {{"x", MOTE_FLOAT32, 0, 0},  {"y", MOTE_FLOAT32, 0, 0},
                                             {"z", MOTE_FLOAT32, 0, 0},  {"red", MOTE_INT32, 0, 0},
                                             {"green", MOTE_INT8, 0, 0}, {"blue", MOTE_FLOAT32, 0, 0}};
    mote_context *ctx = test_context(1);
    mote_cloud *cloud = NULL;
    mote_lod *lod = NULL;
    assert_int_equal(mote_cloud_create(ctx, 5, specs, 6, &cloud), MOTE_OK);
    for (int i = 0; i < 5; i++) {
        const size_t row = (size_t)i * mote_cloud_find(cloud, "x")->stride_bytes;
        memcpy((uint8_t *)mote_cloud_column_data(cloud, "red") + row, &reds[i], 4);
        memset((uint8_t *)mote_cloud_column_data(cloud, "green") + row, 0xFE, 1);
        memcpy((uint8_t *)mote_cloud_column_data(cloud, "blue") + row, &blues[i], 4);
    }
    uint32_t indices[5];
    uint16_t colors[15];
    assert_int_equal(mote_lod_build(ctx, cloud, NULL, &lod), MOTE_OK);
    mote_lod_node_points(lod, 0, indices, colors);
    for (int i = 0; i < 5; i++) {
        assert_int_equal(indices[i], i);
        assert_int_equal(colors[3 * i], expected[i]);
        assert_int_equal(colors[3 * i + 1], 0);
        assert_int_equal(colors[3 * i + 2], expected_blue[i]);
    }
    mote_lod_destroy(lod);
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
}

/* More points of one place than sums of 32 bits take, all of the brightest white, beside a few black ones. */
static void averages_a_huge_pile(void **state) {
    (void)state;
    mote_context *ctx = test_context(1);
    mote_cloud *cloud = awkward_cloud_make(ctx, awkward_cloud_named("pile"), 140000, 0);
    const mote_lod_params piles[] = {
        {MOTE_LOD_REPLACING, MOTE_LOD_FIRST, MOTE_LOD_FILTER_GAUSSIAN, 2, 5, 0, 0, false, {0}},
        {MOTE_LOD_REPLACING, MOTE_LOD_POISSON, MOTE_LOD_FILTER_GAUSSIAN, 8, 5, 0, 0, false, {0}},
        {MOTE_LOD_REPLACING, MOTE_LOD_RANDOM, MOTE_LOD_FILTER_NEIGHBORS, 2, 5, 0, 0, false, {0}}};
    for (int i = 0; i < 3; i++) check_build(ctx, cloud, "pile", &piles[i]);
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
}

static void chains_end(void **state) {
    (void)state;
    mote_context *ctx = test_context(1);
    const mote_lod_params p = {MOTE_LOD_ADDITIVE, MOTE_LOD_RANDOM, MOTE_LOD_FILTER_NONE, 8, 1, 1, 0, false, {0}};
    for (uint64_t n = 250; n < 265; n += 2) { /* the deepest node is of level 255 */
        mote_cloud *cloud = awkward_cloud_make(ctx, awkward_cloud_named("one place"), n, 0);
        check_build(ctx, cloud, "one place", &p);
        mote_cloud_destroy(cloud);
    }
    mote_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(survives_failing_allocations),
                                       cmocka_unit_test(cancels_at_every_step),
                                       cmocka_unit_test(cancels_where_codes_are_fine),
                                       cmocka_unit_test(refuses_wrong_parameters),
                                       cmocka_unit_test(refuses_clouds_without_positions),
                                       cmocka_unit_test(takes_extreme_positions),
                                       cmocka_unit_test(refuses_what_no_cube_holds),
                                       cmocka_unit_test(skips_points_that_scale_makes_infinite),
                                       cmocka_unit_test(takes_packed_positions),
                                       cmocka_unit_test(colors_saturate),
                                       cmocka_unit_test(averages_a_huge_pile),
                                       cmocka_unit_test(chains_end)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
