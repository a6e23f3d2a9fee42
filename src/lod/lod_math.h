/* The rules of sampling and filtering that every backend shares. */
#ifndef MOTE_LOD_MATH_H
#define MOTE_LOD_MATH_H

#include <math.h>

#include "math/hash.h"
#include "math/morton.h"

/* A point's rank in random sampling. It depends on its place and not on the cell or level, so the
   representative of a cell is the best of those of the cells within, and not on the order of the input; ties go to the
   first in the order. */
MOTE_HD uint64_t mote_lod_rank(uint64_t seed, uint64_t code) { return mote_hash_pair(seed, code); }

#define MOTE_LOD_NEVER 255u /* lost at no level */

/* The finest level at which two codes share a cell. */
MOTE_HD uint32_t mote_lod_shared_level(uint64_t a, uint64_t b) {
    const uint64_t difference = a ^ b;
#if defined(__CUDA_ARCH__)
    /* The half that counts decides; where both are 0, 32 zeros are counted, which gives the level of single codes. */
    const uint32_t high = (uint32_t)(difference >> 32), half = high != 0 ? high : (uint32_t)difference;
    const uint32_t zeros = (uint32_t)__clz((int)half);
    return (zeros + (high != 0 ? 0 : 32) - 1) * 171 >> 9; /* a third */
#else
    if (difference == 0) return MOTE_MORTON_BITS;
    return (uint32_t)(__builtin_clzll(difference) - 1) / 3;
#endif
}

/* The level of the octree that chooses a point first, from the finest level of cells at which a better point is in its
   cell. Cells of level l + grid_bits, or of single codes, are the sampling grid of level l. */
MOTE_HD uint32_t mote_lod_chosen(uint32_t lost, uint32_t leaf_level, uint32_t grid_bits) {
    if (lost == MOTE_LOD_NEVER || lost + 1 < grid_bits) return 0;
    if (lost >= MOTE_MORTON_BITS) return leaf_level;
    return lost + 1 - grid_bits < leaf_level ? lost + 1 - grid_bits : leaf_level;
}

/* Whether a node that is to be divided needs fine codes: because its points have one code, or because its sampling
   cells, grid_bits levels below its own, are finer than those of codes. */
MOTE_HD bool mote_lod_needs_fine(uint32_t level, uint32_t grid_bits, bool one_code) {
    return one_code || level + grid_bits > MOTE_MORTON_BITS;
}

/* The coarsest level at which each node that is to be divided needs fine codes. */
static inline uint32_t mote_lod_fine_level(uint32_t grid_bits) {
    return grid_bits == 0 ? MOTE_MORTON_BITS : MOTE_MORTON_BITS + 1 - grid_bits;
}

/* A prefix of a node's code: the last 63 bits. */
MOTE_HD uint64_t mote_lod_child_prefix(uint64_t prefix, uint64_t octant) {
    return (prefix << 3 | octant) & ((1ull << 3 * MOTE_MORTON_BITS) - 1);
}

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

/* Made on the host for every backend: exp may differ elsewhere. */
static inline mote_lod_weights mote_lod_gaussian(void) {
    mote_lod_weights weights;
    for (int cell = 0; cell < 3; cell++) {
        for (int eighth = 0; eighth < MOTE_LOD_EIGHTHS; eighth++) {
            const double d = cell - 1 + 0.5 - (eighth + 0.5) / MOTE_LOD_EIGHTHS;
            weights.axis[cell][eighth] = (uint32_t)lrint(exp(-d * d / 0.675) * (1 << MOTE_LOD_AXIS_BITS));
        }
    }
    return weights;
}

/* The place of a point within its cell of a level, in eighths; the middle where the code has no finer bits. */
MOTE_HD void mote_lod_eighths(uint64_t code, uint32_t level, uint32_t eighth[3]) {
    const uint32_t remaining = MOTE_MORTON_BITS - level;
    const uint32_t bits = remaining < 3 ? remaining : 3;
    const uint64_t within = code >> (3 * (remaining - bits)) & ((1u << 3 * bits) - 1);
    const uint32_t middle = (1u << (3 - bits)) >> 1;
    eighth[0] = mote_morton_compact(within >> 2) << (3 - bits) | middle;
    eighth[1] = mote_morton_compact(within >> 1) << (3 - bits) | middle;
    eighth[2] = mote_morton_compact(within) << (3 - bits) | middle;
}

/* sum / weight, rounded. weight > 0 */
MOTE_HD uint16_t mote_lod_average(uint64_t sum, uint64_t weight) {
    const uint64_t quotient = sum / weight, rest = sum % weight;
    return (uint16_t)(quotient + (rest >= weight - rest ? 1 : 0));
}

#endif
