/* A cell of the finest level may hold any number of points: one stray point, a kilometre off, and all others share a
   cell. Their leaves would be as large as that cell. So a long run of one code is sorted again by the cells of its own
   box, and so on, until runs are short or all their points are copies of one. */
#include "knn/search/knn_refine_cpu.h"

#include "core/cloud.h"
#include "knn/index/knn_cells.h"
#include "knn/index/knn_points_cpu.h"
#include "knn/index/knn_tree_cpu.h"

#define WINDOW  64u  /* points: a run twice as long surely has one from a multiple of it on */
#define DEEPEST 110u /* 2^21 each: more than the range of a double */

typedef struct refiner {
    mote_knn_index *index;
    const mote_column *axes[3];
    double scale[3];
    mote_hilbert hilbert;
    order_room room;
} refiner;

/* The box of a run in stored values; its longest side in the world. */
static double side_of_run(const refiner *r, uint64_t first, uint64_t last, double low[3]) {
    double side = 0;
    for (int k = 0; k < 3; k++) {
        double high = -INFINITY;
        low[k] = INFINITY;
        for (uint64_t i = first; i < last; i++) {
            const double value = mote_column_stored(r->axes[k], r->index->order[i]);
            low[k] = value < low[k] ? value : low[k];
            high = value > high ? value : high;
        }
        side = fmax(side, (high - low[k]) * r->scale[k]);
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
    double low[3];
    const double side = side_of_run(r, first, last, low);
    if (!(side > 0) || depth == DEEPEST) return MOTE_OK;
    for (uint64_t i = first; i < last; i++) codes[i] = code_in(r, low, side, r->index->order[i]);
    mote_status status = sort_run(r, first, last - first);
    if (status == MOTE_OK) status = refine_runs(r, first, last, depth + 1);
    for (uint64_t i = first; i < last; i++) codes[i] = before;
    return status;
}

/* The runs of [first, last) that have a window. */
static mote_status refine_runs(const refiner *r, uint64_t first, uint64_t last, uint32_t depth) {
    const uint64_t *codes = r->index->codes;
    for (uint64_t i = first; i + WINDOW <= last;) {
        if (codes[i] != codes[i + WINDOW - 1]) {
            i += WINDOW;
            continue;
        }
        uint64_t begin = i, end = i + WINDOW;
        while (begin > first && codes[begin - 1] == codes[i]) begin--;
        while (end < last && codes[end] == codes[i]) end++;
        MOTE_TRY(refine_run(r, begin, end, depth));
        i = end;
    }
    return MOTE_OK;
}

mote_status knn_refine(mote_knn_index *index) {
    const uint64_t count = index->cloud->count - index->skipped;
    bool any = false;
    for (uint64_t i = 0; i + WINDOW <= count && !any; i += WINDOW) {
        any = index->codes[i] == index->codes[i + WINDOW - 1];
    }
    if (!any) return MOTE_OK;
    refiner r = {.index = index, .room = knn_tree_lend(&index->stored)};
    MOTE_TRY(knn_find_axes(index->ctx, index->cloud, r.axes));
    for (int k = 0; k < 3; k++) r.scale[k] = fabs(r.axes[k]->scale);
    mote_hilbert_make(&r.hilbert);
    return refine_runs(&r, 0, count, 0);
}
