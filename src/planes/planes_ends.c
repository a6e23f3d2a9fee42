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
#define MIN_CELLS  32u       /* of a grid: five by five are needed however few points there are */
#define SAMPLE     65536u    /* points that tell where a plane ends, once few say that it does */

typedef struct ends_piece {
    uint32_t number, points;
    int32_t low[2], high[2]; /* cells, u v */
} ends_piece;

typedef struct planes_ends {
    planes_run *run;
    const planes_sample *sample;
    planes_plane *planes;  /* [found] */
    uint64_t *crossing;    /* [found · words] which planes cross each, a bit a plane */
    uint64_t *near_planes; /* [sample · words] which planes each point is near */
    uint32_t words;
    uint32_t *own;      /* [sample] points that are the plane's alone */
    uint32_t *shared;   /* [sample] those that another has, too */
    uint32_t *cells;    /* [sample] own points of each cell */
    uint32_t *piece;    /* [sample] that each cell belongs to, from 1; 0: to none */
    uint32_t *stack;    /* [sample] cells */
    ends_piece *pieces; /* [sample] the largest first */
    uint32_t own_count, shared_count;
    double cell;      /* steps, as it is now */
    int32_t low[2];   /* the first cell, u v */
    uint32_t size[2]; /* cells along u and v */
} planes_ends;

/* ---- points near a plane */

static bool has_bit(const uint64_t *words, uint32_t i) { return words[i / 64] >> (i % 64) & 1; }

static bool is_near(const planes_ends *e, const planes_plane *plane, uint32_t i) {
    const planes_sample *s = e->sample;
    const float distance = planes_distance(plane, s->x[i], s->y[i], s->z[i]);
    return planes_holds(plane, distance, plane->tolerance, s->x[i], s->y[i], s->z[i], s->normal[i]);
}

/* Finds out which planes cross, and which planes points are near. */
static void look_around(planes_ends *e) {
    const uint32_t planes = e->run->found_count;
    memset(e->crossing, 0, (uint64_t)planes * e->words * sizeof *e->crossing);
    for (uint32_t i = 0; i < planes; i++) {
        for (uint32_t k = 0; k < planes; k++) {
            const planes_plane *a = &e->planes[i], *b = &e->planes[k];
            const float cosine = fabsf(fmaf(a->c, b->c, fmaf(a->b, b->b, a->a * b->a)));
            if (cosine <= (float)CROSSING) e->crossing[i * e->words + k / 64] |= UINT64_C(1) << (k % 64);
        }
    }
#pragma omp parallel for schedule(static) num_threads(e->run->ctx->threads)
    for (int64_t i = 0; i < (int64_t)e->sample->count; i++) {
        uint64_t *near_planes = e->near_planes + (uint64_t)i * e->words;
        memset(near_planes, 0, e->words * sizeof *near_planes);
        for (uint32_t k = 0; k < planes; k++) {
            if (is_near(e, &e->planes[k], (uint32_t)i)) near_planes[k / 64] |= UINT64_C(1) << (k % 64);
        }
    }
}

