/* A part of a COPC file: its octree becomes chunks, in a scratch file beside the output. */
#define _GNU_SOURCE /* F_DUPFD_CLOEXEC */
#include <fcntl.h>
#include <unistd.h>

#include "parts/parts.h"

/* The records of a part, behind each of which its number is. */
typedef struct part_records {
    const parts_run *run;
    const uint8_t *first;
} part_records;

static uint64_t number_of(const void *user, uint32_t index) {
    const part_records *records = user;
    return parts_number_of(records->run, records->first + index * records->run->record_bytes);
}

/* From here on what a worker has made of a part is the run's. */
static void take_part(parts_results *results, mote_context *worker, uint32_t part, const copc_part *made, int file) {
    parts_run *run = results->run;
    pthread_mutex_lock(&results->lock);
    mote_hand_over(worker, run->ctx, made->nodes);
    mote_hand_over(worker, run->ctx, made->places);
    run->chunks[part] = *made;
    run->files[part] = file;
    pthread_mutex_unlock(&results->lock);
}

mote_status parts_copc_encode(parts_run *run, const mote_lod *lod, uint32_t part, mote_output *to, copc_part *made) {
    const mote_cloud *cloud = mote_lod_cloud(lod);
    const uint8_t *first = (const uint8_t *)cloud->columns[0].data - run->source.column_at[0];
    const part_records records = {run, first};
    const copc_range range = {&run->ranges[part].whole, number_of, &records};
    MOTE_TRY(mote_lod_fetch(run->ctx, (mote_lod *)lod));
    return mote_copc_part_write(run->ctx, parts_copc_job(run), lod, &range, to, made);
}

mote_status parts_copc_write(parts_run *run, parts_results *results, const mote_lod *lod, uint32_t part) {
    mote_output to;
    copc_part made;
    int file = -1;
    memset(&made, 0, sizeof made);
    mote_stage(run->ctx, "write part");
    MOTE_TRY(parts_open_scratch(run, parts_copc_job(run)->plan.path, &to));
    mote_status status = parts_copc_encode(run, lod, part, &to, &made);
    if (status == MOTE_OK) {
        file = fcntl(to.file, F_DUPFD_CLOEXEC, 0);
        if (file < 0) status = mote_system_error(run->ctx, to.path, "open once more");
    }
    mote_output_close(run->ctx, &to, MOTE_CANCELLED); /* it has no name to take */
    take_part(results, run->ctx, part, &made, file);
    return status;
}
