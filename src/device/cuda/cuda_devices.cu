#include "device/cuda/cuda.h"
#include "device/cuda/cuda_devices.h"

#include <stdio.h>
#include <string.h>

#include <cuda_runtime.h>

/* Turing: the oldest that the toolkit still compiles for. */
#define MIN_MAJOR 7
#define MIN_MINOR 5

static void explain_failure(mote_device_info *device, cudaError_t error) {
    cudaGetLastError();
    snprintf(device->reason, sizeof device->reason, "%s", cudaGetErrorString(error));
}

void cuda_describe_device(int index, mote_device_info *device) {
    cudaDeviceProp properties;
    int mode = cudaComputeModeDefault;
    memset(device, 0, sizeof *device);
    device->kind = MOTE_DEVICE_CUDA;
    device->index = index;
    snprintf(device->name, sizeof device->name, "GPU %d", index);
    cudaError_t error = cudaGetDeviceProperties(&properties, index);
    if (error == cudaSuccess) error = cudaDeviceGetAttribute(&mode, cudaDevAttrComputeMode, index);
    if (error != cudaSuccess) {
        explain_failure(device, error);
        return;
    }
    const int major = properties.major, minor = properties.minor;
    device->memory_bytes = properties.totalGlobalMem;
    snprintf(device->name, sizeof device->name, "%.80s, compute capability %d.%d", properties.name, major, minor);
    if (major < MIN_MAJOR || (major == MIN_MAJOR && minor < MIN_MINOR)) {
        snprintf(device->reason, sizeof device->reason, "needs compute capability %d.%d or newer, this has %d.%d",
                 MIN_MAJOR, MIN_MINOR, major, minor);
    } else if (mode == cudaComputeModeProhibited) {
        snprintf(device->reason, sizeof device->reason, "its compute mode is \"prohibited\"");
    } else {
        device->usable = true;
    }
}

/* The driver's version is 0 where there is none. */
static void explain_driver(char *reason, size_t reason_bytes) {
    int driver = 0;
    if (cudaDriverGetVersion(&driver) != cudaSuccess || driver == 0) {
        snprintf(reason, reason_bytes, "no NVIDIA driver");
        return;
    }
    snprintf(reason, reason_bytes, "the NVIDIA driver is too old: it has CUDA %d.%d, this build needs %d.%d",
             driver / 1000, driver % 1000 / 10, CUDART_VERSION / 1000, CUDART_VERSION % 1000 / 10);
}

uint32_t cuda_list_devices(mote_device_info *devices, uint32_t capacity, char *reason, size_t reason_bytes) {
    int count = 0;
    const cudaError_t error = cudaGetDeviceCount(&count);
    if (error != cudaSuccess || count < 1) {
        cudaGetLastError();
        if (error == cudaErrorInsufficientDriver) {
            explain_driver(reason, reason_bytes);
        } else {
            const bool none = error == cudaSuccess || error == cudaErrorNoDevice;
            snprintf(reason, reason_bytes, "%s", none ? "no NVIDIA GPU" : cudaGetErrorString(error));
        }
        return 0;
    }
    for (int i = 0; i < count && (uint32_t)i < capacity; i++) cuda_describe_device(i, &devices[i]);
    return (uint32_t)count;
}
