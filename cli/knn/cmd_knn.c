/* mote knn: nearest neighbours, as numpy arrays or as text. */
#define _GNU_SOURCE /* stat */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "io_command.h"
#include "knn/knn_print.h"
#include "point_run.h"
#include "stage.h"
#include "text.h"

static const command_help help = {
    .synopsis = "mote knn IN… -o OUT.npz|OUT.csv [options]",
    "Finds the nearest neighbours of every point, or of the points of another cloud: exact, and the same for any "
    "number\n"
    "of threads and on the GPU. Inputs as for \"mote lod\"; several become one cloud.",
    "  mote knn scan.las -o neighbours.npz                  10 each, the point itself first\n"
    "  mote knn scan.las -o neighbours.npz -k 16 --no-self\n"
    "  mote knn scan.las -o neighbours.npz -k 8 --radius 0.5   at most 8, at most 0.5 away\n"
    "  mote knn scan.las -o lists.npz --radius 0.5 --lists  all that are at most 0.5 away\n"
    "  mote knn scan.las -o onto.npz --queries other.las -k 1  the nearest point of scan.las to each of other.las\n"
    "  mote knn scan.las -o quick.npz --approximate --recall   faster, and how near it comes to the exact answer\n"
    "  mote knn scan.las -o near.npz --method shifted -k 64 --lambda 2 --recall\n"
    "  mote knn photons.ply -o discs.npz -k 64 --compression 4  ellipsoids, flat along each normal\n"
    "  mote knn photons.ply -o discs.npz --method shifted --compression 4 --buckets\n"
    "  mote knn scan.las -o neighbours.npz --memory 4G      in parts, where that does not hold it\n"
    "  mote knn small.xyz -o neighbours.csv -k 3\n",
    "NPZ holds arrays for numpy.load: index [points, k] (int32, or int64 where that is too small), from 0 in the order "
    "of\n"
    "the input, nearest first, of equally far ones the lower index; -1 where there are not enough neighbours. "
    "distance2\n"
    "[points, k]: squared, float32, infinity with the -1; its unit is that of the input, squared. count [points]: "
    "uint32.\n"
    "--lists: the neighbours of point q are index[first[q]:first[q + 1]], and distance2 likewise; first is int64.\n"
    "CSV has a line per neighbour: query,rank,index,distance2, all counted from 0.\n"
    "--compression C: distances along the normal of the point that asks count C times, and distance2 is that of the\n"
    "ellipsoid. Normals are the columns normal_x, normal_y, normal_z (\"mote normals\" makes them).\n"
    "Points with a NaN or infinite coordinate have no neighbours and are nobody's.\n",
};

typedef struct knn_options {
    uint64_t k;
    double radius, compression;
    uint64_t lambda;
    int method;
    const char *queries, *queries_where;
    bool k_given, radius_given, method_given, compression_given, lambda_given;
    bool approximate, lists, no_self, wide, recall, stats, buckets;
} knn_options;

/* Lists are exact, and hold all that is within the radius. */
static int check_lists(const knn_options *o) {
    if (!o->radius_given) return usage_error("knn", "--lists gives all neighbours within a radius: --radius R");
    if (o->k_given) return usage_error("knn", "--lists gives all neighbours: -k is for rows");
    if (o->method_given) return usage_error("knn", "--lists has one method: --method is for rows");
    if (o->approximate) return usage_error("knn", "--lists is exact: --approximate is for rows");
    if (o->wide) return usage_error("knn", "--lists has one width: --wide is for rows");
    if (o->compression_given) return usage_error("knn", "--lists is within a sphere: --compression is for rows");
    return EXIT_DONE;
}

