/* Composites: bodies that seem thick and flat, but are several planes: steps of a stair, slabs close to each other.
   Windows of the order see the whole thickness at once, and where the noise is about as large as the steps, no patch is
   thin. But over the whole body many points agree: seen along the normal of the treads their distances pile up.

       body                          distances along n               along the body's own normal
              __|                    #     #     #                          #
           __|                       ##   ###   ###                      # ####
        __|         n ^              ##   ###   ###                     #########
     __|              |              ---------------> evenly else       one heap

   A Hough transform of the body alone: over all directions, how much more the histogram of distances says than if the
   place along the body and the distance from it were independent. Along the best direction the heaps are told apart as
   normal distributions of one noise, and each becomes a plane of that direction. Points that have a plane are left out,
   and the body is looked at again; the planes of all directions turn each other before (planes_rectangles.c). */
#include <math.h>
#include <string.h>

#include "math/pi.h"
#include "planes/local/planes_composites.h"
#include "planes/local/planes_growth.h"

#define MAX_POINTS    4096u /* of a body, that vote */
#define FIRST_POINTS  1024u /* of these, while all directions are tried */
#define DIRECTIONS    2500u /* on the half sphere: 2.9 degrees apart */
#define FIRST_STEP    0.03  /* radians, of the refinement */
#define LAST_STEP     0.001
#define MAX_MOVES     60
#define NEIGHBOURS    4    /* of a direction, a step away */
#define BINS_A_NOISE  3.0  /* of the body, when directions are searched for */
#define FINE_BINS     8.0  /* when heaps are told apart */
#define MIN_SCORE     60.0 /* nats that a direction says more, of those that vote */
#define FAMILY_SHARE  0.25 /* of the best direction's nats, another has */
#define ALIKE         1.3  /* times the noise of a body's planes before: of others */
#define HEAP_CONTRAST 1.15 /* of a heap's top to what is expected there */
#define FIRST_NOISES  6    /* that are tried, each 1.4 times less than the one before */
#define TURNS         40   /* of expectation and maximization */
#define SHEETS_APART  2.0  /* noises: two normal distributions that are nearer have one top */
#define MIN_STRAYS    0.01 /* of the points of sheets, to begin with */
#define MAX_SPLITS    8    /* of a body, one after the other */
#define MOST_POINTS   0.6  /* of a body */
#define NO_PLANES     255u /* a point of a body without planes */
#define GOLDEN_ANGLE  2.399963229728653

/* ---- a direction */

/* The nats that a direction says more than expected; 0 if they are no more than least. */
static double score_direction(const composite_body *body, const composite_columns *columns, const double n[3],
                              double least) {
    planes_profile p;
    if (!planes_profile_make(body, columns, n, body->noise / BINS_A_NOISE, &body->blur, &p)) return 0;
    return planes_profile_bound(&p) > least ? planes_profile_score(&p) : 0;
}

static void direction_at(uint32_t i, double n[3]) {
    n[2] = (i + 0.5) / DIRECTIONS;
    const double radius = sqrt(1 - n[2] * n[2]), angle = GOLDEN_ANGLE * i;
    n[0] = radius * cos(angle);
    n[1] = radius * sin(angle);
}

static void turn(const double n[3], const double u[3], const double v[3], double a, double b, double to[3]) {
    double length = 0;
    for (int k = 0; k < 3; k++) {
        to[k] = n[k] + a * u[k] + b * v[k];
        length += to[k] * to[k];
    }
    for (int k = 0; k < 3; k++) to[k] /= sqrt(length);
}

/* What each direction scores, nats, as every few points tell. */
static void score_directions(const planes_local *s, const composite_body *body, double nats[DIRECTIONS]) {
#pragma omp parallel for schedule(dynamic, 16) num_threads(s->ctx->threads)
    for (int64_t i = 0; i < (int64_t)DIRECTIONS; i++) {
        double n[3];
        direction_at((uint32_t)i, n);
        nats[i] = score_direction(body, &body->some, n, MIN_SCORE / body->stride) * body->stride;
    }
}

static bool is_far(const double n[3], double (*from)[3], uint32_t count) {
    for (uint32_t k = 0; k < count; k++) {
        if (fabs((n[0] * from[k][0] + n[1] * from[k][1]) + n[2] * from[k][2]) >= PLANES_PARALLEL) return false;
    }
    return true;
}

/* The direction that scores most of those that are far from the directions before; returns its score, or MIN_SCORE
   where none has more. */
