/* The public entries of the Morton order on the device, for memory of the host or of the device. */
#include "core/cloud.h"
#include "order/order_keys_cuda.h"
#include "order/order_ops.h"
#include "order/order_points.h"

#define THREADS 256u

static mote_status device_codes(mote_context *ctx, const cuda_cloud *cloud, const mote_lattice *lattice,
                                uint64_t *codes) {
    if (cuda_is_device_memory(ctx, codes)) return order_cuda_codes(cloud, lattice, codes);
    const uint64_t size_bytes = cloud->count * sizeof *codes;
    uint64_t *const made = (uint64_t *)cuda_alloc(ctx, size_bytes, "codes");
    if (made == NULL) return MOTE_ERROR_MEMORY;
    mote_status status = order_cuda_codes(cloud, lattice, made);
    if (status == MOTE_OK) status = cuda_download(ctx, codes, made, size_bytes);
    cuda_free(ctx, made);
    return status;
}

/* A look at the positions alone, so that nothing else is uploaded. axes [3] must live as long. */
static mote_cloud positions_of(const mote_cloud *cloud, mote_column axes[3]) {
    static const char *const names[3] = {"x", "y", "z"};
    mote_cloud view = *cloud;
    view.columns = axes;
    view.column_count = 0;
    for (int k = 0; k < 3; k++) {
        const mote_column *axis = mote_cloud_find(cloud, names[k]);
        if (axis != NULL) axes[view.column_count++] = *axis;
    }
    return view;
}

static mote_status cuda_codes(mote_context *ctx, const mote_cloud *cloud, const mote_lattice *lattice,
                              uint64_t *codes) {
    cuda_cloud device;
    mote_column axes[3];
    const mote_cloud positions = positions_of(cloud, axes);
    mote_status status = cuda_cloud_open(ctx, &positions, &device);
    if (status == MOTE_OK && cloud->count > 0) status = device_codes(ctx, &device, lattice, codes);
    cuda_cloud_close(&device);
    return status;
}

static mote_status sort_pairs(mote_context *ctx, uint64_t *codes, uint32_t *indices, uint64_t count,
                              cuda_pairs64 *pairs) {
    MOTE_TRY(order_pairs_alloc(ctx, count, pairs));
    MOTE_TRY(cuda_upload(ctx, pairs->keys, codes, count * sizeof *codes));
    MOTE_TRY(order_cuda_number(ctx, pairs->values, count));
    MOTE_TRY(cuda_sort64(ctx, pairs, count, 0, 64));
    MOTE_TRY(cuda_download(ctx, codes, pairs->keys, count * sizeof *codes));
    MOTE_TRY(cuda_download(ctx, indices, pairs->values, count * sizeof *indices));
    return mote_progress(ctx, 1.0, "sorting");
}

static mote_status cuda_sort(mote_context *ctx, uint64_t *codes, uint32_t *indices, uint64_t count) {
    cuda_pairs64 pairs;
    memset(&pairs, 0, sizeof pairs);
    if (count == 0) return MOTE_OK;
    const mote_status status = sort_pairs(ctx, codes, indices, count, &pairs);
    order_pairs_free(ctx, &pairs);
    return status;
}

/* ---- permutation */

static __global__ void largest(const uint32_t *indices, uint64_t count, uint32_t *out) {
    const uint64_t i = (uint64_t)blockIdx.x * THREADS + threadIdx.x;
    uint32_t most = i < count ? indices[i] : 0;
    for (int away = CUDA_WARP / 2; away > 0; away /= 2) {
        const uint32_t other = __shfl_xor_sync(CUDA_ALL, most, away);
        most = other > most ? other : most;
    }
    if (threadIdx.x % CUDA_WARP == 0) atomicMax(out, most);
}

