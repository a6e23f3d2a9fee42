/* Normals and density, public entries: validate, dispatch. */
#include <math.h>

#include "core/cloud.h"
#include "device/backend.h"
#include "knn/knn.h"
#include "normals/normals_index.h"
#include "normals/normals_orient.h"

mote_normals_params mote_normals_defaults(void) {
    mote_normals_params params;
    memset(&params, 0, sizeof params);
    params.k = 16;
    params.orient = MOTE_ORIENT_UP;
    params.graph_k = 8;
    return params;
}

mote_status normals_find_ops(mote_knn_index *index, const mote_normals_ops **ops) {
    mote_context *ctx = index->ctx;
    const mote_backend *backend = index->device->backend;
    ctx->last_used = index->device;
    *ops = backend->normals;
    if (!index->ready) return mote_fail(ctx, MOTE_ERROR_ARGUMENT, "the index could not be rebuilt: it has no points");
    if (*ops != NULL) return MOTE_OK;
    return mote_fail(ctx, MOTE_ERROR_UNSUPPORTED, "the %s backend has no normals and no outliers", backend->name);
}

mote_status normals_with_index(mote_context *ctx, const mote_cloud *cloud, normals_work work, void *user) {
    mote_knn_index *index = NULL;
    if (cloud == NULL) return mote_fail(ctx, MOTE_ERROR_ARGUMENT, "no cloud");
    const mote_progress_span whole = mote_progress_enter(ctx, 0, 0.3);
    mote_status status = knn_build_on(mote_device_of_cloud(ctx, cloud), cloud, &index);
    mote_progress_next(ctx, whole, 0.3, 1);
    if (status == MOTE_OK) status = work(index, user);
    mote_progress_leave(ctx, whole);
    mote_knn_destroy(index);
    return status;
}

static mote_status check_params(mote_context *ctx, const mote_normals_params *p, const mote_normals_result *result) {
    MOTE_TRY(
        mote_check_reserved(ctx, p->reserved, sizeof p->reserved, "mote_normals_params", "mote_normals_defaults()"));
    MOTE_TRY(mote_check_reserved(ctx, result->reserved, sizeof result->reserved, "mote_normals_result",
                                 "a struct of zeros"));
    const int axes = (result->normal_x != NULL) + (result->normal_y != NULL) + (result->normal_z != NULL);
    if (p->k > MOTE_KNN_MAX_K || (p->k < 3 && p->k != 0)) {
        return mote_fail(ctx, MOTE_ERROR_ARGUMENT, "k is %u, needs 3 to %u, or 0 and a radius", p->k, MOTE_KNN_MAX_K);
    }
    if (!(p->radius >= 0)) return mote_fail(ctx, MOTE_ERROR_ARGUMENT, "the radius is %g, needs 0 or more", p->radius);
    if (p->k == 0 && !(p->radius > 0)) {
        return mote_fail(ctx, MOTE_ERROR_ARGUMENT, "neither k nor a radius bounds the neighbours");
    }
    if ((unsigned)p->orient > MOTE_ORIENT_NONE) {
        return mote_fail(ctx, MOTE_ERROR_ARGUMENT, "the orientation is out of range");
    }
    if (p->orient == MOTE_ORIENT_PROPAGATE && (p->graph_k < 1 || p->graph_k > MOTE_NORMALS_MAX_GRAPH_K)) {
        return mote_fail(ctx, MOTE_ERROR_ARGUMENT, "graph_k is %u, needs 1 to %u", p->graph_k,
                         MOTE_NORMALS_MAX_GRAPH_K);
    }
    for (int k = 0; k < 3 && p->orient == MOTE_ORIENT_VIEWPOINT; k++) {
        if (fabs(p->viewpoint[k]) <= MOTE_MAX_COORDINATE) continue;
        return mote_fail(ctx, MOTE_ERROR_ARGUMENT, "the viewpoint is not finite, or farther from 0 than %g (2^480)",
                         MOTE_MAX_COORDINATE);
    }
    if (axes == 0 || axes == 3) return MOTE_OK;
    return mote_fail(ctx, MOTE_ERROR_ARGUMENT, "normals need three arrays, not %d", axes);
}

static mote_status check_device(const mote_knn_index *index, const mote_normals_params *p,
                                const mote_normals_result *result) {
    if (!result->on_device) return MOTE_OK;
    if (index->device->ops == NULL) {
        return mote_fail(index->ctx, MOTE_ERROR_UNSUPPORTED, "the index is the CPU's: its results are on the host");
    }
    if (p->orient != MOTE_ORIENT_PROPAGATE) return MOTE_OK;
    return mote_fail(index->ctx, MOTE_ERROR_UNSUPPORTED, "orientation along a graph is the host's: so are its results");
}

