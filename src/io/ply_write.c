/* Writing PLY: properties in the order of the columns, and comments for what PLY has no words for. */
#include <float.h>
#include <math.h>
#include <stdio.h>

#include "io/ply.h"

#define BLOCK_BYTES (4u << 20)
#define CHUNK_ROWS  512u /* converted at a time */

/* One property to write. */
typedef struct ply_target {
    const mote_column *source;
    char name[MOTE_PLY_NAME_BYTES];
    mote_column view; /* the source, or half of it; without scale and offset unless world */
    mote_type type;   /* as written */
    uint32_t offset;  /* in the record */
    bool world;       /* scale and offset are applied */
    bool half;        /* of a 64-bit column */
    mote_text_decimal decimal;
} ply_target;

typedef struct ply_writer {
    mote_context *ctx;
    const mote_cloud *cloud;
    const mote_write_params *params;
    const mote_column **columns;
    uint32_t column_count;
    ply_target *targets;
    uint32_t target_count;
    uint32_t record_bytes;
    mote_output output;
} ply_writer;

/* ---- which properties */

static bool name_is_taken(const ply_writer *w, const char *name) {
    for (uint32_t i = 0; i < w->target_count; i++) {
        if (strcmp(w->targets[i].name, name) == 0) return true;
    }
    return false;
}

static bool is_written(const ply_writer *w, const char *name) {
    for (uint32_t i = 0; i < w->column_count; i++) {
        if (strcmp(w->columns[i]->name, name) == 0) return true;
    }
    return false;
}

/* The property that a standard column came from, if its description says so; normals are nx, ny, nz by default. NULL
   for other columns. Only whole groups have other names, as only these are renamed by the reader. */
static const char *alias_of(const ply_writer *w, const mote_column *column) {
    for (uint32_t g = 0; g < MOTE_PLY_ALIAS_GROUPS; g++) {
        const mote_ply_alias_group *const group = &mote_ply_alias_groups[g];
        if (!is_written(w, group->column[0]) || !is_written(w, group->column[1]) || !is_written(w, group->column[2])) {
            continue;
        }
        for (int k = 0; k < 4 && group->property[k] != NULL; k++) {
            if (strcmp(column->name, group->column[k]) != 0) continue;
            if (strcmp(column->description, column->name) == 0) return column->name;
            if (g == 0 && column->description[0] == '\0') return group->property[k];
            if (strcmp(column->description, group->property[k]) == 0) return group->property[k];
        }
    }
    return NULL;
}

static const char *property_name(const ply_writer *w, const mote_column *column) {
    const char *const alias = alias_of(w, column);
    return alias != NULL ? alias : column->name;
}

/* A free name without blanks, of at most 100 bytes. */
static void make_name(const ply_writer *w, const char *wanted, const char *ending, char *name) {
    char clean[72];
    snprintf(clean, sizeof clean, "%.70s", wanted);
    for (char *p = clean; *p != '\0'; p++) {
        if ((uint8_t)*p <= ' ' || *p == 0x7F) *p = '_';
    }
    snprintf(name, MOTE_PLY_NAME_BYTES, "%s%s", clean, ending);
    for (unsigned n = 2; name_is_taken(w, name); n++) snprintf(name, MOTE_PLY_NAME_BYTES, "%s_%u%s", clean, n, ending);
}

static ply_target *add_target(ply_writer *w, const mote_column *column, mote_type type, const char *ending) {
    ply_target *const target = &w->targets[w->target_count];
    memset(target, 0, sizeof *target);
    make_name(w, property_name(w, column), ending, target->name);
    target->source = column;
    target->view = *column;
    target->view.scale = 1;
    target->view.offset = 0;
    target->type = type;
    target->offset = w->record_bytes;
    w->record_bytes += mote_type_size(type);
    w->target_count++;
    return target;
}

