/* A cloud as it is at one time, ready to be drawn from anywhere. */
#include "view/live/live_scene.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "render/picture_apart.h"
#include "render/picture_camera.h"
#include "render/picture_plan.h"
#include "view/live/live_filter.h"

/* Diameter of points, in distances between them, at which surfaces look closed: that of the page. */
#define COVERAGE     1.7
#define SMALL_POINT  2.0 /* pixels: smaller ones are samples, whose holes are closed */
#define MOVING_CLOSE 3u  /* pixels: wider holes take long to look for, and the still picture closes them */

static const io_paths no_paths = {NULL, 0, NULL, NULL, false};

/* ---- making one */

static mote_status make_renderer(live_scene *scene, const live_part *part, live_renderer *r) {
    const mote_status status = mote_render_create(scene->session.ctx, part->cloud, &r->renderer);
    r->key[0] = '\0'; /* the cloud's own colours */
    return status;
}

static mote_status prepare(live_scene *scene, live_source *source) {
    session *s = &scene->session;
    mote_strays strays = {.count = 0};
    live_part *whole = &scene->parts[0];
    whole->cloud = scene->cloud;
    mote_status status = make_renderer(scene, whole, &whole->renderers[0]);
    if (status != MOTE_OK) return status;
    scene->box = mote_render_bounds(whole->renderers[0].renderer);
    status = mote_cloud_strays(s->ctx, scene->cloud, &scene->box, &strays);
    if (strays.count > 0) scene->box = strays.rest;
    if (status == MOTE_OK) scene->up = live_source_up(source, s, scene->cloud, &scene->box);
    return status;
}

int live_scene_make(const session *s, live_source *source, live_scene **out, char *why, size_t why_size) {
    live_scene *scene = calloc(1, sizeof *scene);
    *out = NULL;
    snprintf(why, why_size, "memory has run out");
    if (scene == NULL) return session_error((session *)s, EXIT_RESOURCES, "out of memory");
    scene->inputs = source->inputs;
    scene->input_count = source->input_count;
    int code = session_open(&scene->session, s->command, &s->options);
    if (code == EXIT_DONE) {
        code = live_source_read(source, &scene->session, &scene->cloud, scene->name, sizeof scene->name);
    }
    if (code == EXIT_DONE) {
        const mote_status status = prepare(scene, source);
        if (status != MOTE_OK) code = session_fail(&scene->session, status, true);
    }
    progress_clear(&scene->session.bar);
    if (code == EXIT_DONE) {
        *out = scene;
        return code;
    }
    if (scene->session.ctx != NULL) snprintf(why, why_size, "%s", mote_context_message(scene->session.ctx));
    live_scene_free(scene);
    return code;
}

static void free_part(const live_scene *scene, live_part *part) {
    for (int i = 0; i < LIVE_RENDERERS; i++) mote_render_destroy(part->renderers[i].renderer);
    if (part->cloud != scene->cloud) mote_cloud_destroy(part->cloud);
    memset(part, 0, sizeof *part);
}

void live_scene_free(live_scene *scene) {
    if (scene == NULL) return;
    for (int i = 0; i < LIVE_PARTS; i++) free_part(scene, &scene->parts[i]);
    mote_cloud_destroy(scene->cloud);
    session_close(&scene->session, EXIT_DONE);
    free(scene->depth);
    free(scene);
}

/* ---- what a view means */

static bool is_of_splats(const live_view *view) {
    return view->show == MOTE_RENDER_SHOW_RADIUS || view->show == MOTE_RENDER_SHOW_ITERATIONS;
}

/* Makes the plan that mote render would make if the view had been typed as its options. */
static bool make_plan(const live_view *view, picture_plan *plan) {
    char size[32];
    snprintf(size, sizeof size, "%ux%u", view->width, view->height);
    picture_options o = {.mode = PICTURE_AUTO, .samples = 1, .bits = 8, .edl = view->edl, .fov_given = true};
    o.mode = view->mode;
    o.mode_given = view->mode != PICTURE_AUTO && !is_of_splats(view);
    o.show = view->show;
    o.show_given = view->show != MOTE_RENDER_SHOW_COLOR;
    o.color = !o.show_given && view->color[0] != '\0' ? view->color : NULL;
    o.size = size;
    o.eye = view->eye;
    o.target = view->target;
    o.up = view->up;
    o.fov_deg = view->fov_deg;
    o.ortho = view->is_orthographic;
    o.edl_given = view->has_edl;
    o.background = view->background;
    return picture_plan_make(&o, &no_paths, plan) == EXIT_DONE;
}

