/* Several inputs as one cloud: folders and patterns become lists of files. */
#define _XOPEN_SOURCE 700 /* glob, opendir, stat and its file kinds */
#include <dirent.h>
#include <errno.h>
#include <glob.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "io/merge/inputs.h"

/* The endings that a folder is searched for. */
static const char *const point_endings[] = {".las", ".laz", ".ply", ".xyz", ".txt", ".csv",
                                            ".pts", ".asc", ".pcd", ".ptx", ".e57"};

static mote_status add_file(mote_context *ctx, mote_input_list *list, const char *path) {
    if (!mote_reserve(ctx, (void **)&list->paths, &list->capacity, list->count + 1, sizeof *list->paths, "inputs")) {
        return MOTE_ERROR_MEMORY;
    }
    char *copy = mote_strdup(ctx, path);
    if (copy == NULL) return MOTE_ERROR_MEMORY;
    list->paths[list->count++] = copy;
    return MOTE_OK;
}

static int by_bytes(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

/* Letters of the alphabet only, whatever the locale. */
static char lower(char c) { return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c; }

static bool is_point_file(const char *name) {
    const char *dot = strrchr(name, '.');
    if (dot == NULL || dot == name) return false;
    for (size_t i = 0; i < sizeof point_endings / sizeof point_endings[0]; i++) {
        const char *ending = point_endings[i], *at = dot;
        while (*ending != '\0' && lower(*at) == *ending) ending++, at++;
        if (*ending == '\0' && *at == '\0') return true;
    }
    return false;
}

static bool is_kind(const char *path, mode_t kind) {
    struct stat info;
    return stat(path, &info) == 0 && (info.st_mode & S_IFMT) == kind;
}

/* folder/name, freshly allocated. */
static char *join_path(mote_context *ctx, const char *folder, const char *name) {
    const size_t length = strlen(folder);
    const char *slash = length > 0 && folder[length - 1] == '/' ? "" : "/";
    char *path = mote_alloc(ctx, length + strlen(name) + 2, "inputs");
    if (path != NULL) snprintf(path, length + strlen(name) + 2, "%s%s%s", folder, slash, name);
    return path;
}

static mote_status add_entry(mote_context *ctx, mote_input_list *list, const char *folder, const char *name) {
    if (!is_point_file(name)) return MOTE_OK;
    char *path = join_path(ctx, folder, name);
    if (path == NULL) return MOTE_ERROR_MEMORY;
    const mote_status status = is_kind(path, S_IFREG) ? add_file(ctx, list, path) : MOTE_OK;
    mote_free(ctx, path);
    return status;
}

/* All point files right in a folder, in the order of their names' bytes. */
static mote_status add_folder(mote_context *ctx, mote_input_list *list, const char *path) {
    const uint64_t first = list->count;
    DIR *folder = opendir(path);
    if (folder == NULL) return mote_system_error(ctx, path, "list");
    mote_status status = MOTE_OK;
    while (status == MOTE_OK) {
        errno = 0;
        const struct dirent *entry = readdir(folder);
        if (entry == NULL && errno != 0) status = mote_system_error(ctx, path, "list");
        if (entry == NULL) break;
        status = add_entry(ctx, list, path, entry->d_name);
    }
    closedir(folder);
    if (status == MOTE_OK && list->count == first) {
        return mote_fail(ctx, MOTE_ERROR_IO, "%s: neither metadata.json nor a point file in this folder", path);
    }
    if (list->count > first + 1) qsort(list->paths + first, list->count - first, sizeof *list->paths, by_bytes);
    return status;
}

/* A path without wildcards: a file, or a folder of either kind. What is missing shows when it is read. */
static mote_status add_path(mote_context *ctx, mote_input_list *list, const char *path) {
    if (!is_kind(path, S_IFDIR)) return add_file(ctx, list, path);
    /* A Potree data set is read as one thing, not searched. */
    char *metadata = join_path(ctx, path, "metadata.json");
    if (metadata == NULL) return MOTE_ERROR_MEMORY;
    const bool potree = is_kind(metadata, S_IFREG);
    mote_free(ctx, metadata);
    return potree ? add_file(ctx, list, path) : add_folder(ctx, list, path);
}

/* What a pattern matches, in the order of the paths' bytes. */
static mote_status add_pattern(mote_context *ctx, mote_input_list *list, const char *pattern) {
    glob_t found;
    memset(&found, 0, sizeof found);
    const int failed = glob(pattern, GLOB_NOSORT, NULL, &found);
    mote_status status = MOTE_OK;
    if (failed == GLOB_NOMATCH) {
        status = mote_fail(ctx, MOTE_ERROR_IO, "%s: no file matches this pattern", pattern);
    } else if (failed == GLOB_NOSPACE) {
        status = mote_fail(ctx, MOTE_ERROR_MEMORY, "%s: out of memory for its matches", pattern);
    } else if (failed != 0) {
        status = mote_system_error(ctx, pattern, "expand");
    } else {
        qsort(found.gl_pathv, found.gl_pathc, sizeof *found.gl_pathv, by_bytes);
        for (size_t i = 0; i < found.gl_pathc && status == MOTE_OK; i++) {
            status = add_path(ctx, list, found.gl_pathv[i]);
        }
    }
    globfree(&found);
    return status;
}

static mote_status add_input(mote_context *ctx, mote_input_list *list, const char *path) {
    if (mote_is_dash(path)) return add_file(ctx, list, path);
    struct stat info;
    const bool exists = stat(path, &info) == 0; /* a name that holds a star and exists means itself */
    if (!exists && strpbrk(path, "*?[") != NULL) return add_pattern(ctx, list, path);
    return add_path(ctx, list, path);
}

mote_status mote_inputs_find(mote_context *ctx, const char *const *paths, uint32_t path_count, mote_input_list *list) {
    uint32_t dashes = 0;
    memset(list, 0, sizeof *list);
    if (path_count == 0) return mote_fail(ctx, MOTE_ERROR_ARGUMENT, "no input is named");
    for (uint32_t i = 0; i < path_count; i++) dashes += mote_is_dash(paths[i]);
    if (dashes > 1) return mote_fail(ctx, MOTE_ERROR_ARGUMENT, STANDARD_INPUT " is named twice; it is read once");
    for (uint32_t i = 0; i < path_count; i++) MOTE_TRY(add_input(ctx, list, paths[i]));
    if (list->count > UINT32_MAX) return mote_fail(ctx, MOTE_ERROR_ARGUMENT, "more than 2^32 inputs");
    return MOTE_OK;
}

mote_status mote_inputs_each(mote_context *ctx, const char *const *paths, uint32_t path_count, mote_input_fn each,
                             void *user) {
    mote_input_list list;
    mote_status status = mote_inputs_find(ctx, paths, path_count, &list);
    for (uint64_t i = 0; i < list.count && status == MOTE_OK; i++) {
        if (!each(user, list.paths[i])) status = MOTE_CANCELLED;
    }
    mote_inputs_free(ctx, &list);
    return status;
}

void mote_inputs_free(mote_context *ctx, mote_input_list *list) {
    for (uint64_t i = 0; i < list->count; i++) mote_free(ctx, list->paths[i]);
    mote_free(ctx, list->paths);
    memset(list, 0, sizeof *list);
}

/* Whether the caller goes on without an input that cannot be read. */
static bool is_left_out(mote_context *ctx, const char *path, const mote_read_params *params, mote_status status) {
    const mote_read_sample *sample = params != NULL ? params->sample : NULL;
    if (sample == NULL || sample->failed == NULL || !mote_is_of_input(status)) return false;
    if (!sample->failed(sample->failed_user, path, status, mote_context_message(ctx))) return false;
    mote_context_clear(ctx);
    return true;
}

static mote_status read_and_merge(mote_context *ctx, const mote_input_list *list, const mote_read_params *params,
                                  mote_cloud **out) {
    mote_cloud **clouds = mote_alloc_zero(ctx, list->count * sizeof *clouds, "inputs");
    if (clouds == NULL) return MOTE_ERROR_MEMORY;
    mote_status status = MOTE_OK;
    mote_read_params to_host = params != NULL ? *params : mote_read_defaults();
    to_host.to_device = false;
    to_host.known = NULL;
    uint64_t kept = 0;
    for (uint64_t i = 0; i < list->count && status == MOTE_OK; i++) {
        status = mote_cloud_read(ctx, list->paths[i], &to_host, &clouds[kept]);
        if (status != MOTE_OK && is_left_out(ctx, list->paths[i], params, status)) {
            status = MOTE_OK;
            continue;
        }
        char *const path = list->paths[kept]; /* paths are in the order of the clouds */
        list->paths[kept++] = list->paths[i];
        list->paths[i] = path;
    }
    if (status == MOTE_OK && kept == 0) {
        status = mote_fail(ctx, MOTE_ERROR_DATA, "none of the %" PRIu64 " inputs can be read", list->count);
    }
    if (status == MOTE_OK) {
        status = mote_cloud_merge(ctx, clouds, (const char *const *)list->paths, (uint32_t)kept, out);
    }
    for (uint64_t i = 0; i < list->count; i++) mote_cloud_destroy(clouds[i]);
    mote_free(ctx, clouds);
    return status;
}

mote_status mote_cloud_read_many(mote_context *ctx, const char *const *paths, uint32_t path_count,
                                 const mote_read_params *params, mote_cloud **out) {
    mote_input_list list;
    *out = NULL;
    mote_status status = mote_inputs_find(ctx, paths, path_count, &list);
    if (status == MOTE_OK) {
        status = list.count == 1 ? mote_cloud_read(ctx, list.paths[0], params, out)
                                 : read_and_merge(ctx, &list, params, out);
    }
    mote_inputs_free(ctx, &list);
    return status;
}
