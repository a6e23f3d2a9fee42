/* Facets: a curve that is nearly flat for a while looks like planes side by side. But planes meet in creases, and what
   is next to a facet goes on bending:

          a roof           two facets of a curtain
            /\                    .--.                  the nearer halves of both, held against
           /  \                  /    \                 two planes, and one quadratic surface
          /    \                /      \

   Where one quadratic surface explains the nearer halves of two planes better than a plane each, with as many terms,
   they do not meet in a crease. What has more of such bends around it than creases is a facet, and no plane. */
#include <math.h>
#include <string.h>

#include "planes/local/planes_growth.h"

#define MAX_POINTS  2048u /* of a plane, that are looked at */
#define MIN_POINTS  16u   /* of a half */
#define MIN_SINE    0.03  /* between two planes: of less, they have no edge */
#define SHARPEST    0.87  /* cosine: an edge of less than 30 degrees is no curve's */
#define MIN_OVERLAP 0.5   /* of the shorter one's extent, both have beside each other along the edge */
#define MIN_DEPTH   4.0   /* noises, that the middle of both is from the edge: nearer, a crease is blurred to a bend */
#define MAX_LEFT    2.0   /* noises squared, that two planes may leave: what they do not explain says nothing */
#define MAX_CROSSED 0.1   /* of a plane's points that may be beyond the edge: of others, planes cross */
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

/* Adds the points of a plane that are no farther from the edge than depth to what lies on either side of it: whoever
   owns them, for by their owners they would lie as near to two planes as these could wish. */
static void add_points(const planes_local *s, const bend_lists *lists, const bend_edge *edge, uint32_t plane,
                       double depth, planes_quadratic sides[2], planes_quadratic *both) {
    const double by = 1 / (edge->high - edge->low), noise = s->planes[plane].noise / edge->cosine;
    for (uint32_t i = lists->from[plane]; i < lists->from[plane + 1]; i++) {
        double away[3];
        from_edge(s, edge, lists->point[i], away);
        const double at = dot(away, edge->along), u = dot(away, edge->across) / depth;
        if (at < edge->low || at > edge->high || fabs(u) > 1) continue;
        const double v = (at - 0.5 * (edge->low + edge->high)) * by, distance = dot(away, edge->up) / noise;
        planes_quadratic_add(&sides[u > 0], u, v, distance);
        planes_quadratic_add(both, u, v, distance);
    }
}

/* Whether the noise is that of the representation: then rounding alone is left, and says nothing of bends. */
static bool is_exact(const planes_local *s, uint32_t plane) {
    return s->planes[plane].noise <= GROWTH_TOLD_NOISE * s->params.floor;
}

/* Adds the nats by which a bend explains the points at the edge of two planes better than a crease to those of both. */
static void judge_edge(const planes_local *s, const bend_lists *lists, uint32_t a, uint32_t b, double *nats) {
    const uint32_t planes[2] = {a, b};
    bend_edge edge;
    double low[2], high[2], depth = INFINITY;
    planes_quadratic sides[2], both;
    if (is_exact(s, a) || is_exact(s, b) || !find_edge(&s->planes[a], &s->planes[b], &edge)) return;
    for (int i = 0; i < 2; i++) find_extent(s, lists, &edge, planes[i], &low[i], &high[i]);
    edge.low = fmax(low[0], low[1]);
    edge.high = fmin(high[0], high[1]);
    const double length = edge.high - edge.low;
    if (!(length > 0) || length < MIN_OVERLAP * fmin(high[0] - low[0], high[1] - low[1])) return;
    for (int i = 0; i < 2; i++) {
        depth = fmin(depth, fabs(dot(edge.in[i], edge.across)) * find_depth(s, lists, &edge, planes[i], i));
    }
    if (depth < MIN_DEPTH * fmax(s->planes[a].noise, s->planes[b].noise)) return;
    memset(sides, 0, sizeof sides);
    memset(&both, 0, sizeof both);
    for (int i = 0; i < 2; i++) add_points(s, lists, &edge, planes[i], depth, sides, &both);
    const double points = sides[0].products[0][0] + sides[1].products[0][0];
    if (fmin(sides[0].products[0][0], sides[1].products[0][0]) < MIN_POINTS) return;
    const double by_planes = planes_quadratic_left(&sides[0]).plane + planes_quadratic_left(&sides[1]).plane;
    if (by_planes > MAX_LEFT * points) return;
    const double by_curve = fmax(planes_quadratic_left(&both).quadratic, 1e-9 * by_planes);
    const double gain = 0.5 * points * log(by_planes / by_curve); /* the noise is what is left: strays are in it */
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
    for (uint32_t i = 0; i < s->plane_count && status == MOTE_OK; i++) { s->planes[i].bends = nats[i]; }
    mote_free(ctx, lists.from);
    mote_free(ctx, lists.point);
    mote_free(ctx, nats);
    return status;
}
