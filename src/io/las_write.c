/* Writes LAS 1.2 to 1.4. The points go out in blocks, in parallel, each to its place in the file; the header, which
   states counts and the box of the points, comes last. Source: ASPRS LAS specification 1.4. */
#include <math.h>
#include <omp.h>
#include <stdio.h>

#include "io/las_tail.h"

#define BLOCK_BYTES      (1u << 20)
#define BLOCKS_PER_ROUND 4u /* and thread, between two reports of progress */
#define RETURNS          15u
#define LEGACY_RETURNS   5u

/* What the header says of the points; one per thread, then their sum. */
typedef struct las_tally {
    int32_t low[3], high[3];
    uint64_t returns[RETURNS + 1];
    uint8_t apart[64]; /* threads write to their own cache lines */
} las_tally;

typedef struct las_job {
    mote_context *ctx;
    las_plan plan;
    las_records records;
    mote_output output;
    uint32_t header_bytes;
    uint64_t points_at, points_end;
    uint8_t *buffers; /* a block per thread; NULL where records are copied from the source */
    las_tally *tallies;
} las_job;

static void clear_tally(las_tally *tally) {
    memset(tally, 0, sizeof *tally);
    for (int k = 0; k < 3; k++) {
        tally->low[k] = INT32_MAX;
        tally->high[k] = INT32_MIN;
    }
}

static void count_points(const las_plan *plan, const uint8_t *records, uint64_t count, las_tally *tally) {
    const uint8_t mask = plan->format < 6 ? 7 : 15;
    for (uint64_t i = 0; i < count; i++, records += plan->record_bytes) {
        int32_t xyz[3];
        memcpy(xyz, records, sizeof xyz);
        for (int k = 0; k < 3; k++) {
            tally->low[k] = xyz[k] < tally->low[k] ? xyz[k] : tally->low[k];
            tally->high[k] = xyz[k] > tally->high[k] ? xyz[k] : tally->high[k];
        }
        tally->returns[records[14] & mask]++;
    }
}

static void add_tally(las_tally *sum, const las_tally *part) {
    for (int k = 0; k < 3; k++) {
        sum->low[k] = part->low[k] < sum->low[k] ? part->low[k] : sum->low[k];
        sum->high[k] = part->high[k] > sum->high[k] ? part->high[k] : sum->high[k];
    }
    for (uint32_t r = 0; r <= RETURNS; r++) sum->returns[r] += part->returns[r];
}

/* ---- points */

static uint64_t block_points(const las_plan *plan) {
    return plan->record_bytes < BLOCK_BYTES ? BLOCK_BYTES / plan->record_bytes : 1;
}

static mote_status write_block(las_job *job, uint64_t block) {
    const las_plan *plan = &job->plan;
    const uint64_t most = block_points(plan), first = block * most;
    const uint64_t left = plan->cloud->count - first, count = left < most ? left : most;
    const uint8_t *records = mote_las_same_records(plan, first);
    if (records == NULL) {
        uint8_t *buffer = job->buffers + (uint64_t)omp_get_thread_num() * most * plan->record_bytes;
        mote_las_convert(plan, first, count, buffer);
        records = buffer;
    }
    count_points(plan, records, count, &job->tallies[omp_get_thread_num()]);
    return mote_output_write_at(job->ctx, &job->output, records, count * plan->record_bytes,
                                job->points_at + first * plan->record_bytes);
}

static mote_status write_points(las_job *job) {
    const uint64_t most = block_points(&job->plan);
    const uint64_t blocks = (job->plan.cloud->count + most - 1) / most;
    const uint64_t round = BLOCKS_PER_ROUND * (uint64_t)job->ctx->threads;
    for (uint64_t first = 0; first < blocks; first += round) {
        MOTE_TRY(mote_progress(job->ctx, (double)first / (double)blocks, "writing LAS"));
        const int64_t stop = (int64_t)(blocks - first < round ? blocks : first + round);
        int failed = MOTE_OK;
#pragma omp parallel for schedule(dynamic, 1) num_threads(job->ctx->threads) shared(failed)
        for (int64_t block = (int64_t)first; block < stop; block++) {
            const mote_status status = write_block(job, (uint64_t)block);
            if (status == MOTE_OK) continue;
#pragma omp atomic write
            failed = (int)status;
        }
        if (failed != MOTE_OK) return (mote_status)failed;
    }
    return mote_progress(job->ctx, 1, "writing LAS");
}

