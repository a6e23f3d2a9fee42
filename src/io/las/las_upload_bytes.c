/* Bytes of a LAS or LAZ file on their way to a GPU as they are: read in blocks, on all cores. */
#include "io/las/las_upload.h"

typedef struct read_job {
    las_source *source;
    las_upload *upload;
    uint64_t first; /* byte of the file */
    uint64_t block_bytes, size_bytes, done_bytes;
    int status;
} read_job;

static mote_status read_block(read_job *job, uint64_t at) {
    const uint64_t remaining = job->size_bytes - at, size = remaining < job->block_bytes ? remaining : job->block_bytes;
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
