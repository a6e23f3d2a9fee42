/* Materials of MTL as other programs write them: what Tr, illum and colours mean, and whose a name is. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "unit/scene_obj_test.h"

static void assert_told(const char *text) {
    if (text == NULL ? scene_obj_warnings[0] != '\0' : strstr(scene_obj_warnings, text) == NULL)
        fail_msg("%s", scene_obj_warnings);
}

static mote_scene *read_with(mote_context *ctx, const char *mtl) {
    scene_obj_warnings[0] = '\0';
    scene_obj_text("one.mtl", mtl);
    return scene_obj_read_text(ctx, "mtllib one.mtl\n" CORNERS "usemtl a\n" SQUARE, NULL);
}

/* Programs do not agree what Tr is: d is believed, and nothing is hidden because of Tr alone. */
void what_tr_means(void **state) {
    (void)state;
    static const struct {
        const char *lines;
        double opacity; /* 1: opaque */
        const char *warning;
    } cases[] = {
        {"d 1\nTr 1", 1, "line 3: Tr 1, and d 1"},
        {"Tr 1\nd 1", 1, "line 2: Tr 1, and d 1"},
        {"Tr 1.000000", 1, "1 materials have Tr that is not believed"},
        {"Tr 5", 1, "line 2: Tr 1"},
        {"d 0.25\nTr 0.25", 0.25, "line 3: Tr 0.25, and d 0.25"},
        {"d 0.25\nTr 0.75", 0.25, NULL},
        {"d 0.9\nTr 0.1", (double)0.9f, NULL},
        {"d 0\nTr 1", 0, NULL},
        {"Tr 0", 1, NULL},
        {"d 0", 0, NULL},
    };
    mote_context *ctx = scene_obj_listening();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char mtl[100];
        snprintf(mtl, sizeof mtl, "newmtl a\n%s\n", cases[i].lines);
        mote_scene *scene = read_with(ctx, mtl);
        const photon_surface *const s = scene->view.surfaces;
        if (cases[i].opacity == 1 ? s->alpha != MOTE_ALPHA_OPAQUE : s->opacity != cases[i].opacity) {
            fail_msg("%s: %g", cases[i].lines, s->opacity);
        }
        assert_told(cases[i].warning);
        mote_scene_destroy(scene);
    }
    mote_context_destroy(ctx);
}

/* What is said of glass and mirrors is used, or told. */
void illumination_models_keep_textures(void **state) {
    (void)state;
    mote_context *ctx = scene_obj_listening();
    test_write_file(test_path("one.png"), scene_obj_png, sizeof scene_obj_png);
    for (int model = 3; model <= 9; model++) {
        char mtl[100];
        const bool mirror = model == 3 || model == 5, clear = model != 8 && !mirror;
        snprintf(mtl, sizeof mtl, "newmtl a\nKd 1 1 1\nKs 0 1 0\nillum %d\nd 0.5\n", model);
        mote_scene *scene = read_with(ctx, mtl);
        assert_told(clear ? "d or Tr of glass" : NULL);
        assert_true((scene->view.surfaces[0].alpha == MOTE_ALPHA_BLEND) == !clear);
        mote_scene_destroy(scene);
#ifdef MOTE_HAVE_PNG
        strcat(mtl, "map_Kd one.png\n");
        scene = read_with(ctx, mtl);
        assert_told(clear ? "1 materials of glass have a texture" : NULL);
        assert_int_equal(scene->view.surfaces[0].kind, mirror ? MOTE_MATERIAL_MIRROR : MOTE_MATERIAL_DIFFUSE);
        assert_true(scene->view.surfaces[0].alpha == MOTE_ALPHA_BLEND && scene->view.surfaces[0].opacity == 0.5);
        photon_hit hit;
        for (double x = 0.3; hit = scene_obj_hit(scene, x, 0.2), hit.shape == PHOTON_NO_SHAPE;) x += 0.001;
        const photon_vec c = photon_color_at(&scene->view, &hit);
        if (!(c.x > 0.9 && c.y < 0.1)) fail_msg("illum %d: %g %g %g", model, c.x, c.y, c.z);
        mote_scene_destroy(scene);
#endif
    }
    mote_context_destroy(ctx);
}

