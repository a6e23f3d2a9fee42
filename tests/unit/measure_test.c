/* Volumes, areas and profiles of made sites, whose truth is known: in metres, feet, compound systems and degrees; the
   same bits for any order of points, any number of threads and any way to store them. */
#include "unit/measure_test.h"

#include <math.h>
#include <mote_have.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if MOTE_HAVE_JANSSON

#define SIDE  10.0 /* metres of a site, of which the polygon leaves a margin of one */
#define INNER 8.0

/* ---- sites: a height over a place, both in metres from the middle */

typedef double site_height(double u, double v);
static double flat(double u, double v) { return 0 * u * v; }
static double box(double u, double v) { return fabs(u) < 2 && fabs(v) < 1.5 ? 2 : 0; }
static double turned_box(double u, double v) { return box(0.8 * u + 0.6 * v, 0.8 * v - 0.6 * u); }
static double cone(double u, double v) { return fmax(0, 2 - hypot(u, v) * 2 / 3); }
static double slope(double u, double v) { return 0.3 * u + 0 * v; }
static double wall(double u, double v) { return fabs(u) < 0.25 && fabs(v) < 3 ? 3 : 0; }
static double pit(double u, double v) { return -cone(u, v); }

static const struct {
    site_height *height;
    double above, below, tolerance;
} sites[] = {
    {flat, 0, 0, 1e-12},
    {box, 24, 0, 1e-3},
    {turned_box, 24, 0, 0.05},
    {cone, 6 * 3.14159265358979, 0, 0.02},
    {slope, 19.2, 19.2, 0.03},
    {wall, 0.5 * 6 * 3, 0, 0.3},
    {pit, 0, 6 * 3.14159265358979, 0.02},
};
#define SITES (sizeof sites / sizeof *sites)

/* ---- systems: what metres become */

typedef struct site_system {
    const char *name, *unit;
    double x, y, z; /* metres of one of a coordinate */
    double at[3];   /* where the middle is */
    measure_test_units set;
    double figure; /* metres of the unit of figures */
} site_system;

#define US_FOOT (1200.0 / 3937)
static const site_system systems[] = {
    {"metres", "m", 1, 1, 1, {691000, 5335000, 400}, {1, 0, 1}, 1},
    {"feet", "ft", 0.3048, 0.3048, 0.3048, {636000, 849000, 400}, {0.3048, 0, 0.3048}, 0.3048},
    {"US feet, heights in metres", "US ft", US_FOOT, US_FOOT, 1, {2000000, 700000, 100}, {US_FOOT, 0, 1}, US_FOOT},
    {"metres, heights in feet", "m", 1, 1, 0.3048, {500000, 100000, -30}, {1, 0, 0.3048}, 1},
    {"degrees", "m", 78846.8, 111131.7, 1, {11.5, 45, 500}, {0, MEASURE_DEGREE, 1}, 1},
    {"an unknown unit", "", 1, 1, 1, {0, 0, 0}, {0, 0, 0}, 1},
};
#define SYSTEMS (sizeof systems / sizeof *systems)

static mote_cloud *make_site(mote_context *ctx, const site_system *system, site_height *height, uint64_t n,
                             uint64_t turn) {
    static double values[3 * 400 * 400];
    mote_cloud *cloud = NULL;
    for (uint64_t k = 0; k < n * n; k++) {
        const uint64_t i = (k * turn) % (n * n); /* turn is prime to n: another order of the same points */
        const double u = ((double)(i % n) + 0.5) * SIDE / (double)n - SIDE / 2;
        const double v = ((double)(i / n) + 0.5) * SIDE / (double)n - SIDE / 2;
        values[3 * k] = u / system->x + system->at[0];
        values[3 * k + 1] = v / system->y + system->at[1];
        values[3 * k + 2] = height(u, v) / system->z + system->at[2];
    }
    const mote_column columns[3] = {
        {.name = "x", .data = values, .stride_bytes = 24, .type = MOTE_FLOAT64},
        {.name = "y", .data = values + 1, .stride_bytes = 24, .type = MOTE_FLOAT64},
        {.name = "z", .data = values + 2, .stride_bytes = 24, .type = MOTE_FLOAT64},
    };
    assert_int_equal(mote_cloud_wrap(ctx, n * n, columns, 3, &cloud), MOTE_OK);
    return cloud;
}

