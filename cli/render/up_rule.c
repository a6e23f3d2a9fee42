/* What is up in a cloud, where no option says it.

   Surveys have heights along z. Models are made by programs for which y is up, and scanners and depth cameras have axes
   of their own. What stands, stands on a plane: a floor, the ground, the base of a statue. A slice across an axis, as
   thick as a plane is rough, cuts walls and bodies in lines, and has area only where a plane lies in it:

        |  .--.  |            slices across y
        | (    ) |      |                             area of a slice: occupied cells of a grid over it
        |  )  (  |      |
        | (____) |      |#########  base: this end is below

   The axis whose best slice has by far more area than those beside it is up. A statue or an animal touches its plane
   with feet alone: what lies in the slice at an end is then wide, though not filled. Up is away from there. */
#include "render/up_rule.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAX_CELLS      64 /* of the diagonal, in both directions of a slice */
#define MIN_CELLS      8
#define CELL_POINTS    9.0   /* points of a surface in a cell at least, so that a plane fills its cells */
#define LONELY         4u    /* points of a cell and the 26 around it; of a surface these have 50 and more */
#define SLICES         96    /* of the diagonal: how rough a plane may be, and how far from level */
#define BESIDE         4     /* slices away a plane has ended, and a body has not */
#define END_SHARE      1000u /* an axis ends where one in so many points lies beyond: strays do not move it */
#define FLAT           0.25  /* z's share of the largest side: what lies flat is seen from above */
#define LEVEL_AREA     0.03  /* of the diagonal's square, in one slice: a floor; what is less is by chance */
#define SURE_AREA      0.1   /* of z: no other evidence is asked for */
#define TIMES          2.0   /* so much more than z, y needs to be up, the only other custom */
#define TIMES_OF_X     4.0   /* and x, which nobody makes up on purpose */
#define OTHER_END      0.25  /* of the area of the best slice: a ceiling, or a floor, at the other end */
#define END_SLICES     0.1   /* of the axis: floors and ceilings themselves */
#define MORE_BELOW     2.0   /* times what is in the other half */
#define BASE           0.2   /* of the shadow: what stands is so wide at its lower end */
#define BEHIND_SHARE   0.1   /* of the lines of sight of one picture at most have something behind something */
#define BEHIND         0.2   /* of the extent along the line of sight: so far apart is behind */
#define PICTURE_SLOPE  1.6   /* half the width of a depth camera's picture at distance 1, at most */
#define PICTURE_POINTS 2000u /* with fewer, there is hardly anything behind anything */
#define NEAR_ORIGIN    3.0   /* diagonals: the frame of a camera begins nearby */

static int cells_of(const up_sample *points) {
    return (int)fmin(fmax(sqrt(points->count / CELL_POINTS), MIN_CELLS), MAX_CELLS);
}

/* Leaves out points around whose cell there is hardly another: a few of them would be the ends of an axis. */
static void drop_lonely(up_sample *points, double diagonal) {
    const int side = cells_of(points) + 3; /* a border of a cell on either side */
    const float per_cell = (float)(cells_of(points) / diagonal);
    uint32_t *counts = calloc((size_t)side * side * side, sizeof *counts), kept = 0;
    for (uint32_t p = 0; counts != NULL && p < points->count; p++) {
        size_t cell = 0;
        for (int k = 0; k < 3; k++) cell = cell * (size_t)side + (size_t)(points->at[k][p] * per_cell) + 1;
        counts[cell]++;
    }
    for (uint32_t p = 0; counts != NULL && p < points->count; p++) {
        size_t corner = 0;
        uint32_t around = 0;
        for (int k = 0; k < 3; k++) corner = corner * (size_t)side + (size_t)(points->at[k][p] * per_cell);
        for (int c = 0; c < 27; c++) {
            around += counts[corner + (size_t)(c / 9 * side * side + c / 3 % 3 * side + c % 3)];
        }
        if (around <= LONELY) continue;
        for (int k = 0; k < 3; k++) points->at[k][kept] = points->at[k][p];
        kept++;
    }
    if (counts != NULL) points->count = kept;
    free(counts);
}

