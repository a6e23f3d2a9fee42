/* What takes the place of the GPU's backend in a build without CUDA. */
#include <stdio.h>

#include "backend/backend.h"

static uint32_t no_devices(mote_device *devices, uint32_t capacity, char *reason, size_t reason_bytes) {
    (void)devices, (void)capacity;
    snprintf(reason, reason_bytes, "this build has no CUDA");
    return 0;
}

static void free_nothing(mote_context *ctx, void *device) { (void)ctx, (void)device; }

const mote_cuda_part mote_cuda = {NULL, no_devices, NULL, NULL, free_nothing, NULL, NULL, NULL, NULL};
