/* Facets: a curve that is nearly flat for a while looks like planes side by side. But planes meet in creases, and what
   is next to a facet goes on bending:

          a roof           two facets of a curtain
            /\                    .--.                  what lies about their edge, whoever owns it, held against
           /  \                  /    \                 two planes, and one quadratic surface
          /    \                /      \

   Each explanation has a noise and strays of its own (expectation and maximization). That of planes takes the better
   of both as they are, and as they would be by what lies about the edge alone; noise blurs their crease. What has more
   of bends around it than of creases may be a facet.

   A facet need not have others beside it. Across a plane, what goes on beyond both of its sides, near to it, whoever
   owns it, is held against a plane that ends, and goes on in any direction from there, and one smooth surface:

        a plane that ends           a facet alone
        ___________                   ________
       /           \               .-'        `-.         as far as GROWTH_BESIDE noises beside it
      /             \             /              \

   Both have nine numbers. Where the smooth surface explains more, and the edges of the plane do not say otherwise, it
   is a facet. A plane with one side free, or beyond which nothing goes on, is not asked: it ends there. */
#include <math.h>
#include <string.h>

#include "math/pi.h"
#include "planes/local/planes_growth.h"

#define MAX_POINTS  2048u /* of a plane, that are looked at */
#define MAX_ABOUT   1024u /* points about an edge, that are */
#define MIN_POINTS  16u   /* of a half */
#define MIN_SINE    0.03  /* between two planes: of less, they have no edge */
#define SHARPEST    0.87  /* cosine: an edge of less than 30 degrees is no curve's */
#define MIN_OVERLAP 0.5   /* of the shorter one's extent, both have beside each other along the edge */
#define MIN_DEPTH   2.0   /* noises, that the middle of both is from the edge: nearer, all is blurred */
#define MAX_CROSSED 0.1   /* of a plane's points that may be beyond the edge: of others, planes cross */
#define MARGIN      6.0   /* noises that points may be above and below both planes */
#define TURNS       8     /* of a fit */
#define MIN_NOISE   0.3   /* of a fit, in noises of the noisier plane */
#define MAX_NOISE   1.25  /* a surface of more is a heap of points, whatever explains it */
#define MIN_STRAYS  0.02  /* share of the points */
#define MAX_JOINT   100.0 /* nats of a plane of a series, on average: of stairs 27 to 54, of curtains 196 to 252 */
#define FACET       (4 * PLANES_MAX_BENDS) /* nats: of a facet, whatever is said of other planes */
#define WINDOW      2.5 /* half widths: a parabola, a fifth of whose variance is seen, is 9 noises off there */
#define MIN_SIDE    0.1 /* of a plane's points, beyond either side, where a surface goes on; see history */
#define BLUR        4.0 /* of a crease: noise in all directions has 1.7, across each plane alone more than 10 */
#define ROOT_THREE  1.7320508075688772 /* half a side of a rectangle, of the deviation of its points along it */

/* Some points of each plane, from[plane] to from[plane + 1] of the list. */
typedef struct bend_lists {
    uint32_t *from, *point;
} bend_lists;

/* The edge of two planes. */
typedef struct bend_edge {
    double at[3], along[3];  /* a point of it, and its direction */
    double in[2][3];         /* from it into each plane */
    double across[3], up[3]; /* from one plane to the other, and normal to both axes */
    double cosine;           /* of the angle between up and the normals */
    double low, high;        /* where both are beside each other along it */
} bend_edge;

static void from_edge(const planes_local *s, const bend_edge *edge, uint32_t point, double away[3]) {
    away[0] = (double)s->sample->x[point] - edge->at[0];
    away[1] = (double)s->sample->y[point] - edge->at[1];
    away[2] = (double)s->sample->z[point] - edge->at[2];
}

