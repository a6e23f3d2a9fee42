/* The path of a photon: one copy for C and CUDA.

   At each surface a photon goes on with the share that its power would keep, or is absorbed (Russian roulette). One
   that goes on keeps its power, red + green + blue together, in the colour of the surface: so all photons have the same
   power all the time, and counting them is counting energy. */
#ifndef MOTE_PHOTON_EMIT_H
#define MOTE_PHOTON_EMIT_H

#include "photon/photon_light.h"

#define PHOTON_MAX_BOUNCES 10000u
#define PHOTON_POWER_STEPS 0x1p40 /* of a photon's power, in which sums are exact */

enum { PHOTON_DIRECT, PHOTON_CAUSTIC, PHOTON_INDIRECT };

/* A row of the map. */
typedef struct photon_record {
    float place[3], power[3], direction[3], normal[3];
    uint32_t bounce;
} photon_record;

enum { PHOTON_ABSORBED, PHOTON_ESCAPED, PHOTON_CUT, PHOTON_FATES };

/* What became of photons: integers, whose sums do not depend on the order. */
typedef struct photon_tally {
    uint64_t hits, stored[3], fates[PHOTON_FATES];
    uint64_t power[PHOTON_FATES][2]; /* in steps, of 64-bit halves: low, high */
} photon_tally;

MOTE_HD void photon_tally_power(uint64_t sum[2], uint64_t steps) {
    sum[0] += steps;
    sum[1] += sum[0] < steps;
}

MOTE_HD void photon_record_make(photon_record *to, const photon_hit *hit, photon_vec power, photon_vec direction,
                                uint32_t bounce) {
    to->place[0] = (float)hit->place.x;
    to->place[1] = (float)hit->place.y;
    to->place[2] = (float)hit->place.z;
    to->power[0] = (float)power.x;
    to->power[1] = (float)power.y;
    to->power[2] = (float)power.z;
    to->direction[0] = (float)direction.x;
    to->direction[1] = (float)direction.y;
    to->direction[2] = (float)direction.z;
    to->normal[0] = (float)hit->normal.x;
    to->normal[1] = (float)hit->normal.y;
    to->normal[2] = (float)hit->normal.z;
    to->bounce = bounce;
}

/* Traces the photon of a number.
   unit   the power of every photon
   to     where its records go, one behind the other; NULL: they are counted alone
   tally  what became of it is added; NULL: not wanted
   Returns how many records it has. */
MOTE_HD uint32_t photon_fly(const photon_view *scene, uint64_t seed, uint64_t number, double unit, photon_record *to,
                            photon_tally *tally) {
    photon_random random = photon_random_of(seed, PHOTON_STREAM_EMIT, number);
    const photon_light *light = photon_choose_light(scene, photon_next(&random));
    photon_vec power = photon_scale(light->strength, unit / photon_sum(light->strength)), origin, direction;
    uint32_t stored = 0, bounce = PHOTON_DIRECT, fate = PHOTON_CUT;
    photon_leave(light, &random, &origin, &direction);
    for (uint32_t depth = 0; depth < PHOTON_MAX_BOUNCES; depth++) {
        const photon_hit hit = photon_trace(scene, origin, direction);
        if (hit.shape == PHOTON_NO_SHAPE) {
            fate = PHOTON_ESCAPED;
            break;
        }
        const photon_surface *surface = &scene->surfaces[hit.material];
        const bool diffuse = surface->kind == MOTE_MATERIAL_DIFFUSE;
        if (tally != NULL) tally->hits++;
        if (diffuse) {
            if (to != NULL) photon_record_make(&to[stored], &hit, power, direction, bounce);
            if (tally != NULL) tally->stored[bounce]++;
            stored++;
        }
        const photon_vec kept = photon_mul(power, photon_color_at(scene, &hit));
        const double share = photon_sum(kept) / photon_sum(power);
        if (!(photon_next(&random) < share)) {
            fate = PHOTON_ABSORBED;
            break;
        }
        power = photon_scale(kept, 1 / share);
        if (diffuse) {
            const double a = photon_next(&random), b = photon_next(&random);
            direction = photon_cosine_direction(hit.normal, a, b);
            bounce = PHOTON_INDIRECT;
        } else {
            direction = photon_specular(surface, &hit, direction, &random);
            if (bounce == PHOTON_DIRECT) bounce = PHOTON_CAUSTIC;
        }
        origin = hit.place;
    }
    if (tally != NULL) {
        tally->fates[fate]++;
        photon_tally_power(tally->power[fate], (uint64_t)(photon_sum(power) / unit * PHOTON_POWER_STEPS + 0.5));
    }
    return stored;
}

#endif
