/* Surfaces, naively: layers of points, neighbours, ellipses, weights. */
#include <stdlib.h>

#include "reference/render_reference_lens.h"

/* How the surface around a point bends: below its plane by (kt t² + 2 ktw t w + kw w²) / 2. */
typedef struct bend {
    bool known;
    double t[3], w[3];             /* camera's axes: on the plane, away from the camera and across */
    double kt, ktw, kw, cotangent; /* of the angle between ray and plane */
} bend;

/* An ellipse in the camera's axes. */
typedef struct disc {
    double c[3], n[3], a[3], b[3]; /* a and b by their lengths: (q·a)² + (q·b)² <= 1 */
    double tolerance, color[3];
    uint32_t index;
    bool hidden, unsure; /* behind the limit of its own pixel; nearly so */
    bend bend;
} disc;

/* The points that a picture of layers sees, and where. */
typedef struct sight {
    uint32_t *points, count;
    uint32_t *pixels;
    const render_reference_pixel *front;
} sight;

/* Radius of the disc of k points by the smallest square node around a pixel that has as many in front. */
static double radius_of(const sight *s, uint32_t width, uint32_t height, uint32_t pixel, uint32_t k) {
    const uint32_t narrow = ((width < height ? width : height) + 7) / 8;
    uint32_t side = 2, largest = 8;
    while (largest < 8 * narrow) largest *= 2;
    for (; side <= largest; side *= 2) {
        uint32_t found = 0;
        for (uint32_t p = 0; p < width * height; p++) {
            found += s->front[p].shown && p % width / side == pixel % width / side &&
                     p / width / side == pixel / width / side;
        }
        if (found >= k) return sqrt((double)side * side * k / (PI * found));
    }
    uint32_t all = 0;
    for (uint32_t p = 0; p < width * height; p++) all += s->front[p].shown;
    return sqrt((double)width * height * k / (PI * all));
}

/* Eigenvectors by Jacobi's rotations until nothing changes; values ascending. */
static void eigen(double m[3][3], double values[3], double vectors[3][3]) {
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) vectors[i][j] = i == j;
    }
    for (int sweep = 0; sweep < 60; sweep++) {
        for (int p = 0; p < 2; p++) {
            for (int q = p + 1; q < 3; q++) {
                const double angle = 0.5 * atan2(2 * m[p][q], m[q][q] - m[p][p]), c = cos(angle), s = sin(angle);
                for (int k = 0; k < 3; k++) {
                    const double kp = m[k][p], kq = m[k][q];
                    m[k][p] = c * kp - s * kq;
                    m[k][q] = s * kp + c * kq;
                }
                for (int k = 0; k < 3; k++) {
                    const double pk = m[p][k], qk = m[q][k], vp = vectors[p][k], vq = vectors[q][k];
                    m[p][k] = c * pk - s * qk;
                    m[q][k] = s * pk + c * qk;
                    vectors[p][k] = c * vp - s * vq;
                    vectors[q][k] = s * vp + c * vq;
                }
            }
        }
    }
    for (int i = 0; i < 3; i++) values[i] = m[i][i];
    for (int i = 0; i < 2; i++) {
        for (int j = 0; j < 2 - i; j++) {
            if (values[j] <= values[j + 1]) continue;
            const double kept = values[j];
            values[j] = values[j + 1];
            values[j + 1] = kept;
            for (int k = 0; k < 3; k++) {
                const double v = vectors[j][k];
                vectors[j][k] = vectors[j + 1][k];
                vectors[j + 1][k] = v;
            }
        }
    }
}

