/* Grids of cells in planes: which cells have points of a plane, which of them are connected, how much of each is
   covered. One copy for C and CUDA; whole numbers throughout, so sums have no order.

   Core cells have more points than strays account for; those connected by sides and corners are a part, which carries
   the number of its first core cell. Cells around it belong to it, of several to the first. Where parts are told apart
   core cells that touch are connected only if they have points at most 1.1 cells apart, which the quarters of cells
   tell:

       +-------+-------+     +-------+-------+
       | o     |     o |     |     o | o     |
       |   o   |       |     |   o   |     o |
       | o     |   o   |     | o     |   o   |
       +-------+-------+     +-------+-------+
          not connected          connected

   Grids lie side by side, cell by cell, by plane, v, u: the place of a cell says which it is, and a grid has a rim
   without points, so that every cell with points has eight others around it. */
#ifndef MOTE_PLANES_GRID_H
#define MOTE_PLANES_GRID_H

#include "math/search.h"
#include "planes/fit/planes_weight_math.h"

#define PLANES_NO_CELL         UINT32_MAX
#define PLANES_CELL_WHOLE      (1u << 24) /* the area of a cell */
#define PLANES_NEAR_QUARTERS   20         /* square of 1.1 cells, in quarters */
#define PLANES_COMPONENT_SHARE 0.01       /* of its plane's points; smaller islands are strays */
#define PLANES_COMPONENT_MIN   8.0
#define PLANES_POINT_CELLS     4u         /* a point */
#define PLANES_SPARE_CELLS     (1u << 22) /* besides those */
#define PLANES_MAX_CELLS       0x7FFFFFFFu

/* Cells of a plane that have points, from … to; as they are in planes_cell. */
typedef struct planes_bounds {
    uint32_t low[2], not_high[2]; /* u v; high is ~not_high: then all four are minima. All bits set: none */
} planes_bounds;

/* The grid of a plane. */
typedef struct planes_tract {
    planes_axes axes;
    uint32_t low[2];        /* its first cell, u v */
    uint32_t width, height; /* 0: no points */
    uint32_t first;         /* number of its first cell */
    uint32_t core;          /* points that a core cell has at least */
    float strays;           /* points of a cell that are strays */
} planes_tract;

typedef struct planes_grid {
    const planes_tract *tracts;
    uint32_t planes, cells;
    bool islands;       /* of few points are dropped */
    uint32_t *count;    /* [cells] points */
    uint32_t *quarters; /* [cells] which have points: planes_quarter_bit; NULL: cells that touch are connected */
    uint32_t *root;     /* [cells] the part that it belongs to; PLANES_NO_CELL: none */
    uint32_t *points;   /* [cells] of the part of that number */
    uint32_t *all;      /* [planes] points of all parts */
} planes_grid;

/* ---- which cell is where */

/* The place of a cell that has points. */
MOTE_HD uint32_t planes_tract_place(const planes_tract *t, uint32_t u, uint32_t v) {
    return t->first + (v - t->low[1]) * t->width + (u - t->low[0]);
}

MOTE_HD uint32_t planes_grid_plane(const planes_grid *g, uint32_t i) {
    return mote_lower_bound32_strided(&g->tracts->first, sizeof *g->tracts, g->planes, i + 1) - 1;
}

/* The cell with points that is so far from cell i, which has some. */
MOTE_HD uint32_t planes_grid_adjacent(const planes_grid *g, const planes_tract *t, uint32_t i, int32_t u, int32_t v) {
    const uint32_t at = i + (uint32_t)v * t->width + (uint32_t)u;
    return g->count[at] > 0 ? at : PLANES_NO_CELL;
}

/* The eight cells around one: the four before it, and these from the last on are the four after it. */
MOTE_HD void planes_grid_around(uint32_t k, int32_t *u, int32_t *v) {
    const uint32_t at = k < 4 ? k : k + 1; /* of three rows of three; 4 is the cell itself */
    *u = (int32_t)(at % 3) - 1;
    *v = (int32_t)(at / 3) - 1;
}

/* ---- parts */

MOTE_HD bool planes_is_core(const planes_grid *g, const planes_tract *t, uint32_t i) {
    return i != PLANES_NO_CELL && g->count[i] >= t->core;
}

/* Whether the cell so far from cell i is a core cell; other: out, which it is */
MOTE_HD bool planes_is_core_adjacent(const planes_grid *g, const planes_tract *t, uint32_t i, int32_t u, int32_t v,
                                     uint32_t *other) {
    *other = planes_grid_adjacent(g, t, i, u, v);
    return planes_is_core(g, t, *other);
}

/* Cells point to smaller ones of their part, or are its root. On a GPU others are joined meanwhile. */
MOTE_HD uint32_t planes_grid_root(const uint32_t *root, uint32_t i) {
    const volatile uint32_t *now = root;
    for (uint32_t next = now[i]; next != i; next = now[i]) i = next;
    return i;
}

/* The first of the parts whose core cells are around a cell. */
MOTE_HD uint32_t planes_first_part_around(const planes_grid *g, const planes_tract *t, uint32_t i) {
    uint32_t first = PLANES_NO_CELL, other;
    for (uint32_t k = 0; k < 8; k++) {
        int32_t u, v;
        planes_grid_around(k, &u, &v);
        if (!planes_is_core_adjacent(g, t, i, u, v, &other)) continue;
        const uint32_t root = planes_grid_root(g->root, other);
        first = root < first ? root : first;
    }
    return first;
}

