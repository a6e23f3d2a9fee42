/* The order of the points of an index: along a Hilbert curve through cells, 2^21 a side.

   A cell may hold any number of points, and leaves of its points would be as large as it is. So a long run of one code
   is sorted again by the cells of its own box, and so on, until runs are short or all their points are in one place:

     codes  3 3 3 3 3 3 3 3 7 8 8 9 ...     a run of cell 3  ->  its points by the cells of their box  ->  ...

   Runs do not touch each other: they are dealt out to the threads, except large ones, on which all work. */
#include "core/cloud.h"
#include "core/column_math.h"
#include "knn/cpu/knn_build_cpu.h"
#include "math/hash.h"
#include "order/lattice/lattice.h"

#define WINDOW        64u  /* points: a run twice as long surely has one from a multiple of it on */
#define SAMPLE        256u /* points that tell how nearly all lie */
#define LARGER_SAMPLE 4096u
#define MAX_OUTSIDE   4u /* of those: more are not a few */
#define TRIMMED       2u
#define STRETCHED     8          /* times as long as the cube around nearly all */
#define LARGEST       (1u << 20) /* points that one thread works on, unseen by progress; even, so that memory is aligned */
#define FINEST        KNN_NEAR /* side of a cell in the world: its points stay in the order of their indices */
#define VANISHES      0x1p-60  /* floats do not tell squares of such distances from 0 */

/* ---- cells */

/* The value of finite points of the sample that TRIMMED others are below, and that as many are above; false: too few.
 */
static bool trimmed_sample(const mote_column *axis, uint64_t count, double *low, double *high) {
    double sorted[SAMPLE];
    uint32_t finite = 0;
    for (uint64_t i = 0; i < SAMPLE; i++) {
        const double value = mote_column_value(axis, mote_mul_high(mote_hash64(i + 1), count));
        uint32_t to = finite;
        if (!isfinite(value)) continue;
        for (finite++; to > 0 && sorted[to - 1] > value; to--) sorted[to] = sorted[to - 1];
        sorted[to] = value;
    }
    if (finite < SAMPLE / 2) return false;
    *low = sorted[TRIMMED];
    *high = sorted[finite - 1 - TRIMMED];
    return true;
}

/* How many points of a larger sample lie outside a cube. */
static uint32_t count_outside(const mote_column *const axes[3], uint64_t count, const double low[3], double side) {
    uint32_t outside = 0;
    for (uint64_t i = 0; i < LARGER_SAMPLE; i++) {
        const uint64_t point = mote_mul_high(mote_hash64(SAMPLE + i + 1), count);
        bool is_inside = true;
        for (int k = 0; k < 3; k++) {
            const double away = mote_column_value(axes[k], point) - low[k];
            is_inside = is_inside && away >= 0 && away <= side;
        }
        outside += !is_inside;
    }
    return outside;
}

/* Cells divide the cube of the lattice. Where a few points stretch that, they divide one around nearly all: the sample,
   less TRIMMED points on each side, and half as much again around it; points outside are in the cells at its border. */
static void make_cells(mote_knn_index *index, const mote_column *const axes[3]) {
    const mote_lattice *lattice = &index->lattice;
    const uint64_t count = index->cloud->count;
    knn_cells *cells = &index->cells;
    double low[3], high[3], side = 0, whole = 0;
    knn_cells_make(lattice, cells);
    if (count < LARGER_SAMPLE) return;
    for (int k = 0; k < 3; k++) {
        if (!trimmed_sample(axes[k], count, &low[k], &high[k])) return;
        side = fmax(side, 2 * (high[k] - low[k]));
        whole = fmax(whole, KNN_CELLS / cells->per_unit[k]);
    }
    for (int k = 0; k < 3; k++) low[k] += (high[k] - low[k]) / 2 - side / 2;
    if (!(side > 0 && side * STRETCHED < whole) || count_outside(axes, count, low, side) > MAX_OUTSIDE) return;
    for (int k = 0; k < 3; k++) {
        cells->first_step[k] = (low[k] - cells->low[k]) / lattice->scale[k];
        cells->low[k] = low[k];
        cells->per_unit[k] = KNN_CELLS / side;
        cells->per_step[k] = cells->per_unit[k] * lattice->scale[k];
    }
}

/* ---- codes */

uint64_t knn_code_of_world(const mote_column *const axes[3], const knn_cells *by, uint64_t i) {
    uint32_t cell[3];
    for (int k = 0; k < 3; k++) {
        const double value = mote_column_value(axes[k], i);
        if (!isfinite(value)) return UINT64_MAX;
        cell[k] = knn_cell(value, by->low[k], by->per_unit[k]);
    }
    return knn_cell_code(&by->hilbert, cell[0], cell[1], cell[2]);
}

/* The cells of an axis straight from stored values: what rounding moves to the next cell is as good there. */
static void plain_cells(const mote_column *axis, const knn_cells *by, int k, uint64_t first, uint32_t count,
                        uint32_t *cells, uint8_t *bad) {
    double values[LATTICE_BLOCK];
    for (uint32_t j = 0; j < count; j++) values[j] = column_real(column_at(axis, first + j), axis->type);
    for (uint32_t j = 0; j < count; j++) bad[j] |= !(values[j] * 0 == 0);
    for (uint32_t j = 0; j < count; j++) cells[j] = knn_cell(values[j], by->low[k], by->per_unit[k]);
}

