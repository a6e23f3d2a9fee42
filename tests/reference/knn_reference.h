/* Nearest neighbours by looking at every point and sorting: slow, short, and right. */
#ifndef MOTE_KNN_REFERENCE_H
#define MOTE_KNN_REFERENCE_H

#include "mote/knn.h"

typedef struct knn_reference_neighbour {
    uint64_t steps2;  /* squared distance in steps, where positions are steps of one scale; else 0 */
    double distance2; /* squared distance in the world */
    uint64_t index;
} knn_reference_neighbour;

/* How distances are taken. */
typedef enum knn_reference_rule {
    KNN_REFERENCE_STEPS,  /* integers of one scale, less than 2^31 steps apart */
    KNN_REFERENCE_STORED, /* differences of stored values, times scale */
    KNN_REFERENCE_WORLD   /* queries of another type, scale or offset: differences of world values */
} knn_reference_rule;
knn_reference_rule knn_reference_rule_of(const mote_cloud *cloud, const mote_cloud *queries);

/* All neighbours of a query by (distance, index), at most `most` of them; returns how many.
   queries  NULL: the points themselves */
uint64_t knn_reference_row(const mote_cloud *cloud, const mote_cloud *queries, uint64_t query, double radius,
                           bool exclude_self, knn_reference_rule rule, uint64_t max, knn_reference_neighbour *row);

/* Runs a search, in a context of so many threads, exact or by shifted sorting, of spheres or ellipsoids, and checks the
   rows of every array, of large results some, against the reference. */
void knn_reference_check(mote_context *ctx, const mote_cloud *cloud, const mote_cloud *queries,
                         const mote_knn_params *params, const char *name);
/* What is searched, for messages: the cloud's name, and whatever differs from search to search. */
#define KNN_WHAT_BYTES 256u
void knn_reference_what(const mote_cloud *cloud, const mote_cloud *queries, const mote_knn_params *params,
                        const char *name, char what[KNN_WHAT_BYTES]);
/* Compares mote_knn_within with its reference. */
void knn_reference_check_within(mote_context *ctx, const mote_cloud *cloud, const mote_cloud *queries, double radius,
                                bool exclude_self, const char *what);

/* A cloud of count points whose x, y, z are of a type: stored[3 · count]. Aborts when there is no memory. */
mote_cloud *knn_reference_cloud(mote_context *ctx, mote_type type, double scale, double offset, const double *stored,
                                uint64_t count);

/* Points, and queries in their own steps: some of their places, and some so far away that steps no longer fit 31 bits,
   floats their squares, or doubles a difference; others are the same places in steps of half the size. Queries of the
   last case are too far apart to be points. */
#define KNN_FAR_CASES 7u
typedef struct knn_far {
    mote_cloud *points, *queries, *others;
} knn_far;
knn_far knn_far_make(mote_context *ctx, uint32_t i);
void knn_far_free(knn_far *far);

#endif
