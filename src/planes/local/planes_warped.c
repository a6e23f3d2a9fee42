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
#include <math.h>

#include "planes/local/planes_growth.h"

#define MAX_SLOPE     0.035 /* root mean square along an axis, from cell to cell: 2 degrees */
#define HIDDEN_SLOPE  0.1   /* the same, where it is uneven by less than the noise: 6 degrees */
#define MIN_CENTRAL   0.44  /* share of the points within 0.67 noises of the middle of their cell's, as of a plane */
#define WARPED_COSINE 0.985 /* of 10 degrees: points lie so near along it, by their neighbours */

/* How a sheet bends. */
typedef struct warped_shape {
    double slope;   /* from cell to cell, root mean square */
    double uneven;  /* deviation of cells, steps */
    double noise;   /* deviation of points within cells, steps */
    double central; /* share of the points within 0.67 noises of the middle of their cell's */
} warped_shape;

/* How far the i-th near point is from the mean of its cell's. */
static double off_cell(const planes_local *s, uint32_t i) {
    const uint32_t cell = s->near_cell[i];
    return (double)s->near_distance[i] - (double)s->cell_sum[cell] / s->cell_in[cell];
}

/* Of the component in the scratch, beyond what noise makes of so few points a cell. */
static warped_shape shape_of(planes_local *s, const planes_growth *g) {
    double squares = 0, between = 0, cells = 0, rises = 0, chance = 0, pairs = 0, central = 0;
    const uint32_t listed = planes_list_component(s, g);
    for (uint32_t k = 0; k < listed; k++) squares += pow(off_cell(s, s->component[k]), 2);
    for (uint32_t cell = 0; cell < g->columns * g->rows; cell++) {
        if (s->cell_mark[cell] == 0) continue;
        const double in = s->cell_in[cell], mean = (double)s->cell_sum[cell] / in;
        between += in * mean * mean;
        cells++;
        for (int k = 0; k < 2; k++) {
            const uint32_t other = k == 0 ? cell + 1 : cell + g->columns;
            const double beside = s->cell_in[other];
            if (s->cell_mark[other] == 0) continue;
            const double rise = (double)s->cell_sum[other] / beside - mean;
            rises += rise * rise;
            chance += 1 / in + 1 / beside;
            pairs++;
        }
    }
    const double within = squares / fmax(listed - cells, 1) + 1;
    for (uint32_t k = 0; k < listed; k++) {
        const double in = s->cell_in[s->near_cell[s->component[k]]];
        central += fabs(off_cell(s, s->component[k])) < 0.6745 * sqrt(within * fmax(1 - 1 / in, 0));
    }
    const warped_shape shape = {sqrt(fmax(rises - within * chance, 0) / fmax(pairs, 1)) / g->cell,
                                sqrt(fmax(between - cells * within, 0) / fmax(listed, 1)), sqrt(within),
                                central / fmax(listed, 1)};
    return shape;
}

/* Whether a body is one sheet that hardly bends. */
static bool is_warped(planes_local *s, const planes_growth *body, planes_growth *g) {
    if (!planes_grow_body(s, body, true, g) || !planes_growth_stands(s, g)) return false;
    if (g->structure <= planes_one_structure(g)) return false; /* it does not bend, and yet was no plane */
    const warped_shape shape = shape_of(s, g);
    const bool hidden = shape.uneven <= fmin(shape.noise, s->params.nearby_noise);
    return shape.central >= MIN_CENTRAL && shape.slope <= (hidden ? HIDDEN_SLOPE : MAX_SLOPE) &&
           planes_is_supported(s, g, WARPED_COSINE);
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
    warped.count = 0;
    for (uint32_t i = 0; i < s->bodies.count && !mote_stop(s->ctx); i++) {
        if (is_warped(s, &s->bodies.growths[i], &warped.growths[warped.count])) warped.count++;
    }
    for (uint32_t i = 0; i < warped.count && s->plane_count < PLANES_LOCAL_MAX; i++) {
        planes_growth *g = &warped.growths[i];
        uint32_t won = 0;
        if (!planes_grow_again(s, g) || is_taken(s, g)) continue;
        planes_claim_points(s, g, -1, &won);
        if (2 * won > g->count) planes_add_growth(s, g);
    }
}
