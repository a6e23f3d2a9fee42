/* Sorting, sums and selection by CUB. Each is asked twice: for the scratch it needs, then to work. */
#include "device/cuda/cuda_primitives.h"

#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>
#include <cub/device/device_select.cuh>
#include <cuda/std/functional>
#include <thrust/iterator/counting_iterator.h>

#include "device/cuda/cuda_state.h"

/* call is called with (scratch, bytes of scratch): with NULL first, which tells how many bytes it needs. */
template <typename call_fn> static mote_status with_scratch(mote_device *gpu, const char *doing, call_fn call) {
    size_t scratch_bytes = 0;
    cuda_enter(gpu);
    CUDA_TRY(gpu, call(NULL, scratch_bytes), doing);
    void *scratch = cuda_alloc(gpu, scratch_bytes, "cub scratch");
    if (scratch == NULL) return MOTE_ERROR_MEMORY;
    const cudaError_t error = call(scratch, scratch_bytes);
    cuda_free(gpu, scratch);
    CUDA_TRY(gpu, error, doing);
    return MOTE_OK;
}

/* ---- sorting */

template <typename key> struct sort_buffers {
    cub::DoubleBuffer<key> keys;
    cub::DoubleBuffer<uint32_t> values;
};

static mote_status refuse_count(mote_device *gpu, uint64_t count) {
    if (count <= UINT32_MAX) return MOTE_OK;
    return mote_fail(gpu->ctx, MOTE_ERROR_UNSUPPORTED, "one sort takes up to 4,294,967,295 keys, not %llu",
                     (unsigned long long)count);
}

template <typename pairs_type, typename key>
static mote_status sort_pairs(mote_device *gpu, pairs_type *pairs, key *keys, key *other_keys, uint64_t count,
                              int first_bit, int last_bit) {
    MOTE_TRY(refuse_count(gpu, count));
    if (count == 0 || first_bit >= last_bit) return MOTE_OK;
    const cudaStream_t stream = state_of(gpu)->stream;
    sort_buffers<key> b = {cub::DoubleBuffer<key>(keys, other_keys),
                           cub::DoubleBuffer<uint32_t>(pairs->values, pairs->other_values)};
    MOTE_TRY(with_scratch(gpu, "sorting", [&](void *scratch, size_t &scratch_bytes) {
        return cub::DeviceRadixSort::SortPairs(scratch, scratch_bytes, b.keys, b.values, (uint32_t)count, first_bit,
                                               last_bit, stream);
    }));
    pairs->keys = b.keys.Current();
    pairs->other_keys = b.keys.Alternate();
    pairs->values = b.values.Current();
    pairs->other_values = b.values.Alternate();
    return MOTE_OK;
}

mote_status cuda_sort32(mote_device *gpu, cuda_pairs32 *pairs, uint64_t count, int first_bit, int last_bit) {
    return sort_pairs(gpu, pairs, pairs->keys, pairs->other_keys, count, first_bit, last_bit);
}

mote_status cuda_sort64(mote_device *gpu, cuda_pairs64 *pairs, uint64_t count, int first_bit, int last_bit) {
    return sort_pairs(gpu, pairs, pairs->keys, pairs->other_keys, count, first_bit, last_bit);
}

mote_status cuda_sort_keys64(mote_device *gpu, cuda_keys64 *keys, uint64_t count, int first_bit, int last_bit) {
    MOTE_TRY(refuse_count(gpu, count));
    if (count == 0 || first_bit >= last_bit) return MOTE_OK;
    const cudaStream_t stream = state_of(gpu)->stream;
    cub::DoubleBuffer<uint64_t> both(keys->keys, keys->other_keys);
    MOTE_TRY(with_scratch(gpu, "sorting", [&](void *scratch, size_t &scratch_bytes) {
        return cub::DeviceRadixSort::SortKeys(scratch, scratch_bytes, both, (uint32_t)count, first_bit, last_bit,
                                              stream);
    }));
    keys->keys = both.Current();
    keys->other_keys = both.Alternate();
    return MOTE_OK;
}

/* ---- sums */

/* The type of the first summand is that of the sums: wide where the input is narrow. */
template <typename in_type, typename out_type>
static mote_status sum(mote_device *gpu, const in_type *in, out_type *out, uint64_t count) {
    if (count == 0) return MOTE_OK;
    const cudaStream_t stream = state_of(gpu)->stream;
    return with_scratch(gpu, "summing", [&](void *scratch, size_t &scratch_bytes) {
        return cub::DeviceScan::ExclusiveScan(scratch, scratch_bytes, in, out, cuda::std::plus<out_type>(), out_type(0),
                                              count, stream);
    });
}

mote_status cuda_sum32(mote_device *gpu, const uint32_t *in, uint32_t *out, uint64_t count) {
    return sum(gpu, in, out, count);
}

mote_status cuda_sum64(mote_device *gpu, const uint64_t *in, uint64_t *out, uint64_t count) {
    return sum(gpu, in, out, count);
}

mote_status cuda_sum32_wide(mote_device *gpu, const uint32_t *in, uint64_t *out, uint64_t count) {
    return sum(gpu, in, out, count);
}

/* ---- selection */

mote_status cuda_select(mote_device *gpu, const uint8_t *flags, uint64_t count, uint32_t *out, uint64_t *found) {
    if (count == 0) return cuda_fill(gpu, found, 0, sizeof *found);
    const cudaStream_t stream = state_of(gpu)->stream;
    const thrust::counting_iterator<uint32_t> numbers(0);
    return with_scratch(gpu, "selecting", [&](void *scratch, size_t &scratch_bytes) {
        return cub::DeviceSelect::Flagged(scratch, scratch_bytes, numbers, flags, out, found, (int64_t)count, stream);
    });
}
