/* What a backend supplies for pictures. */
#ifndef MOTE_RENDER_OPS_H
#define MOTE_RENDER_OPS_H

#include "render/renderer.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mote_render_ops {
    /* Reads the cloud: fills points, bounds and boxes, in memory that is there if the renderer was filled before. */
    mote_status (*load)(mote_renderer *renderer);
    /* rgba [4 · rows] or NULL: the cloud's own. */
    mote_status (*set_colors)(mote_renderer *renderer, const uint8_t *rgba, bool on_device);
    mote_status (*set_normals)(mote_renderer *renderer, const float *const normal[3], const float *spacing,
                               bool on_device);
    mote_status (*draw)(mote_renderer *renderer, const render_job *job, mote_render_result *result);
    /* Fills out, whose arrays are NULL; what it allocated stays there if it fails. */
    mote_status (*find_neighbors)(mote_renderer *renderer, const render_job *job, uint32_t k,
                                  mote_render_neighbors *out);
    /* Frees all that the backend made. */
    void (*unload)(mote_renderer *renderer);
} mote_render_ops;

/* The arrays of neighbours; what was allocated stays in out if it fails. */
mote_status render_reserve_neighbors(mote_context *ctx, uint64_t seen, uint32_t k, mote_render_neighbors *out);

extern const mote_render_ops mote_render_cpu;
extern const mote_render_ops mote_render_on_cuda;

#ifdef __cplusplus
}
#endif
#endif
