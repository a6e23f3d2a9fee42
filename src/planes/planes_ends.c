/* Where planes of the vote end. A plane that was grown ends where it was seen; one of the vote goes on for ever, and
   where it crosses what is flat in another direction, the points along that line are nearest to it:

                     |
                     |  a box on a table          from above:   ______________
        _____________|____________                             |  ___   streak|
              streak  \                                        | |___|--------|
                       the plane of its side                   |______________|

   So such a plane ends with the points that are its alone, of a sample of all: those that no crossing plane may have as
   well. That rectangle is its end which gives the fewest points to a wrong plane: own ones outside, and others' inside.
   Along each axis it is the run of cells with the most own points, less the others'. What is beyond goes to the plane
   that it lies along. */
#include <stdlib.h>

#include "planes/planes.h"

#define CROSSING  0.9659258 /* cosine of 15 degrees: what two planes share there is as narrow as a cell or two */
#define COMPANY   3         /* points of cells along an axis: fewer are strays, or no reason to end */
#define MAX_CELLS 1024u     /* along an axis */
#define TURNS     4         /* twice along each axis */
#define SAMPLE    65536u    /* points that tell where a plane ends, once few say that it does */

typedef struct planes_ends {
    planes_run *run;
    const planes_sample *sample;
    planes_plane *planes;   /* [found] */
    planes_plane *crossing; /* [crossing_count] those that cross the one that is looked at */
    uint32_t crossing_count;
    uint32_t *own;    /* [own_count] points that are the plane's alone */
    uint32_t *shared; /* [shared_count] those that another has, too */
    uint32_t own_count, shared_count;
} planes_ends;

/* ---- points near a plane */

static bool is_near(const planes_ends *e, const planes_plane *plane, uint32_t i) {
    const planes_sample *s = e->sample;
    const float distance = planes_distance(plane, s->x[i], s->y[i], s->z[i]);
    return planes_holds(plane, distance, plane->tolerance, s->x[i], s->y[i], s->z[i], s->normal[i]);
}

static void list_crossing(planes_ends *e, const planes_plane *plane) {
    e->crossing_count = 0;
    for (uint32_t k = 0; k < e->run->found_count; k++) {
        const planes_plane *other = &e->planes[k];
        const float cosine = fabsf(fmaf(plane->c, other->c, fmaf(plane->b, other->b, plane->a * other->a)));
        if (cosine <= (float)CROSSING) e->crossing[e->crossing_count++] = *other;
    }
}

/* The points near a plane: what none that crosses it may have as well is its own. */
static void list_near(planes_ends *e, const planes_plane *plane) {
    list_crossing(e, plane);
    e->own_count = e->shared_count = 0;
    for (uint32_t i = 0; i < e->sample->count; i++) {
        bool is_shared = false;
        if (!is_near(e, plane, i)) continue;
        for (uint32_t k = 0; k < e->crossing_count && !is_shared; k++) is_shared = is_near(e, &e->crossing[k], i);
        if (is_shared) {
            e->shared[e->shared_count++] = i;
        } else {
            e->own[e->own_count++] = i;
        }
    }
}

/* Where a point is along an axis of a reach: 0 is u, 1 is v. */
static float place_along(const planes_ends *e, const planes_reach *reach, int axis, uint32_t i) {
    const planes_sample *s = e->sample;
    return planes_along(axis == 0 ? reach->u : reach->v, s->x[i], s->y[i], s->z[i]);
}

/* Shared points that are within a reach. */
static uint32_t count_shared(const planes_ends *e, const planes_plane *plane) {
    const planes_sample *s = e->sample;
    uint32_t count = 0;
    for (uint32_t k = 0; k < e->shared_count; k++) {
        const uint32_t i = e->shared[k];
        count += planes_reaches(plane, s->x[i], s->y[i], s->z[i]);
    }
    return count;
}

/* ---- the rectangle that ends it */

/* The run of cells along an axis that has the most own points, less the shared ones (Bentley's maximum sum), of those
   within the reach along the other axis, becomes the reach along this one, with a cell around it. Lone own points are
   strays, and no reason to reach farther. False: there is none. */
