/* Cells that several parts share: each part says how good its best point there is, and the best of all represents the
   cell. As the representative of a coarse cell is that of one of the cells within, a part's answer for a level is the
   best of those for the finer ones. */
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

/* The best rank by level, of the cells that a border divides. */
typedef struct border_best {
    uint64_t ranks[LEVELS];
    bool any[LEVELS];
} border_best;

static void look_at(const lod_border *border, uint64_t code, uint64_t rank, border_best *best) {
    if (border->code >> 3 * MOTE_ORDER_BITS != 0) return; /* the end of all codes divides nothing */
    const uint32_t level = mote_lod_shared_level(code, border->code);
    if (!best->any[level] || rank < best->ranks[level]) best->ranks[level] = rank;
    best->any[level] = true;
}

static mote_status add_claims(parts_run *run, uint32_t part, bool at_high, border_best *best, parts_claims *claims) {
    const lod_whole *whole = &run->ranges[part].whole;
    const lod_border *border = at_high ? &whole->high : &whole->low;
    for (uint32_t level = MOTE_ORDER_BITS; level-- > 0;) {
        if (best->any[level + 1] && (!best->any[level] || best->ranks[level + 1] < best->ranks[level])) {
            best->ranks[level] = best->ranks[level + 1];
            best->any[level] = true;
        }
        const uint64_t cell = border->code >> 3 * (MOTE_ORDER_BITS - level);
        if (!best->any[level] || !lod_border_divides(border, cell, level)) continue;
        /* Where one cell has both borders, the part claims it once. */
        if (at_high && lod_border_divides(&whole->low, cell, level)) continue;
        if (!mote_reserve(run->ctx, (void **)&claims->list, &claims->capacity, claims->count + 1, sizeof *claims->list,
                          "borders of parts")) {
            return MOTE_ERROR_MEMORY;
        }
        claims->list[claims->count++] = (parts_claim){cell, best->ranks[level], part, (uint8_t)level, at_high};
    }
    return MOTE_OK;
}

static uint64_t fine_code(uint32_t steps[3][LATTICE_BLOCK], uint32_t j, const mote_cell_divisor by[3]) {
    const uint32_t place[3] = {steps[0][j], steps[1][j], steps[2][j]};
    return order_fine_code(place, by);
}

/* Rank codes are the codes, or fine codes where the whole needs them. */
static mote_status look_at_points(parts_run *run, const mote_cloud *cloud, uint32_t part, const uint64_t *codes,
                                  parts_claims *claims) {
    const lod_whole *whole = &run->ranges[part].whole;
    uint32_t steps[3][LATTICE_BLOCK];
    uint8_t bad[LATTICE_BLOCK];
    mote_cell_divisor by[3];
    border_best low, high;
    memset(&low, 0, sizeof low);
    memset(&high, 0, sizeof high);
    for (int k = 0; k < 3; k++) by[k] = mote_cell_divisor_make(run->lattice.side[k]);
    for (uint64_t first = 0; first < cloud->count; first += LATTICE_BLOCK) {
        const uint64_t rest = cloud->count - first;
        const uint32_t now = rest < LATTICE_BLOCK ? (uint32_t)rest : LATTICE_BLOCK;
        if (run->fine) lattice_block(cloud, &run->lattice, first, NULL, now, steps, bad);
        for (uint32_t j = 0; j < now; j++) {
            const uint64_t code = codes[first + j];
            const uint64_t rank = mote_lod_rank(run->params->seed, run->fine ? fine_code(steps, j, by) : code);
            look_at(&whole->low, code, rank, &low);
            look_at(&whole->high, code, rank, &high);
        }
    }
    MOTE_TRY(add_claims(run, part, false, &low, claims));
    return add_claims(run, part, true, &high, claims);
}

static mote_status look_at_part(parts_run *run, uint32_t part, parts_claims *claims) {
    mote_cloud *cloud = NULL;
    uint64_t *codes = NULL;
    mote_status status = parts_load(run, &run->ranges[part], &cloud);
    if (status == MOTE_OK) {
        codes = mote_alloc(run->ctx, cloud->count * sizeof *codes, "codes");
        status = codes != NULL ? parts_codes(run, cloud, codes) : MOTE_ERROR_MEMORY;
    }
    if (status == MOTE_OK) status = look_at_points(run, cloud, part, codes, claims);
    mote_free(run->ctx, codes);
    mote_cloud_destroy(cloud);
    return status;
}

static int compare_claims(const void *a, const void *b) {
    const parts_claim *x = a, *y = b;
    if (x->level != y->level) return x->level < y->level ? -1 : 1;
    if (x->cell != y->cell) return x->cell < y->cell ? -1 : 1;
    if (x->rank != y->rank) return x->rank < y->rank ? -1 : 1;
    return x->part < y->part ? -1 : x->part > y->part; /* as in one order: the first */
}

/* The sampling cells of the root are the coarsest: where no border divides one, there is nothing to settle. */
static bool any_divided(const parts_run *run) {
    const uint32_t grid_level = (uint32_t)__builtin_ctz(run->params->grid);
    for (uint32_t p = 1; p < run->part_count; p++) {
        const lod_border *low = &run->ranges[p].whole.low;
        for (uint32_t level = grid_level; level <= MOTE_ORDER_BITS; level++) {
            if (lod_border_divides(low, low->code >> 3 * (MOTE_ORDER_BITS - level), level)) return true;
        }
    }
    return false;
}

mote_status parts_borders(parts_run *run) {
    parts_claims claims = {NULL, 0, 0};
    mote_status status = MOTE_OK;
    for (uint32_t p = 0; p < run->part_count; p++) run->ranges[p].whole.fine = run->fine;
    if (!any_divided(run)) return MOTE_OK;
    mote_stage(run->ctx, "borders");
    for (uint32_t p = 0; p < run->part_count && status == MOTE_OK; p++) status = look_at_part(run, p, &claims);
    if (status == MOTE_OK) qsort(claims.list, claims.count, sizeof *claims.list, compare_claims);
    for (uint64_t i = 0; i < claims.count && status == MOTE_OK; i++) {
        const parts_claim *claim = &claims.list[i];
        const bool wins = i == 0 || claim[-1].level != claim->level || claim[-1].cell != claim->cell;
        lod_whole *whole = &run->ranges[claim->part].whole;
        const uint32_t level = claim->level;
        /* The low border answers for a cell that has both: lod_whole_border. */
        (claim->at_high ? &whole->high : &whole->low)->wins[level] = wins;
    }
    mote_free(run->ctx, claims.list);
    return status;
}
