/* Nearest neighbours against the reference: every awkward cloud, every kind of query, every k that takes another
   way. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "reference/awkward_clouds.h"
#include "reference/knn_reference.h"
#include "reference/shaped_clouds.h"
#include "support/random.h"
#include "support/support.h"

static const int thread_counts[] = {1, 2, 7};

static mote_knn_params params_of(uint32_t k, double radius, bool exclude_self) {
    mote_knn_params p = mote_knn_defaults();
    p.k = k;
    p.radius = radius;
    p.exclude_self = exclude_self;
    return p;
}

static void finds_what_the_reference_finds(void **state) {
    (void)state;
    static const uint32_t ks[] = {1, 2, 3, 7, 8, 10, 11, 12, 13, 16, 31, 40, 64};
    static const uint64_t sizes[] = {0, 1, 2, 7, 8, 9, 15, 16, 17, 33, 63, 64, 65, 257, 600};
    const uint32_t step = (uint32_t)test_extent(4, 1);
    uint32_t turn = 0;
    for (uint32_t c = 0; c < awkward_cloud_count; c++) {
        for (uint32_t s = c % step; s < sizeof sizes / sizeof sizes[0]; s += step) {
            mote_context *ctx = test_context(thread_counts[turn % 3]);
            mote_cloud *cloud = awkward_cloud_make(ctx, &awkward_clouds[c], sizes[s], 0);
            for (uint32_t i = turn % 3; i < sizeof ks / sizeof ks[0]; i += 3) {
                const mote_knn_params p = params_of(ks[i], 0, (turn + i) % 2 == 0);
                knn_reference_check(ctx, cloud, NULL, &p, awkward_clouds[c].name);
            }
            turn++;
            mote_cloud_destroy(cloud);
            mote_context_destroy(ctx);
        }
    }
}

/* Strays, density of many decades, many at one distance: of the points themselves, of others, and within a radius. */
static void bears_any_shape(void **state) {
    (void)state;
    static const uint32_t ks[] = {1, 10, 32, 100};
    for (uint32_t f = 0; f < 2 * shaped_cloud_count; f++) {
        const shaped_cloud *family = &shaped_clouds[f / 2];
        const mote_type type = f % 2 == 0 ? MOTE_FLOAT64 : MOTE_FLOAT32;
        mote_context *ctx = test_context(thread_counts[f % 3]);
        mote_cloud *cloud = shaped_cloud_make(ctx, family, type, test_extent(500, 1500), 1);
        mote_cloud *queries = shaped_cloud_make(ctx, family, type, 60, 2);
        for (uint32_t i = f % 2; i < sizeof ks / sizeof ks[0]; i += 2) {
            const mote_knn_params p = params_of(ks[i], 0, i == 2);
            knn_reference_check(ctx, cloud, i == 2 ? NULL : queries, &p, family->name);
        }
        knn_reference_check_within(ctx, cloud, queries, 1, false, family->name);
        mote_cloud_destroy(queries);
        mote_cloud_destroy(cloud);
        mote_context_destroy(ctx);
    }
}

/* As many points of each size between two powers of 1/2, in an order that does not tell it. */
static mote_cloud *cloud_of_binades(mote_context *ctx, uint64_t n, int first, int last, uint64_t seed) {
    double *const stored = malloc(3 * n * sizeof *stored);
    assert_non_null(stored);
    for (uint64_t i = 0; i < n; i++) {
        const double size = ldexp(1, -first - (int)(i * (uint64_t)(last - first) / n));
        const uint64_t at = i * 7919 % n;
        for (uint64_t k = 0; k < 3; k++) stored[3 * at + k] = size * (2 * test_random(seed + k, i) - 1);
    }
    mote_cloud *cloud = knn_reference_cloud(ctx, MOTE_FLOAT64, 1, 0, stored, n);
    free(stored);
    return cloud;
}

/* Points at whose distances squares vanish or nearly do, more than one chunk of a walk holds: of them the least indices
   count. */
