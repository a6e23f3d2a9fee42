/* What the caller hears of progress between the reports of a call: loops ask whether to stop, and say what was said. */
#include <omp.h>
#include <time.h>

#include "core/core.h"
#include "core/stop_join.h"
#include "io/turns.h"
#include "support/support.h"

static void wait_a_moment(void) {
    const struct timespec moment = {0, 30000000}; /* three times as long as loops wait between two questions */
    nanosleep(&moment, NULL);
}

/* Half of what they wait, in seconds. */
#define SOON 0.005

static void loops_ask_again(void **state) {
    (void)state;
    test_progress progress = {0};
    mote_context *ctx = test_context_watched(&progress);
    double began; /* again where others had the processor between the two */
    do {
        began = mote_seconds();
        progress.calls = 0;
        assert_int_equal(mote_progress(ctx, 0.25, "trying"), MOTE_OK);
        assert_false(mote_stop(ctx)); /* just asked */
    } while (mote_seconds() - began > SOON);
    assert_int_equal(progress.calls, 1);
    wait_a_moment();
    assert_false(mote_stop(ctx));
    assert_int_equal(progress.calls, 2);
    assert_true(progress.last == 0.25);
    mote_context_destroy(ctx);
}

/* A call begins with a loop that takes a while: the end of the call before is no progress of it. */
static void the_call_before_is_over(void **state) {
    (void)state;
    test_progress progress = {0};
    mote_context *ctx = test_context_watched(&progress);
    assert_false(mote_stop(ctx)); /* nothing was reported yet */
    assert_int_equal(mote_progress(ctx, 1, "trying"), MOTE_OK);
    progress.last = 0;
    wait_a_moment();
    assert_false(mote_stop(ctx));
    assert_int_equal(mote_progress(ctx, 0, "trying again"), MOTE_OK);
    assert_int_equal(mote_progress(ctx, 0.5, "trying again"), MOTE_OK);
    (void)mote_fail(ctx, MOTE_ERROR_DATA, "as if");
    mote_context_clear(ctx);
    progress.last = 0;
    wait_a_moment();
    assert_false(mote_stop(ctx));
    assert_int_equal(mote_progress(ctx, 0, "trying again"), MOTE_OK);
    assert_false(progress.backwards);
    assert_int_equal(progress.calls, 4);
    mote_context_destroy(ctx);
}

/* A call may begin with a step without a share, and the one before may have ended within a share of the whole. */
static void held_where_nothing_was_reported(void **state) {
    (void)state;
    test_progress progress = {0};
    mote_context *ctx = test_context_watched(&progress);
    for (int ended_in_share = 0; ended_in_share < 2; ended_in_share++) {
        progress.last = 0;
        const mote_progress_span held = mote_progress_hold(ctx);
        assert_int_equal(mote_progress(ctx, 0.7, "looking"), MOTE_OK);
        assert_true(progress.last == 0);
        mote_progress_leave(ctx, held);
        assert_int_equal(mote_progress(ctx, 0.1, "trying"), MOTE_OK);
        const mote_progress_span whole = mote_progress_enter(ctx, ended_in_share ? 0.8 : 0, 1);
        assert_int_equal(mote_progress(ctx, 1, "writing"), MOTE_OK);
        const mote_progress_span end = ended_in_share ? mote_progress_hold(ctx) : whole;
        if (ended_in_share) {
            assert_int_equal(mote_progress(ctx, 0, "looking"), MOTE_OK);
            mote_progress_leave(ctx, end);
        }
        mote_progress_leave(ctx, whole);
        assert_true(progress.last == 1);
    }
    progress.last = 0;
    wait_a_moment();
    assert_false(mote_stop(ctx));
    assert_int_equal(mote_progress(ctx, 0.1, "trying"), MOTE_OK);
    assert_false(progress.backwards);
    mote_context_destroy(ctx);
}

