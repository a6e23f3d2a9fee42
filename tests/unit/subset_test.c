/* mote_cloud_select and mote_cloud_join: values, packed fields, extras, mistakes, failing allocations. */
#include <string.h>

#include "core/cloud.h"
#include "support/support.h"

#define POINTS 100

/* Three columns, one of them four bits of a byte, with a record and a CRS. */
static mote_cloud *make_source(mote_context *ctx, uint8_t *records) {
    for (int32_t i = 0; i < POINTS; i++) {
        const double y = 0.5 * i;
        memcpy(records + 13 * i, &i, 4);
        memcpy(records + 13 * i + 4, &y, 8);
        records[13 * i + 12] = (uint8_t)(i << 2 | 1);
    }
    const mote_column columns[] = {
        {.name = "x", .type = MOTE_INT32, .data = records, .stride_bytes = 13, .scale = 0.01, .offset = 7, .unit = "m"},
        {.name = "y", .type = MOTE_FLOAT64, .data = records + 4, .stride_bytes = 13},
        {.name = "bits", .type = MOTE_UINT8, .data = records + 12, .stride_bytes = 13, .bit_shift = 2, .bit_count = 4},
    };
    mote_cloud *cloud = NULL;
    assert_int_equal(mote_cloud_wrap(ctx, POINTS, columns, 3, &cloud), MOTE_OK);
    return cloud;
}

static void selects_points(void **state) {
    (void)state;
    static uint8_t records[13 * POINTS];
    mote_context *ctx = test_context(2);
    mote_cloud *cloud = make_source(ctx, records), *chosen = NULL;
    const mote_record record = {.user_id = "me", .record_id = 5, .size_bytes = 3, .data = "abc"};
    assert_int_equal(mote_cloud_set_crs(cloud, "EPSG:25832"), MOTE_OK);
    assert_int_equal(mote_cloud_add_record(cloud, &record), MOTE_OK);
    const uint64_t indices[] = {99, 0, 41, 41};
    assert_int_equal(mote_cloud_select(ctx, cloud, indices, 4, &chosen), MOTE_OK);
    assert_int_equal(mote_cloud_count(chosen), 4);
    assert_int_equal(mote_cloud_column_count(chosen), 3);
    for (uint32_t c = 0; c < 3; c++) {
        const mote_column *from = mote_cloud_column(cloud, c), *to = mote_cloud_column(chosen, c);
        assert_string_equal(from->name, to->name);
        assert_string_equal(from->unit, to->unit);
        assert_int_equal(from->type, to->type);
        for (uint64_t i = 0; i < 4; i++) {
            assert_float_equal(mote_column_value(to, i), mote_column_value(from, indices[i]), 0);
        }
    }
    assert_string_equal(mote_cloud_crs(chosen), "EPSG:25832");
    assert_int_equal(mote_cloud_record_count(chosen), 1);
    assert_memory_equal(mote_cloud_record(chosen, 0)->data, "abc", 3);
    mote_cloud_destroy(chosen);
    mote_cloud_destroy(cloud);
    assert_int_equal(mote_context_memory_bytes(ctx), 0);
    mote_context_destroy(ctx);
}

static void all_in_order_is_the_same_cloud(void **state) {
    (void)state;
    static uint8_t records[13 * POINTS];
    mote_context *ctx = test_context(7);
    mote_cloud *cloud = make_source(ctx, records), *chosen = NULL, *none = NULL;
    uint64_t indices[POINTS], before = 0, after = 0;
    for (uint64_t i = 0; i < POINTS; i++) indices[i] = i;
    assert_int_equal(mote_cloud_select(ctx, cloud, indices, POINTS, &chosen), MOTE_OK);
    assert_int_equal(mote_cloud_hash(ctx, cloud, &before), MOTE_OK);
    assert_int_equal(mote_cloud_hash(ctx, chosen, &after), MOTE_OK);
    assert_int_equal(before, after);
    assert_int_equal(mote_cloud_select(ctx, cloud, NULL, 0, &none), MOTE_OK);
    assert_int_equal(mote_cloud_count(none), 0);
    mote_cloud_destroy(none);
    mote_cloud_destroy(chosen);
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
}

