/* Scenes from files: what is read of glTF and OBJ, and with which words it is refused. */
#include <math.h>
#include <mote_have.h>
#include <stdio.h>
#include <string.h>

#include "photon/scene/photon_texture.h"
#include "support/cloud_files.h"

#if MOTE_HAVE_TURBOJPEG
#include <turbojpeg.h>
#endif

/* Two triangles as bytes of a data: address: positions (0 0 0) (1 0 0) (1 1 0) (0 1 0), then 16-bit indices
   0 1 2 0 2 3. */
#define BYTES  "AAAAAAAAAAAAAAAAAACAPwAAAAAAAAAAAACAPwAAgD8AAAAAAAAAAAAAgD8AAAAAAAABAAIAAAACAAMA"
#define BUFFER "\"buffers\":[{\"byteLength\":60,\"uri\":\"data:application/octet-stream;base64," BYTES "\"}]"
#define VIEWS  "\"bufferViews\":[{\"buffer\":0,\"byteLength\":48},{\"buffer\":0,\"byteOffset\":48,\"byteLength\":12}]"
#define ACCESSORS                                                                                                      \
    "\"accessors\":[{\"bufferView\":0,\"componentType\":5126,\"count\":4,\"type\":\"VEC3\"},"                          \
    "{\"bufferView\":1,\"componentType\":5123,\"count\":6,\"type\":\"SCALAR\"}]"
#define MESH   "\"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":0},\"indices\":1}]}]"
#define NODES  "\"scenes\":[{\"nodes\":[0]}],\"nodes\":[{\"mesh\":0}]"
#define ASSET  "{\"asset\":{\"version\":\"2.0\"},"
#define SQUARE ASSET BUFFER "," VIEWS "," ACCESSORS "," MESH

static mote_scene *read_text(mote_context *ctx, const char *name, const char *text, mote_scene_facts *facts) {
    mote_scene *scene = NULL;
    const char *path = test_path(name);
    test_write_file(path, text, strlen(text));
    if (mote_scene_read(ctx, path, &scene, facts) != MOTE_OK) fail_msg("%s", mote_context_message(ctx));
    return scene;
}

static void refuse(const char *name, const char *text, const char *message) {
    mote_context *ctx = test_context(1);
    mote_scene *scene = NULL;
    const char *path = test_path(name);
    test_write_file(path, text, strlen(text));
    const mote_status status = mote_scene_read(ctx, path, &scene, NULL);
    if (status == MOTE_OK || scene != NULL) fail_msg("read, and should not be: %s", message);
    if (strstr(mote_context_message(ctx), message) == NULL) {
        fail_msg("\"%s\", expected \"%s\"", mote_context_message(ctx), message);
    }
    assert_int_equal(mote_context_memory_bytes(ctx), 0);
    mote_context_destroy(ctx);
}

/* ---- OBJ */

static void obj_has_all_corners(void **state) {
    (void)state;
    mote_context *ctx = test_context(1);
    mote_scene_facts f;
    static const char text[] = "# a fan, from the end, with all kinds of corners\r\n"
                               "v 0 0 0\r\nv 1 0 0 0.5 0.5 0.5\nv 1 1 0\nv 0 1 \\\n 0\nvt 0.5\nvt 1 1\nvn 0 0 1\n"
                               "o name with blanks\ng\ns off\nl 1 2\nf 1/1/1 2//1 3/2 -1\nf 1 1 2\nf -4 -3 -2";
    mote_scene *scene = read_text(ctx, "corners.obj", text, &f);
    assert_int_equal(f.triangles, 3);
    assert_int_equal(f.degenerate, 1);
    assert_int_equal(f.materials, 1);
    assert_false(f.has_camera);
    const mote_box box = mote_scene_bounds(scene);
    assert_true(box.min[0] == 0 && box.max[1] == 1 && box.max[2] == 0);
    mote_scene_destroy(scene);
    mote_context_destroy(ctx);
}

