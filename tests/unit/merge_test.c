/* Several clouds as one: columns, types, colours, systems, records; and many points. */
#include <stdio.h>
#include <string.h>

#include "io/io_internal.h"
#include "unit/merge_test.h"

/* ---- clouds made in place */

static void make_bare(made *m, mote_context *ctx) {
    memset(m, 0, sizeof *m);
    m->ctx = ctx;
}

mote_column *made_add(made *m, const char *name, mote_type type, const void *values) {
    mote_column *column = &m->columns[m->column_count];
    memcpy(m->values[m->column_count++], values, POINTS * (size_t)mote_type_size(type));
    column->name = name;
    column->type = type;
    column->data = m->values[m->column_count - 1];
    return column;
}

void made_add_lattice(made *m, double scale, double offset, int32_t first) {
    static const char *const names[3] = {"x", "y", "z"};
    for (int k = 0; k < 3; k++) {
        int32_t steps[POINTS];
        for (int i = 0; i < POINTS; i++) steps[i] = first + 10 * i + k;
        mote_column *column = made_add(m, names[k], MOTE_INT32, steps);
        column->scale = scale;
        column->offset = offset;
    }
}

static mote_cloud *finish(made *m) {
    assert_int_equal(mote_cloud_wrap(m->ctx, POINTS, m->columns, m->column_count, &m->cloud), MOTE_OK);
    return m->cloud;
}

static void note_warning(void *user, mote_log_level level, const char *message) {
    (void)level;
    couple *two = user;
    strncat(two->warnings, message, sizeof two->warnings - strlen(two->warnings) - 2);
    strcat(two->warnings, "\n");
}

void couple_open(couple *two) {
    memset(two, 0, sizeof *two);
    mote_context_params params = mote_context_defaults();
    params.threads = 2;
    params.log = note_warning;
    params.log_user = two;
    assert_int_equal(mote_context_create(&params, &two->ctx), MOTE_OK);
    make_bare(&two->a, two->ctx);
    make_bare(&two->b, two->ctx);
}

static void open_positioned(couple *two) {
    couple_open(two);
    made_add_lattice(&two->a, 0.001, 500000, 100);
    made_add_lattice(&two->b, 0.001, 500000, 900);
}

mote_status couple_merge(couple *two) {
    static const char *const names[] = {"first.las", "second.las"};
    if (two->a.cloud == NULL) finish(&two->a);
    if (two->b.cloud == NULL) finish(&two->b);
    mote_cloud *clouds[2] = {two->a.cloud, two->b.cloud};
    return mote_cloud_merge(two->ctx, clouds, names, 2, &two->merged);
}

void couple_close(couple *two) {
    mote_cloud_destroy(two->merged);
    mote_cloud_destroy(two->a.cloud);
    mote_cloud_destroy(two->b.cloud);
    assert_int_equal(mote_context_memory_bytes(two->ctx), 0);
    mote_context_destroy(two->ctx);
}

double couple_value(const couple *two, const char *name, uint64_t i) {
    const mote_column *column = mote_cloud_find(two->merged, name);
    assert_non_null(column);
    return mote_column_value(column, i);
}

mote_type couple_type(const couple *two, const char *name) { return mote_cloud_find(two->merged, name)->type; }

/* ---- types */

static void promotes_types(void **state) {
    (void)state;
    static const struct promotion {
        mote_type a, b, merged;
    } rows[] = {
        {MOTE_INT8, MOTE_UINT8, MOTE_INT16},        {MOTE_UINT8, MOTE_INT16, MOTE_INT16},
        {MOTE_UINT16, MOTE_INT16, MOTE_INT32},      {MOTE_UINT32, MOTE_INT8, MOTE_INT64},
        {MOTE_UINT8, MOTE_UINT32, MOTE_UINT32},     {MOTE_INT64, MOTE_INT8, MOTE_INT64},
        {MOTE_INT64, MOTE_UINT64, MOTE_FLOAT64},    {MOTE_UINT8, MOTE_FLOAT32, MOTE_FLOAT64},
        {MOTE_FLOAT32, MOTE_FLOAT32, MOTE_FLOAT32}, {MOTE_FLOAT32, MOTE_FLOAT64, MOTE_FLOAT64},
    };
    for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
        for (int swap = 0; swap < 2; swap++) {
            couple two;
            uint8_t one[8 * POINTS] = {0};
            open_positioned(&two);
            made_add(&two.a, "v", swap ? rows[r].b : rows[r].a, one);
            made_add(&two.b, "v", swap ? rows[r].a : rows[r].b, one);
            assert_int_equal(couple_merge(&two), MOTE_OK);
            assert_int_equal(couple_type(&two, "v"), rows[r].merged);
            assert_int_equal(couple_type(&two, "x"), MOTE_INT32);
            couple_close(&two);
        }
    }
}

