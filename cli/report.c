/* What a command that wrote a cloud says about it. */
#define _GNU_SOURCE /* stat */
#include "report.h"

#include <stdio.h>
#include <sys/stat.h>

#include "costs.h"
#include "files/json.h"
#include "paths.h"
#include "print.h"
#include "text.h"

int report_hash(session *s, const char *path, uint64_t *hash) {
    mote_cloud *cloud = NULL;
    mote_status status = mote_cloud_read(s->ctx, path, NULL, &cloud);
    if (status == MOTE_OK) status = mote_cloud_hash(s->ctx, cloud, hash);
    mote_cloud_destroy(cloud);
    return status == MOTE_OK ? EXIT_DONE : session_fail(s, status, false);
}

uint64_t report_bytes(const char *path) {
    struct stat info;
    return stat(path, &info) == 0 ? (uint64_t)info.st_size : 0;
}

int report_output(session *s, const char *path, uint64_t points) {
    const double seconds = seconds_now() - s->started;
    uint64_t hash = 0;
    int code = s->options.hash ? report_hash(s, path, &hash) : EXIT_DONE;
    if (code == EXIT_DONE) code = session_commit(s);
    if (code != EXIT_DONE) return code;
    const uint64_t bytes = report_bytes(path);
    session_printing(s);
    path = path_title(path);
    session_say(s, "%s: %s points%s%s in %s", path, text_count(points).chars, bytes > 0 ? ", " : "",
                bytes > 0 ? text_bytes(bytes).chars : "", text_seconds(seconds).chars);
    if (!s->options.json) {
        if (s->options.hash) print_out("%s  %s\n", text_hash(hash).chars, path);
        return EXIT_DONE;
    }
    json_writer json;
    emit_start(&json, stdout, false);
    emit_open(&json, NULL, '{');
    emit_text(&json, "output", path);
    emit_count(&json, "points", points);
    emit_count(&json, "bytes", bytes);
    emit_real(&json, "seconds", seconds);
    told_emit(s, &json);
    if (s->options.hash) emit_text(&json, "hash", text_hash(hash).chars);
    emit_close(&json, '}');
    emit_end(&json);
    return EXIT_DONE;
}
