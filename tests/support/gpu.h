/* The GPU of a context that was made for one. */
#ifndef MOTE_TEST_GPU_H
#define MOTE_TEST_GPU_H

#include "device/backend.h"
#include "device/cuda/cuda.h"

static inline mote_device *gpu_of(mote_context *ctx) { return mote_device_choose(ctx, UINT64_MAX); }

#endif
