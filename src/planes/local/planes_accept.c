/* Whether what has grown is a plane: enough points, flat, normal about it, alike in all of its cells. */
#include <math.h>
#include <string.h>

#include "planes/local/planes_growth.h"

#define PLANE_FLATNESS 0.1  /* noise to the root of the area, at most */
#define MAX_SHOULDERS  0.45 /* density 2.25 noises off, less dense side; 0.11 of a plane alone, 1 of even points */
#define MAX_SHOULDER   0.85 /* the same on the denser side, where another plane may be near */
#define EVEN_CENTRAL   0.37 /* the same where nothing is beyond: 0.39 of a sheet that is filled evenly */
#define EVEN_STRUCTURE 0.05 /* share of the variance between cells, of such a sheet: pieces of waves have more */
#define MORE_CENTRAL   0.47 /* and by so much of a shoulder more: two sheets 3 noises apart have 0.39 and 0.08 */
#define MAX_STRUCTURE  0.25 /* share of the variance between cells */
#define MAX_GOING_ON   0.3  /* share of the rim beside which a surface goes on to one side, of no centred plane */
#define MAX_BENDING    0.15 /* share of the rim, of what seems to bend itself: of planes one in 700 has more */
#define SEEMS_CURVED   6.25 /* points' worth of the variance a curve explains, of one plane in ten by chance */
#define MAX_CURVED     0.08 /* structure of a centred one: a piece of a curve has 0.1 to 0.3, a plane none */
#define MIN_ALONG      0.5  /* of its points face closely along it; of a strip of a cylinder 0.43 */
#define WARPED_CENTRAL 0.25 /* the least of a sheet that bends: of a wave 0.31, of two sheets 4 noises apart less */
/* MAX_SHOULDERS, GROWTH_MIN_CENTRAL and MAX_STRUCTURE while planes that cross it may not be known yet. */
#define LOOSE_SHOULDERS  0.6
#define LOOSE_CENTRAL    0.36
#define CURVED           0.25  /* share of the variance that a curve explains, at most */
#define CURVED_BY_CHANCE 10.0  /* over the points: the share that it explains by chance */
#define FILLED           0.8   /* quarters of cells with points, to those of points spread evenly: a curve has fewer */
#define MIN_LINE         160.0 /* points: of fewer, where planes have few, a curve is not told from a strip */
#define FILLED_BY_CHANCE 0.7   /* over the root of the points: how many fewer there are by chance */
#define FILLED_CELLS     0.7   /* cells in fours with points, to those of points spread evenly; rims have fewer */
#define LAYER_SHARE      0.05  /* of a cell: how near to an exact plane points are those of other layers */
#define OWN_NOISE        0.1   /* of the largest noise: a layer of what a sensor tells apart has 0.03 */

/* How many of the quarters of the component's cells have points, to how many have of points spread evenly: next to 1,
   but 0.5 to 0.7 where the points are on a curve. */
static double share_filled(planes_local *s, const planes_growth *g) {
    const uint32_t listed = planes_list_component(s, g), cells = g->columns * g->rows;
    const double by = 2 / g->cell;
    double filled = 0, expected = 0;
    uint32_t *quarters = s->cell_stack;
    memset(quarters, 0, cells * sizeof *quarters);
    for (uint32_t k = 0; k < listed; k++) {
        const uint32_t i = s->component[k];
        const uint32_t column = (uint32_t)(((double)s->near_u[i] - g->low_u) * by) & 1;
        const uint32_t row = (uint32_t)(((double)s->near_v[i] - g->low_v) * by) & 1;
        quarters[s->near_cell[i]] |= 1u << (2 * row + column);
    }
    for (uint32_t cell = 0; cell < cells; cell++) {
        if (s->cell_mark[cell] == 0) continue;
        filled += __builtin_popcount(quarters[cell]);
        expected += 4 * (1 - pow(0.75, s->cell_in[cell]));
    }
    return expected > 0 ? filled / expected : 1;
}

/* How many cells are filled, asked of fours of them: lines of a scanner that are far apart fill these. */
static double share_of_cells(const planes_local *s, const planes_growth *g) {
    double filled = 0, expected = 0;
    for (uint32_t row = 0; row < g->rows; row += 2) {
        for (uint32_t column = 0; column < g->columns; column += 2) {
            double points = 0, marked = 0;
            for (uint32_t k = 0; k < 4; k++) {
                const uint32_t r = row + k / 2, c = column + k % 2, cell = r * g->columns + c;
                if (r >= g->rows || c >= g->columns || s->cell_mark[cell] == 0) continue;
                points += s->cell_in[cell];
                marked++;
            }
            filled += marked;
            expected += 4 * (1 - pow(0.75, points));
        }
    }
    return expected > 0 ? filled / expected : 1;
}

bool planes_is_curve(planes_local *s, planes_growth *g) {
    const double filled = share_filled(s, g), min = FILLED - FILLED_BY_CHANCE / sqrt(g->count);
    if (filled >= min || g->role != PLANES_ALONE) return false;
    if (!growth_is_exact(s, g) && ((growth_has_few(s) && g->count < MIN_LINE) || share_of_cells(s, g) >= FILLED_CELLS))
        return false;
    return !growth_refuse(g, MOTE_PLANES_STRUCTURE, 1 - filled, 1 - min);
}

double planes_share_of_layers(planes_local *s, const planes_growth *g, double reach, double away) {
    const uint32_t end = (g->rows - 1) * g->columns;
    double own = 0, others = 0;
    planes_take_near(s, g, away);
    for (uint32_t i = 0; i < s->near_count; i++) {
        const uint32_t cell = growth_cell_of(s, g, i);
        const bool is_own = fabs((double)s->near_distance[i]) <= reach;
        if (cell < g->columns || cell >= end) continue;
        if (s->cell_mark[cell] == 0 && (is_own || !growth_is_beside(s, g, cell))) continue;
        own += is_own;
        others += !is_own;
    }
    return others / fmax(own, 1);
}

