/* No-data values: kept by every format that can, and counted as measured by nobody. */
#include <math.h>
#include <stdlib.h>

#include "io/io_internal.h"
#include "io/las/las_format.h"
#include "support/cloud_files.h"
#include "support/las_files.h"

#define POINTS 300u

static const mote_type types[] = {MOTE_INT8,   MOTE_UINT8, MOTE_INT16,  MOTE_UINT16,  MOTE_INT32,
                                  MOTE_UINT32, MOTE_INT64, MOTE_UINT64, MOTE_FLOAT32, MOTE_FLOAT64};
static const char *const names[] = {"v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9"};
#define TYPES (sizeof types / sizeof types[0])

/* The no-data value in the column of a type. */
static uint64_t no_data_of(mote_type type) {
    static const int64_t least[] = {INT8_MIN, 0, INT16_MIN, 0, INT32_MIN, 0, -9007199254740992, 0};
    static const uint64_t largest[] = {0, UINT8_MAX, 0, UINT16_MAX, 0, UINT32_MAX, 0, 9007199254740992};
    double real = type == MOTE_FLOAT32 ? (double)-9999.9f : -1e300;
    uint64_t bits;
    memcpy(&bits, &real, sizeof bits);
    if (mote_type_is_float(type)) return bits;
    return mote_type_is_signed(type) ? (uint64_t)least[type] : largest[type];
}

static mote_column_limits limits_of(mote_type type) {
    mote_column_limits limits = {.has_no_data = true, .no_data = no_data_of(type)};
    limits.has_min = type != MOTE_INT16;
    limits.has_max = type != MOTE_UINT16;
    limits.min = limits.has_min ? mote_limit_of_real(1, type) : 0;
    limits.max = limits.has_max ? mote_limit_of_real(90, type) : 0;
    return limits;
}

/* Values 1 to 90 in a column of each type, scaled; each third is missing. */
static mote_cloud *make_cloud(mote_context *ctx) {
    mote_column_spec specs[3 + TYPES];
    mote_cloud *cloud = NULL;
    for (uint32_t k = 0; k < 3; k++) specs[k] = (mote_column_spec){mote_axis_names[k], MOTE_INT32, 0.01, 0};
    for (uint32_t t = 0; t < TYPES; t++) {
        specs[3 + t] = (mote_column_spec){names[t], types[t], mote_type_is_float(types[t]) ? 1 : 0.01, 0};
    }
    assert_int_equal(mote_cloud_create(ctx, POINTS, specs, 3 + TYPES, &cloud), MOTE_OK);
    for (uint64_t i = 0; i < POINTS; i++) {
        for (uint32_t k = 0; k < 3; k++) set_value(cloud, mote_axis_names[k], i, (double)((i * (7 + 4 * k)) % 100));
        for (uint32_t t = 0; t < TYPES; t++) {
            const double missing = mote_limit_real(no_data_of(types[t]), types[t]);
            set_value(cloud, names[t], i, i % 3 == 0 ? missing : (double)(1 + i % 90));
        }
    }
    for (uint32_t t = 0; t < TYPES; t++) {
        const mote_column_limits limits = limits_of(types[t]);
        assert_int_equal(mote_cloud_set_limits(cloud, names[t], &limits), MOTE_OK);
    }
    return cloud;
}

/* Two of three values are there, and these are right. */
static void check_values(const mote_cloud *cloud, uint64_t expected) {
    const uint64_t count = mote_cloud_count(cloud);
    double *values = malloc(count * sizeof *values + 1);
    for (uint32_t t = 0; t < TYPES; t++) {
        uint64_t known = 0;
        mote_cloud_read_known(cloud, test_column(cloud, names[t]), 0, count, values);
        for (uint64_t i = 0; i < count; i++) {
            known += !isnan(values[i]);
            assert_true(isnan(values[i]) || (values[i] >= 1 && values[i] <= 90));
        }
        assert_int_equal(known, expected);
    }
    free(values);
}

