/* Copies between host and device. Pageable memory goes through a ring of pinned buffers: all threads fill or empty one
   while the device copies the others. */
#include "device/cuda/cuda_staging.h"
#include "device/cuda/cuda_state.h"

/* Two rings of pinned buffers, each used in turn; a slot is free again when the event behind its copy is over:

     small   [64 KiB] x 16     counters, boxes, parameters: many may be on their way
     large   [16 MiB] x 4      a slot is filled while the three others are copied

   Measured on an H200: 55 GB/s from pinned memory, 8.6 without. Other sizes of slots were not measured. */
struct small_policy {
    static constexpr uint64_t slot_bytes = 64ull << 10;
    static constexpr uint32_t slots = 16;
};
struct large_policy {
    static constexpr uint64_t slot_bytes = 16ull << 20;
    static constexpr uint32_t slots = 4;
};

#define RING_PURPOSE "staging"

mote_status cuda_copies_open(mote_device *gpu) {
    cuda_state *s = state_of(gpu);
    s->small.slot_bytes = small_policy::slot_bytes;
    s->small.slot_count = small_policy::slots;
    s->large.slot_bytes = large_policy::slot_bytes;
    s->large.slot_count = large_policy::slots;
    return MOTE_OK;
}

static void close_ring(mote_device *gpu, cuda_ring *ring) {
    for (uint32_t i = 0; i < CUDA_MAX_SLOTS; i++) {
        if (ring->done[i] != NULL) cudaEventDestroy(ring->done[i]);
    }
    cuda_pinned_free(gpu, ring->memory);
}

void cuda_copies_close(mote_device *gpu) {
    close_ring(gpu, &state_of(gpu)->small);
    close_ring(gpu, &state_of(gpu)->large);
}

/* ---- the ring */

/* A low limit of memory leaves room for the small ring only. */
static mote_status ring_for(mote_device *gpu, uint64_t size_bytes, cuda_ring **out) {
    const uint64_t limit_bytes = gpu->ctx->params.memory_limit_bytes;
    const bool roomy = limit_bytes == 0 || limit_bytes >= 8 * large_policy::slots * large_policy::slot_bytes;
    cuda_ring *ring = size_bytes <= small_policy::slot_bytes || !roomy ? &state_of(gpu)->small : &state_of(gpu)->large;
    *out = ring;
    if (ring->memory != NULL) return MOTE_OK; /* otherwise it is used for the first time */
    for (uint32_t i = 0; i < ring->slot_count; i++) {
        if (ring->done[i] != NULL) continue;
        CUDA_TRY(gpu, cudaEventCreateWithFlags(&ring->done[i], cudaEventDisableTiming), "making an event");
    }
    ring->memory = (uint8_t *)cuda_pinned_alloc(gpu, ring->slot_count * ring->slot_bytes, RING_PURPOSE);
    return ring->memory != NULL ? MOTE_OK : MOTE_ERROR_MEMORY;
}

static uint8_t *slot_memory(const cuda_ring *ring, uint32_t slot) { return ring->memory + slot * ring->slot_bytes; }

/* The next slot, once its last copy is over; an event that was never recorded counts as over. */
static mote_status take_slot(mote_device *gpu, cuda_ring *ring, uint32_t *slot) {
    *slot = ring->next;
    ring->next = (ring->next + 1) % ring->slot_count;
    CUDA_TRY(gpu, cudaEventSynchronize(ring->done[*slot]), "copying");
    return MOTE_OK;
}

static uint64_t piece_bytes(const cuda_ring *ring, uint64_t size_bytes, uint64_t at) {
    return size_bytes - at < ring->slot_bytes ? size_bytes - at : ring->slot_bytes;
}

/* Begins the copy of a piece into the next slot. */
static mote_status begin_piece(mote_device *gpu, cuda_ring *ring, const uint8_t *device, uint64_t size_bytes) {
    cuda_state *s = state_of(gpu);
    uint32_t slot = 0;
    MOTE_TRY(take_slot(gpu, ring, &slot));
    CUDA_TRY(gpu, cudaMemcpyAsync(slot_memory(ring, slot), device, size_bytes, cudaMemcpyDeviceToHost, s->stream),
             "downloading");
    CUDA_TRY(gpu, cudaEventRecord(ring->done[slot], s->stream), "downloading");
    return MOTE_OK;
}

static mote_status download_staged(mote_device *gpu, uint8_t *host, const uint8_t *device, uint64_t size_bytes) {
    cuda_ring *ring = NULL;
    MOTE_TRY(ring_for(gpu, size_bytes, &ring));
    uint32_t slot = ring->next;
    uint64_t begun = 0;
    for (uint64_t at = 0; at < size_bytes; at += ring->slot_bytes) {
        while (begun < size_bytes && begun - at < ring->slot_count * ring->slot_bytes) {
            const uint64_t piece = piece_bytes(ring, size_bytes, begun);
            MOTE_TRY(begin_piece(gpu, ring, device + begun, piece));
            begun += piece;
        }
        CUDA_TRY(gpu, cudaEventSynchronize(ring->done[slot]), "downloading");
        cuda_staging_copy(host + at, slot_memory(ring, slot), piece_bytes(ring, size_bytes, at), gpu->ctx->threads);
        slot = (slot + 1) % ring->slot_count;
    }
    return MOTE_OK;
}

/* ---- the entries */

static cudaMemoryType memory_type(const void *memory) {
    cudaPointerAttributes attributes;
    if (cudaPointerGetAttributes(&attributes, memory) == cudaSuccess) return attributes.type;
    cudaGetLastError();
    return cudaMemoryTypeUnregistered;
}

