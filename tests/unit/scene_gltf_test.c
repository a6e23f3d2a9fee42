/* glTF as its specification says: what a place of a scene sends to the camera, against closed forms; and what is told
   of what has no effect. */
#include "unit/scene_gltf_test.h"

#if MOTE_HAVE_JANSSON

/* ---- a floor that is looked at from above */

mote_scene *gltf_test_read(mote_context *ctx, const char *name, const char *text, mote_scene_facts *facts) {
    mote_scene *scene = NULL;
    const char *path = test_path(name);
    test_write_file(path, text, strlen(text));
    if (mote_scene_read(ctx, path, &scene, facts) != MOTE_OK) fail_msg("%s", mote_context_message(ctx));
    return scene;
}

/* The radiance of a place of y = 0, from above, by the path tracer; and the same from below. */
static void look_at(mote_scene *scene, double x, double z, double height, uint32_t samples, float rgb[3]) {
    mote_camera camera = mote_camera_defaults();
    mote_photon_params params = mote_photon_defaults();
    const double eye[3] = {x, height, z}, target[3] = {x, 0, z}, up[3] = {0, 0, -1};
    memcpy(camera.eye, eye, sizeof eye);
    memcpy(camera.target, target, sizeof target);
    memcpy(camera.up, up, sizeof up);
    camera.angle_rad = 1e-3;
    params.method = MOTE_PHOTON_PATH;
    params.width = params.height = 1;
    params.samples = samples;
    assert_int_equal(mote_photon_render(scene, NULL, &camera, &params, rgb), MOTE_OK);
}

static void assert_near(const float rgb[3], double red, double green, double blue, double share) {
    const double expected[3] = {red, green, blue};
    for (int k = 0; k < 3; k++) {
        if (fabs((double)rgb[k] - expected[k]) <= share * fabs(expected[k]) + 1e-6) continue;
        fail_msg("%g %g %g, expected %g %g %g", (double)rgb[0], (double)rgb[1], (double)rgb[2], red, green, blue);
    }
}

/* Reads a floor of a material, with further keys of the primitive's attributes and of the file. Mesh 1 is the same
   floor of material 1, where there is one. */
static mote_scene *read_floor(mote_context *ctx, const char *attributes, const char *material, const char *nodes,
                              const char *rest) {
    static char text[8192];
    snprintf(text, sizeof text,
             "{\"asset\":{\"version\":\"2.0\"}," GLTF_FLOOR ",\"meshes\":[{\"primitives\":[{\"attributes\":{"
             "\"POSITION\":0%s},\"indices\":1,\"material\":0}]},{\"primitives\":[{\"attributes\":{\"POSITION\":0},"
             "\"indices\":1,\"material\":1}]}],\"materials\":[{%s}],"
             "\"nodes\":[{\"mesh\":0}%s]%s}",
             attributes, material, nodes, rest);
    return gltf_test_read(ctx, "floor.gltf", text, NULL);
}

#define WHITE "\"pbrMetallicRoughness\":{\"metallicFactor\":0}"
/* Turned so that -z looks down. */
#define DOWN         "\"rotation\":[-0.7071067811865476,0,0,0.7071067811865476]"
#define LIGHT(rest)  ",\"extensions\":{\"KHR_lights_punctual\":{\"lights\":[{" rest "}]}}"
#define LIGHT_AT(at) ",{" DOWN ",\"translation\":[" at "],\"extensions\":{\"KHR_lights_punctual\":{\"light\":0}}}"
#define WITH_COLOR   ",\"COLOR_0\":2"

static void unlit_is_shown_as_it_is(void **state) {
    (void)state;
    mote_context *ctx = test_context(1);
    float rgb[3];
    static const char material[] = "\"pbrMetallicRoughness\":{\"baseColorFactor\":[0.3,0.6,0.9,1]},"
                                   "\"extensions\":{\"KHR_materials_unlit\":{}},\"emissiveFactor\":[1,1,1]";
    mote_scene *scene = read_floor(ctx, "", material, "", ",\"extensionsRequired\":[\"KHR_materials_unlit\"]");
    look_at(scene, 0, 0, 1, 1, rgb);
    assert_near(rgb, 0.3, 0.6, 0.9, 1e-6);
    mote_scene_destroy(scene);
    scene = read_floor(ctx, WITH_COLOR, material, LIGHT_AT("0,1,0"), LIGHT("\"type\":\"point\",\"intensity\":50"));
    look_at(scene, 0, 0, 0.5, 1, rgb); /* 0.25 of each channel, of the corners; the light changes nothing */
    assert_near(rgb, 0.075, 0.15, 0.225, 0.01);
    mote_scene_destroy(scene);
    mote_context_destroy(ctx);
}

