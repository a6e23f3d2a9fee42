#define _GNU_SOURCE /* the times of stat, strerror_r */
#include "core/mapped_file.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "core/guarded_range.h"

struct mote_mapped_file {
    void *memory;
    uint64_t size_bytes;
    guarded_range *guard;
    char *path;
    dev_t device; /* which file it is, and its state when it was mapped */
    ino_t inode;
    struct timespec modified;
    mote_mapped_file *previous, *next; /* in the list of the context */
};

static void enter_list(mote_context *ctx, mote_mapped_file *mapped) {
    pthread_mutex_lock(&ctx->lock);
    mapped->next = ctx->mapped_files;
    if (mapped->next != NULL) mapped->next->previous = mapped;
    ctx->mapped_files = mapped;
    pthread_mutex_unlock(&ctx->lock);
}

static void leave_list(mote_context *ctx, mote_mapped_file *mapped) {
    pthread_mutex_lock(&ctx->lock);
    if (mapped->next != NULL) mapped->next->previous = mapped->previous;
    if (mapped->previous != NULL) {
        mapped->previous->next = mapped->next;
    } else if (ctx->mapped_files == mapped) {
        ctx->mapped_files = mapped->next;
    }
    pthread_mutex_unlock(&ctx->lock);
}

static mote_status map_pages(mote_context *ctx, int file, mote_mapped_file *mapped) {
    void *memory = mmap(NULL, mapped->size_bytes, PROT_READ, MAP_PRIVATE, file, 0);
    if (memory == MAP_FAILED) {
        char text[128];
        return mote_fail(ctx, MOTE_ERROR_IO, "%s: cannot map %" PRIu64 " bytes: %s", mapped->path, mapped->size_bytes,
                         strerror_r(errno, text, sizeof text));
    }
    mapped->memory = memory;
    mapped->guard = guard_begin(memory, mapped->size_bytes);
    if (mapped->guard != NULL) return MOTE_OK;
    return mote_fail(ctx, MOTE_ERROR_MEMORY, "%s: out of memory: the guard of a mapped file", mapped->path);
}

mote_status mote_file_map(mote_context *ctx, const char *path, int file, const struct stat *info,
                          mote_mapped_file **out) {
    *out = NULL;
    mote_mapped_file *mapped = mote_alloc_zero(ctx, sizeof *mapped, "input");
    if (mapped == NULL) return MOTE_ERROR_MEMORY;
    mapped->size_bytes = (uint64_t)info->st_size;
    mapped->device = info->st_dev;
    mapped->inode = info->st_ino;
    mapped->modified = info->st_mtim;
    mapped->path = mote_strdup(ctx, path);
    const mote_status status = mapped->path != NULL ? map_pages(ctx, file, mapped) : MOTE_ERROR_MEMORY;
    enter_list(ctx, mapped);
    if (status != MOTE_OK) {
        mote_file_unmap(ctx, mapped);
        return status;
    }
    *out = mapped;
    return MOTE_OK;
}

void mote_file_unmap(mote_context *ctx, mote_mapped_file *mapped) {
    if (mapped == NULL) return;
    leave_list(ctx, mapped);
    guard_end(mapped->guard);
    if (mapped->memory != NULL) munmap(mapped->memory, mapped->size_bytes);
    mote_free(ctx, mapped->path);
    mote_free(ctx, mapped);
}

const uint8_t *mote_mapped_bytes(const mote_mapped_file *mapped) { return mapped->memory; }

/* ---- whether the file is still what it was */

/* A file that was renamed or removed, and is not found under its name any more, can only be asked by its pages. */
static bool was_changed(const mote_mapped_file *mapped, struct stat *now) {
    if (stat(mapped->path, now) != 0 || now->st_dev != mapped->device || now->st_ino != mapped->inode) return false;
    return (uint64_t)now->st_size != mapped->size_bytes || now->st_mtim.tv_sec != mapped->modified.tv_sec ||
           now->st_mtim.tv_nsec != mapped->modified.tv_nsec;
}

/* Writes what happened to the file to why; false if nothing did. Where the file ends now says more than the page that a
   thread, one of several, missed first, and it does not depend on the threads. */
static bool explain(const mote_mapped_file *mapped, char *why) {
    struct stat now;
    uint64_t missing_at = 0;
    if (mapped->guard == NULL) return false;
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
    return changed || missing;
}

bool mote_mapped_explains(const mote_context *ctx, char *why) {
    for (const mote_mapped_file *mapped = ctx->mapped_files; mapped != NULL; mapped = mapped->next) {
        if (explain(mapped, why)) return true;
    }
    return false;
}

mote_status mote_mapped_check(mote_context *ctx, const mote_mapped_file *mapped) {
    char why[MOTE_MESSAGE_BYTES];
    return explain(mapped, why) ? mote_fail(ctx, MOTE_ERROR_IO, "%s", why) : MOTE_OK;
}

mote_status mote_mapped_check_all(mote_context *ctx) {
    char why[MOTE_MESSAGE_BYTES];
    pthread_mutex_lock(&ctx->lock);
    const bool wrong = mote_mapped_explains(ctx, why);
    pthread_mutex_unlock(&ctx->lock);
    return wrong ? mote_fail(ctx, MOTE_ERROR_IO, "%s", why) : MOTE_OK;
}
