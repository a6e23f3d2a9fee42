#include "lod/tree/lod_cells.h"

#define MERGED_BELOW                                                                                                   \
    16u /* points for each cell: then the cells of a coarser level are made from these, not from points */

/* Where cells may begin: at any position of the order, or, for a coarser level, where those of a finer one do. */
typedef struct candidates {
    const uint32_t *starts; /* [count] ascending; NULL: all positions */
    uint64_t count;
} candidates;

static uint64_t position_of(const candidates *from, uint64_t c) { return from->starts != NULL ? from->starts[c] : c; }

/* Counts where a new cell begins among candidates [first, last), at a shift of the window's codes. */
static uint64_t count_starts(const lod_window *window, const candidates *from, uint64_t first, uint64_t last,
                             uint32_t shift) {
    uint64_t starts = 0;
    for (uint64_t c = first; c < last; c++) {
        const uint64_t i = position_of(from, c);
        starts += i == 0 || lod_window_begins(window, i, shift);
    }
    return starts;
}

static uint32_t cell_shift(const cell_index *cells) { return lod_window_shift(&cells->window, cells->level); }

static uint32_t block_shift(const cell_index *cells) { return lod_window_shift(&cells->window, cells->block_level); }

/* Fills cells and blocks of the candidates [first, last), which begin with the given numbers. The candidates may be the
   cells themselves: a cell is never filled before its candidate was looked at. */
static void fill(cell_index *cells, const candidates *from, uint64_t first, uint64_t last, uint64_t cell,
                 uint64_t block) {
    const lod_window window = cells->window;
    const uint32_t shift_of_cells = cell_shift(cells), shift_of_blocks = block_shift(cells);
    for (uint64_t c = first; c < last; c++) {
        const uint64_t i = position_of(from, c);
        if (i > 0 && !lod_window_begins(&window, i, shift_of_cells)) continue;
        if (i == 0 || lod_window_begins(&window, i, shift_of_blocks)) {
            cells->blocks[block].code = window.codes[i] >> shift_of_blocks;
            cells->blocks[block].above = lod_window_above(&window, i);
            cells->blocks[block].mask = 0;
            cells->blocks[block++].first = (uint32_t)cell;
        }
        cells->cell_start[cell++] = (uint32_t)i;
    }
}

static void set_masks(const mote_context *ctx, cell_index *cells) {
    const uint32_t shift = cell_shift(cells);
    const uint64_t within = (uint64_t)cells->side * cells->side * cells->side - 1;
#pragma omp parallel for schedule(static) num_threads(ctx->threads)
    for (int64_t b = 0; b < (int64_t)cells->block_count; b++) {
        uint64_t mask = 0;
        for (uint32_t c = cells->blocks[b].first; c < cells->blocks[b + 1].first; c++) {
            mask |= 1ull << (cells->window.codes[cells->cell_start[c]] >> shift & within);
        }
        cells->blocks[b].mask = mask;
    }
}

/* Each thread counts its share, then fills it: starts[2t] and [2t + 1] are the share's first cell and block. */
static mote_status fill_shares(mote_context *ctx, const cell_points *points, cell_index *cells, const candidates *from,
                               uint64_t *starts) {
    const uint64_t threads = from->starts != NULL ? 1 : (uint64_t)ctx->threads;
    cells->cell_count = cells->block_count = 0;
#pragma omp parallel for schedule(static, 1) num_threads((int)threads)
    for (uint64_t t = 0; t < threads; t++) {
        const uint64_t first = from->count * t / threads, last = from->count * (t + 1) / threads;
        starts[2 * t] = count_starts(&cells->window, from, first, last, cell_shift(cells));
        starts[2 * t + 1] = count_starts(&cells->window, from, first, last, block_shift(cells));
    }
    for (uint64_t t = 0; t < threads; t++) {
        const uint64_t cell_share = starts[2 * t], block_share = starts[2 * t + 1];
        starts[2 * t] = cells->cell_count;
        starts[2 * t + 1] = cells->block_count;
        cells->cell_count += cell_share;
        cells->block_count += block_share;
    }
    if (!mote_reserve_scratch(ctx, (void **)&cells->cell_start, &cells->cell_capacity, cells->cell_count + 1,
                              sizeof *cells->cell_start, "filter cells") ||
        !mote_reserve_scratch(ctx, (void **)&cells->blocks, &cells->block_capacity, cells->block_count + 1,
                              sizeof *cells->blocks, "filter blocks")) {
        return MOTE_ERROR_MEMORY;
    }
#pragma omp parallel for schedule(static, 1) num_threads((int)threads)
    for (uint64_t t = 0; t < threads; t++) {
        const uint64_t first = from->count * t / threads, last = from->count * (t + 1) / threads;
        fill(cells, from, first, last, starts[2 * t], starts[2 * t + 1]);
    }
    cells->cell_start[cells->cell_count] = (uint32_t)points->count;
    cells->blocks[cells->block_count].first = (uint32_t)cells->cell_count;
    return MOTE_OK;
}

static lod_window window_at(const cell_points *points, uint32_t cell_level) {
    const uint32_t first = lod_window_first(cell_level);
    const lod_window window = {first > 0 ? points->fine : points->codes, first > 0 ? points->codes : NULL, first};
    return window;
}

mote_status cells_build(mote_context *ctx, const cell_points *points, uint32_t level, uint32_t block_bits,
                        cell_index *cells) {
    const bool merged = cells->level > level && cells->cell_count < points->count / MERGED_BELOW;
    const candidates from = {merged ? cells->cell_start : NULL, merged ? cells->cell_count : points->count};
    cells->window = window_at(points, level + 3 < points->finest ? level + 3 : points->finest);
    cells->level = level;
    cells->block_level = level - block_bits;
    cells->side = 1u << block_bits;
    uint64_t *starts = mote_alloc(ctx, 2 * (uint64_t)ctx->threads * sizeof *starts, "filter blocks");
    if (starts == NULL) return MOTE_ERROR_MEMORY;
    const mote_status status = fill_shares(ctx, points, cells, &from, starts);
    mote_free(ctx, starts);
    if (status != MOTE_OK) return status;
    set_masks(ctx, cells);
    const uint32_t above = cells->window.first;
    return block_hash_build(ctx, cells->block_level - above, above, &cells->blocks[0].code, sizeof cells->blocks[0],
                            cells->block_count, &cells->block_hash);
}

void cells_free(mote_context *ctx, cell_index *cells) {
    mote_free(ctx, cells->cell_start);
    mote_free(ctx, cells->blocks);
    block_hash_free(ctx, &cells->block_hash);
    memset(cells, 0, sizeof *cells);
}

uint32_t cells_block_at(const cell_index *cells, uint64_t position) {
    uint64_t low = 0, high = cells->block_count;
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        if (cells_block_first(cells, middle) < position) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return (uint32_t)low;
}
