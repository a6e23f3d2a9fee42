/* Whether what the vote found can be all there is; and if not, the search by what is flat nearby, in rounds, each on a
   sample of the points that belong to no plane yet. */
#include "planes/local/planes_local.h"
#include "planes/planes.h"

#define SUPPORT        200.0   /* points of a sample that a plane of just enough points has */
#define MAX_SAMPLE     262144u /* of the local search */
#define CONFIRM_SAMPLE 8192u   /* of all points, that the planes of the vote are held against */
#define MAX_CONTEST    65536u  /* the same, once planes of the vote are held against those that were grown */
#define MIN_FREE       1024u   /* points of those that belong to no plane, that are looked at for more */
#define MAX_FREE       4096u
#define FREE_SUPPORT   80.0 /* points that a plane of just enough points has among them */
#define MIN_SUPPORT    12.0
#define FEW            8.0
#define SHARE          0.7 /* of its part of the points, a plane has in a sample */
#define THIN           0.5 /* of the points, a sample has: small planes have too few of them to tell a curve */
#define MAX_ROUNDS     3
#define MOSTLY         0.68 /* of the points of the vote's planes are of planes that peak */
#define MIN_STRIPS     4    /* planes that bend, of a curve that is in strips */
#define STRIPS_SHARE   0.5  /* of the points of all planes, these have: of a room whose ceiling bends a third */
#define FAR_BETTER     1.25 /* times the nats of the local search */
#define FAR_THICKER    5.0  /* times what neighbours tell of the noise */
#define MIN_TELLING    0.2  /* of the points, grown planes have that tell the noise of planes */
#define SEEN_WHOLE     4    /* times the support of the coarse search: it has seen what a plane of as many points is */
#define TOLD_NOISE     1.5  /* floors: a noise below may be that of the representation */
#define ROUNDING       0.29 /* of a step: the noise that rounding to steps makes */
#define SPREAD_FLOOR   (0.8 * ROUNDING) /* of a step: less than the noise that spreading points within it makes */
#define FLOOR          1.4              /* steps: half a diagonal of the lattice is 0.9 */

/* ---- samples */

static mote_status read_sample(planes_run *run, uint64_t free_points, uint32_t max, planes_sample *sample) {
    const uint32_t size = free_points < max ? (uint32_t)free_points : max;
    mote_status status = planes_sample_make(run->ctx, size, sample);
    if (status == MOTE_OK) status = run->ops->read_sample(run->points, size, sample);
    if (status == MOTE_OK) planes_sample_drop_copies(sample);
    if (status == MOTE_OK && run->scale.step > 0) planes_sample_spread(sample, run->scale.step);
    return status;
}

/* No noise is less. Points that were spread within their steps have more. */
static double floor_of(const planes_run *run) {
    if (run->tolerance_given) return run->tolerance / PLANES_REACH_NOISES;
    return fmax(FLOOR, run->scale.step > 0 ? SPREAD_FLOOR * run->scale.step : 0.5 * run->scale.resolution);
}

static planes_local_params params_of(const planes_run *run, const planes_sample *sample, uint64_t of, double min) {
    const double share = of > 0 ? (double)sample->count / (double)of : 1;
    planes_local_params params;
    params.floor = floor_of(run);
    params.refusals = run->refusals;
    params.centred = false;
    params.known_noise = 0;
    params.nearby_noise = run->nearby_noise;
    if (run->refusals != NULL) run->refusals->share = 1 / share;
    const double least = share < THIN ? 1 : SHARE;
    params.min_points = (uint32_t)fmax(min, least * (double)run->support * share);
    return params;
}

/* ---- is that all? */

mote_status planes_sample_all(planes_run *run, planes_sample *sample) {
    return read_sample(run, run->points->count, CONFIRM_SAMPLE, sample);
}

/* What was found, as the local search takes it. of: how many points the sample is of; noise: 0, or that of all. */
static planes_local_claim *list_claims(const planes_run *run, const planes_sample *all, uint64_t of, double noise,
                                       double floor) {
    const double thinning = sqrt((double)all->count / (double)of);
    planes_local_claim *claims = mote_alloc(run->ctx, run->found_count * sizeof *claims, "planes found");
    for (uint32_t i = 0; i < run->found_count && claims != NULL; i++) {
        const planes_fit *fit = &run->found[i].fit;
        memcpy(claims[i].normal, fit->normal, sizeof claims[i].normal);
        claims[i].offset = fit->offset;
        claims[i].noise = fmax(noise > 0 ? noise : fit->rms, floor);
        claims[i].cell = fmax(3 * run->scale.spacing / thinning, 4);
    }
    return claims;
}

