/* The public entries of the Morton order on the device, for memory of the host or of the device. */
#include "core/cloud.h"
#include "device/cuda/warp.cuh"
#include "order/lattice/order_points.cuh"
#include "order/order_cuda.h"
#include "order/order_ops.h"
#include "order/sort/order_keys_cuda.h"

/* A unit of a value for each thread; other numbers were not measured. */
struct permute_policy {
    static constexpr uint32_t threads = 256;
};

static mote_status device_codes(mote_device *gpu, const device_cloud *cloud, const mote_lattice *lattice,
                                uint64_t *codes) {
    if (cuda_is_device_memory(gpu, codes)) return order_cuda_codes(cloud, lattice, codes);
    const uint64_t size_bytes = cloud->count * sizeof *codes;
    uint64_t *const copy = (uint64_t *)cuda_alloc(gpu, size_bytes, "codes");
    if (copy == NULL) return MOTE_ERROR_MEMORY;
    mote_status status = order_cuda_codes(cloud, lattice, copy);
    if (status == MOTE_OK) status = cuda_download(gpu, codes, copy, size_bytes);
    cuda_free(gpu, copy);
    return status;
}

static mote_status cuda_codes(mote_device *gpu, const mote_cloud *cloud, const mote_lattice *lattice, uint64_t *codes) {
    device_cloud device;
    mote_status status = device_cloud_open_positions(gpu, cloud, &device);
    if (status == MOTE_OK && cloud->count > 0) status = device_codes(gpu, &device, lattice, codes);
    device_cloud_close(&device);
    return status;
}

static mote_status sort_pairs(mote_device *gpu, uint64_t *codes, uint32_t *indices, uint64_t count,
                              cuda_pairs64 *pairs) {
    MOTE_TRY(order_pairs_alloc(gpu, count, pairs));
    MOTE_TRY(cuda_upload(gpu, pairs->keys, codes, count * sizeof *codes));
    MOTE_TRY(order_cuda_number(gpu, pairs->values, count));
    MOTE_TRY(cuda_sort64(gpu, pairs, count, 0, 64));
    MOTE_TRY(cuda_download(gpu, codes, pairs->keys, count * sizeof *codes));
    MOTE_TRY(cuda_download(gpu, indices, pairs->values, count * sizeof *indices));
    return mote_progress(gpu->ctx, 1.0, "sorting");
}

static mote_status cuda_sort(mote_device *gpu, uint64_t *codes, uint32_t *indices, uint64_t count) {
    cuda_pairs64 pairs;
    memset(&pairs, 0, sizeof pairs);
    if (count == 0) return MOTE_OK;
    const mote_status status = sort_pairs(gpu, codes, indices, count, &pairs);
    order_pairs_free(gpu, &pairs);
    return status;
}

/* ---- permutation */

static __global__ void largest(const uint32_t *indices, uint64_t count, uint32_t *out) {
    const uint64_t i = (uint64_t)blockIdx.x * permute_policy::threads + threadIdx.x;
    const uint32_t max = warp_max(i < count ? indices[i] : 0);
    if (threadIdx.x % CUDA_WARP == 0) atomicMax(out, max);
}

/* A value is that number of units of a type that its address, size and stride are multiples of. */
template <typename UNIT>
static __global__ void permute(const UNIT *values, uint32_t units, uint32_t stride_units, const uint32_t *indices,
                               uint64_t count, UNIT *out) {
    const uint64_t at = (uint64_t)blockIdx.x * permute_policy::threads + threadIdx.x;
    if (at >= count * units) return;
    const uint64_t i = at / units;
    out[at] = values[(uint64_t)indices[i] * stride_units + (at - i * units)];
}

/* What a permutation works on; all in device memory. */
typedef struct permutation {
    const uint8_t *values;
    uint32_t size_bytes, stride_bytes;
    const uint32_t *indices;
    uint64_t count;
    uint8_t *out;
} permutation;