static double next_direction(const double nats[DIRECTIONS], double (*before)[3], uint32_t count, double best[3]) {
    double most = MIN_SCORE, n[3];
    for (uint32_t i = 0; i < DIRECTIONS; i++) {
        if (nats[i] <= most) continue;
        direction_at(i, n);
        if (!is_far(n, before, count)) continue;
        most = nats[i];
        memcpy(best, n, sizeof n);
    }
    return most;
}

/* Climbs from a direction to the best one nearby; returns its score. */
static double refine_direction(const composite_body *body, double best[3]) {
    double score = score_direction(body, &body->all, best, -INFINITY), step = FIRST_STEP;
    for (int move = 0; move < MAX_MOVES && step > LAST_STEP; move++) {
        double u[3], v[3], near[NEIGHBOURS][3], scores[NEIGHBOURS];
        int better = -1;
        planes_perpendicular(best, u, v);
        for (int k = 0; k < NEIGHBOURS; k++) {
            turn(best, u, v, (k == 0) * step - (k == 1) * step, (k == 2) * step - (k == 3) * step, near[k]);
            scores[k] = score_direction(body, &body->all, near[k], score);
        }
        for (int k = 0; k < NEIGHBOURS; k++) {
            if (scores[k] <= score) continue;
            score = scores[k];
            better = k;
        }
        if (better >= 0) memcpy(best, near[better], sizeof near[better]);
        if (better < 0) step *= 0.5;
    }
    return score;
}

double composite_best_direction(const planes_local *s, const composite_body *body, double best[3]) {
    double nats[DIRECTIONS];
    score_directions(s, body, nats);
    return next_direction(nats, NULL, 0, best) > MIN_SCORE ? refine_direction(body, best) : 0;
}

static void thin_out(composite_body *body) {
    const composite_columns *all = &body->all;
    composite_columns *some = &body->some;
    body->blur = planes_blur_of(BINS_A_NOISE);
    body->stride = all->count > FIRST_POINTS ? all->count / FIRST_POINTS : 1;
    some->count = 0;
    for (uint32_t i = 0; i < all->count; i += body->stride) {
        some->x[some->count] = all->x[i];
        some->y[some->count] = all->y[i];
        some->z[some->count++] = all->z[i];
    }
}

void composite_take_points(const planes_local *s, const uint32_t *list, uint32_t count, uint32_t max,
                           composite_body *body) {
    composite_columns *to = &body->all;
    to->count = 0;
    for (uint32_t i = 0; i < count && to->count < max; i++) {
        if (i < (uint64_t)to->count * count / max) continue;
        body->point[to->count] = list[i];
        to->x[to->count] = s->sample->x[list[i]] - (float)body->at[0];
        to->y[to->count] = s->sample->y[list[i]] - (float)body->at[1];
        to->z[to->count++] = s->sample->z[list[i]] - (float)body->at[2];
    }
    body->weight = (double)count / fmax(to->count, 1);
    thin_out(body);
}

/* ---- heaps */

static double density_at(const composite_heaps *heaps, uint32_t k, double at) {
    const double z = (at - heaps->at[k]) / heaps->noise;
    return fabs(z) < COMPOSITE_TRUNCATED ? heaps->share[k] * exp(-0.5 * z * z) / (heaps->noise * MOTE_ROOT_TWO_PI) : 0;
}

/* Where the profile, blurred by the noise, is highest and above what is expected. */
static void begin_heaps(const planes_profile *p, double all, double noise, double rest, composite_heaps *heaps) {
    const planes_blur by_half = planes_blur_of(0.5 * noise / p->bin);
    float smooth[PLANES_PROFILE_BINS];
    heaps->count = 0;
    heaps->noise = noise;
    heaps->rest = rest;
    planes_blur_bins(p->counts, p->bins, &by_half, smooth);
    for (uint32_t i = 1; i + 1 < p->bins && heaps->count < COMPOSITE_MAX_HEAPS; i++) {
        if (smooth[i] <= smooth[i - 1] || smooth[i] < smooth[i + 1]) continue;
        if (smooth[i] < (float)HEAP_CONTRAST * p->expected[i] || (double)smooth[i] * noise / p->bin < 0.004 * all)
            continue;
        heaps->at[heaps->count++] = p->low + (i + 0.5) * p->bin;
    }
    for (uint32_t k = 0; k < heaps->count; k++) heaps->share[k] = (1 - rest) / heaps->count;
}

/* Where heaps are looked for: the points' distances along a direction. */
typedef struct heap_profile {
    planes_profile profile;
    double least;                         /* noise of a heap */
    double all;                           /* points */
    double expected[PLANES_PROFILE_BINS]; /* density of a point that is in no heap, in each bin */
    uint32_t filled_count;
    uint16_t filled[PLANES_PROFILE_BINS]; /* bins with points */
} heap_profile;

