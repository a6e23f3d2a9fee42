#define _GNU_SOURCE /* MADV_HUGEPAGE */
#include "core/core.h"

#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

#include "backend/backend.h"
#include "core/guarded_range.h"
#include "core/mapped_file.h"

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

mote_context_params mote_context_defaults(void) {
    mote_context_params params;
    memset(&params, 0, sizeof params);
    params.device = MOTE_DEVICE_AUTO;
    return params;
}

/* All that follows may use instructions that the processor lacks; there is no context yet to note a failure. */
static bool check_cpu(const mote_context_params *params) {
    char message[128];
    const char *lacks = mote_cpu_lacks();
    if (lacks == NULL) return true;
    snprintf(message, sizeof message, "this processor has no %s; mote needs one of x86-64-v3 (2013 or later)", lacks);
    if (params->log != NULL) params->log(params->log_user, MOTE_LOG_WARNING, message);
    return false;
}

mote_status mote_context_create(const mote_context_params *params, mote_context **out) {
    if (out == NULL) return MOTE_ERROR_ARGUMENT;
    *out = NULL;
    mote_context_params p = params != NULL ? *params : mote_context_defaults();
    if (!mote_reserved_is_zero(p.reserved, sizeof p.reserved)) return MOTE_ERROR_ARGUMENT; /* nor may log be called */
    if (p.threads < 0 || p.threads > 4096) return MOTE_ERROR_ARGUMENT;
    if (!check_cpu(&p)) return MOTE_ERROR_UNSUPPORTED;
    if (p.allocator.allocate == NULL) {
        p.allocator.allocate = default_allocate;
        p.allocator.release = default_release;
    }
    mote_context *ctx = p.allocator.allocate(p.allocator.user, sizeof *ctx);
    if (ctx == NULL) return MOTE_ERROR_MEMORY;
    memset(ctx, 0, sizeof *ctx);
    ctx->params = p;
    ctx->threads = p.threads > 0 ? p.threads : omp_get_num_procs();
    ctx->stage_now = -1;
    ctx->progress_last = 1;
    pthread_mutex_init(&ctx->lock, NULL);
    const mote_status status = mote_backend_open(ctx);
    if (status != MOTE_OK) {
        mote_warn(ctx, "%s", ctx->message);
        mote_context_destroy(ctx);
        return status;
    }
    *out = ctx;
    return MOTE_OK;
}

void mote_context_destroy(mote_context *ctx) {
    if (ctx == NULL) return;
    mote_backend_end_waking(ctx);
    mote_context_trim(ctx);
    if (ctx->cuda != NULL) mote_cuda.close(ctx);
    pthread_mutex_destroy(&ctx->lock);
    const mote_allocator allocator = ctx->params.allocator;
    allocator.release(allocator.user, ctx, sizeof *ctx);
}

const char *mote_context_message(const mote_context *ctx) { return ctx->message; }

void mote_context_clear(mote_context *ctx) {
    pthread_mutex_lock(&ctx->lock);
    ctx->status = MOTE_OK;
    ctx->message[0] = '\0';
    pthread_mutex_unlock(&ctx->lock);
}

uint64_t mote_context_memory_bytes(const mote_context *ctx) { return ctx->memory_bytes; }
uint64_t mote_context_memory_peak_bytes(const mote_context *ctx) { return ctx->memory_peak_bytes; }
uint64_t mote_context_device_bytes(const mote_context *ctx) { return ctx->device_bytes; }
uint64_t mote_context_device_peak_bytes(const mote_context *ctx) { return ctx->device_peak_bytes; }
void mote_context_memory_peak_reset(mote_context *ctx) {
    ctx->memory_peak_bytes = ctx->memory_bytes;
    ctx->device_peak_bytes = ctx->device_bytes;
    for (uint32_t i = 0; i < ctx->structure_count; i++) ctx->structures[i].peak_bytes = ctx->structure_bytes[i];
}

mote_status mote_context_wait(mote_context *ctx) {
    return ctx->cuda != NULL ? mote_cuda.finish(ctx, "the work so far") : MOTE_OK;
}
int mote_context_threads(const mote_context *ctx) { return ctx->threads; }
const char *mote_context_backend(const mote_context *ctx) { return ctx->backend->name; }

mote_status mote_context_status(mote_context *ctx) {
    pthread_mutex_lock(&ctx->lock);
    const mote_status status = ctx->status;
    pthread_mutex_unlock(&ctx->lock);
    return status;
}

