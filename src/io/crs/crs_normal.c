#include "io/crs/crs_normal.h"

#include <math.h>
#include <string.h>

#include "io/crs/crs_step.h"

#define DIFFERENCE_M 1.0 /* that derivatives are taken over: curvature and rounding are below 1e-6 there */

void crs_turn_normals(const crs_transformer *t, int thread, uint32_t count, const double *const from[3],
                      const double *const to[3], double *const normals[3]) {
    double moved[3][CRS_BLOCK_POINTS], slope[3][3][CRS_BLOCK_POINTS]; /* of coordinate k along axis j, in metres */
    const crs_axes *before = mote_crs_transformer_from(t), *behind = mote_crs_transformer_to(t);
    double metres[3];
    for (int j = 0; j < 3; j++) {
        for (int k = 0; k < 3; k++) memcpy(moved[k], from[k], count * sizeof *moved[k]);
        for (uint32_t i = 0; i < count; i++) {
            crs_metres(before, from[1][i], metres);
            moved[j][i] += DIFFERENCE_M / metres[j];
        }
        mote_crs_transformer_run(t, thread, count, moved[0], moved[1], moved[2]);
        for (uint32_t i = 0; i < count; i++) {
            crs_metres(behind, to[1][i], metres);
            for (int k = 0; k < 3; k++) slope[k][j][i] = (moved[k][i] - to[k][i]) * metres[k] / DIFFERENCE_M;
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        double turned[3], determinant = 0, length = 0;
        for (int k = 0; k < 3; k++) {
            const int p = (k + 1) % 3, q = (k + 2) % 3;
            turned[k] = 0;
            for (int j = 0; j < 3; j++) {
                const int u = (j + 1) % 3, v = (j + 2) % 3;
                const double cofactor = slope[p][u][i] * slope[q][v][i] - slope[p][v][i] * slope[q][u][i];
                turned[k] += cofactor * normals[j][i];
                if (k == 0) determinant += slope[0][j][i] * cofactor;
            }
            length += turned[k] * turned[k];
        }
        const double old =
            sqrt(normals[0][i] * normals[0][i] + normals[1][i] * normals[1][i] + normals[2][i] * normals[2][i]);
        const double factor = length > 0 && isfinite(length) ? copysign(old / sqrt(length), determinant) : 0;
        if (factor == 0) continue;
        for (int k = 0; k < 3; k++) normals[k][i] = factor * turned[k];
    }
}