/* The neighbours' plane: normal, long axis and how much shorter the other is; false where they have none. */
static bool plane_of(const mote_cloud *cloud, const uint32_t *points, uint32_t count, double normal[3], double along[3],
                     double *ratio) {
    double mean[3] = {0, 0, 0}, m[3][3] = {{0}}, values[3], vectors[3][3], at[3];
    for (uint32_t i = 0; i < count; i++) {
        place_of(cloud, points[i], at);
        for (int k = 0; k < 3; k++) mean[k] += at[k] / count;
    }
    for (uint32_t i = 0; i < count; i++) {
        place_of(cloud, points[i], at);
        for (int r = 0; r < 3; r++) {
            for (int c = 0; c < 3; c++) m[r][c] += (at[r] - mean[r]) * (at[c] - mean[c]);
        }
    }
    eigen(m, values, vectors);
    if (!(values[1] > 0x1p-40 * values[2])) return false;
    memcpy(normal, vectors[0], sizeof vectors[0]);
    memcpy(along, vectors[2], sizeof vectors[2]);
    *ratio = sqrt(values[1] / values[2]);
    return true;
}

/* What the neighbours of seen point i say: a normal, a long axis, both radii; a radius by how far those but the point
   and the nearest other are apart. */
typedef struct shape {
    bool has_normal;
    double normal[3], along[3], off, long_radius, short_radius, others_radius;
    bend bend;
} shape;

/* How far from 0, over the size of its terms, the discriminant of where a ray meets the bent surface is, that meets the
   plane at q: below 0, it misses the surface. */
static double meets_bent(const bend *b, const double q[3]) {
    if (!b->known) return 1;
    const double x = dot(q, b->t), y = dot(q, b->w), c = b->cotangent;
    const double square = b->kt * c * c / 2, slope = (b->kt * x + b->ktw * y) * c - 1;
    const double below = (b->kt * x * x + 2 * b->ktw * x * y + b->kw * y * y) / 2;
    return (slope * slope - 4 * square * below) / (1 + slope * slope + fabs(4 * square * below));
}

/* Gauss and Jordan: five equations, the sixth column is the right side. */
static void solve5(double m[5][6]) {
    for (int r = 0; r < 5; r++) {
        for (int l = 5; l >= r; l--) m[r][l] /= m[r][r];
        for (int q = 0; q < 5; q++) {
            for (int l = 5; l >= r && q != r; l--) m[q][l] -= m[q][r] * m[r][l];
        }
    }
}

/* Slopes and bending by least squares over the neighbours; a little on the diagonal (0.001, in units of the farthest)
   keeps flat what few neighbours do not tell. */
static bend bend_of(const mote_cloud *cloud, const lens *l, const double at[3], const double normal[3],
                    const uint32_t *near, uint32_t count, double unit_length) {
    bend b = {false, {0, 0, 0}, {0, 0, 0}, 0, 0, 0, 0};
    const seen here = see(l, at);
    double ray[3] = {0, 0, 1}, n[3], m[5][6] = {{0}}, other[3], apart[3];
    if (l->perspective) memcpy(ray, here.at, sizeof ray);
    unit(ray);
    turn(l, normal, n);
    for (int k = 0, away = dot(n, ray) > 0; k < 3 && away; k++) n[k] = -n[k];
    const double facing = -dot(n, ray), flat = sqrt(1 - facing * facing);
    if (facing >= 0.9) return b;
    for (int k = 0; k < 3; k++) b.t[k] = (ray[k] + facing * n[k]) / flat;
    cross(n, b.t, b.w);
    for (uint32_t j = 0; j < count; j++) {
        place_of(cloud, near[j], other);
        for (int k = 0; k < 3; k++) other[k] = (other[k] - at[k]) / unit_length;
        turn(l, other, apart);
        const double x = dot(apart, b.t), y = dot(apart, b.w);
        const double f[6] = {x, y, x * x / 2, x * y, y * y / 2, -dot(apart, n)};
        for (int r = 0; r < 5; r++) {
            for (int q = 0; q < 6; q++) m[r][q] += f[r] * f[q];
        }
    }
    for (int r = 0; r < 5; r++) m[r][r] += 1e-3;
    solve5(m);
    b.known = true;
    b.kt = m[2][5] / unit_length;
    b.ktw = m[3][5] / unit_length;
    b.kw = m[4][5] / unit_length;
    const double up = facing - m[0][5] * flat;
    b.cotangent = flat / (fabs(up) > 1e-4 ? up : 1e-4);
    return b;
}

