/* Where pictures are taken from. */
#ifndef CLI_PICTURE_CAMERA_H
#define CLI_PICTURE_CAMERA_H

#include "render/picture_plan.h"

/* The directions of a view: to the right, to the front, and up, of unit length, at right angles. */
typedef struct picture_axes {
    double right[3], front[3], up[3];
} picture_axes;

picture_axes picture_axes_of(const double up[3]);

/* Places the camera of a picture. steep: of iso, so that the ground is seen. Returns an exit code. */
int picture_camera_place(session *s, const picture_view *view, bool steep, mote_renderer *renderer,
                         const mote_render_params *params, mote_camera *camera);

#endif
