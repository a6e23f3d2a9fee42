#include "lod/lod_array.h"

#include <ctype.h>
#include <inttypes.h>
#include <linux/limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "costs.h"
#include "machine_memory.h"
#include "print.h"
#include "text.h"

/* ---- usage */

void lod_array_spell(int argc, char **argv) {
    static const char merge[] = "--merge", spelt[] = "--merge-parts";
    static char joined[4096];
    uint64_t points;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--") == 0) return;
        if (strcmp(argv[i], merge) == 0 && i + 1 < argc && !parse_count(argv[i + 1], 1000, &points) &&
            !isdigit((unsigned char)argv[i + 1][0]) && argv[i + 1][0] != '-') {
            argv[i] = (char *)(uintptr_t)spelt;
        }
        if (strncmp(argv[i], "--merge=", 8) == 0 && text_has_ending(argv[i], ".json") &&
            snprintf(joined, sizeof joined, "%s%s", spelt, argv[i] + 7) < (int)sizeof joined) {
            argv[i] = joined;
        }
    }
}

int lod_array_check(const lod_array *array) {
    const int given = (array->plan != NULL) + (array->part != NULL) + (array->merge != NULL) + array->resumes;
    if (given > 1) {
        return usage_error("lod", "--plan-parts, --part, --merge PLAN and --resume are of different runs: give one");
    }
    if (array->verify && array->merge == NULL) return usage_error("lod", "--verify is for --merge PLAN and --into DIR");
    if (array->parts_given && array->plan == NULL) return usage_error("lod", "--parts is for --plan-parts");
    if (array->parts_given && (array->parts < 1 || array->parts > MOTE_PARTS_MAX)) {
        return usage_error("lod", "--parts: %" PRIu64 " is not in 1..%d", array->parts, MOTE_PARTS_MAX);
    }
    if (array->workers > 0 && given > 0 && !array->resumes) {
        return usage_error("lod", "--workers: each part of a plan is a run of its own");
    }
    if (array->workers > MOTE_PARTS_WORKERS_MAX) {
        return usage_error("lod", "--workers: %" PRIu64 " is more than %d", array->workers, MOTE_PARTS_WORKERS_MAX);
    }
    return EXIT_DONE;
}

/* ---- which part */

/* Where a batch system says which of an array's processes this is, and from where it counts. */
typedef struct array_system {
    const char *name, *index, *least; /* least: variable of the lowest index; NULL: it is 0 */
} array_system;
static const array_system systems[] = {
    {"Slurm", "SLURM_ARRAY_TASK_ID", "SLURM_ARRAY_TASK_MIN"},
    {"AWS Batch", "AWS_BATCH_JOB_ARRAY_INDEX", NULL},
    {"Kubernetes", "JOB_COMPLETION_INDEX", NULL},
};
#define SYSTEMS (sizeof systems / sizeof systems[0])

static int find_part(session *s, uint64_t *part) {
    for (size_t i = 0; i < SYSTEMS; i++) {
        const char *word = getenv(systems[i].index);
        const char *least_word = systems[i].least != NULL ? getenv(systems[i].least) : NULL;
        uint64_t index, least = 0;
        if (word == NULL || word[0] == '\0') continue;
        if (least_word != NULL && !parse_count(least_word, 0, &least)) {
            return session_error(s, EXIT_USAGE, "--part auto: %s=%s is no index of %s", systems[i].least, least_word,
                                 systems[i].name);
        }
        if (!parse_count(word, 0, &index) || index < least) {
            return session_error(s, EXIT_USAGE, "--part auto: %s=%s is no index of %s", systems[i].index, word,
                                 systems[i].name);
        }
        /* An array that begins later is some tasks of one that is submitted again: those of an array from 1. */
        *part = least > 0 ? index : index + 1;
        if (least > 1) session_note(s, "part %" PRIu64 ": %s of an array from 1", *part, systems[i].index);
        return EXIT_DONE;
    }
    return session_error(s, EXIT_USAGE,
                         "--part auto: none of SLURM_ARRAY_TASK_ID, AWS_BATCH_JOB_ARRAY_INDEX and JOB_COMPLETION_INDEX "
                         "is set; name the part, as in --part 3/7");
}

