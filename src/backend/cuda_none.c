/* What takes the place of the GPU's backend in a build without CUDA. */
#include <stdio.h>

#include "backend/backend.h"
#include "backend/cuda.h"

static uint32_t no_devices(mote_device *devices, uint32_t capacity, char *reason, size_t reason_bytes) {
    (void)devices, (void)capacity;
    snprintf(reason, reason_bytes, "this build has no CUDA");
    return 0;
}

static void free_nothing(mote_context *ctx, void *device) { (void)ctx, (void)device; }

const mote_cuda_part mote_cuda = {NULL, no_devices, NULL, NULL, free_nothing, NULL, NULL, NULL, NULL, NULL};

/* Of cuda.h what sources other than .cu call, behind a backend that this build never gives them. */
static mote_status no_cuda(mote_context *ctx) {
    return mote_fail(ctx, MOTE_ERROR_UNSUPPORTED, "this build has no CUDA");
}

void *cuda_alloc(mote_context *ctx, uint64_t size_bytes, const char *structure) {
    (void)size_bytes, (void)structure;
    no_cuda(ctx);
    return NULL;
}

void cuda_free(mote_context *ctx, void *device) { (void)ctx, (void)device; }

uint64_t cuda_memory_left(mote_context *ctx) {
    (void)ctx;
    return 0;
}

mote_status cuda_fill(mote_context *ctx, void *device, int byte, uint64_t size_bytes) {
    (void)device, (void)byte, (void)size_bytes;
    return no_cuda(ctx);
}

mote_status cuda_upload(mote_context *ctx, void *device, const void *host, uint64_t size_bytes) {
    (void)device, (void)host, (void)size_bytes;
    return no_cuda(ctx);
}

void *cuda_pinned_alloc(mote_context *ctx, uint64_t size_bytes, const char *structure) {
    (void)size_bytes, (void)structure;
    no_cuda(ctx);
    return NULL;
}

void cuda_pinned_free(mote_context *ctx, void *pinned) { (void)ctx, (void)pinned; }

mote_status cuda_upload_begin(mote_context *ctx, void *device, const void *pinned, uint64_t size_bytes,
                              cuda_ticket *ticket) {
    (void)device, (void)pinned, (void)size_bytes, (void)ticket;
    return no_cuda(ctx);
}

mote_status cuda_wait(mote_context *ctx, cuda_ticket *ticket) {
    (void)ticket;
    return no_cuda(ctx);
}

mote_status cuda_download(mote_context *ctx, void *host, const void *device, uint64_t size_bytes) {
    (void)host, (void)device, (void)size_bytes;
    return no_cuda(ctx);
}

bool cuda_is_device_memory(mote_context *ctx, const void *memory) {
    (void)ctx, (void)memory;
    return false;
}
