/* Sorting, sums and selection by CUB. Each is asked twice: for the scratch it needs, then to work. */
#include "backend/cuda_primitives.h"

#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>
#include <cub/device/device_select.cuh>
#include <cuda/std/functional>
#include <thrust/iterator/counting_iterator.h>

#include "backend/cuda_state.h"

/* ask is called with (scratch, bytes of scratch), scratch NULL for the question. */
template <typename ask_fn> static mote_status with_scratch(mote_context *ctx, const char *doing, ask_fn ask) {
    size_t scratch_bytes = 0;
    cuda_enter(ctx);
    CUDA_TRY(ctx, ask(NULL, scratch_bytes), doing);
    void *scratch = cuda_alloc(ctx, scratch_bytes, "cub scratch");
    if (scratch == NULL) return MOTE_ERROR_MEMORY;
    const cudaError_t error = ask(scratch, scratch_bytes);
    cuda_free(ctx, scratch);
    CUDA_TRY(ctx, error, doing);
    return MOTE_OK;
}

/* ---- sorting */

template <typename key> struct sort_buffers {
    cub::DoubleBuffer<key> keys;
    cub::DoubleBuffer<uint32_t> values;
};

static mote_status refuse_count(mote_context *ctx, uint64_t count) {
    if (count <= UINT32_MAX) return MOTE_OK;
    return mote_fail(ctx, MOTE_ERROR_UNSUPPORTED, "one sort takes up to 4,294,967,295 keys, not %llu",
                     (unsigned long long)count);
}

template <typename pairs_type, typename key>
static mote_status sort_pairs(mote_context *ctx, pairs_type *pairs, key *keys, key *other_keys, uint64_t count,
                              int first_bit, int last_bit) {
    MOTE_TRY(refuse_count(ctx, count));
    if (count == 0 || first_bit >= last_bit) return MOTE_OK;
    const cudaStream_t stream = ctx->cuda->stream;
    sort_buffers<key> b = {cub::DoubleBuffer<key>(keys, other_keys),
                           cub::DoubleBuffer<uint32_t>(pairs->values, pairs->other_values)};
    MOTE_TRY(with_scratch(ctx, "sorting", [&](void *scratch, size_t &scratch_bytes) {
        return cub::DeviceRadixSort::SortPairs(scratch, scratch_bytes, b.keys, b.values, (uint32_t)count, first_bit,
                                               last_bit, stream);
    }));
    pairs->keys = b.keys.Current();
    pairs->other_keys = b.keys.Alternate();
    pairs->values = b.values.Current();
    pairs->other_values = b.values.Alternate();
    return MOTE_OK;
}

mote_status cuda_sort32(mote_context *ctx, cuda_pairs32 *pairs, uint64_t count, int first_bit, int last_bit) {
    return sort_pairs(ctx, pairs, pairs->keys, pairs->other_keys, count, first_bit, last_bit);
}

mote_status cuda_sort64(mote_context *ctx, cuda_pairs64 *pairs, uint64_t count, int first_bit, int last_bit) {
    return sort_pairs(ctx, pairs, pairs->keys, pairs->other_keys, count, first_bit, last_bit);
}

mote_status cuda_sort_keys64(mote_context *ctx, cuda_keys64 *keys, uint64_t count, int first_bit, int last_bit) {
    MOTE_TRY(refuse_count(ctx, count));
    if (count == 0 || first_bit >= last_bit) return MOTE_OK;
    const cudaStream_t stream = ctx->cuda->stream;
    cub::DoubleBuffer<uint64_t> both(keys->keys, keys->other_keys);
    MOTE_TRY(with_scratch(ctx, "sorting", [&](void *scratch, size_t &scratch_bytes) {
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
static mote_status sum(mote_context *ctx, const in_type *in, out_type *out, uint64_t count) {
    if (count == 0) return MOTE_OK;
    const cudaStream_t stream = ctx->cuda->stream;
    return with_scratch(ctx, "summing", [&](void *scratch, size_t &scratch_bytes) {
        return cub::DeviceScan::ExclusiveScan(scratch, scratch_bytes, in, out, cuda::std::plus<out_type>(), out_type(0),
                                              count, stream);
    });
}

mote_status cuda_sum32(mote_context *ctx, const uint32_t *in, uint32_t *out, uint64_t count) {
    return sum(ctx, in, out, count);
}

mote_status cuda_sum64(mote_context *ctx, const uint64_t *in, uint64_t *out, uint64_t count) {
    return sum(ctx, in, out, count);
}

mote_status cuda_sum32_wide(mote_context *ctx, const uint32_t *in, uint64_t *out, uint64_t count) {
    return sum(ctx, in, out, count);
}

/* ---- selection */

mote_status cuda_select(mote_context *ctx, const uint8_t *flags, uint64_t count, uint32_t *out, uint64_t *found) {
    if (count == 0) return cuda_fill(ctx, found, 0, sizeof *found);
    const cudaStream_t stream = ctx->cuda->stream;
    const thrust::counting_iterator<uint32_t> numbers(0);
    return with_scratch(ctx, "selecting", [&](void *scratch, size_t &scratch_bytes) {
        return cub::DeviceSelect::Flagged(scratch, scratch_bytes, numbers, flags, out, found, (int64_t)count, stream);
    });
}
