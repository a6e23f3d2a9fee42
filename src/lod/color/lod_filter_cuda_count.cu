/* Marks of points, and how many cells of each level begin in each tile of points. */
#include "device/cuda/cuda_primitives.h"
#include "lod/color/lod_filter_cuda.cuh"

/* The mark of a point by its code and that of the point before: mote_lod_shared_level + 1. Codes have 63 bits; those of
   no point have all 64. */
#define NO_CODE (1ull << 63)
static __device__ uint32_t mark_of(uint64_t before, uint64_t code) {
    return (uint32_t)(__clzll((long long)(before ^ code)) + 2) / 3;
}

/* Marks above all levels are not counted. */
#define MARKS FILTER_LEVELS

static __device__ void store_bytes(uint8_t *to, unsigned long long bytes, uint32_t count) {
    if (count == filter_policy::lane_points) {
        *(unsigned long long *)to = bytes;
        return;
    }
    for (uint32_t i = 0; i < filter_policy::lane_points; i++) {
        if (i < count) to[i] = (uint8_t)(bytes >> 8 * i);
    }
}

/* How many marks there are of each kind: of points, and of those that begin no row on the level that they tell. */
typedef struct mark_bins {
    uint32_t cells[MARKS], no_rows[MARKS];
} mark_bins;
static_assert(MARKS == CUDA_WARP, "a lane for each mark");

/* A lane marks some points in a row. */
template <bool FINE>
static __device__ void mark_points(const filter_cells_view &view, uint64_t first, uint8_t *marks, mark_bins *bins) {
    const uint64_t position = first + threadIdx.x % CUDA_WARP * filter_policy::lane_points;
    const uint32_t own = filter_lane_count(position, view.count);
    if (own == 0) return;
    const uint64_t *const codes = view.codes + position;
    const unsigned long long leaf_levels = filter_load_bytes(view.leaf_level + position, own);
    unsigned long long own_flags = 0;
    uint64_t code[filter_policy::lane_points + 1];
    code[0] = position > 0 ? codes[-1] : NO_CODE;
    for (uint32_t i = 0; i < filter_policy::lane_points; i++) code[i + 1] = codes[i < own ? i : 0];
    for (uint32_t i = 0; i < filter_policy::lane_points; i++) {
        uint32_t mark = mark_of(code[i], code[i + 1]);
        if (FINE && i < own && code[i] == code[i + 1]) {
            mark = ORDER_FINE_FIRST + mark_of(view.fine[position + i - 1], view.fine[position + i]);
        }
        const uint32_t limit = filter_row_limit((uint32_t)(leaf_levels >> 8 * i) & 255, view.grid_bits);
        own_flags |= (unsigned long long)mark << 8 * i;
        const bool counts = i < own && (!FINE || mark < MARKS);
        if (counts) atomicAdd(&bins->cells[mark], 1u);
        if (counts) atomicAdd(&bins->no_rows[mark > limit ? mark : limit], 1u);
    }
    store_bytes(marks + position, own_flags, own);
}

/* counts: what becomes filter_cells_view.before */
template <bool FINE> static __global__ void count_begins(filter_cells_view view, uint8_t *marks, uint32_t *counts) {
    __shared__ mark_bins bins[filter_policy::warps];
    const uint32_t lane = threadIdx.x % CUDA_WARP, warp = threadIdx.x / CUDA_WARP;
    mark_bins *const own = &bins[warp];
    own->cells[lane] = own->no_rows[lane] = 0;
    __syncwarp();
    mark_points<FINE>(view, ((uint64_t)blockIdx.x * filter_policy::warps + warp) * filter_policy::tile, marks, own);
    __syncwarp();
    const uint32_t cells = warp_scan_inclusive(own->cells[lane]), no_rows = warp_scan_inclusive(own->no_rows[lane]);
    own->cells[lane] = cells;
    own->no_rows[lane] = no_rows;
    __syncthreads();
    const uint32_t lists = view.finest + view.finest_brick + 2;
    for (uint32_t i = threadIdx.x; i < lists * filter_policy::warps; i += filter_policy::threads) {
        const uint32_t list = i / filter_policy::warps,
                       tile = blockIdx.x * filter_policy::warps + i % filter_policy::warps;
        const mark_bins *const from = &bins[i % filter_policy::warps];
        const uint32_t row_level = list - view.finest - 1;
        const uint32_t count =
            list <= view.finest ? from->cells[list] : from->cells[row_level] - from->no_rows[row_level];
        if (tile < view.tiles) counts[(uint64_t)list * view.tiles + tile] = count;
    }
}

static __global__ void list_totals(const uint32_t *before, uint32_t tiles, uint32_t lists, unsigned long long *totals) {
    const uint32_t list = threadIdx.x;
    if (list < lists) totals[list] = before[(uint64_t)(list + 1) * tiles] - before[(uint64_t)list * tiles];
}

/* ---- crowds */

#define CROWD_STEP (FILTER_CROWD / 2)

/* A cell of more than FILTER_CROWD points holds two that are CROWD_STEP apart and whose positions are multiples of it:
   the finest level whose cells may be such, plus one; else 0. */
