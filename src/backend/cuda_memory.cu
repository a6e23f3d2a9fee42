/* Memory of the device from a pool, and page-locked memory of the host. */
#include "backend/cuda_state.h"

/* ---- where the pool takes its segments */

static void *take_segment(void *user, uint64_t size_bytes) {
    mote_context *ctx = (mote_context *)user;
    void *memory = NULL;
    cuda_enter(ctx);
    const cudaError_t error = cudaMalloc(&memory, size_bytes);
    if (error == cudaSuccess) return memory;
    cudaGetLastError();
    /* That there is none is the pool's to tell: it may try again. */
    if (error != cudaErrorMemoryAllocation) cuda_failed(ctx, error, "taking memory");
    return NULL;
}

static void release_segment(void *user, void *memory, uint64_t size_bytes) {
    (void)size_bytes;
    cuda_enter((mote_context *)user);
    if (cudaFree(memory) != cudaSuccess) cudaGetLastError();
}

static uint64_t device_left(void *user) {
    size_t left = 0, all = 0;
    cuda_enter((mote_context *)user);
    if (cudaMemGetInfo(&left, &all) == cudaSuccess) return left;
    cudaGetLastError();
    return 0;
}

mote_status cuda_memory_open(mote_context *ctx) {
    const pool_source source = {ctx, take_segment, release_segment, device_left};
    ctx->cuda->memory = pool_make(ctx, &source);
    return ctx->cuda->memory != NULL ? MOTE_OK : MOTE_ERROR_MEMORY;
}

void *cuda_alloc(mote_context *ctx, uint64_t size_bytes, const char *structure) {
    return pool_take(ctx->cuda->memory, size_bytes, structure);
}

void cuda_free(mote_context *ctx, void *device) {
    if (device == NULL) return;
    cuda_order_downloads(ctx); /* one may still read it */
    pool_give(ctx->cuda->memory, device);
}

uint64_t cuda_memory_left(mote_context *ctx) {
    mote_release_kept(ctx, true); /* as cuda_alloc would */
    return pool_left(ctx->cuda->memory);
}

bool cuda_is_device_memory(mote_context *ctx, const void *memory) {
    cudaPointerAttributes attributes;
    cuda_enter(ctx);
    if (cudaPointerGetAttributes(&attributes, memory) != cudaSuccess) {
        cudaGetLastError();
        return false;
    }
    return attributes.type == cudaMemoryTypeDevice || attributes.type == cudaMemoryTypeManaged;
}

/* ---- page-locked memory */

static bool lock_pages(mote_context *ctx, uint64_t size_bytes, const char *structure, void **memory) {
    cuda_enter(ctx);
    const cudaError_t error = cudaHostAlloc(memory, size_bytes > 0 ? size_bytes : 1, cudaHostAllocPortable);
    if (error == cudaSuccess) return true;
    cudaGetLastError();
    if (error != cudaErrorMemoryAllocation) {
        cuda_failed(ctx, error, "taking page-locked memory");
    } else {
        mote_fail(ctx, MOTE_ERROR_MEMORY, "out of page-locked memory: %llu bytes for %s",
                  (unsigned long long)size_bytes, structure);
    }
    return false;
}

void *cuda_pinned_alloc(mote_context *ctx, uint64_t size_bytes, const char *structure) {
    cuda_state *s = ctx->cuda;
    cuda_pinned pinned = {NULL, size_bytes, 0};
    if (!mote_reserve(ctx, (void **)&s->pinned, &s->pinned_capacity, s->pinned_count + 1, sizeof pinned,
                      "GPU bookkeeping")) {
        return NULL;
    }
    if (!mote_count_host(ctx, size_bytes, structure, &pinned.structure)) return NULL;
    if (!lock_pages(ctx, size_bytes, structure, &pinned.memory)) {
        mote_uncount_host(ctx, size_bytes, pinned.structure);
        return NULL;
    }
    s->pinned[s->pinned_count++] = pinned;
    return pinned.memory;
}

static void unlock_pages(mote_context *ctx, const cuda_pinned *pinned) {
    cuda_enter(ctx);
    if (cudaFreeHost(pinned->memory) != cudaSuccess) cudaGetLastError();
    mote_uncount_host(ctx, pinned->size_bytes, pinned->structure);
}

void cuda_pinned_free(mote_context *ctx, void *memory) {
    cuda_state *s = ctx->cuda;
    for (uint64_t i = 0; i < s->pinned_count && memory != NULL; i++) {
        if (s->pinned[i].memory != memory) continue;
        unlock_pages(ctx, &s->pinned[i]);
        s->pinned[i] = s->pinned[--s->pinned_count];
        return;
    }
}

void cuda_memory_close(mote_context *ctx) {
    cuda_state *s = ctx->cuda;
    for (uint64_t i = 0; i < s->pinned_count; i++) unlock_pages(ctx, &s->pinned[i]);
    mote_free(ctx, s->pinned);
    pool_destroy(s->memory);
}
