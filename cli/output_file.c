/* A file of the command's own that appears only when complete. */
#define _GNU_SOURCE /* pwrite and O_CLOEXEC */
#include "output_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PIECE_BYTES (1u << 30) /* a call writes at most 2 GiB */

int output_file_open(output_file *output, const char *path) {
    const size_t name_bytes = strlen(path) + 32;
    output->path = path;
    output->file = -1;
    output->temporary = malloc(name_bytes);
    if (output->temporary == NULL) return ENOMEM;
    snprintf(output->temporary, name_bytes, "%s.%ld.part", path, (long)getpid());
    output->file = open(output->temporary, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    return output->file >= 0 ? 0 : errno;
}

int output_file_write_at(const output_file *output, const void *data, uint64_t size_bytes, uint64_t offset) {
    const uint8_t *from = data;
    while (size_bytes > 0) {
        const size_t piece = size_bytes < PIECE_BYTES ? (size_t)size_bytes : PIECE_BYTES;
        const ssize_t done = pwrite(output->file, from, piece, (off_t)offset);
        if (done < 0 && errno == EINTR) continue;
        if (done < 0) return errno;
        from += done;
        offset += (uint64_t)done;
        size_bytes -= (uint64_t)done;
    }
    return 0;
}

int output_file_close(output_file *output, int error) {
    const bool made = output->file >= 0;
    if (made && close(output->file) != 0 && error == 0) error = errno;
    if (made && error == 0 && rename(output->temporary, output->path) != 0) error = errno;
    if (made && error != 0) unlink(output->temporary);
    free(output->temporary);
    output->temporary = NULL;
    output->file = -1;
    return error;
}