static void list_near(planes_ends *e, uint32_t number) {
    const uint64_t *crossing = e->crossing + (uint64_t)number * e->words;
    e->own_count = e->shared_count = 0;
    for (uint32_t i = 0; i < e->sample->count; i++) {
        const uint64_t *near_planes = e->near_planes + (uint64_t)i * e->words;
        uint64_t others = 0;
        if (!has_bit(near_planes, number)) continue;
        for (uint32_t w = 0; w < e->words; w++) others |= near_planes[w] & crossing[w];
        if (others != 0) {
            e->shared[e->shared_count++] = i;
        } else {
            e->own[e->own_count++] = i;
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

static int32_t cell_along(const planes_ends *e, const float axis[3], uint32_t i) {
    const planes_sample *s = e->sample;
    return (int32_t)floorf(planes_along(axis, s->x[i], s->y[i], s->z[i]) * (float)(1 / e->cell));
}

/* Lays own points out in cells, with an empty one around, which are no more than there are points of the sample. */
static void lay_out(planes_ends *e, double cell, const planes_reach *axes) {
    const float *const along[2] = {axes->u, axes->v};
    for (e->cell = cell;; e->cell *= 2) {
        int32_t high[2] = {INT32_MIN, INT32_MIN};
        e->low[0] = e->low[1] = INT32_MAX;
        for (uint32_t k = 0; k < e->own_count; k++) {
            for (int axis = 0; axis < 2; axis++) {
                const int32_t at = cell_along(e, along[axis], e->own[k]);
                e->low[axis] = at < e->low[axis] ? at : e->low[axis];
                high[axis] = at > high[axis] ? at : high[axis];
            }
        }
        for (int axis = 0; axis < 2; axis++) {
            e->size[axis] = (uint32_t)(high[axis] - e->low[axis]) + 3;
            e->low[axis]--;
        }
        if ((uint64_t)e->size[0] * e->size[1] <= e->sample->count || high[0] - e->low[0] + (high[1] - e->low[1]) <= 4)
            break;
    }
    memset(e->cells, 0, (uint64_t)e->size[0] * e->size[1] * sizeof *e->cells);
    memset(e->piece, 0, (uint64_t)e->size[0] * e->size[1] * sizeof *e->piece);
    for (uint32_t k = 0; k < e->own_count; k++) {
        const uint32_t u = (uint32_t)(cell_along(e, along[0], e->own[k]) - e->low[0]);
        const uint32_t v = (uint32_t)(cell_along(e, along[1], e->own[k]) - e->low[1]);
        e->cells[v * e->size[0] + u]++;
    }
}

/* The k-th of the nine cells at and around one. */
static uint32_t cell_around(const planes_ends *e, uint32_t cell, uint32_t k) {
    return cell + k / 3 * e->size[0] + k % 3 - e->size[0] - 1;
}

/* Whether the points of a cell are no strays. */
static bool has_company(const planes_ends *e, uint32_t cell) {
    uint32_t company = 0;
    for (uint32_t k = 0; k < 9; k++) company += e->cells[cell_around(e, cell, k)];
    return company >= COMPANY;
}

/* The cells with points that are connected with one. */
static ends_piece take_piece(planes_ends *e, uint32_t first, uint32_t number) {
    ends_piece piece = {number, 0, {INT32_MAX, INT32_MAX}, {INT32_MIN, INT32_MIN}};
    uint32_t open = 0;
    e->piece[first] = number;
    e->stack[open++] = first;
    while (open > 0) {
        const uint32_t cell = e->stack[--open];
        const int32_t at[2] = {e->low[0] + (int32_t)(cell % e->size[0]), e->low[1] + (int32_t)(cell / e->size[0])};
        piece.points += e->cells[cell];
        for (int k = 0; k < 2; k++) {
            piece.low[k] = at[k] < piece.low[k] ? at[k] : piece.low[k];
            piece.high[k] = at[k] > piece.high[k] ? at[k] : piece.high[k];
        }
        for (uint32_t k = 0; k < 9; k++) {
            const uint32_t other = cell_around(e, cell, k);
            if (e->cells[other] == 0 || e->piece[other] > 0) continue;
            e->piece[other] = number;
            e->stack[open++] = other;
        }
    }
    return piece;
}

static int compare_pieces(const void *a, const void *b) {
    const ends_piece *x = a, *y = b;
    if (x->points != y->points) return x->points > y->points ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

static uint32_t find_pieces(planes_ends *e, double cell, const planes_reach *axes) {
    uint32_t count = 0;
    if (e->own_count == 0) return 0;
    lay_out(e, cell, axes);
    for (uint32_t i = 0; i < e->size[0] * e->size[1]; i++) {
        if (e->cells[i] == 0 || e->piece[i] > 0 || !has_company(e, i)) continue;
        e->pieces[count] = take_piece(e, i, count + 1);
        count++;
    }
    qsort(e->pieces, count, sizeof *e->pieces, compare_pieces);
    return count < MAX_PIECES ? count : MAX_PIECES;
}

/* Turns axes to those of the largest piece. */
static void turn_axes(const planes_ends *e, planes_reach *reach) {
    double u = 0, v = 0, uu = 0, uv = 0, vv = 0;
    for (uint32_t i = 0; i < e->size[0] * e->size[1]; i++) {
        const uint32_t column = i % e->size[0], row = i / e->size[0];
        const double points = e->cells[i], at_u = column, at_v = row;
        if (e->piece[i] != e->pieces[0].number) continue;
        u += points * at_u, v += points * at_v;
        uu += points * at_u * at_u, uv += points * at_u * at_v, vv += points * at_v * at_v;
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
static uint32_t find_pieces_along(planes_ends *e, double cell, planes_plane *plane) {
    const double normal[3] = {(double)plane->a, (double)plane->b, (double)plane->c};
    double u[3], v[3];
    planes_perpendicular(normal, u, v);
    for (int k = 0; k < 3; k++) {
        plane->reach.u[k] = (float)u[k];
        plane->reach.v[k] = (float)v[k];
    }
    if (find_pieces(e, cell, &plane->reach) == 0) return 0;
    turn_axes(e, &plane->reach);
    return find_pieces(e, cell, &plane->reach);
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

/* Where a plane without end ends. False: no others' points are beyond, but for lone ones. */
static bool find_end(planes_ends *e, uint32_t number, double cell, planes_reach *end) {
    planes_plane plane = e->planes[number];
    uint32_t least = UINT32_MAX, outside = 0, inside;
    list_near(e, number);
    inside = e->shared_count;
    if (inside == 0) return false;
    const uint32_t pieces = find_pieces_along(e, cell, &plane);
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
    return inside + COMPANY <= e->shared_count;
}

static mote_status open_ends(planes_ends *e, planes_run *run, const planes_sample *sample) {
    mote_context *ctx = run->ctx;
    const uint64_t points = sample->count, planes = run->found_count, cells = points > MIN_CELLS ? points : MIN_CELLS;
    memset(e, 0, sizeof *e);
    e->run = run;
    e->sample = sample;
    e->words = (uint32_t)((planes + 63) / 64);
    e->planes = mote_alloc(ctx, planes * sizeof *e->planes, "planes ends");
    e->crossing = mote_alloc(ctx, planes * e->words * sizeof *e->crossing, "planes ends");
    e->near_planes = mote_alloc(ctx, points * e->words * sizeof *e->near_planes, "planes ends");
    e->own = mote_alloc(ctx, points * sizeof *e->own, "planes ends");
    e->shared = mote_alloc(ctx, points * sizeof *e->shared, "planes ends");
    e->cells = mote_alloc(ctx, cells * sizeof *e->cells, "planes ends");
    e->piece = mote_alloc(ctx, cells * sizeof *e->piece, "planes ends");
    e->stack = mote_alloc(ctx, cells * sizeof *e->stack, "planes ends");
    e->pieces = mote_alloc(ctx, cells * sizeof *e->pieces, "planes ends");
    return mote_context_status(ctx);
}

static void close_ends(mote_context *ctx, planes_ends *e) {
    void *const arrays[] = {e->planes, e->crossing, e->near_planes, e->own,   e->shared,
                            e->cells,  e->piece,    e->stack,       e->pieces};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) mote_free(ctx, arrays[i]);
}

/* Finds the ends of planes that have none. marks: [found] which, in and out; count: of those that have one */
static mote_status end_planes(planes_run *run, const planes_sample *sample, uint8_t *marks, planes_reach *ends,
                              uint32_t *count) {
    const double cell = planes_cell_of_sample(run, sample);
    planes_ends e;
    mote_status status = open_ends(&e, run, sample);
    *count = 0;
    for (uint32_t i = 0; i < run->found_count && status == MOTE_OK; i++) {
        e.planes[i] = planes_plane_of(run, &run->found[i]);
    }
    if (status == MOTE_OK) look_around(&e);
    for (uint32_t i = 0; i < run->found_count && status == MOTE_OK && !mote_stop(run->ctx); i++) {
        marks[i] = marks[i] != 0 && find_end(&e, i, cell, &ends[i]);
        *count += marks[i];
    }
    close_ends(run->ctx, &e);
    return status == MOTE_OK ? mote_stopped(run->ctx) : status;
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
    uint32_t ended = 0, endless = 0;
    for (uint32_t i = 0; i < run->found_count; i++) endless += run->found[i].reach.bounded == 0;
    if (endless == 0 || all->count == 0) return MOTE_OK;
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
