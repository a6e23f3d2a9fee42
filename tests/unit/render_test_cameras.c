/* Pictures: cameras. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "unit/render_test.h"

void fitted_cameras_see_everything(void **state) {
    static const double from[][3] = {{0.3, -1, 0.5}, {0, 0, 1}, {0, 0, -1}, {1, 1, 1}, {0, 1, 0}, {-1, 0, 0}};
    static const mote_box boxes[] = {{{0, 0, 0}, {1, 2, 3}},
                                     {{-5, -5, 0}, {5, 5, 0}},
                                     {{4e5, 5e6, 1}, {4e5, 5e6, 1}},
                                     {{-1e-9, 0, 0}, {1e-9, 1e-9, 1e-12}},
                                     {{0, 0, 0}, {1e9, 1, 1}}};
    mote_context *ctx = test_context(1);
    (void)state;
    for (uint32_t turn = 0; turn < 60; turn++) {
        const mote_box *box = &boxes[turn % 5];
        mote_camera camera = mote_camera_defaults();
        double lows[2] = {1e9, 1e9}, highs[2] = {-1e9, -1e9};
        camera.projection = turn / 30 == 0 ? MOTE_PERSPECTIVE : MOTE_ORTHOGRAPHIC;
        must(ctx, mote_camera_fit(ctx, &camera, box, from[turn % 6], 400, 300));
        for (int corner = 0; corner < 8; corner++) {
            const double place[3] = {(corner & 1) != 0 ? box->max[0] : box->min[0],
                                     (corner & 2) != 0 ? box->max[1] : box->min[1],
                                     (corner & 4) != 0 ? box->max[2] : box->min[2]};
            double x, y;
            assert_true(mote_camera_project(&camera, 400, 300, place, &x, &y, NULL));
            lows[0] = fmin(lows[0], x), highs[0] = fmax(highs[0], x);
            lows[1] = fmin(lows[1], y), highs[1] = fmax(highs[1], y);
        }
        if (turn % 5 > 1) continue; /* of a size that fills the picture: with equal margins */
        assert_true(highs[0] - lows[0] > 350 || highs[1] - lows[1] > 260);
        assert_true(fabs(lows[0] + highs[0] - 400) < 4 && fabs(lows[1] + highs[1] - 300) < 4);
    }
    mote_context_destroy(ctx);
}

/* ---- cameras fitted to points */

/* A sphere, a rod that lies aslant, a flat disc: shapes that leave the corners of their boxes empty. */
static void shape_point(uint32_t shape, uint64_t i, double at[3]) {
    const double z = 2 * test_random(7, i) - 1, angle = 2 * PI * test_random(8, i), r = sqrt(1 - z * z);
    const double sphere[3] = {r * cos(angle), r * sin(angle), z};
    for (int k = 0; k < 3; k++) {
        at[k] = shape == 0 ? sphere[k] : shape == 1 ? 5 * z * (k + 1) + 0.1 * sphere[k] : k == 1 ? 0 : sphere[k];
    }
}

static mote_cloud *shaped_cloud(mote_context *ctx, uint32_t shape, double offset) {
    mote_cloud *cloud = colored_cloud(ctx, 20000, (const double[3]){0, 0, 0}, 1);
    for (uint64_t i = 0; i < 20000; i++) {
        double at[3];
        shape_point(shape, i, at);
        for (uint32_t k = 0; k < 3; k++) {
            const char *const name = k == 0 ? "x" : k == 1 ? "y" : "z";
            const uint64_t stride = mote_cloud_find(cloud, name)->stride_bytes;
            at[k] += offset;
            memcpy((uint8_t *)mote_cloud_column_data(cloud, name) + stride * i, &at[k], sizeof at[k]);
        }
    }
    return cloud;
}

/* Points reach to the margins of the tighter pair of edges, a fiftieth of the picture, and opposite margins are alike.
 */
void cameras_are_fitted_to_points(void **state) {
    static const double from[][3] = {{0.65, -1, 0.5}, {0, 0, 1}, {1, 1, 1}, {-1, 0.2, 0}};
    mote_context *ctx = test_context(2);
    (void)state;
    for (uint32_t turn = 0; turn < 24; turn++) {
        mote_cloud *cloud = shaped_cloud(ctx, turn % 3, turn % 2 == 0 ? 0 : 5e6);
        mote_renderer *renderer = NULL;
        mote_render_params p = mote_render_defaults();
        mote_camera camera = mote_camera_defaults();
        double low[2] = {1e9, 1e9}, high[2] = {-1e9, -1e9}, x[2];
        camera.projection = turn / 12 == 0 ? MOTE_PERSPECTIVE : MOTE_ORTHOGRAPHIC;
        must(ctx, mote_render_create(ctx, cloud, &renderer));
        must(ctx, mote_render_fit(renderer, &camera, from[turn / 3 % 4], &p));
        for (uint64_t i = 0; i < mote_cloud_count(cloud); i++) {
            double place[3];
            shape_point(turn % 3, i, place);
            for (int k = 0; k < 3; k++) place[k] += turn % 2 == 0 ? 0 : 5e6;
            assert_true(mote_camera_project(&camera, p.width, p.height, place, &x[0], &x[1], NULL));
            for (int k = 0; k < 2; k++) low[k] = fmin(low[k], x[k]), high[k] = fmax(high[k], x[k]);
        }
        const double side[2] = {p.width, p.height};
        const double margin = fmin(low[0] / side[0], low[1] / side[1]);
        assert_true(fabs(margin - 0.02) < 0.0005);
        for (int k = 0; k < 2; k++) assert_true(fabs(low[k] - (side[k] - high[k])) < 1);
        mote_render_destroy(renderer);
        mote_cloud_destroy(cloud);
    }
    mote_context_destroy(ctx);
}

