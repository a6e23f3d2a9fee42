/* From a place in the world to a pixel: one copy for C and CUDA, in double precision, and nothing but + - * /, which
   round alike everywhere.

     world ──▶ camera: x right, y down, z forward, from the eye ──▶ picture: u right, v down, in samples

   A sample is a pixel of the picture that is drawn: with supersampling, several make one of the caller's pixels. */
#ifndef MOTE_RENDER_VIEW_H
#define MOTE_RENDER_VIEW_H

#include <string.h>

#include "math/host_device.h"

typedef struct render_view {
    double eye[3];
    double right[3], down[3], forward[3]; /* the camera's axes in the world, of unit length */
    double focal;                         /* samples per world unit; PERSPECTIVE: at depth 1 */
    double center_u, center_v;            /* where the camera's axis meets the whole picture */
    double near_depth, far_depth;
    uint32_t left, top, width, height; /* the part of it that is drawn, in samples */
    bool perspective;
} render_view;

/* A place in the camera's axes. */
typedef struct render_place {
    double x, y, z;
} render_place;

MOTE_HD render_place render_to_camera(const render_view *view, double x, double y, double z) {
    const double dx = x - view->eye[0], dy = y - view->eye[1], dz = z - view->eye[2];
    render_place place;
    place.x = (dx * view->right[0] + dy * view->right[1]) + dz * view->right[2];
    place.y = (dx * view->down[0] + dy * view->down[1]) + dz * view->down[2];
    place.z = (dx * view->forward[0] + dy * view->forward[1]) + dz * view->forward[2];
    return place;
}

/* Samples per world unit at a depth. */
MOTE_HD double render_scale_at(const render_view *view, double depth) {
    return view->perspective ? view->focal / depth : view->focal;
}

#define RENDER_OUTSIDE UINT32_MAX

/* The sample that shows a place, row after row; RENDER_OUTSIDE. */
MOTE_HD uint32_t render_sample_of(const render_view *view, render_place place) {
    if (!(place.z >= view->near_depth && place.z <= view->far_depth)) return RENDER_OUTSIDE;
    const double scale = render_scale_at(view, place.z);
    const double u = view->center_u + place.x * scale, v = view->center_v + place.y * scale;
    if (!(u >= view->left && u < (double)view->left + view->width)) return RENDER_OUTSIDE;
    if (!(v >= view->top && v < (double)view->top + view->height)) return RENDER_OUTSIDE;
    return ((uint32_t)v - view->top) * view->width + ((uint32_t)u - view->left);
}

/* ---- keys: what the nearest point of a sample is found by

     bits 63…32  depth, as a float, as an unsigned integer of the same order
     bits 31…0   the point's place in the renderer's order

   The least key is the nearest point, and of equally near ones the first in the order, which goes by content. */

#define RENDER_NO_KEY UINT64_MAX

MOTE_HD uint32_t render_ordered_float(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return (bits & 0x80000000u) != 0 ? ~bits : bits | 0x80000000u;
}

