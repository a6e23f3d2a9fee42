/* Splats: discs in space that stand for the surface around a point. One copy for C and CUDA.

   A splat is an ellipse of a middle c, a normal n and axes a and b. Seen in perspective, the ray through a sample that
   is (du, dv) away from the middle's meets its plane where

       W = 1 + g · (du, dv)        depth = cz / W
       U = (d_u · (du, dv)) / W    along a, in its lengths
       V = (d_v · (du, dv)) / W    along b,            U² + V² <= 1: within the ellipse

   three linear functions, which are exact for perspective. In parallel projection W is 1, and depth = cz + g · (du,
   dv). Two more of the kind of U and V say whether the surface is still there (render_contour_math.h).

     seen point ──▶ render_find_shape ──▶ render_make_splat ──▶ fragments and sums: render_fragment_math.h */
#ifndef MOTE_RENDER_SPLAT_MATH_H
#define MOTE_RENDER_SPLAT_MATH_H

#include "math/eigen3.h"
#include "normals/normals_math.h"
#include "render/points/render_points_math.h"
#include "render/screen/render_screen_math.h"
#include "render/splat/render_contour_math.h"

#define RENDER_NORMAL_ONE    1023 /* what 1 is in a splat's normal */
#define RENDER_EDGE_ON       1e-4 /* cosine below which a splat is seen from its edge, and not drawn */
#define RENDER_REACH         64.0 /* the largest search for neighbours, in radii of the picture's density */
#define RENDER_LONELY        3.0f /* a splat is at most so much larger than its nearest neighbours' */
#define RENDER_DOT           0.9  /* radius in samples of what stands alone: it covers the sample that it is in */
#define RENDER_MIN_NEIGHBORS 4u
#define RENDER_MIN_AXIS      0.5 /* the short axis of an ellipse over the long one, at least */

/* A GPU reads it 16 bytes at a time: what rules most samples out comes first. */
typedef struct render_splat {
    uint16_t u0, v0, u1, v1; /* samples that it can cover; u0 > u1: none */
    int32_t u, v;            /* the sample of its middle, of the part that is drawn */
    float off_u, off_v;      /* from its middle to the middle of that sample */
    float depth;             /* of its middle */
    float g_u, g_v;          /* see above */
    float u_u, u_v, v_u, v_v;
    float l_u, l_v, a_u, a_v, bend; /* of its contour: linear, across */
    float tolerance;                /* of depth */
    uint32_t color;                 /* rgba */
    int16_t normal[3];              /* camera's axes */
    uint16_t iterations;
    uint32_t place;
    float radius; /* world units */
} render_splat;

/* What splats are made with. */
typedef struct render_splat_rules {
    uint32_t k;
    double share, tolerance, max_radius, max_samples;
    bool given; /* normals are those that were given */
} render_splat_rules;

static inline render_splat_rules render_rules_of(const render_job *job) {
    const mote_render_params *p = job->params;
    render_splat_rules rules;
    rules.k = p->k;
    rules.share = p->share;
    rules.tolerance = p->tolerance;
    rules.max_radius = p->max_radius;
    rules.max_samples = p->max_pixels * p->samples;
    rules.given = p->normals == MOTE_RENDER_NORMALS_GIVEN;
    return rules;
}

/* A splat in the camera's axes. */
typedef struct render_disc {
    double c[3], n[3], a[3], b[3]; /* a and b of unit length */
    double long_radius, short_radius;
    double linear[3], across[3]; /* of its contour, over world units */
    float bend;
} render_disc;

/* Two directions across a normal, whichever. */
MOTE_HD void render_axes_across(const double n[3], double a[3], double b[3]) {
    const double sign = n[2] < 0 ? -1 : 1, p = -1 / (sign + n[2]), q = n[0] * n[1] * p; /* Duff et al. 2017 */
    a[0] = 1 + sign * n[0] * n[0] * p;
    a[1] = sign * q;
    a[2] = -sign * n[0];
    b[0] = q;
    b[1] = sign + n[1] * n[1] * p;
    b[2] = -n[1];
}

