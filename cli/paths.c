/* The inputs and the output of a command, and what can go wrong with them before any work is done. */
#define _GNU_SOURCE /* realpath, glob */
#include "paths.h"

#include <dirent.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "stage.h"
#include "text.h"

/* Formats that people will ask for and that are not here yet. */
typedef struct missing_format {
    const char *ending, *name;
} missing_format;
static const missing_format missing_formats[] = {
    {".ptx", "PTX"}, {".zlas", "zLAS"}, {".npz", "NPZ"}, {".gltf", "glTF"}, {".glb", "glTF"}};

static bool same_file(const char *a, const char *b) {
    struct stat info_a, info_b;
    return stat(a, &info_a) == 0 && stat(b, &info_b) == 0 && info_a.st_dev == info_b.st_dev &&
           info_a.st_ino == info_b.st_ino;
}

static bool is_folder(const char *path) {
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

/* What is in a folder that is to become a Potree folder. */
typedef struct folder_content {
    int own;           /* of the three files that each Potree folder has */
    char foreign[256]; /* the first other name; "" if there is none */
} folder_content;

static bool look_into_folder(const char *path, folder_content *content) {
    static const char *const own[] = {"metadata.json", "hierarchy.bin", "octree.bin", "inputs.json"};
    DIR *folder = opendir(path);
    content->own = 0;
    content->foreign[0] = '\0';
    if (folder == NULL) return false;
    for (const struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder)) {
        const char *name = entry->d_name;
        bool known = strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
        for (int i = 0; i < 4; i++) {
            if (strcmp(name, own[i]) != 0) continue;
            content->own += i < 3; /* a set may lack the last */
            known = true;
        }
        if (known || (content->foreign[0] != '\0' && strcmp(name, content->foreign) > 0)) continue;
        snprintf(content->foreign, sizeof content->foreign, "%s", name);
    }
    closedir(folder);
    return true;
}

/* An empty folder holds nothing that could be lost. */
static bool is_empty_folder(const char *path) {
    folder_content content;
    return look_into_folder(path, &content) && content.own == 0 && content.foreign[0] == '\0';
}

static bool is_stdout(const char *path) {
    static const char *const names[] = {"-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(path, names[i]) == 0) return true;
    }
    return false;
}

/* Names of what the caller has opened, which may be a file that its shell made. */
static bool is_opened(const char *path) {
    return is_stdout(path) || strcmp(path, "/dev/stderr") == 0 || strncmp(path, "/dev/fd/", 8) == 0 ||
           strncmp(path, "/proc/self/fd/", 14) == 0;
}

bool path_is_stream(const char *path) {
    struct stat info;
    return is_opened(path) || (stat(path, &info) == 0 && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode));
}

const char *path_title(const char *output) { return strcmp(output, "-") == 0 ? "standard output" : output; }

/* Whether writing to path would replace what is there: a pipe or a device is only written to. */
static bool would_replace(const char *path) {
    struct stat info;
    return !path_is_stream(path) && stat(path, &info) == 0 && !is_empty_folder(path);
}

/* The folder that path lies in, without a trailing slash in path counting. */
static void parent_folder(const char *path, char *parent) {
    size_t length = strlen(path);
    while (length > 1 && path[length - 1] == '/') length--;
    while (length > 0 && path[length - 1] != '/') length--;
    if (length == 0) {
        strcpy(parent, ".");
    } else {
        snprintf(parent, PATH_MAX, "%.*s", (int)length, path);
    }
}

/* Calls clash(input, output) for the input, and for what it matches if it is a pattern. */
static bool any_clash(const char *input, const char *output, bool (*clash)(const char *input, const char *output)) {
    if (clash(input, output)) return true;
    if (strpbrk(input, "*?[") == NULL) return false;
    glob_t matches;
    bool found = false;
    if (glob(input, 0, NULL, &matches) == 0) {
        for (size_t i = 0; i < matches.gl_pathc; i++) found |= clash(matches.gl_pathv[i], output);
        globfree(&matches);
    }
    return found;
}

