/* Reads a cloud in pieces. LAS, LAZ and E57: into memory for one piece, which is used again for each; a piece of LAZ is
   as many chunks as keep all threads busy. Other formats are one piece. */
#include "io/reader.h"

#include <float.h>
#include <math.h>

/* ---- pieces */

/* Plain records from the file to the piece's memory. */
static void copy_records(const mote_reader *reader, uint64_t first, uint64_t count) {
    const las_source *source = &reader->source;
    const uint64_t record_bytes = source->header.point_bytes, part = 4096;
    const uint8_t *from = reader->input.data + source->header.points_at + first * record_bytes;
    const int64_t parts = (int64_t)((count + part - 1) / part);
#pragma omp parallel for schedule(static) num_threads(reader->ctx->threads)
    for (int64_t p = 0; p < parts; p++) {
        const uint64_t at = (uint64_t)p * part;
        mote_las_copy_selected(source, from + at * record_bytes, count - at < part ? count - at : part,
                               reader->records + at * source->selection.stride_bytes);
    }
}

static mote_status decode_piece(mote_reader *reader, bool *more) {
    las_source *source = &reader->source;
    uint64_t points = 0;
    const uint64_t most = mote_reader_next_units(reader, UINT64_MAX), first = reader->next;
    const uint64_t fitting = mote_las_piece_chunks(source, first, &points), count = fitting < most ? fitting : most;
    *more = count > 0;
    if (!*more) return MOTE_OK;
    reader->next += count;
    reader->piece_first = first;
    reader->piece_end = reader->next;
    MOTE_TRY(mote_las_decode(source, first, count, reader->records, &source->cloud->count, &reader->losses));
    for (uint64_t i = first; i < first + count; i++) {
        const las_chunk *chunk = &source->chunks.list[i];
        mote_input_forget(&reader->input, chunk->at, chunk->at + chunk->size_bytes);
    }
    return MOTE_OK;
}

static mote_status copy_piece(mote_reader *reader, bool *more) {
    const las_header *header = &reader->source.header;
    const uint64_t most = mote_reader_next_units(reader, mote_las_piece_points(&reader->source));
    const uint64_t remaining = reader->count - reader->next, points = remaining < most ? remaining : most;
    *more = points > 0;
    if (!*more) return MOTE_OK;
    reader->piece_first = reader->next;
    reader->piece_end = reader->next + points;
    copy_records(reader, reader->next, points);
    reader->source.cloud->count = points;
    const uint64_t from = header->points_at + reader->next * header->point_bytes;
    mote_input_forget(&reader->input, from, from + points * header->point_bytes);
    reader->next += points;
    return mote_progress(reader->ctx, (double)reader->next / (double)reader->count, "reading LAS");
}

/* Moves the points that meet a condition together. */
static void keep_meeting(mote_reader *reader, const where_bound *bound) {
    mote_cloud *piece = reader->piece;
    const uint64_t stride = reader->stride_bytes;
    uint64_t kept = 0;
    mote_where_choose(reader->ctx, bound, piece->count, reader->chosen);
    for (uint64_t i = 0; i < piece->count; i++) {
        if (!reader->chosen[i]) continue;
        if (kept < i) memcpy(reader->records + kept * stride, reader->records + i * stride, stride);
        kept++;
    }
    piece->count = kept;
}

/* The same for the condition of the caller; points of LAZ were chosen as they were decoded. */
static void keep_chosen(mote_reader *reader) {
    if (reader->chosen == NULL || mote_choice_is_late(&reader->params)) return;
    keep_meeting(reader, reader->is_e57 ? &reader->bound : &reader->source.filter->bound);
}

/* The same in the new system: columns have the scale and offset of that, piece by piece. */
static mote_status keep_chosen_late(mote_reader *reader) {
    if (reader->chosen == NULL || !mote_choice_is_late(&reader->params)) return MOTE_OK;
    mote_where_unbind(&reader->bound);
    MOTE_TRY(mote_where_bind(reader->choice.condition, reader->piece, reader->input.path, &reader->bound));
    keep_meeting(reader, &reader->bound);
    return MOTE_OK;
}

static mote_status assign(mote_reader *reader) {
    const mote_choice *choice = &reader->choice;
    uint64_t changed = 0;
    if (choice->assignments == NULL) return MOTE_OK;
    MOTE_TRY(mote_where_assign(reader->ctx, reader->piece, choice->assignments, choice->condition, reader->input.path,
                               reader->given, &changed));
    reader->changed += changed;
    if (reader->params.changed != NULL) *reader->params.changed += changed;
    return MOTE_OK;
}

