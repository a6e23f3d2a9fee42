#define _GNU_SOURCE /* realpath, renameat2, st_mtim */
#include "view/view_cache.h"

#include "view/view_data.h"
#include "view/view_octree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Part of the key: change it when the conversion or its defaults change, so that old results are not
   shown. */
#define CONVERSION_VERSION "lod-1 additive random default"
#define PREFIX_BYTES       80
#define NAME_BYTES         100

static uint64_t hash_text(const char *text) {
    return view_files_hash(UINT64_C(0xcbf29ce484222325), text, strlen(text));
}

static int cache_root(session *s, char *out, size_t size) {
    const char *xdg = getenv("XDG_CACHE_HOME");
    const char *home = getenv("HOME");
    int length = -1;
    /* The base directory specification: a relative XDG path is to be ignored. */
    if (xdg != NULL && xdg[0] == '/')
        length = snprintf(out, size, "%s/mote", xdg);
    else if (home != NULL && home[0] == '/')
        length = snprintf(out, size, "%s/.cache/mote", home);
    if (length < 0 || (size_t)length >= size) {
        return session_error(s, EXIT_FAILED,
                             "no place for the cache: neither XDG_CACHE_HOME nor HOME is an absolute path");
    }
    return 0;
}

/* mkdir -p, readable by the user alone: scans may be confidential. */
static int make_folders(session *s, char *path) {
    for (char *slash = strchr(path + 1, '/');; slash = strchr(slash + 1, '/')) {
        if (slash != NULL) *slash = '\0';
        if (mkdir(path, 0700) != 0 && errno != EEXIST) {
            const int code = errno == ENOSPC || errno == EDQUOT ? EXIT_RESOURCES : EXIT_FAILED;
            return session_error(s, code, "cannot create the cache folder %s: %s", path, strerror(errno));
        }
        if (slash == NULL) return 0;
        *slash = '/';
    }
}

/* What of the points is read, and in which system they are. */
static uint64_t hash_choice(uint64_t hash, const common_options *options) {
    const char *const texts[] = {options->where, options->crs, options->to_crs};
    const char ways[2] = {options->crs_ballpark, options->where_in == 1};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct stat info;
        if (texts[i] == NULL) continue;
        hash = view_files_hash(hash, texts[i], strlen(texts[i]) + 1);
        /* A system may be in a file, which is another one when that changes. */
        if (i > 0 && stat(texts[i], &info) == 0) hash = view_files_hash(hash, &info.st_mtim, sizeof info.st_mtim);
        hash = view_files_hash(hash, &i, sizeof i);
    }
    return ways[0] || ways[1] ? view_files_hash(hash, ways, sizeof ways) : hash;
}

/* "name-PATHHASH-": what all results of one path and choice have in common. The name is only for people. */
static void entry_prefix(const char *real, const common_options *options, char *out, size_t size) {
    const char *slash = strrchr(real, '/');
    char name[41];
    size_t n = 0;
    for (const char *p = slash + 1; *p != '\0' && n + 1 < sizeof name; p++) {
        const int is_plain = (*p >= '0' && *p <= '9') || (*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z');
        name[n++] = is_plain ? *p : '_';
    }
    name[n] = '\0';
    snprintf(out, size, "%s-%016" PRIx64 "-", name, hash_choice(hash_text(real), options));
}

static void remove_entry(const char *root, const char *name) {
    char path[PATH_MAX];
    if (snprintf(path, sizeof path, "%s/%s", root, name) < (int)sizeof path) view_folder_remove(path);
}

static void remove_outdated(const char *root, const char *prefix, const char *current) {
    DIR *folder = opendir(root);
    if (folder == NULL) return;
    for (const struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder)) {
        const char *name = entry->d_name;
        /* Same length: not the temporary folder of a conversion that another process is in the middle of. */
        if (strncmp(name, prefix, strlen(prefix)) == 0 && strlen(name) == strlen(current) && strcmp(name, current) != 0)
            remove_entry(root, name);
    }
    closedir(folder);
}

