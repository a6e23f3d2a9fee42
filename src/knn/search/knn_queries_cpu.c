/* Queries: which tree they are asked of, and their order. */
#include "core/cloud.h"
#include "knn/index/knn_cells.h"
#include "knn/knn_cpu.h"
#include "order/sort/order_sort_cpu.h"

#define MAX_FLOAT_SPAN 0x1p50 /* squares of floats stay far from infinity */

static bool same_columns(const mote_column *const a[3], const mote_column *const b[3]) {
    for (int k = 0; k < 3; k++) {
        if (a[k]->type != b[k]->type || a[k]->scale != b[k]->scale || a[k]->offset != b[k]->offset) return false;
        if (a[k]->bit_count != b[k]->bit_count || a[k]->bit_shift != b[k]->bit_shift) return false;
    }
    return true;
}

/* ---- the order */

static uint64_t code_of(const mote_column *const axes[3], const knn_cells *by, uint64_t i) {
    uint32_t cell[3];
    for (int k = 0; k < 3; k++) {
        const double value = mote_column_value(axes[k], i);
        if (!isfinite(value)) return UINT64_MAX;
        cell[k] = knn_cell(value, by->low[k], by->per_unit[k]);
    }
    return knn_cell_code(&by->hilbert, cell[0], cell[1], cell[2]);
}

/* Sorts the queries by the codes of the points' lattice; those that are not finite come last. */
static mote_status sort_queries(mote_knn_index *index, const mote_column *const axes[3], knn_query_set *query_set,
                                uint64_t *finite) {
    mote_context *ctx = index->ctx;
    knn_cells by;
    uint64_t non_finite = 0;
    query_set->codes = mote_alloc(ctx, query_set->rows * sizeof *query_set->codes, "query codes");
    query_set->owned_order = mote_alloc(ctx, query_set->rows * sizeof *query_set->owned_order, "query order");
    if (query_set->codes == NULL || query_set->owned_order == NULL) return MOTE_ERROR_MEMORY;
    knn_cells_make(&index->lattice, &by);
#pragma omp parallel for schedule(static) num_threads(ctx->threads) reduction(+ : non_finite)
    for (uint64_t i = 0; i < query_set->rows; i++) {
        query_set->codes[i] = code_of(axes, &by, i);
        non_finite += query_set->codes[i] == UINT64_MAX;
    }
    *finite = query_set->rows - non_finite;
    const double first = ctx->progress_first, last = ctx->progress_last;
    mote_progress_share(ctx, first, first); /* short beside the search */
    const mote_status status = order_sort_cpu(ctx, query_set->codes, query_set->owned_order, query_set->rows);
    mote_progress_share(ctx, first, last);
    return status;
}

/* ---- the tree */

/* Whether queries like the points can be asked of their tree: all integers must be steps, less than 2^31 apart, and
   floats not too far. */
static bool fits_stored(const mote_knn_index *index, const mote_column *const axes[3], const uint32_t *order,
                        uint64_t count) {
    const mote_lattice *lattice = &index->lattice;
    if (index->stored.metric.kind == KNN_INT) {
        int64_t low[3], high[3];
        knn_integer_bounds(index->ctx, axes, order, count, low, high);
        for (int k = 0; k < 3 && count > 0; k++) {
            const int64_t first = index->origin[k], last = first + (int64_t)index->span[k];
            const int64_t min = low[k] < first ? low[k] : first, max = high[k] > last ? high[k] : last;
            if ((uint64_t)max - (uint64_t)min >= 1ull << 31) return false;
        }
    } else if (index->stored.metric.kind == KNN_FLOAT) {
        for (uint64_t i = 0; i < count; i++) {
            for (int k = 0; k < 3; k++) {
                const double away = mote_column_stored(axes[k], order[i]) - (double)lattice->min[k] * lattice->scale[k];
                if (!(fabs(away) < MAX_FLOAT_SPAN)) return false;
            }
        }
    }
    return true;
}

static mote_status choose_tree(mote_knn_index *index, const mote_column *const axes[3], const knn_query_set *query_set,
                               uint64_t finite, knn_reading *reading, const knn_tree **tree) {
    const mote_column *own[3];
    MOTE_TRY(mote_cloud_positions(index->ctx, index->cloud, own));
    reading->world = !same_columns(axes, own);
    *tree = &index->stored;
    if (reading->world) {
        bool plain = index->stored.metric.kind == KNN_DOUBLE;
        for (int k = 0; k < 3; k++) plain = plain && own[k]->scale == 1 && own[k]->offset == 0;
        if (plain) return MOTE_OK; /* stored and world values are the same */
    } else if (fits_stored(index, axes, query_set->owned_order, finite)) {
        return MOTE_OK;
    }
    *tree = &index->other;
    return knn_other_tree(index, reading->world);
}

mote_status knn_query_set_make(mote_knn_index *index, const mote_cloud *queries, knn_query_set *query_set) {
    memset(query_set, 0, sizeof *query_set);
    if (queries == NULL) {
        query_set->tree = &index->stored;
        query_set->points = index->stored.points;
        query_set->rows = index->cloud->count;
        return MOTE_OK;
    }
    knn_reading reading;
    uint64_t finite;
    memset(&reading, 0, sizeof reading);
    query_set->rows = queries->count;
    MOTE_TRY(mote_cloud_positions(index->ctx, queries, reading.axes));
    MOTE_TRY(sort_queries(index, reading.axes, query_set, &finite));
    MOTE_TRY(choose_tree(index, reading.axes, query_set, finite, &reading, &query_set->tree));
    reading.kind = query_set->tree->metric.kind;
    memcpy(reading.origin, index->origin, sizeof reading.origin);
    return knn_points_read(index->ctx, &reading, query_set->owned_order, finite, &query_set->points);
}

void knn_query_set_free(mote_context *ctx, knn_query_set *query_set) {
    if (query_set->owned_order != NULL) mote_free(ctx, query_set->points.leaves);
    mote_free(ctx, query_set->owned_order);
    mote_free(ctx, query_set->codes);
}
