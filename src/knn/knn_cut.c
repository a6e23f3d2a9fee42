#include "knn/knn_cut.h"

#include "core/cloud.h"
#include "core/column_math.h"
#include "device/backend.h"
#include "device/team.h"
#include "knn/knn.h"
#include "order/cloud_range.h"

#define PIECE_QUERIES 4096u /* between two looks at whether to go on */

bool knn_cut_applies(mote_context *ctx, const mote_cloud *cloud, const mote_cloud *queries,
                     const mote_knn_params *params, const mote_knn_result *result) {
    knn_cut cut;
    if (params->method != MOTE_KNN_GRID || params->approximate || params->compression > 1) return false;
    if (result->on_device || cloud->device != NULL || (queries != NULL && queries->device != NULL)) return false;
    if (cloud->count >= UINT32_MAX || (queries != NULL && queries->count >= UINT32_MAX)) return false;
    return knn_cut_find_metric(ctx, cloud, queries, &cut);
}

/* ---- 1: index */

static void find_box(const mote_context *ctx, knn_slab *slab) {
    const mote_column *axes[3] = {mote_cloud_find(slab->points, "x"), mote_cloud_find(slab->points, "y"),
                                  mote_cloud_find(slab->points, "z")};
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
#pragma omp parallel for schedule(static) num_threads(ctx->threads) reduction(min : low[:3]) reduction(max : high[:3])
    for (uint64_t i = 0; i < slab->count; i++) {
        const double at[3] = {column_value(axes[0], i), column_value(axes[1], i), column_value(axes[2], i)};
        if (!isfinite(at[0]) || !isfinite(at[1]) || !isfinite(at[2])) continue;
        for (int k = 0; k < 3; k++) {
            if (at[k] < low[k]) low[k] = at[k];
            if (at[k] > high[k]) high[k] = at[k];
        }
    }
    memcpy(slab->low, low, sizeof low);
    memcpy(slab->high, high, sizeof high);
}

static mote_status index_slab(void *user, mote_context *worker, uint32_t s) {
    knn_cut *cut = user;
    knn_slab *slab = &cut->slabs[s];
    const mote_progress_span whole = mote_progress_enter(worker, 0, 0.4);
    mote_status status = mote_cloud_select(worker, cut->positions, slab->ids, slab->count, &slab->points);
    mote_progress_next(worker, whole, 0.4, 1);
    if (status == MOTE_OK) {
        find_box(worker, slab);
        status = knn_build_slab(mote_device_of_cloud(worker, slab->points), slab->points, &slab->index);
    }
    mote_progress_leave(worker, whole);
    return status;
}

/* ---- 2: search */

/* Rows of a slab's own queries, by their places in its list. */
static mote_status make_rows(mote_context *worker, const knn_cut *cut, uint64_t count, mote_knn_result *rows) {
    const uint64_t places = count * cut->params->k;
    memset(rows, 0, sizeof *rows);
    rows->index32 = mote_alloc(worker, places * sizeof *rows->index32, "rows of slabs");
    rows->distance2 = mote_alloc(worker, places * sizeof *rows->distance2, "rows of slabs");
    rows->count = mote_alloc(worker, count * sizeof *rows->count, "rows of slabs");
    if (cut->result.distance2_wide != NULL) {
        rows->distance2_wide = mote_alloc(worker, places * sizeof *rows->distance2_wide, "rows of slabs");
        if (rows->distance2_wide == NULL) return MOTE_ERROR_MEMORY;
    }
    return rows->index32 != NULL && rows->distance2 != NULL && rows->count != NULL ? MOTE_OK : MOTE_ERROR_MEMORY;
}

static void free_rows(mote_context *worker, mote_knn_result *rows) {
    mote_free(worker, rows->index32);
    mote_free(worker, rows->distance2);
    mote_free(worker, rows->distance2_wide);
    mote_free(worker, rows->count);
}

