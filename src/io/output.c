#define _GNU_SOURCE /* pwrite and O_CLOEXEC */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/io_internal.h"

#define BUFFER_BYTES (1u << 20)

mote_status mote_output_open(mote_context *ctx, const char *path, mote_output *output) {
    memset(output, 0, sizeof *output);
    output->file = -1;
    struct stat info;
    if (stat(path, &info) == 0 && S_ISDIR(info.st_mode)) {
        return mote_fail(ctx, MOTE_ERROR_IO, "%s: is a directory", path);
    }
    const size_t name_bytes = strlen(path) + 32;
    output->path = mote_strdup(ctx, path);
    output->temporary = mote_alloc(ctx, name_bytes, "output");
    output->buffer = mote_alloc(ctx, BUFFER_BYTES, "output");
    if (output->path == NULL || output->temporary == NULL || output->buffer == NULL) {
        return mote_output_close(ctx, output, MOTE_ERROR_MEMORY);
    }
    snprintf(output->temporary, name_bytes, "%s.%ld.part", path, (long)getpid());
    output->file = open(output->temporary, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (output->file < 0) return mote_output_close(ctx, output, mote_system_error(ctx, path, "create"));
    return MOTE_OK;
}

mote_status mote_output_write_at(mote_context *ctx, mote_output *output, const void *data, uint64_t size_bytes,
                                 uint64_t offset) {
    const uint8_t *from = data;
    if (output->map != NULL) {
        const bool written = output_map_write(output->map, data, size_bytes, offset);
        return written ? MOTE_OK : mote_system_error(ctx, output->path, "write");
    }
    while (size_bytes > 0) {
        const size_t piece = size_bytes < (1u << 30) ? (size_t)size_bytes : (1u << 30);
        const ssize_t done = pwrite(output->file, from, piece, (off_t)offset);
        if (done < 0 && errno == EINTR) continue;
        if (done < 0) return mote_system_error(ctx, output->path, "write");
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

mote_status mote_output_close(mote_context *ctx, mote_output *output, mote_status status) {
    if (status == MOTE_OK) status = flush(ctx, output);
    output_map_close(ctx, output->map);
    output->map = NULL;
    if (output->file >= 0 && close(output->file) != 0 && status == MOTE_OK) {
        status = mote_system_error(ctx, output->path, "write");
    }
    if (status == MOTE_OK && rename(output->temporary, output->path) != 0) {
        status = mote_system_error(ctx, output->path, "rename the finished output to");
    }
    if (status != MOTE_OK && output->file >= 0) unlink(output->temporary);
    output->file = -1;
    mote_free(ctx, output->buffer);
    mote_free(ctx, output->temporary);
    mote_free(ctx, output->path);
    output->buffer = NULL;
    output->path = output->temporary = NULL;
    return status;
}
