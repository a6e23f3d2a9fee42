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

#include "normals/normals_math.h"
#include "render/points/render_points_math.h"
#include "render/screen/render_screen_math.h"
#include "render/splat/render_contour_math.h"
#include "render/splat/render_plane_math.h"

#define RENDER_NORMAL_ONE    1023  /* what 1 is in a splat's normal */
#define RENDER_EDGE_ON       1e-4f /* cosine below which a splat is seen from its edge, and not drawn */
#define RENDER_REACH         64.0  /* the largest search for neighbours, in radii of the picture's density */
#define RENDER_LONELY        3.0f  /* a splat is at most so much larger than its neighbours say of each other */
#define RENDER_DOT           0.9f  /* radius in samples of what stands alone: it covers the sample that it is in */
#define RENDER_LEAF          0.5f  /* radius of what has no plane, as a leaf of a tree, in spacings */
#define RENDER_MIN_NEIGHBORS 4u
#define RENDER_MIN_AXIS      0.5f /* the short axis of an ellipse over the long one, at least */

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
    bool given;       /* normals are those that were given */
    float axes[3][3]; /* of the camera, in the world: right, down, forward */
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
    for (int k = 0; k < 3; k++) {
        rules.axes[0][k] = (float)job->view.right[k];
        rules.axes[1][k] = (float)job->view.down[k];
        rules.axes[2][k] = (float)job->view.forward[k];
    }
    return rules;
}

/* ---- shape, from neighbours */

/* What the neighbours of a seen point say, in the camera's axes, in world units. */
typedef struct render_shape {
    float off;                       /* of their plane, from the point along the normal */
    float normal[3];                 /* zeros: none */
    float along[3];                  /* the long axis */
    float long_radius, short_radius; /* of the ellipse that holds share points; 0: not known */
    float others_radius;             /* the same by what neighbours say of each other; infinity: not known */
    render_contour contour;
    float dot; /* radius of what has no plane, where it is known; world units */
    uint32_t iterations;
} render_shape;

/* The radius of the disc that holds share points, where count, the point itself among them, are within a distance; 0:
   nobody knows. */
MOTE_HD double render_disc_radius(double share, double distance2, uint32_t count) {
    return count > 1 ? sqrt(distance2 * share / (count - 1)) : 0;
}

/* Two directions across a normal, whichever. */
MOTE_HD void render_axes_across(const float n[3], float a[3], float b[3]) {
    const float sign = n[2] < 0 ? -1.0f : 1.0f, p = -1.0f / (sign + n[2]), q = n[0] * n[1] * p; /* Duff et al. 2017 */
    a[0] = 1 + sign * n[0] * n[0] * p;
    a[1] = sign * q;
    a[2] = -sign * n[0];
    b[0] = q;
    b[1] = sign + n[1] * n[1] * p;
    b[2] = -n[1];
}

/* Turns a vector from the world's axes to the camera's. */
MOTE_HD void render_turn(const render_splat_rules *rules, const float v[3], float out[3]) {
    for (int k = 0; k < 3; k++) {
        out[k] = (v[0] * rules->axes[k][0] + v[1] * rules->axes[k][1]) + v[2] * rules->axes[k][2];
    }
}

/* Neighbours of seen point i, from the nearest on, as render_patch has them. near: seen points. Returns false if all
   are in one place, or so far away that nobody knows. */
MOTE_HD bool render_make_patch(const render_screen *screen, const render_splat_rules *rules, uint32_t i,
                               const uint32_t *near, uint32_t count, render_patch *patch) {
    const render_seen *seen = &screen->seen;
    const double at[3] = {seen->at[0][i], seen->at[1][i], seen->at[2][i]};
    patch->count = count;
    patch->unit2 = count > 0 ? render_distance2(seen, near[count - 1], at[0], at[1], at[2]) : 0;
    if (!(patch->unit2 > 0 && patch->unit2 < INFINITY)) return false;
    const double by = 1 / sqrt(patch->unit2);
    for (uint32_t j = 0; j < count; j++) {
        float offset[3];
        for (int k = 0; k < 3; k++) offset[k] = (float)((seen->at[k][near[j]] - at[k]) * by);
        render_turn(rules, offset, patch->at[j]);
    }
    return true;
}

