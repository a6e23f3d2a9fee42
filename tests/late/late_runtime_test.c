/* The backend of a GPU while the GPU fails: every call of the runtime in turn. */
#include <stdlib.h>

#include "device/cuda/cuda.h"
#include "late/late_runtime.h"
#include "support/gpu.h"
#include "support/support.h"

#define LARGE_BYTES (17u << 20) /* two pieces of staging */

typedef struct arrays {
    uint8_t *host; /* [LARGE_BYTES] */
    void *large, *small, *pinned;
    device_transfer uploaded, downloaded;
} arrays;

static mote_status take(mote_context *ctx, arrays *a) {
    a->large = cuda_alloc(gpu_of(ctx), LARGE_BYTES, "large");
    if (a->large != NULL) a->small = cuda_alloc(gpu_of(ctx), 1000, "small");
    if (a->small != NULL) a->pinned = cuda_pinned_alloc(gpu_of(ctx), 1000, "pinned");
    return a->pinned != NULL ? MOTE_OK : MOTE_ERROR_MEMORY;
}

static mote_status copy(mote_context *ctx, arrays *a) {
    mote_stage(ctx, "up");
    MOTE_TRY(cuda_upload(gpu_of(ctx), a->large, a->host, LARGE_BYTES));
    MOTE_TRY(cuda_upload(gpu_of(ctx), a->small, a->host, 1000));
    MOTE_TRY(cuda_copy(gpu_of(ctx), a->large, a->small, 1000));
    MOTE_TRY(cuda_fill(gpu_of(ctx), a->small, 1, 10));
    MOTE_TRY(cuda_upload_begin(gpu_of(ctx), a->small, a->pinned, 1000, &a->uploaded));
    MOTE_TRY(cuda_download_begin(gpu_of(ctx), a->pinned, a->small, 1000, &a->downloaded));
    MOTE_TRY(cuda_wait(gpu_of(ctx), &a->uploaded));
    mote_stage(ctx, "down");
    MOTE_TRY(cuda_wait(gpu_of(ctx), &a->downloaded));
    MOTE_TRY(cuda_download(gpu_of(ctx), a->host, a->large, LARGE_BYTES));
    return cuda_download(gpu_of(ctx), a->host, a->small, 1000);
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
    const mote_status finished = cuda_finish(gpu_of(ctx), "finishing");
    cuda_wait(gpu_of(ctx), &a.uploaded);
    cuda_wait(gpu_of(ctx), &a.downloaded);
    cuda_free(gpu_of(ctx), a.large);
    cuda_free(gpu_of(ctx), a.small);
    cuda_pinned_free(gpu_of(ctx), a.pinned);
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
    assert_non_null(cuda_alloc(gpu_of(ctx), 1000, "forgotten"));
    assert_non_null(cuda_pinned_alloc(gpu_of(ctx), 1000, "forgotten"));
    mote_context_destroy(ctx);
    assert_int_equal(late_runtime_open(), 0);
}

static mote_context *automatic_context(int index) {
    mote_context_params params = mote_context_defaults();
    mote_context *ctx = NULL;
    params.device_index = index;
    assert_int_equal(mote_context_create(&params, &ctx), MOTE_OK);
    return ctx;
}

/* Which device does a piece of work depends on its size alone, whatever ran before. */
static void chooses_by_size_alone(void **state) {
    (void)state;
    mote_context *ctx = automatic_context(0);
    mote_device *cpu = mote_cpu_device(ctx);
    assert_ptr_equal(mote_device_choose(ctx, MOTE_GPU_POINTS - 1), cpu);
    assert_int_not_equal(ctx->devices[1].state, DEVICE_OPEN); /* nothing paid for it yet */
    mote_device *gpu = mote_device_choose(ctx, MOTE_GPU_POINTS);
    assert_ptr_equal(gpu, &ctx->devices[1]);
    assert_int_equal(gpu->state, DEVICE_OPEN);
    for (int i = 0; i < 3; i++) {
        assert_ptr_equal(mote_device_choose(ctx, 10), cpu);
        assert_string_equal(mote_context_backend(ctx), "cpu");
        assert_ptr_equal(mote_device_choose(ctx, UINT64_MAX), gpu);
        assert_string_equal(mote_context_backend(ctx), "cuda");
    }
    mote_context_destroy(ctx);
    assert_int_equal(late_runtime_open(), 0);
}

