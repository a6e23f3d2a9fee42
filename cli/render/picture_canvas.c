/* A picture, drawn in bands of rows that go to files as they are done. */
#include "render/picture_canvas.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PART_SAMPLES       (UINT64_C(1) << 25) /* of a part, at most: 32 bytes each of a surface are a gigabyte */
#define PART_SAMPLES_LARGE (UINT64_C(1) << 24) /* the same of surfaces, which take about 100 */
#define SURFACE_MARGIN     96u                 /* pixels around a part: splats, and neighbours of the screen */

/* Depth is always drawn: it says what a pixel shows. */
typedef struct canvas_layer {
    pixel_kind kind;
    uint8_t *part, *band; /* NULL: not wanted */
    picture_file *file;
} canvas_layer;

struct picture_canvas {
    mote_render_params params;
    picture_region region;
    bool transparent;
    uint32_t margin, part_width, part_height; /* without margins */
    uint16_t *gray;                           /* [pixels] of depth as PNG */
    const uint32_t *rows;                     /* see picture_canvas_make */
    const picture_apart *apart;               /* of the picture that is drawn */
    canvas_layer layers[PICTURE_LAYERS];
};

/* ---- making one */

/* What looks at its neighbours has them only within a part. */
static uint32_t find_margin(const mote_render_params *p) {
    uint32_t margin = p->mode == MOTE_RENDER_SURFACE ? SURFACE_MARGIN : 0;
    if (p->mode == MOTE_RENDER_POINTS) margin += (uint32_t)ceil(p->point_size / 2);
    if (p->edl_strength > 0) margin += (uint32_t)ceil(p->edl_radius) + 1;
    return margin + 2 * p->close_pixels;
}

static void divide(picture_canvas *c) {
    const uint64_t samples = c->params.samples, max_side = MOTE_RENDER_MAX_SIZE / samples;
    const uint64_t max =
        (c->params.mode == MOTE_RENDER_SURFACE ? PART_SAMPLES_LARGE : PART_SAMPLES) / samples / samples;
    const uint64_t width = c->region.width, height = c->region.height;
    c->margin = find_margin(&c->params);
    c->part_width = (uint32_t)width;
    c->part_height = (uint32_t)height;
    if (width <= max_side && height <= max_side && width * height <= max) return;
    const uint64_t side = max_side - 2 * c->margin;
    if (width > side) c->part_width = (uint32_t)side;
    uint64_t rows = max / (c->part_width + 2 * c->margin);
    rows = rows > 4 * c->margin ? rows - 2 * c->margin : 2 * c->margin;
    if (rows < 64) rows = 64;
    if (rows > side) rows = side;
    if (height > rows) c->part_height = (uint32_t)rows;
}

static uint64_t part_pixels(const picture_canvas *c) {
    return (c->part_width + 2 * (uint64_t)c->margin) * (c->part_height + 2 * (uint64_t)c->margin);
}

static uint64_t band_pixels(const picture_canvas *c) { return (uint64_t)c->region.width * c->part_height; }

static bool make_layer(picture_canvas *c, picture_layer layer, pixel_kind kind) {
    canvas_layer *l = &c->layers[layer];
    l->kind = kind;
    l->part = malloc((size_t)(pixel_bytes(kind) * part_pixels(c)));
    l->band = malloc((size_t)(pixel_bytes(kind) * band_pixels(c)));
    return l->part != NULL && l->band != NULL;
}

/* Buffers of all layers count as memory of the run. */
static bool has_memory(const session *s, const picture_canvas *c, bool wide,
                       const picture_output outputs[PICTURE_LAYERS]) {
    const uint64_t max = s->options.memory_bytes;
    uint64_t bytes = pixel_bytes(wide ? PIXEL_COLOR16 : PIXEL_COLOR8) + pixel_bytes(PIXEL_DEPTH);
    if (outputs[LAYER_NORMAL].path != NULL) bytes += pixel_bytes(PIXEL_NORMAL);
    if (outputs[LAYER_INDEX].path != NULL) bytes += pixel_bytes(PIXEL_INDEX);
    return max == 0 || mote_context_memory_bytes(s->ctx) + bytes * (part_pixels(c) + band_pixels(c)) <= max;
}

