/* Cells that labelled points are in, and new labels by cell, on the GPU. In their order neighbours share a cell, so
   runs of equal cells are sorted, with their lengths, and not points. */
#include "backend/cuda_kernel.h"
#include "backend/cuda_primitives.h"
#include "planes/planes_cuda.h"

#define THREADS 256u

typedef struct labelled {
    const planes_cuda_point *points;
    const int32_t *label;
    const planes_axes *axes;
    uint64_t nothing; /* the cell of points without a label: above all others */
} labelled;

static __device__ inline uint64_t cell_of(const labelled *l, uint64_t i) {
    const int32_t label = l->label[i];
    if (label < 0) return l->nothing;
    const uint4 raw = *(const uint4 *)(const void *)&l->points[i];
    planes_cuda_point at;
    memcpy(&at, &raw, sizeof at);
    return planes_cell(&l->axes[label], (uint32_t)label, at.x, at.y, at.z);
}

static __global__ void find_runs(labelled l, uint64_t count, uint8_t *starts) {
    const uint64_t i = (uint64_t)blockIdx.x * THREADS + threadIdx.x;
    if (i < count) starts[i] = i == 0 || cell_of(&l, i) != cell_of(&l, i - 1);
}

/* Cell and length of each run, from where it starts and where the next does. */
static __global__ void measure_runs(labelled l, uint64_t count, const uint32_t *starts, uint64_t runs, uint64_t *cells,
                                    uint32_t *lengths) {
    const uint64_t i = (uint64_t)blockIdx.x * THREADS + threadIdx.x;
    if (i >= runs) return;
    cells[i] = cell_of(&l, starts[i]);
    lengths[i] = (uint32_t)((i + 1 < runs ? starts[i + 1] : count) - starts[i]);
}

static __global__ void find_changes(const uint64_t *cells, uint64_t runs, uint8_t *starts) {
    const uint64_t i = (uint64_t)blockIdx.x * THREADS + threadIdx.x;
    if (i < runs) starts[i] = i == 0 || cells[i] != cells[i - 1];
}

/* Sums the runs of each cell. */
static __global__ void join_runs(const uint64_t *sorted, const uint32_t *lengths, uint64_t runs, const uint32_t *starts,
                                 uint64_t cells, planes_count *out, uint64_t *codes) {
    const uint64_t i = (uint64_t)blockIdx.x * THREADS + threadIdx.x;
    if (i >= cells) return;
    const uint64_t end = i + 1 < cells ? starts[i + 1] : runs;
    planes_count cell;
    memset(&cell, 0, sizeof cell);
    cell.cell = sorted[starts[i]];
    for (uint64_t k = starts[i]; k < end; k++) cell.count += lengths[k];
    out[i] = cell;
    codes[i] = cell.cell;
}

/* ---- the host's side: arrays of one call */

typedef struct cells_work {
    planes_cuda *p;
    labelled l;
    planes_axes *axes;
    uint8_t *flags;   /* [points] */
    uint32_t *starts; /* [points] */
    uint64_t *found;
    cuda_pairs64 runs;
    uint64_t run_count;
    planes_count *cells;
    uint64_t cell_count;
    int key_bits;
} cells_work;

static uint32_t bit_length(uint32_t v) { return v == 0 ? 0 : 32 - (uint32_t)__builtin_clz(v); }

static void free_work(cells_work *w) {
    mote_context *ctx = w->p->base.ctx;
    cuda_free(ctx, w->axes);
    cuda_free(ctx, w->flags);
    cuda_free(ctx, w->starts);
    cuda_free(ctx, w->found);
    cuda_free(ctx, w->runs.keys);
    cuda_free(ctx, w->runs.values);
    cuda_free(ctx, w->runs.other_keys);
    cuda_free(ctx, w->runs.other_values);
    cuda_free(ctx, w->cells);
}

static mote_status take_axes(planes_cuda *p, const planes_axes *axes, uint32_t planes, planes_axes **device) {
    mote_context *ctx = p->base.ctx;
    *device = (planes_axes *)cuda_alloc(ctx, planes * sizeof **device, "planes cells");
    return *device != NULL ? cuda_upload(ctx, *device, axes, planes * sizeof **device) : MOTE_ERROR_MEMORY;
}