/* A square of INNER around the middle. */
static mote_shapes *make_square(mote_context *ctx, const site_system *system, bool has_heights) {
    char text[1024];
    size_t at = (size_t)snprintf(text, sizeof text, "{\"type\":\"Polygon\",\"coordinates\":[[");
    for (int i = 0; i < 4; i++) {
        const double u = i == 1 || i == 2 ? INNER / 2 : -INNER / 2, v = i >= 2 ? INNER / 2 : -INNER / 2;
        at += (size_t)snprintf(text + at, sizeof text - at, "%s[%.17g,%.17g", i > 0 ? "," : "",
                               u / system->x + system->at[0], v / system->y + system->at[1]);
        if (has_heights) at += (size_t)snprintf(text + at, sizeof text - at, ",%.17g", system->at[2]);
        at += (size_t)snprintf(text + at, sizeof text - at, "]");
    }
    snprintf(text + at, sizeof text - at, "]]}");
    return measure_test_shapes(ctx, text);
}

static mote_volume measure(mote_context *ctx, const mote_cloud *cloud, const mote_shapes *shapes,
                           const site_system *system, mote_volume_base base) {
    mote_volume_params params = mote_volume_defaults();
    mote_volume volume;
    params.base = base;
    params.level = system->at[2];
    params.units = measure_test_units_of(system->set);
    assert_string_equal(mote_measure_unit(&params.units), system->unit);
    if (mote_volume_measure(ctx, cloud, shapes, MOTE_ALL_FEATURES, &params, &volume) != MOTE_OK) {
        fail_msg("%s: %s", system->name, mote_context_message(ctx));
    }
    return volume;
}

static void made_sites_have_their_volumes(void **state) {
    (void)state;
    const uint64_t step = test_watched(3, 1);
    for (size_t s = test_turn(step); s < SYSTEMS; s += step) {
        const site_system *system = &systems[s];
        const double cube = pow(system->figure, 3), square = system->figure * system->figure;
        for (size_t i = 0; i < SITES;
             i += s == 0 ? test_watched(3, 1) : 3) { /* all in metres; the flat one, the cone and the pit in each */
            mote_context *ctx = test_context(2);
            mote_cloud *cloud = make_site(ctx, system, sites[i].height, 400, 1);
            mote_shapes *shapes = make_square(ctx, system, true);
            const mote_volume v = measure(ctx, cloud, shapes, system, MOTE_VOLUME_PLANE);
            const mote_volume level = measure(ctx, cloud, shapes, system, MOTE_VOLUME_LEVEL);
            const bool is_right = fabs(v.above * cube - sites[i].above) <= sites[i].tolerance + 2e-5 * sites[i].above &&
                                  fabs(v.below * cube - sites[i].below) <= sites[i].tolerance + 2e-5 * sites[i].below &&
                                  fabs(v.area * square - INNER * INNER) < 1e-3;
            if (!is_right) {
                fail_msg("%s, site %zu: above %.9g below %.9g area %.9g", system->name, i, v.above * cube,
                         v.below * cube, v.area * square);
            }
            assert_true(fabs(level.above - v.above) <= 1e-6 * (1 + v.above));
            assert_true(v.points >= 102000 && v.points <= 103100);
            mote_shapes_destroy(shapes);
            mote_cloud_destroy(cloud);
            mote_context_destroy(ctx);
        }
    }
}

#define STAR_CORNERS 1001 /* many times what is told by one comparison, and no multiple of that */

