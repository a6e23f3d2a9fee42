/* The backend of a GPU while the GPU fails: every call of the runtime in turn. */
#include <stdlib.h>

#include "backend/cuda.h"
#include "late/late_runtime.h"
#include "support/support.h"

#define LARGE_BYTES (17u << 20) /* two pieces of staging */

typedef struct arrays {
    uint8_t *host; /* [LARGE_BYTES] */
    void *large, *small, *pinned;
    cuda_ticket uploaded, downloaded;
} arrays;

static mote_status take(mote_context *ctx, arrays *a) {
    a->large = cuda_alloc(ctx, LARGE_BYTES, "large");
    if (a->large != NULL) a->small = cuda_alloc(ctx, 1000, "small");
    if (a->small != NULL) a->pinned = cuda_pinned_alloc(ctx, 1000, "pinned");
    return a->pinned != NULL ? MOTE_OK : MOTE_ERROR_MEMORY;
}

static mote_status copy(mote_context *ctx, arrays *a) {
    mote_stage(ctx, "up");
    MOTE_TRY(cuda_upload(ctx, a->large, a->host, LARGE_BYTES));
    MOTE_TRY(cuda_upload(ctx, a->small, a->host, 1000));
    MOTE_TRY(cuda_copy(ctx, a->large, a->small, 1000));
    MOTE_TRY(cuda_fill(ctx, a->small, 1, 10));
    MOTE_TRY(cuda_upload_begin(ctx, a->small, a->pinned, 1000, &a->uploaded));
    MOTE_TRY(cuda_download_begin(ctx, a->pinned, a->small, 1000, &a->downloaded));
    MOTE_TRY(cuda_wait(ctx, &a->uploaded));
    mote_stage(ctx, "down");
    MOTE_TRY(cuda_wait(ctx, &a->downloaded));
    MOTE_TRY(cuda_download(ctx, a->host, a->large, LARGE_BYTES));
    return cuda_download(ctx, a->host, a->small, 1000);
}

static mote_status work(mote_context *ctx) {
    arrays a;
    memset(&a, 0, sizeof a);
    a.host = calloc(LARGE_BYTES, 1);
    assert_non_null(a.host);
    mote_status status = take(ctx, &a);
    if (status == MOTE_OK) status = copy(ctx, &a);
    for (int i = 0; i < 70; i++) mote_stage(ctx, i % 2 == 0 ? "even" : "odd"); /* more than there are marks */
    mote_stage(ctx, NULL);
    const mote_status finished = cuda_finish(ctx, "finishing");
    cuda_wait(ctx, &a.uploaded);
    cuda_wait(ctx, &a.downloaded);
    cuda_free(ctx, a.large);
    cuda_free(ctx, a.small);
    cuda_pinned_free(ctx, a.pinned);
    free(a.host);
    return status != MOTE_OK ? status : finished;
}

static mote_status make_context(mote_context **ctx) {
    mote_context_params params = mote_context_defaults();
    params.device = MOTE_DEVICE_CUDA;
    params.threads = 2;
    params.device_stages = true;
    return mote_context_create(&params, ctx);
}

static void survives_a_lost_device(void **state) {
    (void)state;
    bool failed = true;
    for (long n = 1; failed; n += n < 130 ? 1 : 9) { /* late calls are marks, all alike */
        mote_usage lines[32];
        mote_context *ctx = NULL;
        late_runtime_fail_at(n);
        mote_status status = make_context(&ctx);
        if (status == MOTE_OK) {
            status = work(ctx);
            mote_context_usage(ctx, lines, 32);
            failed = late_runtime_has_failed();
            assert_int_equal(mote_context_device_bytes(ctx), 0);
            /* A mark that fails is left out; what fails in the work itself is told. */
            if (status != MOTE_OK) assert_string_not_equal(mote_context_message(ctx), "");
            if (!failed) assert_int_equal(status, MOTE_OK);
            mote_context_clear(ctx);
            if (failed) assert_int_not_equal(work(ctx), MOTE_OK);
            mote_context_destroy(ctx);
        }
        assert_int_equal(late_runtime_open(), 0);
        assert_true(n < 10000);
    }
    late_runtime_fail_at(0);
}

/* Marks are a millisecond apart here. */
static void times_stages_by_marks(void **state) {
    (void)state;
    mote_context *ctx = NULL;
    mote_usage lines[32];
    assert_int_equal(make_context(&ctx), MOTE_OK);
    for (int i = 0; i < 101; i++) mote_stage(ctx, i % 2 == 0 ? "even" : "odd");
    mote_stage(ctx, NULL);
    mote_stage(ctx, NULL);
    mote_stage(ctx, "even");
    mote_stage(ctx, NULL);
    assert_true(mote_context_usage(ctx, lines, 32) >= 2);
    assert_string_equal(lines[0].name, "even");
    assert_float_equal(lines[0].seconds, 0.052, 1e-6);
    assert_float_equal(lines[1].seconds, 0.050, 1e-6);
    mote_context_usage(ctx, lines, 32);
    assert_float_equal(lines[0].seconds, 0.052, 1e-6);
    mote_context_destroy(ctx);
    assert_int_equal(late_runtime_open(), 0);
}

static void times_no_stages_unasked(void **state) {
    (void)state;
    mote_context_params params = mote_context_defaults();
    mote_context *ctx = NULL;
    mote_usage lines[32];
    params.device = MOTE_DEVICE_CUDA;
    assert_int_equal(mote_context_create(&params, &ctx), MOTE_OK);
    mote_stage(ctx, "even");
    mote_stage(ctx, NULL);
    assert_true(mote_context_usage(ctx, lines, 32) >= 1);
    assert_string_equal(lines[0].name, "even");
    assert_float_equal(lines[0].seconds, 0, 0);
    mote_context_destroy(ctx);
    assert_int_equal(late_runtime_open(), 0);
}

static void on_log(void *user, mote_log_level level, const char *message) {
    (void)level;
    strncpy(user, message, 199);
}

static void says_why_there_is_no_context(void **state) {
    (void)state;
    char message[200] = "";
    mote_context_params params = mote_context_defaults();
    mote_context *ctx = NULL;
    params.device = MOTE_DEVICE_CUDA;
    params.device_index = 7;
    params.log = on_log;
    params.log_user = message;
    assert_int_equal(mote_context_create(&params, &ctx), MOTE_ERROR_UNSUPPORTED);
    assert_null(ctx);
    assert_string_equal(message, "there is no GPU 7, only 1, numbered from 0");
}

/* What pools and rings keep goes with the context, also what was forgotten. */
static void closes_what_is_left(void **state) {
    (void)state;
    mote_context *ctx = NULL;
    assert_int_equal(make_context(&ctx), MOTE_OK);
    assert_non_null(cuda_alloc(ctx, 1000, "forgotten"));
    assert_non_null(cuda_pinned_alloc(ctx, 1000, "forgotten"));
    mote_context_destroy(ctx);
    assert_int_equal(late_runtime_open(), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(survives_a_lost_device), cmocka_unit_test(times_stages_by_marks),
        cmocka_unit_test(times_no_stages_unasked), cmocka_unit_test(says_why_there_is_no_context),
        cmocka_unit_test(closes_what_is_left)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