/* Whether two of the quarters that have points, of cells u and v apart, are at most 1.1 cells apart. */
MOTE_HD bool planes_are_quarters_near(uint32_t quarters, uint32_t others, int32_t u, int32_t v) {
    for (int32_t i = 0; i < 16; i++) {
        if ((quarters >> i & 1) == 0) continue;
        for (int32_t k = 0; k < 16; k++) {
            const int32_t du = 4 * u + (k & 3) - (i & 3), dv = 4 * v + (k >> 2) - (i >> 2);
            if ((others >> k & 1) != 0 && du * du + dv * dv <= PLANES_NEAR_QUARTERS) return true;
        }
    }
    return false;
}

/* Whether core cell i is connected with the core cell other, which is u and v from it. */
MOTE_HD bool planes_are_connected(const planes_grid *g, uint32_t i, uint32_t other, int32_t u, int32_t v) {
    return g->quarters == NULL || planes_are_quarters_near(g->quarters[i], g->quarters[other], u, v);
}

/* Parts of fewer points are dropped. */
MOTE_HD uint32_t planes_grid_min(const planes_grid *g, uint32_t plane) {
    const double min = PLANES_COMPONENT_SHARE * (double)g->all[plane];
    if (!g->islands) return 0;
    return (uint32_t)ceil(min > PLANES_COMPONENT_MIN ? min : PLANES_COMPONENT_MIN);
}

/* ---- the area */

MOTE_HD bool planes_is_kept(const planes_grid *g, uint32_t min, uint32_t i) {
    return i != PLANES_NO_CELL && g->root[i] != PLANES_NO_CELL && g->points[g->root[i]] >= min;
}

/* Whether all four cells at its sides are kept too. */
MOTE_HD bool planes_is_inner(const planes_grid *g, const planes_tract *t, uint32_t min, uint32_t i) {
    return planes_is_kept(g, min, planes_grid_adjacent(g, t, i, 1, 0)) &&
           planes_is_kept(g, min, planes_grid_adjacent(g, t, i, -1, 0)) &&
           planes_is_kept(g, min, planes_grid_adjacent(g, t, i, 0, 1)) &&
           planes_is_kept(g, min, planes_grid_adjacent(g, t, i, 0, -1));
}

/* How much of a kept cell is covered, of PLANES_CELL_WHOLE: at the rim, going by the inner cells around it, which are
   covered all over. */
MOTE_HD uint32_t planes_has_footprint(const planes_grid *g, const planes_tract *t, uint32_t min, uint32_t i) {
    uint64_t points = 0, cells = 0;
    if (planes_is_inner(g, t, min, i)) return PLANES_CELL_WHOLE;
    for (uint32_t k = 0; k < 8; k++) {
        int32_t u, v;
        planes_grid_around(k, &u, &v);
        const uint32_t other = planes_grid_adjacent(g, t, i, u, v);
        if (!planes_is_kept(g, min, other) || !planes_is_inner(g, t, min, other)) continue;
        points += g->count[other];
        cells++;
    }
    if (cells == 0) return PLANES_CELL_WHOLE / 2;
    if (g->count[i] * cells >= points) return PLANES_CELL_WHOLE;
    return (uint32_t)(g->count[i] * cells * PLANES_CELL_WHOLE / points); /* below 2^(32 + 3 + 24) */
}

/* ---- what a cell says of its points */

MOTE_HD uint8_t planes_odds_at(const planes_grid *g, uint32_t plane, uint32_t i) {
    return planes_odds(g->count[i], g->tracts[plane].strays);
}

/* ---- for backends, on the host */

/* A core cell has more points than strays make likely. */
static inline uint32_t planes_core_points(double strays) {
    const double min = ceil(strays + 3 * sqrt(strays) + 1);
    return min > 2 ? (uint32_t)min : 2;
}

/* Lays out the grids of planes whose bounds are known.
   in_bands  [planes] strays beside each
   whole     every cell with points is a core cell
   points    that there are
   tracts    [planes] out, except axes
   Returns the number of cells; 0: too many. */
static inline uint32_t planes_grid_lay(const planes_bounds *bounds, const uint64_t *in_bands, uint32_t planes,
                                       bool whole, uint64_t points, planes_tract *tracts) {
    uint64_t cells = 0;
    const uint64_t wanted = PLANES_POINT_CELLS * points + PLANES_SPARE_CELLS,
                   max = wanted < PLANES_MAX_CELLS ? wanted : PLANES_MAX_CELLS;
    bool fits = true;
    for (uint32_t i = 0; i < planes; i++) {
        planes_tract *t = &tracts[i];
        const bool any = bounds[i].low[0] != UINT32_MAX;
        const uint32_t columns = any ? ~bounds[i].not_high[0] - bounds[i].low[0] + 1 : 0;
        const uint32_t rows = any ? ~bounds[i].not_high[1] - bounds[i].low[1] + 1 : 0;
        t->low[0] = bounds[i].low[0] - 1;
        t->low[1] = bounds[i].low[1] - 1;
        t->width = any ? columns + 2 : 0;
        t->height = any ? rows + 2 : 0;
        t->first = (uint32_t)cells;
        /* Strays of a cell are told as if those beside the plane were spread over the rectangle of all its cells. */
        const double strays = any ? 0.5 * (double)in_bands[i] / ((double)rows * (double)columns) : 0;
        t->strays = (float)strays;
        t->core = whole || !any ? 1 : planes_core_points(strays);
        cells += (uint64_t)t->width * t->height; /* below 2^52 a plane */
        fits = fits && cells <= max;
        if (!fits) cells = 0;
    }
    return fits ? (uint32_t)cells : 0;
}

#endif