/* A star around the middle, turned so that no two points are as near to a corner, whose corners have these heights, or
 * none where they are NaN. places: out, [x, y] */
static mote_shapes *make_star(mote_context *ctx, const site_system *system, const double *heights,
                              double (*places)[2]) {
    static char text[STAR_CORNERS * 80];
    size_t at = (size_t)snprintf(text, sizeof text, "{\"type\":\"Polygon\",\"coordinates\":[[");
    for (int i = 0; i < STAR_CORNERS; i++) {
        const double angle = 0.01 + 2 * 3.14159265358979 * i / STAR_CORNERS, radius = 3 + sin(5 * angle);
        places[i][0] = radius * cos(angle) / system->x + system->at[0];
        places[i][1] = radius * sin(angle) / system->y + system->at[1];
        at += (size_t)snprintf(text + at, sizeof text - at, "%s[%.17g,%.17g", i > 0 ? "," : "", places[i][0],
                               places[i][1]);
        if (!isnan(heights[i])) at += (size_t)snprintf(text + at, sizeof text - at, ",%.17g", heights[i]);
        at += (size_t)snprintf(text + at, sizeof text - at, "]");
    }
    snprintf(text + at, sizeof text - at, "]]}");
    return measure_test_shapes(ctx, text);
}

/* The height of the nearest point inside, by looking at all of them. */
static double nearest_height(const mote_region *region, const site_system *system, site_height *height, uint64_t n,
                             const double *place) {
    double least = INFINITY, found = NAN;
    for (uint64_t i = 0; i < n * n; i++) {
        const double u = ((double)(i % n) + 0.5) * SIDE / (double)n - SIDE / 2;
        const double v = ((double)(i / n) + 0.5) * SIDE / (double)n - SIDE / 2;
        const double x = u / system->x + system->at[0], y = v / system->y + system->at[1];
        const double away = hypot((x - place[0]) * system->x, (y - place[1]) * system->y);
        if (away >= least || !mote_region_contains(region, x, y)) continue;
        least = away;
        found = height(u, v) / system->z + system->at[2];
    }
    return found;
}

static void many_corners_get_the_height_of_the_nearest_point(void **state) {
    (void)state;
    const uint64_t step = test_watched(3, 1);
    for (size_t k = test_turn(step); k < SYSTEMS; k += step) {
        const site_system *system = &systems[k];
        double heights[STAR_CORNERS], places[STAR_CORNERS][2];
        mote_context *ctx = test_context(3);
        mote_cloud *cloud = make_site(ctx, system, cone, 100, 7);
        mote_region *region = NULL;
        uint64_t flat_count = 0;
        for (int i = 0; i < STAR_CORNERS; i++) {
            heights[i] = i % 7 == 3 ? system->at[2] + 0.001 * i : NAN;
            flat_count += isnan(heights[i]);
        }
        mote_shapes *flat_star = make_star(ctx, system, heights, places);
        assert_int_equal(mote_region_create(ctx, flat_star, MOTE_ALL_FEATURES, &region), MOTE_OK);
        const mote_volume draped = measure(ctx, cloud, flat_star, system, MOTE_VOLUME_PLANE);
        for (int i = 0; i < STAR_CORNERS; i++) {
            if (isnan(heights[i])) heights[i] = nearest_height(region, system, cone, 100, places[i]);
        }
        mote_shapes *raised = make_star(ctx, system, heights, places);
        const mote_volume volume = measure(ctx, cloud, raised, system, MOTE_VOLUME_PLANE);
        assert_true(draped.draped == flat_count && volume.draped == 0);
        assert_true(draped.above == volume.above && draped.below == volume.below && volume.above > 0);
        mote_region_destroy(region);
        mote_shapes_destroy(flat_star);
        mote_shapes_destroy(raised);
        mote_cloud_destroy(cloud);
        mote_context_destroy(ctx);
    }
}

