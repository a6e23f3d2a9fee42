/* What pages are told about a scene in words. */
#define _GNU_SOURCE /* open_memstream */
#include "view/live/live_facts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "files/json.h"
#include "text.h"
#include "units_text.h"

#define PICK_PIXELS 6u /* around the pixel in which a point is looked for */

/* Text that grows as JSON is written to it. */
typedef struct json_text {
    json_writer json;
    FILE *stream;
    char *text;
    size_t size;
} json_text;

static bool begin(json_text *j, const char *kind) {
    j->text = NULL;
    j->stream = open_memstream(&j->text, &j->size);
    if (j->stream == NULL) return false;
    emit_start(&j->json, j->stream, true);
    emit_open(&j->json, NULL, '{');
    emit_text(&j->json, "is", kind);
    return true;
}

static char *end(json_text *j) {
    emit_close(&j->json, '}');
    if (fclose(j->stream) == 0) return j->text;
    free(j->text);
    return NULL;
}

/* ---- what there is */

static bool is_part_of_another(const char *name) {
    static const char *const names[] = {"x", "y", "z", "red", "green", "blue", "normal_x", "normal_y", "normal_z"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(name, names[i]) == 0) return true;
    }
    return false;
}

static void emit_colors(json_writer *json, const mote_cloud *cloud) {
    const bool has_normals = mote_cloud_find(cloud, "normal_x") != NULL && mote_cloud_find(cloud, "normal_y") != NULL &&
                             mote_cloud_find(cloud, "normal_z") != NULL;
    emit_open(json, "colors", '[');
    if (mote_cloud_find(cloud, "red") != NULL && mote_cloud_find(cloud, "green") != NULL &&
        mote_cloud_find(cloud, "blue") != NULL) {
        emit_text(json, NULL, "rgb");
    }
    if (mote_cloud_find(cloud, "height") == NULL) emit_text(json, NULL, "height");
    for (uint32_t i = 0; i < mote_cloud_column_count(cloud); i++) {
        const char *name = mote_cloud_column(cloud, i)->name;
        if (!is_part_of_another(name) && strlen(name) < LIVE_NAME_MAX) emit_text(json, NULL, name);
    }
    if (has_normals) emit_text(json, NULL, "normal");
    emit_text(json, NULL, "none");
    emit_close(json, ']');
}

/* The word that the page has for it. */
static const char *name_of_up(const picture_up *up) {
    static const char *const names[2][2] = {{"x", "y"}, {"-x", "-y"}};
    for (int k = 0; k < 2; k++) {
        if (up->direction[k] != 0) return names[up->direction[k] < 0][k];
    }
    return "z";
}

/* The steps in which coordinates count; 0: those of their floats. */
static void emit_steps(json_writer *json, const mote_cloud *cloud) {
    static const char *const axes[3] = {"x", "y", "z"};
    double steps[3];
    for (int k = 0; k < 3; k++) {
        const double scale = mote_cloud_find(cloud, axes[k])->scale;
        steps[k] = scale != 1 ? scale : 0;
    }
    emit_reals(json, "steps", steps, 3);
}

char *live_facts(const live_scene *scene) {
    json_text j;
    json_writer *json = &j.json;
    if (!begin(&j, "scene")) return NULL;
    emit_count(json, "version", scene->version);
    emit_text(json, "name", scene->name);
    emit_open(json, "inputs", '[');
    for (int i = 0; i < scene->input_count; i++) emit_text(json, NULL, scene->inputs[i]);
    emit_close(json, ']');
    emit_count(json, "points", mote_cloud_count(scene->cloud));
    if (scene->box.min[0] <= scene->box.max[0]) {
        emit_reals(json, "min", scene->box.min, 3);
        emit_reals(json, "max", scene->box.max, 3);
    }
    emit_text(json, "up", name_of_up(&scene->up));
    emit_text(json, "up_reason", picture_up_reason(&scene->up));
    emit_steps(json, scene->cloud);
    emit_text(json, "crs", mote_cloud_crs(scene->cloud));
    units_emit(json, scene->cloud);
    emit_text(json, "backend", mote_context_backend(scene->session.ctx));
    emit_count(json, "threads", (uint64_t)mote_context_threads(scene->session.ctx));
    emit_text(json, "encodings", live_encodings());
    emit_bool(json, "normals", mote_cloud_find(scene->cloud, "normal_z") != NULL);
    emit_colors(json, scene->cloud);
    return end(&j);
}