/* Moves the points inside of a box together; NULL: all are. */
static mote_status keep_inside(mote_reader *reader, const mote_box *box) {
    mote_cloud *piece = reader->piece;
    const uint64_t stride = reader->stride_bytes;
    uint64_t *indices = NULL, count = 0;
    if (box == NULL) return MOTE_OK;
    MOTE_TRY(mote_cloud_find_inside(reader->ctx, piece, box, &indices, &count));
    for (uint64_t i = 0; i < count; i++) {
        if (indices[i] != i) memcpy(reader->records + i * stride, reader->records + indices[i] * stride, stride);
    }
    mote_free(reader->ctx, indices);
    piece->count = count;
    return MOTE_OK;
}

mote_status mote_reader_keep_finite(mote_reader *reader, uint64_t *dropped) {
    static const mote_box finite = {{-DBL_MAX, -DBL_MAX, -DBL_MAX}, {DBL_MAX, DBL_MAX, DBL_MAX}};
    const uint64_t before = reader->piece->count;
    const mote_column *axes[3];
    bool any_real = false;
    if (!mote_cloud_find_positions(reader->piece, axes)) return MOTE_OK;
    for (int k = 0; k < 3; k++) any_real = any_real || mote_type_is_float(axes[k]->type);
    if (any_real) MOTE_TRY(keep_inside(reader, &finite));
    *dropped += before - reader->piece->count;
    return MOTE_OK;
}

static mote_status read_piece(mote_reader *reader, bool *more) {
    if (reader->is_las && reader->source.header.compressed) return decode_piece(reader, more);
    if (reader->is_las) return copy_piece(reader, more);
    mote_stage(reader->ctx, "read E57");
    const uint64_t max = mote_piece_points(reader->ctx, reader->stride_bytes);
    const mote_status status = mote_e57_next(&reader->e57, reader->records, max, &reader->piece->count);
    mote_stage(reader->ctx, NULL);
    *more = status == MOTE_OK && reader->piece->count > 0;
    return status;
}

/* ---- opening */

/* Replaces a text of the caller by a copy. */
static mote_status keep_text(mote_context *ctx, const char **text, char **copy) {
    if (*text == NULL) return MOTE_OK;
    *text = *copy = mote_strdup(ctx, *text);
    return *copy != NULL ? MOTE_OK : MOTE_ERROR_MEMORY;
}

static mote_status copy_params(mote_reader *reader, const mote_read_params *params) {
    reader->params = params != NULL ? *params : mote_read_defaults();
    MOTE_TRY(mote_check_reserved(reader->ctx, reader->params.reserved, sizeof reader->params.reserved,
                                 "mote_read_params", "mote_read_defaults()"));
    if (reader->params.sample != NULL) {
        return mote_fail(reader->ctx, MOTE_ERROR_ARGUMENT, "a sample of files is not read in pieces");
    }
    reader->params.to_device = false;
    if (reader->params.bounds != NULL) {
        reader->bounds = *reader->params.bounds;
        reader->params.bounds = &reader->bounds;
    }
    MOTE_TRY(keep_text(reader->ctx, &reader->params.select, &reader->select));
    MOTE_TRY(keep_text(reader->ctx, &reader->params.where, &reader->where));
    MOTE_TRY(keep_text(reader->ctx, &reader->params.set, &reader->set));
    mote_read_params of_file = reader->params;
    if (of_file.to_crs != NULL && of_file.bounds_in_to_crs) of_file.bounds = NULL;
    return mote_choice_open(reader->ctx, &of_file, &reader->choice);
}

/* Columns that are read for expressions alone go behind the others, in their order. */
static mote_status sort_columns(mote_reader *reader) {
    mote_cloud *piece = reader->piece;
    const uint64_t count = reader->all_columns = reader->shown_columns = piece->column_count;
    if (reader->select == NULL || reader->choice.params.select == reader->select) return MOTE_OK;
    bool *shown = mote_alloc_zero(reader->ctx, count * sizeof *shown, "columns");
    mote_column *sorted = mote_alloc(reader->ctx, count * sizeof *sorted, "columns");
    const bool made = shown != NULL && sorted != NULL;
    if (made) {
        uint64_t at = 0;
        mote_list_mark(piece, reader->select, shown);
        mote_list_mark(piece, "x,y,z", shown);
        for (int pass = 0; pass < 2; pass++) {
            for (uint64_t c = 0; c < count; c++) {
                if (shown[c] == (pass == 0)) sorted[at++] = piece->columns[c];
            }
            if (pass == 0) reader->shown_columns = at;
        }
        memcpy(piece->columns, sorted, count * sizeof *sorted);
    }
    mote_free(reader->ctx, shown);
    mote_free(reader->ctx, sorted);
    return made ? MOTE_OK : MOTE_ERROR_MEMORY;
}

/* Where the points lie: by the header of LAS, which may lie, so that pieces do not fit and say so; of E57 by a look at
   all of them. */