static bool make_heap_profile(const composite_body *body, const double n[3], double min_noise, heap_profile *heaps) {
    planes_profile *p = &heaps->profile;
    const double bin = body->noise / FINE_BINS;
    const planes_blur blur = planes_blur_of(body->noise / bin);
    heaps->all = body->all.count;
    heaps->filled_count = 0;
    if (!planes_profile_make(body, &body->all, n, bin, &blur, p)) return false;
    heaps->least = fmax(min_noise, 0.5 * p->bin);
    for (uint32_t i = 0; i < p->bins; i++) {
        heaps->expected[i] = ((double)p->expected[i] + 0.02) / (heaps->all * p->bin);
        if (p->counts[i] > 0) heaps->filled[heaps->filled_count++] = (uint16_t)i;
    }
    return true;
}

/* A turn of expectation and maximization; last: nats are asked for. */
static void improve_heaps(const heap_profile *from, bool last, composite_heaps *heaps) {
    const planes_profile *p = &from->profile;
    const double all = from->all;
    double share[COMPOSITE_MAX_HEAPS] = {0}, first[COMPOSITE_MAX_HEAPS] = {0}, squares = 0, rest = 0, in_heaps = 0,
           nats = 0;
    for (uint32_t filled = 0; filled < from->filled_count; filled++) {
        double densities[COMPOSITE_MAX_HEAPS], sum = 0;
        const uint32_t i = from->filled[filled];
        const double at = p->low + (i + 0.5) * p->bin, count = (double)p->counts[i];
        const double expected = from->expected[i], other = heaps->rest * expected;
        for (uint32_t k = 0; k < heaps->count; k++) sum += densities[k] = density_at(heaps, k, at);
        if (last) nats += count * log((sum + other) / expected);
        rest += count * other / (sum + other);
        for (uint32_t k = 0; k < heaps->count; k++) {
            if (densities[k] <= 0) continue;
            const double part = count * densities[k] / (sum + other), off = at - heaps->at[k];
            share[k] += part;
            first[k] += part * off;
            squares += part * off * off;
            in_heaps += part;
        }
    }
    heaps->rest = rest / all;
    heaps->nats = nats;
    if (in_heaps > 0) heaps->noise = fmax(sqrt(squares / in_heaps), from->least);
    for (uint32_t k = 0; k < heaps->count; k++) {
        heaps->share[k] = share[k] / all;
        if (share[k] > 0) heaps->at[k] += first[k] / share[k];
    }
}

void composite_find_heaps(const planes_local *s, const composite_body *body, const double n[3], heap_limits limits,
                          composite_heaps *best) {
    heap_profile from;
    composite_heaps tried[FIRST_NOISES];
    double noises[FIRST_NOISES], best_nats = 0;
    memset(best, 0, sizeof *best);
    if (!make_heap_profile(body, n, limits.min_noise, &from)) return;
    noises[0] = fmin(body->noise / 1.2, limits.max_noise);
    for (int i = 1; i < FIRST_NOISES; i++) noises[i] = noises[i - 1] / 1.4;
#pragma omp parallel for schedule(dynamic, 1) num_threads(s->ctx->threads)
    for (int64_t i = 0; i < FIRST_NOISES; i++) {
        begin_heaps(&from.profile, from.all, noises[i], limits.rest, &tried[i]);
        for (int k = 0; k < TURNS && tried[i].count > 0; k++) improve_heaps(&from, k + 1 == TURNS, &tried[i]);
    }
    for (int i = 0; i < FIRST_NOISES; i++) {
        if (tried[i].count == 0) continue;
        const double nats = tried[i].nats - tried[i].count * log(from.all);
        if (nats <= best_nats || tried[i].noise > limits.max_noise) continue;
        best_nats = nats;
        *best = tried[i];
    }
}

/* ---- planes */

/* The points of a growth that have no plane; false: too few. */
static bool take_body(planes_local *s, planes_growth *g, composite_body *body) {
    const uint32_t count = planes_list_free(s, g);
    if (count < 2 * s->params.min_points) return false;
    for (uint32_t k = 0; k < count; k++) s->component[k] = s->near_point[s->component[k]];
    body->noise = g->noise;
    memcpy(body->at, g->at, sizeof body->at);
    memcpy(body->normal, g->normal, sizeof body->normal);
    composite_take_points(s, s->component, count, MAX_POINTS, body);
    return true;
}

