/// mote: nearest neighbours.
///
/// The distance of two points is exact where it can be. Positions that are integers of one scale s on all axes (LAS),
/// points and queries less than 2^31 steps apart: N · s², N the squared distance in steps, a 64-bit integer that alone
/// decides. Else: differences of the stored values in double precision, each times the scale of its axis, (dx·dx +
/// dy·dy) + dz·dz. A radius r means: squared distances of at most r · r in double precision.
/// With compression c > 1 the distance is an ellipsoid's: |d|² + (c² - 1) (n·d)² in double precision, n the query's
/// normal, d the scaled differences; see docs/knn_shifted.md.
/// Neighbours go by (distance, index): the answer is one and the same for every exact method, number of threads and
/// backend; that of MOTE_KNN_SHIFTED too is one for every number of threads and backend. Points with a NaN or infinite
/// coordinate are nobody's neighbours and have none.
#ifndef MOTE_KNN_H
#define MOTE_KNN_H

#include "cloud.h"

#ifdef __cplusplus
extern "C" {
#endif

#define MOTE_KNN_MAX_K           1024u /* neighbours of one query */
#define MOTE_KNN_MAX_LAMBDA      16u
#define MOTE_KNN_MAX_COMPRESSION 1e6

typedef enum mote_knn_method {
    MOTE_KNN_GRID,    ///< leaves of eight points along a curve through the cells of the Morton order; exact
    MOTE_KNN_SHIFTED, ///< four shifted Morton orders; approximate: see docs/knn_shifted.md
    MOTE_KNN_BRUTE    ///< every point; for checking
} mote_knn_method;

typedef struct mote_knn_params {
    mote_knn_method method;
    uint32_t k;        ///< 1..MOTE_KNN_MAX_K
    double radius;     ///< only neighbours at most so far away; world units; 0 = any distance
    bool exclude_self; ///< queries NULL: a point is not its own neighbour
    bool approximate;  ///< grid: the first shell of leaves with k points may end the search: see docs/knn.md. On a GPU
                       ///< the answer may be exact all the same
    /// Ellipsoids: distances along each query's normal count this many times as much, 1 to MOTE_KNN_MAX_COMPRESSION;
    /// the distances given are these. 0 or 1: spheres. The normals are columns normal_x, normal_y, normal_z (or nx, ny,
    /// nz) of the queries, of the cloud itself if queries is NULL, of any length; without length: a sphere.
    double compression;
    uint32_t lambda; ///< shifted: lambda · k points before and behind a query in each order are looked at; 1 to
                     ///< MOTE_KNN_MAX_LAMBDA, lambda · k at most 4096; 0 = 1
    bool buckets;    ///< shifted, compression above 1: orders of spaces stretched along 9 axes, each query in the one
                     ///< that is nearest to its normal
    uint64_t reserved[8]; ///< zero, see types.h
} mote_knn_params;
/// k = 10, grid, exact, any distance, spheres, lambda = 1; a point is its own first neighbour.
MOTE_API mote_knn_params mote_knn_defaults(void);

/// Where the answer goes: arrays of the caller, row after row, one row of k per query; NULL: not wanted. A query with
/// fewer than k neighbours has -1 (all bits set) and infinity in the rest of its row.
typedef struct mote_knn_result {
    uint32_t *index32;      ///< [queries · k] which points, by place in the cloud
    int64_t *index64;       ///< [queries · k]
    float *distance2;       ///< [queries · k] squared, world units, rounded to nearest: infinite above 3.4e38
    double *distance2_wide; ///< [queries · k]
    uint32_t *count;        ///< [queries] how many neighbours
    bool on_device;       ///< the arrays are in the memory of the GPU that the context computes on: they are filled in
                          ///< the order of its stream, and nothing waits (see mote_context_wait)
    uint64_t skipped;     ///< out: points without a finite position; 0 where counting them would have to wait
    uint64_t reserved[8]; ///< zero, see types.h
} mote_knn_result;

/// The order and the cells of a cloud, for any number of searches. The cloud must outlive it.
typedef struct mote_knn_index mote_knn_index;

/// Makes it.
/// Returns  MOTE_OK, MOTE_ERROR_ARGUMENT (no x, y, z), MOTE_ERROR_UNSUPPORTED (2^32 - 1 points or more),
///          MOTE_ERROR_DATA (coordinates out of the range of cloud.h, of which queries have the upper end alone),
///          MOTE_ERROR_MEMORY, MOTE_CANCELLED
/// Cost     O(n): a sort, then one pass
MOTE_API mote_status mote_knn_build(mote_context *ctx, const mote_cloud *cloud, mote_knn_index **out);
/// Makes it anew after the positions changed, the number of points being the same. It takes no memory beside that of
/// the index. An index whose rebuild failed answers nothing until one succeeds.
MOTE_API mote_status mote_knn_rebuild(mote_knn_index *index);
/// Frees the index. NULL is allowed.
MOTE_API void mote_knn_destroy(mote_knn_index *index);

/// Finds the neighbours of each query. A query without a finite position has none.
/// queries  a cloud with x, y, z; NULL: the points themselves, in the order of the cloud. Their distances to points are
///          taken between world values if their types, scales or offsets differ from the cloud's.
/// params   NULL means defaults
/// Returns  MOTE_OK, MOTE_ERROR_ARGUMENT, MOTE_ERROR_UNSUPPORTED (also: approximate ellipsoids by the grid),
///          MOTE_ERROR_MEMORY, MOTE_CANCELLED
MOTE_API mote_status mote_knn_search(mote_knn_index *index, const mote_cloud *queries, const mote_knn_params *params,
                                     mote_knn_result *result);

/// All neighbours within a radius, borders included, as lists: those of query q are [first[q], first[q + 1]).
typedef struct mote_knn_lists {
    uint64_t query_count;
    uint64_t *first;  ///< [query_count + 1]
    uint32_t *index;  ///< [first[query_count]] by (distance, index)
    float *distance2; ///< the same, squared
    uint64_t skipped;
} mote_knn_lists;

/// Counts, then fills lists. counts alone: lists NULL. Radius 0: copies of the query.
/// counts  [queries] out, may be NULL
/// lists   out, may be NULL; freed by mote_knn_free_lists
MOTE_API mote_status mote_knn_within(mote_knn_index *index, const mote_cloud *queries, double radius, bool exclude_self,
                                     uint32_t *counts, mote_knn_lists **lists);
/// Frees lists of mote_knn_within. NULL is allowed.
MOTE_API void mote_knn_free_lists(mote_context *ctx, mote_knn_lists *lists);

/// Build, search and destroy in one call. In a context of several GPUs the exact search by the grid, of spheres and
/// with everything on the host, is cut: each GPU has the points of a slab, and is asked for the queries whose
/// neighbours may lie there. The result is the same.
MOTE_API mote_status mote_knn(mote_context *ctx, const mote_cloud *cloud, const mote_cloud *queries,
                              const mote_knn_params *params, mote_knn_result *result);

#ifdef __cplusplus
}
#endif
#endif
