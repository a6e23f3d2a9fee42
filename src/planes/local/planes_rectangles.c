/* Rectangles: a body as a mixture of bounded planes. Along one direction of a stair its treads pile up, but points of
   the risers lie between them, more to one side at the top and to the other at the bottom: whoever fits a plane to all
   points near it leans towards the slope, and all planes of a direction lean alike.

            |     the riser's own points: |       points near it:   __/    those of both treads turn it
       _____|     and where it ends                             ___/
      tread                                                      /

   So each plane is a rectangle that ends somewhere, and each point belongs to several in parts (expectation and
   maximization). The planes of a family share one direction: least squares over all of its points, each plane about its
   own middle. All planes share one noise. Where it is the noise of a distance, points lie off their plane but hardly
   beyond its ends; where it is that of a place, ends are as blurred as the plane: the likelier of the two is taken. */
#include <math.h>
#include <string.h>

#include "math/pi.h"
#include "planes/local/planes_rectangles.h"

#define MAX_TURNS  60
#define SETTLED    0.0003 /* radians that directions turn in a turn: it is done */
#define REACH      4.0    /* noises: farther away a rectangle has no points */
#define MIN_POINTS 8.0    /* in parts, that say where a rectangle is */
#define MIN_COSINE 0.86   /* 30 degrees: a family that turns farther has become something else */
#define MAX_NOISE  1.5    /* times the planes' before */
#define SERIES     3u     /* planes of a direction */
#define SHARP      0.25   /* noises: the blur of ends, where noise is along the normal alone; or in all directions */
#define ROOT_TWO   1.4142135623730951

static double end_blur(const rectangle_mixture *m) { return m->blur * m->noise; }

/* ---- parts */

/* A side of the given half length, spread by the noise. */
static double side_at(double at, double half, double noise) {
    const double scale = 1 / (noise * ROOT_TWO);
    return (erf((at + half) * scale) - erf((at - half) * scale)) / (4 * half);
}

double rectangles_density(const rectangle_mixture *m, const bounded_plane *r, const double p[3]) {
    const double away[3] = {p[0] - r->at[0], p[1] - r->at[1], p[2] - r->at[2]};
    const double reach = REACH * m->noise, z = planes_dot(m->normals[r->family], away);
    if (r->half[0] <= 0 || fabs(z) > reach) return 0; /* without points it is nowhere */
    const double a = planes_dot(r->u, away), b = planes_dot(r->v, away);
    if (fabs(a) > r->half[0] + reach || fabs(b) > r->half[1] + reach) return 0;
    const double across = exp(-0.5 * z * z / (m->noise * m->noise)) / (m->noise * MOTE_ROOT_TWO_PI);
    return r->share * across * side_at(a, r->half[0], end_blur(m)) * side_at(b, r->half[1], end_blur(m));
}

/* part: of a point that lies from_end beyond an end; inside: how much of the point the rectangle holds along that side.
 */
static void add_slope(end_slopes *to, double from_end, double inside, const bounded_plane *r, int side, double noise,
                      double part) {
    const double z = from_end / noise;
    const double slope = exp(-0.5 * z * z) / (noise * MOTE_ROOT_TWO_PI * inside) - 0.5 / r->half[side];
    to->sum += part * slope;
    to->squares += part * slope * slope;
}

static void add_slopes(rectangle_mixture *m, uint32_t k, const double p[3], double part) {
    const bounded_plane *r = &m->rectangles[k];
    const double away[3] = {p[0] - r->at[0], p[1] - r->at[1], p[2] - r->at[2]};
    const double at[2] = {planes_dot(r->u, away), planes_dot(r->v, away)};
    for (int side = 0; side < 2; side++) {
        const double half = r->half[side], inside = fmax(2 * half * side_at(at[side], half, end_blur(m)), 1e-6);
        add_slope(&m->ends[k][side][0], at[side] + half, inside, r, side, end_blur(m), part);
        add_slope(&m->ends[k][side][1], at[side] - half, inside, r, side, end_blur(m), part);
    }
}

