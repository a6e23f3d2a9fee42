/* From columns to LAS records, a few hundred points at a time: runs of bytes that stand in the source as they are
   get copied, other dimensions are loaded, converted and stored. */
#include <math.h>

#include "core/column_math.h"
#include "io/las/write/las_plan.h"

/* ---- what can be copied */

/* Where a byte of the record can be copied from, and which of its bits stand there. */
typedef struct byte_source {
    const uint8_t *at;
    uint32_t stride_bytes;
    uint8_t bits;
} byte_source;

static bool is_identity(const las_item *item) {
    const mote_column *column = item->source;
    if (column == NULL || column->type != item->field.type || column->bit_count != item->field.bit_count ||
        column->bit_shift != item->field.bit_shift) {
        return false;
    }
    if (item->how == LAS_FLOAT) return column->scale == 1 && column->offset == 0;
    return item->how == LAS_COPY || (item->how == LAS_INTEGER && item->shift == 0 && item->factor == 1);
}

static uint8_t field_bits(const las_field *field) {
    if (field->bit_count == 0) return 0xFF;
    return (uint8_t)(((1u << field->bit_count) - 1) << field->bit_shift);
}

static uint64_t collect_runs(const las_plan *plan, const byte_source *bytes, las_run *runs) {
    uint64_t count = 0;
    for (uint32_t i = 0; i < plan->record_bytes; i++) {
        const byte_source *byte = &bytes[i];
        if (byte->bits != 0xFF) continue;
        las_run *last = count > 0 ? &runs[count - 1] : NULL;
        if (last != NULL && last->at + last->size_bytes == i && last->stride_bytes == byte->stride_bytes &&
            last->source + last->size_bytes == byte->at) {
            last->size_bytes++;
            continue;
        }
        const las_run run = {byte->at, byte->stride_bytes, i, 1};
        runs[count++] = run;
    }
    return count;
}

mote_status mote_las_plan_runs(mote_context *ctx, las_plan *plan) {
    byte_source *bytes = mote_alloc_zero(ctx, plan->record_bytes * sizeof *bytes, "LAS plan");
    plan->runs = mote_alloc(ctx, plan->record_bytes * sizeof *plan->runs, "LAS plan");
    if (bytes != NULL && plan->runs != NULL) {
        /* 1: for each byte of a record, whose value it is. */
        for (uint64_t i = 0; i < plan->item_count; i++) {
            const las_item *item = &plan->items[i];
            if (!is_identity(item)) continue;
            for (uint32_t k = 0; k < mote_type_size(item->field.type); k++) {
                byte_source *byte = &bytes[item->field.at + k];
                const uint8_t *at = (const uint8_t *)item->source->data + k;
                if (byte->bits != 0 && (byte->at != at || byte->stride_bytes != item->source->stride_bytes)) continue;
                byte->at = at;
                byte->stride_bytes = item->source->stride_bytes;
                byte->bits |= field_bits(&item->field);
            }
        }
        /* 2: items whose bytes are all copied need no converting. */
        uint64_t kept = 0;
        for (uint64_t i = 0; i < plan->item_count; i++) {
            const las_item *item = &plan->items[i];
            const bool copied = is_identity(item) && bytes[item->field.at].bits == 0xFF;
            if (item->source != NULL && !copied) plan->items[kept++] = *item;
        }
        plan->item_count = kept;
        /* 3: bytes that are next to each other in the source, too, are copied together. */
        plan->run_count = collect_runs(plan, bytes, plan->runs);
    }
    mote_free(ctx, bytes);
    return bytes != NULL && plan->runs != NULL ? MOTE_OK : MOTE_ERROR_MEMORY;
}

const uint8_t *mote_las_same_records(const las_plan *plan, uint64_t first) {
    if (plan->item_count != 0 || plan->run_count != 1) return NULL;
    const las_run *run = &plan->runs[0];
    if (run->size_bytes != plan->record_bytes || run->stride_bytes != plan->record_bytes) return NULL;
    return run->source + first * run->stride_bytes;
}

/* ---- load, convert, store. size_bytes is a constant at each call, so that each becomes a plain loop. */

static inline void load_sized(const mote_column *column, uint64_t first, uint64_t count, uint64_t *out,
                              uint32_t size_bytes) {
    const uint8_t *at = mote_column_at(column, first);
    for (uint64_t i = 0; i < count; i++, at += column->stride_bytes) {
        uint64_t value = 0;
        memcpy(&value, at, size_bytes);
        out[i] = value;
    }
}

