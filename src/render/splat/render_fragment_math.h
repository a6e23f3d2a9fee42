/* Fragments: what splats show at a sample, and their sums. One copy for C and CUDA.

   Passes over all splats: (1) limit: the nearest depth + tolerance of each sample; (2) sums of weight, colour and
   normal, in fixed point, of all that is not behind that limit. Integers add up to the same in any order. */
#ifndef MOTE_RENDER_FRAGMENT_MATH_H
#define MOTE_RENDER_FRAGMENT_MATH_H

#include "render/shade/render_samples.h"
#include "render/splat/render_splat_math.h"

#define RENDER_WEIGHT_MAX      1023  /* of a fragment: 10 bits */
#define RENDER_RIM             0.15f /* a splat ends where 1 - r² is this: its rim adds little, and spills over edges */
#define RENDER_DEPTH_STEPS     1024.0f    /* of a sample's width, in sums of depths */
#define RENDER_DEPTH_STEPS_MAX 1048576.0f /* more than this before the limit counts as this */
#define RENDER_OWN_AROUND      5 /* of eight samples around one show points: it is within a surface, not at its edge */

/* ---- fragments */

typedef struct render_fragment {
    float depth, weight; /* weight 0..1: nearly 0 at the ellipse's edge */
    int32_t inside;      /* 0 or 1 */
} render_fragment;

/* Whether the ray through a sample meets the bent surface that a splat stands for.
   inverse  1 / W */
MOTE_HD bool render_is_within_contour(const render_splat *splat, float inverse, float du, float dv) {
    const float linear = (splat->l_u * du + splat->l_v * dv) * inverse;
    const float across = (splat->a_u * du + splat->a_v * dv) * inverse;
    return linear + splat->bend * across * across <= 1.0f;
}

/* What a splat shows at a sample (du, dv) away from its middle. The weight is (1 - r²)^4, nearly exp(-4 r²), and 0
   at the edge. */
MOTE_HD render_fragment render_fragment_at(const render_splat *splat, bool perspective, float near_depth, float du,
                                           float dv) {
    render_fragment f;
    const float u = splat->u_u * du + splat->u_v * dv, v = splat->v_u * du + splat->v_v * dv;
    const float g = splat->g_u * du + splat->g_v * dv, w = perspective ? 1.0f + g : 1.0f;
    const float inverse = 1.0f / w;
    f.depth = perspective ? splat->depth * inverse : splat->depth + g;
    const float r2 = (u * u + v * v) * (inverse * inverse), rest = 1.0f - r2, rest2 = rest * rest;
    const bool met = render_is_within_contour(splat, inverse, du, dv);
    f.inside = met & (rest >= RENDER_RIM) & (w > 0.0f) & (f.depth >= near_depth); /* no branches: lanes of a CPU */
    f.weight = rest2 * rest2;
    return f;
}

MOTE_HD int32_t render_weight_of(float weight) { return (int32_t)(weight * (RENDER_WEIGHT_MAX - 1)) + 1; }

/* Whether a splat's point is behind the limit of its own sample by more than its tolerance: what is in front hides it.
   Its splat would only be seen where it reaches out beyond an edge: it is not drawn. sample: of its point */
MOTE_HD bool render_is_hidden(const render_splat *splat, const uint32_t *limits, uint32_t sample) {
    return render_ordered_float(splat->depth - splat->tolerance) > limits[sample];
}

/* ---- sums of a sample */

typedef struct render_sums {
    int64_t weight, color[3], normal[3], depth;
} render_sums;

/* How many steps a world unit of depth is, at a sample. */
MOTE_HD float render_depth_scale(bool perspective, float focal, float limit) {
    return perspective ? focal / limit * RENDER_DEPTH_STEPS : focal * RENDER_DEPTH_STEPS;
}

/* Steps of depth before the limit. */
MOTE_HD int32_t render_depth_steps(float limit, float depth, float scale) {
    const float steps = (limit - depth) * scale;
    return (int32_t)(steps < RENDER_DEPTH_STEPS_MAX ? steps : RENDER_DEPTH_STEPS_MAX);
}

/* What the sums of a sample show: colours of 16 bits, a unit normal, depth. */
MOTE_HD void render_show_sums(const render_sums *sums, float limit, float scale, uint16_t *color, float *depth,
                              float *normal) {
    const int64_t half = sums->weight / 2;
    for (int k = 0; k < 3; k++) color[k] = (uint16_t)((sums->color[k] * 257 + half) / sums->weight);
    color[3] = 65535;
    *depth = limit - (float)sums->depth / (float)sums->weight / scale;
    if (normal == NULL) return;
    const float x = (float)sums->normal[0], y = (float)sums->normal[1], z = (float)sums->normal[2];
    const float length = sqrtf((x * x + y * y) + z * z), by = length > 0.0f ? 1.0f / length : 0.0f;
    normal[0] = x * by;
    normal[1] = y * by;
    normal[2] = z * by;
}