void places_come_back_from_pixels(void **state) {
    mote_camera camera = mote_camera_defaults();
    (void)state;
    camera.eye[0] = 3;
    camera.eye[2] = 2;
    for (uint32_t i = 0; i < 100; i++) {
        const double place[3] = {test_random(0, i), test_random(1, i), test_random(2, i)};
        double x, y, depth, back[3];
        camera.projection = i % 2 == 0 ? MOTE_PERSPECTIVE : MOTE_ORTHOGRAPHIC;
        mote_camera_project(&camera, 640, 480, place, &x, &y, &depth);
        mote_camera_unproject(&camera, 640, 480, x, y, depth, back);
        for (int k = 0; k < 3; k++) assert_true(fabs(back[k] - place[k]) < 1e-12);
    }
}

void paths_pass_through_their_cameras(void **state) {
    mote_camera cameras[4];
    (void)state;
    for (uint32_t i = 0; i < 4; i++) {
        cameras[i] = mote_camera_defaults();
        for (int k = 0; k < 3; k++) cameras[i].eye[k] = test_random((uint64_t)k, i);
        cameras[i].angle_rad = 0.2 + 0.3 * i;
    }
    for (uint32_t i = 0; i < 4; i++) {
        const mote_camera at = mote_camera_on_path(cameras, 4, i % 2 == 0, i);
        assert_memory_equal(&at, &cameras[i], sizeof at);
    }
    const mote_camera first = mote_camera_on_path(cameras, 4, false, -3),
                      last = mote_camera_on_path(cameras, 4, false, 9);
    assert_memory_equal(&first, &cameras[0], sizeof first);
    assert_true(fabs(last.eye[0] - cameras[3].eye[0]) < 1e-12);
    const mote_camera round = mote_camera_on_path(cameras, 4, true, 3.999999);
    assert_true(fabs(round.eye[1] - cameras[0].eye[1]) < 1e-4);
    const mote_camera before = mote_camera_on_path(cameras, 4, false, 1.999999);
    assert_true(fabs(before.angle_rad - cameras[2].angle_rad) < 1e-4);
    const mote_camera only = mote_camera_on_path(cameras, 1, true, 0.5);
    assert_true(only.eye[0] == cameras[0].eye[0]);
}

/* ---- cameras within the points, before them and far away */

static void look_from(mote_context *ctx, mote_renderer *renderer, const mote_cloud *cloud, const mote_camera *camera,
                      const char *what, uint64_t max_covered) {
    static frame f;
    static render_reference_pixel expected[PIXELS];
    for (int mode = 0; mode < 3; mode++) {
        const mote_render_params p = small_picture((mote_render_mode)mode);
        open_frame(&f);
        must(ctx, mote_render_draw(renderer, camera, &p, &f.result));
        assert_true(f.result.covered <= max_covered);
        assert_true(max_covered == 0 || f.result.covered > 0);
        for (uint32_t i = 0; i < PIXELS; i++) assert_true(f.depth[i] == INFINITY || isfinite(f.depth[i]));
        if (mode != MOTE_RENDER_POINTS) continue;
        render_reference_points(cloud, camera, WIDTH, HEIGHT, expected);
        compare_points(&f, expected, cloud, camera, what);
    }
}

void cameras_within_and_far_away(void **state) {
    static const double origin[3] = {4e5, 5e6, 100};
    mote_context *ctx = test_context(2);
    mote_cloud *cloud = colored_cloud(ctx, 4000, origin, 1);
    mote_renderer *renderer = NULL;
    mote_camera camera = mote_camera_defaults();
    (void)state;
    must(ctx, mote_render_create(ctx, cloud, &renderer));
    for (int k = 0; k < 3; k++) {
        camera.eye[k] = origin[k] + 0.5;
        camera.target[k] = origin[k] + (k == 0 ? 2 : 0.4);
    }
    look_from(ctx, renderer, cloud, &camera, "within the points", PIXELS);
    for (int k = 0; k < 3; k++) camera.target[k] = 2 * camera.eye[k] - origin[k];
    camera.eye[0] += 3;
    camera.target[0] = camera.eye[0] + 1;
    camera.target[1] = camera.eye[1];
    look_from(ctx, renderer, cloud, &camera, "all is behind", 0);
    camera.projection = MOTE_ORTHOGRAPHIC;
    camera.target[0] = camera.eye[0] - 1;
    camera.height = 5000.0 * HEIGHT;
    look_from(ctx, renderer, cloud, &camera, "pixels of kilometres", 4);
    mote_render_destroy(renderer);
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
}
