/* Morton codes of three 21-bit coordinates, and the cell of a lattice coordinate. */
#ifndef MOTE_MORTON_H
#define MOTE_MORTON_H

#include "math/host_device.h"

/* The compilers' own names: <immintrin.h> would be read by a hundred files, and costs each more than all others. */
#if defined(__BMI2__) && !defined(__CUDACC__)
#define MOTE_HAVE_PDEP 1
#endif

#define MOTE_MORTON_BITS 21u
#define MOTE_MORTON_MASK 0x1FFFFFu

/* Moves bit i of the low 21 bits to bit 3i. */
MOTE_HD uint64_t mote_morton_spread(uint32_t value) {
#if defined(MOTE_HAVE_PDEP)
    return __builtin_ia32_pdep_di(value, 0x1249249249249249ull);
#else
    uint64_t v = value & MOTE_MORTON_MASK;
    v = (v | v << 32) & 0x001F00000000FFFFull;
    v = (v | v << 16) & 0x001F0000FF0000FFull;
    v = (v | v << 8) & 0x100F00F00F00F00Full;
    v = (v | v << 4) & 0x10C30C30C30C30C3ull;
    v = (v | v << 2) & 0x1249249249249249ull;
    return v;
#endif
}

/* The inverse: gathers bits 0, 3, 6 … */
MOTE_HD uint32_t mote_morton_compact(uint64_t code) {
#if defined(MOTE_HAVE_PDEP)
    return (uint32_t)__builtin_ia32_pext_di(code, 0x1249249249249249ull);
#else
    uint64_t v = code & 0x1249249249249249ull;
    v = (v | v >> 2) & 0x10C30C30C30C30C3ull;
    v = (v | v >> 4) & 0x100F00F00F00F00Full;
    v = (v | v >> 8) & 0x001F0000FF0000FFull;
    v = (v | v >> 16) & 0x001F00000000FFFFull;
    v = (v | v >> 32) & MOTE_MORTON_MASK;
    return (uint32_t)v;
#endif
}

MOTE_HD uint64_t mote_morton_encode(uint32_t x, uint32_t y, uint32_t z) {
    return mote_morton_spread(x) << 2 | mote_morton_spread(y) << 1 | mote_morton_spread(z);
}

/* Division by an invariant side: q = floor(p · 2^bits / side) exactly, without a division per point. */
typedef struct mote_cell_divisor {
    uint64_t side;
    uint64_t reciprocal; /* floor((2^64 - 1) / side) */
} mote_cell_divisor;

MOTE_HD mote_cell_divisor mote_cell_divisor_make(uint64_t side) {
    mote_cell_divisor d;
    d.side = side;
    d.reciprocal = UINT64_MAX / side;
    return d;
}

/* The cell of p among 2^bits, bits at most 31; the last one is closed. p < 2^32. The estimate from the reciprocal is
   low by one or two at most; the loop mends it. */
MOTE_HD uint32_t mote_cell_among(uint64_t p, mote_cell_divisor d, uint32_t bits) {
    const uint64_t n = p << bits, last = (1ull << bits) - 1;
    uint64_t q = mote_mul_high(n, d.reciprocal);
    uint64_t rest = n - q * d.side;
    while (rest >= d.side) {
        rest -= d.side;
        q++;
    }
    return (uint32_t)(q < last ? q : last);
}

/* Among 2^21. */
MOTE_HD uint32_t mote_cell_of(uint64_t p, mote_cell_divisor d) { return mote_cell_among(p, d, MOTE_MORTON_BITS); }

#endif