static int check_shifted(const knn_options *o) {
    if (o->compression_given && !(o->compression >= 1 && o->compression <= MOTE_KNN_MAX_COMPRESSION)) {
        return usage_error("knn", "--compression: %g is not in 1..%.0f", o->compression, MOTE_KNN_MAX_COMPRESSION);
    }
    if (o->approximate && o->compression > 1) {
        return usage_error("knn", "--approximate is for spheres: of ellipsoids, --method shifted is");
    }
    if (o->lambda_given && o->method != MOTE_KNN_SHIFTED) return usage_error("knn", "--lambda is for --method shifted");
    if (o->lambda < 1 || o->lambda > MOTE_KNN_MAX_LAMBDA) {
        return usage_error("knn", "--lambda: %" PRIu64 " is not in 1..%u", o->lambda, MOTE_KNN_MAX_LAMBDA);
    }
    if (o->buckets && (o->method != MOTE_KNN_SHIFTED || !(o->compression > 1))) {
        return usage_error("knn", "--buckets is for --method shifted with --compression above 1");
    }
    return EXIT_DONE;
}

static int check_usage(void *options, const common_options *common, const io_paths *paths) {
    const knn_options *o = options;
    (void)common, (void)paths;
    if (o->k < 1 || o->k > MOTE_KNN_MAX_K) {
        return usage_error("knn", "-k: %" PRIu64 " is not in 1..%u", o->k, MOTE_KNN_MAX_K);
    }
    if (o->radius_given && !(o->radius > 0)) return usage_error("knn", "--radius: %g is not above 0", o->radius);
    if (o->approximate && o->method != MOTE_KNN_GRID) return usage_error("knn", "--approximate is for --method grid");
    if (o->no_self && o->queries != NULL) {
        return usage_error("knn", "--no-self is for a cloud's own points: those of --queries are not in it");
    }
    if (o->queries_where != NULL && o->queries == NULL) {
        return usage_error("knn", "--queries-where chooses among the points of --queries");
    }
    if (o->lists) {
        const int wrong = check_lists(o);
        if (wrong != EXIT_DONE) return wrong;
    }
    const int wrong_shifted = check_shifted(o);
    if (wrong_shifted != EXIT_DONE) return wrong_shifted;
    if (o->recall && !o->approximate && o->method != MOTE_KNN_SHIFTED) {
        return usage_error("knn", "--recall is for --approximate and --method shifted: the others are exact");
    }
    return EXIT_DONE;
}

static int check_output(session *s, const knn_options *o, const io_paths *paths) {
    static const char *const endings[] = {".npz", ".csv", NULL};
    const char *output = paths->output;
    const io_paths of_queries = {&o->queries, 1, output, paths->format, paths->may_replace};
    int code = check_output_place(s, paths);
    if (code == EXIT_DONE && o->queries != NULL) code = check_output_place(s, &of_queries);
    if (code != EXIT_DONE) return code;
    if (io_paths_written_as(paths, ".npz") || io_paths_written_as(paths, ".csv")) return EXIT_DONE;
    if (paths->format != NULL) {
        return session_error(s, EXIT_USAGE, "--format: \"%s\" is neither npz nor csv", paths->format);
    }
    if (path_is_stream(output)) {
        return session_error(s, EXIT_USAGE, "%s: which format? --format npz or csv", path_title(output));
    }
    const char *dot = strrchr(output, '.');
    const char *near = dot != NULL ? text_nearest(dot, endings) : NULL;
    return session_error(s, EXIT_USAGE, "%s: neighbours are written as .npz or .csv%s%s%s", output,
                         near != NULL ? "; did you mean \"" : "", near != NULL ? near : "", near != NULL ? "\"?" : "");
}

/* ---- the command */

/* What is searched, and what came of it. */
typedef struct knn_task {
    mote_cloud *cloud, *queries; /* queries NULL: the points themselves */
    mote_knn_params params;
    knn_answer answer;
    knn_recall recall;
    knn_report report;
} knn_task;

