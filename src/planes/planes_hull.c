/* Convex hulls in whole numbers (Andrew's monotone chain, 1979) and rectangles around them. */
#include <stdlib.h>

#include "planes/planes_extent.h"

static int compare_corners(const void *a, const void *b) {
    const planes_corner *x = a, *y = b;
    if (x->u != y->u) return x->u < y->u ? -1 : 1;
    return x->v < y->v ? -1 : x->v > y->v;
}

/* Above 0: c is left of the line from a to b. */
static int64_t turn(const planes_corner *a, const planes_corner *b, const planes_corner *c) {
    return ((int64_t)b->u - a->u) * ((int64_t)c->v - a->v) - ((int64_t)b->v - a->v) * ((int64_t)c->u - a->u);
}

/* The lower chain of sorted corners, in place; returns how many are left. */
static uint32_t lower_chain(planes_corner *corners, uint32_t count) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++) {
        while (kept >= 2 && turn(&corners[kept - 2], &corners[kept - 1], &corners[i]) <= 0) kept--;
        const planes_corner kept_corner = corners[kept];
        corners[kept++] = corners[i];
        if (kept - 1 != i) corners[i] = kept_corner; /* what falls out is needed for the upper chain */
    }
    return kept;
}

uint32_t planes_hull_of(planes_corner *corners, uint32_t count) {
    qsort(corners, count, sizeof *corners, compare_corners);
    uint32_t unique = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (unique == 0 || compare_corners(&corners[i], &corners[unique - 1]) != 0) corners[unique++] = corners[i];
    }
    if (unique < 3) return unique;
    const uint32_t low = lower_chain(corners, unique);
    /* Back from the last corner, which ends the lower chain, over the rest to the first. */
    planes_corner *rest = corners + low - 1;
    const uint32_t rest_count = unique - low + 1;
    qsort(rest + 1, rest_count - 1, sizeof *rest, compare_corners);
    for (uint32_t i = 1, j = rest_count - 1; i < j; i++, j--) {
        const planes_corner kept = rest[i];
        rest[i] = rest[j];
        rest[j] = kept;
    }
    uint32_t high = lower_chain(rest, rest_count);
    while (high >= 2 && turn(&rest[high - 2], &rest[high - 1], &corners[0]) <= 0) high--;
    return low - 1 + high;
}

double planes_hull_area(const planes_corner *hull, uint32_t count) {
    double twice = 0;
    for (uint32_t i = 2; i < count; i++) twice += (double)turn(&hull[0], &hull[i - 1], &hull[i]);
    return 0.5 * twice;
}

/* The smallest rectangle has a side along one of the hull's. */
void planes_hull_rectangle(const planes_corner *hull, uint32_t count, double rectangle[4][2]) {
    double least = INFINITY;
    memset(rectangle, 0, 4 * sizeof *rectangle);
    for (uint32_t i = 0; i < count; i++) {
        const planes_corner *a = &hull[i], *b = &hull[(i + 1) % count];
        double du = (double)b->u - a->u, dv = (double)b->v - a->v;
        const double length = sqrt(du * du + dv * dv);
        du = length > 0 ? du / length : 1;
        dv = length > 0 ? dv / length : 0;
        double low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY};
        for (uint32_t k = 0; k < count; k++) {
            const double at[2] = {du * hull[k].u + dv * hull[k].v, du * hull[k].v - dv * hull[k].u};
            for (int axis = 0; axis < 2; axis++) {
                low[axis] = fmin(low[axis], at[axis]);
                high[axis] = fmax(high[axis], at[axis]);
            }
        }
        const double area = (high[0] - low[0]) * (high[1] - low[1]);
        if (!(area < least)) continue;
        least = area;
        for (int k = 0; k < 4; k++) {
            const double p = k == 1 || k == 2 ? high[0] : low[0], q = k >= 2 ? high[1] : low[1];
            rectangle[k][0] = du * p - dv * q;
            rectangle[k][1] = dv * p + du * q;
        }
    }
}
