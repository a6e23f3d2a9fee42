/* Reading a cloud into a renderer: what the CPU and the GPU share. */
#include "render/points/render_load.h"

#include <float.h>

#include "core/cloud.h"
#include "core/color.h"

/* White of the channels: as mote reads colours, but integers of 16 bits that stay below 256 are of 8 bits: files that
   put these into wider fields are common, and would be black. */
static double find_white(const mote_context *ctx, const mote_cloud *cloud, const mote_column *const found[3]) {
    if (found[0]->type == MOTE_UINT8 && mote_color_is_plain(found[0])) return MOTE_COLOR_MAX_8;
    if (mote_cloud_on_device(cloud)) return mote_color_unseen(found[0]).white;
    return mote_color_find(ctx, found, 3, cloud->count).white;
}

bool render_find_colors(const mote_context *ctx, const mote_cloud *cloud, double exposure, mote_column channels[3]) {
    static const char *const names[3] = {"red", "green", "blue"};
    const mote_column *found[3];
    for (int c = 0; c < 3; c++) {
        found[c] = mote_cloud_find(cloud, names[c]);
        if (found[c] == NULL) return false;
    }
    const double white = find_white(ctx, cloud, found) / exposure;
    for (int c = 0; c < 3; c++) {
        channels[c] = *found[c];
        if (white == MOTE_COLOR_MAX && !mote_color_is_real(found[c])) continue;
        channels[c].scale /= white;
        channels[c].offset /= white;
    }
    return true;
}

void render_keep_boxes(mote_renderer *renderer, const render_batch *batches) {
    mote_box *all = &renderer->bounds;
    for (int k = 0; k < 3; k++) all->min[k] = DBL_MAX, all->max[k] = -DBL_MAX;
    for (uint32_t b = 0; b < renderer->points.batch_count; b++) {
        for (int k = 0; k < 3; k++) {
            renderer->boxes[b].min[k] = batches[b].min[k];
            renderer->boxes[b].max[k] = batches[b].max[k];
            all->min[k] = fmin(all->min[k], batches[b].min[k]);
            all->max[k] = fmax(all->max[k], batches[b].max[k]);
        }
    }
}
