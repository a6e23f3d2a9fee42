/* What a ray meets: the colour of a surface, its light, and whether it is there at all; one copy for C and CUDA. */
#ifndef MOTE_PHOTON_TEXTURE_H
#define MOTE_PHOTON_TEXTURE_H

#include "photon/scene/photon_ray.h"

/* A coordinate of a texture as a place within it, [0, 1]. */
MOTE_HD double photon_wrap(uint32_t wrap, double u) {
    if (wrap == MOTE_TEXTURE_CLAMP) return u < 0 ? 0 : u > 1 ? 1 : u;
    if (wrap == MOTE_TEXTURE_REPEAT) return u - floor(u);
    const double twice = u - 2 * floor(u * 0.5); /* [0, 2]: there and back */
    return twice > 1 ? 2 - twice : twice;
}

/* The two texels of an axis between whose middles a place lies, and how far it is to the second. */
MOTE_HD double photon_texel_pair(uint32_t wrap, double part, uint32_t size, uint32_t pair[2]) {
    const double at = part * size - 0.5, low = floor(at);
    const uint32_t last = size - 1;
    const bool repeat = wrap == MOTE_TEXTURE_REPEAT;
    pair[0] = low < 0 ? (repeat ? last : 0) : (uint32_t)low;
    pair[1] = low < 0 ? 0 : (uint32_t)low + 1;
    if (pair[0] > last) pair[0] = last;
    if (pair[1] > last) pair[1] = repeat ? 0 : last;
    return at - low;
}

/* The four texels around a place of a texture, as numbers of them, and what each of them weighs. */
typedef struct photon_texels {
    uint64_t number[4];
    double weight[4];
} photon_texels;

MOTE_HD photon_texels photon_texels_at(const photon_texture *texture, double u, double v) {
    uint32_t x[2], y[2];
    photon_texels at;
    const double right = photon_texel_pair(texture->wrap_u, photon_wrap(texture->wrap_u, u), texture->width, x);
    const double down = photon_texel_pair(texture->wrap_v, photon_wrap(texture->wrap_v, v), texture->height, y);
    for (int i = 0; i < 4; i++) {
        at.number[i] = (uint64_t)y[i >> 1] * texture->width + x[i & 1];
        at.weight[i] = (i & 1 ? right : 1 - right) * (i & 2 ? down : 1 - down);
    }
    return at;
}

/* The colour at texture coordinates: bilinear, between colours that are linear. */
MOTE_HD photon_vec photon_texture_color(const photon_view *scene, const photon_texture *texture, double u, double v) {
    const photon_texels at = photon_texels_at(texture, u, v);
    photon_vec sum = photon_vec_of(0, 0, 0);
    for (int i = 0; i < 4; i++) {
        const uint8_t *texel = scene->texels + texture->first + 3 * at.number[i];
        const photon_vec color = photon_vec_of((double)scene->linear[texel[0]], (double)scene->linear[texel[1]],
                                               (double)scene->linear[texel[2]]);
        sum = photon_along(sum, color, at.weight[i]);
    }
    return sum;
}

MOTE_HD double photon_texture_alpha(const photon_view *scene, const photon_texture *texture, double u, double v) {
    if (texture->first_alpha == PHOTON_NO_ALPHA) return 1;
    const photon_texels at = photon_texels_at(texture, u, v);
    double sum = 0;
    for (int i = 0; i < 4; i++) sum += at.weight[i] * scene->texels[texture->first_alpha + at.number[i]];
    return sum / 255;
}

/* ---- of a hit */

/* What each corner of a triangle weighs at a place of it. */
MOTE_HD photon_vec photon_corner_weights(const photon_shape *shape, photon_vec place) {
    const photon_vec ab = photon_sub(shape->b, shape->a), ac = photon_sub(shape->c, shape->a);
    const photon_vec ap = photon_sub(place, shape->a), normal = photon_cross(ab, ac);
    const double square = photon_dot(normal, normal);
    const double b = photon_dot(photon_cross(ap, ac), normal) / square;
    const double c = photon_dot(photon_cross(ab, ap), normal) / square;
    return photon_vec_of(1 - b - c, b, c);
}

MOTE_HD double photon_weighed(photon_vec weights, double a, double b, double c) {
    return weights.x * a + weights.y * b + weights.z * c;
}

MOTE_HD double photon_tint_at(const photon_tint *tint, photon_vec weights, int channel) {
    const double value = photon_weighed(weights, (double)tint->of[0][channel], (double)tint->of[1][channel],
                                        (double)tint->of[2][channel]);
    return photon_min(photon_max(value, 0.0), 1.0); /* a place may be beside the triangle by a rounding */
}

/* Texture coordinates at a place, by the weights of the corners there. */
MOTE_HD void photon_coordinates_at(const photon_corners *at, photon_vec weights, double uv[2]) {
    uv[0] = photon_weighed(weights, (double)at->u[0], (double)at->u[1], (double)at->u[2]);
    uv[1] = photon_weighed(weights, (double)at->v[0], (double)at->v[1], (double)at->v[2]);
}

