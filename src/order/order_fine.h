/* Cells below the finest ones of a code. A code tells the cells of 21 levels, but lattice coordinates have up to 31
   bits: where 21 levels leave too many points in one cell, a second code of each point, the fine one, goes on.

     level        0          10          21         31
     code         ├──────────┼───────────┤              cells of 2^21 a side
     fine code               ├───────────┼──────────┤   cells of 2^31 a side, counted from the cell of level 10

   Both have 63 bits. The levels that they share let an algorithm look a whole grid of cells into depth by one of them
   alone. Points are then sorted by code, those that share one by fine code. */
#ifndef MOTE_ORDER_FINE_H
#define MOTE_ORDER_FINE_H

#include "core/core.h"
#include "math/morton.h"
#include "mote/order.h"

#ifdef __cplusplus
extern "C" {
#endif

#define ORDER_FINE_FIRST 10u /* the level whose cells fine codes begin at */
#define ORDER_FINE_BITS  31u /* of an axis: the finest level */

/* Whether points of one code can differ. */
bool order_is_divisible(const mote_lattice *lattice);

/* Whether points of one fine code, and one code, are in one place: no axis has more than 2^31 steps. */
bool order_fine_tells_all(const mote_lattice *lattice);

/* Fine codes by sorted position, and the order of points that share a code by them; what shares both stays as it is.
   codes  [count] sorted, and order as mote_order_sort gives them
   fine   out: [count], the caller's to free */
mote_status order_fine_codes(mote_context *ctx, const mote_cloud *cloud, const mote_lattice *lattice,
                             const uint64_t *codes, uint32_t *order, uint64_t count, uint64_t **fine);

/* The code of the cell of level ORDER_FINE_FIRST that a code lies in. */
MOTE_HD uint32_t order_fine_above(uint64_t code) {
    return (uint32_t)(code >> 3 * (MOTE_ORDER_BITS - ORDER_FINE_FIRST));
}

/* The fine code of lattice coordinates. */
MOTE_HD uint64_t order_fine_code(const uint32_t steps[3], const mote_cell_divisor by[3]) {
    return mote_morton_encode(mote_cell_among(steps[0], by[0], ORDER_FINE_BITS),
                              mote_cell_among(steps[1], by[1], ORDER_FINE_BITS),
                              mote_cell_among(steps[2], by[2], ORDER_FINE_BITS));
}

#ifdef __cplusplus
}
#endif
#endif
