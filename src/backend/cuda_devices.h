/* Which GPUs there are. */
#ifndef MOTE_CUDA_DEVICES_H
#define MOTE_CUDA_DEVICES_H

#include "mote/context.h"

/* As mote_cuda_part.devices. */
uint32_t cuda_list_devices(mote_device *devices, uint32_t capacity, char *reason, size_t reason_bytes);
void cuda_describe_device(int index, mote_device *device);

#endif
