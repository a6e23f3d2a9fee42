/* Scenes: surfaces that points are spread over evenly, or as a scanner does, and points anywhere. */
#include "reference/planes_scenes.h"

#include <stdlib.h>
#include <string.h>

#include "reference/knn_reference.h"
#include "reference/planes_scenes_builder.h"
#include "support/support.h"

#define SEEDS_APART 17   /* kinds there were when the tables were begun: their scenes stay as they are */
#define SUPPORT     200u /* a true plane counts if it has one of so many points; of a tile, so many points */

void *planes_scene_array(uint64_t count, size_t size) {
    void *array = calloc(count + 1, size);
    assert_non_null(array);
    return array;
}

/* ---- points */

static double length_of(const double v[3]) { return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]); }

static double area_of(const surface *s) {
    double n[3], area;
    for (int k = 0; k < 3; k++) n[k] = s->u[(k + 1) % 3] * s->v[(k + 2) % 3] - s->u[(k + 2) % 3] * s->v[(k + 1) % 3];
    switch (s->shape) {
    case SPHERE: return 4 * PI * s->radius * s->radius;
    case CYLINDER: return PI * (1 + s->taper) * s->radius * length_of(s->u);
    case BLOB: return 0;
    case TORUS: return 4 * PI * PI * s->radius * s->radius * s->taper;
    case SADDLE: return 4 * s->radius * s->radius;
    case WAVES:
    case BULGE: return length_of(s->u) * length_of(s->v);
    default: break;
    }
    area = length_of(n) * 0.5 * (1 + s->taper);
    for (int h = 0; h < s->holes; h++) {
        area -= length_of(n) * (s->hole[h][1] - s->hole[h][0]) * (s->hole[h][3] - s->hole[h][2]);
    }
    return area;
}

static double gauss(builder *b) {
    const double size = sqrt(-2 * log(1 - draw(b)));
    return size * cos(2 * PI * draw(b));
}

static void sphere_point(builder *b, double at[3]) {
    const double z = draw_between(b, -1, 1), phi = draw_between(b, 0, 2 * PI);
    at[0] = sqrt(1 - z * z) * cos(phi), at[1] = sqrt(1 - z * z) * sin(phi), at[2] = z;
}

static bool in_hole(const surface *s, double x, double y) {
    for (int h = 0; h < s->holes; h++) {
        if (x > s->hole[h][0] && x < s->hole[h][1] && y > s->hole[h][2] && y < s->hole[h][3]) return true;
    }
    return false;
}

static void flat_point(builder *b, const surface *s, double noise, double at[3]) {
    double n[3], x, y;
    do { x = draw(b), y = draw(b); } while (fabs(x - 0.5) > 0.5 * (1 - y * (1 - s->taper)) || in_hole(s, x, y));
    for (int k = 0; k < 3; k++) n[k] = s->u[(k + 1) % 3] * s->v[(k + 2) % 3] - s->u[(k + 2) % 3] * s->v[(k + 1) % 3];
    const double sag = s->sag > 0 ? s->sag * sin(PI * s->waves * x) * sin(PI * s->waves * y) : 0;
    const double off = (sag + noise * gauss(b)) / length_of(n);
    for (int k = 0; k < 3; k++) at[k] = s->corner[k] + x * s->u[k] + y * s->v[k] + off * n[k];
}

/* Evenly over the angles of a torus, or over the ground of a saddle. */
static void curved_point(builder *b, const surface *s, double noise, double at[3]) {
    const double x = draw_between(b, -1, 1), y = draw_between(b, -1, 1), off = noise * gauss(b);
    if (s->shape == TORUS) {
        const double tube = s->taper * s->radius + off, ring = s->radius + tube * cos(PI * y);
        at[0] = s->corner[0] + ring * cos(PI * x), at[1] = s->corner[1] + ring * sin(PI * x);
        at[2] = s->corner[2] + tube * sin(PI * y);
    } else {
        at[0] = s->corner[0] + s->radius * x, at[1] = s->corner[1] + s->radius * y;
        at[2] = s->corner[2] + s->radius * s->taper * (x * x - y * y) + off;
    }
}

