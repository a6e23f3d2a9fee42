#include "measure/polygon_grid.h"

#define MAX_WRONG 1e-6 /* of a cell: what rounding leaves is a millionth of it */

void polygon_grid_make(const mote_region *region, double x, double y, uint32_t cells, polygon_grid *grid) {
    const double width = (double)(region->high[0] - region->low[0]),
                 height = (double)(region->high[1] - region->low[1]);
    const double side = (width * x > height * y ? width * x : height * y) / cells;
    const double lengths[2] = {x, y};
    uint32_t counts[2];
    for (int k = 0; k < 2; k++) {
        const uint64_t steps = (uint64_t)(side / lengths[k]), reach = (uint64_t)(region->high[k] - region->low[k]);
        grid->cell[k] = (double)steps < side / lengths[k] || steps == 0 ? steps + 1 : steps;
        counts[k] = reach > 0 ? (uint32_t)((reach - 1) / grid->cell[k]) + 1 : 1;
    }
    grid->region = region;
    grid->columns = counts[0];
    grid->rows = counts[1];
}

double polygon_ring_area(const mote_region *region, const double (*ring)[3], uint64_t count) {
    double sum = 0;
    for (uint64_t i = 0, last = count - 1; i < count; last = i++) {
        const double x0 = (double)(region_steps(region, ring[last][0]) - region->low[0]);
        const double y0 = (double)(region_steps(region, ring[last][1]) - region->low[1]);
        const double x1 = (double)(region_steps(region, ring[i][0]) - region->low[0]);
        const double y1 = (double)(region_steps(region, ring[i][1]) - region->low[1]);
        sum += x0 * y1 - x1 * y0;
    }
    return sum;
}

static double least(double a, double b) { return a < b ? a : b; }
static double greatest(double a, double b) { return a > b ? a : b; }

/* A piece of an edge within a row, from x = left to right, in cells; rise: of it, with its sign. */
static void add_piece(const polygon_grid *grid, double *row, double left, double right, double rise) {
    const double width = right - left;
    uint32_t column = left < grid->columns - 1 ? (uint32_t)left : grid->columns - 1;
    for (double from = left;; column++) {
        const bool is_last = column + 1 >= right || column + 1 == grid->columns;
        const double to = is_last ? right : column + 1;
        const double part = width > 0 ? rise * ((to - from) / width) : rise;
        const double middle = (from + to) / 2 - column;
        row[column] += part * (1 - middle);
        row[column + 1] += part * middle;
        if (is_last) return;
        from = to;
    }
}

/* Corners in cells from the lower left one of the region. */
static void add_edge(const polygon_grid *grid, const double from[2], const double to[2], double sign, double *shares) {
    const double *low = from[1] < to[1] ? from : to, *high = low == from ? to : from;
    const double slope = (high[0] - low[0]) / (high[1] - low[1]), direction = low == from ? -sign : sign;
    const double min = least(from[0], to[0]), max = greatest(from[0], to[0]);
    if (low[1] == high[1]) return;
    uint32_t row = low[1] < grid->rows - 1 ? (uint32_t)low[1] : grid->rows - 1;
    double x = low[0], y = low[1];
    for (;; row++) {
        const bool is_last = row + 1 >= high[1] || row + 1 == grid->rows;
        const double next_y = is_last ? high[1] : row + 1;
        const double next_x = is_last ? high[0] : least(max, greatest(min, low[0] + (next_y - low[1]) * slope));
        add_piece(grid, shares + row * (grid->columns + 1ull), least(x, next_x), greatest(x, next_x),
                  (next_y - y) * direction);
        if (is_last) return;
        x = next_x;
        y = next_y;
    }
}

void polygon_grid_add(const polygon_grid *grid, const double (*ring)[3], uint64_t count, double sign, double *shares) {
    const mote_region *region = grid->region;
    double before[2] = {0, 0};
    for (uint64_t i = 0; i <= count; i++) {
        double corner[2];
        for (int k = 0; k < 2; k++) {
            const int64_t steps = region_steps(region, ring[i % count][k]) - region->low[k];
            corner[k] = (double)steps / (double)grid->cell[k];
        }
        if (i > 0) add_edge(grid, before, corner, sign, shares);
        before[0] = corner[0];
        before[1] = corner[1];
    }
}

bool polygon_grid_finish(const polygon_grid *grid, double *shares) {
    bool is_right = true;
    for (uint32_t row = 0; row < grid->rows; row++) {
        double *at = shares + row * (grid->columns + 1ull), sum = 0;
        for (uint32_t column = 0; column < grid->columns; column++) {
            sum += at[column];
            is_right = is_right && sum >= -MAX_WRONG && sum <= 1 + MAX_WRONG;
            at[column] = least(1, greatest(0, sum));
        }
    }
    return is_right;
}
