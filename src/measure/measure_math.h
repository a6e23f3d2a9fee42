/* What measuring shares: steps of height, and what coordinates are on the ground. Arithmetic alone, no function of the
   C library, so that the page, which runs this in WebAssembly, gets the same bits. */
#ifndef MOTE_MEASURE_MATH_H
#define MOTE_MEASURE_MATH_H

#include "shapes/region_math.h"

#define MEASURE_HEIGHT_STEPS 1e8  /* per unit: whatever decimals a file has, up to eight, are whole steps */
#define MEASURE_MAX_HEIGHT   1e10 /* 10^18 steps fit into 64 bits */

#define MEASURE_DEGREE 0.017453292519943295 /* radians */
#define MEASURE_POLE   89.0                 /* degrees: nearer to a pole one of longitude has hardly any length */

static inline double measure_size(double value) { return value < 0 ? -value : value; }

/* The cosine of an angle of at most a quarter turn, by its series: 25 terms leave less than a double tells. */
static inline double measure_cos(double radians) {
    const double square = radians * radians;
    double sum = 1;
    for (int i = 24; i > 0; i -= 2) sum = 1 - sum * square / ((double)i * (i - 1));
    return sum;
}

/* What an axis counts in; one of both is above 0, or none where it is not known. */
typedef struct measure_unit {
    double metres, radians;
} measure_unit;

/* What one of a coordinate is in the unit of the results. */
typedef struct measure_ground {
    double x, y, z;
} measure_ground;

/* Metres of a degree on the WGS 84 ellipsoid (NGA.STND.0036, series in the latitude), of an angle; 1 of lengths;
   heights become the unit of x and y where both are known. middle: y in the middle of what is measured. */
static inline measure_ground measure_ground_of(const measure_unit *horizontal, const measure_unit *vertical,
                                               double middle) {
    measure_ground ground = {1, 1, 1};
    if (!(horizontal->radians > 0)) {
        if (horizontal->metres > 0 && vertical->metres > 0) ground.z = vertical->metres / horizontal->metres;
        return ground;
    }
    const double degrees = horizontal->radians / MEASURE_DEGREE;
    double latitude = middle * degrees;
    if (latitude > MEASURE_POLE) latitude = MEASURE_POLE;
    if (latitude < -MEASURE_POLE) latitude = -MEASURE_POLE;
    const double c = measure_cos(latitude * MEASURE_DEGREE), c2 = 2 * c * c - 1;
    const double c3 = c * (4 * c * c - 3), c4 = 2 * c2 * c2 - 1, c5 = 2 * c2 * c3 - c, c6 = c2 * (4 * c2 * c2 - 3);
    ground.x = (111412.84 * c - 93.5 * c3 + 0.118 * c5) * degrees;
    ground.y = (111132.92 - 559.82 * c2 + 1.175 * c4 - 0.0023 * c6) * degrees;
    if (vertical->metres > 0) ground.z = vertical->metres;
    return ground;
}

#endif
