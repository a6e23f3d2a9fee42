/* What the files of growth share: planes_component.c, planes_accept.c and planes_growth.c. */
#ifndef PLANES_GROWTH_H
#define PLANES_GROWTH_H

#include <math.h>

#include "planes/local/planes_local.h"

#define GROWTH_BESIDE        9.0  /* noises: how far from the plane points are beside it: as many volumes as in it */
#define GROWTH_POINTS_A_CELL 8.0  /* points of a cell, about */
#define GROWTH_ENOUGH_CELLS  8.0  /* cells of a component of few points, whose cells are made smaller for it */
#define GROWTH_MIN_CELL      2.0  /* points of a cell of the component, at least */
#define GROWTH_MIN_CONTRAST  1.6  /* points to strays of a cell, at least */
#define GROWTH_MIN_COMPONENT 8.0  /* points of a component, at least */
#define GROWTH_MAX_GOING_ON  0.1  /* share of the rim of a centred plane beside which a surface goes on to one side */
#define GROWTH_MAX_NOISE     1.2  /* measured noise, to the largest that is allowed */
#define GROWTH_MIN_CENTRAL   0.44 /* share of the points within 0.67 noises: half of normal ones */
#define GROWTH_TOLD_NOISE    1.5  /* floors: below, points say nothing of how they lie about the plane */
#define GROWTH_MAX_LAYERS    1.0  /* points of other layers, to the plane's: layers have 1.05 to 2.4, walls 0 to 0.7 */
#define GROWTH_MAX_LIKENESS  0.3  /* of stripes 0.1 to 0.3, doors 0.5, half a wave 0.5, waves 0.7 */
#define GROWTH_MAX_STRUCTURE 0.45 /* share of the variance between cells, of what may be a plane in any pass */
#define GROWTH_RIM_SHARE     0.5  /* of the points of a cell that are no strays, one has where a surface goes on */
#define GROWTH_RIM_NOISES    1.0  /* the mean of its points is off the plane, at least */

/* Whether planes may have so few points that they have small cells. */
static inline bool growth_has_few(const planes_local *s) {
    return s->params.min_points < GROWTH_ENOUGH_CELLS * GROWTH_POINTS_A_CELL;
}

/* Whether the noise is that of the representation. */
static inline bool growth_is_exact(const planes_local *s, const planes_growth *g) {
    return g->noise <= GROWTH_TOLD_NOISE * s->params.floor;
}

/* The cell of the grid that the i-th near point is in, whatever they were counted with; UINT32_MAX: it is outside. */
static inline uint32_t growth_cell_of(const planes_local *s, const planes_growth *g, uint32_t i) {
    const double column = floor(((double)s->near_u[i] - g->low_u) / g->cell);
    const double row = floor(((double)s->near_v[i] - g->low_v) / g->cell);
    if (!(column >= 0 && column < g->columns && row >= 0 && row < g->rows)) return UINT32_MAX;
    return (uint32_t)row * g->columns + (uint32_t)column;
}

/* Whether a cell, neither of the first row nor of the last, is beside the component. */
static inline bool growth_is_beside(const planes_local *s, const planes_growth *g, uint32_t cell) {
    const uint8_t *mark = s->cell_mark;
    return mark[cell] == 0 &&
           (mark[cell - 1] | mark[cell + 1] | mark[cell - g->columns] | mark[cell + g->columns]) != 0;
}

/* ---- planes_quadratic.c */

#define PLANES_QUADRATIC 6 /* terms: 1, u, v, u u, u v, v v */
#define PLANES_TERMS     9 /* of any surface, at most */

/* Sums over points at u, v along a plane, for a quadratic surface, or one of other terms; zeros at first. Terms: about
   as large as 1 */
typedef struct planes_quadratic {
    double products[PLANES_TERMS][PLANES_TERMS], with_distance[PLANES_TERMS], squares;
} planes_quadratic;

void planes_quadratic_add(planes_quadratic *sums, double u, double v, double distance, double weight);
/* The same for a surface of PLANES_TERMS terms, whose values at the point are given. */
void planes_terms_add(planes_quadratic *sums, const double terms[PLANES_TERMS], double distance, double weight);
/* The first terms of the surface, 3 for a plane; returns the squares that it leaves. The sums go. */
double planes_quadratic_solve(planes_quadratic *sums, int terms, double *solved);
/* The share of the variance that the quadratic terms explain, of what a plane does not. The sums go. */
double planes_quadratic_share(planes_quadratic *sums);

/* ---- planes_component.c */

/* Takes the points near the plane, lays them out in cells, and marks the component with the most points, of those that
   begin within radius of the middle. False: there is none. */
bool planes_find_component(planes_local *search, planes_growth *growth, double radius);
/* Least squares of the component's points; strays are taken out of the noise. False: they are too few, or no plane. */
bool planes_fit_component(planes_local *search, planes_growth *growth);
/* How the component's points lie about the plane: what decides whether it is one. False: they are too few. */
bool planes_describe_component(planes_local *search, planes_growth *growth);
/* Lists the component's points among those that are near; returns how many. */
uint32_t planes_list_component(planes_local *search, const planes_growth *growth);
/* Sums up the distances of each cell. */
void planes_sum_distances(planes_local *search, const planes_growth *growth);
/* The share of the cells beside the component that have points of a surface that goes on to one side: a piece of
   something curved. The distances of each cell have been summed up. */
double planes_going_on(const planes_local *search, const planes_growth *growth);
/* The share of the rim of the component in the scratch beside which a surface bends away: a piece of something curved
   lies within the noise of the plane for some way, and goes on where the plane ends, to one side; other planes leave at
   an angle. The sums of cells go.

        a piece of a curve                 a side of a roof

        ____________                            /\
      /              \    the rim: points      /  \       the rim: at once far from the plane
     /                \   a little off        /    \ */
double planes_bending_rim(planes_local *search, const planes_growth *growth);
/* The share of the variance that lies between cells, beyond what chance gives. squares: of the count distances, whose
   sums by cells are in the scratch. */
double planes_structure_of(const planes_local *search, double squares, double count);

/* ---- planes_accept.c */

/* Whether the points are on a curve: a scanner's line is on a plane, too, but fills none. Refused then. */
bool planes_is_curve(planes_local *search, planes_growth *growth);
/* Points that are beyond reach of a plane, but no farther away than that, in its cells and beside them, to the plane's:
   they may be of other layers of the representation. What is in the scratch goes. */
double planes_share_of_layers(planes_local *search, const planes_growth *growth, double reach, double away);
/* Whether a plane without noise is there because coordinates are whole steps: a layer of several. Refused then. */
bool planes_is_of_representation(planes_local *search, planes_growth *growth);

/* How flat points are: the least of the variances along their three axes, to the middle one. 1: not at all. */
double planes_thickness(const planes_moments *moments, const planes_local_fit *fit);

#endif
