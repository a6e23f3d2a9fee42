/* Normals and outliers where the answer is known, and when things go wrong: planes, spheres, lattices; offsets, order
   and threads that must not matter; memory runs out, the caller cancels, parameters are absurd. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reference/awkward_clouds.h"
#include "reference/knn_reference.h"
#include "support/support.h"

#define PI 3.14159265358979323846

static void *room(uint64_t count, size_t size) {
    void *memory = calloc(count + 1, size);
    assert_non_null(memory);
    return memory;
}

typedef struct answer {
    mote_normals_result result;
    float *normal[3], *curvature, *density[2];
    uint64_t points;
} answer;

static answer estimate(mote_context *ctx, const mote_cloud *cloud, const mote_normals_params *p) {
    const uint64_t n = mote_cloud_count(cloud);
    answer a;
    memset(&a, 0, sizeof a);
    a.points = n;
    for (int k = 0; k < 3; k++) a.normal[k] = room(n, sizeof(float));
    for (int k = 0; k < 2; k++) a.density[k] = room(n, sizeof(float));
    a.curvature = room(n, sizeof(float));
    a.result.normal_x = a.normal[0], a.result.normal_y = a.normal[1], a.result.normal_z = a.normal[2];
    a.result.curvature = a.curvature;
    a.result.surface_density = a.density[0], a.result.volume_density = a.density[1];
    assert_int_equal(mote_normals(ctx, cloud, p, &a.result), MOTE_OK);
    return a;
}

static void answer_free(answer *a) {
    for (int k = 0; k < 3; k++) free(a->normal[k]);
    for (int k = 0; k < 2; k++) free(a->density[k]);
    free(a->curvature);
}

static void assert_same(const answer *a, const answer *b) {
    assert_int_equal(a->points, b->points);
    for (int k = 0; k < 3; k++) assert_memory_equal(a->normal[k], b->normal[k], a->points * sizeof(float));
    for (int k = 0; k < 2; k++) assert_memory_equal(a->density[k], b->density[k], a->points * sizeof(float));
    assert_memory_equal(a->curvature, b->curvature, a->points * sizeof(float));
    assert_int_equal(a->result.without, b->result.without);
    assert_int_equal(a->result.parts, b->result.parts);
}

/* ---- shapes */

/* The angle between lines, exact also where it is small. */
static double angle_of(const answer *a, uint64_t i, const double direction[3]) {
    double cross = 0, dot = 0;
    for (uint64_t k = 0; k < 3; k++) {
        const uint64_t p = (k + 1) % 3, q = (k + 2) % 3;
        const double c = (double)a->normal[p][i] * direction[q] - (double)a->normal[q][i] * direction[p];
        cross += c * c;
        dot += (double)a->normal[k][i] * direction[k];
    }
    return atan2(sqrt(cross), fabs(dot));
}

static void random_frame(uint64_t seed, double axes[3][3]) {
    const double z = 2 * test_random(1, seed) - 1, turn = 2 * PI * test_random(2, seed), r = sqrt(1 - z * z);
    const double n[3] = {seed < 3 ? seed == 0 : r * cos(turn), seed < 3 ? seed == 1 : r * sin(turn),
                         seed < 3 ? seed == 2 : z};
    const double other[3] = {fabs(n[0]) < 0.5, fabs(n[0]) >= 0.5, 0};
    double length = 0;
    for (int k = 0; k < 3; k++) {
        const int p = (k + 1) % 3, q = (k + 2) % 3;
        axes[0][k] = n[p] * other[q] - n[q] * other[p];
        axes[2][k] = n[k];
        length += axes[0][k] * axes[0][k];
    }
    for (int k = 0; k < 3; k++) axes[0][k] /= sqrt(length);
    for (int k = 0; k < 3; k++) {
        const int p = (k + 1) % 3, q = (k + 2) % 3;
        axes[1][k] = n[p] * axes[0][q] - n[q] * axes[0][p];
    }
}

