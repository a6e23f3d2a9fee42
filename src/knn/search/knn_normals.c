/* The normals that the ellipsoids of queries are flat along. */
#include "knn/search/knn_normals.h"

#include "core/cloud.h"

bool knn_find_normals(const mote_cloud *cloud, const mote_column *normals[3]) {
    static const char *const names[2][3] = {{"normal_x", "normal_y", "normal_z"}, {"nx", "ny", "nz"}};
    for (int set = 0; set < 2; set++) {
        bool all = true;
        for (int k = 0; k < 3; k++) {
            normals[k] = mote_cloud_find(cloud, names[set][k]);
            all = all && normals[k] != NULL;
        }
        if (all) return true;
    }
    return false;
}
