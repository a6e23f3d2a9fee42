/* What the parts of nearest neighbours on CPU cores share. */
#ifndef MOTE_KNN_CPU_H
#define MOTE_KNN_CPU_H

#include "knn/index/knn_points_cpu.h"
#include "knn/knn_visit.h"

/* Makes the index, and frees what it holds. */
mote_status knn_build_cpu(mote_knn_index *index);
void knn_release_cpu(mote_knn_index *index);
/* Builds index->other: doubles, stored or world values. */
mote_status knn_other_tree(mote_knn_index *index, bool world);

/* A row of a result; metric: how keys are read. */
void knn_row_write(const mote_knn_result *result, const knn_metric *metric, uint32_t k, uint64_t row,
                   const knn_near *list, uint32_t count);

/* ellipsoids: NULL for spheres. queries: the cloud, NULL for the points themselves. */
mote_status knn_search_brute(mote_knn_index *index, const knn_query_set *query_set, const knn_ellipsoids *ellipsoids,
                             const mote_knn_params *params, const mote_knn_result *result);
mote_status knn_search_shifted(mote_knn_index *index, const mote_cloud *queries, const knn_query_set *query_set,
                               const knn_ellipsoids *ellipsoids, const mote_knn_params *params,
                               const mote_knn_result *result);
mote_status knn_search_grid(mote_knn_index *index, const knn_query_set *query_set, const knn_ellipsoids *ellipsoids,
                            const mote_knn_params *params, const mote_knn_result *result);

#endif
