/* Chunks of a LAZ file to records, on all cores. Each thread takes the next group of chunks; so those before a damaged
   one are always done, and which damage is reported does not depend on the threads. */
#include <inttypes.h>
#include <stdio.h>

#include "io/las/las_upload.h"

#define EXPECTED_GROUPS  4u /* per thread: how far ahead the disk is asked */
#define SCRATCH_BYTES    64u
#define TRUSTED_FACTOR   128u /* files compress to a tenth; a claim far beyond must be proven before memory is taken */
#define TRUSTED_AT_LEAST (1u << 20) /* bytes */

typedef struct decode_job {
    las_source *source;
    las_chunk *chunks;
    uint64_t first, count;
    const laz_selection *selection;
    laz_chunk *results;
    laz_decoder **decoders; /* per thread, made when they are needed */
    las_filter *filter;     /* NULL: all points are kept */
    const uint8_t *base;    /* where the records of the job begin */
    uint64_t *kept;         /* of each chunk, where there is a filter */
    uint8_t *scratch; /* SCRATCH_BYTES per thread, where points go that only are to be counted; NULL: they are kept */
    uint64_t group, done;
    int threads, status;
} decode_job;

/* ---- one group */

/* What decoded without a fault must end where the chunk does. */
static void check_end(const las_chunk *chunk, laz_chunk *result) {
    if (result->fault != NULL || result->points == 0 || chunk->open_end) return;
    if (result->used_bytes == result->size_bytes) return;
    result->fault = "its points end before its bytes do; it must be damaged";
    result->fault_at = result->used_bytes;
}

static void tell_order(const decode_job *job, const laz_chunk *result) {
    if (job->source->streaming == NULL || job->scratch != NULL) return;
    const uint64_t first = (uint64_t)(result->records - job->results[0].records) / job->selection->stride_bytes;
    order_streaming_visit(job->source->streaming, first, result->points);
}

/* Asks for the bytes of chunks that will be decoded soon, here or in the next piece, so that no thread waits for the
   disk. */
static void expect_chunks(const decode_job *job, uint64_t first) {
    const las_chunks *chunks = &job->source->chunks;
    const uint64_t ahead = job->first + first + EXPECTED_GROUPS * (uint64_t)job->threads * job->group;
    for (uint64_t i = ahead; i < chunks->count && i < ahead + job->group; i++) {
        mote_input_expect(job->source->input, chunks->list[i].at, chunks->list[i].at + chunks->list[i].size_bytes);
    }
}

/* Where the chunks of a group go; *part: the buffer, where they are to be uploaded. */
static mote_status place_group(const decode_job *job, uint64_t first, uint64_t count, las_part **part) {
    const uint64_t stride = job->selection->stride_bytes;
    laz_chunk *results = job->results + first;
    *part = NULL;
    for (uint64_t i = 0; i < count && job->scratch != NULL; i++) {
        results[i].records = job->scratch + (uint64_t)mote_thread_number() * SCRATCH_BYTES;
    }
    if (job->source->upload == NULL) return MOTE_OK;
    uint64_t points = 0;
    for (uint64_t i = 0; i < count; i++) points += results[i].points;
    MOTE_TRY(las_upload_take(job->source->upload, job->chunks[first].first * stride, points * stride, part));
    points = 0;
    for (uint64_t i = 0; i < count; points += results[i++].points) {
        results[i].records = (*part)->memory + points * stride;
    }
    return MOTE_OK;
}

static mote_status take_decoder(const decode_job *job, const laz_selection *selection, laz_decoder **decoder) {
    if (*decoder != NULL) return MOTE_OK;
    return mote_laz_decoder_make(job->source->ctx, &job->source->schema, selection, decoder);
}

