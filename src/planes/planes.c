/* Planes: the steps in their order, as docs/planes.md has them.

       points -> noise -> votes -> refine -> fit -> is that all? -> what is flat nearby -> footprints, last fit
                            ^_________________|

   Votes come first, because they see all of a plane at once: a sample of the points that belong to no plane yet votes;
   the peaks are refined on it, the best first, each without the points of those before it; what stands the test is
   fitted to all points. Where that cannot be all there is, planes grow of what is flat nearby, and those of the vote
   are held against them. */
#include "planes/planes.h"

#define MAX_ROUNDS 64u
#define SUPPORT    64.0 /* points of the sample */
#define MIN_SAMPLE 1024u

/* ---- rounds of votes */

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

/* What stands of the peaks becomes planes. */
static mote_status refine(planes_run *run, const planes_start *starts, uint32_t count, uint32_t min,
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
    const planes_voting how = {run->voters, run->table, radius, min, PLANES_MAX_PEAKS};
    MOTE_TRY(run->ops->vote(run->points, &how, peaks, count));
    run->facts.votes += (uint64_t)run->voters * run->table->directions;
    for (uint32_t i = 0; i < *count; i++) {
        planes_directions_cell(run->table, peaks[i].direction, peaks[i].bin, starts[i].normal, &starts[i].offset);
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
    return count > 0 ? refine(run, starts, count, min, accepted) : MOTE_OK;
}

/* Rounds of votes, until one finds nothing. */
static mote_status search_by_votes(planes_run *run) {
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

/* ---- all steps */

mote_status planes_measure_cloud(planes_run *run) {
    MOTE_TRY(planes_frame_points(run));
    mote_stage(run->ctx, "measuring noise");
    MOTE_TRY(mote_progress(run->ctx, 0.15, "measuring noise"));
    MOTE_TRY(planes_measure_noise(run));
    run->nearby_noise = run->scale.noise;
    planes_choose_tolerance(run);
    planes_choose_support(run);
    return planes_choose_bin(run);
}

/* What a vote takes besides the points. */
static mote_status prepare_votes(planes_run *run) {
    MOTE_TRY(planes_choose_max_voters(run));
    mote_stage(run->ctx, "making directions");
    MOTE_TRY(planes_make_table(run));
    planes_write_facts(run);
    return MOTE_OK;
}

static mote_status reserve_found(planes_run *run) {
    run->found = mote_alloc(run->ctx, MOTE_PLANES_MAX * sizeof *run->found, "planes found");
    if (run->found == NULL) return MOTE_ERROR_MEMORY;
    if (!run->params.explain) return MOTE_OK;
    run->refusals = mote_alloc_zero(run->ctx, sizeof *run->refusals, "planes refused");
    return run->refusals != NULL ? MOTE_OK : MOTE_ERROR_MEMORY;
}

/* Finds the planes of points, of which there are some. */
static mote_status search(planes_run *run) {
    planes_sample all;
    const mote_planes_params *params = &run->params;
    /* These ask for the vote in a way that a search by what is flat nearby does not know. */
    bool is_all = params->greedy || params->whole || params->votes == MOTE_PLANES_VOTE_NORMALS;
    MOTE_TRY(reserve_found(run));
    MOTE_TRY(planes_measure_cloud(run));
    MOTE_TRY(prepare_votes(run));
    if (is_all) return search_by_votes(run);
    mote_status status = planes_sample_all(run, &all);
    if (status == MOTE_OK) status = search_by_votes(run);
    if (status == MOTE_OK) status = planes_is_all(run, &all, &is_all);
    if (status == MOTE_OK && !is_all) status = planes_search_locally(run);
    if (status == MOTE_OK) status = planes_end(run, &all);
    planes_sample_free(run->ctx, &all);
    return status;
}

/* labels: NULL if they are not asked for */
static mote_status answer(planes_run *run, int32_t *labels, mote_planes *out) {
    const bool any = run->points->finite > 0;
    if (any) planes_write_measures(run);
    if (!any) run->facts.points = run->facts.skipped = run->points->cloud->count;
    out->facts = run->facts;
    MOTE_TRY(planes_finish(run, out));
    MOTE_TRY(planes_explain(run, out));
    if (labels != NULL && any) MOTE_TRY(run->ops->read_labels(run->points, labels));
    if (labels != NULL && !any) memset(labels, 0xFF, run->points->cloud->count * sizeof *labels);
    return mote_progress(run->ctx, 1, "finding planes");
}

typedef struct finding {
    int32_t *labels;
    mote_planes *planes;
} finding;

static mote_status find(planes_run *run, void *user) {
    finding *f = user;
    mote_planes_destroy(f->planes); /* of a device that could not */
    f->planes = mote_alloc_zero(run->ctx, sizeof *f->planes, "planes found");
    if (f->planes == NULL) return MOTE_ERROR_MEMORY;
    f->planes->ctx = run->ctx;
    if (run->points->finite > 0) MOTE_TRY(search(run));
    return answer(run, f->labels, f->planes);
}

mote_status mote_planes_find(mote_context *ctx, const mote_cloud *cloud, const mote_planes_params *params,
                             int32_t *labels, mote_planes **out) {
    finding f = {labels, NULL};
    const mote_status status = planes_run_on_any(ctx, cloud, params, find, &f);
    *out = status == MOTE_OK ? f.planes : NULL;
    if (status != MOTE_OK) mote_planes_destroy(f.planes);
    return status;
}
