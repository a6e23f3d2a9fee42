/* device/cuda/cuda_primitives.h the naive way. */
#include "device/cuda/cuda_primitives.h"

#include <algorithm>
#include <utility>
#include <vector>

/* Sorts into the other arrays and exchanges, as CUB may: what was in keys and values is spoiled then. */
template <class P, class K> static mote_status sort_pairs(P *pairs, uint64_t count, int first_bit, int last_bit) {
    const int bits = last_bit - first_bit;
    const K mask = bits >= (int)(8 * sizeof(K)) ? (K) ~(K)0 : (K)(((K)1 << bits) - 1);
    std::vector<uint32_t> at(count);
    const K *keys = pairs->keys;
    if (bits <= 0) return MOTE_OK;
    for (uint64_t i = 0; i < count; i++) at[i] = (uint32_t)i;
    std::stable_sort(at.begin(), at.end(), [=](uint32_t a, uint32_t b) {
        return (keys[a] >> first_bit & mask) < (keys[b] >> first_bit & mask);
    });
    for (uint64_t i = 0; i < count; i++) {
        pairs->other_keys[i] = pairs->keys[at[i]];
        pairs->other_values[i] = pairs->values[at[i]];
    }
    if (count > 0) memset(pairs->keys, 0xA5, count * sizeof *pairs->keys);
    if (count > 0) memset(pairs->values, 0xA5, count * sizeof *pairs->values);
    std::swap(pairs->keys, pairs->other_keys);
    std::swap(pairs->values, pairs->other_values);
    return MOTE_OK;
}

mote_status cuda_sort32(mote_device *gpu, cuda_pairs32 *pairs, uint64_t count, int first_bit, int last_bit) {
    (void)gpu;
    return sort_pairs<cuda_pairs32, uint32_t>(pairs, count, first_bit, last_bit);
}

mote_status cuda_sort64(mote_device *gpu, cuda_pairs64 *pairs, uint64_t count, int first_bit, int last_bit) {
    (void)gpu;
    return sort_pairs<cuda_pairs64, uint64_t>(pairs, count, first_bit, last_bit);
}

mote_status cuda_sort_keys64(mote_device *gpu, cuda_keys64 *keys, uint64_t count, int first_bit, int last_bit) {
    std::vector<uint32_t> values(2 * count);
    cuda_pairs64 pairs = {keys->keys, values.data(), keys->other_keys, values.data() + count};
    const mote_status status = cuda_sort64(gpu, &pairs, count, first_bit, last_bit);
    keys->keys = pairs.keys;
    keys->other_keys = pairs.other_keys;
    return status;
}

/* Sums of 32 bits wrap, as on the device. */
template <class I, class O> static mote_status sum(const I *in, O *out, uint64_t count) {
    O so_far = 0;
    for (uint64_t i = 0; i < count; i++) {
        const I value = in[i];
        out[i] = so_far;
        so_far = (O)(so_far + value);
    }
    return MOTE_OK;
}

mote_status cuda_sum32(mote_device *gpu, const uint32_t *in, uint32_t *out, uint64_t count) {
    (void)gpu;
    return sum(in, out, count);
}

mote_status cuda_sum64(mote_device *gpu, const uint64_t *in, uint64_t *out, uint64_t count) {
    (void)gpu;
    return sum(in, out, count);
}

mote_status cuda_sum32_wide(mote_device *gpu, const uint32_t *in, uint64_t *out, uint64_t count) {
    (void)gpu;
    return sum(in, out, count);
}

mote_status cuda_select(mote_device *gpu, const uint8_t *flags, uint64_t count, uint32_t *out, uint64_t *found) {
    (void)gpu;
    uint64_t n = 0;
    for (uint64_t i = 0; i < count; i++) {
        if (flags[i] != 0) out[n++] = (uint32_t)i;
    }
    *found = n;
    return MOTE_OK;
}
