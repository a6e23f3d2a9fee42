/* A cell of the finest level may hold any number of points: one stray point, a kilometre off, and all others share a
   cell. Their leaves would be as large as that cell. So a long run of one code is sorted again by the cells of its own
   box, and so on, until runs are short or all their points are copies of one. Runs do not touch each other: they are
   dealt out to the threads, except large ones, on which all work. */
#include "knn/search/knn_refine_cpu.h"

#include "core/cloud.h"
#include "knn/index/knn_cells.h"
#include "knn/index/knn_points_cpu.h"
#include "knn/index/knn_tree_cpu.h"

#define WINDOW  64u        /* points: a run twice as long surely has one from a multiple of it on */
#define DEEPEST 110u       /* 2^21 each: more than the range of a double */
#define LARGEST (1u << 20) /* points that one thread works on, unseen by progress; even, so that memory is aligned */

#define SHARED_RUN 16384u /* points of a run that one thread refines: its sort reports no progress */

/* Points of one code: [first, end) of the order. */
typedef struct code_run {
    uint64_t first, end;
} code_run;

typedef struct refiner {
    mote_knn_index *index;
    int threads;    /* that work on a run */
    uint64_t large; /* so many points of a run are worked on by all threads */
    const mote_column *axes[3];
    double scale[3];
    mote_hilbert hilbert;
    order_scratch room;
} refiner;

/* The box of a run in stored values; its longest side in the world. */
static double side_of_run(const refiner *r, uint64_t first, uint64_t last, double low[3]) {
    const bool is_shared = r->threads > 1 && last - first > r->large;
    double side = 0;
    for (int k = 0; k < 3; k++) {
        double min = INFINITY, max = -INFINITY;
#pragma omp parallel for schedule(static) num_threads(r->threads) if (is_shared) reduction(min                         \
                                                                                           : min) reduction(max        \
                                                                                                            : max)
        for (uint64_t i = first; i < last; i++) {
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
    return knn_cell_code(&r->hilbert, cell[0], cell[1], cell[2]);
}

static mote_status sort_run(const refiner *r, uint64_t first, uint64_t count) {
    mote_context *ctx = r->index->ctx;
    if (count <= r->large) { /* perhaps by one of several threads */
        order_sort_alone(r->index->codes + first, r->index->order + first, count, r->room.pairs);
        return MOTE_OK;
    }
    const double begin = ctx->progress_first, end = ctx->progress_last, now = begin + 0.7 * (end - begin);
    mote_progress_share(ctx, now, now);
    const mote_status status =
        order_sort_in(ctx, r->index->codes + first, r->index->order + first, count, true, &r->room);
    mote_progress_share(ctx, begin, end);
    return status;
}

static mote_status refine_runs(const refiner *r, uint64_t first, uint64_t last, uint32_t depth);

static mote_status refine_run(const refiner *r, uint64_t first, uint64_t last, uint32_t depth) {
    uint64_t *codes = r->index->codes;
    const uint64_t before = codes[first];
    const bool is_shared = r->threads > 1 && last - first > r->large;
    double low[3];
    const double side = side_of_run(r, first, last, low);
    if (!(side > 0) || depth == DEEPEST) return MOTE_OK;
#pragma omp parallel for schedule(static) num_threads(r->threads) if (is_shared)
    for (uint64_t i = first; i < last; i++) codes[i] = code_in(r, low, side, r->index->order[i]);
    mote_status status = sort_run(r, first, last - first);
    if (status == MOTE_OK) status = refine_runs(r, first, last, depth + 1);
    for (uint64_t i = first; i < last; i++) codes[i] = before;
    return status;
}

/* The next run, of codes up to last, that holds a whole window: those of a multiple of WINDOW from first on. */
static bool next_run(const uint64_t *codes, uint64_t first, uint64_t last, code_run *run) {
    const uint64_t windows = (run->end - first + WINDOW - 1) / WINDOW;
    for (uint64_t i = first + windows * WINDOW; i + WINDOW <= last; i += WINDOW) {
        if (codes[i] != codes[i + WINDOW - 1]) continue;
        run->first = i;
        while (run->first > first && codes[run->first - 1] == codes[i]) run->first--;
        run->end = i + WINDOW;
        while (run->end < last && codes[run->end] == codes[i]) run->end++;
        return true;
    }
    return false;
}

/* The runs of [first, last), one after the other. */
static mote_status refine_runs(const refiner *r, uint64_t first, uint64_t last, uint32_t depth) {
    for (code_run run = {first, first}; next_run(r->index->codes, first, last, &run);) {
        MOTE_TRY(refine_run(r, run.first, run.end, depth));
    }
    return MOTE_OK;
}

/* Refines large runs, by all threads, and lists the others: in memory that the sort of the former has used. */
static mote_status refine_large_runs(const refiner *r, uint64_t count, code_run *others, uint64_t *other_count) {
    *other_count = 0;
    for (code_run run = {0, 0}; next_run(r->index->codes, 0, count, &run);) {
        if (run.end - run.first > r->large) MOTE_TRY(refine_run(r, run.first, run.end, 0));
    }
    for (code_run run = {0, 0}; next_run(r->index->codes, 0, count, &run);) {
        if (run.end - run.first <= r->large) others[(*other_count)++] = run;
    }
    return MOTE_OK;
}

/* Each run by one thread, in its share of the memory. */
static mote_status refine_other_runs(const refiner *r, const code_run *runs, uint64_t run_count) {
    int failed = 0;
#pragma omp parallel for schedule(dynamic, 1) num_threads(r->threads)
    for (uint64_t i = 0; i < run_count; i++) {
        refiner own = *r;
        own.threads = 1;
        own.room.pairs = (uint8_t *)r->room.pairs + (uint64_t)mote_thread_number() * r->large * ORDER_PAIR_BYTES;
        if (refine_run(&own, runs[i].first, runs[i].end, 0) != MOTE_OK) __atomic_store_n(&failed, 1, __ATOMIC_RELAXED);
    }
    return failed ? MOTE_ERROR_MEMORY : MOTE_OK;
}

mote_status knn_refine(mote_knn_index *index) {
    const uint64_t count = index->cloud->count - index->skipped;
    code_run first = {0, 0};
    uint64_t run_count = 0;
    if (!next_run(index->codes, 0, count, &first)) return MOTE_OK;
    refiner r = {.index = index, .room = knn_tree_lend(&index->stored)};
    code_run *const runs = (code_run *)(void *)r.room.counters;
    MOTE_TRY(mote_cloud_positions(index->ctx, index->cloud, r.axes));
    for (int k = 0; k < 3; k++) r.scale[k] = fabs(r.axes[k]->scale);
    mote_hilbert_make(&r.hilbert);
    r.threads = index->ctx->threads;
    r.large = count / (uint64_t)r.threads < LARGEST ? count / (uint64_t)r.threads / 2 * 2 : LARGEST;
    MOTE_TRY(refine_large_runs(&r, count, runs, &run_count));
    return refine_other_runs(&r, runs, run_count);
}
