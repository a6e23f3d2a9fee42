/* Planes where the answer is known, in every direction and place, and what must not matter. Rooms are in
   planes_room_test.c. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "planes/planes.h"
#include "reference/knn_reference.h"
#include "unit/planes_find_test.h"

double planes_find_gauss(uint64_t i, uint64_t what) {
    double sum = -6;
    for (uint64_t k = 0; k < 12; k++) sum += test_random(what, 12 * i + k);
    return sum;
}

void *planes_find_room(uint64_t count, size_t size) {
    void *memory = calloc(count + 1, size);
    assert_non_null(memory);
    return memory;
}

planes_answer planes_find_answer(mote_context *ctx, const mote_cloud *cloud, const mote_planes_params *params) {
    planes_answer a = {NULL, planes_find_room(mote_cloud_count(cloud), sizeof(int32_t))};
    assert_int_equal(mote_planes_find(ctx, cloud, params, a.labels, &a.planes), MOTE_OK);
    return a;
}

void planes_answer_free(planes_answer *a) {
    mote_planes_destroy(a->planes);
    free(a->labels);
}

static void the_largest_are_kept(void **state) {
    (void)state;
    mote_context *ctx = test_context(2);
    mote_cloud *cloud;
    mote_planes_params params = mote_planes_defaults();
    params.max_planes = 3;
    assert_int_equal(mote_generate(ctx, "room", 20000, NULL, &cloud), MOTE_OK);
    planes_answer all = planes_find_answer(ctx, cloud, NULL), some = planes_find_answer(ctx, cloud, &params);
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
    planes_answer_free(&all);
    planes_answer_free(&some);
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
}

/* ---- one plane, or two */

/* Two axes in a plane of that normal. */
static void frame_of(const double normal[3], double u[3], double v[3]) { planes_perpendicular(normal, u, v); }

double planes_find_angle(const double a[3], const double b[3]) {
    double cross = 0;
    for (int k = 0; k < 3; k++) {
        const int p = (k + 1) % 3, q = (k + 2) % 3;
        cross += (a[p] * b[q] - a[q] * b[p]) * (a[p] * b[q] - a[q] * b[p]);
    }
    return asin(fmin(1, sqrt(cross))) * 180 / 3.14159265358979;
}

mote_cloud *planes_find_make(mote_context *ctx, const double normal[3], const double middle[3], double noise,
                             uint64_t count, uint64_t strays, uint64_t seed) {
    double u[3], v[3], *stored = planes_find_room(3 * (count + strays), sizeof *stored);
    frame_of(normal, u, v);
    for (uint64_t i = 0; i < count + strays; i++) {
        const double a = 4 * test_random(seed, i) - 2, b = 3 * test_random(seed + 1, i) - 1.5;
        const double off = i < count ? noise * planes_find_gauss(i, seed + 2) : 4 * test_random(seed + 3, i) - 2;
        for (int k = 0; k < 3; k++) stored[3 * i + (uint64_t)k] = middle[k] + a * u[k] + b * v[k] + off * normal[k];
    }
    mote_cloud *cloud = knn_reference_cloud(ctx, MOTE_FLOAT64, 1, 0, stored, count + strays);
    free(stored);
    return cloud;
}

void planes_find_check(const mote_cloud *cloud, const double normal[3], const double middle[3], double angle,
                       double distance, double rms) {
    planes_answer a = planes_find_answer(((const struct mote_cloud *)cloud)->ctx, cloud, NULL);
    assert_int_equal(mote_planes_count(a.planes), 1);
    const mote_plane *p = mote_planes_at(a.planes, 0);
    double away = -p->offset, length = 0, at_centroid = -p->offset;
    for (int k = 0; k < 3; k++) {
        away += p->normal[k] * middle[k];
        at_centroid += p->normal[k] * p->centroid[k];
        length += p->normal[k] * p->normal[k];
    }
    assert_true(planes_find_angle(p->normal, normal) <= angle);
    assert_true(fabs(away) <= distance);
    assert_true(fabs(at_centroid) <= 1e-9 * (1 + fabs(p->offset)));
    assert_float_equal(length, 1, 1e-12);
    assert_true(p->normal[2] > 0 ||
                (p->normal[2] == 0 && (p->normal[1] > 0 || (p->normal[1] == 0 && p->normal[0] > 0))));
    assert_true(p->rms <= rms);
    assert_true(p->area > 9 && p->area < 14 && p->hull_area > 9 && p->hull_area < 13);
    assert_true(p->confidence > 0.9);
    planes_answer_free(&a);
}

