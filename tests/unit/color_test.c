/* Colours whose depth only their values tell: LAS, LAZ, COPC, Potree folders and unions take them alike. */
#include "core/color.h"

#include <math.h>
#include <stdio.h>

#include "lod/lod_octree.h"

#include "support/cloud_files.h"

#define POINTS 5u

/* What the writers should make of the values of one channel. */
typedef struct color_case {
    const char *name;
    mote_type type;
    double values[POINTS];
    uint16_t expected[POINTS];
    const char *told; /* part of the message; NULL: nothing is told */
} color_case;

static const color_case cases[] = {
    {"unit", MOTE_FLOAT32, {0, 0.25, 0.5, 0.75, 1}, {0, 16384, 32768, 49151, 65535}, "floats 0..1"},
    {"unit, 0 and 1 only", MOTE_FLOAT64, {0, 1, 0, 1, 1}, {0, 65535, 0, 65535, 65535}, "floats 0..1"},
    {"unit, a little beyond", MOTE_FLOAT32, {-0.001, 0.5, 1, 1.0001, 1.004}, {0, 32768, 65535, 65535, 65535}, "0..1"},
    {"8 bits", MOTE_FLOAT32, {0, 1, 128, 254, 255}, {0, 257, 32896, 65278, 65535}, "floats 0..255: taken as 8 bits"},
    {"8 bits, dark", MOTE_FLOAT64, {0, 0.5, 1, 1.5, 2}, {0, 128, 257, 386, 514}, "0..255"},
    {"8 bits, a little beyond", MOTE_FLOAT32, {-0.4, 0, 255, 255.5, 257}, {0, 0, 65535, 65535, 65535}, "0..255"},
    {"16 bits", MOTE_FLOAT32, {0, 1, 300, 65534, 65535}, {0, 1, 300, 65534, 65535}, "floats 0..65535: taken as 16"},
    {"16 bits, a little beyond", MOTE_FLOAT64, {0, 1.4, 1.6, 65535.2, 65540}, {0, 1, 2, 65535, 65535}, "0..65535"},
    {"black", MOTE_FLOAT32, {0, 0, 0, 0, 0}, {0, 0, 0, 0, 0}, NULL},
    {"NaN", MOTE_FLOAT32, {NAN, 0, 128, NAN, 255}, {0, 0, 32896, 0, 65535}, "2 are NaN"},
    {"int32 of 8 bits", MOTE_INT32, {0, 1, 128, 254, 255}, {0, 257, 32896, 65278, 65535}, "int32 0..255"},
    {"uint32 of 16 bits", MOTE_UINT32, {0, 1, 256, 65534, 65535}, {0, 1, 256, 65534, 65535}, "uint32 0..65535"},
    {"int16 of 8 bits", MOTE_INT16, {0, 0, 0, 1, 255}, {0, 0, 0, 257, 65535}, "int16 0..255"},
    {"uint64 of 16 bits", MOTE_UINT64, {0, 2, 3, 4, 1000}, {0, 2, 3, 4, 1000}, "uint64 0..65535"},
    {"uint16 stays", MOTE_UINT16, {0, 1, 2, 3, 255}, {0, 1, 2, 3, 255}, NULL},
};
#define CASES (sizeof cases / sizeof cases[0])

static void set_value(mote_cloud *cloud, const char *name, uint64_t i, double value) {
    const mote_column *column = mote_cloud_find(cloud, name);
    uint8_t *at = (uint8_t *)mote_cloud_column_data(cloud, name) + i * column->stride_bytes;
    mote_column from = {.data = &value, .type = MOTE_FLOAT64, .scale = 1};
    mote_column_read(&from, 0, 1, column->type, at);
}

/* Positions along x; what does not vary is 0. */
static mote_cloud *positions(mote_context *ctx, const mote_column_spec *more, uint32_t count) {
    mote_column_spec specs[16] = {
        {"x", MOTE_INT32, 0.001, 0}, {"y", MOTE_INT32, 0.001, 0}, {"z", MOTE_INT32, 0.001, 0}};
    memcpy(specs + 3, more, count * sizeof *more);
    mote_cloud *cloud = NULL;
    assert_int_equal(mote_cloud_create(ctx, POINTS, specs, 3 + count, &cloud), MOTE_OK);
    for (uint64_t i = 0; i < POINTS; i++) set_value(cloud, "x", i, 1000.0 * (double)i);
    return cloud;
}

