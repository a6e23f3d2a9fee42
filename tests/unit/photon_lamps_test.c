/* Strong and weak lamps in one scene: a lamp in a room that the others do not reach lights it as if it were alone. In a
   ball of radius r whose inside reflects a part c of the light, a lamp of intensity I in the middle gives I / r² of
   direct light everywhere, and I / (r² (1 - c)) of all light. */
#include <math.h>
#include <mote/mote.h>
#include <string.h>

#include "photon/scene/photon_scene.h"
#include "reference/photon_reference.h"
#include "support/support.h"

#define ROOMS  3u
#define PLACES 512u
#define SIDE   4u

static const double reflected = 0.5, tolerance = 0.03;

typedef struct rooms {
    uint32_t count;
    double radius[ROOMS], intensity[ROOMS];
} rooms;

static double middle_of(uint32_t room) { return 10.0 * room; }

static mote_status make_rooms(mote_context *ctx, const rooms *of, mote_scene **out) {
    mote_sphere spheres[ROOMS];
    mote_light lights[ROOMS];
    const mote_material material = {.color = {reflected, reflected, reflected}};
    mote_scene_params p;
    memset(spheres, 0, sizeof spheres);
    memset(lights, 0, sizeof lights);
    memset(&p, 0, sizeof p);
    for (uint32_t i = 0; i < of->count; i++) {
        spheres[i].center[0] = lights[i].position[0] = middle_of(i);
        spheres[i].radius = of->radius[i];
        for (int k = 0; k < 3; k++) lights[i].intensity[k] = of->intensity[i];
    }
    p.spheres = spheres;
    p.lights = lights;
    p.sphere_count = p.light_count = of->count;
    p.materials = &material;
    p.material_count = 1;
    p.camera = mote_camera_defaults();
    return mote_scene_create(ctx, &p, out);
}

/* The mean irradiance at places all over the inside of a room, gathered from the map. */
static double gathered(mote_context *ctx, mote_photon_map *map, const rooms *of, uint32_t room) {
    float places[6][PLACES], irradiance[3 * PLACES];
    static const char *const names[] = {"x", "y", "z", "normal_x", "normal_y", "normal_z"};
    mote_column columns[6];
    mote_cloud *queries = NULL;
    double sum = 0;
    for (uint32_t i = 0; i < PLACES; i++) {
        const double z = (2.0 * i + 1) / PLACES - 1;
        const photon_vec to = photon_around(photon_vec_of(0, 0, 1), z, fmod(0.618034 * i, 1));
        const double at[6] = {middle_of(room) + of->radius[room] * to.x,
                              of->radius[room] * to.y,
                              of->radius[room] * to.z,
                              -to.x,
                              -to.y,
                              -to.z};
        for (int k = 0; k < 6; k++) places[k][i] = (float)at[k];
    }
    memset(columns, 0, sizeof columns);
    for (int k = 0; k < 6; k++) {
        columns[k].name = names[k];
        columns[k].type = MOTE_FLOAT32;
        columns[k].data = places[k];
    }
    assert_int_equal(mote_cloud_wrap(ctx, PLACES, columns, 6, &queries), MOTE_OK);
    assert_int_equal(mote_photon_gather(map, queries, NULL, irradiance), MOTE_OK);
    mote_cloud_destroy(queries);
    for (uint32_t i = 0; i < 3 * PLACES; i++) sum += (double)irradiance[i];
    return sum / (3 * PLACES);
}

/* What a picture of a room's inside tells of its irradiance: the mean, and the brightest pixel. */
static double pictured(mote_scene *scene, mote_photon_map *map, uint32_t room, mote_photon_method method,
                       double *most) {
    float rgb[3 * SIDE * SIDE];
    mote_photon_params params = mote_photon_defaults();
    mote_camera camera = mote_camera_defaults();
    double sum = 0;
    camera.eye[0] = middle_of(room);
    camera.eye[1] = camera.eye[2] = 0.1;
    camera.target[0] = middle_of(room) + 1;
    camera.target[1] = camera.target[2] = 0;
    camera.angle_rad = 2;
    params.method = method;
    params.width = params.height = SIDE;
    params.samples = method == MOTE_PHOTON_PATH ? 32 : method == MOTE_PHOTON_FULL ? 4 : 16;
    assert_int_equal(mote_photon_render(scene, map, &camera, &params, rgb), MOTE_OK);
    *most = 0;
    for (uint32_t i = 0; i < 3 * SIDE * SIDE; i++) {
        sum += (double)rgb[i];
        *most = fmax(*most, (double)rgb[i] * PHOTON_PI / reflected);
    }
    return sum / (3 * SIDE * SIDE) * PHOTON_PI / reflected;
}

static void check(const char *what, uint32_t room, double got, double right) {
    if (!(fabs(got / right - 1) <= tolerance)) fail_msg("room %u, %s: %g for %g", room, what, got, right);
}