/* The middle of the map and far from it; poles, the seam of theta, directions of no meaning. */
static void planes_of_any_direction_are_found(void **state) {
    (void)state;
    static const double places[][3] = {{0, 0, 0}, {0.3, -0.2, 11}, {500123.25, 5312345.5, 98.75}};
    const uint64_t step = test_extent(7, 3);
    for (uint64_t turn = test_turn(step); turn < 40; turn += step) {
        mote_context *ctx = test_context(2);
        const double theta = turn < 20 ? (double)(turn % 5) * 1e-3 + (turn % 2 == 0 ? 0 : 3.14159265)
                                       : 6.283185307 * test_random(1, turn);
        const double phi = turn < 10   ? 1e-3 * (double)(turn / 2)
                           : turn < 20 ? 1.5707963 + 1e-3 * ((double)turn - 15)
                                       : acos(2 * test_random(2, turn) - 1);
        const double normal[3] = {sin(phi) * cos(theta), sin(phi) * sin(theta), cos(phi)};
        const double *middle = places[turn % 3];
        mote_cloud *cloud = planes_find_make(ctx, normal, middle, 0.002, 4000, 300, turn);
        planes_find_check(cloud, normal, middle, 0.02, 0.0002, 0.0025);
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
        mote_cloud *cloud = planes_find_make(ctx, normals[i], middle, 0, 3000, i % 2 == 0 ? 0 : 200, i);
        planes_find_check(cloud, normals[i], middle, 1e-5, 1e-6, 1e-6);
        mote_cloud_destroy(cloud);
        mote_context_destroy(ctx);
    }
}

/* Two sheets of 3 mm noise, 5 cm apart, as of a door or a table. */
static void parallel_planes_are_two(void **state) {
    (void)state;
    for (uint64_t seed = 0; seed < test_extent(2, 5); seed++) {
        mote_context *ctx = test_context(2);
        enum { COUNT = 12000 };
        double *stored = planes_find_room(3 * COUNT, sizeof *stored);
        for (uint64_t i = 0; i < COUNT; i++) {
            stored[3 * i] = 10 * test_random(seed, i);
            stored[3 * i + 1] = 8 * test_random(seed + 50, i);
            stored[3 * i + 2] = (i % 2 == 0 ? 0 : 0.05) + 0.003 * planes_find_gauss(i, seed + 100);
        }
        mote_cloud *cloud = knn_reference_cloud(ctx, MOTE_FLOAT32, 1, 0, stored, COUNT);
        planes_answer a = planes_find_answer(ctx, cloud, NULL);
        assert_int_equal(mote_planes_count(a.planes), 2);
        uint64_t wrong = 0;
        for (uint32_t i = 0; i < 2; i++) {
            const mote_plane *p = mote_planes_at(a.planes, i);
            assert_true(fmin(fabs(p->offset), fabs(p->offset - 0.05)) < 0.0005 && p->normal[2] > 1 - 1e-7);
        }
        const bool first_is_low = mote_planes_at(a.planes, 0)->offset < 0.025;
        for (uint64_t i = 0; i < COUNT; i++) wrong += a.labels[i] != (int32_t)((i % 2 == 0) != first_is_low);
        assert_true(wrong < COUNT / 50);
        planes_answer_free(&a);
        free(stored);
        mote_cloud_destroy(cloud);
        mote_context_destroy(ctx);
    }
}

/* Two sides of a box of 0.3 m, on a table of 2 m: the table is crossed by both planes from edge to edge. */
static void planes_end_where_they_are_seen(void **state) {
    (void)state;
    enum { TABLE = 150000, SIDE = 4000, COUNT = TABLE + 2 * SIDE };
    for (uint64_t seed = 0; seed < test_extent(1, 3); seed++) {
        mote_context *ctx = test_context(2);
        double *stored = planes_find_room(3 * COUNT, sizeof *stored);
        for (uint64_t i = 0; i < COUNT; i++) {
            const double a = test_random(seed, i), b = test_random(seed + 50, i);
            double *p = stored + 3 * i;
            const double off = 0.001 * planes_find_gauss(i, seed);
            if (i < TABLE) {
                p[0] = 2 * a - 1, p[1] = 2 * b - 1, p[2] = off;
            } else {
                const int along = i < TABLE + SIDE ? 0 : 1;
                p[along] = 0.3 * a, p[1 - along] = off, p[2] = 0.3 * b;
            }
        }
        mote_cloud *cloud = knn_reference_cloud(ctx, MOTE_FLOAT64, 1, 0, stored, COUNT);
        planes_answer answer = planes_find_answer(ctx, cloud, NULL);
        uint32_t lines = 0, others = 0;
        assert_int_equal(mote_planes_count(answer.planes), 3);
        for (uint64_t i = 0; i < TABLE; i++) {
            const double *p = stored + 3 * i;
            const bool beyond = fmin(p[0], p[1]) < -0.1 || fmax(p[0], p[1]) > 0.4;
            if (!beyond || fmin(fabs(p[0]), fabs(p[1])) > 0.001 || fabs(p[2]) > 0.0025) continue;
            lines++;
            others += answer.labels[i] != answer.labels[0];
        }
        assert_in_range(lines, 150, 400);
        assert_in_range(others, 0, lines / 20); /* without ends half of them */
        planes_answer_free(&answer);
        mote_cloud_destroy(cloud);
        free(stored);
        mote_context_destroy(ctx);
    }
}

