/* OBJ and MTL as other programs write them: what is missing or wrong costs a note, not the scene; names of files; how a
   texture lies. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "unit/scene_obj_test.h"

/* A PNG of one red pixel. */
const uint8_t scene_obj_png[73] = {0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0x00, 0x00, 0x00, 0x0d, 0x49, 0x48,
                                   0x44, 0x52, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x01, 0x08, 0x02, 0x00, 0x00,
                                   0x00, 0x90, 0x77, 0x53, 0xde, 0x00, 0x00, 0x00, 0x0c, 0x49, 0x44, 0x41, 0x54, 0x78,
                                   0x9c, 0x63, 0xf8, 0xcf, 0xc0, 0x00, 0x00, 0x03, 0x01, 0x01, 0x00, 0xc9, 0xfe, 0x92,
                                   0xef, 0x00, 0x00, 0x00, 0x00, 0x49, 0x45, 0x4e, 0x44, 0xae, 0x42, 0x60, 0x82};

char scene_obj_warnings[4096];

static void keep_warning(void *user, mote_log_level level, const char *message) {
    (void)user;
    if (level != MOTE_LOG_WARNING) return;
    const size_t length = strlen(scene_obj_warnings);
    snprintf(scene_obj_warnings + length, sizeof scene_obj_warnings - length, "%s\n", message);
}

mote_context *scene_obj_listening(void) {
    mote_context_params params = mote_context_defaults();
    mote_context *ctx = NULL;
    params.threads = 1;
    params.log = keep_warning;
    scene_obj_warnings[0] = '\0';
    assert_int_equal(mote_context_create(&params, &ctx), MOTE_OK);
    return ctx;
}

void scene_obj_text(const char *name, const char *text) { test_write_file(test_path(name), text, strlen(text)); }

mote_scene *scene_obj_read_text(mote_context *ctx, const char *text, mote_scene_facts *facts) {
    mote_scene *scene = NULL;
    scene_obj_text("a.obj", text);
    if (mote_scene_read(ctx, test_path("a.obj"), &scene, facts) != MOTE_OK) fail_msg("%s", mote_context_message(ctx));
    return scene;
}

/* A text, how many triangles are left, and what is told of it; NULL: nothing. */
typedef struct note_case {
    const char *text;
    uint64_t triangles;
    const char *warning;
} note_case;

#define LEFT_OUT "lines that cannot be read are left out; the first: line "

