/* Profiles against a plain search, and measuring under failures. */
#include <math.h>
#include <mote_have.h>
#include <stdio.h>
#include <string.h>

#include "unit/measure_test.h"

#if MOTE_HAVE_JANSSON

mote_shapes *measure_test_shapes(mote_context *ctx, const char *text) {
    mote_shapes *shapes = NULL;
    const char *path = test_path("measure.geojson");
    test_write_file(path, text, strlen(text));
    if (mote_shapes_read(ctx, path, &shapes) != MOTE_OK) fail_msg("%s: %s", text, mote_context_message(ctx));
    return shapes;
}

mote_units measure_test_units_of(measure_test_units set) {
    static const struct {
        double metres;
        const char *symbol;
    } lengths[] = {{1, "m"}, {0.3048, "ft"}, {1200.0 / 3937, "US ft"}};
    mote_units units;
    memset(&units, 0, sizeof units);
    units.horizontal.metres = set.metres;
    units.horizontal.radians = set.radians;
    units.vertical.metres = set.vertical;
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        if (set.metres == lengths[i].metres) strcpy(units.horizontal.symbol, lengths[i].symbol);
    }
    return units;
}

#define POINTS 20000u

static double places[POINTS][3];

static mote_cloud *make_cloud(mote_context *ctx) {
    mote_cloud *cloud = NULL;
    for (uint64_t i = 0; i < POINTS; i++) {
        for (uint64_t k = 0; k < 3; k++) places[i][k] = floor(test_random(k, i) * 200) / 10;
    }
    const mote_column columns[3] = {
        {.name = "x", .data = places[0], .stride_bytes = 24, .type = MOTE_FLOAT64},
        {.name = "y", .data = places[0] + 1, .stride_bytes = 24, .type = MOTE_FLOAT64},
        {.name = "z", .data = places[0] + 2, .stride_bytes = 24, .type = MOTE_FLOAT64},
    };
    assert_int_equal(mote_cloud_wrap(ctx, POINTS, columns, 3, &cloud), MOTE_OK);
    return cloud;
}

/* Coordinates are tenths, and so are the legs', which run along the axes: borders are exact. */
static bool is_beside(const double *p, double *along, double *aside) {
    const bool first = p[1] >= 4.5 && p[1] <= 5.5 && p[0] >= 2 && p[0] <= 15;
    const bool second = p[0] >= 14.5 && p[0] <= 15.5 && p[1] >= 5 && p[1] <= 18;
    const bool is_second = second && (!first || fabs(p[0] - 15) < fabs(p[1] - 5));
    *along = is_second ? 13 + p[1] - 5 : p[0] - 2;
    *aside = is_second ? p[0] - 15 : -(p[1] - 5);
    return first || second;
}

void profiles_have_the_points_beside_their_line(void **state) {
    (void)state;
    for (int threads = 1; threads < 4; threads++) {
        mote_context *ctx = test_context(threads);
        mote_cloud *cloud = make_cloud(ctx);
        mote_shapes *shapes =
            measure_test_shapes(ctx, "{\"type\":\"LineString\",\"coordinates\":[[2,5],[15,5],[15,5],[15,18]]}");
        const mote_units units = measure_test_units_of((measure_test_units){1, 0, 1});
        mote_profile *profile = NULL;
        mote_box bounds;
        uint64_t expected = 0;
        assert_int_equal(mote_profile_measure(ctx, cloud, mote_shapes_at(shapes, 0), 1, &units, &profile), MOTE_OK);
        assert_int_equal(mote_profile_bounds(ctx, mote_shapes_at(shapes, 0), 1, &units, &bounds), MOTE_OK);
        for (uint64_t i = 0; i < POINTS; i++) {
            double along, aside;
            expected += is_beside(places[i], &along, &aside);
        }
        assert_int_equal(profile->count, expected);
        assert_true(profile->length == 26);
        for (uint64_t i = 0; i < profile->count; i++) {
            const double *p = places[profile->indices[i]];
            double along, aside;
            assert_true(is_beside(p, &along, &aside));
            assert_true(fabs(profile->along[i] - along) < 1e-7);
            assert_true(fabs(fabs(profile->aside[i]) - fabs(aside)) < 1e-7);
            assert_true(profile->height[i] == p[2]);
            assert_true(i == 0 || profile->along[i] >= profile->along[i - 1]);
            for (int k = 0; k < 2; k++) assert_true(p[k] >= bounds.min[k] && p[k] <= bounds.max[k]);
        }
        mote_profile_destroy(ctx, profile);
        mote_shapes_destroy(shapes);
        mote_cloud_destroy(cloud);
        mote_context_destroy(ctx);
    }
}

/* ---- failures */

static mote_status measure_all(mote_context *ctx, void *user) {
    mote_cloud *cloud = NULL;
    mote_shapes *shapes = NULL;
    mote_profile *profile = NULL;
    mote_volume volume;
    mote_area area;
    const mote_units units = measure_test_units_of((measure_test_units){1, 0, 1});
    const mote_column columns[3] = {
        {.name = "x", .data = places[0], .stride_bytes = 24, .type = MOTE_FLOAT64},
        {.name = "y", .data = places[0] + 1, .stride_bytes = 24, .type = MOTE_FLOAT64},
        {.name = "z", .data = places[0] + 2, .stride_bytes = 24, .type = MOTE_FLOAT64},
    };
    mote_status status = mote_cloud_wrap(ctx, POINTS, columns, 3, &cloud);
    if (status == MOTE_OK) status = mote_shapes_read(ctx, user, &shapes);
    if (status == MOTE_OK) status = mote_volume_measure(ctx, cloud, shapes, MOTE_ALL_FEATURES, NULL, &volume);
    if (status == MOTE_OK) status = mote_area_measure(ctx, shapes, MOTE_ALL_FEATURES, &units, &area);
    if (status == MOTE_OK) status = mote_profile_measure(ctx, cloud, mote_shapes_at(shapes, 1), 1, &units, &profile);
    mote_profile_destroy(ctx, profile);
    mote_shapes_destroy(shapes);
    mote_cloud_destroy(cloud);
    return status;
}

static const char *write_shapes(void) {
    static const char text[] = "{\"type\":\"GeometryCollection\",\"geometries\":[{\"type\":\"Polygon\",\"coordinates\":"
                               "[[[2,2],[15,3],[9,18]]]},"
                               "{\"type\":\"LineString\",\"coordinates\":[[2,5],[15,5],[15,18]]}]}";
    const char *path = test_path("both.geojson");
    test_write_file(path, text, sizeof text - 1);
    return path;
}

void measuring_fails_cleanly(void **state) {
    (void)state;
    char path[1024];
    snprintf(path, sizeof path, "%s", write_shapes());
    test_each_allocation_fails(measure_all, path);
}

void measuring_can_be_cancelled(void **state) {
    (void)state;
    char path[1024];
    snprintf(path, sizeof path, "%s", write_shapes());
    test_each_step_cancels(measure_all, path);
}

#endif
