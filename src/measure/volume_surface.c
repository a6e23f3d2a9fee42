/* The surface of a volume: cells that are as small as leaves each its points, and what lies between them and the base.
 *
 * Where an edge of what is measured runs along a border of cells, or beside one, all cells along it are wrong alike. So
 * the cells are laid SHIFTS times SHIFTS times, each time by a part of their side farther, and the volume is the mean.
 */
#include "measure/volume_grid.h"

#define POINTS_PER_CELL 4
#define SHIFTS          4u
#define LOW_VALUES      4294967296.0 /* 2^32, see volume_grid.h */

typedef struct cell_place {
    uint32_t column, row;
} cell_place;

/* Whole cells of 2^level of the finest cells on a side, moved by some of these. */
typedef struct volume_cells {
    uint32_t level, move[2];
    uint64_t columns, rows;
    int64_t *high; /* [columns * rows] each */
    uint64_t *low, *counts;
    double *shares; /* of the polygon, in finest cells */
    double *means;  /* heights above the base, in steps */
    cell_place *queue;
    uint32_t *rings;
} volume_cells;

/* ---- the polygon */

/* Finds twice the area of the polygon in square steps, and the shares of the finest cells. */
static mote_status cover(const volume_grid *grid, double *shares, double *area) {
    *area = 0;
    for (uint32_t s = 0; s < mote_shapes_count(grid->shapes); s++) {
        const mote_shape *shape = mote_shapes_at(grid->shapes, s);
        for (uint32_t p = 0; volume_grid_wants(shape, grid->feature) && p < shape->part_count; p++) {
            const double(*ring)[3] = shape->positions + shape->part_starts[p];
            const uint64_t count = shape->part_starts[p + 1] - shape->part_starts[p];
            const double own = polygon_ring_area(grid->region, ring, count);
            *area += p == 0 ? measure_size(own) : -measure_size(own);
            polygon_grid_add(&grid->grid, ring, count, (own > 0) == (p == 0) ? 1 : -1, shares);
        }
    }
    if (polygon_grid_finish(&grid->grid, shares)) return MOTE_OK;
    return mote_fail(grid->ctx, MOTE_ERROR_DATA, "the polygon crosses itself, or polygons overlap: it has no area");
}

/* How many times the sides of the finest cells are doubled, until cells have their points on average. */
static uint32_t choose_level(const volume_grid *grid, double area) {
    const polygon_grid *finest = &grid->grid;
    uint32_t level = 0;
    double wanted = POINTS_PER_CELL * (area / 2 / ((double)finest->cell[0] * (double)finest->cell[1]));
    for (; (double)grid->points < wanted; wanted /= 4) {
        if (finest->columns >> level <= 1 && finest->rows >> level <= 1) break;
        level++;
    }
    return level;
}

/* ---- the cells of one laying */

static mote_status reserve(const volume_grid *grid, uint32_t level, volume_cells *cells) {
    const uint64_t columns = ((uint64_t)grid->grid.columns >> level) + 2,
                   rows = ((uint64_t)grid->grid.rows >> level) + 2;
    memset(cells, 0, sizeof *cells);
    cells->level = level;
    cells->high = mote_alloc(grid->ctx, columns * rows * sizeof *cells->high, "volume");
    cells->low = mote_alloc(grid->ctx, columns * rows * sizeof *cells->low, "volume");
    cells->counts = mote_alloc(grid->ctx, columns * rows * sizeof *cells->counts, "volume");
    cells->shares = mote_alloc(grid->ctx, columns * rows * sizeof *cells->shares, "volume");
    cells->means = mote_alloc(grid->ctx, columns * rows * sizeof *cells->means, "volume");
    cells->queue = mote_alloc(grid->ctx, columns * rows * sizeof *cells->queue, "volume");
    cells->rings = mote_alloc(grid->ctx, columns * rows * sizeof *cells->rings, "volume");
    const bool has_all = cells->high != NULL && cells->low != NULL && cells->counts != NULL && cells->shares != NULL &&
                         cells->means != NULL && cells->queue != NULL && cells->rings != NULL;
    return has_all ? MOTE_OK : MOTE_ERROR_MEMORY;
}