static void mtl_has_kinds(void **state) {
    (void)state;
    mote_context *ctx = test_context(1);
    mote_scene_facts f;
    static const char mtl[] = "newmtl a\nKd 0.5 0.25 2\nKe 3\nnewmtl b\nillum 3\nKs 0.9 0.8 0.7\n"
                              "newmtl c\nillum 7\nNi 1.33\nTf 0.9 1 1\n";
    test_write_file(test_path("kinds.mtl"), mtl, sizeof mtl - 1);
    mote_scene *scene = read_text(ctx, "kinds.obj",
                                  "mtllib kinds.mtl\nv 0 0 0\nv 1 0 0\nv 0 1 0\n"
                                  "usemtl a\nf 1 2 3\nusemtl b\nf 1 2 3\nusemtl c\nf 1 2 3\n",
                                  &f);
    const photon_surface *s = scene->view.surfaces;
    assert_int_equal(f.shining, 1);
    assert_int_equal(scene->view.light_count, 1);
    assert_int_equal(s[0].kind, MOTE_MATERIAL_DIFFUSE);
    assert_true(s[0].color.y == 0.25 && s[0].color.z == 1 && s[0].emission.z == 3);
    assert_int_equal(s[1].kind, MOTE_MATERIAL_MIRROR);
    assert_true(s[1].color.x == 0.9);
    assert_int_equal(s[2].kind, MOTE_MATERIAL_GLASS);
    assert_true(s[2].refraction == 1.33 && s[2].color.x == 0.9);
    mote_scene_destroy(scene);
    mote_context_destroy(ctx);
}

static void obj_refuses(void **state) {
    (void)state;
#define V3 "v 0 0 0\nv 1 0 0\nv 0 1 0\n"
    refuse("a.obj", "", "a.obj: it has no face");
    refuse("a.obj", V3 "l 1 2\n", "it has no face");
    refuse("a.obj", V3 "f 1 1 2\n", "it has no face that has an area");
    refuse("a.obj", V3 "f 1 2\nf 1\n",
           "no face that can be drawn; 2 lines cannot be read, the first: line 4: f has 2 c");
    refuse("a.obj",
           "\xff\xfe"
           "v\0 \0",
           "encoded as UTF-16LE");
    mote_context *ctx = test_context(1);
    mote_scene *scene = NULL;
    assert_int_equal(mote_scene_read(ctx, test_path("scene.stl"), &scene, NULL), MOTE_ERROR_ARGUMENT);
    mote_context_destroy(ctx);
}

/* ---- glTF */

#if MOTE_HAVE_JANSSON

/* Nodes turn, scale, move and mirror; strips and fans make the same square; a camera and lights are where they should.
 */
static void gltf_has_nodes(void **state) {
    (void)state;
    mote_context *ctx = test_context(1);
    mote_scene_facts f;
    static const char text[] =
        SQUARE ",\"cameras\":[{\"type\":\"perspective\",\"perspective\":{\"yfov\":0.5,\"znear\":1}}],"
               "\"extensions\":{\"KHR_lights_punctual\":{\"lights\":[{\"type\":\"point\",\"intensity\":2},"
               "{\"type\":\"spot\",\"spot\":{\"outerConeAngle\":0.5}}]}},"
               "\"scenes\":[{\"nodes\":[0,2]}],\"nodes\":["
               "{\"scale\":[2,2,-2],\"translation\":[10,0,0],\"children\":[1]},"
               "{\"mesh\":0,\"rotation\":[0,0,0.7071067811865476,0.7071067811865476],"
               "\"extensions\":{\"KHR_lights_punctual\":{\"light\":0}}},"
               "{\"camera\":0,\"matrix\":[1,0,0,0,0,1,0,0,0,0,1,0,1,2,3,1],"
               "\"extensions\":{\"KHR_lights_punctual\":{\"light\":1}}}]}";
    mote_scene *scene = read_text(ctx, "nodes.gltf", text, &f);
    const mote_box box = mote_scene_bounds(scene); /* turned to -1..0, then doubled and moved */
    assert_true(fabs(box.min[0] - 8) < 1e-12 && fabs(box.max[0] - 10) < 1e-12);
    assert_true(fabs(box.min[1]) < 1e-12 && fabs(box.max[1] - 2) < 1e-12);
    assert_int_equal(f.triangles, 2);
    assert_int_equal(f.lights, 2);
    assert_true(f.has_camera);
    const photon_shape *s = &scene->view.shapes[0]; /* mirrored: its corners run so that the front is still in front */
    assert_true(photon_cross(photon_sub(s->b, s->a), photon_sub(s->c, s->a)).z < 0);
    const mote_camera c = mote_scene_camera(scene);
    assert_true(c.eye[2] == 3 && c.target[2] == 2 && c.up[1] == 1 && c.angle_rad == 0.5);
    assert_true(scene->view.lights[1].a.z == 3 && scene->view.lights[1].b.z == -1);
    mote_scene_destroy(scene);
    mote_context_destroy(ctx);
}