/* Copies the row of a query to where the caller wants it. */
static void keep_row(const knn_cut *cut, const knn_slab *slab, const mote_knn_result *rows, uint64_t i) {
    const mote_knn_result *to = &cut->result;
    const uint64_t k = cut->params->k, query = slab->query_ids[i];
    for (uint64_t n = 0; n < k; n++) {
        const uint32_t place = rows->index32[i * k + n];
        const uint64_t id = place != UINT32_MAX ? slab->ids[place] : UINT64_MAX;
        if (to->index32 != NULL) to->index32[query * k + n] = (uint32_t)id;
        if (to->index64 != NULL) to->index64[query * k + n] = (int64_t)id;
    }
    if (to->distance2 != NULL) memcpy(to->distance2 + query * k, rows->distance2 + i * k, k * sizeof(float));
    if (to->distance2_wide != NULL) {
        memcpy(to->distance2_wide + query * k, rows->distance2_wide + i * k, k * sizeof(double));
    }
    if (to->count != NULL) to->count[query] = rows->count[i];
}

/* The square of a distance within which a query has all of its neighbours in any slab: at least that of its k-th. */
static double reach2_of(const knn_cut *cut, const mote_knn_result *rows, uint64_t i) {
    const uint32_t k = cut->params->k;
    if (rows->count[i] == k) return (double)nextafterf(rows->distance2[i * k + k - 1], INFINITY);
    const double square = cut->params->radius * cut->params->radius;
    return square > 0 ? nextafter(square, INFINITY) : INFINITY;
}

static bool is_finite(const knn_cut *cut, uint64_t query) {
    for (int k = 0; k < 3; k++) {
        if (!isfinite(column_value(cut->query_axes[k], query))) return false;
    }
    return true;
}

static uint64_t find_meets(const knn_cut *cut, uint32_t s, const mote_knn_result *rows, uint64_t i) {
    const uint64_t query = cut->slabs[s].query_ids[i];
    const double reach2 = reach2_of(cut, rows, i);
    uint64_t meets = 0;
    for (uint32_t other = 0; other < cut->slab_count; other++) {
        const knn_slab *slab = &cut->slabs[other];
        if (other == s || !(slab->low[0] <= slab->high[0]) || !knn_cut_meets(cut, query, reach2, slab)) continue;
        meets |= 1ull << other;
    }
    return meets != 0 && is_finite(cut, query) ? meets : 0;
}

/* All rows to their places, and which slabs are to be asked again. */
static mote_status keep_rows(mote_context *worker, const knn_cut *cut, uint32_t s, const mote_knn_result *rows) {
    const knn_slab *slab = &cut->slabs[s];
    const uint64_t pieces = (slab->query_count + PIECE_QUERIES - 1) / PIECE_QUERIES;
#pragma omp parallel for schedule(dynamic, 1) num_threads(worker->threads)
    for (uint64_t p = 0; p < pieces; p++) {
        if (mote_stop(worker)) continue;
        const uint64_t end = (p + 1) * PIECE_QUERIES < slab->query_count ? (p + 1) * PIECE_QUERIES : slab->query_count;
        for (uint64_t i = p * PIECE_QUERIES; i < end; i++) {
            keep_row(cut, slab, rows, i);
            slab->meets[i] = find_meets(cut, s, rows, i);
        }
    }
    return mote_stopped(worker);
}

/* Searches the index of a slab for queries, whose cloud is NULL where they are its own points. */
static mote_status search_index(const knn_cut *cut, const knn_slab *slab, const mote_cloud *queries,
                                mote_knn_result *rows) {
    mote_knn_params params = *cut->params;
    if (queries != NULL) params.exclude_self = false; /* its own slab has left it out */
    MOTE_TRY(mote_knn_search(slab->index, queries, &params, rows));
    return MOTE_OK;
}

static mote_status search_slab(void *user, mote_context *worker, uint32_t s) {
    knn_cut *cut = user;
    knn_slab *slab = &cut->slabs[s];
    mote_cloud *queries = NULL;
    mote_knn_result rows;
    mote_status status = make_rows(worker, cut, slab->query_count, &rows);
    slab->meets = mote_alloc(worker, slab->query_count * sizeof *slab->meets, "slabs");
    if (slab->meets == NULL) status = MOTE_ERROR_MEMORY;
    if (status == MOTE_OK && !cut->is_self) {
        status = mote_cloud_select(worker, cut->query_positions, slab->query_ids, slab->query_count, &queries);
    }
    if (status == MOTE_OK) status = search_index(cut, slab, queries, &rows);
    slab->skipped = rows.skipped;
    if (status == MOTE_OK) status = keep_rows(worker, cut, s, &rows);
    mote_cloud_destroy(queries);
    free_rows(worker, &rows);
    return status;
}

