/// mote: normals, density and outliers, from the nearest neighbours of each point. They are found and used in one walk:
/// no lists of neighbours are kept. Points with a NaN or infinite coordinate are nobody's neighbours and have none.
///
/// All arrays are of the caller, host memory unless on_device says otherwise, one value per point in the order of the
/// cloud; NULL: not wanted. Results are the same for any number of threads and on every backend: sums run over the
/// neighbours by (distance, index), in double precision, of differences to the point itself, so large coordinates cost
/// no digits.
#ifndef MOTE_NORMALS_H
#define MOTE_NORMALS_H

#include "knn.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Which of its two directions a normal has.
typedef enum mote_normals_orient {
    MOTE_ORIENT_UP,        ///< z above 0; where z is 0, y, and where that is 0 too, x
    MOTE_ORIENT_VIEWPOINT, ///< towards a place, such as the scanner's
    MOTE_ORIENT_PROPAGATE, ///< as its neighbours: along the minimum spanning tree of 1 - |n · n'| over a graph of
                           ///< nearest neighbours; in each part of the graph the topmost point's looks up (Hoppe et al.
                           ///< 1992)
    MOTE_ORIENT_NONE       ///< as it comes
} mote_normals_orient;

#define MOTE_NORMALS_MAX_GRAPH_K 64u

typedef struct mote_normals_params {
    uint32_t k; ///< from how many nearest points, the point itself among them: 3..MOTE_KNN_MAX_K; 0: all within radius
    double radius; ///< only points at most so far away; world units; 0 = any distance
    mote_normals_orient orient;
    double viewpoint[3];  ///< VIEWPOINT: world coordinates
    uint32_t graph_k;     ///< PROPAGATE: edges to this many nearest, 1..MOTE_NORMALS_MAX_GRAPH_K
    uint64_t reserved[8]; ///< zero, see types.h
} mote_normals_params;
/// k = 16, any distance, up; graph_k = 8.
MOTE_API mote_normals_params mote_normals_defaults(void);

typedef struct mote_normals_result {
    float *normal_x, *normal_y, *normal_z; ///< of unit length; 0 0 0 where there is none. All three or none
    float *curvature; ///< surface variation l0 / (l0 + l1 + l2) of the eigenvalues l0 ≤ l1 ≤ l2 of the covariance: 0 (a
                      ///< plane) to 1/3; 0 where there is no normal (Pauly et al. 2002)
    float *surface_density; ///< n / (π r²), for n others within r: the distance of the last one, or the radius where it
                            ///< ended the search; infinity if r is 0 (or so small
                            ///< that no float holds it), 0 if n is
    float *volume_density; ///< n / (4/3 π r³)

    bool on_device;   ///< the arrays are in the memory of the GPU that the context computes on: they are filled in
                      ///< the order of its stream, and k above 0 waits for nothing (see mote_context_wait). Not with
                      ///< PROPAGATE
    uint64_t skipped; ///< out: points without a finite position; this and without: 0 on_device
    uint64_t without; ///< out: of the others, those without a normal, because their neighbours are in one place or on
                      ///< one line: the second eigenvalue is not above 2^-40 of the largest
    uint64_t parts;   ///< out: PROPAGATE: parts of the graph, each oriented for itself
    uint64_t reserved[8]; ///< zero, see types.h
} mote_normals_result;

/// Estimates normals by principal component analysis of each point's neighbours, and what else result asks for.
/// index   of the cloud
/// params  NULL: defaults
/// Returns  MOTE_OK, MOTE_ERROR_ARGUMENT, MOTE_ERROR_UNSUPPORTED, MOTE_ERROR_MEMORY, MOTE_CANCELLED
/// Cost     that of the search. k 0: twice, and 4 bytes per point. PROPAGATE: 28 graph_k + 8 bytes per point, and a
///          sort
/// Source   Hoppe et al. 1992
MOTE_API mote_status mote_normals_estimate(mote_knn_index *index, const mote_normals_params *params,
                                           mote_normals_result *result);
/// Index, estimate and destroy in one call.
MOTE_API mote_status mote_normals(mote_context *ctx, const mote_cloud *cloud, const mote_normals_params *params,
                                  mote_normals_result *result);

/// How dense points are around each: of its k nearest others, as in mote_normals_result.
/// k                1..MOTE_KNN_MAX_K - 1
/// surface, volume  [points] out, may be NULL
MOTE_API mote_status mote_density(mote_context *ctx, const mote_cloud *cloud, uint32_t k, float *surface,
                                  float *volume);

typedef enum mote_outliers_method {
    MOTE_OUTLIERS_STATISTICAL, ///< the mean distance to the k nearest others is above mean + sigmas · standard
                               ///< deviation (with n - 1) of these over all points
    MOTE_OUTLIERS_RADIUS       ///< fewer than min_neighbors others are at most radius away
} mote_outliers_method;

typedef struct mote_outliers_params {
    mote_outliers_method method;
    uint32_t k;             ///< STATISTICAL: 1..MOTE_KNN_MAX_K
    double sigmas;          ///< STATISTICAL: 0 or more
    double radius;          ///< RADIUS: above 0, world units
    uint32_t min_neighbors; ///< RADIUS: 1..MOTE_KNN_MAX_K
    uint64_t reserved[8];   ///< zero, see types.h
} mote_outliers_params;
/// Statistical, k = 8, sigmas = 2; min_neighbors = 2. (As PDAL's filters.outlier.)
MOTE_API mote_outliers_params mote_outliers_defaults(void);

typedef struct mote_outliers_result {
    uint8_t *outlier; ///< 1 or 0. A point without a finite position is one; a point that is alone in the cloud is not,
                      ///< by STATISTICAL
    float *distance;  ///< STATISTICAL: the mean distance, 0 where there is no other point
    uint64_t count;   ///< out: outliers
    uint64_t skipped; ///< out: points without a finite position, which count as outliers
    double mean, deviation, threshold; ///< out: STATISTICAL: of all mean distances
    uint64_t reserved[8];              ///< zero, see types.h
} mote_outliers_result;

/// Finds outliers.
/// Returns  MOTE_OK, MOTE_ERROR_ARGUMENT, MOTE_ERROR_UNSUPPORTED, MOTE_ERROR_MEMORY, MOTE_CANCELLED
/// Cost     that of the search, and 8 bytes per point
/// Source   Rusu et al. 2008 (statistical)
MOTE_API mote_status mote_outliers_find(mote_knn_index *index, const mote_outliers_params *params,
                                        mote_outliers_result *result);
/// Index, find and destroy in one call.
MOTE_API mote_status mote_outliers(mote_context *ctx, const mote_cloud *cloud, const mote_outliers_params *params,
                                   mote_outliers_result *result);

#ifdef __cplusplus
}
#endif
#endif
