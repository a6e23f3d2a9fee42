/* The Morton order, public entries: validate, dispatch. */
#include "mote/order.h"

#include "core/cloud.h"
#include "device/backend.h"
#include "order/order_ops.h"

static mote_status unsupported(const mote_device *device, const char *what) {
    return mote_fail(device->ctx, MOTE_ERROR_UNSUPPORTED, "the %s backend has no %s", device->backend->name, what);
}

static mote_status codes_on(mote_device *device, const mote_cloud *cloud, const mote_lattice *lattice,
                            uint64_t *codes) {
    const mote_order_ops *ops = device->backend->order;
    if (ops == NULL || ops->codes == NULL) return unsupported(device, "Morton codes");
    MOTE_TRY(ops->codes(device, cloud, lattice, codes));
    return mote_cloud_check(cloud);
}

mote_status mote_order_codes(mote_context *ctx, const mote_cloud *cloud, const mote_lattice *lattice, uint64_t *codes) {
    mote_device *device = mote_device_of_cloud(ctx, cloud);
    const mote_status before = mote_context_status(ctx), status = codes_on(device, cloud, lattice, codes);
    if (status == MOTE_OK || !mote_device_falls_back(device, cloud, before, status)) return status;
    return codes_on(mote_cpu_device(ctx), cloud, lattice, codes);
}

static mote_status sort_on(mote_device *device, uint64_t *codes, uint32_t *indices, uint64_t count) {
    const mote_order_ops *ops = device->backend->order;
    if (ops == NULL || ops->sort == NULL) return unsupported(device, "sort");
    return ops->sort(device, codes, indices, count);
}

mote_status mote_order_sort(mote_context *ctx, uint64_t *codes, uint32_t *indices, uint64_t count) {
    if (count > UINT32_MAX) {
        return mote_fail(ctx, MOTE_ERROR_UNSUPPORTED, "%llu points: one sort takes up to 4,294,967,295",
                         (unsigned long long)count);
    }
    mote_device *device = mote_device_choose(ctx, count);
    const mote_status before = mote_context_status(ctx), status = sort_on(device, codes, indices, count);
    if (status == MOTE_OK || !mote_device_falls_back(device, NULL, before, status)) return status;
    return sort_on(mote_cpu_device(ctx), codes, indices, count);
}

static mote_status permute_on(mote_device *device, const void *values, uint32_t size_bytes, uint32_t stride_bytes,
                              const uint32_t *indices, uint64_t count, void *out) {
    const mote_order_ops *ops = device->backend->order;
    if (ops == NULL || ops->permute == NULL) return unsupported(device, "permutation");
    return ops->permute(device, values, size_bytes, stride_bytes, indices, count, out);
}

mote_status mote_order_permute(mote_context *ctx, const void *values, uint32_t size_bytes, uint32_t stride_bytes,
                               const uint32_t *indices, uint64_t count, void *out) {
    if (size_bytes == 0) return mote_fail(ctx, MOTE_ERROR_ARGUMENT, "values of 0 bytes cannot be permuted");
    mote_device *device = mote_device_choose(ctx, count);
    const mote_status before = mote_context_status(ctx);
    const mote_status status = permute_on(device, values, size_bytes, stride_bytes, indices, count, out);
    if (status == MOTE_OK || !mote_device_falls_back(device, NULL, before, status)) return status;
    return permute_on(mote_cpu_device(ctx), values, size_bytes, stride_bytes, indices, count, out);
}
