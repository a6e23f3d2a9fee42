/* Under AUTO, what a GPU has no memory for is done by the CPU: the same answers, and no failure is noted; an earlier
   failure stays the first one. */
#include <stdlib.h>

#include "core/cloud.h"
#include "knn/knn.h"
#include "parity/parity_support.h"

#define POINTS      20000u
#define K           8u
#define LIMIT_BYTES (64u << 20)

typedef struct rows {
    uint32_t index[POINTS * K];
    float distance2[POINTS * K];
} rows;

static mote_context *limited_context(void) {
    mote_context_params params = mote_context_defaults();
    mote_context *ctx = NULL;
    params.memory_limit_bytes = LIMIT_BYTES; /* of the host, and of the device */
    params.threads = 2;
    assert_int_equal(mote_context_create(&params, &ctx), MOTE_OK);
    return ctx;
}

/* Takes the device's memory except for a part. */
static void *take_device(mote_context *ctx, uint64_t left_bytes) {
    void *memory = cuda_alloc(gpu_of(ctx), LIMIT_BYTES - left_bytes, "ballast");
    assert_non_null(memory);
    return memory;
}

static void search(mote_knn_index *index, rows *out, mote_status expected) {
    mote_knn_params params = mote_knn_defaults();
    mote_knn_result result;
    memset(&result, 0, sizeof result);
    params.k = K;
    result.index32 = out->index;
    result.distance2 = out->distance2;
    assert_int_equal(mote_knn_search(index, NULL, &params, &result), expected);
}

static void compare(uint64_t left_bytes, bool earlier_failure) {
    mote_context *ctx = limited_context();
    rows *ours = malloc(sizeof *ours), *cpus = malloc(sizeof *cpus);
    mote_cloud *cloud = NULL;
    mote_knn_index *index = NULL, *on_cpu = NULL;
    assert_true(ours != NULL && cpus != NULL);
    assert_int_equal(mote_generate(ctx, "uniform", POINTS, NULL, &cloud), MOTE_OK);
    assert_int_equal(knn_build_on(mote_cpu_device(ctx), cloud, &on_cpu), MOTE_OK);
    search(on_cpu, cpus, MOTE_OK);
    if (earlier_failure) (void)mote_fail(ctx, MOTE_ERROR_DATA, "something before");
    void *ballast = take_device(ctx, left_bytes);
    assert_int_equal(knn_build_on(gpu_of(ctx), cloud, &index), MOTE_OK);
    search(index, ours, MOTE_OK);
    assert_ptr_equal(index->device, mote_cpu_device(ctx));
    assert_memory_equal(ours, cpus, sizeof *ours);
    assert_string_equal(mote_context_message(ctx), earlier_failure ? "something before" : "");
    assert_int_equal(mote_context_status(ctx), earlier_failure ? MOTE_ERROR_DATA : MOTE_OK);
    cuda_free(gpu_of(ctx), ballast);
    mote_knn_destroy(index);
    mote_knn_destroy(on_cpu);
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
    free(ours);
    free(cpus);
}

static void no_room_for_the_index(void **state) {
    (void)state;
    compare(1000, false);
    compare(1000, true);
}

int main(void) {
    if (!parity_can_run()) return PARITY_SKIPPED;
    const struct CMUnitTest tests[] = {cmocka_unit_test(no_room_for_the_index)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
