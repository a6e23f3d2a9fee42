/* Where in their planes labelled points are, on CPU cores: the cells that they are in, and new labels by cell. Points
   are looked at once, as runs in the same cell: in their order these are long. */
#include "planes/planes_cpu.h"

/* ---- runs of points */

static void cells_along(const float axis[3], float by, const float *x, const float *y, const float *z, uint32_t count,
                        uint32_t *cell) {
    for (uint32_t i = 0; i < count; i++) cell[i] = planes_cell_along(axis, by, x[i], y[i], z[i]);
}

/* The quarters of their cells that the block's labelled points are in. */
static void find_quarters(const planes_cpu *p, const planes_axes *axes, uint32_t b, uint16_t *quarter) {
    const uint64_t first = (uint64_t)b * PLANES_BLOCK;
    for (uint32_t i = 0; i < planes_block_points(p, b); i++) {
        const uint64_t at = first + i;
        if (p->label[at] < 0) continue;
        quarter[i] = (uint16_t)planes_quarter_bit(&axes[p->label[at]], p->x[at], p->y[at], p->z[at]);
    }
}

/* The codes of the block's labelled points. */
static void find_codes(const planes_cpu *p, const planes_axes *axes, uint32_t b, uint64_t *code) {
    const uint64_t first = (uint64_t)b * PLANES_BLOCK;
    const uint32_t count = planes_block_points(p, b);
    const int32_t *label = p->label + first;
    uint32_t u[PLANES_BLOCK], v[PLANES_BLOCK];
    for (int32_t k = planes_next_label(label, count, -1); k >= 0; k = planes_next_label(label, count, k)) {
        cells_along(axes[k].u, axes[k].by, p->x + first, p->y + first, p->z + first, count, u);
        cells_along(axes[k].v, axes[k].by, p->x + first, p->y + first, p->z + first, count, v);
        for (uint32_t i = 0; i < count; i++) {
            code[i] = label[i] == k ? planes_cell_code((uint32_t)k, u[i], v[i]) : code[i];
        }
    }
}

static void extend(planes_bounds *bounds, uint64_t code) {
    planes_bounds *of = &bounds[code >> (2 * PLANES_CELL_BITS)];
    for (int k = 0; k < 2; k++) {
        const uint32_t at = (uint32_t)(code >> (k * PLANES_CELL_BITS)) & ((1u << PLANES_CELL_BITS) - 1);
        of->low[k] = at < of->low[k] ? at : of->low[k];
        of->not_high[k] = ~at < of->not_high[k] ? ~at : of->not_high[k];
    }
}

/* Lists the runs of labelled points of a block that share a plane and a cell, and returns how many there are. bounds:
   in and out, those of the cells so far */
static uint32_t list_runs(const planes_cpu *p, const planes_axes *axes, uint32_t b, planes_footprint_run *runs,
                          planes_bounds *bounds) {
    const int32_t *label = p->label + (uint64_t)b * PLANES_BLOCK;
    const uint32_t count = planes_block_points(p, b);
    uint64_t code[PLANES_BLOCK] = {0};
    uint16_t quarter[PLANES_BLOCK] = {0};
    uint32_t found = 0;
    find_codes(p, axes, b, code);
    if (!p->by_plane) find_quarters(p, axes, b, quarter);
    for (uint32_t i = 0; i < count; i++) {
        if (label[i] < 0) continue;
        if (found > 0 && runs[found - 1].code == code[i]) {
            runs[found - 1].count++;
            runs[found - 1].quarters |= quarter[i];
        } else {
            runs[found++] = (planes_footprint_run){code[i], 1, quarter[i], 0};
            extend(bounds, code[i]);
        }
    }
    return found;
}

static void join_bounds(planes_bounds *to, const planes_bounds *from, uint32_t planes) {
    for (uint32_t i = 0; i < planes; i++) {
        for (int k = 0; k < 2; k++) {
            if (from[i].low[k] < to[i].low[k]) to[i].low[k] = from[i].low[k];
            if (from[i].not_high[k] < to[i].not_high[k]) to[i].not_high[k] = from[i].not_high[k];
        }
    }
}

/* Lists all runs, each block's from its own place on. bounds: [planes · threads], the first are those of all. */
static void find_runs(planes_cpu *p, const planes_axes *axes, uint32_t planes, planes_bounds *bounds) {
    const int threads = p->base.ctx->threads;
    memset(bounds, 0xFF, (uint64_t)threads * planes * sizeof *bounds);
#pragma omp parallel for schedule(static) num_threads(threads)
    for (int64_t b = 0; b < (int64_t)p->block_count; b++) {
        planes_bounds *mine = bounds + (uint64_t)mote_thread_number() * planes;
        p->run_count[b] = list_runs(p, axes, (uint32_t)b, p->runs + (uint64_t)b * PLANES_BLOCK, mine);
    }
    for (int t = 1; t < threads; t++) join_bounds(bounds, bounds + (uint64_t)t * planes, planes);
}

