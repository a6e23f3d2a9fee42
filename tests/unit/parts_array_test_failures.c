/* No memory, or cancelled, at any step; and runs that go on after an end in the middle. */
#include <mote_have.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "parts_array_test.h"
#include "support/cloud_files.h"

#if MOTE_HAVE_JANSSON

static mote_status plan_make_merge(mote_context *ctx, void *user) {
    const test_array *t = user;
    mote_parts_report report;
    mote_status status = array_plan(ctx, t, &report);
    for (uint32_t p = 1; status == MOTE_OK && p <= report.parts; p++) {
        status = mote_lod_parts_make(ctx, t->plan, p, 0, NULL);
    }
    if (status == MOTE_OK) status = mote_lod_parts_merge(ctx, t->plan, true, NULL);
    return status;
}

static mote_status resume_in(mote_context *ctx, const test_array *t, uint64_t part_points, mote_parts_report *report) {
    mote_parts_params parts = mote_parts_defaults();
    const mote_potree_params potree = array_potree(t);
    const mote_copc_params copc = array_copc(t);
    parts.part_points = part_points;
    parts.resumes = true;
    if (t->is_copc) {
        return mote_copc_write_parts(ctx, t->inputs.paths, t->inputs.count, NULL, &t->params, t->output, &copc, &parts,
                                     report);
    }
    return mote_lod_write_parts(ctx, t->inputs.paths, t->inputs.count, NULL, &t->params, t->output, &potree, &parts,
                                report);
}

/* By distance memory has to hold what is around a point. */
static mote_status resume(mote_context *ctx, void *user) {
    const test_array *t = user;
    return resume_in(ctx, t, t->params.sampling == MOTE_LOD_POISSON ? 250 : 120, NULL);
}

/* As test_each_allocation_fails does, of which each run reads files and writes others: some of them, as many in all. */
static void some_allocations_fail(test_work work, void *user) {
    const long step = 29; /* a prime */
    mote_status status = MOTE_ERROR_MEMORY;
    for (long n = 2 + (long)test_turn(29); status != MOTE_OK; n += step) {
        test_allocator allocator = {.fail_at = n};
        mote_context *ctx = test_context_failing(&allocator, 1);
        status = work(ctx, user);
        if (status != MOTE_OK && status != MOTE_ERROR_MEMORY) fail_msg("%s", mote_context_message(ctx));
        mote_context_destroy(ctx);
        assert_int_equal(allocator.open, 0);
        assert_int_equal(status == MOTE_OK, allocator.calls < n);
    }
}

void survives_failures(void **state) {
    (void)state;
    static const parts_kind few = {"few", 300, 0.01, 0, 0, false};
    mote_context *ctx = test_context(2);
    test_array t;
    array_begin(&t);
    t.params.merge_points = 50;
    t.parts = 3;
    array_add(ctx, &t, &few, "las");
    for (uint64_t inputs = test_extent(2, 1); inputs <= 2; inputs++) {
        if (inputs == 2) array_add(ctx, &t, &few, "laz");
        mote_lod_parts_clear(ctx, t.output);
        some_allocations_fail(plan_make_merge, &t);
        mote_lod_parts_clear(ctx, t.output);
        test_each_step_cancels(plan_make_merge, &t);
        mote_lod_parts_clear(ctx, t.output);
        some_allocations_fail(resume, &t); /* each goes on where the last one failed */
        array_expect_whole(ctx, &t);
        mote_lod_parts_clear(ctx, t.output);
        test_each_step_cancels(resume, &t);
        array_expect_whole(ctx, &t);
    }
    t.params.sampling = MOTE_LOD_POISSON; /* in rounds over lists, which are kept; or which the plan has */
    mote_lod_parts_clear(ctx, t.output);
    some_allocations_fail(plan_make_merge, &t);
    mote_lod_parts_clear(ctx, t.output);
    test_each_step_cancels(plan_make_merge, &t);
    array_expect_whole(ctx, &t);
    mote_lod_parts_clear(ctx, t.output);
    some_allocations_fail(resume, &t);
    array_expect_whole(ctx, &t);
    mote_lod_parts_clear(ctx, t.output);
    test_each_step_cancels(resume, &t);
    array_expect_whole(ctx, &t);
    mote_lod_parts_clear(ctx, t.output);
    mote_context_destroy(ctx);
}

