/* The Morton order, public entries: validate, dispatch. */
#include "mote/order.h"

#include "backend/backend.h"
#include "core/cloud.h"
#include "math/morton.h"
#include "order/order_ops.h"

uint64_t mote_morton_code(uint32_t x, uint32_t y, uint32_t z) { return mote_morton_encode(x, y, z); }

void mote_morton_coordinates(uint64_t code, uint32_t xyz[3]) {
    xyz[0] = mote_morton_compact(code >> 2);
    xyz[1] = mote_morton_compact(code >> 1);
    xyz[2] = mote_morton_compact(code);
}

static mote_status unsupported(mote_context *ctx, const char *what) {
    return mote_fail(ctx, MOTE_ERROR_UNSUPPORTED, "the %s backend has no %s", ctx->backend->name, what);
}

mote_status mote_order_codes(mote_context *ctx, const mote_cloud *cloud, const mote_lattice *lattice, uint64_t *codes) {
    if (ctx->backend->order == NULL || ctx->backend->order->codes == NULL) return unsupported(ctx, "Morton codes");
    MOTE_TRY(ctx->backend->order->codes(ctx, cloud, lattice, codes));
    return mote_cloud_check(cloud);
}

mote_status mote_order_sort(mote_context *ctx, uint64_t *codes, uint32_t *indices, uint64_t count) {
    if (count > UINT32_MAX) {
        return mote_fail(ctx, MOTE_ERROR_UNSUPPORTED, "%llu points: one sort takes up to 4,294,967,295",
                         (unsigned long long)count);
    }
    if (ctx->backend->order == NULL || ctx->backend->order->sort == NULL) return unsupported(ctx, "sort");
    return ctx->backend->order->sort(ctx, codes, indices, count);
}

mote_status mote_order_permute(mote_context *ctx, const void *values, uint32_t size_bytes, uint32_t stride_bytes,
                               const uint32_t *indices, uint64_t count, void *out) {
    if (size_bytes == 0) return mote_fail(ctx, MOTE_ERROR_ARGUMENT, "values of 0 bytes cannot be permuted");
    if (ctx->backend->order == NULL || ctx->backend->order->permute == NULL) return unsupported(ctx, "permutation");
    return ctx->backend->order->permute(ctx, values, size_bytes, stride_bytes, indices, count, out);
}

/* The first of sorted codes that is at least code. */
static uint64_t lower_bound(const uint64_t *codes, uint64_t count, uint64_t code) {
    uint64_t low = 0, high = count;
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        if (codes[middle] < code) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

void mote_order_range(const uint64_t *codes, uint64_t count, uint64_t prefix, uint32_t level, uint64_t *first,
                      uint64_t *last) {
    const uint32_t below = 3 * (MOTE_ORDER_BITS - (level < MOTE_ORDER_BITS ? level : MOTE_ORDER_BITS));
    *first = lower_bound(codes, count, prefix << below);
    *last = *first + lower_bound(codes + *first, count - *first, (prefix + 1) << below);
}
