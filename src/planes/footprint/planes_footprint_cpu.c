/* Where in their planes labelled points are, on CPU cores: the cells that they are in, and new labels by cell. */
#include "planes/planes_cpu.h"

/* ---- cells of points */

/* The cells along the axes of a plane that all points of a block are in, whoever has them: in vectors. */
static void find_cells(const planes_block *b, const planes_axes *axes, uint32_t u[PLANES_BLOCK],
                       uint32_t v[PLANES_BLOCK]) {
    const uint32_t count = b->count;
    for (uint32_t i = 0; i < count; i++) u[i] = planes_cell_along(axes->u, axes->by, b->x[i], b->y[i], b->z[i]);
    for (uint32_t i = 0; i < count; i++) v[i] = planes_cell_along(axes->v, axes->by, b->x[i], b->y[i], b->z[i]);
}

/* The places of the block's labelled points in the grid; PLANES_NO_CELL: of the others. */
static void find_places(const planes_cpu *p, const planes_block *b, uint32_t place[PLANES_BLOCK]) {
    const uint32_t count = b->count;
    const int32_t *label = b->label;
    uint32_t u[PLANES_BLOCK], v[PLANES_BLOCK];
    memset(place, 0xFF, count * sizeof *place);
    for (int32_t k = planes_next_label(b, -1); k >= 0; k = planes_next_label(b, k)) {
        const planes_tract tract = p->tracts[k];
        find_cells(b, &tract.axes, u, v);
        for (uint32_t i = 0; i < count; i++) {
            place[i] = label[i] == k ? planes_tract_place(&tract, u[i], v[i]) : place[i];
        }
    }
}

/* Where the points end that are in the cell of the first: in their order many follow each other. */
static uint32_t end_of_cell(const uint32_t place[PLANES_BLOCK], uint32_t first, uint32_t count) {
    uint32_t end = first + 1;
    while (end < count && place[end] == place[first]) end++;
    return end;
}

/* ---- bounds and points of cells */

static void extend(planes_bounds *to, const planes_bounds *by) {
    for (int k = 0; k < 2; k++) {
        to->low[k] = by->low[k] < to->low[k] ? by->low[k] : to->low[k];
        to->not_high[k] = by->not_high[k] < to->not_high[k] ? by->not_high[k] : to->not_high[k];
    }
}

/* bounds: [planes · threads], the first are those of all. */
static void find_bounds(const planes_cpu *p, uint32_t planes, planes_bounds *bounds) {
    const int threads = p->base.ctx->threads;
    memset(bounds, 0xFF, (uint64_t)threads * planes * sizeof *bounds);
#pragma omp parallel for schedule(static) num_threads(threads)
    for (int64_t b = 0; b < (int64_t)p->block_count; b++) {
        planes_bounds *mine = bounds + (uint64_t)mote_thread_number() * planes;
        const planes_block some = planes_block_at(p, (uint32_t)b);
        uint32_t u[PLANES_BLOCK], v[PLANES_BLOCK];
        for (int32_t k = planes_next_label(&some, -1); k >= 0; k = planes_next_label(&some, k)) {
            find_cells(&some, &p->tracts[k].axes, u, v);
            planes_bounds of_block = {{UINT32_MAX, UINT32_MAX}, {UINT32_MAX, UINT32_MAX}};
            for (uint32_t i = 0; i < some.count; i++) {
                const uint32_t other = some.label[i] == k ? 0 : UINT32_MAX;
                const planes_bounds at = {{u[i] | other, v[i] | other}, {~u[i] | other, ~v[i] | other}};
                extend(&of_block, &at);
            }
            extend(&mine[k], &of_block);
        }
    }
    for (uint64_t i = planes; i < (uint64_t)threads * planes; i++) extend(&bounds[i % planes], &bounds[i]);
}

/* Counts the points of each cell, and finds the quarters that they are in, where parts are told apart. */
static void count_points(const planes_cpu *p) {
    const planes_grid *g = &p->grid;
#pragma omp parallel for schedule(static) num_threads(p->base.ctx->threads)
    for (int64_t b = 0; b < (int64_t)p->block_count; b++) {
        const planes_block some = planes_block_at(p, (uint32_t)b);
        uint32_t place[PLANES_BLOCK];
        find_places(p, &some, place);
        for (uint32_t i = 0, end; i < some.count; i = end) {
            end = end_of_cell(place, i, some.count);
            if (place[i] == PLANES_NO_CELL) continue;
#pragma omp atomic
            g->count[place[i]] += end - i;
            if (g->quarters == NULL) continue;
            uint32_t bits = 0;
            for (uint32_t k = i; k < end; k++) {
                bits |= planes_quarter_bit(&p->tracts[some.label[k]].axes, some.x[k], some.y[k], some.z[k]);
            }
#pragma omp atomic
            g->quarters[place[i]] |= bits;
        }
    }
}

