/* Every entry of the CPU backend against the reference, on every awkward cloud; and the pieces on the host. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "math/hash.h"
#include "planes/footprint/planes_extent.h"
#include "reference/awkward_clouds.h"
#include "reference/knn_reference.h"
#include "reference/planes_reference.h"
#include "support/support.h"

static const int thread_counts[] = {1, 2, 7};

static void passes_are_right(void **state) {
    (void)state;
    static const uint64_t sizes[] = {1, 2, 3, 9, 300, 700};
    uint32_t turn = 0;
    for (uint32_t c = 0; c < awkward_cloud_count; c++) {
        for (uint32_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++, turn++) {
            mote_planes_params params = mote_planes_defaults();
            char what[160];
            params.resolution_deg = 7 + turn % 3;
            params.suppress_deg = 5 + 4 * (turn % 5);
            mote_context *ctx = test_context(thread_counts[turn % 3]);
            mote_cloud *cloud = awkward_cloud_make(ctx, &awkward_clouds[c], sizes[s], 0);
            snprintf(what, sizeof what, "%s, %llu points", awkward_clouds[c].name, (unsigned long long)sizes[s]);
            planes_reference_check(mote_cpu_device(ctx), cloud, &params, what);
            mote_cloud_destroy(cloud);
            mote_context_destroy(ctx);
        }
    }
}

static mote_cloud *with_normals(mote_context *ctx, uint64_t count) {
    static const mote_column_spec specs[6] = {{"x", MOTE_FLOAT64, 0, 0},        {"y", MOTE_FLOAT64, 0, 0},
                                              {"z", MOTE_FLOAT64, 0, 0},        {"normal_x", MOTE_FLOAT32, 0, 0},
                                              {"normal_y", MOTE_FLOAT32, 0, 0}, {"normal_z", MOTE_FLOAT32, 0, 0}};
    mote_cloud *cloud;
    assert_int_equal(mote_cloud_create(ctx, count, specs, 6, &cloud), MOTE_OK);
    for (uint32_t k = 0; k < 6; k++) {
        uint8_t *to = mote_cloud_column_data(cloud, specs[k].name);
        const uint32_t stride = mote_cloud_find(cloud, specs[k].name)->stride_bytes;
        for (uint64_t i = 0; i < count; i++) {
            const double value = (double)(mote_hash_pair(k, i) >> 11) * 0x1p-52 - 1;
            const float narrow = i % 7 == 3 ? 0 : i % 7 == 5 ? NAN : (float)value; /* none; none */
            memcpy(to + i * stride, k < 3 ? (const void *)&value : (const void *)&narrow, k < 3 ? 8 : 4);
        }
    }
    return cloud;
}

static void normals_count(void **state) {
    (void)state;
    for (int turn = 0; turn < 3; turn++) {
        mote_planes_params params = mote_planes_defaults();
        params.resolution_deg = 8;
        params.suppress_deg = 12;
        params.votes = MOTE_PLANES_VOTE_NORMALS;
        params.cone_deg = 15 + 30 * turn;
        mote_context *ctx = test_context(thread_counts[turn]);
        mote_cloud *cloud = with_normals(ctx, 777);
        planes_reference_check(mote_cpu_device(ctx), cloud, &params, "with normals");
        mote_cloud_destroy(cloud);
        mote_context_destroy(ctx);
    }
}

/* More points in one cell than a counter of 16 bits takes; and the slides' own accumulator. */
static void many_votes_are_counted(void **state) {
    (void)state;
    enum { COUNT = 70000 };
    const double tilt = 5 * 3.14159265358979323846 / 180;
    mote_context *ctx = test_context(2);
    mote_cloud *cloud;
    static const mote_column_spec specs[3] = {
        {"x", MOTE_FLOAT32, 0, 0}, {"y", MOTE_FLOAT32, 0, 0}, {"z", MOTE_FLOAT32, 0, 0}};
    assert_int_equal(mote_cloud_create(ctx, COUNT, specs, 3, &cloud), MOTE_OK);
    float *xyz = mote_cloud_column_data(cloud, "x");
    for (uint64_t i = 0; i < COUNT; i++) {
        xyz[3 * i] = (float)(i % 350);
        xyz[3 * i + 1] = (float)(i / 350);
        xyz[3 * i + 2] = (float)(7 - tan(tilt) * (double)(i % 350)); /* at right angles to the first direction */
    }
    mote_planes_params params = mote_planes_defaults();
    mote_planes_peak peaks[3];
    mote_planes_facts facts;
    uint32_t count;
    params.resolution_deg = 10;
    params.bin = 1;
    assert_int_equal(mote_planes_vote(ctx, cloud, &params, 3, peaks, &count, &facts), MOTE_OK);
    assert_int_equal(count, 3);
    assert_int_equal(peaks[0].votes, COUNT); /* all in one bin */
    assert_float_equal(peaks[0].normal[2], cos(tilt), 1e-6);
    assert_float_equal(peaks[0].offset, 7 * cos(tilt), 0.51);
    assert_true(facts.votes == (uint64_t)COUNT * facts.directions);
    params.directions = MOTE_PLANES_GRID;
    params.sample = 10;
    assert_int_equal(mote_planes_vote(ctx, cloud, &params, 3, peaks, &count, &facts), MOTE_OK);
    assert_int_equal(facts.directions, 32400);
    assert_true(facts.votes == 10 * 32400);
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
}

