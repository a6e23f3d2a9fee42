/* What refining peaks takes and gives, and what a plane of the vote must be. Host only. */
#ifndef MOTE_PLANES_CANDIDATE_H
#define MOTE_PLANES_CANDIDATE_H

#include "planes/fit/planes_fit_math.h"

#define PLANES_MAX_PEAKS   256u /* of a round */
#define PLANES_CALIBRATED  24u  /* peaks whose noise is measured */
#define PLANES_CONTRAST    1.5  /* times as many points in a plane as beside it, on either side */
#define PLANES_SIGNIFICANT 5.0  /* standard deviations above the points beside */
#define PLANES_PEAKED      0.55 /* of the points within half the measured tolerance; half if they were spread evenly */

/* How a round refines; lengths in steps. */
typedef struct planes_refining {
    double resolution; /* radians between directions */
    double typical;    /* distance of points to the centre */
    double bin, tolerance, guard;
    uint32_t min; /* points of the sample that a plane has */
    uint32_t max; /* planes that are accepted at most */
    int32_t cone; /* of planes */
    bool peaked;  /* whether the points of a plane must peak */
} planes_refining;

/* The plane in the middle of a cell. */
typedef struct planes_start {
    double normal[3], offset;
    uint32_t votes;
} planes_start;

/* What a start leads to. */
typedef struct planes_candidate {
    planes_fit fit;
    uint32_t votes;
    uint32_t count;       /* free points of the sample in the plane */
    uint32_t inner;       /* of them within half the tolerance */
    uint32_t in_bands[2]; /* free points in the bands */
} planes_candidate;

/* The noise of the plane that a start leads to. */
typedef struct planes_calibrated {
    double noise;
    double weight; /* points of the peak; 0: there is none */
} planes_calibrated;

/* Whether there are enough more points in a plane than beside it for it to be one: least, at least. */
static inline bool planes_stands(uint64_t count, uint64_t inner, uint64_t below, uint64_t above, uint64_t min,
                                 bool peaked) {
    const double n = (double)count, max = (double)(below > above ? below : above);
    const double mean = 0.5 * ((double)below + (double)above);
    if (n - mean < (double)min || n - mean < 3) return false;
    if (n < PLANES_CONTRAST * max || n - mean < PLANES_SIGNIFICANT * sqrt(mean + 1)) return false;
    return !peaked || (double)inner >= PLANES_PEAKED * n - sqrt(n);
}

#endif