static void gltf_has_strips_and_fans(void **state) {
    (void)state;
    for (int mode = 5; mode <= 6; mode++) {
        mote_context *ctx = test_context(1);
        mote_scene_facts f;
        char text[2048];
        snprintf(text, sizeof text,
                 ASSET BUFFER "," VIEWS "," ACCESSORS ",\"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":0},"
                              "\"mode\":%d}]}]," NODES "}",
                 mode);
        mote_scene *scene = read_text(ctx, "modes.gltf", text, &f);
        assert_int_equal(f.triangles, 2);
        for (uint32_t i = 0; i < 2; i++) { /* all run the same way; a strip of a square's corners folds */
            const photon_shape *s = &scene->view.shapes[i];
            const double z = photon_cross(photon_sub(s->b, s->a), photon_sub(s->c, s->a)).z;
            assert_true(mode == 6 ? z > 0 : z != 0);
        }
        mote_scene_destroy(scene);
        mote_context_destroy(ctx);
    }
}

static void gltf_has_materials(void **state) {
    (void)state;
    mote_context *ctx = test_context(1);
    mote_scene *scene =
        read_text(ctx, "materials.gltf",
                  SQUARE "," NODES ",\"materials\":[{},"
                         "{\"pbrMetallicRoughness\":{\"baseColorFactor\":[0.5,0.25,0.125,1],\"metallicFactor\":0}},"
                         "{\"pbrMetallicRoughness\":{\"metallicFactor\":1,\"roughnessFactor\":0.1}},"
                         "{\"extensions\":{\"KHR_materials_transmission\":{\"transmissionFactor\":1},"
                         "\"KHR_materials_ior\":{\"ior\":1.33}}},"
                         "{\"emissiveFactor\":[1,0.5,0],"
                         "\"extensions\":{\"KHR_materials_emissive_strength\":{\"emissiveStrength\":10}}}]}",
                  NULL);
    const photon_surface *s = scene->view.surfaces;
    assert_int_equal(s[0].kind, MOTE_MATERIAL_DIFFUSE); /* a rough metal */
    assert_true(s[1].kind == MOTE_MATERIAL_DIFFUSE && s[1].color.z == 0.125);
    assert_int_equal(s[2].kind, MOTE_MATERIAL_MIRROR);
    assert_true(s[3].kind == MOTE_MATERIAL_GLASS && s[3].refraction == 1.33);
    assert_true(s[4].emission.x == 10 && s[4].emission.y == 5);
    mote_scene_destroy(scene);
    mote_context_destroy(ctx);
}

#define PRIMITIVE(rest) ASSET BUFFER "," VIEWS "," ACCESSORS ",\"meshes\":[{\"primitives\":[{" rest "}]}]," NODES "}"
#define ACCESSOR(rest)                                                                                                 \
    ASSET BUFFER "," VIEWS ",\"accessors\":[{" rest "},{\"bufferView\":1,\"componentType\":5123,\"count\":6,"          \
                 "\"type\":\"SCALAR\"}]," MESH "," NODES "}"

