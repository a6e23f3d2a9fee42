/* Ranges of codes of about as many points, each within what memory holds; their borders. */
#include <math.h>

#include "parts/parts.h"

/* Points whose codes are below, where the code is the first of a cell that was counted. */
static uint64_t points_before(const parts_run *run, uint64_t code) {
    uint32_t level = run->level, below = 3 * (MOTE_ORDER_BITS - level);
    uint64_t cell = code >> below, points = run->first[cell];
    while ((code & ((1ull << below) - 1)) != 0) {
        const parts_block *block = parts_block_of(run, level, cell);
        const uint32_t step = parts_step_of(level);
        if (block == NULL) break;
        below -= 3 * step;
        level += step;
        cell = code >> below;
        points += block->first[cell & ((1ull << 3 * step) - 1)];
    }
    return points;
}

/* The cells that a code divides, and the points in them. */
static void describe(const parts_run *run, uint64_t code, lod_border *border) {
    memset(border, 0, sizeof *border);
    border->code = code;
    for (uint32_t level = 0; level <= MOTE_ORDER_BITS; level++) {
        const uint32_t below = 3 * (MOTE_ORDER_BITS - level);
        const uint64_t cell = code >> below;
        if (!lod_border_divides(border, cell, level)) break;
        border->points[level] = points_before(run, (cell + 1) << below) - points_before(run, cell << below);
    }
}

/* ---- nodes that a border divides, as a plan expects them */

/* What a node keeps of many points on a surface, over g² of a grid of g a side, on city scans: one point in each
   occupied cell, or points that are the side of a cell apart from each other. */
#define CELLS_OF_SURFACE 1.9
#define POINTS_APART     0.8

/* How many of n random points on a surface are the first ones of their cells, or have a place of their own. */
static double first_points(double cells, double n) { return cells * (1 - exp(-n / cells)); }

/* Points that the node of a cell of n points keeps, beside those of coarser nodes, which have the points of cells twice
   as large. */
static double kept_points(const parts_run *run, uint32_t level, double n, bool is_leaf) {
    const double dense = run->lod.sampling == MOTE_LOD_POISSON ? POINTS_APART : CELLS_OF_SURFACE;
    const double cells = dense * (double)run->lod.grid * (double)run->lod.grid;
    const double coarser = level > 0 ? first_points(cells / 4, n) : 0;
    return is_leaf ? n - coarser : first_points(cells, n) - coarser;
}

/* Own points in the nodes that a border divides; those of the other border are counted with that one. */
static double points_at_border(const parts_run *run, const parts_range *range, const lod_border *border,
                               const lod_border *other) {
    const uint64_t low = range->whole.low.code, high = range->whole.high.code;
    double points = 0;
    bool is_leaf = false;
    for (uint32_t level = 0; level <= MOTE_ORDER_BITS && border->points[level] > 0 && !is_leaf; level++) {
        const uint32_t below = 3 * (MOTE_ORDER_BITS - level);
        const uint64_t cell = border->code >> below, first = cell << below, end = (cell + 1) << below;
        const double own =
            (double)(points_before(run, high < end ? high : end) - points_before(run, low > first ? low : first));
        is_leaf = border->points[level] <= run->lod.merge_points;
        if (other != NULL && lod_border_divides(other, cell, level)) continue;
        points += own / (double)border->points[level] * kept_points(run, level, (double)border->points[level], is_leaf);
    }
    return points;
}

double parts_shared_points(const parts_run *run, uint32_t part) {
    const lod_whole *whole = &run->ranges[part].whole;
    return points_at_border(run, &run->ranges[part], &whole->low, NULL) +
           points_at_border(run, &run->ranges[part], &whole->high, &whole->low);
}

/* ---- cutting */

static mote_status begin_range(parts_run *run, uint64_t code, bool is_kept) {
    if (!mote_reserve(run->ctx, (void **)&run->ranges, &run->range_capacity, run->part_count + 1ull,
                      sizeof *run->ranges, "parts")) {
        return MOTE_ERROR_MEMORY;
    }
    parts_range *range = &run->ranges[run->part_count++];
    memset(range, 0, sizeof *range);
    range->whole.low.code = code;
    range->is_kept = is_kept;
    if (!is_kept) run->cut_count++;
    return MOTE_OK;
}

/* Whether the ranges so far have their share of all points, where a number of parts is asked for. */
static bool is_share_full(const parts_run *run) {
    const double all = (double)run->build_points;
    return run->wanted > 0 && (double)run->cut_points * run->wanted >= all * run->cut_count;
}

