/* Searches on CPU cores: all groups of queries, a batch of them at a time, and rows of a result. */
#include "core/stop_join.h"
#include "knn/cpu/knn_cpu.h"
#include "knn/cpu/knn_group.h"

#define SHARE_BATCHES 8u   /* that a thread takes at once: they learn from each other */
#define STEP_SHARES   256u /* between two reports of progress, of few neighbours; a query's time goes with k */
#define STEP_K        8u   /* of as many a step is half as long */
#define MIN_LIST      (2 * KNN_RANKED_CAPACITY)

/* ---- batches */

knn_search knn_search_of(const mote_knn_index *index, const knn_query_set *query_set, const knn_ellipsoids *ellipsoids,
                         uint32_t k, double radius) {
    knn_search search = {.ctx = index->ctx, .tree = query_set->tree, .ellipsoids = ellipsoids, .k = k};
    search.queries = &query_set->points;
    search.codes = index->codes;
    search.query_codes = query_set->codes;
    search.limit = knn_limit_of(&query_set->tree->metric, ellipsoids, radius);
    search.max_radius = radius > 0 ? knn_units(knn_keys(&search), search.limit) : INFINITY;
    return search;
}

/* A search for each kind of positions, and for spheres and ellipsoids. */
#define SEARCH(NAME, KIND, ELLIPSOIDS)                                                                                 \
    static void NAME(const knn_search *search, knn_scratch *scratch, uint32_t first, uint32_t groups, knn_visit visit, \
                     const void *user) {                                                                               \
        knn_search_batch(KIND, ELLIPSOIDS, search, scratch, first, groups, visit, user);                               \
    }

SEARCH(search_int, KNN_INT, false)
SEARCH(search_float, KNN_FLOAT, false)
SEARCH(search_double, KNN_DOUBLE, false)
SEARCH(search_int_ellipsoids, KNN_INT, true)
SEARCH(search_float_ellipsoids, KNN_FLOAT, true)
SEARCH(search_double_ellipsoids, KNN_DOUBLE, true)

void knn_search_groups(const knn_search *search, knn_scratch *scratch, uint32_t first, uint32_t groups, knn_visit visit,
                       const void *user) {
    static void (*const spheres[])(const knn_search *, knn_scratch *, uint32_t, uint32_t, knn_visit,
                                   const void *) = {search_int, search_float, search_double};
    static void (*const ellipsoids[])(const knn_search *, knn_scratch *, uint32_t, uint32_t, knn_visit,
                                      const void *) = {search_int_ellipsoids, search_float_ellipsoids,
                                                       search_double_ellipsoids};
    const knn_kind kind = search->tree->metric.kind;
    (search->ellipsoids != NULL ? ellipsoids : spheres)[kind](search, scratch, first, groups, visit, user);
}

static mote_status make_scratch(mote_context *ctx, const knn_search *search, knn_scratch **scratches,
                                knn_near **lists) {
    const uint64_t threads = (uint64_t)ctx->threads, room = MIN_LIST + 2ull * search->k;
    *scratches = mote_alloc_zero(ctx, threads * sizeof **scratches, "knn scratch");
    *lists = mote_alloc(ctx, threads * KNN_LEAF * room * sizeof **lists, "knn scratch");
    if (*scratches == NULL || *lists == NULL) return MOTE_ERROR_MEMORY;
    for (uint64_t t = 0; t < threads; t++) {
        knn_scratch *scratch = &(*scratches)[t];
        scratch->traversal.tree = search->tree;
        scratch->traversal.ellipsoids = search->ellipsoids != NULL;
        scratch->traversal.copies_max = (search->k + KNN_LEAF) / KNN_LEAF; /* leaves of k and itself */
        for (uint64_t q = 0; q < KNN_LEAF; q++) {
            knn_best *best = &scratch->best[q];
            best->list = *lists + (t * KNN_LEAF + q) * room;
            best->capacity = (uint32_t)room;
            best->k = search->k;
        }
    }
    return MOTE_OK;
}

static void do_share(mote_context *ctx, knn_scratch *scratch, uint64_t share, uint64_t groups, knn_work work,
                     const void *user) {
    for (uint64_t b = share * SHARE_BATCHES; b < (share + 1) * SHARE_BATCHES && b * KNN_BATCH < groups; b++) {
        const uint64_t first = b * KNN_BATCH, remaining = groups - first;
        if (mote_stop(ctx)) return;
        work(user, scratch, (uint32_t)first, remaining < KNN_BATCH ? (uint32_t)remaining : KNN_BATCH);
    }
}

/* A step takes about a tenth of a second on a few cores, whatever k is, and gives all threads several shares. */
static uint64_t count_step_shares(const mote_context *ctx, uint32_t k) {
    const uint64_t by_k = (uint64_t)STEP_SHARES * STEP_K / (STEP_K + k), least = 4u * (uint64_t)ctx->threads;
    return by_k > least ? by_k : least;
}

mote_status knn_for_batches(mote_context *ctx, const knn_search *search, knn_work work, const void *user, double first,
                            double last) {
    knn_scratch *scratches = NULL;
    knn_near *lists = NULL;
    const uint64_t groups = ((uint64_t)search->queries->count + KNN_GROUP - 1) / KNN_GROUP;
    const uint64_t share_groups = SHARE_BATCHES * KNN_BATCH, shares = (groups + share_groups - 1) / share_groups;
    const uint64_t step_shares = count_step_shares(ctx, search->k);
    mote_status status = make_scratch(ctx, search, &scratches, &lists);
    for (uint64_t step = 0; step < shares && status == MOTE_OK; step += step_shares) {
        const uint64_t end = shares - step < step_shares ? shares : step + step_shares;
        mote_stop_join join;
        mote_stop_join_make(&join);
#pragma omp parallel num_threads(ctx->threads)
        {
#pragma omp for schedule(dynamic, 1) nowait
            for (uint64_t share = step; share < end; share++) {
                do_share(ctx, &scratches[mote_thread_number()], share, groups, work, user);
            }
            mote_stop_join_wait(ctx, &join);
        }
        mote_stop_join_free(&join);
        status = mote_stopped(ctx);
        if (status != MOTE_OK) break;
        status = mote_progress(ctx, first + (last - first) * (double)end / (double)shares, "searching neighbours");
    }
    mote_free(ctx, lists);
    mote_free(ctx, scratches);
    return status;
}

/* ---- rows */

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

/* ---- the search by the tree */

typedef struct rows {
    knn_search search;
    const mote_knn_result *result;
} rows;

static void write_row(const void *user, uint32_t query, const knn_near *list, uint32_t count) {
    const rows *to = user;
    knn_row_write(to->result, knn_keys(&to->search), to->search.k, to->search.queries->order[query], list, count);
}

/* Rows lie anywhere in memory: what will be written is asked for while the search goes on. Taken in: GCC leaves calls
   out of functions that do nothing but this. */
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

static void search_rows(const void *user, knn_scratch *scratch, uint32_t first, uint32_t groups) {
    const rows *to = user;
    if (to->search.ellipsoids == NULL) ask_for_rows(to, first, groups);
    knn_search_groups(&to->search, scratch, first, groups, write_row, to);
}

mote_status knn_search_grid(const knn_job *job) {
    rows to;
    to.result = job->result;
    to.search = knn_search_of(job->index, job->query_set, job->ellipsoids, job->params->k, job->params->radius);
    to.search.exclude_self = job->params->exclude_self && job->query_set->codes == NULL;
    to.search.approximate = job->params->approximate;
    return knn_for_batches(job->index->ctx, &to.search, search_rows, &to, 0, 1);
}
