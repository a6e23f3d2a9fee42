/* What is for a GPU, where there is none: refused, with a reason, and nothing left behind. */
#include <string.h>

#include "support/support.h"

static mote_context *context_on(mote_device_kind device) {
    mote_context_params params = mote_context_defaults();
    mote_context *ctx = NULL;
    params.device = device;
    assert_int_equal(mote_context_create(&params, &ctx), MOTE_OK);
    return ctx;
}

static void needs_a_gpu(void **state) {
    (void)state;
    mote_context *ctx = context_on(MOTE_DEVICE_CPU);
    const int32_t values[3] = {1, 2, 3};
    const mote_column column = {.name = "x", .type = MOTE_INT32, .data = values};
    mote_cloud *cloud = NULL, *device = NULL;
    assert_int_equal(mote_cloud_wrap(ctx, 3, &column, 1, &cloud), MOTE_OK);
    const uint64_t before_bytes = mote_context_memory_bytes(ctx);
    assert_int_equal(mote_cloud_to_device(ctx, cloud, &device), MOTE_ERROR_UNSUPPORTED);
    assert_null(device);
    assert_non_null(strstr(mote_context_message(ctx), "CPU"));
    assert_int_equal(mote_context_memory_bytes(ctx), before_bytes);
    assert_int_equal(mote_context_device_bytes(ctx), 0);
    mote_context_clear(ctx);
    assert_int_equal(mote_context_wait(ctx), MOTE_OK);
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
}

static void automatic_answers_either_way(void **state) {
    (void)state;
    mote_context *ctx = context_on(MOTE_DEVICE_AUTO);
    mote_cloud *cloud = NULL, *device = NULL;
    assert_int_equal(mote_generate(ctx, "uniform", 10, NULL, &cloud), MOTE_OK);
    const mote_status status = mote_cloud_to_device(ctx, cloud, &device);
    if (status == MOTE_OK) {
        assert_true(mote_cloud_on_device(device));
        assert_string_equal(mote_context_backend(ctx), "cuda");
    } else {
        assert_int_equal(status, MOTE_ERROR_UNSUPPORTED);
        assert_string_equal(mote_context_backend(ctx), "cpu");
    }
    mote_cloud_destroy(device);
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
}

static void reset_forgets_structures(void **state) {
    (void)state;
    mote_context *ctx = context_on(MOTE_DEVICE_CPU);
    mote_cloud *cloud = NULL;
    mote_usage lines[96];
    assert_int_equal(mote_generate(ctx, "uniform", 1000, NULL, &cloud), MOTE_OK);
    mote_cloud_destroy(cloud);
    mote_context_memory_peak_reset(ctx);
    const uint32_t count = mote_context_usage(ctx, lines, 96);
    assert_in_range(count, 1, 96);
    for (uint32_t i = 0; i < count; i++) assert_int_equal(lines[i].peak_bytes, 0);
    assert_int_equal(mote_generate(ctx, "uniform", 1000, NULL, &cloud), MOTE_OK);
    mote_context_memory_peak_reset(ctx);
    uint64_t held_bytes = 0;
    mote_context_usage(ctx, lines, 96);
    for (uint32_t i = 0; i < count; i++) held_bytes += lines[i].peak_bytes;
    assert_int_equal(held_bytes, mote_context_memory_bytes(ctx));
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(needs_a_gpu),
        cmocka_unit_test(automatic_answers_either_way),
        cmocka_unit_test(reset_forgets_structures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
