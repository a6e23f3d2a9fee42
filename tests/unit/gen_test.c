/* Synthetic clouds: the formulas, the published bytes, the city's records. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/cloud.h"
#include "support/support.h"

static uint64_t hash_of(const char *kind, uint64_t count, int threads) {
    mote_context *ctx = test_context(threads);
    mote_cloud *cloud = NULL;
    uint64_t hash = 0;
    assert_int_equal(mote_generate(ctx, kind, count, NULL, &cloud), MOTE_OK);
    assert_int_equal(mote_cloud_count(cloud), count);
    assert_int_equal(mote_cloud_hash(ctx, cloud, &hash), MOTE_OK);
    mote_cloud_destroy(cloud);
    assert_int_equal(mote_context_memory_bytes(ctx), 0);
    mote_context_destroy(ctx);
    return hash;
}

/* The checksums belong to files whose sha256 begins as the published tables say. */
static void gives_the_published_clouds(void **state) {
    (void)state;
    static const struct golden {
        const char *kind;
        uint64_t count, hash;
    } goldens[] = {
        {"uniform", 1000000, 0xe2eb6f9ecc559139},  /* e168a074 */
        {"torus", 1000000, 0xe1f17152aca3f3f8},    /* c6207c7d */
        {"clusters", 1000000, 0x1f035dd9bc99211f}, /* a9e03fce */
        {"torus", 424000, 0x9a5f802e84b5631b},     /* d5cbee17 */
        {"room", 100000, 0x6ef0ba09e7f38109},      /* 95d39669 */
        {"room", 1000000, 0x1f410901ea6d8eee},     /* 993d42df */
        {"lattice", 1000000, 0x62bc6ac821487c51},
        {"city", 300000, 0x493e5727feb5d4f8}, /* the same from gcc and clang, with and without AVX */
    };
    for (size_t i = 0; i < sizeof goldens / sizeof goldens[0]; i++) {
        const uint64_t hash = hash_of(goldens[i].kind, goldens[i].count, 2);
        if (hash != goldens[i].hash) print_message("%s: %016llx\n", goldens[i].kind, (unsigned long long)hash);
        assert_true(hash == goldens[i].hash);
    }
}

/* ---- an independent reading of the formulas: one stream, one point after the other */

static uint64_t naive_state;
static uint64_t naive_draw(void) {
    naive_state += 0x9E3779B97F4A7C15u;
    uint64_t z = naive_state;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
}
static double naive_unit(void) { return ldexp((double)(naive_draw() >> 11), -53); }
static double naive_gauss(void) {
    double sum = 0;
    for (int i = 0; i < 12; i++) sum += naive_unit();
    return sum - 6;
}
static void naive_circle(double *cosine, double *sine) {
    for (;;) {
        const double u = 2 * naive_unit() - 1;
        const double v = 2 * naive_unit() - 1;
        const double square = u * u + v * v;
        if (square > 1 || square < 1e-12) continue;
        *cosine = u / sqrt(square);
        *sine = v / sqrt(square);
        return;
    }
}

static void naive_torus(float *xyz) {
    double ca, sa, ct, st;
    naive_circle(&ca, &sa);
    for (;;) {
        naive_circle(&ct, &st);
        if (naive_unit() * (1.0 + 0.35) <= 1.0 + 0.35 * ct) break;
    }
    const double tube = 0.35 + 0.0005 * naive_gauss();
    xyz[0] = (float)((1.0 + tube * ct) * ca);
    xyz[1] = (float)((1.0 + tube * ct) * sa);
    xyz[2] = (float)(tube * st);
}

static void naive_clusters(double centers[50][3], float *xyz) {
    const double u = naive_unit();
    const int drawn = (int)(50 * u * u), c = drawn > 49 ? 49 : drawn;
    for (int k = 0; k < 3; k++) xyz[k] = (float)(centers[c][k] + ldexp(0.1, -(c % 11)) * naive_gauss());
}