/* What false colours show of the splat that covers a sample most. */
typedef enum render_value { RENDER_VALUE_NONE, RENDER_VALUE_RADIUS, RENDER_VALUE_ITERATIONS } render_value;

MOTE_HD void render_show_value(const render_splat *splat, render_value shown, const render_samples *to, uint64_t i) {
    if (shown == RENDER_VALUE_RADIUS) to->value[i] = splat->radius;
    if (shown == RENDER_VALUE_ITERATIONS) to->value[i] = (float)splat->iterations;
}

/* How many of the eight samples around one show a point of the front layer. */
MOTE_HD uint32_t render_points_around(const render_screen *screen, uint32_t u, uint32_t v) {
    uint32_t count = 0;
    for (uint32_t n = 0; n < 9; n++) {
        const uint32_t x = u + n % 3 - 1, y = v + n / 3 - 1; /* left of the first is beyond the last */
        if (n == 4 || x >= screen->view.width || y >= screen->view.height) continue;
        const uint64_t mask = screen->layers[0].mask[render_block_of(screen, x / RENDER_BLOCK, y / RENDER_BLOCK)];
        count += (uint32_t)(mask >> (y % RENDER_BLOCK * RENDER_BLOCK + x % RENDER_BLOCK) & 1);
    }
    return count;
}

/* Sample i is covered by no splat. Where points are about as dense as samples, it may lie within a surface all the
   same, seen at a flat angle: then it shows the point that is in it, unless the surface turns away before the sample's
   middle. */
MOTE_HD void render_show_own(const render_screen *screen, const render_splat *splats, const render_points *points,
                             const render_samples *to, render_value shown, uint64_t i) {
    const uint32_t u = (uint32_t)(i % screen->view.width), v = (uint32_t)(i / screen->view.width);
    const uint32_t block = render_block_of(screen, u / RENDER_BLOCK, v / RENDER_BLOCK);
    const uint32_t bit = v % RENDER_BLOCK * RENDER_BLOCK + u % RENDER_BLOCK;
    const uint64_t mask = screen->layers[0].mask[block];
    if ((mask >> bit & 1) == 0 || render_points_around(screen, u, v) < RENDER_OWN_AROUND) return;
    const render_splat *splat = &splats[screen->layers[0].first[block] + render_popcount(mask & ((1ull << bit) - 1))];
    const float du = (float)((int32_t)u - splat->u) + splat->off_u, dv = (float)((int32_t)v - splat->v) + splat->off_v;
    const float w = screen->view.perspective ? 1.0f + (splat->g_u * du + splat->g_v * dv) : 1.0f;
    if (!render_is_within_contour(splat, 1.0f / w, du, dv)) return;
    to->index[i] = render_row(points, splat->place);
    to->depth[i] = splat->depth;
    for (int k = 0; k < 3; k++) to->color[4 * i + k] = (uint16_t)((splat->color >> 8 * k & 255u) * 257u);
    to->color[4 * i + 3] = 65535;
    for (int k = 0; k < 3 && to->normal != NULL; k++) {
        to->normal[3 * i + k] = (float)splat->normal[k] / (float)RENDER_NORMAL_ONE;
    }
    render_show_value(splat, shown, to, i);
}

/* Sample i shows its sums, and of the splat that covers it most (best; UINT32_MAX: not known) which point it is of. */
MOTE_HD void render_show_splat(const render_screen *screen, const render_sums *sums, float limit, float focal,
                               const render_splat *splats, uint32_t best, const render_points *points,
                               const render_samples *to, render_value shown, uint64_t i) {
    to->index[i] = MOTE_RENDER_NO_POINT;
    to->depth[i] = INFINITY;
    for (int k = 0; k < 4; k++) to->color[4 * i + k] = 0;
    for (int k = 0; k < 3 && to->normal != NULL; k++) to->normal[3 * i + k] = 0.0f;
    if (sums->weight == 0) {
        render_show_own(screen, splats, points, to, shown, i);
        return;
    }
    const float scale = render_depth_scale(screen->view.perspective, focal, limit);
    render_show_sums(sums, limit, scale, to->color + 4 * i, to->depth + i,
                     to->normal != NULL ? to->normal + 3 * i : NULL);
    if (best == UINT32_MAX) return;
    to->index[i] = render_row(points, splats[best].place);
    render_show_value(&splats[best], shown, to, i);
}

#endif
