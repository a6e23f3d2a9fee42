/* Codes without the bits that no point uses, so that a radix sort takes fewer passes; one copy for C and CUDA.
   In a flat cloud the upper bits of z are zero for all. From the highest level down, a code's levels use one axis
   (top), two (middle) and all three (low); the compact code is the used bits in their order, closed up. So it is
   smaller where the code is smaller, and equal where it is equal. */
#ifndef MOTE_ORDER_COMPACT_CODES_MATH_H
#define MOTE_ORDER_COMPACT_CODES_MATH_H

#include "math/morton.h"

typedef struct order_compaction {
    uint32_t low_bits;      /* three for each level that uses all axes: these stay */
    uint32_t middle_levels; /* two bits each */
    uint32_t middle_shift;  /* of the lower of the two within its level: 0 for z, 1 for y */
    bool middle_is_split;   /* the two are x and z: a bit lies between */
    uint32_t top_levels;    /* one bit each */
    uint32_t top_shift;     /* of it within its level */
    uint32_t bits;          /* of a compact code */
    uint32_t low_mask;      /* of a cell: the bits in levels that use all axes */
    uint32_t upper, lower;  /* the two axes of the middle levels */
    uint32_t max;           /* the axis of the top levels */
} order_compaction;

/* bits: how many the largest cell of each axis has, up to 21. */
static inline order_compaction order_compaction_make(const uint32_t bits[3]) {
    order_compaction s;
    uint32_t max = 0, min = 0;
    for (uint32_t k = 1; k < 3; k++) {
        if (bits[k] > bits[max]) max = k;
        if (bits[k] <= bits[min]) min = k;
    }
    const uint32_t middle = 3 - max - min, upper = max < middle ? max : middle;
    const uint32_t lower = max < middle ? middle : max;
    s.low_bits = 3 * bits[min];
    s.middle_levels = bits[middle] - bits[min];
    s.middle_shift = 2 - lower;
    s.middle_is_split = lower - upper == 2;
    s.top_levels = bits[max] - bits[middle];
    s.top_shift = 2 - max;
    s.bits = bits[0] + bits[1] + bits[2];
    s.low_mask = (1u << bits[min]) - 1;
    s.upper = upper;
    s.lower = lower;
    s.max = max;
    return s;
}

/* Returns the compaction of cells without this many of their lowest levels, all of which use three axes. */
static inline order_compaction order_compaction_coarser(order_compaction s, uint32_t levels) {
    s.low_bits -= 3 * levels;
    s.low_mask >>= levels;
    s.bits -= 3 * levels;
    return s;
}

MOTE_HD bool order_compaction_is_identity(order_compaction s) { return s.middle_levels == 0 && s.top_levels == 0; }

/* Pairs of bits 2i, 2i+1 to 3i, 3i+1, for i < 21: a pair moves by i, one binary digit of i at a time. */
MOTE_HD uint64_t order_spread_pairs(uint64_t v) {
    v = (v & ~0x000003FF00000000ull) | (v & 0x000003FF00000000ull) << 16;
    v = (v & ~0x00000000FFFF0000ull) | (v & 0x00000000FFFF0000ull) << 8;
    v = (v & ~0x030000FF0000FF00ull) | (v & 0x030000FF0000FF00ull) << 4;
    v = (v & ~0x00F00F00F00F00F0ull) | (v & 0x00F00F00F00F00F0ull) << 2;
    v = (v & ~0x030C30C30C30C30Cull) | (v & 0x030C30C30C30C30Cull) << 1;
    return v;
}

/* The inverse; bits 3i+2 must be zero. */
MOTE_HD uint64_t order_close_pairs(uint64_t v) {
    v = (v & ~(0x030C30C30C30C30Cull << 1)) | (v >> 1 & 0x030C30C30C30C30Cull);
    v = (v & ~(0x00F00F00F00F00F0ull << 2)) | (v >> 2 & 0x00F00F00F00F00F0ull);
    v = (v & ~(0x030000FF0000FF00ull << 4)) | (v >> 4 & 0x030000FF0000FF00ull);
    v = (v & ~(0x00000000FFFF0000ull << 8)) | (v >> 8 & 0x00000000FFFF0000ull);
    v = (v & ~(0x000003FF00000000ull << 16)) | (v >> 16 & 0x000003FF00000000ull);
    return v;
}

