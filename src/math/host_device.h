/* One copy of the per-point maths for C17, C++17 and CUDA. Headers that include this keep to the common subset:
   no designated initialisers, compound literals, restrict or VLAs. */
#ifndef MOTE_HOST_DEVICE_H
#define MOTE_HOST_DEVICE_H

#include <stdbool.h>
#include <stdint.h>

#if defined(__CUDACC__)
#define MOTE_HD static inline __host__ __device__
#else
#define MOTE_HD static inline
#endif

/* The high 64 bits of a 64 by 64 bit product. */
MOTE_HD uint64_t mote_mul_high(uint64_t a, uint64_t b) {
#if defined(__CUDA_ARCH__)
    return __umul64hi(a, b);
#else
    __extension__ typedef unsigned __int128 wide;
    return (uint64_t)(((wide)a * b) >> 64);
#endif
}

#endif
