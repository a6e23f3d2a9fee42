/* A cloud's columns in device memory. */
#ifndef MOTE_DEVICE_CLOUD_H
#define MOTE_DEVICE_CLOUD_H

#include "core/cloud.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Device memory that columns of a view are in. */
typedef struct device_block {
    void *memory;
    bool is_kept; /* the cloud keeps it, for the next view */
} device_block;

typedef struct device_cloud {
    mote_device *device;
    uint64_t count;
    mote_column *columns; /* [column_count] as they were given, with data in device memory */
    uint32_t column_count;
    device_block *blocks; /* [block_count] none if the cloud was on the device already */
    uint32_t block_count;
    mote_uploads *uploads; /* of the cloud, whose some of the blocks are */
    double position_step;  /* the cloud's: the decimal step of its text, 0 if unknown */
} device_cloud;

/* Opens columns of a cloud. Those of host memory are uploaded, the ones that lie interleaved as one block, unless the
   cloud keeps what is uploaded and has them there; of a cloud on the device this is a look at it. view is valid to
   close in any case. */
mote_status device_cloud_open_columns(mote_device *device, const mote_cloud *cloud, const mote_column *columns,
                                      uint64_t column_count, device_cloud *view);
/* Opens all columns. */
mote_status device_cloud_open(mote_device *device, const mote_cloud *cloud, device_cloud *view);
/* Opens the columns x, y and z alone, for work that reads no attributes. */
mote_status device_cloud_open_positions(mote_device *device, const mote_cloud *cloud, device_cloud *view);
void device_cloud_close(device_cloud *view);
/* Of records of record_bytes bytes, the first at records: how many bytes of each the columns use. 0 if a column lies
   elsewhere. */
uint32_t device_cloud_record_bytes(const device_cloud *cloud, const void *records, uint32_t record_bytes);
/* Makes a cloud of the same columns in other memory, a copy of the records in any order, which becomes out's own. */
mote_status device_cloud_move(const device_cloud *cloud, const void *records, void *copy, device_cloud *out);
/* The columns x, y and z; one that is missing is an error. */
mote_status device_cloud_positions(const device_cloud *view, const mote_column *axes[3]);
/* NULL if there is none. */
const mote_column *device_cloud_find(const device_cloud *view, const char *name);

#ifdef __cplusplus
}
#endif
#endif