/* Colours of 0..255, and of 0..65535, of materials and of places. */
void colours_may_be_bytes(void **state) {
    (void)state;
    mote_context *ctx = scene_obj_listening();
    mote_scene *scene = read_with(ctx, "newmtl a\nKd 51 0 255\nnewmtl b\nKd 1 1 1\nnewmtl c\nKe 9 9 9\n");
    assert_told("1 files have colours beyond 1; the first: ");
    const photon_surface *const s = scene->view.surfaces;
    assert_true(s[0].color.x == 0.2 && s[0].color.y == 0 && s[0].color.z == 1);
    assert_true(fabs(s[1].color.x - 1 / 255.0) < 1e-12 && s[2].color.x == 0.8 && s[2].emission.x == 9);
    mote_scene_destroy(scene);
    scene = read_with(ctx, "newmtl a\nKd 1.5 0.5 0\n");
    assert_told("materials of up to 1.5: taken as 1");
    assert_true(scene->view.surfaces[0].color.x == 1 && scene->view.surfaces[0].color.y == 0.5);
    mote_scene_destroy(scene);
    scene = read_with(ctx, "newmtl a\nKd 65535 0 0\n");
    assert_told("taken as of 65535");
    mote_scene_destroy(scene);
    scene_obj_warnings[0] = '\0';
    scene = scene_obj_read_text(ctx, "v 0 0 0 255 0 0\nv 1 0 0 255 0 0\nv 1 1 0 255 0 0\nv 0 1 0\nf 1 2 3\nf 1 3 4\n",
                                NULL);
    assert_told("colours of v of up to 255: taken as of 255");
    photon_hit hit = scene_obj_hit(scene, 0.6, 0.3);
    photon_vec c = photon_color_at(&scene->view, &hit);
    assert_true(fabs(c.x - 1) < 1e-6 && c.y == 0);
    hit = scene_obj_hit(scene, 1e-6, 1 - 2e-6);
    c = photon_color_at(&scene->view, &hit);
    assert_true(fabs(c.x - 1) < 1e-4 && fabs(c.y - 1) < 1e-4); /* what has no colour is white */
    mote_scene_destroy(scene);
    mote_context_destroy(ctx);
}

/* Of the files of one mtllib the first that has a name counts; faces have what stands before them. */
void names_are_those_of_the_library_before(void **state) {
    (void)state;
    static const struct {
        const char *lines;
        const char *red; /* of each square: is it red, of r.mtl, or blue, of b.mtl? */
    } cases[] = {
        {"mtllib r.mtl b.mtl\nusemtl m\n" SQUARE, "r"},
        {"mtllib b.mtl r.mtl\nusemtl m\n" SQUARE, "b"},
        {"mtllib r.mtl\nusemtl m\n" SQUARE "mtllib b.mtl\n" SQUARE "usemtl m\n" SQUARE, "rrb"},
        {"usemtl m\n" SQUARE "mtllib r.mtl\nmtllib b.mtl\nusemtl m\n" SQUARE, "rb"},
        {"usemtl m # one\n" SQUARE "mtllib r.mtl\nmtllib b.mtl\nusemtl m # two\n" SQUARE, "rb"},
        {"mtllib none.mtl r.mtl\nusemtl m\n" SQUARE "mtllib none.mtl\nusemtl m\n" SQUARE, "rr"},
    };
    mote_context *ctx = scene_obj_listening();
    scene_obj_text("r.mtl", "newmtl m\nKd 1 0 0\nnewmtl other\nnewmtl m\nKd 1 0 0\n");
    scene_obj_text("b.mtl", "newmtl m\nKd 0 1 0\nnewmtl m\nKd 0 0 1\n");
    scene_obj_text("none.mtl", "newmtl n\nKd 0 1 0\n");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char obj[600];
        snprintf(obj, sizeof obj, CORNERS "%s", cases[i].lines);
        mote_scene *scene = scene_obj_read_text(ctx, obj, NULL);
        int red = 0, blue = 0, reds = 0;
        for (const char *c = cases[i].red; *c != '\0'; c++) reds += 2 * (*c == 'r');
        for (uint32_t t = 0; t < scene->view.shape_count; t++) {
            const photon_vec c = scene->view.surfaces[scene->shapes[t].material].color;
            red += c.x == 1;
            blue += c.z == 1;
        }
        if (red != reds || red + blue != 2 * (int)strlen(cases[i].red)) fail_msg("%zu: %d red, %d blue", i, red, blue);
        mote_scene_destroy(scene);
    }
    mote_context_destroy(ctx);
}

/* What may have been meant as newmtl, and what stands before the first one, is told. */
void words_of_materials_are_told(void **state) {
    (void)state;
    mote_context *ctx = scene_obj_listening();
    mote_scene_destroy(read_with(ctx, "newmtl a\n\xEF\xBB\xBFnewmtl b\nKd 1 0 0\n"));
    assert_told(NULL);
    mote_scene_destroy(read_with(ctx, "newmtl a\n?newmtl b\n"));
    assert_told("one.mtl: line 2: ?newmtl");
    mote_scene_destroy(read_with(ctx, "Kd 1 1 1\nnewmtl a\n"));
    assert_told("one.mtl: line 1: Kd before the first newmtl");
    mote_context_destroy(ctx);
}
