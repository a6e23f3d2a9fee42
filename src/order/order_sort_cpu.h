#ifndef MOTE_ORDER_SORT_CPU_H
#define MOTE_ORDER_SORT_CPU_H

#include "core/core.h"

/* mote_order_sort on CPU cores. */
mote_status order_sort_cpu(mote_context *ctx, uint64_t *codes, uint32_t *indices, uint64_t count);

#endif