/* "3/7", or "3". of 0: not said */
static bool parse_part(const char *word, uint64_t *part, uint64_t *of) {
    char number[32];
    const char *slash = strchr(word, '/');
    const size_t length = slash != NULL ? (size_t)(slash - word) : strlen(word);
    *of = 0;
    if (length >= sizeof number) return false;
    memcpy(number, word, length);
    number[length] = '\0';
    if (!parse_count(number, 0, part) || *part < 1 || *part > UINT32_MAX) return false;
    return slash == NULL || (parse_count(slash + 1, 0, of) && *of >= *part);
}

/* ---- the runs */

static void emit_report(json_writer *json, const mote_parts_report *report) {
    emit_count(json, "parts", report->parts);
    emit_count(json, "points", report->points);
    emit_count(json, "largest_part", report->largest_part);
}

int lod_array_plan(session *s, const lod_array *array, const lod_in_parts *task) {
    const mote_read_params reading = session_reading(s);
    const io_paths *paths = task->paths;
    mote_parts_params params = mote_parts_defaults();
    mote_parts_report report;
    params.part_count = array->parts;
    session_note_inputs(s, paths->inputs, paths->input_count);
    const uint32_t count = (uint32_t)paths->input_count;
    const mote_status status = task->copc
                                   ? mote_copc_parts_plan(s->ctx, paths->inputs, count, &reading, &task->params,
                                                          paths->output, &task->writing, &params, array->plan, &report)
                                   : mote_lod_parts_plan(s->ctx, paths->inputs, count, &reading, &task->params,
                                                         paths->output, &task->potree, &params, array->plan, &report);
    progress_clear(&s->bar);
    const int code = status == MOTE_OK ? session_commit(s) : session_fail(s, status, false);
    if (code != EXIT_DONE) return code;
    if (array->parts > report.parts) {
        session_note(s, "%u part%s, not %" PRIu64 ": the others would have no points, as a place is not cut",
                     report.parts, report.parts == 1 ? "" : "s", array->parts);
    }
    session_say(s, "%s: %s points in %u part%s of up to %s; each takes up to %s of memory", array->plan,
                text_count(report.points).chars, report.parts, report.parts == 1 ? "" : "s",
                text_count(report.largest_part).chars, text_bytes(report.part_memory_bytes).chars);
    if (report.shared_points > 0) {
        session_say(s, "%s %% of the points lie in chunks of several parts, for which the plan has read them",
                    text_fixed(100 * (double)report.shared_points / (double)report.points, 0).chars);
    }
    session_say(s, "next: mote lod --part i/%u %s for i = 1 … %u, then mote lod --merge %s", report.parts, array->plan,
                report.parts, array->plan);
    if (report.skipped > 0) {
        session_say(s, "warning: %s points without a finite position are left out", text_count(report.skipped).chars);
    }
    if (!s->options.json) return EXIT_DONE;
    json_writer json;
    emit_start(&json, stdout, false);
    emit_open(&json, NULL, '{');
    emit_text(&json, "plan", array->plan);
    emit_report(&json, &report);
    emit_count(&json, "skipped", report.skipped);
    emit_count(&json, "part_memory_bytes", report.part_memory_bytes);
    emit_count(&json, "scratch_bytes", report.scratch_bytes);
    emit_count(&json, "shared_points", report.shared_points);
    told_emit(s, &json);
    emit_close(&json, '}');
    emit_end(&json);
    return EXIT_DONE;
}

/* A message names the plan or one of its inputs, which the command does not know: it is not to name them again. */
static int fail(session *s, mote_status status) { return session_fail(s, status, status == MOTE_ERROR_DATA); }

/* Parts read it again and again. */
static int check_plan(session *s, const char *plan) {
    if (strcmp(plan, "-") != 0) return EXIT_DONE;
    return session_error(s, EXIT_USAGE, "a plan is a file, and not standard input");
}

