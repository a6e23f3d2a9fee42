/* Whether what the vote found is all there is; and if not, the search by what is flat nearby, in rounds, each on a
   sample of the points that belong to no plane yet. In the first round the planes of the vote are candidates. Where
   hardly any grow, and most of the vote was confirmed, the vote is the answer after all. */
#include "planes/local/planes_local.h"
#include "planes/planes.h"

#define SUPPORT        200.0   /* points of a sample that a plane of just enough points has */
#define MAX_SAMPLE     262144u /* of the local search */
#define CONFIRM_SAMPLE 8192u   /* of all points, that the planes of the vote are held against */
#define MIN_FREE       1024u   /* points of those that belong to no plane, that are looked at for more */
#define MAX_FREE       4096u
#define FREE_SUPPORT   80.0 /* points that a plane of just enough points has among them */
#define MIN_SUPPORT    12.0
#define FEW            8.0
#define SHARE          0.7 /* of its part of the points, a plane has in a sample */
#define THIN           0.5 /* of the points, a sample has: small planes have too few of them to tell a curve */
#define MAX_ROUNDS     3
#define MIN_FREED      0.02 /* of the points, a round takes: after fewer, the next one would see nearly the same */
#define ROUNDING       0.29 /* of a step: the noise that rounding to steps makes */
#define SPREAD_FLOOR   (0.8 * ROUNDING) /* of a step: less than the noise that spreading points within it makes */
#define FLOOR          1.4              /* steps: half a diagonal of the lattice is 0.9 */
#define NEXT_LAYER     2.2              /* steps: half of it has the layers beside the middle one */
#define MOST_STAND     0.8 /* of the vote's points, planes have that were confirmed, or it is given up; see history */
#define FEW_FOUND      0.5 /* of these points, planes have that grew: then the vote is given up */
#define ONE_NOISE      1.8 /* times the thinnest plane's: rooms have 1.3, turning scanners 1.6, stands as slopes 2.1 */

/* ---- samples */

/* Where coordinates are rounded to steps as large as the noise, a plane along two axes has its points in a few layers,
   and next to none in the middle. Steps that make less noise than the lattice does make none. */
static void spread_sample(const planes_run *run, planes_sample *sample) {
    double steps[3];
    for (int k = 0; k < 3; k++) steps[k] = ROUNDING * run->scale.steps[k] > FLOOR ? run->scale.steps[k] : 0;
    planes_sample_spread(sample, steps);
}

static mote_status read_sample(planes_run *run, uint64_t free_points, uint32_t max, planes_sample *sample) {
    const uint32_t size = free_points < max ? (uint32_t)free_points : max;
    mote_status status = planes_sample_make(run->ctx, size, sample);
    if (status == MOTE_OK) status = run->ops->read_sample(run->points, size, sample);
    if (status == MOTE_OK) planes_sample_drop_copies(sample);
    if (status == MOTE_OK) spread_sample(run, sample);
    return status;
}

/* No noise is less. Points that were spread within their steps have more. */
static double floor_of(const planes_run *run) {
    if (run->tolerance_given) return run->tolerance / PLANES_REACH_NOISES;
    return fmax(FLOOR, run->scale.step > 0 ? SPREAD_FLOOR * run->scale.step : 0.5 * run->scale.resolution);
}

/* of: the points that the sample is of */
static planes_local_params params_of(const planes_run *run, const planes_sample *sample, uint64_t of, double min) {
    const double share = of > 0 ? (double)sample->count / (double)of : 1;
    planes_local_params params;
    memset(&params, 0, sizeof params);
    params.floor = floor_of(run);
    params.nearby_noise = run->tolerance_given ? run->nearby_noise : fmax(run->nearby_noise, params.floor);
    params.owned = fmax(0, 1 - (double)of / (double)run->points->finite);
    params.refusals = run->refusals;
    if (run->refusals != NULL) run->refusals->share = 1 / share;
    const double least = share < THIN ? 1 : SHARE;
    params.min_points = (uint32_t)fmax(min, least * (double)run->support * share);
    return params;
}

/* ---- is that all? */

