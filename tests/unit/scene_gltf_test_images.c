/* glTF: its images, and which files a scene may name. */
#include "unit/scene_gltf_test.h"

#if MOTE_HAVE_JANSSON

#include <sys/stat.h>
#include <unistd.h>

#if MOTE_HAVE_PNG
#include <png.h>

#define FLOOR_OF(material, rest)                                                                                       \
    GLTF_ASSET GLTF_FLOOR ",\"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":0,\"TEXCOORD_0\":4},"           \
                          "\"indices\":1,\"material\":0}]}],"                                                          \
                          "\"nodes\":[{\"mesh\":0}],\"materials\":[{" material "}]," rest "}"

typedef struct png_shape {
    int width, height, depth, color;
    double gamma; /* 0: no such chunk */
    bool interlaced;
} png_shape;

/* rows: as they are stored, without filters. */
static void write_png(const char *name, const png_shape *shape, uint8_t *rows, size_t row_bytes) {
    FILE *file = fopen(test_path(name), "wb");
    assert_non_null(file);
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
    png_infop info = png_create_info_struct(png);
    png_init_io(png, file);
    png_set_IHDR(png, info, (png_uint_32)shape->width, (png_uint_32)shape->height, shape->depth, shape->color,
                 shape->interlaced ? PNG_INTERLACE_ADAM7 : PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
                 PNG_FILTER_TYPE_DEFAULT);
    if (shape->gamma > 0) png_set_gAMA(png, info, shape->gamma);
    png_write_info(png, info);
    const int passes = png_set_interlace_handling(png);
    for (int pass = 0; pass < passes; pass++) {
        for (int y = 0; y < shape->height; y++) png_write_row(png, rows + (size_t)y * row_bytes);
    }
    png_write_end(png, NULL);
    png_destroy_write_struct(&png, &info);
    fclose(file);
}

static photon_vec color_above(const mote_scene *scene, double x, double z) {
    const photon_hit hit = photon_trace(&scene->view, photon_vec_of(x, 1, z), photon_vec_of(0, -1, 0));
    if (hit.shape == PHOTON_NO_SHAPE) fail_msg("no hit");
    return photon_color_at(&scene->view, &hit);
}

/* Grey of one half, in 8 and 16 bits, with and without a chunk that says otherwise, in all kinds of PNG. */
void samples_of_png_are_srgb(void **state) {
    (void)state;
    static const png_shape shapes[] = {
        {4, 4, 16, PNG_COLOR_TYPE_GRAY, 0, false},       {4, 4, 16, PNG_COLOR_TYPE_RGB, 1, false},
        {4, 4, 8, PNG_COLOR_TYPE_GRAY, 1, true},         {4, 4, 8, PNG_COLOR_TYPE_RGB, 0.45455, true},
        {4, 4, 16, PNG_COLOR_TYPE_RGB_ALPHA, 0.3, true}, {4, 4, 8, PNG_COLOR_TYPE_GRAY_ALPHA, 0, false}};
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        mote_context *ctx = test_context(1);
        uint8_t rows[4 * 8 * 4];
        memset(rows, 0x80, sizeof rows);
        write_png("grey.png", &shapes[i], rows, 32);
        mote_scene *scene = gltf_test_read(
            ctx, "grey.gltf",
            FLOOR_OF("\"pbrMetallicRoughness\":{\"metallicFactor\":0,\"baseColorTexture\":{\"index\":0}}",
                     "\"images\":[{\"uri\":\"grey.png\"}],\"textures\":[{\"source\":0}]"),
            NULL);
        const photon_vec color = color_above(scene, 0.3, 0.2);
        const double expected = pow((128 / 255.0 + 0.055) / 1.055, 2.4); /* 0.216 */
        if (fabs(color.x - expected) > 1e-3 || color.x != color.y || color.y != color.z) {
            fail_msg("PNG %zu: %g %g %g, expected %g", i, color.x, color.y, color.z, expected);
        }
        const bool has_alpha = (shapes[i].color & PNG_COLOR_MASK_ALPHA) != 0;
        assert_true((scene->textures[0].first_alpha != PHOTON_NO_ALPHA) == has_alpha);
        mote_scene_destroy(scene);
        assert_int_equal(mote_context_memory_bytes(ctx), 0);
        mote_context_destroy(ctx);
    }
}