/* ---- shape, from neighbours */

/* What the neighbours of a seen point say, in the axes of the world. */
typedef struct render_shape {
    float middle[3];                 /* of the neighbours, from the point */
    float normal[3];                 /* zeros: none */
    float along[3];                  /* the long axis */
    float long_radius, short_radius; /* of the ellipse that holds share points; 0: not known */
    render_contour contour;
    uint32_t near[3]; /* seen points: the nearest others; the point itself where there are fewer */
    uint32_t iterations;
} render_shape;

/* The radius of the disc that holds share points, where count, the point itself among them, are within a distance; 0:
   nobody knows. */
MOTE_HD double render_disc_radius(double share, double distance2, uint32_t count) {
    return count > 1 ? sqrt(distance2 * share / (count - 1)) : 0;
}

/* The plane of the neighbours, and an ellipse on it around the point: as long and short as they are spread, of the area
   that holds share points where k - 1 others are within the distance of the farthest. */
MOTE_HD bool render_fit_plane(const render_screen *screen, const render_search *search, uint32_t i, double share,
                              render_shape *shape) {
    const render_seen *seen = &screen->seen;
    double m[EIGEN3_NUMBERS];
    normals_sums sums = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
    for (uint32_t j = 0; j < search->count; j++) {
        const uint32_t other = search->list[j].seen;
        normals_add(&sums, seen->at[0][other] - seen->at[0][i], seen->at[1][other] - seen->at[1][i],
                    seen->at[2][other] - seen->at[2][i]);
        sums.n += 1;
    }
    normals_covariance(&sums, m, 1);
    eigen3_solve(m, 1);
    const normals_shape fitted = normals_shape_of(m, 1);
    if (fitted.normal[0] == 0 && fitted.normal[1] == 0 && fitted.normal[2] == 0) return false;
    const double values[3] = {m[0], m[3], m[5]};
    int largest = 0, least = 0;
    for (int k = 1; k < 3; k++) {
        if (values[k] >= values[largest]) largest = k; /* the last, and below the first: never the same */
        if (values[k] < values[least]) least = k;
    }
    const int middle = 3 - largest - least;
    const double *n = fitted.normal;
    const double off = ((sums.x * n[0] + sums.y * n[1]) + sums.z * n[2]) / sums.n;
    const double ratio = values[middle] > 0 ? sqrt(values[middle] / values[largest]) : 0;
    const double stretch = sqrt(sqrt(ratio > RENDER_MIN_AXIS ? ratio : RENDER_MIN_AXIS));
    const double radius = render_disc_radius(share, search->list[search->count - 1].distance2, search->count);
    for (int k = 0; k < 3; k++) {
        shape->middle[k] = (float)(off * n[k]);
        shape->normal[k] = (float)n[k];
        shape->along[k] = (float)m[6 + 3 * largest + k];
    }
    shape->long_radius = (float)(radius / stretch);
    shape->short_radius = (float)(radius * stretch);
    return true;
}

MOTE_HD void render_turn(const render_view *view, const double v[3], double out[3]) {
    out[0] = (v[0] * view->right[0] + v[1] * view->right[1]) + v[2] * view->right[2];
    out[1] = (v[0] * view->down[0] + v[1] * view->down[1]) + v[2] * view->down[2];
    out[2] = (v[0] * view->forward[0] + v[1] * view->forward[1]) + v[2] * view->forward[2];
}

/* How much a direction looks along the ray to c, which has length in perspective. */
MOTE_HD double render_along_ray(const render_view *view, const double n[3], const double c[3]) {
    return view->perspective ? (n[0] * c[0] + n[1] * c[1]) + n[2] * c[2] : n[2];
}

