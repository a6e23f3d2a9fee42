/* Writing PCD 0.7, as text, binary or binary_compressed; comments say what PCD has no words for. */
#include <stdio.h>

#include "io/pcd/pcd.h"

#define PIECE_BYTES       (1u << 20) /* compressed on its own */
#define PIECES_PER_THREAD 4

typedef struct pcd_writer {
    mote_context *ctx;
    const mote_cloud *cloud;
    const mote_write_params *params;
    mote_pcd_plan plan;
    mote_output output;
} pcd_writer;

/* ---- header */

static mote_rows rows_of(const pcd_writer *w) {
    const mote_rows rows = {
        .fields = w->plan.values, .field_count = w->plan.value_count, .row_bytes = w->plan.row_bytes};
    return rows;
}

static mote_status put_text(pcd_writer *w, const char *text) { return mote_output_text(w->ctx, &w->output, text); }

/* "# mote column …" where a field says less than its column. */
static mote_status put_note(pcd_writer *w, const mote_pcd_target *target) {
    const mote_column *const column = target->source;
    char base[MOTE_NAME_BYTES];
    if (target->color != NULL) return MOTE_OK;
    snprintf(base, sizeof base, "%.*s", target->count > 1 ? (int)(strrchr(column->name, '[') - column->name) : 127,
             column->name);
    const char *const read_as = target->read_as != NULL ? target->read_as : target->name;
    mote_column_note note = {.scale = column->scale, .offset = column->offset};
    note.has_scale = note.has_offset =
        !w->plan.values[target->first].world && (column->scale != 1 || column->offset != 0);
    note.limits_type = column->type;
    if (!w->plan.values[target->first].world) mote_cloud_limits(w->cloud, column->name, &note.limits);
    if (strcmp(read_as, base) != 0) note.name = base;
    if (column->unit[0] != '\0') note.unit = column->unit;
    /* The reader says it of a field that it gives another name. */
    const bool told =
        note.name == NULL && strcmp(read_as, target->name) != 0 && strcmp(column->description, target->name) == 0;
    if (column->description[0] != '\0' && !told) note.description = column->description;
    return mote_notes_put_column(w->ctx, &w->output, "# mote", target->name, &note);
}

/* How a field is declared. Text holds packed colours as integers, for many of them are no numbers as floats. */
static mote_type field_type(const pcd_writer *w, const mote_pcd_target *target) {
    if (target->color == NULL) return w->plan.values[target->first].type;
    return w->params->text && target->color->type == MOTE_FLOAT32 ? MOTE_UINT32 : target->color->type;
}

static mote_status put_words(pcd_writer *w, const char *keyword) {
    MOTE_TRY(put_text(w, keyword));
    for (uint32_t i = 0; i < w->plan.target_count; i++) {
        const mote_pcd_target *const target = &w->plan.targets[i];
        const mote_type type = field_type(w, target);
        char word[32] = " ";
        if (keyword[0] == 'F') {
            MOTE_TRY(put_text(w, " "));
            MOTE_TRY(put_text(w, target->name));
            continue;
        }
        if (keyword[0] == 'T') word[1] = mote_type_is_float(type) ? 'F' : mote_type_is_signed(type) ? 'I' : 'U';
        if (keyword[0] == 'S') snprintf(word, sizeof word, " %u", mote_type_size(type));
        if (keyword[0] == 'C') snprintf(word, sizeof word, " %u", target->color != NULL ? 1 : target->count);
        MOTE_TRY(put_text(w, word));
    }
    return put_text(w, "\n");
}

static bool is_viewpoint(const mote_record *record) {
    return strcmp(record->user_id, MOTE_PCD_USER) == 0 && strcmp(record->description, MOTE_PCD_VIEWPOINT) == 0 &&
           record->record_id == MOTE_PCD_VIEWPOINT_ID && record->size_bytes < MOTE_PCD_VIEWPOINT_BYTES;
}