/* ---- 3: ask */

/* The queries of other slabs whose balls meet this one. */
static mote_status list_asked(mote_context *worker, const knn_cut *cut, uint32_t s) {
    knn_slab *slab = &cut->slabs[s];
    const uint64_t bit = 1ull << s;
    uint64_t count = 0;
    for (uint32_t other = 0; other < cut->slab_count; other++) {
        const knn_slab *from = &cut->slabs[other];
        for (uint64_t i = 0; i < from->query_count; i++) count += (from->meets[i] & bit) != 0;
    }
    slab->asked = mote_alloc(worker, count * sizeof *slab->asked, "slabs");
    if (slab->asked == NULL) return MOTE_ERROR_MEMORY;
    for (uint32_t other = 0; other < cut->slab_count; other++) {
        const knn_slab *from = &cut->slabs[other];
        for (uint64_t i = 0; i < from->query_count; i++) {
            if ((from->meets[i] & bit) != 0) slab->asked[slab->asked_count++] = from->query_ids[i];
        }
    }
    return MOTE_OK;
}

static mote_status ask_slab(void *user, mote_context *worker, uint32_t s) {
    knn_cut *cut = user;
    knn_slab *slab = &cut->slabs[s];
    mote_cloud *queries = NULL;
    mote_knn_result rows = {.index32 = NULL};
    MOTE_TRY(list_asked(worker, cut, s));
    if (slab->asked_count == 0) return MOTE_OK;
    const uint64_t places = slab->asked_count * cut->params->k;
    slab->asked_rows = rows.index32 = mote_alloc(worker, places * sizeof *rows.index32, "rows of slabs");
    if (rows.index32 == NULL) return MOTE_ERROR_MEMORY;
    mote_status status = mote_cloud_select(worker, cut->query_positions, slab->asked, slab->asked_count, &queries);
    if (status == MOTE_OK) status = search_index(cut, slab, queries, &rows);
    mote_cloud_destroy(queries);
    return status;
}

/* ---- 4: merge */

static mote_status merge_all(const knn_cut *cut) {
    mote_context *ctx = cut->ctx;
    for (uint32_t s = 0; s < cut->slab_count; s++) {
        const knn_slab *slab = &cut->slabs[s];
        const uint64_t pieces = (slab->asked_count + PIECE_QUERIES - 1) / PIECE_QUERIES;
#pragma omp parallel for schedule(dynamic, 1) num_threads(ctx->threads)
        for (uint64_t p = 0; p < pieces; p++) {
            if (mote_stop(ctx)) continue;
            const uint64_t first = p * PIECE_QUERIES, rest = slab->asked_count - first;
            const uint64_t end = first + (rest < PIECE_QUERIES ? rest : PIECE_QUERIES);
            for (uint64_t i = first; i < end; i++) {
                knn_cut_merge(cut, slab, slab->asked[i], slab->asked_rows + i * cut->params->k);
            }
        }
        MOTE_TRY(mote_stopped(ctx));
    }
    return MOTE_OK;
}

/* ---- all */

static mote_status positions_of(mote_context *ctx, const mote_cloud *cloud, const mote_column *const axes[3],
                                mote_cloud **out) {
    const mote_column columns[3] = {*axes[0], *axes[1], *axes[2]};
    return mote_cloud_wrap(ctx, cloud->count, columns, 3, out);
}

static mote_status run_step(const knn_cut *cut, const mote_team *team,
                            mote_status (*step)(void *user, mote_context *worker, uint32_t slab), double first,
                            double last) {
    mote_context *ctx = cut->ctx;
    const team_work work = {
        .run = step, .user = (void *)(uintptr_t)cut, .item_count = cut->slab_count, .is_bound = true};
    const mote_progress_span whole = mote_progress_enter(ctx, first, last);
    const mote_status status = mote_team_run(team, &work);
    mote_progress_leave(ctx, whole);
    return status;
}

