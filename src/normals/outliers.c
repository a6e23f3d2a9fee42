/* Outliers, public entries: validate, measure, judge. */
#include <math.h>

#include "core/cloud.h"
#include "knn/knn.h"
#include "normals/normals_index.h"
#include "normals/outliers_sums.h"

mote_outliers_params mote_outliers_defaults(void) {
    mote_outliers_params params;
    memset(&params, 0, sizeof params);
    params.method = MOTE_OUTLIERS_STATISTICAL;
    params.k = 8;
    params.sigmas = 2;
    params.min_neighbors = 2;
    return params;
}

mote_status outliers_check(mote_context *ctx, const mote_outliers_params *p) {
    const bool statistical = p->method == MOTE_OUTLIERS_STATISTICAL;
    const uint32_t count = statistical ? p->k : p->min_neighbors;
    MOTE_TRY(
        mote_check_reserved(ctx, p->reserved, sizeof p->reserved, "mote_outliers_params", "mote_outliers_defaults()"));
    if ((unsigned)p->method > MOTE_OUTLIERS_RADIUS) {
        return mote_fail(ctx, MOTE_ERROR_ARGUMENT, "the method is out of range");
    }
    if (count < 1 || count > MOTE_KNN_MAX_K) {
        return mote_fail(ctx, MOTE_ERROR_ARGUMENT, "%s is %u, needs 1 to %u", statistical ? "k" : "least", count,
                         MOTE_KNN_MAX_K);
    }
    if (statistical && !(p->sigmas >= 0)) {
        return mote_fail(ctx, MOTE_ERROR_ARGUMENT, "sigmas is %g, needs 0 or more", p->sigmas);
    }
    if (!statistical && !(p->radius > 0)) {
        return mote_fail(ctx, MOTE_ERROR_ARGUMENT, "the radius is %g, needs to be above 0", p->radius);
    }
    return MOTE_OK;
}

/* ---- the distribution of mean distances */

/* Sums over all points: blocks are summed side by side and added in order, so that threads do not change the result. */
static mote_status sum_all(mote_context *ctx, const double *mean, uint64_t points, const double *from,
                           outliers_moments *all) {
    const uint64_t blocks = (points + OUTLIERS_BLOCK - 1) / OUTLIERS_BLOCK;
    outliers_moments *sums = mote_alloc(ctx, blocks * sizeof *sums, "distance sums");
    if (sums == NULL) return MOTE_ERROR_MEMORY;
#pragma omp parallel for schedule(static) num_threads(ctx->threads)
    for (uint64_t b = 0; b < blocks; b++) {
        const uint64_t first = b * OUTLIERS_BLOCK, rest = points - first;
        sums[b] = outliers_sum_block(mean + first, rest < OUTLIERS_BLOCK ? rest : OUTLIERS_BLOCK, from);
    }
    all->count = all->sum = 0;
    for (uint64_t b = 0; b < blocks; b++) {
        all->count += sums[b].count;
        all->sum += sums[b].sum;
    }
    mote_free(ctx, sums);
    return MOTE_OK;
}

/* ---- judging */

static mote_status judge_distances(mote_knn_index *index, const mote_normals_ops *ops, const mote_outliers_params *p,
                                   double *mean, mote_outliers_result *result) {
    mote_context *ctx = index->ctx;
    const uint64_t points = index->cloud->count;
    uint64_t found = 0;
    MOTE_TRY(ops->distances(index, p->k, 0, mean, NULL));
    /* 1: the threshold, from the mean and the deviation of all distances. */
    outliers_moments all;
    result->mean = result->deviation = 0;
    MOTE_TRY(sum_all(ctx, mean, points, NULL, &all));
    if (all.count > 0) result->mean = all.sum / all.count;
    MOTE_TRY(sum_all(ctx, mean, points, &result->mean, &all));
    if (all.count > 1) result->deviation = sqrt(all.sum / (all.count - 1));
    result->threshold = result->mean + p->sigmas * result->deviation;
    const double threshold = result->threshold; /* 2: who is beyond it */
#pragma omp parallel for schedule(static) num_threads(ctx->threads) reduction(+ : found)
    for (uint64_t i = 0; i < points; i++) {
        const bool outlier = mean[i] > threshold || mean[i] == NORMALS_NON_FINITE;
        found += outlier;
        if (result->outlier != NULL) result->outlier[i] = outlier;
        if (result->distance != NULL) result->distance[i] = mean[i] > 0 ? (float)mean[i] : 0;
    }
    result->count = found;
    return MOTE_OK;
}

static mote_status judge_counts(mote_knn_index *index, const mote_normals_ops *ops, const mote_outliers_params *p,
                                uint32_t *counts, mote_outliers_result *result) {
    const uint64_t points = index->cloud->count;
    uint64_t found = 0;
    MOTE_TRY(ops->distances(index, p->min_neighbors, p->radius, NULL, counts));
#pragma omp parallel for schedule(static) num_threads(index->ctx->threads) reduction(+ : found)
    for (uint64_t i = 0; i < points; i++) {
        const bool outlier = counts[i] < p->min_neighbors;
        found += outlier;
        if (result->outlier != NULL) result->outlier[i] = outlier;
    }
    result->count = found;
    return MOTE_OK;
}

static mote_status judge(mote_knn_index *index, const mote_outliers_params *p, mote_outliers_result *result) {
    mote_context *ctx = index->ctx;
    const mote_normals_ops *ops;
    const bool statistical = p->method == MOTE_OUTLIERS_STATISTICAL;
    MOTE_TRY(normals_find_ops(index, &ops));
    void *values = mote_alloc(ctx, index->cloud->count * (statistical ? sizeof(double) : sizeof(uint32_t)),
                              statistical ? "mean distances" : "neighbour counts");
    if (values == NULL) return MOTE_ERROR_MEMORY;
    const mote_status status =
        statistical ? judge_distances(index, ops, p, values, result) : judge_counts(index, ops, p, values, result);
    mote_free(ctx, values);
    return status;
}

mote_status mote_outliers_find(mote_knn_index *index, const mote_outliers_params *params,
                               mote_outliers_result *result) {
    const mote_outliers_params p = params != NULL ? *params : mote_outliers_defaults();
    if (result == NULL) return mote_fail(index->ctx, MOTE_ERROR_ARGUMENT, "no place for the result");
    MOTE_TRY(outliers_check(index->ctx, &p));
    MOTE_TRY(mote_check_reserved(index->ctx, result->reserved, sizeof result->reserved, "mote_outliers_result",
                                 "a struct of zeros"));
    const mote_status before = mote_context_status(index->ctx);
    mote_status status = judge(index, &p, result);
    if (status != MOTE_OK && knn_falls_back(index, before, status)) {
        status = mote_knn_rebuild(index);
        if (status == MOTE_OK) status = judge(index, &p, result);
    }
    if (status == MOTE_OK) status = mote_cloud_check(index->cloud);
    result->skipped = index->skipped;
    mote_stage(index->ctx, NULL);
    return status;
}

/* ---- with an index of its own */

typedef struct wanted {
    const mote_outliers_params *params;
    mote_outliers_result *result;
} wanted;

static mote_status find_wanted(mote_knn_index *index, void *user) {
    const wanted *w = user;
    return mote_outliers_find(index, w->params, w->result);
}

mote_status mote_outliers(mote_context *ctx, const mote_cloud *cloud, const mote_outliers_params *params,
                          mote_outliers_result *result) {
    wanted w = {params, result};
    return normals_with_index(ctx, cloud, find_wanted, &w);
}