/* Whether it is a landscape goes with the direction that is up, and may take a pass over all points: it is kept. */
static const picture_look *find_look(live_scene *scene, const live_view *view, const picture_plan *plan) {
    if (strcmp(scene->look_up, view->up) != 0) {
        scene->look = picture_look_at(scene->cloud, &scene->box, plan->view.up);
        snprintf(scene->look_up, sizeof scene->look_up, "%s", view->up);
    }
    return &scene->look;
}

static bool has_column(const live_scene *scene, const char *name) {
    return mote_cloud_find(scene->cloud, name) != NULL;
}

/* Whether the cloud can be coloured so: what cannot is never asked of picture_color_choose, which complains. */
static bool has_color(const live_scene *scene, const char *name) {
    if (name == NULL || strcmp(name, "none") == 0 || strcmp(name, "height") == 0) return true;
    if (strcmp(name, "rgb") == 0) return has_column(scene, "red");
    if (strcmp(name, "normal") == 0) {
        return has_column(scene, "normal_x") && has_column(scene, "normal_y") && has_column(scene, "normal_z");
    }
    return has_column(scene, name);
}

/* What colours of a name are, with the range that most values have. */
static live_coloring *find_coloring(live_scene *scene, const live_view *view, const picture_plan *plan, bool terrain) {
    char key[sizeof scene->colorings[0].key];
    snprintf(key, sizeof key, "%s %s", plan->color != NULL ? plan->color : "", view->up);
    for (int i = 0; i < LIVE_COLORINGS; i++) {
        if (scene->colorings[i].is_known && strcmp(scene->colorings[i].key, key) == 0) return &scene->colorings[i];
    }
    live_coloring *c = &scene->colorings[scene->next_coloring];
    c->is_known = false;
    if (picture_color_choose(&scene->session, plan, scene->cloud, terrain, &c->colors) != EXIT_DONE) return NULL;
    snprintf(c->key, sizeof c->key, "%s", key);
    c->is_known = true;
    scene->next_coloring = (scene->next_coloring + 1) % LIVE_COLORINGS;
    return c;
}

/* Map and range are the page's; they do not change what other pages see. */
static void take_ramp(const live_view *view, picture_colors *colors) {
    if (colors->source != COLOR_RAMP) return;
    colors->map = (color_map)view->map;
    if (view->range[0] == '\0') return;
    char *end = NULL;
    colors->range[0] = strtod(view->range, &end);
    colors->range[1] = strtod(end + 1, NULL);
}

/* ---- renderers */

/* Returns the renderer that has these colours. If none has, it makes one more where there is room; otherwise it returns
   the one that was used longest ago. */
static live_renderer *choose_renderer(live_scene *scene, live_part *part, const char *key) {
    live_renderer *oldest = &part->renderers[0], *fresh = NULL;
    for (int i = 0; i < LIVE_RENDERERS; i++) {
        live_renderer *r = &part->renderers[i];
        if (r->renderer == NULL) {
            if (fresh == NULL) fresh = r;
            continue;
        }
        if (strcmp(r->key, key) == 0) return r;
        if (r->used < oldest->used) oldest = r;
    }
    /* Alone, the old colours will hardly be asked for again; where they are, by another page, a renderer each is worth
       its memory. */
    const bool is_shared = scene->clock - oldest->used < 64 && oldest->used > 0;
    if (fresh != NULL && is_shared && make_renderer(scene, part, fresh) == MOTE_OK) return fresh;
    mote_context_clear(scene->session.ctx);
    return oldest;
}

