/* Searches that take each query on its own, and brute force, which offers it every point: for checking. */
#include "core/stop_join.h"
#include "knn/cpu/knn_cpu.h"

#define STEP_QUERIES    1024u      /* between two reports of progress */
#define OFFERED_AT_ONCE (1u << 16) /* points; a millisecond */

SIMD_INLINE uint64_t key_of_kind(knn_kind kind, const knn_query *query, uint32_t at) {
    const knn_tree *tree = query->job->query_set->tree;
    knn_exact mine, other;
    knn_exact_of(kind, &query->job->query_set->points, query->place, &mine);
    knn_exact_of(kind, &tree->points, at, &other);
    return query->ellipsoid != NULL ? knn_key_of_ellipsoid(kind, &tree->metric, query->ellipsoid, &mine, &other)
                                    : knn_key_between(kind, &tree->metric, &mine, &other);
}

static uint64_t key_of(const knn_query *query, uint32_t at) {
    switch (query->job->query_set->tree->metric.kind) {
    case KNN_INT: return key_of_kind(KNN_INT, query, at);
    case KNN_FLOAT: return key_of_kind(KNN_FLOAT, query, at);
    default: return key_of_kind(KNN_DOUBLE, query, at);
    }
}

void knn_offer(knn_query *query, uint32_t at) {
    const knn_query_set *query_set = query->job->query_set;
    const bool is_self = query_set->codes == NULL && at == query->place;
    const uint64_t key = key_of(query, at);
    if (key > query->best.limit || (is_self && query->job->params->exclude_self)) return;
    knn_best_take(&query->best, key, at, query_set->tree->points.order[at]);
}

static void answer(const knn_job *job, knn_candidates candidates, const void *user, knn_query *query) {
    const knn_metric *metric = &job->query_set->tree->metric;
    const knn_ellipsoids *ellipsoids = job->ellipsoids;
    knn_ellipsoid ellipsoid;
    query->row = job->query_set->points.order[query->place];
    if (ellipsoids != NULL) knn_ellipsoid_of_row(ellipsoids, query->row, &ellipsoid);
    query->ellipsoid = ellipsoids != NULL ? &ellipsoid : NULL;
    knn_best_reset(&query->best, knn_limit_of(metric, ellipsoids, job->params->radius), UINT32_MAX);
    if (!candidates(user, query)) return;
    knn_best_finish(&query->best);
    knn_row_write(job->result, ellipsoids != NULL ? &ellipsoids->keys : metric, job->params->k, query->row,
                  query->best.list, query->best.count);
}

mote_status knn_for_queries(const knn_job *job, knn_candidates candidates, const void *user, double first,
                            double last) {
    mote_context *ctx = job->index->ctx;
    const uint32_t k = job->params->k, capacity = 2 * k + 64;
    const uint64_t count = job->query_set->points.count;
    mote_status status = MOTE_OK;
    knn_near *lists = mote_alloc(ctx, (uint64_t)ctx->threads * capacity * sizeof *lists, "knn scratch");
    if (lists == NULL) return MOTE_ERROR_MEMORY;
    for (uint64_t step = 0; step < count && status == MOTE_OK; step += STEP_QUERIES) {
        const uint64_t end = count - step < STEP_QUERIES ? count : step + STEP_QUERIES;
        mote_stop_join join;
        mote_stop_join_make(&join);
#pragma omp parallel num_threads(ctx->threads)
        {
#pragma omp for schedule(dynamic, 16) nowait
            for (uint64_t place = step; place < end; place++) {
                if (mote_stop(ctx)) continue;
                knn_near *list = lists + (uint64_t)mote_thread_number() * capacity;
                knn_query query = {.job = job, .place = place, .best = {list, 0, capacity, k, 0, 0}};
                answer(job, candidates, user, &query);
            }
            mote_stop_join_wait(ctx, &join);
        }
        mote_stop_join_free(&join);
        status = mote_stopped(ctx);
        if (status != MOTE_OK) break;
        status = mote_progress(ctx, first + (last - first) * (double)end / (double)count, "searching neighbours");
    }
    mote_free(ctx, lists);
    return status;
}

static bool offer_all(const void *user, knn_query *query) {
    const uint32_t count = query->job->query_set->tree->points.count;
    (void)user;
    for (uint32_t first = 0; first < count && !mote_stop(query->job->index->ctx); first += OFFERED_AT_ONCE) {
        const uint32_t last = count - first < OFFERED_AT_ONCE ? count : first + OFFERED_AT_ONCE;
        for (uint32_t at = first; at < last; at++) knn_offer(query, at);
    }
    return true;
}

mote_status knn_search_brute(const knn_job *job) { return knn_for_queries(job, offer_all, NULL, 0, 1); }
