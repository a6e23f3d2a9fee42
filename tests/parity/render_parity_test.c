/* Pictures of the GPU are those of the CPU, byte for byte. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mote/render.h"
#include "parity/parity_support.h"

#define ARRAYS      5
#define GUARD_BYTES 8u /* behind each array, which nobody may write */

typedef struct answer {
    mote_render_result result;
    void *array[ARRAYS];
    uint64_t size_bytes[ARRAYS];
} answer;

static void take_answer(answer *a, const mote_render_params *p) {
    const uint64_t pixels =
        (uint64_t)(p->part_width > 0 ? p->part_width : p->width) * (p->part_width > 0 ? p->part_height : p->height);
    const uint64_t sizes[ARRAYS] = {4 * pixels, 8 * pixels, 4 * pixels, 12 * pixels, 4 * pixels};
    memset(a, 0, sizeof *a);
    for (int i = 0; i < ARRAYS; i++) {
        a->size_bytes[i] = sizes[i] + GUARD_BYTES;
        a->array[i] = malloc(a->size_bytes[i]);
        assert_non_null(a->array[i]);
        memset(a->array[i], 0x5A, a->size_bytes[i]);
    }
}

static void free_answer(answer *a) {
    for (int i = 0; i < ARRAYS; i++) free(a->array[i]);
}

/* wanted: arrays, by bit. */
static void point_at(mote_render_result *result, void *const array[ARRAYS], unsigned wanted) {
    result->color8 = (wanted & 1) != 0 ? array[0] : NULL;
    result->color16 = (wanted & 2) != 0 ? array[1] : NULL;
    result->depth = (wanted & 4) != 0 ? array[2] : NULL;
    result->normal = (wanted & 8) != 0 ? array[3] : NULL;
    result->index = (wanted & 16) != 0 ? array[4] : NULL;
}

static void same_answers(const answer *a, const answer *b, const char *what) {
    static const char *const names[ARRAYS] = {"color8", "color16", "depth", "normal", "index"};
    for (int i = 0; i < ARRAYS; i++) {
        const uint8_t *one = a->array[i], *other = b->array[i];
        for (uint64_t at = 0; at < a->size_bytes[i]; at++) {
            if (one[at] == other[at]) continue;
            fail_msg("%s: %s differs at byte %llu of %llu", what, names[i], (unsigned long long)at,
                     (unsigned long long)a->size_bytes[i]);
        }
    }
    assert_int_equal(a->result.covered, b->result.covered);
    assert_int_equal(a->result.closed, b->result.closed);
    assert_int_equal(a->result.seen, b->result.seen);
    assert_int_equal(a->result.splats, b->result.splats);
    assert_int_equal(a->result.batches, b->result.batches);
    assert_true(a->result.iterations == b->result.iterations);
    assert_true(a->result.normal_error_deg == b->result.normal_error_deg);
    assert_true(a->result.normal_error_deviation_deg == b->result.normal_error_deviation_deg);
}

static void must(mote_context *ctx, mote_status status, const char *what) {
    if (status != MOTE_OK) fail_msg("%s: %s", what, mote_context_message(ctx));
}

/* ---- a renderer of each, and frames of both */

typedef struct twins {
    parity_pair *pair;
    mote_renderer *cpu, *cuda;
    const char *name;
} twins;

static bool open_twins(twins *t, void **state, const mote_cloud *cloud, const char *name) {
    t->pair = *state;
    t->name = name;
    const mote_status status = mote_render_create(t->pair->cpu, cloud, &t->cpu);
    assert_int_equal(mote_render_create(t->pair->cuda, cloud, &t->cuda), status);
    if (status == MOTE_OK) return true;
    assert_string_equal(mote_context_message(t->pair->cuda), mote_context_message(t->pair->cpu));
    mote_context_clear(t->pair->cuda);
    mote_context_clear(t->pair->cpu);
    return false;
}

static void close_twins(twins *t) {
    mote_render_destroy(t->cpu);
    mote_render_destroy(t->cuda);
}

