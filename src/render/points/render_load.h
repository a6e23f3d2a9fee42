/* Reading a cloud into a renderer: what the CPU and the GPU share. */
#ifndef MOTE_RENDER_LOAD_H
#define MOTE_RENDER_LOAD_H

#include <math.h>

#include "core/column_math.h"
#include "render/renderer.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The channels red, green, blue as column_color reads them, so many times brighter; false: the cloud has none. */
bool render_find_colors(const mote_context *ctx, const mote_cloud *cloud, double exposure, mote_column channels[3]);
/* Bounds and boxes of a renderer, from its batches on the host. */
void render_keep_boxes(mote_renderer *renderer, const render_batch *batches);

#ifdef __cplusplus
}
#endif

/* Colours by row: the cloud's, or those that were given. */
typedef struct render_color_source {
    const uint8_t *rgba; /* NULL: the channels */
    mote_column channels[3];
    bool present;
} render_color_source;

/* 16 bits to 8, rounded. */
MOTE_HD uint32_t render_color_8(uint16_t color) { return (uint32_t)((color + 128u) / 257u); }

/* A caller's colour: alpha is 0 or 255. */
MOTE_HD uint32_t render_given_color(const uint8_t *rgba) {
    if (rgba[3] == 0) return RENDER_NO_COLOR;
    return 0xFF000000u | (uint32_t)rgba[2] << 16 | (uint32_t)rgba[1] << 8 | rgba[0];
}

MOTE_HD uint32_t render_color_of(const render_color_source *from, uint64_t row) {
    if (from->rgba != NULL) return render_given_color(from->rgba + 4 * row);
    if (!from->present) return RENDER_GREY;
    uint32_t color = 0xFF000000u;
    for (int c = 0; c < 3; c++) {
        color |= render_color_8(column_color(&from->channels[c], column_at(&from->channels[c], row))) << 8 * c;
    }
    return color;
}

/* Between neighbours, of count points within a box: as if they were spread over its two largest extents. */
MOTE_HD float render_spacing(const double extent[3], uint32_t count) {
    const double a = extent[0], b = extent[1], c = extent[2];
    const double least = a < b ? (a < c ? a : c) : (b < c ? b : c), largest = a > b ? (a > c ? a : c) : (b > c ? b : c);
    const double middle = ((a + b) + c) - least - largest;
    const double area = largest * middle / count;
    const double along = largest / count, across = area > 0 ? sqrt(area) : 0;
    return (float)(along > across ? along : across);
}

/* The lower median; values are put into another order. */
MOTE_HD float render_median(float *values, uint32_t count) {
    for (uint32_t i = 1; i < count; i++) {
        const float value = values[i];
        uint32_t at = i;
        for (; at > 0 && values[at - 1] > value; at--) values[at] = values[at - 1];
        values[at] = value;
    }
    return count > 0 ? values[(count - 1) / 2] : 0;
}

#endif