/* Sums over a patch. The last neighbour comes first, and what all but the first two say is kept: without the point
   itself, and without the nearest other, so that two next to each other and far from the rest are seen to be far.
   others2  of those: the square of the radius of the disc that holds share points, if they fill one as they are spread
            (of n points in a disc of radius r the mean squared distance from their mean is r² / 2); in units */
MOTE_HD void render_sum_patch(const render_patch *patch, float share, render_plane_sums *sums, float *others2) {
    memset(sums, 0, sizeof *sums);
    *others2 = INFINITY;
    for (uint32_t j = patch->count; j-- > 0;) {
        const float *at = patch->at[j];
        for (int k = 0; k < 3; k++) {
            sums->at[k] += at[k];
            sums->squares[k] += at[k] * at[k];
        }
        sums->xy += at[0] * at[1];
        sums->xz += at[0] * at[2];
        sums->yz += at[1] * at[2];
        if (j != 2 || patch->count < RENDER_MIN_NEIGHBORS) continue;
        const float n = (float)(patch->count - 2);
        const float mean2 = ((sums->at[0] * sums->at[0] + sums->at[1] * sums->at[1]) + sums->at[2] * sums->at[2]) / n;
        *others2 = 2 * share * (((sums->squares[0] + sums->squares[1]) + sums->squares[2]) - mean2) / (n * n);
    }
}

/* The plane of neighbours that nearly are on a line, which floats do not tell. */
MOTE_HD bool render_fit_narrow_plane(const render_screen *screen, const render_splat_rules *rules, uint32_t i,
                                     const uint32_t *near, uint32_t count, render_plane *plane) {
    const render_seen *seen = &screen->seen;
    double m[EIGEN3_NUMBERS];
    normals_sums sums = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
    for (uint32_t j = 0; j < count; j++) {
        normals_add(&sums, seen->at[0][near[j]] - seen->at[0][i], seen->at[1][near[j]] - seen->at[1][i],
                    seen->at[2][near[j]] - seen->at[2][i]);
        sums.n += 1;
    }
    normals_covariance(&sums, m, 1);
    eigen3_solve(m, 1);
    const normals_shape fitted = normals_shape_of(m, 1);
    if (fitted.normal[0] == 0 && fitted.normal[1] == 0 && fitted.normal[2] == 0) return false;
    const int largest = m[0] >= m[3] && m[0] >= m[5] ? 0 : m[3] >= m[5] ? 1 : 2;
    const float normal[3] = {(float)fitted.normal[0], (float)fitted.normal[1], (float)fitted.normal[2]};
    const float along[3] = {(float)m[6 + 3 * largest], (float)m[7 + 3 * largest], (float)m[8 + 3 * largest]};
    render_turn(rules, normal, plane->normal);
    render_turn(rules, along, plane->along);
    plane->ratio = 0;
    return true;
}

/* The plane of the neighbours, and an ellipse on it around the point: as long and short as they are spread, of the area
   of a disc of this radius. */
MOTE_HD void render_take_plane(const render_plane *plane, const render_plane_sums *sums, const render_patch *patch,
                               float radius, render_shape *shape) {
    const float *n = plane->normal;
    const float stretch = sqrtf(sqrtf(plane->ratio > RENDER_MIN_AXIS ? plane->ratio : RENDER_MIN_AXIS));
    const float off = ((sums->at[0] * n[0] + sums->at[1] * n[1]) + sums->at[2] * n[2]) / (float)patch->count;
    shape->off = off * (float)sqrt(patch->unit2);
    for (int k = 0; k < 3; k++) {
        shape->normal[k] = n[k];
        shape->along[k] = plane->along[k];
    }
    shape->long_radius = radius / stretch;
    shape->short_radius = radius * stretch;
}

/* ---- from shape to splat */

