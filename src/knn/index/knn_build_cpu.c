/* The index on CPU cores: the points in order, and the boxes over them. */
#include "core/cloud.h"
#include "knn/index/knn_order_cpu.h"
#include "knn/index/knn_tree_cpu.h"
#include "knn/knn_cpu.h"

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
    if (index->other_is_set && index->other_is_world == world) return MOTE_OK;
    index->other_is_set = false;
    MOTE_TRY(mote_cloud_positions(index->ctx, index->cloud, axes));
    set_metric(axes, KNN_DOUBLE, world, world_span(&index->lattice), &index->other.metric);
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

void knn_release_cpu(mote_knn_index *index) {
    knn_tree_free(index->ctx, &index->stored);
    knn_tree_free(index->ctx, &index->other);
    mote_free(index->ctx, index->codes);
    mote_free(index->ctx, index->order);
}
