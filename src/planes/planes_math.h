/* What decides about planes, point by point: one copy for C and CUDA. Whole numbers, or floats with each rounding
   spelled out, so that every backend gives the same bytes.

   Positions are whole steps of a lattice around the centre of the cloud, at most 2^23 from it: as floats they are
   exact, in sums they are integers. */
#ifndef MOTE_PLANES_MATH_H
#define MOTE_PLANES_MATH_H

#include <math.h>
#include <string.h>

#include "math/host_device.h"
#include "math/morton.h"

#define PLANES_REACH      8388608.0  /* 2^23: the farthest step from the centre, on an axis */
#define PLANES_NON_FINITE UINT64_MAX /* the code of points that are not in the lattice */

/* ---- positions */

/* world = centre + q · step; step is a power of two. */
typedef struct planes_frame {
    double centre[3];
    double step, inverse; /* inverse · step is 1 */
} planes_frame;

/* The step nearest to a world coordinate on an axis; false if there is none, or too far out. */
MOTE_HD bool planes_step(const planes_frame *frame, int axis, double value, float *step) {
    const double q = rint((value - frame->centre[axis]) * frame->inverse);
    *step = (float)q;
    return fabs(q) <= PLANES_REACH; /* false for NaN */
}

/* The Morton code of steps: their upper 21 bits of 25. Cells are shifted by numbers that mean nothing, for planes of
   people's making stand in the middle and at the ends of boxes, where sides of large cells would cut their noise in
   two. */
MOTE_HD uint64_t planes_code(float x, float y, float z) {
    const uint32_t u = (uint32_t)((int32_t)x + 8388608 + 6408337), v = (uint32_t)((int32_t)y + 8388608 + 3960569);
    const uint32_t w = (uint32_t)((int32_t)z + 8388608 + 10368907);
    return mote_morton_encode(u >> 4, v >> 4, w >> 4);
}

/* ---- normals, packed: 10 bits an axis, of a vector of length 511; 0: none */

#define PLANES_NORMAL_ONE 511.0f

MOTE_HD uint32_t planes_pack_normal(float x, float y, float z) {
    const float length2 = fmaf(z, z, fmaf(y, y, x * x));
    if (!(length2 > 1e-30f && length2 < 1e30f)) return 0;
    const float by = PLANES_NORMAL_ONE / sqrtf(length2);
    const int32_t a = (int32_t)rintf(x * by), b = (int32_t)rintf(y * by), c = (int32_t)rintf(z * by);
    return (uint32_t)(a & 1023) | (uint32_t)(b & 1023) << 10 | (uint32_t)(c & 1023) << 20;
}

MOTE_HD int32_t planes_normal_part(uint32_t normal, int axis) {
    const uint32_t bits = normal >> (10 * axis) & 1023;
    return (int32_t)(bits ^ 512) - 512;
}

/* 511² times the cosine. */
MOTE_HD int32_t planes_normals_dot(uint32_t a, uint32_t b) {
    return planes_normal_part(a, 0) * planes_normal_part(b, 0) + planes_normal_part(a, 1) * planes_normal_part(b, 1) +
           planes_normal_part(a, 2) * planes_normal_part(b, 2);
}

/* Whether a point's normal allows a plane or a direction; cone: least 511² · |cosine|, 0: all are allowed. */
MOTE_HD bool planes_normal_allows(uint32_t point, uint32_t direction, int32_t cone) {
    if (cone == 0 || point == 0) return true;
    const int32_t dot = planes_normals_dot(point, direction);
    return (dot < 0 ? -dot : dot) >= cone;
}

/* ---- votes */

#define PLANES_MAGIC 8388608.0f /* 2^23: added, it leaves the nearest whole number, ties to even, in the low bits */

/* The bin of rho. a b c: the direction, in bins per step; middle: the bin of rho 0, such that the result is in
   0..2^22. As it is in a float: below PLANES_MAGIC_BITS. */
#define PLANES_MAGIC_BITS 0x4B000000u
MOTE_HD uint32_t planes_bin_bits(float x, float y, float z, float a, float b, float c, float middle) {
    const float rho = fmaf(c, z, fmaf(b, y, fmaf(a, x, middle))) + PLANES_MAGIC;
    uint32_t bits;
    memcpy(&bits, &rho, sizeof bits);
    return bits;
}

MOTE_HD uint32_t planes_bin(float x, float y, float z, float a, float b, float c, float middle) {
    return planes_bin_bits(x, y, z, a, b, c, middle) & 0x7FFFFF;
}

/* ---- points and planes */

/* Middle and half size of the box of some points, in steps. */
typedef struct planes_box {
    float middle[3], half[3];
} planes_box;

