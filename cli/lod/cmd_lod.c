/* mote lod: levels of detail, as a Potree 2.0 folder or a COPC file. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lod/lod_array.h"
#include "lod/lod_attributes.h"
#include "lod/lod_in_parts.h"
#include "lod/lod_print.h"
#include "lod/lod_update.h"
#include "paths.h"
#include "print.h"
#include "stage.h"
#include "strays_text.h"
#include "text.h"

static const command_help help = {
    .synopsis = "mote lod IN… -o DIR|FILE.copc.laz [options]",
    "Makes a level-of-detail octree: a folder in Potree 2.0 format, for \"mote view\" and every viewer of that "
    "format,\n"
    "or, where the output's name ends in .copc.laz, a COPC file: LAZ that is read by box and resolution.\n"
    "Inputs: LAS, LAZ, PLY, PCD, PTX, E57, text, Potree folders; several become one cloud, folders and "
    "patterns are\nsearched.",
    "  mote lod scan.las -o scan.mote && mote view scan.mote\n"
    "  mote lod scan.laz -o scan.copc.laz\n"
    "  mote lod tiles/*.las -o all.mote --encoding brotli\n"
    "  mote lod scan.las -o smooth.mote --filter gaussian   averaged colours, no flicker from afar\n"
    "  mote lod scan.las -o even.mote --sampling poisson    evenly spaced, above the leaves\n"
    "  mote lod scan.las -o scan.mote --plan                what it would need\n"
    "  mote lod scan.las -o scan.mote --memory 4G           in parts, where that does not hold it; COPC likewise\n"
    "  mote lod scan.las -o scan.mote --memory 4G --resume  the same, going on where a killed run ended\n"
    "  mote lod scan.las -o scan.mote --memory 16G --device cuda:all   on all GPUs of this machine\n"
    "  mote lod --into town.mote tiles                      a folder that knows its files: makes it, or they join it\n"
    "  mote lod --into town.mote --replace tiles/1.las --remove tiles/2.las\n"
    "  mote lod tiles -o all.mote --plan-parts plan.json --parts 2   for two machines, or a job array: each\n"
    "  mote lod --part 1/2 plan.json && mote lod --part 2/2 plan.json\n"
    "  mote lod --merge plan.json\n"
    "  mote lod scan.las -o scan.mote --device cuda --stats   on the GPU, or an error that says why not\n"
    "  mote lod scan.las -o scan.mote --device cpu          the same bytes, without it\n",
    "Additive: each point stands in exactly one node, viewers add the levels; \"mote convert DIR out.las\" gives\n"
    "every point back. Replacing: inner nodes hold averaged representatives that finer nodes replace.\n"
    "An existing Potree folder is replaced, with -o or --force, when the new one is complete; anything else is left "
    "alone.\n"
    "COPC is additive; --filter, --encoding, --max-node and --name are for folders.\n"
    "--device auto takes the GPU, where one answers, for clouds large enough to pay; the result is the same.\n",
};

typedef struct lod_options {
    int scheme, sampling, filter, encoding, quality;
    bool scheme_given, filter_given, encoding_given, quality_given, grid_given, merge_given, max_given;
    bool copc; /* what to write */
    uint64_t grid, merge, max;
    const char *attributes, *name;
    bool stats, plan;
    lod_array array;
    lod_update update;
} lod_options;

static bool power_of_two(uint64_t n) { return n != 0 && (n & (n - 1)) == 0; }

/* Options that a COPC file would have to ignore are mistakes. */
static int check_copc_usage(const lod_options *o) {
    if (!o->copc) return EXIT_DONE;
    if (o->scheme == MOTE_LOD_REPLACING)
        return usage_error("lod", "COPC is additive: --scheme replacing is for folders");
    if (o->filter != MOTE_LOD_FILTER_NONE) {
        return usage_error("lod", "COPC holds each point as it is: --filter is for folders");
    }
    if (o->encoding_given) return usage_error("lod", "COPC is LAZ: --encoding is for folders");
    if (o->max_given) return usage_error("lod", "COPC has one node in one place: --max-node is for folders");
    if (o->name != NULL) return usage_error("lod", "COPC has no place for a name: --name is for folders");
    return EXIT_DONE;
}

