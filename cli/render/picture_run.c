/* Reads a cloud and makes its pictures: one, the tiles of a map, or those of a sequence. */
#include "render/picture_run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "render/picture_camera.h"
#include "render/picture_color.h"
#include "render/picture_degrees.h"
#include "render/picture_legend.h"
#include "render/picture_look.h"
#include "render/picture_map.h"
#include "render/picture_name.h"
#include "render/picture_octree.h"
#include "render/picture_path.h"
#include "render/picture_report.h"
#include "render/picture_room.h"
#include "render/picture_surface.h"
#include "render/picture_up.h"
#include "render/picture_wave.h"
#include "text.h"
#include "units_text.h"

#define OVERLAYS   2
#define STEPS_BACK 4 /* of a camera whose picture an edge still cuts; one is seldom needed */

typedef struct picture_task {
    picture_plan *plan;
    char select[512]; /* the attributes to read */
    picture_octree octree;
    picture_stretch stretch; /* of the first cloud */
    mote_cloud *cloud;       /* of an octree first its root, then what is seen */
    mote_renderer *renderer;
    mote_box box; /* of nearly all points: those far from all others do not count */
    picture_look look;
    picture_colors colors;
    picture_apart apart;
    picture_surface surface;
    picture_path path;
    picture_wave wave;
    picture_tiles tiles;
    picture_canvas *canvas;
    picture_overlay overlays[OVERLAYS];
    int overlay_count;
    picture_report report;
} picture_task;

/* ---- the cloud */

/* A map of degrees stays one: programs that lay it over others want it so, and heights are not seen in it. What is
   asked for in the file's coordinates is meant as these are drawn. */
static int find_stretch(session *s, picture_task *t) {
    picture_view *view = &t->plan->view;
    t->stretch = (picture_stretch){.by = {1, 1}};
    if (view->gsd > 0) return EXIT_DONE;
    const int code = picture_stretch_find(s, t->cloud, &t->stretch);
    picture_stretch_place(&t->stretch, view->eye);
    picture_stretch_place(&t->stretch, view->target);
    if (t->stretch.is_geographic) session_note(s, "longitude and latitude are drawn as lengths");
    return code;
}

/* frame: of a cloud that moves, whose pictures go round its inputs */
static int read_cloud(session *s, picture_task *t, uint32_t frame) {
    const io_paths *paths = t->plan->paths;
    const bool moving = t->plan->moving;
    const double begin = seconds_now();
    int code;
    picture_color_select(t->plan, t->select, sizeof t->select);
    if (!t->plan->whole && !moving) t->octree = picture_octree_find(s, paths);
    if (t->octree.is_octree) {
        code = picture_octree_read_root(s, &t->octree, paths, t->select, &t->cloud);
        t->octree.is_octree = code != EXIT_DONE || mote_cloud_count(t->cloud) > 0 || s->options.where == NULL;
        if (!t->octree.is_octree) mote_cloud_destroy(t->cloud); /* of few points none need be in the root */
    }
    if (!t->octree.is_octree) {
        mote_read_params reading = session_reading(s);
        reading.select = t->select;
        const char *const *first = paths->inputs + (moving ? frame % (uint32_t)paths->input_count : 0);
        code = session_read_any(s, first, moving ? 1 : paths->input_count, &reading, &t->cloud);
    }
    t->report.read_s += seconds_now() - begin;
    if (code == EXIT_DONE) t->report.points = mote_cloud_count(t->cloud);
    if (code == EXIT_DONE && t->report.points == 0 && s->options.where != NULL) {
        return session_error(s, EXIT_INPUT, "%s: no point meets --where \"%s\"", path_title(paths->inputs[0]),
                             s->options.where);
    }
    if (code == EXIT_DONE && frame == 0) code = find_stretch(s, t);
    return code == EXIT_DONE ? picture_stretch_cloud(s, &t->stretch, t->cloud) : code;
}

static int load_renderer(session *s, picture_task *t) {
    const double begin = seconds_now();
    mote_strays strays = {.count = 0};
    mote_status status = mote_render_create(s->ctx, t->cloud, &t->renderer);
    if (status == MOTE_OK) {
        t->box = mote_render_bounds(t->renderer);
        status = mote_cloud_strays(s->ctx, t->cloud, &t->box, &strays);
        if (strays.count > 0) t->box = strays.rest;
    }
    t->report.load_s += seconds_now() - begin;
    return status == MOTE_OK ? EXIT_DONE : session_fail(s, status, false);
}