/* A disc that faces the camera. */
MOTE_HD void render_face_camera(const render_view *view, render_disc *disc, double radius) {
    const double *c = disc->c;
    const double length = sqrt((c[0] * c[0] + c[1] * c[1]) + c[2] * c[2]);
    for (int k = 0; k < 3; k++) disc->n[k] = view->perspective ? -c[k] / length : (k == 2 ? -1 : 0);
    render_axes_across(disc->n, disc->a, disc->b);
    disc->long_radius = disc->short_radius = radius;
    for (int k = 0; k < 3; k++) disc->linear[k] = disc->across[k] = 0;
    disc->bend = 0;
}

/* ---- from disc to splat */

/* Where the disc's extent along one axis ends in the picture: x - s z = 0 touches it. Returns false where it reaches
   the plane of the eye. */
MOTE_HD bool render_disc_range(const render_view *view, const render_disc *disc, int axis, double center, double *low,
                               double *high) {
    const double *c = disc->c;
    double xx = 0, xz = 0, zz = 0;
    for (int side = 0; side < 2; side++) {
        const double *d = side == 0 ? disc->a : disc->b, r = side == 0 ? disc->long_radius : disc->short_radius;
        xx += r * r * (d[axis] * d[axis]);
        xz += r * r * (d[axis] * d[2]);
        zz += r * r * (d[2] * d[2]);
    }
    if (!view->perspective) {
        *low = center + (c[axis] - sqrt(xx)) * view->focal;
        *high = center + (c[axis] + sqrt(xx)) * view->focal;
        return true;
    }
    if (!(c[2] - sqrt(zz) > view->near_depth)) return false;
    const double p = c[2] * c[2] - zz, q = c[axis] * c[2] - xz, r = c[axis] * c[axis] - xx;
    const double inner = q * q - p * r, root = inner > 0 ? sqrt(inner) : 0;
    *low = center + (q - root) / p * view->focal;
    *high = center + (q + root) / p * view->focal;
    return true;
}

/* The first and last sample whose middle lies in a range; 0 and -1 as UINT16_MAX, 0 where there is none. */
MOTE_HD void render_sample_range(double low, double high, uint32_t first, uint32_t count, uint16_t *from,
                                 uint16_t *to) {
    const double slack = 0.02; /* the test of a sample rounds to float */
    const double a = ceil(low - first - 0.5 - slack), b = floor(high - first - 0.5 + slack);
    *from = 1;
    *to = 0;
    if (!(b >= 0 && a <= (double)count - 1 && a <= b)) return;
    *from = (uint16_t)(a > 0 ? a : 0);
    *to = (uint16_t)(b < (double)count - 1 ? b : (double)count - 1);
}

MOTE_HD void render_no_splat(render_splat *splat) {
    splat->u0 = splat->v0 = 1;
    splat->u1 = splat->v1 = 0;
}

MOTE_HD bool render_is_drawn(const render_splat *splat) { return splat->u0 <= splat->u1 && splat->v0 <= splat->v1; }

MOTE_HD void render_bound_splat(const render_view *view, const render_disc *disc, render_splat *splat) {
    double low_u = view->left, high_u = (double)view->left + view->width;
    double low_v = view->top, high_v = (double)view->top + view->height;
    if (!render_disc_range(view, disc, 0, view->center_u, &low_u, &high_u) ||
        !render_disc_range(view, disc, 1, view->center_v, &low_v, &high_v)) {
        low_u = view->left, high_u = (double)view->left + view->width;
        low_v = view->top, high_v = (double)view->top + view->height;
    }
    render_sample_range(low_u, high_u, view->left, view->width, &splat->u0, &splat->u1);
    render_sample_range(low_v, high_v, view->top, view->height, &splat->v0, &splat->v1);
}

/* The contour of a disc in the picture.
   row  U and V over samples */
