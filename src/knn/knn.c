/* Nearest neighbours, public entries: validate, dispatch. */
#include "knn/knn.h"

#include "core/cloud.h"
#include "device/backend.h"
#include "knn/knn_ops.h"
#include "order/cloud_range.h"

mote_knn_params mote_knn_defaults(void) {
    mote_knn_params params;
    memset(&params, 0, sizeof params);
    params.k = 10;
    params.compression = 1;
    params.lambda = 1;
    return params;
}

bool knn_normals_of(const mote_cloud *queries, const mote_column *normals[3]) {
    static const char *const names[2][3] = {{"normal_x", "normal_y", "normal_z"}, {"nx", "ny", "nz"}};
    for (int set = 0; set < 2; set++) {
        for (int k = 0; k < 3; k++) normals[k] = mote_cloud_find(queries, names[set][k]);
        if (normals[0] != NULL && normals[1] != NULL && normals[2] != NULL) return true;
    }
    return false;
}

static const mote_knn_ops *ops_of(const mote_knn_index *index) { return index->device->backend->knn; }

/* queries: their cloud, which may be that of the points. */
static mote_status check_ellipsoids(mote_context *ctx, const mote_knn_params *p, const mote_cloud *queries) {
    const mote_column *normals[3];
    if (!(p->compression >= 1 && p->compression <= MOTE_KNN_MAX_COMPRESSION)) {
        return mote_fail(ctx, MOTE_ERROR_ARGUMENT, "the compression is %g, needs 1 to %g", p->compression,
                         MOTE_KNN_MAX_COMPRESSION);
    }
    if (p->compression <= 1) return MOTE_OK;
    if (p->approximate && p->method == MOTE_KNN_GRID) {
        return mote_fail(ctx, MOTE_ERROR_UNSUPPORTED, "approximate ellipsoids are what shifted sorting is for");
    }
    if (knn_normals_of(queries, normals)) return MOTE_OK;
    return mote_fail(ctx, MOTE_ERROR_ARGUMENT,
                     "ellipsoids need normals: the queries have no columns normal_x, "
                     "normal_y, normal_z");
}

static mote_status check_shifted(mote_context *ctx, const mote_knn_params *p) {
    if (p->lambda > MOTE_KNN_MAX_LAMBDA) {
        return mote_fail(ctx, MOTE_ERROR_ARGUMENT, "lambda is %u, needs 1 to %u", p->lambda, MOTE_KNN_MAX_LAMBDA);
    }
    if (p->lambda * p->k <= KNN_MAX_SIDE_CANDIDATES) return MOTE_OK;
    return mote_fail(ctx, MOTE_ERROR_ARGUMENT, "lambda * k is %u, needs at most %u", p->lambda * p->k,
                     KNN_MAX_SIDE_CANDIDATES);
}

static mote_status check_reach(mote_context *ctx, double radius, bool exclude_self, const mote_cloud *queries) {
    if (!(radius >= 0)) return mote_fail(ctx, MOTE_ERROR_ARGUMENT, "the radius is %g, needs 0 or more", radius);
    if (!exclude_self || queries == NULL) return MOTE_OK;
    return mote_fail(ctx, MOTE_ERROR_ARGUMENT, "queries of another cloud have no self to exclude");
}

static mote_status check_params(mote_context *ctx, const mote_knn_params *p, const mote_cloud *cloud,
                                const mote_cloud *queries) {
    MOTE_TRY(mote_check_reserved(ctx, p->reserved, sizeof p->reserved, "mote_knn_params", "mote_knn_defaults()"));
    if ((unsigned)p->method > MOTE_KNN_BRUTE) return mote_fail(ctx, MOTE_ERROR_ARGUMENT, "the method is out of range");
    if (p->k < 1 || p->k > MOTE_KNN_MAX_K) {
        return mote_fail(ctx, MOTE_ERROR_ARGUMENT, "k is %u, needs 1 to %u", p->k, MOTE_KNN_MAX_K);
    }
    MOTE_TRY(check_reach(ctx, p->radius, p->exclude_self, queries));
    if (p->method == MOTE_KNN_SHIFTED) MOTE_TRY(check_shifted(ctx, p));
    return check_ellipsoids(ctx, p, queries != NULL ? queries : cloud);
}

/* Params as backends have them: what does not apply is off, what is 0 and means something else is that. */
static mote_knn_params resolved(mote_knn_params p) {
    const bool ellipsoids = p.compression > 1;
    p.compression = p.compression == 0 ? 1 : p.compression;
    p.lambda = p.lambda > 0 ? p.lambda : 1;
    p.buckets = p.buckets && ellipsoids && p.method == MOTE_KNN_SHIFTED;
    return p;
}