/* ---- planes that things stand on */

/* Of an axis: how much more area its best slice has than those beside it, as a share of the square of the diagonal; and
   how wide it stands on either end, as a share of its shadow. */
typedef struct support {
    double area, lower, upper; /* of all slices, and of those of either half */
    double base[2];
} support;

typedef struct flat_point {
    float u, v;
} flat_point;

static int compare_flat(const void *a, const void *b) {
    const flat_point *x = a, *y = b;
    return x->u != y->u ? (x->u > y->u) - (x->u < y->u) : (x->v > y->v) - (x->v < y->v);
}

static double turn_of(const flat_point *a, const flat_point *b, const flat_point *c) {
    return ((double)b->u - a->u) * ((double)c->v - a->v) - ((double)b->v - a->v) * ((double)c->u - a->u);
}

/* The area of the convex hull of places, which are put in order (Andrew's chains). hull: [2 * count + 2] scratch */
static double hull_area(flat_point *places, uint32_t count, flat_point *hull) {
    uint32_t n = 0;
    double area = 0;
    if (count < 3) return 0;
    qsort(places, count, sizeof *places, compare_flat);
    for (int side = 0; side < 2; side++) {
        const uint32_t begin = n;
        for (uint32_t i = 0; i < count; i++) {
            const flat_point *p = &places[side == 0 ? i : count - 1 - i];
            while (n >= begin + 2 && turn_of(&hull[n - 2], &hull[n - 1], p) <= 0) n--;
            hull[n++] = *p;
        }
        n--;
    }
    for (uint32_t i = 2; i < n; i++) area += 0.5 * turn_of(&hull[0], &hull[i - 1], &hull[i]);
    return area;
}

/* The area across an axis of the points that are at most so far from a place along it. */
static double area_near(const up_sample *points, int axis, double place, double reach, flat_point *places,
                        flat_point *hull) {
    uint32_t count = 0;
    for (uint32_t p = 0; p < points->count; p++) {
        if (!(fabs(points->at[axis][p] - place) <= reach)) continue;
        places[count++] = (flat_point){points->at[(axis + 1) % 3][p], points->at[(axis + 2) % 3][p]};
    }
    return hull_area(places, count, hull);
}

