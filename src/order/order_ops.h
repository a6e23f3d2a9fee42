/* What a backend supplies for the Morton order. */
#ifndef MOTE_ORDER_OPS_H
#define MOTE_ORDER_OPS_H

#include "core/core.h"
#include "mote/order.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mote_order_ops {
    mote_status (*codes)(mote_device *device, const mote_cloud *cloud, const mote_lattice *lattice, uint64_t *codes);
    /* The codes of points [first, first + count) alone, on the calling thread, for order_streaming.h; NULL if the
       backend computes elsewhere. */
    void (*codes_of)(const mote_cloud *cloud, const mote_lattice *lattice, uint64_t first, uint64_t count,
                     uint64_t *codes);
    mote_status (*sort)(mote_device *device, uint64_t *codes, uint32_t *indices, uint64_t count);
    /* The box of all points with finite coordinates; min > max if there is none. */
    mote_status (*bounds)(mote_device *device, const mote_cloud *cloud, mote_box *box);
    mote_status (*permute)(mote_device *device, const void *values, uint32_t size_bytes, uint32_t stride_bytes,
                           const uint32_t *indices, uint64_t count, void *out);
} mote_order_ops;

extern const mote_order_ops mote_order_cpu;
extern const mote_order_ops mote_order_on_cuda;

#ifdef __cplusplus
}
#endif
#endif
