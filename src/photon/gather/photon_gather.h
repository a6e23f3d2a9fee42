/* From the photons around a place to its irradiance: one copy for C and CUDA. */
#ifndef MOTE_PHOTON_GATHER_H
#define MOTE_PHOTON_GATHER_H

#include "mote/knn.h"
#include "photon/emit/photon_emit.h"
#include "photon/gather/photon_cut.h"

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

   A photon adds its power times its weight, both in steps. Power has steps of 2^-30 of a photon's, and is at most 2^31
   of them. The weight is made in floats, by operations that IEEE 754 rounds, and has steps of 2^-21, at most 3 · 2^21.
   So sums of 1,024 photons are below 2^64.

   What floats err by: differences of floats, and their products with 1 / radius, are off by 2^-23 of their size, so the
   share of a photon (the square of its distance over that of the radius) is off by about 2^-21 of it, and where an
   ellipsoid is flat by up to c 2^-22 more. A weight is off by about as much. Which photons are in the disc, and its
   radius, are exact all the same. */
#define PHOTON_GATHER_POWER_STEPS 0x1p30
#define PHOTON_WEIGHT_STEPS       0x1p21
#define PHOTON_MIN_SHARE          0x1p-60f /* has the weight of 0 */
#define PHOTON_MAX_SHARE          4.0f     /* weighs nothing, as 1 does */

typedef struct photon_power_sum {
    uint64_t steps[3];
} photon_power_sum;

/* Steps for each unit of power. Floats hold no power of photons of less than this unit. */
static inline double photon_sum_steps(double unit) { return unit > 1e-60 ? PHOTON_GATHER_POWER_STEPS / unit : 0; }

/* A photon's power, of one colour, in steps. */
MOTE_HD uint32_t photon_power_steps(float power, double steps) {
    const double of_power = (double)power * steps;
    return of_power > 0 ? (uint32_t)(photon_min(of_power, 0x1p31) + 0.5) : 0;
}

/* The weight of a photon is a + b · root of its share + c · its share, and 0 where that is less. */
typedef struct photon_filter_terms {
    float a, b, c;
    float flatness; /* root of the compression's square less 1 */
} photon_filter_terms;

static inline photon_filter_terms photon_filter_terms_of(const mote_photon_gathering *g) {
    const bool cone = g->filter == MOTE_PHOTON_FILTER_CONE, square = g->filter == MOTE_PHOTON_FILTER_EPANECHNIKOV;
    const float c = (float)g->compression;
    const photon_filter_terms terms = {cone     ? 3.0f
                                       : square ? 2.0f
                                                : 1.0f,
                                       cone ? -3.0f : 0.0f, square ? -2.0f : 0.0f, sqrtf(c * c - 1)};
    return terms;
}

/* A disc as floats see it. */
typedef struct photon_float_disc {
    float per_radius;
    float flat[3]; /* the normal times the flatness */
} photon_float_disc;

MOTE_HD photon_float_disc photon_float_disc_of(const photon_filter_terms *terms, const float normal[3],
                                               double radius2) {
    photon_float_disc disc;
    disc.per_radius = (float)photon_min(1 / sqrt(radius2), (double)PHOTON_WIDE);
    for (int k = 0; k < 3; k++) disc.flat[k] = normal[k] * terms->flatness;
    return disc;
}

/* The root of a float from PHOTON_MIN_SHARE to PHOTON_MAX_SHARE, rounded as IEEE 754 does: what a GPU's own function
   does within this range, and without its branch for those beyond. */
MOTE_HD float photon_share_root(float share) {
#if defined(__CUDA_ARCH__)
    float guess;
    asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(guess) : "f"(share));
    const float root = share * guess;
    return fmaf(fmaf(-root, root, share), 0.5f * guess, root);
#else
    return sqrtf(share);
#endif
}