static int compare_floats(const void *a, const void *b) {
    const float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

/* What lies within a slice of an end, beyond which there are few points. */
static void find_bases(const up_sample *points, double thickness, int axis, support *found) {
    const size_t count = points->count;
    float *sorted = malloc(count * sizeof *sorted);
    flat_point *places = malloc(count * sizeof *places), *hull = malloc((2 * count + 2) * sizeof *hull);
    if (sorted != NULL && places != NULL && hull != NULL) {
        memcpy(sorted, points->at[axis], count * sizeof *sorted);
        qsort(sorted, count, sizeof *sorted, compare_floats);
        const double ends[2] = {sorted[count / END_SHARE], sorted[count - 1 - count / END_SHARE]};
        const double shadow = area_near(points, axis, 0, INFINITY, places, hull);
        for (int end = 0; end < 2 && shadow > 0; end++) {
            found->base[end] = area_near(points, axis, ends[end], thickness, places, hull) / shadow;
        }
    }
    free(sorted);
    free(places);
    free(hull);
}

static support find_support(const up_sample *points, const double size[3], double diagonal, int axis) {
    const int i = (axis + 1) % 3, j = (axis + 2) % 3;
    const double cells = cells_of(points);
    const float per_cell = (float)(cells / diagonal), per_slice = (float)(SLICES / diagonal);
    const int slices = (int)(size[axis] * per_slice) + 2;
    const size_t plane = (MAX_CELLS + 1) * (MAX_CELLS + 1);
    uint8_t *filled = calloc((size_t)slices, plane); /* 1: cells that a slice or the one above it has */
    int areas[SLICES + 2];
    support found = {0, 0, 0, {0, 0}};
    if (filled == NULL) return found;
    for (uint32_t p = 0; p < points->count; p++) {
        const int slice = (int)(points->at[axis][p] * per_slice);
        const int u = (int)(points->at[i][p] * per_cell), v = (int)(points->at[j][p] * per_cell);
        const size_t cell = (size_t)(u * (MAX_CELLS + 1) + v);
        filled[(size_t)slice * plane + cell] = 1;
        if (slice > 0) filled[(size_t)(slice - 1) * plane + cell] = 1;
    }
    for (int k = 0; k < slices; k++) {
        areas[k] = 0;
        for (size_t c = 0; c < plane; c++) areas[k] += filled[(size_t)k * plane + c];
    }
    free(filled);
    for (int k = 0; k < slices; k++) {
        const int below = k >= BESIDE ? areas[k - BESIDE] : 0, above = k + BESIDE < slices ? areas[k + BESIDE] : 0;
        const double more = (areas[k] - (below > above ? below : above)) / (cells * cells);
        if (more > found.area) found.area = more;
        if (2 * k < slices && more > found.lower) found.lower = more;
        if (2 * k >= slices && more > found.upper) found.upper = more;
    }
    find_bases(points, diagonal / SLICES, axis, &found);
    return found;
}

/* ---- pictures of depth cameras */

/* Whether all lies side by side, seen along z: from 0 (perspective), or from far away. */
static bool is_one_sided(const up_sample *points, const mote_box *box, bool perspective) {
    float *near = malloc(2 * MAX_CELLS * MAX_CELLS * sizeof *near), *far = near + MAX_CELLS * MAX_CELLS;
    const int cells = (int)fmin(fmax(sqrt(points->count / (2 * CELL_POINTS)), MIN_CELLS), MAX_CELLS);
    double low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY};
    uint32_t behind = 0, filled = 0;
    for (uint32_t p = 0; p < points->count; p++) {
        for (int k = 0; k < 2; k++) {
            const double z = perspective ? points->at[2][p] + box->min[2] : 1;
            const double at = (points->at[k][p] + (perspective ? box->min[k] : 0)) / z;
            low[k] = fmin(low[k], at);
            high[k] = fmax(high[k], at);
        }
    }
    const double side = fmax(high[0] - low[0], high[1] - low[1]);
    const bool fits = !perspective || fmax(fmax(-low[0], high[0]), fmax(-low[1], high[1])) < PICTURE_SLOPE;
    for (int c = 0; near != NULL && c < cells * cells; c++) far[c] = -1;
    for (uint32_t p = 0; near != NULL && fits && side > 0 && p < points->count; p++) {
        int cell[2];
        for (int k = 0; k < 2; k++) {
            const double z = perspective ? points->at[2][p] + box->min[2] : 1;
            const double at = (points->at[k][p] + (perspective ? box->min[k] : 0)) / z;
            cell[k] = (int)fmin((at - low[k]) / side * cells, cells - 1);
        }
        const int c = cell[1] * cells + cell[0];
        const float z = points->at[2][p];
        if (far[c] < 0 || z < near[c]) near[c] = z;
        if (z > far[c]) far[c] = z;
    }
    for (int c = 0; near != NULL && c < cells * cells; c++) {
        if (far[c] < 0) continue;
        filled++;
        behind += far[c] - near[c] > BEHIND * (box->max[2] - box->min[2]);
    }
    free(near);
    return filled > 0 && behind < BEHIND_SHARE * filled;
}

/* One picture of a depth camera, in its axes; or, of a format that these cameras' programs write, put together of
   pictures that were all taken from one side. */
