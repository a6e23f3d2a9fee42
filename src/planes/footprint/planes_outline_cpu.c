/* Candidates for hulls, on CPU cores: per plane the farthest of some points in 32 directions make a polygon; what is
   strictly inside it is no corner of the hull. Of most blocks that is known by their box. */
#include "planes/planes_cpu.h"

#define POLYGON_STEP 8u
#define SIDES        32u  /* directions of a turn */
#define BOX_SLACK    8.0f /* steps: more than floats lose in a place, and rounding */

/* The farthest points in each direction, counter-clockwise; and its sides: left of one is u · a + v · b > c, exact in
   doubles. Without sides everything is outside. */
typedef struct polygon {
    bool any;
    planes_corner corners[SIDES];
    double reach[SIDES];
    uint32_t sides;
    double a[SIDES], b[SIDES], c[SIDES];
} polygon;

typedef struct fan {
    double u[SIDES], v[SIDES];
} fan;

static fan make_fan(void) {
    fan made;
    for (uint32_t k = 0; k < SIDES; k++) {
        const double angle = 2 * 3.14159265358979323846 * k / SIDES;
        made.u[k] = cos(angle);
        made.v[k] = sin(angle);
    }
    return made;
}

static void find_sides(polygon *of) {
    of->sides = 0;
    for (uint32_t k = 0; k < SIDES; k++) {
        const planes_corner *from = &of->corners[k], *to = &of->corners[(k + 1) % SIDES];
        const double su = (double)to->u - from->u, sv = (double)to->v - from->v;
        if (su == 0 && sv == 0) continue;
        of->a[of->sides] = -sv;
        of->b[of->sides] = su;
        of->c[of->sides++] = su * from->v - sv * from->u;
    }
}

static void extend(polygon *to, const fan *fans, const planes_corner *corner) {
    bool farther = false;
    for (uint32_t k = 0; k < SIDES; k++) {
        const double reach = fans->u[k] * corner->u + fans->v[k] * corner->v;
        if (to->any && !(reach > to->reach[k])) continue;
        to->reach[k] = reach;
        to->corners[k] = *corner;
        farther = true;
    }
    to->any = true;
    if (farther) find_sides(to);
}

/* ---- where a block is */

/* The rectangle that its points are in, along the axes of a plane. */
typedef struct extent {
    double low[2], high[2];
} extent;

static extent extent_of(const planes_block *block, const planes_axes *axes) {
    const float *const along[2] = {axes->u, axes->v};
    extent is;
    for (int k = 0; k < 2; k++) {
        const float middle = planes_along(along[k], block->middle[0], block->middle[1], block->middle[2]);
        const float half = fabsf(along[k][0]) * block->half[0] + fabsf(along[k][1]) * block->half[1] +
                           fabsf(along[k][2]) * block->half[2] + BOX_SLACK;
        is.low[k] = (double)middle - (double)half;
        is.high[k] = (double)middle + (double)half;
    }
    return is;
}

/* Lists the sides that points of a block may be right of; returns how many. */
static uint32_t sides_near(const polygon *of, const extent *is, uint32_t *list) {
    uint32_t found = 0;
    for (uint32_t k = 0; k < of->sides; k++) {
        const double a = of->a[k], b = of->b[k];
        const double min = a * (a > 0 ? is->low[0] : is->high[0]) + b * (b > 0 ? is->low[1] : is->high[1]);
        if (!(min > of->c[k] + 1)) list[found++] = k; /* what rounding may take is less than 1 */
    }
    return found;
}

static bool is_inside(const polygon *of, const uint32_t *list, uint32_t near, const planes_corner *corner) {
    for (uint32_t k = 0; k < near; k++) {
        const uint32_t side = list[k];
        if (!(corner->u * of->a[side] + corner->v * of->b[side] > of->c[side])) return false;
    }
    return of->sides > 0;
}

/* ---- polygons */

