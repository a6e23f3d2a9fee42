/* mote planes: planes of a cloud by Hough transform: a table, and the cloud labelled by plane. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "costs.h"
#include "io_command.h"
#include "planes/planes_print.h"
#include "print.h"
#include "report.h"
#include "stage.h"
#include "text.h"
#include "units_text.h"

static const command_help help = {
    .synopsis = "mote planes IN… [-o OUT] [options]",
    "Finds planes by Hough transform and prints them; with OUT also writes the cloud with the attribute plane (-1: "
    "none)\n"
    "and a colour per plane.",
    "  mote planes scan.las                             a table: points, normal, offset, rms, area\n"
    "  mote planes scan.las --json                      with boundaries, for programs\n"
    "  mote planes scan.las -o planes.laz               every point labelled\n"
    "  mote planes scan.las -o planes.ply --parts       what is not connected is a plane of its own\n"
    "  mote planes scan.las --boundaries planes.obj     the hulls as faces\n"
    "  mote planes scan.las --min-points 300            smaller ones too\n"
    "  mote planes scan.las --tolerance 0.03            points up to 3 cm off\n"
    "  mote planes scan.las --explain                   and what was refused, and why\n"
    "  mote planes scan.las --directions grid --csv     180 x 180 directions, as spreadsheets want it\n",
    "A plane is normal · (x, y, z) = offset. Tolerance, bins and support are measured from the cloud, and printed; "
    "lengths\n"
    "are in units of the input. Attributes normal_x normal_y normal_z, if there, are compared with the plane.\n"
    "Parameters, and how to choose them: docs/planes.md.\n",
};

typedef struct planes_options {
    int directions, votes;
    uint64_t min_points, sample, max, suppress_bins;
    bool resolution_given, cone_given, bin_given, tolerance_given, min_given, sample_given, max_given, normal_given;
    bool csv, stats;
    const char *boundaries;
    mote_planes_params params;
} planes_options;

/* ---- the options' meaning */

static int check_lengths(const planes_options *o) {
    const mote_planes_params *p = &o->params;
    if (o->bin_given && !(p->bin > 0 && isfinite(p->bin))) {
        return usage_error("planes", "--bin: %g is not above 0", p->bin);
    }
    if (o->tolerance_given && !(p->tolerance > 0 && isfinite(p->tolerance))) {
        return usage_error("planes", "--tolerance: %g is not above 0", p->tolerance);
    }
    if (!(p->suppress_deg >= 0 && p->suppress_deg <= 45)) {
        return usage_error("planes", "--suppress: %g is not in 0..45", p->suppress_deg);
    }
    return EXIT_DONE;
}

static int check_angles(const planes_options *o) {
    const mote_planes_params *p = &o->params;
    if (!(p->resolution_deg >= 0.5 && p->resolution_deg <= 10)) {
        return usage_error("planes", "--resolution: %g is not in 0.5..10", p->resolution_deg);
    }
    if (o->resolution_given && o->directions == MOTE_PLANES_GRID) {
        return usage_error("planes", "--resolution is for --directions ball");
    }
    if (o->cone_given && o->votes != MOTE_PLANES_VOTE_NORMALS) {
        return usage_error("planes", "--cone is for --votes normals");
    }
    if (!(p->cone_deg > 0 && p->cone_deg <= 90))
        return usage_error("planes", "--cone: %g is not in 0..90", p->cone_deg);
    if (!(p->normal_deg > 0 && p->normal_deg <= 90)) {
        return usage_error("planes", "--normal-angle: %g is not in 0..90", p->normal_deg);
    }
    return EXIT_DONE;
}

static int check_usage(void *options, const common_options *common, const io_paths *paths) {
    planes_options *o = options;
    if (o->csv && common->json) return usage_error("planes", "--csv or --json, not both");
    if (o->csv && o->params.explain) return usage_error("planes", "--explain is for the table and --json, not --csv");
    if (common->hash && paths->output == NULL)
        return usage_error("planes", "--hash is of the output, and there is none");
    if (o->max_given && (o->max < 1 || o->max > MOTE_PLANES_MAX)) {
        return usage_error("planes", "--most: %" PRIu64 " is not in 1..%u", o->max, MOTE_PLANES_MAX);
    }
    if (o->min_given && o->min_points < 3) return usage_error("planes", "--min-points: a plane has 3 or more");
    if (o->sample_given && o->sample < 3) return usage_error("planes", "--sample: 3 points or more");
    if (o->suppress_bins > 1000)
        return usage_error("planes", "--suppress-bins: %" PRIu64 " is not in 0..1000", o->suppress_bins);
    o->params.directions = (mote_planes_directions)o->directions;
    o->params.votes = (mote_planes_votes)o->votes;
    o->params.min_points = o->min_points;
    o->params.sample = o->sample;
    o->params.max_planes = (uint32_t)o->max;
    o->params.suppress_bins = (uint32_t)o->suppress_bins;
    const int code = check_lengths(o);
    return code == EXIT_DONE ? check_angles(o) : code;
}