int lod_array_part(session *s, const lod_array *array, const char *plan) {
    uint64_t part = 0, of = 0;
    mote_parts_report report;
    int code = check_plan(s, plan);
    machine_memory_goes_back();
    if (code != EXIT_DONE) return code;
    if (strcmp(array->part, "auto") == 0) {
        code = find_part(s, &part);
    } else if (!parse_part(array->part, &part, &of)) {
        code = session_error(s, EXIT_USAGE,
                             "--part: \"%s\" is no part: 3/7 is the third of seven, and auto what Slurm, AWS Batch or "
                             "Kubernetes say",
                             array->part);
    }
    if (code != EXIT_DONE) return code;
    session_note_inputs(s, &plan, 1);
    const mote_status status = mote_lod_parts_make(s->ctx, plan, (uint32_t)part, (uint32_t)of, &report);
    progress_clear(&s->bar);
    const int failed = status != MOTE_OK ? fail(s, status) : EXIT_DONE;
    session_forget_inputs(s);
    if (failed != EXIT_DONE) return failed;
    session_say(s, "%s: part %" PRIu64 " of %u, %s points, %s in %s", plan, part, report.parts,
                text_count(report.points).chars, report.rounds == 0 ? "was there" : "made",
                text_seconds(seconds_now() - s->started).chars);
    if (report.rounds == 2) {
        session_note(s, "its points are too dense for one code: parts that were made before are to be made once more; "
                        "--merge says which");
    }
    if (!s->options.json) return EXIT_DONE;
    json_writer json;
    emit_start(&json, stdout, false);
    emit_open(&json, NULL, '{');
    emit_text(&json, "plan", plan);
    emit_count(&json, "part", part);
    emit_report(&json, &report);
    emit_bool(&json, "was_there", report.rounds == 0);
    emit_bool(&json, "fine", report.rounds == 2);
    emit_real(&json, "seconds", seconds_now() - s->started);
    told_emit(s, &json);
    emit_close(&json, '}');
    emit_end(&json);
    return EXIT_DONE;
}

/* A path in the folder where the command was started, as its user would write it. */
static const char *from_here(const char *path) {
    char here[PATH_MAX];
    if (getcwd(here, sizeof here) == NULL) return path;
    const size_t length = strlen(here);
    const bool is_below = strncmp(path, here, length) == 0 && path[length] == '/' && path[length + 1] != '/';
    return is_below && path[length + 1] != '\0' ? path + length + 1 : path;
}

int lod_array_merge(session *s, const lod_array *array) {
    mote_parts_report report = {.parts = 0};
    char path[PATH_MAX] = "";
    const int refused = check_plan(s, array->merge);
    if (refused != EXIT_DONE) return refused;
    session_note_inputs(s, &array->merge, 1);
    mote_status status = mote_lod_parts_output(s->ctx, array->merge, path, sizeof path);
    if (status == MOTE_OK) status = mote_lod_parts_merge(s->ctx, array->merge, array->verify, &report);
    const char *output = from_here(path);
    progress_clear(&s->bar);
    const int code = status == MOTE_OK ? session_commit(s) : fail(s, status);
    if (code != EXIT_DONE) return code;
    /* One of the two is all zero. */
    const uint64_t points = report.folder.points + report.file.points;
    const uint64_t hash = report.file.file_bytes > 0 ? report.file.hash : report.folder.hash;
    session_say(s, "%s: %s points in %" PRIu64 " nodes, merged of %u parts, %s in %s; %s.parts may go", output,
                text_count(points).chars, report.nodes, report.parts,
                text_bytes(report.folder.octree_bytes + report.folder.hierarchy_bytes + report.file.file_bytes).chars,
                text_seconds(seconds_now() - s->started).chars, output);
    if (s->options.json) {
        json_writer json;
        emit_start(&json, stdout, false);
        emit_open(&json, NULL, '{');
        emit_text(&json, "plan", array->merge);
        emit_text(&json, "output", output);
        emit_report(&json, &report);
        emit_count(&json, "stored", points);
        emit_count(&json, "nodes", report.nodes);
        if (report.file.file_bytes > 0) emit_count(&json, "file_bytes", report.file.file_bytes);
        if (report.file.file_bytes == 0) emit_count(&json, "octree_bytes", report.folder.octree_bytes);
        emit_count(&json, "hierarchy_bytes", report.folder.hierarchy_bytes + report.file.hierarchy_bytes);
        emit_real(&json, "seconds", seconds_now() - s->started);
        if (s->options.hash) emit_text(&json, "hash", text_hash(hash).chars);
        told_emit(s, &json);
        emit_close(&json, '}');
        emit_end(&json);
    } else if (s->options.hash) {
        print_out("%s  %s\n", text_hash(hash).chars, output);
    }
    return EXIT_DONE;
}
