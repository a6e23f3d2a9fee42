/* Planes when things go wrong: no memory, cancelled, parameters out of range. */
#include <math.h>
#include <string.h>

#include "reference/awkward_clouds.h"
#include "unit/planes_find_test.h"

static mote_status use_all(mote_context *ctx, void *user) {
    (void)user;
    static int32_t labels[900];
    mote_cloud *cloud = NULL;
    mote_planes *planes = NULL;
    mote_planes_params params = mote_planes_defaults();
    mote_planes_peak peaks[4];
    uint32_t count;
    params.resolution_deg = 8;
    params.explain = true;
    mote_status status = mote_generate(ctx, "room", 700, NULL, &cloud);
    if (status == MOTE_OK) status = mote_planes_find(ctx, cloud, &params, labels, &planes);
    if (status == MOTE_OK) assert_true(mote_planes_count(planes) > 0);
    /* Trimmed in between: what is kept would take the place of an allocation that fails. */
    for (int turn = 0; turn < 4; turn++) {
        mote_context_trim(ctx);
        params.sample = turn % 2 == 0 ? 0 : 100;
        params.bin = turn < 2 ? 0 : 0.1;
        if (status == MOTE_OK) status = mote_planes_vote(ctx, cloud, &params, 4, peaks, &count, NULL);
    }
    mote_context_trim(ctx);
    mote_planes_destroy(planes);
    mote_cloud_destroy(cloud);
    return status;
}

void survives_failing_allocations(void **state) {
    (void)state;
    test_each_allocation_fails(use_all, NULL);
}

void cancels_at_every_step(void **state) {
    (void)state;
    test_each_step_cancels(use_all, NULL);
}

typedef struct watch {
    double last;
    bool backwards;
} watch;

static bool watch_progress(void *user, double done, const char *stage) {
    watch *w = user;
    w->backwards = w->backwards || !(done >= w->last && done <= 1) || stage[0] == '\0';
    w->last = done;
    return true;
}

void progress_goes_forward(void **state) {
    (void)state;
    mote_context_params params = mote_context_defaults();
    watch w = {0, false};
    mote_context *ctx = NULL;
    mote_cloud *cloud;
    params.progress = watch_progress;
    params.progress_user = &w;
    assert_int_equal(mote_context_create(&params, &ctx), MOTE_OK);
    assert_int_equal(mote_generate(ctx, "room", 5000, NULL, &cloud), MOTE_OK);
    w = (watch){0, false};
    planes_answer a = planes_find_answer(ctx, cloud, NULL);
    assert_false(w.backwards);
    assert_true(w.last == 1);
    planes_answer_free(&a);
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
}

void refuses_wrong_parameters(void **state) {
    (void)state;
    enum { WRONG = 16 };
    mote_context *ctx = test_context(1);
    mote_cloud *cloud = awkward_cloud_make(ctx, &awkward_clouds[0], 100, 0);
    mote_planes_params wrong[WRONG];
    mote_planes *planes;
    mote_planes_peak peak;
    uint32_t count;
    for (int i = 0; i < WRONG; i++) wrong[i] = mote_planes_defaults();
    wrong[0].resolution_deg = 0.4, wrong[1].resolution_deg = 10.5, wrong[2].resolution_deg = NAN;
    wrong[3].cone_deg = 0, wrong[4].cone_deg = 91, wrong[5].normal_deg = 0, wrong[6].normal_deg = NAN;
    wrong[7].bin = -1, wrong[8].tolerance = INFINITY, wrong[9].tolerance = -0.1;
    wrong[10].suppress_deg = 46, wrong[11].suppress_bins = 1001, wrong[12].max_planes = MOTE_PLANES_MAX + 1;
    wrong[13].directions = (mote_planes_directions)2, wrong[14].votes = (mote_planes_votes)2;
    wrong[15].bin = 1e-12;
    for (int i = 0; i < WRONG; i++) {
        mote_context_clear(ctx);
        assert_int_equal(mote_planes_find(ctx, cloud, &wrong[i], NULL, &planes), MOTE_ERROR_ARGUMENT);
        assert_null(planes);
        assert_true(strlen(mote_context_message(ctx)) > 0);
        mote_context_clear(ctx);
        assert_int_equal(mote_planes_vote(ctx, cloud, &wrong[i], 1, &peak, &count, NULL), MOTE_ERROR_ARGUMENT);
    }
    mote_context_clear(ctx);
    assert_int_equal(mote_planes_find(ctx, NULL, NULL, NULL, &planes), MOTE_ERROR_ARGUMENT);
    assert_int_equal(mote_planes_vote(ctx, cloud, NULL, 0, &peak, &count, NULL), MOTE_ERROR_ARGUMENT);
    mote_cloud_destroy(cloud);
    mote_planes_destroy(NULL);
    assert_int_equal(mote_context_memory_bytes(ctx), 0);
    mote_context_destroy(ctx);
}
