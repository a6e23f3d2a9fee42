/* The second walk: records go to their part's place in the scratch file, which is known, by way of a buffer for each
   part; where averages look around a part, copies of records follow behind all of these in the same way. A bin is a
   part's place for one of the two. Points of a bin keep the order of the input.

     points of a piece      slice 0 │ 3 1 3 3    slice 1 │ 2 1 1 3    a thread each: how many are of which bin
     records of bin 3             at ^                          ^     of its buffer, behind those before
     buffers    1 │ 1 1 1  │    2 │ 2      │    3 │ 3 3 3 3│ full: written behind what bin 3 has already
     scratch    │ part 1 ........ │ part 2 ..... │ part 3 ............ │ */
#include "parts/parts_notes.h"

#define SLICES_PER_THREAD 16u
#define SLICE_POINTS      4096u      /* at least: below, threads wait for each other longer than they work */
#define WRITE_BYTES       (1u << 20) /* by a thread at once */

typedef struct parts_bin {
    uint64_t at, most; /* records: where its own begin in the file, and how many have room there */
    uint64_t held;     /* records in the buffer */
    uint64_t written;  /* records in the file */
    uint64_t coming;   /* records that follow next */
    uint64_t points;   /* that it has of a piece */
    potree_hash sum;   /* of what a plan shares, of the records in the file */
} parts_bin;

/* Points of a piece, in slices of about as many. */
typedef struct parts_piece {
    const mote_cloud *cloud;
    const uint8_t *records;
    const uint64_t *codes;
    uint16_t *parts; /* of each point; PARTS_NONE: it has no place */
    uint64_t slices;
} parts_piece;

typedef struct distributing {
    parts_run *run;
    bool to_scratch; /* else the points are only looked at */
    parts_bin *bins; /* [bin_count] own records of each part, then copies for each */
    uint32_t bin_count;
    uint8_t *memory;   /* [bin_count · capacity] records */
    uint64_t capacity; /* records of a buffer */
    uint32_t *next;    /* [slices · bin_count] records by bin; then where in the buffer the next one goes */
    uint64_t next_capacity;
    uint16_t *parts; /* [parts_capacity] of the points of a piece */
    uint64_t parts_capacity;
    uint32_t *full;  /* [bin_count] bins whose buffers are to be written */
    uint64_t walked; /* points of the inputs, in the pieces before */
} distributing;

/* ---- buffers to files */

static void write_piece(const distributing *d, uint32_t b, uint64_t piece) {
    parts_bin *bin = &d->bins[b];
    const uint64_t bytes = d->run->record_bytes, size_bytes = bin->held * bytes, first = piece * WRITE_BYTES;
    if (first >= size_bytes) return;
    if (piece == 0 && d->run->chosen != NULL) {
        potree_hash_add(&bin->sum, d->memory + b * d->capacity * bytes, size_bytes);
    }
    const uint64_t now = size_bytes - first < WRITE_BYTES ? size_bytes - first : WRITE_BYTES;
    const uint64_t at = (bin->at + bin->written) * bytes + first;
    mote_output_write_at(d->run->ctx, &d->run->scratch, d->memory + b * d->capacity * bytes + first, now, at);
}

/* All threads together: points that follow each other are mostly of a few parts. */
static mote_status flush(distributing *d, uint32_t count) {
    mote_context *ctx = d->run->ctx;
    const uint64_t pieces = (d->capacity * d->run->record_bytes + WRITE_BYTES - 1) / WRITE_BYTES;
#pragma omp parallel for schedule(dynamic, 1) num_threads(ctx->threads)
    for (uint64_t job = 0; job < count * pieces; job++) {
        if (!mote_stop(ctx)) write_piece(d, d->full[job / pieces], job % pieces);
    }
    MOTE_TRY(mote_stopped(ctx));
    for (uint32_t i = 0; i < count; i++) {
        parts_bin *bin = &d->bins[d->full[i]];
        bin->written += bin->held;
        bin->held = 0;
    }
    return mote_context_status(ctx);
}