/* Planes in every direction, at the coordinates of a map. */
static void planes_have_their_normal(void **state) {
    (void)state;
    enum { COUNT = 300 };
    static const double offset[3] = {500123.25, 5312345.5, 98.75};
    double stored[3 * COUNT], axes[3][3];
    mote_context *ctx = test_context(2);
    for (uint64_t plane = 0; plane < 200; plane++) {
        random_frame(plane, axes);
        for (uint64_t i = 0; i < COUNT; i++) {
            const double u = 3 * test_random(plane, i), v = 3 * test_random(plane + 1000, i);
            for (uint64_t k = 0; k < 3; k++) stored[3 * i + k] = offset[k] + u * axes[0][k] + v * axes[1][k];
        }
        mote_cloud *cloud = knn_reference_cloud(ctx, MOTE_FLOAT64, 1, 0, stored, COUNT);
        mote_normals_params p = mote_normals_defaults();
        if (plane % 3 == 1) p.k = 0, p.radius = 0.6;
        answer a = estimate(ctx, cloud, &p);
        for (uint64_t i = 0; i < COUNT; i++) {
            assert_true(angle_of(&a, i, axes[2]) < 1e-6);
            assert_true(a.curvature[i] >= 0 && a.curvature[i] < 1e-12f);
        }
        assert_int_equal(a.result.without, 0);
        answer_free(&a);
        mote_cloud_destroy(cloud);
    }
    mote_context_destroy(ctx);
}

/* Points of a spiral on a sphere, evenly spread. */
static mote_cloud *make_sphere(mote_context *ctx, uint64_t count, double z_shift) {
    double *stored = room(3 * count, sizeof *stored);
    for (uint64_t i = 0; i < count; i++) {
        const double z = 1 - (2 * (double)i + 1) / (double)count, r = sqrt(1 - z * z);
        stored[3 * i] = r * cos(2.399963229728653 * (double)i);
        stored[3 * i + 1] = r * sin(2.399963229728653 * (double)i);
        stored[3 * i + 2] = z + z_shift;
    }
    mote_cloud *cloud = knn_reference_cloud(ctx, MOTE_FLOAT64, 1, 0, stored, count);
    free(stored);
    return cloud;
}

/* Normals along the radius, as far as neighbours on one side allow; propagated, all of them outwards, and inwards of
   where the viewpoint is. */
static void spheres_look_outwards(void **state) {
    (void)state;
    enum { COUNT = 5000 };
    for (int turn = 0; turn < 3; turn++) {
        mote_context *ctx = test_context(2);
        mote_cloud *cloud = make_sphere(ctx, COUNT, 0);
        mote_normals_params p = mote_normals_defaults();
        p.orient = turn == 0 ? MOTE_ORIENT_PROPAGATE : turn == 1 ? MOTE_ORIENT_VIEWPOINT : MOTE_ORIENT_UP;
        answer a = estimate(ctx, cloud, &p);
        for (uint64_t i = 0; i < COUNT; i++) {
            double at[3], along = 0;
            for (int k = 0; k < 3; k++) {
                at[k] = mote_column_value(mote_cloud_column(cloud, (uint32_t)k), i);
                along += at[k] * (double)a.normal[k][i];
            }
            assert_true(angle_of(&a, i, at) < 0.02);
            if (turn == 0) assert_true(along > 0.99);
            if (turn == 1) assert_true(along < -0.99);
            if (turn == 2) assert_true(a.normal[2][i] >= 0);
            assert_true(a.curvature[i] < 1e-3f);
        }
        if (turn == 0) assert_int_equal(a.result.parts, 1);
        answer_free(&a);
        mote_cloud_destroy(cloud);
        mote_context_destroy(ctx);
    }
}

