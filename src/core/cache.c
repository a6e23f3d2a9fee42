/* What steps keep in a context from one call to the next. */
#include "core/core.h"

/* Takes the i-th out of the list; ctx->lock is held. */
static mote_cache_entry take_out(mote_context *ctx, uint32_t i) {
    const mote_cache_entry cache = ctx->cache[i];
    ctx->cache[i] = ctx->cache[--ctx->cache_count];
    return cache;
}

/* Takes what is kept under a name out of the list; its name is NULL if there is none. ctx->lock is held. */
static mote_cache_entry take_named(mote_device *device, const char *name) {
    mote_context *ctx = device->ctx;
    for (uint32_t i = 0; i < ctx->cache_count; i++) {
        if (ctx->cache[i].device == device && strcmp(ctx->cache[i].name, name) == 0) return take_out(ctx, i);
    }
    return (mote_cache_entry){NULL, NULL, NULL, NULL, 0};
}

void mote_cache_put(mote_device *device, const char *name, void *memory, uint64_t size_bytes,
                    mote_cache_release_fn release) {
    mote_context *ctx = device->ctx;
    pthread_mutex_lock(&ctx->lock);
    mote_cache_entry out = take_named(device, name);
    if (ctx->cache_count == MOTE_CACHE_MAX_ENTRIES) out = take_out(ctx, 0);
    ctx->cache[ctx->cache_count++] = (mote_cache_entry){name, memory, release, device, size_bytes};
    pthread_mutex_unlock(&ctx->lock);
    if (out.name != NULL) out.release(out.device, out.memory);
}

void *mote_cache_take(mote_device *device, const char *name) {
    pthread_mutex_lock(&device->ctx->lock);
    void *memory = take_named(device, name).memory;
    pthread_mutex_unlock(&device->ctx->lock);
    return memory;
}

bool mote_cache_release(mote_device *device) {
    mote_context *ctx = device->ctx;
    mote_cache_entry out[MOTE_CACHE_MAX_ENTRIES];
    uint32_t count = 0;
    pthread_mutex_lock(&ctx->lock);
    for (uint32_t i = ctx->cache_count; i-- > 0;) {
        if (ctx->cache[i].device == device) out[count++] = take_out(ctx, i);
    }
    pthread_mutex_unlock(&ctx->lock);
    for (uint32_t i = 0; i < count; i++) out[i].release(device, out[i].memory);
    return count > 0;
}

uint64_t mote_cache_bytes(const mote_device *device) {
    mote_context *ctx = device->ctx;
    uint64_t bytes = 0;
    pthread_mutex_lock(&ctx->lock);
    for (uint32_t i = 0; i < ctx->cache_count; i++) {
        if (ctx->cache[i].device == device) bytes += ctx->cache[i].size_bytes;
    }
    pthread_mutex_unlock(&ctx->lock);
    return bytes;
}

void mote_context_trim(mote_context *ctx) {
    for (uint32_t i = ctx->device_count; i-- > 0;) mote_cache_release(&ctx->devices[i]);
}
