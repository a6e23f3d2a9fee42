/* Connected parts of planes, on CPU cores: union-find over the cells of their grids, a plane to a thread. */
#include "planes/planes_cpu.h"

/* ---- union-find */

static uint32_t root_of(uint32_t *root, uint32_t i) {
    while (root[i] != i) {
        root[i] = root[root[i]];
        i = root[i];
    }
    return i;
}

/* The smaller number stays root: the order of joins does not matter. */
static void join(uint32_t *root, uint32_t a, uint32_t b) {
    a = root_of(root, a);
    b = root_of(root, b);
    if (a < b) {
        root[b] = a;
    } else {
        root[a] = b;
    }
}

typedef struct plane_cells {
    const planes_grid *g;
    const planes_tract *tract;
    uint32_t plane, first, end;
} plane_cells;

static plane_cells cells_of(const planes_grid *g, uint32_t plane) {
    const uint32_t end = plane + 1 < g->planes ? g->tracts[plane + 1].first : g->cells;
    const plane_cells p = {g, &g->tracts[plane], plane, g->tracts[plane].first, end};
    return p;
}

/* Joins core cells with those before them that are connected with them. */
static void join_cores(const plane_cells *p) {
    const planes_grid *g = p->g;
    for (uint32_t i = p->first; i < p->end; i++) {
        g->root[i] = planes_is_core(g, p->tract, i) ? i : PLANES_NO_CELL;
        if (g->root[i] == PLANES_NO_CELL) continue;
        for (uint32_t k = 0; k < 4; k++) {
            uint32_t other;
            int32_t u, v;
            planes_grid_around(k, &u, &v);
            if (planes_is_core_adjacent(g, p->tract, i, u, v, &other) && planes_are_connected(g, i, other, u, v))
                join(g->root, i, other);
        }
    }
}

/* Gives cells the number of their part, and parts their points. */
static void settle(const plane_cells *p) {
    const planes_grid *g = p->g;
    for (uint32_t i = p->first; i < p->end; i++) {
        if (g->count[i] == 0) continue;
        const bool core = planes_is_core(g, p->tract, i);
        g->root[i] = core ? planes_grid_root(g->root, i) : planes_first_part_around(g, p->tract, i);
        if (g->root[i] == PLANES_NO_CELL) continue;
        g->points[g->root[i]] += g->count[i];
        g->all[p->plane] += g->count[i];
    }
}

/* ---- what is kept */

/* points, area: of the numbers that parts have. */
typedef struct component_sums {
    uint64_t *points, *area;
} component_sums;

static void sum_up(const plane_cells *p, bool by_plane, const component_sums *sums) {
    const planes_grid *g = p->g;
    const uint32_t min = planes_grid_min(g, p->plane);
    for (uint32_t i = p->first; i < p->end; i++) {
        if (g->count[i] == 0 || !planes_is_kept(g, min, i)) continue;
        const uint32_t number = by_plane ? p->plane : g->root[i];
        sums->points[number] += g->count[i];
        sums->area[number] += planes_has_footprint(g, p->tract, min, i);
    }
}

static mote_status list_components(mote_context *ctx, const planes_grid *g,
                                   const planes_footprint_params *footprint_params, const component_sums *sums,
                                   uint32_t numbers, planes_component **components, uint64_t *count) {
    uint64_t found = 0;
    for (uint32_t i = 0; i < numbers; i++) found += sums->points[i] >= footprint_params->min;
    *components = mote_alloc(ctx, found * sizeof **components, "planes parts");
    if (*components == NULL) return MOTE_ERROR_MEMORY;
    for (uint32_t i = 0; i < numbers; i++) {
        if (sums->points[i] < footprint_params->min) continue;
        const uint32_t plane = footprint_params->components ? planes_grid_plane(g, i) : i;
        (*components)[(*count)++] = (planes_component){plane, i, sums->points[i], sums->area[i]};
    }
    return MOTE_OK;
}

mote_status planes_find_components(mote_context *ctx, const planes_grid *g,
                                   const planes_footprint_params *footprint_params, planes_component **components,
                                   uint64_t *count) {
    const uint32_t numbers = footprint_params->components ? g->cells : g->planes;
    uint64_t *memory = mote_alloc_zero(ctx, 2 * (uint64_t)numbers * sizeof *memory, "planes parts");
    if (memory == NULL) return MOTE_ERROR_MEMORY;
    const component_sums sums = {memory, memory + numbers};
#pragma omp parallel for schedule(dynamic, 1) num_threads(ctx->threads)
    for (int64_t i = 0; i < (int64_t)g->planes; i++) {
        const plane_cells p = cells_of(g, (uint32_t)i);
        join_cores(&p);
        settle(&p);
        sum_up(&p, !footprint_params->components, &sums);
    }
    const mote_status status = list_components(ctx, g, footprint_params, &sums, numbers, components, count);
    mote_free(ctx, memory);
    return status;
}
