#define _GNU_SOURCE /* CLOCK_MONOTONIC */
/* Making and ending a context; progress, stages and what it tells of its work. */
#include "core/core.h"
#include <math.h>

#include <omp.h>
#include <stdio.h>
#include <time.h>

#include "core/guarded_range.h"
#include "core/mapped_file.h"

mote_context_params mote_context_defaults(void) {
    mote_context_params params;
    memset(&params, 0, sizeof params);
    params.device = MOTE_DEVICE_AUTO;
    return params;
}

/* Says why there will be no context, which is not there yet to note a failure. */
__attribute__((format(printf, 3, 4))) static mote_status refuse(const mote_context_params *params, mote_status status,
                                                                const char *format, ...) {
    char message[160];
    va_list values;
    va_start(values, format);
    vsnprintf(message, sizeof message, format, values);
    va_end(values);
    if (params->log != NULL) params->log(params->log_user, MOTE_LOG_WARNING, message);
    return status;
}

#define MAX_THREADS 4096

static mote_status check_params(const mote_context_params *p) {
    const int gpus = __builtin_popcountll(p->gpus);
    if (p->threads < 0 || p->threads > MAX_THREADS) {
        return refuse(p, MOTE_ERROR_ARGUMENT, "%d threads, not 0 (all cores) to %d", p->threads, MAX_THREADS);
    }
    if (p->gpus != 0 && p->device != MOTE_DEVICE_CUDA) {
        return refuse(p, MOTE_ERROR_ARGUMENT, "several GPUs are for a context of CUDA");
    }
    if (gpus > MOTE_MAX_DEVICES - 1) {
        return refuse(p, MOTE_ERROR_ARGUMENT, "%d GPUs, at most %d", gpus, MOTE_MAX_DEVICES - 1);
    }
    return MOTE_OK;
}

/* All that follows may use instructions that the processor lacks. */
static mote_status check_cpu(const mote_context_params *params) {
    const char *lacks = mote_cpu_lacks();
    if (lacks == NULL) return MOTE_OK;
    return refuse(params, MOTE_ERROR_UNSUPPORTED,
                  "this processor has no %s; mote needs one of x86-64-v3 (2013 or later)", lacks);
}

mote_status mote_context_make(const mote_context_params *params, mote_context **out) {
    mote_context_params p = params != NULL ? *params : mote_context_defaults();
    if (!mote_reserved_is_zero(p.reserved, sizeof p.reserved)) return MOTE_ERROR_ARGUMENT; /* nor may log be called */
    MOTE_TRY(check_params(&p));
    MOTE_TRY(check_cpu(&p));
    mote_allocator_complete(&p.allocator);
    mote_context *ctx = p.allocator.allocate(p.allocator.user, sizeof *ctx);
    if (ctx == NULL) return MOTE_ERROR_MEMORY;
    memset(ctx, 0, sizeof *ctx);
    ctx->params = p;
    ctx->threads = p.threads > 0 ? p.threads : omp_get_num_procs();
    ctx->stage_now = -1;
    ctx->progress_span.last = 1;
    pthread_mutex_init(&ctx->lock, NULL);
    *out = ctx;
    return MOTE_OK;
}

void mote_context_destroy(mote_context *ctx) {
    if (ctx == NULL) return;
    mote_context_trim(ctx);
    for (uint32_t i = 0; i < ctx->device_count; i++) device_close(&ctx->devices[i]);
    pthread_mutex_destroy(&ctx->lock);
    const mote_allocator allocator = ctx->params.allocator;
    allocator.release(allocator.user, ctx, sizeof *ctx);
}

/* Whether the host is ahead of a device: its work is waited for, and its stages are timed by events in its stream. */
static bool runs_behind(const mote_device *device) { return device->ops != NULL && device->state == DEVICE_OPEN; }

mote_status mote_context_wait(mote_context *ctx) {
    for (uint32_t i = 0; i < ctx->device_count; i++) {
        mote_device *device = &ctx->devices[i];
        if (runs_behind(device)) MOTE_TRY(device->ops->finish(device, "the work so far"));
    }
    return MOTE_OK;
}
int mote_context_threads(const mote_context *ctx) { return ctx->threads; }

/* Not beyond the end by rounding: what comes next begins there, and progress never goes back. */
static double place_in(mote_progress_span span, double done) {
    return fmin(span.first + done * (span.last - span.first), span.last);
}

/* What was reported last may be the end of the call before (shares are rounded): to say that again, or to hold there,
   would be to go back when this call reports its beginning. */
#define CALL_ENDED (1 - 1e-9)

static bool has_ended(const mote_context *ctx) {
    return ctx->progress_done >= CALL_ENDED && ctx->progress_span.first <= 0 && ctx->progress_span.last >= 1;
}