static void extend_by_block(const planes_cpu *p, const planes_axes *axes, const fan *fans, uint32_t b, int32_t plane,
                            polygon *to) {
    const uint64_t first = (uint64_t)b * PLANES_BLOCK;
    const extent is = extent_of(&p->blocks[b], &axes[plane]);
    uint32_t list[SIDES], near = sides_near(to, &is, list);
    for (uint64_t i = first; i < first + planes_block_points(p, b) && (near > 0 || to->sides == 0); i += POLYGON_STEP) {
        if (p->label[i] != plane) continue;
        const planes_corner corner = planes_corner_of(&axes[plane], (uint32_t)plane, p->x[i], p->y[i], p->z[i]);
        if (is_inside(to, list, near, &corner)) continue;
        extend(to, fans, &corner);
        near = sides_near(to, &is, list);
    }
}

static void make_polygons(const planes_cpu *p, const planes_axes *axes, polygon *polygons) {
    const fan fans = make_fan();
    for (uint32_t b = 0; b < p->block_count; b++) {
        const int32_t *label = p->label + (uint64_t)b * PLANES_BLOCK;
        const uint32_t count = planes_block_points(p, b);
        for (int32_t k = planes_next_label(label, count, -1); k >= 0; k = planes_next_label(label, count, k)) {
            extend_by_block(p, axes, &fans, b, k, &polygons[k]);
        }
    }
}

/* ---- what is outside */

typedef struct corner_list {
    planes_corner *list;
    uint64_t count, capacity;
} corner_list;

static void corners_of(const planes_axes *axes, const float *x, const float *y, const float *z, uint32_t count,
                       double *u, double *v) {
    for (uint32_t i = 0; i < count; i++) {
        const planes_corner corner = planes_corner_of(axes, 0, x[i], y[i], z[i]);
        u[i] = corner.u;
        v[i] = corner.v;
    }
}

/* outside [PLANES_BLOCK] out: not 0 where a point of the block is right of one of those sides. */
static void find_outside(const polygon *of, const uint32_t *list, uint32_t near, const double *u, const double *v,
                         int64_t *outside) {
    for (uint32_t i = 0; i < PLANES_BLOCK; i++) outside[i] = of->sides == 0;
    for (uint32_t k = 0; k < near; k++) {
        const double a = of->a[list[k]], b = of->b[list[k]], c = of->c[list[k]];
        for (uint32_t i = 0; i < PLANES_BLOCK; i++) outside[i] |= u[i] * a + v[i] * b <= c;
    }
}

static bool list_plane(const planes_cpu *p, const planes_axes *axes, uint32_t b, int32_t plane, const polygon *of,
                       corner_list *to) {
    const uint64_t first = (uint64_t)b * PLANES_BLOCK;
    const uint32_t count = planes_block_points(p, b);
    const int32_t *label = p->label + first;
    const extent is = extent_of(&p->blocks[b], axes);
    double u[PLANES_BLOCK] = {0}, v[PLANES_BLOCK] = {0};
    int64_t outside[PLANES_BLOCK];
    uint32_t list[SIDES];
    const uint32_t near = sides_near(of, &is, list);
    if (near == 0 && of->sides > 0) return true;
    corners_of(axes, p->x + first, p->y + first, p->z + first, count, u, v);
    find_outside(of, list, near, u, v, outside);
    if (!mote_reserve(p->base.ctx, (void **)&to->list, &to->capacity, to->count + count, sizeof *to->list,
                      "planes outlines")) {
        return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (label[i] != plane || outside[i] == 0) continue;
        to->list[to->count++] = (planes_corner){(uint32_t)plane, (int32_t)u[i], (int32_t)v[i]};
    }
    return true;
}

static bool list_corners(const planes_cpu *p, const planes_axes *axes, uint32_t b, const polygon *polygons,
                         corner_list *to) {
    const int32_t *label = p->label + (uint64_t)b * PLANES_BLOCK;
    const uint32_t count = planes_block_points(p, b);
    bool all = true;
    for (int32_t k = planes_next_label(label, count, -1); k >= 0 && all; k = planes_next_label(label, count, k)) {
        all = list_plane(p, &axes[k], b, k, &polygons[k], to);
    }
    return all;
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
        make_polygons(p, axes, polygons);
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
