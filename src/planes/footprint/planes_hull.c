/* Convex hulls in whole numbers (quickhull: Eddy 1977; Bykat 1978) and rectangles around them. */
#include "planes/footprint/planes_extent.h"

#define SAMPLE       16384u /* points of a cloud that say what is inside */
#define STEP         8u     /* one of so many, at least */
#define MANY_CORNERS 8192u  /* are shared out to threads: one takes 0.1 ms for them */

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

/* ---- those of a cloud's planes */

void planes_hulls_free(mote_context *ctx, planes_hulls *h) {
    mote_free(ctx, h->corners);
    mote_free(ctx, h->first);
    mote_free(ctx, h->size);
}

static mote_status make_hulls(mote_context *ctx, const planes_corner *corners, uint64_t count, uint32_t planes,
                              planes_hulls *h) {
    h->corners = mote_alloc(ctx, count * sizeof *h->corners, "planes outlines");
    h->first = mote_alloc_zero(ctx, ((uint64_t)planes + 1) * sizeof *h->first, "planes outlines");
    h->size = mote_alloc(ctx, planes * sizeof *h->size, "planes outlines");
    if (h->corners == NULL || h->first == NULL || h->size == NULL) return MOTE_ERROR_MEMORY;
    for (uint64_t i = 0; i < count; i++) h->first[corners[i].plane]++;
    for (uint64_t i = 0, all = 0; i <= planes; i++) {
        all += h->first[i];
        h->first[i] = all;
    }
    for (uint64_t i = count; i-- > 0;) h->corners[--h->first[corners[i].plane]] = corners[i];
#pragma omp parallel for schedule(dynamic) num_threads(ctx->threads) if (planes > 1 && count > MANY_CORNERS)
    for (int64_t i = 0; i < (int64_t)planes; i++) {
        h->size[i] = planes_hull_of(h->corners + h->first[i], (uint32_t)(h->first[i + 1] - h->first[i]));
    }
    return MOTE_OK;
}

/* The hulls of the points that how asks for. */
static mote_status find_hulls(planes_run *run, const planes_outlining *how, planes_hulls *h) {
    planes_corner *corners = NULL;
    uint64_t count = 0;
    mote_status status = run->ops->outline(run->points, how, &corners, &count);
    if (status == MOTE_OK) status = make_hulls(run->ctx, corners, count, how->planes, h);
    mote_free(run->ctx, corners);
    return status;
}

/* What is inside the hull of some points is no corner of that of all. Of many corners some say most of it. */
static planes_polygon polygon_of(const planes_corner *hull, uint32_t count) {
    planes_polygon p;
    memset(&p, 0, sizeof p);
    if (count < 3) return p;
    p.sides = count < PLANES_SIDES ? count : PLANES_SIDES;
    for (uint32_t k = 0; k < p.sides; k++) {
        const planes_corner *from = &hull[(uint64_t)k * count / p.sides];
        const planes_corner *to = &hull[(uint64_t)(k + 1) * count / p.sides % count];
        p.a[k] = (double)from->v - (double)to->v;
        p.b[k] = (double)to->u - (double)from->u;
        p.c[k] = p.a[k] * (double)from->u + p.b[k] * (double)from->v;
    }
    return p;
}

/* First of some points, which say of most others that they are inside. */
mote_status planes_find_hulls(planes_run *run, const planes_axes *axes, uint32_t planes, planes_hulls *h) {
    mote_context *ctx = run->ctx;
    const uint32_t step = run->points->count / SAMPLE;
    planes_polygon *polygons = mote_alloc(ctx, planes * sizeof *polygons, "planes outlines");
    planes_outlining how = {axes, NULL, planes, step > STEP ? step : STEP};
    planes_hulls some;
    memset(&some, 0, sizeof some);
    memset(h, 0, sizeof *h);
    mote_status status = polygons != NULL ? find_hulls(run, &how, &some) : MOTE_ERROR_MEMORY;
    for (uint32_t i = 0; i < planes && status == MOTE_OK; i++) {
        polygons[i] = polygon_of(some.corners + some.first[i], some.size[i]);
    }
    how.polygons = polygons;
    how.step = 1;
    if (status == MOTE_OK) status = find_hulls(run, &how, h);
    planes_hulls_free(ctx, &some);
    mote_free(ctx, polygons);
    return status;
}