void composite_middle(const composite_body *body, const double n[3], double at, double noise, double middle[3]) {
    double count = 0, sum[3] = {0, 0, 0};
    const composite_columns *all = &body->all;
    for (uint32_t i = 0; i < all->count; i++) {
        const double p[3] = {(double)all->x[i], (double)all->y[i], (double)all->z[i]};
        if (fabs(planes_dot(n, p) - at) > noise) continue;
        for (int k = 0; k < 3; k++) sum[k] += p[k];
        count++;
    }
    for (int k = 0; k < 3; k++) middle[k] = count > 0 ? sum[k] / count : 0;
    const double off = at - planes_dot(n, middle);
    for (int k = 0; k < 3; k++) middle[k] += off * n[k];
}

/* Each connected part of a heap that stands becomes a plane. Returns how many do. */
static uint32_t add_parts(planes_local *s, const planes_growth *of, const double n[3], const double at[3],
                          double noise) {
    uint32_t added = 0;
    for (int part = 0; part < MAX_SPLITS * 4 && s->plane_count < PLANES_LOCAL_MAX; part++) {
        planes_growth g = *of;
        memcpy(g.normal, n, sizeof g.normal);
        planes_turn_up(g.normal);
        for (int k = 0; k < 3; k++) g.at[k] = of->at[k] + at[k];
        g.noise = fmax(noise, s->params.floor);
        g.max_noise = 0;
        g.turned = true;
        if (!planes_lay_component(s, &g)) break;
        if (!planes_growth_may_stand(s, &g) || !planes_add_growth(s, &g)) break;
        added++;
    }
    return added;
}

/* Adds the planes of a direction. noise: of the body's planes so far; infinite: none are known. */
static uint32_t add_family(planes_local *s, const planes_growth *g, const composite_body *body, const double n[3],
                           double *noise) {
    composite_heaps heaps;
    uint32_t added = 0;
    composite_find_heaps(s, body, n, (heap_limits){0, ALIKE * *noise, 0.5}, &heaps);
    for (uint32_t k = 0; k < heaps.count; k++) {
        double middle[3];
        if (heaps.share[k] * body->all.count * body->weight < 0.5 * s->params.min_points) continue;
        composite_middle(body, n, heaps.at[k], heaps.noise, middle);
        added += add_parts(s, g, n, middle, heaps.noise);
    }
    if (added > 0) *noise = fmin(*noise, heaps.noise);
    return added;
}

/* The directions of the highest scores, each at least 20 degrees from all others. Returns how many. The best start says
   what others need; those are refined side by side. */
static uint32_t find_directions(const planes_local *s, const composite_body *body, double (*directions)[3]) {
    double starts[PLANES_MAX_FAMILIES][3], refined[PLANES_MAX_FAMILIES][3], nats[DIRECTIONS];
    double start_nats[PLANES_MAX_FAMILIES], scores[PLANES_MAX_FAMILIES], least = MIN_SCORE;
    uint32_t count = 0, found = 0;
    score_directions(s, body, nats);
    for (; count < PLANES_MAX_FAMILIES; count++) {
        start_nats[count] = next_direction(nats, starts, count, starts[count]);
        if (start_nats[count] <= least) break;
        memcpy(refined[count], starts[count], sizeof *refined);
        if (count > 0) continue;
        scores[0] = refine_direction(body, refined[0]);
        least = fmax(least, FAMILY_SHARE * scores[0]);
    }
#pragma omp parallel for schedule(dynamic, 1) num_threads(s->ctx->threads) if (count > 2)
    for (int64_t i = 1; i < (int64_t)count; i++) scores[i] = refine_direction(body, refined[i]);
    least = MIN_SCORE;
    for (uint32_t i = 0; i < count && start_nats[i] > least; i++) {
        if (!is_far(refined[i], directions, found)) continue;
        memcpy(directions[found++], refined[i], sizeof *refined);
        least = fmax(least, FAMILY_SHARE * scores[i]);
    }
    return found;
}

/* The body has no planes: what has most of its points has none either. */
static void mark_body(planes_local *s, const composite_body *body) {
    for (uint32_t i = 0; i < body->all.count; i++) s->failures[body->point[i]] = NO_PLANES;
}

static bool is_marked(const planes_local *s, const composite_body *body) {
    uint32_t marked = 0;
    for (uint32_t i = 0; i < body->all.count; i++) marked += s->failures[body->point[i]] == NO_PLANES;
    return marked > MOST_POINTS * body->all.count;
}

/* Adds the planes of a body's points that have none. Returns how many: two or more, for one alone, that only stands
   loosely, may be a part of something round. */