/* Seven numbers between single blanks? */
static bool holds_seven_numbers(const uint8_t *text, uint64_t length) {
    const uint8_t *at = text, *const end = text + length;
    for (int i = 0; i < 7; i++) {
        mote_text_number number;
        if (i > 0 && (at == end || *at++ != ' ')) return false;
        if (!mote_text_scan(at, end, &number) || number.kind > MOTE_TEXT_REAL) return false;
        at = number.end;
    }
    return at == end;
}

/* The viewpoint that came with the cloud, if there is exactly one. */
static mote_status put_viewpoint(pcd_writer *w) {
    const mote_record *found = NULL;
    uint32_t count = 0;
    for (uint32_t i = 0; i < mote_cloud_record_count(w->cloud); i++) {
        const mote_record *const record = mote_cloud_record(w->cloud, i);
        if (!is_viewpoint(record) || !holds_seven_numbers(record->data, record->size_bytes)) continue;
        found = record;
        count++;
    }
    MOTE_TRY(put_text(w, "VIEWPOINT "));
    MOTE_TRY(count == 1 ? mote_output_write(w->ctx, &w->output, found->data, found->size_bytes)
                        : put_text(w, "0 0 0 1 0 0 0"));
    return put_text(w, "\n");
}

static mote_status put_header(pcd_writer *w) {
    const mote_rows rows = rows_of(w);
    const char *const data = w->params->text ? "ascii" : w->params->compress ? "binary_compressed" : "binary";
    uint64_t width = 0, height = 0;
    char line[128];
    if (!mote_cloud_grid(w->cloud, &width, &height)) width = w->cloud->count, height = 1;
    MOTE_TRY(put_text(w, "# .PCD v0.7 - Point Cloud Data file format\n"));
    MOTE_TRY(mote_notes_put_cloud(w->ctx, &w->output, "# mote", w->cloud, mote_rows_step(&rows, w->cloud)));
    for (uint32_t i = 0; i < w->plan.target_count; i++) MOTE_TRY(put_note(w, &w->plan.targets[i]));
    MOTE_TRY(put_text(w, "VERSION 0.7\n"));
    MOTE_TRY(put_words(w, "FIELDS"));
    MOTE_TRY(put_words(w, "SIZE"));
    MOTE_TRY(put_words(w, "TYPE"));
    MOTE_TRY(put_words(w, "COUNT"));
    snprintf(line, sizeof line, "WIDTH %llu\nHEIGHT %llu\n", (unsigned long long)width, (unsigned long long)height);
    MOTE_TRY(put_text(w, line));
    MOTE_TRY(put_viewpoint(w));
    snprintf(line, sizeof line, "POINTS %llu\nDATA %s\n", (unsigned long long)w->cloud->count, data);
    return put_text(w, line);
}

/* ---- text */

/* Packed colours as a column of integers. */
static mote_status pack_color(const pcd_writer *w, const mote_pcd_target *target, uint8_t **memory,
                              mote_column *packed) {
    const mote_rows rows = {.fields = w->plan.values + target->first,
                            .field_count = target->count,
                            .row_bytes = 4,
                            .begin = target->offset};
    *memory = mote_alloc(w->ctx, w->cloud->count * 4, "output");
    if (*memory == NULL) return MOTE_ERROR_MEMORY;
    mote_rows_fill(&rows, 0, w->cloud->count, *memory);
    *packed = (mote_column){.data = *memory, .stride_bytes = 4, .type = field_type(w, target), .scale = 1};
    return MOTE_OK;
}

static mote_status put_ascii(pcd_writer *w) {
    uint8_t *memory = NULL; /* of the packed colours, of which there is one at most */
    mote_column packed;
    uint32_t count = 0;
    mote_text_column *const columns = mote_alloc(w->ctx, w->plan.value_count * sizeof *columns, "output");
    mote_status status = columns != NULL ? MOTE_OK : MOTE_ERROR_MEMORY;
    for (uint32_t i = 0; i < w->plan.target_count && status == MOTE_OK; i++) {
        const mote_pcd_target *const target = &w->plan.targets[i];
        if (target->color != NULL) {
            status = pack_color(w, target, &memory, &packed);
            if (status == MOTE_OK) columns[count++] = mote_text_column_of(&packed, false);
            continue;
        }
        for (uint32_t k = 0; k < target->count; k++) {
            columns[count++] = mote_text_column_of(&w->plan.values[target->first + k].view, false);
        }
    }
    if (status == MOTE_OK) {
        status = mote_text_write(w->ctx, &w->output, w->cloud->count, columns, count, ' ', "writing PCD");
    }
    mote_free(w->ctx, memory);
    mote_free(w->ctx, columns);
    return status;
}

