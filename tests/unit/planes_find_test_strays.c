/* Planes: clouds that have none, and points that are of none: strays and what is no number. */
#include <math.h>
#include <stdlib.h>

#include "reference/knn_reference.h"
#include "unit/planes_find_test.h"

static void check_none(mote_context *ctx, const double *stored, uint64_t count) {
    mote_cloud *cloud = knn_reference_cloud(ctx, MOTE_FLOAT64, 1, 0, stored, count);
    planes_answer a = planes_find_answer(ctx, cloud, NULL);
    assert_int_equal(mote_planes_count(a.planes), 0);
    for (uint64_t i = 0; i < count; i++) assert_int_equal(a.labels[i], -1);
    assert_int_equal(mote_planes_get_facts(a.planes).labelled, 0);
    planes_answer_free(&a);
    mote_cloud_destroy(cloud);
}

void what_is_not_flat_has_no_planes(void **state) {
    (void)state;
    enum { COUNT = 20000 };
    double *stored = planes_find_room(3 * COUNT, sizeof *stored);
    for (uint64_t turn = 0; turn < 8; turn++) {
        mote_context *ctx = test_context(2);
        for (uint64_t i = 0; i < COUNT; i++) {
            double length = 0;
            for (uint64_t k = 0; k < 3; k++) {
                stored[3 * i + k] = turn < 2 ? 10 * test_random(4 * turn + k, i) : planes_find_gauss(i, 4 * turn + k);
                length += stored[3 * i + k] * stored[3 * i + k];
            }
            /* boxes full of points; spheres without and with noise; fogs; lines */
            for (uint64_t k = 0; k < 3 && turn >= 2 && turn < 5; k++) {
                stored[3 * i + k] *= (2 + (turn == 4 ? 0.005 * planes_find_gauss(i, 77) : 0)) / sqrt(length);
            }
            if (turn == 7) stored[3 * i + 1] = 3 * stored[3 * i], stored[3 * i + 2] = -stored[3 * i];
        }
        check_none(ctx, stored, COUNT);
        mote_context_destroy(ctx);
    }
    free(stored);
}

/* Round beams, as thick as they are wide: any plane through one has points on it from end to end, and few of them have
   neighbours that tell otherwise. 17 were planes; 8 are left that are wider, as beams cross there. */
void beams_are_no_planes(void **state) {
    (void)state;
    enum { COUNT = 20000, BEAMS = 40 };
    double *stored = planes_find_room(3 * COUNT, sizeof *stored);
    mote_context *ctx = test_context(2);
    for (uint64_t i = 0; i < COUNT; i++) {
        const double at = test_random(5, i);
        for (uint64_t k = 0; k < 3; k++) {
            const double size = k < 2 ? 8 : 20, a = size * test_random(6 + k, i % BEAMS);
            const double b = size * test_random(9 + k, i % BEAMS);
            stored[3 * i + k] = a + at * (b - a) + 0.03 * planes_find_gauss(i, 12 + k);
        }
    }
    mote_cloud *cloud = knn_reference_cloud(ctx, MOTE_FLOAT64, 1, 0, stored, COUNT);
    planes_answer a = planes_find_answer(ctx, cloud, NULL);
    assert_true(mote_planes_count(a.planes) <= 9);
    planes_answer_free(&a);
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
    free(stored);
}