/* Whether all planes that were found are planes. */
static mote_status confirm_found(planes_run *run, const planes_sample *all, bool *sure) {
    const planes_local_params params = params_of(run, all, run->points->count, FEW);
    planes_local_claim *claims =
        list_claims(run, all, run->points->count, run->tolerance / PLANES_REACH_NOISES, params.floor);
    if (claims == NULL) return MOTE_ERROR_MEMORY;
    const mote_status status =
        planes_local_confirm(run->ctx, all, &params, claims, run->found_count, run->params.components, sure);
    mote_free(run->ctx, claims);
    return status;
}

/* How well what was found explains all points. */
static mote_status judge_found(planes_run *run, const planes_sample *all, planes_local_worth *worth) {
    const planes_local_params params = params_of(run, all, run->points->count, FEW);
    memset(worth, 0, sizeof *worth);
    if (run->found_count == 0) return MOTE_OK;
    planes_local_claim *claims = list_claims(run, all, run->points->count, 0, params.floor);
    if (claims == NULL) return MOTE_ERROR_MEMORY;
    const mote_status status = planes_local_judge(run->ctx, all, &params, claims, run->found_count, worth);
    mote_free(run->ctx, claims);
    return status;
}

/* noise  that of planes, if it is known; 0: not */
static mote_status find_locally(planes_run *run, const planes_sample *sample, bool centred, double noise,
                                planes_local_found *found) {
    planes_local_params params = params_of(run, sample, run->free_points, MIN_SUPPORT);
    params.centred = centred;
    params.known_noise = noise;
    return planes_local_find(run->ctx, sample, &params, found);
}

/* How many points that belong to no plane are looked at. */
static uint32_t count_free_sample(const planes_run *run) {
    const double wanted = FREE_SUPPORT * (double)run->free_points / (double)run->support;
    return (uint32_t)fmin(fmax(wanted, MIN_FREE), MAX_FREE);
}

/* Whether there are planes among the points that belong to none. */
static mote_status find_more(planes_run *run, bool *more) {
    planes_sample sample;
    planes_local_found found = {NULL, 0, 0};
    *more = false;
    if (run->free_points < run->support || run->free_points < MIN_SUPPORT) return MOTE_OK;
    const mote_progress_span whole = mote_progress_enter(run->ctx, 0.8, 0.8);
    mote_status status = read_sample(run, run->free_points, count_free_sample(run), &sample);
    if (status == MOTE_OK) status = find_locally(run, &sample, false, 0, &found);
    mote_progress_leave(run->ctx, whole);
    *more = found.count > 0;
    mote_free(run->ctx, found.planes);
    planes_sample_free(run->ctx, &sample);
    return status;
}

mote_status planes_is_all(planes_run *run, const planes_sample *all, bool *sure) {
    bool more = false;
    *sure = false;
    if (run->found_count == 0) return MOTE_OK;
    mote_stage(run->ctx, "confirming planes");
    MOTE_TRY(confirm_found(run, all, sure));
    if (*sure) MOTE_TRY(find_more(run, &more));
    *sure = *sure && !more;
    return MOTE_OK;
}

/* ---- the search */

static void take_plane(planes_run *run, const planes_local_plane *plane) {
    planes_found *to = &run->found[run->found_count++];
    const double *c = plane->centroid, *axes[2] = {plane->u, plane->v};
    memset(to, 0, sizeof *to);
    memcpy(to->fit.normal, plane->normal, sizeof to->fit.normal);
    memcpy(to->fit.centroid, c, sizeof to->fit.centroid);
    to->fit.offset = plane->offset;
    to->fit.rms = plane->noise;
    to->fit.valid = true;
    to->votes = plane->count;
    to->tolerance = fmax(PLANES_REACH_NOISES * plane->noise, fmax(4, run->scale.resolution));
    if (run->tolerance_given) to->tolerance = run->tolerance;
    to->cell = fmax(plane->cell, fmax(2, 2 * to->tolerance));
    to->turned = plane->turned;
    to->grown = true;
    to->reach.bounded = 1;
    for (int k = 0; k < 3; k++) {
        to->reach.u[k] = (float)plane->u[k];
        to->reach.v[k] = (float)plane->v[k];
    }
    for (int k = 0; k < 2; k++) {
        const double at = (c[0] * axes[k][0] + c[1] * axes[k][1]) + c[2] * axes[k][2];
        to->reach.low[k] = (float)(at + plane->low[k] - 0.5 * plane->cell);
        to->reach.high[k] = (float)(at + plane->high[k] + 0.5 * plane->cell);
    }
}

