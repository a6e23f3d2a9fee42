/* glTF: its accessors, nodes and chunks, and what is told of them. */
#include "unit/scene_gltf_test.h"

#if MOTE_HAVE_JANSSON

#define MESH(attributes) "\"meshes\":[{\"primitives\":[{\"attributes\":{" attributes "},\"indices\":1}]}]"
#define NODE             ",\"nodes\":[{\"mesh\":0}]}"

void accessors_may_be_sparse_or_zeros(void **state) {
    (void)state;
    mote_context *ctx = test_context(1);
    mote_scene_facts facts;
    mote_scene *scene =
        gltf_test_read(ctx, "sparse.gltf", GLTF_ASSET GLTF_FLOOR "," MESH("\"POSITION\":6") NODE, &facts);
    mote_box box = mote_scene_bounds(scene);
    assert_int_equal(facts.triangles, 2);
    assert_true(box.max[0] == 5 && box.max[2] == 5 && box.min[0] == -1);
    mote_scene_destroy(scene);
    scene = gltf_test_read(ctx, "zeros.gltf", GLTF_ASSET GLTF_FLOOR "," MESH("\"POSITION\":7") NODE, &facts);
    assert_int_equal(facts.triangles, 0); /* three corners in one place */
    assert_int_equal(facts.degenerate, 2);
    mote_scene_destroy(scene);
    scene =
        gltf_test_read(ctx, "uv.gltf", GLTF_ASSET GLTF_FLOOR "," MESH("\"POSITION\":0,\"TEXCOORD_0\":5") NODE, &facts);
    assert_int_equal(facts.triangles, 2);
    mote_scene_destroy(scene);
    assert_int_equal(mote_context_memory_bytes(ctx), 0);
    /* A file of some hundred bytes must not take gigabytes. */
    static const char many[] =
        GLTF_ASSET "\"accessors\":[{\"componentType\":5126,\"count\":4000000000,\"type\":\"VEC3\"}],"
                   "\"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":0}}]}]" NODE;
    static const char beyond[] =
        GLTF_ASSET GLTF_BUFFER ",\"bufferViews\":[{\"buffer\":0,\"byteLength\":172}],\"accessors\":["
                               "{\"componentType\":5126,\"count\":2,\"type\":\"VEC3\"," GLTF_SPARSE "}],"
                               "\"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":0}}]}]" NODE;
    const char *const texts[] = {many, beyond};
    const char *const messages[] = {"accessors[0]: 4000000000 zeros without a bufferView",
                                    "accessors[0]: its sparse part has an element 2 of 2"};
    for (int i = 0; i < 2; i++) {
        test_write_file(test_path("many.gltf"), texts[i], strlen(texts[i]));
        assert_int_equal(mote_scene_read(ctx, test_path("many.gltf"), &scene, NULL), MOTE_ERROR_DATA);
        if (strstr(mote_context_message(ctx), messages[i]) == NULL) fail_msg("%s", mote_context_message(ctx));
        mote_context_clear(ctx);
    }
    assert_int_equal(mote_context_memory_bytes(ctx), 0);
    mote_context_destroy(ctx);
}

/* Node 1 is a child, and is met once. */
void files_without_scenes_show_their_roots(void **state) {
    (void)state;
    static const char *const scenes[] = {"", ",\"scenes\":[]"};
    for (int i = 0; i < 2; i++) {
        mote_context *ctx = test_context(1);
        mote_scene_facts facts;
        char text[4096];
        snprintf(text, sizeof text,
                 GLTF_ASSET GLTF_FLOOR
                 "," MESH("\"POSITION\":0") ",\"nodes\":[{\"children\":[1],"
                                            "\"translation\":[9,0,0]},{\"mesh\":0},{\"mesh\":0}]%s}",
                 scenes[i]);
        mote_scene *scene = gltf_test_read(ctx, "roots.gltf", text, &facts);
        const mote_box box = mote_scene_bounds(scene);
        assert_int_equal(facts.triangles, 4);
        assert_true(box.min[0] == -1 && box.max[0] == 10);
        mote_scene_destroy(scene);
        mote_context_destroy(ctx);
    }
}

/* The JSON of a .glb ends in blanks, and of some programs in NULs. */
void padding_is_passed_over(void **state) {
    (void)state;
    static const char json[] = GLTF_ASSET GLTF_FLOOR "," MESH("\"POSITION\":0") NODE;
    static const char pads[] = {' ', '\0'};
    for (int i = 0; i < 2; i++) {
        mote_context *ctx = test_context(1);
        mote_scene_facts facts;
        mote_scene *scene = NULL;
        uint8_t glb[4096];
        const uint32_t bytes = (uint32_t)(sizeof json - 1 + 7) / 4 * 4;
        const uint32_t words[5] = {0x46546c67, 2, 20 + bytes, bytes, 0x4e4f534a};
        memcpy(glb, words, sizeof words);
        memset(glb + 20, pads[i], bytes);
        memcpy(glb + 20, json, sizeof json - 1);
        test_write_file(test_path("padded.glb"), glb, 20 + bytes);
        if (mote_scene_read(ctx, test_path("padded.glb"), &scene, &facts) != MOTE_OK) {
            fail_msg("%s", mote_context_message(ctx));
        }
        assert_int_equal(facts.triangles, 2);
        mote_scene_destroy(scene);
        mote_context_destroy(ctx);
    }
}

