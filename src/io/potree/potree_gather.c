/* Runs the copy program of a plan: points from wherever they stand in the cloud to dense records, a block at a
   time and operation by operation, and takes note of the range of each attribute while the block is in the cache.

     indices of a node   4 | 91 | 17 | ...      up to POTREE_BLOCK_POINTS
     cloud               column x   column y   intensity      any stride
                            \         |          /            one operation for all points of the block, then the next
     records             x y z i | x y z i | x y z i | ...    as in octree.bin */
#include <float.h>
#include <math.h>

#include "io/potree/potree.h"
#include "io/potree/potree_math.h"
#include "order/lattice/lattice.h"

#define CACHE_LINE_BYTES 64u

/* ---- copies */

/* Inlined with a constant size, so that the copy is a few moves. */
static inline void copy_fixed(const record_op *op, const uint32_t *indices, uint32_t count, uint32_t stride,
                              uint8_t *to, uint32_t size_bytes) {
    const uint8_t *source = op->source;
    const uint64_t step = op->stride_bytes;
    for (uint32_t j = 0; j < count; j++, to += stride) memcpy(to, source + indices[j] * step, size_bytes);
}

/* The sizes that records of LAS and PLY files make. */
static void run_copy(const record_op *op, const uint32_t *indices, uint32_t count, uint32_t stride, uint8_t *to) {
    switch (op->size_bytes) {
    case 1: copy_fixed(op, indices, count, stride, to, 1); break;
    case 2: copy_fixed(op, indices, count, stride, to, 2); break;
    case 3: copy_fixed(op, indices, count, stride, to, 3); break;
    case 4: copy_fixed(op, indices, count, stride, to, 4); break;
    case 6: copy_fixed(op, indices, count, stride, to, 6); break;
    case 8: copy_fixed(op, indices, count, stride, to, 8); break;
    case 12: copy_fixed(op, indices, count, stride, to, 12); break;
    case 13: copy_fixed(op, indices, count, stride, to, 13); break;
    case 14: copy_fixed(op, indices, count, stride, to, 14); break;
    case 16: copy_fixed(op, indices, count, stride, to, 16); break;
    case 18: copy_fixed(op, indices, count, stride, to, 18); break;
    case 20: copy_fixed(op, indices, count, stride, to, 20); break;
    case 22: copy_fixed(op, indices, count, stride, to, 22); break;
    case 24: copy_fixed(op, indices, count, stride, to, 24); break;
    case 30: copy_fixed(op, indices, count, stride, to, 30); break;
    case 32: copy_fixed(op, indices, count, stride, to, 32); break;
    default: copy_fixed(op, indices, count, stride, to, op->size_bytes); break;
    }
}

static void run_bits(const record_op *op, const uint32_t *indices, uint32_t count, uint32_t stride, uint8_t *to) {
    const uint8_t *source = op->source;
    const uint64_t step = op->stride_bytes;
    const uint32_t shift = op->shift, mask = op->mask, to_shift = op->to_shift;
    const uint32_t keep = op->kind == RECORD_OR_BITS ? 0xFF : 0;
    for (uint32_t j = 0; j < count; j++, to += stride) {
        *to = (uint8_t)((*to & keep) | potree_bits(source[indices[j] * step], shift, mask, to_shift));
    }
}

static void run_convert(const record_op *op, const mote_column *column, const uint32_t *indices, uint32_t count,
                        uint32_t stride, uint8_t *to) {
    for (uint32_t j = 0; j < count; j++, to += stride) {
        if (op->kind == RECORD_UNIT) {
            const uint16_t value = column_color(column, column_at(column, indices[j]));
            memcpy(to, &value, sizeof value);
        } else {
            mote_column_read(column, indices[j], 1, (mote_type)op->type, to);
        }
    }
}

static void run_subtract(const record_op *op, uint32_t count, uint32_t stride, uint8_t *to) {
    for (uint32_t j = 0; j < count; j++, to += stride) {
        uint32_t value;
        memcpy(&value, to, sizeof value);
        value -= op->less;
        memcpy(to, &value, sizeof value);
    }
}

static void run_colors(const uint16_t *colors, uint32_t count, uint32_t stride, uint8_t *to) {
    for (uint32_t j = 0; j < count; j++, to += stride) memcpy(to, colors + 3ull * j, 6);
}