static mote_status find_box(mote_reader *reader, mote_box *box) {
    for (uint32_t k = 0; k < 3; k++) {
        box->min[k] = reader->is_las ? las_f64(reader->input.data + LAS_AT_MIN_OF_AXIS(k)) : INFINITY;
        box->max[k] = reader->is_las ? las_f64(reader->input.data + LAS_AT_MAX_OF_AXIS(k)) : -INFINITY;
    }
    for (bool more = reader->is_e57; more;) {
        mote_box piece;
        MOTE_TRY(read_piece(reader, &more));
        keep_chosen(reader);
        if (!reader->params.bounds_in_to_crs) MOTE_TRY(keep_inside(reader, reader->params.bounds));
        MOTE_TRY(mote_cloud_bounds(reader->ctx, reader->piece, &piece, NULL));
        for (int k = 0; k < 3; k++) {
            box->min[k] = fmin(box->min[k], piece.min[k]);
            box->max[k] = fmax(box->max[k], piece.max[k]);
        }
        reader->piece->count = 0;
    }
    if (reader->is_e57) mote_e57_rewind(&reader->e57);
    return MOTE_OK;
}

static mote_status open_system(mote_reader *reader) {
    const mote_read_params *params = &reader->params;
    mote_box box;
    MOTE_TRY(mote_crs_assign(reader->ctx, reader->piece, params));
    if (params->to_crs == NULL) return MOTE_OK;
    MOTE_TRY(find_box(reader, &box));
    return mote_crs_change_open(reader->ctx, reader->input.path, reader->piece, &box, params->to_crs,
                                params->crs_ballpark, &reader->change);
}

mote_status mote_reader_place(mote_reader *reader, const mote_box *box) {
    mote_context *ctx = reader->ctx;
    const mote_log_fn log = ctx->params.log;
    mote_crs_change_close(&reader->change);
    ctx->params.log = NULL; /* what there was to tell was told when the reader was opened */
    const mote_status status = mote_crs_change_open(ctx, reader->input.path, reader->piece, box, reader->params.to_crs,
                                                    reader->params.crs_ballpark, &reader->change);
    ctx->params.log = log;
    return status == MOTE_OK ? mote_crs_change_shape(&reader->change, reader->piece) : status;
}

/* points: of the largest piece; has_condition: on points that are still to be chosen. */
static mote_status open_piece(mote_reader *reader, uint64_t points, bool has_condition) {
    const bool is_late = mote_choice_is_late(&reader->params) && reader->choice.assignments == NULL;
    MOTE_TRY(sort_columns(reader));
    if (has_condition || (is_late && reader->choice.condition != NULL)) {
        reader->chosen = mote_alloc(reader->ctx, points * sizeof *reader->chosen, "chosen points");
        if (reader->chosen == NULL) return MOTE_ERROR_MEMORY;
    }
    reader->piece->count = 0;
    return open_system(reader);
}

static mote_status open_las(mote_reader *reader) {
    las_source *source = &reader->source;
    MOTE_TRY(mote_las_open(reader->ctx, &reader->input, &reader->choice.params, source));
    const uint64_t largest = mote_las_largest_piece(source);
    MOTE_TRY(mote_las_prove_chunks(source, largest, &reader->losses));
    reader->count = source->header.compressed ? source->chunks.points : source->cloud->count;
    MOTE_TRY(mote_las_take_records(source, largest, &reader->records));
    reader->piece = source->cloud;
    reader->stride_bytes = source->selection.stride_bytes;
    return open_piece(reader, largest, source->filter != NULL && !source->header.compressed);
}

static mote_status open_e57(mote_reader *reader) {
    e57_source *const source = &reader->e57;
    const mote_choice *choice = &reader->choice;
    MOTE_TRY(mote_e57_open(reader->ctx, &reader->input, &choice->params, source));
    reader->stride_bytes = source->plan.record_bytes;
    const uint64_t max = mote_piece_points(reader->ctx, reader->stride_bytes);
    const uint64_t points = source->points < max ? source->points : max;
    reader->count = source->points;
    reader->records = mote_alloc(reader->ctx, points * reader->stride_bytes, "E57 points");
    if (reader->records == NULL) return MOTE_ERROR_MEMORY;
    MOTE_TRY(mote_e57_make_cloud(reader->ctx, &source->file, &source->plan, &choice->params, reader->records,
                                 &reader->whole));
    mote_e57_tell_unit(source, reader->whole);
    reader->piece = reader->whole;
    if (choice->params.where != NULL) {
        MOTE_TRY(mote_where_bind(choice->condition, reader->piece, reader->input.path, &reader->bound));
    }
    return open_piece(reader, points, choice->params.where != NULL);
}

