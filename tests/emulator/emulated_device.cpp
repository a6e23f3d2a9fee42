/* A GPU that is not there: device/cuda/cuda.h on memory of the host. Everything is done when it returns. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <map>

#include "device/cuda/cuda.h"
#include "emulator/device_memory.h"

#define DEVICE_BYTES (16ull << 30) /* so much the GPU seems to have */

/* Which structure counted an allocation. */
struct counted {
    uint64_t size_bytes;
    uint32_t structure;
};

struct emulated_state {
    std::map<void *, counted> allocations;
};

static emulated_state *state_of(mote_device *gpu) { return (emulated_state *)gpu->implementation; }

/* ---- memory */

static uint64_t free_bytes(const mote_device *gpu) {
    const uint64_t limit = mote_device_limit(gpu->ctx);
    const uint64_t max = limit > 0 && limit < DEVICE_BYTES ? limit : DEVICE_BYTES;
    return gpu->ctx->device_bytes < max ? max - gpu->ctx->device_bytes : 0;
}

void *cuda_alloc(mote_device *gpu, uint64_t size_bytes, const char *structure) {
    uint32_t number = 0;
    if (size_bytes > free_bytes(gpu)) mote_cache_release(gpu);
    const bool fits = size_bytes <= free_bytes(gpu) && mote_count_device(gpu->ctx, size_bytes, structure, &number);
    void *memory = fits ? device_memory_take(size_bytes) : nullptr;
    if (memory == nullptr) {
        if (fits) mote_uncount_device(gpu->ctx, size_bytes, number);
        const uint64_t limit = mote_device_limit(gpu->ctx);
        const bool is_limited = limit > 0 && limit < DEVICE_BYTES;
        device_fail_memory(gpu, size_bytes, structure, is_limited ? UINT64_MAX : free_bytes(gpu));
        return nullptr;
    }
    state_of(gpu)->allocations[memory] = {size_bytes, number};
    return memory;
}

void cuda_free(mote_device *gpu, void *device) {
    if (device == nullptr) return;
    const counted was = state_of(gpu)->allocations[device];
    state_of(gpu)->allocations.erase(device);
    device_memory_give_back(device);
    mote_uncount_device(gpu->ctx, was.size_bytes, was.structure);
}

uint64_t cuda_available(mote_device *gpu) { return free_bytes(gpu) + mote_cache_bytes(gpu); }

bool cuda_is_device_memory(mote_device *gpu, const void *memory) {
    (void)gpu;
    return device_memory_has(memory);
}

/* Counted as the host's. */
void *cuda_pinned_alloc(mote_device *gpu, uint64_t size_bytes, const char *structure) {
    return mote_alloc(gpu->ctx, size_bytes, structure);
}

void cuda_pinned_free(mote_device *gpu, void *pinned) { mote_free(gpu->ctx, pinned); }

void *cuda_answer(mote_device *) {
    static thread_local uint64_t answer[CUDA_ANSWER_BYTES / sizeof(uint64_t)];
    return answer;
}

/* ---- copies */

static mote_status copy(void *to, const void *from, uint64_t size_bytes) {
    if (size_bytes > 0) memmove(to, from, size_bytes);
    return MOTE_OK;
}

mote_status cuda_upload(mote_device *gpu, void *device, const void *host, uint64_t size_bytes) {
    (void)gpu;
    return copy(device, host, size_bytes);
}

mote_status cuda_download(mote_device *gpu, void *host, const void *device, uint64_t size_bytes) {
    (void)gpu;
    return copy(host, device, size_bytes);
}

mote_status cuda_copy(mote_device *gpu, void *to, const void *from, uint64_t size_bytes) {
    (void)gpu;
    return copy(to, from, size_bytes);
}

mote_status cuda_fill(mote_device *gpu, void *device, int byte, uint64_t size_bytes) {
    (void)gpu;
    if (size_bytes > 0) memset(device, byte, size_bytes);
    return MOTE_OK;
}

