/* Pictures of points and averages, cameras, light, and what is refused. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reference/awkward_clouds.h"
#include "render/renderer.h"
#include "unit/render_test.h"

void open_frame(frame *f) {
    memset(f, 0, sizeof *f);
    f->result.color8 = f->color8;
    f->result.color16 = f->color16;
    f->result.depth = f->depth;
    f->result.normal = f->normal;
    f->result.index = f->index;
}

mote_render_params small_picture(mote_render_mode mode) {
    mote_render_params p = mote_render_defaults();
    p.mode = mode;
    p.width = WIDTH;
    p.height = HEIGHT;
    return p;
}

void must(mote_context *ctx, mote_status status) {
    if (status != MOTE_OK) fail_msg("%s", mote_context_message(ctx));
}

/* A camera that sees most of a cloud, from some side; false where there is nothing to see. */
static bool look(mote_context *ctx, mote_renderer *renderer, uint32_t turn, const mote_render_params *p,
                 mote_camera *camera) {
    static const double from[][3] = {{0.3, -1, 0.5}, {-1, 0.2, -0.3}, {1, 1, 1}};
    *camera = mote_camera_defaults();
    camera->projection = turn % 2 == 0 ? MOTE_PERSPECTIVE : MOTE_ORTHOGRAPHIC;
    if (mote_render_fit(renderer, camera, from[turn % 3], p) == MOTE_OK) return true;
    mote_context_clear(ctx);
    return false;
}

/* ---- against the reference */

/* Where the reference sees another point, one of the two is on the border of the pixel, or both are equally deep. */
void compare_points(const frame *f, const render_reference_pixel *expected, const mote_cloud *cloud,
                    const mote_camera *camera, const char *what) {
    for (uint32_t i = 0; i < PIXELS; i++) {
        const render_reference_pixel *e = &expected[i];
        const bool shown = f->depth[i] < INFINITY;
        if (shown == e->shown && (!shown || f->depth[i] == (float)e->depth)) continue;
        if (e->shown && e->to_edge < 1e-6) continue;
        double at[3], x = 0, y = 0;
        if (shown) {
            const char *const names[3] = {"x", "y", "z"};
            for (int k = 0; k < 3; k++) at[k] = mote_column_value(mote_cloud_find(cloud, names[k]), f->index[i]);
            mote_camera_project(camera, WIDTH, HEIGHT, at, &x, &y, NULL);
            if (fabs(x - rint(x)) < 1e-6 || fabs(y - rint(y)) < 1e-6) continue;
            if (fabsf(f->depth[i] - (float)e->depth) <= 1.2e-7f * fabsf(f->depth[i])) continue;
        }
        fail_msg("%s: pixel %u shows depth %g, not %g", what, i, (double)f->depth[i], e->depth);
    }
}

static void points_are_those_of_the_reference(void **state) {
    static const uint64_t sizes[] = {0, 1, 2, 40, 500, 1500};
    static render_reference_pixel expected[PIXELS];
    static frame f;
    mote_context *ctx = test_context(2);
    const mote_render_params p = small_picture(MOTE_RENDER_POINTS);
    (void)state;
    for (uint32_t c = 0; c < awkward_cloud_count; c += (uint32_t)test_extent(5, 1)) {
        mote_cloud *cloud = awkward_cloud_make(ctx, &awkward_clouds[c], sizes[c % 6], 0);
        mote_renderer *renderer = NULL;
        mote_camera camera;
        if (mote_render_create(ctx, cloud, &renderer) != MOTE_OK) {
            mote_context_clear(ctx);
        } else if (look(ctx, renderer, c, &p, &camera)) {
            open_frame(&f);
            must(ctx, mote_render_draw(renderer, &camera, &p, &f.result));
            render_reference_points(cloud, &camera, WIDTH, HEIGHT, expected);
            compare_points(&f, expected, cloud, &camera, awkward_clouds[c].name);
        }
        mote_render_destroy(renderer);
        mote_cloud_destroy(cloud);
    }
    assert_int_equal(mote_context_memory_bytes(ctx), 0);
    mote_context_destroy(ctx);
}