static void load_raw(const mote_column *column, uint64_t first, uint64_t count, uint64_t *out) {
    switch (mote_type_size(column->type)) {
    case 1: load_sized(column, first, count, out, 1); break;
    case 2: load_sized(column, first, count, out, 2); break;
    case 4: load_sized(column, first, count, out, 4); break;
    default: load_sized(column, first, count, out, 8); break;
    }
}

void mote_las_load_integers(const mote_column *column, uint64_t first, uint64_t count, uint64_t *out) {
    load_raw(column, first, count, out);
    if (column->bit_count != 0) {
        const uint64_t mask = (1ull << column->bit_count) - 1;
        for (uint64_t i = 0; i < count; i++) out[i] = (out[i] >> column->bit_shift) & mask;
    } else if (mote_type_is_signed(column->type)) {
        const uint64_t sign = 1ull << (8 * mote_type_size(column->type) - 1);
        for (uint64_t i = 0; i < count; i++) out[i] = (out[i] ^ sign) - sign;
    }
}

void mote_las_load_values(const mote_column *column, uint64_t first, uint64_t count, double *out) {
    uint64_t raw[LAS_BATCH_POINTS];
    if (column->type == MOTE_FLOAT32 || column->type == MOTE_FLOAT64) {
        load_raw(column, first, count, raw);
        for (uint64_t i = 0; i < count; i++) {
            if (column->type == MOTE_FLOAT64) {
                memcpy(&out[i], &raw[i], 8);
            } else {
                float single;
                memcpy(&single, &raw[i], 4);
                out[i] = (double)single;
            }
        }
    } else {
        mote_las_load_integers(column, first, count, raw);
        const bool is_unsigned = column->type == MOTE_UINT64;
        for (uint64_t i = 0; i < count; i++) out[i] = is_unsigned ? (double)raw[i] : (double)(int64_t)raw[i];
    }
    if (column->scale == 1 && column->offset == 0) return;
    for (uint64_t i = 0; i < count; i++) out[i] = out[i] * column->scale + column->offset;
}

static void round_values(const las_item *item, const double *values, uint64_t count, uint64_t *out) {
    const uint32_t bits = item->field.bit_count != 0 ? item->field.bit_count : 8 * mote_type_size(item->field.type);
    const bool is_signed = mote_type_is_signed(item->field.type);
    const double low = is_signed ? -ldexp(1, (int)bits - 1) : 0;
    const double high = ldexp(1, is_signed ? (int)bits - 1 : (int)bits) - 1;
    for (uint64_t i = 0; i < count; i++) {
        double value = nearbyint((values[i] - item->offset) / item->scale);
        value = value > low ? value : low; /* NaN too */
        value = value < high ? value : high;
        out[i] = (uint64_t)(int64_t)value;
    }
}

static void float_bits(mote_type type, const double *values, uint64_t count, uint64_t *out) {
    if (type == MOTE_FLOAT64) {
        memcpy(out, values, count * sizeof *out);
        return;
    }
    for (uint64_t i = 0; i < count; i++) {
        const float single = (float)values[i];
        out[i] = 0;
        memcpy(&out[i], &single, sizeof single);
    }
}

static void color_values(const las_item *item, uint64_t first, uint64_t count, uint64_t *out) {
    const mote_column scaled = mote_color_scaled(item->source, item->color);
    for (uint64_t i = 0; i < count; i++) out[i] = column_color(&scaled, column_at(&scaled, first + i));
}

static inline void store_sized(const uint64_t *values, uint64_t count, uint8_t *out, uint32_t stride_bytes,
                               uint32_t size_bytes) {
    for (uint64_t i = 0; i < count; i++, out += stride_bytes) memcpy(out, &values[i], size_bytes);
}

static void store(const las_field *field, const uint64_t *values, uint64_t count, uint8_t *out, uint32_t stride_bytes) {
    if (field->bit_count != 0) {
        const uint64_t mask = (1u << field->bit_count) - 1;
        for (uint64_t i = 0; i < count; i++, out += stride_bytes) {
            *out = (uint8_t)(*out | (values[i] & mask) << field->bit_shift);
        }
        return;
    }
    switch (mote_type_size(field->type)) {
    case 1: store_sized(values, count, out, stride_bytes, 1); break;
    case 2: store_sized(values, count, out, stride_bytes, 2); break;
    case 4: store_sized(values, count, out, stride_bytes, 4); break;
    default: store_sized(values, count, out, stride_bytes, 8); break;
    }
}