static void follows_the_formulas(void **state) {
    (void)state;
    static const char *const kinds[] = {"uniform", "torus", "clusters", "lattice"};
    const uint64_t count = 5000; /* more than a mark's and a piece's points */
    for (int kind = 0; kind < 4; kind++) {
        mote_context *ctx = test_context(3);
        mote_gen_params params = mote_gen_defaults(kinds[kind]);
        params.seed = 77;
        mote_cloud *cloud = NULL;
        assert_int_equal(mote_generate(ctx, kinds[kind], count, &params, &cloud), MOTE_OK);
        const float *points = mote_cloud_find(cloud, "x")->data;
        naive_state = 77;
        double centers[50][3];
        for (int i = 0; i < 150 && kind == 2; i++) centers[i / 3][i % 3] = naive_unit();
        for (uint64_t i = 0; i < count; i++) {
            float xyz[3] = {(float)(i % 18), (float)(i / 18 % 18), (float)(i / 324)};
            for (int k = 0; k < 3 && kind == 0; k++) xyz[k] = (float)naive_unit();
            if (kind == 1) naive_torus(xyz);
            if (kind == 2) naive_clusters(centers, xyz);
            assert_memory_equal(xyz, points + 3 * i, sizeof xyz);
        }
        mote_cloud_destroy(cloud);
        mote_context_destroy(ctx);
    }
}

static void room_keeps_its_planes(void **state) {
    (void)state;
    mote_context *ctx = test_context(2);
    mote_gen_params params = mote_gen_defaults("room");
    params.noise_m = 0;
    params.outlier_ratio = 0.25;
    mote_cloud *cloud = NULL;
    assert_int_equal(mote_generate(ctx, "room", 20000, &params, &cloud), MOTE_OK);
    const mote_column *x = mote_cloud_find(cloud, "x"), *y = mote_cloud_find(cloud, "y"),
                      *z = mote_cloud_find(cloud, "z");
    const mote_column *plane = mote_cloud_find(cloud, "plane");
    uint64_t outliers = 0, changes = 0;
    for (uint64_t i = 0; i < 20000; i++) {
        const double label = mote_column_value(plane, i);
        const double px = mote_column_value(x, i), py = mote_column_value(y, i), pz = mote_column_value(z, i);
        outliers += label < 0 ? 1 : 0;
        changes += i > 0 && label != mote_column_value(plane, i - 1) ? 1 : 0;
        if (label == 0) assert_float_equal(pz, 0, 0);
        if (label == 1) assert_float_equal(pz, 3, 0);
        if (label == 3) assert_float_equal(px, 10, 0);
        if (label == 5) assert_float_equal(py, 8, 0);
        if (label == 6) assert_float_equal(pz, 2.625 + 0.75 * (py + 0.5), 1e-5);
    }
    assert_int_equal(outliers, 5000);
    assert_true(changes > 10000); /* shuffled */
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
}

/* Every point is on a wall or a sphere, with its normal, and the walls have more near the light. */
static void box_has_photons_on_its_surfaces(void **state) {
    (void)state;
    static const double spheres[2][4] = {{0.29, 0.66, 0.2, 0.2}, {0.7, 0.33, 0.17, 0.17}};
    mote_context *ctx = test_context(2);
    mote_cloud *cloud = NULL;
    uint64_t on_walls[6] = {0}, on_spheres[2] = {0}, bright = 0, dark = 0;
    assert_int_equal(mote_generate(ctx, "box", 50000, NULL, &cloud), MOTE_OK);
    for (uint64_t i = 0; i < 50000; i++) {
        static const char *const names[6] = {"x", "y", "z", "normal_x", "normal_y", "normal_z"};
        double p[6];
        int surfaces = 0;
        for (int k = 0; k < 6; k++) p[k] = mote_column_value(mote_cloud_find(cloud, names[k]), i);
        for (int k = 0; k < 3; k++) {
            assert_true(p[k] >= 0 && p[k] <= 1);
            const int wall = p[3 + k] == 1 && p[k] == 0 ? 2 * k : p[3 + k] == -1 && p[k] == 1 ? 2 * k + 1 : -1;
            if (wall < 0) continue;
            on_walls[wall]++;
            surfaces++;
        }
        for (int s = 0; s < 2; s++) {
            double away = 0;
            for (int k = 0; k < 3; k++) {
                const double d = p[k] - spheres[s][k] - spheres[s][3] * p[3 + k];
                away += d * d;
            }
            if (away > 1e-12) continue;
            on_spheres[s]++;
            surfaces++;
        }
        assert_int_equal(surfaces, 1);
        bright += p[5] == 0 && fabs(p[2] - 0.75) < 0.1;
        dark += p[5] == 0 && p[2] < 0.2;
    }
    for (int wall = 0; wall < 6; wall++) assert_true(on_walls[wall] > 1000);
    assert_true(on_spheres[0] > 1000 && on_spheres[1] > 1000);
    assert_true(bright > dark + dark / 2 && dark > 1000);
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
}

