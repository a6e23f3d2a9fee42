/* Planes where the answer is known: in every direction and place, clouds that have none, real scans; and when things go
   wrong. Rooms are in planes_room_test.c. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "math/hash.h"
#include "planes/planes.h"
#include "reference/awkward_clouds.h"
#include "reference/knn_reference.h"
#include "support/support.h"

static double random_unit(uint64_t i, uint64_t what) { return (double)(mote_hash_pair(what, i) >> 11) * 0x1p-53; }
/* About normal, standard deviation 1. */
static double random_gauss(uint64_t i, uint64_t what) {
    double sum = -6;
    for (uint64_t k = 0; k < 12; k++) sum += random_unit(12 * i + k, what);
    return sum;
}

static void *room_for(uint64_t count, size_t size) {
    void *memory = calloc(count + 1, size);
    assert_non_null(memory);
    return memory;
}

typedef struct answer {
    mote_planes *planes;
    int32_t *labels;
} answer;

static answer find(mote_context *ctx, const mote_cloud *cloud, const mote_planes_params *params) {
    answer a = {NULL, room_for(mote_cloud_count(cloud), sizeof(int32_t))};
    assert_int_equal(mote_planes_find(ctx, cloud, params, a.labels, &a.planes), MOTE_OK);
    return a;
}

static void answer_free(answer *a) {
    mote_planes_destroy(a->planes);
    free(a->labels);
}

static void the_largest_are_kept(void **state) {
    (void)state;
    mote_context *ctx = test_context(2);
    mote_cloud *cloud;
    mote_planes_params params = mote_planes_defaults();
    params.most = 3;
    assert_int_equal(mote_generate(ctx, "room", 20000, NULL, &cloud), MOTE_OK);
    answer all = find(ctx, cloud, NULL), some = find(ctx, cloud, &params);
    assert_int_equal(mote_planes_count(all.planes), 8);
    assert_int_equal(mote_planes_count(some.planes), 3);
    uint64_t points[9] = {0};
    for (uint32_t i = 0; i < 8; i++) {
        const mote_plane *p = mote_planes_at(all.planes, i);
        if (i > 0) assert_true(p->inliers <= mote_planes_at(all.planes, i - 1)->inliers);
        if (i < 3) assert_float_equal(p->offset, mote_planes_at(some.planes, i)->offset, 1e-3);
    }
    for (uint64_t i = 0; i < 20000; i++) {
        assert_in_range(all.labels[i] + 1, 0, 8);
        assert_in_range(some.labels[i] + 1, 0, 3);
        points[all.labels[i] + 1]++;
    }
    for (uint32_t i = 0; i < 8; i++) assert_int_equal(points[i + 1], mote_planes_at(all.planes, i)->inliers);
    assert_int_equal(points[0], 20000 - mote_planes_get_facts(all.planes).labelled);
    answer_free(&all);
    answer_free(&some);
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
}

/* ---- one plane, or two */

/* Two axes in a plane of that normal. */
static void frame_of(const double normal[3], double u[3], double v[3]) { planes_perpendicular(normal, u, v); }

static double angle_of(const double a[3], const double b[3]) {
    double cross = 0;
    for (int k = 0; k < 3; k++) {
        const int p = (k + 1) % 3, q = (k + 2) % 3;
        cross += (a[p] * b[q] - a[q] * b[p]) * (a[p] * b[q] - a[q] * b[p]);
    }
    return asin(fmin(1, sqrt(cross))) * 180 / 3.14159265358979;
}

/* A rectangle of 4 x 3 with its middle there, and some points anywhere around. */
static mote_cloud *make_plane(mote_context *ctx, const double normal[3], const double middle[3], double noise,
                              uint64_t count, uint64_t strays, uint64_t seed) {
    double u[3], v[3], *stored = room_for(3 * (count + strays), sizeof *stored);
    frame_of(normal, u, v);
    for (uint64_t i = 0; i < count + strays; i++) {
        const double a = 4 * random_unit(i, seed) - 2, b = 3 * random_unit(i, seed + 1) - 1.5;
        const double off = i < count ? noise * random_gauss(i, seed + 2) : 4 * random_unit(i, seed + 3) - 2;
        for (int k = 0; k < 3; k++) stored[3 * i + (uint64_t)k] = middle[k] + a * u[k] + b * v[k] + off * normal[k];
    }
    mote_cloud *cloud = knn_reference_cloud(ctx, MOTE_FLOAT64, 1, 0, stored, count + strays);
    free(stored);
    return cloud;
}

