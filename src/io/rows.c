/* Rows of binary values from columns: gathered, converted and written in blocks. */
#include "io/rows.h"

#define BLOCK_BYTES (4u << 20)
#define CHUNK_ROWS  512u /* converted at a time */

void mote_rows_copy_value(uint8_t *to, const uint8_t *from, uint32_t size_bytes, bool swap) {
    if (size_bytes == 1) {
        *to = *from;
    } else if (size_bytes == 2) {
        uint16_t v;
        memcpy(&v, from, 2);
        if (swap) v = __builtin_bswap16(v);
        memcpy(to, &v, 2);
    } else if (size_bytes == 4) {
        uint32_t v;
        memcpy(&v, from, 4);
        if (swap) v = __builtin_bswap32(v);
        memcpy(to, &v, 4);
    } else {
        uint64_t v;
        memcpy(&v, from, 8);
        if (swap) v = __builtin_bswap64(v);
        memcpy(to, &v, 8);
    }
}

void mote_rows_set_world(mote_row_field *field, const mote_column *column) {
    field->type = MOTE_FLOAT64;
    field->world = column->scale != 1 || column->offset != 0;
    field->view.scale = column->scale;
    field->view.offset = column->offset;
    field->decimal = mote_text_decimal_find(column->scale, column->offset);
}

double mote_rows_step(const mote_rows *rows, const mote_cloud *cloud) {
    uint32_t decimals = 0;
    int world = 0;
    for (uint32_t i = 0; i < rows->field_count; i++) {
        const mote_row_field *const field = &rows->fields[i];
        if (!field->world || !field->decimal.exact) continue;
        world++;
        if (field->decimal.decimals > decimals) decimals = field->decimal.decimals;
    }
    if (world == 0) return cloud->position_step;
    return world == 3 && decimals <= 9 ? 1.0 / (double)mote_text_power10[decimals] : 0;
}

static void fill_field(const mote_rows *rows, const mote_row_field *field, uint64_t first, uint32_t count,
                       uint8_t *out) {
    const uint32_t size_bytes = mote_type_size(field->type);
    uint64_t values[CHUNK_ROWS];
    uint8_t *const dense = (uint8_t *)values;
    if (field->world) {
        for (uint32_t i = 0; i < count; i++) {
            const double value = mote_text_decimal_value(&field->decimal, &field->view, first + i);
            memcpy(dense + 8 * i, &value, 8);
        }
    } else {
        mote_column_read(&field->view, first, count, field->type, dense);
    }
    for (uint32_t i = 0; i < count; i++) {
        mote_rows_copy_value(out + (uint64_t)i * rows->row_bytes, dense + (uint64_t)i * size_bytes, size_bytes,
                             rows->swap);
    }
}

static bool has_gaps(const mote_rows *rows) {
    uint32_t bytes = 0;
    for (uint32_t i = 0; i < rows->field_count; i++) bytes += mote_type_size(rows->fields[i].type);
    return bytes < rows->row_bytes;
}

void mote_rows_fill(const mote_rows *rows, uint64_t first, uint64_t count, uint8_t *out) {
    if (has_gaps(rows)) memset(out, 0, count * rows->row_bytes);
    for (uint64_t begin = 0; begin < count; begin += CHUNK_ROWS) {
        const uint32_t chunk = (uint32_t)(count - begin < CHUNK_ROWS ? count - begin : CHUNK_ROWS);
        for (uint32_t i = 0; i < rows->field_count; i++) {
            const mote_row_field *const field = &rows->fields[i];
            fill_field(rows, field, first + begin, chunk,
                       out + begin * rows->row_bytes + (field->offset - rows->begin));
        }
    }
}

static void fill_block(const mote_context *ctx, const mote_rows *rows, uint64_t first, uint64_t count, uint8_t *block) {
    const int64_t chunks = (int64_t)((count + CHUNK_ROWS - 1) / CHUNK_ROWS);
#pragma omp parallel for schedule(static) num_threads(ctx->threads) if (chunks > 1)
    for (int64_t c = 0; c < chunks; c++) {
        const uint64_t begin = (uint64_t)c * CHUNK_ROWS;
        const uint64_t chunk = count - begin < CHUNK_ROWS ? count - begin : CHUNK_ROWS;
        mote_rows_fill(rows, first + begin, chunk, block + begin * rows->row_bytes);
    }
}

/* The rows as they are to be written, if memory holds them so; else NULL. */
static const uint8_t *ready_rows(const mote_rows *rows) {
    const uint8_t *const base = rows->fields[0].view.data;
    if (rows->swap || has_gaps(rows)) return NULL;
    for (uint32_t i = 0; i < rows->field_count; i++) {
        const mote_row_field *const field = &rows->fields[i];
        if (field->world || field->type != field->view.type || field->view.bit_count > 0 ||
            field->view.stride_bytes != rows->row_bytes ||
            (const uint8_t *)field->view.data != base + (field->offset - rows->begin)) {
            return NULL;
        }
    }
    return base;
}

mote_status mote_rows_write(mote_context *ctx, mote_output *output, const mote_rows *rows, uint64_t count,
                            const char *stage) {
    const uint64_t max = BLOCK_BYTES > rows->row_bytes ? BLOCK_BYTES / rows->row_bytes : 1;
    const uint8_t *const ready = ready_rows(rows);
    uint8_t *const block = ready == NULL ? mote_alloc(ctx, max * rows->row_bytes, "output") : NULL;
    mote_status status = ready == NULL && block == NULL ? MOTE_ERROR_MEMORY : MOTE_OK;
    for (uint64_t first = 0; first < count && status == MOTE_OK; first += max) {
        const uint64_t part = count - first < max ? count - first : max;
        if (block != NULL) fill_block(ctx, rows, first, part, block);
        const uint8_t *const from = block != NULL ? block : ready + first * rows->row_bytes;
        status = mote_output_write(ctx, output, from, part * rows->row_bytes);
        if (status == MOTE_OK) status = mote_progress(ctx, (double)(first + part) / (double)count, stage);
    }
    mote_free(ctx, block);
    return status;
}
