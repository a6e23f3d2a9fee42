/* Pictures: how much brighter dark colours are shown. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "unit/render_test.h"

#define POINTS 3000u

/* What the colours of a cloud are, as shares of white. */
typedef enum look {
    FULL,         /* from black to white */
    STRAYS,       /* a twentieth, and among them a few that are white */
    NIGHT,        /* less than a hundredth */
    DIM,          /* most below a quarter, lamps */
    UNPAINTED,    /* nine tenths black, the rest from black to white */
    ALL_BLACK,    /* nothing but black */
    JUST_DARK,    /* all at 0.333 */
    NOT_YET_DARK, /* all at 0.334 */
    LOOKS
} look;

static double share_of(look how, uint32_t channel, uint64_t i) {
    const double r = test_random(channel, i), chance = test_random(9, i);
    switch (how) {
    case FULL: return r;
    case STRAYS: return chance < 0.02 ? 1 : 0.05 * r;
    case NIGHT: return 0.01 * r;
    case DIM: return chance < 0.04 ? 0.5 + 0.5 * r : 0.24 * r * r;
    case UNPAINTED: return chance < 0.9 ? 0 : r;
    case ALL_BLACK: return 0;
    case JUST_DARK: return 0.333;
    default: return 0.334;
    }
}

/* Points of colours that are stored as a type, the brightest of which is a number. */
static mote_cloud *cloud_of(mote_context *ctx, mote_type type, double max, look how) {
    const mote_column_spec specs[6] = {{"x", MOTE_FLOAT64, 0, 0}, {"y", MOTE_FLOAT64, 0, 0}, {"z", MOTE_FLOAT64, 0, 0},
                                       {"red", type, 0, 0},       {"green", type, 0, 0},     {"blue", type, 0, 0}};
    mote_cloud *cloud = NULL;
    must(ctx, mote_cloud_create(ctx, POINTS, specs, 6, &cloud));
    for (uint32_t k = 0; k < 6; k++) {
        uint8_t *data = mote_cloud_column_data(cloud, specs[k].name);
        const uint32_t stride = mote_cloud_find(cloud, specs[k].name)->stride_bytes;
        for (uint64_t i = 0; i < POINTS; i++, data += stride) {
            const double place = test_random(k, i), share = share_of(how, k, i);
            const double stored = type == MOTE_FLOAT32 ? share * max : floor(share * max);
            const float real = (float)stored;
            const uint16_t wide = (uint16_t)stored;
            if (k < 3) {
                memcpy(data, &place, sizeof place);
            } else if (type == MOTE_FLOAT32) {
                memcpy(data, &real, sizeof real);
            } else if (type == MOTE_UINT16) {
                memcpy(data, &wide, sizeof wide);
            } else {
                *data = (uint8_t)stored;
            }
        }
    }
    return cloud;
}

static double brightest_of(const mote_cloud *cloud, uint64_t i) {
    const double red = mote_column_value(mote_cloud_find(cloud, "red"), i);
    const double green = mote_column_value(mote_cloud_find(cloud, "green"), i);
    return fmax(fmax(red, green), mote_column_value(mote_cloud_find(cloud, "blue"), i));
}

static int compare_reals(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The rule as it is written, by sorting. */
static double expected_exposure(const mote_cloud *cloud, double white) {
    static double values[POINTS];
    uint64_t count = 0;
    for (uint64_t i = 0; i < POINTS; i++) {
        const double value = rint(brightest_of(cloud, i) / white * 65535);
        if (value > 0) values[count++] = value;
    }
    qsort(values, count, sizeof *values, compare_reals);
    const double level = count > 0 ? values[count - count / 10 - 1] / 65535 : 1;
    return level < 1.0 / 3 ? rint(80 / level) / 100 : 1;
}

void dark_colors_are_found(void **state) {
    static const struct {
        mote_type type;
        double white, max;
    } kinds[] = {{MOTE_UINT8, 255, 255},       {MOTE_UINT16, 65535, 65535}, {MOTE_UINT16, 65535, 16383},
                 {MOTE_UINT16, 65535, 4095},   {MOTE_UINT16, 65535, 1023},  {MOTE_FLOAT32, 1, 1},
                 {MOTE_FLOAT32, 65535, 65535}, {MOTE_FLOAT32, 1, 0.1}};
    static const bool dark[LOOKS] = {[STRAYS] = true, [NIGHT] = true, [DIM] = true, [JUST_DARK] = true};
    mote_context *ctx = test_context(3), *alone = test_context(1);
    (void)state;
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
        for (look how = FULL; how < LOOKS; how++) {
            /* Floats say what white is by the largest value. */
            if (kinds[k].white == 65535 && kinds[k].type == MOTE_FLOAT32 && how != FULL && how != STRAYS) continue;
            double exposure = 0, again = 0;
            mote_cloud *cloud = cloud_of(ctx, kinds[k].type, kinds[k].max, how);
            double high = 0;
            for (uint64_t i = 0; i < POINTS; i++) high = fmax(high, brightest_of(cloud, i));
            const double white = kinds[k].type == MOTE_UINT16 && high <= 255 ? 255 : kinds[k].white;
            must(ctx, mote_render_find_exposure(ctx, cloud, &exposure));
            must(alone, mote_render_find_exposure(alone, cloud, &again));
            assert_true(exposure == again && exposure == expected_exposure(cloud, white));
            if (kinds[k].max == kinds[k].white && how != ALL_BLACK && white == kinds[k].white) {
                assert_int_equal(exposure > 2.3, dark[how]);
            }
            mote_cloud_destroy(cloud);
        }
    }
    mote_context_destroy(alone);
    mote_context_destroy(ctx);
}

