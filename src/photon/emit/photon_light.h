/* Lights: where photons start, and what arrives from a light directly; one copy for C and CUDA. */
#ifndef MOTE_PHOTON_LIGHT_H
#define MOTE_PHOTON_LIGHT_H

#include "photon/emit/photon_scatter.h"

/* A light in proportion to its share; part in [0, 1). */
MOTE_HD const photon_light *photon_choose_light(const photon_view *scene, double part) {
    const double before = part * scene->power;
    uint32_t low = 0, high = scene->light_count; /* lights[low].share_before <= before */
    while (high - low > 1) {
        const uint32_t middle = low + (high - low) / 2;
        if (scene->lights[middle].share_before <= before) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return &scene->lights[low];
}

/* A place of its area, of two numbers in [0, 1). */
MOTE_HD photon_vec photon_light_place(const photon_light *light, double u, double v) {
    const double root = sqrt(u);
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
    const double part = (cosine - light->cos_outer) / (light->cos_inner - light->cos_outer);
    return part * part;
}

/* The cube root of a number in [0, 1), by Newton's steps from above: 16 are enough from 2^-53 on. */
MOTE_HD double photon_cube_root(double x) {
    double root = sqrt(sqrt(x));
    for (int i = 0; i < 16 && root > 0; i++) root = (2 * root + x / (root * root)) / 3;
    return root;
}

/* The cosine of a direction, in proportion to a spot's intensity: a parabola, then a plateau. */
MOTE_HD double photon_spot_cosine(const photon_light *light, double part) {
    const double ramp = (light->cos_inner - light->cos_outer) / 3, plateau = 1 - light->cos_inner;
    const double at = part * (ramp + plateau);
    if (at < ramp) return light->cos_outer + (light->cos_inner - light->cos_outer) * photon_cube_root(at / ramp);
    return light->cos_inner + (at - ramp);
}

/* Light from afar goes through a disc across its direction, as wide as the scene. The sky's is chosen in proportion to
   what comes from there. */
MOTE_HD void photon_leave_afar(const photon_light *light, photon_random *random, photon_vec *origin,
                               photon_vec *direction) {
    *direction = light->b;
    if (light->kind == PHOTON_LIGHT_SKY) {
        const double a = photon_next(random), turn = photon_next(random);
        *direction = photon_around(light->b, 2 * sqrt(a) - 1, turn);
    }
    const double part = photon_next(random), turn = photon_next(random);
    const photon_vec across = photon_around(*direction, 0, turn);
    *origin = photon_along(photon_along(light->a, across, light->c.x * sqrt(part)), *direction, -light->c.x);
}

/* Where and in which direction a photon leaves a light. */
MOTE_HD void photon_leave(const photon_light *light, photon_random *random, photon_vec *origin, photon_vec *direction) {
    if (light->kind == PHOTON_LIGHT_AREA) {
        const double u = photon_next(random), v = photon_next(random);
        *origin = photon_light_place(light, u, v);
        const double a = photon_next(random), b = photon_next(random);
        *direction = photon_cosine_direction(photon_light_normal(light), a, b);
        return;
    }
    if (light->kind >= PHOTON_LIGHT_DIRECTIONAL) {
        photon_leave_afar(light, random, origin, direction);
        return;
    }
    const double a = photon_next(random), turn = photon_next(random);
    const bool spot = light->kind == PHOTON_LIGHT_SPOT;
    *origin = light->a;
    *direction =
        photon_around(spot ? light->b : photon_vec_of(0, 0, 1), spot ? photon_spot_cosine(light, a) : 2 * a - 1, turn);
}

/* ---- shadow rays

   To a light that is far, a ray goes to a place of its area. Near by that would be noise without bound, as the square
   of the distance divides: a light that is wide is sampled by its solid angle. */
#define PHOTON_WIDE_TANGENT 0.1 /* of half the solid angle, from which a light is wide */

/* A light as a triangle on the unit sphere around a place. */
typedef struct photon_wide_light {
    photon_vec a, b, c;
    double triple; /* of the corners; above 0 */
    double solid_angle;
} photon_wide_light;

/* Returns whether it is wide (the solid angle: Van Oosterom and Strackee 1983). */
MOTE_HD bool photon_is_wide(const photon_light *light, photon_vec place, photon_wide_light *wide) {
    wide->a = photon_unit(photon_sub(light->a, place));
    wide->b = photon_unit(photon_sub(light->b, place));
    wide->c = photon_unit(photon_sub(light->c, place));
    wide->triple = photon_dot(wide->a, photon_cross(wide->b, wide->c));
    if (wide->triple < 0) {
        const photon_vec b = wide->b;
        wide->b = wide->c;
        wide->c = b;
        wide->triple = -wide->triple;
    }
    const double below =
        (1 + photon_dot(wide->a, wide->b)) + (photon_dot(wide->b, wide->c) + photon_dot(wide->c, wide->a));
    wide->solid_angle = 2 * photon_angle(wide->triple, below);
    return wide->triple > 0 && wide->triple > PHOTON_WIDE_TANGENT * below;
}

/* A direction to it, each alike (Arvo 1995): a cut through a leaves the part x of the solid angle on the side of b, and
   the direction is on that cut. */
MOTE_HD photon_vec photon_wide_direction(const photon_wide_light *wide, double x, double y) {
    const photon_vec ab = photon_cross(wide->a, wide->b), ac = photon_cross(wide->a, wide->c);
    const double sides = sqrt(photon_dot(ab, ab) * photon_dot(ac, ac));
    const double sine = wide->triple / sides, cosine = photon_dot(ab, ac) / sides;
    const double part = (x * wide->solid_angle - photon_angle(sine, cosine)) / (2 * PHOTON_PI);
    double s, t;
    photon_turn(part < 0 ? part + 1 : part, &s, &t);
    const double u = t - cosine, v = s + sine * photon_dot(wide->a, wide->b);
    const double q = photon_min(photon_max(((v * t - u * s) * cosine - v) / ((v * s + u * t) * sine), -1.0), 1.0);
    const photon_vec beside_a = photon_unit(photon_along(wide->c, wide->a, -photon_dot(wide->c, wide->a)));
    const photon_vec cut = photon_along(photon_scale(wide->a, q), beside_a, sqrt(1 - q * q));
    const double along = photon_dot(cut, wide->b), z = 1 - y * (1 - along);
    const photon_vec beside_b = photon_unit(photon_along(cut, wide->b, -along));
    return photon_along(photon_scale(wide->b, z), beside_b, sqrt(photon_max(1 - z * z, 0.0)));
}

/* A ray to a light, and by what its strength is multiplied where nothing is in between; 0 or less: no ray. */
typedef struct photon_light_ray {
    photon_vec direction;
    double distance, factor;
} photon_light_ray;

MOTE_HD photon_light_ray photon_ray_to_area(const photon_light *light, photon_vec place, double x, double y) {
    const photon_vec cross = photon_cross(photon_sub(light->b, light->a), photon_sub(light->c, light->a));
    photon_wide_light wide;
    photon_light_ray ray;
    if (photon_is_wide(light, place, &wide)) {
        ray.direction = photon_wide_direction(&wide, x, y);
        const double towards = photon_dot(cross, ray.direction);
        ray.distance = photon_dot(cross, photon_sub(light->a, place)) / towards;
        ray.factor = towards < 0 && ray.distance > 0 ? wide.solid_angle : 0;
        return ray;
    }
    const photon_vec to = photon_sub(photon_light_place(light, x, y), place);
    const double square = photon_dot(to, to);
    ray.distance = sqrt(square);
    ray.direction = photon_unit(to);
    ray.factor = square > 0 ? -0.5 * photon_dot(cross, ray.direction) / square : 0; /* area by cosine at the light */
    return ray;
}

MOTE_HD photon_light_ray photon_ray_to_point(const photon_light *light, photon_vec place) {
    const photon_vec to = photon_sub(light->a, place);
    const double square = photon_dot(to, to);
    photon_light_ray ray;
    ray.distance = sqrt(square);
    ray.direction = photon_unit(to);
    ray.factor = square > 0 ? 1 / square : 0;
    if (light->kind == PHOTON_LIGHT_SPOT) ray.factor *= photon_spot(light, -photon_dot(ray.direction, light->b));
    return ray;
}

/* Draws a ray to a light from afar; rays to the sky go in proportion to the cosine at the place. */
MOTE_HD photon_light_ray photon_ray_afar(const photon_light *light, photon_vec normal, double x, double y) {
    photon_light_ray ray;
    ray.distance = PHOTON_FAR;
    ray.direction = photon_scale(light->b, -1);
    ray.factor = 1;
    if (light->kind != PHOTON_LIGHT_SKY) return ray;
    const photon_vec up = ray.direction;
    ray.direction = photon_cosine_direction(normal, x, y);
    const double cosine = photon_dot(ray.direction, normal);
    ray.factor = cosine > 0 ? PHOTON_PI * (0.5 + 0.5 * photon_dot(ray.direction, up)) / cosine : 0;
    return ray;
}

/* The irradiance of a place by one shadow ray: right on average over the unit cube. z chooses the light, x and y where
   the ray goes. */
MOTE_HD photon_vec photon_shadow_ray(const photon_view *scene, photon_vec place, photon_vec normal, photon_vec at) {
    if (!(scene->power > 0)) return photon_vec_of(0, 0, 0);
    const photon_light *light = photon_choose_light(scene, at.z);
    const photon_light_ray ray = light->kind == PHOTON_LIGHT_AREA ? photon_ray_to_area(light, place, at.x, at.y)
                                 : light->kind >= PHOTON_LIGHT_DIRECTIONAL ? photon_ray_afar(light, normal, at.x, at.y)
                                                                           : photon_ray_to_point(light, place);
    const double factor = ray.factor * photon_dot(ray.direction, normal) * (scene->power / light->share);
    if (!(factor > 0) || !(ray.factor > 0)) return photon_vec_of(0, 0, 0);
    return photon_is_shadowed(scene, place, ray.direction, ray.distance) ? photon_vec_of(0, 0, 0)
                                                                         : photon_scale(light->strength, factor);
}

/* The irradiance of a place from lights: the mean of some shadow rays. */
MOTE_HD photon_vec photon_direct(const photon_view *scene, photon_vec place, photon_vec normal, uint32_t rays,
                                 photon_sequence *sequence) {
    photon_vec sum = photon_vec_of(0, 0, 0);
    for (uint32_t i = 0; i < rays; i++) {
        sum = photon_add(sum, photon_shadow_ray(scene, place, normal, photon_sequence_next(sequence)));
    }
    return photon_scale(sum, 1.0 / rays);
}

#endif
