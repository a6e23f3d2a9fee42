/* Candidates for hulls, on CPU cores. Of most blocks of points their box says that they are inside. */
#include "planes/planes_cpu.h"

#define BOX_SLACK 8.0f /* steps: more than floats lose in a place, and rounding */

typedef struct corner_list {
    planes_corner *list;
    uint64_t count, capacity;
} corner_list;

/* Lists the sides that points of a block may be right of; returns how many. */
static uint32_t sides_near(const planes_polygon *of, const planes_box *block, const planes_axes *axes, uint32_t *list) {
    const float *const along[2] = {axes->u, axes->v};
    double low[2], high[2];
    uint32_t found = 0;
    for (int k = 0; k < 2; k++) {
        const float middle = planes_along(along[k], block->middle[0], block->middle[1], block->middle[2]);
        const float half = planes_box_along(block->half, along[k][0], along[k][1], along[k][2]) + BOX_SLACK;
        low[k] = (double)middle - (double)half;
        high[k] = (double)middle + (double)half;
    }
    for (uint32_t k = 0; k < of->sides; k++) {
        const double a = of->a[k], b = of->b[k];
        const double min = a * (a > 0 ? low[0] : high[0]) + b * (b > 0 ? low[1] : high[1]);
        if (!(min > of->c[k] + 1)) list[found++] = k; /* what rounding may take is less than 1 */
    }
    return found;
}

/* Lists the points of a block and plane that are right of a side. False: no memory. */
static bool list_outside(mote_context *ctx, const planes_outlining *how, const planes_block *b, const planes_box *box,
                         int32_t plane, corner_list *to) {
    const planes_polygon *of = &how->polygons[plane];
    const planes_axes *axes = &how->axes[plane];
    double u[PLANES_BLOCK] = {0}, v[PLANES_BLOCK] = {0};
    int64_t outside[PLANES_BLOCK];
    uint32_t sides[PLANES_SIDES];
    const uint32_t near = sides_near(of, box, axes, sides);
    if (near == 0 && of->sides > 0) return true;
    for (uint32_t i = 0; i < b->count; i++) {
        const planes_corner corner = planes_corner_of(axes, 0, b->x[i], b->y[i], b->z[i]);
        u[i] = corner.u;
        v[i] = corner.v;
    }
    for (uint32_t i = 0; i < PLANES_BLOCK; i++) outside[i] = of->sides == 0;
    for (uint32_t k = 0; k < near; k++) {
        const double a = of->a[sides[k]], c = of->c[sides[k]], d = of->b[sides[k]];
        for (uint32_t i = 0; i < PLANES_BLOCK; i++) outside[i] |= u[i] * a + v[i] * d <= c;
    }
    if (!mote_reserve(ctx, (void **)&to->list, &to->capacity, to->count + b->count, sizeof *to->list,
                      "planes outlines")) {
        return false;
    }
    for (uint32_t i = 0; i < b->count; i++) {
        if (b->label[i] != plane || outside[i] == 0) continue;
        to->list[to->count++] = (planes_corner){(uint32_t)plane, (int32_t)u[i], (int32_t)v[i]};
    }
    return true;
}

static bool list_block(const planes_cpu *p, const planes_outlining *how, uint32_t b, corner_list *to) {
    const planes_block some = planes_block_at(p, b);
    bool all = true;
    for (int32_t k = planes_next_label(&some, -1); k >= 0 && all; k = planes_next_label(&some, k)) {
        all = list_outside(p->base.ctx, how, &some, &p->blocks[b], k, to);
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

static mote_status list_all_outside(planes_points *points, const planes_outlining *how, planes_corner **corners,
                                    uint64_t *count) {
    const planes_cpu *p = planes_on_cpu(points);
    mote_context *ctx = points->ctx;
    bool all = true;
    corner_list *lists = mote_alloc_zero(ctx, (uint64_t)ctx->threads * sizeof *lists, "planes outlines");
    if (lists == NULL) return MOTE_ERROR_MEMORY;
#pragma omp parallel for schedule(static) num_threads(ctx->threads) reduction(&& : all)
    for (int64_t b = 0; b < (int64_t)p->block_count; b++) {
        all = all && list_block(p, how, (uint32_t)b, &lists[mote_thread_number()]);
    }
    const mote_status status = all ? join_lists(ctx, lists, corners, count) : MOTE_ERROR_MEMORY;
    for (int t = 0; t < ctx->threads; t++) mote_free(ctx, lists[t].list);
    mote_free(ctx, lists);
    return status;
}

mote_status planes_outline_cpu(planes_points *points, const planes_outlining *how, planes_corner **corners,
                               uint64_t *count) {
    const planes_cpu *p = planes_on_cpu(points);
    *corners = NULL;
    *count = 0;
    if (how->polygons != NULL) return list_all_outside(points, how, corners, count);
    *corners = mote_alloc(points->ctx, (points->count / how->step + 1) * sizeof **corners, "planes outlines");
    if (*corners == NULL) return MOTE_ERROR_MEMORY;
    for (uint64_t i = 0; i < points->count; i += how->step) {
        const int32_t plane = p->label[i];
        if (plane < 0) continue;
        (*corners)[(*count)++] = planes_corner_of(&how->axes[plane], (uint32_t)plane, p->x[i], p->y[i], p->z[i]);
    }
    return MOTE_OK;
}
