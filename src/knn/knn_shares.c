#include "knn/knn_shares.h"

#include "core/cloud.h"
#include "core/column_math.h"
#include "device/backend.h"
#include "device/team.h"
#include "knn/knn.h"

typedef struct knn_shares {
    const mote_cloud *cloud, *queries; /* queries NULL: the points ask */
    const mote_knn_params *params;
    const mote_knn_result *result; /* the caller's */
    uint64_t rows;
    uint32_t count;
    uint64_t skipped; /* as the last share counts them; its index is of all points, as the others' are */
} knn_shares;

/* Positions of some points of a cloud, as a cloud that looks at them. */
static mote_status look_at(mote_context *worker, const mote_cloud *cloud, uint64_t first, uint64_t count,
                           mote_cloud **out) {
    const mote_column *axes[3];
    mote_column columns[3];
    MOTE_TRY(mote_cloud_positions(worker, cloud, axes));
    for (int k = 0; k < 3; k++) {
        columns[k] = *axes[k];
        columns[k].data = column_at(axes[k], first);
    }
    return mote_cloud_wrap(worker, count, columns, 3, out);
}

/* The rows of a share, in the caller's arrays. */
static mote_knn_result rows_from(const knn_shares *shares, uint64_t first) {
    const uint64_t place = first * shares->params->k;
    mote_knn_result rows = *shares->result;
    if (rows.index32 != NULL) rows.index32 += place;
    if (rows.index64 != NULL) rows.index64 += place;
    if (rows.distance2 != NULL) rows.distance2 += place;
    if (rows.distance2_wide != NULL) rows.distance2_wide += place;
    if (rows.count != NULL) rows.count += first;
    return rows;
}

static mote_status ask(mote_context *worker, const knn_shares *shares, mote_knn_index *index, uint64_t first,
                       uint64_t count, mote_knn_result *rows) {
    mote_cloud *queries = NULL;
    if (shares->queries == NULL) return knn_search_part(index, first, count, shares->params, rows);
    MOTE_TRY(look_at(worker, shares->queries, first, count, &queries));
    const mote_status status = mote_knn_search(index, queries, shares->params, rows);
    mote_cloud_destroy(queries);
    return status;
}

#define SHARE_OF_INDEX 0.3 /* of the time */

static mote_status search_share(void *user, mote_context *worker, uint32_t s) {
    knn_shares *shares = user;
    const uint64_t first = shares->rows * s / shares->count, end = shares->rows * (s + 1) / shares->count;
    mote_knn_result rows = rows_from(shares, first);
    mote_cloud *points = NULL;
    mote_knn_index *index = NULL;
    if (first == end) return MOTE_OK;
    const mote_progress_span whole = mote_progress_enter(worker, 0, SHARE_OF_INDEX);
    mote_status status = look_at(worker, shares->cloud, 0, shares->cloud->count, &points);
    if (status == MOTE_OK) status = knn_build_on(mote_device_of_cloud(worker, points), points, &index);
    mote_progress_next(worker, whole, SHARE_OF_INDEX, 1);
    if (status == MOTE_OK) status = ask(worker, shares, index, first, end - first, &rows);
    mote_progress_leave(worker, whole);
    if (s + 1 == shares->count) shares->skipped = rows.skipped;
    mote_knn_destroy(index);
    mote_cloud_destroy(points);
    return status;
}

mote_status knn_shares_search(mote_context *ctx, uint32_t count, const mote_cloud *cloud, const mote_cloud *queries,
                              const mote_knn_params *params, mote_knn_result *result) {
    const uint64_t rows = queries != NULL ? queries->count : cloud->count;
    const uint64_t limit = ctx->params.memory_limit_bytes, held = mote_context_memory_bytes(ctx);
    knn_shares shares = {cloud, queries, params, result, rows, count, 0};
    const team_work work = {.run = search_share, .user = &shares, .item_count = count, .is_bound = true};
    mote_team team;
    const uint64_t rest = limit > held ? limit - held : 1;
    mote_status status = mote_team_begin(ctx, count, limit > 0 ? rest / count + 1 : 0, &team);
    if (status == MOTE_OK) status = mote_team_run(&team, &work);
    mote_team_end(&team);
    mote_stage(ctx, NULL);
    if (status == MOTE_OK) status = mote_cloud_check(cloud);
    if (status == MOTE_OK && queries != NULL) status = mote_cloud_check(queries);
    result->skipped = shares.skipped;
    return status;
}
