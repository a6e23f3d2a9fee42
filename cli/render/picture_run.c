/* Reads a cloud and makes its pictures. */
#include "render/picture_run.h"

#include <stdio.h>
#include <string.h>

#include "render/picture_camera.h"
#include "render/picture_canvas.h"
#include "render/picture_look.h"
#include "text.h"

typedef struct picture_task {
    picture_plan *plan;
    mote_cloud *cloud;
    mote_renderer *renderer;
    picture_look look;
    picture_canvas *canvas;
    picture_facts facts;
    double read_s, load_s, draw_s;
} picture_task;

static int read_cloud(session *s, picture_task *t) {
    const io_paths *paths = t->plan->paths;
    mote_read_params reading = mote_read_defaults();
    const double begin = seconds_now();
    reading.select = "x,y,z,red,green,blue,number_of_returns";
    const int code = session_read(s, paths->inputs, paths->input_count, &reading, &t->cloud);
    t->read_s = seconds_now() - begin;
    return code;
}

static int load_renderer(session *s, picture_task *t) {
    const double begin = seconds_now();
    const mote_status status = mote_render_create(s->ctx, t->cloud, &t->renderer);
    t->load_s = seconds_now() - begin;
    return status == MOTE_OK ? EXIT_DONE : session_fail(s, status, false);
}

static void settle(picture_task *t) {
    const mote_box box = mote_render_bounds(t->renderer);
    t->look = picture_look_at(t->cloud, &box, t->plan->view.up);
    picture_look_settle(&t->look, mote_cloud_count(t->cloud), t->plan);
}

static int draw(session *s, picture_task *t) {
    picture_plan *plan = t->plan;
    const mote_render_params *params = &plan->params;
    const picture_region all = {0, 0, params->width, params->height};
    const picture_output outputs[PICTURE_LAYERS] = {{plan->paths->output, plan->format}};
    mote_camera camera;
    int code = picture_camera_place(s, &plan->view, t->look.terrain, t->renderer, params, &camera);
    if (code == EXIT_DONE) code = picture_canvas_make(s, params, &all, plan->wide, outputs, &t->canvas);
    const double begin = seconds_now();
    if (code == EXIT_DONE) {
        code = picture_canvas_draw(s, t->canvas, t->renderer, &camera, &all, outputs, NULL, 0, &t->facts);
    }
    t->draw_s = seconds_now() - begin;
    return code;
}

static void report(session *s, const picture_task *t) {
    session_printing(s);
    session_say(s, "%s: %u x %u pixels of %s points in %s: read %s, load %s, draw %s",
                path_title(t->plan->paths->output), t->plan->params.width, t->plan->params.height,
                text_count(mote_cloud_count(t->cloud)).chars, text_seconds(seconds_now() - s->started).chars,
                text_seconds(t->read_s).chars, text_seconds(t->load_s).chars, text_seconds(t->draw_s).chars);
}

int picture_run(session *s, picture_plan *plan) {
    picture_task t = {.plan = plan};
    int code = picture_plan_check_outputs(s, plan);
    if (code == EXIT_DONE) code = read_cloud(s, &t);
    if (code == EXIT_DONE) code = load_renderer(s, &t);
    if (code == EXIT_DONE) settle(&t);
    if (code == EXIT_DONE) code = draw(s, &t);
    if (code == EXIT_DONE) report(s, &t);
    picture_canvas_free(t.canvas);
    mote_render_destroy(t.renderer);
    mote_cloud_destroy(t.cloud);
    return code;
}
