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

#include "io/outputs.h"
#include "io/potree/potree.h"

#define ATTEMPTS_MAX 1000u /* at a temporary name that no other writer has, and at a name that others take, too */

/* Of the last one a set may lack: what it was made of. */
#define SET_FILES 4
#define SET_NEEDS 3
static const char *const file_names[SET_FILES] = {"metadata.json", "hierarchy.bin", "octree.bin", POTREE_INPUTS};

/* Whether a name inside a folder is one that the writer makes: a file of the set or its temporary. */
static bool is_ours(const char *name) {
    for (int f = 0; f < SET_FILES; f++) {
        const size_t length = strlen(file_names[f]);
        if (strncmp(name, file_names[f], length) != 0) continue;
        const char *rest = name + length;
        if (*rest == '\0') return true;
        while (*rest == '.') { /* ".PID.part", and before it of a part of the cloud ".N.part" */
            rest += 1 + strspn(rest + 1, "0123456789");
            if (strcmp(rest, ".part") == 0) return true;
            if (strncmp(rest, ".part", 5) != 0) break;
            rest += 5;
        }
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

/* Whether path is a folder of a set's files and nothing else. */
static bool is_whole_set(const char *path) {
    DIR *directory = opendir(path);
    if (directory == NULL) return false;
    int found = 0;
    bool foreign = false;
    for (const struct dirent *entry = readdir(directory); entry != NULL; entry = readdir(directory)) {
        const char *name = entry->d_name;
        if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0) continue;
        bool known = false;
        for (int f = 0; f < SET_FILES; f++) {
            if (strcmp(name, file_names[f]) != 0) continue;
            known = true;
            found += f < SET_NEEDS;
        }
        foreign |= !known;
    }
    closedir(directory);
    return found == SET_NEEDS && !foreign;
}

static bool is_empty(const char *path) {
    DIR *directory = opendir(path);
    if (directory == NULL) return false;
    int entries = 0;
    while (entries <= 2 && readdir(directory) != NULL) entries++; /* "." and ".." */
    closedir(directory);
    return entries <= 2;
}

/* The process that gave a name its form, "BASE.PID.ENDING" or "BASE.PID-ATTEMPT.ENDING"; 0 if it is not of that
   form. */
static long leftover_process(const char *name, const char *base, const char *ending) {
    char made[NAME_MAX + 1];
    const size_t length = strlen(name), ending_bytes = strlen(ending) + 1;
    if (length <= ending_bytes) return 0;
    size_t at = length - ending_bytes;
    while (at > 0 && strchr("0123456789-", name[at - 1]) != NULL) at--;
    const long process = strtol(name + at, NULL, 10);
    const char *dash = strchr(name + at, '-');
    if (process <= 0) return 0;
    output_temporary_name(base, process, dash != NULL ? (unsigned)strtoul(dash + 1, NULL, 10) : 0, ending, made);
    return strcmp(made, name) == 0 ? process : 0;
}

static bool is_running(long process) { return kill((pid_t)process, 0) == 0 || errno != ESRCH; }

static int parent_bytes(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash != NULL ? (int)(slash + 1 - path) : 0;
}

/* Removes what killed writers left beside path; an old set that lost its name in the middle gets it back. */
static void clean_leftovers(const char *path, char *scratch, size_t scratch_bytes) {
    const char *base = path + parent_bytes(path);
    snprintf(scratch, scratch_bytes, "%.*s.", parent_bytes(path), path);
    DIR *directory = opendir(scratch);
    if (directory == NULL) return;
    for (const struct dirent *entry = readdir(directory); entry != NULL; entry = readdir(directory)) {
        const long part = leftover_process(entry->d_name, base, "part");
        const long old = leftover_process(entry->d_name, base, "old");
        if ((part == 0 || is_running(part)) && (old == 0 || is_running(old))) continue;
        snprintf(scratch, scratch_bytes, "%.*s%s", parent_bytes(path), path, entry->d_name);
        struct stat info;
        const bool nameless = lstat(path, &info) != 0 && errno == ENOENT;
        if (old == 0 || !nameless || !is_whole_set(scratch) || rename(scratch, path) != 0) remove_set(scratch);
    }
    closedir(directory);
}

/* What is at the path: nothing, an older data set, an empty folder (*replaces), or what is not replaced. */
static mote_status look_at_place(mote_context *ctx, const potree_folder *folder, bool *replaces) {
    struct stat info, now;
    for (unsigned attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
        *replaces = lstat(folder->path, &info) == 0;
        if (!*replaces) return errno == ENOENT ? MOTE_OK : mote_system_error(ctx, folder->path, "look at");
        if (S_ISDIR(info.st_mode) && (is_whole_set(folder->path) || is_empty(folder->path))) return MOTE_OK;
        /* A set that another writer replaces is taken apart while it is looked at. */
        if (lstat(folder->path, &now) == 0 && now.st_dev == info.st_dev && now.st_ino == info.st_ino) break;
    }
    return mote_fail(ctx, MOTE_ERROR_IO, "%s: exists and is no Potree folder, so it is not replaced", folder->path);
}

/* Links are followed: what they point at is made or replaced. *path is for mote_free. */
static mote_status find_place(mote_context *ctx, const char *path, char **out) {
    output_place *place = mote_alloc(ctx, sizeof *place, "output");
    if (place == NULL) return MOTE_ERROR_MEMORY;
    size_t length = strlen(path);
    while (length > 1 && path[length - 1] == '/') length--;
    char *bare = mote_alloc(ctx, length + 1, "output");
    mote_status status = bare != NULL ? MOTE_OK : MOTE_ERROR_MEMORY;
    if (bare != NULL) snprintf(bare, length + 1, "%.*s", (int)length, path);
    if (status == MOTE_OK && length == 0) {
        status = mote_fail(ctx, MOTE_ERROR_ARGUMENT, "the name of the output is empty");
    } else if (status == MOTE_OK && (errno = output_place_find(bare, place)) != 0) {
        status = mote_system_error(ctx, path, "create the folder");
    } else if (status == MOTE_OK && place->is_stream) {
        status =
            mote_fail(ctx, MOTE_ERROR_IO, "%s: a Potree data set is a folder, which no pipe or device can hold", path);
    }
    char *real = status == MOTE_OK ? realpath(place->path, NULL) : NULL;
    if (status == MOTE_OK) {
        *out = mote_strdup(ctx, real != NULL ? real : place->path);
        if (*out == NULL) status = MOTE_ERROR_MEMORY;
    }
    free(real);
    mote_free(ctx, bare);
    mote_free(ctx, place);
    return status;
}

mote_status potree_folder_open(mote_context *ctx, const char *path, potree_folder **out) {
    potree_folder *folder = *out = mote_alloc_zero(ctx, sizeof *folder, "output");
    if (folder == NULL) return MOTE_ERROR_MEMORY;
    MOTE_TRY(find_place(ctx, path, &folder->path));
    size_t length = strlen(folder->path);
    while (length > 1 && folder->path[length - 1] == '/') folder->path[--length] = '\0';
    const size_t name_bytes = length + NAME_MAX + 2;
    folder->temporary = mote_alloc(ctx, name_bytes, "output");
    folder->aside = mote_alloc(ctx, name_bytes, "output");
    if (folder->temporary == NULL || folder->aside == NULL) return MOTE_ERROR_MEMORY;
    clean_leftovers(folder->path, folder->temporary, name_bytes);
    bool replaces;
    MOTE_TRY(look_at_place(ctx, folder, &replaces));
    /* Names that no other writer has, of this process or others. */
    char name[NAME_MAX + 1];
    const int parent = parent_bytes(folder->path);
    const char *base = folder->path + parent;
    for (unsigned attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
        output_temporary_name(base, (long)getpid(), attempt, "part", name);
        snprintf(folder->temporary, name_bytes, "%.*s%s", parent, folder->path, name);
        output_temporary_name(base, (long)getpid(), attempt, "old", name);
        snprintf(folder->aside, name_bytes, "%.*s%s", parent, folder->path, name);
        folder->is_there = mkdir(folder->temporary, 0777) == 0;
        if (folder->is_there) return MOTE_OK;
        if (errno != EEXIST) break;
    }
    return mote_system_error(ctx, folder->path, "create the folder");
}

mote_status potree_folder_open_dry(mote_context *ctx, const char *path, potree_folder **out) {
    potree_folder *folder = *out = mote_alloc_zero(ctx, sizeof *folder, "output");
    if (folder == NULL) return MOTE_ERROR_MEMORY;
    const size_t name_bytes = strlen(path) + NAME_MAX + 2;
    folder->is_dry = true;
    folder->path = mote_strdup(ctx, path);
    folder->temporary = mote_alloc_zero(ctx, name_bytes, "output");
    return folder->path != NULL && folder->temporary != NULL ? MOTE_OK : MOTE_ERROR_MEMORY;
}

mote_status potree_folder_output(mote_context *ctx, const potree_folder *folder, const char *name,
                                 mote_output *output) {
    const size_t size_bytes = strlen(folder->temporary) + strlen(name) + 2;
    char *path = mote_alloc(ctx, size_bytes, "output");
    memset(output, 0, sizeof *output);
    output->file = -1;
    if (path == NULL) return MOTE_ERROR_MEMORY;
    snprintf(path, size_bytes, "%s/%s", folder->temporary, name);
    const mote_status status =
        folder->is_dry ? mote_output_open_dry(ctx, path, output) : mote_output_open(ctx, path, output);
    /* What goes wrong with it is told of the final name, which is no longer. */
    if (status == MOTE_OK) snprintf(output->path, size_bytes, "%s/%s", folder->path, name);
    output->is_part = true;
    mote_free(ctx, path);
    return status;
}

/* The same as swapping, where the file system cannot: the old set steps aside first. Returns 0 or errno. */
static int swap_in_turn(const potree_folder *folder) {
    if (rename(folder->path, folder->aside) != 0) return errno;
    if (rename(folder->temporary, folder->path) != 0) {
        const int failed = errno;
        /* Another set took the name meanwhile, which would have replaced the old one. */
        if (rename(folder->aside, folder->path) != 0) remove_set(folder->aside);
        return failed;
    }
    rename(folder->aside, folder->temporary);
    return 0;
}

/* The set takes the name of what is there, which gets the temporary one; or both have their names back. Returns 0 or
   errno. */
static int swap_names(const potree_folder *folder) {
    if (renameat2(AT_FDCWD, folder->temporary, AT_FDCWD, folder->path, RENAME_EXCHANGE) == 0) return 0;
    return errno == ENOENT ? ENOENT : swap_in_turn(folder);
}

/* Gives to a file or folder the mode and, where that is allowed, the owner of the one that it replaces. */
static void keep_mode(const char *replaced, const char *path) {
    struct stat info;
    if (stat(replaced, &info) != 0) return;
    const bool owned = chown(path, info.st_uid, info.st_gid) == 0 || chown(path, (uid_t)-1, info.st_gid) == 0;
    (void)owned;
    (void)chmod(path, info.st_mode & 07777);
}

static mote_status keep_modes(mote_context *ctx, const potree_folder *folder) {
    const size_t size_bytes = strlen(folder->path) + NAME_MAX + 32;
    char *replaced = mote_alloc(ctx, size_bytes, "output"), *path = mote_alloc(ctx, size_bytes, "output");
    const mote_status status = replaced != NULL && path != NULL ? MOTE_OK : MOTE_ERROR_MEMORY;
    for (int f = 0; f < SET_FILES && status == MOTE_OK; f++) {
        snprintf(replaced, size_bytes, "%s/%s", folder->path, file_names[f]);
        snprintf(path, size_bytes, "%s/%s", folder->temporary, file_names[f]);
        keep_mode(replaced, path);
    }
    if (status == MOTE_OK) keep_mode(folder->path, folder->temporary);
    mote_free(ctx, path);
    mote_free(ctx, replaced);
    return status;
}

/* Takes the name if nothing has it. Returns 0 or errno. */
static int take_free_name(const potree_folder *folder) {
    if (renameat2(AT_FDCWD, folder->temporary, AT_FDCWD, folder->path, RENAME_NOREPLACE) == 0) return 0;
    if (errno != EINVAL && errno != ENOSYS) return errno;
    return rename(folder->temporary, folder->path) == 0 ? 0 : errno;
}

/* Whether others have taken the name, or given it up, since it was looked at. */
static bool is_taken_meanwhile(int failed) { return failed == EEXIST || failed == ENOTEMPTY || failed == ENOENT; }

/* Several writers may take one name at once: each replaces the set of the one before, and the last one's stays. */
static mote_status take_name(mote_context *ctx, void *place, bool together) {
    potree_folder *folder = place;
    bool replaces = false;
    int failed = EEXIST;
    (void)together; /* it can be given back anyway */
    for (unsigned attempt = 0; is_taken_meanwhile(failed) && attempt < ATTEMPTS_MAX; attempt++) {
        failed = take_free_name(folder);
        if (failed == 0 || !is_taken_meanwhile(failed)) break;
        MOTE_TRY(look_at_place(ctx, folder, &replaces));
        if (!replaces) continue;
        MOTE_TRY(keep_modes(ctx, folder));
        failed = swap_names(folder);
        folder->is_swapped = failed == 0;
    }
    folder->is_there = failed != 0 || folder->is_swapped;
    errno = failed;
    return failed == 0 ? MOTE_OK : mote_system_error(ctx, folder->path, "rename the finished output to");
}

static bool give_back(void *place) {
    potree_folder *folder = place;
    if (folder->is_swapped) return swap_names(folder) == 0;
    folder->is_there = rename(folder->path, folder->temporary) == 0;
    return folder->is_there;
}

static void settle(mote_context *ctx, void *place) {
    potree_folder *folder = place;
    if (folder->is_there && !remove_set(folder->temporary) && folder->is_swapped) {
        mote_warn(ctx, "%s: the replaced folder could not be removed", folder->temporary);
    }
    mote_free(ctx, folder->path);
    mote_free(ctx, folder->temporary);
    mote_free(ctx, folder->aside);
    mote_free(ctx, folder);
}

static const char *path_of(const void *place) { return ((const potree_folder *)place)->path; }

static const output_naming folder_naming = {take_name, give_back, settle, path_of, NULL, NULL};

mote_status potree_folder_close(mote_context *ctx, potree_folder *folder, mote_status status) {
    if (folder == NULL) return status;
    if (!folder->is_dry) return mote_outputs_add(ctx, &folder_naming, folder, status);
    settle(ctx, folder);
    return status;
}
