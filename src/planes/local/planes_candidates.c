/* Candidates of the vote among what grows. A plane of the vote has no end, and a noise that may be wider than any
   neighbourhood: it may be a wall that bends, or one that a sensor measures in steps, and then no window of the order
   shows it. Elsewhere it is a slab through several planes, as through all roofs of a height. So the candidates share
   the points out before anything has grown, and in the end both descriptions of the same points are compared, each
   candidate and all that has grown among its points:

       a wall that bends                       a slab through roofs
        ____      ____                              /\      /\
            \____/      grown: a part of it   -----/--\----/--\----     grown: each side of each roof
       ===============  the candidate          ==== the candidate

   One whose noise is no more than neighbours tell is left to the windows: they see it, too.

   A slice of a dune, or of a mug, is a candidate as well. A plane ends at an edge, but a slice ends where the surface
   leaves it: there its own points are off it towards the rim, more and more, and beyond the rim they go on to the same
   side. At the edge of a wall nothing is beyond it, or what is there was not on its way. */
#include <math.h>
#include <string.h>

#include "planes/local/planes_growth.h"

#define WIDER         2.0 /* times what neighbours tell: the noise of a candidate that windows do not see; see history */
#define MIN_TELLING   0.2  /* of the candidates' points, grown planes have as many that tell the noise of planes */
#define PEAK_SHOULDER 0.4  /* density at 2.25 noises, of the middle's: 0.11 of normal points, 1 of even ones */
#define PEAK_CENTRAL  0.4  /* share of the points within 0.67 noises: of normal ones 0.5, of even ones 0.22 */
#define MOSTLY        0.68 /* of the candidates' points are of some that peak, or they are slices of curves */
#define LEAVING       0.25 /* share of the rim of a slice at which a surface leaves it; of walls up to 0.2, see history */
#define FAR_NOISES    18.0 /* a surface that leaves is seen as far */
#define FAR_VOLUMES   2.8  /* of the points on one side, to those within the reach of a growth */
#define SLICES        0.25 /* of the candidates' points are of slices: then all candidates are */

/* ---- slices */

/* Whether the points of a cell at the rim are off the plane, more so than those of the next cell inwards, and go on to
   the same side in the next one outwards. */
static bool is_leaving(const planes_local *s, const planes_growth *g, uint32_t cell, uint32_t inner, uint32_t outer) {
    const double off = (double)s->cell_sum[cell] / s->cell_in[cell];
    const double less = (double)s->cell_sum[inner] / s->cell_in[inner];
    const double beyond = s->cell_beside[2 * outer + (off > 0)] - FAR_VOLUMES * g->strays;
    return fabs(off) >= GROWTH_RIM_NOISES * g->noise && fabs(off) > fabs(less) &&
           fabs(off - less) > PLANES_LEAVING * g->cell && beyond >= GROWTH_RIM_SHARE * (g->density - g->strays);
}

/* Counts the points on either side, farther than a noise and as far as a surface may be that goes on, whoever has
   them. */
static void count_far(planes_local *s, const planes_growth *g) {
    planes_growth all = *g;
    all.density = 1e300; /* nobody explains a point better */
    planes_take_near(s, &all, FAR_NOISES * g->noise);
    memset(s->cell_beside, 0, 2 * (uint64_t)g->columns * g->rows * sizeof *s->cell_beside);
    for (uint32_t i = 0; i < s->near_count; i++) {
        const uint32_t cell = growth_cell_of(s, g, i);
        const double distance = (double)s->near_distance[i];
        if (cell != UINT32_MAX && fabs(distance) >= g->noise) s->cell_beside[2 * cell + (distance > 0)]++;
    }
}

/* The share of the ends of the growth that was described in the scratch at which a surface leaves it and goes on. The
   scratch goes. */
static double leaving_rim(planes_local *s, const planes_growth *g) {
    const int32_t next[4] = {-1, 1, -(int32_t)g->columns, (int32_t)g->columns};
    uint32_t ends = 0, leaving = 0;
    count_far(s, g);
    for (uint32_t row = 1; row + 1 < g->rows; row++) {
        for (uint32_t cell = row * g->columns + 1; cell + 1 < (row + 1) * g->columns; cell++) {
            for (int k = 0; k < 4 && s->cell_mark[cell] != 0; k++) {
                const uint32_t outer = cell + (uint32_t)next[k], inner = cell - (uint32_t)next[k];
                if (s->cell_mark[outer] != 0 || s->cell_mark[inner] == 0) continue;
                ends++;
                leaving += is_leaving(s, g, cell, inner, outer);
            }
        }
    }
    return ends > 0 ? (double)leaving / ends : 0;
}

/* ---- before anything has grown */

/* Points of all candidates, of those that peak, and of slices of what is curved. */
typedef struct candidates_points {
    double all, peaked, slices;
} candidates_points;

