/* Nearest neighbours of the points of clouds that memory does not hold: rows in a file without a name, in the order of
   the points, each as

     │ index k │ distance2 k │ count │     indices of 4 or 8 bytes, distances of 4 or 8 */
#include "knn/knn.h"
#include "parts/parts.h"

#define BLOCK_BYTES    (8ull << 20)        /* rows that are found, or read, at once: as a part's buffers */
#define INDEX32_POINTS (UINT64_C(1) << 31) /* beside them, 32 bits hold the index that means none */

struct mote_knn_rows {
    mote_context *ctx;
    mote_output file;
    uint64_t count;
    uint32_t k, index_bytes, distance_bytes, row_bytes;
};

typedef struct knn_run {
    parts_run run;
    mote_knn_params params;
    mote_knn_rows *rows;
} knn_run;

/* ---- rows of a part */

/* Of some queries: arrays of rows that have room for one neighbour more, as a point is one of its own. */
typedef struct knn_block {
    uint64_t capacity, asked; /* rows, and neighbours of each */
    uint32_t *index;          /* [capacity · asked] by place in the part's cloud */
    double *distance2;        /* [capacity · asked] */
    uint32_t *count;          /* [capacity] */
    uint8_t *rows;            /* [capacity] as they lie in the file */
} knn_block;

static mote_status make_block(mote_context *ctx, const knn_run *n, uint64_t own_count, knn_block *block) {
    const uint64_t asked = n->params.k + n->params.exclude_self;
    const uint64_t bytes = asked * (sizeof(uint32_t) + sizeof(double)) + sizeof(uint32_t) + n->rows->row_bytes;
    block->asked = asked;
    block->capacity = BLOCK_BYTES / bytes < own_count ? BLOCK_BYTES / bytes : own_count;
    block->index = mote_alloc(ctx, block->capacity * asked * sizeof *block->index, "results");
    block->distance2 = mote_alloc(ctx, block->capacity * asked * sizeof *block->distance2, "results");
    block->count = mote_alloc(ctx, block->capacity * sizeof *block->count, "results");
    block->rows = mote_alloc(ctx, block->capacity * n->rows->row_bytes, "results");
    const bool made = block->index != NULL && block->distance2 != NULL && block->count != NULL && block->rows != NULL;
    return made ? MOTE_OK : MOTE_ERROR_MEMORY;
}

static void free_block(mote_context *ctx, knn_block *block) {
    mote_free(ctx, block->index);
    mote_free(ctx, block->distance2);
    mote_free(ctx, block->count);
    mote_free(ctx, block->rows);
}

/* The row of a query as the file has it: neighbours by number, without the query itself where that is excluded. Where
   more others lie in its place than are asked for, it may not be among them. */
static void write_row(const knn_run *n, const parts_points *points, const knn_block *block, uint64_t row,
                      uint64_t self) {
    const mote_knn_rows *to = n->rows;
    const uint32_t *index = block->index + row * block->asked, found = block->count[row];
    const double *distance2 = block->distance2 + row * block->asked;
    uint8_t *at = block->rows + row * to->row_bytes, *distances = at + to->k * to->index_bytes;
    uint32_t count = 0;
    memset(at, 0xFF, to->k * to->index_bytes);
    for (uint32_t i = 0; i < found && count < to->k; i++) {
        if (n->params.exclude_self && index[i] == self) continue;
        const uint64_t number = points->numbers[index[i]];
        const float narrow = (float)distance2[i];
        memcpy(at + count * to->index_bytes, &number, to->index_bytes);
        if (to->distance_bytes == sizeof narrow) memcpy(distances + count * sizeof narrow, &narrow, sizeof narrow);
        if (to->distance_bytes > sizeof narrow)
            memcpy(distances + count * sizeof(double), &distance2[i], sizeof(double));
        count++;
    }
    for (uint32_t i = count; i < to->k; i++) {
        const float narrow = INFINITY;
        const double wide = INFINITY;
        if (to->distance_bytes == sizeof narrow) memcpy(distances + i * sizeof narrow, &narrow, sizeof narrow);
        if (to->distance_bytes > sizeof narrow) memcpy(distances + i * sizeof wide, &wide, sizeof wide);
    }
    memcpy(distances + to->k * to->distance_bytes, &count, sizeof count);
}

static mote_status find_block(const knn_run *n, mote_knn_index *index, const parts_points *points, knn_block *block,
                              uint64_t first, uint64_t count) {
    mote_context *ctx = index->ctx;
    mote_cloud *queries = NULL;
    mote_knn_result result;
    mote_knn_params params = n->params;
    params.k = (uint32_t)block->asked;
    params.exclude_self = false;
    memset(&result, 0, sizeof result);
    result.index32 = block->index;
    result.distance2_wide = block->distance2;
    result.count = block->count;
    mote_status status = mote_cloud_select(ctx, points->cloud, points->own + first, count, &queries);
    if (status == MOTE_OK) status = mote_knn_search(index, queries, &params, &result);
    mote_cloud_destroy(queries);
    MOTE_TRY(status);
    for (uint64_t i = 0; i < count; i++) write_row(n, points, block, i, points->own[first + i]);
    return parts_keep(points, first, count, block->rows);
}

