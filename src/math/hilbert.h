/* From the Morton code of a cell to its place on a Hilbert curve through all cells of 2^21 a side. Consecutive places
   are cells that touch, so runs of points in this order have small boxes, which runs in Morton order, with its jumps,
   have not. A cell of any level is still one range of places: only the eight children of a cell come in another order.
   Which one the *state* of the cell says: the corner where the curve enters it and the axis along which it leaves.

       state of a cell ──┐
       octant (x y z) ───┴─▶ mote_hilbert_place ─┬─▶ place of the octant among the eight
                                                 └─▶ state of the octant

   A GPU goes along another Hilbert curve, see knn_hilbert_cuda.cuh and docs/history/knn.md, 0011.
   Source: Hamilton, Rau-Chaplin, Compact Hilbert indices, 2008. */
#ifndef MOTE_HILBERT_H
#define MOTE_HILBERT_H

#include "math/host_device.h"

#define MOTE_HILBERT_STATES 24u  /* 8 corners to enter at, 3 axes to leave along; 0 is the state of the whole */
#define MOTE_HILBERT_STEP   512u /* triples of octants: a look-up takes three levels */

/* For each state and triple of octants: the place among 512, and the state of the innermost octant times 512. */
typedef struct mote_hilbert {
    uint16_t next[MOTE_HILBERT_STATES * MOTE_HILBERT_STEP];
} mote_hilbert;

MOTE_HD uint32_t mote_hilbert_rotate(uint32_t bits, uint32_t by) {
    return (bits << by | bits >> (3 - by)) & 7; /* by < 3 */
}

/* The place of an octant among the eight of a cell, whose state becomes that of the octant. */
MOTE_HD uint32_t mote_hilbert_place(uint32_t octant, uint32_t *state) {
    const uint32_t corner = *state & 7, direction = *state >> 3;
    const uint32_t turned = mote_hilbert_rotate(octant ^ corner, 2 - direction); /* back by direction + 1 */
    const uint32_t place = turned ^ turned >> 1 ^ turned >> 2;                   /* of the Gray code */
    const uint32_t even = place == 0 ? 0 : (place - 1) & ~1u;                    /* entered at this one's Gray code */
    const uint32_t along = place == 0 || place == 7 ? 0 : (place + 1) / 2 % 2 == 1 ? 1 : 2;
    *state = (corner ^ mote_hilbert_rotate(even ^ even >> 1, (direction + 1) % 3)) | ((direction + along + 1) % 3) << 3;
    return place;
}

/* Makes a table of one level more, in front of those that a table of `inside` entries a state has; one: that of one
   level. Entries are places, above them states. */
static inline void mote_hilbert_extend(const uint16_t *one, const uint16_t *table, uint32_t inside, uint16_t *to) {
    for (uint32_t i = 0; i < MOTE_HILBERT_STATES * 8; i++, to += inside) {
        const uint32_t place = (one[i] & 7u) * inside;
        const uint16_t *const inner = table + (one[i] >> 3) * inside;
        for (uint32_t j = 0; j < inside; j++) {
            to[j] = (uint16_t)((inner[j] & ~(inside - 1)) << 3 | place | (inner[j] & (inside - 1)));
        }
    }
}

static inline void mote_hilbert_make(mote_hilbert *table) {
    uint16_t one[MOTE_HILBERT_STATES * 8], two[MOTE_HILBERT_STATES * 64];
    for (uint32_t i = 0; i < MOTE_HILBERT_STATES * 8; i++) {
        uint32_t state = i >> 3;
        const uint32_t place = mote_hilbert_place(i & 7, &state);
        one[i] = (uint16_t)(8 * state + place);
    }
    mote_hilbert_extend(one, one, 8, two);
    mote_hilbert_extend(one, two, 64, table->next);
}

/* The state of the first octant of the whole. The curve starts one level above the cells, whose cube is that octant. */
MOTE_HD uint32_t mote_hilbert_first(void) {
    uint32_t state = 0;
    mote_hilbert_place(0, &state);
    return state;
}

/* The place of a cell; codes of 63 bits. */
MOTE_HD uint64_t mote_hilbert_code(const mote_hilbert *table, uint64_t morton) {
    uint64_t code = 0;
    uint32_t state = mote_hilbert_first() * MOTE_HILBERT_STEP;
    for (int shift = 54; shift >= 0; shift -= 9) {
        const uint32_t entry = table->next[state + (uint32_t)(morton >> shift & (MOTE_HILBERT_STEP - 1))];
        code = code << 9 | (entry & (MOTE_HILBERT_STEP - 1));
        state = entry & ~(MOTE_HILBERT_STEP - 1);
    }
    return code;
}

#endif