static void check_limits(const mote_cloud *cloud) {
    for (uint32_t t = 0; t < TYPES; t++) {
        const mote_column_limits expected = limits_of(types[t]);
        mote_column_limits limits;
        if (!mote_cloud_limits(cloud, names[t], &limits)) fail_msg("%s has no limits", names[t]);
        assert_true(limits.has_no_data && limits.no_data == expected.no_data);
        assert_true(limits.has_min == expected.has_min && limits.min == expected.min);
        assert_true(limits.has_max == expected.has_max && limits.max == expected.max);
    }
}

static void formats_keep_them(void **state) {
    (void)state;
    static const char *const endings[] = {"limits.las", "limits.laz", "limits.ply", "limits.pcd"};
    mote_context *ctx = test_context(2);
    mote_cloud *cloud = make_cloud(ctx);
    check_limits(cloud);
    check_values(cloud, POINTS / 3 * 2);
    for (size_t e = 0; e < sizeof endings / sizeof endings[0]; e++) {
        test_write(ctx, cloud, test_path(endings[e]), NULL);
        mote_cloud *again = test_read(ctx, test_path(endings[e]));
        if (e == 2) { /* PLY has doubles in place of 64-bit integers */
            mote_column_limits limits;
            assert_true(mote_cloud_limits(again, "v6", &limits));
            assert_true(mote_limit_real(limits.no_data, test_column(again, "v6")->type) == -9007199254740992.0);
        } else {
            check_limits(again);
        }
        check_values(again, POINTS / 3 * 2);
        mote_cloud_destroy(again);
    }
    /* And from LAS to LAS, in pieces. */
    test_copy copy = {test_path("limits.las"), test_path("copied.las"), mote_write_defaults()};
    assert_int_equal(test_copy_file(ctx, &copy), MOTE_OK);
    mote_cloud *again = test_read(ctx, test_path("copied.las"));
    check_limits(again);
    mote_cloud_destroy(again);
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
}

/* The ranges that metadata.json states of an attribute, as the viewer takes them. */
static void check_metadata(const char *path) {
    char file[600];
    size_t size = 0;
    snprintf(file, sizeof file, "%s/metadata.json", path);
    char *text = test_load(file, &size);
    assert_non_null(strstr(text, "\"noData\": [\n    -32768\n   ]"));
    assert_non_null(strstr(text, "\"no_data\": \"-32768\""));
    for (uint32_t t = 0; t < TYPES; t++) {
        char name[32];
        snprintf(name, sizeof name, "\"name\": \"%s\"", names[t]);
        const char *at = strstr(text, name);
        assert_non_null(at);
        assert_true(strtod(strchr(strstr(at, "\"min\": ["), '[') + 1, NULL) == 2);
        assert_true(strtod(strchr(strstr(at, "\"max\": ["), '[') + 1, NULL) == 90);
    }
    free(text);
}

static void folders_keep_them(void **state) {
    (void)state;
    mote_context *ctx = test_context(2);
    mote_cloud *cloud = make_cloud(ctx);
    const mote_lod_params building = mote_lod_defaults();
    mote_lod *lod = NULL;
    assert_int_equal(mote_lod_build(ctx, cloud, &building, &lod), MOTE_OK);
    for (int brotli = 0; brotli < 2; brotli++) {
        mote_potree_params writing = mote_potree_defaults();
        writing.encoding = brotli ? MOTE_POTREE_BROTLI : MOTE_POTREE_DEFAULT;
        assert_int_equal(mote_potree_write(ctx, lod, test_path("limits"), &writing, NULL), MOTE_OK);
        mote_cloud *again = test_read(ctx, test_path("limits"));
        check_limits(again);
        check_values(again, POINTS / 3 * 2);
        check_metadata(test_path("limits"));
        mote_cloud_destroy(again);
    }
    mote_lod_destroy(lod);
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
}