static void gltf_refuses(void **state) {
    (void)state;
    refuse("a.gltf", "", "line 1, column 0: no JSON");
    refuse("a.gltf", "{\"asset\":\n[}", "line 2, column");
    refuse("a.gltf", "{}", "no asset.version");
    refuse("a.gltf", "{\"asset\":{\"version\":\"1.0\"}}", "version 1.0 of glTF; 2 is read");
    refuse("a.gltf", ASSET "\"extensionsRequired\":[\"KHR_draco_mesh_compression\"]}",
           "requires the extension \"KHR_draco_mesh_compression\"");
    refuse("a.gltf", ASSET "\"nodes\":[],\"scene\":0}", "its scene is not there");
    refuse("a.gltf", SQUARE ",\"scenes\":[{\"nodes\":[0]}],\"nodes\":[{\"mesh\":7}]}", "nodes[0]: its mesh");
    refuse("a.gltf", SQUARE ",\"scenes\":[{\"nodes\":[3]}],\"nodes\":[{\"mesh\":0}]}", "scenes[0]: node 3 of 1");
    refuse("a.gltf", SQUARE ",\"scenes\":[{\"nodes\":[0]}],\"nodes\":[{\"children\":[1]},{\"children\":[0]}]}",
           "nodes[0]: it is reached twice");
    refuse("a.gltf", SQUARE ",\"scenes\":[{\"nodes\":[0]}],\"nodes\":[{\"scale\":[1,1]}]}", "nodes[0]: its transform");
    refuse("a.gltf", PRIMITIVE("\"attributes\":{}"), "meshes[0]: primitives[0]: its POSITION");
    refuse("a.gltf", PRIMITIVE("\"attributes\":{\"POSITION\":1}"), "its POSITION has no three numbers");
    refuse("a.gltf", PRIMITIVE("\"attributes\":{\"POSITION\":0},\"indices\":9"), "its indices or its material");
    refuse("a.gltf", PRIMITIVE("\"attributes\":{\"POSITION\":0},\"mode\":9"), "its mode is out of range");
    refuse("a.gltf", ACCESSOR("\"bufferView\":0,\"componentType\":5126,\"count\":3,\"type\":\"VEC3\""),
           "index 5 is 3, of 3 positions");
    refuse("a.gltf", ACCESSOR("\"bufferView\":0,\"componentType\":5126,\"count\":5,\"type\":\"VEC3\""),
           "5 elements of 12 bytes are not in the 48 bytes");
    refuse("a.gltf", ACCESSOR("\"bufferView\":0,\"componentType\":5126,\"count\":4000000000,\"type\":\"VEC3\""),
           "4000000000 elements of 12 bytes");
    refuse("a.gltf", ACCESSOR("\"bufferView\":0,\"componentType\":5126,\"count\":-1,\"type\":\"VEC3\""),
           "accessors[0]: its count or componentType");
    refuse("a.gltf", ACCESSOR("\"bufferView\":0,\"componentType\":5127,\"count\":4,\"type\":\"VEC3\""),
           "componentType is out of range");
    refuse("a.gltf", ACCESSOR("\"bufferView\":0,\"componentType\":5126,\"count\":4,\"type\":\"MAT4\""),
           "none of SCALAR");
    refuse("a.gltf",
           ASSET "\"buffers\":[{\"byteLength\":99,\"uri\":\"data:;base64,AAAA\"}]," VIEWS "," ACCESSORS "," MESH
                 "," NODES "}",
           "buffers[0]: 3 bytes are there, of 99");
    refuse("a.gltf",
           ASSET "\"buffers\":[{\"byteLength\":60,\"uri\":\"missing.bin\"}]," VIEWS "," ACCESSORS "," MESH "," NODES
                 "}",
           "a.gltf: buffers[0]: ");
    refuse("a.gltf",
           ASSET "\"buffers\":[{\"byteLength\":60,\"uri\":\"missing.bin\"}]," VIEWS "," ACCESSORS "," MESH "," NODES
                 "}",
           "missing.bin: cannot open");
    refuse("a.gltf",
           ASSET "\"buffers\":[{\"byteLength\":60,\"uri\":\"%2e%2e/x.bin\"}]," VIEWS "," ACCESSORS "," MESH "," NODES
                 "}",
           "not in the folder of the scene");
    refuse("a.gltf",
           ASSET "\"buffers\":[{\"byteLength\":60,\"uri\":\"%2e%2e/x.bin\"}]," VIEWS "," ACCESSORS "," MESH "," NODES
                 "}",
           "a.gltf: buffers[0]: the file \"../x.bin\" is not in");
    refuse("a.glb", "glTF\2", "offset 5: the .glb ends within its header");
}

