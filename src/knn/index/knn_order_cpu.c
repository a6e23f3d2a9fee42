/* The order of the points of an index: along a Hilbert curve through the cells of the Morton order. Floats and doubles
   as they are stored, the most usual positions in memory, have a quicker way to lattice and cells. */
#include "knn/index/knn_order_cpu.h"

#include "core/cloud.h"
#include "knn/index/knn_cells.h"
#include "knn/index/knn_points_cpu.h"
#include "knn/index/knn_tree_cpu.h"
#include "knn/search/knn_refine_cpu.h"
#include "order/lattice/lattice.h"

/* Whole floats or doubles without scale and offset: what is stored is the world's. */
static bool are_plain_reals(const mote_column *const axes[3]) {
    for (int k = 0; k < 3; k++) {
        const mote_column *axis = axes[k];
        if (!mote_type_is_float(axis->type) || axis->type != axes[0]->type || axis->bit_count != 0) return false;
        if (axis->scale != 1 || axis->offset != 0) return false;
    }
    return true;
}

static double plain_real(const mote_column *axis, uint64_t i, bool narrow) {
    float value;
    double wide;
    if (narrow) {
        memcpy(&value, mote_column_at(axis, i), sizeof value);
        return value;
    }
    memcpy(&wide, mote_column_at(axis, i), sizeof wide);
    return wide;
}

/* As mote_cloud_bounds. */
static void plain_bounds(const mote_context *ctx, const mote_column *const axes[3], uint64_t count, double low[3],
                         double high[3], uint64_t *skipped) {
    const bool narrow = axes[0]->type == MOTE_FLOAT32;
    double x0 = INFINITY, y0 = INFINITY, z0 = INFINITY, x1 = -INFINITY, y1 = -INFINITY, z1 = -INFINITY;
    uint64_t bad = 0;
#pragma omp parallel for schedule(static) num_threads(ctx->threads) reduction(min : x0, y0, z0) \
    reduction(max : x1, y1, z1) reduction(+ : bad)
    for (uint64_t i = 0; i < count; i++) {
        const double x = plain_real(axes[0], i, narrow), y = plain_real(axes[1], i, narrow),
                     z = plain_real(axes[2], i, narrow);
        if (!(x * 0 + y * 0 + z * 0 == 0)) { /* not finite */
            bad++;
            continue;
        }
        x0 = x < x0 ? x : x0, x1 = x > x1 ? x : x1;
        y0 = y < y0 ? y : y0, y1 = y > y1 ? y : y1;
        z0 = z < z0 ? z : z0, z1 = z > z1 ? z : z1;
    }
    low[0] = x0, low[1] = y0, low[2] = z0;
    high[0] = x1, high[1] = y1, high[2] = z1;
    *skipped = bad;
}

static mote_status find_lattice(mote_knn_index *index, const mote_column *const axes[3]) {
    mote_context *ctx = index->ctx;
    const mote_cloud *cloud = index->cloud;
    double low[3], high[3];
    if (!are_plain_reals(axes)) return mote_order_lattice(ctx, cloud, &index->lattice, &index->skipped);
    plain_bounds(ctx, axes, cloud->count, low, high, &index->skipped);
    for (int k = 0; k < 3 && index->skipped == cloud->count; k++) low[k] = high[k] = 0;
    return lattice_of_real_box(ctx, axes, cloud->position_step, low, high, &index->lattice);
}

/* The cells of an axis straight from stored values: what rounding moves to the next cell is as good there. */
static void plain_cells(const mote_column *axis, const knn_cells *by, int k, uint64_t first, uint32_t count,
                        uint32_t *cells, uint8_t *bad) {
    const bool narrow = axis->type == MOTE_FLOAT32;
    double values[LATTICE_BLOCK];
    for (uint32_t j = 0; j < count; j++) values[j] = plain_real(axis, first + j, narrow);
    for (uint32_t j = 0; j < count; j++) bad[j] |= !(values[j] * 0 == 0);
    for (uint32_t j = 0; j < count; j++) cells[j] = knn_cell(values[j], by->low[k], by->per_unit[k]);
}