/* The noise of the plane that has the middle point, of all that planes have. Where planes of the vote stay, theirs is
   that of the run. */
static void take_noise(planes_run *run, const planes_local_plane *planes, uint32_t count, bool alone) {
    double all = 0, best = INFINITY;
    for (uint32_t i = 0; i < count; i++) all += planes[i].count;
    for (uint32_t i = 0; i < count; i++) {
        double below = 0;
        for (uint32_t k = 0; k < count; k++) below += planes[k].noise <= planes[i].noise ? planes[k].count : 0;
        if (2 * below >= all) best = fmin(best, planes[i].noise);
    }
    run->grown_noise = run->tolerance_given ? run->scale.noise : best;
    if (!(best < INFINITY) || run->tolerance_given || !alone) return;
    run->scale.noise = best;
    run->scale.flat = true;
    planes_choose_tolerance(run);
}

/* voted: planes of the vote that stay. sample: out, the points that belonged to no plane. done: whether there is
   nothing more to find. */
static mote_status search_round(planes_run *run, int round, uint32_t voted, planes_sample *sample, bool *done) {
    const double wanted = SUPPORT * (double)run->free_points / (double)run->support;
    const double noise = run->found_count > voted ? run->grown_noise : 0;
    planes_local_found found = {NULL, 0, 0};
    const double share = 0.05 / (1 << round);
    const mote_progress_span whole = mote_progress_enter(run->ctx, 0.9 - 2 * share, 0.9 - share);
    mote_status status =
        read_sample(run, run->free_points, wanted < MAX_SAMPLE ? (uint32_t)wanted : MAX_SAMPLE, sample);
    if (status == MOTE_OK) status = find_locally(run, sample, round == 0, noise, &found);
    for (uint32_t i = 0; i < found.count && run->found_count < MOTE_PLANES_MAX; i++) take_plane(run, &found.planes[i]);
    if (round == 0 && status == MOTE_OK) take_noise(run, found.planes, found.count, voted == 0);
    if (round == 0) run->facets = found.facets;
    *done = found.count == 0 || sample->count == run->free_points;
    mote_free(run->ctx, found.planes);
    mote_progress_leave(run->ctx, whole);
    MOTE_TRY(status);
    if (found.count == 0) return MOTE_OK;
    const uint64_t before = run->free_points;
    MOTE_TRY(planes_fit_all(run, false));
    MOTE_TRY(planes_label_all(run));
    *done = *done || run->free_points == before; /* the next round would see the same points, and find the same */
    return MOTE_OK;
}

/* What a search found, to come back to. */
typedef struct planes_kept {
    planes_found *found;
    uint32_t found_count;
    double tolerance;
    planes_scale scale;
    uint64_t support;
} planes_kept;

/* voted: planes of the vote, the first of those found, that stay. first: out, the sample of the first round: of all
   points that are no others'. */
static mote_status search_rounds(planes_run *run, uint32_t voted, planes_sample *first) {
    bool done = false;
    run->found_count = voted;
    MOTE_TRY(planes_label_all(run));
    for (int round = 0; round < MAX_ROUNDS && !done; round++) {
        mote_stage(run->ctx, "growing planes");
        if (run->free_points < run->support || run->free_points < MIN_SUPPORT) break;
        planes_sample rest;
        const mote_status status = search_round(run, round, voted, round == 0 ? first : &rest, &done);
        if (round > 0) planes_sample_free(run->ctx, &rest);
        MOTE_TRY(status);
    }
    return MOTE_OK;
}

/* Back to what the vote found. */
static void restore(planes_run *run, const planes_kept *kept) {
    memcpy(run->found, kept->found, kept->found_count * sizeof *run->found);
    run->found_count = kept->found_count;
    run->tolerance = kept->tolerance;
    run->scale = kept->scale;
    run->support = kept->support;
}