/* A cloud of doubles with 8-bit colours. */
mote_cloud *colored_cloud(mote_context *ctx, uint64_t count, const double offset[3], double size) {
    static const mote_column_spec specs[6] = {{"x", MOTE_FLOAT64, 0, 0},   {"y", MOTE_FLOAT64, 0, 0},
                                              {"z", MOTE_FLOAT64, 0, 0},   {"red", MOTE_UINT8, 0, 0},
                                              {"green", MOTE_UINT8, 0, 0}, {"blue", MOTE_UINT8, 0, 0}};
    static const char *const names[6] = {"x", "y", "z", "red", "green", "blue"};
    mote_cloud *cloud = NULL;
    must(ctx, mote_cloud_create(ctx, count, specs, 6, &cloud));
    for (uint32_t k = 0; k < 6; k++) {
        uint8_t *data = mote_cloud_column_data(cloud, names[k]);
        const uint32_t stride = mote_cloud_find(cloud, names[k])->stride_bytes;
        for (uint64_t i = 0; i < count; i++, data += stride) {
            const double value = offset[k % 3] + size * test_random(k, i);
            if (k < 3) memcpy(data, &value, sizeof value);
            if (k >= 3) *data = (uint8_t)(256 * test_random(k, i));
        }
    }
    return cloud;
}

static void averages_are_those_of_the_reference(void **state) {
    static const double origin[3] = {0, 0, 0};
    static render_reference_pixel expected[PIXELS];
    static double tolerance[PIXELS];
    static frame f;
    mote_context *ctx = test_context(2);
    mote_render_params p = small_picture(MOTE_RENDER_AVERAGE);
    mote_cloud *cloud = colored_cloud(ctx, 9000, origin, 1);
    mote_renderer *renderer = NULL;
    (void)state;
    must(ctx, mote_render_create(ctx, cloud, &renderer));
    for (uint32_t turn = 0; turn < 2; turn++) {
        mote_camera camera;
        double worst = 0;
        assert_true(look(ctx, renderer, turn, &p, &camera));
        p.edl_strength = 0;
        open_frame(&f);
        must(ctx, mote_render_draw(renderer, &camera, &p, &f.result));
        for (uint32_t i = 0; i < PIXELS; i++) { /* the spacing of the batch of the nearest point; a pixel's width */
            const render_points *points = &renderer->points;
            uint32_t place = 0;
            while (f.index[i] != MOTE_RENDER_NO_POINT && points->index[place] != f.index[i]) place++;
            const double spacing = points->batches[place / RENDER_BATCH].spacing;
            const double width = camera.projection == MOTE_ORTHOGRAPHIC
                                     ? camera.height / HEIGHT
                                     : 2 * tan(camera.angle_rad / 2) * f.depth[i] / HEIGHT;
            tolerance[i] = p.tolerance * fmax(spacing, width);
        }
        render_reference_average(cloud, &camera, WIDTH, HEIGHT, tolerance, expected);
        for (uint32_t i = 0; i < PIXELS; i++) {
            if (!expected[i].shown || expected[i].to_edge < 1e-6) continue;
            for (int c = 0; c < 3; c++) worst = fmax(worst, fabs(f.color16[4 * i + c] / 257.0 - expected[i].color[c]));
        }
        assert_true(worst < 0.02);
    }
    mote_render_destroy(renderer);
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
}

static void light_is_that_of_the_reference(void **state) {
    static const double origin[3] = {0, 0, 0};
    static render_reference_pixel pixels[PIXELS];
    static double expected[3 * PIXELS];
    static frame f;
    mote_context *ctx = test_context(2);
    (void)state;
    for (uint32_t turn = 0; turn < 4; turn++) {
        mote_render_params p = small_picture(turn < 2 ? MOTE_RENDER_POINTS : MOTE_RENDER_SURFACE);
        mote_cloud *cloud = colored_cloud(ctx, 1500, origin, 1);
        mote_renderer *renderer = NULL;
        mote_camera camera;
        p.light_count = 2;
        p.lights[1] = p.lights[0];
        p.lights[1].world = true;
        p.lights[1].color[2] = 40;
        p.edl_strength = 0.3;
        p.edl_radius = 1 + turn;
        p.specular = 0.5;
        must(ctx, mote_render_create(ctx, cloud, &renderer));
        assert_true(look(ctx, renderer, turn, &p, &camera));
        open_frame(&f);
        p.light_count = 0; /* first as it is, then lit */
        p.edl_strength = 0;
        must(ctx, mote_render_draw(renderer, &camera, &p, &f.result));
        for (uint32_t i = 0; i < PIXELS; i++) {
            pixels[i].shown = f.depth[i] < INFINITY;
            pixels[i].depth = f.depth[i];
            for (int k = 0; k < 3; k++) {
                pixels[i].color[k] = f.color16[4 * i + k] / 257.0;
                pixels[i].normal[k] = f.normal[3 * i + k];
            }
        }
        p.light_count = 2;
        p.edl_strength = 0.3;
        must(ctx, mote_render_draw(renderer, &camera, &p, &f.result));
        render_reference_shade(&camera, &p, pixels, expected);
        for (uint32_t i = 0; i < PIXELS; i++) {
            for (int c = 0; c < 3; c++) {
                if (fabs(f.color16[4 * i + c] / 65535.0 - expected[3 * i + c]) > 2e-3) {
                    fail_msg("turn %u, pixel %u: %g, not %g", turn, i, f.color16[4 * i + c] / 65535.0,
                             expected[3 * i + c]);
                }
            }
        }
        mote_render_destroy(renderer);
        mote_cloud_destroy(cloud);
    }
    mote_context_destroy(ctx);
}