static void check_plane(const mote_cloud *cloud, const double normal[3], const double middle[3], double angle,
                        double distance, double rms) {
    answer a = find(((const struct mote_cloud *)cloud)->ctx, cloud, NULL);
    assert_int_equal(mote_planes_count(a.planes), 1);
    const mote_plane *p = mote_planes_at(a.planes, 0);
    double away = -p->offset, length = 0, at_centroid = -p->offset;
    for (int k = 0; k < 3; k++) {
        away += p->normal[k] * middle[k];
        at_centroid += p->normal[k] * p->centroid[k];
        length += p->normal[k] * p->normal[k];
    }
    assert_true(angle_of(p->normal, normal) <= angle);
    assert_true(fabs(away) <= distance);
    assert_true(fabs(at_centroid) <= 1e-9 * (1 + fabs(p->offset)));
    assert_float_equal(length, 1, 1e-12);
    assert_true(p->normal[2] > 0 ||
                (p->normal[2] == 0 && (p->normal[1] > 0 || (p->normal[1] == 0 && p->normal[0] > 0))));
    assert_true(p->rms <= rms);
    assert_true(p->area > 9 && p->area < 14 && p->hull_area > 9 && p->hull_area < 13);
    assert_true(p->confidence > 0.9);
    answer_free(&a);
}

/* The middle of the map and far from it; poles, the seam of theta, directions of no meaning. */
static void planes_of_any_direction_are_found(void **state) {
    (void)state;
    static const double places[][3] = {{0, 0, 0}, {0.3, -0.2, 11}, {500123.25, 5312345.5, 98.75}};
    for (uint64_t turn = 0; turn < 40; turn += test_extent(7, 1)) {
        mote_context *ctx = test_context(2);
        const double theta = turn < 20 ? (double)(turn % 5) * 1e-3 + (turn % 2 == 0 ? 0 : 3.14159265)
                                       : 6.283185307 * random_unit(turn, 1);
        const double phi = turn < 10   ? 1e-3 * (double)(turn / 2)
                           : turn < 20 ? 1.5707963 + 1e-3 * ((double)turn - 15)
                                       : acos(2 * random_unit(turn, 2) - 1);
        const double normal[3] = {sin(phi) * cos(theta), sin(phi) * sin(theta), cos(phi)};
        const double *middle = places[turn % 3];
        mote_cloud *cloud = make_plane(ctx, normal, middle, 0.002, 4000, 300, turn);
        check_plane(cloud, normal, middle, 0.02, 0.0002, 0.0025);
        mote_cloud_destroy(cloud);
        mote_context_destroy(ctx);
    }
}

static void perfect_planes_are_perfect(void **state) {
    (void)state;
    static const double normals[][3] = {{0, 0, 1}, {1, 0, 0}, {0, 1, 0}, {0.6, 0, 0.8}, {0.48, -0.6, 0.64}};
    static const double middle[3] = {10, 20, 30};
    for (uint32_t i = 0; i < 5; i++) {
        mote_context *ctx = test_context(2);
        mote_cloud *cloud = make_plane(ctx, normals[i], middle, 0, 3000, i % 2 == 0 ? 0 : 200, i);
        check_plane(cloud, normals[i], middle, 1e-5, 1e-6, 1e-6);
        mote_cloud_destroy(cloud);
        mote_context_destroy(ctx);
    }
}

/* Two sheets of 3 mm noise, 5 cm apart, as of a door or a table. */
static void parallel_planes_are_two(void **state) {
    (void)state;
    for (uint64_t seed = 0; seed < test_extent(2, 10); seed++) {
        mote_context *ctx = test_context(2);
        enum { COUNT = 12000 };
        double *stored = room_for(3 * COUNT, sizeof *stored);
        for (uint64_t i = 0; i < COUNT; i++) {
            stored[3 * i] = 10 * random_unit(i, seed);
            stored[3 * i + 1] = 8 * random_unit(i, seed + 50);
            stored[3 * i + 2] = (i % 2 == 0 ? 0 : 0.05) + 0.003 * random_gauss(i, seed + 100);
        }
        mote_cloud *cloud = knn_reference_cloud(ctx, MOTE_FLOAT32, 1, 0, stored, COUNT);
        answer a = find(ctx, cloud, NULL);
        assert_int_equal(mote_planes_count(a.planes), 2);
        uint64_t wrong = 0;
        for (uint32_t i = 0; i < 2; i++) {
            const mote_plane *p = mote_planes_at(a.planes, i);
            assert_true(fmin(fabs(p->offset), fabs(p->offset - 0.05)) < 0.0005 && p->normal[2] > 1 - 1e-7);
        }
        const bool first_is_low = mote_planes_at(a.planes, 0)->offset < 0.025;
        for (uint64_t i = 0; i < COUNT; i++) wrong += a.labels[i] != (int32_t)((i % 2 == 0) != first_is_low);
        assert_true(wrong < COUNT / 50);
        answer_free(&a);
        free(stored);
        mote_cloud_destroy(cloud);
        mote_context_destroy(ctx);
    }
}

