/* A picture, drawn in bands of rows that go to files as they are done, so that memory does not grow with it.
 *
 *     +---------+---------+----+
 *     |  part   |  part   | .. |  band: all parts side by side, copied together without their margins, row after row
 *     +---------+---------+----+  into the files
 *     |  part   | ...
 */
#ifndef CLI_PICTURE_CANVAS_H
#define CLI_PICTURE_CANVAS_H

#include "render/picture_apart.h"
#include "render/picture_file.h"
#include "session.h"

/* What a picture may consist of. */
typedef enum picture_layer { LAYER_COLOR, LAYER_DEPTH, LAYER_NORMAL, LAYER_INDEX } picture_layer;
#define PICTURE_LAYERS 4

/* Something painted over the picture: a legend, a scale bar. */
typedef struct picture_overlay {
    uint32_t x, y, width, height; /* in the picture */
    uint8_t *rgba;                /* [4 * width * height] alpha not multiplied into colours */
} picture_overlay;

/* The part of the whole picture that the files show: all of it, or a tile. */
typedef struct picture_region {
    uint32_t x, y, width, height;
} picture_region;

typedef struct picture_output {
    const char *path; /* NULL: not wanted */
    picture_format format;
} picture_output;

/* What came of it. */
typedef struct picture_facts {
    uint64_t pixels, shown; /* in all, and those that show a point */
    uint64_t seen, splats, closed;
    uint64_t ranges, ranges_read;
    double normal_error_deg, normal_error_deviation_deg;
    uint64_t hash;
    float depth_min, depth_max; /* of what is shown */
} picture_facts;

typedef struct picture_canvas picture_canvas;

/* Buffers for pictures of a size; kept from frame to frame.
   wide: colours of 16 bits. rows: which rows of the input the renderer's are; NULL: the same. Returns an exit code. */
int picture_canvas_make(session *s, const mote_render_params *params, const picture_region *region, bool wide,
                        const picture_output outputs[PICTURE_LAYERS], const uint32_t *rows, picture_canvas **out);
/* Draws one picture of a region, no larger than the one that the canvas was made for, and writes its files.
   apart: colours that are not mixed. overlays: [count] in pixels of the region. facts: out. */
int picture_canvas_draw(session *s, picture_canvas *canvas, mote_renderer *renderer, const mote_camera *camera,
                        const picture_apart *apart, const picture_region *region,
                        const picture_output outputs[PICTURE_LAYERS], const picture_overlay *overlays,
                        int overlay_count, picture_facts *facts);
void picture_canvas_free(picture_canvas *canvas);

#endif