/* ---- the labelled cloud */

#define NO_PLANE_GREY 96u

/* Colours as far apart as their number allows: hues by the golden ratio, in two lightnesses. */
static void plane_color(int32_t plane, uint8_t rgb[3]) {
    if (plane < 0) {
        rgb[0] = rgb[1] = rgb[2] = NO_PLANE_GREY;
        return;
    }
    const double turns = plane * 0.61803398875, hue = 6 * (turns - floor(turns)), light = plane % 2 == 0 ? 255 : 205;
    const double ramp = 1 - fabs(fmod(hue, 2) - 1);
    const double components[6][3] = {{1, ramp, 0}, {ramp, 1, 0}, {0, 1, ramp},
                                     {0, ramp, 1}, {ramp, 0, 1}, {1, 0, ramp}};
    for (int k = 0; k < 3; k++) rgb[k] = (uint8_t)lround(light * (0.2 + 0.8 * components[(int)hue % 6][k]));
}

typedef struct planes_task {
    const io_paths *paths;
    const char *output; /* NULL: only the table */
    mote_cloud *cloud;
    uint64_t points;
    int32_t *labels;
    mote_planes *planes;
    double work_s, write_s;
} planes_task;

/* LAS has colours of 16 bits, other formats those of 8. */
static int color_points(session *s, const planes_task *task) {
    static const char *const names[3] = {"red", "green", "blue"};
    const char *format = io_paths_format(task->paths);
    const bool wide = format != NULL && strcmp(format, "las") == 0;
    for (int k = 0; k < 3; k++) {
        const mote_column_spec spec = {names[k], wide ? MOTE_UINT16 : MOTE_UINT8, 0, 0};
        const mote_status status = mote_cloud_put_column(task->cloud, &spec);
        if (status != MOTE_OK) return session_fail(s, status, false);
        uint8_t *narrow = mote_cloud_column_data(task->cloud, names[k]), rgb[3];
        const uint32_t stride = mote_cloud_find(task->cloud, names[k])->stride_bytes;
        for (uint64_t i = 0; i < task->points; i++) {
            plane_color(task->labels[i], rgb);
            const uint16_t both = (uint16_t)(rgb[k] * 257u);
            memcpy(narrow + i * stride, wide ? (const void *)&both : (const void *)&rgb[k], wide ? 2 : 1);
        }
    }
    return EXIT_DONE;
}

static int label_points(session *s, const planes_task *task) {
    const mote_column_spec spec = {"plane", MOTE_INT32, 0, 0};
    const mote_status status = mote_cloud_put_column(task->cloud, &spec);
    if (status != MOTE_OK) return session_fail(s, status, false);
    uint8_t *to = mote_cloud_column_data(task->cloud, "plane");
    const uint32_t stride = mote_cloud_find(task->cloud, "plane")->stride_bytes;
    for (uint64_t i = 0; i < task->points; i++) memcpy(to + i * stride, &task->labels[i], sizeof task->labels[i]);
    return color_points(s, task);
}

static int write_cloud(session *s, planes_task *task) {
    const double begin = seconds_now();
    int code = label_points(s, task);
    if (code != EXIT_DONE) return code;
    if (stage_take_result(task->cloud)) return EXIT_DONE;
    mote_write_params writing = mote_write_defaults();
    writing.format = task->paths->format;
    const mote_status status = mote_cloud_write(s->ctx, task->cloud, task->output, &writing);
    task->write_s = seconds_now() - begin;
    return status == MOTE_OK ? EXIT_DONE : session_fail(s, status, false);
}

/* ---- what is said of it */

static void emit_inputs(json_writer *json, const io_paths *paths) {
    if (paths->input_count == 1) {
        emit_text(json, "input", paths->inputs[0]);
        return;
    }
    emit_open(json, "inputs", '[');
    for (int i = 0; i < paths->input_count; i++) emit_text(json, NULL, paths->inputs[i]);
    emit_close(json, ']');
}

