/* Systems that GeoTIFF keys define by parts are those that EPSG has codes for. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/cloud.h"
#include "io/crs/crs_proj.h"
#include "io/las/las_format.h"
#include "support/cloud_files.h"
#include <mote_have.h>

#if MOTE_HAVE_PROJ
#define KEYS_MAX    8
#define NUMBERS_MAX 8
#define POINTS      50u

typedef struct key_case {
    const char *code, *base;
    uint16_t keys[KEYS_MAX][2]; /* with values in place; ends with 0 */
    struct {
        uint16_t key;
        double value;
    } numbers[NUMBERS_MAX];
    double x, y, size; /* where the points are */
} key_case;

static const key_case cases[] = {
    {"EPSG:25832",
     "EPSG:4258",
     {{1024, 1}, {2048, 4258}, {3072, 32767}, {3074, 32767}, {3075, 1}, {3076, 9001}},
     {{3081, 0}, {3080, 9}, {3092, 0.9996}, {3082, 500000}, {3083, 0}},
     350000,
     5300000,
     200000},
    {"EPSG:25832",
     "EPSG:4258",
     {{1024, 1}, {2048, 4258}, {3072, 32767}, {3074, 16032}, {3076, 9001}},
     {{0, 0}},
     350000,
     5300000,
     200000},
    {"EPSG:25832",
     "EPSG:4258",
     {{1024, 1}, {2048, 32767}, {2050, 6258}, {3072, 32767}, {3075, 1}},
     {{3080, 9}, {3092, 0.9996}, {3082, 500000}},
     350000,
     5300000,
     200000},
    {"EPSG:2994",
     "EPSG:4152",
     {{1024, 1}, {2048, 4152}, {3072, 32767}, {3075, 8}, {3076, 9002}},
     {{3078, 43}, {3079, 45.5}, {3084, -120.5}, {3085, 41.75}, {3086, 400000 / 0.3048}, {3087, 0}},
     600000,
     800000,
     300000},
    {"EPSG:5070",
     "EPSG:4269",
     {{1024, 1}, {2048, 4269}, {3072, 32767}, {3075, 11}, {3076, 9001}},
     {{3078, 29.5}, {3079, 45.5}, {3080, -96}, {3081, 23}, {3082, 0}, {3083, 0}},
     -500000,
     1000000,
     900000},
    {"EPSG:3035",
     "EPSG:4258",
     {{1024, 1}, {2048, 4258}, {3072, 32767}, {3075, 10}, {3076, 9001}},
     {{3088, 10}, {3089, 52}, {3082, 4321000}, {3083, 3210000}},
     4000000,
     3000000,
     500000},
    {"EPSG:28992",
     "EPSG:4289",
     {{1024, 1}, {2048, 4289}, {3072, 32767}, {3075, 16}, {3076, 9001}},
     {{3081, 52.1561605555556}, {3080, 5.38763888888889}, {3092, 0.9999079}, {3082, 155000}, {3083, 463000}},
     100000,
     400000,
     150000},
    {"EPSG:3395",
     "EPSG:4326",
     {{1024, 1}, {2048, 4326}, {3072, 32767}, {3075, 7}, {3076, 9001}},
     {{3080, 0}, {3092, 1}},
     1000000,
     5000000,
     900000},
};

static mote_cloud *make_points(mote_context *ctx, const key_case *c) {
    const mote_column_spec specs[] = {{"x", MOTE_FLOAT64, 1, 0}, {"y", MOTE_FLOAT64, 1, 0}, {"z", MOTE_FLOAT64, 1, 0}};
    mote_cloud *cloud = NULL;
    assert_int_equal(mote_cloud_create(ctx, POINTS, specs, 3, &cloud), MOTE_OK);
    for (uint32_t k = 0; k < 3; k++) {
        double *const values = mote_cloud_column_data(cloud, specs[k].name);
        const uint32_t stride = mote_cloud_column(cloud, k)->stride_bytes / 8;
        for (uint32_t i = 0; i < POINTS; i++) {
            const double at = k == 0 ? c->x : c->y;
            values[i * stride] = k == 2 ? i : at + c->size * test_random(k, i);
        }
    }
    return cloud;
}

static void put(uint8_t *at, uint32_t key, uint32_t place, uint32_t value) {
    const uint16_t entry[4] = {(uint16_t)key, (uint16_t)place, 1, (uint16_t)value};
    memcpy(at, entry, sizeof entry);
}

