/* What mote render was asked for, as it is understood. */
#include "render/picture_plan.h"
#include "pi.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "text.h"

#define MAX_FRAMES 1000000u

/* ---- values of options */

/* "1920x1080" */
static int take_size(const char *size, mote_render_params *params) {
    char word[32];
    uint64_t width = 0, height = 0;
    const char *x = strchr(size, 'x');
    const bool fits = x != NULL && (size_t)(x - size) < sizeof word;
    if (fits) snprintf(word, sizeof word, "%.*s", (int)(x - size), size);
    if (!fits || !parse_count(word, 0, &width) || !parse_count(x + 1, 0, &height)) {
        return usage_error("render", "--size: \"%s\" is not WIDTHxHEIGHT, as 1920x1080", size);
    }
    if (width < 1 || height < 1 || width > PICTURE_MAX_SIDE || height > PICTURE_MAX_SIDE) {
        return usage_error("render", "--size: %s: sides are 1 to %u pixels", size, PICTURE_MAX_SIDE);
    }
    params->width = (uint32_t)width;
    params->height = (uint32_t)height;
    return EXIT_DONE;
}

/* "#rrggbb", "#rrggbbaa", a name. */
static bool parse_color(const char *word, uint8_t rgba[4]) {
    static const struct {
        const char *name;
        uint8_t rgba[4];
    } names[] = {{"white", {255, 255, 255, 255}}, {"black", {0, 0, 0, 255}},          {"grey", {107, 112, 120, 255}},
                 {"gray", {107, 112, 120, 255}},  {"slate", {22, 27, 36, 255}},       {"sky", {147, 184, 220, 255}},
                 {"none", {255, 255, 255, 0}},    {"transparent", {255, 255, 255, 0}}};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(word, names[i].name) != 0) continue;
        memcpy(rgba, names[i].rgba, 4);
        return true;
    }
    const size_t digits = strlen(word) - 1;
    if (word[0] != '#' || (digits != 6 && digits != 8) || strspn(word + 1, "0123456789abcdefABCDEF") != digits) {
        return false;
    }
    rgba[3] = 255;
    for (size_t k = 0; k < digits / 2; k++) {
        const char pair[3] = {word[1 + 2 * k], word[2 + 2 * k], 0};
        rgba[k] = (uint8_t)strtoul(pair, NULL, 16);
    }
    return true;
}

/* "x", "y", "z", or a direction. */
static bool parse_up(const char *word, double up[3]) {
    const bool minus = word[0] == '-';
    const char *axis = word + minus;
    if (strlen(axis) == 1 && axis[0] >= 'x' && axis[0] <= 'z') {
        for (int k = 0; k < 3; k++) up[k] = axis[0] - 'x' == k ? (minus ? -1 : 1) : 0;
        return true;
    }
    if (!parse_place(word, up)) return false;
    const double largest = fmax(fabs(up[0]), fmax(fabs(up[1]), fabs(up[2])));
    for (int k = 0; k < 3 && largest > 0; k++) up[k] /= largest;
    return largest > 0;
}

static int take_place(const char *name, const char *list, bool *has, double place[3]) {
    if (list == NULL) return EXIT_DONE;
    *has = true;
    if (parse_place(list, place)) return EXIT_DONE;
    return usage_error("render", "--%s: \"%s\" is not X,Y,Z", name, list);
}

/* ---- groups of options */

static int take_view(const picture_options *o, picture_view *view) {
    int code = take_place("eye", o->eye, &view->has_eye, view->eye);
    if (code == EXIT_DONE) code = take_place("target", o->target, &view->has_target, view->target);
    if (code != EXIT_DONE) return code;
    if (o->up != NULL && !parse_up(o->up, view->up)) {
        return usage_error("render", "--up: \"%s\" is not x, y, z, or a direction X,Y,Z", o->up);
    }
    view->has_up = o->up != NULL;
    if (view->has_eye && o->side_given) return usage_error("render", "--view is a direction, and --eye gives another");
    if (o->fit && !view->has_eye) {
        return usage_error("render", "--fit moves the eye that --eye names; without --eye all is seen anyway");
    }
    if (o->fov_given && !(o->fov_deg >= 1 && o->fov_deg <= 170)) {
        return usage_error("render", "--fov: %g is not in 1..170 degrees", o->fov_deg);
    }
    if (o->fov_given && o->ortho && !view->has_eye) {
        return usage_error("render", "--fov is of perspective: --ortho has none");
    }
    if (o->gsd_given && !o->ortho) return usage_error("render", "--gsd is for --ortho");
    if (o->gsd_given && !(o->gsd > 0)) return usage_error("render", "--gsd: %g is not above 0", o->gsd);
    if (o->gsd_given && o->side_given && o->side == SIDE_ISO && o->size == NULL) {
        return usage_error("render",
                           "--gsd makes a map or an elevation: --view top, front, left, …; of iso it needs --size");
    }
    if (o->gsd_given && o->fit) return usage_error("render", "--gsd is a scale, and --fit finds another");
    view->side = o->gsd_given && !o->side_given ? SIDE_TOP : (picture_side)o->side;
    view->has_side = o->side_given;
    view->fit = o->fit;
    view->orthographic = o->ortho;
    view->angle_rad = o->fov_deg * PI / 180;
    view->gsd = o->gsd_given ? o->gsd : 0;
    return EXIT_DONE;
}

