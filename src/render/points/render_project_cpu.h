/* Projecting points of a batch on CPU cores: vectors of them, which the compiler makes. */
#ifndef MOTE_RENDER_PROJECT_CPU_H
#define MOTE_RENDER_PROJECT_CPU_H

#include "render/renderer.h"

#define RENDER_PROJECTED 64u /* points at once: their arrays stay in the first-level cache */

typedef struct render_projected {
    uint32_t sample[RENDER_PROJECTED]; /* RENDER_OUTSIDE */
    float depth[RENDER_PROJECTED];
} render_projected;

static inline void render_project_block(const render_view *view, const render_points *points, uint32_t first,
                                        render_projected *to) {
    for (uint32_t i = 0; i < RENDER_PROJECTED; i++) {
        const render_place place =
            render_to_camera(view, points->at[0][first + i], points->at[1][first + i], points->at[2][first + i]);
        to->sample[i] = render_sample_of(view, place);
        to->depth[i] = (float)place.z;
    }
}

#endif