static void bears_hundreds_of_binades(void **state) {
    (void)state;
    mote_context *ctx = test_context(2);
    mote_cloud *cloud = cloud_of_binades(ctx, test_extent(1500, 30000), 0, 900, 1);
    mote_cloud *queries = cloud_of_binades(ctx, test_extent(200, 1500), 525, 550, 11);
    for (uint32_t k = 1; k <= 100; k *= 10) {
        const mote_knn_params p = params_of(k, 0, false);
        knn_reference_check(ctx, cloud, queries, &p, "900 binades");
    }
    mote_cloud_destroy(queries);
    mote_cloud_destroy(cloud);
    cloud = cloud_of_binades(ctx, test_extent(1500, 14000), 470, 570, 3);
    const mote_knn_params others = params_of(10, 0, true);
    knn_reference_check(ctx, cloud, NULL, &others, "100 binades");
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
}

static void finds_thousands(void **state) {
    (void)state;
    static const char *const names[] = {"uniform float", "heap of duplicates", "one place",      "ticks",
                                        "far clusters",  "shells of integers", "some not finite"};
    for (uint32_t c = 0; c < sizeof names / sizeof names[0]; c++) {
        mote_context *ctx = test_context(2);
        mote_cloud *cloud = awkward_cloud_make(ctx, awkward_cloud_named(names[c]), test_extent(700, 1500), 0);
        for (uint32_t k = 200; k <= 1000; k += 400) {
            const mote_knn_params p = params_of(k, 0, k == 600);
            knn_reference_check(ctx, cloud, NULL, &p, names[c]);
        }
        mote_cloud_destroy(cloud);
        mote_context_destroy(ctx);
    }
}

/* Nine points here and fifteen thousand there; and a heap of copies so high that most of it is never looked at. */
static void bridges_density(void **state) {
    (void)state;
    enum { COUNT = 2500 };
    double stored[3 * COUNT];
    for (uint64_t i = 0; i < COUNT; i++) {
        for (uint64_t k = 0; k < 3; k++) {
            const double unit = test_random(k, i);
            stored[3 * i + k] = i < 9 ? 1e-3 * unit : i < 1500 ? 1000 + unit : 1000.25;
        }
    }
    for (int t = 0; t < 3; t++) {
        mote_context *ctx = test_context(thread_counts[t]);
        mote_cloud *cloud = knn_reference_cloud(ctx, t == 1 ? MOTE_FLOAT64 : MOTE_FLOAT32, 1, 0, stored, COUNT);
        for (uint32_t k = 8; k <= 24; k += 4) {
            const mote_knn_params p = params_of(k, 0, k % 8 == 0);
            knn_reference_check(ctx, cloud, NULL, &p, "nine and many");
        }
        mote_cloud_destroy(cloud);
        mote_context_destroy(ctx);
    }
}

static void keeps_within_a_radius(void **state) {
    (void)state;
    static const double parts[] = {1e-9, 0.03, 0.125, 0.4, 3};
    const uint32_t step = (uint32_t)test_extent(3, 1);
    for (uint32_t c = 0; c < awkward_cloud_count; c++) {
        mote_context *ctx = test_context(thread_counts[c % 3]);
        mote_cloud *cloud = awkward_cloud_make(ctx, &awkward_clouds[c], 300, 0);
        for (uint32_t i = c % step; i < sizeof parts / sizeof parts[0]; i += step) {
            const double radius = parts[i] * awkward_cloud_size(&awkward_clouds[c]);
            const mote_knn_params p = params_of(i % 2 == 0 ? 9 : 30, radius, i % 3 == 0);
            knn_reference_check(ctx, cloud, NULL, &p, awkward_clouds[c].name);
            knn_reference_check_within(ctx, cloud, NULL, radius, i % 3 == 0, awkward_clouds[c].name);
        }
        knn_reference_check_within(ctx, cloud, NULL, 0, false, awkward_clouds[c].name);
        mote_cloud_destroy(cloud);
        mote_context_destroy(ctx);
    }
}

