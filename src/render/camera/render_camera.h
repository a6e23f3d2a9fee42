/* Cameras on the host: the view that a frame is drawn with, and fitting. */
#ifndef MOTE_RENDER_CAMERA_H
#define MOTE_RENDER_CAMERA_H

#include "core/core.h"
#include "mote/render.h"
#include "render/camera/render_view.h"

/* The part of a picture that is drawn, in pixels. */
typedef struct render_part {
    uint32_t picture_width, picture_height;
    uint32_t x, y, width, height;
} render_part;

mote_status render_make_view(mote_context *ctx, const mote_camera *camera, const render_part *part, uint32_t samples,
                             render_view *view);

/* How far what is to be seen reaches beyond the planes of a picture; see render_camera.c. */
typedef struct render_fit {
    render_view view; /* its eye is a place in the middle of things */
    double aspect, slope[2];
    double beyond[2][2]; /* [x or y][low or high side] */
    double nearest, farthest;
} render_fit;

/* about: a place in the middle of what is to be seen. */
mote_status render_fit_begin(mote_context *ctx, const mote_camera *camera, const double from[3], const double about[3],
                             uint32_t width, uint32_t height, render_fit *fit);
void render_fit_box(render_fit *fit, const double min[3], const double max[3]);
mote_status render_fit_end(mote_context *ctx, const render_fit *fit, mote_camera *camera);

#endif
