#include "io/las/las_upload.h"

#include <omp.h>

#define PARTS_PER_THREAD 3u /* one is filled, the others wait for the caller's thread or are on their way */
#define LARGEST_SHARE    8u /* of all buffers, that one may have */
#define LIMITED_SHARE    4u /* of what a memory limit leaves, that the buffers may have */
#define PART_ALIGNMENT   256u

/* Chunks per thread where an H200 and 16 cores take the same time: 0.15 s for 50,000 points of layers, 0.34 s of a
   stream. */
#define GPU_CHUNKS  6u
#define GPU_STREAMS 16u

las_upload_limits las_upload_defaults(const mote_context *ctx) {
    const uint64_t threads = (uint64_t)ctx->threads;
    const las_upload_limits limits = {.buffers = 256u << 20,
                                      .before_warm_up = 2ull << 30,
                                      .block = 1u << 20,
                                      .chunks = GPU_CHUNKS * threads,
                                      .streams = GPU_STREAMS * threads};
    return limits;
}

static void append(las_parts *parts, las_part *part) {
    part->next = NULL;
    if (parts->first == NULL) parts->first = part;
    if (parts->last != NULL) parts->last->next = part;
    parts->last = part;
    parts->count++;
}

static las_part *take_first(las_parts *parts) {
    las_part *part = parts->first;
    parts->first = part->next;
    if (parts->first == NULL) parts->last = NULL;
    parts->count--;
    return part;
}

void las_upload_stop(las_upload *upload, mote_status status) {
    pthread_mutex_lock(&upload->lock);
    if (upload->failure == MOTE_OK) upload->failure = status;
    pthread_cond_broadcast(&upload->changed);
    pthread_mutex_unlock(&upload->lock);
}

static mote_status failure_of(las_upload *u) {
    pthread_mutex_lock(&u->lock);
    const mote_status failure = u->failure;
    pthread_mutex_unlock(&u->lock);
    return failure;
}

/* ---- opening and closing */

static uint64_t min(uint64_t a, uint64_t b) { return a < b ? a : b; }
static uint64_t max(uint64_t a, uint64_t b) { return a > b ? a : b; }

static void choose_sizes(las_upload *u, uint64_t part_bytes, const las_upload_limits *limits) {
    const uint64_t limit = u->ctx->params.memory_limit_bytes, used = mote_context_memory_bytes(u->ctx);
    uint64_t buffers = limits->buffers;
    u->before_warm_up_remaining = limits->before_warm_up;
    if (limit > 0) { /* then what only saves time does not take from what is needed */
        buffers = min(buffers, limit > used ? (limit - used) / LIMITED_SHARE : 0);
        u->before_warm_up_remaining = 0;
    }
    const uint64_t largest = max(buffers / LARGEST_SHARE / PART_ALIGNMENT, 1) * PART_ALIGNMENT;
    u->part_bytes = min((part_bytes + PART_ALIGNMENT - 1) / PART_ALIGNMENT * PART_ALIGNMENT, largest);
    const uint64_t wanted = PARTS_PER_THREAD * (uint64_t)u->ctx->threads;
    const uint64_t useful = max(u->size_bytes / u->part_bytes + 1, 2);
    u->part_count = max(min(min(wanted, useful), buffers / u->part_bytes), 2);
}

mote_status las_upload_open(mote_device *gpu, uint64_t points, uint64_t size_bytes, uint64_t part_bytes,
                            const las_upload_limits *limits, las_upload *upload) {
    mote_context *ctx = gpu->ctx;
    memset(upload, 0, sizeof *upload);
    upload->ctx = ctx;
    upload->gpu = gpu;
    upload->structure = "points";
    upload->points = points;
    upload->size_bytes = upload->needed_bytes = size_bytes;
    pthread_mutex_init(&upload->lock, NULL);
    pthread_cond_init(&upload->changed, NULL);
    choose_sizes(upload, part_bytes, limits);
    upload->parts = mote_alloc_zero(ctx, upload->part_count * sizeof *upload->parts, "point buffers");
    return upload->parts != NULL ? MOTE_OK : MOTE_ERROR_MEMORY;
}