static void draw_on_device(const twins *t, const mote_camera *camera, const mote_render_params *params, unsigned wanted,
                           answer *a, const char *what) {
    mote_context *ctx = t->pair->cuda;
    void *device[ARRAYS];
    for (int i = 0; i < ARRAYS; i++) {
        device[i] = mote_device_alloc(ctx, a->size_bytes[i]);
        assert_non_null(device[i]);
        must(ctx, mote_device_copy(ctx, device[i], a->array[i], a->size_bytes[i]), what);
    }
    point_at(&a->result, device, wanted);
    a->result.on_device = true;
    must(ctx, mote_render_draw(t->cuda, camera, params, &a->result), what);
    for (int i = 0; i < ARRAYS; i++) {
        must(ctx, mote_device_copy(ctx, a->array[i], device[i], a->size_bytes[i]), what);
        mote_device_free(ctx, device[i]);
    }
}

static void compare(const twins *t, const mote_camera *camera, const mote_render_params *params, unsigned wanted,
                    bool on_device) {
    char what[200];
    answer cpu, cuda;
    if (!parity_is_mine()) return;
    snprintf(what, sizeof what, "%s, mode %d, %u x %u x %u, show %d, %d layers, wanted %u%s", t->name,
             (int)params->mode, params->width, params->height, params->samples, (int)params->show, (int)params->layers,
             wanted, on_device ? ", on the device" : "");
    take_answer(&cpu, params);
    take_answer(&cuda, params);
    point_at(&cpu.result, cpu.array, wanted);
    must(t->pair->cpu, mote_render_draw(t->cpu, camera, params, &cpu.result), what);
    if (on_device) {
        draw_on_device(t, camera, params, wanted, &cuda, what);
    } else {
        point_at(&cuda.result, cuda.array, wanted);
        must(t->pair->cuda, mote_render_draw(t->cuda, camera, params, &cuda.result), what);
    }
    same_answers(&cpu, &cuda, what);
    free_answer(&cpu);
    free_answer(&cuda);
}

/* A camera that sees the cloud, from one of some sides, near or far; false where there is nothing to see. */
static bool look(const twins *t, uint32_t turn, const mote_render_params *params, mote_camera *camera) {
    static const double from[][3] = {{0.3, -1, 0.5}, {0, 0, 1}, {-1, 0.2, -0.3}, {1, 1, 1}, {0, 1, 0}};
    static const double nearer[] = {1, 0.5, 3, 0.1};
    *camera = mote_camera_defaults();
    camera->projection = turn % 3 == 1 ? MOTE_ORTHOGRAPHIC : MOTE_PERSPECTIVE;
    if (mote_render_fit(t->cpu, camera, from[turn % 5], params) != MOTE_OK) {
        mote_context_clear(t->pair->cpu);
        return false;
    }
    for (int k = 0; k < 3; k++) {
        camera->eye[k] = camera->target[k] + (camera->eye[k] - camera->target[k]) * nearer[turn % 4];
    }
    return true;
}

/* Settings of all kinds, one after the other. */
static mote_render_params settings(uint32_t turn) {
    mote_render_params p = mote_render_defaults();
    p.mode = (mote_render_mode)(turn % 3);
    p.width = 17 + turn * 7 % 50;
    p.height = 11 + turn * 13 % 40;
    p.samples = 1 + turn / 2 % 3;
    p.layers = 1 + turn % 4;
    p.point_size = turn % 5;
    p.k = 4 + turn % 9;
    p.share = 3 + turn % 11;
    p.edl_strength = turn % 4 == 0 ? 0 : 0.7;
    p.close_pixels = turn % 5;
    p.light_count = turn % 4 == 3 ? 0 : 2;
    p.lights[1] = p.lights[0];
    p.lights[1].world = true;
    p.lights[1].color[1] = 90;
    if (p.mode == MOTE_RENDER_SURFACE) p.show = (mote_render_show)(turn / 3 % 5);
    if (p.mode != MOTE_RENDER_SURFACE && turn % 7 == 6) p.show = MOTE_RENDER_SHOW_DEPTH;
    memset(p.background, (int)(turn * 40 % 256), sizeof p.background);
    return p;
}

/* ---- tests */

