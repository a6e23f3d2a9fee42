/* An output that is one file of points, which come in pieces: the bytes that mote_cloud_write makes of the whole. */
#include "io/writer.h"
#include "parts/parts.h"

typedef struct walk {
    const parts_pieces *pieces;
    bool was_begun; /* anew, by the writer: values decide how points are written, so that it looks at all of them first
                     */
} walk;

static mote_status begin_again(void *user) {
    walk *w = user;
    w->was_begun = true;
    return w->pieces->begin(w->pieces->user);
}

static mote_status next_of_walk(void *user, bool *any) {
    const walk *w = user;
    return w->pieces->next(w->pieces->user, any);
}

static mote_status add_all(const parts_pieces *pieces, mote_writer *writer) {
    bool any = true;
    do {
        MOTE_TRY(mote_writer_add(writer));
        MOTE_TRY(pieces->next(pieces->user, &any));
    } while (any);
    return MOTE_OK;
}

/* How long looking at all points takes is no share of its own. */
static mote_status write_some(mote_context *ctx, const parts_pieces *pieces, const char *output,
                              const mote_write_params *writing) {
    walk w = {pieces, false};
    const las_pieces looked_at = {begin_again, next_of_walk, &w, true};
    mote_writer *writer = NULL;
    bool any = true;
    const mote_progress_span held = mote_progress_hold(ctx);
    mote_status status =
        mote_writer_open_pieces(ctx, pieces->piece, pieces->count, &looked_at, output, writing, &writer);
    mote_progress_leave(ctx, held);
    if (status == MOTE_OK && w.was_begun) {
        status = pieces->begin(pieces->user);
        if (status == MOTE_OK) status = pieces->next(pieces->user, &any);
    }
    if (status == MOTE_OK) status = add_all(pieces, writer);
    return mote_writer_close(writer, status);
}

mote_status parts_write_pieces(parts_run *run, const parts_pieces *pieces, const char *output,
                               const mote_write_params *writing) {
    mote_context *ctx = run->ctx;
    bool any = false;
    const mote_progress_span whole = mote_progress_enter(ctx, 0.85, 1);
    mote_status status = pieces->begin(pieces->user);
    if (status == MOTE_OK) status = pieces->next(pieces->user, &any);
    if (status == MOTE_OK && !any) {
        pieces->piece->count = 0;
        status = mote_cloud_write(ctx, pieces->piece, output, writing);
    } else if (status == MOTE_OK) {
        status = write_some(ctx, pieces, output, writing);
    }
    if (status == MOTE_OK) status = mote_progress(ctx, 1, "writing");
    mote_progress_leave(ctx, whole);
    return status;
}

mote_status parts_check_file(parts_run *run, const char *output, const mote_write_params *writing,
                             const mote_parts_params *params) {
    const mote_write_params own = writing != NULL ? *writing : mote_write_defaults();
    run->is_laz = mote_writes_as(output, &own, ".laz");
    if (params->resumes) {
        return mote_fail(run->ctx, MOTE_ERROR_UNSUPPORTED, "%s: parts are not kept to go on with", output);
    }
    if (mote_is_dash(output) || mote_input_is_read_once(output)) {
        return mote_fail(run->ctx, MOTE_ERROR_UNSUPPORTED, "%s: what is made in parts goes to a file, and to no pipe",
                         output);
    }
    return MOTE_OK;
}