/* The buffers that are too full for what comes. */
static mote_status make_room(distributing *d) {
    uint32_t full = 0;
    for (uint32_t b = 0; b < d->bin_count; b++) {
        if (d->bins[b].held + d->bins[b].coming > d->capacity) d->full[full++] = b;
    }
    return full > 0 ? flush(d, full) : MOTE_OK;
}

static mote_status flush_all(distributing *d) {
    const parts_run *run = d->run;
    uint32_t held = 0;
    for (uint32_t b = 0; b < d->bin_count; b++) {
        if (!run->ranges[b % run->part_count].is_kept) d->full[held++] = b;
    }
    MOTE_TRY(flush(d, held));
    /* Of units that are chosen, all copies are there, and of records as many as they have. */
    for (uint32_t i = 0; i < held; i++) {
        const parts_bin *bin = &d->bins[d->full[i]];
        const bool is_copies = d->full[i] >= run->part_count, is_known = run->chosen == NULL || is_copies;
        parts_range *range = &run->ranges[d->full[i] % run->part_count];
        uint64_t *hash = is_copies ? &range->copies.hash : &range->shared.hash;
        if (run->chosen != NULL) *hash = potree_hash_end(&bin->sum);
        if (is_known && bin->written != bin->most) return parts_changed(run);
    }
    return MOTE_OK;
}

/* ---- a piece */

/* The points of the input that was read so far become its shares. */
static mote_status end_input(parts_run *run) {
    for (uint32_t p = 0; p < run->part_count && run->chosen == NULL; p++) {
        if (run->tally[p] == 0) continue;
        if (!mote_reserve(run->ctx, (void **)&run->shares, &run->share_capacity, run->share_count + 1,
                          sizeof *run->shares, "parts")) {
            return MOTE_ERROR_MEMORY;
        }
        parts_share *share = &run->shares[run->share_count++];
        *share = (parts_share){(uint32_t)run->tallied, p, run->tally[p], 0, 0};
        run->tally[p] = 0;
    }
    run->tallied = parts_source_input(&run->source);
    return MOTE_OK;
}

/* The other parts that look at a point; none where points are only looked at. */
static parts_lookers lookers_of(const distributing *d, uint64_t code) {
    if (d->bin_count == d->run->part_count) return (parts_lookers){NULL, 0};
    return parts_around_of(d->run, code >> 3 * (MOTE_ORDER_BITS - d->run->level));
}

/* So many that all threads have some, and that the points of one fit into any buffer. */
static uint64_t slices_of(const distributing *d, uint64_t points) {
    const uint64_t fine = points / SLICE_POINTS + 1, most = SLICES_PER_THREAD * (uint64_t)d->run->ctx->threads;
    const uint64_t needed = points / d->capacity + 1, wanted = fine < most ? fine : most;
    return wanted > needed ? wanted : needed;
}

static uint64_t slice_first(const parts_piece *piece, uint64_t slice) {
    return piece->cloud->count * slice / piece->slices;
}

/* How many points of each slice go to which bin; those near a border are looked at. */
static void count_slices(const distributing *d, const parts_piece *piece) {
    parts_run *run = d->run;
#pragma omp parallel for schedule(dynamic, 1) num_threads(run->ctx->threads)
    for (uint64_t slice = 0; slice < piece->slices; slice++) {
        uint32_t *counts = d->next + slice * d->bin_count;
        memset(counts, 0, d->bin_count * sizeof *counts);
        for (uint64_t i = slice_first(piece, slice); i < slice_first(piece, slice + 1); i++) {
            const uint64_t code = piece->codes[i];
            piece->parts[i] = PARTS_NONE;
            if (code == UINT64_MAX) continue;
            const uint32_t part = parts_find(run, code);
            const parts_lookers lookers = lookers_of(d, code);
            piece->parts[i] = (uint16_t)part;
            counts[part]++;
            for (uint64_t l = 0; l < lookers.count; l++) counts[run->part_count + lookers.parts[l]]++;
            parts_borders_see(run, part, piece->cloud, i, code);
        }
    }
}