static int take_look(const picture_options *o, picture_plan *plan) {
    mote_render_params *params = &plan->params;
    if (o->background != NULL && !parse_color(o->background, params->background)) {
        return usage_error(
            "render", "--background: \"%s\" is not #rrggbb, #rrggbbaa, white, black, grey, slate, sky or transparent",
            o->background);
    }
    if (o->samples_given && (o->samples < 1 || o->samples > (int)MOTE_RENDER_MAX_SAMPLES)) {
        return usage_error("render", "--samples: %d is not in 1..%u", o->samples, MOTE_RENDER_MAX_SAMPLES);
    }
    if (o->edl_given && !(o->edl >= 0 && o->edl <= 100)) {
        return usage_error("render", "--edl: %g is not in 0..100", o->edl);
    }
    if (o->point_size_given && !(o->point_size >= 0 && o->point_size <= MOTE_RENDER_MAX_POINT)) {
        return usage_error("render", "--point-size: %g is not in 0..%g pixels", o->point_size, MOTE_RENDER_MAX_POINT);
    }
    if (o->point_size_given && o->mode_given && o->mode != PICTURE_POINTS) {
        return usage_error("render", "--point-size is of --mode points: surfaces close gaps by themselves");
    }
    if (o->close < 0 || o->close > 64) return usage_error("render", "--close: %d is not in 0..64", o->close);
    if (o->bits_given && o->bits != 8 && o->bits != 16) {
        return usage_error("render", "--bits: %d is neither 8 nor 16", o->bits);
    }
    plan->mode = o->mode_given ? (picture_mode)o->mode : o->point_size_given ? PICTURE_POINTS : PICTURE_AUTO;
    params->point_size = o->point_size;
    plan->has_samples = o->samples_given;
    plan->has_edl = o->edl_given;
    plan->has_close = o->close_given;
    params->close_pixels = (uint32_t)o->close;
    params->samples = o->samples_given ? (uint32_t)o->samples : 1;
    if (o->edl_given) params->edl_strength = o->edl;
    plan->wide = o->bits == 16;
    plan->transparent = params->background[3] < 255;
    return EXIT_DONE;
}

/* "auto", or how many times brighter. */
static int take_exposure(const char *word, picture_plan *plan) {
    char *end = NULL;
    if (word == NULL || strcmp(word, "auto") == 0) return EXIT_DONE;
    plan->exposure = strtod(word, &end);
    plan->exposure_given = true;
    const bool is_number = end != word && *end == '\0';
    if (is_number && plan->exposure >= 0.001 && plan->exposure <= MOTE_RENDER_MAX_EXPOSURE) return EXIT_DONE;
    return usage_error("render", "--exposure: \"%s\" is neither auto nor in 0.001..%g", word, MOTE_RENDER_MAX_EXPOSURE);
}