/* ---- the same picture */

static void same_pictures(const frame *a, const frame *b, bool indices, const char *what) {
    if (memcmp(a->color8, b->color8, sizeof a->color8) != 0) fail_msg("%s: color8 differs", what);
    if (memcmp(a->color16, b->color16, sizeof a->color16) != 0) fail_msg("%s: color16 differs", what);
    if (memcmp(a->depth, b->depth, sizeof a->depth) != 0) fail_msg("%s: depth differs", what);
    if (memcmp(a->normal, b->normal, sizeof a->normal) != 0) fail_msg("%s: normal differs", what);
    if (indices && memcmp(a->index, b->index, sizeof a->index) != 0) fail_msg("%s: index differs", what);
}

/* shuffle 0: as it is. */
static void draw_alone(const awkward_cloud *kind, uint64_t count, uint64_t shuffle, int threads, mote_render_mode mode,
                       const mote_camera *camera, frame *f) {
    mote_context *ctx = test_context(threads);
    mote_cloud *cloud = awkward_cloud_make(ctx, kind, count, shuffle);
    const mote_render_params p = small_picture(mode);
    open_frame(f);
    must(ctx, mote_render(ctx, cloud, camera, &p, &f->result));
    mote_cloud_destroy(cloud);
    assert_int_equal(mote_context_memory_bytes(ctx), 0);
    mote_context_destroy(ctx);
}

static bool fit_alone(const awkward_cloud *kind, uint64_t count, uint32_t turn, mote_camera *camera) {
    mote_context *ctx = test_context(1);
    mote_cloud *cloud = awkward_cloud_make(ctx, kind, count, 0);
    const mote_render_params p = small_picture(MOTE_RENDER_POINTS);
    mote_renderer *renderer = NULL;
    const bool fits = mote_render_create(ctx, cloud, &renderer) == MOTE_OK && look(ctx, renderer, turn, &p, camera);
    mote_render_destroy(renderer);
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
    return fits;
}

static void order_and_threads_do_not_matter(void **state) {
    static frame one, other;
    (void)state;
    for (uint32_t c = 0; c < awkward_cloud_count; c += (uint32_t)test_extent(4, 1)) {
        const awkward_cloud *kind = &awkward_clouds[c];
        const mote_render_mode mode = (mote_render_mode)(c % 3);
        mote_camera camera;
        if (!fit_alone(kind, 2500, c, &camera)) continue;
        draw_alone(kind, 2500, 0, 1, mode, &camera, &one);
        draw_alone(kind, 2500, 0, 2, mode, &camera, &other);
        same_pictures(&one, &other, true, kind->name);
        draw_alone(kind, 2500, 77, 7, mode, &camera, &other);
        same_pictures(&one, &other, false, kind->name);
    }
}

/* What stood behind the last frame's picture is looked at again: a moving camera sees what a new renderer sees. */
static void sequences_show_what_single_frames_do(void **state) {
    static frame one, other;
    mote_context *ctx = test_context(2);
    mote_cloud *cloud = NULL;
    mote_renderer *renderer = NULL;
    const mote_render_params p = small_picture(MOTE_RENDER_POINTS);
    mote_camera camera;
    uint64_t left_out = 0;
    (void)state;
    must(ctx, mote_generate(ctx, "city", 60000, NULL, &cloud));
    must(ctx, mote_render_create(ctx, cloud, &renderer));
    assert_true(look(ctx, renderer, 0, &p, &camera));
    for (uint32_t turn = 0; turn < 12; turn++) {
        open_frame(&one);
        open_frame(&other);
        must(ctx, mote_render_draw(renderer, &camera, &p, &one.result));
        must(ctx, mote_render(ctx, cloud, &camera, &p, &other.result));
        same_pictures(&one, &other, true, "city");
        left_out += one.result.batches - one.result.batches_drawn;
        const double x = camera.eye[0] - camera.target[0], y = camera.eye[1] - camera.target[1];
        camera.eye[0] = camera.target[0] + 0.7 * x - 0.3 * y;
        camera.eye[1] = camera.target[1] + 0.7 * y + 0.3 * x;
        camera.eye[2] = camera.target[2] + 0.85 * (camera.eye[2] - camera.target[2]);
    }
    assert_true(left_out > 0);
    mote_render_destroy(renderer);
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
}

