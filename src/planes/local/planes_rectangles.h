/* A mixture of rectangles and strays, fitted by expectation and maximization: shared by planes_rectangles.c, whose head
   says what it is for, and planes_series.c. */
#ifndef PLANES_RECTANGLES_H
#define PLANES_RECTANGLES_H

#include "planes/local/planes_composites.h"

#define RECTANGLES_BLURRED    1.0 /* noises: the blur of ends, where noise is in all directions */
#define PLANES_MAX_RECTANGLES 128u

typedef struct bounded_plane {
    double at[3], u[3], v[3], half[2]; /* the middle, from the body's; axes along its sides; half their lengths */
    double share;                      /* of the body's points */
    uint32_t family;
} bounded_plane;

/* How the likelihood rises as an end moves outward: the sum over parts, and that of the squares. */
typedef struct end_slopes {
    double sum, squares;
} end_slopes;

typedef struct rectangle_mixture {
    uint32_t count, families;
    bounded_plane rectangles[PLANES_MAX_RECTANGLES];
    planes_moments moments[PLANES_MAX_RECTANGLES]; /* of the parts of points that are each rectangle's */
    end_slopes ends[PLANES_MAX_RECTANGLES][2][2];  /* of its sides: the low end, the high one */
    double normals[PLANES_MAX_RECTANGLES][3];
    int32_t upright_on[PLANES_MAX_RECTANGLES]; /* the family on whose planes those of one stand upright; -1: none */
    double noise, blur;                        /* across a rectangle; of its ends, in noises */
    double rest, volume;                       /* the share of strays, and where they are */
    double nats;                               /* that the points have */
} rectangle_mixture;

/* The density of a rectangle's share of the points. */
double rectangles_density(const rectangle_mixture *m, const bounded_plane *r, const double p[3]);
/* Shares each point out among the rectangles and the strays. */
void rectangles_share(const composite_columns *points, rectangle_mixture *m);
/* The directions of the families from first on; returns how far the one that turns the most does, in radians. */
double rectangles_fit_directions(rectangle_mixture *m, uint32_t first);
/* Adds the covariance of parts, times how many they are. */
void rectangles_add_scatter(const planes_moments *m, double scatter[PLANES_PRODUCTS]);
/* The direction of the least scatter at a right angle to another one; false: there is none. */
bool rectangles_direction_across(const double scatter[PLANES_PRODUCTS], const double up[3], double n[3]);
/* Fits a rectangle by how its parts vary, whatever it was. all: points */
void rectangles_fit_one(rectangle_mixture *m, uint32_t k, double all);
/* Moves a rectangle, and its ends to where they are likelier. */
void rectangles_move_one(rectangle_mixture *m, uint32_t k, double all);
/* Shares points out and fits rectangles in turns, until no direction changes; thinner: their noise only falls. floor:
   no noise is less */
void rectangles_settle(const composite_columns *points, uint32_t turns, bool thinner, double floor,
                       rectangle_mixture *m);
/* The box of the points, for strays are anywhere in it; n: one of its axes. */
double rectangles_volume(const composite_columns *points, const double n[3]);

#endif
