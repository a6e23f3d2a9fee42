/* Which units of an input (chunks of LAZ, records of LAS) have points of a part: so that who makes it need not read the
   others. Points come as they were scanned, and most chunks have points of few parts.

     units      0  1  2  3  4  5  6  7  8  9
     part 3        ×  ×        ×        ×  ×         units that have points of it
     spans         └──┘        └┘       └──┘         PARTS_SPANS at most: then the nearest two become one */
#include "parts/parts.h"

#define PARTS_SPANS 64u /* of a part in an input: a plan of 1,000 parts and one input has 2 MB of them at most */

typedef struct part_spans {
    reader_span list[PARTS_SPANS + 1];
    uint32_t count;
} part_spans;

typedef struct parts_notes {
    part_spans *parts; /* [part_count] of the input that is read */
    uint64_t *seen;    /* [part_count] the last block that had points of it, from 1 */
    uint64_t blocks;   /* so far */
} parts_notes;

mote_status parts_spans_begin(parts_run *run) {
    parts_notes *notes = run->notes = mote_alloc_zero(run->ctx, sizeof *notes, "spans of parts");
    if (notes == NULL) return MOTE_ERROR_MEMORY;
    notes->parts = mote_alloc_zero(run->ctx, run->part_count * sizeof *notes->parts, "spans of parts");
    notes->seen = mote_alloc_zero(run->ctx, run->part_count * sizeof *notes->seen, "spans of parts");
    return notes->parts != NULL && notes->seen != NULL ? MOTE_OK : MOTE_ERROR_MEMORY;
}

void parts_spans_end(parts_run *run) {
    if (run->notes == NULL) return;
    mote_free(run->ctx, run->notes->parts);
    mote_free(run->ctx, run->notes->seen);
    mote_free(run->ctx, run->notes);
    run->notes = NULL;
}

/* Makes one of the two spans that fewest points lie between. */
static void join_nearest(part_spans *spans) {
    uint32_t best = 1;
    for (uint32_t s = 2; s < spans->count; s++) {
        const uint64_t gap = spans->list[s].before - spans->list[s - 1].before_end;
        if (gap < spans->list[best].before - spans->list[best - 1].before_end) best = s;
    }
    spans->list[best - 1].end = spans->list[best].end;
    spans->list[best - 1].before_end = spans->list[best].before_end;
    spans->count--;
    memmove(&spans->list[best], &spans->list[best + 1], (spans->count - best) * sizeof *spans->list);
}

static void add_units(part_spans *spans, const reader_span *units) {
    reader_span *last = spans->count > 0 ? &spans->list[spans->count - 1] : NULL;
    if (last != NULL && last->end >= units->first) { /* of several pieces of a union, the same units may come again */
        if (units->end > last->end) last->end = units->end;
        if (units->before_end > last->before_end) last->before_end = units->before_end;
        return;
    }
    spans->list[spans->count++] = *units;
    if (spans->count > PARTS_SPANS) join_nearest(spans);
}

void parts_spans_see(parts_run *run, const uint16_t *parts, uint64_t count) {
    parts_notes *notes = run->notes;
    for (uint64_t i = 0, end; i < count; i = end) {
        const reader_span units = parts_source_units(&run->source, i, &end);
        notes->blocks++;
        end = end < count ? end : count;
        for (uint64_t j = i; j < end && units.end > units.first; j++) {
            if (parts[j] == PARTS_NONE || notes->seen[parts[j]] == notes->blocks) continue;
            notes->seen[parts[j]] = notes->blocks;
            add_units(&notes->parts[parts[j]], &units);
        }
    }
}

mote_status parts_spans_take(parts_run *run, parts_share *share) {
    part_spans *spans = &run->notes->parts[share->part];
    if (!mote_reserve(run->ctx, (void **)&run->spans, &run->span_capacity, run->span_count + spans->count,
                      sizeof *run->spans, "spans of parts")) {
        return MOTE_ERROR_MEMORY;
    }
    share->first_span = run->span_count;
    share->span_count = spans->count;
    for (uint32_t s = 0; s < spans->count; s++) run->spans[run->span_count++] = spans->list[s];
    spans->count = 0;
    return MOTE_OK;
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