/* KHR_lights_punctual: the square of the part of the way between both cosines. */
static void spots_fall_off_as_prescribed(void **state) {
    (void)state;
    static const double cones[][2] = {{0.2, 0.4}, {0, 0.7853981633974483}, {0.399, 0.4}, {0.1, 1.2}};
    mote_context *ctx = test_context(1);
    for (size_t c = 0; c < sizeof cones / sizeof cones[0]; c++) {
        char light[256];
        snprintf(light, sizeof light,
                 LIGHT("\"type\":\"spot\",\"intensity\":10,"
                       "\"spot\":{\"innerConeAngle\":%.17g,\"outerConeAngle\":%.17g}"),
                 cones[c][0], cones[c][1]);
        mote_scene *scene = read_floor(ctx, "", WHITE, LIGHT_AT("0,2,0"), light);
        for (double angle = 0; angle < 0.45; angle += 0.049) {
            float rgb[3];
            const double ramp = fmax(0.001, cos(cones[c][0]) - cos(cones[c][1]));
            const double part = fmin(fmax((cos(angle) - cos(cones[c][1])) / ramp, 0), 1);
            const double expected = 10 * part * part * pow(cos(angle), 3) / 4 / 3.14159265358979;
            look_at(scene, 2 * tan(angle), 0, 1, 1, rgb);
            if (fabs((double)rgb[0] - expected) > 0.02 * expected + 3e-4) { /* what a pixel is wide */
                fail_msg("cone %zu at %g: %g, expected %g", c, angle, (double)rgb[0], expected);
            }
        }
        mote_scene_destroy(scene);
    }
    mote_context_destroy(ctx);
}

/* Photons of a spot land as its intensity says, and sunlight and the sky bring the irradiance that they should. */
static void photons_leave_as_lights_shine(void **state) {
    (void)state;
    static const char *const lights[] = {
        "\"type\":\"spot\",\"intensity\":10,\"spot\":{\"innerConeAngle\":0.1,\"outerConeAngle\":0.4}",
        "\"type\":\"directional\",\"intensity\":3,\"color\":[1,0.5,0]"};
    for (int i = 0; i < 2; i++) {
        mote_context *ctx = test_context(1);
        mote_photon_emission emission = mote_photon_emission_defaults();
        mote_photon_map *map = NULL;
        char light[256];
        snprintf(light, sizeof light, LIGHT("%s"), lights[i]);
        mote_scene *scene = read_floor(ctx, "", WHITE, LIGHT_AT("0,2,0"), light);
        emission.photons = 200000;
        assert_int_equal(mote_photon_emit(scene, &emission, &map), MOTE_OK);
        const mote_photon_facts facts = mote_photon_map_facts(map);
        const double landed = (double)facts.stored_direct / (double)facts.emitted * facts.power;
        /* All of the cone; what falls on 2 · 2 m. */
        const double cone = (1 - cos(0.1)) + (cos(0.1) - cos(0.4)) / 3, pi = 3.14159265358979;
        const double expected = i == 0 ? 3 * 10 * 2 * pi * cone : 4 * 3 * 1.5;
        if (fabs(landed / expected - 1) > 0.01) fail_msg("light %d: %g, expected %g", i, landed, expected);
        mote_photon_destroy(map);
        mote_scene_destroy(scene);
        mote_context_destroy(ctx);
    }
}

static void sunlight_comes_from_afar(void **state) {
    (void)state;
    mote_context *ctx = test_context(1);
    float rgb[3];
    mote_scene *scene = read_floor(ctx, "", WHITE, LIGHT_AT("0,-7,0"), /* where it is does not matter */
                                   LIGHT("\"type\":\"directional\",\"intensity\":3,\"color\":[1,0.5,0]"));
    look_at(scene, 0.7, -0.3, 1, 1, rgb);
    assert_near(rgb, 3 / 3.14159265358979, 1.5 / 3.14159265358979, 0, 1e-3);
    mote_scene_destroy(scene);
    mote_context_destroy(ctx);
}