/* An existing output in an input folder would be read, then replaced. */
static bool file_clashes(const char *input, const char *output) {
    if (same_file(input, output)) return true;
    char parent[PATH_MAX];
    parent_folder(output, parent);
    struct stat info;
    return is_folder(input) && same_file(input, parent) && stat(output, &info) == 0;
}

static bool folder_clashes(const char *input, const char *output) {
    /* Whether the input is the folder, or lies somewhere below it. */
    char a[PATH_MAX], b[PATH_MAX];
    if (realpath(input, a) == NULL || realpath(output, b) == NULL) return false;
    const size_t length = strlen(b);
    return strncmp(a, b, length) == 0 && (a[length] == '\0' || a[length] == '/' || strcmp(b, "/") == 0);
}

static int check_parent(session *s, const char *output) {
    char parent[PATH_MAX];
    if (strlen(output) >= PATH_MAX) return session_error(s, EXIT_FAILED, "%s: the path is too long", output);
    parent_folder(output, parent);
    if (is_folder(parent)) return EXIT_DONE;
    return session_error(s, EXIT_FAILED, "%s: there is no folder %s", output, parent);
}

#define FORMATS "las, laz, ply, pcd, e57, xyz, csv, txt, pts or asc"

/* The ending that names the format: ".las" of --format las. */
static const char *written_ending(const io_paths *paths, char ending[32]) {
    if (paths->format == NULL) return paths->output;
    snprintf(ending, 32, ".%s", paths->format);
    return ending;
}

const char *io_paths_format(const io_paths *paths) {
    char ending[32];
    const bool odd = paths->format != NULL && strchr(paths->format, '.') != NULL;
    return odd ? NULL : mote_ending_format(written_ending(paths, ending));
}

bool io_paths_written_as(const io_paths *paths, const char *ending) {
    char own[32];
    return text_has_ending(written_ending(paths, own), ending);
}

static int check_named_format(session *s, const io_paths *paths) {
    const char *format = paths->format;
    if (io_paths_format(paths) != NULL) return EXIT_DONE;
    if (io_paths_written_as(paths, ".copc") || io_paths_written_as(paths, ".copc.laz")) {
        return session_error(s, EXIT_USAGE, "--format: COPC holds an octree: \"mote lod\" makes it");
    }
    return session_error(s, EXIT_USAGE, "--format: \"%s\" is not one of " FORMATS, format);
}

/* Refuses an ending that names no format that mote writes; called where --format does not name one. */
static int check_ending(session *s, const char *output) {
    if (text_has_ending(output, ".copc.laz") || text_has_ending(output, ".copc")) {
        return session_error(s, EXIT_USAGE, "%s: COPC holds an octree: \"mote lod IN OUT.copc.laz\" makes it", output);
    }
    for (size_t i = 0; i < sizeof missing_formats / sizeof missing_formats[0]; i++) {
        if (text_has_ending(output, missing_formats[i].ending)) {
            return session_error(s, EXIT_FAILED,
                                 "%s: %s is not supported yet; mote writes .las, .laz, .ply, .pcd, .e57, .xyz and .csv",
                                 output, missing_formats[i].name);
        }
    }
    if (mote_ending_format(output) != NULL) return EXIT_DONE;
    if (output[0] == '-' && output[1] != '\0') {
        return session_error(s, EXIT_USAGE, "%s: words behind \"--\" are names, so this would be the output", output);
    }
    if (path_is_stream(output)) {
        return session_error(s, EXIT_USAGE, "%s: which format? --format " FORMATS, path_title(output));
    }
    static const char *const endings[] = {".las", ".laz", ".ply", ".pcd", ".e57", ".xyz",
                                          ".csv", ".txt", ".pts", ".asc", NULL};
    const char *dot = strrchr(output, '.'), *near = dot != NULL ? text_nearest(dot, endings) : NULL;
    return session_error(
        s, EXIT_USAGE, "%s: the ending names no format that mote writes (.las .laz .ply .pcd .e57 .xyz .csv)%s%s%s",
        output, near != NULL ? "; did you mean \"" : "", near != NULL ? near : "", near != NULL ? "\"?" : "");
}

