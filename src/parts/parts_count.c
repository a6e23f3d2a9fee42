/* The first walk over the points: their box, their flags, how many lie in each cell; and the ranges that follow. */
#include <math.h>
#include <stdio.h>

#include "core/color.h"
#include "device/backend.h"
#include "order/lattice/lattice.h"
#include "order/order_ops.h"
#include "parts/parts_notes.h"

/* ---- the box */

static mote_status grow_box(const parts_run *run, const mote_cloud *piece, parts_box *box) {
    const mote_column *axes[3];
    MOTE_TRY(mote_cloud_positions(run->ctx, piece, axes));
    box->points += piece->count;
    if (!run->is_integer) {
        mote_box here;
        uint64_t skipped = 0;
        MOTE_TRY(mote_cloud_bounds(run->ctx, piece, &here, &skipped));
        box->skipped += skipped;
        for (int k = 0; k < 3 && skipped < piece->count; k++) {
            box->world.min[k] = fmin(box->world.min[k], here.min[k]);
            box->world.max[k] = fmax(box->world.max[k], here.max[k]);
        }
        return MOTE_OK;
    }
    int64_t low[3], high[3];
    lattice_integer_bounds(run->ctx, axes, (int64_t)piece->count, low, high);
    for (int k = 0; k < 3; k++) {
        box->low[k] = low[k] < box->low[k] ? low[k] : box->low[k];
        box->high[k] = high[k] > box->high[k] ? high[k] : box->high[k];
    }
    return MOTE_OK;
}

static void clear_box(parts_box *box) {
    memset(box, 0, sizeof *box);
    for (int k = 0; k < 3; k++) {
        box->low[k] = INT64_MAX;
        box->high[k] = INT64_MIN;
        box->world.min[k] = INFINITY;
        box->world.max[k] = -INFINITY;
    }
}

mote_status parts_lattice(parts_run *run) {
    const mote_column *axes[3];
    const parts_box *box = &run->box;
    MOTE_TRY(mote_cloud_positions(run->ctx, run->source.whole, axes));
    if (run->is_integer) {
        const int64_t none[3] = {0, 0, 0};
        lattice_of_box(axes, box->points > 0 ? box->low : none, box->points > 0 ? box->high : none, &run->lattice);
        return MOTE_OK;
    }
    const double none[3] = {0, 0, 0};
    const bool any = box->skipped < box->points;
    return lattice_of_real_box(run->ctx, axes, run->source.whole->position_step, any ? box->world.min : none,
                               any ? box->world.max : none, &run->lattice);
}

static bool same_box(const parts_box *a, const parts_box *b) {
    return memcmp(a->low, b->low, sizeof a->low) == 0 && memcmp(a->high, b->high, sizeof a->high) == 0;
}

/* ---- cells */

mote_status parts_codes(const parts_run *run, const mote_cloud *piece, uint64_t *codes) {
    mote_device *cpu = mote_cpu_device(run->ctx);
    MOTE_TRY(cpu->backend->order->codes(cpu, piece, &run->lattice, codes));
    parts_leave_out(run, codes, piece->count);
    return MOTE_OK;
}

/* What a walk does with the codes of a piece. */
typedef mote_status (*use_codes)(parts_run *run, const uint64_t *codes, uint64_t count);

/* Points of a scan that follow each other lie near each other, so that threads seldom meet at a cell. */
static void add_to_cell(uint64_t *cell) {
#pragma omp atomic
    ++*cell;
}

static mote_status visit_codes(parts_run *run, const mote_cloud *piece, use_codes use) {
    uint64_t *codes = mote_alloc(run->ctx, piece->count * sizeof *codes, "codes of a piece");
    if (codes == NULL) return MOTE_ERROR_MEMORY;
    mote_status status = parts_codes(run, piece, codes);
    if (status == MOTE_OK) status = use(run, codes, piece->count);
    mote_free(run->ctx, codes);
    return status;
}

void parts_sum_before(uint64_t *first, uint64_t count) {
    uint64_t before = 0;
    for (uint64_t c = 0; c <= count; c++) {
        const uint64_t here = first[c];
        first[c] = before;
        before += here;
    }
}

