/* What the parts of the search on CPU cores share. */
#ifndef MOTE_KNN_CPU_H
#define MOTE_KNN_CPU_H

#include "knn/index/knn_points_cpu.h"
#include "knn/search/knn_group.h"

/* Queries, sorted, in terms of a tree. */
typedef struct knn_asked {
    const knn_tree *tree;
    knn_points points; /* the tree's own, or owned_order and leaves of its own */
    uint64_t rows;     /* queries, also those that are nowhere: they stand behind points.count in the order */
    uint32_t *owned_order;
    uint64_t *codes; /* NULL: the points themselves */
} knn_asked;

mote_status knn_ask(mote_knn_index *index, const mote_cloud *queries, knn_asked *asked);
void knn_asked_free(mote_context *ctx, knn_asked *asked);

/* Builds index->other: doubles, stored or world values. */
mote_status knn_other_tree(mote_knn_index *index, bool world);

/* A search for the k nearest within a radius (0: any distance), exact, with itself. around: NULL for spheres. */
knn_search knn_search_of(const mote_knn_index *index, const knn_asked *asked, const knn_around *around, uint32_t k,
                         double radius);

/* A row of a result; metric: how keys are read. */
void knn_row_write(const mote_knn_result *result, const knn_metric *metric, uint32_t k, uint64_t row,
                   const knn_near *list, uint32_t count);

/* All groups of queries, a batch at a time; progress in between. */
typedef void (*knn_work)(const void *user, knn_scratch *scratch, uint32_t first_group, uint32_t groups);
mote_status knn_for_batches(mote_context *ctx, const knn_search *search, knn_work work, const void *user, double first,
                            double last);

/* The largest key within a radius. */
static inline uint64_t knn_limit_of(const knn_metric *metric, const knn_around *around, double radius) {
    return around != NULL ? knn_limit_ellipsoid(radius) : knn_key_limit(metric, radius);
}

/* around: NULL for spheres. queries: the cloud, NULL for the points themselves. */
mote_status knn_search_brute(mote_knn_index *index, const knn_asked *asked, const knn_around *around,
                             const mote_knn_params *params, const mote_knn_result *result);
mote_status knn_search_shifted(mote_knn_index *index, const mote_cloud *queries, const knn_asked *asked,
                               const knn_around *around, const mote_knn_params *params, const mote_knn_result *result);
mote_status knn_search_cpu(mote_knn_index *index, const mote_cloud *queries, const mote_knn_params *params,
                           mote_knn_result *result);
mote_status knn_within_cpu(mote_knn_index *index, const mote_cloud *queries, double radius, bool exclude_self,
                           uint32_t *counts, mote_knn_lists *lists);

#endif
