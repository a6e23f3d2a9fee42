/* Places on a Hilbert curve by a table of bytes, small enough for shared memory. For .cu files. It is the curve of
   Skilling's algorithm, and not that of math/hilbert.h, which CPU cores go along: each is the faster one where it is,
   see docs/history/knn.md, 0011.

       state of a cell ──┐
       octant (x y z) ───┴─▶ knn_hilbert_table ─┬─▶ place of the octant among the eight
                                                └─▶ state of the octant: one of the 24 ways through a cube

   Source: J. Skilling, Programming the Hilbert curve, 2004; the parity tests have the algorithm itself. */
#ifndef MOTE_KNN_HILBERT_CUDA_H
#define MOTE_KNN_HILBERT_CUDA_H

#include "device/cuda/cuda_kernel.cuh"
#include "math/morton.h"

#define KNN_HILBERT_ENTRIES 192u /* 24 states of 8 octants */

typedef struct knn_hilbert {
    uint8_t next[KNN_HILBERT_ENTRIES];
} knn_hilbert;

// clang-format off
/* [8 · state + octant], the lowest bit of an octant that of z: eight times the octant's state, plus its place. State 0
   is that of the whole. */
static __device__ const knn_hilbert knn_hilbert_table = {{
      8,  17,  27,   2,  39,  46,  52,   5,    56,  71,  73,  86,  91,  20,  10,  13,
     48,   1, 103, 110, 115,  18,  12,  21,   126, 129,  29,  26,  79,  80, 140,   3,
    148,  43,  37,  34, 127, 128,  78,  81,   156,  45,  35,  42,  31,   6, 160, 105,
     72,  87, 139,   4,  57,  70,  50,  53,     0, 171, 111,  76,  49,  58, 102,  61,
    180, 143,  83, 184,  69,  54,  66,  97,    16, 123,   9,  74,  47,  60,  38,  77,
    132,  95,  85,  14,  67, 144,  82,  33,   142,  55, 185,  96,  93, 116,  90,  11,
    188, 107, 175, 176, 101,  98,  62,  65,   164, 109, 119,  22,  99, 106, 152,  41,
    174, 177,  63,  64, 117, 114,  92,  19,    30, 125, 161, 122,   7, 172, 104,  75,
    130,  25, 133, 166, 179, 136,  84, 191,    94,  15, 141,  28, 145,  32, 138,  51,
    146, 155, 149,  36, 137,  24, 190, 167,   154, 157, 147,  44, 169, 182, 120, 135,
    162, 165, 121, 134, 187, 108, 168, 183,   118, 173,  23, 124, 153, 170,  40,  59,
    178, 113, 131,  88, 181, 158,  68, 151,   186, 163,  89, 112, 189, 100, 150, 159,
}};
// clang-format on

/* Copies the table to shared memory; a block of at least KNN_HILBERT_ENTRIES threads. Synchronise before use. */
static __device__ inline void knn_hilbert_load(knn_hilbert *table) {
    if (threadIdx.x < KNN_HILBERT_ENTRIES) table->next[threadIdx.x] = knn_hilbert_table.next[threadIdx.x];
}

/* LEVELS levels further down, to the octants of a Morton code: the place within the cell that an entry of the table was
   for; *entry becomes that of the last octant. */
template <uint32_t LEVELS>
static __device__ inline uint64_t knn_hilbert_within(const knn_hilbert *table, uint64_t octants, uint32_t *entry) {
    uint64_t place = 0;
#pragma unroll
    for (uint32_t level = LEVELS; level > 0; level--) {
        *entry = table->next[(*entry & ~7u) | ((uint32_t)(octants >> 3 * (level - 1)) & 7)];
        place = place << 3 | (*entry & 7);
    }
    return place;
}

/* The place of a cell among 2^bits a side, bits at most LEVELS. */
template <uint32_t LEVELS>
static __device__ inline uint64_t knn_hilbert_place(const knn_hilbert *table, uint32_t x, uint32_t y, uint32_t z,
                                                    uint32_t bits) {
    const uint32_t unused = 3 * (LEVELS - bits);
    uint32_t entry = 0; /* its state is that of the whole */
    return knn_hilbert_within<LEVELS>(table, mote_morton_encode(x, y, z) << unused, &entry) >> unused;
}

#endif
