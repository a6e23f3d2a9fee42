/* What a search for neighbours by ellipsoids needs: unit normals of the queries, by their places, and what keys are. */
#include "backend/cuda_kernel.h"
#include "core/column_math.h"
#include "knn/knn_cuda.h"

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

static mote_status open_normals(mote_context *ctx, const mote_cloud *cloud, cuda_cloud *device) {
    const mote_column *columns[3];
    mote_column axes[3];
    mote_cloud view = *cloud;
    if (!knn_find_normals(cloud, columns)) return mote_fail(ctx, MOTE_ERROR_ARGUMENT, "ellipsoids need normals");
    for (int k = 0; k < 3; k++) axes[k] = *columns[k];
    view.columns = axes;
    view.column_count = 3;
    return cuda_cloud_open(ctx, &view, device);
}

mote_status knn_cuda_squeeze(mote_knn_index *index, const mote_cloud *queries, const knn_cuda_asked *asked,
                             const mote_knn_params *params, knn_cuda_ask *ask) {
    mote_context *ctx = index->ctx;
    knn_cuda_room *const room = &index->cuda->normals;
    cuda_cloud device;
    memset(&device, 0, sizeof device);
    ask->compression = params->compression;
    ask->squeeze = params->compression * params->compression - 1;
    ask->keys = knn_metric_ellipsoid(&ask->tree.metric);
    ask->limit = knn_limit_ellipsoid(params->radius);
    if (!knn_cuda_make_room(ctx, room, (asked->rows + 1) * 3 * sizeof(double), "normals")) return MOTE_ERROR_MEMORY;
    mote_status status = open_normals(ctx, queries != NULL ? queries : index->cloud, &device);
    if (status == MOTE_OK) {
        normal_columns from;
        memcpy(from.axes, device.columns, sizeof from.axes);
        CUDA_LAUNCH(ctx, make_normals, cuda_blocks(asked->rows, THREADS), THREADS, from, asked->points.order,
                    asked->rows, (double *)room->memory);
        ask->normals = (const double *)room->memory;
        status = cuda_launched(ctx, "normals");
    }
    cuda_cloud_close(&device);
    return status;
}
