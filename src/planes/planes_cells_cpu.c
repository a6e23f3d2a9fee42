/* Where in their planes labelled points are, on CPU cores: occupied cells, new labels by cell, candidates for hulls. */
#include "order/order_sort_cpu.h"
#include "planes/planes_cpu.h"

/* ---- occupied cells */

static uint64_t cell_of(const planes_cpu *p, const planes_axes *axes, uint64_t i) {
    const int32_t label = p->label[i];
    return planes_cell(&axes[label], (uint32_t)label, p->x[i], p->y[i], p->z[i]);
}

/* The cells of labelled points, in their order; returns how many. */
static uint64_t list_cells(const planes_cpu *p, const planes_axes *axes, uint64_t *cells) {
    uint64_t count = 0;
    for (uint64_t i = 0; i < p->base.count; i++) {
        if (p->label[i] >= 0) cells[count++] = cell_of(p, axes, i);
    }
    return count;
}

/* Equal ones become one; returns how many there are. */
static uint64_t count_runs(const uint64_t *sorted, uint64_t count, planes_count *runs) {
    uint64_t found = 0;
    for (uint64_t i = 0; i < count; i++) {
        const bool starts = i == 0 || sorted[i] != sorted[i - 1];
        if (starts && runs != NULL) runs[found] = (planes_count){sorted[i], 0};
        found += starts;
        if (runs != NULL) runs[found - 1].count++;
    }
    return found;
}

mote_status planes_cells_cpu(planes_points *points, const planes_axes *axes, planes_count **cells, uint64_t *count) {
    const planes_cpu *p = planes_on_cpu(points);
    mote_context *ctx = points->ctx;
    uint64_t *keys = mote_alloc(ctx, (uint64_t)points->count * sizeof *keys, "planes cells");
    uint32_t *indices = mote_alloc(ctx, (uint64_t)points->count * sizeof *indices, "planes cells");
    mote_status status = keys != NULL && indices != NULL ? MOTE_OK : MOTE_ERROR_MEMORY;
    uint64_t labelled = 0;
    *cells = NULL;
    *count = 0;
    if (status == MOTE_OK) labelled = list_cells(p, axes, keys);
    if (status == MOTE_OK) status = order_sort_cpu(ctx, keys, indices, labelled);
    if (status == MOTE_OK) {
        *count = count_runs(keys, labelled, NULL);
        *cells = mote_alloc(ctx, *count * sizeof **cells, "planes cells");
        if (*cells != NULL) count_runs(keys, labelled, *cells);
        status = *cells != NULL ? MOTE_OK : MOTE_ERROR_MEMORY;
    }
    mote_free(ctx, keys);
    mote_free(ctx, indices);
    return status;
}

/* ---- new labels */

static uint64_t find_cell(const planes_count *cells, uint64_t count, uint64_t cell) {
    uint64_t low = 0, high = count;
    while (high - low > 1) {
        const uint64_t middle = low + (high - low) / 2;
        if (cells[middle].cell <= cell) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

mote_status planes_relabel_cpu(planes_points *points, const planes_axes *axes, const planes_count *cells,
                               uint64_t count, const int32_t *labels) {
    const planes_cpu *p = planes_on_cpu(points);
#pragma omp parallel for schedule(static) num_threads(points->ctx->threads)
    for (int64_t b = 0; b < (int64_t)p->block_count; b++) {
        uint64_t cell = UINT64_MAX; /* that of the point before */
        int32_t label = -1;
        const uint64_t first = (uint64_t)b * PLANES_BLOCK;
        for (uint64_t i = first; i < first + planes_block_points(p, (uint32_t)b); i++) {
            if (p->label[i] < 0) continue;
            const uint64_t next = cell_of(p, axes, i);
            if (next != cell) label = labels[find_cell(cells, count, next)];
            cell = next;
            p->label[i] = label;
        }
    }
    return MOTE_OK;
}

/* ---- hulls */

#define FANS 16u /* directions, half a turn; each has a farthest point on either side */

/* The corners of a polygon inside the hull: the farthest points in FANS directions and against them. */
typedef struct polygon {
    bool any;
    planes_corner corners[2 * FANS];
    double reach[2 * FANS];
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

static planes_corner corner_at(const planes_cpu *p, const planes_axes *axes, uint64_t i) {
    const int32_t label = p->label[i];
    return planes_corner_of(&axes[label], (uint32_t)label, p->x[i], p->y[i], p->z[i]);
}

mote_status planes_outline_cpu(planes_points *points, const planes_axes *axes, uint32_t planes, planes_corner **corners,
                               uint64_t *count) {
    const planes_cpu *p = planes_on_cpu(points);
    mote_context *ctx = points->ctx;
    const fan fans = make_fan();
    uint64_t capacity = 0;
    *corners = NULL;
    *count = 0;
    polygon *polygons = mote_alloc_zero(ctx, planes * sizeof *polygons, "planes outlines");
    if (polygons == NULL) return MOTE_ERROR_MEMORY;
    for (uint64_t i = 0; i < points->count; i++) {
        if (p->label[i] < 0) continue;
        const planes_corner corner = corner_at(p, axes, i);
        if (!polygons[corner.plane].any || !is_inside(&polygons[corner.plane], &corner)) {
            extend(&polygons[corner.plane], &fans, &corner);
        }
    }
    mote_status status = MOTE_OK;
    for (uint64_t i = 0; i < points->count && status == MOTE_OK; i++) {
        if (p->label[i] < 0) continue;
        const planes_corner corner = corner_at(p, axes, i);
        if (is_inside(&polygons[corner.plane], &corner)) continue;
        if (!mote_reserve(ctx, (void **)corners, &capacity, *count + 1, sizeof **corners, "planes outlines")) {
            status = MOTE_ERROR_MEMORY;
        } else {
            (*corners)[(*count)++] = corner;
        }
    }
    mote_free(ctx, polygons);
    return status;
}