/* A splat in the camera's axes. */
typedef struct render_disc {
    float q[3], n[3], a[3], b[3];      /* q: from the eye to the middle, over its depth; a and b of unit length */
    float long_samples, short_samples; /* radii, in samples as they are at the middle's depth */
    float linear[2], across[2], bend;  /* of its contour, over U and V */
} render_disc;

/* How much a direction looks along the ray to the middle, over its depth. */
MOTE_HD float render_along_ray(const render_view *view, const float n[3], const float q[3]) {
    return view->perspective ? (n[0] * q[0] + n[1] * q[1]) + n[2] * q[2] : n[2];
}

/* A disc that faces the camera. */
MOTE_HD void render_face_camera(const render_view *view, float samples, render_disc *disc) {
    const float *q = disc->q;
    const float length = sqrtf((q[0] * q[0] + q[1] * q[1]) + q[2] * q[2]);
    for (int k = 0; k < 3; k++) disc->n[k] = view->perspective ? -q[k] / length : (k == 2 ? -1.0f : 0.0f);
    render_axes_across(disc->n, disc->a, disc->b);
    disc->long_samples = disc->short_samples = samples;
    for (int k = 0; k < 2; k++) disc->linear[k] = disc->across[k] = 0;
    disc->bend = 0;
}

/* Where the disc's extent along one axis ends in the picture, from its middle, in samples. In parallel projection that
   is the length of the axes along it; in perspective x - s z = 0 touches it. Returns false where it reaches the plane
   of the eye, or nearly.
   near_over  depth of the near plane over that of the middle */
MOTE_HD bool render_disc_range(const render_view *view, const render_disc *disc, int axis, float near_over, float *low,
                               float *high) {
    float xx = 0, xz = 0, zz = 0;
    for (int side = 0; side < 2; side++) {
        const float *d = side == 0 ? disc->a : disc->b, r = side == 0 ? disc->long_samples : disc->short_samples;
        xx += r * r * (d[axis] * d[axis]);
        xz += r * r * (d[axis] * d[2]);
        zz += r * r * (d[2] * d[2]);
    }
    if (!view->perspective) {
        *low = -sqrtf(xx);
        *high = sqrtf(xx);
        return xx < INFINITY;
    }
    const float f = (float)view->focal, s = disc->q[axis], p = 1.0f - zz / (f * f);
    if (!(1.0f - sqrtf(zz) / f > near_over)) return false;
    const float inner = ((xx - 2 * s * xz) + s * s * zz) - (xx * zz - xz * xz) / (f * f);
    const float root = inner > 0 ? sqrtf(inner) : 0, middle = (s * zz - xz) / f;
    *low = (middle - root) / p;
    *high = (middle + root) / p;
    return *high - *low < INFINITY;
}

/* The first and last sample whose middle lies in a range around the disc's middle; 1 and 0 where there is none.
   sample, off  of the disc's middle, as a splat has them */
MOTE_HD void render_sample_range(float low, float high, int32_t sample, float off, uint32_t count, uint16_t *from,
                                 uint16_t *to) {
    const float slack = 0.02f; /* the test of a sample rounds to float */
    const float a = (float)sample + ceilf(low - off - slack), b = (float)sample + floorf(high - off + slack);
    *from = 1;
    *to = 0;
    if (!(b >= 0 && a <= (float)count - 1 && a <= b)) return;
    *from = (uint16_t)(a > 0 ? a : 0);
    *to = (uint16_t)(b < (float)count - 1 ? b : (float)count - 1);
}

MOTE_HD void render_no_splat(render_splat *splat) {
    splat->u0 = splat->v0 = 1;
    splat->u1 = splat->v1 = 0;
}

MOTE_HD bool render_is_drawn(const render_splat *splat) { return splat->u0 <= splat->u1 && splat->v0 <= splat->v1; }

MOTE_HD void render_bound_splat(const render_view *view, const render_disc *disc, float near_over,
                                render_splat *splat) {
    float low_u, high_u, low_v, high_v;
    if (!render_disc_range(view, disc, 0, near_over, &low_u, &high_u) ||
        !render_disc_range(view, disc, 1, near_over, &low_v, &high_v)) {
        splat->u0 = splat->v0 = 0;
        splat->u1 = (uint16_t)(view->width - 1);
        splat->v1 = (uint16_t)(view->height - 1);
        return;
    }
    render_sample_range(low_u, high_u, splat->u, splat->off_u, view->width, &splat->u0, &splat->u1);
    render_sample_range(low_v, high_v, splat->v, splat->off_v, view->height, &splat->v0, &splat->v1);
}

