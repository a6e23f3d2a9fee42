/* LAS: real files there and back, the writer's choices, coordinates. */
#include <math.h>

#include "unit/las_test.h"

bool las_same_record(const mote_record *a, const mote_record *b) {
    return memcmp(a->user_id, b->user_id, 16) == 0 && a->record_id == b->record_id && a->extended == b->extended &&
           strcmp(a->description, b->description) == 0 && a->size_bytes == b->size_bytes &&
           memcmp(a->data, b->data, a->size_bytes) == 0;
}

/* A cloud like another, but with each column dense in memory of its own, bit fields unpacked. */
static mote_cloud *unpacked(mote_context *ctx, const mote_cloud *cloud) {
    mote_cloud *copy = NULL;
    assert_int_equal(mote_cloud_new(ctx, cloud->count, &copy), MOTE_OK);
    for (uint32_t i = 0; i < cloud->column_count; i++) {
        const mote_column *column = &cloud->columns[i];
        const mote_column_spec spec = {column->name, column->type, column->scale, column->offset};
        assert_int_equal(mote_cloud_add_column(copy, &spec), MOTE_OK);
        mote_column_read(column, 0, cloud->count, column->type, mote_cloud_column_data(copy, column->name));
    }
    assert_int_equal(mote_cloud_copy_extras(copy, cloud), MOTE_OK);
    return copy;
}

/* The point records of two files are the same bytes. */
static void assert_same_points(const char *path_a, const char *path_b) {
    const file_bytes a = load(path_a), b = load(path_b);
    const uint32_t at_a = las_u32(a.data + 96), at_b = las_u32(b.data + 96);
    const uint16_t bytes = las_u16(a.data + 105);
    uint64_t count = las_u32(a.data + 107);
    if (a.data[25] >= 4 && las_u64(a.data + 247) != 0) count = las_u64(a.data + 247);
    assert_int_equal(bytes, las_u16(b.data + 105));
    assert_int_equal(a.data[104], b.data[104]);
    assert_true(at_b + count * bytes <= b.size);
    assert_memory_equal(a.data + at_a, b.data + at_b, count * bytes);
    free(a.data);
    free(b.data);
}

static void check_round_trip(mote_context *ctx, const char *path, uint64_t points) {
    mote_cloud *cloud = read_ok(ctx, path);
    assert_int_equal(mote_cloud_count(cloud), points);
    const char *out = test_path("round.las"), *slow = test_path("slow.las");
    write_ok(ctx, cloud, out, NULL);
    assert_same_points(path, out);
    mote_cloud *copy = unpacked(ctx, cloud);
    write_ok(ctx, copy, slow, NULL);
    assert_same_points(path, slow);
    mote_cloud_destroy(copy);

    mote_cloud *back = read_ok(ctx, out);
    uint64_t hash[2];
    assert_int_equal(mote_cloud_hash(ctx, cloud, &hash[0]), MOTE_OK);
    assert_int_equal(mote_cloud_hash(ctx, back, &hash[1]), MOTE_OK);
    assert_int_equal(hash[0], hash[1]);
    assert_string_equal(mote_cloud_crs(cloud), mote_cloud_crs(back));
    assert_int_equal(cloud->record_count, back->record_count);
    for (uint32_t i = 0; i < cloud->record_count; i++) {
        assert_true(las_same_record(mote_cloud_record(cloud, i), mote_cloud_record(back, i)));
    }
    const char *again = test_path("again.las");
    write_ok(ctx, back, again, NULL);
    assert_same_file(out, again);
    mote_cloud_destroy(back);
    mote_cloud_destroy(cloud);
}

