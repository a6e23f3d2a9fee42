/* The search, in rounds: a sample of the points that belong to no plane yet votes; the winners are refined on it, the
   best first, each without the points of those before it; what stands the test is fitted to all points. Until a round
   finds nothing. */
#include <stdlib.h>

#include "planes/planes.h"

#define WINNERS       256u /* of a round */
#define BATCH         16u  /* winners refined side by side */
#define MOST_ROUNDS   64u
#define SETTLE_TURNS  24
#define QUICK_TURNS   3    /* before others are looked for */
#define SUPPORT       64.0 /* points of the sample */
#define LEAST_SAMPLE  1024u
#define CONTRAST      1.5 /* times as many points in a plane as beside it, on either side */
#define SIGNIFICANT   5.0 /* standard deviations above the points beside */
#define PEAKED        0.55 /* of the points within half the measured tolerance; half of them if they were spread evenly */
#define SAME_DISTANCE 1.5 /* tolerances, root mean square: two planes are one */
#define SAME_COSINE   0.996

bool planes_is_plane(const planes_run *run, uint64_t count, uint64_t inner, const uint64_t beside[2], uint64_t least) {
    const double n = (double)count, below = (double)beside[0], above = (double)beside[1];
    const double most = below > above ? below : above, mean = 0.5 * (below + above);
    if (n - mean < (double)least || n - mean < 3) return false;
    if (n < CONTRAST * most || n - mean < SIGNIFICANT * sqrt(mean + 1)) return false;
    return run->tolerance_given || (double)inner >= PEAKED * n - sqrt(n);
}

/* ---- one round on its sample */

/* So many vote that a plane of just enough points has SUPPORT of them. */
static uint32_t sample_size(const planes_run *run) {
    const double wanted = SUPPORT * (double)run->free_points / (double)run->min_points;
    if (run->params.sample > 0 || wanted >= run->sample.capacity) return run->sample.capacity;
    return wanted > LEAST_SAMPLE ? (uint32_t)wanted : LEAST_SAMPLE;
}

/* How many of the sample it really has, with some to spare. */
static uint32_t least_in_sample(const planes_run *run) {
    const double share = (double)run->sample.count / (double)run->free_points;
    const double least = 0.7 * (double)run->min_points * share;
    return least > 6 ? (uint32_t)least : 6;
}

static bool stands(const planes_run *run, const planes_candidate *c, uint64_t least) {
    const uint64_t beside[2] = {c->beside[0], c->beside[1]};
    return planes_is_plane(run, c->count, c->inner, beside, least);
}

static int compare_candidates(const void *a, const void *b) {
    const planes_candidate *x = a, *y = b;
    if (x->count != y->count) return x->count > y->count ? -1 : 1;
    if (x->votes != y->votes) return x->votes > y->votes ? -1 : 1;
    return x->fit.offset < y->fit.offset ? -1 : x->fit.offset > y->fit.offset;
}

static bool is_full(const planes_run *run) { return run->found_count >= MOTE_PLANES_MOST; }

/* Accepts what stands of a batch, each without the points of those before it. */
static uint32_t accept_batch(planes_run *run, planes_candidate *batch, uint32_t count, uint64_t least) {
    uint32_t accepted = 0;
    qsort(batch, count, sizeof *batch, compare_candidates);
    for (uint32_t i = 0; i < count && !is_full(run); i++) {
        if (batch[i].count < least || !batch[i].fit.valid) continue;
        planes_count_points(run, &batch[i]);
        if (!stands(run, &batch[i], least)) continue;
        planes_claim(run, &batch[i].fit);
        planes_found *found = &run->found[run->found_count++];
        memset(found, 0, sizeof *found);
        found->fit = batch[i].fit;
        found->votes = batch[i].votes;
        accepted++;
        if (run->params.greedy) break;
    }
    return accepted;
}

static void refine_batch(const planes_run *run, const planes_winner *winners, uint32_t count, uint32_t least,
                         planes_candidate *batch) {
#pragma omp parallel for schedule(dynamic) num_threads(run->ctx->threads)
    for (int64_t i = 0; i < (int64_t)count; i++) {
        planes_refine(run, &winners[i], least, &run->near[mote_thread_number()], &batch[i]);
    }
}

static uint32_t try_winners(planes_run *run, const planes_winner *winners, uint32_t count, uint32_t least) {
    planes_candidate batch[BATCH];
    uint32_t accepted = 0;
    for (uint32_t i = 0; i < count && !is_full(run); i += BATCH) {
        const uint32_t size = count - i < BATCH ? count - i : BATCH;
        refine_batch(run, winners + i, size, least, batch);
        accepted += accept_batch(run, batch, size, least);
        if (run->params.greedy && accepted > 0) break;
    }
    return accepted;
}

static mote_status vote(planes_run *run, uint32_t least, planes_winner *winners, uint32_t *count) {
    const bool all = run->sample.count == run->points->count && run->sample.count > 0;
    const uint32_t radius = run->params.suppress_bins > 0 ? run->params.suppress_bins : 2;
    MOTE_TRY(run->ops->vote(run->points, all ? NULL : &run->sample, &run->table));
    run->facts.votes += (uint64_t)run->sample.count * run->table.directions;
    return run->ops->winners(run->points, &run->table, radius, least, WINNERS, winners, count);
}

