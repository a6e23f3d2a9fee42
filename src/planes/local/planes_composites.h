/* What is told of a body by the distances of its points along directions: shared by planes_composites.c and
   planes_series.c. */
#ifndef PLANES_COMPOSITES_H
#define PLANES_COMPOSITES_H

#include "planes/local/planes_local.h"

#define COMPOSITE_MAX_POINTS 12288u
#define COMPOSITE_MAX_HEAPS  64u
#define COMPOSITE_TRUNCATED  4 /* deviations of a normal distribution: nothing is farther off */
#define PLANES_PROFILE_BINS  2048u
#define PLANES_MAX_BLUR      64 /* bins that a blur reaches */

/* Points from the middle of a body. */
typedef struct composite_columns {
    uint32_t count;
    float x[COMPOSITE_MAX_POINTS], y[COMPOSITE_MAX_POINTS], z[COMPOSITE_MAX_POINTS];
} composite_columns;

/* A normal distribution over bins. */
typedef struct planes_blur {
    int reach;
    float weights[2 * PLANES_MAX_BLUR + 1]; /* of a bin that is k bins away: [k + reach] */
} planes_blur;

/* The points of a body that vote. */
typedef struct composite_body {
    composite_columns all, some;          /* some: every few of all, while all directions are tried */
    uint32_t stride;                      /* of them */
    double weight;                        /* points of the sample for each */
    uint32_t point[COMPOSITE_MAX_POINTS]; /* of the sample */
    double at[3], normal[3], noise;
    planes_blur blur; /* by the noise, while directions are tried */
} composite_body;

/* How many points of a body lie how far along a direction, and how many would if the place along the body and the
   distance from it were independent. */
typedef struct planes_profile {
    double low, bin; /* where the first bin begins; the width of one */
    uint32_t bins;
    float counts[PLANES_PROFILE_BINS], expected[PLANES_PROFILE_BINS]; /* counts: zeros up to a multiple of 8 bins */
} planes_profile;

/* Heaps of one noise along a direction; the rest of the points lies as expected. */
typedef struct composite_heaps {
    uint32_t count;
    double at[COMPOSITE_MAX_HEAPS], share[COMPOSITE_MAX_HEAPS], noise, rest;
    double nats;
} composite_heaps;

/* What is known of heaps before they are found. */
typedef struct heap_limits {
    double min_noise, max_noise; /* none has less; of more they are not kept */
    double rest;                 /* the share of points in no heap, to begin with */
} heap_limits;

/* ---- planes_profile.c */

/* deviation: bins */
planes_blur planes_blur_of(double deviation);
/* Spreads each bin; what would go beyond an end stays there. from: not negative; to: [bins] rounded up to a multiple of
   32 */
void planes_blur_bins(const float *from, uint32_t bins, const planes_blur *blur, float *to);

/* Of all points of a body, or of some; blur: by its noise. False: they reach too far along the direction for such small
   bins. */
bool planes_profile_make(const composite_body *body, const composite_columns *points, const double direction[3],
                         double bin, const planes_blur *blur, planes_profile *profile);
/* The nats that the counts say more than expected; what as many bins say by chance is taken off. */
double planes_profile_score(const planes_profile *profile);
/* No less than the score, and mostly little more; faster. */
double planes_profile_bound(const planes_profile *profile);

/* ---- planes_composites.c */

/* Takes the listed points of the sample, or every few of them if they are more than max, from the middle of the body;
   and of these every few for trials of directions. */
void composite_take_points(const planes_local *search, const uint32_t *list, uint32_t count, uint32_t max,
                           composite_body *body);
/* The direction that says more than all others; returns by how many nats; 0: none says enough. */
double composite_best_direction(const planes_local *search, const composite_body *body, double best[3]);
/* Tries numbers of heaps and noises side by side, and keeps those that explain the distances best, in nats; each heap
   costs what its place and its share cost to tell. */
void composite_find_heaps(const planes_local *search, const composite_body *body, const double n[3], heap_limits limits,
                          composite_heaps *best);
/* The middle of the points of a heap. */
void composite_middle(const composite_body *body, const double n[3], double at, double noise, double middle[3]);

/* ---- planes_rectangles.c */

#define PLANES_MAX_FAMILIES 4u

/* Planes of a body by their directions: family f has the planes from first[f] to first[f + 1]. */
typedef struct planes_families {
    uint32_t count;
    uint32_t first[PLANES_MAX_FAMILIES + 1];
    double normals[PLANES_MAX_FAMILIES][3];
} planes_families;

/* Turns the planes of each family together, and moves them, so that all families explain the points of the body
   together. */
void planes_refit_families(planes_local *search, const planes_families *families, const composite_body *body);

#endif