static void real_files_round_trip(void **state) {
    (void)state;
    const char *manifest_path = test_data("MANIFEST.md");
    if (manifest_path == NULL) skip();
    mote_context *ctx = test_context(2);
    FILE *manifest = fopen(manifest_path, "r");
    assert_non_null(manifest);
    char line[4096], name[256];
    int files = 0;
    while (fgets(line, sizeof line, manifest) != NULL) {
        unsigned long long points;
        if (sscanf(line, "| %255s | %*u | %*s | %llu |", name, &points) != 2 || strncmp(name, "las/", 4) != 0) continue;
        check_round_trip(ctx, test_data(name), points);
        files++;
    }
    fclose(manifest);
    assert_true(files > 40);
    assert_int_equal(mote_context_memory_bytes(ctx), 0);
    mote_context_destroy(ctx);
}

/* ---- what the writer chooses */

mote_cloud *las_cloud_with(mote_context *ctx, const mote_column_spec *more, uint32_t count) {
    mote_column_spec specs[16] = {{"x", MOTE_INT32, 0.01, 0}, {"y", MOTE_INT32, 0.01, 0}, {"z", MOTE_INT32, 0.01, 0}};
    for (uint32_t i = 0; i < count; i++) specs[3 + i] = more[i];
    mote_cloud *cloud = NULL;
    assert_int_equal(mote_cloud_create(ctx, 3, specs, 3 + count, &cloud), MOTE_OK);
    return cloud;
}

las_written las_write_and_look(mote_context *ctx, const mote_cloud *cloud) {
    write_ok(ctx, cloud, test_path("choice.las"), NULL);
    const file_bytes file = load(test_path("choice.las"));
    const las_written found = {file.data[25], file.data[104], las_u16(file.data + 105)};
    free(file.data);
    return found;
}

static void smallest_format_is_chosen(void **state) {
    (void)state;
    static const struct {
        const char *names[4];
        uint8_t minor, format;
    } cases[] = {
        {{"intensity"}, 2, 0},
        {{"gps_time"}, 2, 1},
        {{"red"}, 2, 2},
        {{"blue", "gps_time"}, 2, 3},
        {{"wave_packet_index"}, 3, 4},
        {{"wave_x", "green"}, 3, 5},
        {{"overlap"}, 4, 6},
        {{"scanner_channel", "red"}, 4, 7},
        {{"nir"}, 4, 8},
        {{"scan_angle", "wave_z"}, 4, 9},
        {{"nir", "wave_z"}, 4, 10},
        {{"scan_angle_rank"}, 2, 0},
    };
    mote_context *ctx = test_context(1);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        mote_column_spec more[4];
        uint32_t count = 0;
        for (; count < 4 && cases[i].names[count] != NULL; count++) {
            const bool wave = strncmp(cases[i].names[count], "wave_x", 5) == 0 && cases[i].names[count][5] != 'p';
            const mote_column_spec spec = {cases[i].names[count], wave ? MOTE_FLOAT32 : MOTE_UINT8, 0, 0};
            more[count] = spec;
        }
        mote_cloud *cloud = las_cloud_with(ctx, more, count);
        const las_written found = las_write_and_look(ctx, cloud);
        assert_int_equal(found.minor, cases[i].minor);
        assert_int_equal(found.format, cases[i].format);
        assert_int_equal(found.bytes, mote_las_record_bytes(found.format));
        mote_cloud_destroy(cloud);
    }
    mote_context_destroy(ctx);
}

