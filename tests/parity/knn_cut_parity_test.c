/* Neighbours of a cloud that several GPUs share are those of the CPU, byte for byte. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "parity/parity_support.h"
#include "reference/shaped_clouds.h"

#define GPUS_MAX 3u

static uint32_t gpu_count;

static mote_context *context_of(uint32_t gpus, uint64_t memory_limit_bytes) {
    mote_context_params params = mote_context_defaults();
    mote_context *ctx = NULL;
    params.device = MOTE_DEVICE_CUDA;
    params.gpus = (1ull << gpus) - 1;
    params.threads = 2;
    params.memory_limit_bytes = memory_limit_bytes;
    assert_int_equal(mote_context_create(&params, &ctx), MOTE_OK);
    return ctx;
}

typedef struct test_rows {
    mote_knn_result result;
    uint64_t places;
} test_rows;

static test_rows find(mote_context *ctx, const mote_cloud *cloud, const mote_cloud *queries, const mote_knn_params *p) {
    test_rows rows = {.places = mote_cloud_count(queries != NULL ? queries : cloud) * p->k};
    rows.result.index32 = malloc(rows.places * 4 + 1);
    rows.result.distance2_wide = malloc(rows.places * 8 + 1);
    if (mote_knn(ctx, cloud, queries, p, &rows.result) != MOTE_OK) fail_msg("%s", mote_context_message(ctx));
    return rows;
}

static void free_rows(test_rows *rows) {
    free(rows->result.index32);
    free(rows->result.distance2_wide);
}

static void compare(mote_context *cpu, const mote_cloud *cloud, const mote_cloud *queries, const mote_knn_params *p,
                    const char *name) {
    test_rows expected = find(cpu, cloud, queries, p);
    for (uint32_t gpus = 1; gpus <= gpu_count; gpus++) {
        mote_context *cuda = context_of(gpus, 0);
        test_rows rows = find(cuda, cloud, queries, p);
        if (memcmp(rows.result.index32, expected.result.index32, rows.places * 4) != 0 ||
            memcmp(rows.result.distance2_wide, expected.result.distance2_wide, rows.places * 8) != 0) {
            fail_msg("%s, k %u, %u GPUs", name, p->k, gpus);
        }
        assert_int_equal(rows.result.skipped, expected.result.skipped);
        assert_string_equal(mote_context_backend(cuda), "cuda");
        free_rows(&rows);
        mote_context_destroy(cuda);
    }
    free_rows(&expected);
}

static void gpus_find_the_same(void **state) {
    (void)state;
    static const uint32_t ks[] = {1, 8, 16, 40};
    const uint32_t step = (uint32_t)parity_extent(2, 1, 1); /* watched is each second one, in turn */
    mote_context *cpu = parity_cpu_context();
    for (uint32_t f = (uint32_t)test_turn(step); f < shaped_cloud_count; f += step) {
        if (!parity_is_mine()) continue;
        const mote_type type = f % 2 == 0 ? MOTE_FLOAT32 : MOTE_FLOAT64;
        const uint64_t points = parity_extent(400, 1500, 50000);
        mote_cloud *cloud = shaped_cloud_make(cpu, &shaped_clouds[f], type, points, 1);
        mote_cloud *others = shaped_cloud_make(cpu, &shaped_clouds[f], type, points / 5, 2);
        mote_knn_params p = mote_knn_defaults();
        p.k = ks[f % 4];
        compare(cpu, cloud, others, &p, shaped_clouds[f].name);
        p.exclude_self = f % 2 == 0;
        compare(cpu, cloud, NULL, &p, shaped_clouds[f].name);
        mote_cloud_destroy(others);
        mote_cloud_destroy(cloud);
    }
    mote_context_destroy(cpu);
}

/* Integers: what generators make, and awkward ones, ties and copies among them. */
static void steps_are_the_same(void **state) {
    (void)state;
    const uint32_t step = (uint32_t)parity_extent(2, 1, 1);
    mote_context *cpu = parity_cpu_context();
    mote_cloud *cloud = NULL;
    mote_knn_params p = mote_knn_defaults();
    p.radius = 3;
    assert_int_equal(mote_generate(cpu, "city", parity_extent(1000, 5000, 500000), NULL, &cloud), MOTE_OK);
    compare(cpu, cloud, NULL, &p, "city");
    mote_cloud_destroy(cloud);
    p.radius = 0;
    for (uint32_t c = (uint32_t)test_turn(step); c < awkward_cloud_count; c += step) {
        if (!parity_is_mine()) continue;
        cloud = awkward_cloud_make(cpu, &awkward_clouds[c], 300, 0);
        p.exclude_self = c % 2 == 0;
        compare(cpu, cloud, NULL, &p, awkward_clouds[c].name);
        mote_cloud_destroy(cloud);
    }
    mote_context_destroy(cpu);
}

/* With less and less memory first every GPU has an index of all points, then each has a slab, and then it does not
   suffice. */
static void less_memory_changes_nothing(void **state) {
    (void)state;
    mote_context *cpu = parity_cpu_context();
    const uint64_t points = parity_extent(3000, 20000, 500000);
    mote_cloud *cloud = shaped_cloud_make(cpu, &shaped_clouds[0], MOTE_FLOAT64, points, 1);
    mote_knn_params p = mote_knn_defaults();
    test_rows expected = find(cpu, cloud, NULL, &p);
    uint32_t done = 0, refused = 0;
    for (uint64_t limit = points * 4000; limit > points * 40; limit = limit * 4 / 5) {
        mote_context *cuda = context_of(gpu_count, limit);
        test_rows rows = {.places = expected.places};
        rows.result.index32 = malloc(rows.places * 4 + 1);
        rows.result.distance2_wide = malloc(rows.places * 8 + 1);
        const mote_status status = mote_knn(cuda, cloud, NULL, &p, &rows.result);
        if (status == MOTE_OK) {
            assert_memory_equal(rows.result.index32, expected.result.index32, rows.places * 4);
            assert_memory_equal(rows.result.distance2_wide, expected.result.distance2_wide, rows.places * 8);
        } else {
            assert_int_equal(status, MOTE_ERROR_MEMORY);
        }
        done += status == MOTE_OK;
        refused += status != MOTE_OK;
        free_rows(&rows);
        mote_context_destroy(cuda);
    }
    assert_true(done > 0 && refused > 0);
    free_rows(&expected);
    mote_cloud_destroy(cloud);
    mote_context_destroy(cpu);
}

int main(void) {
    setenv("MOTE_EMULATOR_DEVICES", "3", 1);
    mote_context *cuda = parity_context(0);
    if (cuda == NULL) return PARITY_SKIPPED;
    mote_context_destroy(cuda);
    mote_device_info devices[1 + GPUS_MAX];
    gpu_count = mote_devices(devices, 1 + GPUS_MAX) - 1;
    if (gpu_count > GPUS_MAX) gpu_count = GPUS_MAX;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gpus_find_the_same),
        cmocka_unit_test(steps_are_the_same),
        cmocka_unit_test(less_memory_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