static void keeps_values(void **state) {
    (void)state;
    static const int8_t low[POINTS] = {-128, -1, 0, 127};
    static const uint8_t high[POINTS] = {0, 1, 128, 255};
    couple two;
    open_positioned(&two);
    made_add(&two.a, "v", MOTE_INT8, low);
    made_add(&two.b, "v", MOTE_UINT8, high);
    assert_int_equal(couple_merge(&two), MOTE_OK);
    assert_int_equal(mote_cloud_count(two.merged), 2 * POINTS);
    for (uint64_t i = 0; i < POINTS; i++) {
        assert_float_equal(couple_value(&two, "v", i), low[i], 0);
        assert_float_equal(couple_value(&two, "v", POINTS + i), high[i], 0);
        assert_true(couple_value(&two, "x", i) == (100 + 10 * (double)i) * 0.001 + 500000);
        assert_true(couple_value(&two, "z", POINTS + i) == (902 + 10 * (double)i) * 0.001 + 500000);
    }
    assert_string_equal(two.warnings, "");
    couple_close(&two);
}

static void refuses_lossy_doubles(void **state) {
    (void)state;
    static const uint64_t fine[POINTS] = {1ull << 63, 1ull << 53, (1ull << 53) + 2, 7};
    static const uint64_t lossy[POINTS] = {0, (1ull << 53) + 1, 0, 0};
    static const int64_t other[POINTS] = {INT64_MIN, -1, 0, 1};
    for (int bad = 0; bad < 2; bad++) {
        couple two;
        open_positioned(&two);
        made_add(&two.a, "v", MOTE_INT64, other);
        made_add(&two.b, "v", MOTE_UINT64, bad ? lossy : fine);
        assert_int_equal(couple_merge(&two), bad ? MOTE_ERROR_ARGUMENT : MOTE_OK);
        if (bad) {
            assert_null(two.merged);
            assert_non_null(strstr(mote_context_message(two.ctx), "second.las"));
            assert_non_null(strstr(mote_context_message(two.ctx), "\"v\""));
        } else {
            assert_float_equal(couple_value(&two, "v", 0), -0x1p63, 0);
            assert_float_equal(couple_value(&two, "v", POINTS), 0x1p63, 0);
            assert_float_equal(couple_value(&two, "v", POINTS + 2), 0x1p53 + 2, 0);
        }
        couple_close(&two);
    }
}

static void makes_bits_whole(void **state) {
    (void)state;
    static const uint8_t packed[POINTS] = {0x21, 0xFF, 0x08, 0x55}, whole[POINTS] = {250, 0, 1, 2};
    couple two;
    open_positioned(&two);
    mote_column *column = made_add(&two.a, "v", MOTE_UINT8, packed);
    column->bit_shift = 4, column->bit_count = 3;
    made_add(&two.b, "v", MOTE_UINT8, whole);
    assert_int_equal(couple_merge(&two), MOTE_OK);
    assert_int_equal(mote_cloud_find(two.merged, "v")->bit_count, 0);
    static const double expected[] = {2, 7, 0, 5, 250, 0, 1, 2};
    for (uint64_t i = 0; i < 2 * POINTS; i++) assert_float_equal(couple_value(&two, "v", i), expected[i], 0);
    couple_close(&two);
}

