/* Points are counted by notes: the cells that points which follow each other are in, and how many. A plan keeps them of
   each unit of the inputs (chunks of LAZ, blocks of LAS, files of others), so that one walk over all points suffices:
   what the ranges that are cut have of which unit follows from the notes.

     unit 0   (cell 17: 40,112 points) (cell 18: 9,888)      a cell and a count are 8 bytes
     unit 1   (cell 18: 50,000)
     unit 2   (cell 3: 77) (cell 18: 41,002) (cell 40: ...)

   Units of a scan have points of few cells. Where they are of many, cells become coarser, for all units. */
#include <stdlib.h>

#include "parts/parts_notes.h"

/* Notes of a unit, on average, beyond which cells become coarser: 4 KB for the 50,000 points of a usual chunk. A city
   of 10 M points has 292 in a chunk, an airborne scan of 5.3 M points 442, and larger clouds have fewer. */
#define UNIT_NOTES 512u
/* Cells that a unit's points come back to: those that follow each other lie near each other. */
#define RECENT_CELLS 4096u
#define SLICE_POINTS 25000u /* half of a usual chunk: two threads have ten each of a piece */

mote_status parts_notes_begin(parts_run *run, bool keeps) {
    run->notes = mote_alloc_zero(run->ctx, sizeof *run->notes, "notes of points");
    if (run->notes == NULL) return MOTE_ERROR_MEMORY;
    run->notes->keeps = keeps;
    return MOTE_OK;
}

void parts_notes_end(parts_run *run) {
    if (run->notes == NULL) return;
    mote_free(run->ctx, run->notes->units);
    mote_free(run->ctx, run->notes->list);
    mote_free(run->ctx, run->notes->counts);
    mote_free(run->ctx, run->notes->found);
    mote_free(run->ctx, run->notes->pieces);
    mote_free(run->ctx, run->notes);
    run->notes = NULL;
}

void parts_notes_restart(parts_run *run) {
    run->notes->unit_count = run->notes->count = 0;
    run->notes->coarser = 0;
}

uint64_t parts_notes_bytes(const parts_run *run) {
    const parts_notes *notes = run->notes;
    return notes != NULL ? notes->unit_capacity * sizeof *notes->units + notes->capacity * sizeof *notes->list : 0;
}

/* ---- a unit */

