/* The cloud: columns, views, names, conversion, bounds, checksum. */
#include <math.h>
#include <string.h>

#include "support/support.h"

static void keeps_columns(void **state) {
    (void)state;
    mote_context *ctx = test_context(2);
    const mote_column_spec specs[] = {
        {"x", MOTE_INT32, 0.01, 100}, {"y", MOTE_FLOAT32, 0, 0}, {"z", MOTE_FLOAT64, 1, 0}};
    mote_cloud *cloud = NULL;
    assert_int_equal(mote_cloud_create(ctx, 3, specs, 3, &cloud), MOTE_OK);
    const mote_column *x = mote_cloud_find(cloud, "x"), *y = mote_cloud_find(cloud, "y");
    assert_int_equal(x->stride_bytes, 16);
    for (int32_t i = 0; i < 3; i++) {
        const float height = i == 1 ? NAN : 2.5f * (float)i;
        memcpy((uint8_t *)mote_cloud_column_data(cloud, "x") + 16 * i, &i, 4);
        memcpy((uint8_t *)mote_cloud_column_data(cloud, "y") + 16 * i, &height, 4);
    }
    assert_float_equal(mote_column_value(x, 2), 100.02, 1e-12);
    int16_t rounded[3];
    mote_column_read(y, 0, 3, MOTE_INT16, rounded);
    assert_int_equal(rounded[1], 0);
    assert_int_equal(rounded[2], 5);
    mote_box box;
    uint64_t skipped;
    assert_int_equal(mote_cloud_bounds(ctx, cloud, &box, &skipped), MOTE_OK);
    assert_int_equal(skipped, 1);
    assert_float_equal(box.max[0], 100.02, 1e-12);
    assert_float_equal(box.max[1], 5, 0);
    const mote_column_spec extra = {"extra", MOTE_UINT8, 0, 0};
    assert_int_equal(mote_cloud_add_column(cloud, &extra), MOTE_OK);
    assert_int_equal(mote_cloud_add_column(cloud, &extra), MOTE_ERROR_ARGUMENT);
    assert_non_null(mote_cloud_column_data(cloud, "extra"));
    mote_cloud_destroy(cloud);
    assert_int_equal(mote_context_memory_bytes(ctx), 0);
    mote_context_destroy(ctx);
}

static void puts_a_column_in_the_place_of_another(void **state) {
    (void)state;
    mote_context *ctx = test_context(1);
    const int16_t values[2] = {700, -3};
    mote_column column = {.name = "a", .type = MOTE_INT16, .data = values, .scale = 0.5, .unit = "m"};
    mote_cloud *cloud = NULL;
    assert_int_equal(mote_cloud_wrap(ctx, 2, &column, 1, &cloud), MOTE_OK);
    const mote_column_spec other = {"a", MOTE_FLOAT64, 0, 0}, more = {"b", MOTE_UINT8, 0, 0};
    const mote_column_spec wrong = {"a", (mote_type)99, 0, 0}, unnamed = {NULL, MOTE_UINT8, 0, 0};
    assert_int_equal(mote_cloud_put_column(cloud, &other), MOTE_OK);
    assert_int_equal(mote_cloud_put_column(cloud, &more), MOTE_OK);
    assert_int_equal(mote_cloud_put_column(cloud, &wrong), MOTE_ERROR_ARGUMENT);
    assert_int_equal(mote_cloud_put_column(cloud, &unnamed), MOTE_ERROR_ARGUMENT);
    assert_int_equal(mote_cloud_column_count(cloud), 2);
    const mote_column *a = mote_cloud_find(cloud, "a");
    assert_int_equal(a->type, MOTE_FLOAT64);
    assert_string_equal(a->unit, "m");
    assert_float_equal(mote_column_value(a, 0), 0, 0);
    ((double *)mote_cloud_column_data(cloud, "a"))[1] = 2.5;
    assert_float_equal(mote_column_value(a, 1), 2.5, 0);
    mote_cloud_destroy(cloud);
    assert_int_equal(mote_context_memory_bytes(ctx), 0);
    mote_context_destroy(ctx);
}

static void reads_packed_bits(void **state) {
    (void)state;
    mote_context *ctx = test_context(1);
    const uint8_t flags[2] = {0xB5, 0x4A};
    mote_column column = {.name = "low", .type = MOTE_UINT8, .data = flags, .bit_shift = 0, .bit_count = 3};
    mote_cloud *cloud = NULL;
    assert_int_equal(mote_cloud_wrap(ctx, 2, &column, 1, &cloud), MOTE_OK);
    assert_float_equal(mote_column_value(mote_cloud_column(cloud, 0), 0), 5, 0);
    assert_float_equal(mote_column_value(mote_cloud_column(cloud, 0), 1), 2, 0);
    assert_null(mote_cloud_column_data(cloud, "low"));
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
}

static void hash_sees_order_not_layout(void **state) {
    (void)state;
    mote_context *one = test_context(1), *seven = test_context(7);
    uint16_t dense[5] = {1, 2, 3, 4, 5}, wide[10] = {1, 9, 2, 9, 3, 9, 4, 9, 5, 9}, swapped[5] = {2, 1, 3, 4, 5};
    mote_column column = {.name = "v", .type = MOTE_UINT16};
    uint64_t hashes[3];
    const void *data[3] = {dense, wide, swapped};
    for (int i = 0; i < 3; i++) {
        mote_context *ctx = i == 0 ? one : seven;
        mote_cloud *cloud = NULL;
        column.data = data[i];
        column.stride_bytes = i == 1 ? 4 : 2;
        assert_int_equal(mote_cloud_wrap(ctx, 5, &column, 1, &cloud), MOTE_OK);
        assert_int_equal(mote_cloud_hash(ctx, cloud, &hashes[i]), MOTE_OK);
        mote_cloud_destroy(cloud);
    }
    assert_int_equal(hashes[0], hashes[1]);
    assert_int_not_equal(hashes[0], hashes[2]);
    mote_context_destroy(one);
    mote_context_destroy(seven);
}

static void survives_failing_allocations(void **state) {
    (void)state;
    for (long n = 2; n < 12; n++) {
        test_allocator allocator = {.fail_at = n};
        mote_context *ctx = test_context_failing(&allocator, 1);
        const mote_column_spec specs[] = {{"x", MOTE_INT32, 0, 0}, {"y", MOTE_INT32, 0, 0}};
        mote_cloud *cloud = NULL;
        const mote_status status = mote_cloud_create(ctx, 100, specs, 2, &cloud);
        assert_true(status == MOTE_OK || status == MOTE_ERROR_MEMORY);
        assert_true((cloud != NULL) == (status == MOTE_OK));
        mote_cloud_destroy(cloud);
        mote_context_destroy(ctx);
        assert_int_equal(allocator.open, 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keeps_columns), cmocka_unit_test(puts_a_column_in_the_place_of_another),
        cmocka_unit_test(reads_packed_bits), cmocka_unit_test(hash_sees_order_not_layout),
        cmocka_unit_test(survives_failing_allocations)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