static uint32_t split(planes_local *s, planes_growth *g, composite_body *body, double *noise) {
    planes_families families;
    if (!take_body(s, g, body) || is_marked(s, body)) return 0;
    families.count = find_directions(s, body, families.normals);
    families.first[0] = s->plane_count;
    for (uint32_t i = 0; i < families.count; i++) {
        add_family(s, g, body, families.normals[i], noise);
        families.first[i + 1] = s->plane_count;
    }
    const uint32_t added = s->plane_count - families.first[0];
    if (added <= 1) {
        planes_take_back(s, families.first[0]);
        mark_body(s, body);
        return 0;
    }
    planes_refit_families(s, &families, body);
    return added;
}

mote_status planes_split_bodies(planes_local *s, bool *any) {
    if (s->bodies.count == 0) return MOTE_OK;
    composite_body *body = mote_alloc(s->ctx, sizeof *body, "planes composites");
    mote_status status = body != NULL ? MOTE_OK : MOTE_ERROR_MEMORY;
    memset(s->failures, 0, s->sample->count); /* of patches: they are of no use any more */
    for (uint32_t i = 0; i < s->bodies.count && status == MOTE_OK; i++) {
        double noise = INFINITY;
        for (int turn = 0; turn < MAX_SPLITS && status == MOTE_OK; turn++) {
            status = mote_progress(s->ctx, 0.4, "growing planes");
            if (status != MOTE_OK || split(s, &s->bodies.growths[i], body, &noise) == 0) break;
            *any = true;
        }
    }
    mote_free(s->ctx, body);
    return status;
}

/* ---- sheets */

/* Heaps nearer to each other than two noises have one top: they are one. */
static void join_heaps(composite_heaps *heaps) {
    uint32_t kept = 0;
    for (uint32_t k = 0; k < heaps->count; k++) {
        const double share = heaps->share[k], at = heaps->at[k];
        if (kept > 0 && at - heaps->at[kept - 1] < SHEETS_APART * heaps->noise) {
            const double all = heaps->share[kept - 1] + share;
            heaps->at[kept - 1] += (at - heaps->at[kept - 1]) * share / all;
            heaps->share[kept - 1] = all;
            continue;
        }
        heaps->share[kept] = share;
        heaps->at[kept++] = at;
    }
    heaps->count = kept;
}

/* A heap becomes a plane, as dense as its share says: the first of them would else have the points of all. */
static void add_heap(planes_local *s, const planes_growth *of, const composite_body *body, const composite_heaps *heaps,
                     uint32_t k) {
    planes_growth g = *of;
    double middle[3];
    composite_middle(body, of->normal, heaps->at[k], heaps->noise, middle);
    for (int axis = 0; axis < 3; axis++) g.at[axis] = of->at[axis] + middle[axis];
    g.noise = fmax(heaps->noise, s->params.floor);
    g.max_noise = 0;
    g.self = -1;
    if (!planes_lay_component(s, &g)) return;
    g.count = heaps->share[k] * body->all.count * body->weight;
    planes_commit(s, &g, planes_add_empty(s));
}

/* Heaps that a plane may have take their points; one alone is none. Each is normal about its plane only without the
   points of the next one, so nothing is asked before all planes are grown again. */
static void part_sheet(planes_local *s, planes_growth *g, composite_body *body, double noise) {
    composite_heaps heaps;
    const uint32_t first = s->plane_count;
    const double strays = fmin(fmax(g->strays / g->density, MIN_STRAYS), 0.5);
    if (!take_body(s, g, body)) return;
    composite_find_heaps(s, body, g->normal, (heap_limits){noise, ALIKE * noise, strays}, &heaps);
    join_heaps(&heaps);
    for (uint32_t k = 0; k < heaps.count && s->plane_count < PLANES_LOCAL_MAX; k++) {
        if (heaps.share[k] * body->all.count * body->weight >= s->params.min_points) add_heap(s, g, body, &heaps, k);
    }
    if (s->plane_count == first + 1) planes_take_back(s, first);
}

mote_status planes_part_sheets(planes_local *s, const planes_bodies *sheets, double noise) {
    mote_status status = MOTE_OK;
    if (sheets->count == 0) return MOTE_OK;
    composite_body *body = mote_alloc(s->ctx, sizeof *body, "planes composites");
    if (body == NULL) return MOTE_ERROR_MEMORY;
    for (uint32_t i = 0; i < sheets->count && status == MOTE_OK; i++) {
        planes_growth g = sheets->growths[i];
        status = mote_progress(s->ctx, 0.8, "growing planes");
        if (status == MOTE_OK) part_sheet(s, &g, body, noise);
    }
    mote_free(s->ctx, body);
    return status;
}
