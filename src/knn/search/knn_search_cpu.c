/* The k nearest neighbours as rows of a result. */
#include "knn/knn_cpu.h"

/* What is behind the last neighbour. */
static void fill_row(const mote_knn_result *result, uint64_t first, uint64_t last) {
    for (uint64_t i = first; i < last; i++) {
        if (result->index32 != NULL) result->index32[i] = UINT32_MAX;
        if (result->index64 != NULL) result->index64[i] = -1;
        if (result->distance2 != NULL) result->distance2[i] = INFINITY;
        if (result->distance2_wide != NULL) result->distance2_wide[i] = INFINITY;
    }
}

void knn_row_write(const mote_knn_result *result, const knn_metric *metric, uint32_t k, uint64_t row,
                   const knn_near *list, uint32_t count) {
    const uint64_t first = row * k;
    if (result->index32 != NULL) {
        for (uint32_t i = 0; i < count; i++) result->index32[first + i] = list[i].index;
    }
    if (result->index64 != NULL) {
        for (uint32_t i = 0; i < count; i++) result->index64[first + i] = list[i].index;
    }
    if (result->distance2 != NULL) {
        for (uint32_t i = 0; i < count; i++) result->distance2[first + i] = (float)knn_distance2(metric, list[i].key);
    }
    if (result->distance2_wide != NULL) {
        for (uint32_t i = 0; i < count; i++) result->distance2_wide[first + i] = knn_distance2(metric, list[i].key);
    }
    if (result->count != NULL) result->count[row] = count;
    if (count < k) fill_row(result, first + count, first + k);
}

typedef struct rows {
    knn_search search;
    const mote_knn_result *result;
} rows;

SIMD_INLINE void write_row(knn_kind kind, const void *user, uint32_t query, const knn_near *list, uint32_t count) {
    const rows *to = user;
    (void)kind;
    knn_row_write(to->result, knn_keys(&to->search), to->search.k, to->search.queries->order[query], list, count);
}

/* Rows lie anywhere in memory: what will be written is asked for while the search goes on. */
SIMD_INLINE void ask_for_rows(const rows *to, uint32_t group, uint32_t groups) {
    const mote_knn_result *result = to->result;
    const knn_points *queries = to->search.queries;
    const uint64_t k = to->search.k, end = (uint64_t)KNN_GROUP * (group + groups);
    for (uint64_t q = (uint64_t)KNN_GROUP * group; q < end && q < queries->count && k <= 32; q++) {
        const uint64_t first = queries->order[q] * k;
        if (result->index32 != NULL) {
            __builtin_prefetch(result->index32 + first, 1);
            __builtin_prefetch(result->index32 + first + k - 1, 1);
        }
        if (result->distance2 != NULL) {
            __builtin_prefetch(result->distance2 + first, 1);
            __builtin_prefetch(result->distance2 + first + k - 1, 1);
        }
    }
}

SIMD_INLINE void search_batch(knn_kind kind, bool around, const rows *to, knn_scratch *scratch, uint32_t first,
                              uint32_t groups) {
    if (!around) ask_for_rows(to, first, groups);
    knn_search_batch(kind, around, &to->search, scratch, first, groups, write_row, to);
}

static void search_int(const void *user, knn_scratch *scratch, uint32_t first, uint32_t groups) {
    search_batch(KNN_INT, false, user, scratch, first, groups);
}
static void search_float(const void *user, knn_scratch *scratch, uint32_t first, uint32_t groups) {
    search_batch(KNN_FLOAT, false, user, scratch, first, groups);
}
static void search_double(const void *user, knn_scratch *scratch, uint32_t first, uint32_t groups) {
    search_batch(KNN_DOUBLE, false, user, scratch, first, groups);
}

static void search_around_int(const void *user, knn_scratch *scratch, uint32_t first, uint32_t groups) {
    search_batch(KNN_INT, true, user, scratch, first, groups);
}
static void search_around_float(const void *user, knn_scratch *scratch, uint32_t first, uint32_t groups) {
    search_batch(KNN_FLOAT, true, user, scratch, first, groups);
}
static void search_around_double(const void *user, knn_scratch *scratch, uint32_t first, uint32_t groups) {
    search_batch(KNN_DOUBLE, true, user, scratch, first, groups);
}

static mote_status search_grid(mote_knn_index *index, const knn_asked *asked, const knn_around *around,
                               const mote_knn_params *params, const mote_knn_result *result) {
    static const knn_work works[2][3] = {{search_int, search_float, search_double},
                                         {search_around_int, search_around_float, search_around_double}};
    rows to;
    to.result = result;
    to.search = knn_search_of(index, asked, around, params->k, params->radius);
    to.search.exclude_self = params->exclude_self && asked->codes == NULL;
    to.search.approximate = params->approximate;
    return knn_for_batches(index->ctx, &to.search, works[around != NULL][asked->tree->metric.kind], &to, 0, 1);
}

static void make_around(const mote_cloud *cloud, const mote_knn_params *params, const knn_metric *metric,
                        knn_around *around) {
    knn_find_normals(cloud, around->normals); /* they are there: the params are valid */
    around->compression = params->compression;
    around->squeeze = params->compression * params->compression - 1;
    around->keys = knn_metric_ellipsoid(metric);
}

static mote_status search_asked(mote_knn_index *index, const mote_cloud *queries, const knn_asked *asked,
                                const mote_knn_params *params, const mote_knn_result *result) {
    knn_around squeezed;
    const knn_around *around = NULL;
    if (params->compression > 1) {
        make_around(queries != NULL ? queries : index->cloud, params, &asked->tree->metric, &squeezed);
        around = &squeezed;
    }
    for (uint64_t i = asked->points.count; i < asked->rows; i++) {
        knn_row_write(result, &asked->tree->metric, params->k, asked->points.order[i], NULL, 0);
    }
    switch (params->method) {
    case MOTE_KNN_BRUTE: return knn_search_brute(index, asked, around, params, result);
    case MOTE_KNN_SHIFTED: return knn_search_shifted(index, queries, asked, around, params, result);
    default: return search_grid(index, asked, around, params, result);
    }
}

mote_status knn_search_cpu(mote_knn_index *index, const mote_cloud *queries, const mote_knn_params *params,
                           mote_knn_result *result) {
    knn_asked asked;
    mote_stage(index->ctx, "search");
    mote_status status = knn_ask(index, queries, &asked);
    if (status == MOTE_OK) status = search_asked(index, queries, &asked, params, result);
    knn_asked_free(index->ctx, &asked);
    return status;
}