/* Adds what the piece has to what parts are known to have, and refuses more than they were to get. */
static mote_status tally(const distributing *d, const parts_piece *piece) {
    parts_run *run = d->run;
    for (uint32_t b = 0; b < d->bin_count; b++) d->bins[b].points = 0;
    for (uint64_t slice = 0; slice < piece->slices; slice++) {
        const uint32_t *counts = d->next + slice * d->bin_count;
        for (uint32_t b = 0; b < d->bin_count; b++) d->bins[b].points += counts[b];
    }
    for (uint32_t p = 0; p < run->part_count; p++) run->tally[p] += d->bins[p].points;
    for (uint32_t b = 0; b < d->bin_count && d->to_scratch; b++) {
        const parts_bin *bin = &d->bins[b];
        if (bin->points > bin->most - bin->written - bin->held) return parts_changed(run);
    }
    return MOTE_OK;
}

/* How many slices from one on go to the buffers at once: as many as any buffer holds. */
static uint64_t take_slices(const distributing *d, const parts_piece *piece, uint64_t first) {
    uint64_t end = first;
    for (uint32_t b = 0; b < d->bin_count; b++) d->bins[b].coming = 0;
    for (bool fits = true; fits && end < piece->slices; end += fits) {
        const uint32_t *counts = d->next + end * d->bin_count;
        for (uint32_t b = 0; b < d->bin_count && end > first; b++) {
            fits = fits && d->bins[b].coming + counts[b] <= d->capacity;
        }
        for (uint32_t b = 0; b < d->bin_count && fits; b++) d->bins[b].coming += counts[b];
    }
    return end;
}

/* Turns counts of slices into places in the buffers, which hold all of them from here on. */
static void place_slices(const distributing *d, uint64_t first, uint64_t end) {
    for (uint64_t slice = first; slice < end; slice++) {
        uint32_t *next = d->next + slice * d->bin_count;
        for (uint32_t b = 0; b < d->bin_count; b++) {
            const uint32_t own = next[b];
            next[b] = (uint32_t)d->bins[b].held;
            d->bins[b].held += own;
        }
    }
}

/* Puts a record of the source, and its number where records have one. */
static mote_status put(const distributing *d, uint32_t bin, uint32_t *next, const uint8_t *record, uint64_t number) {
    const parts_run *run = d->run;
    uint8_t *to = d->memory + (bin * d->capacity + next[bin]++) * run->record_bytes;
    memcpy(to, record, run->source.record_bytes);
    return run->number_bytes > 0 ? parts_number_put(run, number, to) : MOTE_OK;
}

static mote_status put_records(const distributing *d, const parts_piece *piece, uint64_t first, uint64_t end) {
    const parts_run *run = d->run;
    const uint64_t number = run->first_number + (run->chosen != NULL ? parts_source_number(&run->source) : d->walked);
#pragma omp parallel for schedule(dynamic, 1) num_threads(run->ctx->threads)
    for (uint64_t slice = first; slice < end; slice++) {
        uint32_t *next = d->next + slice * d->bin_count;
        for (uint64_t i = slice_first(piece, slice); i < slice_first(piece, slice + 1); i++) {
            if (piece->parts[i] == PARTS_NONE) continue;
            const uint8_t *record = piece->records + i * run->source.record_bytes;
            const parts_lookers lookers = lookers_of(d, piece->codes[i]);
            if (put(d, piece->parts[i], next, record, number + i) != MOTE_OK) break;
            for (uint64_t l = 0; l < lookers.count; l++) {
                put(d, run->part_count + lookers.parts[l], next, record, number + i);
            }
        }
    }
    return mote_context_status(run->ctx);
}

static mote_status add_piece(distributing *d, const mote_cloud *cloud, const uint8_t *records, const uint64_t *codes) {
    parts_run *run = d->run;
    if (parts_source_input(&run->source) != run->tallied) MOTE_TRY(end_input(run));
    if (cloud->count > run->largest_piece) run->largest_piece = cloud->count;
    const uint64_t slices = slices_of(d, cloud->count);
    if (!mote_reserve_scratch(run->ctx, (void **)&d->next, &d->next_capacity, slices * d->bin_count, sizeof *d->next,
                              "parts") ||
        !mote_reserve_scratch(run->ctx, (void **)&d->parts, &d->parts_capacity, cloud->count, sizeof *d->parts,
                              "parts of a piece")) {
        return MOTE_ERROR_MEMORY;
    }
    const parts_piece piece = {cloud, records, codes, d->parts, slices};
    count_slices(d, &piece);
    if (run->chosen != NULL) MOTE_TRY(parts_chosen_see(run, d->parts, cloud->count));
    if (run->sample != NULL) parts_sample_see(run, records, codes, cloud->count);
    MOTE_TRY(tally(d, &piece));
    for (uint64_t first = 0; d->to_scratch && first < piece.slices;) {
        const uint64_t end = take_slices(d, &piece, first);
        MOTE_TRY(make_room(d));
        place_slices(d, first, end);
        MOTE_TRY(put_records(d, &piece, first, end));
        first = end;
    }
    d->walked += cloud->count;
    return MOTE_OK;
}

