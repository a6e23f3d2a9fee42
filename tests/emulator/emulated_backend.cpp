/* The backend of a GPU that is not there: backend/cuda.h on memory of the host. Everything is done when it returns. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <map>

#include "backend/backend.h"
#include "backend/cuda_cloud.h"
#include "emulator/device_memory.h"
#include "io/laz/laz_device.h"
#include "io/potree/potree_ops.h"
#include "knn/knn_ops.h"
#include "lod/lod_ops.h"
#include "normals/normals_ops.h"
#include "order/order_ops.h"
#include "planes/planes_ops.h"

#define DEVICE_BYTES (16ull << 30) /* so much the GPU seems to have */

/* Which structure counted an allocation. */
struct counted {
    uint64_t size_bytes;
    uint32_t structure;
};

struct cuda_state {
    std::map<void *, counted> allocations;
};

/* ---- memory */

void *cuda_alloc(mote_context *ctx, uint64_t size_bytes, const char *structure) {
    uint32_t number = 0;
    const bool fits = size_bytes <= cuda_memory_left(ctx) && mote_count_device(ctx, size_bytes, structure, &number);
    void *memory = fits ? device_memory_take(size_bytes) : nullptr;
    if (memory == nullptr) {
        if (fits) mote_uncount_device(ctx, size_bytes, number);
        mote_fail(ctx, MOTE_ERROR_MEMORY, "out of memory on the device: %llu bytes for %s",
                  (unsigned long long)size_bytes, structure);
        return nullptr;
    }
    ctx->cuda->allocations[memory] = {size_bytes, number};
    return memory;
}

void cuda_free(mote_context *ctx, void *device) {
    if (device == nullptr) return;
    const counted was = ctx->cuda->allocations[device];
    ctx->cuda->allocations.erase(device);
    device_memory_give_back(device);
    mote_uncount_device(ctx, was.size_bytes, was.structure);
}

uint64_t cuda_memory_left(mote_context *ctx) {
    const uint64_t limit = ctx->params.memory_limit_bytes;
    const uint64_t most = limit > 0 && limit < DEVICE_BYTES ? limit : DEVICE_BYTES;
    return ctx->device_bytes < most ? most - ctx->device_bytes : 0;
}

bool cuda_is_device_memory(mote_context *ctx, const void *memory) {
    (void)ctx;
    return device_memory_has(memory);
}

/* Counted as the host's. */
void *cuda_pinned_alloc(mote_context *ctx, uint64_t size_bytes, const char *structure) {
    return mote_alloc(ctx, size_bytes, structure);
}

void cuda_pinned_free(mote_context *ctx, void *pinned) { mote_free(ctx, pinned); }

/* ---- copies */

static mote_status copy(void *to, const void *from, uint64_t size_bytes) {
    if (size_bytes > 0) memmove(to, from, size_bytes);
    return MOTE_OK;
}

mote_status cuda_upload(mote_context *ctx, void *device, const void *host, uint64_t size_bytes) {
    (void)ctx;
    return copy(device, host, size_bytes);
}

mote_status cuda_download(mote_context *ctx, void *host, const void *device, uint64_t size_bytes) {
    (void)ctx;
    return copy(host, device, size_bytes);
}

mote_status cuda_copy(mote_context *ctx, void *to, const void *from, uint64_t size_bytes) {
    (void)ctx;
    return copy(to, from, size_bytes);
}

mote_status cuda_fill(mote_context *ctx, void *device, int byte, uint64_t size_bytes) {
    (void)ctx;
    if (size_bytes > 0) memset(device, byte, size_bytes);
    return MOTE_OK;
}

mote_status cuda_upload_begin(mote_context *ctx, void *device, const void *pinned, uint64_t size_bytes,
                              cuda_ticket *ticket) {
    (void)ctx;
    ticket->event = nullptr;
    return copy(device, pinned, size_bytes);
}

mote_status cuda_download_begin(mote_context *ctx, void *pinned, const void *device, uint64_t size_bytes,
                                cuda_ticket *ticket) {
    (void)ctx;
    ticket->event = nullptr;
    return copy(pinned, device, size_bytes);
}

mote_status cuda_wait(mote_context *ctx, cuda_ticket *ticket) {
    (void)ctx, (void)ticket;
    return MOTE_OK;
}

mote_status cuda_launched(mote_context *ctx, const char *what) {
    (void)ctx, (void)what;
    return MOTE_OK;
}

mote_status cuda_finish(mote_context *ctx, const char *what) {
    (void)ctx, (void)what;
    return MOTE_OK;
}

void *cuda_stream(mote_context *ctx) {
    (void)ctx;
    return nullptr;
}

/* ---- the part */

static uint32_t emulated_devices(mote_device *devices, uint32_t capacity, char *reason, size_t reason_bytes) {
    if (reason_bytes > 0) reason[0] = '\0';
    if (capacity > 0) {
        memset(&devices[0], 0, sizeof devices[0]);
        devices[0].kind = MOTE_DEVICE_CUDA;
        devices[0].usable = true;
        devices[0].memory_bytes = DEVICE_BYTES;
        snprintf(devices[0].name, sizeof devices[0].name, "CUDA emulator");
    }
    return 1;
}

static mote_status emulated_open(mote_context *ctx, int index) {
    if (index != 0) return mote_fail(ctx, MOTE_ERROR_UNSUPPORTED, "there is no GPU %d", index);
    ctx->cuda = new cuda_state;
    return MOTE_OK;
}

/* As on a GPU, what was not given back before ends here; but a test should hear of it. */
static void emulated_close(mote_context *ctx) {
    for (const auto &[memory, was] : ctx->cuda->allocations) {
        fprintf(stderr, "emulator: %llu bytes of %s were not given back\n", (unsigned long long)was.size_bytes,
                ctx->structures[was.structure].name);
        abort();
    }
    delete ctx->cuda;
    ctx->cuda = nullptr;
}

/* The host waits for every launch, so the clock will do for stages. */
static void emulated_mark(mote_context *ctx, int stage) { (void)ctx, (void)stage; }

static void emulated_settle(mote_context *ctx) { (void)ctx; }

static const mote_backend emulated_backend = {"cuda",
                                              MOTE_DEVICE_CUDA,
                                              &mote_order_on_cuda,
                                              &mote_lod_on_cuda,
                                              &mote_potree_on_cuda,
                                              &mote_laz_on_cuda,
                                              &mote_knn_on_cuda,
                                              &mote_normals_on_cuda,
                                              &mote_planes_on_cuda};

/* It takes a while, so that what can begin without a GPU does. */
static void emulated_wake(int index) {
    (void)index;
    usleep(20000);
}

const mote_cuda_part mote_cuda = {&emulated_backend, emulated_devices, emulated_open, emulated_close,    cuda_free,
                                  emulated_mark,     emulated_settle,  cuda_finish,   cuda_cloud_upload, emulated_wake};
