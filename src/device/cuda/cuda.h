/* An NVIDIA GPU, for .cu files: what core/device.h says of any device, under the names that the emulator of the tests
   has too, and what only kernels need. */
#ifndef MOTE_CUDA_H
#define MOTE_CUDA_H

#include "core/core.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The entries of device_ops. */
extern const device_ops cuda_device_ops;
uint32_t cuda_list_devices(mote_device_info *devices, uint32_t capacity, char *reason, size_t reason_bytes);
void cuda_warm_up(int index);
mote_status cuda_open(mote_device *gpu);
void cuda_close(mote_device *gpu);
void cuda_begin_stage(mote_device *gpu, int stage);
void cuda_end_stages(mote_device *gpu);
mote_status cuda_finish(mote_device *gpu, const char *what);
void *cuda_alloc(mote_device *gpu, uint64_t size_bytes, const char *structure);
void cuda_free(mote_device *gpu, void *device);
uint64_t cuda_available(mote_device *gpu);
bool cuda_is_device_memory(mote_device *gpu, const void *memory);
void *cuda_pinned_alloc(mote_device *gpu, uint64_t size_bytes, const char *structure);
void cuda_pinned_free(mote_device *gpu, void *pinned);
/* Page-locked memory that is the device's own, for what a step tells the host by cuda_download_begin: until cuda_wait,
   a step at a time. NULL: no memory. */
#define CUDA_ANSWER_BYTES 256u
void *cuda_answer(mote_device *gpu);
mote_status cuda_upload(mote_device *gpu, void *device, const void *host, uint64_t size_bytes);
mote_status cuda_download(mote_device *gpu, void *host, const void *device, uint64_t size_bytes);
mote_status cuda_fill(mote_device *gpu, void *device, int byte, uint64_t size_bytes);
mote_status cuda_upload_begin(mote_device *gpu, void *device, const void *pinned, uint64_t size_bytes,
                              device_transfer *transfer);
mote_status cuda_wait(mote_device *gpu, device_transfer *transfer);

/* Copies from the device to the device. */
mote_status cuda_copy(mote_device *gpu, void *to, const void *from, uint64_t size_bytes);
/* Begins to copy what work launched before it made, into page-locked memory. It runs while later work does, which must
   not overwrite what it reads until cuda_wait (but that may be given to cuda_free). */
mote_status cuda_download_begin(mote_device *gpu, void *pinned, const void *device, uint64_t size_bytes,
                                device_transfer *transfer);

/* Whether the last launches were accepted; what names the step in the message. Does not wait. */
mote_status cuda_launched(mote_device *gpu, const char *what);
/* The stream, a cudaStream_t. */
void *cuda_stream(mote_device *gpu);
/* How many blocks to launch of a kernel whose blocks share out the work, whatever their number: no result depends on
   it. For an H200 (132 multiprocessors of 2,048 threads) and blocks of 256 threads, full is 1,056.
     full      as many as the GPU has threads for, if registers and shared memory allow it
     resident  as many blocks of this kernel as the GPU holds at once */
uint32_t cuda_full_blocks(const mote_device *gpu, uint32_t threads);
uint32_t cuda_resident_blocks(mote_device *gpu, const void *kernel, uint32_t threads);

#ifdef __cplusplus
}
#endif
#endif
