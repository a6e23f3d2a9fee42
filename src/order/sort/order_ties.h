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

/* Points that share a code go by coordinates, then by index. Where more than crowd points lie in a cell of a level the
   caller will ask for fine codes, which put them in order as well, and many of them need not be sorted before;
   crowd 0: nobody will. */
typedef struct order_ties {
    uint64_t crowd;
    uint32_t crowd_level;
} order_ties;

#ifdef __cplusplus
}
#endif
#endif