/* Is every value of a 64-bit column a double? */
static bool fits_double(const ply_writer *w, const mote_column *column) {
    bool fits = true;
    const int64_t most = 1ll << DBL_MANT_DIG;
#pragma omp parallel for schedule(static) num_threads(w->ctx->threads) reduction(&& : fits)
    for (int64_t i = 0; i < (int64_t)w->cloud->count; i++) {
        const int64_t value = mote_column_integer(column, (uint64_t)i);
        fits = fits && value <= most && value >= -most && (value >= 0 || column->type == MOTE_INT64);
    }
    return fits;
}

static void add_wide(ply_writer *w, const mote_column *column) {
    if (fits_double(w, column)) {
        add_target(w, column, MOTE_FLOAT64, "");
        return;
    }
    const uint8_t bits = column->bit_count > 0 ? column->bit_count : 64;
    ply_target *const low = add_target(w, column, MOTE_UINT32, "_low");
    low->half = true;
    low->view.type = MOTE_UINT64;
    low->view.bit_count = bits < 32 ? bits : 32;
    ply_target *const high = add_target(w, column, MOTE_UINT32, "_high");
    high->half = true;
    high->view.type = MOTE_UINT64;
    high->view.bit_shift = column->bit_shift + 32;
    high->view.bit_count = (uint8_t)(bits - 32);
}

static void add_column(ply_writer *w, const mote_column *column) {
    const bool scaled = column->scale != 1 || column->offset != 0;
    if (mote_text_is_axis(column->name) && (scaled || mote_type_size(column->type) == 8)) {
        ply_target *const target = add_target(w, column, MOTE_FLOAT64, "");
        target->world = scaled;
        target->view.scale = column->scale;
        target->view.offset = column->offset;
        target->decimal = mote_text_decimal_find(column->scale, column->offset);
        return;
    }
    mote_type type = column->type;
    if (column->bit_count > 0 && column->bit_count <= 32) {
        type = column->bit_count <= 8 ? MOTE_UINT8 : column->bit_count <= 16 ? MOTE_UINT16 : MOTE_UINT32;
    }
    if (type == MOTE_INT64 || type == MOTE_UINT64) {
        add_wide(w, column);
    } else {
        add_target(w, column, type, "");
    }
}

/* ---- header */

static mote_status put_text(ply_writer *w, const char *text) {
    return mote_output_write(w->ctx, &w->output, text, strlen(text));
}

static mote_status put_escaped(ply_writer *w, const char *key, const char *text) {
    char *const escaped = mote_alloc(w->ctx, 3 * strlen(text) + 1, "texts");
    if (escaped == NULL) return MOTE_ERROR_MEMORY;
    mote_text_escape(text, "", escaped);
    mote_status status = put_text(w, key);
    if (status == MOTE_OK) status = put_text(w, escaped);
    mote_free(w->ctx, escaped);
    return status;
}

static mote_status put_number(ply_writer *w, const char *key, double value) {
    char text[MOTE_TEXT_NUMBER_BYTES];
    uint32_t guess = 0;
    const size_t length = mote_text_put_double(text, value, &guess);
    MOTE_TRY(put_text(w, key));
    return mote_output_write(w->ctx, &w->output, text, length);
}

/* Is there a description that is more than the name of a property? */
static bool is_described(const ply_writer *w, const mote_column *column) {
    const char *const alias = alias_of(w, column);
    return column->description[0] != '\0' && (alias == NULL || strcmp(alias, column->description) != 0);
}

/* "comment mote column …" where a property says less than its column. */
static mote_status put_note(ply_writer *w, const ply_target *target) {
    const mote_column *const column = target->source;
    const bool scaled = !target->world && (column->scale != 1 || column->offset != 0);
    const bool renamed = strcmp(target->name, property_name(w, column)) != 0;
    const bool described = is_described(w, column);
    if (target->half && target->view.bit_shift != column->bit_shift) return MOTE_OK; /* the first half has said it */
    if (!scaled && !renamed && !described && column->unit[0] == '\0') return MOTE_OK;
    MOTE_TRY(put_text(w, "comment mote column "));
    MOTE_TRY(put_text(w, target->name));
    if (renamed) MOTE_TRY(put_escaped(w, " name ", column->name));
    if (target->half) MOTE_TRY(put_text(w, column->type == MOTE_INT64 ? " joined int64" : " joined uint64"));
    if (scaled) MOTE_TRY(put_number(w, " scale ", column->scale));
    if (scaled) MOTE_TRY(put_number(w, " offset ", column->offset));
    if (column->unit[0] != '\0') MOTE_TRY(put_escaped(w, " unit ", column->unit));
    if (described) MOTE_TRY(put_escaped(w, " description ", column->description));
    return put_text(w, "\n");
}

