/* Which cells an update changes, in units that leave all others as they are.

   Cells are those of the root's sampling grid, or coarser: what nodes choose among the points of a cell and above it,
   or average of them, is told by that cell's points alone. So is the tree below the cell. Above it, nodes have the same
   children as long as they are divided before and after; where one is not, all of it changes. */
#include <mote_have.h>

#include "lod/lod_math.h"
#include "parts/parts_update.h"

#if MOTE_HAVE_JANSSON

/* What reaches into cells whose points are collected is read twice. Where that is more than this share of all points,
   one walk over all, and building all, takes less: of 20 M points as LAZ a walk takes 6 s of processor, building and
   writing all 4, so that the share is about 2 / 3. */
#define READ_NUMBER 2u
#define READ_OF     3u

/* Ranges of cells that are kept or changed in turn: each is a part with a file of its own, of which MOTE_PARTS_MAX may
 * be.
 */
#define RANGES_MAX (MOTE_PARTS_MAX / 2)

typedef struct cell_box {
    uint32_t low[3], high[3]; /* both within */
} cell_box;

static uint8_t max_change(uint8_t a, uint8_t b) { return a > b ? a : b; }

/* What becomes of a cell whose points stay the same, but whose nodes do not. */
static uint8_t change_of_same(const parts_update *update) { return update->old.reads ? PARTS_JOINED : PARTS_COLLECTED; }

/* ---- boxes */

/* False: there are no points. */
static bool cells_of(const parts_run *run, const parts_known *known, cell_box *box) {
    for (int k = 0; k < 3; k++) {
        const mote_cell_divisor by = mote_cell_divisor_make(run->lattice.side[k]);
        if (known->low[k] > known->high[k]) return false;
        box->low[k] = mote_cell_among((uint64_t)(known->low[k] - run->lattice.min[k]), by, run->level);
        box->high[k] = mote_cell_among((uint64_t)(known->high[k] - run->lattice.min[k]), by, run->level);
    }
    return true;
}

typedef bool (*use_cell)(uint8_t *change);
static bool collect(uint8_t *change) {
    *change = PARTS_COLLECTED;
    return false;
}
static bool is_collected(uint8_t *change) { return *change == PARTS_COLLECTED; }

/* Whether use says so of some cell, at which the visit ends. */
static bool visit(parts_update *update, const cell_box *box, use_cell use) {
    for (uint32_t x = box->low[0]; x <= box->high[0]; x++) {
        for (uint32_t y = box->low[1]; y <= box->high[1]; y++) {
            for (uint32_t z = box->low[2]; z <= box->high[2]; z++) {
                if (use(&update->changed[mote_morton_encode(x, y, z)])) return true;
            }
        }
    }
    return false;
}

/* ---- walks */

/* What an update does with the cell of a point. */
typedef void (*use_point)(parts_update *update, uint64_t cell, uint32_t input);

static void mark(parts_update *update, uint64_t cell, uint32_t input) {
    const bool joins = update->joins[input] && update->old.reads;
    update->changed[cell] = max_change(update->changed[cell], joins ? PARTS_JOINED : PARTS_COLLECTED);
}

static void count(parts_update *update, uint64_t cell, uint32_t input) {
    (void)input;
    update->run.first[cell]++;
}

static mote_status use_piece(parts_update *update, const mote_cloud *piece, use_point use) {
    parts_run *run = &update->run;
    const uint32_t input = (uint32_t)parts_source_input(&run->source), below = 3 * (MOTE_ORDER_BITS - run->level);
    uint64_t *codes = mote_alloc(run->ctx, piece->count * sizeof *codes, "codes of a piece");
    mote_status status = codes != NULL ? parts_codes(run, piece, codes) : MOTE_ERROR_MEMORY;
    for (uint64_t i = 0; status == MOTE_OK && i < piece->count; i++) {
        if (codes[i] != UINT64_MAX) use(update, codes[i] >> below, input);
    }
    mote_free(run->ctx, codes);
    return status;
}

static mote_status walk(parts_update *update, double first, double last, use_point use) {
    const mote_cloud *piece = NULL;
    const uint8_t *records;
    parts_rewind(&update->run, first, last);
    do {
        MOTE_TRY(parts_next(&update->run, &piece, &records));
        if (piece != NULL) MOTE_TRY(use_piece(update, piece, use));
    } while (piece != NULL);
    return MOTE_OK;
}

/* The cells of inputs that come or go. Of what goes there may be nothing to read any more, but its box is known. */
static mote_status mark_inputs(parts_update *update) {
    parts_run *run = &update->run;
    const mote_cloud *piece = NULL;
    const uint8_t *records;
    cell_box box;
    for (uint64_t i = 0; i < update->was.count; i++) {
        if (update->is_gone[i] && cells_of(run, &update->known_was[i], &box)) visit(update, &box, collect);
    }
    memcpy(update->wanted, update->is_new, update->is.count);
    run->changed = NULL; /* all points of these are looked at */
    parts_source_rewind(&run->source, 0.1, 0.2);
    do {
        MOTE_TRY(parts_source_next(&run->source, &piece, &records));
        if (piece != NULL) MOTE_TRY(use_piece(update, piece, mark));
    } while (piece != NULL);
    run->changed = update->changed;
    return MOTE_OK;
}

