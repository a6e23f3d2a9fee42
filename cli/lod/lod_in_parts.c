#include "lod/lod_in_parts.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "costs.h"
#include "print.h"
#include "text.h"

bool lod_goes_in_parts(session *s, const lod_in_parts *task) {
    const common_options *o = &s->options;
    const io_paths *paths = task->paths;
    uint64_t bytes = 0;
    if (o->memory_bytes < MOTE_PARTS_MEMORY_BYTES || o->to_crs != NULL) return false;
    if (mote_lod_parts_refusal(&task->params, &task->potree) != NULL) return false;
    const mote_read_params reading = session_reading(s);
    const mote_status status =
        mote_lod_whole_bytes(s->ctx, paths->inputs, (uint32_t)paths->input_count, &reading, &task->params, &bytes);
    if (status != MOTE_OK) mote_context_clear(s->ctx); /* what is wrong is said when the input is read */
    return status == MOTE_OK && bytes > o->memory_bytes;
}

static void print_stats(const session *s, const mote_parts_report *report) {
    print_out("%s points in %u parts, the largest of %s; %s on the disk meanwhile\n", text_count(report->points).chars,
              report->parts, text_count(report->largest_part).chars, text_bytes(report->scratch_bytes).chars);
    print_out("counting %s, distributing %s, building %s, joining %s\n", text_seconds(report->count_seconds).chars,
              text_seconds(report->distribute_seconds).chars, text_seconds(report->build_seconds).chars,
              text_seconds(report->join_seconds).chars);
    costs_print(s, NULL, 0, report->points);
}

static void print_json(const session *s, const mote_parts_report *report, const char *output) {
    json_writer json;
    emit_start(&json, stdout, false);
    emit_open(&json, NULL, '{');
    emit_text(&json, "output", output);
    emit_count(&json, "points", report->points);
    emit_count(&json, "skipped", report->skipped);
    emit_count(&json, "stored", report->folder.points);
    emit_count(&json, "nodes", report->nodes);
    emit_count(&json, "octree_bytes", report->folder.octree_bytes);
    emit_count(&json, "hierarchy_bytes", report->folder.hierarchy_bytes);
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
    if (s->options.hash) emit_text(&json, "hash", text_hash(report->folder.hash).chars);
    costs_emit(s, NULL, 0, &json);
    emit_close(&json, '}');
    emit_end(&json);
}

int lod_run_in_parts(session *s, const lod_in_parts *task) {
    const mote_read_params reading = session_reading(s);
    const io_paths *paths = task->paths;
    mote_parts_params parts = mote_parts_defaults();
    mote_parts_report report;
    parts.resumes = task->resumes;
    parts.workers = task->workers;
    session_note_inputs(s, paths->inputs, paths->input_count);
    const mote_status status = mote_lod_write_parts(s->ctx, paths->inputs, (uint32_t)paths->input_count, &reading,
                                                    &task->params, paths->output, &task->potree, &parts, &report);
    progress_clear(&s->bar);
    const int code = status == MOTE_OK ? session_commit(s) : session_fail(s, status, false);
    if (code != EXIT_DONE) return code;
    if (task->resumes) mote_lod_parts_clear(s->ctx, paths->output);
    if (report.resumed_parts > 0) {
        session_note(s, "%" PRIu64 " of %u parts were there already", report.resumed_parts, report.parts);
    }
    const double seconds = seconds_now() - s->started;
    const char *output = path_title(paths->output);
    session_printing(s);
    session_say(s, "%s: %s points in %" PRIu64 " nodes, built in %u parts, %s in %s, %s M points/s", output,
                text_count(report.folder.points).chars, report.nodes, report.parts,
                text_bytes(report.folder.octree_bytes + report.folder.hierarchy_bytes).chars,
                text_seconds(seconds).chars, text_real(floor((double)report.points / seconds / 1e4) / 100).chars);
    if (report.skipped > 0) {
        session_say(s, "warning: %s points without a finite position were left out", text_count(report.skipped).chars);
    }
    if (s->options.json) {
        print_json(s, &report, output);
    } else {
        if (task->stats) print_stats(s, &report);
        if (s->options.hash) print_out("%s  %s\n", text_hash(report.folder.hash).chars, output);
    }
    return EXIT_DONE;
}
