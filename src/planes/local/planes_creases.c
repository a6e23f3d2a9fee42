/* Creases: bodies that are bent because they are several planes side by side, as a road that falls to either side,
   between its pavements. Where the noise is about as large as the road is higher in its middle, each of its planes
   grows over into the others, and what has grown is bent. Over the whole body the planes are told apart:

       distances from the body's plane, by the place along a direction

       ________                        ________
               |       ________       |              six parts, each of a plane; the faces of the kerbs are two
               |______/        \______|
                         |
                         a crease

   Along a direction the body is divided into the parts whose planes explain its points best (segmented least squares,
   Bellman 1961). What a plane costs is that of all planes, and the noise is the one that the points have within small
   cells. The direction under which the parts explain most is the one across the creases.

   A curved surface can be divided, too, and a sensor's steps and hills into very many parts. So each crease must hold
   by itself: the two planes beside it explain their points better than one quadratic surface does. Of a crease between
   two like parts that surface leaves a 16th of what one plane leaves; of a piece of that surface two planes leave a
   16th. Parts beside a crease that does not hold are no planes; where the others do not have nearly all of the body, it
   is no planes side by side, and stays as it is.

   A part is a plane that ends at its creases: it grows within its strip, or it would grow over into the others again.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "math/pi.h"
#include "planes/local/planes_growth.h"

#define MAX_POINTS  4096u /* of a body */
#define DIRECTIONS  32u   /* on a half circle, that are tried first: 5.6 degrees apart */
#define HALVINGS    6     /* of their distance around the best one: 0.09 degrees, a fiftieth of a body's length in 30 */
#define BINS        64u   /* along a direction: creases are between them */
#define CELLS       256u  /* about, that the noise is told by: of 16 points where a body has MAX_POINTS */
#define MIN_CELL    8.0   /* points of a cell that tells it */
#define MOST_POINTS 0.9   /* of a body, its planes have; with half of it corridors fall into pieces */

/* A plane d = at[0] + at[1] u + at[2] v. */
typedef struct crease_plane {
    double at[3], squares; /* squares: the sum of those that it leaves */
} crease_plane;

/* Points of a body that belong to no plane. */
typedef struct crease_body {
    uint32_t count;
    double weight;     /* points of the sample for each */
    double min_points; /* of the sample, a part has */
    double variance;   /* of their noise */
    float u[MAX_POINTS], v[MAX_POINTS], d[MAX_POINTS];
} crease_body;

/* A body's parts along the direction (along, across) of u and v. */
typedef struct crease_division {
    double nats; /* less is better */
    double along, across, low, width;
    planes_moments before[BINS + 1]; /* of all bins before one */
    uint32_t count;
    uint32_t first[BINS + 1]; /* [count + 1] bin of each part */
    bool is_plane[BINS];      /* [count] */
} crease_division;

/* ---- sums of places u, v along a body, and distances d from its plane */

static crease_plane fit_plane(const planes_moments *s) {
    crease_plane plane = {{0, 0, 0}, 0};
    if (!(s->count > 0)) return plane;
    const double u = s->first[0] / s->count, v = s->first[1] / s->count, d = s->first[2] / s->count;
    const double uu = s->products[0] - s->first[0] * u, uv = s->products[1] - s->first[0] * v;
    const double ud = s->products[2] - s->first[0] * d, vv = s->products[3] - s->first[1] * v;
    const double vd = s->products[4] - s->first[1] * d, dd = s->products[5] - s->first[2] * d;
    const double det = uu * vv - uv * uv;
    if (det > 1e-9 * uu * vv) {
        plane.at[1] = (ud * vv - vd * uv) / det;
        plane.at[2] = (vd * uu - ud * uv) / det;
    }
    plane.at[0] = d - plane.at[1] * u - plane.at[2] * v;
    plane.squares = fmax(dd - plane.at[1] * ud - plane.at[2] * vd, 0);
    return plane;
}

/* What a plane costs, and what its points do. */
static double nats_of(const crease_body *body, double squares) {
    return PLANES_LOCAL_NATS + body->weight * squares / (2 * body->variance);
}

