/* Writing PLY: properties in the order of the columns, and comments for what PLY has no words for. */
#include <float.h>
#include <math.h>
#include <stdio.h>

#include "io/ply/ply.h"

/* One property to write; its place in the row and what fills it is the field of the same number. */
typedef struct ply_target {
    const mote_column *source;
    char name[MOTE_PLY_NAME_BYTES];
    bool half; /* of a 64-bit column */
} ply_target;

typedef struct ply_writer {
    mote_context *ctx;
    const mote_cloud *cloud;
    const mote_write_params *params;
    const mote_column **columns;
    uint32_t column_count;
    const char **names;   /* [2 column_count] what the columns are to be called, and scratch */
    const char **read_as; /* [2 target_count] what a reader calls each target, and scratch; NULL: by its own name */
    ply_target *targets;
    mote_row_field *fields;
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

/* The names that the columns are to have: those that they had, the usual ones otherwise. */
static void choose_names(const ply_writer *w) {
    for (uint32_t i = 0; i < w->column_count; i++) {
        const char *const original = mote_original_name(w->columns[i]);
        w->names[i] = original != NULL ? original : mote_ply_usual_name(w->columns[i]->name);
    }
    mote_settle_names(w->columns, w->column_count, w->names, w->names + w->column_count);
}

static mote_row_field *add_target(ply_writer *w, uint32_t i, mote_type type, const char *ending) {
    const mote_column *const column = w->columns[i];
    ply_target *const target = &w->targets[w->target_count];
    mote_row_field *const field = &w->fields[w->target_count];
    memset(target, 0, sizeof *target);
    memset(field, 0, sizeof *field);
    /* A free name without blanks, of at most 100 bytes. */
    char clean[72];
    snprintf(clean, sizeof clean, "%.70s", w->names[i]);
    for (char *p = clean; *p != '\0'; p++) {
        if ((uint8_t)*p <= ' ' || *p == 0x7F) *p = '_';
    }
    snprintf(target->name, MOTE_PLY_NAME_BYTES, "%s%s", clean, ending);
    for (unsigned n = 2; name_is_taken(w, target->name); n++)
        snprintf(target->name, MOTE_PLY_NAME_BYTES, "%s_%u%s", clean, n, ending);
    target->source = column;
    target->half = ending[0] != '\0';
    field->view = *column;
    field->view.scale = 1;
    field->view.offset = 0;
    field->type = type;
    field->offset = w->record_bytes;
    w->record_bytes += mote_type_size(type);
    w->target_count++;
    return field;
}

/* Is every value of a 64-bit column a double? */
static bool fits_double(const ply_writer *w, const mote_column *column) {
    bool fits = true;
    const int64_t max = 1ll << DBL_MANT_DIG;
#pragma omp parallel for schedule(static) num_threads(w->ctx->threads) reduction(&& : fits)
    for (int64_t i = 0; i < (int64_t)w->cloud->count; i++) {
        const int64_t value = mote_column_integer(column, (uint64_t)i);
        fits = fits && value <= max && value >= -max && (value >= 0 || column->type == MOTE_INT64);
    }
    return fits;
}

static void add_wide(ply_writer *w, uint32_t i) {
    const mote_column *const column = w->columns[i];
    if (fits_double(w, column)) {
        add_target(w, i, MOTE_FLOAT64, "");
        return;
    }
    const uint8_t bits = column->bit_count > 0 ? column->bit_count : 64;
    mote_row_field *const low = add_target(w, i, MOTE_UINT32, "_low");
    low->view.type = MOTE_UINT64;
    low->view.bit_count = bits < 32 ? bits : 32;
    mote_row_field *const high = add_target(w, i, MOTE_UINT32, "_high");
    high->view.type = MOTE_UINT64;
    high->view.bit_shift = column->bit_shift + 32;
    high->view.bit_count = (uint8_t)(bits - 32);
}

static void add_column(ply_writer *w, uint32_t i) {
    const mote_column *const column = w->columns[i];
    const bool scaled = column->scale != 1 || column->offset != 0;
    if (mote_text_is_axis(column->name) && (scaled || mote_type_size(column->type) == 8)) {
        mote_rows_set_world(add_target(w, i, MOTE_FLOAT64, ""), column);
        return;
    }
    mote_type type = column->type;
    if (column->bit_count > 0 && column->bit_count <= 32) {
        type = column->bit_count <= 8 ? MOTE_UINT8 : column->bit_count <= 16 ? MOTE_UINT16 : MOTE_UINT32;
    }
    if (type == MOTE_INT64 || type == MOTE_UINT64) {
        add_wide(w, i);
    } else {
        add_target(w, i, type, "");
    }
}

/* ---- header */

static mote_status put_text(ply_writer *w, const char *text) { return mote_output_text(w->ctx, &w->output, text); }

/* What a reader takes the properties for. */
static void find_read_names(const ply_writer *w) {
    const char **const names = w->read_as + w->target_count;
    for (uint32_t i = 0; i < w->target_count; i++) names[i] = w->targets[i].name;
    mote_standard_names(names, w->target_count, w->read_as);
}

/* "comment mote column …" where a property says less than its column. */
static mote_status put_note(ply_writer *w, uint32_t i) {
    const ply_target *const target = &w->targets[i];
    const mote_column *const column = target->source;
    const bool scaled = !w->fields[i].world && (column->scale != 1 || column->offset != 0);
    const char *const read_as = w->read_as[i] != NULL ? w->read_as[i] : target->name;
    const bool renamed = strcmp(read_as, column->name) != 0;
    /* The reader says by itself what name a property has beside the standard one. */
    const bool told = !renamed && w->read_as[i] != NULL && strcmp(column->description, target->name) == 0;
    if (target->half && w->fields[i].view.bit_shift != column->bit_shift) return MOTE_OK; /* the first half said it */
    mote_column_note note = {.scale = column->scale, .offset = column->offset};
    note.has_scale = note.has_offset = scaled;
    note.limits_type = column->type;
    if (!w->fields[i].world) mote_cloud_limits(w->cloud, column->name, &note.limits);
    if (renamed) note.name = column->name;
    if (column->unit[0] != '\0') note.unit = column->unit;
    if (column->description[0] != '\0' && !told) note.description = column->description;
    note.joined = target->half;
    note.joined_type = column->type;
    return mote_notes_put_column(w->ctx, &w->output, "comment mote", target->name, &note);
}

static mote_rows rows_of(const ply_writer *w) {
    const mote_rows rows = {.fields = w->fields,
                            .field_count = w->target_count,
                            .row_bytes = w->record_bytes,
                            .swap = w->params->big_endian};
    return rows;
}

static mote_status put_header(ply_writer *w) {
    const char *const format = w->params->text         ? "ascii"
                               : w->params->big_endian ? "binary_big_endian"
                                                       : "binary_little_endian";
    char line[256];
    snprintf(line, sizeof line, "ply\nformat %s 1.0\n", format);
    MOTE_TRY(put_text(w, line));
    const mote_rows rows = rows_of(w);
    MOTE_TRY(mote_notes_put_cloud(w->ctx, &w->output, "comment mote", w->cloud, mote_rows_step(&rows, w->cloud)));
    for (uint32_t i = 0; i < w->target_count; i++) MOTE_TRY(put_note(w, i));
    snprintf(line, sizeof line, "element vertex %llu\n", (unsigned long long)w->cloud->count);
    MOTE_TRY(put_text(w, line));
    for (uint32_t i = 0; i < w->target_count; i++) {
        snprintf(line, sizeof line, "property %s %s\n", mote_ply_type_name(w->fields[i].type), w->targets[i].name);
        MOTE_TRY(put_text(w, line));
    }
    return put_text(w, "end_header\n");
}

/* ---- points */

static mote_status put_binary(ply_writer *w) {
    const mote_rows rows = rows_of(w);
    return mote_rows_write(w->ctx, &w->output, &rows, w->cloud->count, "writing PLY");
}

static mote_status put_rows(ply_writer *w) {
    mote_text_column *const columns = mote_alloc(w->ctx, w->target_count * sizeof *columns, "output");
    if (columns == NULL) return MOTE_ERROR_MEMORY;
    for (uint32_t i = 0; i < w->target_count; i++) columns[i] = mote_text_column_of(&w->fields[i].view, false);
    const mote_status status =
        mote_text_write(w->ctx, &w->output, w->cloud->count, columns, w->target_count, ' ', "writing PLY");
    mote_free(w->ctx, columns);
    return status;
}

static mote_status write_file(ply_writer *w, const char *path) {
    MOTE_TRY(mote_text_pick_columns(w->ctx, w->cloud, w->params->columns, &w->columns, &w->column_count));
    w->targets = mote_alloc(w->ctx, 2ull * w->column_count * sizeof *w->targets, "output");
    w->fields = mote_alloc(w->ctx, 2ull * w->column_count * sizeof *w->fields, "output");
    w->names = mote_alloc(w->ctx, 2ull * w->column_count * sizeof *w->names, "output");
    w->read_as = mote_alloc(w->ctx, 4ull * w->column_count * sizeof *w->read_as, "output");
    if (w->targets == NULL || w->fields == NULL || w->names == NULL || w->read_as == NULL) return MOTE_ERROR_MEMORY;
    choose_names(w);
    for (uint32_t i = 0; i < w->column_count; i++) add_column(w, i);
    find_read_names(w);
    MOTE_TRY(mote_output_open_in_order(w->ctx, path, &w->output));
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
    mote_free(ctx, w.read_as);
    mote_free(ctx, w.names);
    mote_free(ctx, w.fields);
    mote_free(ctx, w.targets);
    mote_free(ctx, w.columns);
    return status;
}
