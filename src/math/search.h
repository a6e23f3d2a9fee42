/* Bisection in sorted arrays, one copy for C and CUDA.

     values  3 5 5 9,  value 5  ->  1: the first that is not less; count if all are less

   The last one that is not above a value is the place before the first one that is not less than value + 1. */
#ifndef MOTE_SEARCH_H
#define MOTE_SEARCH_H

#include "math/host_device.h"

/* The first of count values, stride_bytes apart, that is not less. No branch on what was read: on random values a
   processor would guess half of them wrong. */
MOTE_HD uint32_t mote_lower_bound32_strided(const void *values, uint32_t stride_bytes, uint32_t count, uint32_t value) {
    const uint8_t *const first = (const uint8_t *)values;
    uint32_t low = 0;
    while (count > 0) {
        const uint32_t half = count / 2;
        const bool less = *(const uint32_t *)(const void *)(first + (uint64_t)(low + half) * stride_bytes) < value;
        low = less ? low + half + 1 : low;
        count = less ? count - half - 1 : half;
    }
    return low;
}

/* The first of any number of 64-bit values, stride_bytes apart, that is not below value. */
MOTE_HD uint64_t mote_lower_bound64_strided(const void *values, uint32_t stride_bytes, uint64_t count, uint64_t value) {
    const uint8_t *const first = (const uint8_t *)values;
    uint64_t low = 0;
    while (count > 0) {
        const uint64_t half = count / 2;
        const bool less = *(const uint64_t *)(const void *)(first + (low + half) * stride_bytes) < value;
        low = less ? low + half + 1 : low;
        count = less ? count - half - 1 : half;
    }
    return low;
}

MOTE_HD uint32_t mote_lower_bound32(const uint32_t *values, uint32_t count, uint32_t value) {
    return mote_lower_bound32_strided(values, sizeof *values, count, value);
}

MOTE_HD uint64_t mote_lower_bound64(const uint64_t *values, uint64_t count, uint64_t value) {
    return mote_lower_bound64_strided(values, sizeof *values, count, value);
}

#endif
