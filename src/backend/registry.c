#include "backend/backend.h"

#include "core/core.h"
#include "knn/knn_ops.h"
#include "lod/lod_ops.h"
#include "normals/normals_ops.h"
#include "order/order_ops.h"
#include "planes/planes_ops.h"

static const mote_backend cpu_backend = {"cpu", MOTE_DEVICE_CPU, &mote_order_cpu,   &mote_lod_cpu,   NULL,
                                         NULL,  &mote_knn_cpu,   &mote_normals_cpu, &mote_planes_cpu};

static mote_status open_cuda(mote_context *ctx) {
    if (mote_cuda.backend == NULL) { return mote_fail(ctx, MOTE_ERROR_UNSUPPORTED, "this build has no CUDA"); }
    MOTE_TRY(mote_cuda.open(ctx, ctx->params.device_index));
    ctx->backend = mote_cuda.backend;
    return MOTE_OK;
}

mote_status mote_backend_open(mote_context *ctx) {
    ctx->backend = &cpu_backend;
    return ctx->params.device == MOTE_DEVICE_CUDA ? open_cuda(ctx) : MOTE_OK;
}

/* ---- waking */

static bool may_use_cuda(const mote_context *ctx, uint64_t points) {
    if (mote_cuda.backend == NULL || ctx->params.device == MOTE_DEVICE_CPU) return false;
    if (ctx->params.device == MOTE_DEVICE_CUDA) return true;
    return points >= MOTE_GPU_POINTS && (ctx->cuda != NULL || !ctx->cuda_tried);
}

static void *wake(void *user) {
    mote_context *ctx = user;
    mote_cuda.wake(ctx->params.device_index);
    __atomic_store_n(&ctx->awake, true, __ATOMIC_RELEASE);
    return NULL;
}

bool mote_backend_wake(mote_context *ctx, uint64_t points) {
    if (!may_use_cuda(ctx, points)) return false;
    if (ctx->cuda != NULL || ctx->waking || mote_cuda.wake == NULL) return true;
    ctx->awake = false;
    ctx->waking = pthread_create(&ctx->waker, NULL, wake, ctx) == 0; /* without a thread, open does all of it */
    return true;
}

bool mote_backend_is_awake(const mote_context *ctx) {
    return !ctx->waking || __atomic_load_n(&ctx->awake, __ATOMIC_ACQUIRE);
}

void mote_backend_end_waking(mote_context *ctx) {
    if (ctx->waking) pthread_join(ctx->waker, NULL);
    ctx->waking = false;
}

/* ---- choosing */

const mote_backend *mote_backend_for(mote_context *ctx, uint64_t points) {
    if (ctx->params.device != MOTE_DEVICE_AUTO) return ctx->backend;
    ctx->backend = ctx->cuda != NULL ? mote_cuda.backend : &cpu_backend;
    if (points < MOTE_GPU_POINTS || mote_cuda.backend == NULL) return ctx->backend = &cpu_backend;
    if (!ctx->cuda_tried) {
        ctx->cuda_tried = true;
        mote_backend_end_waking(ctx);
        if (open_cuda(ctx) != MOTE_OK) mote_context_clear(ctx); /* no GPU is no failure under AUTO */
    }
    return ctx->backend;
}