static mote_status alloc_blocks(las_job *job) {
    const uint64_t threads = (uint64_t)job->ctx->threads;
    job->tallies = mote_alloc(job->ctx, threads * sizeof *job->tallies, "LAS blocks");
    if (job->tallies == NULL) return MOTE_ERROR_MEMORY;
    for (uint64_t i = 0; i < threads; i++) clear_tally(&job->tallies[i]);
    if (mote_las_same_records(&job->plan, 0) != NULL) return MOTE_OK;
    const uint64_t bytes = block_points(&job->plan) * job->plan.record_bytes;
    job->buffers = mote_alloc(job->ctx, threads * bytes, "LAS blocks");
    return job->buffers != NULL ? MOTE_OK : MOTE_ERROR_MEMORY;
}

/* ---- header */

static uint16_t global_encoding(const las_job *job) {
    static const uint16_t known[] = {0, 0, 0x01, 0x0F, 0x1F}; /* bits that a version defines */
    const mote_las_origin *origin = &job->plan.cloud->las;
    const las_records *records = &job->records;
    uint16_t bits = origin->present && origin->version_minor >= 2 ? origin->global_encoding : 0;
    /* The reader turned times of 1.5 with a base of their own into adjusted standard time. */
    if (origin->present && origin->version_minor >= 5 && (bits & LAS_ENCODING_TIME_BASE) != 0)
        bits |= LAS_ENCODING_ADJUSTED;
    if (job->plan.adjusted_time) bits |= LAS_ENCODING_ADJUSTED;
    if (records->wkt || (!origin->present && job->plan.format >= 6)) { bits |= LAS_ENCODING_WKT; }
    if (records->geo_keys && !records->wkt) bits &= (uint16_t)~LAS_ENCODING_WKT;
    bits &= (uint16_t)~LAS_ENCODING_INTERNAL;
    if (records->waveforms != 0) bits = (uint16_t)((bits & ~0x04u) | LAS_ENCODING_INTERNAL);
    return bits & known[job->plan.version_minor];
}

static void put_origin(const las_job *job, uint8_t *header) {
    const mote_las_origin *origin = &job->plan.cloud->las;
    char software[33] = "";
    snprintf(software, sizeof software, "mote %s", mote_version());
    memcpy(header, "LASF", 4);
    las_put(header + 6, global_encoding(job), 2);
    header[24] = 1;
    header[25] = job->plan.version_minor;
    memcpy(header + 58, software, 32);
    if (!origin->present) {
        memcpy(header + 26, "mote", 4);
        return;
    }
    las_put(header + 4, origin->file_source_id, 2);
    memcpy(header + 8, origin->guid, sizeof origin->guid);
    memcpy(header + 26, origin->system_id, 32);
    las_put(header + 90, origin->creation_day, 2);
    las_put(header + 92, origin->creation_year, 2);
}

static void put_counts(const las_job *job, const las_tally *tally, uint8_t *header) {
    const las_plan *plan = &job->plan;
    const uint64_t count = plan->cloud->count;
    const bool legacy = plan->version_minor < 4 || (plan->format < 6 && count <= UINT32_MAX);
    if (legacy) las_put(header + 107, count, 4);
    for (uint32_t r = 0; r < LEGACY_RETURNS && legacy; r++) las_put(header + 111 + 4 * r, tally->returns[r + 1], 4);
    if (plan->version_minor < 4) return;
    las_put(header + 247, count, 8);
    for (uint32_t r = 0; r < RETURNS; r++) las_put(header + 255 + 8 * r, tally->returns[r + 1], 8);
}

