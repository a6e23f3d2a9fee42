/* What a search for neighbours by ellipsoids needs: unit normals of the queries, by their places, and what keys are. */
#include "core/column_math.h"
#include "device/cuda/cuda_kernel.cuh"
#include "knn/cuda/knn_cuda.h"
#include "knn/knn.h"

#define THREADS 256u

typedef struct normal_columns {
    mote_column axes[3];
} normal_columns;

static __global__ void make_normals(normal_columns from, const uint32_t *order, uint64_t count, double *normals) {
    const uint64_t place = (uint64_t)blockIdx.x * THREADS + threadIdx.x;
    if (place >= count) return;
    const uint64_t i = order[place];
    double unit[3];
    knn_unit_normal(column_value(&from.axes[0], i), column_value(&from.axes[1], i), column_value(&from.axes[2], i),
                    unit);
    for (uint32_t k = 0; k < 3; k++) normals[3 * place + k] = unit[k];
}

static mote_status open_normals(mote_device *gpu, const mote_cloud *cloud, device_cloud *device) {
    const mote_column *columns[3];
    mote_column axes[3];
    if (!knn_normals_of(cloud, columns)) return mote_fail(gpu->ctx, MOTE_ERROR_ARGUMENT, "ellipsoids need normals");
    for (int k = 0; k < 3; k++) axes[k] = *columns[k];
    return device_cloud_open_columns(gpu, cloud, axes, 3, device);
}

mote_status knn_cuda_normal_weight(mote_knn_index *index, const mote_cloud *queries,
                                   const knn_cuda_query_set *query_set, const mote_knn_params *params,
                                   knn_search_args *args) {
    mote_device *gpu = index->device;
    knn_cuda_buffer *const buffer = &index->cuda->normals;
    device_cloud device;
    memset(&device, 0, sizeof device);
    args->compression = params->compression;
    args->normal_weight = params->compression * params->compression - 1;
    args->keys = knn_metric_ellipsoid(&args->tree.metric);
    args->limit = knn_limit_ellipsoid(params->radius);
    if (!knn_cuda_buffer_reserve(gpu, buffer, (query_set->rows + 1) * 3 * sizeof(double), "normals"))
        return MOTE_ERROR_MEMORY;
    mote_status status = open_normals(gpu, queries != NULL ? queries : index->cloud, &device);
    if (status == MOTE_OK) {
        normal_columns from;
        memcpy(from.axes, device.columns, sizeof from.axes);
        CUDA_LAUNCH(gpu, make_normals, cuda_blocks(query_set->rows, THREADS), THREADS, from, query_set->points.order,
                    query_set->rows, (double *)buffer->memory);
        args->normals = (const double *)buffer->memory;
        status = cuda_launched(gpu, "normals");
    }
    device_cloud_close(&device);
    return status;
}