static const note_case lines_with_faults[] = {
    {CORNERS "f 1 2\nf 1\nf\n" SQUARE, 2, "3 " LEFT_OUT "9: f has 2 corners, needs 3"},
    {CORNERS "f 1 2 x\n" SQUARE, 2, "1 " LEFT_OUT "9: f: \"x\" is no corner"},
    {CORNERS "f 1 2 5\nf 1 2 -5\nf 0 1 2\nf 1 2 99999999999999999999\n" SQUARE, 2,
     "4 " LEFT_OUT "9: f: corner \"5\": there are 4 positions"},
    {CORNERS "f 1 2 \x1B[2J\n" SQUARE, 2, "f: \"\x1B[2J\" is no corner"},
    {CORNERS "f 1 2 3\x01\n" SQUARE, 2, "f: \"3\x01\" is no corner"},
    {CORNERS "f 1 2 \xC3\xA9\n" SQUARE, 2, "f: \"\xC3\xA9\" is no corner"},
    {CORNERS "f 1 2 - 3\n" SQUARE, 2, "\"-\" is no corner"},
    {CORNERS "f 1//x 2/y 3\n" SQUARE, 2, "\"2/y\" is no corner"},
    {CORNERS "f 1/9 2/9 3/9\n" SQUARE, 3,
     "3 corners have texture coordinates that are not there: 0 0 is taken; the first: line 9: f: corner \"1/9\""},
    {CORNERS "l 1 2\np 1\n" SQUARE, 2,
     "2 lines, points and curves are left out: faces alone are drawn; the first: line 9: l"},
    /* A position that cannot be read keeps its number. */
    {"v x 0 0\n" CORNERS "f 1 2 3\nf 2/1 3/2 4/3 5/4\n", 2, "2 " LEFT_OUT "1: v: \"x\" is not a finite number"},
    {"v 1e999 0 0\n" CORNERS "f 2/1 3/2 4/3\n", 1, "1 " LEFT_OUT "1: v: \"1e999\""},
    {"v 1 2\n" CORNERS "f -4 -3 -2\n", 1, "1 " LEFT_OUT "1: v has 2 numbers, needs 3"},
    {"vt a\n" CORNERS "f 1/2 2/3 3/4\n", 1, "1 " LEFT_OUT "1: vt: \"a\""},
    {"vt 1e300\n" CORNERS SQUARE, 2, "1 " LEFT_OUT "1: vt: a number beyond floats"},
    /* These are right. */
    {"v 0 0 0#one\nv 1 0 0 # two\nv 1 1 0\nf 1 2 3#comment\n", 1, NULL},
    {SQUARE CORNERS, 2, NULL},
    {CORNERS "f 1 2 \\\n 3 4\n", 2, NULL},
    {"v 0 0 0\rv 1 0 0\rv 1 1 0\\\r\r\nf 1 2\\\r 3\r", 1, NULL},
    {"\xEF\xBB\xBFv 0 0 0\r\nv 1 0 0\nv 1 1 0\rf 1 2 3", 1, NULL},
    {CORNERS "g a\no b\ns off\nvn 0 0 1\nf 1//1 2//1 3//1\nf 4/ 3/ 2/\n", 2, NULL},
    /* What stands before a word, and words that nobody knows. */
    {"v 0 0 0\nv 1 0 0\n\xEF\xBB\xBFv 1 1 0\n \xC2\xA0\xEF\xBB\xBF\tf 1 2 3\n", 1, NULL},
    {"\xE3\x80\x80v 0 0 0\n\xE2\x80\x8Bv 1 0 0\nv 1 1 0\nf 1 2 3\n", 1, NULL},
    {CORNERS "V 1 2 3\nF 1 2 3\nv\xC2\xA0"
             "1 2 3\n" SQUARE,
     2, "3 lines begin with a word that is not known, and are left out; the first: line 9: \"V\""},
    {CORNERS "v nan nan nan\n" SQUARE, 2, "1 " LEFT_OUT "9: v: \"nan\""},
    {CORNERS "call b.obj\n" SQUARE, 2, "1 lines begin with a word that is not known"},
    /* Materials. */
    {"mtllib gone.mtl\n" CORNERS "usemtl red\n" SQUARE, 2,
     "1 files of materials cannot be read; the first: line 1: mtllib: there is no file \"gone.mtl\" in the folder"},
    {"mtllib gone.mtl\n" CORNERS "usemtl red\n" SQUARE "usemtl blue\n" SQUARE, 4,
     "2 times usemtl names no material that is known: grey of 0.8 is taken; the first: line 10: usemtl red"},
    {CORNERS "usemtl\n" SQUARE, 2, "1 times usemtl names no material that is known"},
    {"mtllib\n" CORNERS SQUARE, 2, "1 " LEFT_OUT "1: mtllib names no file"},
    {"mtllib /etc/passwd\nmtllib x/../../y.mtl\nmtllib ..\\y.mtl\nmtllib http://x/y.mtl\n" CORNERS SQUARE, 2,
     "4 files of materials cannot be read; the first: line 1: mtllib: there is no file \"/etc/passwd\""},
    {"mtllib wide.mtl\n" CORNERS SQUARE, 2, "encoded as UTF-16LE, mote reads UTF-8"},
    {"mtllib bad.mtl\n" CORNERS "usemtl a\n" SQUARE, 2, "bad.mtl: line 2: Kd: \"xyz\" is not a finite number"},
    {"mtllib bad.mtl\n" CORNERS "usemtl a\n" SQUARE, 2, "a.obj: 6 lines that cannot be read are left out"},
    {"mtllib cut.mtl\n" CORNERS "usemtl a\n" SQUARE, 2,
     "1 textures cannot be read: the colour of the material is taken; the first: "},
};

photon_hit scene_obj_hit(const mote_scene *scene, double x, double y) {
    return photon_trace(&scene->view, photon_vec_of(x, y, 1), photon_vec_of(0, 0, -1));
}

/* Red, green and blue behind a place are those of a screen; a weight alone is none, and who has none is white. The
   grey of no material is not multiplied in. */