static void add_keys(mote_cloud *cloud, const key_case *c) {
    uint8_t data[8 * (KEYS_MAX + NUMBERS_MAX + 1)] = {0};
    double numbers[NUMBERS_MAX];
    uint64_t count = 0, number_count = 0;
    for (int i = 0; i < KEYS_MAX && c->keys[i][0] != 0; i++) put(data + 8 * ++count, c->keys[i][0], 0, c->keys[i][1]);
    for (int i = 0; i < NUMBERS_MAX && c->numbers[i].key != 0; i++) {
        put(data + 8 * ++count, c->numbers[i].key, LAS_ID_GEO_DOUBLES, (uint32_t)number_count);
        numbers[number_count++] = c->numbers[i].value;
    }
    mote_record record = {.record_id = LAS_ID_GEO_KEYS, .size_bytes = 8 * (count + 1), .data = data};
    memcpy(record.user_id, LAS_USER_PROJECTION, sizeof LAS_USER_PROJECTION);
    assert_int_equal(mote_cloud_add_record(cloud, &record), MOTE_OK);
    record.record_id = LAS_ID_GEO_DOUBLES;
    record.size_bytes = 8 * number_count;
    record.data = numbers;
    if (number_count > 0) assert_int_equal(mote_cloud_add_record(cloud, &record), MOTE_OK);
}

static void parts_are_the_whole(void **state) {
    (void)state;
    mote_context *ctx = test_context(1);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        mote_cloud *by_code = make_points(ctx, &cases[i]), *by_parts = make_points(ctx, &cases[i]);
        add_keys(by_parts, &cases[i]);
        assert_int_equal(mote_cloud_assign_crs(ctx, by_code, cases[i].code), MOTE_OK);
        assert_int_equal(mote_cloud_transform(ctx, &by_code, cases[i].base, NULL), MOTE_OK);
        assert_int_equal(mote_cloud_transform(ctx, &by_parts, cases[i].base, NULL), MOTE_OK);
        assert_string_equal(mote_cloud_crs(by_code), mote_cloud_crs(by_parts));
        for (uint32_t p = 0; p < POINTS; p++) {
            for (const char *axis = "x\0y\0z\0"; *axis != '\0'; axis += 2) {
                /* A tenth of a millimetre on the ground is 1e-9 degrees. */
                assert_true(fabs(test_value(by_code, axis, p) - test_value(by_parts, axis, p)) < 1e-9);
            }
        }
        mote_cloud_destroy(by_code);
        mote_cloud_destroy(by_parts);
    }
    mote_context_destroy(ctx);
}

static void what_is_not_understood_is_told(void **state) {
    (void)state;
    static const key_case wrong[] = {
        {"", "EPSG:4326", {{1024, 1}, {2048, 4326}, {3072, 32767}, {3075, 5}}, {{0, 0}}, 0, 0, 1},  /* its method */
        {"", "EPSG:4326", {{1024, 1}, {2048, 32767}, {3072, 32767}, {3075, 1}}, {{0, 0}}, 0, 0, 1}, /* its datum */
        {"", "EPSG:4326", {{1024, 1}, {2048, 32766}, {3072, 32767}, {3075, 1}}, {{0, 0}}, 0, 0, 1},
        {"", "EPSG:4326", {{1024, 3}, {2048, 32767}, {3072, 32767}}, {{0, 0}}, 0, 0, 1},
        {"", "EPSG:4326", {{1024, 1}, {2048, 4326}, {2054, 9105}, {3072, 32767}, {3075, 1}}, {{0, 0}}, 0, 0, 1},
    };
    mote_context *ctx = test_context(1);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        mote_cloud *cloud = make_points(ctx, &wrong[i]);
        add_keys(cloud, &wrong[i]);
        assert_int_equal(mote_cloud_transform(ctx, &cloud, wrong[i].base, NULL), MOTE_ERROR_ARGUMENT);
        assert_non_null(
            strstr(mote_context_message(ctx), "GeoTIFF keys without a code, which mote does not understand"));
        mote_context_clear(ctx);
        mote_cloud_destroy(cloud);
    }
    mote_context_destroy(ctx);
}

static mote_status transform_keys(mote_context *ctx, void *user) {
    mote_cloud *cloud = user, *copy = NULL;
    uint64_t indices[POINTS];
    for (uint64_t i = 0; i < POINTS; i++) indices[i] = i;
    mote_status status = mote_cloud_select(ctx, cloud, indices, POINTS, &copy);
    if (status == MOTE_OK) status = mote_cloud_transform(ctx, &copy, "EPSG:25833", NULL);
    mote_cloud_destroy(copy);
    return status;
}

static void survives_missing_memory(void **state) {
    (void)state;
    mote_context *ctx = test_context(1);
    mote_cloud *cloud = make_points(ctx, &cases[0]);
    add_keys(cloud, &cases[0]);
    test_each_allocation_fails(transform_keys, cloud);
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
}
#endif

int main(void) {
#if MOTE_HAVE_PROJ
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_are_the_whole),
        cmocka_unit_test(what_is_not_understood_is_told),
        cmocka_unit_test(survives_missing_memory),
    };
    return cmocka_run_group_tests_name("crs keys", tests, NULL, NULL);
#else
    return 0;
#endif
}