/* Of a floor below a whole sky, π/2 + π/3 times its zenith; from below, π/2 - π/3. */
static void a_scene_without_light_gets_some(void **state) {
    (void)state;
    mote_context *ctx = test_context(1);
    float above[3], below[3];
    mote_scene *scene = read_floor(ctx, "", WHITE, "", "");
    mote_camera camera = mote_scene_camera(scene);
    look_at(scene, 0.5, 0.5, 1, 1, above);
    assert_true(above[0] == 0);
    assert_int_equal(mote_scene_add_default_light(scene, &camera), MOTE_OK);
    const photon_vec zenith = scene->view.sky, sun = scene->view.lights[1].strength;
    const double cosine = -scene->view.lights[1].b.y;
    assert_true(scene->view.sky_up.y == 1 && cosine > 0.5);
    look_at(scene, 0.5, 0.5, 1, 64, above);
    look_at(scene, 0.5, 0.5, -1, 64, below);
    const double up = 5.0 / 6, down = 1.0 / 6, direct = cosine / 3.14159265358979;
    assert_near(above, up * zenith.x + direct * sun.x, up * zenith.y + direct * sun.y, up * zenith.z + direct * sun.z,
                0.02);
    assert_near(below, down * zenith.x, down * zenith.y, down * zenith.z, 0.02);
    look_at(scene, 5, 5, 1, 1, above); /* beside the floor: the sky below */
    assert_near(above, 0, 0, 0, 1e-6);
    assert_int_equal(mote_scene_add_default_light(scene, &camera), MOTE_ERROR_ARGUMENT);
    mote_scene_destroy(scene);
    mote_context_destroy(ctx);
}

/* ---- surfaces */

static void colours_of_corners_are_used(void **state) {
    (void)state;
    mote_context *ctx = test_context(1);
    float plain[3], colored[3];
    for (int set = 2; set <= 3; set++) { /* floats, and bytes with alpha, which an opaque material does not look at */
        const char *const attribute = set == 2 ? ",\"COLOR_0\":2" : ",\"COLOR_0\":3";
        mote_scene *scene = read_floor(ctx, "", WHITE, LIGHT_AT("0,2,0"), LIGHT("\"type\":\"point\",\"intensity\":10"));
        look_at(scene, 0, 0, 1, 1, plain);
        mote_scene_destroy(scene);
        scene = read_floor(ctx, attribute, WHITE, LIGHT_AT("0,2,0"), LIGHT("\"type\":\"point\",\"intensity\":10"));
        look_at(scene, 0, 0, 1, 1, colored);
        const double share = set == 2 ? 0.25 : 51.0 / 255;
        assert_near(colored, share * (double)plain[0], share * (double)plain[1], share * (double)plain[2], 0.01);
        mote_scene_destroy(scene);
    }
    mote_context_destroy(ctx);
}

/* The floor's alpha is 0.4: below a cutoff of 0.5 there is none, and of a blend 0.4. An unlit floor lies 1 m below. */
static void alpha_is_obeyed(void **state) {
    (void)state;
    static const struct {
        const char *mode;
        double floor;
    } rows[] = {{"\"alphaMode\":\"OPAQUE\"", 1},
                {"\"alphaMode\":\"MASK\"", 0},
                {"\"alphaMode\":\"MASK\",\"alphaCutoff\":0.3", 1},
                {"\"alphaMode\":\"BLEND\"", 0.4}};
    mote_context *ctx = test_context(1);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[512];
        float rgb[3];
        snprintf(text, sizeof text,
                 "\"pbrMetallicRoughness\":{\"baseColorFactor\":[1,0,0,0.4]},%s,"
                 "\"extensions\":{\"KHR_materials_unlit\":{}}},{\"pbrMetallicRoughness\":"
                 "{\"baseColorFactor\":[0,1,0,1]},\"extensions\":{\"KHR_materials_unlit\":{}}",
                 rows[i].mode);
        mote_scene *scene = read_floor(ctx, "", text, ",{\"mesh\":1,\"translation\":[0,-1,0]}", "");
        look_at(scene, 0.2, 0.1, 1, 64, rgb);
        assert_near(rgb, rows[i].floor, 1 - rows[i].floor, 0, 0.1);
        mote_scene_destroy(scene);
    }
    mote_context_destroy(ctx);
}

static void a_sheet_of_glass_does_not_bend(void **state) {
    (void)state;
    static const char *const volumes[] = {"", ",\"KHR_materials_volume\":{\"thicknessFactor\":0}",
                                          ",\"KHR_materials_volume\":{\"thicknessFactor\":0.1}"};
    for (int i = 0; i < 3; i++) {
        mote_context *ctx = test_context(1);
        char material[256];
        snprintf(material, sizeof material,
                 WHITE ",\"extensions\":{\"KHR_materials_transmission\":{\"transmissionFactor\":1}%s}", volumes[i]);
        mote_scene *scene = read_floor(ctx, "", material, "", "");
        const photon_vec slanted = photon_unit(photon_vec_of(0.3, -1, 0.2));
        const photon_surface *const surface = &scene->view.surfaces[0];
        photon_hit hit = photon_trace(&scene->view, photon_vec_of(0, 1, 0), slanted);
        photon_random random = photon_random_of(1, 0, 0);
        photon_split split = photon_split_make(PHOTON_REFRACT, 1);
        double share;
        const photon_vec through = photon_specular_split(surface, &hit, slanted, &random, &split, &share);
        assert_true((photon_length(photon_sub(through, slanted)) < 1e-12) == (i < 2));
        assert_int_equal(surface->thin, i < 2);
        mote_scene_destroy(scene);
        mote_context_destroy(ctx);
    }
}