/* ---- inputs and output */

static bool is_pattern(const char *word) { return strpbrk(word, "*?") != NULL && access(word, F_OK) != 0; }

int io_paths_take(const char *command, const common_options *common, const arguments *words, bool output_optional,
                  io_paths *paths) {
    const bool by_option = common->output != NULL, alone = words->count == 1 && !by_option;
    const io_paths all = {words->words, words->count, common->output, common->format, true};
    *paths = all;
    for (int i = 0; i < words->count - (by_option || alone ? 0 : 1); i++) {
        if (words->words[i][0] == '\0') return usage_error(command, "an input has no name");
    }
    if (words->count == 0 && by_option) {
        return usage_error(command, "%s needs an input; -o names the output, %s", command, common->output);
    }
    if (words->count == 0) {
        return usage_error(command, "%s needs %s", command,
                           output_optional ? "one or more inputs" : "one or more inputs and an output");
    }
    if (alone && !output_optional) {
        return usage_error(command, "%s needs an output, too: name it behind %s, or anywhere with -o OUT", command,
                           words->words[0]);
    }
    if (alone && common->format != NULL) return usage_error(command, "--format is of the output, and there is none");
    if (alone && common->force) return usage_error(command, "--force is of the output, and there is none");
    if (by_option || alone) return EXIT_DONE;
    paths->input_count = words->count - 1;
    paths->output = words->words[paths->input_count];
    paths->may_replace = common->force;
    if (!is_pattern(paths->output)) return EXIT_DONE;
    return usage_error(command, "%s: no file matches it, and the last name is the output; name that with -o OUT",
                       paths->output);
}

/* ---- inputs that are one file */

typedef struct seen_input {
    dev_t device;
    ino_t inode;
    uint64_t place; /* among the inputs */
    char *path;
} seen_input;

typedef struct seen_inputs {
    seen_input *list;
    uint64_t count, capacity;
} seen_inputs;

/* What cannot be looked at is said when it is read, and a pipe gives its points to who reads first. */
static bool see_input(void *user, const char *path) {
    seen_inputs *seen = user;
    struct stat info;
    if (strcmp(path, "-") == 0 || stat(path, &info) != 0 || !(S_ISREG(info.st_mode) || S_ISDIR(info.st_mode))) {
        return true;
    }
    if (seen->count == seen->capacity) {
        const uint64_t capacity = seen->capacity > 0 ? 2 * seen->capacity : 16;
        seen_input *more = realloc(seen->list, capacity * sizeof *more);
        if (more == NULL) return false;
        seen->list = more;
        seen->capacity = capacity;
    }
    char *copy = strdup(path);
    if (copy == NULL) return false;
    seen->list[seen->count] = (seen_input){info.st_dev, info.st_ino, seen->count, copy};
    seen->count++;
    return true;
}

static int by_inode(const void *a, const void *b) {
    const seen_input *x = a, *y = b;
    if (x->device != y->device) return x->device < y->device ? -1 : 1;
    if (x->inode != y->inode) return x->inode < y->inode ? -1 : 1;
    return x->place < y->place ? -1 : x->place > y->place;
}

void note_same_inputs(session *s, const io_paths *paths) {
    seen_inputs seen = {.list = NULL};
    if (stage_now() != NULL) return; /* its inputs are other stages */
    if (mote_inputs_each(s->ctx, paths->inputs, (uint32_t)paths->input_count, see_input, &seen) != MOTE_OK) {
        mote_context_clear(s->ctx); /* said when they are read */
    }
    if (seen.count > 1) qsort(seen.list, seen.count, sizeof *seen.list, by_inode);
    for (uint64_t i = 1; i < seen.count; i++) {
        const seen_input *a = &seen.list[i - 1], *b = &seen.list[i];
        if (a->device != b->device || a->inode != b->inode) continue;
        session_note(s, "%s and %s are one file: its points are there twice", a->path, b->path);
        break;
    }
    for (uint64_t i = 0; i < seen.count; i++) free(seen.list[i].path);
    free(seen.list);
}