#define ORDER_FIRST_OF_THREE  0x1249249249249249ull /* bits 3i */
#define ORDER_SECOND_OF_THREE 0x2492492492492492ull /* bits 3i + 1 */

MOTE_HD uint64_t order_low_mask(uint32_t bits) { return bits >= 64 ? UINT64_MAX : (1ull << bits) - 1; }

MOTE_HD uint64_t order_compact_code(uint64_t code, order_compaction s) {
    uint64_t key = code & order_low_mask(s.low_bits);
    if (s.middle_levels > 0) {
        uint64_t middle = (code >> s.low_bits & order_low_mask(3 * s.middle_levels)) >> s.middle_shift;
        if (s.middle_is_split) middle = (middle & ORDER_FIRST_OF_THREE) | (middle >> 1 & ORDER_SECOND_OF_THREE);
        key |= order_close_pairs(middle) << s.low_bits;
    }
    if (s.top_levels > 0) {
        const uint32_t below = s.low_bits + 3 * s.middle_levels + s.top_shift;
        key |= (uint64_t)mote_morton_compact(code >> below) << (s.low_bits + 2 * s.middle_levels);
    }
    return key;
}

MOTE_HD uint64_t order_expand_code(uint64_t key, order_compaction s) {
    uint64_t code = key & order_low_mask(s.low_bits);
    if (s.middle_levels > 0) {
        uint64_t middle = order_spread_pairs(key >> s.low_bits & order_low_mask(2 * s.middle_levels));
        if (s.middle_is_split) middle = (middle & ORDER_FIRST_OF_THREE) | (middle & ORDER_SECOND_OF_THREE) << 1;
        code |= middle << s.middle_shift << s.low_bits;
    }
    if (s.top_levels > 0) {
        const uint32_t below = s.low_bits + 3 * s.middle_levels + s.top_shift;
        code |= mote_morton_spread((uint32_t)(key >> (s.low_bits + 2 * s.middle_levels))) << below;
    }
    return code;
}

/* ---- the same by 32-bit steps, for kernels: all branches go by the shape, so the threads go one way. Products do
   half of the shifts, for a GPU multiplies beside its shifts and masks. */

/* Moves bit i of ten bits to bit 3i. */
MOTE_HD uint32_t order_spread_ten(uint32_t v) {
    v = v * 0x10001u & 0x030000FFu;
    v = v * 0x101u & 0x0300F00Fu;
    v = v * 0x11u & 0x030C30C3u;
    return v * 5u & 0x09249249u;
}

/* Moves bit i of sixteen bits to bit 2i: what moves by n bits is added 2^n - 1 times. */
MOTE_HD uint32_t order_spread_sixteen(uint32_t v) {
    v += (v & 0x0000FF00u) * 255u;
    v += (v & 0x00F000F0u) * 15u;
    v += (v & 0x0C0C0C0Cu) * 3u;
    return v + (v & 0x22222222u);
}

/* order_spread_pairs for i < 11. */
MOTE_HD uint32_t order_spread_pairs32(uint32_t v) {
    v += (v & 0x003F0000u) * 255u;
    v += (v & 0x0000FF00u) * 15u;
    v += (v & 0x300F00F0u) * 3u;
    return v + (v & 0x0C30C30Cu);
}