#undef mote_fail /* a macro where the analyser looks, see core.h */
mote_status mote_fail(mote_context *ctx, mote_status status, const char *format, ...) {
    const bool of_input = status == MOTE_ERROR_DATA || status == MOTE_ERROR_IO || status == MOTE_ERROR_UNSUPPORTED;
    pthread_mutex_lock(&ctx->lock);
    if (ctx->status == MOTE_OK && of_input && mote_mapped_explains(ctx, ctx->message)) {
        ctx->status = status = MOTE_ERROR_IO;
    } else if (ctx->status == MOTE_OK) {
        ctx->status = status;
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(ctx->message, sizeof ctx->message, format, arguments);
        va_end(arguments);
    }
    pthread_mutex_unlock(&ctx->lock);
    return status;
}

bool mote_reserved_is_zero(const void *reserved, size_t size_bytes) {
    const uint8_t *bytes = reserved;
    uint8_t any = 0;
    for (size_t i = 0; i < size_bytes; i++) any |= bytes[i];
    return any == 0;
}

mote_status mote_check_reserved(mote_context *ctx, const void *reserved, size_t size_bytes, const char *name,
                                const char *start) {
    if (mote_reserved_is_zero(reserved, size_bytes)) return MOTE_OK;
    return mote_fail(ctx, MOTE_ERROR_ARGUMENT, "the reserved fields of %s are not zero: start from %s", name, start);
}

void mote_warn(mote_context *ctx, const char *format, ...) {
    if (ctx->params.log == NULL) return;
    char message[MOTE_MESSAGE_BYTES];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    ctx->params.log(ctx->params.log_user, MOTE_LOG_WARNING, message);
}

/* In front of every allocation: its size and whose it is. */
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
    if (!count_bytes(ctx, size_bytes) && !(mote_release_kept(ctx, false) && count_bytes(ctx, size_bytes))) {
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
    const uint64_t limit_bytes = ctx->params.memory_limit_bytes;
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
    if (memory == NULL && mote_release_kept(ctx, false)) memory = allocate_counted(ctx, size_bytes, &fits);
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

bool mote_make_room(mote_context *ctx, void **memory, uint64_t *capacity, uint64_t count, uint64_t element_bytes,
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

mote_status mote_progress(mote_context *ctx, double done, const char *stage) {
    if (guard_missing_count() != ctx->missing_seen) {
        ctx->missing_seen = guard_missing_count();
        MOTE_TRY(mote_mapped_check_all(ctx));
    }
    if (ctx->params.progress == NULL) return MOTE_OK;
    ctx->progress_done = ctx->progress_first + done * (ctx->progress_last - ctx->progress_first);
    ctx->progress_stage = stage;
    return mote_progress_again(ctx);
}

mote_status mote_progress_again(mote_context *ctx) {
    if (ctx->params.progress == NULL || ctx->progress_stage == NULL) return MOTE_OK;
    if (ctx->params.progress(ctx->params.progress_user, ctx->progress_done, ctx->progress_stage)) return MOTE_OK;
    return mote_fail(ctx, MOTE_CANCELLED, "cancelled while %s", ctx->progress_stage);
}

void mote_progress_share(mote_context *ctx, double first, double last) {
    ctx->progress_first = first;
    ctx->progress_last = last;
}

double mote_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

int mote_thread_number(void) { return omp_get_thread_num(); }

static void find_stage(mote_context *ctx, const char *stage) {
    if (stage == NULL) return;
    for (uint32_t i = 0; i < ctx->stage_count; i++) {
        if (strcmp(ctx->stages[i].name, stage) == 0) ctx->stage_now = (int)i;
    }
    if (ctx->stage_now < 0 && ctx->stage_count < MOTE_USAGE_LINES) {
        ctx->stage_now = (int)ctx->stage_count++;
        ctx->stages[ctx->stage_now].name = stage;
    }
}

/* A GPU works on while the host goes ahead: its backend times stages by marks in the stream. */
void mote_stage(mote_context *ctx, const char *stage) {
    const double now = mote_seconds();
    if (ctx->stage_now >= 0 && ctx->cuda == NULL) ctx->stages[ctx->stage_now].seconds += now - ctx->stage_started;
    ctx->stage_now = -1;
    ctx->stage_started = now;
    find_stage(ctx, stage);
    if (ctx->cuda != NULL && ctx->params.device_stages) mote_cuda.mark(ctx, ctx->stage_now);
}

uint32_t mote_context_usage(const mote_context *ctx, mote_usage *lines, uint32_t capacity) {
    if (ctx->cuda != NULL) mote_cuda.settle((mote_context *)(uintptr_t)ctx);
    for (uint32_t i = 0; i < ctx->stage_count && i < capacity; i++) lines[i] = ctx->stages[i];
    for (uint32_t i = 0; i < ctx->structure_count && ctx->stage_count + i < capacity; i++) {
        lines[ctx->stage_count + i] = ctx->structures[i];
    }
    return ctx->stage_count + ctx->structure_count;
}
