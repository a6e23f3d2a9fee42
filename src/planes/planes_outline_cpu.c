/* Candidates for hulls, on CPU cores. */
#include "planes/planes_cpu.h"

/* ---- hulls */

#define POLYGON_STEP 8u
#define FANS         16u /* directions, half a turn; each has a farthest point on either side */

/* The corners of a polygon inside the hull: the farthest points in FANS directions and against them, of some of the
   points; and a circle inside the polygon, which most points are in. */
typedef struct polygon {
    bool any;
    planes_corner corners[2 * FANS];
    double reach[2 * FANS];
    double middle[2], radius2;
} polygon;

typedef struct fan {
    double u[FANS], v[FANS];
} fan;

static fan make_fan(void) {
    fan made;
    for (uint32_t k = 0; k < FANS; k++) {
        const double angle = 3.14159265358979323846 * k / FANS;
        made.u[k] = cos(angle);
        made.v[k] = sin(angle);
    }
    return made;
}

static void extend(polygon *to, const fan *fans, const planes_corner *corner) {
    for (uint32_t k = 0; k < FANS; k++) {
        const double reach = fans->u[k] * corner->u + fans->v[k] * corner->v;
        if (!to->any || reach > to->reach[k]) {
            to->reach[k] = reach;
            to->corners[k] = *corner;
        }
        if (!to->any || -reach > to->reach[k + FANS]) {
            to->reach[k + FANS] = -reach;
            to->corners[k + FANS] = *corner;
        }
    }
    to->any = true;
}

/* Whether a point is inside: left of all sides, which run counter-clockwise. Then it is no corner of the hull. */
static bool is_inside(const polygon *in, const planes_corner *corner) {
    bool sides = false;
    for (uint32_t k = 0; k < 2 * FANS; k++) {
        const planes_corner *a = &in->corners[k], *b = &in->corners[(k + 1) % (2 * FANS)];
        const int64_t su = (int64_t)b->u - a->u, sv = (int64_t)b->v - a->v;
        if (su == 0 && sv == 0) continue;
        if (su * ((int64_t)corner->v - a->v) - sv * ((int64_t)corner->u - a->u) <= 0) return false;
        sides = true;
    }
    return sides;
}

static void find_circle(polygon *in) {
    double least = INFINITY;
    in->middle[0] = in->middle[1] = 0;
    for (uint32_t k = 0; k < 2 * FANS; k++) {
        in->middle[0] += (double)in->corners[k].u / (2 * FANS);
        in->middle[1] += (double)in->corners[k].v / (2 * FANS);
    }
    for (uint32_t k = 0; k < 2 * FANS; k++) {
        const planes_corner *a = &in->corners[k], *b = &in->corners[(k + 1) % (2 * FANS)];
        const double su = (double)b->u - a->u, sv = (double)b->v - a->v, length = sqrt(su * su + sv * sv);
        if (!(length > 0)) continue;
        const double inwards = (su * (in->middle[1] - a->v) - sv * (in->middle[0] - a->u)) / length;
        least = fmin(least, inwards);
    }
    least -= 1; /* on the safe side of rounding */
    in->radius2 = in->any && least > 0 && least < INFINITY ? least * least : 0;
}

static bool is_in_circle(const polygon *in, const planes_corner *corner) {
    const double u = corner->u - in->middle[0], v = corner->v - in->middle[1];
    return u * u + v * v < in->radius2;
}

static planes_corner corner_at(const planes_cpu *p, const planes_axes *axes, uint64_t i) {
    const int32_t label = p->label[i];
    return planes_corner_of(&axes[label], (uint32_t)label, p->x[i], p->y[i], p->z[i]);
}

static void make_polygons(const planes_cpu *p, const planes_axes *axes, uint32_t planes, polygon *polygons) {
    const fan fans = make_fan();
    for (uint64_t i = 0; i < p->base.count; i += POLYGON_STEP) {
        if (p->label[i] < 0) continue;
        const planes_corner corner = corner_at(p, axes, i);
        polygon *mine = &polygons[corner.plane];
        if (!mine->any || !is_inside(mine, &corner)) extend(mine, &fans, &corner);
    }
    for (uint32_t i = 0; i < planes; i++) find_circle(&polygons[i]);
}

typedef struct corner_list {
    planes_corner *list;
    uint64_t count, capacity;
} corner_list;

static bool list_corners(const planes_cpu *p, const planes_axes *axes, uint32_t b, const polygon *polygons,
                         corner_list *to) {
    const uint64_t first = (uint64_t)b * PLANES_BLOCK;
    for (uint64_t i = first; i < first + planes_block_points(p, b); i++) {
        if (p->label[i] < 0) continue;
        const planes_corner corner = corner_at(p, axes, i);
        if (is_in_circle(&polygons[corner.plane], &corner) || is_inside(&polygons[corner.plane], &corner)) continue;
        if (!mote_reserve(p->base.ctx, (void **)&to->list, &to->capacity, to->count + 1, sizeof *to->list,
                          "planes outlines")) {
            return false;
        }
        to->list[to->count++] = corner;
    }
    return true;
}

static mote_status join_lists(mote_context *ctx, const corner_list *lists, planes_corner **corners, uint64_t *count) {
    for (int t = 0; t < ctx->threads; t++) *count += lists[t].count;
    *corners = mote_alloc(ctx, *count * sizeof **corners, "planes outlines");
    if (*corners == NULL) return MOTE_ERROR_MEMORY;
    planes_corner *to = *corners;
    for (int t = 0; t < ctx->threads; t++) {
        if (lists[t].count > 0) memcpy(to, lists[t].list, lists[t].count * sizeof *to);
        to += lists[t].count;
    }
    return MOTE_OK;
}

mote_status planes_outline_cpu(planes_points *points, const planes_axes *axes, uint32_t planes, planes_corner **corners,
                               uint64_t *count) {
    const planes_cpu *p = planes_on_cpu(points);
    mote_context *ctx = points->ctx;
    bool all = true;
    *corners = NULL;
    *count = 0;
    polygon *polygons = mote_alloc_zero(ctx, planes * sizeof *polygons, "planes outlines");
    corner_list *lists = mote_alloc_zero(ctx, (uint64_t)ctx->threads * sizeof *lists, "planes outlines");
    if (polygons != NULL && lists != NULL) {
        make_polygons(p, axes, planes, polygons);
#pragma omp parallel for schedule(static) num_threads(ctx->threads) reduction(&& : all)
        for (int64_t b = 0; b < (int64_t)p->block_count; b++) {
            all = all && list_corners(p, axes, (uint32_t)b, polygons, &lists[mote_thread_number()]);
        }
        if (all) all = join_lists(ctx, lists, corners, count) == MOTE_OK;
    }
    for (int t = 0; lists != NULL && t < ctx->threads; t++) mote_free(ctx, lists[t].list);
    mote_free(ctx, lists);
    mote_free(ctx, polygons);
    return mote_context_status(ctx) == MOTE_OK && all ? MOTE_OK : MOTE_ERROR_MEMORY;
}