mote_status cuda_upload_begin(mote_device *gpu, void *device, const void *pinned, uint64_t size_bytes,
                              device_transfer *transfer) {
    (void)gpu;
    transfer->event = nullptr;
    return copy(device, pinned, size_bytes);
}

mote_status cuda_download_begin(mote_device *gpu, void *pinned, const void *device, uint64_t size_bytes,
                                device_transfer *transfer) {
    (void)gpu;
    transfer->event = nullptr;
    return copy(pinned, device, size_bytes);
}

mote_status cuda_wait(mote_device *gpu, device_transfer *transfer) {
    (void)gpu, (void)transfer;
    return MOTE_OK;
}

mote_status cuda_launched(mote_device *gpu, const char *what) {
    (void)gpu, (void)what;
    return MOTE_OK;
}

mote_status cuda_finish(mote_device *gpu, const char *what) {
    (void)gpu, (void)what;
    return MOTE_OK;
}

void *cuda_stream(mote_device *gpu) {
    (void)gpu;
    return nullptr;
}

/* ---- blocks to launch: of a small GPU, so that a block takes more than one share of the work */

#define MULTIPROCESSORS        3u
#define MULTIPROCESSOR_THREADS 2048u
#define RESIDENT               4u /* blocks of any kernel on a multiprocessor */

uint32_t cuda_full_blocks(const mote_device *gpu, uint32_t threads) {
    (void)gpu;
    return MULTIPROCESSORS * (MULTIPROCESSOR_THREADS / threads);
}

uint32_t cuda_resident_blocks(mote_device *gpu, const void *kernel, uint32_t threads) {
    (void)gpu, (void)kernel, (void)threads;
    return MULTIPROCESSORS * RESIDENT;
}

/* ---- opening and closing */

static uint32_t device_count(void) {
    const char *text = getenv("MOTE_EMULATOR_DEVICES");
    return text != nullptr ? (uint32_t)strtoul(text, nullptr, 10) : 1;
}

uint32_t cuda_list_devices(mote_device_info *devices, uint32_t capacity, char *reason, size_t reason_bytes) {
    const uint32_t count = device_count();
    if (reason_bytes > 0) reason[0] = '\0';
    for (uint32_t i = 0; i < count && i < capacity; i++) {
        memset(&devices[i], 0, sizeof devices[i]);
        devices[i].kind = MOTE_DEVICE_CUDA;
        devices[i].index = (int)i;
        devices[i].usable = true;
        devices[i].memory_bytes = DEVICE_BYTES;
        snprintf(devices[i].name, sizeof devices[i].name, "CUDA emulator");
    }
    return count;
}

/* It takes a while, so that what can begin without a GPU does. */
void cuda_warm_up(int index) {
    (void)index;
    usleep(20000);
}

mote_status cuda_open(mote_device *gpu) {
    if (gpu->index < 0 || (uint32_t)gpu->index >= device_count())
        return mote_fail(gpu->ctx, MOTE_ERROR_UNSUPPORTED, "there is no GPU %d", gpu->index);
    gpu->implementation = new emulated_state;
    return MOTE_OK;
}

/* As on a GPU, what was not given back before ends here; but a test should hear of it. */
void cuda_close(mote_device *gpu) {
    for (const auto &[memory, was] : state_of(gpu)->allocations) {
        fprintf(stderr, "emulator: %llu bytes of %s were not given back\n", (unsigned long long)was.size_bytes,
                gpu->ctx->structures[was.structure].name);
        abort();
    }
    delete state_of(gpu);
    gpu->implementation = nullptr;
}

/* The host waits for every launch, so the clock will do for stages. */
void cuda_begin_stage(mote_device *gpu, int stage) { (void)gpu, (void)stage; }

void cuda_end_stages(mote_device *gpu) { (void)gpu; }