static void step_cells(const knn_cells *by, int k, uint32_t count, uint32_t *steps) {
    for (uint32_t j = 0; j < count; j++) steps[j] = knn_cell(steps[j], by->first_step[k], by->per_step[k]);
}

static void codes_of(const mote_knn_index *index, const mote_column *const axes[3], uint64_t first, uint32_t count) {
    uint32_t cells[3][LATTICE_BLOCK];
    uint8_t bad[LATTICE_BLOCK] = {0};
    const bool plain = column_are_plain_reals(axes);
    if (!plain) lattice_block(index->cloud, &index->lattice, first, NULL, count, cells, bad);
    for (int k = 0; k < 3; k++) {
        if (plain) {
            plain_cells(axes[k], &index->cells, k, first, count, cells[k], bad);
        } else {
            step_cells(&index->cells, k, count, cells[k]);
        }
    }
    for (uint32_t j = 0; j < count; j++) {
        const uint64_t code = knn_cell_code(&index->cells.hilbert, cells[0][j], cells[1][j], cells[2][j]);
        index->codes[first + j] = bad[j] ? UINT64_MAX : code;
    }
}

static mote_status make_codes(mote_knn_index *index, const mote_column *const axes[3]) {
    const uint64_t blocks = (index->cloud->count + LATTICE_BLOCK - 1) / LATTICE_BLOCK;
#pragma omp parallel for schedule(dynamic, 16) num_threads(index->ctx->threads)
    for (uint64_t b = 0; b < blocks; b++) {
        if (mote_stop(index->ctx)) continue;
        const uint64_t first = b * LATTICE_BLOCK, remaining = index->cloud->count - first;
        codes_of(index, axes, first, remaining < LATTICE_BLOCK ? (uint32_t)remaining : LATTICE_BLOCK);
    }
    return mote_stopped(index->ctx);
}

/* ---- runs of one code */

/* [first, end) of the order. */
typedef struct code_run {
    uint64_t first, end;
} code_run;

typedef struct refiner {
    mote_knn_index *index;
    int threads;    /* that work on a run */
    uint64_t large; /* runs of more points are worked on by all threads */
    const mote_column *axes[3];
    double scale[3];
    order_scratch room;
} refiner;

static int threads_for(const refiner *r, const code_run *run) {
    return run->end - run->first > r->large ? r->threads : 1;
}

/* The box of a run in stored values; its longest side in the world. */
static double side_of_run(const refiner *r, const code_run *run, double low[3]) {
    double side = 0;
    for (int k = 0; k < 3; k++) {
        double min = INFINITY, max = -INFINITY;
#pragma omp parallel for schedule(static) num_threads(threads_for(r, run)) reduction(min : min) reduction(max : max)
        for (uint64_t i = run->first; i < run->end; i++) {
            const double value = mote_column_stored(r->axes[k], r->index->order[i]);
            min = value < min ? value : min;
            max = value > max ? value : max;
        }
        low[k] = min;
        side = fmax(side, (max - min) * r->scale[k]);
    }
    return side;
}

static uint64_t code_in(const refiner *r, const double low[3], double side, uint32_t point) {
    uint32_t cell[3];
    for (int k = 0; k < 3; k++) {
        const double away = (mote_column_stored(r->axes[k], point) - low[k]) * r->scale[k] / side;
        cell[k] = knn_cell(away, 0, KNN_CELLS);
    }
    return knn_cell_code(&r->index->cells.hilbert, cell[0], cell[1], cell[2]);
}

static mote_status sort_run(const refiner *r, const code_run *run) {
    mote_context *ctx = r->index->ctx;
    const uint64_t count = run->end - run->first;
    uint64_t *codes = r->index->codes + run->first;
    uint32_t *order = r->index->order + run->first;
    if (count <= r->large) { /* perhaps by one of several threads */
        order_sort_alone(codes, order, count, r->room.pairs);
        return MOTE_OK;
    }
    const mote_progress_span whole = mote_progress_enter(ctx, 0.7, 0.7);
    const mote_status status = order_sort_in(ctx, codes, order, count, true, &r->room);
    mote_progress_leave(ctx, whole);
    return status;
}

/* The next run after *run that holds a whole window: those of a multiple of WINDOW from within->first on. */
static bool next_run(const uint64_t *codes, const code_run *within, code_run *run) {
    const uint64_t windows = (run->end - within->first + WINDOW - 1) / WINDOW;
    for (uint64_t i = within->first + windows * WINDOW; i + WINDOW <= within->end; i += WINDOW) {
        if (codes[i] != codes[i + WINDOW - 1]) continue;
        run->first = i;
        while (run->first > within->first && codes[run->first - 1] == codes[i]) run->first--;
        run->end = i + WINDOW;
        while (run->end < within->end && codes[run->end] == codes[i]) run->end++;
        return true;
    }
    return false;
}

