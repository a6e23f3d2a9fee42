/* A command that finds something for every point of a cloud and writes the cloud with it. */
#include "point_run.h"

#include <stdio.h>
#include <string.h>

#include "print.h"
#include "report.h"
#include "stage.h"

static bool may_go_in_parts(session *s, const io_paths *paths) {
    const common_options *o = &s->options;
    if (o->memory_bytes == 0 || o->to_crs != NULL || stage_now() != NULL || path_is_stream(paths->output)) return false;
    return true;
}

/* What is wrong with inputs is said when they are read. */
static bool is_too_much(session *s, mote_status status, uint64_t bytes) {
    if (status != MOTE_OK) mote_context_clear(s->ctx);
    return status == MOTE_OK && bytes > s->options.memory_bytes;
}

bool memory_needs_parts(session *s, const io_paths *paths, uint32_t result_bytes) {
    uint64_t bytes = 0;
    if (!may_go_in_parts(s, paths)) return false;
    const mote_read_params reading = session_reading(s);
    const mote_status status =
        mote_search_whole_bytes(s->ctx, paths->inputs, (uint32_t)paths->input_count, &reading, result_bytes, &bytes);
    return is_too_much(s, status, bytes);
}

static bool is_in_pieces(const io_paths *paths) {
    const char *format = io_paths_format(paths);
    return format != NULL && (strcmp(format, "las") == 0 || strcmp(format, "e57") == 0);
}

bool memory_needs_parts_to_sort(session *s, const io_paths *paths, const mote_read_params *reading) {
    uint64_t bytes = 0;
    if (!may_go_in_parts(s, paths) || !is_in_pieces(paths)) return false;
    const mote_status status =
        mote_order_whole_bytes(s->ctx, paths->inputs, (uint32_t)paths->input_count, reading, &bytes);
    return is_too_much(s, status, bytes);
}

bool goes_in_one_piece(session *s, mote_status status, mote_parts_report *report) {
    const bool has_no_room = status == MOTE_ERROR_MEMORY && report->part_memory_bytes > 0;
    if (status != MOTE_ERROR_UNSUPPORTED && !has_no_room) return false;
    if (has_no_room) {
        s->enough_bytes = report->part_memory_bytes;
        s->enough_in_parts = true;
    } else {
        session_note(s, "it goes in one piece: %s", mote_context_message(s->ctx));
    }
    mote_context_clear(s->ctx);
    memset(report, 0, sizeof *report);
    return true;
}

bool point_run_goes_in_parts(session *s, const io_paths *paths, uint32_t result_bytes) {
    return is_in_pieces(paths) && memory_needs_parts(s, paths, result_bytes);
}

int point_run_parts_begin(session *s, point_run *run, const io_paths *paths, mote_write_params *writing) {
    const int code = check_output_file(s, paths);
    if (code != EXIT_DONE) return code;
    *writing = mote_write_defaults();
    writing->format = paths->format;
    run->paths = paths;
    run->output = path_title(paths->output);
    session_note_inputs(s, paths->inputs, paths->input_count);
    return EXIT_DONE;
}

int point_run_parts_worked(session *s, point_run *run, double begin, mote_status status, uint64_t written,
                           bool *whole) {
    run->work_s = seconds_now() - begin;
    progress_clear(&s->bar);
    *whole = goes_in_one_piece(s, status, &run->parts);
    if (!*whole && status != MOTE_OK) return session_fail(s, status, false);
    run->points = run->parts.points;
    run->written = written;
    return EXIT_DONE;
}

int point_run_read(session *s, const io_paths *paths, point_run *run) {
    run->paths = paths;
    run->output = path_title(paths->output);
    int code = check_output_file(s, paths);
    if (code == EXIT_DONE) code = session_read(s, paths->inputs, paths->input_count, NULL, &run->cloud);
    if (code == EXIT_DONE) run->points = mote_cloud_count(run->cloud);
    return code;
}

int point_run_worked(session *s, point_run *run, double begin, mote_status status, uint64_t skipped) {
    run->work_s = seconds_now() - begin;
    run->skipped = skipped;
    progress_clear(&s->bar);
    return status == MOTE_OK ? EXIT_DONE : session_fail(s, status, false);
}

