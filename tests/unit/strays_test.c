/* Strays: found wherever they are, as brute force says; none where the cloud is like that all over. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "math/hash.h"
#include "mote/strays.h"
#include "support/support.h"

#define POINTS       20000u
#define PIECE_POINTS 777u

static double uniform(uint64_t seed, uint64_t i) { return (double)(mote_hash_pair(seed, i) >> 11) * 0x1p-53; }

/* Points as doubles. */
static mote_status wrap(mote_context *ctx, const double *xyz, uint64_t count, mote_cloud **cloud) {
    static const char *const names[3] = {"x", "y", "z"};
    mote_column columns[3];
    memset(columns, 0, sizeof columns);
    for (int k = 0; k < 3; k++) {
        columns[k].name = names[k];
        columns[k].unit = columns[k].description = "";
        columns[k].data = xyz + k;
        columns[k].type = MOTE_FLOAT64;
        columns[k].stride_bytes = 24;
        columns[k].scale = 1;
    }
    return mote_cloud_wrap(ctx, count, columns, 3, cloud);
}

/* The same of points that come in pieces; expected: how many are announced. */
static void check_pieces(mote_context *ctx, const double *xyz, uint64_t count, uint64_t expected, const mote_box *box,
                         const mote_strays *strays) {
    mote_strays_search *search = NULL;
    mote_box found;
    mote_strays of_pieces;
    assert_int_equal(mote_strays_search_open(ctx, expected, &search), MOTE_OK);
    do {
        for (uint64_t first = 0; first < count; first += PIECE_POINTS) {
            const uint64_t some = count - first < PIECE_POINTS ? count - first : PIECE_POINTS;
            mote_cloud *piece = NULL;
            assert_int_equal(wrap(ctx, xyz + 3 * first, some, &piece), MOTE_OK);
            assert_int_equal(mote_strays_search_add(search, piece), MOTE_OK);
            mote_cloud_destroy(piece);
        }
    } while (mote_strays_search_again(search));
    mote_strays_search_tell(search, &found, NULL, &of_pieces);
    assert_memory_equal(&found, box, sizeof found);
    assert_memory_equal(&of_pieces, strays, sizeof of_pieces);
    mote_strays_search_close(search);
}

static mote_strays find(const double *xyz, uint64_t count, int threads) {
    mote_context *ctx = test_context(threads);
    mote_cloud *cloud = NULL;
    mote_strays strays, again;
    mote_box box;
    assert_int_equal(wrap(ctx, xyz, count, &cloud), MOTE_OK);
    assert_int_equal(mote_cloud_strays(ctx, cloud, NULL, &strays), MOTE_OK);
    assert_int_equal(mote_cloud_bounds(ctx, cloud, &box, NULL), MOTE_OK);
    assert_int_equal(mote_cloud_strays(ctx, cloud, &box, &again), MOTE_OK);
    assert_memory_equal(&strays, &again, sizeof strays);
    check_pieces(ctx, xyz, count, count, &box, &strays);
    check_pieces(ctx, xyz, count, 2 * count + 1, &box, &strays);
    mote_cloud_destroy(cloud);
    assert_int_equal(mote_context_memory_bytes(ctx), 0);
    mote_context_destroy(ctx);
    return strays;
}

/* A room of 10 x 8 x 3 at UTM coordinates. */
static double *make_room(uint64_t count) {
    static const double low[3] = {500000, 5400000, 300}, size[3] = {10, 8, 3};
    double *xyz = malloc(3 * count * sizeof *xyz);
    for (uint64_t i = 0; i < 3 * count; i++) xyz[i] = low[i % 3] + size[i % 3] * uniform(7, i);
    return xyz;
}

static void check_stray(const double stray[3], uint64_t at, uint64_t copies) {
    double *xyz = make_room(POINTS), low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {0, 0, 0}, square = 0;
    for (uint64_t i = 0; i < copies; i++) memcpy(xyz + 3 * (at + i), stray, 3 * sizeof *stray);
    for (uint64_t i = 0; i < POINTS; i++) {
        if (i >= at && i < at + copies) continue;
        for (int k = 0; k < 3; k++) {
            low[k] = fmin(low[k], xyz[3 * i + (uint64_t)k]);
            high[k] = fmax(high[k], xyz[3 * i + (uint64_t)k]);
        }
    }
    for (int k = 0; k < 3; k++) square += pow(fmax(0, fmax(low[k] - stray[k], stray[k] - high[k])), 2);
    const mote_strays one = find(xyz, POINTS, 1), seven = find(xyz, POINTS, 7);
    assert_memory_equal(&one, &seven, sizeof one);
    assert_int_equal(one.count, copies);
    assert_int_equal(one.farthest, at);
    assert_true(fabs(one.distance - sqrt(square)) <= 1e-12 * sqrt(square));
    for (int k = 0; k < 3; k++) assert_true(one.rest.min[k] == low[k] && one.rest.max[k] == high[k]);
    free(xyz);
}

