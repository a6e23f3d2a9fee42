/* Cells that several parts share: each part says how good its best point there is, and the best of all represents the
   cell. As the representative of a coarse cell is that of one of the cells within, a part's answer for a level is the
   best of those for the finer ones. Whether ranks are those of codes or of fine codes is known only when all parts are
   built, so that both answers are found at once: few points lie in the sampling cells that borders divide. */
#include <stdlib.h>

#include "lod/lod_math.h"
#include "order/lattice/lattice.h"
#include "parts/parts.h"

#define LEVELS (MOTE_ORDER_BITS + 1u)

/* What a part has of a cell that a border of it divides. */
typedef struct parts_claim {
    uint64_t cell, rank;
    uint32_t part;
    uint8_t level;
    bool at_high; /* of its borders */
} parts_claim;

typedef struct parts_claims {
    parts_claim *list;
    uint64_t count, capacity;
} parts_claims;

/* The best ranks by level, of codes and of fine codes, in the cells that a border divides. */
typedef struct border_best {
    uint64_t ranks[2][LEVELS];
    bool any[LEVELS];
} border_best;

typedef struct parts_borders {
    border_best *best; /* [part_count][2] of its low border, and of its high one */
    mote_cell_divisor by[3];
    uint32_t below; /* bits of a code within the sampling cells of the root, the coarsest that there are */
} parts_borders;

mote_status parts_borders_begin(parts_run *run) {
    parts_borders *borders = run->borders = mote_alloc_zero(run->ctx, sizeof *borders, "borders of parts");
    if (borders == NULL) return MOTE_ERROR_MEMORY;
    borders->best = mote_alloc_zero(run->ctx, 2 * run->part_count * sizeof *borders->best, "borders of parts");
    borders->below = 3 * (MOTE_ORDER_BITS - (uint32_t)__builtin_ctz(run->lod.grid));
    for (int k = 0; k < 3; k++) borders->by[k] = mote_cell_divisor_make(run->lattice.side[k]);
    return borders->best != NULL ? MOTE_OK : MOTE_ERROR_MEMORY;
}

void parts_borders_free(parts_run *run) {
    if (run->borders != NULL) mote_free(run->ctx, run->borders->best);
    mote_free(run->ctx, run->borders);
    run->borders = NULL;
}

static void take_rank(const lod_border *border, uint64_t code, const uint64_t ranks[2], border_best *best) {
    if (border->code >> 3 * MOTE_ORDER_BITS != 0) return; /* the end of all codes divides nothing */
    const uint32_t level = mote_lod_shared_level(code, border->code);
    for (int f = 0; f < 2; f++) {
        if (!best->any[level] || ranks[f] < best->ranks[f][level]) best->ranks[f][level] = ranks[f];
    }
    best->any[level] = true;
}

static uint64_t fine_code(const parts_run *run, const mote_cloud *piece, uint64_t i) {
    uint32_t steps[3][LATTICE_BLOCK];
    uint8_t bad[LATTICE_BLOCK];
    lattice_block(piece, &run->lattice, i, NULL, 1, steps, bad);
    const uint32_t place[3] = {steps[0][0], steps[1][0], steps[2][0]};
    return order_fine_code(place, run->borders->by);
}

void parts_borders_see(parts_run *run, uint32_t part, const mote_cloud *piece, uint64_t i, uint64_t code) {
    const parts_borders *borders = run->borders;
    const lod_whole *whole = &run->ranges[part].whole;
    const bool at_low = (code ^ whole->low.code) >> borders->below == 0;
    const bool at_high = (code ^ whole->high.code) >> borders->below == 0;
    if (!at_low && !at_high) return;
    const uint64_t seed = run->lod.seed;
    const uint64_t ranks[2] = {mote_lod_rank(seed, code), mote_lod_rank(seed, fine_code(run, piece, i))};
#pragma omp critical(parts_borders)
    {
        take_rank(&whole->low, code, ranks, &borders->best[2 * part]);
        take_rank(&whole->high, code, ranks, &borders->best[2 * part + 1]);
    }
}

/* fine: whose ranks count */
static mote_status add_claims(parts_run *run, uint32_t part, bool at_high, int fine, parts_claims *claims) {
    const lod_whole *whole = &run->ranges[part].whole;
    const lod_border *border = at_high ? &whole->high : &whole->low;
    const border_best *best = &run->borders->best[2 * part + at_high];
    uint64_t rank = 0;
    bool any = false;
    for (uint32_t level = MOTE_ORDER_BITS + 1; level-- > 0;) {
        if (best->any[level] && (!any || best->ranks[fine][level] < rank)) rank = best->ranks[fine][level];
        any = any || best->any[level];
        const uint64_t cell = border->code >> 3 * (MOTE_ORDER_BITS - level);
        if (!any || !lod_border_divides(border, cell, level)) continue;
        /* Where one cell has both borders, the part claims it once. */
        if (at_high && lod_border_divides(&whole->low, cell, level)) continue;
        if (!mote_reserve(run->ctx, (void **)&claims->list, &claims->capacity, claims->count + 1, sizeof *claims->list,
                          "borders of parts")) {
            return MOTE_ERROR_MEMORY;
        }
        claims->list[claims->count++] = (parts_claim){cell, rank, part, (uint8_t)level, at_high};
    }
    return MOTE_OK;
}

static int compare_claims(const void *a, const void *b) {
    const parts_claim *x = a, *y = b;
    if (x->level != y->level) return x->level < y->level ? -1 : 1;
    if (x->cell != y->cell) return x->cell < y->cell ? -1 : 1;
    if (x->rank != y->rank) return x->rank < y->rank ? -1 : 1;
    return x->part < y->part ? -1 : x->part > y->part; /* as in one order: the first */
}

static mote_status settle(parts_run *run, int fine) {
    parts_claims claims = {NULL, 0, 0};
    mote_status status = MOTE_OK;
    for (uint32_t p = 0; p < run->part_count && status == MOTE_OK; p++) {
        status = add_claims(run, p, false, fine, &claims);
        if (status == MOTE_OK) status = add_claims(run, p, true, fine, &claims);
    }
    if (status == MOTE_OK && claims.count > 0) qsort(claims.list, claims.count, sizeof *claims.list, compare_claims);
    for (uint64_t i = 0; i < claims.count && status == MOTE_OK; i++) {
        const parts_claim *claim = &claims.list[i];
        const bool wins = i == 0 || claim[-1].level != claim->level || claim[-1].cell != claim->cell;
        parts_wins *own = &run->ranges[claim->part].wins[fine];
        /* The low border answers for a cell that has both: lod_whole_border. */
        (claim->at_high ? own->high : own->low)[claim->level] = wins;
    }
    mote_free(run->ctx, claims.list);
    return status;
}

mote_status parts_borders_end(parts_run *run) {
    MOTE_TRY(settle(run, 0));
    return settle(run, 1);
}

void parts_choose_by(parts_run *run, bool fine) {
    run->fine = fine;
    for (uint32_t p = 0; p < run->part_count; p++) {
        parts_range *range = &run->ranges[p];
        range->whole.fine = fine;
        memcpy(range->whole.low.wins, range->wins[fine].low, sizeof range->whole.low.wins);
        memcpy(range->whole.high.wins, range->wins[fine].high, sizeof range->whole.high.wins);
    }
}
