/* Planes whose residuals are not those of most: spread evenly, or of a noise of their own. */
#include <math.h>
#include <stdlib.h>

#include "reference/knn_reference.h"
#include "unit/planes_find_test.h"

/* How far point i is off its wall. */
typedef double (*off_fn)(uint32_t wall, uint64_t i);

static double even_off(uint32_t wall, uint64_t i) { return 0.02 * (test_random(60 + wall, i) - 0.5); }

/* The height of an ellipse: the density of residuals is half of one. */
static double round_off(uint32_t wall, uint64_t i) {
    const double radius = 0.01 * sqrt(test_random(63 + wall, 2 * i));
    return radius * cos(6.283185307179586 * test_random(63 + wall, 2 * i + 1));
}

/* The walls have noises of 1.25, 5 and 20 mm. */
static double own_off(uint32_t wall, uint64_t i) {
    return 0.00125 * (double)(1u << (2 * wall)) * planes_find_gauss(i, 66 + wall);
}

/* Three walls of 4 m with a corner, strays among them. */
static mote_cloud *make_corner(mote_context *ctx, uint64_t count, off_fn off) {
    double *stored = planes_find_room(3 * count, sizeof *stored);
    for (uint64_t i = 0; i < count; i++) {
        for (uint32_t axis = 0; axis < 3; axis++) {
            const uint32_t wall = (uint32_t)(i % 4);
            stored[3 * i + axis] = wall == axis ? off(wall, i) : 4 * test_random(50 + axis, i);
        }
    }
    mote_cloud *cloud = knn_reference_cloud(ctx, MOTE_FLOAT64, 1, 0, stored, count);
    free(stored);
    return cloud;
}

static void expect_corner(uint64_t count, off_fn off, double most_noise) {
    mote_context *ctx = test_context(2);
    mote_cloud *cloud = make_corner(ctx, count, off);
    planes_answer found = planes_find_answer(ctx, cloud, NULL);
    assert_int_equal(mote_planes_count(found.planes), 3);
    for (uint32_t k = 0; k < 3; k++) {
        const mote_plane *plane = mote_planes_at(found.planes, k);
        uint32_t wall = 0;
        for (uint32_t axis = 1; axis < 3; axis++) {
            if (fabs(plane->normal[axis]) > fabs(plane->normal[wall])) wall = axis;
        }
        const double normal[3] = {wall == 0, wall == 1, wall == 2};
        assert_true(planes_find_angle(plane->normal, normal) < 0.1);
        assert_true(plane->inliers > 0.95 * (double)count / 4 && plane->inliers < 1.1 * (double)count / 4);
        assert_true(plane->rms <= most_noise);
    }
    planes_answer_free(&found);
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
}

/* Of both no plane was found, as of slabs through what goes on beyond. */
void walls_may_be_spread_evenly(void **state) {
    (void)state;
    expect_corner(40000, even_off, 0.0061);
    expect_corner(40000, round_off, 0.0053);
}

/* One was found: the others were not as noisy as the cloud's planes. */
void walls_have_a_noise_of_their_own(void **state) {
    (void)state;
    expect_corner(40000, own_off, 0.021);
}

/* A room with a table, by lines 32 cm apart of points 1.6 cm apart: one plane of the vote that failed undid all of
   them, and as nothing grows along lines that are so far apart, no plane was found. */
void lines_far_apart_make_planes(void **state) {
    (void)state;
    enum { COUNT = 25000 };
    static const double corner[9][3] = {{0, 0, 0}, {0, 0, 2.7},    {0, 0, 0},   {0, 4.5, 0},  {0, 0, 0},
                                        {6, 0, 0}, {2, 1.5, 0.75}, {2, 1.5, 0}, {3.6, 1.5, 0}};
    static const double size[9][3] = {{6, 4.5, 0},   {6, 4.5, 0},   {6, 0, 2.7},    {6, 0, 2.7},   {0, 4.5, 2.7},
                                      {0, 4.5, 2.7}, {1.6, 0.9, 0}, {0, 0.9, 0.75}, {0, 0.9, 0.75}};
    const double along = 0.0163, across = 0.326;
    double *stored = planes_find_room(3 * COUNT, sizeof *stored);
    uint64_t count = 0;
    mote_context *ctx = test_context(2);
    for (uint32_t plane = 0; plane < 9; plane++) {
        const uint32_t u = size[plane][0] > 0 ? 0 : 1, v = size[plane][2] > 0 ? 2 : 1;
        for (double b = across * test_random(91, plane); b < size[plane][v]; b += across) {
            for (double a = along * test_random(92, plane); a < size[plane][u]; a += along, count++) {
                for (uint32_t k = 0; k < 3; k++) {
                    const double place = corner[plane][k] + (k == u ? a : 0) + (k == v ? b : 0);
                    stored[3 * count + k] = place + 0.004 * planes_find_gauss(count, 93 + k);
                }
            }
        }
    }
    assert_true(count < COUNT);
    mote_cloud *cloud = knn_reference_cloud(ctx, MOTE_FLOAT64, 1, 0, stored, count);
    planes_answer found = planes_find_answer(ctx, cloud, NULL);
    uint64_t labelled = 0;
    for (uint32_t k = 0; k < mote_planes_count(found.planes); k++) {
        labelled += mote_planes_at(found.planes, k)->inliers;
    }
    assert_true(mote_planes_count(found.planes) >= 7 && mote_planes_count(found.planes) <= 11);
    assert_true((double)labelled > 0.9 * (double)count);
    planes_answer_free(&found);
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
    free(stored);
}

