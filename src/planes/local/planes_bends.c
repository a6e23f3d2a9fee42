/* Facets: a curve that is nearly flat for a while looks like planes side by side. But planes meet in creases, and what
   is next to a facet goes on bending:

          a roof           two facets of a curtain
            /\                    .--.                  the nearer halves of both, held against
           /  \                  /    \                 two planes, and one quadratic surface
          /    \                /      \

   Where one quadratic surface explains the nearer halves of two planes better than a plane each, with as many terms,
   they do not meet in a crease. What has more of such bends around it than creases is a facet, and no plane. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "planes/local/planes_growth.h"

#define MAX_POINTS  2048u /* of a plane, that are looked at */
#define MIN_POINTS  16u   /* of a half */
#define MIN_SINE    0.03  /* between two planes: of less, they have no edge */
#define SHARPEST    0.87  /* cosine: an edge of less than 30 degrees is no curve's */
#define MIN_OVERLAP 0.5   /* of the shorter one's extent, both have beside each other along the edge */
#define MIN_DEPTH   2.0   /* noises, that the middle of both is from the edge: nearer, a crease is blurred to a bend */
#define MAX_LEFT    2.0   /* noises squared, that two planes may leave: what they do not explain says nothing */
#define MAX_CROSSED 0.1   /* of a plane's points that may be beyond the edge: of others, planes cross */
#define MAX_ABOUT 1024u /* points about an edge that are looked at */
#define BAND 6.0 /* noises: what lies farther off both is not looked at */
#define TURNS 8
#ifndef SHARP
#define SHARP 4.0
#endif
#define MIN_LEFT 0.3
#define MIN_STRAYS 0.02
#define MAX_STRAYS 0.95
#define DBG(...) do { if (getenv("MOTE_BENDS")) fprintf(stderr, __VA_ARGS__); } while (0)
#define ROOT_THREE  1.7320508075688772

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

static double dot(const double a[3], const double b[3]) { return (a[0] * b[0] + a[1] * b[1]) + a[2] * b[2]; }

static void cross(const double a[3], const double b[3], double to[3]) {
    for (int k = 0; k < 3; k++) to[k] = a[(k + 1) % 3] * b[(k + 2) % 3] - a[(k + 2) % 3] * b[(k + 1) % 3];
}

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
    cross(a->normal, b->normal, edge->along);
    const double sine2 = dot(edge->along, edge->along), cosine = dot(a->normal, b->normal);
    if (sine2 < MIN_SINE * MIN_SINE) return false;
    /* From the middle of a, along a, to b. */
    double down[3], off = b->offset - dot(b->normal, a->centroid);
    for (int k = 0; k < 3; k++) down[k] = b->normal[k] - cosine * a->normal[k];
    for (int k = 0; k < 3; k++) {
        edge->at[k] = a->centroid[k] + off / sine2 * down[k];
        edge->along[k] /= sqrt(sine2);
    }
    for (int i = 0; i < 2; i++) {
        double away[3], side;
        cross(edge->along, planes[i]->normal, edge->in[i]);
        for (int k = 0; k < 3; k++) away[k] = planes[i]->centroid[k] - edge->at[k];
        side = dot(away, edge->in[i]) < 0 ? -1 : 1;
        for (int k = 0; k < 3; k++) edge->in[i][k] *= side;
    }
    const double fold = dot(edge->in[0], edge->in[1]);
    edge->cosine = sqrt(0.5 * (1 - fold));
    for (int k = 0; k < 3; k++) edge->across[k] = (edge->in[0][k] - edge->in[1][k]) / (2 * edge->cosine);
    cross(edge->across, edge->along, edge->up);
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
        const double at = dot(away, edge->along);
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
        const double at = dot(away, edge->along), depth = dot(away, edge->in[side]);
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

/* ---- both explanations of what lies about an edge */

/* A point about an edge: across it in depths, along it, and above it in noises. */
typedef struct bend_point {
    double u, v, height;
} bend_point;

/* Surfaces over u and v with a noise about them, and strays evenly around. */
typedef struct bend_model {
    uint32_t surfaces; /* 1: a bend; 2: planes that meet in a crease */
    double terms[2][PLANES_QUADRATIC];
    double noise, strays; /* of the points, the share that are of no surface */
} bend_model;

static double height_at(const double terms[PLANES_QUADRATIC], double u, double v) {
    return (terms[0] + terms[1] * u) + terms[2] * v + (terms[3] * u + terms[4] * v) * u + terms[5] * v * v;
}