/* Every few points of each plane. */
static void list_points(const planes_local *s, bend_lists *lists) {
    uint32_t *const from = lists->from, seen = 0;
    memset(from, 0, (s->plane_count + 1) * sizeof *from);
    for (uint32_t k = 0; k < s->plane_count; k++) {
        const uint32_t count = s->planes[k].count;
        from[k + 1] = from[k] + (count < MAX_POINTS ? count : MAX_POINTS);
    }
    memset(s->tally, 0, s->plane_count * sizeof *s->tally);
    for (uint32_t i = 0; i < s->sample->count; i++) {
        const int32_t owner = s->owner[i];
        if (owner < 0) continue;
        const uint64_t size = from[owner + 1] - from[owner], all = s->planes[owner].count;
        seen = s->tally[owner]++;
        const uint64_t at = seen * size / all;
        if (at < size) lists->point[from[owner] + at] = i; /* the last of those that share a place */
    }
}

/* The line in which two planes meet; false: they have no edge. */
static bool find_edge(const planes_local_plane *a, const planes_local_plane *b, bend_edge *edge) {
    const planes_local_plane *planes[2] = {a, b};
    planes_cross(a->normal, b->normal, edge->along);
    const double sine2 = planes_dot(edge->along, edge->along), cosine = planes_dot(a->normal, b->normal);
    if (sine2 < MIN_SINE * MIN_SINE) return false;
    /* From the middle of a, along a, to b. */
    double down[3], off = b->offset - planes_dot(b->normal, a->centroid);
    for (int k = 0; k < 3; k++) down[k] = b->normal[k] - cosine * a->normal[k];
    for (int k = 0; k < 3; k++) {
        edge->at[k] = a->centroid[k] + off / sine2 * down[k];
        edge->along[k] /= sqrt(sine2);
    }
    for (int i = 0; i < 2; i++) {
        double away[3], side;
        planes_cross(edge->along, planes[i]->normal, edge->in[i]);
        for (int k = 0; k < 3; k++) away[k] = planes[i]->centroid[k] - edge->at[k];
        side = planes_dot(away, edge->in[i]) < 0 ? -1 : 1;
        for (int k = 0; k < 3; k++) edge->in[i][k] *= side;
    }
    const double fold = planes_dot(edge->in[0], edge->in[1]);
    edge->cosine = sqrt(0.5 * (1 - fold));
    for (int k = 0; k < 3; k++) edge->across[k] = (edge->in[0][k] - edge->in[1][k]) / (2 * edge->cosine);
    planes_cross(edge->across, edge->along, edge->up);
    return fold < SHARPEST;
}

/* Where a plane is along the edge, as if its points filled a rectangle. */
static void find_extent(const planes_local *s, const bend_lists *lists, const bend_edge *edge, uint32_t plane,
                        double *low, double *high) {
    const uint32_t first = lists->from[plane], count = lists->from[plane + 1] - first;
    double sum = 0, squares = 0;
    for (uint32_t i = first; i < first + count; i++) {
        double away[3];
        from_edge(s, edge, lists->point[i], away);
        const double at = planes_dot(away, edge->along);
        sum += at;
        squares += at * at;
    }
    const double middle = sum / count, half = ROOT_THREE * sqrt(fmax(squares / count - middle * middle, 0));
    *low = middle - half;
    *high = middle + half;
}

/* How far the middle of a plane is from the edge, of its points beside the other plane; 0: it does not end there. */
static double find_depth(const planes_local *s, const bend_lists *lists, const bend_edge *edge, uint32_t plane,
                         int side) {
    double count = 0, sum = 0, squares = 0, beyond = 0;
    for (uint32_t i = lists->from[plane]; i < lists->from[plane + 1]; i++) {
        double away[3];
        from_edge(s, edge, lists->point[i], away);
        const double at = planes_dot(away, edge->along), depth = planes_dot(away, edge->in[side]);
        if (at < edge->low || at > edge->high) continue;
        count++;
        sum += depth;
        squares += depth * depth;
        beyond += depth < -PLANES_REACH_NOISES * s->planes[plane].noise;
    }
    if (count < 2 * MIN_POINTS || beyond > MAX_CROSSED * count) return 0;
    const double middle = sum / count, half = ROOT_THREE * sqrt(fmax(squares / count - middle * middle, 0));
    return middle <= 2 * half ? middle : 0; /* half as far from it as it is wide, at most */
}

/* ---- what lies about an edge */

/* A point: across the edge in depths, along it in lengths, and above it in noises. */
typedef struct bend_point {
    double u, v, height;
} bend_point;