/* What is reported within a share of a share, and after each was left. */
static void shares_nest(void **state) {
    (void)state;
    test_progress progress = {0};
    mote_context *ctx = test_context_watched(&progress);
    const mote_progress_span call = mote_progress_enter(ctx, 0.5, 1);
    const mote_progress_span step = mote_progress_enter(ctx, 0, 0.5);
    assert_int_equal(mote_progress(ctx, 0, "trying"), MOTE_OK);
    assert_true(progress.last == 0.5);
    assert_int_equal(mote_progress(ctx, 1, "trying"), MOTE_OK);
    assert_true(progress.last == 0.75);
    mote_progress_next(ctx, step, 0.5, 1);
    assert_int_equal(mote_progress(ctx, 0.5, "trying"), MOTE_OK);
    assert_true(progress.last == 0.875);
    const mote_progress_span held = mote_progress_hold(ctx);
    for (int i = 0; i < 3; i++) assert_int_equal(mote_progress(ctx, 0.5 * i, "trying"), MOTE_OK);
    assert_true(progress.last == 0.875);
    mote_progress_leave(ctx, held);
    mote_progress_leave(ctx, step);
    assert_int_equal(mote_progress(ctx, 0.8, "trying"), MOTE_OK);
    assert_true(progress.last == 0.9);
    mote_progress_leave(ctx, call);
    assert_int_equal(mote_progress(ctx, 0.95, "trying"), MOTE_OK);
    assert_true(progress.last == 0.95);
    assert_false(progress.backwards);
    mote_context_destroy(ctx);
}

static bool stop_at_third(void *user, double done, const char *stage) {
    int *const calls = user;
    (void)done;
    (void)stage;
    return ++*calls < 3;
}

static mote_context *context_that_stops(int *calls) {
    mote_context_params params = mote_context_defaults();
    params.threads = 2;
    params.device = MOTE_DEVICE_CPU;
    params.progress = stop_at_third;
    params.progress_user = calls;
    mote_context *ctx = NULL;
    assert_int_equal(mote_context_create(&params, &ctx), MOTE_OK);
    return ctx;
}

/* One thread has a piece that ends only once the call is cancelled, or after ten seconds; the caller's has none. */
static void long_pieces_of_others_are_stopped(void **state) {
    (void)state;
    int calls = 0, turns = 0;
    mote_context *ctx = context_that_stops(&calls);
    mote_stop_join join;
    assert_int_equal(mote_progress(ctx, 0.25, "trying"), MOTE_OK);
    mote_stop_join_make(&join);
#pragma omp parallel num_threads(2)
    {
        while (mote_thread_number() == omp_get_num_threads() - 1 && turns < 1000 && !mote_stop(ctx)) {
            const struct timespec pause = {0, 10000000};
            nanosleep(&pause, NULL);
            turns++;
        }
        mote_stop_join_wait(ctx, &join);
    }
    mote_stop_join_free(&join);
    assert_int_equal(mote_stopped(ctx), MOTE_CANCELLED);
    assert_true(turns < 1000);
    mote_context_destroy(ctx);
}

static void encode_slowly(void *job, int thread, uint32_t item) {
    (void)thread;
    (void)item;
    wait_a_moment();
    __atomic_fetch_add((int *)job, 1, __ATOMIC_RELAXED);
}

/* A round of a writer is not encoded to its end. */
static void turns_stop(void **state) {
    (void)state;
    int calls = 0, encoded = 0;
    mote_context *ctx = context_that_stops(&calls);
    uint64_t sizes[100] = {0};
    mote_turns turns = {0};
    assert_int_equal(mote_progress(ctx, 0.25, "trying"), MOTE_OK);
    assert_int_equal(mote_turns_make(ctx, sizes, sizeof sizes[0], 0, 100, &turns), MOTE_OK);
    assert_int_equal(mote_turns_run(ctx, &turns, encode_slowly, &encoded), MOTE_CANCELLED);
    assert_in_range(encoded, 1, 99);
    mote_turns_free(ctx, &turns);
    mote_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(loops_ask_again),
                                       cmocka_unit_test(the_call_before_is_over),
                                       cmocka_unit_test(held_where_nothing_was_reported),
                                       cmocka_unit_test(shares_nest),
                                       cmocka_unit_test(long_pieces_of_others_are_stopped),
                                       cmocka_unit_test(turns_stop)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