/* The density of a point under the k-th surface. Of two planes the k-th ends at the crease: noise takes points beyond
   it. unit: a noise, in depths */
static double density_of(const bend_model *m, uint32_t k, const bend_point *p, double unit) {
    const double *terms = m->terms[k], *others = m->terms[1 - k];
    const double off = p->height - height_at(terms, p->u, p->v), off2 = off / m->noise * (off / m->noise);
    const double density = 0.3989422804014327 / m->noise * exp(-0.5 * off2);
    if (m->surfaces == 1) return density;
    const double slope = terms[1] * unit, foot = p->u + unit * slope * off / (1 + slope * slope);
    const double apart = (others[0] - terms[0] + (others[2] - terms[2]) * p->v) / (terms[1] - others[1]);
    const double inside = (k == 0 ? foot - apart : apart - foot) * (1 + slope * slope) / (m->noise * unit);
    return density / (1 + exp(-SHARP * inside)); /* about the integral of a normal distribution */
}

/* Expectation and maximization; returns the nats of the points. band: how far heights reach */
static double fit_model(bend_model *m, const bend_point *points, uint32_t count, double unit, double band) {
    double nats = 0;
    for (int turn = 0; turn < TURNS; turn++) {
        planes_quadratic sums[2];
        double on = 0, left = 0;
        memset(sums, 0, sizeof sums);
        nats = 0;
        for (uint32_t i = 0; i < count; i++) {
            double density[2] = {0, 0}, all = m->strays / band;
            for (uint32_t k = 0; k < m->surfaces; k++) {
                density[k] = (1 - m->strays) * density_of(m, k, &points[i], unit);
                all += density[k];
            }
            nats += log(all);
            for (uint32_t k = 0; k < m->surfaces; k++) {
                planes_quadratic_add(&sums[k], points[i].u, points[i].v, points[i].height, density[k] / all);
                on += density[k] / all;
            }
        }
        if (turn + 1 == TURNS) break;
        for (uint32_t k = 0; k < m->surfaces; k++) {
            double fixed[PLANES_QUADRATIC];
            const double at[6] = {m->terms[k][0], m->terms[k][1], m->terms[k][2], 0,0,0};
            if (m->surfaces == 2) {
                planes_quadratic *q = &sums[k];
                left += q->squares;
                for (int r = 0; r < 3; r++) left -= 2 * at[r] * q->with_distance[r];
                for (int r = 0; r < 3; r++) for (int c = 0; c < 3; c++) left += at[r] * at[c] * (r > c ? q->products[r][c] : q->products[c][r]);
                (void)fixed;
            } else
            left += planes_quadratic_solve(&sums[k], m->surfaces == 1 ? PLANES_QUADRATIC : 3, m->terms[k]);
        }
        m->noise = fmin(fmax(sqrt(fmax(left, 0) / fmax(on, 1)), MIN_LEFT), 2);
        m->strays = fmin(fmax(1 - on / count, MIN_STRAYS), MAX_STRAYS);
    }
    return nats;
}

/* Takes all points about an edge, whoever owns them; returns how many. own: how many are the planes' */
static uint32_t take_points(planes_local *s, const bend_edge *edge, const uint32_t planes[2], double depth, double unit,
                            double *band, bend_point points[MAX_ABOUT], planes_quadratic own[3]) {
    const double length = edge->high - edge->low, slope = fabs(dot(edge->in[0], edge->up) / dot(edge->in[0], edge->across));
    planes_growth g;
    uint32_t count = 0, in = 0;
    memset(&g, 0, sizeof g);
    memset(own, 0, 3 * sizeof *own);
    for (int k = 0; k < 3; k++) {
        g.normal[k] = edge->up[k];
        g.u[k] = edge->across[k];
        g.v[k] = edge->along[k];
        g.at[k] = edge->at[k] + 0.5 * (edge->low + edge->high) * edge->along[k];
    }
    g.self = -1;
    g.noise = unit;
    g.cell = 1;
    g.density = 1e300; /* no point is better explained by others */
    g.look = hypot(depth, 0.5 * length);
    g.turned = true;
    *band = 2 * (slope * depth / unit + BAND);
    planes_take_near(s, &g, 0.5 * *band * unit);
    for (uint32_t i = 0; i < s->near_count; i++) {
        const int32_t owner = s->owner[s->near_point[i]];
        if (owner >= 0 && owner != (int32_t)planes[0] && owner != (int32_t)planes[1]) s->near_u[i] = INFINITY;
        in += fabs((double)s->near_u[i]) <= depth && fabs((double)s->near_v[i]) <= 0.5 * length;
    }
    const uint32_t stride = (in + MAX_ABOUT - 1) / MAX_ABOUT;
    in = 0;
    for (uint32_t i = 0; i < s->near_count && stride > 0; i++) {
        const double u = (double)s->near_u[i] / depth, v = (double)s->near_v[i] / length;
        if (fabs(u) > 1 || fabs(v) > 0.5 || in++ % stride != 0) continue;
        const int32_t owner = s->owner[s->near_point[i]];
        const bend_point p = {u, v, (double)s->near_distance[i] / unit};
        points[count++] = p;
        if (owner != (int32_t)planes[0] && owner != (int32_t)planes[1]) continue;
        planes_quadratic_add(&own[owner == (int32_t)planes[1]], u, v, p.height, 1);
        planes_quadratic_add(&own[2], u, v, p.height, 1);
    }
    return count;
}

