/* Series: parallel planes so near to each other that none grows by itself, whatever their layout, and what stands
   upright between them. A growth takes along what crosses its plane within reach; where that are risers between treads
   that are six noises apart, nothing is left that grows. But all treads face one way, and seen along it points pile up:

       a spiral stair from the side        distances along the treads' normal
             __                             #      #      #      #
           _|  |__                         ###    ###    ###    ###      evenly between them: risers, a column, strays
        __|    |  |__                      ----------------------------->

   Points that have no plane are one body. Of the direction that says most the heaps are a series if they are so near to
   each other, and if there is a valley between each two of them. Nothing of a riser may be beyond the reach of treads,
   so its slope cannot be told before they stand: trial rectangles stand upright on the series, through two points. All
   rectangles together, with strays, are a mixture (planes_rectangles.c), and each point goes to the likeliest of them.
   What goes through the series, as a column does, is seen beyond it as well: such rectangles hold their points until
   the others stand. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "math/hash.h"
#include "planes/local/planes_growth.h"
#include "planes/local/planes_rectangles.h"

#define MAX_OWNED     0.5 /* of the points, planes have, where a series is looked for among the others */
#define MIN_OWNED     0.1 /* of the points, planes have that tell their noise */
#define ALIKE         1.4 /* times that noise */
#define COARSEST      4.0 /* the body's size, to the noise of profiles; then half of that, down to the finest */
#define FINEST        32.0
#define MIN_SHEETS    4u
#define MAX_APART     15.0  /* noises, of neighbours: treads 18 noises apart grow by themselves; what was none had 25 */
#define MIN_CONTRAST  1.0   /* the tops of two heaps, to the middle between them */
#define MEAN_CONTRAST 1.5   /* of all heaps; stairs have 2.2 */
#define TOP           0.5   /* noises: as far from its middle a heap's top is counted */
#define MIN_REST      0.4   /* share of the points that are in no rectangle, to begin with */
#define TRIALS        2048u /* upright rectangles through two points, of a round */
#define FIRST_SPAN    16u  /* points of the order that the two are apart at most; or twice, four, eight times as many */
#define MIN_LENGTH    4.0  /* noises, between the two */
#define TRIAL_NATS    20.0 /* that a trial gains: half of what a plane costs, for it is not fitted yet */
#define FIRST_SHARE   0.01
#define SHARE_TURNS   3
#define ADDED         8u /* rectangles that are added side by side */
#define ROUNDS        8
#define FIRST_TURNS   6 /* of a round: what was added is fitted by how its parts vary */
#define LAST_TURNS    20
#define SAME_SQUARES  1.2  /* variance of pieces of one plane, to that of the noise */
#define SAME_AREA     1.25 /* of a rectangle around pieces of one plane, to theirs */

typedef struct upright_trial {
    double gain, normal[3];
    bounded_plane rectangle;
} upright_trial;

/* A search for a series. */
typedef struct series {
    composite_body body;
    rectangle_mixture mixture; /* family 0 has the sheets, each other one an upright plane */
    uint32_t sheets;
    int32_t *nobody; /* [sample] as if no plane had a point */
    upright_trial trials[TRIALS];
    double sums[COMPOSITE_MAX_POINTS], ratios[COMPOSITE_MAX_POINTS];
} series;

/* ---- the body */

static void place_of(const composite_columns *points, uint32_t i, double p[3]) {
    p[0] = (double)points->x[i];
    p[1] = (double)points->y[i];
    p[2] = (double)points->z[i];
}

/* Takes the points without a plane, or all, or every few of them; returns the root mean square of their coordinates. */
static double take_points(const planes_local *s, bool all_points, composite_body *body) {
    const planes_sample *p = s->sample;
    const composite_columns *all = &body->all;
    uint32_t *list = s->component, count = 0;
    double sum[3] = {0, 0, 0}, squares = 0;
    for (uint32_t i = 0; i < p->count; i++) {
        if (s->owner[i] >= 0 && !all_points) continue;
        sum[0] += (double)p->x[i];
        sum[1] += (double)p->y[i];
        sum[2] += (double)p->z[i];
        list[count++] = i;
    }
    for (int k = 0; k < 3; k++) {
        body->at[k] = rint(sum[k] / fmax(count, 1));
        body->normal[k] = 0; /* it is no slab: what is expected along a direction is what is there, blurred */
    }
    composite_take_points(s, list, count, COMPOSITE_MAX_POINTS, body);
    for (uint32_t i = 0; i < all->count; i++) {
        const double x = (double)all->x[i], y = (double)all->y[i], z = (double)all->z[i];
        squares += x * x + y * y + z * z;
    }
    return sqrt(squares / fmax(3.0 * all->count, 1));
}

