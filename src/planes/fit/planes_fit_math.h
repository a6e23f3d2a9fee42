/* Least squares: the plane through the centroid whose normal is the direction of least variance. One copy for C and
   CUDA. Sums are whole numbers, exact until they become doubles; from there on each operation rounds as IEEE says. */
#ifndef MOTE_PLANES_FIT_MATH_H
#define MOTE_PLANES_FIT_MATH_H

#include "math/eigen3.h"
#include "planes/planes_math.h"

#define PLANES_FLAT 1e-12 /* the second eigenvalue is above so much of the largest, or the points are on a line */

/* A plane in steps: normal · q = offset. */
typedef struct planes_fit {
    double normal[3], offset, centroid[3];
    double rms;
    bool valid; /* false: the points are in one place or on a line */
} planes_fit;

MOTE_HD double planes_dot(const double a[3], const double b[3]) { return (a[0] * b[0] + a[1] * b[1]) + a[2] * b[2]; }

MOTE_HD void planes_cross(const double a[3], const double b[3], double to[3]) {
    to[0] = a[1] * b[2] - a[2] * b[1];
    to[1] = a[2] * b[0] - a[0] * b[2];
    to[2] = a[0] * b[1] - a[1] * b[0];
}

/* ---- covariance */

__extension__ typedef __int128 planes_wide;
__extension__ typedef unsigned __int128 planes_unsigned_wide;

/* The nearest double, ties to even: written out, for a GPU's own conversion need not be the CPU's. */
MOTE_HD double planes_wide_to_double(planes_wide value) {
    planes_unsigned_wide size = value < 0 ? 0 - (planes_unsigned_wide)value : (planes_unsigned_wide)value;
    double unit = 1;
    while ((uint64_t)(size >> 64) != 0) { /* what is shifted out stays known in the last bit */
        size = size >> 1 | (size & 1);
        unit *= 2;
    }
    const double rounded = (double)(uint64_t)size * unit;
    return value < 0 ? -rounded : rounded;
}

MOTE_HD planes_wide planes_product_sum(const planes_sums *sums, int k) {
    return (planes_wide)sums->low[k] + (planes_wide)sums->high[k] * ((planes_wide)1 << 32);
}

MOTE_HD double planes_covariance_at(const planes_sums *sums, int k, int a, int b) {
    const planes_wide both = (planes_wide)sums->first[a] * sums->first[b];
    return planes_wide_to_double((planes_wide)sums->count * planes_product_sum(sums, k) - both);
}

/* n times the sum of products less the product of sums: the covariance times n². */
MOTE_HD void planes_covariance(const planes_sums *sums, double covariance[PLANES_PRODUCTS]) {
    covariance[0] = planes_covariance_at(sums, 0, 0, 0);
    covariance[1] = planes_covariance_at(sums, 1, 0, 1);
    covariance[2] = planes_covariance_at(sums, 2, 0, 2);
    covariance[3] = planes_covariance_at(sums, 3, 1, 1);
    covariance[4] = planes_covariance_at(sums, 4, 1, 2);
    covariance[5] = planes_covariance_at(sums, 5, 2, 2);
}

/* Root of the mean squared distance to the centroid. */
MOTE_HD double planes_size_of(const planes_sums *sums) {
    double c[PLANES_PRODUCTS];
    planes_covariance(sums, c);
    return sums->count > 0 ? sqrt((c[0] + c[3]) + c[5]) / (double)sums->count : 0;
}

/* Root of the mean squared distance of what is summed up to a plane. */
MOTE_HD double planes_mean_distance(const planes_sums *sums, const planes_fit *to) {
    double c[PLANES_PRODUCTS], away = -to->offset;
    const double n = (double)sums->count, *v = to->normal;
    if (!(n > 0)) return INFINITY;
    planes_covariance(sums, c);
    for (int k = 0; k < 3; k++) away += v[k] * ((double)sums->first[k] / n);
    const double along = v[0] * (v[0] * c[0] + 2 * (v[1] * c[1] + v[2] * c[2])) +
                         v[1] * (v[1] * c[3] + 2 * v[2] * c[4]) + v[2] * v[2] * c[5];
    return sqrt((along > 0 ? along / (n * n) : 0) + away * away);
}

/* ---- planes */