/* The contour of a disc in the picture.
   row  U and V over samples */
MOTE_HD void render_project_contour(const render_disc *disc, float row[2][2], render_splat *splat) {
    splat->l_u = disc->linear[0] * row[0][0] + disc->linear[1] * row[1][0];
    splat->l_v = disc->linear[0] * row[0][1] + disc->linear[1] * row[1][1];
    splat->a_u = disc->across[0] * row[0][0] + disc->across[1] * row[1][0];
    splat->a_v = disc->across[0] * row[0][1] + disc->across[1] * row[1][1];
    splat->bend = disc->bend;
}

/* The linear functions of a disc, whose middle is at c. */
MOTE_HD bool render_project_disc(const render_view *view, const render_disc *disc, render_place c,
                                 render_splat *splat) {
    const float *n = disc->n, *q = disc->q, f = (float)view->focal;
    const float s = render_along_ray(view, n, q);
    const float size = view->perspective ? sqrtf((q[0] * q[0] + q[1] * q[1]) + q[2] * q[2]) : 1.0f;
    if (!(fabsf(s) > RENDER_EDGE_ON * size)) return false;
    const double scale = render_scale_at(view, c.z);
    const double u = view->center_u - view->left + c.x * scale, v = view->center_v - view->top + c.y * scale;
    if (!(fabs(u) < 1e6 && fabs(v) < 1e6)) return false;
    splat->u = (int32_t)floor(u);
    splat->v = (int32_t)floor(v);
    splat->off_u = (float)(splat->u + 0.5 - u);
    splat->off_v = (float)(splat->v + 0.5 - v);
    float row[2][2];
    for (int side = 0; side < 2; side++) {
        const float *d = side == 0 ? disc->a : disc->b, r = side == 0 ? disc->long_samples : disc->short_samples;
        const float lean = render_along_ray(view, d, q) / s; /* of the axis, against the ray */
        for (int k = 0; k < 2; k++) row[side][k] = (d[k] - lean * n[k]) / r;
    }
    splat->u_u = row[0][0];
    splat->u_v = row[0][1];
    splat->v_u = row[1][0];
    splat->v_v = row[1][1];
    render_project_contour(disc, row, splat);
    const float slope = (view->perspective ? 1.0f : -1.0f) / (s * f);
    splat->g_u = n[0] * slope;
    splat->g_v = n[1] * slope;
    render_bound_splat(view, disc, view->perspective ? (float)(view->near_depth / c.z) : 0.0f, splat);
    return render_is_drawn(splat);
}

/* ---- from a seen point to its splat */

/* An upper bound of a splat's radius at a place, world units. */
MOTE_HD double render_radius_cap(const render_splat_rules *rules, double scale) {
    double cap = rules->max_radius > 0 ? rules->max_radius : INFINITY;
    const double pixels = rules->max_samples > 0 ? rules->max_samples / scale : INFINITY;
    return cap < pixels ? cap : pixels;
}

/* A normal that was given for a row, of unit length, in the camera's axes; false: it has none. */
MOTE_HD bool render_take_normal(const render_points *points, const render_splat_rules *rules, uint32_t row,
                                float to[3]) {
    const double n[3] = {points->normal[0][row], points->normal[1][row], points->normal[2][row]};
    const double length = sqrt((n[0] * n[0] + n[1] * n[1]) + n[2] * n[2]);
    if (!(length > 0 && length < 1e30)) return false;
    const float unit[3] = {(float)(n[0] / length), (float)(n[1] / length), (float)(n[2] / length)};
    render_turn(rules, unit, to);
    return true;
}

MOTE_HD void render_round_shape(float radius, render_shape *shape) {
    float across[3];
    render_axes_across(shape->normal, shape->along, across);
    shape->long_radius = shape->short_radius = radius;
}