/* The surroundings of an edge: of its planes' points as far as the nearer middle, and of points that no plane has. */
typedef struct bend_surroundings {
    double depth, length, unit; /* steps, of u, v and height */
    double band;                /* how far heights reach */
    uint32_t count;
    bend_point points[MAX_ABOUT];
    planes_quadratic own[3]; /* of the points of each plane, and of both */
} bend_surroundings;

/* Brings points into the scratch. */
static void take_near(planes_local *s, const bend_edge *edge, const bend_surroundings *about) {
    planes_growth g;
    memset(&g, 0, sizeof g);
    for (int k = 0; k < 3; k++) {
        g.normal[k] = edge->up[k];
        g.u[k] = edge->across[k];
        g.v[k] = edge->along[k];
        g.at[k] = edge->at[k] + 0.5 * (edge->low + edge->high) * edge->along[k];
    }
    g.self = -1;
    g.noise = about->unit;
    g.cell = 1;
    g.density = 1e300; /* nobody explains a point better */
    g.look = hypot(about->depth, 0.5 * about->length);
    g.turned = true;
    planes_take_near(s, &g, 0.5 * about->band * about->unit);
}

/* Whether a near point is in the surroundings: not another plane's, nor its plane's own beyond the edge, for that tells
   of planes that cross. */
static bool is_about(const planes_local *s, const uint32_t planes[2], const bend_surroundings *about, uint32_t i) {
    const int32_t owner = s->owner[s->near_point[i]];
    const double u = (double)s->near_u[i], v = (double)s->near_v[i], reach = PLANES_REACH_NOISES * about->unit;
    if (fabs(u) > about->depth || fabs(v) > 0.5 * about->length) return false;
    if (owner == (int32_t)planes[0]) return u >= -reach;
    return owner == (int32_t)planes[1] ? u <= reach : owner < 0;
}

static void take_points(planes_local *s, const bend_edge *edge, const uint32_t planes[2], bend_surroundings *about) {
    uint32_t *list = s->component, listed = 0;
    take_near(s, edge, about);
    for (uint32_t i = 0; i < s->near_count; i++) {
        list[listed] = i;
        listed += is_about(s, planes, about, i);
    }
    about->count = listed < MAX_ABOUT ? listed : MAX_ABOUT;
    memset(about->own, 0, sizeof about->own);
    for (uint32_t k = 0; k < about->count; k++) {
        const uint32_t i = list[(uint64_t)k * listed / about->count];
        const int32_t owner = s->owner[s->near_point[i]];
        bend_point *p = &about->points[k];
        p->u = (double)s->near_u[i] / about->depth;
        p->v = (double)s->near_v[i] / about->length;
        p->height = (double)s->near_distance[i] / about->unit;
        for (uint32_t j = 0; j < 3 && owner >= 0; j++) {
            if (j == 2 || owner == (int32_t)planes[j]) planes_quadratic_add(&about->own[j], p->u, p->v, p->height, 1);
        }
    }
}

/* ---- both explanations of it */

/* Surfaces over u and v with a noise about them, and strays evenly around. */
typedef struct bend_model {
    uint32_t surfaces; /* 1: a bend; 2: planes that meet in a crease */
    bool stays;        /* the surfaces are as they are */
    double terms[2][PLANES_QUADRATIC];
    double noise, strays; /* strays: their share of the points */
} bend_model;

/* How far a point is above a surface. */
static double above(const double terms[PLANES_QUADRATIC], const bend_point *p) {
    const double u = p->u, v = p->v;
    return p->height -
           ((terms[0] + terms[1] * u) + terms[2] * v + (terms[3] * u + terms[4] * v) * u + terms[5] * v * v);
}

/* The density of a point under the k-th surface. Of two planes each ends where they meet: how surely a point that noise
   has moved there begins on its own side. unit: a noise, in depths */
static double density_of(const bend_model *m, uint32_t k, const bend_point *p, double unit) {
    const double *terms = m->terms[k], *others = m->terms[1 - k];
    const double off = above(terms, p), noises = off / m->noise;
    const double density = 1 / (MOTE_ROOT_TWO_PI * m->noise) * exp(-0.5 * noises * noises);
    if (m->surfaces == 1) return density;
    const double slope = terms[1] * unit, steep = 1 + slope * slope, foot = p->u + unit * slope * off / steep;
    const double crease = (others[0] - terms[0] + (others[2] - terms[2]) * p->v) / (terms[1] - others[1]);
    const double inside = (k == 0 ? foot - crease : crease - foot) * steep / (m->noise * unit);
    return density / (1 + exp(-BLUR * inside));
}

