/* What happens to light at mirrors and glass: one copy for C and CUDA. */
#ifndef MOTE_PHOTON_SCATTER_H
#define MOTE_PHOTON_SCATTER_H

#include "photon/scene/photon_texture.h"

/* The share that glass reflects (Fresnel, unpolarised): ratio of indices in front of and behind the surface, cosine
   of the angle of arrival. *refracted: cosine on the other side. */
MOTE_HD double photon_fresnel(double ratio, double cosine, double *refracted) {
    const double square = 1 - ratio * ratio * (1 - cosine * cosine);
    *refracted = square > 0 ? sqrt(square) : 0;
    if (!(square > 0)) return 1;
    const double across = (ratio * cosine - *refracted) / (ratio * cosine + *refracted);
    const double along = (cosine - ratio * *refracted) / (cosine + ratio * *refracted);
    return 0.5 * (across * across + along * along);
}

/* What a ray does at the first glass that it meets: one of both at random, in proportion to the light; or what is
   chosen beforehand, with that share of the light times factor. */
enum { PHOTON_RANDOM, PHOTON_REFRACT, PHOTON_REFLECT };

typedef struct photon_split {
    uint32_t branch;
    double factor;
} photon_split;

MOTE_HD photon_split photon_split_make(uint32_t branch, double factor) {
    photon_split split;
    split.branch = branch;
    split.factor = factor;
    return split;
}

/* Of a sample of a pixel: each second one of its grid, as on a chess board, refracts, the others reflect. So glass is
   not speckled: each pixel sees both in the right proportion. */
MOTE_HD photon_split photon_split_of(uint32_t side, uint64_t number) {
    const uint64_t count = (uint64_t)side * side, of_pixel = number % count, even = (count + 1) / 2;
    if (count == 1) return photon_split_make(PHOTON_RANDOM, 1);
    const bool refracts = (of_pixel % side + of_pixel / side) % 2 == 0;
    return photon_split_make(refracts ? PHOTON_REFRACT : PHOTON_REFLECT,
                             (double)count / (double)(refracts ? even : count - even));
}

/* The direction in which light goes on from a mirror or glass. *split: at glass it is used and becomes RANDOM;
 *share: by what the light there counts. */
MOTE_HD photon_vec photon_specular_split(const photon_surface *surface, const photon_hit *hit, photon_vec direction,
                                         photon_random *random, photon_split *split, double *share) {
    *share = 1;
    if (surface->kind == MOTE_MATERIAL_MIRROR) return photon_mirror(direction, hit->normal);
    const double ratio = hit->front || surface->thin ? 1 / surface->refraction : surface->refraction;
    const double cosine = photon_min(-photon_dot(direction, hit->normal), 1.0);
    double refracted;
    const double reflected = photon_fresnel(ratio, cosine, &refracted), part = photon_next(random);
    const bool reflects = split->branch == PHOTON_RANDOM ? part < reflected : split->branch == PHOTON_REFLECT;
    if (split->branch != PHOTON_RANDOM) *share = split->factor * (reflects ? reflected : 1 - reflected);
    split->branch = PHOTON_RANDOM;
    if (reflects) return photon_mirror(direction, hit->normal);
    if (surface->thin) return direction; /* it is refracted twice, and goes on as it came */
    const photon_vec sideways = photon_along(direction, hit->normal, cosine);
    return photon_unit(photon_along(photon_scale(sideways, ratio), hit->normal, -refracted));
}

/* Goes on from a mirror or glass without a split: whether it reflects or refracts is random. */
MOTE_HD photon_vec photon_specular(const photon_surface *surface, const photon_hit *hit, photon_vec direction,
                                   photon_random *random) {
    photon_split split = photon_split_make(PHOTON_RANDOM, 1);
    double share;
    return photon_specular_split(surface, hit, direction, random, &split, &share);
}

/* Radiance of the sky, from where a ray goes. */
MOTE_HD photon_vec photon_sky_at(const photon_view *scene, photon_vec direction) {
    return photon_scale(scene->sky, photon_max(0.5 + 0.5 * photon_dot(direction, scene->sky_up), 0.0));
}

/* Follows a ray through mirrors and glass to a diffuse surface or into the open (hit->shape PHOTON_NO_SHAPE).
   split       at the first glass
   weight      what of the light there arrives at the ray's origin
   *specular   whether there were any
   *shine      what is seen that shines: surfaces on the way and at the end, or the sky */
#define PHOTON_MAX_SPECULAR 64u
MOTE_HD photon_hit photon_follow(const photon_view *scene, photon_vec origin, photon_vec *direction,
                                 photon_random *random, photon_split split, photon_vec *weight, bool *specular,
                                 photon_vec *shine) {
    photon_hit hit;
    *specular = false;
    *shine = photon_vec_of(0, 0, 0);
    for (uint32_t depth = 0; depth < PHOTON_MAX_SPECULAR; depth++) {
        hit = photon_trace(scene, origin, *direction);
        if (hit.shape == PHOTON_NO_SHAPE) {
            if (scene->has_sky) *shine = photon_add(*shine, photon_mul(*weight, photon_sky_at(scene, *direction)));
            return hit;
        }
        const photon_surface *surface = &scene->surfaces[hit.material];
        *shine = photon_add(*shine, photon_mul(*weight, photon_shine_at(scene, &hit)));
        if (surface->kind == MOTE_MATERIAL_DIFFUSE) return hit;
        if (surface->kind == MOTE_MATERIAL_UNLIT) break;
        double share;
        *specular = true;
        *direction = photon_specular_split(surface, &hit, *direction, random, &split, &share);
        *weight = photon_scale(photon_mul(*weight, photon_color_at(scene, &hit)), share);
        origin = hit.place;
        if (!(photon_sum(*weight) > 0)) break;
    }
    hit.shape = PHOTON_NO_SHAPE;
    return hit;
}

#endif