static int check_usage(const lod_options *o, const common_options *common) {
    if (common->seed_given && o->sampling == MOTE_LOD_FIRST) {
        return usage_error("lod", "--seed is for --sampling random and poisson: first has nothing random");
    }
    if (o->plan && common->hash) return usage_error("lod", "--hash is of the output, and --plan writes none");
    if (o->plan && o->stats) return usage_error("lod", "--stats is of the work done, and --plan does none");
    if (o->scheme_given && o->scheme == MOTE_LOD_ADDITIVE && o->filter != MOTE_LOD_FILTER_NONE) {
        return usage_error("lod", "--filter averages, so it needs --scheme replacing, not additive");
    }
    if (o->grid_given && (!power_of_two(o->grid) || o->grid < 2 || o->grid > 1024)) {
        return usage_error("lod", "--grid: %" PRIu64 " is no power of two in 2..1024", o->grid);
    }
    if (o->merge_given && (o->merge < 1 || o->merge > UINT32_MAX)) {
        return usage_error("lod", "--merge: %" PRIu64 " is not in 1..%u", o->merge, UINT32_MAX);
    }
    if (o->quality_given && (o->quality < 0 || o->quality > 11)) {
        return usage_error("lod", "--level-quality: %d is not in 0..11", o->quality);
    }
    if (o->quality_given && o->encoding != MOTE_POTREE_BROTLI) {
        return usage_error("lod", "--level-quality is for --encoding brotli");
    }
    const int code = lod_array_check(&o->array);
    return code == EXIT_DONE ? check_copc_usage(o) : code;
}

/* The options as the library wants them; filters imply replacing, replacing without a filter averages cells. */
static mote_lod_params lod_params(session *s, const lod_options *o) {
    mote_lod_params params = mote_lod_defaults();
    params.scheme = (mote_lod_scheme)o->scheme;
    params.sampling = (mote_lod_sampling)o->sampling;
    params.filter = (mote_lod_filter)o->filter;
    static const char *const filters[] = {"none", "cell", "neighbors", "gaussian"};
    if (o->filter != MOTE_LOD_FILTER_NONE && !o->scheme_given) {
        session_note(s, "--filter %s implies --scheme replacing", filters[o->filter]);
        params.scheme = MOTE_LOD_REPLACING;
    }
    if (params.scheme == MOTE_LOD_REPLACING && !o->filter_given) params.filter = MOTE_LOD_FILTER_CELL;
    if (o->grid_given) params.grid = (uint32_t)o->grid;
    if (o->merge_given) params.merge_points = (uint32_t)o->merge;
    if (o->max_given) params.max_node_points = o->max;
    if (o->copc) params.max_node_points = 0;
    params.on_device = !o->copc; /* what writes COPC reads the order on the host */
    if (s->options.seed_given) params.seed = s->options.seed;
    return params;
}

/* ---- the command */

/* What is to be written and where. */
typedef struct lod_task {
    const mote_cloud *cloud;
    const char *output;
    const char *names[LOD_NAMES_MAX + 1];
    const char *const *left_out; /* attributes; NULL: none */
    const char *columns;         /* what is not left out; NULL: all */
    session *session;
    mote_potree_origin origin; /* of which files, where --into asks that the folder knows them */
    mote_potree_output *begun; /* NULL: not, or taken over by mote_potree_write */
    bool would_begin;          /* of a plan: the run would hold an output by now */
} lod_task;

/* Whether all is written as it comes, each point once: then the size of the output is known early. */
static bool is_plain(const lod_options *o) {
    return !o->copc && o->encoding == MOTE_POTREE_DEFAULT && o->scheme == MOTE_LOD_ADDITIVE &&
           o->filter == MOTE_LOD_FILTER_NONE && o->attributes == NULL;
}

/* mote_read_params.known. What is wrong with the output is said when it is to be written. */
static void begin_output(void *user, const mote_cloud *header) {
    lod_task *task = user;
    const uint64_t bytes = (uint64_t)(lod_point_bytes(header) * (double)mote_cloud_count(header));
    if (mote_potree_begin(task->session->ctx, task->output, bytes, &task->begun) != MOTE_OK) {
        mote_context_clear(task->session->ctx);
    }
}

/* Notes what a plan says of the output. */
static void note_output(void *user, const mote_cloud *header) {
    lod_task *task = user;
    (void)header;
    task->would_begin = true;
}