static bool same_system(const char *a, const char *b) {
    mote_crs_facts one, other;
    if (a[0] == '\0' || b[0] == '\0' || strcmp(a, b) == 0) return true;
    mote_crs_describe(a, &one);
    mote_crs_describe(b, &other);
    if (one.code != 0 && one.code == other.code) return true;
    if (one.horizontal_code == 0 || one.horizontal_code != other.horizontal_code) return false;
    return one.vertical_code == other.vertical_code || one.vertical_code == 0 || other.vertical_code == 0;
}

/* Distances from a place in one system to a place in another mean nothing. */
static int check_systems(session *s, const knn_options *o, const io_paths *paths, const knn_task *task) {
    const char *points = mote_cloud_crs(task->cloud), *queries = mote_cloud_crs(task->queries);
    if (same_system(points, queries)) return EXIT_DONE;
    mote_crs_facts of_points, of_queries;
    mote_crs_describe(points, &of_points);
    mote_crs_describe(queries, &of_queries);
    return session_error(s, EXIT_USAGE,
                         "%s and %s have different coordinate reference systems: %s and %s; --to-crs brings all inputs "
                         "to one",
                         path_title(paths->inputs[0]), path_title(o->queries), of_points.name, of_queries.name);
}

static int read_inputs(session *s, const knn_options *o, const io_paths *paths, knn_task *task) {
    static const char *const with_normals = "x,y,z,normal_x,normal_y,normal_z", *const positions = "x,y,z";
    mote_read_params reading = session_reading(s);
    const bool normals = o->compression > 1; /* of those that ask */
    reading.select = normals && o->queries == NULL ? with_normals : positions;
    int code = session_read(s, paths->inputs, paths->input_count, &reading, &task->cloud);
    reading.select = normals ? with_normals : positions;
    reading.where = o->queries_where; /* --where is of the points that are found */
    if (code == EXIT_DONE && o->queries != NULL) code = session_read(s, &o->queries, 1, &reading, &task->queries);
    return code == EXIT_DONE && o->queries != NULL ? check_systems(s, o, paths, task) : code;
}

static int search_rows(session *s, const knn_options *o, knn_task *task, mote_knn_index *index) {
    knn_answer *a = &task->answer;
    a->k = (uint32_t)o->k;
    int code = knn_answer_make_rows(s, a, o->wide);
    if (code != EXIT_DONE) return code;
    const double begin = seconds_now();
    const mote_status status = mote_knn_search(index, task->queries, &task->params, &a->rows);
    task->report.search_s = seconds_now() - begin;
    if (status != MOTE_OK) return session_fail(s, status, false);
    if (o->recall) code = knn_recall_measure(s, a, index, task->queries, &task->params, &task->recall);
    return code;
}

static int search_lists(session *s, const knn_options *o, knn_task *task, mote_knn_index *index) {
    knn_answer *a = &task->answer;
    const int code = knn_answer_make_counts(s, a);
    if (code != EXIT_DONE) return code;
    const double begin = seconds_now();
    const mote_status status = mote_knn_within(index, task->queries, o->radius, o->no_self, a->rows.count, &a->lists);
    task->report.search_s = seconds_now() - begin;
    return status == MOTE_OK ? EXIT_DONE : session_fail(s, status, false);
}

/* Searches on several GPUs, which index and search a slab each. */
static int search_in_slabs(session *s, const knn_options *o, knn_task *task) {
    knn_answer *a = &task->answer;
    a->k = (uint32_t)o->k;
    const int code = knn_answer_make_rows(s, a, o->wide);
    if (code != EXIT_DONE) return code;
    const double begin = seconds_now();
    const mote_status status = mote_knn(s->ctx, task->cloud, task->queries, &task->params, &a->rows);
    task->report.search_s = seconds_now() - begin;
    progress_clear(&s->bar);
    return status == MOTE_OK ? EXIT_DONE : session_fail(s, status, false);
}

