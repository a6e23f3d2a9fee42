/* The index on CPU cores: the points in order, and the boxes over them; and queries, in terms of it. */
#include "knn/cpu/knn_build_cpu.h"
#include "core/cloud.h"
#include "knn/cpu/knn_cpu.h"
#include "knn/knn_rules.h"

#define MAX_FLOAT_SPAN 0x1p50 /* squares of floats stay far from infinity */

/* Whether stored integers are steps of one scale, less than 2^31 apart; then what counts as step 0. */
static bool find_steps(mote_knn_index *index, const mote_column *const axes[3], uint64_t count) {
    const mote_lattice *lattice = &index->lattice;
    int64_t low[3], high[3];
    if (!knn_have_one_scale(axes) || count == 0) return false;
    if (lattice->integer && !lattice->exact) return false;
    if (lattice->integer) {
        knn_integers_of(lattice, low, high);
    } else {
        knn_integer_bounds(index->ctx, axes, index->order, count, low, high);
    }
    return knn_set_steps(index, low, high);
}

/* Whether floats are compared as they are stored: then squares of their differences neither vanish nor overflow. */
static bool are_floats(const mote_knn_index *index, const mote_column *const axes[3], double span) {
    for (int k = 0; k < 3; k++) {
        if (axes[k]->type != MOTE_FLOAT32 || axes[k]->scale != 1) return false;
    }
    return span == 0 || (span > 0x1p-40 && span < 0x1p40 && !index->dense);
}

static void set_metric(const mote_column *const axes[3], knn_kind kind, bool world, double span, knn_metric *metric) {
    metric->kind = kind;
    metric->norm = kind == KNN_DOUBLE ? knn_norm_of(span) : 1;
    for (int k = 0; k < 3; k++) metric->scale[k] = world ? 1 : axes[k]->scale;
}

static mote_status read_tree(mote_knn_index *index, const mote_column *const axes[3], bool world, knn_tree *tree) {
    knn_reading reading;
    memcpy(reading.axes, axes, sizeof reading.axes);
    memcpy(reading.origin, index->origin, sizeof reading.origin);
    reading.kind = tree->metric.kind;
    reading.world = world;
    const uint64_t count = index->cloud->count - index->skipped;
    MOTE_TRY(knn_points_read(index->ctx, &reading, index->order, count, &tree->points));
    return knn_tree_build(index->ctx, index->dense, tree);
}

/* Builds index->other: doubles, stored or world values. */
static mote_status make_other_tree(mote_knn_index *index, bool world) {
    const mote_column *axes[3];
    if (index->other_is_set && index->other_is_world == world) return MOTE_OK;
    index->other_is_set = false;
    MOTE_TRY(mote_cloud_positions(index->ctx, index->cloud, axes));
    set_metric(axes, KNN_DOUBLE, world, knn_world_span(&index->lattice), &index->other.metric);
    MOTE_TRY(read_tree(index, axes, world, &index->other));
    index->other_is_set = true;
    index->other_is_world = world;
    return MOTE_OK;
}

mote_status knn_build_cpu(mote_knn_index *index) {
    mote_context *ctx = index->ctx;
    const mote_column *axes[3];
    MOTE_TRY(mote_cloud_positions(ctx, index->cloud, axes));
    MOTE_TRY(mote_cloud_need_host(ctx, index->cloud, "nearest neighbours on the CPU"));
    const bool is_first = index->stored.points.leaves == NULL;
    index->other_is_set = false;
    MOTE_TRY(knn_order_points(index));
    /* What is not finite was sorted there and has no leaf: made once, an index keeps no room for it. */
    if (is_first && index->skipped > 0) knn_tree_free(ctx, &index->stored);
    mote_stage(ctx, "cells");
    const double span = knn_world_span(&index->lattice);
    const bool steps = find_steps(index, axes, index->cloud->count - index->skipped);
    set_metric(axes,
               steps                           ? KNN_INT
               : are_floats(index, axes, span) ? KNN_FLOAT
                                               : KNN_DOUBLE,
               false, span, &index->stored.metric);
    MOTE_TRY(read_tree(index, axes, false, &index->stored));
    return mote_progress(ctx, 1.0, "building the cells");
}

void knn_release_cpu(mote_knn_index *index) {
    knn_tree_free(index->ctx, &index->stored);
    knn_tree_free(index->ctx, &index->other);
    mote_free(index->ctx, index->codes);
    mote_free(index->ctx, index->order);
}

/* ---- queries */

