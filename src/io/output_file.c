/* A file that is written beside the one that it replaces, and takes that one's name when complete. */
#define _GNU_SOURCE /* renameat2 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "io/io_internal.h"
#include "io/output_file.h"

#define ATTEMPTS_MAX 100u /* at swapping names with a file that others make and remove meanwhile */

/* Whether errno tells that the file system knows no such way of renaming. */
static bool is_unknown_there(void) { return errno == EINVAL || errno == ENOSYS || errno == EOPNOTSUPP; }

/* A folder that came up under the name is not the user's to lose: rename refuses it, swapping would not. */
static bool is_folder(const output_file *file) {
    struct stat info;
    if (fstatat(file->folder, file->name, &info, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISDIR(info.st_mode)) return false;
    errno = EISDIR;
    return true;
}

/* Takes the name so that it can be given back: what has it gets the temporary one. false and errno. */
static bool swap(output_file *file) {
    for (unsigned attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
        if (renameat2(file->folder, file->temporary, file->folder, file->name, RENAME_NOREPLACE) == 0) return true;
        if (errno != EEXIST || is_folder(file)) return false;
        file->is_swapped = renameat2(file->folder, file->temporary, file->folder, file->name, RENAME_EXCHANGE) == 0;
        if (file->is_swapped) return true;
        if (errno != ENOENT) return false;
    }
    return false;
}

static mote_status take(mote_context *ctx, void *place, bool together) {
    output_file *file = place;
    file->is_taken = together && swap(file);
    if (!file->is_taken && (!together || is_unknown_there())) {
        file->is_lost = faccessat(file->folder, file->name, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
        file->is_taken = renameat(file->folder, file->temporary, file->folder, file->name) == 0;
    }
    if (file->is_taken && !file->is_swapped) file->temporary[0] = '\0';
    return file->is_taken ? MOTE_OK : mote_system_error(ctx, file->path, "rename the finished output to");
}

static bool give_back(void *place) {
    const output_file *file = place;
    if (file->is_lost) return false;
    if (file->is_swapped) {
        return renameat2(file->folder, file->temporary, file->folder, file->name, RENAME_EXCHANGE) == 0;
    }
    return unlinkat(file->folder, file->name, 0) == 0;
}

static void settle(mote_context *ctx, void *place) {
    output_file *file = place;
    if (file->temporary != NULL && file->temporary[0] != '\0') unlinkat(file->folder, file->temporary, 0);
    if (file->folder >= 0 && !file->is_shared) close(file->folder);
    mote_free(ctx, file->temporary);
    mote_free(ctx, file->name);
    mote_free(ctx, file->path);
    mote_free(ctx, file);
}

static const char *path_of(const void *place) { return ((const output_file *)place)->path; }

static int open_place(const void *place) {
    const output_file *file = place;
    return openat(file->folder, file->temporary, O_RDONLY | O_CLOEXEC);
}

static bool share(void *place, const void *other) {
    output_file *file = place;
    const output_file *before = other;
    struct stat own, its;
    if (fstat(file->folder, &own) != 0 || fstat(before->folder, &its) != 0) return false;
    if (own.st_dev != its.st_dev || own.st_ino != its.st_ino) return false;
    close(file->folder);
    file->folder = before->folder;
    file->is_shared = true;
    return true;
}

const output_naming output_file_naming = {take, give_back, settle, path_of, open_place, share};