static mote_status run_steps(knn_cut *cut, const mote_team *team) {
    MOTE_TRY(positions_of(cut->ctx, cut->cloud, cut->axes, &cut->positions));
    MOTE_TRY(positions_of(cut->ctx, cut->queries, cut->query_axes, &cut->query_positions));
    MOTE_TRY(knn_cut_slabs(cut));
    MOTE_TRY(run_step(cut, team, index_slab, 0, 0.4));
    MOTE_TRY(run_step(cut, team, search_slab, 0.4, 0.8));
    MOTE_TRY(run_step(cut, team, ask_slab, 0.8, 0.95));
    mote_stage(cut->ctx, "merge");
    MOTE_TRY(merge_all(cut));
    return mote_progress(cut->ctx, 1, "merging neighbours");
}

static void free_slabs(knn_cut *cut, const mote_team *team) {
    mote_context *ctx = cut->ctx;
    mote_cloud_destroy(cut->positions);
    mote_cloud_destroy(cut->query_positions);
    for (uint32_t s = 0; s < cut->slab_count; s++) {
        knn_slab *slab = &cut->slabs[s];
        mote_context *worker = team->workers[s];
        mote_knn_destroy(slab->index);
        mote_cloud_destroy(slab->points);
        if (worker == NULL) continue;
        mote_free(worker, slab->meets);
        mote_free(worker, slab->asked);
        mote_free(worker, slab->asked_rows);
    }
    if (!cut->is_self) mote_free(ctx, cut->slabs[0].query_ids);
    mote_free(ctx, cut->slabs[0].ids);
}

/* Room for indices where the caller wants none, for they are what is merged. */
static mote_status make_index(knn_cut *cut, uint32_t **owned) {
    *owned = NULL;
    if (cut->result.index32 != NULL || cut->result.index64 != NULL) return MOTE_OK;
    const uint64_t places = cut->queries->count * cut->params->k;
    *owned = cut->result.index32 = mote_alloc(cut->ctx, places * sizeof **owned, "rows of slabs");
    return *owned != NULL ? MOTE_OK : MOTE_ERROR_MEMORY;
}

static mote_status search_in_slabs(knn_cut *cut) {
    mote_context *ctx = cut->ctx;
    mote_team team;
    const uint64_t limit = ctx->params.memory_limit_bytes, held = mote_context_memory_bytes(ctx);
    const uint64_t ids = (cut->cloud->count + (cut->is_self ? 0 : cut->queries->count)) * sizeof(uint64_t);
    const uint64_t rest = limit > held + ids ? limit - held - ids : 1;
    mote_status status = mote_team_begin(ctx, cut->slab_count, limit > 0 ? rest / cut->slab_count + 1 : 0, &team);
    if (status == MOTE_OK) status = run_steps(cut, &team);
    free_slabs(cut, &team);
    mote_team_end(&team);
    return status;
}

mote_status knn_cut_search(mote_context *ctx, uint32_t slabs, const mote_cloud *cloud, const mote_cloud *queries,
                           const mote_knn_params *params, mote_knn_result *result) {
    knn_cut cut;
    uint32_t *owned = NULL;
    memset(&cut, 0, sizeof cut);
    MOTE_TRY(order_check_range(ctx, cloud, MOTE_MAX_COORDINATE, true));
    if (queries != NULL) MOTE_TRY(order_check_range(ctx, queries, MOTE_MAX_COORDINATE, false));
    knn_cut_find_metric(ctx, cloud, queries, &cut);
    cut.ctx = ctx;
    cut.params = params;
    cut.result = *result;
    cut.slab_count = slabs;
    cut.slabs = mote_alloc_zero(ctx, slabs * sizeof *cut.slabs, "slabs");
    mote_status status = cut.slabs != NULL ? make_index(&cut, &owned) : MOTE_ERROR_MEMORY;
    if (status == MOTE_OK) status = search_in_slabs(&cut);
    if (status == MOTE_OK) status = mote_cloud_check(cloud);
    if (status == MOTE_OK && queries != NULL) status = mote_cloud_check(queries);
    result->skipped = 0;
    for (uint32_t s = 0; s < slabs && cut.slabs != NULL; s++) result->skipped += cut.slabs[s].skipped;
    mote_stage(ctx, NULL);
    mote_free(ctx, owned);
    mote_free(ctx, cut.slabs);
    return status;
}
