/* Scratch files beside an output that is one file. They have no names from the moment that they are open, so that they
   go when the process does. */
#define _XOPEN_SOURCE 700 /* pread */
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "io/output_calls.h"
#include "io/output_file.h"
#include "parts/parts.h"

mote_status parts_open_scratch(parts_run *run, const char *output, mote_output *to) {
    const size_t size_bytes = strlen(output) + sizeof ".scratch";
    char *path = mote_alloc(run->ctx, size_bytes, "output");
    memset(to, 0, sizeof *to);
    to->file = -1;
    if (path == NULL) return MOTE_ERROR_MEMORY;
    snprintf(path, size_bytes, "%s.scratch", output);
    const mote_status status = mote_output_open(run->ctx, path, to);
    mote_free(run->ctx, path);
    if (status != MOTE_OK) return status;
    to->is_part = true;
    unlinkat(to->names->folder, to->names->temporary, 0);
    to->names->temporary[0] = '\0';
    return MOTE_OK;
}

static mote_status read_piece(mote_context *ctx, int file, const char *path, uint64_t at, uint64_t bytes, uint8_t *to) {
    for (uint64_t done = 0; done < bytes;) {
        const ssize_t got = pread(file, to + done, bytes - done, (off_t)(at + done));
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return mote_system_error(ctx, path, "read");
        if (got == 0) return mote_fail(ctx, MOTE_ERROR_IO, "%s: was cut by others", path);
        done += (uint64_t)got;
    }
    return MOTE_OK;
}

mote_status parts_read_at(mote_context *ctx, int file, const char *path, uint64_t at, uint64_t bytes, void *to) {
#pragma omp parallel for schedule(dynamic, 1) num_threads(ctx->threads) if (bytes > PARTS_BUFFER_BYTES)
    for (uint64_t first = 0; first < bytes; first += PARTS_BUFFER_BYTES) {
        const uint64_t rest = bytes - first, now = rest < PARTS_BUFFER_BYTES ? rest : PARTS_BUFFER_BYTES;
        if (!mote_stop(ctx)) read_piece(ctx, file, path, at + first, now, (uint8_t *)to + first);
    }
    MOTE_TRY(mote_stopped(ctx));
    return mote_context_status(ctx);
}

mote_status parts_changed(const parts_run *run) {
    return mote_fail(run->ctx, MOTE_ERROR_CHANGED, "%s%s: changed while it was read", run->source.list.paths[0],
                     run->source.list.count > 1 ? ", or another input" : "");
}

char *parts_kept_path(const parts_run *run, const char *name) {
    const size_t size = strlen(run->kept_folder) + sizeof PARTS_DISTANCE + strlen(name) + 2;
    char *path = mote_alloc(run->ctx, size, "parts");
    if (path != NULL) {
        snprintf(path, size, "%s/%s%s%s", run->kept_folder, PARTS_DISTANCE, name[0] != '\0' ? "." : "", name);
    }
    return path;
}

mote_status parts_open_kept(const parts_run *run, const char *name, mote_output *to) {
    char *path = parts_kept_path(run, name);
    memset(to, 0, sizeof *to);
    to->file = -1;
    if (path == NULL) return MOTE_ERROR_MEMORY;
    const mote_status status = mote_output_open_kept(run->ctx, path, to);
    mote_free(run->ctx, path);
    return status;
}
