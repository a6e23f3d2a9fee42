/* Scenes: whether what a caller gives can be one. */
#include "photon/scene/photon_scene_parts.h"

static bool is_color(const double c[3], double max) {
    for (int k = 0; k < 3; k++) {
        if (!(c[k] >= 0 && c[k] <= max)) return false;
    }
    return true;
}

static bool is_finite(const double p[3]) {
    for (int k = 0; k < 3; k++) {
        if (!(fabs(p[k]) <= 1e100)) return false;
    }
    return true;
}

static mote_status check_materials(mote_context *ctx, const mote_scene_params *p) {
    for (uint64_t i = 0; i < p->material_count; i++) {
        const mote_material *m = &p->materials[i];
        MOTE_TRY(mote_check_reserved(ctx, m->reserved, sizeof m->reserved, "mote_material", "a struct of zeros"));
        if ((unsigned)m->kind > MOTE_MATERIAL_UNLIT || !is_color(m->color, 1) || !is_color(m->emission, 1e30)) {
            return mote_fail(ctx, MOTE_ERROR_ARGUMENT,
                             "material %llu: its kind is unknown, its color not in 0..1, or its emission below 0",
                             (unsigned long long)i);
        }
        const uint64_t texture = m->texture > m->emission_texture ? m->texture : m->emission_texture;
        if (texture > p->texture_count) {
            return mote_fail(ctx, MOTE_ERROR_ARGUMENT, "material %llu: texture %llu of %llu", (unsigned long long)i,
                             (unsigned long long)texture, (unsigned long long)p->texture_count);
        }
        if ((unsigned)m->alpha > MOTE_ALPHA_BLEND ||
            (m->alpha != MOTE_ALPHA_OPAQUE && !(m->opacity >= 0 && m->opacity <= 1 && m->alpha_cutoff >= 0))) {
            return mote_fail(ctx, MOTE_ERROR_ARGUMENT,
                             "material %llu: its alpha is unknown, its opacity not in 0..1, or its cutoff below 0",
                             (unsigned long long)i);
        }
        if (m->kind == MOTE_MATERIAL_GLASS && !(m->refraction >= 1 && m->refraction <= 10)) {
            return mote_fail(ctx, MOTE_ERROR_ARGUMENT, "material %llu: an index of refraction of %g, needs 1 to 10",
                             (unsigned long long)i, m->refraction);
        }
    }
    return MOTE_OK;
}

static mote_status check_textures(mote_context *ctx, const mote_scene_params *p) {
    for (uint64_t i = 0; i < p->texture_count; i++) {
        const mote_texture *t = &p->textures[i];
        MOTE_TRY(mote_check_reserved(ctx, t->reserved, sizeof t->reserved, "mote_texture", "a struct of zeros"));
        if (t->srgb == NULL || t->width < 1 || t->height < 1 || t->width > MOTE_TEXTURE_MAX_SIDE ||
            t->height > MOTE_TEXTURE_MAX_SIDE || (unsigned)t->wrap_u > MOTE_TEXTURE_MIRROR ||
            (unsigned)t->wrap_v > MOTE_TEXTURE_MIRROR) {
            return mote_fail(ctx, MOTE_ERROR_ARGUMENT,
                             "texture %llu: no texels, a side not in 1..%u, or its wrap is out of range",
                             (unsigned long long)i, MOTE_TEXTURE_MAX_SIDE);
        }
    }
    if (p->texture_count == 0 || p->texture_coordinates == NULL) return MOTE_OK;
    for (uint64_t i = 0; i < 6 * p->triangle_count; i++) {
        if (fabsf(p->texture_coordinates[i]) <= 1e30f) continue;
        return mote_fail(ctx, MOTE_ERROR_ARGUMENT, "triangle %llu: a texture coordinate is not finite",
                         (unsigned long long)(i / 6));
    }
    return MOTE_OK;
}

static mote_status check_lights(mote_context *ctx, const mote_scene_params *p) {
    uint64_t skies = 0;
    for (uint64_t i = 0; i < p->light_count; i++) {
        const mote_light *l = &p->lights[i];
        const bool spot = l->kind == MOTE_LIGHT_SPOT;
        MOTE_TRY(mote_check_reserved(ctx, l->reserved, sizeof l->reserved, "mote_light", "a struct of zeros"));
        if ((unsigned)l->kind > MOTE_LIGHT_SKY || !is_finite(l->position) || !is_color(l->intensity, 1e30)) {
            return mote_fail(ctx, MOTE_ERROR_ARGUMENT,
                             "light %llu: its kind is unknown, its position not finite, or its intensity below 0",
                             (unsigned long long)i);
        }
        skies += l->kind == MOTE_LIGHT_SKY;
        if (skies > 1) return mote_fail(ctx, MOTE_ERROR_ARGUMENT, "a scene of more than one sky");
        if (l->kind == MOTE_LIGHT_POINT) continue;
        if (!is_finite(l->direction) || !(photon_length(photon_vec_from(l->direction)) > 0)) {
            return mote_fail(ctx, MOTE_ERROR_ARGUMENT, "light %llu: it has no direction", (unsigned long long)i);
        }
        if (!spot) continue;
        if (!(l->inner_rad >= 0 && l->inner_rad < l->outer_rad && l->outer_rad <= PHOTON_PI)) {
            return mote_fail(ctx, MOTE_ERROR_ARGUMENT, "light %llu: a spot needs angles 0 <= inner < outer <= pi",
                             (unsigned long long)i);
        }
    }
    return MOTE_OK;
}

