#include "backend/backend.h"

#include "core/core.h"
#include "lod/lod_ops.h"
#include "order/order_ops.h"

static const mote_backend cpu_backend = {"cpu", MOTE_DEVICE_CPU, &mote_order_cpu, &mote_lod_cpu, NULL};

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

const mote_backend *mote_backend_for(mote_context *ctx, uint64_t points) {
    if (ctx->params.device != MOTE_DEVICE_AUTO) return ctx->backend;
    ctx->backend = ctx->cuda != NULL ? mote_cuda.backend : &cpu_backend;
    if (points < MOTE_GPU_POINTS || mote_cuda.backend == NULL) return ctx->backend = &cpu_backend;
    if (!ctx->cuda_tried) {
        ctx->cuda_tried = true;
        if (open_cuda(ctx) != MOTE_OK) mote_context_clear(ctx); /* no GPU is no failure under AUTO */
    }
    return ctx->backend;
}