static void refuses_points_that_are_not_there(void **state) {
    (void)state;
    static uint8_t records[13 * POINTS];
    mote_context *ctx = test_context(1);
    mote_cloud *cloud = make_source(ctx, records), *chosen = cloud;
    const uint64_t indices[] = {0, POINTS};
    assert_int_equal(mote_cloud_select(ctx, cloud, indices, 2, &chosen), MOTE_ERROR_ARGUMENT);
    assert_null(chosen);
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
}

/* Two parts of a cloud, of which the second has a column more, and the first has a no-data value. */
static void make_parts(mote_context *ctx, uint8_t *records, mote_cloud *parts[2]) {
    const mote_column_limits limits = {.has_no_data = true, .no_data = 5}, extra = {.has_max = true, .max = 9};
    const mote_column_spec spec = {"extra", MOTE_UINT16, 0.5, 3};
    for (int i = 0; i < 2; i++) parts[i] = make_source(ctx, records);
    assert_int_equal(mote_cloud_set_limits(parts[0], "bits", &limits), MOTE_OK);
    assert_int_equal(mote_cloud_add_column(parts[1], &spec), MOTE_OK);
    assert_int_equal(mote_cloud_set_limits(parts[1], "extra", &extra), MOTE_OK);
    memset(mote_cloud_column_data(parts[1], "extra"), 1, sizeof(uint16_t) * POINTS);
}

static void joins_parts_with_their_limits(void **state) {
    (void)state;
    static uint8_t records[13 * POINTS];
    mote_context *ctx = test_context(3);
    mote_cloud *parts[2], *all = NULL;
    mote_column_limits limits;
    make_parts(ctx, records, parts);
    assert_int_equal(mote_cloud_set_crs(parts[0], "EPSG:25832"), MOTE_OK);
    assert_int_equal(mote_cloud_join(ctx, parts, 2, &all), MOTE_OK);
    assert_int_equal(mote_cloud_count(all), 2 * POINTS);
    assert_int_equal(mote_cloud_column_count(all), 4);
    for (uint32_t c = 0; c < 3; c++) {
        const mote_column *from = mote_cloud_column(parts[0], c), *to = mote_cloud_column(all, c);
        assert_string_equal(from->name, to->name);
        assert_string_equal(from->unit, to->unit);
        for (uint64_t i = 0; i < 2 * POINTS; i++) {
            assert_float_equal(mote_column_value(to, i), mote_column_value(from, i % POINTS), 0);
        }
    }
    assert_true(mote_cloud_limits(all, "bits", &limits) && limits.has_no_data && limits.no_data == 5);
    assert_true(mote_cloud_limits(all, "extra", &limits) && limits.has_max && limits.max == 9);
    for (uint64_t i = 0; i < 2 * POINTS; i++) {
        assert_float_equal(mote_column_value(mote_cloud_find(all, "extra"), i), i < POINTS ? 3 : 3 + 0.5 * 257, 0);
    }
    assert_string_equal(mote_cloud_crs(all), "EPSG:25832");
    for (int i = 0; i < 2; i++) mote_cloud_destroy(parts[i]);
    mote_cloud_destroy(all);
    assert_int_equal(mote_context_memory_bytes(ctx), 0);
    mote_context_destroy(ctx);
}

static void joins_no_columns_that_differ(void **state) {
    (void)state;
    static uint8_t records[13 * POINTS];
    mote_context *ctx = test_context(1);
    const mote_column_spec spec = {"y", MOTE_FLOAT32, 1, 0};
    mote_cloud *parts[2], *all = NULL;
    make_parts(ctx, records, parts);
    assert_int_equal(mote_cloud_put_column(parts[1], &spec), MOTE_OK);
    assert_int_equal(mote_cloud_join(ctx, parts, 2, &all), MOTE_ERROR_ARGUMENT);
    assert_null(all);
    assert_non_null(strstr(mote_context_message(ctx), "\"y\" differs"));
    mote_context_clear(ctx);
    assert_int_equal(mote_cloud_join(ctx, parts, 0, &all), MOTE_ERROR_ARGUMENT);
    for (int i = 0; i < 2; i++) mote_cloud_destroy(parts[i]);
    mote_context_destroy(ctx);
}