static void awkward_clouds_look_the_same(void **state) {
    static const uint64_t sizes[] = {0, 1, 2, 3, 31, 33, 128, 300, 1025, 2100};
    static const unsigned wanted[] = {31, 1, 4, 16, 9, 31, 2};
    const uint32_t step = (uint32_t)parity_extent(11, 2, 1);
    uint32_t turn = 0;
    for (uint32_t c = 0; c < awkward_cloud_count; c += step) {
        for (uint32_t s = turn % 4; s < sizeof sizes / sizeof sizes[0]; s += 4, turn++) {
            parity_pair *pair = *state;
            mote_cloud *cloud = awkward_cloud_make(pair->cpu, &awkward_clouds[c], sizes[s], 0);
            twins t;
            assert_non_null(cloud);
            if (open_twins(&t, state, cloud, awkward_clouds[c].name)) {
                for (uint32_t frame = 0; frame < 3; frame++) {
                    const mote_render_params p = settings(turn * 3 + frame);
                    mote_camera camera = mote_camera_defaults();
                    look(&t, turn + frame, &p, &camera);
                    compare(&t, &camera, &p, wanted[(turn + frame) % 7], (turn + frame) % 4 == 1);
                }
            }
            close_twins(&t);
            mote_cloud_destroy(cloud);
        }
    }
}

static void generated_clouds_look_the_same(void **state) {
    static const char *const kinds[] = {"uniform", "clusters", "torus", "city", "room", "lattice"};
    const uint64_t count = parity_extent(1500, 3000, 400000);
    parity_pair *pair = *state;
    for (uint32_t c = 0; c < sizeof kinds / sizeof kinds[0]; c++) {
        mote_cloud *cloud = NULL;
        twins t;
        must(pair->cpu, mote_generate(pair->cpu, kinds[c], count, NULL, &cloud), kinds[c]);
        assert_true(open_twins(&t, state, cloud, kinds[c]));
        for (uint32_t frame = 0; frame < 10; frame++) { /* a camera that moves: what stands behind is left out */
            mote_render_params p = settings(frame * 5 + c);
            mote_camera camera;
            p.width = p.height = (uint32_t)parity_extent(40, 60, 700);
            assert_true(look(&t, frame, &p, &camera));
            for (int k = 0; k < 3 && frame >= 6; k++) { /* so far away that batches are smaller than a pixel */
                camera.eye[k] += (frame < 8 ? 10 : 100) * (camera.eye[k] - camera.target[k]);
            }
            compare(&t, &camera, &p, 31, frame == 2);
        }
        close_twins(&t);
        mote_cloud_destroy(cloud);
    }
}

/* Pixels that are one sample each, in the colours of points: they have a kernel of their own. */
static mote_render_params plain_settings(uint32_t turn) {
    mote_render_params p = mote_render_defaults();
    p.mode = turn % 2 == 0 ? MOTE_RENDER_POINTS : MOTE_RENDER_AVERAGE;
    p.width = (uint32_t)parity_extent(37, 67, 701);
    p.height = (uint32_t)parity_extent(29, 41, 411);
    p.edl_strength = 0;
    p.close_pixels = 0;
    p.light_count = turn % 3;
    p.lights[1] = p.lights[0];
    memset(p.background, (int)(turn * 40 % 256), sizeof p.background);
    return p;
}

static void plain_pixels_look_the_same(void **state) {
    static const char *const kinds[] = {"torus", "city", "lattice"};
    const uint64_t count = parity_extent(1500, 3000, 400000);
    parity_pair *pair = *state;
    for (uint32_t c = 0; c < sizeof kinds / sizeof kinds[0]; c++) {
        mote_cloud *cloud = NULL;
        twins t;
        must(pair->cpu, mote_generate(pair->cpu, kinds[c], count, NULL, &cloud), kinds[c]);
        assert_true(open_twins(&t, state, cloud, kinds[c]));
        for (uint32_t turn = 0; turn < 8; turn++) {
            const mote_render_params p = plain_settings(turn + c);
            mote_camera camera;
            assert_true(look(&t, turn, &p, &camera));
            compare(&t, &camera, &p, turn % 4 < 2 ? 5 : 1, turn % 2 == 0);
        }
        close_twins(&t);
        mote_cloud_destroy(cloud);
    }
}

