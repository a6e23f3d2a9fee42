/* Options of reading that mean something for some formats only. */
#define _GNU_SOURCE /* stat, glob */
#include "read_options.h"

#include <dirent.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

typedef struct read_option {
    unsigned bit;
    const char *name;
    const char *formats; /* names of mote_file_format and "copc", between spaces */
    const char *meant;   /* the same for people */
    bool of_each;        /* it chooses points, so every input must know it; otherwise one of them is enough */
} read_option;

static const read_option read_options[] = {
    {READ_LEVEL, "level", " potree ", "Potree folders", true},
    {READ_RESOLUTION, "resolution", " potree copc ", "COPC files and Potree folders", true},
    {READ_COLUMNS, "columns", " xyz ", "text", false},
    {READ_SEPARATOR, "separator", " xyz ", "text", false},
    {READ_SALVAGE, "salvage", " las copc ply pcd ptx e57 xyz ", "LAS, LAZ, PLY, PCD, PTX, E57 and text", false},
    {READ_POSES, "poses", " e57 ", "E57", false},
};

/* What was found of one option. */
typedef struct option_use {
    session *s;
    const read_option *option;
    bool knows;             /* an input that the option means something for, or whose format is not known */
    char ignores[PATH_MAX]; /* the first input that would ignore it; "" if there is none */
    const char *ignores_format;
} option_use;

static const char *format_title(const char *format) {
    static const char *const titles[][2] = {
        {"las", "LAS"}, {"copc", "COPC"}, {"ply", "PLY"},  {"pcd", "PCD"},
        {"ptx", "PTX"}, {"e57", "E57"},   {"xyz", "text"}, {"potree", "a Potree folder"}};
    for (size_t i = 0; i < sizeof titles / sizeof titles[0]; i++) {
        if (strcmp(format, titles[i][0]) == 0) return titles[i][1];
    }
    return format;
}

/* NULL where that is not known: a pipe is not looked into, and what is wrong with a file is said when it is read. */
static const char *format_of(session *s, const char *path, const struct stat *info) {
    if (!S_ISREG(info->st_mode) && !S_ISDIR(info->st_mode)) return NULL;
    mote_copc_facts facts = {.is_copc = false};
    const char *format = mote_file_format(s->ctx, path);
    mote_context_clear(s->ctx);
    if (format == NULL || strcmp(format, "las") != 0) return format;
    mote_copc_levels(s->ctx, path, NULL, 0, &facts);
    mote_context_clear(s->ctx);
    return facts.is_copc ? "copc" : format;
}

static void look_at_file(option_use *use, const char *path, const struct stat *info) {
    char word[32];
    const char *format = format_of(use->s, path, info);
    snprintf(word, sizeof word, " %s ", format != NULL ? format : "");
    if (format == NULL || strstr(use->option->formats, word) != NULL) {
        use->knows = true;
    } else if (use->ignores[0] == '\0') {
        snprintf(use->ignores, sizeof use->ignores, "%s", path);
        use->ignores_format = format;
    }
}

/* The files in a folder that is no Potree folder. */
static void look_into_folder(option_use *use, const char *path) {
    char inner[PATH_MAX];
    struct stat info;
    DIR *folder = opendir(path);
    if (folder == NULL) return;
    for (const struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder)) {
        if (snprintf(inner, sizeof inner, "%s/%s", path, entry->d_name) >= (int)sizeof inner) continue;
        if (stat(inner, &info) == 0 && S_ISREG(info.st_mode)) look_at_file(use, inner, &info);
    }
    closedir(folder);
}

static void look_at_input(option_use *use, const char *path) {
    struct stat info;
    if (stat(path, &info) != 0) {
        use->knows = true; /* said when it is read */
    } else if (S_ISDIR(info.st_mode) && format_of(use->s, path, &info) == NULL) {
        look_into_folder(use, path);
    } else {
        look_at_file(use, path, &info);
    }
}

bool parse_poses(const char *word, bool *keep) {
    const bool keeps = strcmp(word, "keep") == 0;
    if (keep != NULL) *keep = keeps;
    return keeps || strcmp(word, "apply") == 0;
}

int check_read_options(session *s, const char *const *inputs, int input_count, unsigned given) {
    for (size_t i = 0; i < sizeof read_options / sizeof read_options[0]; i++) {
        option_use use = {.s = s, .option = &read_options[i]};
        if ((given & use.option->bit) == 0) continue;
        for (int n = 0; n < input_count; n++) {
            glob_t matches;
            if (strpbrk(inputs[n], "*?[") == NULL || glob(inputs[n], GLOB_NOCHECK, NULL, &matches) != 0) {
                look_at_input(&use, inputs[n]);
                continue;
            }
            for (size_t k = 0; k < matches.gl_pathc; k++) look_at_input(&use, matches.gl_pathv[k]);
            globfree(&matches);
        }
        if (use.ignores[0] == '\0' || (use.knows && !use.option->of_each)) continue;
        return session_error(s, EXIT_USAGE, "--%s is for %s; %s is %s", use.option->name, use.option->meant,
                             use.ignores, format_title(use.ignores_format));
    }
    return EXIT_DONE;
}