/* Returns the weight, in steps, of a photon that is so far from the middle of a disc. */
MOTE_HD uint32_t photon_weight_steps(const photon_filter_terms *terms, const photon_float_disc *disc, float dx,
                                     float dy, float dz) {
    const float x = dx * disc->per_radius, y = dy * disc->per_radius, z = dz * disc->per_radius;
    const float along = fmaf(disc->flat[2], z, fmaf(disc->flat[1], y, disc->flat[0] * x));
    const float far_share = fmaf(along, along, fmaf(z, z, fmaf(y, y, x * x)));
    const float share = photon_min_float(photon_max_float(far_share, PHOTON_MIN_SHARE), PHOTON_MAX_SHARE);
    const float weight = fmaf(terms->c, share, fmaf(terms->b, photon_share_root(share), terms->a));
    const float above_four = 4 + photon_max_float(weight, 0); /* its last bit is a step */
    const float four = 4;
    uint32_t bits, zero;
    memcpy(&bits, &above_four, sizeof bits);
    memcpy(&zero, &four, sizeof zero);
    return bits - zero;
}

MOTE_HD void photon_sum_weighted(photon_power_sum *sum, const uint32_t power[3], uint32_t weight) {
    for (int k = 0; k < 3; k++) sum->steps[k] += (uint64_t)power[k] * weight;
}

/* What a disc's photons are summed by. */
typedef struct photon_summing {
    photon_filter_terms terms;
    photon_float_disc disc;
    float place[3];
    double steps;
} photon_summing;

MOTE_HD void photon_sum_power(photon_power_sum *sum, const photon_record *photon, const photon_summing *by) {
    uint32_t power[3];
    for (int k = 0; k < 3; k++) power[k] = photon_power_steps(photon->power[k], by->steps);
    photon_sum_weighted(sum, power,
                        photon_weight_steps(&by->terms, &by->disc, photon->place[0] - by->place[0],
                                            photon->place[1] - by->place[1], photon->place[2] - by->place[2]));
}

/* The irradiance of a whole disc. share: of the photons of the map, which of those that were searched among are. */
MOTE_HD void photon_irradiance_of(const photon_power_sum *sum, double radius2, double steps_of_power, double share,
                                  float irradiance[3]) {
    const double steps = steps_of_power * PHOTON_WEIGHT_STEPS;
    const double per_step = steps > 0 ? 1 / (steps * (PHOTON_PI * radius2 * share)) : 0;
    for (int k = 0; k < 3; k++) irradiance[k] = (float)((double)sum->steps[k] * per_step);
}

MOTE_HD photon_vec photon_vec_of_floats(const float v[3]) {
    return photon_vec_of((double)v[0], (double)v[1], (double)v[2]);
}

/* What of a disc is surface that is seen from its middle. cut: out, by what photons are left out */
MOTE_HD double photon_part_of(const photon_view *scene, photon_vec place, const float normal[3],
                              const mote_photon_gathering *g, double radius2, photon_cut *cut) {
    const photon_vec axis = photon_vec_of_floats(normal);
    cut->matters = false;
    cut->count = 0;
    if (g->area == MOTE_PHOTON_AREA_DISC || !(photon_dot(axis, axis) > 0)) return 1;
    const photon_ellipsoid e = photon_ellipsoid_of(place, axis, g->compression, sqrt(radius2), g->filter);
    return photon_seen_part(scene, &e, cut);
}

MOTE_HD bool photon_is_kept(const photon_cut *cut, const photon_record *photon) {
    return !cut->matters ||
           photon_cut_keeps(cut, photon_vec_of_floats(photon->place), photon_vec_of_floats(photon->normal));
}

/* From the irradiance of a whole disc to that of what is surface in it. Volatile: where gcc 12 inlines this behind the
   function above, it leaves out that the irradiance of the whole disc is rounded to a float. */
MOTE_HD void photon_divide_by_part(double part, float irradiance[3]) {
    for (int k = 0; k < 3; k++) {
        const volatile float whole = irradiance[k];
        irradiance[k] = (float)((double)whole / part);
    }
}

#endif