/* The third corner moves by the weight times 5 0 5: of the mesh, or of the node, which counts more. */
void morph_targets_have_their_weights(void **state) {
    (void)state;
    static const struct {
        const char *mesh, *node;
        double corner;
    } rows[] = {{"", "", 1}, {",\"weights\":[0.5]", "", 3.5}, {",\"weights\":[0.5]", ",\"weights\":[-1]", -4}};
    for (int i = 0; i < 3; i++) {
        mote_context *ctx = test_context(1);
        char text[4096];
        snprintf(text, sizeof text,
                 GLTF_ASSET GLTF_FLOOR ",\"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":0},\"indices\":1,"
                                       "\"targets\":[{\"POSITION\":7}]}]%s}],\"nodes\":[{\"mesh\":0%s}]}",
                 rows[i].mesh, rows[i].node);
        mote_scene *scene = gltf_test_read(ctx, "morph.gltf", text, NULL);
        const mote_box box = mote_scene_bounds(scene);
        assert_true(rows[i].corner > 0 ? box.max[0] == rows[i].corner : box.min[2] == rows[i].corner);
        mote_scene_destroy(scene);
        assert_int_equal(mote_context_memory_bytes(ctx), 0);
        mote_context_destroy(ctx);
    }
}

/* ---- notes */

typedef struct heard {
    char text[8192];
} heard;

static void hear(void *user, mote_log_level level, const char *message) {
    heard *const h = user;
    const size_t length = strlen(h->text);
    if (level == MOTE_LOG_WARNING) snprintf(h->text + length, sizeof h->text - length, "%s\n", message);
}

static mote_status read_it(mote_context *ctx, void *user) {
    mote_scene *scene = NULL;
    const mote_status status = mote_scene_read(ctx, user, &scene, NULL);
    mote_scene_destroy(scene);
    return status;
}

#define VALUES                                                                                                         \
    "\"extensionsUsed\":[\"KHR_lights_punctual\"],\"extensions\":{\"KHR_lights_punctual\":{\"lights\":[%s]}},"         \
    "\"materials\":[{\"pbrMetallicRoughness\":{\"metallicFactor\":0}%s}],"                                             \
    "\"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":0},\"indices\":1,\"material\":0}]}],"                  \
    "\"nodes\":[{\"mesh\":0},{\"extensions\":{\"KHR_lights_punctual\":{\"light\":0}}}]}"

