#include "lod/lod_update.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

#include "costs.h"
#include "paths.h"
#include "print.h"
#include "text.h"

int lod_update_check(const lod_update *update, const common_options *common, const char *attributes) {
    const bool changes = update->remove.count > 0 || update->replace.count > 0;
    if (update->folder == NULL) {
        return changes ? usage_error("lod", "--remove and --replace are for --into DIR") : EXIT_DONE;
    }
    if (common->output != NULL) return usage_error("lod", "--into names the output, so -o is not for it");
    if (common->to_crs != NULL || attributes != NULL) {
        return usage_error("lod", "%s: --into adds files as they are, so it is not for it; -o DIR makes a folder",
                           attributes != NULL ? "--attributes" : "--to-crs");
    }
    if (update->folder[0] == '\0') return usage_error("lod", "--into: the folder has no name");
    if (text_has_ending(update->folder, ".copc.laz") ||
        (common->format != NULL && strcmp(common->format, "copc") == 0)) {
        return usage_error("lod", "--into changes folders; a COPC file is made anew, by -o FILE.copc.laz");
    }
    return EXIT_DONE;
}

bool lod_update_is_there(const lod_update *update) {
    struct stat info;
    return stat(update->folder, &info) == 0 || update->remove.count > 0 || update->replace.count > 0;
}

static void print_json(const session *s, const lod_update *update, const mote_lod_update_report *report) {
    const mote_parts_report *parts = &report->parts;
    json_writer json;
    emit_start(&json, stdout, false);
    emit_open(&json, NULL, '{');
    emit_text(&json, "output", path_title(update->folder));
    emit_count(&json, "inputs", report->inputs);
    emit_count(&json, "points", parts->points);
    emit_count(&json, "kept_points", report->kept_points);
    emit_count(&json, "workers", parts->workers);
    if (report->whole != NULL) emit_text(&json, "whole", report->whole);
    emit_count(&json, "stored", parts->folder.points);
    emit_count(&json, "nodes", parts->nodes);
    emit_count(&json, "octree_bytes", parts->folder.octree_bytes);
    emit_count(&json, "hierarchy_bytes", parts->folder.hierarchy_bytes);
    emit_real(&json, "seconds", seconds_now() - s->started);
    if (s->options.hash) emit_text(&json, "hash", text_hash(parts->folder.hash).chars);
    costs_emit(s, NULL, 0, &json);
    emit_close(&json, '}');
    emit_end(&json);
}

static void say(session *s, const lod_update *update, const mote_lod_update_report *report) {
    const mote_parts_report *parts = &report->parts;
    const char *folder = path_title(update->folder);
    const uint64_t anew = parts->points - report->kept_points;
    if (report->whole != NULL) session_note(s, "%s is built anew as a whole: %s", folder, report->whole);
    session_say(s, "%s: %s points of %" PRIu64 " files, %s of them in nodes that are new, in %s", folder,
                text_count(parts->points).chars, report->inputs, text_count(anew).chars,
                text_seconds(seconds_now() - s->started).chars);
    if (parts->skipped > 0) {
        session_say(s, "warning: %s points without a finite position were left out", text_count(parts->skipped).chars);
    }
}

int lod_update_run(session *s, const lod_update *update, uint64_t workers, bool verify, bool stats,
                   const arguments *words) {
    const mote_lod_changes changes = {.add = words->words,
                                      .add_count = (uint32_t)words->count,
                                      .remove = update->remove.items,
                                      .remove_count = (uint32_t)update->remove.count,
                                      .replace = update->replace.items,
                                      .replace_count = (uint32_t)update->replace.count,
                                      .verify = verify};
    mote_parts_params params = mote_parts_defaults();
    mote_lod_update_report report;
    struct stat info;
    if (stat(update->folder, &info) != 0) {
        return session_error(s, EXIT_INPUT, "%s: cannot open: %s", update->folder, strerror(errno));
    }
    params.memory_bytes = s->options.memory_bytes;
    params.workers = workers;
    session_note_inputs(s, words->words, words->count);
    const mote_status status = mote_lod_update(s->ctx, update->folder, &changes, &params, &report);
    progress_clear(&s->bar);
    const int code = status == MOTE_OK ? session_commit(s) : session_fail(s, status, false);
    if (code != EXIT_DONE) return code;
    session_printing(s);
    say(s, update, &report);
    if (s->options.json) {
        print_json(s, update, &report);
    } else {
        if (stats) costs_print(s, NULL, 0, report.parts.points);
        if (s->options.hash)
            print_out("%s  %s\n", text_hash(report.parts.folder.hash).chars, path_title(update->folder));
    }
    return EXIT_DONE;
}
