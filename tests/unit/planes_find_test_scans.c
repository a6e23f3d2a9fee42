/* Planes of real scans. */
#include <math.h>
#include <stdlib.h>

#include "unit/planes_find_test.h"

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
        if (planes_find_angle(p->normal, normal) < 2 && fabs(sign * p->offset - offset) < 0.05 && p->inliers >= points)
            return true;
    }
    return false;
}

/* Points of the largest plane that is along none of the axes, which are those of the room. */
static uint64_t most_points_across(const mote_planes *planes) {
    uint64_t most = 0;
    for (uint32_t i = 0; i < mote_planes_count(planes); i++) {
        const mote_plane *p = mote_planes_at(planes, i);
        const double along = fmax(fmax(fabs(p->normal[0]), fabs(p->normal[1])), fabs(p->normal[2]));
        if (along < 0.97 && p->inliers > most) most = p->inliers;
    }
    return most;
}

void real_scans_have_floors_and_walls(void **state) {
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
    planes = NULL; /* the next one takes minutes under sanitizers */
    if (test_extent(0, 1) > 0 && planes_of_file("laz/indoor_808k.laz", 0, &planes, ctx) > 0) {
        assert_in_range(mote_planes_count(planes), 100, 400); /* the vote has 21, and none of the steps of the stair */
        assert_true(has_plane(planes, 0.013, 1, 0, 4.34, 70000));
        assert_true(has_plane(planes, 0.012, 1, 0, 7.35, 70000));
        assert_true(mote_planes_get_facts(planes).labelled > 680000);
    }
    mote_planes_destroy(planes);
    mote_context_destroy(ctx);
}

/* Its distances come in steps of less than a millimetre, which a sample may have for planes: with 0.6 mm of noise there
   were three. A fifth of its points are of a robot: slices of it, across the room, had up to 15,000. */
void steps_of_a_sensor_are_not_noise(void **state) {
    (void)state;
    static const uint64_t samples[] = {12000, 18000, 6000, 9000};
    mote_context *ctx = test_context(2);
    for (uint64_t i = 0; i < test_extent(1, 2); i++) {
        mote_planes *planes;
        if (planes_of_file("pcd/room_scan1.pcd", samples[i], &planes, ctx) > 0) {
            const mote_planes_facts facts = mote_planes_get_facts(planes);
            assert_true(facts.noise > 0.008 && facts.noise < 0.03);
            assert_true(facts.labelled > 0.6 * (double)facts.points);
            assert_in_range(mote_planes_count(planes), 9, 30);
            assert_true(most_points_across(planes) < 3000);
        }
        mote_planes_destroy(planes);
    }
    mote_context_destroy(ctx);
}

/* A cloud's points within half a size of a place, in x and y. */
static mote_cloud *window_of(mote_context *ctx, const mote_cloud *cloud, double x, double y, double size) {
    uint64_t *kept = planes_find_room(mote_cloud_count(cloud), sizeof *kept), count = 0;
    const mote_column *columns[2] = {mote_cloud_find(cloud, "x"), mote_cloud_find(cloud, "y")};
    mote_cloud *window = NULL;
    for (uint64_t i = 0; i < mote_cloud_count(cloud); i++) {
        const double off_x = mote_column_value(columns[0], i) - x, off_y = mote_column_value(columns[1], i) - y;
        if (fmax(fabs(off_x), fabs(off_y)) <= 0.5 * size) kept[count++] = i;
    }
    assert_int_equal(mote_cloud_select(ctx, cloud, kept, count, &window), MOTE_OK);
    free(kept);
    return window;
}

/* 100 m of ground with the one house of a tile: the vote has the ground, a slab of 0.1 m, and one through the roofs.
   The roofs are beside it, with the noise of roofs. */
void roofs_are_found_beside_the_ground(void **state) {
    (void)state;
    const char *path = test_data("laz/las_with_several_extra_byte_bloc.laz");
    mote_context *ctx = test_context(2);
    mote_cloud *cloud;
    uint32_t roofs = 0;
    if (path == NULL) {
        mote_context_destroy(ctx);
        return;
    }
    assert_int_equal(mote_cloud_read(ctx, path, NULL, &cloud), MOTE_OK);
    mote_cloud *window = window_of(ctx, cloud, 484850, 6632775, 100);
    planes_answer answer = planes_find_answer(ctx, window, NULL);
    assert_true(mote_planes_at(answer.planes, 0)->inliers > 60000);
    for (uint32_t i = 1; i < mote_planes_count(answer.planes); i++) {
        const mote_plane *p = mote_planes_at(answer.planes, i);
        roofs += p->inliers > 110 && p->rms < 0.03;
    }
    assert_int_equal(roofs, 3);
    assert_in_range(mote_planes_count(answer.planes), 4, 6);
    planes_answer_free(&answer);
    mote_cloud_destroy(window);
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
}

/* A town on hills: the vote's planes are slabs of 0.13 m through hills and roofs, the roofs' noise is 0.01. The ground
   bends little enough to be a plane, of a noise that is not told. */
void slabs_are_no_planes_of_a_town(void **state) {
    (void)state;
    mote_context *ctx = test_context(2);
    mote_cloud *cloud;
    uint32_t thick = 0;
    assert_int_equal(mote_generate(ctx, "city", 60000, NULL, &cloud), MOTE_OK);
    planes_answer answer = planes_find_answer(ctx, cloud, NULL);
    assert_true(mote_planes_count(answer.planes) >= 30);
    assert_true(mote_planes_get_facts(answer.planes).noise < 0.02);
    for (uint32_t i = 0; i < mote_planes_count(answer.planes); i++) {
        const mote_plane *p = mote_planes_at(answer.planes, i);
        if (p->rms >= 0.04) thick++;
        assert_true(p->rms < 0.04 || p->normal[2] > 0.99);
    }
    assert_true(thick <= 1);
    planes_answer_free(&answer);
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
}

/* A sensor that measures in steps sees layers, exact planes at any distance: none is a plane beside the table, and they
   do not say how noisy planes are. The vote's slices of the mug that stands on it were planes: there the round side
   leaves each of them, and goes on. */
void layers_of_a_sensor_are_no_planes(void **state) {
    (void)state;
    mote_context *ctx = test_context(2);
    mote_planes *planes;
    if (planes_of_file("pcd/table_scene_mug_stereo_textured.pcd", 0, &planes, ctx) > 0) {
        assert_int_equal(mote_planes_count(planes), 1);
        assert_true(mote_planes_at(planes, 0)->inliers > 110000);
        for (uint32_t i = 0; i < mote_planes_count(planes); i++) {
            const mote_plane *p = mote_planes_at(planes, i);
            assert_true(p->rms > 1e-5);
            assert_true(p->hull_area < 3 * p->area); /* with lines across the table up to 14 times */
        }
    }
    mote_planes_destroy(planes);
    mote_context_destroy(ctx);
}

/* Seen along its rows, terrain that stands on a raster falls into upright heaps, one for each row: a row is a curve. */
void rows_of_a_raster_are_no_planes(void **state) {
    (void)state;
    mote_context *ctx = test_context(2);
    mote_planes *planes;
    const uint32_t count = planes_of_file("las/hexbin-crop.las", 0, &planes, ctx);
    for (uint32_t i = 0; i < count; i++) assert_true(fabs(mote_planes_at(planes, i)->normal[2]) > 0.3);
    mote_planes_destroy(planes);
    mote_context_destroy(ctx);
}
