/* mote normals: normals, curvature and density of every point, as attributes of the cloud. */
#include <inttypes.h>
#include <stdio.h>

#include "io_command.h"
#include "point_run.h"
#include "print.h"
#include "text.h"

static const command_help help = {
    .synopsis = "mote normals IN… -o OUT [options]",
    "Estimates a normal and the curvature of every point, and writes the cloud with them, all its attributes kept.\n"
    "Inputs and outputs as for \"mote convert\"; several inputs become one cloud.",
    "  mote normals scan.las -o scan.ply                    from 16 neighbours each, looking up\n"
    "  mote normals scan.las -o scan.laz -k 30              smoother\n"
    "  mote normals room.ply -o out.ply --radius 0.2        from all points at most 0.2 away\n"
    "  mote normals room.ply -o out.ply -k 40 --radius 0.2  from at most 40 of those\n"
    "  mote normals room.ply -o out.ply --viewpoint 0,0,1.7    towards the scanner\n"
    "  mote normals object.ply -o out.ply --orient propagate   as their neighbours: out of a closed surface\n"
    "  mote normals scan.las -o scan.ply --density          and how dense points are\n"
    "  mote normals scan.laz -o out.laz --memory 4G         in parts, where that does not hold it\n",
    "New attributes, all float32, in the place of those of the same name:\n"
    "  normal_x normal_y normal_z   of unit length; 0 0 0 with too few neighbours, or all in one place or on one line\n"
    "  curvature                    surface variation l0 / (l0 + l1 + l2), 0 (a plane) to 1/3\n"
    "  surface_density              with --density: points per square unit, of a surface through the neighbours\n"
    "  volume_density               with --density: points per cubic unit\n"
    "Parameters, and how to choose them: docs/normals.md.\n",
};

typedef struct normals_options {
    uint64_t k, graph_k;
    double radius;
    int orient;
    const char *viewpoint;
    bool k_given, radius_given, orient_given, graph_given, density, stats;
    mote_normals_params params;
} normals_options;

/* ---- the options' meaning */

static int check_orient(normals_options *o) {
    mote_normals_params *params = &o->params;
    if (o->viewpoint != NULL && !o->orient_given) o->orient = MOTE_ORIENT_VIEWPOINT;
    if (o->viewpoint != NULL && o->orient != MOTE_ORIENT_VIEWPOINT) {
        return usage_error("normals", "--viewpoint is for --orient viewpoint");
    }
    if (o->viewpoint == NULL && o->orient == MOTE_ORIENT_VIEWPOINT) {
        return usage_error("normals", "--orient viewpoint needs --viewpoint X,Y,Z");
    }
    if (o->viewpoint != NULL && !parse_place(o->viewpoint, params->viewpoint)) {
        return usage_error("normals", "--viewpoint: \"%s\" is not X,Y,Z", o->viewpoint);
    }
    if (o->graph_given && o->orient != MOTE_ORIENT_PROPAGATE) {
        return usage_error("normals", "--graph is for --orient propagate");
    }
    if (o->graph_k < 1 || o->graph_k > MOTE_NORMALS_MAX_GRAPH_K) {
        return usage_error("normals", "--graph: %" PRIu64 " is not in 1..%u", o->graph_k, MOTE_NORMALS_MAX_GRAPH_K);
    }
    params->orient = (mote_normals_orient)o->orient;
    params->graph_k = (uint32_t)o->graph_k;
    return EXIT_DONE;
}

static int check_usage(void *options, const common_options *common, const io_paths *paths) {
    normals_options *o = options;
    (void)common, (void)paths;
    if (o->k < 3 || o->k > MOTE_KNN_MAX_K) {
        return usage_error("normals", "-k: %" PRIu64 " is not in 3..%u", o->k, MOTE_KNN_MAX_K);
    }
    if (o->radius_given && !(o->radius > 0)) return usage_error("normals", "--radius: %g is not above 0", o->radius);
    o->params.k = o->radius_given && !o->k_given ? 0 : (uint32_t)o->k;
    o->params.radius = o->radius;
    return check_orient(o);
}

/* ---- the command */

typedef struct normals_task {
    point_run run;
    mote_normals_params params;
    mote_normals_result result;
} normals_task;

static int add_columns(session *s, const normals_options *o, normals_task *task) {
    mote_normals_result *to = &task->result;
    int code = EXIT_DONE;
    to->normal_x = point_run_column(s, &task->run, "normal_x", MOTE_FLOAT32, &code);
    to->normal_y = point_run_column(s, &task->run, "normal_y", MOTE_FLOAT32, &code);
    to->normal_z = point_run_column(s, &task->run, "normal_z", MOTE_FLOAT32, &code);
    to->curvature = point_run_column(s, &task->run, "curvature", MOTE_FLOAT32, &code);
    if (!o->density) return code;
    to->surface_density = point_run_column(s, &task->run, "surface_density", MOTE_FLOAT32, &code);
    to->volume_density = point_run_column(s, &task->run, "volume_density", MOTE_FLOAT32, &code);
    return code;
}

