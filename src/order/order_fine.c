/* Fine codes on CPU cores, and the sort of points that share a code. */
#include "order/order_fine.h"

#include "order/lattice/lattice.h"
#include "order/sort/order_sort_cpu.h"

#define SHARES_PER_THREAD 16u /* of the order, dealt out to the threads */

/* Points of one code, or more, that one thread sorts alone; longer runs are sorted by all. Each thread needs memory
   for a run of this length. */
static uint64_t short_run(const mote_context *ctx, uint64_t count) {
    const uint64_t share = count / (2 * (uint64_t)ctx->threads);
    return share > 16 ? share : 16;
}

static bool has_more_steps(const mote_lattice *lattice, uint64_t steps) {
    return lattice->side[0] > steps || lattice->side[1] > steps || lattice->side[2] > steps;
}

bool order_is_divisible(const mote_lattice *lattice) { return has_more_steps(lattice, 1ull << MOTE_ORDER_BITS); }

bool order_fine_tells_all(const mote_lattice *lattice) { return !has_more_steps(lattice, 1ull << ORDER_FINE_BITS); }

static void make_codes(mote_context *ctx, const mote_cloud *cloud, const mote_lattice *lattice, const uint32_t *order,
                       uint64_t count, uint64_t *fine) {
    const int64_t blocks = (int64_t)((count + LATTICE_BLOCK - 1) / LATTICE_BLOCK);
    mote_cell_divisor by[3];
    for (int k = 0; k < 3; k++) by[k] = mote_cell_divisor_make(lattice->side[k]);
#pragma omp parallel for schedule(static) num_threads(ctx->threads)
    for (int64_t b = 0; b < blocks; b++) {
        uint32_t steps[3][LATTICE_BLOCK];
        uint8_t bad[LATTICE_BLOCK];
        const uint64_t first = (uint64_t)b * LATTICE_BLOCK, remaining = count - first;
        const uint32_t n = remaining < LATTICE_BLOCK ? (uint32_t)remaining : LATTICE_BLOCK;
        lattice_block(cloud, lattice, 0, order + first, n, steps, bad);
        for (uint32_t j = 0; j < n; j++) {
            const uint32_t at[3] = {steps[0][j], steps[1][j], steps[2][j]};
            fine[first + j] = order_fine_code(at, by);
        }
    }
}

/* Where the run of codes[first] ends. */
static uint64_t run_end(const uint64_t *codes, uint64_t first, uint64_t count) {
    uint64_t end = first + 1;
    while (end < count && codes[end] == codes[first]) end++;
    return end;
}

/* Sorts the short runs, of up to max points, that begin in [first, last). scratch: room for max pairs */
static void sort_short_runs(const uint64_t *codes, uint64_t count, uint64_t first, uint64_t last, uint64_t max,
                            void *scratch, uint64_t *fine, uint32_t *order) {
    while (first > 0 && first < last && codes[first] == codes[first - 1]) first++;
    while (first < last) {
        const uint64_t end = run_end(codes, first, count), length = end - first;
        if (length > 1 && length <= max) order_sort_alone(fine + first, order + first, length, scratch);
        first = end;
    }
}

typedef struct code_run {
    uint64_t first, end;
} code_run;

/* The next run of more than max points: it holds a place that is a multiple of that. */
static bool next_long_run(const uint64_t *codes, uint64_t count, uint64_t max, code_run *run) {
    for (uint64_t at = (run->end + max - 1) / max * max; at < count; at += max) {
        if (at < run->end) continue;
        run->first = at;
        while (run->first > 0 && codes[run->first - 1] == codes[at]) run->first--;
        run->end = run_end(codes, at, count);
        if (run->end - run->first > max) return true;
    }
    return false;
}

static mote_status sort_long_runs(mote_context *ctx, const uint64_t *codes, uint64_t count, uint64_t *fine,
                                  uint32_t *order) {
    const uint64_t max = short_run(ctx, count);
    uint64_t longest = 0;
    for (code_run run = {0, 0}; next_long_run(codes, count, max, &run);) {
        if (run.end - run.first > longest) longest = run.end - run.first;
    }
    if (longest == 0) return MOTE_OK;
    mote_status status = MOTE_ERROR_MEMORY;
    order_scratch scratch = {NULL, NULL, order_counters(ctx, longest)};
    scratch.pairs = mote_alloc(ctx, longest * ORDER_PAIR_BYTES, "sort pairs");
    scratch.counters = mote_alloc(ctx, scratch.counter_count * sizeof *scratch.counters, "sort counters");
    if (scratch.pairs != NULL && scratch.counters != NULL) status = MOTE_OK;
    for (code_run run = {0, 0}; status == MOTE_OK && next_long_run(codes, count, max, &run);) {
        status = order_sort_in(ctx, fine + run.first, order + run.first, run.end - run.first, true, &scratch);
    }
    mote_free(ctx, scratch.counters);
    mote_free(ctx, scratch.pairs);
    return status;
}

mote_status order_fine_codes(mote_context *ctx, const mote_cloud *cloud, const mote_lattice *lattice,
                             const uint64_t *codes, uint32_t *order, uint64_t count, uint64_t **fine) {
    *fine = mote_alloc(ctx, count * sizeof **fine, "fine codes");
    if (*fine == NULL) return MOTE_ERROR_MEMORY;
    make_codes(ctx, cloud, lattice, order, count, *fine);
    /* Short runs of equal codes by each thread on its own, then long ones by all together. */
    const uint64_t shares = SHARES_PER_THREAD * (uint64_t)ctx->threads, max = short_run(ctx, count);
    const uint64_t scratch_bytes = (max + max % 2) * ORDER_PAIR_BYTES; /* a multiple of 8 */
    uint8_t *scratch = mote_alloc(ctx, (uint64_t)ctx->threads * scratch_bytes, "sort pairs");
    if (scratch == NULL) return MOTE_ERROR_MEMORY;
#pragma omp parallel for schedule(dynamic, 1) num_threads(ctx->threads)
    for (uint64_t s = 0; s < shares; s++) {
        sort_short_runs(codes, count, count * s / shares, count * (s + 1) / shares, max,
                        scratch + (uint64_t)mote_thread_number() * scratch_bytes, *fine, order);
    }
    mote_free(ctx, scratch);
    return sort_long_runs(ctx, codes, count, *fine, order);
}