/* A disc covers the samples whose middles are within its radius from that of its point's sample. */
static void points_may_be_discs(void **state) {
    static const double origin[3] = {0, 0, 0};
    static frame one, discs;
    mote_context *ctx = test_context(2);
    mote_cloud *cloud = colored_cloud(ctx, 40, origin, 1);
    mote_renderer *renderer = NULL;
    mote_render_params p = small_picture(MOTE_RENDER_POINTS);
    mote_camera camera;
    const int side = (int)WIDTH;
    (void)state;
    must(ctx, mote_render_create(ctx, cloud, &renderer));
    open_frame(&one);
    open_frame(&discs);
    assert_true(look(ctx, renderer, 0, &p, &camera));
    must(ctx, mote_render_draw(renderer, &camera, &p, &one.result));
    p.point_size = 5;
    must(ctx, mote_render_draw(renderer, &camera, &p, &discs.result));
    assert_true(one.result.covered > 10 && discs.result.covered > 2 * one.result.covered);
    for (int i = 0; i < (int)PIXELS; i++) {
        float nearest = INFINITY;
        for (int j = 0; j < (int)PIXELS; j++) {
            const int du = i % side - j % side, dv = i / side - j / side;
            if (4 * (du * du + dv * dv) <= 25) nearest = fminf(nearest, one.depth[j]);
        }
        assert_true(discs.depth[i] == nearest);
    }
    mote_render_destroy(renderer);
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
}

static void parts_make_the_whole(void **state) {
    static const double origin[3] = {100, 200, 300};
    static frame whole, part;
    mote_context *ctx = test_context(2);
    mote_cloud *cloud = colored_cloud(ctx, 20000, origin, 3);
    mote_renderer *renderer = NULL;
    mote_render_params p = small_picture(MOTE_RENDER_AVERAGE);
    mote_camera camera;
    (void)state;
    p.edl_strength = 0;
    must(ctx, mote_render_create(ctx, cloud, &renderer));
    assert_true(look(ctx, renderer, 0, &p, &camera));
    open_frame(&whole);
    must(ctx, mote_render_draw(renderer, &camera, &p, &whole.result));
    for (uint32_t x = 0; x < WIDTH; x += 10) {
        p.part_x = x;
        p.part_y = 5;
        p.part_width = WIDTH - x < 10 ? WIDTH - x : 10;
        p.part_height = 20;
        open_frame(&part);
        must(ctx, mote_render_draw(renderer, &camera, &p, &part.result));
        for (uint32_t i = 0; i < p.part_width * p.part_height; i++) {
            const uint32_t j = (5 + i / p.part_width) * WIDTH + x + i % p.part_width;
            assert_int_equal(part.index[i], whole.index[j]);
            assert_memory_equal(&part.color16[4 * i], &whole.color16[4 * j], 8);
            assert_true(part.depth[i] == whole.depth[j]);
        }
    }
    mote_render_destroy(renderer);
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
}

/* ---- what points show */

static void hidden_points_are_not_shown(void **state) {
    static const double origin[3] = {0, 0, 0};
    static frame f;
    static uint8_t rgba[4 * 3000];
    mote_context *ctx = test_context(2);
    mote_cloud *cloud = colored_cloud(ctx, 3000, origin, 1);
    mote_renderer *renderer = NULL;
    const mote_render_params p = small_picture(MOTE_RENDER_POINTS);
    mote_camera camera;
    (void)state;
    for (uint32_t i = 0; i < 3000; i++) {
        rgba[4 * i] = 200;
        rgba[4 * i + 3] = i % 3 == 0 ? 255 : 0;
    }
    must(ctx, mote_render_create(ctx, cloud, &renderer));
    must(ctx, mote_render_set_colors(renderer, rgba, false));
    assert_true(look(ctx, renderer, 0, &p, &camera));
    open_frame(&f);
    must(ctx, mote_render_draw(renderer, &camera, &p, &f.result));
    assert_true(f.result.covered > 100);
    for (uint32_t i = 0; i < PIXELS; i++) {
        if (f.index[i] != MOTE_RENDER_NO_POINT) assert_int_equal(f.index[i] % 3, 0);
    }
    mote_render_destroy(renderer);
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
}