static mote_status find_graph(mote_knn_index *index, uint32_t graph_k, uint32_t *graph) {
    mote_knn_params params = mote_knn_defaults();
    mote_knn_result result;
    memset(&result, 0, sizeof result);
    params.k = graph_k;
    params.exclude_self = true;
    result.index32 = graph;
    return mote_knn_search(index, NULL, &params, &result);
}

/* The graph comes with the normals where each point's neighbours are enough for it. */
static mote_status estimate_along(mote_knn_index *index, const mote_normals_ops *ops, const mote_normals_params *p,
                                  mote_normals_result *result) {
    mote_context *ctx = index->ctx;
    const bool together = p->k > p->graph_k && p->radius == 0;
    uint32_t *graph = NULL;
    MOTE_TRY(mote_cloud_need_host(ctx, index->cloud, "orientation along a graph"));
    MOTE_TRY(normals_make_graph(index, p->graph_k, &graph));
    const mote_progress_span whole = mote_progress_enter(ctx, 0, 0.4);
    mote_status status = ops->estimate(index, p, result, together ? graph : NULL);
    mote_progress_next(ctx, whole, 0.4, 0.5);
    if (status == MOTE_OK && !together) status = find_graph(index, p->graph_k, graph);
    mote_progress_next(ctx, whole, 0.5, 1);
    if (status == MOTE_OK) status = normals_propagate(index, graph, p->graph_k, result);
    mote_progress_leave(ctx, whole);
    mote_free(ctx, graph);
    return status;
}

static mote_status estimate_once(mote_knn_index *index, const mote_normals_params *params,
                                 mote_normals_result *result) {
    const mote_normals_ops *ops;
    const bool along = params->orient == MOTE_ORIENT_PROPAGATE && result->normal_x != NULL;
    MOTE_TRY(normals_find_ops(index, &ops));
    result->parts = 0;
    return along ? estimate_along(index, ops, params, result) : ops->estimate(index, params, result, NULL);
}

static mote_status estimate(mote_knn_index *index, const mote_normals_params *params, mote_normals_result *result) {
    MOTE_TRY(check_device(index, params, result));
    const mote_status before = mote_context_status(index->ctx);
    mote_status status = estimate_once(index, params, result);
    if (status != MOTE_OK && !result->on_device && knn_falls_back(index, before, status)) {
        status = mote_knn_rebuild(index);
        if (status == MOTE_OK) status = estimate_once(index, params, result);
    }
    if (status == MOTE_OK) status = mote_cloud_check(index->cloud);
    result->skipped = result->on_device ? 0 : index->skipped;
    mote_stage(index->ctx, NULL);
    return status;
}

mote_status mote_normals_estimate(mote_knn_index *index, const mote_normals_params *params,
                                  mote_normals_result *result) {
    const mote_normals_params p = params != NULL ? *params : mote_normals_defaults();
    if (result == NULL) return mote_fail(index->ctx, MOTE_ERROR_ARGUMENT, "no place for the result");
    MOTE_TRY(check_params(index->ctx, &p, result));
    return estimate(index, &p, result);
}

/* ---- with an index of their own */

typedef struct wanted {
    const mote_normals_params *params;
    mote_normals_result *result;
} wanted;

static mote_status estimate_wanted(mote_knn_index *index, void *user) {
    const wanted *w = user;
    return mote_normals_estimate(index, w->params, w->result);
}

mote_status mote_normals(mote_context *ctx, const mote_cloud *cloud, const mote_normals_params *params,
                         mote_normals_result *result) {
    wanted w = {params, result};
    return normals_with_index(ctx, cloud, estimate_wanted, &w);
}

/* k and itself may be fewer than a normal needs: it is not wanted. */
static mote_status measure_density(mote_knn_index *index, void *user) {
    const wanted *w = user;
    return estimate(index, w->params, w->result);
}

mote_status mote_density(mote_context *ctx, const mote_cloud *cloud, uint32_t k, float *surface, float *volume) {
    mote_normals_params params = mote_normals_defaults();
    mote_normals_result result;
    if (k < 1 || k > MOTE_KNN_MAX_K - 1) {
        return mote_fail(ctx, MOTE_ERROR_ARGUMENT, "k is %u, needs 1 to %u", k, MOTE_KNN_MAX_K - 1);
    }
    params.k = k + 1;
    memset(&result, 0, sizeof result);
    result.surface_density = surface;
    result.volume_density = volume;
    wanted w = {&params, &result};
    return normals_with_index(ctx, cloud, measure_density, &w);
}