/* Sorts the queries by the codes of the points' lattice; those that are not finite come last. */
static mote_status sort_queries(mote_knn_index *index, const mote_column *const axes[3], knn_query_set *query_set,
                                uint64_t *finite) {
    mote_context *ctx = index->ctx;
    uint64_t non_finite = 0;
    query_set->codes = mote_alloc(ctx, query_set->rows * sizeof *query_set->codes, "query codes");
    query_set->owned_order = mote_alloc(ctx, query_set->rows * sizeof *query_set->owned_order, "query order");
    if (query_set->codes == NULL || query_set->owned_order == NULL) return MOTE_ERROR_MEMORY;
#pragma omp parallel for schedule(static) num_threads(ctx->threads) reduction(+ : non_finite)
    for (uint64_t i = 0; i < query_set->rows; i++) {
        query_set->codes[i] = knn_code_of_world(axes, &index->cells, i);
        non_finite += query_set->codes[i] == UINT64_MAX;
    }
    *finite = query_set->rows - non_finite;
    const mote_progress_span whole = mote_progress_enter(ctx, 0, 0); /* short beside the search */
    const mote_status status = order_sort_cpu(ctx, query_set->codes, query_set->owned_order, query_set->rows);
    mote_progress_leave(ctx, whole);
    return status;
}

/* Whether queries like the points can be asked of their tree: all integers must be steps, less than 2^31 apart, and
   floats not too far. */
static bool fits_stored(const mote_knn_index *index, const mote_column *const axes[3], const uint32_t *order,
                        uint64_t count) {
    const mote_lattice *lattice = &index->lattice;
    if (index->stored.metric.kind == KNN_INT) {
        int64_t low[3], high[3];
        knn_integer_bounds(index->ctx, axes, order, count, low, high);
        return count == 0 || knn_are_near_steps(index, low, high);
    }
    if (index->stored.metric.kind == KNN_FLOAT) {
        for (uint64_t i = 0; i < count; i++) {
            for (int k = 0; k < 3; k++) {
                const double away = mote_column_stored(axes[k], order[i]) - (double)lattice->min[k] * lattice->scale[k];
                if (!(fabs(away) < MAX_FLOAT_SPAN)) return false;
            }
        }
    }
    return true;
}

static mote_status choose_tree(mote_knn_index *index, const mote_column *const axes[3], const knn_query_set *query_set,
                               uint64_t finite, knn_reading *reading, const knn_tree **tree) {
    const mote_column *own[3];
    MOTE_TRY(mote_cloud_positions(index->ctx, index->cloud, own));
    reading->world = false;
    for (int k = 0; k < 3; k++) reading->world = reading->world || !knn_is_same_axis(axes[k], own[k]);
    *tree = &index->stored;
    if (reading->world) {
        bool plain = index->stored.metric.kind == KNN_DOUBLE;
        for (int k = 0; k < 3; k++) plain = plain && own[k]->scale == 1 && own[k]->offset == 0;
        if (plain) return MOTE_OK; /* stored and world values are the same */
    } else if (fits_stored(index, axes, query_set->owned_order, finite)) {
        return MOTE_OK;
    }
    *tree = &index->other;
    return make_other_tree(index, reading->world);
}

static mote_status read_queries(mote_knn_index *index, const mote_cloud *queries, knn_query_set *query_set) {
    knn_reading reading;
    uint64_t finite;
    memset(&reading, 0, sizeof reading);
    query_set->rows = queries->count;
    MOTE_TRY(mote_cloud_positions(index->ctx, queries, reading.axes));
    MOTE_TRY(sort_queries(index, reading.axes, query_set, &finite));
    MOTE_TRY(choose_tree(index, reading.axes, query_set, finite, &reading, &query_set->tree));
    reading.kind = query_set->tree->metric.kind;
    memcpy(reading.origin, index->origin, sizeof reading.origin);
    return knn_points_read(index->ctx, &reading, query_set->owned_order, finite, &query_set->points);
}

mote_status knn_query_set_make(mote_knn_index *index, const mote_cloud *queries, knn_query_set *query_set) {
    memset(query_set, 0, sizeof *query_set);
    if (queries == NULL) {
        query_set->tree = &index->stored;
        query_set->points = index->stored.points;
        query_set->rows = index->cloud->count;
        return MOTE_OK;
    }
    const mote_status status = read_queries(index, queries, query_set);
    if (status != MOTE_OK) knn_query_set_free(index->ctx, query_set);
    return status;
}

void knn_query_set_free(mote_context *ctx, knn_query_set *query_set) {
    if (query_set->owned_order != NULL) mote_free(ctx, query_set->points.leaves);
    mote_free(ctx, query_set->owned_order);
    mote_free(ctx, query_set->codes);
    memset(query_set, 0, sizeof *query_set);
}