static void colours_of_places_are_used(void **state) {
    (void)state;
    mote_context *ctx = scene_obj_listening();
    mote_scene *scene = scene_obj_read_text(ctx,
                                            "v 0 0 0 1 0 0\nv 1 0 0 0 1 0 # green\nv 1 1 0 0 0 0.5 0.25\nv 0 1 0 0.5\n"
                                            "f 1 2 3\nf 1 3 4\n",
                                            NULL);
    const double tiny = 1e-5, half = pow((0.5 + 0.055) / 1.055, 2.4);
    static const double places[4][2] = {{2e-6, 1e-6}, {1 - 2e-6, 1e-6}, {1 - 2e-6, 1 - 3e-6}, {1e-6, 1 - 2e-6}};
    const double expected[4][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, half}, {1, 1, 1}};
    for (int i = 0; i < 4; i++) {
        const photon_hit hit = scene_obj_hit(scene, places[i][0], places[i][1]);
        assert_int_not_equal(hit.shape, PHOTON_NO_SHAPE);
        const photon_vec c = photon_color_at(&scene->view, &hit);
        const double *const e = expected[i];
        if (fabs(c.x - e[0]) + fabs(c.y - e[1]) + fabs(c.z - e[2]) > tiny) {
            fail_msg("corner %d: %g %g %g", i, c.x, c.y, c.z);
        }
    }
    const photon_hit middle = scene_obj_hit(scene, 0.75, 0.25);
    const photon_vec c = photon_color_at(&scene->view, &middle);
    assert_true(fabs(c.x - 0.25) < 1e-9 && fabs(c.y - 0.5) < 1e-9 && fabs(c.z - 0.25 * half) < 1e-7);
    assert_true(scene_obj_warnings[0] == '\0');
    mote_scene_destroy(scene);
    mote_context_destroy(ctx);
}

/* d and Tr let a share of the rays through; what has no effect is told once. */
static void materials_may_be_seen_through(void **state) {
    (void)state;
    mote_context *ctx = scene_obj_listening();
    scene_obj_text("through.mtl", "newmtl a\nKd 1 1 1\nd 0.25\nKa 1 1 1\nNs 10\nnewmtl b\nTr 0.25\nmap_Bump x.png\n"
                                  "map_d x.png\nnewmtl c\nd 1\n");
    mote_scene *scene =
        scene_obj_read_text(ctx, "mtllib through.mtl\n" CORNERS "usemtl a\n" SQUARE "usemtl b\n" SQUARE, NULL);
    const photon_surface *const s = scene->view.surfaces;
    assert_true(s[0].alpha == MOTE_ALPHA_BLEND && s[0].opacity == 0.25);
    assert_true(s[1].alpha == MOTE_ALPHA_BLEND && s[1].opacity == 0.75);
    assert_true(s[2].alpha == MOTE_ALPHA_OPAQUE);
    if (strstr(scene_obj_warnings, "2 properties of materials have no effect; the first: ") == NULL ||
        strstr(scene_obj_warnings, "through.mtl: line 8: map_Bump") == NULL) {
        fail_msg("%s", scene_obj_warnings);
    }
    mote_scene_destroy(scene);
    scene = scene_obj_read_text(ctx, "mtllib through.mtl\n" CORNERS "usemtl a\n" SQUARE, NULL);
    int through = 0;
    for (int i = 0; i < 4000; i++) { through += scene_obj_hit(scene, 0.1 + 0.0002 * i, 0.3).shape == PHOTON_NO_SHAPE; }
    assert_true(fabs(through / 4000.0 - 0.75) < 0.03);
    mote_scene_destroy(scene);
    mote_context_destroy(ctx);
}

#define MANY     30000
#define ROOM     ((size_t)80 * MANY)
#define MULTIPLE 7919 /* a prime: materials are used in a scattered order */

/* Tens of thousands of names: each is found at once. Of two materials of a name the last counts. */
static void many_names_are_found(void **state) {
    (void)state;
    mote_context *ctx = scene_obj_listening();
    mote_scene_facts facts;
    mote_scene *scene = NULL;
    char *const mtl = malloc(ROOM), *const obj = malloc(ROOM);
    assert_true(mtl != NULL && obj != NULL);
    size_t mtl_bytes = 0, obj_bytes = (size_t)snprintf(obj, ROOM, "mtllib many.mtl\n" CORNERS);
    for (int i = 0; i < MANY; i++) {
        mtl_bytes += (size_t)snprintf(mtl + mtl_bytes, ROOM - mtl_bytes, "newmtl m%d\nKd %d 0.5 0.5\n", i % (MANY / 2),
                                      i / (MANY / 2));
        obj_bytes += (size_t)snprintf(obj + obj_bytes, ROOM - obj_bytes, "v 0 %d 1\ng g%d\nusemtl m%d\nf 1 2 -1\n", -i,
                                      i, (int)((uint64_t)i * MULTIPLE % (MANY / 2)));
    }
    test_write_file(test_path("many.mtl"), mtl, mtl_bytes);
    test_write_file(test_path("many.obj"), obj, obj_bytes);
    assert_int_equal(mote_scene_read(ctx, test_path("many.obj"), &scene, &facts), MOTE_OK);
    assert_int_equal(facts.materials, MANY);
    for (uint32_t i = 0; i < scene->view.shape_count; i++) {
        assert_true(scene->view.surfaces[scene->shapes[i].material].color.x == 1);
    }
    mote_scene_destroy(scene);
    free(obj);
    free(mtl);
    mote_context_destroy(ctx);
}

