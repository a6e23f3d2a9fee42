/* Clouds copied to the GPU: what is there is what was on the host, and all of it is given back. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/cloud.h"
#include "device/cuda/cuda.h"
#include "math/hash.h"
#include "support/gpu.h"
#include "support/support.h"

#define POINTS 777

/* NULL where there is no GPU. */
static mote_context *gpu_context(uint64_t memory_limit_bytes) {
    mote_context_params params = mote_context_defaults();
    mote_context *ctx = NULL;
    params.device = MOTE_DEVICE_CUDA;
    params.memory_limit_bytes = memory_limit_bytes;
    return mote_context_create(&params, &ctx) == MOTE_OK ? ctx : NULL;
}

/* The values of a column on the device are those of the host's. */
static void check_column(mote_context *ctx, const mote_column *there, const mote_column *here) {
    assert_string_equal(there->name, here->name);
    assert_string_equal(there->unit, here->unit);
    assert_int_equal(there->type, here->type);
    assert_int_equal(there->bit_shift, here->bit_shift);
    assert_int_equal(there->bit_count, here->bit_count);
    assert_true(there->scale == here->scale && there->offset == here->offset);
    const uint64_t bytes = (POINTS - 1) * (uint64_t)there->stride_bytes + mote_type_size(there->type);
    uint8_t *copy = malloc(bytes);
    assert_non_null(copy);
    assert_int_equal(cuda_download(gpu_of(ctx), copy, there->data, bytes), MOTE_OK);
    mote_column fetched = *there;
    fetched.data = copy;
    for (uint64_t i = 0; i < POINTS; i++) assert_true(mote_column_stored(&fetched, i) == mote_column_stored(here, i));
    free(copy);
}

static void keeps_everything(void **state) {
    (void)state;
    mote_context *ctx = gpu_context(0);
    mote_cloud *city = NULL, *device = NULL, *again = NULL;
    const mote_column_spec extra = {"extra", MOTE_FLOAT64, 0.5, 7};
    const mote_record record = {.user_id = "mote", .record_id = 5, .size_bytes = 3, .data = "abc"};
    assert_int_equal(mote_generate(ctx, "city", POINTS, NULL, &city), MOTE_OK);
    assert_int_equal(mote_cloud_add_column(city, &extra), MOTE_OK);
    assert_int_equal(mote_cloud_set_grid(city, 7, POINTS / 7), MOTE_OK);
    assert_int_equal(mote_cloud_add_record(city, &record), MOTE_OK);
    assert_int_equal(mote_cloud_to_device(ctx, city, &device), MOTE_OK);
    assert_true(mote_cloud_on_device(device));
    assert_false(mote_cloud_on_device(city));
    assert_int_equal(mote_cloud_count(device), POINTS);
    assert_int_equal(mote_cloud_column_count(device), mote_cloud_column_count(city));
    for (uint32_t i = 0; i < mote_cloud_column_count(city); i++) {
        check_column(ctx, mote_cloud_column(device, i), mote_cloud_column(city, i));
    }
    assert_string_equal(mote_cloud_crs(device), mote_cloud_crs(city));
    assert_int_equal(mote_cloud_record_count(device), 1);
    uint64_t width, height;
    assert_true(mote_cloud_grid(device, &width, &height));
    assert_int_equal(width, 7);
    /* No more than the records: 36 bytes of the city, 8 of the column. */
    assert_in_range(mote_context_device_bytes(ctx), 44 * POINTS - 8, 44 * POINTS + 1024);
    assert_int_equal(mote_cloud_to_device(ctx, device, &again), MOTE_ERROR_ARGUMENT);
    assert_null(again);
    mote_context_clear(ctx);
    assert_int_equal(mote_context_wait(ctx), MOTE_OK);
    mote_cloud_destroy(city);
    mote_cloud_destroy(device);
    assert_int_equal(mote_context_device_bytes(ctx), 0);
    mote_context_destroy(ctx);
}

