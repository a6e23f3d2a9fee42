/* Bodies: what has grown and is no plane, but may be several. They are noted while planes are selected, cut where they
   fall into steps, slabs and parts (planes_composites.c, planes_creases.c), and told apart as sheets or taken as one
   plane as thick as these. */
#include <math.h>
#include <string.h>

#include "planes/local/planes_growth.h"

#define MIN_BODY      2.0 /* times the points of a plane: of what may be several */
#define BODY_FLATNESS 0.1
#define SHEETS_THICK  1.4 /* times the noise, that sheets are at least: no plane of one noise is */
#define SHEETS_CENTRAL                                                                                                 \
    0.38 /* of two sheets 4 and 6 noises apart 0.31 and 0.19 are in the middle, of even points 0.39 */
#define SHEETS_SHOULDER  0.2   /* density 2.25 noises off, to the middle's: of two sheets 0.02 and less */
#define SHEETS_STRUCTURE 0.05  /* share of the variance between cells */
#define MAX_SLOPE        0.035 /* root mean square along an axis, from cell to cell: 2 degrees */

/* Whether the middle of b is in a, and they are about parallel. */
static bool is_same_body(const planes_growth *a, const planes_growth *b) {
    const double away[3] = {b->at[0] - a->at[0], b->at[1] - a->at[1], b->at[2] - a->at[2]};
    return fabs(planes_dot(a->normal, b->normal)) >= PLANES_SAME_BODY &&
           fabs(planes_dot(away, a->normal)) <= a->noise && planes_dot(away, away) <= 0.25 * a->area;
}

/* Keeps a growth among bodies, if it has the points of two planes. */
static void keep_body(const planes_local *s, const planes_growth *g, planes_bodies *bodies) {
    planes_growth *growths = bodies->growths;
    uint32_t at = bodies->count;
    const double points = planes_growth_points(g);
    if (points < MIN_BODY * s->params.min_points) return;
    for (uint32_t i = 0; i < bodies->count; i++) {
        if (is_same_body(&growths[i], g)) return;
    }
    while (at > 0 && planes_growth_points(&growths[at - 1]) < points) at--;
    if (at == bodies->max) return;
    if (bodies->count < bodies->max) bodies->count++;
    memmove(&growths[at + 1], &growths[at], (bodies->count - 1 - at) * sizeof *growths);
    growths[at] = *g;
    planes_take_level(&growths[at], 0);
}

void planes_note_body(const planes_local *s, const planes_growth *g, planes_bodies *bodies) {
    const bool thicker = g->reason == MOTE_PLANES_THICKENS || g->reason == MOTE_PLANES_UNLIKE;
    const bool several = g->reason == MOTE_PLANES_NO_PEAK || g->reason == MOTE_PLANES_STRUCTURE ||
                         (thicker && g->noise < BODY_FLATNESS * sqrt(g->area));
    if (several) keep_body(s, g, bodies);
}

void planes_note_sheets(planes_local *s, const planes_growth *g) {
    const bool thicker = g->reason == MOTE_PLANES_UNLIKE || g->reason == MOTE_PLANES_NO_PEAK;
    if (thicker && g->area > 0 && g->structure <= planes_one_structure(g)) keep_body(s, g, &s->sheets);
}

/* Whether the points lie in sheets along each other everywhere, as where a floor was scanned twice: fewer of them in
   the middle than of something that fills its thickness, next to none beyond, and the same in all cells. */
static bool is_of_sheets(const planes_growth *g) {
    const double central = SHEETS_CENTRAL - 1 / sqrt(g->count);
    return g->reason == MOTE_PLANES_NO_PEAK && g->central < central && g->shoulders[1] <= SHEETS_SHOULDER &&
           g->structure <= SHEETS_STRUCTURE;
}

