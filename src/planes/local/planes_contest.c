/* Planes of the vote against planes that were grown. The vote's planes have no end and one noise for all: where walls
   bend or a sensor measures in steps they explain what no grown plane does, but elsewhere they may be slabs through
   several planes, as through all roofs of a height. So each is held against what was grown among its own points:

       a wall that bends                       a slab through roofs
        ____      ____                              /\      /\
            \____/      grown: a part of it   -----/--\----/--\----     grown: each side of each roof
       ===============  the vote's plane      ==== the vote's plane */
#include <math.h>
#include <string.h>

#include "planes/local/planes_local.h"

#define FAR_BETTER 1.25 /* times the nats of grown planes on the same points, a plane of the vote explains */

/* Which of some planes has each point of the sample, and what it gains, nats. */
typedef struct contest_side {
    int32_t *owner;
    float *gain;
} contest_side;

/* Lets planes share the points out. */
static void share_points(planes_local *s, const planes_local_claim *claims, uint32_t count, contest_side *side) {
    memset(s->owner, 0xFF, s->sample->count * sizeof *s->owner);
    s->plane_count = 0;
    for (uint32_t i = 0; i < count && i < PLANES_LOCAL_MAX; i++) {
        planes_growth g;
        uint32_t won;
        const int32_t number = planes_add_empty(s);
        planes_begin_claim(&claims[i], &g);
        if (!planes_lay(s, &g) || !planes_is_supported(s, &g) ||
            planes_claim_points(s, &g, -1, &won) < PLANES_LOCAL_NATS)
            continue;
        planes_claim_points(s, &g, number, &won);
    }
    memcpy(side->owner, s->owner, s->sample->count * sizeof *side->owner);
    for (uint32_t i = 0; i < s->sample->count; i++) {
        side->gain[i] = s->owner[i] >= 0 ? s->likelihood[i] - (float)s->background : 0;
    }
}

/* A plane of the vote stays if it explains its points far better than grown planes do. */
static void choose_voted(const planes_local *s, const contest_side *voted, const contest_side *grown, uint32_t count,
                         bool *stays) {
    double nats[2][PLANES_LOCAL_MAX];
    memset(nats, 0, sizeof nats);
    for (uint32_t i = 0; i < s->sample->count; i++) {
        if (voted->owner[i] < 0) continue;
        nats[0][voted->owner[i]] += (double)voted->gain[i];
        nats[1][voted->owner[i]] += (double)grown->gain[i];
    }
    for (uint32_t i = 0; i < count; i++) {
        stays[i] = i < PLANES_LOCAL_MAX && nats[0][i] > FAR_BETTER * fmax(nats[1][i], PLANES_LOCAL_NATS);
    }
}

/* A grown plane stays if most of its points are no points of the vote's planes that stay. */
static void choose_grown(const planes_local *s, const contest_side *voted, const contest_side *grown, uint32_t count,
                         const bool *voted_stays, bool *stays) {
    uint32_t own[PLANES_LOCAL_MAX], shared[PLANES_LOCAL_MAX];
    memset(own, 0, sizeof own);
    memset(shared, 0, sizeof shared);
    for (uint32_t i = 0; i < s->sample->count; i++) {
        if (grown->owner[i] < 0) continue;
        own[grown->owner[i]]++;
        shared[grown->owner[i]] += voted->owner[i] >= 0 && voted_stays[voted->owner[i]];
    }
    for (uint32_t i = 0; i < count; i++) stays[i] = i < PLANES_LOCAL_MAX && 2 * shared[i] < own[i];
}

mote_status planes_local_contest(mote_context *ctx, const planes_sample *sample, const planes_local_params *params,
                                 const planes_local_contestants *voted, const planes_local_contestants *grown) {
    planes_local search;
    contest_side sides[2] = {{NULL, NULL}, {NULL, NULL}};
    memset(voted->stays, 0, voted->count * sizeof *voted->stays);
    memset(grown->stays, 0, grown->count * sizeof *grown->stays);
    if (sample->count == 0) return MOTE_OK;
    mote_status status = planes_local_open(&search, ctx, sample, params);
    for (int k = 0; k < 2 && status == MOTE_OK; k++) {
        sides[k].owner = mote_alloc(ctx, sample->count * sizeof *sides[k].owner, "planes search");
        sides[k].gain = mote_alloc(ctx, sample->count * sizeof *sides[k].gain, "planes search");
        status = mote_context_status(ctx);
    }
    if (status == MOTE_OK) {
        share_points(&search, voted->claims, voted->count, &sides[0]);
        share_points(&search, grown->claims, grown->count, &sides[1]);
        choose_voted(&search, &sides[0], &sides[1], voted->count, voted->stays);
        choose_grown(&search, &sides[0], &sides[1], grown->count, voted->stays, grown->stays);
    }
    for (int k = 0; k < 2; k++) {
        mote_free(ctx, sides[k].owner);
        mote_free(ctx, sides[k].gain);
    }
    planes_local_close(&search);
    return status;
}
