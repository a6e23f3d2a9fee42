/* The second walk: records go to their part's place in the scratch file, which is known, by way of a buffer for each
   part. Points of a part keep the order of the input.

     some points of a piece     slice 0 │ 3 1 3 3    slice 1 │ 2 1 1 3    a thread each: how many are of which part
     so a slice's records of 3  begin at ^                          ^     in the buffer of part 3, behind those before
     buffers    1 │ 1 1 1  │    2 │ 2      │    3 │ 3 3 3 3│ full: written behind what part 3 has already
     scratch    │ part 1 ........ │ part 2 ..... │ part 3 ............ │ */
#include "parts/parts.h"

#define SLICES_PER_THREAD 16u
#define SLICE_POINTS      4096u      /* at least: below, threads wait for each other longer than they work */
#define WRITE_BYTES       (1u << 20) /* by a thread at once */

typedef struct parts_buffers {
    uint8_t *memory;
    uint64_t *held;    /* [part_count] records in the buffer */
    uint64_t *written; /* [part_count] records in the file */
    uint64_t capacity; /* records of a buffer */
    uint64_t walked;   /* points of the inputs, in the pieces before */
    uint32_t *next;    /* parts_piece.next */
    uint64_t next_capacity;
    uint32_t *full; /* [part_count] parts whose buffers are */
} parts_buffers;

/* Points of a piece, in slices of about as many. */
typedef struct parts_piece {
    const mote_cloud *cloud;
    const uint8_t *records;
    uint64_t *codes; /* which part a point is of, once that is found */
    uint64_t first, count;
    uint64_t slices;
    uint32_t *next; /* [slices · part_count] records by part; then where in the buffer the next one goes */
} parts_piece;

/* Writes one of the pieces of a buffer. */
static void write_piece(parts_run *run, const parts_buffers *buffers, uint32_t part, uint64_t piece) {
    const uint64_t bytes = run->record_bytes, size_bytes = buffers->held[part] * bytes, first = piece * WRITE_BYTES;
    if (first >= size_bytes) return;
    const uint64_t now = size_bytes - first < WRITE_BYTES ? size_bytes - first : WRITE_BYTES;
    const uint64_t at = (run->ranges[part].at + buffers->written[part]) * bytes + first;
    mote_output_write_at(run->ctx, &run->scratch, buffers->memory + part * buffers->capacity * bytes + first, now, at);
}

