/* A scene while it is read from files. */
#include "io/scene/scene_draft.h"

#include <math.h>

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
    scene_folders_free(d->ctx, &d->folders);
    mote_free(d->ctx, d->colors);
    mote_free(d->ctx, d->textures);
    mote_free(d->ctx, d->lights);
    mote_free(d->ctx, d->materials);
    mote_free(d->ctx, d->coordinates);
    mote_free(d->ctx, d->triangle_materials);
    mote_free(d->ctx, d->triangles);
    mote_free(d->ctx, d->positions);
}