/* Grows a body once more, freely, over what no plane explains better. */
static bool grow_body(planes_local *s, const planes_growth *body, bool warped, planes_growth *g) {
    planes_patch patch;
    memset(&patch, 0, sizeof patch);
    memcpy(patch.normal, body->normal, sizeof patch.normal);
    memcpy(patch.at, body->at, sizeof patch.at);
    patch.noise = body->noise;
    patch.size = 0.5 * sqrt(body->area);
    patch.count = (uint32_t)body->count;
    patch.stride = 1;
    patch.warped = warped;
    return planes_grow(s, &patch, 0, 0, -1, g);
}

mote_status planes_find_sheets(planes_local *s, double noise) {
    planes_bodies *sheets = &s->sheets, grown;
    double points = 0;
    grown.count = 0;
    grown.max = PLANES_LOCAL_SHEETS;
    for (uint32_t i = 0; i < sheets->count; i++) {
        planes_growth g;
        const bool is_grown = grow_body(s, &sheets->growths[i], false, &g);
        const bool stands = is_grown && planes_growth_stands(s, &g);
        if (!is_grown || (!stands && g.reason != MOTE_PLANES_NO_PEAK) || g.noise <= SHEETS_THICK * noise) continue;
        if (g.structure > planes_one_structure(&g) || !planes_is_supported(s, &g, PLANES_ALONG)) continue;
        keep_body(s, &g, &grown);
    }
    for (uint32_t i = 0; i < grown.count; i++) points += grown.growths[i].count;
    return points > planes_owned_points(s) ? MOTE_OK : planes_part_sheets(s, &grown, noise);
}

void planes_take_sheets(planes_local *s) {
    for (uint32_t i = 0; i < s->bodies.count && s->plane_count < PLANES_LOCAL_MAX; i++) {
        const planes_growth *body = &s->bodies.growths[i];
        planes_growth g;
        uint32_t won = 0;
        if (body->reason != MOTE_PLANES_NO_PEAK || !grow_body(s, body, false, &g)) continue;
        if (planes_growth_stands(s, &g) || !is_of_sheets(&g) || !planes_is_supported(s, &g, PLANES_ALONG)) continue;
        planes_claim_points(s, &g, -1, &won);
        if (2 * won > g.count) planes_add_growth(s, &g);
    }
}

/* ---- warped planes */

/* Warped planes: floors that sag, walls that bulge, roads that are uneven. Where noise is low they are no plane by any
   test of planes, for most of the variance lies between places; but they are one thin sheet that nobody would call
   curved:

       a floor of 8 m that sags by 2 cm:                         its slopes are less than 2 degrees
       ________                      ________
               \________    ________/
                        \__/

   So what was refused as bent, or as several, and could not be cut into planes, grows once more, however much it
   thickens. It is one plane, as thick as it bends, if its points go nowhere on beyond its rim, each lies along it by
   its neighbours, and its slopes are those that nobody sees. */
/* How a sheet bends. */
typedef struct warped_shape {
    double slope;   /* from cell to cell, root mean square, without what is uneven from one cell to the next */
    double uneven;  /* deviation of cells, steps */
    double noise;   /* deviation of points within cells, steps */
    double central; /* share of the points within 0.67 noises of the middle of their cell's */
} warped_shape;

/* How far the i-th near point is from the mean of its cell's. */
static double off_cell(const planes_local *s, uint32_t i) {
    const uint32_t cell = s->near_cell[i];
    return (double)s->near_distance[i] - (double)s->cell_sum[cell] / s->cell_in[cell];
}

/* The mean square rise between cells of the component that are that many steps apart, along both axes; 0 if there are
   none. On a slope it is four times as large over two cells as over one. Noise, and what is uneven from cell to cell,
   give the same over both, so their difference is three times that of the slope over one. */
static double mean_rise(const planes_local *s, const planes_growth *g, uint32_t steps) {
    double rises = 0, pairs = 0;
    for (uint32_t row = 0; row < g->rows; row++) {
        for (uint32_t column = 0; column < g->columns; column++) {
            const uint32_t cell = row * g->columns + column;
            if (s->cell_mark[cell] == 0) continue;
            for (int k = 0; k < 2; k++) {
                const bool is_inside = k == 0 ? column + steps < g->columns : row + steps < g->rows;
                const uint32_t other = cell + steps * (k == 0 ? 1 : g->columns);
                if (!is_inside || s->cell_mark[other] == 0) continue;
                const double rise =
                    (double)s->cell_sum[other] / s->cell_in[other] - (double)s->cell_sum[cell] / s->cell_in[cell];
                rises += rise * rise;
                pairs++;
            }
        }
    }
    return rises / fmax(pairs, 1);
}