/* How far a plane reaches: a rectangle in it, along two perpendicular axes. */
typedef struct planes_reach {
    float u[3], v[3];
    float low[2], high[2]; /* steps along u and v */
    uint32_t bounded;      /* 0: it has no end */
} planes_reach;

/* a x + b y + c z = d in steps; a b c of unit length. */
typedef struct planes_plane {
    float a, b, c, d;
    float tolerance; /* steps */
    float guard;     /* points so near do not vote any more; tolerance or more */
    uint32_t normal; /* packed */
    int32_t cone;    /* which normals its points may have; see planes_normal_allows */
    planes_reach reach;
} planes_plane;

MOTE_HD float planes_distance(const planes_plane *plane, float x, float y, float z) {
    return fmaf(plane->c, z, fmaf(plane->b, y, fmaf(plane->a, x, -plane->d)));
}

MOTE_HD float planes_along(const float axis[3], float x, float y, float z) {
    return fmaf(axis[2], z, fmaf(axis[1], y, axis[0] * x));
}

/* Whether the place in the plane that a point is above or below is within its reach. */
MOTE_HD bool planes_reaches(const planes_plane *plane, float x, float y, float z) {
    const planes_reach *reach = &plane->reach;
    if (reach->bounded == 0) return true;
    const float u = planes_along(reach->u, x, y, z), v = planes_along(reach->v, x, y, z);
    return u >= reach->low[0] && u <= reach->high[0] && v >= reach->low[1] && v <= reach->high[1];
}

#define PLANES_BOX_SLACK 8.0f /* steps: more than floats lose in a distance, or in a place along a plane */

/* How far a box reaches to either side of its middle along an axis. */
MOTE_HD float planes_box_along(const float half[3], float x, float y, float z) {
    return (fabsf(x) * half[0] + fabsf(y) * half[1]) + fabsf(z) * half[2];
}

/* Whether points of a box may be the plane's, or so many tolerances from it, within its reach: no point outside is. */
MOTE_HD bool planes_box_is_near(const planes_plane *plane, const planes_box *box, float tolerances) {
    const float *middle = box->middle, *half = box->half;
    const float distance = fabsf(planes_distance(plane, middle[0], middle[1], middle[2]));
    const float across = planes_box_along(half, plane->a, plane->b, plane->c);
    const float max = tolerances * plane->tolerance > plane->guard ? tolerances * plane->tolerance : plane->guard;
    const planes_reach *reach = &plane->reach;
    if (!(distance <= across + max + PLANES_BOX_SLACK)) return false;
    if (reach->bounded == 0) return true;
    const float u = planes_along(reach->u, middle[0], middle[1], middle[2]);
    const float v = planes_along(reach->v, middle[0], middle[1], middle[2]);
    const float half_u = planes_box_along(half, reach->u[0], reach->u[1], reach->u[2]) + PLANES_BOX_SLACK;
    const float half_v = planes_box_along(half, reach->v[0], reach->v[1], reach->v[2]) + PLANES_BOX_SLACK;
    return u >= reach->low[0] - half_u && u <= reach->high[0] + half_u && v >= reach->low[1] - half_v &&
           v <= reach->high[1] + half_v;
}

/* Where a point is, of one plane: bands as wide as the slab of the plane's own points, on either side. */
typedef enum planes_band {
    PLANES_FAR,
    PLANES_BELOW, /* distance in [-3 t, -t) */
    PLANES_IN,    /* [-t, t] */
    PLANES_ABOVE  /* (t, 3 t] */
} planes_band;

MOTE_HD planes_band planes_band_of(const planes_plane *plane, float distance) {
    const float size = fabsf(distance);
    if (size <= plane->tolerance) return PLANES_IN;
    if (!(size <= 3.0f * plane->tolerance)) return PLANES_FAR;
    return distance < 0 ? PLANES_BELOW : PLANES_ABOVE;
}

/* Whether a point at that distance of a plane is within it, and is reached and allowed by the plane. */
MOTE_HD bool planes_holds(const planes_plane *plane, float distance, float within, float x, float y, float z,
                          uint32_t normal) {
    return fabsf(distance) <= within && planes_normal_allows(normal, plane->normal, plane->cone) &&
           planes_reaches(plane, x, y, z);
}

/* The plane of a point: of those that hold it within their tolerance the nearest, of equally near ones the first; -1:
   none. */
typedef struct planes_nearest {
    int32_t best, first; /* first: the first of those that hold it */
    float distance;      /* to the best */
} planes_nearest;