/* One column with one value that decides. */
static void values_choose_the_format(void **state) {
    (void)state;
    static const struct {
        const char *name;
        mote_type type;
        double value;
        uint8_t format;
        uint16_t extra;
    } cases[] = {
        {"classification", MOTE_UINT8, 31, 0, 0},  {"classification", MOTE_UINT8, 40, 6, 0},
        {"classification", MOTE_INT32, 255, 6, 0}, {"classification", MOTE_INT32, 256, 0, 4},
        {"return_number", MOTE_UINT8, 7, 0, 0},    {"return_number", MOTE_UINT8, 9, 6, 0},
        {"return_number", MOTE_UINT8, 16, 0, 1},   {"number_of_returns", MOTE_FLOAT64, 15, 6, 0},
        {"intensity", MOTE_FLOAT64, 65535, 0, 0},  {"intensity", MOTE_FLOAT64, 70000, 0, 8},
        {"intensity", MOTE_FLOAT32, -40, 0, 4},    {"intensity", MOTE_INT16, -1, 0, 2},
        {"withheld", MOTE_UINT8, 1, 0, 0},         {"withheld", MOTE_UINT8, 2, 0, 1},
        {"user_data", MOTE_INT8, -3, 0, 1},        {"scan_angle", MOTE_FLOAT64, 15, 6, 0},
    };
    mote_context *ctx = test_context(2);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const mote_column_spec spec = {cases[i].name, cases[i].type, 0, 0};
        mote_cloud *cloud = las_cloud_with(ctx, &spec, 1);
        set_value(cloud, cases[i].name, 1, cases[i].value);
        const las_written found = las_write_and_look(ctx, cloud);
        assert_int_equal(found.format, cases[i].format);
        assert_int_equal(found.bytes, mote_las_record_bytes(found.format) + cases[i].extra);
        mote_cloud *back = read_ok(ctx, test_path("choice.las"));
        char name[64];
        snprintf(name, sizeof name, cases[i].extra > 0 ? "%s_2" : "%s", cases[i].name);
        assert_near(mote_column_value(mote_cloud_find(back, name), 1), cases[i].value, 1e-9);
        mote_cloud_destroy(back);
        mote_cloud_destroy(cloud);
    }
    mote_context_destroy(ctx);
}

static void colors_are_widened(void **state) {
    (void)state;
    mote_context *ctx = test_context(1);
    const mote_column_spec more[] = {
        {"red", MOTE_UINT8, 0, 0}, {"green", MOTE_FLOAT32, 0, 0}, {"blue", MOTE_UINT16, 0, 0}};
    mote_cloud *cloud = las_cloud_with(ctx, more, 3);
    set_value(cloud, "red", 1, 255);
    set_value(cloud, "green", 1, 1);
    set_value(cloud, "green", 2, 0.5);
    set_value(cloud, "blue", 1, 255);
    assert_int_equal(las_write_and_look(ctx, cloud).format, 2);
    mote_cloud *back = read_ok(ctx, test_path("choice.las"));
    assert_near(mote_column_value(mote_cloud_find(back, "red"), 1), 65535, 0);
    assert_near(mote_column_value(mote_cloud_find(back, "green"), 1), 65535, 0);
    assert_near(mote_column_value(mote_cloud_find(back, "green"), 2), 32768, 0);
    assert_near(mote_column_value(mote_cloud_find(back, "blue"), 1), 255, 0);
    mote_cloud_destroy(back);
    set_value(cloud, "green", 2, NAN); /* black */
    assert_int_equal(las_write_and_look(ctx, cloud).bytes, 26);
    set_value(cloud, "green", 2, -0.5); /* no colour of LAS: the floats are kept as they are */
    assert_int_equal(las_write_and_look(ctx, cloud).bytes, 26 + 4);
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
}

void las_assert_refused(mote_context *ctx, const mote_cloud *cloud, const mote_write_params *params, mote_status status,
                        const char *part) {
    const char *path = test_path("refused.las");
    assert_int_equal(mote_cloud_write(ctx, cloud, path, params), status);
    if (strstr(mote_context_message(ctx), part) == NULL) {
        fail_msg("\"%s\" lacks \"%s\"", mote_context_message(ctx), part);
    }
    FILE *file = fopen(path, "rb");
    assert_null(file);
    mote_context_clear(ctx);
}