/* Of the component in the scratch. */
static warped_shape shape_of(planes_local *s, const planes_growth *g) {
    double squares = 0, between = 0, cells = 0, central = 0;
    const uint32_t listed = planes_list_component(s, g);
    for (uint32_t k = 0; k < listed; k++) squares += pow(off_cell(s, s->component[k]), 2);
    for (uint32_t cell = 0; cell < g->columns * g->rows; cell++) {
        if (s->cell_mark[cell] == 0) continue;
        const double in = s->cell_in[cell], mean = (double)s->cell_sum[cell] / in;
        between += in * mean * mean;
        cells++;
    }
    const double within = squares / fmax(listed - cells, 1) + 1;
    for (uint32_t k = 0; k < listed; k++) {
        const double in = s->cell_in[s->near_cell[s->component[k]]];
        central += fabs(off_cell(s, s->component[k])) < 0.6745 * sqrt(within * fmax(1 - 1 / in, 0));
    }
    const warped_shape shape = {sqrt(fmax(mean_rise(s, g, 2) - mean_rise(s, g, 1), 0) / 3) / g->cell,
                                sqrt(fmax(between - cells * within, 0) / fmax(listed, 1)), sqrt(within),
                                central / fmax(listed, 1)};
    return shape;
}

/* Whether a body is one sheet that hardly bends. */
static bool is_warped(planes_local *s, const planes_growth *body, planes_growth *g) {
    if (!grow_body(s, body, true, g) || !planes_growth_stands(s, g)) return false;
    if (g->structure <= planes_one_structure(g)) return false; /* it does not bend, and yet was no plane */
    const warped_shape shape = shape_of(s, g);
    const bool hidden = shape.uneven <= fmin(shape.noise, s->params.nearby_noise);
    return shape.central >= GROWTH_MIN_CENTRAL && shape.slope <= (hidden ? PLANES_LEAVING : MAX_SLOPE) &&
           planes_is_supported(s, g, PLANES_CLOSELY);
}

/* Whether most points of a growth are of a sheet that was taken. */
static bool is_taken(const planes_local *s, const planes_growth *g) {
    uint32_t taken = 0, all = 0;
    for (uint32_t i = 0; i < s->near_count; i++) {
        if (!planes_in_component(s, g, i)) continue;
        const int32_t owner = s->owner[s->near_point[i]];
        taken += owner >= 0 && s->planes[owner].warped;
        all++;
    }
    return 2 * taken > all;
}

void planes_take_warped(planes_local *s) {
    planes_bodies warped;
    bool is_one[PLANES_LOCAL_BODIES] = {false};
    warped.count = 0;
    /* Side by side: none takes points. */
#pragma omp parallel for schedule(dynamic, 1) num_threads((int)s->worker_count)
    for (int64_t i = 0; i < (int64_t)s->bodies.count; i++) {
        if (!mote_stop(s->ctx)) is_one[i] = is_warped(planes_worker(s), &s->bodies.growths[i], &warped.growths[i]);
    }
    for (uint32_t i = 0; i < s->bodies.count && !mote_stop(s->ctx); i++) {
        if (is_one[i]) warped.growths[warped.count++] = warped.growths[i];
    }
    for (uint32_t i = 0; i < warped.count && s->plane_count < PLANES_LOCAL_MAX; i++) {
        planes_growth *g = &warped.growths[i];
        uint32_t won = 0;
        if (!planes_grow_again(s, g) || is_taken(s, g)) continue;
        planes_claim_points(s, g, -1, &won);
        if (2 * won > g->count) planes_add_growth(s, g);
    }
}