/* How high waves or a bulge are, in its radius. */
static double height_of(const surface *s, double x, double y) {
    if (s->shape == WAVES) return sin(2 * PI * s->taper * x) + (s->across ? sin(2 * PI * s->taper * y) : 0);
    const double along = 1 - pow(fabs(2 * x - 1), s->taper), other = 1 - pow(fabs(2 * y - 1), s->taper);
    return s->across ? along * other : along;
}

/* Waves or a bulge over u and v: evenly over these, the noise along what is across both. */
static void wave_point(builder *b, const surface *s, double noise, double at[3]) {
    const double x = draw(b), y = draw(b), area = length_of(s->u) * length_of(s->v);
    const double off = (s->radius * height_of(s, x, y) + noise * gauss(b)) / area;
    for (int k = 0; k < 3; k++) {
        const double n = s->u[(k + 1) % 3] * s->v[(k + 2) % 3] - s->u[(k + 2) % 3] * s->v[(k + 1) % 3];
        at[k] = s->corner[k] + x * s->u[k] + y * s->v[k] + off * n;
    }
}

static void surface_point(builder *b, const surface *s, double noise, double at[3]) {
    double direction[3];
    if (s->shape == FLAT) {
        flat_point(b, s, noise, at);
    } else if (s->shape == SPHERE || s->shape == BLOB) {
        sphere_point(b, direction);
        const double r = s->shape == SPHERE ? s->radius + noise * gauss(b) : s->radius * cbrt(draw(b));
        for (int k = 0; k < 3; k++) at[k] = s->corner[k] + r * direction[k];
    } else if (s->shape == CYLINDER) {
        const double phi = draw_between(b, 0, 2 * PI), off = noise * gauss(b), h = draw(b);
        const double r = s->radius * (1 - h * (1 - s->taper)) + off;
        at[0] = s->corner[0] + r * cos(phi) + h * s->u[0];
        at[1] = s->corner[1] + r * sin(phi) + h * s->u[1];
        at[2] = s->corner[2] + h * s->u[2];
    } else if (s->shape == WAVES || s->shape == BULGE) {
        wave_point(b, s, noise, at);
    } else if (s->shape == TORUS || s->shape == SADDLE) {
        curved_point(b, s, noise, at);
    } else {
        at[0] = draw(b) * s->u[0], at[1] = draw(b) * s->v[1];
        at[2] = hill(at[0], at[1]) + noise * gauss(b);
    }
}

/* The nearer the scanner, the denser: 1 within a fifth of the scene's size. */
static double seen(const builder *b, const double at[3], double size) {
    double square = 0;
    for (int k = 0; k < 3; k++) square += (at[k] - b->scanner[k]) * (at[k] - b->scanner[k]);
    return fmin(1, 0.04 * size * size / square);
}

static void bounds_of(builder *b, double low[3], double high[3]) {
    for (int k = 0; k < 3; k++) low[k] = INFINITY, high[k] = -INFINITY;
    for (uint32_t i = 0; i < b->count; i++) {
        for (int turn = 0; turn < 60; turn++) {
            double at[3];
            surface_point(b, &b->surfaces[i], 0, at);
            for (int k = 0; k < 3; k++) low[k] = fmin(low[k], at[k]), high[k] = fmax(high[k], at[k]);
        }
    }
    for (int k = 0; k < 3; k++) {
        const double margin = 0.05 * (high[k] - low[k]) + 0.02;
        low[k] -= margin, high[k] += margin;
    }
}

/* Which surface a point is of: by area, or by the share that it was given. */
static void make_shares(const builder *b, double cumulative[PLANES_SCENES_MAX]) {
    double area = 0, given = 0, sum = 0;
    for (uint32_t i = 0; i < b->count; i++) {
        given += b->surfaces[i].share;
        if (b->surfaces[i].share == 0) area += area_of(&b->surfaces[i]);
    }
    for (uint32_t i = 0; i < b->count; i++) {
        const surface *s = &b->surfaces[i];
        sum += s->share > 0 ? s->share : (1 - given) * area_of(s) / area;
        cumulative[i] = sum;
    }
}