/* Whether an earlier conversion is there and opens: another program, or a disk, may have damaged it since. */
static bool is_whole(session *s, const char *folder, const char *metadata) {
    mote_potree_facts facts = {.points = 0};
    if (access(metadata, R_OK) != 0) return false;
    const bool opens = mote_potree_levels(s->ctx, folder, NULL, 0, &facts) == MOTE_OK;
    mote_context_clear(s->ctx);
    return opens;
}

/* Takes away a damaged entry, which the writer would not replace. Others convert the same file at the same time, and
   one of them may have finished since the entry was looked at: so it gets another name first, under which nobody
   changes it, is looked at again, and goes back where it is whole. The name is one of those that the writer tidies up
   after a kill. */
static void remove_damaged(session *s, const char *root, const char *name) {
    char aside_name[128], entry[PATH_MAX], aside[PATH_MAX], metadata[PATH_MAX];
    snprintf(aside_name, sizeof aside_name, "%s.%ld.old", name, (long)getpid());
    if (snprintf(entry, sizeof entry, "%s/%s", root, name) >= (int)sizeof entry ||
        snprintf(aside, sizeof aside, "%s/%s", root, aside_name) >= (int)sizeof aside ||
        snprintf(metadata, sizeof metadata, "%s/metadata.json", aside) >= (int)sizeof metadata ||
        rename(entry, aside) != 0) {
        return;
    }
    if (!is_whole(s, aside, metadata) || renameat2(AT_FDCWD, aside, AT_FDCWD, entry, RENAME_NOREPLACE) != 0) {
        remove_entry(root, aside_name);
    }
}

/* The folder of the octree, in the folder of the cache; name: of the entry, as people and other versions see it. */
static int find_folder(session *s, const char *real, view_cached *cached, char *root, char *prefix, char *name) {
    uint64_t state;
    int code = cache_root(s, root, PATH_MAX);
    if (code == EXIT_DONE) code = make_folders(s, root);
    if (code != EXIT_DONE) return code;
    if (!view_files_state(&cached->files, hash_text(CONVERSION_VERSION), &state)) {
        return session_error(s, EXIT_INPUT, "%s: cannot look at its files: %s", real, strerror(errno));
    }
    entry_prefix(real, &s->options, prefix, PREFIX_BYTES);
    snprintf(name, NAME_BYTES, "%s%016" PRIx64, prefix, state);
    const int length = snprintf(cached->folder, sizeof cached->folder, "%s/%s", root, name);
    if (length > 0 && (size_t)length < sizeof cached->folder) return EXIT_DONE;
    return session_error(s, EXIT_FAILED, "the path of the cache is too long: %s", root);
}

int view_cache_find(session *s, const char *input, view_cached *cached) {
    char real[PATH_MAX], root[PATH_MAX], metadata[PATH_MAX + 16], prefix[PREFIX_BYTES], name[NAME_BYTES];
    if (realpath(input, real) == NULL) {
        return session_error(s, EXIT_INPUT, "%s: cannot open: %s", input, strerror(errno));
    }
    const char *slash = strrchr(real, '/');
    snprintf(cached->title, sizeof cached->title, "%.*s", NAME_MAX, slash[1] != '\0' ? slash + 1 : real);
    int code = view_files_find(s, input, &cached->files);
    if (code == EXIT_DONE) code = find_folder(s, real, cached, root, prefix, name);
    if (code != EXIT_DONE) return code;
    snprintf(metadata, sizeof metadata, "%s/metadata.json", cached->folder);
    cached->is_made = is_whole(s, cached->folder, metadata);
    if (cached->is_made) return EXIT_DONE;
    remove_damaged(s, root, name);
    cached->is_made = is_whole(s, cached->folder, metadata);
    if (!cached->is_made) remove_outdated(root, prefix, name);
    return EXIT_DONE;
}

int view_cache_make(session *s, view_cached *cached) {
    if (cached->is_made) return EXIT_DONE;
    const int code = view_octree_make(s, &cached->files, cached->title, cached->folder);
    cached->is_made = code == EXIT_DONE;
    return code;
}

void view_cache_free(view_cached *cached) { view_files_free(&cached->files); }
