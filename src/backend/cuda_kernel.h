/* What a .cu file needs to write and launch kernels. Kernels use one dimension, no dynamic shared memory and no
   waiting between blocks, whose order of running is not known: then they also run on the CPU, under tests/emulator/,
   where there is no GPU. */
#ifndef MOTE_CUDA_KERNEL_H
#define MOTE_CUDA_KERNEL_H

#include "backend/cuda.h"

#if defined(MOTE_CUDA_EMULATED)
#include "emulator/cuda_emulator.h"
#define CUDA_ROLLED
#else
#include <cuda_runtime.h>
/* kernel: a name, or a pointer to a function; with template arguments in parentheses. */
#define CUDA_LAUNCH(ctx, kernel, blocks, threads, ...)                                                                 \
    (kernel)<<<(blocks), (threads), 0, (cudaStream_t)cuda_stream(ctx)>>>(__VA_ARGS__)
/* Before a loop that is not to be unrolled. */
#define CUDA_ROLLED _Pragma("unroll 1")
#endif

#define CUDA_WARP 32u
#define CUDA_ALL  0xFFFFFFFFu

/* Blocks of so many items for a count; at least one, so that an empty launch is still valid. */
static inline uint32_t cuda_blocks(uint64_t count, uint32_t items_per_block) {
    const uint64_t blocks = (count + items_per_block - 1) / items_per_block;
    return blocks > 0 ? (uint32_t)blocks : 1;
}

#endif
