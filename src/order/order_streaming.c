#include "order/order_streaming.h"

#include "device/backend.h"
#include "order/lattice/lattice.h"
#include "order/order_ops.h"

/* The box of the points that a thread visited; threads write to their own cache lines. */
typedef struct streaming_box {
    int32_t low[3], high[3];
    uint8_t padding[40];
} streaming_box;

struct order_streaming {
    mote_context *ctx;
    const mote_order_ops *ops;
    const mote_cloud *cloud;
    const mote_column *axes[3];
    mote_lattice lattice;
    int32_t low[3], high[3]; /* as stated */
    uint64_t *codes;
    streaming_box *boxes; /* per thread */
};

static void streaming_free(order_streaming *streaming) {
    mote_context *ctx = streaming->ctx;
    mote_free(ctx, streaming->codes);
    mote_free(ctx, streaming->boxes);
    mote_free(ctx, streaming);
}

static mote_status streaming_alloc(order_streaming *streaming, uint64_t count) {
    mote_context *ctx = streaming->ctx;
    streaming->codes = mote_alloc(ctx, count * sizeof *streaming->codes, "codes");
    streaming->boxes = mote_alloc(ctx, (uint64_t)ctx->threads * sizeof *streaming->boxes, "codes");
    if (streaming->codes == NULL || streaming->boxes == NULL) return MOTE_ERROR_MEMORY;
    for (int t = 0; t < ctx->threads; t++) {
        for (int k = 0; k < 3; k++) {
            streaming->boxes[t].low[k] = INT32_MAX;
            streaming->boxes[t].high[k] = INT32_MIN;
        }
    }
    return MOTE_OK;
}

mote_status order_streaming_begin(mote_context *ctx, const mote_cloud *cloud, uint64_t count, const int32_t low[3],
                                  const int32_t high[3], order_streaming **out) {
    const mote_order_ops *ops = mote_device_choose(ctx, count)->backend->order;
    const mote_column *axes[3];
    *out = NULL;
    if (ops == NULL || ops->codes_of == NULL || count == 0 || !lattice_is_plain(cloud, axes)) return MOTE_OK;
    order_streaming *streaming = mote_alloc_zero(ctx, sizeof *streaming, "codes");
    if (streaming == NULL) return MOTE_ERROR_MEMORY;
    int64_t wide_low[3], wide_high[3];
    streaming->ctx = ctx;
    streaming->ops = ops;
    streaming->cloud = cloud;
    for (int k = 0; k < 3; k++) {
        streaming->axes[k] = axes[k];
        wide_low[k] = streaming->low[k] = low[k];
        wide_high[k] = streaming->high[k] = high[k];
    }
    lattice_of_box(axes, wide_low, wide_high, &streaming->lattice);
    const mote_status status = streaming_alloc(streaming, count);
    if (status != MOTE_OK) {
        streaming_free(streaming);
        return status;
    }
    *out = streaming;
    return MOTE_OK;
}

void order_streaming_visit(order_streaming *streaming, uint64_t first, uint64_t count) {
    streaming_box *box = &streaming->boxes[mote_thread_number()];
    for (int k = 0; k < 3; k++) {
        const mote_column *axis = streaming->axes[k];
        int32_t low = box->low[k], high = box->high[k];
        for (uint64_t i = first; i < first + count; i++) {
            int32_t v;
            memcpy(&v, mote_column_at(axis, i), sizeof v);
            low = v < low ? v : low;
            high = v > high ? v : high;
        }
        box->low[k] = low;
        box->high[k] = high;
    }
    streaming->ops->codes_of(streaming->cloud, &streaming->lattice, first, count, streaming->codes);
}

void order_streaming_end(order_streaming *streaming, mote_cloud *cloud, bool complete) {
    if (streaming == NULL) return;
    mote_prepared *prepared = &cloud->prepared;
    bool as_stated = complete;
    for (int k = 0; k < 3 && complete; k++) {
        prepared->low[k] = streaming->boxes[0].low[k];
        prepared->high[k] = streaming->boxes[0].high[k];
        for (int t = 1; t < streaming->ctx->threads; t++) {
            const streaming_box *box = &streaming->boxes[t];
            prepared->low[k] = box->low[k] < prepared->low[k] ? box->low[k] : prepared->low[k];
            prepared->high[k] = box->high[k] > prepared->high[k] ? box->high[k] : prepared->high[k];
        }
        as_stated = as_stated && prepared->low[k] == streaming->low[k] && prepared->high[k] == streaming->high[k];
    }
    prepared->box_known = complete;
    if (as_stated) {
        prepared->codes = streaming->codes;
        streaming->codes = NULL;
    }
    streaming_free(streaming);
}
