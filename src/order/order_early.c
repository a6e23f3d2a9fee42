#include "order/order_early.h"

#include "backend/backend.h"
#include "order/lattice.h"
#include "order/order_ops.h"

/* The box of the points that a thread visited; threads write to their own cache lines. */
typedef struct early_box {
    int32_t low[3], high[3];
    uint8_t apart[40];
} early_box;

struct order_early {
    mote_context *ctx;
    const mote_order_ops *ops;
    const mote_cloud *cloud;
    const mote_column *axes[3];
    mote_lattice lattice;
    int32_t low[3], high[3]; /* as stated */
    uint64_t *codes;
    early_box *boxes; /* per thread */
};

static void early_free(order_early *early) {
    mote_context *ctx = early->ctx;
    mote_free(ctx, early->codes);
    mote_free(ctx, early->boxes);
    mote_free(ctx, early);
}

static mote_status early_alloc(order_early *early, uint64_t count) {
    mote_context *ctx = early->ctx;
    early->codes = mote_alloc(ctx, count * sizeof *early->codes, "codes");
    early->boxes = mote_alloc(ctx, (uint64_t)ctx->threads * sizeof *early->boxes, "codes");
    if (early->codes == NULL || early->boxes == NULL) return MOTE_ERROR_MEMORY;
    for (int t = 0; t < ctx->threads; t++) {
        for (int k = 0; k < 3; k++) {
            early->boxes[t].low[k] = INT32_MAX;
            early->boxes[t].high[k] = INT32_MIN;
        }
    }
    return MOTE_OK;
}

mote_status order_early_begin(mote_context *ctx, const mote_cloud *cloud, uint64_t count, const int32_t low[3],
                              const int32_t high[3], order_early **out) {
    const mote_order_ops *ops = mote_backend_for(ctx, count)->order;
    const mote_column *axes[3];
    *out = NULL;
    if (ops == NULL || ops->codes_of == NULL || count == 0 || !lattice_is_plain(cloud, axes)) return MOTE_OK;
    order_early *early = mote_alloc_zero(ctx, sizeof *early, "codes");
    if (early == NULL) return MOTE_ERROR_MEMORY;
    int64_t wide_low[3], wide_high[3];
    early->ctx = ctx;
    early->ops = ops;
    early->cloud = cloud;
    for (int k = 0; k < 3; k++) {
        early->axes[k] = axes[k];
        wide_low[k] = early->low[k] = low[k];
        wide_high[k] = early->high[k] = high[k];
    }
    lattice_of_box(axes, wide_low, wide_high, &early->lattice);
    const mote_status status = early_alloc(early, count);
    if (status != MOTE_OK) {
        early_free(early);
        return status;
    }
    *out = early;
    return MOTE_OK;
}

void order_early_visit(order_early *early, uint64_t first, uint64_t count) {
    early_box *box = &early->boxes[mote_thread_number()];
    for (int k = 0; k < 3; k++) {
        const mote_column *axis = early->axes[k];
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
    early->ops->codes_of(early->cloud, &early->lattice, first, count, early->codes);
}

void order_early_end(order_early *early, mote_cloud *cloud, bool complete) {
    if (early == NULL) return;
    mote_prepared *prepared = &cloud->prepared;
    bool as_stated = complete;
    for (int k = 0; k < 3 && complete; k++) {
        prepared->low[k] = early->boxes[0].low[k];
        prepared->high[k] = early->boxes[0].high[k];
        for (int t = 1; t < early->ctx->threads; t++) {
            const early_box *box = &early->boxes[t];
            prepared->low[k] = box->low[k] < prepared->low[k] ? box->low[k] : prepared->low[k];
            prepared->high[k] = box->high[k] > prepared->high[k] ? box->high[k] : prepared->high[k];
        }
        as_stated = as_stated && prepared->low[k] == early->low[k] && prepared->high[k] == early->high[k];
    }
    prepared->box_known = complete;
    if (as_stated) {
        prepared->codes = early->codes;
        early->codes = NULL;
    }
    early_free(early);
}

uint64_t *order_early_take(mote_cloud *cloud, mote_lattice *lattice) {
    uint64_t *codes = cloud->prepared.codes;
    const mote_column *axes[3];
    if (codes == NULL || mote_order_lattice(cloud->ctx, cloud, lattice, NULL) != MOTE_OK) return NULL;
    if (!lattice_is_plain(cloud, axes)) return NULL;
    cloud->prepared.codes = NULL;
    return codes;
}