/* What is up, of the points that were read first. What a depth camera saw has no other side than that towards it. */
static void find_up(session *s, picture_task *t) {
    picture_up *up = &t->report.up;
    picture_view *view = &t->plan->view;
    *up = picture_up_find(s, t->plan, t->cloud, &t->box);
    memcpy(view->up, up->direction, sizeof up->direction);
    if (up->reason == UP_CAMERA && !view->has_side) view->side = SIDE_FRONT;
    picture_up_tell(s, up);
}

/* How large the picture is, and what it is of. */
static int measure(session *s, picture_task *t) {
    t->look = picture_look_at(t->cloud, &t->box, t->plan->view.up);
    return picture_map_measure(s, t->plan, &t->box, &t->tiles);
}

/* ---- where from */

static int place_cameras(session *s, picture_task *t) {
    const picture_plan *plan = t->plan;
    picture_path *path = &t->path;
    int code = EXIT_DONE;
    picture_path_free(path);
    path->orbit = plan->orbit > 0;
    path->closed = plan->closed;
    path->frames = 1;
    if (plan->cameras != NULL) {
        code = picture_path_read(s, plan->cameras, &plan->view, path);
        for (uint32_t i = 0; i < path->count && code == EXIT_DONE; i++) {
            picture_stretch_place(&t->stretch, path->cameras[i].eye);
            picture_stretch_place(&t->stretch, path->cameras[i].target);
        }
        path->frames = plan->frames > 0 ? plan->frames : path->count;
    } else {
        code = picture_path_place(s, &plan->view, t->look.terrain, t->renderer, &plan->params, path);
        if (path->orbit) path->frames = plan->orbit;
        if (code == EXIT_DONE && plan->is_map) picture_map_place(plan, &t->box, &path->cameras[0]);
    }
    if (plan->wave > 0 && path->frames == 1) path->frames = plan->wave;
    if (plan->moving && path->frames == 1) path->frames = (uint32_t)plan->paths->input_count;
    return code;
}

/* Of an octree, of which the root has been read: what the cameras see. Then they are placed again: the root's points do
   not reach to the ends of all. */
static int read_seen(session *s, picture_task *t) {
    mote_cloud *seen = NULL;
    const double begin = seconds_now();
    if (!t->octree.is_octree || !(t->box.min[0] <= t->box.max[0])) return EXIT_DONE;
    int code = picture_octree_read_seen(s, t->plan, t->select, &t->path, &t->box, &t->stretch, &seen);
    t->report.read_s += seconds_now() - begin;
    if (code != EXIT_DONE) return code;
    mote_render_destroy(t->renderer);
    t->renderer = NULL;
    mote_cloud_destroy(t->cloud);
    t->cloud = seen;
    t->report.octree_points = t->octree.points;
    t->report.points = mote_cloud_count(seen);
    code = load_renderer(s, t);
    if (code == EXIT_DONE) code = measure(s, t);
    return code == EXIT_DONE ? place_cameras(s, t) : code;
}

/* ---- what the options leave to the data */

/* The cloud without points that stand alone: its box is another, and so are the cameras. */
static int drop_strays(session *s, picture_task *t) {
    picture_surface_tell(s, &t->surface, mote_cloud_count(t->cloud));
    mote_render_destroy(t->renderer);
    t->renderer = NULL;
    mote_cloud_destroy(t->cloud);
    t->cloud = t->surface.kept;
    t->surface.kept = NULL;
    int code = load_renderer(s, t);
    if (code == EXIT_DONE) code = measure(s, t);
    return code == EXIT_DONE ? place_cameras(s, t) : code;
}

/* A survey is one, however steep it is, whether its up was found or asked for. */
static bool is_landscape(const picture_task *t) {
    const picture_up *up = &t->report.up;
    if (t->look.terrain || up->reason == UP_SURVEY) return true;
    return up->reason == UP_ASKED && up->direction[2] > 0.999 && picture_up_is_survey(t->cloud);
}

/* What neighbours say, where the picture may be a surface, of a cloud that keeps still. Where strays are kept and the
   normals are chosen, nothing is asked of them. */
