/* Where planes of the vote end. A plane that was grown ends where it was seen; one of the vote goes on for ever, and
   where it crosses what is flat in another direction, the points along that line are nearest to it:

                     |
                     |  a box on a table          from above:   ______________
        _____________|____________                             |  ___   streak|
              streak  \                                        | |___|--------|
                       the plane of its side                   |______________|

   So such a plane ends with the points that are its alone, of a sample of all: those that no crossing plane may have as
   well, in pieces of connected cells. Of the rectangles around the largest piece, the two largest, and so on, that is
   its end which gives the fewest points to a wrong plane: own ones outside, and others' inside. What is beyond goes to
   the plane that it lies along. */
#include <stdlib.h>

#include "planes/planes.h"

#define CROSSING   0.9659258 /* cosine of 15 degrees: what two planes share there is as narrow as a cell or two */
#define COMPANY    3u        /* points of three by three cells, a 27th of what the sample has on the average */
#define MAX_PIECES 64u       /* that are tried; the rest is left out */
#define SAMPLE     65536u    /* points that tell where a plane ends, once few say that it does */

/* A point of the sample that is near the plane. */
typedef struct ends_point {
    uint32_t point;
    int32_t u, v;   /* its cell */
    uint32_t piece; /* from 1; 0: of none */
} ends_point;

typedef struct ends_piece {
    uint32_t number, points;
    int32_t low[2], high[2];
} ends_piece;

typedef struct planes_ends {
    planes_run *run;
    const planes_sample *sample;
    planes_plane *planes; /* [found] */
    ends_point *own;      /* [sample] the plane's alone, sorted by cell */
    uint32_t *shared;     /* [sample] those that another has, too */
    uint32_t *stack;      /* [sample] */
    ends_piece *pieces;   /* [sample] the largest first */
    uint32_t own_count, shared_count;
    double cell;
} planes_ends;

/* ---- points near a plane */

static bool is_near(const planes_ends *e, const planes_plane *plane, uint32_t i) {
    const planes_sample *s = e->sample;
    return fabsf(planes_distance(plane, s->x[i], s->y[i], s->z[i])) <= plane->tolerance &&
           planes_normal_allows(s->normal[i], plane->normal, plane->cone) &&
           planes_reaches(plane, s->x[i], s->y[i], s->z[i]);
}

static bool is_crossed(const planes_ends *e, const planes_plane *plane, uint32_t i) {
    for (uint32_t k = 0; k < e->run->found_count; k++) {
        const planes_plane *other = &e->planes[k];
        const float cosine = fabsf(fmaf(plane->c, other->c, fmaf(plane->b, other->b, plane->a * other->a)));
        if (cosine <= (float)CROSSING && is_near(e, other, i)) return true;
    }
    return false;
}