static mote_status land(las_upload *u) {
    las_part *part = take_first(&u->in_flight);
    const mote_status status = device_wait(u->gpu, &part->transfer);
    pthread_mutex_lock(&u->lock);
    append(&u->free, part);
    pthread_cond_broadcast(&u->changed);
    pthread_mutex_unlock(&u->lock);
    return status;
}

void las_upload_close(las_upload *upload) {
    while (upload->in_flight.count > 0) (void)land(upload);
    while (upload->filled.count > 0) {
        las_part *part = take_first(&upload->filled);
        if (!part->pinned) mote_free(upload->ctx, part);
    }
    if (upload->pinned != NULL) device_pinned_free(upload->gpu, upload->pinned);
    if (upload->device != NULL) device_free(upload->gpu, upload->device);
    mote_free(upload->ctx, upload->parts);
    pthread_cond_destroy(&upload->changed);
    pthread_mutex_destroy(&upload->lock);
}

static mote_status decline(las_upload *u) {
    u->declined = true;
    las_upload_stop(u, MOTE_ERROR_UNSUPPORTED);
    return MOTE_ERROR_UNSUPPORTED;
}

static mote_status take_memory(las_upload *u) {
    u->device = device_alloc(u->gpu, u->size_bytes, u->structure);
    if (u->device == NULL) return MOTE_ERROR_MEMORY;
    u->pinned = device_pinned_alloc(u->gpu, u->part_count * u->part_bytes, "point buffers");
    if (u->pinned == NULL) return MOTE_ERROR_MEMORY;
    pthread_mutex_lock(&u->lock);
    for (uint64_t i = 0; i < u->part_count; i++) {
        u->parts[i].memory = u->pinned + i * u->part_bytes;
        u->parts[i].pinned = true;
        append(&u->free, &u->parts[i]);
    }
    u->ready = true;
    pthread_cond_broadcast(&u->changed);
    pthread_mutex_unlock(&u->lock);
    return MOTE_OK;
}

mote_status las_upload_ready(las_upload *upload) {
    mote_context *ctx = upload->ctx;
    if (upload->ready) return MOTE_OK;
    MOTE_TRY(failure_of(upload));
    mote_stage(ctx, NULL); /* once the GPU is open, it measures the time of stages */
    const bool is_open = device_try_open(upload->gpu);
    mote_stage(ctx, upload->stage);
    if (!is_open || device_available(upload->gpu) < upload->needed_bytes) return decline(upload);
    ctx->last_used = upload->gpu;
    const mote_status status = take_memory(upload);
    if (status != MOTE_OK) las_upload_stop(upload, status);
    return status;
}

/* ---- uploading, on the caller's thread */

static mote_status send(las_upload *u, las_part *part) {
    uint8_t *to = u->device + part->at;
    mote_count_upload(u->ctx, part->size_bytes);
    if (!part->pinned) {
        const mote_status status = device_upload(u->gpu, to, part->memory, part->size_bytes);
        mote_free(u->ctx, part);
        return status;
    }
    part->transfer.event = NULL;
    const mote_status status = device_upload_begin(u->gpu, to, part->memory, part->size_bytes, &part->transfer);
    append(&u->in_flight, part);
    return status;
}

/* Sends what is filled, and waits for uploads until at most `remaining` are under way. */
static mote_status send_all(las_upload *u, uint64_t remaining) {
    mote_status status = MOTE_OK;
    pthread_mutex_lock(&u->lock);
    las_parts filled = u->filled;
    memset(&u->filled, 0, sizeof u->filled);
    pthread_mutex_unlock(&u->lock);
    while (filled.count > 0 && status == MOTE_OK) status = send(u, take_first(&filled));
    while (u->in_flight.count > remaining && status == MOTE_OK) status = land(u);
    while (filled.count > 0) { /* after a failure, for las_upload_close */
        las_part *part = take_first(&filled);
        if (!part->pinned) mote_free(u->ctx, part);
    }
    if (status != MOTE_OK) las_upload_stop(u, status);
    return status;
}

mote_status las_upload_serve(las_upload *upload) {
    if (!upload->ready && !device_is_warm(upload->gpu)) return MOTE_OK;
    MOTE_TRY(las_upload_ready(upload));
    /* So many on their way that the bus is busy while this thread fills a buffer of its own. */
    return send_all(upload, upload->part_count / (2 * PARTS_PER_THREAD));
}