static void text_has_nan(void **state) {
    (void)state;
    static const char *const endings[] = {"limits.csv", "limits.xyz"};
    mote_context *ctx = test_context(2);
    mote_cloud *cloud = make_cloud(ctx);
    for (int e = 0; e < 2; e++) {
        test_write(ctx, cloud, test_path(endings[e]), NULL);
        mote_cloud *again = test_read(ctx, test_path(endings[e]));
        assert_true(isnan(test_value(again, "v2", 0)) && test_value(again, "v2", 1) == 0.02);
        assert_true(isnan(test_value(again, "v8", 3)) && test_value(again, "v8", 4) == 5);
        mote_cloud_destroy(again);
    }
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
}

static void choosing_keeps_them(void **state) {
    (void)state;
    const uint64_t chosen[] = {0, 1, 5, 9};
    mote_context *ctx = test_context(2);
    mote_cloud *cloud = make_cloud(ctx), *part = NULL;
    assert_int_equal(mote_cloud_select(ctx, cloud, chosen, 4, &part), MOTE_OK);
    check_limits(part);
    check_values(part, 2);
    /* A column in the place of another knows nothing of it; limits are of columns that are there. */
    const mote_column_spec spec = {"v0", MOTE_INT16, 0, 0};
    mote_column_limits limits = limits_of(MOTE_INT16);
    assert_int_equal(mote_cloud_put_column(part, &spec), MOTE_OK);
    assert_false(mote_cloud_limits(part, "v0", &limits));
    limits = limits_of(MOTE_INT16);
    assert_int_equal(mote_cloud_set_limits(part, "none", &limits), MOTE_ERROR_ARGUMENT);
    mote_context_clear(ctx);
    limits.reserved[1] = 1;
    assert_int_equal(mote_cloud_set_limits(part, "v0", &limits), MOTE_ERROR_ARGUMENT);
    mote_context_clear(ctx);
    assert_int_equal(mote_cloud_set_limits(part, "v1", NULL), MOTE_OK);
    assert_false(mote_cloud_limits(part, "v1", &limits));
    mote_cloud_destroy(part);
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
}

/* A folder rounds 64-bit integers to doubles: their no-data value is rounded with them. */
static void folders_round_them(void **state) {
    (void)state;
    static const struct {
        mote_type type;
        uint64_t no_data, other;
    } cases[] = {{MOTE_INT64, (uint64_t)INT64_MIN + 1, 7},
                 {MOTE_INT64, 1000000000000000001, 7},
                 {MOTE_INT64, 1000000000000000001, 1ull << 60},
                 {MOTE_INT64, INT64_MAX, 7},
                 {MOTE_UINT64, UINT64_MAX - 1, 7},
                 {MOTE_UINT64, UINT64_MAX - 1, 1ull << 60},
                 {MOTE_UINT64, 1000000000000000001, 7}};
    mote_context *ctx = test_context(2);
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        const mote_column_spec specs[] = {{"x", MOTE_INT32, 0.01, 0},
                                          {"y", MOTE_INT32, 0.01, 0},
                                          {"z", MOTE_INT32, 0.01, 0},
                                          {"v", cases[c].type, 1, 0}};
        const mote_column_limits limits = {.has_no_data = true, .no_data = cases[c].no_data};
        mote_cloud *cloud = NULL;
        mote_lod *lod = NULL;
        double values[9];
        uint64_t known = 0;
        assert_int_equal(mote_cloud_create(ctx, 9, specs, 4, &cloud), MOTE_OK);
        for (uint64_t i = 0; i < 9; i++) {
            const uint64_t value = i % 3 == 0 ? cases[c].no_data : cases[c].other;
            set_value(cloud, "x", i, (double)i);
            memcpy((uint8_t *)mote_cloud_column_data(cloud, "v") + i * test_column(cloud, "v")->stride_bytes, &value,
                   sizeof value);
        }
        assert_int_equal(mote_cloud_set_limits(cloud, "v", &limits), MOTE_OK);
        assert_int_equal(mote_lod_build(ctx, cloud, NULL, &lod), MOTE_OK);
        assert_int_equal(mote_potree_write(ctx, lod, test_path("rounded"), NULL, NULL), MOTE_OK);
        mote_cloud *again = test_read(ctx, test_path("rounded"));
        mote_cloud_read_known(again, test_column(again, "v"), 0, 9, values);
        for (uint64_t i = 0; i < 9; i++) known += values[i] == (double)cases[c].other;
        assert_int_equal(known, 6);
        for (uint64_t i = 0; i < 9; i++) known += isnan(values[i]);
        assert_int_equal(known, 9);
        mote_cloud_destroy(again);
        mote_lod_destroy(lod);
        mote_cloud_destroy(cloud);
    }
    mote_context_destroy(ctx);
}