/* Two spheres that share no edge: each is oriented for itself. */
static void parts_are_oriented_each_for_itself(void **state) {
    (void)state;
    enum { COUNT = 800 };
    mote_context *ctx = test_context(2);
    double stored[6 * COUNT];
    mote_cloud *low = make_sphere(ctx, COUNT, -40), *high = make_sphere(ctx, COUNT, 40);
    for (uint64_t i = 0; i < 2 * COUNT; i++) {
        for (uint32_t k = 0; k < 3; k++) {
            stored[3 * i + k] = mote_column_value(mote_cloud_column(i % 2 == 0 ? low : high, k), i / 2);
        }
    }
    mote_cloud *both = knn_reference_cloud(ctx, MOTE_FLOAT64, 1, 0, stored, 2 * COUNT);
    mote_normals_params p = mote_normals_defaults();
    p.orient = MOTE_ORIENT_PROPAGATE;
    answer a = estimate(ctx, both, &p);
    assert_int_equal(a.result.parts, 2);
    for (uint64_t i = 0; i < 2 * COUNT; i++) {
        const double z = stored[3 * i + 2] + (i % 2 == 0 ? 40 : -40);
        const double along = stored[3 * i] * (double)a.normal[0][i] + stored[3 * i + 1] * (double)a.normal[1][i];
        assert_true(along + z * (double)a.normal[2][i] > 0.9);
    }
    answer_free(&a);
    mote_cloud_destroy(low);
    mote_cloud_destroy(high);
    mote_cloud_destroy(both);
    mote_context_destroy(ctx);
}

/* A third eigenvalue of a third: the same spread in all directions. And the six neighbours of a cell of a lattice. */
static void lattices_have_known_density(void **state) {
    (void)state;
    enum { SIDE = 9, COUNT = SIDE * SIDE * SIDE };
    double stored[3 * COUNT];
    mote_context *ctx = test_context(1);
    for (uint64_t i = 0; i < COUNT; i++) {
        stored[3 * i] = (double)(i % SIDE);
        stored[3 * i + 1] = (double)(i / SIDE % SIDE);
        stored[3 * i + 2] = (double)(i / SIDE / SIDE);
    }
    mote_cloud *cloud = knn_reference_cloud(ctx, MOTE_INT32, 0.5, 7, stored, COUNT);
    const uint64_t middle = COUNT / 2;
    float surface[COUNT], volume[COUNT];
    assert_int_equal(mote_density(ctx, cloud, 6, surface, volume), MOTE_OK);
    assert_float_equal(surface[middle], 6 / (PI * 0.25), 1e-6);
    assert_float_equal(volume[middle], 6 / (4.0 / 3 * PI * 0.125), 1e-5);
    assert_int_equal(mote_density(ctx, cloud, 1, surface, NULL), MOTE_OK);
    assert_float_equal(surface[0], 1 / (PI * 0.25), 1e-6);
    mote_normals_params p = mote_normals_defaults();
    p.k = 0;
    p.radius = 0.5;
    answer a = estimate(ctx, cloud, &p);
    assert_float_equal(a.curvature[middle], 1.0 / 3, 1e-7);
    assert_float_equal(a.density[0][middle], 6 / (PI * 0.25), 1e-6);
    answer_free(&a);
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
}

static mote_cloud *make_scaled(mote_context *ctx, int exponent) {
    enum { COUNT = 800 };
    double stored[3 * COUNT];
    for (uint64_t i = 0; i < COUNT; i++) {
        for (uint64_t k = 0; k < 3; k++) stored[3 * i + k] = ldexp(test_random(k, i), exponent - (k == 2 ? 6 : 0));
    }
    return knn_reference_cloud(ctx, MOTE_FLOAT64, 1, 0, stored, COUNT);
}