/* Inputs that have points of cells whose points are collected. False: these are so many that all may be built. */
static bool find_wanted(parts_update *update) {
    uint64_t points = 0;
    cell_box box;
    for (uint64_t i = 0; i < update->is.count; i++) {
        const bool reaches = cells_of(&update->run, &update->known_is[i], &box) && visit(update, &box, is_collected);
        update->wanted[i] = update->is_new[i] || reaches;
        points += update->wanted[i] ? update->known_is[i].points : 0;
    }
    return points / READ_NUMBER <= update->run.points / READ_OF;
}

static void sum_joined(parts_update *update) {
    uint64_t joined = 0;
    for (uint64_t c = 0; c < update->run.cell_count; c++) {
        update->old.joined[c] = joined;
        joined += update->changed[c] == PARTS_JOINED;
    }
    update->old.joined[update->run.cell_count] = joined;
}

/* The points of all cells: of those that change by a walk over them, of the others as they were. */
static mote_status count_points(parts_update *update) {
    parts_run *run = &update->run;
    if (!find_wanted(update)) {
        update->whole = "most of its points are of files that reach into what changes";
        return MOTE_OK;
    }
    sum_joined(update);
    for (uint64_t c = 0; c < run->cell_count; c++) {
        run->first[c] = update->changed[c] == PARTS_KEPT ? update->cells[c] : 0;
    }
    run->first[run->cell_count] = 0;
    MOTE_TRY(walk(update, 0.2, 0.3, count));
    parts_sum_before(run->first, run->cell_count);
    return MOTE_OK;
}

/* ---- larger units */

/* All cells of a range become what the change of some asks for. Returns whether any was kept. */
static bool change_range(parts_update *update, uint64_t first, uint64_t end) {
    bool any = false, more = false;
    for (uint64_t c = first; c < end; c++) any = any || update->changed[c] != PARTS_KEPT;
    for (uint64_t c = first; c < end && any; c++) {
        if (update->changed[c] != PARTS_KEPT) continue;
        update->changed[c] = change_of_same(update);
        more = true;
    }
    return more;
}

/* The cells of a node that is coarser than they are. */
static void range_of(const parts_run *run, const mote_lod_node *node, uint64_t *first, uint64_t *end) {
    const uint32_t finer = 3 * (run->level - node->level);
    *first = node->prefix << finer;
    *end = (node->prefix + 1) << finer;
}

/* A leaf that is coarser than cells changes as one. */
static void change_leaves(parts_update *update) {
    const parts_old *old = &update->old;
    uint64_t first, end;
    for (uint32_t n = 0; n < old->node_count; n++) {
        const mote_lod_node *node = &old->nodes[n];
        if (node->level >= update->run.level || node->child_mask != 0) continue;
        range_of(&update->run, node, &first, &end);
        change_range(update, first, end);
    }
}

/* So does what was divided and is so no longer; true: there is such a node. */
static bool change_merged(parts_update *update) {
    const parts_run *run = &update->run;
    const parts_old *old = &update->old;
    const uint64_t max = run->lod.max_node_points;
    const uint64_t merge = max > 0 && max < run->lod.merge_points ? max : run->lod.merge_points;
    bool more = false;
    uint64_t first, end;
    for (uint32_t n = 0; n < old->node_count; n++) {
        const mote_lod_node *node = &old->nodes[n];
        if (node->level >= run->level || node->child_mask == 0) continue;
        range_of(run, node, &first, &end);
        if (run->first[end] - run->first[first] <= merge) more = change_range(update, first, end) || more;
    }
    return more;
}

/* Where kept and changed cells alternate too often, those beside changed ones change with them. */
static bool change_fragments(parts_update *update, uint32_t coarser) {
    const parts_run *run = &update->run;
    const uint64_t step = 1ull << 3 * coarser;
    uint64_t ranges = 1;
    bool more = false;
    int last = -1;
    for (uint64_t c = 0; c < run->cell_count; c++) {
        const int change = update->changed[c] != PARTS_KEPT;
        if (update->cells[c] == 0 && change == 0) continue;
        ranges += last >= 0 && last != change;
        last = change;
    }
    for (uint64_t c = 0; c < run->cell_count && ranges > RANGES_MAX; c += step) {
        more = change_range(update, c, c + step) || more;
    }
    return more;
}

mote_status parts_find_changed(parts_update *update) {
    bool more = true;
    mote_stage(update->ctx, "count");
    MOTE_TRY(mark_inputs(update));
    for (uint32_t coarser = 1; more; coarser += coarser < update->run.level) {
        change_leaves(update);
        while (change_fragments(update, coarser)) {
            change_leaves(update);
            coarser += coarser < update->run.level;
        }
        MOTE_TRY(count_points(update));
        if (update->whole != NULL) return MOTE_OK;
        more = change_merged(update);
    }
    return MOTE_OK;
}
#endif