/* More frames than the marks of what the last one showed can count. */
static void long_sequences_look_the_same(void **state) {
    parity_pair *pair = *state;
    mote_cloud *cloud = NULL;
    twins t;
    must(pair->cpu, mote_generate(pair->cpu, "torus", 2100, NULL, &cloud), "torus");
    assert_true(open_twins(&t, state, cloud, "long sequence"));
    for (uint32_t frame = 0; frame < 520; frame++) {
        mote_render_params p = plain_settings(0);
        mote_camera camera;
        p.width = p.height = 16;
        assert_true(look(&t, frame / 100, &p, &camera));
        camera.eye[0] += 0.01 * frame;
        if (frame % 255 < 2) {
            compare(&t, &camera, &p, 5, false);
        } else {
            uint8_t color8[4 * 16 * 16];
            mote_render_result result = {.color8 = color8};
            must(pair->cuda, mote_render_draw(t.cuda, &camera, &p, &result), "a frame");
        }
    }
    close_twins(&t);
    mote_cloud_destroy(cloud);
}

/* Surfaces of which nearly each sample shows a point: neighbours are next to each other. A lattice has many that are
   equally far away. */
static void dense_surfaces_look_the_same(void **state) {
    static const char *const kinds[] = {"torus", "city", "lattice"};
    const uint64_t count = parity_extent(6000, 12000, 1000000);
    parity_pair *pair = *state;
    for (uint32_t c = 0; c < sizeof kinds / sizeof kinds[0]; c++) {
        mote_cloud *cloud = NULL;
        twins t;
        must(pair->cpu, mote_generate(pair->cpu, kinds[c], count, NULL, &cloud), kinds[c]);
        assert_true(open_twins(&t, state, cloud, kinds[c]));
        for (uint32_t frame = 0; frame < 5; frame++) {
            mote_render_params p = mote_render_defaults();
            mote_camera camera;
            p.mode = MOTE_RENDER_SURFACE;
            p.width = (uint32_t)parity_extent(35, 45, 400);
            p.height = (uint32_t)parity_extent(30, 40, 300);
            p.k = 8 - (frame + c) % 5;
            p.layers = 1 + (frame + c) % 2;
            assert_true(look(&t, 4 * frame, &p, &camera));
            compare(&t, &camera, &p, frame % 2 == 0 ? 13 : 31, false);
        }
        close_twins(&t);
        mote_cloud_destroy(cloud);
    }
}

/* Colours and normals that are given, of which some points have none. */
static void given_colours_and_normals_look_the_same(void **state) {
    parity_pair *pair = *state;
    static const char *const names[] = {"uniform float", "heap of duplicates", "far clusters"};
    for (uint32_t c = 0; c < 3; c++) {
        mote_cloud *cloud = awkward_cloud_make(pair->cpu, awkward_cloud_named(names[c]), 700, 0);
        uint8_t rgba[4 * 700];
        float normals[4][700];
        const float *const axes[3] = {normals[0], normals[1], normals[2]};
        twins t;
        assert_true(open_twins(&t, state, cloud, names[c]));
        for (uint32_t i = 0; i < 700; i++) {
            for (uint32_t k = 0; k < 4; k++) {
                rgba[4 * i + k] = (uint8_t)(256 * test_random(k, i));
                normals[k][i] = (float)(2 * test_random(10 + k, i) - 1);
            }
            if (i % 5 == 0) rgba[4 * i + 3] = 0;
            if (i % 7 == 0) normals[0][i] = normals[1][i] = normals[2][i] = 0;
            if (i % 11 == 0) normals[1][i] = NAN;
            normals[3][i] = (float)awkward_cloud_size(awkward_cloud_named(names[c])) * 0.03f;
        }
        for (uint32_t turn = 0; turn < 12; turn++) {
            mote_render_params p = settings(turn);
            mote_camera camera;
            if (turn == 3) must(pair->cpu, mote_render_set_colors(t.cpu, rgba, false), "colours");
            if (turn == 3) must(pair->cuda, mote_render_set_colors(t.cuda, rgba, false), "colours");
            if (turn % 6 == 0) {
                const float *spacing = turn == 0 ? NULL : normals[3];
                must(pair->cpu, mote_render_set_normals(t.cpu, axes, spacing, false), "normals");
                must(pair->cuda, mote_render_set_normals(t.cuda, axes, spacing, false), "normals");
            }
            if (turn == 6) must(pair->cpu, mote_render_set_exposure(t.cpu, 3.75), "exposure");
            if (turn == 6) must(pair->cuda, mote_render_set_exposure(t.cuda, 3.75), "exposure");
            if (turn == 9) must(pair->cpu, mote_render_set_colors(t.cpu, NULL, false), "colours");
            if (turn == 9) must(pair->cuda, mote_render_set_colors(t.cuda, NULL, false), "colours");
            p.normals = turn % 2 == 0 ? MOTE_RENDER_NORMALS_GIVEN : MOTE_RENDER_NORMALS_SCREEN;
            if (turn % 4 == 2) p.show = MOTE_RENDER_SHOW_NORMAL_ERROR;
            look(&t, turn, &p, &camera);
            compare(&t, &camera, &p, 31, false);
        }
        close_twins(&t);
        mote_cloud_destroy(cloud);
    }
}