/* A cloud of any size has the same normals, down to the end of the range of coordinates: smaller ones are refused. */
static void tiny_clouds_have_the_same_normals(void **state) {
    (void)state;
    static const int same[] = {-30, -300, -479}, none[] = {-481, -520, -700, -1000, -1040, -1065};
    mote_normals_result result = {.skipped = 0};
    mote_context *ctx = test_context(2);
    const mote_normals_params p = mote_normals_defaults();
    mote_cloud *cloud = make_scaled(ctx, 0);
    answer expected = estimate(ctx, cloud, &p);
    assert_int_equal(expected.result.without, 0);
    mote_cloud_destroy(cloud);
    for (size_t i = 0; i < sizeof same / sizeof same[0]; i++) {
        cloud = make_scaled(ctx, same[i]);
        answer a = estimate(ctx, cloud, &p);
        for (int k = 0; k < 3; k++) { assert_memory_equal(a.normal[k], expected.normal[k], a.points * sizeof(float)); }
        assert_memory_equal(a.curvature, expected.curvature, a.points * sizeof(float));
        answer_free(&a);
        mote_cloud_destroy(cloud);
    }
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++) {
        cloud = make_scaled(ctx, none[i]);
        assert_int_equal(mote_normals(ctx, cloud, &p, &result), MOTE_ERROR_DATA);
        assert_non_null(strstr(mote_context_message(ctx), "no axis is farther from 0"));
        mote_context_clear(ctx);
        mote_cloud_destroy(cloud);
    }
    answer_free(&expected);
    mote_context_destroy(ctx);
}

static void too_few_and_too_alike_have_none(void **state) {
    (void)state;
    static const double points[] = {1, 2, 3, 1, 2, 3, 4, 2, 3, 1, 2, 3, 7, 2, 3, 5, 2, 3, 1, 2, 3, 2, 2, 3};
    static const mote_type types[] = {MOTE_INT32, MOTE_FLOAT32, MOTE_FLOAT64};
    for (uint64_t count = 0; count <= 8; count++) {
        mote_context *ctx = test_context(1);
        mote_cloud *cloud = knn_reference_cloud(ctx, types[count % 3], 0.001, 1e6, points, count);
        answer a = estimate(ctx, cloud, NULL);
        assert_int_equal(a.result.without, count);
        for (uint64_t i = 0; i < count; i++) {
            for (int k = 0; k < 3; k++) assert_true(a.normal[k][i] == 0 && !signbit(a.normal[k][i]));
            assert_true(a.curvature[i] == 0);
        }
        answer_free(&a);
        mote_cloud_destroy(cloud);
        mote_context_destroy(ctx);
    }
    /* Three that are not on one line are enough. */
    static const double corner[] = {0, 0, 0, 1, 0, 0, 0, 1, 0};
    mote_context *ctx = test_context(1);
    mote_cloud *cloud = knn_reference_cloud(ctx, MOTE_FLOAT32, 1, 0, corner, 3);
    answer a = estimate(ctx, cloud, NULL);
    for (uint64_t i = 0; i < 3; i++) assert_true(a.normal[2][i] == 1 && a.curvature[i] == 0);
    answer_free(&a);
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
}

/* ---- what must not matter */

static void offsets_do_not_matter(void **state) {
    (void)state;
    enum { COUNT = 2000 };
    static const struct {
        mote_type type;
        double scale, shift;
    } cases[] = {
        {MOTE_INT32, 0.001, 531234567}, {MOTE_FLOAT64, 1, 5312345}, {MOTE_INT64, 0.01, 4e15}, {MOTE_FLOAT32, 1, 1024}};
    for (uint32_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        for (int orient = 0; orient < 2; orient++) {
            mote_context *ctx = test_context(2);
            double plain[3 * COUNT], moved[3 * COUNT];
            for (uint64_t i = 0; i < 3 * COUNT; i++) {
                plain[i] = floor(test_random(5, i) * 100000) * (cases[c].scale == 1 ? 0x1p-10 : 1);
                if (i % 3 == 2) plain[i] = plain[i - 2] / 2 + floor(plain[i] / 64); /* not all in the open */
                if (cases[c].scale == 1) plain[i] = floor(plain[i] * 1024) / 1024;
                moved[i] = plain[i] + cases[c].shift;
            }
            mote_cloud *one = knn_reference_cloud(ctx, cases[c].type, cases[c].scale, 0, plain, COUNT);
            mote_cloud *two = knn_reference_cloud(ctx, cases[c].type, cases[c].scale, -7e5, moved, COUNT);
            mote_normals_params p = mote_normals_defaults();
            p.orient = orient == 0 ? MOTE_ORIENT_UP : MOTE_ORIENT_PROPAGATE;
            answer a = estimate(ctx, one, &p), b = estimate(ctx, two, &p);
            assert_same(&a, &b);
            answer_free(&a);
            answer_free(&b);
            mote_cloud_destroy(one);
            mote_cloud_destroy(two);
            mote_context_destroy(ctx);
        }
    }
}

