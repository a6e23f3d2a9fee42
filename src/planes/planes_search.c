/* The search, in rounds: a sample of the points that belong to no plane yet votes; the winners are refined on it, the
   best first, each without the points of those before it; what stands the test is fitted to all points. Until a round
   finds nothing. */
#include <stdlib.h>

#include "planes/planes.h"

#define MOST_ROUNDS   64u
#define SETTLE_TURNS  24
#define QUICK_TURNS   3    /* before others are looked for */
#define SUPPORT       64.0 /* points of the sample */
#define LEAST_SAMPLE  1024u
#define SAME_DISTANCE 1.5 /* tolerances, root mean square: two planes are one */
#define SAME_COSINE   0.996

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

planes_refining planes_how_to_refine(const planes_run *run, uint32_t least) {
    planes_refining how;
    how.resolution = run->resolution;
    how.typical = run->scale.typical;
    how.bin = run->bin;
    how.tolerance = run->tolerance;
    how.guard = PLANES_GUARD * run->tolerance;
    how.least = least;
    how.most = run->params.greedy ? 1 : MOTE_PLANES_MOST - run->found_count;
    how.cone = run->cone;
    how.peaked = !run->tolerance_given;
    return how;
}

static mote_status try_winners(planes_run *run, const planes_start *starts, uint32_t count, uint32_t least,
                               uint32_t *accepted) {
    const planes_refining how = planes_how_to_refine(run, least);
    planes_candidate found[PLANES_WINNERS];
    MOTE_TRY(run->ops->refine(run->points, &run->sample, &how, starts, count, found, accepted));
    for (uint32_t i = 0; i < *accepted; i++) {
        planes_found *to = &run->found[run->found_count++];
        memset(to, 0, sizeof *to);
        to->fit = found[i].fit;
        to->votes = found[i].votes;
    }
    return MOTE_OK;
}

/* starts  [PLANES_WINNERS] out */
static mote_status vote(planes_run *run, uint32_t least, planes_start *starts, uint32_t *count) {
    planes_winner winners[PLANES_WINNERS];
    const bool all = run->sample.count == run->points->count && run->sample.count > 0;
    const uint32_t radius = run->params.suppress_bins > 0 ? run->params.suppress_bins : 2;
    MOTE_TRY(run->ops->vote(run->points, all ? NULL : &run->sample, &run->table));
    run->facts.votes += (uint64_t)run->sample.count * run->table.directions;
    MOTE_TRY(run->ops->winners(run->points, &run->table, radius, least, PLANES_WINNERS, winners, count));
    for (uint32_t i = 0; i < *count; i++) {
        planes_table_cell(&run->table, winners[i].direction, winners[i].bin, starts[i].normal, &starts[i].offset);
        starts[i].votes = winners[i].votes;
    }
    return MOTE_OK;
}

static mote_status search_round(planes_run *run, uint32_t *accepted) {
    planes_start starts[PLANES_WINNERS];
    uint32_t count = 0, size = sample_size(run);
    *accepted = 0;
    if (run->free_points < run->min_points || run->free_points < 3) return MOTE_OK;
    if (size > run->sample.capacity) size = run->sample.capacity;
    MOTE_TRY(run->ops->choose(run->points, size, &run->sample));
    const uint32_t least = least_in_sample(run);
    mote_stage(run->ctx, "voting");
    MOTE_TRY(vote(run, least / 3 + 1, starts, &count));
    mote_stage(run->ctx, "refining winners");
    if (run->facts.rounds++ == 0) MOTE_TRY(planes_calibrate(run, starts, count, least));
    return count > 0 ? try_winners(run, starts, count, least, accepted) : MOTE_OK;
}

/* ---- all points */

planes_plane planes_plane_of(const planes_run *run, const planes_fit *fit) {
    return planes_plane_from(fit, run->tolerance, PLANES_GUARD * run->tolerance, run->cone);
}

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
        bool keep = f->fit.valid && planes_stands(f->sums.own, f->sums.inner, f->sums.beside[0], f->sums.beside[1],
                                                  run->min_points, !run->tolerance_given);
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