/* Lets a candidate take the points that it explains best. number: from 1 */
static void add_candidate(planes_local *s, uint32_t number, candidates_points *points) {
    planes_growth g;
    uint32_t won;
    planes_begin_claim(&s->params.claims[number - 1], &g);
    if (!planes_lay(s, &g)) return;
    const bool is_wider = g.noise > WIDER * s->params.nearby_noise && planes_is_supported(s, &g, PLANES_ALONG);
    const bool closely = planes_is_supported(s, &g, PLANES_CLOSELY);
    points->all += g.count;
    if (planes_claim_points(s, &g, -1, &won) < PLANES_LOCAL_NATS) return;
    points->peaked += g.shoulders[1] <= PEAK_SHOULDER && g.central >= PEAK_CENTRAL ? g.count : 0;
    const int32_t plane = planes_add_empty(s);
    planes_commit(s, &g, plane);
    const bool is_slice = !closely && leaving_rim(s, &g) >= LEAVING;
    s->planes[plane].candidate = is_wider && !is_slice ? number : 0;
    s->planes[plane].closely = closely;
    points->slices += is_slice ? g.count : 0;
}

mote_status planes_share_candidates(planes_local *s) {
    candidates_points points = {0, 0, 0};
    for (uint32_t i = 0; i < s->params.claim_count && s->plane_count < PLANES_LOCAL_MAX && !mote_stop(s->ctx); i++) {
        add_candidate(s, i + 1, &points);
    }
    const bool are_slices = points.peaked < MOSTLY * points.all || points.slices >= SLICES * points.all;
    if (!are_slices && s->plane_count > 0) MOTE_TRY(planes_keep_owners(s, &s->candidates));
    planes_take_back(s, 0);
    return mote_stopped(s->ctx);
}

/* ---- once all has grown */

/* What the points of each candidate gain by it, and by what has grown, nats. */
typedef struct candidates_nats {
    double own[PLANES_LOCAL_MAX], grown[PLANES_LOCAL_MAX];
} candidates_nats;

static void weigh_candidates(const planes_local *s, candidates_nats *nats) {
    const planes_owners *candidates = &s->candidates;
    memset(nats, 0, sizeof *nats);
    for (uint32_t i = 0; i < s->sample->count; i++) {
        const int32_t candidate = candidates->owner[i];
        if (candidate < 0) continue;
        nats->own[candidate] += (double)candidates->likelihood[i] - s->background;
        nats->grown[candidate] += s->owner[i] >= 0 ? (double)s->likelihood[i] - s->background : 0;
    }
}

/* The noise that a plane of this cloud may have, if enough has grown to tell. */
static double max_noise_of(const planes_local *s) {
    double points = 0;
    for (uint32_t i = 0; i < s->candidates.count; i++) points += s->candidates.planes[i].count;
    const bool tells = planes_owned_points(s) >= MIN_TELLING * points;
    return tells ? PLANES_ALIKE * fmax(planes_middle_noise(s), GROWTH_TOLD_NOISE * s->params.floor) : INFINITY;
}

/* The candidates that explain their points better become planes without points. number: out, of each; -1: none */
static void add_chosen(planes_local *s, int32_t number[PLANES_LOCAL_MAX]) {
    const planes_owners *candidates = &s->candidates;
    const bool closely = s->plane_count == 0; /* where nothing has grown, all may be curved */
    const double max_noise = max_noise_of(s);
    candidates_nats nats;
    weigh_candidates(s, &nats);
    memset(number, 0xFF, candidates->count * sizeof *number);
    for (uint32_t i = 0; i < candidates->count; i++) {
        const planes_local_plane *plane = &candidates->planes[i];
        const bool better = nats.own[i] > nats.grown[i] + PLANES_LOCAL_NATS;
        if (plane->candidate == 0 || (closely && !plane->closely) || plane->count < s->params.min_points ||
            plane->noise > max_noise || !better)
            continue;
        if (s->plane_count == PLANES_LOCAL_MAX) break;
        number[i] = planes_add_empty(s);
        s->planes[number[i]] = *plane;
        s->planes[number[i]].count = 0;
    }
}

/* Chosen candidates take their points from what has grown; of that what loses most goes. grown: how many these are */
static void hand_over(planes_local *s, uint32_t grown, const int32_t number[PLANES_LOCAL_MAX]) {
    const planes_owners *candidates = &s->candidates;
    memset(s->tally, 0, grown * sizeof *s->tally);
    for (uint32_t i = 0; i < s->sample->count; i++) {
        const int32_t to = candidates->owner[i] >= 0 ? number[candidates->owner[i]] : -1, from = s->owner[i];
        if (to < 0) continue;
        if (from >= 0) s->tally[from]++;
        if (from >= 0) s->planes[from].count--;
        s->planes[to].count++;
        s->owner[i] = to;
        s->likelihood[i] = candidates->likelihood[i];
    }
    for (uint32_t i = 0; i < grown; i++) {
        if (s->tally[i] >= s->planes[i].count) s->planes[i].count = 0;
    }
}

void planes_claim_candidates(planes_local *s) {
    int32_t number[PLANES_LOCAL_MAX];
    const uint32_t grown = s->plane_count;
    if (s->candidates.count == 0) return;
    add_chosen(s, number);
    if (s->plane_count > grown) hand_over(s, grown, number);
}
