/* Sources of colour filters: sums of colours over the points of a cell, built from level to level. */
#include "backend/cuda_primitives.h"
#include "lod/lod_filter_cuda.h"

#define BINS        32u
#define MARK_BLOCKS 2048u

/* ---- marks */

static __device__ uint8_t mark_of(const uint64_t *codes, uint64_t i) {
    const uint8_t slice = i % SLICE_POINTS == 0 ? MARK_SLICE : 0;
    if (i == 0) return slice;
    return (uint8_t)(slice | (mote_lod_shared_level(codes[i - 1], codes[i]) + 1));
}

/* histogram [3][BINS]: marks of all points, of those that begin FIRST_POINTS, of those that begin a slice */
static __global__ void mark_points(const uint64_t *codes, uint64_t count, uint8_t *marks,
                                   unsigned long long *histogram) {
    __shared__ uint32_t bins[FILTER_WARPS][BINS];
    const uint32_t warp = threadIdx.x / CUDA_WARP;
    bins[warp][threadIdx.x % CUDA_WARP] = 0;
    __syncwarp();
    const uint64_t step = (uint64_t)gridDim.x * FILTER_THREADS;
    for (uint64_t i = (uint64_t)blockIdx.x * FILTER_THREADS + threadIdx.x; i < count; i += step) {
        const uint8_t mark = mark_of(codes, i);
        marks[i] = mark;
        atomicAdd(&bins[warp][mark & MARK_LEVELS], 1u);
        if (i % FIRST_POINTS == 0) atomicAdd(&histogram[BINS + (mark & MARK_LEVELS)], 1ull);
        if (i % SLICE_POINTS == 0) atomicAdd(&histogram[2 * BINS + (mark & MARK_LEVELS)], 1ull);
    }
    __syncthreads();
    if (threadIdx.x < BINS) {
        unsigned long long sum = 0;
        for (uint32_t w = 0; w < FILTER_WARPS; w++) sum += bins[w][threadIdx.x];
        if (sum > 0) atomicAdd(&histogram[threadIdx.x], sum);
    }
}

static void count_levels(filter_counts *counts, const unsigned long long histogram[3][BINS]) {
    for (uint32_t level = 0; level <= MOTE_ORDER_BITS; level++) {
        uint64_t cells = 0, firsts = 0, slices = 0;
        for (uint32_t mark = 0; mark < BINS; mark++) {
            if (mark <= level) {
                cells += histogram[0][mark];
            } else {
                firsts += histogram[1][mark];
                slices += histogram[2][mark];
            }
        }
        counts->cells[level] = cells;
        counts->first_sources[level] = cells + firsts;
        counts->sources[level] = cells + slices;
    }
}

mote_status filter_mark(lod_filter *f) {
    mote_context *ctx = f->lod->ctx;
    const uint64_t count = f->lod->count;
    unsigned long long histogram[3][BINS];
    mote_status status = MOTE_ERROR_MEMORY;
    unsigned long long *device = (unsigned long long *)cuda_alloc(ctx, sizeof histogram, "filter counts");
    f->marks = (uint8_t *)cuda_alloc(ctx, count, "filter marks");
    if (device == NULL || f->marks == NULL) goto done;
    status = cuda_fill(ctx, device, 0, sizeof histogram);
    if (status != MOTE_OK) goto done;
    {
        const uint32_t blocks = cuda_blocks(count, FILTER_THREADS);
        CUDA_LAUNCH(ctx, mark_points, blocks < MARK_BLOCKS ? blocks : MARK_BLOCKS, FILTER_THREADS, f->device->codes,
                    count, f->marks, device);
    }
    status = cuda_launched(ctx, "marking cells");
    if (status == MOTE_OK) status = cuda_download(ctx, histogram, device, sizeof histogram);
    if (status == MOTE_OK) count_levels(&f->counts, histogram);
done:
    cuda_free(ctx, device);
    return status;
}

/* ---- sums */

static __device__ uint32_t place_of(uint64_t code, uint32_t level, uint32_t count) {
    const uint64_t cell = code >> (3 * (MOTE_ORDER_BITS - level));
    return (uint32_t)(cell & ((1u << (3 * SOURCE_LEVELS)) - 1)) << SOURCE_COUNT_BITS | count;
}

static __device__ filter_source sum_run_of_points(const filter_color *colors, const uint8_t *marks, uint64_t count,
                                                  uint64_t first, uint32_t level) {
    filter_source sum = {{0, 0, 0}, 0};
    uint64_t i = first;
    do {
        const filter_color color = colors[i];
        for (int k = 0; k < 3; k++) sum.sum[k] += color.v[k];
        i++;
    } while (i < count && !filter_begins<FILTER_FIRST_SOURCES>(marks[i], i, level));
    sum.place = (uint32_t)(i - first);
    return sum;
}

static __device__ filter_source sum_run_of_sources(const filter_sources &in, uint64_t first, uint32_t level) {
    const uint32_t count_mask = (1u << SOURCE_COUNT_BITS) - 1;
    filter_source sum = {{0, 0, 0}, 0};
    uint64_t i = first;
    do {
        const filter_source own = in.sums[i];
        for (int k = 0; k < 3; k++) sum.sum[k] += own.sum[k];
        sum.place += own.place & count_mask;
        i++;
    } while (i < in.count && !filter_begins<FILTER_SOURCES>(in.marks[i], i, level));
    return sum;
}

static __device__ void put_source(const filter_sources &out, uint64_t at, filter_source sum, const uint64_t *codes,
                                  uint32_t first, uint8_t mark) {
    sum.place = place_of(codes[first], out.level, sum.place);
    out.sums[at] = sum;
    out.first[at] = first;
    out.marks[at] = mark;
}

