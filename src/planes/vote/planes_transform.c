/* The transform alone: one vote of the points, and its peaks. */
#include "planes/planes.h"

/* A bin that was given needs no noise and no typical distance: then only what the vote itself takes is looked at. */
static mote_status measure_for_vote(planes_run *run) {
    const bool some = run->params.sample > 0 && run->params.sample < run->points->finite;
    if (run->params.bin <= 0) return planes_measure_cloud(run);
    MOTE_TRY(planes_place_points(run, some));
    run->tolerance = run->params.tolerance / run->points->frame.step;
    planes_choose_support(run);
    return planes_choose_bin(run);
}

/* cells [max] out: the peaks with the most votes; count: how many there are. */
static mote_status vote_once(planes_run *run, uint32_t max, planes_peak *cells, uint32_t *count) {
    MOTE_TRY(measure_for_vote(run));
    const bool some = run->params.sample > 0 && run->params.sample < run->points->count;
    const uint32_t radius = run->params.suppress_bins > 0 ? run->params.suppress_bins : 2;
    run->max_voters = run->points->count;
    if (some) MOTE_TRY(planes_choose_max_voters(run));
    MOTE_TRY(planes_make_table(run));
    planes_write_facts(run);
    run->facts.cell = 0;
    run->facts.votes = run->facts.sample * run->table->directions;
    run->facts.rounds = 1;
    mote_stage(run->ctx, "voting");
    MOTE_TRY(mote_progress(run->ctx, 0.2, "voting"));
    const planes_voting how = {run->max_voters, run->table, radius, 1, max};
    return run->ops->vote(run->points, &how, cells, count);
}

static void describe_peak(const planes_run *run, const planes_peak *cell, mote_planes_peak *peak) {
    const planes_frame *frame = &run->points->frame;
    double offset;
    planes_directions_cell(run->table, cell->direction, cell->bin, peak->normal, &offset);
    peak->votes = cell->votes;
    memset(peak->reserved, 0, sizeof peak->reserved);
    peak->offset = offset * frame->step;
    for (int k = 0; k < 3; k++) peak->offset += peak->normal[k] * frame->centre[k];
}

typedef struct voting {
    uint32_t max, *count;
    mote_planes_peak *peaks;
    mote_planes_facts *facts; /* NULL: not asked for */
} voting;

static mote_status vote(planes_run *run, void *user) {
    const voting *v = user;
    planes_peak *cells = mote_alloc(run->ctx, v->max * sizeof *cells, "planes peaks");
    mote_status status = cells != NULL ? MOTE_OK : MOTE_ERROR_MEMORY;
    *v->count = 0;
    if (status == MOTE_OK && run->points->finite > 0) status = vote_once(run, v->max, cells, v->count);
    for (uint32_t i = 0; i < *v->count && status == MOTE_OK; i++) describe_peak(run, &cells[i], &v->peaks[i]);
    if (v->facts != NULL) *v->facts = run->facts;
    mote_free(run->ctx, cells);
    return status == MOTE_OK ? mote_progress(run->ctx, 1, "voting") : status;
}

mote_status mote_planes_vote(mote_context *ctx, const mote_cloud *cloud, const mote_planes_params *params, uint32_t max,
                             mote_planes_peak *peaks, uint32_t *count, mote_planes_facts *facts) {
    voting v = {max, count, peaks, facts};
    *count = 0;
    if (max < 1) return mote_fail(ctx, MOTE_ERROR_ARGUMENT, "no room for peaks");
    return planes_run_on_any(ctx, cloud, params, vote, &v);
}
