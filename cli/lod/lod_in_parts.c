#include "lod/lod_in_parts.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "costs.h"
#include "lod/lod_print.h"
#include "point_run.h"
#include "print.h"
#include "text.h"

bool lod_goes_in_parts(session *s, const lod_in_parts *task) {
    const common_options *o = &s->options;
    const io_paths *paths = task->paths;
    uint64_t bytes = 0;
    if (o->memory_bytes == 0 || (task->copc && path_is_stream(paths->output))) return false;
    const mote_read_params reading = session_reading(s);
    const mote_status status = (task->copc ? mote_copc_whole_bytes : mote_lod_whole_bytes)(
        s->ctx, paths->inputs, (uint32_t)paths->input_count, &reading, &task->params, &bytes);
    if (status != MOTE_OK) mote_context_clear(s->ctx); /* what is wrong is said when the input is read */
    if (status != MOTE_OK || bytes <= o->memory_bytes) return false;
    const char *refusal = mote_lod_parts_refusal(&task->params, &task->potree);
    if (refusal == NULL) return true;
    s->enough_bytes = bytes + (uint64_t)lod_encoder_bytes(s, task->copc ? NULL : &task->potree);
    session_note(s, "it goes in one piece, which takes up to %s: %s", text_memory(s->enough_bytes).chars, refusal);
    return false;
}

static void print_stats(const session *s, const mote_parts_report *report) {
    print_out("%s points in %u parts, the largest of %s; %s on the disk meanwhile\n", text_count(report->points).chars,
              report->parts, text_count(report->largest_part).chars, text_bytes(report->scratch_bytes).chars);
    print_out("counting %s, distributing %s, building %s, joining %s\n", text_seconds(report->count_seconds).chars,
              text_seconds(report->distribute_seconds).chars, text_seconds(report->build_seconds).chars,
              text_seconds(report->join_seconds).chars);
    costs_print(s, NULL, 0, report->points);
}

/* What was written: the folder or the file. */
static lod_written written_of(const lod_in_parts *task, const mote_parts_report *report) {
    const mote_potree_report *folder = &report->folder;
    const mote_copc_report *file = &report->file;
    const lod_written as_folder = {false, folder->points, folder->octree_bytes, folder->hierarchy_bytes, folder->hash};
    const lod_written as_file = {true, file->points, file->file_bytes, file->hierarchy_bytes, file->hash};
    return task->copc ? as_file : as_folder;
}

static void print_json(const session *s, const mote_parts_report *report, const lod_written *written,
                       const char *output) {
    json_writer json;
    emit_start(&json, stdout, false);
    emit_open(&json, NULL, '{');
    emit_text(&json, "output", output);
    emit_count(&json, "points", report->points);
    emit_count(&json, "skipped", report->skipped);
    emit_count(&json, "stored", written->points);
    emit_count(&json, "nodes", report->nodes);
    emit_count(&json, written->copc ? "file_bytes" : "octree_bytes", written->bytes);
    emit_count(&json, "hierarchy_bytes", written->hierarchy_bytes);
    emit_text(&json, "backend", mote_context_backend(s->ctx));
    emit_count(&json, "parts", report->parts);
    emit_count(&json, "largest_part", report->largest_part);
    emit_count(&json, "workers", report->workers);
    if (report->resumed_parts > 0) emit_count(&json, "resumed_parts", report->resumed_parts);
    emit_count(&json, "scratch_bytes", report->scratch_bytes);
    emit_real(&json, "count_seconds", report->count_seconds);
    emit_real(&json, "distribute_seconds", report->distribute_seconds);
    emit_real(&json, "build_seconds", report->build_seconds);
    emit_real(&json, "join_seconds", report->join_seconds);
    emit_real(&json, "seconds", seconds_now() - s->started);
    if (s->options.hash) emit_text(&json, "hash", text_hash(written->hash).chars);
    costs_emit(s, NULL, 0, &json);
    emit_close(&json, '}');
    emit_end(&json);
}

static mote_status write_parts(session *s, const lod_in_parts *task, const mote_read_params *reading,
                               mote_parts_report *report) {
    const io_paths *paths = task->paths;
    const uint32_t count = (uint32_t)paths->input_count;
    mote_parts_params parts = mote_parts_defaults();
    parts.resumes = task->resumes;
    parts.workers = task->workers;
    if (task->copc) {
        return mote_copc_write_parts(s->ctx, paths->inputs, count, reading, &task->params, paths->output,
                                     &task->writing, &parts, report);
    }
    return mote_lod_write_parts(s->ctx, paths->inputs, count, reading, &task->params, paths->output, &task->potree,
                                &parts, report);
}

int lod_run_in_parts(session *s, const lod_in_parts *task, bool *is_done) {
    const mote_read_params reading = session_reading(s);
    const io_paths *paths = task->paths;
    mote_parts_report report;
    session_note_inputs(s, paths->inputs, paths->input_count);
    const mote_status status = write_parts(s, task, &reading, &report);
    progress_clear(&s->bar);
    *is_done = status != MOTE_ERROR_MEMORY || !goes_in_one_piece(s, status, &report);
    if (!*is_done) return EXIT_DONE;
    const int code = status == MOTE_OK ? session_commit(s) : session_fail(s, status, false);
    if (code != EXIT_DONE) return code;
    if (task->resumes) mote_lod_parts_clear_resumed(s->ctx, paths->output);
    if (report.resumed_parts > 0) {
        session_note(s, "%" PRIu64 " of %u parts were there already", report.resumed_parts, report.parts);
    }
    const double seconds = seconds_now() - s->started;
    const lod_written written = written_of(task, &report);
    const char *output = path_title(paths->output);
    session_printing(s);
    session_say(s, "%s: %s points in %" PRIu64 " nodes, built in %u parts, %s in %s, %s M points/s", output,
                text_count(written.points).chars, report.nodes, report.parts,
                text_bytes(written.bytes + (task->copc ? 0 : written.hierarchy_bytes)).chars,
                text_seconds(seconds).chars, text_real(floor((double)report.points / seconds / 1e4) / 100).chars);
    if (report.skipped > 0) {
        session_say(s, "warning: %s points without a finite position were left out", text_count(report.skipped).chars);
    }
    if (s->options.json) {
        print_json(s, &report, &written, output);
    } else {
        if (task->stats) print_stats(s, &report);
        if (s->options.hash) print_out("%s  %s\n", text_hash(written.hash).chars, output);
    }
    return EXIT_DONE;
}