/* Four tables at one height: one plane, or four. */
static void parts_are_planes_of_their_own(void **state) {
    (void)state;
    enum { COUNT = 16000 };
    mote_context *ctx = test_context(2);
    double *stored = room_for(3 * COUNT, sizeof *stored);
    for (uint64_t i = 0; i < COUNT; i++) {
        stored[3 * i] = (double)(i % 2) * 3 + 1.5 * random_unit(i, 1);
        stored[3 * i + 1] = (double)(i / 2 % 2) * 2.5 + random_unit(i, 2);
        stored[3 * i + 2] = 0.75 + 0.002 * random_gauss(i, 3);
    }
    mote_cloud *cloud = knn_reference_cloud(ctx, MOTE_INT32, 0.0001, 0, stored, 0);
    mote_cloud_destroy(cloud);
    cloud = knn_reference_cloud(ctx, MOTE_FLOAT32, 1, 0, stored, COUNT);
    mote_planes_params params = mote_planes_defaults();
    answer one = find(ctx, cloud, &params);
    params.parts = true;
    answer four = find(ctx, cloud, &params);
    assert_int_equal(mote_planes_count(one.planes), 1);
    assert_int_equal(mote_planes_count(four.planes), 4);
    assert_float_equal(mote_planes_at(one.planes, 0)->area, 6, 0.6);
    assert_true(mote_planes_at(one.planes, 0)->hull_area > 14);
    for (uint32_t i = 0; i < 4; i++) assert_float_equal(mote_planes_at(four.planes, i)->hull_area, 1.5, 0.05);
    for (uint64_t i = 4; i < COUNT; i++) {
        if (four.labels[i] >= 0 && four.labels[i % 4] >= 0) assert_int_equal(four.labels[i], four.labels[i % 4]);
    }
    answer_free(&one);
    answer_free(&four);
    free(stored);
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
}

/* A rectangle's hull and smallest rectangle, wherever it lies. */
static void outlines_lie_around_their_points(void **state) {
    (void)state;
    static const double normal[3] = {0.48, -0.6, 0.64}, middle[3] = {500123.25, 5312345.5, 98.75};
    mote_context *ctx = test_context(2);
    mote_cloud *cloud = make_plane(ctx, normal, middle, 0.001, 20000, 0, 5);
    answer a = find(ctx, cloud, NULL);
    assert_int_equal(mote_planes_count(a.planes), 1);
    const mote_plane *p = mote_planes_at(a.planes, 0);
    uint32_t count;
    const double *hull = mote_planes_hull(a.planes, 0, &count);
    assert_true(count >= 4);
    double sides[2] = {0, 0};
    for (int k = 0; k < 3; k++) {
        sides[0] += pow(p->rectangle[1][k] - p->rectangle[0][k], 2);
        sides[1] += pow(p->rectangle[2][k] - p->rectangle[1][k], 2);
    }
    assert_float_equal(sqrt(fmax(sides[0], sides[1])), 4, 0.02);
    assert_float_equal(sqrt(fmin(sides[0], sides[1])), 3, 0.02);
    for (uint32_t i = 0; i < count + 4; i++) {
        const double *at = i < count ? hull + 3 * i : p->rectangle[i - count];
        double off = -p->offset, away = 0;
        for (int k = 0; k < 3; k++) {
            off += p->normal[k] * at[k];
            away += pow(at[k] - middle[k], 2);
        }
        assert_true(fabs(off) < 1e-5);
        assert_true(sqrt(away) < 2.52 && sqrt(away) > 1.4);
    }
    assert_null(mote_planes_at(a.planes, 1));
    assert_null(mote_planes_hull(a.planes, 1, &count));
    answer_free(&a);
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
}

