/* mote measure: volumes, areas and profiles. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "io_command.h"
#include "measure/measure_print.h"
#include "measure/profile_file.h"
#include "stage.h"
#include "systems_note.h"
#include "text.h"

static const command_help help = {
    .synopsis = "mote measure IN… --volume FILE | --area FILE | --profile FILE --width W [-o OUT] [options]",
    "Volumes and areas of polygons, and profiles along lines, of all points inside. Polygons and lines are GeoJSON or\n"
    "GeoPackage, in the coordinates of the input, or of --to-crs. The figures are those of the page of mote view, to "
    "the last digit.",
    "  mote measure scan.laz --volume heap.geojson\n"
    "  mote measure scan.laz --volume pit.geojson --above lowest --json\n"
    "  mote measure scan.laz --area lots.geojson --feature 3\n"
    "  mote measure scan.laz --profile road.geojson --width 0.5 -o road.csv\n",
    "OUT is .csv (along, aside and every attribute), .las or .laz (the points), .dxf (along, height) or .png.\n"
    "docs/measure.md defines the figures. Their unit is that of x and y, of degrees metres.\n",
};

typedef struct measure_options {
    const char *volume, *area, *profile, *above;
    double width, level;
    bool width_given, feature_given;
    uint64_t feature;
    mote_volume_base base;
} measure_options;

static const char *shapes_path(const measure_options *o) {
    return o->volume != NULL ? o->volume : o->area != NULL ? o->area : o->profile;
}

static int check_usage(void *options, const common_options *common, const io_paths *paths) {
    measure_options *o = options;
    (void)paths;
    if ((o->volume != NULL) + (o->area != NULL) + (o->profile != NULL) != 1) {
        return usage_error("measure", "measure needs one of --volume, --area and --profile");
    }
    if (o->profile != NULL && !(o->width > 0 && isfinite(o->width))) {
        return usage_error("measure", o->width_given ? "--width: a number above 0" : "--profile needs --width");
    }
    if (o->profile == NULL && o->width_given) return usage_error("measure", "--width is of --profile");
    if (o->profile == NULL && common->output != NULL) return usage_error("measure", "-o is for points of --profile");
    if (o->above == NULL) return EXIT_DONE;
    if (o->volume == NULL) return usage_error("measure", "--above is of --volume");
    if (strcmp(o->above, "plane") == 0) return EXIT_DONE;
    o->base = strcmp(o->above, "lowest") == 0 ? MOTE_VOLUME_LOWEST : MOTE_VOLUME_LEVEL;
    if (o->base == MOTE_VOLUME_LOWEST || parse_real(o->above, &o->level)) return EXIT_DONE;
    return usage_error("measure", "--above: \"%s\" is neither plane, lowest nor a height", o->above);
}

/* ---- what is measured */

typedef struct measure_task {
    const measure_options *options;
    const io_paths *paths;
    mote_shapes *shapes;
    mote_cloud *cloud;
    mote_units units;
} measure_task;

/* Whether shapes of a kind are of a feature, and which is the first. */
static const mote_shape *find_shape(const mote_shapes *shapes, mote_shape_kind kind, uint32_t feature) {
    for (uint32_t i = 0; i < mote_shapes_count(shapes); i++) {
        const mote_shape *shape = mote_shapes_at(shapes, i);
        if (shape->kind == kind && (feature == MOTE_ALL_FEATURES || shape->feature == feature)) return shape;
    }
    return NULL;
}

static uint32_t chosen_feature(const measure_options *o) {
    return o->feature_given ? (uint32_t)o->feature : MOTE_ALL_FEATURES;
}

