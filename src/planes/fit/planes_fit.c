/* Planes and all points: fits planes to their points, drops those that do not stand, labels the points. */
#include <stdlib.h>

#include "planes/planes.h"

#define SETTLE_TURNS     24
#define QUICK_TURNS      3   /* before others are looked for */
#define SAME_DISTANCE    1.5 /* tolerances, root mean square: two planes are one */
#define SAME_COSINE      0.996
#define SAME_NOISE       1.1  /* times the larger noise: that of one's points about the other, if both are one */
#define MIN_NOISE        1.0  /* steps: less is the rounding to the lattice */
#define LOCAL_PEAKED     0.7  /* of the points, half a tolerance holds: 0.87 of normal ones, 0.5 of even ones */
#define PEAKED_BY_CHANCE 0.5  /* and so much less, of one point */
#define LOCAL_GUARD      1.35 /* tolerances: of 16,000 normal points one is farther out */

double planes_tolerance_of(const planes_run *run, const planes_found *found) {
    return found->tolerance > 0 ? found->tolerance : run->tolerance;
}

planes_plane planes_plane_of(const planes_run *run, const planes_found *found) {
    const double tolerance = planes_tolerance_of(run, found);
    planes_plane plane =
        planes_plane_from(&found->fit, tolerance, (found->grown ? LOCAL_GUARD : PLANES_GUARD) * tolerance, run->cone);
    plane.reach = found->reach;
    return plane;
}

/* Assigns all points to the planes that were found. sums [found], free_points: out; NULL: not wanted */
static mote_status assign_all(planes_run *run, planes_sums *sums, uint64_t *free_points) {
    planes_plane *planes = mote_alloc(run->ctx, run->found_count * sizeof *planes, "planes found");
    if (planes == NULL) return MOTE_ERROR_MEMORY;
    for (uint32_t i = 0; i < run->found_count; i++) planes[i] = planes_plane_of(run, &run->found[i]);
    const planes_assignment how = {planes, NULL, run->found_count, sums, free_points};
    const mote_status status = run->ops->assign(run->points, &how);
    mote_free(run->ctx, planes);
    return status;
}

planes_fit planes_fit_found(const planes_found *found, const planes_sums *sums) {
    planes_fit fit = planes_fit_sums(sums);
    if (!fit.valid || !found->turned) return fit;
    memcpy(fit.normal, found->fit.normal, sizeof fit.normal);
    fit.offset = planes_dot(fit.normal, fit.centroid);
    fit.rms = planes_mean_distance(sums, &fit);
    return fit;
}

static bool same_sums(const planes_sums *a, const planes_sums *b) {
    return a->count == b->count && memcmp(a->first, b->first, sizeof a->first) == 0;
}

/* Fits all planes to their points until that changes nothing, or a number of times. */
static mote_status settle(planes_run *run, int turns) {
    planes_sums *sums = mote_alloc(run->ctx, run->found_count * sizeof *sums, "planes found");
    mote_status status = sums != NULL ? MOTE_OK : MOTE_ERROR_MEMORY;
    for (int turn = 0; turn < turns && status == MOTE_OK; turn++) {
        bool changed = false;
        status = assign_all(run, sums, NULL);
        for (uint32_t i = 0; i < run->found_count && status == MOTE_OK; i++) {
            planes_found *found = &run->found[i];
            changed = changed || !same_sums(&sums[i], &found->sums);
            found->sums = sums[i];
            const planes_fit next = planes_fit_found(found, &sums[i]);
            found->fit.valid = next.valid;
            if (next.valid) found->fit = next;
        }
        if (!changed) break;
    }
    mote_free(run->ctx, sums);
    return status;
}

static bool is_same(const planes_run *run, const planes_found *a, const planes_found *b) {
    const double cosine = fabs(planes_dot(a->fit.normal, b->fit.normal));
    return cosine >= SAME_COSINE &&
           planes_mean_distance(&b->sums, &a->fit) <= SAME_DISTANCE * planes_tolerance_of(run, a);
}

/* The extent of a plane along the axes of another plane. */
static void reach_along(const planes_reach *of, const planes_reach *axes, float low[2], float high[2]) {
    for (int axis = 0; axis < 2; axis++) {
        const float *to = axis == 0 ? axes->u : axes->v;
        const float u = (to[0] * of->u[0] + to[1] * of->u[1]) + to[2] * of->u[2];
        const float v = (to[0] * of->v[0] + to[1] * of->v[1]) + to[2] * of->v[2];
        const float at_u[2] = {u * of->low[0], u * of->high[0]}, at_v[2] = {v * of->low[1], v * of->high[1]};
        low[axis] = fminf(at_u[0], at_u[1]) + fminf(at_v[0], at_v[1]);
        high[axis] = fmaxf(at_u[0], at_u[1]) + fmaxf(at_v[0], at_v[1]);
    }
}

/* Whether b is a piece of a: the same plane, as far as the noise tells, where a is or beside it. A plane that a scanner
   saw from far has so few points at its end that it was found in two. */
