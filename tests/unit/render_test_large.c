/* Pictures of many pixels: what does not fit memory is refused, and parts show what the whole would. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "unit/render_test.h"

#define LARGE       16384u
#define POINTS      20000u
#define LIMIT_BYTES (500ull << 20) /* a picture of LARGE x LARGE takes more than twelve times as much */
#define LOOKED_AT   12u            /* points around which a part is drawn */

/* x, y, z of each point. */
static double *places_of(const mote_cloud *cloud) {
    static const char *const names[3] = {"x", "y", "z"};
    double *at = malloc(sizeof(double) * 3 * POINTS);
    assert_non_null(at);
    for (uint32_t i = 0; i < POINTS; i++) {
        for (uint32_t k = 0; k < 3; k++) at[3 * i + k] = mote_column_value(mote_cloud_find(cloud, names[k]), i);
    }
    return at;
}

/* A place that is on the border of two pixels may be seen in either. */
static bool is_on_border(double x, double y) { return fabs(x - rint(x)) < 1e-5 || fabs(y - rint(y)) < 1e-5; }

/* Of all points the nearest that a pixel of the whole picture shows; MOTE_RENDER_NO_POINT. */
static uint32_t nearest_of_pixel(const double *at, const mote_camera *camera, uint32_t side, uint32_t x, uint32_t y,
                                 double *depth, bool *sure) {
    uint32_t nearest = MOTE_RENDER_NO_POINT;
    *depth = INFINITY;
    *sure = true;
    for (uint32_t i = 0; i < POINTS; i++) {
        double u, v, far;
        if (!mote_camera_project(camera, side, side, at + 3 * i, &u, &v, &far)) continue;
        if (fabs(u - x - 0.5) > 0.6 || fabs(v - y - 0.5) > 0.6) continue;
        if (is_on_border(u, v) || fabs(far - *depth) < 1e-6 * far) *sure = false;
        if (floor(u) != x || floor(v) != y || far >= *depth) continue;
        *depth = far;
        nearest = i;
    }
    return nearest;
}

/* Draws the part of a picture of side x side pixels that has a point in its middle, and compares that pixel. Returns
   false where the point is not in the picture. */
static bool compare_part(mote_context *ctx, mote_renderer *renderer, const double *at, const mote_camera *camera,
                         uint32_t side, uint32_t i) {
    static frame f;
    mote_render_params p = small_picture(MOTE_RENDER_POINTS);
    double u, v, depth;
    bool sure;
    if (!mote_camera_project(camera, side, side, at + 3 * i, &u, &v, NULL)) return false;
    const uint32_t x = (uint32_t)u, y = (uint32_t)v;
    p.width = p.height = side;
    p.part_x = x < WIDTH / 2 ? 0 : x + WIDTH > side ? side - WIDTH : x - WIDTH / 2;
    p.part_y = y < HEIGHT / 2 ? 0 : y + HEIGHT > side ? side - HEIGHT : y - HEIGHT / 2;
    p.part_width = WIDTH;
    p.part_height = HEIGHT;
    open_frame(&f);
    must(ctx, mote_render_draw(renderer, camera, &p, &f.result));
    const uint32_t pixel = (y - p.part_y) * WIDTH + (x - p.part_x);
    const uint32_t expected = nearest_of_pixel(at, camera, side, x, y, &depth, &sure);
    if (!sure) return true;
    assert_int_equal(f.index[pixel], expected);
    assert_true(fabs(f.depth[pixel] - depth) <= 1.2e-7 * depth); /* rounded once more, in another order */
    return true;
}

/* Sides of 16 k, of the most samples a part may have, and of a map of a country. */
void parts_of_large_pictures_are_right(void **state) {
    static const double origin[3] = {4e5, 5e6, 100};
    static const uint32_t sides[] = {LARGE, MOTE_RENDER_MAX_SIZE, 4000000};
    mote_context *ctx = test_context(2);
    mote_cloud *cloud = colored_cloud(ctx, POINTS, origin, 1);
    double *at = places_of(cloud);
    mote_renderer *renderer = NULL;
    (void)state;
    must(ctx, mote_render_create(ctx, cloud, &renderer));
    for (uint32_t turn = 0; turn < 6; turn++) {
        const uint32_t side = sides[turn / 2];
        const double from[3] = {0.3, -1, 0.5 + turn};
        mote_camera camera = mote_camera_defaults();
        uint32_t compared = 0;
        camera.projection = turn % 2 == 0 ? MOTE_PERSPECTIVE : MOTE_ORTHOGRAPHIC;
        mote_render_params p = small_picture(MOTE_RENDER_POINTS);
        p.width = p.height = side;
        p.part_width = p.part_height = 1; /* a whole of more than MOTE_RENDER_MAX_SIZE is refused */
        must(ctx, mote_render_fit(renderer, &camera, from, &p));
        for (uint32_t i = 0; i < LOOKED_AT; i++) {
            compared += compare_part(ctx, renderer, at, &camera, side, i * (POINTS / LOOKED_AT));
        }
        assert_true(compared > LOOKED_AT / 2);
    }
    free(at);
    mote_render_destroy(renderer);
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
}

/* All modes: the message tells what there was no memory for, and the next picture is drawn. */
void pictures_beyond_memory_are_refused(void **state) {
    static const double origin[3] = {0, 0, 0};
    static frame f;
    mote_context *ctx = NULL;
    mote_context_params params = mote_context_defaults();
    mote_renderer *renderer = NULL;
    uint8_t pixel[4]; /* nothing is written */
    (void)state;
    params.device = MOTE_DEVICE_CPU;
    params.threads = 2;
    params.memory_limit_bytes = LIMIT_BYTES;
    assert_int_equal(mote_context_create(&params, &ctx), MOTE_OK);
    mote_cloud *cloud = colored_cloud(ctx, 1000, origin, 1);
    mote_camera camera = mote_camera_defaults();
    must(ctx, mote_render_create(ctx, cloud, &renderer));
    for (int mode = 0; mode < 3; mode++) {
        const double from[3] = {1, 1, 1};
        mote_render_params p = small_picture((mote_render_mode)mode);
        must(ctx, mote_render_fit(renderer, &camera, from, &p));
        p.width = p.height = LARGE;
        mote_render_result large = {.color8 = pixel};
        assert_int_equal(mote_render_draw(renderer, &camera, &p, &large), MOTE_ERROR_MEMORY);
        assert_non_null(strstr(mote_context_message(ctx), "frame"));
        mote_context_clear(ctx);
        p = small_picture((mote_render_mode)mode);
        open_frame(&f);
        must(ctx, mote_render_draw(renderer, &camera, &p, &f.result));
        assert_true(f.result.covered > 0);
    }
    assert_true(mote_context_memory_peak_bytes(ctx) <= LIMIT_BYTES);
    mote_render_destroy(renderer);
    mote_cloud_destroy(cloud);
    assert_int_equal(mote_context_memory_bytes(ctx), 0);
    mote_context_destroy(ctx);
}