static void inputs_must_agree(void **state) {
    (void)state;
    static const char *const of[] = {"one", "two"};
    char message[TEST_MESSAGE_BYTES];
    mote_context *ctx = test_context_listening(message);
    mote_cloud *two[] = {make_cloud(ctx), make_cloud(ctx)}, *merged = NULL;
    mote_column_limits limits = limits_of(MOTE_INT32);
    limits.max = 200; /* the wider of both */
    assert_int_equal(mote_cloud_set_limits(two[1], "v4", &limits), MOTE_OK);
    limits = limits_of(MOTE_INT16);
    limits.no_data = 5;
    assert_int_equal(mote_cloud_set_limits(two[1], "v2", &limits), MOTE_OK);
    message[0] = '\0';
    assert_int_equal(mote_cloud_merge(ctx, two, of, 2, &merged), MOTE_OK);
    assert_non_null(strstr(message, "one and two differ in the no-data value of \"v2\""));
    assert_false(mote_cloud_limits(merged, "v2", &limits));
    assert_true(mote_cloud_limits(merged, "v4", &limits));
    assert_int_equal(limits.max, 200);
    assert_true(mote_cloud_limits(merged, "v6", &limits));
    assert_int_equal(limits.no_data, no_data_of(MOTE_INT64));
    for (int i = 0; i < 2; i++) mote_cloud_destroy(two[i]);
    mote_cloud_destroy(merged);
    mote_context_destroy(ctx);
}

/* Vectors, which LAS had once, have three of each. */
static void vectors_have_theirs(void **state) {
    (void)state;
    mote_context *ctx = test_context(1);
    const mote_column_spec specs[] = {
        {"x", MOTE_INT32, 0.01, 0}, {"y", MOTE_INT32, 0.01, 0}, {"z", MOTE_INT32, 0.01, 0}, {"v", MOTE_INT64, 0, 0}};
    mote_cloud *cloud = NULL;
    assert_int_equal(mote_cloud_create(ctx, 2, specs, 4, &cloud), MOTE_OK);
    test_write(ctx, cloud, test_path("vector.las"), NULL);
    mote_cloud_destroy(cloud);
    file_bytes file = load(test_path("vector.las"));
    uint8_t *const entry = file.data + las_u32(file.data + LAS_AT_POINTS_AT) - LAS_EXTRA_BYTES;
    entry[2] = 24; /* three int16; two bytes of the record are left */
    entry[3] = 1 | 4;
    for (uint64_t k = 0; k < 3; k++) {
        las_put(entry + 40 + 8 * k, (uint64_t) - (int64_t)(k + 1), 8);
        las_put(entry + 88 + 8 * k, 10 + k, 8);
    }
    test_write_file(test_path("vector.las"), file.data, file.size);
    free(file.data);
    cloud = test_read(ctx, test_path("vector.las"));
    for (int k = 0; k < 3; k++) {
        char name[8];
        mote_column_limits limits;
        snprintf(name, sizeof name, "v[%d]", k);
        assert_true(mote_cloud_limits(cloud, name, &limits));
        assert_true(limits.has_no_data && !limits.has_min && limits.has_max);
        assert_int_equal((int64_t)limits.no_data, -(k + 1));
        assert_int_equal(limits.max, 10 + k);
    }
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(formats_keep_them),   cmocka_unit_test(folders_keep_them),
        cmocka_unit_test(text_has_nan),        cmocka_unit_test(choosing_keeps_them),
        cmocka_unit_test(folders_round_them),  cmocka_unit_test(inputs_must_agree),
        cmocka_unit_test(vectors_have_theirs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
