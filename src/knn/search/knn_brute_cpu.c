/* Every query with every point: for checking. */
#include "knn/knn_cpu.h"

#define STEP_QUERIES 1024u /* between two reports of progress */

/* of: NULL for a sphere. */
SIMD_INLINE uint64_t key_of_kind(knn_kind kind, const knn_query_set *query_set, const knn_ellipsoid *of, uint64_t query,
                                 uint64_t point) {
    const knn_tree *tree = query_set->tree;
    knn_place a, b;
    knn_place_of(kind, &query_set->points, query, &a);
    knn_place_of(kind, &tree->points, point, &b);
    return of != NULL ? knn_key_of_ellipsoid(kind, &tree->metric, of, &a, &b) : knn_key_of(kind, &tree->metric, &a, &b);
}

static uint64_t key_between(const knn_query_set *query_set, const knn_ellipsoid *of, uint64_t query, uint64_t point) {
    switch (query_set->tree->metric.kind) {
    case KNN_INT: return key_of_kind(KNN_INT, query_set, of, query, point);
    case KNN_FLOAT: return key_of_kind(KNN_FLOAT, query_set, of, query, point);
    default: return key_of_kind(KNN_DOUBLE, query_set, of, query, point);
    }
}

static void search_all(const knn_query_set *query_set, const knn_ellipsoids *ellipsoids, const mote_knn_params *params,
                       const mote_knn_result *result, uint64_t query, knn_best *best) {
    const knn_metric *metric = &query_set->tree->metric;
    const knn_points *points = &query_set->tree->points;
    const bool exclude = params->exclude_self && query_set->codes == NULL;
    const uint64_t row = query_set->points.order[query];
    knn_ellipsoid of;
    if (ellipsoids != NULL) knn_ellipsoid_of_row(ellipsoids, row, &of);
    knn_best_reset(best, knn_limit_of(metric, ellipsoids, params->radius));
    for (uint32_t i = 0; i < points->count; i++) {
        const uint64_t key = key_between(query_set, ellipsoids != NULL ? &of : NULL, query, i);
        if (key <= best->limit && !(exclude && i == query)) knn_best_take(best, key, i, points->order[i]);
    }
    knn_best_finish(best);
    knn_row_write(result, ellipsoids != NULL ? &ellipsoids->keys : metric, params->k, row, best->list, best->count);
}

mote_status knn_search_brute(mote_knn_index *index, const knn_query_set *query_set, const knn_ellipsoids *ellipsoids,
                             const mote_knn_params *params, const mote_knn_result *result) {
    mote_context *ctx = index->ctx;
    const uint64_t buffer = 2ull * params->k + 64, count = query_set->points.count;
    mote_status status = MOTE_OK;
    knn_near *lists = mote_alloc(ctx, (uint64_t)ctx->threads * buffer * sizeof *lists, "knn scratch");
    if (lists == NULL) return MOTE_ERROR_MEMORY;
    for (uint64_t step = 0; step < count && status == MOTE_OK; step += STEP_QUERIES) {
        const uint64_t end = count - step < STEP_QUERIES ? count : step + STEP_QUERIES;
#pragma omp parallel for schedule(dynamic, 16) num_threads(ctx->threads)
        for (uint64_t query = step; query < end; query++) {
            knn_best best = {lists + (uint64_t)mote_thread_number() * buffer, 0, (uint32_t)buffer, params->k, 0};
            search_all(query_set, ellipsoids, params, result, query, &best);
        }
        status = mote_progress(ctx, (double)end / (double)count, "searching neighbours");
    }
    mote_free(ctx, lists);
    return status;
}