static void threads_do_not_matter(void **state) {
    (void)state;
    static const char *const names[] = {"shells of integers", "far clusters", "uniform float"};
    for (int turn = 0; turn < 9; turn++) {
        answer first;
        memset(&first, 0, sizeof first);
        for (int threads = 1; threads <= 7; threads += threads == 1 ? 1 : 5) {
            mote_context *ctx = test_context(threads);
            mote_cloud *cloud = awkward_cloud_make(ctx, awkward_cloud_named(names[turn % 3]), 20000, 0);
            mote_normals_params p = mote_normals_defaults();
            mote_outliers_result outliers;
            static double threshold;
            memset(&outliers, 0, sizeof outliers);
            p.orient = turn < 3 ? MOTE_ORIENT_PROPAGATE : MOTE_ORIENT_UP;
            if (turn >= 6) p.radius = 0.01;
            answer mine = estimate(ctx, cloud, &p);
            assert_int_equal(mote_outliers(ctx, cloud, NULL, &outliers), MOTE_OK);
            if (threads == 1) {
                first = mine;
                threshold = outliers.threshold;
            } else {
                assert_same(&first, &mine);
                assert_memory_equal(&threshold, &outliers.threshold, sizeof threshold);
                answer_free(&mine);
            }
            mote_cloud_destroy(cloud);
            mote_context_destroy(ctx);
        }
        answer_free(&first);
    }
}

/* ---- outliers */

static void finds_what_was_planted(void **state) {
    (void)state;
    enum { SIDE = 40, PLANTED = 12, COUNT = SIDE * SIDE + PLANTED };
    double stored[3 * COUNT];
    uint8_t flags[2][COUNT];
    mote_context *ctx = test_context(2);
    for (uint64_t i = 0; i < COUNT; i++) {
        const bool planted = i % 101 == 17 && i / 101 < PLANTED;
        stored[3 * i] = (double)(i % SIDE);
        stored[3 * i + 1] = (double)(i / SIDE);
        stored[3 * i + 2] = planted ? 10 + 7 * (double)(i / 101) : 0;
    }
    mote_cloud *cloud = knn_reference_cloud(ctx, MOTE_FLOAT32, 1, 0, stored, COUNT);
    mote_outliers_result result;
    for (int radius = 0; radius < 2; radius++) {
        mote_outliers_params p = mote_outliers_defaults();
        memset(&result, 0, sizeof result);
        result.outlier = flags[radius];
        p.method = radius ? MOTE_OUTLIERS_RADIUS : MOTE_OUTLIERS_STATISTICAL;
        p.radius = 1.5;
        assert_int_equal(mote_outliers(ctx, cloud, &p, &result), MOTE_OK);
        assert_int_equal(result.count, PLANTED);
        for (uint64_t i = 0; i < COUNT; i++) { assert_int_equal(flags[radius][i], i % 101 == 17 && i / 101 < PLANTED); }
    }
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
}

/* ---- when things go wrong */