static mote_potree_params potree_params(const lod_options *o, const lod_task *task) {
    mote_potree_params params = mote_potree_defaults();
    params.encoding = (mote_potree_encoding)o->encoding;
    params.name = o->name;
    params.attributes_left_out = task->left_out;
    if (task->origin.input_count > 0) params.origin = &task->origin;
    if (o->quality_given) params.brotli_quality = o->quality;
    return params;
}

static mote_copc_params copc_params(const lod_task *task) {
    mote_copc_params params = mote_copc_defaults();
    params.columns = task->columns;
    return params;
}

static mote_status write_potree(session *s, const lod_options *o, lod_task *task, const mote_lod *lod,
                                lod_written *written) {
    mote_potree_params params = potree_params(o, task);
    mote_potree_report report = {0};
    params.begun = task->begun;
    task->begun = NULL;
    const mote_status status = mote_potree_write(s->ctx, lod, task->output, &params, &report);
    const lod_written all = {false, report.points, report.octree_bytes, report.hierarchy_bytes, report.hash};
    *written = all;
    return status;
}

static mote_status write_copc(session *s, const lod_task *task, const mote_lod *lod, lod_written *written) {
    const mote_copc_params params = copc_params(task);
    mote_copc_report report = {0};
    const mote_status status = mote_copc_write(s->ctx, lod, task->output, &params, &report);
    const lod_written all = {true, report.points, report.file_bytes, report.hierarchy_bytes, report.hash};
    *written = all;
    return status;
}

/* A stray makes the cube large, and the points a few of its finest cells. */
static mote_status find_strays(session *s, const mote_cloud *cloud, const mote_lod *lod, mote_strays *strays) {
    const mote_lattice *lattice = mote_lod_lattice(lod);
    mote_box cube;
    for (int k = 0; k < 3; k++) {
        cube.min[k] = (double)lattice->min[k] * lattice->scale[k] + lattice->offset[k];
        cube.max[k] = cube.min[k] + (double)lattice->side[k] * lattice->scale[k];
    }
    return mote_cloud_strays(s->ctx, cloud, &cube, strays);
}

static void report_written(session *s, const lod_options *o, const lod_task *task, const mote_lod *lod,
                           const lod_written *written) {
    const double seconds = seconds_now() - s->started;
    const uint64_t points = mote_cloud_count(task->cloud);
    const uint64_t bytes = written->bytes + (written->copc ? 0 : written->hierarchy_bytes);
    const char *output = path_title(task->output);
    session_printing(s);
    session_say(s, "%s: %s points in %u nodes, %s in %s, %s M points/s", output, text_count(written->points).chars,
                mote_lod_node_count(lod), text_bytes(bytes).chars, text_seconds(seconds).chars,
                text_real(floor((double)points / seconds / 1e4) / 100).chars);
    if (mote_lod_skipped(lod) > 0) {
        session_say(s, "warning: %s points without a finite position were left out",
                    text_count(mote_lod_skipped(lod)).chars);
    }
    if (s->options.json) lod_print_json(s, lod, written, output, points);
    if (!s->options.json && o->stats) lod_print_stats(s, lod, written, points);
    if (!s->options.json && s->options.hash) print_out("%s  %s\n", text_hash(written->hash).chars, output);
}

static int build_and_write(session *s, const lod_options *o, lod_task *task, mote_lod_params params) {
    if (o->plan) {
        const lod_question question = {
            task->cloud, params, task->output, o->copc, potree_params(o, task), copc_params(task), task->would_begin};
        return lod_print_plan(s, &question);
    }
    mote_lod *lod = NULL;
    mote_strays strays = {.count = 0};
    lod_written written = {0};
    mote_status status = mote_lod_build(s->ctx, task->cloud, &params, &lod);
    if (status == MOTE_OK) {
        status = o->copc ? write_copc(s, task, lod, &written) : write_potree(s, o, task, lod, &written);
    }
    progress_clear(&s->bar);
    if (status == MOTE_OK) status = find_strays(s, task->cloud, lod, &strays);
    int code = status == MOTE_OK ? session_commit(s) : session_fail(s, status, false);
    if (code == EXIT_DONE) report_written(s, o, task, lod, &written);
    if (code == EXIT_DONE && strays.count > 0) {
        session_note(s, "%s", strays_say(&strays, mote_cloud_count(task->cloud)).chars);
    }
    mote_lod_destroy(lod);
    return code;
}

/* Checks the output also where --plan writes none: the plan tells what the run would do. */
static int check_output(session *s, const lod_options *o, const io_paths *paths) {
    if (paths->output == NULL) return EXIT_DONE;
    if (o->copc) return check_output_place(s, paths);
    return check_output_folder(s, paths);
}