static void release(mote_context *ctx, volume_cells *cells) {
    mote_free(ctx, cells->high);
    mote_free(ctx, cells->low);
    mote_free(ctx, cells->counts);
    mote_free(ctx, cells->shares);
    mote_free(ctx, cells->means);
    mote_free(ctx, cells->queue);
    mote_free(ctx, cells->rings);
}

/* Gathers the finest cells; shares: of these. */
static void gather(const volume_grid *grid, const double *shares, volume_cells *cells) {
    const polygon_grid *finest = &grid->grid;
    cells->columns = 1 + (uint64_t)((finest->columns - 1 + cells->move[0]) >> cells->level);
    cells->rows = 1 + (uint64_t)((finest->rows - 1 + cells->move[1]) >> cells->level);
    const uint64_t count = cells->columns * cells->rows;
    memset(cells->high, 0, count * sizeof *cells->high);
    memset(cells->low, 0, count * sizeof *cells->low);
    memset(cells->counts, 0, count * sizeof *cells->counts);
    memset(cells->shares, 0, count * sizeof *cells->shares);
    for (uint32_t row = 0; row < finest->rows; row++) {
        for (uint32_t column = 0; column < finest->columns; column++) {
            const uint64_t from = (uint64_t)row * finest->columns + column;
            const uint64_t to = (uint64_t)((row + cells->move[1]) >> cells->level) * cells->columns +
                                ((column + cells->move[0]) >> cells->level);
            cells->high[to] += grid->high[from];
            cells->low[to] += grid->low[from];
            cells->counts[to] += grid->counts[from];
            cells->shares[to] += shares[row * (finest->columns + 1ull) + column];
        }
    }
}

static void find_means(const volume_grid *grid, volume_cells *cells) {
    const int64_t base = grid->base == MOTE_VOLUME_LOWEST ? grid->lowest : grid->level;
    for (uint64_t i = 0; i < cells->columns * cells->rows; i++) {
        if (cells->counts[i] == 0) continue;
        const double sum = (double)cells->high[i] * LOW_VALUES + (double)cells->low[i];
        cells->means[i] = sum / (double)cells->counts[i] - (double)base;
    }
}

static uint64_t index_of(const volume_cells *cells, cell_place at) { return at.row * cells->columns + at.column; }

/* Cells beside a cell: returns how many. */
static int cells_beside(const volume_cells *cells, cell_place at, cell_place beside[4]) {
    int count = 0;
    if (at.column > 0) beside[count++] = (cell_place){at.column - 1, at.row};
    if (at.column + 1 < cells->columns) beside[count++] = (cell_place){at.column + 1, at.row};
    if (at.row > 0) beside[count++] = (cell_place){at.column, at.row - 1};
    if (at.row + 1 < cells->rows) beside[count++] = (cell_place){at.column, at.row + 1};
    return count;
}

/* The mean of the cells beside a cell that are of rings before its own. */
static double mean_beside(const volume_cells *cells, uint32_t ring, const cell_place *beside, int count) {
    double sum = 0;
    uint32_t known = 0;
    for (int i = 0; i < count; i++) {
        const uint64_t cell = index_of(cells, beside[i]);
        if (cells->rings[cell] >= ring) continue;
        sum += cells->means[cell];
        known++;
    }
    return sum / known;
}

/* Gives cells without points the mean of those beside them, ring by ring around the cells that have points. A ring is
   told by those before it alone, so that the order of its cells decides nothing. */
