/* Which way points face, by what is around them: the normal of the smallest surroundings that are flat and know it
   well. A plane has none of the points that face another way, however near they are to it: of a solid's face those of
   the next face, of which as many are near as the noise reaches past the edge.

       coarse    [       .  :  .       ]     surroundings are a cell of a grid and the 26 around it; from grid to grid
                 [---.---.---.---.---.-]     cells are half as wide, until few tell a normal
       fine          [.---.---.]

   Where the noise is as large as the surroundings, or points lie in all directions, nothing is known: such a point may
   be of any plane. */
#include <math.h>
#include <string.h>

#include "math/hash.h"
#include "planes/local/planes_growth.h"

#define COARSEST      8.0  /* cells along the longest side of the sample, of the first grid */
#define MAX_GRIDS     16   /* each with cells half as wide as the one before */
#define FEW_TELL      0.1  /* of the points that most are told on a grid: where fewer are, finer ones tell none */
#define MIN_POINTS    16.0 /* of surroundings that tell a normal */
#define MAX_THICKNESS 0.2  /* variance across, to the lesser one along: of two faces at a right angle 0.25 */
#define MAX_ANGLE     0.1  /* radians: the standard deviation of a normal that is known */

/* What a cell holds: sums from its middle, and what it and those around it tell. */
typedef struct facing_cell {
    uint64_t key;
    planes_moments moments;
    double normal[3];
    bool is_known;
} facing_cell;

/* A grid over the sample; its cells are found by a hash table. */
typedef struct facing_grid {
    double low[3], width;
    uint32_t count, slots;
    facing_cell *cells; /* [count] */
    int32_t *table;     /* [slots] a cell, -1: none; slots: a power of two */
    uint32_t *cell_of;  /* [sample] */
} facing_grid;

#define KEY_BITS      21 /* of a cell's place along an axis */
#define SLOTS_IN_LINE 8  /* of the table, 32 bytes: where cells of so many places along x are, one after the other */

static uint64_t key_of(const int64_t at[3]) {
    const uint64_t mask = (1u << KEY_BITS) - 1;
    return ((uint64_t)at[0] & mask) | ((uint64_t)at[1] & mask) << KEY_BITS | ((uint64_t)at[2] & mask) << 2 * KEY_BITS;
}

/* Where the cell of a key is in the table, or would be. Cells beside each other along x share a line of memory. */
static uint32_t slot_of(const facing_grid *grid, uint64_t key) {
    const uint64_t group = mote_hash64(key / SLOTS_IN_LINE) * SLOTS_IN_LINE;
    uint32_t slot = (uint32_t)(group + key % SLOTS_IN_LINE) & (grid->slots - 1);
    while (grid->table[slot] >= 0 && grid->cells[grid->table[slot]].key != key) slot = (slot + 1) & (grid->slots - 1);
    return slot;
}

/* Sums the points of each cell. */
static void sum_cells(const planes_sample *sample, facing_grid *grid) {
    memset(grid->table, 0xFF, grid->slots * sizeof *grid->table);
    grid->count = 0;
    for (uint32_t i = 0; i < sample->count; i++) {
        const double p[3] = {(double)sample->x[i], (double)sample->y[i], (double)sample->z[i]};
        double off[3];
        int64_t at[3];
        for (int k = 0; k < 3; k++) {
            const double cell = floor((p[k] - grid->low[k]) / grid->width);
            at[k] = (int64_t)cell;
            off[k] = p[k] - grid->low[k] - (cell + 0.5) * grid->width;
        }
        const uint64_t key = key_of(at);
        const uint32_t slot = slot_of(grid, key);
        if (grid->table[slot] < 0) {
            grid->table[slot] = (int32_t)grid->count;
            memset(&grid->cells[grid->count], 0, sizeof *grid->cells);
            grid->cells[grid->count++].key = key;
        }
        grid->cell_of[i] = (uint32_t)grid->table[slot];
        planes_moments_add(&grid->cells[grid->table[slot]].moments, off[0], off[1], off[2]);
    }
}

/* Adds moments whose origin is away from that of the others. */
static void add_moments(planes_moments *to, const planes_moments *m, const double away[3]) {
    to->count += m->count;
    for (int k = 0; k < 3; k++) to->first[k] += m->first[k] + m->count * away[k];
    for (int k = 0; k < PLANES_PRODUCTS; k++) {
        const int a = planes_rows[k], b = planes_columns[k];
        to->products[k] +=
            m->products[k] + m->first[a] * away[b] + m->first[b] * away[a] + m->count * away[a] * away[b];
    }
}

/* The normal of a cell and the 26 around it, where they are flat and know it well: the variance of its angle is the
   thickness over the points. */