/* The colours of a cloud for the values that one part of it has. */
static picture_colors colors_of_part(const picture_colors *colors, const live_part *part) {
    picture_colors own = *colors;
    for (int k = 0; k < own.values.count; k++) {
        own.values.column[k] = mote_cloud_find(part->cloud, colors->values.column[k]->name);
    }
    own.values.points = mote_cloud_count(part->cloud);
    own.values.cloud = part->cloud;
    return own;
}

static live_renderer *find_renderer(live_scene *scene, live_part *part, const picture_colors *colors) {
    char key[sizeof part->renderers[0].key] = "";
    if (colors->source != COLOR_RGB) {
        snprintf(key, sizeof key, "%d %s %d %.17g %.17g %.17g %.17g %.17g", (int)colors->source, colors->name,
                 (int)colors->map, colors->range[0], colors->range[1], colors->values.factor[0],
                 colors->values.factor[1], colors->values.factor[2]);
    } else if (colors->exposure != 1) {
        snprintf(key, sizeof key, "rgb %.17g", colors->exposure);
    }
    live_renderer *r = choose_renderer(scene, part, key);
    if (strcmp(r->key, key) != 0) {
        const picture_colors own = colors_of_part(colors, part);
        if (picture_color_apply(&scene->session, &own, part->cloud, r->renderer) != EXIT_DONE) return NULL;
        snprintf(r->key, sizeof r->key, "%s", key);
    }
    r->used = ++scene->clock;
    return r;
}

/* ---- what a filter leaves */

/* The part that a view shows: one that is there, else in place of the one used longest ago. NULL: no memory. */
static live_part *find_part(live_scene *scene, const live_view *view, const picture_plan *plan) {
    live_part *oldest = &scene->parts[1];
    if (!live_filter_is_on(&view->filter)) return &scene->parts[0];
    for (int i = 1; i < LIVE_PARTS; i++) {
        live_part *part = &scene->parts[i];
        const bool is_it = part->cloud != NULL && strcmp(part->up, view->up) == 0;
        if (is_it && live_filter_is_same(&part->filter, &view->filter)) {
            part->used = ++scene->clock;
            return part;
        }
        if (part->used < oldest->used) oldest = part;
    }
    free_part(scene, oldest);
    mote_status status =
        live_filter_apply(scene->session.ctx, scene->cloud, &view->filter, plan->view.up, &oldest->cloud);
    if (status == MOTE_OK) status = make_renderer(scene, oldest, &oldest->renderers[0]);
    if (status != MOTE_OK) {
        free_part(scene, oldest);
        return NULL;
    }
    oldest->filter = view->filter;
    oldest->used = ++scene->clock;
    snprintf(oldest->up, sizeof oldest->up, "%s", view->up);
    return oldest;
}

/* ---- drawing */

static bool size_depth(live_scene *scene, size_t pixels) {
    if (pixels <= scene->depth_pixels) return true;
    free(scene->depth);
    scene->depth = malloc(pixels * sizeof *scene->depth);
    scene->depth_pixels = scene->depth != NULL ? pixels : 0;
    return scene->depth != NULL;
}

static uint32_t scaled(uint32_t side, double scale) { return (uint32_t)fmax(1, floor(side * scale + 0.5)); }

static double distance_of(const mote_camera *camera) {
    double sum = 0;
    for (int k = 0; k < 3; k++) sum += (camera->target[k] - camera->eye[k]) * (camera->target[k] - camera->eye[k]);
    return sqrt(sum);
}

/* Points as large as they are far apart: seen from near they are discs, and no dust. In whole hundredths, so that the
   command of a picture says it exactly. */
static void give_points_size(const picture_spacing *spacing, mote_render_params *p) {
    const double size = COVERAGE * spacing->median;
    if (p->mode != MOTE_RENDER_POINTS || size < SMALL_POINT || size <= p->point_size) return;
    p->point_size = floor(100 * fmin(size, MOTE_RENDER_MAX_POINT)) / 100;
}

/* Chooses by the data what the options left open. A still picture gets what mote render would choose, but for the size
   of points. A moving one gets what was found for the last still picture, at its scale, and nothing that takes long. */
