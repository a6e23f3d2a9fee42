/* A grid over polygons, and how much of each cell they cover: exactly but for rounding, by the area to the right of
 * each edge within its row, summed from the left, as rasterisers of fonts do (Levien, font-rs). Pure.
 *
 *      +-----+-----+-----+
 *      |     |  ___|_____|   0, 0.7, 1: the edge adds 0.7 to the cell in the middle and 0.3 to the next; the sums from
 *      |     | /   |     |   the left are the shares
 *      +-----+-----+-----+
 */
#ifndef MOTE_POLYGON_GRID_H
#define MOTE_POLYGON_GRID_H

#include "mote/shapes.h"
#include "shapes/region.h"

/* Cells of whole steps, from the lower left corner of the region on. */
typedef struct polygon_grid {
    const mote_region *region;
    uint64_t cell[2]; /* sides, in steps */
    uint32_t columns, rows;
} polygon_grid;

/* No cell is larger than 1/cells of the longer side on the ground. x, y: lengths of a step there. */
void polygon_grid_make(const mote_region *region, double x, double y, uint32_t cells, polygon_grid *grid);
/* The cell of a place, in steps from the lower left corner; borders belong to the cells within. */
static inline uint32_t polygon_grid_cell(const polygon_grid *grid, uint64_t x, uint64_t y) {
    const uint64_t column = x / grid->cell[0], row = y / grid->cell[1];
    return (uint32_t)((row < grid->rows ? row : grid->rows - 1) * grid->columns +
                      (column < grid->columns ? column : grid->columns - 1));
}
/* Returns twice the area of a ring in square steps, above 0 where it turns to the left. */
double polygon_ring_area(const mote_region *region, const double (*ring)[3], uint64_t count);

/* Doubles that shares need: one more to a row than there are columns. */
static inline uint64_t polygon_grid_shares(const polygon_grid *grid) { return (grid->columns + 1ull) * grid->rows; }

/* Adds a ring to the shares, all 0 at first. sign: 1 where the ring turns to the left and is an outer one, or turns to
   the right and is a hole; else -1. */
void polygon_grid_add(const polygon_grid *grid, const double (*ring)[3], uint64_t count, double sign, double *shares);
/* Makes shares of what was added: of a row [columns + 1] the last is none. Returns whether each is from 0 to 1, but for
   rounding, so that no polygon crosses itself or another. */
bool polygon_grid_finish(const polygon_grid *grid, double *shares);

#endif
