/* All neighbours within a radius: counted, then written. */
#include "core/stop_join.h"
#include "knn/cpu/knn_cpu.h"
#include "knn/cpu/knn_group.h"

typedef struct within {
    knn_search search;
    uint32_t *counts; /* [rows] */
    mote_knn_lists *lists;
    uint64_t *keys; /* as lists->index */
    knn_near *near; /* [threads][max] */
    uint64_t max;
} within;

SIMD_INLINE float count_one(const void *user, knn_scratch *scratch, uint32_t q, uint64_t key, uint32_t at,
                            float threshold) {
    const within *all = user;
    (void)at;
    if (key <= all->search.limit) all->counts[all->search.queries->order[scratch->group.first + q]]++;
    return threshold;
}

/* counts are how many of the row are written already. */
SIMD_INLINE float write_one(const void *user, knn_scratch *scratch, uint32_t q, uint64_t key, uint32_t at,
                            float threshold) {
    const within *all = user;
    const uint64_t row = all->search.queries->order[scratch->group.first + q];
    if (key > all->search.limit) return threshold;
    const uint64_t place = all->lists->first[row] + all->counts[row]++;
    all->lists->index[place] = all->search.tree->points.order[at];
    all->keys[place] = key;
    return threshold;
}

SIMD_INLINE void visit_batch(knn_kind kind, const within *all, knn_scratch *scratch, uint32_t first, uint32_t groups,
                             knn_take take) {
    const knn_search *search = &all->search;
    const uint32_t whole = (1u << KNN_GROUP) - 1;
    knn_frame_clear(kind, &search->tree->metric, knn_keys(search)->norm, &scratch->frame);
    for (uint32_t g = first; g < first + groups; g++) knn_frame_add(kind, search->queries, g, whole, &scratch->frame);
    scratch->traversal.copies_max = UINT32_MAX; /* every copy counts */
    knn_search_leaves_begin(kind, scratch, search->max_radius);
    for (;;) {
        knn_chunk_load(kind, &scratch->chunk, search->tree, &scratch->frame);
        for (uint32_t g = first; g < first + groups; g++) {
            knn_group_make(kind, search, g, whole, scratch);
            knn_list_make(&scratch->list, &scratch->chunk, scratch->traversal.threshold);
            for (uint32_t q = 0; q < scratch->group.count; q++) {
                knn_stream(kind, false, search, scratch, q, scratch->traversal.threshold, NULL, take, all);
            }
        }
        if (scratch->traversal.waiting == 0 || mote_stop(search->ctx)) break; /* a radius may hold all points */
        knn_traverse_next(kind, &scratch->traversal, &scratch->frame, &scratch->chunk);
    }
}

SIMD_INLINE void count_batch(knn_kind kind, const void *user, knn_scratch *scratch, uint32_t first, uint32_t groups) {
    visit_batch(kind, user, scratch, first, groups, count_one);
}

SIMD_INLINE void write_batch(knn_kind kind, const void *user, knn_scratch *scratch, uint32_t first, uint32_t groups) {
    visit_batch(kind, user, scratch, first, groups, write_one);
}