static void threads_do_not_matter(void **state) {
    (void)state;
    static const char *const kinds[] = {"uniform", "torus", "clusters", "lattice", "room", "box", "city"};
    static const uint64_t counts[] = {0, 1, 2, 7, 4097, 60000};
    for (int kind = 0; kind < 7; kind++) {
        for (int c = 0; c < 6; c++) {
            const uint64_t one = hash_of(kinds[kind], counts[c], 1);
            assert_true(one == hash_of(kinds[kind], counts[c], 2));
            assert_true(one == hash_of(kinds[kind], counts[c], 7));
        }
    }
}

static void refuses_bad_parameters(void **state) {
    (void)state;
    mote_context *ctx = test_context(1);
    mote_cloud *cloud = NULL;
    mote_gen_params params = mote_gen_defaults("room");
    assert_int_equal(params.seed, 20240117);
    assert_int_equal(mote_generate(ctx, "moon", 10, NULL, &cloud), MOTE_ERROR_ARGUMENT);
    assert_non_null(strstr(mote_context_message(ctx), "moon"));
    assert_int_equal(mote_generate(ctx, NULL, 10, NULL, &cloud), MOTE_ERROR_ARGUMENT);
    params.outlier_ratio = 1.5;
    assert_int_equal(mote_generate(ctx, "room", 10, &params, &cloud), MOTE_ERROR_ARGUMENT);
    params.outlier_ratio = 1, params.noise_m = NAN;
    assert_int_equal(mote_generate(ctx, "room", 10, &params, &cloud), MOTE_ERROR_ARGUMENT);
    static const char *const kinds[] = {"uniform", "room", "city"};
    for (int i = 0; i < 3; i++) {
        assert_int_equal(mote_generate(ctx, kinds[i], UINT64_MAX / 2, NULL, &cloud), MOTE_ERROR_MEMORY);
        assert_null(cloud);
    }
    mote_context_destroy(ctx);
}

/* ---- city */

static double at(const mote_cloud *cloud, const char *name, uint64_t i) {
    return mote_column_value(mote_cloud_find(cloud, name), i);
}

/* Echoes of a pulse stand together, numbered, from high to low; time only moves on. */
static void check_pulses(const mote_cloud *cloud, uint64_t count) {
    uint64_t several = 0;
    for (uint64_t i = 0; i < count;) {
        const int echoes = (int)at(cloud, "number_of_returns", i);
        assert_in_range(echoes, 1, 5);
        for (int k = 0; k < echoes; k++) {
            assert_int_equal((int)at(cloud, "return_number", i + (uint64_t)k), k + 1);
            assert_int_equal((int)at(cloud, "number_of_returns", i + (uint64_t)k), echoes);
            assert_true(at(cloud, "gps_time", i + (uint64_t)k) == at(cloud, "gps_time", i));
            if (k > 0) assert_true(at(cloud, "z", i + (uint64_t)k) < at(cloud, "z", i + (uint64_t)k - 1) + 0.7);
        }
        if (i > 0) assert_true(at(cloud, "gps_time", i) > at(cloud, "gps_time", i - 1));
        several += echoes > 1 ? 1 : 0;
        i += (uint64_t)echoes;
        assert_true(i <= count);
    }
    assert_true(several > count / 100);
}