static void step_cells(const knn_cells *by, int k, uint32_t count, uint32_t *steps) {
    for (uint32_t j = 0; j < count; j++) steps[j] = knn_cell(steps[j], 0, by->per_step[k]);
}

static void codes_of(const mote_knn_index *index, const mote_column *const axes[3], const knn_cells *by, uint64_t first,
                     uint32_t count) {
    uint32_t cells[3][LATTICE_BLOCK];
    uint8_t bad[LATTICE_BLOCK] = {0};
    const bool plain = are_plain_reals(axes);
    if (!plain) lattice_block(index->cloud, &index->lattice, first, NULL, count, cells, bad);
    for (int k = 0; k < 3; k++) {
        if (plain) {
            plain_cells(axes[k], by, k, first, count, cells[k], bad);
        } else {
            step_cells(by, k, count, cells[k]);
        }
    }
    for (uint32_t j = 0; j < count; j++) {
        const uint64_t code = knn_cell_code(&by->hilbert, cells[0][j], cells[1][j], cells[2][j]);
        index->codes[first + j] = bad[j] ? UINT64_MAX : code;
    }
}

static void make_codes(mote_knn_index *index, const mote_column *const axes[3]) {
    const uint64_t blocks = (index->cloud->count + LATTICE_BLOCK - 1) / LATTICE_BLOCK;
    knn_cells by;
    knn_cells_make(&index->lattice, &by);
#pragma omp parallel for schedule(dynamic, 16) num_threads(index->ctx->threads)
    for (uint64_t b = 0; b < blocks; b++) {
        const uint64_t first = b * LATTICE_BLOCK, remaining = index->cloud->count - first;
        codes_of(index, axes, &by, first, remaining < LATTICE_BLOCK ? (uint32_t)remaining : LATTICE_BLOCK);
    }
}

static mote_status reserve(mote_knn_index *index) {
    mote_context *ctx = index->ctx;
    const uint64_t count = index->cloud->count;
    void *codes = index->codes, *order = index->order;
    const bool buffer =
        mote_reserve_scratch(ctx, &codes, &index->codes_capacity, count, sizeof *index->codes, "codes") &&
        mote_reserve_scratch(ctx, &order, &index->order_capacity, count, sizeof *index->order, "order");
    index->codes = codes;
    index->order = order;
    return buffer ? knn_tree_reserve(ctx, &index->stored, count) : MOTE_ERROR_MEMORY;
}

static mote_status sort_points(mote_knn_index *index) {
    mote_context *ctx = index->ctx;
    const double first = ctx->progress_first, last = ctx->progress_last;
    const order_scratch buffer = knn_tree_lend(&index->stored);
    mote_progress_share(ctx, first + 0.3 * (last - first), first + 0.7 * (last - first));
    const mote_status status = order_sort_in(ctx, index->codes, index->order, index->cloud->count, false, &buffer);
    mote_progress_share(ctx, first, last);
    return status;
}

mote_status knn_order_points(mote_knn_index *index) {
    mote_context *ctx = index->ctx;
    const mote_column *axes[3];
    MOTE_TRY(mote_cloud_positions(ctx, index->cloud, axes));
    mote_stage(ctx, "bounds");
    MOTE_TRY(find_lattice(index, axes));
    MOTE_TRY(mote_progress(ctx, 0.1, "finding the bounds"));
    MOTE_TRY(reserve(index));
    mote_stage(ctx, "codes");
    make_codes(index, axes);
    MOTE_TRY(mote_progress(ctx, 0.3, "computing codes"));
    mote_stage(ctx, "sort");
    MOTE_TRY(sort_points(index));
    return knn_refine(index);
}