static void neighbours_are_the_same(void **state) {
    const uint32_t step = (uint32_t)parity_extent(7, 3, 1);
    for (uint32_t c = 0; c < awkward_cloud_count; c += step) {
        if (!parity_is_mine()) continue;
        parity_pair *pair = *state;
        mote_cloud *cloud = awkward_cloud_make(pair->cpu, &awkward_clouds[c], 200 + 30 * c, 0);
        mote_render_neighbors *cpu = NULL, *cuda = NULL;
        const uint32_t k = 1 + 7 * c % MOTE_RENDER_MAX_K;
        mote_camera camera;
        mote_render_params p = settings(c);
        twins t;
        if (open_twins(&t, state, cloud, awkward_clouds[c].name) && look(&t, c, &p, &camera)) {
            must(pair->cpu, mote_render_find_neighbors(t.cpu, &camera, &p, k, &cpu), "neighbours");
            must(pair->cuda, mote_render_find_neighbors(t.cuda, &camera, &p, k, &cuda), "neighbours");
            assert_int_equal(cuda->seen, cpu->seen);
            assert_memory_equal(cuda->point, cpu->point, cpu->seen * sizeof(uint32_t));
            assert_memory_equal(cuda->neighbor, cpu->neighbor, cpu->seen * k * sizeof(uint32_t));
            assert_memory_equal(cuda->distance2, cpu->distance2, cpu->seen * k * sizeof(float));
            assert_memory_equal(cuda->iterations, cpu->iterations, cpu->seen);
            mote_render_free_neighbors(pair->cpu, cpu);
            mote_render_free_neighbors(pair->cuda, cuda);
        }
        close_twins(&t);
        mote_cloud_destroy(cloud);
    }
}

static void little_memory_fails_cleanly(void **state) {
    parity_pair *pair = *state;
    mote_cloud *cloud = awkward_cloud_make(pair->cpu, awkward_cloud_named("uniform float"), 2000, 0);
    mote_render_params p = settings(2);
    mote_camera camera = mote_camera_defaults();
    bool fitted = false, failed = false;
    for (uint64_t limit = 1 << 15; limit <= 16 << 20 && !fitted; limit += limit / 4) {
        mote_context *ctx = parity_context(limit);
        answer a;
        take_answer(&a, &p);
        point_at(&a.result, a.array, 31);
        const mote_status status = ctx != NULL ? mote_render(ctx, cloud, &camera, &p, &a.result) : MOTE_ERROR_MEMORY;
        assert_true(status == MOTE_OK || status == MOTE_ERROR_MEMORY);
        fitted = status == MOTE_OK;
        failed = failed || (ctx != NULL && !fitted);
        if (ctx != NULL) assert_int_equal(mote_context_device_bytes(ctx), 0);
        mote_context_destroy(ctx);
        free_answer(&a);
    }
    assert_true(fitted && failed);
    mote_cloud_destroy(cloud);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        PARITY_TEST(awkward_clouds_look_the_same), PARITY_TEST(generated_clouds_look_the_same),
        PARITY_TEST(plain_pixels_look_the_same),   PARITY_TEST(long_sequences_look_the_same),
        PARITY_TEST(dense_surfaces_look_the_same), PARITY_TEST(given_colours_and_normals_look_the_same),
        PARITY_TEST(neighbours_are_the_same),      PARITY_TEST(little_memory_fails_cleanly),
    };
    return parity_can_run() ? cmocka_run_group_tests(tests, NULL, NULL) : PARITY_SKIPPED;
}