static void settle(live_scene *scene, const live_part *part, const picture_look *look, const mote_camera *camera,
                   const live_quality *quality, picture_plan *plan) {
    live_spacing *kept = quality->spacing;
    mote_render_params *p = &plan->params;
    const double distance = distance_of(camera);
    if (quality->is_still || !(kept->found.median > 0)) {
        kept->found = picture_spacing_of(&scene->session, part->cloud, camera, p);
        kept->distance = distance;
    }
    picture_spacing spacing = kept->found;
    if (!quality->is_still) {
        const double nearer = kept->distance / distance;
        p->width = scaled(p->width, quality->scale);
        p->height = scaled(p->height, quality->scale);
        spacing.median *= quality->scale * nearer;
        spacing.upper *= quality->scale * nearer;
        plan->has_samples = true;
        p->samples = 1;
    }
    picture_look_settle(look, &spacing, NULL, plan);
    give_points_size(&spacing, p);
    if (!quality->is_still && p->close_pixels > MOVING_CLOSE) p->close_pixels = MOVING_CLOSE;
}

/* The message of what failed, which is then forgotten: the next picture may well be drawn. */
static bool fail(live_scene *scene, char *why, size_t why_size) {
    const char *message = mote_context_message(scene->session.ctx);
    snprintf(why, why_size, "%s", message[0] != '\0' ? message : "memory has run out");
    mote_context_clear(scene->session.ctx);
    return false;
}

/* The picture's colours; NULL where they are false colours, or where there are none. */
static bool choose_colors(live_scene *scene, const live_view *view, picture_plan *plan, bool terrain,
                          const picture_colors **out) {
    *out = NULL;
    if (plan->needs_normals && !has_column(scene, "normal_z")) return false;
    if (!has_color(scene, plan->color)) plan->color = NULL; /* of a cloud that was there before */
    live_coloring *coloring = find_coloring(scene, view, plan, terrain);
    if (coloring == NULL) return false;
    scene->colors = coloring->colors;
    take_ramp(view, &scene->colors);
    *out = &scene->colors;
    return true;
}

/* Draws as mote render does: colours of what is no quantity are not mixed, and the renderer then has others. */
static mote_status draw(live_scene *scene, const live_part *part, live_renderer *r, const picture_colors *colors,
                        const mote_camera *camera, const mote_render_params *params, mote_render_result *result) {
    if (colors == NULL || !colors->is_name || params->mode == MOTE_RENDER_POINTS) {
        return mote_render_draw(r->renderer, camera, params, result);
    }
    picture_apart apart = {NULL, mote_cloud_count(part->cloud)};
    const picture_colors own = colors_of_part(colors, part);
    mote_status status = MOTE_ERROR_MEMORY;
    if (picture_color_paint(&scene->session, &own, part->cloud, &apart.rgba) == EXIT_DONE) {
        status = picture_apart_draw(&apart, r->renderer, camera, params, result);
    }
    snprintf(r->key, sizeof r->key, "white");
    picture_apart_free(&apart);
    return status;
}