static mote_status search_round(planes_run *run, uint32_t *accepted) {
    planes_winner winners[WINNERS];
    uint32_t count = 0, size = sample_size(run);
    *accepted = 0;
    if (run->free_points < run->min_points || run->free_points < 3) return MOTE_OK;
    if (size > run->sample.capacity) size = run->sample.capacity;
    MOTE_TRY(run->ops->choose(run->points, size, &run->sample));
    memset(run->claimed, 0, run->sample.count);
    const uint32_t least = least_in_sample(run);
    mote_stage(run->ctx, "voting");
    MOTE_TRY(vote(run, least / 3 + 1, winners, &count));
    mote_stage(run->ctx, "refining winners");
    if (run->facts.rounds++ == 0) planes_calibrate(run, winners, count, least);
    *accepted = try_winners(run, winners, count, least);
    return MOTE_OK;
}

/* ---- all points */

static mote_status sum_all(planes_run *run, planes_sums *sums) {
    planes_plane *planes = mote_alloc(run->ctx, run->found_count * sizeof *planes, "planes found");
    if (planes == NULL) return MOTE_ERROR_MEMORY;
    for (uint32_t i = 0; i < run->found_count; i++) planes[i] = planes_plane_of(run, &run->found[i].fit);
    const mote_status status = run->ops->sums(run->points, planes, run->found_count, sums);
    mote_free(run->ctx, planes);
    return status;
}

static bool same_sums(const planes_sums *a, const planes_sums *b) {
    return a->count == b->count && memcmp(a->first, b->first, sizeof a->first) == 0;
}

/* Fits all planes to their points until that changes nothing, or so many times. */
static mote_status settle(planes_run *run, int turns) {
    planes_sums *sums = mote_alloc(run->ctx, run->found_count * sizeof *sums, "planes found");
    mote_status status = sums != NULL ? MOTE_OK : MOTE_ERROR_MEMORY;
    for (int turn = 0; turn < turns && status == MOTE_OK; turn++) {
        bool changed = false;
        status = sum_all(run, sums);
        for (uint32_t i = 0; i < run->found_count && status == MOTE_OK; i++) {
            planes_found *found = &run->found[i];
            changed = changed || !same_sums(&sums[i], &found->sums);
            found->sums = sums[i];
            const planes_fit next = planes_fit_sums(&sums[i]);
            found->fit.valid = next.valid;
            if (next.valid) found->fit = next;
        }
        if (!changed) break;
    }
    mote_free(run->ctx, sums);
    return status;
}

static bool is_same(const planes_run *run, const planes_found *a, const planes_found *b) {
    const double *u = a->fit.normal, *v = b->fit.normal;
    const double cosine = fabs((u[0] * v[0] + u[1] * v[1]) + u[2] * v[2]);
    return cosine >= SAME_COSINE && planes_mean_distance(&b->sums, &a->fit) <= SAME_DISTANCE * run->tolerance;
}

static int compare_found(const void *a, const void *b) {
    const planes_found *x = a, *y = b;
    if (x->sums.count != y->sums.count) return x->sums.count > y->sums.count ? -1 : 1;
    return x->fit.offset < y->fit.offset ? -1 : x->fit.offset > y->fit.offset;
}

/* Sorts planes by their points and drops those that are none and those that are another. Returns how many went. */
static uint32_t drop_planes(planes_run *run) {
    uint32_t kept = 0;
    qsort(run->found, run->found_count, sizeof *run->found, compare_found);
    for (uint32_t i = 0; i < run->found_count; i++) {
        const planes_found *f = &run->found[i];
        bool keep = f->fit.valid && planes_is_plane(run, f->sums.own, f->sums.inner, f->sums.beside, run->min_points);
        for (uint32_t k = 0; k < kept && keep; k++) keep = !is_same(run, &run->found[k], f);
        if (keep) run->found[kept++] = *f;
    }
    const uint32_t dropped = run->found_count - kept;
    run->found_count = kept;
    return dropped;
}

static mote_status fit_all(planes_run *run, int turns) {
    uint32_t dropped = 0;
    mote_stage(run->ctx, "fitting planes");
    do {
        MOTE_TRY(settle(run, turns));
        dropped = drop_planes(run);
    } while (dropped > 0 && turns == SETTLE_TURNS);
    return MOTE_OK;
}

mote_status planes_label_all(planes_run *run) {
    planes_plane *planes = mote_alloc(run->ctx, run->found_count * sizeof *planes, "planes found");
    if (planes == NULL) return MOTE_ERROR_MEMORY;
    mote_stage(run->ctx, "labelling points");
    for (uint32_t i = 0; i < run->found_count; i++) planes[i] = planes_plane_of(run, &run->found[i].fit);
    const mote_status status = run->ops->label(run->points, planes, run->found_count, &run->free_points);
    mote_free(run->ctx, planes);
    return status;
}

mote_status planes_search(planes_run *run) {
    const uint32_t rounds = run->params.greedy ? MOTE_PLANES_MOST : MOST_ROUNDS;
    const uint32_t most = run->params.most > 0 ? run->params.most : MOTE_PLANES_MOST;
    for (uint32_t round = 0; round < rounds && run->found_count < most; round++) {
        const uint32_t before = run->found_count;
        uint32_t accepted;
        MOTE_TRY(mote_progress(run->ctx, 0.2 + 0.6 * (1 - 1 / (1.0 + round)), "voting"));
        MOTE_TRY(search_round(run, &accepted));
        if (accepted == 0) break;
        MOTE_TRY(fit_all(run, QUICK_TURNS));
        MOTE_TRY(planes_label_all(run));
        if (run->found_count <= before) break;
    }
    MOTE_TRY(mote_progress(run->ctx, 0.8, "fitting planes"));
    MOTE_TRY(fit_all(run, SETTLE_TURNS));
    return planes_label_all(run);
}