/* The radius of a disc with share points, if these fill one evenly: their variance is half its squared radius. */
static double radius_by_spread(const mote_cloud *cloud, const uint32_t *points, uint32_t count, double share) {
    double mean[3] = {0, 0, 0}, variance = 0, at[3];
    for (uint32_t i = 0; i < count; i++) {
        place_of(cloud, points[i], at);
        for (int k = 0; k < 3; k++) mean[k] += at[k] / count;
    }
    for (uint32_t i = 0; i < count; i++) {
        place_of(cloud, points[i], at);
        for (int k = 0; k < 3; k++) variance += (at[k] - mean[k]) * (at[k] - mean[k]) / count;
    }
    return sqrt(2 * variance * share / count);
}

static void find_shape(const mote_cloud *cloud, const lens *l, const mote_render_params *p, const sight *s, uint32_t i,
                       shape *out) {
    uint32_t near[MOTE_RENDER_MAX_K], count = 0;
    double near2[MOTE_RENDER_MAX_K], at[3], ratio = 1;
    const uint32_t found = render_reference_neighbors(cloud, s->points, s->count, i, p->k, near, near2);
    memset(out, 0, sizeof *out);
    place_of(cloud, s->points[i], at);
    const seen here = see(l, at);
    const double scale = l->perspective ? l->focal / here.at[2] : l->focal;
    const double reach = 64 * radius_of(s, p->width, p->height, s->pixels[i], p->k) / scale;
    while (count < found && near2[count] <= reach * reach) count++;
    if (count < 4 || !plane_of(cloud, near, count, out->normal, out->along, &ratio)) return;
    const double size = sqrt(near2[count - 1] * p->share / (count - 1));
    out->has_normal = true;
    out->others_radius = radius_by_spread(cloud, near + 2, count - 2, p->share);
    for (uint32_t j = 0; j < count; j++) {
        double other[3];
        place_of(cloud, near[j], other);
        for (int k = 0; k < 3; k++) out->off += (other[k] - at[k]) * out->normal[k] / count;
    }
    const double stretch = sqrt(sqrt(fmax(ratio, 0.5)));
    out->long_radius = size / stretch;
    out->short_radius = size * stretch;
    out->bend = bend_of(cloud, l, at, out->normal, near, count, sqrt(near2[count - 1]));
}

/* The ellipse of seen point i. */
static void make_disc(const mote_cloud *cloud, const lens *l, const mote_render_params *p, const sight *s,
                      const shape *sh, uint32_t i, disc *out) {
    double at[3];
    place_of(cloud, s->points[i], at);
    seen here = see(l, at);
    const double dot_radius = 0.9 / (l->perspective ? l->focal / here.at[2] : l->focal);
    const double radius = fmin(sh->long_radius, 3 * sh->others_radius);
    const double ray[3] = {0, 0, 1}, x[3] = {1, 0, 0};
    double long_radius = dot_radius, short_radius = dot_radius;
    out->index = s->points[i];
    color_of(cloud, out->index, out->color);
    if (radius > 0) {
        for (int k = 0; k < 3; k++) at[k] += sh->off * sh->normal[k];
        here = see(l, at);
        turn(l, sh->normal, out->n);
        turn(l, sh->along, out->a);
        long_radius = radius;
        short_radius = radius * sh->short_radius / sh->long_radius;
        out->bend = sh->bend;
    } else {
        memcpy(out->n, l->perspective ? here.at : ray, sizeof out->n);
        unit(out->n);
        cross(out->n, x, out->a);
        unit(out->a);
    }
    memcpy(out->c, here.at, sizeof out->c);
    if (dot(out->n, l->perspective ? out->c : ray) > 0) {
        for (int k = 0; k < 3; k++) out->n[k] = -out->n[k];
    }
    out->tolerance = p->tolerance * long_radius * sqrt(PI / p->share);
    cross(out->n, out->a, out->b);
    for (int k = 0; k < 3; k++) {
        out->a[k] /= long_radius;
        out->b[k] /= short_radius;
    }
}

