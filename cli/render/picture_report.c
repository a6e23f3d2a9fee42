/* What a run made, as it says it. */
#include "render/picture_report.h"
#include "pi.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "costs.h"
#include "print.h"
#include "render/picture_look.h"
#include "text.h"

void picture_report_begin(picture_report *report, const picture_plan *plan) {
    memset(report, 0, sizeof *report);
    report->plan = plan;
    report->facts.depth_min = INFINITY;
    report->facts.depth_max = -INFINITY;
}

void picture_report_add(picture_report *report, const picture_facts *facts, const char *name) {
    picture_facts *all = &report->facts;
    if (report->pictures++ == 0) snprintf(report->first, sizeof report->first, "%s", name);
    all->pixels += facts->pixels;
    all->shown += facts->shown;
    all->seen += facts->seen;
    all->splats += facts->splats;
    all->closed += facts->closed;
    all->ranges += facts->ranges;
    all->ranges_read += facts->ranges_read;
    all->normal_error_deg = facts->normal_error_deg;
    all->normal_error_deviation_deg = facts->normal_error_deviation_deg;
    all->hash = (all->hash ^ facts->hash) * UINT64_C(0x9E3779B97F4A7C15);
    all->depth_min = fminf(all->depth_min, facts->depth_min);
    all->depth_max = fmaxf(all->depth_max, facts->depth_max);
}

static double percent(uint64_t part, uint64_t whole) { return whole > 0 ? 100 * (double)part / (double)whole : 0; }

static void print_stats(const session *s, const picture_report *r, const picture_colors *colors) {
    const picture_facts *f = &r->facts;
    const mote_render_params *p = &r->plan->params;
    print_out("%s of %s, %u x %u samples a pixel\n", picture_mode_name(p->mode), picture_color_title(colors),
              p->samples, p->samples);
    if (colors->exposure != 1) print_out("colours are shown %g times brighter\n", colors->exposure);
    if (r->octree_points > 0) {
        print_out("%s of %s points of the octree were read\n", text_count(r->points).chars,
                  text_count(r->octree_points).chars);
    }
    print_out("%s of %s pixels show points (%.2f %%); %s samples were closed\n", text_count(f->shown).chars,
              text_count(f->pixels).chars, percent(f->shown, f->pixels), text_count(f->closed).chars);
    print_out("%s of %s ranges of points were read\n", text_count(f->ranges_read).chars, text_count(f->ranges).chars);
    if (p->mode == MOTE_RENDER_SURFACE) {
        print_out("%s points were seen, %s splats drawn\n", text_count(f->seen).chars, text_count(f->splats).chars);
    }
    if (f->shown > 0) { print_out("depth %s to %s\n", text_float(f->depth_min).chars, text_float(f->depth_max).chars); }
    costs_print(s, NULL, 0, r->points);
}

static void emit_place(json_writer *json, const char *name, const double place[3]) {
    emit_open(json, name, '[');
    for (int k = 0; k < 3; k++) emit_real(json, NULL, place[k]);
    emit_close(json, ']');
}

static void emit_camera(json_writer *json, const mote_camera *camera) {
    emit_open(json, "camera", '{');
    emit_text(json, "projection", camera->projection == MOTE_PERSPECTIVE ? "perspective" : "orthographic");
    emit_place(json, "eye", camera->eye);
    emit_place(json, "target", camera->target);
    emit_place(json, "up", camera->up);
    if (camera->projection == MOTE_PERSPECTIVE) {
        emit_real(json, "fov", camera->angle_rad * (180 / PI));
    } else {
        emit_real(json, "height", camera->height);
    }
    emit_close(json, '}');
}

static void print_json(const session *s, const picture_report *r, const mote_camera *camera,
                       const picture_colors *colors, const char *digits) {
    const picture_facts *f = &r->facts;
    const mote_render_params *p = &r->plan->params;
    json_writer json;
    emit_start(&json, stdout, false);
    emit_open(&json, NULL, '{');
    emit_text(&json, "output", path_title(r->first));
    emit_count(&json, "pictures", r->pictures);
    emit_count(&json, "width", p->width);
    emit_count(&json, "height", p->height);
    emit_text(&json, "mode", picture_mode_name(p->mode));
    emit_text(&json, "color", picture_color_title(colors));
    if (colors->source == COLOR_RGB) emit_real(&json, "exposure", colors->exposure);
    emit_count(&json, "samples", p->samples);
    emit_count(&json, "points", r->points);
    if (r->octree_points > 0) emit_count(&json, "octree_points", r->octree_points);
    emit_count(&json, "pixels", f->pixels);
    emit_count(&json, "shown", f->shown);
    emit_count(&json, "closed", f->closed);
    emit_count(&json, "seen", f->seen);
    emit_count(&json, "splats", f->splats);
    emit_count(&json, "ranges", f->ranges);
    emit_count(&json, "ranges_read", f->ranges_read);
    emit_real(&json, "depth_min", f->depth_min);
    emit_real(&json, "depth_max", f->depth_max);
    if (p->show == MOTE_RENDER_SHOW_NORMAL_ERROR) {
        emit_real(&json, "normal_error_deg", f->normal_error_deg);
        emit_real(&json, "normal_error_deviation_deg", f->normal_error_deviation_deg);
    }
    emit_place(&json, "up", r->up.direction);
    emit_text(&json, "up_by", picture_up_reason(&r->up));
    emit_camera(&json, camera);
    emit_text(&json, "backend", mote_context_backend(s->ctx));
    emit_real(&json, "draw_seconds", r->draw_s);
    emit_real(&json, "seconds", seconds_now() - s->started);
    if (s->options.hash) emit_text(&json, "hash", digits);
    costs_emit(s, NULL, 0, &json);
    emit_close(&json, '}');
    emit_end(&json);
}

void picture_report_print(session *s, const picture_report *r, const mote_camera *camera,
                          const picture_colors *colors) {
    const mote_render_params *p = &r->plan->params;
    char digits[20], several[64] = "";
    if (r->pictures > 1) snprintf(several, sizeof several, " and %s more", text_count(r->pictures - 1).chars);
    snprintf(digits, sizeof digits, "%016" PRIx64, r->facts.hash);
    session_printing(s);
    session_say(s, "%s%s: %u x %u pixels, %s of %s points in %s; reading %s, loading %s, drawing %s",
                path_title(r->first), several, p->width, p->height, picture_mode_name(p->mode),
                text_count(r->points).chars, text_seconds(seconds_now() - s->started).chars,
                text_seconds(r->read_s).chars, text_seconds(r->load_s).chars, text_seconds(r->draw_s).chars);
    if (r->facts.shown == 0) session_note(s, "no point is in the picture: look at --eye, --target and --fov");
    if (p->show == MOTE_RENDER_SHOW_NORMAL_ERROR) {
        session_say(s, "normals are %.2f degrees off, standard deviation %.2f", r->facts.normal_error_deg,
                    r->facts.normal_error_deviation_deg);
    }
    if (s->options.json) {
        print_json(s, r, camera, colors, digits);
        return;
    }
    if (r->plan->stats) print_stats(s, r, colors);
    if (s->options.hash) print_out("%s  %s\n", digits, path_title(r->first));
}