/* Finds a plane's normal and, in the unit of the covariance, the least eigenvalue. covariance: times n², in any unit */
MOTE_HD bool planes_min_direction(const double covariance[PLANES_PRODUCTS], double normal[3], double *min) {
    double m[EIGEN3_NUMBERS];
    const double trace = (covariance[0] + covariance[3]) + covariance[5];
    if (!(trace > 0)) return false;
    for (int k = 0; k < PLANES_PRODUCTS; k++) m[k] = covariance[k] / trace;
    eigen3_solve(m, 1);
    const double values[3] = {m[0], m[3], m[5]};
    int low = 0, high = 0;
    for (int k = 1; k < 3; k++) {
        if (values[k] < values[low]) low = k;
        if (values[k] >= values[high]) high = k;
    }
    const int middle = 3 - low - high;
    if (low == high || !(values[middle] > PLANES_FLAT * values[high])) return false;
    for (int k = 0; k < 3; k++) normal[k] = m[6 + 3 * low + k];
    *min = values[low] > 0 ? values[low] * trace : 0;
    return true;
}

/* The first of z, y, x that is not 0 is above 0. */
MOTE_HD void planes_turn_up(double normal[3]) {
    const double sign = normal[2] != 0 ? normal[2] : normal[1] != 0 ? normal[1] : normal[0];
    const double length = sqrt(planes_dot(normal, normal));
    for (int k = 0; k < 3; k++) normal[k] = normal[k] / (sign < 0 ? -length : length) + 0.0;
}

MOTE_HD planes_fit planes_fit_sums(const planes_sums *sums) {
    planes_fit fit;
    double covariance[PLANES_PRODUCTS], min = 0;
    const double n = (double)sums->count;
    memset(&fit, 0, sizeof fit);
    planes_covariance(sums, covariance);
    if (!(n >= 3) || !planes_min_direction(covariance, fit.normal, &min)) return fit;
    planes_turn_up(fit.normal);
    for (int k = 0; k < 3; k++) fit.centroid[k] = (double)sums->first[k] / n;
    fit.offset = planes_dot(fit.normal, fit.centroid);
    fit.rms = sqrt(min) / n;
    fit.valid = true;
    return fit;
}

/* Two perpendicular directions in a plane of that normal. */
MOTE_HD void planes_perpendicular(const double normal[3], double u[3], double v[3]) {
    int min = 0;
    for (int k = 1; k < 3; k++) {
        if (fabs(normal[k]) < fabs(normal[min])) min = k;
    }
    double length2 = 0;
    for (int k = 0; k < 3; k++) u[k] = (k == min ? 1.0 : 0.0) - normal[min] * normal[k];
    for (int k = 0; k < 3; k++) length2 += u[k] * u[k];
    for (int k = 0; k < 3; k++) u[k] /= sqrt(length2);
    planes_cross(normal, u, v);
}

/* The plane through three points; false: there is none. */
MOTE_HD bool planes_through(const float a[3], const float b[3], const float c[3], planes_plane *plane) {
    double u[3], v[3], n[3];
    for (int k = 0; k < 3; k++) {
        u[k] = (double)b[k] - (double)a[k];
        v[k] = (double)c[k] - (double)a[k];
    }
    planes_cross(u, v, n);
    const double length = sqrt(planes_dot(n, n));
    memset(plane, 0, sizeof *plane);
    if (!(length > 0)) return false;
    for (int k = 0; k < 3; k++) n[k] /= length;
    plane->a = (float)n[0];
    plane->b = (float)n[1];
    plane->c = (float)n[2];
    plane->d = (float)((n[0] * (double)a[0] + n[1] * (double)a[1]) + n[2] * (double)a[2]);
    return true;
}

/* The plane as passes over points take it. */
MOTE_HD planes_plane planes_plane_from(const planes_fit *fit, double tolerance, double guard, int32_t cone) {
    planes_plane plane;
    plane.a = (float)fit->normal[0];
    plane.b = (float)fit->normal[1];
    plane.c = (float)fit->normal[2];
    plane.d = (float)fit->offset;
    plane.tolerance = (float)tolerance;
    plane.guard = (float)guard;
    plane.normal = planes_pack_normal(plane.a, plane.b, plane.c);
    plane.cone = cone;
    memset(&plane.reach, 0, sizeof plane.reach);
    return plane;
}

#endif
