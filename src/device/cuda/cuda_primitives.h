/* Sorting, sums and selection on the device; the only user of CUB. All arrays are device memory. */
#ifndef MOTE_CUDA_PRIMITIVES_H
#define MOTE_CUDA_PRIMITIVES_H

#include "device/cuda/cuda.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Keys with values, and room for as many again. Sorting leaves the result in keys and values, by exchanging them with
   the other two where that saves a copy. */
typedef struct cuda_pairs32 {
    uint32_t *keys, *values, *other_keys, *other_values;
} cuda_pairs32;
typedef struct cuda_pairs64 {
    uint64_t *keys;
    uint32_t *values;
    uint64_t *other_keys;
    uint32_t *other_values;
} cuda_pairs64;

/* Keys alone, as above. */
typedef struct cuda_keys64 {
    uint64_t *keys, *other_keys;
} cuda_keys64;

/* Sorts by the bits [first_bit, last_bit) of the keys, stably. */
mote_status cuda_sort32(mote_device *gpu, cuda_pairs32 *pairs, uint64_t count, int first_bit, int last_bit);
mote_status cuda_sort64(mote_device *gpu, cuda_pairs64 *pairs, uint64_t count, int first_bit, int last_bit);
mote_status cuda_sort_keys64(mote_device *gpu, cuda_keys64 *keys, uint64_t count, int first_bit, int last_bit);

/* out[i] = sum of in[0 … i-1]. in and out may be the same array. For the total, give one element more (of any value)
   and read the last. */
mote_status cuda_sum32(mote_device *gpu, const uint32_t *in, uint32_t *out, uint64_t count);
mote_status cuda_sum64(mote_device *gpu, const uint64_t *in, uint64_t *out, uint64_t count);
/* Exclusive sums of 32-bit numbers, in 64 bits; in and out must differ, since out is longer. */
mote_status cuda_sum32_wide(mote_device *gpu, const uint32_t *in, uint64_t *out, uint64_t count);

/* The numbers i with flags[i] != 0, ascending. found [1] in device memory: how many. */
mote_status cuda_select(mote_device *gpu, const uint8_t *flags, uint64_t count, uint32_t *out, uint64_t *found);

#ifdef __cplusplus
}
#endif
#endif
