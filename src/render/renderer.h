/* The inside of a renderer: the points in their order, and what a frame is made of.

   The order goes by content: Morton code, x, y, z, colour, index. So "first in the order" says the same of a cloud
   whose points come in another order.

     place       0        1        2   ...      1023 | 1024   ...
     at[3]     x y z    x y z    x y z  ...          |                 world coordinates, doubles: CPU an array per axis
     local[3]  x y z    x y z    x y z  ...          |                 CPU: from the middle of the batch's box, floats
     steps[3]  x y z    x y z    x y z  ...          |                 GPU: in the batch's box, 15 bits
     color     rgba     rgba     rgba                |                 alpha 0: not drawn
     index     row      row      row                 |                 which point of the cloud
     record   x y z r  x y z r  x y z r              |                 GPU: at and index, 32 bytes together
     batches   \___________ batch 0 ________________/ \__ batch 1 ...  box, spacing

   Normals are by row of the cloud, not by place: only points that a frame shows are asked for theirs. */
#ifndef MOTE_RENDERER_H
#define MOTE_RENDERER_H

#include "core/core.h"
#include "mote/render.h"
#include "render/camera/render_camera.h"

#ifdef __cplusplus
extern "C" {
#endif

#define RENDER_BATCH    1024u /* points of a range that is culled as one */
#define RENDER_SUBBATCH 64u   /* points whose box tells their spacing */
#define RENDER_GREY     0xFFD2D2D2u
#define RENDER_NO_COLOR 0u /* alpha 0 */

/* Consecutive points of the order. */
typedef struct render_batch {
    double min[3], max[3];
    float spacing;  /* between neighbours, world units: the median of its sub-batches */
    uint32_t drawn; /* CPU: 1: the last frame shows one of its points */
} render_batch;

/* Points in memory of the renderer's device. */
typedef struct render_points {
    uint32_t count; /* of points with a finite position */
    uint32_t batch_count;
    bool tied;       /* two points or more are in one place: their colours decide which is first */
    double *at[3];   /* [apart · count], rounded up to whole batches with copies of the last */
    uint32_t apart;  /* numbers from one point to the next: CPU 1; GPU RENDER_RECORD: at[k] is number k of a record */
    float *local[3]; /* CPU: the same, see render_short_math.h; made when a second frame is drawn */
    bool shortened;  /* they are made */
    uint64_t *steps; /* GPU: [3 · count / 4], see render_steps_cuda.cuh */
    uint32_t *group_box[3]; /* GPU: [count / 32], see render_groups_cuda.cuh */
    uint64_t *group_sums;   /* the same */
    uint8_t *batch_shown;   /* GPU: [batch_count] number of the last frame that shows one of its points */
    uint32_t *color;        /* [count] */
    uint32_t *index;        /* CPU: [all], finite points first; GPU: in the records */
    uint32_t index_apart;   /* CPU 1; GPU: as many as a record has */
    render_batch *batches;
    float *normal[3]; /* [rows of the cloud]; NULL: none are given */
    float *spacing;   /* [rows of the cloud] or NULL */
} render_points;

#define RENDER_RECORD 4u /* doubles of a record: what is asked of one point is in one sector of memory */

struct mote_renderer {
    mote_context *ctx;
    mote_device *device;
    const mote_cloud *cloud;
    const struct mote_render_ops *ops;
    bool ready;      /* false after an update that failed */
    double exposure; /* how many times brighter the cloud's own colours are shown */
    render_points points;
    mote_box bounds;
    mote_box *boxes; /* [batch_count] on the host: for fitting cameras */
    void *frame;     /* of the backend: buffers of frames, kept from one to the next */
};

/* Does what mote_camera_fit does for the points of a renderer that lie in a clip: camera/render_fit.c. */
mote_status render_fit_renderer(mote_renderer *renderer, mote_camera *camera, const mote_box *clip,
                                const double from[3], uint32_t width, uint32_t height);

MOTE_HD double render_at(const render_points *points, int axis, uint32_t place) {
    return points->at[axis][(uint64_t)place * points->apart];
}

MOTE_HD uint32_t render_row(const render_points *points, uint32_t place) {
    return points->index[(uint64_t)place * points->index_apart];
}

/* What a frame is drawn with: checked, and turned into samples. */
typedef struct render_job {
    const mote_render_params *params;
    render_view view;
    render_part part;
    double point_radius; /* POINTS: of a disc, samples; below 1: a point covers its own sample */
    bool wants_normals;  /* the picture, or its lights, need them */
    bool wants_index;    /* which point a sample shows */
    bool wants_splats;   /* SURFACE: which splat covers a sample most */
    bool wants_values;   /* SURFACE: false colours of splats */
} render_job;

/* Whether a pixel is one sample, whose neighbours nobody asks for: then shading finds what it shows by itself. */
static inline bool render_pixels_are_points(const render_job *job) {
    const mote_render_params *p = job->params;
    return p->mode != MOTE_RENDER_SURFACE && p->samples == 1 && p->close_pixels == 0 && !(p->edl_strength > 0) &&
           p->show == MOTE_RENDER_SHOW_COLOR;
}

#ifdef __cplusplus
}
#endif
#endif
