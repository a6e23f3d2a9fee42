/* Samples of a picture: where the camera looks, and what a path tracer sees there; one copy for C and CUDA. */
#ifndef MOTE_PHOTON_EYE_H
#define MOTE_PHOTON_EYE_H

#include "photon/emit/photon_light.h"

/* A camera as rays need it: origin and direction are linear in the pixel. */
typedef struct photon_camera {
    photon_vec origin, origin_x, origin_y;
    photon_vec direction, direction_x, direction_y;
} photon_camera;

/* What all samples of a picture have in common. */
typedef struct photon_picture {
    photon_camera camera;
    uint32_t width, height, samples;
    uint32_t gather_rays, shadow_rays;
    uint64_t seed;
} photon_picture;

/* What the camera sees of a sample. */
typedef struct photon_sample {
    photon_vec place, normal;
    photon_vec weight; /* of irradiance, so that it becomes the sample's radiance; zeros: there is no diffuse surface */
    photon_vec shine;  /* radiance of lights that are seen; at the end of a ray: through mirrors and glass */
    double length;     /* of a ray of final gathering: how far it is from where it began to where it ended */
} photon_sample;

MOTE_HD photon_sample photon_no_sample(void) {
    photon_sample none;
    none.place = none.normal = none.weight = none.shine = photon_vec_of(0, 0, 0);
    none.length = 0;
    return none;
}

/* Where rays of a sample are in the sequence that those of a pixel share: rays_each of each sample, from one on. */
MOTE_HD photon_sequence photon_sequence_of_pixel(const photon_picture *picture, uint32_t stream, uint64_t number,
                                                 uint32_t rays_each, uint32_t ray) {
    const uint64_t samples = (uint64_t)picture->samples * picture->samples;
    photon_random random = photon_random_of(mote_hash64(picture->seed), stream, number / samples);
    return photon_sequence_of(&random, number % samples * rays_each + ray);
}

/* The ray of a sample; samples are numbered pixel after pixel, row after row of a pixel's grid. */
MOTE_HD void photon_eye_ray(const photon_picture *picture, uint64_t number, photon_random *random, photon_vec *origin,
                            photon_vec *direction) {
    const uint64_t side = picture->samples, pixel = number / (side * side), of_pixel = number % (side * side);
    const uint64_t column = pixel % picture->width, row = pixel / picture->width;
    const uint64_t part_x = of_pixel % side, part_y = of_pixel / side;
    const double x = (double)column + ((double)part_x + photon_next(random)) / (double)side;
    const double y = (double)row + ((double)part_y + photon_next(random)) / (double)side;
    const photon_camera *c = &picture->camera;
    *origin = photon_along(photon_along(c->origin, c->origin_x, x), c->origin_y, y);
    *direction = photon_unit(photon_along(photon_along(c->direction, c->direction_x, x), c->direction_y, y));
}

/* The diffuse surface that a ray met, if it met any. path: by what the colours on the way multiply; factor: from the
   irradiance there to what is asked for. */
MOTE_HD void photon_sample_end(const photon_view *scene, const photon_hit *hit, photon_vec path, double factor,
                               photon_sample *sample) {
    const bool found = hit->shape != PHOTON_NO_SHAPE;
    const photon_vec none = photon_vec_of(0, 0, 0);
    sample->place = found ? hit->place : none;
    sample->normal = found ? hit->normal : none;
    sample->weight = none;
    if (found) sample->weight = photon_scale(photon_mul(path, photon_color_at(scene, hit)), factor);
}

MOTE_HD photon_sample photon_look(const photon_view *scene, const photon_picture *picture, uint64_t number) {
    photon_random random = photon_random_of(picture->seed, PHOTON_STREAM_EYE, number);
    photon_vec origin, direction, weight = photon_vec_of(1, 1, 1);
    photon_sample sample;
    bool specular;
    photon_eye_ray(picture, number, &random, &origin, &direction);
    const photon_hit hit = photon_follow(scene, origin, &direction, &random, photon_split_of(picture->samples, number),
                                         &weight, &specular, &sample.shine);
    photon_sample_end(scene, &hit, weight, 1 / PHOTON_PI, &sample);
    sample.length = 0;
    return sample;
}

/* The diffuse surface that a ray meets that leaves one. weight: by which the light that comes along it counts */
MOTE_HD photon_sample photon_ray_from(const photon_view *scene, const photon_sample *from, photon_vec direction,
                                      photon_vec weight, photon_random *random) {
    photon_sample sample;
    bool specular;
    const photon_hit hit = photon_follow(scene, from->place, &direction, random, photon_split_make(PHOTON_RANDOM, 1),
                                         &weight, &specular, &sample.shine);
    photon_sample_end(scene, &hit, weight, 1, &sample);
    if (!specular) sample.shine = photon_vec_of(0, 0, 0); /* shadow rays find that light */
    sample.length = photon_length(photon_sub(sample.place, from->place));
    return sample;
}

/* A ray of final gathering: the diffuse surface that it meets, in the terms of photon_look; the weight is of the
   irradiance there, for the irradiance here. */
MOTE_HD photon_sample photon_gather_ray(const photon_view *scene, const photon_picture *picture,
                                        const photon_sample *from, uint64_t number, uint32_t ray) {
    const uint32_t rays = picture->gather_rays;
    photon_random random = photon_random_of(picture->seed, PHOTON_STREAM_GATHER, number * rays + ray);
    photon_sequence sequence = photon_sequence_of_pixel(picture, PHOTON_STREAM_GATHER, number, rays, ray);
    const photon_vec at = photon_sequence_next(&sequence),
                     direction = photon_cosine_direction(from->normal, at.x, at.y);
    const double share = 1.0 / rays;
    return photon_ray_from(scene, from, direction, photon_vec_of(share, share, share), &random);
}

/* ---- the path tracer */

/* The radiance of a sample by one path: light by shadow rays at each diffuse surface, and of surfaces that shine where
   no shadow ray could find it: seen by the camera, or through mirrors and glass. */
MOTE_HD photon_vec photon_path(const photon_view *scene, const photon_picture *picture, uint64_t number) {
    photon_random random = photon_random_of(picture->seed, PHOTON_STREAM_PATH, number);
    photon_vec origin, direction, weight = photon_vec_of(1, 1, 1), sum = photon_vec_of(0, 0, 0);
    photon_eye_ray(picture, number, &random, &origin, &direction);
    for (uint32_t depth = 0; depth < 1000; depth++) {
        photon_vec shine;
        bool specular;
        const photon_hit hit = photon_follow(scene, origin, &direction, &random, photon_split_make(PHOTON_RANDOM, 1),
                                             &weight, &specular, &shine);
        if (depth == 0 || specular) sum = photon_add(sum, shine);
        if (hit.shape == PHOTON_NO_SHAPE) break;
        weight = photon_mul(weight, photon_color_at(scene, &hit));
        const double chosen = photon_next(&random), beside = photon_next(&random), along = photon_next(&random);
        const photon_vec at = photon_vec_of(along, beside, chosen); /* arguments have no order of their own */
        const photon_vec direct = photon_shadow_ray(scene, hit.place, hit.normal, at);
        sum = photon_add(sum, photon_scale(photon_mul(weight, direct), 1 / PHOTON_PI));
        const double keep = photon_min(photon_max(weight.x, photon_max(weight.y, weight.z)), 1.0);
        if (!(photon_next(&random) < keep)) break;
        weight = photon_scale(weight, 1 / keep);
        const double a = photon_next(&random), b = photon_next(&random);
        direction = photon_cosine_direction(hit.normal, a, b);
        origin = hit.place;
    }
    return sum;
}

#endif
