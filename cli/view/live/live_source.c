/* Where the clouds of a live view come from, and when there is a new one. */
#define _GNU_SOURCE /* st_mtim, strverscmp */
#include "view/live/live_source.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "text.h"

/* ---- states of files */

static uint64_t mix(uint64_t hash, uint64_t value) {
    hash = (hash ^ value) * UINT64_C(0x9E3779B97F4A7C15);
    return hash ^ hash >> 32;
}

static void add_file(const char *path, live_state *state) {
    struct stat info;
    if (stat(path, &info) != 0) {
        state->is_there = false;
        return;
    }
    for (const char *p = path; *p != '\0'; p++) state->hash = mix(state->hash, (unsigned char)*p);
    state->hash = mix(state->hash, (uint64_t)info.st_ino);
    state->hash = mix(state->hash, (uint64_t)info.st_size);
    state->hash = mix(state->hash, (uint64_t)info.st_mtim.tv_sec);
    state->hash = mix(state->hash, (uint64_t)info.st_mtim.tv_nsec);
    if (S_ISREG(info.st_mode) && info.st_size == 0) state->is_there = false; /* made, and not written yet */
}

/* ---- a folder of frames */

/* Files that are being written mostly have other endings, as .tmp or .part. */
static bool is_named_as_cloud(const char *name) {
    static const char *const endings[] = {".las", ".laz", ".ply", ".pcd", ".xyz",
                                          ".txt", ".csv", ".pts", ".ptx", ".asc"};
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
        if (text_has_ending(name, endings[i])) return name[0] != '.';
    }
    return false;
}

static bool is_frame(const char *folder, const char *name, char *path) {
    struct stat info;
    return is_named_as_cloud(name) && snprintf(path, PATH_MAX, "%s/%s", folder, name) < PATH_MAX &&
           stat(path, &info) == 0 && S_ISREG(info.st_mode) && info.st_size > 0;
}

/* frame_9 before frame_10. */
static bool is_later(const char *a, const char *b) { return b[0] == '\0' || strverscmp(a, b) > 0; }

static void find_newest(const char *folder, char newest[PATH_MAX]) {
    DIR *dir = opendir(folder);
    char path[PATH_MAX];
    newest[0] = '\0';
    if (dir == NULL) return;
    for (const struct dirent *entry = readdir(dir); entry != NULL; entry = readdir(dir)) {
        if (is_frame(folder, entry->d_name, path) && is_later(path, newest)) memcpy(newest, path, strlen(path) + 1);
    }
    closedir(dir);
}

/* ---- a source */

static live_state look(live_source *source) {
    live_state state = {.is_there = true};
    if (source->kind == LIVE_FOLDER) {
        find_newest(source->inputs[0], source->frame);
        if (source->frame[0] == '\0')
            state.is_there = false;
        else
            add_file(source->frame, &state);
    }
    for (int i = 0; source->kind == LIVE_FILES && i < source->input_count; i++) add_file(source->inputs[i], &state);
    return state;
}

/* Whether it is a folder that is no octree. */
static bool is_folder_of_frames(session *s, const char *path) {
    struct stat info;
    if (stat(path, &info) != 0 || !S_ISDIR(info.st_mode)) return false;
    const char *format = mote_file_format(s->ctx, path);
    mote_context_clear(s->ctx);
    return format == NULL || strcmp(format, "potree") != 0;
}

int live_source_open(session *s, const char *const *inputs, int count, live_source *source) {
    memset(source, 0, sizeof *source);
    source->inputs = inputs;
    source->input_count = count;
    for (int i = 0; i < count; i++) {
        if (strcmp(inputs[i], "-") == 0) return usage_error("view", "--live reads files and folders, no pipe");
    }
    if (count == 1 && is_folder_of_frames(s, inputs[0])) source->kind = LIVE_FOLDER;
    return EXIT_DONE;
}

bool live_source_has_news(live_source *source) {
    const live_state now = look(source), before = source->seen;
    source->seen = now;
    return now.is_there && now.hash != source->read.hash && now.hash == before.hash;
}

void live_source_take(live_source *source, const char *const **paths, int *count) {
    source->read = look(source);
    *count = source->kind == LIVE_FILES ? source->input_count : 1;
    source->frame_path = source->frame;
    *paths = source->kind == LIVE_FILES ? source->inputs : &source->frame_path;
}