/* The first radius, in samples, of the search for the neighbours of a seen point, and the largest distance squared. */
MOTE_HD float render_begin_search(const render_screen *screen, uint32_t k, uint32_t i, double *limit2) {
    const render_view *view = &screen->view;
    const render_seen *seen = &screen->seen;
    const uint32_t sample = seen->sample[i];
    const render_place at = render_to_camera(view, seen->at[0][i], seen->at[1][i], seen->at[2][i]);
    const float radius = render_radius_of(screen, sample % view->width, sample / view->width, k);
    const double reach = RENDER_REACH * radius / render_scale_at(view, at.z);
    *limit2 = reach * reach;
    return radius;
}

/* The shape of a seen point before its neighbours are known. Returns false if it needs none. */
MOTE_HD bool render_begin_shape(const render_screen *screen, const render_points *points,
                                const render_splat_rules *rules, uint32_t i, render_shape *shape) {
    memset(shape, 0, sizeof *shape);
    shape->others_radius = INFINITY;
    if (!rules->given) return true;
    const uint32_t row = render_row(points, screen->seen.place[i]);
    const float spacing = points->spacing != NULL ? points->spacing[row] : 0;
    const bool sized = spacing > 0 && spacing < INFINITY;
    if (!render_take_normal(points, rules, row, shape->normal)) {
        shape->dot = sized ? RENDER_LEAF * spacing : 0;
        return !sized;
    }
    if (sized) render_round_shape((float)((double)spacing * sqrt(rules->share / MOTE_PI)), shape);
    return !sized;
}

/* near: the neighbours that were found, from the nearest on, in iterations windows. */
MOTE_HD void render_end_shape(const render_screen *screen, const render_splat_rules *rules, uint32_t i,
                              const uint32_t *near, uint32_t count, uint32_t iterations, render_shape *shape) {
    const bool given = shape->normal[0] != 0 || shape->normal[1] != 0 || shape->normal[2] != 0;
    render_patch patch;
    render_plane_sums sums;
    render_plane plane;
    float others2;
    shape->iterations = iterations;
    if (!render_make_patch(screen, rules, i, near, count, &patch)) return;
    const double unit = sqrt(patch.unit2);
    const float radius = (float)render_disc_radius(rules->share, patch.unit2, count);
    render_sum_patch(&patch, (float)rules->share, &sums, &others2);
    shape->others_radius = others2 > 0 ? (float)(unit * sqrtf(others2)) : 0;
    if (count < RENDER_MIN_NEIGHBORS || rules->given) {
        if (!given) return;
        render_round_shape(radius, shape);
    } else {
        if (!render_fit_plane(&sums, (float)count, &plane) &&
            !render_fit_narrow_plane(screen, rules, i, near, count, &plane)) {
            return;
        }
        render_take_plane(&plane, &sums, &patch, radius, shape);
    }
    const render_place at =
        render_to_camera(&screen->view, screen->seen.at[0][i], screen->seen.at[1][i], screen->seen.at[2][i]);
    render_find_contour(&screen->view, at, &patch, shape->normal, given, (float)(shape->long_radius / unit),
                        &shape->contour);
}

/* The shape of a seen point in front. */
MOTE_HD void render_find_shape(const render_screen *screen, const render_points *points,
                               const render_splat_rules *rules, uint32_t i, render_shape *shape) {
    render_search search;
    uint32_t near[MOTE_RENDER_MAX_K];
    if (!render_begin_shape(screen, points, rules, i, shape)) return;
    const float radius = render_begin_search(screen, rules->k, i, &search.limit2);
    search.k = rules->k;
    search.count = search.looked_at = 0;
    const uint32_t iterations = render_find_near(screen, i, radius, &search);
    for (uint32_t j = 0; j < search.count; j++) near[j] = search.list[j].seen;
    render_end_shape(screen, rules, i, near, search.count, iterations, shape);
}