#endif

/* ---- */

#if MOTE_HAVE_JANSSON
/* A texture that cannot be read costs a note, not the scene: the material has its factors. */
static void gltf_textures_may_be_missing(void **state) {
    (void)state;
    static const char scene_text[] =
        SQUARE "," NODES ",\"images\":[{\"uri\":\"gone.png\"},{\"uri\":\"broken.png\"},{\"uri\":\"/etc/passwd\"}],"
               "\"textures\":[{\"source\":0},{\"source\":1},{\"source\":2}],\"materials\":["
               "{\"pbrMetallicRoughness\":{\"metallicFactor\":0,\"baseColorFactor\":[0.5,0.25,1,1],"
               "\"baseColorTexture\":{\"index\":0}}},"
               "{\"pbrMetallicRoughness\":{\"metallicFactor\":0,\"baseColorTexture\":{\"index\":0}}},"
               "{\"pbrMetallicRoughness\":{\"metallicFactor\":0,\"baseColorTexture\":{\"index\":1}}},"
               "{\"pbrMetallicRoughness\":{\"metallicFactor\":0,\"baseColorTexture\":{\"index\":2}}}]}";
    char said[TEST_MESSAGE_BYTES] = "";
    mote_scene_facts facts;
    mote_context *ctx = test_context_listening(said);
    test_write_file(test_path("broken.png"), "\x89PNG\r\n\x1a\nno more", 15);
    mote_scene *scene = read_text(ctx, "missing.gltf", scene_text, &facts);
    assert_int_equal(facts.textures, 0);
    assert_true(scene->view.surfaces[0].color.y == 0.25 && scene->view.surfaces[0].texture == PHOTON_NO_TEXTURE);
    if (strstr(
            said,
            "textures cannot be read: the colour of the material is taken, and no emission; the first: images[0]: ") ==
            NULL ||
        strstr(said, "gone.png: cannot open") == NULL || strstr(said, ": 3 text") == NULL) {
        fail_msg("%s", said);
    }
    mote_scene_destroy(scene);
    assert_int_equal(mote_context_memory_bytes(ctx), 0);
    mote_context_destroy(ctx);
}
#endif

static mote_status read_it(mote_context *ctx, void *user) {
    mote_scene *scene = NULL;
    const mote_status status = mote_scene_read(ctx, user, &scene, NULL);
    mote_scene_destroy(scene);
    return status;
}

static void every_allocation_may_fail(void **state) {
    (void)state;
    static const char mtl[] = "newmtl a\nKd 1 1 1\n";
    static const char obj[] = "mtllib f.mtl\nv 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\nusemtl a\nf 1 2 3\n";
    char path[256];
    test_write_file(test_path("f.mtl"), mtl, sizeof mtl - 1);
    snprintf(path, sizeof path, "%s", test_path("f.obj"));
    test_write_file(path, obj, sizeof obj - 1);
    test_each_allocation_fails(read_it, path);
#if MOTE_HAVE_JANSSON
    static const char gltf[] = SQUARE "," NODES "}";
    snprintf(path, sizeof path, "%s", test_path("f.gltf"));
    test_write_file(path, gltf, sizeof gltf - 1);
    test_each_allocation_fails(read_it, path);
    test_each_step_cancels(read_it, path);
#endif
}