/* Everything that a context can be asked for, on 300 points. */
static mote_status use_all(mote_context *ctx, void *user) {
    static float values[6][300];
    static uint8_t flags[300];
    mote_cloud *cloud = awkward_cloud_make(ctx, user, 300, 0);
    mote_normals_params p = mote_normals_defaults();
    mote_outliers_params q = mote_outliers_defaults();
    mote_normals_result normals;
    mote_outliers_result outliers;
    memset(&normals, 0, sizeof normals);
    memset(&outliers, 0, sizeof outliers);
    normals.normal_x = values[0], normals.normal_y = values[1], normals.normal_z = values[2];
    normals.curvature = values[3], normals.surface_density = values[4];
    outliers.outlier = flags;
    mote_status status = cloud != NULL ? MOTE_OK : MOTE_ERROR_MEMORY;
    p.orient = MOTE_ORIENT_PROPAGATE;
    if (status == MOTE_OK) status = mote_normals(ctx, cloud, &p, &normals);
    p.k = 0;
    p.radius = 1;
    if (status == MOTE_OK) status = mote_normals(ctx, cloud, &p, &normals);
    if (status == MOTE_OK) status = mote_density(ctx, cloud, 4, values[4], values[5]);
    if (status == MOTE_OK) status = mote_outliers(ctx, cloud, &q, &outliers);
    q.method = MOTE_OUTLIERS_RADIUS;
    q.radius = 1;
    if (status == MOTE_OK) status = mote_outliers(ctx, cloud, &q, &outliers);
    mote_cloud_destroy(cloud);
    return status;
}

static void survives_failing_allocations(void **state) {
    (void)state;
    test_each_allocation_fails(use_all, (void *)(uintptr_t)awkward_cloud_named("some not finite"));
}

static void cancels_at_every_step(void **state) {
    (void)state;
    test_each_step_cancels(use_all, (void *)(uintptr_t)awkward_cloud_named("shells of integers"));
}

static void progress_goes_forward(void **state) {
    (void)state;
    for (int turn = 0; turn < 3; turn++) {
        test_progress progress = {0};
        float values[3][3000];
        mote_normals_result result;
        memset(&result, 0, sizeof result);
        result.normal_x = values[0], result.normal_y = values[1], result.normal_z = values[2];
        mote_context *ctx = test_context_watched(&progress);
        mote_cloud *cloud = awkward_cloud_make(ctx, &awkward_clouds[0], 3000, 0);
        mote_knn_index *index = NULL;
        assert_int_equal(mote_knn_build(ctx, cloud, &index), MOTE_OK);
        mote_normals_params p = mote_normals_defaults();
        if (turn > 0) p.orient = MOTE_ORIENT_PROPAGATE;
        if (turn > 1) p.k = 0, p.radius = 0.5;
        progress.last = 0;
        assert_int_equal(mote_normals_estimate(index, &p, &result), MOTE_OK);
        assert_false(progress.backwards);
        assert_true(progress.last == 1);
        mote_knn_destroy(index);
        mote_cloud_destroy(cloud);
        mote_context_destroy(ctx);
    }
}

