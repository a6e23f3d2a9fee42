/* Reading one value of a column; one copy for C and CUDA. Values need not be aligned. */
#ifndef MOTE_COLUMN_MATH_H
#define MOTE_COLUMN_MATH_H

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

/* The stored value as a 64-bit integer; uint64 above 2^63 wraps, reals lose their fraction. */
MOTE_HD int64_t column_integer(const mote_column *column, uint64_t i) {
    const uint8_t *at = column_at(column, i);
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
MOTE_HD double column_stored(const mote_column *column, uint64_t i) {
    if (column->type == MOTE_FLOAT32 || column->type == MOTE_FLOAT64) {
        return column_real(column_at(column, i), column->type);
    }
    const int64_t whole = column_integer(column, i);
    return column->type == MOTE_UINT64 ? (double)(uint64_t)whole : (double)whole;
}

MOTE_HD double column_value(const mote_column *column, uint64_t i) {
    return column_stored(column, i) * column->scale + column->offset;
}

#endif
