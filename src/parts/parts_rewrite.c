/* Searches in parts, whose results are written beside the points as these are read once more. */
#include "parts/parts.h"

#define COLUMNS_MAX 8u

typedef struct rewriting {
    parts_run *run;
    const parts_rewrite *rewrite;
    mote_output results;
    uint32_t result_bytes; /* of a point */
    mote_cloud *piece;     /* what is written: the columns of the source, and the results */
    uint8_t *read;         /* results of a piece, point by point */
    uint8_t *records;      /* of the points that remain, where some are left out */
    uint32_t *kept;        /* which ones they are */
    uint64_t next;         /* point of the inputs */
} rewriting;

static mote_status make_piece(rewriting *r) {
    mote_context *ctx = r->run->ctx;
    const mote_cloud *whole = r->run->source.whole;
    const uint64_t capacity = r->run->largest_piece;
    r->read = mote_alloc(ctx, capacity * r->result_bytes, "results");
    if (r->rewrite->leaves_out) {
        r->records = mote_alloc(ctx, capacity * r->run->source.record_bytes, "points of a piece");
        r->kept = mote_alloc(ctx, capacity * sizeof *r->kept, "points of a piece");
        if (r->records == NULL || r->kept == NULL) return MOTE_ERROR_MEMORY;
    }
    if (r->read == NULL) return MOTE_ERROR_MEMORY;
    MOTE_TRY(mote_cloud_new(ctx, capacity, &r->piece));
    for (uint64_t c = 0; c < whole->column_count; c++) MOTE_TRY(mote_cloud_add_view(r->piece, &whole->columns[c]));
    MOTE_TRY(mote_cloud_copy_extras(r->piece, whole));
    for (uint32_t a = 0; a < r->rewrite->spec_count; a++) {
        MOTE_TRY(mote_cloud_put_column(r->piece, &r->rewrite->specs[a]));
    }
    return MOTE_OK;
}

static bool is_result(const rewriting *r, const char *name) {
    for (uint32_t a = 0; a < r->rewrite->spec_count; a++) {
        if (strcmp(r->rewrite->specs[a].name, name) == 0) return true;
    }
    return false;
}

/* The piece looks at the next points, or those of them that remain, and has their results. */
static mote_status take_points(rewriting *r, const mote_cloud *piece, const uint8_t *records) {
    const parts_source *source = &r->run->source;
    uint8_t *columns[COLUMNS_MAX];
    uint32_t strides[COLUMNS_MAX];
    if (piece->count > r->run->largest_piece) return parts_changed(r->run);
    MOTE_TRY(parts_read_at(r->run->ctx, r->results.file, r->results.path, r->next * r->result_bytes,
                           piece->count * r->result_bytes, r->read));
    for (uint32_t a = 0; a < r->rewrite->spec_count; a++) {
        columns[a] = mote_cloud_column_data(r->piece, r->rewrite->specs[a].name);
        strides[a] = mote_cloud_find(r->piece, r->rewrite->specs[a].name)->stride_bytes;
    }
    const parts_found found = {r->read, piece->count, columns, strides, r->kept};
    r->piece->count = r->rewrite->take(r->rewrite->user, &found);
    if (r->rewrite->leaves_out) {
        const uint64_t bytes = source->record_bytes;
        for (uint64_t i = 0; i < r->piece->count; i++) {
            memcpy(r->records + i * bytes, records + r->kept[i] * bytes, bytes);
        }
        records = r->records;
    }
    for (uint64_t c = 0; c < source->whole->column_count; c++) {
        const char *name = source->whole->columns[c].name;
        if (is_result(r, name)) continue;
        mote_column *column = &r->piece->columns[mote_cloud_find(r->piece, name) - r->piece->columns];
        column->data = (uint8_t *)(uintptr_t)records + source->column_at[c];
    }
    r->next += piece->count;
    return MOTE_OK;
}

static mote_status begin_walk(void *user) {
    rewriting *r = user;
    parts_source_rewind(&r->run->source, 0, 1);
    r->next = 0;
    if (r->rewrite->begin != NULL) r->rewrite->begin(r->rewrite->user);
    return MOTE_OK;
}

static mote_status next_points(void *user, bool *any) {
    rewriting *r = user;
    const mote_cloud *piece = NULL;
    const uint8_t *records = NULL;
    do {
        const mote_progress_span whole = mote_progress_hold(r->run->ctx); /* writing reports */
        const mote_status status = parts_source_next(&r->run->source, &piece, &records);
        mote_progress_leave(r->run->ctx, whole);
        MOTE_TRY(status);
        if (piece != NULL) MOTE_TRY(take_points(r, piece, records));
    } while (piece != NULL && r->piece->count == 0);
    *any = piece != NULL;
    return *any || r->next == r->run->points ? MOTE_OK : parts_changed(r->run);
}

/* ---- all */

static mote_status write_all(rewriting *r, const parts_search *search, const char *output,
                             const mote_write_params *writing, const mote_parts_params *params) {
    parts_run *run = r->run;
    mote_parts_report *report = run->report;
    MOTE_TRY(parts_search_gather(run, search, output, params));
    const double begin = mote_seconds();
    MOTE_TRY(parts_open_scratch(run, output, &r->results));
    MOTE_TRY(parts_search_all(run, search, &r->results));
    if (r->rewrite->judge != NULL) MOTE_TRY(r->rewrite->judge(r->rewrite->user, run, r->results.file));
    report->build_seconds = mote_seconds() - begin;
    mote_output_close(run->ctx, &run->scratch, MOTE_CANCELLED); /* it is not kept */
    MOTE_TRY(make_piece(r));
    const parts_pieces pieces = {r->piece, r->rewrite->remaining != NULL ? *r->rewrite->remaining : run->points,
                                 begin_walk, next_points, r};
    MOTE_TRY(parts_write_pieces(run, &pieces, output, writing));
    report->join_seconds = mote_seconds() - begin - report->build_seconds;
    parts_report(run);
    report->scratch_bytes += run->points * r->result_bytes;
    return MOTE_OK;
}

mote_status parts_search_write(parts_run *run, const parts_search *search, const parts_rewrite *rewrite,
                               const char *output, const mote_write_params *writing, const mote_parts_params *params) {
    rewriting r = {.run = run, .rewrite = rewrite, .result_bytes = search->result_bytes};
    r.results.file = -1;
    run->added_bytes = search->result_bytes;
    MOTE_TRY(parts_check_file(run, output, writing, params));
    const mote_status status = write_all(&r, search, output, writing, params);
    mote_output_close(run->ctx, &r.results, MOTE_CANCELLED); /* it has no name to take */
    mote_cloud_destroy(r.piece);
    mote_free(run->ctx, r.read);
    mote_free(run->ctx, r.records);
    mote_free(run->ctx, r.kept);
    return status;
}