static mote_status check_positions(mote_context *ctx, const mote_scene_params *p) {
    for (uint64_t i = 0; i < p->position_count; i++) {
        const double *const at = p->positions + 3 * i;
        if (is_finite(at)) continue;
        const bool is_number = at[0] - at[0] == 0 && at[1] - at[1] == 0 && at[2] - at[2] == 0;
        return mote_fail(ctx, MOTE_ERROR_ARGUMENT, "position %llu is %s", (unsigned long long)i,
                         is_number ? "beyond 1e+100" : "not finite");
    }
    for (uint64_t i = 0; i < 4 * p->position_count && p->colors != NULL; i++) {
        if (p->colors[i] >= 0 && p->colors[i] <= 1) continue;
        return mote_fail(ctx, MOTE_ERROR_ARGUMENT, "position %llu: its color is not in 0..1",
                         (unsigned long long)(i / 4));
    }
    return MOTE_OK;
}

static mote_status check_triangles(mote_context *ctx, const mote_scene_params *p) {
    for (uint64_t i = 0; i < p->triangle_count; i++) {
        for (uint64_t j = 0; j < 3; j++) {
            if (p->triangles[3 * i + j] < p->position_count) continue;
            return mote_fail(ctx, MOTE_ERROR_ARGUMENT, "triangle %llu: corner %u of %llu positions",
                             (unsigned long long)i, p->triangles[3 * i + j], (unsigned long long)p->position_count);
        }
        const uint32_t material = p->triangle_materials != NULL ? p->triangle_materials[i] : 0;
        if (material < p->material_count) continue;
        return mote_fail(ctx, MOTE_ERROR_ARGUMENT, "triangle %llu: material %u of %llu", (unsigned long long)i,
                         material, (unsigned long long)p->material_count);
    }
    return MOTE_OK;
}

static mote_status check_spheres(mote_context *ctx, const mote_scene_params *p) {
    for (uint64_t i = 0; i < p->sphere_count; i++) {
        const mote_sphere *s = &p->spheres[i];
        MOTE_TRY(mote_check_reserved(ctx, s->reserved, sizeof s->reserved, "mote_sphere", "a struct of zeros"));
        if (!is_finite(s->center) || !(s->radius > 0 && s->radius <= 1e100) || s->material >= p->material_count) {
            return mote_fail(ctx, MOTE_ERROR_ARGUMENT, "sphere %llu: its center, radius or material is out of range",
                             (unsigned long long)i);
        }
        const double *e = p->materials[s->material].emission;
        if (e[0] == 0 && e[1] == 0 && e[2] == 0) continue;
        return mote_fail(ctx, MOTE_ERROR_ARGUMENT, "sphere %llu: its material shines; only triangles are lights",
                         (unsigned long long)i);
    }
    return MOTE_OK;
}

mote_status photon_scene_check(mote_context *ctx, const mote_scene_params *p) {
    MOTE_TRY(mote_check_reserved(ctx, p->reserved, sizeof p->reserved, "mote_scene_params", "a struct of zeros"));
    if (p->triangle_count > MOTE_SCENE_MAX_SIZE || p->sphere_count > MOTE_SCENE_MAX_SIZE - p->triangle_count ||
        p->light_count > MOTE_SCENE_MAX_SIZE || p->material_count > MOTE_SCENE_MAX_SIZE ||
        p->texture_count > MOTE_SCENE_MAX_SIZE) {
        return mote_fail(ctx, MOTE_ERROR_UNSUPPORTED,
                         "a scene of more than %u triangles, spheres, lights, materials or textures",
                         MOTE_SCENE_MAX_SIZE);
    }
    if ((p->position_count > 0 && p->positions == NULL) || (p->triangle_count > 0 && p->triangles == NULL) ||
        (p->sphere_count > 0 && p->spheres == NULL) || (p->material_count > 0 && p->materials == NULL) ||
        (p->light_count > 0 && p->lights == NULL) || (p->texture_count > 0 && p->textures == NULL)) {
        return mote_fail(ctx, MOTE_ERROR_ARGUMENT, "an array of the scene is missing");
    }
    MOTE_TRY(check_materials(ctx, p));
    MOTE_TRY(check_lights(ctx, p));
    MOTE_TRY(check_textures(ctx, p));
    MOTE_TRY(check_positions(ctx, p));
    MOTE_TRY(check_triangles(ctx, p));
    return check_spheres(ctx, p);
}