/* The decimal step of the positions as they are written, 0 if they have none. */
static double position_step(const ply_writer *w) {
    uint32_t decimals = 0;
    int world = 0;
    for (uint32_t i = 0; i < w->target_count; i++) {
        const ply_target *const target = &w->targets[i];
        if (!target->world || !target->decimal.exact) continue;
        world++;
        if (target->decimal.decimals > decimals) decimals = target->decimal.decimals;
    }
    if (world == 0) return w->cloud->position_step;
    return world == 3 && decimals <= 9 ? 1.0 / (double)mote_text_power10[decimals] : 0;
}

static mote_status put_header(ply_writer *w) {
    const char *const format = w->params->text         ? "ascii"
                               : w->params->big_endian ? "binary_big_endian"
                                                       : "binary_little_endian";
    char line[256];
    snprintf(line, sizeof line, "ply\nformat %s 1.0\n", format);
    MOTE_TRY(put_text(w, line));
    const char *const crs = mote_cloud_crs(w->cloud);
    if (crs[0] != '\0' && 3 * strlen(crs) < 1000000) {
        MOTE_TRY(put_escaped(w, "comment mote crs ", crs));
        MOTE_TRY(put_text(w, "\n"));
    }
    const double step = position_step(w);
    if (step > 0) {
        MOTE_TRY(put_number(w, "comment mote position_step ", step));
        MOTE_TRY(put_text(w, "\n"));
    }
    for (uint32_t i = 0; i < w->target_count; i++) MOTE_TRY(put_note(w, &w->targets[i]));
    snprintf(line, sizeof line, "element vertex %llu\n", (unsigned long long)w->cloud->count);
    MOTE_TRY(put_text(w, line));
    for (uint32_t i = 0; i < w->target_count; i++) {
        const ply_target *const target = &w->targets[i];
        snprintf(line, sizeof line, "property %s %s\n", mote_ply_type_name(target->type), target->name);
        MOTE_TRY(put_text(w, line));
    }
    return put_text(w, "end_header\n");
}

/* ---- points */

static void fill_chunk(const ply_target *target, uint64_t first, uint32_t rows, bool swap, uint8_t *to,
                       uint32_t record_bytes) {
    const uint32_t size_bytes = mote_type_size(target->type);
    uint64_t values[CHUNK_ROWS];
    uint8_t *const dense = (uint8_t *)values;
    if (target->world) {
        for (uint32_t i = 0; i < rows; i++) {
            const double value = mote_text_decimal_value(&target->decimal, &target->view, first + i);
            memcpy(dense + 8 * i, &value, 8);
        }
    } else {
        mote_column_read(&target->view, first, rows, target->type, dense);
    }
    for (uint32_t i = 0; i < rows; i++) {
        mote_ply_copy_value(to + (uint64_t)i * record_bytes, dense + (uint64_t)i * size_bytes, size_bytes, swap);
    }
}

static void fill_block(const ply_writer *w, uint64_t first, uint64_t rows, uint8_t *block) {
    const int64_t chunks = (int64_t)((rows + CHUNK_ROWS - 1) / CHUNK_ROWS);
    const bool swap = w->params->big_endian;
#pragma omp parallel for schedule(static) num_threads(w->ctx->threads) if (chunks > 1)
    for (int64_t c = 0; c < chunks; c++) {
        const uint64_t begin = (uint64_t)c * CHUNK_ROWS;
        const uint32_t count = (uint32_t)(rows - begin < CHUNK_ROWS ? rows - begin : CHUNK_ROWS);
        for (uint32_t i = 0; i < w->target_count; i++) {
            const ply_target *const target = &w->targets[i];
            fill_chunk(target, first + begin, count, swap, block + begin * w->record_bytes + target->offset,
                       w->record_bytes);
        }
    }
}