/* ---- sheets */

/* Points about a place along a direction, as a heap's top has them. */
static double count_about(const composite_columns *all, const double n[3], double at, double reach) {
    double count = 0;
    for (uint32_t i = 0; i < all->count; i++) {
        const double d = n[0] * (double)all->x[i] + n[1] * (double)all->y[i] + n[2] * (double)all->z[i];
        count += fabs(d - at) < reach;
    }
    return count;
}

/* The tops of a heap and of the next one, to the valley between them; 0: they are far apart. */
static double contrast_of(const composite_body *body, const double n[3], const composite_heaps *heaps, uint32_t k) {
    const double a = heaps->at[k], b = heaps->at[k + 1], reach = TOP * heaps->noise;
    const double tops = count_about(&body->all, n, a, reach) + count_about(&body->all, n, b, reach);
    const double valley = count_about(&body->all, n, 0.5 * (a + b), reach);
    return b - a > MAX_APART * heaps->noise ? 0 : 0.5 * (tops + 1) / (valley + 1);
}

/* Keeps the longest run of heaps that are beside each other; false: it is no series. */
static bool keep_run(const composite_body *body, const double n[3], composite_heaps *heaps) {
    uint32_t first = 0, longest = 0, begin = 0;
    double sum = 0, most = 0;
    for (uint32_t k = 0; k < heaps->count; k++) {
        const double contrast = k + 1 < heaps->count ? contrast_of(body, n, heaps, k) : 0;
        if (contrast >= MIN_CONTRAST) {
            sum += log(contrast);
            continue;
        }
        if (k + 1 - begin > longest) {
            first = begin;
            longest = k + 1 - begin;
            most = sum;
        }
        begin = k + 1;
        sum = 0;
    }
    heaps->count = longest;
    memmove(heaps->at, heaps->at + first, longest * sizeof *heaps->at);
    memmove(heaps->share, heaps->share + first, longest * sizeof *heaps->share);
    return longest >= MIN_SHEETS && most >= (longest - 1) * log(MEAN_CONTRAST);
}

/* The rectangle of the growth in the scratch. */
static bounded_plane rectangle_of(const planes_local *s, const planes_growth *g, const composite_body *body) {
    bounded_plane r;
    memset(&r, 0, sizeof r);
    double sums[2] = {0, 0}, products[3] = {0, 0, 0}, count = 0;
    for (uint32_t i = 0; i < s->near_count; i++) {
        if (!planes_in_component(s, g, i)) continue;
        const double u = (double)s->near_u[i], v = (double)s->near_v[i];
        sums[0] += u;
        sums[1] += v;
        products[0] += u * u;
        products[1] += u * v;
        products[2] += v * v;
        count++;
    }
    const double u = sums[0] / count, v = sums[1] / count;
    const double uu = products[0] / count - u * u, uv = products[1] / count - u * v, vv = products[2] / count - v * v;
    const double angle = 0.5 * atan2(2 * uv, uu - vv), c = cos(angle), d = sin(angle);
    for (int k = 0; k < 3; k++) {
        r.at[k] = g->at[k] - body->at[k] + u * g->u[k] + v * g->v[k];
        r.u[k] = c * g->u[k] + d * g->v[k];
        r.v[k] = c * g->v[k] - d * g->u[k];
    }
    r.half[0] = sqrt(3 * fmax(c * c * uu + 2 * c * d * uv + d * d * vv, 0));
    r.half[1] = sqrt(3 * fmax(d * d * uu - 2 * c * d * uv + c * c * vv, 0));
    r.share = count / (body->weight * body->all.count);
    return r;
}