static bool is_on_cpu(const mote_knn_index *index) { return index->device->ops == NULL; }

/* Fails if a mapped file was cut or changed meanwhile: an answer would be of zeros. */
static mote_status check_clouds(const mote_knn_index *index, const mote_cloud *queries) {
    MOTE_TRY(mote_cloud_check(index->cloud));
    return queries != NULL ? mote_cloud_check(queries) : MOTE_OK;
}

static mote_status check_queries(mote_knn_index *index, const mote_cloud *queries) {
    mote_context *ctx = index->ctx;
    ctx->last_used = index->device;
    if (!index->ready) return mote_fail(ctx, MOTE_ERROR_ARGUMENT, "the index could not be rebuilt: it has no points");
    if (queries == NULL) return MOTE_OK;
    if (is_on_cpu(index)) MOTE_TRY(mote_cloud_need_host(ctx, queries, "nearest neighbours on the CPU"));
    if (queries->count >= UINT32_MAX) {
        return mote_fail(ctx, MOTE_ERROR_UNSUPPORTED, "%llu queries: one search takes up to 4,294,967,294",
                         (unsigned long long)queries->count);
    }
    return order_check_range(ctx, queries, MOTE_MAX_COORDINATE, false);
}

static mote_status build_index(mote_knn_index *index) {
    if (index->cloud->count >= UINT32_MAX) {
        return mote_fail(index->ctx, MOTE_ERROR_UNSUPPORTED, "%llu points: one index takes up to 4,294,967,294",
                         (unsigned long long)index->cloud->count);
    }
    index->ctx->last_used = index->device;
    index->ready = false;
    mote_status status = order_check_range(index->ctx, index->cloud, MOTE_MAX_COORDINATE, !index->is_slab);
    if (status == MOTE_OK) status = ops_of(index)->build(index);
    if (status == MOTE_OK) status = mote_cloud_check(index->cloud);
    mote_stage(index->ctx, NULL);
    index->ready = status == MOTE_OK;
    return status;
}

mote_status mote_knn_rebuild(mote_knn_index *index) {
    mote_cloud_forget_uploads((mote_cloud *)(uintptr_t)index->cloud); /* its points may have moved */
    return build_index(index);
}

bool knn_falls_back(mote_knn_index *index, mote_status before, mote_status status) {
    if (!mote_device_falls_back(index->device, index->cloud, before, status)) return false;
    ops_of(index)->release(index);
    index->device = mote_cpu_device(index->ctx);
    return true;
}

static mote_status build_on(mote_device *device, const mote_cloud *cloud, bool is_slab, mote_knn_index **out) {
    mote_context *ctx = device->ctx;
    *out = NULL;
    if (device->backend->knn == NULL) {
        return mote_fail(ctx, MOTE_ERROR_UNSUPPORTED, "the %s backend has no nearest neighbours",
                         device->backend->name);
    }
    const mote_status before = mote_context_status(ctx);
    mote_knn_index *index = mote_alloc_zero(ctx, sizeof *index, "knn index");
    if (index == NULL) return MOTE_ERROR_MEMORY;
    index->ctx = ctx;
    index->cloud = cloud;
    index->device = device;
    index->is_slab = is_slab;
    mote_status status = build_index(index);
    if (status != MOTE_OK && knn_falls_back(index, before, status)) status = build_index(index);
    if (status != MOTE_OK) {
        mote_knn_destroy(index);
        return status;
    }
    *out = index;
    return MOTE_OK;
}

mote_status knn_build_on(mote_device *device, const mote_cloud *cloud, mote_knn_index **out) {
    return build_on(device, cloud, false, out);
}

mote_status knn_build_slab(mote_device *device, const mote_cloud *cloud, mote_knn_index **out) {
    return build_on(device, cloud, true, out);
}

mote_status mote_knn_build(mote_context *ctx, const mote_cloud *cloud, mote_knn_index **out) {
    if (cloud == NULL || out == NULL) return mote_fail(ctx, MOTE_ERROR_ARGUMENT, "no cloud, or no place for the index");
    *out = NULL;
    return knn_build_on(mote_device_of_cloud(ctx, cloud), cloud, out);
}

void mote_knn_destroy(mote_knn_index *index) {
    if (index == NULL) return;
    ops_of(index)->release(index);
    mote_free(index->ctx, index);
}

