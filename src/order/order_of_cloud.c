/* The points of a cloud by Morton code. A cloud carries what is known of it:

     prepared   codes    made while points were read, in their order: handed on to whoever sorts them first
                kept     lattice, codes and points in order, 12 bytes a point, for clouds whose points stay where they
                         are: made by the first who asks, copied for the next

   A cloud that is not changed may be read by several contexts at once: whoever takes or leaves something holds the lock
   of the cloud's own. */
#include "order/order_of_cloud.h"

#include "device/backend.h"
#include "order/lattice/lattice.h"
#include "order/order_ops.h"

void order_of_cloud_free(mote_context *ctx, order_of_cloud *order) {
    mote_free(ctx, order->codes);
    mote_free(ctx, order->order);
    memset(order, 0, sizeof *order);
}

static mote_status reserve(mote_context *ctx, uint64_t count, order_of_cloud *out) {
    if (out->codes == NULL) out->codes = mote_alloc(ctx, count * sizeof *out->codes, "codes");
    out->order = mote_alloc(ctx, count * sizeof *out->order, "order");
    return out->codes != NULL && out->order != NULL ? MOTE_OK : MOTE_ERROR_MEMORY;
}

/* ---- what a cloud has */

/* The codes that reading made; NULL if there are none, or if the positions are no longer as they were read. */
static uint64_t *take_codes(mote_cloud *cloud, mote_lattice *lattice) {
    const mote_column *axes[3];
    if (cloud->prepared.codes == NULL || mote_order_lattice(cloud->ctx, cloud, lattice, NULL) != MOTE_OK) return NULL;
    if (!lattice_is_plain(cloud, axes)) return NULL;
    pthread_mutex_lock(&cloud->ctx->lock);
    uint64_t *codes = cloud->prepared.codes;
    cloud->prepared.codes = NULL;
    pthread_mutex_unlock(&cloud->ctx->lock);
    return codes;
}

/* What it keeps; order NULL: nothing yet. */
static order_of_cloud kept_by(mote_cloud *cloud) {
    pthread_mutex_lock(&cloud->ctx->lock);
    const mote_prepared *prepared = &cloud->prepared;
    const order_of_cloud kept = {prepared->lattice, prepared->skipped, prepared->sorted_codes, prepared->order};
    pthread_mutex_unlock(&cloud->ctx->lock);
    return kept;
}

static mote_status copy(mote_context *ctx, uint64_t count, const order_of_cloud *from, order_of_cloud *to) {
    to->lattice = from->lattice;
    to->skipped = from->skipped;
    MOTE_TRY(reserve(ctx, count, to));
    memcpy(to->codes, from->codes, count * sizeof *to->codes);
    memcpy(to->order, from->order, count * sizeof *to->order);
    return MOTE_OK;
}

static mote_status keep(mote_cloud *cloud, const order_of_cloud *made) {
    mote_prepared *prepared = &cloud->prepared;
    order_of_cloud kept = {.skipped = 0};
    const mote_status status = copy(cloud->ctx, cloud->count, made, &kept);
    pthread_mutex_lock(&cloud->ctx->lock);
    const bool is_first = status == MOTE_OK && prepared->order == NULL;
    if (is_first) {
        prepared->lattice = kept.lattice;
        prepared->skipped = kept.skipped;
        prepared->sorted_codes = kept.codes;
        prepared->order = kept.order;
    }
    pthread_mutex_unlock(&cloud->ctx->lock);
    if (!is_first) order_of_cloud_free(cloud->ctx, &kept);
    return status;
}

/* ---- the order */

static mote_status make(mote_context *ctx, mote_cloud *cloud, order_of_cloud *out) {
    const mote_order_ops *ops = mote_cpu_device(ctx)->backend->order;
    const order_of_cloud kept = kept_by(cloud);
    if (kept.order != NULL) {
        mote_stage(ctx, "sort");
        return copy(ctx, cloud->count, &kept, out);
    }
    out->codes = take_codes(cloud, &out->lattice);
    const bool has_codes = out->codes != NULL;
    if (!has_codes) {
        mote_stage(ctx, "bounds");
        MOTE_TRY(mote_order_lattice(ctx, cloud, &out->lattice, &out->skipped));
        MOTE_TRY(mote_progress(ctx, 0.15, "finding the bounds"));
    }
    MOTE_TRY(reserve(ctx, cloud->count, out));
    if (!has_codes) {
        mote_stage(ctx, "codes");
        MOTE_TRY(ops->codes(mote_cpu_device(ctx), cloud, &out->lattice, out->codes));
        MOTE_TRY(mote_progress(ctx, 0.35, "computing Morton codes"));
    }
    mote_stage(ctx, "sort");
    MOTE_TRY(ops->sort(mote_cpu_device(ctx), out->codes, out->order, cloud->count));
    return cloud->prepared.keeps_order ? keep(cloud, out) : MOTE_OK;
}

mote_status order_of_cloud_make(mote_context *ctx, const mote_cloud *cloud, order_of_cloud *out) {
    memset(out, 0, sizeof *out);
    mote_status status = mote_cloud_need_host(ctx, cloud, "the Morton order on the CPU");
    /* What a cloud has of its order is no part of what it says. */
    if (status == MOTE_OK) status = make(ctx, (mote_cloud *)(uintptr_t)cloud, out);
    if (status == MOTE_OK) status = mote_progress(ctx, 1, "sorting");
    if (status != MOTE_OK) order_of_cloud_free(ctx, out);
    return status;
}