mote_status planes_sample_all(planes_run *run, planes_sample *sample) {
    return read_sample(run, run->points->count, CONFIRM_SAMPLE, sample);
}

double planes_cell_of_sample(const planes_run *run, const planes_sample *sample) {
    const double thinning = sqrt((double)sample->count / (double)run->points->count);
    return fmax(3 * run->scale.spacing / thinning, 4);
}

/* Planes of the vote, as the local search takes them. sample: of all points; noise: that of all, or 0: each its own */
static planes_local_claim *list_claims(const planes_run *run, const planes_found *found, uint32_t count,
                                       const planes_sample *sample, double noise) {
    const double floor = floor_of(run), cell = planes_cell_of_sample(run, sample);
    planes_local_claim *claims = mote_alloc(run->ctx, (count + 1) * sizeof *claims, "planes found");
    for (uint32_t i = 0; i < count && claims != NULL; i++) {
        const planes_fit *fit = &found[i].fit;
        memcpy(claims[i].normal, fit->normal, sizeof claims[i].normal);
        claims[i].offset = fit->offset;
        claims[i].noise = fmax(noise > 0 ? noise : fit->rms, floor);
        claims[i].cell = cell;
        claims[i].stands = false;
    }
    return claims;
}

/* What a search begins with, and knows after its first round. */
typedef struct local_search {
    planes_found *voted; /* [voted_count] planes of the vote */
    uint32_t voted_count;
    double tolerance; /* theirs */
    double noise;     /* of planes, once it is known; 0: it is not */
} local_search;

/* Finds planes of a sample of so many free points: in the first round beside those of the vote, later of a noise that
   is known. found: to be freed, also on failure */
static mote_status find_locally(planes_run *run, const local_search *search, int round, double size,
                                planes_local_found *found, uint32_t *looked_at) {
    planes_sample sample;
    mote_status status = read_sample(run, run->free_points, size < MAX_SAMPLE ? (uint32_t)size : MAX_SAMPLE, &sample);
    planes_local_claim *claims = list_claims(run, search->voted, search->voted_count, &sample, 0);
    if (status == MOTE_OK && claims == NULL) status = MOTE_ERROR_MEMORY;
    if (status == MOTE_OK) {
        planes_local_params params = params_of(run, &sample, run->free_points, MIN_SUPPORT);
        params.centred = round == 0;
        params.known_noise = search->noise;
        params.claims = claims;
        params.claim_count = round == 0 ? search->voted_count : 0;
        status = planes_local_find(run->ctx, &sample, &params, found);
    }
    *looked_at = sample.count;
    mote_free(run->ctx, claims);
    planes_sample_free(run->ctx, &sample);
    return status;
}

/* Whether all planes that were found are planes. */
static mote_status confirm_found(planes_run *run, const planes_sample *all, bool *sure) {
    const planes_local_params params = params_of(run, all, run->points->count, FEW);
    planes_local_claim *claims =
        list_claims(run, run->found, run->found_count, all, run->tolerance / PLANES_REACH_NOISES);
    if (claims == NULL) return MOTE_ERROR_MEMORY;
    const mote_status status =
        planes_local_confirm(run->ctx, all, &params, claims, run->found_count, run->params.components, sure);
    for (uint32_t i = 0; i < run->found_count; i++) run->found[i].stands = claims[i].stands;
    mote_free(run->ctx, claims);
    return status;
}

/* How many points that belong to no plane are looked at: where the caller says how small planes are, so many that such
   planes are seen among them. */
static double count_free_sample(const planes_run *run) {
    const double wanted = FREE_SUPPORT * (double)run->free_points / (double)run->support;
    return fmin(fmax(wanted, MIN_FREE), run->params.min_points > 0 ? MAX_SAMPLE : MAX_FREE);
}

/* Whether there are planes among the points that belong to none. */
static mote_status find_more(planes_run *run, bool *more) {
    const local_search later = {NULL, 0, 0, 0};
    planes_local_found found = {NULL, 0};
    uint32_t looked_at;
    *more = false;
    if (run->free_points < run->support || run->free_points < MIN_SUPPORT) return MOTE_OK;
    const mote_progress_span whole = mote_progress_enter(run->ctx, 0.8, 0.8);
    const mote_status status = find_locally(run, &later, 1, count_free_sample(run), &found, &looked_at);
    mote_progress_leave(run->ctx, whole);
    *more = found.count > 0;
    mote_free(run->ctx, found.planes);
    return status;
}