/* A copy from or to memory that the device reaches by itself; waits for it where host memory is concerned. */
static mote_status copy_direct(mote_device *gpu, void *to, const void *from, uint64_t size_bytes, cudaMemoryType type,
                               const char *doing) {
    cuda_state *s = state_of(gpu);
    CUDA_TRY(gpu, cudaMemcpyAsync(to, from, size_bytes, cudaMemcpyDefault, s->stream), doing);
    if (type == cudaMemoryTypeDevice) return MOTE_OK;
    CUDA_TRY(gpu, cudaStreamSynchronize(s->stream), doing);
    return MOTE_OK;
}

mote_status cuda_upload(mote_device *gpu, void *device, const void *host, uint64_t size_bytes) {
    if (size_bytes == 0) return MOTE_OK;
    cuda_enter(gpu);
    const cudaMemoryType type = memory_type(host);
    if (type != cudaMemoryTypeUnregistered) return copy_direct(gpu, device, host, size_bytes, type, "uploading");
    cuda_state *s = state_of(gpu);
    cuda_ring *ring = NULL;
    MOTE_TRY(ring_for(gpu, size_bytes, &ring));
    for (uint64_t at = 0; at < size_bytes; at += ring->slot_bytes) {
        const uint64_t piece = piece_bytes(ring, size_bytes, at);
        uint32_t slot = 0;
        MOTE_TRY(take_slot(gpu, ring, &slot));
        cuda_staging_copy(slot_memory(ring, slot), (const uint8_t *)host + at, piece, gpu->ctx->threads);
        void *to = (uint8_t *)device + at;
        CUDA_TRY(gpu, cudaMemcpyAsync(to, slot_memory(ring, slot), piece, cudaMemcpyHostToDevice, s->stream),
                 "uploading");
        CUDA_TRY(gpu, cudaEventRecord(ring->done[slot], s->stream), "uploading");
    }
    return MOTE_OK;
}

mote_status cuda_download(mote_device *gpu, void *host, const void *device, uint64_t size_bytes) {
    if (size_bytes == 0) return MOTE_OK;
    cuda_enter(gpu);
    const cudaMemoryType type = memory_type(host);
    if (type != cudaMemoryTypeUnregistered) return copy_direct(gpu, host, device, size_bytes, type, "downloading");
    return download_staged(gpu, (uint8_t *)host, (const uint8_t *)device, size_bytes);
}

mote_status cuda_copy(mote_device *gpu, void *to, const void *from, uint64_t size_bytes) {
    if (size_bytes == 0) return MOTE_OK;
    cuda_enter(gpu);
    CUDA_TRY(gpu, cudaMemcpyAsync(to, from, size_bytes, cudaMemcpyDeviceToDevice, state_of(gpu)->stream), "copying");
    return MOTE_OK;
}

mote_status cuda_fill(mote_device *gpu, void *device, int byte, uint64_t size_bytes) {
    if (size_bytes == 0) return MOTE_OK;
    cuda_enter(gpu);
    CUDA_TRY(gpu, cudaMemsetAsync(device, byte, size_bytes, state_of(gpu)->stream), "filling memory");
    return MOTE_OK;
}

/* ---- copies that only begin */

static mote_status record_transfer(mote_device *gpu, cudaStream_t stream, device_transfer *transfer) {
    cudaEvent_t event = NULL;
    CUDA_TRY(gpu, cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "making an event");
    transfer->event = event;
    CUDA_TRY(gpu, cudaEventRecord(event, stream), "copying");
    return MOTE_OK;
}

/* Work before it may still use the device memory and work after it needs the values, so it takes its turn in the
   stream itself; the host goes on. */
mote_status cuda_upload_begin(mote_device *gpu, void *device, const void *pinned, uint64_t size_bytes,
                              device_transfer *transfer) {
    cuda_state *s = state_of(gpu);
    transfer->event = NULL;
    if (size_bytes == 0) return MOTE_OK;
    cuda_enter(gpu);
    CUDA_TRY(gpu, cudaMemcpyAsync(device, pinned, size_bytes, cudaMemcpyDefault, s->stream), "uploading");
    return record_transfer(gpu, s->stream, transfer);
}

mote_status cuda_download_begin(mote_device *gpu, void *pinned, const void *device, uint64_t size_bytes,
                                device_transfer *transfer) {
    cuda_state *s = state_of(gpu);
    transfer->event = NULL;
    if (size_bytes == 0) return MOTE_OK;
    cuda_enter(gpu);
    CUDA_TRY(gpu, cudaEventRecord(s->fence, s->stream), "downloading");
    CUDA_TRY(gpu, cudaStreamWaitEvent(s->downloads, s->fence, 0), "downloading");
    CUDA_TRY(gpu, cudaMemcpyAsync(pinned, device, size_bytes, cudaMemcpyDefault, s->downloads), "downloading");
    s->download_begun = true;
    return record_transfer(gpu, s->downloads, transfer);
}

mote_status cuda_wait(mote_device *gpu, device_transfer *transfer) {
    if (transfer->event == NULL) return MOTE_OK;
    cuda_enter(gpu);
    const cudaError_t error = cudaEventSynchronize((cudaEvent_t)transfer->event);
    cudaEventDestroy((cudaEvent_t)transfer->event);
    transfer->event = NULL;
    CUDA_TRY(gpu, error, "copying");
    return MOTE_OK;
}

void cuda_order_downloads(mote_device *gpu) {
    cuda_state *s = state_of(gpu);
    if (!s->download_begun) return;
    cuda_enter(gpu);
    s->download_begun = false;
    if (cudaEventRecord(s->fence, s->downloads) == cudaSuccess) cudaStreamWaitEvent(s->stream, s->fence, 0);
}
