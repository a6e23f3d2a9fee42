/* Writes LAS 1.2 to 1.4, compressed or not, from a whole cloud or from pieces of it. The points go out in blocks, in
   parallel, each to its place in the file; the header, which states counts and the box of the points, comes last.
   Source: ASPRS LAS specification 1.4. */
#include "io/las/write/las_write.h"

#include <omp.h>

#define BLOCK_BYTES      (1u << 20)
#define BLOCKS_PER_ROUND 4u /* and thread, between two reports of progress */

/* ---- points */

static mote_status write_block(las_writer *w, uint64_t block) {
    const uint64_t first = block * w->block_points, remaining = w->plan.cloud->count - first;
    const uint64_t count = remaining < w->block_points ? remaining : w->block_points;
    const uint32_t record_bytes = w->plan.record_bytes;
    const uint8_t *records = mote_las_writer_records(w, (uint64_t)omp_get_thread_num(), first, count);
    return mote_output_write_at(w->ctx, &w->output, records, count * record_bytes,
                                w->layout.points_at + (w->added + first) * record_bytes);
}

static mote_status write_blocks(las_writer *w) {
    const uint64_t blocks = (w->plan.cloud->count + w->block_points - 1) / w->block_points;
    const uint64_t round = BLOCKS_PER_ROUND * w->threads;
    for (uint64_t first = 0; first < blocks; first += round) {
        const double done = (double)(w->added + first * w->block_points) / (double)w->plan.count;
        MOTE_TRY(mote_progress(w->ctx, done, "writing LAS"));
        const int64_t stop = (int64_t)(blocks - first < round ? blocks : first + round);
        int failed = MOTE_OK;
#pragma omp parallel for schedule(dynamic, 1) num_threads((int)w->threads) shared(failed)
        for (int64_t block = (int64_t)first; block < stop; block++) {
            const mote_status status = write_block(w, (uint64_t)block);
            if (status == MOTE_OK) continue;
#pragma omp atomic write
            failed = (int)status;
        }
        if (failed != MOTE_OK) return (mote_status)failed;
    }
    return MOTE_OK;
}

/* ---- before them */

static uint64_t block_points(const las_plan *plan) {
    if (plan->chunk_points != 0) return plan->chunk_points;
    return plan->record_bytes > 0 ? BLOCK_BYTES / plan->record_bytes : 1;
}

static mote_status alloc_blocks(las_writer *w) {
    w->tallies = mote_alloc(w->ctx, w->threads * sizeof *w->tallies, "LAS blocks");
    if (w->tallies == NULL) return MOTE_ERROR_MEMORY;
    for (uint64_t i = 0; i < w->threads; i++) mote_las_tally_clear(&w->tallies[i]);
    if (mote_las_same_records(&w->plan, 0) != NULL || w->plan.count == 0) return MOTE_OK;
    w->buffers = mote_alloc(w->ctx, w->threads * w->block_points * w->plan.record_bytes, "LAS blocks");
    return w->buffers != NULL ? MOTE_OK : MOTE_ERROR_MEMORY;
}

static mote_status plan_file(las_writer *w, const las_job *job) {
    if (job->in_pieces) {
        MOTE_TRY(mote_las_plan_pieces(w->ctx, job->cloud, job->count, job->pieces, &w->params, w->path, &w->plan));
    } else {
        MOTE_TRY(mote_las_plan_make(w->ctx, job->cloud, &w->params, w->path, &w->plan));
    }
    MOTE_TRY(mote_las_records_make(w->ctx, &w->plan, &w->records));
    MOTE_TRY(mote_las_lay_out(w->ctx, &w->plan, &w->records, &w->layout));
    /* Small files need less memory, and no more threads than blocks. */
    const uint64_t count = w->plan.count, max = block_points(&w->plan);
    const uint64_t blocks = (count + max - 1) / max, threads = (uint64_t)w->ctx->threads;
    w->block_points = count > 0 && count < max ? count : max;
    w->threads = blocks < threads ? blocks : threads;
    if (w->threads == 0) w->threads = 1;
    MOTE_TRY(alloc_blocks(w));
    return w->plan.chunk_points != 0 ? mote_las_chunk_writer_make(w, job->in_pieces) : MOTE_OK;
}