/* Walls that bend, and the steps of a sensor, are no planes of one noise: there the vote may explain far more. Planes
   of curved surfaces explain much as well, but do not peak, or are strips of one curve: a wall of a room may bend, but
   most planes of a room do not. facets: of all points, what grew and was no plane but facets of curves has. */
static bool is_vote_better(const planes_sample *sample, double facets, const planes_local_worth *by_vote,
                           const planes_local_worth *locally) {
    if (facets * sample->count > STRIPS_SHARE * by_vote->points) return false;
    if (by_vote->bent >= MIN_STRIPS && by_vote->bent_points > STRIPS_SHARE * by_vote->points) return false;
    return by_vote->peaked_points >= MOSTLY * by_vote->points && by_vote->peaked_nats > FAR_BETTER * locally->nats;
}

static bool is_any_turned(const planes_run *run) {
    for (uint32_t i = 0; i < run->found_count; i++) {
        if (run->found[i].turned) return true;
    }
    return false;
}

/* How well both explain a sample. */
static mote_status judge_both(planes_run *run, const planes_kept *kept, const planes_sample *sample,
                              planes_local_worth *by_vote, planes_local_worth *locally) {
    planes_run before = *run;
    before.found = kept->found;
    before.found_count = kept->found_count;
    before.tolerance = kept->tolerance;
    before.scale = kept->scale;
    MOTE_TRY(judge_found(&before, sample, by_vote));
    return judge_found(run, sample, locally);
}

/* Whether the planes of the vote are slabs of the ground with all that stands on it: thicker than points are apart, and
   far thicker than neighbours tell. */
static bool is_vote_thick(const planes_run *run, const planes_kept *kept) {
    const double noise = kept->tolerance / PLANES_REACH_NOISES;
    return !run->tolerance_given && noise > run->scale.spacing && noise > FAR_THICKER * run->nearby_noise;
}

/* Whether the planes of the vote are far noisier than planes of this cloud are: than those that were grown, if these
   have a part of the sample that tells, and more noise than the representation. */
static bool is_vote_unlike(const planes_run *run, const planes_kept *kept, const planes_sample *sample,
                           const planes_local_worth *locally) {
    const double noise = run->scale.noise;
    return !run->tolerance_given && locally->peaked_points >= MIN_TELLING * sample->count &&
           noise > TOLD_NOISE * floor_of(run) && kept->tolerance > PLANES_REACH_NOISES * PLANES_ALIKE * noise;
}

/* Searches for planes that have a share of all points first, for most of the points are theirs; for all planes at once
   where those of few points take no longer. better: out, false where the planes of the vote are no worse */
static mote_status search_coarsely(planes_run *run, const planes_kept *kept, const planes_sample *all, bool *better) {
    planes_local_worth by_vote, locally;
    planes_sample first;
    memset(&first, 0, sizeof first);
    if (run->support <= 2 * run->min_points) run->support = run->min_points;
    mote_status status = search_rounds(run, 0, &first);
    /* Among few points the cells of a plane are as large as the steps of a body. */
    const planes_sample *sample = is_any_turned(run) ? &first : all;
    if (status == MOTE_OK) status = judge_both(run, kept, sample, &by_vote, &locally);
    if (status == MOTE_OK) {
        *better = is_vote_thick(run, kept) || is_vote_unlike(run, kept, sample, &locally) ||
                  !is_vote_better(sample, run->facets, &by_vote, &locally);
    }
    planes_sample_free(run->ctx, &first);
    return status;
}

/* ---- planes of the vote with grown ones beside them */

/* The planes of the vote, and those that were grown: which stay. */
typedef struct planes_sides {
    planes_kept voted, grown;
    bool *voted_stay, *grown_stay;
} planes_sides;

/* What is kept, as the local search takes it. */
static planes_local_claim *list_kept(const planes_run *run, const planes_kept *kept, const planes_sample *sample,
                                     uint64_t of, double floor) {
    planes_run as_kept = *run;
    as_kept.found = kept->found;
    as_kept.found_count = kept->found_count;
    return list_claims(&as_kept, sample, of, 0, floor);
}