static int compare(const void *a, const void *b) {
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* Makes one of notes of the same cell, which are beside each other. Returns how many remain. */
static uint64_t join_notes(uint64_t *list, uint64_t count) {
    uint64_t kept = 0;
    for (uint64_t i = 0; i < count; i++) {
        if (kept > 0 && cell_of(list[kept - 1]) == cell_of(list[i])) {
            list[kept - 1] += points_of(list[i]);
        } else {
            list[kept++] = list[i];
        }
    }
    return kept;
}

static uint64_t sort_notes(uint64_t *list, uint64_t count) {
    if (count > 1) qsort(list, count, sizeof *list, compare);
    return join_notes(list, count);
}

/* The notes of some points, in any order; of a cell there may be several. below: bits of a code within a cell */
static uint64_t note_points(const uint64_t *codes, uint64_t count, uint32_t below, uint64_t *list) {
    uint64_t recent[RECENT_CELLS], kept = 0;
    memset(recent, 0, sizeof recent);
    for (uint64_t i = 0; i < count; i++) {
        if (codes[i] == UINT64_MAX) continue;
        const uint64_t cell = codes[i] >> below;
        uint64_t *note = &recent[cell % RECENT_CELLS];
        if (*note != 0 && cell_of(*note) != cell) {
            list[kept++] = *note;
            *note = 0;
        }
        *note = *note != 0 ? *note + 1 : note_of(cell, 1);
    }
    for (uint32_t r = 0; r < RECENT_CELLS; r++) {
        if (recent[r] != 0) list[kept++] = recent[r];
    }
    return kept;
}

/* ---- all */

/* Makes notes of cells that are some levels coarser. */
static uint64_t widen(uint64_t *list, uint64_t count, uint32_t levels) {
    for (uint64_t i = 0; i < count; i++) list[i] = note_of(cell_of(list[i]) >> 3 * levels, points_of(list[i]));
    return join_notes(list, count);
}

/* Lets cells be twice as wide. */
static void make_coarser(parts_notes *notes) {
    uint64_t kept = 0;
    notes->coarser++;
    for (uint64_t u = 0; u < notes->unit_count; u++) {
        parts_unit *unit = &notes->units[u];
        uint64_t *list = notes->list + unit->first;
        unit->count = widen(list, unit->count, 1);
        memmove(notes->list + kept, list, unit->count * sizeof *list);
        unit->first = kept;
        kept += unit->count;
    }
    notes->count = kept;
}

/* The same unit may come again: the next piece of a union has the rest of its points. */
static bool is_last_unit(const parts_notes *notes, uint32_t input, const reader_span *span) {
    if (notes->unit_count == 0) return false;
    const parts_unit *last = &notes->units[notes->unit_count - 1];
    return last->input == input && last->span.first == span->first && last->span.end == span->end;
}

static mote_status add_unit(parts_run *run, const notes_piece *piece, const uint64_t *found) {
    parts_notes *notes = run->notes;
    const uint32_t input = (uint32_t)parts_source_input(&run->source);
    if (!is_last_unit(notes, input, &piece->span)) {
        if (!mote_reserve(run->ctx, (void **)&notes->units, &notes->unit_capacity, notes->unit_count + 1,
                          sizeof *notes->units, "notes of points")) {
            return MOTE_ERROR_MEMORY;
        }
        notes->units[notes->unit_count++] = (parts_unit){.span = piece->span, .first = notes->count, .input = input};
    }
    parts_unit *unit = &notes->units[notes->unit_count - 1];
    if (!mote_reserve(run->ctx, (void **)&notes->list, &notes->capacity, notes->count + piece->count,
                      sizeof *notes->list, "notes of points")) {
        return MOTE_ERROR_MEMORY;
    }
    const bool is_more = unit->count > 0;
    memcpy(notes->list + notes->count, found, piece->count * sizeof *found);
    unit->count += piece->count;
    if (is_more) unit->count = sort_notes(notes->list + unit->first, unit->count);
    notes->count = unit->first + unit->count;
    unit->given += piece->end - piece->first;
    return MOTE_OK;
}

/* Which points of a piece are of which unit; where notes are not kept, as many as a thread takes at once. */
static mote_status find_pieces(parts_run *run, uint64_t count, uint64_t *pieces) {
    parts_notes *notes = run->notes;
    *pieces = 0;
    for (uint64_t i = 0, end; i < count; i = end) {
        reader_span span = {0, 0, 0, 0};
        end = i + SLICE_POINTS;
        if (notes->keeps) span = parts_source_units(&run->source, i, &end);
        end = end < count ? end : count;
        if (!mote_reserve(run->ctx, (void **)&notes->pieces, &notes->piece_capacity, *pieces + 1, sizeof *notes->pieces,
                          "notes of points")) {
            return MOTE_ERROR_MEMORY;
        }
        notes->pieces[(*pieces)++] = (notes_piece){span, i, end, 0};
    }
    return MOTE_OK;
}

mote_status parts_notes_see(parts_run *run, const uint64_t *codes, uint64_t count) {
    parts_notes *notes = run->notes;
    const uint32_t below = 3 * (MOTE_ORDER_BITS - run->level);
    uint64_t pieces = 0;
    MOTE_TRY(find_pieces(run, count, &pieces));
    if (!mote_reserve_scratch(run->ctx, (void **)&notes->found, &notes->found_capacity, count, sizeof *notes->found,
                              "notes of points")) {
        return MOTE_ERROR_MEMORY;
    }
#pragma omp parallel for schedule(dynamic, 1) num_threads(run->ctx->threads)
    for (uint64_t p = 0; p < pieces; p++) {
        notes_piece *piece = &notes->pieces[p];
        uint64_t *found = notes->found + piece->first;
        piece->count = note_points(codes + piece->first, piece->end - piece->first, below, found);
        if (notes->keeps) piece->count = sort_notes(found, piece->count);
    }
    for (uint64_t p = 0; p < pieces; p++) {
        notes_piece *piece = &notes->pieces[p];
        uint64_t *found = notes->found + piece->first;
        for (uint64_t i = 0; i < piece->count; i++) run->first[cell_of(found[i])] += points_of(found[i]);
        if (!notes->keeps) continue;
        if (notes->coarser > 0) piece->count = widen(found, piece->count, notes->coarser);
        MOTE_TRY(add_unit(run, piece, found));
    }
    /* No more notes than cells that are counted are always few enough. */
    const uint64_t most = UNIT_NOTES * notes->unit_count;
    while (notes->count > most && notes->count > run->cell_count && notes->coarser < run->level) make_coarser(notes);
    return MOTE_OK;
}
