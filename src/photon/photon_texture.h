/* The colour of a surface where a ray met it: one copy for C and CUDA. */
#ifndef MOTE_PHOTON_TEXTURE_H
#define MOTE_PHOTON_TEXTURE_H

#include "photon/photon_ray.h"

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

/* Bilinear, between linear colours. */
MOTE_HD photon_vec photon_texture_color(const photon_view *scene, const photon_texture *texture, double u, double v) {
    uint32_t x[2], y[2];
    const double right = photon_texel_pair(texture->wrap_u, photon_wrap(texture->wrap_u, u), texture->width, x);
    const double down = photon_texel_pair(texture->wrap_v, photon_wrap(texture->wrap_v, v), texture->height, y);
    photon_vec sum = photon_vec_of(0, 0, 0);
    for (int i = 0; i < 4; i++) {
        const double weight = (i & 1 ? right : 1 - right) * (i & 2 ? down : 1 - down);
        const uint8_t *texel = scene->texels + texture->first + 3 * ((uint64_t)y[i >> 1] * texture->width + x[i & 1]);
        const photon_vec color = photon_vec_of((double)scene->linear[texel[0]], (double)scene->linear[texel[1]],
                                               (double)scene->linear[texel[2]]);
        sum = photon_along(sum, color, weight);
    }
    return sum;
}

/* The share of light that goes on from where a ray met a surface. */
MOTE_HD photon_vec photon_color_at(const photon_view *scene, const photon_hit *hit) {
    const photon_surface *surface = &scene->surfaces[hit->material];
    const photon_shape *shape = &scene->shapes[hit->shape];
    if (surface->texture == PHOTON_NO_TEXTURE || shape->is_sphere) return surface->color;
    const photon_vec ab = photon_sub(shape->b, shape->a), ac = photon_sub(shape->c, shape->a);
    const photon_vec ap = photon_sub(hit->place, shape->a), normal = photon_cross(ab, ac);
    const double square = photon_dot(normal, normal);
    const double b = photon_dot(photon_cross(ap, ac), normal) / square;
    const double c = photon_dot(photon_cross(ab, ap), normal) / square, a = 1 - b - c;
    const photon_corners *at = &scene->corners[hit->shape];
    const double u = a * (double)at->u[0] + b * (double)at->u[1] + c * (double)at->u[2];
    const double v = a * (double)at->v[0] + b * (double)at->v[1] + c * (double)at->v[2];
    return photon_mul(surface->color, photon_texture_color(scene, &scene->textures[surface->texture], u, v));
}

#endif