MOTE_HD float render_float_of_ordered(uint32_t ordered) {
    const uint32_t bits = (ordered & 0x80000000u) != 0 ? ordered & 0x7FFFFFFFu : ~ordered;
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

MOTE_HD uint64_t render_key(float depth, uint32_t place) { return (uint64_t)render_ordered_float(depth) << 32 | place; }
MOTE_HD uint32_t render_key_depth(uint64_t key) { return (uint32_t)(key >> 32); }

/* ---- boxes */

/* What a box of points can show: conservative, so that whatever rounds, no point that a sample shows is missed. */
typedef struct render_reach {
    bool outside;            /* nothing of it is in the picture */
    double depth;            /* no point is nearer */
    uint32_t u0, v0, u1, v1; /* the samples it can cover, both ends included */
} render_reach;

#define RENDER_BOX_SLACK 0x1p-40 /* of the sizes of numbers that go into a projection, far above what rounds */

/* The largest value of a linear function of places, f · (place - eye) + c, over a box of a middle and half sizes. */
MOTE_HD double render_box_max(const double f[3], double c, const double middle[3], const double half[3], double size) {
    const double along = (f[0] * middle[0] + f[1] * middle[1]) + f[2] * middle[2];
    const double f0 = f[0] < 0 ? -f[0] : f[0], f1 = f[1] < 0 ? -f[1] : f[1], f2 = f[2] < 0 ? -f[2] : f[2];
    const double wide = (f0 * half[0] + f1 * half[1]) + f2 * half[2];
    const double far = (f0 + f1) + f2;
    return ((along + wide) + c) + (far * size + (c < 0 ? -c : c)) * RENDER_BOX_SLACK;
}

/* Whether every place of the box is beyond a side of the picture: sign · (axis coordinate) · focal above limit · depth
   (PERSPECTIVE), or above limit. */
MOTE_HD bool render_box_is_beyond(const render_view *view, const double axis[3], double sign, double limit,
                                  const double middle[3], const double half[3], double size) {
    double f[3];
    for (int k = 0; k < 3; k++) {
        f[k] = -sign * view->focal * axis[k] + (view->perspective ? limit * view->forward[k] : 0);
    }
    return render_box_max(f, view->perspective ? 0 : limit, middle, half, size) < 0;
}

/* A coordinate of the whole picture in the part that begins at first and has count samples. */
MOTE_HD uint32_t render_clamp_sample(double value, uint32_t first, uint32_t count) {
    const double at = value - first;
    return !(at > 0) ? 0 : at >= count ? count - 1 : (uint32_t)at;
}

/* The samples of a box in front of the camera. */
MOTE_HD void render_box_samples(const render_view *view, const double min[3], const double max[3], double near_depth,
                                render_reach *reach) {
    double low_u = 1e300, low_v = 1e300, high_u = -1e300, high_v = -1e300;
    reach->u0 = reach->v0 = 0;
    reach->u1 = view->width - 1;
    reach->v1 = view->height - 1;
    for (int corner = 0; corner < 8; corner++) {
        const render_place place =
            render_to_camera(view, (corner & 1) != 0 ? max[0] : min[0], (corner & 2) != 0 ? max[1] : min[1],
                             (corner & 4) != 0 ? max[2] : min[2]);
        if (view->perspective && !(place.z > near_depth)) return; /* it reaches behind the camera: everywhere */
        const double scale = render_scale_at(view, place.z);
        const double u = view->center_u + place.x * scale, v = view->center_v + place.y * scale;
        low_u = u < low_u ? u : low_u;
        low_v = v < low_v ? v : low_v;
        high_u = u > high_u ? u : high_u;
        high_v = v > high_v ? v : high_v;
    }
    reach->u0 = render_clamp_sample(low_u - 1, view->left, view->width);
    reach->v0 = render_clamp_sample(low_v - 1, view->top, view->height);
    reach->u1 = render_clamp_sample(high_u + 1, view->left, view->width);
    reach->v1 = render_clamp_sample(high_v + 1, view->top, view->height);
}

MOTE_HD render_reach render_box_reach(const render_view *view, const double min[3], const double max[3]) {
    double middle[3], half[3], size = 0, back[3];
    render_reach reach;
    for (int k = 0; k < 3; k++) {
        const double low = min[k] - view->eye[k], high = max[k] - view->eye[k];
        const double a = min[k] < 0 ? -min[k] : min[k], b = max[k] < 0 ? -max[k] : max[k];
        const double e = view->eye[k] < 0 ? -view->eye[k] : view->eye[k];
        middle[k] = 0.5 * low + 0.5 * high;
        half[k] = 0.5 * high - 0.5 * low;
        size += (a > b ? a : b) + e;
        back[k] = -view->forward[k];
    }
    const double right = (double)view->left + view->width, bottom = (double)view->top + view->height;
    const double farthest = render_box_max(view->forward, 0, middle, half, size);
    reach.depth = -render_box_max(back, 0, middle, half, size);
    reach.outside = farthest < view->near_depth || reach.depth > view->far_depth ||
                    render_box_is_beyond(view, view->right, 1, right - view->center_u, middle, half, size) ||
                    render_box_is_beyond(view, view->right, -1, view->center_u - view->left, middle, half, size) ||
                    render_box_is_beyond(view, view->down, 1, bottom - view->center_v, middle, half, size) ||
                    render_box_is_beyond(view, view->down, -1, view->center_v - view->top, middle, half, size);
    reach.u0 = reach.v0 = reach.u1 = reach.v1 = 0;
    if (!reach.outside) render_box_samples(view, min, max, size * RENDER_BOX_SLACK, &reach);
    return reach;
}

#endif
