/* Steps and origins of positions in another reference system: no coordinate is to lose more than it had. */
#include "io/crs/crs_step.h"

#include <math.h>

#define SAME_STEP   1.01  /* a step may grow so much: what scales of projections differ by is far less */
#define STEPS_NEAR  1.0e9 /* an origin of 0 will do up to here, which leaves room for a box that is too small */
#define ROUND_STEPS 1.0e6 /* another origin is a multiple of so many steps */
#define EARTH_A     6378137.0
#define EARTH_E2    0.00669437999014

void crs_metres(const crs_axes *axes, double latitude, double metres[3]) {
    metres[0] = metres[1] = axes->unit;
    metres[2] = axes->is_geocentric ? axes->unit : axes->height_unit > 0 ? axes->height_unit : 1;
    if (!axes->is_geographic) return;
    const double s = sin(latitude * axes->unit), w = 1 - EARTH_E2 * s * s;
    metres[0] *= EARTH_A / sqrt(w) * fmax(cos(latitude * axes->unit), 1e-6);
    metres[1] *= EARTH_A * (1 - EARTH_E2) / (w * sqrt(w));
}

/* The largest power of ten that is not above a step. */
static double round_step(double step) {
    double power = pow(10, floor(log10(step)));
    if (power * 10 <= step * SAME_STEP) power *= 10;
    /* 1 over a whole number, as decimals are read. */
    return power < 1 ? 1 / nearbyint(1 / power) : power;
}

double crs_step(double step, double metres, double new_metres) {
    const double wanted = step * metres / new_metres;
    if (!(wanted > 0) || !isfinite(wanted)) return step;
    return step <= wanted * SAME_STEP && step * 10 > wanted ? step : round_step(wanted * SAME_STEP);
}

double crs_offset(double low, double high, double step) {
    if (!(low <= high) || fmax(fabs(low), fabs(high)) / step <= STEPS_NEAR) return 0;
    const double middle = 0.5 * low + 0.5 * high, unit = nearbyint(middle / (ROUND_STEPS * step)) * ROUND_STEPS;
    /* Decimal, where the step is. */
    const double inverse = nearbyint(1 / step);
    return step < 1 && 1 / inverse == step ? unit / inverse : unit * step;
}
