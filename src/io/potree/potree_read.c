/* mote_potree_read: a Potree 2.0 folder, of mote or of anyone, as a cloud. */
#define _GNU_SOURCE /* stat */
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/potree/potree.h"

#define METADATA "metadata.json"

static bool is_folder(const char *path) {
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

/* Bytes of the folder's part of path, with the slash: what the names of the files are appended to. */
static size_t folder_bytes(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash != NULL ? (size_t)(slash - path) + 1 : 0;
}

bool mote_potree_probe(const char *path) {
    if (mote_is_dash(path)) return false;
    if (!is_folder(path)) return strcmp(path + folder_bytes(path), METADATA) == 0;
    char name[4096];
    const int length = snprintf(name, sizeof name, "%s/" METADATA, path);
    return length > 0 && (size_t)length < sizeof name && access(name, F_OK) == 0;
}

mote_status potree_parse(mote_context *ctx, const potree_files *files, const mote_read_params *params,
                         mote_cloud **out) {
    potree_layout layout;
    potree_node *nodes = NULL;
    uint32_t count = 0;
    *out = NULL;
    mote_status status = potree_layout_parse(ctx, files, &layout);
    if (status == MOTE_OK) status = potree_nodes_read(&layout, &nodes, &count);
    if (status == MOTE_OK) status = potree_filter(&layout, params, nodes, &count);
    if (status == MOTE_OK) status = potree_decode(&layout, nodes, count, out);
    mote_free(ctx, nodes);
    potree_layout_free(&layout);
    return status;
}

mote_status potree_with_files(mote_context *ctx, const char *path, potree_use use, void *user) {
    static const char *const names[3] = {METADATA, "hierarchy.bin", "octree.bin"};
    potree_files files;
    mote_input *inputs[3] = {&files.metadata, &files.hierarchy, &files.octree};
    char *paths[3] = {NULL, NULL, NULL};
    memset(&files, 0, sizeof files);
    const bool folder = is_folder(path);
    const size_t length = folder ? strlen(path) : folder_bytes(path), size_bytes = length + 32;
    mote_status status = MOTE_OK;
    for (int f = 0; f < 3 && status == MOTE_OK; f++) {
        paths[f] = mote_alloc(ctx, size_bytes, "texts");
        if (paths[f] == NULL) {
            status = MOTE_ERROR_MEMORY;
            break;
        }
        snprintf(paths[f], size_bytes, "%.*s%s%s", (int)length, path, folder ? "/" : "", names[f]);
        status = mote_input_open_part(ctx, paths[f], inputs[f]);
    }
    if (status == MOTE_OK) status = use(ctx, &files, user);
    for (int f = 0; f < 3; f++) {
        if (status == MOTE_OK) status = mote_input_check(ctx, inputs[f]);
        mote_input_close(ctx, inputs[f]);
        mote_free(ctx, paths[f]);
    }
    return status;
}

typedef struct read_task {
    const mote_read_params *params;
    mote_cloud **out;
} read_task;

static mote_status read_cloud(mote_context *ctx, const potree_files *files, void *user) {
    const read_task *task = user;
    return potree_parse(ctx, files, task->params, task->out);
}

mote_status mote_potree_read(mote_context *ctx, const char *path, const mote_read_params *params, mote_cloud **out) {
    read_task task = {params, out};
    *out = NULL;
    return potree_with_files(ctx, path, read_cloud, &task);
}