/* Whether the noise is that of the representation: then rounding alone is left, and says nothing of bends. */
static bool is_exact(const planes_local *s, uint32_t plane) {
    return s->planes[plane].noise <= GROWTH_TOLD_NOISE * s->params.floor;
}

/* Adds the nats by which a bend explains the points at the edge of two planes better than a crease to those of both. */
static void judge_edge(planes_local *s, const bend_lists *lists, uint32_t a, uint32_t b, double *nats) {
    const uint32_t planes[2] = {a, b};
    bend_edge edge;
    double low[2], high[2], depth = INFINITY, band;
    bend_point points[MAX_ABOUT];
    planes_quadratic own[3];
    if (is_exact(s, a) || is_exact(s, b) || !find_edge(&s->planes[a], &s->planes[b], &edge)) return;
    for (int i = 0; i < 2; i++) find_extent(s, lists, &edge, planes[i], &low[i], &high[i]);
    edge.low = fmax(low[0], low[1]);
    edge.high = fmin(high[0], high[1]);
    const double length = edge.high - edge.low;
    if (!(length > 0) || length < MIN_OVERLAP * fmin(high[0] - low[0], high[1] - low[1])) return;
    for (int i = 0; i < 2; i++) {
        depth = fmin(depth, fabs(dot(edge.in[i], edge.across)) * find_depth(s, lists, &edge, planes[i], i));
    }
    const double noise = fmax(s->planes[a].noise, s->planes[b].noise);
    if (depth < MIN_DEPTH * noise) return;
    const double unit = noise / edge.cosine;
    const uint32_t count = take_points(s, &edge, planes, depth, unit, &band, points, own);
    if (fmin(own[0].products[0][0], own[1].products[0][0]) < MIN_POINTS) return;
    const double share = own[2].products[0][0] / count;
    bend_model crease = {2, {{0}}, 1, fmin(fmax(1 - share, MIN_STRAYS), MAX_STRAYS)}, bend = crease;
    bend.surfaces = 1;
    for (int k = 0; k < 2; k++) crease.terms[k][1] = dot(edge.in[k], edge.up) / dot(edge.in[k], edge.across) * depth / unit;
    bend.noise = fmax(sqrt(planes_quadratic_solve(&own[2], PLANES_QUADRATIC, bend.terms[0]) / (share * count)), 1);
    const double by_crease = fit_model(&crease, points, count, unit / depth, band);
    const double by_bend = fit_model(&bend, points, count, unit / depth, band);
    DBG("  %u %u depth %.1f points %u share %.2f fold %.2f noise %.2f %.2f strays %.2f %.2f gain %.1f\n",a,b,depth/noise,count,share,dot(edge.in[0],edge.in[1]),crease.noise,bend.noise,crease.strays,bend.strays,by_bend-by_crease);
    for (int i = 0; i < 2; i++) nats[planes[i]] += by_bend - by_crease;
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
    for (uint32_t i = 0; i < s->plane_count && status == MOTE_OK; i++) { s->planes[i].bends = nats[i]; DBG("plane %u points %u noise %.1f candidate %u turned %d nats %.1f\n",i,s->planes[i].count,s->planes[i].noise,s->planes[i].candidate,s->planes[i].turned,nats[i]); if(getenv("MOTE_KEEP"))s->planes[i].bends=0; }
    mote_free(ctx, lists.from);
    mote_free(ctx, lists.point);
    mote_free(ctx, nats);
    return status;
}
