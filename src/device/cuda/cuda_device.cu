/* Opening and closing an NVIDIA GPU. */
#include <stdio.h>

#include "device/cuda/cuda_devices.h"
#include "device/cuda/cuda_state.h"

/* Does nothing: asking for it tells whether the driver can load the kernels of this build. */
static __global__ void probe_kernel(void) {}

static mote_status open_state(mote_device *gpu) {
    cudaFuncAttributes attributes;
    const cudaError_t loaded = cudaFuncGetAttributes(&attributes, (const void *)probe_kernel);
    if (loaded != cudaSuccess) {
        cudaGetLastError();
        const bool memory = loaded == cudaErrorMemoryAllocation;
        return mote_fail(gpu->ctx, memory ? MOTE_ERROR_MEMORY : MOTE_ERROR_UNSUPPORTED, "GPU %d cannot be used: %s",
                         gpu->index, cudaGetErrorString(loaded));
    }
    /* What the sizes of grids are chosen by. */
    int multiprocessors = 0, threads = 0;
    CUDA_TRY(gpu, cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, gpu->index), "opening it");
    CUDA_TRY(gpu, cudaDeviceGetAttribute(&threads, cudaDevAttrMaxThreadsPerMultiProcessor, gpu->index), "opening it");
    state_of(gpu)->multiprocessors = (uint32_t)multiprocessors;
    state_of(gpu)->multiprocessor_threads = (uint32_t)threads;
    /* A device has two streams: the caller's, if there is one, and one for copies beside it. */
    cuda_state *s = state_of(gpu);
    s->stream = (cudaStream_t)gpu->ctx->params.stream;
    s->own_stream = s->stream == NULL;
    if (s->own_stream) {
        CUDA_TRY(gpu, cudaStreamCreateWithFlags(&s->stream, cudaStreamNonBlocking), "making a stream");
    }
    CUDA_TRY(gpu, cudaStreamCreateWithFlags(&s->downloads, cudaStreamNonBlocking), "making a stream");
    CUDA_TRY(gpu, cudaEventCreateWithFlags(&s->fence, cudaEventDisableTiming), "making an event");
    MOTE_TRY(cuda_memory_open(gpu));
    MOTE_TRY(cuda_copies_open(gpu));
    return cuda_stage_timers_open(gpu);
}

void cuda_close(mote_device *gpu) {
    cuda_state *s = state_of(gpu);
    cuda_enter(gpu);
    if (s->stream != NULL || !s->own_stream) cudaStreamSynchronize(s->stream);
    if (s->downloads != NULL) cudaStreamSynchronize(s->downloads);
    cuda_stage_timers_close(gpu);
    cuda_copies_close(gpu);
    cuda_memory_close(gpu);
    if (s->fence != NULL) cudaEventDestroy(s->fence);
    if (s->downloads != NULL) cudaStreamDestroy(s->downloads);
    if (s->own_stream && s->stream != NULL) cudaStreamDestroy(s->stream);
    cudaGetLastError(); /* nobody can be told any more */
    gpu->implementation = NULL;
    mote_free(gpu->ctx, s);
}

mote_status cuda_open(mote_device *gpu) {
    const int index = gpu->index;
    mote_device_info device;
    char reason[sizeof device.reason];
    const uint32_t count = cuda_list_devices(NULL, 0, reason, sizeof reason);
    if (count == 0) return mote_fail(gpu->ctx, MOTE_ERROR_UNSUPPORTED, "%s", reason);
    if (index < 0 || (uint32_t)index >= count) {
        return mote_fail(gpu->ctx, MOTE_ERROR_UNSUPPORTED, "there is no GPU %d, only %u, numbered from 0", index,
                         count);
    }
    cuda_describe_device(index, &device);
    if (!device.usable) return mote_fail(gpu->ctx, MOTE_ERROR_UNSUPPORTED, "GPU %d: %s", index, device.reason);
    cuda_state *s = (cuda_state *)mote_alloc_zero(gpu->ctx, sizeof *s, "GPU bookkeeping");
    if (s == NULL) return MOTE_ERROR_MEMORY;
    s->own_stream = true; /* until open_state knows: cuda_close would wait for the default stream */
    gpu->implementation = s;
    cuda_enter(gpu);
    const mote_status status = open_state(gpu);
    if (status != MOTE_OK) cuda_close(gpu);
    return status;
}

/* Most of the time goes to the driver's own state on the device and to loading the first kernel. */
void cuda_warm_up(int index) {
    cudaFuncAttributes attributes;
    if (cudaSetDevice(index) == cudaSuccess && cudaFree(NULL) == cudaSuccess) {
        cudaFuncGetAttributes(&attributes, (const void *)probe_kernel);
    }
    cudaGetLastError();
}

/* ---- for every file of the backend */

void cuda_enter(const mote_device *gpu) {
    int now = -1;
    if (cudaGetDevice(&now) != cudaSuccess || now != gpu->index) cudaSetDevice(gpu->index);
}

mote_status cuda_failed(mote_device *gpu, cudaError_t error, const char *doing) {
    cudaGetLastError(); /* what can be forgotten is; a lost device answers the same again */
    const bool memory = error == cudaErrorMemoryAllocation;
    return mote_fail(gpu->ctx, memory ? MOTE_ERROR_MEMORY : MOTE_ERROR_DEVICE, "GPU %d: %s while %s", gpu->index,
                     cudaGetErrorString(error), doing);
}

void *cuda_stream(mote_device *gpu) {
    cuda_enter(gpu); /* a launch asks for the stream first */
    return state_of(gpu)->stream;
}

uint32_t cuda_full_blocks(const mote_device *gpu, uint32_t threads) {
    const cuda_state *s = state_of(gpu);
    return s->multiprocessors * (s->multiprocessor_threads / threads);
}

/* One block where the runtime cannot tell, as for a lost device: the launch will report the error. */
static uint32_t ask_occupancy(const mote_device *gpu, const void *kernel, uint32_t threads) {
    int blocks = 0;
    cuda_enter(gpu);
    if (cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, (int)threads, 0) != cudaSuccess) return 1;
    return blocks > 0 ? (uint32_t)blocks : 1;
}

uint32_t cuda_resident_blocks(mote_device *gpu, const void *kernel, uint32_t threads) {
    cuda_state *s = state_of(gpu);
    for (uint32_t i = 0; i < CUDA_OCCUPANCIES && i < s->occupancy_count; i++) {
        const cuda_occupancy *known = &s->occupancies[i];
        if (known->kernel == kernel && known->threads == threads) return s->multiprocessors * known->blocks;
    }
    const cuda_occupancy found = {kernel, threads, ask_occupancy(gpu, kernel, threads)};
    s->occupancies[s->occupancy_count++ % CUDA_OCCUPANCIES] = found;
    return s->multiprocessors * found.blocks;
}

mote_status cuda_launched(mote_device *gpu, const char *what) {
    CUDA_TRY(gpu, cudaGetLastError(), what);
    return MOTE_OK;
}

mote_status cuda_finish(mote_device *gpu, const char *what) {
    cuda_enter(gpu);
    CUDA_TRY(gpu, cudaStreamSynchronize(state_of(gpu)->stream), what);
    if (state_of(gpu)->download_begun) CUDA_TRY(gpu, cudaStreamSynchronize(state_of(gpu)->downloads), what);
    return MOTE_OK;
}