/* steps  [count] lattice coordinates of the operation's axis */
static void run_lattice(const potree_plan *plan, const record_op *op, const uint32_t *indices, const uint32_t *steps,
                        uint32_t count, uint8_t *to, potree_stats *stats) {
    const mote_column *column = &plan->op_columns[op->column];
    const uint32_t k = op->axis, base = plan->base[k];
    for (uint32_t j = 0; j < count; j++, to += plan->stride_bytes) {
        const uint32_t x = base + steps[j];
        memcpy(to, &x, sizeof x);
    }
    for (uint32_t j = 0; plan->checks_reals && !stats->inexact && j < count; j++) {
        stats->inexact =
            !potree_comes_back(column, column_at(column, indices[j]), base + steps[j], plan->scale[k], plan->offset[k]);
    }
}

/* ---- ranges */

static inline int64_t integer_at(const uint8_t *at, mote_type type) {
    union {
        uint16_t u16;
        int16_t i16;
        uint32_t u32;
        int32_t i32;
    } v;
    switch (type) {
    case MOTE_INT8: return (int8_t)*at;
    case MOTE_UINT8: return *at;
    case MOTE_INT16: memcpy(&v.i16, at, 2); return v.i16;
    case MOTE_UINT16: memcpy(&v.u16, at, 2); return v.u16;
    case MOTE_INT32: memcpy(&v.i32, at, 4); return v.i32;
    default: memcpy(&v.u32, at, 4); return v.u32;
    }
}

/* Inlined with a constant type. */
static inline void integer_range(const uint8_t *at, uint32_t stride, uint32_t count, mote_type type,
                                 potree_range *range) {
    int64_t low = integer_at(at, type), high = low;
    for (uint32_t j = 1; j < count; j++) {
        at += stride;
        const int64_t v = integer_at(at, type);
        low = v < low ? v : low;
        high = v > high ? v : high;
    }
    if ((double)low < range->min) range->min = (double)low;
    if ((double)high > range->max) range->max = (double)high;
}

static double real_at(const uint8_t *at, mote_type type) {
    double wide;
    float narrow;
    if (type == MOTE_FLOAT64) {
        memcpy(&wide, at, sizeof wide);
        return wide;
    }
    memcpy(&narrow, at, sizeof narrow);
    return (double)narrow;
}

/* The comparisons are false for NaN, and infinities are passed over: JSON holds neither. */
static inline void real_range(const uint8_t *at, uint32_t stride, uint32_t count, mote_type type, potree_range *range) {
    double low = range->min, high = range->max;
    for (uint32_t j = 0; j < count; j++, at += stride) {
        const double v = real_at(at, type);
        low = v < low && v >= -DBL_MAX ? v : low;
        high = v > high && v <= DBL_MAX ? v : high;
    }
    range->min = low;
    range->max = high;
}

static void find_range(const uint8_t *at, uint32_t stride, uint32_t count, mote_type type, potree_range *range) {
    switch (type) {
    case MOTE_INT8: integer_range(at, stride, count, MOTE_INT8, range); break;
    case MOTE_UINT8: integer_range(at, stride, count, MOTE_UINT8, range); break;
    case MOTE_INT16: integer_range(at, stride, count, MOTE_INT16, range); break;
    case MOTE_UINT16: integer_range(at, stride, count, MOTE_UINT16, range); break;
    case MOTE_INT32: integer_range(at, stride, count, MOTE_INT32, range); break;
    case MOTE_UINT32: integer_range(at, stride, count, MOTE_UINT32, range); break;
    case MOTE_FLOAT32: real_range(at, stride, count, MOTE_FLOAT32, range); break;
    default: real_range(at, stride, count, MOTE_FLOAT64, range); break;
    }
}

/* The range of the values that are there: those that stand for "no data" are left out. */
static void find_sparse_range(const uint8_t *at, uint32_t stride, uint32_t count, const potree_attribute *attribute,
                              potree_range *range) {
    for (uint32_t j = 0; j < count; j++, at += stride) {
        uint64_t key;
        if (!potree_key(at, attribute->type, &key) || key == attribute->no_data) continue;
        const double value = potree_key_value(key, attribute->type);
        range->min = value < range->min ? value : range->min;
        range->max = value > range->max ? value : range->max;
    }
}

void potree_measure(const potree_plan *plan, const uint8_t *records, uint32_t count, potree_stats *stats) {
    for (uint32_t a = 0; a < plan->attribute_count; a++) {
        const potree_attribute *attribute = &plan->attributes[a];
        const uint32_t size_bytes = mote_type_size(attribute->type);
        if (attribute->has_no_data) {
            find_sparse_range(records + attribute->at, plan->stride_bytes, count, attribute,
                              &stats->ranges[attribute->range]);
            continue;
        }
        for (uint32_t e = 0; e < attribute->elements; e++) {
            find_range(records + attribute->at + e * size_bytes, plan->stride_bytes, count, attribute->type,
                       &stats->ranges[attribute->range + e]);
        }
    }
    if (plan->classes_at != UINT32_MAX) {
        const uint8_t *at = records + plan->classes_at;
        for (uint32_t j = 0; j < count; j++, at += plan->stride_bytes) stats->classes[j % POTREE_CLASS_LANES][*at]++;
    }
}