static void what_is_wrong_costs_a_note(void **state) {
    (void)state;
    test_write_file(test_path("wide.mtl"), "n\0e\0w\0m\0t\0l\0", 12);
    scene_obj_text("bad.mtl", "newmtl a\nKd xyz\nKs 1 2\nillum 99\nNi x\nmap_Kd -s 2\nnewmtl\nKd 1 0 0\n");
    scene_obj_text("cut.mtl", "newmtl a\nmap_Kd cut.png\n");
    test_write_file(test_path("cut.png"), scene_obj_png, 40);
    for (size_t i = 0; i < sizeof lines_with_faults / sizeof lines_with_faults[0]; i++) {
        const note_case *const c = &lines_with_faults[i];
        mote_context *ctx = scene_obj_listening();
        mote_scene_facts facts;
        mote_scene *scene = scene_obj_read_text(ctx, c->text, &facts);
        if (facts.triangles != c->triangles) fail_msg("case %zu: %d triangles", i, (int)facts.triangles);
        if (c->warning == NULL ? scene_obj_warnings[0] != '\0' : strstr(scene_obj_warnings, c->warning) == NULL) {
            fail_msg("case %zu: %s", i, scene_obj_warnings);
        }
        mote_scene_destroy(scene);
        assert_int_equal(mote_context_memory_bytes(ctx), 0);
        mote_context_destroy(ctx);
    }
}

/* ---- libraries */

static void libraries_are_found(void **state) {
    (void)state;
    static const char *const lines[] = {"mtllib my red.mtl",
                                        "mtllib my red.mtl # of wood",
                                        "mtllib gone.mtl red.mtl",
                                        "mtllib red.mtl my red.mtl",
                                        "mtllib ./red.mtl",
                                        "mtllib sub\\..\\red.mtl",
                                        "mtllib sub/in.mtl",
                                        "mtllib C:\\scenes\\red.mtl",
                                        "mtllib /home/someone/red.mtl",
                                        "mtllib ../elsewhere/red.mtl",
                                        "mtllib bom.mtl",
                                        "mtllib \"red.mtl\"",
                                        "mtllib \"my red.mtl\"",
                                        "mtllib \"gone.mtl\" \"red.mtl\"",
                                        "mtllib RED.mtl",
                                        "mtllib C:\\scenes\\Red.MTL",
                                        "mtllib sub.mtl sub/IN.mtl",
                                        "mtllib cr.mtl"};
    mkdir(test_path("sub"), 0700);
    scene_obj_text("red.mtl", "newmtl red\nKd 1 0 0 # red\n");
    scene_obj_text("my red.mtl", "newmtl red\nKd 1 0 0\n");
    scene_obj_text("sub/in.mtl", "newmtl red\nkd 1 0 0\n");
    scene_obj_text("bom.mtl", "\xEF\xBB\xBFnewmtl red\nKd 1 0 0\n");
    scene_obj_text("cr.mtl", "newmtl red # the colour\rKd 1 0 0#red\r");
    for (size_t i = 0; i < 2 * (sizeof lines / sizeof lines[0]); i++) {
        char text[1024];
        mote_context *ctx = scene_obj_listening();
        /* The library may stand behind what uses it. */
        snprintf(text, sizeof text, "%s\n" CORNERS "usemtl red\n" SQUARE "%s\n", i % 2 == 0 ? lines[i / 2] : "",
                 i % 2 == 1 ? lines[i / 2] : "");
        mote_scene *scene = scene_obj_read_text(ctx, text, NULL);
        const photon_surface *s = &scene->view.surfaces[scene->view.shapes[0].material];
        if (s->color.x != 1 || s->color.y != 0) fail_msg("%s", lines[i / 2]);
        if (strstr(scene_obj_warnings, "usemtl") != NULL) fail_msg("%s: %s", lines[i / 2], scene_obj_warnings);
        mote_scene_destroy(scene);
        mote_context_destroy(ctx);
    }
}

