/* What shading needs to know of a frame, from its parameters. */
#ifndef MOTE_RENDER_LOOK_H
#define MOTE_RENDER_LOOK_H

#include "render/renderer.h"
#include "render/shade/render_shade_math.h"

#ifdef __cplusplus
extern "C" {
#endif

void render_make_look(const mote_renderer *renderer, const render_job *job, render_look *look);
/* Mean and standard deviation of normal errors, from sums of steps of 1 / RENDER_ERROR_STEPS degrees. */
void render_set_errors(uint64_t count, uint64_t sum, uint64_t squares, mote_render_result *result);

#ifdef __cplusplus
}
#endif
#endif