static mote_status find_rows(void *user, mote_context *ctx, const parts_points *points) {
    const knn_run *n = user;
    knn_block block;
    mote_knn_index *index = NULL;
    memset(&block, 0, sizeof block);
    const double all = (double)points->own_count;
    const mote_progress_span whole = mote_progress_enter(ctx, 0, 0.3);
    mote_status status = mote_knn_build(ctx, points->cloud, &index);
    if (status == MOTE_OK) status = make_block(ctx, n, points->own_count, &block);
    for (uint64_t first = 0; first < points->own_count && status == MOTE_OK; first += block.capacity) {
        const uint64_t rest = points->own_count - first, count = rest < block.capacity ? rest : block.capacity;
        mote_progress_next(ctx, whole, 0.3 + 0.7 * (double)first / all, 0.3 + 0.7 * (double)(first + count) / all);
        status = find_block(n, index, points, &block, first, count);
    }
    mote_progress_leave(ctx, whole);
    free_block(ctx, &block);
    mote_knn_destroy(index);
    return status;
}

/* ---- all */

static mote_status check(mote_context *ctx, const mote_knn_params *given, mote_knn_params *params) {
    mote_cloud *no_points = NULL;
    mote_knn_result no_result;
    memset(&no_result, 0, sizeof no_result);
    const bool exact = given == NULL || (given->method != MOTE_KNN_SHIFTED && !given->approximate);
    if (!exact || (given != NULL && given->compression > 1)) {
        return mote_fail(ctx, MOTE_ERROR_UNSUPPORTED,
                         "neighbours are found in parts exactly, and within spheres: others depend on all points");
    }
    MOTE_TRY(mote_cloud_new(ctx, 0, &no_points));
    const mote_status status = knn_check(ctx, no_points, NULL, given, &no_result, params);
    mote_cloud_destroy(no_points);
    return status;
}

/* Others within a radius of k neighbours, or the k nearest: at least one, so that there is an end to the search. */
static uint32_t others_of(const mote_knn_params *params) {
    return params->exclude_self || params->k == 1 ? params->k : params->k - 1;
}

static mote_status find_all(knn_run *n, bool wide, const char *beside, const mote_parts_params *parts) {
    parts_run *run = &n->run;
    mote_knn_rows *rows = n->rows;
    MOTE_TRY(parts_check_file(run, beside, NULL, parts));
    parts_search search = {others_of(&n->params), n->params.radius, 0, find_rows, n};
    MOTE_TRY(parts_search_gather(run, &search, beside, parts));
    const double begin = mote_seconds();
    rows->count = run->first_number + run->points;
    rows->k = n->params.k;
    rows->index_bytes = rows->count > INDEX32_POINTS ? sizeof(int64_t) : sizeof(uint32_t);
    rows->distance_bytes = wide ? sizeof(double) : sizeof(float);
    rows->row_bytes = rows->k * (rows->index_bytes + rows->distance_bytes) + (uint32_t)sizeof(uint32_t);
    search.result_bytes = rows->row_bytes;
    MOTE_TRY(parts_open_scratch(run, beside, &rows->file));
    MOTE_TRY(parts_search_all(run, &search, &rows->file));
    run->report->build_seconds = mote_seconds() - begin;
    mote_output_close(run->ctx, &run->scratch, MOTE_CANCELLED); /* it is not kept */
    parts_report(run);
    run->report->scratch_bytes += run->points * rows->row_bytes;
    return mote_progress(run->ctx, 1, "searching");
}

static mote_status make_rows(mote_context *ctx, mote_knn_rows **out) {
    mote_knn_rows *rows = mote_alloc_zero(ctx, sizeof *rows, "knn rows");
    if (rows == NULL) return MOTE_ERROR_MEMORY;
    rows->ctx = ctx;
    rows->file.file = -1;
    *out = rows;
    return MOTE_OK;
}