/* ---- directions */

static void directions_cover_the_half_sphere(void **state) {
    (void)state;
    mote_context *ctx = test_context(1);
    for (uint32_t turn = 0; turn < 4; turn++) {
        mote_planes_params params = mote_planes_defaults();
        planes_directions *table;
        params.resolution_deg = 2 + turn;
        assert_int_equal(planes_directions_open(ctx, &params, 100, 3, &table), MOTE_OK);
        assert_int_equal(planes_directions_fill(ctx, table), MOTE_OK);
        const double area = 2 * 3.14159265358979 / pow((2 + turn) * 3.14159265358979 / 180, 2);
        assert_true(table->directions > area && table->directions < 1.05 * area);
        assert_int_equal(table->bins, 2 * 35 + 1);
        for (uint64_t i = 0; i < 2000; i++) { /* every direction has one within 0.75 steps, or its other end */
            double at[3], length = 0, max = 0;
            for (uint64_t k = 0; k < 3; k++) {
                at[k] = (double)(mote_hash_pair(k, i) >> 11) * 0x1p-52 - 1;
                length += at[k] * at[k];
            }
            if (i < 3) at[0] = i == 0, at[1] = i == 1, at[2] = i == 2, length = 1;
            for (uint32_t d = 0; d < table->directions; d++) {
                const double dot =
                    at[0] * (double)table->a[d] + at[1] * (double)table->b[d] + at[2] * (double)table->c[d];
                max = fmax(max, fabs(dot) * 3 / sqrt(length));
            }
            assert_true(acos(fmin(1, max)) * 180 / 3.14159265358979 < 0.75 * params.resolution_deg);
        }
        planes_directions_close(ctx, table);
    }
    mote_context_destroy(ctx);
}

/* ---- fits */

/* n, sums of x y z and of xx xy xz yy yz zz, of differences to a pivot; all that double precision loses is there. */
typedef struct moments {
    double n, first[3], products[PLANES_PRODUCTS];
} moments;

static void moments_add(moments *m, double x, double y, double z) {
    const double at[3] = {x, y, z};
    int to = 0;
    m->n++;
    for (int k = 0; k < 3; k++) {
        m->first[k] += at[k];
        for (int l = k; l < 3; l++) m->products[to++] += at[k] * at[l];
    }
}

/* A plane's mean squared distance by moments. */
static double mean_square(const moments *m, const double normal[3]) {
    double square = 0;
    int from = 0;
    for (int k = 0; k < 3; k++) {
        for (int l = k; l < 3; l++, from++) {
            const double c = m->products[from] / m->n - m->first[k] / m->n * (m->first[l] / m->n);
            square += (k == l ? 1 : 2) * normal[k] * normal[l] * c;
        }
    }
    return square;
}