int picture_canvas_make(session *s, const mote_render_params *params, const picture_region *region, bool wide,
                        const picture_output outputs[PICTURE_LAYERS], const uint32_t *rows, picture_canvas **out) {
    picture_canvas *c = calloc(1, sizeof *c);
    *out = c;
    if (c == NULL) return session_error(s, EXIT_RESOURCES, "out of memory: the picture");
    c->params = *params;
    c->region = *region;
    c->rows = rows;
    c->transparent = params->background[3] < 255;
    divide(c);
    bool made = has_memory(s, c, wide, outputs);
    made = made && make_layer(c, LAYER_COLOR, wide ? PIXEL_COLOR16 : PIXEL_COLOR8);
    made = made && make_layer(c, LAYER_DEPTH, PIXEL_DEPTH);
    if (outputs[LAYER_NORMAL].path != NULL) made = made && make_layer(c, LAYER_NORMAL, PIXEL_NORMAL);
    if (outputs[LAYER_INDEX].path != NULL) made = made && make_layer(c, LAYER_INDEX, PIXEL_INDEX);
    if (outputs[LAYER_DEPTH].path != NULL && outputs[LAYER_DEPTH].format == PICTURE_PNG) {
        if (c->part_width < region->width || c->part_height < region->height) {
            return session_error(s, EXIT_USAGE,
                                 "%s: depth of %u x %u pixels is drawn in parts, before all is known that PNG would "
                                 "scale: .npy holds it as it is",
                                 outputs[LAYER_DEPTH].path, region->width, region->height);
        }
        c->gray = malloc((size_t)region->width * region->height * sizeof *c->gray);
        made = made && c->gray != NULL;
    }
    if (made) return EXIT_DONE;
    return session_error(s, EXIT_RESOURCES, "out of memory: a picture of %u x %u pixels", region->width,
                         region->height);
}

void picture_canvas_free(picture_canvas *canvas) {
    if (canvas == NULL) return;
    for (int i = 0; i < PICTURE_LAYERS; i++) {
        free(canvas->layers[i].part);
        free(canvas->layers[i].band);
    }
    free(canvas->gray);
    free(canvas);
}

/* ---- a part */

/* A part with its margins, and where in them the pixels are that it is drawn for. */
typedef struct canvas_part {
    picture_region inner, outer;
} canvas_part;

static uint32_t less(uint32_t a, uint32_t b) { return a > b ? a - b : 0; }
static uint32_t min_of(uint64_t a, uint64_t b) { return (uint32_t)(a < b ? a : b); }

/* The part whose inner corner is at x, y of the whole picture. */
static canvas_part make_part(const picture_canvas *c, const picture_region *region, uint32_t x, uint32_t y) {
    canvas_part p = {.inner = {x, y, min_of(c->part_width, region->x + region->width - x),
                               min_of(c->part_height, region->y + region->height - y)}};
    p.outer.x = less(x, c->margin);
    p.outer.y = less(y, c->margin);
    p.outer.width = min_of((uint64_t)x + p.inner.width + c->margin, c->params.width) - p.outer.x;
    p.outer.height = min_of((uint64_t)y + p.inner.height + c->margin, c->params.height) - p.outer.y;
    return p;
}

static mote_status draw_part(picture_canvas *c, mote_renderer *renderer, const mote_camera *camera,
                             const canvas_part *part, picture_facts *facts) {
    mote_render_result result;
    memset(&result, 0, sizeof result);
    uint8_t *color = c->layers[LAYER_COLOR].part;
    if (c->layers[LAYER_COLOR].kind == PIXEL_COLOR16) {
        result.color16 = (uint16_t *)color;
    } else {
        result.color8 = color;
    }
    result.depth = (float *)c->layers[LAYER_DEPTH].part;
    result.normal = (float *)c->layers[LAYER_NORMAL].part;
    result.index = (uint32_t *)c->layers[LAYER_INDEX].part;
    mote_render_params params = c->params;
    params.part_x = part->outer.x;
    params.part_y = part->outer.y;
    params.part_width = part->outer.width;
    params.part_height = part->outer.height;
    const mote_status status = c->apart->rgba != NULL ? picture_apart_draw(c->apart, renderer, camera, &params, &result)
                                                      : mote_render_draw(renderer, camera, &params, &result);
    for (size_t i = 0; status == MOTE_OK && c->rows != NULL && result.index != NULL &&
                       i < (size_t)params.part_width * params.part_height;
         i++) {
        if (result.index[i] != MOTE_RENDER_NO_POINT) result.index[i] = c->rows[result.index[i]];
    }
    facts->seen += result.seen;
    facts->splats += result.splats;
    facts->closed += result.closed;
    facts->ranges += result.batches;
    facts->ranges_read += result.batches_drawn;
    facts->normal_error_deg = result.normal_error_deg;
    facts->normal_error_deviation_deg = result.normal_error_deviation_deg;
    return status;
}