/* Whether the planes of the vote are about as thick as each other. Where a stand of steps was taken for a slope, it is
   thicker than the ground beside it, and what looks like its noise are the steps. */
static bool have_one_noise(const planes_run *run) {
    double least = INFINITY, most = 0;
    for (uint32_t i = 0; i < run->found_count; i++) {
        const double noise = fmax(run->found[i].fit.rms, floor_of(run));
        least = fmin(least, noise);
        most = fmax(most, noise);
    }
    return most <= ONE_NOISE * least;
}

mote_status planes_is_all(planes_run *run, const planes_sample *all, bool *sure) {
    bool more = false;
    *sure = false;
    if (run->found_count == 0 || !have_one_noise(run)) return MOTE_OK;
    mote_stage(run->ctx, "confirming planes");
    MOTE_TRY(confirm_found(run, all, sure));
    if (*sure) MOTE_TRY(find_more(run, &more));
    *sure = *sure && !more;
    return MOTE_OK;
}

/* ---- the search */

/* How far a point may be off a plane of that noise. Where coordinates are steps, the next layers are within half of
   it, or the plane would seem to have no points but those in its middle. */
static double tolerance_of(const planes_run *run, double noise) {
    const double least = fmax(4, fmax(run->scale.resolution, NEXT_LAYER * run->scale.step));
    return run->tolerance_given ? run->tolerance : fmax(PLANES_REACH_NOISES * noise, least);
}

static planes_found describe_grown(const planes_run *run, const planes_local_plane *plane) {
    const double *c = plane->centroid, *axes[2] = {plane->u, plane->v};
    planes_found found;
    memset(&found, 0, sizeof found);
    memcpy(found.fit.normal, plane->normal, sizeof found.fit.normal);
    memcpy(found.fit.centroid, c, sizeof found.fit.centroid);
    found.fit.offset = plane->offset;
    found.fit.rms = plane->noise;
    found.fit.valid = true;
    found.votes = plane->count;
    found.tolerance = tolerance_of(run, plane->noise);
    found.cell = fmax(plane->cell, fmax(2, 2 * found.tolerance));
    found.turned = plane->turned;
    found.grown = true;
    found.reach.bounded = 1;
    for (int k = 0; k < 3; k++) {
        found.reach.u[k] = (float)plane->u[k];
        found.reach.v[k] = (float)plane->v[k];
    }
    for (int k = 0; k < 2; k++) {
        const double at = planes_dot(c, axes[k]);
        found.reach.low[k] = (float)(at + plane->low[k] - 0.5 * plane->cell);
        found.reach.high[k] = (float)(at + plane->high[k] + 0.5 * plane->cell);
    }
    return found;
}

static void take_planes(planes_run *run, const local_search *search, const planes_local_found *found) {
    for (uint32_t i = 0; i < found->count && run->found_count < MOTE_PLANES_MAX; i++) {
        const planes_local_plane *plane = &found->planes[i];
        planes_found *to = &run->found[run->found_count++];
        *to = plane->candidate > 0 ? search->voted[plane->candidate - 1] : describe_grown(run, plane);
        if (plane->candidate > 0) to->tolerance = search->tolerance;
    }
}

/* Which planes tell their noise. */
typedef enum noise_tellers { GROWN, ALL_BUT_WARPED, ALL_PLANES } noise_tellers;

/* A plane of the vote may be wider than planes are; one that bends is. */
static bool tells_noise(const planes_local_plane *plane, noise_tellers of) {
    return of == ALL_PLANES || (!plane->warped && (of == ALL_BUT_WARPED || plane->candidate == 0));
}

/* The noise of the plane that has the middle point of all that these planes have; 0: there is none. */
static double middle_noise(const planes_local_found *found, noise_tellers of) {
    double noises[PLANES_LOCAL_MAX], weights[PLANES_LOCAL_MAX];
    for (uint32_t i = 0; i < found->count; i++) {
        noises[i] = found->planes[i].noise;
        weights[i] = tells_noise(&found->planes[i], of) ? found->planes[i].count : 0;
    }
    return planes_weighted_median(noises, weights, found->count);
}