/* Fits the surfaces to the points of each, by weight; returns the squares that are left. */
static double fit_surfaces(bend_model *m, planes_quadratic sums[2]) {
    double left = 0;
    for (uint32_t k = 0; k < m->surfaces && !m->stays; k++) {
        left += planes_quadratic_solve(&sums[k], m->surfaces == 1 ? PLANES_QUADRATIC : 3, m->terms[k]);
    }
    return left;
}

/* Expectation and maximization; returns the nats of the points. */
static double fit_model(bend_model *m, const bend_surroundings *about) {
    const double unit = about->unit / about->depth;
    double nats = 0;
    for (int turn = 0; turn < TURNS; turn++) {
        planes_quadratic sums[2];
        double on = 0, squares = 0;
        memset(sums, 0, sizeof sums);
        nats = 0;
        for (uint32_t i = 0; i < about->count; i++) {
            const bend_point *p = &about->points[i];
            double density[2] = {0, 0}, all = m->strays / about->band;
            for (uint32_t k = 0; k < m->surfaces; k++) {
                density[k] = (1 - m->strays) * density_of(m, k, p, unit);
                all += density[k];
            }
            nats += log(all);
            for (uint32_t k = 0; k < m->surfaces; k++) {
                const double weight = density[k] / all, off = above(m->terms[k], p);
                on += weight;
                squares += m->stays ? weight * off * off : 0;
                if (!m->stays) planes_quadratic_add(&sums[k], p->u, p->v, p->height, weight);
            }
        }
        squares += fit_surfaces(m, sums);
        m->noise = fmin(fmax(sqrt(fmax(squares, 0) / fmax(on, 1)), MIN_NOISE), MAX_NOISE);
        m->strays = fmin(fmax(1 - on / about->count, MIN_STRAYS), 1 - MIN_STRAYS);
    }
    return nats;
}

/* The nats by which a bend explains the surroundings of an edge better than a crease. */
static double bend_to_crease(const bend_edge *edge, bend_surroundings *about) {
    const double own = about->own[2].products[0][0];
    bend_model planes = {2, true, {{0}}, 1, fmin(fmax(1 - own / about->count, MIN_STRAYS), 1 - MIN_STRAYS)};
    bend_model moved = planes, bend = planes;
    bend.surfaces = 1;
    moved.stays = bend.stays = false;
    for (int k = 0; k < 2; k++) {
        planes.terms[k][1] =
            planes_dot(edge->in[k], edge->up) / planes_dot(edge->in[k], edge->across) * about->depth / about->unit;
        planes_quadratic_solve(&about->own[k], 3, moved.terms[k]);
    }
    bend.noise = fmax(sqrt(fmax(planes_quadratic_solve(&about->own[2], PLANES_QUADRATIC, bend.terms[0]), 0) / own), 1);
    return fit_model(&bend, about) - fmax(fit_model(&planes, about), fit_model(&moved, about));
}

/* Whether the noise is that of the representation: then rounding alone is left, and says nothing of bends. */
static bool is_exact(const planes_local *s, uint32_t plane) {
    return s->planes[plane].noise <= GROWTH_TOLD_NOISE * s->params.floor;
}

/* ---- what goes on beyond both sides of a plane

            u = -1         u = 1       half widths across the plane, from the middle of its points
       -------|--------------|-------
        .  .  : # # # # # # #: .  .    v = 1
        .  .  : # # # # # # #: .  .            # points of the plane
        .  .  : # # # # # # #: .  .    v = -1  . points near it, whoever has them
*/

typedef struct bend_sides {
    double middle[2], across[2]; /* along the plane's axes: the middle of its points, and a direction */
    double half[2];              /* how wide it is across and along that, half of it, steps */
    uint32_t count, own;         /* points; those that are the plane's */
    bend_point points[MAX_ABOUT];
    bool is_own[MAX_ABOUT];
} bend_sides;

