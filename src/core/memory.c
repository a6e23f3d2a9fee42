#define _GNU_SOURCE /* MADV_HUGEPAGE */
/* The memory of a context: where it comes from, and how much of it each structure holds. */
#include <stdlib.h>
#include <sys/mman.h>

#include "core/core.h"

#define ALIGNMENT       64u
#define HUGE_FROM_BYTES (4u << 20) /* from here on, ask the system for memory in huge pages */

static void *default_allocate(void *user, size_t size_bytes) {
    (void)user;
    if (size_bytes < HUGE_FROM_BYTES) {
        return aligned_alloc(ALIGNMENT, (size_bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT);
    }
    void *memory = mmap(NULL, size_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return NULL;
    madvise(memory, size_bytes, MADV_HUGEPAGE);
    return memory;
}

static void default_release(void *user, void *memory, size_t size_bytes) {
    (void)user;
    if (size_bytes < HUGE_FROM_BYTES) {
        free(memory);
    } else {
        munmap(memory, size_bytes);
    }
}

void mote_allocator_complete(mote_allocator *allocator) {
    if (allocator->allocate == NULL) *allocator = (mote_allocator){NULL, default_allocate, default_release};
}

uint64_t mote_context_memory_bytes(const mote_context *ctx) { return ctx->memory_bytes; }
uint64_t mote_context_memory_peak_bytes(const mote_context *ctx) { return ctx->memory_peak_bytes; }
uint64_t mote_context_device_bytes(const mote_context *ctx) { return ctx->device_bytes; }
uint64_t mote_context_device_peak_bytes(const mote_context *ctx) { return ctx->device_peak_bytes; }
uint64_t mote_context_uploaded_bytes(const mote_context *ctx) { return ctx->uploaded_bytes; }
void mote_context_memory_peak_reset(mote_context *ctx) {
    ctx->memory_peak_bytes = ctx->memory_bytes;
    ctx->device_peak_bytes = ctx->device_bytes;
    for (uint32_t i = 0; i < ctx->structure_count; i++) ctx->structures[i].peak_bytes = ctx->structure_bytes[i];
}

/* What stands in front of every allocation, so that freeing knows its size and whose it is. */
typedef struct allocation {
    uint64_t size_bytes;
    uint32_t structure;
} allocation;

/* The line of a structure, on the host or on the device. */
static uint32_t structure_index(mote_context *ctx, const char *name, bool on_device) {
    for (uint32_t i = 0; i < ctx->structure_count; i++) {
        if (ctx->structures[i].on_device == on_device && strcmp(ctx->structures[i].name, name) == 0) return i;
    }
    if (ctx->structure_count == MOTE_USAGE_LINES) return MOTE_USAGE_LINES - 1;
    ctx->structures[ctx->structure_count].name = name;
    ctx->structures[ctx->structure_count].on_device = on_device;
    return ctx->structure_count++;
}

/* Adds to what a structure holds now, and keeps its peak. */
static void add_to_structure(mote_context *ctx, uint32_t structure, uint64_t size_bytes) {
    ctx->structure_bytes[structure] += size_bytes;
    if (ctx->structure_bytes[structure] > ctx->structures[structure].peak_bytes) {
        ctx->structures[structure].peak_bytes = ctx->structure_bytes[structure];
    }
}

/* Counts the bytes of an allocation to come, if the limit allows it. */
static bool count_bytes(mote_context *ctx, uint64_t size_bytes) {
    const uint64_t limit_bytes = ctx->params.memory_limit_bytes;
    pthread_mutex_lock(&ctx->lock);
    const bool fits =
        limit_bytes == 0 || (ctx->memory_bytes <= limit_bytes && size_bytes <= limit_bytes - ctx->memory_bytes);
    if (fits) ctx->memory_bytes += size_bytes;
    pthread_mutex_unlock(&ctx->lock);
    return fits;
}

/* Keeps the peaks, of all memory and of the structure, for bytes that count_bytes counted. Returns the structure. */
static uint32_t note_bytes(mote_context *ctx, uint64_t size_bytes, const char *structure) {
    pthread_mutex_lock(&ctx->lock);
    const uint32_t number = structure_index(ctx, structure, false);
    if (ctx->memory_bytes > ctx->memory_peak_bytes) ctx->memory_peak_bytes = ctx->memory_bytes;
    add_to_structure(ctx, number, size_bytes);
    pthread_mutex_unlock(&ctx->lock);
    return number;
}

bool mote_count_host(mote_context *ctx, uint64_t size_bytes, const char *structure, uint32_t *number) {
    if (!count_bytes(ctx, size_bytes) && !(mote_cache_release(mote_cpu_device(ctx)) && count_bytes(ctx, size_bytes))) {
        mote_fail(ctx, MOTE_ERROR_MEMORY, "out of memory: %llu bytes for %s, beyond the limit that was set",
                  (unsigned long long)size_bytes, structure);
        return false;
    }
    *number = note_bytes(ctx, size_bytes, structure);
    return true;
}

void mote_uncount_host(mote_context *ctx, uint64_t size_bytes, uint32_t number) {
    pthread_mutex_lock(&ctx->lock);
    ctx->memory_bytes -= size_bytes;
    ctx->structure_bytes[number] -= size_bytes;
    pthread_mutex_unlock(&ctx->lock);
}

bool mote_count_device(mote_context *ctx, uint64_t size_bytes, const char *structure, uint32_t *number) {
    const uint64_t limit_bytes = mote_device_limit(ctx);
    pthread_mutex_lock(&ctx->lock);
    const bool fits =
        limit_bytes == 0 || (ctx->device_bytes <= limit_bytes && size_bytes <= limit_bytes - ctx->device_bytes);
    if (fits) {
        ctx->device_bytes += size_bytes;
        if (ctx->device_bytes > ctx->device_peak_bytes) ctx->device_peak_bytes = ctx->device_bytes;
        *number = structure_index(ctx, structure, true);
        add_to_structure(ctx, *number, size_bytes);
    }
    pthread_mutex_unlock(&ctx->lock);
    return fits;
}

void mote_uncount_device(mote_context *ctx, uint64_t size_bytes, uint32_t number) {
    pthread_mutex_lock(&ctx->lock);
    ctx->device_bytes -= size_bytes;
    ctx->structure_bytes[number] -= size_bytes;
    pthread_mutex_unlock(&ctx->lock);
}

void mote_count_upload(mote_context *ctx, uint64_t size_bytes) {
    pthread_mutex_lock(&ctx->lock);
    ctx->uploaded_bytes += size_bytes;
    pthread_mutex_unlock(&ctx->lock);
}

/* Room for an allocation and what stands in front of it, counted; fits: the limit allows it. */
static void *allocate_counted(mote_context *ctx, uint64_t size_bytes, bool *fits) {
    const uint64_t whole = size_bytes + ALIGNMENT;
    void *memory = NULL;
    *fits = count_bytes(ctx, size_bytes);
    if (*fits && whole > size_bytes && whole <= SIZE_MAX) {
        memory = ctx->params.allocator.allocate(ctx->params.allocator.user, (size_t)whole);
    }
    if (memory != NULL || !*fits) return memory;
    pthread_mutex_lock(&ctx->lock);
    ctx->memory_bytes -= size_bytes;
    pthread_mutex_unlock(&ctx->lock);
    return NULL;
}

void *mote_alloc(mote_context *ctx, uint64_t size_bytes, const char *structure) {
    bool fits = false;
    void *memory = allocate_counted(ctx, size_bytes, &fits);
    if (memory == NULL && mote_cache_release(mote_cpu_device(ctx))) memory = allocate_counted(ctx, size_bytes, &fits);
    if (memory == NULL) {
        mote_fail(ctx, MOTE_ERROR_MEMORY, "out of memory: %llu bytes for %s%s", (unsigned long long)size_bytes,
                  structure, fits ? "" : ", beyond the limit that was set");
        return NULL;
    }
    allocation *head = memory;
    head->size_bytes = size_bytes;
    head->structure = note_bytes(ctx, size_bytes, structure);
    return (uint8_t *)memory + ALIGNMENT;
}

void *mote_alloc_zero(mote_context *ctx, uint64_t size_bytes, const char *structure) {
    void *memory = mote_alloc(ctx, size_bytes, structure);
    if (memory != NULL) memset(memory, 0, size_bytes);
    return memory;
}

void mote_free(mote_context *ctx, void *memory) {
    if (memory == NULL) return;
    allocation *head = (allocation *)((uint8_t *)memory - ALIGNMENT);
    const uint64_t size_bytes = head->size_bytes;
    mote_uncount_host(ctx, size_bytes, head->structure);
    ctx->params.allocator.release(ctx->params.allocator.user, head, (size_t)(size_bytes + ALIGNMENT));
}

void mote_hand_over(mote_context *from, mote_context *to, void *memory) {
    if (memory == NULL || from == to) return;
    allocation *head = (allocation *)((uint8_t *)memory - ALIGNMENT);
    const char *name = from->structures[head->structure].name;
    mote_uncount_host(from, head->size_bytes, head->structure);
    pthread_mutex_lock(&to->lock);
    to->memory_bytes += head->size_bytes;
    pthread_mutex_unlock(&to->lock);
    head->structure = note_bytes(to, head->size_bytes, name);
}

bool mote_reserve(mote_context *ctx, void **memory, uint64_t *capacity, uint64_t count, uint64_t element_bytes,
                  const char *structure) {
    if (count <= *capacity) return true;
    const uint64_t doubled = *capacity * 2 > count ? *capacity * 2 : count;
    if (doubled > UINT64_MAX / element_bytes) {
        mote_fail(ctx, MOTE_ERROR_MEMORY, "out of memory: %s", structure);
        return false;
    }
    void *grown = mote_alloc(ctx, doubled * element_bytes, structure);
    if (grown == NULL) return false;
    if (*memory != NULL) memcpy(grown, *memory, *capacity * element_bytes);
    mote_free(ctx, *memory);
    *memory = grown;
    *capacity = doubled;
    return true;
}

bool mote_reserve_scratch(mote_context *ctx, void **memory, uint64_t *capacity, uint64_t count, uint64_t element_bytes,
                          const char *structure) {
    if (count <= *capacity && *memory != NULL) return true;
    mote_free(ctx, *memory);
    *capacity = 0;
    *memory = mote_alloc(ctx, count * element_bytes, structure);
    if (*memory == NULL) return false;
    *capacity = count;
    return true;
}

char *mote_strdup(mote_context *ctx, const char *text) {
    const size_t size = strlen(text) + 1;
    char *copy = mote_alloc(ctx, size, "texts");
    if (copy != NULL) memcpy(copy, text, size);
    return copy;
}

/* ---- contexts that worked for another */

void mote_usage_join(mote_context *ctx, mote_context *const *workers, uint32_t count) {
    uint64_t peaks[MOTE_USAGE_LINES] = {0}, host_bytes = 0, device_bytes = 0;
    pthread_mutex_lock(&ctx->lock);
    for (uint32_t w = 0; w < count; w++) {
        const mote_context *worker = workers[w];
        host_bytes += worker->memory_peak_bytes;
        device_bytes += worker->device_peak_bytes;
        for (uint32_t i = 0; i < worker->structure_count; i++) {
            const mote_usage *line = &worker->structures[i];
            peaks[structure_index(ctx, line->name, line->on_device)] += line->peak_bytes;
        }
    }
    for (uint32_t i = 0; i < ctx->structure_count; i++) {
        const uint64_t peak_bytes = ctx->structure_bytes[i] + peaks[i];
        if (peak_bytes > ctx->structures[i].peak_bytes) ctx->structures[i].peak_bytes = peak_bytes;
    }
    if (ctx->memory_bytes + host_bytes > ctx->memory_peak_bytes)
        ctx->memory_peak_bytes = ctx->memory_bytes + host_bytes;
    if (ctx->device_bytes + device_bytes > ctx->device_peak_bytes) {
        ctx->device_peak_bytes = ctx->device_bytes + device_bytes;
    }
    pthread_mutex_unlock(&ctx->lock);
}
