/* What the colours of a picture say. */
#include "render/picture_color.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "text.h"
#include "units_text.h"

#define RAMP_TEXELS   1024
#define NO_LABEL_GREY 96u  /* as mote planes colours points of no plane */
#define PLAIN_GREY    217u /* as the library shows points without colours */

/* ---- which attribute */

void picture_color_select(const picture_plan *plan, char *select, size_t size_bytes) {
    const char *name = plan->color != NULL ? plan->color : "intensity";
    const bool normal = plan->needs_normals || strcmp(name, "normal") == 0;
    snprintf(select, size_bytes, "x,y,z,red,green,blue,number_of_returns,%s%s", name,
             normal ? ",normal_x,normal_y,normal_z" : "");
}

/* Whether a channel has several values. Real numbers always do. */
static bool varies(const mote_column *column, uint64_t count) {
    uint16_t values[VALUES_BLOCK], first_value = 0;
    if (column->type == MOTE_FLOAT32 || column->type == MOTE_FLOAT64) return true;
    for (uint64_t first = 0; first < count; first += VALUES_BLOCK) {
        const uint64_t some = count - first < VALUES_BLOCK ? count - first : VALUES_BLOCK;
        mote_column_read(column, first, some, MOTE_UINT16, values);
        if (first == 0) first_value = values[0];
        for (uint64_t i = 0; i < some; i++) {
            if (values[i] != first_value) return true;
        }
    }
    return count == 1 && first_value > 0;
}

/* Whether colours say something: one colour for all points, as black, says nothing. */
static bool has_colors(const mote_cloud *cloud) {
    static const char *const names[3] = {"red", "green", "blue"};
    bool any = false;
    for (int k = 0; k < 3; k++) {
        const mote_column *column = mote_cloud_find(cloud, names[k]);
        if (column == NULL) return false;
        any = any || varies(column, mote_cloud_count(cloud));
    }
    return any;
}

static void take_unit_along(const double direction[3], picture_colors *colors) {
    mote_units units;
    mote_cloud_units(colors->values.cloud, &units);
    const char *symbol = units_symbol_along(&units, direction);
    snprintf(colors->unit, sizeof colors->unit, "%s", symbol != NULL ? symbol : "");
}

/* Heights along up, from the origin. */
static void take_heights(const mote_cloud *cloud, const double up[3], picture_colors *colors) {
    static const char *const names[3] = {"x", "y", "z"};
    const double length = sqrt(up[0] * up[0] + up[1] * up[1] + up[2] * up[2]);
    for (int k = 0; k < 3; k++) {
        if (up[k] == 0) continue;
        colors->values.column[colors->values.count] = mote_cloud_find(cloud, names[k]);
        colors->values.factor[colors->values.count++] = up[k] / length;
    }
    take_unit_along(up, colors);
    snprintf(colors->name, sizeof colors->name, "height");
    colors->source = COLOR_RAMP;
}

/* Coordinates have the unit that the reference system gives them, other attributes at most their own. */
static void take_unit(const mote_column *column, picture_colors *colors) {
    const char axis = column->name[0] != '\0' && column->name[1] == '\0' ? column->name[0] : '\0';
    const double direction[3] = {axis == 'x', axis == 'y', axis == 'z'};
    if (axis >= 'x' && axis <= 'z') {
        take_unit_along(direction, colors);
    } else {
        snprintf(colors->unit, sizeof colors->unit, "%s", column->unit);
    }
}

static void take_attribute(const mote_column *column, picture_colors *colors) {
    colors->values.column[0] = column;
    colors->values.factor[0] = 1;
    colors->values.count = 1;
    take_unit(column, colors);
    snprintf(colors->name, sizeof colors->name, "%s", column->name);
}

/* Whether an intensity tells points apart: not one for nearly all, nor one of two. If so, colours are of it. */
static bool intensity_varies(session *s, const mote_column *column, picture_colors *colors) {
    static const double lower[2] = {0.1, 0.5}, upper[2] = {0.5, 0.9};
    const picture_colors before = *colors;
    double low[2] = {0, 0}, high[2] = {0, 0};
    mote_status status = MOTE_OK;
    const int threads = mote_context_threads(s->ctx);
    take_attribute(column, colors);
    value_range_find(&colors->values, threads, lower, low, &status);
    if (status == MOTE_OK) value_range_find(&colors->values, threads, upper, high, &status);
    if (status == MOTE_OK && low[0] < low[1] && high[0] < high[1]) return true;
    *colors = before;
    return false;
}