void small_clouds_have_none(void **state) {
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

/* More points than the sample that strays are seen in. */
void strays_are_few(void **state) {
    (void)state;
    enum { COUNT = 60000 };
    double *stored = planes_find_room(3 * COUNT, sizeof *stored);
    for (int turn = 0; turn < 3; turn++) {
        mote_context *ctx = test_context(2);
        mote_planes_params params = mote_planes_defaults();
        mote_planes_peak peak;
        mote_planes_facts facts;
        uint32_t count;
        for (uint64_t i = 0; i < COUNT; i++) {
            for (uint64_t k = 0; k < 3; k++)
                stored[3 * i + k] = k < 2 ? 10 * test_random(k, i) : 0.01 * test_random(k, i);
            if (turn == 1 && i % 3000 == 17) stored[3 * i + 1] = i % 6000 == 17 ? 1e7 : -1e9;
            if (turn == 2 && i % 20 == 17) stored[3 * i + 1] += 1e4; /* one in twenty are no strays */
        }
        mote_cloud *cloud = knn_reference_cloud(ctx, MOTE_FLOAT64, 1, 0, stored, COUNT);
        params.bin = turn == 2 ? 10 : 0.05;
        assert_int_equal(mote_planes_vote(ctx, cloud, &params, 1, &peak, &count, &facts), MOTE_OK);
        assert_int_equal(facts.outside, turn == 1 ? 20 : 0);
        assert_true(turn == 2 ? facts.extent > 9000 : facts.extent < 100);
        assert_true(peak.normal[2] > 0.999);
        mote_cloud_destroy(cloud);
        mote_context_destroy(ctx);
    }
    free(stored);
}

void strays_and_nan_do_no_harm(void **state) {
    (void)state;
    static const double normal[3] = {0, 0.6, 0.8}, middle[3] = {1, 2, 3};
    enum { COUNT = 5000 };
    mote_context *ctx = test_context(2);
    mote_cloud *plain = planes_find_make(ctx, normal, middle, 0.002, COUNT, 0, 9);
    double *stored = planes_find_room(3 * COUNT, sizeof *stored);
    for (uint64_t i = 0; i < COUNT; i++) {
        for (uint32_t k = 0; k < 3; k++) {
            stored[3 * i + k] = mote_column_value(mote_cloud_column(plain, k), i);
            if (i % 100 == 7) stored[3 * i + k] = k == i % 3 ? NAN : 4;
            if (i % 1250 == 1) stored[3 * i + k] = i % 2500 == 1 ? -1e15 : 5e6 + (double)k;
            if (i == 2000) stored[3 * i + k] = k == 0 ? INFINITY : 0;
        }
    }
    mote_cloud *cloud = knn_reference_cloud(ctx, MOTE_FLOAT64, 1, 0, stored, COUNT);
    planes_find_check(cloud, normal, middle, 0.02, 0.0003, 0.0025);
    planes_answer a = planes_find_answer(ctx, cloud, NULL);
    const mote_planes_facts facts = mote_planes_get_facts(a.planes);
    assert_int_equal(facts.skipped, 51);
    assert_int_equal(facts.outside, 4);
    for (uint64_t i = 0; i < COUNT; i++) {
        const bool odd = i % 100 == 7 || i % 1250 == 1 || i == 2000;
        if (odd) assert_int_equal(a.labels[i], -1);
    }
    planes_answer_free(&a);
    free(stored);
    mote_cloud_destroy(plain);
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
}

/* Where no sound came back, a file in UTM coordinates may say 0, 0, 0: of a few points, of most, or of a few in a small
   cloud. The others were within one step of the lattice. */
void places_far_away_do_no_harm(void **state) {
    (void)state;
    static const double normal[3] = {0, 0.6, 0.8}, middle[3] = {447812, 5411933, 212};
    static const uint64_t counts[3] = {5000, 5000, 400}, kept[3] = {49, 15, 48};
    for (int turn = 0; turn < 3; turn++) {
        const uint64_t count = counts[turn];
        mote_context *ctx = test_context(2);
        mote_cloud *plain = planes_find_make(ctx, normal, middle, 0.002, count, 0, 9);
        double *stored = planes_find_room(3 * count, sizeof *stored);
        for (uint64_t i = 0; i < 3 * count; i++) {
            const bool none = i / 3 % 50 >= kept[turn]; /* of 50 */
            stored[i] = none ? 0 : mote_column_value(mote_cloud_column(plain, (uint32_t)(i % 3)), i / 3);
        }
        mote_cloud *cloud = knn_reference_cloud(ctx, MOTE_FLOAT64, 1, 0, stored, count);
        planes_find_check(cloud, normal, middle, 0.1, 0.001, 0.0025);
        planes_answer a = planes_find_answer(ctx, cloud, NULL);
        assert_int_equal(mote_planes_get_facts(a.planes).outside, count / 50 * (50 - kept[turn]));
        planes_answer_free(&a);
        free(stored);
        mote_cloud_destroy(plain);
        mote_cloud_destroy(cloud);
        mote_context_destroy(ctx);
    }
}

/* ---- what was refused */

/* A floor of 5,000 points, a small plane of 150, a ball of 2,000 far from both, and strays. */
static mote_cloud *make_refused(mote_context *ctx) {
    enum { FLOOR = 5000, SMALL = 150, BALL = 2000, STRAYS = 400, ALL = FLOOR + SMALL + BALL + STRAYS };
    double *stored = planes_find_room(3 * ALL, sizeof *stored);
    for (uint64_t i = 0; i < ALL; i++) {
        const double a = test_random(41, i), b = test_random(42, i), c = test_random(43, i);
        const double off = 0.003 * planes_find_gauss(i, 44);
        double *to = stored + 3 * i;
        if (i < FLOOR) {
            to[0] = 6 * a - 3, to[1] = 4 * b - 2, to[2] = off;
        } else if (i < FLOOR + SMALL) {
            to[0] = 0.6 * a, to[1] = off, to[2] = 0.5 + 0.5 * b;
        } else if (i < FLOOR + SMALL + BALL) {
            const double z = 2 * a - 1, turn = 6.283185307179586 * b, radius = sqrt(1 - z * z);
            to[0] = 8 + radius * cos(turn), to[1] = radius * sin(turn), to[2] = z;
        } else {
            to[0] = 6 * a - 3, to[1] = 4 * b - 2, to[2] = 4 * c - 2;
        }
    }
    mote_cloud *cloud = knn_reference_cloud(ctx, MOTE_FLOAT64, 1, 0, stored, ALL);
    free(stored);
    return cloud;
}

static void check_refused(const mote_planes *planes) {
    const uint32_t count = mote_planes_refused_count(planes);
    bool small = false, round = false;
    assert_in_range(count, 2, 256);
    assert_null(mote_planes_refused_at(planes, count));
    for (uint32_t i = 0; i < count; i++) {
        const mote_plane_refused *p = mote_planes_refused_at(planes, i);
        double away = -p->offset;
        for (int k = 0; k < 3; k++) away += p->normal[k] * p->centroid[k];
        assert_true(fabs(away) < 1e-9 && p->noise > 0 && p->limit - p->limit == 0 && p->value - p->value == 0);
        assert_true(i == 0 || p->points <= mote_planes_refused_at(planes, i - 1)->points);
        /* The floor was found; it is not refused. */
        assert_false(fabs(p->normal[2]) > 0.999 && fabs(p->offset) < 0.01 && p->noise < 0.01 && p->points > 2000);
        small = small || (fabs(p->normal[1]) > 0.99 && fabs(p->offset) < 0.03 && p->noise < 0.01 && p->points > 100 &&
                          p->points < 200 && p->value < p->limit);
        round = round || (p->centroid[0] > 6.5 && p->points > 100);
    }
    assert_true(small && round);
}

void what_is_refused_is_told(void **state) {
    (void)state;
    planes_answer answers[3];
    mote_context *contexts[3];
    for (int i = 0; i < 3; i++) {
        mote_context *ctx = contexts[i] = test_context(i < 2 ? 1 : 3);
        mote_cloud *cloud = make_refused(ctx);
        mote_planes_params params = mote_planes_defaults();
        params.min_points = 400;
        params.explain = i > 0;
        planes_answer *a = &answers[i];
        *a = planes_find_answer(ctx, cloud, &params);
        assert_int_equal(mote_planes_count(a->planes), 1);
        if (i == 0) {
            assert_int_equal(mote_planes_refused_count(a->planes), 0);
        } else {
            check_refused(a->planes);
            assert_memory_equal(a->labels, answers[0].labels, 7550 * sizeof *a->labels);
        }
        if (i == 2) {
            const uint32_t count = mote_planes_refused_count(a->planes);
            assert_int_equal(count, mote_planes_refused_count(answers[1].planes));
            assert_memory_equal(mote_planes_refused_at(a->planes, 0), mote_planes_refused_at(answers[1].planes, 0),
                                count * sizeof(mote_plane_refused));
        }
        mote_cloud_destroy(cloud);
    }
    for (int i = 0; i < 3; i++) {
        planes_answer_free(&answers[i]);
        mote_context_destroy(contexts[i]);
    }
}