/* One walk over all pieces, which begins. counts: whether the lattice is known, and cells are counted. */
static mote_status walk(parts_run *run, parts_box *box, bool counts) {
    const mote_cloud *piece = NULL;
    const uint8_t *records;
    mote_context *ctx = run->ctx;
    const uint64_t peak_before = ctx->memory_peak_bytes, begin = ctx->memory_bytes;
    ctx->memory_peak_bytes = begin;
    clear_box(box);
    parts_notes_restart(run);
    memset(run->flags, 0, sizeof run->flags);
    do {
        MOTE_TRY(parts_source_next(&run->source, &piece, &records));
        if (piece == NULL) break;
        MOTE_TRY(grow_box(run, piece, box));
        MOTE_TRY(potree_flag_bits(run->ctx, piece, run->flags));
        if (counts) MOTE_TRY(visit_codes(run, piece, parts_notes_see));
    } while (piece != NULL);
    const uint64_t taken = ctx->memory_peak_bytes - begin, noted = parts_notes_bytes(run);
    run->walk_bytes = taken > noted ? taken - noted : 0;
    if (peak_before > ctx->memory_peak_bytes) ctx->memory_peak_bytes = peak_before;
    return MOTE_OK;
}

mote_status parts_stated_lattice(parts_run *run, bool *known) {
    const mote_column *axes[3];
    MOTE_TRY(mote_cloud_positions(run->ctx, run->source.whole, axes));
    run->is_integer = lattice_is_integer(axes);
    *known = run->is_integer && run->source.is_stated;
    run->box = run->source.stated;
    run->box.points = 1;
    return *known ? parts_lattice(run) : MOTE_OK;
}

/* The box that the source states is taken for true, as the counts then need one walk; where it proves wrong, they are
   made anew. */
static mote_status find_counts(parts_run *run) {
    parts_box box;
    bool known;
    MOTE_TRY(parts_stated_lattice(run, &known));
    mote_stage(run->ctx, "count");
    parts_source_rewind(&run->source, 0.1, 0.2);
    MOTE_TRY(walk(run, &box, known));
    const bool proves_right = known && same_box(&run->box, &box);
    run->box = box;
    if (!proves_right) {
        memset(run->first, 0, run->cell_count * sizeof *run->first);
        MOTE_TRY(parts_lattice(run));
        parts_source_rewind(&run->source, 0.2, 0.3);
        MOTE_TRY(walk(run, &box, true));
    }
    run->points = box.points;
    run->skipped = box.skipped;
    return MOTE_OK;
}

/* Others are scaled by the range of all of them, which a part does not see. */
mote_status parts_check_colors(const parts_run *run) {
    static const char *const names[3] = {"red", "green", "blue"};
    for (int k = 0; k < 3; k++) {
        const mote_column *column = mote_cloud_find(run->source.whole, names[k]);
        if (column == NULL || mote_color_is_plain(column)) continue;
        return mote_fail(run->ctx, MOTE_ERROR_UNSUPPORTED,
                         "%s: its colours are no 16-bit integers, which parts of a cloud cannot be scaled to",
                         run->source.list.paths[0]);
    }
    return MOTE_OK;
}

/* Whether cells of the root's sampling grid may be cut. */
static bool goes_deep(const parts_run *run) {
    return run->lod.filter == MOTE_LOD_FILTER_NONE && run->lod.sampling != MOTE_LOD_FIRST;
}

void parts_choose_level(parts_run *run) {
    const uint32_t grid_level = (uint32_t)__builtin_ctz(run->lod.grid);
    run->level = goes_deep(run) ? 1 : grid_level < PARTS_LEVEL ? grid_level : PARTS_LEVEL;
    const uint64_t cells = run->source.count / PARTS_CELL_POINTS;
    while (goes_deep(run) && run->level < PARTS_LEVEL && 1ull << 3 * run->level < cells) run->level++;
    run->cell_count = 1ull << 3 * run->level;
}

mote_status parts_count(parts_run *run) {
    MOTE_TRY(parts_check_colors(run));
    parts_choose_level(run);
    run->first = mote_alloc_zero(run->ctx, (run->cell_count + 1) * sizeof *run->first, "points by cell");
    if (run->first == NULL) return MOTE_ERROR_MEMORY;
    const bool is_plan = run->notes != NULL; /* which keeps notes */
    if (!is_plan) MOTE_TRY(parts_notes_begin(run, false));
    MOTE_TRY(find_counts(run));
    if (!is_plan) parts_notes_end(run);
    parts_sum_before(run->first, run->cell_count);
    return MOTE_OK;
}

/* ---- crowded cells: those of a level get their blocks together, by a walk more */

/* Where memory holds the cell, a part may as well be larger than others. */
static mote_status add_block(parts_run *run, uint32_t level, uint64_t cell, uint64_t points) {
    if (!goes_deep(run) || level == MOTE_ORDER_BITS) {
        if (points > run->crowded_points) run->crowded_points = points;
        return MOTE_OK;
    }
    if (!mote_reserve(run->ctx, (void **)&run->blocks, &run->block_capacity, run->block_count + 1, sizeof *run->blocks,
                      "points by cell")) {
        return MOTE_ERROR_MEMORY;
    }
    uint64_t *first =
        mote_alloc_zero(run->ctx, ((1ull << 3 * parts_step_of(level)) + 1) * sizeof *first, "points by cell");
    if (first == NULL) return MOTE_ERROR_MEMORY;
    run->blocks[run->block_count++] = (parts_block){level, cell, first};
    return MOTE_OK;
}