static void finds_a_few_points_far_away(void **state) {
    (void)state;
    const double zero[3] = {0, 0, 0}, far[3] = {1e9, 1e9, 1e9}, bird[3] = {500005, 5400004, 400};
    const double one_axis[3] = {500005, -5400004, 301};
    check_stray(zero, 0, 1);
    check_stray(zero, POINTS - 1, 1);
    check_stray(far, 4711, 1);
    check_stray(far, 100, 150);
    check_stray(bird, 1234, 3);
    check_stray(one_axis, 9999, 1);
}

static void finds_none_where_there_are_none(void **state) {
    (void)state;
    double *xyz = make_room(POINTS);
    assert_int_equal(find(xyz, POINTS, 3).count, 0);
    xyz[0] = NAN;
    xyz[10] = INFINITY;
    assert_int_equal(find(xyz, POINTS, 3).count, 0);
    for (uint64_t i = 0; i < 3ull * POINTS; i++) xyz[i] = i % 3 == 0 ? uniform(1, i) : 5; /* a line */
    assert_int_equal(find(xyz, POINTS, 2).count, 0);
    for (uint64_t i = 0; i < 3ull * POINTS; i++) xyz[i] = 1; /* all equal */
    assert_int_equal(find(xyz, POINTS, 2).count, 0);
    for (uint64_t i = 0; i < 3ull * POINTS; i++) xyz[i] = pow(10, 9 * uniform(2, i) - 6); /* nine decades */
    assert_int_equal(find(xyz, POINTS, 2).count, 0);
    for (uint64_t i = 0; i < 3ull * POINTS; i++) xyz[i] = i % 6 < 3 ? 1e-7 * uniform(3, i) : 1e6 * uniform(3, i);
    assert_int_equal(find(xyz, POINTS, 2).count, 0);                         /* two scales */
    for (uint64_t i = 0; i < 300; i++) xyz[i] = i < 3 ? 1e6 : uniform(4, i); /* one in 100 is a stray */
    assert_int_equal(find(xyz, 100, 2).count, 1);
    assert_int_equal(find(xyz, 99, 2).count, 0); /* too few to tell */
    assert_int_equal(find(xyz, 1, 2).count, 0);
    assert_int_equal(find(xyz, 0, 2).count, 0);
    free(xyz);
}

static void one_point_beside_equal_ones(void **state) {
    (void)state;
    double *xyz = malloc(3 * POINTS * sizeof *xyz);
    for (uint64_t i = 0; i < 3ull * POINTS; i++) xyz[i] = 1;
    xyz[3 * 77 + 2] = 1.5;
    xyz[3 * 78] = NAN;
    const mote_strays strays = find(xyz, POINTS, 2);
    assert_int_equal(strays.count, 1);
    assert_int_equal(strays.farthest, 77);
    assert_true(strays.distance == 0.5);
    free(xyz);
}

static void says_what_is_missing(void **state) {
    (void)state;
    mote_context *ctx = test_context(1);
    const mote_column_spec specs[] = {{"x", MOTE_INT32, 0, 0}, {"y", MOTE_INT32, 0, 0}};
    mote_cloud *cloud = NULL;
    mote_strays strays;
    assert_int_equal(mote_cloud_create(ctx, 100, specs, 2, &cloud), MOTE_OK);
    assert_int_equal(mote_cloud_strays(ctx, cloud, NULL, &strays), MOTE_ERROR_ARGUMENT);
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
}

static void survives_failing_allocations(void **state) {
    (void)state;
    double *xyz = make_room(1000);
    for (long n = 1; n < 8; n++) {
        test_allocator allocator = {.fail_at = n};
        mote_context *ctx = test_context_failing(&allocator, 2);
        if (ctx == NULL) continue;
        mote_cloud *cloud = NULL;
        if (wrap(ctx, xyz, 1000, &cloud) == MOTE_OK) {
            mote_strays strays;
            const mote_status status = mote_cloud_strays(ctx, cloud, NULL, &strays);
            assert_true(status == MOTE_OK || status == MOTE_ERROR_MEMORY);
        }
        mote_cloud_destroy(cloud);
        mote_context_destroy(ctx);
        assert_int_equal(allocator.open, 0);
    }
    free(xyz);
}

/* The search in pieces, two passes of it. */
static mote_status search_pieces(mote_context *ctx, void *user) {
    const double *const xyz = user;
    mote_strays_search *search = NULL;
    mote_status status = mote_strays_search_open(ctx, 1, &search);
    bool again = status == MOTE_OK;
    while (again) {
        for (uint64_t first = 0; status == MOTE_OK && first < 1000; first += 250) {
            mote_cloud *piece = NULL;
            status = wrap(ctx, xyz + 3 * first, 250, &piece);
            if (status == MOTE_OK) status = mote_strays_search_add(search, piece);
            mote_cloud_destroy(piece);
        }
        again = status == MOTE_OK && mote_strays_search_again(search);
    }
    mote_strays_search_close(search);
    return status;
}

static void search_survives_failing_allocations(void **state) {
    (void)state;
    double *xyz = make_room(1000);
    test_each_allocation_fails(search_pieces, xyz);
    free(xyz);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_a_few_points_far_away),  cmocka_unit_test(finds_none_where_there_are_none),
        cmocka_unit_test(one_point_beside_equal_ones),  cmocka_unit_test(says_what_is_missing),
        cmocka_unit_test(survives_failing_allocations), cmocka_unit_test(search_survives_failing_allocations)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
