/* The second walk: records go to their part's place in the scratch file, which is known, by way of a buffer for each
   part. Points of a part keep the order of the input.

     piece      │ 3 1 3 3 2 1 ... │
     buffers    1 │ 1 1    │    2 │ 2      │    3 │ 3 3 3  │ full: written behind what part 3 has already
     scratch    │ part 1 ........ │ part 2 ..... │ part 3 ............ │ */
#include "parts/parts.h"

typedef struct parts_buffers {
    uint8_t *memory;
    uint64_t *held;    /* [part_count] records in the buffer */
    uint64_t *written; /* [part_count] records in the file */
    uint64_t capacity; /* records of a buffer */
    uint64_t walked;   /* points of the inputs, in the pieces before */
} parts_buffers;

static mote_status flush(parts_run *run, parts_buffers *buffers, uint32_t part) {
    const uint64_t bytes = run->record_bytes;
    const uint8_t *from = buffers->memory + part * buffers->capacity * bytes;
    const uint64_t at = run->ranges[part].at + buffers->written[part];
    MOTE_TRY(mote_output_write_at(run->ctx, &run->scratch, from, buffers->held[part] * bytes, at * bytes));
    buffers->written[part] += buffers->held[part];
    buffers->held[part] = 0;
    return MOTE_OK;
}

mote_status parts_changed(const parts_run *run) {
    return mote_fail(run->ctx, MOTE_ERROR_IO, "%s%s: changed while it was read", run->source.list.paths[0],
                     run->source.list.count > 1 ? ", or another input" : "");
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

/* buffers NULL: the points are only looked at */
static mote_status add_piece(parts_run *run, parts_buffers *buffers, const mote_cloud *piece, const uint8_t *records,
                             const uint64_t *codes) {
    const uint64_t bytes = run->record_bytes, from_bytes = run->source.record_bytes;
    if (parts_source_input(&run->source) != run->tallied) MOTE_TRY(end_input(run));
    if (piece->count > run->largest_piece) run->largest_piece = piece->count;
    for (uint64_t i = 0; i < piece->count; i++) {
        if (codes[i] == UINT64_MAX) continue;
        const uint32_t part = parts_find(run, codes[i]);
        run->tally[part]++;
        parts_borders_see(run, part, piece, i, codes[i]);
        if (run->sample != NULL) parts_sample_see(run, records + i * from_bytes, codes[i]);
        if (buffers == NULL) continue;
        const uint64_t point = buffers->written[part] + buffers->held[part];
        if (point >= run->ranges[part].points) return parts_changed(run);
        uint8_t *to = buffers->memory + (part * buffers->capacity + buffers->held[part]) * bytes;
        memcpy(to, records + i * from_bytes, from_bytes);
        if (run->has_numbers) MOTE_TRY(parts_number_put(run, part, point, buffers->walked + i, to + from_bytes));
        if (++buffers->held[part] == buffers->capacity) MOTE_TRY(flush(run, buffers, part));
    }
    if (buffers != NULL) buffers->walked += piece->count;
    return MOTE_OK;
}

static mote_status make_buffers(parts_run *run, parts_buffers *buffers) {
    mote_context *ctx = run->ctx;
    const uint64_t all = run->room_bytes / 2 < PARTS_BUFFERS_BYTES ? run->room_bytes / 2 : PARTS_BUFFERS_BYTES;
    uint64_t each = all / run->part_count / run->record_bytes;
    each = each * run->record_bytes > PARTS_BUFFER_BYTES ? PARTS_BUFFER_BYTES / run->record_bytes : each;
    buffers->capacity = each > 0 ? each : 1;
    buffers->memory = mote_alloc(ctx, run->part_count * buffers->capacity * run->record_bytes, "buffers of parts");
    buffers->held = mote_alloc_zero(ctx, run->part_count * sizeof *buffers->held, "parts");
    buffers->written = mote_alloc_zero(ctx, run->part_count * sizeof *buffers->written, "parts");
    return buffers->memory != NULL && buffers->held != NULL && buffers->written != NULL ? MOTE_OK : MOTE_ERROR_MEMORY;
}

static mote_status add_pieces(parts_run *run, parts_buffers *buffers) {
    const mote_cloud *piece = NULL;
    const uint8_t *records;
    parts_rewind(run, 0.3, 0.5);
    do {
        MOTE_TRY(parts_next(run, &piece, &records));
        if (piece == NULL) break;
        uint64_t *codes = mote_alloc(run->ctx, piece->count * sizeof *codes, "codes of a piece");
        mote_status status = codes != NULL ? parts_codes(run, piece, codes) : MOTE_ERROR_MEMORY;
        if (status == MOTE_OK) status = add_piece(run, buffers, piece, records, codes);
        mote_free(run->ctx, codes);
        MOTE_TRY(status);
    } while (piece != NULL);
    for (uint32_t p = 0; p < run->part_count && buffers != NULL; p++) {
        if (run->ranges[p].is_kept) continue;
        MOTE_TRY(flush(run, buffers, p));
        if (buffers->written[p] != run->ranges[p].points) return parts_changed(run);
    }
    return end_input(run);
}

mote_status parts_distribute(parts_run *run, bool to_scratch) {
    parts_buffers buffers = {NULL, NULL, NULL, 0, 0};
    mote_stage(run->ctx, "distribute");
    run->tally = mote_alloc_zero(run->ctx, run->part_count * sizeof *run->tally, "parts");
    run->tallied = run->share_count = 0;
    mote_status status = run->tally != NULL ? parts_borders_begin(run) : MOTE_ERROR_MEMORY;
    if (status == MOTE_OK && run->has_numbers) status = parts_numbers_begin(run);
    if (status == MOTE_OK && to_scratch) status = make_buffers(run, &buffers);
    if (status == MOTE_OK) status = add_pieces(run, to_scratch ? &buffers : NULL);
    if (status == MOTE_OK) status = parts_borders_end(run);
    parts_numbers_sort(run);
    parts_borders_free(run);
    mote_free(run->ctx, run->tally);
    run->tally = NULL;
    mote_free(run->ctx, buffers.memory);
    mote_free(run->ctx, buffers.held);
    mote_free(run->ctx, buffers.written);
    return status;
}