static void sums_fit_as_differences_do(void **state) {
    (void)state;
    for (uint64_t turn = 0; turn < 50; turn++) {
        planes_plane plane = {0, 0, 1, 0, 10, 10, 0, 0, {{0, 0, 0}, {0, 0, 0}, {0, 0}, {0, 0}, 0}};
        planes_sums sums;
        moments plain;
        const double pivot[3] = {8e6, -8e6, 4e6};
        memset(&sums, 0, sizeof sums);
        memset(&plain, 0, sizeof plain);
        for (uint64_t i = 0; i < 400; i++) {
            const double u = (double)(mote_hash_pair(turn, i) >> 50), v = (double)(mote_hash_pair(turn + 99, i) >> 50);
            const double x = floor(8e6 - u), y = floor(-8e6 + v), z = rint(4e6 + 0.3 * u - 0.1 * v);
            planes_add(&sums, &plane, 0, true, (float)x, (float)y, (float)z);
            moments_add(&plain, x - pivot[0], y - pivot[1], z - pivot[2]);
        }
        const planes_fit fit = planes_fit_sums(&sums);
        assert_true(fit.valid);
        const double expected[3] = {0.3, 0.1, 1}, length = sqrt(1.1);
        double spread = 0;
        for (int k = 0; k < 3; k++) {
            assert_float_equal(fit.normal[k], expected[k] / length, 1e-5);
            assert_float_equal(fit.centroid[k], pivot[k] + plain.first[k] / plain.n, 1e-6);
            const double axis[3] = {k == 0, k == 1, k == 2};
            spread += mean_square(&plain, axis);
        }
        assert_float_equal(fit.rms, sqrt(mean_square(&plain, fit.normal)), 1e-4);
        assert_float_equal(planes_mean_distance(&sums, &fit), fit.rms, 1e-4);
        assert_float_equal(planes_size_of(&sums), sqrt(spread), 1e-4);
        assert_true(fit.rms > 0.2 && fit.rms < 0.35); /* of rounding: 1 / sqrt(12), tilted */
        for (int turned = 0; turned < 8; turned++) {  /* no plane near it is better */
            double other[3], size = 0;
            for (int k = 0; k < 3; k++) {
                other[k] = fit.normal[k] + (turned >> k & 1 ? 1e-4 : -1e-4);
                size += other[k] * other[k];
            }
            assert_true(mean_square(&plain, other) / size > fit.rms * fit.rms);
        }
    }
}

/* They do as by the compiler's own conversion, which on the CPU is right. */
static void wide_numbers_round_to_doubles(void **state) {
    (void)state;
    for (uint64_t i = 0; i < 20000; i++) {
        const int bits = (int)(i % 127);
        planes_wide value = (planes_wide)(mote_hash_pair(1, i) >> 1) << 64 | (planes_wide)mote_hash_pair(2, i);
        value >>= 126 - bits;
        if (i % 3 == 0) value &= -((planes_wide)1 << (bits > 54 ? bits - 54 : 0)); /* halfway */
        if (i % 7 == 0) value++;
        if (i % 2 == 0) value = -value;
        assert_true(planes_wide_to_double(value) == (double)value);
    }
    assert_true(planes_wide_to_double(0) == 0);
}

static void lines_and_places_fit_nothing(void **state) {
    (void)state;
    planes_plane plane = {0, 0, 1, 0, 10, 10, 0, 0, {{0, 0, 0}, {0, 0, 0}, {0, 0}, {0, 0}, 0}};
    planes_sums sums;
    memset(&sums, 0, sizeof sums);
    for (int i = 0; i < 10; i++) {
        planes_add(&sums, &plane, 0, true, 5, 6, 7);
        assert_false(planes_fit_sums(&sums).valid);
    }
    for (int i = 0; i < 10; i++) {
        planes_add(&sums, &plane, 0, true, (float)(5 + i), (float)(6 + 2 * i), (float)(7 - i));
        assert_false(planes_fit_sums(&sums).valid);
    }
    planes_add(&sums, &plane, 0, true, 50, 6, 7);
    assert_true(planes_fit_sums(&sums).valid);
}

/* As the two densities have it; how they are computed loses a little. */
static void weights_are_likelihoods(void **state) {
    (void)state;
    const double deviation = 2000, tolerance = 6000;
    planes_fit fit;
    memset(&fit, 0, sizeof fit);
    fit.normal[2] = 1;
    const planes_mixture m = planes_mixture_of(&fit, deviation, tolerance);
    for (uint32_t i = 0; i < 4000; i++) {
        const uint32_t points = 1 + i % 40;
        const double strays = pow(10, (double)(i % 61) / 15 - 3), distance = tolerance * (double)(i % 201) / 100 - 6000;
        const double odds = fmax(points - 1.0 - strays, 0.02) / strays, z = distance / deviation;
        const double of_plane = odds * exp(-z * z / 2) / (deviation * sqrt(2 * 3.14159265358979));
        const double weight = planes_weight(&m, (float)distance, planes_odds(points, (float)strays));
        assert_float_equal(weight / PLANES_WEIGHT_ONE, of_plane / (of_plane + 1 / (2 * tolerance)), 0.05);
    }
    for (uint32_t odds = 1; odds < 256; odds++) {
        assert_true(planes_odds_value((uint8_t)odds) > planes_odds_value((uint8_t)(odds - 1)));
        assert_true(planes_weight(&m, 100, (uint8_t)odds) >= planes_weight(&m, 100, (uint8_t)(odds - 1)));
    }
    assert_int_equal(planes_weight(&m, 0, planes_odds(2, 0)), PLANES_WEIGHT_ONE); /* there are no strays */
    assert_int_equal(planes_weight(&m, 1e12f, planes_odds(2, 0)), 0);
}

