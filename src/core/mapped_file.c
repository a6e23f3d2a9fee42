#define _GNU_SOURCE /* strerror_r */
#include "core/mapped_file.h"

#include <errno.h>
#include <inttypes.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "core/mapped_state.h"

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
    /* It enters the context's list of files. */
    pthread_mutex_lock(&ctx->lock);
    mapped->next = ctx->mapped_files;
    if (mapped->next != NULL) mapped->next->previous = mapped;
    ctx->mapped_files = mapped;
    pthread_mutex_unlock(&ctx->lock);
    if (status != MOTE_OK) {
        mote_file_unmap(ctx, mapped);
        return status;
    }
    *out = mapped;
    return MOTE_OK;
}

void mote_file_unmap(mote_context *ctx, mote_mapped_file *mapped) {
    if (mapped == NULL) return;
    /* It leaves the context's list of files. */
    pthread_mutex_lock(&ctx->lock);
    if (mapped->next != NULL) mapped->next->previous = mapped->previous;
    if (mapped->previous != NULL) {
        mapped->previous->next = mapped->next;
    } else if (ctx->mapped_files == mapped) {
        ctx->mapped_files = mapped->next;
    }
    pthread_mutex_unlock(&ctx->lock);
    guard_end(mapped->guard);
    if (mapped->memory != NULL) munmap(mapped->memory, mapped->size_bytes);
    mote_free(ctx, mapped->path);
    mote_free(ctx, mapped);
}

const uint8_t *mote_mapped_bytes(const mote_mapped_file *mapped) { return mapped->memory; }

/* ---- whether the file is still what it was */

mote_status mote_mapped_check(mote_context *ctx, const mote_mapped_file *mapped) {
    char why[MOTE_MESSAGE_BYTES];
    const mote_status status = mote_mapped_explain(mapped, why);
    return status != MOTE_OK ? mote_fail(ctx, status, "%s", why) : MOTE_OK;
}

mote_status mote_mapped_check_all(mote_context *ctx) {
    char why[MOTE_MESSAGE_BYTES];
    pthread_mutex_lock(&ctx->lock);
    const mote_status status = mote_mapped_explains(ctx, why);
    pthread_mutex_unlock(&ctx->lock);
    return status != MOTE_OK ? mote_fail(ctx, status, "%s", why) : MOTE_OK;
}
