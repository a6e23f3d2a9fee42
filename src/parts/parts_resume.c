/* The same in one process, of which each step that is done is kept: a plan, the records of all parts beside each
   other, the files of each part. A run that is killed anywhere is gone on with from the last of them.

     OUT.parts/   lock         held while a run is at work; it stays after a kill, and is nobody's then
                  plan.json    when records are distributed: what is asked for, and found
                  scratch      the records, a part behind the other, and copies of those that averages of others look
                               at; complete where it is there
                  distance…    what sampling by distance has done: parts_distance.h
                  N.octree, N.json */
#define _GNU_SOURCE /* O_CLOEXEC */
#include <fcntl.h>
#include <mote_have.h>
#include <sys/stat.h>
#include <unistd.h>

#include "parts/parts_job.h"

#if MOTE_HAVE_JANSSON
#include <jansson.h>

/* ---- what is there */

static bool is_complete(const char *path, uint64_t size_bytes) {
    struct stat info;
    return path != NULL && stat(path, &info) == 0 && S_ISREG(info.st_mode) && (uint64_t)info.st_size == size_bytes;
}

/* begin_bytes: that were taken before */
static bool fits(const parts_run *run, const mote_parts_params *params, uint64_t begin_bytes) {
    const uint64_t room = params->memory_bytes > 0 ? params->memory_bytes : run->ctx->params.memory_limit_bytes;
    bool fits = true;
    for (uint32_t p = 0; p < run->part_count && room > 0; p++) {
        fits = fits && begin_bytes + run->workers * parts_part_bytes(run, p) <= room;
    }
    return fits;
}

/* Takes up what a run before has left, if it asked for the same of the same files; *found false: there is none, and
   what is wrong with what is there is nobody's concern, as it is made anew. */
static mote_status take_up(parts_run *run, parts_job *job, const mote_parts_params *params, const char *plan,
                           bool *found) {
    mote_context *ctx = run->ctx;
    parts_run before;
    parts_job old = {.ctx = NULL};
    mote_parts_report report;
    struct stat info;
    *found = false;
    if (stat(plan, &info) != 0) return MOTE_OK;
    parts_start(ctx, &report, &before);
    mote_status status = parts_job_read(&before, &old, plan);
    before.workers = parts_workers(ctx, params);
    while (before.workers > 1 && !fits(&before, params, run->begin_bytes)) before.workers--;
    const bool is_same = status == MOTE_OK && fits(&before, params, run->begin_bytes) &&
                         json_equal(json_object_get(old.json, "request"), json_object_get(job->json, "request"));
    if (is_same) {
        before.report = run->report;
        before.potree.origin = run->potree.origin;
        before.share_bytes = (parts_room(ctx, params) - run->begin_bytes) / before.workers;
        before.begin_bytes = run->begin_bytes;
        parts_take_room(&before, params);
        parts_close(run);
        *run = before;
        parts_job_close(job);
        *job = old;
        *found = true;
        return MOTE_OK;
    }
    parts_close(&before);
    parts_job_close(&old);
    if (status == MOTE_OK || status == MOTE_ERROR_MEMORY || status == MOTE_CANCELLED) return status;
    mote_context_clear(ctx);
    return MOTE_OK;
}

/* ---- making it */

/* Bytes of the scratch file. */
static uint64_t scratch_bytes(const parts_run *run) {
    uint64_t points = run->points - run->skipped;
    for (uint32_t p = 0; p < run->part_count; p++) points += run->ranges[p].copies.points;
    return points * run->record_bytes;
}

/* Which cells parts look at is in no plan, as nobody asks once copies of their points are made. */
static mote_status count_again(parts_run *run) {
    if (!parts_looks_around(run)) return MOTE_OK;
    MOTE_TRY(parts_count(run));
    return parts_place_ranges(run);
}

static void forget_counts(parts_run *run) {
    parts_around_end(run);
    mote_free(run->ctx, run->first);
    mote_free(run->ctx, run->part_of);
    run->first = NULL;
    run->part_of = NULL;
}

/* Counts and distributes, and says that this is done: by the plan where there was none, else by the file itself. */
static mote_status distribute(parts_run *run, parts_job *job, const mote_parts_params *params, const char *plan,
                              bool found) {
    double begin = mote_seconds();
    MOTE_TRY(found ? count_again(run) : parts_find_ranges(run, params));
    if (!found && run->is_copc) MOTE_TRY(parts_copc_begin(run, job->output));
    run->report->count_seconds = mote_seconds() - begin;
    begin = mote_seconds();
    MOTE_TRY(mote_output_open(run->ctx, run->scratch_path, &run->scratch));
    run->scratch.is_part = true;
    MOTE_TRY(parts_around_begin(run));
    MOTE_TRY(parts_distribute(run));
    parts_source_rest(&run->source);
    forget_counts(run);
    MOTE_TRY(mote_output_close(run->ctx, &run->scratch, MOTE_OK));
    run->report->distribute_seconds = mote_seconds() - begin;
    return found ? MOTE_OK : parts_job_write(run, job, plan, true);
}

static mote_status load_from_scratch(parts_run *run, const parts_job *job, uint32_t part, parts_material *material) {
    (void)job;
    return parts_material_load(run, part, material);
}