mote_status las_upload_finish(las_upload *upload, uint8_t **device) {
    MOTE_TRY(las_upload_ready(upload));
    MOTE_TRY(send_all(upload, 0));
    *device = upload->device;
    upload->device = NULL;
    return MOTE_OK;
}

/* The caller's thread has nothing to fill: it does what others wait for, or waits for them. */
static mote_status attend(las_upload *u) {
    MOTE_TRY(las_upload_ready(u));
    pthread_mutex_lock(&u->lock);
    const bool idle = u->filled.count == 0 && u->in_flight.count == 0;
    if (idle && u->free.count == 0) pthread_cond_wait(&u->changed, &u->lock);
    pthread_mutex_unlock(&u->lock);
    return send_all(u, 0);
}

/* ---- filling, on any thread */

typedef enum las_turn { LAS_WAIT, LAS_PINNED, LAS_ORDINARY, LAS_STOPPED } las_turn;

static las_turn turn_of(const las_upload *u, uint64_t size_bytes) {
    if (u->failure != MOTE_OK) return LAS_STOPPED;
    if (size_bytes > u->part_bytes) return LAS_ORDINARY;
    if (u->ready) return u->free.count > 0 ? LAS_PINNED : LAS_WAIT;
    return u->before_warm_up_remaining >= size_bytes ? LAS_ORDINARY : LAS_WAIT;
}

static las_part *ordinary_part(las_upload *u, uint64_t size_bytes) {
    const uint64_t head_bytes = (sizeof(las_part) + 63) / 64 * 64;
    las_part *part = mote_alloc(u->ctx, head_bytes + size_bytes, "point buffers");
    if (part == NULL) return NULL;
    memset(part, 0, sizeof *part);
    part->memory = (uint8_t *)part + head_bytes;
    return part;
}

mote_status las_upload_take(las_upload *upload, uint64_t at, uint64_t size_bytes, las_part **part) {
    const bool caller = mote_thread_number() == 0;
    las_turn turn;
    *part = NULL;
    pthread_mutex_lock(&upload->lock);
    while ((turn = turn_of(upload, size_bytes)) == LAS_WAIT) {
        if (!caller) {
            pthread_cond_wait(&upload->changed, &upload->lock);
            continue;
        }
        pthread_mutex_unlock(&upload->lock);
        MOTE_TRY(attend(upload));
        pthread_mutex_lock(&upload->lock);
    }
    if (turn == LAS_PINNED) *part = take_first(&upload->free);
    if (turn == LAS_ORDINARY && size_bytes <= upload->part_bytes) upload->before_warm_up_remaining -= size_bytes;
    pthread_mutex_unlock(&upload->lock);
    if (turn == LAS_STOPPED) return failure_of(upload);
    if (turn == LAS_ORDINARY) *part = ordinary_part(upload, size_bytes);
    if (*part == NULL) return MOTE_ERROR_MEMORY;
    (*part)->at = at;
    (*part)->size_bytes = size_bytes;
    return MOTE_OK;
}

void las_upload_give(las_upload *upload, las_part *part) {
    pthread_mutex_lock(&upload->lock);
    append(&upload->filled, part);
    pthread_cond_broadcast(&upload->changed);
    pthread_mutex_unlock(&upload->lock);
}

mote_status las_upload_leave(las_upload *upload) {
    const int others = omp_get_num_threads() - 1;
    if (mote_thread_number() != 0) {
        pthread_mutex_lock(&upload->lock);
        upload->finished++;
        pthread_cond_broadcast(&upload->changed);
        pthread_mutex_unlock(&upload->lock);
        return MOTE_OK;
    }
    mote_status status = las_upload_ready(upload);
    pthread_mutex_lock(&upload->lock);
    while (upload->finished < others) {
        if (status != MOTE_OK || (upload->filled.count == 0 && upload->in_flight.count == 0)) {
            pthread_cond_wait(&upload->changed, &upload->lock);
            continue;
        }
        pthread_mutex_unlock(&upload->lock);
        status = send_all(upload, 0);
        pthread_mutex_lock(&upload->lock);
    }
    pthread_mutex_unlock(&upload->lock);
    return status;
}
