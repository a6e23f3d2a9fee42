/* The normals that the ellipsoids of queries are flat along. */
#ifndef MOTE_KNN_NORMALS_H
#define MOTE_KNN_NORMALS_H

#include "core/cloud.h"

/* The columns of normals: normal_x, normal_y, normal_z, else nx, ny, nz. False: there are none. */
static inline bool knn_find_normals(const mote_cloud *cloud, const mote_column *normals[3]) {
    static const char *const names[2][3] = {{"normal_x", "normal_y", "normal_z"}, {"nx", "ny", "nz"}};
    for (int set = 0; set < 2; set++) {
        for (int k = 0; k < 3; k++) normals[k] = mote_cloud_find(cloud, names[set][k]);
        if (normals[0] != NULL && normals[1] != NULL && normals[2] != NULL) return true;
    }
    return false;
}

#endif
