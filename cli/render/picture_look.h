/* How a cloud is best shown, where the options leave that open. */
#ifndef CLI_PICTURE_LOOK_H
#define CLI_PICTURE_LOOK_H

#include "render/picture_plan.h"
#include "render/picture_surface.h"

typedef struct picture_look {
    bool terrain; /* a landscape; else an object */
    bool few;     /* too few points for a surface: they are shown as discs */
    uint64_t points;
} picture_look;

/* Whether it is a landscape: at most a quarter as high as it is wide, or seen through leaves: some pulse had several
   returns; and whether its points are few. box: of its points. */
picture_look picture_look_at(const mote_cloud *cloud, const mote_box *box, const double up[3]);
/* How far apart points are in a picture, in pixels: of its cells that show any, the median, and what three quarters
   have less than; and which share of the points shown the emptier half of these cells has. */
typedef struct picture_spacing {
    double median, upper;
    double emptier_share;
    double shown; /* share of all points */
} picture_spacing;

picture_spacing picture_spacing_of(session *s, const mote_cloud *cloud, const mote_camera *camera,
                                   const mote_render_params *params);
/* Whether the picture may become a surface, so that neighbours are worth a search. */
bool picture_look_may_be_surface(const picture_look *look, const picture_spacing *spacing, const picture_plan *plan);
/* Fills in what the options left open: mode, supersampling, eye-dome lighting, closing.
   surface: NULL, or not known: nobody searched */
void picture_look_settle(const picture_look *look, const picture_spacing *spacing, const picture_surface *surface,
                         picture_plan *plan);
/* Pixels that what a point is drawn as reaches beyond it, where points are far apart. */
double picture_look_reach(const picture_plan *plan, const picture_spacing *spacing);
/* "points", "average", "surface" */
const char *picture_mode_name(mote_render_mode mode);

#endif
