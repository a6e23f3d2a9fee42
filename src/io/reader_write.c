/* Writes what a reader reads, piece by piece. Where the values of all points decide what the output is, they are read
   once or twice before that: so the file is the one that mote_cloud_write makes of the whole. */
#include "io/reader.h"
#include "io/writer.h"

/* How far progress is when the points were looked at, and when they were looked at more closely. */
#define LOOKED_AT 0.4
#define LOOKED_ON 0.5

typedef struct piece_run {
    mote_reader *reader;
    bool is_finite;   /* points without a finite position are left out */
    uint64_t dropped; /* of them, since the start */
    uint32_t looks;   /* how often the points were gone through to plan the output */
    mote_progress_span whole;
} piece_run;

/* The next points that are to be written; *any false: none is left. */
static mote_status next_piece(void *user, bool *any) {
    piece_run *const run = user;
    const mote_cloud *piece = NULL;
    do {
        MOTE_TRY(mote_reader_next(run->reader, &piece));
        if (piece != NULL && run->is_finite) MOTE_TRY(mote_reader_keep_finite(run->reader, &run->dropped));
    } while (piece != NULL && piece->count == 0);
    *any = piece != NULL;
    return MOTE_OK;
}

static void share_progress(const piece_run *run, double first, double last) {
    mote_progress_next(run->reader->ctx, run->whole, first, last);
}

static mote_status begin_look(void *user) {
    piece_run *const run = user;
    share_progress(run, run->looks == 0 ? 0 : LOOKED_AT, run->looks == 0 ? LOOKED_AT : LOOKED_ON);
    run->looks++;
    run->dropped = 0;
    mote_reader_rewind(run->reader);
    return MOTE_OK;
}

static mote_status write_pieces(piece_run *run, const char *path, const mote_write_params *params, uint64_t *written) {
    mote_reader *const reader = run->reader;
    const las_pieces pieces = {begin_look, next_piece, run, false};
    mote_writer *writer = NULL;
    bool any;
    MOTE_TRY(next_piece(run, &any));
    if (!any && reader->params.to_crs != NULL) {
        return mote_fail(reader->ctx, MOTE_ERROR_UNSUPPORTED, "%s: no points can't be transformed in pieces", path);
    }
    if (!any) return mote_cloud_write(reader->ctx, reader->piece, path, params);
    MOTE_TRY(mote_writer_open_pieces(reader->ctx, reader->piece, reader->count, &pieces, path, params, &writer));
    mote_status status = MOTE_OK;
    if (run->looks > 0) {
        mote_reader_rewind(reader);
        run->dropped = 0;
        share_progress(run, LOOKED_ON, 1);
        status = next_piece(run, &any);
    }
    while (status == MOTE_OK && any) {
        *written += reader->piece->count;
        status = mote_writer_add(writer);
        if (status == MOTE_OK) status = next_piece(run, &any);
    }
    return mote_writer_close(writer, status);
}

mote_status mote_reader_write(mote_reader *reader, const char *path, const mote_write_params *params,
                              uint64_t *written) {
    mote_context *const ctx = reader->ctx;
    mote_write_params p = params != NULL ? *params : mote_write_defaults();
    piece_run run = {.reader = reader, .whole = ctx->progress_span};
    const mote_format *format;
    uint64_t count = 0;
    MOTE_TRY(mote_check_reserved(ctx, p.reserved, sizeof p.reserved, "mote_write_params", "mote_write_defaults()"));
    MOTE_TRY(mote_written_format(ctx, path, &p, &format));
    if (written != NULL) *written = 0;
    if (reader->piece == NULL) {
        MOTE_TRY(mote_cloud_write(ctx, reader->whole, path, &p));
        if (written != NULL) *written = reader->count;
        return MOTE_OK;
    }
    if (reader->next > 0 || reader->kept > 0) mote_reader_rewind(reader);
    p.fewer = true;
    run.is_finite = format->finite;
    const mote_status status = write_pieces(&run, path, &p, &count);
    mote_progress_leave(ctx, run.whole);
    if (status == MOTE_OK && run.dropped > 0) {
        mote_warn(ctx, "%s: %llu points without a finite position are left out; this format cannot hold them", path,
                  (unsigned long long)run.dropped);
    }
    if (written != NULL) *written = count;
    return status;
}