MOTE_HD void render_project_contour(const render_disc *disc, double row[2][2], render_splat *splat) {
    double linear[2] = {0, 0}, across[2] = {0, 0}; /* over U and V */
    for (int k = 0; k < 3; k++) {
        linear[0] += disc->linear[k] * disc->a[k] * disc->long_radius;
        linear[1] += disc->linear[k] * disc->b[k] * disc->short_radius;
        across[0] += disc->across[k] * disc->a[k] * disc->long_radius;
        across[1] += disc->across[k] * disc->b[k] * disc->short_radius;
    }
    splat->l_u = (float)(linear[0] * row[0][0] + linear[1] * row[1][0]);
    splat->l_v = (float)(linear[0] * row[0][1] + linear[1] * row[1][1]);
    splat->a_u = (float)(across[0] * row[0][0] + across[1] * row[1][0]);
    splat->a_v = (float)(across[0] * row[0][1] + across[1] * row[1][1]);
    splat->bend = disc->bend;
}

/* The linear functions of a disc. */
MOTE_HD bool render_project_disc(const render_view *view, const render_disc *disc, render_splat *splat) {
    const double *c = disc->c, *n = disc->n, f = view->focal;
    const double s = render_along_ray(view, n, c);
    const double size = view->perspective ? sqrt((c[0] * c[0] + c[1] * c[1]) + c[2] * c[2]) : 1;
    if (!(fabs(s) > RENDER_EDGE_ON * size)) return false;
    const double scale = render_scale_at(view, c[2]);
    const double u = view->center_u - view->left + c[0] * scale, v = view->center_v - view->top + c[1] * scale;
    if (!(fabs(u) < 1e6 && fabs(v) < 1e6)) return false;
    splat->u = (int32_t)floor(u);
    splat->v = (int32_t)floor(v);
    splat->off_u = (float)(splat->u + 0.5 - u);
    splat->off_v = (float)(splat->v + 0.5 - v);
    double row[2][2];
    for (int side = 0; side < 2; side++) {
        const double *d = side == 0 ? disc->a : disc->b, r = side == 0 ? disc->long_radius : disc->short_radius;
        const double lean = render_along_ray(view, d, c) / s; /* of the axis, against the ray */
        const double by = (view->perspective ? c[2] : 1) / (f * r);
        for (int k = 0; k < 2; k++) row[side][k] = (d[k] - lean * n[k]) * by;
    }
    splat->u_u = (float)row[0][0];
    splat->u_v = (float)row[0][1];
    splat->v_u = (float)row[1][0];
    splat->v_v = (float)row[1][1];
    render_project_contour(disc, row, splat);
    const double slope = view->perspective ? c[2] / (s * f) : -1 / (s * f);
    splat->g_u = (float)(n[0] * slope);
    splat->g_v = (float)(n[1] * slope);
    render_bound_splat(view, disc, splat);
    return render_is_drawn(splat);
}

/* ---- from a seen point to its splat */

/* An upper bound of a splat's radius at a place, world units. */
MOTE_HD double render_radius_cap(const render_splat_rules *rules, double scale) {
    double cap = rules->max_radius > 0 ? rules->max_radius : INFINITY;
    const double pixels = rules->max_samples > 0 ? rules->max_samples / scale : INFINITY;
    return cap < pixels ? cap : pixels;
}

/* A normal that was given for a row, of unit length; false: it has none. */
MOTE_HD bool render_take_normal(const render_points *points, uint32_t row, float to[3]) {
    const double n[3] = {points->normal[0][row], points->normal[1][row], points->normal[2][row]};
    const double length = sqrt((n[0] * n[0] + n[1] * n[1]) + n[2] * n[2]);
    const bool has = length > 0 && length < 1e30;
    for (int k = 0; k < 3; k++) to[k] = has ? (float)(n[k] / length) : 0;
    return has;
}

MOTE_HD void render_round_shape(float radius, render_shape *shape) {
    double across[3];
    const double n[3] = {shape->normal[0], shape->normal[1], shape->normal[2]};
    double along[3];
    render_axes_across(n, along, across);
    for (int k = 0; k < 3; k++) shape->along[k] = (float)along[k];
    shape->long_radius = shape->short_radius = radius;
}

