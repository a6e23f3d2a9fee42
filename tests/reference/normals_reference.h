/* Normals, density, outliers and orientation from explicit lists of neighbours: slow, short, and right. */
#ifndef MOTE_NORMALS_REFERENCE_H
#define MOTE_NORMALS_REFERENCE_H

#include "mote/normals.h"

/* Eigenvalues, ascending, and vectors of a symmetric matrix: rotations until nothing is left to rotate. */
void normals_reference_eigen(long double matrix[3][3], long double value[3], long double vector[3][3]);

/* Runs mote_normals with all arrays and checks every value of every point. params not PROPAGATE. */
void normals_reference_check(mote_context *ctx, const mote_cloud *cloud, const mote_normals_params *params,
                             const char *what);
/* The same with PROPAGATE: every normal must be that of NONE, turned as a tree walked from its topmost point says. */
void normals_reference_check_propagate(mote_context *ctx, const mote_cloud *cloud, const mote_normals_params *params,
                                       const char *what);
/* Runs mote_outliers and checks every flag and distance. */
void normals_reference_check_outliers(mote_context *ctx, const mote_cloud *cloud, const mote_outliers_params *params,
                                      const char *what);

#endif