static void check_room(mote_context *ctx, mote_scene *scene, mote_photon_map *map, const rooms *of, uint32_t room) {
    const double direct = of->intensity[room] / (of->radius[room] * of->radius[room]), all = direct / (1 - reflected);
    double most;
    check("gathered", room, gathered(ctx, map, of, room), all);
    check("shadow", room, pictured(scene, map, room, MOTE_PHOTON_SHADOW, &most), direct);
    check("full", room, pictured(scene, map, room, MOTE_PHOTON_FULL, &most), all);
    check("path", room, pictured(scene, map, room, MOTE_PHOTON_PATH, &most), all);
    check("map", room, pictured(scene, map, room, MOTE_PHOTON_MAP, &most), all);
    assert_true(most < 1.25 * all); /* no salt */
}

static void weak_lamps_light_their_rooms(void **state) {
    (void)state;
    static const rooms cases[] = {
        {1, {1}, {1}},       {2, {1, 1}, {10000, 1}}, {2, {1, 1}, {1, 10000}},        {2, {4, 0.5}, {1e7, 1}},
        {2, {1, 1}, {3, 1}}, {2, {1, 1}, {30, 1}},    {3, {1, 1, 1}, {1, 1000, 1e6}}, {3, {2, 1, 1}, {1e5, 0.02, 2}},
    };
    for (uint32_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        mote_context *ctx = test_context(2);
        mote_scene *scene = NULL;
        assert_int_equal(make_rooms(ctx, &cases[i], &scene), MOTE_OK);
        mote_photon_map *map = photon_reference_map(scene, 100000, i);
        const mote_photon_facts f = mote_photon_map_facts(map);
        /* In order, no light has a photon too many or too few. */
        assert_true(fabs(f.absorbed_power / f.power - 1) < 1e-4 && f.escaped == 0);
        for (uint32_t room = 0; room < cases[i].count; room++) check_room(ctx, scene, map, &cases[i], room);
        mote_photon_destroy(map);
        mote_scene_destroy(scene);
        assert_int_equal(mote_context_memory_bytes(ctx), 0);
        mote_context_destroy(ctx);
    }
}

/* A candle that the sun outshines everywhere has as few photons as its power is worth: photons of power 1 among those
   of power 10,000 tell nothing. */
static void outshone_lamps_take_no_photons(void **state) {
    (void)state;
    mote_context *ctx = test_context(2);
    const mote_sphere sphere = {.radius = 2};
    const mote_material material = {.color = {0.5, 0.5, 0.5}};
    const mote_light lights[2] = {{.kind = MOTE_LIGHT_POINT, .intensity = {10000, 10000, 10000}},
                                  {.kind = MOTE_LIGHT_POINT, .position = {1, 0, 0}, .intensity = {1, 1, 1}}};
    mote_scene_params p;
    mote_scene *scene = NULL;
    memset(&p, 0, sizeof p);
    p.spheres = &sphere;
    p.materials = &material;
    p.lights = lights;
    p.sphere_count = p.material_count = 1;
    p.light_count = 2;
    p.camera = mote_camera_defaults();
    assert_int_equal(mote_scene_create(ctx, &p, &scene), MOTE_OK);
    const photon_light *weak = &scene->view.lights[1];
    assert_true(weak->share < 0.002 * scene->view.power);
    mote_scene_destroy(scene);
    mote_context_destroy(ctx);
}

static void shares_are_the_same_bytes(void **state) {
    (void)state;
    static const int threads[] = {1, 2, 7};
    const rooms of = {3, {1, 2, 0.5}, {5000, 10, 0.01}};
    uint64_t hashes[3];
    for (int i = 0; i < 3; i++) {
        mote_context *ctx = test_context(threads[i]);
        mote_scene *scene = NULL;
        assert_int_equal(make_rooms(ctx, &of, &scene), MOTE_OK);
        assert_true(scene->view.has_shares);
        mote_photon_map *map = photon_reference_map(scene, 5000, 0);
        assert_int_equal(mote_cloud_hash(ctx, mote_photon_cloud(map), &hashes[i]), MOTE_OK);
        assert_int_equal(hashes[i], hashes[0]);
        mote_photon_destroy(map);
        mote_scene_destroy(scene);
        mote_context_destroy(ctx);
    }
}

static mote_status make_and_free(mote_context *ctx, void *user) {
    mote_scene *scene = NULL;
    const mote_status status = make_rooms(ctx, user, &scene);
    mote_scene_destroy(scene);
    return status;
}

static void failures_leave_nothing_open(void **state) {
    (void)state;
    rooms of = {2, {1, 1}, {5000, 1}};
    test_each_allocation_fails(make_and_free, &of);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(weak_lamps_light_their_rooms),
        cmocka_unit_test(outshone_lamps_take_no_photons),
        cmocka_unit_test(shares_are_the_same_bytes),
        cmocka_unit_test(failures_leave_nothing_open),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