/* Makes NAME, the work of each kind of positions. */
#define WORKS(NAME, BATCH)                                                                                             \
    static void NAME##_int(const void *user, knn_scratch *scratch, uint32_t first, uint32_t groups) {                  \
        BATCH(KNN_INT, user, scratch, first, groups);                                                                  \
    }                                                                                                                  \
    static void NAME##_float(const void *user, knn_scratch *scratch, uint32_t first, uint32_t groups) {                \
        BATCH(KNN_FLOAT, user, scratch, first, groups);                                                                \
    }                                                                                                                  \
    static void NAME##_double(const void *user, knn_scratch *scratch, uint32_t first, uint32_t groups) {               \
        BATCH(KNN_DOUBLE, user, scratch, first, groups);                                                               \
    }                                                                                                                  \
    static const knn_work NAME[] = {NAME##_int, NAME##_float, NAME##_double};

WORKS(count_works, count_batch)
WORKS(write_works, write_batch)

/* ---- lists */

static mote_status place_lists(mote_context *ctx, within *all, uint64_t rows) {
    mote_knn_lists *lists = all->lists;
    lists->first[0] = 0;
    for (uint64_t i = 0; i < rows; i++) {
        lists->first[i + 1] = lists->first[i] + all->counts[i];
        all->max = all->counts[i] > all->max ? all->counts[i] : all->max;
    }
    const uint64_t total = lists->first[rows];
    lists->index = mote_alloc(ctx, total * sizeof *lists->index, "knn lists");
    lists->distance2 = mote_alloc(ctx, total * sizeof *lists->distance2, "knn lists");
    all->keys = mote_alloc(ctx, total * sizeof *all->keys, "knn list keys");
    all->near = mote_alloc(ctx, (uint64_t)ctx->threads * all->max * sizeof *all->near, "knn scratch");
    if (lists->index == NULL || lists->distance2 == NULL || all->keys == NULL || all->near == NULL) {
        return MOTE_ERROR_MEMORY;
    }
    return MOTE_OK;
}

static void sort_row(const within *all, uint64_t row) {
    knn_near *near = all->near + (uint64_t)mote_thread_number() * all->max;
    const uint64_t first = all->lists->first[row], count = all->lists->first[row + 1] - first;
    for (uint64_t i = 0; i < count; i++) {
        near[i].key = all->keys[first + i];
        near[i].index = all->lists->index[first + i];
    }
    knn_sort(all->search.ctx, near, count);
    for (uint64_t i = 0; i < count; i++) {
        all->lists->index[first + i] = near[i].index;
        all->lists->distance2[first + i] = (float)knn_distance2(&all->search.tree->metric, near[i].key);
    }
}

static mote_status fill_lists(mote_context *ctx, within *all, uint64_t rows) {
    MOTE_TRY(place_lists(ctx, all, rows));
    memset(all->counts, 0, rows * sizeof *all->counts);
    MOTE_TRY(knn_for_batches(ctx, &all->search, write_works[all->search.tree->metric.kind], all, 0.5, 0.9));
    mote_stop_join join;
    mote_stop_join_make(&join);
#pragma omp parallel num_threads(ctx->threads)
    {
#pragma omp for schedule(dynamic, 256) nowait
        for (uint64_t row = 0; row < rows; row++) {
            if (!mote_stop(ctx)) sort_row(all, row);
        }
        mote_stop_join_wait(ctx, &join);
    }
    mote_stop_join_free(&join);
    MOTE_TRY(mote_stopped(ctx));
    return mote_progress(ctx, 1, "sorting neighbours");
}

mote_status knn_within_cpu(mote_knn_index *index, const mote_cloud *queries, double radius, bool exclude_self,
                           uint32_t *counts, mote_knn_lists *lists) {
    mote_context *ctx = index->ctx;
    knn_query_set query_set;
    within all;
    memset(&all, 0, sizeof all);
    mote_stage(ctx, "search");
    mote_status status = knn_query_set_make(index, queries, &query_set);
    if (status == MOTE_OK) {
        all.search = knn_search_of(index, &query_set, NULL, 0, radius);
        all.search.exclude_self = exclude_self;
        if (radius == 0) all.search.limit = 0, all.search.max_radius = 0;
        all.lists = lists;
        all.counts = counts != NULL ? counts : mote_alloc(ctx, query_set.rows * sizeof *all.counts, "knn counts");
        status = all.counts != NULL ? MOTE_OK : MOTE_ERROR_MEMORY;
    }
    if (status == MOTE_OK) {
        memset(all.counts, 0, query_set.rows * sizeof *all.counts);
        status = knn_for_batches(ctx, &all.search, count_works[query_set.tree->metric.kind], &all, 0,
                                 lists != NULL ? 0.5 : 1);
    }
    if (status == MOTE_OK && lists != NULL) status = fill_lists(ctx, &all, query_set.rows);
    if (counts == NULL) mote_free(ctx, all.counts);
    mote_free(ctx, all.keys);
    mote_free(ctx, all.near);
    knn_query_set_free(ctx, &query_set);
    return status;
}