static photon_vec shine_above(const mote_scene *scene, double x, double y) {
    const photon_hit hit = photon_trace(&scene->view, photon_vec_of(x, y, 0.1), photon_vec_of(0, y > 0 ? -1 : 1, 0));
    if (hit.shape == PHOTON_NO_SHAPE) fail_msg("no hit");
    return photon_shine_at(&scene->view, &hit);
}

/* A screen whose left half is white and whose right half is black: seen as it is, and as strong as its mean. */
void textures_shine_where_they_are_bright(void **state) {
    (void)state;
    static const char *const sides[] = {"", ",\"doubleSided\":true"};
    const png_shape shape = {8, 8, 8, PNG_COLOR_TYPE_GRAY, 0, false};
    uint8_t rows[64];
    for (int i = 0; i < 64; i++) rows[i] = i % 8 < 4 ? 255 : 0;
    write_png("screen.png", &shape, rows, 8);
    for (int i = 0; i < 2; i++) {
        mote_context *ctx = test_context(1);
        mote_scene_facts facts;
        char text[4096];
        snprintf(text, sizeof text,
                 FLOOR_OF("\"emissiveFactor\":[1,0.5,0.25],\"emissiveTexture\":{\"index\":0}%s",
                          "\"images\":[{\"uri\":\"screen.png\"}],\"textures\":[{\"source\":0}]"),
                 sides[i]);
        mote_scene *scene = gltf_test_read(ctx, "screen.gltf", text, &facts);
        assert_true(fabs(shine_above(scene, -0.5, 1).y - 0.5) < 1e-6 && shine_above(scene, 0.5, 1).y == 0);
        assert_true((shine_above(scene, -0.5, -1).y > 0) == (i == 1)); /* its back */
        const double both = i == 0 ? 1 : 2, expected = both * 3.14159265358979 * 4 * 0.5 * 1.75;
        if (fabs(scene->view.power / expected - 1) > 0.02) fail_msg("%g, expected %g", scene->view.power, expected);
        assert_int_equal(facts.shining, 2);
        assert_int_equal(facts.glowing, 2);
        const mote_camera camera = mote_scene_camera(scene);
        const double before = scene->view.power;
        const uint32_t lamps = scene->view.light_count; /* a default light comes to what glows */
        assert_int_equal(mote_scene_add_default_light(scene, &camera), MOTE_OK);
        assert_true(scene->view.light_count == lamps + 2 && scene->view.lights[lamps].power_before == before);
        mote_scene_destroy(scene);
        mote_context_destroy(ctx);
    }
}

/* Twelve images of one name, shown in two ways: one image, and two textures that share its texels. */
void an_image_is_decoded_once(void **state) {
    (void)state;
    mote_context *ctx = test_context(1);
    mote_scene_facts facts;
    const png_shape shape = {64, 64, 8, PNG_COLOR_TYPE_GRAY, 0, false};
    static uint8_t rows[64 * 64];
    static char text[16384];
    write_png("once.png", &shape, rows, 64);
    int length = snprintf(text, sizeof text, GLTF_ASSET GLTF_FLOOR ",\"samplers\":[{},{\"wrapS\":33071}],\"images\":[");
    for (int i = 0; i < 12; i++) {
        length += snprintf(text + length, sizeof text - (size_t)length, "%s{\"uri\":\"once.png\"}", i > 0 ? "," : "");
    }
    length += snprintf(text + length, sizeof text - (size_t)length, "],\"textures\":[");
    for (int i = 0; i < 12; i++) {
        length += snprintf(text + length, sizeof text - (size_t)length, "%s{\"source\":%d,\"sampler\":%d}",
                           i > 0 ? "," : "", i, i % 2);
    }
    length += snprintf(text + length, sizeof text - (size_t)length, "],\"materials\":[");
    for (int i = 0; i < 12; i++) {
        length += snprintf(text + length, sizeof text - (size_t)length,
                           "%s{\"pbrMetallicRoughness\":{\"baseColorTexture\":{\"index\":%d}}}", i > 0 ? "," : "", i);
    }
    snprintf(text + length, sizeof text - (size_t)length,
             "],\"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":0}}]}],\"nodes\":[{\"mesh\":0}]}");
    mote_scene *scene = gltf_test_read(ctx, "once.gltf", text, &facts);
    assert_int_equal(facts.textures, 2);
    assert_int_equal(scene->view.texel_bytes, 3 * 64 * 64);
    mote_scene_destroy(scene);
    mote_context_destroy(ctx);
}