/* A value is so many units of a type that its address, size and stride are multiples of. */
template <typename UNIT>
static __global__ void permute(const UNIT *values, uint32_t units, uint32_t stride_units, const uint32_t *indices,
                               uint64_t count, UNIT *out) {
    const uint64_t at = (uint64_t)blockIdx.x * THREADS + threadIdx.x;
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

static mote_status permute_on_device(mote_context *ctx, const permutation *p) {
    const uint64_t together = (uintptr_t)p->values | (uintptr_t)p->out | p->size_bytes | p->stride_bytes;
    if (together % 4 == 0) {
        CUDA_LAUNCH(ctx, (permute<uint32_t>), cuda_blocks(p->count * (p->size_bytes / 4), THREADS), THREADS,
                    (const uint32_t *)p->values, p->size_bytes / 4, p->stride_bytes / 4, p->indices, p->count,
                    (uint32_t *)p->out);
    } else if (together % 2 == 0) {
        CUDA_LAUNCH(ctx, (permute<uint16_t>), cuda_blocks(p->count * (p->size_bytes / 2), THREADS), THREADS,
                    (const uint16_t *)p->values, p->size_bytes / 2, p->stride_bytes / 2, p->indices, p->count,
                    (uint16_t *)p->out);
    } else {
        CUDA_LAUNCH(ctx, (permute<uint8_t>), cuda_blocks(p->count * p->size_bytes, THREADS), THREADS, p->values,
                    p->size_bytes, p->stride_bytes, p->indices, p->count, p->out);
    }
    return cuda_launched(ctx, "permutation");
}

/* How many bytes of the values the indices reach. */
static mote_status reach_of(mote_context *ctx, const permutation *p, uint64_t *size_bytes) {
    uint32_t last = 0;
    uint32_t *const device = (uint32_t *)cuda_alloc(ctx, sizeof *device, "permutation");
    if (device == NULL) return MOTE_ERROR_MEMORY;
    mote_status status = cuda_fill(ctx, device, 0, sizeof *device);
    if (status == MOTE_OK) {
        CUDA_LAUNCH(ctx, largest, cuda_blocks(p->count, THREADS), THREADS, p->indices, p->count, device);
        status = cuda_launched(ctx, "permutation");
    }
    if (status == MOTE_OK) status = cuda_download(ctx, &last, device, sizeof last);
    cuda_free(ctx, device);
    *size_bytes = (uint64_t)last * p->stride_bytes + p->size_bytes;
    return status;
}

/* Memory of the device that holds the same, or is to hold it: the caller's own, or *made. */
static mote_status bring(mote_context *ctx, const void *memory, uint64_t size_bytes, bool filled, void **made,
                         const void **device) {
    *device = memory;
    if (cuda_is_device_memory(ctx, memory)) return MOTE_OK;
    *made = cuda_alloc(ctx, size_bytes, "permutation");
    *device = *made;
    if (*made == NULL) return MOTE_ERROR_MEMORY;
    return filled ? cuda_upload(ctx, *made, memory, size_bytes) : MOTE_OK;
}

static mote_status permute_with(mote_context *ctx, permutation *p, void *made[3]) {
    const uint64_t out_bytes = p->count * p->size_bytes;
    uint8_t *const out = p->out;
    const void *device;
    uint64_t reach = 0;
    MOTE_TRY(bring(ctx, p->indices, p->count * sizeof *p->indices, true, &made[0], &device));
    p->indices = (const uint32_t *)device;
    MOTE_TRY(reach_of(ctx, p, &reach));
    MOTE_TRY(bring(ctx, p->values, reach, true, &made[1], &device));
    p->values = (const uint8_t *)device;
    MOTE_TRY(bring(ctx, out, out_bytes, false, &made[2], &device));
    p->out = (uint8_t *)(uintptr_t)device;
    MOTE_TRY(permute_on_device(ctx, p));
    return p->out == out ? MOTE_OK : cuda_download(ctx, out, p->out, out_bytes);
}

static mote_status cuda_permute(mote_context *ctx, const void *values, uint32_t size_bytes, uint32_t stride_bytes,
                                const uint32_t *indices, uint64_t count, void *out) {
    permutation p = {(const uint8_t *)values, size_bytes, stride_bytes, indices, count, (uint8_t *)out};
    void *made[3] = {NULL, NULL, NULL};
    if (count == 0) return MOTE_OK;
    const mote_status status = permute_with(ctx, &p, made);
    for (int i = 0; i < 3; i++) cuda_free(ctx, made[i]);
    return status;
}

const mote_order_ops mote_order_on_cuda = {cuda_codes, NULL, cuda_sort, cuda_permute};
