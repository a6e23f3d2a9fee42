/* The rules of sampling and filtering that every backend shares. */
#ifndef MOTE_LOD_MATH_H
#define MOTE_LOD_MATH_H

#include "math/hash.h"

/* A point's rank in random sampling. It depends on its place and not on the cell or level, so the winner of a cell
   is the best of the winners within, and not on the order of the input; ties go to the first in the order. */
MOTE_HD uint64_t mote_lod_rank(uint64_t seed, uint64_t code) { return mote_hash_pair(seed, code); }

/* The weights of the gaussian filter are products of one number per axis: exp(-x²/0.1) of the distance over the
   largest distance sqrt(3)·1.5 cells is the product over the axes of exp(-d²/0.675). A point's place within its cell
   counts in eighths. The products are rounded to 16 bits: sums of 2^32 colours of 16 bits still fit 64 bits, and the
   smallest weight, that of the far corner of a neighbour, is still told to a fourteenth. */
#define MOTE_LOD_EIGHTHS     8
#define MOTE_LOD_AXIS_BITS   16
#define MOTE_LOD_WEIGHT_BITS 16

typedef struct mote_lod_weights {
    uint32_t axis[3][MOTE_LOD_EIGHTHS]; /* [cell of the target minus cell of the point, plus 1][eighth of the point] */
} mote_lod_weights;

MOTE_HD uint32_t mote_lod_weight(uint64_t x, uint64_t y, uint64_t z) {
    const uint32_t cut = 3 * MOTE_LOD_AXIS_BITS - MOTE_LOD_WEIGHT_BITS;
    return (uint32_t)((x * y * z + ((uint64_t)1 << (cut - 1))) >> cut);
}

/* sum / weight, rounded. weight > 0 */
MOTE_HD uint16_t mote_lod_average(uint64_t sum, uint64_t weight) {
    const uint64_t quotient = sum / weight, rest = sum % weight;
    return (uint16_t)(quotient + (rest >= weight - rest ? 1 : 0));
}

#endif