/* Images of a few kilobytes whose texels are more than a scene may have: those that fit are read. */
void texels_are_bounded(void **state) {
    (void)state;
    mote_context *ctx = test_context(1);
    scene_draft draft = {.ctx = ctx, .path = "bounded.gltf", .texel_count = MOTE_SCENE_MAX_TEXELS - 64 * 64};
    const png_shape shape = {64, 64, 8, PNG_COLOR_TYPE_GRAY, 0, false};
    static uint8_t rows[64 * 64];
    size_t size;
    uint32_t image;
    write_png("large.png", &shape, rows, 64);
    char *const bytes = test_load(test_path("large.png"), &size);
    assert_int_equal(scene_image_add(&draft, "a", 1, "a", (uint8_t *)bytes, size, &image), MOTE_OK);
    assert_int_equal(scene_image_add(&draft, "b", 1, "b", (uint8_t *)bytes, size, &image), MOTE_ERROR_UNSUPPORTED);
    assert_non_null(strstr(mote_context_message(ctx), "b: 64 x 64 texels more than the 1073741824"));
    assert_int_equal(scene_image_find(&draft, "b", 1), 1);
    assert_null(draft.images[1].srgb);
    scene_draft_free(&draft);
    free(bytes);
    mote_context_destroy(ctx);
}

#else

void samples_of_png_are_srgb(void **state) { (void)state; }
void textures_shine_where_they_are_bright(void **state) { (void)state; }
void an_image_is_decoded_once(void **state) { (void)state; }
void texels_are_bounded(void **state) { (void)state; }

#endif

/* ---- files */

/* Not the standard input, no pipe, no device, and nothing that a link leads to outside; links within are followed. */
void only_files_of_the_folder_are_read(void **state) {
    (void)state;
    static const struct {
        const char *uri, *message;
    } rows[] = {{"-", "buffers[0]: "},
                {"pipe", "pipe: is a pipe, a device or a folder"},
                {"out", "leads out of the folder of the scene"},
                {"up/leak.bin", "leads out of the folder of the scene"},
                {"zero", "leads out of the folder of the scene"},
                {"/dev/stdin", "not in the folder of the scene"},
                {"in", NULL}};
    char folder[256], path[512];
    static const uint8_t bytes[60];
    test_write_file(test_path("leak.bin"), bytes, sizeof bytes);
    snprintf(folder, sizeof folder, "%s", test_path("scene"));
    assert_int_equal(mkdir(folder, 0755), 0);
    const char *const links[][2] = {{"out", "../leak.bin"}, {"up", ".."}, {"zero", "/dev/zero"}, {"in", "true.bin"}};
    for (int i = 0; i < 4; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, links[i][0]);
        assert_int_equal(symlink(links[i][1], path), 0);
    }
    snprintf(path, sizeof path, "%s/pipe", folder);
    assert_int_equal(mkfifo(path, 0600), 0);
    snprintf(path, sizeof path, "%s/true.bin", folder);
    test_write_file(path, bytes, sizeof bytes);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        mote_context *ctx = test_context(1);
        mote_scene *scene = NULL;
        char text[1024];
        snprintf(text, sizeof text,
                 GLTF_ASSET "\"buffers\":[{\"byteLength\":60,\"uri\":\"%s\"}],"
                            "\"bufferViews\":[{\"buffer\":0,\"byteLength\":60}],\"accessors\":[{\"bufferView\":0,"
                            "\"componentType\":5126,\"count\":5,\"type\":\"VEC3\"}],\"meshes\":[{\"primitives\":["
                            "{\"attributes\":{\"POSITION\":0}}]}],\"nodes\":[{\"mesh\":0}]}",
                 rows[i].uri);
        snprintf(path, sizeof path, "%s/scene.gltf", folder);
        test_write_file(path, text, strlen(text));
        const mote_status status = mote_scene_read(ctx, path, &scene, NULL);
        assert_int_equal(status == MOTE_OK, rows[i].message == NULL);
        if (rows[i].message != NULL && strstr(mote_context_message(ctx), rows[i].message) == NULL) {
            fail_msg("%s: %s", rows[i].uri, mote_context_message(ctx));
        }
        mote_scene_destroy(scene);
        mote_context_destroy(ctx);
    }
}

#endif