/* Copies what is within the margins to its place in the band. */
static void copy_part(picture_canvas *c, const picture_region *region, const canvas_part *part) {
    const picture_region *in = &part->inner, *out = &part->outer;
    for (int i = 0; i < PICTURE_LAYERS; i++) {
        const canvas_layer *l = &c->layers[i];
        if (l->band == NULL) continue;
        const size_t bytes = pixel_bytes(l->kind), row = bytes * in->width;
        for (uint32_t y = 0; y < in->height; y++) {
            const size_t from = (size_t)(in->y - out->y + y) * out->width + (in->x - out->x);
            const size_t to = (size_t)y * region->width + (in->x - region->x);
            memcpy(l->band + bytes * to, l->part + bytes * from, row);
        }
    }
}

/* ---- a band */

static void paint(const canvas_layer *color, uint64_t pixel, const uint8_t rgba[4]) {
    const bool wide = color->kind == PIXEL_COLOR16;
    const uint32_t scale = wide ? 257 : 1, full = 255 * scale, alpha = rgba[3] * scale;
    uint16_t *at16 = (uint16_t *)color->band + 4 * pixel;
    uint8_t *at8 = color->band + 4 * pixel;
    const uint64_t below = wide ? at16[3] : at8[3], covered = below * (full - alpha) / full, all = alpha + covered;
    for (int k = 0; k < 4 && alpha > 0; k++) {
        const uint64_t under = wide ? at16[k] : at8[k], over = (uint64_t)rgba[k] * scale;
        const uint64_t mixed = k == 3 ? all : (over * alpha + under * covered + all / 2) / all;
        if (wide) {
            at16[k] = (uint16_t)mixed;
        } else {
            at8[k] = (uint8_t)mixed;
        }
    }
}

/* Rows first to first + rows of the region. */
static void paint_overlay(picture_canvas *c, const picture_region *region, const picture_overlay *overlay,
                          uint32_t first, uint32_t rows) {
    for (uint32_t v = 0; v < overlay->height; v++) {
        const uint64_t y = (uint64_t)overlay->y + v;
        if (y < first || y >= (uint64_t)first + rows) continue;
        for (uint32_t u = 0; u < overlay->width && overlay->x + u < region->width; u++) {
            const uint64_t pixel = (y - first) * region->width + overlay->x + u;
            paint(&c->layers[LAYER_COLOR], pixel, overlay->rgba + 4 * ((size_t)v * overlay->width + u));
        }
    }
}

/* Over rows, so that bands make no difference. */
static uint64_t hash_row(uint64_t hash, const uint8_t *row, size_t size_bytes) {
    for (size_t i = 0; i < size_bytes; i += 8) {
        uint64_t word = 0;
        memcpy(&word, row + i, size_bytes - i < 8 ? size_bytes - i : 8);
        hash = (hash ^ word) * UINT64_C(0x9E3779B97F4A7C15);
        hash ^= hash >> 32;
    }
    return hash;
}

static void measure_depth(const canvas_layer *depth, uint64_t pixels, picture_facts *facts) {
    const float *values = (const float *)depth->band;
    for (uint64_t i = 0; i < pixels; i++) {
        if (!(values[i] < INFINITY)) continue;
        facts->shown++;
        if (values[i] < facts->depth_min) facts->depth_min = values[i];
        if (values[i] > facts->depth_max) facts->depth_max = values[i];
    }
    facts->pixels += pixels;
}

