/* Photon mapping against closed forms, against a naive search, and against the path tracer. */
#include <math.h>
#include <mote/mote.h>
#include <stdlib.h>
#include <string.h>

#include "reference/photon_reference.h"
#include "support/support.h"

static mote_scene *scene_of(mote_context *ctx, const char *name) {
    mote_scene *scene = NULL;
    assert_int_equal(mote_scene_builtin(ctx, name, &scene), MOTE_OK);
    return scene;
}

static uint64_t hash_of(mote_context *ctx, mote_photon_map *map) {
    uint64_t hash = 0;
    assert_int_equal(mote_cloud_hash(ctx, mote_photon_cloud(map), &hash), MOTE_OK);
    return hash;
}

/* ---- rays */

/* Triangles and spheres everywhere, some without area, some twice, seen from inside and outside: the tree finds what
   trying all does. Also in scenes larger and smaller than floats can tell, in which boxes are met. */
static void rays_meet_what_is_nearest(void **state) {
    (void)state;
    mote_context *ctx = test_context(2);
    static const uint32_t counts[] = {1, 3, 4, 5, 16, 17, 64, 65, 1000, 65, 65, 65, 65};
    static const double sizes[] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1e-42, 1e-30, 1e30, 1e45};
    for (uint32_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        mote_scene *scene = photon_reference_scene(ctx, counts[i] - counts[i] / 3, counts[i] / 3, sizes[i], i);
        photon_reference_check_rays(scene, 400, sizes[i], i);
        mote_scene_destroy(scene);
    }
    assert_int_equal(mote_context_memory_bytes(ctx), 0);
    mote_context_destroy(ctx);
}

/* What is said to be free of shapes is so, in scenes that are scanned and in trees, of lengths of all sizes. */
static void what_is_free_is_free(void **state) {
    (void)state;
    mote_context *ctx = test_context(2);
    static const uint32_t counts[] = {1, 4, 17, 64, 65, 1000, 65, 65, 65};
    static const double sizes[] = {1, 1, 1, 1, 1, 1, 1e-30, 1e6, 1e30};
    for (uint32_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        mote_scene *scene = photon_reference_scene(ctx, counts[i] - counts[i] / 3, counts[i] / 3, sizes[i], i);
        assert_true(photon_reference_check_free(scene, 4000, sizes[i], i) > 200);
        mote_scene_destroy(scene);
    }
    assert_int_equal(mote_context_memory_bytes(ctx), 0);
    mote_context_destroy(ctx);
}

/* No ray passes between the triangles of a closed mesh. */
static void meshes_are_watertight(void **state) {
    (void)state;
    mote_context *ctx = test_context(2);
    mote_scene *scene = scene_of(ctx, "furnace");
    mote_photon_map *map = photon_reference_map(scene, 20000, 0);
    assert_int_equal(mote_photon_map_facts(map).escaped, 0);
    mote_photon_destroy(map);
    mote_scene_destroy(scene);
    mote_context_destroy(ctx);
}

/* ---- photons */

static void check_energy(const mote_photon_facts *f) {
    const double sum = f->absorbed_power + f->escaped_power + f->cut_power;
    assert_int_equal(f->absorbed + f->escaped + f->cut, f->emitted);
    assert_true(fabs(sum - f->power) <= 1e-6 * f->power);
}

static void energy_is_kept(void **state) {
    (void)state;
    mote_context *ctx = test_context(2);
    for (uint32_t i = 0; mote_scene_name(i) != NULL; i++) {
        mote_scene *scene = scene_of(ctx, mote_scene_name(i));
        mote_photon_map *map = photon_reference_map(scene, 20000, 0);
        const mote_photon_facts f = mote_photon_map_facts(map);
        check_energy(&f);
        assert_true(f.stored > 0 && f.stored == mote_cloud_count(mote_photon_cloud(map)));
        mote_photon_destroy(map);
        mote_scene_destroy(scene);
    }
    assert_int_equal(mote_context_memory_bytes(ctx), 0);
    mote_context_destroy(ctx);
}

/* In a closed box that reflects one half: 1 / (1 - 1/2). The standard deviation of a photon's hits is the root of 2. */
static void photons_hit_as_often_as_they_should(void **state) {
    (void)state;
    mote_context *ctx = test_context(2);
    mote_scene *scene = scene_of(ctx, "furnace");
    mote_photon_map *map = photon_reference_map(scene, 100000, 0);
    const mote_photon_facts f = mote_photon_map_facts(map);
    assert_true(fabs((double)f.hits / (double)f.emitted - 2) < 4 * sqrt(2.0 / 100000));
    mote_photon_destroy(map);
    mote_scene_destroy(scene);
    mote_context_destroy(ctx);
}

