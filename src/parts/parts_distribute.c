/* The second walk: records go to their part's place in the scratch file, which is known, by way of a buffer for each
   part. Points of a part keep the order of the input.

     piece      │ 3 1 3 3 2 1 ... │
     buffers    1 │ 1 1    │    2 │ 2      │    3 │ 3 3 3  │ full: written behind what part 3 has already
     scratch    │ part 1 ........ │ part 2 ..... │ part 3 ............ │ */
#include "parts/parts.h"

/* Of one scratch file: records of the parts, or copies of them for other parts. */
typedef struct parts_buffers {
    mote_output *to;
    parts_copies *places; /* [part_count] of each part's records in the file */
    uint8_t *memory;
    uint64_t *held;    /* [part_count] records in the buffer */
    uint64_t *written; /* [part_count] records in the file */
    uint64_t capacity; /* records of a buffer */
} parts_buffers;

typedef struct distributing {
    parts_run *run;
    parts_buffers own, around;
    uint64_t walked; /* points of the inputs, in the pieces before */
} distributing;

static mote_status flush(parts_run *run, parts_buffers *buffers, uint32_t part) {
    const uint64_t bytes = run->record_bytes;
    const uint8_t *from = buffers->memory + part * buffers->capacity * bytes;
    const uint64_t at = buffers->places[part].at + buffers->written[part];
    MOTE_TRY(mote_output_write_at(run->ctx, buffers->to, from, buffers->held[part] * bytes, at * bytes));
    buffers->written[part] += buffers->held[part];
    buffers->held[part] = 0;
    return MOTE_OK;
}

/* Puts a record of the source, and its number where records have one. */
static mote_status put(parts_run *run, parts_buffers *buffers, uint32_t part, const uint8_t *record, uint64_t number) {
    if (buffers->written[part] + buffers->held[part] >= buffers->places[part].points) return parts_changed(run);
    uint8_t *to = buffers->memory + (part * buffers->capacity + buffers->held[part]) * run->record_bytes;
    memcpy(to, record, run->source.record_bytes);
    if (run->number_bytes > 0) MOTE_TRY(parts_number_put(run, number, to));
    return ++buffers->held[part] == buffers->capacity ? flush(run, buffers, part) : MOTE_OK;
}

static mote_status flush_all(parts_run *run, parts_buffers *buffers) {
    for (uint32_t p = 0; p < run->part_count && buffers->written != NULL; p++) {
        if (run->ranges[p].is_kept) continue;
        MOTE_TRY(flush(run, buffers, p));
        if (buffers->written[p] != buffers->places[p].points) return parts_changed(run);
    }
    return MOTE_OK;
}

/* The points of the input that was read so far become its shares. */
static mote_status end_input(parts_run *run) {
    for (uint32_t p = 0; p < run->part_count; p++) {
        if (run->tally[p] == 0) continue;
        if (!mote_reserve(run->ctx, (void **)&run->shares, &run->share_capacity, run->share_count + 1,
                          sizeof *run->shares, "parts")) {
            return MOTE_ERROR_MEMORY;
        }
        run->shares[run->share_count++] = (parts_share){(uint32_t)run->tallied, p, run->tally[p]};
        run->tally[p] = 0;
    }
    run->tallied = parts_source_input(&run->source);
    return MOTE_OK;
}

/* Without buffers the points are only looked at. */
static mote_status add_piece(distributing *d, const mote_cloud *piece, const uint8_t *records, const uint64_t *codes) {
    parts_run *run = d->run;
    const uint64_t bytes = run->source.record_bytes, below = 3 * (MOTE_ORDER_BITS - run->level);
    if (parts_source_input(&run->source) != run->tallied) MOTE_TRY(end_input(run));
    if (piece->count > run->largest_piece) run->largest_piece = piece->count;
    for (uint64_t i = 0; i < piece->count; i++) {
        if (codes[i] == UINT64_MAX) continue;
        const uint32_t part = parts_find(run, codes[i]);
        run->tally[part]++;
        parts_borders_see(run, part, piece, i, codes[i]);
        if (d->own.written == NULL) continue;
        const uint64_t number = run->first_number + d->walked + i;
        MOTE_TRY(put(run, &d->own, part, records + i * bytes, number));
        if (d->around.written == NULL) continue;
        const parts_lookers lookers = parts_around_of(run, codes[i] >> below);
        for (uint64_t l = 0; l < lookers.count; l++) {
            MOTE_TRY(put(run, &d->around, lookers.parts[l], records + i * bytes, number));
        }
    }
    d->walked += piece->count;
    return MOTE_OK;
}