/* ---- a body */

/* The variance of the points about a plane within a small cell: the middle one of all cells, for some have a step. It
   is infinite where no cell tells it. */
static double variance_of(const crease_body *body) {
    planes_moments cells[2 * CELLS];
    double variances[2 * CELLS];
    float low[2], high[2];
    uint32_t told = 0;
    planes_find_ends(body->u, body->count, &low[0], &high[0]);
    planes_find_ends(body->v, body->count, &low[1], &high[1]);
    const double wide = (double)(high[0] - low[0]), tall = (double)(high[1] - low[1]);
    const double cell = fmax(sqrt(wide * tall / CELLS), fmax(wide, tall) / (CELLS - 1));
    const uint32_t columns = (uint32_t)(wide / cell) + 1, rows = (uint32_t)(tall / cell) + 1;
    if (!(cell > 0) || columns * rows > 2 * CELLS) return INFINITY;
    memset(cells, 0, sizeof cells);
    for (uint32_t i = 0; i < body->count; i++) {
        const uint32_t column = (uint32_t)((double)(body->u[i] - low[0]) / cell);
        const uint32_t row = (uint32_t)((double)(body->v[i] - low[1]) / cell);
        planes_moments_add(&cells[row * columns + column], (double)body->u[i], (double)body->v[i], (double)body->d[i]);
    }
    for (uint32_t i = 0; i < columns * rows; i++) {
        if (cells[i].count >= MIN_CELL) variances[told++] = fit_plane(&cells[i]).squares / (cells[i].count - 3);
    }
    qsort(variances, told, sizeof *variances, planes_compare_doubles);
    return told > 0 ? variances[told / 2] : INFINITY;
}

/* Whether parts that leave the noise alone would explain more than one plane may have between its cells: what is thick,
   not bent, need not be divided. It is never so where no cell told the noise. */
static bool has_something_to_explain(const planes_growth *g, const crease_body *body) {
    planes_moments all;
    memset(&all, 0, sizeof all);
    for (uint32_t i = 0; i < body->count; i++) {
        planes_moments_add(&all, (double)body->u[i], (double)body->v[i], (double)body->d[i]);
    }
    return body->variance * all.count < (1 - planes_one_structure(g)) * fit_plane(&all).squares;
}

/* The points of a growth that have no plane, or every few of them; false: they are too few. */
static bool take_body(planes_local *s, planes_growth *g, crease_body *body) {
    const uint32_t free_points = planes_list_free(s, g);
    if (free_points < 2 * s->params.min_points) return false;
    body->count = free_points < MAX_POINTS ? free_points : MAX_POINTS;
    for (uint32_t k = 0; k < body->count; k++) {
        const uint32_t i = s->component[(uint64_t)k * free_points / body->count];
        body->u[k] = s->near_u[i];
        body->v[k] = s->near_v[i];
        body->d[k] = s->near_distance[i];
    }
    body->weight = (double)free_points / body->count;
    body->min_points = s->params.min_points;
    body->variance = fmax(variance_of(body), s->params.floor * s->params.floor);
    return has_something_to_explain(g, body);
}

/* ---- a division */

static double place_of(const crease_division *x, const crease_body *body, uint32_t i) {
    return x->along * (double)body->u[i] + x->across * (double)body->v[i];
}

static uint32_t bin_of(const crease_division *x, const crease_body *body, uint32_t i) {
    const double bin = (place_of(x, body, i) - x->low) / x->width;
    return bin < BINS ? (uint32_t)bin : BINS - 1;
}

static void sum_bins(const crease_body *body, crease_division *x) {
    double high = -INFINITY;
    x->low = INFINITY;
    for (uint32_t i = 0; i < body->count; i++) {
        x->low = fmin(x->low, place_of(x, body, i));
        high = fmax(high, place_of(x, body, i));
    }
    x->width = (high - x->low) / BINS;
    memset(x->before, 0, sizeof x->before);
    if (!(x->width > 0)) return;
    for (uint32_t i = 0; i < body->count; i++) {
        planes_moments_add(&x->before[bin_of(x, body, i) + 1], (double)body->u[i], (double)body->v[i],
                           (double)body->d[i]);
    }
    for (uint32_t i = 1; i <= BINS; i++) x->before[i] = planes_moments_sum(&x->before[i], 1, &x->before[i - 1]);
}