/* ---- the output */

static int check_replaces(session *s, const io_paths *paths) {
    if (paths->may_replace || !would_replace(paths->output)) return EXIT_DONE;
    return session_error(s, EXIT_USAGE,
                         "%s: exists, and is not replaced. If it is an input, name the output with -o OUT; to replace "
                         "it, -o %s or --force",
                         paths->output, paths->output);
}

int check_output_file(session *s, const io_paths *paths) {
    if (stage_hands_on()) return EXIT_DONE;
    int code = check_output_place(s, paths);
    if (code == EXIT_DONE) code = paths->format != NULL ? check_named_format(s, paths) : check_ending(s, paths->output);
    if (code == EXIT_DONE && s->options.hash && path_is_stream(paths->output)) {
        return session_error(s, EXIT_USAGE, "--hash reads the output again, which %s does not allow",
                             path_title(paths->output));
    }
    return code;
}

int check_output_place(session *s, const io_paths *paths) {
    const char *output = paths->output;
    if (output[0] == '\0') return session_error(s, EXIT_USAGE, "the output has no name");
    if (is_stdout(output)) s->data_on_stdout = true;
    if (path_is_stream(output)) return EXIT_DONE;
    if (is_folder(output)) {
        return session_error(s, EXIT_FAILED, "%s: is a folder; the output is a file%s", output,
                             paths->may_replace ? "" : ", named last or with -o OUT");
    }
    for (int i = 0; i < paths->input_count; i++) {
        if (any_clash(paths->inputs[i], output, file_clashes)) {
            return session_error(s, EXIT_USAGE, "%s: the output is also an input (%s)", output, paths->inputs[i]);
        }
    }
    const int code = check_replaces(s, paths);
    return code == EXIT_DONE ? check_parent(s, output) : code;
}

/* ---- several outputs */

#define LINKS_MAX 40 /* as the system follows */

/* Where a name leads: links are followed, also to what does not exist yet. */
static bool resolve(const char *path, char out[PATH_MAX]) {
    char at[PATH_MAX], target[PATH_MAX], parent[PATH_MAX], joined[2 * PATH_MAX];
    if (snprintf(at, sizeof at, "%s", path) >= (int)sizeof at) return false;
    for (size_t end = strlen(at); end > 1 && at[end - 1] == '/'; end--) at[end - 1] = '\0'; /* of a folder to be made */
    for (int links = 0; links < LINKS_MAX; links++) {
        if (realpath(at, out) != NULL) return true;
        parent_folder(at, parent);
        const ssize_t length = readlink(at, target, sizeof target - 1);
        if (length < 0) break;
        target[length] = '\0';
        const int joined_length = snprintf(joined, sizeof joined, "%s/%s", parent, target);
        if (target[0] == '/') {
            memcpy(at, target, (size_t)length + 1);
        } else if (joined_length < PATH_MAX) {
            memcpy(at, joined, (size_t)joined_length + 1);
        } else {
            return false;
        }
    }
    const char *slash = strrchr(at, '/'), *name = slash != NULL ? slash + 1 : at;
    char real[PATH_MAX];
    if (realpath(parent, real) == NULL) return false;
    return snprintf(out, PATH_MAX, "%s/%s", real, name) < PATH_MAX;
}

/* What is written to without being used up, like /dev/null, can be named twice. */
static bool is_device(const char *path) {
    struct stat info;
    return stat(path, &info) == 0 && S_ISCHR(info.st_mode);
}

static bool is_one_place(const char *a, const char *b) {
    char real_a[PATH_MAX], real_b[PATH_MAX];
    if (is_stdout(a)) a = "/dev/stdout";
    if (is_stdout(b)) b = "/dev/stdout";
    if (is_device(a) && !is_stdout(a)) return false;
    return strcmp(a, b) == 0 || same_file(a, b) ||
           (resolve(a, real_a) && resolve(b, real_b) && strcmp(real_a, real_b) == 0);
}

