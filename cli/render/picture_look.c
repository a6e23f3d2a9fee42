/* How a cloud is best shown, where the options leave that open. */
#include "render/picture_look.h"

#include <math.h>

#include "render/picture_camera.h"

#define FLAT          0.25 /* height by width: landscapes are flatter, buildings and statues are not */
#define BLOCK_RETURNS 4096u

/* Of a picture of a whole cloud. */
#define FILLED           0.4 /* of its pixels show something */
#define SPARSE_PIXELS    1.8 /* points that are farther apart are dust, and make a surface instead */
#define DENSE_PIXELS     0.2 /* points that are nearer together fill several samples of a pixel */
#define SURFACE_EDL      0.4 /* surfaces are lit: edges need less */
#define MIN_CLOSE        2.0
#define MAX_CLOSE        16.0
#define MIN_SPLAT_PIXELS 12.0 /* the radius; landscapes have points behind trees that would become large discs */

/* The extents of a box along three directions. */
static void measure(const mote_box *box, const picture_axes *axes, double extent[3]) {
    const double *const along[3] = {axes->right, axes->front, axes->up};
    for (int k = 0; k < 3; k++) {
        extent[k] = 0;
        for (int i = 0; i < 3; i++) extent[k] += fabs(along[k][i]) * (box->max[i] - box->min[i]);
    }
}

static bool has_several_returns(const mote_cloud *cloud) {
    const mote_column *column = mote_cloud_find(cloud, "number_of_returns");
    const uint64_t count = mote_cloud_count(cloud);
    uint8_t values[BLOCK_RETURNS];
    for (uint64_t first = 0; column != NULL && first < count; first += BLOCK_RETURNS) {
        const uint64_t some = count - first < BLOCK_RETURNS ? count - first : BLOCK_RETURNS;
        mote_column_read(column, first, some, MOTE_UINT8, values);
        for (uint64_t i = 0; i < some; i++) {
            if (values[i] > 1) return true;
        }
    }
    return false;
}

picture_look picture_look_at(const mote_cloud *cloud, const mote_box *box, const double up[3]) {
    const picture_axes axes = picture_axes_of(up);
    double extent[3];
    measure(box, &axes, extent);
    const bool flat = extent[2] <= FLAT * fmax(extent[0], extent[1]);
    const picture_look look = {flat || has_several_returns(cloud)};
    return look;
}

/* How far apart points are in the picture, roughly, in pixels. */
static double spacing_pixels(const mote_render_params *p, uint64_t points) {
    return sqrt(FILLED * p->width * p->height / (double)(points > 0 ? points : 1));
}

void picture_look_settle(const picture_look *look, uint64_t points, picture_plan *plan) {
    mote_render_params *p = &plan->params;
    const double spacing = spacing_pixels(p, points);
    if (plan->mode == PICTURE_AUTO) {
        plan->mode = look->terrain && spacing < SPARSE_PIXELS ? PICTURE_POINTS : PICTURE_SURFACE;
    }
    const bool surface = plan->mode == PICTURE_SURFACE;
    p->mode = (mote_render_mode)plan->mode;
    if (!plan->has_edl) p->edl_strength = surface ? SURFACE_EDL : 1;
    if (!plan->has_samples) p->samples = surface || spacing < DENSE_PIXELS ? 2 : 1;
    if (!plan->has_close && !surface) p->close_pixels = (uint32_t)fmin(MIN_CLOSE + 3 * spacing, MAX_CLOSE);
    if (surface && look->terrain) p->max_pixels = fmax(MIN_SPLAT_PIXELS, 8 * spacing);
}

const char *picture_mode_name(mote_render_mode mode) {
    static const char *const names[] = {"points", "average", "surface"};
    return names[mode];
}