/* Four tables at one height: one plane, or four. */
static void parts_are_planes_of_their_own(void **state) {
    (void)state;
    enum { COUNT = 16000 };
    mote_context *ctx = test_context(2);
    double *stored = planes_find_room(3 * COUNT, sizeof *stored);
    for (uint64_t i = 0; i < COUNT; i++) {
        stored[3 * i] = (double)(i % 2) * 3 + 1.5 * test_random(1, i);
        stored[3 * i + 1] = (double)(i / 2 % 2) * 2.5 + test_random(2, i);
        stored[3 * i + 2] = 0.75 + 0.002 * planes_find_gauss(i, 3);
    }
    mote_cloud *cloud = knn_reference_cloud(ctx, MOTE_INT32, 0.0001, 0, stored, 0);
    mote_cloud_destroy(cloud);
    cloud = knn_reference_cloud(ctx, MOTE_FLOAT32, 1, 0, stored, COUNT);
    mote_planes_params params = mote_planes_defaults();
    planes_answer one = planes_find_answer(ctx, cloud, &params);
    params.components = true;
    planes_answer four = planes_find_answer(ctx, cloud, &params);
    assert_int_equal(mote_planes_count(one.planes), 1);
    assert_int_equal(mote_planes_count(four.planes), 4);
    assert_float_equal(mote_planes_at(one.planes, 0)->area, 6, 0.6);
    assert_true(mote_planes_at(one.planes, 0)->hull_area > 14);
    for (uint32_t i = 0; i < 4; i++) assert_float_equal(mote_planes_at(four.planes, i)->hull_area, 1.5, 0.05);
    for (uint64_t i = 4; i < COUNT; i++) {
        if (four.labels[i] >= 0 && four.labels[i % 4] >= 0) assert_int_equal(four.labels[i], four.labels[i % 4]);
    }
    planes_answer_free(&one);
    planes_answer_free(&four);
    free(stored);
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
}

/* A rectangle's hull and smallest rectangle, wherever it lies. */
static void outlines_lie_around_their_points(void **state) {
    (void)state;
    static const double normal[3] = {0.48, -0.6, 0.64}, middle[3] = {500123.25, 5312345.5, 98.75};
    mote_context *ctx = test_context(2);
    mote_cloud *cloud = planes_find_make(ctx, normal, middle, 0.001, 20000, 0, 5);
    planes_answer a = planes_find_answer(ctx, cloud, NULL);
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
    planes_answer_free(&a);
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
}

/* A vote with a bin of its own looks at nothing else; one without measures what it needs to choose it. */
static void votes_measure_what_they_need(void **state) {
    (void)state;
    static const double normal[3] = {0, 0.6, 0.8}, middle[3] = {1, 2, 3};
    mote_context *ctx = test_context(2);
    mote_cloud *cloud = planes_find_make(ctx, normal, middle, 0.002, 30000, 0, 9);
    for (int turn = 0; turn < 3; turn++) {
        mote_planes_params params = mote_planes_defaults();
        mote_planes_peak peak;
        mote_planes_facts facts;
        uint32_t count;
        params.bin = turn > 0 ? 0.03 : 0;
        params.tolerance = turn > 1 ? 0.01 : 0;
        assert_int_equal(mote_planes_vote(ctx, cloud, &params, 1, &peak, &count, &facts), MOTE_OK);
        assert_int_equal(count, 1);
        assert_true(planes_find_angle(peak.normal, normal) < 2);
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
        const float off = (float)(0.002 * planes_find_gauss(i, 3)), a = (float)test_random(1, i) * 4 - 2;
        const float b = (float)test_random(2, i) * 4 - 2;
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
        planes_answer a = planes_find_answer(ctx, cloud, &params);
        uint64_t wrong = 0;
        assert_int_equal(mote_planes_count(a.planes), 2);
        assert_true(mote_planes_get_facts(a.planes).normals);
        const bool floor_first = mote_planes_at(a.planes, 0)->normal[2] > 0.5;
        for (uint64_t i = 0; i < COUNT; i++) {
            wrong += a.labels[i] >= 0 && a.labels[i] != (int32_t)((i % 2 == 0) != floor_first);
        }
        assert_int_equal(wrong, 0);
        planes_answer_free(&a);
    }
    mote_planes_params params = mote_planes_defaults();
    params.normal_deg = 90;
    planes_answer a = planes_find_answer(ctx, cloud, &params);
    assert_int_equal(mote_planes_count(a.planes), 2);
    assert_false(mote_planes_get_facts(a.planes).normals);
    planes_answer_free(&a);
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
}