static bool find_run(const planes_ends *e, int axis, double cell, planes_reach *reach) {
    int32_t own[MAX_CELLS] = {0}, shared[MAX_CELLS] = {0}, best = 0, sum = 0;
    uint32_t first = 0, begin = 0, last = 0;
    float low = INFINITY, high = -INFINITY;
    for (uint32_t k = 0; k < e->own_count; k++) {
        const float at = place_along(e, reach, axis, e->own[k]);
        low = fminf(low, at);
        high = fmaxf(high, at);
    }
    const double width = fmax(cell, (double)(high - low) / (MAX_CELLS - 1));
    for (uint32_t k = 0; k < e->own_count + e->shared_count; k++) {
        const bool is_own = k < e->own_count;
        const uint32_t point = is_own ? e->own[k] : e->shared[k - e->own_count];
        const float at = place_along(e, reach, axis, point), across = place_along(e, reach, 1 - axis, point);
        if (at < low || at > high || across < reach->low[1 - axis] || across > reach->high[1 - axis]) continue;
        (is_own ? own : shared)[(uint32_t)((double)(at - low) / width)]++;
    }
    for (uint32_t i = 0; i < MAX_CELLS; i++) {
        if (sum <= 0) {
            sum = 0;
            begin = i;
        }
        sum += (own[i] >= COMPANY ? own[i] : 0) - shared[i];
        if (sum <= best) continue;
        best = sum;
        first = begin;
        last = i;
    }
    reach->low[axis] = low + (float)((first - 1.0) * width);
    reach->high[axis] = low + (float)((last + 2.0) * width);
    return best > 0;
}

/* Along one axis after the other, until each has seen where the other one ends. */
static bool find_rectangle(const planes_ends *e, double cell, planes_reach *reach) {
    bool found = true;
    reach->bounded = 1;
    for (int k = 0; k < 2; k++) {
        reach->low[k] = -INFINITY;
        reach->high[k] = INFINITY;
    }
    for (int k = 0; k < TURNS && found; k++) found = find_run(e, k % 2, cell, reach);
    return found;
}

/* Turns the axes to those of the own points that are reached. */
static void turn_axes(const planes_ends *e, planes_plane *plane) {
    planes_reach *reach = &plane->reach;
    double n = 0, u = 0, v = 0, uu = 0, uv = 0, vv = 0;
    for (uint32_t k = 0; k < e->own_count; k++) {
        const planes_sample *s = e->sample;
        const uint32_t i = e->own[k];
        if (!planes_reaches(plane, s->x[i], s->y[i], s->z[i])) continue;
        const double at_u = (double)place_along(e, reach, 0, i), at_v = (double)place_along(e, reach, 1, i);
        n++, u += at_u, v += at_v;
        uu += at_u * at_u, uv += at_u * at_v, vv += at_v * at_v;
    }
    if (!(n > 0)) return;
    const double angle = 0.5 * atan2(2 * (uv - u * v / n), (uu - u * u / n) - (vv - v * v / n));
    const planes_reach from = *reach;
    for (int k = 0; k < 3; k++) {
        reach->u[k] = (float)(cos(angle) * (double)from.u[k] + sin(angle) * (double)from.v[k]);
        reach->v[k] = (float)(cos(angle) * (double)from.v[k] - sin(angle) * (double)from.u[k]);
    }
}

/* Where a plane without end ends. It has none (bounded is 0) if no others' points are beyond, but for lone ones. */
static planes_reach find_end(planes_ends *e, uint32_t number, double cell) {
    planes_plane plane = e->planes[number];
    const double normal[3] = {(double)plane.a, (double)plane.b, (double)plane.c};
    double u[3], v[3];
    list_near(e, &plane);
    planes_perpendicular(normal, u, v);
    for (int k = 0; k < 3; k++) {
        plane.reach.u[k] = (float)u[k];
        plane.reach.v[k] = (float)v[k];
    }
    bool ends = e->shared_count >= COMPANY && find_rectangle(e, cell, &plane.reach);
    if (ends) turn_axes(e, &plane);
    ends = ends && find_rectangle(e, cell, &plane.reach) && count_shared(e, &plane) + COMPANY <= e->shared_count;
    plane.reach.bounded = ends;
    return plane.reach;
}

