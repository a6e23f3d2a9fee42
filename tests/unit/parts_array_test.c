/* Plans of parts: whatever is made where and how often, the folder is the one that one piece gives; what does not
   belong together is refused. */
#include <mote_have.h>

#include "parts_array_test.h"

#if MOTE_HAVE_JANSSON

static void parts_are_the_whole(void **state) {
    (void)state;
    static const uint64_t counts[] = {1, 2, 3, 7};
    mote_context *ctx = test_context(2);
    uint32_t rounds[3] = {0, 0, 0};
    for (uint32_t k = 0; k < PARTS_KINDS; k++) {
        for (uint64_t c = test_extent(2, 0); c < 4; c++) {
            test_array t;
            array_begin(&t);
            array_add(ctx, &t, &parts_kinds[k], "las");
            t.parts = counts[c];
            if (c == 3) t.params.merge_points = 20;
            rounds[array_compare(ctx, &t)]++;
        }
    }
    assert_true(rounds[1] > 0 && rounds[2] > 0);
    mote_context_destroy(ctx);
}

static void other_parameters(void **state) {
    (void)state;
    mote_context *ctx = test_context(3);
    for (int variant = 0; variant < 3; variant++) {
        test_array t;
        array_begin(&t);
        array_add(ctx, &t, &parts_kinds[0], "laz");
        t.parts = 5;
        if (variant > 0) t.params.scheme = MOTE_LOD_REPLACING;
        if (variant == 0) t.params.sampling = MOTE_LOD_FIRST;
        if (variant == 2) t.params.filter = MOTE_LOD_FILTER_CELL;
        t.params.seed = 0xfedcba9876543210ull;
        t.params.grid = 16;
        array_compare(ctx, &t);
    }
    mote_context_destroy(ctx);
}

/* What looks across borders: averages at copies that the plan has made, sampling by distance at all points, of which
   the plan chooses; of a folder and a file, of what is scanned anyhow and of tiles, with fine codes and without. */
static void parts_look_across(void **state) {
    (void)state;
    static const mote_lod_filter filters[] = {MOTE_LOD_FILTER_NONE, MOTE_LOD_FILTER_NEIGHBORS,
                                              MOTE_LOD_FILTER_GAUSSIAN};
    mote_context *ctx = test_context(2);
    uint32_t rounds[3] = {0, 0, 0};
    for (uint32_t v = 0; v < 3 * PARTS_KINDS; v++) {
        test_array t;
        const uint32_t kind = v / 3;
        const bool is_copc = v % 2 == 1 && v % 3 == 0;
        if (v % 4 != kind % 4 && test_extent(1, 0) == 1) continue;
        if (is_copc) array_begin_copc(&t);
        if (!is_copc) array_begin(&t);
        array_add(ctx, &t, &parts_kinds[kind], v % 2 ? "laz" : "las");
        if (v % 5 == 2) array_add(ctx, &t, &parts_kinds[(kind + 3) % PARTS_KINDS], "las");
        t.params.filter = filters[v % 3];
        if (v % 3 > 0) t.params.scheme = MOTE_LOD_REPLACING;
        if (v % 3 == 0 || v % 4 == 1) t.params.sampling = MOTE_LOD_POISSON;
        t.params.grid = v % 3 == 0 ? 128 : 64;
        t.params.merge_points = v % 2 ? 30 : 300;
        t.parts = 2 + v % 6;
        rounds[array_compare(ctx, &t)]++;
    }
    print_message("%u in one round, %u in two\n", rounds[1], rounds[2]);
    assert_true(rounds[1] > 0);
    mote_context_destroy(ctx);
}

static void inputs_are_united(void **state) {
    (void)state;
    mote_context *ctx = test_context(2);
    for (uint64_t parts = 1; parts <= 7; parts += 3) {
        test_array t;
        array_begin(&t);
        array_add(ctx, &t, &parts_kinds[7], "las"); /* no points */
        array_add(ctx, &t, &parts_kinds[4], "laz");
        array_add(ctx, &t, &parts_kinds[6], "las"); /* all in one place */
        array_add(ctx, &t, &parts_kinds[1], "las");
        t.parts = parts;
        array_compare(ctx, &t);
    }
    mote_context_destroy(ctx);
}

/* COPC files: nodes on borders wait in the parts' files as shares; points in one place, colours that are to be looked
   at, inputs in turn. */
static void copc_files(void **state) {
    (void)state;
    mote_context *ctx = test_context(2);
    for (uint32_t k = 0; k < PARTS_KINDS; k++) {
        test_array t;
        array_begin_copc(&t);
        array_add(ctx, &t, &parts_kinds[k], "las");
        t.parts = k % 2 == 0 ? 3 : 7;
        array_compare(ctx, &t);
        array_add(ctx, &t, &parts_kinds[(k + 3) % PARTS_KINDS], "laz");
        t.parts = 5;
        if (k < test_extent(PARTS_KINDS, 3)) array_compare(ctx, &t);
    }
    mote_context_destroy(ctx);
}

static void attributes_left_out(void **state) {
    (void)state;
    static const char *const names[] = {"gps_time", "classification", "rgb", NULL};
    mote_context *ctx = test_context(2);
    for (int copc = 0; copc < 2; copc++) {
        test_array t;
        if (copc) array_begin_copc(&t);
        if (!copc) array_begin(&t);
        t.left_out = names;
        t.parts = 4;
        array_add(ctx, &t, &parts_kinds[0], "las");
        array_compare(ctx, &t);
    }
    mote_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_are_the_whole),
        cmocka_unit_test(other_parameters),
        cmocka_unit_test(parts_look_across),
        cmocka_unit_test(inputs_are_united),
        cmocka_unit_test(what_lacks_is_named),
        cmocka_unit_test(records_are_checked),
        cmocka_unit_test(inputs_may_not_change),
        cmocka_unit_test(parts_read_what_is_theirs),
        cmocka_unit_test(parts_check_what_they_read),
        cmocka_unit_test(units_are_shared),
        cmocka_unit_test(shared_points_are_checked),
        cmocka_unit_test(what_others_have_is_checked),
        cmocka_unit_test(a_plan_replaces_no_input),
        cmocka_unit_test(plans_are_checked),
        cmocka_unit_test(runs_go_on),
        cmocka_unit_test(copc_files),
        cmocka_unit_test(attributes_left_out),
        cmocka_unit_test(costs_are_predicted),
        cmocka_unit_test(copc_survives),
        cmocka_unit_test(survives_failures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#else
int main(void) { return 0; }
#endif