/* What --attributes leaves, in the form that the format's writer wants. columns is for free. */
static int choose_attributes(session *s, const lod_options *o, lod_task *task, char **columns) {
    *columns = NULL;
    if (o->attributes == NULL) return EXIT_DONE;
    const int code = lod_attributes_left_out(s, o->attributes, task->cloud, task->names);
    task->left_out = task->names;
    if (code != EXIT_DONE || !o->copc) return code;
    *columns = lod_columns_but(task->cloud, task->names);
    task->columns = *columns;
    return *columns != NULL ? EXIT_DONE : session_error(s, EXIT_RESOURCES, "out of memory: the list of attributes");
}

/* What is asked for in parts: a plan, or a run whose points memory does not hold. */
static int run_chosen_parts(session *s, const lod_options *o, const io_paths *paths, const lod_task *task,
                            const mote_lod_params *params, bool *is_done) {
    const lod_in_parts parts = {paths,   *params,  potree_params(o, task), copc_params(task),
                                o->copc, o->stats, o->array.resumes,       o->array.workers};
    *is_done = true;
    if (o->array.plan != NULL) return lod_array_plan(s, &o->array, &parts);
    const bool in_parts = lod_goes_in_parts(s, &parts);
    const int code = in_parts ? lod_run_in_parts(s, &parts, is_done) : EXIT_DONE;
    if (in_parts && *is_done) return code;
    *is_done = false;
    if (o->array.resumes) session_note(s, "--resume: it does not go in parts, so nothing is kept");
    return EXIT_DONE;
}

/* Which attributes there are is known before points are read. *is_done false: it goes in one piece, which was not begun
   yet */
static int run_parts(session *s, const lod_options *o, const io_paths *paths, lod_task *task,
                     const mote_lod_params *params, bool *is_done) {
    const mote_read_params reading = session_reading(s);
    mote_cloud *attributes = NULL;
    char *columns = NULL;
    int code = EXIT_DONE;
    if (o->attributes != NULL && (s->options.memory_bytes > 0 || o->array.plan != NULL)) {
        const mote_status status =
            mote_inputs_attributes(s->ctx, paths->inputs, (uint32_t)paths->input_count, &reading, &attributes);
        task->cloud = attributes;
        code = status == MOTE_OK ? choose_attributes(s, o, task, &columns) : session_fail(s, status, false);
    }
    if (code == EXIT_DONE) code = run_chosen_parts(s, o, paths, task, params, is_done);
    *is_done = *is_done || code != EXIT_DONE;
    task->cloud = NULL;
    task->left_out = NULL;
    task->columns = NULL;
    free(columns);
    mote_cloud_destroy(attributes);
    return code;
}

static uint64_t clock_now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static int run_lod(session *s, const lod_options *o, const io_paths *paths) {
    mote_cloud *cloud = NULL;
    char *columns = NULL;
    lod_task task = {.output = paths->output, .session = s};
    const mote_read_params as_read = session_reading(s);
    int code = check_output(s, o, paths);
    if (o->update.folder != NULL) {
        task.origin.inputs = paths->inputs;
        task.origin.input_count = (uint32_t)paths->input_count;
        task.origin.reading = &as_read;
        task.origin.since_ns = clock_now_ns();
    }
    const mote_lod_params params = lod_params(s, o);
    bool is_done = false;
    if (code == EXIT_DONE && !o->plan) code = run_parts(s, o, paths, &task, &params, &is_done);
    if (is_done) return code;
    if (code == EXIT_DONE && o->array.plan != NULL) {
        return session_error(s, EXIT_USAGE, "--plan-parts: --plan is of one piece");
    }
    mote_read_params reading = session_reading(s);
    reading.prepare_order = true;
    reading.to_device = !o->copc;
    reading.device_point_bytes = mote_lod_device_point_bytes(&params);
    if (is_plain(o)) reading.known = o->plan ? note_output : begin_output;
    reading.known_user = &task;
    if (code == EXIT_DONE) code = session_read(s, paths->inputs, paths->input_count, &reading, &cloud);
    task.cloud = cloud;
    if (code == EXIT_DONE) code = choose_attributes(s, o, &task, &columns);
    if (code == EXIT_DONE) code = build_and_write(s, o, &task, params);
    if (code == EXIT_DONE && o->array.resumes && !o->plan)
        mote_lod_parts_clear_resumed(s->ctx, paths->output); /* of a killed run */
    mote_potree_abandon(s->ctx, task.begun);
    free(columns);
    stage_drop(cloud);
    return code;
}

