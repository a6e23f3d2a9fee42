/* What tests of the Morton order share: a cloud's order on the CPU and on the GPU. */
#ifndef MOTE_ORDER_PARITY_SUPPORT_H
#define MOTE_ORDER_PARITY_SUPPORT_H

#include "parity/parity_support.h"

#define ORDER_TEST_TILE 2048 /* points that a block of the sort takes */

typedef struct order_contexts {
    mote_context *cpu, *gpu;
} order_contexts;
order_contexts order_open(void);
void order_close(order_contexts c);

/* Zeros, one more than count; for free(). */
void *order_take(uint64_t count, size_t size);
/* A cloud of three columns, whose names are given here. */
mote_cloud *order_wrap(mote_context *ctx, uint64_t n, const mote_column axes[3]);

/* The order by the CPU. */
typedef struct order_expected {
    mote_lattice lattice;
    uint64_t skipped, count;
    uint64_t *codes, *sorted; /* of all points; of those with a place */
    uint32_t *order[2];       /* without ties settled, and with */
} order_expected;
/* false: the cloud has no lattice. */
bool order_expect(mote_context *cpu, const mote_cloud *cloud, order_expected *e);
void order_expected_free(order_expected *e);

/* Lattice, codes and order on the GPU are those of the CPU, with ties settled and not, with the points copied by sorted
   position and not; and so is the copy. Returns whether there was one. */
bool order_check(order_contexts c, const mote_cloud *cloud, const char *name);

#endif
