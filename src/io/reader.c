/* Reads a cloud in pieces. LAS, LAZ and E57: into memory for one piece, which is used again for each; a piece of LAZ is
   as many chunks as keep all threads busy. Other formats are one piece. */
#include "io/e57/e57.h"
#include "io/las/las_source.h"

#define THREAD_POINTS 200000u    /* of a piece, per thread: four of the usual chunks */
#define PIECE_POINTS  (8u << 20) /* enough for any number of threads */

struct mote_reader {
    mote_context *ctx;
    char *path;
    mote_input input;
    mote_read_params params;
    mote_box bounds;
    char *select;
    bool in_pieces;    /* LAS or LAZ; else whole is the one piece, */
    bool is_e57;       /* or the piece of this */
    las_source source; /* its cloud is the piece */
    e57_source e57;
    mote_cloud *whole;
    uint8_t *records;
    uint64_t count, next; /* points in all; chunk (LAZ), point (LAS) or piece that comes next */
    uint64_t kept;
    las_losses losses;
};

static uint64_t piece_points(const mote_reader *reader) {
    const uint64_t points = (uint64_t)reader->ctx->threads * THREAD_POINTS;
    return points < PIECE_POINTS ? points : PIECE_POINTS;
}

/* Chunks of the piece that starts at chunk first; *points: what they hold. */
static uint64_t piece_chunks(const mote_reader *reader, uint64_t first, uint64_t *points) {
    const las_chunks *chunks = &reader->source.chunks;
    const uint64_t max = piece_points(reader);
    uint64_t end = first;
    *points = 0;
    while (end < chunks->count && (end == first || (*points < max && chunks->list[end].points <= max - *points))) {
        *points += chunks->list[end++].points;
    }
    return end - first;
}

static uint64_t largest_piece(const mote_reader *reader) {
    const las_source *source = &reader->source;
    if (!source->header.compressed) {
        return source->cloud->count < piece_points(reader) ? source->cloud->count : piece_points(reader);
    }
    uint64_t largest = 0, points;
    for (uint64_t first = 0; first < source->chunks.count;) {
        first += piece_chunks(reader, first, &points);
        largest = points > largest ? points : largest;
    }
    return largest;
}

/* ---- opening */

static mote_status copy_params(mote_reader *reader, const mote_read_params *params) {
    reader->params = params != NULL ? *params : mote_read_defaults();
    MOTE_TRY(mote_check_reserved(reader->ctx, reader->params.reserved, sizeof reader->params.reserved,
                                 "mote_read_params", "mote_read_defaults()"));
    reader->params.to_device = false;
    if (reader->params.bounds != NULL) {
        reader->bounds = *reader->params.bounds;
        reader->params.bounds = &reader->bounds;
    }
    if (reader->params.select == NULL) return MOTE_OK;
    reader->params.select = reader->select = mote_strdup(reader->ctx, reader->params.select);
    return reader->select != NULL ? MOTE_OK : MOTE_ERROR_MEMORY;
}

static mote_status open_las(mote_reader *reader) {
    las_source *source = &reader->source;
    MOTE_TRY(mote_las_open(reader->ctx, &reader->input, &reader->params, source));
    MOTE_TRY(mote_las_prove_chunks(source, largest_piece(reader), &reader->losses));
    reader->count = source->header.compressed ? source->chunks.points : source->cloud->count;
    MOTE_TRY(mote_las_take_records(source, largest_piece(reader), &reader->records));
    source->cloud->count = 0;
    return MOTE_OK;
}

static mote_status open_e57(mote_reader *reader) {
    e57_source *const source = &reader->e57;
    MOTE_TRY(mote_e57_open(reader->ctx, &reader->input, &reader->params, source));
    reader->count = source->points;
    const uint64_t points = reader->count < piece_points(reader) ? reader->count : piece_points(reader);
    reader->records = mote_alloc(reader->ctx, points * source->plan.record_bytes, "E57 points");
    if (reader->records == NULL) return MOTE_ERROR_MEMORY;
    return mote_e57_make_cloud(reader->ctx, &source->file, &source->plan, &reader->params, reader->records,
                               &reader->whole);
}

static mote_status open_path(mote_reader *reader) {
    if (!mote_potree_probe(reader->path)) {
        MOTE_TRY(mote_input_open(reader->ctx, reader->path, &reader->input));
        reader->in_pieces = mote_las_probe(&reader->input);
        reader->is_e57 = mote_e57_is_signed(&reader->input);
    }
    if (reader->in_pieces) return open_las(reader);
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
    mote_las_close(&reader->source);
    mote_e57_close(&reader->e57);
    mote_input_close(ctx, &reader->input);
    mote_free(ctx, reader->select);
    mote_free(ctx, reader->path);
    mote_free(ctx, reader);
}

uint64_t mote_reader_count(const mote_reader *reader) { return reader->count; }

/* ---- pieces */