/* The sheets of a series as rectangles, each laid out where it is; nobody has their points. */
static uint32_t find_sheets(const planes_local *s, const series *x, const double n[3], const composite_heaps *heaps,
                            double size, bounded_plane *rectangles) {
    planes_local all = *s; /* its scratch is the search's */
    const composite_body *body = &x->body;
    uint32_t count = 0;
    all.owner = x->nobody;
    for (uint32_t k = 0; k < heaps->count; k++) {
        planes_growth g;
        double middle[3];
        memset(&g, 0, sizeof g);
        composite_middle(body, n, heaps->at[k], heaps->noise, middle);
        memcpy(g.normal, n, sizeof g.normal);
        planes_turn_up(g.normal);
        for (int axis = 0; axis < 3; axis++) g.at[axis] = body->at[axis] + middle[axis];
        g.noise = fmax(heaps->noise, s->params.floor);
        g.cell = 4 * size * sqrt(GROWTH_POINTS_A_CELL / (body->all.count * body->weight)); /* as if all were on one */
        g.turned = true;
        g.role = PLANES_JOINT;
        g.self = -1;
        if (!planes_lay_component(&all, &g) || !planes_growth_may_stand(&all, &g)) continue;
        rectangles[count++] = rectangle_of(&all, &g, body);
    }
    return count;
}

/* ---- planes that stand upright on them */

/* A square upright on the series, through two points that follow each other soon in the order. False: they are too
   near. */
static bool try_through(const composite_columns *points, const rectangle_mixture *m, uint64_t number,
                        upright_trial *trial) {
    if (points->count < 2) return false;
    const uint64_t hash = mote_hash_pair(points->count, number);
    const uint32_t i = (uint32_t)(hash & 0xFFFFFF) % points->count, span = FIRST_SPAN << (number % 4);
    const uint32_t j = (i + 1 + (uint32_t)(hash >> 24 & 0xFFFF) % span) % points->count;
    const double *up = m->normals[0];
    double a[3], b[3];
    bounded_plane *r = &trial->rectangle;
    place_of(points, i, a);
    place_of(points, j, b);
    const double lean = planes_dot(up, b) - planes_dot(up, a);
    for (int k = 0; k < 3; k++) {
        r->u[k] = b[k] - a[k] - lean * up[k];
        r->v[k] = up[k];
        r->at[k] = 0.5 * (a[k] + b[k]);
    }
    const double length = sqrt(planes_dot(r->u, r->u));
    if (length < MIN_LENGTH * m->noise) return false;
    for (int k = 0; k < 3; k++) r->u[k] /= length;
    planes_cross(r->u, r->v, trial->normal);
    r->half[0] = r->half[1] = 0.5 * length;
    return true;
}

/* What points gain if a trial has its best share of them.
   sums    their densities so far
   ratios  scratch [points]
   m       its last family is the trial's */
static void judge_trial(const composite_columns *points, const double *sums, double *ratios, rectangle_mixture *m,
                        upright_trial *trial) {
    bounded_plane r = trial->rectangle;
    double share = FIRST_SHARE;
    uint32_t near = 0;
    r.share = 1;
    r.family = PLANES_MAX_RECTANGLES - 1;
    memcpy(m->normals[r.family], trial->normal, sizeof trial->normal);
    for (uint32_t i = 0; i < points->count; i++) {
        double p[3];
        place_of(points, i, p);
        const double density = rectangles_density(m, &r, p);
        if (density > 0) ratios[near++] = density / sums[i];
    }
    for (int turn = 0; turn < SHARE_TURNS; turn++) {
        double parts = 0;
        for (uint32_t i = 0; i < near; i++) parts += share * ratios[i] / (1 - share + share * ratios[i]);
        share = parts / points->count;
    }
    trial->rectangle.share = share;
    trial->gain = (points->count - near) * log(1 - share);
    for (uint32_t i = 0; i < near; i++) trial->gain += log(1 - share + share * ratios[i]);
}

static int compare_trials(const void *a, const void *b) {
    const upright_trial *x = a, *y = b;
    return x->gain < y->gain ? 1 : x->gain > y->gain ? -1 : 0;
}