/* Where the ray through a pixel's middle meets a disc's plane, from its middle. Returns the depth. */
static double meet_plane(const lens *l, const disc *d, uint32_t pixel, double q[3]) {
    const uint32_t column = pixel % (uint32_t)l->width, row = pixel / (uint32_t)l->width;
    const double x = (column + 0.5 - l->width / 2) / l->focal, y = (row + 0.5 - l->height / 2) / l->focal;
    const double from[3] = {l->perspective ? 0 : x, l->perspective ? 0 : y, 0};
    const double ray[3] = {l->perspective ? x : 0, l->perspective ? y : 0, 1};
    const double t = (dot(d->n, d->c) - dot(d->n, from)) / dot(d->n, ray);
    for (int k = 0; k < 3; k++) q[k] = from[k] + t * ray[k] - d->c[k];
    return t;
}

/* Whether a disc is seen in a pixel's middle.
   edge  made less where that is nearly decided otherwise */
static bool meet(const lens *l, const disc *d, uint32_t pixel, double *depth, double *r2, double *edge) {
    double q[3];
    *depth = meet_plane(l, d, pixel, q);
    *r2 = dot(q, d->a) * dot(q, d->a) + dot(q, d->b) * dot(q, d->b);
    const double met = meets_bent(&d->bend, q);
    if (met >= 0) *edge = fmin(*edge, fabs(*r2 - 0.85));
    if (*r2 <= 0.86) *edge = fmin(*edge, 50 * fabs(met));
    return *r2 <= 1 - 0.15 && met >= 0 && *depth >= l->near_depth;
}

/* What no splat covers shows the point that is in it, if there is one. */
static void show_own(const lens *l, const disc *discs, uint32_t count, uint32_t pixel,
                     const render_reference_pixel *front, render_reference_pixel *out) {
    for (uint32_t i = 0; i < count && front->shown; i++) {
        const double *n = discs[i].n;
        double q[3];
        if (discs[i].index != front->index) continue;
        meet_plane(l, &discs[i], pixel, q);
        const double met = meets_bent(&discs[i].bend, q);
        out->edge = fmin(out->edge, 50 * fabs(met));
        if (met < 0) continue;
        out->shown = true;
        out->depth = discs[i].c[2];
        out->index = discs[i].index;
        out->rounding = 0;
        memcpy(out->color, discs[i].color, sizeof out->color);
        for (int k = 0; k < 3; k++) out->normal[k] = n[0] * l->right[k] + n[1] * l->down[k] + n[2] * l->forward[k];
    }
}

static uint32_t points_around(const lens *l, const render_reference_pixel *front, uint32_t pixel) {
    const int width = (int)l->width, height = (int)l->height;
    uint32_t count = 0;
    for (int n = 0; n < 9; n++) {
        const int x = (int)pixel % width + n % 3 - 1, y = (int)pixel / width + n / 3 - 1;
        if (n != 4 && x >= 0 && y >= 0 && x < width && y < height) count += front[y * width + x].shown;
    }
    return count;
}

/* Discs whose point is behind the limit of its own pixel, by more than its tolerance, are not drawn. */
static void hide_discs(const lens *l, disc *discs, uint32_t count, const uint32_t *pixels) {
    for (uint32_t i = 0; i < count; i++) {
        double limit = INFINITY, t, r2;
        for (uint32_t j = 0; j < count; j++) {
            double edge = 1;
            if (meet(l, &discs[j], pixels[i], &t, &r2, &edge)) limit = fmin(limit, t + discs[j].tolerance);
            if (edge < 1e-3) discs[i].unsure = true;
        }
        const double nearest = discs[i].c[2] - discs[i].tolerance;
        discs[i].hidden = nearest > limit;
        if (fabs(nearest - limit) < 1e-3 * discs[i].tolerance) discs[i].unsure = true;
    }
}

