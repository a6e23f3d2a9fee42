/* Every query with every point: for checking. */
#include "knn/knn_cpu.h"

#define STEP_QUERIES 1024u /* between two reports of progress */

static uint64_t key_between(const knn_asked *asked, uint64_t query, uint64_t point) {
    knn_place a, b;
    const knn_tree *tree = asked->tree;
    switch (tree->metric.kind) {
    case KNN_INT:
        knn_place_of(KNN_INT, &asked->points, query, &a);
        knn_place_of(KNN_INT, &tree->points, point, &b);
        return knn_key_of(KNN_INT, &tree->metric, &a, &b);
    case KNN_FLOAT:
        knn_place_of(KNN_FLOAT, &asked->points, query, &a);
        knn_place_of(KNN_FLOAT, &tree->points, point, &b);
        return knn_key_of(KNN_FLOAT, &tree->metric, &a, &b);
    default: break;
    }
    knn_place_of(KNN_DOUBLE, &asked->points, query, &a);
    knn_place_of(KNN_DOUBLE, &tree->points, point, &b);
    return knn_key_of(KNN_DOUBLE, &tree->metric, &a, &b);
}

static void search_all(const knn_asked *asked, const mote_knn_params *params, const mote_knn_result *result,
                       uint64_t query, knn_best *best) {
    const knn_points *points = &asked->tree->points;
    const bool exclude = params->exclude_self && asked->codes == NULL;
    knn_best_reset(best, knn_key_limit(&asked->tree->metric, params->radius));
    for (uint32_t i = 0; i < points->count; i++) {
        const uint64_t key = key_between(asked, query, i);
        if (key <= best->limit && !(exclude && i == query)) knn_best_take(best, key, i, points->order[i]);
    }
    knn_best_finish(best);
    knn_row_write(result, &asked->tree->metric, params->k, asked->points.order[query], best->list, best->count);
}

mote_status knn_search_brute(mote_knn_index *index, const knn_asked *asked, const mote_knn_params *params,
                             mote_knn_result *result) {
    mote_context *ctx = index->ctx;
    const uint64_t room = 2ull * params->k + 64, count = asked->points.count;
    mote_status status = MOTE_OK;
    knn_near *lists = mote_alloc(ctx, (uint64_t)ctx->threads * room * sizeof *lists, "knn scratch");
    if (lists == NULL) return MOTE_ERROR_MEMORY;
    for (uint64_t step = 0; step < count && status == MOTE_OK; step += STEP_QUERIES) {
        const uint64_t end = count - step < STEP_QUERIES ? count : step + STEP_QUERIES;
#pragma omp parallel for schedule(dynamic, 16) num_threads(ctx->threads)
        for (uint64_t query = step; query < end; query++) {
            knn_best best = {lists + (uint64_t)mote_thread_number() * room, 0, (uint32_t)room, params->k, 0};
            search_all(asked, params, result, query, &best);
        }
        status = mote_progress(ctx, (double)end / (double)count, "searching neighbours");
    }
    mote_free(ctx, lists);
    return status;
}
