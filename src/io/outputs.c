/* Outputs that belong together: complete, they wait under their temporary names, and take their names at once. None of
 * them takes the name of a file that was read meanwhile.
 *
 *   hold     first ⇄ … ⇄ last      in the order in which they were completed
 *   release  take, take, take ✗    one cannot get its name:
 *            give_back, give_back  those before it, the last first
 *            settle                all */
#define _GNU_SOURCE /* realpath */
#include "io/outputs.h"

#include <linux/limits.h> /* those of <limits.h> are not there in plain C17 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "core/mapped_file.h"
#include "io/output_place.h"
#include "mote/io.h"

#define SHARING 8u /* outputs looked back at for one in the same folder */

typedef struct held_output {
    const output_naming *naming;
    void *place;
    struct held_output *next, *previous;
    uint64_t hash; /* of final */
    char *final;   /* the final name without links, however the caller wrote it */
} held_output;

/* A file that was read: by whatever name another one calls it, it is the same where device and number are. */
typedef struct read_file {
    dev_t device;
    ino_t number;
    char *path; /* absolute, without links, so that the folders that it lies in are known */
} read_file;

struct mote_held_outputs {
    held_output *first, *last;
    read_file *files;
    uint64_t file_count, file_capacity;
};

mote_status mote_outputs_hold(mote_context *ctx) {
    if (ctx->held == NULL) ctx->held = mote_alloc_zero(ctx, sizeof *ctx->held, "output");
    return ctx->held != NULL ? MOTE_OK : MOTE_ERROR_MEMORY;
}

/* ---- what was read */

static const read_file *find_read(const mote_held_outputs *held, const struct stat *info) {
    for (uint64_t i = held->file_count; i > 0; i--) {
        const read_file *const file = &held->files[i - 1];
        if (file->device == info->st_dev && file->number == info->st_ino) return file;
    }
    return NULL;
}

mote_status mote_outputs_read(mote_context *ctx, const char *path, const struct stat *info) {
    mote_held_outputs *const held = ctx->held;
    char real[PATH_MAX];
    if (held == NULL || !S_ISREG(info->st_mode) || find_read(held, info) != NULL) return MOTE_OK;
    if (!mote_reserve(ctx, (void **)&held->files, &held->file_capacity, held->file_count + 1, sizeof *held->files,
                      "output")) {
        return MOTE_ERROR_MEMORY;
    }
    char *const copy = mote_strdup(ctx, realpath(path, real) != NULL ? real : path);
    if (copy == NULL) return MOTE_ERROR_MEMORY;
    const read_file file = {info->st_dev, info->st_ino, copy};
    held->files[held->file_count++] = file;
    return MOTE_OK;
}

mote_status mote_outputs_note_input(mote_context *ctx, const char *path) {
    struct stat info;
    return stat(path, &info) == 0 ? mote_outputs_read(ctx, path, &info) : MOTE_OK;
}

/* The file that was read and lies in a folder, or below it. */
static const read_file *find_read_below(const mote_held_outputs *held, const char *folder) {
    char real[PATH_MAX];
    if (realpath(folder, real) == NULL) return NULL;
    const size_t length = strlen(real);
    for (uint64_t i = 0; i < held->file_count; i++) {
        const char *const path = held->files[i].path;
        if (strncmp(path, real, length) == 0 && path[length] == '/') return &held->files[i];
    }
    return NULL;
}

mote_status mote_outputs_check(mote_context *ctx, const char *path) {
    struct stat info;
    if (ctx->held == NULL || ctx->held->file_count == 0 || stat(path, &info) != 0) return MOTE_OK;
    const bool folder = S_ISDIR(info.st_mode);
    const read_file *const file = folder ? find_read_below(ctx->held, path) : find_read(ctx->held, &info);
    if (file == NULL) return MOTE_OK;
    return mote_fail(ctx, MOTE_ERROR_ARGUMENT, "%s: the output %s an input (%s)", path, folder ? "contains" : "is also",
                     file->path);
}

/* ---- holding */

/* A thousand pictures in one folder need not hold it open a thousand times. */
static void share_folder(const held_output *held) {
    const held_output *other = held->previous;
    for (unsigned i = 0; other != NULL && i < SHARING; i++, other = other->previous) {
        if (other->naming != held->naming || held->naming->share == NULL) continue;
        if (held->naming->share(held->place, other->place)) return;
    }
}