static void joins_despite_failing_allocations(void **state) {
    (void)state;
    static uint8_t records[13 * POINTS];
    long failures = 0;
    for (long n = 1; n < 40; n++) {
        test_allocator allocator = {0};
        mote_context *ctx = test_context_failing(&allocator, 1);
        mote_cloud *parts[2], *all = NULL;
        make_parts(ctx, records, parts);
        allocator.fail_at = allocator.calls + n;
        const mote_status status = mote_cloud_join(ctx, parts, 2, &all);
        assert_true(status == MOTE_OK || status == MOTE_ERROR_MEMORY);
        assert_true((all != NULL) == (status == MOTE_OK));
        failures += status != MOTE_OK;
        for (int i = 0; i < 2; i++) mote_cloud_destroy(parts[i]);
        mote_cloud_destroy(all);
        mote_context_destroy(ctx);
        assert_int_equal(allocator.open, 0);
    }
    assert_true(failures >= 5);
}

static void survives_failing_allocations(void **state) {
    (void)state;
    static uint8_t records[13 * POINTS];
    long failures = 0;
    for (long n = 6; n < 40; n++) {
        test_allocator allocator = {0};
        mote_context *ctx = test_context_failing(&allocator, 1);
        mote_cloud *cloud = make_source(ctx, records), *chosen = NULL;
        const uint64_t indices[] = {3, 4};
        allocator.fail_at = n;
        allocator.calls = 5;
        const mote_status status = mote_cloud_select(ctx, cloud, indices, 2, &chosen);
        assert_true(status == MOTE_OK || status == MOTE_ERROR_MEMORY);
        assert_true((chosen != NULL) == (status == MOTE_OK));
        failures += status != MOTE_OK;
        mote_cloud_destroy(chosen);
        mote_cloud_destroy(cloud);
        mote_context_destroy(ctx);
        assert_int_equal(allocator.open, 0);
    }
    assert_true(failures >= 5);
}

static void respects_the_memory_limit(void **state) {
    (void)state;
    mote_context_params params = mote_context_defaults();
    params.device = MOTE_DEVICE_CPU;
    params.memory_limit_bytes = 100000;
    mote_context *ctx = NULL;
    assert_int_equal(mote_context_create(&params, &ctx), MOTE_OK);
    const mote_column_spec spec = {"x", MOTE_FLOAT64, 0, 0};
    mote_cloud *small = NULL, *large = NULL;
    assert_int_equal(mote_cloud_create(ctx, 10000, &spec, 1, &small), MOTE_OK);
    assert_int_equal(mote_cloud_create(ctx, 10000, &spec, 1, &large), MOTE_ERROR_MEMORY);
    assert_null(large);
    assert_non_null(strstr(mote_context_message(ctx), "limit"));
    mote_cloud_destroy(small);
    assert_int_equal(mote_context_memory_bytes(ctx), 0);
    mote_context_clear(ctx);
    assert_int_equal(mote_cloud_create(ctx, 10000, &spec, 1, &large), MOTE_OK);
    mote_cloud_destroy(large);
    mote_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(selects_points),
        cmocka_unit_test(all_in_order_is_the_same_cloud),
        cmocka_unit_test(refuses_points_that_are_not_there),
        cmocka_unit_test(joins_parts_with_their_limits),
        cmocka_unit_test(joins_no_columns_that_differ),
        cmocka_unit_test(joins_despite_failing_allocations),
        cmocka_unit_test(survives_failing_allocations),
        cmocka_unit_test(respects_the_memory_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