/* The shape of a seen point before its neighbours are known, and how they are searched for. Returns false if it needs
   none. */
MOTE_HD bool render_begin_shape(const render_screen *screen, const render_points *points,
                                const render_splat_rules *rules, uint32_t i, render_shape *shape, float *radius,
                                double *limit2) {
    const render_view *view = &screen->view;
    const render_seen *seen = &screen->seen;
    const uint32_t sample = seen->sample[i], row = render_row(points, seen->place[i]);
    const render_place at = render_to_camera(view, seen->at[0][i], seen->at[1][i], seen->at[2][i]);
    *radius = render_radius_of(screen, sample % view->width, sample / view->width, rules->k);
    const double reach = RENDER_REACH * *radius / render_scale_at(view, at.z);
    *limit2 = reach * reach;
    for (int k = 0; k < 3; k++) {
        shape->middle[k] = shape->normal[k] = shape->along[k] = 0;
        shape->contour.linear[k] = shape->contour.across[k] = 0;
        shape->near[k] = i;
    }
    shape->long_radius = shape->short_radius = shape->contour.bend = 0;
    shape->iterations = 0;
    const bool given = rules->given && render_take_normal(points, row, shape->normal);
    if (!given || points->spacing == NULL) return true;
    const float r = (float)((double)points->spacing[row] * sqrt(rules->share / RENDER_PI));
    render_round_shape(r > 0 && r < INFINITY ? r : 0, shape);
    return false;
}

MOTE_HD double render_search_radius(const render_splat_rules *rules, const render_search *search) {
    return search->count > 0
               ? render_disc_radius(rules->share, search->list[search->count - 1].distance2, search->count)
               : 0;
}

/* search: the neighbours that were found, in iterations windows. */
MOTE_HD void render_end_shape(const render_screen *screen, const render_splat_rules *rules, uint32_t i,
                              const render_search *search, uint32_t iterations, render_shape *shape) {
    const bool given = shape->normal[0] != 0 || shape->normal[1] != 0 || shape->normal[2] != 0;
    shape->iterations = iterations;
    for (uint32_t j = 0; j < 3 && j + 1 < search->count; j++) {
        const uint32_t other = search->list[j + 1].seen; /* itself is first, except among points in one place */
        shape->near[j] = other != i ? other : search->list[0].seen;
    }
    if (search->count < RENDER_MIN_NEIGHBORS || rules->given) {
        if (!given) return;
        render_round_shape((float)render_search_radius(rules, search), shape);
    } else if (!render_fit_plane(screen, search, i, rules->share, shape)) {
        return;
    }
    render_find_contour(screen, search, i, shape->normal, given, shape->long_radius, &shape->contour);
}

/* The first pass over seen points, of all layers: their sizes, and the shapes of those in front. shape: NULL, of a
   point behind the front: it is a neighbour of others, and no splat. */
MOTE_HD float render_find_shape(const render_screen *screen, const render_points *points,
                                const render_splat_rules *rules, uint32_t i, render_shape *shape) {
    render_search search;
    render_shape begun;
    float radius;
    const bool needed = render_begin_shape(screen, points, rules, i, &begun, &radius, &search.limit2);
    if (needed) {
        search.k = rules->k;
        search.count = search.looked_at = 0;
        const uint32_t iterations = render_find_near(screen, i, radius, &search);
        if (shape != NULL) render_end_shape(screen, rules, i, &search, iterations, &begun);
    }
    if (shape != NULL) *shape = begun;
    return needed ? (float)render_search_radius(rules, &search) : begun.long_radius;
}

/* The middle one of three. */
MOTE_HD float render_middle_of(float a, float b, float c) {
    const float low = a < b ? a : b, high = a < b ? b : a;
    return c < low ? low : c > high ? high : c;
}

