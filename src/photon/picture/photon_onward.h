/* Rays of final gathering that go on, because nothing known tells of the light where they ended: one copy for C and
   CUDA.

   There a ray is what the path of a path tracer is: light comes by a shadow ray, and one ray leads to the next surface.
   It ends where irradiance is known, where it meets nothing, or by chance, as often as colours on its way take light.

     sample --> o   nothing is known:   light by a shadow ray, caustics by their photons
                |
                +--> o   the same
                     |
                     +--> (o)   known: the irradiance there, and the ray ends

   The few that have gone on from PHOTON_MAX_ASKED surfaces go to their end without asking photons: for a GPU, a step
   for a few rays is as long as one for many. */
#ifndef MOTE_PHOTON_ONWARD_H
#define MOTE_PHOTON_ONWARD_H

#include "photon/picture/photon_pixel.h"

#define PHOTON_MAX_ONWARD 1000u /* surfaces on the way of a ray, as of paths */
#define PHOTON_MAX_ASKED  3u    /* of these, at whose ends photons are asked; of 100 that go on 1 or 2 are left then */

/* Adds what is known where a ray ended. */
MOTE_HD void photon_tell(const photon_sample *ray, const float known[3], float told[3]) {
    const photon_vec irradiance = photon_vec_of((double)known[0], (double)known[1], (double)known[2]);
    photon_add_color(told, photon_mul(ray->weight, irradiance));
}

/* What the light at the end of a ray is for its sample, one step on: told [3], the sum so far, of irradiance for the
   sample.
   at         where it is; the weight is of the irradiance there
   number     of the ray in the picture
   depth      how many surfaces it went on from
   caustics   [3] irradiance there; NULL: the ray that leaves meets the light that comes through mirrors and glass
   Returns the ray that leaves; without a weight if there is none. */
MOTE_HD photon_sample photon_go_on(const photon_view *scene, const photon_picture *picture, const photon_sample *at,
                                   uint64_t number, uint32_t depth, const float caustics[3], float told[3]) {
    photon_random random = photon_random_of(picture->seed, PHOTON_STREAM_ONWARD, mote_hash_pair(number, depth));
    const double chosen = photon_next(&random), beside = photon_next(&random), along = photon_next(&random);
    const photon_vec to_light = photon_vec_of(along, beside, chosen);
    const photon_vec direct = photon_shadow_ray(scene, at->place, at->normal, to_light);
    photon_add_color(told, photon_mul(at->weight, direct));
    if (caustics != NULL) photon_tell(at, caustics, told);
    const photon_vec w = at->weight;
    const double keep = photon_min(picture->gather_rays * photon_max(w.x, photon_max(w.y, w.z)), 1.0);
    if (!(photon_next(&random) < keep)) return photon_no_sample();
    const double a = photon_next(&random), b = photon_next(&random);
    const photon_sample next =
        photon_ray_from(scene, at, photon_cosine_direction(at->normal, a, b), photon_scale(w, 1 / keep), &random);
    if (caustics == NULL) photon_add_color(told, photon_scale(next.shine, PHOTON_PI));
    return next;
}

/* The same to the end of the ray, at which no photons are asked. */
MOTE_HD void photon_go_to_end(const photon_view *scene, const photon_picture *picture, const photon_sample *at,
                              uint64_t number, uint32_t depth, float told[3]) {
    photon_sample sample = *at;
    for (; depth < PHOTON_MAX_ONWARD && photon_sample_seen(&sample); depth++) {
        sample = photon_go_on(scene, picture, &sample, number, depth, NULL, told);
    }
}

/* Adds to the irradiance of samples what was told by rays that went on. Ray i does so for all of its sample, if it is
   the first of them.
   numbers  [count] of the rays in the picture, ascending
   told     [3 · count]
   first    the number of the first sample */
MOTE_HD void photon_add_told(const uint64_t *numbers, const float *told, uint64_t count, uint32_t rays_each,
                             uint64_t first, uint64_t i, float *irradiance) {
    const uint64_t sample = numbers[i] / rays_each;
    if (i > 0 && numbers[i - 1] / rays_each == sample) return;
    photon_vec sum = photon_vec_of(0, 0, 0);
    for (uint64_t j = i; j < count && numbers[j] / rays_each == sample; j++) {
        const float *t = told + 3 * j;
        sum = photon_add(sum, photon_vec_of((double)t[0], (double)t[1], (double)t[2]));
    }
    photon_add_color(irradiance + 3 * (sample - first), sum);
}

#endif