/* LAS has no place for points without a finite position. */
static uint64_t count_written(const point_run *run, const mote_cloud *cloud) {
    const char *format = io_paths_format(run->paths);
    const bool leaves_out = cloud == run->cloud && format != NULL && strcmp(format, "las") == 0;
    return mote_cloud_count(cloud) - (leaves_out ? run->skipped : 0);
}

int point_run_write(session *s, point_run *run, const mote_cloud *cloud) {
    mote_write_params params = mote_write_defaults();
    params.format = run->paths->format;
    run->written = mote_cloud_count(cloud);
    if (stage_take_result(cloud)) return EXIT_DONE;
    const double begin = seconds_now();
    const mote_status status = mote_cloud_write(s->ctx, cloud, run->paths->output, &params);
    run->write_s = seconds_now() - begin;
    run->written = count_written(run, cloud);
    return status == MOTE_OK ? EXIT_DONE : session_fail(s, status, false);
}

void *point_run_column(session *s, point_run *run, const char *name, mote_type type, int *code) {
    const mote_column_spec spec = {name, type, 0, 0};
    if (*code != EXIT_DONE) return NULL;
    const mote_status status = mote_cloud_put_column(run->cloud, &spec);
    if (status != MOTE_OK) {
        *code = session_fail(s, status, false);
        return NULL;
    }
    return mote_cloud_column_data(run->cloud, name);
}

/* ---- what is said of it */

#define OWN_LINES 1

static mote_usage writing(const point_run *run) {
    const mote_usage line = {.name = "write cloud", .seconds = run->write_s};
    return line;
}

text point_run_in_parts(const mote_parts_report *report) {
    text out = {""};
    if (report->parts > 0) snprintf(out.chars, sizeof out.chars, " in %u parts", report->parts);
    return out;
}

void point_run_emit_parts(json_writer *json, const mote_parts_report *report) {
    emit_count(json, "parts", report->parts);
    emit_count(json, "largest_part", report->largest_part);
    emit_count(json, "scratch_bytes", report->scratch_bytes);
}

static void print_json(const session *s, const point_run *run, const point_facts *facts, uint64_t hash) {
    const mote_usage own[OWN_LINES] = {writing(run)};
    json_writer json;
    emit_start(&json, stdout, false);
    emit_open(&json, NULL, '{');
    emit_text(&json, "output", run->output);
    emit_count(&json, "points", run->points);
    emit_count(&json, "written", run->written);
    emit_count(&json, "skipped", run->skipped);
    if (run->parts.parts > 0) point_run_emit_parts(&json, &run->parts);
    facts->emit(facts->user, &json);
    emit_count(&json, "bytes", report_bytes(run->output));
    emit_text(&json, "backend", mote_context_backend(s->ctx));
    emit_real(&json, "work_seconds", run->work_s);
    emit_real(&json, "seconds", seconds_now() - s->started);
    if (s->options.hash) emit_text(&json, "hash", text_hash(hash).chars);
    costs_emit(s, own, OWN_LINES, &json);
    emit_close(&json, '}');
    emit_end(&json);
}

int point_run_report(session *s, const point_run *run, const char *found, const point_facts *facts) {
    const double seconds = seconds_now() - s->started;
    uint64_t hash = 0;
    int code = s->options.hash ? report_hash(s, run->output, &hash) : EXIT_DONE;
    if (code == EXIT_DONE) code = session_commit(s);
    if (code != EXIT_DONE) return code;
    session_printing(s);
    const uint64_t bytes = report_bytes(run->output); /* 0 of a stage, whose output is no file */
    session_say(s, "%s: %s points%s%s in %s; %s%s; index and search %s, %s points/s", run->output,
                text_count(run->written).chars, bytes > 0 ? ", " : "", bytes > 0 ? text_bytes(bytes).chars : "",
                text_seconds(seconds).chars, found, point_run_in_parts(&run->parts).chars,
                text_seconds(run->work_s).chars,
                text_rate(run->work_s > 0 ? (double)run->points / run->work_s : 0).chars);
    if (s->options.json) {
        print_json(s, run, facts, hash);
    } else {
        const mote_usage own[OWN_LINES] = {writing(run)};
        if (run->stats) {
            facts->print(facts->user);
            costs_print(s, own, OWN_LINES, run->points);
        }
        if (s->options.hash) print_out("%s  %s\n", text_hash(hash).chars, run->output);
    }
    return EXIT_DONE;
}

void point_run_close(point_run *run) { stage_drop(run->cloud); }