/* Numbers that name things, as the viewer knows them (viewer/src/view/colouring.js). */
static bool is_label(const mote_column *column) {
    static const char *const things[] = {"plane",  "segment", "cluster", "label",       "instance",
                                         "object", "tree",    "region",  "point_source"};
    static const char *const ends[] = {"", "id", "_id", "index", "_index", "number", "_number"};
    const bool whole = column->type != MOTE_FLOAT32 && column->type != MOTE_FLOAT64;
    char name[64];
    if (!whole || column->scale != 1 || column->offset != 0) return false;
    for (size_t i = 0; i < sizeof things / sizeof things[0]; i++) {
        for (size_t e = 0; e < sizeof ends / sizeof ends[0]; e++) {
            snprintf(name, sizeof name, "%s%s", things[i], ends[e]);
            if (strcmp(name, column->name) == 0) return true;
        }
    }
    return false;
}

/* Whole numbers that tell which one it was, or what: a mean of them says nothing. */
static bool is_name(const mote_column *column) {
    static const char *const names[] = {"classification",      "return_number",        "number_of_returns",
                                        "scan_channel",        "scanner_channel",      "user_data",
                                        "scan_direction_flag", "classification_flags", "edge_of_flight_line"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(column->name, names[i]) == 0) return true;
    }
    return is_label(column);
}

/* The attributes of the first input, for a message. */
static void list_attributes(session *s, const picture_plan *plan, char *list, size_t size_bytes) {
    mote_reader *reader = NULL;
    const mote_cloud *piece = NULL;
    size_t at = 0;
    list[0] = '\0';
    if (strcmp(plan->paths->inputs[0], "-") == 0) return;
    if (mote_reader_open(s->ctx, plan->paths->inputs[0], NULL, &reader) == MOTE_OK &&
        mote_reader_next(reader, &piece) == MOTE_OK && piece != NULL) {
        for (uint32_t i = 0; i < mote_cloud_column_count(piece); i++) {
            const char *name = mote_cloud_column(piece, i)->name;
            if (at + strlen(name) + 3 > size_bytes) break;
            at += (size_t)snprintf(list + at, size_bytes - at, "%s%s", i > 0 ? ", " : "", name);
        }
    }
    mote_reader_close(reader);
    mote_context_clear(s->ctx);
}

static int no_attribute(session *s, const picture_plan *plan, const char *name) {
    char list[1024];
    list_attributes(s, plan, list, sizeof list);
    return session_error(s, EXIT_USAGE, "--color: there is no attribute \"%s\" in %s%s%s; also: rgb, height, none",
                         name, path_title(plan->paths->inputs[0]), list[0] != '\0' ? "; it has " : "", list);
}

static int choose_normals(session *s, const mote_cloud *cloud, picture_colors *colors) {
    static const char *const names[3] = {"normal_x", "normal_y", "normal_z"};
    for (int k = 0; k < 3; k++) {
        colors->values.column[k] = mote_cloud_find(cloud, names[k]);
        if (colors->values.column[k] != NULL) continue;
        return session_error(s, EXIT_USAGE,
                             "--color normal: the cloud has no normals; \"mote normals\" makes them, and --show "
                             "normals shows those of the picture's own surface");
    }
    colors->source = COLOR_NORMALS;
    snprintf(colors->name, sizeof colors->name, "normal");
    return EXIT_DONE;
}

static int choose_by_name(session *s, const picture_plan *plan, const mote_cloud *cloud, picture_colors *colors) {
    const char *name = plan->color;
    const mote_column *column = mote_cloud_match(cloud, name);
    if (strcmp(name, "normal") == 0) return choose_normals(s, cloud, colors);
    if (strcmp(name, "none") == 0) {
        colors->source = COLOR_PLAIN;
    } else if (strcmp(name, "height") == 0 && column == NULL) {
        take_heights(cloud, plan->view.up, colors);
    } else if (strcmp(name, "rgb") == 0 && column == NULL) {
        if (mote_cloud_find(cloud, "red") == NULL) return no_attribute(s, plan, "red");
        colors->source = COLOR_RGB;
    } else if (column == NULL) {
        return no_attribute(s, plan, name);
    } else {
        take_attribute(column, colors);
        colors->is_name = is_name(column);
        colors->source = strcmp(column->name, "classification") == 0 ? COLOR_CLASS
                         : is_label(column)                          ? COLOR_LABEL
                                                                     : COLOR_RAMP;
    }
    return EXIT_DONE;
}

/* What varies: colours, else how brightly the laser came back, else heights. Objects that are lit need no heights:
   their light shows them. */
static void choose_by_data(session *s, const picture_plan *plan, const mote_cloud *cloud, bool terrain,
                           picture_colors *colors) {
    const mote_column *intensity = mote_cloud_find(cloud, "intensity");
    if (has_colors(cloud)) {
        colors->source = COLOR_RGB;
    } else if (intensity != NULL && intensity_varies(s, intensity, colors)) {
        colors->source = COLOR_RAMP;
        colors->is_light = !plan->map_given && !plan->range_given;
        if (!plan->map_given) colors->map = MAP_GREY;
    } else if (terrain || plan->params.mode != MOTE_RENDER_SURFACE) {
        take_heights(cloud, plan->view.up, colors);
    } else {
        colors->source = COLOR_PLAIN;
    }
}

