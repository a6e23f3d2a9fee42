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

/* Sample i shows the point of a key, or nothing. */
MOTE_HD void render_show_point(const render_view *view, const render_points *points, uint64_t key, bool normals,
                               const render_samples *to, uint64_t i) {
    const uint32_t place = (uint32_t)key;
    const bool empty = key == RENDER_NO_KEY;
    const uint32_t color = empty ? 0 : points->color[place], row = empty ? MOTE_RENDER_NO_POINT : points->index[place];
    to->depth[i] = empty ? INFINITY : render_float_of_ordered(render_key_depth(key));
    to->index[i] = row;
    for (int c = 0; c < 4; c++) to->color[4 * i + c] = (uint16_t)((color >> 8 * c & 255u) * 257u);
    if (!normals) return;
    double normal[3] = {0, 0, 0};
    if (!empty && points->normal[0] != NULL) {
        render_given_normal(view, (const float *const *)points->normal, row, points->at[0][place], points->at[1][place],
                            points->at[2][place], normal);
    }
    for (int k = 0; k < 3; k++) to->normal[3 * i + k] = (float)normal[k];
}

#endif
