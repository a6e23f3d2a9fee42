/* Clouds that own their columns in device memory. */
#include "backend/cuda_cloud.h"

/* Hands the memory and the columns over; what is left in device is still its own. */
static mote_status take_over(cuda_cloud *device, mote_cloud *cloud) {
    while (device->block_count > 0) MOTE_TRY(mote_cloud_adopt_device(cloud, device->blocks[--device->block_count]));
    for (uint32_t i = 0; i < device->column_count; i++) MOTE_TRY(mote_cloud_add_view(cloud, &device->columns[i]));
    return MOTE_OK;
}

mote_status cuda_cloud_upload(mote_context *ctx, const mote_cloud *cloud, mote_cloud **out) {
    cuda_cloud device;
    mote_cloud *copy = NULL;
    *out = NULL;
    mote_status status = cuda_cloud_open(ctx, cloud, &device);
    if (status == MOTE_OK) status = mote_cloud_new(ctx, cloud->count, &copy);
    if (status == MOTE_OK) {
        copy->on_device = true;
        status = take_over(&device, copy);
    }
    cuda_cloud_close(&device);
    if (status != MOTE_OK) {
        mote_cloud_destroy(copy);
        return status;
    }
    *out = copy;
    return MOTE_OK;
}