/* The share of light that goes on from where a ray met a surface. */
MOTE_HD photon_vec photon_color_at(const photon_view *scene, const photon_hit *hit) {
    const photon_surface *surface = &scene->surfaces[hit->material];
    const photon_shape *shape = &scene->shapes[hit->shape];
    const bool textured = surface->texture != PHOTON_NO_TEXTURE;
    photon_vec color = surface->color;
    if (shape->is_sphere || (!textured && scene->tints == NULL)) return color;
    const photon_vec weights = photon_corner_weights(shape, hit->place);
    if (textured) {
        double uv[2];
        photon_coordinates_at(&scene->corners[hit->shape], weights, uv);
        color = photon_mul(color, photon_texture_color(scene, &scene->textures[surface->texture], uv[0], uv[1]));
    }
    if (scene->tints != NULL) {
        const photon_tint *tint = &scene->tints[hit->shape];
        color = photon_mul(color, photon_vec_of(photon_tint_at(tint, weights, 0), photon_tint_at(tint, weights, 1),
                                                photon_tint_at(tint, weights, 2)));
    }
    return color;
}

/* The radiance of a surface that shines, of a place of shape number i. */
MOTE_HD photon_vec photon_emission_of(const photon_view *scene, const photon_surface *surface, uint32_t i,
                                      photon_vec weights) {
    double uv[2];
    if (surface->emission_texture == PHOTON_NO_TEXTURE) return surface->emission;
    photon_coordinates_at(&scene->corners[i], weights, uv);
    return photon_mul(surface->emission,
                      photon_texture_color(scene, &scene->textures[surface->emission_texture], uv[0], uv[1]));
}

/* What a hit adds to the light of a ray that comes back. */
MOTE_HD photon_vec photon_shine_at(const photon_view *scene, const photon_hit *hit) {
    const photon_surface *surface = &scene->surfaces[hit->material];
    if (surface->kind == MOTE_MATERIAL_UNLIT) return photon_color_at(scene, hit);
    if (!surface->shines || !(hit->front || surface->shines_on_both)) return photon_vec_of(0, 0, 0);
    if (surface->emission_texture == PHOTON_NO_TEXTURE) return surface->emission;
    const photon_vec weights = photon_corner_weights(&scene->shapes[hit->shape], hit->place);
    return photon_emission_of(scene, surface, hit->shape, weights);
}

/* ---- surfaces that are not everywhere */

/* A number in [0, 1) of the end of a ray: the same ray always meets the same. */
MOTE_HD double photon_chance(photon_vec from, photon_vec to) {
    const double numbers[6] = {from.x, from.y, from.z, to.x, to.y, to.z};
    uint64_t hash = 0, bits;
    for (int i = 0; i < 6; i++) {
        memcpy(&bits, &numbers[i], sizeof bits);
        hash = mote_hash_pair(hash, bits);
    }
    return (double)(hash >> 11) * 0x1p-53;
}

/* Whether a ray from a place goes through what it met. */
MOTE_HD bool photon_goes_through(const photon_view *scene, photon_vec from, const photon_hit *hit) {
    const photon_surface *surface = &scene->surfaces[hit->material];
    const photon_shape *shape = &scene->shapes[hit->shape];
    if (surface->alpha == MOTE_ALPHA_OPAQUE) return false;
    double alpha = surface->opacity;
    if (!shape->is_sphere) {
        const photon_vec weights = photon_corner_weights(shape, hit->place);
        if (surface->texture != PHOTON_NO_TEXTURE) {
            double uv[2];
            photon_coordinates_at(&scene->corners[hit->shape], weights, uv);
            alpha *= photon_texture_alpha(scene, &scene->textures[surface->texture], uv[0], uv[1]);
        }
        if (scene->tints != NULL) alpha *= photon_tint_at(&scene->tints[hit->shape], weights, 3);
    }
    return surface->alpha == MOTE_ALPHA_MASK ? alpha < surface->cutoff : !(photon_chance(from, hit->place) < alpha);
}

#define PHOTON_MAX_SHEETS 1000u /* that a ray goes through */

/* The nearest hit in front of far_t. */
MOTE_HD photon_hit photon_trace_before(const photon_view *scene, photon_vec origin, photon_vec direction,
                                       double far_t) {
    photon_hit hit = photon_trace_any(scene, origin, direction, far_t);
    for (uint32_t i = 0; i < PHOTON_MAX_SHEETS && scene->has_alpha && hit.shape != PHOTON_NO_SHAPE; i++) {
        if (!photon_goes_through(scene, origin, &hit)) break;
        origin = hit.place;
        far_t -= hit.t;
        hit = photon_trace_any(scene, origin, direction, far_t);
    }
    return hit;
}

MOTE_HD photon_hit photon_trace(const photon_view *scene, photon_vec origin, photon_vec direction) {
    return photon_trace_before(scene, origin, direction, PHOTON_FAR);
}

/* Whether a shape lies between two places. */
MOTE_HD bool photon_is_shadowed(const photon_view *scene, photon_vec from, photon_vec direction, double distance) {
    const double far_t = distance - scene->near_t;
    if (scene->has_alpha) return photon_trace_before(scene, from, direction, far_t).shape != PHOTON_NO_SHAPE;
    const photon_ray ray = photon_ray_of(from, direction, scene->largest);
    return photon_walk(scene, &ray, far_t, true).shape != PHOTON_NO_SHAPE;
}

#endif