/* The ellipse of a shape in the camera's axes, its sizes times by. */
MOTE_HD void render_shape_disc(const render_view *view, const render_shape *shape, double by, render_disc *disc) {
    const double normal[3] = {shape->normal[0], shape->normal[1], shape->normal[2]};
    const double along[3] = {shape->along[0], shape->along[1], shape->along[2]};
    render_turn(view, normal, disc->n);
    render_turn(view, along, disc->a);
    if (render_along_ray(view, disc->n, disc->c) > 0) {
        for (int k = 0; k < 3; k++) disc->n[k] = 0.0 - disc->n[k];
    }
    disc->b[0] = disc->n[1] * disc->a[2] - disc->n[2] * disc->a[1];
    disc->b[1] = disc->n[2] * disc->a[0] - disc->n[0] * disc->a[2];
    disc->b[2] = disc->n[0] * disc->a[1] - disc->n[1] * disc->a[0];
    disc->long_radius = shape->long_radius * by;
    disc->short_radius = shape->short_radius * by;
    const double linear[3] = {shape->contour.linear[0], shape->contour.linear[1], shape->contour.linear[2]};
    const double across[3] = {shape->contour.across[0], shape->contour.across[1], shape->contour.across[2]};
    render_turn(view, linear, disc->linear);
    render_turn(view, across, disc->across);
    for (int k = 0; k < 3; k++) {
        disc->linear[k] /= shape->long_radius;
        disc->across[k] /= shape->long_radius;
    }
    disc->bend = shape->contour.bend;
}

/* The second pass: the splat of seen point i, which is in front. A point far from all others has large distances to its
   neighbours, and they have small ones: it is no surface, and its splat stays small.
   sizes  of all seen points */
MOTE_HD void render_make_splat(const render_screen *screen, const render_points *points,
                               const render_splat_rules *rules, const render_shape *shape, const float *sizes,
                               uint32_t i, render_splat *splat) {
    const render_view *view = &screen->view;
    const render_seen *seen = &screen->seen;
    const uint32_t place = seen->place[i];
    const render_place point = render_to_camera(view, seen->at[0][i], seen->at[1][i], seen->at[2][i]);
    const double scale = render_scale_at(view, point.z), dot = RENDER_DOT / scale,
                 cap = render_radius_cap(rules, scale);
    const float around = render_middle_of(sizes[shape->near[0]], sizes[shape->near[1]], sizes[shape->near[2]]);
    double radius = shape->long_radius;
    render_disc disc;
    radius = radius < RENDER_LONELY * around ? radius : RENDER_LONELY * around;
    radius = radius < cap ? radius : cap;
    splat->color = points->color[place];
    splat->place = place;
    splat->iterations = (uint16_t)shape->iterations;
    if (radius > 0) {
        const render_place at = render_to_camera(view, seen->at[0][i] + shape->middle[0],
                                                 seen->at[1][i] + shape->middle[1], seen->at[2][i] + shape->middle[2]);
        disc.c[0] = at.x;
        disc.c[1] = at.y;
        disc.c[2] = at.z;
        render_shape_disc(view, shape, radius / shape->long_radius, &disc);
    } else {
        radius = dot;
        disc.c[0] = point.x;
        disc.c[1] = point.y;
        disc.c[2] = point.z;
        render_face_camera(view, &disc, dot);
    }
    splat->u = splat->v = 0; /* what is not projected shows its point wherever it is seen */
    splat->off_u = splat->off_v = splat->g_u = splat->g_v = splat->bend = 0;
    splat->l_u = splat->l_v = splat->a_u = splat->a_v = 0;
    splat->radius = (float)radius;
    splat->tolerance = (float)(rules->tolerance * radius * sqrt(RENDER_PI / rules->share));
    splat->depth = (float)disc.c[2];
    for (int k = 0; k < 3; k++) splat->normal[k] = (int16_t)rint(disc.n[k] * RENDER_NORMAL_ONE);
    if ((view->perspective && !(disc.c[2] > 0)) || !render_project_disc(view, &disc, splat)) { render_no_splat(splat); }
}

#endif