/* Points of every cloud are asked for in every other: other types, other scales, far away or not finite. */
static void answers_other_queries(void **state) {
    (void)state;
    const uint32_t step = (uint32_t)test_extent(5, 1);
    for (uint32_t c = 0; c < awkward_cloud_count; c++) {
        mote_context *ctx = test_context(thread_counts[c % 3]);
        mote_cloud *cloud = awkward_cloud_make(ctx, &awkward_clouds[c], 260, 0);
        for (uint32_t o = c % step; o < awkward_cloud_count; o += step) {
            mote_cloud *queries = awkward_cloud_make(ctx, &awkward_clouds[o], (c + o) % 41, 3);
            const mote_knn_params p = params_of(1 + (c + 7 * o) % 20, 0, false);
            knn_reference_check(ctx, cloud, queries, &p, awkward_clouds[c].name);
            mote_cloud_destroy(queries);
        }
        mote_cloud *alike = awkward_cloud_make(ctx, &awkward_clouds[c], 100, 5);
        knn_reference_check_within(ctx, cloud, alike, 0.2 * awkward_cloud_size(&awkward_clouds[c]), false, "alike");
        mote_cloud_destroy(alike);
        mote_cloud_destroy(cloud);
        mote_context_destroy(ctx);
    }
}

static void answers_queries_from_afar(void **state) {
    (void)state;
    for (uint32_t c = 0; c < KNN_FAR_CASES; c++) {
        mote_context *ctx = test_context(2);
        knn_far far = knn_far_make(ctx, c);
        for (uint32_t k = 1; k <= 101; k += 20) {
            const mote_knn_params p = params_of(k, 0, false);
            knn_reference_check(ctx, far.points, far.queries, &p, "far");
            knn_reference_check(ctx, far.points, far.others, &p, "far, of another scale");
            if (c + 1 < KNN_FAR_CASES) knn_reference_check(ctx, far.queries, NULL, &p, "far apart");
        }
        knn_far_free(&far);
        mote_context_destroy(ctx);
    }
}

static void brute_force_is_the_same(void **state) {
    (void)state;
    for (uint32_t c = 0; c < awkward_cloud_count; c++) {
        mote_context *ctx = test_context(thread_counts[c % 3]);
        mote_cloud *cloud = awkward_cloud_make(ctx, &awkward_clouds[c], 150, 0);
        mote_knn_params p = params_of(1 + c, c % 4 == 0 ? 0.3 * awkward_cloud_size(&awkward_clouds[c]) : 0, c % 2 == 0);
        p.method = MOTE_KNN_BRUTE;
        knn_reference_check(ctx, cloud, NULL, &p, awkward_clouds[c].name);
        mote_cloud_destroy(cloud);
        mote_context_destroy(ctx);
    }
}

/* Absurd magnitudes, to the ends of the range: squares that vanish or overflow in floats. */
static void bears_any_magnitude(void **state) {
    (void)state;
    static const double magnitudes[] = {4e-145, 1e-100, 1e-40, 1e-22, 1e-12, 1e18, 1e37, 1e100, 1e140, 3e144};
    for (uint32_t m = 0; m < sizeof magnitudes / sizeof magnitudes[0]; m++) {
        for (int narrow = 0; narrow < 2; narrow++) {
            mote_context *ctx = test_context(1);
            double stored[600];
            char name[64];
            snprintf(name, sizeof name, "%g as %s", magnitudes[m], narrow ? "float" : "double");
            for (uint64_t i = 0; i < 600; i++) {
                stored[i] = magnitudes[m] * test_random(0, i);
                if (i % 5 == 0) stored[i] *= 1e-9;
            }
            mote_cloud *cloud = knn_reference_cloud(ctx, narrow ? MOTE_FLOAT32 : MOTE_FLOAT64, 1, 0, stored, 200);
            for (uint32_t k = 4; k <= 40; k *= 3) {
                const mote_knn_params p = params_of(k, 0, k == 4);
                knn_reference_check(ctx, cloud, NULL, &p, name);
            }
            mote_cloud_destroy(cloud);
            mote_context_destroy(ctx);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_what_the_reference_finds),
        cmocka_unit_test(bears_any_shape),
        cmocka_unit_test(bears_hundreds_of_binades),
        cmocka_unit_test(finds_thousands),
        cmocka_unit_test(bridges_density),
        cmocka_unit_test(keeps_within_a_radius),
        cmocka_unit_test(answers_other_queries),
        cmocka_unit_test(answers_queries_from_afar),
        cmocka_unit_test(brute_force_is_the_same),
        cmocka_unit_test(bears_any_magnitude),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