/* ---- binary_compressed: all values of the first field, then all of the second … Pieces of a field's values are
   compressed each on its own, for copies reach back less far than a piece; one behind the other they are one stream. */

typedef struct pcd_piece {
    uint32_t target;
    uint64_t first, count; /* points */
} pcd_piece;

/* The next pieces of a batch have a buffer of values, one of compressed bytes and a table each. */
typedef struct pcd_packer {
    const pcd_writer *w;
    pcd_piece next;
    uint64_t slots, value_bytes, packed_bytes;
    uint8_t *values, *packed;
    uint32_t *tables;
    uint64_t *sizes;
    pcd_piece *pieces;
    uint64_t written_bytes;
} pcd_packer;

static uint64_t points_of_piece(const mote_pcd_target *target) {
    return target->size_bytes < PIECE_BYTES ? PIECE_BYTES / target->size_bytes : 1;
}

static uint64_t next_pieces(pcd_packer *p) {
    const uint64_t points = p->w->cloud->count;
    uint64_t count = 0;
    while (count < p->slots && p->next.target < p->w->plan.target_count) {
        const uint64_t max = points_of_piece(&p->w->plan.targets[p->next.target]), remaining = points - p->next.first;
        p->next.count = remaining < max ? remaining : max;
        p->pieces[count++] = p->next;
        p->next.first += p->next.count;
        if (p->next.first < points) continue;
        p->next.target++;
        p->next.first = 0;
    }
    return count;
}

static void pack_piece(const pcd_packer *p, uint64_t slot) {
    const pcd_piece *const piece = &p->pieces[slot];
    const mote_pcd_target *const target = &p->w->plan.targets[piece->target];
    const mote_rows rows = {.fields = p->w->plan.values + target->first,
                            .field_count = target->count,
                            .row_bytes = target->size_bytes,
                            .begin = target->offset};
    uint8_t *const values = p->values + slot * p->value_bytes;
    mote_rows_fill(&rows, piece->first, piece->count, values);
    p->sizes[slot] = mote_lzf_encode(values, piece->count * target->size_bytes, p->packed + slot * p->packed_bytes,
                                     p->tables + slot * MOTE_LZF_TABLE_ENTRIES);
}

static mote_status put_pieces(pcd_writer *w, pcd_packer *p) {
    mote_context *const ctx = w->ctx;
    for (uint64_t count = next_pieces(p); count > 0; count = next_pieces(p)) {
#pragma omp parallel for schedule(dynamic) num_threads(ctx->threads) if (count > 1)
        for (int64_t i = 0; i < (int64_t)count; i++) pack_piece(p, (uint64_t)i);
        for (uint64_t i = 0; i < count; i++) {
            MOTE_TRY(mote_output_write(ctx, &w->output, p->packed + i * p->packed_bytes, p->sizes[i]));
            p->written_bytes += p->sizes[i];
        }
        const double done = (double)p->next.target / (double)w->plan.target_count;
        MOTE_TRY(mote_progress(ctx, done, "writing PCD"));
    }
    return MOTE_OK;
}

