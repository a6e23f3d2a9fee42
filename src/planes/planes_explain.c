/* What was refused: the list, what planes that were found add to it, and the answer. */
#include <stdlib.h>

#include "planes/planes.h"

#define SAME_COSINE  0.985 /* 10 degrees */
#define SAME_NOISES  3.0
#define SAME_RATIO   4.0  /* of noises */
#define FOUND_NOISES 2.0  /* times the rms of a plane: a candidate that is thicker is something else */
#define FOUND_MARGIN 0.05 /* of the sides of a plane's rectangle, around it */

/* Whether two candidates are one: parallel, about as thick, and the middle of the smaller one is on the other and
   within its size. */
static bool is_same(const planes_refused *a, const planes_refused *b) {
    const double away[3] = {a->at[0] - b->at[0], a->at[1] - b->at[1], a->at[2] - b->at[2]};
    const double noise = fmax(a->noise, b->noise), size = fmax(a->size, b->size);
    if (noise > SAME_RATIO * fmin(a->noise, b->noise)) return false;
    return fabs(planes_dot(a->normal, b->normal)) >= SAME_COSINE && planes_dot(away, away) <= size * size &&
           fmax(fabs(planes_dot(away, a->normal)), fabs(planes_dot(away, b->normal))) <= SAME_NOISES * noise;
}

void planes_refuse(planes_refusals *list, const planes_refused *candidate) {
    uint32_t smallest = 0;
    if (list == NULL) return;
    planes_refused taken = *candidate;
    taken.points *= list->share;
    if (taken.points < 3) return; /* what others have taken all points of */
    for (uint32_t i = 0; i < list->count; i++) {
        if (is_same(&taken, &list->list[i])) {
            if (taken.points >= list->list[i].points) list->list[i] = taken;
            return;
        }
        if (list->list[i].points < list->list[smallest].points) smallest = i;
    }
    if (list->count < PLANES_REFUSED_MAX) {
        list->list[list->count++] = taken;
    } else if (taken.points > list->list[smallest].points) {
        list->list[smallest] = taken;
    }
}

void planes_refuse_found(planes_run *run, const planes_found *found, mote_planes_reason reason, double value,
                         double limit) {
    planes_refused candidate;
    if (run->refusals == NULL || !found->fit.valid) return;
    memset(&candidate, 0, sizeof candidate);
    candidate.reason = reason;
    memcpy(candidate.normal, found->fit.normal, sizeof candidate.normal);
    memcpy(candidate.at, found->fit.centroid, sizeof candidate.at);
    candidate.points = (double)found->sums.count;
    candidate.noise = found->fit.rms;
    candidate.value = value;
    candidate.limit = limit;
    run->refusals->share = 1;
    planes_refuse(run->refusals, &candidate);
}

/* ---- the answer */

static bool is_length(mote_planes_reason reason) {
    return reason == MOTE_PLANES_THICKENS || reason == MOTE_PLANES_UNLIKE;
}

static void describe(const planes_frame *frame, const planes_refused *from, mote_plane_refused *to) {
    const double unit = is_length(from->reason) ? frame->step : 1;
    double normal[3] = {from->normal[0], from->normal[1], from->normal[2]};
    planes_turn_up(normal);
    memset(to, 0, sizeof *to);
    to->reason = from->reason;
    for (int k = 0; k < 3; k++) {
        to->normal[k] = normal[k];
        to->centroid[k] = frame->centre[k] + from->at[k] * frame->step;
    }
    to->offset = planes_dot(to->normal, to->centroid);
    to->points = (uint64_t)rint(from->points);
    to->noise = from->noise * frame->step;
    to->size = from->size * frame->step;
    to->value = from->value * unit;
    to->limit = from->limit * unit;
}

/* Whether a place in a plane is within its rectangle, or near it. */
static bool is_in_rectangle(const mote_plane *plane, const double at[3]) {
    const double *corner = plane->rectangle[0];
    for (int side = 1; side < 4; side += 2) {
        double along[3], away[3];
        for (int k = 0; k < 3; k++) {
            along[k] = plane->rectangle[side][k] - corner[k];
            away[k] = at[k] - corner[k];
        }
        const double share = planes_dot(along, away) / fmax(planes_dot(along, along), 1e-300);
        if (share < -FOUND_MARGIN || share > 1 + FOUND_MARGIN) return false;
    }
    return true;
}

/* Whether a candidate is one of the planes that were found in the end. */
static bool is_found(const mote_planes *planes, const mote_plane_refused *refused) {
    for (uint32_t i = 0; i < planes->count; i++) {
        const mote_plane *plane = &planes->planes[i];
        const double away = fabs(planes_dot(plane->normal, refused->centroid) - plane->offset);
        if (fabs(planes_dot(plane->normal, refused->normal)) >= SAME_COSINE &&
            refused->noise <= FOUND_NOISES * plane->rms && away <= SAME_NOISES * plane->rms &&
            is_in_rectangle(plane, refused->centroid)) {
            return true;
        }
    }
    return false;
}

static int compare_refused(const void *a, const void *b) {
    const mote_plane_refused *x = a, *y = b;
    if (x->points != y->points) return x->points > y->points ? -1 : 1;
    for (int k = 0; k < 3; k++) {
        if (x->centroid[k] != y->centroid[k]) return x->centroid[k] < y->centroid[k] ? -1 : 1;
    }
    return x->offset < y->offset ? -1 : x->offset > y->offset;
}

mote_status planes_explain(const planes_run *run, mote_planes *out) {
    const planes_refusals *list = run->refusals;
    if (list == NULL || list->count == 0) return MOTE_OK;
    out->refused = mote_alloc(run->ctx, list->count * sizeof *out->refused, "planes refused");
    if (out->refused == NULL) return MOTE_ERROR_MEMORY;
    for (uint32_t i = 0; i < list->count; i++) {
        mote_plane_refused *to = &out->refused[out->refused_count];
        describe(&run->points->frame, &list->list[i], to);
        if (!is_found(out, to)) out->refused_count++;
    }
    qsort(out->refused, out->refused_count, sizeof *out->refused, compare_refused);
    return MOTE_OK;
}
