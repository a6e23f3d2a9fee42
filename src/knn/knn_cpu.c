/* Nearest neighbours on CPU cores: the build, and the search among all that visits groups of queries. */
#include "knn/knn_cpu.h"

#include "core/cloud.h"
#include "knn/index/knn_order_cpu.h"
#include "knn/index/knn_tree_cpu.h"
#include "knn/knn_ops.h"

/* ---- build */

/* A power of two that brings a world span to about 2^20. */
static double norm_of(double span) {
    int exponent = 20;
    if (span > 0) frexp(span, &exponent);
    return ldexp(1, 20 - (exponent < -960 ? -960 : exponent));
}

static double world_span(const mote_lattice *lattice) {
    double span = 0;
    for (int k = 0; k < 3; k++) span = fmax(span, (double)lattice->extent[k] * lattice->scale[k]);
    return span;
}

/* Whether stored integers are steps of one scale, less than 2^31 apart; then what counts as step 0. */
static bool find_steps(mote_knn_index *index, const mote_column *const axes[3], uint64_t count) {
    const mote_lattice *lattice = &index->lattice;
    int64_t low[3], high[3];
    if (!knn_one_scale(axes) || count == 0) return false;
    if (lattice->integer) {
        for (int k = 0; k < 3; k++) {
            low[k] = lattice->source_min[k];
            high[k] = low[k] + (int64_t)lattice->extent[k];
        }
        if (!lattice->exact) return false;
    } else {
        knn_integer_bounds(index->ctx, axes, index->order, count, low, high);
    }
    for (int k = 0; k < 3; k++) {
        index->origin[k] = low[k];
        index->span[k] = (uint64_t)high[k] - (uint64_t)low[k];
        if (index->span[k] >= 1ull << 31) return false;
    }
    return true;
}

static bool are_floats(const mote_column *const axes[3], double span) {
    for (int k = 0; k < 3; k++) {
        if (axes[k]->type != MOTE_FLOAT32 || axes[k]->scale != 1) return false;
    }
    return span == 0 || (span > 0x1p-40 && span < 0x1p40);
}

static void set_metric(const mote_column *const axes[3], knn_kind kind, bool world, double span, knn_metric *metric) {
    metric->kind = kind;
    metric->norm = kind == KNN_DOUBLE ? norm_of(span) : 1;
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
    return knn_tree_build(index->ctx, tree);
}

mote_status knn_other_tree(mote_knn_index *index, bool world) {
    const mote_column *axes[3];
    if (index->other_is_made && index->other_is_world == world) return MOTE_OK;
    index->other_is_made = false;
    MOTE_TRY(knn_find_axes(index->ctx, index->cloud, axes));
    set_metric(axes, KNN_DOUBLE, world, world_span(&index->lattice), &index->other.metric);
    MOTE_TRY(read_tree(index, axes, world, &index->other));
    index->other_is_made = true;
    index->other_is_world = world;
    return MOTE_OK;
}

static mote_status cpu_build(mote_knn_index *index) {
    mote_context *ctx = index->ctx;
    const mote_column *axes[3];
    MOTE_TRY(knn_find_axes(ctx, index->cloud, axes));
    MOTE_TRY(mote_cloud_need_host(ctx, index->cloud, "nearest neighbours on the CPU"));
    const bool is_first = index->stored.points.leaves == NULL;
    index->other_is_made = false;
    MOTE_TRY(knn_order_points(index));
    /* What is not finite was sorted there and has no leaf: made once, an index keeps no room for it. */
    if (is_first && index->skipped > 0) knn_tree_free(ctx, &index->stored);
    mote_stage(ctx, "cells");
    const double span = world_span(&index->lattice);
    const bool steps = find_steps(index, axes, index->cloud->count - index->skipped);
    set_metric(axes,
               steps                    ? KNN_INT
               : are_floats(axes, span) ? KNN_FLOAT
                                        : KNN_DOUBLE,
               false, span, &index->stored.metric);
    MOTE_TRY(read_tree(index, axes, false, &index->stored));
    return mote_progress(ctx, 1.0, "building the cells");
}

static void cpu_release(mote_knn_index *index) {
    knn_tree_free(index->ctx, &index->stored);
    knn_tree_free(index->ctx, &index->other);
    mote_free(index->ctx, index->codes);
    mote_free(index->ctx, index->order);
}

/* ---- all groups */

knn_search knn_search_of(const mote_knn_index *index, const knn_asked *asked, const knn_around *around, uint32_t k,
                         double radius) {
    knn_search search = {.tree = asked->tree, .around = around, .queries = &asked->points, .k = k};
    search.codes = index->codes;
    search.query_codes = asked->codes;
    search.limit = knn_limit_of(&asked->tree->metric, around, radius);
    search.limit_reach = radius > 0 ? knn_units(knn_keys(&search), search.limit) : INFINITY;
    return search;
}

#define SHARE_BATCHES 8u   /* that a thread takes at once: they learn from each other */
#define STEP_SHARES   256u /* between two reports of progress */
#define LEAST_LIST    (2 * KNN_QUICK_ROOM)

static mote_status make_scratch(mote_context *ctx, const knn_search *search, knn_scratch **scratches,
                                knn_near **lists) {
    const uint64_t threads = (uint64_t)ctx->threads, room = LEAST_LIST + 2ull * search->k;
    *scratches = mote_alloc_zero(ctx, threads * sizeof **scratches, "knn scratch");
    *lists = mote_alloc(ctx, threads * KNN_LEAF * room * sizeof **lists, "knn scratch");
    if (*scratches == NULL || *lists == NULL) return MOTE_ERROR_MEMORY;
    for (uint64_t t = 0; t < threads; t++) {
        knn_scratch *scratch = &(*scratches)[t];
        scratch->walk.tree = search->tree;
        scratch->walk.copies_most = (search->k + KNN_LEAF) / KNN_LEAF; /* leaves of k and itself */
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
        const uint64_t first = b * KNN_BATCH, left = groups - first;
        work(user, scratch, (uint32_t)first, left < KNN_BATCH ? (uint32_t)left : KNN_BATCH);
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

const mote_knn_ops mote_knn_cpu = {cpu_build, knn_search_cpu, knn_within_cpu, cpu_release};
