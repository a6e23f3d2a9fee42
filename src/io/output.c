/* An output, whatever its name stands for:
 *
 *   a file, new or there     NAME.PID.part beside it, which takes its name when complete
 *   a dry run                nothing
 *   a file that is kept      the file itself, which stays
   a pipe, a device, "-"    written as the bytes come, where they come in order; else
 *                            a temporary file without a name, copied there when
   complete */
#define _GNU_SOURCE /* O_CLOEXEC, F_DUPFD_CLOEXEC */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <unistd.h>

#include "io/io_internal.h"
#include "io/output_calls.h"
#include "io/output_file.h"

#define BUFFER_BYTES (1u << 20)
#define PIECE_BYTES  (1u << 30) /* a call writes at most 2 GiB */
#define STREAM_BYTES (1u << 16) /* written to a pipe between two looks at whether to go on; as much as it holds */
#define WAIT_MS      100        /* for the reader of a pipe that is full */

/* ---- open */

/* A pipe that nobody reads yet is waited for. */
static mote_status open_stream(mote_context *ctx, const output_place *place, mote_output *output) {
    int file = -1;
    do {
        MOTE_TRY(ctx->progress_ended ? mote_progress(ctx, 0, "writing") : mote_progress_again(ctx));
        file = place->descriptor >= 0 ? fcntl(place->descriptor, F_DUPFD_CLOEXEC, 0)
                                      : open(place->path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
    } while (file < 0 && errno == EINTR);
    if (file < 0) return mote_system_error(ctx, output->path, "open");
    output->stream = file;
    output->kind = OUTPUT_STREAM;
    return MOTE_OK;
}

static mote_status open_spool(mote_context *ctx, mote_output *output) {
    output->file = output_spool_file();
    if (output->file < 0) return mote_system_error(ctx, output->path, "make a temporary file (in $TMPDIR or /tmp)");
    output->kind = OUTPUT_SPOOL;
    return MOTE_OK;
}

static mote_status open_file(mote_context *ctx, const output_place *place, mote_output *output) {
    if (place->exists && S_ISDIR(place->info.st_mode)) {
        return mote_fail(ctx, MOTE_ERROR_IO, "%s: is a directory", output->path);
    }
    output_file *names = mote_alloc_zero(ctx, sizeof *names, "output");
    if (names == NULL) return MOTE_ERROR_MEMORY;
    output->names = names;
    names->folder = -1;
    names->name = mote_strdup(ctx, place->name);
    names->temporary = mote_alloc_zero(ctx, NAME_MAX + 1, "output");
    if (names->name == NULL || names->temporary == NULL) return MOTE_ERROR_MEMORY;
    names->folder = output_place_folder(place);
    if (names->folder < 0) return mote_system_error(ctx, output->path, "create");
    output->file = output_temporary_file(names->folder, place, names->temporary);
    if (output->file < 0) {
        names->temporary[0] = '\0';
        return mote_system_error(ctx, output->path, "create");
    }
    output->kind = OUTPUT_FILE;
    return MOTE_OK;
}

static mote_status open_place(mote_context *ctx, bool in_order, output_place *place, mote_output *output) {
    errno = output_place_find(output->path, place);
    if (errno != 0) return mote_system_error(ctx, output->path, "create");
    if (mote_is_dash(output->path)) memcpy(output->path, STANDARD_OUTPUT, sizeof STANDARD_OUTPUT);
    if (place->is_stream) {
        MOTE_TRY(open_stream(ctx, place, output));
        return in_order ? MOTE_OK : open_spool(ctx, output);
    }
    MOTE_TRY(mote_outputs_check(ctx, output->path));
    return open_file(ctx, place, output);
}

/* The memory that an output of any kind takes. */
static mote_status make_output(mote_context *ctx, const char *path, mote_output *output) {
    memset(output, 0, sizeof *output);
    const size_t path_bytes = strlen(path) + sizeof STANDARD_OUTPUT;
    output->path = mote_alloc(ctx, path_bytes, "output");
    output->buffer = mote_alloc(ctx, BUFFER_BYTES, "output");
    if (output->path == NULL || output->buffer == NULL) return MOTE_ERROR_MEMORY;
    memcpy(output->path, path, strlen(path) + 1);
    return MOTE_OK;
}

static mote_status open_output(mote_context *ctx, const char *path, bool in_order, mote_output *output) {
    output_place *place = mote_alloc(ctx, sizeof *place, "output");
    mote_status status = make_output(ctx, path, output);
    if (place == NULL) status = MOTE_ERROR_MEMORY;
    if (status == MOTE_OK) status = open_place(ctx, in_order, place, output);
    mote_free(ctx, place);
    return status == MOTE_OK ? MOTE_OK : mote_output_close(ctx, output, status);
}

mote_status mote_output_open_dry(mote_context *ctx, const char *path, mote_output *output) {
    const mote_status status = make_output(ctx, path, output);
    if (status != MOTE_OK) return mote_output_close(ctx, output, status);
    output->kind = OUTPUT_DRY_RUN;
    return MOTE_OK;
}

mote_status mote_output_open_kept(mote_context *ctx, const char *path, mote_output *output) {
    mote_status status = make_output(ctx, path, output);
    if (status == MOTE_OK) {
        output->file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
        if (output->file < 0) status = mote_system_error(ctx, path, "create");
    }
    if (status != MOTE_OK) return mote_output_close(ctx, output, status);
    output->kind = OUTPUT_KEPT;
    return MOTE_OK;
}

mote_status mote_output_open(mote_context *ctx, const char *path, mote_output *output) {
    return open_output(ctx, path, false, output);
}

mote_status mote_output_open_in_order(mote_context *ctx, const char *path, mote_output *output) {
    return open_output(ctx, path, true, output);
}

/* ---- write */

/* A reader that takes its time must not keep the user from cancelling. */
static mote_status wait_for_reader(mote_context *ctx, const mote_output *output) {
    struct pollfd stream = {output->stream, POLLOUT, 0};
    (void)poll(&stream, 1, WAIT_MS);
    return mote_progress_again(ctx);
}

static mote_status write_stream(mote_context *ctx, const mote_output *output, const uint8_t *data,
                                uint64_t size_bytes) {
    while (size_bytes > 0) {
        MOTE_TRY(mote_progress_again(ctx));
        const size_t piece = size_bytes < STREAM_BYTES ? (size_t)size_bytes : STREAM_BYTES;
        const ssize_t done = output_call_write(output->stream, data, piece);
        if (done < 0 && errno == EAGAIN) MOTE_TRY(wait_for_reader(ctx, output));
        if (done < 0 && (errno == EAGAIN || errno == EINTR)) continue;
        if (done < 0) return mote_system_error(ctx, output->path, "write");
        data += done;
        size_bytes -= (uint64_t)done;
    }
    return MOTE_OK;
}

static mote_status fail_to_write(mote_context *ctx, const mote_output *output) {
    const bool spools = output->kind == OUTPUT_SPOOL;
    return mote_system_error(ctx, output->path, spools ? "write to a temporary file (in $TMPDIR or /tmp)" : "write");
}

mote_status mote_output_write_at(mote_context *ctx, mote_output *output, const void *data, uint64_t size_bytes,
                                 uint64_t offset) {
    const uint8_t *from = data;
    if (output->kind == OUTPUT_DRY_RUN) return MOTE_OK;
    if (output->kind == OUTPUT_STREAM) return write_stream(ctx, output, data, size_bytes);
    if (output->map != NULL) {
        const bool written = output_map_write(output->map, data, size_bytes, offset);
        return written ? MOTE_OK : fail_to_write(ctx, output);
    }
    while (size_bytes > 0) {
        const size_t piece = size_bytes < PIECE_BYTES ? (size_t)size_bytes : PIECE_BYTES;
        const ssize_t done = output_call_pwrite(output->file, from, piece, offset);
        if (done < 0 && errno == EINTR) continue;
        if (done < 0) return fail_to_write(ctx, output);
        from += done;
        offset += (uint64_t)done;
        size_bytes -= (uint64_t)done;
    }
    return MOTE_OK;
}

static mote_status flush(mote_context *ctx, mote_output *output) {
    const uint64_t size_bytes = output->buffered_bytes;
    output->buffered_bytes = 0;
    return mote_output_write_at(ctx, output, output->buffer, size_bytes, output->written_bytes - size_bytes);
}

mote_status mote_output_write(mote_context *ctx, mote_output *output, const void *data, uint64_t size_bytes) {
    if (output->buffered_bytes + size_bytes > BUFFER_BYTES) MOTE_TRY(flush(ctx, output));
    const uint64_t at = output->written_bytes;
    output->written_bytes += size_bytes;
    if (size_bytes >= BUFFER_BYTES) return mote_output_write_at(ctx, output, data, size_bytes, at);
    memcpy(output->buffer + output->buffered_bytes, data, size_bytes);
    output->buffered_bytes += size_bytes;
    return MOTE_OK;
}

mote_status mote_output_text(mote_context *ctx, mote_output *output, const char *text) {
    return mote_output_write(ctx, output, text, strlen(text));
}

mote_status mote_output_patch(mote_context *ctx, mote_output *output, const void *data, uint64_t size_bytes,
                              uint64_t offset) {
    MOTE_TRY(flush(ctx, output));
    return mote_output_write_at(ctx, output, data, size_bytes, offset);
}

/* ---- close */

static mote_status copy_spool(mote_context *ctx, const mote_output *output) {
    uint64_t at = 0;
    for (;;) {
        const ssize_t got = pread(output->file, output->buffer, BUFFER_BYTES, (off_t)at);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return mote_system_error(ctx, output->path, "read the temporary file of");
        if (got == 0) return MOTE_OK;
        MOTE_TRY(write_stream(ctx, output, output->buffer, (uint64_t)got));
        at += (uint64_t)got;
    }
}

/* An output that could not be opened is closed as well: it has names, and no file. */
static mote_status close_file(mote_context *ctx, mote_output *output, mote_status status) {
    if (output->kind == OUTPUT_FILE && close(output->file) != 0 && status == MOTE_OK) {
        status = fail_to_write(ctx, output);
    }
    output->names->path = output->path;
    output->path = NULL;
    return (output->is_part ? mote_outputs_end : mote_outputs_add)(ctx, &output_file_naming, output->names, status);
}

static mote_status close_stream(mote_context *ctx, const mote_output *output, mote_status status) {
    if (output->kind == OUTPUT_SPOOL) {
        if (status == MOTE_OK) status = copy_spool(ctx, output);
        close(output->file);
    }
    if (close(output->stream) != 0 && status == MOTE_OK) status = mote_system_error(ctx, output->path, "write");
    return status;
}

mote_status mote_output_close(mote_context *ctx, mote_output *output, mote_status status) {
    if (output->kind != OUTPUT_CLOSED && status == MOTE_OK) status = flush(ctx, output);
    if (status == MOTE_OK) status = mote_mapped_check_all(ctx); /* what is written is of inputs that were whole */
    output_map_close(ctx, output->map);
    if (output->names != NULL) {
        status = close_file(ctx, output, status);
    } else if (output->kind == OUTPUT_STREAM || output->kind == OUTPUT_SPOOL) {
        status = close_stream(ctx, output, status);
    } else if (output->kind == OUTPUT_KEPT && close(output->file) != 0 && status == MOTE_OK) {
        status = fail_to_write(ctx, output);
    }
    mote_free(ctx, output->buffer);
    mote_free(ctx, output->path);
    memset(output, 0, sizeof *output);
    return status;
}

/* ---- of callers */

mote_status mote_output_create(mote_context *ctx, const char *path, bool in_order, mote_output **out) {
    *out = NULL;
    if (path == NULL || path[0] == '\0') return mote_fail(ctx, MOTE_ERROR_ARGUMENT, "the name of the output is empty");
    mote_output *output = mote_alloc(ctx, sizeof *output, "output");
    if (output == NULL) return MOTE_ERROR_MEMORY;
    const mote_status status = open_output(ctx, path, in_order, output);
    if (status == MOTE_OK) {
        *out = output;
    } else {
        mote_free(ctx, output);
    }
    return status;
}

mote_status mote_output_finish(mote_context *ctx, mote_output *output, mote_status status) {
    if (output == NULL) return status;
    status = mote_output_close(ctx, output, status);
    mote_free(ctx, output);
    return status;
}
