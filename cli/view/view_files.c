#define _GNU_SOURCE /* strdup, st_mtim */
#include "view/view_files.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static bool add_file(void *user, const char *path) {
    view_files *files = user;
    if (files->count == files->capacity) {
        const size_t capacity = files->capacity > 0 ? 2 * files->capacity : 16;
        char **paths = realloc(files->paths, capacity * sizeof *paths);
        if (paths == NULL) return false;
        files->paths = paths;
        files->capacity = capacity;
    }
    files->paths[files->count] = strdup(path);
    return files->paths[files->count] != NULL && ++files->count > 0;
}

int view_files_find(session *s, const char *input, view_files *files) {
    struct stat info;
    files->is_folder = stat(input, &info) == 0 && S_ISDIR(info.st_mode);
    const mote_status status = mote_inputs_each(s->ctx, &input, 1, add_file, files);
    if (status == MOTE_CANCELLED) return session_error(s, EXIT_RESOURCES, "out of memory: the files of %s", input);
    return status == MOTE_OK ? EXIT_DONE : session_fail(s, status, true);
}

void view_files_free(view_files *files) {
    for (size_t i = 0; i < files->count; i++) free(files->paths[i]);
    free(files->paths);
    memset(files, 0, sizeof *files);
}

bool view_files_drop(session *s, view_files *files, const char *path, const char *why) {
    size_t at = 0;
    while (at < files->count && strcmp(files->paths[at], path) != 0) at++;
    if (!files->is_folder || at == files->count) return false;
    session_say(s, "warning: left out: %s", why);
    if (files->told != NULL) files->told(files->told_user, why);
    free(files->paths[at]);
    files->count--;
    memmove(files->paths + at, files->paths + at + 1, (files->count - at) * sizeof *files->paths);
    return true;
}

uint64_t view_files_hash(uint64_t hash, const void *data, size_t size) {
    const unsigned char *p = data;
    for (size_t i = 0; i < size; i++) hash = (hash ^ p[i]) * UINT64_C(0x100000001b3);
    return hash;
}

static uint64_t hash_number(uint64_t hash, int64_t number) { return view_files_hash(hash, &number, sizeof number); }

static uint64_t hash_state(uint64_t hash, const struct stat *info) {
    return hash_number(hash_number(hash_number(hash, info->st_size), info->st_mtim.tv_sec), info->st_mtim.tv_nsec);
}

bool view_files_state(const view_files *files, uint64_t seed, uint64_t *state) {
    *state = seed;
    for (size_t i = 0; i < files->count; i++) {
        struct stat info;
        if (stat(files->paths[i], &info) != 0) return false;
        const char *slash = strrchr(files->paths[i], '/'), *name = slash != NULL ? slash + 1 : files->paths[i];
        if (files->is_folder) *state = view_files_hash(*state, name, strlen(name) + 1);
        *state = hash_state(*state, &info);
    }
    return true;
}