static mote_cloud *colored(mote_context *ctx, const color_case *c) {
    const mote_column_spec specs[] = {{"red", c->type, 0, 0}, {"green", c->type, 0, 0}, {"blue", c->type, 0, 0}};
    mote_cloud *cloud = positions(ctx, specs, 3);
    for (uint64_t i = 0; i < POINTS; i++) set_value(cloud, "green", i, c->values[i]);
    return cloud;
}

static void write_any(mote_context *ctx, const mote_cloud *cloud, const char *path) {
    const bool copc = strstr(path, ".copc.laz") != NULL, folder = strrchr(path, '.') == NULL;
    if (!copc && !folder) {
        test_write(ctx, cloud, path, NULL);
        return;
    }
    mote_lod *lod = NULL;
    mote_lod_params params = mote_lod_defaults();
    if (copc) params.max_node_points = 0;
    assert_int_equal(mote_lod_build(ctx, cloud, &params, &lod), MOTE_OK);
    const mote_status status =
        copc ? mote_copc_write(ctx, lod, path, NULL, NULL) : mote_potree_write(ctx, lod, path, NULL, NULL);
    if (status != MOTE_OK) fail_msg("%s: %s", path, mote_context_message(ctx));
    mote_lod_destroy(lod);
}

/* The value at the point that stands at x = i. */
static double value_at(const mote_cloud *cloud, const char *name, uint64_t i) {
    for (uint64_t p = 0; p < mote_cloud_count(cloud); p++) {
        if (fabs(test_value(cloud, "x", p) - (double)i) < 1e-9) return test_value(cloud, name, p);
    }
    fail_msg("no point at %llu", (unsigned long long)i);
    return NAN;
}

static void check_values(const mote_cloud *back, const char *channel, const uint16_t *expected, const char *what) {
    for (uint64_t i = 0; i < POINTS; i++) {
        const double found = value_at(back, channel, i);
        if (found != expected[i])
            fail_msg("%s: %s of point %u is %g, not %u", what, channel, (unsigned)i, found, expected[i]);
    }
}

static void writers_agree(void **state) {
    (void)state;
    static const char *const outputs[] = {"c.las", "c.laz", "c.copc.laz", "folder"};
    char message[TEST_MESSAGE_BYTES];
    mote_context *ctx = test_context_listening(message);
    for (size_t c = 0; c < CASES; c++) {
        mote_cloud *cloud = colored(ctx, &cases[c]);
        for (size_t o = 0; o < sizeof outputs / sizeof outputs[0]; o++) {
            char what[128];
            snprintf(what, sizeof what, "%s to %s", cases[c].name, outputs[o]);
            message[0] = '\0';
            write_any(ctx, cloud, test_path(outputs[o]));
            if (cases[c].told == NULL ? message[0] != '\0' : strstr(message, cases[c].told) == NULL) {
                fail_msg("%s: told \"%s\"", what, message);
            }
            mote_cloud *back = test_read(ctx, test_path(outputs[o]));
            assert_int_equal(test_column(back, "green")->type, MOTE_UINT16);
            check_values(back, "green", cases[c].expected, what);
            mote_cloud_destroy(back);
        }
        mote_cloud_destroy(cloud);
    }
    mote_context_destroy(ctx);
}

/* The depth is that of all channels: a blue of at most 1 beside a red of 255 is nearly black. */
static void channels_are_one_thing(void **state) {
    (void)state;
    static const char *const outputs[] = {"c.las", "c.copc.laz", "folder"};
    static const uint16_t red[] = {0, 0, 65535, 0, 0}, blue[] = {0, 257, 0, 0, 0};
    const mote_column_spec specs[] = {
        {"red", MOTE_FLOAT32, 0, 0}, {"green", MOTE_FLOAT32, 0, 0}, {"blue", MOTE_FLOAT32, 0, 0}};
    mote_context *ctx = test_context(2);
    mote_cloud *cloud = positions(ctx, specs, 3);
    set_value(cloud, "red", 2, 255);
    set_value(cloud, "blue", 1, 1);
    for (size_t o = 0; o < 3; o++) {
        write_any(ctx, cloud, test_path(outputs[o]));
        mote_cloud *back = test_read(ctx, test_path(outputs[o]));
        check_values(back, "red", red, outputs[o]);
        check_values(back, "blue", blue, outputs[o]);
        mote_cloud_destroy(back);
    }
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
}