/* ---- hulls */

static bool is_left(const planes_corner *a, const planes_corner *b, const planes_corner *c) {
    return ((int64_t)b->u - a->u) * ((int64_t)c->v - a->v) - ((int64_t)b->v - a->v) * ((int64_t)c->u - a->u) >= 0;
}

static void hulls_are_convex_and_hold_all(void **state) {
    (void)state;
    for (uint64_t turn = 0; turn < 400; turn++) {
        enum { MOST = 60 };
        planes_corner corners[MOST], all[MOST];
        const uint32_t count = (uint32_t)(turn % MOST);
        const uint64_t size = turn % 4 == 0 ? 3 : turn % 4 == 1 ? 20 : 1 << 24; /* few places: ties and lines */
        for (uint32_t i = 0; i < count; i++) {
            corners[i] = (planes_corner){0, (int32_t)(mote_hash_pair(turn, i) % size) - (int32_t)(size / 2),
                                         (int32_t)(mote_hash_pair(turn + 1000, i) % size) - (int32_t)(size / 2)};
            if (turn % 8 == 5) corners[i].v = 2 * corners[i].u;
        }
        memcpy(all, corners, sizeof all);
        const uint32_t hull = planes_hull_of(corners, count);
        assert_true(hull <= count && (count == 0 || hull > 0));
        double rectangle[4][2], low = INFINITY;
        for (uint32_t h = 0; h < hull; h++) {
            const planes_corner *a = &corners[h], *b = &corners[(h + 1) % hull], *c = &corners[(h + 2) % hull];
            if (hull > 2) assert_true(is_left(a, b, c) && !is_left(a, c, b));
            for (uint32_t i = 0; i < count; i++) assert_true(is_left(a, b, &all[i]));
        }
        planes_hull_rectangle(corners, hull, rectangle);
        for (uint32_t i = 0; i < count && hull > 2; i++) {
            for (int k = 0; k < 4; k++) {
                const double *a = rectangle[k], *b = rectangle[(k + 1) % 4];
                const double inside = (b[0] - a[0]) * (all[i].v - a[1]) - (b[1] - a[1]) * (all[i].u - a[0]);
                low = fmin(low, inside / (hypot(b[0] - a[0], b[1] - a[1]) + 1));
            }
        }
        if (hull > 2) assert_true(low > -1e-3);
    }
}

static void areas_are_known(void **state) {
    (void)state;
    planes_corner corners[] = {{0, 0, 0},   {0, 30, 40}, {0, 10, 40}, {0, 40, 30},
                               {0, 70, 10}, {0, 35, 15}, {0, 40, -30}};
    double rectangle[4][2];
    planes_corner square[] = {{0, 0, 0}, {0, 300, 400}, {0, -400, 300}, {0, -100, 700}, {0, -50, 350}};
    const uint32_t count = planes_hull_of(square, 5);
    assert_int_equal(count, 4);
    assert_float_equal(planes_hull_area(square, 4), 250000, 1e-6);
    planes_hull_rectangle(square, 4, rectangle);
    const double side = hypot(rectangle[1][0] - rectangle[0][0], rectangle[1][1] - rectangle[0][1]);
    assert_float_equal(side, 500, 1e-6);
    assert_int_equal(planes_hull_of(corners, 7), 5);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(passes_are_right),
        cmocka_unit_test(normals_count),
        cmocka_unit_test(many_votes_are_counted),
        cmocka_unit_test(directions_cover_the_half_sphere),
        cmocka_unit_test(sums_fit_as_differences_do),
        cmocka_unit_test(wide_numbers_round_to_doubles),
        cmocka_unit_test(lines_and_places_fit_nothing),
        cmocka_unit_test(weights_are_likelihoods),
        cmocka_unit_test(hulls_are_convex_and_hold_all),
        cmocka_unit_test(areas_are_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
