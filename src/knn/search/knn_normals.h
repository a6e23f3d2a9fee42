/* The normals that the ellipsoids of queries are flat along. */
#ifndef MOTE_KNN_NORMALS_H
#define MOTE_KNN_NORMALS_H

#include "core/core.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The columns of normals: normal_x, normal_y, normal_z, else nx, ny, nz. False: there are none. */
bool knn_find_normals(const mote_cloud *cloud, const mote_column *normals[3]);

#ifdef __cplusplus
}
#endif
#endif
