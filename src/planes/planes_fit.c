/* Least squares: the plane through the centroid whose normal is the direction of least variance. */
#include "math/eigen3.h"
#include "planes/planes.h"

#define FLAT 1e-12 /* the second eigenvalue is above so much of the largest, or the points are on a line */

__extension__ typedef __int128 wide;

/* Of the covariance times n², in any unit: the plane's normal and, in that unit, the least eigenvalue. */
static bool solve(const double covariance[PLANES_PRODUCTS], double normal[3], double *least) {
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
    if (low == high || !(values[middle] > FLAT * values[high])) return false;
    for (int k = 0; k < 3; k++) normal[k] = m[6 + 3 * low + k];
    *least = values[low] > 0 ? values[low] * trace : 0;
    return true;
}

/* The first of z, y, x that is not 0 is above 0. */
static void turn_up(double normal[3]) {
    const double sign = normal[2] != 0 ? normal[2] : normal[1] != 0 ? normal[1] : normal[0];
    const double length = sqrt((normal[0] * normal[0] + normal[1] * normal[1]) + normal[2] * normal[2]);
    for (int k = 0; k < 3; k++) normal[k] = normal[k] / (sign < 0 ? -length : length) + 0.0;
}

static planes_fit fit_covariance(const double covariance[PLANES_PRODUCTS], double n, const double centroid[3]) {
    planes_fit fit;
    double least = 0;
    memset(&fit, 0, sizeof fit);
    if (!(n >= 3) || !solve(covariance, fit.normal, &least)) return fit;
    turn_up(fit.normal);
    for (int k = 0; k < 3; k++) fit.centroid[k] = centroid[k];
    fit.offset = (fit.normal[0] * centroid[0] + fit.normal[1] * centroid[1]) + fit.normal[2] * centroid[2];
    fit.rms = sqrt(least) / n;
    fit.valid = true;
    return fit;
}

static wide product_sum(const planes_sums *sums, int k) {
    return (wide)sums->low[k] + (wide)sums->high[k] * ((wide)1 << 32);
}

static const int product_axes[PLANES_PRODUCTS][2] = {{0, 0}, {0, 1}, {0, 2}, {1, 1}, {1, 2}, {2, 2}};

/* n times the sum of products less the product of sums: exact until it becomes a double. */
static void covariance_of(const planes_sums *sums, double covariance[PLANES_PRODUCTS]) {
    for (int k = 0; k < PLANES_PRODUCTS; k++) {
        const wide both = (wide)sums->first[product_axes[k][0]] * sums->first[product_axes[k][1]];
        covariance[k] = (double)((wide)sums->count * product_sum(sums, k) - both);
    }
}

planes_fit planes_fit_sums(const planes_sums *sums) {
    double covariance[PLANES_PRODUCTS], centroid[3];
    const double n = (double)sums->count;
    covariance_of(sums, covariance);
    for (int k = 0; k < 3; k++) centroid[k] = n > 0 ? (double)sums->first[k] / n : 0;
    return fit_covariance(covariance, n, centroid);
}

planes_fit planes_fit_moments(const planes_moments *m, const double pivot[3]) {
    double covariance[PLANES_PRODUCTS], centroid[3];
    for (int k = 0; k < PLANES_PRODUCTS; k++) {
        covariance[k] = m->n * m->products[k] - m->first[product_axes[k][0]] * m->first[product_axes[k][1]];
    }
    for (int k = 0; k < 3; k++) centroid[k] = pivot[k] + (m->n > 0 ? m->first[k] / m->n : 0);
    return fit_covariance(covariance, m->n, centroid);
}

double planes_mean_distance(const planes_sums *sums, const planes_fit *to) {
    double c[PLANES_PRODUCTS], away = -to->offset;
    const double n = (double)sums->count, *v = to->normal;
    if (!(n > 0)) return INFINITY;
    covariance_of(sums, c);
    for (int k = 0; k < 3; k++) away += v[k] * ((double)sums->first[k] / n);
    const double along = v[0] * (v[0] * c[0] + 2 * (v[1] * c[1] + v[2] * c[2])) +
                         v[1] * (v[1] * c[3] + 2 * v[2] * c[4]) + v[2] * v[2] * c[5];
    return sqrt((along > 0 ? along / (n * n) : 0) + away * away);
}

planes_plane planes_plane_of(const planes_run *run, const planes_fit *fit) {
    planes_plane plane;
    plane.a = (float)fit->normal[0];
    plane.b = (float)fit->normal[1];
    plane.c = (float)fit->normal[2];
    plane.d = (float)fit->offset;
    plane.tolerance = (float)run->tolerance;
    plane.guard = (float)(PLANES_GUARD * run->tolerance);
    plane.normal = planes_pack_normal(plane.a, plane.b, plane.c);
    plane.cone = run->cone;
    return plane;
}

void planes_perpendicular(const double normal[3], double u[3], double v[3]) {
    int least = 0;
    for (int k = 1; k < 3; k++) {
        if (fabs(normal[k]) < fabs(normal[least])) least = k;
    }
    double length2 = 0;
    for (int k = 0; k < 3; k++) u[k] = (k == least ? 1.0 : 0.0) - normal[least] * normal[k];
    for (int k = 0; k < 3; k++) length2 += u[k] * u[k];
    for (int k = 0; k < 3; k++) u[k] /= sqrt(length2);
    v[0] = normal[1] * u[2] - normal[2] * u[1];
    v[1] = normal[2] * u[0] - normal[0] * u[2];
    v[2] = normal[0] * u[1] - normal[1] * u[0];
}
