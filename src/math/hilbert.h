/* From the Morton code of a cell to its place on a Hilbert curve through all cells of 2^21 a side. Consecutive places
   are cells that touch, so runs of points in this order have small boxes, which runs in Morton order, with its jumps,
   have not. A cell of any level is still one range of places: only the eight children of a cell come in another order,
   by one of 24 ways to enter and leave it.
   Source: Hamilton, Rau-Chaplin, Compact Hilbert indices, 2008. */
#ifndef MOTE_HILBERT_H
#define MOTE_HILBERT_H

#include "math/host_device.h"

#define MOTE_HILBERT_WAYS 24u /* 8 corners to enter at, 3 directions to leave in */
#define MOTE_HILBERT_STEP 64u /* octants of two levels, which one look-up settles */

/* For each way and each pair of octants: the place among 64, and the way through the inner one times 64. */
typedef struct mote_hilbert {
    uint16_t next[MOTE_HILBERT_WAYS * MOTE_HILBERT_STEP];
} mote_hilbert;

MOTE_HD uint32_t mote_hilbert_rotate(uint32_t bits, uint32_t by) {
    return (bits << by | bits >> (3 - by)) & 7; /* by < 3 */
}

/* The place of an octant among eight for a way, which becomes the way through that octant. */
MOTE_HD uint32_t mote_hilbert_place(uint32_t octant, uint32_t *way) {
    const uint32_t corner = *way & 7, direction = *way >> 3;
    const uint32_t turned = mote_hilbert_rotate(octant ^ corner, 2 - direction); /* back by direction + 1 */
    const uint32_t place = turned ^ turned >> 1 ^ turned >> 2;                   /* of the Gray code */
    const uint32_t even = place == 0 ? 0 : (place - 1) & ~1u;                    /* entered at this one's Gray code */
    const uint32_t along = place == 0 || place == 7 ? 0 : (place + 1) / 2 % 2 == 1 ? 1 : 2;
    *way = (corner ^ mote_hilbert_rotate(even ^ even >> 1, (direction + 1) % 3)) | ((direction + along + 1) % 3) << 3;
    return place;
}

static inline void mote_hilbert_make(mote_hilbert *table) {
    for (uint32_t way = 0; way < MOTE_HILBERT_WAYS; way++) {
        for (uint32_t octants = 0; octants < MOTE_HILBERT_STEP; octants++) {
            uint32_t inner = way;
            const uint32_t place = 8 * mote_hilbert_place(octants >> 3, &inner);
            const uint32_t both = place + mote_hilbert_place(octants & 7, &inner);
            table->next[way * MOTE_HILBERT_STEP + octants] = (uint16_t)(inner * MOTE_HILBERT_STEP + both);
        }
    }
}

/* The place of a cell; codes of 63 bits, as the curve starts one level above them. */
MOTE_HD uint64_t mote_hilbert_code(const mote_hilbert *table, uint64_t morton) {
    uint64_t code = 0;
    uint32_t way = 0; /* times 64 */
    for (int shift = 60; shift >= 0; shift -= 6) {
        const uint32_t entry = table->next[way + (uint32_t)(morton >> shift & 63)];
        code = code << 6 | (entry & 63);
        way = entry & ~63u;
    }
    return code;
}

#endif
