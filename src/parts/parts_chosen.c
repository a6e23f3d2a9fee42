/* A walk over some of the units that are noted. What it gives are their points, one unit after the other, as many of
   each as were given when they were noted: so it is known which unit a point is of, and what each part has of it. */
#include "parts/parts_notes.h"

/* ---- what parts have of a unit */

parts_note parts_note_of(const parts_run *run, const parts_unit *unit, uint64_t i) {
    const parts_notes *notes = run->notes;
    const uint64_t packed = notes->list[unit->first + i], cell = cell_of(packed);
    const uint32_t below = 3 * (MOTE_ORDER_BITS - run->level + notes->coarser);
    const uint64_t first = cell << below, end = (cell + 1) << below;
    return (parts_note){first, end, points_of(packed), parts_find(run, first), parts_find(run, end - 1)};
}

uint64_t parts_unit_counts(const parts_run *run, const parts_unit *unit, unit_count *list) {
    uint64_t count = 0;
    if (unit->is_counted) {
        memcpy(list, run->notes->counts + unit->first_count, unit->count_count * sizeof *list);
        return unit->count_count;
    }
    for (uint64_t i = 0; i < unit->count; i++) {
        const parts_note note = parts_note_of(run, unit, i);
        for (uint32_t p = note.first_part; p <= note.last_part; p++) {
            if (count == 0 || list[count - 1].part < p) list[count++] = (unit_count){0, p};
            list[count - 1].points += note.points;
        }
    }
    return count;
}

/* ---- a walk over some */

static mote_status allocate(parts_run *run, uint64_t units, parts_chosen *chosen) {
    mote_context *ctx = run->ctx;
    const uint64_t inputs = run->source.list.count;
    memset(chosen, 0, sizeof *chosen);
    chosen->spans = mote_alloc_zero(ctx, inputs * sizeof *chosen->spans, "spans of parts");
    chosen->wanted = mote_alloc_zero(ctx, inputs * sizeof *chosen->wanted, "inputs");
    chosen->list = mote_alloc(ctx, units * sizeof *chosen->list, "spans of parts");
    chosen->units = mote_alloc(ctx, units * sizeof *chosen->units, "spans of parts");
    chosen->tally = mote_alloc_zero(ctx, run->part_count * sizeof *chosen->tally, "parts");
    const bool made = chosen->spans != NULL && chosen->wanted != NULL && chosen->list != NULL &&
                      chosen->units != NULL && chosen->tally != NULL;
    return made ? MOTE_OK : MOTE_ERROR_MEMORY;
}

/* Adds the unit to the spans of its input. */
static void add_span(parts_chosen *chosen, const parts_unit *unit, uint64_t *span_count) {
    parts_spans *spans = &chosen->spans[unit->input];
    chosen->wanted[unit->input] = true;
    if (unit->span.first == unit->span.end) return; /* all of the input */
    reader_span *last = spans->count > 0 ? &chosen->list[*span_count - 1] : NULL;
    if (last != NULL && last->end == unit->span.first) {
        last->end = unit->span.end;
        last->before_end = unit->span.before_end;
        return;
    }
    if (spans->count++ == 0) spans->list = &chosen->list[*span_count];
    chosen->list[(*span_count)++] = unit->span;
}

mote_status parts_choose_units(parts_run *run, parts_chooses chooses, parts_chosen *chosen) {
    const parts_notes *notes = run->notes;
    uint64_t count = 0, span_count = 0;
    for (uint64_t u = 0; u < notes->unit_count; u++) count += chooses(run, &notes->units[u]);
    MOTE_TRY(allocate(run, count, chosen));
    for (uint64_t u = 0; u < notes->unit_count; u++) {
        if (!chooses(run, &notes->units[u])) continue;
        chosen->units[chosen->count++] = u;
        add_span(chosen, &notes->units[u], &span_count);
    }
    run->source.spans = chosen->spans;
    run->source.wanted = chosen->wanted;
    run->source.spans_apart = run->has_numbers;
    run->chosen = chosen;
    return MOTE_OK;
}

/* The unit before the next one has no more points. */
static mote_status end_unit(parts_run *run) {
    parts_chosen *chosen = run->chosen;
    parts_notes *notes = run->notes;
    if (chosen->next == 0) return MOTE_OK;
    parts_unit *unit = &notes->units[chosen->units[chosen->next - 1]];
    unit->first_count = notes->counts_count;
    for (uint32_t p = 0; p < run->part_count; p++) {
        if (chosen->tally[p] == 0) continue;
        if (!mote_reserve(run->ctx, (void **)&notes->counts, &notes->counts_capacity, notes->counts_count + 1,
                          sizeof *notes->counts, "notes of a plan")) {
            return MOTE_ERROR_MEMORY;
        }
        notes->counts[notes->counts_count++] = (unit_count){chosen->tally[p], p};
        chosen->tally[p] = 0;
    }
    unit->count_count = notes->counts_count - unit->first_count;
    unit->is_counted = true;
    return MOTE_OK;
}

/* Goes on to the next unit that gives points. */
static mote_status begin_unit(parts_run *run) {
    parts_chosen *chosen = run->chosen;
    MOTE_TRY(end_unit(run));
    if (chosen->next == chosen->count) return parts_changed(run);
    chosen->left = run->notes->units[chosen->units[chosen->next++]].given;
    return MOTE_OK;
}

mote_status parts_chosen_see(parts_run *run, const uint16_t *parts, uint64_t count) {
    parts_chosen *chosen = run->chosen;
    for (uint64_t i = 0, end; i < count; i = end) {
        while (chosen->left == 0) MOTE_TRY(begin_unit(run));
        end = count - i < chosen->left ? count : i + chosen->left;
        for (uint64_t j = i; j < end; j++) {
            if (parts[j] != PARTS_NONE) chosen->tally[parts[j]]++;
        }
        chosen->left -= end - i;
    }
    return MOTE_OK;
}

mote_status parts_chosen_end(parts_run *run, parts_chosen *chosen, mote_status status) {
    if (status == MOTE_OK) status = end_unit(run);
    if (status == MOTE_OK && (chosen->left > 0 || chosen->next < chosen->count)) status = parts_changed(run);
    run->source.spans = NULL;
    run->source.wanted = NULL;
    run->chosen = NULL;
    parts_source_rest(&run->source);
    mote_free(run->ctx, chosen->spans);
    mote_free(run->ctx, chosen->wanted);
    mote_free(run->ctx, chosen->list);
    mote_free(run->ctx, chosen->units);
    mote_free(run->ctx, chosen->tally);
    return status;
}