/* The records as they are to be written, if memory holds them so; else NULL. */
static const uint8_t *ready_records(const ply_writer *w) {
    const uint8_t *const base = w->targets[0].view.data;
    if (w->params->big_endian) return NULL;
    for (uint32_t i = 0; i < w->target_count; i++) {
        const ply_target *const target = &w->targets[i];
        if (target->world || target->half || target->type != target->view.type || target->view.bit_count > 0 ||
            target->view.stride_bytes != w->record_bytes ||
            (const uint8_t *)target->view.data != base + target->offset) {
            return NULL;
        }
    }
    return base;
}

static mote_status put_binary(ply_writer *w) {
    const uint64_t most = BLOCK_BYTES > w->record_bytes ? BLOCK_BYTES / w->record_bytes : 1;
    const uint8_t *const ready = ready_records(w);
    uint8_t *const block = ready == NULL ? mote_alloc(w->ctx, most * w->record_bytes, "output") : NULL;
    mote_status status = ready == NULL && block == NULL ? MOTE_ERROR_MEMORY : MOTE_OK;
    for (uint64_t first = 0; first < w->cloud->count && status == MOTE_OK; first += most) {
        const uint64_t rows = w->cloud->count - first < most ? w->cloud->count - first : most;
        if (block != NULL) fill_block(w, first, rows, block);
        const uint8_t *const from = block != NULL ? block : ready + first * w->record_bytes;
        status = mote_output_write(w->ctx, &w->output, from, rows * w->record_bytes);
        if (status == MOTE_OK) {
            status = mote_progress(w->ctx, (double)(first + rows) / (double)w->cloud->count, "writing PLY");
        }
    }
    mote_free(w->ctx, block);
    return status;
}

static mote_status put_rows(ply_writer *w) {
    mote_text_column *const columns = mote_alloc(w->ctx, w->target_count * sizeof *columns, "output");
    if (columns == NULL) return MOTE_ERROR_MEMORY;
    for (uint32_t i = 0; i < w->target_count; i++) columns[i] = mote_text_column_of(&w->targets[i].view, false);
    const mote_status status =
        mote_text_write(w->ctx, &w->output, w->cloud->count, columns, w->target_count, ' ', "writing PLY");
    mote_free(w->ctx, columns);
    return status;
}

static mote_status write_file(ply_writer *w, const char *path) {
    MOTE_TRY(mote_text_pick_columns(w->ctx, w->cloud, w->params->columns, &w->columns, &w->column_count));
    w->targets = mote_alloc(w->ctx, 2ull * w->column_count * sizeof *w->targets, "output");
    if (w->targets == NULL) return MOTE_ERROR_MEMORY;
    for (uint32_t i = 0; i < w->column_count; i++) add_column(w, w->columns[i]);
    MOTE_TRY(mote_output_open(w->ctx, path, &w->output));
    mote_status status = put_header(w);
    if (status == MOTE_OK) status = w->params->text ? put_rows(w) : put_binary(w);
    return mote_output_close(w->ctx, &w->output, status);
}

mote_status mote_ply_write(mote_context *ctx, const mote_cloud *cloud, const char *path,
                           const mote_write_params *params) {
    ply_writer w = {.ctx = ctx, .cloud = cloud, .params = params};
    if (params->text && params->big_endian) {
        return mote_fail(ctx, MOTE_ERROR_ARGUMENT, "a PLY file is either text or big-endian");
    }
    mote_stage(ctx, "write PLY");
    const mote_status status = write_file(&w, path);
    mote_stage(ctx, NULL);
    mote_free(ctx, w.targets);
    mote_free(ctx, w.columns);
    return status;
}