/* ---- what has none */

static void check_none(mote_context *ctx, const double *stored, uint64_t count) {
    mote_cloud *cloud = knn_reference_cloud(ctx, MOTE_FLOAT64, 1, 0, stored, count);
    answer a = find(ctx, cloud, NULL);
    assert_int_equal(mote_planes_count(a.planes), 0);
    for (uint64_t i = 0; i < count; i++) assert_int_equal(a.labels[i], -1);
    assert_int_equal(mote_planes_get_facts(a.planes).labelled, 0);
    answer_free(&a);
    mote_cloud_destroy(cloud);
}

static void what_is_not_flat_has_no_planes(void **state) {
    (void)state;
    enum { COUNT = 20000 };
    double *stored = room_for(3 * COUNT, sizeof *stored);
    for (uint64_t turn = 0; turn < 8; turn++) {
        mote_context *ctx = test_context(2);
        for (uint64_t i = 0; i < COUNT; i++) {
            double length = 0;
            for (uint64_t k = 0; k < 3; k++) {
                stored[3 * i + k] = turn < 2 ? 10 * random_unit(i, 4 * turn + k) : random_gauss(i, 4 * turn + k);
                length += stored[3 * i + k] * stored[3 * i + k];
            }
            /* boxes full of points; spheres without and with noise; fogs; lines */
            for (uint64_t k = 0; k < 3 && turn >= 2 && turn < 5; k++) {
                stored[3 * i + k] *= (2 + (turn == 4 ? 0.005 * random_gauss(i, 77) : 0)) / sqrt(length);
            }
            if (turn == 7) stored[3 * i + 1] = 3 * stored[3 * i], stored[3 * i + 2] = -stored[3 * i];
        }
        check_none(ctx, stored, COUNT);
        mote_context_destroy(ctx);
    }
    free(stored);
}

static void small_clouds_have_none(void **state) {
    (void)state;
    double stored[3 * 30];
    for (int turn = 0; turn < 3; turn++) {
        for (uint64_t i = 0; i < 90; i++) {
            stored[i] = turn == 0 ? 5 : turn == 1 ? (double)(i / 3) : i % 3 == 2 ? NAN : (double)i;
        }
        for (uint64_t count = 0; count <= 30; count += count < 12 ? 1 : 9) {
            mote_context *ctx = test_context(1);
            check_none(ctx, stored, count);
            mote_context_destroy(ctx);
        }
    }
}

/* A vote with a bin of its own looks at nothing else; one without measures what it needs to choose it. */
static void votes_measure_what_they_need(void **state) {
    (void)state;
    static const double normal[3] = {0, 0.6, 0.8}, middle[3] = {1, 2, 3};
    mote_context *ctx = test_context(2);
    mote_cloud *cloud = make_plane(ctx, normal, middle, 0.002, 30000, 0, 9);
    for (int turn = 0; turn < 3; turn++) {
        mote_planes_params params = mote_planes_defaults();
        mote_planes_winner winner;
        mote_planes_facts facts;
        uint32_t count;
        params.bin = turn > 0 ? 0.03 : 0;
        params.tolerance = turn > 1 ? 0.01 : 0;
        assert_int_equal(mote_planes_vote(ctx, cloud, &params, 1, &winner, &count, &facts), MOTE_OK);
        assert_int_equal(count, 1);
        assert_true(angle_of(winner.normal, normal) < 2);
        assert_true(facts.extent > 4 && facts.bins > 50 && facts.directions > 5000);
        assert_int_equal(facts.min_points, 150);
        assert_int_equal(facts.sample, 30000);
        assert_true((facts.noise > 0) == (turn == 0) && (facts.spacing > 0) == (turn == 0));
        assert_true((facts.tolerance > 0) == (turn != 1));
        assert_true(facts.cell == 0);
    }
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
}

