/* What a .cu file needs to write and launch kernels. Kernels use one dimension, no dynamic shared memory and no
   waiting between blocks, whose order of running is not known: then they also run on the CPU, under tests/emulator/,
   where there is no GPU. */
#ifndef MOTE_CUDA_KERNEL_H
#define MOTE_CUDA_KERNEL_H

#include "device/cuda/cuda.h"

#include <cuda_runtime.h>

#ifndef CUDA_LAUNCH /* the emulator's <cuda_runtime.h> has its own */
/* kernel: a name, or a pointer to a function; with template arguments in parentheses. */
#define CUDA_LAUNCH(gpu, kernel, blocks, threads, ...)                                                                 \
    (kernel)<<<(blocks), (threads), 0, (cudaStream_t)cuda_stream(gpu)>>>(__VA_ARGS__)
/* Stands before a loop that is not to be unrolled. */
#define CUDA_ROLLED _Pragma("unroll 1")
#endif

#define CUDA_WARP 32u
#define CUDA_ALL  0xFFFFFFFFu

/* How many blocks of items a count takes; at least one, so that an empty launch is still valid. */
static inline uint32_t cuda_blocks(uint64_t count, uint32_t items_per_block) {
    const uint64_t blocks = (count + items_per_block - 1) / items_per_block;
    return blocks > 0 ? (uint32_t)blocks : 1;
}

/* As many blocks as the items need, at most max: for kernels whose blocks share out the work. */
static inline uint32_t cuda_blocks_up_to(uint32_t max, uint64_t count, uint32_t items_per_block) {
    const uint32_t blocks = cuda_blocks(count, items_per_block);
    return blocks < max ? blocks : max;
}

#endif
