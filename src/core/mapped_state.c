#define _GNU_SOURCE /* the times of stat */
#include "core/mapped_state.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

static bool is_same(const mote_mapped_file *mapped, const struct stat *now) {
    return now->st_dev == mapped->device && now->st_ino == mapped->inode;
}

/* A file that was renamed or removed, and is not found under its name any more, can only be asked by its pages; one
   that is the standard input has no name. */
static bool was_changed(const mote_mapped_file *mapped, struct stat *now) {
    const bool is_found = (stat(mapped->path, now) == 0 && is_same(mapped, now)) ||
                          (fstat(STDIN_FILENO, now) == 0 && is_same(mapped, now));
    if (!is_found) return false;
    return (uint64_t)now->st_size != mapped->size_bytes || now->st_mtim.tv_sec != mapped->modified.tv_sec ||
           now->st_mtim.tv_nsec != mapped->modified.tv_nsec;
}

/* Where the file ends now says more than the page that a
   thread, one of several, missed first, and it does not depend on the threads. */
mote_status mote_mapped_explain(const mote_mapped_file *mapped, char *why) {
    struct stat now;
    uint64_t missing_at = 0;
    if (mapped->guard == NULL) return MOTE_OK;
    const bool changed = was_changed(mapped, &now), missing = guard_found_missing(mapped->guard, &missing_at);
    if (changed && (uint64_t)now.st_size < mapped->size_bytes) {
        snprintf(why, MOTE_MESSAGE_BYTES,
                 "%s: offset %" PRIu64 ": the file became shorter while it was read; it had %" PRIu64 " bytes",
                 mapped->path, (uint64_t)now.st_size, mapped->size_bytes);
    } else if (missing) {
        snprintf(why, MOTE_MESSAGE_BYTES, "%s: offset %" PRIu64 ": the file could not be read from here on",
                 mapped->path, missing_at);
    } else if (changed) {
        snprintf(why, MOTE_MESSAGE_BYTES, "%s: the file was changed while it was read; it had %" PRIu64 " bytes%s",
                 mapped->path, mapped->size_bytes,
                 (uint64_t)now.st_size > mapped->size_bytes ? " and has more now: is it still being written?" : "");
    }
    if (changed) return MOTE_ERROR_CHANGED;
    return missing ? MOTE_ERROR_IO : MOTE_OK;
}

mote_status mote_mapped_explains(const mote_context *ctx, char *why) {
    mote_status status = MOTE_OK;
    for (const mote_mapped_file *mapped = ctx->mapped_files; mapped != NULL && status == MOTE_OK;
         mapped = mapped->next) {
        status = mote_mapped_explain(mapped, why);
    }
    return status;
}