void rectangles_share(const composite_columns *points, rectangle_mixture *m) {
    const uint32_t count = m->count;
    double strays = 0;
    m->nats = 0;
    memset(m->ends, 0, count * sizeof *m->ends);
    memset(m->moments, 0, count * sizeof *m->moments);
    for (uint32_t i = 0; i < points->count; i++) {
        const double p[3] = {(double)points->x[i], (double)points->y[i], (double)points->z[i]};
        double densities[PLANES_MAX_RECTANGLES], sum = m->rest / m->volume;
        for (uint32_t k = 0; k < count; k++) sum += densities[k] = rectangles_density(m, &m->rectangles[k], p);
        m->nats += log(sum);
        strays += m->rest / m->volume / sum;
        for (uint32_t k = 0; k < count; k++) {
            if (densities[k] <= 0) continue;
            planes_moments_add_part(&m->moments[k], p, densities[k] / sum);
            add_slopes(m, k, p, densities[k] / sum);
        }
    }
    m->rest = fmax(strays / points->count, 1e-4);
}

/* Gives each point to the rectangle whose plane owns it. first: the first plane of the body */
static void share_by_owner(const planes_local *s, const composite_body *body, uint32_t first, rectangle_mixture *m) {
    const composite_columns *points = &body->all;
    uint32_t strays = 0;
    memset(m->moments, 0, m->count * sizeof *m->moments);
    for (uint32_t i = 0; i < points->count; i++) {
        const double p[3] = {(double)points->x[i], (double)points->y[i], (double)points->z[i]};
        const int64_t owner = (int64_t)s->owner[body->point[i]] - first;
        if (owner >= 0 && owner < m->count) planes_moments_add_part(&m->moments[owner], p, 1);
        strays += owner < 0;
    }
    m->rest = fmax((double)strays / points->count, 1e-4);
}

/* ---- fits */

void rectangles_add_scatter(const planes_moments *m, double scatter[PLANES_PRODUCTS]) {
    if (m->count < MIN_POINTS) return;
    for (int k = 0; k < PLANES_PRODUCTS; k++) {
        scatter[k] += m->products[k] - m->first[planes_rows[k]] * m->first[planes_columns[k]] / m->count;
    }
}

bool rectangles_direction_across(const double scatter[PLANES_PRODUCTS], const double up[3], double n[3]) {
    static const int at[3][3] = {{0, 1, 2}, {1, 3, 4}, {2, 4, 5}};
    double e[2][3], c[2][2] = {{0, 0}, {0, 0}};
    planes_perpendicular(up, e[0], e[1]);
    for (int i = 0; i < 2; i++) {
        for (int j = 0; j < 2; j++) {
            for (int k = 0; k < 9; k++) c[i][j] += e[i][k / 3] * scatter[at[k / 3][k % 3]] * e[j][k % 3];
        }
    }
    if (!(c[0][0] + c[1][1] > 0)) return false;
    const double angle = 0.5 * atan2(2 * c[0][1], c[0][0] - c[1][1]), u = -sin(angle), v = cos(angle);
    for (int k = 0; k < 3; k++) n[k] = u * e[0][k] + v * e[1][k];
    return true;
}

double rectangles_fit_directions(rectangle_mixture *m, uint32_t first) {
    double turned = 0;
    for (uint32_t f = first; f < m->families; f++) {
        double scatter[PLANES_PRODUCTS] = {0}, n[3], min;
        for (uint32_t k = 0; k < m->count; k++) {
            if (m->rectangles[k].family == f) rectangles_add_scatter(&m->moments[k], scatter);
        }
        const int32_t on = m->upright_on[f];
        const bool is_told =
            on < 0 ? planes_min_direction(scatter, n, &min) : rectangles_direction_across(scatter, m->normals[on], n);
        if (!is_told) continue;
        const double cosine = planes_dot(n, m->normals[f]);
        turned = fmax(turned, acos(fmin(fabs(cosine), 1)));
        memcpy(m->normals[f], n, sizeof n);
        planes_turn_up(m->normals[f]);
    }
    return turned;
}

/* The axes of a rectangle are those along which its parts vary the most and the least in its plane; evenly spread
   between two ends, they vary by a third of the square of half the length, and the noise is added to that. */
