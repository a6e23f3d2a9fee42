/* The devices of a context, and which of them does a piece of work. */
#include "device/backend.h"

static mote_device *gpu_of(mote_context *ctx) { return ctx->device_count > 1 ? &ctx->devices[1] : NULL; }

static mote_device *add_device(mote_context *ctx, const mote_backend *backend, int index) {
    mote_device *device = &ctx->devices[ctx->device_count++];
    device->ctx = ctx;
    device->backend = backend;
    device->ops = backend->device;
    device->index = index;
    device->state = backend->device == NULL ? DEVICE_OPEN : DEVICE_CLOSED;
    return device;
}

static void add_gpus(mote_context *ctx) {
    const uint64_t gpus = ctx->params.gpus;
    if (gpus == 0) add_device(ctx, mote_gpu_backend, ctx->params.device_index);
    for (int i = 0; i < 64; i++) {
        if ((gpus >> i & 1) != 0) add_device(ctx, mote_gpu_backend, i);
    }
}

static mote_status add_devices(mote_context *ctx) {
    const mote_device_kind kind = ctx->params.device;
    ctx->last_used = add_device(ctx, &mote_cpu_backend, 0);
    if (kind == MOTE_DEVICE_CPU) return MOTE_OK;
    if (mote_gpu_backend != NULL) add_gpus(ctx);
    if (kind == MOTE_DEVICE_AUTO) return MOTE_OK; /* a GPU is opened only for work that pays */
    if (gpu_of(ctx) == NULL) return mote_fail(ctx, MOTE_ERROR_UNSUPPORTED, "this build has no CUDA");
    ctx->last_used = gpu_of(ctx);
    for (uint32_t i = 1; i < ctx->device_count; i++) MOTE_TRY(device_open(&ctx->devices[i]));
    return MOTE_OK;
}

mote_status mote_context_create(const mote_context_params *params, mote_context **out) {
    mote_context *ctx = NULL;
    if (out == NULL) return MOTE_ERROR_ARGUMENT;
    *out = NULL;
    MOTE_TRY(mote_context_make(params, &ctx));
    const mote_status status = add_devices(ctx);
    if (status != MOTE_OK) {
        mote_warn(ctx, "%s", ctx->message);
        mote_context_destroy(ctx);
        return status;
    }
    *out = ctx;
    return MOTE_OK;
}

/* ---- choosing */

static bool pays_on_gpu(const mote_context *ctx, uint64_t points) {
    return ctx->params.device == MOTE_DEVICE_CUDA ||
           (ctx->params.device == MOTE_DEVICE_AUTO && points >= MOTE_GPU_POINTS);
}

mote_device *mote_device_choose(mote_context *ctx, uint64_t points) {
    mote_device *gpu = pays_on_gpu(ctx, points) ? gpu_of(ctx) : NULL;
    mote_device *device = gpu != NULL && device_try_open(gpu) ? gpu : mote_cpu_device(ctx);
    ctx->last_used = device;
    return device;
}

mote_device *mote_device_of_cloud(mote_context *ctx, const mote_cloud *cloud) {
    if (cloud->device == NULL) return mote_device_choose(ctx, cloud->count);
    if (cloud->device->ctx != ctx) return mote_device_choose(ctx, UINT64_MAX); /* on the same GPU, of another context */
    ctx->last_used = cloud->device;
    return cloud->device;
}

bool mote_device_falls_back(const mote_device *device, const mote_cloud *cloud, mote_status before,
                            mote_status status) {
    mote_context *ctx = device->ctx;
    if (status != MOTE_ERROR_MEMORY && status != MOTE_ERROR_UNSUPPORTED) return false;
    if (device->ops == NULL || ctx->params.device != MOTE_DEVICE_AUTO) return false;
    if (cloud != NULL && cloud->device != NULL) return false;
    if (before == MOTE_OK) {
        mote_note(ctx, "the cores do what the GPU cannot: %s", mote_context_message(ctx));
        mote_context_clear(ctx);
    }
    ctx->last_used = mote_cpu_device(ctx);
    return true;
}

mote_device *mote_device_warm_up(mote_context *ctx, uint64_t points) {
    mote_device *gpu = pays_on_gpu(ctx, points) ? gpu_of(ctx) : NULL;
    if (gpu == NULL || gpu->state == DEVICE_UNUSABLE) return NULL;
    device_warm_up(gpu);
    return gpu;
}

const char *mote_context_backend(const mote_context *ctx) { return ctx->last_used->backend->name; }