const parts_block *parts_block_of(const parts_run *run, uint32_t level, uint64_t cell) {
    uint64_t low = 0, high = run->block_count;
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        const parts_block *block = &run->blocks[middle];
        if (block->level < level || (block->level == level && block->cell < cell))
            low = middle + 1;
        else
            high = middle;
    }
    return low < run->block_count && run->blocks[low].level == level && run->blocks[low].cell == cell
               ? &run->blocks[low]
               : NULL;
}

/* Counts the points of blocks of the finest level so far. */
static mote_status count_blocks(parts_run *run, const uint64_t *codes, uint64_t count) {
    const uint32_t level = run->blocks[run->block_count - 1].level, step = parts_step_of(level);
    const uint64_t in_step = (1ull << 3 * step) - 1;
#pragma omp parallel for schedule(static) num_threads(run->ctx->threads)
    for (uint64_t i = 0; i < count; i++) {
        if (codes[i] == UINT64_MAX) continue;
        const parts_block *block = parts_block_of(run, level, codes[i] >> 3 * (MOTE_ORDER_BITS - level));
        if (block != NULL) add_to_cell(&block->first[codes[i] >> 3 * (MOTE_ORDER_BITS - level - step) & in_step]);
    }
    return MOTE_OK;
}

static mote_status walk_blocks(parts_run *run, uint64_t first_block) {
    const mote_cloud *piece = NULL;
    const uint8_t *records;
    parts_rewind(run, 0.3, 0.3);
    do {
        MOTE_TRY(parts_next(run, &piece, &records));
        if (piece != NULL) MOTE_TRY(visit_codes(run, piece, count_blocks));
    } while (piece != NULL);
    for (uint64_t b = first_block; b < run->block_count; b++) {
        parts_sum_before(run->blocks[b].first, 1ull << 3 * parts_step_of(run->blocks[b].level));
    }
    return MOTE_OK;
}

/* Adds the block of the c-th cell after one of a level, if that is crowded. */
static mote_status add_crowded(parts_run *run, uint32_t level, uint64_t cell, const uint64_t *first, uint64_t c) {
    const uint64_t points = first[c + 1] - first[c];
    return points > run->even_points ? add_block(run, level, cell, points) : MOTE_OK;
}

/* What cannot be cut has to fit. All is counted by now, so that what would do is known; not where a GPU, or the caller,
   wants fewer points, nor where parts look at points of others, which are not counted yet. */
static mote_status check_crowded(const parts_run *run) {
    const uint64_t needed = parts_least_bytes(run, run->crowded_points);
    char cause[128], advice[64] = "a larger --memory would do";
    if (run->crowded_points <= run->part_points) return MOTE_OK;
    if (goes_deep(run)) {
        snprintf(cause, sizeof cause, "%llu points lie in one place", (unsigned long long)run->crowded_points);
    } else {
        snprintf(cause, sizeof cause, "one cell of %u a side has %llu points", 1u << run->level,
                 (unsigned long long)run->crowded_points);
    }
    if (run->crowded_points <= UINT32_MAX && needed > run->all_bytes && !parts_looks_around(run)) {
        snprintf(advice, sizeof advice, "--memory %lluM or more would do", parts_as_memory(needed));
    }
    return mote_fail(run->ctx, MOTE_ERROR_MEMORY, "out of memory: %s, more than %llu%s; %s", cause,
                     (unsigned long long)run->part_points,
                     goes_deep(run) ? "" : ", and only random sampling without a filter goes on in parts of it",
                     advice);
}

mote_status parts_count_crowded(parts_run *run) {
    uint64_t before = 0;
    run->crowded_points = 0;
    for (uint64_t c = 0; c < run->cell_count; c++) {
        if (!parts_keeps(run, c)) MOTE_TRY(add_crowded(run, run->level, c, run->first, c));
    }
    while (before < run->block_count) {
        const uint64_t now = run->block_count;
        MOTE_TRY(walk_blocks(run, before));
        for (uint64_t b = before; b < now; b++) {
            const parts_block block = run->blocks[b]; /* the list may move */
            const uint32_t step = parts_step_of(block.level);
            for (uint64_t c = 0; c < 1ull << 3 * step; c++) {
                MOTE_TRY(add_crowded(run, block.level + step, block.cell << 3 * step | c, block.first, c));
            }
        }
        before = now;
    }
    return check_crowded(run);
}