static bool is_apart(const upright_trial *trials, uint32_t count, const upright_trial *one) {
    for (uint32_t k = 0; k < count; k++) {
        const double *a = trials[k].rectangle.at, *b = one->rectangle.at;
        const double away[3] = {a[0] - b[0], a[1] - b[1], a[2] - b[2]};
        const double reach = trials[k].rectangle.half[0] + one->rectangle.half[0];
        if (planes_dot(away, away) < reach * reach) return false;
    }
    return true;
}

/* Adds the best trials that are apart from each other; returns how many. */
static uint32_t add_upright(const composite_columns *points, series *x) {
    rectangle_mixture *m = &x->mixture;
    upright_trial *trials = x->trials;
    uint32_t count = 0, added = 0;
    for (uint32_t i = 0; i < points->count; i++) {
        double p[3];
        place_of(points, i, p);
        x->sums[i] = m->rest / m->volume;
        for (uint32_t k = 0; k < m->count; k++) x->sums[i] += rectangles_density(m, &m->rectangles[k], p);
    }
    for (uint64_t number = 0; number < TRIALS; number++) {
        if (!try_through(points, m, number, &trials[count])) continue;
        judge_trial(points, x->sums, x->ratios, m, &trials[count]);
        count += trials[count].gain > TRIAL_NATS;
    }
    qsort(trials, count, sizeof *trials, compare_trials);
    for (uint32_t k = 0; k < count && added < ADDED && m->count + 1 < PLANES_MAX_RECTANGLES; k++) {
        if (!is_apart(trials, added, &trials[k])) continue;
        trials[added] = trials[k];
        bounded_plane *r = &m->rectangles[m->count++];
        *r = trials[added].rectangle;
        r->family = m->families;
        memcpy(m->normals[m->families], trials[added].normal, sizeof trials[added].normal);
        m->upright_on[m->families++] = 0;
        added++;
    }
    return added;
}

static double area_of(const bounded_plane *r) { return 4 * r->half[0] * r->half[1]; }

/* Makes one rectangle of two, if it is as flat as these, and has no more room. */
static bool join(const composite_columns *points, rectangle_mixture *m, uint32_t a, uint32_t b) {
    const planes_moments before = m->moments[a], *other = &m->moments[b];
    const bounded_plane first = m->rectangles[a], second = m->rectangles[b];
    double scatter[PLANES_PRODUCTS] = {0}, n[3];
    planes_moments *both = &m->moments[a];
    if (fabs(planes_dot(m->normals[first.family], m->normals[second.family])) < PLANES_PARALLEL) return false;
    *both = planes_moments_sum(&before, 1, other);
    rectangles_add_scatter(both, scatter);
    if (rectangles_direction_across(scatter, m->normals[0], n) &&
        planes_moments_along(both, n) <= SAME_SQUARES * m->noise * m->noise) {
        double old[3];
        memcpy(old, m->normals[first.family], sizeof old);
        memcpy(m->normals[first.family], n, sizeof n);
        rectangles_fit_one(m, a, points->count);
        if (area_of(&m->rectangles[a]) <= SAME_AREA * (area_of(&first) + area_of(&second))) return true;
        memcpy(m->normals[first.family], old, sizeof old);
    }
    *both = before;
    m->rectangles[a] = first;
    return false;
}

/* A plane may have been found in pieces. */
static void join_pieces(const composite_columns *points, series *x) {
    rectangle_mixture *m = &x->mixture;
    rectangles_share(points, m);
    for (uint32_t a = x->sheets; a < m->count; a++) {
        for (uint32_t b = a + 1; b < m->count; b++) {
            if (!join(points, m, a, b)) continue;
            m->rectangles[b] = m->rectangles[--m->count];
            m->moments[b] = m->moments[m->count];
            b = a;
        }
    }
}

/* Adds upright rectangles while they gain; the sheets stay until all are there, for what crosses them would draw them
   along. */