static void copy_part(const uint8_t *from, uint64_t record_bytes, const laz_selection *selection, uint64_t count,
                      uint8_t *to) {
    if (selection->run_count == 0) {
        memcpy(to, from, count * record_bytes);
        return;
    }
    for (uint64_t i = 0; i < count; i++, from += record_bytes, to += selection->stride_bytes) {
        for (uint32_t r = 0; r < selection->run_count; r++) {
            const laz_run *run = &selection->runs[r];
            memcpy(to + run->to, from + run->from, run->size_bytes);
        }
    }
}

/* Plain records from the file to the piece's memory. */
static void copy_records(const mote_reader *reader, uint64_t first, uint64_t count) {
    const las_source *source = &reader->source;
    const uint64_t record_bytes = source->header.point_bytes, part = 4096;
    const uint8_t *from = reader->input.data + source->header.points_at + first * record_bytes;
    const int64_t parts = (int64_t)((count + part - 1) / part);
#pragma omp parallel for schedule(static) num_threads(reader->ctx->threads)
    for (int64_t p = 0; p < parts; p++) {
        const uint64_t at = (uint64_t)p * part;
        copy_part(from + at * record_bytes, record_bytes, &source->selection, count - at < part ? count - at : part,
                  reader->records + at * source->selection.stride_bytes);
    }
}

static mote_status decode_piece(mote_reader *reader, bool *more) {
    las_source *source = &reader->source;
    uint64_t points = 0;
    const uint64_t first = reader->next, count = piece_chunks(reader, first, &points);
    *more = count > 0;
    if (!*more) return MOTE_OK;
    reader->next += count;
    MOTE_TRY(mote_las_decode(source, first, count, reader->records, &source->cloud->count, &reader->losses));
    for (uint64_t i = first; i < first + count; i++) {
        const las_chunk *chunk = &source->chunks.list[i];
        mote_input_forget(&reader->input, chunk->at, chunk->at + chunk->size_bytes);
    }
    return MOTE_OK;
}

static mote_status copy_piece(mote_reader *reader, bool *more) {
    const las_header *header = &reader->source.header;
    const uint64_t remaining = reader->count - reader->next, max = piece_points(reader);
    const uint64_t points = remaining < max ? remaining : max;
    *more = points > 0;
    if (!*more) return MOTE_OK;
    copy_records(reader, reader->next, points);
    reader->source.cloud->count = points;
    const uint64_t from = header->points_at + reader->next * header->point_bytes;
    mote_input_forget(&reader->input, from, from + points * header->point_bytes);
    reader->next += points;
    return mote_progress(reader->ctx, (double)reader->next / (double)reader->count, "reading LAS");
}

/* Moves the points of a piece that are inside of the bounds together. */
static mote_status keep_inside(mote_reader *reader, mote_cloud *piece, uint64_t stride) {
    uint64_t *indices = NULL, count = 0;
    if (reader->params.bounds == NULL) return MOTE_OK;
    MOTE_TRY(mote_cloud_find_inside(reader->ctx, piece, reader->params.bounds, &indices, &count));
    for (uint64_t i = 0; i < count; i++) {
        if (indices[i] != i) memcpy(reader->records + i * stride, reader->records + indices[i] * stride, stride);
    }
    mote_free(reader->ctx, indices);
    piece->count = count;
    return MOTE_OK;
}

static mote_status next_of_e57(mote_reader *reader, const mote_cloud **piece) {
    mote_cloud *const cloud = reader->whole;
    uint64_t count;
    mote_stage(reader->ctx, "read E57");
    do {
        MOTE_TRY(mote_e57_next(&reader->e57, reader->records, piece_points(reader), &count));
        MOTE_TRY(mote_input_check(reader->ctx, &reader->input));
        reader->kept += count;
        cloud->count = count;
        MOTE_TRY(keep_inside(reader, cloud, reader->e57.plan.record_bytes));
    } while (count > 0 && cloud->count == 0);
    mote_stage(reader->ctx, NULL);
    if (count > 0) *piece = cloud;
    return count > 0 ? MOTE_OK : mote_e57_report(&reader->e57, reader->kept);
}

mote_status mote_reader_next(mote_reader *reader, const mote_cloud **piece) {
    bool more = reader->next == 0;
    *piece = NULL;
    if (reader->is_e57) return next_of_e57(reader, piece);
    if (!reader->in_pieces) {
        reader->next = 1;
        *piece = more ? reader->whole : NULL;
        return mote_cloud_check(reader->whole);
    }
    do {
        reader->source.cloud->count = 0;
        MOTE_TRY(reader->source.header.compressed ? decode_piece(reader, &more) : copy_piece(reader, &more));
        MOTE_TRY(mote_input_check(reader->ctx, &reader->input));
        reader->kept += reader->source.cloud->count;
        MOTE_TRY(keep_inside(reader, reader->source.cloud, reader->source.selection.stride_bytes));
    } while (more && reader->source.cloud->count == 0);
    if (!more) return mote_las_report_losses(&reader->source, &reader->losses, reader->kept);
    *piece = reader->source.cloud;
    return MOTE_OK;
}
