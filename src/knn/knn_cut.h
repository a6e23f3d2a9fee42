/* The k nearest neighbours of a cloud that one GPU does not hold (else: knn_shares.h): it is cut into slabs, each
   searched by a worker on a device of its own:

        slab 0      slab 1     slab 2         slabs lie beside each other along the longest axis, of about as many
   points ┌──────────┬───────────┬─────────┐ │       (q·│· )        │         │       the ball to the k-th neighbour of
   q in its own slab meets the box of │          │           │         │       slab 1: there q is asked again, and the
   two lists are merged └──────────┴───────────┴─────────┘

   1  index   each worker has the points of its slab, in their order, so that the least index of a slab is the least of
              all that are in it
   2  search  of the queries that lie in the slab; which other slabs a query's ball meets
   3  ask     each slab, for the queries whose balls meet its box
   4  merge   by (exact key, index): the same row, byte for byte, as that of one index */
#ifndef MOTE_KNN_CUT_H
#define MOTE_KNN_CUT_H

#include "core/core.h"
#include "knn/knn_metric.h"
#include "mote/knn.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A slab. What is not the run's is in the memory of its worker. */
typedef struct knn_slab {
    uint64_t *ids; /* the run's: [count] its points, ascending */
    uint64_t count;
    uint64_t *query_ids; /* the run's: [query_count], ascending; ids, where the points ask themselves */
    uint64_t query_count;
    double low[3], high[3]; /* of the finite points, in the world; low > high: there are none */
    mote_cloud *points;
    mote_knn_index *index;
    uint64_t skipped;
    uint64_t *meets;      /* [query_count] a bit for each other slab that the ball of a query meets */
    uint64_t *asked;      /* [asked_count] queries of others */
    uint32_t *asked_rows; /* [asked_count · k] their neighbours here, as places in ids */
    uint64_t asked_count;
} knn_slab;

typedef struct knn_cut {
    mote_context *ctx;
    const mote_cloud *cloud, *queries; /* queries: those that ask, the cloud itself or others */
    bool is_self;
    mote_cloud *positions, *query_positions; /* x, y, z alone; the same of the points themselves */
    const mote_column *axes[3], *query_axes[3];
    knn_metric metric; /* of all points and queries */
    bool is_world;     /* differences are of world values */
    const mote_knn_params *params;
    mote_knn_result result; /* the caller's, with an index in any case */
    uint32_t slab_count;
    knn_slab *slabs;
} knn_cut;

/* Whether a search can be cut: exact, of spheres, on the host, and slabs measure distances as the whole does. */
bool knn_cut_applies(mote_context *ctx, const mote_cloud *cloud, const mote_cloud *queries,
                     const mote_knn_params *params, const mote_knn_result *result);
/* Searches with so many slabs; params are valid, and knn_cut_applies. */
mote_status knn_cut_search(mote_context *ctx, uint32_t slabs, const mote_cloud *cloud, const mote_cloud *queries,
                           const mote_knn_params *params, mote_knn_result *result);

/* ---- knn_cut_metric.c */
/* Finds how distances are measured. False: slabs may do so in another way than the whole. */
bool knn_cut_find_metric(mote_context *ctx, const mote_cloud *cloud, const mote_cloud *queries, knn_cut *cut);
/* Whether the ball around a query may meet the box of a slab: radius2 is at least the square of its radius. */
bool knn_cut_meets(const knn_cut *cut, uint64_t query, double radius2, const knn_slab *slab);
/* Joins what a slab has found for a query it was asked for, count places in its ids, with what was found before. */
void knn_cut_merge(const knn_cut *cut, const knn_slab *slab, uint64_t query, const uint32_t *found);

/* ---- knn_cut_slabs.c */
/* Cuts points and queries into slabs. */
mote_status knn_cut_slabs(knn_cut *cut);

#ifdef __cplusplus
}
#endif
#endif