/* Volumes are above the lowest point, and above corners that are draped. */
static void bases_are_what_they_are_called(void **state) {
    (void)state;
    const site_system *system = &systems[0];
    mote_context *ctx = test_context(2);
    mote_cloud *cloud = make_site(ctx, system, pit, 400, 1);
    mote_shapes *with = make_square(ctx, system, true), *without = make_square(ctx, system, false);
    const mote_volume lowest = measure(ctx, cloud, with, system, MOTE_VOLUME_LOWEST);
    const mote_volume plane = measure(ctx, cloud, with, system, MOTE_VOLUME_PLANE);
    const mote_volume draped = measure(ctx, cloud, without, system, MOTE_VOLUME_PLANE);
    assert_true(fabs(lowest.level - 398) < 0.03);
    assert_true(lowest.below == 0);
    assert_true(fabs(lowest.above - ((400 - lowest.level) * INNER * INNER - plane.below)) < 1e-6);
    assert_int_equal(draped.draped, 4);
    assert_true(draped.above == plane.above && draped.below == plane.below);
    mote_shapes_destroy(with);
    mote_shapes_destroy(without);
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
}

/* ---- the same bits */

static void assert_same(const mote_volume *a, const mote_volume *b) {
    if (memcmp(a, b, sizeof *a) == 0) return;
    fail_msg("%.17g %.17g and %.17g %.17g", a->above, a->below, b->above, b->below);
}

static void order_and_threads_decide_nothing(void **state) {
    (void)state;
    const uint64_t step = test_watched(3, 1);
    for (size_t s = test_turn(step); s < SYSTEMS; s += step) {
        for (int base = MOTE_VOLUME_PLANE; base <= MOTE_VOLUME_LEVEL; base++) {
            mote_volume first;
            for (uint64_t turn = 0; turn < 3; turn += test_watched(2, 1)) {
                static const uint64_t turns[] = {1, 7919, 104729}; /* prime to the number of points */
                mote_context *ctx = test_context((int)turn + 1);
                mote_cloud *cloud = make_site(ctx, &systems[s], turned_box, 80, turns[turn]);
                mote_shapes *shapes = make_square(ctx, &systems[s], base != MOTE_VOLUME_PLANE);
                const mote_volume v = measure(ctx, cloud, shapes, &systems[s], (mote_volume_base)base);
                if (turn == 0) first = v;
                assert_same(&first, &v);
                mote_shapes_destroy(shapes);
                mote_cloud_destroy(cloud);
                mote_context_destroy(ctx);
            }
        }
    }
}

/* Integers of a millimetre around several offsets, as formats keep them, give the last bits of a coordinate another
   value, and the figure the same. */
static void ways_to_store_decide_nothing(void **state) {
    (void)state;
    static const double offsets[][3] = {{0, 0, 0}, {691000, 5335000, 400}, {690995.001, 5334994.877, 399.5}};
    static int32_t steps[3 * 200 * 200];
    const site_system *system = &systems[0];
    mote_volume first;
    for (size_t o = 0; o < sizeof offsets / sizeof *offsets; o++) {
        mote_context *ctx = test_context(2);
        mote_cloud *cloud = NULL;
        mote_column columns[3];
        for (uint64_t i = 0; i < 200 * 200; i++) {
            const double u = (double)(i % 200) * 0.05 - 5, v = (double)(i / 200) * 0.05 - 5;
            const double place[3] = {u, v, turned_box(u, v) + 0.01 * test_random(1, i)};
            for (int k = 0; k < 3; k++) {
                const int64_t whole = llround((place[k] + system->at[k]) * 1000);
                steps[3 * i + (uint64_t)k] =
                    (int32_t)(whole - llround(offsets[o][k] * 1000) - (o == 0 && k == 1 ? 0 : 0));
            }
        }
        for (int k = 0; k < 3; k++) {
            static const char *const names[] = {"x", "y", "z"};
            columns[k] = (mote_column){.name = names[k],
                                       .data = steps + k,
                                       .stride_bytes = 12,
                                       .type = MOTE_INT32,
                                       .scale = 0.001,
                                       .offset = offsets[o][k]};
        }
        if (o == 0) columns[1].offset = 4000000; /* 32 bits do not reach 5335000 */
        for (uint64_t i = 0; o == 0 && i < 200 * 200; i++) {
            const double v = (double)(i / 200) * 0.05 - 5;
            steps[3 * i + 1] = (int32_t)llround((v + system->at[1] - 4000000) * 1000);
        }
        assert_int_equal(mote_cloud_wrap(ctx, 200 * 200, columns, 3, &cloud), MOTE_OK);
        mote_shapes *shapes = make_square(ctx, system, true);
        const mote_volume v = measure(ctx, cloud, shapes, system, MOTE_VOLUME_PLANE);
        if (o == 0) first = v;
        assert_same(&first, &v);
        mote_shapes_destroy(shapes);
        mote_cloud_destroy(cloud);
        mote_context_destroy(ctx);
    }
}

