/* What a backend supplies for nearest neighbours. */
#ifndef MOTE_KNN_OPS_H
#define MOTE_KNN_OPS_H

#include "knn/knn_index.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mote_knn_ops {
    /* Makes all that searches need of index->cloud, using again what memory the index has. */
    mote_status (*build)(mote_knn_index *index);
    /* queries NULL: the points themselves. params are valid: lambda and compression are 1 or more, the queries of
       ellipsoids, compression > 1, have normals, and buckets are for ellipsoids by shifted sorting alone. */
    mote_status (*search)(mote_knn_index *index, const mote_cloud *queries, const mote_knn_params *params,
                          mote_knn_result *result);
    /* The same for some of the points, count of them from the first on, by spheres alone; result has their rows. NULL:
       a backend that has no such search. */
    mote_status (*search_part)(mote_knn_index *index, uint64_t first, uint64_t count, const mote_knn_params *params,
                               mote_knn_result *result);
    /* counts or lists may be NULL; lists->first has room for all queries, index and distance2 are NULL. */
    mote_status (*within)(mote_knn_index *index, const mote_cloud *queries, double radius, bool exclude_self,
                          uint32_t *counts, mote_knn_lists *lists);
    /* Frees what build made. */
    void (*release)(mote_knn_index *index);
} mote_knn_ops;

extern const mote_knn_ops mote_knn_cpu;
extern const mote_knn_ops mote_knn_on_cuda;

#ifdef __cplusplus
}
#endif
#endif