/* ---- points of cells */

static void count_points(planes_cpu *p) {
    const planes_grid *g = &p->grid;
    const uint32_t mask = (1u << PLANES_CELL_BITS) - 1;
#pragma omp parallel for schedule(static) num_threads(p->base.ctx->threads)
    for (int64_t b = 0; b < (int64_t)p->block_count; b++) {
        planes_footprint_run *runs = p->runs + (uint64_t)b * PLANES_BLOCK;
        for (uint32_t i = 0; i < p->run_count[b]; i++) {
            const uint64_t code = runs[i].code;
            const uint32_t place =
                planes_grid_place(g, (uint32_t)(code >> (2 * PLANES_CELL_BITS)), (uint32_t)code & mask,
                                  (uint32_t)(code >> PLANES_CELL_BITS) & mask);
            runs[i].place = place;
#pragma omp atomic
            g->count[place] += runs[i].count;
            if (g->quarters == NULL) continue;
#pragma omp atomic
            g->quarters[place] |= runs[i].quarters;
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
    const uint64_t points = p->base.count;
    planes_grid *g = &p->grid;
    p->runs = mote_alloc(ctx, points * sizeof *p->runs, "planes cells");
    p->run_count = mote_alloc(ctx, p->block_count * sizeof *p->run_count, "planes cells");
    p->tracts = mote_alloc(ctx, planes * sizeof *p->tracts, "planes cells");
    planes_bounds *bounds = mote_alloc(ctx, (uint64_t)ctx->threads * planes * sizeof *bounds, "planes cells");
    if (p->runs == NULL || p->run_count == NULL || p->tracts == NULL || bounds == NULL) {
        mote_free(ctx, bounds);
        return MOTE_ERROR_MEMORY;
    }
    find_runs(p, axes, planes, bounds);
    g->tracts = p->tracts;
    g->planes = planes;
    g->islands = !footprint_params->components && !footprint_params->whole;
    g->cells = planes_grid_lay(bounds, in_bands, planes, footprint_params->whole, points, p->tracts);
    mote_free(ctx, bounds);
    if (g->cells == 0) return MOTE_OK;
    MOTE_TRY(make_cells(p));
    count_points(p);
    return MOTE_OK;
}

void planes_footprint_free_cpu(planes_cpu *p) {
    mote_context *ctx = p->base.ctx;
    mote_free(ctx, p->runs);
    mote_free(ctx, p->run_count);
    mote_free(ctx, p->tracts);
    mote_free(ctx, p->cell_memory);
    p->runs = NULL;
    p->run_count = p->cell_memory = NULL;
    p->tracts = NULL;
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

static void relabel_block(planes_cpu *p, uint32_t b, bool by_plane, const int32_t *label_of) {
    const planes_grid *g = &p->grid;
    const planes_footprint_run *run = p->runs + (uint64_t)b * PLANES_BLOCK;
    int32_t *label = p->label + (uint64_t)b * PLANES_BLOCK;
    uint8_t *odds = p->free_points + (uint64_t)b * PLANES_BLOCK, odds_now = 0;
    uint32_t remaining = 0;
    int32_t now = -1;
    for (uint32_t i = 0; i < planes_block_points(p, b); i++) {
        if (label[i] < 0) continue;
        if (remaining == 0) {
            const uint32_t plane = (uint32_t)(run->code >> (2 * PLANES_CELL_BITS));
            const bool kept = planes_is_kept(g, planes_grid_min(g, plane), run->place);
            now = kept ? label_of[by_plane ? plane : g->root[run->place]] : -1;
            odds_now = planes_odds_at(g, plane, run->place);
            remaining = run++->count;
        }
        label[i] = now;
        odds[i] = odds_now;
        remaining--;
    }
}

mote_status planes_relabel_cpu(planes_points *points, const planes_component *components, uint64_t count,
                               const int32_t *labels) {
    planes_cpu *p = planes_on_cpu(points);
    mote_context *ctx = points->ctx;
    const bool by_plane = p->by_plane;
    const uint64_t numbers = by_plane ? p->grid.planes : p->grid.cells;
    int32_t *label_of = mote_alloc(ctx, numbers * sizeof *label_of, "planes cells");
    if (label_of == NULL) return MOTE_ERROR_MEMORY;
    memset(label_of, 0xFF, numbers * sizeof *label_of);
    for (uint64_t i = 0; i < count; i++) label_of[components[i].number] = labels[i];
#pragma omp parallel for schedule(static) num_threads(ctx->threads)
    for (int64_t b = 0; b < (int64_t)p->block_count; b++) relabel_block(p, (uint32_t)b, by_plane, label_of);
    mote_free(ctx, label_of);
    planes_footprint_free_cpu(p);
    return MOTE_OK;
}