/* "a:b", values or, with %, shares of all points. */
static int take_color(const picture_options *o, picture_plan *plan) {
    plan->color = o->color;
    plan->map = (color_map)o->map;
    plan->map_given = o->map_given;
    plan->range_given = o->range != NULL;
    plan->range_by_share = true;
    plan->range[0] = 0.01;
    plan->range[1] = 0.99;
    if (o->color != NULL && (o->color[0] == '\0' || strchr(o->color, ',') != NULL)) {
        return usage_error("render", "--color: \"%s\" is not one attribute", o->color);
    }
    if (o->range == NULL) return EXIT_DONE;
    char low_mark = 0, high_mark = 0, rest = 0;
    double low = 0, high = 0;
    const char *colon = strchr(o->range, ':');
    char *end = NULL;
    if (colon != NULL) {
        low = strtod(o->range, &end);
        if (end != o->range && *end == '%') low_mark = *end++;
        bool right = end != o->range && end == colon;
        high = strtod(colon + 1, &end);
        right = right && end != colon + 1;
        if (right && *end == '%') high_mark = *end++;
        rest = right ? *end : 'x';
    }
    plan->range_by_share = low_mark == '%';
    const double unit = plan->range_by_share ? 100 : 1;
    plan->range[0] = low / unit;
    plan->range[1] = high / unit;
    const bool in_shares = !plan->range_by_share || (low >= 0 && high <= 100);
    if (colon == NULL || rest != 0 || low_mark != high_mark || !(low < high) || !isfinite(high - low) || !in_shares) {
        return usage_error("render", "--range: \"%s\" is not LOW:HIGH, as 0:120, or 2%%:98%% of all points", o->range);
    }
    return EXIT_DONE;
}

static int check_number(const char *name, bool given, uint64_t number, uint32_t min, uint32_t max) {
    if (!given || (number >= min && number <= max)) return EXIT_DONE;
    return usage_error("render", "%s: %llu is not in %u..%u", name, (unsigned long long)number, min, max);
}

/* What pictures in a sequence, or of a map, exclude. */
static int check_sequence(const picture_options *o, const picture_plan *plan) {
    if (o->cameras == NULL && (o->frames_given || o->closed)) {
        return usage_error("render", "--frames and --closed are for --cameras");
    }
    if (o->cameras != NULL && (o->side_given || plan->view.has_eye || plan->view.has_target || o->ortho)) {
        return usage_error("render", "--cameras names the places: --view, --eye, --target and --ortho name others");
    }
    if (o->orbit_given && (o->cameras != NULL || plan->is_map)) {
        return usage_error("render", "--orbit is one path: not with --cameras, nor of a map");
    }
    if (check_number("--wave", o->wave_given, o->wave, 1, MAX_FRAMES) != EXIT_DONE) return EXIT_USAGE;
    if (o->wave_given && o->moving) return usage_error("render", "--moving and --wave both move the points");
    if ((o->wave_given || o->moving) && plan->is_map) {
        return usage_error("render", "--moving and --wave are not of a map: its size is that of the points");
    }
    if (o->tile_given && (o->orbit_given || o->cameras != NULL || o->moving || o->wave_given)) {
        return usage_error("render", "--tile divides one picture: not with --orbit, --cameras, --moving or --wave");
    }
    if (o->scale_bar && !o->ortho) {
        return usage_error("render",
                           "--scale-bar is for --ortho: in perspective no length holds for the whole picture");
    }
    return EXIT_DONE;
}

/* Several pictures: tiles, an orbit, a path, points that move. */
static int take_sequence(const picture_options *o, picture_plan *plan) {
    plan->is_map = o->gsd_given && o->size == NULL && !plan->view.has_eye && !plan->view.has_target;
    int code = check_number("--tile", o->tile_given, o->tile, 64, PICTURE_MAX_SIDE);
    if (code == EXIT_DONE) code = check_number("--orbit", o->orbit_given, o->orbit, 1, MAX_FRAMES);
    if (code == EXIT_DONE) code = check_number("--frames", o->frames_given, o->frames, 1, MAX_FRAMES);
    if (code == EXIT_DONE) code = check_sequence(o, plan);
    if (code != EXIT_DONE) return code;
    plan->tile = o->tile_given ? (uint32_t)o->tile : 0;
    plan->orbit = o->orbit_given ? (uint32_t)o->orbit : 0;
    plan->cameras = o->cameras;
    plan->frames = o->frames_given ? (uint32_t)o->frames : 0;
    plan->wave = o->wave_given ? (uint32_t)o->wave : 0;
    plan->moving = o->moving;
    plan->closed = o->closed;
    plan->whole = o->whole;
    plan->legend = o->legend;
    plan->scale_bar = o->scale_bar;
    return EXIT_DONE;
}

