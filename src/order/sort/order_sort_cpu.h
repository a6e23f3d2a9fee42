#ifndef MOTE_ORDER_SORT_CPU_H
#define MOTE_ORDER_SORT_CPU_H

#include "core/core.h"

#define ORDER_PAIR_BYTES 12u

/* What a sort works in. */
typedef struct order_scratch {
    void *pairs;        /* ORDER_PAIR_BYTES a pair, aligned to 8 */
    uint32_t *counters; /* the more there are, the more threads take part from the start: see order_counters */
    uint64_t counter_count;
} order_scratch;

/* The number of counters that a sort of this many pairs uses. */
uint64_t order_counters(const mote_context *ctx, uint64_t count);

/* mote_order_sort on CPU cores, in memory of the caller's. given: the indices are the caller's too and move with their
   codes; else they are 0, 1, 2 and so on. */
mote_status order_sort_in(mote_context *ctx, uint64_t *codes, uint32_t *indices, uint64_t count, bool given,
                          const order_scratch *scratch);
/* By the calling thread alone, with indices that move with their codes; any number of threads may do so at once.
   scratch  room for count pairs, aligned to 8 */
void order_sort_alone(uint64_t *codes, uint32_t *indices, uint64_t count, void *scratch);
/* mote_order_sort on CPU cores. */
mote_status order_sort_cpu(mote_context *ctx, uint64_t *codes, uint32_t *indices, uint64_t count);

#endif
