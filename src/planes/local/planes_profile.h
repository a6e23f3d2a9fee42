/* Profiles: how many points of a body lie how far along a direction, and how many would if the place along the body and
   the distance from it were independent. */
#ifndef MOTE_PLANES_PROFILE_H
#define MOTE_PLANES_PROFILE_H

#include <stdbool.h>
#include <stdint.h>

#define PLANES_PROFILE_POINTS 12288u
#define PLANES_PROFILE_BINS   2048u
#define PLANES_MAX_BLUR       64 /* bins that a blur reaches */

/* The points of a body, from its middle, or every few of them. */
typedef struct planes_profile_points {
    uint32_t count; /* up to PLANES_PROFILE_POINTS */
    const float *x, *y, *z;
    double normal[3], noise; /* of the body */
} planes_profile_points;

/* A normal distribution over bins. */
typedef struct planes_blur {
    int reach;
    float weights[2 * PLANES_MAX_BLUR + 1]; /* of a bin that is k bins away: [k + reach] */
} planes_blur;

typedef struct planes_profile {
    double low, bin; /* where the first bin begins; the width of one */
    uint32_t bins;
    float counts[PLANES_PROFILE_BINS], expected[PLANES_PROFILE_BINS]; /* counts: zeros up to a multiple of 8 bins */
} planes_profile;

/* deviation: bins */
planes_blur planes_blur_of(double deviation);
/* Spreads each bin; what would go beyond an end stays there. from: not negative; to: [bins] rounded up to a multiple of
   32 */
void planes_blur_bins(const float *from, uint32_t bins, const planes_blur *blur, float *to);

/* blur: of the body's noise. False: the body reaches too far along the direction for such small bins. */
bool planes_profile_make(const planes_profile_points *points, const double direction[3], double bin,
                         const planes_blur *blur, planes_profile *profile);
/* The nats that the counts say more than expected; what as many bins say by chance is taken off. */
double planes_profile_score(const planes_profile *profile);
/* No less than the score, and mostly little more; faster. */
double planes_profile_bound(const planes_profile *profile);

#endif