/* A texture of two texels on a square: each half of it has the colour of one. */
static void textures_lie_as_they_should(void **state) {
    (void)state;
    static const uint8_t texels[6] = {255, 0, 0, 0, 0, 255};
    static const double positions[12] = {0, 0, 0, 4, 0, 0, 4, 1, 0, 0, 1, 0};
    static const uint32_t triangles[6] = {0, 1, 2, 0, 2, 3};
    static const float coordinates[12] = {0, 0, 1, 0, 1, 1, 0, 0, 1, 1, 0, 1};
    mote_context *ctx = test_context(1);
    mote_scene_params p;
    mote_material material;
    mote_texture texture;
    mote_scene *scene = NULL;
    memset(&p, 0, sizeof p);
    memset(&material, 0, sizeof material);
    memset(&texture, 0, sizeof texture);
    texture.srgb = texels;
    texture.width = 2;
    texture.height = 1;
    texture.wrap_u = MOTE_TEXTURE_CLAMP;
    material.color[0] = material.color[1] = material.color[2] = 0.5;
    material.texture = 1;
    p.positions = positions;
    p.position_count = 4;
    p.triangles = triangles;
    p.triangle_count = 2;
    p.materials = &material;
    p.material_count = 1;
    p.textures = &texture;
    p.texture_count = 1;
    p.texture_coordinates = coordinates;
    p.camera = mote_camera_defaults();
    assert_int_equal(mote_scene_create(ctx, &p, &scene), MOTE_OK);
    for (int i = 0; i <= 8; i++) { /* red up to the middle of the first texel, then a blend to blue */
        const double x = 0.01 + 0.4975 * i, part = fmin(fmax((x - 1) / 2, 0), 1);
        const photon_hit hit = photon_trace(&scene->view, photon_vec_of(x, 0.6, 1), photon_vec_of(0, 0, -1));
        if (hit.shape == PHOTON_NO_SHAPE) {
            fail_msg("no hit at %g", x);
            return;
        }
        const photon_vec color = photon_color_at(&scene->view, &hit);
        assert_true(fabs(color.x - 0.5 * (1 - part)) < 1e-9 && color.y == 0 && fabs(color.z - 0.5 * part) < 1e-9);
    }
    mote_scene_destroy(scene);
    material.texture = 2;
    assert_int_equal(mote_scene_create(ctx, &p, &scene), MOTE_ERROR_ARGUMENT);
    assert_non_null(strstr(mote_context_message(ctx), "material 0: texture 2 of 1"));
    mote_context_destroy(ctx);
}

/* ---- JPEG */

#if MOTE_HAVE_TURBOJPEG
#define JPEG_WIDTH  32
#define JPEG_HEIGHT 16

/* The left half of one colour, the right of another, and the lower half of both darker: edges of 16 texels lie between
   the blocks of each subsampling. */
static void jpeg_texel(int x, int y, uint8_t rgb[3]) {
    static const uint8_t colors[2][2][3] = {{{230, 40, 60}, {30, 200, 90}}, {{115, 20, 30}, {15, 100, 45}}};
    memcpy(rgb, colors[y >= JPEG_HEIGHT / 2][x >= JPEG_WIDTH / 2], 3);
}

static void write_jpeg(const char *path, int sampling, int flags) {
    uint8_t texels[3 * JPEG_WIDTH * JPEG_HEIGHT];
    unsigned char *bytes = NULL;
    unsigned long size_bytes = 0;
    tjhandle encoder = tjInitCompress();
    assert_non_null(encoder);
    for (int i = 0; i < JPEG_WIDTH * JPEG_HEIGHT; i++)
        jpeg_texel(i % JPEG_WIDTH, i / JPEG_WIDTH, texels + 3 * (size_t)i);
    assert_int_equal(
        tjCompress2(encoder, texels, JPEG_WIDTH, 0, JPEG_HEIGHT, TJPF_RGB, &bytes, &size_bytes, sampling, 100, flags),
        0);
    test_write_file(path, bytes, size_bytes);
    tjFree(bytes);
    tjDestroy(encoder);
}

/* What a ray from above sees in the middle of a texel of a floor that is JPEG_WIDTH by JPEG_HEIGHT; the image's first
   row is at the top, where v is 1. */
