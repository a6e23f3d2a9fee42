/* A scene while it is read from files. */
#define _GNU_SOURCE /* realpath */
#include "io/scene/scene_draft.h"

#include <dirent.h>
#include <math.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/stat.h>

mote_status scene_draft_reserve(scene_draft *d, uint64_t positions, uint64_t triangles) {
    mote_context *ctx = d->ctx;
    if (triangles > MOTE_SCENE_MAX_SIZE - d->triangle_count) {
        return mote_fail(ctx, MOTE_ERROR_UNSUPPORTED, "%s: more than %u triangles", d->path, MOTE_SCENE_MAX_SIZE);
    }
    if (positions > 3ull * MOTE_SCENE_MAX_SIZE - d->position_count) {
        return mote_fail(ctx, MOTE_ERROR_UNSUPPORTED, "%s: more than %u positions", d->path, 3 * MOTE_SCENE_MAX_SIZE);
    }
    const uint64_t p = d->position_count + positions, t = d->triangle_count + triangles;
    const bool done =
        mote_reserve(ctx, (void **)&d->positions, &d->position_capacity, p, 3 * sizeof(double), "scene file") &&
        mote_reserve(ctx, (void **)&d->triangles, &d->triangle_capacity, t, 3 * sizeof(uint32_t), "scene file") &&
        mote_reserve(ctx, (void **)&d->triangle_materials, &d->triangle_material_capacity, t, sizeof(uint32_t),
                     "scene file") &&
        mote_reserve(ctx, (void **)&d->coordinates, &d->coordinate_capacity, t, 6 * sizeof(float), "scene file");
    return done ? MOTE_OK : MOTE_ERROR_MEMORY;
}

uint32_t scene_draft_add_position(scene_draft *d, double x, double y, double z) {
    double *to = d->positions + 3 * d->position_count;
    to[0] = x;
    to[1] = y;
    to[2] = z;
    return (uint32_t)d->position_count++;
}

/* Positions that have no colour of their own, when others do, have 1 1 1 1. */
static mote_status fill_colors(scene_draft *d, uint64_t count) {
    if (!mote_reserve(d->ctx, (void **)&d->colors, &d->color_capacity, count, 4 * sizeof *d->colors, "scene file")) {
        return MOTE_ERROR_MEMORY;
    }
    for (uint64_t i = 4 * d->color_count; i < 4 * count; i++) d->colors[i] = 1;
    if (count > d->color_count) d->color_count = count;
    return MOTE_OK;
}

mote_status scene_draft_color(scene_draft *d, const double rgba[4]) {
    MOTE_TRY(fill_colors(d, d->position_count));
    float *const to = d->colors + 4 * (d->position_count - 1);
    for (int k = 0; k < 4; k++) to[k] = (float)fmin(fmax(rgba[k], 0), 1);
    return MOTE_OK;
}

mote_status scene_draft_finish_colors(scene_draft *d) {
    return d->color_count > 0 ? fill_colors(d, d->position_count) : MOTE_OK;
}

static bool has_area(const double *a, const double *b, const double *c) {
    double u[3], v[3], square = 0;
    for (int k = 0; k < 3; k++) {
        u[k] = b[k] - a[k];
        v[k] = c[k] - a[k];
    }
    for (int k = 0; k < 3; k++) {
        const int i = (k + 1) % 3, j = (k + 2) % 3;
        square += (u[i] * v[j] - u[j] * v[i]) * (u[i] * v[j] - u[j] * v[i]);
    }
    return square > 0;
}

void scene_draft_add_triangle(scene_draft *d, const uint32_t corners[3], uint32_t material, const float *coordinates) {
    const double *p = d->positions;
    if (!has_area(p + 3ull * corners[0], p + 3ull * corners[1], p + 3ull * corners[2])) {
        d->degenerate++;
        return;
    }
    memcpy(d->triangles + 3 * d->triangle_count, corners, 3 * sizeof *corners);
    float *const to = d->coordinates + 6 * d->triangle_count;
    if (coordinates != NULL) {
        memcpy(to, coordinates, 6 * sizeof *to);
    } else {
        memset(to, 0, 6 * sizeof *to);
    }
    d->triangle_materials[d->triangle_count++] = material;
}

mote_material *scene_draft_add_material(scene_draft *d) {
    if (!mote_reserve(d->ctx, (void **)&d->materials, &d->material_capacity, d->material_count + 1,
                      sizeof *d->materials, "scene file")) {
        return NULL;
    }
    mote_material *m = &d->materials[d->material_count++];
    memset(m, 0, sizeof *m);
    m->kind = MOTE_MATERIAL_DIFFUSE;
    m->color[0] = m->color[1] = m->color[2] = 0.8;
    m->refraction = 1.5;
    return m;
}