/* ---- what must not matter */

static void threads_do_not_matter(void **state) {
    (void)state;
    for (int kind = 0; kind < (int)test_extent(2, 3); kind++) {
        planes_answer first = {NULL, NULL};
        for (int threads = 1; threads <= 7; threads += threads == 1 ? 1 : 5) {
            mote_context *ctx = test_context(threads);
            mote_cloud *cloud;
            mote_gen_params room = mote_gen_defaults("room");
            room.outlier_ratio = 0.5;
            mote_planes_params params = mote_planes_defaults();
            params.components = kind == 2;
            assert_int_equal(mote_generate(ctx, kind == 1 ? "city" : "room", 30000, kind == 1 ? NULL : &room, &cloud),
                             MOTE_OK);
            planes_answer a = planes_find_answer(ctx, cloud, &params);
            if (threads > 1) {
                const uint32_t count = mote_planes_count(a.planes);
                assert_int_equal(count, first.planes->count);
                assert_memory_equal(a.labels, first.labels, 30000 * sizeof *a.labels);
                assert_memory_equal(a.planes->planes, first.planes->planes, count * sizeof(mote_plane));
                assert_memory_equal(a.planes->first_corner, first.planes->first_corner, (count + 1) * sizeof(uint32_t));
                assert_memory_equal(a.planes->corners, first.planes->corners,
                                    3 * first.planes->first_corner[count] * sizeof(double));
                planes_answer_free(&a);
            } else {
                first = a; /* outlives its context but for what tests compare */
                first.planes = planes_find_room(1, sizeof *first.planes);
                *first.planes = *a.planes;
                const uint32_t count = a.planes->count, corners = count > 0 ? a.planes->first_corner[count] : 0;
                first.planes->planes = planes_find_room(count, sizeof(mote_plane));
                first.planes->first_corner = planes_find_room(count + 1, sizeof(uint32_t));
                first.planes->corners = planes_find_room(3 * corners, sizeof(double));
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

int main(int argc, char **argv) {
    if (argc > 1) cmocka_set_test_filter(argv[1]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_largest_are_kept),
        cmocka_unit_test(planes_of_any_direction_are_found),
        cmocka_unit_test(perfect_planes_are_perfect),
        cmocka_unit_test(parallel_planes_are_two),
        cmocka_unit_test(planes_end_where_they_are_seen),
        cmocka_unit_test(parts_are_planes_of_their_own),
        cmocka_unit_test(outlines_lie_around_their_points),
        cmocka_unit_test(what_is_not_flat_has_no_planes),
        cmocka_unit_test(beams_are_no_planes),
        cmocka_unit_test(walls_may_be_spread_evenly),
        cmocka_unit_test(walls_have_a_noise_of_their_own),
        cmocka_unit_test(lines_far_apart_make_planes),
        cmocka_unit_test(uneven_floors_may_bend),
        cmocka_unit_test(faces_that_turn_little_are_planes),
        cmocka_unit_test(small_clouds_have_none),
        cmocka_unit_test(strays_and_nan_do_no_harm),
        cmocka_unit_test(places_far_away_do_no_harm),
        cmocka_unit_test(what_is_refused_is_told),
        cmocka_unit_test(votes_measure_what_they_need),
        cmocka_unit_test(strays_are_few),
        cmocka_unit_test(normals_tell_planes_apart),
        cmocka_unit_test(threads_do_not_matter),
        cmocka_unit_test(real_scans_have_floors_and_walls),
        cmocka_unit_test(steps_of_a_sensor_are_not_noise),
        cmocka_unit_test(roofs_are_found_beside_the_ground),
        cmocka_unit_test(slabs_are_no_planes_of_a_town),
        cmocka_unit_test(layers_of_a_sensor_are_no_planes),
        cmocka_unit_test(rows_of_a_raster_are_no_planes),
        cmocka_unit_test(survives_failing_allocations),
        cmocka_unit_test(cancels_at_every_step),
        cmocka_unit_test(progress_goes_forward),
        cmocka_unit_test(refuses_wrong_parameters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
