/* All neighbours within a radius: counted, then written. */
#include "knn/knn_cpu.h"

typedef struct within {
    knn_search search;
    uint32_t *counts; /* [rows] */
    mote_knn_lists *lists;
    uint64_t *keys; /* as lists->index */
    knn_near *near; /* [threads][most] */
    uint64_t max;
} within;

/* Calls take for each point within the limit of each query of a group. */
typedef void (*take_fn)(const within *all, uint64_t row, uint64_t key, uint32_t at);

SIMD_INLINE void stream(knn_kind kind, const within *all, knn_scratch *scratch, uint32_t q, take_fn take) {
    const knn_search *search = &all->search;
    const knn_points *points = &search->tree->points;
    const knn_list *list = &scratch->list;
    const simd_f x = simd_f_set(scratch->group.offset[0][q]), y = simd_f_set(scratch->group.offset[1][q]),
                 z = simd_f_set(scratch->group.offset[2][q]), max = simd_f_set(scratch->traversal.threshold);
    const uint32_t query = scratch->group.first + q, self = search->exclude_self ? query : UINT32_MAX;
    const uint64_t row = search->queries->order[query];
    knn_place mine, other;
    knn_place_of(kind, search->queries, query, &mine);
    for (uint32_t i = 0; i < list->count; i++) {
        uint32_t hits = simd_f_at_most(knn_squares(&scratch->chunk, list->at[i], x, y, z), max);
        for (; hits != 0; hits &= hits - 1) {
            const uint32_t slot = KNN_LEAF * i + (uint32_t)__builtin_ctz(hits);
            const uint32_t at = knn_list_place(list, &scratch->chunk, slot);
            if (at >= points->count || at == self) continue;
            knn_place_of(kind, points, at, &other);
            const uint64_t key = knn_key_of(kind, &search->tree->metric, &mine, &other);
            if (key <= search->limit) take(all, row, key, at);
        }
    }
}

SIMD_INLINE void visit_batch(knn_kind kind, const within *all, knn_scratch *scratch, uint32_t first, uint32_t groups,
                             take_fn take) {
    const knn_search *search = &all->search;
    const uint32_t whole = (1u << KNN_GROUP) - 1;
    knn_frame_clear(kind, &search->tree->metric, &scratch->frame);
    for (uint32_t g = first; g < first + groups; g++) knn_frame_add(kind, search, g, whole, &scratch->frame);
    scratch->traversal.threshold = knn_threshold_of(search, scratch, search->max_radius);
    scratch->traversal.copies_max = UINT32_MAX; /* every copy counts */
    knn_traversal_begin(&scratch->traversal);
    do {
        knn_traverse_next(kind, &scratch->traversal, &scratch->frame, &scratch->chunk);
        knn_chunk_load(kind, &scratch->chunk, search->tree, &scratch->frame);
        for (uint32_t g = first; g < first + groups; g++) {
            knn_group_make(kind, search, g, whole, scratch);
            knn_list_make(&scratch->list, &scratch->chunk, scratch->traversal.threshold);
            for (uint32_t q = 0; q < scratch->group.count; q++) stream(kind, all, scratch, q, take);
        }
    } while (scratch->traversal.waiting > 0);
}

SIMD_INLINE void count_one(const within *all, uint64_t row, uint64_t key, uint32_t at) {
    (void)key, (void)at;
    all->counts[row]++;
}

/* counts are how many of the row are written already. */
SIMD_INLINE void write_one(const within *all, uint64_t row, uint64_t key, uint32_t at) {
    const uint64_t place = all->lists->first[row] + all->counts[row]++;
    all->lists->index[place] = all->search.tree->points.order[at];
    all->keys[place] = key;
}

static void count_batch(const void *user, knn_scratch *scratch, uint32_t first, uint32_t groups) {
    const within *all = user;
    switch (all->search.tree->metric.kind) {
    case KNN_INT: visit_batch(KNN_INT, all, scratch, first, groups, count_one); break;
    case KNN_FLOAT: visit_batch(KNN_FLOAT, all, scratch, first, groups, count_one); break;
    case KNN_DOUBLE: visit_batch(KNN_DOUBLE, all, scratch, first, groups, count_one);
    }
}

static void write_batch(const void *user, knn_scratch *scratch, uint32_t first, uint32_t groups) {
    const within *all = user;
    switch (all->search.tree->metric.kind) {
    case KNN_INT: visit_batch(KNN_INT, all, scratch, first, groups, write_one); break;
    case KNN_FLOAT: visit_batch(KNN_FLOAT, all, scratch, first, groups, write_one); break;
    case KNN_DOUBLE: visit_batch(KNN_DOUBLE, all, scratch, first, groups, write_one);
    }
}

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
    knn_sort(near, count);
    for (uint64_t i = 0; i < count; i++) {
        all->lists->index[first + i] = near[i].index;
        all->lists->distance2[first + i] = (float)knn_distance2(&all->search.tree->metric, near[i].key);
    }
}

static mote_status fill_lists(mote_context *ctx, within *all, uint64_t rows) {
    MOTE_TRY(place_lists(ctx, all, rows));
    memset(all->counts, 0, rows * sizeof *all->counts);
    MOTE_TRY(knn_for_batches(ctx, &all->search, write_batch, all, 0.5, 0.9));
#pragma omp parallel for schedule(dynamic, 256) num_threads(ctx->threads)
    for (uint64_t row = 0; row < rows; row++) sort_row(all, row);
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
        if (radius == 0) all.search.limit = 0, all.search.max_radius = knn_units(knn_keys(&all.search), 0);
        all.lists = lists;
        all.counts = counts != NULL ? counts : mote_alloc(ctx, query_set.rows * sizeof *all.counts, "knn counts");
        status = all.counts != NULL ? MOTE_OK : MOTE_ERROR_MEMORY;
    }
    if (status == MOTE_OK) {
        memset(all.counts, 0, query_set.rows * sizeof *all.counts);
        status = knn_for_batches(ctx, &all.search, count_batch, &all, 0, lists != NULL ? 0.5 : 1);
    }
    if (status == MOTE_OK && lists != NULL) status = fill_lists(ctx, &all, query_set.rows);
    if (counts == NULL) mote_free(ctx, all.counts);
    mote_free(ctx, all.keys);
    mote_free(ctx, all.near);
    knn_query_set_free(ctx, &query_set);
    return status;
}