int check_distinct(session *s, const named_file *files, size_t count) {
    for (size_t i = 1; i < count; i++) {
        for (size_t k = 0; k < i; k++) {
            const named_file *a = &files[k], *b = &files[i];
            if (a->path == NULL || b->path == NULL || (a->is_input && b->is_input)) continue;
            if (!is_one_place(a->path, b->path)) continue;
            if (!a->is_input && !b->is_input) {
                return session_error(s, EXIT_USAGE, "%s: two outputs have this name: %s and %s", path_title(b->path),
                                     a->option, b->option);
            }
            return session_error(s, EXIT_USAGE, "%s: the output (%s) is also an input (%s)", path_title(b->path),
                                 a->is_input ? b->option : a->option, a->is_input ? a->option : b->option);
        }
    }
    return EXIT_DONE;
}

/* ---- folders */

/* Endings of files, which a folder would be mistaken for. */
static const char *const file_endings[] = {".las", ".laz",  ".copc", ".ply",  ".pcd",  ".ptx", ".pts", ".xyz", ".txt",
                                           ".csv", ".asc",  ".e57",  ".zlas", ".npz",  ".npy", ".zip", ".gz",  ".tar",
                                           ".obj", ".gltf", ".glb",  ".json", ".html", ".tif", ".png", ".bin", ".dxf"};

static int check_folder_name(session *s, const char *output) {
    for (size_t i = 0; i < sizeof file_endings / sizeof file_endings[0]; i++) {
        if (!text_has_ending(output, file_endings[i])) continue;
        const char *slash = strrchr(output, '/'), *base = slash != NULL ? slash + 1 : output;
        const int stem = (int)(strlen(output) - strlen(file_endings[i]));
        if (output + stem == base) continue; /* a folder called ".las" */
        return session_error(s, EXIT_USAGE,
                             "%s: lod makes a folder or COPC; did you mean %.*s.copc.laz? A folder has no such ending",
                             output, stem, output);
    }
    return EXIT_DONE;
}

/* A folder with anything else in it is not replaced: better said before the work than after it. */
static int check_folder_content(session *s, const char *output) {
    folder_content content;
    struct stat info;
    if (stat(output, &info) != 0) return EXIT_DONE;
    if (!S_ISDIR(info.st_mode)) {
        return session_error(s, EXIT_FAILED, "%s: is there already and is no folder; it is left alone", output);
    }
    if (!look_into_folder(output, &content)) {
        return session_error(s, EXIT_FAILED, "%s: cannot look into the folder; it is left alone", output);
    }
    if (content.foreign[0] != '\0') {
        return session_error(s, EXIT_FAILED, "%s: holds %s, which is not of a Potree folder; it is left alone", output,
                             content.foreign);
    }
    if (content.own == 0 || content.own == 3) return EXIT_DONE;
    return session_error(s, EXIT_FAILED, "%s: is no whole Potree folder; it is left alone", output);
}

int check_output_folder(session *s, const io_paths *paths) {
    const char *output = paths->output;
    if (output[0] == '\0') return session_error(s, EXIT_USAGE, "the output has no name");
    if (path_is_stream(output)) {
        return session_error(s, EXIT_USAGE, "%s: a Potree data set is a folder; --format copc writes COPC there",
                             path_title(output));
    }
    for (int i = 0; i < paths->input_count; i++) {
        if (any_clash(paths->inputs[i], output, folder_clashes)) {
            return session_error(s, EXIT_USAGE, "%s: the output is an input or contains one (%s)", output,
                                 paths->inputs[i]);
        }
    }
    int code = check_replaces(s, paths);
    if (code == EXIT_DONE) code = check_folder_name(s, output);
    if (code == EXIT_DONE) code = check_folder_content(s, output);
    return code == EXIT_DONE ? check_parent(s, output) : code;
}