static mote_status contest(const planes_run *run, const planes_sample *sample, uint64_t of, planes_sides *sides) {
    const planes_local_params params = params_of(run, sample, of, FEW);
    planes_local_contestants voted = {NULL, sides->voted.found_count, sides->voted_stay};
    planes_local_contestants grown = {NULL, sides->grown.found_count, sides->grown_stay};
    planes_local_claim *claims[2];
    claims[0] = list_kept(run, &sides->voted, sample, of, params.floor);
    claims[1] = list_kept(run, &sides->grown, sample, of, params.floor);
    mote_status status = claims[0] != NULL && claims[1] != NULL ? MOTE_OK : MOTE_ERROR_MEMORY;
    voted.claims = claims[0];
    grown.claims = claims[1];
    if (status == MOTE_OK) status = planes_local_contest(run->ctx, sample, &params, &voted, &grown);
    mote_free(run->ctx, claims[0]);
    mote_free(run->ctx, claims[1]);
    return status;
}

/* The coarse search has seen what a large plane of the vote is, if not one plane: where that explains it no better, it
   stays. Those come first; returns how many. */
static uint32_t put_first(planes_sides *sides) {
    planes_kept *voted = &sides->voted;
    uint32_t first = 0;
    for (uint32_t i = 0; i < voted->found_count; i++) {
        const planes_found found = voted->found[i];
        if (!sides->voted_stay[i] || found.sums.count < SEEN_WHOLE * voted->support) continue;
        memmove(&voted->found[first + 1], &voted->found[first], (i - first) * sizeof found);
        voted->found[first++] = found;
    }
    return first;
}

/* Lists the planes that were grown beside planes of the vote. One without noise beside planes with noise is a layer:
   one of the steps in which a sensor measures. Coordinates that are rounded have more. tolerance: that of the vote */
static void list_grown(const planes_run *run, double tolerance, planes_kept *grown) {
    const double exact = fmax(TOLD_NOISE * FLOOR, ROUNDING * run->scale.resolution);
    grown->found_count = 0;
    for (uint32_t i = 0; i < run->found_count; i++) {
        const planes_found *found = &run->found[i];
        const bool layer = found->fit.rms <= exact && tolerance > PLANES_REACH_NOISES * exact;
        if (found->grown && !layer) grown->found[grown->found_count++] = *found;
    }
}

/* Planes of few points where no large plane of the vote is. sure: how many of the vote's are large; first: out, the
   points that are none of these; of: how many there are */
static mote_status search_between(planes_run *run, planes_sides *sides, uint32_t sure, planes_sample *first,
                                  uint64_t *of) {
    planes_kept *grown = &sides->grown;
    run->found_count = sure;
    run->support = run->min_points;
    MOTE_TRY(planes_label_all(run));
    *of = run->free_points;
    MOTE_TRY(search_rounds(run, sure, first));
    list_grown(run, sides->voted.tolerance, grown);
    return MOTE_OK;
}

/* All that stay, of both. sure: of the vote's, that stay in any case. */
static mote_status take_both(planes_run *run, const planes_sides *sides, uint32_t sure) {
    const planes_kept *voted = &sides->voted, *grown = &sides->grown;
    run->found_count = 0;
    for (uint32_t i = 0; i < voted->found_count; i++) {
        if (i < sure || sides->voted_stay[i]) run->found[run->found_count++] = voted->found[i];
    }
    for (uint32_t i = 0; i < grown->found_count && run->found_count < MOTE_PLANES_MAX; i++) {
        if (sides->grown_stay[i]) run->found[run->found_count++] = grown->found[i];
    }
    MOTE_TRY(planes_fit_all(run, false));
    return planes_label_all(run);
}

static mote_status open_sides(planes_run *run, planes_sides *sides) {
    planes_kept *grown = &sides->grown;
    sides->voted_stay = mote_alloc_zero(run->ctx, MOTE_PLANES_MAX * sizeof *sides->voted_stay, "planes found");
    sides->grown_stay = mote_alloc_zero(run->ctx, MOTE_PLANES_MAX * sizeof *sides->grown_stay, "planes found");
    grown->found = mote_alloc(run->ctx, MOTE_PLANES_MAX * sizeof *grown->found, "planes found");
    MOTE_TRY(mote_context_status(run->ctx));
    return MOTE_OK;
}

static void close_sides(planes_run *run, planes_sides *sides) {
    mote_free(run->ctx, sides->voted_stay);
    mote_free(run->ctx, sides->grown_stay);
    mote_free(run->ctx, sides->grown.found);
}

/* Keeps the planes of the vote where they are better, and looks for others beside them: the large ones stay, as far as
   the coarse search has found nothing better, and small ones, if the fine search does not. */
