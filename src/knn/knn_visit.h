/* Visits of neighbourhoods on CPU cores, for other folders: each point of an index with its k nearest neighbours, one
   after the other, without rows or lists of them all. Normals and outliers are made so.

     knn_query_set_make ──▶ knn_search_of ──▶ knn_for_batches ──▶ knn_query_set_free
                                                    │  on each thread, 64 points at a time:
                                                    └─▶ work ──▶ knn_search_groups ──▶ visit, for each point

   A visitor is a function visit(user, query, list, count), a knn_visit:
     user   what was given to knn_search_groups
     query  the point's place in the sorted order: its row in the cloud is search->queries->order[query], and
            knn_exact_of(kind, search->queries, query, &exact) its exact position
     list   [count] its neighbours, nearest first, equal distances by row. Of each:
              key    knn_distance2(knn_keys(search), key) is the square of the distance, in world units; of an
                     ellipsoid, the ellipsoid's
              index  its row in the cloud
              at     its place in the sorted order; knn_exact_of(kind, &search->tree->points, at, &exact)
     count  at most k; less where the cloud, or the radius, holds fewer. The point itself is one of them unless
            search->exclude_self

   Order    A thread visits the 64 points of a batch in any order, and batches come in any order.
   Keeping  list is the visitor's until it returns. What it writes goes by row: each row is visited once, by one
            thread, so nothing is locked. What threads share must not depend on the order of visits.
   Missing  Points without a finite position are not visited. They are the rows query_set.points.order[i], i from
            query_set.points.count to query_set.rows.
   Cost     a search for k neighbours; nothing is allocated for each point.

   On a GPU: knn_visit_cuda.cuh. */
#ifndef MOTE_KNN_VISIT_H
#define MOTE_KNN_VISIT_H

#include "knn/cpu/knn_search.h"
#include "knn/knn.h"

/* Queries, sorted, in terms of a tree. */
typedef struct knn_query_set {
    const knn_tree *tree;
    knn_points points; /* the tree's own, or owned_order and leaves of its own */
    uint64_t rows;     /* queries, also those that are not finite: they stand behind points.count in the order */
    uint32_t *owned_order;
    uint64_t *codes; /* NULL: the points themselves */
} knn_query_set;

/* queries: NULL for the points themselves, for which nothing is allocated. After a failure nothing is held, and freeing
   the set is allowed. */
mote_status knn_query_set_make(mote_knn_index *index, const mote_cloud *queries, knn_query_set *query_set);
void knn_query_set_free(mote_context *ctx, knn_query_set *query_set);

/* The ellipsoids of queries that have normals, of a compression above 1. queries: the cloud of the query set. */
void knn_ellipsoids_make(const mote_cloud *queries, double compression, const knn_query_set *query_set,
                         knn_ellipsoids *ellipsoids);

/* A search for the k nearest within a radius (0: any distance), exact, with itself. ellipsoids: NULL for spheres. */
knn_search knn_search_of(const mote_knn_index *index, const knn_query_set *query_set, const knn_ellipsoids *ellipsoids,
                         uint32_t k, double radius);

/* The neighbours of the query at a sorted place, best first. */
typedef void (*knn_visit)(const void *user, uint32_t query, const knn_near *list, uint32_t count);
/* Visits the queries of up to KNN_BATCH groups. */
void knn_search_groups(const knn_search *search, knn_scratch *scratch, uint32_t first, uint32_t groups, knn_visit visit,
                       const void *user);

/* All groups of queries, a batch at a time; progress in between. */
typedef void (*knn_work)(const void *user, knn_scratch *scratch, uint32_t first_group, uint32_t groups);
mote_status knn_for_batches(mote_context *ctx, const knn_search *search, knn_work work, const void *user, double first,
                            double last);

/* All neighbours within a radius: how many each point has, and their lists; either may be NULL. queries: NULL for the
   points themselves. */
mote_status knn_within_cpu(mote_knn_index *index, const mote_cloud *queries, double radius, bool exclude_self,
                           uint32_t *counts, mote_knn_lists *lists);

#endif