/* ---- what colours mean */

static void emit_classes(json_writer *json, const picture_colors *colors) {
    emit_open(json, "classes", '[');
    for (uint64_t code = 0; code < 256; code++) {
        if (colors->classes[code]) emit_count(json, NULL, code);
    }
    emit_close(json, ']');
}

char *live_legend(const picture_colors *colors) {
    static const char *const sources[] = {"rgb", "plain", "ramp", "classes", "labels", "normal"};
    json_text j;
    if (!begin(&j, "colors")) return NULL;
    emit_text(&j.json, "source", colors != NULL ? sources[colors->source] : "false");
    if (colors != NULL) {
        emit_text(&j.json, "name", picture_color_title(colors));
        emit_text(&j.json, "unit", colors->unit);
    }
    if (colors != NULL && colors->source == COLOR_RGB) emit_real(&j.json, "exposure", colors->exposure);
    if (colors != NULL && colors->source == COLOR_RAMP) emit_reals(&j.json, "range", colors->range, 2);
    if (colors != NULL && colors->source == COLOR_CLASS) emit_classes(&j.json, colors);
    return end(&j);
}

/* ---- what is at a pixel */

/* The value with as many digits as the file has. */
static text value_of(const mote_column *column, uint64_t i) {
    const double value = mote_column_value(column, i);
    if (column->type == MOTE_FLOAT32 && column->scale == 1 && column->offset == 0) return text_float((float)value);
    return column->scale != 1 ? text_fixed(value, text_step_decimals(column->scale)) : text_real(value);
}

static void emit_point(json_writer *json, const mote_cloud *cloud, uint64_t row) {
    static const char *const axes[3] = {"x", "y", "z"};
    emit_count(json, "row", row);
    emit_open(json, "place", '[');
    for (int k = 0; k < 3; k++) emit_number(json, NULL, value_of(mote_cloud_find(cloud, axes[k]), row));
    emit_close(json, ']');
    emit_open(json, "attributes", '[');
    for (uint32_t i = 0; i < mote_cloud_column_count(cloud); i++) {
        const mote_column *column = mote_cloud_column(cloud, i);
        if (strlen(column->name) == 1 && strchr("xyz", column->name[0]) != NULL) continue;
        emit_open(json, NULL, '[');
        emit_text(json, NULL, column->name);
        emit_text(json, NULL, value_of(column, row).chars);
        emit_text(json, NULL, column->unit != NULL ? column->unit : "");
        emit_close(json, ']');
    }
    emit_close(json, ']');
}

char *live_pick(live_scene *scene, const live_view *view, uint32_t id, uint32_t x, uint32_t y) {
    json_text j;
    double depth = 0;
    const mote_cloud *cloud = scene->cloud;
    const uint32_t row = live_scene_point_at(scene, view, x, y, PICK_PIXELS, &depth, &cloud);
    if (!begin(&j, "pick")) return NULL;
    emit_count(&j.json, "id", id);
    if (row != MOTE_RENDER_NO_POINT) {
        emit_real(&j.json, "depth", depth);
        emit_point(&j.json, cloud, row);
    }
    return end(&j);
}

char *live_words(const char *kind, const char *words) {
    json_text j;
    if (!begin(&j, kind)) return NULL;
    emit_text(&j.json, "text", words);
    return end(&j);
}