/* More points than the sample that strays are seen in. */
static void strays_are_few(void **state) {
    (void)state;
    enum { COUNT = 60000 };
    double *stored = room_for(3 * COUNT, sizeof *stored);
    for (int turn = 0; turn < 3; turn++) {
        mote_context *ctx = test_context(2);
        mote_planes_params params = mote_planes_defaults();
        mote_planes_winner winner;
        mote_planes_facts facts;
        uint32_t count;
        for (uint64_t i = 0; i < COUNT; i++) {
            for (uint64_t k = 0; k < 3; k++)
                stored[3 * i + k] = k < 2 ? 10 * random_unit(i, k) : 0.01 * random_unit(i, k);
            if (turn == 1 && i % 3000 == 17) stored[3 * i + 1] = i % 6000 == 17 ? 1e7 : -1e9;
            if (turn == 2 && i % 20 == 17) stored[3 * i + 1] += 1e4; /* one in twenty are no strays */
        }
        mote_cloud *cloud = knn_reference_cloud(ctx, MOTE_FLOAT64, 1, 0, stored, COUNT);
        params.bin = turn == 2 ? 10 : 0.05;
        assert_int_equal(mote_planes_vote(ctx, cloud, &params, 1, &winner, &count, &facts), MOTE_OK);
        assert_int_equal(facts.outside, turn == 1 ? 20 : 0);
        assert_true(turn == 2 ? facts.extent > 9000 : facts.extent < 100);
        assert_true(winner.normal[2] > 0.999);
        mote_cloud_destroy(cloud);
        mote_context_destroy(ctx);
    }
    free(stored);
}

static void strays_and_nan_do_no_harm(void **state) {
    (void)state;
    static const double normal[3] = {0, 0.6, 0.8}, middle[3] = {1, 2, 3};
    enum { COUNT = 5000 };
    mote_context *ctx = test_context(2);
    mote_cloud *plain = make_plane(ctx, normal, middle, 0.002, COUNT, 0, 9);
    double *stored = room_for(3 * COUNT, sizeof *stored);
    for (uint64_t i = 0; i < COUNT; i++) {
        for (uint32_t k = 0; k < 3; k++) {
            stored[3 * i + k] = mote_column_value(mote_cloud_column(plain, k), i);
            if (i % 100 == 7) stored[3 * i + k] = k == i % 3 ? NAN : 4;
            if (i % 1250 == 1) stored[3 * i + k] = i % 2500 == 1 ? -1e15 : 5e6 + (double)k;
            if (i == 2000) stored[3 * i + k] = k == 0 ? INFINITY : 0;
        }
    }
    mote_cloud *cloud = knn_reference_cloud(ctx, MOTE_FLOAT64, 1, 0, stored, COUNT);
    check_plane(cloud, normal, middle, 0.02, 0.0003, 0.0025);
    answer a = find(ctx, cloud, NULL);
    const mote_planes_facts facts = mote_planes_get_facts(a.planes);
    assert_int_equal(facts.skipped, 51);
    assert_int_equal(facts.outside, 4);
    for (uint64_t i = 0; i < COUNT; i++) {
        const bool odd = i % 100 == 7 || i % 1250 == 1 || i == 2000;
        if (odd) assert_int_equal(a.labels[i], -1);
    }
    answer_free(&a);
    free(stored);
    mote_cloud_destroy(plain);
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
}

/* ---- normals */

/* Two planes that cross: with normals every point knows its own, also along the line where they meet. */
static void normals_tell_planes_apart(void **state) {
    (void)state;
    enum { COUNT = 8000 };
    static const mote_column_spec specs[6] = {{"x", MOTE_FLOAT32, 0, 0},        {"y", MOTE_FLOAT32, 0, 0},
                                              {"z", MOTE_FLOAT32, 0, 0},        {"normal_x", MOTE_FLOAT32, 0, 0},
                                              {"normal_y", MOTE_FLOAT32, 0, 0}, {"normal_z", MOTE_FLOAT32, 0, 0}};
    mote_context *ctx = test_context(2);
    mote_cloud *cloud;
    assert_int_equal(mote_cloud_create(ctx, COUNT, specs, 6, &cloud), MOTE_OK);
    for (uint64_t i = 0; i < COUNT; i++) {
        const float off = (float)(0.002 * random_gauss(i, 3)), a = (float)random_unit(i, 1) * 4 - 2;
        const float b = (float)random_unit(i, 2) * 4 - 2;
        const float floor_point[6] = {a, b, off, 0, 0, 1}, wall_point[6] = {off, b, a, -1, 0, 0};
        for (int k = 0; k < 6; k++) {
            const mote_column *column = mote_cloud_find(cloud, specs[k].name);
            uint8_t *to = (uint8_t *)mote_cloud_column_data(cloud, specs[k].name) + i * column->stride_bytes;
            memcpy(to, i % 2 == 0 ? &floor_point[k] : &wall_point[k], 4);
        }
    }
    for (int turn = 0; turn < 2; turn++) {
        mote_planes_params params = mote_planes_defaults();
        if (turn == 1) params.votes = MOTE_PLANES_VOTE_NORMALS;
        answer a = find(ctx, cloud, &params);
        uint64_t wrong = 0;
        assert_int_equal(mote_planes_count(a.planes), 2);
        assert_true(mote_planes_get_facts(a.planes).normals);
        const bool floor_first = mote_planes_at(a.planes, 0)->normal[2] > 0.5;
        for (uint64_t i = 0; i < COUNT; i++) {
            wrong += a.labels[i] >= 0 && a.labels[i] != (int32_t)((i % 2 == 0) != floor_first);
        }
        assert_int_equal(wrong, 0);
        answer_free(&a);
    }
    mote_planes_params params = mote_planes_defaults();
    params.normal_deg = 90;
    answer a = find(ctx, cloud, &params);
    assert_int_equal(mote_planes_count(a.planes), 2);
    assert_false(mote_planes_get_facts(a.planes).normals);
    answer_free(&a);
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
}