/* Finds which parts are there, and how many. */
static mote_status look_at_parts(parts_run *run, const parts_job *job, bool *made, uint32_t *count) {
    *count = 0;
    mote_stage(run->ctx, "read parts");
    for (uint32_t p = 0; p < run->part_count; p++) {
        MOTE_TRY(parts_part_is_made(run, job, p, &made[p]));
        *count += made[p];
    }
    return MOTE_OK;
}

/* Makes a worker's part. user: the job */
static mote_status make_part(parts_run *run, void *user, uint32_t part, bool *lacks_fine) {
    parts_job own = *(const parts_job *)user;
    own.ctx = run->ctx;
    return parts_job_make(run, &own, part, load_from_scratch, lacks_fine);
}

/* Samples by distance, if that is asked for, before the first part is made; what a run before has done of it is kept.
 */
static mote_status choose_by_distance(parts_run *run, const parts_job *job) {
    run->kept_folder = job->folder;
    run->kept_id = job->hash;
    MOTE_TRY(parts_distance_begin(run, job->output));
    MOTE_TRY(parts_distance_choose(run));
    return run->distance != NULL && run->fine ? parts_job_ask_fine(job) : MOTE_OK;
}

/* Makes all rounds of parts, whose records are distributed. */
static mote_status make_rounds(parts_run *run, parts_job *job, bool *made) {
    bool lacks_fine = false;
    const double begin = mote_seconds();
    run->scratch_file = open(run->scratch_path, O_RDONLY | O_CLOEXEC);
    if (run->scratch_file < 0) return mote_system_error(run->ctx, run->scratch_path, "open");
    mote_status status = choose_by_distance(run, job);
    if (status == MOTE_OK) status = parts_make_all(run, make_part, job, made, &lacks_fine);
    if (status == MOTE_OK && lacks_fine) {
        status = parts_job_ask_fine(job);
        parts_choose_by(run, true);
        memset(made, 0, run->part_count * sizeof *made);
        run->report->resumed_parts = 0;
        if (status == MOTE_OK) status = parts_make_all(run, make_part, job, made, &lacks_fine);
    }
    close(run->scratch_file);
    run->scratch_file = -1;
    run->report->build_seconds = mote_seconds() - begin;
    return status;
}

/* found: the plan is one that a run before has left */
static mote_status go_on(parts_run *run, parts_job *job, const mote_parts_params *params, const char *plan, bool found,
                         bool **made) {
    uint32_t count = 0;
    if (!found) MOTE_TRY(distribute(run, job, params, plan, false));
    if (found && run->is_copc) MOTE_TRY(parts_copc_begin(run, job->output));
    MOTE_TRY(parts_make_lists(run));
    *made = mote_alloc_zero(run->ctx, run->part_count * sizeof **made, "parts");
    if (*made == NULL) return MOTE_ERROR_MEMORY;
    MOTE_TRY(parts_job_choose(run, job));
    if (found) MOTE_TRY(look_at_parts(run, job, *made, &count));
    run->report->resumed_parts = count;
    if (count < run->part_count) {
        const bool is_there = is_complete(run->scratch_path, scratch_bytes(run));
        if (!is_there) MOTE_TRY(distribute(run, job, params, plan, found));
        MOTE_TRY(make_rounds(run, job, *made));
        unlink(run->scratch_path); /* whoever goes on finds all parts */
        parts_distance_forget(run);
    }
    return parts_job_merge(run, job, false);
}

static mote_status make_all(parts_run *run, parts_job *job, const mote_parts_params *params, const char *plan,
                            const char *scratch) {
    bool found, *made = NULL;
    MOTE_TRY(take_up(run, job, params, plan, &found));
    if (!found) MOTE_TRY(parts_job_check_folder(job));
    if (!found) parts_job_clean(job);
    run->scratch_path = scratch;
    const mote_status status = go_on(run, job, params, plan, found, &made);
    mote_free(run->ctx, made);
    return status;
}

mote_status parts_resume(parts_run *run, const char *output, const mote_parts_params *params) {
    mote_context *ctx = run->ctx;
    parts_job job = {.ctx = NULL};
    int lock = -1;
    mote_status status = parts_job_begin(run, output, &job);
    if (status == MOTE_OK) status = parts_job_lock(&job, &lock);
    if (status == MOTE_OK) status = parts_job_ask(run, &job);
    char *plan = status == MOTE_OK ? parts_job_path(&job, "plan.json") : NULL;
    char *scratch = status == MOTE_OK ? parts_job_path(&job, "scratch") : NULL;
    if (status == MOTE_OK && (plan == NULL || scratch == NULL)) status = MOTE_ERROR_MEMORY;
    if (status == MOTE_OK) status = make_all(run, &job, params, plan, scratch);
    parts_distance_end(run);
    run->kept_folder = NULL;
    parts_job_unlock(&job, lock);
    mote_free(ctx, plan);
    mote_free(ctx, scratch);
    parts_job_close(&job);
    return status;
}

#else

mote_status parts_resume(parts_run *run, const char *output, const mote_parts_params *params) {
    (void)output, (void)params;
    return mote_fail(run->ctx, MOTE_ERROR_UNSUPPORTED, POTREE_NO_JANSSON);
}
#endif