mote_status mote_progress(mote_context *ctx, double done, const char *stage) {
    if (guard_missing_count() != ctx->missing_seen) {
        ctx->missing_seen = guard_missing_count();
        MOTE_TRY(mote_mapped_check_all(ctx));
    }
    if (ctx->params.progress == NULL) return MOTE_OK;
    ctx->progress_done = place_in(ctx->progress_span, done);
    ctx->progress_ended = has_ended(ctx);
    ctx->progress_stage = stage;
    return mote_progress_again(ctx);
}

mote_status mote_progress_again(mote_context *ctx) {
    if (ctx->params.progress == NULL || ctx->progress_stage == NULL) return MOTE_OK;
    ctx->progress_seconds = mote_seconds();
    if (ctx->params.progress(ctx->params.progress_user, ctx->progress_done, ctx->progress_stage)) return MOTE_OK;
    return mote_fail(ctx, MOTE_CANCELLED, "cancelled while %s", ctx->progress_stage);
}

/* Often enough for a tenth of a second, and seldom enough for a callback that is written in Python. */
#define STOP_SECONDS 0.01
bool mote_stop(mote_context *ctx) {
    if (__atomic_load_n(&ctx->stopping, __ATOMIC_RELAXED)) return true;
    if (ctx->params.progress == NULL || mote_thread_number() != 0 || ctx->progress_ended) return false;
    if (mote_seconds() - ctx->progress_seconds < STOP_SECONDS || mote_progress_again(ctx) == MOTE_OK) return false;
    __atomic_store_n(&ctx->stopping, true, __ATOMIC_RELAXED);
    return true;
}

mote_status mote_stopped(mote_context *ctx) {
    const bool was_stopped = ctx->stopping;
    ctx->stopping = false;
    return was_stopped ? MOTE_CANCELLED : MOTE_OK;
}

mote_progress_span mote_progress_enter(mote_context *ctx, double first, double last) {
    const mote_progress_span whole = ctx->progress_span;
    mote_progress_next(ctx, whole, first, last);
    return whole;
}

void mote_progress_next(mote_context *ctx, mote_progress_span whole, double first, double last) {
    ctx->progress_span = (mote_progress_span){place_in(whole, first), place_in(whole, last)};
}

void mote_progress_leave(mote_context *ctx, mote_progress_span whole) {
    ctx->progress_span = whole;
    ctx->progress_ended = ctx->progress_ended || has_ended(ctx);
}

mote_progress_span mote_progress_hold(mote_context *ctx) {
    const mote_progress_span whole = ctx->progress_span;
    const double here = ctx->progress_ended ? whole.first : ctx->progress_done;
    ctx->progress_span = (mote_progress_span){here, here};
    return whole;
}

double mote_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

int mote_thread_number(void) { return omp_get_thread_num(); }

/* The number of a stage, which is a new one if it has none; -1: there are too many, or it is NULL. */
static int stage_number(mote_context *ctx, const char *stage) {
    if (stage == NULL) return -1;
    for (uint32_t i = 0; i < ctx->stage_count; i++) {
        if (strcmp(ctx->stages[i].name, stage) == 0) return (int)i;
    }
    if (ctx->stage_count == MOTE_USAGE_LINES) return -1;
    ctx->stages[ctx->stage_count].name = stage;
    return (int)ctx->stage_count++;
}

void mote_stage(mote_context *ctx, const char *stage) {
    const double now = mote_seconds();
    const int before = ctx->stage_now;
    bool behind = false;
    ctx->stage_now = stage_number(ctx, stage);
    /* The first of several GPUs is the one that the context itself works on; workers have stages of their own. */
    for (uint32_t i = 0; i < ctx->device_count && !behind; i++) {
        mote_device *device = &ctx->devices[i];
        behind = runs_behind(device);
        if (behind && ctx->params.device_stages) device->ops->begin_stage(device, ctx->stage_now);
    }
    if (before >= 0 && !behind) ctx->stages[before].seconds += now - ctx->stage_started;
    ctx->stage_started = now;
}

static void end_device_stages(const mote_context *ctx) {
    for (uint32_t i = 0; i < ctx->device_count; i++) {
        mote_device *device = (mote_device *)(uintptr_t)&ctx->devices[i];
        if (runs_behind(device)) device->ops->end_stages(device);
    }
}

void mote_stages_join(mote_context *ctx, const mote_context *worker, double share) {
    end_device_stages(worker);
    for (uint32_t i = 0; i < worker->stage_count; i++) {
        const int number = stage_number(ctx, worker->stages[i].name);
        if (number >= 0) ctx->stages[number].seconds += share * worker->stages[i].seconds;
    }
}

uint32_t mote_context_usage(const mote_context *ctx, mote_usage *lines, uint32_t capacity) {
    end_device_stages(ctx);
    for (uint32_t i = 0; i < ctx->stage_count && i < capacity; i++) lines[i] = ctx->stages[i];
    for (uint32_t i = 0; i < ctx->structure_count && ctx->stage_count + i < capacity; i++) {
        lines[ctx->stage_count + i] = ctx->structures[i];
    }
    return ctx->stage_count + ctx->structure_count;
}