static int check_shapes(session *s, const measure_task *task) {
    const measure_options *o = task->options;
    const bool is_line = o->profile != NULL;
    const mote_shape_kind kind = is_line ? MOTE_SHAPE_LINE : MOTE_SHAPE_POLYGON;
    uint32_t lines = 0;
    if (find_shape(task->shapes, kind, chosen_feature(o)) == NULL) {
        if (!o->feature_given)
            return session_error(s, EXIT_INPUT, "%s: it holds no %s", shapes_path(o), is_line ? "line" : "polygon");
        return session_error(s, EXIT_USAGE, "--feature: feature %llu of %s is no %s", (unsigned long long)o->feature,
                             shapes_path(o), is_line ? "line" : "polygon");
    }
    for (uint32_t i = 0; i < mote_shapes_count(task->shapes); i++) {
        const mote_shape *shape = mote_shapes_at(task->shapes, i);
        lines += shape->kind == kind && (!o->feature_given || shape->feature == o->feature);
    }
    if (!is_line || lines == 1) return EXIT_DONE;
    return session_error(s, EXIT_USAGE, "%s holds %u lines: a profile is along one; --feature N chooses it", o->profile,
                         lines);
}

/* The box that holds whatever may be inside; the last bits of borders are a matter of the library. */
static mote_status find_bounds(session *s, const measure_task *task, mote_box *box) {
    const measure_options *o = task->options;
    mote_region *region = NULL;
    if (o->profile != NULL) {
        const mote_shape *line = find_shape(task->shapes, MOTE_SHAPE_LINE, chosen_feature(o));
        const mote_units unknown = {
            0}; /* as they are before the input is read: of degrees the box is larger than needed */
        return mote_profile_bounds(s->ctx, line, o->width, &unknown, box);
    }
    const mote_status status = mote_region_create(s->ctx, task->shapes, chosen_feature(o), &region);
    if (status != MOTE_OK) return status;
    mote_region_bounds(region, box->min, box->max);
    mote_region_destroy(region);
    for (int k = 0; k < 2; k++) {
        const double margin = 1e-12 * fmax(fabs(box->min[k]), fabs(box->max[k]));
        box->min[k] -= margin;
        box->max[k] += margin;
    }
    box->min[2] = -DBL_MAX;
    box->max[2] = DBL_MAX;
    return MOTE_OK;
}

static int read_all(session *s, measure_task *task) {
    const char *const path = shapes_path(task->options);
    mote_read_params reading = session_reading(s);
    mote_box bounds;
    mote_status status = mote_shapes_read(s->ctx, path, &task->shapes);
    if (status != MOTE_OK) return session_fail(s, status, true);
    int code = check_shapes(s, task);
    if (code != EXIT_DONE) return code;
    status = find_bounds(s, task, &bounds);
    if (status != MOTE_OK) return session_fail(s, status, true);
    reading.bounds = &bounds;
    reading.bounds_in_to_crs = reading.to_crs != NULL; /* figures are of the points as they are then */
    if (task->options->profile == NULL) reading.select = "x,y,z";
    code = session_read(s, task->paths->inputs, task->paths->input_count, &reading, &task->cloud);
    if (code == EXIT_DONE) mote_cloud_units(task->cloud, &task->units);
    return code;
}

/* ---- notes */

static void note_units(session *s, const measure_task *task) {
    const mote_units *units = &task->units;
    const char *unit = mote_measure_unit(units);
    if (unit[0] == '\0') {
        session_note(s, "no part of the input says what its coordinates count in: figures are in units of these");
    } else if (units->vertical.metres <= 0 && task->options->area == NULL) {
        session_note(s, "no part of the input says what heights count in: they are taken as %s", unit);
    }
}

static void note_nothing(session *s, const measure_task *task) {
    double min[2], max[2];
    mote_region *region = NULL;
    if (mote_region_create(s->ctx, task->shapes, chosen_feature(task->options), &region) != MOTE_OK) return;
    mote_region_bounds(region, min, max);
    mote_region_destroy(region);
    session_note(s,
                 "no point is inside: the polygon, x %.10g to %.10g and y %.10g to %.10g, has to be in the coordinates "
                 "of the input",
                 min[0], max[0], min[1], max[1]);
}

/* ---- figures */