mote_status parts_knn_find(mote_context *ctx, const parts_knn_job *job, mote_knn_rows **out) {
    const mote_parts_params parts = job->parts != NULL ? *job->parts : mote_parts_defaults();
    mote_read_params positions = job->reading != NULL ? *job->reading : mote_read_defaults();
    mote_parts_report unread;
    knn_run n;
    memset(&n, 0, sizeof n);
    positions.select = "x,y,z";
    parts_start(ctx, job->report != NULL ? job->report : &unread, &n.run);
    if (out == NULL || job->inputs == NULL || job->beside == NULL || job->beside[0] == '\0') {
        return mote_fail(ctx, MOTE_ERROR_ARGUMENT, "no input, no name for files beside it, or no place for the rows");
    }
    *out = NULL;
    MOTE_TRY(check(ctx, job->params, &n.params));
    MOTE_TRY(make_rows(ctx, &n.rows));
    n.run.has_numbers = true;
    n.run.first_number = job->first_number;
    mote_status status = parts_open(ctx, job->inputs, job->input_count, &positions, NULL, NULL, &parts, &n.run);
    n.run.point_bytes = parts_search_bytes(&n.run);
    if (status == MOTE_OK) status = find_all(&n, job->wide, job->beside, &parts);
    status = parts_end(&n.run, status);
    if (status != MOTE_OK) {
        mote_knn_rows_close(n.rows);
        return status;
    }
    *out = n.rows;
    return MOTE_OK;
}

mote_status mote_knn_find_parts(mote_context *ctx, const char *const *inputs, uint32_t input_count,
                                const mote_read_params *reading, const mote_knn_params *params, bool wide,
                                const char *beside, const mote_parts_params *parts, mote_parts_report *report,
                                mote_knn_rows **out) {
    const parts_knn_job job = {inputs, input_count, reading, params, wide, beside, parts, report, 0};
    return parts_knn_find(ctx, &job, out);
}

/* ---- what was found */

uint64_t mote_knn_rows_count(const mote_knn_rows *rows) { return rows->count; }

static void take_row(const mote_knn_rows *rows, const uint8_t *row, uint64_t i, mote_knn_result *to) {
    const uint8_t *distances = row + rows->k * rows->index_bytes;
    for (uint64_t j = 0, at = i * rows->k; j < rows->k; j++, at++) {
        int64_t index = 0;
        float narrow = 0;
        double wide = 0;
        memcpy(&index, row + j * rows->index_bytes, rows->index_bytes);
        if (rows->index_bytes == sizeof(uint32_t) && index == UINT32_MAX) index = -1;
        if (rows->distance_bytes == sizeof wide) memcpy(&wide, distances + j * sizeof wide, sizeof wide);
        if (rows->distance_bytes == sizeof narrow) memcpy(&narrow, distances + j * sizeof narrow, sizeof narrow);
        if (to->index32 != NULL) to->index32[at] = (uint32_t)index;
        if (to->index64 != NULL) to->index64[at] = index;
        if (to->distance2 != NULL) to->distance2[at] = rows->distance_bytes == sizeof wide ? (float)wide : narrow;
        if (to->distance2_wide != NULL) to->distance2_wide[at] = wide;
    }
    if (to->count != NULL) memcpy(&to->count[i], distances + rows->k * rows->distance_bytes, sizeof to->count[i]);
}

mote_status mote_knn_rows_read(mote_knn_rows *rows, uint64_t first, uint64_t count, mote_knn_result *to) {
    mote_context *ctx = rows->ctx;
    const uint64_t bytes = rows->row_bytes, most = BLOCK_BYTES / bytes;
    if (first > rows->count || count > rows->count - first) {
        return mote_fail(ctx, MOTE_ERROR_ARGUMENT, "rows %llu to %llu of %llu", (unsigned long long)first,
                         (unsigned long long)(first + count), (unsigned long long)rows->count);
    }
    if (to->distance2_wide != NULL && rows->distance_bytes < sizeof(double)) {
        return mote_fail(ctx, MOTE_ERROR_ARGUMENT, "the rows have distances in single precision");
    }
    if (to->index32 != NULL && rows->index_bytes > sizeof(uint32_t)) {
        return mote_fail(ctx, MOTE_ERROR_ARGUMENT, "the rows have indices of more than 32 bits");
    }
    uint8_t *block = mote_alloc(ctx, (count < most ? count : most) * bytes, "knn rows");
    mote_status status = block != NULL ? MOTE_OK : MOTE_ERROR_MEMORY;
    for (uint64_t done = 0; done < count && status == MOTE_OK; done += most) {
        const uint64_t now = count - done < most ? count - done : most;
        status = parts_read_at(ctx, rows->file.file, rows->file.path, (first + done) * bytes, now * bytes, block);
        for (uint64_t i = 0; i < now && status == MOTE_OK; i++) take_row(rows, block + i * bytes, done + i, to);
    }
    mote_free(ctx, block);
    to->skipped = 0;
    return status;
}

void mote_knn_rows_close(mote_knn_rows *rows) {
    if (rows == NULL) return;
    mote_output_close(rows->ctx, &rows->file, MOTE_CANCELLED); /* it has no name to take */
    mote_free(rows->ctx, rows);
}