/* The colours that a filter averages are the same. */
static void filters_take_the_same(void **state) {
    (void)state;
    mote_context *ctx = test_context(2);
    for (size_t c = 0; c < CASES; c++) {
        mote_cloud *cloud = colored(ctx, &cases[c]);
        mote_lod_params params = mote_lod_defaults();
        params.scheme = MOTE_LOD_REPLACING;
        params.filter = MOTE_LOD_FILTER_CELL;
        mote_lod *lod = NULL;
        uint32_t indices[POINTS];
        uint16_t colors[3 * POINTS];
        assert_int_equal(mote_lod_build(ctx, cloud, &params, &lod), MOTE_OK);
        assert_ptr_equal(mote_lod_cloud(lod), cloud);
        mote_lod_node_points(lod, 0, indices, colors);
        for (uint32_t i = 0; i < POINTS; i++) assert_int_equal(colors[3 * i + 1], cases[c].expected[indices[i]]);
        mote_lod_destroy(lod);
        mote_cloud_destroy(cloud);
    }
    mote_context_destroy(ctx);
}

/* Values that are no colours are cut in a folder, and kept as they are in LAS. */
static void what_lies_outside_is_told(void **state) {
    (void)state;
    static const struct {
        double values[POINTS];
        uint16_t cut[POINTS];
    } rows[] = {{{-20, 0, 1, 100, 255}, {0, 0, 257, 25700, 65535}},
                {{0, 1, 2, 70000, 1e6}, {0, 1, 2, 65535, 65535}},
                {{0, 1, 2, 255, INFINITY}, {0, 257, 514, 65535, 65535}}};
    char message[TEST_MESSAGE_BYTES];
    mote_context *ctx = test_context_listening(message);
    for (size_t r = 0; r < 3; r++) {
        color_case c = {"outside", MOTE_FLOAT32, {0}, {0}, NULL};
        memcpy(c.values, rows[r].values, sizeof c.values);
        mote_cloud *cloud = colored(ctx, &c);
        write_any(ctx, cloud, test_path("folder"));
        assert_non_null(strstr(message, "cut"));
        mote_cloud *back = test_read(ctx, test_path("folder"));
        check_values(back, "green", rows[r].cut, "folder");
        mote_cloud_destroy(back);
        write_any(ctx, cloud, test_path("c.las"));
        assert_non_null(strstr(message, "extra bytes"));
        back = test_read(ctx, test_path("c.las"));
        assert_true(value_at(back, "green_2", 4) == (double)(float)rows[r].values[4]);
        mote_cloud_destroy(back);
        mote_cloud_destroy(cloud);
    }
    mote_context_destroy(ctx);
}

static void integers_with_a_scale_are_values(void **state) {
    (void)state;
    const mote_column_spec specs[] = {
        {"red", MOTE_UINT8, 1.0 / 255, 0}, {"green", MOTE_UINT16, 0.5, 1}, {"blue", MOTE_UINT8, 1.0 / 255, 0}};
    static const char *const outputs[] = {"c.las", "folder"};
    mote_context *ctx = test_context(2);
    mote_cloud *cloud = positions(ctx, specs, 3);
    set_value(cloud, "green", 4, 508); /* 255 */
    for (size_t o = 0; o < 2; o++) {
        write_any(ctx, cloud, test_path(outputs[o]));
        mote_cloud *back = test_read(ctx, test_path(outputs[o]));
        assert_float_equal(value_at(back, "green", 4), 65535, 0);
        assert_float_equal(value_at(back, "green", 0), 257, 0);
        mote_cloud_destroy(back);
    }
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
}

/* One channel alone is a colour of LAS too. */
static void one_channel(void **state) {
    (void)state;
    const mote_column_spec specs[] = {{"blue", MOTE_FLOAT64, 0, 0}, {"nir", MOTE_FLOAT32, 0, 0}};
    mote_context *ctx = test_context(1);
    mote_cloud *cloud = positions(ctx, specs, 2);
    set_value(cloud, "blue", 1, 255);
    set_value(cloud, "nir", 2, 1);
    write_any(ctx, cloud, test_path("c.las"));
    mote_cloud *back = test_read(ctx, test_path("c.las"));
    assert_float_equal(value_at(back, "blue", 1), 65535, 0);
    assert_float_equal(value_at(back, "nir", 2), 65535, 0);
    mote_cloud_destroy(back);
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
}

