#ifndef MOTE_ORDER_TIES_H
#define MOTE_ORDER_TIES_H

#include "mote/order.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Puts points that share a code into the order of their lattice coordinates, then of their indices: where a code's
   cell is wider than a step, the order would else depend on that of the input. Nothing to do for smaller clouds.
   codes and indices are those that mote_order_sort gave. */
mote_status order_settle_ties(mote_context *ctx, const mote_cloud *cloud, const mote_lattice *lattice,
                              const uint64_t *codes, uint32_t *indices, uint64_t count);

#ifdef __cplusplus
}
#endif
#endif
