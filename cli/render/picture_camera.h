/* Where pictures are taken from. */
#ifndef CLI_PICTURE_CAMERA_H
#define CLI_PICTURE_CAMERA_H

#include "render/picture_plan.h"

/* The directions of a view: to the right, to the front, and up, of unit length, at right angles. */
typedef struct picture_axes {
    double right[3], front[3], up[3];
} picture_axes;

picture_axes picture_axes_of(const double up[3]);

/* mote_render_fit, of pictures of any size. */
mote_status picture_camera_fit(mote_renderer *renderer, mote_camera *camera, const double from[3],
                               const mote_render_params *params);
/* Places the camera of a picture. steep: of iso, so that the ground is seen. Returns an exit code. */
int picture_camera_place(session *s, const picture_view *view, bool steep, mote_renderer *renderer,
                         const mote_render_params *params, mote_camera *camera);

/* A camera as what many points are asked about needs it. */
typedef struct picture_lens {
    bool perspective;
    double eye[3], right[3], down[3], forward[3]; /* of unit length */
    double scale;                                 /* pixels of a unit: at depth 1, or at any of parallel rays */
    double middle[2];                             /* of the picture, pixels */
} picture_lens;

picture_lens picture_lens_of(const mote_camera *camera, const mote_render_params *params);
/* Where a place is in the picture; at[2]: its depth. Behind the eye of a perspective: NaN. */
void picture_lens_project(const picture_lens *lens, const double place[3], double at[3]);
/* Says that a camera is so far from the points that depths, which are floats, do not tell near ones apart. */
void picture_camera_tell_far(session *s, const mote_camera *camera, const mote_box *box);

#endif
