/* A cloud's columns in device memory. */
#ifndef MOTE_CUDA_CLOUD_H
#define MOTE_CUDA_CLOUD_H

#include "backend/cuda.h"
#include "core/cloud.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cuda_cloud {
    mote_context *ctx;
    uint64_t count;
    mote_column *columns; /* [column_count] as the cloud's, in the same order, with data in device memory */
    uint32_t column_count;
    void **blocks; /* [block_count] device memory of its own: none if the cloud was on the device already */
    uint32_t block_count;
    double position_step; /* the cloud's: the decimal step of its text, 0 if unknown */
} cuda_cloud;

/* Uploads a cloud of host memory, columns that lie interleaved as one block; looks at one that is on the device.
   device is valid to close in any case. */
mote_status cuda_cloud_open(mote_context *ctx, const mote_cloud *cloud, cuda_cloud *device);
void cuda_cloud_close(cuda_cloud *device);
/* A new cloud of what cuda_cloud_open uploads; it owns that memory. Columns only. */
mote_status cuda_cloud_upload(mote_context *ctx, const mote_cloud *cloud, mote_cloud **out);
/* Of records of so many bytes from there on: how many bytes of each the columns reach. 0 if one lies elsewhere. */
uint32_t cuda_cloud_reach(const cuda_cloud *cloud, const void *records, uint32_t record_bytes);
/* The same columns in other memory, a copy of those records in any order, which becomes out's own. */
mote_status cuda_cloud_move(const cuda_cloud *cloud, const void *records, void *copy, cuda_cloud *out);
/* NULL if there is none. */
const mote_column *cuda_cloud_find(const cuda_cloud *device, const char *name);

#ifdef __cplusplus
}
#endif
#endif