/* Decodes chunks wholly: those of which a point meets the condition, where that is looked at first. */
static mote_status decode_chunks(decode_job *job, laz_decoder *decoder, laz_chunk *results, uint32_t count) {
    las_filter *filter = job->filter;
    if (filter == NULL || !filter->in_steps) {
        mote_laz_decode(decoder, results, count);
        return MOTE_OK;
    }
    bool meets[LAS_GROUP_CHUNKS] = {false};
    laz_decoder **first = &filter->decoders[mote_thread_number()];
    uint32_t all = 0;
    MOTE_TRY(take_decoder(job, &filter->first, first));
    for (uint32_t i = 0; i < count; i++)
        all += meets[i] = mote_las_filter_meets(job->source, *first, job->base, &results[i]);
    if (all == count) mote_laz_decode(decoder, results, count); /* two at once are faster */
    for (uint32_t i = 0; i < count && all < count; i++) {
        if (meets[i]) mote_laz_decode(decoder, &results[i], 1);
    }
    return MOTE_OK;
}

static mote_status decode_group(decode_job *job, uint64_t first) {
    expect_chunks(job, first);
    laz_decoder **decoder = &job->decoders[mote_thread_number()];
    las_upload *upload = job->source->upload;
    las_part *part;
    MOTE_TRY(take_decoder(job, job->selection, decoder));
    const uint64_t remaining = job->count - first, count = remaining < job->group ? remaining : job->group;
    laz_chunk *results = job->results + first;
    MOTE_TRY(place_group(job, first, count, &part));
    MOTE_TRY(decode_chunks(job, *decoder, results, (uint32_t)count));
    mote_status status = MOTE_OK;
    for (uint64_t i = 0; i < count; i++) {
        check_end(&job->chunks[first + i], &results[i]);
        if (results[i].fault != NULL && (upload != NULL || !job->source->salvage)) status = MOTE_ERROR_DATA;
        if (results[i].fault == NULL) tell_order(job, &results[i]);
        if (results[i].fault != NULL || job->filter == NULL) continue;
        job->kept[first + i] = mote_las_filter_chunk(job->source, job->base, &results[i], results[i].points);
    }
    if (part != NULL) las_upload_give(upload, part);
    return status;
}

/* Notes how group g ended; what comes behind the first failed one need not be decoded. */
static void note_failure(decode_job *job, int64_t g, mote_status status, int64_t *last) {
    if (status != MOTE_ERROR_DATA && job->source->upload != NULL) las_upload_stop(job->source->upload, status);
#pragma omp critical(mote_las_decode)
    {
        if (status != MOTE_ERROR_DATA) job->status = (int)status;
        if (job->status == MOTE_OK) job->status = (int)status;
        int64_t stop = status == MOTE_ERROR_DATA ? g : -1;
        stop = stop < *last ? stop : *last;
#pragma omp atomic write
        *last = stop; /* others look at it meanwhile */
    }
}

/* The caller's thread tells progress and serves the upload between its groups: others may not call back. */
static mote_status attend(decode_job *job) {
    uint64_t done;
#pragma omp atomic read
    done = job->done;
    const double all = (double)job->source->chunks.count;
    const char *stage = job->scratch != NULL ? "checking LAZ" : "reading LAZ";
    MOTE_TRY(mote_progress(job->source->ctx, job->scratch != NULL ? 0 : (double)(job->first + done) / all, stage));
    return job->source->upload != NULL ? las_upload_serve(job->source->upload) : MOTE_OK;
}

static void decode_all(decode_job *job) {
    const int64_t groups = (int64_t)((job->count + job->group - 1) / job->group);
    int64_t last = groups;
#pragma omp parallel num_threads(job->threads) shared(last)
    {
        mote_status status = MOTE_OK;
#pragma omp for schedule(dynamic, 1) nowait
        for (int64_t g = 0; g < groups; g++) {
            int64_t stop;
#pragma omp atomic read
            stop = last;
            if (g > stop) continue;
            status = decode_group(job, (uint64_t)g * job->group);
            const uint64_t remaining = job->count - (uint64_t)g * job->group;
#pragma omp atomic update
            job->done += remaining < job->group ? remaining : job->group;
            if (status == MOTE_OK && mote_thread_number() == 0) status = attend(job);
            if (status != MOTE_OK) note_failure(job, g, status, &last);
        }
        status = job->source->upload != NULL ? las_upload_leave(job->source->upload) : MOTE_OK;
        if (status != MOTE_OK) note_failure(job, groups, status, &last);
    }
}

/* ---- what became of them */

