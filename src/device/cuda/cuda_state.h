/* The inside of an open GPU, for the files cuda_*.cu of this folder. */
#ifndef MOTE_CUDA_STATE_H
#define MOTE_CUDA_STATE_H

#include <cuda_runtime.h>

#include "device/cuda/cuda.h"
#include "device/pool.h"

#define CUDA_STAGE_TIMERS 64u
#define CUDA_MAX_SLOTS    16u
#define CUDA_OCCUPANCIES  64u

/* The place of the stream where a stage begins. */
typedef struct cuda_stage_timer {
    cudaEvent_t event;
    int stage; /* -1: none */
} cuda_stage_timer;

/* Pinned buffers through which pageable memory is copied, in turn. */
typedef struct cuda_ring {
    uint8_t *memory; /* [slot_count · slot_bytes]; NULL until it is needed */
    uint64_t slot_bytes;
    uint32_t slot_count, next;
    cudaEvent_t done[CUDA_MAX_SLOTS]; /* the last copy of each slot */
} cuda_ring;

/* Page-locked memory that is out. */
typedef struct cuda_pinned {
    void *memory;
    uint64_t size_bytes;
    uint32_t structure; /* that counts it */
} cuda_pinned;

/* How many blocks of a kernel a multiprocessor holds. */
typedef struct cuda_occupancy {
    const void *kernel;
    uint32_t threads, blocks;
} cuda_occupancy;

typedef struct cuda_state {
    cudaStream_t stream;
    bool own_stream;
    cudaStream_t downloads; /* copies that only begin here, see cuda_download_begin */
    bool download_begun;    /* since the stream last waited for them */
    cudaEvent_t fence;      /* between the two streams */
    pool *memory;
    cuda_ring large, small;
    void *answer; /* pinned; NULL until it is needed */
    cuda_pinned *pinned;
    uint64_t pinned_count, pinned_capacity;
    cuda_stage_timer timers[CUDA_STAGE_TIMERS];
    uint32_t timer_count;
    uint32_t multiprocessors, multiprocessor_threads;
    cuda_occupancy occupancies[CUDA_OCCUPANCIES]; /* kernels asked for; a new one replaces the oldest */
    uint32_t occupancy_count;
} cuda_state;

static inline cuda_state *state_of(const mote_device *gpu) { return (cuda_state *)gpu->implementation; }

/* Notes what the runtime answered, MOTE_ERROR_MEMORY or MOTE_ERROR_DEVICE; doing completes "while …". */
mote_status cuda_failed(mote_device *gpu, cudaError_t error, const char *doing);
#define CUDA_TRY(gpu, call, doing)                                                                                     \
    do {                                                                                                               \
        const cudaError_t try_error = (call);                                                                          \
        if (try_error != cudaSuccess) return cuda_failed(gpu, try_error, doing);                                       \
    } while (0)

/* Makes the context's GPU the calling thread's: a process may use several, from any thread. */
void cuda_enter(const mote_device *gpu);

/* Opening and closing, file by file. */
mote_status cuda_memory_open(mote_device *gpu);
void cuda_memory_close(mote_device *gpu);
mote_status cuda_copies_open(mote_device *gpu);
void cuda_copies_close(mote_device *gpu);
/* Puts the downloads that have begun before what the stream does next. */
void cuda_order_downloads(mote_device *gpu);
mote_status cuda_stage_timers_open(mote_device *gpu);
void cuda_stage_timers_close(mote_device *gpu);

#endif
