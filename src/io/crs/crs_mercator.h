/* From one transverse Mercator projection to another, without PROJ: the series of Krueger in the form of Karney (2011),
   of 6th order, whose own error is below 5 nm up to 3,900 km from the meridian. What PROJ makes of the same projections
   is within nanometres of it.

     x, y --(beta)--> xi', eta' --> a vector on the conformal sphere --(turned about its axis)--> xi', eta' --(alpha)-->

   The sphere is what makes it fast: no latitude and no longitude is needed on the way, and of the trigonometric
   functions only one pair and two inverse ones. Loops hold neither calls nor branches, so that compilers make vectors
   of them; each point's result depends on that point alone.
   Source: Karney, Transverse Mercator with an accuracy of a few nanometers, J. Geodesy 85 (2011), equations 11 to 36 */
#ifndef MOTE_CRS_MERCATOR_H
#define MOTE_CRS_MERCATOR_H

#include <stdbool.h>
#include <stdint.h>

#define MERCATOR_ORDER  6
#define MERCATOR_POINTS 512u /* at once at most: what a block needs stays in the first cache */

typedef struct mercator_projection {
    double a, flattening;      /* of the ellipsoid, metres */
    double scale;              /* along the central meridian */
    double meridian, latitude; /* of the origin, radians */
    double easting, northing;  /* of the origin, in units */
    double unit;               /* metres */
} mercator_projection;

typedef struct mercator_series {
    double n;                 /* third flattening */
    double radius;            /* scale · rectifying radius, in units */
    double easting, northing; /* of the equator on the central meridian */
    double alpha[MERCATOR_ORDER], beta[MERCATOR_ORDER];
} mercator_series;

typedef struct mercator_change {
    mercator_series from, to;
    double cos_turn, sin_turn; /* from one central meridian to the other */
    double flattening_step;    /* 4 · difference of n: the conformal latitudes of two ellipsoids that are nearly one */
} mercator_change;

/* False where the two are too far from each other for it: ellipsoids of other sizes, which another datum comes with. */
bool mercator_change_make(const mercator_projection *from, const mercator_projection *to, mercator_change *change);

/* Brings count points, at most MERCATOR_POINTS, to the other projection. valid: false, and nonsense in x and y, for
   those too far from either meridian, or too near to a pole. */
void mercator_change_run(const mercator_change *change, uint32_t count, double *x, double *y, bool *valid);

#endif