/* front: the nearest points of all pixels. */
static void show_surface(const lens *l, const disc *discs, uint32_t count, uint32_t pixel,
                         const render_reference_pixel *front, render_reference_pixel *out) {
    double limit = INFINITY, sum = 0, normal[3] = {0, 0, 0}, color[3] = {0, 0, 0}, depth = 0, best = 0, t, r2;
    clear(out);
    for (uint32_t i = 0; i < count; i++) {
        double edge = 1;
        const bool met = meet(l, &discs[i], pixel, &t, &r2, &edge);
        if (met && discs[i].unsure) out->edge = 0;
        if (discs[i].hidden) continue;
        if (met) limit = fmin(limit, t + discs[i].tolerance);
        out->edge = fmin(out->edge, edge);
    }
    for (uint32_t i = 0; i < count; i++) {
        double edge = 1;
        if (discs[i].hidden || !meet(l, &discs[i], pixel, &t, &r2, &edge)) continue;
        out->edge = fmin(out->edge, fabs(t - limit) / discs[i].tolerance);
        if (t > limit) continue;
        const double weight = pow(1 - r2, 4);
        sum += weight;
        depth += weight * t;
        out->fragments++;
        for (int k = 0; k < 3; k++) {
            normal[k] += weight * discs[i].n[k];
            color[k] += weight * discs[i].color[k];
        }
        if (weight > best) best = weight, out->index = discs[i].index;
    }
    out->rounding = out->fragments > 0 ? out->fragments / (sum * 1022) : 0;
    if (out->fragments == 0) {
        if (points_around(l, front, pixel) >= 5) show_own(l, discs, count, pixel, &front[pixel], out);
        return;
    }
    out->shown = true;
    out->depth = depth / sum;
    for (int k = 0; k < 3; k++) out->color[k] = color[k] / sum;
    unit(normal);
    for (int k = 0; k < 3; k++) {
        out->normal[k] = normal[0] * l->right[k] + normal[1] * l->down[k] + normal[2] * l->forward[k];
    }
}

void render_reference_surface(const mote_cloud *cloud, const mote_camera *camera, const mote_render_params *params,
                              render_reference_pixel *out) {
    const uint32_t pixels = params->width * params->height;
    const lens l = lens_of(camera, params->width, params->height);
    render_reference_pixel *layer = calloc(pixels, sizeof *layer), *front = calloc(pixels, sizeof *front);
    sight s = {calloc((size_t)pixels * params->layers, sizeof(uint32_t)), 0,
               calloc((size_t)pixels * params->layers, sizeof(uint32_t)), front};
    uint32_t drawn = 0; /* of the layer in front; the others are only neighbours */
    for (uint32_t n = 0; n < params->layers; n++) {
        for (uint32_t p = 0; p < pixels; p++) {
            if (n > 0 && !layer[p].shown) continue;
            const float beyond = n == 0 ? -INFINITY : (float)layer[p].depth;
            nearest_of_pixel(cloud, &l, p % params->width, p / params->width, beyond, &layer[p]);
            if (n == 0) front[p] = layer[p];
            if (!layer[p].shown) continue;
            s.pixels[s.count] = p;
            s.points[s.count++] = layer[p].index;
        }
        if (n == 0) drawn = s.count;
    }
    disc *discs = calloc(drawn + 1, sizeof *discs);
    for (uint32_t i = 0; i < drawn; i++) {
        shape of;
        find_shape(cloud, &l, params, &s, i, &of);
        make_disc(cloud, &l, params, &s, &of, i, &discs[i]);
    }
    hide_discs(&l, discs, drawn, s.pixels);
    for (uint32_t p = 0; p < pixels; p++) show_surface(&l, discs, drawn, p, front, &out[p]);
    free(discs);
    free(s.points);
    free(s.pixels);
    free(layer);
    free(front);
}