/* One thread for each source sums up its points. before: selected items before each block */
static __global__ void sum_points(const filter_color *colors, const uint8_t *marks, const uint64_t *codes,
                                  uint64_t count, const uint32_t *before, filter_sources out) {
    __shared__ uint32_t ranks[1][FILTER_ROUNDS * FILTER_WARPS];
    uint32_t chosen[1][FILTER_ROUNDS];
    const filter_levels levels = {{out.level}};
    filter_select<FILTER_FIRST_SOURCES, 1>(marks, count, levels, chosen);
    filter_rank<1>(chosen, ranks);
    for (uint32_t r = 0; r < FILTER_ROUNDS; r++) {
        if (!filter_is_chosen(chosen[0][r])) continue;
        const uint64_t i = filter_item(r);
        const uint64_t at = before[blockIdx.x] + filter_place(chosen[0][r], ranks[0], r);
        put_source(out, at, sum_run_of_points(colors, marks, count, i, out.level), codes, (uint32_t)i, marks[i]);
    }
}

static __global__ void sum_sources(filter_sources in, const uint64_t *codes, const uint32_t *before,
                                   filter_sources out) {
    __shared__ uint32_t ranks[1][FILTER_ROUNDS * FILTER_WARPS];
    uint32_t chosen[1][FILTER_ROUNDS];
    const filter_levels levels = {{out.level}};
    filter_select<FILTER_SOURCES, 1>(in.marks, in.count, levels, chosen);
    filter_rank<1>(chosen, ranks);
    for (uint32_t r = 0; r < FILTER_ROUNDS; r++) {
        if (!filter_is_chosen(chosen[0][r])) continue;
        const uint64_t i = filter_item(r);
        const uint64_t at = before[blockIdx.x] + filter_place(chosen[0][r], ranks[0], r);
        put_source(out, at, sum_run_of_sources(in, i, out.level), codes, in.first[i], in.marks[i]);
    }
}

static mote_status open_sources(lod_filter *f, uint64_t count, filter_sources *sources) {
    mote_context *ctx = f->lod->ctx;
    if (sources->sums == NULL) {
        sources->sums = (filter_source *)cuda_alloc(ctx, count * sizeof *sources->sums, "filter sums");
        sources->first = (uint32_t *)cuda_alloc(ctx, count * sizeof *sources->first, "filter sums");
        sources->marks = (uint8_t *)cuda_alloc(ctx, count, "filter sums");
    }
    const bool made = sources->sums != NULL && sources->first != NULL && sources->marks != NULL;
    return made ? MOTE_OK : MOTE_ERROR_MEMORY;
}

static mote_status from_points(lod_filter *f, uint32_t level) {
    mote_context *ctx = f->lod->ctx;
    const uint64_t count = f->lod->count;
    const uint32_t blocks = cuda_blocks(count, FILTER_ITEMS);
    const filter_levels levels = {{level}};
    MOTE_TRY(open_sources(f, f->counts.first_sources[level], &f->sources));
    f->sources.level = level;
    f->sources.count = f->counts.first_sources[level];
    CUDA_LAUNCH(ctx, (filter_count<FILTER_FIRST_SOURCES, 1>), blocks, FILTER_THREADS, f->marks, count, levels,
                f->selected);
    MOTE_TRY(cuda_sum32(ctx, f->selected, f->selected, blocks));
    CUDA_LAUNCH(ctx, sum_points, blocks, FILTER_THREADS, f->colors, f->marks, f->device->codes, count, f->selected,
                f->sources);
    return cuda_launched(ctx, "summing up colours");
}

/* The sums of a level from those of a finer one. The spare ones are fewer each time, so that their room serves on. */
static mote_status from_sources(lod_filter *f, uint32_t level) {
    mote_context *ctx = f->lod->ctx;
    const filter_sources in = f->sources;
    const uint32_t blocks = cuda_blocks(in.count, FILTER_ITEMS);
    const filter_levels levels = {{level}};
    MOTE_TRY(open_sources(f, f->counts.sources[level], &f->spare));
    f->sources = f->spare;
    f->spare = in;
    f->sources.level = level;
    f->sources.count = f->counts.sources[level];
    CUDA_LAUNCH(ctx, (filter_count<FILTER_SOURCES, 1>), blocks, FILTER_THREADS, in.marks, in.count, levels,
                f->selected);
    MOTE_TRY(cuda_sum32(ctx, f->selected, f->selected, blocks));
    CUDA_LAUNCH(ctx, sum_sources, blocks, FILTER_THREADS, in, f->device->codes, f->selected, f->sources);
    return cuda_launched(ctx, "summing up colours");
}

mote_status filter_make_sources(lod_filter *f, uint32_t level, uint32_t cell_level) {
    if (f->sources.sums == NULL) {
        MOTE_TRY(from_points(f, level));
        cuda_free(f->lod->ctx, f->colors);
        cuda_free(f->lod->ctx, f->marks);
        f->colors = NULL;
        f->marks = NULL;
        return MOTE_OK;
    }
    if (f->sources.level == level) return MOTE_OK;
    const bool placed = level == cell_level || f->sources.level - cell_level <= SOURCE_LEVELS;
    /* Where hardly fewer sources would come of it, they are not summed up again. */
    if (placed && 3 * f->sources.count < 4 * f->counts.sources[level]) return MOTE_OK;
    return from_sources(f, level);
}

static void free_sources(mote_context *ctx, filter_sources *sources) {
    cuda_free(ctx, sources->sums);
    cuda_free(ctx, sources->first);
    cuda_free(ctx, sources->marks);
}

void filter_free_sources(lod_filter *f) {
    free_sources(f->lod->ctx, &f->sources);
    free_sources(f->lod->ctx, &f->spare);
}