static int estimate(session *s, normals_task *task) {
    const double begin = seconds_now();
    const mote_status status = mote_normals(s->ctx, task->run.cloud, &task->params, &task->result);
    return point_run_worked(s, &task->run, begin, status, task->result.skipped);
}

static void print_facts(const void *user) {
    const normals_task *task = user;
    print_out("%s points, %s without a finite position, %s without a normal\n", text_count(task->run.points).chars,
              text_count(task->run.skipped).chars, text_count(task->result.without).chars);
    if (task->params.orient != MOTE_ORIENT_PROPAGATE) return;
    print_out("%s parts, each oriented for itself\n", text_count(task->result.parts).chars);
}

static void emit_facts(const void *user, json_writer *json) {
    const normals_task *task = user;
    if (task->params.k > 0) emit_count(json, "k", task->params.k);
    if (task->params.radius > 0) emit_real(json, "radius", task->params.radius);
    emit_count(json, "without_normal", task->result.without);
    if (task->params.orient == MOTE_ORIENT_PROPAGATE) emit_count(json, "parts", task->result.parts);
}

static int report(session *s, const normals_task *task) {
    const point_facts facts = {task, print_facts, emit_facts};
    const mote_normals_result *r = &task->result;
    char found[64];
    snprintf(found, sizeof found, "normals of %s", text_count(task->run.points - r->without - r->skipped).chars);
    const int code = point_run_report(s, &task->run, found, &facts);
    if (code != EXIT_DONE) return code;
    if (r->without > 0) {
        session_note(s, "%s points have no normal: too few neighbours, or all in one place or on one line",
                     text_count(r->without).chars);
    }
    if (r->skipped > 0) session_note(s, "%s points have no finite position", text_count(r->skipped).chars);
    return EXIT_DONE;
}

#define RESULT_BYTES(o) ((o)->density ? 24u : 16u)

/* Where memory does not hold all points. *whole: it does, or they are needed as a whole. */
static int run_parts(session *s, const normals_options *o, const io_paths *paths, normals_task *task, bool *whole) {
    *whole = o->params.orient == MOTE_ORIENT_PROPAGATE || !point_run_goes_in_parts(s, paths, RESULT_BYTES(o));
    mote_write_params writing;
    int code = *whole ? EXIT_DONE : point_run_parts_begin(s, &task->run, paths, &writing);
    if (*whole || code != EXIT_DONE) return code;
    const mote_read_params reading = session_reading(s);
    const double begin = seconds_now();
    const mote_status status =
        mote_normals_write_parts(s->ctx, paths->inputs, (uint32_t)paths->input_count, &reading, &o->params, o->density,
                                 paths->output, &writing, NULL, &task->run.parts, &task->result);
    code = point_run_parts_worked(s, &task->run, begin, status, task->run.parts.points, whole);
    return code == EXIT_DONE && !*whole ? report(s, task) : code;
}

static int run_normals(session *s, const void *options, const io_paths *paths) {
    const normals_options *o = options;
    normals_task task = {.params = o->params, .run = {.stats = o->stats}};
    bool whole = true;
    int code = run_parts(s, o, paths, &task, &whole);
    if (code != EXIT_DONE || !whole) return code;
    code = point_run_read(s, paths, &task.run);
    if (code == EXIT_DONE) code = add_columns(s, o, &task);
    if (code == EXIT_DONE) code = estimate(s, &task);
    if (code == EXIT_DONE) code = point_run_write(s, &task.run, task.run.cloud);
    if (code == EXIT_DONE) code = report(s, &task);
    point_run_close(&task.run);
    return code;
}

int cmd_normals(int argc, char **argv) {
    normals_options o = {.params = mote_normals_defaults()};
    o.k = o.params.k;
    o.graph_k = o.params.graph_k;
    o.orient = (int)o.params.orient;
    const option rows[] = {
        {"neighbors", 'k', OPTION_COUNT, &o.k, &o.k_given, "N",
         "from the N nearest points, the point itself among them,\n3..1024; default 16"},
        {"radius", 0, OPTION_REAL, &o.radius, &o.radius_given, "R",
         "from all points at most so far away, in units of the input;\nwith -k from the k nearest of them"},
        {"orient", 0, OPTION_CHOICE, &o.orient, &o.orient_given, "up|viewpoint|propagate|none",
         "which way normals look: up; towards --viewpoint; as their\nneighbours, the topmost point's up; as they come. "
         "Default up"},
        {"viewpoint", 0, OPTION_TEXT, &o.viewpoint, NULL, "X,Y,Z", "where the scanner was; implies --orient viewpoint"},
        {"graph", 0, OPTION_COUNT, &o.graph_k, &o.graph_given, "N",
         "propagate: through the N nearest points, 1..64; default 8"},
        {"density", 0, OPTION_FLAG, &o.density, NULL, NULL, "also surface_density and volume_density"},
        {"stats", 0, OPTION_FLAG, &o.stats, NULL, NULL, "print structures with bytes, stages with seconds"},
        {0},
    };
    const io_command command = {.help = &help, .rows = rows, .check = check_usage, .run = run_normals};
    return io_command_run(&command, &o, argc, argv);
}