static mote_status make_buffers(parts_run *run, mote_output *to, uint64_t all, parts_buffers *buffers) {
    mote_context *ctx = run->ctx;
    uint64_t each = all / run->part_count / run->record_bytes;
    each = each * run->record_bytes > PARTS_BUFFER_BYTES ? PARTS_BUFFER_BYTES / run->record_bytes : each;
    buffers->to = to;
    buffers->capacity = each > 0 ? each : 1;
    buffers->memory = mote_alloc(ctx, run->part_count * buffers->capacity * run->record_bytes, "buffers of parts");
    buffers->held = mote_alloc_zero(ctx, run->part_count * sizeof *buffers->held, "parts");
    buffers->written = mote_alloc_zero(ctx, run->part_count * sizeof *buffers->written, "parts");
    buffers->places = mote_alloc(ctx, run->part_count * sizeof *buffers->places, "parts");
    const bool made = buffers->memory != NULL && buffers->held != NULL && buffers->written != NULL;
    return made && buffers->places != NULL ? MOTE_OK : MOTE_ERROR_MEMORY;
}

static void free_buffers(mote_context *ctx, parts_buffers *buffers) {
    mote_free(ctx, buffers->memory);
    mote_free(ctx, buffers->held);
    mote_free(ctx, buffers->written);
    mote_free(ctx, buffers->places);
}

static mote_status make_all_buffers(distributing *d) {
    parts_run *run = d->run;
    const uint64_t half = run->room_bytes / 2, all = half < PARTS_BUFFERS_BYTES ? half : PARTS_BUFFERS_BYTES;
    const uint64_t files = run->around != NULL ? 2 : 1;
    MOTE_TRY(make_buffers(run, &run->scratch, all / files, &d->own));
    for (uint32_t p = 0; p < run->part_count; p++) {
        d->own.places[p] = (parts_copies){run->ranges[p].at, run->ranges[p].points};
    }
    if (run->around == NULL) return MOTE_OK;
    MOTE_TRY(make_buffers(run, parts_around_file(run), all / files, &d->around));
    for (uint32_t p = 0; p < run->part_count; p++) d->around.places[p] = parts_around_copies(run, p);
    return MOTE_OK;
}

static mote_status add_pieces(distributing *d) {
    parts_run *run = d->run;
    const mote_cloud *piece = NULL;
    const uint8_t *records;
    parts_rewind(run, 0.3, 0.5);
    do {
        MOTE_TRY(parts_next(run, &piece, &records));
        if (piece == NULL) break;
        uint64_t *codes = mote_alloc(run->ctx, piece->count * sizeof *codes, "codes of a piece");
        mote_status status = codes != NULL ? parts_codes(run, piece, codes) : MOTE_ERROR_MEMORY;
        if (status == MOTE_OK) status = add_piece(d, piece, records, codes);
        mote_free(run->ctx, codes);
        MOTE_TRY(status);
    } while (piece != NULL);
    MOTE_TRY(flush_all(run, &d->own));
    MOTE_TRY(flush_all(run, &d->around));
    return end_input(run);
}

mote_status parts_distribute(parts_run *run, bool to_scratch) {
    distributing d;
    memset(&d, 0, sizeof d);
    d.run = run;
    mote_stage(run->ctx, "distribute");
    run->tally = mote_alloc_zero(run->ctx, run->part_count * sizeof *run->tally, "parts");
    run->tallied = run->share_count = 0;
    mote_status status = run->tally != NULL ? parts_borders_begin(run) : MOTE_ERROR_MEMORY;
    if (status == MOTE_OK && to_scratch) status = make_all_buffers(&d);
    if (status == MOTE_OK) status = add_pieces(&d);
    if (status == MOTE_OK) status = parts_borders_end(run);
    parts_borders_free(run);
    mote_free(run->ctx, run->tally);
    run->tally = NULL;
    free_buffers(run->ctx, &d.own);
    free_buffers(run->ctx, &d.around);
    return status;
}
