/* The folder of a Potree data set: written under a temporary name beside the final one, which it takes when complete.
   An older data set of that name stays whole until then. */
#define _GNU_SOURCE /* renameat2, realpath */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/potree.h"

#define SUFFIX_BYTES 40u /* ".PID.part" and a margin */

static const char *const file_names[3] = {"metadata.json", "hierarchy.bin", "octree.bin"};

/* Whether a name inside a folder is one that the writer makes: a file of the set or its temporary. */
static bool is_ours(const char *name) {
    for (int f = 0; f < 3; f++) {
        const size_t length = strlen(file_names[f]);
        if (strncmp(name, file_names[f], length) != 0) continue;
        const char *rest = name + length;
        if (*rest == '\0') return true;
        if (*rest != '.') continue;
        rest += 1 + strspn(rest + 1, "0123456789");
        if (strcmp(rest, ".part") == 0) return true;
    }
    return false;
}

/* Removes a folder of our files; one that holds anything else stays, as it is not ours. */
static bool remove_set(const char *path) {
    DIR *directory = opendir(path);
    if (directory == NULL) return errno == ENOENT;
    const int where = dirfd(directory);
    bool foreign = false;
    for (const struct dirent *entry = readdir(directory); entry != NULL; entry = readdir(directory)) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
        if (!is_ours(entry->d_name)) foreign = true;
    }
    rewinddir(directory);
    for (const struct dirent *entry = readdir(directory); entry != NULL && !foreign; entry = readdir(directory)) {
        if (is_ours(entry->d_name)) unlinkat(where, entry->d_name, 0);
    }
    closedir(directory);
    return !foreign && rmdir(path) == 0;
}

/* Whether path is a folder of the three files and nothing else. */
static bool is_whole_set(const char *path) {
    DIR *directory = opendir(path);
    if (directory == NULL) return false;
    int found = 0;
    bool foreign = false;
    for (const struct dirent *entry = readdir(directory); entry != NULL; entry = readdir(directory)) {
        const char *name = entry->d_name;
        if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0) continue;
        bool known = false;
        for (int f = 0; f < 3; f++) known |= strcmp(name, file_names[f]) == 0;
        if (known) found++;
        foreign |= !known;
    }
    closedir(directory);
    return found == 3 && !foreign;
}

/* The process in "BASE.PID.part" or "BASE.PID.old"; 0 if name is not of that form. */
static long leftover_process(const char *name, const char *base, const char *ending) {
    const size_t length = strlen(base);
    if (strncmp(name, base, length) != 0 || name[length] != '.') return 0;
    char *end = NULL;
    const char *digits = name + length + 1;
    if (*digits < '1' || *digits > '9') return 0;
    const long process = strtol(digits, &end, 10);
    return *end == '.' && strcmp(end + 1, ending) == 0 ? process : 0;
}

static bool is_running(long process) { return kill((pid_t)process, 0) == 0 || errno != ESRCH; }

/* Removes what killed writers left beside path; an old set that lost its name in the middle gets it back. */
static void clean_leftovers(const char *path, char *scratch, size_t scratch_bytes) {
    const char *slash = strrchr(path, '/');
    const char *base = slash != NULL ? slash + 1 : path;
    const int parent_bytes = (int)(base - path);
    snprintf(scratch, scratch_bytes, "%.*s.", parent_bytes, path);
    DIR *directory = opendir(scratch);
    if (directory == NULL) return;
    for (const struct dirent *entry = readdir(directory); entry != NULL; entry = readdir(directory)) {
        const long part = leftover_process(entry->d_name, base, "part");
        const long old = leftover_process(entry->d_name, base, "old");
        if ((part == 0 || is_running(part)) && (old == 0 || is_running(old))) continue;
        snprintf(scratch, scratch_bytes, "%.*s%s", parent_bytes, path, entry->d_name);
        struct stat info;
        const bool nameless = lstat(path, &info) != 0 && errno == ENOENT;
        if (old == 0 || !nameless || !is_whole_set(scratch) || rename(scratch, path) != 0) remove_set(scratch);
    }
    closedir(directory);
}