static void forced_choices(void **state) {
    (void)state;
    mote_context *ctx = test_context(1);
    const mote_column_spec more[] = {{"classification", MOTE_UINT8, 0, 0},
                                     {"overlap", MOTE_UINT8, 0, 0},
                                     {"gps_time", MOTE_FLOAT64, 0, 0},
                                     {"scan_angle", MOTE_INT16, 0.006, 0}};
    mote_cloud *cloud = las_cloud_with(ctx, more, 4);
    set_value(cloud, "scan_angle", 1, 1000);
    set_value(cloud, "gps_time", 1, 0.5);
    mote_write_params params = mote_write_defaults();
    params.las_format = 0;
    write_ok(ctx, cloud, test_path("forced.las"), &params); /* the idle flag goes, time and angle are extra bytes */
    mote_cloud *back = read_ok(ctx, test_path("forced.las"));
    assert_int_equal(back->las.format, 0);
    assert_int_equal(back->las.version_minor, 2);
    assert_null(mote_cloud_find(back, "overlap"));
    assert_near(mote_column_value(mote_cloud_find(back, "scan_angle_rank"), 1), 6, 0);
    assert_near(mote_column_value(mote_cloud_find(back, "scan_angle"), 1), 6, 1e-12);
    assert_near(mote_column_value(mote_cloud_find(back, "gps_time"), 1), 0.5, 0);
    mote_cloud_destroy(back);
    set_value(cloud, "classification", 1, 40);
    las_assert_refused(ctx, cloud, &params, MOTE_ERROR_ARGUMENT, "cannot hold the values of \"classification\"");
    params.las_format = 7;
    params.las_version_minor = 3;
    las_assert_refused(ctx, cloud, &params, MOTE_ERROR_ARGUMENT, "needs 1.4");
    params.las_version_minor = 5;
    las_assert_refused(ctx, cloud, &params, MOTE_ERROR_ARGUMENT, "not 1.5");
    params.las_format = 11;
    las_assert_refused(ctx, cloud, &params, MOTE_ERROR_ARGUMENT, "no point format 11");
    params = mote_write_defaults();
    params.columns = "x,y,nothing";
    las_assert_refused(ctx, cloud, &params, MOTE_ERROR_ARGUMENT, "no attribute \"nothing\"");
    params.columns = "classification";
    write_ok(ctx, cloud, test_path("forced.las"), &params);
    back = read_ok(ctx, test_path("forced.las"));
    assert_int_equal(back->las.format, 6);
    assert_near(mote_column_value(mote_cloud_find(back, "gps_time"), 1), 0, 0);
    mote_cloud_destroy(back);
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
}

/* ---- coordinates */

/* Writes three coordinates of a type and checks scale, and the error against half a step. */
static void check_positions(mote_type type, const double values[3], double step, double scale, bool exact) {
    mote_context *ctx = test_context(1);
    const mote_column_spec specs[] = {{"x", type, 0, 0}, {"y", type, 0, 0}, {"z", type, 0, 0}};
    mote_cloud *cloud = NULL;
    assert_int_equal(mote_cloud_create(ctx, 3, specs, 3, &cloud), MOTE_OK);
    cloud->position_step = step;
    for (uint64_t i = 0; i < 3; i++) set_value(cloud, "x", i, values[i]);
    write_ok(ctx, cloud, test_path("positions.las"), NULL);
    mote_cloud *back = read_ok(ctx, test_path("positions.las"));
    const mote_column *x = mote_cloud_find(back, "x");
    assert_near(x->scale, scale, scale * 1e-12);
    for (uint64_t i = 0; i < 3; i++) {
        const double value = mote_column_value(mote_cloud_find(cloud, "x"), i), kept = mote_column_value(x, i);
        assert_near(kept, value,
                    exact ? 4e-16 * fabs(value) + (type == MOTE_FLOAT32 ? 6e-8 * fabs(value) : 0) : scale * 0.500001);
    }
    mote_box box;
    assert_int_equal(mote_cloud_bounds(ctx, back, &box, NULL), MOTE_OK);
    const file_bytes file = load(test_path("positions.las"));
    assert_true(las_f64(file.data + 179) == box.max[0] && las_f64(file.data + 187) == box.min[0]);
    free(file.data);
    mote_cloud_destroy(back);
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
}

