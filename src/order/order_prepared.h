/* What a cloud keeps of its order from when it was read; see order_streaming.h. */
#ifndef MOTE_ORDER_PREPARED_H
#define MOTE_ORDER_PREPARED_H

#include "core/cloud.h"
#include "mote/order.h"

/* The lattice and codes that the cloud keeps, handed on; NULL if it has none. */
uint64_t *order_prepared_take(mote_cloud *cloud, mote_lattice *lattice);

#endif
