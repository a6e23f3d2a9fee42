/* The backend of NVIDIA GPUs: its table, opening and closing a device. */
#include "backend/backend.h"

#include <stdio.h>

#include "backend/cuda_cloud.h"
#include "backend/cuda_devices.h"
#include "backend/cuda_state.h"
#include "io/laz/laz_device.h"
#include "io/potree/potree_ops.h"
#include "knn/knn_ops.h"
#include "lod/lod_ops.h"
#include "normals/normals_ops.h"
#include "order/order_ops.h"
#include "planes/planes_ops.h"

/* Does nothing: asking for it tells whether the driver can load the kernels of this build. */
static __global__ void probe_kernel(void) {}

static mote_status open_streams(mote_context *ctx) {
    cuda_state *s = ctx->cuda;
    s->stream = (cudaStream_t)ctx->params.stream;
    s->own_stream = s->stream == NULL;
    if (s->own_stream) {
        CUDA_TRY(ctx, cudaStreamCreateWithFlags(&s->stream, cudaStreamNonBlocking), "making a stream");
    }
    CUDA_TRY(ctx, cudaStreamCreateWithFlags(&s->downloads, cudaStreamNonBlocking), "making a stream");
    CUDA_TRY(ctx, cudaEventCreateWithFlags(&s->fence, cudaEventDisableTiming), "making an event");
    return MOTE_OK;
}

static mote_status open_state(mote_context *ctx) {
    cudaFuncAttributes attributes;
    const cudaError_t loaded = cudaFuncGetAttributes(&attributes, (const void *)probe_kernel);
    if (loaded != cudaSuccess) {
        cudaGetLastError();
        const bool memory = loaded == cudaErrorMemoryAllocation;
        return mote_fail(ctx, memory ? MOTE_ERROR_MEMORY : MOTE_ERROR_UNSUPPORTED, "GPU %d cannot be used: %s",
                         ctx->cuda->index, cudaGetErrorString(loaded));
    }
    MOTE_TRY(open_streams(ctx));
    MOTE_TRY(cuda_memory_open(ctx));
    MOTE_TRY(cuda_copies_open(ctx));
    return cuda_marks_open(ctx);
}

static void close_device(mote_context *ctx) {
    cuda_state *s = ctx->cuda;
    cuda_enter(ctx);
    if (s->stream != NULL || !s->own_stream) cudaStreamSynchronize(s->stream);
    if (s->downloads != NULL) cudaStreamSynchronize(s->downloads);
    cuda_marks_close(ctx);
    cuda_copies_close(ctx);
    cuda_memory_close(ctx);
    if (s->fence != NULL) cudaEventDestroy(s->fence);
    if (s->downloads != NULL) cudaStreamDestroy(s->downloads);
    if (s->own_stream && s->stream != NULL) cudaStreamDestroy(s->stream);
    cudaGetLastError(); /* nobody can be told any more */
    ctx->cuda = NULL;
    mote_free(ctx, s);
}

static mote_status open_device(mote_context *ctx, int index) {
    mote_device device;
    char reason[sizeof device.reason];
    const uint32_t count = cuda_list_devices(NULL, 0, reason, sizeof reason);
    if (count == 0) return mote_fail(ctx, MOTE_ERROR_UNSUPPORTED, "%s", reason);
    if (index < 0 || (uint32_t)index >= count) {
        return mote_fail(ctx, MOTE_ERROR_UNSUPPORTED, "there is no GPU %d, only %u, numbered from 0", index, count);
    }
    cuda_describe_device(index, &device);
    if (!device.usable) return mote_fail(ctx, MOTE_ERROR_UNSUPPORTED, "GPU %d: %s", index, device.reason);
    cuda_state *s = (cuda_state *)mote_alloc_zero(ctx, sizeof *s, "GPU bookkeeping");
    if (s == NULL) return MOTE_ERROR_MEMORY;
    s->index = index;
    s->own_stream = true; /* until open_streams knows better */
    ctx->cuda = s;
    cuda_enter(ctx);
    const mote_status status = open_state(ctx);
    if (status != MOTE_OK) close_device(ctx);
    return status;
}

/* Most of the time goes to the driver's own state on the device and to loading the first kernel. */
static void wake_device(int index) {
    cudaFuncAttributes attributes;
    if (cudaSetDevice(index) == cudaSuccess && cudaFree(NULL) == cudaSuccess) {
        cudaFuncGetAttributes(&attributes, (const void *)probe_kernel);
    }
    cudaGetLastError();
}

static const mote_backend cuda_backend = {"cuda",
                                          MOTE_DEVICE_CUDA,
                                          &mote_order_on_cuda,
                                          &mote_lod_on_cuda,
                                          &mote_potree_on_cuda,
                                          &mote_laz_on_cuda,
                                          &mote_knn_on_cuda,
                                          &mote_normals_on_cuda,
                                          &mote_planes_on_cuda};

extern "C" const mote_cuda_part mote_cuda = {&cuda_backend,     cuda_list_devices, open_device,        close_device,
                                             cuda_free,         cuda_mark_stage,   cuda_settle_stages, cuda_finish,
                                             cuda_cloud_upload, wake_device};

/* ---- for every file of the backend */

void cuda_enter(const mote_context *ctx) {
    int now = -1;
    if (cudaGetDevice(&now) != cudaSuccess || now != ctx->cuda->index) cudaSetDevice(ctx->cuda->index);
}

mote_status cuda_failed(mote_context *ctx, cudaError_t error, const char *doing) {
    cudaGetLastError(); /* what can be forgotten is; a lost device answers the same again */
    const bool memory = error == cudaErrorMemoryAllocation;
    return mote_fail(ctx, memory ? MOTE_ERROR_MEMORY : MOTE_ERROR_DEVICE, "GPU %d: %s while %s", ctx->cuda->index,
                     cudaGetErrorString(error), doing);
}

void *cuda_stream(mote_context *ctx) {
    cuda_enter(ctx); /* a launch asks for the stream first */
    return ctx->cuda->stream;
}

mote_status cuda_launched(mote_context *ctx, const char *what) {
    CUDA_TRY(ctx, cudaGetLastError(), what);
    return MOTE_OK;
}

mote_status cuda_finish(mote_context *ctx, const char *what) {
    cuda_enter(ctx);
    CUDA_TRY(ctx, cudaStreamSynchronize(ctx->cuda->stream), what);
    if (ctx->cuda->download_begun) CUDA_TRY(ctx, cudaStreamSynchronize(ctx->cuda->downloads), what);
    return MOTE_OK;
}