/* ---- all */

static mote_status make_bins(distributing *d) {
    parts_run *run = d->run;
    d->capacity = UINT32_MAX;
    d->bin_count = d->to_scratch && run->around != NULL ? 2 * run->part_count : run->part_count;
    d->bins = mote_alloc_zero(run->ctx, d->bin_count * sizeof *d->bins, "parts");
    d->full = mote_alloc(run->ctx, d->bin_count * sizeof *d->full, "parts");
    run->tally = mote_alloc_zero(run->ctx, run->part_count * sizeof *run->tally, "parts");
    return d->bins != NULL && d->full != NULL && run->tally != NULL ? MOTE_OK : MOTE_ERROR_MEMORY;
}

/* Room for each bin, and where it goes. */
static mote_status make_buffers(distributing *d) {
    parts_run *run = d->run;
    const uint64_t half = run->room_bytes / 2, all = half < PARTS_BUFFERS_BYTES ? half : PARTS_BUFFERS_BYTES;
    const uint64_t share = all / d->bin_count / run->record_bytes, most = PARTS_BUFFER_BYTES / run->record_bytes;
    uint64_t end = 0;
    d->capacity = share > most ? most : share > 0 ? share : 1;
    d->memory = mote_alloc(run->ctx, d->bin_count * d->capacity * run->record_bytes, "buffers of parts");
    if (d->memory == NULL) return MOTE_ERROR_MEMORY;
    for (uint32_t b = 0; b < d->bin_count; b++) d->bins[b].sum = potree_hash_begin();
    for (uint32_t p = 0; p < run->part_count; p++) {
        const parts_range *range = &run->ranges[p];
        d->bins[p].at = run->chosen == NULL ? range->at : range->shared.at;
        d->bins[p].most = run->chosen == NULL ? range->points : range->shared.room;
        if (!range->is_kept) end = d->bins[p].at + d->bins[p].most;
    }
    if (d->bin_count > run->part_count) parts_around_place(run, end);
    for (uint32_t b = run->part_count; b < d->bin_count; b++) {
        d->bins[b].at = run->ranges[b - run->part_count].copies.at;
        d->bins[b].most = run->ranges[b - run->part_count].copies.points;
    }
    mote_output_expect(run->ctx, &run->scratch, end * run->record_bytes + run->around_bytes);
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
    if (d->to_scratch) MOTE_TRY(flush_all(d));
    return end_input(run);
}

mote_status parts_walk(parts_run *run, bool to_scratch) {
    distributing d;
    memset(&d, 0, sizeof d);
    d.run = run;
    d.to_scratch = to_scratch;
    mote_stage(run->ctx, "distribute");
    run->tallied = run->share_count = run->span_count = 0;
    mote_status status = make_bins(&d);
    if (status == MOTE_OK && to_scratch) status = make_buffers(&d);
    if (status == MOTE_OK) status = add_pieces(&d);
    mote_free(run->ctx, run->tally);
    run->tally = NULL;
    mote_free(run->ctx, d.bins);
    mote_free(run->ctx, d.full);
    mote_free(run->ctx, d.next);
    mote_free(run->ctx, d.parts);
    mote_free(run->ctx, d.memory);
    return status;
}

mote_status parts_distribute(parts_run *run) {
    mote_status status = parts_borders_begin(run);
    if (status == MOTE_OK) status = parts_walk(run, true);
    if (status == MOTE_OK) status = parts_borders_end(run);
    parts_borders_free(run);
    return status;
}
