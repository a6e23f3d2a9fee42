/* Which units of an input (chunks of LAZ, blocks of LAS) a part reads, and where among its points those of the shared
   file go: so that who makes a part reads what it has, and no more.

     units      0  1  2  3  4  5  6  7  8  9
     part 3     ×  ×     S     ×     S  S  ×         × has points of it, S is shared with other parts
     spans      └──┘           └┘          └┘        read from the input
     runs            ──┘  │             │            points of the shared file, behind those of units 0 and 1 ... */
#include "parts/parts_notes.h"

/* What a part reads of an input that is looked at. */
typedef struct part_spans {
    uint64_t end;   /* of the last span */
    uint64_t count; /* of spans */
    uint64_t at;    /* where in the run's they begin */
    uint64_t points;
    bool has_any; /* points in the input, or in shared units of it */
} part_spans;

typedef struct finding {
    parts_run *run;
    part_spans *parts; /* [part_count] */
    uint64_t *before;  /* [part_count] own points in units before */
    unit_count *list;  /* [part_count] */
    bool fills;        /* else it counts */
} finding;

static void add_unit(const finding *f, const parts_unit *unit, const unit_count *own) {
    part_spans *spans = &f->parts[own->part];
    spans->has_any = true;
    if (unit->is_shared) return;
    spans->points += own->points;
    if (unit->span.first == unit->span.end) return; /* all of the input, which has no units */
    const bool is_new = spans->count == 0 || spans->end != unit->span.first;
    spans->count += is_new;
    spans->end = unit->span.end;
    if (!f->fills) return;
    reader_span *span = &f->run->spans[spans->at + spans->count - 1];
    if (is_new) *span = unit->span;
    span->end = unit->span.end;
    span->before_end = unit->span.before_end;
}

static void walk_units(const finding *f, uint64_t first, uint64_t end) {
    const parts_run *run = f->run;
    for (uint32_t p = 0; p < run->part_count; p++) {
        f->parts[p].count = f->parts[p].points = 0;
        f->parts[p].has_any = false;
    }
    for (uint64_t u = first; u < end; u++) {
        const parts_unit *unit = &run->notes->units[u];
        const uint64_t count = parts_unit_counts(run, unit, f->list);
        for (uint64_t i = 0; i < count; i++) add_unit(f, unit, &f->list[i]);
    }
}

/* The shares of an input, whose units these are. */
static mote_status find_shares(finding *f, uint32_t input, uint64_t first, uint64_t end) {
    parts_run *run = f->run;
    f->fills = false;
    walk_units(f, first, end);
    for (uint32_t p = 0; p < run->part_count; p++) {
        part_spans *spans = &f->parts[p];
        if (!spans->has_any) continue;
        if (!mote_reserve(run->ctx, (void **)&run->shares, &run->share_capacity, run->share_count + 1,
                          sizeof *run->shares, "parts") ||
            !mote_reserve(run->ctx, (void **)&run->spans, &run->span_capacity, run->span_count + spans->count,
                          sizeof *run->spans, "spans of parts")) {
            return MOTE_ERROR_MEMORY;
        }
        spans->at = run->span_count;
        run->span_count += spans->count;
        run->shares[run->share_count++] = (parts_share){input, p, spans->points, spans->at, spans->count};
    }
    f->fills = true;
    walk_units(f, first, end);
    return MOTE_OK;
}

/* Where the points of part p in a shared unit go. */
static mote_status add_run(parts_run *run, uint32_t p, uint64_t first, uint64_t count) {
    parts_placing *placing = &run->ranges[p].shared;
    placed_run *last = placing->run_count > 0 ? &placing->runs[placing->run_count - 1] : NULL;
    if (last != NULL && last->first + last->count == first) {
        last->count += count;
        return MOTE_OK;
    }
    if (!mote_reserve(run->ctx, (void **)&placing->runs, &placing->run_capacity, placing->run_count + 1,
                      sizeof *placing->runs, "spans of parts")) {
        return MOTE_ERROR_MEMORY;
    }
    placing->runs[placing->run_count++] = (placed_run){first, count};
    return MOTE_OK;
}

static mote_status find_runs(const finding *f) {
    parts_run *run = f->run;
    for (uint64_t u = 0; u < run->notes->unit_count; u++) {
        const parts_unit *unit = &run->notes->units[u];
        const uint64_t count = parts_unit_counts(run, unit, f->list);
        for (uint64_t i = 0; i < count; i++) {
            const unit_count *own = &f->list[i];
            if (unit->is_shared) MOTE_TRY(add_run(run, own->part, f->before[own->part], own->points));
            if (unit->is_shared) run->ranges[own->part].shared.points += own->points;
            f->before[own->part] += own->points;
        }
    }
    return MOTE_OK;
}

static mote_status find_all(finding *f) {
    const parts_notes *notes = f->run->notes;
    f->run->share_count = f->run->span_count = 0;
    for (uint64_t first = 0, end; first < notes->unit_count; first = end) {
        end = first + 1;
        while (end < notes->unit_count && notes->units[end].input == notes->units[first].input) end++;
        MOTE_TRY(find_shares(f, notes->units[first].input, first, end));
    }
    return find_runs(f);
}

mote_status parts_spans_find(parts_run *run) {
    mote_context *ctx = run->ctx;
    finding f = {run, mote_alloc_zero(ctx, run->part_count * sizeof *f.parts, "parts"),
                 mote_alloc_zero(ctx, run->part_count * sizeof *f.before, "parts"),
                 mote_alloc(ctx, run->part_count * sizeof *f.list, "parts"), false};
    const bool made = f.parts != NULL && f.before != NULL && f.list != NULL;
    const mote_status status = made ? find_all(&f) : MOTE_ERROR_MEMORY;
    mote_free(ctx, f.parts);
    mote_free(ctx, f.before);
    mote_free(ctx, f.list);
    return status;
}

parts_spans *parts_spans_of(const parts_run *run, uint32_t part) {
    parts_spans *all = mote_alloc_zero(run->ctx, run->source.list.count * sizeof *all, "spans of parts");
    for (uint64_t s = 0; s < run->share_count && all != NULL; s++) {
        const parts_share *share = &run->shares[s];
        if (share->part != part || share->span_count == 0) continue;
        all[share->input] = (parts_spans){run->spans + share->first_span, share->span_count};
    }
    return all;
}
