/* Pictures: what is refused, and what fails. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "unit/render_test.h"

/* ---- refusals */

typedef struct refusal {
    const char *name;
    void (*spoil)(mote_render_params *p, mote_camera *camera);
} refusal;

static void no_width(mote_render_params *p, mote_camera *c) { (void)c, p->width = 0; }
static void too_wide(mote_render_params *p, mote_camera *c) { (void)c, p->width = MOTE_RENDER_MAX_SIZE + 1; }
static void too_fine(mote_render_params *p, mote_camera *c) {
    (void)c, p->width = MOTE_RENDER_MAX_SIZE, p->samples = 2;
}
static void no_samples(mote_render_params *p, mote_camera *c) { (void)c, p->samples = 0; }
static void part_beyond(mote_render_params *p, mote_camera *c) {
    (void)c, p->part_x = 30, p->part_width = p->part_height = 9;
}
static void bad_mode(mote_render_params *p, mote_camera *c) { (void)c, p->mode = (mote_render_mode)9; }
static void bad_k(mote_render_params *p, mote_camera *c) { (void)c, p->k = 3; }
static void bad_share(mote_render_params *p, mote_camera *c) { (void)c, p->share = NAN; }
static void bad_layers(mote_render_params *p, mote_camera *c) { (void)c, p->layers = 5; }
static void bad_light(mote_render_params *p, mote_camera *c) {
    (void)c, memset(p->lights[0].toward, 0, sizeof p->lights[0].toward);
}
static void bad_edl(mote_render_params *p, mote_camera *c) { (void)c, p->edl_radius = -1; }
static void bad_show(mote_render_params *p, mote_camera *c) { (void)c, p->show = MOTE_RENDER_SHOW_RADIUS; }
static void no_normals(mote_render_params *p, mote_camera *c) { (void)c, p->show = MOTE_RENDER_SHOW_NORMAL_ERROR; }
static void large_points(mote_render_params *p, mote_camera *c) { (void)c, p->point_size = 33; }
static void reserved(mote_render_params *p, mote_camera *c) { (void)c, p->reserved[6] = 1; }
static void own_eye(mote_render_params *p, mote_camera *c) { (void)p, memcpy(c->target, c->eye, sizeof c->eye); }
static void flat_angle(mote_render_params *p, mote_camera *c) { (void)p, c->angle_rad = PI; }
static void nan_eye(mote_render_params *p, mote_camera *c) { (void)p, c->eye[1] = NAN; }
static void no_height(mote_render_params *p, mote_camera *c) {
    (void)p, c->projection = MOTE_ORTHOGRAPHIC, c->height = 0;
}
static void camera_reserved(mote_render_params *p, mote_camera *c) { (void)p, c->reserved[0] = 1; }

void what_is_wrong_is_refused(void **state) {
    static const refusal refusals[] = {{"width", no_width},
                                       {"wide", too_wide},
                                       {"fine", too_fine},
                                       {"samples", no_samples},
                                       {"part", part_beyond},
                                       {"mode", bad_mode},
                                       {"k", bad_k},
                                       {"share", bad_share},
                                       {"layers", bad_layers},
                                       {"light", bad_light},
                                       {"edl", bad_edl},
                                       {"show", bad_show},
                                       {"normals", no_normals},
                                       {"point size", large_points},
                                       {"reserved", reserved},
                                       {"own eye", own_eye},
                                       {"angle", flat_angle},
                                       {"nan", nan_eye},
                                       {"height", no_height},
                                       {"camera", camera_reserved}};
    static const double origin[3] = {0, 0, 0};
    static frame f;
    mote_context *ctx = test_context(1);
    mote_cloud *cloud = colored_cloud(ctx, 10, origin, 1);
    (void)state;
    for (uint32_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++) {
        mote_render_params p = small_picture(MOTE_RENDER_POINTS);
        mote_camera camera = mote_camera_defaults();
        refusals[i].spoil(&p, &camera);
        open_frame(&f);
        const mote_status status = mote_render(ctx, cloud, &camera, &p, &f.result);
        if (status != MOTE_ERROR_ARGUMENT) fail_msg("%s: status %d", refusals[i].name, (int)status);
        assert_true(strlen(mote_context_message(ctx)) > 0);
        mote_context_clear(ctx);
    }
    f.result.on_device = true;
    const mote_render_params p = small_picture(MOTE_RENDER_POINTS);
    const mote_camera camera = mote_camera_defaults();
    assert_int_equal(mote_render(ctx, cloud, &camera, &p, &f.result), MOTE_ERROR_UNSUPPORTED);
    mote_cloud_destroy(cloud);
    assert_int_equal(mote_context_memory_bytes(ctx), 0);
    mote_context_destroy(ctx);
}

/* ---- failures */

static mote_status draw_all_modes(mote_context *ctx, void *user) {
    static const double origin[3] = {0, 0, 0};
    static frame f;
    const mote_camera camera = {.projection = MOTE_PERSPECTIVE,
                                .eye = {0.5, -2, 0.6},
                                .target = {0.5, 0.5, 0.5},
                                .up = {0, 0, 1},
                                .angle_rad = 0.7};
    mote_cloud *cloud = user;
    mote_renderer *renderer = NULL;
    mote_render_neighbors *found = NULL;
    (void)origin;
    mote_status status = mote_render_create(ctx, cloud, &renderer);
    for (int mode = 0; mode < 3 && status == MOTE_OK; mode++) {
        mote_render_params p = small_picture((mote_render_mode)mode);
        p.close_pixels = 2;
        p.show = mode == 2 ? MOTE_RENDER_SHOW_RADIUS : MOTE_RENDER_SHOW_COLOR;
        open_frame(&f);
        status = mote_render_draw(renderer, &camera, &p, &f.result);
    }
    const mote_render_params p = small_picture(MOTE_RENDER_SURFACE);
    if (status == MOTE_OK) status = mote_render_find_neighbors(renderer, &camera, &p, 5, &found);
    if (status == MOTE_OK) status = mote_render_update(renderer);
    mote_render_free_neighbors(ctx, found);
    mote_render_destroy(renderer);
    return status;
}

void allocations_may_fail(void **state) {
    static const double origin[3] = {0, 0, 0};
    mote_context *ctx = test_context(1);
    mote_cloud *cloud = colored_cloud(ctx, 3000, origin, 1);
    (void)state;
    test_each_allocation_fails(draw_all_modes, cloud);
    test_each_step_cancels(draw_all_modes, cloud);
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
}
