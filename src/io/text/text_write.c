/* Writing tables of numbers: blocks of rows become text in parallel and go out in order. */
#include "io/text/text.h"

#define BUFFER_BYTES      (1u << 20)
#define BLOCKS_PER_THREAD 4

/* The rows under way. Block i of a batch has its own buffer and guesses. */
typedef struct writing {
    const mote_text_column *columns;
    uint32_t column_count;
    char separator;
    uint64_t rows, rows_per_block, block_bytes;
    char *buffers;
    uint64_t *lengths;
    uint32_t *guesses;
} writing;

mote_text_column mote_text_column_of(const mote_column *column, bool pointed) {
    mote_text_column text = {.column = column, .pointed = pointed};
    text.scaled = column->scale != 1 || column->offset != 0;
    if (text.scaled && !mote_type_is_float(column->type) && column->type != MOTE_UINT64) {
        text.decimal = mote_text_decimal_find(column->scale, column->offset);
    }
    return text;
}

static size_t put_real(char *out, const mote_text_column *text, uint64_t i, uint32_t *guess) {
    const mote_column *const column = text->column;
    size_t length = 0;
    if (text->scaled) {
        length = mote_text_put_double(out, mote_column_value(column, i), guess);
    } else if (column->type == MOTE_FLOAT32) {
        float value;
        memcpy(&value, mote_column_at(column, i), sizeof value);
        length = mote_text_put_float(out, value, guess);
    } else {
        length = mote_text_put_double(out, mote_column_stored(column, i), guess);
    }
    if (!text->pointed) return length;
    for (size_t k = 0; k < length; k++) {
        if (out[k] != '-' && (out[k] < '0' || out[k] > '9')) return length;
    }
    memcpy(out + length, ".0", 2);
    return length + 2;
}

static size_t put_value(char *out, const mote_text_column *text, uint64_t i, uint32_t *guess) {
    const mote_column *const column = text->column;
    if (column == NULL) {
        *out = '0';
        return 1;
    }
    if (text->limits != NULL && mote_is_no_data(column, text->limits, i)) {
        memcpy(out, "nan", 3);
        return 3;
    }
    if (mote_type_is_float(column->type)) return put_real(out, text, i, guess);
    const int64_t stored = mote_column_integer(column, i);
    int64_t scaled = 0;
    if (text->scaled) {
        if (text->decimal.exact && mote_text_decimal_apply(&text->decimal, stored, &scaled)) {
            return mote_text_put_fixed(out, scaled, text->decimal.decimals);
        }
        return put_real(out, text, i, guess);
    }
    return column->type == MOTE_UINT64 ? mote_text_put_unsigned(out, (uint64_t)stored)
                                       : mote_text_put_integer(out, stored);
}

static void fill_block(const writing *w, uint64_t block, uint64_t slot) {
    const uint64_t first = block * w->rows_per_block;
    const uint64_t last = w->rows - first < w->rows_per_block ? w->rows : first + w->rows_per_block;
    uint32_t *const guesses = w->guesses + slot * w->column_count;
    char *const begin = w->buffers + slot * w->block_bytes;
    char *out = begin;
    memset(guesses, 0, w->column_count * sizeof *guesses);
    for (uint64_t i = first; i < last; i++) {
        for (uint32_t c = 0; c < w->column_count; c++) {
            out += put_value(out, &w->columns[c], i, &guesses[c]);
            *out++ = c + 1 < w->column_count ? w->separator : '\n';
        }
    }
    w->lengths[slot] = (uint64_t)(out - begin);
}

static mote_status write_blocks(mote_context *ctx, mote_output *output, const writing *w, uint64_t slots,
                                const char *stage) {
    const uint64_t blocks = (w->rows + w->rows_per_block - 1) / w->rows_per_block;
    for (uint64_t first = 0; first < blocks; first += slots) {
        const int64_t count = (int64_t)(blocks - first < slots ? blocks - first : slots);
#pragma omp parallel for schedule(dynamic) num_threads(ctx->threads) if (count > 1)
        for (int64_t k = 0; k < count; k++) fill_block(w, first + (uint64_t)k, (uint64_t)k);
        for (int64_t k = 0; k < count; k++) {
            MOTE_TRY(mote_output_write(ctx, output, w->buffers + (uint64_t)k * w->block_bytes, w->lengths[k]));
        }
        MOTE_TRY(mote_progress(ctx, (double)(first + (uint64_t)count) / (double)blocks, stage));
    }
    return MOTE_OK;
}

mote_status mote_text_write(mote_context *ctx, mote_output *output, uint64_t rows, const mote_text_column *columns,
                            uint32_t column_count, char separator, const char *stage) {
    const uint64_t row_bytes = (uint64_t)column_count * (MOTE_TEXT_NUMBER_BYTES + 1);
    if (column_count == 0) return MOTE_OK;
    writing w = {.columns = columns, .column_count = column_count, .separator = separator, .rows = rows};
    w.rows_per_block = row_bytes < BUFFER_BYTES ? BUFFER_BYTES / row_bytes : 1;
    w.block_bytes = w.rows_per_block * row_bytes;
    const uint64_t slots = (uint64_t)ctx->threads * BLOCKS_PER_THREAD;
    w.buffers = mote_alloc(ctx, slots * w.block_bytes, "text blocks");
    w.lengths = mote_alloc(ctx, slots * sizeof *w.lengths, "text blocks");
    w.guesses = mote_alloc(ctx, slots * column_count * sizeof *w.guesses, "text blocks");
    mote_status status = MOTE_ERROR_MEMORY;
    if (w.buffers != NULL && w.lengths != NULL && w.guesses != NULL) {
        status = write_blocks(ctx, output, &w, slots, stage);
    }
    mote_free(ctx, w.guesses);
    mote_free(ctx, w.lengths);
    mote_free(ctx, w.buffers);
    return status;
}

static mote_status pick_named(mote_context *ctx, const mote_cloud *cloud, const char *names, const mote_column **picked,
                              uint32_t *count) {
    char name[MOTE_NAME_BYTES];
    for (const char *at = names; (at = mote_list_next(at, name)) != NULL;) {
        const mote_column *const column = mote_cloud_match(cloud, name);
        if (column == NULL) {
            return mote_fail(ctx, MOTE_ERROR_ARGUMENT, "there is no column \"%.100s\" to write", name);
        }
        for (uint32_t i = 0; i < *count; i++) {
            if (picked[i] == column) {
                return mote_fail(ctx, MOTE_ERROR_ARGUMENT, "column \"%s\" is to be written twice", column->name);
            }
        }
        picked[(*count)++] = column;
    }
    return MOTE_OK;
}

mote_status mote_text_pick_columns(mote_context *ctx, const mote_cloud *cloud, const char *names,
                                   const mote_column ***picked, uint32_t *count) {
    static const char *const axes[] = {"x", "y", "z"};
    *count = 0;
    *picked = mote_alloc(ctx, (cloud->column_count + 1) * sizeof **picked, "output");
    if (*picked == NULL) return MOTE_ERROR_MEMORY;
    if (names != NULL) {
        MOTE_TRY(pick_named(ctx, cloud, names, *picked, count));
    } else {
        for (; *count < cloud->column_count; (*count)++) (*picked)[*count] = &cloud->columns[*count];
    }
    for (int k = 0; k < 3; k++) {
        bool found = false;
        for (uint32_t i = 0; i < *count; i++) found |= strcmp((*picked)[i]->name, axes[k]) == 0;
        if (!found) return mote_fail(ctx, MOTE_ERROR_ARGUMENT, "the points to write have no %s", axes[k]);
    }
    return MOTE_OK;
}