/* Where planes have noise, one without is a layer if others lie around it within a cell: around a wall that was made
   without noise next to nothing does. */
bool planes_is_of_representation(planes_local *s, planes_growth *g) {
    const double exact = GROWTH_TOLD_NOISE * s->params.floor, noise = fmin(g->noise, g->measured_noise);
    const double reach = PLANES_REACH_NOISES * noise;
    if (noise > fmax(exact, OWN_NOISE * g->max_noise)) return false;
    const double away = g->max_noise > exact ? g->cell : fmax(LAYER_SHARE * g->cell, reach);
    const double layers = planes_share_of_layers(s, g, reach, away);
    if (layers > GROWTH_MAX_LAYERS) return !growth_refuse(g, MOTE_PLANES_DENSE_SIDE, layers, GROWTH_MAX_LAYERS);
    return !planes_find_component(s, g, g->radius);
}

/* The tests, with limits of their own. */
typedef struct growth_limits {
    double shoulders, shoulder, central, structure;
} growth_limits;

/* Where the noise is known, points of others have no part in it any more: then no more than one plane has. But stripes,
   each off by something else, as of a scanner whose lines differ, are noise of a plane. */
static double max_structure(const planes_growth *g, const growth_limits *limits) {
    if (g->centred) return MAX_CURVED;
    if (g->warped) return 1; /* planes_bodies.c asks how steep it is */
    if (g->likeness <= GROWTH_MAX_LIKENESS) return GROWTH_MAX_STRUCTURE;
    const bool is_known = g->max_noise > 0 && g->role == PLANES_ALONE;
    return is_known ? fmin(planes_one_structure(g), limits->structure) : limits->structure;
}

/* A slab cut out of what goes on has no peak, and as many points beyond; two sheets have next to none in the middle.
   What ends on both sides and is filled is one sheet, whatever its residuals are like; but what is not as flat as most
   planes may as well be several slabs. */
static double min_central(const planes_growth *g, const growth_limits *limits) {
    const double central = limits->central - 1 / sqrt(g->count);
    if (g->noise > PLANES_CLEARLY_FLAT * sqrt(g->area) || g->structure > EVEN_STRUCTURE) return central;
    const double beyond = fmax(g->shoulders[0], g->shoulders[1]);
    return fmin(central, EVEN_CENTRAL + MORE_CENTRAL * beyond);
}

static bool stands(const planes_local *s, planes_growth *g, const growth_limits *limits) {
    const double strays = g->strays * (g->area / (g->cell * g->cell)), side = sqrt(g->area);
    const double own = (g->count - strays) * (double)(1u << g->level);
    const double central = min_central(g, limits);
    if (g->role == PLANES_SCAFFOLD) return true;
    if (own < s->params.min_points) return growth_refuse(g, MOTE_PLANES_FEW_POINTS, fmax(own, 0), s->params.min_points);
    if (g->noise > PLANE_FLATNESS * side) return growth_refuse(g, MOTE_PLANES_THICK, g->noise / side, PLANE_FLATNESS);
    if (g->max_noise > 0 && g->role == PLANES_ALONE && g->measured_noise > GROWTH_MAX_NOISE * g->max_noise) {
        return growth_refuse(g, MOTE_PLANES_UNLIKE, g->measured_noise, GROWTH_MAX_NOISE * g->max_noise);
    }
    if (growth_is_exact(s, g)) return true;
    for (int k = 0; k < 2; k++) {
        const double limit = k == 0 ? limits->shoulders : limits->shoulder;
        if (g->shoulders[k] > limit) return growth_refuse(g, MOTE_PLANES_DENSE_SIDE, g->shoulders[k], limit);
    }
    if (g->central < central) return growth_refuse(g, MOTE_PLANES_NO_PEAK, g->central, central);
    const double max_going_on = g->centred ? GROWTH_MAX_GOING_ON : MAX_GOING_ON;
    if (g->going_on > max_going_on) return growth_refuse(g, MOTE_PLANES_STRUCTURE, g->going_on, max_going_on);
    if (g->along < MIN_ALONG) return growth_refuse(g, MOTE_PLANES_UNSUPPORTED, g->along, MIN_ALONG);
    const double curvature = CURVED + CURVED_BY_CHANCE / g->count;
    if (g->curvature > curvature) return growth_refuse(g, MOTE_PLANES_STRUCTURE, g->curvature, curvature);
    const double most = max_structure(g, limits);
    if (g->structure > most) return growth_refuse(g, MOTE_PLANES_STRUCTURE, g->structure, most);
    if (g->bending <= MAX_BENDING || (!g->warped && g->curvature * g->count <= SEEMS_CURVED)) return true;
    return growth_refuse(g, MOTE_PLANES_STRUCTURE, g->bending, MAX_BENDING);
}

static const growth_limits loose = {LOOSE_SHOULDERS, MAX_SHOULDER, LOOSE_CENTRAL, GROWTH_MAX_STRUCTURE};

bool planes_growth_stands(const planes_local *s, planes_growth *g) {
    static const growth_limits strict = {MAX_SHOULDERS, MAX_SHOULDER, GROWTH_MIN_CENTRAL, MAX_STRUCTURE};
    static const growth_limits warped = {MAX_SHOULDERS, MAX_SHOULDER, WARPED_CENTRAL, 1};
    if (g->warped) return stands(s, g, &warped);
    return stands(s, g, g->role == PLANES_ALONE ? &strict : &loose);
}

bool planes_growth_may_stand(const planes_local *s, planes_growth *g) { return stands(s, g, &loose); }
