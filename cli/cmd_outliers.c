/* mote outliers: removes or marks points that stand alone. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "io_command.h"
#include "point_run.h"
#include "print.h"
#include "stage.h"
#include "text.h"

static const command_help help = {
    .synopsis = "mote outliers IN… -o OUT [options]",
    "Writes a cloud without its outliers: points that are farther from their neighbours than most are, or that have\n"
    "too few. Inputs and outputs as for \"mote convert\"; several inputs become one cloud.",
    "  mote outliers scan.las -o clean.las                      farther than mean + 2 standard deviations\n"
    "  mote outliers scan.las -o clean.las -k 20 --sigma 3      removes less\n"
    "  mote outliers scan.las -o clean.las --radius 1 --min 4   fewer than 4 others at most 1 away\n"
    "  mote outliers scan.las -o marked.laz --mark              keeps all; attribute outlier is 1 or 0\n"
    "  mote outliers scan.las -o marked.ply --mark --distances  and what was compared\n",
    "The distance of a point is the mean of those to its k nearest other points; it is compared with the mean and the\n"
    "standard deviation (with n - 1) of these distances over all points. Points with a NaN or infinite coordinate are "
    "outliers.\n"
    "How to choose: docs/normals.md.\n",
};

typedef struct outliers_options {
    uint64_t k, min_neighbors;
    double sigmas, radius;
    bool k_given, sigma_given, radius_given, min_given;
    bool mark, distances, stats;
    mote_outliers_params params;
} outliers_options;

static int check_radius(const outliers_options *o) {
    if (!(o->radius > 0)) return usage_error("outliers", "--radius: %g is not above 0", o->radius);
    if (o->k_given || o->sigma_given) {
        return usage_error("outliers", "--radius counts points, -k and --sigma compare distances: one or the other");
    }
    if (o->distances) return usage_error("outliers", "--distances: --radius counts points, and compares no distances");
    if (o->min_neighbors < 1 || o->min_neighbors > MOTE_KNN_MAX_K) {
        return usage_error("outliers", "--min: %" PRIu64 " is not in 1..%u", o->min_neighbors, MOTE_KNN_MAX_K);
    }
    return EXIT_DONE;
}

static int check_usage(void *options, const common_options *common, const io_paths *paths) {
    outliers_options *o = options;
    (void)common, (void)paths;
    o->params.method = o->radius_given ? MOTE_OUTLIERS_RADIUS : MOTE_OUTLIERS_STATISTICAL;
    o->params.k = (uint32_t)o->k;
    o->params.sigmas = o->sigmas;
    o->params.radius = o->radius;
    o->params.min_neighbors = (uint32_t)o->min_neighbors;
    if (o->radius_given) return check_radius(o);
    if (o->min_given) return usage_error("outliers", "--min is for --radius");
    if (o->k < 1 || o->k > MOTE_KNN_MAX_K) {
        return usage_error("outliers", "-k: %" PRIu64 " is not in 1..%u", o->k, MOTE_KNN_MAX_K);
    }
    if (!(o->sigmas >= 0)) return usage_error("outliers", "--sigma: %g is below 0", o->sigmas);
    return EXIT_DONE;
}

/* ---- the command */

typedef struct outliers_task {
    point_run run;
    mote_outliers_params params;
    mote_outliers_result result;
    bool mark;
} outliers_task;

static int find(session *s, outliers_task *task) {
    const double begin = seconds_now();
    const mote_status status = mote_outliers(s->ctx, task->run.cloud, &task->params, &task->result);
    return point_run_worked(s, &task->run, begin, status, task->result.skipped);
}

static int write_rest(session *s, outliers_task *task) {
    const uint64_t count = task->run.points - task->result.count;
    uint64_t *indices = malloc((size_t)count * sizeof *indices + 1), kept = 0;
    mote_cloud *rest = NULL;
    if (indices == NULL) return session_error(s, EXIT_RESOURCES, "out of memory: the list of the remaining points");
    for (uint64_t i = 0; i < task->run.points; i++) {
        if (task->result.outlier[i] == 0) indices[kept++] = i;
    }
    const mote_status status = mote_cloud_select(s->ctx, task->run.cloud, indices, count, &rest);
    free(indices);
    if (status != MOTE_OK) return session_fail(s, status, false);
    if (count == 0 && task->run.points > 0) session_note(s, "no point remains; the output is empty");
    const int code = point_run_write(s, &task->run, rest);
    stage_drop(rest);
    return code;
}

static void print_facts(const void *user) {
    const outliers_task *task = user;
    const mote_outliers_result *r = &task->result;
    print_out("%s points, %s outliers, of which %s without a finite position\n", text_count(task->run.points).chars,
              text_count(r->count).chars, text_count(r->skipped).chars);
    if (task->params.method != MOTE_OUTLIERS_STATISTICAL) return;
    print_out("distances: mean %.6g, standard deviation %.6g; farther than %.6g is an outlier\n", r->mean, r->deviation,
              r->threshold);
}