static void convert_item(const las_item *item, uint64_t first, uint64_t count, uint8_t *out, uint32_t stride_bytes) {
    uint64_t raw[LAS_BATCH_POINTS];
    double values[LAS_BATCH_POINTS];
    switch (item->how) {
    case LAS_COPY: load_raw(item->source, first, count, raw); break;
    case LAS_INTEGER:
        mote_las_load_integers(item->source, first, count, raw);
        if (item->shift == 0 && item->factor == 1) break;
        for (uint64_t i = 0; i < count; i++) raw[i] = (raw[i] - (uint64_t)item->shift) * (uint64_t)item->factor;
        break;
    case LAS_ROUND:
        mote_las_load_values(item->source, first, count, values);
        round_values(item, values, count, raw);
        break;
    case LAS_FLOAT:
        mote_las_load_values(item->source, first, count, values);
        float_bits(item->field.type, values, count, raw);
        break;
    case LAS_COLOR: color_values(item, first, count, raw); break;
    }
    store(&item->field, raw, count, out + item->field.at, stride_bytes);
}

static void copy_run(const las_run *run, uint64_t first, uint64_t count, uint8_t *out, uint32_t stride_bytes) {
    const uint8_t *from = run->source + first * run->stride_bytes;
    uint8_t *to = out + run->at;
    for (uint64_t i = 0; i < count; i++, from += run->stride_bytes, to += stride_bytes) {
        memcpy(to, from, run->size_bytes);
    }
}

void mote_las_convert(const las_plan *plan, uint64_t first, uint64_t count, uint8_t *out) {
    const uint32_t stride_bytes = plan->record_bytes;
    for (uint64_t done = 0; done < count; done += LAS_BATCH_POINTS) {
        const uint64_t batch = count - done < LAS_BATCH_POINTS ? count - done : LAS_BATCH_POINTS;
        uint8_t *to = out + done * stride_bytes;
        memset(to, 0, batch * stride_bytes);
        for (uint64_t i = 0; i < plan->run_count; i++) copy_run(&plan->runs[i], first + done, batch, to, stride_bytes);
        for (uint64_t i = 0; i < plan->item_count; i++) {
            convert_item(&plan->items[i], first + done, batch, to, stride_bytes);
        }
    }
}

/* ---- points in any order */

static void gather_run(const las_run *run, const uint32_t *indices, uint64_t count, uint8_t *out,
                       uint32_t stride_bytes) {
    const uint64_t step = run->stride_bytes;
    for (uint64_t i = 0; i < count; i++, out += stride_bytes) {
        memcpy(out + run->at, run->source + indices[i] * step, run->size_bytes);
    }
}

/* The chosen values next to each other, then as any others. */
static void gather_item(const las_item *item, const uint32_t *indices, uint64_t count, uint8_t *out,
                        uint32_t stride_bytes) {
    uint8_t values[LAS_BATCH_POINTS * 8];
    const uint32_t size_bytes = mote_type_size(item->source->type);
    mote_column dense = *item->source;
    las_item from_dense = *item;
    for (uint64_t i = 0; i < count; i++) {
        memcpy(values + i * size_bytes, mote_column_at(item->source, indices[i]), size_bytes);
    }
    dense.data = values;
    dense.stride_bytes = size_bytes;
    from_dense.source = &dense;
    convert_item(&from_dense, 0, count, out, stride_bytes);
}

void mote_las_gather(const las_plan *plan, const uint32_t *indices, uint64_t count, uint8_t *out) {
    const uint32_t stride_bytes = plan->record_bytes;
    for (uint64_t done = 0; done < count; done += LAS_BATCH_POINTS) {
        const uint64_t batch = count - done < LAS_BATCH_POINTS ? count - done : LAS_BATCH_POINTS;
        uint8_t *to = out + done * stride_bytes;
        memset(to, 0, batch * stride_bytes);
        for (uint64_t i = 0; i < plan->run_count; i++) {
            gather_run(&plan->runs[i], indices + done, batch, to, stride_bytes);
        }
        for (uint64_t i = 0; i < plan->item_count; i++) {
            gather_item(&plan->items[i], indices + done, batch, to, stride_bytes);
        }
    }
}