/* Two outputs of one name: the second would replace the first, which nobody would see. */
static mote_status find_final(mote_context *ctx, held_output *held, output_place *place) {
    char real[PATH_MAX], folder[PATH_MAX];
    const char *const path = held->naming->path(held->place);
    if (output_place_find(path, place) != 0) return MOTE_OK; /* taking it will tell */
    snprintf(folder, sizeof folder, "%.*s", (int)(place->name - place->path), place->path);
    const bool found = realpath(folder[0] != '\0' ? folder : ".", real) != NULL;
    const size_t bytes = strlen(found ? real : folder) + strlen(place->name) + 2;
    held->final = mote_alloc(ctx, bytes, "output");
    if (held->final == NULL) return MOTE_ERROR_MEMORY;
    snprintf(held->final, bytes, "%s/%s", found ? real : folder, place->name);
    for (const char *c = held->final; *c != '\0'; c++) held->hash = held->hash * 31 + (uint8_t)*c;
    for (const held_output *other = ctx->held->last; other != NULL; other = other->previous) {
        if (other->final == NULL || other->hash != held->hash || strcmp(other->final, held->final) != 0) continue;
        return mote_fail(ctx, MOTE_ERROR_ARGUMENT, "%s: two outputs have this name (%s)", path,
                         other->naming->path(other->place));
    }
    return MOTE_OK;
}

static mote_status check_final(mote_context *ctx, held_output *held) {
    output_place *const place = mote_alloc(ctx, sizeof *place, "output");
    const mote_status status = place != NULL ? find_final(ctx, held, place) : MOTE_ERROR_MEMORY;
    mote_free(ctx, place);
    return status;
}

static mote_status wait_for_release(mote_context *ctx, const output_naming *naming, void *place) {
    held_output *held = mote_alloc_zero(ctx, sizeof *held, "output");
    if (held == NULL) {
        naming->settle(ctx, place);
        return MOTE_ERROR_MEMORY;
    }
    held->naming = naming;
    held->place = place;
    const mote_status status = check_final(ctx, held);
    if (status != MOTE_OK) {
        naming->settle(ctx, place);
        mote_free(ctx, held->final);
        mote_free(ctx, held);
        return status;
    }
    held->previous = ctx->held->last;
    if (held->previous != NULL) held->previous->next = held;
    if (ctx->held->first == NULL) ctx->held->first = held;
    ctx->held->last = held;
    share_folder(held);
    return MOTE_OK;
}

mote_status mote_outputs_add(mote_context *ctx, const output_naming *naming, void *place, mote_status status) {
    if (status == MOTE_OK && ctx->held != NULL) return wait_for_release(ctx, naming, place);
    return mote_outputs_end(ctx, naming, place, status);
}

mote_status mote_outputs_end(mote_context *ctx, const output_naming *naming, void *place, mote_status status) {
    if (status == MOTE_OK) status = naming->take(ctx, place, false);
    naming->settle(ctx, place);
    return status;
}

int mote_outputs_open(const mote_context *ctx, const char *path) {
    const held_output *held = ctx->held != NULL ? ctx->held->last : NULL;
    for (; held != NULL; held = held->previous) {
        if (held->naming->open == NULL || strcmp(held->naming->path(held->place), path) != 0) continue;
        return held->naming->open(held->place);
    }
    return -1;
}

/* ---- release */

static void give_back(mote_context *ctx, const held_output *held) {
    for (; held != NULL; held = held->previous) {
        if (held->naming->give_back(held->place)) continue;
        mote_warn(ctx, "%s: is replaced already, and what was there cannot be brought back",
                  held->naming->path(held->place));
    }
}

/* Before the first takes its name: what is read is never replaced, whatever is wrong with the others. */
static mote_status check_names(mote_context *ctx) {
    for (const held_output *held = ctx->held->first; held != NULL; held = held->next) {
        MOTE_TRY(mote_outputs_check(ctx, held->naming->path(held->place)));
    }
    return MOTE_OK;
}

static mote_status take_names(mote_context *ctx) {
    const bool together = ctx->held->first != ctx->held->last;
    MOTE_TRY(check_names(ctx));
    for (const held_output *held = ctx->held->first; held != NULL; held = held->next) {
        const mote_status status = held->naming->take(ctx, held->place, together);
        if (status == MOTE_OK) continue;
        give_back(ctx, held->previous);
        return status;
    }
    return MOTE_OK;
}

/* The last first: the folder that some share is that of the first of them. */
static void settle_all(mote_context *ctx) {
    for (held_output *held = ctx->held->last; held != NULL;) {
        held_output *previous = held->previous;
        held->naming->settle(ctx, held->place);
        mote_free(ctx, held->final);
        mote_free(ctx, held);
        held = previous;
    }
    for (uint64_t i = 0; i < ctx->held->file_count; i++) mote_free(ctx, ctx->held->files[i].path);
    mote_free(ctx, ctx->held->files);
    mote_free(ctx, ctx->held);
    ctx->held = NULL;
}

/* The inputs are looked at before the first name is taken: from there on only the names themselves can fail. */
mote_status mote_outputs_release(mote_context *ctx, mote_status status) {
    if (ctx->held == NULL) return status;
    if (status == MOTE_OK && ctx->held->first != NULL) status = mote_mapped_check_all(ctx);
    if (status == MOTE_OK) status = take_names(ctx);
    settle_all(ctx);
    return status;
}
