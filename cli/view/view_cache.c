#define _GNU_SOURCE /* realpath, renameat2, st_mtim */
#include "view/view_cache.h"

#include "view/view_data.h"

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

/* Converts input with default options into out_dir, which does not exist yet and appears only when it is complete. */
static int convert(session *s, const char *input, const char *out_dir) {
    const char *slash = strrchr(input, '/');
    mote_potree_params params = mote_potree_defaults();
    mote_cloud *cloud = NULL;
    mote_lod_params building = mote_lod_defaults();
    mote_lod *lod = NULL;
    building.on_device = true; /* only the writer needs it */
    params.name = slash != NULL ? slash + 1 : input;
    int code = session_read(s, &input, 1, NULL, &cloud);
    if (code == EXIT_DONE) {
        mote_status status = mote_lod_build(s->ctx, cloud, &building, &lod);
        if (status == MOTE_OK) status = mote_potree_write(s->ctx, lod, out_dir, &params, NULL);
        if (status != MOTE_OK) code = session_fail(s, status, false);
    }
    mote_lod_destroy(lod);
    mote_cloud_destroy(cloud);
    session_forget_inputs(s); /* input is the caller's */
    return code;
}

static uint64_t fnv1a(uint64_t hash, const void *data, size_t bytes) {
    const unsigned char *p = data;
    for (size_t i = 0; i < bytes; i++) hash = (hash ^ p[i]) * UINT64_C(0x100000001b3);
    return hash;
}

static uint64_t hash_text(const char *text) { return fnv1a(UINT64_C(0xcbf29ce484222325), text, strlen(text)); }

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
        hash = fnv1a(hash, texts[i], strlen(texts[i]) + 1);
        /* A system may be in a file, which is another one when that changes. */
        if (i > 0 && stat(texts[i], &info) == 0) hash = fnv1a(hash, &info.st_mtim, sizeof info.st_mtim);
        hash = fnv1a(hash, &i, sizeof i);
    }
    return ways[0] || ways[1] ? fnv1a(hash, ways, sizeof ways) : hash;
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

static uint64_t state_hash(const struct stat *info) {
    const int64_t state[3] = {info->st_size, info->st_mtim.tv_sec, info->st_mtim.tv_nsec};
    return fnv1a(hash_text(CONVERSION_VERSION), state, sizeof state);
}

/* Removes exactly what a conversion writes; a folder that holds anything else stays. */
static void remove_entry(const char *root, const char *name) {
    static const char *const files[] = VIEW_FOLDER_FILES;
    char path[PATH_MAX];
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        if (snprintf(path, sizeof path, "%s/%s/%s", root, name, files[i]) < (int)sizeof path) unlink(path);
    }
    if (snprintf(path, sizeof path, "%s/%s", root, name) < (int)sizeof path) rmdir(path);
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

int view_convert_to_cache(session *s, const char *input, char *out_dir, size_t out_size) {
    char real[PATH_MAX];
    char root[PATH_MAX];
    char prefix[80];
    char name[100];
    char metadata[PATH_MAX];
    struct stat info;
    if (realpath(input, real) == NULL || stat(real, &info) != 0) {
        return session_error(s, EXIT_INPUT, "%s: cannot open: %s", input, strerror(errno));
    }
    int code = cache_root(s, root, sizeof root);
    if (code == 0) code = make_folders(s, root);
    if (code != 0) return code;
    entry_prefix(real, &s->options, prefix, sizeof prefix);
    snprintf(name, sizeof name, "%s%016" PRIx64, prefix, state_hash(&info));
    const int length = snprintf(out_dir, out_size, "%s/%s", root, name);
    if (length < 0 || (size_t)length >= out_size ||
        snprintf(metadata, sizeof metadata, "%s/metadata.json", out_dir) >= (int)sizeof metadata) {
        return session_error(s, EXIT_FAILED, "the path of the cache is too long: %s", root);
    }
    if (is_whole(s, out_dir, metadata)) return 0;
    remove_damaged(s, root, name);
    if (is_whole(s, out_dir, metadata)) return 0;
    remove_outdated(root, prefix, name);
    return convert(s, real, out_dir);
}
