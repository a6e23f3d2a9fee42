/* Points of clouds that memory does not hold, in Morton order: the scratch file, once it is sorted, piece by piece. */
#include "parts/parts.h"

typedef struct order_run {
    parts_run run;
    uint8_t *records; /* of a piece */
    uint64_t capacity;
    mote_cloud *piece; /* looks at them */
    uint64_t next;     /* record of the scratch file */
} order_run;

/* As much as threads encode at once. */
static mote_status make_piece(order_run *o) {
    parts_run *run = &o->run;
    const uint64_t most = PARTS_THREAD_BYTES * (uint64_t)run->ctx->threads / run->record_bytes;
    o->capacity = run->points < most ? run->points : most;
    return parts_cloud(run, o->capacity, &o->piece, &o->records);
}

static mote_status begin_walk(void *user) {
    ((order_run *)user)->next = 0;
    return MOTE_OK;
}

static mote_status next_points(void *user, bool *any) {
    order_run *o = user;
    const parts_run *run = &o->run;
    const uint64_t rest = run->points - o->next, count = rest < o->capacity ? rest : o->capacity;
    const uint64_t bytes = run->record_bytes;
    *any = count > 0;
    if (!*any) return MOTE_OK;
    o->piece->count = count;
    MOTE_TRY(parts_read_at(run->ctx, run->scratch_file, run->scratch_path, o->next * bytes, count * bytes, o->records));
    o->next += count;
    return MOTE_OK;
}

static mote_status write_all(order_run *o, const char *output, const mote_write_params *writing,
                             const mote_parts_params *params) {
    parts_run *run = &o->run;
    MOTE_TRY(parts_check_file(run, output, writing, params));
    MOTE_TRY(parts_gather(run, output, params));
    const double begin = mote_seconds();
    MOTE_TRY(parts_sort_all(run, 0.5, 0.85));
    run->report->build_seconds = mote_seconds() - begin;
    MOTE_TRY(make_piece(o));
    const parts_pieces pieces = {o->piece, run->points, begin_walk, next_points, o};
    MOTE_TRY(parts_write_pieces(run, &pieces, output, writing));
    mote_output_close(run->ctx, &run->scratch, MOTE_CANCELLED); /* it is not kept */
    run->report->join_seconds = mote_seconds() - begin - run->report->build_seconds;
    parts_report(run);
    return MOTE_OK;
}

mote_status mote_order_write_parts(mote_context *ctx, const char *const *inputs, uint32_t input_count,
                                   const mote_read_params *reading, const char *output,
                                   const mote_write_params *writing, const mote_parts_params *parts,
                                   mote_parts_report *report) {
    const mote_parts_params own = parts != NULL ? *parts : mote_parts_defaults();
    mote_parts_report unread;
    order_run o;
    memset(&o, 0, sizeof o);
    parts_start(ctx, report != NULL ? report : &unread, &o.run);
    if (inputs == NULL || output == NULL || output[0] == '\0') {
        return mote_fail(ctx, MOTE_ERROR_ARGUMENT, "no input, or no output");
    }
    mote_status status = parts_open(ctx, inputs, input_count, reading, NULL, NULL, &own, &o.run);
    /* Of a part: its records once more, as they are sorted; codes, order, and what sorting takes. */
    o.run.point_bytes = o.run.record_bytes + PARTS_SORT_BYTES;
    if (status == MOTE_OK) status = write_all(&o, output, writing, &own);
    mote_cloud_destroy(o.piece);
    return parts_end(&o.run, status);
}

/* ---- what it would take in one piece */

/* Bytes of a point of some input, as a cloud of chosen points has it: dense columns, of which several may be fields of
   one number of a record. */
static mote_status find_widest(mote_context *ctx, const mote_input_list *list, const mote_read_params *reading,
                               uint32_t *widest) {
    for (uint64_t i = 0; i < list->count; i++) {
        mote_reader *reader = NULL;
        uint32_t bytes = 0;
        if (mote_is_dash(list->paths[i]) || mote_input_is_read_once(list->paths[i])) {
            return mote_fail(ctx, MOTE_ERROR_UNSUPPORTED, "%s: can be read once", list->paths[i]);
        }
        MOTE_TRY(mote_reader_open(ctx, list->paths[i], reading, &reader));
        for (uint64_t c = 0; reader->piece != NULL && c < reader->piece->column_count; c++) {
            bytes += mote_type_size(reader->piece->columns[c].type);
        }
        if (bytes > *widest) *widest = bytes;
        mote_reader_close(reader);
    }
    return MOTE_OK;
}

mote_status mote_order_whole_bytes(mote_context *ctx, const char *const *inputs, uint32_t input_count,
                                   const mote_read_params *reading, uint64_t *bytes) {
    const mote_log_fn log = ctx->params.log;
    uint32_t widest = 0;
    mote_input_list list;
    *bytes = 0;
    ctx->params.log = NULL; /* what is to be told is told when the inputs are read */
    mote_status status = mote_inputs_find(ctx, inputs, input_count, &list);
    if (status == MOTE_OK) status = find_widest(ctx, &list, reading, &widest);
    ctx->params.log = log;
    mote_inputs_free(ctx, &list);
    /* An index takes about what sorting and the list of points do. */
    return status == MOTE_OK ? mote_search_whole_bytes(ctx, inputs, input_count, reading, widest, bytes) : status;
}
