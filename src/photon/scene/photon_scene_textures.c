/* Scenes: textures, and what lies on the corners of triangles. */
#include <stdlib.h>

#include "photon/scene/photon_scene_parts.h"

float photon_linear_of(uint8_t srgb) {
    const double v = srgb / 255.0;
    return (float)(v <= 0.04045 ? v / 12.92 : pow((v + 0.055) / 1.055, 2.4));
}

/* ---- corners */

static mote_status copy_corners(mote_scene *scene, const mote_scene_params *p) {
    scene->corners = mote_alloc_zero(scene->ctx, scene->view.shape_count * sizeof *scene->corners, "scene textures");
    if (scene->corners == NULL) return MOTE_ERROR_MEMORY;
    for (uint64_t i = 0; i < p->triangle_count && p->texture_coordinates != NULL; i++) {
        for (uint64_t j = 0; j < 3; j++) {
            scene->corners[i].u[j] = p->texture_coordinates[6 * i + 2 * j];
            scene->corners[i].v[j] = p->texture_coordinates[6 * i + 2 * j + 1];
        }
    }
    scene->view.corners = scene->corners;
    return MOTE_OK;
}

static mote_status copy_tints(mote_scene *scene, const mote_scene_params *p) {
    if (p->colors == NULL) return MOTE_OK;
    scene->tints = mote_alloc_zero(scene->ctx, scene->view.shape_count * sizeof *scene->tints, "scene colors");
    if (scene->tints == NULL) return MOTE_ERROR_MEMORY;
    for (uint64_t i = 0; i < 3 * p->triangle_count; i++) {
        memcpy(scene->tints[i / 3].of[i % 3], p->colors + 4ull * p->triangles[i], 4 * sizeof *p->colors);
    }
    return MOTE_OK;
}

/* ---- texels: textures that show one image, each in its own way, share them */

typedef struct texel_use {
    uintptr_t srgb, alpha;
    uint64_t texture;
} texel_use;

static int compare_uses(const void *a, const void *b) {
    const texel_use *const x = a, *const y = b;
    if (x->srgb != y->srgb) return x->srgb < y->srgb ? -1 : 1;
    if (x->alpha != y->alpha) return x->alpha < y->alpha ? -1 : 1;
    return x->texture < y->texture ? -1 : x->texture > y->texture;
}

/* first[i]: the first texture of the texels of texture i. */
static mote_status find_shared(mote_context *ctx, const mote_scene_params *p, uint64_t *first) {
    texel_use *const uses = mote_alloc(ctx, p->texture_count * sizeof *uses, "scene textures");
    if (uses == NULL) return MOTE_ERROR_MEMORY;
    for (uint64_t i = 0; i < p->texture_count; i++) {
        const texel_use use = {(uintptr_t)p->textures[i].srgb, (uintptr_t)p->textures[i].alpha, i};
        uses[i] = use;
    }
    qsort(uses, p->texture_count, sizeof *uses, compare_uses);
    for (uint64_t i = 0; i < p->texture_count; i++) {
        const mote_texture *const of = &p->textures[uses[i].texture];
        const bool shares = i > 0 && uses[i].srgb == uses[i - 1].srgb && uses[i].alpha == uses[i - 1].alpha;
        const uint64_t before = shares ? first[uses[i - 1].texture] : 0;
        const bool same = shares && p->textures[before].width == of->width && p->textures[before].height == of->height;
        first[uses[i].texture] = same ? before : uses[i].texture;
    }
    mote_free(ctx, uses);
    return MOTE_OK;
}

static uint64_t texels_of(const mote_texture *texture) { return (uint64_t)texture->width * texture->height; }

/* Where the texels of each go, and how many bytes all are. */
static void place_textures(mote_scene *scene, const mote_scene_params *p, const uint64_t *first) {
    uint64_t at = 0;
    for (uint64_t i = 0; i < p->texture_count; i++) {
        const mote_texture *const from = &p->textures[i];
        photon_texture *const to = &scene->textures[i];
        to->width = from->width;
        to->height = from->height;
        to->wrap_u = (uint32_t)from->wrap_u;
        to->wrap_v = (uint32_t)from->wrap_v;
        to->first = scene->textures[first[i]].first;
        to->first_alpha = scene->textures[first[i]].first_alpha;
        if (first[i] != i) continue;
        to->first = at;
        at += 3 * texels_of(from);
        to->first_alpha = from->alpha != NULL ? at : PHOTON_NO_ALPHA;
        if (from->alpha != NULL) at += texels_of(from);
    }
    scene->view.texel_bytes = at;
}

static mote_status copy_texels(mote_scene *scene, const mote_scene_params *p, const uint64_t *first) {
    place_textures(scene, p, first);
    scene->texels = mote_alloc(scene->ctx, scene->view.texel_bytes, "scene textures");
    if (scene->texels == NULL) return MOTE_ERROR_MEMORY;
    for (uint64_t i = 0; i < p->texture_count; i++) {
        const mote_texture *const from = &p->textures[i];
        const photon_texture *const to = &scene->textures[i];
        if (first[i] != i) continue;
        memcpy(scene->texels + to->first, from->srgb, 3 * texels_of(from));
        if (from->alpha != NULL) memcpy(scene->texels + to->first_alpha, from->alpha, texels_of(from));
    }
    return MOTE_OK;
}

mote_status photon_scene_textures(mote_scene *scene, const mote_scene_params *p) {
    mote_context *const ctx = scene->ctx;
    MOTE_TRY(copy_tints(scene, p));
    if (p->texture_count == 0) return MOTE_OK;
    MOTE_TRY(copy_corners(scene, p));
    scene->view.texture_count = (uint32_t)p->texture_count;
    scene->textures = mote_alloc_zero(ctx, p->texture_count * sizeof *scene->textures, "scene textures");
    scene->linear = mote_alloc(ctx, 256 * sizeof *scene->linear, "scene textures");
    uint64_t *const first = mote_alloc(ctx, p->texture_count * sizeof *first, "scene textures");
    mote_status status = MOTE_ERROR_MEMORY;
    if (scene->textures != NULL && scene->linear != NULL && first != NULL) status = find_shared(ctx, p, first);
    if (status == MOTE_OK) status = copy_texels(scene, p, first);
    mote_free(ctx, first);
    if (status != MOTE_OK) return status;
    for (uint32_t i = 0; i < 256; i++) scene->linear[i] = photon_linear_of((uint8_t)i);
    scene->view.textures = scene->textures;
    scene->view.texels = scene->texels;
    scene->view.linear = scene->linear;
    return MOTE_OK;
}