static void fills_missing_with_zero(void **state) {
    (void)state;
    static const uint16_t values[POINTS] = {1, 2, 3, 4};
    couple two;
    open_positioned(&two);
    made_add(&two.b, "heat", MOTE_UINT16, values);
    made_add(&two.a, "cold", MOTE_UINT16, values)->offset = 5; /* stored 0 would not be 0 */
    assert_int_equal(couple_merge(&two), MOTE_OK);
    assert_int_equal(couple_type(&two, "heat"), MOTE_UINT16);
    assert_float_equal(couple_value(&two, "heat", 0), 0, 0);
    assert_float_equal(couple_value(&two, "heat", POINTS + 3), 4, 0);
    assert_float_equal(couple_value(&two, "cold", 0), 6, 0);
    assert_float_equal(couple_value(&two, "cold", POINTS), 0, 0);
    assert_non_null(strstr(
        two.warnings, "first.las: lacks attributes that other inputs have; they are 0 for its points: \"heat\"\n"));
    assert_non_null(strstr(
        two.warnings, "second.las: lacks attributes that other inputs have; they are 0 for its points: \"cold\"\n"));
    couple_close(&two);
}

static void lists_many_missing(void **state) {
    (void)state;
    mote_column columns[60];
    char names[60][40];
    static const uint8_t values[POINTS] = {1, 2, 3, 4};
    couple two;
    open_positioned(&two);
    memset(columns, 0, sizeof columns);
    memcpy(columns, two.b.columns, 3 * sizeof columns[0]);
    for (int i = 3; i < 60; i++) {
        snprintf(names[i], sizeof names[i], "an_attribute_with_a_long_name_%d", i);
        columns[i].name = names[i];
        columns[i].type = MOTE_UINT8;
        columns[i].data = values;
    }
    assert_int_equal(mote_cloud_wrap(two.ctx, POINTS, columns, 60, &two.b.cloud), MOTE_OK);
    assert_int_equal(couple_merge(&two), MOTE_OK);
    assert_non_null(strstr(two.warnings, "long_name_3\", "));
    assert_non_null(strstr(two.warnings, " ...\n"));
    assert_null(strstr(two.warnings, "... ..."));
    assert_float_equal(couple_value(&two, names[59], POINTS + 2), 3, 0);
    couple_close(&two);
}

static void joins_scales_as_double(void **state) {
    (void)state;
    static const int16_t a[POINTS] = {-100, 0, 1, 2}, b[POINTS] = {3, 4, 5, 6};
    couple two;
    open_positioned(&two);
    made_add(&two.a, "scan_angle", MOTE_INT16, a)->scale = 0.006;
    made_add(&two.b, "scan_angle", MOTE_INT16, b);
    assert_int_equal(couple_merge(&two), MOTE_OK);
    assert_int_equal(couple_type(&two, "scan_angle"), MOTE_FLOAT64);
    assert_true(couple_value(&two, "scan_angle", 0) == -100 * 0.006);
    assert_true(couple_value(&two, "scan_angle", POINTS) == 3);
    couple_close(&two);
}

static void keeps_equal_scales(void **state) {
    (void)state;
    static const int16_t a[POINTS] = {-100, 0, 1, 2};
    static const int32_t b[POINTS] = {3, 4, 5, 100000};
    couple two;
    open_positioned(&two);
    made_add(&two.a, "t", MOTE_INT16, a)->scale = 0.25;
    made_add(&two.b, "t", MOTE_INT32, b)->scale = 0.25;
    assert_int_equal(couple_merge(&two), MOTE_OK);
    assert_int_equal(couple_type(&two, "t"), MOTE_INT32);
    assert_float_equal(mote_cloud_find(two.merged, "t")->scale, 0.25, 0);
    assert_float_equal(couple_value(&two, "t", 2 * POINTS - 1), 25000, 0);
    couple_close(&two);
}

/* ---- colours */

static void add_colors(made *m, mote_type type, uint16_t max) {
    static const char *const names[] = {"red", "green", "blue"};
    for (int k = 0; k < 3; k++) {
        uint16_t wide[POINTS] = {0, 1, 2, max};
        uint8_t narrow[POINTS] = {0, 1, 2, (uint8_t)max};
        made_add(m, names[k], type, type == MOTE_UINT16 ? (void *)wide : (void *)narrow);
    }
}

