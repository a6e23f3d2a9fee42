/* The area that points cover. */
#include "info/info_area.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK_POINTS 4096u
#define CELL_POINTS  16.0 /* of a cell on average: one without a point is then outside of what was surveyed */
#define FINER        16.0 /* cells of the fine grid along a cell that holds so many points if they fill the box */
#define CELLS_MAX    8192.0
#define ROUNDS       3 /* cells are made smaller as the covered area turns out to be less than the box */
#define ENOUGH       0.7

bool area_open(area_grid *grid, const mote_box *box, uint64_t points) {
    memset(grid, 0, sizeof *grid);
    grid->points = (double)points;
    for (int k = 0; k < 2; k++) {
        grid->min[k] = box->min[k];
        grid->length[k] = box->max[k] - box->min[k];
    }
    const double area = grid->length[0] * grid->length[1];
    if (!(area > 0) || !isfinite(area) || points == 0) return true;
    grid->side =
        fmax(sqrt(area * CELL_POINTS / grid->points) / FINER, fmax(grid->length[0], grid->length[1]) / CELLS_MAX);
    grid->width = (uint64_t)(grid->length[0] / grid->side) + 1;
    grid->height = (uint64_t)(grid->length[1] / grid->side) + 1;
    grid->row_words = (grid->width + 63) / 64;
    grid->cells = calloc(grid->height * grid->row_words, sizeof *grid->cells);
    return grid->cells != NULL;
}

static void read_places(const mote_column *column, uint64_t first, uint64_t count, double *out) {
    mote_column_read(column, first, count, MOTE_FLOAT64, out);
    for (uint64_t i = 0; i < count; i++) out[i] = out[i] * column->scale + column->offset;
}

void area_add(area_grid *grid, const mote_cloud *piece) {
    const uint64_t all = mote_cloud_count(piece);
    double x[BLOCK_POINTS], y[BLOCK_POINTS];
    for (uint64_t first = 0; first < all && grid->cells != NULL; first += BLOCK_POINTS) {
        const uint64_t count = all - first < BLOCK_POINTS ? all - first : BLOCK_POINTS;
        read_places(mote_cloud_find(piece, "x"), first, count, x);
        read_places(mote_cloud_find(piece, "y"), first, count, y);
        for (uint64_t i = 0; i < count; i++) {
            const double at_x = (x[i] - grid->min[0]) / grid->side, at_y = (y[i] - grid->min[1]) / grid->side;
            if (!(at_x >= 0 && at_x < (double)grid->width && at_y >= 0 && at_y < (double)grid->height)) continue;
            const uint64_t column = (uint64_t)at_x;
            grid->cells[(uint64_t)at_y * grid->row_words + column / 64] |= UINT64_C(1) << column % 64;
        }
    }
}

/* Cells of times × times fine ones that hold a point. row: [width / times + 1] scratch. */
static uint64_t count_cells(const area_grid *grid, uint64_t times, uint8_t *row) {
    const uint64_t width = (grid->width - 1) / times + 1;
    uint64_t occupied = 0;
    memset(row, 0, width);
    for (uint64_t y = 0; y < grid->height; y++) {
        const uint64_t *words = grid->cells + y * grid->row_words;
        for (uint64_t w = 0; w < grid->row_words; w++) {
            for (uint64_t bits = words[w]; bits != 0; bits &= bits - 1) {
                row[(64 * w + (uint64_t)__builtin_ctzll(bits)) / times] = 1;
            }
        }
        if ((y + 1) % times != 0 && y + 1 < grid->height) continue;
        for (uint64_t x = 0; x < width; x++) occupied += row[x];
        memset(row, 0, width);
    }
    return occupied;
}

double area_grid_measure(const area_grid *grid, double *cell) {
    const double box = grid->length[0] * grid->length[1];
    double covered = box;
    *cell = 0;
    if (grid->cells == NULL) return 0;
    uint8_t *row = malloc(grid->width);
    if (row == NULL) return -1;
    for (int round = 0; round < ROUNDS; round++) {
        const double before = covered, times = rint(sqrt(covered * CELL_POINTS / grid->points) / grid->side);
        *cell = fmax(times, 1) * grid->side;
        covered = fmin((double)count_cells(grid, (uint64_t)fmax(times, 1), row) * *cell * *cell, box);
        if (covered > ENOUGH * before) break;
    }
    free(row);
    return covered;
}

void area_close(area_grid *grid) {
    free(grid->cells);
    grid->cells = NULL;
}