static void find_upright(const planes_local *s, const composite_columns *points, series *x) {
    rectangle_mixture *m = &x->mixture;
    for (int round = 0; round < ROUNDS; round++) {
        const uint32_t before = m->count;
        rectangles_share(points, m);
        if (add_upright(points, x) == 0) break;
        for (int turn = 0; turn < FIRST_TURNS; turn++) {
            rectangles_share(points, m);
            rectangles_fit_directions(m, 1);
            for (uint32_t k = 0; k < x->sheets; k++) m->rectangles[k].share = m->moments[k].count / points->count;
            for (uint32_t k = x->sheets; k < before; k++) rectangles_move_one(m, k, points->count);
            for (uint32_t k = before; k < m->count; k++) rectangles_fit_one(m, k, points->count);
        }
        join_pieces(points, x);
    }
    rectangles_settle(points, LAST_TURNS, true, s->params.floor, m);
}

/* ---- planes */

/* Whether a rectangle goes through sheets of the series. */
static bool goes_through(const series *x, const bounded_plane *r) {
    const rectangle_mixture *m = &x->mixture;
    const double *up = m->normals[0];
    const double high = fabs(planes_dot(r->u, up)) * r->half[0] + fabs(planes_dot(r->v, up)) * r->half[1];
    for (uint32_t k = 0; k < x->sheets; k++) {
        const double *at = m->rectangles[k].at, away[3] = {at[0] - r->at[0], at[1] - r->at[1], at[2] - r->at[2]};
        if (fabs(planes_dot(away, up)) < high - 2 * m->noise) return true;
    }
    return false;
}

/* A rectangle as a plane that has no points yet. all: points of the sample */
static void describe(const series *x, uint32_t k, double all, planes_local_plane *plane) {
    const rectangle_mixture *m = &x->mixture;
    const bounded_plane *r = &m->rectangles[k];
    memset(plane, 0, sizeof *plane);
    memcpy(plane->normal, m->normals[r->family], sizeof plane->normal);
    planes_turn_up(plane->normal);
    for (int axis = 0; axis < 3; axis++) plane->centroid[axis] = x->body.at[axis] + r->at[axis];
    plane->offset = planes_dot(plane->normal, plane->centroid);
    memcpy(plane->u, r->u, sizeof plane->u);
    memcpy(plane->v, r->v, sizeof plane->v);
    for (int side = 0; side < 2; side++) {
        plane->low[side] = -r->half[side];
        plane->high[side] = r->half[side];
    }
    plane->noise = m->noise;
    plane->area = 4 * r->half[0] * r->half[1];
    plane->cell = sqrt(GROWTH_POINTS_A_CELL * plane->area / fmax(all * r->share, 1));
    plane->role = k >= x->sheets && goes_through(x, r) ? PLANES_SCAFFOLD : PLANES_JOINT;
    plane->turned = true;
    /* It ends where it was seen, the sheets along their longer side, what stands on them between two of them. */
    const double *along = k < x->sheets ? r->u : m->normals[0];
    const double half =
        fabs(planes_dot(r->u, along)) * r->half[0] + fabs(planes_dot(r->v, along)) * r->half[1] + m->noise;
    memcpy(plane->strip.along, along, sizeof plane->strip.along);
    plane->strip.bounded = plane->role == PLANES_JOINT;
    plane->strip.low = planes_dot(plane->centroid, along) - half;
    plane->strip.high = planes_dot(plane->centroid, along) + half;
}

/* Each point that no plane has is the rectangle's that it is likeliest of. */
static void own_points(planes_local *s, const series *x) {
    const rectangle_mixture *m = &x->mixture;
    const uint32_t first = s->plane_count;
    const double all = x->body.all.count * x->body.weight;
    for (uint32_t k = 0; k < m->count && s->plane_count < PLANES_LOCAL_MAX; k++) {
        describe(x, k, all, &s->planes[planes_add_empty(s)]);
    }
    for (uint32_t i = 0; i < s->sample->count; i++) {
        if (s->owner[i] >= 0) continue;
        const double p[3] = {(double)s->sample->x[i] - x->body.at[0], (double)s->sample->y[i] - x->body.at[1],
                             (double)s->sample->z[i] - x->body.at[2]};
        double most = m->rest / m->volume;
        for (uint32_t k = 0; first + k < s->plane_count; k++) {
            const double density = rectangles_density(m, &m->rectangles[k], p);
            if (density <= most) continue;
            most = density;
            s->owner[i] = (int32_t)(first + k);
        }
        if (s->owner[i] < 0) continue;
        s->likelihood[i] = (float)log(most * all);
        s->planes[s->owner[i]].count++;
    }
}

