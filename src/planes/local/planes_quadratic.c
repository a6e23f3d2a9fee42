/* How much better than a plane a quadratic surface explains points. */
#include <math.h>
#include <string.h>

#include "planes/local/planes_growth.h"

#define TERMS PLANES_QUADRATIC

void planes_quadratic_add(planes_quadratic *sums, double u, double v, double distance, double weight) {
    const double terms[TERMS] = {1, u, v, u * u, u * v, v * v};
    for (int row = 0; row < TERMS; row++) {
        for (int column = 0; column <= row; column++)
            sums->products[row][column] += weight * terms[row] * terms[column];
        sums->with_distance[row] += weight * terms[row] * distance;
    }
    sums->squares += weight * distance * distance;
}

void planes_quadratic_join(planes_quadratic *sums, const planes_quadratic *others) {
    for (int row = 0; row < TERMS; row++) {
        for (int column = 0; column <= row; column++) sums->products[row][column] += others->products[row][column];
        sums->with_distance[row] += others->with_distance[row];
    }
    sums->squares += others->squares;
}

/* By Cholesky's decomposition of the normal equations, where what each term adds is a square. */
planes_left planes_quadratic_left(planes_quadratic *sums) {
    double(*products)[TERMS] = sums->products, *with_distance = sums->with_distance;
    planes_left left = {sums->squares, 0};
    double curve = 0;
    for (int k = 0; k < TERMS; k++) {
        const double whole = products[k][k];
        for (int i = 0; i < k; i++) products[k][k] -= products[k][i] * products[k][i];
        for (int i = 0; i < k; i++) with_distance[k] -= products[k][i] * with_distance[i];
        if (!(products[k][k] > 1e-9 * whole)) break;
        products[k][k] = sqrt(products[k][k]);
        with_distance[k] /= products[k][k];
        for (int row = k + 1; row < TERMS; row++) {
            for (int i = 0; i < k; i++) products[row][k] -= products[row][i] * products[k][i];
            products[row][k] /= products[k][k];
        }
        const double explained = with_distance[k] * with_distance[k];
        if (k < 3) left.plane -= explained;
        if (k >= 3) curve += explained;
    }
    left.quadratic = left.plane - curve;
    return left;
}

/* The same decomposition gives the terms: from the last to the first. */
double planes_quadratic_solve(planes_quadratic *sums, int terms, double solved[TERMS]) {
    double left = sums->squares;
    planes_quadratic_left(sums);
    memset(solved, 0, TERMS * sizeof *solved);
    for (int k = terms - 1; k >= 0; k--) {
        if (!(sums->products[k][k] > 0)) continue;
        solved[k] = sums->with_distance[k];
        left -= solved[k] * solved[k];
        for (int i = k + 1; i < terms; i++) solved[k] -= sums->products[i][k] * solved[i];
        solved[k] /= sums->products[k][k];
    }
    return left;
}

double planes_quadratic_share(planes_quadratic *sums) {
    const planes_left left = planes_quadratic_left(sums);
    return left.plane > 0 ? 1 - left.quadratic / left.plane : 0;
}