/* ---- its range */

/* As a photographer exposes: a few mirrors and signs would leave all else dark, and are white. More may be, where the
   middle of all points would be dark nevertheless. */
static mote_status expose(session *s, const point_values *values, double range[2]) {
    static const double ends[2] = {0.01, 0.92}, inner[2] = {0.5, 0.8};
    const double middle = 0.4; /* of the way from black to white, where the median should be at least */
    const int threads = mote_context_threads(s->ctx);
    mote_status status = MOTE_OK;
    double within[2] = {0, 1};
    value_range_find(values, threads, ends, range, &status);
    if (status == MOTE_OK) value_range_find(values, threads, inner, within, &status);
    const double white = range[0] + (within[0] - range[0]) / middle;
    range[1] = fmin(range[1], fmax(within[1], white));
    return status;
}

static int find_exposure(session *s, const picture_plan *plan, const mote_cloud *cloud, picture_colors *colors) {
    mote_status status = MOTE_OK;
    if (colors->source != COLOR_RGB && plan->exposure_given) {
        return session_error(s, EXIT_USAGE, "--exposure is of the cloud's own colours: --color rgb");
    }
    if (colors->source != COLOR_RGB) return EXIT_DONE;
    if (plan->exposure > 0) {
        colors->exposure = plan->exposure;
    } else {
        status = mote_render_find_exposure(s->ctx, cloud, &colors->exposure);
    }
    return status == MOTE_OK ? EXIT_DONE : session_fail(s, status, false);
}

void picture_color_tell(session *s, const picture_plan *plan, const picture_colors *colors) {
    if (plan->exposure_given || plan->params.show != MOTE_RENDER_SHOW_COLOR || colors->exposure == 1) return;
    session_note(s, "colours are dark: shown %g times brighter; --exposure 1 shows them as they are", colors->exposure);
}

/* A range by shares of all values, or of values. */
static int find_range(session *s, const picture_plan *plan, picture_colors *colors) {
    mote_status status = MOTE_OK;
    double found[2] = {0, 1};
    if (plan->range_given && !plan->range_by_share) {
        memcpy(colors->range, plan->range, sizeof colors->range);
        return EXIT_DONE;
    }
    if (colors->is_light) {
        status = expose(s, &colors->values, found);
    } else {
        value_range_find(&colors->values, mote_context_threads(s->ctx), plan->range, found, &status);
    }
    if (status != MOTE_OK) return session_error(s, EXIT_RESOURCES, "out of memory: the range of %s", colors->name);
    memcpy(colors->range, found, sizeof found);
    return EXIT_DONE;
}

static void find_classes(picture_colors *colors) {
    double values[VALUES_BLOCK];
    for (uint64_t first = 0; first < colors->values.points; first += VALUES_BLOCK) {
        const uint64_t rest = colors->values.points - first;
        const uint32_t count = rest < VALUES_BLOCK ? (uint32_t)rest : VALUES_BLOCK;
        point_values_read(&colors->values, first, count, values);
        for (uint32_t i = 0; i < count; i++) {
            if (values[i] >= 0 && values[i] < 256) colors->classes[(int)values[i]] = true;
        }
    }
}

int picture_color_choose(session *s, const picture_plan *plan, const mote_cloud *cloud, bool terrain,
                         picture_colors *colors) {
    int code = EXIT_DONE;
    if (plan->needs_normals && mote_cloud_find(cloud, "normal_z") == NULL) {
        return session_error(s, EXIT_USAGE, "the cloud has no normals; \"mote normals\" makes them");
    }
    memset(colors, 0, sizeof *colors);
    colors->map = plan->map;
    colors->exposure = 1;
    colors->values.points = mote_cloud_count(cloud);
    colors->values.cloud = cloud;
    if (plan->color != NULL) {
        code = choose_by_name(s, plan, cloud, colors);
    } else {
        choose_by_data(s, plan, cloud, terrain, colors);
    }
    if (code == EXIT_DONE && colors->source == COLOR_RAMP) code = find_range(s, plan, colors);
    if (code == EXIT_DONE) code = find_exposure(s, plan, cloud, colors);
    if (colors->source == COLOR_CLASS) find_classes(colors);
    if (code != EXIT_DONE || colors->source == COLOR_RAMP || (!plan->range_given && !plan->map_given)) return code;
    return session_error(s, EXIT_USAGE, "--range and --map are of a number's colours: --color height, intensity, …");
}

const char *picture_color_title(const picture_colors *colors) {
    return colors->source == COLOR_RGB ? "rgb" : colors->source == COLOR_PLAIN ? "none" : colors->name;
}