/* What a plan says already would have to be ignored. */
static int check_array_usage(const lod_options *o, const common_options *common) {
    const bool shapes = o->scheme_given || o->sampling != MOTE_LOD_RANDOM || o->filter_given || o->grid_given ||
                        o->merge_given || o->max_given || o->encoding_given || o->attributes != NULL || o->name != NULL;
    if (shapes || common->seed_given || common->where != NULL || common->crs != NULL || common->to_crs != NULL) {
        return usage_error("lod", "the plan says what is built, and of which points: give this to --plan-parts");
    }
    return check_usage(o, common);
}

/* A part of a plan, or all parts: what else there is to know, the plan says. */
static int run_array(const lod_options *o, const common_options *common, const arguments *words) {
    session s;
    int code = check_array_usage(o, common);
    if (code != EXIT_DONE) return code;
    if (common->output != NULL) return usage_error("lod", "-o: the plan names the output");
    if (o->array.part != NULL && words->count != 1)
        return usage_error("lod", "--part: name the plan, and nothing else");
    if (o->array.merge != NULL && words->count != 0) {
        return usage_error("lod", "--merge PLAN: the plan names the inputs, so \"%s\" is not read", words->words[0]);
    }
    code = session_open(&s, "lod", common);
    if (code == EXIT_DONE) code = session_hold(&s);
    if (code == EXIT_DONE) {
        code = o->array.part != NULL ? lod_array_part(&s, &o->array, words->words[0]) : lod_array_merge(&s, &o->array);
    }
    return session_close(&s, code);
}

/* A folder that is there: how it is made, it says itself. */
static int run_update(const lod_options *o, const common_options *common, const arguments *words) {
    session s;
    const bool shapes = o->scheme_given || o->sampling != MOTE_LOD_RANDOM || o->filter_given || o->grid_given ||
                        o->merge_given || o->max_given || o->encoding_given || o->attributes != NULL || o->name != NULL;
    if (shapes || common->seed_given || common->where != NULL || common->crs != NULL || common->to_crs != NULL) {
        return usage_error("lod", "--into: how %s is built, and of which points, it says itself", o->update.folder);
    }
    if (o->plan || o->array.plan != NULL || o->array.resumes || o->array.parts_given) {
        return usage_error("lod", "--into changes what is there, at once: plans and --resume are not for it");
    }
    if (words->count == 0 && o->update.remove.count == 0 && o->update.replace.count == 0) {
        return usage_error("lod", "--into: name files that join it, or --remove or --replace some");
    }
    /* The folder takes its name while no other update is at work, so that nothing is held until the end. */
    const int code = session_open(&s, "lod", common);
    if (code != EXIT_DONE) return session_close(&s, code);
    return session_close(&s, lod_update_run(&s, &o->update, o->array.workers, o->array.verify, o->stats, words));
}