static void fill_gaps(volume_cells *cells) {
    uint64_t end = 0;
    for (cell_place at = {0, 0}; at.row < cells->rows; at.row++) {
        for (at.column = 0; at.column < cells->columns; at.column++) {
            const uint64_t cell = index_of(cells, at);
            cells->rings[cell] = cells->counts[cell] > 0 ? 0 : UINT32_MAX;
            if (cells->counts[cell] > 0) cells->queue[end++] = at;
        }
    }
    for (uint64_t i = 0; i < end; i++) {
        cell_place beside[4];
        const uint64_t cell = index_of(cells, cells->queue[i]);
        const uint32_t ring = cells->rings[cell];
        const int neighbours = cells_beside(cells, cells->queue[i], beside);
        if (ring > 0) cells->means[cell] = mean_beside(cells, ring, beside, neighbours);
        for (int k = 0; k < neighbours; k++) {
            const uint64_t next = index_of(cells, beside[k]);
            if (cells->rings[next] != UINT32_MAX) continue;
            cells->rings[next] = ring + 1;
            cells->queue[end++] = beside[k];
        }
    }
}

/* ---- their contents */

typedef struct volume_sums {
    double above, below, covered, empty; /* in finest cells, and steps of height */
} volume_sums;

static void add_contents(const volume_cells *cells, volume_sums *sums) {
    for (uint64_t i = 0; i < cells->columns * cells->rows; i++) {
        const double content = cells->shares[i] * cells->means[i];
        sums->above += content > 0 ? content : 0;
        sums->below -= content < 0 ? content : 0;
        sums->covered += cells->shares[i];
        sums->empty += cells->counts[i] == 0 ? cells->shares[i] : 0;
    }
}

static mote_status measure_surface(const volume_grid *grid, const double *shares, uint32_t level, mote_volume *volume) {
    const double steps = grid->region->steps_per_unit;
    const double sides[2] = {(double)grid->grid.cell[0] / steps * grid->ground.x,
                             (double)grid->grid.cell[1] / steps * grid->ground.y};
    const uint32_t side = 1u << level, shifts = side < SHIFTS ? side : SHIFTS;
    volume_sums sums = {0, 0, 0, 0};
    volume_cells cells;
    const mote_status status = reserve(grid, level, &cells);
    for (uint32_t i = 0; status == MOTE_OK && i < shifts * shifts; i++) {
        cells.move[0] = i % shifts * (side / shifts);
        cells.move[1] = i / shifts * (side / shifts);
        gather(grid, shares, &cells);
        find_means(grid, &cells);
        fill_gaps(&cells);
        add_contents(&cells, &sums);
    }
    release(grid->ctx, &cells);
    volume->above = sums.above / (shifts * shifts) / MEASURE_HEIGHT_STEPS * grid->ground.z * sides[0] * sides[1];
    volume->below = sums.below / (shifts * shifts) / MEASURE_HEIGHT_STEPS * grid->ground.z * sides[0] * sides[1];
    volume->empty = sums.covered > 0 ? sums.empty / sums.covered : 0;
    volume->cell = sides[1] * side;
    return status;
}

mote_status volume_grid_finish(const volume_grid *grid, mote_volume *volume) {
    const double steps = grid->region->steps_per_unit;
    double *shares = mote_alloc_zero(grid->ctx, polygon_grid_shares(&grid->grid) * sizeof *shares, "volume"), area = 0;
    memset(volume, 0, sizeof *volume);
    if (shares == NULL) return MOTE_ERROR_MEMORY;
    mote_status status = cover(grid, shares, &area);
    if (status == MOTE_OK && grid->points > 0) {
        status = measure_surface(grid, shares, choose_level(grid, area), volume);
    }
    mote_free(grid->ctx, shares);
    volume->area = area / 2 / steps / steps * grid->ground.x * grid->ground.y;
    volume->points = grid->points;
    if (grid->base == MOTE_VOLUME_LEVEL) volume->level = (double)grid->level / MEASURE_HEIGHT_STEPS;
    if (grid->base == MOTE_VOLUME_LOWEST && grid->points > 0) {
        volume->level = (double)grid->lowest / MEASURE_HEIGHT_STEPS;
    }
    return status;
}