/* ---- what must not matter */

static void threads_do_not_matter(void **state) {
    (void)state;
    for (int kind = 0; kind < 3; kind++) {
        answer first = {NULL, NULL};
        for (int threads = 1; threads <= 7; threads += threads == 1 ? 1 : 5) {
            mote_context *ctx = test_context(threads);
            mote_cloud *cloud;
            mote_gen_params room = mote_gen_defaults("room");
            room.outlier_ratio = 0.5;
            mote_planes_params params = mote_planes_defaults();
            params.parts = kind == 2;
            assert_int_equal(mote_generate(ctx, kind == 1 ? "city" : "room", 30000, kind == 1 ? NULL : &room, &cloud),
                             MOTE_OK);
            answer a = find(ctx, cloud, &params);
            if (threads > 1) {
                const uint32_t count = mote_planes_count(a.planes);
                assert_int_equal(count, first.planes->count);
                assert_memory_equal(a.labels, first.labels, 30000 * sizeof *a.labels);
                assert_memory_equal(a.planes->planes, first.planes->planes, count * sizeof(mote_plane));
                assert_memory_equal(a.planes->first_corner, first.planes->first_corner, (count + 1) * sizeof(uint32_t));
                assert_memory_equal(a.planes->corners, first.planes->corners,
                                    3 * first.planes->first_corner[count] * sizeof(double));
                answer_free(&a);
            } else {
                first = a; /* outlives its context but for what tests compare */
                first.planes = room_for(1, sizeof *first.planes);
                *first.planes = *a.planes;
                const uint32_t count = a.planes->count, corners = count > 0 ? a.planes->first_corner[count] : 0;
                first.planes->planes = room_for(count, sizeof(mote_plane));
                first.planes->first_corner = room_for(count + 1, sizeof(uint32_t));
                first.planes->corners = room_for(3 * corners, sizeof(double));
                assert_true(count > 0);
                memcpy(first.planes->planes, a.planes->planes, count * sizeof(mote_plane));
                memcpy(first.planes->first_corner, a.planes->first_corner, (count + 1) * sizeof(uint32_t));
                memcpy(first.planes->corners, a.planes->corners, 3 * corners * sizeof(double));
                mote_planes_destroy(a.planes);
            }
            mote_cloud_destroy(cloud);
            mote_context_destroy(ctx);
        }
        free(first.planes->planes);
        free(first.planes->first_corner);
        free(first.planes->corners);
        free(first.planes);
        free(first.labels);
    }
}

/* ---- real scans */

/* sample  0: as many as it takes */
static uint32_t planes_of_file(const char *name, uint64_t sample, mote_planes **planes, mote_context *ctx) {
    const char *path = test_data(name);
    mote_planes_params params = mote_planes_defaults();
    mote_cloud *cloud;
    params.sample = sample;
    *planes = NULL;
    if (path == NULL) return 0;
    assert_int_equal(mote_cloud_read(ctx, path, NULL, &cloud), MOTE_OK);
    assert_int_equal(mote_planes_find(ctx, cloud, &params, NULL, planes), MOTE_OK);
    mote_cloud_destroy(cloud);
    return mote_planes_count(*planes);
}

