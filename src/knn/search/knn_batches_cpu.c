/* A search among all groups of queries, a batch of them at a time. */
#include "knn/knn_cpu.h"

#define SHARE_BATCHES 8u   /* that a thread takes at once: they learn from each other */
#define STEP_SHARES   256u /* between two reports of progress */
#define MIN_LIST      (2 * KNN_SMALL_K_CAPACITY)

knn_search knn_search_of(const mote_knn_index *index, const knn_query_set *query_set, const knn_ellipsoids *ellipsoids,
                         uint32_t k, double radius) {
    knn_search search = {.tree = query_set->tree, .ellipsoids = ellipsoids, .queries = &query_set->points, .k = k};
    search.codes = index->codes;
    search.query_codes = query_set->codes;
    search.limit = knn_limit_of(&query_set->tree->metric, ellipsoids, radius);
    search.max_radius = radius > 0 ? knn_units(knn_keys(&search), search.limit) : INFINITY;
    return search;
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

static void do_share(knn_scratch *scratch, uint64_t share, uint64_t groups, knn_work work, const void *user) {
    for (uint64_t b = share * SHARE_BATCHES; b < (share + 1) * SHARE_BATCHES && b * KNN_BATCH < groups; b++) {
        const uint64_t first = b * KNN_BATCH, remaining = groups - first;
        work(user, scratch, (uint32_t)first, remaining < KNN_BATCH ? (uint32_t)remaining : KNN_BATCH);
    }
}

mote_status knn_for_batches(mote_context *ctx, const knn_search *search, knn_work work, const void *user, double first,
                            double last) {
    knn_scratch *scratches = NULL;
    knn_near *lists = NULL;
    const uint64_t groups = ((uint64_t)search->queries->count + KNN_GROUP - 1) / KNN_GROUP;
    const uint64_t share_groups = SHARE_BATCHES * KNN_BATCH, shares = (groups + share_groups - 1) / share_groups;
    mote_status status = make_scratch(ctx, search, &scratches, &lists);
    for (uint64_t step = 0; step < shares && status == MOTE_OK; step += STEP_SHARES) {
        const uint64_t end = shares - step < STEP_SHARES ? shares : step + STEP_SHARES;
#pragma omp parallel for schedule(dynamic, 1) num_threads(ctx->threads)
        for (uint64_t share = step; share < end; share++) {
            do_share(&scratches[mote_thread_number()], share, groups, work, user);
        }
        status = mote_progress(ctx, first + (last - first) * (double)end / (double)shares, "searching neighbours");
    }
    mote_free(ctx, lists);
    mote_free(ctx, scratches);
    return status;
}
