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

/* Refuses a camera that no picture of that height, in samples, can be taken with.
   view  out: its axes, focal length and depths */
mote_status render_check_camera(mote_context *ctx, const mote_camera *camera, uint32_t height, render_view *view);
mote_status render_make_view(mote_context *ctx, const mote_camera *camera, const render_part *part, uint32_t samples,
                             render_view *view);

/* As mote_camera_fit, of what several boxes have in common with a clip. */
mote_status render_fit_boxes(mote_context *ctx, mote_camera *camera, const mote_box *boxes, uint32_t count,
                             const mote_box *clip, const double from[3], uint32_t width, uint32_t height);

#endif