/* The points from one bin to the one before another. */
static planes_moments sums_between(const crease_division *x, uint32_t first, uint32_t last) {
    return planes_moments_sum(&x->before[last], -1, &x->before[first]);
}

/* The best parts along a direction: of all that end at a bin the best is that of an earlier one and a part more. */
static void divide(const crease_body *body, double angle, crease_division *x) {
    double nats[BINS + 1];
    uint32_t from[BINS + 1], count = 0;
    x->along = cos(angle);
    x->across = sin(angle);
    sum_bins(body, x);
    nats[0] = 0;
    for (uint32_t last = 1; last <= BINS; last++) {
        nats[last] = INFINITY;
        from[last] = 0;
        for (uint32_t first = 0; first < last; first++) {
            if (!(nats[first] + PLANES_LOCAL_NATS < nats[last])) continue;
            const planes_moments part = sums_between(x, first, last);
            if (body->weight * part.count < body->min_points) continue;
            const double sum = nats[first] + nats_of(body, fit_plane(&part).squares);
            if (!(sum < nats[last])) continue;
            nats[last] = sum;
            from[last] = first;
        }
    }
    x->nats = nats[BINS];
    for (uint32_t last = BINS; last > 0; last = from[last]) count++;
    x->count = count;
    x->first[count] = BINS;
    for (uint32_t last = BINS; last > 0; last = from[last]) x->first[--count] = from[last];
}

/* The division that explains the body best, of all directions. */
static void find_division(const planes_local *s, const crease_body *body, crease_division *best) {
    double nats[DIRECTIONS], step = MOTE_PI / DIRECTIONS;
    uint32_t first = 0;
    crease_division other;
#pragma omp parallel for schedule(static, 1) num_threads(s->ctx->threads)
    for (int64_t i = 0; i < DIRECTIONS; i++) {
        crease_division tried;
        divide(body, step * (double)i, &tried);
        nats[i] = tried.nats;
    }
    for (uint32_t i = 1; i < DIRECTIONS; i++) first = nats[i] < nats[first] ? i : first;
    double angle = step * first;
    divide(body, angle, best);
    for (int k = 0; k < HALVINGS; k++) {
        const double middle = angle;
        step *= 0.5;
        for (int side = -1; side <= 1; side += 2) {
            divide(body, middle + side * step, &other);
            if (!(other.nats < best->nats)) continue;
            *best = other;
            angle = middle + side * step;
        }
    }
}

/* Whether the planes of a part and the next one explain their points better than one quadratic surface. */
static bool is_crease(const crease_body *body, const crease_division *x, uint32_t part) {
    const uint32_t first = x->first[part], middle = x->first[part + 1], last = x->first[part + 2];
    const planes_moments a = sums_between(x, first, middle), b = sums_between(x, middle, last);
    const planes_moments both = planes_moments_sum(&a, 1, &b);
    const double by = 1 / (BINS * x->width), noise = sqrt(body->variance);
    planes_quadratic curve;
    memset(&curve, 0, sizeof curve);
    for (uint32_t i = 0; i < body->count; i++) {
        const uint32_t bin = bin_of(x, body, i);
        if (bin < first || bin >= last) continue;
        planes_quadratic_add(&curve, by * (double)body->u[i], by * (double)body->v[i], (double)body->d[i] / noise, 1);
    }
    const double left = fit_plane(&both).squares * (1 - planes_quadratic_share(&curve));
    return fit_plane(&a).squares + fit_plane(&b).squares < left;
}

/* Marks the parts that are planes: the creases beside them hold. False: the body is no planes side by side, because
   these do not have nearly all of its points, or all parts explain no more than what one plane may have between its
   cells. */