static bool is_camera_picture(const up_sample *points, const mote_box *box, bool by_format) {
    double size[3], diagonal2 = 0, away2 = 0;
    for (int k = 0; k < 3; k++) {
        size[k] = box->max[k] - box->min[k];
        diagonal2 += size[k] * size[k];
        const double away = fmax(fmax(box->min[k], -box->max[k]), 0);
        away2 += away * away;
    }
    if (points->count < PICTURE_POINTS || size[2] <= FLAT * fmax(size[0], size[1])) return false;
    if (away2 > NEAR_ORIGIN * NEAR_ORIGIN * diagonal2 || !(box->min[2] > 0)) return false;
    return is_one_sided(points, box, true) || (by_format && is_one_sided(points, box, false));
}

static up_found along(int axis, double sign, up_reason reason) { return (up_found){axis, sign, reason}; }

/* The end of an axis that is up, of a scene whose planes lie across it: a floor is at the lower end; where there is a
   ceiling, too, things stand on the floor, so that there is more in the lower half. */
static double end_of(const up_sample *points, double size, int axis, const support *of) {
    uint32_t below = 0, above = 0;
    if (of->lower < OTHER_END * of->area) return -1;
    if (of->upper < OTHER_END * of->area) return 1;
    for (uint32_t p = 0; p < points->count; p++) {
        const double place = points->at[axis][p] / size;
        below += place > END_SLICES && place < 0.5;
        above += place < 1 - END_SLICES && place > 0.5;
    }
    return above > MORE_BELOW * below ? -1 : 1;
}

/* Whether an axis has a base at an end, far wider than anything at the other end and at those of another axis. */
static bool stands_on(const support *of, int end, const support *other, double times) {
    const double others = fmax(of->base[1 - end], fmax(other->base[0], other->base[1]));
    return of->base[end] > BASE && of->base[end] > times * others;
}

static up_found find_standing(up_sample *points, const mote_box *box) {
    double size[3], diagonal2 = 0, largest = 0;
    support of[3];
    for (int k = 0; k < 3; k++) {
        size[k] = box->max[k] - box->min[k];
        diagonal2 += size[k] * size[k];
        largest = fmax(largest, size[k]);
    }
    if (!(diagonal2 > 0) || size[2] <= FLAT * largest) return along(2, 1, UP_CUSTOM);
    drop_lonely(points, sqrt(diagonal2));
    if (points->count < UP_MIN_POINTS) return along(2, 1, UP_CUSTOM);
    for (int k = 0; k < 3; k++) of[k] = find_support(points, size, sqrt(diagonal2), k);
    for (int k = 1; k >= 0; k--) {
        const double times = k == 1 ? TIMES : TIMES_OF_X, other = fmax(of[2].area, of[1 - k].area);
        if (size[k] <= FLAT * largest) continue; /* a wall, which is far more often seen than a landscape with y up */
        if (of[k].area > LEVEL_AREA && of[k].area > times * other)
            return along(k, end_of(points, size[k], k, &of[k]), UP_STANDING);
    }
    if (of[2].area > SURE_AREA && of[2].area > TIMES * of[1].area) return along(2, 1, UP_CUSTOM);
    for (int end = 0; end < 2; end++) {
        const double sign = end == 0 ? 1 : -1;
        if (stands_on(&of[1], end, &of[2], TIMES)) return along(1, sign, UP_STANDING);
        if (stands_on(&of[0], end, &of[2], TIMES_OF_X) && stands_on(&of[0], end, &of[1], TIMES_OF_X)) {
            return along(0, sign, UP_STANDING);
        }
    }
    return along(2, 1, UP_CUSTOM);
}

up_found up_rule_find(up_sample *points, const mote_box *box, bool is_of_pcd) {
    if (points->count < UP_MIN_POINTS) return along(2, 1, UP_CUSTOM);
    return is_camera_picture(points, box, is_of_pcd) ? along(1, -1, UP_CAMERA) : find_standing(points, box);
}