/* ---- cameras */

static void refuse_camera(const char *camera, const char *message) {
    mote_context *ctx = test_context(1);
    mote_scene *scene = NULL;
    char text[2048];
    snprintf(text, sizeof text,
             "{\"asset\":{\"version\":\"2.0\"},\"cameras\":[{%s}],\"scenes\":[{\"nodes\":[0]}],"
             "\"nodes\":[{\"camera\":0}]}",
             camera);
    test_write_file(test_path("camera.gltf"), text, strlen(text));
    assert_int_not_equal(mote_scene_read(ctx, test_path("camera.gltf"), &scene, NULL), MOTE_OK);
    if (strstr(mote_context_message(ctx), message) == NULL) fail_msg("%s", mote_context_message(ctx));
    mote_context_destroy(ctx);
}

static void cameras_see_what_they_say(void **state) {
    (void)state;
    refuse_camera("\"type\":\"perspective\",\"perspective\":{\"yfov\":-1,\"znear\":1}", "cameras[0]: its yfov is -1");
    refuse_camera("\"type\":\"perspective\",\"perspective\":{\"yfov\":0,\"znear\":1}", "its yfov is 0");
    refuse_camera("\"type\":\"perspective\",\"perspective\":{\"yfov\":4,\"znear\":1}", "its yfov is 4");
    refuse_camera("\"type\":\"perspective\",\"perspective\":{\"znear\":1}", "its yfov is nan");
    refuse_camera("\"type\":\"orthographic\",\"orthographic\":{\"xmag\":1,\"ymag\":0}", "its ymag is 0");
    refuse_camera("\"type\":\"other\"", "neither perspective nor orthographic");
    mote_context *ctx = test_context(1);
    float rgb[3 * 8 * 8];
    mote_scene *scene = read_floor(
        ctx, "", "\"extensions\":{\"KHR_materials_unlit\":{}}", ",{\"camera\":0,\"translation\":[0,3,0]," DOWN "}",
        ",\"cameras\":[{\"type\":\"orthographic\",\"orthographic\":{\"xmag\":2,\"ymag\":2,\"znear\":0,\"zfar\":9}}]");
    mote_camera camera = mote_scene_camera(scene);
    mote_photon_params params = mote_photon_defaults();
    params.method = MOTE_PHOTON_PATH;
    params.width = params.height = 8;
    assert_int_equal(mote_photon_render(scene, NULL, &camera, &params, rgb), MOTE_OK);
    for (int i = 0; i < 64; i++) { /* 4 m high: the floor, of 2 m, is its middle half */
        const bool inside = i % 8 >= 2 && i % 8 < 6 && i / 8 >= 2 && i / 8 < 6;
        assert_true(rgb[3 * i] == (inside ? 1 : 0));
    }
    mote_scene_destroy(scene);
    mote_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unlit_is_shown_as_it_is),
        cmocka_unit_test(spots_fall_off_as_prescribed),
        cmocka_unit_test(photons_leave_as_lights_shine),
        cmocka_unit_test(sunlight_comes_from_afar),
        cmocka_unit_test(a_scene_without_light_gets_some),
        cmocka_unit_test(colours_of_corners_are_used),
        cmocka_unit_test(alpha_is_obeyed),
        cmocka_unit_test(a_sheet_of_glass_does_not_bend),
        cmocka_unit_test(cameras_see_what_they_say),
        cmocka_unit_test(accessors_may_be_sparse_or_zeros),
        cmocka_unit_test(files_without_scenes_show_their_roots),
        cmocka_unit_test(padding_is_passed_over),
        cmocka_unit_test(morph_targets_have_their_weights),
        cmocka_unit_test(what_is_left_out_is_told),
        cmocka_unit_test(values_out_of_range_are_told),
        cmocka_unit_test(files_of_later_versions_are_refused),
        cmocka_unit_test(samples_of_png_are_srgb),
        cmocka_unit_test(textures_shine_where_they_are_bright),
        cmocka_unit_test(an_image_is_decoded_once),
        cmocka_unit_test(texels_are_bounded),
        cmocka_unit_test(only_files_of_the_folder_are_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

int main(void) {
    print_message("mote was built without jansson: glTF is not tried\n");
    return 0;
}

#endif
