/* Claims: the points that a plane wins from those that have them, because it makes them likelier. */
#include <math.h>
#include <string.h>

#include "math/pi.h"
#include "planes/local/planes_local.h"

#define FAR_THICKER 3.0 /* times the noise that explains the points best */

#define CLAIM_REACH 3.2 /* noises */

double planes_claim_points(planes_local *s, const planes_growth *g, int32_t number, uint32_t *won) {
    const double base = log((g->count / g->area) / (g->noise * MOTE_ROOT_TWO_PI)), narrow = 0.5 / (g->noise * g->noise);
    double gain = 0;
    *won = 0;
    for (uint32_t i = 0; i < s->near_count; i++) {
        const double distance = (double)s->near_distance[i];
        if (fabs(distance) > CLAIM_REACH * g->noise || s->cell_mark[s->near_cell[i]] == 0) continue;
        const uint32_t point = s->near_point[i];
        const int32_t owner = s->owner[point];
        const double mine = base - distance * distance * narrow;
        const double theirs = owner >= 0 ? (double)s->likelihood[point] : s->background;
        if (mine <= theirs) continue;
        gain += mine - theirs;
        (*won)++;
        if (number < 0) continue;
        if (owner >= 0) s->planes[owner].count--;
        s->planes[number].count++;
        s->owner[point] = number;
        s->likelihood[point] = (float)mine;
    }
    return gain;
}

void planes_describe(const planes_growth *g, planes_local_plane *plane) {
    memcpy(plane->normal, g->normal, sizeof plane->normal);
    memcpy(plane->centroid, g->at, sizeof plane->centroid);
    memcpy(plane->u, g->u, sizeof plane->u);
    memcpy(plane->v, g->v, sizeof plane->v);
    memcpy(plane->low, g->low, sizeof plane->low);
    memcpy(plane->high, g->high, sizeof plane->high);
    plane->offset = planes_dot(g->normal, g->at);
    plane->noise = g->noise;
    plane->area = g->area;
    plane->cell = g->cell;
    plane->turned = g->turned;
    plane->centred = g->centred;
    plane->warped = g->warped;
    plane->role = g->role;
    plane->strip = g->strip;
}

void planes_commit(planes_local *s, const planes_growth *g, int32_t number) {
    uint32_t won;
    planes_describe(g, &s->planes[number]);
    planes_claim_points(s, g, number, &won);
}

int32_t planes_add_empty(planes_local *s) {
    const int32_t number = (int32_t)s->plane_count++;
    memset(&s->planes[number], 0, sizeof s->planes[number]);
    return number;
}

bool planes_add_growth(planes_local *s, planes_growth *g) {
    uint32_t won;
    const double gain = planes_claim_points(s, g, -1, &won);
    if (gain <= PLANES_LOCAL_NATS || won < s->params.min_points) {
        if (gain > PLANES_LOCAL_NATS) {
            growth_refuse(g, MOTE_PLANES_FEW_POINTS, won, s->params.min_points);
        } else {
            growth_refuse(g, MOTE_PLANES_EXPLAINED, gain, PLANES_LOCAL_NATS);
        }
        planes_refuse_growth(s, g, g->count);
        return false;
    }
    planes_commit(s, g, planes_add_empty(s));
    return true;
}

void planes_take_back(planes_local *s, uint32_t first) {
    for (uint32_t i = 0; i < s->sample->count; i++) {
        if (s->owner[i] >= (int32_t)first) s->owner[i] = -1;
    }
    s->plane_count = first;
}

mote_status planes_keep_owners(const planes_local *s, planes_owners *kept) {
    const uint64_t points = s->sample->count, planes = s->plane_count;
    kept->count = s->plane_count;
    kept->planes = mote_alloc(s->ctx, (planes + 1) * sizeof *kept->planes, "planes search");
    kept->owner = mote_alloc(s->ctx, points * sizeof *kept->owner, "planes search");
    kept->likelihood = mote_alloc(s->ctx, points * sizeof *kept->likelihood, "planes search");
    MOTE_TRY(mote_context_status(s->ctx));
    memcpy(kept->planes, s->planes, planes * sizeof *kept->planes);
    memcpy(kept->owner, s->owner, points * sizeof *kept->owner);
    memcpy(kept->likelihood, s->likelihood, points * sizeof *kept->likelihood);
    return MOTE_OK;
}

void planes_put_back(planes_local *s, const planes_owners *kept) {
    memcpy(s->planes, kept->planes, kept->count * sizeof *s->planes);
    memcpy(s->owner, kept->owner, s->sample->count * sizeof *s->owner);
    memcpy(s->likelihood, kept->likelihood, s->sample->count * sizeof *s->likelihood);
    s->plane_count = kept->count;
}

void planes_free_owners(mote_context *ctx, planes_owners *kept) {
    mote_free(ctx, kept->planes);
    mote_free(ctx, kept->owner);
    mote_free(ctx, kept->likelihood);
}

/* ---- what planes have */

double planes_owned_points(const planes_local *s) {
    double points = 0;
    for (uint32_t i = 0; i < s->plane_count; i++) points += s->planes[i].count;
    return points;
}

/* What the points of each plane gain over points of no plane, nats. */
static void sum_gains(const planes_local *s, double gains[PLANES_LOCAL_MAX]) {
    memset(gains, 0, s->plane_count * sizeof *gains);
    for (uint32_t i = 0; i < s->sample->count; i++) {
        if (s->owner[i] >= 0) gains[s->owner[i]] += (double)s->likelihood[i] - s->background;
    }
}

double planes_gain_of_all(const planes_local *s) {
    double gains[PLANES_LOCAL_MAX], all = 0;
    sum_gains(s, gains);
    for (uint32_t i = 0; i < s->plane_count; i++) all += gains[i] - PLANES_LOCAL_NATS;
    return all;
}

/* The noise of the plane that has the middle point; but a thick one with most points, which hardly explains them, has
   no say: then that of the plane with the middle of what is gained. */
double planes_middle_noise(const planes_local *s) {
    double noises[PLANES_LOCAL_MAX], weights[PLANES_LOCAL_MAX];
    for (uint32_t i = 0; i < s->plane_count; i++) {
        noises[i] = s->planes[i].noise;
        weights[i] = (double)s->planes[i].count;
    }
    const double by_points = planes_weighted_median(noises, weights, s->plane_count);
    sum_gains(s, weights);
    const double by_gains = planes_weighted_median(noises, weights, s->plane_count);
    return by_points <= FAR_THICKER * by_gains ? by_points : by_gains;
}

/* ---- planes that were found in another way */

void planes_begin_claim(const planes_local_claim *claim, planes_growth *g) {
    memset(g, 0, sizeof *g);
    memcpy(g->normal, claim->normal, sizeof g->normal);
    for (int k = 0; k < 3; k++) g->at[k] = claim->normal[k] * claim->offset;
    g->self = -1;
    g->reason = MOTE_PLANES_SCATTERED;
    g->noise = claim->noise;
    g->cell = claim->cell;
}