static void empty_clouds_are_clouds(void **state) {
    (void)state;
    mote_context *ctx = gpu_context(0);
    mote_cloud *city = NULL, *device = NULL;
    assert_int_equal(mote_generate(ctx, "city", 0, NULL, &city), MOTE_OK);
    assert_int_equal(mote_cloud_to_device(ctx, city, &device), MOTE_OK);
    assert_int_equal(mote_cloud_count(device), 0);
    assert_int_equal(mote_cloud_column_count(device), mote_cloud_column_count(city));
    mote_cloud_destroy(city);
    mote_cloud_destroy(device);
    mote_context_destroy(ctx);
}

/* The device's share of the limit is too small for the copy: an error, and everything is given back. */
static void memory_can_run_out(void **state) {
    (void)state;
    mote_context *ctx = gpu_context(64 << 20);
    mote_cloud *cloud = NULL, *device = NULL;
    uint8_t *values = malloc(80 << 20);
    assert_non_null(values);
    const mote_column columns[] = {{.name = "a", .type = MOTE_UINT8, .data = values},
                                   {.name = "b", .type = MOTE_UINT8, .data = values + (40 << 20)}};
    memset(values, 1, 80 << 20);
    assert_int_equal(mote_cloud_wrap(ctx, 40 << 20, columns, 2, &cloud), MOTE_OK);
    assert_int_equal(mote_cloud_to_device(ctx, cloud, &device), MOTE_ERROR_MEMORY);
    assert_null(device);
    assert_int_equal(mote_context_device_bytes(ctx), 0);
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
    free(values);
}

/* On the device and on the host, as doubles of a record or as columns of floats, with and without a known box. */
static void check_strays(mote_context *ctx, const mote_cloud *here, uint64_t expected) {
    mote_cloud *there = NULL;
    mote_box box;
    mote_strays a, b;
    assert_int_equal(mote_cloud_to_device(ctx, here, &there), MOTE_OK);
    assert_int_equal(mote_cloud_bounds(ctx, here, &box, NULL), MOTE_OK);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(mote_cloud_strays(ctx, here, i == 0 ? NULL : &box, &a), MOTE_OK);
        assert_int_equal(mote_cloud_strays(ctx, there, i == 0 ? NULL : &box, &b), MOTE_OK);
        assert_int_equal(a.count, expected);
        assert_memory_equal(&a, &b, sizeof a);
    }
    mote_cloud_destroy(there);
    assert_int_equal(mote_context_device_bytes(ctx), 0);
}

static void strays_are_the_same(void **state) {
    (void)state;
    enum { COUNT = 9000 };
    static const char *const names[3] = {"x", "y", "z"};
    static double records[COUNT][5];
    static float axes[3][COUNT];
    mote_context *ctx = gpu_context(0);
    for (uint64_t strays = 0; strays < 4; strays++) {
        const uint64_t count = strays == 3 ? 77 : COUNT;
        mote_column columns[2][3];
        memset(columns, 0, sizeof columns);
        for (uint32_t k = 0; k < 3; k++) {
            for (uint64_t i = 0; i < count; i++) records[i][k] = axes[k][i] = (float)(mote_hash_pair(k, i) % 1000);
            for (uint64_t i = 0; i < strays; i++) records[7 + 20 * i][k] = axes[k][7 + 20 * i] = 1e9f + 1e8f * (float)i;
            columns[0][k] = (mote_column){.name = names[k], .type = MOTE_FLOAT64, .data = &records[0][2 - k]};
            columns[1][k] = (mote_column){.name = names[k], .type = MOTE_FLOAT32, .data = axes[k], .offset = 0.25};
            columns[0][k].stride_bytes = sizeof records[0];
        }
        records[1][0] = NAN;
        axes[1][2] = INFINITY;
        for (int i = 0; i < 2; i++) {
            mote_cloud *cloud = NULL;
            assert_int_equal(mote_cloud_wrap(ctx, count, columns[i], 3, &cloud), MOTE_OK);
            check_strays(ctx, cloud, count == COUNT ? strays : 0);
            mote_cloud_destroy(cloud);
        }
    }
    mote_context_destroy(ctx);
}

int main(void) {
    mote_context *ctx = gpu_context(0);
    if (ctx == NULL) {
        puts("skipped: there is no GPU");
        return 77;
    }
    mote_context_destroy(ctx);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keeps_everything),
        cmocka_unit_test(empty_clouds_are_clouds),
        cmocka_unit_test(memory_can_run_out),
        cmocka_unit_test(strays_are_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
