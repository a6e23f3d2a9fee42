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

/* ---- the parts of a plane */

/* points, area: of the numbers that parts have. */
typedef struct component_sums {
    uint64_t *points, *area;
} component_sums;

static void find_parts(const planes_grid *g, uint32_t plane, bool by_plane, const component_sums *sums) {
    const planes_tract *t = &g->tracts[plane];
    const uint32_t first = t->first, end = plane + 1 < g->planes ? g->tracts[plane + 1].first : g->cells;
    /* Core cells are joined with those before them that are connected with them. */
    for (uint32_t i = first; i < end; i++) {
        g->root[i] = planes_is_core(g, t, i) ? i : PLANES_NO_CELL;
        for (uint32_t k = 0; k < 4 && g->root[i] != PLANES_NO_CELL; k++) {
            uint32_t other;
            int32_t u, v;
            planes_grid_around(k, &u, &v);
            if (planes_is_core_adjacent(g, t, i, u, v, &other) && planes_are_connected(g, i, other, u, v)) {
                join(g->root, i, other);
            }
        }
    }
    /* Cells get the number of their part, and parts their points. */
    for (uint32_t i = first; i < end; i++) {
        if (g->count[i] == 0) continue;
        g->root[i] = planes_is_core(g, t, i) ? planes_grid_root(g->root, i) : planes_first_part_around(g, t, i);
        if (g->root[i] == PLANES_NO_CELL) continue;
        g->points[g->root[i]] += g->count[i];
        g->all[plane] += g->count[i];
    }
    /* What is kept is summed up. */
    const uint32_t min = planes_grid_min(g, plane);
    for (uint32_t i = first; i < end; i++) {
        if (g->count[i] == 0 || !planes_is_kept(g, min, i)) continue;
        const uint32_t number = by_plane ? plane : g->root[i];
        sums->points[number] += g->count[i];
        sums->area[number] += planes_has_footprint(g, t, min, i);
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
        (*components)[(*count)++] = (planes_component){plane, i, sums->points[i], sums->area[i], -1};
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
        find_parts(g, (uint32_t)i, !footprint_params->components, &sums);
    }
    const mote_status status = list_components(ctx, g, footprint_params, &sums, numbers, components, count);
    mote_free(ctx, memory);
    return status;
}