static int look_at_neighbors(session *s, picture_task *t, picture_spacing *spacing) {
    const mote_render_params *p = &t->plan->params;
    mote_camera camera = picture_path_at(&t->path, 0);
    *spacing = picture_spacing_of(s, t->cloud, &camera, p);
    const bool asks = !t->plan->keep_strays || !t->plan->has_normals;
    if (!asks || t->plan->moving || t->plan->wave > 0 || !picture_look_may_be_surface(&t->look, spacing, t->plan)) {
        return EXIT_DONE;
    }
    const double begin = seconds_now();
    int code = picture_surface_find(s, t->plan, t->cloud, is_landscape(t), &t->surface);
    t->report.load_s += seconds_now() - begin;
    if (code != EXIT_DONE || t->surface.kept == NULL) return code;
    code = drop_strays(s, t);
    camera = picture_path_at(&t->path, 0);
    *spacing = picture_spacing_of(s, t->cloud, &camera, p);
    return code;
}

/* Normals of the world's neighbours, unless others were asked for, where the screen's would not do: of noise, and where
   points lie on no surface. Of a clean surface those of the screen end splats more closely at its contour. */
static int give_normals(session *s, picture_task *t) {
    mote_render_params *p = &t->plan->params;
    const float *const normal[3] = {t->surface.normal[0], t->surface.normal[1], t->surface.normal[2]};
    const bool asked = t->surface.has_normals;
    if (!t->surface.known || p->mode != MOTE_RENDER_SURFACE || t->plan->has_normals || !asked) return EXIT_DONE;
    const mote_status status = mote_render_set_normals(t->renderer, normal, t->surface.spacing, false);
    p->normals = MOTE_RENDER_NORMALS_GIVEN;
    return status == MOTE_OK ? EXIT_DONE : session_fail(s, status, false);
}

/* Mode, sizes and normals, by how far apart the first camera sees the points. */
static int settle_look(session *s, picture_task *t, const picture_spacing *spacing) {
    picture_look_settle(&t->look, spacing, &t->surface, t->plan);
    return give_normals(s, t);
}

/* Colours of points, which are mixed where a pixel shows several, or kept apart. */
static int apply_colors(session *s, picture_task *t) {
    picture_apart_free(&t->apart);
    if (t->colors.source == COLOR_RGB && t->colors.exposure == 1) return EXIT_DONE; /* as a renderer has them */
    if (!t->colors.is_name || t->plan->params.mode == MOTE_RENDER_POINTS) {
        return picture_color_apply(s, &t->colors, t->cloud, t->renderer);
    }
    t->apart.points = mote_cloud_count(t->cloud);
    return picture_color_paint(s, &t->colors, t->cloud, &t->apart.rgba);
}

/* What the options left open, by the data. After the camera has moved it is what another would find that began there.
 */
static int settle(session *s, picture_task *t) {
    picture_spacing spacing;
    bool has_moved = false;
    int code = look_at_neighbors(s, t, &spacing);
    if (code != EXIT_DONE) return code;
    const picture_plan open = *t->plan;
    code = settle_look(s, t, &spacing);
    if (code != EXIT_DONE) return code;
    if (t->plan->wave > 0) code = picture_wave_begin(s, t->cloud, &t->box, t->plan->view.up, &t->wave);
    if (code == EXIT_DONE) code = picture_color_choose(s, t->plan, t->cloud, is_landscape(t), &t->colors);
    if (code == EXIT_DONE) code = apply_colors(s, t);
    if (code != EXIT_DONE) return code;
    const picture_contents contents = {t->cloud, &t->box, t->renderer};
    code = picture_room_make(s, t->plan, &contents, picture_look_reach(t->plan, &spacing), &t->path, &has_moved);
    for (int step = 0; code == EXIT_DONE && has_moved && step < STEPS_BACK; step++) {
        const mote_camera camera = picture_path_at(&t->path, 0);
        *t->plan = open;
        spacing = picture_spacing_of(s, t->cloud, &camera, &t->plan->params);
        code = settle_look(s, t, &spacing);
        if (code == EXIT_DONE) code = picture_room_keep(s, t->plan, t->renderer, &t->path, &has_moved);
    }
    return code;
}

/* ---- what is painted over it */

/* A bar lies across the picture, and counts in what the axes along it count in. Where that is not known it says
   "units", and so do we. units  of which the answer is a part */
