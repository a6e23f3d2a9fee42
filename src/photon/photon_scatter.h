/* What happens to light at mirrors and glass: one copy for C and CUDA. */
#ifndef MOTE_PHOTON_SCATTER_H
#define MOTE_PHOTON_SCATTER_H

#include "photon/photon_ray.h"

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

/* The direction in which light goes on from a mirror or glass. */
MOTE_HD photon_vec photon_specular(const photon_surface *surface, const photon_hit *hit, photon_vec direction,
                                   photon_random *random) {
    if (surface->kind == MOTE_MATERIAL_MIRROR) return photon_mirror(direction, hit->normal);
    const double ratio = hit->front ? 1 / surface->refraction : surface->refraction;
    const double cosine = fmin(-photon_dot(direction, hit->normal), 1.0);
    double refracted;
    const double share = photon_fresnel(ratio, cosine, &refracted);
    if (photon_next(random) < share) return photon_mirror(direction, hit->normal);
    const photon_vec sideways = photon_along(direction, hit->normal, cosine);
    return photon_unit(photon_along(photon_scale(sideways, ratio), hit->normal, -refracted));
}

/* Follows a ray through mirrors and glass to a diffuse surface or into the open (hit->shape PHOTON_NO_SHAPE).
   weight      what of the light there arrives at the ray's origin
   *specular   whether there were any
   *shine      what surfaces with emission add on the way: only those met at the end, a diffuse surface's front */
#define PHOTON_MAX_SPECULAR 64u
MOTE_HD photon_hit photon_follow(const photon_view *scene, photon_vec origin, photon_vec *direction,
                                 photon_random *random, photon_vec *weight, bool *specular, photon_vec *shine) {
    photon_hit hit;
    *specular = false;
    *shine = photon_vec_of(0, 0, 0);
    for (uint32_t depth = 0; depth < PHOTON_MAX_SPECULAR; depth++) {
        hit = photon_trace(scene, origin, *direction);
        if (hit.shape == PHOTON_NO_SHAPE) return hit;
        const photon_surface *surface = &scene->surfaces[hit.material];
        if (surface->shines && hit.front) *shine = photon_add(*shine, photon_mul(*weight, surface->emission));
        if (surface->kind == MOTE_MATERIAL_DIFFUSE) return hit;
        *specular = true;
        *direction = photon_specular(surface, &hit, *direction, random);
        *weight = photon_mul(*weight, surface->color);
        origin = hit.place;
    }
    hit.shape = PHOTON_NO_SHAPE;
    return hit;
}

#endif