/* The same for a COPC file of two inputs. */
void copc_survives(void **state) {
    (void)state;
    static const parts_kind few = {"few", 300, 0.01, 0, 0, false};
    mote_context *ctx = test_context(2);
    test_array t;
    array_begin_copc(&t);
    t.params.merge_points = 50;
    t.parts = 3;
    array_add(ctx, &t, &few, "las");
    array_add(ctx, &t, &few, "laz");
    some_allocations_fail(plan_make_merge, &t);
    mote_lod_parts_clear(ctx, t.output);
    test_each_step_cancels(plan_make_merge, &t);
    array_expect_whole(ctx, &t);
    mote_lod_parts_clear(ctx, t.output);
    some_allocations_fail(resume, &t);
    array_expect_whole(ctx, &t);
    mote_lod_parts_clear(ctx, t.output);
    mote_context_destroy(ctx);
}

/* A run that ends in the middle, and one that goes on: the bytes of one piece. */
typedef struct test_stop {
    long calls_left;
} test_stop;

static bool stop_in_the_middle(void *user, double done, const char *stage) {
    (void)done, (void)stage;
    return --((test_stop *)user)->calls_left > 0;
}

static void expect_to_go_on(bool is_copc, mote_lod_sampling sampling, mote_lod_filter filter) {
    mote_context *ctx = test_context(2);
    uint64_t resumed = 0;
    test_array t;
    if (is_copc) array_begin_copc(&t);
    if (!is_copc) array_begin(&t);
    t.params.merge_points = 20;
    t.params.sampling = sampling;
    t.params.filter = filter;
    /* Strays, and fine codes: two rounds; but averages cut no cell of the root's grid. */
    const bool averages = filter != MOTE_LOD_FILTER_NONE;
    const uint64_t size = averages ? 9000 : 3000;
    if (averages) t.params.scheme = MOTE_LOD_REPLACING;
    array_add(ctx, &t, &parts_kinds[averages ? 0 : 1], "las");
    array_make_whole(ctx, &t);
    /* A run that is watched ends at each third of these steps, in turn. */
    const uint64_t step = test_watched(3, 1), turn = test_turn(step);
    uint64_t tried = 0;
    for (long n = 8; n < 4000; n = n * 3 / 2) {
        if (tried++ % step != turn) continue;
        mote_lod_parts_clear(ctx, t.output);
        test_stop stop = {n};
        mote_context_params params = mote_context_defaults();
        mote_context *own = NULL;
        mote_parts_report report;
        params.threads = 2;
        params.progress = stop_in_the_middle;
        params.progress_user = &stop;
        assert_int_equal(mote_context_create(&params, &own), MOTE_OK);
        const mote_status status = resume_in(own, &t, size, &report);
        mote_context_destroy(own);
        assert_true(status == MOTE_OK || status == MOTE_CANCELLED);
        if (resume_in(ctx, &t, size, &report) != MOTE_OK) fail_msg("%s", mote_context_message(ctx));
        assert_true(report.parts > 5);
        resumed += report.resumed_parts > 0 && report.resumed_parts < report.parts;
        array_expect_made_whole(&t);
        if (status == MOTE_OK) break;
    }
    /* A part that was made and is there no longer, when its records are gone; the others are those of the last run. */
    mote_parts_report report;
    char file[PATH + 64];
    for (int fine = 0; fine < 2; fine++) {
        snprintf(file, sizeof file, "%s.parts/2%s.json", t.output, fine ? ".fine" : "");
        unlink(file);
    }
    if (resume_in(ctx, &t, size, &report) != MOTE_OK) fail_msg("%s", mote_context_message(ctx));
    assert_int_equal(report.resumed_parts, report.parts - 1);
    array_expect_made_whole(&t);
    mote_lod_parts_clear(ctx, t.output);
    assert_true(resumed > 0 || sampling == MOTE_LOD_POISSON); /* most of whose steps are before parts are made */
    mote_context_destroy(ctx);
}

void runs_go_on(void **state) {
    (void)state;
    expect_to_go_on(false, MOTE_LOD_RANDOM, MOTE_LOD_FILTER_NONE);
    expect_to_go_on(true, MOTE_LOD_RANDOM, MOTE_LOD_FILTER_NONE);
    expect_to_go_on(false, MOTE_LOD_POISSON, MOTE_LOD_FILTER_NONE);
    expect_to_go_on(true, MOTE_LOD_POISSON, MOTE_LOD_FILTER_NONE);
    expect_to_go_on(false, MOTE_LOD_RANDOM, MOTE_LOD_FILTER_GAUSSIAN);
    expect_to_go_on(false, MOTE_LOD_POISSON, MOTE_LOD_FILTER_NEIGHBORS);
}

#endif