/* Whether there is a plane of about that normal and offset with so many points. */
static bool has_plane(const mote_planes *planes, double x, double y, double z, double offset, uint64_t points) {
    const double normal[3] = {x, y, z};
    for (uint32_t i = 0; i < mote_planes_count(planes); i++) {
        const mote_plane *p = mote_planes_at(planes, i);
        const double sign = p->normal[0] * x + p->normal[1] * y + p->normal[2] * z < 0 ? -1 : 1;
        if (angle_of(p->normal, normal) < 2 && fabs(sign * p->offset - offset) < 0.05 && p->inliers >= points)
            return true;
    }
    return false;
}

static void real_scans_have_floors_and_walls(void **state) {
    (void)state;
    mote_context *ctx = test_context(2);
    mote_planes *planes;
    if (planes_of_file("pcd/room_scan1.pcd", 0, &planes, ctx) > 0) {
        assert_true(has_plane(planes, 0, 0, 1, 1.66, 25000)); /* ceiling, floor, two walls */
        assert_true(has_plane(planes, 0, 0, 1, -1.27, 9000));
        assert_true(has_plane(planes, 0, 1, 0, -1.46, 7000));
        assert_true(has_plane(planes, 1, 0.045, 0.06, -2.52, 2000));
    }
    mote_planes_destroy(planes);
    if (planes_of_file("pcd/fragment.pcd", 0, &planes, ctx) > 0) {
        assert_true(has_plane(planes, -0.048, -0.1, 0.99, 1.08, 30000));
        assert_true(has_plane(planes, 0.998, 0, 0.05, 1.23, 6000));
        assert_true(has_plane(planes, 0, 0.995, 0.1, 0.945, 5000));
    }
    mote_planes_destroy(planes);
    if (planes_of_file("laz/indoor_808k.laz", 0, &planes, ctx) > 0) {
        assert_in_range(mote_planes_count(planes), 12, 60);
        assert_true(has_plane(planes, 0.013, 1, 0, 4.34, 70000));
        assert_true(has_plane(planes, 0.012, 1, 0, 7.35, 70000));
        assert_true(mote_planes_get_facts(planes).labelled > 450000);
    }
    mote_planes_destroy(planes);
    mote_context_destroy(ctx);
}

/* Its distances come in steps of less than a millimetre, which a sample may have for planes: with 0.6 mm of noise there
   were three. */
static void steps_of_a_sensor_are_not_noise(void **state) {
    (void)state;
    static const uint64_t samples[] = {12000, 18000, 6000, 9000};
    mote_context *ctx = test_context(2);
    for (uint64_t i = 0; i < test_extent(2, 4); i++) {
        mote_planes *planes;
        if (planes_of_file("pcd/room_scan1.pcd", samples[i], &planes, ctx) > 0) {
            const mote_planes_facts facts = mote_planes_get_facts(planes);
            assert_true(facts.noise > 0.008 && facts.noise < 0.03);
            assert_true(facts.labelled > 0.75 * (double)facts.points);
            assert_in_range(mote_planes_count(planes), 9, 20);
        }
        mote_planes_destroy(planes);
    }
    mote_context_destroy(ctx);
}

/* ---- when things go wrong */

static mote_status use_all(mote_context *ctx, void *user) {
    (void)user;
    static int32_t labels[900];
    mote_cloud *cloud = NULL;
    mote_planes *planes = NULL;
    mote_planes_params params = mote_planes_defaults();
    mote_planes_winner winners[4];
    uint32_t count;
    params.resolution_deg = 8;
    mote_status status = mote_generate(ctx, "room", 700, NULL, &cloud);
    if (status == MOTE_OK) status = mote_planes_find(ctx, cloud, &params, labels, &planes);
    if (status == MOTE_OK) assert_true(mote_planes_count(planes) > 0);
    /* Trimmed in between: what is kept would take the place of an allocation that fails. */
    for (int turn = 0; turn < 4; turn++) {
        mote_context_trim(ctx);
        params.sample = turn % 2 == 0 ? 0 : 100;
        params.bin = turn < 2 ? 0 : 0.1;
        if (status == MOTE_OK) status = mote_planes_vote(ctx, cloud, &params, 4, winners, &count, NULL);
    }
    mote_context_trim(ctx);
    mote_planes_destroy(planes);
    mote_cloud_destroy(cloud);
    return status;
}

static void survives_failing_allocations(void **state) {
    (void)state;
    test_each_allocation_fails(use_all, NULL);
}

