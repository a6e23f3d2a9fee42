/* From the neighbours of a point to its normal: one copy for C and CUDA. */
#ifndef MOTE_NORMALS_MATH_H
#define MOTE_NORMALS_MATH_H

#include <float.h>
#include <string.h>

#include "math/eigen3.h"
#include "math/pi.h"

#define NORMALS_FLAT  0x1p-40 /* the second eigenvalue is above so much of the largest, or the points are on a line */
#define NORMALS_SMALL 1e-280  /* traces below are no size at all: all neighbours are in one place */

#define NORMALS_MAX_NORM 0x1p531 /* of a cloud that is 2^-511 long; see normals_unit */

/* What differences of doubles along an axis are multiplied by before they are squared: the axis' scale, and the norm, a
   power of two that makes any cloud about 2^20 long (knn_metric.norm). 0 for clouds less than 2^-511 long: the squared
   distances of their points vanish in doubles, so that nobody knows which are neighbours, and none gets a normal. */
MOTE_HD double normals_unit(double scale, double norm) { return norm > NORMALS_MAX_NORM ? 0 : scale * norm; }

/* Sums over neighbours of their differences to the point. Those of steps of a scan are integers, and exact. */
typedef struct normals_sums {
    double n, x, y, z, xx, xy, xz, yy, yz, zz;
} normals_sums;

MOTE_HD void normals_add(normals_sums *sums, double x, double y, double z) {
    sums->x += x;
    sums->y += y;
    sums->z += z;
    sums->xx += x * x;
    sums->xy += x * y;
    sums->xz += x * z;
    sums->yy += y * y;
    sums->yz += y * z;
    sums->zz += z * z;
}

/* The covariance, times n² and then divided by its trace, as eigen3.h wants it; zeros for points in one place. */
MOTE_HD void normals_covariance(const normals_sums *s, double *m, uint32_t stride) {
    const double xx = s->n * s->xx - s->x * s->x, yy = s->n * s->yy - s->y * s->y, zz = s->n * s->zz - s->z * s->z;
    const double trace = (xx + yy) + zz;
    const double by = trace > NORMALS_SMALL && trace <= DBL_MAX ? 1 / trace : 0;
    m[0] = xx * by;
    m[1 * stride] = (s->n * s->xy - s->x * s->y) * by;
    m[2 * stride] = (s->n * s->xz - s->x * s->z) * by;
    m[3 * stride] = yy * by;
    m[4 * stride] = (s->n * s->yz - s->y * s->z) * by;
    m[5 * stride] = zz * by;
}

typedef struct normals_shape {
    double normal[3]; /* of unit length; zeros: none */
    double curvature;
} normals_shape;

/* The normal and curvature that a solved matrix tells. Of equal eigenvalues the first counts as the smallest. */
MOTE_HD normals_shape normals_shape_of(const double *m, uint32_t stride) {
    const double a = m[0], b = m[3 * stride], c = m[5 * stride];
    const double low = fmin(a, b), high = fmax(a, b), min = fmin(low, c);
    const double middle = fmax(low, fmin(high, c)), max = fmax(high, c);
    normals_shape shape = {{0, 0, 0}, 0};
    if (!(middle > NORMALS_FLAT * max)) return shape;
    for (uint32_t k = 0; k < 3; k++) { /* picked without an index, which would cost a GPU its registers */
        const double x = m[(6 + k) * stride], y = m[(9 + k) * stride], z = m[(12 + k) * stride];
        shape.normal[k] = a == min ? x : b == min ? y : z;
    }
    if (min > 0) shape.curvature = min / ((a + b) + c);
    return shape;
}

MOTE_HD void normals_flip(double normal[3]) {
    for (int k = 0; k < 3; k++) normal[k] = 0.0 - normal[k]; /* of 0, not -0 */
}

MOTE_HD bool normals_is_down(const double normal[3]) {
    if (normal[2] != 0) return normal[2] < 0;
    return normal[1] != 0 ? normal[1] < 0 : normal[0] < 0;
}

/* Whether it looks away from a viewpoint that is to (dx, dy, dz) of the point. */
MOTE_HD bool normals_is_away(const double normal[3], double dx, double dy, double dz) {
    const double along = (normal[0] * dx + normal[1] * dy) + normal[2] * dz;
    return along != 0 && along - along == 0 ? along < 0 : normals_is_down(normal);
}

/* Points per area of the disc in which n others lie; the farthest of them is sqrt(distance2) away. */
MOTE_HD float normals_surface_density(double n, double distance2) {
    return n > 0 ? (float)(n / (MOTE_PI * distance2)) : 0;
}

MOTE_HD float normals_volume_density(double n, double distance2) {
    return n > 0 ? (float)(n / (MOTE_PI * 4 / 3 * (distance2 * sqrt(distance2)))) : 0;
}

/* ---- orientation along edges */

/* What an edge costs: 0 for normals along one line, 1 for perpendicular ones; as bits that order likewise. */
MOTE_HD uint32_t normals_edge_cost(double along) {
    const float cost = (float)(1 - fmin(fabs(along), 1.0));
    uint32_t bits;
    memcpy(&bits, &cost, sizeof bits);
    return bits;
}

#endif
