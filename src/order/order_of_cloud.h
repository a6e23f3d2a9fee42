/* The points of a cloud by Morton code, for every step on CPU cores that asks for them in this order. */
#ifndef MOTE_ORDER_OF_CLOUD_H
#define MOTE_ORDER_OF_CLOUD_H

#include "core/cloud.h"
#include "mote/order.h"

typedef struct order_of_cloud {
    mote_lattice lattice;
    uint64_t skipped; /* points without a finite place: they have the largest code, and stand last */
    uint64_t *codes;  /* [points] ascending; mote_free */
    uint32_t *order;  /* [points]: the points, those of one code as the cloud has them; mote_free */
} order_of_cloud;

/* Sorts the points of a cloud. What the cloud has of it from before is taken: codes that were made while it was read
   (order_streaming.h), or, where it keeps its order (mote_cloud_keep_order), all. On failure nothing is to be freed.
   Progress goes from 0 to 1; stages are bounds, codes and sort. */
mote_status order_of_cloud_make(mote_context *ctx, const mote_cloud *cloud, order_of_cloud *out);
void order_of_cloud_free(mote_context *ctx, order_of_cloud *order);

#endif
