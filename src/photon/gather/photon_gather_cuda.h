/* Gathering on a GPU: what its files share. For .cu files only. */
#ifndef MOTE_PHOTON_GATHER_CUDA_H
#define MOTE_PHOTON_GATHER_CUDA_H

#include "core/column_math.h"
#include "device/device_cloud.h"
#include "knn/cuda/knn_visit_cuda.cuh"
#include "photon/gather/photon_gather.h"
#include "photon/photon_cuda.h"

/* Queries: columns on the device. */
#define PHOTON_QUERY_AXES 6 /* x, y, z and the normal */

typedef struct photon_query_columns {
    mote_column axes[PHOTON_QUERY_AXES];
} photon_query_columns;

static __device__ inline void photon_read_normal(const photon_query_columns *queries, uint64_t row, float normal[3]) {
    double unit[3];
    knn_unit_normal(column_value(&queries->axes[3], row), column_value(&queries->axes[4], row),
                    column_value(&queries->axes[5], row), unit);
    for (int k = 0; k < 3; k++) normal[k] = (float)unit[k];
}

/* device: zeros; to be closed. columns: those of queries, on the device. */
mote_status photon_open_queries(mote_device *gpu, const mote_cloud *queries, device_cloud *device,
                                photon_query_columns *columns);

/* What gathering without rows writes. */
typedef struct photon_select_args {
    photon_query_columns queries;
    mote_photon_gathering params;
    photon_filter_terms terms;
    double steps, share;
    float *irradiance;   /* [3 · queries], zeros: of whole discs */
    double *radius2;     /* [queries], zeros: of the disc */
    uint8_t *unresolved; /* [queries], zeros */
} photon_select_args;

/* Whether a search for params->k, whose arguments these are, can be made without rows; and that. *remaining: on the
   device, how many queries it leaves unresolved. */
bool photon_can_select(const knn_search_args *args);
mote_status photon_select_on_cuda(mote_device *gpu, const knn_search_args *args, photon_cloud *photons,
                                  const photon_select_args *to, uint32_t *remaining);

#endif