static void put_lattice(const las_job *job, const las_tally *tally, uint8_t *header) {
    const las_plan *plan = &job->plan;
    for (int k = 0; k < 3; k++) {
        las_put_f64(header + 131 + 8 * k, plan->scale[k]);
        las_put_f64(header + 155 + 8 * k, plan->offset[k]);
        if (plan->cloud->count == 0) continue;
        const double a = (double)tally->low[k] * plan->scale[k] + plan->offset[k];
        const double b = (double)tally->high[k] * plan->scale[k] + plan->offset[k];
        las_put_f64(header + 179 + 16 * k, fmax(a, b));
        las_put_f64(header + 187 + 16 * k, fmin(a, b));
    }
}

/* Where the waveform packets start, and the extended records in general. */
static void put_extended(const las_job *job, uint8_t *header) {
    const las_records *records = &job->records;
    if (records->behind_count == 0) return;
    if (records->waveforms != 0) {
        const uint64_t before = mote_las_records_bytes(records->behind, records->waveforms - 1, true);
        las_put(header + 227, job->points_end + before, 8);
    }
    if (job->plan.version_minor < 4) return;
    las_put(header + 235, job->points_end, 8);
    las_put(header + 243, records->behind_count, 4);
}

static mote_status write_header(las_job *job) {
    uint8_t header[LAS_HEADER_BYTES_14] = {0};
    las_tally tally;
    clear_tally(&tally);
    for (int i = 0; i < job->ctx->threads; i++) add_tally(&tally, &job->tallies[i]);
    put_origin(job, header);
    las_put(header + 94, job->header_bytes, 2);
    las_put(header + 96, job->points_at, 4);
    las_put(header + 100, job->records.front_count, 4);
    header[104] = job->plan.format;
    las_put(header + 105, job->plan.record_bytes, 2);
    put_lattice(job, &tally, header);
    put_counts(job, &tally, header);
    if (job->plan.version_minor >= 3) put_extended(job, header);
    return mote_output_write_at(job->ctx, &job->output, header, job->header_bytes, 0);
}

/* ---- the file */

static mote_status lay_out(las_job *job) {
    static const uint32_t header_bytes[] = {0, 0, LAS_HEADER_BYTES, LAS_HEADER_BYTES_13, LAS_HEADER_BYTES_14};
    const las_plan *plan = &job->plan;
    job->header_bytes = header_bytes[plan->version_minor];
    job->points_at = job->header_bytes + mote_las_records_bytes(job->records.front, job->records.front_count, false);
    job->points_end = job->points_at + plan->cloud->count * plan->record_bytes;
    if (job->points_at <= UINT32_MAX) return MOTE_OK;
    return mote_fail(job->ctx, MOTE_ERROR_UNSUPPORTED, "%s: the records before the points exceed 4 GB", plan->path);
}

static mote_status write_file(las_job *job) {
    uint64_t at = job->header_bytes;
    MOTE_TRY(mote_las_records_write(job->ctx, &job->output, job->records.front, job->records.front_count, false, &at));
    MOTE_TRY(write_points(job));
    at = job->points_end;
    MOTE_TRY(mote_las_records_write(job->ctx, &job->output, job->records.behind, job->records.behind_count, true, &at));
    return write_header(job);
}

static mote_status prepare(las_job *job, const mote_cloud *cloud, const char *path, const mote_write_params *params) {
    MOTE_TRY(mote_las_plan_make(job->ctx, cloud, params, path, &job->plan));
    MOTE_TRY(mote_las_records_make(job->ctx, &job->plan, &job->records));
    MOTE_TRY(lay_out(job));
    return alloc_blocks(job);
}

mote_status mote_las_write(mote_context *ctx, const mote_cloud *cloud, const char *path,
                           const mote_write_params *params) {
    las_job job;
    memset(&job, 0, sizeof job);
    job.ctx = ctx;
    mote_stage(ctx, "write LAS");
    mote_status status = prepare(&job, cloud, path, params);
    if (status == MOTE_OK) status = mote_output_open(ctx, path, &job.output);
    if (status == MOTE_OK) status = mote_output_close(ctx, &job.output, write_file(&job));
    mote_free(ctx, job.buffers);
    mote_free(ctx, job.tallies);
    mote_las_records_free(ctx, &job.records);
    mote_las_plan_free(ctx, &job.plan);
    mote_stage(ctx, NULL);
    return status;
}