static mote_status search_beside(planes_run *run, const planes_kept *kept) {
    planes_sides sides = {*kept, {NULL, 0, 0, run->scale, 0}, NULL, NULL};
    planes_sample first, many;
    uint64_t of = 0;
    uint32_t sure = 0;
    memset(&first, 0, sizeof first);
    memset(&many, 0, sizeof many);
    mote_status status = open_sides(run, &sides);
    if (status == MOTE_OK) {
        list_grown(run, kept->tolerance, &sides.grown);
        run->found_count = 0;
        status = planes_label_all(run);
    }
    if (status == MOTE_OK) status = read_sample(run, run->points->count, MAX_CONTEST, &many);
    if (status == MOTE_OK) status = contest(run, &many, run->points->count, &sides);
    if (status == MOTE_OK) {
        for (uint32_t i = 0; i < kept->found_count; i++) kept->found[i].tolerance = kept->tolerance;
        sure = put_first(&sides);
        restore(run, kept);
        status = search_between(run, &sides, sure, &first, &of);
    }
    if (status == MOTE_OK && first.count > 0) status = contest(run, &first, of, &sides);
    if (status == MOTE_OK) status = take_both(run, &sides, sure);
    planes_sample_free(run->ctx, &many);
    planes_sample_free(run->ctx, &first);
    close_sides(run, &sides);
    return status;
}

/* Adds the planes of the coarse search that stay. Where they are most of what there is, their noise is the cloud's. */
static mote_status add_coarse(planes_run *run, planes_sides *sides, const planes_sample *first) {
    uint64_t coarse = 0, fine = 0;
    MOTE_TRY(contest(run, first, run->points->count, sides));
    for (uint32_t i = 0; i < sides->voted.found_count; i++) {
        coarse += sides->voted_stay[i] ? sides->voted.found[i].sums.count : 0;
    }
    for (uint32_t i = 0; i < sides->grown.found_count; i++) {
        fine += sides->grown_stay[i] ? sides->grown.found[i].sums.count : 0;
    }
    if (coarse == 0) return MOTE_OK;
    if (coarse > fine) run->scale = sides->voted.scale;
    if (coarse > fine) run->tolerance = sides->voted.tolerance;
    return take_both(run, sides, 0);
}

/* By planes of few points, of as many points as a search takes. A growth among more points may take another way, and
   come to nothing: where fewer points have a plane afterwards, planes of the coarse search stay whose points the fine
   one explains far worse. */
static mote_status search_finely(planes_run *run) {
    planes_sides sides = {
        {NULL, run->found_count, run->tolerance, run->scale, run->support}, {NULL, 0, 0, run->scale, 0}, NULL, NULL};
    const uint64_t free_before = run->free_points;
    planes_sample first;
    if (run->min_points >= run->support) return MOTE_OK;
    memset(&first, 0, sizeof first);
    mote_status status = open_sides(run, &sides);
    sides.voted.found = mote_alloc(run->ctx, (sides.voted.found_count + 1) * sizeof *run->found, "planes found");
    if (sides.voted.found == NULL) status = MOTE_ERROR_MEMORY;
    if (status == MOTE_OK) {
        memcpy(sides.voted.found, run->found, run->found_count * sizeof *run->found);
        run->support = run->min_points;
        status = search_rounds(run, 0, &first);
    }
    if (status == MOTE_OK && run->free_points > free_before) {
        sides.grown.found_count = run->found_count;
        memcpy(sides.grown.found, run->found, run->found_count * sizeof *run->found);
        status = add_coarse(run, &sides, &first);
    }
    planes_sample_free(run->ctx, &first);
    mote_free(run->ctx, sides.voted.found);
    close_sides(run, &sides);
    return status;
}

mote_status planes_search_locally(planes_run *run, const planes_sample *all) {
    planes_kept kept = {NULL, run->found_count, run->tolerance, run->scale, run->support};
    bool better = false;
    kept.found = mote_alloc(run->ctx, run->found_count * sizeof *kept.found, "planes found");
    if (kept.found == NULL) return MOTE_ERROR_MEMORY;
    memcpy(kept.found, run->found, run->found_count * sizeof *kept.found);
    mote_status status = search_coarsely(run, &kept, all, &better);
    if (status == MOTE_OK) status = better ? search_finely(run) : search_beside(run, &kept);
    mote_free(run->ctx, kept.found);
    return status;
}
