/* A context's GPU, for the algorithms: memory, copies, errors. All work of a context goes to one stream, in order; so
   memory given back may be handed out again at once, and nothing here waits unless it says so. */
#ifndef MOTE_CUDA_H
#define MOTE_CUDA_H

#include "core/core.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Device memory from the context's pool, aligned to 256 bytes. structure is a string literal, for --stats. NULL when
   there is none (the failure is noted: MOTE_ERROR_MEMORY). size 0 gives a valid pointer. */
void *cuda_alloc(mote_context *ctx, uint64_t size_bytes, const char *structure);
void cuda_free(mote_context *ctx, void *device);
/* The most that cuda_alloc could give at once now: what the device, and the context's limit, leave. */
uint64_t cuda_memory_left(mote_context *ctx);

/* Copies between host and device; return when the host's memory may be used again. The host side may be any memory,
   also of the device: cuda_download from device to device is a copy. */
mote_status cuda_upload(mote_context *ctx, void *device, const void *host, uint64_t size_bytes);
mote_status cuda_download(mote_context *ctx, void *host, const void *device, uint64_t size_bytes);
/* Device to device; and filling with one byte. */
mote_status cuda_copy(mote_context *ctx, void *to, const void *from, uint64_t size_bytes);
mote_status cuda_fill(mote_context *ctx, void *device, int byte, uint64_t size_bytes);

/* Whether the last launches were accepted; what names the step in the message. Does not wait. */
mote_status cuda_launched(mote_context *ctx, const char *what);
/* Waits until all work is done. */
mote_status cuda_finish(mote_context *ctx, const char *what);
/* The stream, a cudaStream_t. */
void *cuda_stream(mote_context *ctx);
/* Whether memory is the device's. */
bool cuda_is_device_memory(mote_context *ctx, const void *memory);

/* Page-locked host memory: copies from and to it run beside the work of host and device. NULL when there is none. */
void *cuda_pinned_alloc(mote_context *ctx, uint64_t size_bytes, const char *structure);
void cuda_pinned_free(mote_context *ctx, void *pinned);
/* Copies that only begin here. An upload takes its turn in the stream: work launched after it sees it. A download sees
   work launched before it and runs beside what is launched later, which must not overwrite what it reads until
   cuda_wait (but that may be given to cuda_free). The ticket tells when the pinned memory is free again. */
typedef struct cuda_ticket {
    void *event; /* NULL: nothing to wait for */
} cuda_ticket;
mote_status cuda_upload_begin(mote_context *ctx, void *device, const void *pinned, uint64_t size_bytes,
                              cuda_ticket *ticket);
mote_status cuda_download_begin(mote_context *ctx, void *pinned, const void *device, uint64_t size_bytes,
                                cuda_ticket *ticket);
/* Waits for a copy and ends its ticket. */
mote_status cuda_wait(mote_context *ctx, cuda_ticket *ticket);

#ifdef __cplusplus
}
#endif
#endif