/* A GPU that cannot be opened is no failure where the CPU will do; an earlier failure stays the first one. */
static void keeps_the_first_failure(void **state) {
    (void)state;
    for (int earlier = 0; earlier < 2; earlier++) {
        mote_context *ctx = automatic_context(7); /* there is no such GPU */
        if (earlier) (void)mote_fail(ctx, MOTE_ERROR_DATA, "something before");
        assert_ptr_equal(mote_device_choose(ctx, UINT64_MAX), mote_cpu_device(ctx));
        assert_int_equal(ctx->devices[1].state, DEVICE_UNUSABLE);
        assert_int_equal(mote_context_status(ctx), earlier ? MOTE_ERROR_DATA : MOTE_OK);
        assert_string_equal(mote_context_message(ctx), earlier ? "something before" : "");
        assert_null(mote_device_warm_up(ctx, UINT64_MAX)); /* it is not tried again */
        mote_context_destroy(ctx);
    }
    assert_int_equal(late_runtime_open(), 0);
}

/* Contexts that open the same GPU share nothing of it. */
static void contexts_have_devices_of_their_own(void **state) {
    (void)state;
    mote_context *one = NULL, *other = NULL;
    assert_int_equal(make_context(&one), MOTE_OK);
    assert_int_equal(make_context(&other), MOTE_OK);
    assert_ptr_not_equal(cuda_stream(gpu_of(one)), cuda_stream(gpu_of(other)));
    void *memory = device_alloc(gpu_of(one), 1000, "one");
    assert_non_null(memory);
    assert_int_equal(mote_context_device_bytes(other), 0);
    mote_context_destroy(other);
    assert_int_equal(device_fill(gpu_of(one), memory, 1, 1000), MOTE_OK);
    assert_int_equal(mote_context_wait(one), MOTE_OK);
    device_free(gpu_of(one), memory);
    mote_context_destroy(one);
    assert_int_equal(late_runtime_open(), 0);
}

/* Two GPUs in one context: each has its own memory and stream, and both end with it. */
static void a_context_may_have_two_gpus(void **state) {
    (void)state;
    mote_context *ctx = NULL;
    assert_int_equal(make_context(&ctx), MOTE_OK);
    mote_device *first = gpu_of(ctx), *second = &ctx->devices[ctx->device_count++];
    second->ctx = ctx;
    second->backend = first->backend;
    second->ops = first->ops;
    assert_int_equal(device_open(second), MOTE_OK);
    assert_ptr_not_equal(cuda_stream(first), cuda_stream(second));
    void *a = device_alloc(first, 100, "a"), *b = device_alloc(second, 200, "b");
    assert_true(a != NULL && b != NULL);
    assert_int_equal(mote_context_device_bytes(ctx), 300);
    mote_stage(ctx, "both");
    assert_int_equal(device_fill(first, a, 1, 100), MOTE_OK);
    assert_int_equal(device_fill(second, b, 2, 200), MOTE_OK);
    mote_stage(ctx, NULL);
    assert_int_equal(mote_context_wait(ctx), MOTE_OK);
    device_free(second, b);
    device_free(first, a);
    mote_context_destroy(ctx);
    assert_int_equal(late_runtime_open(), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(chooses_by_size_alone),
                                       cmocka_unit_test(keeps_the_first_failure),
                                       cmocka_unit_test(contexts_have_devices_of_their_own),
                                       cmocka_unit_test(a_context_may_have_two_gpus),
                                       cmocka_unit_test(survives_a_lost_device),
                                       cmocka_unit_test(times_stages_by_marks),
                                       cmocka_unit_test(times_no_stages_unasked),
                                       cmocka_unit_test(says_why_there_is_no_context),
                                       cmocka_unit_test(closes_what_is_left)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