static int measure_volume(session *s, const measure_task *task) {
    const measure_options *o = task->options;
    mote_volume_params params = mote_volume_defaults();
    mote_volume volume;
    params.base = o->base;
    params.level = o->level;
    params.units = task->units;
    const mote_status status =
        mote_volume_measure(s->ctx, task->cloud, task->shapes, chosen_feature(o), &params, &volume);
    progress_clear(&s->bar);
    if (status != MOTE_OK) return session_fail(s, status, true);
    measure_print_volume(s, &params, &volume);
    if (volume.points == 0) note_nothing(s, task);
    if (volume.draped > 0) {
        session_note(s, "%s corners have no height: they got that of the nearest point inside",
                     text_count(volume.draped).chars);
    }
    return EXIT_DONE;
}

static int measure_area(session *s, const measure_task *task) {
    mote_area area;
    const mote_status status =
        mote_area_measure(s->ctx, task->shapes, chosen_feature(task->options), &task->units, &area);
    progress_clear(&s->bar);
    if (status != MOTE_OK) return session_fail(s, status, true);
    measure_print_area(s, &task->units, &area);
    if (mote_cloud_count(task->cloud) == 0) note_nothing(s, task); /* of what lies near the polygon alone it was read */
    return EXIT_DONE;
}

static int measure_profile(session *s, const measure_task *task) {
    const measure_options *o = task->options;
    const mote_shape *line = find_shape(task->shapes, MOTE_SHAPE_LINE, chosen_feature(o));
    mote_profile *profile = NULL;
    const mote_status status = mote_profile_measure(s->ctx, task->cloud, line, o->width, &task->units, &profile);
    progress_clear(&s->bar);
    int code = status == MOTE_OK ? EXIT_DONE : session_fail(s, status, true);
    if (code == EXIT_DONE && task->paths->output != NULL) {
        code = profile_write(s, task->paths, task->cloud, profile, &task->units);
    }
    if (code == EXIT_DONE) code = session_commit(s);
    if (code == EXIT_DONE) {
        session_printing(s);
        measure_print_profile(s, &task->units, o->width, profile, task->paths->output);
    }
    mote_profile_destroy(s->ctx, profile);
    return code;
}

static int run_measure(session *s, const void *options, const io_paths *paths) {
    const measure_options *o = options;
    io_paths inputs = *paths;
    if (o->profile == NULL && paths->output != NULL) { /* figures have no output: the last name is an input, too */
        inputs.input_count++;
        inputs.output = NULL;
    }
    paths = &inputs;
    measure_task task = {.options = o, .paths = paths};
    int code = paths->output != NULL ? profile_check(s, paths) : EXIT_DONE;
    if (code == EXIT_DONE) code = read_all(s, &task);
    if (code == EXIT_DONE && o->volume != NULL) code = measure_volume(s, &task);
    if (code == EXIT_DONE && o->area != NULL) code = measure_area(s, &task);
    if (code == EXIT_DONE && o->profile != NULL) code = measure_profile(s, &task);
    if (code == EXIT_DONE) {
        systems_note(s, shapes_path(o), mote_shapes_crs(task.shapes), mote_cloud_crs(task.cloud));
        note_units(s, &task);
    }
    mote_shapes_destroy(task.shapes);
    stage_drop(task.cloud);
    return code;
}

int cmd_measure(int argc, char **argv) {
    measure_options o = {.base = MOTE_VOLUME_PLANE};
    const option rows[] = {
        {"volume", 0, OPTION_TEXT, &o.volume, NULL, "FILE", "of polygons: between the points and a base"},
        {"above", 0, OPTION_TEXT, &o.above, NULL, "BASE",
         "plane (through the corners, the default), lowest (the\nlevel of the lowest point inside) or a height"},
        {"area", 0, OPTION_TEXT, &o.area, NULL, "FILE", "of polygons, without points"},
        {"profile", 0, OPTION_TEXT, &o.profile, NULL, "FILE", "along a line: the points beside it"},
        {"width", 0, OPTION_REAL, &o.width, &o.width_given, "W", "of the profile, in the unit of the figures"},
        {"feature", 0, OPTION_COUNT, &o.feature, &o.feature_given, "N",
         "of FILE, from 0; default: all polygons, the only line"},
        {0},
    };
    const io_command command = {
        .help = &help, .rows = rows, .output_optional = true, .check = check_usage, .run = run_measure};
    return io_command_run(&command, &o, argc, argv);
}