static void face_cell(const facing_grid *grid, facing_cell *cell) {
    const facing_cell *around[27];
    planes_moments m;
    planes_local_fit fit;
    double points = 0;
    memset(&m, 0, sizeof m);
    for (int i = 0; i < 27; i++) {
        const int64_t step[3] = {i % 3 - 1, i / 3 % 3 - 1, i / 9 - 1};
        int64_t at[3];
        for (int k = 0; k < 3; k++) at[k] = (int64_t)(cell->key >> (KEY_BITS * k)) + step[k];
        const int32_t other = grid->table[slot_of(grid, key_of(at))];
        around[i] = other >= 0 ? &grid->cells[other] : NULL;
        points += other >= 0 ? around[i]->moments.count : 0;
    }
    if (points < MIN_POINTS) return;
    for (int i = 0; i < 27; i++) {
        const int step[3] = {i % 3 - 1, i / 3 % 3 - 1, i / 9 - 1};
        const double away[3] = {grid->width * step[0], grid->width * step[1], grid->width * step[2]};
        if (around[i] != NULL) add_moments(&m, &around[i]->moments, away);
    }
    if (!planes_moments_fit(&m, &fit)) return;
    const double thickness = planes_thickness(&m, &fit);
    cell->is_known = thickness <= MAX_THICKNESS && thickness <= MAX_ANGLE * MAX_ANGLE * m.count;
    memcpy(cell->normal, fit.normal, sizeof cell->normal);
}

/* Points of cells that know a normal face that way; returns how many. */
static uint32_t face_points(const facing_grid *grid, uint32_t points, planes_facing *facing) {
    uint32_t told = 0;
    for (uint32_t i = 0; i < points; i++) {
        const facing_cell *cell = &grid->cells[grid->cell_of[i]];
        if (!cell->is_known) continue;
        for (int k = 0; k < 3; k++) facing->normal[k][i] = (float)cell->normal[k];
        facing->unknown[i] = 0;
        told++;
    }
    return told;
}

/* Each grid is asked, the coarsest first: what a finer one tells is nearer. */
static void face_all(planes_local *s, facing_grid *grid) {
    const planes_sample *sample = s->sample;
    const float *axes[3] = {sample->x, sample->y, sample->z};
    float low[3], high[3];
    double size = 0;
    uint32_t most = 0;
    for (int k = 0; k < 3; k++) {
        planes_find_ends(axes[k], sample->count, &low[k], &high[k]);
        size = fmax(size, (double)(high[k] - low[k]));
    }
    for (int i = 0; i < MAX_GRIDS && size > 0 && !mote_stop(s->ctx); i++) {
        grid->width = ldexp(size / COARSEST, -i);
        for (int k = 0; k < 3; k++) grid->low[k] = (double)low[k] - grid->width; /* a rim of empty cells */
        sum_cells(sample, grid);
#pragma omp parallel for schedule(dynamic, 64) num_threads(s->ctx->threads)
        for (int64_t c = 0; c < (int64_t)grid->count; c++) {
            if (!mote_stop(s->ctx)) face_cell(grid, &grid->cells[c]);
        }
        const uint32_t told = face_points(grid, sample->count, &s->facing);
        most = told > most ? told : most;
        if (told < FEW_TELL * most) break;
    }
    for (uint32_t i = 0; i < sample->count; i++) s->facing.known_count += !(s->facing.unknown[i] > 0);
}

/* Workers are copies of the search. */
static void share_facing(planes_local *s) {
    for (uint32_t i = 0; i + 1 < s->worker_count; i++) s->workers[i].facing = s->facing;
}

void planes_drop_facing(planes_local *s) {
    mote_free(s->ctx, s->facing.normal[0]);
    memset(&s->facing, 0, sizeof s->facing);
    share_facing(s);
}

mote_status planes_find_facing(planes_local *s) {
    const uint64_t points = s->sample->count, storage = points + PLANES_LOCAL_LANES; /* eight at a time */
    facing_grid grid;
    memset(&grid, 0, sizeof grid);
    grid.slots = SLOTS_IN_LINE;
    while (grid.slots < 2 * points) grid.slots *= 2;
    float *memory = mote_alloc_zero(s->ctx, 4 * storage * sizeof *memory, "planes facing");
    grid.cells = mote_alloc(s->ctx, points * sizeof *grid.cells, "planes facing");
    grid.table = mote_alloc(s->ctx, grid.slots * sizeof *grid.table, "planes facing");
    grid.cell_of = mote_alloc(s->ctx, points * sizeof *grid.cell_of, "planes facing");
    mote_status status = mote_context_status(s->ctx);
    if (status == MOTE_OK) {
        for (uint64_t k = 0; k < 3; k++) s->facing.normal[k] = memory + k * storage;
        s->facing.unknown = memory + 3 * storage;
        for (uint64_t i = 0; i < storage; i++) s->facing.unknown[i] = 1;
        face_all(s, &grid);
        share_facing(s);
        status = mote_stopped(s->ctx);
        if (status != MOTE_OK) planes_drop_facing(s);
    } else {
        mote_free(s->ctx, memory);
    }
    mote_free(s->ctx, grid.cells);
    mote_free(s->ctx, grid.table);
    mote_free(s->ctx, grid.cell_of);
    return status;
}