/* Names with blanks and #, with which two materials differ, stay two. */
static void names_of_materials_are_whole(void **state) {
    (void)state;
    mote_context *ctx = scene_obj_listening();
    scene_obj_text("two.mtl", "newmtl wood #1\nKd 1 0 0\nnewmtl wood #2\nKd 0 1 0\n");
    mote_scene *scene = scene_obj_read_text(
        ctx, "mtllib two.mtl\nmtllib two.mtl\n" CORNERS "usemtl wood #1\nf 1 2 3\nusemtl wood #2\nf 1 3 4\n", NULL);
    int red = 0, green = 0;
    for (uint32_t i = 0; i < 2; i++) {
        const photon_surface *s = &scene->view.surfaces[scene->view.shapes[i].material];
        red += s->color.x == 1;
        green += s->color.y == 1;
    }
    assert_true(red == 1 && green == 1 && scene_obj_warnings[0] == '\0');
    mote_scene_destroy(scene);
    mote_context_destroy(ctx);
}

/* ---- textures */

#ifdef MOTE_HAVE_PNG
/* A line of map_Kd, where the corner with vt 1 1 lies, whether beyond 0..1 the border shows, and what is told. */
typedef struct map_case {
    const char *line;
    float u, v;
    bool clamp;
    const char *warning;
} map_case;

static const map_case maps[] = {
    {"map_Kd red.png", 1, 0, false, NULL},
    {"map_kd red.png", 1, 0, false, NULL},
    {"map_Kd -s 2 2 red.png", 2, -1, false, NULL},
    {"map_Kd -s 2 3 1 red.png", 2, -2, false, NULL},
    {"map_Kd -s 2 red.png", 2, 0, false, NULL},
    {"map_Kd -o 0.25 red.png", 1.25f, 0, false, NULL},
    {"map_Kd -o 0.25 0.5 0 -s 2 2 1 -clamp on red.png", 2.25f, -1.5f, true, NULL},
    {"map_Kd red.png -s 2 2", 2, -1, false, NULL},
    {"map_Kd red.png -bm 1 -clamp on", 1, 0, true, NULL},
    {"map_Kd red.png # the wood -s 2 2", 1, 0, false, NULL},
    {"map_Kd -blendu off -blendv on -boost 2 -bm 0.5 -texres 64 -type sphere -clamp off red.png", 1, 0, false, NULL},
    {"map_Kd -t 1 1 1 -mm 0 1 -cc on -imfchan l red.png", 1, 0, false,
     "4 options of map_Kd have no effect; the first: "},
    {"map_Kd -colorspace sRGB red.png", 1, 0, false, "1 options of map_Kd have no effect"},
    {"map_Kd -strange red.png", 1, 0, false, "map_Kd -strange"},
    {"map_Kd -strange 1 2 on -s 2 2 red.png", 2, -1, false, "map_Kd -strange"},
    {"map_Kd -strange word my red.png", 1, 0, false, "map_Kd -strange"},
    {"map_Kd my red.png", 1, 0, false, NULL},
    {"map_Kd my red.png -o 1 1", 2, -1, false, NULL},
    {"map_Kd a -s 2 2.png", 1, 0, false, NULL},
    {"map_Kd \\textures\\red.png", 1, 0, false, NULL},
    {"map_Kd D:\\work\\red.png", 1, 0, false, NULL},
    {"map_Kd ../up.png", 1, 0, false, NULL},
    {"map_Kd ./../lib/./red.png", 1, 0, false, NULL},
    {"map_Kd beside.png", 1, 0, false, NULL},
    {"map_Kd -o nan red.png", 1, 0, false, "there is no file \"nan red.png\""},
    {"map_Kd gone.png", 1, 0, false, "1 textures cannot be read: the colour of the material is taken; the first: "},
    {"map_Kd gone.png -s 2 2", 1, 0, false, "there is no file \"gone.png\" in the folder of the scene or below it"},
    {"map_Kd ../../out.png", 1, 0, false, "there is no file \"../../out.png\""},
};