int cmd_lod(int argc, char **argv) {
    lod_options o = {0};
    const option rows[] = {
        {"scheme", 0, OPTION_CHOICE, &o.scheme, &o.scheme_given, "additive|replacing",
         "default additive; a filter implies replacing"},
        {"sampling", 0, OPTION_CHOICE, &o.sampling, NULL, "random|first|poisson",
         "which point of a cell; default random. poisson\nkeeps a distance in inner nodes, not beside leaves"},
        {"filter", 0, OPTION_CHOICE, &o.filter, &o.filter_given, "none|cell|neighbors|gaussian",
         "colour of representatives: average of the cell, of its\n27 neighbours, or of these weighted by distance;\n"
         "default none, with --scheme replacing cell"},
        {"grid", 0, OPTION_COUNT, &o.grid, &o.grid_given, "N",
         "sampling cells per side of a node, a power of two; default 128"},
        {"merge", 0, OPTION_COUNT, &o.merge, &o.merge_given, "N",
         "cells with at most N points are not divided; default 10000"},
        {"max-node", 0, OPTION_COUNT, &o.max, &o.max_given, "N",
         "more points than this in one place become a chain of\nnodes; default 16777216, 0 = no bound"},
        {"encoding", 0, OPTION_CHOICE, &o.encoding, &o.encoding_given, "default|brotli",
         "of the points on disk; default default"},
        {"level-quality", 0, OPTION_INT, &o.quality, &o.quality_given, "0..11", "of brotli; default 2"},
        {"attributes", 0, OPTION_TEXT, &o.attributes, NULL, "A,B,…",
         "only these beside the position; default all.\nrgb stands for red, green and blue"},
        {"name", 0, OPTION_TEXT, &o.name, NULL, "TEXT", "in metadata.json; default from DIR"},
        {"stats", 0, OPTION_FLAG, &o.stats, NULL, NULL, "print levels, structures with bytes, stages with seconds"},
        {"plan", 0, OPTION_FLAG, &o.plan, NULL, NULL, "nodes, bytes in memory and on disk: all is done but\nwriting"},
        {"plan-parts", 0, OPTION_TEXT, &o.array.plan, NULL, "PLAN", "write a plan for a job array, JSON"},
        {"parts", 0, OPTION_COUNT, &o.array.parts, &o.array.parts_given, "N",
         "of the plan; default as few as --memory allows"},
        {"part", 0, OPTION_TEXT, &o.array.part, NULL, "I/N",
         "make part I of the plan that is named instead of an\ninput; auto: as Slurm, AWS Batch or Kubernetes counts"},
        {"merge-parts", 0, OPTION_TEXT, &o.array.merge, NULL, "PLAN",
         "make the whole of the parts; --merge PLAN is the same"},
        {"verify", 0, OPTION_FLAG, &o.array.verify, NULL, NULL, "compare checksums of the parts before"},
        {"resume", 0, OPTION_FLAG, &o.array.resumes, NULL, NULL,
         "in parts: keep what is complete, in OUT.parts, and go on\nwith it when a run was killed"},
        {"workers", 0, OPTION_COUNT, &o.array.workers, NULL, "N",
         "in parts: N of them are built at once, and share memory\nand threads; default one on each GPU of --device"},
        {"into", 0, OPTION_TEXT, &o.update.folder, NULL, "DIR",
         "make a folder that knows its files (inputs.json), or change\none: files that are named join it, and what "
         "changes is built"},
        {"remove", 0, OPTION_LIST, &o.update.remove, NULL, "FILE",
         "of --into: takes its points out; by path, name or pattern"},
        {"replace", 0, OPTION_LIST, &o.update.replace, NULL, "FILE",
         "of --into: takes its points anew, as it has changed"},
        {0},
    };
    common_options common;
    arguments words;
    io_paths paths = {0};
    lod_array_spell(argc, argv);
    const unsigned mask =
        COMMON_RUN | COMMON_SEED | COMMON_JSON | COMMON_HASH | COMMON_OUTPUT | COMMON_WHERE | COMMON_CRS;
    const parse_result parsed = options_parse(&help, rows, mask, &common, argc, argv, &words);
    if (parsed != PARSE_RUN) return parsed == PARSE_HELP ? EXIT_DONE : EXIT_USAGE;
    if (o.array.part != NULL || o.array.merge != NULL) return run_array(&o, &common, &words);
    int code = lod_update_check(&o.update, &common, o.attributes);
    if (code == EXIT_DONE && o.update.folder != NULL && stage_now() != NULL) {
        code = usage_error("lod", "--into changes a folder, and is no step of a pipeline");
    }
    if (code != EXIT_DONE) return code;
    if (o.update.folder != NULL && lod_update_is_there(&o.update)) return run_update(&o, &common, &words);
    if (o.update.folder != NULL) common.output = o.update.folder;
    code = io_paths_take("lod", &common, &words, o.plan, &paths); /* --plan needs no output */
    if (code != EXIT_DONE) return code;
    o.copc = paths.format != NULL ? strcmp(paths.format, "copc") == 0
                                  : paths.output != NULL && text_has_ending(paths.output, ".copc.laz");
    if (paths.format != NULL && !o.copc && strcmp(paths.format, "potree") != 0) {
        return usage_error("lod", "--format: \"%s\" is neither copc nor potree", paths.format);
    }
    code = check_usage(&o, &common);
    if (code != EXIT_DONE) return code;
    session s;
    code = session_open(&s, "lod", &common);
    if (code == EXIT_DONE) code = session_hold(&s);
    if (code == EXIT_DONE) note_same_inputs(&s, &paths);
    if (code == EXIT_DONE) code = run_lod(&s, &o, &paths);
    return session_close(&s, code);
}
