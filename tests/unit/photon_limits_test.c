/* Photon mapping when memory runs short, when it is cancelled, and with reserved fields that are not zero. */
#include <math.h>
#include <mote/mote.h>
#include <stdlib.h>
#include <string.h>

#include "support/support.h"

/* ---- failing memory, cancel */

static mote_status gather_at_photons(mote_photon_map *map, float *irradiance) {
    mote_photon_gathering gathering = mote_photon_gathering_defaults();
    gathering.k = 6;
    gathering.compression = 1;
    return mote_photon_gather(map, mote_photon_cloud(map), &gathering, irradiance);
}

/* A scene, its map, light gathered at the photons, and a picture by each method. */
static mote_status use_all(mote_context *ctx, void *user) {
    mote_scene *scene = NULL;
    mote_photon_map *map = NULL;
    mote_photon_emission emission = mote_photon_emission_defaults();
    float *irradiance = NULL;
    emission.photons = 60;
    mote_status status = mote_scene_builtin(ctx, user, &scene);
    if (status == MOTE_OK) status = mote_photon_emit(scene, &emission, &map);
    assert_true((map != NULL) == (status == MOTE_OK));
    if (status == MOTE_OK) {
        irradiance = malloc(mote_cloud_count(mote_photon_cloud(map)) * 12 + 12);
        assert_non_null(irradiance);
        status = gather_at_photons(map, irradiance);
    }
    for (int method = MOTE_PHOTON_FULL; method <= MOTE_PHOTON_PATH && status == MOTE_OK; method++) {
        float rgb[3 * 4];
        mote_photon_params params = mote_photon_defaults();
        const mote_camera camera = mote_scene_camera(scene);
        params.method = (mote_photon_method)method;
        params.width = params.height = 2;
        params.gather_rays = 2;
        params.gathering.k = 5;
        status = mote_photon_render(scene, map, &camera, &params, rgb);
    }
    free(irradiance);
    mote_photon_destroy(map);
    mote_scene_destroy(scene);
    return status;
}

static void survives_failing_allocations(void **state) {
    (void)state;
    test_each_allocation_fails(use_all, (void *)(uintptr_t) "cornell");
}

static void can_be_cancelled(void **state) {
    (void)state;
    test_each_step_cancels(use_all, (void *)(uintptr_t) "cornell");
    test_each_step_cancels(use_all, (void *)(uintptr_t) "ring");
}

/* ---- reserved fields */

#define FIELDS 8

typedef struct fixture {
    mote_context *ctx;
    mote_scene *scene;
    mote_photon_map *map;
} fixture;

/* A scene with one of all that scenes are made of; place: which of their structs gets the fields. */
static mote_status creates(fixture *f, int place, const uint64_t reserved[FIELDS]) {
    static const double positions[] = {0, 0, 0, 1, 0, 0, 0, 1, 0};
    static const uint32_t triangles[] = {0, 1, 2};
    mote_material material = {.color = {0.5, 0.5, 0.5}};
    mote_light light = {.kind = MOTE_LIGHT_POINT, .position = {0, 0, 1}, .intensity = {1, 1, 1}};
    mote_sphere sphere = {.center = {0, 0, 3}, .radius = 1};
    mote_scene_params params = {.positions = positions,
                                .position_count = 3,
                                .triangles = triangles,
                                .triangle_count = 1,
                                .materials = &material,
                                .material_count = 1,
                                .lights = &light,
                                .light_count = 1,
                                .spheres = &sphere,
                                .sphere_count = 1,
                                .camera = mote_camera_defaults()};
    mote_scene *scene = NULL;
    if (place == 0) memcpy(params.reserved, reserved, sizeof params.reserved);
    if (place == 1) memcpy(material.reserved, reserved, sizeof material.reserved);
    if (place == 2) memcpy(light.reserved, reserved, sizeof light.reserved);
    if (place == 3) memcpy(sphere.reserved, reserved, sizeof sphere.reserved);
    const mote_status status = mote_scene_create(f->ctx, &params, &scene);
    assert_true((scene != NULL) == (status == MOTE_OK));
    mote_scene_destroy(scene);
    return status;
}
static mote_status creates_scenes(fixture *f, const uint64_t r[FIELDS]) { return creates(f, 0, r); }
static mote_status creates_materials(fixture *f, const uint64_t r[FIELDS]) { return creates(f, 1, r); }
static mote_status creates_lights(fixture *f, const uint64_t r[FIELDS]) { return creates(f, 2, r); }
static mote_status creates_spheres(fixture *f, const uint64_t r[FIELDS]) { return creates(f, 3, r); }

