/* Stands for steps whose .cu files are not there yet: weak, so that they give way. To be deleted with the last. */
#include "lod/lod_cuda.h"
#include "order/order_cuda.h"
#include "order/order_ties.h"

#define WEAK __attribute__((weak))

WEAK mote_status lod_cuda_poisson(mote_lod *lod, lod_cuda *) {
    return mote_fail(lod->ctx, MOTE_ERROR_UNSUPPORTED, "no poisson sampling yet");
}

WEAK mote_status lod_cuda_filter(mote_lod *lod, lod_cuda *) {
    return mote_fail(lod->ctx, MOTE_ERROR_UNSUPPORTED, "no colour filter yet");
}

static mote_context *cpu_context(void) {
    mote_context_params params = mote_context_defaults();
    mote_context *ctx = nullptr;
    params.device = MOTE_DEVICE_CPU;
    return mote_context_create(&params, &ctx) == MOTE_OK ? ctx : nullptr;
}

WEAK mote_status order_cuda_lattice(const cuda_cloud *device, mote_lattice *lattice, uint64_t *skipped) {
    mote_context *ctx = cpu_context();
    mote_cloud *cloud = nullptr;
    MOTE_TRY(mote_cloud_wrap(ctx, device->count, device->columns, device->column_count, &cloud));
    const mote_status status = mote_order_lattice(ctx, cloud, lattice, skipped);
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
    return status;
}

WEAK mote_status order_cuda_build(const cuda_cloud *device, const mote_lattice *lattice, uint64_t skipped, bool ties,
                                  uint64_t **codes, uint32_t **order) {
    mote_context *ctx = cpu_context();
    mote_cloud *cloud = nullptr;
    MOTE_TRY(mote_cloud_wrap(ctx, device->count, device->columns, device->column_count, &cloud));
    uint64_t *all = (uint64_t *)mote_alloc(ctx, device->count * sizeof *all, "codes");
    uint32_t *indices = (uint32_t *)mote_alloc(ctx, device->count * sizeof *indices, "order");
    const uint64_t count = device->count - skipped;
    mote_status status = mote_order_codes(ctx, cloud, lattice, all);
    if (status == MOTE_OK) status = mote_order_sort(ctx, all, indices, device->count);
    if (status == MOTE_OK && ties) status = order_settle_ties(ctx, cloud, lattice, all, indices, count);
    *codes = (uint64_t *)cuda_alloc(device->ctx, count * sizeof **codes, "codes");
    *order = (uint32_t *)cuda_alloc(device->ctx, count * sizeof **order, "order");
    memcpy(*codes, all, count * sizeof **codes);
    memcpy(*order, indices, count * sizeof **order);
    mote_free(ctx, all);
    mote_free(ctx, indices);
    mote_cloud_destroy(cloud);
    mote_context_destroy(ctx);
    return status;
}