/* list: [count] planes that it may be of, ascending */
MOTE_HD planes_nearest planes_nearest_of(const planes_plane *planes, const uint16_t *list, uint32_t count, float x,
                                         float y, float z, uint32_t normal) {
    planes_nearest found = {-1, -1, 0};
    for (uint32_t k = 0; k < count; k++) {
        const int32_t number = list[k];
        const planes_plane plane = planes[number];
        const float distance = planes_distance(&plane, x, y, z);
        if (!planes_holds(&plane, distance, plane.tolerance, x, y, z, normal)) continue;
        if (found.best < 0) found.first = number;
        if (found.best >= 0 && !(fabsf(distance) < fabsf(found.distance))) continue;
        found.best = number;
        found.distance = distance;
    }
    return found;
}

/* ---- sums over the points of a plane */

#define PLANES_PRODUCTS 6 /* xx xy xz yy yz zz */

/* Exact, so in any order: a sum of products is low + high · 2^32, in whichever way it is shared between the two. */
typedef struct planes_sums {
    uint64_t count;
    uint64_t own;         /* of them that no plane before it is within its tolerance of */
    uint64_t inner;       /* of its own within half the tolerance */
    uint64_t in_bands[2]; /* points of no plane in the bands below and above */
    int64_t first[3];
    uint64_t low[PLANES_PRODUCTS];
    int64_t high[PLANES_PRODUCTS];
} planes_sums;

MOTE_HD void planes_add_product(planes_sums *sums, int k, int64_t product) {
    sums->low[k] += (uint64_t)product & 0xFFFFFFFFu;
    sums->high[k] += product >> 32;
}

/* A point of the plane at that distance; own: see planes_sums. */
MOTE_HD void planes_add(planes_sums *sums, const planes_plane *plane, float distance, bool own, float x, float y,
                        float z) {
    const int64_t qx = (int64_t)x, qy = (int64_t)y, qz = (int64_t)z;
    sums->count++;
    sums->own += own;
    sums->inner += own && fabsf(distance) <= 0.5f * plane->tolerance;
    sums->first[0] += qx;
    sums->first[1] += qy;
    sums->first[2] += qz;
    planes_add_product(sums, 0, qx * qx);
    planes_add_product(sums, 1, qx * qy);
    planes_add_product(sums, 2, qx * qz);
    planes_add_product(sums, 3, qy * qy);
    planes_add_product(sums, 4, qy * qz);
    planes_add_product(sums, 5, qz * qz);
}

/* ---- places in a plane */

/* Two axes of unit length in a plane, and how many steps a cell of its grid is wide: 2 or more. */
typedef struct planes_axes {
    float u[3], v[3];
    float by; /* 1 over the steps of a cell */
} planes_axes;

#define PLANES_CELL_ZERO 8388608 /* the cell of the centre, on either axis */

/* The cell of a plane's grid along its axis u or v, counted from far out: 24 bits. */
MOTE_HD uint32_t planes_cell_along(const float axis[3], float by, float x, float y, float z) {
    const float at = planes_along(axis, x, y, z) * by;
    const int32_t towards_zero = (int32_t)at; /* and down: floorf, of which compilers make no vectors */
    return (uint32_t)(towards_zero - ((float)towards_zero > at) + PLANES_CELL_ZERO);
}

MOTE_HD void planes_cell(const planes_axes *axes, float x, float y, float z, uint32_t *u, uint32_t *v) {
    *u = planes_cell_along(axes->u, axes->by, x, y, z);
    *v = planes_cell_along(axes->v, axes->by, x, y, z);
}

/* Which of the four quarters of its cell a point is in along an axis. */
MOTE_HD uint32_t planes_quarter_along(const float axis[3], float by, float x, float y, float z) {
    return planes_cell_along(axis, 4 * by, x, y, z) & 3;
}

/* The bit of the place in its cell, of four by four. */
MOTE_HD uint32_t planes_quarter_bit(const planes_axes *axes, float x, float y, float z) {
    const uint32_t u = planes_quarter_along(axes->u, axes->by, x, y, z);
    return 1u << (4 * planes_quarter_along(axes->v, axes->by, x, y, z) + u);
}

/* A point of a plane, in whole steps along its axes. */
typedef struct planes_corner {
    uint32_t plane;
    int32_t u, v;
} planes_corner;

MOTE_HD planes_corner planes_corner_of(const planes_axes *axes, uint32_t plane, float x, float y, float z) {
    planes_corner corner;
    corner.plane = plane;
    corner.u = (int32_t)rintf(planes_along(axes->u, x, y, z));
    corner.v = (int32_t)rintf(planes_along(axes->v, x, y, z));
    return corner;
}

#define PLANES_SIDES 32u

/* Sides of a convex polygon of corners: a place is inside if it is left of all, u · a + v · b > c, exact in doubles.
   Without sides everything is outside. */
typedef struct planes_polygon {
    uint32_t sides;
    double a[PLANES_SIDES], b[PLANES_SIDES], c[PLANES_SIDES];
} planes_polygon;

#endif