/* The first surface whose end is above a place. */
static uint32_t surface_at(const double *cumulative, uint32_t count, double place) {
    uint32_t low = 0, high = count - 1;
    while (low < high) {
        const uint32_t middle = (low + high) / 2;
        if (cumulative[middle] <= place) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* Whether a point is not seen, by chance: outside the strips that overlap, or far from the scanner. A ray is seen. */
static bool is_skipped(builder *b, const planes_scene_params *p, const double at[3], const double low[3],
                       const double high[3], double size) {
    if (b->strips) return fmod(3 * (at[0] - low[0]) / (high[0] - low[0]) + 3, 1) > 0.33 && draw(b) > 0.33;
    return p->scanned && !b->rays && draw(b) > seen(b, at, size);
}

/* Rounds to multiples of the scene's steps, where it has some. */
static void in_steps(const builder *b, double at[3]) {
    for (int k = 0; k < 3; k++) at[k] = b->step[k] > 0 ? b->step[k] * rint(at[k] / b->step[k]) : at[k];
}

/* Moves a point with its stripe, if the scene has some: each by something else. */
static void in_stripes(const builder *b, double at[3]) {
    if (!(b->stripe > 0)) return;
    const uint64_t stripe = 4 * (uint64_t)(1000 + floor((at[0] + 0.7 * at[1] + 0.3 * at[2]) / b->stripe));
    for (uint64_t k = 0; k < 3; k++) {
        const double even =
            test_random(b->seed * 2, stripe + k) + test_random(b->seed * 2, stripe + k + (1u << 20)) - 1;
        at[k] += sqrt(6) * even * b->stripe_noises * b->noise;
    }
}

/* Fills positions; labels: the surface, or -1. */
static void fill(builder *b, const planes_scene_params *p, double *positions, int32_t *labels) {
    double low[3], high[3], cumulative[PLANES_SCENES_MAX], size = 0;
    bounds_of(b, low, high);
    for (int k = 0; k < 3; k++) size = fmax(size, high[k] - low[k]);
    make_shares(b, cumulative);
    for (uint64_t i = 0; i < p->points; i++) {
        double *at = positions + 3 * i;
        labels[i] = -1;
        if (draw(b) < p->outliers) {
            for (int k = 0; k < 3; k++) at[k] = draw_between(b, low[k], high[k]);
            in_steps(b, at);
            continue;
        }
        do {
            uint32_t s;
            if (b->rays) {
                s = planes_scene_ray_point(b, i, p->noise_m, at);
            } else {
                s = surface_at(cumulative, b->count, draw(b) * cumulative[b->count - 1]);
                surface_point(b, &b->surfaces[s], p->noise_m, at);
                in_stripes(b, at);
            }
            labels[i] = b->surfaces[s].shape == FLAT ? (int32_t)s : -1;
            in_steps(b, at);
        } while (is_skipped(b, p, at, low, high, size));
    }
}

/* ---- the scene */

static void place(const planes_scene_params *p, const double axes[3][3], const double at[3], double placed[3]) {
    static const double far_away[3] = {500123.25, 5312345.5, 98.75};
    for (int k = 0; k < 3; k++) {
        placed[k] = p->turned ? axes[0][k] * at[0] + axes[1][k] * at[1] + axes[2][k] * at[2] : at[k];
        if (p->far_away) placed[k] += far_away[k];
    }
}

/* True planes, of the flat surfaces; labels change from surfaces to planes. */
static void list_planes(const builder *b, const planes_scene_params *p, const double axes[3][3], planes_scene *scene) {
    static const double nowhere[3] = {0, 0, 0};
    int32_t number[PLANES_SCENES_MAX];
    for (uint32_t i = 0; i < b->count; i++) {
        const surface *s = &b->surfaces[i];
        number[i] = s->sheet ? number[i - 1] : -1;
        if (s->shape != FLAT || s->sheet) continue;
        planes_scene_plane *plane = &scene->planes[scene->count];
        double n[3], middle[3], placed_origin[3], placed_normal[3];
        for (int k = 0; k < 3; k++)
            n[k] = s->u[(k + 1) % 3] * s->v[(k + 2) % 3] - s->u[(k + 2) % 3] * s->v[(k + 1) % 3];
        const double length = length_of(n);
        for (int k = 0; k < 3; k++) n[k] /= length, middle[k] = s->corner[k] + 0.5 * s->u[k] + 0.5 * s->v[k];
        place(p, axes, nowhere, placed_origin);
        place(p, axes, n, placed_normal);
        place(p, axes, middle, plane->middle);
        for (int k = 0; k < 3; k++) plane->normal[k] = placed_normal[k] - placed_origin[k];
        plane->points = 0;
        number[i] = (int32_t)scene->count++;
    }
    for (uint64_t i = 0; i < scene->points; i++) {
        if (scene->labels[i] >= 0) scene->labels[i] = number[scene->labels[i]];
        if (scene->labels[i] >= 0) scene->planes[scene->labels[i]].points++;
    }
}

static mote_cloud *cloud_of(mote_context *ctx, const planes_scene_params *p, const double *positions) {
    if (!p->far_away) return knn_reference_cloud(ctx, MOTE_FLOAT32, 1, 0, positions, p->points);
    mote_cloud *cloud = NULL;
    const mote_column_spec specs[3] = {
        {"x", MOTE_INT32, 0.001, 0}, {"y", MOTE_INT32, 0.001, 5000000}, {"z", MOTE_INT32, 0.001, 0}};
    assert_int_equal(mote_cloud_create(ctx, p->points, specs, 3, &cloud), MOTE_OK);
    for (uint64_t i = 0; i < 3 * p->points; i++) {
        const mote_column_spec *spec = &specs[i % 3];
        const int32_t value = (int32_t)rint((positions[i] - spec->offset) / spec->scale);
        const uint64_t stride = mote_cloud_find(cloud, spec->name)->stride_bytes;
        memcpy((uint8_t *)mote_cloud_column_data(cloud, spec->name) + i / 3 * stride, &value, sizeof value);
    }
    return cloud;
}

void planes_scene_make(mote_context *ctx, const planes_scene_params *params, double *positions, planes_scene *scene) {
    builder *b = calloc(1, sizeof *b);
    double u[3], v[3], n[3];
    double *at = planes_scene_array(3 * params->points, sizeof *at);
    memset(scene, 0, sizeof *scene);
    assert_non_null(b);
    b->seed = params->seed * SEEDS_APART + (uint64_t)params->kind;
    b->points = params->points;
    b->noise = params->noise_m;
    scene->points = params->points;
    scene->support = (params->points + SUPPORT - 1) / SUPPORT;
    if (params->kind == PLANES_SCENE_TILE && scene->support > SUPPORT) scene->support = SUPPORT;
    scene->labels = planes_scene_array(params->points, sizeof *scene->labels);
    if (params->kind == PLANES_SCENE_NOTHING) b->seed = params->seed;
    planes_scene_build(b, params->kind);
    planes_scene_params placed_params = *params;
    placed_params.turned = params->turned && b->step[0] <= 0;
    placed_params.far_away = params->far_away && b->step[2] >= b->step[0]; /* or steps are no whole millimetres */
    params = &placed_params;
    fill(b, params, at, scene->labels);
    planes_scene_axes(b, u, v, n);
    const double axes[3][3] = {{u[0], u[1], u[2]}, {v[0], v[1], v[2]}, {n[0], n[1], n[2]}};
    for (uint64_t i = 0; i < params->points; i++) {
        double placed[3];
        place(params, axes, at + 3 * i, placed);
        memcpy(at + 3 * i, placed, sizeof placed);
    }
    list_planes(b, params, axes, scene);
    if (ctx != NULL) scene->cloud = cloud_of(ctx, params, at);
    if (positions != NULL) memcpy(positions, at, 3 * params->points * sizeof *at);
    free(at);
    free(b);
}

void planes_scene_free(planes_scene *scene) {
    mote_cloud_destroy(scene->cloud);
    free(scene->labels);
    memset(scene, 0, sizeof *scene);
}
