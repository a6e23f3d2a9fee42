/* What the parts of nearest neighbours on CPU cores share. */
#ifndef MOTE_KNN_CPU_H
#define MOTE_KNN_CPU_H

#include "knn/knn_visit.h"

/* Makes the index, and frees what it holds. */
mote_status knn_build_cpu(mote_knn_index *index);
void knn_release_cpu(mote_knn_index *index);
/* A row of a result; metric: how keys are read. */
void knn_row_write(const mote_knn_result *result, const knn_metric *metric, uint32_t k, uint64_t row,
                   const knn_near *list, uint32_t count);

/* A search as the methods get it. */
typedef struct knn_job {
    mote_knn_index *index;
    const mote_cloud *queries; /* NULL: the points themselves */
    const knn_query_set *query_set;
    const knn_ellipsoids *ellipsoids; /* NULL: spheres */
    const mote_knn_params *params;
    const mote_knn_result *result;
} knn_job;

mote_status knn_search_grid(const knn_job *job);
mote_status knn_search_brute(const knn_job *job);
mote_status knn_search_shifted(const knn_job *job);

/* Queries one by one. candidates gives a query's points to knn_offer; false: the query is not asked this time, and no
   row is written. ellipsoid: the query's; NULL for a sphere. */
typedef struct knn_query {
    const knn_job *job;
    uint64_t place, row;
    const knn_ellipsoid *ellipsoid;
    knn_best best;
} knn_query;
typedef bool (*knn_candidates)(const void *user, knn_query *query);
mote_status knn_for_queries(const knn_job *job, knn_candidates candidates, const void *user, double first, double last);
/* Offers the point at a place of the tree. */
void knn_offer(knn_query *query, uint32_t at);

#endif