static bool is_piece(const planes_found *a, const planes_found *b) {
    const double cosine = fabs(planes_dot(a->fit.normal, b->fit.normal));
    const double noise = fmax(fmax(a->fit.rms, b->fit.rms), MIN_NOISE);
    float low[2], high[2];
    if (cosine < SAME_COSINE || a->turned || b->turned) return false;
    if (planes_mean_distance(&b->sums, &a->fit) > SAME_NOISE * noise) return false;
    reach_along(&b->reach, &a->reach, low, high);
    for (int axis = 0; axis < 2; axis++) {
        if (low[axis] > a->reach.high[axis] || high[axis] < a->reach.low[axis]) return false;
    }
    return true;
}

/* Extends plane a by its piece b. */
static void take_piece(planes_found *a, const planes_found *b) {
    float low[2], high[2];
    reach_along(&b->reach, &a->reach, low, high);
    for (int axis = 0; axis < 2; axis++) {
        a->reach.low[axis] = fminf(a->reach.low[axis], low[axis]);
        a->reach.high[axis] = fmaxf(a->reach.high[axis], high[axis]);
    }
    a->tolerance = fmax(a->tolerance, b->tolerance);
    a->cell = fmax(a->cell, b->cell);
}

static int compare_found(const void *a, const void *b) {
    const planes_found *x = a, *y = b;
    if (x->sums.count != y->sums.count) return x->sums.count > y->sums.count ? -1 : 1;
    return x->fit.offset < y->fit.offset ? -1 : x->fit.offset > y->fit.offset;
}

/* Why a plane does not stand: what planes_stands asks, in its order. */
static void note_fallen(planes_run *run, const planes_found *f) {
    const double own = (double)(f->grown ? f->sums.count : f->sums.own), min = (double)run->support;
    const double below = (double)f->sums.in_bands[0], above = (double)f->sums.in_bands[1], mean = 0.5 * (below + above);
    if (own - mean < min) {
        planes_refuse_found(run, f, MOTE_PLANES_FEW_POINTS, fmax(own - mean, 0), min);
    } else if (own < PLANES_CONTRAST * fmax(below, above) || own - mean < PLANES_SIGNIFICANT * sqrt(mean + 1)) {
        planes_refuse_found(run, f, MOTE_PLANES_DENSE_SIDE, fmax(below, above) / own, 1 / PLANES_CONTRAST);
    } else {
        planes_refuse_found(run, f, MOTE_PLANES_NO_PEAK, (double)f->sums.inner / own, PLANES_PEAKED);
    }
}

/* Whether the points of a plane are denser in its middle, less the strays that lie beside it on the emptier side: of
   all points, which are more than those that it was found among. A piece of a curve fills its slab evenly. */
static bool is_peaked(const planes_found *f) {
    const double own = (double)f->sums.own,
                 strays =
                     (double)(f->sums.in_bands[0] < f->sums.in_bands[1] ? f->sums.in_bands[0] : f->sums.in_bands[1]);
    const double sure = own - strays, inner = (double)f->sums.inner - 0.5 * strays;
    return f->turned || sure <= 0 || inner >= (LOCAL_PEAKED - PEAKED_BY_CHANCE / sqrt(sure)) * sure;
}

/* Planes of a local search have shared the points out by likelihood, and their points are normal about them: there what
   a larger plane has within its tolerance counts, too. */
static bool stands(const planes_run *run, const planes_found *f) {
    const uint64_t *in_bands = f->sums.in_bands;
    if (f->grown) {
        return planes_stands(f->sums.count, 0, in_bands[0], in_bands[1], run->support, false) &&
               (run->tolerance_given || is_peaked(f));
    }
    return planes_stands(f->sums.own, f->sums.inner, in_bands[0], in_bands[1], run->support, !run->tolerance_given);
}

/* Whether a and b are the same plane. If b is a piece of a, a is extended by it. */
static bool is_one(const planes_run *run, planes_found *a, const planes_found *b) {
    if (!a->grown || !b->grown) return is_same(run, a, b);
    if (!is_piece(a, b)) return false;
    take_piece(a, b);
    return true;
}

/* Sorts planes by their points and drops those that are none and those that are another. Returns how many went. */
static uint32_t drop_planes(planes_run *run) {
    uint32_t kept = 0;
    qsort(run->found, run->found_count, sizeof *run->found, compare_found);
    for (uint32_t i = 0; i < run->found_count; i++) {
        const planes_found *f = &run->found[i];
        bool keep = f->fit.valid && stands(run, f);
        if (!keep) note_fallen(run, f);
        for (uint32_t k = 0; k < kept && keep; k++) keep = !is_one(run, &run->found[k], f);
        if (keep) run->found[kept++] = *f;
    }
    const uint32_t dropped = run->found_count - kept;
    run->found_count = kept;
    return dropped;
}

mote_status planes_fit_all(planes_run *run, bool quick) {
    const int turns = quick ? QUICK_TURNS : SETTLE_TURNS;
    uint32_t dropped = 0;
    mote_stage(run->ctx, "fitting planes");
    do {
        MOTE_TRY(settle(run, turns));
        dropped = drop_planes(run);
    } while (dropped > 0 && !quick);
    return MOTE_OK;
}

mote_status planes_label_all(planes_run *run) {
    mote_stage(run->ctx, "labelling points");
    return assign_all(run, NULL, &run->free_points);
}