/* ---- polygons */

/* Shares of cells against places of a fine raster, and their sum against the area. */
static void shares_are_those_of_the_polygons(void **state) {
    (void)state;
    static const char *const texts[] = {
        "[[[0,0],[10,0],[10,10],[0,10]]]",
        "[[[0,0],[0,10],[10,10],[10,0]]]",
        "[[[1,1],[9,2],[6,9.5]]]",
        "[[[0,0],[10,0],[10,10],[0,10]],[[2,2],[7,3],[4,8]]]",
        "[[[0,0],[10,0],[10,10],[0,10]],[[2,2],[4,8],[7,3]],[[8,8],[9,8],[9,9]]]",
        "[[[0,0],[10,0],[5,5],[10,10],[0,10],[3,5]]]",
    };
    for (size_t t = 0; t < sizeof texts / sizeof *texts; t++) {
        char text[512];
        mote_context *ctx = test_context(1);
        snprintf(text, sizeof text, "{\"type\":\"Polygon\",\"coordinates\":%s}", texts[t]);
        mote_shapes *shapes = measure_test_shapes(ctx, text);
        const mote_shape *shape = mote_shapes_at(shapes, 0);
        mote_region *region = NULL;
        assert_int_equal(mote_region_create(ctx, shapes, MOTE_ALL_FEATURES, &region), MOTE_OK);
        for (uint32_t cells = 1; cells < 40; cells += 6) {
            polygon_grid grid;
            double area = 0, sum = 0;
            polygon_grid_make(region, 1, 1, cells, &grid);
            double *shares = calloc(polygon_grid_shares(&grid), sizeof *shares);
            assert_non_null(shares);
            for (uint32_t p = 0; p < shape->part_count; p++) {
                const double(*ring)[3] = shape->positions + shape->part_starts[p];
                const uint64_t count = shape->part_starts[p + 1] - shape->part_starts[p];
                const double own = polygon_ring_area(region, ring, count);
                area += (p == 0 ? 0.5 : -0.5) * fabs(own);
                polygon_grid_add(&grid, ring, count, (own > 0) == (p == 0) ? 1 : -1, shares);
            }
            assert_true(polygon_grid_finish(&grid, shares));
            const double cell = (double)grid.cell[0] * (double)grid.cell[1];
            for (uint32_t row = 0; row < grid.rows; row++) {
                for (uint32_t column = 0; column < grid.columns; column++) {
                    const double share = shares[row * (grid.columns + 1) + column];
                    double inside = 0;
                    sum += share * cell;
                    for (int i = 0; i < 256; i++) {
                        const double x = (column + (i % 16 + 0.5) / 16) * (double)grid.cell[0];
                        const double y = (row + (i / 16 + 0.5) / 16) * (double)grid.cell[1];
                        inside +=
                            region_holds(region, (int64_t)x + region->low[0], (int64_t)y + region->low[1]) / 256.0;
                    }
                    if (fabs(inside - share) > 0.1)
                        fail_msg("%s: cell %u %u: %g %g", texts[t], column, row, share, inside);
                }
            }
            assert_true(fabs(sum - area) < 1e-9 * area);
            free(shares);
        }
        mote_region_destroy(region);
        mote_shapes_destroy(shapes);
        mote_context_destroy(ctx);
    }
}

