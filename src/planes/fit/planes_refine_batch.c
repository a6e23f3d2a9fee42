/* Refinement of all peaks, the most votes first: in batches, whose peaks are refined side by side, each batch without
   the points that planes of those before have taken. */
#include <stdlib.h>

#include "planes/fit/planes_refine.h"

#define FIRST_BATCH  16u    /* peaks side by side */
#define LARGE_SAMPLE 65536u /* of which a large batch would look at too many points in vain */

static planes_plane plane_of(const refine_job *job, const planes_candidate *c) {
    return planes_plane_from(&c->fit, job->how->tolerance, job->how->guard, job->how->cone);
}

/* Refines starts side by side.
   refined  [count] out */
static void refine_all(refine_job *job, const planes_start *starts, uint32_t count, planes_candidate *refined) {
    refine_drop_claimed(job);
#pragma omp parallel for schedule(dynamic) num_threads(job->threads) if (count > 1)
    for (int64_t i = 0; i < (int64_t)count; i++) {
        memset(&refined[i], 0, sizeof refined[i]);
        refined[i].fit = refine_peak(job, &starts[i], refine_pool(job));
        refined[i].votes = starts[i].votes;
        const planes_plane plane = plane_of(job, &refined[i]);
        if (refined[i].fit.valid) refine_count(job, &plane, &refined[i]);
    }
}

/* The order in which candidates are tried; those of a batch lie one behind the other. */
static int compare_candidates(const void *first, const void *second) {
    const planes_candidate *a = first, *b = second;
    if (a->count != b->count) return a->count > b->count ? -1 : 1;
    if (a->votes != b->votes) return a->votes > b->votes ? -1 : 1;
    return a->fit.offset != b->fit.offset ? a->fit.offset < b->fit.offset ? -1 : 1 : 0;
}

/* Accepts what stands of a batch, each without the points of those before it. */
static void accept_batch(const refine_job *job, planes_candidate *batch, uint32_t count, planes_candidate *accepted,
                         uint32_t *found) {
    const uint32_t before = *found;
    qsort(batch, count, sizeof *batch, compare_candidates);
    for (uint32_t i = 0; i < count && *found < job->how->max; i++) {
        planes_candidate *c = &batch[i];
        if (!c->fit.valid || c->count < job->how->min) continue; /* points only get fewer */
        const planes_plane plane = plane_of(job, c);
        if (*found > before) refine_count(job, &plane, c);
        if (!planes_stands(c->count, c->inner, c->in_bands[0], c->in_bands[1], job->how->min, job->how->peaked)) {
            continue;
        }
        refine_claim(job, &plane);
        accepted[(*found)++] = *c;
    }
}

/* Where the batch ends that begins there. */
static uint32_t end_of_batch(const refine_job *job, uint32_t first, uint32_t count) {
    const uint32_t size = first < FIRST_BATCH || job->sample.count > LARGE_SAMPLE ? FIRST_BATCH : 2 * first;
    return size < count - first ? first + size : count;
}

/* After a batch of which nothing stands, points are as free as before: all the others are refined side by side, and
   those behind a batch of which something stands once more. */
mote_status planes_refine(planes_run *run, const planes_refining *how, const planes_start *starts, uint32_t count,
                          planes_candidate *accepted, uint32_t *found) {
    planes_candidate refined[PLANES_MAX_PEAKS];
    uint32_t first = 0;
    refine_job job;
    bool idle = false;
    *found = 0;
    const mote_status status = refine_open(&job, run, how);
    while (first < count && status == MOTE_OK && *found < how->max) {
        const uint32_t begin = first, before = *found;
        const uint32_t end = idle && job.sample.count <= LARGE_SAMPLE ? count : end_of_batch(&job, first, count);
        refine_all(&job, starts + begin, end - begin, refined);
        while (first < end && *found == before) {
            const uint32_t batch = first;
            first = end_of_batch(&job, first, end);
            accept_batch(&job, refined + (batch - begin), first - batch, accepted, found);
        }
        idle = *found == before;
    }
    refine_close(&job);
    return status;
}