/* The place of a near point. */
static bend_point place_across(const planes_local *s, const bend_sides *x, uint32_t i) {
    const double u = (double)s->near_u[i] - x->middle[0], v = (double)s->near_v[i] - x->middle[1];
    const bend_point p = {(x->across[0] * u + x->across[1] * v) / x->half[0],
                          (x->across[0] * v - x->across[1] * u) / x->half[1], (double)s->near_distance[i]};
    return p;
}

/* Takes the points near a plane into the scratch, and finds the direction in which its own reach least, as if they
   filled a rectangle. */
static bool find_sides(planes_local *s, uint32_t plane, bend_sides *x) {
    const planes_local_plane *p = &s->planes[plane];
    planes_growth g;
    double n = 0, u = 0, v = 0, uu = 0, uv = 0, vv = 0;
    memset(&g, 0, sizeof g);
    memcpy(g.normal, p->normal, sizeof g.normal);
    memcpy(g.u, p->u, sizeof g.u);
    memcpy(g.v, p->v, sizeof g.v);
    memcpy(g.at, p->centroid, sizeof g.at);
    g.self = -1;
    g.noise = p->noise;
    g.cell = 1;
    g.density = 1e300; /* nobody explains a point better */
    g.turned = true;
    g.look = 0.5 * (WINDOW + 1) * hypot(p->high[0] - p->low[0], p->high[1] - p->low[1]);
    planes_take_near(s, &g, GROWTH_BESIDE * p->noise);
    for (uint32_t i = 0; i < s->near_count; i++) {
        if (s->owner[s->near_point[i]] != (int32_t)plane) continue;
        const double at_u = (double)s->near_u[i], at_v = (double)s->near_v[i];
        n++;
        u += at_u, v += at_v;
        uu += at_u * at_u, uv += at_u * at_v, vv += at_v * at_v;
    }
    if (n < MIN_POINTS) return false;
    const double a = uu / n - u / n * (u / n), b = uv / n - u / n * (v / n), c = vv / n - v / n * (v / n);
    const double longer = 0.5 * (a + c) + hypot(0.5 * (a - c), b), angle = 0.5 * atan2(2 * b, a - c);
    x->middle[0] = u / n;
    x->middle[1] = v / n;
    x->across[0] = -sin(angle);
    x->across[1] = cos(angle);
    x->half[0] = ROOT_THREE * sqrt(fmax(a + c - longer, 0));
    x->half[1] = ROOT_THREE * sqrt(longer);
    return x->half[0] > 0;
}

/* Takes some of the near points; false: too few lie beyond one of the sides. noise: steps */
static bool take_sides(planes_local *s, uint32_t plane, double noise, bend_sides *x) {
    uint32_t *list = s->component, listed = 0, own = 0, beyond[2] = {0, 0};
    for (uint32_t i = 0; i < s->near_count; i++) {
        const bend_point p = place_across(s, x, i);
        if (fabs(p.u) > WINDOW || fabs(p.v) > 1) continue;
        list[listed++] = i;
        own += s->owner[s->near_point[i]] == (int32_t)plane;
        if (fabs(p.u) > 1) beyond[p.u > 0]++;
    }
    if (fmin(beyond[0], beyond[1]) <= MIN_SIDE * own) return false;
    x->count = listed < MAX_ABOUT ? listed : MAX_ABOUT;
    x->own = 0;
    for (uint32_t k = 0; k < x->count; k++) {
        const uint32_t i = list[(uint64_t)k * listed / x->count];
        x->points[k] = place_across(s, x, i);
        x->points[k].height /= noise;
        x->is_own[k] = s->owner[s->near_point[i]] == (int32_t)plane;
        x->own += x->is_own[k];
    }
    return true;
}

/* The terms of a surface at a point: along the sides both bend alike; across, one is a plane from end to end and goes
   on from anywhere in any direction, the other smooth. ends: NULL of the latter */
static void terms_at(const bend_point *p, const double *ends, double terms[PLANES_TERMS]) {
    const double u = p->u, v = p->v;
    terms[0] = 1, terms[1] = u, terms[2] = v, terms[3] = u * v, terms[4] = v * v;
    if (ends != NULL) {
        terms[5] = u < ends[0], terms[6] = fmax(ends[0] - u, 0);
        terms[7] = u > ends[1], terms[8] = fmax(u - ends[1], 0);
        return;
    }
    for (int k = 5; k < PLANES_TERMS; k++) terms[k] = (k == 5 ? u : terms[k - 1]) * u;
}