/* A floor of 8 by 6 m that falls by 20 cm from one end to the other, 1.5 degrees, and is uneven by
   6 mm from tile to tile, at 3 mm of noise. From cell to cell it is steeper than a floor may bend, and was no plane. */
void uneven_floors_may_bend(void **state) {
    (void)state;
    enum { COUNT = 20000 };
    mote_context *ctx = test_context(2);
    for (uint32_t floor = 0; floor < 3; floor++) {
        double *stored = planes_find_room(3 * COUNT, sizeof *stored);
        for (uint64_t i = 0; i < COUNT; i++) {
            const double x = 8 * test_random(70 + floor, i), y = 6 * test_random(80 + floor, i);
            const uint64_t tile = 1000 * (uint64_t)(5 * x) + (uint64_t)(5 * y);
            stored[3 * i] = x;
            stored[3 * i + 1] = y;
            stored[3 * i + 2] = 0.1 * cos(0.39269908 * x) * cos(0.52359878 * y) +
                                0.006 * planes_find_gauss(tile, 90 + floor) + 0.003 * planes_find_gauss(i, 95 + floor);
        }
        mote_cloud *cloud = knn_reference_cloud(ctx, MOTE_FLOAT64, 1, 0, stored, COUNT);
        planes_answer found = planes_find_answer(ctx, cloud, NULL);
        assert_int_equal(mote_planes_count(found.planes), 1);
        assert_true(mote_planes_at(found.planes, 0)->inliers > 0.99 * COUNT);
        planes_answer_free(&found);
        mote_cloud_destroy(cloud);
        free(stored);
    }
    mote_context_destroy(ctx);
}

enum { VERTICES = 7, SQUARES = VERTICES - 1, TRIANGLES = 2 * SQUARES * SQUARES, ON_TRIANGLES = 40000 };

/* Triangles between points at random heights, 70 cm apart, with 10 mm of noise.
   triangles  out, which one each point is of */
static void make_triangles(uint64_t seed, double *stored, uint32_t *triangles) {
    double heights[VERTICES][VERTICES];
    for (uint32_t k = 0; k < VERTICES * VERTICES; k++) {
        heights[k / VERTICES][k % VERTICES] = 0.8 * test_random(seed, k) - 0.4;
    }
    for (uint64_t i = 0; i < ON_TRIANGLES; i++) {
        const double x = SQUARES * test_random(seed + 1, i), y = SQUARES * test_random(seed + 2, i);
        const uint32_t column = (uint32_t)x, row = (uint32_t)y;
        const bool upper = x - column + (y - row) > 1;
        const double right = upper ? column + 1 - x : x - column, down = upper ? row + 1 - y : y - row;
        const double corner = heights[row + upper][column + upper];
        stored[3 * i] = 0.7 * x;
        stored[3 * i + 1] = 0.7 * y;
        stored[3 * i + 2] = corner + right * (heights[row + upper][column + !upper] - corner) +
                            down * (heights[row + !upper][column + upper] - corner) +
                            0.01 * planes_find_gauss(i, seed + 3);
        triangles[i] = 2 * (row * SQUARES + column) + upper;
    }
}

/* Triangles of which a plane has most points, and they most of its. */
static uint32_t count_found(const planes_answer *found, const uint32_t *triangles) {
    const uint32_t planes = mote_planes_count(found->planes);
    uint32_t *both = planes_find_room((uint64_t)planes * TRIANGLES, sizeof *both), sizes[TRIANGLES] = {0}, count = 0;
    uint32_t *owned = planes_find_room(planes, sizeof *owned);
    for (uint64_t i = 0; i < ON_TRIANGLES; i++) {
        sizes[triangles[i]]++;
        if (found->labels[i] < 0) continue;
        owned[found->labels[i]]++;
        both[(uint64_t)found->labels[i] * TRIANGLES + triangles[i]]++;
    }
    for (uint64_t k = 0; k < (uint64_t)planes * TRIANGLES; k++) {
        count += 2 * both[k] > sizes[k % TRIANGLES] && 2 * both[k] > owned[k / TRIANGLES];
    }
    free(both);
    free(owned);
    return count;
}

/* Faces that turn by some 10 to 40 degrees: growth went on into the next ones until its noise told that it was none:
   of 72 none was found. */
void faces_that_turn_little_are_planes(void **state) {
    (void)state;
    mote_context *ctx = test_context(2);
    double *stored = planes_find_room(3 * ON_TRIANGLES, sizeof *stored);
    uint32_t *triangles = planes_find_room(ON_TRIANGLES, sizeof *triangles);
    make_triangles(120, stored, triangles);
    mote_cloud *cloud = knn_reference_cloud(ctx, MOTE_FLOAT64, 1, 0, stored, ON_TRIANGLES);
    planes_answer found = planes_find_answer(ctx, cloud, NULL);
    assert_true(count_found(&found, triangles) >= 28);
    planes_answer_free(&found);
    mote_cloud_destroy(cloud);
    free(triangles);
    free(stored);
    mote_context_destroy(ctx);
}