static void cancels_at_every_step(void **state) {
    (void)state;
    test_each_step_cancels(use_all, NULL);
}

typedef struct watch {
    double last;
    bool backwards;
} watch;

static bool watch_progress(void *user, double done, const char *stage) {
    watch *w = user;
    w->backwards = w->backwards || !(done >= w->last && done <= 1) || stage[0] == '\0';
    w->last = done;
    return true;
}

static void progress_goes_forward(void **state) {
    (void)state;
    mote_context_params params = mote_context_defaults();
    watch w = {0, false};
    mote_context *ctx = NULL;
    mote_cloud *cloud;
    params.progress = watch_progress;
    params.progress_user = &w;
    assert_int_equal(mote_context_create(&params, &ctx), MOTE_OK);
    assert_int_equal(mote_generate(ctx, "room", 5000, NULL, &cloud), MOTE_OK);
    w = (watch){0, false};
    answer a = find(ctx, cloud, NULL);
    assert_false(w.backwards);
    assert_true(w.last == 1);
    answer_free(&a);
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
}

static void refuses_wrong_parameters(void **state) {
    (void)state;
    enum { WRONG = 16 };
    mote_context *ctx = test_context(1);
    mote_cloud *cloud = awkward_cloud_make(ctx, &awkward_clouds[0], 100, 0);
    mote_planes_params wrong[WRONG];
    mote_planes *planes;
    mote_planes_winner winner;
    uint32_t count;
    for (int i = 0; i < WRONG; i++) wrong[i] = mote_planes_defaults();
    wrong[0].resolution_deg = 0.4, wrong[1].resolution_deg = 10.5, wrong[2].resolution_deg = NAN;
    wrong[3].cone_deg = 0, wrong[4].cone_deg = 91, wrong[5].normal_deg = 0, wrong[6].normal_deg = NAN;
    wrong[7].bin = -1, wrong[8].tolerance = INFINITY, wrong[9].tolerance = -0.1;
    wrong[10].suppress_deg = 46, wrong[11].suppress_bins = 1001, wrong[12].most = MOTE_PLANES_MOST + 1;
    wrong[13].directions = (mote_planes_directions)2, wrong[14].votes = (mote_planes_votes)2;
    wrong[15].bin = 1e-12;
    for (int i = 0; i < WRONG; i++) {
        mote_context_clear(ctx);
        assert_int_equal(mote_planes_find(ctx, cloud, &wrong[i], NULL, &planes), MOTE_ERROR_ARGUMENT);
        assert_null(planes);
        assert_true(strlen(mote_context_message(ctx)) > 0);
        mote_context_clear(ctx);
        assert_int_equal(mote_planes_vote(ctx, cloud, &wrong[i], 1, &winner, &count, NULL), MOTE_ERROR_ARGUMENT);
    }
    mote_context_clear(ctx);
    assert_int_equal(mote_planes_find(ctx, NULL, NULL, NULL, &planes), MOTE_ERROR_ARGUMENT);
    assert_int_equal(mote_planes_vote(ctx, cloud, NULL, 0, &winner, &count, NULL), MOTE_ERROR_ARGUMENT);
    mote_cloud_destroy(cloud);
    mote_planes_destroy(NULL);
    assert_int_equal(mote_context_memory_bytes(ctx), 0);
    mote_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_largest_are_kept),
        cmocka_unit_test(planes_of_any_direction_are_found),
        cmocka_unit_test(perfect_planes_are_perfect),
        cmocka_unit_test(parallel_planes_are_two),
        cmocka_unit_test(parts_are_planes_of_their_own),
        cmocka_unit_test(outlines_lie_around_their_points),
        cmocka_unit_test(what_is_not_flat_has_no_planes),
        cmocka_unit_test(small_clouds_have_none),
        cmocka_unit_test(strays_and_nan_do_no_harm),
        cmocka_unit_test(votes_measure_what_they_need),
        cmocka_unit_test(strays_are_few),
        cmocka_unit_test(normals_tell_planes_apart),
        cmocka_unit_test(threads_do_not_matter),
        cmocka_unit_test(real_scans_have_floors_and_walls),
        cmocka_unit_test(steps_of_a_sensor_are_not_noise),
        cmocka_unit_test(survives_failing_allocations),
        cmocka_unit_test(cancels_at_every_step),
        cmocka_unit_test(progress_goes_forward),
        cmocka_unit_test(refuses_wrong_parameters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