/* The ellipse of a shape, its sizes times by. disc->q is set. */
MOTE_HD void render_shape_disc(const render_view *view, const render_shape *shape, float by, float samples,
                               render_disc *disc) {
    const bool away = render_along_ray(view, shape->normal, disc->q) > 0;
    for (int k = 0; k < 3; k++) {
        disc->n[k] = away ? 0.0f - shape->normal[k] : shape->normal[k];
        disc->a[k] = shape->along[k];
    }
    disc->b[0] = disc->n[1] * disc->a[2] - disc->n[2] * disc->a[1];
    disc->b[1] = disc->n[2] * disc->a[0] - disc->n[0] * disc->a[2];
    disc->b[2] = disc->n[0] * disc->a[1] - disc->n[1] * disc->a[0];
    const float aspect = shape->short_radius / shape->long_radius;
    disc->long_samples = samples;
    disc->short_samples = samples * aspect;
    for (int side = 0; side < 2; side++) {
        const float *d = side == 0 ? disc->a : disc->b, *l = shape->contour.linear, *c = shape->contour.across;
        const float of = side == 0 ? by : by * aspect;
        disc->linear[side] = of * ((l[0] * d[0] + l[1] * d[1]) + l[2] * d[2]);
        disc->across[side] = of * ((c[0] * d[0] + c[1] * d[1]) + c[2] * d[2]);
    }
    disc->bend = shape->contour.bend;
}

/* Returns the way from the eye to a place over its depth, which is zero in parallel projection. */
MOTE_HD void render_direction_to(const render_view *view, render_place at, float q[3]) {
    q[0] = view->perspective ? (float)(at.x / at.z) : 0.0f;
    q[1] = view->perspective ? (float)(at.y / at.z) : 0.0f;
    q[2] = 1.0f;
}

/* The splat of seen point i, which is in front. A point far from all others has large distances to its neighbours, and
   they have small ones between them: it is no surface, and its splat stays small. */
MOTE_HD void render_make_splat(const render_screen *screen, const render_points *points,
                               const render_splat_rules *rules, const render_shape *shape, uint32_t i,
                               render_splat *splat) {
    const render_view *view = &screen->view;
    const render_seen *seen = &screen->seen;
    const uint32_t place = seen->place[i];
    render_place at = render_to_camera(view, seen->at[0][i], seen->at[1][i], seen->at[2][i]);
    const double scale = render_scale_at(view, at.z), cap = render_radius_cap(rules, scale);
    double radius = shape->long_radius;
    render_disc disc;
    radius = radius < RENDER_LONELY * shape->others_radius ? radius : RENDER_LONELY * shape->others_radius;
    radius = radius < cap ? radius : cap;
    splat->color = points->color[place];
    splat->place = place;
    splat->iterations = (uint16_t)shape->iterations;
    if (radius > 0) {
        at.x += shape->off * shape->normal[0];
        at.y += shape->off * shape->normal[1];
        at.z += shape->off * shape->normal[2];
        render_direction_to(view, at, disc.q);
        render_shape_disc(view, shape, (float)(radius / shape->long_radius),
                          (float)(radius * render_scale_at(view, at.z)), &disc);
    } else {
        const double dot = shape->dot < cap ? shape->dot : cap;
        radius = dot * scale > RENDER_DOT ? dot : RENDER_DOT / scale;
        render_direction_to(view, at, disc.q);
        render_face_camera(view, (float)(radius * scale), &disc);
    }
    splat->u = splat->v = 0; /* what is not projected shows its point wherever it is seen */
    splat->off_u = splat->off_v = splat->g_u = splat->g_v = splat->bend = 0;
    splat->l_u = splat->l_v = splat->a_u = splat->a_v = 0;
    splat->radius = (float)radius;
    splat->tolerance = (float)(rules->tolerance * radius * sqrt(MOTE_PI / rules->share));
    splat->depth = (float)at.z;
    for (int k = 0; k < 3; k++) splat->normal[k] = (int16_t)rintf(disc.n[k] * RENDER_NORMAL_ONE);
    if ((view->perspective && !(at.z > 0)) || !render_project_disc(view, &disc, at, splat)) render_no_splat(splat);
}

#endif