/* The low bits of three cells, interleaved. */
MOTE_HD uint64_t order_low_key(uint32_t x, uint32_t y, uint32_t z, order_compaction s) {
    const uint32_t m = s.low_mask & 1023, n = s.low_mask >> 10 & 1023;
    uint64_t key = order_spread_ten(x & m) * 4 + (order_spread_ten(y & m) * 2 + order_spread_ten(z & m));
    if (s.low_bits > 30) {
        const uint32_t yz = order_spread_ten(y >> 10 & n) * 2 + order_spread_ten(z >> 10 & n);
        key |= (uint64_t)(order_spread_ten(x >> 10 & n) * 4 + yz) << 30;
    }
    if (s.low_bits > 60) key |= (uint64_t)((x >> 20 & 1) << 2 | (y >> 20 & 1) << 1 | (z >> 20 & 1)) << 60;
    return key;
}

/* mote_morton_encode of a cell. */
MOTE_HD uint64_t order_cell_code(uint32_t x, uint32_t y, uint32_t z) {
    uint64_t code = order_spread_ten(x & 1023) * 4 + (order_spread_ten(y & 1023) * 2 + order_spread_ten(z & 1023));
    const uint32_t yz = order_spread_ten(y >> 10 & 1023) * 2 + order_spread_ten(z >> 10 & 1023);
    code |= (uint64_t)(order_spread_ten(x >> 10 & 1023) * 4 + yz) << 30;
    return code | (uint64_t)((x >> 20 & 1) << 2 | (y >> 20 & 1) << 1 | (z >> 20 & 1)) << 60;
}

/* Two numbers of this many bits each, interleaved. */
MOTE_HD uint64_t order_middle_key(uint32_t upper, uint32_t lower, uint32_t bits) {
    if (bits <= 8) { /* both in one word */
        uint32_t v = upper * 0x10000u + lower;
        v += (v & 0x00F000F0u) * 15u;
        v += (v & 0x0C0C0C0Cu) * 3u;
        v += v & 0x22222222u;
        return (v >> 16) * 2 + (v & 0xFFFF);
    }
    const uint32_t low = order_spread_sixteen(upper & 0xFFFF) * 2 + order_spread_sixteen(lower & 0xFFFF);
    if (bits <= 16) return low;
    return (uint64_t)(order_spread_sixteen(upper >> 16) * 2 + order_spread_sixteen(lower >> 16)) << 32 | low;
}

/* order_compact_code of the code of a cell, which has no bits beyond those of the shape. */
MOTE_HD uint64_t order_cell_key(uint32_t x, uint32_t y, uint32_t z, order_compaction s) {
    const uint32_t low_levels = s.low_bits / 3, middle_mask = (1u << s.middle_levels) - 1;
    uint64_t key = order_low_key(x, y, z, s);
    if (s.middle_levels > 0) {
        const uint32_t upper = (s.upper == 0 ? x : y) >> low_levels & middle_mask;
        const uint32_t lower = (s.lower == 1 ? y : z) >> low_levels & middle_mask;
        key |= order_middle_key(upper, lower, s.middle_levels) << s.low_bits;
    }
    if (s.top_levels > 0) {
        const uint32_t top = (s.max == 0 ? x : s.max == 1 ? y : z) >> (low_levels + s.middle_levels);
        key |= (uint64_t)top << (s.low_bits + 2 * s.middle_levels);
    }
    return key;
}

/* order_expand_code. */
MOTE_HD uint64_t order_key_code(uint64_t key, order_compaction s) {
    if (s.middle_levels > 10 || s.top_levels > 10) return order_expand_code(key, s);
    uint64_t code = key & order_low_mask(s.low_bits);
    if (s.middle_levels > 0) {
        const uint32_t used = (1u << 2 * s.middle_levels) - 1;
        uint32_t middle = order_spread_pairs32((uint32_t)(key >> s.low_bits) & used);
        if (s.middle_is_split) middle += middle & (uint32_t)ORDER_SECOND_OF_THREE;
        code |= (uint64_t)middle << (s.low_bits + s.middle_shift);
    }
    if (s.top_levels > 0) {
        const uint32_t top = (uint32_t)(key >> (s.low_bits + 2 * s.middle_levels));
        code |= (uint64_t)order_spread_ten(top) << (s.low_bits + 3 * s.middle_levels + s.top_shift);
    }
    return code;
}

#endif