static __global__ void find_crowds(const uint64_t *codes, const uint64_t *fine, uint64_t count,
                                   unsigned long long *crowd) {
    const uint64_t i = ((uint64_t)blockIdx.x * filter_policy::threads + threadIdx.x) * CROWD_STEP;
    if (i + CROWD_STEP >= count) return;
    uint32_t level = mote_lod_shared_level(codes[i], codes[i + CROWD_STEP]);
    if (fine != NULL && level == MOTE_ORDER_BITS) {
        level = ORDER_FINE_FIRST + mote_lod_shared_level(fine[i], fine[i + CROWD_STEP]);
    }
    atomicMax(crowd, (unsigned long long)level + 1);
}

mote_status filter_find_crowd(lod_filter *f, unsigned long long *crowd) {
    mote_device *gpu = f->lod->device;
    MOTE_TRY(cuda_fill(gpu, crowd, 0, sizeof *crowd));
    CUDA_LAUNCH(gpu, find_crowds, cuda_blocks(f->lod->count / CROWD_STEP, filter_policy::threads),
                filter_policy::threads, f->device->codes, f->device->fine, f->lod->count, crowd);
    return cuda_launched(gpu, "finding crowds");
}

/* ---- the host's side */

/* The levels of cells that are averaged over, and those of their parts. */
static void plan_levels(lod_filter *f) {
    const mote_lod *lod = f->lod;
    filter_cells_view *view = &f->view;
    const uint32_t finest = lod_cell_level(lod, lod->level_count - 2), parts = finest + 3;
    view->placed = lod->params.filter == MOTE_LOD_FILTER_GAUSSIAN;
    view->codes = f->device->codes;
    view->fine = f->device->fine;
    view->leaf_level = f->device->leaf_level;
    view->count = lod->count;
    view->tiles = cuda_blocks(lod->count, filter_policy::tile);
    view->grid_bits = lod_cell_level(lod, 0);
    view->finest_brick = filter_brick_level(finest);
    view->finest = finest < 2 ? 2 : finest; /* even one brick has its cells two levels finer */
    if (view->placed) view->finest = parts < lod->finest ? parts : lod->finest;
}

/* Counts cells and rows of all levels. crowd: of filter_find_crowd */
static mote_status download_counts(lod_filter *f, unsigned long long *crowd) {
    mote_device *gpu = f->lod->device;
    filter_cells_view *view = &f->view;
    const uint32_t lists = view->finest + view->finest_brick + 2;
    const uint64_t counts = (uint64_t)lists * view->tiles + 1;
    unsigned long long totals[2 * FILTER_LEVELS + 1];
    unsigned long long *device = (unsigned long long *)cuda_alloc(gpu, sizeof totals, "filter counts");
    f->before = (uint32_t *)cuda_alloc(gpu, counts * sizeof *f->before, "filter counts");
    f->marks = (uint8_t *)cuda_alloc(gpu, view->count, "filter marks");
    mote_status status = device != NULL && f->before != NULL && f->marks != NULL ? MOTE_OK : MOTE_ERROR_MEMORY;
    if (status == MOTE_OK) status = filter_find_crowd(f, device + lists);
    if (status == MOTE_OK) status = cuda_fill(gpu, f->before + (counts - 1), 0, sizeof *f->before);
    if (status == MOTE_OK) {
        void (*const kernel)(filter_cells_view, uint8_t *, uint32_t *) =
            view->fine != NULL ? count_begins<true> : count_begins<false>;
        CUDA_LAUNCH(gpu, kernel, cuda_blocks(view->tiles, filter_policy::warps), filter_policy::threads, *view,
                    f->marks, f->before);
        status = cuda_sum32(gpu, f->before, f->before, counts);
    }
    if (status == MOTE_OK) {
        CUDA_LAUNCH(gpu, list_totals, 1u, 2 * CUDA_WARP, f->before, view->tiles, lists, device);
        status = cuda_launched(gpu, "counting cells");
    }
    if (status == MOTE_OK) status = cuda_download(gpu, totals, device, (lists + 1) * sizeof *totals);
    cuda_free(gpu, device);
    if (status != MOTE_OK) return status;
    view->before = f->before;
    view->marks = f->marks;
    for (uint32_t l = 0; l <= view->finest; l++) view->cells[l] = totals[l];
    for (uint32_t l = 0; l <= view->finest_brick; l++) view->rows[l] = totals[view->finest + 1 + l];
    *crowd = totals[lists];
    return MOTE_OK;
}

/* Which levels are sources, and of which. Gaussian wants eighths of cells, or finer ones that tell as much of places at
   about the same cost. */
static void choose_sources(lod_filter *f) {
    const mote_lod *lod = f->lod;
    filter_cells_view *view = &f->view;
    uint32_t source = 0;
    for (uint32_t l = lod->level_count - 1; l-- > 0;) {
        const uint32_t cell = lod_cell_level(lod, l), parts = cell + 3 < lod->finest ? cell + 3 : lod->finest;
        const uint32_t wanted = view->placed ? parts : cell;
        const bool keep = view->placed && source != 0 && (wanted == cell || source - cell <= SOURCE_LEVELS) &&
                          3 * view->cells[source] < 4 * view->cells[wanted];
        if (!keep) source = wanted;
        view->source_level[cell] = (uint8_t)source;
    }
}

mote_status filter_count_cells(lod_filter *f) {
    unsigned long long crowd;
    plan_levels(f);
    MOTE_TRY(download_counts(f, &crowd));
    f->crowd = (uint32_t)crowd;
    choose_sources(f);
    f->colors = (filter_color *)cuda_alloc(f->lod->device, f->lod->count * sizeof *f->colors, "filter colours");
    return f->colors != NULL ? MOTE_OK : MOTE_ERROR_MEMORY;
}
