/* Cells that labelled points are in, counted by atomics, and new labels by cell, on the GPU. */
#include "device/cuda/cuda_primitives.h"
#include "device/cuda/warp.cuh"
#include "planes/planes_cuda.h"

#define THREADS 256u

typedef struct labelled {
    const planes_cuda_point *points;
    const int32_t *label;
    const planes_tract *tracts;
    uint64_t count;
} labelled;

static __device__ inline void cell_at(const labelled *l, uint64_t i, int32_t label, uint32_t cell[2]) {
    const uint4 raw = *(const uint4 *)(const void *)&l->points[i];
    planes_cuda_point at;
    memcpy(&at, &raw, sizeof at);
    planes_cell(&l->tracts[label].axes, at.x, at.y, at.z, &cell[0], &cell[1]);
}

/* ---- the bounds of each plane's cells */

static __device__ inline void lower(planes_bounds *to, const planes_bounds *from) {
    for (int k = 0; k < 2; k++) {
        if (from->low[k] < to->low[k]) atomicMin(&to->low[k], from->low[k]);
        if (from->not_high[k] < to->not_high[k]) atomicMin(&to->not_high[k], from->not_high[k]);
    }
}

/* Lanes with the same label join theirs, one label after the other. */
static __device__ void lower_together(planes_bounds *bounds, const planes_bounds *mine, int32_t label) {
    for (uint32_t rest = __ballot_sync(CUDA_ALL, label >= 0), same; rest != 0; rest &= ~same) {
        const int32_t now = warp_value_of(rest, label, &same);
        planes_bounds joined;
        for (int k = 0; k < 2; k++) {
            joined.low[k] = warp_min(label == now ? mine->low[k] : UINT32_MAX);
            joined.not_high[k] = warp_min(label == now ? mine->not_high[k] : UINT32_MAX);
        }
        if (warp_lane() == 0) lower(&bounds[now], &joined);
    }
}

static __global__ void find_bounds(labelled l, planes_bounds *bounds) {
    const uint64_t i = (uint64_t)blockIdx.x * THREADS + threadIdx.x;
    const int32_t label = i < l.count ? l.label[i] : -1;
    planes_bounds mine = {{UINT32_MAX, UINT32_MAX}, {UINT32_MAX, UINT32_MAX}};
    if (label >= 0) cell_at(&l, i, label, mine.low);
    for (int k = 0; k < 2 && label >= 0; k++) mine.not_high[k] = ~mine.low[k];
    lower_together(bounds, &mine, label);
}

/* ---- points of cells */

/* Points of a warp in the same cell, one after the other, are counted at once. */
static __global__ void count_points(labelled l, planes_grid g) {
    const uint64_t i = (uint64_t)blockIdx.x * THREADS + threadIdx.x;
    const uint32_t lane = threadIdx.x % CUDA_WARP;
    const int32_t label = i < l.count ? l.label[i] : -1;
    uint32_t place = PLANES_NO_CELL, cell[2];
    if (label >= 0) {
        cell_at(&l, i, label, cell);
        place = planes_tract_place(&l.tracts[label], cell[0], cell[1]);
    }
    const uint32_t before = warp_before(place);
    const bool starts = lane == 0 || place != before;
    const uint32_t after = __ballot_sync(CUDA_ALL, starts) >> lane >> 1;
    const uint32_t length = after != 0 ? (uint32_t)__ffs((int)after) : CUDA_WARP - lane;
    if (starts && label >= 0) atomicAdd(&g.count[place], length);
}

/* ---- quarters of cells, where parts are told apart */

static __global__ void mark_quarters(labelled l, planes_grid g) {
    const uint64_t i = (uint64_t)blockIdx.x * THREADS + threadIdx.x;
    if (i >= l.count || l.label[i] < 0) return;
    const int32_t label = l.label[i];
    const planes_cuda_point at = l.points[i];
    const planes_axes *axes = &l.tracts[label].axes;
    uint32_t u, v;
    planes_cell(axes, at.x, at.y, at.z, &u, &v);
    const uint32_t place = planes_tract_place(&l.tracts[label], u, v);
    const uint32_t bit = planes_quarter_bit(axes, at.x, at.y, at.z);
    if ((g.quarters[place] & bit) == 0) atomicOr(&g.quarters[place], bit);
}

