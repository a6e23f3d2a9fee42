/* The inside of a context's GPU, for the files cuda_*.cu of this folder. */
#ifndef MOTE_CUDA_STATE_H
#define MOTE_CUDA_STATE_H

#include <cuda_runtime.h>

#include "backend/cuda.h"
#include "backend/pool.h"

#define CUDA_MARKS      64u
#define CUDA_SLOTS_MOST 16u

/* The place of the stream where a stage begins. */
typedef struct cuda_mark {
    cudaEvent_t event;
    int stage; /* -1: none */
} cuda_mark;

/* Pinned buffers through which pageable memory is copied, in turn. */
typedef struct cuda_ring {
    uint8_t *memory; /* [slot_count · slot_bytes]; NULL until it is needed */
    uint64_t slot_bytes;
    uint32_t slot_count, next;
    cudaEvent_t done[CUDA_SLOTS_MOST]; /* the last copy of each slot */
} cuda_ring;

/* Page-locked memory that is out. */
typedef struct cuda_pinned {
    void *memory;
    uint64_t size_bytes;
    uint32_t structure; /* that counts it */
} cuda_pinned;

typedef struct cuda_state {
    int index;
    cudaStream_t stream;
    bool own_stream;
    cudaStream_t downloads; /* copies that only begin here, see cuda_download_begin */
    bool download_begun;    /* since the stream last waited for them */
    cudaEvent_t fence;      /* between the two streams */
    pool *memory;
    cuda_ring large, small;
    cuda_pinned *pinned;
    uint64_t pinned_count, pinned_capacity;
    cuda_mark marks[CUDA_MARKS];
    uint32_t mark_count;
} cuda_state;

/* Notes what the runtime answered, MOTE_ERROR_MEMORY or MOTE_ERROR_DEVICE; doing completes "while …". */
mote_status cuda_failed(mote_context *ctx, cudaError_t error, const char *doing);
#define CUDA_TRY(ctx, call, doing)                                                                                     \
    do {                                                                                                               \
        const cudaError_t try_error = (call);                                                                          \
        if (try_error != cudaSuccess) return cuda_failed(ctx, try_error, doing);                                       \
    } while (0)

/* Makes the context's GPU the calling thread's: a process may use several, from any thread. */
void cuda_enter(const mote_context *ctx);

/* Opening and closing, file by file. */
mote_status cuda_memory_open(mote_context *ctx);
void cuda_memory_close(mote_context *ctx);
mote_status cuda_copies_open(mote_context *ctx);
void cuda_copies_close(mote_context *ctx);
/* Puts the downloads that have begun before what the stream does next. */
void cuda_order_downloads(mote_context *ctx);
mote_status cuda_marks_open(mote_context *ctx);
void cuda_marks_close(mote_context *ctx);
void cuda_mark_stage(mote_context *ctx, int stage);
void cuda_settle_stages(mote_context *ctx);

#endif