static const char *unit_of_bar(session *s, const picture_task *t, mote_units *units) {
    const picture_lens lens = picture_lens_of(&t->path.cameras[0], &t->plan->params);
    mote_cloud_units(t->cloud, units);
    if (t->stretch.is_geographic) units->horizontal = units->vertical = t->stretch.unit;
    const char *symbol = units_symbol_along(units, lens.right);
    if (symbol == NULL) session_note(s, "--scale-bar: the input does not say what its coordinates count in");
    return symbol;
}

static void add_overlay(picture_task *t, picture_overlay overlay) {
    if (overlay.rgba != NULL) t->overlays[t->overlay_count++] = overlay;
}

/* Beside a legend colours are to be found again: what faces the light has them as they are, nothing is darker than
   three fifths of that, and no highlight is added. */
static void shade_little(mote_render_params *p) {
    p->ambient = 0.6;
    p->lights[0].strength = 0.4;
    p->specular = 0;
}

static int make_overlays(session *s, picture_task *t) {
    const picture_plan *plan = t->plan;
    const mote_render_params *p = &plan->params;
    const picture_region tile = picture_tile_region(&t->tiles, p, 0, 0);
    const uint8_t *ground = p->background;
    const bool dark = ground[3] > 0 && ground[0] + ground[1] + ground[2] < 384;
    if (plan->legend && t->colors.source != COLOR_RAMP && t->colors.source != COLOR_CLASS) {
        return session_error(s, EXIT_USAGE,
                             "--legend explains the colours of numbers and classes: --color height, class, …");
    }
    if (plan->legend && p->mode == MOTE_RENDER_SURFACE) shade_little(&t->plan->params);
    if (plan->legend) add_overlay(t, picture_legend_make(&t->colors, tile.width, tile.height, dark));
    if (plan->scale_bar) {
        const double pixel = t->path.cameras[0].height / p->height;
        mote_units units;
        const char *unit = unit_of_bar(s, t, &units);
        add_overlay(t, picture_scale_bar_make(pixel, unit, tile.width, tile.height, dark));
    }
    return EXIT_DONE;
}

/* ---- pictures */

/* Which of several pictures. */
typedef struct picture_turn {
    uint32_t frame, column, row;
} picture_turn;

/* The name of an output in this turn. */
static int name_output(session *s, const picture_task *t, const picture_turn *turn, const char *name,
                       char out[PICTURE_NAME_MAX]) {
    bool named = snprintf(out, PICTURE_NAME_MAX, "%s", name) < PICTURE_NAME_MAX;
    const bool several = picture_plan_is_sequence(t->plan) || t->tiles.side > 0;
    if (!several || path_is_stream(name)) return EXIT_DONE;
    if (picture_plan_is_sequence(t->plan)) named = picture_name_frame(name, turn->frame, out);
    if (t->tiles.side > 0) named = picture_name_tile(name, turn->column, turn->row, out);
    if (!named) {
        return session_error(s, EXIT_USAGE, "%s: pictures of a sequence have one %%d or %%04d in their name, or no %%",
                             name);
    }
    const io_paths paths = {t->plan->paths->inputs, t->plan->paths->input_count, out, NULL, true};
    return check_output_place(s, &paths);
}

static int draw_picture(session *s, picture_task *t, const picture_turn *turn, const mote_camera *camera) {
    const mote_render_params *params = &t->plan->params;
    const picture_region region = picture_tile_region(&t->tiles, params, turn->column, turn->row);
    char names[PICTURE_LAYERS][PICTURE_NAME_MAX];
    picture_output outputs[PICTURE_LAYERS];
    picture_facts facts;
    int code = EXIT_DONE;
    for (int i = 0; i < PICTURE_LAYERS && code == EXIT_DONE; i++) {
        outputs[i] = t->plan->outputs[i];
        if (outputs[i].path == NULL) continue;
        code = name_output(s, t, turn, outputs[i].path, names[i]);
        outputs[i].path = names[i];
    }
    if (code == EXIT_DONE) code = picture_plan_check_distinct(s, t->plan, outputs);
    if (code == EXIT_DONE && t->canvas == NULL) {
        code = picture_canvas_make(s, params, &region, t->plan->wide, outputs, t->surface.rows, &t->canvas);
    }
    if (code == EXIT_DONE) {
        code = picture_canvas_draw(s, t->canvas, t->renderer, camera, &t->apart, &region, outputs, t->overlays,
                                   t->overlay_count, &facts);
    }
    if (code == EXIT_DONE && t->plan->view.gsd > 0 && picture_map_has_world(camera) &&
        !path_is_stream(outputs[LAYER_COLOR].path)) {
        code = picture_map_write_world(s, outputs[LAYER_COLOR].path, camera, params, &region);
    }
    if (code == EXIT_DONE) picture_report_add(&t->report, &facts, outputs[LAYER_COLOR].path);
    return code;
}

