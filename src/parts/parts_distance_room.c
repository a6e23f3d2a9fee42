/* Whether memory holds what sampling by distance looks at around a point: said before points are distributed, as far as
   the counts of cells tell. They tell where sampling cells are no finer than the cells that were counted by much, which
   is where many points lie in a few of them: of coarse grids, in a volume.

     finest level that chooses: the last of which some cell has more points than a leaf may
     its sampling cells         log2(grid) levels finer; pieces look DISTANCE_REACH_LEAST of them to either side
     counted cells              a piece in one of them looks at all points of those that lie so far around, but one */
#include "math/morton.h"
#include "parts/parts_distance.h"

/* Of a point of a piece: coordinates and level, codes, as a candidate its place, a disk, and whether it is taken; and
   where each is alone in its group of blocks, the block, and up to four entries of a hash table: lod_poisson_cpu.c. */
#define PIECE_POINT_BYTES (12u + 2 + 16 + 4 + 16 + 1 + 24 + 4 * 40)

uint64_t distance_marks_bytes(const parts_run *run) { return run->room_bytes / DISTANCE_MARKS_SHARE; }

uint64_t distance_most_points(const parts_run *run) {
    uint64_t most = (run->room_bytes - distance_marks_bytes(run)) / PIECE_POINT_BYTES;
    if (run->part_points < most) most = run->part_points;
    return most < UINT32_MAX ? most : UINT32_MAX;
}

static uint64_t points_of(const parts_run *run, uint32_t level, uint64_t cell) {
    const uint32_t shift = 3 * (run->level - level);
    return run->first[(cell + 1) << shift] - run->first[cell << shift];
}

/* The finest of the counted levels that has a cell to divide; -1: not even the root is. */
static int finest_divided(const parts_run *run) {
    const uint64_t merge = run->lod.merge_points, max = run->lod.max_node_points;
    const uint64_t leaf_points = max > 0 && max < merge ? max : merge;
    for (int level = (int)run->level; level >= 0; level--) {
        for (uint64_t cell = 0; cell < 1ull << 3 * level; cell++) {
            if (points_of(run, (uint32_t)level, cell) > leaf_points) return level;
        }
    }
    return -1;
}

#define SIDE_MAX (1u << PARTS_LEVEL)

static uint32_t add_points(uint64_t a, uint64_t b) { return (uint32_t)(a + b < UINT32_MAX ? a + b : UINT32_MAX); }

/* Each of a line of cells gets the points of all up to `reach` from it. */
static void sum_line(uint32_t *cells, uint64_t stride, uint32_t side, uint32_t reach) {
    uint64_t before[SIDE_MAX + 1]; /* points of the cells before */
    before[0] = 0;
    for (uint32_t i = 0; i < side; i++) before[i + 1] = before[i] + cells[i * stride];
    for (uint32_t i = 0; i < side; i++) {
        const uint32_t low = i > reach ? i - reach : 0, high = i + reach < side ? i + reach + 1 : side;
        cells[i * stride] = add_points(0, before[high] - before[low]);
    }
}

/* The points of all counted cells, and of those up to `reach` from them; the most of them. cells: [cell_count] */
static uint64_t most_around(const parts_run *run, uint32_t reach, uint32_t *cells) {
    const uint32_t side = 1u << run->level;
    const uint64_t strides[3] = {(uint64_t)side * side, side, 1};
    uint64_t most = 0;
#pragma omp parallel for schedule(static) num_threads(run->ctx->threads)
    for (uint64_t cell = 0; cell < run->cell_count; cell++) {
        uint32_t at[3];
        mote_morton_coordinates(cell, at);
        cells[at[0] * strides[0] + at[1] * strides[1] + at[2]] = add_points(0, points_of(run, run->level, cell));
    }
    for (int k = 0; k < 3; k++) {
        const uint64_t one = strides[(k + 1) % 3], other = strides[(k + 2) % 3];
#pragma omp parallel for schedule(static) num_threads(run->ctx->threads)
        for (uint64_t line = 0; line < (uint64_t)side * side; line++) {
            sum_line(cells + line % side * one + line / side * other, strides[k], side, reach);
        }
    }
    for (uint64_t cell = 0; cell < run->cell_count; cell++) {
        const uint64_t own = points_of(run, run->level, cell);
        if (own > 0) {
            uint32_t at[3];
            mote_morton_coordinates(cell, at);
            const uint64_t points = cells[at[0] * strides[0] + at[1] * strides[1] + at[2]];
            most = points > most ? points : most;
        }
    }
    return most;
}

/* The most points that some piece looks at, at least. */
static mote_status least_points(const parts_run *run, uint64_t *points) {
    const int divided = finest_divided(run);
    *points = 0;
    if (divided < 0) return MOTE_OK;
    const uint32_t cell_level = (uint32_t)divided + (uint32_t)__builtin_ctz(run->lod.grid);
    const uint32_t reach = cell_level > run->level ? DISTANCE_REACH_LEAST >> (cell_level - run->level)
                                                   : DISTANCE_REACH_LEAST << (run->level - cell_level);
    if (reach < 1) return MOTE_OK;
    uint32_t *cells = mote_alloc(run->ctx, run->cell_count * sizeof *cells, "points by cell");
    if (cells == NULL) return MOTE_ERROR_MEMORY;
    *points = most_around(run, reach - 1, cells);
    mote_free(run->ctx, cells);
    return MOTE_OK;
}

mote_status parts_distance_check(const parts_run *run) {
    if (!parts_is_by_distance(run)) return MOTE_OK;
    const uint64_t most = distance_most_points(run);
    uint64_t needed = 0;
    MOTE_TRY(least_points(run, &needed));
    if (needed <= most) return MOTE_OK;
    const uint64_t room = needed * PIECE_POINT_BYTES / (DISTANCE_MARKS_SHARE - 1) * DISTANCE_MARKS_SHARE;
    const uint64_t beside = run->begin_bytes + 12 * run->cell_count + run->workers * parts_memory_bytes(run, 0);
    return mote_fail(run->ctx, MOTE_ERROR_MEMORY,
                     "out of memory: sampling by distance looks at %llu points or more around some, and memory holds "
                     "%llu; --memory %lluM or more would do, or a larger --grid, or sampling random",
                     (unsigned long long)needed, (unsigned long long)most, parts_as_memory(beside + room));
}

mote_status distance_fail_room(const parts_run *run, uint64_t most) {
    return mote_fail(run->ctx, MOTE_ERROR_MEMORY,
                     "out of memory: sampling by distance looks at more points around some than %llu, for which there "
                     "is memory; a larger --memory would do, or a larger --grid, or sampling random",
                     (unsigned long long)most);
}