mote_status knn_check(mote_context *ctx, const mote_cloud *cloud, const mote_cloud *queries,
                      const mote_knn_params *params, const mote_knn_result *result, mote_knn_params *checked) {
    *checked = resolved(params != NULL ? *params : mote_knn_defaults());
    if (result == NULL) return mote_fail(ctx, MOTE_ERROR_ARGUMENT, "no place for the result");
    MOTE_TRY(check_params(ctx, checked, cloud, queries));
    return mote_check_reserved(ctx, result->reserved, sizeof result->reserved, "mote_knn_result", "a struct of zeros");
}

/* Whether queries and results are where the CPU can have them. */
static bool may_move(const mote_cloud *queries, const mote_knn_result *result) {
    return !result->on_device && (queries == NULL || queries->device == NULL);
}

mote_status mote_knn_search(mote_knn_index *index, const mote_cloud *queries, const mote_knn_params *params,
                            mote_knn_result *result) {
    mote_knn_params p;
    MOTE_TRY(knn_check(index->ctx, index->cloud, queries, params, result, &p));
    MOTE_TRY(check_queries(index, queries));
    if (result->on_device && is_on_cpu(index)) {
        return mote_fail(index->ctx, MOTE_ERROR_UNSUPPORTED, "the index is the CPU's: its results are on the host");
    }
    const mote_status before = mote_context_status(index->ctx);
    mote_status status = ops_of(index)->search(index, queries, &p, result);
    if (status != MOTE_OK && may_move(queries, result) && knn_falls_back(index, before, status)) {
        status = build_index(index);
        if (status == MOTE_OK) status = ops_of(index)->search(index, queries, &p, result);
    }
    if (status == MOTE_OK) status = check_clouds(index, queries);
    mote_stage(index->ctx, NULL);
    result->skipped = index->skipped;
    return status;
}

mote_status knn_search_part(mote_knn_index *index, uint64_t first, uint64_t count, const mote_knn_params *params,
                            mote_knn_result *result) {
    mote_knn_params p;
    MOTE_TRY(knn_check(index->ctx, index->cloud, NULL, params, result, &p));
    MOTE_TRY(check_queries(index, NULL));
    if (ops_of(index)->search_part == NULL) {
        return mote_fail(index->ctx, MOTE_ERROR_UNSUPPORTED, "the %s backend has no search for some of the points",
                         index->device->backend->name);
    }
    mote_status status = ops_of(index)->search_part(index, first, count, &p, result);
    if (status == MOTE_OK) status = check_clouds(index, NULL);
    mote_stage(index->ctx, NULL);
    result->skipped = index->skipped;
    return status;
}

/* ---- all within a radius */

static mote_status make_lists(mote_context *ctx, uint64_t rows, mote_knn_lists **out) {
    mote_knn_lists *lists = mote_alloc_zero(ctx, sizeof *lists, "knn lists");
    if (lists == NULL) return MOTE_ERROR_MEMORY;
    *out = lists;
    lists->query_count = rows;
    lists->first = mote_alloc(ctx, (rows + 1) * sizeof *lists->first, "knn lists");
    return lists->first != NULL ? MOTE_OK : MOTE_ERROR_MEMORY;
}

mote_status mote_knn_within(mote_knn_index *index, const mote_cloud *queries, double radius, bool exclude_self,
                            uint32_t *counts, mote_knn_lists **out) {
    mote_context *ctx = index->ctx;
    mote_knn_lists *lists = NULL;
    if (out != NULL) *out = NULL;
    MOTE_TRY(check_reach(ctx, radius, exclude_self, queries));
    MOTE_TRY(check_queries(index, queries));
    mote_status status = MOTE_OK;
    if (out != NULL) status = make_lists(ctx, queries != NULL ? queries->count : index->cloud->count, &lists);
    if (status == MOTE_OK) status = ops_of(index)->within(index, queries, radius, exclude_self, counts, lists);
    if (status == MOTE_OK) status = check_clouds(index, queries);
    mote_stage(ctx, NULL);
    if (status != MOTE_OK) {
        mote_knn_free_lists(ctx, lists);
        return status;
    }
    if (lists != NULL) {
        lists->skipped = index->skipped;
        *out = lists;
    }
    return MOTE_OK;
}

void mote_knn_free_lists(mote_context *ctx, mote_knn_lists *lists) {
    if (lists == NULL) return;
    mote_free(ctx, lists->first);
    mote_free(ctx, lists->index);
    mote_free(ctx, lists->distance2);
    mote_free(ctx, lists);
}