static void maps_lie_as_their_options_say(void **state) {
    (void)state;
    static const char *const images[] = {"lib/red.png", "lib/my red.png", "lib/a -s 2 2.png", "up.png", "beside.png"};
    mkdir(test_path("lib"), 0700);
    for (size_t i = 0; i < sizeof images / sizeof images[0]; i++)
        test_write_file(test_path(images[i]), scene_obj_png, sizeof scene_obj_png);
    for (size_t i = 0; i < sizeof maps / sizeof maps[0]; i++) {
        char text[256];
        mote_context *ctx = scene_obj_listening();
        mote_scene_facts facts;
        snprintf(text, sizeof text, "newmtl a\nKd 1 1 1\n%s\n", maps[i].line);
        scene_obj_text("lib/a.mtl", text);
        mote_scene *scene = scene_obj_read_text(ctx, "mtllib lib/a.mtl\n" CORNERS "usemtl a\nf 1/1 2/2 3/3\n", &facts);
        const bool found = maps[i].warning == NULL || strstr(maps[i].warning, "map_Kd ") != NULL ||
                           strstr(maps[i].warning, "options") != NULL;
        if (facts.textures != (found ? 1u : 0u)) fail_msg("%s: %d textures", maps[i].line, (int)facts.textures);
        const photon_corners *at = &scene->corners[0];
        if (found && (at->u[2] != maps[i].u || at->v[2] != maps[i].v)) {
            fail_msg("%s: %g %g", maps[i].line, (double)at->u[2], (double)at->v[2]);
        }
        const uint32_t wrap = maps[i].clamp ? MOTE_TEXTURE_CLAMP : MOTE_TEXTURE_REPEAT;
        if (found && scene->view.textures[0].wrap_u != wrap) fail_msg("%s: clamp", maps[i].line);
        if (maps[i].warning == NULL ? scene_obj_warnings[0] != '\0'
                                    : strstr(scene_obj_warnings, maps[i].warning) == NULL) {
            fail_msg("%s: %s", maps[i].line, scene_obj_warnings);
        }
        mote_scene_destroy(scene);
        assert_int_equal(mote_context_memory_bytes(ctx), 0);
        mote_context_destroy(ctx);
    }
}
#endif

/* Names never lead out of the scene's folder: a file there is not even looked at. */
static void files_outside_are_not_read(void **state) {
    (void)state;
    mote_context *ctx = scene_obj_listening();
    mote_scene *scene = NULL;
    mkdir(test_path("inner"), 0700);
    scene_obj_text("secret.mtl", "newmtl a\nKd 1 0 0\n");
    scene_obj_text("inner/a.obj", "mtllib ../secret.mtl\nmtllib x/../../secret.mtl\n" CORNERS "usemtl a\n" SQUARE);
    assert_int_equal(mote_scene_read(ctx, test_path("inner/a.obj"), &scene, NULL), MOTE_OK);
    assert_non_null(strstr(scene_obj_warnings, "2 files of materials cannot be read"));
    assert_true(scene->view.surfaces[0].color.x == 0.8);
    mote_scene_destroy(scene);
    mote_context_destroy(ctx);
}

static mote_status read_scene(mote_context *ctx, void *user) {
    mote_scene *scene = NULL;
    const mote_status status = mote_scene_read(ctx, user, &scene, NULL);
    mote_scene_destroy(scene);
    return status;
}

static void every_allocation_may_fail(void **state) {
    (void)state;
    const char *const path = test_path("failing.obj");
    scene_obj_text("failing.mtl", "newmtl a\nKd 2 3 4\nTr 1\nmap_Kd -s 2 2 failing.png\nmap_Kd gone.png\nnewmtl a\n");
    test_write_file(test_path("failing.png"), scene_obj_png, sizeof scene_obj_png);
    scene_obj_text("failing.obj", "mtllib failing.mtl gone.mtl\nv x\nv 1 2 3 9 9 9\n" CORNERS
                                  "usemtl b\nf 2 3 4\nusemtl a\nf 2/1 3/2 4/3\n");
    test_each_allocation_fails(read_scene, (void *)(uintptr_t)path);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_wrong_costs_a_note),
        cmocka_unit_test(colours_of_places_are_used),
        cmocka_unit_test(materials_may_be_seen_through),
        cmocka_unit_test(many_names_are_found),
        cmocka_unit_test(libraries_are_found),
        cmocka_unit_test(names_of_materials_are_whole),
#ifdef MOTE_HAVE_PNG
        cmocka_unit_test(maps_lie_as_their_options_say),
#endif
        cmocka_unit_test(what_tr_means),
        cmocka_unit_test(illumination_models_keep_textures),
        cmocka_unit_test(colours_may_be_bytes),
        cmocka_unit_test(names_are_those_of_the_library_before),
        cmocka_unit_test(words_of_materials_are_told),
        cmocka_unit_test(files_outside_are_not_read),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