/* ---- the host's side */

void planes_footprint_free_cuda(planes_cuda *p) {
    mote_device *gpu = p->base.device;
    cuda_free(gpu, p->footprint.tracts);
    cuda_free(gpu, p->footprint.memory);
    memset(&p->footprint, 0, sizeof p->footprint);
}

static labelled labelled_of(const planes_cuda *p) {
    const labelled l = {p->points, p->label, p->footprint.tracts, p->base.count};
    return l;
}

/* All that cells and components need, except what is on the way to them; zeros, except roots. */
static mote_status make_cells(planes_cuda *p, uint32_t cells) {
    planes_cuda_footprint *c = &p->footprint;
    planes_grid *g = &c->grid;
    mote_device *gpu = p->base.device;
    g->cells = cells;
    c->numbers = c->by_plane ? g->planes : cells;
    const uint64_t own = c->by_plane ? g->planes : 0; /* points of parts: those of planes, or of roots */
    const uint64_t quarters = c->by_plane ? 0 : cells;
    const uint64_t zeros =
        c->numbers * sizeof *c->area + (2 * (uint64_t)cells + quarters + g->planes + own) * sizeof(uint32_t);
    c->memory = (uint8_t *)cuda_alloc(gpu, zeros + cells * sizeof(uint32_t), "planes cells");
    if (c->memory == NULL) return MOTE_ERROR_MEMORY;
    c->area = (unsigned long long *)(void *)c->memory;
    g->count = (uint32_t *)(void *)(c->area + c->numbers);
    g->points = g->count + cells;
    g->all = g->points + cells;
    c->points = c->by_plane ? g->all + g->planes : g->points;
    g->quarters = c->by_plane ? NULL : g->all + g->planes + own;
    g->root = g->all + g->planes + own + quarters;
    return cuda_fill(gpu, c->memory, 0, zeros);
}

static mote_status measure_bounds(planes_cuda *p, planes_bounds *host) {
    mote_device *gpu = p->base.device;
    const uint64_t bytes = p->footprint.grid.planes * sizeof *host;
    planes_bounds *bounds = (planes_bounds *)cuda_alloc(gpu, bytes, "planes cells");
    mote_status status = bounds != NULL ? cuda_fill(gpu, bounds, 0xFF, bytes) : MOTE_ERROR_MEMORY;
    if (status == MOTE_OK) {
        CUDA_LAUNCH(gpu, find_bounds, cuda_blocks(p->base.count, THREADS), THREADS, labelled_of(p), bounds);
        status = cuda_launched(gpu, "bounds of cells");
    }
    if (status == MOTE_OK) status = cuda_download(gpu, host, bounds, bytes);
    cuda_free(gpu, bounds);
    return status;
}

/* host: [planes] with axes; bounds: room for theirs. */
static mote_status count_cells(planes_cuda *p, planes_tract *host, const uint64_t *in_bands, bool whole,
                               planes_bounds *bounds) {
    mote_device *gpu = p->base.device;
    planes_cuda_footprint *c = &p->footprint;
    const uint32_t planes = c->grid.planes;
    c->tracts = (planes_tract *)cuda_alloc(gpu, planes * sizeof *host, "planes cells");
    if (c->tracts == NULL) return MOTE_ERROR_MEMORY;
    c->grid.tracts = c->tracts;
    MOTE_TRY(cuda_upload(gpu, c->tracts, host, planes * sizeof *host));
    MOTE_TRY(measure_bounds(p, bounds));
    const uint32_t cells = planes_grid_lay(bounds, in_bands, planes, whole, p->base.count, host);
    MOTE_TRY(cuda_upload(gpu, c->tracts, host, planes * sizeof *host));
    if (cells == 0) return MOTE_OK;
    MOTE_TRY(make_cells(p, cells));
    CUDA_LAUNCH(gpu, count_points, cuda_blocks(p->base.count, THREADS), THREADS, labelled_of(p), c->grid);
    if (c->grid.quarters != NULL) {
        CUDA_LAUNCH(gpu, mark_quarters, cuda_blocks(p->base.count, THREADS), THREADS, labelled_of(p), c->grid);
    }
    return cuda_launched(gpu, "points of cells");
}