static mote_status open_ends(planes_ends *e, planes_run *run, const planes_sample *sample) {
    mote_context *ctx = run->ctx;
    const uint64_t points = sample->count, planes = run->found_count;
    memset(e, 0, sizeof *e);
    e->run = run;
    e->sample = sample;
    e->planes = mote_alloc(ctx, planes * sizeof *e->planes, "planes ends");
    e->crossing = mote_alloc(ctx, planes * sizeof *e->crossing, "planes ends");
    e->own = mote_alloc(ctx, points * sizeof *e->own, "planes ends");
    e->shared = mote_alloc(ctx, points * sizeof *e->shared, "planes ends");
    return mote_context_status(ctx);
}

static void close_ends(mote_context *ctx, planes_ends *e) {
    void *const arrays[] = {e->planes, e->crossing, e->own, e->shared};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) mote_free(ctx, arrays[i]);
}

/* Finds where planes end, of a sample; ended: out, how many do.
   ends  [found] in and out: only those that are bounded are looked at */
static mote_status end_planes(planes_run *run, const planes_sample *sample, planes_reach *ends, uint32_t *ended) {
    const double cell = planes_cell_of_sample(run, sample);
    planes_ends e;
    mote_status status = open_ends(&e, run, sample);
    *ended = 0;
    for (uint32_t i = 0; i < run->found_count && status == MOTE_OK; i++) {
        e.planes[i] = planes_plane_of(run, &run->found[i]);
    }
    for (uint32_t i = 0; i < run->found_count && status == MOTE_OK && !mote_stop(run->ctx); i++) {
        if (ends[i].bounded != 0) ends[i] = find_end(&e, i, cell);
        *ended += ends[i].bounded;
    }
    close_ends(run->ctx, &e);
    return status == MOTE_OK ? mote_stopped(run->ctx) : status;
}

/* The same with more points, spread evenly over all. */
static mote_status end_planes_finely(planes_run *run, planes_reach *ends, uint32_t *ended) {
    const uint64_t points = run->points->count;
    const uint32_t size = points < SAMPLE ? (uint32_t)points : SAMPLE;
    planes_sample sample;
    mote_status status = planes_sample_make(run->ctx, size, &sample);
    for (uint32_t i = 0; i < size && status == MOTE_OK; i++) {
        sample.place[i] = (uint32_t)((2 * (uint64_t)i + 1) * points / (2 * (uint64_t)size));
    }
    sample.count = size;
    if (status == MOTE_OK) status = run->ops->read_places(run->points, &sample);
    if (status == MOTE_OK) planes_sample_drop_copies(&sample);
    if (status == MOTE_OK) status = end_planes(run, &sample, ends, ended);
    planes_sample_free(run->ctx, &sample);
    return status;
}

mote_status planes_end(planes_run *run, const planes_sample *all) {
    uint32_t ended = 0, endless = 0;
    for (uint32_t i = 0; i < run->found_count; i++) endless += run->found[i].reach.bounded == 0;
    if (endless == 0 || all->count == 0) return MOTE_OK;
    planes_reach *ends = mote_alloc(run->ctx, run->found_count * sizeof *ends, "planes ends");
    if (ends == NULL) return MOTE_ERROR_MEMORY;
    for (uint32_t i = 0; i < run->found_count; i++) ends[i].bounded = run->found[i].reach.bounded == 0;
    mote_status status = end_planes(run, all, ends, &ended);
    if (status == MOTE_OK && ended > 0) status = end_planes_finely(run, ends, &ended);
    for (uint32_t i = 0; i < run->found_count && status == MOTE_OK; i++) {
        if (ends[i].bounded != 0) run->found[i].reach = ends[i];
    }
    mote_free(run->ctx, ends);
    return status == MOTE_OK && ended > 0 ? planes_label_all(run) : status;
}