static mote_status permute_on_device(mote_device *gpu, const permutation *p) {
    const uint64_t together = (uintptr_t)p->values | (uintptr_t)p->out | p->size_bytes | p->stride_bytes;
    if (together % 4 == 0) {
        CUDA_LAUNCH(gpu, (permute<uint32_t>), cuda_blocks(p->count * (p->size_bytes / 4), permute_policy::threads),
                    permute_policy::threads, (const uint32_t *)p->values, p->size_bytes / 4, p->stride_bytes / 4,
                    p->indices, p->count, (uint32_t *)p->out);
    } else if (together % 2 == 0) {
        CUDA_LAUNCH(gpu, (permute<uint16_t>), cuda_blocks(p->count * (p->size_bytes / 2), permute_policy::threads),
                    permute_policy::threads, (const uint16_t *)p->values, p->size_bytes / 2, p->stride_bytes / 2,
                    p->indices, p->count, (uint16_t *)p->out);
    } else {
        CUDA_LAUNCH(gpu, (permute<uint8_t>), cuda_blocks(p->count * p->size_bytes, permute_policy::threads),
                    permute_policy::threads, p->values, p->size_bytes, p->stride_bytes, p->indices, p->count, p->out);
    }
    return cuda_launched(gpu, "permutation");
}

/* How many bytes of the values the indices reach. */
static mote_status reach_of(mote_device *gpu, const permutation *p, uint64_t *size_bytes) {
    uint32_t last = 0;
    uint32_t *const device = (uint32_t *)cuda_alloc(gpu, sizeof *device, "permutation");
    if (device == NULL) return MOTE_ERROR_MEMORY;
    mote_status status = cuda_fill(gpu, device, 0, sizeof *device);
    if (status == MOTE_OK) {
        CUDA_LAUNCH(gpu, largest, cuda_blocks(p->count, permute_policy::threads), permute_policy::threads, p->indices,
                    p->count, device);
        status = cuda_launched(gpu, "permutation");
    }
    if (status == MOTE_OK) status = cuda_download(gpu, &last, device, sizeof last);
    cuda_free(gpu, device);
    *size_bytes = (uint64_t)last * p->stride_bytes + p->size_bytes;
    return status;
}

/* Memory of the device that holds the same, or is to hold it: the caller's own, or *copy, which is for cuda_free. */
static mote_status bring(mote_device *gpu, const void *memory, uint64_t size_bytes, bool filled, void **copy,
                         const void **device) {
    *device = memory;
    if (cuda_is_device_memory(gpu, memory)) return MOTE_OK;
    *copy = cuda_alloc(gpu, size_bytes, "permutation");
    *device = *copy;
    if (*copy == NULL) return MOTE_ERROR_MEMORY;
    return filled ? cuda_upload(gpu, *copy, memory, size_bytes) : MOTE_OK;
}

static mote_status permute_with(mote_device *gpu, permutation *p, void *copies[3]) {
    const uint64_t out_bytes = p->count * p->size_bytes;
    uint8_t *const out = p->out;
    const void *device;
    uint64_t reach = 0;
    MOTE_TRY(bring(gpu, p->indices, p->count * sizeof *p->indices, true, &copies[0], &device));
    p->indices = (const uint32_t *)device;
    MOTE_TRY(reach_of(gpu, p, &reach));
    MOTE_TRY(bring(gpu, p->values, reach, true, &copies[1], &device));
    p->values = (const uint8_t *)device;
    MOTE_TRY(bring(gpu, out, out_bytes, false, &copies[2], &device));
    p->out = (uint8_t *)(uintptr_t)device;
    MOTE_TRY(permute_on_device(gpu, p));
    return p->out == out ? MOTE_OK : cuda_download(gpu, out, p->out, out_bytes);
}

static mote_status cuda_permute(mote_device *gpu, const void *values, uint32_t size_bytes, uint32_t stride_bytes,
                                const uint32_t *indices, uint64_t count, void *out) {
    permutation p = {(const uint8_t *)values, size_bytes, stride_bytes, indices, count, (uint8_t *)out};
    void *copies[3] = {NULL, NULL, NULL};
    if (count == 0) return MOTE_OK;
    const mote_status status = permute_with(gpu, &p, copies);
    for (int i = 0; i < 3; i++) cuda_free(gpu, copies[i]);
    return status;
}

static mote_status cuda_bounds(mote_device *gpu, const mote_cloud *cloud, mote_box *box) {
    device_cloud device;
    mote_status status = device_cloud_open_positions(gpu, cloud, &device);
    if (status == MOTE_OK) status = order_cuda_bounds(&device, box);
    device_cloud_close(&device);
    return status;
}

const mote_order_ops mote_order_on_cuda = {cuda_codes, NULL, cuda_sort, cuda_bounds, cuda_permute};