/* Depth as gray: the nearest 65535, the farthest 1, nothing 0. */
static void make_gray(picture_canvas *c, const picture_facts *facts) {
    const float *depth = (const float *)c->layers[LAYER_DEPTH].band;
    const double range = (double)facts->depth_max - facts->depth_min, scale = range > 0 ? 65534 / range : 0;
    for (uint64_t i = 0; i < (uint64_t)c->region.width * c->region.height; i++) {
        const double farther = ((double)depth[i] - facts->depth_min) * scale;
        c->gray[i] = depth[i] < INFINITY ? (uint16_t)(65535 - lround(farther)) : 0;
    }
}

static mote_status write_band(picture_canvas *c, const picture_region *region, uint32_t rows, uint64_t *hashes) {
    mote_status status = MOTE_OK;
    for (int i = 0; i < PICTURE_LAYERS && status == MOTE_OK; i++) {
        const canvas_layer *l = &c->layers[i];
        if (l->file == NULL) continue;
        const size_t row_bytes = (size_t)region->width * pixel_bytes(l->kind);
        for (uint32_t y = 0; y < rows; y++) hashes[i] = hash_row(hashes[i], l->band + y * row_bytes, row_bytes);
        const bool as_gray = i == LAYER_DEPTH && c->gray != NULL;
        status = picture_file_rows(l->file, as_gray ? (const void *)c->gray : l->band, rows);
    }
    return status;
}

static mote_status draw_bands(session *s, picture_canvas *c, mote_renderer *renderer, const mote_camera *camera,
                              const picture_region *region, const picture_overlay *overlays, int overlay_count,
                              picture_facts *facts) {
    uint64_t hashes[PICTURE_LAYERS] = {0};
    mote_status status = MOTE_OK;
    for (uint32_t y = 0; y < region->height && status == MOTE_OK; y += c->part_height) {
        const uint32_t rows = min_of(c->part_height, region->height - y);
        for (uint32_t x = 0; x < region->width && status == MOTE_OK; x += c->part_width) {
            const canvas_part part = make_part(c, region, region->x + x, region->y + y);
            status = draw_part(c, renderer, camera, &part, facts);
            if (status == MOTE_OK) copy_part(c, region, &part);
        }
        if (status != MOTE_OK) break;
        measure_depth(&c->layers[LAYER_DEPTH], (uint64_t)rows * region->width, facts);
        for (int i = 0; i < overlay_count; i++) paint_overlay(c, region, &overlays[i], y, rows);
        progress_clear(&s->bar);
        if (c->gray != NULL) make_gray(c, facts);
        status = write_band(c, region, rows, hashes);
    }
    for (int i = 0; i < PICTURE_LAYERS; i++) {
        if (c->layers[i].file != NULL) facts->hash = (facts->hash ^ hashes[i]) * UINT64_C(0x9E3779B97F4A7C15);
    }
    return status;
}

static mote_status open_files(session *s, picture_canvas *c, const picture_region *region,
                              const picture_output outputs[PICTURE_LAYERS]) {
    mote_status status = MOTE_OK;
    for (int i = 0; i < PICTURE_LAYERS && status == MOTE_OK; i++) {
        const pixel_kind kind = i == LAYER_DEPTH && c->gray != NULL ? PIXEL_GRAY16 : c->layers[i].kind;
        const picture_shape shape = {region->width, region->height, kind, c->transparent};
        if (outputs[i].path == NULL) continue;
        status = picture_file_open(s->ctx, outputs[i].path, outputs[i].format, &shape, &c->layers[i].file);
    }
    return status;
}

int picture_canvas_draw(session *s, picture_canvas *canvas, mote_renderer *renderer, const mote_camera *camera,
                        const picture_apart *apart, const picture_region *region,
                        const picture_output outputs[PICTURE_LAYERS], const picture_overlay *overlays,
                        int overlay_count, picture_facts *facts) {
    canvas->apart = apart;
    memset(facts, 0, sizeof *facts);
    facts->depth_min = INFINITY;
    facts->depth_max = -INFINITY;
    mote_status status = open_files(s, canvas, region, outputs);
    if (status == MOTE_OK) { status = draw_bands(s, canvas, renderer, camera, region, overlays, overlay_count, facts); }
    for (int i = 0; i < PICTURE_LAYERS; i++) {
        status = picture_file_finish(canvas->layers[i].file, status);
        canvas->layers[i].file = NULL;
    }
    progress_clear(&s->bar);
    return status == MOTE_OK ? EXIT_DONE : session_fail(s, status, false);
}