void rectangles_fit_one(rectangle_mixture *m, uint32_t k, double all) {
    bounded_plane *r = &m->rectangles[k];
    const planes_moments *moments = &m->moments[k];
    const double noise2 = m->noise * m->noise;
    double e[2][3], uu, vv, uv;
    r->share = moments->count / all;
    if (moments->count < MIN_POINTS) return;
    for (int i = 0; i < 3; i++) r->at[i] = moments->first[i] / moments->count;
    planes_perpendicular(m->normals[r->family], e[0], e[1]);
    uu = planes_moments_along(moments, e[0]);
    vv = planes_moments_along(moments, e[1]);
    const double both[3] = {(e[0][0] + e[1][0]) / ROOT_TWO, (e[0][1] + e[1][1]) / ROOT_TWO,
                            (e[0][2] + e[1][2]) / ROOT_TWO};
    uv = planes_moments_along(moments, both) - 0.5 * (uu + vv);
    const double angle = 0.5 * atan2(2 * uv, uu - vv), c = cos(angle), d = sin(angle);
    for (int i = 0; i < 3; i++) {
        r->u[i] = c * e[0][i] + d * e[1][i];
        r->v[i] = c * e[1][i] - d * e[0][i];
    }
    r->half[0] = sqrt(3 * fmax(planes_moments_along(moments, r->u) - noise2, noise2));
    r->half[1] = sqrt(3 * fmax(planes_moments_along(moments, r->v) - noise2, noise2));
}

static double end_step(const end_slopes *slopes, double noise) {
    const double step = slopes->squares > 0 ? slopes->sum / slopes->squares : 0;
    return fmax(fmin(step, 0.5 * noise), -0.5 * noise);
}

/* Turns a rectangle into its family's direction, moves it to the middle of its parts across it, and its ends to where
   they are likelier. */
void rectangles_move_one(rectangle_mixture *m, uint32_t k, double all) {
    bounded_plane *r = &m->rectangles[k];
    const planes_moments *moments = &m->moments[k];
    const double *n = m->normals[r->family];
    r->share = moments->count / all;
    if (moments->count < MIN_POINTS) return;
    double off = 0, length = 0;
    for (int i = 0; i < 3; i++) off += n[i] * (moments->first[i] / moments->count - r->at[i]);
    const double lean = planes_dot(n, r->u);
    for (int i = 0; i < 3; i++) {
        r->at[i] += off * n[i];
        r->u[i] -= lean * n[i];
    }
    length = sqrt(planes_dot(r->u, r->u));
    for (int i = 0; i < 3; i++) r->u[i] /= length;
    planes_cross(n, r->u, r->v);
    for (int side = 0; side < 2; side++) {
        const double *axis = side == 0 ? r->u : r->v;
        const double low = end_step(&m->ends[k][side][0], end_blur(m)),
                     high = end_step(&m->ends[k][side][1], end_blur(m));
        for (int i = 0; i < 3; i++) r->at[i] += 0.5 * (high - low) * axis[i];
        r->half[side] = fmax(r->half[side] + 0.5 * (high + low), 0.5 * m->noise);
    }
}

static void fit_noise(rectangle_mixture *m, double floor) {
    double squares = 0, all = 0;
    for (uint32_t k = 0; k < m->count; k++) {
        const planes_moments *moments = &m->moments[k];
        if (moments->count < MIN_POINTS) continue;
        squares += moments->count * planes_moments_along(moments, m->normals[m->rectangles[k].family]);
        all += moments->count;
    }
    if (all > 0) m->noise = fmax(sqrt(squares / all), floor);
}

void rectangles_settle(const composite_columns *points, uint32_t turns, bool thinner, double floor,
                       rectangle_mixture *m) {
    for (uint32_t turn = 0; turn < turns; turn++) {
        rectangles_share(points, m);
        const double noise = m->noise, turned = rectangles_fit_directions(m, 0);
        for (uint32_t k = 0; k < m->count; k++) rectangles_move_one(m, k, points->count);
        fit_noise(m, floor);
        if (thinner) m->noise = fmin(m->noise, noise);
        if (turned < SETTLED) break;
    }
}