/* Adds a cell to the last range, or its finer cells where it is crowded. */
static mote_status add_cell(parts_run *run, uint32_t level, uint64_t cell, uint64_t points, uint64_t even) {
    const parts_block *block = parts_block_of(run, level, cell);
    if (block != NULL) {
        const uint64_t *first = block->first;
        const uint32_t step = parts_step_of(level);
        for (uint64_t c = 0; c < 1ull << 3 * step; c++) {
            if (first[c + 1] == first[c]) continue;
            MOTE_TRY(add_cell(run, level + step, cell << 3 * step | c, first[c + 1] - first[c], even));
        }
        return MOTE_OK;
    }
    const parts_range *last = &run->ranges[run->part_count - 1];
    if (last->points > 0 && (is_share_full(run) || last->points + points > even)) {
        MOTE_TRY(begin_range(run, cell << 3 * (MOTE_ORDER_BITS - level), false));
    }
    run->ranges[run->part_count - 1].points += points;
    run->cut_points += points;
    return MOTE_OK;
}

/* Whether a cell has or had points. */
static bool has_place(const parts_run *run, uint64_t c) {
    return run->first[c + 1] > run->first[c] || (run->changed != NULL && !parts_keeps(run, c));
}

/* A cell of the level that was counted first. What is kept is neither built nor held: its range may be of any size.
   A cell that has lost all its points is of no kept range, whose nodes are those that are there. */
static mote_status add_counted(parts_run *run, uint64_t c, uint64_t even) {
    const bool is_kept = parts_keeps(run, c);
    const uint64_t points = run->first[c + 1] - run->first[c];
    parts_range *last = &run->ranges[run->part_count - 1];
    if (last->is_kept != is_kept) {
        MOTE_TRY(begin_range(run, c << 3 * (MOTE_ORDER_BITS - run->level), is_kept));
        last = &run->ranges[run->part_count - 1];
    }
    if (!is_kept) return add_cell(run, run->level, c, points, even);
    last->points += points;
    return MOTE_OK;
}

/* What is known of the whole at each border: the end of one range is the beginning of the next. */
static void finish(parts_run *run) {
    uint64_t at = 0;
    for (uint32_t p = 0; p < run->part_count; p++) {
        parts_range *range = &run->ranges[p];
        const bool is_last = p + 1 == run->part_count;
        range->at = at;
        at += range->is_kept ? 0 : range->points;
        range->whole.lattice = run->lattice;
        describe(run, range->whole.low.code, &range->whole.low);
        describe(run, is_last ? 1ull << 3 * MOTE_ORDER_BITS : run->ranges[p + 1].whole.low.code, &range->whole.high);
    }
}

mote_status parts_place_ranges(parts_run *run) {
    uint32_t p = 0;
    run->part_of = mote_alloc(run->ctx, (run->cell_count + 1) * sizeof *run->part_of, "parts");
    if (run->part_of == NULL) return MOTE_ERROR_MEMORY;
    for (uint64_t c = 0; c <= run->cell_count; c++) {
        while (p + 1 < run->part_count &&
               run->ranges[p + 1].whole.low.code <= c << 3 * (MOTE_ORDER_BITS - run->level)) {
            p++;
        }
        run->part_of[c] = p;
    }
    return MOTE_OK;
}

mote_status parts_cut(parts_run *run) {
    /* As many parts as are needed, and all of about the same size. */
    const uint64_t total = run->build_points, least = (total + run->part_points - 1) / run->part_points;
    const uint64_t even = run->wanted > 0 ? run->part_points : least > 0 ? (total + least - 1) / least : 1;
    uint64_t c = 0;
    while (c < run->cell_count && !has_place(run, c)) c++;
    MOTE_TRY(begin_range(run, 0, c < run->cell_count && parts_keeps(run, c)));
    for (; c < run->cell_count; c++) {
        if (has_place(run, c)) MOTE_TRY(add_counted(run, c, even));
    }
    if (run->part_count > MOTE_PARTS_MAX) {
        return mote_fail(run->ctx, MOTE_ERROR_MEMORY,
                         "out of memory: %u parts of %llu points, more than %d; a larger --memory would do",
                         run->part_count, (unsigned long long)run->part_points, MOTE_PARTS_MAX);
    }
    finish(run);
    return parts_place_ranges(run);
}

uint32_t parts_find(const parts_run *run, uint64_t code) {
    uint32_t low = 0, high = run->part_count - 1;
    if (run->part_of != NULL) { /* else they are those of a plan */
        const uint64_t cell = code >> 3 * (MOTE_ORDER_BITS - run->level);
        low = run->part_of[cell];
        high = run->part_of[cell + 1];
    }
    while (low < high) { /* the last range that does not begin behind the code */
        const uint32_t middle = low + (high - low + 1) / 2;
        if (run->ranges[middle].whole.low.code <= code)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}