static int search(session *s, const knn_options *o, knn_task *task) {
    mote_knn_index *index = NULL;
    task->answer.points = mote_cloud_count(task->cloud);
    task->answer.queries = mote_cloud_count(task->queries != NULL ? task->queries : task->cloud);
    if (s->has_several_gpus && !o->lists && !o->recall) return search_in_slabs(s, o, task);
    const double begin = seconds_now();
    const mote_status status = mote_knn_build(s->ctx, task->cloud, &index);
    task->report.build_s = seconds_now() - begin;
    if (status != MOTE_OK) return session_fail(s, status, false);
    const int code = o->lists ? search_lists(s, o, task, index) : search_rows(s, o, task, index);
    mote_knn_destroy(index);
    progress_clear(&s->bar);
    return code;
}

static int write_answer(session *s, const io_paths *paths, knn_task *task) {
    struct stat info = {0};
    const double begin = seconds_now();
    int code = knn_answer_write(s, &task->answer, paths->output, io_paths_written_as(paths, ".csv"));
    task->report.write_s = seconds_now() - begin;
    if (code == EXIT_DONE && s->options.hash) code = knn_answer_hash(s, &task->answer, &task->report.hash);
    if (code == EXIT_DONE) code = session_commit(s);
    if (code == EXIT_DONE && stat(paths->output, &info) == 0) task->report.bytes = (uint64_t)info.st_size;
    return code;
}

/* ---- in parts */

/* What cannot go in parts; NULL: nothing. */
static const char *parts_refusal(const session *s, const knn_options *o) {
    if (o->queries != NULL) return "--queries asks for points of another cloud";
    if (o->lists) return "--lists has rows of any length";
    if (o->recall) return "--recall searches twice";
    if (o->approximate || o->method == MOTE_KNN_SHIFTED) return "approximate neighbours depend on all points";
    if (o->compression > 1) return "ellipsoids have no bound that part of the points tells";
    if (s->options.hash) return "--hash is of whole arrays";
    return NULL;
}

/* Where memory does not hold all points and rows. *whole: it does, or they are needed as a whole. */
static int search_in_parts(session *s, const knn_options *o, const io_paths *paths, knn_task *task, bool *whole) {
    const uint32_t row_bytes = (uint32_t)o->k * (o->wide ? 16 : 8) + 4;
    mote_knn_rows *rows = NULL;
    const char *refusal = parts_refusal(s, o);
    *whole = !memory_needs_parts(s, paths, row_bytes);
    if (*whole) return EXIT_DONE;
    if (refusal != NULL) {
        session_note(s, "it goes in one piece: %s", refusal);
        *whole = true;
        return EXIT_DONE;
    }
    const mote_read_params reading = session_reading(s);
    session_note_inputs(s, paths->inputs, paths->input_count);
    const mote_status status =
        mote_knn_find_parts(s->ctx, paths->inputs, (uint32_t)paths->input_count, &reading, &task->params, o->wide,
                            paths->output, NULL, &task->report.parts, &rows);
    progress_clear(&s->bar);
    *whole = goes_in_one_piece(s, status, &task->report.parts);
    if (*whole) return EXIT_DONE;
    if (status != MOTE_OK) return session_fail(s, status, false);
    task->report.build_s = task->report.parts.count_seconds + task->report.parts.distribute_seconds;
    task->report.search_s = task->report.parts.build_seconds;
    task->answer.k = (uint32_t)o->k;
    return knn_answer_take_rows(s, &task->answer, rows, o->wide);
}

static int search_in_one(session *s, const knn_options *o, const io_paths *paths, knn_task *task) {
    const int code = read_inputs(s, o, paths, task);
    return code == EXIT_DONE ? search(s, o, task) : code;
}

