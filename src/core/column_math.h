/* Reading one value of a column; one copy for C and CUDA. Values need not be aligned. */
#ifndef MOTE_COLUMN_MATH_H
#define MOTE_COLUMN_MATH_H

#include <math.h>
#include <string.h>

#include "math/host_device.h"
#include "mote/cloud.h"

/* The raw i-th value, before bits are taken out of it. */
MOTE_HD const uint8_t *column_at(const mote_column *column, uint64_t i) {
    return (const uint8_t *)column->data + i * column->stride_bytes;
}

/* A number of 1, 2, 4 or 8 bytes, little-endian, with zeros above. */
MOTE_HD uint64_t column_bytes(const uint8_t *at, uint32_t size_bytes) {
    uint64_t value = 0;
    switch (size_bytes) {
    case 1: return *at;
    case 2: memcpy(&value, at, 2); break;
    case 4: memcpy(&value, at, 4); break;
    default: memcpy(&value, at, 8);
    }
    return value;
}

MOTE_HD double column_real(const uint8_t *at, mote_type type) {
    if (type == MOTE_FLOAT32) {
        float narrow;
        memcpy(&narrow, at, 4);
        return (double)narrow;
    }
    double wide;
    memcpy(&wide, at, 8);
    return wide;
}

MOTE_HD bool column_is_real(mote_type type) { return type == MOTE_FLOAT32 || type == MOTE_FLOAT64; }

/* Whole floats, or doubles, without scale and offset: what is stored is the world's. */
MOTE_HD bool column_are_plain_reals(const mote_column *const axes[3]) {
    for (int k = 0; k < 3; k++) {
        const mote_column *const axis = axes[k];
        if (!column_is_real(axis->type) || axis->type != axes[0]->type || axis->bit_count != 0) return false;
        if (axis->scale != 1 || axis->offset != 0) return false;
    }
    return true;
}

/* What mote_type_size gives, without its check: the type is known to be one. */
MOTE_HD uint32_t column_type_bytes(mote_type type) {
    switch (type) {
    case MOTE_INT8:
    case MOTE_UINT8: return 1;
    case MOTE_INT16:
    case MOTE_UINT16: return 2;
    case MOTE_INT32:
    case MOTE_UINT32:
    case MOTE_FLOAT32: return 4;
    default: return 8;
    }
}

/* ---- of the value at an address, which is one of the column or a copy of it */

/* The stored value as a 64-bit integer; uint64 above 2^63 wraps, reals lose their fraction. */
MOTE_HD int64_t column_integer_at(const mote_column *column, const uint8_t *at) {
    int64_t value = 0;
    switch (column->type) {
    case MOTE_INT8: value = (int8_t)*at; break;
    case MOTE_UINT8: value = *at; break;
    case MOTE_INT16: value = (int16_t)column_bytes(at, 2); break;
    case MOTE_UINT16: value = (int64_t)column_bytes(at, 2); break;
    case MOTE_INT32: value = (int32_t)column_bytes(at, 4); break;
    case MOTE_UINT32: value = (int64_t)column_bytes(at, 4); break;
    case MOTE_INT64:
    case MOTE_UINT64: value = (int64_t)column_bytes(at, 8); break;
    case MOTE_FLOAT32:
    case MOTE_FLOAT64: value = (int64_t)column_real(at, column->type); break;
    }
    if (column->bit_count == 0) return value;
    return (int64_t)(((uint64_t)value >> column->bit_shift) & ((1ull << column->bit_count) - 1));
}

/* The stored value as a double, without scale and offset. */
MOTE_HD double column_stored_at(const mote_column *column, const uint8_t *at) {
    if (column_is_real(column->type)) return column_real(at, column->type);
    const int64_t whole = column_integer_at(column, at);
    return column->type == MOTE_UINT64 ? (double)(uint64_t)whole : (double)whole;
}

MOTE_HD double column_value_at(const mote_column *column, const uint8_t *at) {
    return column_stored_at(column, at) * column->scale + column->offset;
}

/* ---- of the i-th value */

MOTE_HD int64_t column_integer(const mote_column *column, uint64_t i) {
    return column_integer_at(column, column_at(column, i));
}

MOTE_HD double column_stored(const mote_column *column, uint64_t i) {
    return column_stored_at(column, column_at(column, i));
}

MOTE_HD double column_value(const mote_column *column, uint64_t i) {
    return column_value_at(column, column_at(column, i));
}

/* ---- conversion */

/* A double in an integer type: rounded to nearest, saturated; NaN gives 0. As 64 bits, of which the lowest count. */
MOTE_HD uint64_t column_saturate(double value, mote_type type) {
    const uint32_t bits = 8 * column_type_bytes(type);
    const bool is_signed = type == MOTE_INT8 || type == MOTE_INT16 || type == MOTE_INT32 || type == MOTE_INT64;
    const double high = is_signed    ? (double)(1ull << (bits - 1))
                        : bits == 64 ? 18446744073709551616.0
                                     : (double)(1ull << bits);
    if (value != value || (!is_signed && value <= 0)) return 0;
    if (value <= -high) return (uint64_t)0 - (1ull << (bits - 1));
    /* Below 64 bits the largest integer is itself a double, at which rounding up ends too. */
    if (value >= (bits < 64 ? high - 1 : high)) return is_signed ? (1ull << (bits - 1)) - 1 : UINT64_MAX >> (64 - bits);
    return is_signed ? (uint64_t)(int64_t)rint(value) : (uint64_t)rint(value);
}

/* The bytes of the value at an address in another type, as mote_column_read gives them: the lowest of 64 bits. */
MOTE_HD uint64_t column_convert(const mote_column *column, const uint8_t *at, mote_type type) {
    const bool from_real = column_is_real(column->type);
    if (type == column->type && (column->bit_count == 0 || from_real)) {
        return column_bytes(at, column_type_bytes(type));
    }
    if (type == MOTE_FLOAT32) {
        const float narrow = (float)column_stored_at(column, at);
        uint32_t bits;
        memcpy(&bits, &narrow, 4);
        return bits;
    }
    if (type == MOTE_FLOAT64) {
        const double wide = column_stored_at(column, at);
        uint64_t bits;
        memcpy(&bits, &wide, 8);
        return bits;
    }
    if (from_real) return column_saturate(column_real(at, column->type), type);
    return (uint64_t)column_integer_at(column, at);
}

/* A colour as 16 bits: reals, and integers with a scale, from 0..1, other integers as they are, all cut to what 16 bits
   hold. core/color.h finds the scale that makes it so. */
MOTE_HD uint16_t column_color(const mote_column *column, const uint8_t *at) {
    if (!column_is_real(column->type) && column->scale == 1 && column->offset == 0) {
        const int64_t whole = column_integer_at(column, at);
        return (uint16_t)(whole < 0 ? 0 : whole > 65535 ? 65535 : whole);
    }
    const double value = column_value_at(column, at) * 65535.0;
    return (uint16_t)(!(value > 0) ? 0 : value >= 65535.0 ? 65535 : (uint16_t)rint(value));
}

#endif