static mote_status open_path(mote_reader *reader) {
    if (!mote_potree_probe(reader->path)) {
        MOTE_TRY(mote_input_open(reader->ctx, reader->path, &reader->input));
        reader->is_las = mote_las_probe(&reader->input);
        reader->is_e57 = mote_e57_is_signed(&reader->input);
    }
    if (reader->is_las) return open_las(reader);
    if (reader->is_e57) return open_e57(reader);
    MOTE_TRY(reader->input.data != NULL
                 ? mote_cloud_read_input(reader->ctx, &reader->input, &reader->params, &reader->whole)
                 : mote_cloud_read(reader->ctx, reader->path, &reader->params, &reader->whole));
    reader->count = mote_cloud_count(reader->whole);
    return MOTE_OK;
}

mote_status mote_reader_open(mote_context *ctx, const char *path, const mote_read_params *params, mote_reader **out) {
    mote_reader *reader = *out = mote_alloc_zero(ctx, sizeof *reader, "reader");
    if (reader == NULL) return MOTE_ERROR_MEMORY;
    reader->ctx = reader->source.ctx = ctx;
    reader->path = mote_strdup(ctx, path);
    mote_status status = reader->path != NULL ? copy_params(reader, params) : MOTE_ERROR_MEMORY;
    if (status == MOTE_OK) status = open_path(reader);
    if (status == MOTE_OK) return MOTE_OK;
    mote_reader_close(reader);
    *out = NULL;
    return status;
}

void mote_reader_close(mote_reader *reader) {
    if (reader == NULL) return;
    mote_context *ctx = reader->ctx;
    mote_cloud_destroy(reader->whole);
    reader->change.ctx = ctx;
    mote_crs_change_close(&reader->change);
    mote_las_close(&reader->source);
    mote_e57_close(&reader->e57);
    mote_input_close(ctx, &reader->input);
    mote_where_unbind(&reader->bound);
    mote_choice_close(ctx, &reader->choice);
    mote_free(ctx, reader->chosen);
    mote_free(ctx, reader->set);
    mote_free(ctx, reader->where);
    mote_free(ctx, reader->select);
    mote_free(ctx, reader->path);
    mote_free(ctx, reader);
}

uint64_t mote_reader_count(const mote_reader *reader) { return reader->count; }

/* ---- the next piece */

/* Keeps the points of a piece that are asked for, and gives them the values that are asked for. */
static mote_status settle_piece(mote_reader *reader) {
    const bool late = reader->params.to_crs != NULL && reader->params.bounds_in_to_crs;
    const bool late_choice = mote_choice_is_late(&reader->params);
    keep_chosen(reader);
    if (!late) MOTE_TRY(keep_inside(reader, reader->params.bounds));
    if (!late_choice) MOTE_TRY(assign(reader));
    MOTE_TRY(mote_crs_change_piece(&reader->change, reader->piece));
    MOTE_TRY(keep_chosen_late(reader));
    if (late_choice) MOTE_TRY(assign(reader));
    return late ? keep_inside(reader, reader->params.bounds) : MOTE_OK;
}

static mote_status report(mote_reader *reader) {
    if (reader->told) return MOTE_OK;
    reader->told = true;
    if (reader->is_e57) return mote_e57_report(&reader->e57, reader->kept);
    const uint64_t left_out = reader->source.filter != NULL ? reader->source.filter->left_out : 0;
    return mote_las_report_losses(&reader->source, &reader->losses, reader->kept + left_out);
}

mote_status mote_reader_next(mote_reader *reader, const mote_cloud **piece) {
    bool more = reader->next == 0;
    *piece = NULL;
    if (reader->piece == NULL) {
        reader->next = 1;
        *piece = more ? reader->whole : NULL;
        return mote_cloud_check(reader->whole);
    }
    mote_cloud *cloud = reader->piece;
    cloud->column_count = reader->all_columns;
    do {
        cloud->count = 0;
        mote_crs_change_rewind(&reader->change, cloud);
        MOTE_TRY(read_piece(reader, &more));
        MOTE_TRY(mote_input_check(reader->ctx, &reader->input));
        reader->kept += cloud->count;
        MOTE_TRY(settle_piece(reader));
    } while (more && cloud->count == 0);
    const uint64_t given_before = reader->given - reader->span_given;
    reader->place = given_before + (reader->spans != NULL ? reader->spans[reader->span].before : 0);
    reader->given += cloud->count;
    cloud->column_count = reader->shown_columns;
    if (!more) return report(reader);
    *piece = cloud;
    return MOTE_OK;
}

void mote_reader_rewind(mote_reader *reader) {
    if (reader->is_e57) mote_e57_rewind(&reader->e57);
    if (reader->source.filter != NULL) reader->source.filter->left_out = 0;
    if (reader->params.changed != NULL) *reader->params.changed -= reader->changed;
    memset(&reader->losses, 0, sizeof reader->losses);
    reader->next = reader->kept = reader->given = reader->changed = reader->span = reader->span_given = 0;
}
