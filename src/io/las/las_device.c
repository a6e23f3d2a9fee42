/* Reads points of LAS and LAZ into the memory of a GPU, piece by piece, on all cores. */
#include "backend/backend.h"
#include "io/las/las_upload.h"

/* ---- bytes as they are */

typedef struct read_job {
    las_source *source;
    las_upload *upload;
    uint64_t first; /* byte of the file */
    uint64_t block_bytes, size_bytes, done_bytes;
    int status;
} read_job;

static mote_status read_block(read_job *job, uint64_t at) {
    const uint64_t left = job->size_bytes - at, size = left < job->block_bytes ? left : job->block_bytes;
    const las_source *source = job->source;
    las_part *part;
    MOTE_TRY(las_upload_take(job->upload, at, size, &part));
    const mote_status status = mote_input_copy(source->ctx, source->input, job->first + at, size, part->memory);
    las_upload_give(job->upload, part);
    MOTE_TRY(status);
#pragma omp atomic update
    job->done_bytes += size;
    if (mote_thread_number() != 0) return MOTE_OK;
    uint64_t done;
#pragma omp atomic read
    done = job->done_bytes;
    const char *doing = source->header.compressed ? "reading LAZ" : "reading LAS";
    MOTE_TRY(mote_progress(source->ctx, (double)done / (double)job->size_bytes, doing));
    return las_upload_serve(job->upload);
}

static void read_blocks(read_job *job) {
    const int64_t blocks = (int64_t)((job->size_bytes + job->block_bytes - 1) / job->block_bytes);
#pragma omp parallel num_threads(job->source->ctx->threads < blocks ? job->source->ctx->threads : (int)blocks)
    {
#pragma omp for schedule(dynamic, 1) nowait
        for (int64_t b = 0; b < blocks; b++) {
            int failed;
#pragma omp atomic read
            failed = job->status;
            if (failed != MOTE_OK) continue;
            failed = (int)read_block(job, (uint64_t)b * job->block_bytes);
            if (failed == MOTE_OK) continue;
            las_upload_stop(job->upload, (mote_status)failed);
#pragma omp atomic write
            job->status = failed;
        }
        const mote_status status = las_upload_leave(job->upload);
        if (status != MOTE_OK) {
#pragma omp atomic write
            job->status = (int)status;
        }
    }
}

mote_status mote_las_upload_bytes(las_source *source, las_upload *upload, uint64_t first, uint64_t size_bytes) {
    read_job job = {.source = source, .upload = upload, .first = first, .size_bytes = size_bytes};
    job.block_bytes = upload->part_bytes;
    MOTE_TRY(las_upload_ready(upload)); /* what is in the file needs no other place to wait for the GPU */
    read_blocks(&job);
    return (mote_status)job.status;
}

/* ---- either */

/* What a thread decodes at once. */
static uint64_t largest_group(const las_source *source) {
    uint64_t points = 0;
    for (uint64_t i = 0; i < source->chunks.count; i++) {
        points = source->chunks.list[i].points > points ? source->chunks.list[i].points : points;
    }
    return LAS_GROUP_CHUNKS * points * source->selection.stride_bytes;
}

static mote_status fill(las_source *source, las_upload *upload) {
    if (!source->header.compressed)
        return mote_las_upload_bytes(source, upload, source->header.points_at, upload->size_bytes);
    if (mote_backend_is_awake(source->ctx)) MOTE_TRY(las_upload_ready(upload));
    source->upload = upload;
    const mote_status status = mote_las_decode_away(source);
    source->upload = NULL;
    return status;
}

/* Whether all points stand where the list of chunks says: not if damaged ones were left out. */
static bool is_whole(const las_source *source) {
    const las_chunks *chunks = &source->chunks;
    if (!source->header.compressed) return true;
    const las_chunk *last = &chunks->list[chunks->count - 1];
    return last->first + last->points == source->cloud->count && chunks->points == source->cloud->count;
}

static mote_status place(las_source *source, uint8_t *device) {
    MOTE_TRY(mote_cloud_adopt_device(source->cloud, device));
    mote_las_place_columns(source, device);
    source->cloud->on_device = true;
    return MOTE_OK;
}

/* Plain records are copied as they are, whatever was selected. */
static void select_all(las_source *source) {
    memset(&source->selection, 0, sizeof source->selection);
    source->selection.wanted = LAZ_WANT_ALL;
    source->selection.stride_bytes = source->header.point_bytes;
}

/* Fills new memory of the device with all points. */
static mote_status upload_points(las_source *source, las_upload *upload, uint8_t **device) {
    mote_stage(source->ctx, upload->stage);
    mote_status status = fill(source, upload);
    if (status == MOTE_OK) status = las_upload_finish(upload, device);
    mote_stage(source->ctx, NULL);
    return status;
}

mote_status mote_las_to_device(las_source *source, const las_upload_limits *limits, bool *done) {
    mote_context *ctx = source->ctx;
    const uint64_t points = source->cloud->count;
    const mote_status before = mote_context_status(ctx);
    const bool compressed = source->header.compressed;
    las_upload upload;
    uint8_t *device = NULL;
    *done = false;
    if (points == 0 || !is_whole(source) || !mote_backend_wake(ctx, points)) return MOTE_OK;
    if (compressed && mote_las_suits_device(source, limits)) {
        bool on_host = false;
        MOTE_TRY(mote_las_decode_on_device(source, limits, &device, &on_host));
        *done = device != NULL;
        if (*done) return place(source, device);
        if (on_host) return MOTE_OK;
    }
    if (!compressed) select_all(source);
    const uint64_t size_bytes = points * source->selection.stride_bytes;
    const uint64_t part_bytes = compressed ? largest_group(source) : limits->block;
    mote_status status = las_upload_open(ctx, points, size_bytes, part_bytes, limits, &upload);
    upload.stage = compressed ? "read LAZ" : "read LAS";
    if (status == MOTE_OK) status = upload_points(source, &upload, &device);
    las_upload_close(&upload);
    *done = status == MOTE_OK;
    if (*done) return place(source, device);
    /* Nobody failed, but there is no such GPU, or something is to be salvaged. */
    const bool on_host = upload.declined || (status == MOTE_ERROR_DATA && source->salvage);
    return on_host && mote_context_status(ctx) == before ? MOTE_OK : status;
}
