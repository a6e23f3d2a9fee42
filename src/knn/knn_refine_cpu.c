/* A cell of the finest level may hold any number of points: one stray point, a kilometre off, and all others share a
   cell. Their leaves would be as large as that cell. So a long run of one code is sorted again by the cells of its own
   box, and so on, until runs are short or all their points are copies of one. */
#include "knn/knn_refine_cpu.h"

#include "core/cloud.h"
#include "knn/knn_best.h"
#include "knn/knn_cells.h"
#include "knn/knn_points_cpu.h"

#define WINDOW  64u    /* points: a run twice as long surely has one from a multiple of it on */
#define FEW     16384u /* points that one sort by comparison takes */
#define DEEPEST 110u   /* 2^21 each: more than the range of a double */

typedef struct refiner {
    mote_knn_index *index;
    const mote_column *axes[3];
    double scale[3];
    mote_hilbert hilbert;
    knn_near few[FEW];
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

static void sort_few(refiner *r, uint64_t first, uint64_t count) {
    uint64_t *codes = r->index->codes + first;
    uint32_t *order = r->index->order + first;
    for (uint64_t i = 0; i < count; i++) {
        r->few[i].key = codes[i];
        r->few[i].index = order[i];
    }
    knn_sort(r->few, count);
    for (uint64_t i = 0; i < count; i++) {
        codes[i] = r->few[i].key;
        order[i] = r->few[i].index;
    }
}

static mote_status sort_many(refiner *r, uint64_t first, uint64_t count) {
    mote_context *ctx = r->index->ctx;
    uint32_t *order = r->index->order + first;
    uint32_t *places = mote_alloc(ctx, 2 * count * sizeof *places, "knn runs");
    if (places == NULL) return MOTE_ERROR_MEMORY;
    const double begin = ctx->progress_first, end = ctx->progress_last, now = begin + 0.7 * (end - begin);
    mote_progress_share(ctx, now, now);
    const mote_status status = mote_order_sort(ctx, r->index->codes + first, places, count);
    mote_progress_share(ctx, begin, end);
    for (uint64_t i = 0; i < count && status == MOTE_OK; i++) places[count + i] = order[places[i]];
    if (status == MOTE_OK) memcpy(order, places + count, count * sizeof *order);
    mote_free(ctx, places);
    return status;
}

static mote_status refine_runs(refiner *r, uint64_t first, uint64_t last, uint32_t depth);

static mote_status refine_run(refiner *r, uint64_t first, uint64_t last, uint32_t depth) {
    uint64_t *codes = r->index->codes;
    const uint64_t before = codes[first];
    double low[3];
    const double side = side_of_run(r, first, last, low);
    mote_status status = MOTE_OK;
    if (!(side > 0) || depth == DEEPEST) return MOTE_OK;
    for (uint64_t i = first; i < last; i++) codes[i] = code_in(r, low, side, r->index->order[i]);
    if (last - first <= FEW) {
        sort_few(r, first, last - first);
    } else {
        status = sort_many(r, first, last - first);
    }
    if (status == MOTE_OK) status = refine_runs(r, first, last, depth + 1);
    for (uint64_t i = first; i < last; i++) codes[i] = before;
    return status;
}

/* The runs of [first, last) that have a window. */
static mote_status refine_runs(refiner *r, uint64_t first, uint64_t last, uint32_t depth) {
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
    refiner *r = mote_alloc(index->ctx, sizeof *r, "knn runs");
    if (r == NULL) return MOTE_ERROR_MEMORY;
    r->index = index;
    mote_status status = knn_find_axes(index->ctx, index->cloud, r->axes);
    for (int k = 0; k < 3 && status == MOTE_OK; k++) r->scale[k] = fabs(r->axes[k]->scale);
    mote_hilbert_make(&r->hilbert);
    if (status == MOTE_OK) status = refine_runs(r, 0, count, 0);
    mote_free(index->ctx, r);
    return status;
}
