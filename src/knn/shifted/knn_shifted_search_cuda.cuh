/* Shifted sorting on the device: what a search is given, and the searches. For .cu files only. */
#ifndef MOTE_KNN_SHIFTED_SEARCH_CUDA_H
#define MOTE_KNN_SHIFTED_SEARCH_CUDA_H

#include "device/cuda/cuda_kernel.cuh"
#include "knn/knn_cuda.h"
#include "knn/shifted/knn_shifted_math.h"

/* A point is named by its *curve place*: where it stands in the tree that is searched. In the four orders stand: */
typedef struct knn_shifted_orders {
    const uint4 *near[KNN_SHIFTS]; /* [place] the bits of a point's views, and its curve place */
    /* Where the points of an order stand in the orders before: by that a point seen before is known. */
    const uint32_t *before1;
    const uint2 *before2;
    const uint4 *before3; /* the fourth number is nothing */
} knn_shifted_orders;

/* What floats may rule out, in units of views; knn_shifted_traversal_cuda.cuh has the proof. */
typedef struct knn_shifted_bounds {
    float compression, along; /* c, 1 for spheres, and sqrt(c² - 1) */
    float search_radius;      /* of the largest key; infinite if there is none */
    float loose, tiny;        /* factor of squares, 1 or more, and what vanishes in them */
    float vanished, farthest; /* what vanishes in squares of doubles; from where on nothing is ruled out */
} knn_shifted_bounds;

/* Queries that are left to the large-k search. */
typedef struct knn_shifted_hard {
    uint32_t *count, *list;
} knn_shifted_hard;

typedef struct knn_shifted_args {
    knn_metric metric;
    knn_cuda_points points, queries;
    knn_shifted_orders orders;
    knn_shifted_bounds bounds;
    const uint4 *insertion_places; /* [query's place] before which points it stands in the four orders */
    const double *normals;         /* [3 · query's place] of unit length; NULL: spheres */
    double normal_weight;          /* compression² - 1 */
    const uint32_t *list;          /* [asked] places of queries; NULL: all */
    uint32_t query_count;
    uint32_t k, beside; /* candidates on each side of a query: lambda · k */
    uint64_t limit;     /* the largest key */
    bool exclude_self;
    knn_shifted_hard hard;
    knn_cuda_rows rows;
} knn_shifted_args;

#define KNN_SHIFTED_SMALL_K 64u  /* neighbours that a warp keeps in registers */
#define KNN_SHIFTED_NEAR    128u /* and the most candidates on each side for that */

/* Few: up to KNN_SHIFTED_SMALL_K of KNN_SHIFTED_NEAR; what is hard is listed. Many: any, or those that are listed. */
mote_status knn_shifted_search_small_k(mote_device *gpu, const knn_shifted_args *args);
mote_status knn_shifted_search_large_k(mote_device *gpu, const knn_shifted_args *args, bool hard);

#endif
