/* Where the clouds of a live view come from, and when there is a new one. */
#define _GNU_SOURCE /* st_mtim, strverscmp */
#include "view/live/live_source.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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
    static const char *const endings[] = {".las", ".laz", ".ply", ".pcd", ".xyz", ".txt",
                                          ".csv", ".pts", ".ptx", ".asc", ".e57"};
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
        if (text_has_ending(name, endings[i])) return name[0] != '.';
    }
    return false;
}

static bool is_frame(const char *folder, const char *name, char *path) {
    struct stat info;
    return is_named_as_cloud(name) && snprintf(path, LIVE_PATH_MAX, "%s/%s", folder, name) < LIVE_PATH_MAX &&
           stat(path, &info) == 0 && S_ISREG(info.st_mode) && info.st_size > 0;
}

/* frame_9 before frame_10. */
static bool is_later(const char *a, const char *b) { return b[0] == '\0' || strverscmp(a, b) > 0; }

static void find_newest(const char *folder, char newest[LIVE_PATH_MAX]) {
    DIR *dir = opendir(folder);
    char path[LIVE_PATH_MAX];
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

/* Whether it is standard input, or a pipe by name. */
static bool is_pipe(const char *path) {
    struct stat info;
    return strcmp(path, "-") == 0 || (stat(path, &info) == 0 && S_ISFIFO(info.st_mode));
}

static int open_pipe(session *s, live_source *source) {
    const char *path = source->inputs[0];
    source->kind = LIVE_PIPE;
    source->pipe = live_pipe_open(path);
    if (source->pipe != NULL) return EXIT_DONE;
    return session_error(s, EXIT_INPUT, "%s: cannot open: %s", path, strerror(errno));
}

int live_source_open(session *s, const char *const *inputs, int count, const char *scene, uint64_t photons,
                     live_source *source) {
    memset(source, 0, sizeof *source);
    source->inputs = inputs;
    source->input_count = count;
    if (scene != NULL) {
        source->kind = LIVE_PHOTONS;
        source->input_count = 0;
        return live_photons_open(s, scene, photons, &source->photons);
    }
    for (int i = 0; i < count && count > 1; i++) {
        if (is_pipe(inputs[i])) return usage_error("view", "--live reads one pipe of frames, and nothing beside it");
    }
    if (is_pipe(inputs[0])) return open_pipe(s, source);
    if (count == 1 && is_folder_of_frames(s, inputs[0])) source->kind = LIVE_FOLDER;
    return EXIT_DONE;
}

void live_source_close(live_source *source) {
    live_pipe_close(source->pipe);
    live_photons_close(source->photons);
    source->pipe = NULL;
    source->photons = NULL;
}

double live_source_interval_s(const live_source *source) {
    return source->kind == LIVE_PIPE || source->kind == LIVE_PHOTONS ? 0.01 : 0.1;
}

bool live_source_has_news(live_source *source) {
    if (source->kind == LIVE_PIPE) return live_pipe_has_news(source->pipe);
    if (source->kind == LIVE_PHOTONS) return live_photons_has_more(source->photons);
    const live_state now = look(source), before = source->seen;
    source->seen = now;
    return now.is_there && now.hash != source->read.hash && now.hash == before.hash;
}

/* ---- reading */

static int read_paths(session *s, const char *const *paths, int count, mote_cloud **out) {
    const mote_read_params reading = session_reading(s);
    return session_read(s, paths, count, &reading, out);
}

static int read_frame(live_source *source, session *s, mote_cloud **out, char *name, size_t size) {
    char path[40];
    uint64_t number;
    const int file = live_pipe_take(source->pipe, &number);
    const char *const paths[] = {path};
    snprintf(name, size, "Frame %" PRIu64, number);
    if (file < 0) return session_error(s, EXIT_RESOURCES, "out of memory");
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    const int code = read_paths(s, paths, 1, out);
    close(file);
    return code;
}

static int read_photons(live_source *source, session *s, mote_cloud **out, char *name, size_t size) {
    const mote_status status = live_photons_fly(source->photons, s->ctx, out, name, size);
    return status == MOTE_OK ? EXIT_DONE : session_fail(s, status, false);
}

/* The file that was read, or the first of several; NULL: there is none. */
static const char *path_of(const live_source *source) {
    if (source->kind == LIVE_FOLDER) return source->frame;
    return source->kind == LIVE_FILES ? source->inputs[0] : NULL;
}

picture_up live_source_up(live_source *source, session *s, const mote_cloud *cloud, const mote_box *box) {
    const bool is_scene = source->kind == LIVE_PHOTONS; /* those that are built in have z up */
    if (!source->knows_up && !is_scene) source->up = picture_up_search(s, cloud, box, path_of(source));
    if (!source->knows_up && is_scene) source->up = (picture_up){{0, 0, 1}, UP_CUSTOM};
    source->knows_up = true;
    return source->up;
}

int live_source_read(live_source *source, session *s, mote_cloud **out, char *name, size_t size) {
    if (source->kind == LIVE_PIPE) return read_frame(source, s, out, name, size);
    if (source->kind == LIVE_PHOTONS) return read_photons(source, s, out, name, size);
    /* The state is looked at before it is read, so that a change meanwhile is news again. */
    source->read = look(source);
    const char *const first[] = {path_of(source)};
    if (first[0] == NULL) return session_error(s, EXIT_INPUT, "there is nothing to read");
    const char *slash = strrchr(first[0], '/');
    snprintf(name, size, "%s", slash != NULL && slash[1] != '\0' ? slash + 1 : first[0]);
    return read_paths(s, source->kind == LIVE_FOLDER ? first : source->inputs,
                      source->kind == LIVE_FOLDER ? 1 : source->input_count, out);
}

void live_source_trouble(live_source *source, char *why, size_t size) {
    why[0] = '\0';
    if (source->pipe != NULL) live_pipe_trouble(source->pipe, why, size);
}
