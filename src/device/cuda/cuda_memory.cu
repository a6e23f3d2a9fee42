/* Memory of the device from a pool, and page-locked memory of the host. */
#include "device/cuda/cuda_state.h"

/* ---- where the pool takes its segments */

static void *take_segment(void *user, uint64_t size_bytes) {
    mote_device *gpu = (mote_device *)user;
    void *memory = NULL;
    cuda_enter(gpu);
    const cudaError_t error = cudaMalloc(&memory, size_bytes);
    if (error == cudaSuccess) return memory;
    cudaGetLastError();
    /* That there is none is the pool's to tell: it may try again. */
    if (error != cudaErrorMemoryAllocation) cuda_failed(gpu, error, "taking memory");
    return NULL;
}

static void release_segment(void *user, void *memory, uint64_t size_bytes) {
    (void)size_bytes;
    cuda_enter((mote_device *)user);
    if (cudaFree(memory) != cudaSuccess) cudaGetLastError();
}

static uint64_t device_available(void *user) {
    size_t remaining = 0, all = 0;
    cuda_enter((mote_device *)user);
    if (cudaMemGetInfo(&remaining, &all) == cudaSuccess) return remaining;
    cudaGetLastError();
    return 0;
}

mote_status cuda_memory_open(mote_device *gpu) {
    const pool_source source = {gpu, take_segment, release_segment, device_available};
    state_of(gpu)->memory = pool_make(gpu, &source);
    return state_of(gpu)->memory != NULL ? MOTE_OK : MOTE_ERROR_MEMORY;
}

void *cuda_alloc(mote_device *gpu, uint64_t size_bytes, const char *structure) {
    return pool_take(state_of(gpu)->memory, size_bytes, structure);
}

void cuda_free(mote_device *gpu, void *device) {
    if (device == NULL) return;
    cuda_order_downloads(gpu); /* one may still read it */
    pool_give(state_of(gpu)->memory, device);
}

uint64_t cuda_available(mote_device *gpu) { return pool_available(state_of(gpu)->memory); }

bool cuda_is_device_memory(mote_device *gpu, const void *memory) {
    cudaPointerAttributes attributes;
    cuda_enter(gpu);
    if (cudaPointerGetAttributes(&attributes, memory) != cudaSuccess) {
        cudaGetLastError();
        return false;
    }
    return attributes.type == cudaMemoryTypeDevice || attributes.type == cudaMemoryTypeManaged;
}

/* ---- page-locked memory */

static bool lock_pages(mote_device *gpu, uint64_t size_bytes, const char *structure, void **memory) {
    cuda_enter(gpu);
    const cudaError_t error = cudaHostAlloc(memory, size_bytes > 0 ? size_bytes : 1, cudaHostAllocPortable);
    if (error == cudaSuccess) return true;
    cudaGetLastError();
    if (error != cudaErrorMemoryAllocation) {
        cuda_failed(gpu, error, "taking page-locked memory");
    } else {
        mote_fail(gpu->ctx, MOTE_ERROR_MEMORY, "out of page-locked memory: %llu bytes for %s",
                  (unsigned long long)size_bytes, structure);
    }
    return false;
}

void *cuda_pinned_alloc(mote_device *gpu, uint64_t size_bytes, const char *structure) {
    cuda_state *s = state_of(gpu);
    cuda_pinned pinned = {NULL, size_bytes, 0};
    if (!mote_reserve(gpu->ctx, (void **)&s->pinned, &s->pinned_capacity, s->pinned_count + 1, sizeof pinned,
                      "GPU bookkeeping")) {
        return NULL;
    }
    if (!mote_count_host(gpu->ctx, size_bytes, structure, &pinned.structure)) return NULL;
    if (!lock_pages(gpu, size_bytes, structure, &pinned.memory)) {
        mote_uncount_host(gpu->ctx, size_bytes, pinned.structure);
        return NULL;
    }
    s->pinned[s->pinned_count++] = pinned;
    return pinned.memory;
}

static void unlock_pages(mote_device *gpu, const cuda_pinned *pinned) {
    cuda_enter(gpu);
    if (cudaFreeHost(pinned->memory) != cudaSuccess) cudaGetLastError();
    mote_uncount_host(gpu->ctx, pinned->size_bytes, pinned->structure);
}

void cuda_pinned_free(mote_device *gpu, void *memory) {
    cuda_state *s = state_of(gpu);
    for (uint64_t i = 0; i < s->pinned_count && memory != NULL; i++) {
        if (s->pinned[i].memory != memory) continue;
        unlock_pages(gpu, &s->pinned[i]);
        s->pinned[i] = s->pinned[--s->pinned_count];
        return;
    }
}

void *cuda_answer(mote_device *gpu) {
    cuda_state *s = state_of(gpu);
    if (s->answer == NULL) s->answer = cuda_pinned_alloc(gpu, CUDA_ANSWER_BYTES, "GPU bookkeeping");
    return s->answer;
}

void cuda_memory_close(mote_device *gpu) {
    cuda_state *s = state_of(gpu);
    for (uint64_t i = 0; i < s->pinned_count; i++) unlock_pages(gpu, &s->pinned[i]);
    mote_free(gpu->ctx, s->pinned);
    pool_destroy(s->memory);
}