/* A value that glTF does not allow is another one in the picture, which is said; one that it allows is not. */
void values_out_of_range_are_told(void **state) {
    (void)state;
    static const struct {
        const char *light, *material, *line;
    } rows[] = {
        {"\"spot\":{\"innerConeAngle\":-1}", "", "1 values are out of range"},
        {"\"spot\":{\"innerConeAngle\":0.6,\"outerConeAngle\":0.3}", "", "the first: lights[0]: innerConeAngle 0.6"},
        {"\"spot\":{\"outerConeAngle\":2}", "", "lights[0]: outerConeAngle 2"},
        {"\"spot\":{\"innerConeAngle\":0.3,\"outerConeAngle\":0.3}", "", NULL},
        {"\"intensity\":-2", "", "lights[0]: intensity -2"},
        {"\"color\":[1,-3,1]", "", "lights[0]: color -3"},
        {"\"intensity\":2e6,\"color\":[2,1,0]", "", NULL},
        {"\"intensity\":1", ",\"emissiveFactor\":[1,0,-4]", "materials[0]: emissiveFactor -4"},
        {"\"intensity\":1", ",\"alphaMode\":\"MASK\",\"alphaCutoff\":-1", "materials[0]: alphaCutoff -1"},
        {"\"intensity\":1", ",\"extensions\":{\"KHR_materials_ior\":{\"ior\":0.5}}", "materials[0]: ior 0.5"},
        {"\"intensity\":1", ",\"extensions\":{\"KHR_materials_ior\":{\"ior\":0}}", "materials[0]: ior inf"},
        {"\"intensity\":1", ",\"extensions\":{\"KHR_materials_ior\":{\"ior\":1}}", NULL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        heard h = {""};
        char text[4096], light[256];
        mote_context_params params = mote_context_defaults();
        mote_context *ctx = NULL;
        params.log = hear;
        params.log_user = &h;
        snprintf(light, sizeof light, "{\"type\":\"spot\",%s}", rows[i].light);
        snprintf(text, sizeof text, GLTF_ASSET GLTF_FLOOR "," VALUES, light, rows[i].material);
        assert_int_equal(mote_context_create(&params, &ctx), MOTE_OK);
        mote_scene_destroy(gltf_test_read(ctx, "values.gltf", text, NULL));
        const bool told = strstr(h.text, "out of range") != NULL;
        if (told != (rows[i].line != NULL) || (told && strstr(h.text, rows[i].line) == NULL)) {
            fail_msg("row %zu: %s", i, h.text);
        }
        mote_context_destroy(ctx);
    }
}

/* A file says from which version of glTF on it is understood. */
void files_of_later_versions_are_refused(void **state) {
    (void)state;
    static const char text[] =
        "{\"asset\":{\"version\":\"2.1\",\"minVersion\":\"%s\"}," GLTF_FLOOR "," MESH("\"POSITION\":0") NODE;
    static const char *const versions[] = {"2.0", "2.1", "3.0"};
    for (int i = 0; i < 3; i++) {
        mote_context *ctx = test_context(1);
        mote_scene *scene = NULL;
        char file[4096];
        snprintf(file, sizeof file, text, versions[i]);
        test_write_file(test_path("later.gltf"), file, strlen(file));
        const mote_status status = mote_scene_read(ctx, test_path("later.gltf"), &scene, NULL);
        assert_int_equal(status, i == 0 ? MOTE_OK : MOTE_ERROR_DATA);
        if (i > 0 && strstr(mote_context_message(ctx), "its reader must know version") == NULL) {
            fail_msg("%s", mote_context_message(ctx));
        }
        mote_scene_destroy(scene);
        mote_context_destroy(ctx);
    }
}

/* Each kind once, with how many there are and which is the first. */
void what_is_left_out_is_told(void **state) {
    (void)state;
    static const char text[] = GLTF_ASSET GLTF_FLOOR
        ",\"extensionsUsed\":[\"KHR_lights_punctual\",\"KHR_materials_sheen\",\"EXT_other\"],"
        "\"animations\":[{},{}],\"skins\":[{}],\"cameras\":[{\"type\":\"perspective\",\"perspective\":{\"yfov\":1}}],"
        "\"extensions\":{\"KHR_lights_punctual\":{\"lights\":[{\"type\":\"tube\"}]}},"
        "\"meshes\":[{\"primitives\":["
        "{\"attributes\":{\"POSITION\":0,\"NORMAL\":0},\"indices\":1,\"targets\":[{}],\"material\":0},"
        "{\"attributes\":{\"POSITION\":0},\"mode\":1},{\"attributes\":{\"POSITION\":0},\"mode\":0},"
        "{\"attributes\":{\"POSITION\":0},\"indices\":1,\"material\":1}]}],"
        "\"images\":[{\"uri\":\"none.png\"}],\"textures\":[{\"source\":0}],\"materials\":["
        "{\"normalTexture\":{\"index\":0},\"occlusionTexture\":{\"index\":0}},"
        "{\"pbrMetallicRoughness\":{\"metallicFactor\":0,\"baseColorTexture\":{\"index\":0}},"
        "\"extensions\":{\"KHR_materials_transmission\":{\"transmissionFactor\":0.2}}},"
        "{\"extensions\":{\"KHR_materials_transmission\":{\"transmissionFactor\":1},\"KHR_materials_volume\":"
        "{\"thicknessFactor\":1,\"attenuationDistance\":2}}}],"
        "\"nodes\":[{\"mesh\":0,\"skin\":0,\"extensions\":{\"KHR_lights_punctual\":{\"light\":0}}},"
        "{\"camera\":0},{\"camera\":0},{\"camera\":0}]}";
    static const char *const lines[] = {
        "told.gltf: 1 textures cannot be read: the colour of the material is taken, and no emission; the first: "
        "images[0]: ",
        "told.gltf: 2 lists of points or lines are left out: triangles alone are drawn; the first: "
        "meshes[0]: primitives[1]",
        "told.gltf: 1 lists of triangles have normals, which are not used",
        "told.gltf: 1 lists of triangles lack the texture coordinates of their material",
        "told.gltf: 1 meshes have skins, which are not used",
        "told.gltf: 1 meshes have morph targets",
        "told.gltf: 2 animations are left out",
        "told.gltf: 2 textures have no effect: those of colour and emission are used; the first: "
        "materials[0]: normalTexture",
        "told.gltf: 2 metals that are not smooth everywhere are drawn as diffuse",
        "told.gltf: 1 materials that let less than half of the light through",
        "told.gltf: 1 bodies of glass have a colour inside",
        "told.gltf: 1 lights of other types are left out; the first: lights[0]: \"tube\"",
        "told.gltf: 2 further cameras are left out",
        "told.gltf: 2 extensions have no effect; the first: KHR_materials_sheen",
    };
    heard h = {""};
    mote_context_params params = mote_context_defaults();
    mote_context *ctx = NULL;
    params.log = hear;
    params.log_user = &h;
    assert_int_equal(mote_context_create(&params, &ctx), MOTE_OK);
    mote_scene_destroy(gltf_test_read(ctx, "told.gltf", text, NULL));
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        const char *const found = strstr(h.text, lines[i]);
        if (found == NULL) fail_msg("not told: %s\nbut: %s", lines[i], h.text);
        if (strstr(found + 1, lines[i]) != NULL) fail_msg("told twice: %s", lines[i]);
    }
    mote_context_destroy(ctx);
    char path[512];
    snprintf(path, sizeof path, "%s", test_path("told.gltf"));
    test_each_allocation_fails(read_it, path);
}

#endif