static void polygons_without_an_area_are_refused(void **state) {
    (void)state;
    static const char *const texts[] = {
        "{\"type\":\"Polygon\",\"coordinates\":[[[0,0,0],[4,4,0],[4,0,0],[0,4,0]]]}",
        "{\"type\":\"MultiPolygon\",\"coordinates\":[[[[0,0,0],[4,0,0],[4,4,0]]],[[[1,0,0],[4,0,0],[4,4,0]]]]}",
    };
    for (size_t t = 0; t < sizeof texts / sizeof *texts; t++) {
        mote_context *ctx = test_context(1);
        mote_cloud *cloud = make_site(ctx, &systems[5], flat, 100, 1);
        mote_shapes *shapes = measure_test_shapes(ctx, texts[t]);
        mote_volume volume;
        assert_int_equal(mote_volume_measure(ctx, cloud, shapes, MOTE_ALL_FEATURES, NULL, &volume), MOTE_ERROR_DATA);
        assert_non_null(strstr(mote_context_message(ctx), "crosses itself"));
        mote_shapes_destroy(shapes);
        mote_cloud_destroy(cloud);
        mote_context_destroy(ctx);
    }
}

static void areas_are_those_of_the_polygon(void **state) {
    (void)state;
    for (size_t s = 0; s < SYSTEMS; s++) {
        const site_system *system = &systems[s];
        mote_context *ctx = test_context(1);
        mote_shapes *shapes = make_square(ctx, system, true);
        const mote_units units = measure_test_units_of(system->set);
        mote_area area;
        assert_int_equal(mote_area_measure(ctx, shapes, MOTE_ALL_FEATURES, &units, &area), MOTE_OK);
        assert_true(fabs(area.area * system->figure * system->figure - INNER * INNER) < 1e-3);
        assert_true(fabs(area.surface / area.area - 1) < 1e-9);
        assert_true(fabs(area.around * system->figure - 4 * INNER) < 1e-3);
        mote_shapes_destroy(shapes);
        mote_context_destroy(ctx);
    }
    mote_context *ctx = test_context(1);
    mote_shapes *tilted =
        measure_test_shapes(ctx, "{\"type\":\"Polygon\",\"coordinates\":[[[0,0,0],[3,0,4],[3,5,4],[0,5,0]]]}");
    const mote_units units = measure_test_units_of((measure_test_units){1, 0, 1});
    mote_area area;
    assert_int_equal(mote_area_measure(ctx, tilted, MOTE_ALL_FEATURES, &units, &area), MOTE_OK);
    assert_true(area.area == 15 && area.surface == 25 && area.around == 20);
    mote_shapes_destroy(tilted);
    mote_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(made_sites_have_their_volumes),
        cmocka_unit_test(bases_are_what_they_are_called),
        cmocka_unit_test(many_corners_get_the_height_of_the_nearest_point),
        cmocka_unit_test(order_and_threads_decide_nothing),
        cmocka_unit_test(ways_to_store_decide_nothing),
        cmocka_unit_test(shares_are_those_of_the_polygons),
        cmocka_unit_test(polygons_without_an_area_are_refused),
        cmocka_unit_test(areas_are_those_of_the_polygon),
        cmocka_unit_test(profiles_have_the_points_beside_their_line),
        cmocka_unit_test(measuring_fails_cleanly),
        cmocka_unit_test(measuring_can_be_cancelled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

int main(void) { return 0; }

#endif