/* Expectation and maximization; returns the nats of the points. beyond: out, how many of either side are on it */
static double fit_across(const bend_sides *x, const double *ends, double beyond[2]) {
    double solved[PLANES_TERMS] = {0}, noise = 1, strays = MIN_STRAYS, nats = 0;
    for (int turn = 0; turn < TURNS; turn++) {
        planes_quadratic sums;
        double terms[PLANES_TERMS], on = 0;
        memset(&sums, 0, sizeof sums);
        nats = beyond[0] = beyond[1] = 0;
        for (uint32_t i = 0; i < x->count; i++) {
            const bend_point *p = &x->points[i];
            double off = p->height;
            terms_at(p, ends, terms);
            for (int k = 0; k < PLANES_TERMS; k++) off -= solved[k] * terms[k];
            const double density = (1 - strays) / (MOTE_ROOT_TWO_PI * noise) * exp(-0.5 * off * off / (noise * noise));
            const double all = density + strays / (2 * GROWTH_BESIDE);
            const double weight = turn > 0 ? density / all : x->is_own[i] ? 1 : 0.5;
            nats += log(all);
            on += weight;
            if (fabs(p->u) > 1) beyond[p->u > 0] += weight;
            planes_terms_add(&sums, terms, p->height, weight);
        }
        const double squares = planes_quadratic_solve(&sums, PLANES_TERMS, solved);
        noise = fmin(fmax(sqrt(fmax(squares, 0) / fmax(on, 1)), MIN_NOISE), MAX_NOISE);
        strays = fmin(fmax(1 - on / x->count, MIN_STRAYS), 1 - MIN_STRAYS);
    }
    return ends == NULL && noise >= MAX_NOISE ? -INFINITY : nats;
}

/* The nats by which a smooth surface explains what goes on beyond both sides better than a plane that ends, wherever
   explains it best; -infinity: nothing goes on. A plane that is no rectangle ends nearer or farther than half a width
   from its middle, so several places are tried, on one side and then on the other. */
static double smooth_to_ends(const bend_sides *x) {
    static const double places[4] = {0.6, 0.8, 1, 1.2}; /* half widths */
    double beyond[2], unused[2], ends[2] = {-1, 1}, best = -INFINITY;
    const double smooth = fit_across(x, NULL, beyond);
    if (fmin(beyond[0], beyond[1]) <= MIN_SIDE * x->own) return -INFINITY;
    for (int side = 0; side < 2; side++) {
        double end = ends[side];
        for (int k = 0; k < 4; k++) {
            ends[side] = side == 0 ? -places[k] : places[k];
            const double nats = fit_across(x, ends, unused);
            if (nats <= best) continue;
            best = nats;
            end = ends[side];
        }
        ends[side] = end;
    }
    return smooth - best;
}

/* Notes whether a plane is a facet by what goes on beyond its long sides. nats: of its edges */
static void judge_sides(planes_local *s, uint32_t plane, double *nats) {
    const planes_local_plane *p = &s->planes[plane];
    bend_sides sides;
    if (p->role != PLANES_ALONE || is_exact(s, plane) || !find_sides(s, plane, &sides)) return;
    if (!take_sides(s, plane, p->noise, &sides)) return;
    const double gain = smooth_to_ends(&sides);
    if (gain > 0 && gain + *nats > 0) *nats = fmax(*nats, FACET);
}

/* ---- all of them */

