/* Values of a column as doubles: what is asked of each value, like its type, is asked once for a block. */
#include <math.h>

#include "core/column_math.h"
#include "where/where_program.h"

#define ALWAYS_INLINE static inline __attribute__((always_inline))

/* type is a constant where this is called: the loop is made for it. */
ALWAYS_INLINE void load_as(mote_type type, const uint8_t *at, uint64_t stride, uint64_t count, double *restrict out) {
    const mote_column column = {.type = type};
    for (uint64_t i = 0; i < count; i++, at += stride) out[i] = column_stored_at(&column, at);
}

ALWAYS_INLINE void load_bits(const where_column *c, const uint8_t *at, uint64_t count, double *restrict out) {
    const uint32_t shift = c->column.bit_shift, mask = (1u << c->column.bit_count) - 1;
    for (uint64_t i = 0; i < count; i++, at += c->column.stride_bytes) out[i] = (double)((uint32_t)*at >> shift & mask);
}

static void load_stored(const where_column *c, const uint8_t *at, uint64_t count, double *out) {
    const mote_column *column = &c->column;
    const uint64_t stride = column->stride_bytes;
    if (column->bit_count != 0 && column->type == MOTE_UINT8) {
        load_bits(c, at, count, out);
    } else if (column->bit_count != 0) {
        for (uint64_t i = 0; i < count; i++, at += stride) out[i] = column_stored_at(column, at);
    } else {
        switch (column->type) {
        case MOTE_INT8: load_as(MOTE_INT8, at, stride, count, out); break;
        case MOTE_UINT8: load_as(MOTE_UINT8, at, stride, count, out); break;
        case MOTE_INT16: load_as(MOTE_INT16, at, stride, count, out); break;
        case MOTE_UINT16: load_as(MOTE_UINT16, at, stride, count, out); break;
        case MOTE_INT32: load_as(MOTE_INT32, at, stride, count, out); break;
        case MOTE_UINT32: load_as(MOTE_UINT32, at, stride, count, out); break;
        case MOTE_INT64: load_as(MOTE_INT64, at, stride, count, out); break;
        case MOTE_UINT64: load_as(MOTE_UINT64, at, stride, count, out); break;
        case MOTE_FLOAT32: load_as(MOTE_FLOAT32, at, stride, count, out); break;
        case MOTE_FLOAT64: load_as(MOTE_FLOAT64, at, stride, count, out); break;
        }
    }
}

void where_load(const where_column *c, uint64_t first, uint64_t count, double *out) {
    const double scale = c->column.scale, offset = c->column.offset;
    load_stored(c, mote_column_at(&c->column, first), count, out);
    if (scale != 1 || offset != 0) {
        for (uint64_t i = 0; i < count; i++) out[i] = out[i] * scale + offset;
    }
    for (uint64_t i = 0; c->limits.has_no_data && i < count; i++) {
        if (mote_is_no_data(&c->column, &c->limits, first + i)) out[i] = NAN;
    }
}