static void maps_and_pictures_are_the_same_bytes(void **state) {
    (void)state;
    static const int threads[] = {1, 2, 7};
    float rgb[3][3 * 12 * 9];
    uint64_t hashes[3];
    for (int i = 0; i < 3; i++) {
        mote_context *ctx = test_context(threads[i]);
        mote_scene *scene = scene_of(ctx, "cornell");
        mote_photon_map *map = photon_reference_map(scene, 5000, 0);
        mote_photon_params params = mote_photon_defaults();
        const mote_camera camera = mote_scene_camera(scene);
        params.width = 12;
        params.height = 9;
        params.gather_rays = 3;
        params.gathering.k = 100;
        hashes[i] = hash_of(ctx, map);
        assert_int_equal(mote_photon_render(scene, map, &camera, &params, rgb[i]), MOTE_OK);
        assert_int_equal(hashes[i], hashes[0]);
        assert_memory_equal(rgb[i], rgb[0], sizeof rgb[0]);
        mote_photon_destroy(map);
        mote_scene_destroy(scene);
        mote_context_destroy(ctx);
    }
}

/* ---- gathering */

/* Discs over edges, corners, slits and bends, and on a ball. */
static void areas_are_as_counted(void **state) {
    (void)state;
    static const uint32_t counts[][2] = {{1, 0}, {2, 0}, {5, 0}, {30, 0}, {200, 0}, {0, 1}};
    mote_context *ctx = test_context(2);
    for (uint32_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        for (uint32_t seed = 0; seed < (counts[i][0] < 10 ? 4 : 1); seed++) {
            mote_scene *scene = photon_reference_scene(ctx, counts[i][0], counts[i][1], 1, seed);
            photon_reference_check_area(scene, 12, seed);
            mote_scene_destroy(scene);
        }
    }
    mote_context_destroy(ctx);
}

/* Places at photons and between, all filters, spheres and ellipsoids, with and without a radius. */
static void gathers_as_a_naive_search_does(void **state) {
    (void)state;
    static const uint32_t ks[] = {2, 3, 20, 128, 900, 1024};
    static const double compressions[] = {1, 2.5, 7};
    mote_context *ctx = test_context(2);
    mote_scene *scene = scene_of(ctx, "cornell");
    mote_photon_map *map = photon_reference_map(scene, 1500, 0);
    for (uint32_t i = 0; i < sizeof ks / sizeof ks[0]; i++) {
        for (uint32_t j = 0; j < 3; j++) {
            mote_photon_gathering g = mote_photon_gathering_defaults();
            g.k = ks[i];
            g.compression = compressions[j];
            g.filter = (mote_photon_filter)((i + j) % 3);
            g.radius = (i + j) % 2 == 0 ? 0 : 0.5;
            g.area = i % 3 == 1 ? MOTE_PHOTON_AREA_DISC : MOTE_PHOTON_AREA_SURFACE;
            photon_reference_check_gather(ctx, map, &g, 40);
        }
    }
    mote_photon_destroy(map);
    mote_scene_destroy(scene);
    mote_context_destroy(ctx);
}

/* ---- pictures */

/* A square light of side 1 at height 1 over a white floor: the radiance of the floor under its middle is the form
   factor of the light, four times that of a quarter, which has a corner above. */
static void square_light_is_as_in_the_closed_form(void **state) {
    (void)state;
    const double positions[] = {-0.5, -0.5, 1, -0.5, 0.5, 1, 0.5, 0.5, 1, 0.5, -0.5, 1,
                                -5,   -5,   0, 5,    -5,  0, 5,   5,   0, -5,  5,    0};
    const uint32_t triangles[] = {0, 1, 2, 0, 2, 3, 4, 5, 6, 4, 6, 7}, materials_of[] = {1, 1, 0, 0};
    mote_material materials[2];
    mote_scene_params p;
    memset(&p, 0, sizeof p);
    memset(materials, 0, sizeof materials);
    for (int k = 0; k < 3; k++) {
        materials[0].color[k] = 1;
        materials[1].emission[k] = 1;
    }
    p.positions = positions;
    p.position_count = 8;
    p.triangles = triangles;
    p.triangle_count = 4;
    p.triangle_materials = materials_of;
    p.materials = materials;
    p.material_count = 2;
    p.camera = mote_camera_defaults();
    p.camera.eye[0] = 0;
    p.camera.eye[1] = 0;
    p.camera.eye[2] = 0.5;
    p.camera.target[2] = 0;
    p.camera.angle_rad = 0.001;
    mote_context *ctx = test_context(2);
    mote_scene *scene = NULL;
    assert_int_equal(mote_scene_create(ctx, &p, &scene), MOTE_OK);
    mote_photon_params params = mote_photon_defaults();
    params.method = MOTE_PHOTON_SHADOW;
    params.width = params.height = 1;
    params.samples = 64;
    params.shadow_rays = 16;
    float rgb[3];
    assert_int_equal(mote_photon_render(scene, NULL, &p.camera, &params, rgb), MOTE_OK);
    const double x = 0.5 / sqrt(1.25); /* form factor of a quarter: x atan(x) twice over 2 pi */
    const double factor = 4 * (2 * x * atan(x)) / (2 * 3.14159265358979323846);
    if (fabs((double)rgb[0] - factor) > 0.005 * factor) fail_msg("%g, not %g", (double)rgb[0], factor);
    mote_scene_destroy(scene);
    mote_context_destroy(ctx);
}