static void list_near(planes_ends *e, const planes_plane *plane) {
    e->own_count = e->shared_count = 0;
    for (uint32_t i = 0; i < e->sample->count; i++) {
        if (!is_near(e, plane, i)) continue;
        if (is_crossed(e, plane, i)) {
            e->shared[e->shared_count++] = i;
        } else {
            e->own[e->own_count++].point = i;
        }
    }
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

/* ---- cells and pieces */

static int compare_points(const void *a, const void *b) {
    const ends_point *x = a, *y = b;
    if (x->v != y->v) return x->v < y->v ? -1 : 1;
    return x->u < y->u ? -1 : x->u > y->u;
}

static int compare_pieces(const void *a, const void *b) {
    const ends_piece *x = a, *y = b;
    if (x->points != y->points) return x->points > y->points ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

static void sort_own(planes_ends *e, const planes_reach *axes) {
    const planes_sample *s = e->sample;
    const float by = (float)(1 / e->cell);
    for (uint32_t k = 0; k < e->own_count; k++) {
        const uint32_t i = e->own[k].point;
        e->own[k].u = (int32_t)floorf(planes_along(axes->u, s->x[i], s->y[i], s->z[i]) * by);
        e->own[k].v = (int32_t)floorf(planes_along(axes->v, s->x[i], s->y[i], s->z[i]) * by);
        e->own[k].piece = 0;
    }
    qsort(e->own, e->own_count, sizeof *e->own, compare_points);
}

/* How many of the own points are in cells before one. */
static uint32_t points_before(const planes_ends *e, int32_t u, int32_t v) {
    const ends_point cell = {0, u, v, 0};
    uint32_t first = 0, count = e->own_count;
    while (count > 0) {
        const uint32_t half = count / 2;
        if (compare_points(&e->own[first + half], &cell) < 0) {
            first += half + 1;
            count -= half + 1;
        } else {
            count = half;
        }
    }
    return first;
}

/* Whether a point is no stray. */
static bool has_company(const planes_ends *e, const ends_point *at) {
    uint32_t company = 0;
    for (int32_t v = at->v - 1; v <= at->v + 1; v++) {
        company += points_before(e, at->u + 2, v) - points_before(e, at->u - 1, v);
    }
    return company >= COMPANY;
}

/* The points in cells that are connected with that of a point. */
static ends_piece take_piece(planes_ends *e, uint32_t first, uint32_t number) {
    ends_piece piece = {number, 0, {INT32_MAX, INT32_MAX}, {INT32_MIN, INT32_MIN}};
    uint32_t open = 0;
    e->own[first].piece = number;
    e->stack[open++] = first;
    while (open > 0) {
        const ends_point *point = &e->own[e->stack[--open]];
        const int32_t at[2] = {point->u, point->v};
        piece.points++;
        for (int k = 0; k < 2; k++) {
            piece.low[k] = at[k] < piece.low[k] ? at[k] : piece.low[k];
            piece.high[k] = at[k] > piece.high[k] ? at[k] : piece.high[k];
        }
        for (int32_t v = at[1] - 1; v <= at[1] + 1; v++) {
            const uint32_t end = points_before(e, at[0] + 2, v);
            for (uint32_t i = points_before(e, at[0] - 1, v); i < end; i++) {
                if (e->own[i].piece > 0) continue;
                e->own[i].piece = number;
                e->stack[open++] = i;
            }
        }
    }
    return piece;
}

static uint32_t find_pieces(planes_ends *e, const planes_reach *axes) {
    uint32_t count = 0;
    sort_own(e, axes);
    for (uint32_t i = 0; i < e->own_count; i++) {
        if (e->own[i].piece > 0 || !has_company(e, &e->own[i])) continue;
        e->pieces[count] = take_piece(e, i, count + 1);
        count++;
    }
    qsort(e->pieces, count, sizeof *e->pieces, compare_pieces);
    return count < MAX_PIECES ? count : MAX_PIECES;
}

/* Turns axes to those of the largest piece. */
static void turn_axes(const planes_ends *e, planes_reach *reach) {
    double u = 0, v = 0, uu = 0, uv = 0, vv = 0;
    for (uint32_t i = 0; i < e->own_count; i++) {
        const double at_u = e->own[i].u, at_v = e->own[i].v;
        if (e->own[i].piece != e->pieces[0].number) continue;
        u += at_u, v += at_v;
        uu += at_u * at_u, uv += at_u * at_v, vv += at_v * at_v;
    }
    const double n = e->pieces[0].points, across = uv / n - u / n * (v / n);
    const double angle = 0.5 * atan2(2 * across, (uu / n - u / n * (u / n)) - (vv / n - v / n * (v / n)));
    const planes_reach from = *reach;
    for (int k = 0; k < 3; k++) {
        reach->u[k] = (float)(cos(angle) * (double)from.u[k] + sin(angle) * (double)from.v[k]);
        reach->v[k] = (float)(cos(angle) * (double)from.v[k] - sin(angle) * (double)from.u[k]);
    }
}

/* Finds pieces along axes that are theirs. */
static uint32_t find_pieces_along(planes_ends *e, planes_plane *plane) {
    const double normal[3] = {(double)plane->a, (double)plane->b, (double)plane->c};
    double u[3], v[3];
    planes_perpendicular(normal, u, v);
    for (int k = 0; k < 3; k++) {
        plane->reach.u[k] = (float)u[k];
        plane->reach.v[k] = (float)v[k];
    }
    if (find_pieces(e, &plane->reach) == 0) return 0;
    turn_axes(e, &plane->reach);
    return find_pieces(e, &plane->reach);
}

/* ---- ends */

/* Extends a reach by a piece and a cell around it. */
static void extend(const planes_ends *e, const ends_piece *piece, planes_reach *reach) {
    for (int k = 0; k < 2; k++) {
        const float low = (float)((piece->low[k] - 1.0) * e->cell), high = (float)((piece->high[k] + 2.0) * e->cell);
        reach->low[k] = reach->bounded != 0 ? fminf(reach->low[k], low) : low;
        reach->high[k] = reach->bounded != 0 ? fmaxf(reach->high[k], high) : high;
    }
    reach->bounded = 1;
}

/* Where a plane without end ends. False: there are no others' points beyond. */
static bool find_end(planes_ends *e, uint32_t number, planes_reach *end) {
    planes_plane plane = e->planes[number];
    uint32_t least = UINT32_MAX, outside = 0, inside;
    list_near(e, &plane);
    inside = e->shared_count;
    if (inside == 0) return false;
    const uint32_t pieces = find_pieces_along(e, &plane);
    for (uint32_t k = 0; k < pieces; k++) outside += e->pieces[k].points;
    for (uint32_t k = 0; k < pieces; k++) {
        outside -= e->pieces[k].points;
        extend(e, &e->pieces[k], &plane.reach);
        const uint32_t shared = count_shared(e, &plane);
        if (outside + shared > least) continue;
        least = outside + shared;
        inside = shared;
        *end = plane.reach;
    }
    return inside < e->shared_count;
}

/* Finds the ends of planes that have none. marks: [found] which, in and out; count: of those that have one */
static mote_status end_planes(planes_run *run, const planes_sample *sample, uint8_t *marks, planes_reach *ends,
                              uint32_t *count) {
    mote_context *ctx = run->ctx;
    const uint64_t points = sample->count;
    planes_ends e = {.run = run, .sample = sample, .cell = planes_cell_of_sample(run, sample)};
    e.planes = mote_alloc(ctx, run->found_count * sizeof *e.planes, "planes ends");
    e.own = mote_alloc(ctx, points * sizeof *e.own, "planes ends");
    e.shared = mote_alloc(ctx, points * sizeof *e.shared, "planes ends");
    e.stack = mote_alloc(ctx, points * sizeof *e.stack, "planes ends");
    e.pieces = mote_alloc(ctx, points * sizeof *e.pieces, "planes ends");
    const mote_status status = mote_context_status(ctx);
    *count = 0;
    for (uint32_t i = 0; i < run->found_count && status == MOTE_OK; i++) {
        e.planes[i] = planes_plane_of(run, &run->found[i]);
    }
    for (uint32_t i = 0; i < run->found_count && status == MOTE_OK && !mote_stop(ctx); i++) {
        marks[i] = marks[i] != 0 && find_end(&e, i, &ends[i]);
        *count += marks[i];
    }
    mote_free(ctx, e.planes);
    mote_free(ctx, e.own);
    mote_free(ctx, e.shared);
    mote_free(ctx, e.stack);
    mote_free(ctx, e.pieces);
    return status == MOTE_OK ? mote_stopped(ctx) : status;
}

/* The same with more points, spread evenly over all. */
static mote_status end_planes_finely(planes_run *run, uint8_t *marks, planes_reach *ends, uint32_t *count) {
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
    if (status == MOTE_OK) status = end_planes(run, &sample, marks, ends, count);
    planes_sample_free(run->ctx, &sample);
    return status;
}

mote_status planes_end(planes_run *run, const planes_sample *all) {
    uint32_t ended = 0;
    if (run->found_count == 0 || all->count == 0) return MOTE_OK;
    uint8_t *marks = mote_alloc(run->ctx, run->found_count * sizeof *marks, "planes ends");
    planes_reach *ends = mote_alloc(run->ctx, run->found_count * sizeof *ends, "planes ends");
    mote_status status = mote_context_status(run->ctx);
    for (uint32_t i = 0; i < run->found_count && status == MOTE_OK; i++) marks[i] = run->found[i].reach.bounded == 0;
    if (status == MOTE_OK) status = end_planes(run, all, marks, ends, &ended);
    if (status == MOTE_OK && ended > 0) status = end_planes_finely(run, marks, ends, &ended);
    for (uint32_t i = 0; i < run->found_count && status == MOTE_OK; i++) {
        if (marks[i] != 0) run->found[i].reach = ends[i];
    }
    mote_free(run->ctx, marks);
    mote_free(run->ctx, ends);
    return status == MOTE_OK && ended > 0 ? planes_label_all(run) : status;
}