/* Adds the nats by which a bend explains what lies about the edge of two planes better to those of both. */
static void judge_edge(planes_local *s, const bend_lists *lists, uint32_t a, uint32_t b, double *nats) {
    const uint32_t planes[2] = {a, b};
    bend_edge edge;
    bend_surroundings about;
    double low[2], high[2], depth = INFINITY;
    if (s->planes[a].role != s->planes[b].role || s->planes[a].role == PLANES_SCAFFOLD) return;
    if (is_exact(s, a) || is_exact(s, b) || !find_edge(&s->planes[a], &s->planes[b], &edge)) return;
    for (int i = 0; i < 2; i++) find_extent(s, lists, &edge, planes[i], &low[i], &high[i]);
    edge.low = fmax(low[0], low[1]);
    edge.high = fmin(high[0], high[1]);
    about.length = edge.high - edge.low;
    if (!(about.length > 0) || about.length < MIN_OVERLAP * fmin(high[0] - low[0], high[1] - low[1])) return;
    for (int i = 0; i < 2; i++) {
        depth = fmin(depth, fabs(planes_dot(edge.in[i], edge.across)) * find_depth(s, lists, &edge, planes[i], i));
    }
    const double noise = fmax(s->planes[a].noise, s->planes[b].noise);
    if (depth < MIN_DEPTH * noise) return;
    about.depth = depth;
    about.unit = noise / edge.cosine;
    about.band =
        2 * (fabs(planes_dot(edge.in[0], edge.up) / planes_dot(edge.in[0], edge.across)) * depth / about.unit + MARGIN);
    take_points(s, &edge, planes, &about);
    if (fmin(about.own[0].products[0][0], about.own[1].products[0][0]) < MIN_POINTS) return;
    const double gain = bend_to_crease(&edge, &about);
    for (int i = 0; i < 2; i++) nats[planes[i]] += gain;
}

/* Whether two planes may be beside each other: the boxes around their rectangles, as far again as they are wide. */
static bool are_near(const planes_local_plane *a, const planes_local_plane *b) {
    for (int k = 0; k < 3; k++) {
        double reach = 0;
        for (int axis = 0; axis < 2; axis++) {
            reach += fabs(a->u[k] * (axis == 0 ? a->high[0] - a->low[0] : 0)) +
                     fabs(a->v[k] * (axis == 1 ? a->high[1] - a->low[1] : 0));
            reach += fabs(b->u[k] * (axis == 0 ? b->high[0] - b->low[0] : 0)) +
                     fabs(b->v[k] * (axis == 1 ? b->high[1] - b->low[1] : 0));
        }
        if (fabs(a->centroid[k] - b->centroid[k]) > reach) return false;
    }
    return true;
}

/* What is said of a series is said of all its planes at once, for they were found together. Where no edge of them could
   be asked, nothing says that they are no slices of a curve. */
static void take_bends(planes_local *s, const double *nats) {
    double sum = 0, joint = 0;
    bool is_told = false;
    for (uint32_t i = 0; i < s->plane_count; i++) {
        if (s->planes[i].role != PLANES_JOINT) continue;
        sum += nats[i];
        joint++;
        is_told = is_told || fabs(nats[i]) > 0;
    }
    const bool is_curved = sum > MAX_JOINT * joint;
    for (uint32_t i = 0; i < s->plane_count; i++) {
        const bool is_alone = s->planes[i].role == PLANES_ALONE;
        s->planes[i].bends = is_alone || is_curved ? nats[i] : is_told ? 0 : FACET;
    }
}

mote_status planes_find_bends(planes_local *s) {
    mote_context *ctx = s->ctx;
    bend_lists lists = {mote_alloc(ctx, (s->plane_count + 1) * sizeof *lists.from, "planes bends"),
                        mote_alloc_zero(ctx, (uint64_t)s->sample->count * sizeof *lists.point, "planes bends")};
    double *nats = mote_alloc_zero(ctx, (s->plane_count + 1) * sizeof *nats, "planes bends");
    mote_status status = mote_context_status(ctx);
    if (status == MOTE_OK) list_points(s, &lists);
    for (uint32_t a = 0; a < s->plane_count && status == MOTE_OK; a++) {
        for (uint32_t b = a + 1; b < s->plane_count; b++) {
            if (are_near(&s->planes[a], &s->planes[b])) judge_edge(s, &lists, a, b, nats);
        }
        status = mote_stopped(ctx);
    }
    for (uint32_t i = 0; i < s->plane_count && status == MOTE_OK; i++) judge_sides(s, i, &nats[i]);
    if (status == MOTE_OK) take_bends(s, nats);
    mote_free(ctx, lists.from);
    mote_free(ctx, lists.point);
    mote_free(ctx, nats);
    return status;
}