/* Millimetres between points half a million and five million metres away from zero. */
static void millimetres_are_seen_far_from_zero(void **state) {
    static frame f;
    mote_context *ctx = test_context(1);
    const double at[3] = {500000.125, 5000000.25, 300.5};
    mote_cloud *cloud = colored_cloud(ctx, 2000, at, 0.05);
    mote_renderer *renderer = NULL;
    const mote_render_params p = small_picture(MOTE_RENDER_POINTS);
    mote_camera camera;
    (void)state;
    must(ctx, mote_render_create(ctx, cloud, &renderer));
    assert_true(look(ctx, renderer, 0, &p, &camera));
    open_frame(&f);
    must(ctx, mote_render_draw(renderer, &camera, &p, &f.result));
    assert_true(f.result.covered > PIXELS / 5);
    for (uint32_t i = 0; i < PIXELS; i++) {
        double place[3];
        if (f.index[i] == MOTE_RENDER_NO_POINT) continue;
        mote_camera_unproject(&camera, WIDTH, HEIGHT, i % WIDTH + 0.5, i / WIDTH + 0.5, f.depth[i], place);
        const double x = mote_column_value(mote_cloud_find(cloud, "x"), f.index[i]);
        assert_true(fabs(place[0] - x) < 0.003); /* a pixel is 2 mm */
    }
    mote_render_destroy(renderer);
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
}

static void narrow_holes_are_closed_and_edges_stay(void **state) {
    static const mote_column_spec specs[3] = {
        {"x", MOTE_FLOAT64, 0, 0}, {"y", MOTE_FLOAT64, 0, 0}, {"z", MOTE_FLOAT64, 0, 0}};
    static frame f;
    mote_context *ctx = test_context(2);
    mote_cloud *cloud = NULL;
    mote_render_params p = small_picture(MOTE_RENDER_POINTS);
    mote_camera camera = mote_camera_defaults();
    uint64_t count = 0;
    (void)state;
    must(ctx, mote_cloud_create(ctx, 20 * 20, specs, 3, &cloud));
    double *at = mote_cloud_column_data(cloud, "x");
    for (uint32_t y = 0; y < 20; y++) { /* a point in each pixel of a square, but for one, and a crack two wide */
        for (uint32_t x = 0; x < 20; x++) {
            if ((x == 5 && y == 7) || ((x == 12 || x == 13) && y > 2 && y < 17)) continue;
            at[3 * count] = x + 0.5;
            at[3 * count++ + 1] = y + 0.5;
        }
    }
    for (uint64_t i = count; i < 400; i++) at[3 * i] = at[3 * i + 1] = NAN;
    camera.projection = MOTE_ORTHOGRAPHIC;
    camera.eye[0] = camera.target[0] = 10;
    camera.eye[1] = camera.target[1] = 10;
    camera.eye[2] = 5;
    camera.up[1] = 1;
    camera.up[2] = 0;
    camera.height = HEIGHT;
    for (uint32_t pixels = 0; pixels < 4; pixels++) {
        static const uint64_t closed[] = {0, 1, 29, 29};
        p.close_pixels = pixels;
        open_frame(&f);
        must(ctx, mote_render(ctx, cloud, &camera, &p, &f.result));
        assert_int_equal(f.result.closed, closed[pixels]);
        assert_int_equal(f.result.covered, count + closed[pixels]);
    }
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(points_are_those_of_the_reference),
        cmocka_unit_test(averages_are_those_of_the_reference),
        cmocka_unit_test(light_is_that_of_the_reference),
        cmocka_unit_test(order_and_threads_do_not_matter),
        cmocka_unit_test(sequences_show_what_single_frames_do),
        cmocka_unit_test(points_may_be_discs),
        cmocka_unit_test(parts_make_the_whole),
        cmocka_unit_test(hidden_points_are_not_shown),
        cmocka_unit_test(millimetres_are_seen_far_from_zero),
        cmocka_unit_test(narrow_holes_are_closed_and_edges_stay),
        cmocka_unit_test(fitted_cameras_see_everything),
        cmocka_unit_test(cameras_are_fitted_to_points),
        cmocka_unit_test(places_come_back_from_pixels),
        cmocka_unit_test(paths_pass_through_their_cameras),
        cmocka_unit_test(cameras_within_and_far_away),
        cmocka_unit_test(parts_of_large_pictures_are_right),
        cmocka_unit_test(pictures_beyond_memory_are_refused),
        cmocka_unit_test(dark_colors_are_found),
        cmocka_unit_test(exposure_makes_colors_brighter),
        cmocka_unit_test(clouds_without_colors_have_no_exposure),
        cmocka_unit_test(exposing_may_fail),
        cmocka_unit_test(what_is_wrong_is_refused),
        cmocka_unit_test(allocations_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