static void city_is_a_scan(void **state) {
    (void)state;
    const uint64_t count = 1500000;
    mote_context *ctx = test_context(2);
    mote_cloud *cloud = NULL;
    assert_int_equal(mote_generate(ctx, "city", count, NULL, &cloud), MOTE_OK);
    assert_string_equal(mote_cloud_crs(cloud), "EPSG:32633");
    mote_box box;
    assert_int_equal(mote_cloud_bounds(ctx, cloud, &box, NULL), MOTE_OK);
    const double area = (box.max[0] - box.min[0]) * (box.max[1] - box.min[1]);
    assert_true((double)count / area > 9 && (double)count / area < 11);
    assert_true(box.min[0] > 499000 && box.max[1] < 5401000 && box.min[2] > 150 && box.max[2] < 320);
    assert_float_equal(mote_cloud_find(cloud, "x")->scale, 0.001, 0);
    assert_float_equal(mote_cloud_find(cloud, "scan_angle")->scale, 0.006, 0);
    check_pulses(cloud, count);
    uint64_t classes[256] = {0}, lines[8] = {0};
    for (uint64_t i = 0; i < count; i++) {
        classes[(int)at(cloud, "classification", i)]++;
        lines[(int)at(cloud, "point_source_id", i) & 7]++;
        const double angle = at(cloud, "scan_angle", i);
        assert_true(angle > -21 && angle < 21);
        if (i > 0) assert_true(at(cloud, "point_source_id", i) >= at(cloud, "point_source_id", i - 1));
    }
    assert_true(lines[1] > count / 3 && lines[2] > count / 3 && lines[0] == 0 && lines[3] == 0);
    static const int expected[] = {1, 2, 3, 5, 6};
    for (int i = 0; i < 5; i++) assert_true(classes[expected[i]] > count / 300);
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
}

/* Neighbouring records are neighbours on the ground, but for the turns between flight lines. */
static void city_is_in_flight_order(void **state) {
    (void)state;
    mote_context *ctx = test_context(2);
    mote_cloud *cloud = NULL;
    const uint64_t count = 200000;
    assert_int_equal(mote_generate(ctx, "city", count, NULL, &cloud), MOTE_OK);
    uint64_t jumps = 0;
    for (uint64_t i = 1; i < count; i++) {
        const double dx = at(cloud, "x", i) - at(cloud, "x", i - 1), dy = at(cloud, "y", i) - at(cloud, "y", i - 1);
        jumps += dx * dx + dy * dy > 25 * 25 ? 1 : 0;
    }
    assert_true(jumps < 20);
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
}

static void seeds_matter(void **state) {
    (void)state;
    mote_context *ctx = test_context(2);
    uint64_t hashes[2];
    for (int i = 0; i < 2; i++) {
        mote_gen_params params = mote_gen_defaults("city");
        params.seed = (uint64_t)i;
        mote_cloud *cloud = NULL;
        assert_int_equal(mote_generate(ctx, "city", 5000, &params, &cloud), MOTE_OK);
        assert_int_equal(mote_cloud_hash(ctx, cloud, &hashes[i]), MOTE_OK);
        mote_cloud_destroy(cloud);
    }
    assert_true(hashes[0] != hashes[1]);
    mote_context_destroy(ctx);
}

/* ---- failures */

typedef struct generated {
    const char *kind;
    uint64_t count;
} generated;

static mote_status generate(mote_context *ctx, void *user) {
    const generated *const wanted = user;
    mote_cloud *cloud = NULL;
    const mote_status status = mote_generate(ctx, wanted->kind, wanted->count, NULL, &cloud);
    assert_true((cloud != NULL) == (status == MOTE_OK));
    mote_cloud_destroy(cloud);
    return status;
}

static const char *const all_kinds[] = {"uniform", "torus", "clusters", "lattice", "room", "box", "city"};

static void survives_failing_allocations(void **state) {
    (void)state;
    for (int kind = 0; kind < 7; kind++) {
        generated wanted = {all_kinds[kind], 300};
        test_each_allocation_fails(generate, &wanted);
    }
}

static void can_be_cancelled(void **state) {
    (void)state;
    for (int kind = 0; kind < 7; kind++) {
        generated wanted = {all_kinds[kind], 100000};
        test_each_step_cancels(generate, &wanted);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(gives_the_published_clouds),
                                       cmocka_unit_test(follows_the_formulas),
                                       cmocka_unit_test(room_keeps_its_planes),
                                       cmocka_unit_test(box_has_photons_on_its_surfaces),
                                       cmocka_unit_test(threads_do_not_matter),
                                       cmocka_unit_test(refuses_bad_parameters),
                                       cmocka_unit_test(city_is_a_scan),
                                       cmocka_unit_test(city_is_in_flight_order),
                                       cmocka_unit_test(seeds_matter),
                                       cmocka_unit_test(survives_failing_allocations),
                                       cmocka_unit_test(can_be_cancelled)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