static mote_status report_fault(const las_source *source, const las_chunk *chunk, const laz_chunk *result) {
    return mote_malformed(source->ctx, source->input, chunk->at + result->fault_at,
                          "chunk %" PRIu64 " of %" PRIu64 ", point %" PRIu64 ": %s" MOTE_SALVAGE_HINT, chunk->number,
                          source->chunks.in_file, chunk->first + result->done + 1, result->fault);
}

/* Leaves out what is damaged: the whole chunk, for nothing tells from where on its points are wrong, unless the file
   ends there, for then all before the end are right. */
static void leave_out(decode_job *job, las_losses *losses) {
    for (uint64_t i = 0; i < job->count; i++) {
        las_chunk *chunk = &job->chunks[i];
        const laz_chunk *result = &job->results[i];
        if (result->fault == NULL) continue;
        const uint64_t kept = chunk->cut ? result->done : 0;
        const size_t length = strlen(losses->numbers);
        if (losses->chunks++ == 0) {
            snprintf(losses->why, sizeof losses->why, "offset %" PRIu64 ", point %" PRIu64 ": %s",
                     chunk->at + result->fault_at, chunk->first + result->done + 1, result->fault);
        }
        losses->more = losses->more || length + 24 > sizeof losses->numbers;
        if (!losses->more) {
            snprintf(losses->numbers + length, sizeof losses->numbers - length, "%s%" PRIu64, length > 0 ? ", " : "",
                     chunk->number);
        }
        losses->points += chunk->points - kept;
        chunk->points = kept;
        if (job->filter != NULL) job->kept[i] = mote_las_filter_chunk(job->source, job->base, result, kept);
        if (chunk->mended != NULL) las_put(job->source->chunks.mended + job->source->schema.record_bytes, kept, 4);
    }
}

/* Moves the records of the chunks together; returns how many there are. */
static uint64_t close_gaps(const decode_job *job, uint8_t *records) {
    const uint64_t stride = job->selection->stride_bytes;
    uint64_t points = 0;
    for (uint64_t i = 0; i < job->count; i++) {
        uint8_t *to = records + points * stride;
        const uint64_t count = job->kept != NULL ? job->kept[i] : job->chunks[i].points;
        if (job->kept != NULL) job->filter->left_out += job->chunks[i].points - count;
        if (to != job->results[i].records && count > 0) memmove(to, job->results[i].records, count * stride);
        points += count;
    }
    return points;
}

static mote_status settle(decode_job *job, las_losses *losses) {
    if (job->status != MOTE_OK && job->status != MOTE_ERROR_DATA) return (mote_status)job->status;
    if (job->source->salvage && job->source->upload != NULL) return (mote_status)job->status;
    if (job->source->salvage) {
        leave_out(job, losses);
        return MOTE_OK;
    }
    for (uint64_t i = 0; i < job->count && job->status == MOTE_ERROR_DATA; i++) {
        if (job->results[i].fault != NULL) return report_fault(job->source, &job->chunks[i], &job->results[i]);
    }
    return MOTE_OK;
}

/* ---- the job */

static bool prepare(decode_job *job, uint8_t *records) {
    mote_context *ctx = job->source->ctx;
    const uint64_t threads = (uint64_t)ctx->threads;
    const uint64_t stride = job->selection->stride_bytes;
    job->group = job->count >= LAS_GROUP_CHUNKS * threads ? LAS_GROUP_CHUNKS : 1;
    const uint64_t groups = (job->count + job->group - 1) / job->group;
    job->threads = groups < threads ? (int)groups : ctx->threads;
    job->threads = job->threads > 0 ? job->threads : 1;
    job->results = mote_alloc_zero(ctx, job->count * sizeof *job->results, "LAZ chunks");
    const bool counted_only = records == NULL && job->source->upload == NULL;
    if (job->filter != NULL) job->kept = mote_alloc_zero(ctx, job->count * sizeof *job->kept, "LAZ chunks");
    if (job->filter != NULL && job->kept == NULL) return false;
    if (counted_only) job->scratch = mote_alloc_zero(ctx, threads * SCRATCH_BYTES, "LAZ chunks");
    if (job->results == NULL || (counted_only && job->scratch == NULL)) return false;
    for (uint64_t i = 0; i < job->count; i++) {
        const las_chunk *chunk = &job->chunks[i];
        job->results[i].data = chunk->mended != NULL ? chunk->mended : job->source->input->data + chunk->at;
        job->results[i].size_bytes = chunk->size_bytes;
        job->results[i].points = chunk->points;
        job->results[i].records = records;
        if (records != NULL) records += chunk->points * stride;
    }
    return true;
}