bool live_scene_draw(live_scene *scene, const live_view *view, const live_quality *quality, live_picture *picture,
                     const picture_colors **colors, char *why, size_t why_size) {
    picture_plan plan;
    mote_camera camera;
    mote_render_result result;
    memset(&result, 0, sizeof result);
    const double begin = seconds_now();
    snprintf(why, why_size, "the view cannot be drawn");
    if (!make_plan(view, &plan)) return false;
    const picture_look *look = find_look(scene, view, &plan);
    if (picture_camera_place(&scene->session, &plan.view, look->terrain, NULL, &plan.params, &camera) != EXIT_DONE) {
        return false;
    }
    snprintf(why, why_size, "the cloud has no normals; \"mote normals\" makes them");
    if (!choose_colors(scene, view, &plan, look->terrain, colors)) return false;
    live_part *part = find_part(scene, view, &plan);
    if (part == NULL) return fail(scene, why, why_size);
    settle(scene, part, look, &camera, quality, &plan);
    live_renderer *r = find_renderer(scene, part, *colors);
    const mote_render_params *p = &plan.params;
    if (r == NULL || !size_depth(scene, (size_t)p->width * p->height) ||
        !live_picture_size(picture, p->width, p->height)) {
        return fail(scene, why, why_size);
    }
    result.color8 = picture->rgba;
    result.depth = scene->depth;
    if (draw(scene, part, r, *colors, &camera, p, &result) != MOTE_OK) return fail(scene, why, why_size);
    live_picture_grid(picture, scene->depth);
    picture->seq = view->seq;
    picture->scene = scene->version;
    picture->mode = (int)p->mode;
    picture->samples = p->samples;
    picture->close_pixels = p->close_pixels;
    picture->point_pixels = p->mode == MOTE_RENDER_POINTS ? p->point_size : 0;
    picture->is_still = quality->is_still;
    picture->draw_s = seconds_now() - begin;
    if (view->show != MOTE_RENDER_SHOW_COLOR) *colors = NULL;
    return true;
}

/* ---- picking */

#define POINT_SIDE_MAX 33u

/* The part of the picture around a pixel. */
static void take_part(mote_render_params *p, uint32_t x, uint32_t y, uint32_t radius) {
    const uint32_t right = x + radius < p->width ? x + radius : p->width - 1;
    const uint32_t below = y + radius < p->height ? y + radius : p->height - 1;
    p->part_x = x > radius ? x - radius : 0;
    p->part_y = y > radius ? y - radius : 0;
    p->part_width = right - p->part_x + 1;
    p->part_height = below - p->part_y + 1;
}

/* The one nearest to the pixel, in the picture. */
static uint32_t nearest_of(const mote_render_params *p, const uint32_t *index, const float *depth, uint32_t x,
                           uint32_t y, double *found_depth) {
    uint32_t found = MOTE_RENDER_NO_POINT;
    double least = INFINITY;
    for (uint32_t i = 0; i < p->part_width * p->part_height; i++) {
        const uint32_t column = p->part_x + i % p->part_width, row = p->part_y + i / p->part_width;
        const double dx = (double)column - x, dy = (double)row - y;
        if (index[i] == MOTE_RENDER_NO_POINT || dx * dx + dy * dy >= least) continue;
        least = dx * dx + dy * dy;
        found = index[i];
        *found_depth = depth[i];
    }
    return found;
}

uint32_t live_scene_point_at(live_scene *scene, const live_view *view, uint32_t x, uint32_t y, uint32_t radius,
                             double *depth, const mote_cloud **cloud) {
    mote_context *ctx = scene->session.ctx;
    picture_plan plan;
    mote_camera camera;
    mote_render_result result;
    uint32_t index[POINT_SIDE_MAX * POINT_SIDE_MAX];
    float depths[POINT_SIDE_MAX * POINT_SIDE_MAX];
    memset(&result, 0, sizeof result);
    if (x >= view->width || y >= view->height || 2 * radius + 1 > POINT_SIDE_MAX || !make_plan(view, &plan) ||
        picture_camera_place(&scene->session, &plan.view, false, NULL, &plan.params, &camera) != EXIT_DONE) {
        return MOTE_RENDER_NO_POINT;
    }
    mote_render_params *p = &plan.params;
    live_part *part = find_part(scene, view, &plan);
    if (part == NULL) {
        mote_context_clear(ctx);
        return MOTE_RENDER_NO_POINT;
    }
    *cloud = part->cloud;
    take_part(p, x, y, radius);
    p->mode = MOTE_RENDER_POINTS;
    p->show = MOTE_RENDER_SHOW_COLOR;
    p->normals = MOTE_RENDER_NORMALS_SCREEN;
    p->edl_strength = 0;
    p->close_pixels = 0;
    result.index = index;
    result.depth = depths;
    if (mote_render_draw(part->renderers[0].renderer, &camera, p, &result) != MOTE_OK) {
        mote_context_clear(ctx);
        return MOTE_RENDER_NO_POINT;
    }
    return nearest_of(p, index, depths, x, y, depth);
}
