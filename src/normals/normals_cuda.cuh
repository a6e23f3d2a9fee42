/* Normals and mean distances on the device, for .cu files. */
#ifndef MOTE_NORMALS_CUDA_CUH
#define MOTE_NORMALS_CUDA_CUH

#include "knn/cuda/knn_visit_cuda.cuh"
#include "normals/normals_ops.h"

/* What is made of the neighbours of all points: device memory, by point; NULL: not wanted. */
typedef struct normals_cuda_shapes {
    float *normal_x, *normal_y, *normal_z, *curvature;
    float *surface_density, *volume_density;
    uint32_t *graph; /* [points · graph_k] */
    uint32_t graph_k;
    unsigned long long *without; /* [1] adds up points that have neighbours and no normal */
    bool wants_shape;
    mote_normals_orient orient;
    double viewpoint[3];
    mote_column axes[3]; /* of the cloud, for the viewpoint */
    double unit[3];      /* normals_unit of each axis */
    uint32_t k;          /* that was asked for; 0: all within the radius */
    double radius;
} normals_cuda_shapes;

typedef struct normals_cuda_distances {
    double *mean; /* as mote_normals_ops.distances */
    uint32_t *count;
} normals_cuda_distances;

/* With up to KNN_CUDA_SMALL_K neighbours a lane makes the normal right after its search. later: as for the search. */
mote_status normals_cuda_shape_small_k(mote_device *gpu, const knn_search_args *args, const normals_cuda_shapes *to);
mote_status normals_cuda_measure_small_k(mote_device *gpu, const knn_search_args *args,
                                         const normals_cuda_distances *to);

/* Normals of more neighbours are made from rows of some points at a time. */
mote_status normals_cuda_shape_large_k(mote_device *gpu, const knn_search_args *args, const normals_cuda_shapes *to);
mote_status normals_cuda_measure_large_k(mote_device *gpu, const knn_search_args *args,
                                         const normals_cuda_distances *to);

/* Points with at most k neighbours within the limit use all of these, from sorted lists of some points at a time. */
mote_status normals_cuda_shape_all(mote_device *gpu, const knn_search_args *args, uint32_t max,
                                   const normals_cuda_shapes *to);

/* The largest of some numbers; waits. */
mote_status normals_cuda_max(mote_device *gpu, const uint32_t *numbers, uint64_t count, uint32_t *max);

#endif