static laz_decoder **make_decoders(mote_context *ctx) {
    return mote_alloc_zero(ctx, (uint64_t)ctx->threads * sizeof(laz_decoder *), "LAZ chunks");
}

void mote_las_free_decoders(mote_context *ctx, laz_decoder **decoders) {
    for (int t = 0; t < ctx->threads && decoders != NULL; t++) mote_laz_decoder_free(ctx, decoders[t]);
    mote_free(ctx, decoders);
}

/* records NULL: the points are uploaded, or only counted. */
static mote_status run(decode_job *job, uint8_t *records, uint64_t *points, las_losses *losses) {
    mote_status status = MOTE_ERROR_MEMORY;
    if (job->decoders != NULL && prepare(job, records)) {
        decode_all(job);
        status = settle(job, losses);
    }
    if (status == MOTE_OK && records != NULL) *points = close_gaps(job, records);
    mote_free(job->source->ctx, job->kept);
    mote_free(job->source->ctx, job->scratch);
    mote_free(job->source->ctx, job->results);
    return status;
}

mote_status mote_las_decode(las_source *source, uint64_t first, uint64_t count, uint8_t *records, uint64_t *points,
                            las_losses *losses) {
    decode_job job = {.source = source, .first = first, .count = count, .selection = &source->selection};
    *points = 0;
    if (count == 0) return MOTE_OK;
    if (source->decoders == NULL) source->decoders = make_decoders(source->ctx);
    job.chunks = source->chunks.list + first;
    job.decoders = source->decoders;
    if (source->filter != NULL && records != NULL) {
        job.filter = source->filter;
        job.base = records;
        if (job.filter->decoders == NULL) job.filter->decoders = make_decoders(source->ctx);
        if (job.filter->decoders == NULL) return MOTE_ERROR_MEMORY;
        MOTE_TRY(mote_las_filter_settle(source, records));
    }
    return run(&job, records, points, losses);
}

mote_status mote_las_decode_away(las_source *source) {
    uint64_t points;
    return mote_las_decode(source, 0, source->chunks.count, NULL, &points, NULL);
}

mote_status mote_las_prove_chunks(las_source *source, uint64_t points, las_losses *losses) {
    /* Every point to the same byte. */
    const laz_selection nothing = {.wanted = LAZ_WANT_ALL, .run_count = 1, .runs = {{0, 0, 1}}};
    const uint64_t trusted = TRUSTED_AT_LEAST + TRUSTED_FACTOR * source->input->size_bytes;
    las_chunks *chunks = &source->chunks;
    if (points <= trusted / source->selection.stride_bytes) return MOTE_OK;
    decode_job job = {.source = source, .count = chunks->count, .selection = &nothing, .chunks = chunks->list};
    job.decoders = make_decoders(source->ctx);
    const mote_status status = run(&job, NULL, NULL, losses);
    mote_las_free_decoders(source->ctx, job.decoders);
    chunks->points = 0;
    for (uint64_t i = 0; i < chunks->count; i++) chunks->points += chunks->list[i].points;
    return status;
}

mote_status mote_las_report_losses(const las_source *source, const las_losses *losses, uint64_t kept) {
    if (losses->chunks == 0) return MOTE_OK;
    if (kept == 0) {
        return mote_fail(source->ctx, MOTE_ERROR_DATA, "%s: %s; nothing is left to be salvaged", source->input->path,
                         losses->why);
    }
    mote_warn(source->ctx,
              "%s: %" PRIu64 " points are lost with %" PRIu64 " damaged chunks of %" PRIu64 " (%s%s); the first: %s",
              source->input->path, losses->points, losses->chunks, source->chunks.in_file, losses->numbers,
              losses->more ? ", …" : "", losses->why);
    return MOTE_OK;
}
