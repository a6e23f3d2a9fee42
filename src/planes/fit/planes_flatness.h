/* How flat a window of the order is: a plane is fitted in it that half of the points need not heed (least quantile of
   squares, Rousseeuw 1984). Host only. */
#ifndef MOTE_PLANES_FLATNESS_H
#define MOTE_PLANES_FLATNESS_H

#include "math/hash.h"
#include "math/pi.h"
#include "planes/fit/planes_fit_math.h"

#define PLANES_WINDOWS       192u
#define PLANES_WINDOW        48u /* points of one */
#define PLANES_TRIALS        32u /* planes through three of them */
#define PLANES_QUANTILE      16u /* the trial whose so-many-th residual is the least wins: a third of the window */
#define PLANES_SCALES        12u
#define PLANES_WIDENING      4u
#define PLANES_WINDOW_FITS   5
#define PLANES_FLATNESS      0.1 /* the noise is below so much of the size of a flat window */
#define PLANES_WINDOW_MIN    18u /* points in the plane of a window */
#define PLANES_WINDOW_MIDDLE (PLANES_WINDOW / 2)
#define PLANES_WINDOW_REACH  2.0 /* steps: floats do not tell less in a wide window */

typedef struct planes_flatness {
    double noise, spacing;
    bool flat;
} planes_flatness;

/* The place in the order of point i of a window of every step-th point; a window has about the same middle at every
   scale. */
static inline uint32_t planes_window_place(uint32_t count, uint32_t windows, uint32_t window, uint64_t step,
                                           uint32_t i) {
    const uint64_t starts = count - step * (PLANES_WINDOW - 1);
    return (uint32_t)((2 * (uint64_t)window + 1) * starts / (2 * (uint64_t)windows) + i * step);
}

/* How many scales there are: at the widest four windows of all points. */
static inline uint32_t planes_scale_count(uint32_t count) {
    uint32_t scales = 1;
    for (uint64_t step = PLANES_WIDENING; scales < PLANES_SCALES; step *= PLANES_WIDENING, scales++) {
        if (step * PLANES_WINDOW * 4 > count) break;
    }
    return scales;
}

/* ---- trials */

/* Which point of the window is corner 0, 1 or 2 of a trial's plane. */
static inline uint32_t planes_trial_corner(uint32_t window, uint32_t trial, int corner) {
    return (uint32_t)(mote_hash_pair(window, trial) >> (16 * corner) & 0xFFFF) % PLANES_WINDOW;
}

/* ---- least squares of what is near */

typedef struct planes_window_fit {
    planes_fit fit;
    double reach; /* of the points that are taken next */
    double deviation, size;
    uint32_t count;
} planes_window_fit;

static inline double planes_window_reach(double reach, double resolution) {
    return fmax(reach, fmax(PLANES_WINDOW_REACH, 0.5 * resolution));
}

/* quantile: the best trial's; of a normal distribution that is at 0.43 standard deviations, which is cut at 2.5. */
static inline planes_window_fit planes_window_begin(float quantile, double resolution) {
    planes_window_fit w;
    memset(&w, 0, sizeof w);
    w.reach = planes_window_reach((double)quantile / 0.43 * 2.5, resolution);
    return w;
}

/* sums: of the points within reach of the plane before. False: there is no plane. */
static inline bool planes_window_next(const planes_sums *sums, double resolution, planes_window_fit *w) {
    const double n = (double)sums->count;
    if (sums->count < PLANES_WINDOW_MIN) return false;
    w->fit = planes_fit_sums(sums);
    w->deviation = w->fit.rms * sqrt(n / (n - 3));
    w->size = planes_size_of(sums);
    w->count = (uint32_t)sums->count;
    w->reach = planes_window_reach(2.7 * w->deviation, resolution);
    return w->fit.valid;
}

/* Of a disc the root of the mean squared distance to its middle is its radius over sqrt(2). A window has every step-th
   point: so much denser are all. */
static inline planes_flatness planes_window_end(const planes_window_fit *w, uint64_t step) {
    planes_flatness found;
    found.noise = w->deviation;
    found.spacing = sqrt(2 * MOTE_PI / w->count) * w->size / sqrt((double)step);
    found.flat = w->deviation <= PLANES_FLATNESS * w->size && w->size > 0;
    return found;
}

#endif
