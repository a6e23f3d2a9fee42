/* Short coordinates: they rule most points of a frame out, at half the bytes. One copy for C and CUDA.

     at[3]      x y z   24 bytes   world coordinates, doubles: they decide
     local[3]   x y z   12 bytes   the same from the middle of the batch's box, floats

   A frame turns the middle of a box into the camera's axes in double precision, and its points from there in float. How
   far that can be off is known for the whole batch: slack in the picture, depth_slack along the line of sight. A point
   is ruled out if it is outside the picture by more than the slack, or if it is surely in one sample and surely behind
   what that sample shows. All others are projected from their doubles: so the picture is that of doubles. */
#ifndef MOTE_RENDER_SHORT_MATH_H
#define MOTE_RENDER_SHORT_MATH_H

#include <math.h>

#include "render/camera/render_view.h"

#define RENDER_UNSURE (UINT32_MAX - 1) /* which sample: doubles decide */

/* Bounds of what floats round, in sizes of the numbers that go in: each is at least twice the sum of its roundings. */
#define RENDER_TURN_ROUNDING    0x1p-20 /* five: local coordinate, axis, product, two sums */
#define RENDER_BASE_ROUNDING    0x1p-22 /* two: the middle, a sum */
#define RENDER_PROJECT_ROUNDING 0x1p-21 /* five: center, scale, product, sum, slack */
#define RENDER_MAX_SLACK        0.25    /* samples; beyond, too many points would be unsure */
#define RENDER_SHORT_MIN        1e-30   /* floats of what is smaller, or larger, lose digits */
#define RENDER_SHORT_MAX        1e30

/* How a frame sees the local coordinates of a batch. */
typedef struct render_short {
    float base[3];            /* the middle of the box, in the camera's axes */
    float axes[3][3];         /* right, down, forward */
    float center_u, center_v; /* from the first sample of the part */
    float focal, width, height;
    float slack, depth_slack;
    uint32_t row;    /* samples */
    uint32_t usable; /* 0: doubles decide about all its points */
} render_short;

/* What local coordinates begin at. */
MOTE_HD double render_batch_middle(double min, double max) { return 0.5 * min + 0.5 * max; }

MOTE_HD double render_size_of(double value) { return value < 0 ? -value : value; }

MOTE_HD render_short render_make_short(const render_view *view, const double min[3], const double max[3]) {
    double middle[3], half = 0, size = 0;
    render_short s;
    for (int k = 0; k < 3; k++) {
        const double low = render_size_of(min[k]), high = render_size_of(max[k]);
        middle[k] = render_batch_middle(min[k], max[k]);
        half += 0.5 * max[k] - 0.5 * min[k];
        size += (low > high ? low : high) + render_size_of(view->eye[k]);
        s.axes[0][k] = (float)view->right[k];
        s.axes[1][k] = (float)view->down[k];
        s.axes[2][k] = (float)view->forward[k];
    }
    const render_place at = render_to_camera(view, middle[0], middle[1], middle[2]);
    const double x = render_size_of(at.x), y = render_size_of(at.y), depth = render_size_of(at.z) + half;
    const double sideways = (x > y ? x : y) + half, turned = half * RENDER_TURN_ROUNDING + size * RENDER_BOX_SLACK;
    const double side_slack = turned + sideways * RENDER_BASE_ROUNDING;
    const double depth_slack = turned + depth * RENDER_BASE_ROUNDING;
    const double nearest = at.z - half - depth_slack, farthest = at.z + half + depth_slack;
    const double scale = render_scale_at(view, nearest), lean = view->perspective ? sideways / nearest : 0;
    const double center_u = view->center_u - view->left, center_v = view->center_v - view->top;
    const double across = (1 + render_size_of(center_u)) + (render_size_of(center_v) + scale * sideways);
    const double slack = scale * (side_slack + lean * depth_slack) + across * RENDER_PROJECT_ROUNDING;
    const double largest = (sideways + depth) + (scale + render_size_of(view->focal));
    s.base[0] = (float)at.x;
    s.base[1] = (float)at.y;
    s.base[2] = (float)at.z;
    s.center_u = (float)center_u;
    s.center_v = (float)center_v;
    s.focal = (float)view->focal;
    s.width = (float)view->width;
    s.height = (float)view->height;
    s.slack = (float)(slack * 1.0001);
    s.depth_slack = (float)(depth_slack * 1.0001);
    s.row = view->width;
    s.usable = nearest > view->near_depth && farthest < view->far_depth && slack < RENDER_MAX_SLACK &&
               turned > RENDER_SHORT_MIN && largest < RENDER_SHORT_MAX;
    return s;
}

/* The sample that surely shows a point of a usable batch, RENDER_OUTSIDE, or RENDER_UNSURE. No branches: lanes of a
   CPU. nearest: no depth that doubles give is less */
MOTE_HD uint32_t render_short_sample(const render_short *s, bool perspective, float x, float y, float z,
                                     float *nearest) {
    const float right = s->base[0] + ((s->axes[0][0] * x + s->axes[0][1] * y) + s->axes[0][2] * z);
    const float down = s->base[1] + ((s->axes[1][0] * x + s->axes[1][1] * y) + s->axes[1][2] * z);
    const float depth = s->base[2] + ((s->axes[2][0] * x + s->axes[2][1] * y) + s->axes[2][2] * z);
    const float scale = perspective ? s->focal / depth : s->focal;
    const float u = s->center_u + right * scale, v = s->center_v + down * scale;
    const float u0 = u - s->slack, u1 = u + s->slack, v0 = v - s->slack, v1 = v + s->slack;
    const int32_t outside = (u1 < 0.0f) | (u0 > s->width) | (v1 < 0.0f) | (v0 > s->height);
    const int32_t inside = (u0 >= 0.0f) & (u1 < s->width) & (v0 >= 0.0f) & (v1 < s->height);
    const int32_t column = (int32_t)(inside ? u0 : 0.0f), row = (int32_t)(inside ? v0 : 0.0f);
    const int32_t last_column = (int32_t)(inside ? u1 : 0.0f), last_row = (int32_t)(inside ? v1 : 0.0f);
    const int32_t sure = inside & (column == last_column) & (row == last_row);
    const uint32_t sample = (uint32_t)row * s->row + (uint32_t)column;
    *nearest = depth - s->depth_slack;
    return outside ? RENDER_OUTSIDE : sure ? sample : RENDER_UNSURE;
}

#endif
