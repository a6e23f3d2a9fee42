/* Projecting points of a batch on CPU cores: vectors of them, which the compiler makes. */
#ifndef MOTE_RENDER_PROJECT_CPU_H
#define MOTE_RENDER_PROJECT_CPU_H

#include "render/points/render_short_math.h"
#include "render/render_lanes_cpu.h"
#include "render/renderer.h"

#define RENDER_PROJECTED 64u /* points at once: their arrays stay in the first-level cache */

typedef struct render_projected {
    uint32_t sample[RENDER_PROJECTED]; /* RENDER_OUTSIDE */
    float depth[RENDER_PROJECTED];
} render_projected;

/* Computes what render_sample_of computes, for all lanes and without branches. */
static inline void render_project_lanes(const render_view *view, bool perspective, const double *x, const double *y,
                                        const double *z, render_projected *to) {
    const double left = view->left, right = left + view->width, top = view->top, bottom = top + view->height;
    const int32_t width = (int32_t)view->width;
    for (uint32_t i = 0; i < RENDER_PROJECTED; i++) {
        const render_place place = render_to_camera(view, x[i], y[i], z[i]);
        const double scale = perspective ? view->focal / place.z : view->focal;
        const double u = view->center_u + place.x * scale, v = view->center_v + place.y * scale;
        const bool inside = (place.z >= view->near_depth) & (place.z <= view->far_depth) & (u >= left) & (u < right) &
                            (v >= top) & (v < bottom);
        const int32_t column = (int32_t)(inside ? u : left) - (int32_t)left;
        const int32_t row = (int32_t)(inside ? v : top) - (int32_t)top;
        to->sample[i] = inside ? (uint32_t)(row * width + column) : RENDER_OUTSIDE;
        to->depth[i] = (float)place.z;
    }
}

static inline void render_project_block(const render_view *view, const render_points *points, uint32_t first,
                                        render_projected *to) {
    const double *x = points->at[0] + first, *y = points->at[1] + first, *z = points->at[2] + first;
    if (view->perspective) render_project_lanes(view, true, x, y, z, to);
    if (!view->perspective) render_project_lanes(view, false, x, y, z, to);
}

/* Whole numbers; those outside the mask become 0. */
static inline render_ints render_whole(render_floats value, render_ints mask) {
    return __builtin_convertvector((render_floats)((render_ints)value & mask), render_ints);
}

/* Computes what render_short_sample computes, whose comments hold, for all lanes. */
static inline void render_short_lanes(const render_short *s, bool perspective, render_floats x, render_floats y,
                                      render_floats z, uint32_t *samples, float *nearest) {
    const render_floats right = s->base[0] + ((s->axes[0][0] * x + s->axes[0][1] * y) + s->axes[0][2] * z);
    const render_floats down = s->base[1] + ((s->axes[1][0] * x + s->axes[1][1] * y) + s->axes[1][2] * z);
    const render_floats depth = s->base[2] + ((s->axes[2][0] * x + s->axes[2][1] * y) + s->axes[2][2] * z);
    const render_floats scale = perspective ? s->focal / depth : s->focal - (render_floats){0};
    const render_floats u = s->center_u + right * scale, v = s->center_v + down * scale;
    const render_floats u0 = u - s->slack, u1 = u + s->slack, v0 = v - s->slack, v1 = v + s->slack;
    const render_ints outside = (u1 < 0.0f) | (u0 > s->width) | (v1 < 0.0f) | (v0 > s->height);
    const render_ints inside = (u0 >= 0.0f) & (u1 < s->width) & (v0 >= 0.0f) & (v1 < s->height);
    const render_ints column = render_whole(u0, inside), row = render_whole(v0, inside);
    const render_ints sure = inside & (column == render_whole(u1, inside)) & (row == render_whole(v1, inside));
    const render_ints sample = row * (int32_t)s->row + column;
    const render_ints shown = (sure & sample) | (~sure & (int32_t)RENDER_UNSURE) | outside;
    const render_floats least = depth - s->depth_slack;
    memcpy(samples, &shown, sizeof shown);
    memcpy(nearest, &least, sizeof least);
}

/* Projects short coordinates to samples that are sure, RENDER_OUTSIDE or RENDER_UNSURE, and to the least depths. */
static inline void render_project_short(const render_short *s, bool perspective, const render_points *points,
                                        uint32_t first, render_projected *to) {
    for (uint32_t i = 0; i < RENDER_PROJECTED; i += RENDER_LANES) {
        const render_floats x = render_load_floats(points->local[0] + first + i);
        const render_floats y = render_load_floats(points->local[1] + first + i);
        const render_floats z = render_load_floats(points->local[2] + first + i);
        render_short_lanes(s, perspective, x, y, z, to->sample + i, to->depth + i);
    }
}

#endif
