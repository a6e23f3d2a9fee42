/* The search, in rounds: a sample of the points that belong to no plane yet votes; the peaks are refined on it, the
   best first, each without the points of those before it; what stands the test is fitted to all points. Until a round
   finds nothing. */
#include "planes/planes.h"

#define MAX_ROUNDS 64u
#define SUPPORT    64.0 /* points of the sample */
#define MIN_SAMPLE 1024u

/* So many vote that a plane of just enough points has SUPPORT of them. */
static uint32_t count_voters(const planes_run *run) {
    const double wanted = SUPPORT * (double)run->free_points / (double)run->support;
    uint32_t size = run->max_voters;
    if (run->params.sample == 0 && wanted < size) size = wanted > MIN_SAMPLE ? (uint32_t)wanted : MIN_SAMPLE;
    if (size > run->max_voters) size = run->max_voters;
    return size < run->free_points ? size : (uint32_t)run->free_points;
}

/* How many of the sample it really has, with some to spare. */
static uint32_t min_in_sample(const planes_run *run) {
    const double share = (double)run->voters / (double)run->free_points;
    const double min = 0.7 * (double)run->support * share;
    return min > 6 ? (uint32_t)min : 6;
}

static mote_status try_peaks(planes_run *run, const planes_start *starts, uint32_t count, uint32_t min,
                             uint32_t *accepted) {
    const planes_refining how = planes_how_to_refine(run, min);
    planes_candidate found[PLANES_MAX_PEAKS];
    MOTE_TRY(planes_refine(run, &how, starts, count, found, accepted));
    for (uint32_t i = 0; i < *accepted; i++) {
        planes_found *to = &run->found[run->found_count++];
        memset(to, 0, sizeof *to);
        to->fit = found[i].fit;
        to->votes = found[i].votes;
    }
    return MOTE_OK;
}

/* starts  [PLANES_MAX_PEAKS] out */
static mote_status vote(planes_run *run, uint32_t min, planes_start *starts, uint32_t *count) {
    planes_peak peaks[PLANES_MAX_PEAKS];
    const uint32_t radius = run->params.suppress_bins > 0 ? run->params.suppress_bins : 2;
    const planes_voting how = {run->voters, &run->table, radius, min, PLANES_MAX_PEAKS};
    MOTE_TRY(run->ops->vote(run->points, &how, peaks, count));
    run->facts.votes += (uint64_t)run->voters * run->table.directions;
    for (uint32_t i = 0; i < *count; i++) {
        planes_directions_cell(&run->table, peaks[i].direction, peaks[i].bin, starts[i].normal, &starts[i].offset);
        starts[i].votes = peaks[i].votes;
    }
    return MOTE_OK;
}

static mote_status search_round(planes_run *run, uint32_t *accepted) {
    planes_start starts[PLANES_MAX_PEAKS];
    uint32_t count = 0;
    *accepted = 0;
    if (run->free_points < run->support || run->free_points < 3) return MOTE_OK;
    run->voters = count_voters(run);
    const uint32_t min = min_in_sample(run);
    mote_stage(run->ctx, "voting");
    MOTE_TRY(vote(run, min / 3 + 1, starts, &count));
    mote_stage(run->ctx, "refining peaks");
    if (run->facts.rounds++ == 0) MOTE_TRY(planes_calibrate(run, starts, count, min));
    return count > 0 ? try_peaks(run, starts, count, min, accepted) : MOTE_OK;
}

mote_status planes_search(planes_run *run) {
    const uint32_t rounds = run->params.greedy ? MOTE_PLANES_MAX : MAX_ROUNDS;
    const uint32_t max = run->params.max_planes > 0 ? run->params.max_planes : MOTE_PLANES_MAX;
    for (uint32_t round = 0; round < rounds && run->found_count < max; round++) {
        const uint32_t before = run->found_count;
        uint32_t accepted;
        MOTE_TRY(mote_progress(run->ctx, 0.2 + 0.6 * (1 - 1 / (1.0 + round)), "voting"));
        MOTE_TRY(search_round(run, &accepted));
        if (accepted == 0) break;
        MOTE_TRY(planes_fit_all(run, true));
        MOTE_TRY(planes_label_all(run));
        if (run->found_count <= before) break;
    }
    MOTE_TRY(mote_progress(run->ctx, 0.8, "fitting planes"));
    MOTE_TRY(planes_fit_all(run, false));
    return planes_label_all(run);
}
