/* The lattice coordinates of one point, and its cell; one copy for C and CUDA. */
#ifndef MOTE_LATTICE_MATH_H
#define MOTE_LATTICE_MATH_H

#include <math.h>

#include "core/column_math.h"
#include "math/morton.h"
#include "mote/order.h"

/* Whole 32-bit integers, which need no conversion. */
MOTE_HD bool lattice_axis_is_plain(const mote_column *axis) { return axis->type == MOTE_INT32 && axis->bit_count == 0; }

/* A difference of stored integers in steps of 2^shift, rounded. */
MOTE_HD uint64_t lattice_step(uint64_t difference, uint32_t shift) {
    return shift == 0 ? difference : (difference >> shift) + (difference >> (shift - 1) & 1);
}

MOTE_HD uint32_t lattice_integer_step(int64_t stored, int64_t source_min, uint32_t shift) {
    return (uint32_t)lattice_step((uint64_t)stored - (uint64_t)source_min, shift);
}

/* Zero for a value outside the lattice: beside a coordinate that is not finite, the others may lie anywhere, for the
   bounds do not know them. */
MOTE_HD uint32_t lattice_real_step(double value, double scale, int64_t min, uint64_t extent) {
    const double p = rint(value / scale) - (double)min; /* both below 2^53: exact */
    return p >= 0 && p <= (double)extent ? (uint32_t)p : 0;
}

/* mote_cell_of with 32-bit products, which is what a GPU multiplies; all of p < 2^32 are right. The estimate is below
   p · 2^21 / side by less than 2^-9, so that one step mends its floor. */
MOTE_HD uint32_t lattice_cell(uint32_t p, mote_cell_divisor by) {
    if (by.side > 1ull << 31) return mote_cell_of(p, by);
    const uint64_t high = (uint64_t)p * (uint32_t)(by.reciprocal >> 32);
    const uint64_t low = (uint64_t)p * (uint32_t)by.reciprocal;
    const uint64_t estimate = (high + (low >> 32)) >> 11;
    if (estimate >= MOTE_MORTON_MASK) return MOTE_MORTON_MASK;
    const uint32_t cell = (uint32_t)estimate, side = (uint32_t)by.side;
    return cell + (uint32_t)((p << MOTE_MORTON_BITS) - cell * side >= side); /* the rest is below 2 · side */
}

/* Division by a side of up to 2^31 with one 32-bit product, for kernels. */
typedef struct lattice_divisor {
    uint32_t side, reciprocal; /* of the side moved up by shift: then its highest bit is set */
    uint32_t shift;
} lattice_divisor;

MOTE_HD bool lattice_divisor_fits(uint64_t side) { return side >= 1 && side <= 1ull << 31; }

static inline lattice_divisor lattice_divisor_make(uint32_t side) {
    lattice_divisor d;
    d.side = side;
    d.shift = 0;
    while ((uint32_t)(side << d.shift) >> 31 == 0) d.shift++;
    const uint64_t reciprocal = (1ull << 63) / (uint32_t)(side << d.shift);
    d.reciprocal = reciprocal > UINT32_MAX ? UINT32_MAX : (uint32_t)reciprocal;
    return d;
}

/* mote_cell_of. The estimate is below p · 2^21 / side by less than 2^-10 if p < side: one step mends its floor. */
MOTE_HD uint32_t lattice_cell_int32(uint32_t p, lattice_divisor by) {
    const uint32_t estimate = (uint32_t)((uint64_t)(p << by.shift) * by.reciprocal >> 32) >> 10;
    const uint32_t rest = (p << MOTE_MORTON_BITS) - estimate * by.side; /* below 2 · side */
    return p < by.side ? estimate + (rest >= by.side) : MOTE_MORTON_MASK;
}

#endif
