/* What a GPU is. */
#ifndef MOTE_CUDA_DEVICES_H
#define MOTE_CUDA_DEVICES_H

#include "mote/context.h"

void cuda_describe_device(int index, mote_device_info *device);

#endif
