/* The k nearest neighbours by the tree, as rows of a result. */
#include "knn/knn_cpu.h"

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

SIMD_INLINE void search_spheres(knn_kind kind, const void *user, knn_scratch *scratch, uint32_t first,
                                uint32_t groups) {
    const rows *to = user;
    ask_for_rows(to, first, groups);
    knn_search_batch(kind, false, &to->search, scratch, first, groups, write_row, to);
}

SIMD_INLINE void search_ellipsoids(knn_kind kind, const void *user, knn_scratch *scratch, uint32_t first,
                                   uint32_t groups) {
    const rows *to = user;
    knn_search_batch(kind, true, &to->search, scratch, first, groups, write_row, to);
}

KNN_WORKS(sphere_works, search_spheres)
KNN_WORKS(ellipsoid_works, search_ellipsoids)

mote_status knn_search_grid(const knn_job *job) {
    const knn_work *const works = job->ellipsoids != NULL ? ellipsoid_works : sphere_works;
    rows to;
    to.result = job->result;
    to.search = knn_search_of(job->index, job->query_set, job->ellipsoids, job->params->k, job->params->radius);
    to.search.exclude_self = job->params->exclude_self && job->query_set->codes == NULL;
    to.search.approximate = job->params->approximate;
    return knn_for_batches(job->index->ctx, &to.search, works[job->query_set->tree->metric.kind], &to, 0, 1);
}