mote_status planes_footprint_cuda(planes_points *points, const planes_axes *axes, const uint64_t *in_bands,
                                  uint32_t planes, const planes_footprint_params *footprint_params,
                                  planes_component **components, uint64_t *count) {
    planes_cuda *p = planes_on_cuda(points);
    mote_device *gpu = points->device;
    *components = NULL;
    *count = 0;
    planes_footprint_free_cuda(p);
    if (points->count == 0 || planes == 0) return MOTE_OK;
    planes_tract *tracts = (planes_tract *)mote_alloc_zero(gpu->ctx, planes * sizeof *tracts, "planes cells");
    planes_bounds *bounds = (planes_bounds *)mote_alloc(gpu->ctx, planes * sizeof *bounds, "planes cells");
    mote_status status = tracts != NULL && bounds != NULL ? MOTE_OK : MOTE_ERROR_MEMORY;
    for (uint32_t i = 0; i < planes && status == MOTE_OK; i++) tracts[i].axes = axes[i];
    p->footprint.grid.planes = planes;
    p->footprint.grid.islands = !footprint_params->components && !footprint_params->whole;
    p->footprint.by_plane = !footprint_params->components;
    if (status == MOTE_OK) status = count_cells(p, tracts, in_bands, footprint_params->whole, bounds);
    if (status == MOTE_OK && p->footprint.grid.cells > 0)
        status = planes_find_components_cuda(p, footprint_params->min, components, count);
    mote_free(gpu->ctx, tracts);
    mote_free(gpu->ctx, bounds);
    return status;
}

/* ---- new labels */

/* label_of: by the number of a part */
static __global__ void relabel_points(labelled l, planes_grid g, bool by_plane, const int32_t *label_of, int32_t *label,
                                      uint8_t *odds) {
    const uint64_t i = (uint64_t)blockIdx.x * THREADS + threadIdx.x;
    if (i >= l.count || label[i] < 0) return;
    const uint32_t plane = (uint32_t)label[i];
    uint32_t cell[2];
    cell_at(&l, i, (int32_t)plane, cell);
    const uint32_t place = planes_tract_place(&l.tracts[plane], cell[0], cell[1]);
    const bool kept = planes_is_kept(&g, planes_grid_min(&g, plane), place);
    label[i] = kept ? label_of[by_plane ? plane : g.root[place]] : -1;
    odds[i] = planes_odds_at(&g, plane, place);
}

/* host, device: [numbers] room for labels by number. */
static mote_status relabel(planes_cuda *p, const planes_component *components, uint64_t count, int32_t *host,
                           int32_t *device) {
    mote_device *gpu = p->base.device;
    const uint64_t bytes = p->footprint.numbers * sizeof *host;
    memset(host, 0xFF, bytes);
    for (uint64_t i = 0; i < count; i++) host[components[i].number] = components[i].label;
    MOTE_TRY(cuda_upload(gpu, device, host, bytes));
    CUDA_LAUNCH(gpu, relabel_points, cuda_blocks(p->base.count, THREADS), THREADS, labelled_of(p), p->footprint.grid,
                p->footprint.by_plane, device, p->label, p->free_points);
    return cuda_launched(gpu, "new labels");
}

mote_status planes_relabel_cuda(planes_points *points, const planes_component *components, uint64_t count) {
    planes_cuda *p = planes_on_cuda(points);
    mote_device *gpu = points->device;
    if (points->count == 0 || p->footprint.memory == NULL) return MOTE_OK;
    const uint64_t bytes = p->footprint.numbers * sizeof(int32_t);
    int32_t *host = (int32_t *)(void *)planes_cuda_scratch(p, bytes);
    int32_t *device = (int32_t *)cuda_alloc(gpu, bytes, "planes cells");
    const mote_status status =
        host != NULL && device != NULL ? relabel(p, components, count, host, device) : MOTE_ERROR_MEMORY;
    cuda_free(gpu, device);
    planes_footprint_free_cuda(p);
    return status;
}
