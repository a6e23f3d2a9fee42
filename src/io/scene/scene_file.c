/* Files that a scene names: beside it, and never outside its folder. */
#define _GNU_SOURCE /* realpath */
#include "io/scene/scene_draft.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

/* Whether a name stays within the folder that it starts in. */
static bool stays_inside(const char *name) {
    int depth = 0;
    for (const char *at = name; *at != '\0';) {
        const char *slash = strchr(at, '/');
        const size_t length = slash != NULL ? (size_t)(slash - at) : strlen(at);
        if (length == 2 && at[0] == '.' && at[1] == '.') {
            depth--;
        } else if (length > 0 && !(length == 1 && at[0] == '.')) {
            depth++;
        }
        if (depth < 0) return false;
        at += length + (slash != NULL);
    }
    return name[0] != '/' && name[0] != '\0';
}

static size_t folder_bytes(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash != NULL ? (size_t)(slash - path) + 1 : 0;
}

/* The path of a name beside a file; *inside: it is in the folder of the scene or below it. */
static char *path_beside(const scene_draft *d, const char *beside, const char *name, bool *inside) {
    const size_t folder = folder_bytes(beside), length = strlen(name);
    char *const path = mote_alloc(d->ctx, folder + length + 1, "scene file");
    if (path == NULL) return NULL;
    memcpy(path, beside, folder);
    for (size_t i = 0; i <= length; i++) path[folder + i] = name[i] == '\\' ? '/' : name[i];
    *inside = strchr(name, ':') == NULL && path[folder] != '/' && stays_inside(path + folder_bytes(d->path));
    return path;
}

/* Whether a path, links followed, lies in the folder of the scene or below it: *real is then that place, for mote_free.
   What is not there lies nowhere. */
static mote_status resolve_inside(const scene_draft *d, const char *path, char **real) {
    char named[PATH_MAX], folder[PATH_MAX], place[PATH_MAX];
    const size_t bytes = folder_bytes(d->path);
    *real = NULL;
    if (bytes + 2 > sizeof named) return MOTE_OK;
    memcpy(named, d->path, bytes);
    memcpy(named + bytes, ".", 2); /* "a/." is the folder itself, also where it is a link */
    if (realpath(path, place) == NULL || realpath(named, folder) == NULL) return MOTE_OK;
    const size_t length = strcmp(folder, "/") == 0 ? 0 : strlen(folder);
    if (strncmp(place, folder, length) != 0 || place[length] != '/') return MOTE_OK;
    *real = mote_strdup(d->ctx, place);
    return *real != NULL ? MOTE_OK : MOTE_ERROR_MEMORY;
}

mote_status scene_file_open_path(const scene_draft *d, const char *path, scene_file *file) {
    char *real = NULL;
    struct stat info;
    memset(file, 0, sizeof *file);
    file->path = mote_strdup(d->ctx, path);
    if (file->path == NULL) return MOTE_ERROR_MEMORY;
    MOTE_TRY(resolve_inside(d, path, &real));
    if (real == NULL && lstat(path, &info) == 0) {
        return mote_fail(d->ctx, MOTE_ERROR_DATA, "the link \"%.200s\" leads out of the folder of the scene", path);
    }
    if (real == NULL) real = mote_strdup(d->ctx, path); /* which is not there: opening it says why */
    if (real == NULL) return MOTE_ERROR_MEMORY;
    const mote_status status = mote_input_open_file(d->ctx, real, path, &file->input);
    file->input.path = file->path;
    mote_free(d->ctx, real);
    return status;
}

mote_status scene_file_open(const scene_draft *d, const char *name, scene_file *file) {
    bool inside = false;
    memset(file, 0, sizeof *file);
    char *const path = path_beside(d, d->path, name, &inside);
    if (path == NULL) return MOTE_ERROR_MEMORY;
    mote_status status;
    if (inside) {
        status = scene_file_open_path(d, path, file);
    } else {
        status = mote_fail(d->ctx, MOTE_ERROR_DATA, "the file \"%.200s\" is not in the folder of the scene or below it",
                           name);
    }
    mote_free(d->ctx, path);
    return status;
}

bool scene_file_is_dispensable(mote_status status) { return mote_is_of_input(status); }

static bool is_file(const char *path) {
    struct stat info;
    return stat(path, &info) == 0 && S_ISREG(info.st_mode);
}

/* ---- names in other case */

static void to_lower(char *text) {
    for (; *text != '\0'; text++) *text = (char)(*text >= 'A' && *text <= 'Z' ? *text + ('a' - 'A') : *text);
}

