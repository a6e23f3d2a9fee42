/* From the nearest point of a sample to what the sample shows: one copy for C and CUDA. */
#ifndef MOTE_RENDER_POINTS_MATH_H
#define MOTE_RENDER_POINTS_MATH_H

#include <math.h>

#include "render/renderer.h"
#include "render/shade/render_samples.h"

/* The normal given for a point, in the camera's axes, towards the camera; zeros: it has none.
   x, y, z  the point */
MOTE_HD void render_given_normal(const render_view *view, const float *const normal[3], uint32_t row, double x,
                                 double y, double z, double to[3]) {
    const double nx = normal[0][row], ny = normal[1][row], nz = normal[2][row];
    const double length = sqrt((nx * nx + ny * ny) + nz * nz);
    to[0] = to[1] = to[2] = 0;
    if (!(length > 0 && length <= 1e300)) return;
    to[0] = ((nx * view->right[0] + ny * view->right[1]) + nz * view->right[2]) / length;
    to[1] = ((nx * view->down[0] + ny * view->down[1]) + nz * view->down[2]) / length;
    to[2] = ((nx * view->forward[0] + ny * view->forward[1]) + nz * view->forward[2]) / length;
    const render_place place = render_to_camera(view, x, y, z);
    const double away = view->perspective ? (to[0] * place.x + to[1] * place.y) + to[2] * place.z : to[2];
    for (int k = 0; k < 3 && away > 0; k++) to[k] = 0.0 - to[k];
}

/* What sample i shows where points are discs: the least key of all whose disc covers its middle. */
MOTE_HD uint64_t render_key_around(const render_view *view, const uint64_t *keys, double radius, uint64_t i) {
    const int64_t u = (int64_t)(i % view->width), v = (int64_t)(i / view->width), reach = (int64_t)radius;
    uint64_t least = keys[i];
    for (int64_t y = v - reach; y <= v + reach; y++) {
        if (y < 0 || y >= (int64_t)view->height) continue;
        for (int64_t x = u - reach; x <= u + reach; x++) {
            const double away2 = (double)((x - u) * (x - u) + (y - v) * (y - v));
            if (x < 0 || x >= (int64_t)view->width || away2 > radius * radius) continue;
            const uint64_t key = keys[(uint64_t)y * view->width + (uint64_t)x];
            least = key < least ? key : least;
        }
    }
    return least;
}

/* Sample i shows the point of a key, or nothing. */
MOTE_HD void render_show_point(const render_view *view, const render_points *points, uint64_t key, bool normals,
                               const render_samples *to, uint64_t i) {
    const uint32_t place = (uint32_t)key;
    const bool empty = key == RENDER_NO_KEY;
    const bool asks = !empty && (to->index != NULL || normals);
    const uint32_t color = empty ? 0 : points->color[place];
    const uint32_t row = asks ? render_row(points, place) : MOTE_RENDER_NO_POINT;
    to->depth[i] = empty ? INFINITY : render_float_of_ordered(render_key_depth(key));
    if (to->index != NULL) to->index[i] = row;
    for (int c = 0; c < 4; c++) to->color[4 * i + c] = (uint16_t)((color >> 8 * c & 255u) * 257u);
    if (!normals) return;
    double normal[3] = {0, 0, 0};
    if (!empty && points->normal[0] != NULL) {
        render_given_normal(view, (const float *const *)points->normal, row, render_at(points, 0, place),
                            render_at(points, 1, place), render_at(points, 2, place), normal);
    }
    for (int k = 0; k < 3; k++) to->normal[3 * i + k] = (float)normal[k];
}

/* ---- averages */

/* Sums over the points that a sample averages, whose channels have 8 bits each. */
typedef struct render_color_sums {
    uint64_t color[3], count;
} render_color_sums;

/* How deep the surface of a sample's nearest point reaches, as an ordered integer: tolerance times the spacing of its
   points, or the width of a sample where that is more. */
MOTE_HD uint32_t render_average_limit(const render_view *view, const render_points *points, uint64_t key,
                                      double tolerance) {
    if (key == RENDER_NO_KEY) return 0;
    const double depth = render_float_of_ordered(render_key_depth(key));
    const double spacing = points->batches[(uint32_t)key / RENDER_BATCH].spacing;
    const double width = 1 / render_scale_at(view, depth);
    return render_ordered_float((float)(depth + tolerance * (spacing > width ? spacing : width)));
}

/* The mean, 16 bits. */
MOTE_HD void render_show_average(const render_color_sums *sums, uint16_t *color) {
    if (sums->count == 0) return;
    for (int c = 0; c < 3; c++) {
        const uint64_t sum = sums->color[c] * 257 + sums->count / 2;
        color[c] = (uint16_t)(sum <= UINT32_MAX ? (uint32_t)sum / (uint32_t)sums->count : sum / sums->count);
    }
}

#endif