void picture_color_keep(const picture_colors *colors, picture_plan *plan) {
    if (colors->source == COLOR_RGB) plan->exposure = colors->exposure;
    if (colors->source != COLOR_RAMP) return;
    plan->range_given = true;
    plan->range_by_share = false;
    memcpy(plan->range, colors->range, sizeof plan->range);
}

/* ---- colours of points */

typedef struct painter {
    const picture_colors *colors;
    uint8_t texels[RAMP_TEXELS][3];
} painter;

static void paint_number(const painter *p, double value, uint8_t rgb[3]) {
    const picture_colors *c = p->colors;
    if (c->source == COLOR_CLASS) {
        color_of_class(value >= 0 && value < 256 ? (uint32_t)value : 0, rgb);
    } else if (c->source == COLOR_LABEL && !(value >= 0)) {
        memset(rgb, NO_LABEL_GREY, 3);
    } else if (c->source == COLOR_LABEL) {
        color_of_label(value < 9e15 ? (uint64_t)value : 0, rgb);
    } else if (!isfinite(value)) {
        memset(rgb, NO_LABEL_GREY, 3);
    } else {
        const double span = c->range[1] - c->range[0];
        const double t = span > 0 ? (value - c->range[0]) / span : 0.5;
        memcpy(rgb, p->texels[(int)(fmin(fmax(t, 0), 1) * (RAMP_TEXELS - 1) + 0.5)], 3);
    }
}

static void paint_normals(const picture_colors *colors, uint64_t first, uint32_t count, uint8_t *rgba) {
    double values[VALUES_BLOCK];
    for (int k = 0; k < 3; k++) {
        const point_values one = {{colors->values.column[k]}, {1}, 1, colors->values.points, colors->values.cloud};
        point_values_read(&one, first, count, values);
        for (uint32_t i = 0; i < count; i++) {
            const double n = isfinite(values[i]) ? fmin(fmax(values[i], -1), 1) : 0;
            rgba[4 * i + (uint32_t)k] = (uint8_t)floor(127.5 * (n + 1) + 0.5);
        }
    }
}

static void paint_block(const painter *p, uint64_t first, uint32_t count, uint8_t *rgba) {
    double values[VALUES_BLOCK];
    memset(rgba, p->colors->source == COLOR_PLAIN ? PLAIN_GREY : 255, 4 * (size_t)count);
    if (p->colors->source == COLOR_NORMALS) paint_normals(p->colors, first, count, rgba);
    if (p->colors->source != COLOR_NORMALS && p->colors->source != COLOR_PLAIN) {
        point_values_read(&p->colors->values, first, count, values);
        for (uint32_t i = 0; i < count; i++) paint_number(p, values[i], rgba + 4 * (size_t)i);
    }
    for (uint32_t i = 0; i < count; i++) rgba[4 * (size_t)i + 3] = 255;
}

int picture_color_paint(session *s, const picture_colors *colors, const mote_cloud *cloud, uint8_t **rgba) {
    const uint64_t points = mote_cloud_count(cloud);
    const int64_t blocks = (int64_t)((points + VALUES_BLOCK - 1) / VALUES_BLOCK);
    painter p = {.colors = colors};
    *rgba = NULL;
    if (colors->source == COLOR_RGB) return EXIT_DONE;
    const uint64_t max = s->options.memory_bytes;
    const bool fits = max == 0 || mote_context_memory_bytes(s->ctx) + 4 * points <= max;
    uint8_t *const painted = fits ? malloc(4 * (size_t)points + 1) : NULL;
    if (painted == NULL)
        return session_error(s, EXIT_RESOURCES, "out of memory: colours of %s points", text_count(points).chars);
    for (int i = 0; i < RAMP_TEXELS; i++) color_map_at(colors->map, i / (RAMP_TEXELS - 1.0), p.texels[i]);
#pragma omp parallel for schedule(dynamic, 16) num_threads(mote_context_threads(s->ctx))
    for (int64_t b = 0; b < blocks; b++) {
        const uint64_t first = (uint64_t)b * VALUES_BLOCK, rest = points - first;
        paint_block(&p, first, rest < VALUES_BLOCK ? (uint32_t)rest : VALUES_BLOCK, painted + 4 * first);
    }
    *rgba = painted;
    return EXIT_DONE;
}

int picture_color_apply(session *s, const picture_colors *colors, const mote_cloud *cloud, mote_renderer *renderer) {
    uint8_t *rgba = NULL;
    const int code = picture_color_paint(s, colors, cloud, &rgba);
    if (code != EXIT_DONE) return code;
    const mote_status status = rgba == NULL ? mote_render_set_exposure(renderer, colors->exposure)
                                            : mote_render_set_colors(renderer, rgba, false);
    free(rgba);
    return status == MOTE_OK ? EXIT_DONE : session_fail(s, status, false);
}