/* Each pixel is one point, in the colour that its numbers have when they are multiplied. */
static void check_pixels(mote_renderer *renderer, const mote_cloud *cloud, double white, double exposure) {
    static const char *const names[3] = {"red", "green", "blue"};
    static frame f;
    mote_render_params p = small_picture(MOTE_RENDER_POINTS);
    mote_camera camera = mote_camera_defaults();
    const double from[3] = {0.3, -1, 0.5};
    p.edl_strength = 0;
    open_frame(&f);
    assert_int_equal(mote_render_fit(renderer, &camera, from, &p), MOTE_OK);
    assert_int_equal(mote_render_draw(renderer, &camera, &p, &f.result), MOTE_OK);
    assert_true(f.result.covered > PIXELS / 5);
    for (uint32_t i = 0; i < PIXELS; i++) {
        if (f.index[i] == MOTE_RENDER_NO_POINT) continue;
        for (int c = 0; c < 3; c++) {
            const double stored = mote_column_value(mote_cloud_find(cloud, names[c]), f.index[i]);
            assert_true(fabs(f.color8[4 * i + (uint32_t)c] - fmin(255, 255 * stored / white * exposure)) <= 0.51);
        }
    }
}

void exposure_makes_colors_brighter(void **state) {
    static uint8_t rgba[4 * POINTS];
    mote_context *ctx = test_context(2);
    (void)state;
    for (int kind = 0; kind < 3; kind++) {
        const mote_type type = kind == 0 ? MOTE_UINT16 : kind == 1 ? MOTE_FLOAT32 : MOTE_UINT8;
        const double white = kind == 2 ? 255 : 65535, max = kind == 0 ? 4095 : white;
        mote_cloud *cloud = cloud_of(ctx, type, max, kind == 2 ? DIM : FULL);
        mote_renderer *renderer = NULL;
        double exposure = 0;
        must(ctx, mote_render_create(ctx, cloud, &renderer));
        check_pixels(renderer, cloud, white, 1);
        must(ctx, mote_render_find_exposure(ctx, cloud, &exposure));
        must(ctx, mote_render_set_exposure(renderer, exposure));
        check_pixels(renderer, cloud, white, exposure);
        must(ctx, mote_render_update(renderer));
        check_pixels(renderer, cloud, white, exposure);
        memset(rgba, 255, sizeof rgba);
        must(ctx, mote_render_set_colors(renderer, rgba, false));
        must(ctx, mote_render_set_exposure(renderer, 0.5));
        check_pixels(renderer, cloud, white, 0.5);
        static const double wrong[] = {0, -1, NAN, INFINITY, 1e6};
        for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
            assert_int_equal(mote_render_set_exposure(renderer, wrong[i]), MOTE_ERROR_ARGUMENT);
            mote_context_clear(ctx);
        }
        check_pixels(renderer, cloud, white, 0.5);
        mote_render_destroy(renderer);
        mote_cloud_destroy(cloud);
    }
    mote_context_destroy(ctx);
}

void clouds_without_colors_have_no_exposure(void **state) {
    static const mote_column_spec specs[3] = {
        {"x", MOTE_FLOAT64, 0, 0}, {"y", MOTE_FLOAT64, 0, 0}, {"z", MOTE_FLOAT64, 0, 0}};
    mote_context *ctx = test_context(1);
    mote_cloud *cloud = NULL;
    double exposure = 0;
    (void)state;
    must(ctx, mote_cloud_create(ctx, 5, specs, 3, &cloud));
    must(ctx, mote_render_find_exposure(ctx, cloud, &exposure));
    assert_true(exposure == 1);
    assert_int_equal(mote_render_find_exposure(ctx, NULL, &exposure), MOTE_ERROR_ARGUMENT);
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
}

static mote_status expose(mote_context *ctx, void *user) {
    mote_renderer *renderer = NULL;
    double exposure = 1;
    mote_status status = mote_render_create(ctx, user, &renderer);
    if (status == MOTE_OK) status = mote_render_find_exposure(ctx, user, &exposure);
    if (status == MOTE_OK) status = mote_render_set_exposure(renderer, exposure);
    mote_render_destroy(renderer);
    return status;
}

void exposing_may_fail(void **state) {
    mote_context *ctx = test_context(1);
    mote_cloud *cloud = cloud_of(ctx, MOTE_UINT16, 4095, FULL);
    (void)state;
    test_each_allocation_fails(expose, cloud);
    test_each_step_cancels(expose, cloud);
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
}
