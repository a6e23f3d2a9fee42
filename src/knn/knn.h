/* The index of nearest neighbours for other folders: making one, and what to do where a GPU cannot. Its neighbours are
   visited by knn_visit.h, on a GPU by knn_visit_cuda.cuh; other folders include these three alone. */
#ifndef MOTE_KNN_INTERNAL_H
#define MOTE_KNN_INTERNAL_H

#include "knn/knn_index.h"

#ifdef __cplusplus
extern "C" {
#endif

/* mote_device_falls_back for the device of an index: then the index is the CPU's, and to be built anew. */
bool knn_falls_back(mote_knn_index *index, mote_status before, mote_status status);
/* Builds an index on the device that the caller chose, where mote_knn_build would choose one itself. */
mote_status knn_build_on(mote_device *device, const mote_cloud *cloud, mote_knn_index **out);
/* Builds an index of a slab of a cloud: how small coordinates may be is a matter of all points of the cloud, so that a
   slab does not ask. */
mote_status knn_build_slab(mote_device *device, const mote_cloud *cloud, mote_knn_index **out);
/* Searches for some of the points, count of them from the first on, on a GPU by spheres: result has their rows. What
   exclude_self leaves out is the point itself. */
mote_status knn_search_part(mote_knn_index *index, uint64_t first, uint64_t count, const mote_knn_params *params,
                            mote_knn_result *result);
/* Refuses parameters and a result that no search takes; checked: the parameters as backends have them. */
mote_status knn_check(mote_context *ctx, const mote_cloud *cloud, const mote_cloud *queries,
                      const mote_knn_params *params, const mote_knn_result *result, mote_knn_params *checked);
/* The normals of queries, which ellipsoids are flat along: normal_x, normal_y, normal_z, else nx, ny, nz. False: there
   are none. */
bool knn_normals_of(const mote_cloud *queries, const mote_column *normals[3]);

#ifdef __cplusplus
}
#endif
#endif
