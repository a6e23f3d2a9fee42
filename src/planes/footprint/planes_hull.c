/* Convex hulls in whole numbers (quickhull: Eddy 1977; Bykat 1978) and rectangles around them. */
#include "planes/footprint/planes_extent.h"

static bool is_before(const planes_corner *a, const planes_corner *b) {
    return a->u != b->u ? a->u < b->u : a->v < b->v;
}

static void swap(planes_corner *a, planes_corner *b) {
    const planes_corner kept = *a;
    *a = *b;
    *b = kept;
}

/* Above 0 where c is left of the line from a to b. */
static int64_t turn(const planes_corner *a, const planes_corner *b, const planes_corner *c) {
    return ((int64_t)b->u - a->u) * ((int64_t)c->v - a->v) - ((int64_t)b->v - a->v) * ((int64_t)c->u - a->u);
}

/* Sorts corners by a line from a over b to c: brings corners right of a to b to the front, low of them, and those right
   of b to c to the back, from high on. */
static void split(planes_corner *corners, uint32_t count, const planes_corner line[3], uint32_t *low, uint32_t *high) {
    *low = 0;
    *high = count;
    for (uint32_t i = 0; i < *high;) {
        if (turn(&line[0], &line[1], &corners[i]) < 0) {
            swap(&corners[(*low)++], &corners[i++]);
        } else if (turn(&line[1], &line[2], &corners[i]) < 0) {
            swap(&corners[--*high], &corners[i]);
        } else {
            i++;
        }
    }
}

/* The farthest from the line of a and b; of several an end of their own line. All are right of it. */
static planes_corner farthest(const planes_corner *corners, uint32_t count, const planes_corner *a,
                              const planes_corner *b) {
    uint32_t best = 0;
    int64_t max = -1;
    for (uint32_t i = 0; i < count; i++) {
        const int64_t away = -turn(a, b, &corners[i]);
        if (away < max || (away == max && !is_before(&corners[i], &corners[best]))) continue;
        max = away;
        best = i;
    }
    return corners[best];
}

static uint32_t chain(planes_corner *corners, uint32_t count, const planes_corner *a, const planes_corner *b);

/* The hull's corners right of a line from a over b to c, with b between them; b is one of corners. They come first in
   corners; returns how many they are. */
static uint32_t chain_over(planes_corner *corners, uint32_t count, const planes_corner line[3]) {
    uint32_t low, high;
    split(corners, count, line, &low, &high);
    const uint32_t found = chain(corners, low, &line[0], &line[1]), rest = count - high;
    memmove(corners + found + 1, corners + high, rest * sizeof *corners);
    corners[found] = line[1];
    return found + 1 + chain(corners + found + 1, rest, &line[1], &line[2]);
}

/* Makes the hull right of a line from a to b, where all corners are. Its triangles shrink: there are few in each other.
 */
static uint32_t chain(planes_corner *corners, uint32_t count, const planes_corner *a, const planes_corner *b) {
    if (count == 0) return 0;
    const planes_corner line[3] = {*a, farthest(corners, count, a, b), *b};
    return chain_over(corners, count, line);
}

uint32_t planes_hull_of(planes_corner *corners, uint32_t count) {
    uint32_t first = 0, last = 0;
    for (uint32_t i = 1; i < count; i++) {
        if (is_before(&corners[i], &corners[first])) first = i;
        if (is_before(&corners[last], &corners[i])) last = i;
    }
    if (count == 0 || !is_before(&corners[first], &corners[last])) return count > 0 ? 1 : 0;
    const planes_corner line[3] = {corners[first], corners[last], corners[first]};
    swap(&corners[0], &corners[first]);
    return 1 + chain_over(corners + 1, count - 1, line);
}

double planes_hull_area(const planes_corner *hull, uint32_t count) {
    double twice = 0;
    for (uint32_t i = 2; i < count; i++) twice += (double)turn(&hull[0], &hull[i - 1], &hull[i]);
    return 0.5 * twice;
}

/* The smallest rectangle has a side along one of the hull's. */
void planes_hull_rectangle(const planes_corner *hull, uint32_t count, double rectangle[4][2]) {
    double min = INFINITY;
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
                low[axis] = at[axis] < low[axis] ? at[axis] : low[axis];
                high[axis] = at[axis] > high[axis] ? at[axis] : high[axis];
            }
        }
        const double area = (high[0] - low[0]) * (high[1] - low[1]);
        if (!(area < min)) continue;
        min = area;
        for (int k = 0; k < 4; k++) {
            const double p = k == 1 || k == 2 ? high[0] : low[0], q = k >= 2 ? high[1] : low[1];
            rectangle[k][0] = du * p - dv * q;
            rectangle[k][1] = dv * p + du * q;
        }
    }
}