static mote_status refine_run(const refiner *r, const code_run *run) {
    uint64_t *codes = r->index->codes;
    const uint64_t code = codes[run->first];
    double low[3];
    const double side = side_of_run(r, run, low), divided = fmax(side, FINEST * KNN_CELLS);
    if (side < VANISHES && side > 0) __atomic_store_n(&r->index->dense, true, __ATOMIC_RELAXED);
    if (!(side > FINEST && side < INFINITY)) return MOTE_OK;
#pragma omp parallel for schedule(static) num_threads(threads_for(r, run))
    for (uint64_t i = run->first; i < run->end; i++) codes[i] = code_in(r, low, divided, r->index->order[i]);
    mote_status status = sort_run(r, run);
    for (code_run part = {run->first, run->first}; status == MOTE_OK && next_run(codes, run, &part);) {
        status = refine_run(r, &part);
    }
    for (uint64_t i = run->first; i < run->end; i++) codes[i] = code;
    return status;
}

/* Refines large runs, by all threads, and lists the others: in memory that the sort of the former has used. */
static mote_status refine_large_runs(const refiner *r, const code_run *all, code_run *others, uint64_t *other_count) {
    *other_count = 0;
    for (code_run run = {0, 0}; next_run(r->index->codes, all, &run);) {
        if (run.end - run.first > r->large) MOTE_TRY(refine_run(r, &run));
    }
    for (code_run run = {0, 0}; next_run(r->index->codes, all, &run);) {
        if (run.end - run.first <= r->large) others[(*other_count)++] = run;
    }
    return MOTE_OK;
}

/* Each run by one thread, in its share of the memory; such a sort cannot fail. */
static mote_status refine_other_runs(const refiner *r, const code_run *runs, uint64_t run_count) {
#pragma omp parallel for schedule(dynamic, 1) num_threads(r->threads)
    for (uint64_t i = 0; i < run_count; i++) {
        if (mote_stop(r->index->ctx)) continue;
        refiner own = *r;
        own.room.pairs = (uint8_t *)r->room.pairs + (uint64_t)mote_thread_number() * r->large * ORDER_PAIR_BYTES;
        (void)refine_run(&own, &runs[i]);
    }
    return mote_stopped(r->index->ctx);
}

/* index->codes and order are sorted; codes stay as they are. */
static mote_status refine(mote_knn_index *index, const mote_column *const axes[3]) {
    const code_run all = {0, index->cloud->count - index->skipped};
    code_run first = {0, 0};
    uint64_t run_count = 0;
    if (!next_run(index->codes, &all, &first)) return MOTE_OK;
    refiner r = {.index = index, .threads = index->ctx->threads, .room = knn_tree_lend(&index->stored)};
    const uint64_t share = all.end / (uint64_t)r.threads;
    code_run *const runs = (code_run *)(void *)r.room.counters;
    for (int k = 0; k < 3; k++) {
        r.axes[k] = axes[k];
        r.scale[k] = fabs(axes[k]->scale);
    }
    r.large = share < LARGEST ? share / 2 * 2 : LARGEST;
    MOTE_TRY(refine_large_runs(&r, &all, runs, &run_count));
    return refine_other_runs(&r, runs, run_count);
}

/* ---- all of it */

static mote_status reserve(mote_knn_index *index) {
    mote_context *ctx = index->ctx;
    const uint64_t count = index->cloud->count;
    void *codes = index->codes, *order = index->order;
    const bool made = mote_reserve_scratch(ctx, &codes, &index->codes_capacity, count, sizeof *index->codes, "codes") &&
                      mote_reserve_scratch(ctx, &order, &index->order_capacity, count, sizeof *index->order, "order");
    index->codes = codes;
    index->order = order;
    return made ? knn_tree_reserve(ctx, &index->stored, count) : MOTE_ERROR_MEMORY;
}

static mote_status sort_points(mote_knn_index *index) {
    mote_context *ctx = index->ctx;
    const order_scratch scratch = knn_tree_lend(&index->stored);
    const mote_progress_span whole = mote_progress_enter(ctx, 0.3, 0.7);
    const mote_status status = order_sort_in(ctx, index->codes, index->order, index->cloud->count, false, &scratch);
    mote_progress_leave(ctx, whole);
    return status;
}

mote_status knn_order_points(mote_knn_index *index) {
    mote_context *ctx = index->ctx;
    const mote_column *axes[3];
    MOTE_TRY(mote_cloud_positions(ctx, index->cloud, axes));
    mote_stage(ctx, "bounds");
    MOTE_TRY(mote_order_lattice(ctx, index->cloud, &index->lattice, &index->skipped));
    MOTE_TRY(mote_progress(ctx, 0.1, "finding the bounds"));
    MOTE_TRY(reserve(index));
    mote_stage(ctx, "codes");
    make_cells(index, axes);
    MOTE_TRY(make_codes(index, axes));
    MOTE_TRY(mote_progress(ctx, 0.3, "computing codes"));
    mote_stage(ctx, "sort");
    index->dense = false;
    MOTE_TRY(sort_points(index));
    return refine(index, axes);
}