static mote_status begin_file(las_writer *w) {
    const las_records *records = &w->records;
    uint64_t at = w->layout.header_bytes;
    MOTE_TRY(mote_output_open(w->ctx, w->path, &w->output));
    return mote_las_records_write(w->ctx, &w->output, records->front, records->front_count, false, &at);
}

/* ---- behind them */

/* The file has fewer points than might have come. */
static mote_status end_early(las_writer *w) {
    w->plan.count = w->added;
    return w->chunks != NULL ? mote_las_chunk_writer_end(w) : MOTE_OK;
}

static mote_status finish_file(las_writer *w) {
    const las_records *records = &w->records;
    if (w->params.fewer && w->added < w->plan.count) MOTE_TRY(end_early(w));
    if (w->added != w->plan.count) {
        return mote_fail(w->ctx, MOTE_ERROR_ARGUMENT, "%s: %llu points of %llu were added", w->path,
                         (unsigned long long)w->added, (unsigned long long)w->plan.count);
    }
    if (w->chunks != NULL) {
        MOTE_TRY(mote_las_chunk_writer_finish(w));
    } else {
        w->layout.behind_at = w->layout.points_at + w->plan.count * w->plan.record_bytes;
    }
    uint64_t at = w->layout.behind_at;
    MOTE_TRY(mote_las_records_write(w->ctx, &w->output, records->behind, records->behind_count, true, &at));
    /* The header, last: it has what all threads counted. */
    uint8_t header[LAS_HEADER_BYTES_14] = {0};
    las_tally tally;
    mote_las_tally_clear(&tally);
    for (uint64_t i = 0; i < w->threads; i++) mote_las_tally_add(&tally, &w->tallies[i]);
    mote_las_settle_times(w->ctx, &w->plan, &tally);
    mote_las_header_fill(&w->plan, &w->records, &w->layout, &tally, header);
    return mote_output_write_at(w->ctx, &w->output, header, w->layout.header_bytes, 0);
}

/* ---- the file */

mote_status mote_las_writer_open(mote_context *ctx, const las_job *job, const char *path,
                                 const mote_write_params *params, las_writer *w) {
    memset(w, 0, sizeof *w);
    w->ctx = ctx;
    w->output.file = -1;
    w->params = *params;
    w->path = mote_strdup(ctx, path);
    if (w->path == NULL) return MOTE_ERROR_MEMORY;
    mote_stage(ctx, "write LAS");
    mote_status status = plan_file(w, job);
    if (status == MOTE_OK) status = begin_file(w);
    mote_stage(ctx, NULL);
    return status;
}

mote_status mote_las_writer_add(las_writer *w) {
    const uint64_t count = w->plan.cloud->count;
    if (count > w->plan.count - w->added) {
        return mote_fail(w->ctx, MOTE_ERROR_ARGUMENT, "%s: more points are added than the %llu announced", w->path,
                         (unsigned long long)w->plan.count);
    }
    mote_stage(w->ctx, "write LAS");
    mote_status status = w->chunks != NULL ? mote_las_chunk_writer_add(w) : write_blocks(w);
    if (status == MOTE_OK) {
        w->added += count;
        const double done = w->plan.count > 0 ? (double)w->added / (double)w->plan.count : 1;
        status = mote_progress(w->ctx, done, w->chunks != NULL ? "writing LAZ" : "writing LAS");
    }
    mote_stage(w->ctx, NULL);
    return status;
}

mote_status mote_las_writer_close(las_writer *w, mote_status status) {
    mote_stage(w->ctx, "write LAS");
    if (status == MOTE_OK) status = finish_file(w);
    status = mote_output_close(w->ctx, &w->output, status);
    mote_las_chunk_writer_free(w);
    mote_free(w->ctx, w->buffers);
    mote_free(w->ctx, w->tallies);
    mote_las_records_free(w->ctx, &w->records);
    mote_las_plan_free(w->ctx, &w->plan);
    mote_free(w->ctx, w->path);
    mote_stage(w->ctx, NULL);
    return status;
}

mote_status mote_las_write(mote_context *ctx, const mote_cloud *cloud, const char *path,
                           const mote_write_params *params) {
    const las_job whole = {cloud, cloud->count, false, NULL};
    las_writer w;
    mote_status status = mote_las_writer_open(ctx, &whole, path, params, &w);
    if (status == MOTE_OK) status = mote_las_writer_add(&w);
    return mote_las_writer_close(&w, status);
}