static mote_status emits(fixture *f, const uint64_t reserved[FIELDS]) {
    mote_photon_emission emission = mote_photon_emission_defaults();
    mote_photon_map *map = NULL;
    emission.photons = 10;
    memcpy(emission.reserved, reserved, sizeof emission.reserved);
    const mote_status status = mote_photon_emit(f->scene, &emission, &map);
    mote_photon_destroy(map);
    return status;
}

static mote_status gathers(fixture *f, const uint64_t reserved[FIELDS]) {
    mote_photon_gathering gathering = mote_photon_gathering_defaults();
    float *irradiance = malloc(mote_cloud_count(mote_photon_cloud(f->map)) * 12 + 12);
    assert_non_null(irradiance);
    memcpy(gathering.reserved, reserved, sizeof gathering.reserved);
    const mote_status status = mote_photon_gather(f->map, mote_photon_cloud(f->map), &gathering, irradiance);
    free(irradiance);
    return status;
}

static mote_status renders(fixture *f, bool of_gathering, const uint64_t reserved[FIELDS]) {
    mote_photon_params params = mote_photon_defaults();
    const mote_camera camera = mote_scene_camera(f->scene);
    float rgb[3];
    params.width = params.height = params.samples = 1;
    memcpy(of_gathering ? params.gathering.reserved : params.reserved, reserved, sizeof params.reserved);
    return mote_photon_render(f->scene, f->map, &camera, &params, rgb);
}
static mote_status renders_pictures(fixture *f, const uint64_t r[FIELDS]) { return renders(f, false, r); }
static mote_status renders_gathering(fixture *f, const uint64_t r[FIELDS]) { return renders(f, true, r); }

#define CALL(type, run)                                                                                                \
    { #type, sizeof(((type *)0)->reserved) / sizeof(uint64_t), run }
static const struct call {
    const char *name;
    size_t fields;
    mote_status (*run)(fixture *f, const uint64_t reserved[FIELDS]);
} calls[] = {
    CALL(mote_scene_params, creates_scenes),    CALL(mote_material, creates_materials),
    CALL(mote_light, creates_lights),           CALL(mote_sphere, creates_spheres),
    CALL(mote_photon_emission, emits),          CALL(mote_photon_gathering, gathers),
    CALL(mote_photon_params, renders_pictures), CALL(mote_photon_gathering, renders_gathering),
};

/* Each field in turn, so that all of them are looked at, then none. */
static void refuses_reserved_fields(void **state) {
    (void)state;
    fixture f = {test_context(1), NULL, NULL};
    mote_photon_emission emission = mote_photon_emission_defaults();
    emission.photons = 20;
    assert_int_equal(mote_scene_builtin(f.ctx, "cornell-empty", &f.scene), MOTE_OK);
    assert_int_equal(mote_photon_emit(f.scene, &emission, &f.map), MOTE_OK);
    for (size_t c = 0; c < sizeof calls / sizeof calls[0]; c++) {
        for (size_t i = 0; i <= calls[c].fields; i++) {
            uint64_t reserved[FIELDS] = {0};
            if (i < calls[c].fields) reserved[i] = i % 2 == 0 ? 1 : (uint64_t)1 << 63;
            const mote_status status = calls[c].run(&f, reserved);
            if ((status == MOTE_ERROR_ARGUMENT) != (i < calls[c].fields)) {
                fail_msg("%s: field %zu gave %d", calls[c].name, i, (int)status);
            }
            mote_context_clear(f.ctx);
        }
    }
    mote_photon_destroy(f.map);
    mote_scene_destroy(f.scene);
    assert_int_equal(mote_context_memory_bytes(f.ctx), 0);
    mote_context_destroy(f.ctx);
}

/* ---- what is for GPUs alone */

static void refuses_a_device_that_is_none(void **state) {
    (void)state;
    mote_context *ctx = test_context(1);
    mote_scene *scene = NULL;
    mote_photon_map *map = NULL;
    mote_photon_emission emission = mote_photon_emission_defaults();
    mote_photon_gathering gathering = mote_photon_gathering_defaults();
    float irradiance[3] = {0};
    emission.photons = 20;
    gathering.on_device = true;
    assert_int_equal(mote_scene_builtin(ctx, "cornell-empty", &scene), MOTE_OK);
    assert_int_equal(mote_photon_emit(scene, &emission, &map), MOTE_OK);
    assert_int_equal(mote_photon_gather(map, mote_photon_cloud(map), &gathering, irradiance), MOTE_ERROR_UNSUPPORTED);
    mote_photon_destroy(map);
    mote_scene_destroy(scene);
    mote_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(survives_failing_allocations),
        cmocka_unit_test(can_be_cancelled),
        cmocka_unit_test(refuses_reserved_fields),
        cmocka_unit_test(refuses_a_device_that_is_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
