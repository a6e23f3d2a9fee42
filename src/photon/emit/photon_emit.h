/* The path of a photon: one copy for C and CUDA.

   At each surface a photon goes on with the share that its power would keep, or is absorbed (Russian roulette). One
   that goes on keeps its power, red + green + blue together, in the colour of the surface: so the photons of a light
   have the same power all the time, and counting them is counting energy. */
#ifndef MOTE_PHOTON_EMIT_H
#define MOTE_PHOTON_EMIT_H

#include "photon/emit/photon_light.h"

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

/* Choices among photons: direct alone, caustics alone, those at which irradiance is made (Christensen 1999), and the
   remainder, of which it is made there. Photons at which it is made do not count: a photon far from others is the
   nearest of more places than others are, and would spread that there are few around. So the places do not depend on
   the photons. */
enum {
    PHOTON_CHOSEN_DIRECT,
    PHOTON_CHOSEN_CAUSTIC,
    PHOTON_CHOSEN_IRRADIANCE,
    PHOTON_CHOSEN_REMAINDER,
    PHOTON_KEPT = PHOTON_CHOSEN_REMAINDER /* how many of these a map keeps: all but the remainder */
};
#define PHOTON_IRRADIANCE_EVERY 4u

MOTE_HD bool photon_is_chosen(const photon_record *record, uint64_t number, int choice) {
    if (choice == PHOTON_CHOSEN_IRRADIANCE) return number % PHOTON_IRRADIANCE_EVERY == 0;
    if (choice == PHOTON_CHOSEN_REMAINDER) return number % PHOTON_IRRADIANCE_EVERY != 0;
    return record->bounce == (choice == PHOTON_CHOSEN_DIRECT ? PHOTON_DIRECT : PHOTON_CAUSTIC);
}

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

/* A photon on its way. */
typedef struct photon_flight {
    photon_random random;
    photon_vec origin, direction, power;
    uint32_t bounce, depth, fate;
} photon_flight;

/* The light that the photon of a number leaves. Where photons of lights differ in power, numbers go through the lights
   in order, so that each has as many photons as it should. */
MOTE_HD const photon_light *photon_light_of_flight(const photon_view *scene, uint64_t number, double unit,
                                                   double part) {
    return photon_choose_light(scene, scene->has_shares ? ((double)number + part) * (unit / scene->power) : part);
}

/* The photon of a number leaves a light. unit: the mean power of photons. */
MOTE_HD photon_flight photon_flight_begin(const photon_view *scene, uint64_t seed, uint64_t number, double unit) {
    photon_flight flight;
    flight.random = photon_random_of(seed, PHOTON_STREAM_EMIT, number);
    const photon_light *light = photon_light_of_flight(scene, number, unit, photon_next(&flight.random));
    const double power = unit * (light->power / light->share);
    flight.power = photon_scale(light->strength, power / photon_sum(light->strength));
    flight.bounce = PHOTON_DIRECT;
    flight.depth = 0;
    flight.fate = PHOTON_CUT;
    photon_leave(light, &flight.random, &flight.origin, &flight.direction);
    return flight;
}

/* Goes on to the next surface, and from it; returns whether it flies on.
   record  out, where *stores: what is stored there
   tally   hits and records are added */
MOTE_HD bool photon_flight_step(const photon_view *scene, photon_flight *flight, photon_record *record, bool *stores,
                                photon_tally *tally) {
    const photon_hit hit = photon_trace(scene, flight->origin, flight->direction);
    *stores = false;
    if (hit.shape == PHOTON_NO_SHAPE) {
        flight->fate = PHOTON_ESCAPED;
        return false;
    }
    const photon_surface *surface = &scene->surfaces[hit.material];
    const bool diffuse = surface->kind == MOTE_MATERIAL_DIFFUSE;
    tally->hits++;
    if (diffuse) {
        photon_record_make(record, &hit, flight->power, flight->direction, flight->bounce);
        tally->stored[flight->bounce]++;
        *stores = true;
    }
    if (surface->kind == MOTE_MATERIAL_UNLIT) {
        flight->fate = PHOTON_ABSORBED;
        return false;
    }
    const photon_vec kept = photon_mul(flight->power, photon_color_at(scene, &hit));
    const double share = photon_sum(kept) / photon_sum(flight->power);
    if (!(photon_next(&flight->random) < share)) {
        flight->fate = PHOTON_ABSORBED;
        return false;
    }
    flight->power = photon_scale(kept, 1 / share);
    if (diffuse) {
        const double a = photon_next(&flight->random), b = photon_next(&flight->random);
        flight->direction = photon_cosine_direction(hit.normal, a, b);
        flight->bounce = PHOTON_INDIRECT;
    } else {
        flight->direction = photon_specular(surface, &hit, flight->direction, &flight->random);
        if (flight->bounce == PHOTON_DIRECT) flight->bounce = PHOTON_CAUSTIC;
    }
    flight->origin = hit.place;
    return ++flight->depth < PHOTON_MAX_BOUNCES;
}

/* Adds what became of a photon to a tally. */
MOTE_HD void photon_flight_end(const photon_flight *flight, double unit, photon_tally *tally) {
    tally->fates[flight->fate]++;
    photon_tally_power(tally->power[flight->fate],
                       (uint64_t)(photon_sum(flight->power) / unit * PHOTON_POWER_STEPS + 0.5));
}

#endif
