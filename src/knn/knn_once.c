/* A search in one call: by one index, by one on each GPU, or by one of a slab on each. */
#include "device/team.h"
#include "knn/knn.h"
#include "knn/knn_cut.h"
#include "knn/knn_shares.h"

/* Several GPUs have an index of all points each, or where one does not hold it, slabs. */
static mote_status search_on_several(mote_context *ctx, uint32_t gpus, const mote_cloud *cloud,
                                     const mote_cloud *queries, const mote_knn_params *params,
                                     mote_knn_result *result) {
    const mote_status before = mote_context_status(ctx);
    const mote_status status = knn_shares_search(ctx, gpus, cloud, queries, params, result);
    if (status != MOTE_ERROR_MEMORY) return status;
    if (before == MOTE_OK) mote_context_clear(ctx);
    return knn_cut_search(ctx, gpus, cloud, queries, params, result);
}

mote_status mote_knn(mote_context *ctx, const mote_cloud *cloud, const mote_cloud *queries,
                     const mote_knn_params *params, mote_knn_result *result) {
    mote_knn_index *index = NULL;
    mote_knn_params p;
    const uint32_t workers = mote_team_default(ctx);
    if (cloud == NULL) return mote_fail(ctx, MOTE_ERROR_ARGUMENT, "no cloud");
    MOTE_TRY(knn_check(ctx, cloud, queries, params, result, &p));
    if (workers > 1 && knn_cut_applies(ctx, cloud, queries, &p, result)) {
        return search_on_several(ctx, workers, cloud, queries, &p, result);
    }
    const mote_progress_span whole = mote_progress_enter(ctx, 0, 0.3);
    mote_status status = mote_knn_build(ctx, cloud, &index);
    mote_progress_next(ctx, whole, 0.3, 1);
    if (status == MOTE_OK) status = mote_knn_search(index, queries, params, result);
    mote_progress_leave(ctx, whole);
    mote_knn_destroy(index);
    return status;
}
