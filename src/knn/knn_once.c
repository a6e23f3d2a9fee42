/* A search in one call: by one index, or by one of a slab on each GPU. */
#include "device/team.h"
#include "knn/knn.h"
#include "knn/knn_cut.h"

mote_status mote_knn(mote_context *ctx, const mote_cloud *cloud, const mote_cloud *queries,
                     const mote_knn_params *params, mote_knn_result *result) {
    mote_knn_index *index = NULL;
    mote_knn_params p;
    const uint32_t workers = mote_team_default(ctx);
    if (cloud == NULL) return mote_fail(ctx, MOTE_ERROR_ARGUMENT, "no cloud");
    MOTE_TRY(knn_check(ctx, cloud, queries, params, result, &p));
    if (workers > 1 && knn_cut_applies(ctx, cloud, queries, &p, result)) {
        return knn_cut_search(ctx, workers, cloud, queries, &p, result);
    }
    const mote_progress_span whole = mote_progress_enter(ctx, 0, 0.3);
    mote_status status = mote_knn_build(ctx, cloud, &index);
    mote_progress_next(ctx, whole, 0.3, 1);
    if (status == MOTE_OK) status = mote_knn_search(index, queries, params, result);
    mote_progress_leave(ctx, whole);
    mote_knn_destroy(index);
    return status;
}