static labelled labelled_of(const planes_cuda *p, const planes_axes *axes) {
    const labelled l = {p->points, p->label, axes, UINT64_MAX};
    return l;
}

/* The places where flags are set; how many, to count. Waits. */
static mote_status select_starts(cells_work *w, uint64_t items, uint64_t *count) {
    mote_context *ctx = w->p->base.ctx;
    MOTE_TRY(cuda_select(ctx, w->flags, items, w->starts, w->found));
    return cuda_download(ctx, count, w->found, sizeof *count);
}

static mote_status list_runs(cells_work *w) {
    mote_context *ctx = w->p->base.ctx;
    const uint64_t points = w->p->base.count;
    w->flags = (uint8_t *)cuda_alloc(ctx, points, "planes cells");
    w->starts = (uint32_t *)cuda_alloc(ctx, points * sizeof *w->starts, "planes cells");
    w->found = (uint64_t *)cuda_alloc(ctx, sizeof *w->found, "planes cells");
    if (w->flags == NULL || w->starts == NULL || w->found == NULL) return MOTE_ERROR_MEMORY;
    CUDA_LAUNCH(ctx, find_runs, cuda_blocks(points, THREADS), THREADS, w->l, points, w->flags);
    MOTE_TRY(cuda_launched(ctx, "runs of cells"));
    MOTE_TRY(select_starts(w, points, &w->run_count));
    w->runs.keys = (uint64_t *)cuda_alloc(ctx, w->run_count * sizeof(uint64_t), "planes cells");
    w->runs.values = (uint32_t *)cuda_alloc(ctx, w->run_count * sizeof(uint32_t), "planes cells");
    w->runs.other_keys = (uint64_t *)cuda_alloc(ctx, w->run_count * sizeof(uint64_t), "planes cells");
    w->runs.other_values = (uint32_t *)cuda_alloc(ctx, w->run_count * sizeof(uint32_t), "planes cells");
    MOTE_TRY(mote_context_status(ctx));
    CUDA_LAUNCH(ctx, measure_runs, cuda_blocks(w->run_count, THREADS), THREADS, w->l, points, w->starts, w->run_count,
                w->runs.keys, w->runs.values);
    return cuda_launched(ctx, "runs of cells");
}

/* Sorts the runs and joins those of a cell; points without a label come last. */
static mote_status join_cells(cells_work *w) {
    planes_cuda *p = w->p;
    mote_context *ctx = p->base.ctx;
    const uint64_t runs = w->run_count;
    MOTE_TRY(cuda_sort64(ctx, &w->runs, runs, 0, w->key_bits));
    CUDA_LAUNCH(ctx, find_changes, cuda_blocks(runs, THREADS), THREADS, w->runs.keys, runs, w->flags);
    MOTE_TRY(cuda_launched(ctx, "cells"));
    MOTE_TRY(select_starts(w, runs, &w->cell_count));
    w->cells = (planes_count *)cuda_alloc(ctx, w->cell_count * sizeof *w->cells, "planes cells");
    cuda_free(ctx, p->cell_codes);
    p->cell_codes = (uint64_t *)cuda_alloc(ctx, w->cell_count * sizeof *p->cell_codes, "planes cells");
    if (w->cells == NULL || p->cell_codes == NULL) return MOTE_ERROR_MEMORY;
    CUDA_LAUNCH(ctx, join_runs, cuda_blocks(w->cell_count, THREADS), THREADS, w->runs.keys, w->runs.values, runs,
                w->starts, w->cell_count, w->cells, p->cell_codes);
    return cuda_launched(ctx, "cells");
}

static mote_status count_planes(cells_work *w, const planes_axes *axes, uint32_t planes) {
    w->key_bits = 2 * PLANES_CELL_BITS + (int)bit_length(planes);
    MOTE_TRY(take_axes(w->p, axes, planes, &w->axes));
    w->l = labelled_of(w->p, w->axes);
    MOTE_TRY(list_runs(w));
    return join_cells(w);
}

