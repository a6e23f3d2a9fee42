/* What one value of a Potree record is made of, and how its range is found; one copy for C and CUDA. */
#ifndef MOTE_POTREE_MATH_H
#define MOTE_POTREE_MATH_H

#include "core/column_math.h"
#include "math/ordered.h"
#include "order/lattice/lattice_math.h"

/* A bit field of a byte, moved to where it belongs. */
MOTE_HD uint8_t potree_bits(uint8_t byte, uint32_t shift, uint32_t mask, uint32_t to_shift) {
    return (uint8_t)((byte >> shift & mask) << to_shift);
}

/* The bits that a flag-like value counts with: those of the whole number, or all if a real is not zero. */
MOTE_HD uint64_t potree_raw_bits(const mote_column *column, const uint8_t *at) {
    if (column_is_real(column->type)) return column_real(at, column->type) != 0 ? UINT64_MAX : 0;
    mote_column whole = *column;
    whole.bit_count = 0;
    return whole.type == MOTE_INT8 ? *at : (uint64_t)column_integer_at(&whole, at);
}

/* The lattice coordinate of a stored one that is finite. */
MOTE_HD uint32_t potree_lattice_step(const mote_column *column, const uint8_t *at, const mote_lattice *lattice, int k) {
    if (lattice->integer) {
        return lattice_integer_step(column_integer_at(column, at), lattice->source_min[k], lattice->shift);
    }
    return lattice_real_step(column_value_at(column, at), lattice->scale[k], lattice->min[k], lattice->extent[k]);
}

/* Whether X gives back the stored real exactly, by the formula that the reader uses. */
MOTE_HD bool potree_comes_back(const mote_column *column, const uint8_t *at, uint32_t x, double scale, double offset) {
    const double world = (double)x * scale + offset, stored = column_stored_at(column, at);
    return column->type == MOTE_FLOAT32 ? (double)(float)world == stored : world == stored;
}

/* ---- ranges */

/* A value of a record (no 64-bit integer) as a number whose order is that of the values; false if it is not finite. */
MOTE_HD bool potree_key(const uint8_t *at, mote_type type, uint64_t *key) {
    if (!column_is_real(type)) {
        const uint64_t raw = column_bytes(at, column_type_bytes(type));
        int64_t value = (int64_t)raw;
        if (type == MOTE_INT8) value = (int8_t)raw;
        if (type == MOTE_INT16) value = (int16_t)raw;
        if (type == MOTE_INT32) value = (int32_t)raw;
        *key = mote_ordered_integer(value);
        return true;
    }
    const double real = column_real(at, type);
    *key = mote_ordered_real(real);
    return isfinite(real);
}

/* Inverts the key of a value, by which ranges are compared as integers. */
MOTE_HD double potree_key_value(uint64_t key, mote_type type) {
    return column_is_real(type) ? mote_real_of_ordered(key) : (double)mote_integer_of_ordered(key);
}

#endif