/* ---- all of it */

double rectangles_volume(const composite_columns *points, const double n[3]) {
    double axes[3][3], volume = 1;
    memcpy(axes[0], n, sizeof axes[0]);
    planes_perpendicular(n, axes[1], axes[2]);
    for (int k = 0; k < 3; k++) {
        double low = INFINITY, high = -INFINITY;
        for (uint32_t i = 0; i < points->count; i++) {
            const double p[3] = {(double)points->x[i], (double)points->y[i], (double)points->z[i]};
            low = fmin(low, planes_dot(axes[k], p));
            high = fmax(high, planes_dot(axes[k], p));
        }
        volume *= fmax(high - low, 1);
    }
    return volume;
}

/* blur: of the ends, in noises */
static void explain_points(const planes_local *s, const planes_families *families, const composite_body *body,
                           double blur, rectangle_mixture *m) {
    const uint32_t first = families->first[0];
    memset(m, 0, sizeof *m);
    m->count = families->first[families->count] - first;
    m->families = families->count;
    m->volume = rectangles_volume(&body->all, body->normal);
    for (uint32_t f = 0; f < families->count; f++) {
        m->upright_on[f] = -1;
        memcpy(m->normals[f], families->normals[f], sizeof m->normals[f]);
        for (uint32_t i = families->first[f]; i < families->first[f + 1]; i++) {
            m->rectangles[i - first].family = f;
            m->noise = fmax(m->noise, s->planes[i].noise);
        }
    }
    share_by_owner(s, body, first, m);
    for (uint32_t k = 0; k < m->count; k++) rectangles_fit_one(m, k, body->all.count);
    fit_noise(m, s->params.floor);
    m->blur = blur;
    rectangles_settle(&body->all, MAX_TURNS, false, s->params.floor, m);
}

/* Whether the families are still what they began as. */
static bool is_alike(const planes_local *s, const planes_families *families, const rectangle_mixture *m) {
    double noise = 0;
    for (uint32_t k = 0; k < m->count; k++) noise = fmax(noise, s->planes[families->first[0] + k].noise);
    if (!isfinite(m->nats) || m->noise > MAX_NOISE * noise) return false;
    for (uint32_t f = 0; f < m->families; f++) {
        if (fabs(planes_dot(m->normals[f], families->normals[f])) < MIN_COSINE) return false;
    }
    return true;
}

/* The axes and the footprint are the old ones; the plane is grown again. */
static void turn_plane(planes_local_plane *plane, const double middle[3], const double n[3], const bounded_plane *r) {
    memcpy(plane->normal, n, sizeof plane->normal);
    for (int k = 0; k < 3; k++) plane->centroid[k] = middle[k] + r->at[k];
    planes_perpendicular(n, plane->u, plane->v);
    plane->offset = planes_dot(plane->normal, plane->centroid);
}

/* Whether a family is a series of planes, as treads are. Few planes say no more together than each does alone. */
static bool is_series(const planes_families *families) {
    uint32_t largest = 0;
    for (uint32_t f = 0; f < families->count; f++) {
        const uint32_t size = families->first[f + 1] - families->first[f];
        largest = size > largest ? size : largest;
    }
    return largest >= SERIES;
}

void planes_refit_families(planes_local *s, const planes_families *families, const composite_body *body) {
    rectangle_mixture best, m;
    const uint32_t count = families->first[families->count] - families->first[0];
    if (count > PLANES_MAX_RECTANGLES || !is_series(families)) return;
    explain_points(s, families, body, SHARP, &best);
    explain_points(s, families, body, RECTANGLES_BLURRED, &m);
    if (m.nats > best.nats) best = m;
    if (!is_alike(s, families, &best)) return;
    for (uint32_t k = 0; k < best.count; k++) {
        const bounded_plane *r = &best.rectangles[k];
        if (best.moments[k].count < MIN_POINTS) continue;
        turn_plane(&s->planes[families->first[0] + k], body->at, best.normals[r->family], r);
    }
}
