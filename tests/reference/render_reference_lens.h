/* What the naive pictures share: a camera as a lens, points of a cloud, and the nearest of a pixel. */
#ifndef MOTE_RENDER_REFERENCE_LENS_H
#define MOTE_RENDER_REFERENCE_LENS_H

#include <math.h>
#include <string.h>

#include "reference/render_reference.h"

#define PI 3.14159265358979323846

/* ---- vectors */

static inline double dot(const double a[3], const double b[3]) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

static inline void cross(const double a[3], const double b[3], double out[3]) {
    for (int k = 0; k < 3; k++) out[k] = a[(k + 1) % 3] * b[(k + 2) % 3] - a[(k + 2) % 3] * b[(k + 1) % 3];
}

static inline void unit(double v[3]) {
    const double length = sqrt(dot(v, v));
    for (int k = 0; k < 3; k++) v[k] /= length;
}

/* ---- cameras */

typedef struct lens {
    double eye[3], right[3], down[3], forward[3], focal, width, height, near_depth, far_depth;
    bool perspective;
} lens;

static inline lens lens_of(const mote_camera *camera, uint32_t width, uint32_t height) {
    lens l;
    memset(&l, 0, sizeof l);
    for (int k = 0; k < 3; k++) {
        l.eye[k] = camera->eye[k];
        l.forward[k] = camera->target[k] - camera->eye[k];
    }
    const double distance = sqrt(dot(l.forward, l.forward));
    unit(l.forward);
    cross(l.forward, camera->up, l.right);
    unit(l.right);
    cross(l.forward, l.right, l.down);
    l.perspective = camera->projection == MOTE_PERSPECTIVE;
    l.focal = l.perspective ? height / (2 * tan(camera->angle_rad / 2)) : height / camera->height;
    l.width = width;
    l.height = height;
    l.near_depth = camera->near_depth > 0 ? camera->near_depth : l.perspective ? distance / 1048576 : -INFINITY;
    l.far_depth = camera->far_depth > 0 ? camera->far_depth : INFINITY;
    return l;
}

/* A place in the camera's axes, and in the picture. */
typedef struct seen {
    double at[3], u, v;
    bool inside;
} seen;

static inline seen see(const lens *l, const double place[3]) {
    seen s;
    double d[3];
    for (int k = 0; k < 3; k++) d[k] = place[k] - l->eye[k];
    s.at[0] = dot(d, l->right);
    s.at[1] = dot(d, l->down);
    s.at[2] = dot(d, l->forward);
    const double scale = l->perspective ? l->focal / s.at[2] : l->focal;
    s.u = l->width / 2 + s.at[0] * scale;
    s.v = l->height / 2 + s.at[1] * scale;
    s.inside = s.at[2] >= l->near_depth && s.at[2] <= l->far_depth && s.u >= 0 && s.u < l->width && s.v >= 0 &&
               s.v < l->height;
    return s;
}

static inline double to_edge(const seen *s) {
    const double u = s->u - floor(s->u), v = s->v - floor(s->v);
    return fmin(fmin(u, 1 - u), fmin(v, 1 - v));
}

static inline void turn(const lens *l, const double v[3], double out[3]) {
    out[0] = dot(v, l->right);
    out[1] = dot(v, l->down);
    out[2] = dot(v, l->forward);
}

/* ---- points */

static inline double value_of(const mote_cloud *cloud, const char *name, uint64_t i) {
    return mote_column_value(mote_cloud_find(cloud, name), i);
}

static inline void place_of(const mote_cloud *cloud, uint64_t i, double at[3]) {
    at[0] = value_of(cloud, "x", i);
    at[1] = value_of(cloud, "y", i);
    at[2] = value_of(cloud, "z", i);
}

/* Clouds of the tests have 8-bit colours, or none. */
static inline void color_of(const mote_cloud *cloud, uint64_t i, double color[3]) {
    static const char *const names[3] = {"red", "green", "blue"};
    for (int c = 0; c < 3; c++) color[c] = mote_cloud_find(cloud, "red") != NULL ? value_of(cloud, names[c], i) : 210;
}

static inline void clear(render_reference_pixel *pixel) {
    memset(pixel, 0, sizeof *pixel);
    pixel->index = MOTE_RENDER_NO_POINT;
    pixel->depth = INFINITY;
    pixel->to_edge = pixel->edge = 1;
}

/* beyond: only points whose depth, as a float, is above this. */
static inline void nearest_of_pixel(const mote_cloud *cloud, const lens *l, uint32_t x, uint32_t y, float beyond,
                                    render_reference_pixel *out) {
    clear(out);
    for (uint32_t i = 0; i < mote_cloud_count(cloud); i++) {
        double at[3];
        place_of(cloud, i, at);
        const seen s = see(l, at);
        if (!s.inside || (uint32_t)s.u != x || (uint32_t)s.v != y || !((float)s.at[2] > beyond)) continue;
        if (out->shown && (float)s.at[2] >= (float)out->depth) continue;
        out->shown = true;
        out->depth = s.at[2];
        out->index = i;
        out->to_edge = to_edge(&s);
    }
    if (out->shown) color_of(cloud, out->index, out->color);
}

#endif
