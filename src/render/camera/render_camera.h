/* Cameras on the host: the view that a frame is drawn with, and fitting. */
#ifndef MOTE_RENDER_CAMERA_H
#define MOTE_RENDER_CAMERA_H

#include "core/core.h"
#include "mote/render.h"
#include "render/camera/render_view.h"

#define RENDER_NEAR_SHARE 0x1p-20 /* of the distance to the target: what is nearer is a speck on the lens */

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

/* False where there is no direction. */
bool render_normalize(double v[3]);
/* Right and down of a camera that looks along forward. */
void render_set_axes(const double up[3], render_view *view);

#endif