static int take_surface(const picture_options *o, picture_plan *plan) {
    mote_render_params *p = &plan->params;
    if (o->k_given && (o->k < 4 || o->k > MOTE_RENDER_MAX_K)) {
        return usage_error("render", "--neighbors: %llu is not in 4..%u", (unsigned long long)o->k, MOTE_RENDER_MAX_K);
    }
    if (o->share_given && !(o->share >= 1 && o->share <= 64)) {
        return usage_error("render", "--share: %g is not in 1..64 points", o->share);
    }
    if (o->tolerance_given && !(o->tolerance >= 0 && o->tolerance <= 1000)) {
        return usage_error("render", "--tolerance: %g is not in 0..1000 spacings", o->tolerance);
    }
    if (o->k_given) p->k = (uint32_t)o->k;
    if (o->share_given) p->share = o->share;
    if (o->tolerance_given) p->tolerance = o->tolerance;
    plan->has_k = o->k_given;
    plan->has_tolerance = o->tolerance_given;
    plan->has_normals = o->normals_given || plan->needs_normals;
    plan->keep_strays = o->keep_strays;
    return EXIT_DONE;
}

static int take_show(const picture_options *o, picture_plan *plan) {
    plan->params.show = (mote_render_show)o->show;
    plan->params.normals = (mote_render_normals)o->normals_of;
    plan->needs_normals = o->normals_of == MOTE_RENDER_NORMALS_GIVEN || o->show == MOTE_RENDER_SHOW_NORMAL_ERROR;
    if (o->show == MOTE_RENDER_SHOW_NORMAL_ERROR && o->normals_of == MOTE_RENDER_NORMALS_GIVEN) {
        return usage_error("render", "--show normal-error compares the surface's own normals with those of the cloud");
    }
    if (!o->show_given) return EXIT_DONE;
    if (o->color != NULL) return usage_error("render", "--show and --color say both what colours mean");
    const bool of_splats = o->show == MOTE_RENDER_SHOW_RADIUS || o->show == MOTE_RENDER_SHOW_ITERATIONS;
    if (of_splats && o->mode_given && o->mode != PICTURE_SURFACE) {
        return usage_error("render", "--show radius and iterations are of --mode surface");
    }
    if (o->show != MOTE_RENDER_SHOW_COLOR) plan->params.light_count = 0;
    if (!o->mode_given && o->show != MOTE_RENDER_SHOW_COLOR && o->show != MOTE_RENDER_SHOW_DEPTH) {
        plan->mode = PICTURE_SURFACE;
    }
    return EXIT_DONE;
}

int picture_plan_make(const picture_options *o, const io_paths *paths, picture_plan *plan) {
    memset(plan, 0, sizeof *plan);
    plan->paths = paths;
    plan->params = mote_render_defaults();
    plan->view.up[2] = 1;
    plan->stats = o->stats;
    plan->has_size = o->size != NULL;
    int code = o->size != NULL ? take_size(o->size, &plan->params) : EXIT_DONE;
    if (code == EXIT_DONE) code = take_view(o, &plan->view);
    if (code == EXIT_DONE) code = take_look(o, plan);
    if (code == EXIT_DONE) code = take_color(o, plan);
    if (code == EXIT_DONE) code = take_exposure(o->exposure, plan);
    if (code == EXIT_DONE) code = take_show(o, plan);
    if (code == EXIT_DONE) code = take_surface(o, plan);
    if (code == EXIT_DONE) code = take_sequence(o, plan);
    plan->outputs[LAYER_COLOR].path = paths->output;
    plan->outputs[LAYER_DEPTH].path = o->depth;
    plan->outputs[LAYER_NORMAL].path = o->normals;
    plan->outputs[LAYER_INDEX].path = o->index;
    return code;
}

bool picture_plan_is_sequence(const picture_plan *plan) {
    return plan->orbit > 0 || plan->cameras != NULL || plan->moving || plan->wave > 0;
}

bool picture_plan_shows_all(const picture_plan *plan) {
    const bool placed = plan->view.has_eye || plan->view.has_target || plan->cameras != NULL;
    return plan->view.fit || !placed;
}

/* ---- outputs */

/* The format that a name or --format tells; false if none. */
static bool find_format(const char *path, const char *format, picture_format *out) {
    const char *dot = strrchr(path, '.');
    char lower[8] = "";
    if (format != NULL) return picture_format_find(format, out);
    for (size_t i = 0; dot != NULL && i + 1 < sizeof lower && dot[1 + i] != '\0'; i++) {
        const char c = dot[1 + i];
        lower[i] = (char)(c >= 'A' && c <= 'Z' ? c + 32 : c);
    }
    return dot != NULL && strlen(dot + 1) < sizeof lower && picture_format_find(lower, out);
}