static void widens_colors(void **state) {
    (void)state;
    static const struct row {
        mote_type a, b;
        uint16_t max_a, max_b;
        double white_a, white_b;
        mote_type merged;
    } rows[] = {
        {MOTE_UINT8, MOTE_UINT16, 255, 65535, 65535, 65535, MOTE_UINT16},
        {MOTE_UINT16, MOTE_UINT16, 255, 256, 65535, 256, MOTE_UINT16},
        {MOTE_UINT16, MOTE_UINT8, 40000, 200, 40000, 200 * 257.0, MOTE_UINT16},
        {MOTE_UINT8, MOTE_UINT16, 255, 255, 255, 255, MOTE_UINT16},
        {MOTE_UINT8, MOTE_UINT8, 255, 254, 255, 254, MOTE_UINT8},
        {MOTE_UINT16, MOTE_UINT16, 300, 65535, 300, 65535, MOTE_UINT16},
    };
    for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
        couple two;
        open_positioned(&two);
        add_colors(&two.a, rows[r].a, rows[r].max_a);
        add_colors(&two.b, rows[r].b, rows[r].max_b);
        assert_int_equal(couple_merge(&two), MOTE_OK);
        assert_int_equal(couple_type(&two, "green"), rows[r].merged);
        assert_float_equal(couple_value(&two, "green", POINTS - 1), rows[r].white_a, 0);
        assert_float_equal(couple_value(&two, "blue", 2 * POINTS - 1), rows[r].white_b, 0);
        const bool widened = rows[r].white_a != rows[r].max_a || rows[r].white_b != rows[r].max_b;
        assert_true((strstr(two.warnings, "8-bit") != NULL) == widened);
        couple_close(&two);
    }
}

/* ---- systems, records, headers */

static void merges_systems(void **state) {
    (void)state;
    static const char wkt[] = "PROJCS[\"WGS 84 / UTM zone 33N\",GEOGCS[\"WGS 84\",AUTHORITY[\"EPSG\",\"4326\"]],"
                              "AUTHORITY[\"EPSG\",\"32633\"]]";
    static const struct row {
        const char *a, *b, *merged;
        const char *warned;
    } rows[] = {
        {"", "", "", NULL},
        {"EPSG:32633", "EPSG:32633", "EPSG:32633", NULL},
        {"EPSG:32633", wkt, "EPSG:32633", NULL},
        {"", "EPSG:32633", "EPSG:32633", "first.las: has no coordinate"},
        {"EPSG:32633", "", "EPSG:32633", "second.las: has no coordinate"},
        {"EPSG:32633", "EPSG:32632", NULL, NULL},
        {wkt, "EPSG:4326", NULL, NULL},
        {"LOCAL_CS[\"a\"]", "LOCAL_CS[\"b\"]", NULL, NULL},
    };
    for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
        couple two;
        open_positioned(&two);
        assert_int_equal(mote_cloud_set_crs(finish(&two.a), rows[r].a), MOTE_OK);
        assert_int_equal(mote_cloud_set_crs(finish(&two.b), rows[r].b), MOTE_OK);
        assert_int_equal(couple_merge(&two), rows[r].merged != NULL ? MOTE_OK : MOTE_ERROR_ARGUMENT);
        if (rows[r].merged != NULL) {
            assert_string_equal(mote_cloud_crs(two.merged), rows[r].merged);
        } else {
            assert_non_null(strstr(mote_context_message(two.ctx), "first.las"));
            assert_non_null(strstr(mote_context_message(two.ctx), "second.las"));
        }
        assert_true(rows[r].warned == NULL || strstr(two.warnings, rows[r].warned) != NULL);
        assert_true(rows[r].warned != NULL || two.warnings[0] == '\0');
        couple_close(&two);
    }
}

static void add_record(mote_cloud *cloud, const char *user_id, uint16_t id, const char *data) {
    mote_record record;
    memset(&record, 0, sizeof record);
    snprintf(record.user_id, sizeof record.user_id, "%s", user_id);
    record.record_id = id;
    record.data = data;
    record.size_bytes = strlen(data);
    assert_int_equal(mote_cloud_add_record(cloud, &record), MOTE_OK);
}