static void print_json(const session *s, const planes_options *o, const planes_task *task, uint64_t hash) {
    const mote_planes_facts facts = mote_planes_get_facts(task->planes);
    const mote_usage own[1] = {{.name = "write cloud", .seconds = task->write_s}};
    json_writer json;
    emit_start(&json, stdout, false);
    emit_open(&json, NULL, '{');
    emit_inputs(&json, task->paths);
    emit_count(&json, "points", task->points);
    emit_count(&json, "skipped", facts.skipped);
    planes_emit(task->planes, o->params.explain, &json);
    units_emit(&json, task->cloud);
    if (task->output != NULL) {
        emit_text(&json, "output", task->output);
        emit_count(&json, "bytes", report_bytes(task->output));
    }
    emit_text(&json, "backend", mote_context_backend(s->ctx));
    emit_real(&json, "work_seconds", task->work_s);
    emit_real(&json, "seconds", seconds_now() - s->started);
    if (s->options.hash) emit_text(&json, "hash", text_hash(hash).chars);
    costs_emit(s, own, task->output != NULL, &json);
    emit_close(&json, '}');
    emit_end(&json);
}

static void print_text(const session *s, const planes_options *o, const planes_task *task, uint64_t hash) {
    const mote_usage own[1] = {{.name = "write cloud", .seconds = task->write_s}};
    if (o->csv) {
        planes_print_csv(task->planes);
    } else {
        planes_print_table(task->planes, task->cloud);
        if (o->params.explain) planes_print_refused(task->planes);
    }
    if (o->stats) {
        putchar('\n');
        costs_print(s, own, task->output != NULL, task->points);
    }
    if (s->options.hash) print_out("%s  %s\n", text_hash(hash).chars, task->output);
}

/* A distance from a plane is one of all three axes. */
static void note_units(session *s, const mote_cloud *cloud) {
    mote_units units;
    mote_cloud_units(cloud, &units);
    if (!units_differ(&units)) return;
    session_note(s, "x and y count in another unit than heights (%s): distances, areas and angles mix them",
                 units_say(&units).chars);
}

static int report(session *s, const planes_options *o, const planes_task *task) {
    const mote_planes_facts facts = mote_planes_get_facts(task->planes);
    uint64_t hash = 0;
    int code = s->options.hash ? report_hash(s, task->output, &hash) : EXIT_DONE;
    if (code == EXIT_DONE) code = session_commit(s);
    if (code != EXIT_DONE) return code;
    session_printing(s);
    session_say(s, "%s%s: %u planes among %s points in %s", task->paths->inputs[0],
                task->paths->input_count > 1 ? ", …" : "", mote_planes_count(task->planes),
                text_count(task->points).chars, text_seconds(seconds_now() - s->started).chars);
    if (s->options.json) {
        print_json(s, o, task, hash);
    } else {
        print_text(s, o, task, hash);
    }
    note_units(s, task->cloud);
    if (facts.skipped > 0) session_note(s, "%s points have no finite position", text_count(facts.skipped).chars);
    if (facts.outside > 0)
        session_note(s, "%s points are far from all others and were left out", text_count(facts.outside).chars);
    return EXIT_DONE;
}

/* ---- the command */

static int check_outputs(session *s, const planes_options *o, const planes_task *task) {
    const io_paths *paths = task->paths;
    const io_paths hulls = {paths->inputs, paths->input_count, o->boundaries, NULL, true};
    int code = EXIT_DONE;
    if (task->output != NULL) code = check_output_file(s, paths);
    if (code == EXIT_DONE && o->boundaries != NULL) code = check_output_place(s, &hulls);
    if (code != EXIT_DONE || o->boundaries == NULL) return code;
    const named_file files[] = {{"-o", task->output, false}, {"--boundaries", o->boundaries, false}};
    code = check_distinct(s, files, sizeof files / sizeof files[0]);
    if (code != EXIT_DONE) return code;
    if (!path_is_stream(o->boundaries) && !text_has_ending(o->boundaries, ".obj")) {
        return session_error(s, EXIT_USAGE, "--boundaries: %s: hulls are written as .obj", o->boundaries);
    }
    return EXIT_DONE;
}

/* Options about the normals of points would do nothing where there are none. */
static int check_normals(session *s, const planes_options *o, const mote_cloud *cloud) {
    const bool wanted = o->votes == MOTE_PLANES_VOTE_NORMALS || o->normal_given;
    const bool there = mote_cloud_find(cloud, "normal_x") != NULL && mote_cloud_find(cloud, "normal_y") != NULL &&
                       mote_cloud_find(cloud, "normal_z") != NULL;
    if (!wanted || there) return EXIT_DONE;
    return session_error(s, EXIT_USAGE,
                         "--%s: the input has no attributes normal_x, normal_y, normal_z; \"mote normals\" makes them",
                         o->normal_given ? "normal-angle" : "votes normals");
}

