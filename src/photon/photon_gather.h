/* From the photons around a place to its irradiance: one copy for C and CUDA. */
#ifndef MOTE_PHOTON_GATHER_H
#define MOTE_PHOTON_GATHER_H

#include "mote/knn.h"
#include "photon/photon_area.h"
#include "photon/photon_emit.h"

/* How many neighbours are searched for, so that k of them come from the front: in nearly all places. */
static inline uint32_t photon_search_k(uint32_t k) {
    const uint32_t more = k + k / 8 + 8;
    return more < MOTE_KNN_MAX_K ? more : MOTE_KNN_MAX_K;
}

/* What of a photon decides whether it counts: over whole discs where it flew, else where its surface faces. */
MOTE_HD const float *photon_facing(const photon_record *photon, mote_photon_area area) {
    return area == MOTE_PHOTON_AREA_DISC ? photon->direction : photon->normal;
}

/* Whether a photon that flew, or faces, in a direction arrives from the front of a normal, or lies on a surface that
   faces as it does, on the same side; of no normal (zeros), any. */
MOTE_HD bool photon_faces(const float facing[3], const float normal[3], mote_photon_area area) {
    if (normal[0] == 0 && normal[1] == 0 && normal[2] == 0) return true;
    const float along = facing[0] * normal[0] + facing[1] * normal[1] + facing[2] * normal[2];
    return area == MOTE_PHOTON_AREA_DISC ? along < 0 : along > (float)PHOTON_ALIKE_COSINE;
}

/* Whether a photon counts at a place, of which it has this square of a distance: it lies on a surface that faces alike
   (of whole discs, it arrives from the front), and does not lie at the place itself. Where light is asked for at
   photons that is the photon there, of which it is known beforehand that it is there: counting it would make all of
   them too bright. */
MOTE_HD bool photon_counts(const photon_record *photon, const float normal[3], double square, mote_photon_area area) {
    return square > 0 && photon_faces(photon_facing(photon, area), normal, area);
}

/* The disc of the photons that count. Of k or more, the k-th gives the radius, and does not count itself: the mean is
   right so.
   complete  there are no more within the radius
   last2     the square of the distance of the last that was found
   Returns whether there is one; counted: how many photons lie in it. */
MOTE_HD bool photon_disc(uint32_t found, uint32_t k, bool complete, double radius, double last2, uint32_t *counted,
                         double *radius2) {
    const bool by_radius = found < k && complete && radius > 0;
    *counted = by_radius ? found : found > 0 ? found - 1 : 0;
    *radius2 = by_radius ? radius * radius : last2;
    return *counted > 0 && *radius2 > 0;
}

/* ---- sums of power: integers, so that they do not depend on the order

   A step is a photon's power / PHOTON_POWER_STEPS. Weights are at most 3 and photons at most 1,024: sums are below
   2^52. */
typedef struct photon_power_sum {
    uint64_t steps[3];
} photon_power_sum;

/* Steps for each unit of power. Floats hold no power of photons of less than this unit. */
static inline double photon_sum_steps(double unit) { return unit > 1e-60 ? PHOTON_POWER_STEPS / unit : 0; }

/* steps: of the photon's power, of each colour. */
MOTE_HD void photon_sum_weighted(photon_power_sum *sum, const double steps[3], double weight) {
    for (int k = 0; k < 3; k++) {
        const double weighted = steps[k] * weight;
        sum->steps[k] += (uint64_t)(weighted > 0 ? photon_min(weighted, 0x1p42) + 0.5 : 0);
    }
}

MOTE_HD void photon_sum_power(photon_power_sum *sum, const float power[3], double weight, double steps_of_power) {
    double steps[3];
    for (int k = 0; k < 3; k++) steps[k] = (double)power[k] * steps_of_power;
    photon_sum_weighted(sum, steps, weight);
}

/* The irradiance of a whole disc. share: of the photons of the map, which of those that were searched among are. */
MOTE_HD void photon_irradiance_of(const photon_power_sum *sum, double radius2, double steps_of_power, double share,
                                  float irradiance[3]) {
    const double per_step = steps_of_power > 0 ? 1 / (steps_of_power * (PHOTON_PI * radius2 * share)) : 0;
    for (int k = 0; k < 3; k++) irradiance[k] = (float)((double)sum->steps[k] * per_step);
}

/* That of what is surface in the disc. */
MOTE_HD void photon_divide_by_part(const photon_view *scene, photon_vec place, const float normal[3],
                                   const mote_photon_gathering *g, double radius2, float irradiance[3]) {
    const photon_vec axis = photon_vec_of((double)normal[0], (double)normal[1], (double)normal[2]);
    if (g->area == MOTE_PHOTON_AREA_DISC || !(photon_dot(axis, axis) > 0)) return;
    const photon_ellipsoid e = photon_ellipsoid_of(place, axis, g->compression, sqrt(radius2), g->filter);
    const double part = photon_surface_part(scene, &e);
    for (int k = 0; k < 3; k++) irradiance[k] = (float)((double)irradiance[k] / part);
}

/* ---- what is known at photons */

#define PHOTON_LOOK_UP_K      16u
#define PHOTON_LOOK_UP_COSINE 0.9f

/* Whether a photon lies on the same side of a surface of nearly the same direction. */
MOTE_HD bool photon_is_alike(const photon_record *photon, const float normal[3]) {
    return normal[0] * photon->normal[0] + normal[1] * photon->normal[1] + normal[2] * photon->normal[2] >
           PHOTON_LOOK_UP_COSINE;
}

#endif