static void emit_facts(const void *user, json_writer *json) {
    const outliers_task *task = user;
    const mote_outliers_result *r = &task->result;
    emit_count(json, "outliers", r->count);
    if (task->params.method == MOTE_OUTLIERS_STATISTICAL) {
        emit_count(json, "k", task->params.k);
        emit_real(json, "sigma", task->params.sigmas);
        emit_real(json, "mean", r->mean);
        emit_real(json, "deviation", r->deviation);
        emit_real(json, "threshold", r->threshold);
    } else {
        emit_real(json, "radius", task->params.radius);
        emit_count(json, "min", task->params.min_neighbors);
    }
}

static int report(session *s, const outliers_task *task) {
    const point_facts facts = {task, print_facts, emit_facts};
    const double share = task->run.points > 0 ? 100.0 * (double)task->result.count / (double)task->run.points : 0;
    char found[96];
    snprintf(found, sizeof found, "%s outliers %s (%.3g %%)", text_count(task->result.count).chars,
             task->mark ? "marked" : "left out", share);
    return point_run_report(s, &task->run, found, &facts);
}

#define RESULT_BYTES 9u /* a distance and a mark */

/* Where memory does not hold all points. *whole: it does, or they are needed as a whole. */
static int run_parts(session *s, const outliers_options *o, const io_paths *paths, outliers_task *task, bool *whole) {
    *whole = !point_run_goes_in_parts(s, paths, RESULT_BYTES);
    mote_write_params writing;
    int code = *whole ? EXIT_DONE : point_run_parts_begin(s, &task->run, paths, &writing);
    if (*whole || code != EXIT_DONE) return code;
    const mote_read_params reading = session_reading(s);
    const double begin = seconds_now();
    const mote_status status =
        mote_outliers_write_parts(s->ctx, paths->inputs, (uint32_t)paths->input_count, &reading, &o->params, o->mark,
                                  o->distances, paths->output, &writing, NULL, &task->run.parts, &task->result);
    const uint64_t written = task->run.parts.points - (o->mark ? 0 : task->result.count);
    code = point_run_parts_worked(s, &task->run, begin, status, written, whole);
    if (code != EXIT_DONE || *whole) return code;
    if (written == 0 && task->run.points > 0) session_note(s, "no point remains; the output is empty");
    return report(s, task);
}

static int run_outliers(session *s, const void *options, const io_paths *paths) {
    const outliers_options *o = options;
    outliers_task task = {.params = o->params, .mark = o->mark, .run = {.stats = o->stats}};
    uint8_t *flags = NULL;
    bool whole = true;
    int code = run_parts(s, o, paths, &task, &whole);
    if (code != EXIT_DONE || !whole) return code;
    code = point_run_read(s, paths, &task.run);
    if (code == EXIT_DONE && o->distances) {
        task.result.distance = point_run_column(s, &task.run, "mean_distance", MOTE_FLOAT32, &code);
    }
    if (code == EXIT_DONE && o->mark) {
        task.result.outlier = point_run_column(s, &task.run, "outlier", MOTE_UINT8, &code);
    } else if (code == EXIT_DONE) {
        task.result.outlier = flags = malloc((size_t)task.run.points + 1);
        if (flags == NULL) code = session_error(s, EXIT_RESOURCES, "out of memory: a byte per point");
    }
    if (code == EXIT_DONE) code = find(s, &task);
    if (code == EXIT_DONE) { code = o->mark ? point_run_write(s, &task.run, task.run.cloud) : write_rest(s, &task); }
    if (code == EXIT_DONE) code = report(s, &task);
    free(flags);
    point_run_close(&task.run);
    return code;
}

int cmd_outliers(int argc, char **argv) {
    outliers_options o = {.params = mote_outliers_defaults()};
    o.k = o.params.k;
    o.min_neighbors = o.params.min_neighbors;
    o.sigmas = o.params.sigmas;
    const option rows[] = {
        {"neighbors", 'k', OPTION_COUNT, &o.k, &o.k_given, "N",
         "compare distances to the N nearest, 1..1024; default 8"},
        {"sigma", 0, OPTION_REAL, &o.sigmas, &o.sigma_given, "S",
         "an outlier is farther than the mean of all and S times\ntheir standard deviation; default 2"},
        {"radius", 0, OPTION_REAL, &o.radius, &o.radius_given, "R",
         "instead: an outlier has too few others at most so far away,\nin units of the input"},
        {"min", 0, OPTION_COUNT, &o.min_neighbors, &o.min_given, "N",
         "with --radius: fewer than N, 1..1024; default 2"},
        {"mark", 0, OPTION_FLAG, &o.mark, NULL, NULL, "keep all points; attribute outlier (uint8) is 1 or 0"},
        {"distances", 0, OPTION_FLAG, &o.distances, NULL, NULL, "attribute mean_distance (float32): what was compared"},
        {"stats", 0, OPTION_FLAG, &o.stats, NULL, NULL, "print structures with bytes, stages with seconds"},
        {0},
    };
    const io_command command = {.help = &help, .rows = rows, .check = check_usage, .run = run_outliers};
    return io_command_run(&command, &o, argc, argv);
}
