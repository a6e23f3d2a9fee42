/* Work on all parts, several at once, where the context has several GPUs or the caller wants so. */
#include <math.h>

#include "device/team.h"
#include "parts/parts.h"

typedef struct parts_turn {
    parts_run *run;
    parts_maker make;
    void *user;
    const bool *done;
    bool lacks_fine; /* atomic: some part does */
} parts_turn;

/* A worker has the run in its own context; what it finds goes to places of the part alone. */
static mote_status make_item(void *user, mote_context *worker, uint32_t part) {
    parts_turn *turn = user;
    parts_run own = *turn->run;
    bool lacks_fine = __atomic_load_n(&turn->lacks_fine, __ATOMIC_RELAXED);
    if (lacks_fine || (turn->done != NULL && turn->done[part])) return MOTE_OK;
    own.ctx = worker;
    MOTE_TRY(turn->make(&own, turn->user, part, &lacks_fine));
    if (lacks_fine) __atomic_store_n(&turn->lacks_fine, true, __ATOMIC_RELAXED);
    return MOTE_OK;
}

mote_progress_span parts_enter_pass(parts_run *run) {
    const double left = ldexp(0.35, -(int)run->passes++);
    return mote_progress_enter(run->ctx, 0.85 - left, 0.85 - left / 2);
}

mote_status parts_make_all(parts_run *run, parts_maker make, void *user, const bool *done, bool *lacks_fine) {
    mote_context *ctx = run->ctx;
    parts_turn turn = {run, make, user, done, false};
    team_work work = {.run = make_item, .user = &turn, .item_count = run->part_count};
    mote_team team = {.ctx = NULL};
    uint64_t *weights = mote_alloc(ctx, run->part_count * sizeof *weights, "parts");
    if (weights == NULL) return MOTE_ERROR_MEMORY;
    for (uint32_t p = 0; p < run->part_count; p++) { weights[p] = done != NULL && done[p] ? 0 : run->ranges[p].points; }
    work.weights = weights;
    const uint32_t workers = run->workers < run->part_count ? run->workers : run->part_count;
    run->report->workers = workers;
    const uint64_t bound = ctx->params.memory_limit_bytes > 0 ? run->share_bytes : 0;
    const mote_progress_span whole = parts_enter_pass(run);
    mote_status status = mote_team_begin(ctx, workers, bound, &team);
    if (status == MOTE_OK) status = mote_team_run(&team, &work);
    mote_team_end(&team);
    mote_progress_leave(ctx, whole);
    run->report->rounds++;
    mote_free(ctx, weights);
    *lacks_fine = turn.lacks_fine;
    return status;
}