/* Writes buffers to their parts, all threads together: points that follow each other are mostly of a few parts. */
static mote_status flush(parts_run *run, parts_buffers *buffers, const uint32_t *parts, uint32_t part_count) {
    const uint64_t pieces = (buffers->capacity * run->record_bytes + WRITE_BYTES - 1) / WRITE_BYTES;
#pragma omp parallel for schedule(dynamic, 1) num_threads(run->ctx->threads)
    for (uint64_t job = 0; job < part_count * pieces; job++) {
        if (!mote_stop(run->ctx)) write_piece(run, buffers, parts[job / pieces], job % pieces);
    }
    MOTE_TRY(mote_stopped(run->ctx));
    for (uint32_t i = 0; i < part_count; i++) {
        buffers->written[parts[i]] += buffers->held[parts[i]];
        buffers->held[parts[i]] = 0;
    }
    return mote_context_status(run->ctx);
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

/* So many that all threads have some, and that the points of one fit into any buffer. */
static uint64_t slices_of(const parts_run *run, const parts_buffers *buffers, uint64_t points) {
    const uint64_t fine = points / SLICE_POINTS + 1, most = SLICES_PER_THREAD * (uint64_t)run->ctx->threads;
    const uint64_t needed = points / buffers->capacity + 1, wanted = fine < most ? fine : most;
    return wanted > needed ? wanted : needed;
}

static uint64_t slice_first(const parts_piece *piece, uint64_t slice) {
    return piece->first + piece->count * slice / piece->slices;
}

/* Which part each point is of, and how many of each slice are of which. */
static void find_parts(parts_run *run, const parts_piece *piece) {
#pragma omp parallel for schedule(dynamic, 1) num_threads(run->ctx->threads)
    for (uint64_t slice = 0; slice < piece->slices; slice++) {
        uint32_t *counts = piece->next + slice * run->part_count;
        memset(counts, 0, run->part_count * sizeof *counts);
        for (uint64_t i = slice_first(piece, slice); i < slice_first(piece, slice + 1); i++) {
            const uint64_t code = piece->codes[i];
            if (code == UINT64_MAX) continue;
            const uint32_t part = parts_find(run, code);
            counts[part]++;
            parts_borders_see(run, part, piece->cloud, i, code);
            piece->codes[i] = part;
        }
    }
}

/* Writes the buffers that are too full for what comes. */
static mote_status make_room(parts_run *run, parts_buffers *buffers, const uint64_t *coming) {
    uint32_t full = 0;
    for (uint32_t p = 0; p < run->part_count; p++) {
        if (buffers->held[p] + coming[p] > buffers->capacity) buffers->full[full++] = p;
    }
    return full > 0 ? flush(run, buffers, buffers->full, full) : MOTE_OK;
}

/* How many slices from one on go to the buffers at once: as many as any buffer holds, and of numbers of one epoch.
   coming: out, their points by part */
static uint64_t take_slices(parts_run *run, const parts_buffers *buffers, const parts_piece *piece, uint64_t first) {
    uint64_t *coming = run->coming;
    uint64_t end = first;
    memset(coming, 0, run->part_count * sizeof *coming);
    for (bool fits = true; fits && end < piece->slices; end += fits) {
        const uint32_t *counts = piece->next + end * run->part_count;
        for (uint32_t p = 0; p < run->part_count && end > first; p++) {
            fits = fits && coming[p] + counts[p] <= buffers->capacity;
        }
        for (uint32_t p = 0; p < run->part_count && fits; p++) coming[p] += counts[p];
    }
    return end;
}

/* Turns counts of slices into places in the buffers, which hold all of them from here on. */
static void place_slices(const parts_run *run, const parts_buffers *buffers, const parts_piece *piece, uint64_t first,
                         uint64_t end) {
    for (uint64_t slice = first; slice < end; slice++) {
        uint32_t *next = piece->next + slice * run->part_count;
        for (uint32_t p = 0; p < run->part_count; p++) {
            const uint32_t own = next[p];
            next[p] = (uint32_t)buffers->held[p];
            buffers->held[p] += own;
        }
    }
}

static void put_records(const parts_run *run, const parts_buffers *buffers, const parts_piece *piece, uint64_t first,
                        uint64_t end) {
    const uint64_t bytes = run->record_bytes, from_bytes = run->source.record_bytes;
#pragma omp parallel for schedule(dynamic, 1) num_threads(run->ctx->threads)
    for (uint64_t slice = first; slice < end; slice++) {
        uint32_t *next = piece->next + slice * run->part_count;
        for (uint64_t i = slice_first(piece, slice); i < slice_first(piece, slice + 1); i++) {
            const uint64_t part = piece->codes[i];
            if (part == UINT64_MAX) continue;
            uint8_t *to = buffers->memory + (part * buffers->capacity + next[part]++) * bytes;
            memcpy(to, piece->records + i * from_bytes, from_bytes);
            if (run->has_numbers) parts_number_put(buffers->walked + i, to + from_bytes);
        }
    }
}

/* Notes of which parts points come, and of which epoch they are. */
static mote_status announce(parts_run *run, const parts_buffers *buffers, const parts_piece *piece, bool to_scratch) {
    uint64_t *coming = run->coming;
    memset(coming, 0, run->part_count * sizeof *coming);
    for (uint64_t slice = 0; slice < piece->slices; slice++) {
        for (uint32_t p = 0; p < run->part_count; p++) coming[p] += piece->next[slice * run->part_count + p];
    }
    for (uint32_t p = 0; p < run->part_count; p++) {
        run->tally[p] += coming[p];
        if (!to_scratch || coming[p] == 0) continue;
        const uint64_t point = buffers->written[p] + buffers->held[p];
        if (point + coming[p] > run->ranges[p].points) return parts_changed(run);
        if (run->has_numbers) MOTE_TRY(parts_number_epoch(run, p, point, buffers->walked + piece->first));
    }
    return MOTE_OK;
}

static mote_status add_slices(parts_run *run, parts_buffers *buffers, parts_piece *piece, bool to_scratch) {
    piece->slices = slices_of(run, buffers, piece->count);
    if (!mote_reserve_scratch(run->ctx, (void **)&buffers->next, &buffers->next_capacity,
                              piece->slices * run->part_count, sizeof *buffers->next, "parts")) {
        return MOTE_ERROR_MEMORY;
    }
    piece->next = buffers->next;
    find_parts(run, piece);
    MOTE_TRY(announce(run, buffers, piece, to_scratch));
    for (uint64_t first = 0; to_scratch && first < piece->slices;) {
        const uint64_t end = take_slices(run, buffers, piece, first);
        MOTE_TRY(make_room(run, buffers, run->coming));
        place_slices(run, buffers, piece, first, end);
        put_records(run, buffers, piece, first, end);
        first = end;
    }
    return MOTE_OK;
}

/* A piece of which numbers are of two epochs is taken as two. */
static mote_status add_piece(parts_run *run, parts_buffers *buffers, const mote_cloud *cloud, const uint8_t *records,
                             uint64_t *codes, bool to_scratch) {
    parts_piece piece = {.cloud = cloud, .records = records, .codes = codes};
    if (parts_source_input(&run->source) != run->tallied) MOTE_TRY(end_input(run));
    if (cloud->count > run->largest_piece) run->largest_piece = cloud->count;
    for (; piece.first < cloud->count; piece.first += piece.count) {
        const uint64_t epoch = PARTS_EPOCH - (buffers->walked + piece.first) % PARTS_EPOCH;
        piece.count = cloud->count - piece.first < epoch ? cloud->count - piece.first : epoch;
        MOTE_TRY(add_slices(run, buffers, &piece, to_scratch));
    }
    buffers->walked += cloud->count;
    return MOTE_OK;
}

static mote_status make_counts(parts_run *run, parts_buffers *buffers) {
    buffers->capacity = UINT32_MAX;
    run->tally = mote_alloc_zero(run->ctx, run->part_count * sizeof *run->tally, "parts");
    run->coming = mote_alloc(run->ctx, run->part_count * sizeof *run->coming, "parts");
    return run->tally != NULL && run->coming != NULL ? MOTE_OK : MOTE_ERROR_MEMORY;
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
    buffers->full = mote_alloc(ctx, run->part_count * sizeof *buffers->full, "parts");
    const bool made =
        buffers->memory != NULL && buffers->held != NULL && buffers->written != NULL && buffers->full != NULL;
    return made ? MOTE_OK : MOTE_ERROR_MEMORY;
}

static mote_status flush_all(parts_run *run, parts_buffers *buffers) {
    uint32_t held = 0;
    for (uint32_t p = 0; p < run->part_count; p++) {
        if (!run->ranges[p].is_kept) buffers->full[held++] = p;
    }
    MOTE_TRY(flush(run, buffers, buffers->full, held));
    for (uint32_t i = 0; i < held; i++) {
        const uint32_t p = buffers->full[i];
        if (buffers->written[p] != run->ranges[p].points) return parts_changed(run);
    }
    return MOTE_OK;
}

static mote_status add_pieces(parts_run *run, parts_buffers *buffers, bool to_scratch) {
    const mote_cloud *piece = NULL;
    const uint8_t *records;
    parts_rewind(run, 0.3, 0.5);
    do {
        MOTE_TRY(parts_next(run, &piece, &records));
        if (piece == NULL) break;
        uint64_t *codes = mote_alloc(run->ctx, piece->count * sizeof *codes, "codes of a piece");
        mote_status status = codes != NULL ? parts_codes(run, piece, codes) : MOTE_ERROR_MEMORY;
        if (status == MOTE_OK) status = add_piece(run, buffers, piece, records, codes, to_scratch);
        mote_free(run->ctx, codes);
        MOTE_TRY(status);
    } while (piece != NULL);
    return to_scratch ? flush_all(run, buffers) : MOTE_OK;
}

static uint64_t all_points(const parts_run *run) {
    uint64_t points = 0;
    for (uint32_t p = 0; p < run->part_count; p++) points += run->ranges[p].points;
    return points;
}

mote_status parts_distribute(parts_run *run, bool to_scratch) {
    parts_buffers buffers;
    memset(&buffers, 0, sizeof buffers);
    mote_stage(run->ctx, "distribute");
    run->tallied = run->share_count = 0;
    mote_status status = make_counts(run, &buffers);
    if (status == MOTE_OK) status = parts_borders_begin(run);
    if (status == MOTE_OK && to_scratch) {
        status = make_buffers(run, &buffers);
        mote_output_expect(run->ctx, &run->scratch, all_points(run) * run->record_bytes);
    }
    if (status == MOTE_OK) status = add_pieces(run, &buffers, to_scratch);
    if (status == MOTE_OK) status = end_input(run);
    if (status == MOTE_OK) status = parts_borders_end(run);
    parts_numbers_sort(run);
    parts_borders_free(run);
    mote_free(run->ctx, run->tally);
    mote_free(run->ctx, run->coming);
    run->tally = run->coming = NULL;
    mote_free(run->ctx, buffers.next);
    mote_free(run->ctx, buffers.full);
    mote_free(run->ctx, buffers.memory);
    mote_free(run->ctx, buffers.held);
    mote_free(run->ctx, buffers.written);
    return status;
}
