/* Closing holes: samples that show nothing, with a surface all around. One copy for C and CUDA.

       . . # . .      From a hole, eight ways to what is nearest around it. Two opposite ways make a gap. A hole is
   closed . # o # .      if three of its four gaps are narrow enough: those of a crack are, except the one along it;
   those . . # . .      at the edge of a surface are not.

   It then shows the mean of what is at the ends of its narrow gaps, the nearer the more. First all holes are marked,
   then filled from what is not marked, so that no hole is filled from another. */
#ifndef MOTE_RENDER_CLOSE_MATH_H
#define MOTE_RENDER_CLOSE_MATH_H

#include <math.h>

#include "render/camera/render_view.h"
#include "render/shade/render_samples.h"

#define RENDER_GAPS     4
#define RENDER_MIN_GAPS 3

typedef struct render_gap {
    uint32_t distance[2]; /* steps to either end */
    uint64_t sample[2];   /* what is there */
    bool narrow;
} render_gap;

/* Steps from sample i in one direction to one that shows something; 0: none within max. holes: those that are marked,
   which count as showing nothing; NULL: none is yet. */
MOTE_HD uint32_t render_steps_to(const render_view *view, const float *depth, const uint8_t *holes, uint64_t i, int du,
                                 int dv, uint32_t max, uint64_t *sample) {
    int64_t u = (int64_t)(i % view->width), v = (int64_t)(i / view->width);
    for (uint32_t step = 1; step <= max; step++) {
        u += du;
        v += dv;
        if (u < 0 || v < 0 || u >= (int64_t)view->width || v >= (int64_t)view->height) return 0;
        *sample = (uint64_t)v * view->width + (uint64_t)u;
        if ((holes == NULL || holes[*sample] == 0) && depth[*sample] < INFINITY) return step;
    }
    return 0;
}

/* How many gaps are narrow; fewer than RENDER_MIN_GAPS as soon as they can no longer be as many. */
MOTE_HD int render_find_gaps(const render_view *view, const float *depth, const uint8_t *holes, uint64_t i,
                             uint32_t max, render_gap gaps[RENDER_GAPS]) {
    const int directions[RENDER_GAPS][2] = {{1, 0}, {0, 1}, {1, 1}, {1, -1}};
    int narrow = 0;
    for (int g = 0; g < RENDER_GAPS && narrow + RENDER_GAPS - g >= RENDER_MIN_GAPS; g++) {
        render_gap *gap = &gaps[g];
        const int du = directions[g][0], dv = directions[g][1];
        gap->narrow = false;
        gap->distance[0] = render_steps_to(view, depth, holes, i, du, dv, max, &gap->sample[0]);
        if (gap->distance[0] == 0) continue;
        gap->distance[1] =
            render_steps_to(view, depth, holes, i, -du, -dv, max + 1 - gap->distance[0], &gap->sample[1]);
        gap->narrow = gap->distance[1] != 0;
        narrow += gap->narrow;
    }
    return narrow;
}

/* Whether sample i is a hole of at most max samples. */
MOTE_HD bool render_is_hole(const render_view *view, const float *depth, uint64_t i, uint32_t max) {
    render_gap gaps[RENDER_GAPS];
    return !(depth[i] < INFINITY) && render_find_gaps(view, depth, NULL, i, max, gaps) >= RENDER_MIN_GAPS;
}

MOTE_HD void render_fill_hole(const render_view *view, const render_samples *samples, const uint8_t *holes, uint64_t i,
                              uint32_t max) {
    render_gap gaps[RENDER_GAPS];
    float color[3] = {0, 0, 0}, normal[3] = {0, 0, 0}, depth = 0, value = 0, sum = 0, nearest = 0;
    uint64_t from = i;
    render_find_gaps(view, samples->depth, holes, i, max, gaps);
    for (int g = 0; g < RENDER_GAPS; g++) {
        for (int end = 0; end < 2 && gaps[g].narrow; end++) {
            const uint64_t j = gaps[g].sample[end];
            const float weight = 1.0f / (float)gaps[g].distance[end];
            sum += weight;
            depth += weight * samples->depth[j];
            for (int k = 0; k < 3; k++) color[k] += weight * (float)samples->color[4 * j + k];
            for (int k = 0; k < 3 && samples->normal != NULL; k++) normal[k] += weight * samples->normal[3 * j + k];
            if (samples->value != NULL) value += weight * samples->value[j];
            if (weight > nearest) nearest = weight, from = j;
        }
    }
    samples->depth[i] = depth / sum;
    samples->index[i] = samples->index[from];
    for (int k = 0; k < 3; k++) samples->color[4 * i + k] = (uint16_t)(color[k] / sum + 0.5f);
    samples->color[4 * i + 3] = 65535;
    if (samples->value != NULL) samples->value[i] = value / sum;
    if (samples->normal == NULL) return;
    const float length = sqrtf((normal[0] * normal[0] + normal[1] * normal[1]) + normal[2] * normal[2]);
    for (int k = 0; k < 3; k++) samples->normal[3 * i + k] = length > 0 ? normal[k] / length : 0;
}

#endif