mote_status planes_cells_cuda(planes_points *points, const planes_axes *axes, planes_count **cells, uint64_t *count) {
    planes_cuda *p = planes_on_cuda(points);
    mote_context *ctx = points->ctx;
    cells_work w;
    memset(&w, 0, sizeof w);
    w.p = p;
    *cells = NULL;
    *count = 0;
    p->cells_of = NULL;
    mote_status status = points->count > 0 && p->labels > 0 ? count_planes(&w, axes, p->labels) : MOTE_OK;
    if (status == MOTE_OK) {
        *cells = (planes_count *)mote_alloc(ctx, w.cell_count * sizeof **cells, "planes cells");
        status =
            *cells != NULL ? cuda_download(ctx, *cells, w.cells, w.cell_count * sizeof **cells) : MOTE_ERROR_MEMORY;
    }
    if (status == MOTE_OK) {
        if (w.cell_count > 0 && (*cells)[w.cell_count - 1].cell == w.l.nothing) w.cell_count--;
        p->cells_of = *cells;
        p->cell_count = *count = w.cell_count;
    } else {
        mote_free(ctx, *cells);
        *cells = NULL;
    }
    free_work(&w);
    return status;
}

/* ---- new labels */

static __global__ void relabel_points(labelled l, uint64_t count, const uint64_t *codes, uint64_t cells,
                                      const int32_t *labels, int32_t *label) {
    const uint64_t i = (uint64_t)blockIdx.x * THREADS + threadIdx.x;
    if (i >= count || label[i] < 0) return;
    const uint64_t cell = cell_of(&l, i);
    uint64_t low = 0, high = cells;
    while (high - low > 1) {
        const uint64_t middle = low + (high - low) / 2;
        if (codes[middle] <= cell) {
            low = middle;
        } else {
            high = middle;
        }
    }
    label[i] = labels[low];
}

/* Those that cells made are still here; others are uploaded. */
static mote_status take_codes(planes_cuda *p, const planes_count *cells, uint64_t count) {
    mote_context *ctx = p->base.ctx;
    if (p->cells_of == cells && p->cell_count == count && p->cell_codes != NULL) return MOTE_OK;
    uint64_t *codes = (uint64_t *)(void *)planes_cuda_scratch(p, count * sizeof *codes);
    if (codes == NULL) return MOTE_ERROR_MEMORY;
    for (uint64_t i = 0; i < count; i++) codes[i] = cells[i].cell;
    cuda_free(ctx, p->cell_codes);
    p->cells_of = NULL;
    p->cell_codes = (uint64_t *)cuda_alloc(ctx, count * sizeof *codes, "planes cells");
    return p->cell_codes != NULL ? cuda_upload(ctx, p->cell_codes, codes, count * sizeof *codes) : MOTE_ERROR_MEMORY;
}

mote_status planes_relabel_cuda(planes_points *points, const planes_axes *axes, const planes_count *cells,
                                uint64_t count, const int32_t *labels) {
    planes_cuda *p = planes_on_cuda(points);
    mote_context *ctx = points->ctx;
    planes_axes *device = NULL;
    int32_t *new_labels = NULL;
    if (count == 0 || points->count == 0) return MOTE_OK;
    mote_status status = take_codes(p, cells, count);
    if (status == MOTE_OK) status = take_axes(p, axes, p->labels, &device);
    if (status == MOTE_OK) {
        new_labels = (int32_t *)cuda_alloc(ctx, count * sizeof *labels, "planes cells");
        status = new_labels != NULL ? cuda_upload(ctx, new_labels, labels, count * sizeof *labels) : MOTE_ERROR_MEMORY;
    }
    if (status == MOTE_OK) {
        CUDA_LAUNCH(ctx, relabel_points, cuda_blocks(points->count, THREADS), THREADS, labelled_of(p, device),
                    points->count, p->cell_codes, count, new_labels, p->label);
        status = cuda_launched(ctx, "new labels");
    }
    cuda_free(ctx, new_labels);
    cuda_free(ctx, device);
    return status;
}