static bool find_planes(const planes_growth *g, const crease_body *body, crease_division *x) {
    const planes_moments all = sums_between(x, 0, BINS);
    double squares = 0, points = 0;
    bool before = true;
    if (x->count < 2) return false;
    for (uint32_t part = 0; part < x->count; part++) {
        const planes_moments sums = sums_between(x, x->first[part], x->first[part + 1]);
        const bool after = part + 1 == x->count || is_crease(body, x, part);
        x->is_plane[part] = before && after;
        points += x->is_plane[part] ? sums.count : 0;
        squares += fit_plane(&sums).squares;
        before = after;
    }
    return points > MOST_POINTS * all.count && squares < (1 - planes_one_structure(g)) * fit_plane(&all).squares;
}

/* ---- planes */

/* A part as a growth: its plane, within its strip. */
static planes_growth growth_of(const planes_local *s, const planes_growth *g, const crease_division *x, uint32_t part) {
    const planes_moments sums = sums_between(x, x->first[part], x->first[part + 1]);
    const crease_plane plane = fit_plane(&sums);
    const double u = sums.first[0] / sums.count, v = sums.first[1] / sums.count, d = sums.first[2] / sums.count;
    planes_growth as = *g;
    double length = 0, place = 0;
    for (int k = 0; k < 3; k++) {
        const double along = x->along * g->u[k] + x->across * g->v[k];
        as.normal[k] = g->normal[k] - plane.at[1] * g->u[k] - plane.at[2] * g->v[k];
        as.at[k] = g->at[k] + u * g->u[k] + v * g->v[k] + d * g->normal[k];
        as.strip.along[k] = along;
        place += along * g->at[k];
        length += as.normal[k] * as.normal[k];
    }
    for (int k = 0; k < 3; k++) as.normal[k] /= sqrt(length);
    planes_turn_up(as.normal);
    as.strip.bounded = true;
    as.strip.low = part > 0 ? place + x->low + x->first[part] * x->width : -INFINITY;
    as.strip.high = part + 1 < x->count ? place + x->low + x->first[part + 1] * x->width : INFINITY;
    as.noise = fmax(sqrt(plane.squares / fmax(sums.count - 3, 1)), s->params.floor);
    as.max_noise = 0;
    return as;
}

/* Whether a part is a plane that explains its points far better than what has them. It is laid out in the scratch. */
static bool part_stands(planes_local *s, planes_growth *part) {
    uint32_t won;
    return planes_lay_component(s, part) && planes_growth_may_stand(s, part) &&
           planes_claim_points(s, part, -1, &won) > PLANES_LOCAL_NATS && won >= s->params.min_points;
}

/* Adds the planes of a body's parts; one alone is none. Returns whether there are. */
static bool cut_body(planes_local *s, planes_growth *g, crease_body *body) {
    crease_division division;
    uint32_t stand = 0;
    if (!take_body(s, g, body)) return false;
    find_division(s, body, &division);
    if (!find_planes(g, body, &division)) return false;
    for (uint32_t part = 0; part < division.count; part++) {
        planes_growth as = growth_of(s, g, &division, part);
        division.is_plane[part] = division.is_plane[part] && part_stands(s, &as);
        stand += division.is_plane[part];
    }
    for (uint32_t part = 0; part < division.count && stand > 1 && s->plane_count < PLANES_LOCAL_MAX; part++) {
        planes_growth as = growth_of(s, g, &division, part);
        if (division.is_plane[part] && part_stands(s, &as)) planes_commit(s, &as, planes_add_empty(s));
    }
    return stand > 1;
}

mote_status planes_cut_bodies(planes_local *s, planes_bodies *bodies, bool *any) {
    mote_status status = MOTE_OK;
    *any = false;
    if (bodies->count == 0) return MOTE_OK;
    crease_body *body = mote_alloc(s->ctx, sizeof *body, "planes creases");
    if (body == NULL) return MOTE_ERROR_MEMORY;
    for (uint32_t i = 0; i < bodies->count && status == MOTE_OK; i++) {
        status = mote_progress(s->ctx, 0.4, "growing planes");
        if (status == MOTE_OK) *any |= cut_body(s, &bodies->growths[i], body);
    }
    mote_free(s->ctx, body);
    return status;
}
