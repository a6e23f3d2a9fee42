/* Morton codes: of places, and those of a cell among sorted ones. */
#include "math/morton.h"
#include "math/search.h"
#include "mote/order.h"

uint64_t mote_morton_code(uint32_t x, uint32_t y, uint32_t z) { return mote_morton_encode(x, y, z); }

void mote_morton_coordinates(uint64_t code, uint32_t xyz[3]) {
    xyz[0] = mote_morton_compact(code >> 2);
    xyz[1] = mote_morton_compact(code >> 1);
    xyz[2] = mote_morton_compact(code);
}

void mote_order_range(const uint64_t *codes, uint64_t count, uint64_t prefix, uint32_t level, uint64_t *first,
                      uint64_t *last) {
    const uint32_t below = 3 * (MOTE_ORDER_BITS - (level < MOTE_ORDER_BITS ? level : MOTE_ORDER_BITS));
    *first = mote_lower_bound64(codes, count, prefix << below);
    *last = *first + mote_lower_bound64(codes + *first, count - *first, (prefix + 1) << below);
}