static int run_knn(session *s, const void *options, const io_paths *paths) {
    const knn_options *o = options;
    knn_task task = {.params = mote_knn_defaults()};
    task.params.method = (mote_knn_method)o->method;
    task.params.k = (uint32_t)o->k;
    task.params.radius = o->radius;
    task.params.exclude_self = o->no_self;
    task.params.approximate = o->approximate;
    task.params.compression = o->compression;
    task.params.lambda = (uint32_t)o->lambda;
    task.params.buckets = o->buckets;
    task.report.output = path_title(paths->output);
    task.report.answer = &task.answer;
    task.report.recall = o->recall ? &task.recall : NULL;
    task.report.stats = o->stats;
    int code = check_output(s, o, paths);
    if (code == EXIT_DONE && o->queries != NULL && strcmp(o->queries, "-") == 0) {
        for (int i = 0; i < paths->input_count; i++) {
            if (strcmp(paths->inputs[i], "-") != 0) continue;
            code = session_error(s, EXIT_USAGE, "standard input is named twice; it is read once");
        }
    }
    bool whole = true;
    if (code == EXIT_DONE) code = search_in_parts(s, o, paths, &task, &whole);
    if (code == EXIT_DONE && whole) code = search_in_one(s, o, paths, &task);
    if (code == EXIT_DONE) code = write_answer(s, paths, &task);
    if (code == EXIT_DONE) knn_print(s, &task.report);
    knn_answer_free(s, &task.answer);
    mote_cloud_destroy(task.queries);
    stage_drop(task.cloud);
    return code;
}

int cmd_knn(int argc, char **argv) {
    knn_options o = {.k = mote_knn_defaults().k, .compression = 1, .lambda = 1};
    const option rows[] = {
        {"neighbors", 'k', OPTION_COUNT, &o.k, &o.k_given, "N", "of each point, 1..1024; default 10"},
        {"radius", 0, OPTION_REAL, &o.radius, &o.radius_given, "R",
         "only neighbours at most so far away, in units of the input"},
        {"lists", 0, OPTION_FLAG, &o.lists, NULL, NULL, "with --radius: all of them, however many"},
        {"no-self", 0, OPTION_FLAG, &o.no_self, NULL, NULL,
         "a point is not its own neighbour; one at the same place is"},
        {"queries", 0, OPTION_TEXT, &o.queries, NULL, "FILE", "the neighbours of these points, among those of IN"},
        {"queries-where", 0, OPTION_TEXT, &o.queries_where, NULL, "EXPR",
         "only these of them; --where chooses among the points of IN"},
        {"method", 0, OPTION_CHOICE, &o.method, &o.method_given, "grid|shifted|brute",
         "cells of the Morton order, exact; four shifted orders,\napproximate: see docs/knn_shifted.md; every point, "
         "for checking; default "
         "grid"},
        {"compression", 0, OPTION_REAL, &o.compression, &o.compression_given, "C",
         "ellipsoids: distances along the normal of the point that\nasks count C times; default 1, spheres"},
        {"lambda", 0, OPTION_COUNT, &o.lambda, &o.lambda_given, "L",
         "shifted: L * k points before and behind each are looked at\nin each order; 1..16, default 1"},
        {"buckets", 0, OPTION_FLAG, &o.buckets, NULL, NULL,
         "shifted, with --compression: orders of spaces that are\nstretched along 9 axes: slower, and nearer where c "
         "is large"},
        {"approximate", 0, OPTION_FLAG, &o.approximate, NULL, NULL,
         "grid: cells around the first ones with k points are not\nlooked at"},
        {"recall", 0, OPTION_FLAG, &o.recall, NULL, NULL, "also search exactly, and print how near it comes"},
        {"wide", 0, OPTION_FLAG, &o.wide, NULL, NULL, "indices as int64 and distances as float64"},
        {"stats", 0, OPTION_FLAG, &o.stats, NULL, NULL, "print structures with bytes, stages with seconds"},
        {0},
    };
    const io_command command = {.help = &help, .rows = rows, .check = check_usage, .run = run_knn};
    return io_command_run(&command, &o, argc, argv);
}