/* ---- the program */

/* Asks for the records of the points to come; the copies of this block run meanwhile. */
static void fetch_ahead(const potree_plan *plan, const uint32_t *next, uint32_t count) {
    const uint8_t *seen = NULL;
    for (uint64_t o = 0; o < plan->op_count; o++) {
        const record_op *op = &plan->ops[o];
        if (op->kind != RECORD_COPY && op->kind != RECORD_BITS) continue;
        if (seen != NULL && op->source >= seen && op->source < seen + CACHE_LINE_BYTES) continue;
        seen = op->source;
        const uint64_t step = op->stride_bytes;
        for (uint32_t j = 0; j < count; j++) {
            __builtin_prefetch(seen + next[j] * step);
            __builtin_prefetch(seen + next[j] * step + (step < CACHE_LINE_BYTES ? step - 1 : CACHE_LINE_BYTES - 1));
        }
    }
}

void potree_gather(const potree_plan *plan, const uint32_t *indices, const uint16_t *colors, uint32_t count,
                   uint32_t next_count, uint8_t *records, potree_stats *stats) {
    const uint32_t stride = plan->stride_bytes;
    uint32_t steps[3][LATTICE_BLOCK];
    uint8_t bad[LATTICE_BLOCK];
    fetch_ahead(plan, indices + count, next_count);
    for (uint64_t o = 0; o < plan->op_count; o++) {
        const record_op *op = &plan->ops[o];
        uint8_t *to = records + op->to;
        switch (op->kind) {
        case RECORD_COPY: run_copy(op, indices, count, stride, to); break;
        case RECORD_BITS:
        case RECORD_OR_BITS: run_bits(op, indices, count, stride, to); break;
        case RECORD_CONVERT:
        case RECORD_UNIT: run_convert(op, &plan->op_columns[op->column], indices, count, stride, to); break;
        case RECORD_SUBTRACT: run_subtract(op, count, stride, to); break;
        case RECORD_LATTICE:
            if (op->axis == 0) lattice_block(plan->cloud, plan->lattice, 0, indices, count, steps, bad);
            run_lattice(plan, op, indices, steps[op->axis], count, to, stats);
            break;
        case RECORD_COLORS: run_colors(colors, count, stride, to); break;
        }
    }
    potree_measure(plan, records, count, stats);
}

/* ---- stats */

mote_status potree_stats_make(const potree_plan *plan, potree_stats *stats) {
    memset(stats, 0, sizeof *stats);
    stats->ranges = mote_alloc(plan->ctx, plan->element_count * sizeof *stats->ranges, "potree");
    if (stats->ranges == NULL) return MOTE_ERROR_MEMORY;
    stats->range_count = plan->element_count;
    for (uint32_t e = 0; e < plan->element_count; e++) {
        stats->ranges[e].min = INFINITY;
        stats->ranges[e].max = -INFINITY;
    }
    return MOTE_OK;
}

/* Adds the lanes of the class counts into the first. */
static void fold_classes(potree_stats *stats) {
    for (uint32_t l = 1; l < POTREE_CLASS_LANES; l++) {
        for (uint32_t c = 0; c < POTREE_CLASSES; c++) stats->classes[0][c] += stats->classes[l][c];
        memset(stats->classes[l], 0, sizeof stats->classes[l]);
    }
}

void potree_stats_merge(const potree_plan *plan, potree_stats *stats, uint32_t count) {
    potree_stats_join(stats, count, plan->element_count);
}

void potree_stats_join(potree_stats *stats, uint32_t count, uint32_t range_count) {
    fold_classes(&stats[0]);
    for (uint32_t t = 1; t < count; t++) {
        fold_classes(&stats[t]);
        for (uint32_t e = 0; e < range_count; e++) {
            stats[0].ranges[e].min = fmin(stats[0].ranges[e].min, stats[t].ranges[e].min);
            stats[0].ranges[e].max = fmax(stats[0].ranges[e].max, stats[t].ranges[e].max);
        }
        for (uint32_t c = 0; c < POTREE_CLASSES; c++) stats[0].classes[0][c] += stats[t].classes[0][c];
        stats[0].inexact = stats[0].inexact || stats[t].inexact;
    }
    for (uint32_t e = 0; e < range_count; e++) { /* -0 becomes 0: which came first must not matter */
        stats[0].ranges[e].min += 0.0;
        stats[0].ranges[e].max += 0.0;
    }
}