/* Direct and indirect light of the box, by the map and by the path tracer: means over blocks, whose noise is small. */
static void cornell_is_as_the_path_tracer_says(void **state) {
    (void)state;
    enum { SIDE = 8, VALUES = 3 * SIDE * SIDE };
    static float full[VALUES], path[VALUES];
    mote_context *ctx = test_context(2);
    mote_scene *scene = scene_of(ctx, "cornell-empty");
    mote_photon_map *map = photon_reference_map(scene, 100000, 0);
    const mote_camera camera = mote_scene_camera(scene);
    mote_photon_params params = mote_photon_defaults();
    params.width = params.height = SIDE;
    params.samples = 24; /* the lamp's edge is in the picture */
    params.gather_rays = 2;
    params.shadow_rays = 2;
    assert_int_equal(mote_photon_render(scene, map, &camera, &params, full), MOTE_OK);
    params.method = MOTE_PHOTON_PATH;
    params.samples = 80;
    assert_int_equal(mote_photon_render(scene, NULL, &camera, &params, path), MOTE_OK);
    double difference = 0, total = 0;
    for (int i = 0; i < VALUES; i++) {
        difference += fabs((double)full[i] - (double)path[i]);
        total += (double)path[i];
    }
    if (difference > 0.02 * total) fail_msg("differs by %g %%", 100 * difference / total);
    mote_photon_destroy(map);
    mote_scene_destroy(scene);
    mote_context_destroy(ctx);
}

/* ---- what is odd */

static void refuses_what_is_wrong(void **state) {
    (void)state;
    mote_context *ctx = test_context(1);
    const double positions[] = {0, 0, 0, 1, 0, 0, 0, 1, NAN};
    const uint32_t triangle[] = {0, 1, 2}, beyond[] = {0, 1, 3};
    mote_material material;
    mote_scene_params p;
    mote_scene *scene = NULL;
    memset(&material, 0, sizeof material);
    memset(&p, 0, sizeof p);
    p.positions = positions;
    p.position_count = 3;
    p.triangles = triangle;
    p.triangle_count = 1;
    p.materials = &material;
    p.material_count = 1;
    assert_int_equal(mote_scene_create(ctx, &p, &scene), MOTE_ERROR_ARGUMENT);
    assert_string_equal(mote_context_message(ctx), "position 2 is not finite");
    mote_context_clear(ctx);
    p.position_count = 2;
    assert_int_equal(mote_scene_create(ctx, &p, &scene), MOTE_ERROR_ARGUMENT);
    assert_string_equal(mote_context_message(ctx), "triangle 0: corner 2 of 2 positions");
    mote_context_clear(ctx);
    p.triangles = beyond;
    material.color[1] = 1.5;
    assert_int_equal(mote_scene_create(ctx, &p, &scene), MOTE_ERROR_ARGUMENT);
    assert_null(scene);
    mote_context_clear(ctx);
    assert_int_equal(mote_scene_builtin(ctx, "nowhere", &scene), MOTE_ERROR_ARGUMENT);
    assert_int_equal(mote_context_memory_bytes(ctx), 0);
    mote_context_destroy(ctx);
}

/* Nothing at all, or no light: black pictures. */
static void dark_scenes_are_black(void **state) {
    (void)state;
    mote_context *ctx = test_context(2);
    mote_scene *scene = NULL;
    mote_scene_params p;
    memset(&p, 0, sizeof p);
    p.camera = mote_camera_defaults();
    assert_int_equal(mote_scene_create(ctx, &p, &scene), MOTE_OK);
    mote_photon_map *map = photon_reference_map(scene, 100, 0);
    assert_int_equal(mote_photon_map_facts(map).stored, 0);
    for (int method = MOTE_PHOTON_FULL; method <= MOTE_PHOTON_PATH; method++) {
        float rgb[3 * 4] = {1};
        mote_photon_params params = mote_photon_defaults();
        params.method = (mote_photon_method)method;
        params.width = params.height = 2;
        assert_int_equal(mote_photon_render(scene, map, &p.camera, &params, rgb), MOTE_OK);
        for (int i = 0; i < 12; i++) assert_true(rgb[i] == 0);
    }
    mote_photon_destroy(map);
    mote_scene_destroy(scene);
    assert_int_equal(mote_context_memory_bytes(ctx), 0);
    mote_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rays_meet_what_is_nearest),
        cmocka_unit_test(what_is_free_is_free),
        cmocka_unit_test(meshes_are_watertight),
        cmocka_unit_test(energy_is_kept),
        cmocka_unit_test(photons_hit_as_often_as_they_should),
        cmocka_unit_test(maps_and_pictures_are_the_same_bytes),
        cmocka_unit_test(areas_are_as_counted),
        cmocka_unit_test(gathers_as_a_naive_search_does),
        cmocka_unit_test(square_light_is_as_in_the_closed_form),
        cmocka_unit_test(cornell_is_as_the_path_tracer_says),
        cmocka_unit_test(refuses_what_is_wrong),
        cmocka_unit_test(dark_scenes_are_black),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