static int find_planes(session *s, const planes_options *o, planes_task *task) {
    task->points = mote_cloud_count(task->cloud);
    if (task->output != NULL) {
        task->labels = malloc((size_t)task->points * sizeof *task->labels + 1);
        if (task->labels == NULL)
            return session_error(s, EXIT_RESOURCES, "out of memory: labels of %" PRIu64 " points", task->points);
    }
    const double begin = seconds_now();
    s->bar.points = task->points;
    const mote_status status = mote_planes_find(s->ctx, task->cloud, &o->params, task->labels, &task->planes);
    task->work_s = seconds_now() - begin;
    progress_clear(&s->bar);
    return status == MOTE_OK ? EXIT_DONE : session_fail(s, status, false);
}

static int run_planes(session *s, const void *options, const io_paths *paths) {
    const planes_options *o = options;
    planes_task task = {.paths = paths, .output = paths->output};
    int code = check_outputs(s, o, &task);
    if (code == EXIT_DONE) code = session_read(s, paths->inputs, paths->input_count, NULL, &task.cloud);
    if (code == EXIT_DONE) code = check_normals(s, o, task.cloud);
    if (code == EXIT_DONE) code = find_planes(s, o, &task);
    if (code == EXIT_DONE && task.output != NULL) code = write_cloud(s, &task);
    if (code == EXIT_DONE && o->boundaries != NULL) code = planes_write_obj(s, task.planes, task.cloud, o->boundaries);
    if (code == EXIT_DONE) code = report(s, o, &task);
    mote_planes_destroy(task.planes);
    stage_drop(task.cloud);
    free(task.labels);
    return code;
}

int cmd_planes(int argc, char **argv) {
    planes_options o = {.params = mote_planes_defaults()};
    mote_planes_params *p = &o.params;
    const option rows[] = {
        {"directions", 0, OPTION_CHOICE, &o.directions, NULL, "ball|grid",
         "of the accumulator: equal areas of the half sphere, or\n180 x 180 at one degree; default ball"},
        {"resolution", 0, OPTION_REAL, &p->resolution_deg, &o.resolution_given, "DEG",
         "ball: between directions, 0.5..10; default 2"},
        {"bin", 0, OPTION_REAL, &p->bin, &o.bin_given, "M",
         "width of a bin of rho; default: from resolution and noise"},
        {"tolerance", 0, OPTION_REAL, &p->tolerance, &o.tolerance_given, "M",
         "how far a point may be off its plane;\ndefault: three times the noise"},
        {"min-points", 0, OPTION_COUNT, &o.min_points, &o.min_given, "N",
         "that a plane needs; default: one in 200, but at least\n12 and at most 100"},
        {"most", 0, OPTION_COUNT, &o.max, &o.max_given, "N", "at most N planes; default 4096"},
        {"parts", 0, OPTION_FLAG, &p->components, NULL, NULL, "what is not connected is a plane of its own"},
        {"whole", 0, OPTION_FLAG, &p->whole, NULL, NULL, "planes without end: also points far from the others"},
        {"boundaries", 0, OPTION_TEXT, &o.boundaries, NULL, "OUT.obj", "writes the convex hulls as faces"},
        {"explain", 0, OPTION_FLAG, &p->explain, NULL, NULL, "also what was refused, and why"},
        {"csv", 0, OPTION_FLAG, &o.csv, NULL, NULL, "prints a line of values per plane"},
        {"votes", 0, OPTION_CHOICE, &o.votes, NULL, "all|normals",
         "who votes for a direction: all points, or those whose\nnormal is near it; default all"},
        {"cone", 0, OPTION_REAL, &p->cone_deg, &o.cone_given, "DEG", "--votes normals: how near; default 20"},
        {"normal-angle", 0, OPTION_REAL, &p->normal_deg, &o.normal_given, "DEG",
         "by how much normals of points may differ from their\nplane's; 90: do not look at them; default 45"},
        {"sample", 0, OPTION_COUNT, &o.sample, &o.sample_given, "N",
         "N points vote in a round; default: what planes of\n--min-points need, up to 16384"},
        {"greedy", 0, OPTION_FLAG, &p->greedy, NULL, NULL, "one plane a round: find, remove its points, vote again"},
        {"suppress", 0, OPTION_REAL, &p->suppress_deg, NULL, "DEG",
         "radius of non-maximum suppression; default 2.5 steps"},
        {"suppress-bins", 0, OPTION_COUNT, &o.suppress_bins, NULL, "N", "and along rho; default 2"},
        {"stats", 0, OPTION_FLAG, &o.stats, NULL, NULL, "print structures with bytes, stages with seconds"},
        {0},
    };
    const io_command command = {
        .help = &help, .rows = rows, .output_optional = true, .check = check_usage, .run = run_planes};
    return io_command_run(&command, &o, argc, argv);
}
