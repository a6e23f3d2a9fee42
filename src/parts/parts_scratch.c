/* Scratch files beside an output that is one file. They have no names from the moment that they are open, so that they
   go when the process does. */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <unistd.h>

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