/* The next of a cloud's inputs, in the colours of the first. */
static int read_next(session *s, picture_task *t, uint32_t frame) {
    mote_render_destroy(t->renderer);
    mote_cloud_destroy(t->cloud);
    t->renderer = NULL;
    t->cloud = NULL;
    picture_color_keep(&t->colors, t->plan);
    int code = read_cloud(s, t, frame);
    if (code == EXIT_DONE) code = load_renderer(s, t);
    if (code == EXIT_DONE) code = picture_color_choose(s, t->plan, t->cloud, is_landscape(t), &t->colors);
    return code == EXIT_DONE ? apply_colors(s, t) : code;
}

/* Brings a cloud that moves to where it is in a frame. */
static int move_cloud(session *s, picture_task *t, uint32_t frame) {
    if (t->plan->moving && frame > 0) return read_next(s, t, frame);
    if (t->plan->wave == 0) return EXIT_DONE;
    picture_wave_move(s, &t->wave, (double)frame / t->plan->wave, t->cloud);
    const mote_status status = mote_render_update(t->renderer);
    if (status != MOTE_OK) return session_fail(s, status, false);
    return apply_colors(s, t);
}

static int draw_all(session *s, picture_task *t) {
    const double begin = seconds_now();
    int code = EXIT_DONE;
    for (uint32_t frame = 0; frame < t->path.frames && code == EXIT_DONE; frame++) {
        const mote_camera camera = picture_path_at(&t->path, frame);
        code = move_cloud(s, t, frame);
        for (uint32_t row = 0; row < t->tiles.rows && code == EXIT_DONE; row++) {
            for (uint32_t column = 0; column < t->tiles.columns && code == EXIT_DONE; column++) {
                const picture_turn turn = {frame, column, row};
                code = draw_picture(s, t, &turn, &camera);
            }
        }
    }
    t->report.draw_s = seconds_now() - begin;
    return code;
}

static void close_task(picture_task *t) {
    for (int i = 0; i < t->overlay_count; i++) free(t->overlays[i].rgba);
    picture_canvas_free(t->canvas);
    picture_apart_free(&t->apart);
    picture_path_free(&t->path);
    picture_wave_free(&t->wave);
    picture_surface_free(&t->surface);
    mote_render_destroy(t->renderer);
    mote_cloud_destroy(t->cloud);
}

int picture_run(session *s, picture_plan *plan) {
    picture_task t = {.plan = plan};
    picture_report_begin(&t.report, plan);
    int code = picture_plan_check_outputs(s, plan);
    if (code == EXIT_DONE) code = read_cloud(s, &t, 0);
    if (code == EXIT_DONE) code = load_renderer(s, &t);
    if (code == EXIT_DONE) find_up(s, &t);
    if (code == EXIT_DONE) code = measure(s, &t);
    if (code == EXIT_DONE) code = place_cameras(s, &t);
    if (code == EXIT_DONE) code = read_seen(s, &t);
    if (code == EXIT_DONE) code = settle(s, &t);
    if (code == EXIT_DONE) picture_color_tell(s, plan, &t.colors);
    if (code == EXIT_DONE) picture_camera_tell_far(s, &t.path.cameras[0], &t.box);
    if (code == EXIT_DONE) code = make_overlays(s, &t);
    if (code == EXIT_DONE) code = draw_all(s, &t);
    if (code == EXIT_DONE) code = session_commit(s);
    if (code == EXIT_DONE) {
        mote_camera camera = t.path.cameras[0];
        picture_unstretch_place(&t.stretch, camera.eye);
        picture_unstretch_place(&t.stretch, camera.target);
        picture_report_print(s, &t.report, &camera, &t.colors);
    }
    close_task(&t);
    return code;
}
