/* Lights: where photons start, and what arrives from a light directly; one copy for C and CUDA. */
#ifndef MOTE_PHOTON_LIGHT_H
#define MOTE_PHOTON_LIGHT_H

#include "photon/photon_scatter.h"

/* A light in proportion to its power; part in [0, 1). */
MOTE_HD const photon_light *photon_choose_light(const photon_view *scene, double part) {
    const double before = part * scene->power;
    uint32_t low = 0, high = scene->light_count; /* lights[low].power_before <= before */
    while (high - low > 1) {
        const uint32_t middle = low + (high - low) / 2;
        if (scene->lights[middle].power_before <= before) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return &scene->lights[low];
}

MOTE_HD photon_vec photon_light_place(const photon_light *light, photon_random *random) {
    const double root = sqrt(photon_next(random)), v = photon_next(random);
    const photon_vec ab = photon_sub(light->b, light->a), bc = photon_sub(light->c, light->b);
    return photon_along(photon_along(light->a, ab, root), bc, root * v);
}

MOTE_HD photon_vec photon_light_normal(const photon_light *light) {
    return photon_unit(photon_cross(photon_sub(light->b, light->a), photon_sub(light->c, light->a)));
}

/* The part of its intensity that a spot has at a cosine to its direction. */
MOTE_HD double photon_spot(const photon_light *light, double cosine) {
    if (cosine >= light->cos_inner) return 1;
    if (cosine <= light->cos_outer) return 0;
    return (cosine - light->cos_outer) / (light->cos_inner - light->cos_outer);
}

/* The cosine of a direction, in proportion to a spot's intensity: a ramp, then a plateau. */
MOTE_HD double photon_spot_cosine(const photon_light *light, double part) {
    const double ramp = (light->cos_inner - light->cos_outer) * 0.5, plateau = 1 - light->cos_inner;
    const double at = part * (ramp + plateau);
    if (at < ramp) return light->cos_outer + (light->cos_inner - light->cos_outer) * sqrt(at / ramp);
    return light->cos_inner + (at - ramp);
}

/* Where and in which direction a photon leaves a light. */
MOTE_HD void photon_leave(const photon_light *light, photon_random *random, photon_vec *origin, photon_vec *direction) {
    if (light->kind == PHOTON_LIGHT_AREA) {
        *origin = photon_light_place(light, random);
        const double a = photon_next(random), b = photon_next(random);
        *direction = photon_cosine_direction(photon_light_normal(light), a, b);
        return;
    }
    const double a = photon_next(random), turn = photon_next(random);
    const bool spot = light->kind == PHOTON_LIGHT_SPOT;
    *origin = light->a;
    *direction =
        photon_around(spot ? light->b : photon_vec_of(0, 0, 1), spot ? photon_spot_cosine(light, a) : 2 * a - 1, turn);
}

/* The irradiance of a place by one shadow ray to one light: right on average. */
MOTE_HD photon_vec photon_shadow_ray(const photon_view *scene, photon_vec place, photon_vec normal,
                                     photon_random *random) {
    const photon_vec none = photon_vec_of(0, 0, 0);
    const photon_light *light = photon_choose_light(scene, photon_next(random));
    const bool area = light->kind == PHOTON_LIGHT_AREA;
    const photon_vec to = photon_sub(area ? photon_light_place(light, random) : light->a, place);
    const double square = photon_dot(to, to), distance = sqrt(square);
    if (!(square > 0)) return none;
    const photon_vec direction = photon_scale(to, 1 / distance);
    double factor = photon_dot(direction, normal) / square * (scene->power / light->power);
    if (area) {
        const photon_vec cross = photon_cross(photon_sub(light->b, light->a), photon_sub(light->c, light->a));
        factor *= -0.5 * photon_dot(cross, direction); /* area times the cosine at the light */
    } else if (light->kind == PHOTON_LIGHT_SPOT) {
        factor *= photon_spot(light, -photon_dot(direction, light->b));
    }
    if (!(factor > 0) || photon_dot(direction, normal) <= 0) return none;
    return photon_is_shadowed(scene, place, direction, distance) ? none : photon_scale(light->strength, factor);
}

/* The irradiance of a place from lights: the mean of some shadow rays. */
MOTE_HD photon_vec photon_direct(const photon_view *scene, photon_vec place, photon_vec normal, uint32_t rays,
                                 photon_random *random) {
    photon_vec sum = photon_vec_of(0, 0, 0);
    if (!(scene->power > 0)) return sum;
    for (uint32_t i = 0; i < rays; i++) sum = photon_add(sum, photon_shadow_ray(scene, place, normal, random));
    return photon_scale(sum, 1.0 / rays);
}

#endif
