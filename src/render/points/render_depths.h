/* What stands in front: one copy for C and CUDA.

   The farthest that squares of samples show: a batch that is farther than all of them where it lies shows nothing.

     level 0   squares of 8 x 8 samples
     level i   squares of 8 · 2^i; each is the farthest of four below */
#ifndef MOTE_RENDER_DEPTHS_H
#define MOTE_RENDER_DEPTHS_H

#include "render/camera/render_view.h"

#define RENDER_DEPTHS_LEVELS 13u
#define RENDER_DEPTHS_SIDE   8u
#define RENDER_DEPTHS_LOOKS  8u /* squares a side that are looked at, where larger ones are not made */

typedef struct render_depths {
    uint32_t level_count;
    uint32_t width[RENDER_DEPTHS_LEVELS], height[RENDER_DEPTHS_LEVELS];
    uint64_t first[RENDER_DEPTHS_LEVELS], total;
    uint32_t *farthest; /* of all levels; depths as ordered integers */
    uint64_t capacity;
} render_depths;

/* Sets sizes for a picture. */
static inline void render_depths_size(const render_view *view, render_depths *depths) {
    uint32_t width = (view->width + RENDER_DEPTHS_SIDE - 1) / RENDER_DEPTHS_SIDE, level = 0;
    uint32_t height = (view->height + RENDER_DEPTHS_SIDE - 1) / RENDER_DEPTHS_SIDE;
    depths->total = 0;
    for (;; level++) {
        depths->width[level] = width;
        depths->height[level] = height;
        depths->first[level] = depths->total;
        depths->total += (uint64_t)width * height;
        if ((width == 1 && height == 1) || level + 1 == RENDER_DEPTHS_LEVELS) break;
        width = (width + 1) / 2;
        height = (height + 1) / 2;
    }
    depths->level_count = level + 1;
}

/* Returns the farthest depth of a square of level 0, of its keys or, if these are NULL, its limits. */
MOTE_HD uint32_t render_farthest_of_square(const render_view *view, const uint64_t *keys, const uint32_t *limits,
                                           uint32_t x, uint32_t y) {
    uint32_t farthest = 0;
    const uint32_t u0 = x * RENDER_DEPTHS_SIDE, v0 = y * RENDER_DEPTHS_SIDE;
    for (uint32_t v = v0; v < v0 + RENDER_DEPTHS_SIDE && v < view->height; v++) {
        for (uint32_t u = u0; u < u0 + RENDER_DEPTHS_SIDE && u < view->width; u++) {
            const uint64_t i = (uint64_t)v * view->width + u;
            const uint32_t depth = keys != NULL ? render_key_depth(keys[i]) : limits[i];
            farthest = depth > farthest ? depth : farthest;
        }
    }
    return farthest;
}

MOTE_HD uint32_t render_farthest_of_four(const render_depths *depths, uint32_t below, uint32_t x, uint32_t y) {
    const uint32_t *from = depths->farthest + depths->first[below];
    uint32_t farthest = 0;
    for (uint32_t j = 2 * y; j < 2 * y + 2 && j < depths->height[below]; j++) {
        for (uint32_t i = 2 * x; i < 2 * x + 2 && i < depths->width[below]; i++) {
            const uint32_t depth = from[(uint64_t)j * depths->width[below] + i];
            farthest = depth > farthest ? depth : farthest;
        }
    }
    return farthest;
}

/* Whether what can be there is behind all that is shown there: by a level where at most four squares a side cover it.
   Where no level has so large squares, what covers many counts as not behind. */
MOTE_HD bool render_is_behind(const render_depths *depths, const render_reach *reach) {
    const uint32_t depth = render_ordered_float((float)reach->depth);
    uint32_t level = 0, x0 = reach->u0 / RENDER_DEPTHS_SIDE, x1 = reach->u1 / RENDER_DEPTHS_SIDE;
    uint32_t y0 = reach->v0 / RENDER_DEPTHS_SIDE, y1 = reach->v1 / RENDER_DEPTHS_SIDE;
    while ((x1 - x0 > 3 || y1 - y0 > 3) && level + 1 < depths->level_count) {
        x0 /= 2;
        x1 /= 2;
        y0 /= 2;
        y1 /= 2;
        level++;
    }
    if (x1 - x0 >= RENDER_DEPTHS_LOOKS || y1 - y0 >= RENDER_DEPTHS_LOOKS) return false;
    const uint32_t *from = depths->farthest + depths->first[level];
    for (uint32_t y = y0; y <= y1; y++) {
        uint32_t farthest = 0;
        for (uint32_t x = x0; x <= x1; x += 4) { /* four are asked for together */
            for (uint32_t j = 0; j < 4; j++) {
                const uint32_t here = from[(uint64_t)y * depths->width[level] + (x + j < x1 ? x + j : x1)];
                farthest = here > farthest ? here : farthest;
            }
        }
        if (depth <= farthest) return false;
    }
    return true;
}

#endif