mote_light *scene_draft_add_light(scene_draft *d) {
    if (!mote_reserve(d->ctx, (void **)&d->lights, &d->light_capacity, d->light_count + 1, sizeof *d->lights,
                      "scene file")) {
        return NULL;
    }
    mote_light *light = &d->lights[d->light_count++];
    memset(light, 0, sizeof *light);
    return light;
}

mote_status scene_draft_need_texture(scene_draft *d, uint32_t image, mote_texture_wrap wrap_u, mote_texture_wrap wrap_v,
                                     uint64_t *place) {
    scene_image *const from = &d->images[image];
    uint32_t *const known = &from->textures[3 * (uint32_t)wrap_u + (uint32_t)wrap_v];
    *place = *known;
    if (*known != 0) return MOTE_OK;
    if (!mote_reserve(d->ctx, (void **)&d->textures, &d->texture_capacity, d->texture_count + 1, sizeof *d->textures,
                      "scene file")) {
        return MOTE_ERROR_MEMORY;
    }
    mote_texture *const texture = &d->textures[d->texture_count++];
    memset(texture, 0, sizeof *texture);
    texture->srgb = from->srgb;
    texture->alpha = from->alpha;
    texture->width = from->width;
    texture->height = from->height;
    texture->wrap_u = wrap_u;
    texture->wrap_v = wrap_v;
    *known = (uint32_t)d->texture_count;
    *place = *known;
    return MOTE_OK;
}

static void free_images(scene_draft *d) {
    for (uint64_t i = 0; i < d->image_count; i++) {
        mote_free(d->ctx, d->images[i].srgb);
        mote_free(d->ctx, d->images[i].alpha);
    }
    mote_free(d->ctx, d->images);
    scene_names_free(d->ctx, &d->image_names);
}

void scene_draft_free(scene_draft *d) {
    free_images(d);
    mote_free(d->ctx, d->colors);
    mote_free(d->ctx, d->textures);
    mote_free(d->ctx, d->lights);
    mote_free(d->ctx, d->materials);
    mote_free(d->ctx, d->coordinates);
    mote_free(d->ctx, d->triangle_materials);
    mote_free(d->ctx, d->triangles);
    mote_free(d->ctx, d->positions);
}

/* ---- files beside it */

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

bool scene_file_is_dispensable(mote_status status) {
    return status == MOTE_ERROR_DATA || status == MOTE_ERROR_IO || status == MOTE_ERROR_UNSUPPORTED;
}

static bool is_file(const char *path) {
    struct stat info;
    return stat(path, &info) == 0 && S_ISREG(info.st_mode);
}

/* Whether there is a file whose name differs from the path's in the case of letters alone: then the path becomes it. Of
   several it is the first in the order of bytes. */
static bool is_file_in_other_case(char *path) {
    char *const name = path + folder_bytes(path);
    const char first = name[0];
    bool found = false;
    name[0] = '\0';
    DIR *const folder = opendir(name == path ? "." : path);
    name[0] = first;
    for (const struct dirent *entry; folder != NULL && (entry = readdir(folder)) != NULL;) {
        if (strlen(entry->d_name) != strlen(name) || strcasecmp(entry->d_name, name) != 0) continue;
        if (!found || strcmp(entry->d_name, name) < 0) memcpy(name, entry->d_name, strlen(name));
        found = true;
    }
    if (folder != NULL) closedir(folder);
    return found && is_file(path);
}

static mote_status find_by_name(const scene_draft *d, const char *beside, const char *name, char **path) {
    const char *last = name + strlen(name);
    while (last > name && last[-1] != '/' && last[-1] != '\\') last--;
    const char *const names[] = {name, name, last, last}, *const folders[] = {beside, d->path, beside, d->path};
    for (int i = 0; i < 8; i++) {
        bool inside = false;
        char *const candidate = path_beside(d, folders[i % 4], names[i % 4], &inside);
        if (candidate == NULL) return MOTE_ERROR_MEMORY;
        if (inside && (i < 4 ? is_file(candidate) : is_file_in_other_case(candidate))) {
            *path = candidate;
            return MOTE_OK;
        }
        mote_free(d->ctx, candidate);
    }
    return MOTE_OK;
}

mote_status scene_file_find(const scene_draft *d, const char *beside, const char *name, char **path) {
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