/* Intensity: whole numbers as they are, floats up to 1 as shares of the largest, others by their range. */
static void intensity_follows(void **state) {
    (void)state;
    static const color_case rows[] = {
        {"share",
         MOTE_FLOAT32,
         {0, 0.25, 0.5, 0.75, 1},
         {0, 16384, 32768, 49151, 65535},
         "intensities are floats 0..1"},
        {"0 and 1", MOTE_FLOAT32, {0, 1, 0, 1, 1}, {0, 65535, 0, 65535, 65535}, "0..1"},
        {"whole", MOTE_FLOAT32, {0, 1, 2, 100, 255}, {0, 1, 2, 100, 255}, NULL},
        {"whole and wide", MOTE_FLOAT64, {0, 1, 2, 100, 60000}, {0, 1, 2, 100, 60000}, NULL},
        {"8 bits", MOTE_FLOAT32, {0, 0.5, 1, 254.5, 255}, {0, 128, 257, 65406, 65535}, "0..255"},
        {"16 bits", MOTE_FLOAT32, {0, 0.25, 1.75, 256.25, 65535}, {0, 0, 2, 256, 65535}, "0..65535"},
        {"bytes", MOTE_UINT8, {0, 1, 2, 100, 255}, {0, 1, 2, 100, 255}, NULL},
        {"whole and NaN", MOTE_FLOAT64, {NAN, 7, 2, 100, 200}, {0, 7, 2, 100, 200}, "1 are NaN and become 0"},
        {"share and NaN", MOTE_FLOAT32, {NAN, 0, 0.5, 1, 1}, {0, 0, 32768, 65535, 65535}, "1 are NaN and become 0"},
    };
    static const char *const outputs[] = {"i.las", "i.laz", "i.copc.laz"};
    char message[TEST_MESSAGE_BYTES];
    mote_context *ctx = test_context_listening(message);
    for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
        const mote_column_spec spec = {"intensity", rows[r].type, 0, 0};
        mote_cloud *cloud = positions(ctx, &spec, 1);
        for (uint64_t i = 0; i < POINTS; i++) set_value(cloud, "intensity", i, rows[r].values[i]);
        for (size_t o = 0; o < 3; o++) {
            message[0] = '\0';
            write_any(ctx, cloud, test_path(outputs[o]));
            if (rows[r].told == NULL ? message[0] != '\0' : strstr(message, rows[r].told) == NULL) {
                fail_msg("%s: told \"%s\"", rows[r].name, message);
            }
            mote_cloud *back = test_read(ctx, test_path(outputs[o]));
            check_values(back, "intensity", rows[r].expected, rows[r].name);
            mote_cloud_destroy(back);
        }
        mote_cloud_destroy(cloud);
    }
    mote_context_destroy(ctx);
}

/* Every range beside every other: white stays white, and what agrees is left alone. */
static void unions_agree(void **state) {
    (void)state;
    mote_context *ctx = test_context(2);
    for (size_t a = 0; a < CASES; a++) {
        for (size_t b = 0; b < CASES; b++) {
            mote_cloud *parts[2] = {colored(ctx, &cases[a]), colored(ctx, &cases[b])}, *both = NULL;
            const char *const paths[2] = {"a.ply", "b.ply"};
            char where[2][256];
            for (int k = 0; k < 2; k++) {
                for (uint64_t i = 0; i < POINTS; i++) set_value(parts[k], "y", i, 1000.0 * k);
                snprintf(where[k], sizeof where[k], "%s", test_path(paths[k]));
                test_write(ctx, parts[k], where[k], NULL);
                mote_cloud_destroy(parts[k]);
            }
            const char *const inputs[2] = {where[0], where[1]};
            assert_int_equal(mote_cloud_read_many(ctx, inputs, 2, NULL, &both), MOTE_OK);
            write_any(ctx, both, test_path("both.las"));
            mote_cloud *back = test_read(ctx, test_path("both.las"));
            for (uint64_t i = 0; i < 2 * POINTS; i++) {
                const color_case *c = &cases[i < POINTS ? a : b], *other = &cases[i < POINTS ? b : a];
                /* Fields of 16 bits that hold 8 stay as they are only where all inputs have such. */
                const bool widened = c->type == MOTE_UINT16 && other->type != MOTE_UINT16;
                const double expected = c->expected[i % POINTS] * (widened ? 257.0 : 1.0);
                const double found = test_value(back, "green", i);
                if (found != expected) {
                    fail_msg("%s with %s: point %u is %g, not %g", cases[a].name, cases[b].name, (unsigned)i, found,
                             expected);
                }
            }
            mote_cloud_destroy(back);
            mote_cloud_destroy(both);
        }
    }
    mote_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(writers_agree),
        cmocka_unit_test(channels_are_one_thing),
        cmocka_unit_test(filters_take_the_same),
        cmocka_unit_test(what_lies_outside_is_told),
        cmocka_unit_test(integers_with_a_scale_are_values),
        cmocka_unit_test(one_channel),
        cmocka_unit_test(intensity_follows),
        cmocka_unit_test(unions_agree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
