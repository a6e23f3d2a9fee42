/* How a cloud is best shown, where the options leave that open. */
#ifndef CLI_PICTURE_LOOK_H
#define CLI_PICTURE_LOOK_H

#include "render/picture_plan.h"

typedef struct picture_look {
    bool terrain; /* a landscape; else an object */
    bool few;     /* too few points for a surface: they are shown as discs */
} picture_look;

/* Whether it is a landscape: at most a quarter as high as it is wide, or seen through leaves: some pulse had several
   returns; and whether its points are few. box: of its points. */
picture_look picture_look_at(const mote_cloud *cloud, const mote_box *box, const double up[3]);
/* How far apart points are in a picture, in pixels: of its cells that show any, the median, and what three quarters
   have less than; and which share of all points the emptier half of these cells has. */
typedef struct picture_spacing {
    double median, upper;
    double emptier_share;
} picture_spacing;

picture_spacing picture_spacing_of(session *s, const mote_cloud *cloud, const mote_camera *camera,
                                   const mote_render_params *params);
/* Fills in what the options left open: mode, supersampling, eye-dome lighting, closing. */
void picture_look_settle(const picture_look *look, const picture_spacing *spacing, picture_plan *plan);
/* "points", "average", "surface" */
const char *picture_mode_name(mote_render_mode mode);

#endif