static void refuses_wrong_parameters(void **state) {
    (void)state;
    mote_context *ctx = test_context(1);
    mote_cloud *cloud = awkward_cloud_make(ctx, &awkward_clouds[0], 10, 0);
    float values[10];
    mote_normals_result result;
    mote_normals_params wrong[12];
    memset(&result, 0, sizeof result);
    for (int i = 0; i < 12; i++) wrong[i] = mote_normals_defaults();
    wrong[0].k = 1, wrong[1].k = 2, wrong[2].k = MOTE_KNN_MAX_K + 1, wrong[3].k = 0;
    wrong[4].radius = -1, wrong[5].radius = NAN;
    wrong[6].orient = (mote_normals_orient)4, wrong[7].orient = (mote_normals_orient)-1;
    wrong[8].orient = wrong[9].orient = MOTE_ORIENT_PROPAGATE;
    wrong[8].graph_k = 0, wrong[9].graph_k = MOTE_NORMALS_MAX_GRAPH_K + 1;
    wrong[10].orient = wrong[11].orient = MOTE_ORIENT_VIEWPOINT;
    wrong[10].viewpoint[1] = NAN, wrong[11].viewpoint[2] = INFINITY;
    for (int i = 0; i < 12; i++) {
        mote_context_clear(ctx);
        assert_int_equal(mote_normals(ctx, cloud, &wrong[i], &result), MOTE_ERROR_ARGUMENT);
        assert_true(strlen(mote_context_message(ctx)) > 0);
    }
    mote_context_clear(ctx);
    result.normal_y = values;
    assert_int_equal(mote_normals(ctx, cloud, NULL, &result), MOTE_ERROR_ARGUMENT);
    assert_int_equal(mote_normals(ctx, cloud, NULL, NULL), MOTE_ERROR_ARGUMENT);
    assert_int_equal(mote_normals(ctx, NULL, NULL, &result), MOTE_ERROR_ARGUMENT);
    assert_int_equal(mote_density(ctx, cloud, 0, values, NULL), MOTE_ERROR_ARGUMENT);
    assert_int_equal(mote_density(ctx, cloud, MOTE_KNN_MAX_K, values, NULL), MOTE_ERROR_ARGUMENT);
    assert_int_equal(mote_outliers(ctx, cloud, NULL, NULL), MOTE_ERROR_ARGUMENT);
    mote_cloud_destroy(cloud);
    assert_int_equal(mote_context_memory_bytes(ctx), 0);
    mote_context_destroy(ctx);
}

static void refuses_wrong_outlier_parameters(void **state) {
    (void)state;
    static const mote_outliers_params wrong[] = {
        {(mote_outliers_method)2, 8, 2, 1, 2, {0}},      {MOTE_OUTLIERS_STATISTICAL, 0, 2, 0, 0, {0}},
        {MOTE_OUTLIERS_STATISTICAL, 1025, 2, 0, 0, {0}}, {MOTE_OUTLIERS_STATISTICAL, 8, -1, 0, 0, {0}},
        {MOTE_OUTLIERS_STATISTICAL, 8, NAN, 0, 0, {0}},  {MOTE_OUTLIERS_RADIUS, 8, 2, 0, 2, {0}},
        {MOTE_OUTLIERS_RADIUS, 8, 2, NAN, 2, {0}},       {MOTE_OUTLIERS_RADIUS, 8, 2, 1, 0, {0}},
        {MOTE_OUTLIERS_RADIUS, 8, 2, 1, 1025, {0}}};
    mote_context *ctx = test_context(1);
    mote_cloud *cloud = awkward_cloud_make(ctx, &awkward_clouds[0], 10, 0);
    mote_outliers_result result;
    memset(&result, 0, sizeof result);
    for (uint32_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        mote_context_clear(ctx);
        assert_int_equal(mote_outliers(ctx, cloud, &wrong[i], &result), MOTE_ERROR_ARGUMENT);
        assert_true(strlen(mote_context_message(ctx)) > 0);
    }
    mote_cloud_destroy(cloud);
    assert_int_equal(mote_context_memory_bytes(ctx), 0);
    mote_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(planes_have_their_normal),
        cmocka_unit_test(spheres_look_outwards),
        cmocka_unit_test(parts_are_oriented_each_for_itself),
        cmocka_unit_test(lattices_have_known_density),
        cmocka_unit_test(tiny_clouds_have_the_same_normals),
        cmocka_unit_test(too_few_and_too_alike_have_none),
        cmocka_unit_test(offsets_do_not_matter),
        cmocka_unit_test(threads_do_not_matter),
        cmocka_unit_test(finds_what_was_planted),
        cmocka_unit_test(survives_failing_allocations),
        cmocka_unit_test(cancels_at_every_step),
        cmocka_unit_test(progress_goes_forward),
        cmocka_unit_test(refuses_wrong_parameters),
        cmocka_unit_test(refuses_wrong_outlier_parameters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