static mote_status make_temporary(mote_context *ctx, potree_folder *folder, size_t name_bytes) {
    struct stat info;
    clean_leftovers(folder->path, folder->temporary, name_bytes);
    if (lstat(folder->path, &info) == 0) {
        if (!S_ISDIR(info.st_mode) || !is_whole_set(folder->path)) {
            return mote_fail(ctx, MOTE_ERROR_IO, "%s: exists and is no Potree folder, so it is not replaced",
                             folder->path);
        }
        folder->replaces = true;
    } else if (errno != ENOENT) {
        return mote_system_error(ctx, folder->path, "look at");
    }
    snprintf(folder->temporary, name_bytes, "%s.%ld.part", folder->path, (long)getpid());
    remove_set(folder->temporary); /* left by an earlier process of the same number */
    if (mkdir(folder->temporary, 0777) != 0) return mote_system_error(ctx, folder->path, "create the folder");
    folder->made = true;
    return MOTE_OK;
}

mote_status potree_folder_open(mote_context *ctx, const char *path, potree_folder *folder) {
    memset(folder, 0, sizeof *folder);
    char *real = realpath(path, NULL); /* a link keeps pointing at the data: what it points at is replaced */
    size_t length = strlen(real != NULL ? real : path);
    folder->path = mote_strdup(ctx, real != NULL ? real : path);
    free(real);
    if (folder->path == NULL) return MOTE_ERROR_MEMORY;
    while (length > 1 && folder->path[length - 1] == '/') folder->path[--length] = '\0';
    if (length == 0) return mote_fail(ctx, MOTE_ERROR_ARGUMENT, "the name of the output is empty");
    const size_t name_bytes = length + NAME_MAX + SUFFIX_BYTES;
    folder->temporary = mote_alloc(ctx, name_bytes, "output");
    if (folder->temporary == NULL) return MOTE_ERROR_MEMORY;
    return make_temporary(ctx, folder, name_bytes);
}

mote_status potree_folder_output(mote_context *ctx, const potree_folder *folder, const char *name,
                                 mote_output *output) {
    const size_t size_bytes = strlen(folder->temporary) + strlen(name) + 2;
    char *path = mote_alloc(ctx, size_bytes, "output");
    memset(output, 0, sizeof *output);
    output->file = -1;
    if (path == NULL) return MOTE_ERROR_MEMORY;
    snprintf(path, size_bytes, "%s/%s", folder->temporary, name);
    const mote_status status = mote_output_open(ctx, path, output);
    mote_free(ctx, path);
    return status;
}

/* Where the system cannot swap two names at once: the old set steps aside first. */
static mote_status replace_in_turn(mote_context *ctx, const potree_folder *folder) {
    const size_t size_bytes = strlen(folder->path) + SUFFIX_BYTES;
    char *old = mote_alloc(ctx, size_bytes, "output");
    if (old == NULL) return MOTE_ERROR_MEMORY;
    snprintf(old, size_bytes, "%s.%ld.old", folder->path, (long)getpid());
    mote_status status = MOTE_OK;
    if (rename(folder->path, old) != 0) {
        status = mote_system_error(ctx, folder->path, "move the old folder away from");
    } else if (rename(folder->temporary, folder->path) != 0) {
        status = mote_system_error(ctx, folder->path, "rename the finished output to");
        rename(old, folder->path);
    } else if (!remove_set(old)) {
        mote_warn(ctx, "%s: the replaced folder could not be removed", old);
    }
    mote_free(ctx, old);
    return status;
}

static mote_status take_name(mote_context *ctx, const potree_folder *folder) {
    if (!folder->replaces) {
        /* Not even an empty folder that came up meanwhile is replaced. */
        if (renameat2(AT_FDCWD, folder->temporary, AT_FDCWD, folder->path, RENAME_NOREPLACE) == 0) return MOTE_OK;
        if ((errno == EINVAL || errno == ENOSYS) && rename(folder->temporary, folder->path) == 0) return MOTE_OK;
        return mote_system_error(ctx, folder->path, "rename the finished output to");
    }
    if (renameat2(AT_FDCWD, folder->temporary, AT_FDCWD, folder->path, RENAME_EXCHANGE) != 0) {
        return replace_in_turn(ctx, folder);
    }
    if (!remove_set(folder->temporary)) {
        mote_warn(ctx, "%s: the replaced folder could not be removed", folder->temporary);
    }
    return MOTE_OK;
}

mote_status potree_folder_close(mote_context *ctx, potree_folder *folder, mote_status status) {
    if (status == MOTE_OK) status = take_name(ctx, folder);
    if (status != MOTE_OK && folder->made) remove_set(folder->temporary);
    mote_free(ctx, folder->path);
    mote_free(ctx, folder->temporary);
    folder->path = folder->temporary = NULL;
    folder->made = false;
    return status;
}
