/* The k nearest neighbours as rows of a result. */
#include "knn/knn_cpu.h"

void knn_row_write(const mote_knn_result *result, const knn_metric *metric, uint32_t k, uint64_t row,
                   const knn_near *list, uint32_t count) {
    const uint64_t first = row * k;
    if (result->index32 != NULL) {
        for (uint32_t i = 0; i < count; i++) result->index32[first + i] = list[i].index;
        for (uint32_t i = count; i < k; i++) result->index32[first + i] = UINT32_MAX;
    }
    if (result->index64 != NULL) {
        for (uint32_t i = 0; i < count; i++) result->index64[first + i] = list[i].index;
        for (uint32_t i = count; i < k; i++) result->index64[first + i] = -1;
    }
    if (result->distance2 != NULL) {
        for (uint32_t i = 0; i < count; i++) result->distance2[first + i] = (float)knn_distance2(metric, list[i].key);
        for (uint32_t i = count; i < k; i++) result->distance2[first + i] = INFINITY;
    }
    if (result->distance2_wide != NULL) {
        for (uint32_t i = 0; i < count; i++) result->distance2_wide[first + i] = knn_distance2(metric, list[i].key);
        for (uint32_t i = count; i < k; i++) result->distance2_wide[first + i] = INFINITY;
    }
    if (result->count != NULL) result->count[row] = count;
}

typedef struct rows {
    knn_search search;
    const mote_knn_result *result;
} rows;

SIMD_INLINE void write_row(const void *user, uint32_t query, const knn_near *list, uint32_t count) {
    const rows *to = user;
    knn_row_write(to->result, &to->search.tree->metric, to->search.k, to->search.queries->order[query], list, count);
}

static void search_int(const void *user, knn_scratch *scratch, uint32_t first, uint32_t groups) {
    const rows *to = user;
    knn_search_batch(KNN_INT, &to->search, scratch, first, groups, write_row, user);
}

static void search_float(const void *user, knn_scratch *scratch, uint32_t first, uint32_t groups) {
    const rows *to = user;
    knn_search_batch(KNN_FLOAT, &to->search, scratch, first, groups, write_row, user);
}

static void search_double(const void *user, knn_scratch *scratch, uint32_t first, uint32_t groups) {
    const rows *to = user;
    knn_search_batch(KNN_DOUBLE, &to->search, scratch, first, groups, write_row, user);
}

static mote_status search_grid(mote_knn_index *index, const knn_asked *asked, const mote_knn_params *params,
                               const mote_knn_result *result) {
    static const knn_work works[] = {search_int, search_float, search_double};
    const knn_metric *metric = &asked->tree->metric;
    rows to;
    to.result = result;
    to.search.tree = asked->tree;
    to.search.queries = &asked->points;
    to.search.codes = index->codes;
    to.search.query_codes = asked->codes;
    to.search.k = params->k;
    to.search.exclude_self = params->exclude_self && asked->codes == NULL;
    to.search.approximate = params->approximate;
    to.search.limit = knn_key_limit(metric, params->radius);
    to.search.limit_reach = params->radius > 0 ? knn_units(metric, to.search.limit) : INFINITY;
    return knn_for_batches(index->ctx, &to.search, works[metric->kind], &to, 0, 1);
}

mote_status knn_search_cpu(mote_knn_index *index, const mote_cloud *queries, const mote_knn_params *params,
                           mote_knn_result *result) {
    knn_asked asked;
    mote_stage(index->ctx, "search");
    mote_status status = knn_ask(index, queries, &asked);
    if (status == MOTE_OK) {
        for (uint64_t i = asked.points.count; i < asked.rows; i++) {
            knn_row_write(result, &asked.tree->metric, params->k, asked.points.order[i], NULL, 0);
        }
        status = params->method == MOTE_KNN_BRUTE ? knn_search_brute(index, &asked, params, result)
                                                  : search_grid(index, &asked, params, result);
    }
    knn_asked_free(index->ctx, &asked);
    return status;
}