/* The noise that sheets may have, where planes have grown that tell it: levels of flat roofs are no sheets as thick as
   each of them is uneven. */
static double max_noise(const planes_local *s) {
    return planes_owned_points(s) >= MIN_OWNED * s->sample->count ? ALIKE * planes_middle_noise(s) : INFINITY;
}

/* A series of heaps of a body of that size, at one of its scales. */
static bool find_at(planes_local *s, series *x, double size) {
    composite_body *body = &x->body;
    rectangle_mixture *m = &x->mixture;
    composite_heaps heaps;
    double n[3];
    if (!(composite_best_direction(s, body, n) > 0)) return false;
    const double noise = body->noise;
    take_points(s, true, body);
    body->noise = noise;
    composite_find_heaps(s, body, n, (heap_limits){0, INFINITY, 0.5}, &heaps);
    if (!keep_run(body, n, &heaps) || heaps.noise > max_noise(s)) return false;
    memset(m, 0, sizeof *m);
    m->count = x->sheets = find_sheets(s, x, n, &heaps, size, m->rectangles);
    if (x->sheets < MIN_SHEETS) return false;
    m->families = 1;
    m->upright_on[0] = -1;
    memcpy(m->normals[0], n, sizeof n);
    planes_turn_up(m->normals[0]);
    m->noise = fmax(heaps.noise, s->params.floor);
    m->blur = RECTANGLES_BLURRED;
    m->volume = rectangles_volume(&body->all, n);
    m->rest = fmax(heaps.rest, MIN_REST);
    planes_take_back(s, 0); /* what has grown will grow again */
    find_upright(s, &body->all, x);
    own_points(s, x);
    return true;
}

/* A series of the points without a plane, or of all; any: whether there is one. */
static mote_status find_series(planes_local *s, bool all_points, bool *any) {
    const uint64_t bytes = (s->sample->count + 8) * sizeof(int32_t);
    series *x = mote_alloc(s->ctx, sizeof *x, "planes series");
    int32_t *nobody = mote_alloc(s->ctx, bytes, "planes series");
    mote_status status = mote_context_status(s->ctx);
    if (status == MOTE_OK) {
        memset(nobody, 0xFF, bytes);
        x->nobody = nobody;
    }
    for (double by = FINEST; by >= COARSEST && !*any && status == MOTE_OK; by *= 0.5) {
        const double size = take_points(s, all_points, &x->body);
        status = mote_progress(s->ctx, 0.3, "growing planes");
        if (status != MOTE_OK) break;
        x->body.noise = size / by;
        *any = x->body.all.count >= MIN_SHEETS * s->params.min_points / x->body.weight && find_at(s, x, size);
    }
    mote_free(s->ctx, nobody);
    mote_free(s->ctx, x);
    return status;
}

/* Treads that lean over to their risers have most points, too; so where planes do, a series must explain them better.
   Where planes outside of the sample have most of the cloud's points, none is looked for. */
mote_status planes_find_series(planes_local *s, bool *any) {
    const double outside = s->params.owned, inside = planes_owned_points(s) / fmax(s->sample->count, 1);
    *any = false;
    if (outside >= MAX_OWNED) return MOTE_OK;
    if (outside + (1 - outside) * inside < MAX_OWNED) return find_series(s, false, any);
    planes_owners before = {0, NULL, NULL, NULL};
    const double gained = planes_gain_of_all(s);
    mote_status status = planes_keep_owners(s, &before);
    if (status == MOTE_OK) status = find_series(s, true, any);
    if (status == MOTE_OK && *any && planes_gain_of_all(s) <= gained) {
        planes_put_back(s, &before);
        *any = false;
    }
    planes_free_owners(s->ctx, &before);
    return status;
}
