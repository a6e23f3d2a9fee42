/* The GPUs, asked through the CUDA runtime; in C for the rest of the library. */
#ifndef MOTE_CUDA_DEVICE_H
#define MOTE_CUDA_DEVICE_H

#include "mote/context.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Fills up to capacity entries and returns how many GPUs there are; if none, writes why into reason. */
uint32_t mote_cuda_devices(mote_device *devices, uint32_t capacity, char *reason, size_t reason_bytes);

#ifdef __cplusplus
}
#endif
#endif