static photon_vec color_of_texel(const mote_scene *scene, int x, int y) {
    const photon_vec from = photon_vec_of(x + 0.5, JPEG_HEIGHT - y - 0.5, 1);
    const photon_hit hit = photon_trace(&scene->view, from, photon_vec_of(0, 0, -1));
    if (hit.shape == PHOTON_NO_SHAPE) fail_msg("no hit at %d, %d", x, y);
    return photon_color_at(&scene->view, &hit);
}

/* grey: the image has brightness alone, as JPEG weighs it. */
static void check_texel(const mote_scene *scene, int x, int y, bool grey) {
    const photon_vec got = color_of_texel(scene, x, y);
    const double colors[3] = {got.x, got.y, got.z};
    uint8_t rgb[3];
    jpeg_texel(x, y, rgb);
    if (grey) memset(rgb, (int)(0.299 * rgb[0] + 0.587 * rgb[1] + 0.114 * rgb[2] + 0.5), 3);
    for (int k = 0; k < 3; k++) {
        const int low = rgb[k] - 4, high = rgb[k] + 4; /* what quality 100 rounds */
        const double darkest = (double)photon_linear_of((uint8_t)(low < 0 ? 0 : low));
        const double brightest = (double)photon_linear_of((uint8_t)(high > 255 ? 255 : high));
        if (colors[k] < darkest || colors[k] > brightest) {
            fail_msg("texel %d, %d, channel %d: %g, not %g to %g", x, y, k, colors[k], darkest, brightest);
        }
    }
}

static void check_jpeg(int sampling, int flags) {
    static const char obj[] =
        "mtllib jpeg.mtl\nv 0 0 0\nv 32 0 0\nv 32 16 0\nv 0 16 0\nvt 0 0\nvt 1 0\nvt 1 1\nvt 0 1\n"
        "usemtl a\nf 1/1 2/2 3/3 4/4\n";
    static const char mtl[] = "newmtl a\nKd 1 1 1\nmap_Kd jpeg.jpg\n";
    static const int columns[] = {0, 5, 13, 18, 26, 31}, rows[] = {0, 3, 12, 15}; /* off the edges between colours */
    mote_context *ctx = test_context(1);
    mote_scene_facts facts;
    write_jpeg(test_path("jpeg.jpg"), sampling, flags);
    test_write_file(test_path("jpeg.mtl"), mtl, sizeof mtl - 1);
    mote_scene *scene = read_text(ctx, "jpeg.obj", obj, &facts);
    assert_int_equal(facts.textures, 1);
    assert_true(scene->textures[0].width == JPEG_WIDTH && scene->textures[0].height == JPEG_HEIGHT);
    for (int i = 0; i < 24; i++) check_texel(scene, columns[i % 6], rows[i / 6], sampling == TJSAMP_GRAY);
    mote_scene_destroy(scene);
    assert_int_equal(mote_context_memory_bytes(ctx), 0);
    mote_context_destroy(ctx);
}
#endif

/* Colours at full and at a quarter of the resolution, grey, and progressive. */
static void jpeg_has_its_colours(void **state) {
    (void)state;
#if MOTE_HAVE_TURBOJPEG
    check_jpeg(TJSAMP_444, 0);
    check_jpeg(TJSAMP_420, 0);
    check_jpeg(TJSAMP_GRAY, 0);
    check_jpeg(TJSAMP_444, TJFLAG_PROGRESSIVE);
#else
    print_message("mote was built without libturbojpeg: JPEG textures are not tried\n");
    skip();
#endif
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(obj_has_all_corners),
        cmocka_unit_test(mtl_has_kinds),
        cmocka_unit_test(obj_refuses),
#if MOTE_HAVE_JANSSON
        cmocka_unit_test(gltf_has_nodes),
        cmocka_unit_test(gltf_has_strips_and_fans),
        cmocka_unit_test(gltf_has_materials),
        cmocka_unit_test(gltf_refuses),
        cmocka_unit_test(gltf_textures_may_be_missing),
#endif
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(textures_lie_as_they_should),
        cmocka_unit_test(jpeg_has_its_colours),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