static int check_format(session *s, const char *path, picture_format format) {
    const char *missing = picture_format_missing(format);
    return missing == NULL ? EXIT_DONE : session_error(s, EXIT_FAILED, "%s: %s", path_title(path), missing);
}

static int unknown_format(session *s, const char *path) {
    static const char *const endings[] = {".png", ".ppm", ".npy", ".raw", NULL};
    if (path_is_stream(path)) {
        return session_error(s, EXIT_USAGE, "%s: which format? --format png, ppm, npy or raw", path_title(path));
    }
    const char *dot = strrchr(path, '.'), *near = dot != NULL ? text_nearest(dot, endings) : NULL;
    return session_error(s, EXIT_USAGE, "%s: pictures are written as .png, .ppm, .npy or .raw%s%s%s", path,
                         near != NULL ? "; did you mean \"" : "", near != NULL ? near : "", near != NULL ? "\"?" : "");
}

/* A second output has its ending, and replaces what is there. */
static int check_array(session *s, picture_plan *plan, picture_layer layer, const char *name) {
    picture_output *output = &plan->outputs[layer];
    const bool gray = layer == LAYER_DEPTH;
    if (output->path == NULL) return EXIT_DONE;
    const io_paths paths = {plan->paths->inputs, plan->paths->input_count, output->path, NULL, true};
    int code = check_output_place(s, &paths);
    if (code != EXIT_DONE) return code;
    const bool known = find_format(output->path, NULL, &output->format) &&
                       (output->format == PICTURE_NPY || (gray && output->format == PICTURE_PNG));
    if (known) return check_format(s, output->path, output->format);
    return session_error(s, EXIT_USAGE, "--%s: %s: it is written as .npy%s", name, output->path,
                         gray ? " or .png" : "");
}

static int check_picture(session *s, picture_plan *plan) {
    const io_paths *paths = plan->paths;
    const bool sequence = picture_plan_is_sequence(plan);
    picture_format *format = &plan->outputs[LAYER_COLOR].format;
    if (sequence && path_is_stream(paths->output) && paths->format == NULL) {
        *format = PICTURE_RAW;
    } else if (!find_format(paths->output, paths->format, format)) {
        if (paths->format == NULL) return unknown_format(s, paths->output);
        return session_error(s, EXIT_USAGE, "--format: \"%s\" is not png, ppm, npy or raw", paths->format);
    }
    if (plan->transparent && *format == PICTURE_PPM) {
        return session_error(s, EXIT_USAGE, "%s: PPM has no transparency: --background of a colour, or .png",
                             path_title(paths->output));
    }
    if ((sequence || plan->tile > 0) && !paths->may_replace) {
        return session_error(s, EXIT_USAGE, "several pictures: name them with -o %s, which replaces what is there",
                             paths->output);
    }
    if (plan->tile > 0 && path_is_stream(paths->output)) {
        return session_error(s, EXIT_USAGE, "%s: tiles are files", path_title(paths->output));
    }
    return check_format(s, paths->output, *format);
}

int picture_plan_check_distinct(session *s, const picture_plan *plan, const picture_output outputs[PICTURE_LAYERS]) {
    const named_file files[] = {{"--cameras", plan->cameras, true},
                                {"-o", outputs[LAYER_COLOR].path, false},
                                {"--depth", outputs[LAYER_DEPTH].path, false},
                                {"--normals-out", outputs[LAYER_NORMAL].path, false},
                                {"--index-out", outputs[LAYER_INDEX].path, false}};
    return check_distinct(s, files, sizeof files / sizeof files[0]);
}

int picture_plan_check_outputs(session *s, picture_plan *plan) {
    int code = check_output_place(s, plan->paths);
    if (code == EXIT_DONE) code = check_picture(s, plan);
    if (code == EXIT_DONE) code = check_array(s, plan, LAYER_DEPTH, "depth");
    if (code == EXIT_DONE) code = check_array(s, plan, LAYER_NORMAL, "normals-out");
    if (code == EXIT_DONE) code = check_array(s, plan, LAYER_INDEX, "index-out");
    if (code == EXIT_DONE) code = picture_plan_check_distinct(s, plan, plan->outputs);
    return code;
}
