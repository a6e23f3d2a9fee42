/* How likely a point within the tolerance of a plane is the plane's, and no stray: the plane's points are normal about
   it, strays are spread evenly. How many there are of each, the cell of the footprint says that the point is in
   (planes_grid.h): beyond the rim a lone stray has next to no weight, among many points of the plane it has most of
   one. Expectation and maximization (Dempster, Laird, Rubin 1977), with a share of strays for each cell.

   One copy for C and CUDA. Weights are whole numbers, so sums have no order. */
#ifndef MOTE_PLANES_WEIGHT_MATH_H
#define MOTE_PLANES_WEIGHT_MATH_H

#include "planes/fit/planes_fit_math.h"

#define PLANES_WEIGHT_ONE 64
#define PLANES_LONE       0.02f /* points of the plane that are expected where a point has no company */

/* ---- odds, a byte: five bits of exponent, from 2^-8 on, and three of mantissa */

#define PLANES_ODDS_SHIFT 20
#define PLANES_ODDS_MIN   952u /* 2^-8 */
#define PLANES_ODDS_MAX   255u

/* The plane's points in a cell to strays in it. The point that is asked about is left out: it does not speak for
   itself. */
MOTE_HD uint8_t planes_odds(uint32_t points, float strays) {
    const float others = fmaxf((float)points - 1.0f - strays, PLANES_LONE), odds = others / fmaxf(strays, 1e-9f);
    uint32_t bits;
    memcpy(&bits, &odds, sizeof bits);
    bits >>= PLANES_ODDS_SHIFT;
    if (bits < PLANES_ODDS_MIN) return 0;
    return (uint8_t)(bits - PLANES_ODDS_MIN < PLANES_ODDS_MAX ? bits - PLANES_ODDS_MIN : PLANES_ODDS_MAX);
}

/* The middle of those that are the same byte. */
MOTE_HD float planes_odds_value(uint8_t odds) {
    const uint32_t bits = ((uint32_t)odds + PLANES_ODDS_MIN) << PLANES_ODDS_SHIFT | 1u << (PLANES_ODDS_SHIFT - 1);
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* ---- weights */

typedef struct planes_mixture {
    planes_plane plane;
    float narrow; /* 1 / (128 variances) */
    float even;   /* the odds with which a point on the plane is as likely a stray */
} planes_mixture;

/* fit, tolerance: in steps; points are within it of some plane near this one. deviation above 0. */
MOTE_HD planes_mixture planes_mixture_of(const planes_fit *fit, double deviation, double tolerance) {
    planes_mixture m;
    m.plane = planes_plane_from(fit, tolerance, tolerance, 0);
    m.narrow = (float)(1 / (128 * deviation * deviation));
    m.even = (float)(2.5066282746310002 * deviation / (2 * tolerance));
    return m;
}

/* Of PLANES_WEIGHT_ONE. The exponential function is (1 + x / 64)^64: 11 % above it at three deviations. */
MOTE_HD int32_t planes_weight(const planes_mixture *m, float distance, uint8_t odds) {
    const float value = planes_odds_value(odds);
    float rise = distance * distance * m->narrow + 1.0f;
    for (int k = 0; k < 6; k++) rise *= rise;
    return (int32_t)((float)PLANES_WEIGHT_ONE * value / (value + m->even * rise) + 0.5f);
}

#endif