/* What is said of the cloud is the noise of all its planes; what is still to be found has that of those that grew. */
static void take_noise(planes_run *run, local_search *search, const planes_local_found *found) {
    const double grown = middle_noise(found, GROWN), told = middle_noise(found, ALL_BUT_WARPED);
    const double all = told > 0 ? told : middle_noise(found, ALL_PLANES);
    search->noise = run->tolerance_given ? run->scale.noise : grown > 0 ? grown : all;
    if (all <= 0 || run->tolerance_given) return;
    run->scale.noise = all;
    run->scale.flat = true;
    planes_choose_tolerance(run);
}

/* done: whether there is nothing more to find. */
static mote_status search_round(planes_run *run, local_search *search, int round, bool *done) {
    const double wanted = SUPPORT * (double)run->free_points / (double)run->support, share = 0.05 / (1 << round);
    const mote_progress_span whole = mote_progress_enter(run->ctx, 0.9 - 2 * share, 0.9 - share);
    const uint64_t before = run->free_points;
    planes_local_found found = {NULL, 0};
    uint32_t looked_at;
    mote_stage(run->ctx, "growing planes");
    mote_status status = find_locally(run, search, round, wanted, &found, &looked_at);
    if (status == MOTE_OK) take_planes(run, search, &found);
    if (status == MOTE_OK && round == 0) take_noise(run, search, &found);
    *done = found.count == 0 || looked_at == before;
    mote_free(run->ctx, found.planes);
    mote_progress_leave(run->ctx, whole);
    MOTE_TRY(status);
    if (found.count == 0) return MOTE_OK;
    MOTE_TRY(planes_fit_all(run, false));
    MOTE_TRY(planes_label_all(run));
    *done = *done || (double)run->free_points > (1 - MIN_FREED) * (double)before;
    return MOTE_OK;
}

/* The planes of the vote that stand, as they were before the search. */
static mote_status take_vote(planes_run *run, const planes_run *before, const local_search *search) {
    run->found_count = 0;
    for (uint32_t i = 0; i < search->voted_count; i++) {
        if (search->voted[i].stands) run->found[run->found_count++] = search->voted[i];
    }
    run->scale = before->scale;
    run->tolerance = before->tolerance;
    run->support = before->support;
    return planes_label_all(run);
}

/* Whether the vote knows better: nearly all of its planes stand, and hardly any has grown. So it is where a scanner's
   lines are far apart, for a window of the order sees points of one line. */
static bool knows_better(const planes_run *run, const planes_run *before, const local_search *search) {
    double all = 0, stand = 0;
    for (uint32_t i = 0; i < search->voted_count; i++) {
        const double points = (double)search->voted[i].sums.count;
        all += points;
        stand += search->voted[i].stands ? points : 0;
    }
    const double voted = (double)(run->points->finite - before->free_points);
    const double grown = (double)(run->points->finite - run->free_points);
    return stand > 0 && stand >= MOST_STAND * all && grown < FEW_FOUND * voted;
}

mote_status planes_search_locally(planes_run *run) {
    const planes_run before = *run;
    local_search search = {NULL, run->found_count, run->tolerance, 0};
    bool done = false;
    search.voted = mote_alloc(run->ctx, (search.voted_count + 1) * sizeof *search.voted, "planes found");
    if (search.voted == NULL) return MOTE_ERROR_MEMORY;
    memcpy(search.voted, run->found, search.voted_count * sizeof *search.voted);
    run->found_count = 0;
    run->support = run->min_points;
    mote_status status = planes_label_all(run);
    for (int round = 0; round < MAX_ROUNDS && !done && status == MOTE_OK; round++) {
        if (run->free_points < run->support || run->free_points < MIN_SUPPORT) break;
        status = search_round(run, &search, round, &done);
    }
    if (status == MOTE_OK && knows_better(run, &before, &search)) status = take_vote(run, &before, &search);
    mote_free(run->ctx, search.voted);
    return status;
}