static void merges_records_and_headers(void **state) {
    (void)state;
    for (int other_format = 0; other_format < 2; other_format++) {
        couple two;
        open_positioned(&two);
        mote_cloud *a = finish(&two.a), *b = finish(&two.b);
        add_record(a, "me", 1, "same");
        add_record(a, "me", 2, "mine");
        add_record(b, "me", 1, "same");
        add_record(b, "me", 2, "yours");
        add_record(b, "you", 1, "same");
        a->las.present = b->las.present = true;
        a->las.format = 7, b->las.format = (uint8_t)(7 + other_format);
        a->las.file_source_id = 42;
        assert_int_equal(couple_merge(&two), MOTE_OK);
        assert_int_equal(mote_cloud_record_count(two.merged), 4);
        assert_memory_equal(mote_cloud_record(two.merged, 2)->data, "yours", 5);
        assert_string_equal(mote_cloud_record(two.merged, 3)->user_id, "you");
        assert_true(two.merged->las.present == (other_format == 0));
        if (other_format == 0) assert_int_equal(two.merged->las.file_source_id, 42);
        couple_close(&two);
    }
}

/* ---- many points */

/* Three clouds of different make, with more points than a piece. */
static mote_status merge_generated(mote_context *ctx, uint64_t count, mote_cloud **out) {
    static const char *const kinds[] = {"city", "room", "city"};
    static const char *const names[] = {"a", "b", "c"};
    mote_cloud *clouds[3] = {NULL, NULL, NULL};
    mote_status status = MOTE_OK;
    *out = NULL;
    for (int i = 0; i < 3 && status == MOTE_OK; i++) {
        mote_gen_params params = mote_gen_defaults(kinds[i]);
        params.seed += (uint64_t)i;
        status = mote_generate(ctx, kinds[i], count + (uint64_t)i, &params, &clouds[i]);
    }
    if (status == MOTE_OK) status = mote_cloud_merge(ctx, clouds, names, 3, out);
    for (int i = 0; i < 3; i++) mote_cloud_destroy(clouds[i]);
    return status;
}

static void threads_do_not_matter(void **state) {
    (void)state;
    static const int threads[] = {1, 2, 7};
    uint64_t hashes[3];
    for (int i = 0; i < 3; i++) {
        mote_context *ctx = test_context(threads[i]);
        mote_cloud *merged = NULL;
        assert_int_equal(merge_generated(ctx, 10000, &merged), MOTE_OK);
        assert_int_equal(mote_cloud_count(merged), 30003);
        assert_non_null(mote_cloud_find(merged, "plane"));
        assert_int_equal(mote_cloud_hash(ctx, merged, &hashes[i]), MOTE_OK);
        assert_true(hashes[i] == hashes[0]);
        mote_cloud_destroy(merged);
        mote_context_destroy(ctx);
    }
}

static mote_status merge_some(mote_context *ctx, void *user) {
    mote_cloud *merged = NULL;
    const mote_status status = merge_generated(ctx, *(const uint64_t *)user, &merged);
    assert_true((merged != NULL) == (status == MOTE_OK));
    mote_cloud_destroy(merged);
    return status;
}

static void survives_failing_allocations(void **state) {
    (void)state;
    uint64_t count = 50;
    test_each_allocation_fails(merge_some, &count);
}

static void can_be_cancelled(void **state) {
    (void)state;
    uint64_t count = 2000;
    test_each_step_cancels(merge_some, &count);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(promotes_types),
        cmocka_unit_test(keeps_values),
        cmocka_unit_test(refuses_lossy_doubles),
        cmocka_unit_test(makes_bits_whole),
        cmocka_unit_test(fills_missing_with_zero),
        cmocka_unit_test(lists_many_missing),
        cmocka_unit_test(joins_scales_as_double),
        cmocka_unit_test(keeps_equal_scales),
        cmocka_unit_test(finds_the_common_lattice),
        cmocka_unit_test(moves_the_origin),
        cmocka_unit_test(falls_back_to_double),
        cmocka_unit_test(mixes_forms_of_positions),
        cmocka_unit_test(needs_positions),
        cmocka_unit_test(widens_colors),
        cmocka_unit_test(merges_systems),
        cmocka_unit_test(merges_records_and_headers),
        cmocka_unit_test(threads_do_not_matter),
        cmocka_unit_test(survives_failing_allocations),
        cmocka_unit_test(can_be_cancelled),
        cmocka_unit_test(names_what_is_missing),
        cmocka_unit_test(expands_folders_and_patterns),
        cmocka_unit_test(lists_survive_failing_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
