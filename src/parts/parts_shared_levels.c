/* Sampling by distance of a plan. Which points a level takes follows from those of all parts (parts_distance.c), so it
   is the plan that chooses: it has brought the records of all parts beside each other in the shared file, from which
   lists are made as one process makes them, in scratch files that have no names. What is chosen, a byte of each listed
   point, follows behind the records and copies:

     OUT.parts/shared    │ records of 1 │ of 2 │ of 3 │ copies, if any │ chosen of 1 │ of 2 │ of 3 │ */
#include <mote_have.h>

#include "parts/parts_job.h"

#if MOTE_HAVE_JANSSON

static mote_status add_levels(parts_run *run, uint32_t part, uint64_t at) {
    parts_levels *chosen = &run->ranges[part].chosen;
    uint8_t *levels = NULL;
    potree_hash sum = potree_hash_begin();
    mote_status status = parts_distance_load(run, part, &levels, &chosen->count);
    chosen->at = at;
    if (status == MOTE_OK) {
        potree_hash_add(&sum, levels, chosen->count);
        status = mote_output_write_at(run->ctx, &run->scratch, levels, chosen->count, at);
    }
    chosen->hash = potree_hash_end(&sum);
    mote_free(run->ctx, levels);
    return status;
}

/* The records of all parts, as the walk has left them. */
static mote_status choose(parts_run *run, const parts_job *job) {
    uint64_t end = run->around_bytes;
    for (uint32_t p = 0; p < run->part_count; p++) {
        const parts_range *range = &run->ranges[p];
        if (range->shared.at != range->at || range->shared.points != range->points) return parts_changed(run);
        end += range->points * run->record_bytes;
    }
    run->scratch_file = run->scratch.file;
    run->scratch_path = run->scratch.path;
    MOTE_TRY(parts_distance_begin(run, job->output));
    MOTE_TRY(parts_distance_choose(run));
    output_map_close(run->ctx, run->scratch.map); /* of the records alone */
    run->scratch.map = NULL;
    for (uint32_t p = 0; p < run->part_count; p++) {
        MOTE_TRY(add_levels(run, p, end));
        end += run->ranges[p].chosen.count;
    }
    return MOTE_OK;
}

mote_status parts_shared_choose(parts_run *run, const parts_job *job) {
    if (!parts_is_by_distance(run) || run->scratch.file < 0) return MOTE_OK; /* or there are no points */
    const mote_status status = choose(run, job);
    parts_distance_end(run);
    run->scratch_file = -1;
    return status;
}
#endif
