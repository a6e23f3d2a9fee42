#include "backend/cuda_device.h"

#include <stdio.h>
#include <string.h>

#include <cuda_runtime.h>

static void describe(int index, mote_device *device) {
    cudaDeviceProp properties;
    memset(device, 0, sizeof *device);
    device->kind = MOTE_DEVICE_CUDA;
    device->index = index;
    const cudaError_t error = cudaGetDeviceProperties(&properties, index);
    if (error != cudaSuccess) {
        snprintf(device->name, sizeof device->name, "GPU %d", index);
        snprintf(device->reason, sizeof device->reason, "%s", cudaGetErrorString(error));
        return;
    }
    device->memory_bytes = properties.totalGlobalMem;
    snprintf(device->name, sizeof device->name, "%.80s, compute capability %d.%d", properties.name, properties.major,
             properties.minor);
    snprintf(device->reason, sizeof device->reason, "this version of mote computes on the CPU");
}

uint32_t mote_cuda_devices(mote_device *devices, uint32_t capacity, char *reason, size_t reason_bytes) {
    int count = 0;
    const cudaError_t error = cudaGetDeviceCount(&count);
    if (error != cudaSuccess || count < 1) {
        const bool no_driver = error == cudaErrorInsufficientDriver;
        snprintf(reason, reason_bytes, "%s",
                 error == cudaSuccess ? "no NVIDIA GPU"
                 : no_driver          ? "no NVIDIA driver, or one too old for the CUDA of this build"
                                      : cudaGetErrorString(error));
        return 0;
    }
    for (int i = 0; i < count && (uint32_t)i < capacity; i++) describe(i, &devices[i]);
    return (uint32_t)count;
}
