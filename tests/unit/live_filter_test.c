/* Which points of a live picture are hidden, and how up is found in points of which none stands. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "render/up_rule.h"
#include "support/support.h"
#include "view/live/live_filter.h"

#define POINTS 6u

static const double up_z[3] = {0, 0, 2}, up_y[3] = {0, -1, 0};

static void put(mote_cloud *cloud, const char *name, const void *values, size_t size) {
    const uint64_t stride = mote_cloud_find(cloud, name)->stride_bytes;
    uint8_t *to = mote_cloud_column_data(cloud, name);
    for (uint64_t i = 0; i < POINTS; i++) memcpy(to + i * stride, (const uint8_t *)values + i * size, size);
}

static mote_cloud *make_cloud(mote_context *ctx) {
    static const mote_column_spec specs[] = {{"x", MOTE_FLOAT64, 1, 0},
                                             {"y", MOTE_FLOAT64, 1, 0},
                                             {"z", MOTE_FLOAT64, 1, 0},
                                             {"intensity", MOTE_FLOAT32, 2, 1},
                                             {"classification", MOTE_UINT8, 1, 0}};
    static const double y[POINTS] = {0, 1, 2, 3, 4, 5}, z[POINTS] = {-1, 0, 1, 2, 3, 4};
    static const float intensity[POINTS] = {0, 1, 2, NAN, 4, INFINITY}; /* stands for 2 v + 1 */
    static const uint8_t classes[POINTS] = {0, 2, 2, 6, 7, 255};
    mote_cloud *cloud = NULL;
    if (mote_cloud_create(ctx, POINTS, specs, 5, &cloud) != MOTE_OK) return NULL;
    put(cloud, "x", y, sizeof *y);
    put(cloud, "y", y, sizeof *y);
    put(cloud, "z", z, sizeof *z);
    put(cloud, "intensity", intensity, sizeof *intensity);
    put(cloud, "classification", classes, sizeof *classes);
    return cloud;
}

/* The y of the points that stay, each a digit. fields: of a message of a view */
static void check_kept(const char *fields, const double up[3], const char *expected) {
    mote_context *ctx = test_context(2);
    mote_cloud *cloud = make_cloud(ctx), *kept = NULL;
    live_message message;
    char text[512], found[POINTS + 1] = "";
    snprintf(text, sizeof text, "view seq=1 size=9,9 eye=0,1,2 target=0,0,0 up=0,0,1 fov=40 %s", fields);
    assert_true(live_message_read(text, strlen(text), &message));
    assert_true(live_filter_is_on(&message.view.filter));
    assert_true(live_filter_is_same(&message.view.filter, &message.view.filter));
    assert_int_equal(live_filter_apply(ctx, cloud, &message.view.filter, up, &kept), MOTE_OK);
    for (uint64_t i = 0; i < mote_cloud_count(kept); i++) {
        found[i] = (char)('0' + (int)mote_column_value(mote_cloud_find(kept, "y"), i));
    }
    assert_string_equal(found, expected);
    mote_cloud_destroy(kept);
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
}

static void ranges_and_classes(void **state) {
    (void)state;
    check_kept("keep=intensity:3:5", up_z, "12"); /* ends belong to a range; no value is in none */
    check_kept("keep=intensity:-1e9:1e9", up_z, "0124");
    check_kept("keep=height:0:2", up_z, "123");
    check_kept("keep=height:-3:-2", up_y, "23"); /* along up */
    check_kept("keep=height:0:2;intensity:3:3", up_z, "1");
    check_kept("keep=none:5:6", up_z, "012345"); /* what is not there hides nothing */
    check_kept("hide=2,255", up_z, "034");
    check_kept("hide=2 keep=y:0:3", up_z, "03");
    check_kept("keep=y:9:9", up_z, "");
}

static void what_differs_is_another(void **state) {
    static const char *const fields[] = {"keep=a:0:1", "keep=a:0:2", "keep=b:0:1", "keep=a:0:1;a:0:1", "hide=1", ""};
    live_message messages[6];
    (void)state;
    for (int i = 0; i < 6; i++) {
        char text[512];
        snprintf(text, sizeof text, "view seq=1 size=9,9 eye=0,1,2 target=0,0,0 up=0,0,1 fov=40 %s", fields[i]);
        assert_true(live_message_read(text, strlen(text), &messages[i]));
        for (int k = 0; k < i; k++) {
            assert_false(live_filter_is_same(&messages[i].view.filter, &messages[k].view.filter));
        }
    }
    assert_false(live_filter_is_on(&messages[5].view.filter));
}

static mote_status filter_once(mote_context *ctx, void *user) {
    const live_filter filter = {.hidden[2] = true};
    mote_cloud *cloud = make_cloud(ctx), *kept = NULL;
    (void)user;
    const mote_status status = cloud != NULL ? live_filter_apply(ctx, cloud, &filter, up_z, &kept) : MOTE_ERROR_MEMORY;
    mote_cloud_destroy(kept);
    mote_cloud_destroy(cloud);
    return status;
}

static void every_allocation_may_fail(void **state) {
    (void)state;
    test_each_allocation_fails(filter_once, NULL);
}

/* ---- up */

static up_found find_up(uint32_t count, const double size[3], double (*at)(int axis, uint32_t i)) {
    up_sample points = {.count = count};
    mote_box box;
    for (int k = 0; k < 3; k++) {
        box.min[k] = -10;
        box.max[k] = -10 + size[k];
        points.at[k] = malloc((count + 1) * sizeof(float));
        assert_non_null(points.at[k]);
        for (uint32_t i = 0; i < count; i++) points.at[k][i] = (float)(size[k] * at(k, i));
    }
    const up_found found = up_rule_find(&points, &box, false);
    for (int k = 0; k < 3; k++) free(points.at[k]);
    return found;
}

static double nowhere(int axis, uint32_t i) { return (void)axis, (void)i, 0; }
static double anywhere(int axis, uint32_t i) { return test_random((uint64_t)axis, i); }
/* Half of the points on the side where y is 1, the others on a thin pole. */
static double hanging(int axis, uint32_t i) {
    const double r = test_random((uint64_t)axis, i);
    if (i % 2 == 0) return axis == 1 ? 1 : r;
    return axis == 1 ? r : 0.5 + 0.01 * r;
}

static void up_of_what_stands_and_of_what_does_not(void **state) {
    static const double cube[3] = {4, 4, 4}, none[3] = {0, 0, 0};
    (void)state;
    assert_int_equal(find_up(0, cube, anywhere).reason, UP_CUSTOM);
    assert_int_equal(find_up(UP_MIN_POINTS - 1, cube, hanging).reason, UP_CUSTOM);
    assert_int_equal(find_up(5000, none, nowhere).reason, UP_CUSTOM);
    assert_int_equal(find_up(5000, cube, anywhere).reason, UP_CUSTOM);
    const up_found found = find_up(5000, cube, hanging);
    assert_int_equal(found.reason, UP_STANDING);
    assert_int_equal(found.axis, 1);
    assert_true(found.sign < 0); /* what is wide is below */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranges_and_classes),
        cmocka_unit_test(what_differs_is_another),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(up_of_what_stands_and_of_what_does_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