static void positions_find_their_lattice(void **state) {
    (void)state;
    check_positions(MOTE_FLOAT64, (const double[]){500000.123, 500001.5, 499999.25}, 0, 0.001, true);
    check_positions(MOTE_FLOAT64, (const double[]){5000000.01, 5000000.02, 5000000.03}, 0.01, 0.01, true);
    check_positions(MOTE_FLOAT64, (const double[]){5000000.01, 5000000.02, 5000000.03}, 0.001, 0.001, true);
    check_positions(MOTE_FLOAT64, (const double[]){0.1, 0.25, 1.0 / 3}, 0, 1e-9, false);
    check_positions(MOTE_FLOAT64, (const double[]){0, 1000, 1000.0 / 3}, 0, 1e-6, false);
    check_positions(MOTE_FLOAT64, (const double[]){-12, 7, 3000}, 0, 1, true);
    check_positions(MOTE_FLOAT32, (const double[]){1.25, 2.5, 3.1f}, 0, 0.01, true);
    check_positions(MOTE_FLOAT32, (const double[]){500000.03125, 500001.0625, 0}, 0, 0.01, true);
    check_positions(MOTE_INT32, (const double[]){-2147483647, 2147483647, 5}, 0, 1, true);
    check_positions(MOTE_INT64, (const double[]){9e12, 9e12 + 4e9, 9e12 + 1}, 0, 1, true);
    check_positions(MOTE_UINT32, (const double[]){4294967295.0, 0, 1}, 0, 1, true);
    check_positions(MOTE_INT16, (const double[]){-5, 6, 7}, 0, 1, true);
}

static void positions_that_las_cannot_hold(void **state) {
    (void)state;
    mote_context *ctx = test_context(1);
    const mote_column_spec specs[] = {{"x", MOTE_FLOAT64, 0, 0}, {"y", MOTE_FLOAT32, 0, 0}, {"z", MOTE_INT64, 0, 0}};
    mote_cloud *cloud = NULL;
    assert_int_equal(mote_cloud_create(ctx, 3, specs, 3, &cloud), MOTE_OK);
    set_value(cloud, "x", 0, NAN);
    set_value(cloud, "y", 0, INFINITY);
    set_value(cloud, "y", 1, INFINITY);
    write_ok(ctx, cloud, test_path("finite.las"), NULL); /* the two others are left out */
    mote_cloud *back = read_ok(ctx, test_path("finite.las"));
    assert_int_equal(mote_cloud_count(back), 1);
    mote_cloud_destroy(back);
    set_value(cloud, "x", 0, 1e12);
    set_value(cloud, "y", 0, 0);
    set_value(cloud, "y", 1, 0);
    las_assert_refused(ctx, cloud, NULL, MOTE_ERROR_UNSUPPORTED, "x runs from 0 to 1e+12");
    set_value(cloud, "x", 0, 1);
    set_value(cloud, "z", 0, 1e12);
    las_assert_refused(ctx, cloud, NULL, MOTE_ERROR_UNSUPPORTED, "z runs from 0 to 1e+12");
    mote_cloud_destroy(cloud);
    assert_int_equal(mote_cloud_create(ctx, 3, specs, 2, &cloud), MOTE_OK);
    las_assert_refused(ctx, cloud, NULL, MOTE_ERROR_ARGUMENT, "no z");
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(real_files_round_trip),
        cmocka_unit_test(smallest_format_is_chosen),
        cmocka_unit_test(values_choose_the_format),
        cmocka_unit_test(colors_are_widened),
        cmocka_unit_test(forced_choices),
        cmocka_unit_test(extra_bytes_of_every_type),
        cmocka_unit_test(long_and_equal_names),
        cmocka_unit_test(many_extra_columns),
        cmocka_unit_test(positions_find_their_lattice),
        cmocka_unit_test(positions_that_las_cannot_hold),
        cmocka_unit_test(crs_travels),
        cmocka_unit_test(waveforms_keep_their_place),
        cmocka_unit_test(long_records),
        cmocka_unit_test(new_files_state_their_encoding),
        cmocka_unit_test(extra_bytes_named_like_dimensions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