static mote_status pack_fields(pcd_writer *w, pcd_packer *p) {
    for (uint32_t i = 0; i < w->plan.target_count; i++) {
        const mote_pcd_target *const target = &w->plan.targets[i];
        const uint64_t bytes = points_of_piece(target) * target->size_bytes;
        if (bytes > p->value_bytes) p->value_bytes = bytes;
    }
    p->packed_bytes = mote_lzf_bound(p->value_bytes);
    p->values = mote_alloc(w->ctx, p->slots * p->value_bytes, "PCD pieces");
    p->packed = mote_alloc(w->ctx, p->slots * p->packed_bytes, "PCD pieces");
    p->tables = mote_alloc(w->ctx, p->slots * MOTE_LZF_TABLE_ENTRIES * sizeof *p->tables, "PCD pieces");
    p->sizes = mote_alloc(w->ctx, p->slots * sizeof *p->sizes, "PCD pieces");
    p->pieces = mote_alloc(w->ctx, p->slots * sizeof *p->pieces, "PCD pieces");
    if (p->values == NULL || p->packed == NULL || p->tables == NULL || p->sizes == NULL || p->pieces == NULL) {
        return MOTE_ERROR_MEMORY;
    }
    return put_pieces(w, p);
}

/* The two sizes that stand before the compressed data are 32-bit. */
static mote_status put_compressed(pcd_writer *w, const char *path) {
    const uint64_t bytes = w->cloud->count * w->plan.row_bytes, body = w->output.written_bytes;
    uint32_t sizes[2] = {0, (uint32_t)bytes};
    if (w->cloud->count > UINT32_MAX || bytes > UINT32_MAX) {
        return mote_fail(w->ctx, MOTE_ERROR_UNSUPPORTED,
                         "%s: binary_compressed holds 4 GiB of points, not %llu points of %u bytes; write binary", path,
                         (unsigned long long)w->cloud->count, w->plan.row_bytes);
    }
    MOTE_TRY(mote_output_write(w->ctx, &w->output, sizes, sizeof sizes));
    if (bytes == 0) return MOTE_OK;
    pcd_packer packer = {.w = w, .slots = (uint64_t)w->ctx->threads * PIECES_PER_THREAD};
    mote_status status = pack_fields(w, &packer);
    mote_free(w->ctx, packer.pieces);
    mote_free(w->ctx, packer.sizes);
    mote_free(w->ctx, packer.tables);
    mote_free(w->ctx, packer.packed);
    mote_free(w->ctx, packer.values);
    sizes[0] = (uint32_t)packer.written_bytes;
    if (status == MOTE_OK && packer.written_bytes > UINT32_MAX) {
        status = mote_fail(w->ctx, MOTE_ERROR_UNSUPPORTED, "%s: more than 4 GiB when compressed; write binary", path);
    }
    return status == MOTE_OK ? mote_output_patch(w->ctx, &w->output, sizes, sizeof sizes, body) : status;
}

/* ---- all of it */

static mote_status put_points(pcd_writer *w, const char *path) {
    const mote_rows rows = rows_of(w);
    if (w->params->text) return put_ascii(w);
    if (w->params->compress) return put_compressed(w, path);
    return mote_rows_write(w->ctx, &w->output, &rows, w->cloud->count, "writing PCD");
}

static mote_status write_file(pcd_writer *w, const char *path) {
    MOTE_TRY(mote_pcd_plan_make(w->ctx, w->cloud, w->params->columns, &w->plan));
    MOTE_TRY(w->params->compress ? mote_output_open(w->ctx, path, &w->output)
                                 : mote_output_open_in_order(w->ctx, path, &w->output));
    mote_status status = put_header(w);
    if (status == MOTE_OK) status = put_points(w, path);
    return mote_output_close(w->ctx, &w->output, status);
}

mote_status mote_pcd_write(mote_context *ctx, const mote_cloud *cloud, const char *path,
                           const mote_write_params *params) {
    pcd_writer w = {.ctx = ctx, .cloud = cloud, .params = params};
    if (params->text && params->compress) {
        return mote_fail(ctx, MOTE_ERROR_ARGUMENT, "a PCD file is either text or compressed");
    }
    mote_stage(ctx, "write PCD");
    const mote_status status = write_file(&w, path);
    mote_stage(ctx, NULL);
    mote_pcd_plan_close(ctx, &w.plan);
    return status;
}
