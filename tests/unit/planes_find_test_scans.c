/* Planes of real scans. */
#include <math.h>

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
void steps_of_a_sensor_are_not_noise(void **state) {
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