/* Notes an entry of a folder under its name in lower case. Of several it is the first in the order of bytes. */
static mote_status note_entry(mote_context *ctx, scene_folders *folders, const char *folder, const char *name) {
    char key[2 * PATH_MAX];
    const int length = snprintf(key, sizeof key, "%s\n%s", folder, name);
    if (length < 0 || length >= (int)sizeof key) return MOTE_OK;
    to_lower(key + strlen(folder));
    const uint32_t known = scene_names_find(&folders->entries, key, (uint64_t)length);
    if (known != SCENE_NO_NAME && strcmp(folders->names[known], name) <= 0) return MOTE_OK;
    if (!mote_reserve(ctx, (void **)&folders->names, &folders->capacity, folders->count + 1, sizeof *folders->names,
                      "scene file")) {
        return MOTE_ERROR_MEMORY;
    }
    char *const copy = mote_strdup(ctx, name);
    if (copy == NULL) return MOTE_ERROR_MEMORY;
    folders->names[folders->count++] = copy;
    return scene_names_set(ctx, &folders->entries, key, (uint64_t)length, (uint32_t)(folders->count - 1));
}

/* Looks through a folder, once: tens of thousands of names may be missing in it. */
static mote_status need_folder(mote_context *ctx, scene_folders *folders, const char *folder) {
    mote_status status = MOTE_OK;
    if (scene_names_find(&folders->entries, folder, strlen(folder)) != SCENE_NO_NAME) return MOTE_OK;
    MOTE_TRY(scene_names_set(ctx, &folders->entries, folder, strlen(folder), 0));
    DIR *const open = opendir(folder);
    for (const struct dirent *entry; status == MOTE_OK && open != NULL && (entry = readdir(open)) != NULL;) {
        status = note_entry(ctx, folders, folder, entry->d_name);
    }
    if (open != NULL) closedir(open);
    return status;
}

/* Whether there is a file whose name differs from the path's in the case of letters alone: then the path becomes it. */
static mote_status find_in_other_case(scene_draft *d, char *path, bool *found) {
    char folder[PATH_MAX], key[2 * PATH_MAX];
    char *const name = path + folder_bytes(path);
    const int bytes = name == path ? 1 : (int)(name - path);
    *found = false;
    if (bytes >= (int)sizeof folder) return MOTE_OK;
    snprintf(folder, sizeof folder, "%.*s", bytes, name == path ? "." : path);
    MOTE_TRY(need_folder(d->ctx, &d->folders, folder));
    const int length = snprintf(key, sizeof key, "%s\n%s", folder, name);
    if (length < 0 || length >= (int)sizeof key) return MOTE_OK;
    to_lower(key + strlen(folder));
    const uint32_t entry = scene_names_find(&d->folders.entries, key, (uint64_t)length);
    if (entry == SCENE_NO_NAME) return MOTE_OK;
    memcpy(name, d->folders.names[entry], strlen(name));
    *found = is_file(path);
    return MOTE_OK;
}

void scene_folders_free(mote_context *ctx, scene_folders *folders) {
    for (uint64_t i = 0; i < folders->count; i++) mote_free(ctx, folders->names[i]);
    mote_free(ctx, folders->names);
    scene_names_free(ctx, &folders->entries);
}

/* ---- finding */

static mote_status find_by_name(scene_draft *d, const char *beside, const char *name, char **path) {
    const char *last = name + strlen(name);
    while (last > name && last[-1] != '/' && last[-1] != '\\') last--;
    const char *const names[] = {name, name, last, last}, *const folders[] = {beside, d->path, beside, d->path};
    for (int i = 0; i < 8; i++) {
        bool inside = false;
        char *const candidate = path_beside(d, folders[i % 4], names[i % 4], &inside);
        if (candidate == NULL) return MOTE_ERROR_MEMORY;
        bool found = inside && i < 4 && is_file(candidate);
        const mote_status status = inside && i >= 4 ? find_in_other_case(d, candidate, &found) : MOTE_OK;
        if (found) {
            *path = candidate;
            return MOTE_OK;
        }
        mote_free(d->ctx, candidate);
        MOTE_TRY(status);
    }
    return MOTE_OK;
}

mote_status scene_file_find(scene_draft *d, const char *beside, const char *name, char **path) {
    const size_t length = strlen(name);
    *path = NULL;
    MOTE_TRY(find_by_name(d, beside, name, path));
    if (*path != NULL || length < 3 || name[0] != '"' || name[length - 1] != '"') return MOTE_OK;
    char *const bare = mote_strdup(d->ctx, name + 1);
    if (bare == NULL) return MOTE_ERROR_MEMORY;
    bare[length - 2] = '\0';
    const mote_status status = find_by_name(d, beside, bare, path);
    mote_free(d->ctx, bare);
    return status;
}

void scene_file_close(mote_context *ctx, scene_file *file) {
    if (file->input.data != NULL) mote_input_close(ctx, &file->input);
    mote_free(ctx, file->path);
}
