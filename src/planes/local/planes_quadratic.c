/* Surfaces by least squares, quadratic ones first, and how much better than a plane one explains points. */
#include <math.h>
#include <string.h>

#include "planes/local/planes_growth.h"

static inline void add_terms(planes_quadratic *sums, const double *terms, int count, double distance, double weight) {
    for (int row = 0; row < count; row++) {
        for (int column = 0; column <= row; column++)
            sums->products[row][column] += weight * terms[row] * terms[column];
        sums->with_distance[row] += weight * terms[row] * distance;
    }
    sums->squares += weight * distance * distance;
}

void planes_terms_add(planes_quadratic *sums, const double terms[PLANES_TERMS], double distance, double weight) {
    add_terms(sums, terms, PLANES_TERMS, distance, weight);
}

void planes_quadratic_add(planes_quadratic *sums, double u, double v, double distance, double weight) {
    const double terms[PLANES_QUADRATIC] = {1, u, v, u * u, u * v, v * v};
    add_terms(sums, terms, PLANES_QUADRATIC, distance, weight);
}

/* Cholesky's decomposition of the normal equations: what each term adds is the square of what is left in its place. */
static void decompose(planes_quadratic *sums, int terms) {
    double(*products)[PLANES_TERMS] = sums->products, *with_distance = sums->with_distance;
    for (int k = 0; k < terms; k++) {
        const double whole = products[k][k];
        for (int i = 0; i < k; i++) products[k][k] -= products[k][i] * products[k][i];
        for (int i = 0; i < k; i++) with_distance[k] -= products[k][i] * with_distance[i];
        if (!(products[k][k] > 1e-9 * whole)) {
            memset(with_distance + k, 0, (size_t)(terms - k) * sizeof *with_distance);
            memset(products + k, 0, (size_t)(terms - k) * sizeof *products);
            return;
        }
        products[k][k] = sqrt(products[k][k]);
        with_distance[k] /= products[k][k];
        for (int row = k + 1; row < terms; row++) {
            for (int i = 0; i < k; i++) products[row][k] -= products[row][i] * products[k][i];
            products[row][k] /= products[k][k];
        }
    }
}

double planes_quadratic_solve(planes_quadratic *sums, int terms, double *solved) {
    double left = sums->squares;
    decompose(sums, terms);
    for (int k = terms - 1; k >= 0; k--) {
        solved[k] = 0;
        if (!(sums->products[k][k] > 0)) continue;
        solved[k] = sums->with_distance[k];
        left -= solved[k] * solved[k];
        for (int i = k + 1; i < terms; i++) solved[k] -= sums->products[i][k] * solved[i];
        solved[k] /= sums->products[k][k];
    }
    return left;
}

double planes_quadratic_share(planes_quadratic *sums) {
    double plane = sums->squares, curve = 0;
    decompose(sums, PLANES_QUADRATIC);
    for (int k = 0; k < 3; k++) plane -= sums->with_distance[k] * sums->with_distance[k];
    for (int k = 3; k < PLANES_QUADRATIC; k++) curve += sums->with_distance[k] * sums->with_distance[k];
    return plane > 0 ? curve / plane : 0;
}