static mote_status make_cells(planes_cpu *p) {
    mote_context *ctx = p->base.ctx;
    planes_grid *g = &p->grid;
    const uint64_t cells = g->cells;
    const uint64_t arrays = p->by_plane ? 3 : 4;
    p->cell_memory = mote_alloc_zero(ctx, (arrays * cells + g->planes) * sizeof *p->cell_memory, "planes cells");
    if (p->cell_memory == NULL) return MOTE_ERROR_MEMORY;
    g->count = p->cell_memory;
    g->points = g->count + cells;
    g->root = g->points + cells;
    g->all = g->root + cells;
    g->quarters = p->by_plane ? NULL : g->all + g->planes;
    return MOTE_OK;
}

static mote_status make_grid(planes_cpu *p, const planes_axes *axes, const uint64_t *in_bands, uint32_t planes,
                             const planes_footprint_params *footprint_params) {
    mote_context *ctx = p->base.ctx;
    planes_grid *g = &p->grid;
    p->tracts = mote_alloc(ctx, planes * sizeof *p->tracts, "planes cells");
    planes_bounds *bounds = mote_alloc(ctx, (uint64_t)ctx->threads * planes * sizeof *bounds, "planes cells");
    if (p->tracts == NULL || bounds == NULL) {
        mote_free(ctx, bounds);
        return MOTE_ERROR_MEMORY;
    }
    for (uint32_t i = 0; i < planes; i++) p->tracts[i].axes = axes[i];
    find_bounds(p, planes, bounds);
    g->tracts = p->tracts;
    g->planes = planes;
    g->islands = !footprint_params->components && !footprint_params->whole;
    g->cells = planes_grid_lay(bounds, in_bands, planes, footprint_params->whole, p->base.count, p->tracts);
    mote_free(ctx, bounds);
    if (g->cells == 0) return MOTE_OK;
    MOTE_TRY(make_cells(p));
    count_points(p);
    return MOTE_OK;
}

void planes_footprint_free_cpu(planes_cpu *p) {
    mote_context *ctx = p->base.ctx;
    mote_free(ctx, p->tracts);
    mote_free(ctx, p->cell_memory);
    p->tracts = NULL;
    p->cell_memory = NULL;
    memset(&p->grid, 0, sizeof p->grid);
}

mote_status planes_footprint_cpu(planes_points *points, const planes_axes *axes, const uint64_t *in_bands,
                                 uint32_t planes, const planes_footprint_params *footprint_params,
                                 planes_component **components, uint64_t *count) {
    planes_cpu *p = planes_on_cpu(points);
    *components = NULL;
    *count = 0;
    planes_footprint_free_cpu(p);
    p->by_plane = !footprint_params->components;
    MOTE_TRY(make_grid(p, axes, in_bands, planes, footprint_params));
    if (p->grid.cells == 0) return MOTE_OK;
    return planes_find_components(points->ctx, &p->grid, footprint_params, components, count);
}

/* ---- new labels */

static void relabel_block(planes_cpu *p, uint32_t b, const int32_t *label_of) {
    const planes_grid *g = &p->grid;
    const planes_block some = planes_block_at(p, b);
    uint32_t place[PLANES_BLOCK];
    find_places(p, &some, place);
    for (uint32_t i = 0, end; i < some.count; i = end) {
        end = end_of_cell(place, i, some.count);
        if (place[i] == PLANES_NO_CELL) continue;
        const uint32_t plane = (uint32_t)some.label[i];
        const bool kept = planes_is_kept(g, planes_grid_min(g, plane), place[i]);
        const int32_t now = kept ? label_of[p->by_plane ? plane : g->root[place[i]]] : -1;
        memset(some.free_points + i, planes_odds_at(g, plane, place[i]), end - i);
        for (uint32_t k = i; k < end; k++) some.label[k] = now;
    }
}

mote_status planes_relabel_cpu(planes_points *points, const planes_component *components, uint64_t count) {
    planes_cpu *p = planes_on_cpu(points);
    mote_context *ctx = points->ctx;
    const uint64_t numbers = p->by_plane ? p->grid.planes : p->grid.cells;
    int32_t *label_of = mote_alloc(ctx, numbers * sizeof *label_of, "planes cells");
    if (label_of == NULL) return MOTE_ERROR_MEMORY;
    memset(label_of, 0xFF, numbers * sizeof *label_of);
    for (uint64_t i = 0; i < count; i++) label_of[components[i].number] = components[i].label;
#pragma omp parallel for schedule(static) num_threads(ctx->threads)
    for (int64_t b = 0; b < (int64_t)p->block_count; b++) relabel_block(p, (uint32_t)b, label_of);
    mote_free(ctx, label_of);
    planes_footprint_free_cpu(p);
    return MOTE_OK;
}
